/* keep_internal.h -- connections that break, nodes that end, owners that die. */
#ifndef NAM_TXN_KEEP_INTERNAL_H
#define NAM_TXN_KEEP_INTERNAL_H

#include "attempt_internal.h"

/* keeper.c */
/* True if the node's process has ended, or its memory came back empty: what was there is lost for
 * all processes. */
static inline bool
txn_node_ended(const struct txn_worker *tw, net_addr at)
{
	return net_set_has(&tw->keeper.ended, net_region_of(at));
}
void txn_keeper_open(struct txn_worker *tw);
void txn_keeper_close(struct txn_worker *tw);
/* A coroutine of a worker that runs only the heart: replaces connections over which the network is
 * silent. */
void txn_pulse(void *worker);
/*
 * Call after NAM_GONE. NAM_OK: this worker reaches the node again, and no verb that it had posted
 * there executes any more. NAM_GONE: the node is lost for all. NAM_BUSY: no connection before
 * until_ns; one is being asked for. NAM_REFUSED: this process has been fenced. In a coroutine.
 */
nam_status txn_keep(struct txn_worker *tw, unsigned region, uint64_t until_ns);
nam_status txn_keep_home(struct txn_worker *tw);
/*
 * txn_keep for a caller with a verb in doubt at `at`. Also NAM_REFUSED: the node has not answered
 * for 0.2 s, or two thirds of a lease, since *until was set (0 = now). Other processes may reach
 * it, so what is in doubt is left to them.
 */
nam_status txn_reconnect(struct txn_worker *tw, net_addr at, uint64_t *until);

/*
 * For the holder of a lock outside of transactions: each of these goes on over a new connection, or
 * records that the lock is in doubt (txn_doubt). In a coroutine. txn_again: call it after NAM_GONE
 * at `at`; NAM_OK: no verb that was out executes any more. The others repeat their verb themselves.
 * cas: `expect` and `want` are such that one of them is our own word and never comes again, so the
 * word there tells whether the CAS was done. claim: of a CID.
 */
nam_status txn_again(struct txn_worker *tw, net_addr at, uint64_t *until);
/* txn_again for all nodes to which this worker's connections are broken; NAM_OK also if none is
 * broken. */
nam_status txn_again_all(struct txn_worker *tw, uint64_t *until);
nam_status txn_sure_cas(struct txn_worker *tw, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen);
/* Several CASes with one doorbell for each node, as txn_sure_cas does one. */
struct txn_cas {
	net_addr at;
	uint64_t expect, want, seen;
	nam_status st;
};
enum { TXN_CAS_MAX = 32 };
void txn_sure_cas_all(struct txn_worker *tw, struct txn_cas *c, unsigned n);
nam_status txn_sure_write(struct txn_worker *tw, net_addr at, const void *from, uint32_t len);
nam_status txn_claim_sure(struct txn_worker *tw, struct tso_claim *c, tso_cid floor);

/* mend.c */
/*
 * A connection broke, and each block that t holds behind it is in its old or its new state:
 * completes or undoes it. In a coroutine. False: t is left to a recoverer.
 */
bool txn_mend(struct txn *t);

/* Records that a lock outside of transactions (the collector's, a sweep's, an index's) may stay
 * behind a connection that broke. */
void txn_doubt(struct txn_worker *tw);
/* txn_doubt for the index's resize lock, if the last call on the index left it in doubt. */
void txn_index_doubt(struct txn_worker *tw, const struct idx_hash *ix);
/* Now and then: if such a lock is in doubt and its node is reachable, this process gives itself
 * up. */
void txn_doubts(struct txn_worker *tw);

/* recover.c */
/*
 * The block is locked by that word. If the owner is dead and recovered, its transaction did not
 * commit: the lock is released. NAM_OK: it was, look again; NAM_BUSY: the owner lives, or is not
 * recovered yet.
 */
nam_status txn_unlock_dead(struct txn_worker *tw, net_addr at, uint64_t lock);
/* txn_unlock_dead, which needs a CID and waits for it as long as p allows. */
nam_status txn_unlock_dead_by(struct txn_worker *tw, net_addr at, uint64_t lock, const struct tso_timeout *p);
/* The newest CID that the head of a block of any shape lists, 0 = none. False: its directory is not
 * whole. */
bool txn_head_newest(const struct rec_block *img, net_addr at, uint64_t *newest);
/* An insert got NAM_BUSY: if the process that resizes the index is dead, finishes its work and
 * frees its lock. */
bool txn_index_unstick(struct txn_worker *tw, struct idx_hash *ix);
/* Looks for owners that have stopped, and recovers them. A coroutine of the worker that
 * recovers. */
void txn_recoverer(void *worker);

#endif
