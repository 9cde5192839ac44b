/*
 * params.c -- types of parameters in a select list before its WHERE is bound, as PostgreSQL gives
 * them.
 *
 * The list itself is bound later, when it is known what is grouped. So only the calls over
 * parameters are bound here, for the types that they give; their expressions are thrown away.
 */
#include <sql/plan/bind/bind.h>

/* True if e can be bound without leaving anything behind: no query, aggregate, window, or rows. */
static bool
is_plain(const struct ast_expr *e)
{
	enum sql_agg_kind kind;
	if (e->kind == AST_SUB || e->kind == AST_WINDOW || e->kind == AST_STAR || e->kind == AST_DEFAULT)
		return false;
	if (e->kind == AST_FUNC &&
	    (e->star || e->distinct || e->agg != NULL || sql_agg_find(e->text, &kind) ||
		sql_set_function(e->text) || strcmp(e->text, "grouping") == 0))
		return false;
	for (unsigned i = 0; i < e->nargs; i++)
		if (!is_plain(e->args[i]))
			return false;
	return true;
}

static bool
is_open(const struct bind *b, const struct ast_expr *e)
{
	return e->kind == AST_PARAM && b->plan->param[e->i - 1] == CAT_UNKNOWN;
}

static bool
has_open(const struct bind *b, const struct ast_expr *e)
{
	bool has = is_open(b, e);
	for (unsigned i = 0; i < e->nargs && !has; i++)
		has = has_open(b, e->args[i]);
	return has;
}

/* The largest plain parts of e that have an untyped parameter. */
static bool
bind_parts(struct bind *b, const struct ast_expr *e)
{
	if (e->kind == AST_PARAM || e->kind == AST_SUB || !has_open(b, e))
		return true;
	if (is_plain(e)) /* a column of that name may be an item of the list */
		return sql_bind_expr(b, e) != NULL;
	for (unsigned i = 0; i < e->nargs; i++)
		if (!bind_parts(b, e->args[i]))
			return false;
	return true;
}

bool
sql_bind_list_params(struct bind *b, const struct ast_select *q)
{
	if (b->plan->params == 0)
		return true;
	if ((b->answer.bare = sql_bind_take(b, q->targets)) == NULL)
		return false;
	b->agg.not_in = "the select list";
	for (unsigned i = 0; i < q->targets; i++) {
		b->answer.bare[i] = is_open(b, q->target[i].e);
		if (!bind_parts(b, q->target[i].e))
			return false;
	}
	return true;
}
