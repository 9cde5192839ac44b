/*
 * key.c -- how a primary key is kept: by its hash, or in order.
 *
 * A hash index of the table's store keeps the key unique and leads to single keys. If ranges of
 * keys are wanted, the table has a unique index of the key's columns instead (cat_index.primary).
 * It bears the constraint's name.
 */
#include <sql/command/command.h>

#include <stdio.h>

bool
sql_key_is_ordered(const struct sql_session *s, const struct ast_stmt *ast)
{
	return ast->key_kind == AST_KEY_ORDERED || (ast->key_kind < AST_KEY_HASH && s->now.keys_ordered);
}

bool
sql_key_is_missing(const char *table, struct cat_err *err)
{
	cat_error(err, "22023", "\"primary_key\" is said of table \"%s\", which has no primary key", table);
	snprintf(err->hint, sizeof err->hint,
	    "Say it where the key is made: PRIMARY KEY (...) WITH (primary_key = ordered).");
	return false;
}

/* A name that no relation beside the table of that path has: table_pkey, or with a number. */
static bool
free_name(struct sql_session *s, const char *table, char out[CAT_NAME_MAX + 1], struct cat_err *err)
{
	const struct cat_table *there;
	char label[16], path[CAT_PATH_MAX + 1];
	for (unsigned try = 0;; try++) {
		snprintf(label, sizeof label, try ? "pkey%u" : "pkey", try);
		sql_make_name(cat_local(table), "", label, out);
		cat_beside(table, out, path);
		nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there == NULL && strcmp(path, table) != 0)
			return true;
	}
}

static bool
is_free(struct sql_session *s, const char *table, const char *name, struct cat_err *err)
{
	const struct cat_table *there;
	char path[CAT_PATH_MAX + 1];
	cat_beside(table, name, path);
	nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	return there == NULL || cat_error(err, "42P07", "relation \"%s\" already exists", name);
}

bool
sql_key_order(struct sql_session *s, struct cat_table *def, const struct ast_stmt *ast, struct cat_index *ix,
    struct cat_err *err)
{
	*ix = (struct cat_index){
		.keys = def->keys, .unique = true, .constraint = true, .primary = true, .valid = true
	};
	for (unsigned k = 0; k < def->keys; k++)
		ix->key[k].column = def->key[k];
	if (ast->has_key ? ast->key_name == NULL : def->key_name[0] == 0) {
		if (!free_name(s, def->path, ix->name, err))
			return false;
	} else {
		snprintf(ix->name, sizeof ix->name, "%s", ast->has_key ? ast->key_name : def->key_name);
		if (!is_free(s, def->path, ix->name, err))
			return false;
		if (strcmp(ix->name, cat_local(def->path)) == 0)
			return cat_error(err, "42P07", "relation \"%s\" already exists", ix->name);
	}
	memcpy(def->key_name, ix->name, sizeof def->key_name);
	return true;
}

nam_status
sql_key_find(struct sql_session *s, const char *path, const struct cat_table **out)
{
	struct nam_arena *arena = sql_arena(s, 3);
	const struct cat_table **tab;
	unsigned n;
	nam_status st = arena != NULL ? cat_list(s->cfg.cat, s->t, &tab, &n, arena) : NAM_NOMEM;
	*out = NULL;
	for (unsigned i = 0; st == NAM_OK && i < n && *out == NULL; i++) {
		char key[CAT_NAME_MAX + 8], its[CAT_PATH_MAX + 1];
		if (tab[i]->kind != CAT_TABLE || tab[i]->keys == 0 || cat_key_order(tab[i]) >= 0)
			continue;
		cat_beside(tab[i]->path, cat_key_name(tab[i], key), its);
		if (strcmp(its, path) == 0 ||
		    (sql_path_is_nowhere(path) && strcmp(cat_local(its), cat_local(path)) == 0))
			*out = tab[i];
	}
	return st;
}

bool
sql_key_rename(struct sql_session *s, const struct cat_table *tab, const char *name, struct cat_err *err)
{
	const struct cat_table *other;
	if (tab->system)
		return cat_error(
		    err, "42501", "permission denied: \"%s\" is a system catalog", cat_local(tab->path));
	char path[CAT_PATH_MAX + 1];
	cat_beside(tab->path, name, path);
	nam_status st = sql_key_find(s, path, &other);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (other != NULL)
		return cat_error(err, "42P07", "relation \"%s\" already exists", name);
	if (!is_free(s, tab->path, name, err))
		return false;
	s->ddl = true;
	struct cat_table def = *tab;
	snprintf(def.key_name, sizeof def.key_name, "%s", name);
	if ((st = cat_hold(s->cfg.cat, s->t, tab)) == NAM_OK)
		st = cat_alter(s->cfg.cat, s->t, tab, &def);
	return st == NAM_OK || sql_status(err, st, tab);
}
