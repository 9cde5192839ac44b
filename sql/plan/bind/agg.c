/* agg.c -- aggregates out of expressions: each call becomes a column of the aggregation's
 * answer. */
#include <sql/compat/postgres.h>
#include <sql/expr/functions.h>
#include <sql/plan/bind/bind.h>

bool
sql_bind_same_agg(const struct ast_agg *x, const struct ast_agg *y)
{
	if (x == NULL || y == NULL)
		return x == y;
	if (x->fargs != y->fargs || x->orders != y->orders || x->filter != y->filter)
		return false;
	for (unsigned k = 0; k < x->orders; k++)
		if (x->order[k].desc != y->order[k].desc ||
		    x->order[k].nulls_first != y->order[k].nulls_first)
			return false;
	return true;
}

bool
sql_bind_no_function(struct bind *b, const struct ast_expr *e, struct sql_expr *const *arg, unsigned n)
{
	enum cat_type *type = sql_bind_take(b, (n + 1) * sizeof *type);
	if (type == NULL)
		return false;
	for (unsigned k = 0; k < n; k++)
		type[k] = arg[k]->type;
	return sql_no_function(b->err, e->text, type, n, false, e->position);
}

/* The item of FROM that is seen and has that name; b->from.tables: none. */
unsigned
sql_bind_row_of(const struct bind *b, const char *name)
{
	unsigned k = b->from.lo;
	while (k < b->from.hi && (b->from.table[k]->within || b->from.table[k]->joined ||
				     strcmp(b->from.table[k]->alias, name ? name : "") != 0))
		k++;
	return k < b->from.hi ? k : b->from.tables;
}

/* ---- arguments
 * ----------------------------------------------------------------------------------- */

static bool
text(struct bind *b, struct sql_expr **e)
{
	if ((*e)->type == CAT_UNKNOWN)
		*e = sql_expr_default_type(b->a, *e, b->err);
	else if ((*e)->type != CAT_TEXT)
		*e = sql_expr_cast(b->a, *e, CAT_TEXT, -1, (*e)->position, b->err);
	return *e != NULL;
}

/*
 * The untyped arguments of a call of that name. What PostgreSQL takes of any type stays a text, and
 * a parameter is none then.
 */
bool
sql_bind_settle(struct bind *b, const char *name, struct sql_expr **arg, unsigned n, int position)
{
	struct sql_expr **was = nam_arena_take(b->a, (n + 1) * sizeof *was);
	if (was == NULL)
		return cat_error(b->err, "53200", "out of memory");
	if (n > 0)
		memcpy(was, arg, n * sizeof *was);
	bool ok = sql_settle_func(b->a, name, arg, n, position, b->err);
	for (unsigned k = 0; k < n; k++)
		was[k]->vague |= was[k]->kind == SQL_PARAM && was[k]->type == CAT_UNKNOWN;
	sql_bind_learn_all(b, was, n);
	for (unsigned k = 0; ok && k < n; k++)
		if (was[k]->kind == SQL_PARAM && was[k]->domain != 0)
			ok = (arg[k] = sql_bind_of_domain(b, arg[k], was[k]->domain)) != NULL;
	return ok;
}

/* Both are bytes, or both become texts. */
static bool
strings(struct bind *b, const struct ast_expr *e, struct sql_expr **arg, unsigned n)
{
	bool bytes = n == 2 && arg[0]->type == CAT_BYTEA && arg[1]->type == CAT_BYTEA;
	for (unsigned k = 0; k < n && !bytes; k++)
		if (arg[k]->type != CAT_UNKNOWN && arg[k]->type != CAT_CHAR &&
		    cat_type_category(arg[k]->type) != 'S')
			return sql_bind_no_function(b, e, arg, n);
	if (n != 2)
		return sql_bind_no_function(b, e, arg, n);
	return bytes || (text(b, &arg[0]) && text(b, &arg[1]));
}

bool
sql_bind_agg_cast(
    struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind, struct sql_expr **arg, unsigned n)
{
	if (kind == SQL_STRING_AGG)
		return strings(b, e, arg, n);
	enum cat_type to = CAT_UNKNOWN;
	const struct sql_fn *fn;
	for (unsigned k = 0; sql_agg_is_pair(kind) && k < n; k++)
		if (n != 2 || !(arg[k]->type == CAT_FLOAT8 || arg[k]->type == CAT_UNKNOWN ||
				  sql_cast_find(arg[k]->type, CAT_FLOAT8, SQL_CAST_IMPLICIT, &fn)))
			return sql_bind_no_function(b, e, arg, n);
	if (n != 1)
		return true;
	if ((kind == SQL_SUM || kind == SQL_AVG) && arg[0]->type == CAT_TIME)
		to = CAT_INTERVAL;
	else if ((kind == SQL_MIN || kind == SQL_MAX) &&
		 (arg[0]->type == CAT_NAME || arg[0]->type == CAT_CHAR))
		to = CAT_TEXT;
	return to == CAT_UNKNOWN ||
	       (arg[0] = sql_expr_cast(b->a, arg[0], to, -1, arg[0]->position, b->err)) != NULL;
}

