/*
 * reclaim.c -- finds the memory that the dead had at hand, by looking at all of a table (README, "Memory of the dead").
 *
 * Under the table's sweep lock, in this order; each waits for the one before:
 *
 *	1  a new generation: what anybody has at hand is void for whoever looks at the anchor from now on
 *	2  a noted CID: whoever has a snapshot at or above it has looked
 *	3  wait until the watermark has passed it: nobody uses memory of the old generation but what is reachable
 *	4  a snapshot H above all CIDs of those, and wait until the watermark is H: what only older snapshots can reach
 *	   is nobody's. So no archive of the old generation is needed
 *	5  look at every block: what is named by no version that H shows, in old memory, is free
 *	6  horizon, then the generation's end, then the lock: the others may give back again, and we have what was free
 *
 * Who dies in between has changed nothing but the generation: the next one begins anew, and all is void again. Two cannot be
 * at it: the lock says who is, and a dead one is settled before his lock is anybody's.
 */
#include <base/twin.h>
#include <stdlib.h>
#include <string.h>
#include "txn_internal.h"

enum {
	HAND_OVER_NS = 2000000000,
	BATCH = 8,
	POLL_NS = 5000000,
	WAIT_NS = 1000000,
	UNIT = 64,
	WORDS = NET_EXTENT / UNIT / 64
};

/* A block of old memory that shows nothing. */
struct empty {
	uint64_t at, word, hash;
	uint32_t entries; /* of the index, that lead here */
};

struct sweep {
	struct txn_worker *tw;
	struct txn_table_view *v;
	struct txn *t;
	uint64_t lock, word, deaths; /* lock 0: it is not ours any more; word 0: nothing has changed yet */
	nam_status st;
	uint64_t *old; /* extents of archives and blobs; what of each is in use */
	uint32_t nold, old_cap;
	uint64_t (*used)[WORDS];
	struct empty *empty;
	uint32_t empties, empty_cap;
	struct txn_junk *junk; /* what the collector is to do */
	uint32_t junks, junk_cap;
	struct nam_arena arena;
};

static net_addr
word_at(const struct sweep *s, size_t offset)
{
	return net_plus(s->v->anchor, offset);
}

/* ---- 1 ---- */

static nam_status
begin(struct sweep *s)
{
	static const size_t list[] = { offsetof(struct txn_anchor, partial),
		offsetof(struct txn_anchor, free), offsetof(struct txn_anchor, rest) };
	struct net_worker *w = s->tw->w;
	struct txn_anchor a;
	nam_status st = net_read1(w, s->v->anchor, &a, sizeof a, NULL);
	if (st == NAM_OK && (a.magic != TXN_ANCHOR_MAGIC || a.table != s->v->table || a.sweeper != s->lock)) {
		s->lock = 0;
		return NAM_ABSENT;
	}
	if (st == NAM_OK)
		st = net_read1(w, s->tw->db->deaths, &s->deaths, sizeof s->deaths, NULL);
	if (st != NAM_OK)
		return st;
	uint64_t generation = txn_generation(a.sweep) + 1;
	s->word = 2 * generation - 1;
	st = net_write1(w, word_at(s, offsetof(struct txn_anchor, sweep)), &s->word, 8, NULL);
	/* What hangs there is void by its generation; but those come round after a thousand sweeps. */
	for (unsigned i = 0; st == NAM_OK && i < 3; i++) {
		uint64_t head, seen = 0;
		st = net_read1(w, word_at(s, list[i]), &head, 8, NULL);
		while (st == NAM_OK && head >> TXN_LIST_SHIFT != txn_list(generation, 0) >> TXN_LIST_SHIFT) {
			st = net_cas1(w, word_at(s, list[i]), head, txn_list(generation, 0), &seen, NULL);
			if (seen == head)
				break;
			head = seen;
		}
	}
	return st;
}

