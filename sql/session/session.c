/* session.c -- a user's session: its transaction, and texts of several statements. */
#include <base/clock.h>
#include <base/hash.h>
#include <sql/command/temp.h>
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PG_EPOCH_S = 946684800 }; /* 2000-01-01 in Unix time */

/* ---- transactions ------------------------------------------------------------------ */

void
sql_clock_start(struct sql_session *s)
{
	uint64_t most = s->now.statement_timeout_ms * UINT64_C(1000000);
	s->statement_us = nam_clock_wall_us() - (int64_t)PG_EPOCH_S * 1000000;
	s->deadline_ns = most == 0 ? 0 : net_now_ns(s->net) + most;
}

static struct txn_limits
limits(struct sql_session *s)
{
	s->budget.limit = (size_t)s->now.memory_kb << 10;
	return (struct txn_limits){ .lock_wait_ns = s->now.lock_timeout_ms * UINT64_C(1000000),
		.until_ns = s->deadline_ns,
		.cancel = s->cfg.cancel,
		.budget = &s->budget };
}

static bool
begin(struct sql_session *s, const struct txn_limits *l, struct cat_err *err)
{
	txn_reach(s->cfg.tw);
	if (s->block == SQL_IDLE) /* s->iso is that of a block before */
		s->iso = s->now.iso;
	nam_status st = txn_begin_by(s->cfg.tw, s->iso, l, &s->t);
	if (st != NAM_OK) {
		s->t = NULL;
		return sql_status(err, st, NULL);
	}
	/* A block's is that of its BEGIN. Of a single statement it is taken if it is asked for. */
	if (s->block == SQL_IDLE)
		s->now_us = 0;
	else if (s->block != SQL_BLOCK)
		sql_start_now(s);
	if (s->now.cluster)
		txn_set_cluster_visible(s->t, true);
	return true;
}

void
sql_renew_limits(struct sql_session *s)
{
	struct txn_limits l = limits(s);
	txn_set_limits(s->t, &l);
}

bool
sql_begin_statement(struct sql_session *s, struct cat_err *err)
{
	if (s->cursors != NULL && !sql_cursors_keep(s, err))
		return false;
	struct txn_limits l = limits(s);
	if (s->t == NULL) {
		if (!begin(s, &l, err))
			return false;
	} else {
		txn_set_limits(s->t, &l);
		nam_status st = txn_statement(s->t);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
	}
	sql_custom_tidy(s);
	return sql_renew_roles(s, err);
}

static void
count(struct sql_session *s)
{
	net_counts_add(&s->counts, txn_counts(s->t));
}

static void
count_end(struct sql_session *s, bool committed)
{
	struct sql_stats *k = s->cfg.stats;
	if (k != NULL)
		sql_stat_add(committed ? &k->commits : &k->rollbacks, 1);
}

void
sql_count_retry(struct sql_session *s)
{
	if (s->cfg.stats != NULL)
		sql_stat_add(&s->cfg.stats->retries, 1);
}

/* ---- IF [NOT] EXISTS ---- */

/* Statements that look for a name, and find at its lock that another one has made or dropped it. */
static bool
lost_name(const struct ast_stmt *ast, const char *sqlstate)
{
	switch (ast->kind) {
	case AST_CREATE_TABLE:
	case AST_CREATE_AS:
	case AST_CREATE_SEQUENCE:
		return ast->if_exists && strcmp(sqlstate, "42P07") == 0;
	case AST_CREATE_SCHEMA:
		return ast->if_exists && strcmp(sqlstate, "42P06") == 0;
	case AST_DROP_TABLE:
	case AST_DROP_VIEW:
	case AST_DROP_SEQUENCE:
		return ast->if_exists && strcmp(sqlstate, "42P01") == 0;
	case AST_DROP_INDEX:
	case AST_DROP_TYPE:
	case AST_DROP_DOMAIN:
	case AST_DROP_ROLE:
		return ast->if_exists && strcmp(sqlstate, "42704") == 0;
	case AST_DROP_SCHEMA:
		return ast->if_exists && strcmp(sqlstate, "3F000") == 0;
	default:
		return false;
	}
}

