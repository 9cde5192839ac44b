/*
 * look.c -- looks at all of a table that is being swept: finds the old memory that is in use, and
 * the blocks that no entry leads to.
 *
 * A table is large, and other processes wait for the watermark. So a sweep does not keep one
 * snapshot while it looks: it looks at each extent at a snapshot of its own, a young one, and then
 * writes that snapshot into the extent's head (M6). The sweep's lock keeps the table from being
 * released.
 *
 * The chain of extents is followed first, head by head. Then the workers of this process share the
 * list: each takes a few extents, READs them together and looks at them. It WRITEs their horizons
 * together with the READs of its next extents.
 */
#include "reclaim.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	TOGETHER = 4,      /* extents that are READ together */
	LARGE = 16,        /* extents: from so many on, other workers help */
	TURN_BLOCKS = 8,   /* looked at between two looks at the clock */
	TURN_ENTRIES = 64, /* entries of the index between two looks at the clock */
	HEADS = 16,        /* READ together */
	WAIT_NS = 100000,
	LONE_LEASES = 2 /* so long a sweep waits for a lock to go */
};

/* One worker's part. */
struct part {
	struct txn_look *l;
	struct txn *t;
	uint64_t at; /* the snapshot of its present look */
	struct nam_arena arena;
	struct txn_found found;
	unsigned turn;
};

nam_status
txn_pin_move(struct txn_worker *tw, struct tso_pin *pin)
{
	struct tso_pin next;
	nam_status st = tso_pin_now(tw->tso, &next);
	tso_unpin(tw->tso, pin);
	tso_hold(tw->tso, &next, pin);
	return st;
}

static void
stop(struct txn_look *l, nam_status st)
{
	int ok = NAM_OK;
	if (st != NAM_OK)
		atomic_compare_exchange_strong(&l->status, &ok, (int)st);
}

static nam_status
status(const struct txn_look *l)
{
	return (nam_status)atomic_load(&l->status);
}

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* ---- what is in use ---- */

static void
use(struct txn_look *l, uint64_t from, uint64_t bytes)
{
	for (uint64_t at = from; at < from + bytes; at += TXN_UNIT) {
		uint64_t ext = at & ~(uint64_t)(NET_EXTENT - 1), unit = (at - ext) / TXN_UNIT;
		uint64_t *o = l->nold ? bsearch(&ext, l->old, l->nold, sizeof *l->old, by_address) : NULL;
		if (o != NULL)
			atomic_fetch_or_explicit(
			    &l->used[o - l->old][unit / 64], UINT64_C(1) << unit % 64, memory_order_relaxed);
	}
}

/* A version that our snapshot shows names the blob: it exists, and is whole. */
static nam_status
use_blob(struct part *p, const struct txn_blob *b)
{
	net_addr *at;
	unsigned n;
	if (!txn_blob_long(b->len)) {
		use(p->l, b->at.bits, txn_blob_bytes(b->len));
		return NAM_OK;
	}
	nam_status st = txn_long_extents(p->t->tw->w, b->at, b->len, &at, &n);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		use(p->l, at[i].bits, NET_EXTENT);
	free(at);
	return st;
}

static nam_status
use_blobs(struct part *p, const struct rec_slot *x)
{
	struct txn_table_view *v = p->l->v;
	struct txn_blob found[TXN_BLOBS_MAX];
	unsigned n = 0;
	if (v->blobs == NULL)
		return NAM_OK;
	struct txn_table_view *now = txn_ask(v->stock);
	if (now == NULL)
		return NAM_ABSENT;
	n = now->blobs(&now->blob_table, x->payload, (uint32_t)x->meta, found, TXN_BLOBS_MAX);
	txn_asked(now);
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = use_blob(p, &found[i]);
	return st;
}

/* ---- blocks without a version ---- */

static nam_status
add_junk(struct txn_found *f, struct txn_junk j)
{
	if (!txn_grow((void **)&f->junk, f->junks, &f->junk_cap, sizeof *f->junk))
		return NAM_NOMEM;
	f->junk[f->junks++] = j;
	return NAM_OK;
}

static nam_status
add_empty(struct txn_found *f, struct txn_empty e)
{
	if (!txn_grow((void **)&f->empty, f->empties, &f->empty_cap, sizeof *f->empty))
		return NAM_NOMEM;
	f->empty[f->empties++] = e;
	return NAM_OK;
}

