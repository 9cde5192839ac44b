/*
 * order_test.c -- ordered indexes under transactions: ranges and lookups show what a scan of the
 * table shows in the same transaction, whatever other transactions and crashes do, and entries that
 * are not needed go away.
 */
#include <base/fault.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum { US = 1000, DEAD = 1, ROWS = 64, STACK = 128 << 10, LEASE_NS = 100000000 };

/* By key, then value: two words. */
static bool
by_both(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words)
{
	struct row r;
	(void)o;
	if (len < sizeof r)
		return false;
	memcpy(&r, row, sizeof r);
	words[0] = r.key / 4;
	words[1] = (uint64_t)r.value ^ UINT64_C(1) << 63;
	return true;
}

static const struct txn_order orders[2] = {
	{ .words = 1, .key = row_by_value, .options = { .cache = IDX_TREE_INNER } },
	{ .words = 2, .key = by_both, .options = { .cache = IDX_TREE_NONE } },
};

/* The same, in partitions that want to be split as soon as they need memory. */
static const struct txn_order growing[2] = {
	{ .words = 1, .key = row_by_value, .options = { .cache = IDX_TREE_INNER, .split_extents = 1 } },
	{ .words = 2, .key = by_both, .options = { .cache = IDX_TREE_LEARNED, .split_extents = 1 } },
};

/* ---- what a transaction sees, in two ways ---- */

/* A twin is to be wrong: it is counted. */
static unsigned wrong;

static void
must(bool right)
{
	wrong += !right;
	assert_true(right || nam_fault_any());
}

struct seen {
	unsigned n;
	uint64_t key[ROWS];
	int64_t value[ROWS];
};

static void
see(struct seen *s, const struct txn_row *row)
{
	struct row r;
	assert_int_equal(row->len, sizeof r);
	memcpy(&r, row->bytes, sizeof r);
	assert_true(s->n < ROWS);
	s->key[s->n] = r.key;
	s->value[s->n++] = r.value;
}

static nam_status
by_range(struct txn *t, struct txn_table *tab, unsigned order, const struct idx_tree_range *range,
    unsigned max, struct seen *s)
{
	struct txn_range *r;
	struct txn_row row[ROWS];
	unsigned n = 1;
	s->n = 0;
	nam_status st = txn_range_open(t, tab, order, range, &r);
	if (st != NAM_OK)
		return st;
	while (st == NAM_OK && n > 0) {
		st = txn_range_next(r, row, max, &n);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			see(s, &row[i]);
	}
	txn_range_close(r);
	return st;
}

struct keys {
	unsigned n;
	uint64_t word[ROWS][2];
};

static void
keys_add(struct keys *k, unsigned order, const struct txn_row *row)
{
	must(k->n < ROWS); /* a broken twin may show rows twice */
	if (k->n == ROWS)
		return;
	k->word[k->n][1] = 0;
	if (row->key != NULL)
		memcpy(k->word[k->n], row->key, 8u * orders[order].words);
	else if (!orders[order].key(&orders[order], row->bytes, row->len, k->word[k->n]))
		return;
	k->n++;
}

static unsigned by_words; /* rows of which no block was READ */

/* The keys of a range, out of the entries where these are enough. */
static nam_status
by_entries(struct txn *t, struct txn_table *tab, unsigned order, const struct idx_tree_range *range,
    unsigned max, struct keys *k)
{
	static const struct txn_only only = { .enough = NULL };
	struct txn_range *r;
	struct txn_row row[ROWS];
	unsigned n = 1;
	k->n = 0;
	nam_status st = txn_range_open(t, tab, order, range, &r);
	if (st != NAM_OK)
		return st;
	txn_range_only(r, &only);
	while (st == NAM_OK && n > 0) {
		st = txn_range_next(r, row, max, &n);
		for (unsigned i = 0; st == NAM_OK && i < n; i++) {
			by_words += row[i].bytes == NULL;
			keys_add(k, order, &row[i]);
		}
	}
	txn_range_close(r);
	return st;
}

static int
address_order(const void *a, const void *b)
{
	uint64_t x = ((const net_addr *)a)->bits, y = ((const net_addr *)b)->bits;
	return (x > y) - (x < y);
}

