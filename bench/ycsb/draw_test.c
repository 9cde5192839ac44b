/*
 * draw_test.c -- the key sets and draws of YCSB are what they are called. The checks work their
 * expectations out in another way than the code does: direct sums, erf, sorting.
 */
#include "draw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka after these */
#include <cmocka.h>

enum { DRAWS = 1000000, KEYS = 200000, SMALL = 1000 };

static void
near(double got, double want, double most)
{
	if (!(fabs(got - want) <= most))
		fail_msg("%g is not near %g", got, want);
}

static void
opened(struct ycsb_keys *k, enum ycsb_set set, uint64_t n, uint64_t seed)
{
	struct nam_err err;
	if (bench_keys_open(k, set, n, seed, NULL, &err) != NAM_OK)
		fail_msg("%s", err.text);
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void
test_sets(void **state)
{
	(void)state;
	for (enum ycsb_set s = YCSB_LINEAR; s < YCSB_SETS; s++) {
		struct ycsb_keys k, again, other;
		bool differs = false;
		opened(&k, s, KEYS, 7);
		opened(&again, s, KEYS, 7);
		opened(&other, s, KEYS, 8);
		uint64_t last = 0;
		for (uint64_t i = 0; i < KEYS; i++) {
			uint64_t key = bench_keys_at(&k, i);
			assert_true(key > last && key % 64 == 0 && key < UINT64_MAX - 64);
			assert_int_equal(key, bench_keys_at(&again, i));
			differs |= key != bench_keys_at(&other, i);
			last = key;
		}
		assert_int_equal(differs, s != YCSB_LINEAR);
		bench_keys_close(&k);
		bench_keys_close(&again);
		bench_keys_close(&other);
	}
}

/* Loaded and new keys together: none is there twice, and new ones lie all over the set. */
static void
test_new_keys(void **state)
{
	(void)state;
	for (enum ycsb_set s = YCSB_LINEAR; s < YCSB_SETS; s++) {
		struct ycsb_keys k;
		opened(&k, s, SMALL, 3);
		uint64_t n = SMALL + bench_keys_room(&k), *all = malloc(n * sizeof *all), part[10] = { 0 };
		assert_int_equal(n, SMALL * 64);
		for (uint64_t i = 0; i < n; i++)
			all[i] = bench_keys_item(&k, i);
		for (uint64_t i = SMALL; i < 2 * SMALL; i++)
			for (unsigned p = 0; p < 10; p++)
				part[p] += all[i] >= bench_keys_at(&k, p * SMALL / 10) &&
					   (p == 9 || all[i] < bench_keys_at(&k, (p + 1) * SMALL / 10));
		for (unsigned p = 0; p < 10; p++)
			assert_int_equal(part[p], SMALL / 10);
		/* not in order: the loaded ones rise about half of the time */
		unsigned rises = 0;
		for (uint64_t i = 1; i < SMALL; i++)
			rises += all[i] > all[i - 1];
		near(rises, SMALL / 2.0, SMALL / 10.0);
		qsort(all, n, sizeof *all, by_size);
		for (uint64_t i = 1; i < n; i++)
			assert_true(all[i] > all[i - 1]);
		free(all);
		bench_keys_close(&k);
	}
}

static void
test_mixed(void **state)
{
	(void)state;
	static const uint64_t size[] = { 16, 17, 255, 256, 257, 65536, 100000 };
	for (unsigned s = 0; s < sizeof size / sizeof size[0]; s++) {
		struct ycsb_keys k;
		opened(&k, YCSB_LINEAR, size[s], 5);
		unsigned char *seen = calloc(size[s], 1);
		for (uint64_t i = 0; i < size[s]; i++) {
			uint64_t at = bench_keys_mixed(&k, i);
			assert_true(at < size[s] && !seen[at]);
			seen[at] = 1;
		}
		free(seen);
	}
}

/* How far the i-th of n keys lies from where a line through the first and the last one puts it, at
 * most, in keys. */
static double
off_line(const struct ycsb_keys *k, uint64_t n)
{
	double first = (double)bench_keys_at(k, 0), all = (double)bench_keys_at(k, n - 1) - first, most = 0;
	for (uint64_t i = 0; i < n; i++) {
		double off = fabs(((double)bench_keys_at(k, i) - first) / all * (double)(n - 1) - (double)i);
		most = off > most ? off : most;
	}
	return most;
}

static void
test_linear_and_noised(void **state)
{
	(void)state;
	struct ycsb_keys k;
	opened(&k, YCSB_LINEAR, KEYS, 1);
	near(off_line(&k, KEYS), 0, 1e-6);
	opened(&k, YCSB_NOISED, KEYS, 1);
	double sum = 0, square = 0;
	for (uint64_t i = 1; i < KEYS; i++) {
		double gap = (double)(bench_keys_at(&k, i) - bench_keys_at(&k, i - 1)) / 64;
		assert_true(gap >= 1 && gap <= 127);
		sum += gap;
		square += gap * gap;
	}
	double mean = sum / (KEYS - 1), deviation = sqrt(square / (KEYS - 1) - mean * mean);
	near(mean, 64, 0.5);
	near(deviation, sqrt((127.0 * 127 - 1) / 12), 0.3);
	/* A random walk: the error grows as the root of the number of keys. */
	assert_true(off_line(&k, 100) < 15);
	assert_true(off_line(&k, KEYS) > 60 && off_line(&k, KEYS) < 1000);
	bench_keys_close(&k);
}

/* Kolmogorov and Smirnov: the largest distance from the distribution is as large as for independent
 * draws, neither more nor less. */
static void
test_lognormal(void **state)
{
	(void)state;
	struct ycsb_keys k;
	opened(&k, YCSB_LOGNORMAL, KEYS, 2);
	double most = 0;
	for (uint64_t i = 0; i < KEYS; i++) {
		double z = log((double)(bench_keys_at(&k, i) >> 6) / 1e12) / 2;
		double want = erfc(-z / sqrt(2)) / 2, off = fabs(want - ((double)i + 0.5) / KEYS);
		most = off > most ? off : most;
	}
	assert_true(most < 1.95 / sqrt(KEYS)); /* one time in a thousand it is more */
	assert_true(most > 0.35 / sqrt(KEYS)); /* ... less */
	bench_keys_close(&k);
}

static void
test_osm(void **state)
{
	(void)state;
	enum { CELLS = 64 * 64 };
	struct ycsb_keys k;
	uint64_t count[CELLS] = { 0 }, x = 0, y = 0;
	opened(&k, YCSB_OSM, KEYS, 2);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t key = bench_keys_at(&k, i) >> 6;
		assert_true(key >> 56 == 0);
		x = y = 0;
		for (unsigned b = 0; b < 28; b++) {
			x |= (key >> 2 * b & 1) << b;
			y |= (key >> (2 * b + 1) & 1) << b;
		}
		count[(y >> 22) * 64 + (x >> 22)]++;
	}
	qsort(count, CELLS, sizeof count[0], by_size);
	uint64_t top = 0, empty = 0;
	for (unsigned i = 0; i < CELLS; i++) {
		top += i >= CELLS - CELLS / 100 ? count[i] : 0;
		empty += count[i] == 0;
	}
	/* In a hundredth of the map is most of it, as cities are; and most of the map is empty. */
	assert_true(top > KEYS / 2 && top < KEYS);
	assert_true(empty > CELLS / 3 && empty < CELLS);
	bench_keys_close(&k);
}

