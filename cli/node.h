/*
 * node.h -- one storage node from its parts: memory, services, a log, a server.
 *
 * When the life of a cluster with a log is over, its nodes reset their memory: they are empty then
 * and have other incarnations, as if their processes had been started again (NET_SERVICE_RESET).
 * The process stays, and so does the port.
 */
#ifndef NAM_CLI_NODE_H
#define NAM_CLI_NODE_H

#include <base/status.h>
#include <storage_node/sn.h>

#include <stdbool.h>
#include <stdint.h>

struct cli_node_config {
	struct sn_region_config region;
	struct sn_server_config server;
	uint64_t ring_bytes;
	unsigned shards;
	const char *secret_file;
	const char *data;         /* NULL = no log */
	uint64_t every;           /* bytes of the log until a checkpoint is due */
	bool log_rings;           /* workers of this host put records into the log's memory */
	bool hosts;               /* services */
	void (*ready)(void *arg); /* called each time that the node serves */
	void *ready_arg;
};

/* SIGTERM and SIGINT are cli_node_run's: before any thread is started. */
void cli_node_block(void);
/*
 * Runs the node until SIGTERM or SIGINT comes, or no peer has been there for server.idle_ms. It
 * says on stderr what it is. No other thread of the caller takes one of these signals. Once in a
 * process.
 */
nam_status cli_node_run(struct cli_node_config *cfg, struct nam_err *err);

#endif
