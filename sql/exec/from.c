/* from.c -- FROM items that are no tables of the catalog. */
#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>

int
sql_derived_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_access *a = &n->acc;
	while (true) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		/* The child's vectors are ours until we ask it again: they need not be copied. */
		for (unsigned k = 0; k < a->wants; k++)
			n->out.col[a->base + a->want[k]] = n->child->out.col[a->want[k]];
		n->out.n = n->child->out.n;
		n->sel = n->child->sel;
		n->nsel = (unsigned)rows;
		if (n->filter == NULL)
			return rows;
		struct nam_arena *batch = x->arena[n->arena];
		nam_arena_reset(batch);
		x->env.arena = batch;
		int kept = sql_filter(n->filter, &n->out, n->sel, (unsigned)rows, &x->env, n->selbuf);
		if (kept < 0)
			return -1;
		n->nsel = (unsigned)kept;
		if (n->nsel < n->out.n)
			n->sel = n->selbuf;
		if (kept > 0)
			return kept;
		if (!sql_go_on(x))
			return -1;
	}
}

/* Runs the query of WITH, and keeps its rows for all who read them. */
static bool
fill(struct sql_exec *x, struct sql_cte *c)
{
	struct nam_arena *keep = x->arena[c->arena];
	nam_arena_reset(keep);
	const struct cat_vec **col = nam_arena_take(keep, (c->columns + 1) * sizeof *col);
	struct sql_rowset *rs = sql_rowset_open(keep, c->type, c->columns);
	if (col == NULL || rs == NULL)
		return sql_no_memory(x->err);
	if (!sql_open(x, c->plan))
		return false;
	int rows;
	while ((rows = sql_next(x, c->plan)) > 0) {
		for (unsigned k = 0; k < c->columns; k++)
			col[k] = &c->plan->out.col[k];
		if (!sql_rowset_add(rs, col, sql_sel(c->plan), (unsigned)rows))
			return sql_no_memory(x->err);
		if (!sql_go_on(x))
			return false;
	}
	c->rs = rs;
	return rows == 0;
}

int
sql_cte_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_cte *c = n->cte;
	if (c->rs == NULL && !fill(x, c))
		return -1;
	if (n->at >= c->rs->rows)
		return 0;
	unsigned m = c->rs->rows - n->at < CAT_BATCH ? c->rs->rows - n->at : CAT_BATCH;
	for (unsigned k = 0; k < c->columns; k++)
		n->out.col[k] = c->rs->chunk[n->at / CAT_BATCH][k];
	n->at += m;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}

static bool
series_open(struct sql_exec *x, struct sql_node *n)
{
	int64_t v[3] = { 0, 0, 1 };
	x->env.arena = x->arena[n->arena];
	for (unsigned k = 0; k < n->es; k++) {
		struct cat_datum d;
		if (!sql_eval_one(n->e[k], &x->env, &d))
			return false;
		if (d.null)
			n->ended = true;
		v[k] = d.v.i;
	}
	n->next = v[0];
	n->stop = v[1];
	n->step = v[2];
	n->ordinal = 0;
	n->opened = true;
	return n->ended || n->step != 0 || cat_error(x->err, "22023", "step size cannot equal zero");
}

int
sql_series_next(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *batch = x->arena[n->arena];
	if (n->held != NULL)
		return sql_series_more(x, n);
	nam_arena_reset(batch);
	if (!n->opened && !series_open(x, n))
		return -1;
	if (n->ended || !sql_go_on(x))
		return n->ended ? 0 : -1;
	if (!cat_vec_take(&n->out.col[0], n->types[0], CAT_BATCH, batch) ||
	    (n->out.cols > 1 && !cat_vec_take(&n->out.col[1], CAT_INT8, CAT_BATCH, batch))) {
		sql_no_memory(x->err);
		return -1;
	}
	unsigned m = 0;
	while (m < CAT_BATCH && !n->ended && (n->step > 0 ? n->next <= n->stop : n->next >= n->stop)) {
		cat_vec_set(&n->out.col[0], m, (union cat_val){ .i = n->next }, false);
		if (n->out.cols > 1)
			cat_vec_set(&n->out.col[1], m, (union cat_val){ .i = (int64_t)++n->ordinal }, false);
		m++;
		if (__builtin_add_overflow(n->next, n->step, &n->next))
			n->ended = true;
	}
	n->ended |= m < CAT_BATCH;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}