bool
sql_name_again(struct sql_session *s, const struct ast_stmt *ast, unsigned tries, const struct cat_err *err)
{
	enum { TRIES = 12, REST_NS = 500000, DOUBLED = 6 };
	if (tries >= TRIES || !lost_name(ast, err->sqlstate))
		return false;
	if (s->t != NULL)
		sql_roll_back(s);
	/* Another process sees a commit a moment after its own. */
	net_sleep(s->net, (uint64_t)REST_NS << (tries < DOUBLED ? tries : DOUBLED));
	sql_count_retry(s);
	return true;
}

/* ---- memory of the storage nodes that is about to come back ---- */

bool
sql_is_first(const struct sql_session *s)
{
	return s->t == NULL && s->block != SQL_FAILED && s->saves == 0 && s->cursors == NULL;
}

bool
sql_room_again(struct sql_session *s, unsigned tries, const struct cat_err *err)
{
	enum { TRIES = 2 };
	if (strcmp(err->sqlstate, "53100") != 0 || s->x.sent > 0 || tries >= TRIES)
		return false;
	if (s->t != NULL)
		sql_roll_back(s);
	struct txn_limits l = limits(s);
	if (!txn_await(s->cfg.tw, &l))
		return false;
	sql_count_retry(s);
	return true;
}

void
sql_room_before(struct sql_session *s)
{
	struct txn_limits l = limits(s);
	if (txn_garbage(s->cfg.tw) > 0 && txn_is_crowded(s->cfg.tw))
		(void)txn_await(s->cfg.tw, &l);
}

static void
ended(struct sql_session *s, struct cat_overlay *changed, tso_cid cid)
{
	cat_decided(s->cfg.cat, s->cfg.tw, changed, cid);
	s->ddl = false;
	s->upserts = false;
	s->t = NULL;
}

void
sql_judge_damage(struct sql_session *s, tso_cid snapshot, struct cat_err *err)
{
	if (strcmp(err->sqlstate, "XX001") != 0)
		return;
	if (snapshot == 0 && s->t != NULL)
		snapshot = txn_snapshot(s->t);
	if (snapshot == 0 || !cat_changed_since(s->cfg.cat, s->cfg.tw, snapshot))
		return;
	sql_err_clear(err);
	cat_error(err, "40001", "could not serialize access due to a concurrent change of the schema");
	snprintf(err->hint, sizeof err->hint, "Run the transaction again.");
}

/* As PostgreSQL, where a cancel ends the wait of COMMIT for a standby. */
static void
warn_of_disk(struct sql_session *s)
{
	if (s->sink != NULL)
		sql_notice(s->sink, "WARNING", "57014",
		    "canceling the wait for the disk of the log: the transaction has committed, but is lost "
		    "if "
		    "the storage node with the log ends before its disk answers");
}

/* The client may have no chance to read a warning. */
static bool
is_ending(const struct sql_session *s)
{
	return s->cfg.cancel != NULL && atomic_load(s->cfg.cancel) == SQL_CANCEL_ENDS;
}

