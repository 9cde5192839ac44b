/* refs.c -- how often a statement, or a query of WITH, uses the queries of a WITH, before
 * anything is bound. */
#include <sql/plan/bind/bind.h>

enum { NODES_MAX = 1000000 };

/* The names of a WITH inside, of which so many are seen: they hide those outside. */
struct hides {
	const struct ast_with *w;
	unsigned seen;
	const struct hides *out;
};

struct refs {
	const struct ast_with *w;
	unsigned seen; /* so many of its names can be said here */
	unsigned *said, nodes;
	const struct hides *hides;
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

static bool
is_hidden(const struct refs *r, const char *name)
{
	for (const struct hides *h = r->hides; h != NULL; h = h->out)
		for (unsigned k = 0; k < h->seen; k++)
			if (strcmp(h->w->cte[k].name, name) == 0)
				return true;
	return false;
}

static void
table(struct refs *r, const struct ast_table *t, unsigned each)
{
	if (t->func != NULL)
		expr(r, t->func);
	else if (t->sub != NULL)
		query(r, t->sub, t->lateral ? OFTEN : each);
	else
		for (unsigned k = 0; !t->schema && k < r->seen; k++)
			if (strcmp(r->w->cte[k].name, t->name) == 0 && !is_hidden(r, t->name))
				r->said[k] += each;
}

static void
query(struct refs *r, const struct ast_select *q, unsigned each)
{
	const struct hides *out = r->hides;
	struct hides own = { .w = q->with, .out = out };
	if (++r->nodes > NODES_MAX)
		return;
	if (q->with != NULL && q->with != r->w)
		r->hides = &own;
	for (unsigned k = 0; q->with != NULL && k < q->with->n; k++) {
		own.seen = q->with->recursive ? q->with->n : k;
		if (q->with == r->w)
			r->seen = own.seen;
		if (q->with->cte[k].q != NULL)
			query(r, q->with->cte[k].q, q->with->recursive ? OFTEN : each);
	}
	own.seen = q->with ? q->with->n : 0;
	if (q->with == r->w)
		r->seen = r->w->n;
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
	r->hides = out;
}

bool *
sql_bind_said_once(struct bind *b, const struct ast_with *w, const struct ast_select *q)
{
	struct refs r = { .w = w, .seen = w->n, .said = sql_bind_take(b, w->n * sizeof *r.said) };
	bool *once = sql_bind_take(b, w->n * sizeof *once);
	if (r.said == NULL || once == NULL)
		return NULL;
	if (q != NULL && !w->recursive)
		query(&r, q, ONCE);
	for (unsigned k = 0; k < w->n; k++)
		once[k] = r.said[k] == ONCE && r.nodes <= NODES_MAX && !w->cte[k].materialize;
	return once;
}

static void
change(struct refs *r, const struct ast_stmt *st)
{
	if (st->select != NULL)
		query(r, st->select, ONCE);
	if (st->from != NULL)
		query(r, st->from, ONCE);
	for (unsigned k = 0; k < st->sets; k++)
		expr(r, st->set[k].e);
	for (unsigned k = 0; k < st->returnings; k++)
		expr(r, st->returning[k].e);
	expr(r, st->where);
}

/*
 * The names of WITH RECURSIVE are seen in all of its queries, so a query is bound behind those
 * that it uses: the first of the text that uses no other one, and so on.
 */
unsigned *
sql_bind_with_order(struct nam_arena *a, const struct ast_with *w, struct cat_err *err)
{
	unsigned *order = nam_arena_zero(a, (w->n + 1) * sizeof *order);
	unsigned *said = nam_arena_zero(a, ((size_t)w->n * w->n + 1) * sizeof *said);
	bool *done = nam_arena_zero(a, (w->n + 1) * sizeof *done);
	if (order == NULL || said == NULL || done == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	for (unsigned k = 0; w->recursive && k < w->n; k++) {
		struct refs r = { .w = w, .seen = w->n, .said = said + (size_t)k * w->n };
		if (w->cte[k].q != NULL)
			query(&r, w->cte[k].q, ONCE);
		else
			change(&r, w->cte[k].change);
	}
	for (unsigned n = 0; n < w->n; n++) {
		unsigned next = w->n;
		for (unsigned k = 0; k < w->n && next == w->n; k++) {
			bool waits = done[k];
			for (unsigned i = 0; i < w->n && !waits; i++)
				waits = i != k && !done[i] && said[(size_t)k * w->n + i] > 0;
			next = waits ? next : k;
		}
		if (next == w->n) {
			unsigned k = 0;
			while (done[k])
				k++;
			cat_error(err, "0A000", "mutual recursion between WITH items is not implemented");
			err->position = w->cte[k].position;
			return NULL;
		}
		done[next] = true;
		order[n] = next;
	}
	return order;
}
