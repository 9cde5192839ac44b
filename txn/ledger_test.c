/* ledger_test.c -- an extent is at its node, in one entry of a ledger, or on its way; entries are
 * used again; at any crash. */
#include <txn/testing/fixture.h>

enum { TAKER = 1, MANY = 40, ROUNDS = 3000, EXTENTS = 256 /* a region's */ };

/* From outside: the owner of each extent. */
struct seen {
	unsigned at_nodes, listed, nobodys;
	uint64_t used, holes;
};

static char *
memory(struct fixture *fix, net_addr at)
{
	return (char *)net_sim_memory(fix->sim, net_region_of(at)) + net_offset_of(at);
}

static struct seen
look(struct fixture *fix)
{
	static bool met[NET_REGIONS][EXTENTS];
	struct seen s = { 0 };
	memset(met, 0, sizeof met);
	for (unsigned r = 1; r <= 3; r++) {
		const struct net_super *super = net_sim_memory(fix->sim, r);
		for (uint64_t k = super->bump / NET_EXTENT; k < super->size / NET_EXTENT; k++) {
			s.at_nodes++;
			met[r][k] = true;
		}
		uint64_t number = super->free_head & UINT32_MAX, depth = 0;
		while (number != 0) {
			const struct net_free *f = (const void *)memory(fix, net_at(r, number * NET_EXTENT));
			assert_true(number < EXTENTS && !met[r][number]);
			assert_true(depth == 0 || f->depth == depth - 1);
			depth = f->depth;
			met[r][number] = true;
			s.at_nodes++;
			number = f->next[0];
		}
		assert_true(depth <= 1);
	}
	const struct txn_anchor *a = (const void *)memory(fix, fix->tab[0].anchor);
	s.used = a->used;
	s.holes = a->holes;
	for (uint64_t i = 0; i < a->used; i++) {
		uint64_t word;
		net_addr entry = net_plus(fix->tab[0].anchor, TXN_ANCHOR_LEDGER + 8 * i);
		if (i >= TXN_LEDGER_INLINE) {
			/* In the only page. */
			memcpy(&word, memory(fix, net_plus(fix->tab[0].anchor, TXN_ANCHOR_PAGES)), 8);
			entry = net_plus((net_addr){ word }, 8 * (i - TXN_LEDGER_INLINE));
			assert_true(i < TXN_LEDGER_INLINE + TXN_LEDGER_PAGE);
			if (word == 0)
				continue;
		}
		memcpy(&word, memory(fix, entry), 8);
		if (word == 0)
			continue;
		net_addr at = { txn_ledger_extent(word) };
		bool *m = &met[net_region_of(at)][net_offset_of(at) / NET_EXTENT];
		assert_false(*m); /* two owners have it */
		*m = true;
		s.listed++;
	}
	for (unsigned r = 1; r <= 3; r++)
		for (unsigned k = 1; k < EXTENTS; k++)
			s.nobodys += !met[r][k];
	return s;
}

/* ---- entries are used again ---- */

/* Makes the first page of the ledger: it stays. */
static void
make_page(struct fixture *fix)
{
	struct txn_stock *v = fix->tab[0].view->stock;
	net_addr at[TXN_LEDGER_INLINE];
	unsigned given;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(
		    txn_extents_take(v, fix->w[0], TXN_LEDGER_INLINE, 1, 0, false, at, NULL), NAM_OK);
		if (i == 1)
			assert_int_equal(
			    txn_extents_give(v, fix->w[0], TXN_LEDGER_INLINE, at, NULL, &given), NAM_OK);
	}
}