/* The rows of the blocks that a range's entries lead to, and own rows. */
static nam_status
by_blocks(struct fixture *fix, struct txn *t, struct txn_table *tab, unsigned order,
    const struct idx_tree_range *range, struct seen *s)
{
	struct txn_blocks b = { .n = 0 };
	struct txn_own_rows own = { .n = 0 };
	struct txn_row row[ROWS];
	size_t n = 0;
	s->n = 0;
	nam_status st = txn_range_own(t, tab, order, range, 1, &own, &fix->a);
	for (size_t i = 0; st == NAM_OK && i < own.n; i++)
		see(s, &own.row[i]);
	if (st == NAM_OK)
		st = txn_range_blocks(t, tab, order, range, 1, &b, &fix->a);
	if (st == NAM_OK && b.n > 0)
		qsort(b.at, b.n, sizeof *b.at, address_order);
	for (size_t i = 0; i < b.n; i++)
		if (n == 0 || b.at[n - 1].bits != b.at[i].bits)
			b.at[n++] = b.at[i];
	for (size_t i = 0; st == NAM_OK && i < n; i += 5) {
		unsigned got = 0;
		st = txn_rows_of_blocks(
		    t, tab, b.at + i, n - i < 5 ? (unsigned)(n - i) : 5, row, &got, &fix->a);
		for (unsigned k = 0; st == NAM_OK && k < got; k++)
			see(s, &row[k]);
	}
	return st;
}

static nam_status
by_scan(struct txn *t, struct txn_table *tab, struct seen *s)
{
	struct txn_scan *scan;
	struct txn_row row[8];
	unsigned n = 1;
	s->n = 0;
	nam_status st = txn_scan_open(t, tab, &scan);
	if (st != NAM_OK)
		return st;
	while (st == NAM_OK && n > 0) {
		st = txn_scan_next(scan, row, 8, &n);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			see(s, &row[i]);
	}
	txn_scan_close(scan);
	return st;
}

/* The rows of a scan that lie in [low, high] by order `order`, in that order, must be those of the
 * range. */
static void
same(const struct seen *scan, const struct seen *range, unsigned order, int64_t low, int64_t high, bool down)
{
	unsigned n = 0;
	for (unsigned i = 0; i < scan->n; i++) {
		int64_t by = order == 0 ? scan->value[i] : (int64_t)scan->key[i] / 4;
		if ((order == 0 && scan->value[i] < 0) || by < low || by > high)
			continue;
		unsigned hits = 0;
		for (unsigned k = 0; k < range->n; k++)
			hits += range->key[k] == scan->key[i] && range->value[k] == scan->value[i];
		must(hits == 1);
		n++;
	}
	must(range->n == n);
	for (unsigned k = 1; k < range->n; k++) {
		int64_t a = order == 0 ? range->value[k - 1] : (int64_t)range->key[k - 1] / 4;
		int64_t b = order == 0 ? range->value[k] : (int64_t)range->key[k] / 4;
		if (order == 1 && a == b) {
			a = range->value[k - 1];
			b = range->value[k];
		}
		assert_true(down ? a >= b : a <= b);
	}
}

static bool
within(const struct seen *s, unsigned i, unsigned order, int64_t low, int64_t high)
{
	int64_t by = order == 0 ? s->value[i] : (int64_t)s->key[i] / 4;
	return (order != 0 || s->value[i] >= 0) && by >= low && by <= high;
}

/* The keys of a range must be those of the scan's rows. */
static void
same_keys(const struct seen *scan, struct keys *k, unsigned order, int64_t low, int64_t high)
{
	unsigned n = 0;
	for (unsigned i = 0; i < scan->n; i++) {
		struct row r = { .key = scan->key[i], .value = scan->value[i] };
		struct txn_row row = { .bytes = &r, .len = sizeof r };
		struct keys one = { .n = 0 };
		unsigned at = n;
		if (!within(scan, i, order, low, high))
			continue;
		keys_add(&one, order, &row);
		while (at < k->n && memcmp(k->word[at], one.word[0], sizeof one.word[0]) != 0)
			at++;
		must(at < k->n);
		if (at == k->n)
			continue;
		memcpy(k->word[at], k->word[n], sizeof k->word[n]);
		n++;
	}
	must(n == k->n);
}

/* Of a range's blocks, the rows that lie in it must be those of the scan, each once. */
static void
same_rows(const struct seen *scan, const struct seen *s, unsigned order, int64_t low, int64_t high)
{
	unsigned n = 0, found = 0;
	for (unsigned i = 0; i < scan->n; i++) {
		if (!within(scan, i, order, low, high))
			continue;
		n++;
		for (unsigned k = 0; k < s->n; k++)
			found += s->key[k] == scan->key[i] && s->value[k] == scan->value[i];
	}
	must(found == n);
	for (unsigned k = 0; k < s->n; k++)
		found -= within(s, k, order, low, high);
	must(found == 0);
}

