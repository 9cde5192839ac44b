/* keys.c -- computes a set of keys (keys.h), or reads it from a file. */
#include "keys.h"

#include <base/hash.h>
#include <base/rng.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_keys_names[YCSB_SETS] = { "linear", "noised", "lognormal", "osm" };

enum { NOISE = 127, COUNTRIES = 64, CITIES = 8192, MAP_BITS = 28, DIGIT = 8 };
/* All bases lie below: the lowest bits then hold no carry, and no key is all ones. */
#define BASE_END ((UINT64_C(1) << (64 - YCSB_KEY_SHIFT)) - 1)
/* Largest lognormal key of 10^8: about e^(2 * 5.7) times this, below 2^57. */
#define LOGNORMAL_SCALE 1e12

/* (0, 1] */
static double
unit(struct nam_rng *r)
{
	return (double)((nam_rng_next(r) >> 11) + 1) * 0x1p-53;
}

/* Two independent normal values (Box and Muller). */
static void
normals(struct nam_rng *r, double out[2])
{
	double far = sqrt(-2 * log(unit(r))), turn = 2 * M_PI * unit(r);
	out[0] = far * cos(turn);
	out[1] = far * sin(turn);
}

/* Where the normal distribution reaches p: Acklam's approximation, off by at most 1.2e-9 of it. */
static double
probit(double p)
{
	static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
		1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00 };
	static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
		6.680131188771972e+01, -1.328068155288572e+01 };
	static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
		-2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00 };
	static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
		3.754408661907416e+00 };
	const double low = 0.02425;
	if (p < low || p > 1 - low) {
		double q = sqrt(-2 * log(p < low ? p : 1 - p));
		double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
			   ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
		return p < low ? x : -x;
	}
	double q = p - 0.5, r = q * q;
	return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
	       (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

static void
make_noised(struct ycsb_keys *k)
{
	struct nam_rng r;
	nam_rng_init(&r, k->seed);
	uint64_t at = 0;
	for (uint64_t i = 0; i < k->n; i++)
		k->base[i] = at += 1 + nam_rng_below(&r, NOISE);
}

/* Sorted uniform values are sums of exponential gaps over the sum of all of them (Rényi). */
static void
make_lognormal(struct ycsb_keys *k)
{
	struct nam_rng r;
	double all = 0, at = 0;
	nam_rng_init(&r, k->seed);
	for (uint64_t i = 0; i <= k->n; i++)
		all += -log(unit(&r)) + 1e-12;
	nam_rng_init(&r, k->seed);
	for (uint64_t i = 0; i < k->n; i++) {
		at += -log(unit(&r)) + 1e-12;
		k->base[i] = (uint64_t)(exp(2 * probit(at / all)) * LOGNORMAL_SCALE);
	}
}

struct place {
	double x, y, wide;
};

/* Every second bit of a number of 32 bits. */
static uint64_t
spread(uint64_t x)
{
	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x = (x | x << 2) & UINT64_C(0x3333333333333333);
	return (x | x << 1) & UINT64_C(0x5555555555555555);
}

static uint64_t
morton(double x, double y)
{
	const double side = 1 << MAP_BITS;
	x -= floor(x); /* the map is round both ways */
	y -= floor(y);
	uint64_t a = (uint64_t)(x * side), b = (uint64_t)(y * side), most = (UINT64_C(1) << MAP_BITS) - 1;
	return spread(a < most ? a : most) | spread(b < most ? b : most) << 1;
}

/* By bytes, from the lowest; `other` has as much room. */
static void
sort(uint64_t *v, uint64_t *other, uint64_t n)
{
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		uint64_t at[1 << DIGIT] = { 0 }, sum = 0;
		for (uint64_t i = 0; i < n; i++)
			at[v[i] >> shift & 255]++;
		for (unsigned d = 0; d < 1 << DIGIT; d++) {
			uint64_t count = at[d];
			at[d] = sum;
			sum += count;
		}
		for (uint64_t i = 0; i < n; i++)
			other[at[v[i] >> shift & 255]++] = v[i];
		uint64_t *swap = v; /* an even number of passes: the result lies in v */
		v = other;
		other = swap;
	}
}

/* One in ten points lies anywhere in its country; the others are in cities. The number of points of
 * the k-th city is that of the first over k. */
