/*
 * reclaim.c -- finds the memory that crashed processes had at hand, by reading all of a table
 * (README, "Memory of crashed processes").
 *
 * Under the table's sweep lock, in this order; each waits for the one before:
 *
 *   1  begins a new generation: from now on, memory at hand is void for each worker that looks at
 *      the anchor
 *   2  notes a CID: each worker with a snapshot at or above it has looked
 *   3  waits until the watermark has passed that CID: no process uses memory of the old generation
 *      but what is reachable. Spends a CID: it is above all CIDs of those processes, and each
 *      snapshot below is above it. So no archive of the old generation is needed
 *   4  looks at every extent of blocks at a snapshot of its own, and writes that snapshot into the
 *      extent's head (look.c): old memory that no version visible at that snapshot names is free
 *   5  waits until the watermark has passed the youngest of these snapshots: then memory that only
 *      older snapshots could reach is free
 *   6  writes that snapshot as the horizon, then the generation's end, then the lock: other workers
 *      may give memory back again, and this worker has the free memory at hand
 *
 * The sweeper is pinned from the beginning to the end, but its pin moves: the watermark waits for a
 * few extents at most, and never for the table. A sweeper that dies before the end has changed only
 * the generation and the horizons in the heads of extents: the next sweeper begins again with a new
 * generation. Garbage that other workers forget because of such a horizon is found by the next
 * sweep. Two processes never sweep one table: the lock names the sweeper, and a dead sweeper is
 * recovered before another process takes its lock.
 */
#include "reclaim.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	HAND_OVER_NS = 2000000000,
	BATCH = 8,
	POLL_NS = 5000000,
	WAIT_NS = 1000000,
	TURN_JUNK = 256,
};

struct sweep {
	struct txn_worker *tw;
	struct txn_stock *k;         /* in use */
	struct txn_table_view *v;    /* held; NULL: the table is closed here */
	uint64_t before;             /* the horizon when it began */
	uint64_t lock, word, deaths; /* lock 0 = the lock is not ours any more; word 0 = nothing has
				      * changed yet */
	nam_status st;
	struct txn_look look;
};

static net_addr
word_at(const struct sweep *s, size_t offset)
{
	return net_plus(s->k->anchor, offset);
}

/* ---- 1 ---- */

