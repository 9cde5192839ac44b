/* tree.h -- the ordered index as YCSB's access path, and as a service of the bench's own storage
 * nodes. */
#ifndef NAM_BENCH_YCSB_TREE_H
#define NAM_BENCH_YCSB_TREE_H

#include "ycsb.h"

#include <bench/jobs.h>

extern const struct ycsb_path bench_ycsb_tree;

enum { YCSB_HOSTS_MAX = 64 };
struct idx_tree_host;
/* Zeroed at first. */
struct bench_tree_hosts {
	struct idx_tree_host *host[YCSB_HOSTS_MAX];
	struct net_service *service[YCSB_HOSTS_MAX];
};
/* All nodes of e, before a process sees them, or the nodes 1.. of a simulator host trees. */
nam_status bench_tree_host(struct bench_tree_hosts *h, struct bench_embedded *e, struct nam_err *err);
nam_status bench_tree_host_sim(
    struct bench_tree_hosts *h, struct net_sim *sim, unsigned nodes, uint64_t bytes);
/* When the nodes are closed. */
void bench_tree_unhost(struct bench_tree_hosts *h);

#endif
