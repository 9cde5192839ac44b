/*
 * refer_test.c -- rows that refer to others: whatever transactions and crashes do, no committed row
 * refers to one that is gone.
 *
 * Rows below FIRST are referred to, and have values below 0. A row above it refers to the row whose
 * key is its value, by which an index finds it.
 */
#include <base/fault.h>
#include <txn/testing/fixture.h>

enum { US = 1000, DEAD = 1, KEYS = 4, FIRST = 100, STACK = 128 << 10, CLIENTS = 6, LEASE_NS = 100000000 };

static const struct txn_order orders[1] = {
	{ .words = 1, .key = row_by_value, .options = { .cache = IDX_TREE_INNER } },
};

/* A twin is to be wrong: it is counted. */
static unsigned wrong, referred, removed, lost;
/* How rows that refer are found: by their values; not at all; or by their keys, which are FIRST and
 * the key they refer to. */
static enum { BY_ORDER, BY_HASH, BY_KEY, WAYS } way;

/* The hash of a key is the key; of some it cannot be told. */
static enum txn_referring
refers(const struct txn_table *t, const void *arg, const void *row, uint32_t len, uint64_t *hash)
{
	struct row r;
	(void)t;
	assert_ptr_equal(arg, &way);
	assert_int_equal(len, sizeof r);
	memcpy(&r, row, sizeof r);
	*hash = (uint64_t)r.value;
	return r.value < 0 ? TXN_REFERS_NOT : r.key % 7 == 0 ? TXN_REFERS_MAYBE : TXN_REFERS;
}

/* ---- what one client does ---- */

/* NAM_ABSENT: there is no such row, as far as t sees. */
static nam_status
refer(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t at, uint64_t key)
{
	struct txn_row row;
	struct row r;
	nam_status st = get(fix, t, tab, key, &row, &r);
	if (st == NAM_OK)
		st = insert(t, tab, at, (int64_t)key);
	return st == NAM_OK ? txn_rely(t, tab, &row, -1) : st;
}

/* Rows that refer to key, as t sees them, are deleted; or (cascade false) NAM_DUPLICATE. */
static nam_status
see_to(struct txn *t, struct txn_table *tab, uint64_t key, bool cascade)
{
	const uint64_t words[IDX_TREE_WORDS] = { key };
	const struct idx_tree_range range = { .low = words, .high = words };
	struct txn_range *r;
	struct txn_row row[16];
	unsigned n = 1;
	nam_status st = txn_range_open(t, tab, 0, &range, &r);
	if (st != NAM_OK)
		return st;
	while (st == NAM_OK && (st = txn_range_next(r, row, 16, &n)) == NAM_OK && n > 0) {
		if (!cascade)
			st = NAM_DUPLICATE;
		for (unsigned i = 0; st == NAM_OK && i < n; i++) {
			st = txn_lock(t, tab, &row[i]);
			if (st == NAM_OK)
				st = txn_delete(t, tab, &row[i]);
			else if (st == NAM_ABSENT)
				st = NAM_OK;
		}
	}
	txn_range_close(r);
	return st;
}

static nam_status
take_away(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key, bool cascade)
{
	const uint64_t words[IDX_TREE_WORDS] = { key };
	const struct txn_forbid by_order = { .table = tab, .low = words, .high = words };
	const struct txn_forbid by_hash = {
		.table = tab, .order = -1, .refers = refers, .arg = &way, .hash = key
	};
	const uint64_t at = FIRST + key;
	const struct txn_forbid by_key = {
		.table = tab, .order = -1, .key = &at, .key_len = 8, .hash = nam_hash(&at, 8, tab->id)
	};
	nam_status st = del(fix, t, tab, key);
	if (st == NAM_OK)
		st = txn_forbid(t, way == BY_HASH ? &by_hash : way == BY_KEY ? &by_key : &by_order);
	if (st == NAM_OK)
		st = see_to(t, tab, key, cascade);
	return st == NAM_OK ? txn_forbidden(t) : st;
}

