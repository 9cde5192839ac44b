/*
 * scattered_test.c -- all free memory lies in single extents, no two of them adjacent: long write
 * sets, long values and all else that is larger than an extent can still be had, and go back.
 */
#include <txn/testing/fixture.h>

enum {
	MANY_ROWS = 5000,
	ROUNDS = 30,
	VALUE = 1 << 20,
	MIDDLE = 40000,
	MIDDLES = 1500,
	HUGE_VALUE = 200 << 20
};

/* Takes all that the nodes have, and gives every second extent back. */
static unsigned
scatter(struct fixture *fix)
{
	enum { MOST = 16384 };
	net_addr *at = malloc(MOST * sizeof *at);
	unsigned n = 0, got, left = 0;
	assert_non_null(at);
	for (unsigned r = 1; r <= 3; r++) {
		nam_status st = net_extents_take(fix->w[0], r, MOST - n, false, at + n, &got);
		assert_int_equal(st, NAM_FULL);
		n += got;
	}
	for (unsigned i = 0; i < n; i++)
		if (net_offset_of(at[i]) / NET_EXTENT % 2 == 1)
			at[left++] = at[i];
	assert_int_equal(net_extents_give(fix->w[0], left, at), NAM_OK);
	free(at);
	return left;
}

static void
update_all(struct fixture *fix, uint64_t n, int64_t v)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < n; k++) {
		assert_int_equal(set(fix, t, &fix->tab[0], k, v), NAM_OK);
		if (k % 64 == 63)
			nam_arena_reset(&fix->a);
	}
	commit_all(t);
}

/* ---- a write set of many extents, again and again ---- */

static void
long_write_sets(struct fixture *fix)
{
	unsigned free = scatter(fix), before = 0;
	assert_true(free > 200);
	fill(fix, MANY_ROWS, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		update_all(fix, MANY_ROWS, i);
		if (i == ROUNDS / 3)
			before = at_nodes(fix);
	}
	net_sleep(fix->w[0], 20000000);
	assert_true(at_nodes(fix) >= before - 2); /* memory use stays flat */
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < MANY_ROWS; k += 97)
		assert_int_equal(value_of(fix, t, &fix->tab[1], k), ROUNDS - 1);
	txn_abort(t);
	/* One that is rolled back leaves no extent taken. */
	before = at_nodes(fix);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < MANY_ROWS; k++)
		assert_int_equal(set(fix, t, &fix->tab[0], k, 77), NAM_OK);
	struct txn *other = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, other, &fix->tab[1], 4000, 5), NAM_OK);
	commit_all(other);
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
	assert_true(at_nodes(fix) >= before - 4);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 3999), ROUNDS - 1);
	txn_abort(t);
}

static void
test_long_write_sets(void **state)
{
	(void)state;
	run_sized(2, 2, 1, 48 << 20, long_write_sets);
}

/* ---- a process that dies with such a write set loses a few extents at most ---- */

static uint64_t crash_verb, verbs;
static unsigned most;

struct writer {
	struct fixture *fix;
	bool ended;
};

static void
writer_main(void *arg)
{
	struct writer *w = arg;
	struct fixture *fix = w->fix;
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < MANY_ROWS; k++)
		if (set(fix, t, &fix->tab[1], k, 2) != NAM_OK)
			break;
	verbs = net_sim_verbs(fix->net[1]);
	if (crash_verb != 0)
		net_sim_crash_at(fix->sim, fix->net[1], verbs + crash_verb);
	txn_set_cluster_visible(t, true);
	(void)txn_commit(t, NULL);
	verbs = net_sim_verbs(fix->net[1]) - verbs;
	w->ended = true;
}

