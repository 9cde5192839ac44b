/* table.c -- makes, opens, closes and releases tables. */
#include "txn_internal.h"

#include <base/fault.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

bool
txn_grow(void **array, uint32_t n, uint32_t *cap, size_t item)
{
	if (n < *cap)
		return true;
	uint32_t want = *cap ? *cap * 2 : 16;
	void *p = realloc(*array, want * item);
	if (p == NULL)
		return false;
	*array = p;
	*cap = want;
	return true;
}

void
txn_view_sizes(struct txn_table_view *v, unsigned slots, uint32_t row_max)
{
	v->slots = (uint16_t)(slots ? slots : 2);
	v->row_max = row_max;
	uint32_t payload = (row_max + 7) & ~7u;
	v->head_bytes = 8 * (4 + v->slots);
	v->slot_bytes = (uint32_t)sizeof(struct rec_slot) + payload;
	/* Long slots begin on a cache line: so a reader does not fetch a line for a neighbour's
	 * last bytes. */
	if (v->slot_bytes >= TXN_LINE_SLOTS) {
		v->head_bytes = (v->head_bytes + 63) & ~63u;
		v->slot_bytes = (v->slot_bytes + 63) & ~63u;
	}
	v->block_bytes = (v->head_bytes + v->slots * v->slot_bytes + 63) & ~63u;
	v->archive_bytes = ((uint32_t)sizeof(struct rec_archive) + payload + 63) & ~63u;
	v->per_extent = (uint32_t)((NET_EXTENT - sizeof(struct txn_extent)) / v->block_bytes);
}

uint32_t
txn_row_room(uint16_t slots, uint32_t row_max)
{
	struct txn_table_view is, more;
	txn_view_sizes(&is, slots, row_max);
	uint32_t room = (row_max + 7) & ~7u;
	for (uint32_t wide = room + 8; wide <= txn_row_most(slots); wide += 8) {
		txn_view_sizes(&more, slots, wide);
		if (more.block_bytes != is.block_bytes)
			break;
		room = wide;
	}
	return room <= txn_row_most(slots) ? room : row_max;
}

/* ---- making, opening, closing ---- */

nam_status
txn_table_create(struct txn_worker *tw, struct txn_table *t)
{
	struct txn_db *db = tw->db;
	NAM_ASSERT(t->id > 0);
	if (t->slots == 0)
		t->slots = 2;
	if (t->slots < 2 || t->slots > REC_SLOTS_MAX || t->row_max > txn_row_most(t->slots) ||
	    t->orders > TXN_ORDERS_MAX)
		return NAM_INVALID;
	nam_status st = txn_place_take(db, tw->w, t->id, t->vital, &t->anchor);
	if (st != NAM_OK)
		return st;
	struct txn_anchor a = {
		.magic = TXN_ANCHOR_MAGIC, .table = t->id, .maker = txn_tables_maker(tw), .listed = t->listed
	};
	st = net_write1(tw->w, t->anchor, &a, sizeof a, NULL);
	if (st == NAM_OK)
		st = txn_tables_enter(tw, t->anchor);
	if (st == NAM_OK)
		st = txn_orders_create(tw, t);
	if (st != NAM_OK)
		txn_table_free(tw, t, 0);
	return st;
}

nam_status
txn_table_reserve(struct txn_worker *tw, struct txn_table *t, uint64_t rows)
{
	return t->view->index == NULL ? NAM_OK : idx_hash_reserve(tw->w, t->view->index, rows, NULL);
}

nam_status
txn_table_open(struct txn_db *db, struct txn_table *t)
{
	struct txn_table_view *v = calloc(1, sizeof *v);
	if (v == NULL)
		return NAM_NOMEM;
	v->db = db;
	v->table = t->id;
	v->anchor = t->anchor;
	v->has_key = t->has_key;
	v->vital = t->vital;
	v->blobs = t->blobs;
	v->blob_table = *t;
	v->blob_table.view = v;
	txn_view_sizes(v, t->slots, t->row_max);
	if (txn_stock_enter(v) != NAM_OK) {
		free(v);
		return NAM_NOMEM;
	}
	if (txn_orders_open(v, t) != NAM_OK) {
		txn_stock_back(v);
		return NAM_NOMEM;
	}
	txn_stock_publish(v, t->guard.bits != 0);
	t->view = v;
	return NAM_OK;
}

void
txn_table_settled(struct txn_table *t, bool committed)
{
	if (t->view != NULL)
		txn_stock_settle(t->view, committed);
}

void
txn_table_close(struct txn_db *db, struct txn_table *t)
{
	(void)db;
	if (t->view)
		txn_stock_close(t->view);
	t->view = NULL;
}

nam_status
txn_table_free(struct txn_worker *tw, const struct txn_table *t, tso_cid dropped)
{
	txn_junk_add(
	    tw, (struct txn_junk){ .cid = dropped, .kind = JUNK_TABLE, .at = t->anchor, .len = t->id });
	return NAM_OK;
}

