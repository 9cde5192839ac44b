/* select.c -- the operators above FROM and WHERE: groups, windows, projection, DISTINCT, order,
 * limits. */
#include <sql/plan/bind/bind.h>
#include <sql/plan/cost.h>
#include <sql/plan/selectivity.h>

#include <math.h>

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

enum { MANY = 1000 /* rows of a sort: others are not counted by its keys */, ENDS_MAX = 8 };

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

/* LIMIT and OFFSET as a guess of the rows that are read. A program that gives them by parameters
 * asks for a page. */
static double
rows_read(double rows, const struct sql_expr *limit, const struct sql_expr *offset)
{
	enum { UNKNOWN_SHARE = 10, PAGE = 100 };
	const struct sql_expr *e[2] = { limit, offset };
	double n = 0;
	if (limit == NULL)
		return 0;
	for (unsigned i = 0; i < 2; i++)
		if (e[i] != NULL && (e[i]->kind != SQL_CONST || e[i]->value.null))
			n += fmin(rows / UNKNOWN_SHARE, PAGE);
		else if (e[i] != NULL && e[i]->value.v.i > 0)
			n += (double)e[i]->value.v.i;
	return n < 1 ? 1 : n;
}

/* True if FROM is a table with indexes, and nothing changes the order of its rows. */
static bool
keeps_order(const struct bind *b)
{
	const struct bind_query *w = b->answer.query;
	if (b->from.tables != 1 || b->win.all != NULL || (b->srf.all != NULL && b->srf.all->sets > 0) ||
	    w->q->distinct)
		return false;
	const struct bind_table *t = b->from.table[0];
	return t->sub == NULL && t->from == NULL && t->lateral == NULL && t->tab->indexes > 0;
}

static bool
is_column(const struct bind *b, const struct sql_expr *e)
{
	const struct bind_table *t = b->from.table[0];
	return e->kind == SQL_COLUMN && e->index - t->base < t->tab->columns &&
	       t->tab->column[e->index - t->base].type == e->type;
}

/* ORDER BY, as a wish that an index may fulfil. */
static bool
wish_order(struct bind *b)
{
	const struct bind_query *w = b->answer.query;
	struct bind_wish *wish = &b->wish;
	if (!keeps_order(b) || b->agg.grouped || w->keys == 0)
		return true;
	wish->column = sql_bind_take(b, w->keys * sizeof *wish->column);
	wish->desc = sql_bind_take(b, w->keys * sizeof *wish->desc);
	wish->nulls_first = sql_bind_take(b, w->keys * sizeof *wish->nulls_first);
	if (wish->column == NULL || wish->desc == NULL || wish->nulls_first == NULL)
		return false;
	for (unsigned i = 0; i < w->keys; i++) {
		const struct sql_expr *e = w->o.e[w->key[i].col];
		if (!is_column(b, e))
			return true;
		wish->column[i] = e->index;
		wish->desc[i] = w->key[i].desc;
		wish->nulls_first[i] = w->key[i].nulls_first;
	}
	wish->rows = w->ons > 0 ? 0 : rows_read(sql_sel_rows(b, 0), w->limit, w->offset);
	wish->stops = w->limit != NULL && w->ons == 0 && b->from.rows_at == 0 && !w->q->ties;
	wish->columns = w->keys;
	return true;
}

/*
 * MINs and MAXs of columns: each of them needs the first row in an order. end[0..returned): one of
 * each. 0: the query asks for more, or for too many.
 */
static unsigned
ends_of(const struct bind *b, const struct sql_agg **end)
{
	unsigned ends = 0;
	if (!keeps_order(b) || !b->agg.grouped || b->agg.groups != 0 || b->agg.gsets != 0 ||
	    b->from.rows_at != 0)
		return 0;
	for (unsigned i = 0; i < b->agg.calls; i++) {
		const struct sql_agg *g = &b->agg.call[i];
		if ((g->kind != SQL_MIN && g->kind != SQL_MAX) || g->filter != NULL || g->arg == NULL ||
		    !is_column(b, g->arg))
			return 0;
		unsigned k = 0;
		while (k < ends && (end[k]->kind != g->kind || end[k]->arg->index != g->arg->index))
			k++;
		if (k == ENDS_MAX)
			return 0;
		if (k == ends)
			end[ends++] = g;
	}
	return ends;
}

static bool
wish_end(struct bind *b, const struct sql_agg *g)
{
	struct bind_wish *wish = &b->wish;
	wish->column = sql_bind_take(b, sizeof *wish->column);
	wish->desc = sql_bind_take(b, sizeof *wish->desc);
	wish->nulls_first = sql_bind_take(b, sizeof *wish->nulls_first);
	if (wish->column == NULL || wish->desc == NULL || wish->nulls_first == NULL)
		return false;
	wish->column[0] = g->arg->index;
	wish->desc[0] = g->kind == SQL_MAX;
	wish->not_null = true;
	wish->rows = 1;
	wish->columns = 1;
	return true;
}

/* True if n brings the rows as wished. */
static bool
granted(const struct bind *b, const struct sql_node *n)
{
	return b->wish.columns > 0 && n->kind == SQL_NODE_INDEX && sql_op(index, n)->ordered;
}