struct one {
	struct fixture *fix;
	unsigned number, rounds;
};
static unsigned running; /* clients of processes that live */
static uint64_t die_at;  /* the verb at which a process dies; 0 = none does */

static void
client(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	struct txn_table *tab = &fix->tab[p];
	struct nam_rng *d = net_rng(fix->w[p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn *t;
		if (net_sim_crashed(fix->net[p]) ||
		    txn_begin(fix->tw[p], (enum txn_iso)nam_rng_below(d, 3), &t) != NAM_OK)
			break; /* its process has died */
		uint64_t key = nam_rng_below(d, KEYS);
		unsigned what = (unsigned)nam_rng_below(d, 8);
		uint64_t at = way == BY_KEY ? FIRST + key : FIRST + o->number * UINT64_C(1000) + i;
		nam_status st = NAM_OK;
		if (nam_rng_below(d, 2) == 0) /* it may know less than others */
			net_sleep(fix->w[p], nam_rng_below(d, 60) * US);
		if (what < 4)
			st = refer(fix, t, tab, at, key);
		else if (what < 6)
			st = take_away(fix, t, tab, key, what == 4);
		else if (what == 6)
			st = insert(t, tab, key, -1);
		else
			st = set(fix, t, tab, key, -1 - (int64_t)nam_rng_below(d, 5));
		if (nam_rng_below(d, 2) == 0)
			net_sleep(fix->w[p], nam_rng_below(d, 60) * US);
		if (st != NAM_OK)
			txn_abort(t);
		else
			st = txn_commit(t, NULL);
		referred += st == NAM_OK && what < 4;
		removed += st == NAM_OK && (what == 4 || what == 5);
		lost += st == NAM_CONFLICT;
	}
	running -= p != DEAD || die_at == 0;
}

/* Every row that refers finds what it refers to. */
static void
all_stand(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	struct txn_scan *scan;
	struct txn_row row[16];
	bool there[KEYS] = { false };
	unsigned n = 1, rows[KEYS] = { 0 };
	assert_int_equal(txn_scan_open(t, &fix->tab[0], &scan), NAM_OK);
	while (n > 0) {
		assert_int_equal(txn_scan_next(scan, row, 16, &n), NAM_OK);
		for (unsigned i = 0; i < n; i++) {
			struct row r;
			memcpy(&r, row[i].bytes, sizeof r);
			if (r.key < FIRST)
				there[r.key] = true;
			else
				rows[r.value]++;
		}
	}
	txn_scan_close(scan);
	txn_abort(t);
	for (unsigned k = 0; k < KEYS; k++) {
		wrong += !there[k] && rows[k] > 0;
		assert_true(there[k] || rows[k] == 0 || nam_fault_any());
	}
}

static void
many(struct fixture *fix)
{
	struct one o[CLIENTS];
	fill(fix, KEYS, -1);
	running = CLIENTS;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i, .rounds = 25 };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	while (running > 0) {
		net_sleep(fix->w[0], 500 * US);
		all_stand(fix);
	}
	net_sleep(fix->w[0], 20000 * US);
	all_stand(fix);
}

static void
test_many(void **state)
{
	(void)state;
	referred = removed = lost = 0;
	die_at = 0;
	for (uint64_t seed = 1; seed <= 90; seed++) {
		way = seed % WAYS;
		run_sized(3, 2 + (unsigned)seed % 3, seed, 16 << 20, many);
	}
	printf("%u rows that refer, %u keys gone, %u conflicts\n", referred, removed, lost);
	assert_true(referred > 1000 && removed > 150 && lost > 100);
}

/* ---- a process dies at any verb ---- */

static void
one_dies(struct fixture *fix)
{
	static struct one o[CLIENTS];
	fill(fix, KEYS, -1);
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + die_at);
	running = CLIENTS - CLIENTS / fix->procs;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i, .rounds = 25 };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	net_sleep(fix->w[0], 8 * (uint64_t)LEASE_NS);
	for (unsigned i = 0; i < 200 && running > 0; i++)
		net_sleep(fix->w[0], (uint64_t)LEASE_NS);
	assert_int_equal(running, 0);
	all_stand(fix);
	if (net_sim_crashed(fix->net[DEAD]))
		net_sim_bury(fix->sim, fix->net[DEAD]);
}

