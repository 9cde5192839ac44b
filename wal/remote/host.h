/*
 * host.h -- the log of a storage node as a service: requests of compute processes, and the thread
 * that flushes.
 *
 * The service's handler runs on a shard; it copies bytes and does no file work but WAL_READ. All
 * other file work is the flusher's. Without a thread (a simulation) the service's idle hook does
 * it.
 */
#ifndef NAM_WAL_REMOTE_HOST_H
#define NAM_WAL_REMOTE_HOST_H

#include <net/net.h>
#include <net/ring/service.h>
#include <wal/remote/wal_msg.h>
#include <wal/wal.h>

struct wal_host;

struct wal_host_config {
	struct wal_config log;
	struct wal_line *line; /* in the region's memory, zeros; this service's alone */
	net_addr line_at;      /* its address */
	uint32_t delay_ms;     /* until a record is flushed that no client waits for; 0 = 200 */
	uint64_t every;        /* struct wal_line */
	bool thread;           /* flush on a thread of its own */
	/* Rings (rings_format.h): memory of the region, zeros; NULL = none. */
	void *rings;
	net_addr rings_at;
	uint64_t rings_bytes;
	uint32_t ring_bytes; /* of one, a power of two */
	bool rings_any;      /* also for workers that do not have the memory mapped: for tests */
	/* Is it proved that no WRITE of that process executes any more? NULL: its rings stay. */
	bool (*gone)(void *arg, uint64_t identity);
	void *gone_arg;
};

/* NAM_NOMEM, NAM_IO: no thread; and all that wal_open returns. */
nam_status wal_host_open(struct wal_host **out, const struct wal_host_config *cfg, struct nam_err *err);
/* The flusher ends, behind all that has been received so far: the line is not written any more. */
void wal_host_stop(struct wal_host *h);
/* No request is served any more. Flushes what it has received since. */
void wal_host_close(struct wal_host *h);
/* Likewise, but flushes nothing. For tests. */
void wal_host_drop(struct wal_host *h);
/* The service to host; it borrows h. */
void wal_host_service(struct wal_host *h, struct net_service *out);

#endif
