/*
 * prune_columns.c -- columns that no operator above needs are neither computed nor read below:
 * columns of queries in FROM, views and WITH that the query around them does not use, also
 * aggregates.
 *
 * From the top down, operator by operator; columns keep their numbers. NULL replaces an expression,
 * and an aggregate that only counts replaces an aggregate. Operators that keep or pass rows as a
 * whole need all columns.
 */
#include <sql/plan/plan_internal.h>
#include <sql/plan/sub.h>

/* An operator's columns that are read; NULL = all. */
struct asked {
	uint8_t *of;
	unsigned n;
};

static const struct asked everything;

static bool
is_asked(const struct asked *a, unsigned column)
{
	return a->of == NULL || column >= a->n || a->of[column] != 0;
}

static bool
begin(struct bind *b, struct asked *a, unsigned n)
{
	a->n = n;
	return (a->of = sql_bind_take(b, n)) != NULL;
}

static void
ask(struct asked *a, const struct sql_expr *e)
{
	if (e == NULL)
		return;
	if (e->kind == SQL_COLUMN && e->index < a->n)
		a->of[e->index] = 1;
	for (unsigned k = 0; k < e->nargs; k++)
		ask(a, e->args[k]);
}

static void
ask_all(struct asked *a, struct sql_expr *const *e, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		ask(a, e[k]);
}

static bool visit(struct bind *b, struct sql_node *n, const struct asked *by);

static bool
project(struct bind *b, struct sql_op_project *n, const struct asked *by)
{
	struct asked below;
	struct sql_expr **e = sql_bind_take(b, n->es * sizeof *e);
	if (e == NULL || !begin(b, &below, n->node.child->out.cols))
		return false;
	for (unsigned i = 0; i < n->es; i++) {
		e[i] = n->e[i];
		if (!is_asked(by, i) && !sql_expr_volatile(e[i])) {
			struct cat_datum none = { .type = e[i]->type, .null = true };
			if ((e[i] = sql_expr_const(b->a, none, e[i]->position)) == NULL)
				return cat_error(b->err, "53200", "out of memory");
		}
	}
	n->e = e;
	ask_all(&below, e, n->es);
	return visit(b, n->node.child, &below);
}