/* parts: the arguments out of which g->arg is made, if it is. */
static bool
arguments(struct bind *b, const struct ast_expr *e, struct sql_agg *g, struct sql_expr **arg, unsigned n,
    struct sql_expr **parts)
{
	if (e->star) {
		if (g->kind != SQL_COUNT)
			return sql_bind_no_function(b, e, arg, 0);
		g->kind = SQL_COUNT_STAR;
		return true;
	}
	bool pair = sql_agg_is_pair(g->kind);
	bool json = g->kind == SQL_JSON_AGG || g->kind == SQL_JSON_OBJECT_AGG;
	if (!sql_bind_settle(b, e->text, arg, n, e->position))
		return false;
	if (!sql_bind_agg_cast(b, e, g->kind, arg, n))
		return false;
	if (g->kind == SQL_STRING_AGG)
		g->separator = arg[1];
	else if (n != (g->kind == SQL_JSON_OBJECT_AGG || pair ? 2 : 1))
		return sql_bind_no_function(b, e, arg, n);
	for (unsigned k = 0; g->kind == SQL_JSON_OBJECT_AGG && e->distinct && k < n; k++)
		sql_bind_fix_param(b, arg[k], CAT_TEXT);
	if (json || pair) {
		struct sql_expr *row = pair ? sql_expr_pair_row(b->a, arg, e->position, b->err)
					    : sql_expr_json_row(b->a, g->kind, arg, e->position, b->err);
		if (row == NULL)
			return false;
		memcpy(parts, arg, n * sizeof *parts);
		arg[0] = row;
	}
	if (json && strncmp(e->text, "jsonb", 5) == 0)
		arg[0]->type = CAT_JSONB; /* what they make is put in order at the end */
	if (g->kind == SQL_ARRAY_AGG && arg[0]->type == CAT_UNKNOWN)
		return sql_agg_type(g->kind, CAT_UNKNOWN, &g->type, e->position, b->err);
	if ((g->kind == SQL_BOOL_AND || g->kind == SQL_BOOL_OR) && arg[0]->type == CAT_UNKNOWN)
		arg[0] = sql_expr_cast(b->a, arg[0], CAT_BOOL, -1, arg[0]->position, b->err);
	else
		arg[0] = sql_expr_default_type(b->a, arg[0], b->err);
	if ((g->arg = arg[0]) == NULL)
		return false;
	g->arg_type = g->arg->type;
	if (g->kind == SQL_ARRAY_AGG || cat_type_is_array(g->arg_type))
		g->typmod = cat_type_loose(g->arg_type, g->arg->typmod);
	if (sql_agg_type(g->kind, g->arg_type, &g->type, e->position, b->err))
		return true;
	/* it may have been called by another of its names */
	return strcmp(b->err->sqlstate, "42883") == 0 ? sql_bind_no_function(b, e, arg, 1) : false;
}

bool
sql_bind_filter(struct bind *b, const struct ast_expr *e, struct sql_expr **out)
{
	bool was = b->agg.filtering;
	b->agg.filtering = true;
	struct sql_expr *x = sql_bind_expr_as(b, e, CAT_BOOL);
	b->agg.filtering = was;
	if (x != NULL && x->type == CAT_UNKNOWN)
		x = sql_expr_cast(b->a, x, CAT_BOOL, -1, e->position, b->err);
	if ((*out = x) == NULL)
		return false;
	return x->type == CAT_BOOL ||
	       sql_bind_fail(b, e->position, "42804", "argument of FILTER must be type boolean, not type %s",
		   cat_type_name(x->type));
}

/* True if its result depends on the order of its rows, or on how often one comes. */
static bool
order_counts(const struct sql_agg *g)
{
	if (g->kind == SQL_COUNT || g->kind == SQL_COUNT_STAR || g->kind == SQL_MIN || g->kind == SQL_MAX)
		return false;
	return g->kind == SQL_STRING_AGG || g->kind == SQL_ARRAY_AGG || g->kind == SQL_JSON_AGG ||
	       g->kind == SQL_JSON_OBJECT_AGG || sql_agg_is_pair(g->kind) || cat_type_is_float(g->arg_type);
}

