/* agg.c -- aggregates out of expressions: each call becomes a column of the aggregation's
 * answer. */
#include <sql/compat/postgres.h>
#include <sql/plan/bind/bind.h>

/* As bind.c: trees share what they repeat. */
enum { NODES_LOOK = 1500000 };

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

/* An aggregate over columns of an outer query would be that query's. True if it is one; *b->err
 * says so. */
static bool
outside_only(struct bind *b, struct sql_expr *const *arg, unsigned n)
{
	bool outer = false;
	for (unsigned k = 0; k < n; k++) {
		if (arg[k]->rows)
			return false;
		outer |= sql_bind_speaks_of_outer(arg[k]);
	}
	if (outer)
		sql_bind_fail(b, arg[0]->position, "0A000",
		    "aggregates over columns of an outer query are not supported yet");
	return outer;
}

/* ---- whose it is
 * ------------------------------------------------------------------------------ */

/*
 * An aggregate is that of the nearest query whose columns it uses; one without columns is
 * that of the query it stands
 * in. A query must know that it is grouped before its subqueries are bound, so these are looked
 * through by name.
 */
struct inside {
	const struct ast_select *q;
	const struct inside *out;
};

/*
 * True if the query in FROM, or its first branch, has a column of that name behind its first
 * `skip`, or if that is not known.
 */
static bool
query_has(const struct ast_select *q, unsigned skip, const char *name)
{
	while (q->sets > 0)
		q = q->set[0].q;
	if (q->rows > 0)
		return strncmp(name, "column", 6) == 0;
	for (unsigned i = 0; i < q->targets; i++) {
		const struct ast_expr *e = q->target[i].e;
		const char *own = q->target[i].name ? q->target[i].name : e->text;
		if (e->kind == AST_STAR || (i >= skip && (own == NULL || strcmp(own, name) == 0)))
			return true;
	}
	return false;
}

static bool
item_has(struct bind *b, const struct ast_table *t, const char *name)
{
	for (unsigned i = 0; i < t->renames; i++)
		if (strcmp(t->rename[i], name) == 0)
			return true;
	if (t->func != NULL)
		return strcmp(name, "ordinality") == 0 ||
		       (t->renames == 0 && (strcmp(name, t->alias) == 0 || strcmp(name, t->func->text) == 0));
	if (t->sub != NULL)
		return query_has(t->sub, t->renames, name);
	const struct cat_table *tab;
	struct cat_err keep = *b->err;
	bool known = sql_bind_lookup(b, t, &tab);
	*b->err = keep;
	for (const struct bind *x = b; x != NULL; x = x->around.up)
		for (const struct bind_cte *c = x->nest.cte; c != NULL; c = c->next)
			if (strcmp(c->name, t->name) == 0)
				return true;
	if (!known || tab == NULL)
		return true;
	for (unsigned c = t->renames; c < tab->columns; c++)
		if (strcmp(tab->column[c].name, name) == 0)
			return true;
	return false;
}

/* True if the table's name is one of a WITH of these queries. */
static bool
is_with(const struct inside *in, const char *name)
{
	for (; in != NULL && name != NULL; in = in->out)
		for (unsigned k = 0; in->q->with != NULL && k < in->q->with->n; k++)
			if (strcmp(in->q->with->cte[k].name, name) == 0)
				return true;
	return false;
}

/* True if the column may be one of these queries, of which the last is the innermost. */
static bool
may_have(struct bind *b, const struct inside *in, const struct ast_expr *col)
{
	for (; in != NULL; in = in->out) {
		const struct ast_select *q = in->q;
		for (unsigned k = 0; col->qual != NULL && k < q->joins; k++) {
			const struct ast_join *j = &q->join[k];
			if ((j->alias && strcmp(j->alias, col->qual) == 0) ||
			    (j->using_alias && strcmp(j->using_alias, col->qual) == 0))
				return true;
		}
		for (unsigned k = 0; k < q->tables; k++)
			if (col->qual != NULL
				? strcmp(q->table[k].alias, col->qual) == 0
				: is_with(in, q->table[k].name) || item_has(b, &q->table[k], col->text))
				return true;
	}
	return false;
}

