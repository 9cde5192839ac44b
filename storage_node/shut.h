/* shut.h -- who has been shut out of a region: kept as long as its memory, whatever doors are opened to it. Any thread. */
#ifndef NAM_STORAGE_NODE_SHUT_H
#define NAM_STORAGE_NODE_SHUT_H

#include <storage_node/sn.h>

#include <pthread.h>

/* 8 bytes for each identity that was ever shut out; none is forgotten. */
struct sn_shut {
	pthread_mutex_t lock;
	uint64_t *identity;
	size_t n, cap;
};

struct sn_shut *sn_region_shut(struct sn_region *r);

/* Its place, from 1; idempotent. 0: there is no memory to remember it. */
size_t sn_shut_add(struct sn_shut *s, uint64_t identity);
/* Its place, or 0. */
size_t sn_shut_find(struct sn_shut *s, uint64_t identity);
size_t sn_shut_count(struct sn_shut *s);

#endif