/* All rows and a part of them, by both orders, in all ways. */
static void
compare(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t dice)
{
	struct seen scan, range;
	const struct net *net = fix->net[tab - fix->tab];
	nam_status st = by_scan(t, tab, &scan);
	if (net_sim_crashed(net)) /* the dead read nothing */
		return;
	assert_int_equal(st, NAM_OK);
	for (unsigned order = 0; order < 2; order++)
		for (unsigned part = 0; part < 2; part++) {
			uint64_t low[2] = { part ? dice % 40 : 0, 0 };
			uint64_t high[2] = { part ? low[0] + dice / 40 % 40 : INT64_MAX, UINT64_MAX };
			struct idx_tree_range r = { .descending = (dice >> order & 1) != 0 };
			if (part) {
				r.low = low;
				r.high = high;
			}
			st = by_range(t, tab, order, &r, 1 + (unsigned)(dice % 9), &range);
			if (net_sim_crashed(net))
				return;
			assert_int_equal(st, NAM_OK);
			same(&scan, &range, order, (int64_t)low[0], (int64_t)high[0], r.descending);
			struct keys keys;
			st = by_entries(t, tab, order, &r, 1 + (unsigned)(dice % 7), &keys);
			if (net_sim_crashed(net))
				return;
			assert_int_equal(st, NAM_OK);
			same_keys(&scan, &keys, order, (int64_t)low[0], (int64_t)high[0]);
			struct seen blocks;
			st = by_blocks(fix, t, tab, order, &r, &blocks);
			if (net_sim_crashed(net))
				return;
			assert_int_equal(st, NAM_OK);
			same_rows(&scan, &blocks, order, (int64_t)low[0], (int64_t)high[0]);
		}
}

static int64_t
seek(struct fixture *fix, struct txn *t, struct txn_table *tab, uint64_t value, nam_status *st)
{
	struct txn_seek s = { .table = tab, .order = 0, .key = &value };
	assert_int_equal(txn_seek(t, &s, 1, &fix->a), NAM_OK);
	*st = s.status;
	if (s.status != NAM_OK)
		return -1;
	struct row r;
	memcpy(&r, s.row.bytes, sizeof r);
	return (int64_t)r.key;
}

static uint64_t
entries(struct fixture *fix, unsigned order)
{
	struct idx_tree_shape shape;
	assert_int_equal(idx_tree_shape(fix->w[0], fix->tab[0].view->tree[order], &shape, NULL), NAM_OK);
	return shape.entries;
}

/* ---- one after the other ---- */

static void
basics(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0], *other = &fix->tab[1];
	nam_status st;
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 20; k++)
		assert_int_equal(insert(t, tab, k, (int64_t)(k * 7 % 20)), NAM_OK);
	compare(fix, t, tab, 12345); /* own rows, before their entries are there */
	assert_int_equal(seek(fix, t, tab, 7, &st), 1);
	commit_all(t);
	assert_int_equal(entries(fix, 0), 20);
	assert_int_equal(entries(fix, 1), 20);

	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 1, 100), NAM_OK); /* another key */
	assert_int_equal(set(fix, t, tab, 2, -5), NAM_OK);  /* out of the first index */
	assert_int_equal(del(fix, t, tab, 3), NAM_OK);
	assert_int_equal(insert(t, tab, 30, 14), NAM_OK); /* key 2 had that value */
	compare(fix, t, tab, 777);
	assert_int_equal(seek(fix, t, tab, 100, &st), 1);
	assert_int_equal(seek(fix, t, tab, 7, &st), -1);
	assert_int_equal(st, NAM_ABSENT);
	commit_all(t);
	/* An older snapshot goes on seeing what was there. */
	assert_int_equal(seek(fix, old, other, 7, &st), 1);
	assert_int_equal(seek(fix, old, other, 100, &st), -1);
	assert_int_equal(seek(fix, old, other, 14, &st), 2);
	compare(fix, old, other, 4242);
	net_sleep(fix->w[0], 100000 * US);
	assert_int_equal(seek(fix, old, other, 7, &st), 1); /* no collector has taken its entry */
	compare(fix, old, other, 99);
	txn_abort(old);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	compare(fix, t, other, 31);
	assert_int_equal(seek(fix, t, other, 14, &st), 30);
	txn_abort(t);
	/* Nothing is left of keys that were left, nor of the deleted row. */
	net_sleep(fix->w[0], 300000 * US);
	assert_int_equal(entries(fix, 0), 19);
	assert_int_equal(entries(fix, 1), 20);
	/* An undone commit leaves no entry: by abort, and by a conflict behind the locks. */
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, tab, 50, 50), NAM_OK);
	txn_abort(t);
	t = begin(fix, 0, TXN_SERIALIZABLE);
	assert_int_equal(value_of(fix, t, tab, 5), 15);
	assert_int_equal(insert(t, tab, 51, 51), NAM_OK);
	struct txn *u = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, u, other, 5, 16), NAM_OK);
	assert_int_equal(txn_commit(u, NULL), NAM_OK);
	txn_set_finish(t, true);
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
	net_sleep(fix->w[0], 300000 * US);
	assert_int_equal(entries(fix, 0), 19);
	assert_int_equal(entries(fix, 1), 20);
	/* Several rows of one key. */
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 100; k < 112; k++)
		assert_int_equal(insert(t, tab, k, 1000), NAM_OK);
	commit_all(t);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	(void)seek(fix, t, other, 1000, &st);
	assert_int_equal(st, NAM_DUPLICATE);
	compare(fix, t, other, 5);
	txn_abort(t);
	/* What it does not do. */
	struct txn_range *r;
	struct idx_tree_range all = { 0 };
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(txn_range_open(t, tab, 2, &all, &r), NAM_INVALID);
	assert_int_equal(txn_range_open(t, &fix->bare[0], 0, &all, &r), NAM_INVALID);
	txn_abort(t);
	assert_int_equal(txn_begin_latest(fix->tw[0], NULL, &t), NAM_OK);
	assert_int_equal(txn_range_open(t, tab, 0, &all, &r), NAM_UNSUPPORTED);
	txn_abort(t);
}

