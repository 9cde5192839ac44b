/*
 * peers.h -- what YCSB is compared with: a sorted array in this process, and redis over a UNIX
 * socket. Both get the steps that namdb's clients get.
 */
#ifndef NAM_BENCH_YCSB_PEERS_H
#define NAM_BENCH_YCSB_PEERS_H

#include "draw.h"

/* Steps of one thread; it begins with the first again after the last. */
struct ycsb_steps {
	struct ycsb_step *step;
	unsigned n;  /* a multiple of YCSB_PIPELINE */
	bool latest; /* step.at counts items from the latest one */
};

/*
 * Keys in order in one array, values of 8 bytes in another, on pages as embedded storage has them.
 * A lookup is a binary search without branches that prefetches both places where the next step may
 * look. It changes nothing, so workload C alone can be asked of it.
 */
struct ycsb_array;
enum { YCSB_LANES = 8 }; /* searches that the interleaved variant does side by side */
/* NAM_NOMEM. Borrows the keys until it returns. */
nam_status bench_array_open(struct ycsb_array **out, const struct ycsb_keys *keys, struct nam_err *err);
void bench_array_close(struct ycsb_array *a);
/* Where the array has the key, or its number of keys if it has not. */
uint64_t bench_array_find(const struct ycsb_array *a, uint64_t key);
/* The same for YCSB_LANES keys, side by side. */
void bench_array_find_lanes(const struct ycsb_array *a, const uint64_t *key, uint64_t *at);
/* Lookups per second of so many threads, one key at a time or interleaved. *bad: keys not found,
 * and wrong values. */
double bench_array_run(const struct ycsb_array *a, const struct ycsb_steps *steps, unsigned threads,
    double seconds, bool interleaved, uint64_t *bad);

/*
 * A redis-server of the bench's own: no log, no snapshots; GET and SET of 8-byte keys, one
 * connection for each thread with YCSB_PIPELINE commands under way.
 */
struct ycsb_redis;
enum { YCSB_PIPELINE = 16 };
/* Starts and loads it. By a process without other threads: it is a child, which ends with its
 * parent. NAM_UNSUPPORTED: redis-server is not installed; NAM_NOMEM, NAM_IO. */
nam_status bench_redis_open(struct ycsb_redis **out, const struct ycsb_keys *keys, uint32_t value,
    unsigned threads, struct nam_err *err);
void bench_redis_close(struct ycsb_redis *r);
/* Operations per second of all threads; SCANs it cannot do. *bad: as above, and errors. */
double bench_redis_run(struct ycsb_redis *r, const struct ycsb_steps *steps, double seconds, uint64_t *bad);

#endif
