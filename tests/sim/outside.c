/* outside.c -- looks into the simulated memory when all processes have left: no lock, no hole, the
 * last writers' rows. */
#include "sim_txn.h"

#include <net/region_format.h>
#include <tsoracle/oracle_format.h>
#include <txn/intent_format.h>

#include <stdlib.h>
#include <string.h>

static const char *
memory(struct run *r, uint64_t at)
{
	return (const char *)net_sim_memory(r->sim, net_region_of((net_addr){ at })) +
	       net_offset_of((net_addr){ at });
}

static bool
is_extent(struct run *r, uint64_t at)
{
	unsigned region = net_region_of((net_addr){ at });
	uint64_t off = net_offset_of((net_addr){ at });
	return region >= 1 && region <= 3 && off % NET_EXTENT == 0 &&
	       off < ((const struct net_super *)net_sim_memory(r->sim, region))->bump;
}

/* All that a person needs to see what went wrong in a block. */
static void
describe(struct run *r, const struct rec_block *img)
{
	printf("    word %lx ident %lx link %lx\n", img->word, img->ident, img->link);
	for (unsigned k = 0; k < r->shape.slots; k++) {
		const struct rec_slot *s =
		    (const void *)((const char *)img + head_bytes(r) + (size_t)k * slot_bytes());
		const struct row *row = (const void *)s->payload;
		printf(
		    "    listed %lx: slot has cid %lx meta %lx key %lu value %lx, history %lx at that cid\n",
		    img->cid[k], s->cid, s->meta, row->key, row->value,
		    hist_value_at(r->hist, KEYED, row->key, s->cid));
	}
}

static const struct tso_anchor *
oracle(struct run *r)
{
	for (unsigned node = 1; node <= 3; node++) {
		const char *mem = net_sim_memory(r->sim, node);
		const struct net_super *super = (const void *)mem;
		for (uint64_t off = NET_EXTENT; off < super->bump && off < super->size; off += NET_EXTENT)
			if (((const struct tso_anchor *)(const void *)(mem + off))->magic == TSO_MAGIC)
				return (const void *)(mem + off);
	}
	return NULL;
}

const struct tso_owner_slot *
outside_owners(struct run *r)
{
	return (const void *)memory(r, oracle(r)->owners_at);
}

/* True if the owner of this lock is dead and recovered: the lock has no owner, and a process that
 * meets it frees it. */
static bool
is_nobodys(struct run *r, uint64_t lock)
{
	const struct tso_anchor *a = oracle(r);
	unsigned slot = txn_lock_owner(lock), epoch = txn_lock_epoch(lock);
	const struct tso_owner_slot *s = (const void *)memory(r, a->owners_at);
	return (r->deaths > 0 || life_died()) &&
	       (tso_word_epoch(s[slot].word) != epoch || tso_word_state(s[slot].word) == TSO_FREE);
}

/* One block: not locked, its directory whole, its newest version the one that history ends with. */
static void
judge_block(struct run *r, unsigned table, uint64_t at, size_t *live)
{
	const struct rec_block *img = (const void *)memory(r, at);
	unsigned n = r->shape.slots, newest = n;
	uint64_t cid = 0, any = 0;
	bool lone = rec_is_locked(img) && is_nobodys(r, img->word);
	/* Emptied, and its entry lies on the lost node: no process can find it. */
	if (r->lost != 0 && rec_is_locked(img) && txn_lock_intent(img->word) == TXN_INTENT_GC)
		return;
	if (rec_is_locked(img) && !lone) {
		run_bad(r, "block %lx of table %u is still locked: %lx", at, table, img->word);
		return;
	}
	for (unsigned k = 0; k < n; k++) {
		uint64_t c = rec_cid(img, k);
		any |= c;
		if (c > cid) {
			cid = c;
			newest = k;
		}
	}
	if (any == 0)
		return; /* empty */
	if (img->cid[n] != rec_dir_check(img, n, at)) {
		run_bad(r, "block %lx of table %u: its directory is not whole", at, table);
		return;
	}
	if (img->word != cid && !lone)
		run_bad(r, "block %lx of table %u: word %lx, newest listed %lx", at, table, img->word, cid);
	const struct rec_slot *s =
	    (const void *)((const char *)img + head_bytes(r) + (size_t)newest * slot_bytes());
	struct row row;
	uint32_t len = (uint32_t)s->meta;
	if (s->cid != cid || len > sizeof row ||
	    s->check != rec_slot_check(nam_hash(s->payload, len, 0), s->cid, s->meta, at) ||
	    !row_true(s->payload, len, &row)) {
		run_bad(r, "block %lx of table %u: its newest version is not whole", at, table);
		describe(r, img);
		return;
	}
	uint64_t right = hist_value_at(r->hist, table, row.key, UINT64_MAX);
	if (s->meta & REC_DELETED)
		return; /* waits to be reclaimed, or is: another block may hold the key by now */
	if (row.value != right)
		run_bad(r, "block %lx of table %u holds %lx for object %lu, history ends with %lx", at, table,
		    row.value, row.key, right);
	++*live;
}

