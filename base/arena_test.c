/* arena_test.c -- takes never overlap, a warm arena is reused, limits and absurd sizes are
 * refused. */
#include <base/arena.h>
#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void
takes_are_aligned_and_apart(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 256);
	struct nam_rng dice;
	nam_rng_init(&dice, 7);
	enum { N = 500 };
	unsigned char *p[N];
	size_t len[N];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			len[i] = nam_rng_below(&dice, i % 50 == 0 ? 2000 : 70);
			p[i] = nam_arena_take(&a, len[i]);
			assert_non_null(p[i]);
			assert_int_equal((uintptr_t)p[i] % 16, 0);
			memset(p[i], i & 0xff, len[i]);
		}
		for (int i = 0; i < N; i++)
			for (size_t j = 0; j < len[i]; j++)
				assert_int_equal(p[i][j], i & 0xff);
		nam_arena_reset(&a);
		assert_int_equal(a.used, 0);
	}
	nam_arena_fini(&a);
}

static void
nothing_is_still_a_place(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	char *x = nam_arena_take(&a, 0), *y = nam_arena_take(&a, 0);
	assert_non_null(x);
	assert_ptr_not_equal(x, y);
	assert_non_null(nam_arena_copy(&a, NULL, 0));
	assert_string_equal(nam_arena_str(&a, NULL, 0), "");
	nam_arena_fini(&a);
	nam_arena_fini(&a); /* twice is harmless */
}

static void
a_warm_arena_keeps_its_chunks(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 1024);
	void *first = nam_arena_take(&a, 600), *second = nam_arena_take(&a, 600);
	nam_arena_reset(&a);
	assert_ptr_equal(nam_arena_take(&a, 600), first);
	assert_ptr_equal(nam_arena_take(&a, 600), second);
	/* A large take in between gets a chunk of its own and loses none. */
	nam_arena_reset(&a);
	assert_ptr_equal(nam_arena_take(&a, 600), first);
	assert_non_null(nam_arena_take(&a, 5000));
	assert_ptr_equal(nam_arena_take(&a, 600), second);
	/* Trimmed, it has one chunk. */
	nam_arena_trim(&a);
	assert_non_null(a.head);
	assert_int_equal(a.used, 0);
	assert_ptr_equal(nam_arena_take(&a, 600), first);
	assert_ptr_equal(a.current, a.head);
	nam_arena_reset(&a);
	assert_non_null(nam_arena_take(&a, 1000));
	assert_ptr_equal(a.current, a.head);
	nam_arena_fini(&a);
	nam_arena_trim(&a);
	assert_null(a.head);
	nam_arena_fini(&a);
}

static void
a_huge_chunk_is_given_back(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 1024);
	assert_non_null(nam_arena_take(&a, 8 << 20));
	nam_arena_reset(&a);
	assert_null(a.head); /* beyond what reset keeps */
	char *p = nam_arena_take(&a, 10);
	assert_non_null(p);
	memset(p, 1, 10);
	nam_arena_fini(&a);
}

static void
the_limit_holds(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 4096);
	a.limit = 1000;
	assert_non_null(nam_arena_take(&a, 480));
	assert_non_null(nam_arena_take(&a, 480));
	assert_null(nam_arena_take(&a, 100));
	assert_non_null(nam_arena_take(&a, 16)); /* a refusal takes nothing */
	assert_null(nam_arena_take(&a, 1 << 20));
	nam_arena_reset(&a);
	assert_non_null(nam_arena_take(&a, 992));
	nam_arena_fini(&a);
}

static void
absurd_sizes_are_refused(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	volatile size_t below_zero = 0;
	for (size_t i = 1; i < 40; i++) {
		assert_null(nam_arena_take(&a, below_zero - i));
		assert_null(nam_arena_str(&a, "x", below_zero - i));
	}
	assert_int_equal(a.used, 0);
	nam_arena_fini(&a);
}

static void
strings_and_print(void **state)
{
	(void)state;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	assert_string_equal(nam_arena_str(&a, "hello world", 5), "hello");
	char *long_one = nam_arena_printf(&a, "%0100000d", 7);
	assert_int_equal(strlen(long_one), 100000);
	assert_int_equal(long_one[99999], '7');
	unsigned char *z = nam_arena_zero(&a, 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	assert_memory_equal(nam_arena_copy(&a, "abc", 3), "abc", 3);
	nam_arena_fini(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_are_aligned_and_apart),
		cmocka_unit_test(nothing_is_still_a_place),
		cmocka_unit_test(a_warm_arena_keeps_its_chunks),
		cmocka_unit_test(a_huge_chunk_is_given_back),
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(absurd_sizes_are_refused),
		cmocka_unit_test(strings_and_print),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
