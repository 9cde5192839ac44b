/*
 * mark.c -- savepoints: a rollback to a mark undoes the writes since, and frees the locks taken
 * since.
 *
 * Every mark begins a new stretch of the transaction, numbered by `clock`. A write and a blob know
 * the stretch in which they were made; a write of an older stretch is copied aside before it is
 * changed. So a transaction without marks pays one comparison per write.
 */
#include "txn_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t
txn_mark(struct txn *t)
{
	return ++t->clock;
}

bool
txn_keep_write(struct txn *t, struct txn_write *w)
{
	if (w->stretch == t->clock)
		return true;
	struct txn_write *was = nam_arena_copy(&t->arena, w, sizeof *w);
	if (was == NULL || !txn_grow((void **)&t->undo, t->nundo, &t->undo_cap, sizeof *t->undo))
		return false;
	t->undo[t->nundo++] = (struct txn_undo){ .stretch = t->clock, .write = w, .was = was };
	w->stretch = t->clock;
	return true;
}

bool
txn_keep_blob(struct txn *t, const struct txn_new_blob *b)
{
	if (b->born == t->clock)
		return false;
	/* Without memory to remember the blob, it stays: written in vain, and lost until its table
	 * is released. */
	if (txn_grow((void **)&t->undo, t->nundo, &t->undo_cap, sizeof *t->undo))
		t->undo[t->nundo++] =
		    (struct txn_undo){ .stretch = t->clock, .blob = (uint32_t)(b - t->blob) };
	return true;
}

/* Restores old states, the newest first. */
static nam_status
restore(struct txn *t, uint32_t mark)
{
	while (t->nundo > 0 && t->undo[t->nundo - 1].stretch >= mark) {
		const struct txn_undo *u = &t->undo[t->nundo - 1];
		if (u->write == NULL) {
			t->blob[u->blob].dropped = false;
		} else {
			/* The state of the lock is not restored. */
			enum txn_has has = u->write->has;
			uint64_t expect = u->write->expect;
			struct txn_own_places *places = u->write->places;
			*u->write = *u->was;
			u->write->has = has;
			u->write->expect = expect;
			u->write->places = places;
			if (!txn_own_touched(t, u->write))
				return NAM_NOMEM;
		}
		t->nundo--;
	}
	return NAM_OK;
}

static nam_status
unlock_from(struct txn *t, uint32_t from)
{
	nam_status st = NAM_OK;
	for (uint32_t i = from; st == NAM_OK && i < t->nwr;) {
		net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
		uint32_t first = i;
		for (; i < t->nwr && t->batch.n < t->batch.cap; i++)
			if (txn_may_hold(t->wr[i]))
				net_cas(&t->batch, t->wr[i]->at, t->lock, t->wr[i]->expect);
		if (t->batch.n > 0)
			st = net_run(&t->batch);
		/* A connection broke: txn_abort frees these locks once more, if they are still
		 * ours. */
		for (; first < i; first++)
			t->wr[first]->has = txn_may_hold(t->wr[first]) && st != NAM_OK ? TXN_DOUBT : TXN_FREE;
	}
	return st;
}

nam_status
txn_rollback_to(struct txn *t, uint32_t mark)
{
	nam_status st = restore(t, mark);
	if (st != NAM_OK)
		return st;
	for (; t->nblobs > 0 && t->blob[t->nblobs - 1].born >= mark; t->nblobs--)
		if (!t->blob[t->nblobs - 1].dropped)
			txn_new_blob_give(t, &t->blob[t->nblobs - 1]);
	uint32_t from = t->nwr;
	while (from > 0 && t->wr[from - 1]->born >= mark)
		from--;
	if ((st = txn_entries_undo(t, mark)) != NAM_OK || (st = unlock_from(t, from)) != NAM_OK)
		return st;
	for (uint32_t i = from; i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		w->kind = WR_LOCK;
		w->slot = NULL;
		if (!txn_own_touched(t, w))
			return NAM_NOMEM;
		if (!w->fresh)
			continue;
		/* If an index entry leads to the block, the collector empties it, but not before
		 * this transaction has ended: it may insert the key again and would find this
		 * block. */
		if (w->indexed && txn_grow((void **)&t->gone, t->ngone, &t->gone_cap, sizeof *t->gone))
			t->gone[t->ngone++] = (struct txn_junk){
				.kind = JUNK_EMPTY, .stock = w->view->stock, .at = w->at, .aux = w->ident
			};
		else if (!w->indexed)
			txn_block_give(t->tw, w->view, w->at, w->expect);
	}
	t->nwr = from;
	txn_refer_cut(t, mark);
	txn_own_cut(t);
	txn_entries_cut(t);
	return NAM_OK;
}

void
txn_marks_end(struct txn *t)
{
	for (uint32_t i = 0; i < t->nundo; i++)
		if (t->undo[i].write == NULL)
			txn_new_blob_give(t, &t->blob[t->undo[i].blob]);
	for (uint32_t i = 0; i < t->ngone; i++)
		txn_junk_of_undone(t->tw, t->gone[i]);
	t->nundo = t->ngone = t->clock = 0;
}

void
txn_cover(struct txn *t, tso_cid cid)
{
	if ((cid & REC_LOCK) == 0) /* a lock hides it */
		tso_answered(t->tw->db->tso, cid);
}
