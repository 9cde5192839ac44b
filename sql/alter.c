/* alter.c -- ALTER TABLE: another definition over the same rows, once the rows are seen to hold it. */
#include "session_internal.h"

#include <base/clock.h>
#include <stdio.h>
#include <stdlib.h>

static bool
column_of(const struct cat_table *def, const char *name, unsigned *out, struct cat_err *err)
{
	for (unsigned c = 0; c < def->columns; c++)
		if (strcmp(def->column[c].name, name) == 0) {
			*out = c;
			return true;
		}
	return cat_error(err, "42703", "column \"%s\" of relation \"%s\" does not exist", name, def->name);
}

static bool
is_key(const struct cat_table *def, unsigned c)
{
	for (unsigned k = 0; k < def->keys; k++)
		if (def->key[k] == c)
			return true;
	return false;
}

/* A name in double quotes. */
static const char *
quoted(const char *name, struct nam_arena *arena)
{
	char *out = nam_arena_take(arena, 2 * strlen(name) + 3), *to = out;
	if (out == NULL)
		return NULL;
	*to++ = '"';
	for (; *name != 0; name++) {
		if (*name == '"')
			*to++ = '"';
		*to++ = *name;
	}
	*to++ = '"';
	*to = 0;
	return out;
}

/* Is there a row of tab for which a condition is true? */
static bool
any_row(struct sql_session *s, const struct cat_table *tab, const char *condition, bool *out,
    const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err)
{
	const char *name = quoted(tab->name, arena);
	char *text =
	    name ? nam_arena_printf(arena, "SELECT 1 FROM %s WHERE %s LIMIT 1", name, condition) : NULL;
	struct sql_parsed *parsed;
	if (text == NULL)
		return sql_no_memory(err);
	if (!sql_parse(s->cfg.parser, text, strlen(text), &parsed, err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, err);
	int rows = -1;
	if (p != NULL) {
		/* the definition under way lies in the session's arenas: so the plan gets others */
		struct nam_arena **mine = nam_arena_zero(&p->arena, (p->arenas + 1) * sizeof *mine);
		for (unsigned i = 0; mine != NULL && i < p->arenas; i++)
			if ((mine[i] = nam_arena_zero(&p->arena, sizeof **mine)) != NULL)
				nam_arena_init(mine[i], 0);
		bool all = mine != NULL;
		for (unsigned i = 0; all && i < p->arenas; i++)
			all = mine[i] != NULL;
		if (!all) {
			sql_no_memory(err);
		} else {
			if (p->uses_now && s->now_us == 0)
				s->now_us = nam_clock_wall_us() - INT64_C(946684800000000);
			sql_prepare_exec(s, sink, err);
			s->x.arena = mine;
			if (sql_open(&s->x, p->root))
				rows = sql_next(&s->x, p->root);
			sql_close(&s->x, p->root);
			s->x.arena = s->arena;
		}
		for (unsigned i = 0; mine != NULL && i < p->arenas; i++)
			if (mine[i] != NULL)
				nam_arena_fini(mine[i]);
	}
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	*out = rows > 0;
	err->position = 0;
	return rows >= 0;
}

static bool
set_not_null(struct sql_session *s, const struct cat_table *tab, const char *now_called, struct cat_column *c,
    const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err)
{
	bool bad;
	const char *name = quoted(now_called, arena);
	char *cond = name ? nam_arena_printf(arena, "%s IS NULL", name) : NULL;
	if (cond == NULL)
		return sql_no_memory(err);
	if (!any_row(s, tab, cond, &bad, sink, arena, err))
		return false;
	if (bad)
		return cat_error(err, "23502", "column \"%s\" of relation \"%s\" contains null values",
		    c->name, tab->name);
	c->not_null = true;
	return true;
}

static bool
add_check(struct sql_session *s, const struct cat_table *tab, struct cat_table *def,
    const struct ast_check *k, const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err)
{
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct cat_check *to = &def->check[def->checks];
	bool bad;
	if (!sql_check_name(def, k, to->name, arena, err) || !sql_plan_try(def, NULL, 0, k, 1, &in, err))
		return false;
	to->text = k->text;
	def->checks++;
	char *cond = nam_arena_printf(arena, "NOT (%s)", k->text);
	if (cond == NULL)
		return sql_no_memory(err);
	if (!any_row(s, tab, cond, &bad, sink, arena, err))
		return false;
	return !bad ||
	       cat_error(err, "23514", "check constraint \"%s\" of relation \"%s\" is violated by some row",
		   to->name, tab->name);
}

static bool
drop_constraint(
    struct cat_table *def, const struct ast_alter *a, const struct sql_sink *sink, struct cat_err *err)
{
	char buf[CAT_NAME_MAX + 8];
	for (unsigned i = 0; i < def->checks; i++) {
		if (strcmp(def->check[i].name, a->name) != 0)
			continue;
		memmove(def->check + i, def->check + i + 1, (def->checks - i - 1) * sizeof *def->check);
		def->checks--;
		return true;
	}
	if (def->keys > 0 && strcmp(cat_key_name(def, buf), a->name) == 0)
		return cat_error(err, "0A000", "dropping a primary key is not supported yet");
	if (!a->if_exists)
		return cat_error(
		    err, "42704", "constraint \"%s\" of relation \"%s\" does not exist", a->name, def->name);
	sql_notice(sink, "NOTICE", "00000", "constraint \"%s\" of relation \"%s\" does not exist, skipping",
	    a->name, def->name);
	return true;
}

static bool
rename_(struct sql_session *s, const struct cat_table *tab, struct cat_table *def, const struct ast_alter *a,
    struct cat_err *err)
{
	const struct cat_table *there = NULL;
	unsigned c = 0;
	bool read;
	if (strlen(a->to) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", a->to);
	if (a->kind == AST_RENAME_COLUMN) {
		if (!column_of(def, a->name, &c, err))
			return false;
		for (unsigned i = 0; i < def->columns; i++)
			if (strcmp(def->column[i].name, a->to) == 0)
				return cat_error(err, "42701",
				    "column \"%s\" of relation \"%s\" already exists", a->to, def->name);
	} else {
		nam_status st = cat_find(s->cfg.cat, s->t, a->to, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there != NULL)
			return cat_error(err, "42P07", "relation \"%s\" already exists", a->to);
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
		return true;
	}
	char buf[CAT_NAME_MAX + 8];
	if (def->keys > 0 && def->key_name[0] == 0)
		snprintf(def->key_name, sizeof def->key_name, "%.63s", cat_key_name(tab, buf));
	snprintf(def->name, sizeof def->name, "%s", a->to);
	return true;
}

static bool
one(struct sql_session *s, const struct cat_table *tab, struct cat_table *def, const struct ast_alter *a,
    const struct ast_check **next, const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err)
{
	unsigned c = 0;
	if (a->kind <= AST_DROP_NOT_NULL && !column_of(def, a->name, &c, err))
		return false;
	switch (a->kind) {
	case AST_SET_DEFAULT: {
		struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
		struct ast_column col = { .name = a->name, .dflt = a->e };
		if (def->column[c].identity)
			return cat_error(err, "42601",
			    "column \"%s\" of relation \"%s\" is an identity column", a->name, def->name);
		if (a->e != NULL && !sql_plan_try(def, &col, 1, NULL, 0, &in, err))
			return false;
		def->column[c].dflt = a->text;
		return true;
	}
	case AST_SET_NOT_NULL:
		return set_not_null(s, tab, tab->column[c].name, &def->column[c], sink, arena, err);
	case AST_DROP_NOT_NULL:
		if (is_key(def, c))
			return cat_error(err, "42P16", "column \"%s\" is in a primary key", a->name);
		if (def->column[c].identity)
			return cat_error(err, "42601",
			    "column \"%s\" of relation \"%s\" is an identity column", a->name, def->name);
		def->column[c].not_null = false;
		return true;
	case AST_ADD_CHECK:
		return add_check(s, tab, def, (*next)++, sink, arena, err);
	case AST_DROP_CONSTRAINT:
		return drop_constraint(def, a, sink, err);
	default:
		return rename_(s, tab, def, a, err);
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct cat_check *)a)->name, ((const struct cat_check *)b)->name);
}

