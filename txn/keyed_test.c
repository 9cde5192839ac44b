/*
 * keyed_test.c -- a unique key that is deleted and inserted again and again: while snapshots keep
 * what it has left, after its writer has died, and by several processes that all want it.
 */
#include <base/fault.h>
#include <txn/testing/fixture.h>

enum { US = 1000, KEY = 9, AGAIN = 40, LEASE_NS = 100000000, STACK = 128 << 10, LAST = 1 };

static const struct txn_order unique[1] = {
	{ .words = 1, .unique = true, .key = row_by_value, .options = { .cache = IDX_TREE_INNER } }
};

static uint64_t
entries(struct fixture *fix)
{
	struct idx_tree_shape shape;
	assert_int_equal(idx_tree_shape(fix->w[0], fix->tab[0].view->tree[0], &shape, NULL), NAM_OK);
	return shape.entries;
}

/* Row `from` has the key; it goes, and row `to` gets the key. */
static void
pass_on(struct fixture *fix, unsigned p, enum txn_iso iso, uint64_t from, uint64_t to)
{
	struct txn_clash clash;
	struct txn *t = begin(fix, p, iso);
	assert_int_equal(del(fix, t, &fix->tab[p], from), NAM_OK);
	commit_all(t);
	t = begin(fix, p, iso);
	assert_int_equal(insert(t, &fix->tab[p], to, KEY), NAM_OK);
	assert_int_equal(txn_unique(t, &clash), NAM_OK);
	commit_all(t);
}

/* The key is refused to another row, by the statement's look and by the commit. */
static void
refused(struct fixture *fix, unsigned p, enum txn_iso iso, uint64_t to)
{
	struct txn_clash clash;
	struct txn *t = begin(fix, p, iso);
	assert_int_equal(insert(t, &fix->tab[p], to, KEY), NAM_OK);
	assert_int_equal(txn_unique(t, &clash), NAM_DUPLICATE);
	txn_abort(t);
	t = begin(fix, p, iso);
	assert_int_equal(insert(t, &fix->tab[p], to, KEY), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
}

/* ---- under a snapshot ---- */

static void
again(struct fixture *fix)
{
	static const enum txn_iso level[] = { TXN_READ_COMMITTED, TXN_REPEATABLE_READ, TXN_SERIALIZABLE };
	struct row r;
	struct txn_row row;
	uint64_t key = 1;
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[0], key, KEY), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	while (get(fix, old, &fix->tab[1], 1, &row, &r) != NAM_OK) {
		txn_abort(old);
		net_sleep(fix->w[1], 1000 * US);
		old = begin(fix, 1, TXN_REPEATABLE_READ);
	}
	for (unsigned l = 0; l < 3; l++)
		for (unsigned i = 0; i < AGAIN; i++, key++) {
			pass_on(fix, 0, level[l], key, key + 1);
			if (i % 8 == 7)
				refused(fix, 0, level[l], 1000 + key);
		}
	assert_true(entries(fix) > 3 * AGAIN);
	/* What the old snapshot shows is the row of its time. */
	uint64_t word = KEY;
	struct txn_seek s = { .table = &fix->tab[1], .order = 0, .key = &word };
	assert_int_equal(txn_seek(old, &s, 1, &fix->a), NAM_OK);
	assert_int_equal(s.status, NAM_OK);
	memcpy(&r, s.row.bytes, sizeof r);
	assert_int_equal(r.key, 1);
	txn_abort(old);
	for (unsigned i = 0; i < 200 && entries(fix) > 1; i++)
		net_sleep(fix->w[0], 5000 * US);
	assert_int_equal(entries(fix), 1);
}

static void
test_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		run_sized(2, 2, seed, 16 << 20, again);
}

/* ---- its writer has died ---- */

/* What the dead writer has left is found by those that want the key, and goes: no sweep is due, as
 * no process wants memory. */
static void
after_death(struct fixture *fix)
{
	uint64_t key = 1;
	struct txn *t = begin(fix, LAST, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[LAST], key, KEY), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, 0, TXN_REPEATABLE_READ);
	for (; key <= AGAIN; key++)
		pass_on(fix, LAST, TXN_READ_COMMITTED, key, key + 1);
	net_sim_crash_at(fix->sim, fix->net[LAST], net_sim_verbs(fix->net[LAST]) + 1);
	net_sleep(fix->w[0], 8 * (uint64_t)LEASE_NS);
	txn_abort(old);
	assert_true(entries(fix) > AGAIN);
	net_sleep(fix->w[0], 4 * (uint64_t)LEASE_NS);
	for (unsigned i = 0; i < 60; i++, key++) {
		pass_on(fix, 0, TXN_READ_COMMITTED, key, key + 1);
		net_sleep(fix->w[0], 20000 * US);
	}
	assert_true(entries(fix) < 8);
	net_sim_bury(fix->sim, fix->net[LAST]);
}

static void
test_after_death(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed <= 13; seed++)
		run_sized(2, 2, seed, 16 << 20, after_death);
}

/* ---- several want it ---- */

enum { CLIENTS = 6, ROUNDS = 60 };
struct one {
	struct fixture *fix;
	unsigned number;
};
static unsigned running, holders, won, wrong;

static void
wants(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	struct nam_rng *d = net_rng(fix->w[p]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t key = 1000 * (o->number + 1) + i;
		struct txn *t = begin(fix, p, (enum txn_iso)(TXN_READ_COMMITTED + i % 3));
		if (insert(t, &fix->tab[p], key, KEY) != NAM_OK) {
			txn_abort(t);
			continue;
		}
		if (txn_commit(t, NULL) != NAM_OK) {
			net_sleep(fix->w[p], nam_rng_below(d, 100) * US);
			continue;
		}
		won++;
		wrong += holders++ > 0;
		net_sleep(fix->w[p], nam_rng_below(d, 60) * US);
		holders--;
		for (nam_status st = NAM_CONFLICT; st != NAM_OK;) {
			t = begin(fix, p, TXN_READ_COMMITTED);
			if ((st = del(fix, t, &fix->tab[p], key)) == NAM_OK)
				st = txn_commit(t, NULL);
			else
				txn_abort(t);
		}
	}
	running--;
}

static void
rivals(struct fixture *fix)
{
	struct one o[CLIENTS];
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[0], 1, KEY), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t key = 1; key < 16; key++)
		pass_on(fix, 0, TXN_READ_COMMITTED, key, key + 1);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(del(fix, t, &fix->tab[0], 16), NAM_OK);
	commit_all(t);
	running = CLIENTS;
	holders = won = 0;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ fix, i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), wants, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 1000 * US);
	txn_abort(old);
	assert_true(won > CLIENTS);
	assert_true(wrong == 0 || nam_fault_any());
}

static void
test_rivals(void **state)
{
	(void)state;
	unsigned all = 0;
	for (uint64_t seed = 21; seed <= 26; seed++) {
		run_sized(3, 2, seed, 16 << 20, rivals);
		all += won;
	}
	printf("%u times a row got the key\n", all);
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	nam_fault_on = NAM_FAULT_KEYED_UNLOCKED;
	wrong = 0;
	for (uint64_t seed = 21; seed <= 40 && wrong == 0; seed++)
		run_sized(3, 2, seed, 16 << 20, rivals);
	nam_fault_on = NAM_FAULT_NONE;
	printf("fault %s: %u times two rows had the key\n", nam_fault_name[NAM_FAULT_KEYED_UNLOCKED], wrong);
	assert_true(wrong > 0);
	wrong = 0;
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_after_death),
		cmocka_unit_test(test_rivals),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	fixture_order = unique;
	fixture_orders = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
