/*
 * temp.c -- temporary relations: they lie in a schema of the session's own, pg_temp_PROCESS_N.
 *
 * The schema is made with the first of them, in the same transaction. search_path leads to it
 * before all others. It is dropped when the session ends (session/temp.c). If the process ends
 * before, any other session that uses temporary relations drops it.
 */
#include <sql/command/temp.h>
#include <sql/common/error.h>
#include <sql/dml/dml.h>

#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned sessions;

bool
sql_temp_process(const char *schema, uint64_t *process)
{
	unsigned long long id;
	unsigned n;
	int end = 0;
	bool is = sscanf(schema, SQL_TEMP_PREFIX "%llx_%u%n", &id, &n, &end) == 2 && schema[end] == 0;
	*process = is ? id : 0;
	return is;
}

bool
sql_temp_ready(struct sql_session *s, struct cat_err *err)
{
	struct cat_column none[1] = { 0 };
	struct cat_table def = { .kind = CAT_SCHEMA, .column = none };
	const struct cat_table *there;
	if (s->temp[0] == 0) {
		snprintf(s->temp, sizeof s->temp, SQL_TEMP_PREFIX "%llx_%u",
		    (unsigned long long)txn_process(s->cfg.tw), atomic_fetch_add(&sessions, 1) + 1);
		s->temp_new = true;
	}
	nam_status st = cat_schema_find(s->cfg.cat, s->t, s->temp, &there);
	if (st == NAM_OK && there == NULL) {
		cat_path(s->temp, "", def.path);
		snprintf(def.owner, sizeof def.owner, "%s", CAT_FIRST_ROLE);
		s->ddl = true;
		st = cat_create(s->cfg.cat, s->t, &def);
	}
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_temp_path(struct sql_session *s, const char *name, char out[CAT_PATH_MAX + 1], struct cat_err *err)
{
	if (strlen(name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", name);
	if (!sql_temp_ready(s, err))
		return false;
	cat_path(s->temp, name, out);
	return true;
}

/* DELETE FROM the table. What refers to it is emptied, too. */
static bool
empty(struct sql_session *s, const struct cat_table *tab, struct nam_arena *arena, struct cat_err *err)
{
	static const struct sql_sink silent;
	const char *name = sql_path_text(tab->path, arena);
	const char *text = name ? nam_arena_printf(arena, "DELETE FROM %s", name) : NULL;
	struct sql_parsed *parsed;
	uint64_t rows;
	if (text == NULL)
		return sql_no_memory(err);
	if (!sql_parse(s->cfg.parser, text, strlen(text), &parsed, err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, err);
	s->foreign_off = true;
	bool ok = p != NULL && sql_alone_begin(s, p, &p->arena, &silent, err) && sql_plan_run(s, p, &rows);
	s->foreign_off = false;
	if (p != NULL)
		sql_alone_end(s, p);
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	return ok;
}

/* No table refers to it whose rows stay. */
static bool
stays_alone(const struct cat_table *tab, const struct cat_table *const *list, unsigned n, struct cat_err *err)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < list[i]->foreigns; k++) {
			if (list[i]->on_commit == 'd' || strcmp(list[i]->foreign[k].table, tab->path) != 0)
				continue;
			cat_error(err, "0A000", "unsupported ON COMMIT and foreign key combination");
			snprintf(err->detail, sizeof err->detail,
			    "Table \"%s\" references \"%s\", but they do not have the same ON COMMIT "
			    "setting.",
			    cat_local(list[i]->path), cat_local(tab->path));
			return false;
		}
	return true;
}

static bool
at_commit(struct sql_session *s, struct cat_err *err)
{
	static const struct sql_sink silent;
	const struct cat_table **list;
	struct nam_arena arena;
	unsigned n;
	nam_arena_init(&arena, 0);
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, &arena);
	bool ok = st == NAM_OK || sql_status(err, st, NULL);
	char schema[CAT_NAME_MAX + 1];
	for (unsigned i = 0; ok && i < n; i++) {
		if (list[i]->on_commit == 0)
			continue;
		cat_schema_of(list[i]->path, schema);
		if (strcmp(schema, s->temp) != 0)
			continue;
		if (list[i]->on_commit == 'd') {
			ok = stays_alone(list[i], list, n, err) && empty(s, list[i], &arena, err);
			continue;
		}
		const char *path = nam_arena_str(&arena, list[i]->path, strlen(list[i]->path));
		const struct ast_stmt drop = { .kind = AST_DROP_TABLE,
			.names = &path,
			.nnames = 1,
			.if_exists = true,
			.cascade = true,
			.whoever = true };
		ok =
		    path != NULL ? sql_drop_relations(s, &drop, CAT_TABLE, &silent, err) : sql_no_memory(err);
	}
	nam_arena_fini(&arena);
	return ok;
}

bool
sql_temp_commit(struct sql_session *s, struct cat_err *err)
{
	/* SET TRANSACTION READ ONLY may have followed what the transaction wrote. */
	bool block = s->read_only, alone = s->now.read_only;
	s->read_only = s->now.read_only = false;
	bool ok = at_commit(s, err);
	s->read_only = block;
	s->now.read_only = alone;
	return ok;
}