/* ---- 5 ---- */

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void
use(struct sweep *s, uint64_t from, uint64_t bytes)
{
	for (uint64_t at = from; at < from + bytes; at += UNIT) {
		uint64_t ext = at & ~(uint64_t)(NET_EXTENT - 1), unit = (at - ext) / UNIT;
		uint64_t *o = s->nold ? bsearch(&ext, s->old, s->nold, sizeof *s->old, by_address) : NULL;
		if (o != NULL)
			s->used[o - s->old][unit / 64] |= UINT64_C(1) << unit % 64;
	}
}

/* A version that our snapshot shows names it: it is there, and whole. */
static nam_status
use_blob(struct sweep *s, const struct txn_blob *b)
{
	net_addr *at;
	unsigned n;
	if (!txn_blob_long(b->len)) {
		use(s, b->at.bits, txn_blob_bytes(b->len));
		return NAM_OK;
	}
	nam_status st = txn_long_extents(s->tw->w, b->at, b->len, &at, &n);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		use(s, at[i].bits, NET_EXTENT);
	free(at);
	return st;
}

static nam_status
use_blobs(struct sweep *s, const struct rec_slot *x)
{
	struct txn_table_view *v = s->v;
	struct txn_blob found[TXN_BLOBS_MAX];
	unsigned n = 0;
	if (v->blobs == NULL)
		return NAM_OK;
	atomic_fetch_add(&v->asking, 1);
	bool dead = atomic_load(&v->dead);
	if (!dead)
		n = v->blobs(&v->blob_table, x->payload, (uint32_t)x->meta, found, TXN_BLOBS_MAX);
	atomic_fetch_sub(&v->asking, 1);
	nam_status st = dead ? NAM_ABSENT : NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = use_blob(s, &found[i]);
	return st;
}

static nam_status
add_junk(struct sweep *s, struct txn_junk j)
{
	if (!txn_grow((void **)&s->junk, s->junks, &s->junk_cap, sizeof *s->junk))
		return NAM_NOMEM;
	s->junk[s->junks++] = j;
	return NAM_OK;
}

static nam_status
add_empty(struct sweep *s, net_addr at, uint64_t word)
{
	/* A lock of the dead is freed; of those who live, we are told by what the index says. */
	if ((word & REC_LOCK) && txn_unlock_dead(s->tw, at, word) == NAM_OK) {
		nam_status st = net_read1(s->tw->w, at, &word, sizeof word, NULL);
		if (st != NAM_OK)
			return st;
	}
	if (!txn_grow((void **)&s->empty, s->empties, &s->empty_cap, sizeof *s->empty))
		return NAM_NOMEM;
	s->empty[s->empties++] = (struct empty){ .at = at.bits, .word = word };
	return NAM_OK;
}