static void
dies(struct fixture *fix)
{
	struct writer w = { .fix = fix };
	fill(fix, MANY_ROWS, 1);
	/* Its log, and its memory for archives. */
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, &fix->tab[1], 0, 1), NAM_OK);
	commit_all(t);
	unsigned before = at_nodes(fix);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), writer_main, &w, 256 << 10));
	while (!w.ended && !net_sim_crashed(fix->net[1]))
		net_sleep(fix->w[0], 100000);
	if (crash_verb != 0) {
		if (!net_sim_crashed(fix->net[1]))
			net_sim_crash(fix->sim, fix->net[1]); /* it was faster: dead behind its
							       * end */
		struct txn_stats st = { 0 };
		for (unsigned i = 0; i < 1000 && st.recovered == 0; i++) {
			net_sleep(fix->w[0], 10000000);
			txn_worker_stats(fix->tw[0], &st);
		}
		assert_int_equal(st.recovered, 1);
		/* All of it, or none. */
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		int64_t first = value_of(fix, t, &fix->tab[0], 0);
		for (uint64_t k = 0; k < MANY_ROWS; k += 61)
			assert_int_equal(value_of(fix, t, &fix->tab[0], k), first);
		txn_abort(t);
		unsigned now = at_nodes(fix), lost = now < before ? before - now : 0;
		assert_true(lost <= TXN_LEDGER_PART + 1);
		most = lost > most ? lost : most;
		net_sim_bury(fix->sim, fix->net[1]);
		while (!w.ended)
			net_sleep(fix->w[0], 100000);
	}
	nam_arena_reset(&fix->a);
}

static void
test_dies(void **state)
{
	(void)state;
	crash_verb = 0;
	run_sized(2, 2, 1, 16 << 20, dies);
	uint64_t last = verbs;
	unsigned times = 0;
	assert_true(last > 1000);
	for (crash_verb = 1; crash_verb <= 40; crash_verb += 3, times++)
		run_sized(2, 2, crash_verb, 16 << 20, dies);
	for (; crash_verb <= last; crash_verb += last / 10, times++)
		run_sized(2, 2, crash_verb, 16 << 20, dies);
	for (crash_verb = last - 40; crash_verb <= last; crash_verb += 4, times++)
		run_sized(2, 2, crash_verb, 16 << 20, dies);
	printf("died %u times; at most %u extents were lost\n", times, most);
}

/* ---- long values ---- */

static unsigned char *
bytes_of(uint64_t key, uint32_t len)
{
	uint64_t *b = malloc(TXN_PAD(len));
	assert_non_null(b);
	for (uint32_t i = 0; i < TXN_PAD(len) / 8; i++)
		b[i] = nam_mix(key << 32 | i);
	return (unsigned char *)b;
}

static nam_status
put_value(struct fixture *fix, unsigned p, uint64_t key, uint32_t len, bool commit)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct txn_table *tab = &fix->tab[p];
	struct txn_row row;
	struct row r, is;
	unsigned char *bytes = bytes_of(key ^ len, len);
	nam_status st = get(fix, t, tab, key, &row, &is);
	bool there = st == NAM_OK;
	if (there)
		st = txn_lock(t, tab, &row);
	r = mk(key, len);
	if (st == NAM_OK || st == NAM_ABSENT)
		st = txn_blob_put(t, tab, bytes, len, &r.blob);
	free(bytes);
	if (st == NAM_OK)
		st = there ? txn_update(t, tab, &row, &r, sizeof r) : insert_row(t, tab, &r);
	if (st == NAM_OK && commit)
		commit_all(t);
	else
		txn_abort(t);
	nam_arena_reset(&fix->a);
	return st;
}

