/* substitute.c -- turns an expression over a query's result into one over that query's inputs. */
#include <sql/expr/functions.h>

#include <string.h>

bool
sql_expr_has_sub(const struct sql_expr *e)
{
	bool has = e->kind == SQL_SUB;
	for (unsigned k = 0; k < e->nargs && !has; k++)
		has = sql_expr_has_sub(e->args[k]);
	return has;
}

bool
sql_expr_null_outside(const struct sql_expr *e, const struct cat_datum *outer)
{
	if (e->kind == SQL_OUTER)
		return outer[e->index].null;
	bool null = false;
	if (e->kind == SQL_CALL && (e->fn->flags & (SQL_FN_NULLS | SQL_FN_VOLATILE)) == 0)
		for (unsigned k = 0; k < e->nargs && !null; k++)
			null = sql_expr_null_outside(e->args[k], outer);
	return null;
}

bool
sql_expr_volatile(const struct sql_expr *e)
{
	bool is = e->kind == SQL_CALL && (e->fn->flags & SQL_FN_EACH);
	for (unsigned k = 0; k < e->nargs && !is; k++)
		is = sql_expr_volatile(e->args[k]);
	return is;
}

/* Equal values of these types are the same value, whatever is asked of them. */
static bool
exact(enum cat_type t)
{
	t = cat_type_plain(t);
	return cat_type_is_int(t) || t == CAT_BOOL || t == CAT_TEXT || t == CAT_DATE || t == CAT_TIMESTAMP ||
	       t == CAT_TIMESTAMPTZ || t == CAT_TIME;
}

bool
sql_expr_harmless(const struct sql_expr *e)
{
	switch (e->kind) {
	case SQL_CONST:
	case SQL_PARAM:
	case SQL_OUTER:
		return true;
	case SQL_COLUMN:
		return exact(e->type);
	case SQL_CALL:
		if (!(e->fn->flags & SQL_FN_OP) || strpbrk(e->fn->name, "=<>") != e->fn->name ||
		    e->fn->ret != CAT_BOOL)
			return false;
		break;
	case SQL_SUB:
		return false;
	default:
		break;
	}
	for (unsigned k = 0; k < e->nargs; k++)
		if (!sql_expr_harmless(e->args[k]))
			return false;
	return true;
}

struct sql_expr *
sql_expr_substitute(
    struct nam_arena *a, struct sql_expr *e, unsigned base, unsigned n, struct sql_expr *const *with)
{
	if (e->kind == SQL_COLUMN) {
		bool in = e->index >= base && e->index < base + n;
		return in && with[e->index - base] != NULL
			   ? sql_expr_as(a, with[e->index - base], e->type, e->typmod)
		       : in ? NULL
			    : e;
	}
	if (e->nargs == 0)
		return e;
	struct sql_expr *to = nam_arena_copy(a, e, sizeof *e);
	if (to == NULL || (to->args = nam_arena_copy(a, e->args, e->nargs * sizeof *e->args)) == NULL)
		return NULL;
	bool each = e->kind == SQL_CALL && (e->fn->flags & SQL_FN_EACH);
	to->pure = e->kind != SQL_SUB && (e->kind != SQL_CALL || !(e->fn->flags & SQL_FN_VOLATILE));
	to->rows = each;
	for (unsigned k = 0; k < e->nargs; k++) {
		if ((to->args[k] = sql_expr_substitute(a, e->args[k], base, n, with)) == NULL)
			return NULL;
		to->pure &= to->args[k]->pure;
		to->rows |= to->args[k]->rows;
	}
	if (e->call != NULL) {
		struct sql_expr *call = nam_arena_copy(a, e->call, sizeof *call);
		if (call == NULL)
			return NULL;
		call->args = to->args;
		to->call = call;
	}
	return sql_expr_fold(a, to);
}
