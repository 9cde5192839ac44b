/* refs.c -- how often a statement uses the queries of its WITH, before anything is bound. */
#include <sql/plan/bind/bind.h>

enum { NODES_MAX = 1000000 };

struct refs {
	const struct ast_with *w;
	unsigned *said, nodes;
};

static void query(struct refs *r, const struct ast_select *q, unsigned each);

/* each: how often it counts what stands in FROM there; two where that may run for every row of
 * something. */
enum { ONCE = 1, OFTEN = 2 };

static void
expr(struct refs *r, const struct ast_expr *e)
{
	if (e == NULL || ++r->nodes > NODES_MAX)
		return;
	if (e->kind == AST_SUB)
		query(r, e->select, OFTEN);
	for (unsigned k = 0; k < e->nargs; k++)
		expr(r, e->args[k]);
}

static void
exprs(struct refs *r, struct ast_expr *const *e, size_t n)
{
	for (size_t k = 0; k < n; k++)
		expr(r, e[k]);
}

static void
table(struct refs *r, const struct ast_table *t, unsigned each)
{
	if (t->func != NULL)
		expr(r, t->func);
	else if (t->sub != NULL)
		query(r, t->sub, t->lateral ? OFTEN : each);
	else
		for (unsigned k = 0; !t->schema && k < r->w->n; k++)
			if (strcmp(r->w->cte[k].name, t->name) == 0)
				r->said[k] += each;
}

/* A name that has another meaning inside is also counted: to count once too often does no harm. */
static void
query(struct refs *r, const struct ast_select *q, unsigned each)
{
	if (++r->nodes > NODES_MAX)
		return;
	for (unsigned k = 0; q->with != NULL && k < q->with->n; k++)
		if (q->with->cte[k].q != NULL)
			query(r, q->with->cte[k].q, q->with->recursive ? OFTEN : each);
	for (unsigned k = 0; k < q->sets; k++)
		query(r, q->set[k].q, each);
	for (unsigned k = 0; k < q->tables; k++)
		table(r, &q->table[k], each);
	for (unsigned k = 0; k < q->joins; k++)
		expr(r, q->join[k].on);
	for (unsigned k = 0; k < q->targets; k++)
		expr(r, q->target[k].e);
	for (unsigned k = 0; k < q->orders; k++)
		expr(r, q->order[k].e);
	exprs(r, q->group, q->groups);
	exprs(r, q->on, q->ons);
	exprs(r, q->window, q->windows);
	exprs(r, q->values, (size_t)q->rows * q->cols);
	expr(r, q->where);
	expr(r, q->having);
	expr(r, q->limit);
	expr(r, q->offset);
}

bool *
sql_bind_said_once(struct bind *b, const struct ast_with *w, const struct ast_select *q)
{
	struct refs r = { .w = w, .said = sql_bind_take(b, w->n * sizeof *r.said) };
	bool *once = sql_bind_take(b, w->n * sizeof *once);
	if (r.said == NULL || once == NULL)
		return NULL;
	if (q != NULL && !w->recursive)
		query(&r, q, ONCE);
	for (unsigned k = 0; k < w->n; k++)
		once[k] = r.said[k] == ONCE && r.nodes <= NODES_MAX && !w->cte[k].materialize;
	return once;
}
