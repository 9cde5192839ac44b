/*
 * share.c -- one table kept twice for joins over the same keys: once is enough. The first of the two keeps what
 * both need of it; the second asks the first one's.
 */
#include <sql/plan/plan_internal.h>

/* Does the join keep all rows of a table under keys that are its columns? */
static bool
plain(const struct sql_node *n)
{
	const struct sql_node *s = n->build;
	if (n->keep_build || n->keys == 0 || s->kind != SQL_NODE_SCAN || s->filter != NULL || s->acc.identify)
		return false;
	for (unsigned k = 0; k < n->keys; k++)
		if (n->build_key[k]->kind != SQL_COLUMN || n->build_key[k]->index < s->acc.base ||
		    n->build_key[k]->index >= s->acc.base + s->acc.tab->columns)
			return false;
	return true;
}

static bool
alike(const struct sql_node *a, const struct sql_node *b)
{
	if (a->build->acc.tab != b->build->acc.tab || a->keys != b->keys)
		return false;
	for (unsigned k = 0; k < a->keys; k++)
		if (a->build_key[k]->index - a->build->acc.base !=
		    b->build_key[k]->index - b->build->acc.base)
			return false;
	return true;
}

/* The scan reads a column, too. There is room for all of its table's. */
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
kept(struct sql_node *owner, unsigned column, enum cat_type type)
{
	unsigned index = owner->build->acc.base + column, at = 0;
	while (at < owner->build_width && owner->kept[at] != index)
		at++;
	if (at == owner->build_width) {
		owner->kept[at] = index;
		owner->build_type[at] = type;
		owner->build_width++;
		want(&owner->build->acc, column);
	}
	return at;
}

static bool
share(struct bind *b, struct sql_node *n, struct sql_node *owner)
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
		n->build_at[c] = kept(owner, n->build_col[c] - n->build->acc.base, n->build_type[c]);
	n->share = owner;
	return true;
}

static bool
visit(struct bind *b, struct sql_node *n, struct sql_node **seen, unsigned *count)
{
	while (n != NULL && n->kind == SQL_NODE_SEMI)
		n = n->child;
	if (n == NULL || (n->kind != SQL_NODE_JOIN && n->kind != SQL_NODE_GET))
		return true;
	if (n->kind == SQL_NODE_JOIN && plain(n)) {
		unsigned i = 0;
		while (i < *count && !alike(seen[i], n))
			i++;
		if (i == *count)
			seen[(*count)++] = n;
		else if (!share(b, n, seen[i]))
			return false;
	}
	return visit(b, n->child, seen, count) && visit(b, n->build, seen, count);
}

bool
sql_plan_share(struct bind *b, struct sql_node *n)
{
	struct sql_node *seen[SQL_TABLES_MAX];
	unsigned count = 0;
	return visit(b, n, seen, &count);
}
