/* ring_qp.h -- a queue pair for answers to one client, at the storage node's end (ring_qp.c). */
#ifndef NAM_STORAGE_NODE_RING_QP_H
#define NAM_STORAGE_NODE_RING_QP_H

#include <stdbool.h>
#include <stdint.h>

/* The structure that an id's context points to begins with this. */
struct sn_qp_tag {
	bool ring; /* a struct sn_ring_qp, not one of verbs.c */
};

struct ibv_pd;
struct rdma_cm_id;
struct sn_ring_qp;

/* A queue pair on id, which stays the caller's when this is NULL (errno). fd: the connection beside
 * it; borrowed. */
struct sn_ring_qp *sn_ring_qp_new(struct rdma_cm_id *id, struct ibv_pd *pd, int fd);
/* With id. Waits until no thread is handling an event of it: do not call it while holding one. */
void sn_ring_qp_free(struct sn_ring_qp *q);
/* The device reports its end: ends the connection beside it, so that its shard hears of it. While
 * holding that event. */
void sn_ring_qp_gone(struct sn_ring_qp *q);

/* Registers the memory that WRITEs come from; once. False: errno. */
bool sn_ring_qp_register(struct sn_ring_qp *q, void *mirror, uint32_t bytes);
/* One WRITE from the mirror, never waiting. LATER: too many are out; try again later. */
enum sn_sent { SN_SENT, SN_LATER, SN_BROKEN };
enum sn_sent sn_ring_qp_write(
    struct sn_ring_qp *q, const void *from, uint32_t len, uint64_t to, uint32_t rkey, bool announce);

#endif
