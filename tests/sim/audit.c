/*
 * audit.c -- finds the owner of each byte of the simulated memory, when all processes have left.
 *
 * Every 64 bytes that a storage node has handed out have exactly one owner: the oracle, the
 * cluster's record, the logs, a table's anchor or ledger, its index, a row, a blob that a row
 * names, or a list from which the next process takes memory. Bytes with two owners will cause a
 * wrong answer; bytes without an owner are lost.
 */
#include "sim_txn.h"

#include <base/hash.h>
#include <index/hash/hash_format.h>
#include <net/region_format.h>
#include <tsoracle/oracle_format.h>
#include <txn/cluster_format.h>
#include <txn/intent_format.h>
#include <txn/spread_format.h>

#include <stdlib.h>
#include <string.h>

enum { REGIONS = 3, UNIT = 64, EXTENT_UNITS = NET_EXTENT / UNIT, STEPS_MAX = 1 << 20, SWEPT_NS = 300000000 };

/* The owner of a unit. */
enum { NOBODYS, GIVEN_BACK, KEPT, LISTED, LEFT, INDEXED = 0x80 };

struct audit {
	struct run *r;
	uint8_t *unit[REGIONS + 1];
	uint64_t units[REGIONS + 1]; /* handed out */
	struct audited *sum;
};

static void *
memory(struct audit *a, uint64_t at)
{
	unsigned region = net_region_of((net_addr){ at });
	uint64_t off = net_offset_of((net_addr){ at });
	if (region == 0 || region > REGIONS || off / UNIT >= a->units[region]) {
		run_bad(a->r, "audit: %lx is not memory that was handed out", at);
		return NULL;
	}
	return (char *)net_sim_memory(a->r->sim, region) + off;
}

static uint8_t *
unit_of(struct audit *a, uint64_t at)
{
	return &a->unit[net_region_of((net_addr){ at })][net_offset_of((net_addr){ at }) / UNIT];
}

/* False if the memory is not there, or has another owner already. */
static bool
claim(struct audit *a, uint64_t at, uint64_t bytes, uint8_t kind, const char *what)
{
	if (at % UNIT != 0 || memory(a, at) == NULL || memory(a, at + bytes - 1) == NULL) {
		run_bad(a->r, "audit: %s at %lx, %lu bytes: no such memory", what, at, bytes);
		return false;
	}
	uint8_t *u = unit_of(a, at);
	for (uint64_t i = 0; i < (bytes + UNIT - 1) / UNIT; i++) {
		if ((u[i] & ~INDEXED) != NOBODYS) {
			run_bad(a->r, "audit: %s at %lx, %lu bytes: at %lx it has another owner (%u)", what,
			    at, bytes, at + i * UNIT, u[i]);
			return false;
		}
		u[i] = (uint8_t)((u[i] & INDEXED) | kind);
	}
	return true;
}

static bool
claim_extents(struct audit *a, uint64_t at, uint64_t n, const char *what)
{
	return at % NET_EXTENT == 0 && claim(a, at, n * NET_EXTENT, KEPT, what);
}

/* ---- what is not a table's ---- */