static void
file_of(const char *name, const uint64_t *word, size_t n)
{
	FILE *f = fopen(name, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(word, sizeof *word, n, f), n);
	fclose(f);
}

static void
test_file(void **state)
{
	(void)state;
	char name[] = "/tmp/namdb-keys-XXXXXX";
	int fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	uint64_t word[101] = { 100 };
	struct ycsb_keys k;
	struct nam_err err;
	for (uint64_t i = 1; i <= 100; i++)
		word[i] = i << 56;
	for (unsigned i = 64; i < 100; i++)
		word[i] = (UINT64_C(1) << 62) + i * 2;
	word[100] = word[99]; /* equal ones are moved apart */
	file_of(name, word, 101);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 100, 1, name, &err), NAM_OK);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(i == 0 || bench_keys_at(&k, i) > bench_keys_at(&k, i - 1));
		if (i < 63)
			assert_int_equal(bench_keys_at(&k, i), word[i + 1]);
	}
	bench_keys_close(&k);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 20, 1, name, &err), NAM_OK);
	assert_int_equal(bench_keys_at(&k, 0), word[1]);
	assert_int_equal(bench_keys_at(&k, 4), word[21]);
	bench_keys_close(&k);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 101, 1, name, &err), NAM_INVALID);
	uint64_t keep = word[100];
	word[100] = UINT64_MAX;
	file_of(name, word, 101);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 100, 1, name, &err), NAM_INVALID);
	word[100] = keep;
	word[50] = 1;
	file_of(name, word, 101);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 100, 1, name, &err), NAM_INVALID);
	file_of(name, word, 30);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 100, 1, name, &err), NAM_INVALID);
	unlink(name);
	assert_int_equal(bench_keys_open(&k, YCSB_OSM, 100, 1, name, &err), NAM_IO);
}

