/*
 * ring.h -- a worker's ring in the node of a log: it puts records there itself (rings_format.h).
 *
 * All functions run in a coroutine of the worker, and may park, unless they say otherwise.
 */
#ifndef NAM_WAL_REMOTE_RING_H
#define NAM_WAL_REMOTE_RING_H

#include <net/net.h>
#include <wal/remote/rings_format.h>

/* Zeros: not opened. */
struct wal_ring {
	unsigned region;
	net_addr at, board;
	uint64_t generation;
	uint32_t bytes;
	bool open;
	bool mapped;    /* else messages rouse the flusher */
	uint64_t tail;  /* of entries that were published, or are under way */
	uint64_t taken; /* as READ last */
	bool refused;   /* the log took no entries when it was asked last */
};

/* Bytes of the longest request, its head included, that an entry has room for. */
static inline uint32_t
wal_ring_most(const struct wal_ring *r)
{
	return r->open ? r->bytes / 4 - WAL_ENTRY_HEAD : 0;
}

/* As the node gave it. */
void wal_ring_begin(struct wal_ring *r, struct net_worker *w, const struct wal_ring_given *given);

/*
 * Puts a request with its bytes into the ring, and waits until it is published. *end: the ring's
 * bytes up to its end. NAM_BUSY: no room, or the log takes no entries: nothing was published, send
 * a message. NAM_GONE: it may be published; NAM_UNLOGGED: it is, and the log is broken, or ends,
 * and may not have taken it: the ring is closed. *prod: the flusher sleeps, and only a message can
 * rouse it.
 */
nam_status wal_ring_put(
    struct wal_ring *r, struct net_worker *w, const struct wal_rq *rq, uint64_t *end, bool *prod);
/* How far it is flushed. NAM_UNLOGGED: the node has ended the ring. */
nam_status wal_ring_flushed(struct wal_ring *r, struct net_worker *w, uint64_t *flushed);

#endif
