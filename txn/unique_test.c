/*
 * unique_test.c -- READ COMMITTED gives a row its unique key at the statement's end: another
 * transaction with the key waits, and no two live rows have one key, whatever ends when.
 */
#include <base/fault.h>
#include <txn/testing/fixture.h>

enum { US = 1000, DEAD = 1, STACK = 128 << 10, LEASE_NS = 100000000, ROWS = 10, VALUES = 7 };

static const struct txn_order unique[1] = {
	{ .words = 1, .unique = true, .key = row_by_value, .options = { .cache = IDX_TREE_INNER } }
};

/* A twin is to be wrong: it is counted. */
static unsigned wrong;

static void
must(bool right)
{
	wrong += !right;
	assert_true(right || nam_fault_any());
}

static uint64_t
entries(struct fixture *fix)
{
	struct idx_tree_shape shape;
	assert_int_equal(idx_tree_shape(fix->w[0], fix->tab[0].view->tree[0], &shape, NULL), NAM_OK);
	return shape.entries;
}

/* A statement that inserts a row. */
static nam_status
add(struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	struct txn_clash clash;
	nam_status st = insert(t, tab, key, value);
	return st == NAM_OK ? txn_unique(t, &clash) : st;
}

/* A statement that gives a row another value. */
static nam_status
change(struct fixture *fix, struct txn *t, unsigned p, uint64_t key, int64_t value)
{
	struct txn_clash clash;
	nam_status st = set(fix, t, &fix->tab[p], key, value);
	return st == NAM_OK ? txn_unique(t, &clash) : st;
}

/* Its value, in a transaction of its own that sees what all have committed. */
static int64_t
now_of(struct fixture *fix, uint64_t key)
{
	net_sleep(fix->w[0], 5000 * US);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	int64_t v = value_of(fix, t, &fix->tab[0], key);
	txn_abort(t);
	return v;
}

/* ---- the second one waits ---- */

struct second {
	struct fixture *fix;
	enum txn_iso iso;
	uint64_t key;
	int64_t value;
	bool changes; /* the row is there, and changes */
	bool ended;
	nam_status st, commit;
	struct net_counts at_commit;
};

static void
second(void *arg)
{
	struct second *s = arg;
	struct fixture *fix = s->fix;
	struct txn *t = begin(fix, 1, s->iso);
	s->st = s->changes ? change(fix, t, 1, s->key, s->value) : add(t, &fix->tab[1], s->key, s->value);
	if (s->st == NAM_OK)
		s->commit = txn_commit(t, NULL);
	else
		txn_abort(t);
	s->ended = true;
}

static void
start(struct second *s)
{
	s->ended = false;
	assert_non_null(nam_co_start(net_worker_sched(s->fix->w[1]), second, s, STACK));
	net_sleep(s->fix->w[0], 20000 * US);
}

static void
end(struct second *s, nam_status as)
{
	for (unsigned i = 0; i < 1000 && !s->ended; i++)
		net_sleep(s->fix->w[0], 1000 * US);
	assert_true(s->ended);
	assert_int_equal(s->st, as);
	if (as == NAM_OK)
		assert_int_equal(s->commit, NAM_OK);
}

static void
waits(struct fixture *fix)
{
	static const enum txn_iso level[] = { TXN_READ_COMMITTED, TXN_REPEATABLE_READ };
	struct txn_table *tab = &fix->tab[0];
	uint64_t key = 1;
	for (unsigned l = 0; l < 2; l++)
		for (unsigned way = 0; way < 4; way++, key += 10) {
			/* way 1: the first one ends without the key; 2: it takes it back by a
			 * savepoint; 3: by another value */
			struct second s = {
				.fix = fix, .iso = level[l], .key = key + 1, .value = (int64_t)key
			};
			struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
			uint32_t mark = txn_mark(t);
			assert_int_equal(add(t, tab, key, (int64_t)key), NAM_OK);
			start(&s);
			assert_false(s.ended);
			if (way == 1) {
				txn_abort(t);
			} else if (way == 2) {
				assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
				end(&s, NAM_OK);
				commit_all(t);
			} else if (way == 3) {
				assert_int_equal(change(fix, t, 0, key, (int64_t)key + 5), NAM_OK);
				net_sleep(fix->w[0], 20000 * US);
				assert_false(s.ended);
				commit_all(t);
			} else {
				commit_all(t);
			}
			end(&s, way == 0 ? NAM_DUPLICATE : NAM_OK);
			assert_int_equal(now_of(fix, key + 1), way == 0 ? -1 : (int64_t)key);
			assert_int_equal(now_of(fix, key), way == 0   ? (int64_t)key
							   : way == 3 ? (int64_t)key + 5
								      : -1);
		}
	net_sleep(fix->w[0], 300000 * US);
	assert_int_equal(entries(fix), 2 * (1 + 1 + 1 + 2));
}

