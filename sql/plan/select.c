/* select.c -- the operators above FROM and WHERE: groups, windows, projection, DISTINCT, order, limits. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/selectivity.h>

static struct sql_node *
aggregated(struct bind *b, struct sql_node *child, struct sql_expr *having)
{
	/* Only the group keys somebody uses above are wanted, but all are compared. */
	struct sql_node *n = sql_plan_node(b, SQL_NODE_AGG, child, b->groups + b->aggs);
	if (n == NULL)
		return NULL;
	n->key = b->group_key;
	n->keys = b->groups;
	n->agg = b->agg;
	n->aggs = b->aggs;
	n->filter = having;
	n->est_rows = sql_sel_groups(b, b->group_key, b->groups, child->est_rows);
	return n;
}

static struct sql_node *
distinct(struct bind *b, struct sql_node *child, const struct bind_out *o)
{
	struct sql_node *n = sql_plan_node(b, SQL_NODE_AGG, child, o->n);
	if (n == NULL || (n->key = sql_bind_take(b, o->n * sizeof *n->key)) == NULL)
		return NULL;
	for (unsigned i = 0; i < o->n; i++)
		if ((n->key[i] = sql_expr_column(b->a, i, o->e[i]->type, o->e[i]->typmod, 0)) == NULL)
			return NULL;
	n->keys = o->n;
	n->est_rows = b->grouped || b->tables == 0 ? child->est_rows / 4 + 1
						   : sql_sel_groups(b, o->e, o->n, child->est_rows);
	return n;
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
 * It computes something anew for each row it sees, as nextval does: it had better see no more than a LIMIT lets out. (What an
 * OFFSET leaves out it sees, as in PostgreSQL.)
 */
static bool
counts_rows(const struct sql_node *n)
{
	for (unsigned i = 0; n->kind == SQL_NODE_PROJECT && i < n->es; i++)
		if (sql_expr_volatile(n->e[i]))
			return true;
	return false;
}

/* With DISTINCT ON and ORDER BY, rows of sets come out of the rows that are left; unless the order asks for them. */
static bool
sets_are_last(const struct bind *b)
{
	const struct bind_query *w = b->query;
	if (b->srfs == NULL || b->srfs->sets == 0 || w->ons == 0 || w->q->orders == 0)
		return false;
	for (unsigned k = 0; k < w->keys; k++)
		if (sql_bind_srf_in(b, w->o.e[w->key[k].col]))
			return false;
	return true;
}

struct sql_node *
sql_plan_select(struct bind *b)
{
	const struct bind_query *w = b->query;
	const struct ast_select *q = w->q;
	const struct bind_out *o = &w->o;
	struct sql_node *n, *below = NULL;
	bool sets_last = false;
	if (w->set != NULL) {
		if ((n = sql_plan_set(b, w->set)) == NULL)
			return NULL;
	} else if (w->source != NULL) {
		n = w->source;
	} else {
		if ((n = sql_plan_from(b)) == NULL)
			return NULL;
		if (b->grouped &&
		    ((n = sql_bind_gset_node(b, n)) == NULL || (n = aggregated(b, n, w->having)) == NULL))
			return NULL;
		if ((n = sql_bind_window_node(b, n)) == NULL)
			return NULL;
		struct sql_node *p = sql_plan_node(b, SQL_NODE_PROJECT, n, o->n);
		if (p == NULL)
			return NULL;
		p->e = o->e;
		p->es = o->n;
		p->est_rows = n->est_rows;
		sets_last = sets_are_last(b);
		below = p;
		if (!sql_bind_srf_arrays(b, p) || (n = sets_last ? p : sql_bind_srf_node(b, p)) == NULL)
			return NULL;
	}
	if (q->distinct && (n = distinct(b, n, o)) == NULL)
		return NULL;
	if (w->keys > 0) {
		unsigned cols = sets_last ? below->es : o->n;
		struct sql_node *s = sql_plan_node(b, SQL_NODE_SORT, n, cols);
		if (s == NULL || (s->types = sql_bind_take(b, cols * sizeof *s->types)) == NULL)
			return NULL;
		for (unsigned i = 0; i < cols; i++)
			s->types[i] = sets_last ? below->e[i]->type : o->e[i]->type;
		s->width = cols;
		s->order = w->key;
		s->orders = w->keys;
		s->limit = w->ons || b->lock_from || q->ties ? NULL : w->limit;
		s->offset = w->ons || b->lock_from || q->ties ? NULL : w->offset;
		s->est_rows = s->limit ? limited(n->est_rows, w->limit, NULL) : n->est_rows;
		n = s;
	}
	if (w->ons > 0) {
		struct sql_node *u = sql_plan_node(b, SQL_NODE_UNIQUE, n, n->out.cols);
		if (u == NULL || (u->types = sql_bind_take(b, w->ons * sizeof *u->types)) == NULL)
			return NULL;
		u->pass = w->on;
		u->passes = w->ons;
		for (unsigned i = 0; i < w->ons; i++)
			u->types[i] = o->e[w->on[i]]->type;
		u->est_rows = n->est_rows / 4 + 1;
		n = u;
	}
	if (sets_last && (n = sql_bind_srf_node(b, n)) == NULL)
		return NULL;
	if (b->lock_from != 0) {
		/* Only rows that come out are locked, and all of them before the first does. */
		if ((n = sql_bind_lock_node(b, q, n, w->rows_at)) == NULL ||
		    (n->types = sql_bind_take(b, o->n * sizeof *n->types)) == NULL)
			return NULL;
		for (unsigned i = 0; i < o->n; i++)
			n->types[i] = o->e[i]->type;
		n->width = o->n;
		n->limit = w->limit;
		n->offset = w->offset;
	} else if (w->limit != NULL || w->offset != NULL) {
		struct sql_node *above = w->offset == NULL && counts_rows(n) ? n : NULL,
				*from = above != NULL ? n->child : n;
		struct sql_node *m = sql_plan_node(b, SQL_NODE_LIMIT, from, from->out.cols);
		if (m == NULL)
			return NULL;
		m->limit = w->limit;
		m->offset = w->offset;
		if ((m->ties = q->ties) &&
		    ((m->pass = sql_bind_take(b, w->keys * sizeof *m->pass)) == NULL ||
			(m->held = sql_bind_take(b, w->keys * sizeof *m->held)) == NULL))
			return NULL;
		for (; m->ties && m->passes < w->keys; m->passes++)
			m->pass[m->passes] = w->key[m->passes].col;
		m->est_rows = limited(n->est_rows, w->limit, w->offset);
		if (above != NULL) {
			above->child = m;
			above->est_rows = m->est_rows;
		} else {
			n = m;
		}
	}
	if (w->shown < n->out.cols)
		n->out.cols = w->shown; /* hidden sort keys stay behind */
	if (b->unnest && w->source == NULL && w->set == NULL && !sql_bind_sub_set(b, q, o->e, w->l.n))
		return NULL;
	return sql_bind_with_done(b, q->with, n) ? n : NULL;
}
