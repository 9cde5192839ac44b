/* error_test.c -- the message of each status: a SQLSTATE, words, and advice that the user can
 * follow. */
#include <sql/common/error.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
each_status(void **state)
{
	(void)state;
	struct cat_table tab = { .path = "t" };
	for (int st = NAM_OK + 1; st < NAM_STATUS_COUNT; st++) {
		struct cat_err err = { 0 };
		assert_false(sql_status(&err, (nam_status)st, &tab));
		assert_int_equal(strlen(err.sqlstate), 5);
		assert_true(strlen(err.text) > 10);
		assert_null(strstr(err.text, "internal error"));
		assert_true(strlen(err.hint) + 1 < sizeof err.hint); /* whole */
		/* it judges histories, not memory */
		assert_null(strstr(err.hint, "namdb check"));
	}
	struct cat_err err = { 0 };
	sql_status(&err, NAM_CORRUPT, &tab);
	assert_string_equal(err.sqlstate, "XX001");
	assert_non_null(strstr(err.hint, "COPY"));
	assert_non_null(strstr(err.detail, "\"t\""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_status) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
