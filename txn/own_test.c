/*
 * own_test.c -- what a transaction has written itself: found as a walk over all of it would find
 * it, and without one.
 *
 * The second half measures the CPU time of this thread for n and for 8 n rows: it may grow by what
 * n log n grows, not by n * n, which is 64 times.
 */
#include <txn/testing/fixture.h>

#include <time.h>

/* ---- the same rows as a plain list ---- */

enum { KEYS = 40, VALUES = 12, STEPS = 300, OPEN = 3, UNDO = 4 };

struct model {
	int64_t value[KEYS]; /* -1 = no such row */
};

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The values of a range that the model has, in its order. */
static unsigned
expected(const struct model *m, int64_t low, int64_t high, bool down, int64_t *out)
{
	unsigned n = 0;
	for (unsigned k = 0; k < KEYS; k++)
		if (m->value[k] >= low && m->value[k] <= high)
			out[n++] = m->value[k];
	qsort(out, n, sizeof *out, by_value);
	for (unsigned i = 0; down && i < n / 2; i++) {
		int64_t x = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = x;
	}
	return n;
}

/* A range that stays open: it shows the rows of its beginning. */
struct open {
	struct txn_range *r;
	int64_t want[KEYS];
	unsigned n, at;
};

static void
open_range(struct txn *t, struct txn_table *tab, const struct model *m, int64_t low, int64_t high, bool down,
    struct open *o)
{
	const uint64_t from = (uint64_t)low, to = (uint64_t)high;
	const struct idx_tree_range range = { .low = &from, .high = &to, .descending = down };
	assert_int_equal(txn_range_open(t, tab, 0, &range, &o->r), NAM_OK);
	o->n = expected(m, low, high, down, o->want);
	o->at = 0;
}

/* Some rows more; the range is closed when there is none. */
static void
read_on(struct open *o, unsigned max)
{
	struct txn_row row[4];
	unsigned n;
	assert_int_equal(txn_range_next(o->r, row, max, &n), NAM_OK);
	for (unsigned i = 0; i < n; i++) {
		struct row r;
		memcpy(&r, row[i].bytes, sizeof r);
		assert_true(o->at < o->n);
		assert_int_equal(r.value, o->want[o->at++]);
	}
	if (n > 0)
		return;
	assert_int_equal(o->at, o->n);
	txn_range_close(o->r);
	o->r = NULL;
}

static void
seek_all(struct fixture *fix, struct txn *t, struct txn_table *tab, const struct model *m)
{
	struct txn_seek s[VALUES];
	uint64_t key[VALUES];
	for (unsigned v = 0; v < VALUES; v++) {
		key[v] = v;
		s[v] = (struct txn_seek){ .table = tab, .key = &key[v], .every = true };
	}
	assert_int_equal(txn_seek(t, s, VALUES, &fix->a), NAM_OK);
	for (unsigned v = 0; v < VALUES; v++) {
		int64_t out[KEYS];
		assert_int_equal(s[v].status == NAM_OK ? s[v].rows : 0, expected(m, v, v, false, out));
	}
}

static uint64_t dice;

static uint64_t
roll(uint64_t n)
{
	dice = nam_mix(dice + 1);
	return dice % n;
}

static void
change_one(struct fixture *fix, struct txn *t, struct txn_table *tab, struct model *m)
{
	uint64_t k = roll(KEYS);
	int64_t v = (int64_t)roll(VALUES);
	if (m->value[k] < 0)
		assert_int_equal(insert(t, tab, k, v), NAM_OK);
	else if (roll(3) == 0)
		assert_int_equal(del(fix, t, tab, k), NAM_OK), v = -1;
	else
		assert_int_equal(set(fix, t, tab, k, v), NAM_OK);
	m->value[k] = v;
}

/* Ranges that are open while rows are changed, undone and changed again. Those of the index itself
 * are the committed rows: there are none. */
