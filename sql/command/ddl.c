/* ddl.c -- CREATE TABLE and DROP TABLE: definitions checked and handed to catalog. */
#include <sql/command/command.h>
#include <sql/common/guess_relation.h>
#include <sql/compat/postgres.h>

#include <stdio.h>
#include <stdlib.h>

bool
sql_key_columns(struct cat_table *def, const struct ast_stmt *ast, struct cat_err *err)
{
	if (ast->nnames > CAT_KEY_MAX)
		return cat_error(err, "54011", "cannot use more than %d columns in a key", CAT_KEY_MAX);
	for (unsigned k = 0; ast->has_key && k < ast->nnames; k++) {
		unsigned c = 0;
		while (c < def->columns && strcmp(def->column[c].name, ast->names[k]) != 0)
			c++;
		if (c == def->columns)
			return cat_error(
			    err, "42703", "column \"%s\" named in key does not exist", ast->names[k]);
		for (unsigned j = 0; j < k; j++)
			if (def->key[j] == c)
				return cat_error(err, "42701",
				    "column \"%s\" appears twice in primary key constraint", ast->names[k]);
		if (!cat_type_is_key(def->column[c].type) && cat_type_is_ordered(def->column[c].type))
			return cat_error(err, "0A000", "keys and indexes of type %s are not supported yet",
			    cat_type_name(def->column[c].type));
		if (!cat_type_is_key(def->column[c].type))
			return cat_error(err, "42704",
			    "data type %s has no default operator class for access method \"btree\"",
			    cat_type_name(def->column[c].type));
		if (def->column[c].type == cat_type_array_of(CAT_INTERVAL))
			return cat_error(
			    err, "0A000", "arrays of intervals in a primary key are not supported yet");
		def->key[def->keys++] = (uint16_t)c;
		def->column[c].not_null = true;
	}
	return true;
}

/* The columns an expression uses: 0, 1 and which, or 2 for more than one. */
static unsigned
columns_in(const struct ast_expr *e, const char **name)
{
	unsigned n = 0;
	if (e->kind == AST_COLUMN) {
		n = *name == NULL || strcmp(*name, e->text) == 0 ? 1 : 2;
		*name = e->text;
	}
	for (unsigned i = 0; i < e->nargs && n < 2; i++) {
		unsigned m = columns_in(e->args[i], name);
		n = m > n ? m : n;
	}
	return n;
}

bool
sql_constraint_is(const struct cat_table *def, const char *name)
{
	char key[CAT_NAME_MAX + 8];
	bool is = def->keys > 0 && strcmp(cat_key_name(def, key), name) == 0;
	for (unsigned i = 0; i < def->foreigns; i++)
		is |= strcmp(def->foreign[i].name, name) == 0;
	for (unsigned i = 0; i < def->checks; i++)
		is |= strcmp(def->check[i].name, name) == 0;
	for (unsigned i = 0; i < def->indexes; i++)
		is |= def->index[i].constraint && strcmp(def->index[i].name, name) == 0;
	return is;
}

bool
sql_check_name(struct cat_table *def, const struct ast_check *k, char out[CAT_NAME_MAX + 1],
    struct nam_arena *arena, struct cat_err *err)
{
	const char *column = NULL;
	char *name = NULL;
	if (k->name != NULL) {
		if (sql_constraint_is(def, k->name))
			return cat_error(err, "42710", "constraint \"%s\" for relation \"%s\" already exists",
			    k->name, cat_local(def->path));
		snprintf(out, CAT_NAME_MAX + 1, "%s", k->name);
		return true;
	}
	if (columns_in(k->e, &column) != 1)
		column = NULL;
	for (unsigned n = 0;; n++) {
		name = nam_arena_printf(arena, "%.28s%s%.28s_check", cat_local(def->path), column ? "_" : "",
		    column ? column : "");
		if (name != NULL && n > 0)
			name = nam_arena_printf(arena, "%s%u", name, n);
		if (name == NULL)
			return sql_no_memory(err);
		if (!sql_constraint_is(def, name))
			break;
	}
	snprintf(out, CAT_NAME_MAX + 1, "%s", name);
	return true;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct cat_check *)a)->name, ((const struct cat_check *)b)->name);
}

