/*
 * sn.h -- a storage node: memory, and a server for it. It does not know the contents of the memory.
 *
 * A region is the memory with its superblock (net/region_format.h). Embedded
 * use: open a region, give sn_local() to net_open, no sockets. A daemon adds a
 * server: a thread that answers handshakes and writes the heartbeat, and a few (loops) that
 * execute the verbs of tcp workers with the same CPU atomics that shm peers use.
 *
 * Threads: a server runs on the thread that calls sn_server_run; its loops are its own,
 * begin when tcp workers come, and end in sn_server_close. sn_server_stop, the counters and
 * sn_server_streams may be called from any thread (stop: also from a signal handler).
 */
#ifndef NAM_STORAGE_NODE_SN_H
#define NAM_STORAGE_NODE_SN_H

#include <base/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_local;
struct sn_region;
struct sn_server;

enum sn_huge { SN_HUGE_AUTO, SN_HUGE_ON, SN_HUGE_OFF };

struct sn_region_config {
	unsigned id;         /* 1..1023 */
	uint64_t size;       /* rounded down to whole extents; at least 1 MiB */
	const char *cluster; /* NULL or "": "namdb" */
	enum sn_huge huge;   /* AUTO: reserved huge pages if there are, else transparent ones */
	int numa;            /* memory node to bind to, -1 = none */
	bool embedded;       /* only for this process, by sn_local: no server can be opened on it */
};

/* Makes a region with a fresh incarnation; its memory reads as zeros. NAM_INVALID: id or size;
 * NAM_NOMEM. */
nam_status sn_region_open(struct sn_region **out, const struct sn_region_config *cfg, struct nam_err *err);
/* Every net and server on it must be closed. The memory and its contents are gone. */
void sn_region_close(struct sn_region *r);
/* For net_config.local. Borrowed: lives as long as the region. */
struct net_local *sn_local(struct sn_region *r);
uint64_t sn_region_size(const struct sn_region *r);
uint64_t sn_region_incarnation(const struct sn_region *r);
unsigned sn_region_id(const struct sn_region *r);
/* The memory's file; borrowed. -1 = embedded, there is none. */
int sn_region_fd(const struct sn_region *r);
/* "2 MiB pages" and the like. */
const char *sn_region_pages(const struct sn_region *r);
/* Touches the pages of a range now, so that their first use later is fast. About 1 GB/s. */
void sn_region_touch(struct sn_region *r, uint64_t from, uint64_t len);
/*
 * Memory of the region for a log (wal/remote/host.h): zeros; *at is its offset, which every peer is
 * told, and where the log's line lies. *bytes: how much there is: an extent, and if it is to have
 * rings, more, which grows with the region, up to 2 MiB. Once, before any process sees the region.
 * NAM_FULL.
 */
nam_status sn_region_keeps_log(
    struct sn_region *r, bool rings, uint64_t *at, uint64_t *bytes, struct nam_err *err);
/* Is it proved that no verb of that process executes here any more: it is fenced, or has ended? Any
 * thread. */
bool sn_region_gone(struct sn_region *r, uint64_t identity);
/* That offset, 0 = none. */
uint64_t sn_region_log(const struct sn_region *r);
/* One heartbeat (the server does it every 10 ms; an embedder may, from one thread). */
void sn_region_beat(struct sn_region *r, unsigned peers);

/* ---- services (net/ring/service.h) --------------------------------------------------- */

struct net_service;

struct sn_serve_config {
	const struct net_service *service; /* copied; the memory that its arg points to must outlive
					    * the region */
	unsigned services;                 /* at least 1 */
	unsigned shards;                   /* threads; 0 = 1, at most 16 */
	uint64_t ring_bytes;               /* of the region, for the rings of all clients;
					    * 0 = a 64th of it, at most 64 MiB */
	bool unpinned;                     /* leave the shards where the system puts them */
};
/*
 * From now on the region hosts these services, until it is closed. Once, and before any process
 * sees the region (net_open, sn_server_open). Its handlers run on the shards. NAM_INVALID,
 * NAM_FULL: no room for the rings, NAM_NOMEM, NAM_IO.
 */
nam_status sn_region_serve(struct sn_region *r, const struct sn_serve_config *cfg, struct nam_err *err);

/* ---- the server -------------------------------------------------------------- */

struct sn_server_config {
	const char *listen;  /* "127.0.0.1:7411"; port 0: any free one */
	const char *cluster; /* as the region's */
	const void *secret;  /* copied; at most 64 bytes */
	size_t secret_len;
	const char *run_dir;   /* where the UNIX socket lies, NULL = $NAMDB_RUN, else
			        * /tmp/namdb-<uid> */
	bool no_shm;           /* offer no shared memory */
	const char *rdma;      /* an address of an RDMA device here; "off"; NULL or "auto" = the
			        * address listened at */
	unsigned peers_max;    /* connections; 0 = 16384. Each costs a descriptor, one of the UNIX
				* socket three */
	unsigned loops;        /* threads that serve tcp workers' streams, at most 64; 0 = one per
				* core, at most 16 */
	uint32_t handshake_ms; /* 0 = 5000: slower peers are dropped */
	uint32_t idle_ms;      /* sn_server_run returns when there was no connection for so long;
				* 0 = never */
};

/* Listens. NAM_INVALID: address; NAM_BUSY: port in use; NAM_IO. Borrows the region. */
nam_status sn_server_open(
    struct sn_server **out, struct sn_region *r, const struct sn_server_config *cfg, struct nam_err *err);
/* Serves until stopped, or idle for idle_ms. NAM_IO when the event loop cannot go on. */
nam_status sn_server_run(struct sn_server *s, struct nam_err *err);
void sn_server_stop(struct sn_server *s);
/* Not while it runs. Every peer sees its connection end. */
void sn_server_close(struct sn_server *s);
/* The address with the actual port, such as "127.0.0.1:7411". Borrowed. */
const char *sn_server_address(const struct sn_server *s);
/* The UNIX socket's path, or "" when shared memory is not offered. Borrowed. */
const char *sn_server_socket(const struct sn_server *s);

/* "10.0.0.1 by mlx5_0, atomics by the device", in out, or "" when RDMA is not offered. */
const char *sn_server_rdma(const struct sn_server *s, char out[160]);

struct sn_server_counts {
	uint64_t accepted; /* connections */
	uint64_t refused;  /* refused in the handshake: version, layout, cluster, secret, room */
	uint64_t dropped;  /* garbage, or too slow */
	uint64_t peers;    /* now, handshake done */
	uint64_t asks;     /* verbs executed for tcp peers */
	uint64_t immediates;
};
void sn_server_counts(const struct sn_server *s, struct sn_server_counts *out);

/* The loops that have begun, which execute the verbs of tcp peers: at most cap of them in out;
 * returns how many there are. */
struct sn_stream_use {
	int tid; /* 0 = it has not begun yet */
	uint64_t cpu_ns;
};
unsigned sn_server_streams(struct sn_server *s, struct sn_stream_use *out, unsigned cap);

#endif
