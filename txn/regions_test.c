/*
 * regions_test.c -- clusters of many storage nodes: the packed formats hold the highest region, and
 * 200 and 1,023 simulated nodes make a cluster whose tables lie on all of them.
 */
#include <txn/cluster_format.h>
#include <txn/testing/fixture.h>

enum { HIGHEST = NET_REGIONS - 1, BATCH = 64 };

static unsigned keys;

/* ---- formats -------------------------------------------------------------------- */

static void
ledger_entries(void **state)
{
	(void)state;
	const unsigned region[] = { 1, 63, 64, 127, 1000, HIGHEST };
	const uint64_t number[] = { 1, 4095, NET_REGION_SIZE_MAX / NET_EXTENT - 1 };
	for (unsigned r = 0; r < sizeof region / sizeof *region; r++)
		for (unsigned i = 0; i < sizeof number / sizeof *number; i++) {
			uint64_t extent = net_at(region[r], number[i] * NET_EXTENT).bits;
			uint64_t most = TXN_LEDGER_WHOSE, entry = txn_ledger_entry(extent, most);
			assert_int_not_equal(entry, 0);
			assert_int_equal(txn_ledger_extent(entry), extent);
			assert_int_equal(txn_ledger_sweep(entry), most & ~TXN_LEDGER_INDEX);
			assert_true((entry & TXN_LEDGER_INDEX) != 0);
		}
	/* Beyond what an entry can name. */
	assert_int_equal(txn_ledger_entry(net_at(5, NET_REGION_SIZE_MAX).bits, 0), 0);
}

static void
list_heads(void **state)
{
	(void)state;
	const uint64_t at[] = { net_at(1, 64).bits, net_at(1000, NET_REGION_SIZE_MAX - 8).bits,
		net_at(HIGHEST, 24).bits, 0 };
	for (unsigned i = 0; i < sizeof at / sizeof *at; i++)
		for (uint64_t generation = 0; generation < 3000; generation += 7) {
			uint64_t head = txn_list(generation, at[i]);
			assert_int_equal(txn_list_at(head, generation), at[i]);
			assert_int_equal(txn_list_at(head, generation + 1), 0);
		}
}

static void
attempt_words(void **state)
{
	(void)state;
	const uint64_t identity = (UINT64_C(1) << NET_IDENTITY_BITS) - 1;
	const unsigned home[] = { 1, 64, 1000, HIGHEST };
	for (unsigned i = 0; i < sizeof home / sizeof *home; i++) {
		uint64_t w = txn_member_making(home[i], UINT64_MAX, identity);
		assert_true(txn_member_is_making(w));
		assert_int_equal(txn_member_home(w), home[i]);
		assert_int_equal(txn_member_identity(w), identity);
		assert_int_equal(txn_member_roster(w), 0);
		assert_int_not_equal(w, txn_member_making(home[i], 0, identity));
	}
	uint64_t at = net_at(HIGHEST, NET_REGION_SIZE_MAX - NET_EXTENT).bits;
	assert_false(txn_member_is_making(at));
	assert_int_equal(txn_member_roster(at), at);
}

static void
sets(void **state)
{
	(void)state;
	struct net_set s = { { 0 } }, t = { { 0 } };
	assert_true(net_set_none(&s));
	const unsigned region[] = { 1, 63, 64, 65, 128, 1000, HIGHEST };
	enum { N = sizeof region / sizeof *region };
	for (unsigned i = 0; i < N; i++)
		net_set_add(&s, region[i]);
	unsigned n = 0;
	for (unsigned r = 0; (r = net_set_next(&s, r)) < NET_REGIONS; r++)
		assert_int_equal(r, region[n++]);
	assert_int_equal(n, N);
	net_set_add(&t, 64);
	net_set_add(&t, 5);
	struct net_set rest = net_set_minus(&s, &t);
	assert_false(net_set_has(&rest, 64));
	assert_false(net_set_has(&rest, 5));
	assert_true(net_set_has(&rest, HIGHEST));
	net_set_add(&rest, 64);
	assert_true(net_set_same(&rest, &s));
	net_set_drop(&rest, 1);
	assert_false(net_set_same(&rest, &s));
	assert_false(net_set_has(&s, 65535)); /* of an address that makes no sense */
}

/* ---- clusters ---------------------------------------------------------------------- */

static void
read_all(struct fixture *fix, unsigned p, int64_t plus, struct net_set *met)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < keys; k++) {
		struct txn_row row;
		struct row r;
		nam_status st = get(fix, t, &fix->tab[p], k, &row, &r);
		assert_int_equal(st, k % 10 == 3 ? NAM_ABSENT : NAM_OK);
		if (st != NAM_OK)
			continue;
		assert_int_equal(r.value, (int64_t)k + (k % 10 == 5 ? plus : 0));
		net_set_add(met, net_region_of(row.at));
		if (k % BATCH == 0)
			nam_arena_reset(&fix->a);
	}
	txn_abort(t);
}

