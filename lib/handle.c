/* handle.c -- a handle: open, close, errors, entering it, texts of several statements. */
#include "lib_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *
namdb_version(void)
{
	return NAMDB_VERSION;
}

bool
lib_enter(struct namdb *db)
{
	if (db == NULL)
		return false;
	/* Before any lock: it may have been held, for ever, by a thread that the child does not
	 * have. */
	if (db->process != lib_process()) {
		cat_error(&db->err, "08003",
		    "this handle is the parent process's: a child made by fork opens one of its own");
		return false;
	}
	if (lib_telling() || atomic_exchange_explicit(&db->busy, 1, memory_order_acquire) != 0)
		return false;
	if (db->open)
		return true;
	lib_leave(db);
	return false;
}

void
lib_leave(struct namdb *db)
{
	atomic_store_explicit(&db->busy, 0, memory_order_release);
}

void
lib_drop(struct namdb *db)
{
	if (--db->refs == 0)
		free(db);
}

void
lib_clear(struct namdb *db)
{
	db->err.position = 0;
	memcpy(db->err.sqlstate, "00000", 6);
	db->err.text[0] = db->err.detail[0] = db->err.hint[0] = 0;
}

/* ---- what a session tells us besides rows ------------------------------------------- */

static bool
on_done(void *arg, const char *tag, uint64_t rows)
{
	struct namdb *db = arg;
	(void)tag;
	db->changes = rows;
	return true;
}

static void
on_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct namdb *db = arg;
	if (db->notice != NULL)
		db->notice(db->notice_arg, severity, sqlstate, text);
}

static void
on_progress(void *arg, uint64_t bytes, uint64_t total, uint64_t rows)
{
	struct namdb *db = arg;
	if (db->progress != NULL && db->progress(db->progress_arg, bytes, total, rows) != 0)
		cn_cancel(db->s);
}

void
lib_sink(struct namdb *db, struct sql_sink *out)
{
	*out = (struct sql_sink){ .arg = db, .done = on_done, .notice = on_notice, .progress = on_progress };
}

/* ---- open and close ------------------------------------------------------------------ */

int
namdb_open(const char *where, namdb **out)
{
	if (out == NULL)
		return NAMDB_MISUSE;
	struct nam_err err = { 0 };
	if (lib_telling()) {
		*out = NULL;
		return NAMDB_MISUSE;
	}
	struct namdb *db = *out = calloc(1, sizeof *db);
	if (db == NULL)
		return NAMDB_ERROR;
	db->refs = 1;
	db->process = lib_process();
	lib_clear(db);
	char user[CAT_NAME_MAX + 1];
	db->place = lib_place_open(where, user, &err);
	if (db->place != NULL) {
		if (cn_session_open_as(
			lib_place_cn(db->place), UINT_MAX, user[0] ? user : NULL, &db->s, &db->err)) {
			db->open = true;
			return NAMDB_OK;
		}
		lib_place_close(db->place);
		db->place = NULL;
		return NAMDB_ERROR;
	}
	cat_error(&db->err,
	    err.status == NAM_NOMEM     ? "53200"
	    : err.status == NAM_INVALID ? "08001"
					: "08006",
	    "%s", err.text);
	return NAMDB_ERROR;
}

void
namdb_close(namdb *db)
{
	/* What is the parent's stays as it is; the memory goes with the child. */
	if (db == NULL || db->closed || db->process != lib_process() || lib_telling())
		return;
	if (lib_enter(db)) {
		lib_place_watch(db->place, db, NULL, NULL);
		lib_forget_all(db);
		cn_session_close(db->s);
		lib_place_close(db->place);
		db->s = NULL;
		db->place = NULL;
		db->open = false;
		lib_leave(db);
	} else if (db->open) {
		return; /* another thread is inside: closing now would pull the floor from under
			 * it */
	}
	db->closed = true;
	lib_drop(db);
}

/* ---- errors ---------------------------------------------------------------------------- */

const char *
namdb_sqlstate(const namdb *db)
{
	return db == NULL ? "53200" : db->err.sqlstate[0] != 0 ? db->err.sqlstate : "00000";
}

const char *
namdb_message(const namdb *db)
{
	return db != NULL ? db->err.text : "out of memory";
}

const char *
namdb_detail(const namdb *db)
{
	return db != NULL ? db->err.detail : "";
}

const char *
namdb_hint(const namdb *db)
{
	return db != NULL ? db->err.hint : "";
}

int
namdb_position(const namdb *db)
{
	return db != NULL ? db->err.position : 0;
}

/* ---- texts ------------------------------------------------------------------------------- */

int
namdb_exec(namdb *db, const char *sql)
{
	if (sql == NULL || !lib_enter(db))
		return NAMDB_MISUSE;
	struct sql_sink sink;
	lib_end_statement(db);
	lib_clear(db);
	lib_sink(db, &sink);
	bool ok = cn_exec(db->s, sql, strlen(sql), &sink, &db->err);
	lib_leave(db);
	return ok ? NAMDB_OK : NAMDB_ERROR;
}

int
namdb_begin(namdb *db)
{
	return namdb_exec(db, "BEGIN");
}

int
namdb_commit(namdb *db)
{
	return namdb_exec(db, "COMMIT");
}

int
namdb_rollback(namdb *db)
{
	return namdb_exec(db, "ROLLBACK");
}

char
namdb_state(const namdb *db)
{
	return db != NULL && db->open ? cn_session_state(db->s) : 'I';
}

uint64_t
namdb_changes(const namdb *db)
{
	return db != NULL ? db->changes : 0;
}

int
namdb_on_end(namdb *db, void (*fn)(void *arg, const char *why), void *arg)
{
	if (!lib_enter(db))
		return NAMDB_MISUSE;
	lib_place_watch(db->place, db, fn, arg);
	lib_leave(db);
	return NAMDB_OK;
}

/* ---- while it runs -------------------------------------------------------------------------- */

void
namdb_cancel(namdb *db)
{
	if (db != NULL && db->s != NULL)
		cn_cancel(db->s);
}

int
namdb_progress(namdb *db, int (*fn)(void *arg, uint64_t bytes, uint64_t total, uint64_t rows), void *arg)
{
	if (!lib_enter(db))
		return NAMDB_MISUSE;
	db->progress = fn;
	db->progress_arg = arg;
	lib_leave(db);
	return NAMDB_OK;
}

int
namdb_notice(
    namdb *db, void (*fn)(void *arg, const char *severity, const char *sqlstate, const char *text), void *arg)
{
	if (!lib_enter(db))
		return NAMDB_MISUSE;
	db->notice = fn;
	db->notice_arg = arg;
	lib_leave(db);
	return NAMDB_OK;
}

int
namdb_counts(namdb *db, struct namdb_counts *out)
{
	struct net_counts c;
	if (out == NULL || !lib_enter(db))
		return NAMDB_MISUSE;
	cn_session_counts(db->s, &c);
	*out = (struct namdb_counts){ net_counts_verbs(&c), c.round_trips, c.bytes_in, c.bytes_out };
	lib_leave(db);
	return NAMDB_OK;
}