static const struct tso_anchor *
regions(struct audit *a)
{
	const struct tso_anchor *oracle = NULL;
	for (unsigned k = 1; k <= REGIONS; k++) {
		const char *mem = net_sim_memory(a->r->sim, k);
		const struct net_super *s = (const void *)mem;
		uint64_t size = s->bump < s->size ? s->bump : s->size;
		a->units[k] = size / UNIT;
		a->sum->extents_free += (s->size - size) / NET_EXTENT;
		a->unit[k] = calloc(a->units[k], 1);
		memset(a->unit[k], KEPT, EXTENT_UNITS);
	}
	for (unsigned k = 1; k <= REGIONS; k++) {
		const struct net_super *s = (const void *)net_sim_memory(a->r->sim, k);
		uint64_t top = s->free_head;
		for (unsigned n = 0; (top & UINT32_MAX) != 0 && n < STEPS_MAX; n++) {
			uint64_t at = net_at(k, (top & UINT32_MAX) * NET_EXTENT).bits;
			if (!claim(a, at, NET_EXTENT, GIVEN_BACK, "an extent given back"))
				break;
			a->sum->extents_free++;
			top = *(const uint64_t *)memory(a, at);
		}
		uint64_t place = s->root[TXN_ROOT_PLACES] & ((UINT64_C(1) << 28) - 1);
		for (unsigned n = 0; place != 0 && n < STEPS_MAX; n++) {
			uint64_t at = net_at(k, place * TXN_ANCHOR_BYTES).bits;
			if (!claim(a, at, TXN_ANCHOR_BYTES, GIVEN_BACK, "a free place for an anchor"))
				break;
			place = *(const uint64_t *)memory(a, at);
		}
		for (unsigned i = 0; i < NET_RESERVE; i++)
			if (s->reserve[i] > NET_RESERVE_WANTS)
				claim(
				    a, net_at(k, s->reserve[i]).bits, NET_EXTENT, GIVEN_BACK, "the reserve");
		if (txn_member_roster(s->root[TXN_ROOT_MEMBER]) != 0)
			claim_extents(a, s->root[TXN_ROOT_MEMBER],
			    txn_roster_extents(
				((const struct txn_roster *)memory(a, s->root[TXN_ROOT_MEMBER]))->nodes),
			    "a roster");
		for (uint64_t off = NET_EXTENT; off < a->units[k] * UNIT && oracle == NULL;
		     off += NET_EXTENT) {
			const struct tso_anchor *t = memory(a, net_at(k, off).bits);
			if (t->magic != TSO_MAGIC)
				continue;
			uint64_t bytes = sizeof *t + t->slots * sizeof(struct tso_owner_slot) + t->vector +
					 (t->lanes > 1 ? t->lanes * TSO_LANE_BYTES : 0);
			claim_extents(
			    a, net_at(k, off).bits, (bytes + NET_EXTENT - 1) / NET_EXTENT, "the oracle");
			oracle = t;
		}
	}
	return oracle;
}

/* A root, and the extents it lists: how many. */
static unsigned
spread(struct audit *a, uint64_t root, uint8_t kind, const char *what)
{
	if (!claim(a, root, NET_EXTENT, kind, what))
		return 0;
	const struct txn_spread *s = memory(a, root);
	const uint64_t *list = (const uint64_t *)(s + 1);
	if (s->n > TXN_SPREAD_MOST || s->check != txn_spread_check(s, list, root)) {
		run_bad(a->r, "audit: %s at %lx has no root", what, root);
		return 0;
	}
	for (uint64_t i = 0; i < s->n; i++)
		if (!claim(a, txn_ledger_extent(list[i]), NET_EXTENT, kind, what))
			return 0;
	return (unsigned)s->n + 1;
}

/* Logs stay with their slots. If an intent still names a long write set, it was not given back. */
static void
logs(struct audit *a, const struct tso_anchor *oracle)
{
	const struct tso_owner_slot *slot = memory(a, oracle->owners_at);
	for (unsigned i = 0; i < oracle->slots; i++) {
		if (slot[i].log == 0 || !claim_extents(a, slot[i].log, 1, "a log"))
			continue;
		const uint64_t *chunk = memory(a, slot[i].log);
		for (unsigned c = 0; c < TXN_CHUNKS; c++) {
			if (chunk[c] == 0 || !claim_extents(a, chunk[c], 1, "intents"))
				continue;
			for (unsigned k = 0; k < TXN_INTENTS_A_CHUNK; k++) {
				const struct txn_intent_head *h =
				    memory(a, chunk[c] + k * TXN_INTENT_BYTES + 64);
				if (h->more != 0)
					a->sum->extents_left += spread(a, h->more, LEFT, "a write set");
			}
		}
	}
}

/* ---- the index ---- */

/* Every block an entry leads to is noted. */
static void
index_table(struct audit *a, uint64_t at)
{
	const struct idx_bucket *t = memory(a, at);
	for (unsigned b = 0; b < IDX_BUCKETS; b++)
		for (unsigned i = 0; i < IDX_SLOTS; i++) {
			if (!idx_is_entry(t[b].slot[i]))
				continue;
			uint64_t block = idx_entry_block(t[b].slot[i], idx_block_shift(REGIONS));
			if (memory(a, block) == NULL)
				continue;
			*unit_of(a, block) |= INDEXED;
			a->sum->entries++;
		}
}

