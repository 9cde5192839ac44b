/* number_test.c -- numbers and sizes, and texts that are neither. */
#include <base/number.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
numbers(void **state)
{
	(void)state;
	static const char *const wrong[] = { "", " 1", "+1", "-1", "1 ", "1k", "0x10", "1.0", "one",
		"18446744073709551616", "4", "101", NULL };
	uint64_t n = 77;
	for (unsigned i = 0; wrong[i] != NULL; i++)
		assert_false(nam_number(wrong[i], 5, 100, &n));
	assert_int_equal(n, 77);
	assert_true(nam_number("5", 5, 100, &n) && n == 5);
	assert_true(nam_number("00100", 5, 100, &n) && n == 100);
	assert_true(nam_number("18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX);
}

static void
sizes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t n;
	} right[] = { { "0", 0 }, { "7", 7 }, { "1k", 1024 }, { "1K", 1024 }, { "2kb", 2048 },
		{ "2KiB", 2048 }, { "512m", 512 << 20 }, { "3G", UINT64_C(3) << 30 },
		{ "1t", UINT64_C(1) << 40 }, { "16777215t", UINT64_C(16777215) << 40 } };
	static const char *const wrong[] = { "", "k", "1kk", "1ki b", "1bi", "1b", "1kbx", "-1k", "1 k", "1p",
		"16777216t", "18014398509481984k", NULL };
	uint64_t n = 77;
	for (unsigned i = 0; wrong[i] != NULL; i++)
		assert_false(nam_size(wrong[i], 0, UINT64_MAX, &n));
	assert_false(nam_size("1k", 1025, UINT64_MAX, &n));
	assert_false(nam_size("1k", 0, 1023, &n));
	assert_int_equal(n, 77);
	for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
		assert_true(nam_size(right[i].text, 0, UINT64_MAX, &n));
		assert_true(n == right[i].n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(numbers), cmocka_unit_test(sizes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
