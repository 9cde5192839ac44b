/* from.c -- FROM items that are no tables of the catalog: queries in parentheses,
 * generate_series. */
#include <sql/plan/bind/bind.h>

#include <stdio.h>

enum { LEVELS_MAX = 120 };

struct bind *
sql_bind_child(struct bind *b, int position)
{
	if (b->nest.level + 1 >= LEVELS_MAX) {
		sql_bind_fail(b, position, "54001", "stack depth limit exceeded");
		return NULL;
	}
	struct bind *child = sql_bind_take(b, sizeof *child);
	if (child == NULL)
		return NULL;
	child->a = b->a;
	child->err = b->err;
	child->in = b->in;
	child->plan = b->plan;
	child->scratch = b->scratch;
	child->where.asked_left = b->where.asked_left;
	child->nest.level = b->nest.level + 1;
	child->nest.cte = b->nest.cte;
	/* it sees what b's query sees outside of itself */
	child->around.up = b->around.up;
	child->around.sub = b->around.sub;
	child->around.level = b->around.level;
	return child;
}

/* Nested queries are executed by recursion, wherever they were written. So their height also has a
 * limit. */
bool
sql_bind_deeper(struct bind *b, unsigned deep, int position)
{
	if (deep + 1 > b->nest.deep)
		b->nest.deep = deep + 1;
	return b->nest.deep < LEVELS_MAX || sql_bind_fail(b, position, "54001", "stack depth limit exceeded");
}

bool
sql_bind_child_query(struct bind *b, struct bind *child, const struct ast_select *q)
{
	child->nest.nodes = b->nest.nodes;
	bool ok = sql_bind_select_begin(child, q) && sql_bind_select_rest(child, true);
	b->nest.nodes = child->nest.nodes;
	return ok && sql_bind_deeper(b, child->nest.deep, 0);
}

struct sql_node *
sql_plan_child(struct bind *b, struct bind *child)
{
	child->nest.nodes = b->nest.nodes;
	struct sql_node *n = sql_plan_select(child);
	b->nest.nodes = child->nest.nodes;
	return n != NULL && sql_bind_deeper(b, child->nest.deep, 0) ? n : NULL;
}

struct sql_node *
sql_bind_child_select(struct bind *b, struct bind *child, const struct ast_select *q)
{
	return sql_bind_child_query(b, child, q) ? sql_plan_child(b, child) : NULL;
}

/* LATERAL has its operators at once, for what it needs of the tables before it belongs to them. */
static bool
lateral(struct bind *b, const struct ast_table *t)
{
	struct sql_sub *s;
	unsigned from = b->plan->arenas;
	struct bind *child = sql_bind_lateral_child(b, t->position, &s);
	struct sql_node *n = child ? sql_bind_child_select(b, child, t->sub) : NULL;
	if (n == NULL || !sql_bind_add_source(b, t, n, child->answer.column, child->answer.columns))
		return false;
	b->from.table[b->from.tables - 1]->from = child;
	return sql_bind_lateral_done(b, s, n, from);
}

bool
sql_bind_add_derived(struct bind *b, const struct ast_table *t)
{
	if (t->lateral)
		return lateral(b, t);
	struct bind *child = sql_bind_child(b, t->position);
	if (child == NULL)
		return false;
	sql_bind_may_flatten(b, child, t->sub);
	return sql_bind_child_query(b, child, t->sub) && sql_bind_add_query(b, t, child);
}

/* What it is a series of: the first of these that an end of it is. */
static enum cat_type
series_type(struct sql_expr *const *e, unsigned n)
{
	static const struct {
		enum cat_type has, is;
	} types[] = { { CAT_TIMESTAMPTZ, CAT_TIMESTAMPTZ }, { CAT_TIMESTAMP, CAT_TIMESTAMP },
		{ CAT_DATE, CAT_TIMESTAMPTZ }, { CAT_NUMERIC, CAT_NUMERIC }, { CAT_INT8, CAT_INT8 } };
	for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
		for (unsigned i = 0; i < n; i++)
			if (e[i]->type == types[k].has)
				return types[k].is;
	return CAT_INT4;
}

