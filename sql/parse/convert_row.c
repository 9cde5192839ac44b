/* convert_row.c -- rows of values that are compared: (a, b) < (c, d), IN, IS NULL, IS DISTINCT
 * FROM.
 *
 * A row exists only within such a comparison, which becomes one of its parts: (a, b) = (c, d) is
 * a = c AND b = d, and (a, b) < (c, d) is a <= c AND (a < c OR (a = c AND b < d)). The first of
 * these conditions adds nothing to the others but a bound that an index can use. */
#include <sql/parse/convert.h>

#include <stdio.h>

struct ast_expr *
sql_convert_1(struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a)
{
	struct ast_expr *e = a ? sql_convert_node(c, kind, location, 1) : NULL;
	if (e != NULL)
		e->args[0] = a;
	return e;
}

struct ast_expr *
sql_convert_2(struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a, struct ast_expr *b)
{
	struct ast_expr *e = a && b ? sql_convert_node(c, kind, location, 2) : NULL;
	if (e != NULL) {
		e->args[0] = a;
		e->args[1] = b;
	}
	return e;
}

struct ast_expr *
sql_convert_op(struct sql_convert *c, const char *op, int location, struct ast_expr *a, struct ast_expr *b)
{
	struct ast_expr *e = sql_convert_2(c, AST_OP, location, a, b);
	if (e != NULL)
		e->text = op;
	return e;
}

static struct ast_expr *
fail(struct sql_convert *c, const char *sqlstate, int at, const char *text)
{
	cat_error(c->err, sqlstate, "%s", text);
	c->err->position = at + 1;
	return NULL;
}

static bool
is_row(const PgQuery__Node *n)
{
	return n != NULL && n->node_case == PG_QUERY__NODE__NODE_ROW_EXPR;
}

struct row {
	struct ast_expr **e;
	unsigned n;
};

/* The result is as much deeper as a row is long. */
static bool
take_row(struct sql_convert *c, const PgQuery__RowExpr *x, struct row *out)
{
	unsigned deep = c->depth + 2 * (unsigned)x->n_args;
	if (deep > SQL_DEPTH_MAX)
		return fail(c, "54001", x->location, "stack depth limit exceeded");
	if (c->deepest < deep)
		c->deepest = deep;
	return sql_convert_exprs(c, x->args, x->n_args, &out->e, &out->n);
}

/* All of =, or any of <>. */
static struct ast_expr *
each(struct sql_convert *c, const char *op, bool all, int at, const struct row *l, const struct row *r)
{
	struct ast_expr *e = sql_convert_node(c, all ? AST_AND : AST_OR, at, l->n);
	for (unsigned k = 0; e != NULL && k < l->n; k++)
		if ((e->args[k] = sql_convert_op(c, op, at, l->e[k], r->e[k])) == NULL)
			return NULL;
	return e != NULL && l->n == 1 ? e->args[0] : e;
}

/* op is <, <=, > or >=. From the last pair to the first. */
static struct ast_expr *
in_order(struct sql_convert *c, const char *op, int at, const struct row *l, const struct row *r)
{
	const char *strict = op[0] == '<' ? "<" : ">", *weak = op[0] == '<' ? "<=" : ">=";
	unsigned k = l->n - 1;
	struct ast_expr *e = sql_convert_op(c, op, at, l->e[k], r->e[k]);
	while (e != NULL && k-- > 0) {
		struct ast_expr *less = sql_convert_op(c, strict, at, l->e[k], r->e[k]);
		struct ast_expr *same = sql_convert_op(c, "=", at, l->e[k], r->e[k]);
		e = sql_convert_2(c, AST_AND, at, same, e);
		e = sql_convert_2(c, AST_OR, at, less, e);
	}
	if (l->n == 1)
		return e;
	return sql_convert_2(c, AST_AND, at, sql_convert_op(c, weak, at, l->e[0], r->e[0]), e);
}

static struct ast_expr *
compare(struct sql_convert *c, const char *op, int at, const struct row *l, const struct row *r)
{
	if (l->n != r->n)
		return fail(c, "42601", at, "unequal number of entries in row expressions");
	if (l->n == 0)
		return fail(c, "0A000", at, "cannot compare rows of zero length");
	if (strcmp(op, "=") == 0)
		return each(c, "=", true, at, l, r);
	if (strcmp(op, "<>") == 0 || strcmp(op, "!=") == 0)
		return each(c, "<>", false, at, l, r);
	if (strcmp(op, "<") == 0 || strcmp(op, "<=") == 0 || strcmp(op, ">") == 0 || strcmp(op, ">=") == 0)
		return in_order(c, sql_convert_str(c, op), at, l, r);
	char text[100];
	snprintf(
	    text, sizeof text, "could not determine interpretation of row comparison operator %.30s", op);
	fail(c, "0A000", at, text);
	snprintf(c->err->hint, sizeof c->err->hint,
	    "Row comparison operators must be associated with btree operator families.");
	return NULL;
}

/*
 * The comparison e of rows. If a parameter is one of their values, they are written beside it: all
 * of them come before the first is given the type of its partner.
 */
static struct ast_expr *
with_values(struct sql_convert *c, struct ast_expr *e, const struct row *row, unsigned rows)
{
	unsigned n = 1;
	bool params = false;
	for (unsigned k = 0; k < rows; k++)
		for (unsigned i = 0; i < row[k].n; i++, n++)
			params |= row[k].e[i]->kind == AST_PARAM;
	struct ast_expr *all = e != NULL && params ? sql_convert_node(c, AST_ROWS, e->position - 1, n) : e;
	if (all == NULL || !params)
		return all;
	all->args[0] = e;
	n = 1;
	for (unsigned k = 0; k < rows; k++)
		for (unsigned i = 0; i < row[k].n; i++)
			all->args[n++] = row[k].e[i];
	return all;
}

