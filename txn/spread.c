/*
 * spread.c -- the extents of a write set that does not fit its intent: taken, named, given back, by
 * its transaction or by its recoverer (spread_format.h).
 *
 * At each moment the intent's head names the root, and the root lists all extents taken, except
 * TXN_LEDGER_PART at most.
 */
#include "txn_internal.h"

#include <stdlib.h>

enum { PART = TXN_LEDGER_PART };

/* The root says that it has n further extents; the list behind it has landed. */
static void
post_head(
    struct net_batch *b, struct txn_spread *s, net_addr root, uint64_t lock, unsigned n, const uint64_t *list)
{
	*s = (struct txn_spread){ .whose = lock, .n = n };
	s->check = txn_spread_check(s, list, root.bits);
	net_write(b, root, s, sizeof *s);
}

/* Takes extents; if the nodes have none, asks other processes for unused memory. */
static nam_status
take(struct txn_worker *tw, unsigned n, net_addr *at)
{
	struct txn_want want = { 0 };
	nam_status st;
	do
		st = txn_extents_any(tw->db, tw->w, n, tw->rr++, false, at);
	while (st == NAM_FULL && txn_want(tw, &want));
	return st;
}

nam_status
txn_spread_take(struct txn *t, uint64_t bytes, net_addr *root, uint64_t *list)
{
	struct txn_worker *tw = t->tw;
	struct txn_spread s;
	struct net_op op[2];
	struct net_batch b;
	unsigned all = txn_spread_n(bytes), n = 0;
	if (all > TXN_SPREAD_MOST)
		return NAM_FULL;
	nam_status st = take(tw, 1, root);
	if (st != NAM_OK) {
		root->bits = 0;
		return st;
	}
	/* A head without entries decides nothing; but our recoverer gives back the extents it leads
	 * to. */
	struct txn_intent_head h = { .lock = t->lock, .more = root->bits, .holds = txn_holds(t) };
	net_batch_init(&b, tw->w, op, 2, &t->counts);
	post_head(&b, &s, *root, t->lock, 0, list);
	net_write(&b, net_plus(t->intent->at, 64), &h, sizeof h);
	st = net_run(&b);
	while (st == NAM_OK && n < all) {
		net_addr at[PART];
		unsigned k = all - n < PART ? all - n : PART;
		if ((st = take(tw, k, at)) != NAM_OK)
			break;
		for (unsigned i = 0; i < k; i++)
			list[n + i] = txn_ledger_entry(at[i].bits, 0);
		net_write(&b, net_plus(*root, sizeof s + 8 * n), list + n, 8 * k);
		post_head(&b, &s, *root, t->lock, n + k, list);
		st = net_run(&b);
		n += k;
	}
	return st; /* an error: the rollback gives back the extents taken so far */
}

nam_status
txn_spread_read(struct net_worker *w, net_addr root, uint64_t lock, struct txn_spread *s, uint64_t **list)
{
	*list = NULL;
	nam_status st = net_read1(w, root, s, sizeof *s, NULL);
	if (st == NAM_OK && (s->whose != lock || s->n > TXN_SPREAD_MOST))
		st = NAM_ABSENT;
	if (st == NAM_OK && (*list = malloc(8 * (s->n + 1))) == NULL)
		return NAM_NOMEM;
	if (st == NAM_OK && s->n > 0)
		st = net_read1(w, net_plus(root, sizeof *s), *list, (uint32_t)(8 * s->n), NULL);
	if (st == NAM_OK && s->check != txn_spread_check(s, *list, root.bits))
		st = NAM_ABSENT;
	/* A head that never was whole may lead anywhere. */
	return st == NAM_INVALID ? NAM_ABSENT : st;
}

nam_status
txn_spread_give(struct txn_worker *tw, net_addr intent, uint64_t lock, net_addr root)
{
	static const struct txn_intent_head none;
	struct txn_intent_head h = { .lock = lock, .more = root.bits };
	struct net_worker *w = tw->w;
	struct txn_spread s;
	uint64_t *list;
	struct net_op op[1];
	struct net_batch b;
	nam_status st = txn_spread_read(w, root, lock, &s, &list);
	bool ours = st == NAM_OK;
	if (st == NAM_OK) /* from here on it is no write set any more */
		st = net_write1(w, net_plus(intent, 64), &h, sizeof h, NULL);
	for (unsigned n = (unsigned)s.n; st == NAM_OK && n > 0;) {
		net_addr at[PART];
		unsigned k = n < PART ? n : PART;
		n -= k;
		for (unsigned i = 0; i < k; i++)
			at[i].bits = txn_ledger_extent(list[n + i]);
		net_batch_init(&b, w, op, 1, NULL);
		post_head(&b, &s, root, lock, n, list);
		st = net_run(&b);
		/* Extents of a node that is not reached now are lost until that node ends; none is
		 * given back twice. */
		if (st == NAM_OK)
			net_extents_give(w, k, at);
	}
	free(list);
	if (st != NAM_OK && st != NAM_ABSENT)
		return st;
	st = net_write1(w, net_plus(intent, 64), &none, sizeof none, NULL);
	if (st == NAM_OK && ours)
		net_extent_give(w, root);
	return st;
}
