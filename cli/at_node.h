/*
 * at_node.h -- READs of one storage node, by a process that is no member of a cluster.
 */
#ifndef NAM_CLI_AT_NODE_H
#define NAM_CLI_AT_NODE_H

#include <net/net.h>

/*
 * Connects to the node at that address (cfg's list is not looked at), calls fn in a coroutine, and
 * leaves again. The status of fn; NAM_NOMEM; or that of net_open or net_worker_open, which have
 * filled *err.
 */
nam_status cli_at_node(const char *address, const struct net_config *cfg,
    nam_status (*fn)(struct net_worker *w, const struct net_node_info *node, void *arg), void *arg,
    struct nam_err *err);

#endif
