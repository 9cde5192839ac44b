/* hist_test.c -- quantiles against a sorted array, and the edges of the range. */
#include <base/hist.h>
#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void
quantiles_are_close_from_above(void **state)
{
	(void)state;
	enum { N = 20000 };
	uint64_t *v = malloc(N * sizeof *v);
	struct nam_hist *h = calloc(1, sizeof *h);
	struct nam_rng dice;
	nam_rng_init(&dice, 1);
	for (int i = 0; i < N; i++) {
		v[i] = nam_rng_next(&dice) >> nam_rng_below(&dice, 64);
		nam_hist_add(h, v[i]);
	}
	qsort(v, N, sizeof *v, by_value);
	const double q[] = { 0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 };
	for (size_t i = 0; i < sizeof q / sizeof q[0]; i++) {
		uint64_t exact = v[(size_t)(q[i] * N + 0.999) - 1], got = nam_hist_quantile(h, q[i]);
		assert_true(got >= exact);
		assert_true((double)(got - exact) <= (double)exact / 64 + 1);
	}
	assert_true(nam_hist_quantile(h, 1) == v[N - 1]);
	assert_true(h->max == v[N - 1]);
	free(v);
	free(h);
}

static void
the_edges_of_the_range(void **state)
{
	(void)state;
	struct nam_hist *h = calloc(1, sizeof *h);
	assert_true(nam_hist_quantile(h, 0.5) == 0);
	nam_hist_add(h, 0);
	assert_true(nam_hist_quantile(h, 0.5) == 0);
	nam_hist_add(h, UINT64_MAX);
	assert_true(nam_hist_quantile(h, 1) == UINT64_MAX);
	assert_true(nam_hist_quantile(h, 0.5) == 0);
	for (unsigned bit = 0; bit < 64; bit++) {
		memset(h, 0, sizeof *h);
		uint64_t at = UINT64_C(1) << bit;
		nam_hist_add(h, at - 1);
		nam_hist_add(h, at);
		nam_hist_add(h, at);
		assert_true(nam_hist_quantile(h, 0.1) >= at - 1);
		assert_true(nam_hist_quantile(h, 1) == at);
	}
	free(h);
}

static void
merge_is_the_same_as_one(void **state)
{
	(void)state;
	struct nam_hist *a = calloc(3, sizeof *a), *b = a + 1, *all = a + 2;
	struct nam_rng dice;
	nam_rng_init(&dice, 3);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = nam_rng_below(&dice, 1000000);
		nam_hist_add(i % 3 ? a : b, v);
		nam_hist_add(all, v);
	}
	nam_hist_merge(a, b);
	assert_memory_equal(a, all, sizeof *a);
	/* less what was there before: all but the maximum as if it had never been */
	*a = *all;
	for (int i = 0; i < 1000; i++)
		nam_hist_add(a, nam_rng_below(&dice, 1000000) / 2);
	nam_hist_subtract(a, all);
	assert_true(
	    a->count == 1000 && nam_hist_quantile(a, 1) <= 508000 && nam_hist_quantile(a, 0.5) < 300000);
	free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_close_from_above),
		cmocka_unit_test(the_edges_of_the_range),
		cmocka_unit_test(merge_is_the_same_as_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
