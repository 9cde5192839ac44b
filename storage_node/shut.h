/* shut.h -- which processes have been fenced on a region: kept as long as its memory, whatever
 * doors are opened to it. Any thread. */
#ifndef NAM_STORAGE_NODE_SHUT_H
#define NAM_STORAGE_NODE_SHUT_H

#include <storage_node/sn.h>

#include <pthread.h>

/* 16 to 32 bytes for each identity that was ever shut out, at most 16 Mi of them; none is
 * forgotten. */
struct sn_shut {
	pthread_mutex_t lock;
	uint64_t *identity; /* by place - 1 */
	uint32_t *place;    /* 2 * cap of them, by hash; 0: none */
	size_t n, cap;
};

struct sn_shut *sn_region_shut(struct sn_region *r);

/* Its place, from 1; idempotent. 0: there is no memory to remember it. */
size_t sn_shut_add(struct sn_shut *s, uint64_t identity);
/* Its place, or 0. */
size_t sn_shut_find(struct sn_shut *s, uint64_t identity);
size_t sn_shut_count(struct sn_shut *s);
void sn_shut_free(struct sn_shut *s);

#endif