bool
sql_commit(struct sql_session *s, struct cat_err *err)
{
	struct txn *t = s->t;
	tso_cid snapshot = t != NULL ? txn_snapshot(t) : 0;
	tso_cid cid = 0;
	nam_status st = NAM_OK;
	bool upserts = s->upserts;
	if ((s->cursors != NULL && !sql_cursors_commit(s, err)) ||
	    (s->on_commit && t != NULL && !sql_temp_commit(s, err))) {
		sql_roll_back(s);
		if (s->block != SQL_IDLE)
			s->now = s->session = s->before;
		s->block = SQL_IDLE;
		return false;
	}
	if (t != NULL) {
		count(s);
		struct cat_overlay *changed = s->ddl ? cat_leave(s->cfg.cat, t) : NULL;
		struct txn_limits l = limits(s);
		bool unflushed = false;
		l.unflushed = &unflushed;
		txn_set_limits(t, &l);
		txn_set_sync(t, !sql_kept_commits_early(s->now.kept));
		st = txn_commit(t, &cid);
		if (unflushed && is_ending(s)) {
			st = NAM_UNSURE;
		} else if (unflushed) {
			st = st == NAM_UNSEEN ? NAM_OK : st; /* it does not stay for sure */
			warn_of_disk(s);
		}
		count_end(s, st == NAM_OK || st == NAM_UNSEEN);
		ended(s, changed, st == NAM_OK || st == NAM_UNSEEN ? cid : 0);
	}
	if (s->block != SQL_IDLE) {
		if (st == NAM_OK || st == NAM_UNSEEN)
			s->now = s->session;
		else
			s->now = s->session = s->before;
	}
	s->block = SQL_IDLE;
	if (s->cursors != NULL)
		sql_cursors_end(s, st == NAM_OK || st == NAM_UNSEEN);
	/* With ON CONFLICT, a duplicate at commit means a concurrent insert won: the retry finds
	 * that row. */
	if (st == NAM_DUPLICATE && upserts)
		st = NAM_CONFLICT;
	if (st == NAM_OK)
		return true;
	sql_status(err, st, NULL);
	sql_judge_damage(s, snapshot, err);
	return false;
}

void
sql_roll_back(struct sql_session *s)
{
	struct txn *t = s->t;
	if (s->cursors != NULL)
		sql_cursors_end(s, false);
	if (t != NULL) {
		count(s);
		count_end(s, false);
		struct cat_overlay *changed = s->ddl ? cat_leave(s->cfg.cat, t) : NULL;
		txn_abort(t);
		ended(s, changed, 0);
	}
}

void
sql_abort(struct sql_session *s)
{
	if (s->block == SQL_FAILED)
		return; /* a savepoint may still want the transaction */
	if (s->block != SQL_BLOCK || !sql_save_failed(s))
		sql_roll_back(s);
	if (s->block == SQL_BLOCK)
		s->block = SQL_FAILED;
	else if (s->block == SQL_IMPLICIT) {
		s->now = s->session = s->before;
		s->block = SQL_IDLE;
	}
}

static void
open_block(struct sql_session *s, enum sql_block kind)
{
	s->before = s->session;
	s->iso = s->now.iso;
	s->read_only = s->now.read_only;
	s->saves = 0;
	s->save_lost = false;
	s->block = kind;
}

static enum txn_iso
iso_of(enum ast_iso i)
{
	return i == AST_ISO_SER  ? TXN_SERIALIZABLE
	       : i == AST_ISO_RR ? TXN_REPEATABLE_READ
				 : TXN_READ_COMMITTED;
}

