/*
 * pgwire_internal.h -- shared by the files of compute_node/pgwire: the doorkeeper, connections,
 * portals.
 *
 * Key:  i  set before another thread can see it, then never again
 *       o  the session's coroutine, or its worker's idle hook: one thread; before the session
 *          begins the doorkeeper
 *       a  atomic
 *       l  under cn_pg.lock
 */
#ifndef NAM_COMPUTE_NODE_PGWIRE_INTERNAL_H
#define NAM_COMPUTE_NODE_PGWIRE_INTERNAL_H

#include "frame.h"
#include "out.h"
#include "pgwire.h"

#include <base/crowd.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
	CN_PG_WARM = 16 << 10, /* bytes of a buffer that an idle session keeps */
	CN_PG_SEND = 32 << 10, /* bytes that are sent before a statement has ended */
	CN_PG_SWEEP_MS = 200,  /* the doorkeeper looks at deadlines so often */
	CN_PG_LISTENERS = 16,
	CN_PG_PIDS = 4096, /* a power of two */
};

enum cn_pg_state { CN_PG_OFF, CN_PG_ACTIVE, CN_PG_WAITS, CN_PG_WAITS_IN_BLOCK, CN_PG_WAITS_FAILED };
enum { CN_PG_TEXT_WORDS = 128, CN_PG_NAME_WORDS = 8 };

/*
 * What a session does, for pg_stat_activity. The session's worker writes, any thread reads: a
 * reader takes a copy, and takes another if `turn` has moved, or is odd, which it is while the
 * worker writes.
 */
struct cn_pg_activity {
	_Atomic uint64_t turn;
	_Atomic uint64_t state; /* enum cn_pg_state */
	/* Since 1970; 0 = none. */
	_Atomic uint64_t began_us, xact_us, query_us, state_us;
	_Atomic uint64_t name[CN_PG_NAME_WORDS]; /* application_name */
	_Atomic uint64_t text[CN_PG_TEXT_WORDS]; /* the statement's, cut off, then a 0 */
};

/* Buckets of 1 us, 2 us, 4 us, ... 67 s, and what took longer. */
enum { CN_PG_BUCKETS = 28 };
struct cn_pg_times {
	_Atomic uint64_t bucket[CN_PG_BUCKETS], sum_us;
};

enum cn_pg_cause {
	CN_PG_CONFLICT,
	CN_PG_DEADLOCK,
	CN_PG_LOCK_TIMEOUT,
	CN_PG_CANCELED,
	CN_PG_CONSTRAINT,
	CN_PG_DATA,
	CN_PG_SYNTAX,
	CN_PG_MEMORY,
	CN_PG_STORAGE,
	CN_PG_DOUBT,
	CN_PG_OTHER,
	CN_PG_CAUSES
};

/* What the sessions of a worker did. The worker writes, any thread reads. */
struct cn_pg_stats {
	struct sql_stats sql;
	_Atomic uint64_t failed[CN_PG_CAUSES];
	_Atomic uint64_t began;        /* sessions */
	_Atomic uint64_t slow;         /* statements that were logged as slow */
	struct cn_pg_times statements; /* of a Query message, or an Execute */
	struct cn_pg_times blocks;     /* transactions, from first statement to last */
};

/* What others want of a session. */
enum cn_pg_order {
	CN_PG_SHUT = 1,    /* the server ends */
	CN_PG_EXPIRED = 2, /* its deadline has passed */
	CN_PG_CROWDED = 4, /* it is a stranger, and there are too many of them */
};

#define CN_PG_CROWDED_TEXT "sorry, too many clients wait to be let in, and this one came before others"

enum cn_pg_wait { CN_PG_START, CN_PG_IDLE, CN_PG_IDLE_IN_BLOCK };

struct cn_pg_portal {
	struct cn_pg_portal *next;
	char name[CAT_NAME_MAX + 1];
	struct sql_stmt *stmt;  /* held; NULL: there is no such portal */
	struct nam_arena arena; /* what follows, of one Bind */
	struct cat_datum *param;
	unsigned params;
	uint8_t *format; /* of each column, 1 = binary; NULL = all are text */
	unsigned columns;
	bool ran;                  /* its statement has been run, by one Execute */
	bool returns;              /* rows */
	struct sql_cursor *cursor; /* NULL = none yet, of one without a name */
};

