/* abort.c -- undoes a transaction: waits for the verbs it posted, then commit line, locks, mark. */
#include "txn_internal.h"

#include <base/fault.h>

bool
txn_out_of_time(const struct txn *t)
{
	uint64_t by = atomic_load_explicit(&t->tw->db->end_by, memory_order_relaxed);
	return __builtin_expect(by != 0, 0) && net_now_ns(t->tw->w) > by;
}

nam_status
txn_free_locks(struct txn *t)
{
	nam_status worst = NAM_OK;
	for (uint32_t i = 0; i < t->nwr;) {
		uint32_t from = i;
		if (i > 0 && txn_out_of_time(t))
			return NAM_REFUSED;
		txn_batch_open(t);
		for (; i < t->nwr && t->batch.n + 1 < t->batch.cap; i++) {
			struct txn_write *w = t->wr[i];
			if (nam_fault(BLIND_UNLOCK) && txn_writes(w)) {
				net_write(&t->batch, w->at, &w->expect, 8);
			} else if (txn_may_hold(w)) {
				/* Part of that directory may have landed, and the connection may
				 * have been replaced since. */
				if (w->late_linked)
					net_write(&t->batch, rec_dir_at(w->at), rec_dir(&w->dir),
					    rec_dir_bytes(w->view->slots));
				net_cas(&t->batch, w->at, t->lock, w->expect);
			}
		}
		nam_status st = txn_batch_flush(t);
		const struct net_op *op = t->op;
		for (uint32_t k = from; k < i; k++) {
			struct txn_write *w = t->wr[k];
			bool blind = nam_fault(BLIND_UNLOCK) && txn_writes(w);
			if (!blind && txn_may_hold(w) && w->late_linked)
				op++;
			if (blind || txn_may_hold(w))
				w->has = (op++)->status == NAM_OK ? TXN_FREE : TXN_DOUBT;
		}
		if (st != NAM_OK)
			worst = st;
		txn_give_way(t->tw);
	}
	return worst != NAM_GONE || txn_mend(t) ? NAM_OK : NAM_REFUSED;
}

void
txn_junk_of_abort(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	for (uint32_t i = 0; i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (w->arch_at.bits)
			txn_archive_give(tw, w->view, w->arch_at);
		if (w->late_at.bits && !w->late_linked)
			txn_archive_give(tw, w->view, w->late_at);
		if (w->late_at.bits && w->late_linked)
			txn_junk_add(tw, (struct txn_junk){ .cid = w->expect,
					     .kind = JUNK_ARCHIVE,
					     .stock = w->view->stock,
					     .at = w->late_at });
		if (w->fresh && w->indexed)
			txn_junk_of_undone(tw,
			    (struct txn_junk){
				.kind = JUNK_EMPTY, .stock = w->view->stock, .at = w->at, .aux = w->ident });
		else if (w->fresh)
			txn_block_give(tw, w->view, w->at, w->expect);
	}
	for (uint32_t i = 0; i < t->nblobs; i++)
		if (!t->blob[i].dropped)
			txn_new_blob_give(t, &t->blob[i]);
}

/* If this process stops in the middle, its recoverer goes on. */
void
txn_more_give(struct txn *t)
{
	if (t->more.bits != 0)
		txn_spread_give(t->tw, t->intent->at, t->lock, t->more);
	t->more.bits = 0;
}

/*
 * I5. False: the line may still be valid, and this process cannot find out. A node that is lost for
 * all took the intent with it. If the node refuses the connection, this process is fenced and its
 * recoverer decides. If only this process does not reach the node, its recoverer READs the line.
 */
static bool
line_empty(struct txn *t)
{
	static const struct txn_commit_line none;
	net_addr line = txn_intent_line(t, 0);
	uint64_t until = 0;
	nam_status st;
	do {
		st = net_write1(t->tw->w, line, &none, sizeof none, &t->counts);
		if (st != NAM_GONE)
			return st == NAM_OK;
		while ((st = txn_reconnect(t->tw, line, &until)) == NAM_BUSY)
			;
	} while (st == NAM_OK);
	return st == NAM_GONE;
}

/* Every verb posted has completed when this is called. line: step 2 has begun. False: the outcome
 * is not known here. */
bool
txn_roll_back(struct txn *t)
{
	bool line = t->state == TXN_WRITING; /* step 2 has begun */
	txn_goto(t, TXN_UNDOING);
	if (t->arena.budget != NULL)
		nam_arena_charge(&t->arena, NULL);
	if (line && !line_empty(t)) {
		txn_leave(t);
		return false;
	}
	if (t->logged != 0 && !nam_fault(LOG_UNTOLD) &&
	    txn_log_undone(t->tw, t->lock, t->log_check, t->logged) != NAM_OK) {
		txn_leave(t);
		return false;
	}
	/* The line is empty, or was never written: a recoverer would also undo the transaction. */
	if (!txn_orders_leave(t) || txn_free_locks(t) != NAM_OK) {
		txn_leave(t);
		return true;
	}
	txn_more_give(t);
	txn_junk_of_abort(t);
	t->tw->stats.aborts++;
	if (!t->claimed || !t->claim.ready || t->claim.status != NAM_OK) {
		txn_recycle(t);
		return true;
	}
	if (!t->finish) {
		t->waiter = NULL;
		txn_goto(t, TXN_MARKING);
		tso_mark(t->tw->tso, &t->claim, 0, txn_marked, t);
		return true; /* t belongs to its recoverer from here on */
	}
	txn_mark_and_wait(t, 0);
	txn_through(t);
	return true;
}

void
txn_abort(struct txn *t)
{
	txn_roll_back(t);
}
