/*
 * places_test.c -- places for anchors: several processes take and give at once, and one of them
 * dies at every verb.
 */
#include "cluster_format.h"

#include <base/fault.h>
#include <txn/testing/fixture.h>

enum { TAKER = 1, HELD = 24, TURNS = 150, SHARE = NET_EXTENT / TXN_ANCHOR_BYTES };

static const void *
memory(struct fixture *fix, net_addr at)
{
	return (const char *)net_sim_memory(fix->sim, net_region_of(at)) + net_offset_of(at);
}

/* Places in the stacks of all regions; none is there twice. */
static unsigned
free_places(struct fixture *fix)
{
	unsigned n = 0;
	for (unsigned r = 1; r <= 3; r++) {
		const struct net_super *s = memory(fix, net_at(r, 0));
		uint64_t number = s->root[TXN_ROOT_PLACES] & ((UINT64_C(1) << 28) - 1);
		for (unsigned steps = 0; number != 0; n++) {
			assert_true(++steps < 10000);
			assert_true(number * TXN_ANCHOR_BYTES < s->bump);
			number = *(const uint64_t *)memory(fix, net_at(r, number * TXN_ANCHOR_BYTES));
		}
	}
	return n;
}

/* A process that holds some places. Each word of a held place is its own number: another owner of
 * the place, or of the stack, would change it. */
struct hand {
	struct fixture *fix;
	unsigned p, n;
	net_addr at[HELD];
	bool ended;
};

static unsigned clashes;

static nam_status
mark(struct hand *h, net_addr at)
{
	uint64_t word[TXN_ANCHOR_BYTES / 8];
	nam_status st = net_read1(h->fix->w[h->p], at, word, sizeof word, NULL);
	for (unsigned i = 0; st == NAM_OK && i < TXN_ANCHOR_BYTES / 8; i++) {
		clashes += word[i] != 0;
		word[i] = at.bits + h->p;
	}
	return st == NAM_OK ? net_write1(h->fix->w[h->p], at, word, sizeof word, NULL) : st;
}

static nam_status
still(struct hand *h, net_addr at)
{
	uint64_t word[TXN_ANCHOR_BYTES / 8];
	nam_status st = net_read1(h->fix->w[h->p], at, word, sizeof word, NULL);
	for (unsigned i = 0; st == NAM_OK && i < TXN_ANCHOR_BYTES / 8; i++)
		clashes += word[i] != at.bits + h->p;
	return st;
}

static void
hand_main(void *arg)
{
	struct hand *h = arg;
	struct net_worker *w = h->fix->w[h->p];
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < TURNS; i++) {
		bool take = h->n == 0 || (h->n < HELD && nam_rng_below(net_rng(w), 2) == 0);
		if (take) {
			/* All want the same region: its stack is hot. Now and then the process
			 * stalls before its CAS. */
			if (nam_rng_below(net_rng(w), 4) == 0)
				net_sim_freeze_at(
				    h->fix->net[h->p], net_sim_verbs(h->fix->net[h->p]) + 3, 50000);
			st = txn_place_take(h->fix->db[h->p], w, 0, false, &h->at[h->n]);
			if (st == NAM_OK)
				st = mark(h, h->at[h->n++]);
		} else {
			net_addr last = h->at[--h->n];
			st = still(h, last);
			if (st == NAM_OK)
				st = txn_place_give(w, last);
		}
	}
	clashes += st != NAM_OK && st != NAM_GONE;
	h->ended = true;
}

static void
at_once(struct fixture *fix)
{
	struct hand h[PROCS];
	unsigned held = 0, extents = at_nodes(fix), was = free_places(fix);
	for (unsigned p = 0; p < fix->procs; p++) {
		h[p] = (struct hand){ .fix = fix, .p = p };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[p]), hand_main, &h[p], 128 << 10));
	}
	for (unsigned p = 0; p < fix->procs; p++)
		while (!h[p].ended)
			net_sleep(fix->w[0], 100000);
	for (unsigned p = 0; p < fix->procs; p++)
		held += h[p].n;
	if (nam_fault_any())
		return;
	extents -= at_nodes(fix);
	assert_int_equal(free_places(fix) + held, was + SHARE * extents);
	assert_true(extents <= (PROCS * HELD + SHARE - 1) / SHARE + PROCS);
}

static void
test_at_once(void **state)
{
	(void)state;
	clashes = 0;
	for (uint64_t seed = 1; seed <= 20; seed++)
		run(4, 2, seed, at_once);
	assert_int_equal(clashes, 0);
}

/* ---- a crash at every verb ---- */

static uint64_t crash_verb;
static unsigned died, lost_places;

static void
crashed(struct fixture *fix)
{
	struct hand h = { .fix = fix, .p = TAKER };
	unsigned extents = at_nodes(fix), was = free_places(fix);
	net_sim_crash_at(fix->sim, fix->net[TAKER], net_sim_verbs(fix->net[TAKER]) + crash_verb);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[TAKER]), hand_main, &h, 128 << 10));
	while (!h.ended && !net_sim_crashed(fix->net[TAKER]))
		net_sleep(fix->w[0], 100000);
	net_sleep(fix->w[0], 1000000);
	died += net_sim_crashed(fix->net[TAKER]);
	/* What it was about is lost, at most one extent's places, and nothing has two owners. */
	unsigned there = free_places(fix) + h.n, all = was + SHARE * (extents - at_nodes(fix));
	assert_true(there <= all + 1 && there + SHARE + 1 >= all);
	lost_places += all > there ? all - there : 0;
	struct hand next = { .fix = fix, .p = 0 };
	hand_main(&next);
	net_sim_bury(fix->sim, fix->net[TAKER]);
	while (!h.ended)
		net_sleep(fix->w[0], 100000);
}

static void
test_crash(void **state)
{
	(void)state;
	clashes = 0;
	for (crash_verb = 1; crash_verb < 200; crash_verb++)
		run(2, 2, crash_verb, crashed);
	printf("died %u times, lost %u places\n", died, lost_places);
	assert_true(died > 100 && lost_places > 0); /* the test notices a loss */
	assert_int_equal(clashes, 0);
}

/* Many tables share an extent, and a dropped one's place is the next one's. */
static void
shared(struct fixture *fix)
{
	unsigned before = at_nodes(fix);
	struct txn_table t[SHARE * 3];
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < SHARE * 3; i++) {
			t[i] = (struct txn_table){ .id = 100 + round * 1000 + i,
				.row_max = sizeof(struct row),
				.has_key = true,
				.same_key = row_same_key };
			assert_int_equal(txn_table_create(fix->tw[0], &t[i]), NAM_OK);
		}
		assert_true(before - at_nodes(fix) <= 3 + 3);
		for (unsigned i = 0; i < SHARE * 3; i++)
			assert_int_equal(txn_table_free(fix->tw[0], &t[i], 0), NAM_OK);
		net_sleep(fix->w[0], 300000000);
	}
}

static void
test_shared(void **state)
{
	(void)state;
	run(1, 2, 1, shared);
}

#ifdef NAM_TWINS
static void
test_twin(void **state)
{
	(void)state;
	nam_fault_on = NAM_FAULT_PLACE_UNTAGGED;
	printf("fault %s: ", nam_fault_name[nam_fault_on]);
	clashes = 0;
	for (uint64_t seed = 1; seed <= 120; seed++)
		run(4, 2, seed, at_once);
	nam_fault_on = NAM_FAULT_NONE;
	printf("%u words of places have changed\n", clashes);
	assert_true(clashes > 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_shared),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twin),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
