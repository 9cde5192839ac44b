/*
 * mend.c -- a connection broke while a transaction held locks behind it (README, "Broken connections").
 *
 * What was posted is done or not, nobody knows. So a new connection is asked for: the node grants it when nothing of the
 * old one executes any more, and then a word that still is our lock says that all behind it is still ours to write. A word that
 * has left our lock was freed by us, and is another's already. Refused: we have been shut out, and others settle it.
 */
#include "txn_internal.h"

enum { PAUSE_NS = 1000000, PATIENCE_NS = 200000000 };

/* Under our lock, so the same bytes however often; the word goes last. */
static nam_status
install(struct txn *t, struct txn_write *w)
{
	struct net_worker *nw = t->tw->w;
	uint64_t word = 0, seen;
	nam_status st = net_read1(nw, w->at, &word, sizeof word, &t->counts);
	if (st != NAM_OK || word != t->lock)
		return st;
	st = net_write1(nw, net_plus(w->at, 8), &w->dir[1], 8 * (3u + w->view->slots), &t->counts);
	return st != NAM_OK ? st : net_cas1(nw, w->at, t->lock, t->cid, &seen, &t->counts);
}

static nam_status
mend_one(struct txn *t, struct txn_write *w)
{
	uint64_t seen;
	if (t->decided && txn_writes(w))
		return install(t, w);
	nam_status st = net_cas1(t->tw->w, w->at, t->lock, w->expect, &seen, &t->counts);
	if (st == NAM_OK)
		w->locked = w->doubt = false;
	return st;
}

/* Words that may still be our lock. */
static bool
concerns(const struct txn *t, const struct txn_write *w)
{
	return w->locked || w->doubt || (t->decided && txn_writes(w));
}

bool
txn_mend(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	uint64_t end = net_now_ns(tw->w) + PATIENCE_NS, silent = 0;
	do {
		if (silent != 0)
			net_sleep(tw->w, PAUSE_NS);
		silent = 0;
		for (uint32_t i = 0; i < t->nwr; i++) {
			unsigned region = net_region_of(t->wr[i]->at);
			struct nam_err err;
			if (!concerns(t, t->wr[i]) || ((tw->given_up | silent) >> region & 1))
				continue;
			nam_status st = mend_one(t, t->wr[i]);
			if (st == NAM_GONE && (st = net_worker_reconnect(tw->w, region, &err)) == NAM_OK)
				st = mend_one(t, t->wr[i]);
			if (st == NAM_REFUSED)
				return false;
			if (st != NAM_OK)
				silent |= UINT64_C(1) << region;
		}
	} while (silent != 0 && net_now_ns(tw->w) < end);
	tw->given_up |= silent;
	return true;
}
