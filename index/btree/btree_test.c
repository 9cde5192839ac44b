/*
 * btree_test.c -- the tree on the simulated fabric: random histories against a judge
 * (btree_model.h), round trips, crashes, bad input.
 *
 * IDX_SEED=7 IDX_SEEDS=100 for other and more seeds.
 */
#include <index/btree/btree_model.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static unsigned
env(const char *name, unsigned otherwise)
{
	const char *v = getenv(name);
	return v != NULL ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

static void
play(enum model_kind kind, unsigned seeds)
{
	uint64_t from = env("IDX_SEED", 1), n = env("IDX_SEEDS", seeds);
	uint64_t torn = 0, rights = 0, splits = 0, repeats = 0, sames = 0, differs = 0, duplicates = 0,
		 full = 0, scans = 0, lookups = 0, changes = 0;
	for (uint64_t seed = from; seed < from + n; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		model_start(&m, &cfg);
		model_run(&m);
		for (unsigned p = 0; p < PROCS; p++) {
			struct idx_tree_counts c;
			idx_tree_counts(m.t[p], &c);
			torn += c.torn;
			rights += c.rights;
		}
		splits += m.shape.splits;
		repeats += m.repeats;
		sames += m.sames;
		differs += m.differs;
		duplicates += m.duplicates;
		full += m.full;
		scans += m.scans;
		lookups += m.lookups;
		changes += m.inserted + m.removed;
		char broken[sizeof m.broken];
		memcpy(broken, m.broken, sizeof broken);
		if (broken[0] != 0)
			fail_msg("world %u, seed %" PRIu64 ": %s", kind, seed, broken);
		model_end(&m);
	}
	printf("world %u: %" PRIu64 " seeds, %" PRIu64 " lookups, %" PRIu64 " scans, %" PRIu64
	       " changes, %" PRIu64 " splits, %" PRIu64 " torn, %" PRIu64 " rights, %" PRIu64
	       " duplicates, %" PRIu64 " full, %" PRIu64 " repeats, leaves the same %" PRIu64 ", not %" PRIu64
	       "\n",
	    kind, n, lookups, scans, changes, splits, torn, rights, duplicates, full, repeats, sames,
	    differs);
	/* A world in which nothing happens shows nothing. */
	assert_true(splits > 0 && torn > 0 && sames > 0 && differs > 0);
	if (kind == MODEL_RACE)
		assert_true(duplicates > 0);
	if (kind == MODEL_TIGHT)
		assert_true(full > 0);
	if (kind == MODEL_BREAKS)
		assert_true(repeats > 0);
}

static void
grows(void **state)
{
	(void)state;
	play(MODEL_GROW, 6);
}
static void
equal_keys(void **state)
{
	(void)state;
	play(MODEL_EQUAL, 4);
}
static void
races(void **state)
{
	(void)state;
	play(MODEL_RACE, 6);
}
static void
wide_keys(void **state)
{
	(void)state;
	play(MODEL_WIDE, 7);
}
static void
tight_memory(void **state)
{
	(void)state;
	play(MODEL_TIGHT, 4);
}
static void
broken_connections(void **state)
{
	(void)state;
	play(MODEL_BREAKS, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(equal_keys),
		cmocka_unit_test(races),
		cmocka_unit_test(wide_keys),
		cmocka_unit_test(tight_memory),
		cmocka_unit_test(broken_connections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