static void
index_of(struct audit *a, uint64_t anchor)
{
	const struct idx_anchor *ix = memory(a, anchor + TXN_ANCHOR_INDEX);
	/* A maker that died has written down the extent that it took, and no root (H10). */
	if (ix->root == 0 && ix->spare != 0)
		claim(a, ix->spare & ~(uint64_t)(IDX_EXTENT_BYTES - 1), IDX_EXTENT_BYTES, LISTED,
		    "an extent without a root");
	if (ix->root == 0)
		return;
	if (ix->lock != 0)
		run_bad(a->r, "audit: the index's resize lock is held by %lx", ix->lock);
	unsigned depth = idx_root_depth(ix->root);
	uint64_t dir = idx_root_dir(ix->root);
	if (!claim(a, dir, IDX_TABLE_BYTES, KEPT, "an index's directory"))
		return;
	const uint64_t *page = idx_root_listed(ix->root) ? memory(a, dir) : &dir;
	for (unsigned i = 0; idx_root_listed(ix->root) && i < IDX_PAGES; i++)
		if (page[i] != 0 &&
		    !claim(a, page[i], IDX_TABLE_BYTES, KEPT, "a page of an index's directory"))
			return;
	for (uint64_t i = 0; i < UINT64_C(1) << depth; i++) {
		const uint64_t *words = memory(a, page[i >> IDX_PAGE_LOG2]);
		uint64_t word = words[i & (IDX_PAGE_WORDS - 1)];
		if (i <= idx_low(idx_word_depth(word)) &&
		    claim(a, idx_word_table(word), IDX_TABLE_BYTES, KEPT, "a sub-table"))
			index_table(a, idx_word_table(word));
	}
	/* What resizes have left behind, in a ring: the first one, and how many (H9). */
	uint64_t first = ix->left_at >> 32, listed = ix->left_at & UINT32_MAX;
	if (ix->left != 0 && claim(a, ix->left, IDX_TABLE_BYTES, KEPT, "an index's list of sub-tables")) {
		const struct idx_left *list = memory(a, ix->left);
		for (uint64_t i = 0; i < listed && i < IDX_LEFT; i++)
			claim(a, list[(first + i) % IDX_LEFT].table, IDX_TABLE_BYTES, LISTED,
			    "a sub-table left behind and listed");
	}
	uint64_t spare = ix->spare & ~(uint64_t)(IDX_TABLE_BYTES - 1), n = ix->spare & (IDX_TABLE_BYTES - 1);
	if (n > 0)
		claim(a, spare, n * IDX_TABLE_BYTES, LISTED, "unused sub-tables");
}

/* Completely frozen (H3), a sub-table of this index, and older than its last resize: what was
 * replaced. */
static bool
is_left_behind(const struct idx_bucket *t, uint64_t tag, uint64_t resizes)
{
	uint64_t head = t->head & ~IDX_MOVED;
	if (head >> 48 != tag || (head >> 22 & idx_low(IDX_TURN_BITS)) >= resizes)
		return false;
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		unsigned i = 0;
		while (i < IDX_SLOTS && t[b].slot[i] != 0 && t[b].slot[i] != IDX_FROZEN)
			i++;
		if (i < IDX_SLOTS ? t[b].slot[i] != IDX_FROZEN || t[b].head != head
				  : t[b].head != (head | IDX_MOVED))
			return false;
	}
	return true;
}

/*
 * An extent of an index. Each resize leaves the sub-table behind that it replaced, and only the
 * process that did it remembers that, until it ends (index/README.md). So one sub-table for each
 * resize may be without an owner; every other one is lost. *behind: how many so far.
 */
static void
index_extent(struct audit *a, uint64_t anchor, uint64_t extent, uint64_t *behind)
{
	const struct idx_anchor *ix = memory(a, anchor + TXN_ANCHOR_INDEX);
	uint64_t tag = nam_mix(anchor + TXN_ANCHOR_INDEX) >> 48, resizes = ix->splits + ix->rewrites;
	for (uint64_t at = extent; at < extent + IDX_EXTENT_BYTES; at += IDX_TABLE_BYTES)
		if (*unit_of(a, at) == NOBODYS && *behind < resizes &&
		    is_left_behind(memory(a, at), tag, resizes) &&
		    claim(a, at, IDX_TABLE_BYTES, LEFT, "a sub-table left behind")) {
			++*behind;
			a->sum->index_behind += IDX_TABLE_BYTES;
		}
}

/* ---- rows ---- */

uint64_t
audit_room(uint32_t len)
{
	uint64_t room = 64;
	while (room < len)
		room *= 2;
	return room;
}

static void
blob_of(struct audit *a, const struct txn_blob *b)
{
	if (b->len > 32 << 10)
		spread(a, b->at.bits, KEPT, "a row's long blob");
	else
		claim(a, b->at.bits, audit_room(b->len), KEPT, "a row's blob");
}