static bool
number_counts(const struct sql_agg *g)
{
	return g->kind != SQL_MIN && g->kind != SQL_MAX && g->kind != SQL_BOOL_AND &&
	       g->kind != SQL_BOOL_OR && g->kind != SQL_BIT_AND && g->kind != SQL_BIT_OR;
}

/* What to keep and how to sort it: the group, what ORDER BY says, then with DISTINCT the arguments.
 * parts: as arguments' has them. */
static bool
later(struct bind *b, const struct ast_expr *e, struct sql_agg *g, struct sql_expr *const *parts)
{
	unsigned fargs = e->agg ? e->agg->fargs : e->nargs, orders = e->agg ? e->agg->orders : 0;
	/* what these aggregates keep is made of their arguments already */
	bool made = g->kind == SQL_JSON_AGG || g->kind == SQL_JSON_OBJECT_AGG || sql_agg_is_pair(g->kind);
	unsigned room = 1 + fargs + orders, own = made ? 1 : 0; /* columns before the arguments */
	g->col = sql_bind_take(b, room * sizeof *g->col);
	g->key = sql_bind_take(b, (1 + room) * sizeof *g->key);
	g->types = sql_bind_take(b, (1 + room) * sizeof *g->types);
	if (g->col == NULL || g->key == NULL || g->types == NULL)
		return false;
	g->col[g->cols++] = g->arg;
	if (g->separator != NULL)
		g->col[g->cols++] = g->separator;
	for (unsigned k = 0; made && e->distinct && k < fargs; k++)
		g->col[g->cols++] = parts[k];
	unsigned args = g->cols;
	g->key[g->keys++] = (struct sql_sort_key){ 0 };
	for (unsigned k = 0; k < orders; k++) {
		const struct ast_expr *o = e->args[fargs + k];
		unsigned col = made && !e->distinct ? fargs : 0;
		while (col < fargs && !sql_bind_same(b, e->args[col], o))
			col++;
		if (col == fargs) {
			if (e->distinct)
				return sql_bind_fail(b, o->position, "42P10",
				    "in an aggregate with DISTINCT, ORDER BY expressions must appear in "
				    "argument list");
			struct sql_expr *x = sql_bind_expr_as(b, o, CAT_TEXT);
			if (x == NULL || (x = sql_expr_default_type(b->a, x, b->err)) == NULL)
				return false;
			col = g->cols;
			g->col[g->cols++] = x;
		} else {
			col += own;
		}
		g->key[g->keys++] = (struct sql_sort_key){ .col = col + 1,
			.desc = e->agg->order[k].desc,
			.nulls_first = e->agg->order[k].nulls_first };
	}
	for (unsigned c = own; e->distinct && c < args; c++)
		if (!sql_bind_ordered(b, g->col[c]->type, "equality", e->position))
			return false;
	g->distinct = e->distinct && number_counts(g);
	for (unsigned c = own + 1; g->distinct && c <= args; c++) {
		bool there = false;
		for (unsigned k = 1; k < g->keys; k++)
			there |= g->key[k].col == c;
		if (!there)
			g->key[g->keys++] = (struct sql_sort_key){ .col = c };
	}
	g->types[0] = CAT_INT8;
	for (unsigned c = 0; c < g->cols; c++)
		g->types[c + 1] = g->col[c]->type;
	g->later = g->distinct || (orders > 0 && order_counts(g));
	return true;
}

/*
 * count(t.*): a row is NULL only where an outer join has none, and there its primary key is.
 * Without outer joins no row is.
 */
static struct sql_expr *
whole_row(struct bind *b, const struct ast_expr *star, const struct sql_agg *g, bool distinct)
{
	unsigned k = sql_bind_row_of(b, star->qual);
	if (star->qual != NULL && k == b->from.tables) {
		sql_bind_fail(
		    b, star->position, "42P01", "missing FROM-clause entry for table \"%s\"", star->qual);
		return NULL;
	}
	bool keyed = k < b->from.tables && b->from.table[k]->tab->keys > 0;
	if (star->qual == NULL || g->kind != SQL_COUNT || distinct || (b->joins.outers > 0 && !keyed)) {
		sql_bind_fail(b, star->position, "0A000", "whole-row references are not supported yet");
		return NULL;
	}
	struct cat_datum one = { .type = CAT_INT4, .v.i = 1 };
	if (b->joins.outers == 0)
		return sql_expr_const(b->a, one, star->position);
	const struct ast_expr *key = sql_bind_ast_column(b, k, b->from.table[k]->tab->key[0], star->position);
	return key ? sql_bind_expr(b, key) : NULL;
}

