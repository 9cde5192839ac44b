/* join_data.c -- tuples of both relations from their numbers, and the sums over their join. */
#include "join_data.h"

#include <base/hash.h>
#include <base/rng.h>

#include <math.h>

enum { NO_PARTNER = 40 };

uint64_t
bench_zipf(double u, uint64_t n, double z)
{
	double all = (double)n, x;
	if (fabs(z - 1) < 1e-6)
		x = pow(all, u);
	else
		x = pow(u * (pow(all + 1, 1 - z) - 1) + 1, 1 / (1 - z));
	uint64_t at = x > 1 ? (uint64_t)x - 1 : 0;
	return at < n ? at : n - 1;
}

static uint64_t
r_key(uint64_t i)
{
	return nam_mix(i + 1);
}

/* Below 2^24, so that no sum over a join's pairs overflows. */
static uint64_t
payload(uint64_t side, uint64_t i, unsigned word)
{
	return nam_mix((side << 56) + i * 131 + word) >> 40;
}

void
bench_join_fill_r(const void *arg, uint64_t first, unsigned n, void *tuples)
{
	const struct join_draw *d = arg;
	uint64_t *t = tuples;
	for (uint64_t i = first; i < first + n; i++, t += d->width / 8) {
		t[0] = r_key(i);
		for (unsigned w = 1; w < d->width / 8; w++)
			t[w] = payload(1, i, w);
	}
}

/* The number of tuple i's partner in R; `partners` = it has none. */
static uint64_t
partner(const struct join_draw *d, uint64_t i)
{
	struct nam_rng dice;
	nam_rng_init(&dice, d->seed + i * 2);
	double hit = (double)(nam_rng_next(&dice) >> 11) * 0x1p-53;
	if (hit >= d->selectivity || d->partners == 0)
		return d->partners;
	if (d->skew <= 0)
		return nam_rng_below(&dice, d->partners);
	double u = (double)(nam_rng_next(&dice) >> 11) * 0x1p-53;
	return bench_zipf(u, d->partners, d->skew);
}

void
bench_join_fill_s(const void *arg, uint64_t first, unsigned n, void *tuples)
{
	const struct join_draw *d = arg;
	uint64_t *t = tuples;
	for (uint64_t i = first; i < first + n; i++, t += d->width / 8) {
		uint64_t j = partner(d, i);
		t[0] = r_key(j < d->partners ? j : i + (UINT64_C(1) << NO_PARTNER));
		for (unsigned w = 1; w < d->width / 8; w++)
			t[w] = payload(2, i, w);
	}
}

struct join_sums
bench_join_expected(const struct join_draw *d, uint64_t n)
{
	struct join_sums want = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint64_t j = partner(d, i);
		if (j == d->partners)
			continue;
		want.pairs++;
		for (unsigned w = 1; w < d->width / 8; w++) {
			want.left += payload(2, i, w);
			want.right += payload(1, j, w);
		}
	}
	return want;
}
