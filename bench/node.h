/* node.h -- a storage node of the bench's own, in a process of its own. */
#ifndef NAM_BENCH_NODE_H
#define NAM_BENCH_NODE_H

#include <net/net.h>
#include <net/ring/service.h>

#include <sys/types.h>

enum { BENCH_NODE_ADDRESS = 160 };

struct bench_node {
	enum net_kind fabric;
	const char *cluster;
	const unsigned char *secret; /* NET_SECRET_LEN bytes */
	uint64_t bytes;              /* of its region, number 1 */
	const struct net_service *service;
	unsigned services;
};
/* By a process without other threads. It dies with its parent. *pid is 0, or to be stopped, also
 * when it is not NAM_OK. */
nam_status bench_node_start(
    const struct bench_node *n, pid_t *pid, char address[BENCH_NODE_ADDRESS], struct nam_err *err);
void bench_node_stop(pid_t pid);

#endif