/* DEFAULT and CHECK: their names, and whether they make sense. */
static bool
rules(struct sql_session *s, struct cat_table *def, const struct ast_stmt *ast, struct nam_arena *arena,
    struct cat_err *err)
{
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	if (ast->key_name != NULL)
		snprintf(def->key_name, sizeof def->key_name, "%s", ast->key_name);
	if ((def->check = nam_arena_zero(arena, (ast->checks + 1) * sizeof *def->check)) == NULL)
		return sql_no_memory(err);
	for (unsigned named = 0; named < 2; named++) /* chosen names give way to given ones */
		for (unsigned i = 0; i < ast->checks; i++) {
			const struct ast_check *k = &ast->check[i];
			if ((k->name != NULL) == (named == 1))
				continue;
			struct cat_check *to = &def->check[def->checks];
			if (!sql_check_name(def, k, to->name, arena, err))
				return false;
			to->text = k->text;
			def->checks++;
		}
	qsort(def->check, def->checks, sizeof *def->check, by_name);
	return sql_plan_try(def, ast->column, ast->columns, ast->check, ast->checks, &in, err);
}

/* True if one of the first n unique constraints, or the primary key, says the same. */
static bool
is_said(const struct cat_table *def, unsigned n, const struct cat_index *ix)
{
	bool same = def->keys == ix->keys && ix->includes == 0;
	for (unsigned k = 0; same && k < ix->keys; k++)
		same = def->key[k] == ix->key[k].column;
	for (unsigned i = 0; i < n && !same; i++) {
		const struct cat_index *o = &def->index[i];
		same = o->keys == ix->keys && o->includes == ix->includes &&
		       o->nulls_equal == ix->nulls_equal &&
		       memcmp(o->include, ix->include, ix->includes * sizeof *ix->include) == 0;
		for (unsigned k = 0; same && k < ix->keys; k++)
			same = o->key[k].column == ix->key[k].column;
	}
	return same;
}

/* The primary key in order, and UNIQUE: a second constraint that says the same is no other one, but
 * may have the name. */
static bool
indexes(struct sql_session *s, struct cat_table *def, const struct ast_stmt *ast, struct nam_arena *arena,
    struct cat_err *err)
{
	if ((def->index = nam_arena_zero(arena, (ast->indexes + 2) * sizeof *def->index)) == NULL)
		return sql_no_memory(err);
	if (def->keys > 0 && sql_key_is_ordered(s, ast)) {
		if (!sql_key_order(s, def, ast, &def->index[0], err))
			return false;
		def->indexes = 1;
	}
	for (unsigned named = 2; named-- > 0;) /* chosen names give way to given ones */
		for (unsigned i = 0; i < ast->indexes; i++) {
			const struct ast_index *a = &ast->index[i];
			struct cat_index ix;
			if ((a->name != NULL) != (named == 1))
				continue;
			if (!sql_index_resolve(def, a, &ix, err))
				return false;
			if (is_said(def, def->indexes, &ix))
				continue;
			if (def->indexes == CAT_INDEXES_MAX)
				return cat_error(
				    err, "54000", "a table can have at most %d indexes", CAT_INDEXES_MAX);
			if (a->name != NULL && strlen(a->name) > CAT_NAME_MAX)
				return cat_error(err, "42622", "identifier \"%.80s\" is too long", a->name);
			if (!sql_index_name(s, def, a, def->index, def->indexes, ix.name, err))
				return false;
			for (unsigned k = 0; k < def->indexes; k++)
				if (strcmp(def->index[k].name, ix.name) == 0)
					return cat_error(
					    err, "42P07", "relation \"%s\" already exists", ix.name);
			if (strcmp(cat_local(def->path), ix.name) == 0)
				return cat_error(err, "42P07", "relation \"%s\" already exists", ix.name);
			ix.valid = true;
			def->index[def->indexes++] = ix;
		}
	return true;
}

