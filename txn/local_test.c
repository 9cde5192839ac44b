/* local_test.c -- commits of one process on one record: conflicts that cost no verb, and holders
 * that stall. */
#include <txn/testing/fixture.h>

enum { CLIENTS = 12, ROUNDS = 20, KEYS = 3, STACK = 128 << 10, US = 1000 };

static uint64_t
verbs(const struct net_counts *c)
{
	return net_counts_verbs(c);
}

/* Two transactions of process 0 and of process p change a record; the second has a conflict. The
 * verbs of its commit. */
static uint64_t
overtaken(struct fixture *fix, unsigned p)
{
	struct net_counts sum = { 0 };
	struct txn *t1 = begin(fix, 0, TXN_REPEATABLE_READ), *t2 = begin(fix, p, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t1, &fix->tab[0], 1, 10), NAM_OK);
	assert_int_equal(set(fix, t2, &fix->tab[p], 1, 20), NAM_OK);
	assert_int_equal(txn_commit(t1, NULL), NAM_OK);
	uint64_t before = verbs(txn_counts(t2));
	txn_set_counts_sink(t2, &sum);
	txn_set_finish(t2, true);
	assert_int_equal(txn_commit(t2, NULL), NAM_CONFLICT);
	uint64_t used = verbs(&sum) - before;
	do { /* A retry succeeds, in a process that has not heard of the commit yet too. */
		t2 = begin(fix, p, TXN_REPEATABLE_READ);
		if (set(fix, t2, &fix->tab[p], 1, 20) == NAM_OK && txn_commit(t2, NULL) == NAM_OK)
			return used;
	} while (p != 0);
	fail_msg("the retry has a conflict");
	return used;
}

static void
without_a_verb(struct fixture *fix)
{
	struct txn_stats s;
	fill(fix, KEYS, 0);
	assert_int_equal(overtaken(fix, 0), 0);
	txn_worker_stats(fix->tw[0], &s);
	assert_int_equal(s.conflicts_here, 1);
	assert_int_equal(s.conflicts, 1);
	assert_true(overtaken(fix, 1) > 3);
	txn_worker_stats(fix->tw[1], &s);
	assert_int_equal(s.conflicts_here, 0);
}

static void
test_without_a_verb(void **state)
{
	(void)state;
	run_some(2, without_a_verb);
}

/* ---- many at once, on records in different orders ---- */

static unsigned running;

struct one {
	struct fixture *fix;
	unsigned number;
};

static void
client(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	for (unsigned i = 0; i < ROUNDS;) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		nam_status st = NAM_OK;
		for (unsigned k = 0; st == NAM_OK && k < 2; k++) {
			uint64_t key = (o->number + (k ^ (i & 1))) % KEYS;
			st = set(fix, t, &fix->tab[p], key, value_of(fix, t, &fix->tab[p], key) + 1);
		}
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		assert_true(st == NAM_OK || st == NAM_CONFLICT);
		i += st == NAM_OK;
	}
	running--;
}

static void
many(struct fixture *fix)
{
	struct one o[CLIENTS];
	fill(fix, KEYS, 0);
	running = CLIENTS;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ fix, i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 100 * US);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	txn_set_cluster_visible(t, true);
	assert_int_equal(set(fix, t, &fix->tab[0], 0, value_of(fix, t, &fix->tab[0], 0)), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	int64_t sum = 0;
	for (uint64_t k = 0; k < KEYS; k++)
		sum += value_of(fix, t, &fix->tab[0], k);
	txn_abort(t);
	assert_int_equal(sum, 2 * CLIENTS * ROUNDS);
	struct txn_stats s;
	txn_worker_stats(fix->tw[0], &s);
	assert_true(s.conflicts_here > 0);
	for (unsigned p = 0; p < fix->procs; p++) {
		for (uint64_t k = 0; k < KEYS; k++) { /* none is left in the table */
			t = begin(fix, p, TXN_REPEATABLE_READ);
			nam_status st = set(fix, t, &fix->tab[p], k, 0);
			assert_true(st == NAM_OK || st == NAM_CONFLICT);
			uint64_t from = net_now_ns(fix->w[p]);
			st = txn_local_enter(t);
			assert_true(st == NAM_OK || st == NAM_CONFLICT);
			assert_true(net_now_ns(fix->w[p]) - from < US);
			txn_local_leave(t, 0);
			txn_abort(t);
		}
	}
}

static void
test_many(void **state)
{
	(void)state;
	run_some(1, many);
	run_some(2, many);
}

/* ---- a holder that stalls, and one that gives up ---- */

static struct txn *holder;
static uint64_t leaves_after_ns;

static void
gives_up(void *arg)
{
	struct fixture *fix = arg;
	net_sleep(fix->w[0], leaves_after_ns);
	txn_local_leave(holder, 0);
	txn_abort(holder);
	running--;
}

static void
held(struct fixture *fix)
{
	fill(fix, KEYS, 0);
	holder = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, holder, &fix->tab[0], 1, 1), NAM_OK);
	assert_int_equal(txn_local_enter(holder), NAM_OK);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, &fix->tab[0], 1, 2), NAM_OK);
	running = 1;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), gives_up, fix, STACK));
	uint64_t from = net_now_ns(fix->w[0]);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	uint64_t took = net_now_ns(fix->w[0]) - from;
	if (leaves_after_ns < 100 * US)
		assert_true(took >= leaves_after_ns && took < leaves_after_ns + 60 * US);
	else
		assert_true(took > 200 * US && took < 500 * US);
	while (running > 0)
		net_sleep(fix->w[0], 100 * US);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 1), 2);
	txn_abort(t);
}

static void
test_held(void **state)
{
	(void)state;
	leaves_after_ns = 50 * US;
	run_some(1, held);
	leaves_after_ns = 5000 * US;
	run_some(1, held);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_verb),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
