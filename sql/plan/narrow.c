/*
 * narrow.c -- columns that nobody asks for above a join are not carried through it: keys that were compared,
 * columns that a filter below has read. Done last, when all expressions are there.
 */
#include <sql/plan/plan_internal.h>
#include <sql/plan/sub.h>

/* The columns of a wide batch that somebody reads. */
struct need {
	struct bind *b;
	uint8_t *of;
	unsigned width;
};

static void
note(const struct need *w, const struct sql_expr *e)
{
	if (e == NULL)
		return;
	if (e->kind == SQL_COLUMN && e->index < w->width)
		w->of[e->index] = 1;
	for (unsigned k = 0; k < e->nargs; k++)
		note(w, e->args[k]);
}

static void
note_all(const struct need *w, struct sql_expr *const *e, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		note(w, e[k]);
}

/* Those of the columns (and their types, if there are any) that are needed; answers how many. */
static unsigned
only(const struct need *w, unsigned *col, enum cat_type *type, unsigned n)
{
	unsigned m = 0;
	for (unsigned c = 0; c < n; c++) {
		if (!w->of[col[c]])
			continue;
		col[m] = col[c];
		if (type != NULL)
			type[m] = type[c];
		m++;
	}
	return m;
}

/* n gives the columns of w: what must its sides give? */
static bool
narrow(const struct need *w, struct sql_node *n)
{
	if (n->kind == SQL_NODE_SEMI) {
		note(w, n->semi->each);
		note(w, n->filter);
		return narrow(w, n->child);
	}
	if (n->kind != SQL_NODE_JOIN && (n->kind != SQL_NODE_GET || n->child == NULL))
		return true;
	note(w, n->filter);
	note(w, n->on);
	if (n->kind == SQL_NODE_GET) {
		n->passes = only(w, n->pass, NULL, n->passes);
	} else {
		n->probe_cols = only(w, n->probe_col, n->probe_type, n->probe_cols);
		n->build_cols = only(w, n->build_col, n->build_type, n->build_cols);
		if (!sql_plan_place_keys(w->b, n))
			return false;
		note_all(w, n->build_key, n->keys);
	}
	note_all(w, n->key, n->keys);
	return narrow(w, n->child) && (n->build == NULL || narrow(w, n->build));
}

static bool
top(struct bind *b, struct sql_node *n)
{
	struct need w = { .b = b, .width = n->child->out.cols };
	if ((w.of = sql_bind_take(b, w.width)) == NULL)
		return false;
	if (n->kind == SQL_NODE_PROJECT)
		note_all(&w, n->e, n->es);
	else
		note_all(&w, n->key, n->keys);
	for (unsigned a = 0; n->kind == SQL_NODE_AGG && a < n->aggs; a++) {
		const struct sql_agg *g = &n->agg[a];
		note(&w, g->arg);
		note(&w, g->separator);
		note(&w, g->filter);
		note_all(&w, g->col, g->cols);
	}
	return narrow(&w, n->child);
}

static bool
joined(const struct sql_node *n)
{
	while (n != NULL && n->kind == SQL_NODE_SEMI)
		n = n->child;
	return n != NULL && (n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_GET);
}

static bool
visit(struct bind *b, struct sql_node *n, bool inside)
{
	if (n == NULL)
		return true;
	bool over = n->kind == SQL_NODE_AGG || n->kind == SQL_NODE_PROJECT;
	if (over && joined(n->child) && !top(b, n))
		return false;
	if (!inside && joined(n) && !sql_plan_share(b, n))
		return false;
	for (const struct sql_cte *c = n->with; c != NULL; c = c->next)
		if (!visit(b, c->plan, false))
			return false;
	for (unsigned i = 0; i < n->kids; i++)
		if (!visit(b, n->kid[i], false))
			return false;
	if (n->kind == SQL_NODE_SEMI)
		return visit(b, n->child, joined(n)) && visit(b, n->build, false);
	return visit(b, n->child, joined(n)) && visit(b, n->build, joined(n));
}

bool
sql_plan_narrow(struct bind *b, struct sql_plan *p)
{
	bool ok = visit(b, p->root, false);
	for (struct sql_sub *s = p->subs; ok && s != NULL; s = s->next)
		ok = visit(b, s->root, false) && visit(b, s->set, false);
	return ok;
}
