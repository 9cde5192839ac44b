/* alter.c -- ALTER TABLE: another definition over the same rows, once the rows are seen to hold
 * it. */
#include <sql/command/alter.h>
#include <sql/command/grant.h>
#include <sql/common/guess_relation.h>
#include <sql/compat/postgres.h>
#include <sql/dml/dml.h>

#include <stdio.h>
#include <stdlib.h>

bool
sql_alter_column(const struct cat_table *def, const char *name, unsigned *out, struct cat_err *err)
{
	for (unsigned c = 0; c < def->columns; c++)
		if (strcmp(def->column[c].name, name) == 0) {
			*out = c;
			return true;
		}
	cat_error(
	    err, "42703", "column \"%s\" of relation \"%s\" does not exist", name, cat_local(def->path));
	sql_guess_in_table(def, name, err);
	return false;
}

static bool
is_key(const struct cat_table *def, unsigned c)
{
	for (unsigned k = 0; k < def->keys; k++)
		if (def->key[k] == c)
			return true;
	return false;
}

bool
sql_any_of(
    struct sql_session *s, const char *text, bool *out, const struct sql_sink *sink, struct cat_err *err)
{
	struct sql_parsed *parsed;
	if (!sql_parse(s->cfg.parser, text, strlen(text), &parsed, err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, err);
	int rows = -1;
	if (p != NULL && sql_alone_begin(s, p, &p->arena, sink, err)) {
		if (sql_open(&s->x, p->root))
			rows = sql_next(&s->x, p->root);
		sql_close(&s->x, p->root);
	}
	if (p != NULL)
		sql_alone_end(s, p);
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	*out = rows > 0;
	err->position = 0;
	return rows >= 0;
}

bool
sql_any_row(struct sql_session *s, const struct cat_table *tab, const char *condition, bool *out,
    const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err)
{
	const char *name = sql_path_text(tab->path, arena);
	char *text =
	    name ? nam_arena_printf(arena, "SELECT 1 FROM %s WHERE %s LIMIT 1", name, condition) : NULL;
	return text != NULL ? sql_any_of(s, text, out, sink, err) : sql_no_memory(err);
}

static bool
no_nulls(struct sql_alter *a, const struct cat_table *tab, const struct cat_column *c)
{
	bool bad;
	const char *name = sql_quote_name(c->name, a->arena);
	char *cond = name ? nam_arena_printf(a->arena, "%s IS NULL", name) : NULL;
	if (cond == NULL)
		return sql_no_memory(a->err);
	if (!sql_any_row(a->s, tab, cond, &bad, a->sink, a->arena, a->err))
		return false;
	if (!bad)
		return true;
	cat_error(a->err, "23502", "column \"%s\" of relation \"%s\" contains null values", c->name,
	    cat_local(tab->path));
	return cat_error_about(a->err, cat_local(tab->path), c->name, NULL);
}

static bool
all_pass(struct sql_alter *a, const struct cat_table *tab, const struct cat_check *k)
{
	bool bad;
	char *cond = nam_arena_printf(a->arena, "NOT (%s)", k->text);
	if (cond == NULL)
		return sql_no_memory(a->err);
	if (!sql_any_row(a->s, tab, cond, &bad, a->sink, a->arena, a->err))
		return false;
	if (!bad)
		return true;
	cat_error(a->err, "23514", "check constraint \"%s\" of relation \"%s\" is violated by some row",
	    k->name, cat_local(tab->path));
	return cat_error_about(a->err, cat_local(tab->path), NULL, k->name);
}

static bool
add_check(struct sql_alter *a, const struct ast_check *k)
{
	struct sql_bind_in in = { .cat = a->s->cfg.cat, .t = a->s->t, .parser = a->s->cfg.parser };
	struct cat_check *to = &a->def->check[a->def->checks];
	if (!sql_check_name(a->def, k, to->name, a->arena, a->err) ||
	    !sql_plan_try(a->def, NULL, 0, k, 1, &in, a->err))
		return false;
	to->text = k->text;
	a->def->checks++;
	return true;
}

static bool
drop_constraint(struct sql_alter *w, const struct ast_alter *a)
{
	struct cat_table *def = w->def;
	struct cat_err *err = w->err;
	char buf[CAT_NAME_MAX + 8];
	for (unsigned i = 0; i < def->checks; i++) {
		if (strcmp(def->check[i].name, a->name) != 0)
			continue;
		memmove(def->check + i, def->check + i + 1, (def->checks - i - 1) * sizeof *def->check);
		def->checks--;
		return true;
	}
	bool found;
	if (!sql_alter_drop_foreign(w, a->name, &found))
		return false;
	if (found)
		return true;
	if (def->keys > 0 && strcmp(cat_key_name(def, buf), a->name) == 0) {
		if (!sql_foreign_need(w->s, w->tab, def, sql_primary_key(w->tab), "constraint", a->name,
			a->cascade, w->sink, err))
			return false;
		int order = cat_key_order(w->tab);
		if (order >= 0)
			w->unwanted |= 1u << order;
		def->keys = 0;
		def->key_name[0] = 0;
		return w->rewrite = true;
	}
	for (unsigned i = 0; i < w->tab->indexes; i++)
		if (w->tab->index[i].constraint && strcmp(w->tab->index[i].name, a->name) == 0 &&
		    !sql_foreign_need(
			w->s, w->tab, def, (int)i, "constraint", a->name, a->cascade, w->sink, err))
			return false;
	if (sql_alter_drop_unique(w, a->name))
		return true;
	if (!a->if_exists)
		return cat_error(err, "42704", "constraint \"%s\" of relation \"%s\" does not exist", a->name,
		    cat_local(def->path));
	sql_notice(w->sink, "NOTICE", "00000",
	    "constraint \"%s\" of relation \"%s\" does not exist, skipping", a->name, cat_local(def->path));
	return true;
}

static bool
rename_(struct sql_alter *w, const struct ast_alter *a)
{
	struct sql_session *s = w->s;
	const struct cat_table *tab = w->tab;
	struct cat_table *def = w->def;
	struct cat_err *err = w->err;
	const struct cat_table *there = NULL;
	unsigned c = 0;
	bool read;
	char path[CAT_PATH_MAX + 1];
	if (strlen(a->to) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", a->to);
	if (a->kind == AST_RENAME_COLUMN) {
		if (!sql_alter_column(def, a->name, &c, err))
			return false;
		if (sql_system_column(a->to))
			return cat_error(
			    err, "42701", "column name \"%s\" conflicts with a system column name", a->to);
		for (unsigned i = 0; i < def->columns; i++)
			if (strcmp(def->column[i].name, a->to) == 0)
				return cat_error(err, "42701",
				    "column \"%s\" of relation \"%s\" already exists", a->to,
				    cat_local(def->path));
	} else {
		cat_beside(tab->path, a->to, path);
		nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there != NULL)
			return cat_error(err, "42P07", "relation \"%s\" already exists", a->to);
		if (!sql_type_is_taken(s, path, true, err))
			return false;
	}
	if (!sql_has_dependents(s, tab, &read, err))
		return false;
	if (read)
		return cat_error(err, "0A000", "renaming what a view reads is not supported yet");
	if (a->kind == AST_RENAME_COLUMN) {
		snprintf(def->column[c].name, sizeof def->column[c].name, "%s", a->to);
		struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
		struct sql_plan *p = sql_plan_rules(def, &in, err);
		if (p == NULL)
			return cat_error(err, "0A000",
			    "renaming a column that a CHECK constraint reads is not supported yet");
		sql_plan_free(p);
		return sql_foreign_rename(s, tab, def, a->name, a->to, w->arena, err);
	}
	if (!sql_foreign_rename(s, tab, def, NULL, path, w->arena, err))
		return false;
	char buf[CAT_NAME_MAX + 8];
	if (def->keys > 0 && def->key_name[0] == 0)
		snprintf(def->key_name, sizeof def->key_name, "%.63s", cat_key_name(tab, buf));
	memcpy(def->path, path, sizeof def->path);
	return true;
}

/* When an action is done, whatever was written first: PostgreSQL's passes. */
static unsigned
pass_of(const struct ast_alter *k)
{
	switch (k->kind) {
	case AST_DROP_COLUMN:
	case AST_DROP_CONSTRAINT:
	case AST_DROP_NOT_NULL:
		return 0;
	case AST_ALTER_TYPE:
		return 1;
	case AST_ADD_COLUMN:
		return 2;
	case AST_SET_DEFAULT:
		return k->e ? 3 : 0;
	case AST_SET_NOT_NULL:
		return 3;
	default:
		return 4;
	}
}
enum { PASSES = 5 };

static bool
one(struct sql_alter *a, const struct ast_alter *k)
{
	struct cat_table *def = a->def;
	struct sql_session *s = a->s;
	struct cat_err *err = a->err;
	unsigned c = 0;
	if (k->kind <= AST_DROP_NOT_NULL && !sql_alter_column(def, k->name, &c, err))
		return false;
	switch (k->kind) {
	case AST_SET_DEFAULT: {
		struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
		struct ast_column col = { .name = k->name, .dflt = k->e };
		if (def->column[c].identity)
			return cat_error(err, "42601",
			    "column \"%s\" of relation \"%s\" is an identity column", k->name,
			    cat_local(def->path));
		if (k->e != NULL && !sql_plan_try(def, &col, 1, NULL, 0, &in, err))
			return false;
		def->column[c].dflt = k->text;
		return true;
	}
	case AST_SET_NOT_NULL:
		def->column[c].not_null = true;
		return true;
	case AST_DROP_NOT_NULL:
		if (is_key(def, c))
			return cat_error(err, "42P16", "column \"%s\" is in a primary key", k->name);
		if (def->column[c].identity)
			return cat_error(err, "42601",
			    "column \"%s\" of relation \"%s\" is an identity column", k->name,
			    cat_local(def->path));
		def->column[c].not_null = false;
		return true;
	case AST_ADD_COLUMN:
		return sql_alter_add(a, k);
	case AST_DROP_COLUMN:
		return sql_alter_drop(a, k);
	case AST_ALTER_TYPE:
		return sql_alter_type(a, k);
	case AST_ADD_KEY:
		return true; /* with that of an added column, when all columns are there */
	case AST_ADD_UNIQUE:
	case AST_ADD_FOREIGN:
		return true; /* when the rows are what they will be */
	case AST_SET_OPTIONS:
		return true; /* when it is clear whether the table will have a primary key */
	case AST_ADD_CHECK:
		return add_check(a, &a->ast->check[k->index]);
	case AST_DROP_CONSTRAINT:
		return drop_constraint(a, k);
	default:
		return rename_(a, k);
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct cat_check *)a)->name, ((const struct cat_check *)b)->name);
}

