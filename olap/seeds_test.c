/*
 * seeds_test.c -- joins that seeds describe, and what goes wrong in them: each has the answer of
 * nested loops or ends as it may, and its memory goes back. seeds_test FIRST LAST plays others.
 */
#include "join_seeds.h"

#include <base/rounds.h>

static uint64_t first = 1, last; /* 0 = as many as the build and the environment say */

static void
seeds(void **state)
{
	unsigned ok[T_TROUBLES] = { 0 }, other[T_TROUBLES] = { 0 }, called = 0;
	(void)state;
	if (last == 0)
		last = nam_rounds(1000, 500, 150);
	for (uint64_t seed = first; seed <= last; seed++) {
		enum trouble trouble = (enum trouble)(seed % T_TROUBLES);
		struct world x = world_of(seed, trouble);
		world_open(&x);
		world_run(&x);
		const char *why = judge(&x, trouble);
		if (why != NULL)
			print_error("seed %llu: %s\n", (unsigned long long)seed, why);
		assert_null(why);
		*(x.ended == NAM_OK ? &ok[trouble] : &other[trouble]) += 1;
		for (unsigned i = 1; i < T_PROCESSES; i++)
			called += x.called && x.came[i];
		world_close(&x);
	}
	print_message("answered and ended otherwise: none %u %u, helper dies %u %u, maker dies %u %u, "
		      "rumour %u %u, freeze %u %u, cancel %u %u, full %u %u; %u helpers came by the "
		      "board\n",
	    ok[0], other[0], ok[1], other[1], ok[2], other[2], ok[3], other[3], ok[4], other[4], ok[5],
	    other[5], ok[6], other[6], called);
	if (last - first > 60)
		assert_true(called > 0 && ok[T_HELPER_DIES] > 0 && other[T_MAKER_DIES] > 0 &&
			    other[T_CANCEL] > 0 && other[T_FULL] > 0);
}

int
main(int argc, char **argv)
{
	if (argc == 3) {
		first = strtoull(argv[1], NULL, 10);
		last = strtoull(argv[2], NULL, 10);
	}
	const struct CMUnitTest tests[] = { cmocka_unit_test(seeds) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
