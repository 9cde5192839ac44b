/*
 * left.h -- a compute node whose cluster has lost a storage node for good goes on with the others.
 *
 * An operator says so to the nodes that are left (wal/remote/log.h, wal_log_lost). Only a process
 * that has been connected to the lost one knows the address that it had.
 */
#ifndef NAM_CLI_LEFT_H
#define NAM_CLI_LEFT_H

#include <compute_node/cn.h>

/* Which storage node was at which address. */
struct cli_nodes;

/* Of an open compute node. The caller frees it by cli_nodes_free. NULL: no memory. */
struct cli_nodes *cli_nodes_of(struct cn *cn);
void cli_nodes_free(struct cli_nodes *known);
/*
 * The addresses of `known` without those of lost nodes, as cfg->storage; the caller frees it. lost:
 * a line about them. NULL: none of them is lost, or no node that would know answers. cfg: for its
 * secret, cluster and times. Blocks for some seconds if nodes do not answer.
 */
char *cli_nodes_left(const struct cli_nodes *known, const struct cn_config *cfg, char *lost, size_t max);

#endif