static void
judge_table(struct run *r, unsigned table)
{
	const struct txn_anchor *a = (const void *)memory(r, anchor_of(r, table).bits);
	unsigned per = (unsigned)((NET_EXTENT - sizeof(struct txn_extent)) / block_bytes(r));
	size_t live = 0, right = 0;
	uint64_t id;
	if (r->lost != 0 && net_region_of(anchor_of(r, table)) == r->lost)
		return;
	if (a->magic != TXN_ANCHOR_MAGIC) {
		run_bad(r, "table %u has no anchor any more", table);
		return;
	}
	/* Data on a lost node is as the node's end left it, and belongs to no answer. */
	for (uint64_t ext = a->blocks; ext != 0;
	     ext = ((const struct txn_extent *)(const void *)memory(r, ext))->next) {
		if (!is_extent(r, ext)) {
			run_bad(r, "table %u: an extent at %lx, where none can be", table, ext);
			return;
		}
		for (unsigned k = 0; k < per && net_region_of((net_addr){ ext }) != r->lost; k++)
			judge_block(
			    r, table, ext + sizeof(struct txn_extent) + (uint64_t)k * block_bytes(r), &live);
	}
	for (size_t i = 0; hist_object(r->hist, table, i, &id); i++)
		right += hist_value_at(r->hist, table, id, UINT64_MAX) != 0;
	if (live != right && r->lost == 0)
		run_bad(r, "memory holds %zu live rows of table %u, history %zu", live, table, right);
}

static uint64_t
lane(struct run *r, const struct tso_anchor *a, unsigned k)
{
	return a->lanes == 1 ? a->counter
			     : *(const uint64_t *)(const void *)memory(r, a->lanes_at + k * TSO_LANE_BYTES);
}

/* Every CID ever claimed is marked, as far as the vector reaches back. */
static void
judge_oracle(struct run *r)
{
	const struct tso_anchor *a = oracle(r);
	if (a == NULL) {
		run_bad(r, "no oracle in the simulated memory");
		return;
	}
	const uint8_t *mark = (const void *)memory(r, a->vector_at);
	uint64_t next = 0; /* of the lane that is ahead */
	for (unsigned k = 0; k < a->lanes; k++)
		next = lane(r, a, k) > next ? lane(r, a, k) : next;
	for (unsigned k = 0; k < a->lanes; k++) {
		uint64_t end = lane(r, a, k), c = (end & ~TSO_COUNT_MASK) + 1;
		if (next > c + a->vector)
			c = next - a->vector;
		for (c = tso_lane_cid((unsigned)a->lanes, k, c); c < end; c += a->lanes)
			if ((mark[(c & TSO_COUNT_MASK) & (a->vector - 1)] & TSO_LAP_MASK) !=
			    tso_lap(c, a->vector)) {
				run_bad(
				    r, "commit id %lx was claimed and never marked (next is %lx)", c, end);
				return;
			}
	}
}

/* All processes have left or been recovered: no owner slot is taken. */
static void
judge_owners(struct run *r)
{
	const struct tso_anchor *a = oracle(r);
	const struct tso_owner_slot *s = (const void *)memory(r, a->owners_at);
	for (unsigned i = 0; i < a->slots; i++)
		if (tso_word_state(s[i].word) != TSO_FREE)
			run_bad(r, "owner slot %u is not free: %lx", i, s[i].word);
}

void
outside_judge(struct run *r)
{
	/* Without the oracle no process can decide, mark or leave any more: everything stays as it
	 * was at that moment. */
	if (r->lost == HOME)
		return;
	judge_table(r, KEYED);
	judge_table(r, BARE);
	for (unsigned n = 0; n < r->births; n++)
		if (drops_lives(r, n) && r->lost == 0)
			judge_table(r, TEMP + n);
	judge_oracle(r);
	judge_owners(r);
}
