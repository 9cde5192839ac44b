/*
 * keys.h -- sets of distinct 8-byte keys, in order, the same ones each time.
 *
 *	linear     every key 64 above the one before
 *	noised     gaps of 1 to 127 steps, drawn one by one: what a linear set becomes when keys
 *                 are inserted at random places. The error of a line over many keys grows with
 *                 their number, as it does where keys are drawn independently.
 *	lognormal  independent draws of exp(N(0, 2)), in order
 *	osm        Morton codes of points on a map: cities of very different sizes, most of them in
 *                 a few countries, and points between them. Or a file of such keys.
 *
 * The lowest six bits of a loaded key are 0. New keys have others, so that a set can take 63 times
 * its size without a list of what is there.
 */
#ifndef NAM_BENCH_YCSB_KEYS_H
#define NAM_BENCH_YCSB_KEYS_H

#include <base/status.h>

#include <stddef.h>
#include <stdint.h>

enum ycsb_set { YCSB_LINEAR, YCSB_NOISED, YCSB_LOGNORMAL, YCSB_OSM, YCSB_SETS };
extern const char *const bench_keys_names[YCSB_SETS];

enum { YCSB_KEY_SHIFT = 6, YCSB_KEYS_MIN = 16 };

struct ycsb_keys {
	enum ycsb_set set;
	uint64_t n, seed;
	uint64_t *base; /* NULL: computed. Rising */
	unsigned half;  /* bits of a half of a number below n */
};

/*
 * n keys, YCSB_KEYS_MIN at least. file: NULL, or of YCSB_OSM the keys to take, evenly chosen: a
 * number of 8 bytes, little-endian, and that many keys, rising (the SOSD benchmark's format).
 * NAM_NOMEM; NAM_IO, NAM_INVALID: the file. Not OK: nothing to close.
 */
nam_status bench_keys_open(
    struct ycsb_keys *k, enum ycsb_set set, uint64_t n, uint64_t seed, const char *file, struct nam_err *err);
void bench_keys_close(struct ycsb_keys *k);

/* Of the loaded keys the i-th from below, i < n. */
static inline uint64_t
bench_keys_at(const struct ycsb_keys *k, uint64_t i)
{
	return (k->base != NULL ? k->base[i] : i + 1) << YCSB_KEY_SHIFT;
}
/* How many new keys there are. */
static inline uint64_t
bench_keys_room(const struct ycsb_keys *k)
{
	return k->n * ((1 << YCSB_KEY_SHIFT) - 1);
}
/* New key m < bench_keys_room, above a random one of the loaded keys. No two are equal. */
uint64_t bench_keys_new(const struct ycsb_keys *k, uint64_t m);
/* Key number `item` in the order in which keys came: first the loaded ones, in random order. */
uint64_t bench_keys_item(const struct ycsb_keys *k, uint64_t item);
/* A permutation of 0..n-1. */
uint64_t bench_keys_mixed(const struct ycsb_keys *k, uint64_t i);

#endif