/* True if that check was there before, over columns that have not changed. */
static bool
known_check(const struct sql_alter *a, const struct cat_check *k)
{
	bool known = false;
	for (unsigned i = 0; i < a->tab->checks; i++)
		known |= a->tab->check[i].text == k->text;
	for (unsigned c = 0; known && c < a->def->columns; c++)
		known = !a->from[c].typed;
	return known;
}

static bool
known_not_null(const struct sql_alter *a, unsigned c)
{
	const struct sql_alter_from *f = &a->from[c];
	return f->was >= 0 && !f->typed && a->tab->column[f->was].not_null;
}

/* The definition in the catalog becomes that one. */
static bool
put(struct sql_alter *a, const struct cat_table *def, const struct cat_table **is)
{
	nam_status st = cat_alter(a->s->cfg.cat, a->s->t, *is, def);
	if (st == NAM_DUPLICATE)
		return cat_error(a->err, "42P07", "relation \"%s\" already exists", cat_local(def->path));
	if (st == NAM_OK)
		st = cat_find(a->s->cfg.cat, a->s->t, def->path, is);
	return st == NAM_OK || sql_status(a->err, st, NULL);
}

/* All is said: the rows are made what they are to be, and looked at. */
static bool
apply(struct sql_alter *a)
{
	struct cat_table *def = a->def;
	const struct cat_table *is = a->tab;
	unsigned asked = 0;
	if (def->columns == 0)
		return cat_error(a->err, "0A000", "tables without columns are not supported yet");
	if (!sql_types_use(a->s, def, a->err) || !sql_alter_key_kind(a) || !sql_alter_indexes(a))
		return false;
	is = a->tab;
	if (a->reshape && !a->rewrite && !sql_alter_places(a))
		return false;
	if (a->rewrite) { /* rows of a new table have all places of their own */
		def->place = NULL;
		for (unsigned c = 0; c < def->columns; c++)
			def->column[c].missing = NULL;
	}
	/* The new rules hold only once they have been asked. */
	struct cat_table first = *def;
	first.column = nam_arena_copy(a->arena, def->column, def->columns * sizeof *first.column);
	first.check = nam_arena_zero(a->arena, (def->checks + 1) * sizeof *first.check);
	if (first.column == NULL || first.check == NULL)
		return sql_no_memory(a->err);
	first.checks = 0;
	for (unsigned i = 0; i < def->checks; i++)
		if (known_check(a, &def->check[i]))
			first.check[first.checks++] = def->check[i];
		else
			asked++;
	for (unsigned c = 0; c < def->columns; c++)
		if (def->column[c].not_null && !known_not_null(a, c)) {
			first.column[c].not_null = false;
			asked++;
		}
	if ((a->reshape || a->rewrite) && !sql_alter_views(a))
		return false;
	if (a->rewrite ? !sql_alter_rewrite(a, &first, &is)
		       : a->reshape && (!sql_alter_sequences(a) || !put(a, &first, &is)))
		return false;
	for (unsigned c = 0; c < def->columns; c++)
		if (def->column[c].not_null && !first.column[c].not_null && !no_nulls(a, is, &def->column[c]))
			return false;
	for (unsigned i = 0; i < def->checks; i++)
		if (!known_check(a, &def->check[i]) && !all_pass(a, is, &def->check[i]))
			return false;
	bool done = (a->reshape || a->rewrite) && asked == 0;
	if (!done && a->rewrite) /* its rows are of a new table, whose trees are its own */
		memcpy(def->index, is->index, def->indexes * sizeof *def->index);
	if ((!done && !put(a, def, &is)) || !sql_alter_add_indexes(a, is))
		return false;
	nam_status st = cat_find(a->s->cfg.cat, a->s->t, def->path, &is);
	return st == NAM_OK ? sql_alter_add_foreign(a, is) : sql_status(a->err, st, NULL);
}

