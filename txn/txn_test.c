/* txn_test.c -- the promises of txn.h on the simulated fabric: versions, conflicts, budgets,
 * reclaimed memory. */
#include <txn/testing/fixture.h>

/* Adds delta to the row's value. */
static nam_status
add(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t key, int64_t delta)
{
	struct txn_row row;
	struct row r;
	assert_int_equal(get(fix, t, tab, key, &row, &r), NAM_OK);
	nam_status st = txn_lock(t, tab, &row);
	if (st != NAM_OK)
		return st;
	memcpy(&r, row.bytes, sizeof r);
	r = mk(key, r.value + delta);
	return txn_update(t, tab, &row, &r, sizeof r);
}

/* ---- one process: the life of a row ---- */

static void
life_of_a_row(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[0], 7, 70), NAM_OK);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 70); /* its own write */
	assert_int_equal(insert(t, &fix->tab[0], 7, 71), NAM_DUPLICATE);
	txn_abort(t);

	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), -1);
	assert_int_equal(insert(t, &fix->tab[0], 7, 72), NAM_OK);
	tso_cid cid = 0;
	assert_int_equal(txn_commit(t, &cid), NAM_OK);
	assert_true(cid > 0);

	struct txn *old = begin(fix, 0, TXN_REPEATABLE_READ); /* sees 72 for ever */
	for (int i = 1; i <= 5; i++) {
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(add(fix, t, &fix->tab[0], 7, 1), NAM_OK);
		assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 72 + i);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		/* from the archives, in time */
		assert_int_equal(value_of(fix, old, &fix->tab[0], 7), 72);
	}
	struct txn_row row;
	struct row r;
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(get(fix, t, &fix->tab[0], 7, &row, &r), NAM_OK);
	assert_int_equal(r.value, 77);
	assert_int_equal(txn_delete(t, &fix->tab[0], &row), NAM_OK);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), -1);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_int_equal(value_of(fix, old, &fix->tab[0], 7), 72);
	assert_int_equal(txn_commit(old, NULL), NAM_OK);

	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), -1);
	assert_int_equal(insert(t, &fix->tab[0], 7, 5), NAM_OK); /* over the deletion */
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 5);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
}

static void
test_life_of_a_row(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (unsigned slots = 2; slots <= 4; slots++)
			run(1, slots, seed, life_of_a_row);
}

/* ---- a pointer cache that cannot tell the keys of three tables apart, two of one shape ---- */

static void
alike(struct fixture *fix)
{
	enum { TABLES = 3, KEYS = 20 };
	struct txn_table tab[TABLES];
	unsigned char row[200];
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned i = 0; i < TABLES; i++) {
		tab[i] = (struct txn_table){ .id = 10 + i,
			.slots = i == 1 ? 4 : 2,
			.row_max = i == 1 ? sizeof row : 64,
			.has_key = true,
			.same_key = row_same_key };
		assert_int_equal(txn_table_create(fix->tw[0], &tab[i]), NAM_OK);
		assert_int_equal(txn_table_open(fix->db[0], &tab[i]), NAM_OK);
	}
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		for (unsigned i = 0; i < TABLES; i++) {
			memset(row, (int)(50 + i), sizeof row);
			memcpy(row, &k, 8);
			struct txn_put p = { .table = &tab[i],
				.key = &k,
				.key_len = 8,
				.hash = nam_mix(k + 1) ^ i, /* low bits: neither the set nor the
							     * tag */
				.bytes = row,
				.len = i == 1 ? sizeof row : 64 };
			assert_int_equal(txn_insert(t, &p, 1), NAM_OK);
		}
	/* Once from its own writes, then from remote memory. */
	for (int round = 0; round < 4; round++) {
		for (uint64_t k = 0; k < KEYS; k++)
			for (unsigned j = 0; j < 3 * TABLES; j++) {
				unsigned i = (j * 7 + (unsigned)k) % TABLES;
				struct txn_get g = {
					.table = &tab[i], .key = &k, .key_len = 8, .hash = nam_mix(k + 1) ^ i
				};
				assert_int_equal(txn_get(t, &g, 1, &a), NAM_OK);
				assert_int_equal(g.status, NAM_OK);
				assert_int_equal(g.row.len, i == 1 ? sizeof row : 64);
				assert_int_equal(((const unsigned char *)g.row.bytes)[9], 50 + i);
			}
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
	}
	txn_abort(t);
	for (unsigned i = 0; i < TABLES; i++)
		txn_table_close(fix->db[0], &tab[i]);
	nam_arena_fini(&a);
}

static void
test_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run(1, 2, seed, alike);
}

/* ---- budgets ---- */

