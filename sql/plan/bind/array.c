/* array.c -- ARRAY[...], subscripts, op ANY (array): types for their parameters, and then their
 * makers. */
#include <sql/plan/bind/bind.h>

struct sql_expr *
sql_bind_array(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr **arg;
	if (!sql_bind_args(b, e, &arg))
		return NULL;
	struct sql_expr *x = sql_expr_array(b->a, arg, e->nargs, e->position, b->err);
	sql_bind_learn_all(b, arg, e->nargs);
	return x;
}

struct sql_expr *
sql_bind_array_as(struct bind *b, const struct ast_expr *e, enum cat_type type, int32_t typmod)
{
	struct sql_expr **arg = sql_bind_take(b, e->nargs * sizeof *arg);
	if (arg == NULL)
		return NULL;
	if (e->nargs == 0) {
		struct cat_datum d = { .type = type };
		if (!cat_value_in(type, -1, (struct cat_str){ "{}", 2 }, &d.v, b->a, b->err))
			return NULL;
		return sql_expr_const(b->a, d, e->position);
	}
	enum cat_type elem = cat_type_element(type);
	for (unsigned i = 0; i < e->nargs; i++) {
		if ((arg[i] = sql_bind_expr(b, e->args[i])) == NULL)
			return NULL;
		sql_bind_fix_param_as(b, arg[i], elem, typmod, 0);
		if (cat_type_is_array(arg[i]->type)) {
			sql_bind_fail(b, e->args[i]->position, "0A000",
			    "arrays of more than one dimension are not supported yet");
			return NULL;
		}
		if ((arg[i] = sql_expr_cast(b->a, arg[i], elem, typmod, e->args[i]->position, b->err)) ==
		    NULL)
			return NULL;
	}
	return sql_expr_array(b->a, arg, e->nargs, e->position, b->err);
}

struct sql_expr *
sql_bind_index(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr *x[3] = { NULL, NULL, NULL };
	unsigned k = 1;
	if ((x[0] = sql_bind_expr(b, e->args[0])) == NULL)
		return NULL;
	if ((e->i & AST_INDEX_LOWER) && (x[1] = sql_bind_expr_as(b, e->args[k++], CAT_INT4)) == NULL)
		return NULL;
	if ((e->i & AST_INDEX_UPPER) && (x[2] = sql_bind_expr_as(b, e->args[k++], CAT_INT4)) == NULL)
		return NULL;
	return sql_expr_subscript(b->a, x[0], x[1], x[2], e->i & AST_INDEX_SLICE, e->position, b->err);
}

struct sql_expr *
sql_bind_any(struct bind *b, const struct ast_expr *e)
{
	struct sql_expr *x = sql_bind_expr(b, e->args[0]), *array = x ? sql_bind_expr(b, e->args[1]) : NULL;
	if (array == NULL)
		return NULL;
	struct sql_expr *any = sql_expr_any(b->a, e->text, x, array, e->negate, e->position, b->err);
	sql_bind_learn(b, x);
	sql_bind_learn(b, array);
	return any;
}
