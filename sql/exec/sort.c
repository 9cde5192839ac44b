/* sort.c -- ORDER BY: all rows kept and sorted; under a LIMIT only the best ones are kept. */
#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>

#include <stdlib.h>

enum { SORT_FEW = 50000 }; /* so many rows are kept by keeping the best */

static bool
sort(struct sql_exec *x, struct sql_node *n, struct nam_arena *arena)
{
	n->perm = nam_arena_take(arena, (n->rs->rows + 1) * sizeof *n->perm);
	if (n->perm == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = 0; r < n->rs->rows; r++)
		n->perm[r] = r;
	return sql_sort_perm(x, n->rs, n->order, n->orders, n->perm, arena);
}

/* Keeps the first `keep` rows, in the other arena, and empties this one. */
static bool
shrink(struct sql_exec *x, struct sql_node *n, uint64_t keep, unsigned *arena)
{
	if (!sort(x, n, x->arena[*arena]))
		return false;
	unsigned other = *arena == n->arena + 1 ? n->arena + 2 : n->arena + 1;
	struct nam_arena *to = x->arena[other], *batch = x->arena[n->arena];
	nam_arena_reset(to);
	struct sql_rowset *rs = sql_rowset_open(to, n->types, n->width);
	if (rs == NULL)
		return sql_no_memory(x->err);
	for (uint64_t at = 0; at < keep; at += CAT_BATCH) {
		unsigned m = keep - at < CAT_BATCH ? (unsigned)(keep - at) : CAT_BATCH;
		nam_arena_reset(batch);
		struct cat_vec *v = nam_arena_take(batch, (n->width + 1) * sizeof *v);
		const struct cat_vec **col = nam_arena_take(batch, (n->width + 1) * sizeof *col);
		if (v == NULL || col == NULL)
			return sql_no_memory(x->err);
		for (unsigned c = 0; c < n->width; c++) {
			if (!sql_rowset_gather(n->rs, c, n->perm + at, m, &v[c], batch))
				return sql_no_memory(x->err);
			col[c] = &v[c];
		}
		if (!sql_rowset_add(rs, col, sql_ident(), m))
			return sql_no_memory(x->err);
	}
	nam_arena_reset(x->arena[*arena]);
	*arena = other;
	n->rs = rs;
	return true;
}

/* Those of rows sel[0..rows) that are not behind row `last` of the rows kept, by the first key alone. */
static unsigned
not_behind(const struct sql_node *n, uint32_t last, const uint16_t *sel, unsigned rows, uint16_t *out)
{
	const struct sql_sort_key *key = &n->order[0];
	const struct cat_vec *v = &n->child->out.col[key->col];
	union cat_val limit = sql_rowset_at(n->rs, last, key->col);
	bool null = sql_rowset_null(n->rs, last, key->col);
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

static bool
take_all(struct sql_exec *x, struct sql_node *n)
{
	if (!sql_row_count(x, n))
		return false;
	uint64_t keep = n->left > UINT64_MAX - n->skip ? UINT64_MAX : n->left + n->skip;
	unsigned arena = n->arena + 1;
	nam_arena_reset(x->arena[arena]);
	if ((n->rs = sql_rowset_open(x->arena[arena], n->types, n->width)) == NULL)
		return sql_no_memory(x->err);
	const struct cat_vec *some[64], **col = some;
	if (n->width > 64 && (col = malloc(n->width * sizeof *col)) == NULL)
		return sql_no_memory(x->err);
	int rows;
	bool ok = true, few = keep > 0 && keep < SORT_FEW, full = false; /* full: the best so far are known */
	while (ok && (rows = sql_next(x, n->child)) > 0) {
		const uint16_t *sel = sql_sel(n->child);
		for (unsigned c = 0; c < n->width; c++)
			col[c] = &n->child->out.col[c];
		if (full && n->orders > 0) {
			rows = (int)not_behind(n, (uint32_t)keep - 1, sel, (unsigned)rows, n->selbuf);
			sel = n->selbuf;
		}
		if (!sql_rowset_add(n->rs, col, sel, (unsigned)rows))
			ok = sql_no_memory(x->err);
		else if (few && n->rs->rows > 2 * keep + CAT_BATCH / 2)
			ok = full = shrink(x, n, keep, &arena);
		if (ok)
			ok = sql_go_on(x);
	}
	if (col != some)
		free(col);
	return ok && rows == 0 && sort(x, n, x->arena[arena]);
}

int
sql_sort_next(struct sql_exec *x, struct sql_node *n)
{
	if (!n->opened) {
		if (!take_all(x, n))
			return -1;
		n->opened = true;
		n->at = 0;
	}
	if (n->at >= n->rs->rows)
		return 0;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	unsigned m = n->rs->rows - n->at < CAT_BATCH ? n->rs->rows - n->at : CAT_BATCH;
	for (unsigned c = 0; c < n->width; c++)
		if (!sql_rowset_gather(n->rs, c, n->perm + n->at, m, &n->out.col[c], batch)) {
			sql_no_memory(x->err);
			return -1;
		}
	n->at += m;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}

/* ---- DISTINCT ON ------------------------------------------------------------------- */

/* Are rows r of a and k of b the same? NULL equals NULL. */
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
	struct nam_arena *keep = x->arena[n->arena + 1];
	int rows;
	while ((rows = sql_next(x, n->child)) > 0) {
		const uint16_t *sel = sql_sel(n->child);
		struct cat_vec *in = n->child->out.col;
		memcpy(n->out.col, in, n->out.cols * sizeof *in);
		n->out.n = n->child->out.n;
		unsigned m = 0;
		for (int r = 0; r < rows; r++) {
			bool alike = r > 0 || n->rs != NULL;
			for (unsigned c = 0; c < n->passes && alike; c++)
				alike = r > 0 ? same(&in[n->pass[c]], sel[r - 1], &in[n->pass[c]], sel[r])
					      : same(sql_rowset_col(n->rs, 0, c), 0, &in[n->pass[c]], sel[r]);
			if (!alike)
				n->selbuf[m++] = sel[r];
		}
		nam_arena_reset(keep);
		const struct cat_vec **col = nam_arena_take(keep, (n->passes + 1) * sizeof *col);
		if (col == NULL || (n->rs = sql_rowset_open(keep, n->types, n->passes)) == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
		for (unsigned c = 0; c < n->passes; c++)
			col[c] = &in[n->pass[c]];
		if (!sql_rowset_add(n->rs, col, &sel[rows - 1], 1)) {
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
