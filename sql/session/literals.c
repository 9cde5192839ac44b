/* literals.c -- names that a statement says as 'name'::regclass, or as one of its kin, exist when
 * it is planned, whether a row asks for them or not. */
#include <sql/session/session_internal.h>

enum { NODES_MAX = 1000000 };

struct look {
	struct sql_session *s;
	struct nam_arena *arena;
	struct cat_err *err;
	unsigned nodes;
};

static bool query(struct look *l, const struct ast_select *q);
static bool with(struct look *l, const struct ast_with *w);

static bool
is_known(struct look *l, const struct ast_expr *cast)
{
	const struct ast_expr *name = cast->args[0];
	struct sql_env env = { .arena = l->arena, .err = l->err, .session = l->s, .host = l->s->host };
	struct cat_datum d = { .type = CAT_UNKNOWN, .v.s = { name->text, name->len } }, out;
	struct sql_expr *e = sql_expr_const(l->arena, d, name->position);
	if (e == NULL)
		return sql_no_memory(l->err);
	if ((e = sql_expr_cast(l->arena, e, cast->type, -1, name->position, l->err)) == NULL)
		return false;
	if (sql_eval_one(e, &env, &out))
		return true;
	if (l->err->position == 0)
		l->err->position = name->position;
	return false;
}

static bool
expr(struct look *l, const struct ast_expr *e)
{
	if (e == NULL || ++l->nodes > NODES_MAX)
		return true;
	if (e->kind == AST_CAST && cat_type_is_reg(e->type) && e->args[0]->kind == AST_STRING)
		return is_known(l, e);
	bool ok = e->kind != AST_SUB || query(l, e->select);
	for (unsigned k = 0; ok && k < e->nargs; k++)
		ok = expr(l, e->args[k]);
	return ok;
}

static bool
exprs(struct look *l, struct ast_expr *const *e, size_t n)
{
	bool ok = true;
	for (size_t k = 0; ok && k < n; k++)
		ok = expr(l, e[k]);
	return ok;
}

static bool
targets(struct look *l, const struct ast_target *t, unsigned n)
{
	bool ok = true;
	for (unsigned k = 0; ok && k < n; k++)
		ok = expr(l, t[k].e);
	return ok;
}

static bool
query(struct look *l, const struct ast_select *q)
{
	if (q == NULL || ++l->nodes > NODES_MAX)
		return true;
	bool ok = with(l, q->with);
	for (unsigned k = 0; ok && k < q->sets; k++)
		ok = query(l, q->set[k].q);
	for (unsigned k = 0; ok && k < q->tables; k++)
		ok = q->table[k].func != NULL ? expr(l, q->table[k].func) : query(l, q->table[k].sub);
	for (unsigned k = 0; ok && k < q->joins; k++)
		ok = expr(l, q->join[k].on);
	ok = ok && targets(l, q->target, q->targets) && expr(l, q->where) && exprs(l, q->group, q->groups) &&
	     expr(l, q->having);
	for (unsigned k = 0; ok && k < q->orders; k++)
		ok = expr(l, q->order[k].e);
	return ok && exprs(l, q->on, q->ons) && exprs(l, q->window, q->windows) &&
	       exprs(l, q->values, (size_t)q->rows * q->cols) && expr(l, q->limit) && expr(l, q->offset);
}

static bool
statement(struct look *l, const struct ast_stmt *st)
{
	return with(l, st->with) && query(l, st->select) && query(l, st->from) &&
	       targets(l, st->set, st->sets) && expr(l, st->where) &&
	       targets(l, st->returning, st->returnings);
}

static bool
with(struct look *l, const struct ast_with *w)
{
	bool ok = true;
	for (unsigned k = 0; w != NULL && ok && k < w->n; k++)
		ok = w->cte[k].change != NULL ? statement(l, w->cte[k].change) : query(l, w->cte[k].q);
	return ok;
}

bool
sql_names_exist(struct sql_session *s, const struct ast_stmt *st, struct cat_err *err)
{
	struct nam_arena arena;
	struct look l = { .s = s, .arena = &arena, .err = err };
	nam_arena_init(&arena, 0);
	bool ok = statement(&l, st);
	nam_arena_fini(&arena);
	return ok;
}