/* Where the rows of the running statement go. */
struct cn_pg_reply {
	struct cn_pg_out *to;
	const uint8_t *format; /* NULL = text */
	bool describe;         /* RowDescription goes before them */
	bool tagged;           /* a statement has ended */
	bool copy_failed;      /* the client has ended COPY with CopyFail, or by nonsense */
	bool copying;          /* CopyIn has begun and not ended */
	bool copy_out;
	bool in_quotes;     /* of COPY's output */
	bool cut, doubt;    /* as cn_reason has it */
	struct cat_err why; /* of copy_failed */
};

struct cn_pg_conn {
	struct cn_pg *pg;             /* i */
	struct cn_pg_conn *next;      /* l */
	struct cn_pg_conn **link;     /* l */
	struct cn_pg_conn *pid_next;  /* l  of its bucket in by_pid */
	struct cn_pg_worker *at;      /* o */
	const struct cn_place *place; /* o */
	int fd;                       /* i */
	bool local;                   /* i  over loopback, or a UNIX socket */
	uint32_t pid, key;            /* i */
	struct nam_co *co;            /* l  once its session has begun, until it ends */
	_Atomic uint64_t deadline;    /* a  nanoseconds, 0 = none. The doorkeeper may see it late */
	_Atomic unsigned orders;      /* a  enum cn_pg_order */
	_Atomic int cancel;           /* a */
	struct nam_in_crowd crowd;    /* l  until the client has been let in */
	uint64_t origin;              /* i  where the crowd counts it */
	bool given;                   /* l  a worker owns it */
	bool counted;                 /* l  among the sessions: the client has been let in */
	bool full;                    /* i  there are too many sessions: to be told so */
	enum cn_pg_wait waits;        /* o */
	unsigned events;              /* o  of epoll, not yet seen */
	bool drained;                 /* o  the socket was empty: wait for an event before recv */
	bool dead;                    /* o  nothing more can be sent */
	bool over;                    /* o  the session ends */
	bool skip;                    /* o  until Sync */
	bool look;                    /* o  settings may have changed */
	char *in;                     /* o */
	size_t in_at, in_end, in_cap;
	char *kept; /* o  the buffer with the statement's text, during COPY */
	struct cn_pg_out out;
	struct ssl_st *tls; /* o  NULL = plain */
	bool wants_tls;     /* i  TLS begins with the session's first byte */
	bool super;         /* o  its role is a superuser */
	uint64_t role_id;   /* o  cat_role.id */
	struct sql_session *sql;
	struct sql_sink sink;
	struct cn_pg_reply reply;
	struct nam_arena values; /* text of the values of a batch */
	struct sql_stmt *unnamed;
	struct cn_pg_portal *portals; /* named */
	struct cn_pg_portal portal;   /* the one without a name */
	char user[CAT_NAME_MAX + 1], database[CAT_NAME_MAX + 1];
	char told[6][64]; /* ParameterStatus that may change, as the client knows it */
	uint64_t idle_ms, idle_block_ms;
	char peer[64]; /* i  the client's address, "" = a UNIX socket */
	int32_t port;  /* i  -1: likewise */
	bool log_slow; /* o */
	uint32_t log_slow_ms;
	uint64_t began_ns;   /* o  the running statement */
	uint64_t block_ns;   /* o  the running transaction, 0 = none */
	const char *running; /* o  its text */
	size_t running_len;
	struct cn_pg_activity now;
};

struct cn_pg_worker {
	struct cn_pg *pg;
	int epoll;
	_Atomic unsigned sessions; /* a */
	struct net_worker *net;    /* o */
	unsigned fds;              /* o */
	struct cn_pg_stats stats;
};