static nam_status
empty(struct part *p, net_addr at, uint64_t word)
{
	struct txn_worker *tw = p->t->tw;
	/* A lock of a dead owner is freed. If a live owner has it locked, the block is judged when
	 * its index entries are known. */
	if ((word & REC_LOCK) && txn_unlock_dead(tw, at, word) == NAM_OK) {
		nam_status st = net_read1(tw->w, at, &word, sizeof word, NULL);
		if (st != NAM_OK)
			return st;
	}
	return add_empty(&p->found, (struct txn_empty){ .at = at.bits, .word = word });
}

static nam_status
block(struct part *p, const struct rec_block *there, net_addr at, bool old)
{
	struct txn_table_view *v = p->l->v;
	const struct rec_slot *x;
	if (txn_rec_dir_whole(v, there, at) && txn_rec_newest(v, there) == REC_NO_SLOT)
		return old ? empty(p, at, there->word) : NAM_OK;
	struct rec_block *img = nam_arena_copy(&p->arena, there, v->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = txn_rec_fetch(p->t, v, img, at, p->at, &x, &p->arena);
	/* M7: a collector that died had left half a directory, and it has been emptied since, by us
	 * or by another process. Else the block is younger than our snapshot, and so is all that it
	 * names. */
	if (st == NAM_ABSENT)
		return old && txn_rec_newest(v, img) == REC_NO_SLOT ? empty(p, at, img->word) : NAM_OK;
	if (st == NAM_OK)
		st = use_blobs(p, x);
	/* Its deleter may have died. If the deleter lives, its collector and ours both come here;
	 * the later one sees that the block is emptied. */
	unsigned newest = txn_rec_newest(v, img);
	if (st == NAM_OK && old && (x->meta & REC_DELETED) && newest != REC_NO_SLOT &&
	    rec_cid(img, newest) == x->cid)
		st = add_junk(&p->found,
		    (struct txn_junk){
			.cid = x->cid, .kind = JUNK_TOMB, .stock = v->stock, .at = at, .aux = img->ident });
	return st;
}

/* ---- extents ---- */

static nam_status
extent(struct part *p, const char *bytes, uint64_t at)
{
	const struct txn_table_view *v = p->l->v;
	const struct txn_extent *e = (const void *)bytes;
	nam_status st = e->table == v->table ? NAM_OK : NAM_CORRUPT;
	bool old = e->generation < p->l->generation;
	for (uint32_t k = 0; st == NAM_OK && k < v->per_extent; k++) {
		uint64_t off = sizeof *e + (uint64_t)k * v->block_bytes;
		st = block(
		    p, (const struct rec_block *)(const void *)(bytes + off), (net_addr){ at + off }, old);
		if (++p->turn % TURN_BLOCKS == 0)
			txn_give_way(p->t->tw);
	}
	nam_arena_reset(&p->arena);
	return st;
}

static net_addr
horizon_of(uint64_t extent)
{
	return (net_addr){ extent + offsetof(struct txn_extent, horizon) };
}

/*
 * Connections broke under some WRITEs of horizons. If such a WRITE were executed late, it would
 * lower the horizon that the next sweep writes there. So each is repeated over a new connection:
 * then no verb of the old one executes any more. If that fails, the sweep's lock must stay ours.
 */
static void
tell_again(struct part *p, const struct net_op *op, unsigned n, const uint64_t *at)
{
	struct txn_worker *tw = p->t->tw;
	for (unsigned k = 0; k < n; k++) {
		if (op[k].status == NAM_OK || txn_sure_write(tw, op[k].at, at, sizeof *at) == NAM_OK ||
		    txn_node_ended(tw, op[k].at))
			continue;
		atomic_store(&p->l->doubt, true);
		txn_doubt(tw);
	}
}

/* Takes extents as long as there are some that no worker has begun with. A worker finishes a batch
 * that it has begun. */
static nam_status
some(struct part *p, char *bytes)
{
	struct txn_look *l = p->l;
	struct txn_worker *tw = p->t->tw;
	struct net_op op[2 * TOGETHER];
	struct net_batch b;
	nam_status st = NAM_OK;
	uint64_t told = 0; /* of `from`: `n` extents looked at whose horizons are not written yet */
	for (uint32_t from = 0, n = 0;;) {
		uint32_t next = l->extents, more = 0;
		if (status(l) == NAM_OK && !tw->leaving)
			next = atomic_fetch_add(&l->next, TOGETHER);
		if (next < l->extents)
			more = l->extents - next < TOGETHER ? l->extents - next : TOGETHER;
		/* All READs from now on show every commit up to the snapshot. */
		if (more > 0 && (st = txn_pin_move(tw, &p->t->pin)) != NAM_OK)
			return st;
		p->at = p->t->pin.at;
		net_batch_init(&b, tw->w, op, 2 * TOGETHER, NULL);
		for (uint32_t k = 0; k < n && !nam_fault(SWEEP_UNTOLD); k++)
			net_write(&b, horizon_of(l->extent[from + k]), &told, sizeof told);
		unsigned writes = b.n;
		for (uint32_t k = 0; k < more; k++)
			net_read(&b, (net_addr){ l->extent[next + k] }, bytes + (size_t)k * NET_EXTENT,
			    NET_EXTENT);
		if (b.n > 0 && (st = net_run(&b)) != NAM_OK)
			tell_again(p, op, writes, &told);
		if (st != NAM_OK || more == 0)
			return st;
		for (uint64_t seen = atomic_load(&l->horizon);
		     seen < p->at && !atomic_compare_exchange_weak(&l->horizon, &seen, p->at);)
			;
		for (uint32_t k = 0; k < more; k++)
			if ((st = extent(p, bytes + (size_t)k * NET_EXTENT, l->extent[next + k])) != NAM_OK)
				return st;
		from = next;
		n = more;
		told = p->at;
	}
}

static nam_status
add_all(struct txn_found *f, const struct txn_found *more)
{
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < more->empties; i++)
		st = add_empty(f, more->empty[i]);
	for (uint32_t i = 0; st == NAM_OK && i < more->junks; i++)
		st = add_junk(f, more->junk[i]);
	return st;
}

