/* bind_from.c -- FROM items that are no tables of the catalog: queries in parentheses. */
#include "bind.h"

#include <stdio.h>

enum { LEVELS_MAX = 120 };

struct bind *
sql_bind_child(struct bind *b, int position)
{
	if (b->level + 1 >= LEVELS_MAX) {
		sql_bind_fail(b, position, "54001", "stack depth limit exceeded");
		return NULL;
	}
	struct bind *child = sql_bind_take(b, sizeof *child);
	if (child == NULL)
		return NULL;
	child->a = b->a;
	child->err = b->err;
	child->in = b->in;
	child->plan = b->plan;
	child->level = b->level + 1;
	child->cte = b->cte;
	/* it sees what b's query sees outside of itself */
	child->up = b->up;
	child->sub = b->sub;
	child->sub_level = b->sub_level;
	return child;
}

/* Queries inside of queries are executed by recursion, wherever they were written: so their height has a limit, too. */
bool
sql_bind_deeper(struct bind *b, unsigned deep, int position)
{
	if (deep + 1 > b->deep)
		b->deep = deep + 1;
	return b->deep < LEVELS_MAX || sql_bind_fail(b, position, "54001", "stack depth limit exceeded");
}

struct sql_node *
sql_bind_child_select(struct bind *b, struct bind *child, const struct ast_select *q)
{
	child->nodes = b->nodes;
	struct sql_node *n = sql_bind_select(child, q, true);
	b->nodes = child->nodes;
	return n != NULL && sql_bind_deeper(b, child->deep, 0) ? n : NULL;
}

bool
sql_bind_add_derived(struct bind *b, const struct ast_table *t)
{
	struct bind *child = sql_bind_child(b, t->position);
	if (child == NULL)
		return false;
	struct sql_node *n = sql_bind_child_select(b, child, t->sub);
	return n != NULL && sql_bind_add_source(b, t, n, child->column, child->columns);
}