/* The table that t.* names; b->from.tables: none. */
static unsigned
row_of(const struct bind *b, const struct ast_expr *star)
{
	unsigned k = b->from.lo;
	while (k < b->from.hi && (b->from.table[k]->within || b->from.table[k]->joined ||
				     strcmp(b->from.table[k]->alias, star->qual ? star->qual : "") != 0))
		k++;
	return k < b->from.hi ? k : b->from.tables;
}

static bool
is_mine(struct bind *b, const struct ast_expr *col)
{
	unsigned t, c;
	if (col->kind == AST_STAR)
		return row_of(b, col) < b->from.tables;
	struct cat_err keep = *b->err;
	bool mine = sql_bind_locate(b, col, &t, &c);
	*b->err = keep;
	return mine;
}

/*
 * Columns in e that are b's, and columns of queries inside of b. What a subquery says counts as
 * the latter.
 */
static void
look(struct bind *b, const struct inside *in, const struct ast_expr *e, bool *mine, bool *inner)
{
	b->nest.nodes++;
	bool column = e->kind == AST_COLUMN || (e->kind == AST_STAR && e->qual != NULL);
	if (e->kind == AST_SUB)
		*inner = true;
	else if (column && in != NULL && may_have(b, in, e))
		*inner = true;
	else if (column && is_mine(b, e))
		*mine = true;
	for (unsigned i = 0; i < e->nargs && !*inner && b->nest.nodes < NODES_LOOK; i++)
		look(b, in, e->args[i], mine, inner);
}

/*
 * True if e, an aggregate in b's own text, uses columns, and all of them belong to outer queries of
 * b.
 */
static bool
of_outside(struct bind *b, const struct ast_expr *e)
{
	bool mine = false, inner = false;
	look(b, NULL, e, &mine, &inner);
	if (mine || inner || b->around.up == NULL)
		return false;
	for (struct bind *x = b->around.up; x != NULL && !mine; x = x->around.up)
		look(x, NULL, e, &mine, &inner);
	return mine;
}

static bool select_has(struct bind *b, const struct ast_select *q, const struct inside *out);

