/* latest_test.c -- transactions without a snapshot: what they cost, what they refuse, and that none
 * of them loses a write. */
#include <txn/testing/fixture.h>

enum { CLIENTS = 9, ROUNDS = 25, KEYS = 3, NEW_KEYS = 4, STACK = 128 << 10, US = 1000 };

static struct txn *
begin_latest(struct fixture *fix, unsigned p)
{
	struct txn *t = NULL;
	assert_int_equal(txn_begin_latest(fix->tw[p], NULL, &t), NAM_OK);
	return t;
}

static struct txn_put
put_of(struct txn_table *tab, const struct row *r)
{
	return (struct txn_put){ .table = tab,
		.key = &r->key,
		.key_len = 8,
		.hash = nam_hash(&r->key, 8, tab->id),
		.bytes = r,
		.len = sizeof *r };
}

/* Gets the rows of keys 0 .. n-1 and adds 1 to each; inserts m rows from `from` on, whose keys were
 * looked up beside the READs. */
static nam_status
order(struct fixture *fix, struct txn *t, unsigned p, unsigned n, uint64_t from, unsigned m)
{
	uint64_t key[KEYS];
	struct txn_get g[KEYS];
	struct row r[NEW_KEYS];
	struct txn_put put[NEW_KEYS];
	struct txn_table *tab = &fix->tab[p];
	for (unsigned i = 0; i < n; i++) {
		key[i] = i;
		g[i] = (struct txn_get){
			.table = tab, .key = &key[i], .key_len = 8, .hash = nam_hash(&key[i], 8, tab->id)
		};
	}
	for (unsigned i = 0; i < m; i++) {
		r[i] = mk(from + i, 7);
		put[i] = put_of(tab, &r[i]);
	}
	nam_status st = txn_get_ahead(t, g, n, put, m, &fix->a);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		void *bytes;
		assert_int_equal(g[i].status, NAM_OK);
		if ((st = txn_edit(t, tab, &g[i].row, &bytes)) == NAM_OK) {
			struct row *row = bytes;
			*row = mk(row->key, row->value + 1);
		}
	}
	return st == NAM_OK ? txn_insert(t, put, m) : st;
}

/* ---- cost ---- */

static void
cost(struct fixture *fix)
{
	struct net_counts before, sum;
	fill(fix, KEYS, 0);
	/* The first ones take extents and intents, and warm the caches. */
	for (unsigned i = 0; i < 3; i++) {
		struct txn *t = begin_latest(fix, 0);
		assert_int_equal(order(fix, t, 0, KEYS, 100 + 10 * i, NEW_KEYS), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		net_sleep(fix->w[0], 20000 * US); /* the watermark passes it: nothing to archive */
	}
	struct txn *t = begin_latest(fix, 0);
	assert_int_equal(net_counts_verbs(txn_counts(t)), 0); /* no snapshot */
	assert_int_equal(order(fix, t, 0, KEYS, 200, NEW_KEYS), NAM_OK);
	before = *txn_counts(t);
	assert_int_equal(before.round_trips, 1); /* rows and index, side by side */
	assert_int_equal(net_counts_verbs(&before), KEYS + NEW_KEYS);
	sum = (struct net_counts){ 0 };
	txn_set_counts_sink(t, &sum);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_int_equal(txn_last_commit_round_trips(fix->tw[0]), 2);
	net_sleep(fix->w[0], 1000 * US);
	/* READs; entries; locks and claim; intent and line; versions; directories and words;
	 * mark. */
	assert_int_equal(net_counts_verbs(&sum), KEYS + NEW_KEYS + NEW_KEYS + (KEYS + NEW_KEYS) + 1 + 2 +
						     (KEYS + NEW_KEYS) + 2 * (KEYS + NEW_KEYS) + 1);
	/* Behind it a snapshot shows all. */
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[1], k), 4);
	for (uint64_t k = 200; k < 200 + NEW_KEYS; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[1], k), 7);
	txn_abort(t);
}

static void
test_cost(void **state)
{
	(void)state;
	run_sized(2, 2, 5, 16 << 20, cost);
}

/* ---- what it refuses ---- */

