/*
 * mend.c -- a connection broke while a transaction held locks behind it (README, "Broken
 * connections").
 *
 * No process knows whether the posted verbs were executed. So a new connection is asked for: the
 * node grants it when no verb of the old one executes any more. After that, a word that still is
 * our lock proves that the block is still ours to write. A word that has left our lock was freed by
 * us, and the block may already belong to another transaction. If the connection is refused, this
 * process has been fenced, and its recoverer finishes the transaction. If the node does not answer
 * for long, other processes may still reach it, so the transaction is also left to a recoverer.
 * Only a node whose process has ended is lost for all, with its memory.
 */
#include "txn_internal.h"

/* Under our lock, so each repetition writes the same bytes; the word goes last. */
static nam_status
install(struct txn *t, struct txn_write *w, uint64_t to)
{
	struct net_worker *nw = t->tw->w;
	uint64_t word = 0, seen;
	nam_status st = net_read1(nw, w->at, &word, sizeof word, &t->counts);
	if (st != NAM_OK || word != t->lock)
		return st;
	st = net_write1(nw, rec_dir_at(w->at), rec_dir(&w->dir), rec_dir_bytes(w->view->slots), &t->counts);
	return st != NAM_OK ? st : net_cas1(nw, w->at, t->lock, to, &seen, &t->counts);
}

static nam_status
mend_one(struct txn *t, struct txn_write *w)
{
	uint64_t seen;
	if (t->state == TXN_DECIDED && txn_writes(w))
		return install(t, w, t->cid);
	/* A directory that was being given its `late` link may have landed in part. */
	nam_status st = w->late_linked ? install(t, w, w->expect)
				       : net_cas1(t->tw->w, w->at, t->lock, w->expect, &seen, &t->counts);
	if (st == NAM_OK)
		w->has = TXN_FREE;
	return st;
}

/* True if the word may still be our lock. */
static bool
concerns(const struct txn *t, const struct txn_write *w)
{
	return txn_may_hold(w) || (t->state == TXN_DECIDED && txn_writes(w));
}

bool
txn_mend(struct txn *t)
{
	uint64_t until = 0;
	for (uint32_t i = 0; i < t->nwr; i++) {
		nam_status st = NAM_BUSY;
		while (concerns(t, t->wr[i]) && st == NAM_BUSY) {
			st = mend_one(t, t->wr[i]);
			if (st == NAM_GONE && (st = txn_reconnect(t->tw, t->wr[i]->at, &until)) == NAM_OK)
				st = NAM_BUSY;
		}
		if (st == NAM_REFUSED)
			return false;
	}
	return true;
}
