/* guess_relation.c -- a HINT for the name of a table or column that is not there. */
#include <sql/common/guess_relation.h>
#include <sql/common/path.h>

void
sql_guess_relations_try(struct sql_guess *g, struct cat *cat, struct txn *t, struct nam_arena *arena)
{
	static const char *const kind[] = { "table", "view", "sequence" };
	const struct cat_table **list;
	unsigned n;
	if (cat == NULL || arena == NULL || cat_list(cat, t, &list, &n, arena) != NAM_OK)
		return;
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind != CAT_INDEX) /* no query reads one */
			sql_guess_try(g, kind[list[i]->kind], sql_path_shown(list[i]->path), 0);
}

void
sql_guess_relation(
    struct cat *cat, struct txn *t, const char *name, struct nam_arena *arena, struct cat_err *err)
{
	struct sql_guess g;
	sql_guess_init(&g, sql_path_shown(name));
	sql_guess_relations_try(&g, cat, t, arena);
	sql_guess_say_relations(&g, err);
}

void
sql_guess_in_table(const struct cat_table *tab, const char *name, struct cat_err *err)
{
	struct sql_guess g;
	sql_guess_init(&g, name);
	for (unsigned c = 0; c < tab->columns; c++)
		sql_guess_try(&g, cat_local(tab->path), tab->column[c].name, 0);
	sql_guess_say_columns(&g, err);
}