static void
take_part(struct txn *t, struct txn_look *l)
{
	struct part p = { .l = l, .t = t };
	char *bytes = aligned_alloc(64, TOGETHER * (size_t)NET_EXTENT);
	nam_arena_init(&p.arena, 0);
	stop(l, bytes != NULL ? some(&p, bytes) : NAM_NOMEM);
	while (atomic_flag_test_and_set(&l->adding))
		nam_co_yield();
	stop(l, add_all(&l->found, &p.found));
	atomic_flag_clear(&l->adding);
	free(bytes);
	free(p.found.empty);
	free(p.found.junk);
	nam_arena_fini(&p.arena);
}

/* ---- the others ---- */

void
txn_look_along(struct txn_worker *tw)
{
	if (atomic_load_explicit(&tw->db->looks, memory_order_relaxed) == 0)
		return;
	for (struct txn_stock *k = NULL; (k = txn_due_next(tw->db, TXN_DUE_SWEEP, k)) != NULL;) {
		struct txn *t;
		tw->stats.looked_at++;
		if (atomic_load(&k->look) == NULL || txn_begin(tw, TXN_REPEATABLE_READ, &t) != NAM_OK)
			continue;
		/* Counted first: the leader takes the look away, and then waits until no worker is
		 * counted. */
		atomic_fetch_add(&k->looking, 1);
		struct txn_look *l = atomic_load(&k->look);
		if (l != NULL && atomic_load(&l->next) < l->extents)
			take_part(t, l);
		atomic_fetch_sub(&k->looking, 1);
		txn_abort(t);
	}
}

/* ---- all of it ---- */

/* The heads READ last, and a prediction of the chain: each region hands extents out in rising
 * order, so the chain falls. */
struct heads {
	uint64_t at[HEADS];
	struct txn_extent head[HEADS];
	unsigned n;
	struct {
		uint64_t last, stride; /* 0 = no prediction */
	} * by;                        /* by region */
	unsigned regions;
};

static void
learn(struct heads *h, uint64_t at)
{
	unsigned r = net_region_of((net_addr){ at });
	if (r >= h->regions)
		return;
	h->by[r].stride = h->by[r].last > at ? h->by[r].last - at : 0;
	h->by[r].last = at;
}

