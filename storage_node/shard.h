/* shard.h -- the threads of a storage node that serve message rings, as its server sees them
 * (net/ring/service.h, shard.c). */
#ifndef NAM_STORAGE_NODE_SHARD_H
#define NAM_STORAGE_NODE_SHARD_H

#include <storage_node/sn.h>

struct sn_shards;
struct sn_ring_qp;

/* NULL = the region hosts no services. */
struct sn_shards *sn_region_shards(const struct sn_region *r);

nam_status sn_shards_open(
    struct sn_shards **out, struct sn_region *r, const struct sn_serve_config *cfg, struct nam_err *err);
/* Ends every connection and joins the threads. */
void sn_shards_close(struct sn_shards *s);
/* Takes over a connection whose peer has proved the secret, and its queue pair (NULL = none). name:
 * for the log. Any thread. */
void sn_shards_take(struct sn_shards *s, int fd, uint64_t identity, const char *name, struct sn_ring_qp *qp);
/* An identity has been fenced (fenced.h). When sn_shards_fenced(its place, the identity) is true,
 * no shard serves it, and none will. */
void sn_shards_fence(struct sn_shards *s);
bool sn_shards_fenced(struct sn_shards *s, size_t place, uint64_t identity);
/* Ends every connection that has a queue pair, and waits until they are gone. Meanwhile the caller
 * hands over no connection with one. */
void sn_shards_drop_queue_pairs(struct sn_shards *s);
/* An immediate has come: a client has sent messages. Any number; any thread. */
void sn_shards_rung(struct sn_shards *s, uint64_t number);

#endif