static nam_status
begin(struct sweep *s)
{
	static const size_t list[] = { offsetof(struct txn_anchor, partial),
		offsetof(struct txn_anchor, free), offsetof(struct txn_anchor, rest) };
	struct net_worker *w = s->tw->w;
	struct txn_anchor a;
	nam_status st = net_read1(w, s->k->anchor, &a, sizeof a, NULL);
	if (st == NAM_OK && (a.magic != TXN_ANCHOR_MAGIC || a.table != s->k->table || a.sweeper != s->lock)) {
		s->lock = 0;
		return NAM_ABSENT;
	}
	if (st == NAM_OK)
		st = net_read1(w, s->tw->db->deaths, &s->deaths, sizeof s->deaths, NULL);
	if (st != NAM_OK)
		return st;
	uint64_t generation = txn_generation(a.sweep) + 1;
	s->word = 2 * generation - 1;
	s->before = a.horizon;
	st = net_write1(w, word_at(s, offsetof(struct txn_anchor, sweep)), &s->word, 8, NULL);
	/* The lists are void because of their generation; but generations come round after a
	 * thousand sweeps. */
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

/* ---- 6 ---- */

/* Takes the memory found, unless the next sweep has begun: that one finds all of it again. */
static void
keep_rest(struct sweep *s, struct txn_alloc *a, uint64_t over)
{
	const struct txn_look *l = &s->look;
	for (uint32_t i = 0; i < l->nold && a->sweep == over; i++) {
		for (unsigned u = 0, from; u < TXN_UNIT_WORDS * 64; u++) {
			for (from = u; u < TXN_UNIT_WORDS * 64 && (l->used[i][u / 64] >> u % 64 & 1) == 0;)
				u++;
			txn_stretch_push(&a->rest, l->old[i] + from * TXN_UNIT, l->old[i] + u * TXN_UNIT);
			s->tw->stats.bytes_found += (u - from) * TXN_UNIT;
		}
		txn_give_way(s->tw);
	}
}

static void
keep_junk(struct sweep *s, struct txn_alloc *a, uint64_t over, uint64_t horizon)
{
	for (uint32_t i = 0; i < s->look.found.junks && a->sweep == over; i++) {
		const struct txn_junk *j = &s->look.found.junk[i];
		if (j->kind == JUNK_BLOCK && j->cid <= horizon)
			txn_block_give(s->tw, s->v, j->at, j->aux);
		else
			txn_junk_add(s->tw, *j);
		s->tw->stats.blocks_found++;
		if (i % TURN_JUNK == 0)
			txn_give_way(s->tw);
	}
}

/* One WRITE after the other on one connection: if our lock is gone, all before it are done. */
static nam_status
tell_anchor(struct sweep *s, uint64_t over, uint64_t h)
{
	struct net_op op[5];
	struct net_batch b;
	net_batch_init(&b, s->tw->w, op, 5, NULL);
	if (s->word != 0)
		net_write(&b, word_at(s, offsetof(struct txn_anchor, before)), &s->before, 8);
	if (s->st == NAM_OK) {
		net_write(&b, word_at(s, offsetof(struct txn_anchor, horizon)), &h, 8);
		net_write(&b, word_at(s, offsetof(struct txn_anchor, swept)), &s->deaths, 8);
	}
	if (s->word != 0)
		net_write(&b, word_at(s, offsetof(struct txn_anchor, sweep)), &over, 8);
	net_cas(&b, word_at(s, offsetof(struct txn_anchor, sweeper)), s->lock, 0);
	return net_run(&b);
}

/* The sweep is not this process's any more. A worker may take the lock again at once. */
static void
set_free(struct txn_stock *k)
{
	txn_due_off(k, TXN_DUE_SWEEP);
	atomic_store(&k->sweeper, 0);
}

static void
end(struct sweep *s)
{
	struct txn_alloc *a;
	uint64_t over = s->word + 1, h = s->st == NAM_OK ? atomic_load(&s->look.horizon) : 0, until = 0, lock;
	/* A WRITE of a horizon below those of the next sweep may still be under way: so no sweep
	 * begins before this process has ended. */
	if (atomic_load(&s->look.doubt))
		s->lock = 0;
	nam_status st = s->lock != 0 ? tell_anchor(s, over, h) : NAM_ABSENT;
	while (st == NAM_GONE && txn_again(s->tw, s->k->anchor, &until) == NAM_OK) {
		st = net_read1(
		    s->tw->w, word_at(s, offsetof(struct txn_anchor, sweeper)), &lock, sizeof lock, NULL);
		if (st == NAM_OK && lock == s->lock)
			st = tell_anchor(s, over, h);
	}
	set_free(s->k);
	/* If the next sweep has begun already, it finds all this memory again. */
	if (st == NAM_OK && s->st == NAM_OK && txn_alloc_look(s->tw, s->k, &a) == NAM_OK &&
	    a->sweep == over) {
		keep_rest(s, a, over);
		keep_junk(s, a, over, h);
		/* Other processes need it as much as this one. */
		(void)txn_hand_over(s->tw, s->v, a, net_now_ns(s->tw->w) + HAND_OVER_NS);
		s->tw->stats.sweeps++;
	}
	txn_look_free(&s->look);
	if (s->v != NULL)
		atomic_fetch_sub(&s->v->held, 1);
	atomic_store(&s->k->sweeping, 0);
	txn_stock_leave(s->k);
}

/* ---- all of it ---- */

/* Waits until the watermark has passed the CID; our own pin must not hold it up. */
static nam_status
wait_for(struct txn_worker *tw, struct tso_pin *pin, tso_cid cid)
{
	nam_status st;
	while ((st = txn_pin_move(tw, pin)) == NAM_OK && tso_watermark(tw->db->tso) < cid &&
	       !nam_fault(SWEEP_EARLY)) {
		if (tw->leaving || atomic_load(&tw->db->failed))
			return NAM_CANCELLED;
		net_sleep(tw->w, WAIT_NS);
	}
	return st;
}

/* 2 and 3. *t: its snapshot is above the CID spent. */
static nam_status
wait_for_all(struct txn_worker *tw, struct tso_pin *pin, struct txn **t)
{
	tso_cid cid;
	nam_status st = txn_cid_spend(tw, TSO_NOTE_MEMORY, &cid);
	if (st == NAM_OK)
		st = tso_wait_for(tw->tso, cid);
	if (st == NAM_OK)
		st = wait_for(tw, pin, cid);
	if (st == NAM_OK)
		st = txn_cid_spend(tw, 0, &cid);
	if (st == NAM_OK)
		st = tso_wait_for(tw->tso, cid);
	if (st == NAM_OK)
		st = txn_begin(tw, TXN_REPEATABLE_READ, t);
	return st;
}

/* Tables that this process is to sweep. A slot that was lost took its locks with it. With a pin. */
static unsigned
due(struct txn_worker *tw, struct sweep *s)
{
	struct tso *tso = tw->db->tso;
	unsigned n = 0;
	struct txn_stock *k = NULL;
	while ((k = txn_due_next(tw->db, TXN_DUE_SWEEP, k)) != NULL) {
		if (n == BATCH) {
			txn_stock_leave(k);
			break;
		}
		uint64_t lock = atomic_load(&k->sweeper);
		unsigned nobody = 0;
		if (lock == 0 || !atomic_compare_exchange_strong(&k->sweeping, &nobody, tw->number + 1))
			continue;
		/* Another worker may have finished the sweep meanwhile. */
		if ((lock = atomic_load(&k->sweeper)) == 0) {
			atomic_store(&k->sweeping, 0);
			continue;
		}
		if (txn_lock_owner(lock) != tso_owner(tso) || txn_lock_epoch(lock) != tso_epoch(tso)) {
			set_free(k);
			atomic_store(&k->sweeping, 0);
			continue;
		}
		txn_stock_use(k);
		struct txn_table_view *v = atomic_load(&k->view);
		if (v != NULL)
			atomic_fetch_add(&v->held, 1);
		s[n++] = (struct sweep){ .tw = tw, .k = k, .v = v, .lock = lock, .look = { .v = v } };
	}
	return n;
}

/* Whether a table waits for a worker to sweep it. */
static bool
any_due(struct txn_worker *tw)
{
	bool any = false;
	struct txn_stock *k = NULL;
	while ((k = txn_due_next(tw->db, TXN_DUE_SWEEP, k)) != NULL) {
		tw->stats.looked_at++;
		any = atomic_load(&k->sweeping) == 0;
		if (any) {
			txn_stock_leave(k);
			break;
		}
	}
	return any;
}

static void
round_of(struct txn_worker *tw)
{
	struct sweep s[BATCH];
	struct tso_pin pin;
	struct txn *t = NULL;
	if (!any_due(tw))
		return;
	txn_reach(tw);
	/* Pinned, the process keeps its slot, and so the locks. */
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK)
		txn_at_hand(tw);
	unsigned n = st == NAM_OK ? due(tw, s) : 0;
	for (unsigned i = 0; i < n; i++)
		s[i].st = s[i].v == NULL || tw->leaving ? NAM_CANCELLED : begin(&s[i]);
	if (n > 0)
		st = wait_for_all(tw, &pin, &t);
	if (t != NULL)
		tso_unpin(tw->tso, &pin); /* t takes the place */
	uint64_t youngest = 0;
	for (unsigned i = 0; i < n; i++) {
		s[i].look.generation = txn_generation(s[i].word);
		s[i].st = s[i].st == NAM_OK ? st : s[i].st;
		if (s[i].st == NAM_OK)
			s[i].st = txn_look_at_all(t, &s[i].look);
		uint64_t h = atomic_load(&s[i].look.horizon);
		youngest = h > youngest ? h : youngest;
	}
	if (st == NAM_OK && n > 0 && !nam_fault(SWEEP_HANDS_OUT))
		st = wait_for(tw, &t->pin, youngest);
	for (unsigned i = 0; i < n; i++) {
		s[i].st = s[i].st == NAM_OK ? st : s[i].st;
		end(&s[i]);
	}
	if (t != NULL)
		txn_abort(t);
	else
		tso_unpin(tw->tso, &pin);
}

/* Leaves the tables that are not swept to other processes. */
static void
give_up(struct txn_worker *tw)
{
	struct sweep s[BATCH];
	struct tso_pin pin;
	if (atomic_load(&tw->db->dues[TXN_DUE_SWEEP]) == 0)
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
	net_account_to(&tw->background);
	while (!tw->leaving) {
		net_sleep(tw->w, POLL_NS);
		round_of(tw);
		txn_look_along(tw);
		txn_parts_tend(tw);
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