/* A live row keeps its block and its blob. True if this one lives. */
static bool
row_of(struct audit *a, unsigned table, uint64_t at)
{
	struct run *r = a->r;
	const struct rec_block *img = (const void *)memory(a, at);
	unsigned n = r->shape.slots, newest = n;
	uint64_t cid = 0;
	for (unsigned k = 0; k < n; k++)
		if (rec_cid(img, k) > cid) {
			cid = rec_cid(img, k);
			newest = k;
		}
	if (cid == 0)
		return false;
	const struct rec_slot *s =
	    (const void *)((const char *)img + head_bytes(r) + (size_t)newest * slot_bytes());
	if (s->meta & REC_DELETED)
		return false;
	bool indexed = (*unit_of(a, at) & INDEXED) != 0;
	if (table != BARE && !indexed)
		run_bad(r, "audit: no index entry leads to the row in block %lx", at);
	a->sum->entries -= indexed;
	claim(a, at, block_bytes(r), KEPT, "a row");
	struct row row;
	if (row_true(s->payload, (uint32_t)s->meta, &row) && row.blob.len > 0)
		blob_of(a, &row.blob);
	return true;
}

/* A tree of free cells. offset: where in its memory a cell lies; bytes 0: each says how long it
 * is. */
static void
tree_of(struct audit *a, uint64_t at, uint64_t offset, uint64_t bytes)
{
	uint64_t *todo = calloc(STEPS_MAX, sizeof *todo);
	unsigned n = 0;
	if (at != 0)
		todo[n++] = at;
	while (n > 0 && n < STEPS_MAX - 2) {
		at = todo[--n];
		const struct txn_free_cell *c = memory(a, at + offset);
		if (c == NULL || !claim(a, at, bytes ? bytes : c->what, LISTED,
				     bytes ? "an emptied block" : "a free stretch"))
			break;
		if (bytes && *(const uint64_t *)memory(a, at) != c->what)
			run_bad(
			    a->r, "audit: block %lx is listed with word %lx and has another", at, c->what);
		if (c->other != 0)
			todo[n++] = c->other;
		if (c->next != 0)
			todo[n++] = c->next;
	}
	free(todo);
}

static void
lists_of(struct audit *a, const struct txn_anchor *t, unsigned per)
{
	uint64_t generation = txn_generation(t->sweep), at = txn_list_at(t->partial, generation);
	for (unsigned n = 0; at != 0 && n < STEPS_MAX; n++) {
		const struct txn_extent *e = memory(a, at);
		uint64_t end = sizeof *e + (uint64_t)per * block_bytes(a->r);
		if (e->used < sizeof *e || e->used > end ||
		    (e->used < end &&
			!claim(a, at + e->used, end - e->used, LISTED, "what is left of an extent")))
			break;
		at = e->partial;
	}
	tree_of(a, txn_list_at(t->free, generation), head_bytes(a->r), block_bytes(a->r));
	tree_of(a, txn_list_at(t->rest, generation), 0, 0);
	if (t->sweeper != 0 || (t->sweep & 1))
		run_bad(a->r, "audit: a sweep has not come to its end: %lx, %lu", t->sweeper, t->sweep);
}

