/* alter_index.c -- what ALTER TABLE does to a table's indexes: those of dropped columns go, UNIQUE
 * constraints come and go, and the others follow their columns. */
#include <sql/command/alter.h>

#include <stdio.h>

bool
sql_alter_drop_unique(struct sql_alter *a, const char *name)
{
	for (unsigned i = 0; i < a->tab->indexes; i++)
		if (a->tab->index[i].constraint && strcmp(a->tab->index[i].name, name) == 0) {
			a->unwanted |= 1u << i;
			return true;
		}
	return false;
}

/* The column of the new definition that column `was` of the old one has become; -1 = none. */
static int
becomes(const struct sql_alter *a, unsigned was)
{
	for (unsigned c = 0; c < a->def->columns; c++)
		if (a->from[c].was == (int)was)
			return (int)c;
	return -1;
}

static bool
loses_column(const struct sql_alter *a, const struct cat_index *ix)
{
	bool lost = false;
	for (unsigned k = 0; k < ix->keys; k++)
		lost |= becomes(a, ix->key[k].column) < 0;
	for (unsigned k = 0; k < ix->includes; k++)
		lost |= becomes(a, ix->include[k]) < 0;
	return lost;
}

/* All rows are written once more, and the primary key's index is made with them. */
static bool
make_order(struct sql_alter *a)
{
	struct cat_table *def = a->def;
	if (def->indexes == CAT_INDEXES_MAX)
		return cat_error(a->err, "54000", "a table can have at most %d indexes", CAT_INDEXES_MAX);
	return sql_key_order(a->s, def, a->ast, &def->index[def->indexes++], a->err);
}

bool
sql_alter_key_kind(struct sql_alter *a)
{
	int order = cat_key_order(a->tab);
	bool said = a->ast->key_kind != AST_KEY_UNSAID, kept = order >= 0 && !(a->unwanted >> order & 1);
	if (!said && !a->ast->has_key)
		return true;
	if (a->def->keys == 0)
		return sql_key_is_missing(cat_local(a->def->path), a->err);
	bool wanted = sql_key_is_ordered(a->s, a->ast);
	a->order_key = wanted && !kept;
	if (kept && !wanted)
		a->unwanted |= 1u << order;
	/* The rows of a store have a hash, or none. */
	a->rewrite |= kept != wanted;
	return true;
}

bool
sql_alter_indexes(struct sql_alter *a)
{
	_Static_assert(CAT_INDEXES_MAX <= 32, "unwanted has a bit for each");
	struct cat *cat = a->s->cfg.cat;
	struct cat_table *def = a->def;
	for (unsigned i = a->tab->indexes; i-- > 0;) {
		if (!loses_column(a, &a->tab->index[i]) && !(a->unwanted >> i & 1))
			continue;
		nam_status st = cat_index_drop(cat, a->s->t, a->tab, i);
		if (st == NAM_OK)
			st = cat_find(cat, a->s->t, a->tab->path, &a->tab);
		if (st != NAM_OK)
			return sql_status(a->err, st, NULL);
	}
	def->indexes = a->tab->indexes;
	def->index = nam_arena_zero(a->arena, (def->indexes + 2) * sizeof *def->index);
	if (def->index == NULL)
		return sql_no_memory(a->err);
	if (def->indexes > 0)
		memcpy(def->index, a->tab->index, def->indexes * sizeof *def->index);
	def->generation = a->tab->generation;
	for (unsigned i = 0; i < def->indexes; i++) {
		struct cat_index *ix = &def->index[i];
		for (unsigned k = 0; k < ix->keys; k++) {
			ix->key[k].column = (uint16_t)becomes(a, ix->key[k].column);
			/* Its keys are others, or may be longer. */
			a->rewrite |= a->from[ix->key[k].column].typed;
		}
		for (unsigned k = 0; k < ix->includes; k++)
			ix->include[k] = (uint16_t)becomes(a, ix->include[k]);
	}
	return !a->order_key || make_order(a);
}

bool
sql_alter_add_indexes(struct sql_alter *a, const struct cat_table *is)
{
	for (unsigned i = 0; i < a->ast->indexes; i++) {
		const struct ast_index *x = &a->ast->index[i];
		struct cat_index ix;
		if (!sql_index_resolve(is, x, &ix, a->err) ||
		    !sql_index_name(a->s, is, x, NULL, 0, ix.name, a->err))
			return false;
		ix.valid = true;
		char path[CAT_PATH_MAX + 1];
		cat_beside(is->path, ix.name, path);
		if (!sql_index_add(a->s, is, &ix, a->err) || !sql_index_build(a->s, path, a->sink, a->err))
			return false;
		nam_status st = cat_find(a->s->cfg.cat, a->s->t, is->path, &is);
		if (st != NAM_OK)
			return sql_status(a->err, st, NULL);
	}
	return true;
}