/* x IN (y, z): any of =; NOT IN: none of them. */
static struct ast_expr *
in_list(struct sql_convert *c, const PgQuery__AExpr *x, const struct row *l, bool negate)
{
	const PgQuery__List *list = x->rexpr->list;
	struct ast_expr *e = sql_convert_node(c, AST_OR, x->location, (unsigned)list->n_items);
	struct row *r = sql_convert_take(c, (list->n_items + 1) * sizeof *r);
	if (e == NULL || r == NULL)
		return NULL;
	r[0] = *l;
	for (size_t k = 0; k < list->n_items; k++) {
		if (!is_row(list->items[k]))
			return fail(c, "42883", x->location, "operator does not exist: record = scalar");
		if (!take_row(c, list->items[k]->row_expr, &r[k + 1]) ||
		    (e->args[k] = compare(c, "=", x->location, l, &r[k + 1])) == NULL)
			return NULL;
	}
	if (e->nargs == 1)
		e = e->args[0];
	e = with_values(c, e, r, (unsigned)list->n_items + 1);
	return e != NULL && negate ? sql_convert_1(c, AST_NOT, x->location, e) : e;
}

/* Pair by pair. */
static struct ast_expr *
distinct(struct sql_convert *c, int at, const struct row *l, const struct row *r, bool differs)
{
	if (l->n != r->n)
		return fail(c, "42601", at, "unequal number of entries in row expressions");
	struct ast_expr *e = sql_convert_node(c, differs ? AST_OR : AST_AND, at, l->n);
	for (unsigned k = 0; e != NULL && k < l->n; k++)
		if ((e->args[k] = sql_convert_distinct(c, at, l->e[k], r->e[k], differs)) == NULL)
			return NULL;
	return e != NULL && l->n == 1 ? e->args[0] : e;
}

static struct ast_expr *
between(struct sql_convert *c, const PgQuery__AExpr *x, const struct row *l, bool inside)
{
	const PgQuery__List *list = x->rexpr->list;
	struct row lo, hi;
	int at = x->location;
	if (list->n_items != 2 || !is_row(list->items[0]) || !is_row(list->items[1]))
		return fail(c, "42883", at, "operator does not exist: record >= scalar");
	if (!take_row(c, list->items[0]->row_expr, &lo) || !take_row(c, list->items[1]->row_expr, &hi))
		return NULL;
	struct row low[2] = { *l, lo }, high[2] = { *l, hi };
	struct ast_expr *from = compare(c, inside ? ">=" : "<", at, l, &lo);
	struct ast_expr *to = from ? compare(c, inside ? "<=" : ">", at, l, &hi) : NULL;
	from = with_values(c, from, low, 2);
	to = with_values(c, to, high, 2);
	return sql_convert_2(c, inside ? AST_AND : AST_OR, at, from, to);
}

bool
sql_convert_is_row(const PgQuery__AExpr *x)
{
	return is_row(x->lexpr) || is_row(x->rexpr);
}

struct ast_expr *
sql_convert_row_expr(struct sql_convert *c, const PgQuery__AExpr *x, const char *op)
{
	struct row row[2];
	char text[100];
	bool list = x->rexpr != NULL && x->rexpr->node_case == PG_QUERY__NODE__NODE_LIST;
	if (!is_row(x->lexpr) || (!list && !is_row(x->rexpr))) {
		snprintf(text, sizeof text, "operator does not exist: %s %.30s %s",
		    is_row(x->lexpr) ? "record" : "scalar", op, is_row(x->rexpr) ? "record" : "scalar");
		return fail(c, "42883", x->location, text);
	}
	if (!take_row(c, x->lexpr->row_expr, &row[0]) || (!list && !take_row(c, x->rexpr->row_expr, &row[1])))
		return NULL;
	switch (x->kind) {
	case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
		return with_values(c, compare(c, op, x->location, &row[0], &row[1]), row, 2);
	case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
		return in_list(c, x, &row[0], strcmp(op, "<>") == 0);
	case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
		return with_values(c, distinct(c, x->location, &row[0], &row[1], true), row, 2);
	case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
		return with_values(c, distinct(c, x->location, &row[0], &row[1], false), row, 2);
	case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
		return between(c, x, &row[0], true);
	case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
		return between(c, x, &row[0], false);
	default:
		sql_convert_no(c, "this use of a row value is", x->location);
		return NULL;
	}
}

/* (a, b) IS NULL: all are; IS NOT NULL: none is. */
struct ast_expr *
sql_convert_row_null(struct sql_convert *c, const PgQuery__RowExpr *x, bool negate)
{
	struct row r;
	if (!take_row(c, x, &r))
		return NULL;
	if (r.n == 0) /* true of no values: NOT false */
		return sql_convert_1(c, AST_NOT, x->location, sql_convert_node(c, AST_BOOL, x->location, 0));
	struct ast_expr *e = sql_convert_node(c, AST_AND, x->location, r.n);
	for (unsigned k = 0; e != NULL && k < r.n; k++) {
		if ((e->args[k] = sql_convert_1(c, AST_IS_NULL, x->location, r.e[k])) == NULL)
			return NULL;
		e->args[k]->negate = negate;
	}
	return e != NULL && r.n == 1 ? e->args[0] : e;
}
