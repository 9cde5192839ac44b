/* sort.c -- ORDER BY: all rows kept and sorted; under a LIMIT only the best ones are kept. Rows
 * that come in the order of the first keys are read until no other row can be among the best. */
#include <sql/exec/gather.h>
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>

#include <stdlib.h>

enum { SORT_FEW = 50000 }; /* so many rows are kept by keeping the best */

static bool
sort(struct sql_exec *x, struct sql_op_sort *s, struct nam_arena *arena)
{
	struct sql_run_sort *r = s->run;
	r->perm = nam_arena_take(arena, (r->rs->rows + 1) * sizeof *r->perm);
	if (r->perm == NULL)
		return sql_no_memory(x->err);
	for (uint32_t k = 0; k < r->rs->rows; k++)
		r->perm[k] = k;
	return sql_sort_perm(x, r->rs, s->order, s->orders, r->perm, arena);
}

/* Keeps the first `keep` rows, in the other arena, and empties this one. */
static bool
shrink(struct sql_exec *x, struct sql_op_sort *s, uint64_t keep, unsigned *arena)
{
	const struct sql_node *n = &s->node;
	struct sql_run_sort *r = s->run;
	if (!sort(x, s, x->arena[*arena]))
		return false;
	unsigned other = *arena == n->arena + 1 ? n->arena + 2 : n->arena + 1;
	struct nam_arena *to = x->arena[other], *batch = x->arena[n->arena];
	nam_arena_reset(to);
	struct sql_rowset *rs = sql_rowset_open(to, s->type, s->cols);
	if (rs == NULL)
		return sql_no_memory(x->err);
	for (uint64_t at = 0; at < keep; at += CAT_BATCH) {
		unsigned m = keep - at < CAT_BATCH ? (unsigned)(keep - at) : CAT_BATCH;
		nam_arena_reset(batch);
		struct cat_vec *v = nam_arena_take(batch, (s->cols + 1) * sizeof *v);
		const struct cat_vec **col = nam_arena_take(batch, (s->cols + 1) * sizeof *col);
		if (v == NULL || col == NULL)
			return sql_no_memory(x->err);
		for (unsigned c = 0; c < s->cols; c++) {
			if (!sql_rowset_gather(r->rs, c, r->perm + at, m, &v[c], batch))
				return sql_no_memory(x->err);
			col[c] = &v[c];
		}
		if (!sql_rowset_add(rs, col, sql_ident(), m))
			return sql_no_memory(x->err);
	}
	nam_arena_reset(x->arena[*arena]);
	*arena = other;
	r->rs = rs;
	return true;
}

/* Those of rows sel[0..rows) that are not behind row `last` of the rows kept, by the first key
 * alone. */
static unsigned
not_behind(const struct sql_op_sort *s, uint32_t last, const uint16_t *sel, unsigned rows, uint16_t *out)
{
	const struct sql_sort_key *key = &s->order[0];
	const struct cat_vec *v = &s->node.child->out.col[key->col];
	union cat_val limit = sql_rowset_at(s->run->rs, last, key->col);
	bool null = sql_rowset_null(s->run->rs, last, key->col);
	bool ints = !cat_type_is_str(v->type) && !cat_type_is_float(v->type);
	unsigned m = 0;
	for (unsigned k = 0; k < rows; k++) {
		unsigned r = sel[k];
		bool stays;
		if (v->null[r] | null)
			stays = v->null[r] == null || v->null[r] == key->nulls_first;
		else if (ints)
			stays = key->desc ? v->i[r] >= limit.i : v->i[r] <= limit.i;
		else if (key->desc)
			stays = cat_value_cmp(v->type, cat_vec_at(v, r), limit) >= 0;
		else
			stays = cat_value_cmp(v->type, cat_vec_at(v, r), limit) <= 0;
		out[m] = (uint16_t)r;
		m += stays;
	}
	return m;
}

/*
 * True if rows that come in the order of the first keys are all behind those kept: there are
 * enough of them, and row r of the child's batch, the last that came, is behind the last of these.
 */
static bool
all_behind(const struct sql_op_sort *s, uint64_t keep, unsigned r)
{
	const struct sql_rowset *rs = s->run->rs;
	bool same = true;
	if (s->presorted == 0 || keep == 0 || rs->rows < keep)
		return false;
	for (unsigned k = 0; k < s->presorted && same; k++) {
		unsigned c = s->order[k].col;
		const struct cat_vec *v = &s->node.child->out.col[c];
		bool null = sql_rowset_null(rs, (uint32_t)keep - 1, c);
		same = (v->null[r] != 0) == null;
		if (same && !null)
			same = cat_value_cmp(
				   v->type, cat_vec_at(v, r), sql_rowset_at(rs, (uint32_t)keep - 1, c)) == 0;
	}
	return !same;
}