static nam_status
block(struct sweep *s, const uint64_t *there, net_addr at, bool old)
{
	struct txn_table_view *v = s->v;
	const struct rec_slot *x;
	if (txn_rec_dir_whole(v, there, at) && txn_rec_newest(v, there) == 255)
		return old ? add_empty(s, at, there[REC_WORD]) : NAM_OK;
	uint64_t *img = nam_arena_copy(&s->arena, there, v->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = txn_rec_fetch(s->t, v, img, at, s->t->pin.at, &x, &s->arena);
	if (st == NAM_ABSENT)
		return NAM_OK; /* younger than our snapshot, and so is all it names */
	if (st == NAM_OK)
		st = use_blobs(s, x);
	/* Its deleter may have died; if he lives, too, one of us comes too late and sees it. */
	unsigned newest = txn_rec_newest(v, img);
	if (st == NAM_OK && old && (x->meta & REC_DELETED) && newest != 255 &&
	    (img[REC_CID + newest] & ~REC_ARCHIVED) == x->cid)
		st = add_junk(
		    s, (struct txn_junk){
			   .cid = x->cid, .kind = JUNK_TOMB, .view = v, .at = at, .aux = img[REC_IDENT] });
	return st;
}

static nam_status
blocks(struct sweep *s)
{
	struct txn_table_view *v = s->v;
	uint64_t ext = 0, generation = txn_generation(s->word);
	char *buf = aligned_alloc(64, NET_EXTENT);
	if (buf == NULL)
		return NAM_NOMEM;
	nam_status st =
	    net_read1(s->tw->w, word_at(s, offsetof(struct txn_anchor, blocks)), &ext, sizeof ext, NULL);
	while (st == NAM_OK && ext != 0) {
		const struct txn_extent *e = (const void *)buf;
		st = net_read1(s->tw->w, (net_addr){ ext }, buf, NET_EXTENT, NULL);
		if (st == NAM_OK && s->tw->leaving)
			st = NAM_CANCELLED;
		if (st == NAM_OK && e->table != v->table)
			st = NAM_CORRUPT;
		bool old = st == NAM_OK && e->generation < generation;
		for (uint32_t k = 0; st == NAM_OK && k < v->per_extent; k++) {
			uint64_t off = sizeof *e + (uint64_t)k * v->block_bytes;
			st = block(
			    s, (const uint64_t *)(const void *)(buf + off), (net_addr){ ext + off }, old);
		}
		ext = e->next;
		nam_arena_reset(&s->arena);
		txn_give_way(s->tw);
	}
	free(buf);
	return st;
}

static void
entry(void *arg, net_addr at, uint64_t hash)
{
	struct sweep *s = arg;
	struct empty *e = bsearch(&at.bits, s->empty, s->empties, sizeof *e, by_address);
	if (e != NULL) {
		e->entries++;
		e->hash = hash;
	}
}

/*
 * An insert that was never committed left an entry and an empty block. Another insert of the key may use both, and the collector
 * takes both away, under its lock. Only blocks that no entry leads to are simply free.
 */
static nam_status
entries(struct sweep *s)
{
	nam_status st = NAM_OK;
	if (s->empties == 0)
		return NAM_OK;
	qsort(s->empty, s->empties, sizeof *s->empty, by_address);
	if (s->v->has_key)
		st = idx_walk_entries(s->tw->w, s->v->index, entry, s);
	for (uint32_t i = 0; st == NAM_OK && i < s->empties; i++) {
		const struct empty *e = &s->empty[i];
		if (e->entries == 1)
			st = add_junk(
			    s, (struct txn_junk){
				   .kind = JUNK_EMPTY, .view = s->v, .at = { e->at }, .aux = e->hash });
		else if (e->entries == 0 && (e->word & REC_LOCK) == 0)
			st = add_junk(s, (struct txn_junk){ .cid = e->word,
					     .kind = JUNK_BLOCK,
					     .view = s->v,
					     .at = { e->at },
					     .aux = e->word });
	}
	return st;
}

static nam_status
look_at_all(struct sweep *s)
{
	nam_status st =
	    txn_ledger_old(s->v, s->tw->w, txn_generation(s->word), &s->old, &s->nold, &s->old_cap);
	if (st == NAM_OK && s->nold > 0 && (s->used = calloc(s->nold, sizeof *s->used)) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK)
		st = blocks(s);
	return st == NAM_OK ? entries(s) : st;
}

/* ---- 6 ---- */

static void
keep_rest(struct sweep *s, struct txn_alloc *a)
{
	for (uint32_t i = 0; i < s->nold; i++)
		for (unsigned u = 0, from; u < WORDS * 64; u++) {
			for (from = u; u < WORDS * 64 && (s->used[i][u / 64] >> u % 64 & 1) == 0;)
				u++;
			txn_stretch_push(&a->rest, s->old[i] + from * UNIT, s->old[i] + u * UNIT);
			s->tw->stats.bytes_found += (u - from) * UNIT;
		}
}

/* One after the other on one connection: if our lock is gone, all before it is done. */
static nam_status
tell_anchor(struct sweep *s, uint64_t over, uint64_t h)
{
	struct net_op op[4];
	struct net_batch b;
	net_batch_init(&b, s->tw->w, op, 4, NULL);
	if (s->st == NAM_OK) {
		net_write(&b, word_at(s, offsetof(struct txn_anchor, horizon)), &h, 8);
		net_write(&b, word_at(s, offsetof(struct txn_anchor, swept)), &s->deaths, 8);
	}
	if (s->word != 0)
		net_write(&b, word_at(s, offsetof(struct txn_anchor, sweep)), &over, 8);
	net_cas(&b, word_at(s, offsetof(struct txn_anchor, sweeper)), s->lock, 0);
	return net_run(&b);
}

static void
end(struct sweep *s)
{
	struct txn_alloc *a;
	uint64_t over = s->word + 1, h = s->st == NAM_OK ? s->t->pin.at : 0, until = 0, lock;
	nam_status st = s->lock != 0 ? tell_anchor(s, over, h) : NAM_ABSENT;
	while (st == NAM_GONE && txn_again(s->tw, s->v->anchor, &until) == NAM_OK) {
		st = net_read1(
		    s->tw->w, word_at(s, offsetof(struct txn_anchor, sweeper)), &lock, sizeof lock, NULL);
		if (st == NAM_OK && lock == s->lock)
			st = tell_anchor(s, over, h);
	}
	atomic_store(&s->v->sweeper, 0);
	/* Should the next sweep have begun already, it finds all this again. */
	if (st == NAM_OK && s->st == NAM_OK && txn_alloc_look(s->tw, s->v, &a) == NAM_OK &&
	    a->sweep == over) {
		keep_rest(s, a);
		for (uint32_t i = 0; i < s->junks; i++) {
			const struct txn_junk *j = &s->junk[i];
			if (j->kind == JUNK_BLOCK && j->cid <= h)
				txn_block_give(s->tw, s->v, j->at, j->aux);
			else
				txn_junk_add(s->tw, *j);
			s->tw->stats.blocks_found++;
		}
		/* Others need it as much as we do. */
		(void)txn_hand_over(s->tw, s->v, a, net_now_ns(s->tw->w) + HAND_OVER_NS);
		s->tw->stats.sweeps++;
	}
	free(s->old);
	free(s->used);
	free(s->empty);
	free(s->junk);
	nam_arena_fini(&s->arena);
	atomic_store(&s->v->sweeping, 0);
}

/* ---- all of it ---- */

static nam_status
wait_for(struct txn_worker *tw, tso_cid cid)
{
	while (tso_watermark(tw->db->tso) < cid && !nam_twin(NAM_TWIN_SWEEP_EARLY)) {
		if (tw->leaving || atomic_load(&tw->db->failed))
			return NAM_CANCELLED;
		net_sleep(tw->w, WAIT_NS);
	}
	return NAM_OK;
}

/* 2 to 4. *t: at H. pin: unpinned when others hold the place. */
static nam_status
wait_for_all(struct txn_worker *tw, struct tso_pin *pin, struct txn **t)
{
	struct tso_pin later;
	tso_cid cid;
	nam_status st = txn_cid_spend(tw, TSO_NOTE_MEMORY, &cid);
	if (st == NAM_OK)
		st = tso_wait_for(tw->tso, cid);
	/* At or above the noted CID: our own must not hold the watermark below. */
	nam_status pinned = tso_pin_now(tw->tso, &later);
	tso_unpin(tw->tso, pin);
	st = st == NAM_OK ? pinned : st;
	if (st == NAM_OK)
		st = wait_for(tw, cid);
	if (st == NAM_OK)
		st = txn_cid_spend(tw, 0, &cid);
	if (st == NAM_OK)
		st = tso_wait_for(tw->tso, cid);
	if (st == NAM_OK)
		st = txn_begin(tw, TXN_REPEATABLE_READ, t);
	tso_unpin(tw->tso, &later);
	return st == NAM_OK ? wait_for(tw, (*t)->pin.at) : st;
}

/* Tables that we are to sweep. A slot that we have lost has taken its locks with it. */
static unsigned
due(struct txn_worker *tw, struct sweep *s)
{
	struct tso *tso = tw->db->tso;
	unsigned n = 0;
	for (struct txn_table_view *v = atomic_load(&tw->db->views); v != NULL && n < BATCH; v = v->next) {
		uint64_t lock = atomic_load(&v->sweeper);
		unsigned nobody = 0;
		if (lock == 0 || !atomic_compare_exchange_strong(&v->sweeping, &nobody, tw->number + 1))
			continue;
		/* Another worker may have come to its end with it in between. */
		if ((lock = atomic_load(&v->sweeper)) == 0) {
			atomic_store(&v->sweeping, 0);
			continue;
		}
		if (txn_lock_owner(lock) != tso_owner(tso) || txn_lock_epoch(lock) != tso_epoch(tso)) {
			atomic_store(&v->sweeper, 0);
			atomic_store(&v->sweeping, 0);
			continue;
		}
		s[n] = (struct sweep){ .tw = tw, .v = v, .lock = lock };
		nam_arena_init(&s[n++].arena, 0);
	}
	return n;
}

static void
round_of(struct txn_worker *tw)
{
	struct sweep s[BATCH];
	struct tso_pin pin;
	struct txn *t = NULL;
	bool any = false;
	for (struct txn_table_view *v = atomic_load(&tw->db->views); v != NULL && !any; v = v->next)
		any = atomic_load(&v->sweeper) != 0 && atomic_load(&v->sweeping) == 0;
	if (!any)
		return;
	txn_reach(tw);
	/* Pinned we keep our slot, and so the locks. */
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK)
		txn_at_hand(tw);
	unsigned n = st == NAM_OK ? due(tw, s) : 0;
	for (unsigned i = 0; i < n; i++)
		s[i].st = atomic_load(&s[i].v->dead) || tw->leaving ? NAM_CANCELLED : begin(&s[i]);
	if (n > 0)
		st = wait_for_all(tw, &pin, &t);
	else
		tso_unpin(tw->tso, &pin);
	for (unsigned i = 0; i < n; i++) {
		s[i].t = t;
		s[i].st = s[i].st == NAM_OK ? st : s[i].st;
		if (s[i].st == NAM_OK)
			s[i].st = look_at_all(&s[i]);
		end(&s[i]);
	}
	if (t != NULL)
		txn_abort(t);
}

