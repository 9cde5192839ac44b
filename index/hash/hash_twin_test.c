/*
 * hash_twin_test.c -- proof that the model detects errors: the index built again, broken in one
 * place, must be caught.
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
#include "dir.c"
#include "hash.c"
#include "resize.c"
#include "walk.c"
/* clang-format on */

#include <index/hash/hash_model.h>

enum {
	SOUND_SEEDS = 6,
	SEEDS = 100,
	/* Not the index but its watermark is broken. */
	REUSES_AT_ONCE = NAM_FAULTS_COUNT
};

/* The seed in which a violation was noticed, 0 = none. */
static uint64_t
caught(unsigned broken, enum model_kind kind, unsigned seeds, char words[200])
{
	nam_fault_on = broken == REUSES_AT_ONCE ? NAM_FAULT_NONE : (enum nam_fault)broken;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		if (broken == REUSES_AT_ONCE)
			cfg.reuse = REUSE_AT_ONCE;
		model_start(&m, &cfg);
		model_run(&m);
		memcpy(words, m.broken, sizeof m.broken);
		model_end(&m);
		if (words[0] != 0)
			return seed;
	}
	return 0;
}

static void
the_sound_one_is_not_caught(void **state)
{
	(void)state;
	char words[200];
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
		assert_int_equal(caught(NAM_FAULT_NONE, kind, SOUND_SEEDS, words), 0);
		assert_string_equal(words, "");
	}
}

static void
twins_are_caught(void **state)
{
	(void)state;
	const struct {
		unsigned twin;
		enum model_kind kind;
		const char *name;
	} want[] = {
		{ NAM_FAULT_ANY_SLOT, MODEL_RACE, nam_fault_name[NAM_FAULT_ANY_SLOT] },
		{ NAM_FAULT_NO_FREEZE, MODEL_GROW, nam_fault_name[NAM_FAULT_NO_FREEZE] },
		{ NAM_FAULT_BELIEVE_FROZEN, MODEL_GROW, nam_fault_name[NAM_FAULT_BELIEVE_FROZEN] },
		{ NAM_FAULT_MAKE_TWICE, MODEL_RACE, nam_fault_name[NAM_FAULT_MAKE_TWICE] },
		{ REUSES_AT_ONCE, MODEL_CHURN, "reuse-at-once" },
	};
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		char words[200];
		uint64_t seed = caught(want[i].twin, want[i].kind, SEEDS, words);
		printf("fault %s: seed %" PRIu64 ": %s\n", want[i].name, seed, words);
		assert_true(seed != 0);
	}
}

/* Two that only a process with an old directory notices. */
static void
stale_twins_are_caught(void **state)
{
	(void)state;
	static const enum nam_fault want[] = { NAM_FAULT_NONE, NAM_FAULT_ONE_TURN, NAM_FAULT_NO_WIPE };
	for (unsigned i = 0; i < 3; i++) {
		char words[200] = "";
		uint64_t at = 0, seed = 0, last;
		nam_fault_on = want[i];
		while (words[0] == 0 && ++seed <= (i == 0 ? 1 : 600)) {
			last = stale_world(seed, 0, words);
			/* The end: where the new table is written. */
			for (at = last > 14 ? last - 14 : 1; words[0] == 0 && at <= last; at++)
				stale_world(seed, at, words);
		}
		printf("fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[want[i]], seed, words);
		assert_true((words[0] != 0) == (i != 0));
	}
}

static void
a_maker_in_doubt_is_caught(void **state)
{
	(void)state;
	uint64_t seed = 0;
	unsigned lost = 0;
	bool late;
	nam_fault_on = NAM_FAULT_MAKE_IN_DOUBT;
	while (lost == 0 && ++seed <= 700)
		lost = doubt_world(seed, &late);
	nam_fault_on = NAM_FAULT_NONE;
	printf("fault %s: seed %" PRIu64 ": %u entries were lost\n", nam_fault_name[NAM_FAULT_MAKE_IN_DOUBT],
	    seed, lost);
	assert_true(lost > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sound_one_is_not_caught),
		cmocka_unit_test(twins_are_caught),
		cmocka_unit_test(stale_twins_are_caught),
		cmocka_unit_test(a_maker_in_doubt_is_caught),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
