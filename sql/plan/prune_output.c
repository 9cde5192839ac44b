/*
 * prune_output.c -- columns that no operator above a join needs are not carried through it: keys
 * that were compared, columns that a filter below has read. Done last, when all expressions are
 * there.
 */
#include <sql/plan/plan_internal.h>
#include <sql/plan/sub.h>

/* The columns of a wide batch that are read. */
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

/* Those of the columns (and their types, if there are any) that are needed; returns how many. */
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
		note(w, sql_op(semi, n)->each);
		note(w, n->filter);
		return narrow(w, n->child);
	}
	bool by_index = n->kind == SQL_NODE_INDEX && n->child != NULL;
	if (n->kind != SQL_NODE_JOIN && !by_index && (n->kind != SQL_NODE_GET || n->child == NULL))
		return true;
	note(w, n->filter);
	if (by_index) {
		struct sql_op_index *o = sql_op(index, n);
		o->passes = only(w, o->pass, NULL, o->passes);
		for (unsigned k = 0; k < o->part[0].keys; k++)
			note(w, o->part[0].key[k].value[0]);
	} else if (n->kind == SQL_NODE_GET) {
		struct sql_op_get *g = sql_op(get, n);
		g->passes = only(w, g->pass, NULL, g->passes);
		note_all(w, g->key, g->keys);
	} else {
		struct sql_op_join *o = sql_op(join, n);
		note(w, o->on);
		o->probe_cols = only(w, o->probe_col, o->probe_type, o->probe_cols);
		o->build_cols = only(w, o->build_col, o->build_type, o->build_cols);
		if (!sql_plan_place_keys(w->b, o))
			return false;
		note_all(w, o->build_key, o->keys);
		note_all(w, o->key, o->keys);
	}
	return narrow(w, n->child) && (n->build == NULL || narrow(w, n->build));
}

static void
note_agg(const struct need *w, const struct sql_op_agg *o)
{
	note_all(w, o->key, o->keys);
	for (unsigned a = 0; a < o->aggs; a++) {
		const struct sql_agg *g = &o->agg[a];
		note(w, g->arg);
		note(w, g->separator);
		note(w, g->filter);
		note_all(w, g->col, g->cols);
	}
}

static bool
top(struct bind *b, struct sql_node *n)
{
	struct need w = { .b = b, .width = n->child->out.cols };
	if ((w.of = sql_bind_take(b, w.width)) == NULL)
		return false;
	if (n->kind == SQL_NODE_PROJECT)
		note_all(&w, sql_op(project, n)->e, sql_op(project, n)->es);
	else
		note_agg(&w, sql_op(agg, n));
	return narrow(&w, n->child);
}

static bool
joined(const struct sql_node *n)
{
	while (n != NULL && n->kind == SQL_NODE_SEMI)
		n = n->child;
	return n != NULL && (n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_GET ||
				(n->kind == SQL_NODE_INDEX && n->child != NULL));
}

static bool
visit(struct bind *b, struct sql_node *n, bool inside)
{
	if (n == NULL)
		return true;
	bool over = n->kind == SQL_NODE_AGG || n->kind == SQL_NODE_PROJECT;
	if (over && joined(n->child) && !top(b, n))
		return false;
	if (!inside && joined(n) && !sql_plan_share_builds(b, n))
		return false;
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		if (!visit(
			b, *k, joined(n) && (*k == n->child || (*k == n->build && n->kind != SQL_NODE_SEMI))))
			return false;
	return true;
}

bool
sql_plan_prune_output(struct bind *b, struct sql_plan *p)
{
	bool ok = visit(b, p->root, false);
	for (struct sql_sub *s = p->subs; ok && s != NULL; s = s->next)
		ok = visit(b, s->root, false) && visit(b, s->set, false);
	return ok;
}