static bool
aggregate(struct bind *b, struct sql_op_agg *n, const struct asked *by)
{
	struct asked below, here = *by;
	if (!begin(b, &below, n->node.child->out.cols))
		return false;
	if (by->of != NULL && n->aggs > 0) {
		if (!begin(b, &here, n->keys + n->aggs))
			return false;
		for (unsigned i = 0; i < here.n; i++)
			here.of[i] = is_asked(by, i);
		ask(&here, n->node.filter);
		if ((n->agg = nam_arena_copy(b->a, n->agg, n->aggs * sizeof *n->agg)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	}
	ask_all(&below, n->key, n->keys);
	for (unsigned k = 0; k < n->aggs; k++) {
		struct sql_agg *g = &n->agg[k];
		if (!is_asked(&here, n->keys + k))
			*g = (struct sql_agg){ .kind = SQL_COUNT_STAR, .type = CAT_INT8, .ast = g->ast };
		ask(&below, g->arg);
		ask(&below, g->separator);
		ask(&below, g->filter);
		ask_all(&below, g->col, g->cols);
	}
	return visit(b, n->node.child, &below);
}

/* A table's columns, or those of a query, that come out of n. */
static void
only(struct sql_access *a, const struct asked *by)
{
	unsigned m = 0;
	for (unsigned k = 0; k < a->wants; k++)
		if (is_asked(by, a->base + a->want[k]))
			a->want[m++] = a->want[k];
	a->wants = m;
}

/* What an operator reads itself besides its filter. */
static void
ask_kind(struct asked *a, const struct sql_node *n)
{
	switch (n->kind) {
	case SQL_NODE_GET:
		ask_all(a, sql_op(get, n)->key, sql_op(get, n)->keys);
		break;
	case SQL_NODE_INDEX:
		for (unsigned k = 0; n->child != NULL && k < sql_op(index, n)->part[0].keys; k++)
			ask(a, sql_op(index, n)->part[0].key[k].value[0]);
		break;
	case SQL_NODE_JOIN:
		ask(a, sql_op(join, n)->on);
		ask_all(a, sql_op(join, n)->key, sql_op(join, n)->keys);
		ask_all(a, sql_op(join, n)->build_key, sql_op(join, n)->keys);
		break;
	case SQL_NODE_SEMI:
		ask(a, sql_op(semi, n)->each); /* over all that its keys are over */
		break;
	case SQL_NODE_SORT:
		for (unsigned k = 0; k < sql_op(sort, n)->orders; k++)
			a->of[sql_op(sort, n)->order[k].col] = 1;
		break;
	case SQL_NODE_UNIQUE:
		for (unsigned k = 0; k < sql_op(unique, n)->cols; k++)
			a->of[sql_op(unique, n)->col[k]] = 1;
		break;
	case SQL_NODE_LIMIT:
		for (unsigned k = 0; k < sql_op(limit, n)->tied; k++)
			a->of[sql_op(limit, n)->tie[k]] = 1;
		break;
	default:
		break;
	}
}

/* n's columns have the same numbers below. */
static bool
same(struct bind *b, const struct sql_node *n, const struct asked *by, struct asked *below)
{
	if (by->of == NULL) {
		*below = everything;
		return true;
	}
	unsigned cols = n->out.cols;
	if (n->kind == SQL_NODE_SORT && sql_op(sort, n)->cols > cols)
		cols = sql_op(sort, n)->cols;
	if (n->kind == SQL_NODE_LOCK && sql_op(lock, n)->cols > cols)
		cols = sql_op(lock, n)->cols;
	if (n->child != NULL && n->child->out.cols > cols)
		cols = n->child->out.cols;
	if (!begin(b, below, cols))
		return false;
	for (unsigned i = 0; i < cols; i++)
		below->of[i] = i < by->n && by->of[i];
	ask(below, n->filter);
	ask_kind(below, n);
	return true;
}

static bool
derived(struct bind *b, struct sql_op_derived *n, const struct asked *by)
{
	struct asked here, below;
	if (!same(b, &n->node, by, &here))
		return false;
	only(&n->acc, &here);
	if (!begin(b, &below, n->node.child->out.cols))
		return false;
	for (unsigned k = 0; k < n->acc.wants; k++)
		below.of[n->acc.want[k]] = 1;
	return visit(b, n->node.child, &below);
}

static bool
visit(struct bind *b, struct sql_node *n, const struct asked *by)
{
	struct asked below = everything;
	if (n == NULL)
		return true;
	if (n->whole)
		by = &everything;
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next)
		if (!visit(b, c->plan, &everything))
			return false;
	switch (n->kind) {
	case SQL_NODE_PROJECT:
		return project(b, sql_op(project, n), by);
	case SQL_NODE_AGG:
		return aggregate(b, sql_op(agg, n), by);
	case SQL_NODE_DERIVED:
		return derived(b, sql_op(derived, n), by);
	case SQL_NODE_SCAN:
	case SQL_NODE_GET:
	case SQL_NODE_INDEX:
		if (!same(b, n, by, &below))
			return false;
		only(sql_node_access(n), &below);
		break;
	case SQL_NODE_SEMI:
		return same(b, n, by, &below) && visit(b, n->child, &below) &&
		       visit(b, n->build, &everything);
	case SQL_NODE_JOIN:
	case SQL_NODE_SORT:
	case SQL_NODE_LIMIT:
	case SQL_NODE_UNIQUE:
	case SQL_NODE_APPEND:
		if (!same(b, n, by, &below))
			return false;
		break;
	default:
		break;
	}
	struct sql_node **k;
	for (struct sql_inputs i = sql_sources(n); (k = sql_input_next(&i)) != NULL;)
		if (!visit(b, *k, &below))
			return false;
	return true;
}

bool
sql_plan_prune_columns(struct bind *b, struct sql_plan *p)
{
	bool ok = visit(b, p->root, &everything);
	for (struct sql_sub *s = p->subs; ok && s != NULL; s = s->next) {
		/* EXISTS asks whether there is a row, not what is in it */
		struct asked by = everything;
		if (s->kind == AST_SUB_EXISTS && !begin(b, &by, s->root->out.cols))
			return false;
		ok = visit(b, s->root, &by) && visit(b, s->set, &everything);
	}
	return ok;
}