static void
refused(struct fixture *fix)
{
	struct txn_scan *scan;
	struct row r = mk(1, 5);
	struct txn_table *tab = &fix->tab[0];
	fill(fix, KEYS, 1);
	struct txn *t = begin_latest(fix, 0);
	assert_int_equal(txn_scan_open(t, tab, &scan), NAM_UNSUPPORTED);
	assert_int_equal(txn_lock_table(t, tab), NAM_UNSUPPORTED);
	/* It wrote nothing: what it read may have been of different moments, and it may say so. */
	assert_int_equal(value_of(fix, t, tab, 0), 1);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	/* A row read and left alone. */
	t = begin_latest(fix, 0);
	assert_int_equal(value_of(fix, t, tab, 0), 1);
	assert_int_equal(set(fix, t, tab, 1, 2), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_INVALID);
	/* A key that was looked up, is not there, and was not inserted. */
	t = begin_latest(fix, 0);
	assert_int_equal(value_of(fix, t, tab, 77), -1);
	assert_int_equal(set(fix, t, tab, 1, 2), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_INVALID);
	t = begin_latest(fix, 0);
	assert_int_equal(value_of(fix, t, tab, 77), -1);
	assert_int_equal(set(fix, t, tab, 1, 2), NAM_OK);
	assert_int_equal(insert(t, tab, 77, 3), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	/* A key that is there: found at the insert, although its lookup was made beforehand. */
	t = begin_latest(fix, 0);
	struct txn_put p = put_of(tab, &r);
	assert_int_equal(txn_get_ahead(t, NULL, 0, &p, 1, &fix->a), NAM_OK);
	assert_int_equal(txn_insert(t, &p, 1), NAM_DUPLICATE);
	txn_abort(t);
	/* Nothing of what was refused is there, and nothing stayed locked. */
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), 1);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 1), 2);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 77), 3);
	uint64_t locked;
	assert_int_equal(txn_table_locks(t, &fix->tab[1], &locked), NAM_OK);
	assert_int_equal(locked, 0);
	txn_abort(t);
}

static void
test_refused(void **state)
{
	(void)state;
	run_sized(2, 2, 9, 16 << 20, refused);
}

/* ---- entries that COMMIT makes ---- */

static void
entry_count(void *arg, net_addr block)
{
	(void)block;
	++*(unsigned *)arg;
}

static unsigned
entries(struct fixture *fix)
{
	unsigned n = 0;
	assert_int_equal(idx_walk(fix->w[0], fix->tab[0].view->index, entry_count, &n), NAM_OK);
	return n;
}

static void
due(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	struct row r = mk(10, 1), s = mk(11, 1);
	struct txn_put p[2] = { put_of(tab, &r), put_of(tab, &s) };
	txn_collect_at_once(fix->db[0]);
	fill(fix, 1, 1);
	assert_int_equal(entries(fix), 1);
	/* Own inserts are found again, before their entries are there; a second one of a key is
	 * refused. */
	struct txn *t = begin_latest(fix, 0);
	assert_int_equal(txn_get_ahead(t, NULL, 0, p, 2, &fix->a), NAM_OK);
	assert_int_equal(txn_insert(t, p, 1), NAM_OK);
	assert_int_equal(entries(fix), 1);
	assert_int_equal(value_of(fix, t, tab, 10), 1);
	assert_int_equal(txn_insert(t, p, 1), NAM_DUPLICATE);
	txn_abort(t);
	net_sleep(fix->w[0], 60000 * US);
	assert_int_equal(entries(fix), 1);
	/* Aborted before COMMIT: no entry was made. */
	t = begin_latest(fix, 0);
	assert_int_equal(txn_get_ahead(t, NULL, 0, p, 2, &fix->a), NAM_OK);
	assert_int_equal(txn_insert(t, p, 2), NAM_OK);
	txn_abort(t);
	assert_int_equal(entries(fix), 1);
	/* Back to a savepoint: one of two stays. */
	t = begin_latest(fix, 0);
	assert_int_equal(txn_get_ahead(t, NULL, 0, p, 2, &fix->a), NAM_OK);
	assert_int_equal(txn_insert(t, p, 1), NAM_OK);
	uint32_t mark = txn_mark(t);
	assert_int_equal(txn_insert(t, p + 1, 1), NAM_OK);
	assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_int_equal(entries(fix), 2);
	/* Deleted and inserted again in one transaction. */
	t = begin_latest(fix, 0);
	assert_int_equal(txn_get_ahead(t, NULL, 0, p + 1, 1, &fix->a), NAM_OK);
	assert_int_equal(txn_insert(t, p + 1, 1), NAM_OK);
	assert_int_equal(del(fix, t, tab, 11), NAM_OK);
	assert_int_equal(value_of(fix, t, tab, 11), -1);
	assert_int_equal(txn_insert(t, p + 1, 1), NAM_OK);
	txn_set_cluster_visible(t, true);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 10), 1);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 11), 1);
	txn_abort(t);
}

