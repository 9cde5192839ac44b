/* remote.h -- reaching storage nodes of other processes; inside net only (the split and hash serve
 * storage_node too). */
#ifndef NAM_NET_REMOTE_H
#define NAM_NET_REMOTE_H

#include <net/net.h>

/* Connects, shakes hands, chooses shm, verbs or tcp, adds the node. err says which node and what to
 * do. */
nam_status net_remote_add(struct net *n, const char *address, enum net_kind fabric, struct nam_err *err);

/* "host:port" or "[v6]:port". NAM_INVALID with the reason. */
nam_status net_split_address(
    const char *text, char *host, size_t host_len, char *port, size_t port_len, struct nam_err *err);
/* NULL and "" are "namdb". */
uint64_t net_cluster_hash(const char *name);

#endif
