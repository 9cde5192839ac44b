/*
 * parts.c -- partitions of ordered indexes that have grown: half of a large one moves to the
 * storage node that has the fewest (index/tree.h, idx_tree_split).
 *
 * An insert that needed memory notes that its partition is large. One worker of the process looks
 * for such notes, and a coroutine of its own moves, because a move may take long. It holds a pin
 * all the time: so the process keeps its slot, which the lock's word names, and the table is not
 * given back. What this process cannot bring to its end is left to its recoverer.
 */
#include "txn_internal.h"

#include <base/log.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE_TRIES = 8, SETTLE_NS = 20000000 };

struct moving {
	struct txn_worker *tw;
	struct txn_stock *k; /* in use */
	unsigned order;
	uint64_t key[IDX_TREE_WORDS];
};

/* The region that has the fewest partitions of this tree, among the nodes that have not ended. */
static nam_status
target_of(struct moving *m, unsigned *out)
{
	struct txn_worker *tw = m->tw;
	unsigned region[IDX_TREE_PARTS], n, fewest = UINT_MAX;
	nam_status st = idx_tree_regions(tw->w, m->k->tree[m->order], region, &n, NULL);
	*out = 0;
	for (unsigned i = 0; st == NAM_OK && i < tw->db->nregions; i++) {
		unsigned r = tw->db->regions[i], has = 0;
		for (unsigned k = 0; k < n; k++)
			has += region[k] == r;
		if (has < fewest && !net_set_has(&tw->keeper.ended, r)) {
			fewest = has;
			*out = r;
		}
	}
	return st == NAM_OK && *out == 0 ? NAM_FULL : st;
}

/* The table is still the one that we have open; the caller has a pin. */
static bool
is_open(struct txn_worker *tw, const struct txn_stock *k)
{
	struct txn_anchor a;
	return atomic_load(&k->view) != NULL && net_read1(tw->w, k->anchor, &a, sizeof a, NULL) == NAM_OK &&
	       a.magic == TXN_ANCHOR_MAGIC && a.table == k->table;
}

static void
move_half(void *arg)
{
	struct moving *m = arg;
	struct txn_worker *tw = m->tw;
	struct idx_tree *t = m->k->tree[m->order];
	struct tso_pin pin;
	unsigned region;
	net_account_to(&tw->background);
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK && is_open(tw, m->k)) {
		st = target_of(m, &region);
		if (st == NAM_OK)
			st = idx_tree_split(tw->w, t, m->key, region, &tw->keeper.ended, NULL);
		if (st == NAM_OK)
			tw->stats.parts_moved++;
		for (unsigned i = 0; idx_tree_unsettled(t) && i < SETTLE_TRIES; i++) {
			txn_reach(tw);
			net_sleep(tw->w, SETTLE_NS);
			(void)idx_tree_settle(tw->w, t, &tw->keeper.ended, NULL);
		}
		if (idx_tree_unsettled(t) || idx_tree_in_doubt(t))
			txn_doubt(tw);
	}
	tso_unpin(tw->tso, &pin);
	txn_stock_leave(m->k);
	free(m);
	tw->moving = false;
	tw->helpers--;
}

/* Of this stock, which is in use. True: a coroutine has been started, and leaves the stock. */
static bool
start_moving(struct txn_worker *tw, struct txn_stock *k)
{
	uint64_t key[IDX_TREE_WORDS];
	for (unsigned i = 0; i < TXN_ORDERS; i++) {
		if (k->tree[i] == NULL || !idx_tree_large(k->tree[i], key))
			continue;
		struct moving *m = malloc(sizeof *m);
		if (m == NULL)
			continue;
		*m = (struct moving){ .tw = tw, .k = k, .order = i };
		memcpy(m->key, key, sizeof key);
		tw->moving = nam_co_start(net_worker_sched(tw->w), move_half, m, 128 << 10) != NULL;
		tw->helpers += tw->moving;
		if (!tw->moving)
			free(m);
		return tw->moving;
	}
	txn_due_off(k, TXN_DUE_PARTS);
	/* One may have grown since we looked. */
	for (unsigned i = 0; i < TXN_ORDERS; i++)
		if (k->tree[i] != NULL && idx_tree_is_large(k->tree[i]))
			txn_due_add(k, TXN_DUE_PARTS);
	return false;
}

void
txn_parts_tend(struct txn_worker *tw)
{
	struct txn_stock *k;
	if (tw->moving || tw->leaving || (k = txn_due_next(tw->db, TXN_DUE_PARTS, NULL)) == NULL)
		return;
	tw->stats.looked_at++;
	if (atomic_load(&k->view) == NULL)
		txn_due_off(k, TXN_DUE_PARTS);
	else if (start_moving(tw, k))
		return;
	txn_stock_leave(k);
}

/* ---- the lock of a tree ---- */

static uint64_t
our_word(struct txn_db *db)
{
	return txn_lock_word(tso_owner(db->tso), tso_epoch(db->tso), TXN_INTENT_INDEX, 0);
}

void
txn_parts_owner(struct txn_stock *k)
{
	for (unsigned i = 0; i < TXN_ORDERS; i++)
		if (k->tree[i] != NULL)
			idx_tree_set_owner(k->tree[i], our_word(k->db));
}

nam_status
txn_parts_recover(struct txn_worker *tw, struct txn_stock *k, uint64_t dead)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < TXN_ORDERS; i++) {
		if (k->tree[i] == NULL)
			continue;
		st = idx_tree_recover(tw->w, k->tree[i], dead, &tw->keeper.ended, NULL);
		if (idx_tree_in_doubt(k->tree[i]))
			txn_doubt(tw);
		/* A table that was dropped meanwhile has no tree to recover, whatever lies there. A
		 * tree that is broken does not hold up the recovery of the others. */
		if (st == NAM_CORRUPT && is_open(tw, k))
			nam_log(NAM_LOG_ERROR,
			    "the ordered index %u of table %u is corrupt: what the process in owner slot %u "
			    "left of it is not recovered; DROP INDEX and CREATE INDEX make it again",
			    i, k->table, txn_lock_owner(dead));
		if (st == NAM_ABSENT || st == NAM_REFUSED || st == NAM_CORRUPT)
			st = NAM_OK;
	}
	return st;
}

void
txn_parts_unstick(struct txn_worker *tw, struct idx_tree *t)
{
	uint64_t holder;
	bool ended;
	if (idx_tree_holder(tw->w, t, &holder, NULL) != NAM_OK || (holder & REC_LOCK) == 0 ||
	    txn_lock_intent(holder) != TXN_INTENT_INDEX)
		return;
	if (tso_ended(tw->tso, txn_lock_owner(holder), txn_lock_epoch(holder), &ended) != NAM_OK || !ended)
		return;
	(void)idx_tree_recover(tw->w, t, holder, &tw->keeper.ended, NULL);
	if (idx_tree_in_doubt(t))
		txn_doubt(tw);
}

void
txn_parts_unstick_at(struct txn_worker *tw, net_addr anchor)
{
	struct idx_tree *t = idx_tree_open(anchor, 1, NULL, NULL);
	if (t == NULL)
		return;
	idx_tree_set_owner(t, our_word(tw->db));
	txn_parts_unstick(tw, t);
	idx_tree_close(t);
}
