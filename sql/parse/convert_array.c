/* convert_array.c -- ARRAY[...], subscripts, op ANY (array) to sql's tree. */
#include <sql/parse/convert.h>

struct ast_expr *
sql_convert_array(struct sql_convert *c, const PgQuery__AArrayExpr *x)
{
	struct ast_expr *e = sql_convert_node(c, AST_ARRAY, x->location, 0);
	return e != NULL && sql_convert_exprs(c, x->elements, x->n_elements, &e->args, &e->nargs) ? e : NULL;
}

struct ast_expr *
sql_convert_any(struct sql_convert *c, const PgQuery__AExpr *x, const char *op, bool all)
{
	if (op == NULL) {
		sql_convert_no(c, "operators with a schema are", x->location);
		return NULL;
	}
	struct ast_expr *e = sql_convert_node(c, AST_ANY, x->location, 2);
	if (e == NULL || (e->text = sql_convert_str(c, op)) == NULL ||
	    (e->args[0] = sql_convert_expr(c, x->lexpr)) == NULL ||
	    (e->args[1] = sql_convert_expr(c, x->rexpr)) == NULL)
		return NULL;
	e->negate = all;
	return e;
}

/* x[i] and x[i:j]. */
struct ast_expr *
sql_convert_indirection(struct sql_convert *c, const PgQuery__AIndirection *x)
{
	struct ast_expr *base = sql_convert_expr(c, x->arg);
	if (base == NULL)
		return NULL;
	int at = base->position - 1;
	for (size_t i = 0; i < x->n_indirection; i++)
		if (x->indirection[i]->node_case != PG_QUERY__NODE__NODE_A_INDICES) {
			sql_convert_no(c, "fields of values are", at);
			return NULL;
		}
	if (x->n_indirection > 1) {
		sql_convert_no(c, "subscripts of more than one dimension are", at);
		return NULL;
	}
	const PgQuery__AIndices *k = x->indirection[0]->a_indices;
	struct ast_expr *e = sql_convert_node(c, AST_INDEX, at, 3);
	if (e == NULL)
		return NULL;
	e->args[0] = base;
	e->nargs = 1;
	if (k->is_slice)
		e->i |= AST_INDEX_SLICE;
	if (k->lidx != NULL) {
		e->i |= AST_INDEX_LOWER;
		if ((e->args[e->nargs++] = sql_convert_expr(c, k->lidx)) == NULL)
			return NULL;
	}
	if (k->uidx != NULL) {
		/* a subscript alone comes as an upper one */
		e->i |= k->is_slice ? AST_INDEX_UPPER : AST_INDEX_LOWER;
		if ((e->args[e->nargs++] = sql_convert_expr(c, k->uidx)) == NULL)
			return NULL;
	}
	return e;
}
