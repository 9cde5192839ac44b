/*
 * rings.h -- the node's side of the rings (rings_format.h): which worker has which, what is
 * published, how far each is flushed.
 *
 * One thread at a time: the host's lock.
 */
#ifndef NAM_WAL_REMOTE_RINGS_H
#define NAM_WAL_REMOTE_RINGS_H

#include <base/status.h>
#include <net/net.h>
#include <net/ring/bell.h>
#include <wal/remote/rings_format.h>

#include <stdbool.h>

struct wal_rings;

/* Memory of the region, zeros: the board and as many rings of ring_bytes as fit. at: its address.
 * ring_bytes is a power of two. NULL: no memory, or not one ring fits. */
struct wal_rings *wal_rings_open(void *area, net_addr at, uint64_t bytes, uint32_t ring_bytes, bool any);
void wal_rings_close(struct wal_rings *r);
/* Bytes that all rings hold. */
uint64_t wal_rings_hold(const struct wal_rings *r);
struct wal_board *wal_rings_board(struct wal_rings *r);

/* The ring of the worker of that name; the same one again if it has one. NAM_CROWDED: none is free.
 * *sleeper: where the connection is to be noted by which the flusher rouses the worker. */
nam_status wal_rings_give(
    struct wal_rings *r, const uint64_t name[2], struct wal_ring_given *out, struct net_sleeper ***sleeper);
/* The ring ends. What it had published has been taken. */
void wal_rings_end(struct wal_rings *r, const uint64_t name[2]);
/* Marks the rings of processes that are gone: no WRITE of them executes any more. How many. What
 * they have published is to be taken behind that; then their rings may end. */
unsigned wal_rings_look_for_gone(struct wal_rings *r, bool (*gone)(void *arg, uint64_t identity), void *arg);
void wal_rings_end_gone(struct wal_rings *r);
/* All end: a life begins. What is published is forgotten. */
void wal_rings_end_all(struct wal_rings *r);

/* Is something published that has not been taken? Reads one word of each ring. */
bool wal_rings_wait(const struct wal_rings *r);
/* Takes a record: its request, and where its bytes are. *end: the position behind it. */
typedef nam_status (*wal_rings_taker)(void *arg, const struct wal_rq *rq, const void *bytes, uint64_t *end);
/*
 * Takes what is published, in order (R3). NAM_REFUSED, NAM_INVALID of the taker: the record is
 * dropped, and its ring is not flushed any further. Any other status but NAM_OK: it cannot take
 * that one now; the next call goes on with it.
 */
nam_status wal_rings_take(struct wal_rings *r, wal_rings_taker take, void *arg);
/* The log is flushed up to that position: tells the rings, and rouses workers. */
void wal_rings_flushed(struct wal_rings *r, uint64_t position, struct net_bell *bell);

#endif
