/*
 * twopc_twin_test.c -- proof that the model detects errors: two-phase commit built again, broken
 * in one place, must be caught.
 *
 * This file contains the room's sources once more, and so has their fault points (base/fault.h) in
 * every build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* clang-format off */
#include "message.c"
#include "clock.c"
#include "rm.c"

#include "tm.c"
#include "client.c"
/* clang-format on */

#include <txn/twopc/twopc_model.h>

enum { SEEDS = 100 };

/* The seed in which a violation was noticed, 0 = none. */
static uint64_t
caught(enum nam_fault fault, unsigned seeds, char words[200])
{
	nam_fault_on = fault;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct model *m = malloc(sizeof *m);
		model_open(m, seed);
		model_run(m);
		memcpy(words, m->broken, sizeof m->broken);
		model_close(m);
		free(m);
		if (words[0] != 0)
			return seed;
	}
	return 0;
}

static void
test_twins(void **state)
{
	(void)state;
	char words[200];
	assert_int_equal(caught(NAM_FAULT_NONE, 10, words), 0);
	static const enum nam_fault twin[] = { NAM_FAULT_UNVALIDATED, NAM_FAULT_EARLY_SNAPSHOT };
	for (unsigned i = 0; i < sizeof twin / sizeof twin[0]; i++) {
		uint64_t seed = caught(twin[i], SEEDS, words);
		printf("fault %s: seed %llu: %s\n", nam_fault_name[twin[i]], (unsigned long long)seed, words);
		assert_true(seed != 0);
	}
	nam_fault_on = NAM_FAULT_NONE;
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_twins) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
