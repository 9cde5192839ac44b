/*
 * cn.h -- a compute node: worker threads, their coroutines, and sessions that plain threads can
 * use.
 *
 * A process that opens one is a member of the cluster: it joins the oracle, may
 * run any transaction, and leaves no trace but its data when it closes. Each
 * worker is one thread with its own endpoints and scheduler; a session lives
 * on one worker as one coroutine. cn_exec is the door for threads that may
 * block (a shell, a test); cn_start runs code of the caller's in a coroutine, for
 * those that must not.
 */
#ifndef NAM_COMPUTE_NODE_CN_H
#define NAM_COMPUTE_NODE_CN_H

#include <sql/sql.h>

struct cn;
struct cn_session;

struct cn_config {
	const char *storage;      /* "host:port,..."; as net_config */
	struct net_local **local; /* embedded storage, NULL-terminated; or NULL */
	enum net_kind fabric;
	const char *cluster;
	const void *secret; /* borrowed for cn_open */
	size_t secret_len;
	uint32_t connect_ms;   /* 0 = 3000 */
	unsigned workers;      /* 0: one per core, at most 8 */
	struct txn_config txn; /* zeros: defaults */
	size_t statement_max;  /* longest statement; 0 = 1 MiB */
	bool measure;          /* plans go by what fabric and processor take here: 10 ms to find
			        * out */
};

/*
 * Connects, joins (or formats) the cluster, starts the workers. On failure *out is as it
 * was and err says what to do. With NAM_OK err->text may hold a warning (a storage
 * node came back empty); it is "" otherwise.
 */
nam_status cn_open(struct cn **out, const struct cn_config *cfg, struct nam_err *err);
/* Leaves the cluster. Every session must be closed; waits for what cn_start started. */
void cn_close(struct cn *cn);

/* Waits, ms at most, until the process is at rest in the cluster: no snapshot, no claim, no lock,
 * its owner slot idle. Then nobody misses it if it stands still. False: it is not. For a thread
 * that starts nothing meanwhile. */
bool cn_rest(struct cn *cn, unsigned ms);

/*
 * Calls fn(arg, why) once when the process has lost its place in the cluster for ever
 * (net_membership says NET_FENCED); why is one line, valid until fn returns. On a thread of its
 * own, which takes the signals that the caller of cn_open takes; cn_close waits for it. At once, on
 * the caller's thread, if that has happened already. One fn for each cn.
 */
void cn_on_end(struct cn *cn, void (*fn)(void *arg, const char *why), void *arg);

unsigned cn_workers(const struct cn *cn);
struct net *cn_net(struct cn *cn);

/* What code on a worker needs. Valid until cn_close. */
struct cn_place {
	unsigned worker; /* 0.. */
	struct net_worker *net;
	struct txn_worker *txn;
	struct cat *cat;
	struct sql_parser *parser;
};
/* Runs fn(place, arg) in a coroutine of that worker, soon; does not wait. stack 0 = 1 MiB. Any
 * thread. NAM_NOMEM. */
nam_status cn_start(struct cn *cn, unsigned worker, void (*fn)(const struct cn_place *place, void *arg),
    void *arg, size_t stack);

/* ---- sessions for threads that may block ------------------------------------- */

/* worker: 0.., or UINT_MAX for the next in turn. NAM_NOMEM, or as sql_session_open. */
nam_status cn_session_open(struct cn *cn, unsigned worker, struct cn_session **out);
/* Rolls back an open transaction. */
void cn_session_close(struct cn_session *s);
/* 'I', 'T', 'E': as sql_session_state. */
char cn_session_state(const struct cn_session *s);

/*
 * Runs SQL text as sql_execute does and waits for it. One thread at a time per session. The
 * sink's functions are called on the calling thread, one at a time, while the session's
 * coroutine is parked: they may block, and what they are shown is valid until they return.
 * Functions the sink leaves NULL are skipped (copy_in: no input).
 */
bool cn_exec(
    struct cn_session *s, const char *text, size_t len, const struct sql_sink *sink, struct cat_err *err);
/* One statement, kept until cn_forget or the session's end. NULL and false: *err says why. */
bool cn_prepare(
    struct cn_session *s, const char *text, size_t len, struct sql_stmt **out, struct cat_err *err);
void cn_forget(struct cn_session *s, struct sql_stmt *st);

/*
 * Runs a prepared statement whose rows are pulled: cn_run says what (nothing is copied: param, sink
 * and err live until the end), each cn_next brings a batch, valid until the next one, until it says
 * CN_DONE or CN_FAILED (then *err says why). Between them the statement stands still, so nothing
 * else may be asked of the session. Of the sink all but rows is called, on the calling thread; rows
 * must not be NULL. cn_stop ends it early: an open block goes on as if all had been read.
 */
enum cn_next { CN_ROWS, CN_DONE, CN_FAILED };
void cn_run(struct cn_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *sink, struct cat_err *err);
enum cn_next cn_next(struct cn_session *s, const struct sql_batch_view **rows);
enum cn_next cn_stop(struct cn_session *s);

/* The running cn_exec or cn_next ends soon, with 57014. Any thread; from a signal handler too. */
void cn_cancel(struct cn_session *s);
/* Verbs, bytes, round trips of the session so far. Between calls of cn_exec. */
void cn_session_counts(struct cn_session *s, struct net_counts *out);

#endif
