/* newest_test.c -- which versions are the newest ones, against a plain list of all. */
#include "newest.h"

#include <base/rng.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PLACES = 6000, TABLES = 30, STEPS = 400000, TAKERS = 4 };

struct version {
	uint64_t cid;
	bool deleted;
};

static struct version newest[TABLES][PLACES];

/* Some blocks lie side by side, some as close as they can, some far apart in another region. */
static uint64_t
address(unsigned place)
{
	return place % 3 == 0   ? 4096 + 112 * (uint64_t)place
	       : place % 3 == 1 ? (UINT64_C(7) << 44) + 65536 * (uint64_t)place
				: (UINT64_C(3) << 44) + 8 * (uint64_t)(place / 3);
}

static void
test_newest(void **state)
{
	(void)state;
	struct nam_rng rng;
	nam_rng_init(&rng, 21);
	struct cat_newest *n = cat_newest_open();
	struct cat_newest_near near = { NULL };
	assert_non_null(n);
	assert_int_equal(cat_newest_all(n), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned t = (unsigned)nam_rng_below(&rng, TABLES);
		unsigned p = (unsigned)(i % 8 ? (i / 8) % PLACES : nam_rng_below(&rng, PLACES));
		struct version v = { .cid = 1 + i - (i > 50 ? nam_rng_below(&rng, 50) : 0),
			.deleted = nam_rng_below(&rng, 5) == 0 };
		if (newest[t][p].cid == v.cid)
			continue; /* a commit writes a row once */
		assert_int_equal(cat_newest_note(n, 100 + 7 * t, address(p), v.cid, v.deleted), NAM_OK);
		if (v.cid > newest[t][p].cid)
			newest[t][p] = v;
	}
	uint64_t all = 0;
	for (unsigned t = 0; t < TABLES; t++) {
		uint64_t live = 0;
		for (unsigned p = 0; p < PLACES; p++) {
			const struct version *v = &newest[t][p];
			bool is = v->cid > 0 && !v->deleted;
			live += is;
			assert_false(cat_newest_take(n, &near, 100 + 7 * t, address(p), v->cid + 1));
			assert_false(cat_newest_take(n, &near, 101 + 7 * t, address(p), v->cid));
			assert_true(cat_newest_take(n, &near, 100 + 7 * t, address(p), v->cid) == is);
			assert_false(cat_newest_take(n, &near, 100 + 7 * t, address(p), v->cid));
		}
		assert_int_equal(cat_newest_live(n, 100 + 7 * t), live);
		all += live;
	}
	assert_int_equal(cat_newest_all(n), all);
	assert_int_equal(cat_newest_live(n, 1), 0);
	assert_int_equal(cat_newest_note(n, 1, 12, 1, false), NAM_CORRUPT);
	cat_newest_close(n);
}

/* Each place of a page has a row. */
static void
test_full_page(void **state)
{
	(void)state;
	struct cat_newest *n = cat_newest_open();
	struct cat_newest_near near = { NULL };
	assert_non_null(n);
	for (uint64_t round = 1; round <= 2; round++)
		for (uint64_t at = 65536; at < 2 * 65536; at += 8)
			assert_int_equal(cat_newest_note(n, 20, at, round, false), NAM_OK);
	assert_int_equal(cat_newest_all(n), 65536 / 8);
	for (uint64_t at = 65536; at < 2 * 65536; at += 8) {
		assert_false(cat_newest_take(n, &near, 20, at, 1));
		assert_true(cat_newest_take(n, &near, 20, at, 2));
	}
	cat_newest_close(n);
}

struct taker {
	const struct cat_newest *n;
	uint64_t taken;
};

static void *
take_all(void *arg)
{
	struct taker *k = arg;
	struct cat_newest_near near = { NULL };
	for (uint64_t i = 0; i < PLACES; i++)
		k->taken += cat_newest_take(k->n, &near, 20, 128 * (1 + i), 5);
	return NULL;
}

/* A checkpoint has rows that are in the log already: one thread writes each. */
static void
test_threads(void **state)
{
	(void)state;
	struct cat_newest *n = cat_newest_open();
	struct taker k[TAKERS];
	pthread_t thread[TAKERS];
	uint64_t taken = 0;
	assert_non_null(n);
	for (uint64_t i = 0; i < PLACES; i++)
		assert_int_equal(cat_newest_note(n, 20, 128 * (1 + i), 5, false), NAM_OK);
	for (unsigned i = 0; i < TAKERS; i++) {
		k[i] = (struct taker){ .n = n };
		assert_int_equal(pthread_create(&thread[i], NULL, take_all, &k[i]), 0);
	}
	for (unsigned i = 0; i < TAKERS; i++) {
		pthread_join(thread[i], NULL);
		taken += k[i].taken;
	}
	assert_int_equal(taken, PLACES);
	cat_newest_close(n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_newest), cmocka_unit_test(test_full_page),
		cmocka_unit_test(test_threads) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
