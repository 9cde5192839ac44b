/*
 * pgwire.h -- PostgreSQL's protocol 3.0 for a compute node: psql, pgbench and PostgreSQL's drivers
 * are its clients.
 *
 * A thread of its own, the doorkeeper, accepts connections and reads their first message. A session
 * then is one coroutine of one worker, which reads and writes its socket without blocking: a slow
 * client holds up its own session only.
 */
#ifndef NAM_COMPUTE_NODE_PGWIRE_PGWIRE_H
#define NAM_COMPUTE_NODE_PGWIRE_PGWIRE_H

#include <compute_node/cn.h>
#include <compute_node/metrics.h>

struct cn_pg;

struct cn_pg_config {
	const char *listen;     /* "host:port"; NULL = no TCP. Port 0: any free port */
	const char *socket_dir; /* folder for a UNIX socket named as PostgreSQL's; NULL = none */
	unsigned sessions_max;  /* more are refused with 53300; 0 = 4096 */
	size_t message_max;     /* bytes of a client's message; 0 = 64 MiB */
	const char *cert, *key; /* PEM files: TLS is offered; NULL = it is not */
	bool require_tls;       /* clients that come over TCP without TLS are refused, with 28000 */
	bool passwords;         /* clients of this machine need passwords too; others always do */
	uint32_t start_ms;      /* until a client has begun its session; 0 = 60 s */
	bool log_slow;          /* log_min_duration_statement of new sessions */
	uint32_t log_slow_ms;
};

/*
 * Listens. Clients are refused with 57P03 until cn_pg_start; the message says how far `opening` is
 * (borrowed; may be NULL). NAM_INVALID, NAM_IO, NAM_REFUSED: err says what to do. Copies cfg.
 */
nam_status cn_pg_open(
    struct cn_pg **out, const struct cn_pg_config *cfg, struct cn_opening *opening, struct nam_err *err);
/* Serves clients on cn's workers, until cn_pg_rest or cn_pg_close. Borrows cn; each time one with
 * as many workers. NAM_NOMEM. */
nam_status cn_pg_start(struct cn_pg *pg, struct cn *cn, struct nam_err *err);
/* Ends every session with 57P01, and refuses clients with 57P03 and that reason from now on. Before
 * cn_close. False: a session has not ended within ms. */
bool cn_pg_rest(struct cn_pg *pg, const char *why, unsigned ms);
/* Another reason. Any thread. */
void cn_pg_resting(struct cn_pg *pg, const char *why);
/* Reads the certificate and its key again, for clients that come from now on. If it fails, *err
 * says why, and the old ones stay. On the thread that closes pg. */
nam_status cn_pg_reload(struct cn_pg *pg, struct nam_err *err);
/* Ends every session with 57P01, rolls back open transactions, waits until all have ended. Before
 * cn_close. */
void cn_pg_close(struct cn_pg *pg);
/* Where it listens, such as "127.0.0.1:5432"; "" = no TCP. Valid until cn_pg_close. */
const char *cn_pg_address(const struct cn_pg *pg);
/* True if other machines can connect and there is no TLS: their data cross the network in the
 * clear. */
bool cn_pg_in_the_clear(const struct cn_pg *pg);
/* True if other machines can connect, and clients of this machine need no password. */
bool cn_pg_trusts_beside(const struct cn_pg *pg);
/* Sessions at the moment. Any thread. */
unsigned cn_pg_sessions(struct cn_pg *pg);
/* What sessions did and do, as lines of Prometheus's text format. Any thread, until cn_pg_close.
 * arg is the cn_pg: for cn_metrics_config. */
void cn_pg_metrics(void *arg, struct cn_lines *out);

#endif
