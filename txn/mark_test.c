/* mark_test.c -- marks: what a rollback restores, what it frees, what a commit then keeps. */
#include <txn/testing/fixture.h>

static void
back_and_forth(struct fixture *fix, enum txn_iso iso)
{
	struct txn_table *tab = &fix->tab[0];
	fill(fix, 4, 1);
	struct txn *t = begin(fix, 0, iso);
	assert_int_equal(set(fix, t, tab, 0, 5), NAM_OK);
	assert_int_equal(insert(t, tab, 99, 1), NAM_OK);
	uint32_t one = txn_mark(t);
	assert_int_equal(set(fix, t, tab, 0, 6), NAM_OK);
	assert_int_equal(set(fix, t, tab, 1, 7), NAM_OK);
	assert_int_equal(set(fix, t, tab, 99, 2), NAM_OK);
	assert_int_equal(insert(t, tab, 100, 1), NAM_OK);
	assert_int_equal(del(fix, t, tab, 2), NAM_OK);
	assert_int_equal(insert(t, &fix->bare[0], 7, 7), NAM_OK);
	uint32_t two = txn_mark(t);
	assert_int_equal(insert(t, tab, 101, 1), NAM_OK);
	assert_int_equal(insert(t, tab, 2, 50), NAM_OK);
	assert_int_equal(del(fix, t, tab, 100), NAM_OK);
	assert_int_equal(set(fix, t, tab, 0, 8), NAM_OK);
	assert_int_equal(txn_rollback_to(t, two), NAM_OK);
	assert_int_equal(value_of(fix, t, tab, 101), -1);
	assert_int_equal(value_of(fix, t, tab, 2), -1);
	assert_int_equal(value_of(fix, t, tab, 100), 1);
	assert_int_equal(value_of(fix, t, tab, 0), 6);
	assert_int_equal(txn_rollback_to(t, one), NAM_OK);
	assert_int_equal(txn_rollback_to(t, one), NAM_OK);
	assert_int_equal(value_of(fix, t, tab, 0), 5);
	assert_int_equal(value_of(fix, t, tab, 1), 1);
	assert_int_equal(value_of(fix, t, tab, 2), 1);
	assert_int_equal(value_of(fix, t, tab, 99), 1);
	assert_int_equal(value_of(fix, t, tab, 100), -1);
	/* the same keys again, in the same transaction */
	one = txn_mark(t);
	assert_int_equal(insert(t, tab, 100, 3), NAM_OK);
	assert_int_equal(set(fix, t, tab, 99, 4), NAM_OK);
	assert_int_equal(txn_rollback_to(t, one), NAM_OK);
	assert_int_equal(insert(t, tab, 100, 9), NAM_OK);
	assert_int_equal(insert(t, tab, 100, 9), NAM_DUPLICATE);
	commit_all(t);
	net_sleep(fix->w[0], 100000000); /* the collector comes by */
	struct txn *c = begin(fix, 1, iso);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 0), 5);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 1), 1);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 2), 1);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 99), 1);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 100), 9);
	assert_int_equal(value_of(fix, c, &fix->tab[1], 101), -1);
	assert_int_equal(insert(c, &fix->tab[1], 101, 2), NAM_OK);
	uint64_t locked = 0;
	txn_abort(c);
	c = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(txn_table_locks(c, &fix->tab[1], &locked), NAM_OK);
	assert_int_equal(locked, 0);
	struct txn_scan *s;
	struct txn_row row[8];
	unsigned n = 0;
	assert_int_equal(txn_scan_open(c, &fix->bare[1], &s), NAM_OK);
	assert_int_equal(txn_scan_next(s, row, 8, &n), NAM_OK);
	assert_int_equal(n, 0);
	txn_scan_close(s);
	txn_abort(c);
	nam_arena_reset(&fix->a);
}
static void
back_rc(struct fixture *fix)
{
	back_and_forth(fix, TXN_READ_COMMITTED);
}
static void
back_rr(struct fixture *fix)
{
	back_and_forth(fix, TXN_REPEATABLE_READ);
}
static void
back_ser(struct fixture *fix)
{
	back_and_forth(fix, TXN_SERIALIZABLE);
}
static void
test_back_and_forth(void **state)
{
	(void)state;
	run_some(2, back_rc);
	run_some(2, back_rr);
	run_some(2, back_ser);
}

