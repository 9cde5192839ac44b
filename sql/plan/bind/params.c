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
	struct sql_plan *p = b->plan;
	unsigned torn = p->torn, vague = p->vague;
	enum cat_type *param = nam_arena_copy(b->a, p->param, p->params * sizeof *param);
	struct sql_param_as *as = nam_arena_copy(b->a, p->param_as, p->params * sizeof *as);
	if (param == NULL || as == NULL)
		return cat_error(b->err, "53200", "out of memory");
	if ((b->answer.bare = sql_bind_take(b, q->targets)) == NULL)
		return false;
	b->agg.not_in = "the select list";
	bool ok = true;
	for (unsigned i = 0; i < q->targets && ok; i++) {
		b->answer.bare[i] = is_open(b, q->target[i].e);
		ok = bind_parts(b, q->target[i].e);
	}
	if (ok)
		return true;
	/* the parts that have no parameter may be wrong before that: the whole list says it */
	memcpy(p->param, param, p->params * sizeof *param);
	memcpy(p->param_as, as, p->params * sizeof *as);
	p->torn = torn;
	p->vague = vague;
	return !b->answer.where_first && sql_bind_told_first(b, q, false);
}

bool
sql_bind_hold(struct bind *b, struct bind_held *held, struct ast_expr *const *e, unsigned n)
{
	*held = (struct bind_held){ .e = e, .n = n, .up = b->held };
	b->held = held;
	held->open = sql_bind_take(b, n * sizeof *held->open);
	for (unsigned i = 0; held->open != NULL && i < n; i++) {
		held->open[i] = is_open(b, e[i]);
		if (!bind_parts(b, e[i]))
			return false;
	}
	return held->open != NULL;
}

void
sql_bind_let_go(struct bind *b, const struct bind_held *held)
{
	b->held = held->up;
}

bool
sql_bind_is_held(const struct bind *b, const struct ast_expr *e)
{
	for (const struct bind_held *h = b->held; h != NULL; h = h->up)
		for (unsigned i = 0; h->open != NULL && i < h->n; i++)
			if (h->e[i] == e)
				return h->open[i];
	return false;
}