/* The child's rows; under a LIMIT only those that may be among the first `keep`. */
static bool
take_rows(
    struct sql_exec *x, struct sql_op_sort *s, uint64_t keep, const struct cat_vec **col, unsigned *arena)
{
	struct sql_node *n = &s->node;
	struct sql_run_sort *r = s->run;
	int rows;
	/* full: the best so far are known */
	bool ok = true, few = keep > 0 && keep < SORT_FEW, full = false;
	while (ok && (rows = sql_next(x, n->child)) > 0) {
		const uint16_t *sel = sql_sel(n->child);
		unsigned last = sel[rows - 1];
		for (unsigned c = 0; c < s->cols; c++)
			col[c] = &n->child->out.col[c];
		if (full && s->orders > 0) {
			rows = (int)not_behind(s, (uint32_t)keep - 1, sel, (unsigned)rows, n->selbuf);
			sel = n->selbuf;
		}
		if (!sql_rowset_add(r->rs, col, sel, (unsigned)rows))
			ok = sql_no_memory(x->err);
		else if (few && r->rs->rows > 2 * keep + CAT_BATCH / 2)
			ok = full = shrink(x, s, keep, arena);
		if (ok && all_behind(s, keep, last))
			return true;
		if (ok)
			ok = sql_go_on(x);
	}
	return ok && rows == 0;
}

static bool
take_all(struct sql_exec *x, struct sql_op_sort *s)
{
	struct sql_node *n = &s->node;
	struct sql_run_sort *r = s->run;
	uint64_t left, skip;
	if (!sql_row_count(x, n, &s->most, &left, &skip))
		return false;
	uint64_t keep = left > UINT64_MAX - skip ? UINT64_MAX : left + skip;
	unsigned arena = n->arena + 1;
	nam_arena_reset(x->arena[arena]);
	if ((r->rs = sql_rowset_open(x->arena[arena], s->type, s->cols)) == NULL)
		return sql_no_memory(x->err);
	const struct cat_vec *some[64], **col = some;
	if (s->cols > 64 && (col = malloc(s->cols * sizeof *col)) == NULL)
		return sql_no_memory(x->err);
	int more, several = sql_gather_begin(x, n);
	bool ok = several >= 0;
	do {
		ok = ok && take_rows(x, s, keep, col, &arena) && sort(x, s, x->arena[arena]);
		more = ok && several > 0 ? sql_gather_settle(x, n) : 0;
	} while (more > 0);
	if (col != some)
		free(col);
	return ok && more == 0;
}

int
sql_sort_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_sort *s = sql_op(sort, n);
	struct sql_run_sort *r = s->run;
	if (!r->opened) {
		if (!take_all(x, s))
			return -1;
		r->opened = true;
		r->at = 0;
	}
	const struct sql_fragment *f = n->fragment;
	if (f != NULL && f->run != NULL && f->run->runs != NULL)
		return sql_runs_next(x, s, f->run->runs);
	if (r->at >= r->rs->rows)
		return 0;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	unsigned m = r->rs->rows - r->at < CAT_BATCH ? r->rs->rows - r->at : CAT_BATCH;
	for (unsigned c = 0; c < s->cols; c++)
		if (!sql_rowset_gather(r->rs, c, r->perm + r->at, m, &n->out.col[c], batch)) {
			sql_no_memory(x->err);
			return -1;
		}
	r->at += m;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}

/* ---- DISTINCT ON ------------------------------------------------------------------- */

/* True if row r of a equals row k of b. NULL equals NULL. */
static bool
same(const struct cat_vec *a, unsigned r, const struct cat_vec *b, unsigned k)
{
	if (a->null[r] || b->null[k])
		return a->null[r] && b->null[k];
	if (cat_type_is_str(a->type) || cat_type_is_float(a->type))
		return cat_value_cmp(a->type, cat_vec_at(a, r), cat_vec_at(b, k)) == 0;
	return a->i[r] == b->i[k];
}

int
sql_unique_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_unique *u = sql_op(unique, n);
	struct sql_run_unique *run = u->run;
	struct nam_arena *keep = x->arena[n->arena + 1];
	int rows;
	while ((rows = sql_next(x, n->child)) > 0) {
		const uint16_t *sel = sql_sel(n->child);
		struct cat_vec *in = n->child->out.col;
		memcpy(n->out.col, in, n->out.cols * sizeof *in);
		n->out.n = n->child->out.n;
		unsigned m = 0;
		for (int r = 0; r < rows; r++) {
			bool alike = r > 0 || run->last != NULL;
			for (unsigned c = 0; c < u->cols && alike; c++)
				alike =
				    r > 0 ? same(&in[u->col[c]], sel[r - 1], &in[u->col[c]], sel[r])
					  : same(sql_rowset_col(run->last, 0, c), 0, &in[u->col[c]], sel[r]);
			if (!alike)
				n->selbuf[m++] = sel[r];
		}
		nam_arena_reset(keep);
		const struct cat_vec **col = nam_arena_take(keep, (u->cols + 1) * sizeof *col);
		if (col == NULL || (run->last = sql_rowset_open(keep, u->type, u->cols)) == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
		for (unsigned c = 0; c < u->cols; c++)
			col[c] = &in[u->col[c]];
		if (!sql_rowset_add(run->last, col, &sel[rows - 1], 1)) {
			sql_no_memory(x->err);
			return -1;
		}
		n->sel = n->selbuf;
		n->nsel = m;
		if (m > 0)
			return (int)m;
	}
	return rows;
}