struct cn_pg {
	struct cn *cn;              /* while it serves, and until the sessions have ended */
	struct cn_opening *opening; /* i  NULL = none */
	struct cn_pg_config cfg;    /* i */
	char address[128];          /* i */
	char *socket_path;          /* i  NULL = none */
	int listener[CN_PG_LISTENERS];
	unsigned listeners;
	bool open; /* other machines may connect; set before the first thread starts */
	pthread_t doorkeeper;
	int epoll, wake;            /* the doorkeeper's */
	int spare;                  /* the doorkeeper's: makes room to refuse a client */
	unsigned thin_to;           /* the doorkeeper's: so many strangers may stay */
	struct ssl_ctx_st *tls;     /* l  NULL = none; SIGHUP brings another one */
	unsigned char mock_key[32]; /* i */
	atomic_bool stopping;
	pthread_mutex_t lock;
	pthread_cond_t fewer;                  /* l  a connection has gone */
	struct cn_pg_conn *first;              /* l */
	unsigned conns, sessions;              /* l */
	unsigned given;                        /* l: connections of workers */
	bool serving;                          /* l */
	char why[160];                         /* l: it does not serve now */
	struct nam_crowd crowd;                /* l: strangers, the doorkeeper's and the workers' */
	unsigned strangers_max;                /* i */
	struct cn_pg_conn *by_pid[CN_PG_PIDS]; /* l */
	uint32_t next_pid;                     /* l */
	struct sql_peers peers;                /* i */
	unsigned workers, set_up;              /* l: set_up */
	struct cn_pg_worker *worker;           /* i, from the first time it serves */
};

/* ---- listen.c ---- */
/* Takes the connection off the list and frees it. Any thread that owns it. */
void cn_pg_conn_close(struct cn_pg_conn *c);
/* The client has proved its role: it is a stranger no more. False: there are as many sessions as
 * are allowed, which the client has been told. */
bool cn_pg_admit(struct cn_pg_conn *c);
/* Makes the session with that id stop its statement, if the key is its own. */
void cn_pg_cancel(struct cn_pg *pg, uint32_t pid, uint32_t key);

/* Any thread: sql_peers.signal. */
enum sql_signaled cn_pg_signal(void *arg, int32_t pid, bool end, const char *user);

/* ---- io.c: in the session's coroutine ---- */
/* Parks until one of these events of epoll has come, or an order. False: an order. */
bool cn_pg_await(struct cn_pg_conn *c, unsigned events);
/* Waits until n bytes are at in + in_at. False: the connection, or the session, is over. */
bool cn_pg_need(struct cn_pg_conn *c, size_t n);
/* Sends all. False: the client is gone. */
bool cn_pg_flush(struct cn_pg_conn *c);
/* Sends what the socket takes at once, and forgets the rest: the connection ends. */
void cn_pg_last_words(struct cn_pg_conn *c);
/* Sends if there is much. */
bool cn_pg_flush_much(struct cn_pg_conn *c);
/* True if the session is told to end. */
bool cn_pg_ordered(const struct cn_pg_conn *c);
/* A statement begins: what was cancelled before is over, unless the session is told to end. */
void cn_pg_uncancel(struct cn_pg_conn *c);
/* The next message; its body is valid until the next call. False: as cn_pg_need, or the message is
 * not one, which the client has been told. */
bool cn_pg_message(struct cn_pg_conn *c, char *type, const char **body, size_t *n);
/* Lets the body of the last message stay where it is until cn_pg_unkeep. False: no memory. */
bool cn_pg_keep(struct cn_pg_conn *c);
void cn_pg_unkeep(struct cn_pg_conn *c);

/* ---- startup.c ---- */
enum cn_pg_first {
	CN_PG_WANTS_SESSION,
	CN_PG_WANTS_CANCEL,
	CN_PG_WANTS_TLS,
	CN_PG_WANTS_GSS,
	CN_PG_WANTS_OLD,    /* another version of the protocol */
	CN_PG_WANTS_NOTHING /* it is no first message */
};
enum cn_pg_first cn_pg_first(const char *body, size_t n);
/* From the first message to ReadyForQuery. False: the session has ended. */
bool cn_pg_begin_session(struct cn_pg_conn *c, const char *body, size_t n);
/* ParameterStatus for what has changed; limits on time. */
void cn_pg_tell_settings(struct cn_pg_conn *c);

/* ---- auth.c ---- */
/* Finds out whether the client is the user it names; AuthenticationOk. False: it has been told. */
bool cn_pg_authenticate(struct cn_pg_conn *c);