/* Rows of before whose entries are there for old snapshots; a key goes from one to another, and
 * back. */
static void
beside_old(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 1; k <= 12; k++)
		assert_int_equal(insert(t, tab, k, 100 + (int64_t)k), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row r;
	assert_int_equal(get(fix, old, &fix->tab[1], 1, &row, &r), NAM_OK);
	/* Each row has had the value 50, and the last one has it: more entries than one message
	 * brings. */
	for (uint64_t k = 1; k <= 12; k++) {
		t = begin(fix, 0, TXN_READ_COMMITTED);
		if (k > 1)
			assert_int_equal(change(fix, t, 0, k - 1, 200 + (int64_t)k), NAM_OK);
		assert_int_equal(change(fix, t, 0, k, 50), NAM_OK);
		commit_all(t);
	}
	assert_int_equal(entries(fix), 12 + 12 + 11);
	/* The entry of row 3 is there. Another row takes the key, and row 3 waits for it. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(change(fix, t, 0, 12, 300), NAM_OK);
	assert_int_equal(add(t, tab, 20, 50), NAM_OK);
	struct second s = { .fix = fix, .iso = TXN_READ_COMMITTED, .key = 3, .value = 50, .changes = true };
	start(&s);
	assert_false(s.ended);
	commit_all(t);
	end(&s, NAM_DUPLICATE);
	/* The other way round. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(del(fix, t, tab, 20), NAM_OK);
	assert_int_equal(change(fix, t, 0, 3, 50), NAM_OK);
	s = (struct second){ .fix = fix, .iso = TXN_READ_COMMITTED, .key = 21, .value = 50 };
	start(&s);
	assert_false(s.ended);
	txn_abort(t);
	end(&s, NAM_DUPLICATE);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(del(fix, t, tab, 20), NAM_OK);
	start(&s);
	assert_false(s.ended);
	commit_all(t);
	end(&s, NAM_OK);
	txn_abort(old);
	net_sleep(fix->w[0], 500000 * US);
	assert_int_equal(entries(fix), 13);
}

/* Each waits for the other one's key. */
static void
crosswise(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED), *u = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(add(t, &fix->tab[0], 1, 71), NAM_OK);
	assert_int_equal(add(u, &fix->tab[1], 2, 72), NAM_OK);
	struct second s = { .fix = fix, .iso = TXN_READ_COMMITTED, .key = 5, .value = 71 };
	start(&s); /* waits for t, and is in no cycle */
	struct txn_limits soon = { .lock_wait_ns = 30000 * US };
	txn_set_limits(t, &soon);
	assert_int_equal(add(t, &fix->tab[0], 3, 72), NAM_TIMEOUT);
	txn_abort(u);
	txn_abort(t);
	end(&s, NAM_OK);
}

/* A row leaves its key, another one takes it, and the first gets it back: in one transaction. */
static void
among_own(struct fixture *fix)
{
	enum { NONE = -1 };
	struct txn_table *tab = &fix->tab[0];
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(add(t, tab, 1, 1), NAM_OK);
	assert_int_equal(add(t, tab, 2, 2), NAM_OK);
	commit_all(t);
	for (unsigned way = 0; way < 8; way++) {
		bool old = way % 2 == 0, deletes = way / 2 % 2 == 1;
		uint64_t key = old ? 1 : 5;
		int64_t value = (int64_t)key;
		t = begin(fix, 0, TXN_READ_COMMITTED);
		if (!old)
			assert_int_equal(add(t, tab, 5, 5), NAM_OK);
		uint32_t mark = txn_mark(t);
		if (deletes)
			assert_int_equal(del(fix, t, tab, key), NAM_OK);
		else
			assert_int_equal(change(fix, t, 0, key, way < 4 ? 9 : NONE), NAM_OK);
		(void)txn_mark(t);
		assert_int_equal(add(t, tab, 7, value), NAM_OK);
		if (way == 6 || way == 7) {
			assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
			assert_int_equal(add(t, tab, 7, value), NAM_DUPLICATE);
			txn_abort(t);
			continue;
		}
		mark = txn_mark(t);
		if (deletes)
			must(add(t, tab, key, value) == NAM_DUPLICATE);
		else
			must(change(fix, t, 0, key, value) == NAM_DUPLICATE);
		if (nam_fault_any()) {
			txn_abort(t);
			continue;
		}
		/* The other one gives it up again. */
		assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
		assert_int_equal(change(fix, t, 0, 7, 70), NAM_OK);
		assert_int_equal(deletes ? add(t, tab, key, value) : change(fix, t, 0, key, value), NAM_OK);
		txn_abort(t);
	}
}

