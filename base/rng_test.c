/* rng_test.c -- the same seed gives the same dice, and the dice are fair enough. */
#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
a_seed_replays(void **state)
{
	(void)state;
	struct nam_rng a, b, c;
	nam_rng_init(&a, 42);
	nam_rng_init(&b, 42);
	nam_rng_init(&c, 43);
	int same = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t x = nam_rng_next(&a);
		assert_true(x == nam_rng_next(&b));
		same += x == nam_rng_next(&c);
	}
	assert_int_equal(same, 0);
}

/* The generator's published first output for the state 1, 2, 3, 4. */
static void
it_is_xoshiro256starstar(void **state)
{
	(void)state;
	struct nam_rng r = { { 1, 2, 3, 4 } };
	assert_true(nam_rng_next(&r) == 11520);
	assert_true(nam_rng_next(&r) == 0);
	assert_true(nam_rng_next(&r) == 1509978240);
}

static void
below_is_in_range_and_even(void **state)
{
	(void)state;
	struct nam_rng r;
	nam_rng_init(&r, 0);
	int seen[10] = { 0 };
	for (int i = 0; i < 100000; i++) {
		uint64_t v = nam_rng_below(&r, 10);
		assert_true(v < 10);
		seen[v]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(seen[i], 9500, 10500); /* five standard deviations */
	assert_true(nam_rng_below(&r, 1) == 0);
	for (int i = 0; i < 1000; i++)
		assert_true(nam_rng_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void
secrets_fill_every_byte(void **state)
{
	(void)state;
	unsigned char or [64] = { 0 }, one[64];
	for (int i = 0; i < 20; i++) {
		nam_random_bytes(one, sizeof one);
		for (size_t j = 0; j < sizeof one; j++)
			or [j] |= one[j];
	}
	for (size_t j = 0; j < sizeof or ; j++)
		assert_int_not_equal(or [j], 0);
	nam_random_bytes(one, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_replays),
		cmocka_unit_test(it_is_xoshiro256starstar),
		cmocka_unit_test(below_is_in_range_and_even),
		cmocka_unit_test(secrets_fill_every_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
