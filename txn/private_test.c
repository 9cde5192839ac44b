/*
 * private_test.c -- a process's own memory, for transactions and for what a worker has at hand:
 * it depends on what is open, not on how large it has been.
 */
#include <txn/testing/fixture.h>

enum { MANY = 4000, FEW = 1024, AT_ONCE = 12 };
#define SECOND UINT64_C(1000000000)

static void
put_many(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < MANY; k++)
		assert_int_equal(insert(t, &fix->tab[0], k, 7), NAM_OK);
	commit_all(t);
}

static void
take_many(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < MANY; k++) {
		assert_int_equal(del(fix, t, &fix->tab[0], k), NAM_OK);
		nam_arena_reset(&fix->a);
	}
	commit_all(t);
}

/* ---- pooled transactions ---- */

static void
pool(struct fixture *fix)
{
	struct txn_worker *tw = fix->tw[0];
	struct txn *open[AT_ONCE];
	put_many(fix);
	assert_int_equal(tw->pooled, 1);
	assert_true(tw->txn_pool->wr_cap >= MANY);
	txn_pool_trim(tw);
	assert_int_equal(tw->pooled, 1);
	assert_true(tw->txn_pool->wr_cap <= FEW && tw->txn_pool->by_block.room <= 4 * FEW);
	for (unsigned i = 0; i < AT_ONCE; i++)
		open[i] = begin(fix, 0, TXN_REPEATABLE_READ);
	for (unsigned i = 0; i < AT_ONCE; i++)
		txn_abort(open[i]);
	assert_int_equal(tw->pooled, AT_ONCE);
	/* They were in use since the last time; from then on none was. */
	txn_pool_trim(tw);
	assert_int_equal(tw->pooled, AT_ONCE);
	txn_pool_trim(tw);
	assert_int_equal(tw->pooled, 1);
	txn_abort(begin(fix, 0, TXN_REPEATABLE_READ));
	assert_int_equal(tw->pooled, 1);
	/* Nobody asks for it: the collector does it by itself. */
	for (unsigned i = 0; i < AT_ONCE; i++)
		open[i] = begin(fix, 0, TXN_REPEATABLE_READ);
	for (unsigned i = 0; i < AT_ONCE; i++)
		txn_abort(open[i]);
	net_sleep(fix->w[0], 25 * SECOND);
	assert_int_equal(tw->pooled, 1);
}

static void
pooled_transactions(void **state)
{
	(void)state;
	run_sized(1, 2, 1, 64 << 20, pool);
}

/* ---- memory at hand ---- */

static bool drops; /* the table is dropped meanwhile, and its view stays open */

static void
at_hand(struct fixture *fix)
{
	const struct txn_stock *k = fix->tab[0].view->stock;
	const struct txn_alloc *a = k->alloc[fix->tw[0]->number];
	put_many(fix);
	take_many(fix);
	a = k->alloc[fix->tw[0]->number];
	uint32_t most = 0;
	for (unsigned i = 0; i < 300; i++) {
		net_sleep(fix->w[0], SECOND / 100);
		most = a->blocks.cap > most ? a->blocks.cap : most;
	}
	assert_true(most >= FEW);
	if (drops) {
		tso_cid d;
		struct txn *t = begin(fix, 1, TXN_READ_COMMITTED);
		assert_int_equal(insert(t, &fix->bare[1], 1, 1), NAM_OK);
		assert_int_equal(txn_lock_table(t, &fix->tab[1]), NAM_OK);
		assert_int_equal(txn_commit(t, &d), NAM_OK);
		assert_int_equal(txn_table_free(fix->tw[1], &fix->tab[1], d), NAM_OK);
	}
	net_sleep(fix->w[0], 25 * SECOND);
	assert_int_equal(a->blocks.cap, 0);
	assert_int_equal(a->rest.cap + a->spare.cap + a->archives.cap, 0);
	assert_false(a->listed);
}

static void
lists_at_hand(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		drops = i == 1;
		run_sized(2, 2, 1, 64 << 20, at_hand);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pooled_transactions),
		cmocka_unit_test(lists_at_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