/* ---- tls.c ---- */
nam_status cn_pg_tls_open(struct ssl_ctx_st **out, const char *cert, const char *key, struct nam_err *err);
void cn_pg_tls_close(struct ssl_ctx_st *ctx);
/* The handshake. False: there will be no session. */
bool cn_pg_tls_begin(struct cn_pg_conn *c);
void cn_pg_tls_end(struct cn_pg_conn *c);
/* As recv and send without blocking. *events: what to wait for, if errno is EAGAIN. */
ssize_t cn_pg_tls_recv(struct cn_pg_conn *c, void *p, size_t n, unsigned *events);
ssize_t cn_pg_tls_send(struct cn_pg_conn *c, const void *p, size_t n, unsigned *events);

/* ---- serve.c ---- */
void cn_pg_serve(const struct cn_place *place, void *arg);
/* ReadyForQuery. */
void cn_pg_ready(struct cn_pg_conn *c);

/* ---- activity.c: what a session does, for others to see ---- */
void cn_pg_activity_begin(struct cn_pg_conn *c);
bool cn_pg_activity_began(const struct cn_pg_conn *c);
void cn_pg_activity_name(struct cn_pg_conn *c, const char *application);
/* A statement begins, and has ended. The text is borrowed until then. */
void cn_pg_activity_run(struct cn_pg_conn *c, const char *text, size_t len);
void cn_pg_activity_ran(struct cn_pg_conn *c);
/* The session waits for its client. */
void cn_pg_activity_wait(struct cn_pg_conn *c);
void cn_pg_count_failure(struct cn_pg_conn *c, const char *sqlstate);
void cn_pg_peers_init(struct cn_pg *pg);

/* ---- error.c ---- */
void cn_pg_error(struct cn_pg_conn *c, const char *severity, const struct cat_err *err);
/* FATAL: the session ends behind it. */
void cn_pg_fatal(struct cn_pg_conn *c, const char *sqlstate, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void cn_pg_notice(struct cn_pg_conn *c, const char *severity, const char *sqlstate, const char *text);
/* A statement has failed: names the reason, tells the client. */
void cn_pg_failed(struct cn_pg_conn *c, struct cat_err *err);

/* ---- simple.c, extended.c ---- */
void cn_pg_query(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_parse(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_bind(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_describe(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_execute(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_close_named(struct cn_pg_conn *c, const char *body, size_t n);
void cn_pg_sync(struct cn_pg_conn *c);
/* Forgets every portal. */
void cn_pg_drop_portals(struct cn_pg_conn *c);

/* ---- result.c ---- */
void cn_pg_sink_init(struct cn_pg_conn *c);
/* A statement is about to run. */
void cn_pg_reply_to(struct cn_pg_conn *c, struct cn_pg_out *to, const uint8_t *format, bool describe);
void cn_pg_row_description(
    struct cn_pg_out *o, const struct sql_column *col, unsigned n, const uint8_t *format);
void cn_pg_complete(struct cn_pg_out *o, const char *tag);

/* ---- copy.c ---- */
bool cn_pg_copy_begin(void *arg, bool out, unsigned columns);
bool cn_pg_copy_in(void *arg, const char **bytes, size_t *len);
bool cn_pg_copy_out(void *arg, const char *bytes, size_t len);
/* CopyDone, where rows went out. */
void cn_pg_copy_end(struct cn_pg_conn *c);

/* ---- types.c ---- */
uint32_t cn_pg_oid(enum cat_type t, int32_t typmod);
/* typlen: bytes of a value, -1 = it varies. */
int16_t cn_pg_size(enum cat_type t);
int32_t cn_pg_typmod(enum cat_type t, int32_t typmod);
/* False: namdb has no such type. OID 0: CAT_UNKNOWN. */
bool cn_pg_type(uint32_t oid, enum cat_type *out);
/* True if the bytes are UTF-8 without a 0. *bad: where they are not. */
bool cn_pg_utf8(const char *p, size_t n, size_t *bad);

/* ---- types_text.c, types_binary.c: a value with its length before it ---- */
/* floats: cat_value_show's. */
void cn_pg_text_out(
    struct cn_pg_out *o, enum cat_type t, union cat_val v, uint8_t floats, struct nam_arena *arena);
void cn_pg_binary_out(struct cn_pg_out *o, enum cat_type t, union cat_val v, struct nam_arena *arena);
bool cn_pg_text_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err);
/* An array of enums, in binary, as one of texts. */
bool cn_pg_labels_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err);
bool cn_pg_binary_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err);

#endif
