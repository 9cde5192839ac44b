/*
 * tpcw_paper_test.c -- proof that the check of rsi-paper detects errors: its client built again,
 * broken in one place, must be caught. So the client has its fault points in every build.
 */
#include "paper.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The exit code of a run in which clients meet. */
static int
play(enum nam_fault fault, char *how)
{
	char *argv[] = { "tpcw", "--sim", "fdr4x", "--protocol", "rsi-paper", "--products", "30", "--clients",
		"8", "--nodes", "2+3", "--seconds", "0.001", "--work", "1", how, NULL };
	nam_fault_on = fault;
	int code = bench_tpcw_paper((int)(sizeof argv / sizeof argv[0]) - 1 - (how == NULL), argv);
	nam_fault_on = NAM_FAULT_NONE;
	return code;
}

static void
test_twins(void **state)
{
	(void)state;
	static char one[] = "--one-at-a-time";
	assert_int_equal(play(NAM_FAULT_NONE, NULL), 0);
	assert_int_equal(play(NAM_FAULT_NONE, one), 0);
	assert_int_equal(play(NAM_FAULT_SLOT_UNVALIDATED, NULL), 1);
	assert_int_equal(play(NAM_FAULT_SLOT_UNVALIDATED, one), 1);
	printf("fault %s: seed 1: stock sold differs from order lines\n",
	    nam_fault_name[NAM_FAULT_SLOT_UNVALIDATED]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_twins) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
