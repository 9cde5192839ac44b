/*
 * sql.h -- SQL text in, rows out: parse (libpg_query), bind, plan, execute in vectors.
 *
 * Runs in a coroutine of a worker; parsing goes to a thread with a large stack
 * and parks the coroutine. A struct sql_session is one user's session: its open
 * transaction, its settings, its prepared statements. One coroutine at a time,
 * with at least 1 MiB of stack: expressions may be nested 300 deep.
 */
#ifndef NAM_SQL_SQL_H
#define NAM_SQL_SQL_H

#include <catalog/catalog.h>

#include <stdatomic.h>

struct sql_parser; /* the parser thread and the cache of parsed statements; one per process */
struct sql_session;
struct sql_stmt; /* a prepared statement */

/* max_bytes: longest statement (0 = 1 MiB); longer ones answer 54000. */
nam_status sql_parser_open(size_t max_bytes, struct sql_parser **out);
void sql_parser_close(struct sql_parser *p);
/* From now on a coroutine that parses blocks its whole thread. Simulated time needs this: it must
 * not depend on how long parsing takes. Call it before the first parse. */
void sql_parser_blocks(struct sql_parser *p);

/* What the sessions of a worker did. Its worker alone writes; any thread reads, perhaps a little
 * late. */
struct sql_stats {
	_Atomic uint64_t commits, rollbacks;
	_Atomic uint64_t retries; /* statements that ran again after a lost race */
};
static inline void
sql_stat_add(_Atomic uint64_t *to, uint64_t n)
{
	uint64_t is = atomic_load_explicit(to, memory_order_relaxed);
	atomic_store_explicit(to, is + n, memory_order_relaxed);
}

/* A session of this process, as pg_stat_activity shows it. Times: microseconds since 2000-01-01, 0
 * = none. */
struct sql_activity {
	int32_t pid;
	const char *state; /* as there: "active", "idle", ... */
	int64_t began_us, xact_us, query_us, state_us;
	char user[CAT_NAME_MAX + 1], application[CAT_NAME_MAX + 1];
	char client[64]; /* "" = over a UNIX socket */
	int32_t port;    /* -1: likewise */
	char query[1024];
};

enum sql_signaled { SQL_SIGNALED, SQL_SIGNALED_NONE, SQL_SIGNAL_OF_SUPER, SQL_SIGNAL_OF_OTHER };
/* The sessions beside this one, as its process knows them. */
struct sql_peers {
	void *arg;
	/* Calls fn for each session, until it returns false; fn does not park. */
	void (*each)(void *arg, bool (*fn)(void *to, const struct sql_activity *a), void *to);
	/* Cancels the statement of the session with that pid, or ends the session. user: of the
	 * session that asks, NULL = a superuser's. SQL_SIGNALED: it will happen soon. */
	enum sql_signaled (*signal)(void *arg, int32_t pid, bool end, const char *user);
	/* Sums of all workers. */
	void (*totals)(void *arg, struct sql_stats *out);
};

/* A cursor or a portal, as pg_cursors shows it; the time as above. */
struct sql_cursor_shown {
	const char *name, *text;
	size_t len; /* of the text */
	bool hold, scroll;
	int64_t made_us;
};
/* How far the scan of the running statement has come: parts or rows of its table. Its coroutine
 * writes; any thread reads, perhaps a little late. all 0 = it is not known. */
struct sql_progress {
	_Atomic uint64_t done, all;
};

/* A worker that may run SQL. */
struct sql_place {
	struct txn_worker *tw;
	struct cat *cat;
	struct sql_parser *parser;
};
/* Other workers of the process, which help with long queries. */
struct sql_crew {
	unsigned workers; /* with the session's own */
	/* Lets fn(place, call) run soon in a coroutine of another worker, its number k from 0 on,
	 * with 1 MiB of stack. False: it does not. */
	bool (*start)(
	    void *arg, unsigned k, void (*fn)(const struct sql_place *place, void *call), void *call);
	void *arg;
};

/*
 * A scout finds queries of other processes that ask for help, and helps: one for a process, on one
 * of its workers. sql_scout_look looks once and, if there is such a query and its worker has no
 * transaction open, helps until that is done; true: there was one. In a coroutine with 1 MiB of
 * stack, like open and close. crew: other workers of the process, which help as well; may be NULL.
 * stop: not 0 = it leaves what it helps with; may be NULL. greedy: it helps even if the asking
 * process has workers for all cores of this machine (for tests).
 */
struct sql_scout;
struct sql_scout_config {
	struct sql_place at;
	const struct sql_crew *crew;
	const atomic_bool *stop;
	bool greedy;
};
nam_status sql_scout_open(const struct sql_scout_config *cfg, struct sql_scout **out);
bool sql_scout_look(struct sql_scout *s);
void sql_scout_close(struct sql_scout *s);
/* How many queries it has helped with; the snapshot of another process that it reads at, 0 = none.
 * Any thread. */