static bool
expr_has(struct bind *b, const struct inside *in, const struct ast_expr *e)
{
	enum sql_agg_kind k;
	bool mine = false, inner = false;
	if (e == NULL || ++b->nest.nodes > NODES_LOOK)
		return false;
	if (e->kind == AST_SUB && select_has(b, e->select, in))
		return true;
	if (e->kind == AST_FUNC && sql_agg_find(e->text, &k)) {
		look(b, in, e, &mine, &inner);
		if (mine && !inner)
			return true;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		if (expr_has(b, in, e->args[i]))
			return true;
	return false;
}

static bool
select_has(struct bind *b, const struct ast_select *q, const struct inside *out)
{
	const struct inside in = { q, out };
	bool has = false;
	for (unsigned i = 0; i < q->sets && !has; i++)
		has = select_has(b, q->set[i].q, out);
	for (unsigned i = 0; i < q->targets && !has; i++)
		has = expr_has(b, &in, q->target[i].e);
	for (unsigned i = 0; i < q->orders && !has; i++)
		has = expr_has(b, &in, q->order[i].e);
	for (unsigned i = 0; i < q->tables && !has; i++)
		has = q->table[i].sub != NULL && select_has(b, q->table[i].sub, &in);
	for (unsigned i = 0; i < q->rows * q->cols && !has; i++)
		has = expr_has(b, &in, q->values[i]);
	return has || expr_has(b, &in, q->where) || expr_has(b, &in, q->having);
}

bool
sql_bind_has_agg(struct bind *b, const struct ast_expr *e)
{
	enum sql_agg_kind k;
	if (e == NULL || ++b->nest.nodes > NODES_LOOK)
		return false;
	if (e->kind == AST_FUNC && (e->star || sql_agg_find(e->text, &k)) && !of_outside(b, e))
		return true;
	if (e->kind == AST_FUNC && strcmp(e->text, "grouping") == 0)
		return true;
	if (e->kind == AST_SUB && select_has(b, e->select, NULL))
		return true;
	for (unsigned i = 0; i < e->nargs; i++)
		if (sql_bind_has_agg(b, e->args[i]))
			return true;
	return false;
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

static bool
arguments(struct bind *b, const struct ast_expr *e, struct sql_agg *g, struct sql_expr **arg, unsigned n)
{
	if (e->star) {
		if (g->kind != SQL_COUNT)
			return sql_bind_no_function(b, e, arg, 0);
		g->kind = SQL_COUNT_STAR;
		return true;
	}
	bool strings = g->kind == SQL_STRING_AGG;
	bool json = g->kind == SQL_JSON_AGG || g->kind == SQL_JSON_OBJECT_AGG;
	for (unsigned k = 0; k < n; k++) {
		sql_bind_fix_param(b, arg[k],
		    g->kind == SQL_COUNT || strings || json             ? CAT_TEXT
		    : g->kind == SQL_BOOL_AND || g->kind == SQL_BOOL_OR ? CAT_BOOL
									: CAT_UNKNOWN);
		if (!sql_bind_param_known(b, arg[k]))
			return false;
	}
	if (strings) {
		for (unsigned k = 0; k < n; k++)
			if (arg[k]->type != CAT_UNKNOWN && cat_type_category(arg[k]->type) != 'S')
				return sql_bind_no_function(b, e, arg, n);
		if (n != 2)
			return sql_bind_no_function(b, e, arg, n);
		if (!text(b, &arg[0]) || !text(b, &arg[1]))
			return false;
		g->separator = arg[1];
	} else if (n != (g->kind == SQL_JSON_OBJECT_AGG ? 2 : 1)) {
		return sql_bind_no_function(b, e, arg, n);
	}
	if (json && e->distinct)
		return sql_bind_fail(b, e->position, "0A000", "DISTINCT of %s is not supported yet", e->text);
	if (json && (arg[0] = sql_expr_json_row(b->a, g->kind, arg, e->position, b->err)) == NULL)
		return false;
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

static bool
filter(struct bind *b, const struct ast_expr *e, struct sql_agg *g)
{
	if (sql_bind_has_agg(b, e))
		return sql_bind_fail(
		    b, e->position, "42803", "aggregate functions are not allowed in FILTER");
	g->filter = sql_bind_expr_as(b, e, CAT_BOOL);
	if (g->filter != NULL && g->filter->type == CAT_UNKNOWN)
		g->filter = sql_expr_cast(b->a, g->filter, CAT_BOOL, -1, e->position, b->err);
	if (g->filter == NULL)
		return false;
	return g->filter->type == CAT_BOOL ||
	       sql_bind_fail(b, e->position, "42804", "argument of FILTER must be type boolean, not type %s",
		   cat_type_name(g->filter->type));
}

/* True if its result depends on the order of its rows, or on how often one comes. */
static bool
order_counts(const struct sql_agg *g)
{
	if (g->kind == SQL_COUNT || g->kind == SQL_COUNT_STAR || g->kind == SQL_MIN || g->kind == SQL_MAX)
		return false;
	return g->kind == SQL_STRING_AGG || g->kind == SQL_ARRAY_AGG || g->kind == SQL_JSON_AGG ||
	       g->kind == SQL_JSON_OBJECT_AGG || cat_type_is_float(g->arg_type);
}

static bool
number_counts(const struct sql_agg *g)
{
	return g->kind != SQL_MIN && g->kind != SQL_MAX && g->kind != SQL_BOOL_AND &&
	       g->kind != SQL_BOOL_OR && g->kind != SQL_BIT_AND && g->kind != SQL_BIT_OR;
}

/* What to keep and how to sort it: the group, what ORDER BY says, then with DISTINCT the
 * arguments. */
static bool
later(struct bind *b, const struct ast_expr *e, struct sql_agg *g)
{
	unsigned fargs = e->agg ? e->agg->fargs : e->nargs, orders = e->agg ? e->agg->orders : 0;
	unsigned args = g->separator ? 2 : 1;
	g->col = sql_bind_take(b, (args + orders) * sizeof *g->col);
	g->key = sql_bind_take(b, (1 + args + orders) * sizeof *g->key);
	g->types = sql_bind_take(b, (1 + args + orders) * sizeof *g->types);
	if (g->col == NULL || g->key == NULL || g->types == NULL)
		return false;
	g->col[g->cols++] = g->arg;
	if (g->separator != NULL)
		g->col[g->cols++] = g->separator;
	g->key[g->keys++] = (struct sql_sort_key){ 0 };
	for (unsigned k = 0; k < orders; k++) {
		const struct ast_expr *o = e->args[fargs + k];
		/* what json aggregates keep is made of their arguments already */
		bool made = g->kind == SQL_JSON_AGG || g->kind == SQL_JSON_OBJECT_AGG;
		unsigned col = made ? fargs : 0;
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
		}
		g->key[g->keys++] = (struct sql_sort_key){ .col = col + 1,
			.desc = e->agg->order[k].desc,
			.nulls_first = e->agg->order[k].nulls_first };
	}
	if (e->distinct && !sql_bind_ordered(b, g->arg->type, "equality", e->position))
		return false;
	g->distinct = e->distinct && number_counts(g);
	for (unsigned c = 1; g->distinct && c <= args; c++) {
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
	unsigned k = row_of(b, star);
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
	if (arg == NULL)
		return false;
	for (unsigned k = 0; k < n; k++)
		if ((arg[k] = e->args[k]->kind == AST_STAR ? whole_row(b, e->args[k], g, e->distinct)
							   : sql_bind_expr(b, e->args[k])) == NULL)
			return false;
	if (b->around.up != NULL && outside_only(b, arg, n))
		return false;
	if (!arguments(b, e, g, arg, n))
		return false;
	if (g->arg != NULL && (e->distinct || (e->agg && e->agg->orders > 0)) && !later(b, e, g))
		return false;
	return e->agg == NULL || !e->agg->filter || filter(b, e->args[e->nargs - 1], g);
}

struct sql_expr *
sql_bind_aggregate(struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind)
{
	if (b->agg.inside) {
		sql_bind_fail(b, e->position, "42803", "aggregate function calls cannot be nested");
		return NULL;
	}
	if (b->around.up != NULL && of_outside(b, e))
		return sql_bind_outer(b, e);
	if (!b->agg.grouped && b->around.asked && b->agg.not_in != NULL &&
	    strcmp(b->agg.not_in, "the select list") == 0) {
		sql_bind_fail(b, e->position, "0A000",
		    "aggregates over columns of this outer query are not supported yet");
		return NULL;
	}
	if (!b->agg.grouped) {
		sql_bind_fail(b, e->position, "42803", "aggregate functions are not allowed in %s",
		    b->agg.not_in ? b->agg.not_in : "this place");
		return NULL;
	}
	for (unsigned k = 0; k < b->agg.calls; k++)
		if (sql_bind_same(b, b->agg.call[k].ast, e))
			return sql_expr_column(
			    b->a, b->agg.groups + k, b->agg.call[k].type, b->agg.call[k].typmod, e->position);
	struct sql_agg g = { .kind = kind, .type = CAT_INT8, .typmod = -1, .ast = e };
	b->agg.inside = true;
	bool ok = call(b, e, &g);
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