/* What is not swept is left to others. */
static void
give_up(struct txn_worker *tw)
{
	struct sweep s[BATCH];
	struct tso_pin pin;
	bool any = false;
	for (struct txn_table_view *v = atomic_load(&tw->db->views); v != NULL && !any; v = v->next)
		any = atomic_load(&v->sweeper) != 0;
	if (!any)
		return; /* an idle process need not wake for this */
	nam_status st = tso_pin_now(tw->tso, &pin);
	for (unsigned n; st == NAM_OK && (n = due(tw, s)) > 0;)
		for (unsigned i = 0; i < n; i++) {
			s[i].st = NAM_CANCELLED;
			end(&s[i]);
		}
	tso_unpin(tw->tso, &pin);
}

void
txn_reclaim(void *worker)
{
	struct txn_worker *tw = worker;
	net_pay(&tw->background);
	while (!tw->leaving) {
		net_sleep(tw->w, POLL_NS);
		round_of(tw);
	}
	give_up(tw);
	tw->helpers--;
}

nam_status
txn_death(struct txn_worker *tw)
{
	struct tso_pin pin;
	tso_cid cid;
	uint64_t deaths;
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK)
		st = net_faa1(tw->w, tw->db->deaths, 1, &deaths, NULL);
	if (st == NAM_OK)
		st = txn_cid_spend(tw, TSO_NOTE_MEMORY, &cid);
	tso_unpin(tw->tso, &pin);
	return st;
}