uint64_t sql_scout_helped(const struct sql_scout *s);
uint64_t sql_scout_reads_at(const struct sql_scout *s);
/* Each process that recovers others calls it once, before its recoverer begins: helpers of a dead
 * process's queries leave before its snapshots are gone. */
void sql_guard_helpers(struct txn_db *db);

/* ENDS: no client sees a statement's answer any more, or the session is about to end: a commit that
 * is not durable yet is then no success (08007). */
enum sql_cancel { SQL_CANCEL_NONE, SQL_CANCEL_STATEMENT, SQL_CANCEL_ENDS };

struct sql_session_config {
	struct txn_worker *tw;
	struct cat *cat;
	struct sql_parser *parser;
	/* Not 0 (enum sql_cancel): the running statement ends with 57014. The session's user resets
	 * it. */
	const _Atomic int *cancel;
	/* A statement that computes for longer lets other coroutines of its worker run; 0 = it
	 * never does. */
	uint64_t turn_ns;
	const char *user; /* borrowed; NULL = namdb */
	bool plain_user;  /* user is no superuser */
	uint64_t role_id; /* user's cat_role.id: its rights end when that role is dropped */
	bool no_files;    /* COPY reads and writes no files: 42501 */
	int32_t pid;      /* pg_backend_pid(); 0 = the process's */
	bool log_slow;    /* log_min_duration_statement is log_slow_ms by default, else -1 */
	uint32_t log_slow_ms;
	const struct sql_peers *peers; /* NULL = none */
	struct sql_stats *stats;       /* its worker's; NULL = not counted */
	const struct sql_crew *crew;   /* borrowed; NULL = no other worker helps */
	struct sql_progress *progress; /* borrowed; NULL = nobody looks */
};
nam_status sql_session_open(const struct sql_session_config *cfg, struct sql_session **out);
/* Rolls back an open transaction. In a coroutine. */
void sql_session_close(struct sql_session *s);
/* 'I' idle, 'T' in a transaction, 'E' in a failed one: as PostgreSQL's ReadyForQuery. */
char sql_session_state(const struct sql_session *s);
/* A setting of a session that begins; RESET gives it again: value NULL = the default. False: *err
 * says why. */
bool sql_session_set(struct sql_session *s, const char *name, const char *value, struct cat_err *err);
/* The value, perhaps in buf; NULL = there is no such setting. */
const char *sql_session_setting(struct sql_session *s, const char *name, char *buf, size_t max);

/* One column of a result. */
struct sql_column {
	char name[CAT_NAME_MAX + 1];
	enum cat_type type;
	int32_t typmod;
	uint32_t domain; /* id of the domain that its values are of; 0 = none */
	/* The relation whose column it is, as pg_class knows it, and the column's number there; 0 =
	 * it is computed. */
	uint32_t table;
	uint16_t number;
};

/* Rows of a result: n rows in col[0..cols). */
struct sql_batch_view {
	const struct cat_vec *col;
	unsigned cols;
	unsigned n;
	uint8_t floats; /* how a text shows its floats: cat_value_show's */
};

/* Where results go. All functions are called on the session's coroutine. If one returns false, the
 * statement stops (57014). */
struct sql_sink {
	void *arg;
	/* Once per statement that returns rows, before the rows. */
	bool (*begin)(void *arg, const struct sql_column *col, unsigned n);
	bool (*rows)(void *arg, const struct sql_batch_view *b);
	/* The statement is done: "INSERT 0 3", "SELECT 7", "CREATE TABLE". */
	bool (*done)(void *arg, const char *tag, uint64_t rows);
	/* NOTICE and WARNING. */
	void (*notice)(void *arg, const char *severity, const char *sqlstate, const char *text);
	/* COPY FROM STDIN: the next piece of input; *len 0 = the end. False if the user gave up. */
	bool (*copy_in)(void *arg, const char **bytes, size_t *len);
	/* COPY ... STDIN and STDOUT begin: rows of so many columns come out or go in. NULL =
	 * not called. */
	bool (*copy_begin)(void *arg, bool out, unsigned columns);
	/* COPY TO STDOUT: some whole lines. NULL = not called. */
	bool (*copy_out)(void *arg, const char *bytes, size_t len);
	/* COPY progress: bytes read so far, bytes in all (0 = unknown), rows. NULL = not called. */
	void (*progress)(void *arg, uint64_t bytes, uint64_t total, uint64_t rows);
};
/*
 * Runs all statements of text, in PostgreSQL's way (several statements in one
 * text are one implicit transaction unless they say BEGIN/COMMIT). Stops at the first error: false,
 * *err says SQLSTATE, text and position. COPY reads and writes files in this process.
 */
bool sql_execute(
    struct sql_session *s, const char *text, size_t len, const struct sql_sink *sink, struct cat_err *err);

/* Prepared statements: one statement, parameters $1.. with types inferred (or given; CAT_UNKNOWN =
 * infer). The plan is kept; if the catalog changes, the next run makes it again. */
