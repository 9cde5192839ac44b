/* exec_sort.c -- ORDER BY: all rows kept and sorted; under a LIMIT only the best ones are kept. */
#include "exec.h"
#include <sql/rowset.h>

#include <stdlib.h>

struct order {
	const struct sql_rowset *rs;
	const struct sql_sort_key *key;
	unsigned keys;
	const uint32_t *was;
	struct sql_exec *x;
	unsigned left; /* comparisons until the clock is looked at */
	bool stopped;
};

/* qsort cannot be left in the middle: once it is too late all rows are equal, which ends it soon. */
static bool
late(struct order *o)
{
	enum { LOOK = 8192 };
	o->stopped = o->stopped || !sql_go_on(o->x);
	o->left = o->stopped ? 1 : LOOK;
	return o->stopped;
}

int
sql_sort_cmp(const struct sql_rowset *rs, const struct sql_sort_key *keys, unsigned n, uint32_t a, uint32_t b)
{
	for (unsigned k = 0; k < n; k++) {
		const struct sql_sort_key *key = &keys[k];
		const struct cat_vec *va = sql_rowset_col(rs, a, key->col);
		const struct cat_vec *vb = sql_rowset_col(rs, b, key->col);
		unsigned ra = a % CAT_BATCH, rb = b % CAT_BATCH;
		if (va->null[ra] != vb->null[rb])
			return va->null[ra] == key->nulls_first ? -1 : 1;
		if (va->null[ra])
			continue;
		int c;
		if (cat_type_is_str(va->type) || cat_type_is_float(va->type))
			c = cat_value_cmp(va->type, cat_vec_at(va, ra), cat_vec_at(vb, rb));
		else
			c = va->i[ra] < vb->i[rb] ? -1 : va->i[ra] > vb->i[rb];
		if (c != 0)
			return key->desc ? -c : c;
	}
	return 0;
}

static int
compare(const void *pa, const void *pb, void *arg)
{
	struct order *o = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	if (__builtin_expect(--o->left == 0, 0) && late(o))
		return 0;
	int c = sql_sort_cmp(o->rs, o->key, o->keys, a, b);
	return c != 0 ? c : a < b ? -1 : a > b;
}

static int
compare_places(const void *pa, const void *pb, void *arg)
{
	struct order *o = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	if (__builtin_expect(--o->left == 0, 0) && late(o))
		return 0;
	int c = sql_sort_cmp(o->rs, o->key, o->keys, o->was[a], o->was[b]);
	return c != 0 ? c : a < b ? -1 : a > b;
}

bool
sql_sort_perm(struct sql_exec *x, const struct sql_rowset *rs, const struct sql_sort_key *key, unsigned n,
    uint32_t *perm, struct nam_arena *scratch)
{
	uint32_t *was = nam_arena_take(scratch, ((size_t)rs->rows + 1) * sizeof *was);
	if (was == NULL)
		return sql_no_memory(x->err);
	memcpy(was, perm, rs->rows * sizeof *was);
	for (uint32_t k = 0; k < rs->rows; k++)
		perm[k] = k;
	struct order o = { .rs = rs, .key = key, .keys = n, .was = was, .x = x, .left = 1 };
	qsort_r(perm, rs->rows, sizeof *perm, compare_places, &o);
	if (o.stopped)
		return false;
	for (uint32_t k = 0; k < rs->rows; k++)
		perm[k] = was[perm[k]];
	return true;
}

static bool
sort(struct sql_exec *x, struct sql_node *n, struct nam_arena *arena)
{
	n->perm = nam_arena_take(arena, (n->rs->rows + 1) * sizeof *n->perm);
	if (n->perm == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = 0; r < n->rs->rows; r++)
		n->perm[r] = r;
	struct order o = { .rs = n->rs, .key = n->order, .keys = n->orders, .x = x, .left = 1 };
	qsort_r(n->perm, n->rs->rows, sizeof *n->perm, compare, &o);
	return !o.stopped;
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
	const struct cat_vec *few[64], **col = few;
	if (n->width > 64 && (col = malloc(n->width * sizeof *col)) == NULL)
		return sql_no_memory(x->err);
	int rows;
	bool ok = true;
	while (ok && (rows = sql_next(x, n->child)) > 0) {
		for (unsigned c = 0; c < n->width; c++)
			col[c] = &n->child->out.col[c];
		if (!sql_rowset_add(n->rs, col, sql_sel(n->child), (unsigned)rows))
			ok = sql_no_memory(x->err);
		else if (keep < 50000 && n->rs->rows > 2 * keep + 8 * CAT_BATCH)
			ok = shrink(x, n, keep, &arena);
		if (ok)
			ok = sql_go_on(x);
	}
	if (col != few)
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
