/*
 * olap_twin_test.c -- proof that the seeds' joins detect errors: the room built again with its
 * fault points, broken in one place, must be caught.
 */
#include "join_seeds.h"

#include <base/fault.h>

#include <inttypes.h>

enum { SEEDS = 3000 };

/* The first seed whose judgement is bad, 0 = none. */
static uint64_t
caught(enum nam_fault fault, enum trouble trouble, unsigned most, const char **why)
{
	for (uint64_t seed = 1; seed <= most; seed++) {
		struct world x = world_of(seed, trouble);
		nam_fault_on = NAM_FAULT_NONE;
		world_open(&x);
		nam_fault_on = fault;
		world_run(&x);
		nam_fault_on = NAM_FAULT_NONE;
		*why = judge(&x, trouble);
		world_close(&x);
		if (*why != NULL)
			return seed;
	}
	return 0;
}

static void
twins_are_caught(void **state)
{
	(void)state;
	const struct {
		enum nam_fault fault;
		enum trouble trouble;
	} want[] = {
		{ NAM_FAULT_OLAP_NO_FLUSH, T_NONE },
		{ NAM_FAULT_OLAP_EARLY_OUTPUT, T_NONE },
		{ NAM_FAULT_OLAP_UNLISTED, T_NONE },
		{ NAM_FAULT_OLAP_MORSEL_TWICE, T_HELPER_DIES },
	};
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		const char *why;
		uint64_t seed = caught(want[i].fault, want[i].trouble, SEEDS, &why);
		printf("fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[want[i].fault], seed,
		    seed != 0 ? why : "");
		assert_true(seed != 0);
		/* The sound room passes where the twin was caught. */
		assert_int_equal(caught(NAM_FAULT_NONE, want[i].trouble, (unsigned)seed, &why), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(twins_are_caught) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