bool
sql_bind_series(struct bind *b, const struct ast_expr *f, struct sql_expr **e, enum cat_type *type)
{
	for (unsigned i = 0; i < f->nargs; i++)
		if ((e[i] = sql_bind_expr(b, f->args[i])) == NULL)
			return false;
	if (!sql_bind_settle(b, f->text, e, f->nargs, f->position))
		return false;
	bool ok = f->nargs == 2 || f->nargs == 3;
	*type = series_type(e, f->nargs);
	bool times = *type == CAT_TIMESTAMP || *type == CAT_TIMESTAMPTZ;
	for (unsigned i = 0; ok && i < f->nargs; i++) {
		enum cat_type t = e[i]->type;
		if (times)
			ok = f->nargs == 3 &&
			     (t == CAT_UNKNOWN ||
				 (i == 2 ? t == CAT_INTERVAL
					 : t == CAT_DATE || t == CAT_TIMESTAMP || t == *type));
		else
			ok = cat_type_is_int(t) || t == CAT_UNKNOWN || t == *type;
	}
	if (!ok)
		return sql_bind_no_function(b, f, e, f->nargs);
	for (unsigned i = 0; i < f->nargs; i++) {
		enum cat_type to = times && i == 2 ? CAT_INTERVAL : *type;
		if (e[i]->type != to &&
		    (e[i] = sql_expr_cast(b->a, e[i], to, -1, f->position, b->err)) == NULL)
			return false;
	}
	return true;
}

static struct sql_node *
series(struct bind *b, const struct ast_expr *f, unsigned cols, enum cat_type *out)
{
	enum cat_type type;
	struct sql_op_series *n = sql_new_series(b, NULL, cols);
	if (n == NULL || (n->e = sql_bind_take(b, (f->nargs + 1) * sizeof *n->e)) == NULL)
		return NULL;
	b->agg.not_in = "functions in FROM";
	if (!sql_bind_series(b, f, n->e, &type))
		return NULL;
	n->es = f->nargs;
	n->type = type;
	n->node.est_rows = 1000;
	if (cat_type_is_int(type) && n->e[0]->kind == SQL_CONST && n->e[1]->kind == SQL_CONST &&
	    f->nargs == 2) {
		n->node.est_rows = (double)n->e[1]->value.v.i - (double)n->e[0]->value.v.i + 1;
		n->node.est_rows = n->node.est_rows < 1 ? 1 : n->node.est_rows;
	}
	*out = type;
	return &n->node;
}

bool
sql_bind_add_function(struct bind *b, const struct ast_table *t)
{
	struct sql_sub *s;
	unsigned from = b->plan->arenas;
	struct bind *in = sql_bind_lateral_child(b, t->position, &s);
	if (in == NULL)
		return false;
	in->nest.nodes = b->nest.nodes;
	bool numbers = strcmp(t->func->text, "generate_series") == 0;
	enum cat_type one, *type = &one;
	int32_t none = -1, *typmod = &none;
	struct sql_node *n = numbers ? series(in, t->func, t->ordinality ? 2 : 1, &one)
				     : sql_bind_srf_source(in, t->func, t->ordinality, &type, &typmod);
	b->nest.nodes = in->nest.nodes;
	if (n == NULL)
		return false;
	unsigned cols = n->out.cols, own = cols - t->ordinality;
	struct sql_column *col = sql_bind_take(b, cols * sizeof *col);
	if (col == NULL)
		return false;
	for (unsigned k = 0; k < cols; k++) {
		bool alias = own == 1 && strcmp(t->alias, t->name) != 0;
		const char *named = sql_set_function(t->func->text)->column;
		col[k].type = k < own ? type[k] : CAT_INT8;
		col[k].typmod = k < own ? typmod[k] : -1;
		snprintf(col[k].name, sizeof col[k].name, "%s",
		    k == own ? "ordinality"
		    : named  ? named
		    : alias  ? t->alias
			     : t->func->text);
	}
	return sql_bind_add_source(b, t, n, col, cols) && sql_bind_lateral_done(b, s, n, from);
}
