/* convert_within.c -- WITHIN GROUP (ORDER BY x): percentile_cont, percentile_disc and mode; rank
 * and its kin of a row that is not there.
 *
 * The first three become a function of an array: percentile_disc(f, array_agg(x ORDER BY x)
 * FILTER (WHERE x IS NOT NULL)). So f is an expression of the group, as it must be. The others
 * count the rows that would stand before the row that is not there. */
#include <sql/parse/convert.h>

#include <stdio.h>

struct within {
	struct sql_convert *c;
	int at;
	const char *name;
	struct ast_expr *x;      /* what is ordered by */
	struct ast_expr *v;      /* rank's argument */
	struct ast_expr *filter; /* NULL = none */
	struct ast_order order;
};

static struct ast_expr *
fail(struct sql_convert *c, const char *sqlstate, int at, const char *fmt, const char *name)
{
	char text[200];
	snprintf(text, sizeof text, fmt, name);
	cat_error(c->err, sqlstate, "%s", text);
	c->err->position = at + 1;
	return NULL;
}

static struct ast_expr *
number(struct within *w, int64_t i)
{
	struct ast_expr *e = sql_convert_node(w->c, AST_INT, w->at, 0);
	if (e != NULL)
		e->i = i;
	return e;
}

static struct ast_expr *
is_null(struct within *w, struct ast_expr *x, bool negate)
{
	struct ast_expr *e = sql_convert_1(w->c, AST_IS_NULL, w->at, x);
	if (e != NULL)
		e->negate = negate;
	return e;
}

static struct ast_expr *
cast(struct within *w, struct ast_expr *x, enum cat_type type, const char *name)
{
	struct ast_expr *e = sql_convert_1(w->c, AST_CAST, w->at, x);
	if (e != NULL) {
		e->type = type;
		e->typmod = -1;
		e->text = name;
	}
	return e;
}

static struct ast_expr *
both(struct within *w, struct ast_expr *a, struct ast_expr *b)
{
	return a == NULL || b == NULL ? NULL : sql_convert_2(w->c, AST_AND, w->at, a, b);
}

/* An aggregate of the rows that fulfil a condition, and the FILTER that was written. arg NULL:
 * count(*). */
static struct ast_expr *
aggregate(struct within *w, const char *name, struct ast_expr *arg, struct ast_expr *where, bool ordered)
{
	struct ast_expr *all = w->filter == NULL ? where
			       : where == NULL   ? w->filter
						 : both(w, w->filter, where);
	unsigned fargs = arg != NULL, n = fargs + ordered + (all != NULL);
	struct ast_expr *e = sql_convert_node(w->c, AST_FUNC, w->at, n);
	struct ast_agg *g = sql_convert_take(w->c, sizeof *g);
	if (e == NULL || g == NULL || (g->order = sql_convert_take(w->c, sizeof *g->order)) == NULL)
		return NULL;
	e->text = name;
	e->star = arg == NULL;
	if (arg != NULL)
		e->args[0] = arg;
	if (ordered) {
		g->order[0] = w->order;
		e->args[fargs] = w->x;
	}
	if (all != NULL)
		e->args[n - 1] = all;
	g->fargs = fargs;
	g->orders = ordered;
	g->filter = all != NULL;
	if (all != NULL || ordered)
		e->agg = g;
	return e;
}

/* ---- percentile_cont, percentile_disc, mode -------------------------------------------------- */

static struct ast_expr *
of_array(struct within *w, struct ast_expr *fraction)
{
	struct ast_expr *e = sql_convert_node(w->c, AST_FUNC, w->at, fraction ? 2 : 1);
	struct ast_expr *rows = aggregate(w, "array_agg", w->x, is_null(w, w->x, true), true);
	if (e == NULL || rows == NULL)
		return NULL;
	e->text = w->name;
	if (fraction != NULL)
		e->args[0] = fraction;
	e->args[e->nargs - 1] = rows;
	return e;
}

/* ---- rank, dense_rank, percent_rank, cume_dist
 * ------------------------------------------------- */

/* x stands before v in the order; or beside it. */
static struct ast_expr *
before(struct within *w, bool beside)
{
	struct sql_convert *c = w->c;
	const char *op = beside ? (w->order.desc ? ">=" : "<=") : w->order.desc ? ">" : "<";
	bool first = w->order.nulls_first;
	struct ast_expr *less = sql_convert_op(c, op, w->at, w->x, w->v);
	struct ast_expr *null = both(w, is_null(w, w->x, !first), is_null(w, w->v, first));
	struct ast_expr *e = less && null ? sql_convert_2(c, AST_OR, w->at, less, null) : NULL;
	struct ast_expr *nulls = beside ? both(w, is_null(w, w->x, false), is_null(w, w->v, false)) : NULL;
	return !beside ? e : e && nulls ? sql_convert_2(c, AST_OR, w->at, e, nulls) : NULL;
}

static struct ast_expr *
plus(struct within *w, struct ast_expr *a, struct ast_expr *b)
{
	return a && b ? sql_convert_op(w->c, "+", w->at, a, b) : NULL;
}