static void
beside_a_list(struct fixture *fix)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct txn_table *tab = &fix->tab[0];
		struct txn *t = begin(fix, 0, seed % 2 ? TXN_READ_COMMITTED : TXN_REPEATABLE_READ);
		struct model m, was[UNDO];
		uint32_t mark[UNDO];
		unsigned marks = 0;
		struct open open[OPEN] = { 0 };
		memset(m.value, 0xff, sizeof m.value);
		dice = seed;
		for (unsigned i = 0; i < STEPS; i++) {
			unsigned o = (unsigned)roll(OPEN);
			uint64_t what = roll(16);
			if (what < 9) {
				change_one(fix, t, tab, &m);
			} else if (what < 12 && open[o].r == NULL) {
				int64_t low = (int64_t)roll(VALUES);
				open_range(t, tab, &m, low, low + (int64_t)roll(VALUES), roll(2), &open[o]);
			} else if (what < 14 && open[o].r != NULL) {
				read_on(&open[o], 1 + (unsigned)roll(3));
			} else if (what == 14 && marks < UNDO) {
				was[marks] = m;
				mark[marks++] = txn_mark(t);
			} else if (what == 15 && marks > 0 && roll(3) == 0) {
				for (unsigned k = 0; k < OPEN; k++) /* none may be open */
					while (open[k].r != NULL)
						read_on(&open[k], 4);
				marks = (unsigned)roll(marks);
				assert_int_equal(txn_rollback_to(t, mark[marks]), NAM_OK);
				m = was[marks];
			}
			if (i % 16 == 0)
				seek_all(fix, t, tab, &m);
		}
		for (unsigned k = 0; k < OPEN; k++)
			while (open[k].r != NULL)
				read_on(&open[k], 4);
		seek_all(fix, t, tab, &m);
		txn_abort(t);
		nam_arena_reset(&fix->a);
	}
}

static const struct txn_order value_order = { .words = 1, .key = row_by_value };

static void
test_beside_a_list(void **state)
{
	(void)state;
	fixture_order = &value_order;
	fixture_orders = 1;
	run_some(1, beside_a_list);
	fixture_order = NULL;
	fixture_orders = 0;
}

/* ---- work that does not grow with what is there ---- */

enum { FEW = 1500, TIMES = 8, MAY = 28 };

static unsigned
long_blobs(const struct txn_order *o, const void *row, uint32_t len, struct txn_blob out[TXN_ORDER_LONGS])
{
	(void)o;
	return row_blobs(NULL, row, len, out, 1);
}

static bool
long_key(const struct txn_order *o, const void *row, uint32_t len, const void *const *bytes, uint64_t *words)
{
	(void)o;
	(void)row;
	(void)len;
	memcpy(words, bytes[0], sizeof *words);
	return true;
}

static const struct txn_order long_order = {
	.words = 1, .key = row_by_value, .longs = long_blobs, .long_key = long_key
};

static uint64_t
cpu_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What is measured, for n rows. Returns the time that counts. */
typedef uint64_t work_fn(struct fixture *fix, uint32_t n);

static struct growth {
	work_fn *fn;
	uint64_t few, many;
} measured;

static void
measure(struct fixture *fix)
{
	measured.few = measured.fn(fix, FEW);
	measured.many = measured.fn(fix, FEW * TIMES);
}

static void
grows(const char *what, work_fn *fn, const struct txn_order *order)
{
	fixture_order = order;
	fixture_orders = order != NULL;
	/* Other work on the machine may fall into one run, hardly into all. */
	double least = 1e9;
	for (unsigned i = 0; i < 3 && least > MAY; i++) {
		measured.fn = fn;
		run_sized(1, 2, i + 1, 64 << 20, measure);
		double ratio = (double)measured.many / (double)measured.few;
		least = ratio < least ? ratio : least;
	}
	printf("%s: %u times the rows, %.1f times the work\n", what, TIMES, least);
	assert_true(least <= MAY);
	fixture_order = NULL;
	fixture_orders = 0;
}

static void
put_long(struct txn *t, struct txn_table *tab, uint64_t key)
{
	struct row r = mk(key, (int64_t)key);
	uint64_t bytes[8] = { nam_mix(key) };
	assert_int_equal(txn_blob_put(t, tab, bytes, sizeof bytes, &r.blob), NAM_OK);
	assert_int_equal(insert_row(t, tab, &r), NAM_OK);
}

/* A commit whose entries depend on values of its own. */
static uint64_t
commit_of_long_keys(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < n; k++)
		put_long(t, &fix->tab[0], k | (uint64_t)n << 32);
	uint64_t from = cpu_ns();
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	return cpu_ns() - from;
}

/* New values in the place of new ones. */
static uint64_t
changes_of_blobs(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < n; k++)
		put_long(t, &fix->tab[0], k | (uint64_t)n << 32);
	uint64_t from = cpu_ns();
	for (uint64_t k = 0; k < n; k++)
		assert_int_equal(set(fix, t, &fix->tab[0], k | (uint64_t)n << 32, 7), NAM_OK);
	from = cpu_ns() - from;
	txn_abort(t);
	nam_arena_reset(&fix->a);
	return from;
}

