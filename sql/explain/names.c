/*
 * names.c -- in a plan that reads several tables by one name (views bring theirs along) each gets
 * its own: t, t_1, t_2, as in PostgreSQL. First the query's own, in the order of FROM, then those
 * of queries inside of it.
 */
#include <sql/explain/explain.h>
#include <sql/plan/op.h>
#include <sql/plan/sub.h>

#include <stdlib.h>

enum { MOST = 600, DEEPEST = 600 }; /* names beyond that stay as they are */

struct names {
	struct nam_arena *a;
	struct sql_access *all[MOST]; /* named, in this order */
	unsigned n, depth;
};

/* Operators whose rows are made of a batch of their own below. */
static bool
begins_anew(const struct sql_node *n)
{
	return n->kind == SQL_NODE_DERIVED || n->kind == SQL_NODE_APPEND || n->kind == SQL_NODE_SETOP ||
	       n->kind == SQL_NODE_RECURSE;
}

/* The tables of one FROM list; out NULL: they are only counted. */
static void
gather(struct sql_node *n, struct sql_access **out, unsigned *count, unsigned depth)
{
	if (n == NULL || depth > DEEPEST)
		return;
	struct sql_access *a = sql_node_access(n);
	if (a != NULL && a->alias != NULL) {
		if (out != NULL)
			out[*count] = a;
		++*count;
	}
	if (begins_anew(n))
		return;
	gather(n->child, out, count, depth + 1);
	if (n->kind != SQL_NODE_LATERAL && n->kind != SQL_NODE_SEMI)
		gather(n->build, out, count, depth + 1);
}

static int
by_base(const void *x, const void *y)
{
	const struct sql_access *a = *(struct sql_access *const *)x, *b = *(struct sql_access *const *)y;
	return a->base < b->base ? -1 : a->base > b->base;
}

static bool
taken(const struct names *s, const char *alias)
{
	for (unsigned k = 0; k < s->n; k++)
		if (strcmp(s->all[k]->alias, alias) == 0)
			return true;
	return false;
}

static void
name(struct names *s, struct sql_access *a)
{
	const char *alias = a->alias;
	for (unsigned k = 1; k <= MOST && taken(s, alias); k++)
		if ((alias = nam_arena_printf(s->a, "%s_%u", a->alias, k)) == NULL)
			return;
	a->alias = alias;
	if (s->n < MOST)
		s->all[s->n++] = a;
}

static void scope(struct names *s, struct sql_node *n);

/* The queries inside of a FROM list. */
static void
inner(struct names *s, struct sql_node *n, unsigned depth)
{
	if (n == NULL || depth > DEEPEST)
		return;
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;)
		if (*k != n->child && *k != n->build)
			scope(s, *k);
	if (begins_anew(n)) {
		scope(s, n->child);
		scope(s, n->build);
		return;
	}
	inner(s, n->child, depth + 1);
	if (n->kind == SQL_NODE_LATERAL || n->kind == SQL_NODE_SEMI)
		scope(s, n->build);
	else
		inner(s, n->build, depth + 1);
}

static void
scope(struct names *s, struct sql_node *n)
{
	unsigned count = 0, most = 0;
	if (n == NULL || s->depth >= DEEPEST)
		return;
	gather(n, NULL, &most, 0);
	struct sql_access **list = nam_arena_take(s->a, (most + 1) * sizeof *list);
	if (list == NULL)
		return;
	s->depth++;
	gather(n, list, &count, 0);
	qsort(list, count, sizeof *list, by_base);
	for (unsigned k = 0; k < count; k++)
		name(s, list[k]);
	inner(s, n, 0);
	s->depth--;
}

void
sql_explain_names(struct sql_plan *p)
{
	struct names *s = p->named ? NULL : nam_arena_zero(&p->arena, sizeof *s);
	if (s == NULL) /* for want of memory they are called what they were called */
		return;
	p->named = true;
	s->a = &p->arena;
	scope(s, p->root);
	for (struct sql_sub *i = p->subs; i != NULL; i = i->next)
		if (!i->joined)
			scope(s, i->root);
}
