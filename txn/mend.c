/*
 * mend.c -- a connection broke while a transaction held locks behind it (README, "Broken connections").
 *
 * What was posted is done or not, nobody knows. So a new connection is asked for: the node grants it when nothing of the
 * old one executes any more, and then a word that still is our lock says that all behind it is still ours to write. A word that
 * has left our lock was freed by us, and is another's already. Refused: we have been shut out, and others settle it. No answer
 * for long: others may reach the node all the same, so it is left to them, too. Only a node whose process has ended is
 * lost for all, with what was on it.
 */
#include <base/log.h>
#include "txn_internal.h"

enum { PAUSE_NS = 1000000, PATIENCE_NS = 200000000 };

/* Under our lock, so the same bytes however often; the word goes last. */
static nam_status
install(struct txn *t, struct txn_write *w, uint64_t to)
{
	struct net_worker *nw = t->tw->w;
	uint64_t word = 0, seen;
	nam_status st = net_read1(nw, w->at, &word, sizeof word, &t->counts);
	if (st != NAM_OK || word != t->lock)
		return st;
	st = net_write1(nw, net_plus(w->at, 8), &w->dir[1], 8 * (3u + w->view->slots), &t->counts);
	return st != NAM_OK ? st : net_cas1(nw, w->at, t->lock, to, &seen, &t->counts);
}

static nam_status
mend_one(struct txn *t, struct txn_write *w)
{
	uint64_t seen;
	if (t->decided && txn_writes(w))
		return install(t, w, t->cid);
	/* Of a directory that was given its link part may have landed. */
	nam_status st = w->late_linked ? install(t, w, w->expect)
				       : net_cas1(t->tw->w, w->at, t->lock, w->expect, &seen, &t->counts);
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

static void
reached(struct txn_worker *tw)
{
	atomic_store_explicit(&tw->db->reached, true, memory_order_relaxed);
}

nam_status
txn_reconnect(struct txn_worker *tw, net_addr at, uint64_t *until)
{
	struct nam_err err;
	unsigned region = net_region_of(at);
	uint64_t now = net_now_ns(tw->w), word;
	if (tw->lost >> region & 1)
		return NAM_GONE;
	if (*until == 0)
		*until = now + PATIENCE_NS;
	else if (now >= *until)
		return NAM_REFUSED;
	/* Another transaction may have been here before; it must not find its new connection replaced in turn. */
	nam_status st = net_read1(tw->w, at, &word, sizeof word, NULL);
	if (st == NAM_GONE)
		st = net_worker_reconnect(tw->w, region, &err);
	/* Mapped memory has no connection; who says that such a node is gone has seen its process end. */
	if (st == NAM_UNSUPPORTED)
		st = NAM_GONE;
	if (st == NAM_OK)
		reached(tw);
	if (st == NAM_GONE)
		tw->lost |= UINT64_C(1) << region;
	if (st == NAM_OK || st == NAM_GONE)
		return st;
	if (st == NAM_REFUSED)
		return st;
	net_sleep(tw->w, PAUSE_NS);
	return NAM_BUSY;
}

void
txn_doubt(struct txn_worker *tw)
{
	atomic_store_explicit(&tw->db->doubt, true, memory_order_relaxed);
}

/* Waiting for who does not answer is to cost no more than a tenth of the time. */
enum { REACH_NS = 100000000, REACH_PART = 10 };

void
txn_reach(struct txn_worker *tw)
{
	struct nam_err err;
	struct txn_db *db = tw->db;
	uint64_t broken = net_worker_broken(tw->w);
	if (__builtin_expect(broken == 0, 1))
		return;
	/* What a broken connection to home has left behind others settle (tsoracle): a new one would serve nobody. */
	broken &= ~(tw->lost | UINT64_C(1) << net_region_of(db->cluster));
	uint64_t began = net_now_ns(tw->w);
	if (broken == 0 || began < tw->reach_at)
		return;
	for (; broken != 0; broken &= broken - 1) {
		unsigned r = (unsigned)__builtin_ctzll(broken);
		bool told = net_node_of(net_worker_net(tw->w), r)->lost;
		nam_status st = net_worker_reconnect(tw->w, r, &err);
		if (st == NAM_OK)
			reached(tw);
		if (st == NAM_OK && told)
			nam_log(NAM_LOG_WARN, "storage node %u is reached again, over a new connection", r);
		else if (st == NAM_GONE || st == NAM_UNSUPPORTED)
			tw->lost |= UINT64_C(1) << r;
	}
	uint64_t now = net_now_ns(tw->w), pause = REACH_PART * (now - began);
	tw->reach_at = now + (pause > REACH_NS ? pause : REACH_NS);
}

void
txn_doubts(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	if (__builtin_expect(!atomic_load_explicit(&db->doubt, memory_order_relaxed), 1))
		return;
	txn_reach(tw);
	if (!atomic_load_explicit(&db->reached, memory_order_relaxed) ||
	    atomic_exchange(&db->stuck_told, true))
		return;
	nam_log(NAM_LOG_WARN,
	    "a connection broke under a lock that only this process's end frees: it has to connect anew");
	tso_abandon(db->tso);
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
