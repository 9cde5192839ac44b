/* logged_rows_test.c -- the rows that are kept, against a plain list of all versions. */
#include "logged_rows.h"

#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PLACES = 3000, TABLES = 40, STEPS = 200000, LONGEST = 9000 };

struct version {
	uint64_t cid;
	uint32_t len;
	char fill;
	bool deleted;
};

/* What should be kept of each place of each table. */
static struct version newest[TABLES][PLACES];

/* Some blocks lie side by side, some far apart, some in another region. */
static uint64_t
address(unsigned place)
{
	/* The last kind: two of them in a cell. */
	return place % 3 == 0   ? 4096 + 128 * (uint64_t)place
	       : place % 3 == 1 ? (UINT64_C(7) << 44) + 65536 * (uint64_t)place
				: (UINT64_C(3) << 44) + 96 * (uint64_t)place;
}

static uint32_t
random_len(struct nam_rng *rng)
{
	unsigned kind = (unsigned)nam_rng_below(rng, 100);
	return (uint32_t)nam_rng_below(rng, kind == 0 ? LONGEST : kind < 30 ? 300 : 40);
}

static void
compare(const struct cat_logged_rows *l)
{
	static bool seen[TABLES][PLACES];
	uint64_t all = 0;
	memset(seen, 0, sizeof seen);
	for (unsigned t = 0; t < TABLES; t++) {
		size_t n;
		uint64_t live = 0;
		const struct cat_logged_chunk *chunk = cat_logged_rows_chunks(l, 100 + 7 * t, &n);
		for (size_t i = 0; i < n; i++) {
			char *at = chunk[i].from;
			for (const struct cat_logged_row *x;
			     (x = cat_logged_rows_next(&chunk[i], &at)) != NULL;) {
				unsigned place = 0;
				while (place < PLACES && address(place) != x->at)
					place++;
				assert_true(place < PLACES);
				const struct version *v = &newest[t][place];
				assert_false(seen[t][place]);
				seen[t][place] = true;
				assert_false(v->deleted);
				assert_int_equal(x->table, 100 + 7 * t);
				assert_int_equal(x->cid, v->cid);
				assert_int_equal(x->len, v->len);
				for (uint32_t k = 0; k < x->len; k++)
					assert_int_equal(x->bytes[k], v->fill);
				live++;
			}
		}
		assert_int_equal(cat_logged_rows_live(l, 100 + 7 * t), live);
		all += live;
		for (unsigned p = 0; p < PLACES; p++)
			assert_true(seen[t][p] == (newest[t][p].cid > 0 && !newest[t][p].deleted));
	}
	assert_int_equal(cat_logged_rows_all(l), all);
}

static void
test_newest(void **state)
{
	(void)state;
	struct nam_rng rng;
	static char bytes[LONGEST];
	nam_rng_init(&rng, 20);
	struct cat_logged_rows *l = cat_logged_rows_open();
	assert_non_null(l);
	compare(l);
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned t = (unsigned)nam_rng_below(&rng, TABLES);
		/* Neighbours mostly, as a log has them. */
		unsigned p = (unsigned)(i % 8 ? (i / 8) % PLACES : nam_rng_below(&rng, PLACES));
		struct version v = { .cid = 1 + i - (i > 50 ? nam_rng_below(&rng, 50) : 0),
			.len = random_len(&rng),
			.fill = (char)nam_rng_below(&rng, 256),
			.deleted = nam_rng_below(&rng, 5) == 0 };
		v.len = v.deleted ? 0 : v.len;
		if (newest[t][p].cid == v.cid)
			continue; /* a commit writes a row once */
		memset(bytes, v.fill, v.len);
		assert_int_equal(
		    cat_logged_rows_keep(l, 100 + 7 * t, address(p), v.cid, v.deleted ? NULL : bytes, v.len),
		    NAM_OK);
		if (v.cid > newest[t][p].cid)
			newest[t][p] = v;
	}
	compare(l);
	cat_logged_rows_close(l);
}

/* A table of one short row takes no megabyte. */
static void
test_many_tables(void **state)
{
	(void)state;
	struct cat_logged_rows *l = cat_logged_rows_open();
	assert_non_null(l);
	for (uint32_t t = 1; t <= 20000; t++)
		assert_int_equal(cat_logged_rows_keep(l, t, 4096 * (uint64_t)t, t, "x", 1), NAM_OK);
	assert_int_equal(cat_logged_rows_all(l), 20000);
	for (uint32_t t = 1; t <= 20000; t++)
		assert_int_equal(cat_logged_rows_live(l, t), 1);
	assert_int_equal(cat_logged_rows_live(l, 20001), 0);
	cat_logged_rows_close(l);
}

/* Tables that come and go over the same blocks: what is kept of one does not slow down the next. */
static void
test_same_blocks(void **state)
{
	(void)state;
	struct cat_logged_rows *l = cat_logged_rows_open();
	assert_non_null(l);
	uint64_t cid = 1;
	for (uint32_t t = 1; t <= 20000; t++) {
		for (uint64_t k = 0; k < 20; k++)
			assert_int_equal(cat_logged_rows_keep(l, t, 65536 + 128 * k, cid, "row", 3), NAM_OK);
		cid++;
		for (uint64_t k = 0; k < 20; k++)
			assert_int_equal(cat_logged_rows_keep(l, t, 65536 + 128 * k, cid, NULL, 0), NAM_OK);
		cid++;
	}
	assert_int_equal(cat_logged_rows_all(l), 0);
	cat_logged_rows_close(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_newest), cmocka_unit_test(test_many_tables),
		cmocka_unit_test(test_same_blocks) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
