/*
 * hash_twin_test.c -- proof that the model sees: the index built again, broken in one place, must be caught.
 *
 * This file contains the room's sources once more, with IDX_TWIN a variable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static unsigned twin, twin_state;
#define IDX_TWIN        twin
#define idx_twin_dice() (twin_state = twin_state * 1103515245 + 12345, twin_state >> 16)

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
	REUSES_AT_ONCE = IDX_TWINS
};

/* In which seed a violation was noticed; 0: in none. */
static uint64_t
caught(unsigned broken, enum model_kind kind, unsigned seeds, char words[200])
{
	twin = broken == REUSES_AT_ONCE ? IDX_TWIN_NONE : broken;
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
		assert_int_equal(caught(IDX_TWIN_NONE, kind, SOUND_SEEDS, words), 0);
		assert_string_equal(words, "");
	}
}

static void
twins_are_caught(void **state)
{
	(void)state;
	static const struct {
		unsigned twin;
		enum model_kind kind;
		const char *name;
	} want[] = {
		{ IDX_TWIN_ANY_SLOT, MODEL_RACE, "any slot" },
		{ IDX_TWIN_NO_FREEZE, MODEL_GROW, "no freeze" },
		{ IDX_TWIN_BELIEVE_FROZEN, MODEL_GROW, "believes frozen tables" },
		{ REUSES_AT_ONCE, MODEL_CHURN, "uses tables again at once" },
	};
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		char words[200];
		uint64_t seed = caught(want[i].twin, want[i].kind, SEEDS, words);
		printf("%s: seed %" PRIu64 ": %s\n", want[i].name, seed, words);
		assert_true(seed != 0);
	}
}

/* Two that only a process with an old directory notices. */
static void
stale_twins_are_caught(void **state)
{
	(void)state;
	static const unsigned want[] = { IDX_TWIN_NONE, IDX_TWIN_ONE_TURN, IDX_TWIN_NO_WIPE };
	static const char *const name[] = { "none", "one turn", "no wipe" };
	for (unsigned i = 0; i < 3; i++) {
		char words[200] = "";
		uint64_t at = 0, seed = 0, last;
		twin = want[i];
		while (words[0] == 0 && ++seed <= (i == 0 ? 1 : 60)) {
			last = stale_world(seed, 0, words);
			/* The end: where the new table is written. */
			for (at = last > 14 ? last - 14 : 1; words[0] == 0 && at <= last; at++)
				stale_world(seed, at, words);
		}
		printf("%s: seed %" PRIu64 ": %s\n", name[i], seed, words);
		assert_true((words[0] != 0) == (i != 0));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sound_one_is_not_caught),
		cmocka_unit_test(twins_are_caught),
		cmocka_unit_test(stale_twins_are_caught),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
