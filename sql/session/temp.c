/*
 * temp.c -- the end of temporary relations: a session drops its own, and those of sessions whose
 * process has ended without doing so.
 *
 * Each schema is dropped in a transaction of its own. If that fails, the schema stays: another
 * session drops it when this process has ended.
 */
#include <sql/command/grant.h>
#include <sql/command/temp.h>
#include <sql/session/session_internal.h>

#include <stdlib.h>

enum { TRIES = 8, MOST = 64 };
#define END_NS UINT64_C(10000000000)

/* The schema of that name, and all that is in it. */
static bool
wipe(struct sql_session *s, const char *name, struct cat_err *err)
{
	static const struct sql_sink silent;
	const struct ast_stmt how = { .cascade = true, .whoever = true, .nnames = 1 };
	const struct cat_table *schema;
	struct nam_arena arena;
	nam_status st = cat_schema_find(s->cfg.cat, s->t, name, &schema);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (schema == NULL)
		return true;
	nam_arena_init(&arena, 0);
	bool ok = sql_schema_wipe(s, schema, &how, &silent, &arena, err);
	nam_arena_fini(&arena);
	return ok;
}

static void
drop(struct sql_session *s, const char *name)
{
	struct cat_err err = { 0 };
	for (unsigned tries = 0; tries < TRIES; tries++) {
		for (unsigned i = 0; i < 4; i++) {
			struct nam_arena *a = sql_arena(s, i);
			if (a == NULL)
				return;
			nam_arena_reset(a);
		}
		sql_err_clear(&err);
		bool ok = sql_begin_statement(s, &err) && wipe(s, name, &err);
		if (!ok)
			sql_roll_back(s);
		else
			ok = sql_commit(s, &err);
		if (ok || strcmp(err.sqlstate, "40001") != 0)
			return;
	}
}

/* Schemas of sessions whose process has ended: up to MOST of them. */
static unsigned
abandoned(struct sql_session *s, char (*name)[CAT_NAME_MAX + 1])
{
	const struct cat_table **list;
	struct nam_arena arena;
	struct cat_err err = { 0 };
	unsigned n = 0, found = 0;
	uint64_t process;
	nam_arena_init(&arena, 0);
	if (sql_begin_statement(s, &err) && cat_schemas(s->cfg.cat, s->t, &list, &n, &arena) == NAM_OK)
		for (unsigned i = 0; i < n && found < MOST; i++) {
			cat_schema_of(list[i]->path, name[found]);
			found += sql_temp_process(name[found], &process) &&
				 process != txn_process(s->cfg.tw) && txn_process_ended(s->cfg.tw, process);
		}
	sql_roll_back(s);
	nam_arena_fini(&arena);
	return found;
}

/* Runs what with neither the statement's limits nor a cancel. */
static void
unhindered(struct sql_session *s, void (*what)(struct sql_session *s))
{
	const _Atomic int *cancel = s->cfg.cancel;
	uint64_t until = s->deadline_ns;
	enum sql_block block = s->block;
	s->cfg.cancel = NULL;
	s->deadline_ns = net_now_ns(s->net) + END_NS;
	s->block = SQL_IDLE;
	what(s);
	s->block = block;
	s->deadline_ns = until;
	s->cfg.cancel = cancel;
}

static void
sweep(struct sql_session *s)
{
	char(*name)[CAT_NAME_MAX + 1] = calloc(MOST, sizeof *name);
	unsigned n = name != NULL ? abandoned(s, name) : 0;
	for (unsigned i = 0; i < n; i++)
		drop(s, name[i]);
	free(name);
}

static void
end(struct sql_session *s)
{
	char own[CAT_NAME_MAX + 1];
	memcpy(own, s->temp, sizeof own);
	s->on_commit = false;
	drop(s, own);
	s->temp[0] = 0;
	sweep(s);
}

void
sql_temp_sweep(struct sql_session *s)
{
	s->temp_new = false;
	unhindered(s, sweep);
}

void
sql_temp_end(struct sql_session *s)
{
	if (s->temp[0] != 0)
		unhindered(s, end);
	s->temp_new = false;
}
