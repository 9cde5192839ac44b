/*
 * sn.h -- a storage node: memory, and a door to it. It does not know what lies in the memory.
 *
 * A region is the memory with its superblock (net/region_format.h). Embedded
 * use: open a region, give sn_local() to net_open, no sockets. A daemon adds a
 * server: one thread that answers handshakes, executes the verbs of tcp peers
 * with the same CPU atomics that shm peers use, and writes the heartbeat.
 *
 * Threads: a server runs on the thread that calls sn_server_run; sn_server_stop
 * and the counters may be called from any thread (stop: from a signal handler too).
 */
#ifndef NAM_STORAGE_NODE_SN_H
#define NAM_STORAGE_NODE_SN_H

#include <base/status.h>
#include <stddef.h>
#include <stdint.h>

struct net_local;
struct sn_region;
struct sn_server;

enum sn_huge { SN_HUGE_AUTO, SN_HUGE_ON, SN_HUGE_OFF };

struct sn_region_config {
	unsigned id;         /* 1..63 */
	uint64_t size;       /* rounded down to whole extents; at least 1 MiB */
	const char *cluster; /* NULL or "": "namdb" */
	enum sn_huge huge;   /* AUTO: reserved huge pages if there are, else transparent ones */
	int numa;            /* memory node to bind to; -1: none */
};

/* Makes a region with a fresh incarnation; its memory reads as zeros. NAM_INVALID: id or size; NAM_NOMEM. */
nam_status sn_region_open(struct sn_region **out, const struct sn_region_config *cfg, struct nam_err *err);
/* Every net and server on it must be closed. The memory, and what was in it, is gone. */
void sn_region_close(struct sn_region *r);
/* For net_config.local. Borrowed: lives as long as the region. */
struct net_local *sn_local(struct sn_region *r);
uint64_t sn_region_size(const struct sn_region *r);
uint64_t sn_region_incarnation(const struct sn_region *r);
unsigned sn_region_id(const struct sn_region *r);
/* The memory's file; borrowed. */
int sn_region_fd(const struct sn_region *r);
/* "2 MiB pages" and the like. */
const char *sn_region_pages(const struct sn_region *r);
/* One heartbeat (the server does it every 10 ms; an embedder may, from one thread). */
void sn_region_beat(struct sn_region *r, unsigned peers);

#endif