/* ---- draws ----------------------------------------------------------------------------------- */

static void
test_zeta(void **state)
{
	(void)state;
	static const uint64_t n[] = { 1, 2, 999, 1000, 1001, 50000, 3000000 };
	for (unsigned i = 0; i < sizeof n / sizeof n[0]; i++) {
		double sum = 0;
		for (uint64_t k = n[i]; k >= 1; k--)
			sum += 1 / pow((double)k, 0.99);
		near(bench_zipf_zeta(n[i], 0.99), sum, 1e-9);
	}
	/* the constant in YCSB's ScrambledZipfianGenerator */
	near(bench_zipf_zeta(UINT64_C(10000000000), 0.99), 26.46902820178302, 1e-8);
}

static void
test_zipf(void **state)
{
	(void)state;
	enum { N = 100000 };
	static uint32_t count[N];
	struct ycsb_zipf z;
	struct nam_rng r;
	nam_rng_init(&r, 4);
	bench_zipf_init(&z, N, 0.99);
	memset(count, 0, sizeof count);
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t k = bench_zipf_next(&z, &r);
		assert_true(k < N);
		count[k]++;
	}
	double zeta = 0;
	for (unsigned i = N; i >= 1; i--)
		zeta += 1 / pow(i, 0.99);
	/* within four standard deviations */
	for (unsigned i = 0; i < 2; i++) {
		double p = 1 / pow(i + 1, 0.99) / zeta;
		near(count[i], DRAWS * p, 4 * sqrt(DRAWS * p * (1 - p)));
	}
	/* The curve of Gray et al. is not zipf's own: by less than two hundredths of all draws. */
	double got = 0, want = 0;
	for (unsigned i = 0; i < N; i++) {
		got += count[i] / (double)DRAWS;
		want += 1 / pow(i + 1, 0.99) / zeta;
		near(got, want, 0.02);
	}
}

/* The hottest key has 1 / 26.469 of all draws, and keys are hot at random places. */
static void
test_scrambled(void **state)
{
	(void)state;
	enum { N = 100000 };
	static uint64_t count[N];
	struct ycsb_zipf z;
	struct nam_rng r;
	nam_rng_init(&r, 5);
	bench_zipf_init(&z, UINT64_C(10000000000), YCSB_THETA);
	memset(count, 0, sizeof count);
	for (unsigned i = 0; i < DRAWS; i++)
		count[bench_zipf_scrambled(&z, &r, N)]++;
	/* FNV-1a's 64-bit hash of eight zero bytes, worked out by hand in another program, without
	 * its sign: 2^64 - 0xa8c7f832281a39c5 */
	unsigned hot = (unsigned)((0 - UINT64_C(0xa8c7f832281a39c5)) % N), half = 0;
	near((double)count[hot] / DRAWS, 1 / 26.46902820178302, 0.001);
	for (unsigned i = 0; i < N / 2; i++)
		half += (unsigned)count[i];
	near((double)half / DRAWS, 0.5, 0.1);
	qsort(count, N, sizeof count[0], by_size);
	near((double)count[N - 1] / DRAWS, 0.0378, 0.001);
	near((double)count[N - 2] / DRAWS, 0.0378 / pow(2, 0.99), 0.001);
}

