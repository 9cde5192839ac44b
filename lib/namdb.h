/*
 * namdb.h -- namdb as a library: open a cluster, run SQL, take rows.
 *
 *	namdb *db;
 *	namdb_stmt *st;
 *	if (namdb_open("memory:", &db) != NAMDB_OK)
 *		die(namdb_message(db));
 *	namdb_prepare(db, "SELECT name FROM people WHERE id = $1", &st);
 *	namdb_bind_int64(st, 1, 7);
 *	while (namdb_step(st) == NAMDB_ROW)
 *		puts(namdb_column_text(st, 0));
 *	namdb_finalize(st);
 *	namdb_close(db);
 *
 * Where. One string says which cluster:
 *
 *	memory:                  storage in this process, for this handle alone, gone at close
 *	memory:NAME              storage in this process, for all of its handles that say NAME
 *	dir:PATH                 the database in that directory; other processes may open it too
 *	/PATH or .PATH           the same, for a path that begins with / or .
 *	HOST:PORT[,HOST:PORT...] storage nodes (also namdb://HOST:PORT,...)
 *
 * with options behind a question mark, name=value, separated by &: size=512m (memory, directory),
 * nodes=3 (memory), idle_s=N (directory), fabric=auto|shm|verbs|tcp, connect_ms=N (directory,
 * nodes), cluster=NAME, secret=FILE (nodes), lease_ms=N (of a new cluster: a process that stalls
 * for so long with a transaction open is fenced; default 3000), workers=N (threads of this process;
 * default 1), user=NAME (the role that the handle is of; a name that is no role is refused with
 * 28000; default namdb, the first role, a superuser). Handles with equal nodes or directories, and
 * equal options, share one compute node in this process. The options of the first handle of
 * memory:NAME hold for all its handles, but for user.
 *
 * Directories. A new one is made; its parent must be there. COMMIT answers when the log in the
 * directory is on disk. The first process that opens the directory starts a storage node, of
 * size=1g, which is a process of its own: the program namdb, which is $NAMDB_PROGRAM, or lies
 * beside the library or in ../bin of there, or in PATH. It is no child of this process and has none
 * of its descriptors; it ends when no process has had the directory open for idle_s (default 5)
 * seconds. If it is killed, statements end with 58030: close the handle and open another one, which
 * starts the next node. In dir:PATH %3F stands for a question mark, %25 for a percent sign and %HH
 * for any byte; in a plain path nothing stands for another thing, and the first question mark
 * begins the options.
 *
 * Results. Calls return NAMDB_OK, NAMDB_ROW, NAMDB_DONE, NAMDB_ERROR or NAMDB_MISUSE. After
 * NAMDB_ERROR namdb_sqlstate, namdb_message, namdb_detail, namdb_hint and namdb_position describe
 * the error, in PostgreSQL's codes. NAMDB_MISUSE: the call itself makes no sense (see below);
 * nothing has happened.
 *
 * Transactions. A statement outside BEGIN ... COMMIT is a transaction. BEGIN, COMMIT and ROLLBACK
 * are statements; namdb_begin, namdb_commit and namdb_rollback do what they do. After an error
 * inside BEGIN ... every statement but ROLLBACK fails with 25P02.
 *
 * Threads. One thread at a time may use a handle and its statements; a call that finds another
 * thread inside returns NAMDB_MISUSE. namdb_cancel may be called from any thread, and from a signal
 * handler, while the handle is open. Handles are independent of each other.
 *
 * Fork. A handle belongs to the process that opened it. In a child made by fork every call on a
 * handle of the parent returns NAMDB_MISUSE, namdb_message says why, and nothing happens to the
 * parent; namdb_close frees nothing there. The child may open handles of its own.
 *
 * Signals. The library installs no handler, and its threads take no signals.
 *
 * Memory. Strings and bytes that calls return belong to the handle or statement: column values live
 * until the next call that steps, runs or prepares something on the handle, error texts until the
 * next call.
 *
 * Several statements of a handle may be half read: when a second one runs, the rows that the first
 * still has to give are kept in memory. To read two large results side by side, open two handles.
 */