/* The first row of n. */
static struct sql_node *
first_of(struct bind *b, struct sql_node *n)
{
	struct cat_datum one = { .type = CAT_INT8, .v.i = 1 };
	struct sql_op_limit *m = sql_new_limit(b, n, n->out.cols);
	if (m == NULL || (m->most.limit = sql_expr_const(b->a, one, 0)) == NULL)
		return NULL;
	m->node.est_rows = 1;
	return &m->node;
}

/* True if an index has each end's column, and WHERE may be planned once for each of them. */
static bool
may_plan_ends(const struct bind *b, const struct sql_agg *const *end, unsigned ends)
{
	const struct bind_table *t = b->from.table[0];
	for (unsigned i = 0; i < b->where.conds; i++)
		if (sql_expr_has_sub(b->where.cond[i].e) || sql_expr_volatile(b->where.cond[i].e))
			return false;
	for (unsigned i = 0; i < ends; i++) {
		bool has = false;
		for (unsigned x = 0; x < t->tab->indexes && !has; x++)
			for (unsigned k = 0; k < t->tab->index[x].keys && !has; k++)
				has = t->tab->index[x].key[k].column == end[i]->arg->index - t->base;
		if (!has)
			return false;
	}
	return !b->in->in_pieces;
}

/*
 * Several ends, all by indexes: the first row of each order, one after the other. The aggregates
 * over these rows are those over all rows. *out NULL: a scan costs less, or is the only way.
 */
static bool
plan_ends(struct bind *b, const struct sql_agg *const *end, unsigned ends, struct sql_node **out)
{
	const struct sql_costs *c = b->in->costs ? b->in->costs : &sql_costs_standard;
	struct sql_op_append *a = NULL;
	unsigned arenas = b->plan->arenas;
	double cost = 0, scan = 0;
	*out = NULL;
	if (!may_plan_ends(b, end, ends))
		return true;
	if ((a = sql_new_append(b, NULL, b->from.width)) == NULL ||
	    (a->kid = sql_bind_take(b, ends * sizeof *a->kid)) == NULL)
		return false;
	bool all = true;
	for (; all && a->kids < ends; a->kids++) {
		struct sql_node *n;
		for (unsigned i = 0; i < b->where.conds; i++)
			b->where.cond[i].used = b->where.cond[i].pushed;
		if (!wish_end(b, end[a->kids]) || (n = sql_plan_from(b)) == NULL)
			return false;
		if (!(all = granted(b, n)))
			break;
		const struct sql_op_index *o = sql_op(index, n);
		cost += sql_cost_index(c, o->acc.tab, o->est_found, o->acc.wants);
		scan = sql_cost_scan(c, o->acc.tab, sql_sel_rows(b, 0), o->acc.wants);
		if ((a->kid[a->kids] = first_of(b, n)) == NULL)
			return false;
	}
	a->node.est_rows = ends;
	if (all && cost < scan) {
		*out = &a->node;
		return true;
	}
	for (unsigned i = 0; i < b->where.conds; i++)
		b->where.cond[i].used = b->where.cond[i].pushed;
	b->plan->arenas = arenas;
	b->wish = (struct bind_wish){ 0 };
	return true;
}

/* The rows of FROM and WHERE; of MINs and MAXs that indexes give, those alone that have them. */
static struct sql_node *
rows_of(struct bind *b)
{
	const struct sql_agg *end[ENDS_MAX];
	unsigned ends = ends_of(b, end);
	struct sql_node *n = NULL;
	if (ends > 1 && (!plan_ends(b, end, ends, &n) || n != NULL))
		return n;
	if (!wish_order(b) || (ends == 1 && !wish_end(b, end[0])) || (n = sql_plan_from(b)) == NULL)
		return NULL;
	return granted(b, n) && b->wish.not_null ? first_of(b, n) : n;
}

struct sql_node *
sql_plan_select(struct bind *b)
{
	const struct bind_query *w = b->answer.query;
	const struct ast_select *q = w->q;
	const struct bind_out *o = &w->o;
	struct sql_node *n;
	struct sql_op_project *below = NULL;
	bool sets_last = false, in_order = false;
	unsigned presorted = 0;
	if (w->set != NULL) {
		if ((n = sql_plan_set(b, w->set)) == NULL)
			return NULL;
	} else if (w->source != NULL) {
		n = w->source;
	} else {
		if ((n = rows_of(b)) == NULL)
			return NULL;
		in_order = granted(b, n) && !b->wish.not_null;
		presorted = n->kind == SQL_NODE_INDEX ? sql_op(index, n)->presorted : 0;
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
	if (w->keys > 0 && !in_order) {
		unsigned cols = sets_last ? below->es : o->n;
		struct sql_expr **e = sets_last ? below->e : o->e;
		struct sql_op_sort *s = sql_new_sort(b, n, cols);
		if (s == NULL || (s->type = types_of(b, e, cols)) == NULL)
			return NULL;
		s->cols = cols;
		s->order = w->key;
		s->orders = w->keys;
		s->presorted = presorted;
		if (w->ons == 0 && b->from.rows_at == 0 && !q->ties)
			s->most = (struct sql_limits){ w->limit, w->offset };
		s->node.est_rows = s->most.limit ? limited(n->est_rows, w->limit, NULL) : n->est_rows;
		if (w->set == NULL && w->source == NULL && !b->agg.grouped && n->est_rows > MANY)
			s->est_values = sql_sel_groups(b, &e[w->key[0].col], 1, n->est_rows);
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