static void
check_value(struct fixture *fix, unsigned p, uint64_t key, uint32_t len)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row r;
	const void *bytes;
	assert_int_equal(get(fix, t, &fix->tab[p], key, &row, &r), NAM_OK);
	assert_int_equal(r.blob.len, len);
	uint64_t trips = txn_counts(t)->round_trips;
	assert_int_equal(txn_blob_get(t, &r.blob, 1, &bytes, &fix->a), NAM_OK);
	trips = txn_counts(t)->round_trips - trips;
	unsigned doorbells = (len / NET_EXTENT + TXN_OPS - 1) / TXN_OPS;
	assert_true(trips <= 1 + (doorbells > 1 ? doorbells : 1)); /* the root, then all other
								    * extents together */
	unsigned char *want = bytes_of(key ^ len, len);
	assert_memory_equal(bytes, want, len);
	free(want);
	/* A head that is not this value's is refused. */
	if (len > 2 * NET_EXTENT) {
		struct txn_blob wrong = r.blob;
		wrong.len -= NET_EXTENT;
		assert_int_equal(txn_blob_get(t, &wrong, 1, &bytes, &fix->a), NAM_TORN);
		wrong = r.blob;
		wrong.at = net_plus(wrong.at, NET_EXTENT);
		nam_status st = txn_blob_get(t, &wrong, 1, &bytes, &fix->a);
		assert_true(st == NAM_TORN || st == NAM_INVALID);
	}
	txn_abort(t);
	nam_arena_reset(&fix->a);
}

static void
long_values(struct fixture *fix)
{
	static const uint32_t len[] = { TXN_BLOB_SHORT_MAX, TXN_BLOB_SHORT_MAX + 1, 65535 - 64, 65536 - 32,
		65536, 65537, 70000, 131072 - 40, 131072 - 39, 131072, VALUE, 3 * VALUE + 5 };
	unsigned free = scatter(fix);
	assert_true(free > 200);
	for (unsigned i = 0; i < sizeof len / sizeof *len; i++) {
		assert_int_equal(put_value(fix, 0, i, len[i], true), NAM_OK);
		check_value(fix, 1, i, len[i]);
	}
	/* One value is replaced again and again, others are made and not used; memory use stays
	 * flat. */
	unsigned before = 0;
	for (unsigned i = 0; i < MIDDLES; i++) {
		assert_int_equal(put_value(fix, i % 2, 1000, MIDDLE + i % 7, true), NAM_OK);
		if (i % 10 == 0)
			assert_int_equal(put_value(fix, i % 2, 1001, VALUE, false), NAM_OK);
		if (i % 16 == 0)
			net_sleep(fix->w[0], 6000000);
		if (i == MIDDLES / 3)
			before = at_nodes(fix);
	}
	net_sleep(fix->w[0], 50000000);
	assert_true(at_nodes(fix) + 40 >= before);
	check_value(fix, 0, 1000, MIDDLE + (MIDDLES - 1) % 7);
	for (unsigned i = 0; i < sizeof len / sizeof *len; i++)
		check_value(fix, 0, i, len[i]);
	/* More than there is: refused, and no extent of it is kept. */
	before = at_nodes(fix);
	assert_int_equal(put_value(fix, 0, 2000, 200 * NET_EXTENT * 2, true), NAM_FULL);
	net_sleep(fix->w[0], 20000000);
	assert_true(at_nodes(fix) >= before - 2);
}

static void
test_long_values(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++)
		run_sized(2, 2, seed, 16 << 20, long_values);
}

static void
huge_value(struct fixture *fix)
{
	unsigned free = scatter(fix);
	assert_true((uint64_t)free * NET_EXTENT > HUGE_VALUE);
	unsigned before = at_nodes(fix);
	assert_int_equal(put_value(fix, 0, 1, HUGE_VALUE, true), NAM_OK);
	assert_true(at_nodes(fix) < before - HUGE_VALUE / NET_EXTENT);
	check_value(fix, 1, 1, HUGE_VALUE);
	/* Replaced by a short value: all extents are free again. */
	assert_int_equal(put_value(fix, 0, 1, 5, true), NAM_OK);
	net_sleep(fix->w[0], 100000000);
	assert_true(at_nodes(fix) >= before - 40);
	check_value(fix, 1, 1, 5);
}

static void
test_huge_value(void **state)
{
	(void)state;
	run_sized(2, 2, 1, 160 << 20, huge_value);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_write_sets),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_long_values),
		cmocka_unit_test(test_huge_value),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