bool
sql_alter_find(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    const struct cat_table **tab, struct cat_err *err)
{
	nam_status st = cat_find(s->cfg.cat, s->t, ast->table.name, tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (*tab != NULL)
		return true;
	if (ast->if_exists) {
		sql_notice(sink, "NOTICE", "00000", "relation \"%s\" does not exist, skipping",
		    sql_path_shown(ast->table.name));
		return true;
	}
	cat_error(err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->table.name));
	sql_guess_relation(s->cfg.cat, s->t, ast->table.name, sql_arena(s, 1), err);
	err->position = ast->table.position;
	return false;
}

/* A new name is one more in the schema: it stays until the transaction ends. */
static bool
schema_stays(
    struct sql_session *s, const struct ast_stmt *ast, const struct cat_table *tab, struct cat_err *err)
{
	char schema[CAT_NAME_MAX + 1];
	bool renames = false;
	for (unsigned i = 0; i < ast->alters; i++)
		renames |= ast->alter[i].kind == AST_RENAME_TABLE;
	if (!renames || cat_in_public(tab->path))
		return true;
	cat_schema_of(tab->path, schema);
	return sql_makes_in(s, schema, 0, err);
}

/* A view, or a sequence, gets another name. */
static bool
rename_other(
    struct sql_session *s, const struct ast_stmt *ast, const struct cat_table *tab, struct cat_err *err)
{
	const char *to = ast->alter[0].to;
	const struct cat_table *there = NULL;
	bool read = false;
	char path[CAT_PATH_MAX + 1];
	if (strlen(to) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", to);
	if (tab->system)
		return cat_error(
		    err, "42501", "permission denied: \"%s\" is a system catalog", cat_local(tab->path));
	if (!sql_must_own(s, tab, err))
		return false;
	s->ddl = true;
	if (!schema_stays(s, ast, tab, err))
		return false;
	cat_beside(tab->path, to, path);
	nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there != NULL)
		return cat_error(err, "42P07", "relation \"%s\" already exists", to);
	if (!sql_type_is_taken(s, path, true, err) || !sql_has_dependents(s, tab, &read, err))
		return false;
	if (read)
		return cat_error(err, "0A000", "renaming what a view reads is not supported yet");
	if (tab->kind == CAT_SEQUENCE && sql_sequence_in_use(s, tab, err)) {
		if (strcmp(err->sqlstate, "2BP01") != 0)
			return false;
		sql_err_clear(err);
		return cat_error(
		    err, "0A000", "renaming a sequence that a default reads is not supported yet");
	}
	struct cat_table def = *tab;
	memcpy(def.path, path, sizeof def.path);
	st = cat_grant_as(s->cfg.cat, s->t, tab, &def);
	return st == NAM_OK || sql_status(err, st, tab);
}

