/*
 * lock.c -- FOR UPDATE: rows are locked in the order they come, as many as the LIMIT lets out.
 *
 * No row comes out before all are locked. So if a row turns out to have changed (READ COMMITTED),
 * the client has seen no row yet. The statement then runs once more, with its locks kept and a new
 * snapshot, and sees rows that cannot change any more.
 */
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>

/* Row r of the batch, locked. *gone: it is to be left out. */
static bool
lock(struct sql_exec *x, const struct sql_lock *l, const struct sql_batch *b, unsigned r, bool *gone)
{
	struct txn_table *table = (struct txn_table *)(uintptr_t)&l->tab->store;
	struct txn_row row = { .at = { (uint64_t)b->col[l->col].i[r] },
		.cid = (tso_cid)b->col[l->col + 1].i[r],
		.newest = (tso_cid)b->col[l->col + 1].i[r] };
	nam_status st = txn_lock_now(x->t, table, &row, l->wait == AST_LOCK_WAIT);
	if (st == NAM_ABSENT || (st == NAM_BUSY && l->wait == AST_LOCK_SKIP))
		*gone = true;
	else if (st == NAM_BUSY)
		return cat_error(x->err, "55P03", "could not obtain lock on row in relation \"%s\"",
		    cat_local(l->tab->path));
	else if (st != NAM_OK)
		return sql_status(x->err, st, l->tab);
	else
		x->again |= row.changed;
	return true;
}

static bool
lock_all(struct sql_exec *x, struct sql_op_lock *l, uint64_t *skip)
{
	struct sql_node *n = &l->node;
	struct sql_run_lock *r = l->run;
	uint64_t left;
	struct nam_arena *keep = x->arena[n->arena + 1];
	nam_arena_reset(keep);
	const struct cat_vec **col = nam_arena_take(keep, l->cols * sizeof *col);
	if (!sql_row_count(x, n, &l->most, &left, skip))
		return false;
	uint64_t want = left > UINT64_MAX - *skip ? UINT64_MAX : left + *skip;
	r->rs = sql_rowset_open(keep, l->type, l->cols);
	if (col == NULL || r->rs == NULL)
		return sql_no_memory(x->err);
	int rows = 1;
	while (r->rs->rows < want && (rows = sql_next(x, n->child)) > 0) {
		const struct sql_batch *b = &n->child->out;
		const uint16_t *sel = sql_sel(n->child);
		unsigned m = 0;
		for (int k = 0; k < rows && r->rs->rows + m < want; k++) {
			bool gone = false;
			for (unsigned i = 0; !gone && i < l->locks; i++)
				if (!lock(x, &l->lock[i], b, sel[k], &gone))
					return false;
			if (!gone)
				n->selbuf[m++] = sel[k];
		}
		for (unsigned c = 0; c < l->cols; c++)
			col[c] = &b->col[c];
		if (!sql_rowset_add(r->rs, col, n->selbuf, m))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	return !x->again || sql_status(x->err, NAM_CONFLICT, l->lock[0].tab);
}

int
sql_lock_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_lock *l = sql_op(lock, n);
	struct sql_run_lock *r = l->run;
	if (!r->opened) {
		uint64_t skip;
		if (!lock_all(x, l, &skip))
			return -1;
		r->opened = true;
		r->at = (unsigned)(skip < r->rs->rows ? skip : r->rs->rows);
	}
	struct nam_arena *arena = x->arena[n->arena];
	uint32_t index[CAT_BATCH];
	unsigned m = r->rs->rows - r->at < CAT_BATCH ? r->rs->rows - r->at : CAT_BATCH;
	nam_arena_reset(arena);
	for (unsigned k = 0; k < m; k++)
		index[k] = r->at + k;
	for (unsigned c = 0; m > 0 && c < l->cols; c++)
		if (!sql_rowset_gather(r->rs, c, index, m, &n->out.col[c], arena)) {
			sql_no_memory(x->err);
			return -1;
		}
	r->at += m;
	n->out.n = m;
	return sql_keep(x, n);
}
