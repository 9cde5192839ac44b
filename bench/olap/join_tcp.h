/*
 * join_tcp.h -- the NAM paper's GHJ for real: processes that share nothing join by messages over
 * TCP sockets of this host, with Bloom filters or without.
 */
#ifndef NAM_BENCH_OLAP_JOIN_TCP_H
#define NAM_BENCH_OLAP_JOIN_TCP_H

#include "join_data.h"

#include <base/status.h>
#include <olap/cost.h>

enum { JOIN_TCP_NODES = 8, JOIN_TCP_RUNS = 100 };
enum join_tcp_filters { JOIN_TCP_NONE, JOIN_TCP_FILTERS, JOIN_TCP_AS_IT_PAYS };

struct join_tcp {
	unsigned processes, runs;
	uint64_t rows[2]; /* R, S */
	struct join_draw draw;
	enum join_tcp_filters filters;
	struct olap_cost cost; /* network: measured here */
	/* out */
	bool filtered;
	double seconds[JOIN_TCP_RUNS];
	struct join_sums sums[JOIN_TCP_RUNS];
	struct olap_estimate estimate;
	uint64_t bytes, filter_bytes, kept_out; /* of a run, all processes */
};
/* By a process without other threads. */
nam_status bench_join_tcp(struct join_tcp *j, struct nam_err *err);

#endif