/* Distinct values before v; NULLs are one of them. */
static struct ast_expr *
dense(struct within *w)
{
	struct ast_expr *n = aggregate(w, "count", w->x, before(w, false), false);
	if (n == NULL)
		return NULL;
	n->distinct = true;
	if (!w->order.nulls_first)
		return plus(w, n, number(w, 1));
	struct ast_expr *null = both(w, is_null(w, w->x, false), is_null(w, w->v, true));
	struct ast_expr *some = null ? aggregate(w, "count", NULL, null, false) : NULL;
	struct ast_expr *one = sql_convert_node(w->c, AST_FUNC, w->at, 2);
	if (some == NULL || one == NULL)
		return NULL;
	one->text = "least";
	one->args[0] = some;
	one->args[1] = number(w, 1);
	return one->args[1] ? plus(w, plus(w, n, one), number(w, 1)) : NULL;
}

static struct ast_expr *
ratio(struct within *w, struct ast_expr *part, struct ast_expr *all)
{
	struct ast_expr *l = part ? cast(w, part, CAT_FLOAT8, NULL) : NULL;
	struct ast_expr *r = all ? cast(w, all, CAT_FLOAT8, NULL) : NULL;
	return l && r ? sql_convert_op(w->c, "/", w->at, l, r) : NULL;
}

static struct ast_expr *
percent(struct within *w)
{
	struct ast_expr *all = aggregate(w, "count", NULL, NULL, false);
	struct ast_expr *e = sql_convert_node(w->c, AST_CASE, w->at, 3);
	struct ast_expr *zero = number(w, 0);
	if (all == NULL || e == NULL || zero == NULL)
		return NULL;
	e->args[0] = sql_convert_op(w->c, "=", w->at, all, zero);
	e->args[1] = cast(w, zero, CAT_FLOAT8, NULL);
	e->args[2] = ratio(w, aggregate(w, "count", NULL, before(w, false), false), all);
	return e->args[0] && e->args[1] && e->args[2] ? e : NULL;
}

static struct ast_expr *
hypothetical(struct within *w)
{
	bool count = strcmp(w->name, "rank") == 0 || strcmp(w->name, "dense_rank") == 0;
	struct ast_expr *e;
	if (strcmp(w->name, "rank") == 0)
		e = plus(w, aggregate(w, "count", NULL, before(w, false), false), number(w, 1));
	else if (count)
		e = dense(w);
	else if (strcmp(w->name, "percent_rank") == 0)
		e = percent(w);
	else
		e = ratio(w, plus(w, aggregate(w, "count", NULL, before(w, true), false), number(w, 1)),
		    plus(w, aggregate(w, "count", NULL, NULL, false), number(w, 1)));
	/* v belongs to the group: here it is looked at outside of aggregates. */
	struct ast_expr *grouped = e ? sql_convert_node(w->c, AST_CASE, w->at, 3) : NULL;
	if (grouped == NULL || (grouped->args[0] = is_null(w, w->v, false)) == NULL)
		return NULL;
	grouped->args[1] = grouped->args[2] = e;
	return cast(w, grouped, count ? CAT_INT8 : CAT_FLOAT8, w->name);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct set {
	const char *name;
	unsigned args;
	bool array;
} sets[] = { { "percentile_cont", 1, true }, { "percentile_disc", 1, true }, { "mode", 0, true },
	{ "rank", 1, false }, { "dense_rank", 1, false }, { "percent_rank", 1, false },
	{ "cume_dist", 1, false } };

static const struct set *
find(const char *name)
{
	for (unsigned k = 0; k < sizeof sets / sizeof *sets; k++)
		if (strcmp(sets[k].name, name) == 0)
			return &sets[k];
	return NULL;
}

bool
sql_convert_may_be_plain(struct sql_convert *c, const char *name, size_t args, int location)
{
	const struct set *s = find(name);
	if (s != NULL && s->array && args != s->args + 1)
		return fail(c, "42883", location, "function %.63s with such arguments does not exist", name);
	return s == NULL || !s->array ||
	       fail(c, "42809", location, "WITHIN GROUP is required for ordered-set aggregate %.63s", name);
}

struct ast_expr *
sql_convert_within(struct sql_convert *c, const char *name, const PgQuery__FuncCall *f)
{
	const struct set *s = find(name);
	struct within w = { .c = c, .at = f->location };
	struct ast_expr **arg;
	unsigned n;
	if (s == NULL)
		return fail(c, "42883", w.at, "ordered-set aggregate %.63s does not exist", name);
	if (f->over != NULL)
		return fail(c, "0A000", w.at, "OVER is not supported for ordered-set aggregate %.63s", name);
	if (!s->array && f->n_args > 1 && f->n_args == f->n_agg_order) {
		sql_convert_no(c, "WITHIN GROUP (ORDER BY) of several columns is", w.at);
		return NULL;
	}
	if (f->n_args != s->args || f->n_agg_order != 1)
		return fail(c, "42883", w.at, "function %.63s with such arguments does not exist", name);
	if (!sql_convert_exprs(c, f->args, f->n_args, &arg, &n) ||
	    !sql_convert_order(c, f->agg_order, 1, &w.order) ||
	    (f->agg_filter != NULL && (w.filter = sql_convert_expr(c, f->agg_filter)) == NULL))
		return NULL;
	w.name = s->name;
	w.x = w.order.e;
	w.v = n > 0 ? arg[0] : NULL;
	return s->array ? of_array(&w, w.v) : hypothetical(&w);
}