#ifndef NAMDB_H
#define NAMDB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NAMDB_VERSION "0.1.0"

typedef struct namdb namdb;
typedef struct namdb_stmt namdb_stmt;
typedef struct namdb_batch namdb_batch;

enum { NAMDB_OK = 0, NAMDB_ROW = 1, NAMDB_DONE = 2, NAMDB_ERROR = 3, NAMDB_MISUSE = 4 };

/* The kind of a value. Types that are not listed (numeric, date, ...) are NAMDB_TEXT. */
enum { NAMDB_NULL = 0, NAMDB_BOOL = 1, NAMDB_INT64 = 2, NAMDB_DOUBLE = 3, NAMDB_TEXT = 4 };

/* The library's version, as in NAMDB_VERSION. */
const char *namdb_version(void);

/* On NAMDB_ERROR *out is a handle that has the error and must be closed, or NULL if there was no
 * memory. */
int namdb_open(const char *where, namdb **out);
/* Rolls back an open transaction. Calls on statements and batches that are still there return
 * NAMDB_MISUSE from now on; they must still be finalized. The last handle of the last process of a
 * cluster with a log may make a checkpoint, for two seconds at most. If a storage node hangs, it
 * takes longer. NULL is fine. */
void namdb_close(namdb *db);

/* ---- errors of the last call on this handle or its statements -------------------- */

const char *namdb_sqlstate(const namdb *db); /* five characters; "00000": none */
const char *namdb_message(const namdb *db);
const char *namdb_detail(const namdb *db); /* "" = none; hint likewise */
const char *namdb_hint(const namdb *db);
int namdb_position(const namdb *db); /* character of the statement, from 1; 0 = none */

/*
 * If this process stalls for longer than the cluster's lease with a transaction open (a debugger,
 * SIGSTOP, a frozen virtual machine), other processes fence it and roll its open transactions back.
 * From then on every statement of its handles ends with 57P01, or with 08007 if its transaction may
 * have been committed. namdb_on_end registers a function for programs that must react at once; why
 * is the reason, in one line:
 *
 *	static void
 *	lost(void *arg, const char *why)
 *	{
 *		fprintf(stderr, "reconnecting: %s\n", why);
 *		atomic_store((atomic_bool *)arg, true); // the main loop closes the handle, and
 *              opens another
 *	}
 *	...
 *	namdb_on_end(db, lost, &reconnect);
 *
 * fn is called once for each handle that registered one, on a thread of the library's; if the
 * process is fenced already, before namdb_on_end returns. In fn every call of the library returns
 * NAMDB_MISUSE, and namdb_close does nothing, so fn tells another thread of the program to act, or
 * ends the program (exit). namdb_close waits for an fn that is being called. NULL = no function. If
 * a process maps memory of the storage nodes of its host and does not answer their question whether
 * it lives, it is killed (SIGKILL); fn is not called then.
 */
int namdb_on_end(namdb *db, void (*fn)(void *arg, const char *why), void *arg);

/* ---- statements ------------------------------------------------------------------- */

/* Runs one or several statements; rows are dropped. Stops at the first error. */
int namdb_exec(namdb *db, const char *sql);

/* One statement. Parameters are $1, $2, ...; their types follow from their places in the
 * statement. */
int namdb_prepare(namdb *db, const char *sql, namdb_stmt **out);
/* Frees the statement, and stops it if it runs. NULL is fine. */
void namdb_finalize(namdb_stmt *st);

unsigned namdb_param_count(const namdb_stmt *st);
/* i from 1. A value stays bound until another replaces it. Bytes are copied. len -1 = up to the 0.
 * If a value does not fit its parameter's type, the first step fails. */
int namdb_bind_null(namdb_stmt *st, unsigned i);
int namdb_bind_bool(namdb_stmt *st, unsigned i, int value);
int namdb_bind_int64(namdb_stmt *st, unsigned i, int64_t value);
int namdb_bind_double(namdb_stmt *st, unsigned i, double value);
int namdb_bind_text(namdb_stmt *st, unsigned i, const char *text, ptrdiff_t len);