static bool
make_osm(struct ycsb_keys *k)
{
	struct place country[COUNTRIES], *city = calloc(CITIES, sizeof *city);
	uint64_t *other = malloc(k->n * sizeof *other);
	double *upto = malloc(CITIES * sizeof *upto), sum = 0, two[2];
	bool ok = city != NULL && other != NULL && upto != NULL;
	struct nam_rng r;
	nam_rng_init(&r, k->seed);
	for (unsigned i = 0; ok && i < COUNTRIES; i++)
		country[i] = (struct place){ unit(&r), unit(&r), 0.002 + 0.03 * unit(&r) * unit(&r) };
	for (unsigned i = 0; ok && i < CITIES; i++) {
		const struct place *c = &country[nam_rng_below(&r, COUNTRIES)];
		normals(&r, two);
		city[i] = (struct place){ c->x + c->wide * two[0], c->y + c->wide * two[1],
			2e-6 + 2e-4 / sqrt(i + 1.0) };
		upto[i] = sum += 1.0 / (i + 1);
	}
	for (uint64_t i = 0; ok && i < k->n; i++) {
		double x = unit(&r) * sum;
		const struct place *p;
		if (nam_rng_below(&r, 10) == 0) {
			p = &country[nam_rng_below(&r, COUNTRIES)];
		} else {
			unsigned low = 0, high = CITIES - 1;
			while (low < high) {
				unsigned mid = (low + high) / 2;
				if (upto[mid] < x)
					low = mid + 1;
				else
					high = mid;
			}
			p = &city[low];
		}
		normals(&r, two);
		/* denser in the middle than a normal distribution, and with wider outskirts */
		double far = p->wide * -log(unit(&r));
		k->base[i] = morton(p->x + far * two[0], p->y + far * two[1]);
	}
	if (ok)
		sort(k->base, other, k->n);
	free(upto);
	free(other);
	free(city);
	return ok;
}

static nam_status
read_file(struct ycsb_keys *k, const char *name, struct nam_err *err)
{
	uint64_t count = 0;
	FILE *f = fopen(name, "re");
	if (f == NULL)
		return nam_fail(err, NAM_IO, "%s: %s", name, strerror(errno));
	nam_status st = NAM_OK;
	if (fread(&count, sizeof count, 1, f) != 1 || count < k->n)
		st = nam_fail(err, NAM_INVALID, "%s: it has fewer keys than --records wants", name);
	uint64_t last = 0, at = 0;
	for (uint64_t i = 0; st == NAM_OK && i < k->n; i++) {
		uint64_t want = (uint64_t)((unsigned __int128)count * i / k->n), key;
		if ((want != at && fseeko(f, (off_t)((want + 1) * sizeof key), SEEK_SET) != 0) ||
		    fread(&key, sizeof key, 1, f) != 1)
			st = nam_fail(err, NAM_INVALID, "%s: it ends before its %llu keys do", name,
			    (unsigned long long)count);
		else if (key < last)
			st = nam_fail(err, NAM_INVALID, "%s: its keys do not rise", name);
		else
			k->base[i] = (last = key) >> YCSB_KEY_SHIFT;
		at = want + 1;
	}
	fclose(f);
	return st;
}

nam_status
bench_keys_open(
    struct ycsb_keys *k, enum ycsb_set set, uint64_t n, uint64_t seed, const char *file, struct nam_err *err)
{
	*k = (struct ycsb_keys){ .set = set, .n = n, .seed = seed };
	while (UINT64_C(1) << 2 * k->half < n)
		k->half++;
	if (set == YCSB_LINEAR)
		return NAM_OK;
	k->base = malloc(n * sizeof *k->base);
	bool ok = k->base != NULL;
	nam_status st = NAM_OK;
	if (ok && file != NULL)
		st = read_file(k, file, err);
	else if (ok && set == YCSB_NOISED)
		make_noised(k);
	else if (ok && set == YCSB_LOGNORMAL)
		make_lognormal(k);
	else if (ok)
		ok = make_osm(k);
	if (!ok)
		st = nam_fail(err, NAM_NOMEM, "no memory for %llu keys", (unsigned long long)n);
	for (uint64_t i = 1; st == NAM_OK && i < n; i++)
		if (k->base[i] <= k->base[i - 1])
			k->base[i] = k->base[i - 1] + 1;
	if (st == NAM_OK && k->base[n - 1] >= BASE_END)
		st = nam_fail(err, NAM_INVALID, "the largest keys of this set lie too close to the end");
	if (st != NAM_OK)
		bench_keys_close(k);
	return st;
}

void
bench_keys_close(struct ycsb_keys *k)
{
	free(k->base);
	k->base = NULL;
}

/* Four rounds of Feistel's network on a square that n fits in; what falls outside goes round
 * again. */
uint64_t
bench_keys_mixed(const struct ycsb_keys *k, uint64_t i)
{
	uint64_t low = (UINT64_C(1) << k->half) - 1;
	do {
		for (unsigned round = 0; round < 4; round++) {
			uint64_t left = i >> k->half, right = i & low;
			i = right << k->half | (left ^ (nam_mix(right + k->seed * 4 + round + 1) & low));
		}
	} while (i >= k->n);
	return i;
}

uint64_t
bench_keys_new(const struct ycsb_keys *k, uint64_t m)
{
	return bench_keys_at(k, bench_keys_mixed(k, m % k->n)) + 1 + m / k->n;
}

uint64_t
bench_keys_item(const struct ycsb_keys *k, uint64_t item)
{
	return item < k->n ? bench_keys_at(k, bench_keys_mixed(k, item)) : bench_keys_new(k, item - k->n);
}