/* What a row costs that has one unique key: the COMMIT sends no entry, and the statement looks
 * nothing up. */
static void
costs(struct fixture *fix)
{
	struct idx_tree_counts n[3];
	struct txn_table *tab = &fix->tab[0];
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	for (uint64_t k = 1; k <= 30; k++)
		assert_int_equal(add(t, tab, k, (int64_t)k), NAM_OK);
	commit_all(t);
	for (unsigned rows = 1; rows <= 8; rows += 7) {
		struct txn_clash clash;
		t = begin(fix, 0, TXN_READ_COMMITTED);
		for (uint64_t k = 0; k < rows; k++)
			assert_int_equal(insert(t, tab, 100 * rows + k, (int64_t)(100 * rows + k)), NAM_OK);
		txn_order_counts(tab, 0, &n[0]);
		struct net_counts before = *txn_counts(t);
		assert_int_equal(txn_unique(t, &clash), NAM_OK);
		assert_int_equal(net_counts_verbs(txn_counts(t)), net_counts_verbs(&before));
		txn_order_counts(tab, 0, &n[1]);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		txn_order_counts(tab, 0, &n[2]);
		assert_int_equal(n[1].changes - n[0].changes, rows);
		assert_int_equal(n[2].changes - n[1].changes, 0);
		assert_int_equal(n[2].lookups - n[0].lookups, 0);
	}
}

static void
test_scenes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		run_lab(2, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, waits);
		run_lab(2, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, beside_old);
		run_lab(2, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, crosswise);
		run_lab(1, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, among_own);
	}
	run_lab(1, 2, 9, 16 << 20, 0, costs);
}

/* ---- many that want few values ---- */

static unsigned commits, refused, aborted, conflicts, deadlocks, alone;
static uint64_t die_at, verbs;

struct one {
	struct fixture *fix;
	unsigned number, rounds;
	bool ended;
};

static nam_status
statement(struct fixture *fix, struct txn *t, unsigned p, struct nam_rng *d)
{
	uint64_t key = nam_rng_below(d, ROWS);
	int64_t value = (int64_t)nam_rng_below(d, VALUES);
	nam_status st =
	    nam_rng_below(d, 5) == 0 ? del(fix, t, &fix->tab[p], key) : change(fix, t, p, key, value);
	return st == NAM_ABSENT ? add(t, &fix->tab[p], key, value) : st;
}

