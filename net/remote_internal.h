/* remote_internal.h -- what net.c, tcp.c and verbs.c need from remote.c. */
#ifndef NAM_NET_REMOTE_INTERNAL_H
#define NAM_NET_REMOTE_INTERNAL_H

#include <net/provider.h>
#include <net/wire.h>

/* One more connection to a known node, in that role, checked to be the same incarnation. */
nam_status net_remote_connect(
    struct net_node *node, enum net_role role, int *fd, struct net_grant *grant, struct nam_err *err);

/* Likewise, by the node's UNIX socket if its memory came by one: bytes take less there. */
nam_status net_remote_connect_near(
    struct net_node *node, enum net_role role, int *out, struct net_grant *grant, struct nam_err *err);
/* net_remote_connect for a worker's endpoint (ep->w may be NULL): no verb of its older connection
 * executes any more. */
nam_status net_remote_connect_endpoint(
    struct net_endpoint *ep, enum net_role role, int *fd, struct net_grant *grant, struct nam_err *err);

/* Lets the node take a pidfd of this process over its UNIX socket, if the grant names one and no
 * connection has done so. Optional: a failure is not reported. */
void net_remote_life(struct net_node *node, const struct net_grant *grant);

/* Asks that node to fence an identity, and waits until it has. Blocks. */
nam_status net_remote_fence(struct net_node *node, uint64_t identity, struct nam_err *err);
/* Makes that node ask the process whether it lives. NAM_BUSY: it lives. NAM_OK: it has not answered
 * that it lives. Blocks, for the grace and the time of a handshake at most. */
nam_status net_remote_ask(struct net_node *node, uint64_t identity, uint64_t grace_ns, struct nam_err *err);

#endif