/* ALTER ... RENAME TO of something that is no table. *done false: it is one, or there is none. */
static bool
rename_any(struct sql_session *s, const struct ast_stmt *ast, const struct cat_table *tab,
    const struct sql_sink *sink, bool *done, struct cat_err *err)
{
	enum ast_renames what = ast->alter[0].renames;
	const struct cat_table *keyed = NULL;
	nam_status st = tab == NULL ? sql_key_find(s, ast->table.name, &keyed) : NAM_OK;
	*done = keyed != NULL || (tab != NULL && (tab->kind != CAT_TABLE || what != AST_RENAMES_ANY));
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (!*done)
		return true;
	if (what != AST_RENAMES_ANY &&
	    (tab == NULL || tab->kind != (what == AST_RENAMES_VIEW ? CAT_VIEW : CAT_SEQUENCE)))
		return cat_error(err, "42809", "\"%s\" is not a %s", cat_local(ast->table.name),
		    what == AST_RENAMES_VIEW ? "view" : "sequence");
	if (tab == NULL || tab->kind == CAT_INDEX) {
		const char *names[] = { ast->table.name, ast->alter[0].to };
		const struct ast_stmt index = { .kind = AST_RENAME_INDEX, .names = names, .nnames = 2 };
		return sql_rename_index(s, &index, sink, err);
	}
	if (tab->kind == CAT_VIEW || tab->kind == CAT_SEQUENCE)
		return rename_other(s, ast, tab, err);
	return cat_error(err, "42809", "\"%s\" is not a table", cat_local(tab->path));
}

