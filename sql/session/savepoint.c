/*
 * savepoint.c -- SAVEPOINT, RELEASE, ROLLBACK TO: marks inside of a block's transaction.
 *
 * A savepoint remembers txn's mark and the settings. After a failure in a block with savepoints
 * the transaction is kept, undone up to the last of them, so that ROLLBACK TO can go on from there.
 * DDL cannot be undone in part: a failure or a ROLLBACK TO across it says so.
 */
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAVES_MAX = 1 << 16 };

/* The transaction's own version of the catalog; 0 = it has not changed it. */
static uint64_t
own_ddl(struct sql_session *s)
{
	uint64_t v = s->t ? cat_version(s->cfg.cat, s->t) : 0;
	return v >> 63 ? v : 0;
}

bool
sql_save_failed(struct sql_session *s)
{
	if (s->saves == 0)
		return false;
	const struct sql_savepoint *p = &s->save[s->saves - 1];
	if (s->t == NULL)
		return true;
	if (own_ddl(s) != p->ddl) {
		s->save_lost = true;
		return false;
	}
	sql_cursors_back_to(s, s->saves - 1);
	if (txn_rollback_to(s->t, p->mark) == NAM_OK)
		return true;
	s->saves = 0;
	return false;
}

static bool
save(struct sql_session *s, const char *name, struct cat_err *err)
{
	if (s->saves == s->save_cap) {
		unsigned cap = s->save_cap ? s->save_cap * 2 : 8;
		struct sql_savepoint *more =
		    s->saves < SAVES_MAX ? realloc(s->save, cap * sizeof *more) : NULL;
		if (more == NULL)
			return cat_error(err, "53200", "out of memory: %u savepoints", s->saves);
		s->save = more;
		s->save_cap = cap;
	}
	struct sql_savepoint *p = &s->save[s->saves++];
	p->mark = s->t ? txn_mark(s->t) : 0;
	p->ddl = own_ddl(s);
	p->now = s->now;
	p->session = s->session;
	snprintf(p->name, sizeof p->name, "%s", name);
	return true;
}

static bool
go_back(struct sql_session *s, unsigned to, struct cat_err *err)
{
	struct sql_savepoint *p = &s->save[to];
	if (own_ddl(s) != p->ddl)
		return cat_error(err, "0A000",
		    "ROLLBACK TO SAVEPOINT across statements that change the catalog is not supported yet");
	sql_cursors_back_to(s, to);
	nam_status st = s->t ? txn_rollback_to(s->t, p->mark) : NAM_OK;
	if (st != NAM_OK) {
		s->saves = 0;
		sql_roll_back(s);
		return sql_status(err, st, NULL);
	}
	s->saves = to + 1;
	p->mark = s->t ? txn_mark(s->t) : 0;
	s->now = p->now;
	s->session = p->session;
	s->block = SQL_BLOCK;
	return true;
}

static bool
change(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	static const char *const what[] = { "SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT" };
	if (s->block != SQL_BLOCK && s->block != SQL_FAILED)
		return cat_error(err, "25P01", "%s can only be used in transaction blocks",
		    what[ast->kind - AST_SAVEPOINT]);
	char name[CAT_NAME_MAX + 1]; /* cut as a name is */
	snprintf(name, sizeof name, "%s", ast->var);
	if (ast->kind == AST_SAVEPOINT)
		return save(s, name, err);
	if (s->save_lost)
		return cat_error(err, "0A000",
		    "ROLLBACK TO SAVEPOINT across statements that change the catalog is not supported yet");
	unsigned i = s->saves;
	while (i > 0 && strcmp(s->save[i - 1].name, name) != 0)
		i--;
	if (i == 0)
		return cat_error(err, "3B001", "savepoint \"%s\" does not exist", name);
	if (ast->kind == AST_ROLLBACK_TO)
		return go_back(s, i - 1, err);
	s->saves = i - 1;
	sql_cursors_released(s, s->saves);
	return true;
}

bool
sql_savepoint(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	if (!change(s, ast, err))
		return false;
	const char *tag = ast->kind == AST_SAVEPOINT ? "SAVEPOINT"
			  : ast->kind == AST_RELEASE ? "RELEASE"
						     : "ROLLBACK";
	if (sink->done == NULL || sink->done(sink->arg, tag, 0))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}