static void
test_basics(void **state)
{
	(void)state;
	for (unsigned slots = 2; slots <= 4; slots++)
		run_sized(2, slots, 3 + slots, 16 << 20, basics);
}

/* ---- phantoms ---- */

static bool
free_of(struct txn *t, struct txn_table *tab, uint64_t low, uint64_t high)
{
	struct seen s;
	const struct idx_tree_range r = { .low = &low, .high = &high };
	assert_int_equal(by_range(t, tab, 0, &r, 4, &s), NAM_OK);
	return s.n == 0;
}

/* Both look whether a range is empty, and put a row into it. */
static unsigned
both_insert(struct fixture *fix, enum txn_iso iso, uint64_t at)
{
	struct txn *a = begin(fix, 0, iso), *b = begin(fix, 1, iso);
	assert_true(free_of(a, &fix->tab[0], at, at + 9));
	assert_true(free_of(b, &fix->tab[1], at, at + 9));
	assert_int_equal(insert(a, &fix->tab[0], at, (int64_t)at + 1), NAM_OK);
	assert_int_equal(insert(b, &fix->tab[1], at + 1, (int64_t)at + 2), NAM_OK);
	unsigned won = txn_commit(a, NULL) == NAM_OK;
	return won + (txn_commit(b, NULL) == NAM_OK);
}

/* Collectors take entries of dead rows out of a leaf between a look and its commit: no row has
 * come. */
static void
entries_go(struct fixture *fix)
{
	struct txn *b = begin(fix, 1, TXN_REPEATABLE_READ), *a;
	bool same = true;
	for (uint64_t k = 0; k < 4; k++)
		assert_int_equal(insert(b, &fix->tab[1], 2000 + k, 600 + (int64_t)k), NAM_OK);
	assert_int_equal(txn_commit(b, NULL), NAM_OK);
	b = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 4; k++)
		assert_int_equal(del(fix, b, &fix->tab[1], 2000 + k), NAM_OK);
	assert_int_equal(txn_commit(b, NULL), NAM_OK);
	/* The other process's commits are seen after a while. */
	net_sleep(fix->w[0], 1000000);
	a = begin(fix, 0, TXN_SERIALIZABLE);
	assert_true(free_of(a, &fix->tab[0], 600, 609));
	for (unsigned i = 0; i < 1000 && same; i++) {
		net_sleep(fix->w[0], 1000000);
		assert_int_equal(idx_leaves_same(fix->w[0], &a->leaves, &same, NULL), NAM_OK);
	}
	assert_false(same);
	assert_int_equal(insert(a, &fix->tab[0], 2010, 605), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_OK);
}

static void
phantoms(struct fixture *fix)
{
	fill(fix, 8, 5);
	assert_int_equal(both_insert(fix, TXN_REPEATABLE_READ, 100), 2);
	must(both_insert(fix, TXN_SERIALIZABLE, 200) == 1);
	if (nam_fault_any())
		return;
	/* A row that an update moves into the range, and one that comes back. */
	struct txn *a = begin(fix, 0, TXN_SERIALIZABLE), *b = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_true(free_of(a, &fix->tab[0], 300, 309));
	assert_int_equal(set(fix, a, &fix->tab[0], 1, 6), NAM_OK);
	assert_int_equal(set(fix, b, &fix->tab[1], 2, 305), NAM_OK);
	assert_int_equal(txn_commit(b, NULL), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_CONFLICT);
	/* No row comes: its own entries are not another's. */
	a = begin(fix, 0, TXN_SERIALIZABLE);
	assert_true(free_of(a, &fix->tab[0], 400, 409));
	for (uint64_t k = 0; k < 30; k++)
		assert_int_equal(insert(a, &fix->tab[0], 1000 + k, 400 + (int64_t)k), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_OK);
	entries_go(fix);
}