static void
table_of(struct audit *a, unsigned table)
{
	struct run *r = a->r;
	uint64_t anchor = anchor_of(r, table).bits;
	const struct txn_anchor *t = memory(a, anchor);
	unsigned per = (unsigned)((NET_EXTENT - sizeof(struct txn_extent)) / block_bytes(r));
	struct audited *sum = a->sum;
	claim(a, anchor, TXN_ANCHOR_BYTES, KEPT, "a table's anchor");
	index_of(a, anchor);
	for (uint64_t ext = t->blocks, n = 0; ext != 0 && n < STEPS_MAX; n++) {
		const struct txn_extent *e = memory(a, ext);
		claim(a, ext, sizeof *e, KEPT, "an extent's head");
		uint64_t end = sizeof *e + (uint64_t)per * block_bytes(r);
		if (end < NET_EXTENT)
			claim(a, ext + end, NET_EXTENT - end, KEPT, "an extent's rest");
		for (unsigned k = 0; k < per; k++)
			sum->rows += row_of(a, table, ext + sizeof *e + (uint64_t)k * block_bytes(r));
		ext = e->next;
	}
	lists_of(a, t, per);
	for (uint64_t ext = t->blocks, n = 0; ext != 0 && n < STEPS_MAX; n++) {
		for (unsigned k = 0; k < per; k++) {
			uint64_t at = ext + sizeof(struct txn_extent) + (uint64_t)k * block_bytes(r);
			uint8_t *u = unit_of(a, at);
			sum->blocks_listed += (*u & ~INDEXED) == LISTED;
			if ((*u & ~INDEXED) != NOBODYS)
				continue;
			claim(a, at, block_bytes(r), LEFT, "a lost block");
			sum->blocks_left++;
		}
		ext = ((const struct txn_extent *)memory(a, ext))->next;
	}
	for (uint64_t i = 0, behind = 0; i < t->used; i++) {
		uint64_t at = anchor + TXN_ANCHOR_LEDGER + i * 8;
		if (i >= TXN_LEDGER_INLINE) {
			uint64_t k = i - TXN_LEDGER_INLINE;
			const uint64_t *page = memory(a, anchor + TXN_ANCHOR_PAGES + k / TXN_LEDGER_PAGE * 8);
			if (*page == 0 ||
			    (k % TXN_LEDGER_PAGE == 0 && !claim_extents(a, *page, 1, "a ledger's page")))
				continue;
			at = *page + k % TXN_LEDGER_PAGE * 8;
		}
		uint64_t entry = *(const uint64_t *)memory(a, at);
		if (entry & TXN_LEDGER_INDEX)
			index_extent(a, anchor, txn_ledger_extent(entry), &behind);
		bool tree = table == KEYED && (entry & TXN_LEDGER_INDEX) != 0 &&
			    order_extent(r, t, memory(a, txn_ledger_extent(entry)));
		for (uint64_t k = 0; tree && k < EXTENT_UNITS; k++) {
			uint8_t *u = unit_of(a, txn_ledger_extent(entry) + k * UNIT);
			*u = *u == NOBODYS ? KEPT : *u;
		}
		for (uint64_t k = 0; entry != 0 && k < EXTENT_UNITS; k++) {
			uint8_t *u = unit_of(a, txn_ledger_extent(entry) + k * UNIT);
			bool of_index = (entry & TXN_LEDGER_INDEX) != 0;
			sum->bytes_listed += !of_index && *u == LISTED ? UNIT : 0;
			if (*u != NOBODYS)
				continue;
			*u = LEFT;
			*(of_index ? &sum->index_left : &sum->bytes_left) += UNIT;
		}
	}
}

void
audit_sweep(struct run *r, struct place *p)
{
	static const char bytes[64];
	struct txn_blob blob;
	struct txn *t;
	if (txn_begin(p->tw[0], TXN_REPEATABLE_READ, &t) != NAM_OK)
		return;
	for (unsigned k = 0; k < 2; k++)
		if (txn_blob_put(t, &p->table[k], bytes, sizeof bytes, &blob) != NAM_OK)
			run_bad(r, "audit: no memory to be had of table %u", k);
	for (unsigned i = 0; i < NAMES_MAX; i++)
		if (r->named[i] != 0 &&
		    txn_blob_put(t, &p->temp[r->named[i] - 1], bytes, sizeof bytes, &blob) != NAM_OK)
			run_bad(r, "audit: no memory to be had of table %u", TEMP + r->named[i] - 1);
	txn_abort(t);
	net_sleep(r->place[0].w[0], SWEPT_NS);
}

void
audit(struct run *r)
{
	struct audit a = { .r = r, .sum = &r->audited };
	const struct tso_anchor *oracle = regions(&a);
	if (oracle != NULL)
		logs(&a, oracle);
	for (unsigned table = 0; table < TEMP + r->births && !r->bad; table++)
		if (table < TEMP || drops_lives(r, table - TEMP))
			table_of(&a, table);
	for (unsigned k = 1; k <= REGIONS && !r->bad; k++)
		for (uint64_t i = 0; i < a.units[k]; i += EXTENT_UNITS)
			r->audited.extents_left += a.unit[k][i] == NOBODYS;
	for (unsigned k = 1; k <= REGIONS; k++)
		free(a.unit[k]);
	/* A process that dies between taking an extent and entering it leaves one that no table
	 * knows of (txn/README.md). */
	bool deaths = false;
	for (unsigned i = 0; i < r->shape.procs; i++)
		deaths = deaths || r->place[i].buried;
	deaths = deaths || life_died();
	/* A node's message rings lie in extents of its own. */
	deaths = deaths || r->shape.ordered;
	const struct audited *sum = a.sum;
	if (sum->blocks_left + sum->bytes_left + sum->index_left + sum->entries > 0 ||
	    (!deaths && sum->extents_left > 0))
		run_bad(r,
		    "audit: without an owner: %lu blocks, %lu bytes of archives and blobs, %lu of indexes, "
		    "%lu extents; "
		    "%lu index entries lead to no row",
		    sum->blocks_left, sum->bytes_left, sum->index_left, sum->extents_left, sum->entries);
}