bool
sql_alter_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *tab;
	const struct ast_check *next = ast->check;
	nam_status st = cat_find(s->cfg.cat, s->t, ast->table.name, &tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (tab == NULL && ast->if_exists) {
		sql_notice(
		    sink, "NOTICE", "00000", "relation \"%s\" does not exist, skipping", ast->table.name);
		return true;
	}
	if (tab == NULL) {
		cat_error(err, "42P01", "relation \"%s\" does not exist", ast->table.name);
		err->position = ast->table.position;
		return false;
	}
	if (tab->kind != CAT_TABLE)
		return cat_error(err, "42809", "\"%s\" is not a table", tab->name);
	if (tab->system)
		return cat_error(err, "42501", "permission denied: \"%s\" is a system catalog", tab->name);
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $%u", ast->params);
	s->ddl = true;
	if ((st = cat_hold(s->cfg.cat, s->t, tab)) != NAM_OK)
		return sql_status(err, st, NULL);
	struct cat_table def = *tab;
	def.column = nam_arena_copy(arena, tab->column, tab->columns * sizeof *def.column);
	def.check = nam_arena_zero(arena, (tab->checks + ast->checks + 1) * sizeof *def.check);
	if (def.column == NULL || def.check == NULL)
		return sql_no_memory(err);
	if (tab->checks > 0)
		memcpy(def.check, tab->check, tab->checks * sizeof *def.check);
	for (unsigned i = 0; i < ast->alters; i++)
		if (!one(s, tab, &def, &ast->alter[i], &next, sink, arena, err))
			return false;
	qsort(def.check, def.checks, sizeof *def.check, by_name);
	st = cat_alter(s->cfg.cat, s->t, tab, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", def.name);
	return st == NAM_OK || sql_status(err, st, NULL);
}