static void
budgets(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 16; k++)
		assert_int_equal(insert(t, &fix->tab[0], k, 100), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	net_sleep(fix->w[0], 50000000); /* the watermark passes: the rows are cold */
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 16; k++)
		value_of(fix, t, &fix->tab[0], k); /* warms the pointer cache */
	uint64_t before = txn_counts(t)->round_trips;
	assert_int_equal(value_of(fix, t, &fix->tab[0], 3), 100);
	assert_int_equal(txn_counts(t)->round_trips - before, 1); /* warm point read */
	for (uint64_t k = 0; k < 3; k++)
		assert_int_equal(add(fix, t, &fix->tab[0], k, -1), NAM_OK);
	for (uint64_t k = 100; k < 104; k++)
		assert_int_equal(insert(t, &fix->tab[0], k, 1), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_true(txn_last_commit_round_trips(fix->tw[0]) <= 2);
}

static void
test_budgets(void **state)
{
	(void)state;
	run(1, 2, 3, budgets);
}

/* ---- several processes: increments of hot rows lose nothing ---- */

struct client {
	struct fixture *fix;
	unsigned proc, n, done;
	enum txn_iso iso;
	uint64_t keys;
	bool *ended;
};

static void
incrementer(void *arg)
{
	struct client *c = arg;
	struct fixture *fix = c->fix;
	struct net_worker *w = fix->w[c->proc];
	for (unsigned i = 0; i < c->n;) {
		struct txn *t = begin(fix, c->proc, c->iso);
		uint64_t key = nam_rng_below(net_rng(w), c->keys);
		nam_status st = add(fix, t, &fix->tab[c->proc], key, 1);
		if (st == NAM_OK && c->keys > 1 && nam_rng_below(net_rng(w), 2))
			st = add(fix, t, &fix->tab[c->proc], (key + 1) % c->keys, 1);
		else if (st == NAM_OK)
			st = add(fix, t, &fix->tab[c->proc], key, 1); /* its own write again */
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		if (st == NAM_OK)
			i++;
		else
			assert_true(st == NAM_CONFLICT || st == NAM_DEADLOCK);
	}
	*c->ended = true;
}

static void
increments(struct fixture *fix, enum txn_iso iso, uint64_t keys)
{
	enum { CLIENTS = 8, EACH = 25 };
	struct client c[CLIENTS];
	bool ended[CLIENTS] = { false };
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < keys; k++)
		assert_int_equal(insert(t, &fix->tab[0], k, 0), NAM_OK);
	txn_set_cluster_visible(t, true);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	for (unsigned i = 0; i < CLIENTS; i++) {
		c[i] = (struct client){ .fix = fix,
			.proc = i % fix->procs,
			.n = EACH,
			.iso = iso,
			.keys = keys,
			.ended = &ended[i] };
		assert_non_null(
		    nam_co_start(net_worker_sched(fix->w[c[i].proc]), incrementer, &c[i], 128 << 10));
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		while (!ended[i])
			net_sleep(fix->w[0], 1000000);
	/* Every answered commit is visible to a session of another process when the marks have
	 * landed. */
	net_sleep(fix->w[0], 10000000);
	for (unsigned p = 0; p < fix->procs; p++) {
		int64_t sum = 0;
		t = begin(fix, p, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < keys; k++)
			sum += value_of(fix, t, &fix->tab[p], k);
		assert_int_equal(sum, CLIENTS * EACH * 2);
		/* A scan agrees. */
		struct txn_scan *s;
		struct txn_row rows[10];
		unsigned n, count = 0;
		int64_t scanned = 0;
		assert_int_equal(txn_scan_open(t, &fix->tab[p], &s), NAM_OK);
		while (assert_int_equal(txn_scan_next(s, rows, 10, &n), NAM_OK), n > 0)
			for (unsigned i = 0; i < n; i++, count++)
				scanned += ((const struct row *)rows[i].bytes)->value;
		txn_scan_close(s);
		assert_int_equal(scanned, sum);
		assert_int_equal(count, keys);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
}

static void
increments_rr(struct fixture *fix)
{
	increments(fix, TXN_REPEATABLE_READ, 3);
}
static void
increments_rc(struct fixture *fix)
{
	increments(fix, TXN_READ_COMMITTED, 3);
}
static void
increments_ser(struct fixture *fix)
{
	increments(fix, TXN_SERIALIZABLE, 3);
}
static void
increments_hot(struct fixture *fix)
{
	increments(fix, TXN_READ_COMMITTED, 1);
}

static void
test_increments(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		run(3, 2, seed, increments_rr);
		run(3, 3, seed, increments_rr);
		run(3, 2, seed, increments_rc);
		run(4, 2, seed, increments_ser);
		run(2, 2, seed, increments_hot);
		run_wrapping(3, 2, seed, 64, increments_rr); /* a vector that wraps many times */
	}
}

/* The values and the write set fill a doorbell to its last place, so that no CAS goes with them. */
static void
full_doorbell(struct fixture *fix)
{
	char bytes[100] = { 0 };
	uint64_t key = 1000000;
	for (unsigned n = TXN_OPS - 3; n <= TXN_OPS + 2; n++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < n; i++, key++) {
			struct row r = mk(key, (int64_t)n);
			assert_int_equal(txn_blob_put(t, &fix->tab[0], bytes, sizeof bytes, &r.blob), NAM_OK);
			assert_int_equal(insert_row(t, &fix->tab[0], &r), NAM_OK);
		}
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t k = key - n; k < key; k++) {
			struct txn_row row;
			struct row is;
			assert_int_equal(get(fix, t, &fix->tab[0], k, &row, &is), NAM_OK);
			assert_int_equal(is.value, n);
		}
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
}