static void
test_due(void **state)
{
	(void)state;
	run_sized(2, 2, 11, 16 << 20, due);
}

/* ---- a lock on a row that is read ---- */

static void
waits(struct fixture *fix)
{
	struct row r;
	struct txn_row row;
	fill(fix, 1, 1);
	/* A commit whose last step is under way: its row is locked, and soon it is not. */
	for (unsigned i = 0; i < 40; i++) {
		struct txn *t = begin_latest(fix, 0);
		assert_int_equal(set(fix, t, &fix->tab[0], 0, 2 + (int)i), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		net_sleep(fix->w[0], i * 100);
		t = begin_latest(fix, i % 2);
		assert_int_equal(get(fix, t, &fix->tab[i % 2], 0, &row, &r), NAM_OK);
		assert_int_equal(r.value, 2 + (int)i);
		assert_int_equal(row.cid, row.newest);
		txn_abort(t);
	}
	/* A lock that stays: the row is shown as it is, and COMMIT has a conflict, in bounded
	 * time. */
	struct txn *holder = begin(fix, 1, TXN_READ_COMMITTED), *t = begin_latest(fix, 0);
	assert_int_equal(set(fix, holder, &fix->tab[1], 0, 100), NAM_OK);
	uint64_t began = net_now_ns(fix->w[0]);
	assert_int_equal(set(fix, t, &fix->tab[0], 0, 200), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
	assert_true(net_now_ns(fix->w[0]) - began < 2000 * US);
	assert_int_equal(txn_commit(holder, NULL), NAM_OK);
}

static void
test_waits(void **state)
{
	(void)state;
	run_sized(2, 2, 13, 16 << 20, waits);
}

/* ---- many at once ---- */

static unsigned running, won;

struct one {
	struct fixture *fix;
	unsigned number;
};

/* Adds 1 to all keys, and inserts keys that the clients want at the same time. */
static void
client(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	for (unsigned i = 0; i < ROUNDS;) {
		/* Now and then one of the other kind. */
		bool reader = (o->number + i) % 4 == 0;
		struct txn *t = reader ? begin(fix, p, TXN_REPEATABLE_READ) : begin_latest(fix, p);
		unsigned n = 1 + i % NEW_KEYS;
		nam_status st = order(fix, t, p, KEYS, 1000 + NEW_KEYS * (i / 3), n);
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		assert_true(st == NAM_OK || st == NAM_CONFLICT || st == NAM_DUPLICATE);
		won += st == NAM_OK;
		i += st != NAM_CONFLICT;
	}
	running--;
}

static void
many(struct fixture *fix)
{
	struct one o[CLIENTS];
	fill(fix, KEYS, 0);
	running = CLIENTS;
	won = 0;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ fix, i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 1000 * US);
	net_sleep(fix->w[0], 100000 * US); /* the collector takes rests away */
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[0], k), won);
	unsigned there = KEYS;
	for (uint64_t k = 1000; k < 1000 + NEW_KEYS * (ROUNDS / 3 + 1); k++) {
		int64_t v = value_of(fix, t, &fix->tab[0], k);
		assert_true(v == 7 || v == -1);
		there += v == 7;
	}
	txn_abort(t);
	assert_true(won > 0);
	assert_int_equal(entries(fix), there); /* each key once */
}

static void
test_many(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		run_sized(3, 2 + (unsigned)seed % 3, seed, 16 << 20, many);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
