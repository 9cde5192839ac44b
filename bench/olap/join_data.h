/*
 * join_data.h -- the two relations of `namdb bench join`, and what their join must give.
 *
 * R has unique sparse keys. Which tuple of R is the partner of S's tuple number i, if it has one,
 * follows from a seed and i: so each thread, each process and DuckDB's table get the same tuples.
 */
#ifndef NAM_BENCH_OLAP_JOIN_DATA_H
#define NAM_BENCH_OLAP_JOIN_DATA_H

#include <stdint.h>

/* What a join gives. */
struct join_sums {
	uint64_t pairs, left, right;
};

/* How S draws. */
struct join_draw {
	uint64_t seed, partners;
	double selectivity, skew;
	uint32_t width;
};

/* A number below n by Zipf's law with exponent z, from u in [0, 1): its continuous form, in
 * which the share of the first x of n is (x / n) ^ (1 - z), or ln x / ln n if z is 1. */
uint64_t bench_zipf(double u, uint64_t n, double z);

/* As pool_fill. arg: a struct join_draw. */
void bench_join_fill_r(const void *arg, uint64_t first, unsigned n, void *tuples);
void bench_join_fill_s(const void *arg, uint64_t first, unsigned n, void *tuples);
/* Of n tuples of S, without a join: each partner's number is known. */
struct join_sums bench_join_expected(const struct join_draw *d, uint64_t n);

#endif
