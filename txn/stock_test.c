/* stock_test.c -- tables that come and go, and definitions that follow each other, leave nothing in
 * the process, and nothing behind of the table's memory; a turn looks at what is due. */
#include <txn/testing/fixture.h>

enum { COMINGS = 300, LIVING = 200, CHANGES = 200, KEYS = 20, ROUNDS = 60, ROWS = 400 };

/* Time for collectors, with a commit now and then: else the watermark stands still. */
static void
rest(struct fixture *fix, unsigned ms)
{
	for (unsigned i = 0; i < ms; i += 20) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(set(fix, t, &fix->tab[0], 0, 1), NAM_OK);
		commit_all(t);
		net_sleep(fix->w[0], 20000000);
	}
}

static struct txn_table
another(struct fixture *fix, uint32_t id)
{
	struct txn_table t = fix->tab[0];
	t.id = id;
	t.anchor.bits = 0;
	t.view = NULL;
	assert_int_equal(txn_table_create(fix->tw[0], &t), NAM_OK);
	assert_int_equal(txn_table_open(fix->db[0], &t), NAM_OK);
	return t;
}

static uint64_t
looked_at(struct fixture *fix)
{
	struct txn_stats s;
	txn_worker_stats(fix->tw[0], &s);
	return s.looked_at;
}

static void
come_and_go(struct fixture *fix)
{
	fill(fix, 1, 0);
	rest(fix, 200);
	unsigned kept = txn_stocks_kept(fix->db[0]);
	for (uint32_t i = 0; i < COMINGS; i++) {
		struct txn_table tab = another(fix, 100 + i);
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < 3; k++)
			assert_int_equal(insert(t, &tab, k, 1), NAM_OK);
		commit_all(t);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(del(fix, t, &tab, 1), NAM_OK);
		assert_int_equal(set(fix, t, &tab, 2, 2), NAM_OK);
		commit_all(t);
		struct txn_table gone = tab;
		txn_table_close(fix->db[0], &tab);
		txn_table_free(fix->tw[0], &gone, tso_prefix(txn_db_oracle(fix->db[0])));
	}
	rest(fix, 2000);
	assert_int_equal(txn_stocks_kept(fix->db[0]), kept);
	assert_true(fix->tw[0]->allocs == NULL || fix->tw[0]->allocs->next == NULL);
}

static void
test_tables_come_and_go(void **state)
{
	(void)state;
	run_lab(1, 2, 1, 64 << 20, 1 << 16, come_and_go);
}

/* Many tables that live, and were used once, cost a turn nothing. */
static void
live(struct fixture *fix)
{
	struct txn_table tab[LIVING];
	fill(fix, 1, 0);
	rest(fix, 200);
	for (uint32_t i = 0; i < LIVING; i++) {
		tab[i] = another(fix, 100 + i);
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(insert(t, &tab[i], 1, 1), NAM_OK);
		commit_all(t);
	}
	rest(fix, 25000); /* beyond the time for which a worker expects more of them */
	uint64_t before = looked_at(fix);
	rest(fix, 2000);
	assert_in_range(looked_at(fix) - before, 0, 60); /* else each of them in each sample */
	/* What they have is still theirs. */
	for (uint32_t i = 0; i < LIVING; i++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(value_of(fix, t, &tab[i], 1), 1);
		assert_int_equal(insert(t, &tab[i], 2, 2), NAM_OK);
		commit_all(t);
		txn_table_close(fix->db[0], &tab[i]);
	}
}

static void
test_tables_that_live(void **state)
{
	(void)state;
	run_lab(1, 2, 2, 128 << 20, 1 << 16, live);
}

static uint64_t
in_use(struct fixture *fix)
{
	uint64_t n = 0;
	for (unsigned r = 1; r <= 3; r++) {
		const struct net_super *s = net_sim_memory(fix->sim, r);
		n += s->bump / NET_EXTENT;
	}
	return n;
}

/* Rows come and go while the table's definition changes: what a definition's rows leave is used
 * again under the next one. */
static void
change(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	uint64_t used = 0;
	for (unsigned i = 0; i < CHANGES; i++) {
		struct txn_table next = *tab;
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < KEYS; k++)
			assert_int_equal(insert(t, tab, k, 1), NAM_OK);
		commit_all(t);
		for (unsigned n = 0; n < 2; n++) {
			t = begin(fix, 0, TXN_REPEATABLE_READ);
			for (uint64_t k = 0; k < KEYS; k++)
				assert_int_equal(set(fix, t, tab, k, 2), NAM_OK);
			commit_all(t);
		}
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < KEYS; k++)
			assert_int_equal(del(fix, t, tab, k), NAM_OK);
		commit_all(t);
		/* As ALTER does, with the garbage still in the queue. */
		next.view = NULL;
		assert_int_equal(txn_table_open(fix->db[0], &next), NAM_OK);
		txn_table_close(fix->db[0], tab);
		*tab = next;
		net_sleep(fix->w[0], 30000000);
		if (i == CHANGES / 10)
			used = in_use(fix);
	}
	assert_in_range(in_use(fix), used, used + 6);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, tab, 0, 1), NAM_OK);
	commit_all(t);
	rest(fix, 500);
	assert_in_range(txn_stocks_kept(fix->db[0]), 4, 6);
}

static void
test_definitions_follow_each_other(void **state)
{
	(void)state;
	run_lab(1, 2, 3, 64 << 20, 1 << 16, change);
}

/* Rows are inserted by one process and deleted by another, which also has their old versions. What
 * the one gathers the other uses again. */
static void
one_way(struct fixture *fix)
{
	uint64_t used = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ), *old;
		for (uint64_t k = 0; k < ROWS; k++)
			assert_int_equal(insert(t, &fix->tab[0], k, 1), NAM_OK);
		commit_all(t);
		net_sleep(fix->w[0], 10000000);
		old = begin(fix, 0, TXN_REPEATABLE_READ);
		for (unsigned n = 0; n < 3; n++) {
			t = begin(fix, n % 2, TXN_REPEATABLE_READ);
			for (uint64_t k = 0; k < ROWS; k++)
				assert_int_equal(set(fix, t, &fix->tab[n % 2], k, 2), NAM_OK);
			commit_all(t);
			net_sleep(fix->w[0], 10000000);
		}
		commit_all(old);
		t = begin(fix, 1, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < ROWS; k++)
			assert_int_equal(del(fix, t, &fix->tab[1], k), NAM_OK);
		commit_all(t);
		net_sleep(fix->w[0], 400000000);
		if (i == ROUNDS / 4)
			used = in_use(fix);
	}
	assert_in_range(in_use(fix), used, used + 8);
}

static void
test_rows_come_here_and_go_there(void **state)
{
	(void)state;
	run_lab(2, 2, 3, 64 << 20, 1 << 16, one_way);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_come_and_go),
		cmocka_unit_test(test_tables_that_live),
		cmocka_unit_test(test_definitions_follow_each_other),
		cmocka_unit_test(test_rows_come_here_and_go_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