/* ---- release ---------------------------------------------------------------------
 *
 * Memory goes back when no process can WRITE to it any more. The drop's CID is d.
 *
 *   watermark >= d   no transaction remains that can see the table. But collectors empty its
 *                    blocks, and processes that close put their free memory on its lists: each
 *                    under a pin that may be younger than d
 *   close            with the table's sweeper lock: the anchor says so from now on. That lock is
 *                    never freed again
 *   claim e          after the close has landed. A process that READ the open anchor under its pin
 *                    has a pin below e, and touches the table under that pin only
 *   watermark >= e   none of those pins remains. A process that was fenced meanwhile was fenced
 *                    before its pin was gone
 *   give back        under a pin, so that this process is fenced before another takes its lock.
 *                    Each extent is taken out of the chain, or of the ledger, before it is given
 *                    back, and the anchor's place goes last: if this process dies, the next
 *                    process that finds its lock goes on, and gives nothing back twice. A few
 *                    extents may be lost at each such death
 */
enum { RELEASE_STEPS = 4096 };

struct release {
	struct txn_worker *tw;
	net_addr anchor;
	unsigned left; /* extents that this step may give back */
};

/* No word leads to the extent any more. If it is in doubt whether it went back, it is lost. */
static nam_status
release_extent(struct release *r, net_addr at)
{
	nam_status st = txn_node_ended(r->tw, at) ? NAM_OK : net_extent_give(r->tw->w, at);
	r->left -= r->left > 0;
	r->tw->gc_moved = true;
	txn_give_way(r->tw);
	/* An address that is no extent cannot be given back, and must not stop the release of the
	 * others. */
	return st == NAM_INVALID || st == NAM_CORRUPT || (st == NAM_GONE && txn_node_ended(r->tw, at))
		   ? NAM_OK
		   : st;
}

static nam_status
release_blocks(struct release *r, uint64_t at)
{
	struct net_worker *w = r->tw->w;
	net_addr head = net_plus(r->anchor, offsetof(struct txn_anchor, blocks));
	nam_status st = NAM_OK;
	while (st == NAM_OK && at != 0 && r->left > 0) {
		uint64_t next = 0;
		st = txn_node_ended(r->tw, (net_addr){ at }) ? NAM_OK
							     : net_read1(w, (net_addr){ at }, &next, 8, NULL);
		if (st == NAM_OK)
			st = net_write1(w, head, &next, 8, NULL);
		if (st == NAM_OK)
			st = release_extent(r, (net_addr){ at });
		at = next;
	}
	return st == NAM_OK && at != 0 ? NAM_BUSY : st;
}

/* Closes the table, or finds it closed by a process that has ended. */
static nam_status
close_table(struct txn_worker *tw, struct txn_junk *j, const struct txn_anchor *a)
{
	static const uint64_t closed = TXN_ANCHOR_CLOSED;
	nam_status st = NAM_OK;
	/* A closed anchor without a lock is no anchor any more: the process that closes a table
	 * keeps the lock to the end. */
	if (a->magic == TXN_ANCHOR_CLOSED && a->sweeper == 0)
		return NAM_OK;
	/* A sweeper looks at all memory of the table: its sweep ends first, and no other begins. */
	if (a->sweeper == 0 || a->sweeper != j->aux) {
		uint64_t lock = 0;
		if ((st = txn_sweeper_take(tw, j->at, a->sweeper, &lock)) != NAM_OK)
			return st;
		j->aux = lock;
	}
	if (a->magic != TXN_ANCHOR_CLOSED && !nam_fault(RELEASE_UNCLOSED))
		st = net_write1(tw->w, j->at, &closed, sizeof closed, NULL);
	if (st == NAM_OK && !nam_fault(RELEASE_UNCLOSED))
		st = txn_cid_spend(tw, 0, &j->cid);
	if (st == NAM_OK)
		j->kind = JUNK_CLOSED;
	return st == NAM_OK ? NAM_BUSY : st;
}

nam_status
txn_table_release(struct txn_worker *tw, struct txn_junk *j)
{
	static const uint64_t zero;
	struct txn_anchor a;
	nam_status st = net_read1(tw->w, j->at, &a, sizeof a, NULL);
	if (st != NAM_OK)
		return st == NAM_GONE && txn_node_ended(tw, j->at) ? NAM_OK : st;
	if ((a.magic != TXN_ANCHOR_MAGIC && a.magic != TXN_ANCHOR_CLOSED) || a.table != j->len)
		return NAM_OK; /* it has gone back, and may be another table by now */
	if (j->kind == JUNK_TABLE)
		return close_table(tw, j, &a);
	if (a.sweeper != j->aux) {
		j->kind = JUNK_TABLE;
		return NAM_BUSY;
	}
	struct release r = { .tw = tw, .anchor = j->at, .left = RELEASE_STEPS };
	st = txn_orders_drop(tw, j->at);
	if (st == NAM_OK)
		st = release_blocks(&r, a.blocks);
	if (st == NAM_OK)
		st = txn_ledger_release(tw, j->at, &r.left);
	if (st == NAM_OK)
		st = txn_tables_leave(tw, j->at);
	if (st == NAM_OK)
		st = net_write1(tw->w, j->at, &zero, 8, NULL);
	return st == NAM_OK && !txn_node_ended(tw, j->at) ? txn_place_give(tw->w, j->at) : st;
}
