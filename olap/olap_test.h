/* olap_test.h -- for this room's tests: a simulated cluster of several processes. */
#ifndef NAM_OLAP_TEST_H
#define NAM_OLAP_TEST_H

#include <net/region_format.h>
#include <net/sim/sim.h>
#include <olap/olap.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { T_PROCESSES = 4 };
struct cluster {
	struct net_sim *sim;
	unsigned nodes, processes;
	struct net *net[T_PROCESSES];
	struct net_worker *w[T_PROCESSES];
	net_addr board;
	uint64_t size;
};

static inline void
cluster_open(struct cluster *c, uint64_t seed, unsigned nodes, uint64_t bytes, unsigned processes,
    unsigned delay_permille)
{
	bytes = bytes / NET_EXTENT * NET_EXTENT;
	*c = (struct cluster){ .nodes = nodes, .processes = processes, .size = bytes };
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = nodes,
		.region_bytes = bytes,
		.tear_permille = 200,
		.reorder_permille = 200,
		.delay_permille = delay_permille,
		.delay_ns = 500000 };
	assert_int_equal(net_sim_open(&c->sim, &cfg), NAM_OK);
	for (unsigned i = 0; i < processes; i++) {
		assert_int_equal(net_sim_attach(c->sim, &c->net[i]), NAM_OK);
		assert_int_equal(net_worker_open(c->net[i], &c->w[i], NULL), NAM_OK);
	}
}

static inline void
cluster_close(struct cluster *c)
{
	for (unsigned i = 0; i < c->processes; i++) {
		net_worker_close(c->w[i]);
		net_close(c->net[i]);
	}
	net_sim_close(c->sim);
}

/* Runs fn(arg) in a coroutine of a process, and plays until nothing is left. */
static inline void
cluster_run(struct cluster *c, unsigned process, void (*fn)(void *), void *arg)
{
	assert_non_null(nam_co_start(net_worker_sched(c->w[process]), fn, arg, 512 << 10));
	assert_true(net_sim_run(c->sim, NULL, NULL));
}

/* True if each of the first n processes has come to its end or died. The others hear of a death 30
 * us later. *told: of one. */
static inline bool
cluster_over(struct cluster *c, unsigned n, const bool *over, bool *told)
{
	bool all = true;
	for (unsigned i = 0; i < n; i++) {
		bool dead = net_sim_crashed(c->net[i]);
		if (dead && !*told)
			net_sim_tell(c->sim, c->net[i], 30000);
		*told |= dead;
		all &= over[i] || dead;
	}
	return all;
}

/* Extents that nobody has, by the memory alone. */
static inline uint64_t
cluster_free(const struct cluster *c)
{
	uint64_t sum = 0;
	for (unsigned r = 1; r <= c->nodes; r++) {
		const char *at = net_sim_memory(c->sim, r);
		const struct net_super *s = (const void *)at;
		uint64_t top = s->free_head & UINT32_MAX;
		sum += s->bump < s->size ? (s->size - s->bump) / NET_EXTENT : 0;
		if (top != 0)
			sum += ((const struct net_free *)(const void *)(at + top * NET_EXTENT))->depth;
	}
	return sum;
}

#endif