static void
test_phantoms(void **state)
{
	(void)state;
	run_sized(2, 2, 17, 16 << 20, phantoms);
}

/* ---- many at once ---- */

static uint64_t die_at, verbs; /* of a process that dies; 0 = none does */

static unsigned running, commits, compared;

struct one {
	struct fixture *fix;
	unsigned number, rounds;
	bool ended;
};

static void
client(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	struct txn_table *tab = &fix->tab[p];
	struct nam_rng *d = net_rng(fix->w[p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn *t;
		if (txn_begin(fix->tw[p], (enum txn_iso)nam_rng_below(d, 3), &t) != NAM_OK)
			break; /* its process has died */
		nam_status st = NAM_OK;
		for (unsigned n = 1 + (unsigned)nam_rng_below(d, 3); st == NAM_OK && n > 0; n--) {
			uint64_t key = nam_rng_below(d, 24);
			int64_t value = (int64_t)nam_rng_below(d, 60) - 4;
			st = set(fix, t, tab, key, value);
			if (st == NAM_ABSENT)
				st = insert(t, tab, key, value);
			else if (st == NAM_OK && nam_rng_below(d, 4) == 0)
				st = del(fix, t, tab, key);
		}
		if (st == NAM_OK && nam_rng_below(d, 3) == 0 && !net_sim_crashed(fix->net[p])) {
			compare(fix, t, tab, nam_rng_next(d));
			compared++;
		}
		if (st == NAM_OK && nam_rng_below(d, 8) != 0)
			commits += txn_commit(t, NULL) == NAM_OK;
		else
			txn_abort(t);
	}
	o->ended = true;
	running--;
}

static void
settled(struct fixture *fix)
{
	struct seen s;
	uint64_t first = 0;
	/* A scan finds entries that a crash has left; the collector takes them. */
	for (unsigned i = 0; i < 4; i++) {
		net_sleep(fix->w[0], 200000 * US);
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		compare(fix, t, &fix->tab[0], 1);
		txn_abort(t);
	}
	net_sleep(fix->w[0], 300000 * US);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(by_scan(t, &fix->tab[0], &s), NAM_OK);
	for (unsigned i = 0; i < s.n; i++)
		first += s.value[i] >= 0;
	uint64_t locked;
	assert_int_equal(txn_table_locks(t, &fix->tab[0], &locked), NAM_OK);
	txn_abort(t);
	/* A lock that a crash left and that is in no write set stays until a transaction
	 * meets it. */
	assert_true(locked == 0 || die_at != 0);
	must(entries(fix, 0) == first);
	must(entries(fix, 1) == s.n);
}

static void
many(struct fixture *fix)
{
	enum { CLIENTS = 6 };
	struct one o[CLIENTS];
	running = CLIENTS;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i, .rounds = 30 };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), client, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 1000 * US);
	settled(fix);
}

static void
test_many(void **state)
{
	(void)state;
	commits = compared = 0;
	for (uint64_t seed = 1; seed <= nam_rounds(30, 9, 3); seed++)
		run_sized(3, 2 + (unsigned)seed % 3, seed, 16 << 20, many);
	printf("%u commits, %u comparisons, %u rows by their words\n", commits, compared, by_words);
	unsigned share = nam_rounds(1, 4, 12);
	assert_true(commits > 500 / share && compared > 200 / share && by_words > 1000 / share);
}

/* ---- rows whose keys come back while the collector removes their entries ---- */

static void
toggler(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	struct nam_rng *d = net_rng(fix->w[p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
		uint64_t key = nam_rng_below(d, 3);
		if (set(fix, t, &fix->tab[p], key, 5 + (int64_t)nam_rng_below(d, 2)) == NAM_OK)
			commits += txn_commit(t, NULL) == NAM_OK;
		else
			txn_abort(t);
		net_sleep(fix->w[p], nam_rng_below(d, 2000) * US);
		t = begin(fix, p, TXN_REPEATABLE_READ);
		compare(fix, t, &fix->tab[p], nam_rng_next(d));
		txn_abort(t);
	}
	running--;
}

static void
toggles(struct fixture *fix)
{
	enum { CLIENTS = 4 };
	struct one o[CLIENTS];
	fill(fix, 3, 5);
	running = CLIENTS;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i, .rounds = 80 };
		assert_non_null(
		    nam_co_start(net_worker_sched(fix->w[i % fix->procs]), toggler, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 1000 * US);
	settled(fix);
}

static void
test_toggles(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(10, 3, 2); seed++)
		run_sized(3, 2 + (unsigned)seed % 3, seed, 16 << 20, toggles);
}

