/*
 * cn.h -- a compute node: worker threads, their coroutines, and sessions that plain threads can
 * use.
 *
 * A process that opens a compute node is a member of the cluster: it joins the oracle and may run
 * any transaction; after cn_close only its data is left. Each worker is one thread with its own
 * endpoints and scheduler; a session lives on one worker as one coroutine. A thread that may block
 * (a shell's, a test's) calls cn_exec. Code that must not block runs in a coroutine, which cn_start
 * starts.
 */
#ifndef NAM_COMPUTE_NODE_CN_H
#define NAM_COMPUTE_NODE_CN_H

#include <catalog/role.h>
#include <sql/sql.h>

struct cn;
struct cn_session;

/* How far cn_open is; it begins as zeros. */
struct cn_opening {
	/* Set by any thread: cn_open soon fails with NAM_CANCELLED. */
	atomic_bool stop;
	/* 1 + permille of the database that is restored, here or by another process; 0 = nothing is
	 * restored. Any thread may read it. */
	_Atomic unsigned restoring;
};

struct cn_config {
	const char *storage;      /* "host:port,..."; as net_config */
	struct net_local **local; /* embedded storage, NULL-terminated; or NULL */
	enum net_kind fabric;
	const char *cluster;
	const void *secret; /* borrowed for cn_open */
	size_t secret_len;
	uint32_t connect_ms;        /* 0 = 3000 */
	unsigned workers;           /* 0 = one per core, at most 8 */
	struct txn_config txn;      /* zeros: defaults */
	size_t statement_max;       /* longest statement; 0 = 1 MiB */
	bool measure;               /* the costs that plans use are measured: takes 10 ms */
	bool helps;                 /* its idle workers help with queries of other processes */
	struct cn_opening *opening; /* borrowed for cn_open; NULL = nobody looks at it */
	/* The hint of an error that a storage node is gone; copied; NULL = the one of clusters. */
	const char *gone_hint;
};

/*
 * Connects, joins (or makes) the cluster, starts the workers. On failure *out is as it was and err
 * says what to do. With NAM_OK err->text may hold a warning (a storage node came back empty); "" =
 * none.
 */
nam_status cn_open(struct cn **out, const struct cn_config *cfg, struct nam_err *err);
/* Leaves the cluster. Every session must be closed. Waits for all code that cn_start started. */
void cn_close(struct cn *cn);

/*
 * Before cn_close, if the process ends cleanly, and all sessions are closed: if it is the last
 * process of a cluster with a log, and the log has grown by much since the last checkpoint, makes
 * one, so that the next start replays less. It takes two seconds at most; then, or when stop(arg)
 * is true (NULL = never; asked often, on the calling thread), it is given up, without harm.
 * wait_ms: so long it waits for other processes that end as well. False: a storage node hangs, so
 * cn_close may take long.
 */
bool cn_last_checkpoint(struct cn *cn, unsigned wait_ms, bool (*stop)(void *arg), void *arg);

/* Waits, ms at most, until the process is at rest in the cluster: no snapshot, no claim, no lock,
 * its owner slot idle. A process at rest may stall without being fenced. True if it is at rest. The
 * calling thread must not let anything start meanwhile. */
bool cn_rest(struct cn *cn, unsigned ms);

/*
 * Calls fn(arg, why) once when the process has lost its place in the cluster for ever
 * (net_membership returns NET_FENCED); why is one line, valid until fn returns. fn runs on a thread
 * of its own, which takes the signals that the caller of cn_open takes; cn_close waits for it. If
 * the place is lost already, fn is called at once, on the caller's thread. One fn for each cn.
 */
void cn_on_end(struct cn *cn, void (*fn)(void *arg, const char *why), void *arg);

/* True if a storage node without which the process can do nothing is lost for good: its home, or
 * any node if the cluster has a log, because then all is restored when it is back. why: one line.
 * Close cn, and open another one when the nodes are back. Any thread. */
bool cn_lost(struct cn *cn, char *why, size_t max);

unsigned cn_workers(const struct cn *cn);
struct net *cn_net(struct cn *cn);

/* A worker's parts, for code that runs on it. Valid until cn_close. */
struct cn_place {
	unsigned worker; /* 0.. */
	struct net_worker *net;
	struct txn_worker *txn;
	struct cat *cat;
	struct sql_parser *parser;
};
/* Lets fn(place, arg) run soon in a coroutine of that worker; does not wait for it. stack 0 = 1
 * MiB. Any thread. NAM_NOMEM. */
