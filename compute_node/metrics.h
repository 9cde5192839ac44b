/*
 * metrics.h -- figures of a compute node for Prometheus: a thread that answers GET /metrics.
 *
 * Each answer is made when it is asked for, one client at a time: counters belong to their workers,
 * which are asked for them. Nothing here runs while no client asks.
 */
#ifndef NAM_COMPUTE_NODE_METRICS_H
#define NAM_COMPUTE_NODE_METRICS_H

#include <compute_node/cn.h>

struct cn_metrics;
struct cn_lines; /* an answer that is being made */

struct cn_metrics_config {
	const char *listen; /* "host:port"; port 0: any free port */
	/* Adds lines to each answer; NULL = none. On the thread of metrics. */
	void (*more)(void *arg, struct cn_lines *out);
	void *more_arg;
};

/* Text in Prometheus's format, with its newlines. */
void cn_line(struct cn_lines *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Listens until cn_metrics_close. Copies cfg. Until there is a cn, /health says how far `opening`
 * is (borrowed; may be NULL). NAM_INVALID, NAM_IO, NAM_NOMEM: err says what to do. */
nam_status cn_metrics_open(struct cn_metrics **out, const struct cn_metrics_config *cfg,
    const struct cn_opening *opening, struct nam_err *err);
/* From now on the figures are those of cn, which is borrowed; NULL: there is none, before cn_close.
 * m may be NULL. */
void cn_metrics_of(struct cn_metrics *m, struct cn *cn);
void cn_metrics_close(struct cn_metrics *m);
/* Where it listens, such as "127.0.0.1:9187". */
const char *cn_metrics_address(const struct cn_metrics *m);

#endif