static bool
call(struct bind *b, const struct ast_expr *e, struct sql_agg *g)
{
	unsigned n = e->agg ? e->agg->fargs : e->nargs;
	struct sql_expr **arg = sql_bind_take(b, n * sizeof *arg);
	struct sql_expr **parts = sql_bind_take(b, n * sizeof *parts);
	if (arg == NULL || parts == NULL)
		return false;
	for (unsigned k = 0; k < n; k++)
		if ((arg[k] = e->args[k]->kind == AST_STAR ? whole_row(b, e->args[k], g, e->distinct)
							   : sql_bind_expr(b, e->args[k])) == NULL)
			return false;
	/* FILTER comes before the arguments get their types */
	if (e->agg != NULL && e->agg->filter && !sql_bind_filter(b, e->args[e->nargs - 1], &g->filter))
		return false;
	return arguments(b, e, g, arg, n, parts) &&
	       (g->arg == NULL || (!e->distinct && (e->agg == NULL || e->agg->orders == 0)) ||
		   later(b, e, g, parts));
}

/* What a call may not have in its arguments is told when they are bound: other mistakes of theirs
 * come first. */
static bool
nothing_is_nested(struct bind *b)
{
	const struct ast_expr *nested = b->agg.nested, *windowed = b->agg.windowed;
	if (nested != NULL)
		return sql_bind_fail(
		    b, nested->position, "42803", "aggregate function calls cannot be nested");
	return windowed == NULL || sql_bind_fail(b, windowed->position, "42803",
				       "aggregate function calls cannot contain window function calls");
}

/* A mistake in an argument is told before that of the place where the call stands. */
static bool
arguments_are_valid(struct bind *b, const struct ast_expr *e)
{
	b->agg.inside = true;
	b->agg.nested = b->agg.windowed = NULL;
	bool ok = true;
	for (unsigned k = 0; k < e->nargs && ok; k++)
		ok = e->args[k]->kind == AST_STAR || sql_bind_expr(b, e->args[k]) != NULL;
	b->agg.inside = false;
	return ok && nothing_is_nested(b);
}

static bool
not_allowed(struct bind *b, const struct ast_expr *e)
{
	return sql_bind_fail(b, e->position, "42803", "aggregate functions are not allowed in %s",
	    b->agg.filtering ? "FILTER"
	    : b->agg.not_in  ? b->agg.not_in
			     : "this place");
}

/* A call in the arguments of another one. Returns something of its type. */
static struct sql_expr *
in_a_call(struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind)
{
	struct sql_agg g = { .kind = kind, .type = CAT_INT8, .typmod = -1, .ast = e };
	const struct ast_expr *nested = b->agg.nested, *windowed = b->agg.windowed;
	b->agg.nested = b->agg.windowed = NULL;
	if (!call(b, e, &g) || !nothing_is_nested(b))
		return NULL;
	if (b->agg.filtering || !b->agg.grouped) {
		not_allowed(b, e);
		return NULL;
	}
	b->agg.nested = nested ? nested : e;
	b->agg.windowed = windowed;
	struct cat_datum none = { .type = g.type, .null = true, .v.s = { "", 0 } };
	return sql_expr_const(b->a, none, e->position);
}

struct sql_expr *
sql_bind_aggregate(struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind)
{
	if (sql_bind_is_outside(b, e))
		return sql_bind_outer(b, e);
	if (b->agg.inside)
		return in_a_call(b, e, kind);
	/* filtering: the rows of a window function */
	if (!b->agg.grouped || b->agg.filtering) {
		if (arguments_are_valid(b, e))
			not_allowed(b, e);
		return NULL;
	}
	for (unsigned k = 0; k < b->agg.calls; k++)
		if (sql_bind_same(b, b->agg.call[k].ast, e))
			return sql_expr_column(
			    b->a, b->agg.groups + k, b->agg.call[k].type, b->agg.call[k].typmod, e->position);
	struct sql_agg g = { .kind = kind, .type = CAT_INT8, .typmod = -1, .ast = e };
	b->agg.inside = true;
	b->agg.nested = b->agg.windowed = NULL;
	bool ok = call(b, e, &g) && nothing_is_nested(b);
	b->agg.inside = false;
	if (!ok)
		return NULL;
	if (b->agg.calls == b->agg.call_cap) {
		unsigned cap = b->agg.call_cap ? b->agg.call_cap * 2 : 8;
		struct sql_agg *more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return NULL;
		if (b->agg.calls)
			memcpy(more, b->agg.call, b->agg.calls * sizeof *more);
		b->agg.call = more;
		b->agg.call_cap = cap;
	}
	b->agg.call[b->agg.calls++] = g;
	return sql_expr_column(b->a, b->agg.groups + b->agg.calls - 1, g.type, g.typmod, e->position);
}