/* NAMDB_ROW: here is the next row. NAMDB_DONE: there are no more, the statement has run; another
 * step runs it again. */
int namdb_step(namdb_stmt *st);
/* Ends a run early; the next step runs the statement again. Bound values stay. */
int namdb_reset(namdb_stmt *st);
/* Rows that the last finished run changed or returned; for namdb_exec, its last statement. */
uint64_t namdb_changes(const namdb *db);

/* An array, parameter or column, is text as PostgreSQL writes it: {1,2,NULL}, {"a b","c\\"d"}. So
 * namdb_bind_text(st, 1, "{3,1,4}", -1) binds the array of `id = ANY ($1)`; the rows of its keys
 * are looked up together. */

/* Columns count from 0. Out of range: NULL, 0, NAMDB_NULL. */
unsigned namdb_column_count(const namdb_stmt *st);
const char *namdb_column_name(const namdb_stmt *st, unsigned i);
const char *namdb_column_typename(const namdb_stmt *st, unsigned i); /* "bigint" */
/* Of the current row. */
int namdb_column_kind(const namdb_stmt *st, unsigned i);
int64_t namdb_column_int64(
    const namdb_stmt *st, unsigned i); /* 0 if the value is no integer and its text is none */
double namdb_column_double(const namdb_stmt *st, unsigned i);
/* The value as text, with a 0 behind it. NULL = SQL's NULL, or no memory. */
const char *namdb_column_text(namdb_stmt *st, unsigned i);
/* The value as text, *len bytes without a 0 behind them. A value that is text is not copied. */
const char *namdb_column_bytes(namdb_stmt *st, unsigned i, size_t *len);

/* ---- transactions --------------------------------------------------------------------- */

int namdb_begin(namdb *db);
int namdb_commit(namdb *db);
int namdb_rollback(namdb *db);
/* 'I': no transaction is open; 'T': one is; 'E': one is and has failed. */
char namdb_state(const namdb *db);

/* ---- many rows at once ------------------------------------------------------------------- */

/*
 * Fills a table much faster than INSERT: rows go in as one COPY, all or nothing. table and columns
 * ("a, b", or NULL for all) are written as in SQL. Add the fields of a row one by one, then end the
 * row with namdb_batch_row. All rows are kept in memory until namdb_batch_end sends them (NAMDB_OK:
 * all rows are in the table). namdb_batch_end or namdb_batch_abort frees the batch. NULL is fine
 * for abort.
 */
int namdb_batch_begin(namdb *db, const char *table, const char *columns, namdb_batch **out);
int namdb_batch_null(namdb_batch *b);
int namdb_batch_int64(namdb_batch *b, int64_t value);
int namdb_batch_double(namdb_batch *b, double value);
int namdb_batch_text(namdb_batch *b, const char *text, ptrdiff_t len);
int namdb_batch_row(namdb_batch *b);
int namdb_batch_end(namdb_batch *b);
void namdb_batch_abort(namdb_batch *b);

/* ---- while it runs ---------------------------------------------------------------------- */

/* Makes the running call end soon with 57014. */
void namdb_cancel(namdb *db);
/* A COPY calls fn now and then: bytes so far, in all (0 = unknown), rows. If fn does not return 0,
 * the COPY stops. NULL = no function. */
int namdb_progress(namdb *db, int (*fn)(void *arg, uint64_t bytes, uint64_t total, uint64_t rows), void *arg);
/* fn gets each NOTICE and WARNING. NULL = no function. */
int namdb_notice(namdb *db,
    void (*fn)(void *arg, const char *severity, const char *sqlstate, const char *text), void *arg);

/* Verbs, round trips and bytes of this handle's statements so far. */
struct namdb_counts {
	uint64_t verbs, round_trips, bytes_in, bytes_out;
};
int namdb_counts(namdb *db, struct namdb_counts *out);

#ifdef __cplusplus
}
#endif
#endif