static void
test_full_doorbell(void **state)
{
	(void)state;
	run(1, 2, 1, full_doorbell);
}

/* ---- which slot was newest? The cache remembers; other writers make it wrong ---- */

enum { WIDE = 1000, WIDE_KEYS = 4, WIDE_BLOCK = 64 + 2 * (32 + WIDE) };

/* READs key k by process p. Its value, and what that cost. */
static int64_t
wide_get(struct fixture *fix, unsigned p, struct txn_table *tab, uint64_t k, struct net_counts *cost)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct net_counts before = *txn_counts(t);
	struct txn_get g = { .table = tab, .key = &k, .key_len = 8, .hash = nam_hash(&k, 8, tab->id) };
	assert_int_equal(txn_get(t, &g, 1, &fix->a), NAM_OK);
	assert_int_equal(g.status, NAM_OK);
	cost->round_trips = txn_counts(t)->round_trips - before.round_trips;
	cost->bytes_in = txn_counts(t)->bytes_in - before.bytes_in;
	int64_t v;
	memcpy(&v, (const char *)g.row.bytes + 8, 8);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	return v;
}

static void
wide_set(struct fixture *fix, unsigned p, struct txn_table *tab, uint64_t k, int64_t v)
{
	char bytes[WIDE] = { 0 };
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct txn_get g = { .table = tab, .key = &k, .key_len = 8, .hash = nam_hash(&k, 8, tab->id) };
	memcpy(bytes, &k, 8);
	memcpy(bytes + 8, &v, 8);
	assert_int_equal(txn_get(t, &g, 1, &fix->a), NAM_OK);
	if (g.status == NAM_ABSENT) {
		struct txn_put put = {
			.table = tab, .key = &k, .key_len = 8, .hash = g.hash, .bytes = bytes, .len = WIDE
		};
		assert_int_equal(txn_insert(t, &put, 1), NAM_OK);
	} else {
		assert_int_equal(txn_lock(t, tab, &g.row), NAM_OK);
		assert_int_equal(txn_update(t, tab, &g.row, bytes, WIDE), NAM_OK);
	}
	commit_all(t);
}

/*
 * While another process writes, the hints of this one are wrong: after some, it READs whole blocks,
 * so that a row costs one round trip again. While it writes alone, they are right: a row costs the
 * bytes of one slot.
 */
static void
hints(struct fixture *fix)
{
	struct txn_table tab[2];
	struct net_counts c;
	tab[0] = (struct txn_table){
		.id = 10, .slots = 2, .row_max = WIDE, .has_key = true, .same_key = row_same_key
	};
	assert_int_equal(txn_table_create(fix->tw[0], &tab[0]), NAM_OK);
	tab[1] = tab[0];
	for (unsigned p = 0; p < 2; p++)
		assert_int_equal(txn_table_open(fix->db[p], &tab[p]), NAM_OK);
	for (uint64_t k = 0; k < WIDE_KEYS; k++) {
		wide_set(fix, 0, &tab[0], k, 0);
		assert_int_equal(wide_get(fix, 0, &tab[0], k, &c), 0);
		assert_int_equal(wide_get(fix, 0, &tab[0], k, &c), 0);
		assert_int_equal(c.round_trips, 1);
		assert_true(c.bytes_in < WIDE_BLOCK * 2 / 3);
	}
	uint64_t twice = 0;
	for (int64_t i = 1; i <= 20; i++)
		for (uint64_t k = 0; k < WIDE_KEYS; k++) {
			wide_set(fix, 1, &tab[1], k, i);
			assert_int_equal(wide_get(fix, 0, &tab[0], k, &c), i);
			assert_true(c.round_trips <= 2);
			twice += c.round_trips == 2;
			assert_true(i < 3 || c.round_trips == 1);
		}
	assert_true(twice >= 1 && twice <= 4);
	for (int64_t i = 100; i < 140; i++)
		for (uint64_t k = 0; k < WIDE_KEYS; k++) {
			wide_set(fix, 0, &tab[0], k, i);
			assert_int_equal(wide_get(fix, 0, &tab[0], k, &c), i);
			assert_int_equal(c.round_trips, 1);
		}
	assert_true(c.bytes_in < WIDE_BLOCK * 2 / 3);
	for (unsigned p = 0; p < 2; p++)
		txn_table_close(fix->db[p], &tab[p]);
}

static void
test_hints(void **state)
{
	(void)state;
	run(2, 2, 1, hints);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_row),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_increments),
		cmocka_unit_test(test_full_doorbell),
		cmocka_unit_test(test_hints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
