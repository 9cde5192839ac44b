/*
 * index.c -- CREATE INDEX outside of a transaction block: while it is built, writers go on.
 *
 *   1  The definition, "building", is committed. It waits for the writers that do not know it
 *      (cat_hold); every later commit makes its rows' entries.
 *   2  A snapshot that covers 1 shows the rows that have no entries yet. They get them.
 *   3  UNIQUE: all transactions that looked for other rows of a key while 2 was under way have
 *      ended (cat_hold, for a moment). A snapshot behind that shows each pair there is.
 *   4  The definition, "valid", is committed. Plans use the index from now on: their snapshots
 *      cover 4.
 *
 * If one of them fails, the index is dropped again. If this process ends, no plan uses what it
 * leaves: the next CREATE INDEX on the table, or DROP INDEX, drops it.
 */
#include <sql/session/session_internal.h>

static bool
retry(const struct sql_session *s, const struct cat_err *err, unsigned tries)
{
	return tries < SQL_RETRIES && s->now.iso == TXN_READ_COMMITTED && strcmp(err->sqlstate, "40001") == 0;
}

/* One transaction that changes the catalog; tried again when it loses a race. */
static bool
change(struct sql_session *s, bool (*what)(struct sql_session *s, void *arg, struct cat_err *err), void *arg,
    struct cat_err *err)
{
	for (unsigned tries = 0;; tries++) {
		for (unsigned i = 0; i < 4; i++) {
			struct nam_arena *a = sql_arena(s, i);
			if (a == NULL)
				return sql_no_memory(err);
			nam_arena_reset(a);
		}
		bool ok = sql_begin_statement(s, err) && what(s, arg, err);
		if (!ok)
			sql_roll_back(s);
		else
			ok = sql_commit(s, err);
		if (ok)
			return true;
		if (!retry(s, err, tries))
			return false;
		sql_err_clear(err);
	}
}

struct building {
	const struct ast_stmt *ast;
	const struct sql_sink *sink;
	char name[CAT_PATH_MAX + 1]; /* its path */
};

static bool
define(struct sql_session *s, void *arg, struct cat_err *err)
{
	struct building *b = arg;
	struct nam_arena names;
	struct ast_stmt resolved;
	nam_arena_init(&names, 0);
	bool ok = sql_resolve(s, b->ast, b->sink, &resolved, &names, err) &&
		  sql_index_define(s, &resolved, false, b->name, b->sink, err);
	nam_arena_fini(&names);
	return ok;
}

static bool
validate(struct sql_session *s, void *arg, struct cat_err *err)
{
	struct building *b = arg;
	return sql_index_validate(s, b->name, s->arena[0], err);
}

static bool
drop(struct sql_session *s, void *arg, struct cat_err *err)
{
	struct building *b = arg;
	const struct cat_table *tab;
	unsigned i;
	if (!sql_index_find(s, b->name, &tab, &i, err))
		return false;
	if (tab == NULL)
		return true; /* with its table */
	s->ddl = true;
	nam_status st = cat_hold(s->cfg.cat, s->t, tab);
	if (st == NAM_OK)
		st = cat_index_drop(s->cfg.cat, s->t, tab, i);
	return st == NAM_OK || sql_status(err, st, tab);
}

/* Steps 2 and 3: what a snapshot shows. */
static bool
look(struct sql_session *s, struct building *b,
    bool (*what)(struct sql_session *s, const struct cat_table *tab, unsigned i, const struct sql_sink *sink,
	struct cat_err *err),
    struct cat_err *err)
{
	const struct cat_table *tab;
	unsigned i;
	bool ok = sql_begin_statement(s, err) && sql_index_find(s, b->name, &tab, &i, err);
	if (ok && tab == NULL)
		ok = cat_error(err, "42704", "index \"%s\" does not exist", cat_local(b->name));
	ok = ok && what(s, tab, i, b->sink, err);
	sql_roll_back(s);
	return ok;
}

static bool
wait_for_writers(struct sql_session *s, const struct cat_table *tab, unsigned i, const struct sql_sink *sink,
    struct cat_err *err)
{
	(void)i;
	(void)sink;
	nam_status st = cat_hold(s->cfg.cat, s->t, tab);
	return st == NAM_OK || sql_status(err, st, tab);
}

/* The index is not to stay, whatever the statement's time or a cancel say. */
static void
undo(struct sql_session *s, struct building *b)
{
	const _Atomic int *cancel = s->cfg.cancel;
	struct cat_err err = { 0 };
	s->cfg.cancel = NULL;
	s->deadline_ns = 0;
	(void)change(s, drop, b, &err);
	s->cfg.cancel = cancel;
}

bool
sql_index_online(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	struct building b = { .ast = ast, .sink = sink };
	if (!change(s, define, &b, err))
		return false;
	if (b.name[0] == 0)
		return true; /* IF NOT EXISTS */
	bool ok = look(s, &b, sql_index_fill, err);
	if (ok && ast->index->unique)
		ok = look(s, &b, wait_for_writers, err) && look(s, &b, sql_index_distinct, err);
	ok = ok && change(s, validate, &b, err);
	if (!ok)
		undo(s, &b);
	return ok;
}