/* READs the head of one extent, together with those of extents that may follow it. */
static nam_status
read_heads(struct txn_worker *tw, struct heads *h, uint64_t at)
{
	struct net_op op[HEADS];
	struct net_batch b;
	bool more = true;
	h->n = 0;
	h->at[h->n++] = at;
	for (uint64_t i = 1; more; i++) {
		more = false;
		for (unsigned r = 1; r < h->regions && h->n < HEADS; r++) {
			if (h->by[r].stride == 0 ||
			    net_offset_of((net_addr){ h->by[r].last }) <= i * h->by[r].stride)
				continue;
			h->at[h->n++] = h->by[r].last - i * h->by[r].stride;
			more = h->n < HEADS;
		}
	}
	net_batch_init(&b, tw->w, op, HEADS, NULL);
	for (unsigned k = 0; k < h->n; k++)
		net_read(&b, (net_addr){ h->at[k] }, &h->head[k], sizeof h->head[k]);
	return net_run(&b);
}

/*
 * A chain costs a round trip for each link, unless the next head has been READ already. A guess
 * proves nothing: the chain says which heads are of this table. They had been linked before the
 * first of the chain was READ, so they do not change any more.
 */
static nam_status
list_extents(struct txn *t, struct txn_look *l)
{
	struct txn_worker *tw = t->tw;
	struct heads h = { .n = 0, .regions = tw->db->region_max + 1 };
	uint64_t next = 0;
	h.by = calloc(h.regions, sizeof *h.by);
	if (h.by == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(
	    tw->w, net_plus(l->v->anchor, offsetof(struct txn_anchor, blocks)), &next, sizeof next, NULL);
	while (st == NAM_OK && next != 0) {
		unsigned k = 0;
		if (!txn_grow((void **)&l->extent, l->extents, &l->extent_cap, sizeof *l->extent)) {
			st = NAM_NOMEM;
			break;
		}
		l->extent[l->extents++] = next;
		learn(&h, next);
		while (k < h.n && h.at[k] != next)
			k++;
		if (k == h.n) {
			k = 0;
			txn_give_way(tw);
			st = tw->leaving ? NAM_CANCELLED : txn_pin_move(tw, &t->pin);
			if (st == NAM_OK)
				st = read_heads(tw, &h, next);
		}
		if (st == NAM_OK && h.head[k].table != l->v->table)
			st = NAM_CORRUPT;
		next = h.head[k].next;
	}
	free(h.by);
	return st;
}

static void
entry(void *arg, net_addr at, uint64_t hash)
{
	struct part *p = arg;
	struct txn_found *f = &p->l->found;
	struct txn_empty *e = bsearch(&at.bits, f->empty, f->empties, sizeof *e, by_address);
	if (++p->turn % TURN_ENTRIES == 0)
		txn_give_way(p->t->tw);
	if (e == NULL || (e->entries > 0 && e->hash == hash)) /* an entry may be met twice */
		return;
	e->entries++;
	e->hash = hash;
}

static int
by_turns(const void *a, const void *b, void *part)
{
	struct part *p = part;
	if (++p->turn % TURN_ENTRIES == 0)
		txn_give_way(p->t->tw);
	return by_address(a, b);
}

/*
 * M7: a block to which no entry leads is found only by a sweep, and a later sweep is not certain.
 * So its lock has to go now. The lock of a dead owner is freed, though the CID for it may have to
 * be waited for. A live owner frees its lock itself, but does not give the block out: it finishes a
 * dead collector's work, or its insert looked the key up before the entry was removed. *free: the
 * block is the sweep's. NAM_BUSY: the lock stays for long, as one in doubt does (txn_doubt); this
 * sweep fails, and the next one looks again.
 */
static nam_status
free_lone(struct txn *t, const struct txn_table_view *v, struct txn_empty *e, bool *free)
{
	struct txn_worker *tw = t->tw;
	net_addr at = { e->at };
	struct rec_block b;
	uint64_t end = net_now_ns(tw->w) + LONE_LEASES * tso_lease_ns(tw->db->tso);
	*free = false;
	for (;;) {
		bool stops = tw->leaving || atomic_load(&tw->db->failed);
		nam_status st = stops ? NAM_CANCELLED : txn_pin_move(tw, &t->pin);
		if (st == NAM_OK)
			st = txn_unlock_dead_by(tw, at, e->word, NULL);
		if (st == NAM_CORRUPT || (st == NAM_BUSY && nam_fault(SWEEP_PASSES)))
			return NAM_OK;
		if (st == NAM_OK || st == NAM_BUSY)
			st = net_read1(tw->w, at, &b, v->head_bytes, NULL);
		if (st != NAM_OK)
			return st;
		e->word = b.word;
		if (!rec_is_locked(&b) && txn_rec_dir_whole(v, &b, at)) {
			*free = txn_rec_newest(v, &b) == REC_NO_SLOT;
			return NAM_OK;
		}
		if (net_now_ns(tw->w) >= end)
			return NAM_BUSY;
		net_sleep(tw->w, WAIT_NS);
	}
}

/*
 * An insert that was never committed left an entry and an empty block. Another insert of the key
 * may use both, and the collector removes both, under its lock. Only blocks that no entry leads to
 * are free at once.
 */
static nam_status
entries(struct txn *t, struct txn_look *l)
{
	struct part p = { .l = l, .t = t };
	struct txn_found *f = &l->found;
	nam_status st = NAM_OK;
	if (f->empties == 0)
		return NAM_OK;
	qsort_r(f->empty, f->empties, sizeof *f->empty, by_turns, &p);
	for (uint64_t from = 0; st == NAM_OK && l->v->has_key && from != UINT64_MAX;) {
		/* Parts of the index already READ are not used again under this pin. */
		if ((st = txn_pin_move(t->tw, &t->pin)) == NAM_OK)
			st = t->tw->leaving ? NAM_CANCELLED
					    : idx_walk_some(t->tw->w, l->v->index, &from, entry, &p);
		txn_give_way(t->tw);
	}
	for (uint32_t i = 0; st == NAM_OK && i < f->empties; i++) {
		struct txn_empty *e = &f->empty[i];
		struct txn_junk j = { .stock = l->v->stock, .at = { e->at } };
		if (++p.turn % TURN_ENTRIES == 0)
			txn_give_way(t->tw);
		bool lone = e->entries == 0;
		if (lone && (e->word & REC_LOCK) && (st = free_lone(t, l->v, e, &lone)) != NAM_OK)
			break;
		if (e->entries == 1) {
			j.kind = JUNK_EMPTY;
			j.aux = e->hash;
			st = add_junk(f, j);
		} else if (lone) {
			j.kind = JUNK_BLOCK;
			j.cid = j.aux = e->word;
			st = add_junk(f, j);
		}
	}
	return st;
}

nam_status
txn_look_at_all(struct txn *t, struct txn_look *l)
{
	struct txn_table_view *v = l->v;
	atomic_store(&l->horizon, t->pin.at); /* even if the table has no extent */
	nam_status st = list_extents(t, l);
	if (st == NAM_OK)
		st = txn_ledger_taken(
		    v->stock, t->tw->w, 0, 2 * l->generation - 1, &l->old, &l->nold, &l->old_cap);
	if (st == NAM_OK && l->nold > 0 && (l->used = calloc(l->nold, sizeof *l->used)) == NULL)
		st = NAM_NOMEM;
	if (st != NAM_OK)
		return st;
	atomic_flag_clear(&l->adding);
	if (l->extents >= LARGE) {
		atomic_store(&v->stock->look, l);
		atomic_fetch_add(&t->tw->db->looks, 1);
	}
	take_part(t, l);
	if (l->extents >= LARGE) {
		atomic_store(&v->stock->look, NULL);
		atomic_fetch_sub(&t->tw->db->looks, 1);
	}
	while (atomic_load(&v->stock->looking) > 0) {
		net_sleep(t->tw->w, WAIT_NS);
		stop(l, txn_pin_move(t->tw, &t->pin));
	}
	/* A worker that closes takes no more extents: some may be left. */
	if (t->tw->leaving)
		stop(l, NAM_CANCELLED);
	return status(l) == NAM_OK ? entries(t, l) : status(l);
}

void
txn_look_free(struct txn_look *l)
{
	free(l->extent);
	free(l->old);
	free((void *)l->used);
	free(l->found.empty);
	free(l->found.junk);
}
