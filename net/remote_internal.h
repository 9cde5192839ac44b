/* remote_internal.h -- what net.c, tcp.c and verbs.c need from remote.c. */
#ifndef NAM_NET_REMOTE_INTERNAL_H
#define NAM_NET_REMOTE_INTERNAL_H

#include <net/net_internal.h>
#include <net/wire.h>

/* One more connection to a known node, in that role, checked to be the same incarnation. */
nam_status net_remote_connect(
    struct net_node *node, enum net_role role, int *fd, struct net_grant *grant, struct nam_err *err);

/* The same for a worker's endpoint (ep->w may be NULL): of its older connection nothing executes
 * any more. */
nam_status net_remote_connect_endpoint(
    struct net_endpoint *ep, enum net_role role, int *fd, struct net_grant *grant, struct nam_err *err);

/* Lets the node have hold of this process over its UNIX socket, where the grant names one and no
 * connection does it yet. A convenience. */
void net_remote_life(struct net_node *node, const struct net_grant *grant);

/* Has that node shut an identity out, and waits until it has. Blocks. */
nam_status net_remote_fence(struct net_node *node, uint64_t identity, struct nam_err *err);
/* Has that node ask the process whether it lives. NAM_BUSY: it does. NAM_OK: it does not say so.
 * Blocks, for the grace at most and what a handshake takes. */
nam_status net_remote_ask(struct net_node *node, uint64_t identity, uint64_t grace_ns, struct nam_err *err);

#endif