bool
sql_alter_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *tab;
	nam_status st;
	if (ast->alters == 1 && ast->alter[0].kind == AST_RENAME_TABLE) {
		bool done;
		st = cat_find(s->cfg.cat, s->t, ast->table.name, &tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (!rename_any(s, ast, tab, sink, &done, err))
			return false;
		if (done)
			return true;
	}
	if (!sql_alter_find(s, ast, sink, &tab, err))
		return false;
	if (tab == NULL)
		return true;
	if (tab->kind != CAT_TABLE)
		return cat_error(err, "42809", "\"%s\" is not a table", cat_local(tab->path));
	if (tab->system)
		return cat_error(
		    err, "42501", "permission denied: \"%s\" is a system catalog", cat_local(tab->path));
	if (!sql_must_own(s, tab, err))
		return false;
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	s->ddl = true;
	/* The schema before the table, as DROP SCHEMA holds them. */
	if (!schema_stays(s, ast, tab, err))
		return false;
	if ((st = cat_hold(s->cfg.cat, s->t, tab)) != NAM_OK)
		return sql_status(err, st, NULL);
	struct cat_table def = *tab;
	struct sql_alter a = {
		.s = s, .ast = ast, .tab = tab, .def = &def, .sink = sink, .arena = arena, .err = err
	};
	unsigned columns = tab->columns + ast->columns, checks = tab->checks + ast->checks;
	def.column = nam_arena_zero(arena, (columns + 1) * sizeof *def.column);
	def.check = nam_arena_zero(arena, (checks + 1) * sizeof *def.check);
	a.from = nam_arena_zero(arena, (columns + 1) * sizeof *a.from);
	a.gone = nam_arena_zero(arena, (tab->columns + 1u) * sizeof *a.gone);
	if (def.column == NULL || def.check == NULL || a.from == NULL || a.gone == NULL)
		return sql_no_memory(err);
	if (!sql_alter_foreign_begin(&a))
		return false;
	memcpy(def.column, tab->column, tab->columns * sizeof *def.column);
	for (unsigned c = 0; c < tab->columns; c++)
		a.from[c].was = (int)c;
	if (tab->checks > 0)
		memcpy(def.check, tab->check, tab->checks * sizeof *def.check);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		for (unsigned i = 0; i < ast->alters; i++)
			if (pass_of(&ast->alter[i]) == pass && !one(&a, &ast->alter[i]))
				return false;
		if (pass == 3 && ast->has_key && !sql_alter_key(&a))
			return false;
	}
	/* CHECKs that stand beside an added column */
	for (unsigned i = 0; i < ast->checks; i++) {
		const struct ast_check *k = &ast->check[i];
		bool added = false;
		for (unsigned c = 0; k->column != NULL && c < def.columns; c++)
			added |= a.from[c].added != NULL && strcmp(def.column[c].name, k->column) == 0;
		if (added && !add_check(&a, k))
			return false;
	}
	qsort(def.check, def.checks, sizeof *def.check, by_name);
	for (unsigned c = 0; c < def.columns; c++)
		if (def.column[c].domain != 0 &&
		    (a.from[c].was < 0 || tab->column[a.from[c].was].domain != def.column[c].domain) &&
		    !sql_domain_use(s, def.column[c].domain, true, err))
			return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	bool columns_are_others = a.rewrite || a.reshape;
	struct sql_plan *p = columns_are_others ? sql_plan_rules(&def, &in, err) : NULL;
	if (columns_are_others && p == NULL)
		return false;
	sql_plan_free(p);
	return apply(&a);
}
