/* remote_internal.h -- what tcp.c needs from remote.c. */
#ifndef NAM_NET_REMOTE_INTERNAL_H
#define NAM_NET_REMOTE_INTERNAL_H

#include <net/net_internal.h>

/* One more connection to a known node, role WORKER, checked to be the same incarnation. */
nam_status net_remote_worker(struct net_node *node, int *fd, struct nam_err *err);

#endif