/* ---- a process dies at any verb ---- */

static void
died(struct fixture *fix)
{
	/* Coroutines of a process that has died go on for a while. */
	static struct one o;
	o = (struct one){ .fix = fix, .number = DEAD, .rounds = 6 };
	uint64_t first = net_sim_verbs(fix->net[DEAD]);
	fill(fix, 12, 7);
	running = 1;
	first = net_sim_verbs(fix->net[DEAD]);
	if (die_at != 0)
		net_sim_crash_at(fix->sim, fix->net[DEAD], first + die_at);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), client, &o, STACK));
	net_sleep(fix->w[0], 4 * (uint64_t)LEASE_NS);
	verbs = net_sim_verbs(fix->net[DEAD]) - first;
	settled(fix);
	struct one after = { .fix = fix, .rounds = 10 };
	running++;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), client, &after, STACK));
	while (!after.ended)
		net_sleep(fix->w[0], 1000 * US);
	settled(fix);
	if (net_sim_crashed(fix->net[DEAD]))
		net_sim_bury(fix->sim, fix->net[DEAD]);
}

static void
test_died(void **state)
{
	(void)state;
	for (uint64_t seed = 41; seed < 44; seed++) {
		die_at = 0;
		run_sized(3, 2, seed, 16 << 20, died);
		uint64_t last = verbs;
		printf("seed %lu: %lu verbs\n", seed, last);
		for (die_at = 1 + seed % 3; die_at < last; die_at += nam_rounds(3, 10, 25))
			run_sized(3, 2, seed, 16 << 20, died);
	}
}

/* ---- partitions that grow ---- */

enum { GROWN = 3000, GROWERS = 4 };

static void
grower(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	unsigned p = o->number % fix->procs;
	for (uint64_t k = o->number; k < GROWN;) {
		struct txn *t = begin(fix, p, k % 3 == 0 ? TXN_SERIALIZABLE : TXN_READ_COMMITTED);
		nam_status st = NAM_OK;
		uint64_t next = k;
		for (unsigned i = 0; st == NAM_OK && i < 20 && next < GROWN; i++, next += GROWERS)
			st = insert(t, &fix->tab[p], next, (int64_t)(next * 7919 % 100000));
		if (st != NAM_OK)
			txn_abort(t);
		else if (txn_commit(t, NULL) == NAM_OK)
			k = next;
	}
	running--;
}

/* What it meets when its process dies does not count. */
static void
grower_to_die(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	running--;
	for (uint64_t k = o->number; k < GROWN; k += GROWERS) {
		struct txn *t;
		if (net_sim_crashed(fix->net[DEAD]) ||
		    txn_begin(fix->tw[DEAD], TXN_READ_COMMITTED, &t) != NAM_OK)
			return;
		if (insert(t, &fix->tab[DEAD], k, (int64_t)(k * 7919 % 100000)) != NAM_OK)
			txn_abort(t);
		else
			(void)txn_commit(t, NULL);
	}
}

/* All rows once, in order, by each index; and some by their values. */
static void
all_are_there(struct fixture *fix, unsigned p)
{
	static uint8_t seen[GROWN];
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	for (unsigned order = 0; order < 2; order++) {
		const struct idx_tree_range all = { .low = NULL };
		struct txn_range *r;
		struct txn_row row[16];
		unsigned n = 1, rows = 0;
		int64_t last = -1;
		memset(seen, 0, sizeof seen);
		assert_int_equal(txn_range_open(t, &fix->tab[p], order, &all, &r), NAM_OK);
		while (n > 0) {
			assert_int_equal(txn_range_next(r, row, 16, &n), NAM_OK);
			for (unsigned i = 0; i < n; i++, rows++) {
				struct row is;
				memcpy(&is, row[i].bytes, sizeof is);
				int64_t by = order == 0 ? is.value : (int64_t)is.key / 4;
				assert_true(is.key < GROWN && !seen[is.key] && by >= last);
				seen[is.key] = 1;
				last = by;
			}
		}
		txn_range_close(r);
		assert_int_equal(rows, GROWN);
	}
	for (uint64_t k = 0; k < GROWN; k += 97) {
		nam_status st;
		assert_int_equal(seek(fix, t, &fix->tab[p], k * 7919 % 100000, &st), k);
	}
	txn_abort(t);
}

