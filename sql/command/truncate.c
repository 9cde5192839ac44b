/*
 * truncate.c -- TRUNCATE: an empty table takes the place of the full one. The full one's memory is
 * released as a whole when no snapshot can see it.
 *
 * So it needs the memory of an empty table, whatever the table holds. A savepoint cannot undo a
 * change of the catalog: behind one the rows are deleted one by one (stmt.c).
 */
#include <sql/command/command.h>

bool
sql_truncate(struct sql_session *s, const struct cat_table *tab, struct nam_arena *arena, struct cat_err *err)
{
	struct cat *cat = s->cfg.cat;
	struct cat_table fresh = *tab;
	const struct cat_table *made, **list;
	unsigned n;
	/* It is made even when all memory is taken, for then it brings relief. */
	fresh.store = (struct txn_table){ .slots = tab->store.slots, .vital = true };
	fresh.generation = 0;
	fresh.place = NULL; /* its rows have all places of their own */
	fresh.analyzed = false;
	fresh.column = nam_arena_copy(arena, tab->column, tab->columns * sizeof *tab->column);
	if (fresh.column == NULL)
		return sql_no_memory(err);
	for (unsigned c = 0; c < fresh.columns; c++)
		fresh.column[c].missing = fresh.column[c].stats = NULL;
	s->ddl = true;
	nam_status st = cat_drop(cat, s->t, tab);
	if (st == NAM_OK && !cat_table_layout(&fresh, err))
		return false;
	if (st == NAM_OK)
		st = cat_create(cat, s->t, &fresh);
	if (st == NAM_OK)
		st = cat_find(cat, s->t, fresh.path, &made);
	if (st == NAM_OK)
		st = cat_list(cat, s->t, &list, &n, arena);
	/* Sequences that feed the table's columns go on with the new one. */
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		struct cat_table moved = *list[i];
		if (moved.kind != CAT_SEQUENCE || moved.seq.owner != tab->store.id)
			continue;
		moved.seq.owner = made->store.id;
		if ((st = cat_drop(cat, s->t, list[i])) == NAM_OK)
			st = cat_create(cat, s->t, &moved);
	}
	if (st == NAM_ABSENT)
		st = NAM_CONFLICT;
	return st == NAM_OK || sql_status(err, st, tab);
}
