/* select.c -- the operators above FROM and WHERE: groups, windows, projection, DISTINCT, order,
 * limits. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/selectivity.h>

static struct sql_node *
aggregated(struct bind *b, struct sql_node *child, struct sql_expr *having)
{
	/* Only the group keys that are used above are wanted, but all are compared. */
	struct sql_op_agg *n = sql_new_agg(b, child, b->agg.groups + b->agg.calls);
	if (n == NULL)
		return NULL;
	n->key = b->agg.key;
	n->keys = b->agg.groups;
	n->agg = b->agg.call;
	n->aggs = b->agg.calls;
	n->node.filter = having;
	n->node.est_rows = sql_sel_groups(b, b->agg.key, b->agg.groups, child->est_rows);
	return &n->node;
}

static struct sql_node *
distinct(struct bind *b, struct sql_node *child, const struct bind_out *o)
{
	struct sql_op_agg *n = sql_new_agg(b, child, o->n);
	if (n == NULL || (n->key = sql_bind_take(b, o->n * sizeof *n->key)) == NULL)
		return NULL;
	for (unsigned i = 0; i < o->n; i++)
		if ((n->key[i] = sql_expr_column(b->a, i, o->e[i]->type, o->e[i]->typmod, 0)) == NULL)
			return NULL;
	n->keys = o->n;
	n->node.est_rows = b->agg.grouped || b->from.tables == 0
			       ? child->est_rows / 4 + 1
			       : sql_sel_groups(b, o->e, o->n, child->est_rows);
	return &n->node;
}

/* Rows that LIMIT and OFFSET leave, when they are constants. */
static double
limited(double rows, const struct sql_expr *limit, const struct sql_expr *offset)
{
	if (offset != NULL && offset->kind == SQL_CONST && !offset->value.null && offset->value.v.i > 0)
		rows -= (double)offset->value.v.i;
	if (limit != NULL && limit->kind == SQL_CONST && !limit->value.null &&
	    rows > (double)limit->value.v.i)
		rows = (double)limit->value.v.i;
	return rows > 1 ? rows : 1;
}

/*
 * True if an expression must be computed for each row, as nextval. Then it must not see more rows
 * than a LIMIT lets out. (It does see rows that an OFFSET skips, as in PostgreSQL.)
 */
static bool
counts_rows(const struct sql_node *n)
{
	const struct sql_op_project *p = n->kind == SQL_NODE_PROJECT ? sql_op(project, n) : NULL;
	for (unsigned i = 0; p != NULL && i < p->es; i++)
		if (sql_expr_volatile(p->e[i]))
			return true;
	return false;
}

/*
 * With DISTINCT ON and ORDER BY, rows of sets come out of the rows that are left; unless the
 * order asks for them.
 */
static bool
sets_are_last(const struct bind *b)
{
	const struct bind_query *w = b->answer.query;
	if (b->srf.all == NULL || b->srf.all->sets == 0 || w->ons == 0 || w->q->orders == 0)
		return false;
	for (unsigned k = 0; k < w->keys; k++)
		if (sql_bind_srf_in(b, w->o.e[w->key[k].col]))
			return false;
	return true;
}

static enum cat_type *
types_of(struct bind *b, struct sql_expr *const *e, unsigned n)
{
	enum cat_type *type = sql_bind_take(b, n * sizeof *type);
	for (unsigned i = 0; type != NULL && i < n; i++)
		type[i] = e[i]->type;
	return type;
}

struct sql_node *
sql_plan_select(struct bind *b)
{
	const struct bind_query *w = b->answer.query;
	const struct ast_select *q = w->q;
	const struct bind_out *o = &w->o;
	struct sql_node *n;
	struct sql_op_project *below = NULL;
	bool sets_last = false;
	if (w->set != NULL) {
		if ((n = sql_plan_set(b, w->set)) == NULL)
			return NULL;
	} else if (w->source != NULL) {
		n = w->source;
	} else {
		if ((n = sql_plan_from(b)) == NULL)
			return NULL;
		if (b->agg.grouped &&
		    ((n = sql_bind_gset_node(b, n)) == NULL || (n = aggregated(b, n, w->having)) == NULL))
			return NULL;
		if ((n = sql_bind_window_node(b, n)) == NULL)
			return NULL;
		struct sql_node *p = sql_plan_project(b, n, o->e, o->n);
		if (p == NULL)
			return NULL;
		sets_last = sets_are_last(b);
		below = sql_op(project, p);
		if (!sql_bind_srf_arrays(b, below) || (n = sets_last ? p : sql_bind_srf_node(b, p)) == NULL)
			return NULL;
	}
	if (q->distinct && (n = distinct(b, n, o)) == NULL)
		return NULL;
	if (w->keys > 0) {
		unsigned cols = sets_last ? below->es : o->n;
		struct sql_op_sort *s = sql_new_sort(b, n, cols);
		if (s == NULL || (s->type = types_of(b, sets_last ? below->e : o->e, cols)) == NULL)
			return NULL;
		s->cols = cols;
		s->order = w->key;
		s->orders = w->keys;
		if (w->ons == 0 && b->from.rows_at == 0 && !q->ties)
			s->most = (struct sql_limits){ w->limit, w->offset };
		s->node.est_rows = s->most.limit ? limited(n->est_rows, w->limit, NULL) : n->est_rows;
		n = &s->node;
	}
	if (w->ons > 0) {
		struct sql_op_unique *u = sql_new_unique(b, n, n->out.cols);
		if (u == NULL || (u->type = sql_bind_take(b, w->ons * sizeof *u->type)) == NULL)
			return NULL;
		u->col = w->on;
		u->cols = w->ons;
		for (unsigned i = 0; i < w->ons; i++)
			u->type[i] = o->e[w->on[i]]->type;
		u->node.est_rows = n->est_rows / 4 + 1;
		n = &u->node;
	}
	if (sets_last && (n = sql_bind_srf_node(b, n)) == NULL)
		return NULL;
	if (b->from.rows_at != 0) {
		/* Only rows that come out are locked, and all of them before the first does. */
		struct sql_op_lock *l = sql_bind_lock_node(b, q, n, w->rows_at);
		if (l == NULL || (l->type = types_of(b, o->e, o->n)) == NULL)
			return NULL;
		l->cols = o->n;
		l->most = (struct sql_limits){ w->limit, w->offset };
		n = &l->node;
	} else if (w->limit != NULL || w->offset != NULL) {
		struct sql_node *above = w->offset == NULL && counts_rows(n) ? n : NULL,
				*from = above != NULL ? n->child : n;
		struct sql_op_limit *m = sql_new_limit(b, from, from->out.cols);
		if (m == NULL)
			return NULL;
		m->most = (struct sql_limits){ w->limit, w->offset };
		if ((m->ties = q->ties) && (m->tie = sql_bind_take(b, w->keys * sizeof *m->tie)) == NULL)
			return NULL;
		for (; m->ties && m->tied < w->keys; m->tied++)
			m->tie[m->tied] = w->key[m->tied].col;
		m->node.est_rows = limited(n->est_rows, w->limit, w->offset);
		if (above != NULL) {
			above->child = &m->node;
			above->est_rows = m->node.est_rows;
		} else {
			n = &m->node;
		}
	}
	if (w->shown < n->out.cols)
		n->out.cols = w->shown; /* hidden sort keys stay behind */
	if (b->around.unnest && w->source == NULL && w->set == NULL && !sql_bind_sub_set(b, q, o->e, w->l.n))
		return NULL;
	return sql_bind_with_done(b, q->with, n) ? n : NULL;
}