static void
test_workloads(void **state)
{
	(void)state;
	static const double want[YCSB_WORKLOADS][YCSB_OPS] = { { 50, 50, 0, 0, 0 }, { 95, 5, 0, 0, 0 },
		{ 100, 0, 0, 0, 0 }, { 95, 0, 5, 0, 0 }, { 0, 0, 5, 95, 0 }, { 50, 0, 0, 0, 50 } };
	static struct ycsb_step step[DRAWS];
	struct ycsb_keys k;
	opened(&k, YCSB_LINEAR, SMALL, 1);
	for (unsigned w = 0; w < YCSB_WORKLOADS; w++) {
		struct ycsb_drawing d;
		struct nam_rng r;
		unsigned kind[YCSB_OPS] = { 0 }, len[YCSB_SCAN_MAX + 1] = { 0 }, at[SMALL] = { 0 }, drawn = 0;
		nam_rng_init(&r, w);
		bench_draw_init(&d, &k, w, w == 3 ? YCSB_LATEST : YCSB_UNIFORM, SMALL);
		bench_draw(&d, &r, step, DRAWS);
		for (unsigned i = 0; i < DRAWS; i++) {
			kind[step[i].op]++;
			assert_true(step[i].op != YCSB_SCAN || (step[i].len >= 1 && step[i].len <= 100));
			len[step[i].len]++;
			if (step[i].op == YCSB_INSERT)
				continue;
			drawn++;
			if (w == 3) {
				assert_true(step[i].at < SMALL);
				at[step[i].at]++;
			} else {
				assert_true(step[i].at % 64 == 0 && step[i].at / 64 - 1 < SMALL);
				at[step[i].at / 64 - 1]++;
			}
		}
		for (unsigned o = 0; o < YCSB_OPS; o++)
			near(100.0 * kind[o] / DRAWS, want[w][o], 0.25);
		double chi = 0, each = (double)drawn / SMALL;
		for (unsigned i = 0; w != 3 && i < SMALL; i++)
			chi += (at[i] - each) * (at[i] - each) / each;
		/* 999 degrees of freedom: a deviation of 44.7; four of them */
		if (w != 3)
			near(chi, SMALL - 1, 180);
		else
			assert_true(at[0] > 10 * at[20] && at[20] > 10 * at[900]);
		chi = 0;
		for (unsigned i = 1; w == 4 && i <= YCSB_SCAN_MAX; i++)
			chi += pow(len[i] - kind[YCSB_SCAN] / 100.0, 2) / (kind[YCSB_SCAN] / 100.0);
		if (w == 4)
			near(chi, 99, 57);
	}
}

static void
test_items(void **state)
{
	(void)state;
	static struct ycsb_items s;
	bench_items_init(&s, 100);
	assert_int_equal(bench_items_before(&s, 0), 99);
	assert_int_equal(bench_items_before(&s, 99), 0);
	assert_int_equal(bench_items_before(&s, 1000), 0);
	uint64_t a = bench_items_take(&s), b = bench_items_take(&s), c = bench_items_take(&s);
	assert_int_equal(a, 100);
	bench_items_done(&s, b);
	bench_items_done(&s, c);
	assert_int_equal(bench_items_before(&s, 0), 99); /* a is still under way */
	bench_items_done(&s, a);
	assert_int_equal(bench_items_before(&s, 0), 102);
	for (unsigned i = 0; i < 3 * YCSB_WINDOW; i++)
		bench_items_done(&s, bench_items_take(&s));
	assert_int_equal(bench_items_before(&s, 0), 102 + 3 * YCSB_WINDOW);
}

static void
test_values(void **state)
{
	(void)state;
	static const uint32_t size[] = { 8, 32, 1024 };
	for (unsigned i = 0; i < 3; i++) {
		char v[1024];
		bench_value_fill(v, size[i], 160, 7);
		assert_true(bench_value_good(v, size[i], 160));
		assert_false(bench_value_good(v, size[i], 176));
		assert_int_equal(bench_value_version(v), 7);
		if (size[i] == 8)
			continue;
		v[0]++; /* the first word is newer than the last */
		assert_false(bench_value_good(v, size[i], 160));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_new_keys),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_linear_and_noised),
		cmocka_unit_test(test_lognormal),
		cmocka_unit_test(test_osm),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_zeta),
		cmocka_unit_test(test_zipf),
		cmocka_unit_test(test_scrambled),
		cmocka_unit_test(test_workloads),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