bool sql_prepare(struct sql_session *s, const char *text, size_t len, const enum cat_type *types, unsigned n,
    struct sql_stmt **out, struct cat_err *err);
unsigned sql_stmt_params(const struct sql_stmt *st, const enum cat_type **types);
/* PostgreSQL's number of parameter i's type: a varchar's, or a domain's, if its place says so. */
uint32_t sql_stmt_param_oid(const struct sql_stmt *st, unsigned i);
/* The type in which values of such a parameter are given. */
enum cat_type sql_param_sent(enum cat_type type);
/* Columns of the statement's result, as of its current plan. 0 columns and NULL = it returns no
 * rows. Valid until the next sql_run of st. */
unsigned sql_stmt_columns(const struct sql_stmt *st, const struct sql_column **columns);
bool sql_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err);
/* What is said of it when it returns no more rows. */
const char *sql_stmt_nothing(const struct sql_stmt *st);
/* True if it may run in a failed transaction block. */
bool sql_stmt_ends(const struct sql_stmt *st);
/* The text it was made of, as a client sent it. Valid as long as st. */
const char *sql_stmt_text(const struct sql_stmt *st, size_t *len);
/* Gives back what sql_prepare or sql_stmt_hold gave; the last one ends the statement. Before
 * sql_session_close. */
void sql_stmt_close(struct sql_stmt *st);
struct sql_stmt *sql_stmt_hold(struct sql_stmt *st);

/*
 * A query's rows piece by piece, without keeping them: its plan stays open between two fetches. If
 * another statement runs meanwhile, the rest of the rows comes to memory. It ends with its
 * transaction, or by CLOSE; the struct lives until sql_cursor_close, which is called before
 * sql_session_close.
 */
struct sql_cursor;
/*
 * A portal: a statement with its parameters, which are borrowed until sql_cursor_close. Under its
 * name, "" = none, FETCH, MOVE and CLOSE know it as they know DECLARE's cursors. A query's rows are
 * those of this moment; any other statement runs at the first fetch, or by sql_run. 42P03: the name
 * is taken.
 */
bool sql_portal_open(struct sql_session *s, const char *name, struct sql_stmt *st,
    const struct cat_datum *param, unsigned n, struct sql_cursor **out, struct cat_err *err);
/* Its transaction has ended, or CLOSE was called. */
bool sql_cursor_dead(const struct sql_cursor *c);
/* Around the one sql_run of a portal's statement that returns no rows. */
void sql_cursor_busy(struct sql_cursor *c, bool busy);
/* The next rows, 0 = all. *got: how many there were; *end: there are no more. Calls only the sink's
 * rows and notice. */
bool sql_cursor_fetch(struct sql_cursor *c, uint64_t rows, const struct sql_sink *sink, uint64_t *got,
    bool *end, struct cat_err *err);
/* What the statement's tag says of so many rows. */
void sql_cursor_tag(const struct sql_cursor *c, uint64_t rows, char *out, size_t max);
void sql_cursor_close(struct sql_cursor *c); /* NULL: nothing */
/* A cursor or a portal; NULL = there is none. Valid until the next statement. sql_cursor_close
 * ends one that DECLARE made. */
struct sql_cursor *sql_cursor_named(const struct sql_session *s, const char *name);
unsigned sql_cursor_columns(const struct sql_cursor *c, const struct sql_column **columns);

/* A statement under a name, which EXECUTE and DEALLOCATE know as they know PREPARE's. Takes st,
 * also when it fails: 42P05 the name is taken. */
bool sql_stmt_name(struct sql_session *s, const char *name, struct sql_stmt *st, struct cat_err *err);
/* 26000 and NULL: there is none. Valid until the name is gone, unless held. */
struct sql_stmt *sql_stmt_named(struct sql_session *s, const char *name, struct cat_err *err);
/* Forgets the name, if there is one. */
void sql_stmt_unname(struct sql_session *s, const char *name);

/*
 * Several sql_run as one implicit transaction, as PostgreSQL has it between two Syncs. more: the
 * sql_run that follows does not end the implicit transaction; if none is open, it begins.
 * sql_session_settle commits what is open of it: false with the reason if it cannot; a warning goes
 * to the sink (NULL = none). sql_execute
 * and a failed statement end it too.
 */
void sql_session_more(struct sql_session *s, bool more);
bool sql_session_settle(struct sql_session *s, const struct sql_sink *sink, struct cat_err *err);
/* As if a statement had failed: for errors that the session's user finds itself. */
void sql_session_fail(struct sql_session *s);

/* Measures what operators cost, once in the life of a process. at is the start of some 128 KiB of
 * remote memory that may be read. In a coroutine. */
void sql_costs_measure(struct net_worker *w, net_addr at);

/* Bytes that the statements of all sessions of this process hold, and how many they may
 * (namdb.process_memory; 0 = any number). */
void sql_memory(uint64_t *held, uint64_t *most);

/* Verbs, bytes and round trips of the session's statements so far. */
void sql_session_counts(const struct sql_session *s, struct net_counts *out);

#endif