/* FOREIGN KEY and REFERENCES. */
static bool
foreigns(struct sql_session *s, struct cat_table *def, const struct ast_stmt *ast, struct nam_arena *arena,
    struct cat_err *err)
{
	def->foreign = nam_arena_zero(arena, (ast->foreigns + 1) * sizeof *def->foreign);
	def->referrer = nam_arena_zero(arena, (ast->foreigns + 1) * sizeof *def->referrer);
	if (def->foreign == NULL || def->referrer == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < ast->foreigns; i++) {
		const struct cat_table *parent;
		struct cat_foreign *k = &def->foreign[def->foreigns];
		if (!sql_foreign_resolve(s, def, &ast->foreign[i], k, &parent, err))
			return false;
		if (parent == def)
			sql_foreign_refer(def, def->path, k->name);
		def->foreigns++;
	}
	return true;
}

/* Those of its indexes. They are asked before anything is written: when a definition is half made,
 * the catalog cannot be read. */
static bool
names_are_free(struct sql_session *s, const struct cat_table *def, struct cat_err *err)
{
	for (unsigned i = 0; i < def->indexes; i++) {
		const struct cat_table *there;
		char path[CAT_PATH_MAX + 1];
		cat_beside(def->path, def->index[i].name, path);
		nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there != NULL)
			return cat_error(err, "42P07", "relation \"%s\" already exists", def->index[i].name);
	}
	return true;
}

bool
sql_create_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_table *def = nam_arena_zero(arena, sizeof *def);
	if (def == NULL ||
	    (def->column = nam_arena_zero(arena, (ast->columns + 1) * sizeof *def->column)) == NULL)
		return sql_no_memory(err);
	snprintf(def->path, sizeof def->path, "%s", ast->table.name);
	const struct cat_table *there;
	nam_status st = cat_find(s->cfg.cat, s->t, def->path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there != NULL && ast->if_exists) {
		sql_notice(sink, "NOTICE", "42P07", "relation \"%s\" already exists, skipping",
		    cat_local(def->path));
		return true;
	}
	if (there != NULL)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def->path));
	if (!sql_type_is_taken(s, def->path, true, err))
		return false;
	if (!sql_make_as(s, def, ast->table.position, err))
		return false;
	if (ast->columns == 0)
		return cat_error(err, "0A000", "tables without columns are not supported yet");
	if (ast->columns > CAT_COLUMNS_MAX)
		return cat_error(err, "54011", "tables can have at most %d columns", CAT_COLUMNS_MAX);
	if (ast->key_kind != AST_KEY_UNSAID && !ast->has_key)
		return sql_key_is_missing(cat_local(def->path), err);
	def->columns = (uint16_t)ast->columns;
	def->on_commit = ast->on_commit;
	s->on_commit |= ast->on_commit != 0;
	def->store.slots = (uint16_t)ast->versions;
	for (unsigned i = 0; i < ast->columns; i++) {
		const struct ast_column *a = &ast->column[i];
		struct cat_column *c = &def->column[i];
		if (strlen(a->name) > CAT_NAME_MAX)
			return cat_error(err, "42622", "identifier \"%.80s\" is too long", a->name);
		if (sql_system_column(a->name)) {
			cat_error(
			    err, "42701", "column name \"%s\" conflicts with a system column name", a->name);
			err->position = a->position;
			return false;
		}
		for (unsigned k = 0; k < i; k++)
			if (strcmp(def->column[k].name, a->name) == 0) {
				cat_error(err, "42701", "column \"%s\" specified more than once", a->name);
				err->position = a->position;
				return false;
			}
		strcpy(c->name, a->name);
		if (!sql_column_of(s, a->type, a->typmod, &a->named, c, err))
			return false;
		c->not_null = a->not_null;
		c->dflt = a->dflt_text;
		c->identity = a->identity;
	}
	if (!sql_key_columns(def, ast, err) || !rules(s, def, ast, arena, err) ||
	    !indexes(s, def, ast, arena, err) || !foreigns(s, def, ast, arena, err) ||
	    !cat_table_layout(def, err) || !sql_types_use(s, def, err) || !sql_domains_use(s, def, true, err))
		return false;
	s->ddl = true;
	char(*seq)[CAT_PATH_MAX + 1] = nam_arena_zero(arena, ast->columns * sizeof *seq);
	if (seq == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < ast->columns; i++)
		if (ast->column[i].seq != NULL && !sql_sequence_name(s, def->path, def->column[i].name,
						      seq[i], &def->column[i].dflt, arena, err))
			return false;
	if (!names_are_free(s, def, err))
		return false;
	/* Another transaction has made one of that name meanwhile. */
	if ((st = cat_create(s->cfg.cat, s->t, def)) == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(def->path));
	if (st == NAM_OK)
		st = cat_find(s->cfg.cat, s->t, def->path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (unsigned i = 0; i < ast->columns; i++)
		if (ast->column[i].seq != NULL &&
		    !sql_make_sequence(s, seq[i], ast->column[i].seq, there, err))
			return false;
	for (unsigned i = 0; i < def->foreigns; i++)
		if (strcmp(def->foreign[i].table, def->path) != 0 &&
		    !sql_foreign_link(s, def->path, &def->foreign[i], true, s->block == SQL_IDLE, arena, err))
			return false;
	return true;
}