/* Keys that are looked up and absent, and then inserted. */
static uint64_t
inserts_after_looks(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	uint64_t from = cpu_ns();
	for (uint64_t k = 0; k < n; k++) {
		assert_int_equal(value_of(fix, t, &fix->tab[0], k | (uint64_t)n << 32), -1);
		assert_int_equal(insert(t, &fix->tab[0], k | (uint64_t)n << 32, 1), NAM_OK);
	}
	from = cpu_ns() - from;
	txn_abort(t);
	nam_arena_reset(&fix->a);
	return from;
}

/* The least row of an order, read again and again while rows come. */
static uint64_t
ranges_between_inserts(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	const struct idx_tree_range all = { .expect = 1 };
	uint64_t from = cpu_ns();
	for (uint64_t k = n; k > 0; k--) {
		struct txn_range *r;
		struct txn_row row;
		unsigned got;
		assert_int_equal(
		    insert(t, &fix->tab[0], k | (uint64_t)n << 32, (int64_t)(nam_mix(k) >> 2)), NAM_OK);
		assert_int_equal(txn_range_open(t, &fix->tab[0], 0, &all, &r), NAM_OK);
		assert_int_equal(txn_range_next(r, &row, 1, &got), NAM_OK);
		assert_int_equal(got, 1);
		txn_range_close(r);
	}
	from = cpu_ns() - from;
	txn_abort(t);
	return from;
}

/* One row that gets another key each time, and is sought by it. */
static uint64_t
seeks_between_updates(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	uint64_t from = cpu_ns();
	assert_int_equal(insert(t, &fix->tab[0], n, 0), NAM_OK);
	for (uint64_t k = 1; k <= n; k++) {
		struct txn_seek s = { .table = &fix->tab[0], .key = &k };
		assert_int_equal(set(fix, t, &fix->tab[0], n, (int64_t)k), NAM_OK);
		assert_int_equal(txn_seek(t, &s, 1, &fix->a), NAM_OK);
		assert_int_equal(s.status, NAM_OK);
		nam_arena_reset(&fix->a);
	}
	from = cpu_ns() - from;
	txn_abort(t);
	return from;
}

/* Savepoints, each rolled back, behind many rows. */
static uint64_t
rollbacks_to_marks(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < n; k++)
		put_long(t, &fix->tab[0], k | (uint64_t)n << 32);
	uint64_t from = cpu_ns();
	for (uint64_t k = 0; k < n; k++) {
		uint32_t mark = txn_mark(t);
		assert_int_equal(insert(t, &fix->bare[0], k, 1), NAM_OK);
		assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
	}
	from = cpu_ns() - from;
	txn_abort(t);
	return from;
}

/* A SERIALIZABLE transaction reads keys and gives rows others. */
static uint64_t
serializable_entries(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_SERIALIZABLE);
	for (uint64_t k = 0; k < n; k++) {
		uint64_t key = nam_mix(k | (uint64_t)n << 32) >> 2;
		struct txn_seek s = { .table = &fix->tab[0], .key = &key };
		assert_int_equal(txn_seek(t, &s, 1, &fix->a), NAM_OK);
		assert_int_equal(insert(t, &fix->tab[0], k | (uint64_t)n << 32, (int64_t)key), NAM_OK);
		nam_arena_reset(&fix->a);
	}
	uint64_t from = cpu_ns();
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	return cpu_ns() - from;
}

/* Statements that each take a key away. */
static uint64_t
forbids(struct fixture *fix, uint32_t n)
{
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	uint64_t from = cpu_ns();
	for (uint64_t k = 0; k < n; k++) {
		const struct txn_forbid of = { .table = &fix->tab[0],
			.order = -1,
			.key = &k,
			.key_len = 8,
			.hash = nam_hash(&k, 8, 1) };
		assert_int_equal(txn_forbid(t, &of), NAM_OK);
		assert_int_equal(txn_forbidden(t), NAM_OK);
	}
	from = cpu_ns() - from;
	txn_abort(t);
	return from;
}

static void
test_growth(void **state)
{
	(void)state;
	grows("a commit of long keys", commit_of_long_keys, &long_order);
	grows("changes of new long values", changes_of_blobs, NULL);
	grows("inserts of keys that were looked up", inserts_after_looks, NULL);
	grows("ranges between inserts", ranges_between_inserts, &value_order);
	grows("seeks between updates of one row", seeks_between_updates, &value_order);
	grows("rollbacks to marks", rollbacks_to_marks, NULL);
	grows("entries of a serializable commit", serializable_entries, &value_order);
	grows("keys taken away, statement by statement", forbids, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside_a_list),
		cmocka_unit_test(test_growth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
