/* convert_group.c -- GROUP BY: the expressions, and for GROUPING SETS, ROLLUP and CUBE which of
 * them are in which set. */
#include <sql/parse/convert.h>

#include <stdio.h>
#include <string.h>

enum { SETS_MAX = 4096, CUBE_MAX = 12, MEMBERS_MAX = 1 << 20 };

/* Sets of leaves, a byte per leaf. */
struct sets {
	uint8_t *in;
	unsigned n;
};

struct group {
	struct sql_convert *c;
	struct ast_expr **leaf;
	unsigned leaves, cap, next;
	unsigned depth;
};

static bool
is_sets(const PgQuery__Node *n)
{
	return n->node_case == PG_QUERY__NODE__NODE_GROUPING_SET;
}

/* (a, b) without ROW: as many expressions. */
static bool
is_list(const PgQuery__Node *n)
{
	return n->node_case == PG_QUERY__NODE__NODE_ROW_EXPR &&
	       n->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_IMPLICIT_CAST;
}

static bool
too_deep(struct group *g)
{
	if (++g->depth <= SQL_DEPTH_MAX)
		return false;
	cat_error(g->c->err, "54001", "stack depth limit exceeded");
	return true;
}

/* All expressions, from left to right. */
static bool
leaves(struct group *g, PgQuery__Node *const *list, size_t n)
{
	if (too_deep(g))
		return false;
	for (size_t k = 0; k < n; k++) {
		if (is_sets(list[k])) {
			if (!leaves(g, list[k]->grouping_set->content, list[k]->grouping_set->n_content))
				return false;
			continue;
		}
		if (is_list(list[k])) {
			if (!leaves(g, list[k]->row_expr->args, list[k]->row_expr->n_args))
				return false;
			continue;
		}
		if (g->leaves == g->cap) {
			unsigned cap = g->cap ? g->cap * 2 : 16;
			struct ast_expr **more = sql_convert_take(g->c, cap * sizeof *more);
			if (more == NULL)
				return false;
			if (g->leaves)
				memcpy(more, g->leaf, g->leaves * sizeof *more);
			g->leaf = more;
			g->cap = cap;
		}
		if ((g->leaf[g->leaves] = sql_convert_expr(g->c, list[k])) == NULL)
			return false;
		g->leaves++;
	}
	g->depth--;
	return true;
}

static bool
room(struct group *g, uint64_t n, struct sets *out)
{
	if (n > SETS_MAX || n * (g->leaves + 1) > MEMBERS_MAX) {
		cat_error(g->c->err, "54001", "too many grouping sets present (maximum %d)", SETS_MAX);
		return false;
	}
	out->n = (unsigned)n;
	out->in = sql_convert_take(g->c, n * g->leaves + 1);
	if (out->in != NULL)
		memset(out->in, 0, n * g->leaves + 1);
	return out->in != NULL;
}

static uint8_t *
set(const struct group *g, const struct sets *s, unsigned k)
{
	return s->in + (size_t)k * g->leaves;
}

/* How many leaves n has. */
static unsigned
count(const PgQuery__Node *n)
{
	if (!is_list(n))
		return 1;
	unsigned m = 0;
	for (size_t k = 0; k < n->row_expr->n_args; k++)
		m += count(n->row_expr->args[k]);
	return m;
}

static bool sets_of(struct group *g, const PgQuery__Node *n, struct sets *out);

/* ROLLUP and CUBE: of members, each one expression or some in parentheses. */
static bool
combined(struct group *g, const PgQuery__GroupingSet *s, struct sets *out)
{
	bool cube = s->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_CUBE;
	size_t n = s->n_content;
	unsigned *at = sql_convert_take(g->c, (n + 1) * sizeof *at);
	if (at == NULL)
		return false;
	if (cube && n > CUBE_MAX) {
		cat_error(g->c->err, "54011", "CUBE is limited to %d elements", CUBE_MAX);
		g->c->err->position = s->location + 1;
		return false;
	}
	for (size_t k = 0; k < n; k++) {
		at[k] = g->next;
		g->next += count(s->content[k]);
	}
	at[n] = g->next;
	if (!room(g, cube ? UINT64_C(1) << n : n + 1, out))
		return false;
	for (unsigned i = 0; i < out->n; i++)
		for (size_t k = 0; k < n; k++)
			if (cube ? (i >> k & 1) == 0 : k < n - i)
				memset(set(g, out, i) + at[k], 1, at[k + 1] - at[k]);
	return true;
}

/* GROUPING SETS: those of its members, one after the other. */
static bool
listed(struct group *g, const PgQuery__GroupingSet *s, struct sets *out)
{
	*out = (struct sets){ NULL, 0 };
	for (size_t k = 0; k < s->n_content; k++) {
		struct sets one, all;
		if (!sets_of(g, s->content[k], &one) || !room(g, (uint64_t)out->n + one.n, &all))
			return false;
		if (out->n)
			memcpy(all.in, out->in, (size_t)out->n * g->leaves);
		if (one.n)
			memcpy(set(g, &all, out->n), one.in, (size_t)one.n * g->leaves);
		*out = all;
	}
	return true;
}

static bool
sets_of(struct group *g, const PgQuery__Node *n, struct sets *out)
{
	if (is_sets(n) && n->grouping_set->kind == PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_SETS)
		return listed(g, n->grouping_set, out);
	if (is_sets(n) && n->grouping_set->kind != PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_EMPTY)
		return combined(g, n->grouping_set, out);
	if (!room(g, 1, out))
		return false;
	if (!is_sets(n)) {
		unsigned m = count(n);
		memset(out->in + g->next, 1, m);
		g->next += m;
	}
	return true;
}

bool
sql_convert_group(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q)
{
	struct group g = { .c = c };
	bool any = false;
	if (!leaves(&g, s->group_clause, s->n_group_clause))
		return false;
	q->group = g.leaf;
	q->groups = g.leaves;
	for (size_t k = 0; k < s->n_group_clause; k++)
		any |= is_sets(s->group_clause[k]);
	if (!any)
		return true;
	/* every set of one item with every set of the next */
	struct sets all, one, both;
	if (!room(&g, 1, &all))
		return false;
	for (size_t k = 0; k < s->n_group_clause; k++) {
		if (!sets_of(&g, s->group_clause[k], &one) || !room(&g, (uint64_t)all.n * one.n, &both))
			return false;
		for (unsigned i = 0; i < both.n; i++)
			for (unsigned j = 0; j < g.leaves; j++)
				set(&g, &both, i)[j] =
				    set(&g, &all, i / one.n)[j] | set(&g, &one, i % one.n)[j];
		all = both;
	}
	q->gset = all.in;
	q->gsets = all.n;
	q->gset_distinct = s->group_distinct;
	return true;
}