static void
test_dies(void **state)
{
	(void)state;
	for (uint64_t seed = 200; seed < 260; seed++) {
		way = seed % 2 ? BY_ORDER : BY_KEY;
		die_at = 5 + (seed - 200) * 7;
		run_sized(3, 2, seed, 16 << 20, one_dies);
	}
}

/* ---- a change between the statement's snapshot and its look ---- */

/* A row that refers to a key: another transaction changes its row, or takes it away. */
static void
late(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	fill(fix, 4, -1);
	for (unsigned i = 0; i < 4; i++) {
		const bool statement = i & 1, deletes = i & 2;
		struct txn_row row;
		struct row r;
		struct txn *t = begin(fix, 0, statement ? TXN_READ_COMMITTED : TXN_REPEATABLE_READ);
		assert_int_equal(get(fix, t, tab, 3, &row, &r), NAM_OK); /* the snapshot is taken */
		struct txn *u = begin(fix, 0, TXN_READ_COMMITTED);
		if (deletes)
			assert_int_equal(take_away(fix, u, tab, i, false), NAM_OK);
		else
			assert_int_equal(set(fix, u, tab, i, -1), NAM_OK);
		assert_int_equal(txn_commit(u, NULL), NAM_OK);
		assert_int_equal(get(fix, t, tab, i, &row, &r), NAM_OK);
		assert_true(row.cid != row.newest);
		assert_int_equal(insert(t, tab, FIRST + i, (int64_t)i), NAM_OK);
		nam_status st = txn_rely(t, tab, &row, -1);
		assert_int_equal(st, statement && deletes ? NAM_ABSENT : NAM_OK);
		if (st == NAM_OK)
			assert_int_equal(txn_commit(t, NULL), deletes ? NAM_CONFLICT : NAM_OK);
		else
			txn_abort(t);
	}
}

static void
test_late(void **state)
{
	(void)state;
	way = BY_KEY;
	run_sized(1, 2, 3, 16 << 20, late);
}

/* ---- what it costs ---- */

/* Rows referred to are looked at together. */
static void
costs(struct fixture *fix)
{
	uint32_t trips[4];
	fill(fix, 64, -1);
	for (unsigned n = 0; n < 5; n++) { /* the first one warms up */
		static const unsigned rows[] = { 0, 1, 30, 60 };
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		unsigned i = n > 0 ? n - 1 : 0;
		assert_int_equal(insert(t, &fix->tab[0], FIRST + n, 1), NAM_OK);
		for (unsigned k = 0; k < rows[i]; k++) {
			struct txn_row row;
			struct row r;
			assert_int_equal(get(fix, t, &fix->tab[0], k, &row, &r), NAM_OK);
			assert_int_equal(txn_rely(t, &fix->tab[0], &row, -1), NAM_OK);
		}
		txn_set_finish(t, true);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		trips[i] = txn_last_commit_round_trips(fix->tw[0]);
	}
	printf("round trips of COMMIT: %u; of a row that refers to 1, 30, 60 others: %u, %u, %u\n", trips[0],
	    trips[1], trips[2], trips[3]);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(trips[i], trips[0] + 1);
}

static void
test_costs(void **state)
{
	(void)state;
	run_sized(1, 2, 5, 16 << 20, costs);
}

/* ---- the faults ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const enum nam_fault fault[] = { NAM_FAULT_FK_UNLOCKED, NAM_FAULT_FK_UNASKED };
	unsigned missed = 0;
	die_at = 0;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_fault_on = fault[i];
		wrong = 0;
		for (uint64_t seed = 1; seed <= 30; seed++) {
			way = seed % WAYS;
			run_sized(3, 2, seed, 16 << 20, many);
		}
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: %u times rows that refer to nothing\n", nam_fault_name[fault[i]], wrong);
		missed += wrong == 0;
	}
	assert_int_equal(missed, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_costs),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	fixture_order = orders;
	fixture_orders = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