static void
again(struct fixture *fix)
{
	struct txn_stock *v = fix->tab[0].view->stock;
	struct net_worker *w = fix->w[0];
	net_addr at[MANY];
	uint32_t entry[MANY], wrong[MANY];
	unsigned given;
	make_page(fix);
	struct seen before = look(fix);
	assert_int_equal(txn_extents_take(v, w, MANY, 1, 0, false, at, entry), NAM_OK);
	struct seen s = look(fix);
	assert_int_equal(s.listed, before.listed + MANY);
	assert_int_equal(s.at_nodes, before.at_nodes - MANY);
	/* Found by their places, by wrong places, and without places. */
	for (unsigned i = 0; i < MANY; i++)
		wrong[i] = i % 2 ? UINT32_MAX : entry[MANY - 1 - i];
	assert_int_equal(txn_extents_give(v, w, 10, at, entry, &given), NAM_OK);
	assert_int_equal(given, 10);
	assert_int_equal(txn_extents_give(v, w, 20, at + 10, wrong + 10, &given), NAM_OK);
	assert_int_equal(given, 20);
	assert_int_equal(txn_extents_give(v, w, 10, at + 30, NULL, &given), NAM_OK);
	assert_int_equal(given, 10);
	assert_int_equal(txn_extents_give(v, w, MANY, at, entry, &given), NAM_OK);
	assert_int_equal(given, 0); /* nothing goes back twice */
	s = look(fix);
	assert_int_equal(s.listed, before.listed);
	assert_int_equal(s.at_nodes, before.at_nodes);
	/* Replacing extents again and again does not make the ledger longer. */
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned n = 1 + i % MANY;
		assert_int_equal(txn_extents_take(v, w, n, 1, i, false, at, entry), NAM_OK);
		assert_int_equal(txn_extents_give(v, w, n, at, i % 2 ? entry : NULL, &given), NAM_OK);
		assert_int_equal(given, n);
	}
	s = look(fix);
	assert_int_equal(s.at_nodes, before.at_nodes);
	assert_true(s.used <= before.used + 2 * MANY);
	/* A count of empty entries that a crash left too great is corrected. */
	const struct txn_anchor *a = (const void *)memory(fix, fix->tab[0].anchor);
	for (unsigned i = 0; i < EXTENTS && look(fix).listed < a->used; i++) {
		((struct txn_anchor *)(uintptr_t)a)->holes = 7; /* few are not worth a look */
		assert_int_equal(txn_extents_take(v, w, 1, 1, 0, false, at, NULL), NAM_OK);
	}
	assert_int_equal(look(fix).listed, a->used);
	((struct txn_anchor *)(uintptr_t)a)->holes = 7;
	assert_int_equal(txn_extents_take(v, w, 1, 1, 0, false, at, NULL), NAM_OK);
	assert_int_equal(a->holes, 0);
	/* More than there is: no extent is kept. */
	before = look(fix);
	net_addr *all = malloc(4 * EXTENTS * sizeof *all);
	assert_int_equal(txn_extents_take(v, w, 4 * EXTENTS, 1, 0, false, all, NULL), NAM_FULL);
	s = look(fix);
	assert_int_equal(s.at_nodes, before.at_nodes);
	assert_int_equal(s.listed, before.listed);
	free(all);
}

static void
test_again(void **state)
{
	(void)state;
	run(1, 2, 1, again);
}

/* ---- several at once ---- */

struct hand {
	struct fixture *fix;
	unsigned p;
	bool ended;
};

static void
hand_main(void *arg)
{
	struct hand *h = arg;
	struct txn_stock *v = h->fix->tab[h->p].view->stock;
	struct net_worker *w = h->fix->w[h->p];
	net_addr at[MANY];
	uint32_t entry[MANY];
	for (unsigned i = 0; i < 60; i++) {
		unsigned n = 1 + (unsigned)nam_rng_below(net_rng(w), MANY), given;
		nam_status st = txn_extents_take(v, w, n, 1, i, false, at, entry);
		if (st == NAM_GONE)
			break;
		assert_int_equal(st, NAM_OK);
		net_sleep(w, nam_rng_below(net_rng(w), 20000));
		bool hint = nam_rng_below(net_rng(w), 2);
		st = txn_extents_give(v, w, n, at, hint ? entry : NULL, &given);
		if (st == NAM_GONE)
			break;
		assert_int_equal(st, NAM_OK);
		assert_int_equal(given, n);
	}
	h->ended = true;
}

static void
at_once(struct fixture *fix)
{
	struct hand h[PROCS];
	make_page(fix);
	struct seen before = look(fix);
	for (unsigned p = 0; p < fix->procs; p++) {
		h[p] = (struct hand){ .fix = fix, .p = p };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[p]), hand_main, &h[p], 128 << 10));
	}
	for (unsigned p = 0; p < fix->procs; p++)
		while (!h[p].ended)
			net_sleep(fix->w[0], 100000);
	struct seen s = look(fix);
	assert_int_equal(s.at_nodes, before.at_nodes);
	assert_int_equal(s.listed, before.listed);
	assert_int_equal(s.nobodys, before.nobodys);
	assert_true(s.used <= before.used + 4 * 2 * MANY);
}

static void
test_at_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run(4, 2, seed, at_once);
}

/* ---- a crash at every verb ---- */

static uint64_t crash_verb, verbs;
static unsigned most;

static void
crashed(struct fixture *fix)
{
	struct hand h = { .fix = fix, .p = TAKER };
	struct seen before = look(fix);
	uint64_t from = net_sim_verbs(fix->net[TAKER]);
	net_sim_crash_at(fix->sim, fix->net[TAKER], from + crash_verb);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[TAKER]), hand_main, &h, 128 << 10));
	while (!h.ended && !net_sim_crashed(fix->net[TAKER]))
		net_sleep(fix->w[0], 100000);
	net_sleep(fix->w[0], 1000000);
	struct seen s = look(fix); /* no extent has two owners */
	unsigned lost = s.nobodys - before.nobodys;
	assert_true(lost <= TXN_LEDGER_PART);
	most = lost > most ? lost : most;
	verbs++;
	net_sim_bury(fix->sim, fix->net[TAKER]);
	while (!h.ended)
		net_sleep(fix->w[0], 100000);
}

static void
test_crash(void **state)
{
	(void)state;
	for (crash_verb = 1; crash_verb < 400; crash_verb += 3)
		run(2, 2, crash_verb, crashed);
	printf("died %lu times; at most %u extents were lost\n", (unsigned long)verbs, most);
	assert_true(most > 0); /* the test notices a loss */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