static void
grows(struct fixture *fix)
{
	struct one o[GROWERS];
	unsigned region[IDX_TREE_PARTS], n, moved = 0;
	running = GROWERS;
	for (unsigned i = 0; i < GROWERS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i % fix->procs]), grower, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], 1000 * US);
	net_sleep(fix->w[0], 1000000 * US);
	for (unsigned p = 0; p < fix->procs; p++) {
		struct txn_stats s;
		txn_worker_stats(fix->tw[p], &s);
		moved += (unsigned)s.parts_moved;
		all_are_there(fix, p);
	}
	assert_true(moved >= 2);
	assert_int_equal(idx_tree_regions(fix->w[0], fix->tab[0].view->tree[0], region, &n, NULL), NAM_OK);
	assert_true(n >= 2 && region[0] != region[1]); /* each node has one of them */
	printf("%u halves moved; index 0 has %u partitions\n", moved, n);
}

/* A scan of the table and a range of all show the same rows. */
static unsigned
as_many(struct fixture *fix, unsigned p)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	const struct idx_tree_range all = { .low = NULL };
	struct txn_range *r;
	struct txn_scan *scan;
	struct txn_row row[16];
	unsigned n = 1, rows = 0, ranged = 0;
	assert_int_equal(txn_scan_open(t, &fix->tab[p], &scan), NAM_OK);
	for (; n > 0; rows += n)
		assert_int_equal(txn_scan_next(scan, row, 16, &n), NAM_OK);
	txn_scan_close(scan);
	for (unsigned order = 0; order < 2; order++, ranged = 0) {
		assert_int_equal(txn_range_open(t, &fix->tab[p], order, &all, &r), NAM_OK);
		for (n = 1; n > 0; ranged += n)
			assert_int_equal(txn_range_next(r, row, 16, &n), NAM_OK);
		txn_range_close(r);
		assert_int_equal(rows, ranged);
	}
	txn_abort(t);
	return rows;
}

/* Its process moves halves as well, and dies. */
static void
grows_and_dies(struct fixture *fix)
{
	static struct one o[GROWERS];
	running = GROWERS;
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + die_at);
	for (unsigned i = 0; i < GROWERS; i++) {
		o[i] = (struct one){ .fix = fix, .number = i };
		unsigned p = i % fix->procs;
		assert_non_null(nam_co_start(
		    net_worker_sched(fix->w[p]), p == DEAD ? grower_to_die : grower, &o[i], STACK));
	}
	net_sleep(fix->w[0], 8 * (uint64_t)LEASE_NS);
	for (unsigned i = 0; i < 200 && running > 0; i++)
		net_sleep(fix->w[0], (uint64_t)LEASE_NS);
	assert_int_equal(running, 0);
	assert_true(net_sim_crashed(fix->net[DEAD]));
	assert_true(as_many(fix, 0) >= GROWN / 2);
	net_sim_bury(fix->sim, fix->net[DEAD]);
}

static void
test_grows(void **state)
{
	(void)state;
	die_at = 0;
	fixture_order = growing;
	for (uint64_t seed = 71; seed < 71 + nam_rounds(4, 2, 1); seed++)
		run_sized(2, 2, seed, 16 << 20, grows);
	for (uint64_t seed = 80; seed < 110; seed += nam_rounds(1, 3, 8)) {
		die_at = 300 + (seed - 80) * 150;
		run_sized(2, 2, seed, 16 << 20, grows_and_dies);
	}
	fixture_order = orders;
}

/* ---- unique keys beside a collector ---- */

/*
 * Row 1 has given up the key 9, but its entry is there: `old` may see it. A collector holds row 1's
 * block. Row 2 gets the key: that is no conflict, because a collector changes no version that
 * lives. And a key that row 1 has is one that exists.
 */
static void
beside_collector(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	struct txn_row row;
	struct row r;
	struct txn_clash clash;
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 1; k <= 3; k++)
		assert_int_equal(insert(t, tab, k, (int64_t)k + 8), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(get(fix, old, &fix->tab[1], 1, &row, &r), NAM_OK);
	assert_int_equal(r.value, 9);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 1, 5), NAM_OK);
	commit_all(t);

	uint64_t word, lock = txn_gc_lock(fix->tw[1]);
	assert_int_equal(net_read1(fix->w[0], row.at, &word, 8, NULL), NAM_OK);
	assert_int_equal(net_write1(fix->w[0], row.at, &lock, 8, NULL), NAM_OK);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 2, 5), NAM_OK);
	assert_int_equal(txn_unique(t, &clash), NAM_DUPLICATE);
	txn_abort(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 2, 9), NAM_OK);
	assert_int_equal(txn_unique(t, &clash), NAM_OK);
	commit_all(t);
	assert_int_equal(net_write1(fix->w[0], row.at, &word, 8, NULL), NAM_OK);

	/* A transaction's lock is another matter: that one may give row 1 the key again. */
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 2, 77), NAM_OK);
	commit_all(t);
	assert_int_equal(get(fix, old, &fix->tab[1], 2, &row, &r), NAM_OK);
	struct txn *other = begin(fix, 1, TXN_REPEATABLE_READ);
	struct txn_row newest;
	assert_int_equal(get(fix, other, &fix->tab[1], 2, &newest, &r), NAM_OK);
	assert_int_equal(txn_lock_now(other, &fix->tab[1], &newest, true), NAM_OK);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, tab, 3, 10), NAM_OK);
	const struct txn_limits soon = { .lock_wait_ns = 5000 * US };
	txn_set_limits(t, &soon);
	assert_int_equal(txn_unique(t, &clash), NAM_TIMEOUT);
	txn_abort(t);
	txn_abort(other);
	txn_abort(old);
}