static bool
done(const struct sql_sink *sink, const char *tag, struct cat_err *err)
{
	if (sink->done == NULL || sink->done(sink->arg, tag, 0))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

/* READ ONLY, READ WRITE of the block. */
static bool
set_access(struct sql_session *s, const struct ast_stmt *ast, struct cat_err *err)
{
	if (ast->read_write && s->read_only && s->t != NULL)
		return cat_error(err, "25001", "transaction read-write mode must be set before any query");
	if (ast->read_only || ast->read_write)
		s->read_only = ast->read_only;
	return true;
}

/* What of the statement changes the database; NULL = nothing. */
static const char *
writes(const struct ast_stmt *ast)
{
	switch (ast->kind) {
	case AST_INSERT:
		return "INSERT";
	case AST_UPDATE:
		return "UPDATE";
	case AST_DELETE:
		return "DELETE";
	case AST_TRUNCATE:
	case AST_TRUNCATE_ALL:
		return "TRUNCATE TABLE";
	case AST_CREATE_TABLE:
		return "CREATE TABLE";
	case AST_CREATE_AS:
		return "CREATE TABLE AS";
	case AST_CREATE_INDEX:
		return "CREATE INDEX";
	case AST_DROP_INDEX:
		return "DROP INDEX";
	case AST_RENAME_INDEX:
		return "ALTER INDEX";
	case AST_CREATE_VIEW:
		return "CREATE VIEW";
	case AST_CREATE_SEQUENCE:
		return "CREATE SEQUENCE";
	case AST_DROP_TABLE:
		return "DROP TABLE";
	case AST_DROP_VIEW:
		return "DROP VIEW";
	case AST_DROP_SEQUENCE:
		return "DROP SEQUENCE";
	case AST_ALTER_TABLE:
		return "ALTER TABLE";
	case AST_CREATE_DOMAIN:
		return "CREATE DOMAIN";
	case AST_ALTER_DOMAIN:
		return "ALTER DOMAIN";
	case AST_DROP_DOMAIN:
		return "DROP DOMAIN";
	case AST_COMMENT:
		return "COMMENT";
	case AST_CREATE_SCHEMA:
		return "CREATE SCHEMA";
	case AST_DROP_SCHEMA:
		return "DROP SCHEMA";
	case AST_GRANT:
		return ast->grant.revoke ? "REVOKE" : "GRANT";
	case AST_GRANT_ROLE:
		return ast->grant.revoke ? "REVOKE ROLE" : "GRANT ROLE";
	case AST_OWNER:
		return "ALTER TABLE";
	case AST_CREATE_ENUM:
		return "CREATE TYPE";
	case AST_ALTER_ENUM:
	case AST_RENAME_TYPE:
		return "ALTER TYPE";
	case AST_DROP_TYPE:
		return "DROP TYPE";
	case AST_REASSIGN_OWNED:
		return "REASSIGN OWNED";
	case AST_DROP_OWNED:
		return "DROP OWNED";
	case AST_CREATE_ROLE:
		return "CREATE ROLE";
	case AST_ALTER_ROLE:
		return "ALTER ROLE";
	case AST_DROP_ROLE:
		return "DROP ROLE";
	case AST_COPY:
		return !ast->copy.to ? "COPY FROM" : ast->inner != NULL ? writes(ast->inner) : NULL;
	case AST_EXPLAIN:
		return ast->explain.analyze ? writes(ast->inner) : NULL;
	case AST_SELECT:
		return ast->select->locks > 0 ? "SELECT FOR UPDATE" : NULL;
	default:
		return NULL;
	}
}

static bool
do_begin(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	if (s->block == SQL_BLOCK)
		sql_notice(sink, "WARNING", "25001", "there is already a transaction in progress");
	else if (s->block == SQL_IMPLICIT)
		s->block = SQL_BLOCK; /* what the text has done so far belongs to it */
	else
		open_block(s, SQL_BLOCK);
	if (s->t == NULL)
		sql_start_now(s);
	if (ast->iso != AST_ISO_NONE) {
		if (s->t != NULL && iso_of(ast->iso) != s->iso)
			return cat_error(
			    err, "25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
		s->iso = iso_of(ast->iso);
	}
	if (!set_access(s, ast, err))
		return false;
	return done(sink, ast->start ? "START TRANSACTION" : "BEGIN", err);
}

static bool
do_commit(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err)
{
	if (s->block == SQL_FAILED) {
		sql_roll_back(s);
		s->now = s->session = s->before;
		s->block = SQL_IDLE;
		return done(sink, "ROLLBACK", err);
	}
	if (s->block != SQL_BLOCK)
		sql_notice(sink, "WARNING", "25P01", "there is no transaction in progress");
	return sql_commit(s, err) && done(sink, "COMMIT", err);
}

static bool
do_rollback(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err)
{
	if (s->block == SQL_IDLE || s->block == SQL_IMPLICIT)
		sql_notice(sink, "WARNING", "25P01", "there is no transaction in progress");
	sql_roll_back(s);
	if (s->block != SQL_IDLE)
		s->now = s->session = s->before;
	s->block = SQL_IDLE;
	return done(sink, "ROLLBACK", err);
}

static bool
do_set_transaction(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	if (s->saves > 0 && ast->iso != AST_ISO_NONE && !ast->session_default && iso_of(ast->iso) != s->iso)
		return cat_error(
		    err, "25001", "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
	if (ast->session_default && (ast->read_only || ast->read_write))
		s->now.read_only = s->session.read_only = ast->read_only;
	else if (s->block != SQL_IDLE && !set_access(s, ast, err))
		return false;
	if (ast->iso != AST_ISO_NONE && ast->session_default) {
		s->now.iso = s->session.iso = iso_of(ast->iso);
	} else if (ast->iso != AST_ISO_NONE) {
		if (s->block == SQL_IDLE)
			sql_notice(sink, "WARNING", "25P01",
			    "SET TRANSACTION can only be used in transaction blocks");
		else if (s->t != NULL && iso_of(ast->iso) != s->iso)
			return cat_error(
			    err, "25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
		else
			s->iso = iso_of(ast->iso);
	}
	return done(sink, "SET", err);
}

/* ---- statements ------------------------------------------------------------------------ */

static bool
plain_run(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink, struct cat_err *err,
    bool last)
{
	const struct ast_stmt *ast = st->ast;
	bool named = ast->kind == AST_PREPARE || ast->kind == AST_DEALLOCATE;
	char tag[64];
	uint64_t rows = 0;
	bool first = sql_is_first(s), copies = ast->kind == AST_COPY && !ast->copy.to;
	unsigned full = 0, names = 0;
	if (ast->kind == AST_CREATE_INDEX && s->block == SQL_IDLE) {
		snprintf(tag, sizeof tag, "CREATE INDEX");
		return sql_index_online(s, ast, sink, err) &&
		       (sink->done == NULL || sink->done(sink->arg, tag, 0) ||
			   cat_error(err, "57014", "canceling statement due to user request"));
	}
	for (unsigned tries = 0;; tries++) {
		bool alone = s->block == SQL_IDLE;
		uint64_t began = net_now_ns(s->net), whole = s->now.statement_timeout_ms * UINT64_C(1000000);
		tag[0] = 0;
		rows = 0;
		if (first && copies)
			sql_room_before(s); /* its rows come once */
		bool ok = sql_begin_statement(s, err) &&
			  (named ? sql_named(s, st, tag, sizeof tag, err)
				 : sql_utility(s, ast, sink, tag, sizeof tag, &rows, err));
		if (!ok && first && !copies &&
		    (sql_name_again(s, ast, names++, err) || sql_room_again(s, full++, err))) {
			sql_err_clear(err);
			continue;
		}
		if (!ok) {
			sql_judge_damage(s, 0, err);
			sql_abort(s);
		} else if (alone || (s->block == SQL_IMPLICIT && last)) {
			ok = sql_commit(s, err);
		}
		if (ok)
			break;
		if (alone && !copies && sql_room_again(s, full++, err)) {
			sql_err_clear(err);
			continue;
		}
		/* txn waits for locks no longer than the statement may take: then it was that
		 * limit. */
		if (strcmp(err->sqlstate, "55P03") == 0 && whole != 0 && net_now_ns(s->net) - began >= whole)
			return cat_error(err, "57014", "canceling statement due to statement timeout");
		/* A DDL statement outside a transaction block that lost a race has shown its client
		 * nothing: it runs again. */
		bool change = ast->kind == AST_ALTER_TABLE || ast->kind == AST_TRUNCATE_ALL ||
			      ast->kind == AST_ANALYZE || ast->kind == AST_CREATE_VIEW ||
			      ast->kind == AST_CREATE_TABLE || ast->kind == AST_DROP_TABLE ||
			      ast->kind == AST_DROP_INDEX || ast->kind == AST_CREATE_DOMAIN ||
			      ast->kind == AST_ALTER_DOMAIN || ast->kind == AST_DROP_DOMAIN ||
			      ast->kind == AST_RENAME_INDEX || ast->kind == AST_DROP_VIEW ||
			      ast->kind == AST_DROP_SEQUENCE || ast->kind == AST_GRANT ||
			      ast->kind == AST_GRANT_ROLE || ast->kind == AST_OWNER ||
			      ast->kind == AST_REASSIGN_OWNED || ast->kind == AST_CREATE_ENUM ||
			      ast->kind == AST_ALTER_ENUM || ast->kind == AST_RENAME_TYPE ||
			      ast->kind == AST_DROP_TYPE || ast->kind == AST_DROP_OWNED ||
			      ast->kind == AST_CREATE_ROLE || ast->kind == AST_ALTER_ROLE ||
			      ast->kind == AST_CREATE_SCHEMA || ast->kind == AST_DROP_SCHEMA ||
			      ast->kind == AST_CREATE_SEQUENCE || ast->kind == AST_DROP_ROLE;
		if (!alone || !change || tries == SQL_RETRIES || s->now.iso != TXN_READ_COMMITTED ||
		    strcmp(err->sqlstate, "40001") != 0)
			return false;
		sql_count_retry(s);
		sql_err_clear(err);
	}
	if (s->temp_new && s->block == SQL_IDLE)
		sql_temp_sweep(s);
	if (sink->done == NULL || sink->done(sink->arg, tag, rows))
		return true;
	return cat_error(err, "57014", "canceling statement due to user request");
}

/* Such statements are seldom: what they took, a sample of a table for example, goes back. */
static bool
plain(struct sql_session *s, const struct sql_stmt *st, const struct sql_sink *sink, struct cat_err *err,
    bool last)
{
	bool ok = plain_run(s, st, sink, err, last);
	for (unsigned i = 0; i < s->arenas; i++)
		nam_arena_trim(s->arena[i]);
	return ok;
}

static bool
run_one(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last)
{
	const struct ast_stmt *ast = st->ast;
	bool ok;
	sql_clock_start(s);
	if (s->block == SQL_FAILED && !sql_may_end(ast->kind))
		return cat_error(err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
	const char *what = writes(ast);
	if (what != NULL && !sql_may_write(s, what, err)) {
		sql_abort(s);
		return false;
	}
	if (sql_has_plan(ast))
		return sql_stmt_run(s, st, param, n, sink, err, last);
	switch (ast->kind) {
	case AST_BEGIN:
		ok = do_begin(s, ast, sink, err);
		break;
	case AST_COMMIT:
		return do_commit(s, sink, err);
	case AST_ROLLBACK:
		return do_rollback(s, sink, err);
	case AST_EXECUTE:
		return sql_named_execute(s, st, sink, err, last);
	case AST_EXPLAIN:
		return sql_explain(s, st, sink, err, last);
	case AST_DECLARE:
	case AST_FETCH:
	case AST_CLOSE:
		return sql_cursor_stmt(s, st, param, n, sink, err, last);
	case AST_SAVEPOINT:
	case AST_RELEASE:
	case AST_ROLLBACK_TO:
		ok = sql_savepoint(s, ast, sink, err);
		break;
	case AST_SET_TRANSACTION:
		ok = do_set_transaction(s, ast, sink, err);
		break;
	case AST_DISCARD:
		ok = sql_discard(s, ast, sink, err);
		break;
	case AST_CHECKPOINT: {
		const struct txn_limits l = limits(s);
		ok = sql_checkpoint(s, &l, sink, err);
		break;
	}
	case AST_SET:
		ok = sql_set(s, ast, sink, err);
		break;
	case AST_SHOW:
		ok = sql_show(s, ast, sink, err);
		break;
	default:
		return plain(s, st, sink, err, last);
	}
	if (!ok)
		sql_abort(s);
	else if (s->block == SQL_IMPLICIT && last)
		return sql_commit(s, err);
	return ok;
}

bool
sql_stmt_one(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err, bool last)
{
	const struct sql_sink *outer = s->sink;
	s->sink = sink;
	bool ok = run_one(s, st, param, n, sink, err, last);
	s->sink = outer;
	return ok;
}

bool
sql_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err)
{
	sql_err_clear(err);
	bool ok = sql_stmt_one(s, st, param, n, sink, err, !s->more);
	if (!ok)
		sql_err_place(err, st->parsed->text, st->parsed->len);
	return ok;
}

void
sql_session_more(struct sql_session *s, bool more)
{
	s->more = more;
	if (more && s->block == SQL_IDLE)
		open_block(s, SQL_IMPLICIT);
}

bool
sql_session_settle(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err)
{
	s->more = false;
	s->sink = sink;
	sql_err_clear(err);
	bool ok = s->block != SQL_IMPLICIT || sql_commit(s, err);
	s->sink = NULL;
	return ok;
}

void
sql_session_fail(struct sql_session *s)
{
	sql_abort(s);
}

/* ---- texts -------------------------------------------------------------------------------- */

static struct sql_stmt *
cached(struct sql_session *s, const char *text, size_t len, uint64_t hash)
{
	struct sql_stmt *st = s->cache[hash % SQL_CACHED];
	if (st != NULL && st->hash == hash && st->parsed->len == len &&
	    memcmp(st->parsed->text, text, len) == 0)
		return st;
	return NULL;
}

static bool
several(struct sql_session *s, struct sql_parsed *p, const struct sql_sink *sink, struct cat_err *err)
{
	if (s->block == SQL_IDLE)
		open_block(s, SQL_IMPLICIT);
	for (unsigned i = 0; i < p->stmts; i++) {
		bool last = i + 1 == p->stmts;
		if (s->block == SQL_IDLE && !last)
			open_block(s, SQL_IMPLICIT); /* after a COMMIT in the middle */
		struct sql_stmt *st = sql_stmt_new(s, sql_parsed_hold(p), p->stmt[i], NULL, 0, err);
		bool ok = st != NULL && sql_stmt_one(s, st, NULL, 0, sink, err, last);
		sql_stmt_close(st);
		if (ok)
			continue;
		sql_abort(s);
		return false;
	}
	return true;
}

bool
sql_execute(
    struct sql_session *s, const char *text, size_t len, const struct sql_sink *sink, struct cat_err *err)
{
	sql_err_clear(err);
	uint64_t hash = len <= 4096 ? nam_hash(text, len, 0) : 0;
	struct sql_stmt *st = hash ? cached(s, text, len, hash) : NULL;
	bool ok;
	if (st == NULL) {
		struct sql_parsed *p;
		if (!sql_parse(s->cfg.parser, text, len, &p, err)) {
			sql_err_place(err, text, len);
			sql_abort(s);
			return false;
		}
		if (p->stmts != 1) {
			ok = p->stmts == 0 || several(s, p, sink, err);
			if (!ok)
				sql_err_place(err, text, len);
			sql_parsed_drop(p);
			return ok;
		}
		if ((st = sql_stmt_new(s, p, p->stmt[0], NULL, 0, err)) == NULL)
			return false;
		if (hash != 0 && sql_has_plan(st->ast)) {
			st->hash = hash;
			sql_stmt_close(s->cache[hash % SQL_CACHED]);
			s->cache[hash % SQL_CACHED] = st;
		}
	}
	if (st->ast->params > 0) {
		ok = cat_error(err, "42P02", "there is no parameter $%u", st->ast->params);
		sql_abort(s);
	} else {
		ok = sql_stmt_one(s, st, NULL, 0, sink, err, true);
	}
	if (!ok)
		sql_err_place(err, text, len);
	if (st->hash == 0)
		sql_stmt_close(st);
	return ok;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int32_t
pid(struct sql_session *s)
{
	return s->cfg.pid != 0 ? s->cfg.pid : getpid();
}

static bool
signal_session(struct sql_session *s, int32_t pid_, bool end, bool *done, struct cat_err *err)
{
	const struct sql_peers *p = s->cfg.peers;
	const char *user = sql_who(s)->super ? NULL : sql_who(s)->name;
	enum sql_signaled is = p ? p->signal(p->arg, pid_, end, user) : SQL_SIGNALED_NONE;
	*done = is == SQL_SIGNALED;
	if (is == SQL_SIGNALED_NONE)
		sql_notice(s->x.sink, "WARNING", "01000", "PID %d is not a PostgreSQL server process", pid_);
	else if (is == SQL_SIGNAL_OF_SUPER)
		return cat_error(err, "42501", "must be a superuser to %s",
		    end ? "terminate superuser process" : "cancel superuser query");
	else if (is == SQL_SIGNAL_OF_OTHER)
		return cat_error(err, "42501",
		    "must be a member of the role whose %s or member of pg_signal_backend",
		    end ? "process is being terminated" : "query is being canceled");
	return true;
}

static bool
sleep_for(struct sql_session *s, double seconds, struct cat_err *err)
{
	enum { LOOK_NS = 5000000 };
	uint64_t began = net_now_ns(s->net), ns = seconds < 9e9 ? (uint64_t)(seconds * 1e9) : INT64_MAX, gone;
	struct cat_err *was = s->x.err; /* err may not outlive the call */
	bool ok = true;
	s->x.err = err;
	while (ok && (gone = net_now_ns(s->net) - began) < ns) {
		net_sleep(s->net, ns - gone < LOOK_NS ? ns - gone : LOOK_NS);
		ok = sql_go_on(&s->x);
	}
	s->x.err = was;
	return ok;
}

static int64_t
statement_us(struct sql_session *s)
{
	return s->statement_us;
}

static const struct sql_host host = { .known = sql_setting_known,
	.setting = sql_setting,
	.pid = pid,
	.signal = signal_session,
	.sleep = sleep_for,
	.set = sql_set_config,
	.now_us = sql_now_us,
	.statement_us = statement_us,
	.nextval = sql_nextval,
	.currval = sql_currval,
	.lastval = sql_lastval,
	.setval = sql_setval,
	.system = sql_system_ask };

nam_status
sql_session_open(const struct sql_session_config *cfg, struct sql_session **out)
{
	struct sql_session *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	s->cfg = *cfg;
	s->host = &host;
	s->net = txn_worker_net(cfg->tw);
	s->login.super = !cfg->plain_user;
	s->login.id = cfg->role_id;
	snprintf(s->login.name, sizeof s->login.name, "%s", cfg->user != NULL ? cfg->user : CAT_FIRST_ROLE);
	s->budget.whole = &sql_process_memory;
	sql_settings_begin(s);
	sql_costs_renew(s);
	*out = s;
	return NAM_OK;
}

void
sql_session_close(struct sql_session *s)
{
	if (s == NULL)
		return;
	sql_roll_back(s);
	sql_temp_end(s);
	sql_cursors_forget(s);
	for (unsigned i = 0; i < SQL_CACHED; i++)
		sql_stmt_close(s->cache[i]);
	for (unsigned i = 0; i < s->arenas; i++) {
		nam_arena_fini(s->arena[i]);
		free(s->arena[i]);
	}
	free(s->arena);
	free(s->sequence);
	free(s->save);
	sql_forget_named(s);
	sql_foreign_free(s);
	sql_custom_free(s);
	free(s);
}

char
sql_session_state(const struct sql_session *s)
{
	return s->block == SQL_FAILED ? 'E' : s->block == SQL_BLOCK ? 'T' : 'I';
}

void
sql_memory(uint64_t *held, uint64_t *most)
{
	*held = __atomic_load_n(&sql_process_memory.used, __ATOMIC_RELAXED);
	*most = __atomic_load_n(&sql_process_memory.limit, __ATOMIC_RELAXED);
}

void
sql_session_counts(const struct sql_session *s, struct net_counts *out)
{
	*out = s->counts;
	if (s->t != NULL)
		net_counts_add(out, txn_counts(s->t));
}