static void
client(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	struct nam_rng *d = net_rng(fix->w[p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn *t;
		enum txn_iso iso = nam_rng_below(d, 6) == 0 ? TXN_REPEATABLE_READ : TXN_READ_COMMITTED;
		if (txn_begin(fix->tw[p], iso, &t) != NAM_OK)
			break; /* its process has died */
		nam_status st = NAM_OK;
		unsigned statements = 1 + (unsigned)nam_rng_below(d, nam_rng_below(d, 4) == 0 ? 12 : 3);
		for (unsigned n = statements; st == NAM_OK && n > 0; n--) {
			uint32_t mark = txn_mark(t);
			st = txn_statement(t);
			if (st == NAM_OK)
				st = statement(fix, t, p, d);
			refused += st == NAM_DUPLICATE;
			if (st == NAM_DUPLICATE || (st == NAM_OK && nam_rng_below(d, 5) == 0))
				st = txn_rollback_to(t, mark);
			if (nam_rng_below(d, 4) == 0)
				net_sleep(fix->w[p], nam_rng_below(d, 300) * US);
		}
		deadlocks += st == NAM_DEADLOCK;
		alone += st == NAM_DEADLOCK && statements == 1;
		if (st == NAM_OK && nam_rng_below(d, 6) != 0) {
			st = txn_commit(t, NULL);
			commits += st == NAM_OK;
			conflicts += st == NAM_CONFLICT && iso == TXN_READ_COMMITTED;
		} else {
			txn_abort(t);
			aborted++;
		}
	}
	o->ended = true;
}

/* No two rows of one snapshot have one value. Returns how many rows have one. */
static unsigned
look(struct fixture *fix, unsigned p)
{
	unsigned seen[VALUES] = { 0 }, rows = 0, n = 1;
	struct txn *t;
	struct txn_scan *s;
	struct txn_row row[ROWS];
	assert_int_equal(txn_begin(fix->tw[p], TXN_REPEATABLE_READ, &t), NAM_OK);
	assert_int_equal(txn_scan_open(t, &fix->tab[p], &s), NAM_OK);
	while (n > 0) {
		assert_int_equal(txn_scan_next(s, row, ROWS, &n), NAM_OK);
		for (unsigned i = 0; i < n; i++, rows++) {
			struct row r;
			memcpy(&r, row[i].bytes, sizeof r);
			assert_true(r.value >= 0 && r.value < VALUES);
			wrong += seen[r.value]++ > 0;
		}
	}
	txn_scan_close(s);
	txn_abort(t);
	assert_true(wrong == 0 || nam_fault_any());
	return rows;
}

static void
many(struct fixture *fix)
{
	enum { CLIENTS = 6 };
	static struct one o[CLIENTS]; /* coroutines of a process that has died go on for a while */
	uint64_t first = net_sim_verbs(fix->net[DEAD]);
	bool run = true;
	if (die_at != 0)
		net_sim_crash_at(fix->sim, fix->net[DEAD], first + die_at);
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i, .rounds = 40 };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	for (unsigned i = 0; run; i++) {
		assert_true(i < 20000);
		net_sleep(fix->w[0], 1000 * US);
		(void)look(fix, 0);
		run = false;
		for (unsigned k = 0; k < CLIENTS; k++)
			run |= !o[k].ended && !net_sim_crashed(fix->net[k % fix->procs]);
	}
	verbs = net_sim_verbs(fix->net[DEAD]) - first;
	net_sleep(fix->w[0], 500000 * US);
	unsigned rows = look(fix, 0);
	uint64_t is = entries(fix);
	assert_true(is >= rows || nam_fault_any());
	/* What is not needed is gone without a look by the index. What a crash leaves goes with
	 * the first look. */
	if (die_at == 0) {
		wrong += is != rows;
		assert_true(is == rows || nam_fault_any());
	} else if (net_sim_crashed(fix->net[DEAD])) {
		net_sim_bury(fix->sim, fix->net[DEAD]);
	}
}

static void
test_many(void **state)
{
	(void)state;
	die_at = commits = refused = aborted = conflicts = deadlocks = alone = 0;
	for (uint64_t seed = 1; seed <= 60; seed++)
		run_lab(3, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, many);
	printf("%u commits, %u duplicates, %u aborts, %u conflicts at COMMIT, %u deadlocks, %u of one "
	       "statement\n",
	    commits, refused, aborted, conflicts, deadlocks, alone);
	assert_true(commits > 1000 && refused > 500 && aborted > 500);
	/* No COMMIT fails where a wait would have served its transaction. */
	assert_int_equal(conflicts, 0);
}

static void
test_died(void **state)
{
	(void)state;
	die_at = 0;
	run_lab(3, 2, 7, 16 << 20, 0, many);
	uint64_t last = verbs;
	for (die_at = 5; die_at < last; die_at += last / 60 + 1)
		run_lab(3, 2, 7, 16 << 20, 0, many);
	die_at = 0;
}

/* ---- the faults ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const enum nam_fault fault[] = { NAM_FAULT_RIVAL_UNSEEN, NAM_FAULT_ROAMED_UNASKED,
		NAM_FAULT_ENTRY_KEPT };
	unsigned missed = 0;
	die_at = 0;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_fault_on = fault[i];
		wrong = 0;
		for (uint64_t seed = 1; seed <= 60 && wrong == 0; seed++)
			run_lab(3, 2 + (unsigned)seed % 3, seed, 16 << 20, 0, many);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: %u answers wrong\n", nam_fault_name[fault[i]], wrong);
		missed += wrong == 0;
	}
	assert_int_equal(missed, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_died),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	fixture_order = unique;
	fixture_orders = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