nam_status cn_start(struct cn *cn, unsigned worker, void (*fn)(const struct cn_place *place, void *arg),
    void *arg, size_t stack);

/*
 * For code that runs SQL in such a coroutine. After a failed statement: if the cause is that this
 * process is fenced, or that a storage node is gone, *err gets that reason. cut: a result was held
 * back because the process is fenced; doubt: its statement may have committed. May park.
 */
void cn_reason(struct cn *cn, const struct cn_place *place, bool cut, bool doubt, struct cat_err *err);

/*
 * The role as which a client of that name comes in (cat_role_enter, whose claims it hands on);
 * *found false: there is none. False: the catalog cannot be read, and *err says why. cancel: as
 * txn_limits. May park.
 */
bool cn_enter(struct cn *cn, const struct cn_place *place, const char *user, bool claims, _Atomic int *cancel,
    struct cat_role *role, bool *found, struct cat_err *err);
/* True if cn_enter's answer keeps the client out: *err is 28000. */
bool cn_refuse(const char *user, const struct cat_role *role, bool found, struct cat_err *err);

/* For sessions of that worker: the process's other workers, as sql_session_config wants them. Valid
 * until cn_close. */
const struct sql_crew *cn_crew(struct cn *cn, unsigned worker);

/* ---- sessions for threads that may block ------------------------------------- */

/* worker: 0.., or UINT_MAX for the next in turn. NAM_NOMEM, or as sql_session_open. */
nam_status cn_session_open(struct cn *cn, unsigned worker, struct cn_session **out);
/* As the role user, whose name is copied; NULL = the first role. If it is refused, or something
 * else fails, *err says why, with 28000 for a name that is no role, and *out is as it was. */
bool cn_session_open_as(
    struct cn *cn, unsigned worker, const char *user, struct cn_session **out, struct cat_err *err);
/* Rolls back an open transaction. */
void cn_session_close(struct cn_session *s);
/* 'I', 'T', 'E': as sql_session_state. */
char cn_session_state(const struct cn_session *s);

/*
 * Runs SQL text as sql_execute does and waits for it. One thread at a time per session. The sink's
 * functions are called on the calling thread, one at a time, while the session's coroutine is
 * parked: they may block, and their arguments are valid until they return. Functions that are NULL
 * are skipped (copy_in: no input).
 */
bool cn_exec(
    struct cn_session *s, const char *text, size_t len, const struct sql_sink *sink, struct cat_err *err);
/* Prepares one statement, kept until cn_forget or the session's end. On false *out is NULL and *err
 * says why. */
bool cn_prepare(
    struct cn_session *s, const char *text, size_t len, struct sql_stmt **out, struct cat_err *err);
void cn_forget(struct cn_session *s, struct sql_stmt *st);

/*
 * Runs a prepared statement whose rows are pulled. cn_run starts it; param, sink and err are
 * borrowed until its end. Each cn_next returns CN_ROWS and a batch, valid until the next call, or
 * CN_DONE, or CN_FAILED (then *err says why). Between the calls the statement is parked, so the
 * session can run nothing else. All functions of the sink but rows are called, on the calling
 * thread; rows must not be NULL. cn_stop ends the statement early, as if all rows had been read: an
 * open transaction block goes on.
 */
enum cn_next { CN_ROWS, CN_DONE, CN_FAILED };
void cn_run(struct cn_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err);
enum cn_next cn_next(struct cn_session *s, const struct sql_batch_view **rows);
enum cn_next cn_stop(struct cn_session *s);

/* Makes the running cn_exec or cn_next end soon, with 57014. Any thread, also a signal handler. */
void cn_cancel(struct cn_session *s);
/* cn_cancel, for the statements that follow as well: the process ends (cn_ending). */
void cn_session_ends(struct cn_session *s);
/* The process is about to end: a rollback that takes longer than CN_ENDING_NS from now on is left
 * to other processes, as after a crash. Any thread, also a signal handler. */
#define CN_ENDING_NS UINT64_C(2000000000)
void cn_ending(struct cn *cn);
/* While the calling thread of cn_exec or cn_next waits, it calls look about every ms milliseconds,
 * until look NULL is set. Between calls of cn_exec. */
void cn_session_watch(struct cn_session *s, unsigned ms, void (*look)(void *arg), void *arg);
/* How far the scan of the running statement has come. all 0 = it is not known. Any thread. */
void cn_session_progress(const struct cn_session *s, uint64_t *done, uint64_t *all);
/* Verbs, bytes, round trips of the session so far. Between calls of cn_exec. */
void cn_session_counts(struct cn_session *s, struct net_counts *out);

#endif