/* Those that feed a column of tab, or are said to be owned by one. */
static bool
drop_sequences(struct sql_session *s, const struct cat_table *tab, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	struct nam_arena *arena = sql_arena(s, 1);
	nam_status st = arena ? cat_list(s->cfg.cat, s->t, &list, &n, arena) : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (list[i]->kind == CAT_SEQUENCE && list[i]->seq.owner == tab->store.id)
			st = cat_drop(s->cfg.cat, s->t, list[i]);
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_drop_relations(struct sql_session *s, const struct ast_stmt *ast, enum cat_kind kind,
    const struct sql_sink *sink, struct cat_err *err)
{
	const char *what = kind == CAT_VIEW ? "view" : "table";
	for (unsigned i = 0, tries = 0; i < ast->nnames; i++) {
		const struct cat_table *tab;
		nam_status st = cat_find(s->cfg.cat, s->t, ast->names[i], &tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (tab == NULL) {
			if (!ast->if_exists) {
				cat_error(
				    err, "42P01", "%s \"%s\" does not exist", what, cat_local(ast->names[i]));
				sql_guess_relation(s->cfg.cat, s->t, ast->names[i], sql_arena(s, 1), err);
				return false;
			}
			sql_notice(sink, "NOTICE", "00000", "%s \"%s\" does not exist, skipping", what,
			    cat_local(ast->names[i]));
			continue;
		}
		if (tab->system && kind == CAT_TABLE)
			return cat_error(err, "42501", "permission denied: \"%s\" is a system catalog",
			    cat_local(tab->path));
		if (tab->kind != kind)
			return cat_error(err, "42809", "\"%s\" is not a %s", cat_local(tab->path), what);
		if (!ast->whoever && !sql_may_drop(s, tab, err))
			return false;
		s->ddl = true;
		/* The drop waits for transactions that write the table; rows that this transaction
		 * has not seen make it a conflict. */
		st = kind == CAT_TABLE ? cat_hold_to_end(s->cfg.cat, s->t, tab) : NAM_OK;
		/* Another transaction was faster. The name may stand for another table now, or for
		 * none. */
		if (st == NAM_CONFLICT && s->iso == TXN_READ_COMMITTED && tries++ < SQL_RETRIES &&
		    (st = txn_statement(s->t)) == NAM_OK) {
			i--;
			continue;
		}
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (!sql_drop_dependents(s, tab, ast, sink, err) ||
		    (kind == CAT_TABLE &&
			(!sql_foreign_drop_table(s, tab, ast, sink, err) || !drop_sequences(s, tab, err))))
			return false;
		st = cat_drop(s->cfg.cat, s->t, tab);
		if (st == NAM_ABSENT) /* another transaction was faster */
			return cat_error(
			    err, "42P01", "%s \"%s\" does not exist", what, cat_local(ast->names[i]));
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
	}
	return true;
}