static void
scan_all(struct fixture *fix, unsigned p)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct txn_scan *s;
	struct txn_row row[BATCH];
	unsigned n, rows = 0;
	uint64_t sum = 0, want = 0, many = 0;
	assert_int_equal(txn_scan_open(t, &fix->tab[p], &s), NAM_OK);
	while (txn_scan_next(s, row, BATCH, &n) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++, rows++)
			sum += ((const struct row *)row[i].bytes)->key + 1;
	txn_scan_close(s);
	txn_abort(t);
	for (uint64_t k = 0; k < keys; k++)
		if (k % 10 != 3) {
			want += k + 1;
			many++;
		}
	assert_int_equal(rows, many);
	assert_int_equal(sum, want);
}

/* The next block of process 0 comes from this node: what it has at hand is left to a sweep. */
static void
from_node(struct fixture *fix, unsigned i)
{
	struct txn_alloc *a = fix->tab[0].view->stock->alloc[fix->tw[0]->number];
	if (a == NULL)
		return;
	memset(a->block, 0, sizeof a->block);
	a->spare.n = 0;
	a->region = i;
}

static void
on_all_nodes(struct fixture *fix)
{
	unsigned nodes = net_node_count(fix->net[0]);
	struct net_set met = { { 0 } };
	assert_int_equal(fix->db[0]->nregions, nodes);
	assert_int_equal(fix->db[1]->region_max, nodes);
	for (uint64_t k = 0; k < keys; k += BATCH) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t i = k; i < k + BATCH && i < keys; i++) {
			/* Every tenth row is deleted later: so the second round is one node on. */
			if (i < 2 * nodes)
				from_node(fix, (unsigned)((i + i / nodes) % nodes));
			assert_int_equal(insert(t, &fix->tab[0], i, (int64_t)i), NAM_OK);
		}
		commit_all(t);
		nam_arena_reset(&fix->a);
	}
	/* The other process updates some and deletes others, wherever they lie. */
	for (uint64_t k = 0; k < keys; k += 10) {
		struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
		if (k + 3 < keys)
			assert_int_equal(del(fix, t, &fix->tab[1], k + 3), NAM_OK);
		if (k + 5 < keys)
			assert_int_equal(set(fix, t, &fix->tab[1], k + 5, (int64_t)k + 5 + 1000), NAM_OK);
		commit_all(t);
		nam_arena_reset(&fix->a);
	}
	read_all(fix, 0, 1000, &met);
	read_all(fix, 1, 1000, &met);
	scan_all(fix, 0);
	scan_all(fix, 1);
	unsigned regions = 0;
	for (unsigned r = 0; (r = net_set_next(&met, r)) < NET_REGIONS; r++)
		regions++;
	assert_true(regions >= nodes * 9 / 10);
	assert_true(net_set_next(&met, nodes - nodes / 10) < NET_REGIONS);
	/* The roster names all nodes on each of them. */
	for (unsigned i = 0; i < nodes; i++) {
		const struct net_node_info *info = net_node(fix->net[0], i);
		const struct net_super *super = net_sim_memory(fix->sim, info->region);
		net_addr at = { txn_member_roster(super->root[TXN_ROOT_MEMBER]) };
		assert_int_equal(net_region_of(at), info->region);
		const char *mem = net_sim_memory(fix->sim, info->region);
		const struct txn_roster *r = (const void *)(mem + net_offset_of(at));
		const struct txn_roster_node *node =
		    (const void *)(mem + net_offset_of(at) + txn_roster_nodes_at(r->nodes));
		assert_int_equal(r->nodes, nodes);
		assert_int_equal(node[i].region, info->region);
		assert_int_equal(node[i].roster, at.bits);
	}
	/* A node that is gone takes its rows along, and no others. */
	unsigned gone = nodes - 1;
	net_sim_lose_node(fix->sim, gone);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	unsigned found = 0, lost = 0;
	for (uint64_t k = 0; k < keys && lost == 0; k++) {
		struct txn_row row;
		struct row r;
		nam_status st = get(fix, t, &fix->tab[0], k, &row, &r);
		found += st == NAM_OK && net_region_of(row.at) != gone;
		lost += st == NAM_GONE;
		assert_true(st == NAM_OK || st == NAM_GONE || st == NAM_ABSENT);
		if (k % BATCH == 0)
			nam_arena_reset(&fix->a);
	}
	assert_true(found > 0 && lost > 0);
	txn_abort(t);
	struct net_set broken;
	assert_true(net_worker_broken(fix->w[0], &broken));
	assert_true(net_set_has(&broken, gone) && net_worker_broke(fix->w[0], gone));
	net_set_drop(&broken, gone);
	assert_true(net_set_none(&broken));
}

static void
nodes_200(void **state)
{
	(void)state;
	fixture_nodes = 200;
	keys = 2000;
	for (uint64_t seed = 1; seed <= 2; seed++)
		run_lab(2, 2, seed, 2 << 20, 1024, on_all_nodes);
}

static void
nodes_1023(void **state)
{
	(void)state;
	fixture_nodes = HIGHEST;
	keys = 4000;
	run_lab(2, 2, 3, 2 << 20, 1024, on_all_nodes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger_entries),
		cmocka_unit_test(list_heads),
		cmocka_unit_test(attempt_words),
		cmocka_unit_test(sets),
		cmocka_unit_test(nodes_200),
		cmocka_unit_test(nodes_1023),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
