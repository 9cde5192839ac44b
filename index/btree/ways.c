/*
 * ways.c -- which worker knows what of a partition's storage node (adaptive.h): a few places, each
 * of which belongs to one worker from its first call on.
 */
#include <index/btree/client.h>

#include <stdlib.h>

enum { PLACES = 64, LOOKS = 8 };

struct idx_ways {
	struct idx_adaptive_config cfg;
	struct {
		_Atomic(struct net_worker *) who;
		struct idx_adaptive a; /* its thread's only */
	} place[PLACES];
};

struct idx_ways *
idx_ways_open(unsigned cores)
{
	struct idx_ways *ways = calloc(1, sizeof *ways);
	if (ways != NULL)
		ways->cfg.cores = cores;
	return ways;
}

void
idx_ways_close(struct idx_ways *ways)
{
	free(ways);
}

struct idx_adaptive *
idx_ways_of(struct idx_ways *ways, struct net_worker *w)
{
	uint64_t at = nam_mix((uint64_t)(uintptr_t)w);
	for (unsigned i = 0; i < LOOKS; i++) {
		unsigned k = (unsigned)(at + i) % PLACES;
		struct net_worker *who = atomic_load_explicit(&ways->place[k].who, memory_order_relaxed);
		if (who == w)
			return &ways->place[k].a;
		if (who == NULL && atomic_compare_exchange_strong(&ways->place[k].who, &who, w)) {
			idx_adaptive_init(&ways->place[k].a, &ways->cfg, nam_rng_next(net_rng(w)));
			return &ways->place[k].a;
		}
	}
	return NULL;
}
