/* from.c -- FROM items that are no tables of the catalog. */
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>

int
sql_derived_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_access *a = &sql_op(derived, n)->acc;
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

bool
sql_with_begin(struct sql_exec *x, struct sql_cte *c)
{
	if (c->run == NULL && (c->run = nam_arena_take(x->plan_arena, sizeof *c->run)) == NULL)
		return false;
	c->run->rs = NULL;
	return true;
}

/* Runs the query of WITH, and keeps its rows for all its readers. */
static bool
fill(struct sql_exec *x, struct sql_cte *c)
{
	struct nam_arena *keep = x->arena[c->arena];
	nam_arena_reset(keep);
	const struct cat_vec **col = nam_arena_take(keep, (c->columns + 1) * sizeof *col);
	struct sql_rowset *rs = sql_rowset_open(keep, c->type, c->columns);
	if (col == NULL || rs == NULL || !sql_with_begin(x, c))
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
	c->run->rs = rs;
	return rows == 0;
}

int
sql_cte_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_cte *o = sql_op(cte, n);
	struct sql_run_cte *r = o->run;
	struct sql_cte *c = o->cte;
	if ((c->run == NULL || c->run->rs == NULL) && !fill(x, c))
		return -1;
	if (r->at >= c->run->rs->rows)
		return 0;
	unsigned m = c->run->rs->rows - r->at < CAT_BATCH ? c->run->rs->rows - r->at : CAT_BATCH;
	for (unsigned k = 0; k < c->columns; k++)
		n->out.col[k] = c->run->rs->chunk[r->at / CAT_BATCH][k];
	r->at += m;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}

static bool
series_open(struct sql_exec *x, const struct sql_op_series *s)
{
	struct sql_run_series *r = s->run;
	int64_t v[3] = { 0, 0, 1 };
	x->env.arena = x->arena[s->node.arena];
	for (unsigned k = 0; k < s->es; k++) {
		struct cat_datum d;
		if (!sql_eval_one(s->e[k], &x->env, &d))
			return false;
		if (d.null)
			r->ended = true;
		v[k] = d.v.i;
	}
	r->next = v[0];
	r->stop = v[1];
	r->step = v[2];
	r->ordinal = 0;
	r->opened = true;
	return r->ended || r->step != 0 || cat_error(x->err, "22023", "step size cannot equal zero");
}

int
sql_series_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_series *s = sql_op(series, n);
	struct sql_run_series *r = s->run;
	struct nam_arena *batch = x->arena[n->arena];
	if (!cat_type_is_int(s->type))
		return sql_series_more(x, s);
	nam_arena_reset(batch);
	if (!r->opened && !series_open(x, s))
		return -1;
	if (r->ended || !sql_go_on(x))
		return r->ended ? 0 : -1;
	if (!cat_vec_take(&n->out.col[0], s->type, CAT_BATCH, batch) ||
	    (n->out.cols > 1 && !cat_vec_take(&n->out.col[1], CAT_INT8, CAT_BATCH, batch))) {
		sql_no_memory(x->err);
		return -1;
	}
	unsigned m = 0;
	while (m < CAT_BATCH && !r->ended && (r->step > 0 ? r->next <= r->stop : r->next >= r->stop)) {
		cat_vec_set(&n->out.col[0], m, (union cat_val){ .i = r->next }, false);
		if (n->out.cols > 1)
			cat_vec_set(&n->out.col[1], m, (union cat_val){ .i = (int64_t)++r->ordinal }, false);
		m++;
		if (__builtin_add_overflow(r->next, r->step, &r->next))
			r->ended = true;
	}
	r->ended |= m < CAT_BATCH;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}
