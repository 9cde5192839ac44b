/* status_test.c -- the table's names, texts and advice, and how an error line is filled. */
#include <base/status.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
every_row_has_words(void **state)
{
	(void)state;
	assert_int_equal(NAM_OK, 0);
	for (int st = 0; st < NAM_STATUS_COUNT; st++) {
		assert_memory_equal(nam_status_name((nam_status)st), "NAM_", 4);
		assert_true(strlen(nam_status_text((nam_status)st)) > 3);
		for (int other = 0; other < st; other++)
			assert_string_not_equal(
			    nam_status_text((nam_status)st), nam_status_text((nam_status)other));
	}
	assert_string_equal(nam_status_name(NAM_CONFLICT), "NAM_CONFLICT");
	assert_int_equal(nam_status_todo(NAM_OK), DO_GO_ON);
	assert_int_equal(nam_status_todo(NAM_CONFLICT), DO_RETRY);
	assert_int_equal(nam_status_todo(NAM_GONE), DO_RECONNECT);
}

static void
a_status_off_the_wire_is_survived(void **state)
{
	(void)state;
	assert_int_equal(nam_status_todo((nam_status)12345), DO_STOP);
	assert_string_equal(nam_status_name((nam_status)12345), "NAM_UNKNOWN");
	assert_non_null(nam_status_text((nam_status)-1));
}

static void
fail_fills_and_returns(void **state)
{
	(void)state;
	struct nam_err err = { .status = NAM_OK };
	assert_int_equal(nam_fail(&err, NAM_FULL, "node %d is %s", 3, "full"), NAM_FULL);
	assert_int_equal(err.status, NAM_FULL);
	assert_string_equal(err.text, "node 3 is full");
	assert_int_equal(nam_fail(NULL, NAM_IO, "no process listens"), NAM_IO);
	char wide[2000];
	memset(wide, 'x', sizeof wide - 1);
	wide[sizeof wide - 1] = 0;
	nam_fail(&err, NAM_IO, "%s", wide);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_words),
		cmocka_unit_test(a_status_off_the_wire_is_survived),
		cmocka_unit_test(fail_fills_and_returns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
