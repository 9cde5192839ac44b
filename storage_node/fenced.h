/* fenced.h -- the processes that have been fenced on a region: kept as long as its memory, across
 * all servers opened on it. Any thread. */
#ifndef NAM_STORAGE_NODE_FENCED_H
#define NAM_STORAGE_NODE_FENCED_H

#include <storage_node/sn.h>

#include <pthread.h>

/* 16 to 32 bytes for each identity that was ever fenced, at most 16 Mi of them; none is
 * forgotten. */
struct sn_fenced {
	pthread_mutex_t lock;
	uint64_t *identity; /* by place - 1 */
	uint32_t *place;    /* 2 * cap of them, by hash; 0 = none */
	size_t n, cap;
};

struct sn_fenced *sn_region_fenced(struct sn_region *r);
/* Processes of this host whose end was proved by a pidfd; as long. */
struct sn_fenced *sn_region_dead(struct sn_region *r);

/* Its place, from 1; idempotent. 0 = no memory for it. */
size_t sn_fenced_add(struct sn_fenced *s, uint64_t identity);
/* Its place, or 0. */
size_t sn_fenced_find(struct sn_fenced *s, uint64_t identity);
size_t sn_fenced_count(struct sn_fenced *s);
void sn_fenced_free(struct sn_fenced *s);

#endif
