/*
 * share.c -- one table kept twice for joins over the same keys: once is enough. The first of the
 * two keeps the columns that both need; the second uses the first one's table.
 */
#include <sql/plan/plan_internal.h>

/* The table of which the join keeps all rows under keys that are its columns; NULL = it keeps
 * something else. */
static struct sql_access *
plain(const struct sql_op_join *n)
{
	const struct sql_node *s = n->node.build;
	if (n->keep_build || n->keys == 0 || s->kind != SQL_NODE_SCAN || s->filter != NULL)
		return NULL;
	struct sql_access *a = sql_node_access(s);
	for (unsigned k = 0; k < n->keys; k++)
		if (n->build_key[k]->kind != SQL_COLUMN || n->build_key[k]->index < a->base ||
		    n->build_key[k]->index >= a->base + a->tab->columns)
			return NULL;
	return a->identify ? NULL : a;
}

static bool
alike(const struct sql_op_join *a, const struct sql_op_join *b)
{
	const struct sql_access *x = sql_node_access(a->node.build), *y = sql_node_access(b->node.build);
	if (x->tab != y->tab || a->keys != b->keys)
		return false;
	for (unsigned k = 0; k < a->keys; k++)
		if (a->build_key[k]->index - x->base != b->build_key[k]->index - y->base)
			return false;
	return true;
}

/* Makes the scan read one more column. There is room for all of its table's. */
static void
want(struct sql_access *a, unsigned column)
{
	unsigned at = 0;
	while (at < a->wants && a->want[at] < column)
		at++;
	if (at < a->wants && a->want[at] == column)
		return;
	memmove(&a->want[at + 1], &a->want[at], (a->wants - at) * sizeof *a->want);
	a->want[at] = (uint16_t)column;
	a->wants++;
}

/* Where the owner keeps a column of its table, which it may do for this asking only. */
static unsigned
kept(struct sql_op_join *owner, unsigned column, enum cat_type type)
{
	struct sql_access *a = sql_node_access(owner->node.build);
	unsigned index = a->base + column, at = 0;
	while (at < owner->build_width && owner->kept[at] != index)
		at++;
	if (at == owner->build_width) {
		owner->kept[at] = index;
		owner->build_type[at] = type;
		owner->build_width++;
		want(a, column);
	}
	return at;
}

static bool
share(struct bind *b, struct sql_op_join *n, struct sql_op_join *owner)
{
	size_t room = owner->build_width + n->build_cols + 1;
	unsigned *k = sql_bind_take(b, room * sizeof *k);
	enum cat_type *type = sql_bind_take(b, room * sizeof *type);
	if (k == NULL || type == NULL)
		return false;
	memcpy(k, owner->kept, owner->build_width * sizeof *k);
	memcpy(type, owner->build_type, owner->build_width * sizeof *type);
	owner->kept = k;
	owner->build_type = type;
	for (unsigned c = 0; c < n->build_cols; c++)
		n->build_at[c] =
		    kept(owner, n->build_col[c] - sql_node_access(n->node.build)->base, n->build_type[c]);
	n->share = owner;
	return true;
}

/* Joins that visit() may come by. */
static unsigned
joins_in(const struct sql_node *n)
{
	if (n == NULL)
		return 0;
	bool goes_on = n->kind == SQL_NODE_SEMI || n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_GET ||
		       n->kind == SQL_NODE_INDEX;
	return !goes_on ? 0 : (n->kind == SQL_NODE_JOIN) + joins_in(n->child) + joins_in(n->build);
}

static bool
visit(struct bind *b, struct sql_node *n, struct sql_op_join **seen, unsigned *count)
{
	while (n != NULL && n->kind == SQL_NODE_SEMI)
		n = n->child;
	if (n == NULL || (n->kind != SQL_NODE_JOIN && n->kind != SQL_NODE_GET && n->kind != SQL_NODE_INDEX))
		return true;
	struct sql_op_join *j = n->kind == SQL_NODE_JOIN ? sql_op(join, n) : NULL;
	if (j != NULL && plain(j) != NULL) {
		unsigned i = 0;
		while (i < *count && !alike(seen[i], j))
			i++;
		if (i == *count)
			seen[(*count)++] = j;
		else if (!share(b, j, seen[i]))
			return false;
	}
	return visit(b, n->child, seen, count) && visit(b, n->build, seen, count);
}

bool
sql_plan_share_builds(struct bind *b, struct sql_node *n)
{
	struct sql_op_join **seen = sql_bind_take(b, joins_in(n) * sizeof *seen);
	unsigned count = 0;
	return seen != NULL && visit(b, n, seen, &count);
}
