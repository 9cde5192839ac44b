/* convert_named.c -- calls that name their arguments, f(days => 3): brought into the order of the
 * function's parameters. */
#include <sql/parse/convert.h>

#include <string.h>

/* Functions whose parameters have names that are worth naming. defaults: what is not given is 0. */
static const struct named {
	const char *name, *param[7];
	bool defaults;
} named[] = {
	{ "make_interval", { "years", "months", "weeks", "days", "hours", "mins", "secs" }, true },
	{ "make_date", { "year", "month", "day" }, false },
	{ "make_time", { "hour", "min", "sec" }, false },
	{ "make_timestamp", { "year", "month", "mday", "hour", "min", "sec" }, false },
	{ "make_timestamptz", { "year", "month", "mday", "hour", "min", "sec" }, false },
};
enum { PARAMS = sizeof named->param / sizeof *named->param };

static bool
fail(struct sql_convert *c, const char *state, int location, const char *fmt, const char *name)
{
	cat_error(c->err, state, fmt, name);
	c->err->position = location + 1;
	return false;
}

static const struct named *
find(const char *name)
{
	for (unsigned k = 0; k < sizeof named / sizeof *named; k++)
		if (strcmp(named[k].name, name) == 0)
			return &named[k];
	return NULL;
}

static bool
place(struct sql_convert *c, const PgQuery__FuncCall *f, const struct named *s, struct ast_expr *e)
{
	bool any = false;
	for (size_t i = 0; i < f->n_args; i++) {
		if (f->args[i]->node_case != PG_QUERY__NODE__NODE_NAMED_ARG_EXPR) {
			if (any)
				return fail(c, "42601", f->location,
				    "positional argument cannot follow named argument%s", "");
			if (i >= PARAMS)
				return fail(c, "42883", f->location, "function %s does not exist", s->name);
			if ((e->args[i] = sql_convert_expr(c, f->args[i])) == NULL)
				return false;
			continue;
		}
		const PgQuery__NamedArgExpr *a = f->args[i]->named_arg_expr;
		unsigned k = 0;
		any = true;
		while (k < PARAMS && (s->param[k] == NULL || strcmp(s->param[k], a->name) != 0))
			k++;
		for (size_t j = 0; j < i; j++)
			if (f->args[j]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR &&
			    strcmp(f->args[j]->named_arg_expr->name, a->name) == 0)
				return fail(c, "42601", a->location,
				    "argument name \"%s\" used more than once", a->name);
		if (k == PARAMS || e->args[k] != NULL)
			return fail(c, "42883", f->location,
			    "function %s with these arguments does not exist", s->name);
		if ((e->args[k] = sql_convert_expr(c, a->arg)) == NULL)
			return false;
	}
	return true;
}

bool
sql_convert_args(struct sql_convert *c, const PgQuery__FuncCall *f, struct ast_expr *e)
{
	bool any = false;
	for (size_t i = 0; i < f->n_args; i++)
		any |= f->args[i]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR;
	const struct named *s = find(e->text);
	if (any && s == NULL)
		return sql_convert_no(c, "named arguments are", f->location);
	if (s == NULL || (!any && !s->defaults))
		return sql_convert_exprs(c, f->args, f->n_args, &e->args, &e->nargs);
	if ((e->args = sql_convert_take(c, PARAMS * sizeof *e->args)) == NULL)
		return false;
	memset(e->args, 0, PARAMS * sizeof *e->args);
	if (!place(c, f, s, e))
		return false;
	while (e->nargs < PARAMS && s->param[e->nargs] != NULL) {
		struct ast_expr **a = &e->args[e->nargs++];
		if (*a == NULL && !s->defaults)
			return fail(c, "42883", f->location,
			    "function %s with these arguments does not exist", s->name);
		if (*a == NULL && (*a = sql_convert_node(c, AST_INT, f->location, 0)) == NULL)
			return false;
	}
	return true;
}
