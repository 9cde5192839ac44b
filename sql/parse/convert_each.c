/* convert_each.c -- json_each and its kin in FROM: a row for each member of an object. They become
 * unnest of the members' keys and of their values. */
#include <sql/parse/convert.h>

#include <string.h>

static const struct each {
	const char *name, *key, *value;
} all[] = {
	{ "json_each", "json_each.key", "json_each.value" },
	{ "json_each_text", "json_each_text.key", "json_each_text.value" },
	{ "jsonb_each", "jsonb_each.key", "jsonb_each.value" },
	{ "jsonb_each_text", "jsonb_each_text.key", "jsonb_each_text.value" },
};
enum { COLUMNS = 2 };

static struct ast_expr *
call(struct sql_convert *c, const char *name, unsigned nargs, int position)
{
	struct ast_expr *e = sql_convert_node(c, AST_FUNC, position - 1, nargs);
	if (e != NULL)
		e->text = name;
	return e;
}

/* The columns that have no other name are called so. */
static bool
columns(struct sql_convert *c, struct ast_table *t)
{
	static const char *const own[COLUMNS] = { "key", "value" };
	const char **rename = sql_convert_take(c, (t->renames + COLUMNS) * sizeof *rename);
	if (rename == NULL)
		return false;
	for (unsigned i = 0; i < t->renames; i++)
		rename[i] = t->rename[i];
	for (; t->renames < COLUMNS; t->renames++)
		rename[t->renames] = own[t->renames];
	t->rename = rename;
	return true;
}

bool
sql_convert_each(struct sql_convert *c, const PgQuery__Node *node, struct ast_table *t)
{
	const struct ast_expr *f = t->func;
	const struct each *is = NULL;
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k].name, f->text) == 0)
			is = &all[k];
	if (is == NULL || f->nargs != 1)
		return true;
	struct ast_expr *rows = call(c, "unnest", COLUMNS, f->position);
	struct ast_expr *part[COLUMNS] = { call(c, is->key, 1, f->position),
		call(c, is->value, 1, f->position) };
	if (rows == NULL || part[0] == NULL || part[1] == NULL)
		return false;
	/* Each call has an argument of its own: the tree has no node twice. */
	const struct ast_expr *again = sql_convert_expr(c, node);
	if (again == NULL)
		return false;
	part[0]->args[0] = f->args[0];
	part[1]->args[0] = again->args[0];
	rows->args[0] = part[0];
	rows->args[1] = part[1];
	t->func = rows;
	return columns(c, t);
}
