/* unnest.c -- arrays taken apart: a row for each element, beside the other columns and other
 * arrays' elements. */
#include <sql/exec/state.h>
#include <types/array.h>

/* Elements of the longest array in row k of the child. */
static uint32_t
longest(const struct sql_op_unnest *u, unsigned k)
{
	const struct sql_node *n = &u->node;
	uint32_t most = 0;
	for (unsigned c = 0; c < n->child->out.cols; c++) {
		const struct cat_vec *v = &n->child->out.col[c];
		struct cat_array a;
		if (!u->apart[c] || v->null[k])
			continue;
		cat_array_open(v->type, v->s[k], &a);
		most = a.n > most ? a.n : most;
	}
	return most;
}

/* Column c of rows [0, m): row r has element elem[r] of row src[r]. Beyond an array's end: NULL. */
static bool
take(const struct sql_op_unnest *u, unsigned c, const uint16_t *src, const uint32_t *elem, unsigned m,
    struct nam_arena *batch)
{
	const struct sql_node *n = &u->node;
	const struct cat_vec *from = &n->child->out.col[c];
	struct cat_vec *to = &n->out.col[c];
	struct cat_array a = { 0 };
	if (!u->apart[c])
		return sql_gather(to, from, src, m, batch);
	if (!cat_vec_take(to, u->type[c], m, batch))
		return false;
	for (unsigned r = 0; r < m; r++) {
		union cat_val v = { 0 };
		bool null = from->null[src[r]];
		if (!null && (r == 0 || src[r] != src[r - 1]))
			cat_array_open(from->type, from->s[src[r]], &a);
		null = null || elem[r] >= a.n || !cat_array_at(&a, elem[r], &v);
		cat_vec_set(to, r, v, null);
	}
	return true;
}

int
sql_unnest_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_unnest *u = sql_op(unnest, n);
	struct sql_run_unnest *r = u->run;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	uint16_t *src = nam_arena_take(batch, CAT_BATCH * sizeof *src);
	uint32_t *elem = nam_arena_take(batch, CAT_BATCH * sizeof *elem);
	unsigned m = 0;
	bool ok = src != NULL && elem != NULL;
	while (ok && m == 0) {
		if (r->at == r->rows) {
			int rows = sql_next(x, n->child);
			if (rows <= 0)
				return rows;
			r->rows = (unsigned)rows;
			r->at = r->elem = 0;
		}
		const uint16_t *sel = sql_sel(n->child);
		for (; r->at < r->rows && m < CAT_BATCH; r->at++, r->elem = 0) {
			uint32_t most = longest(u, sel[r->at]);
			for (; r->elem < most && m < CAT_BATCH; m++) {
				src[m] = sel[r->at];
				elem[m] = r->elem++;
			}
			if (r->elem < most)
				break;
		}
		if (!sql_go_on(x))
			return -1;
	}
	unsigned c = 0;
	for (; ok && c < n->child->out.cols; c++)
		ok = take(u, c, src, elem, m, batch);
	if (ok && c < n->out.cols && (ok = cat_vec_take(&n->out.col[c], CAT_INT8, m, batch)))
		for (unsigned k = 0; k < m; k++)
			cat_vec_set(&n->out.col[c], k, (union cat_val){ .i = (int64_t)++r->ordinal }, false);
	if (!ok) {
		sql_no_memory(x->err);
		return -1;
	}
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}
