/* peers_test.c -- the peers find what is there, and only that. */
#include "peers.h"

#include <bench/bench.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after these */
#include <cmocka.h>

static void
test_array(void **state)
{
	(void)state;
	static const uint64_t size[] = { 16, 17, 31, 1000, 4097, 100000 };
	for (unsigned s = 0; s < sizeof size / sizeof size[0]; s++) {
		struct ycsb_keys k;
		struct ycsb_array *a;
		struct nam_err err;
		uint64_t n = size[s], key[YCSB_LANES], at[YCSB_LANES];
		assert_int_equal(bench_keys_open(&k, YCSB_NOISED, n, s, NULL, &err), NAM_OK);
		assert_int_equal(bench_array_open(&a, &k, &err), NAM_OK);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t x = bench_keys_at(&k, i);
			assert_int_equal(bench_array_find(a, x), i);
			assert_int_equal(bench_array_find(a, x + 1), n);
			assert_int_equal(bench_array_find(a, x - 1), n);
			for (unsigned l = 0; l < YCSB_LANES; l++)
				key[l] = bench_keys_at(&k, (i + l * 7) % n) + l % 2;
			bench_array_find_lanes(a, key, at);
			for (unsigned l = 0; l < YCSB_LANES; l++)
				assert_int_equal(at[l], l % 2 ? n : (i + l * 7) % n);
		}
		assert_int_equal(bench_array_find(a, 0), n);
		assert_int_equal(bench_array_find(a, UINT64_MAX), n);
		bench_array_close(a);
		bench_keys_close(&k);
	}
}

enum { STEPS = 1600, KEYS = 1000 };

static void
drawn(struct ycsb_steps *s, const struct ycsb_keys *k, unsigned workload, enum ycsb_pick pick)
{
	struct ycsb_drawing d;
	struct nam_rng r;
	nam_rng_init(&r, 9);
	bench_draw_init(&d, k, workload, pick, k->n);
	bench_draw(&d, &r, s->step, s->n);
	s->latest = pick == YCSB_LATEST;
}

static void
test_runs(void **state)
{
	(void)state;
	static struct ycsb_step room[STEPS];
	struct ycsb_steps s[2] = { { .step = room, .n = STEPS }, { .step = room, .n = STEPS } };
	struct ycsb_keys k;
	struct ycsb_array *a;
	struct nam_err err;
	uint64_t bad = 0;
	assert_int_equal(bench_keys_open(&k, YCSB_LINEAR, KEYS, 1, NULL, &err), NAM_OK);
	assert_int_equal(bench_array_open(&a, &k, &err), NAM_OK);
	drawn(&s[0], &k, 2, YCSB_ZIPF);
	assert_true(bench_array_run(a, s, 2, 0.01, false, &bad) > 0);
	assert_true(bench_array_run(a, s, 1, 0.01, true, &bad) > 0);
	assert_int_equal(bad, 0);
	room[STEPS - 1].at++; /* a key that is not there is noticed */
	assert_true(bench_array_run(a, s, 1, 0.01, false, &bad) > 0);
	assert_true(bad > 0);
	bench_array_close(a);
	bench_keys_close(&k);
}

static void
test_redis(void **state)
{
	(void)state;
	static const uint32_t value[] = { 8, 32, 1024 };
	static struct ycsb_step room[STEPS];
	struct ycsb_steps s[2] = { { .step = room, .n = STEPS }, { .step = room, .n = STEPS } };
	struct ycsb_keys k;
	struct nam_err err;
	if (!bench_program_there("redis-server"))
		skip();
	assert_int_equal(bench_keys_open(&k, YCSB_LINEAR, KEYS, 1, NULL, &err), NAM_OK);
	for (unsigned v = 0; v < 3; v++) {
		struct ycsb_redis *r;
		uint64_t bad = 0;
		if (bench_redis_open(&r, &k, value[v], 2, &err) != NAM_OK)
			fail_msg("%s", err.text);
		for (unsigned w = 0; w < YCSB_WORKLOADS; w++) {
			if (w == 4)
				continue; /* E has scans */
			drawn(&s[0], &k, w, w == 3 ? YCSB_LATEST : YCSB_UNIFORM);
			s[1].latest = s[0].latest;
			assert_true(bench_redis_run(r, s, 0.02, &bad) > 0);
			assert_int_equal(bad, 0);
		}
		drawn(&s[0], &k, 2, YCSB_UNIFORM);
		s[1].latest = false;
		room[3].at = 8; /* below all keys; above them D may have put new ones */
		bench_redis_run(r, s, 0.02, &bad);
		assert_true(bad > 0);
		bench_redis_close(r);
	}
	bench_keys_close(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_redis),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