/* Locks taken since the mark are free for others at once; earlier ones are not. */
static void
locks(struct fixture *fix)
{
	fill(fix, 2, 1);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, t, &fix->tab[0], 0, 2), NAM_OK);
	uint32_t m = txn_mark(t);
	assert_int_equal(set(fix, t, &fix->tab[0], 1, 2), NAM_OK);
	assert_int_equal(insert(t, &fix->tab[0], 5, 2), NAM_OK);
	assert_int_equal(txn_rollback_to(t, m), NAM_OK);
	struct txn *u = begin(fix, 1, TXN_READ_COMMITTED);
	struct txn_limits l = { .lock_wait_ns = 20000000 };
	txn_set_limits(u, &l);
	assert_int_equal(set(fix, u, &fix->tab[1], 1, 3), NAM_OK);
	assert_int_equal(insert(u, &fix->tab[1], 5, 3), NAM_OK);
	assert_int_equal(set(fix, u, &fix->tab[1], 0, 3), NAM_TIMEOUT);
	txn_abort(u);
	/* A rollback of all writes, and then a commit of nothing */
	assert_int_equal(txn_rollback_to(t, 0), NAM_OK);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 0), 1);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	uint64_t locked = 1;
	assert_int_equal(txn_table_locks(t, &fix->tab[0], &locked), NAM_OK);
	assert_int_equal(locked, 0);
	txn_abort(t);
}
static void
test_locks(void **state)
{
	(void)state;
	run_some(2, locks);
}

/* Long sets, so that the map of own writes is made and unmade; and an end by abort. */
static void
long_sets(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	fill(fix, 100, 1);
	for (int iso = TXN_READ_COMMITTED; iso <= TXN_REPEATABLE_READ; iso++) {
		struct txn *t = begin(fix, 0, (enum txn_iso)iso);
		uint32_t mark[10];
		for (uint64_t i = 0; i < 10; i++) {
			mark[i] = txn_mark(t);
			for (uint64_t k = 0; k < 100; k += 10 - i)
				assert_int_equal(set(fix, t, tab, k, (int64_t)(i + 2)), NAM_OK);
			assert_int_equal(insert(t, tab, 1000 + i, 1), NAM_OK);
		}
		assert_int_equal(value_of(fix, t, tab, 99), 11);
		for (uint64_t i = 10; i-- > 0;) {
			assert_int_equal(txn_rollback_to(t, mark[i]), NAM_OK);
			assert_int_equal(value_of(fix, t, tab, 0), (int64_t)i + 1);
			assert_int_equal(value_of(fix, t, tab, 1000 + i), -1);
			if (i > 0)
				assert_int_equal(value_of(fix, t, tab, 999 + i), 1);
			if (i == 5)
				for (uint64_t k = 0; k < 100; k++)
					assert_int_equal(set(fix, t, tab, k, 70), NAM_OK);
		}
		if (iso == TXN_READ_COMMITTED)
			assert_int_equal(txn_commit(t, NULL), NAM_OK);
		else
			txn_abort(t);
		nam_arena_reset(&fix->a);
	}
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 100; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[1], k), 1);
	txn_abort(t);
}
static void
test_long_sets(void **state)
{
	(void)state;
	run(2, 2, 1, long_sets);
	run(2, 3, 2, long_sets);
}

static struct row
with_blob(struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	char bytes[300];
	struct row r = mk(key, value);
	memset(bytes, (int)value, sizeof bytes);
	assert_int_equal(txn_blob_put(t, tab, bytes, sizeof bytes, &r.blob), NAM_OK);
	return r;
}

static void
blob_is(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	struct txn_row row;
	struct row r;
	const void *p;
	assert_int_equal(get(fix, t, tab, key, &row, &r), NAM_OK);
	assert_int_equal(r.value, value);
	assert_int_equal(txn_blob_get(t, &r.blob, 1, &p, &fix->a), NAM_OK);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(((const char *)p)[i], (char)value);
}

/* Long values: those of undone versions are given back, those of restored versions exist. */
static void
blobs(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	struct row r = with_blob(t, tab, 1, 1);
	assert_int_equal(insert_row(t, tab, &r), NAM_OK);
	uint32_t m = txn_mark(t);
	for (int64_t v = 2; v < 5; v++) {
		struct txn_row row;
		struct row old;
		assert_int_equal(get(fix, t, tab, 1, &row, &old), NAM_OK);
		r = with_blob(t, tab, 1, v);
		assert_int_equal(txn_update(t, tab, &row, &r, sizeof r), NAM_OK);
		blob_is(fix, t, tab, 1, v);
	}
	assert_int_equal(txn_rollback_to(t, m), NAM_OK);
	blob_is(fix, t, tab, 1, 1);
	m = txn_mark(t);
	struct txn_row row;
	struct row old;
	assert_int_equal(get(fix, t, tab, 1, &row, &old), NAM_OK);
	r = with_blob(t, tab, 1, 9);
	assert_int_equal(txn_update(t, tab, &row, &r, sizeof r), NAM_OK);
	commit_all(t);
	t = begin(fix, 1, TXN_READ_COMMITTED);
	blob_is(fix, t, &fix->tab[1], 1, 9);
	txn_abort(t);
}
static void
test_blobs(void **state)
{
	(void)state;
	run_some(2, blobs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back_and_forth),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_long_sets),
		cmocka_unit_test(test_blobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