static void
test_beside_collector(void **state)
{
	(void)state;
	static const struct txn_order unique[1] = {
		{ .words = 1, .unique = true, .key = row_by_value, .options = { .cache = IDX_TREE_INNER } }
	};
	die_at = 0;
	fixture_order = unique;
	fixture_orders = 1;
	for (uint64_t seed = 40; seed < 40 + nam_rounds(10, 5, 2); seed++)
		run_sized(2, 2, seed, 16 << 20, beside_collector);
	fixture_order = orders;
	fixture_orders = 2;
}

/* ---- what the collector's work costs ---- */

enum { LEFT = 320, PER_TXN = 40 };

static uint64_t
round_trips_until_quiet(struct fixture *fix)
{
	struct net_counts before, after;
	txn_worker_background(fix->tw[0], &before);
	net_sleep(fix->w[0], 400000 * US);
	txn_worker_background(fix->tw[0], &after);
	return after.round_trips - before.round_trips;
}

/* Rows leave their keys, and then go: the collector works on them in groups. */
static void
in_groups(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[0];
	for (unsigned what = 0; what < 3; what++) {
		struct txn *old = begin(fix, 0, TXN_REPEATABLE_READ);
		nam_status st;
		(void)seek(fix, old, tab, 7, &st);
		for (uint64_t k = 0; k < LEFT;) {
			struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
			for (unsigned i = 0; i < PER_TXN; i++, k++)
				assert_int_equal(what == 0   ? insert(t, tab, k, (int64_t)k + 1)
						 : what == 1 ? set(fix, t, tab, k, (int64_t)(k + LEFT) + 1)
							     : del(fix, t, tab, k),
				    NAM_OK);
			commit_all(t);
		}
		txn_abort(old);
		uint64_t took = round_trips_until_quiet(fix), idle = round_trips_until_quiet(fix);
		took = took > idle ? took - idle : 0;
		/* A deleted row's entry of the hash index leaves by itself: three for each. */
		uint64_t may = (what == 2 ? 3 * LEFT : 0) + LEFT;
		printf("%s: %lu round trips of the collector for %d rows\n",
		    what == 0   ? "inserted"
		    : what == 1 ? "other keys"
				: "deleted",
		    took, LEFT);
		assert_true(took < may);
		assert_int_equal(entries(fix, 0), what == 2 ? 0 : LEFT);
		assert_int_equal(entries(fix, 1), what == 2 ? 0 : LEFT);
	}
}

static void
test_in_groups(void **state)
{
	(void)state;
	die_at = 0;
	run_sized(1, 2, 5, 16 << 20, in_groups);
}

/* ---- the faults ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const struct {
		enum nam_fault twin;
		void (*scene)(struct fixture *);
		unsigned seeds;
	} fault[] = {
		{ NAM_FAULT_KEY_UNASKED, many, 30 },
		{ NAM_FAULT_ENTRY_UNLOCKED, toggles, 20 },
		{ NAM_FAULT_KNOWN_UNASKED, many, 30 },
		{ NAM_FAULT_LEAVES_UNSEEN, phantoms, 1 },
		{ NAM_FAULT_LEAVES_UNJUDGED, phantoms, 1 },
	};
	unsigned missed = 0;
	die_at = 0;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_fault_on = fault[i].twin;
		wrong = 0;
		for (uint64_t seed = 1; seed <= fault[i].seeds; seed++)
			run_sized(3, 2, seed, 16 << 20, fault[i].scene);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: %u answers wrong\n", nam_fault_name[fault[i].twin], wrong);
		missed += wrong == 0;
	}
	assert_int_equal(missed, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_phantoms),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_toggles),
		cmocka_unit_test(test_died),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_beside_collector),
		cmocka_unit_test(test_in_groups),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	fixture_order = orders;
	fixture_orders = 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
