/* isolation_test.c -- each anomaly by name: which level refuses it, which allows it; waiting,
 * deadlock, reclaiming, full memory. */
#include <txn/testing/fixture.h>

/* ---- anomalies ---- */

/* Two transactions read both keys, each writes another one. */
static void
write_skew(struct fixture *fix, enum txn_iso iso, unsigned commits)
{
	fill(fix, 2, 1);
	struct txn *a = begin(fix, 0, iso), *b = begin(fix, 1, iso);
	for (uint64_t k = 0; k < 2; k++) {
		assert_int_equal(value_of(fix, a, &fix->tab[0], k), 1);
		assert_int_equal(value_of(fix, b, &fix->tab[1], k), 1);
	}
	unsigned done = 0;
	done += set(fix, a, &fix->tab[0], 0, 0) == NAM_OK;
	done += set(fix, b, &fix->tab[1], 1, 0) == NAM_OK;
	assert_int_equal(done, 2);
	nam_status sa = txn_commit(a, NULL), sb = txn_commit(b, NULL);
	assert_true(sa == NAM_OK || sa == NAM_CONFLICT);
	assert_true(sb == NAM_OK || sb == NAM_CONFLICT);
	assert_int_equal((sa == NAM_OK) + (sb == NAM_OK), commits);
}
static void
write_skew_rr(struct fixture *fix)
{
	write_skew(fix, TXN_REPEATABLE_READ, 2);
}
static void
write_skew_ser(struct fixture *fix)
{
	write_skew(fix, TXN_SERIALIZABLE, 1);
}
static void
test_write_skew(void **state)
{
	(void)state;
	run_some(2, write_skew_rr);
	run_some(2, write_skew_ser);
}

static void
lost_update(struct fixture *fix)
{
	fill(fix, 1, 10);
	for (int iso = TXN_REPEATABLE_READ; iso <= TXN_SERIALIZABLE; iso++) {
		struct txn *a = begin(fix, 0, (enum txn_iso)iso), *b = begin(fix, 1, (enum txn_iso)iso);
		int64_t va = value_of(fix, a, &fix->tab[0], 0), vb = value_of(fix, b, &fix->tab[1], 0);
		assert_int_equal(set(fix, a, &fix->tab[0], 0, va + 1), NAM_OK);
		assert_int_equal(set(fix, b, &fix->tab[1], 0, vb + 1), NAM_OK);
		commit_all(a);
		assert_int_equal(txn_commit(b, NULL), NAM_CONFLICT);
	}
	/* READ COMMITTED: the second one meets the newest version and reports it. */
	struct txn *a = begin(fix, 0, TXN_READ_COMMITTED), *b = begin(fix, 1, TXN_READ_COMMITTED);
	struct txn_row row;
	struct row r;
	assert_int_equal(get(fix, b, &fix->tab[1], 0, &row, &r), NAM_OK);
	assert_int_equal(r.value, 12);
	assert_int_equal(set(fix, a, &fix->tab[0], 0, 50), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_OK);
	assert_int_equal(txn_lock(b, &fix->tab[1], &row), NAM_OK);
	assert_true(row.changed);
	memcpy(&r, row.bytes, sizeof r);
	assert_int_equal(r.value, 50);
	r = mk(0, r.value + 1);
	assert_int_equal(txn_update(b, &fix->tab[1], &row, &r, sizeof r), NAM_OK);
	commit_all(b);
	struct txn *c = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(value_of(fix, c, &fix->tab[0], 0), 51);
	txn_abort(c);
}
static void
test_lost_update(void **state)
{
	(void)state;
	run_some(2, lost_update);
}

/* Locked by one statement at a version that a later statement's snapshot need not cover yet. */
static void
locked_before(struct fixture *fix)
{
	fill(fix, 1, 10);
	struct txn *a = begin(fix, 0, TXN_READ_COMMITTED), *b = begin(fix, 1, TXN_READ_COMMITTED);
	struct txn_row old, row;
	struct row r;
	assert_int_equal(get(fix, b, &fix->tab[1], 0, &old, &r), NAM_OK);
	row = old;
	assert_int_equal(set(fix, a, &fix->tab[0], 0, 20), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_OK);
	assert_int_equal(txn_lock(b, &fix->tab[1], &row), NAM_OK);
	assert_true(row.changed);
	/* The same row as an older snapshot showed it, locked again. */
	assert_int_equal(txn_lock(b, &fix->tab[1], &old), NAM_OK);
	memcpy(&r, old.bytes, sizeof r);
	assert_int_equal(r.value, 20);
	txn_abort(b);
}
static void
test_locked_before(void **state)
{
	(void)state;
	run_some(2, locked_before);
}

static void
dirty_and_repeatable(struct fixture *fix)
{
	fill(fix, 2, 1);
	struct txn *w = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, w, &fix->tab[0], 0, 99), NAM_OK);
	assert_int_equal(insert(w, &fix->tab[0], 5, 99), NAM_OK);
	struct txn *rc = begin(fix, 1, TXN_READ_COMMITTED), *rr = begin(fix, 1, TXN_REPEATABLE_READ);
	/* locked, yet read, and not dirty */
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 0), 1);
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 5), -1);
	assert_int_equal(value_of(fix, rr, &fix->tab[1], 0), 1);
	commit_all(w);
	assert_int_equal(txn_statement(rc), NAM_OK);
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 0), 99);
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 5), 99);
	assert_int_equal(value_of(fix, rr, &fix->tab[1], 0), 1);
	assert_int_equal(value_of(fix, rr, &fix->tab[1], 5), -1);
	txn_abort(rc);
	txn_abort(rr);
	/* An abort leaves no version. */
	w = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, w, &fix->tab[0], 1, 77), NAM_OK);
	assert_int_equal(insert(w, &fix->tab[0], 6, 77), NAM_OK);
	txn_abort(w);
	rc = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 1), 1);
	assert_int_equal(value_of(fix, rc, &fix->tab[1], 6), -1);
	txn_abort(rc);
}
static void
test_dirty_read(void **state)
{
	(void)state;
	run_some(2, dirty_and_repeatable);
}

/* Two independent writes; readers everywhere must agree on their order. */
struct forker {
	struct fixture *fix;
	unsigned p;
	bool writer, *stop, *ended;
	uint64_t key;
};
static uint8_t fork_seen[64 * 64]; /* states that a reader saw: value of key 0, value of key 1 */
static void
forker_main(void *arg)
{
	struct forker *f = arg;
	struct fixture *fix = f->fix;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (int64_t i = 1; f->writer ? i <= 40 : !*f->stop; i++) {
		struct txn *t = begin(fix, f->p, TXN_REPEATABLE_READ);
		struct row r[2];
		uint64_t key[2] = { 0, 1 };
		struct txn_get g[2];
		for (unsigned k = 0; k < 2; k++)
			g[k] = (struct txn_get){ .table = &fix->tab[f->p],
				.key = &key[k],
				.key_len = 8,
				.hash = nam_hash(&key[k], 8, fix->tab[f->p].id) };
		assert_int_equal(txn_get(t, g, 2, &a), NAM_OK);
		for (unsigned k = 0; k < 2; k++)
			memcpy(&r[k], g[k].row.bytes, sizeof r[k]);
		if (f->writer) {
			struct row n = mk(f->key, r[f->key].value + 1);
			assert_int_equal(
			    txn_update(t, &fix->tab[f->p], &g[f->key].row, &n, sizeof n), NAM_OK);
			assert_int_equal(txn_commit(t, NULL), NAM_OK);
			net_sleep(fix->w[f->p], nam_rng_below(net_rng(fix->w[f->p]), 5000));
		} else {
			fork_seen[r[0].value * 64 + r[1].value] = 1;
			txn_abort(t);
		}
		nam_arena_reset(&a);
	}
	nam_arena_fini(&a);
	*f->ended = true;
}
static void
long_fork(struct fixture *fix)
{
	bool stop = false, ended[4] = { false };
	struct forker f[4];
	memset(fork_seen, 0, sizeof fork_seen);
	fill(fix, 2, 0);
	for (unsigned i = 0; i < 4; i++) {
		f[i] = (struct forker){
			.fix = fix, .p = i, .writer = i < 2, .key = i, .stop = &stop, .ended = &ended[i]
		};
		assert_non_null(nam_co_start(net_worker_sched(fix->w[i]), forker_main, &f[i], 128 << 10));
	}
	while (!ended[0] || !ended[1])
		net_sleep(fix->w[0], 100000);
	stop = true;
	while (!ended[2] || !ended[3])
		net_sleep(fix->w[0], 100000);
	/* The states seen must lie on one path: of two of them one is at or above the other in both
	 * keys. */
	unsigned states = 0;
	for (unsigned a = 0; a < 64 * 64; a++)
		for (unsigned b = 0; fork_seen[a] && b < 64 * 64; b++)
			if (fork_seen[b]) {
				states += a == b;
				assert_false(a / 64 < b / 64 && a % 64 > b % 64);
			}
	assert_true(states > 10);
}
static void
test_long_fork(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run(4, 2, seed, long_fork);
}

/* Fekete's read-only anomaly: a reader makes two transactions that look serializable impossible.
 * The batch (b) must not commit behind the receipt (r) that it did not see, once a report has shown
 * the one without the other. */
static void
read_only_anomaly(struct fixture *fix)
{
	fill(fix, 2, 0);
	struct txn *b = begin(fix, 0, TXN_SERIALIZABLE);
	assert_int_equal(value_of(fix, b, &fix->tab[0], 0), 0);
	assert_int_equal(value_of(fix, b, &fix->tab[0], 1), 0);
	struct txn *r = begin(fix, 1, TXN_SERIALIZABLE);
	assert_int_equal(set(fix, r, &fix->tab[1], 1, 20), NAM_OK);
	commit_all(r);
	struct txn *report = begin(fix, 1, TXN_SERIALIZABLE);
	assert_int_equal(value_of(fix, report, &fix->tab[1], 0), 0);
	assert_int_equal(value_of(fix, report, &fix->tab[1], 1), 20);
	assert_int_equal(txn_commit(report, NULL), NAM_OK);
	assert_int_equal(set(fix, b, &fix->tab[0], 0, -11), NAM_OK);
	assert_int_equal(txn_commit(b, NULL), NAM_CONFLICT);
}
static void
test_read_only_anomaly(void **state)
{
	(void)state;
	run_some(2, read_only_anomaly);
}

static unsigned
count(struct txn *t, struct txn_table *tab)
{
	struct txn_scan *s;
	struct txn_row rows[16];
	unsigned n, all = 0;
	assert_int_equal(txn_scan_open(t, tab, &s), NAM_OK);
	while (assert_int_equal(txn_scan_next(s, rows, 16, &n), NAM_OK), n > 0)
		all += n;
	txn_scan_close(s);
	return all;
}

static void
phantoms(struct fixture *fix)
{
	fill(fix, 3, 1);
	for (int iso = TXN_REPEATABLE_READ; iso <= TXN_SERIALIZABLE; iso++) {
		/* By absence of a key. */
		nam_status right = iso == TXN_SERIALIZABLE ? NAM_CONFLICT : NAM_OK;
		uint64_t key = 100 + (uint64_t)iso;
		struct txn *a = begin(fix, 0, (enum txn_iso)iso);
		assert_int_equal(value_of(fix, a, &fix->tab[0], key), -1);
		assert_int_equal(set(fix, a, &fix->tab[0], 0, 5), NAM_OK);
		struct txn *b = begin(fix, 1, (enum txn_iso)iso);
		assert_int_equal(insert(b, &fix->tab[1], key, 5), NAM_OK);
		commit_all(b);
		assert_int_equal(value_of(fix, a, &fix->tab[0], key), -1);
		assert_int_equal(txn_commit(a, NULL), right);
		/* By a scan: an insert, then a deletion. */
		a = begin(fix, 0, (enum txn_iso)iso);
		unsigned before = count(a, &fix->tab[0]);
		assert_int_equal(insert(a, &fix->bare[0], 1, 1), NAM_OK);
		b = begin(fix, 1, (enum txn_iso)iso);
		assert_int_equal(insert(b, &fix->tab[1], key + 50, 5), NAM_OK);
		commit_all(b);
		assert_int_equal(count(a, &fix->tab[0]), before);
		assert_int_equal(txn_commit(a, NULL), right);
		a = begin(fix, 0, (enum txn_iso)iso);
		assert_int_equal(count(a, &fix->tab[0]), before + 1);
		assert_int_equal(insert(a, &fix->bare[0], 1, 1), NAM_OK);
		b = begin(fix, 1, (enum txn_iso)iso);
		assert_int_equal(del(fix, b, &fix->tab[1], key + 50), NAM_OK);
		commit_all(b);
		assert_int_equal(count(a, &fix->tab[0]), before + 1);
		assert_int_equal(txn_commit(a, NULL), right);
	}
}
static void
test_phantoms(void **state)
{
	(void)state;
	run_some(2, phantoms);
}

/* ---- keys ---- */

static void
blind_over_deletion(struct fixture *fix)
{
	fill(fix, 1, 1);
	struct txn *a = begin(fix, 0, TXN_REPEATABLE_READ);
	struct txn *b = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(del(fix, b, &fix->tab[1], 0), NAM_OK);
	commit_all(b);
	/* Its snapshot shows the row: it may neither overwrite it nor insert beside it. */
	nam_status st = insert(a, &fix->tab[0], 0, 2);
	assert_true(st == NAM_CONFLICT || st == NAM_DUPLICATE);
	txn_abort(a);
	a = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(a, &fix->tab[0], 0, 2), NAM_OK);
	assert_int_equal(txn_commit(a, NULL), NAM_OK);
}
static void
test_blind_over_deletion(void **state)
{
	(void)state;
	run_some(2, blind_over_deletion);
}

/* Many insert one key at once, from several processes: each time exactly one succeeds. */
struct racer {
	struct fixture *fix;
	unsigned p;
	enum txn_iso iso;
	unsigned *wins, *left;
	uint64_t key;
};
static void
racer_main(void *arg)
{
	struct racer *r = arg;
	struct fixture *fix = r->fix;
	for (;;) {
		struct txn *t = begin(fix, r->p, r->iso);
		nam_status st = insert(t, &fix->tab[r->p], r->key, (int64_t)r->p);
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		if (st == NAM_OK)
			++*r->wins;
		if (st == NAM_OK || st == NAM_DUPLICATE)
			break;
		assert_true(st == NAM_CONFLICT || st == NAM_DEADLOCK);
	}
	--*r->left;
}
static void
races(struct fixture *fix)
{
	for (uint64_t key = 0; key < 12; key++)
		for (int iso = TXN_READ_COMMITTED; iso <= TXN_SERIALIZABLE; iso++) {
			struct racer r[4];
			unsigned wins = 0, left = 4;
			for (unsigned i = 0; i < 4; i++) {
				r[i] = (struct racer){ .fix = fix,
					.p = i % fix->procs,
					.iso = (enum txn_iso)iso,
					.wins = &wins,
					.left = &left,
					.key = key * 3 + (uint64_t)iso };
				assert_non_null(nam_co_start(
				    net_worker_sched(fix->w[r[i].p]), racer_main, &r[i], 128 << 10));
			}
			while (left > 0)
				net_sleep(fix->w[0], 10000);
			assert_int_equal(wins, 1);
		}
	net_sleep(fix->w[0], 20000000);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t key = 0; key < 36; key++)
		assert_true(value_of(fix, t, &fix->tab[0], key) >= 0);
	assert_int_equal(count(t, &fix->tab[0]), 36);
	txn_abort(t);
}
static void
test_duplicate_races(void **state)
{
	(void)state;
	run_some(3, races);
}

/*
 * Keys deleted a moment ago are inserted again while the collector takes their blocks away. No
 * other transaction runs: no insert may meet a conflict, at any level.
 */
enum { AGAIN_KEYS = 96, AGAIN_BY = 8 };
static void
again_one(struct fixture *fix, unsigned p, uint64_t first, int64_t value, enum txn_iso iso, nam_status *st)
{
	struct row r[AGAIN_BY];
	struct txn_put put[AGAIN_BY];
	for (unsigned i = 0; i < AGAIN_BY; i++) {
		r[i] = mk(first + i, value);
		put[i] = (struct txn_put){ .table = &fix->tab[p],
			.bytes = &r[i],
			.len = sizeof r[i],
			.key = &r[i].key,
			.key_len = 8,
			.hash = nam_hash(&r[i].key, 8, fix->tab[p].id) };
	}
	struct txn *t = begin(fix, p, iso);
	assert_int_equal(txn_insert(t, put, AGAIN_BY), NAM_OK); /* no conflict at any level: it
								 * waits for the collector */
	*st = txn_commit(t, NULL);
}
static void
again_at(struct fixture *fix, enum txn_iso iso)
{
	struct nam_rng *rng = net_rng(fix->w[0]);
	fill(fix, AGAIN_KEYS, 0);
	for (int64_t round = 1; round <= 6; round++) {
		struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
		for (uint64_t k = 0; k < AGAIN_KEYS; k++)
			assert_int_equal(del(fix, t, &fix->tab[0], k), NAM_OK);
		commit_all(t);
		/* The collector comes within some milliseconds, and its work takes some. */
		net_sleep(fix->w[0], nam_rng_below(rng, 16000000));
		for (uint64_t k = 0; k < AGAIN_KEYS; k += AGAIN_BY) {
			unsigned p = (unsigned)(k / AGAIN_BY + (uint64_t)round) % fix->procs;
			nam_status st;
			again_one(fix, p, k, round, iso, &st);
			assert_int_equal(st, NAM_OK);
		}
		net_sleep(fix->w[0], 20000000);
		for (unsigned p = 0; p < fix->procs; p++) {
			t = begin(fix, p, TXN_REPEATABLE_READ);
			for (uint64_t k = 0; k < AGAIN_KEYS; k++)
				assert_int_equal(value_of(fix, t, &fix->tab[p], k), round);
			assert_int_equal(count(t, &fix->tab[p]), AGAIN_KEYS);
			txn_abort(t);
		}
		nam_arena_reset(&fix->a);
	}
}
static void
again_rc(struct fixture *fix)
{
	again_at(fix, TXN_READ_COMMITTED);
}
static void
again_rr(struct fixture *fix)
{
	again_at(fix, TXN_REPEATABLE_READ);
}
static void
again_serial(struct fixture *fix)
{
	again_at(fix, TXN_SERIALIZABLE);
}
/* Keys looked for in vain while the collector removes the rest of their rows: that is no conflict
 * at COMMIT. */
static void
absent_beside(struct fixture *fix)
{
	struct nam_rng *rng = net_rng(fix->w[0]);
	fill(fix, AGAIN_KEYS, 0);
	for (unsigned round = 1; round <= 4; round++) {
		struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
		for (uint64_t k = 0; k < AGAIN_KEYS; k++)
			assert_int_equal(del(fix, t, &fix->tab[0], k), NAM_OK);
		commit_all(t);
		net_sleep(fix->w[0], 4000000 + nam_rng_below(rng, 8000000));
		for (unsigned i = 0; i < 40; i++) {
			unsigned p = i % fix->procs;
			t = begin(fix, p, TXN_SERIALIZABLE);
			for (unsigned n = 0; n < 12; n++)
				assert_int_equal(
				    value_of(fix, t, &fix->tab[p], nam_rng_below(rng, AGAIN_KEYS)), -1);
			assert_int_equal(insert(t, &fix->tab[p], 1000 * round + i, 1), NAM_OK);
			assert_int_equal(txn_commit(t, NULL), NAM_OK);
		}
		for (uint64_t k = 0; k < AGAIN_KEYS; k += AGAIN_BY) {
			nam_status st;
			again_one(fix, 0, k, round, TXN_READ_COMMITTED, &st);
			assert_int_equal(st, NAM_OK);
		}
		nam_arena_reset(&fix->a);
	}
}
static void
test_absent_beside_collector(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		run(1 + (unsigned)seed % 3, 2 + (unsigned)seed % 3, seed, absent_beside);
}
static void
test_deleted_and_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		run(1 + (unsigned)seed % 3, 2 + (unsigned)seed % 3, seed, again_rc);
		run(1 + (unsigned)seed % 3, 2 + (unsigned)seed % 3, seed, again_rr);
		run(1 + (unsigned)seed % 3, 2 + (unsigned)seed % 3, seed, again_serial);
	}
}

/* ---- waiting ---- */

struct waiter {
	struct fixture *fix;
	unsigned p;
	uint64_t first, second;
	struct txn_limits limits;
	nam_status st;
	bool holding, go, ended;
};
/* Locks first, waits for go, locks second; commits if it may. */
static void
waiter_main(void *arg)
{
	struct waiter *w = arg;
	struct fixture *fix = w->fix;
	struct txn *t = begin(fix, w->p, TXN_READ_COMMITTED);
	txn_set_limits(t, &w->limits);
	w->st = w->first == UINT64_MAX ? NAM_OK : set(fix, t, &fix->tab[w->p], w->first, 100 + w->p);
	w->holding = true;
	while (!w->go)
		net_sleep(fix->w[w->p], 10000);
	if (w->st == NAM_OK)
		w->st = set(fix, t, &fix->tab[w->p], w->second, 200 + w->p);
	if (w->st == NAM_OK)
		w->st = txn_commit(t, NULL);
	else
		txn_abort(t);
	w->ended = true;
}
/* A cycle of n, and `tail` more that wait for one of it and hold no lock. */
static void
deadlock_of(struct fixture *fix, unsigned n, unsigned tail)
{
	struct waiter *w = calloc(n + tail, sizeof *w);
	assert_non_null(w);
	fill(fix, n, 1);
	for (unsigned i = 0; i < n + tail; i++) {
		w[i] = (struct waiter){ .fix = fix, .p = i % PROCS, .first = i, .second = (i + 1) % n };
		if (i >= n)
			w[i].first = UINT64_MAX;
		assert_non_null(
		    nam_co_start(net_worker_sched(fix->w[i % PROCS]), waiter_main, &w[i], 128 << 10));
	}
	for (unsigned i = 0; i < n + tail; i++)
		while (!w[i].holding)
			net_sleep(fix->w[0], 10000);
	for (unsigned i = 0; i < n + tail; i++)
		w[i].go = true;
	unsigned dead = 0;
	for (unsigned i = 0; i < n + tail; i++) {
		while (!w[i].ended)
			net_sleep(fix->w[0], 100000);
		assert_true(w[i].st == NAM_OK || w[i].st == NAM_DEADLOCK);
		dead += w[i].st == NAM_DEADLOCK;
		assert_true(i < n || w[i].st == NAM_OK);
	}
	assert_int_equal(dead, 1);
	free(w);
}
static void
deadlock2(struct fixture *fix)
{
	deadlock_of(fix, 2, 0);
}
static void
deadlock4(struct fixture *fix)
{
	deadlock_of(fix, 4, 1);
}
static void
deadlock_long(struct fixture *fix)
{
	deadlock_of(fix, 150, 5);
}
static void
test_deadlock(void **state)
{
	(void)state;
	run_some(2, deadlock2);
	run_some(4, deadlock4);
	run(4, 2, 1, deadlock_long);
}

static void
limits(struct fixture *fix)
{
	fill(fix, 1, 1);
	_Atomic int cancel = 0;
	struct txn *holder = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, holder, &fix->tab[0], 0, 2), NAM_OK);
	struct waiter w[3] = {
		{ .fix = fix,
		    .p = 1,
		    .first = UINT64_MAX,
		    .limits = { .lock_wait_ns = 30000000 },
		    .go = true },
		{ .fix = fix, .p = 1, .first = UINT64_MAX, .limits = { .cancel = &cancel }, .go = true },
		{ .fix = fix, .p = 1, .first = UINT64_MAX, .go = true },
	};
	uint64_t began = net_now_ns(fix->w[0]);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), waiter_main, &w[i], 128 << 10));
	while (!w[0].ended)
		net_sleep(fix->w[0], 10000);
	assert_int_equal(w[0].st, NAM_TIMEOUT);
	uint64_t took = net_now_ns(fix->w[0]) - began;
	assert_true(took >= 30000000 && took < 60000000);
	assert_false(w[1].ended);
	atomic_store(&cancel, 1);
	began = net_now_ns(fix->w[0]);
	while (!w[1].ended)
		net_sleep(fix->w[0], 10000);
	assert_int_equal(w[1].st, NAM_CANCELLED);
	assert_true(net_now_ns(fix->w[0]) - began < 10000000);
	assert_false(w[2].ended);
	assert_int_equal(txn_commit(holder, NULL), NAM_OK);
	while (!w[2].ended)
		net_sleep(fix->w[0], 10000);
	assert_int_equal(w[2].st, NAM_OK);
}
static void
test_limits(void **state)
{
	(void)state;
	run_some(2, limits);
}

/* ---- visibility ---- */

static void
cluster_visible(struct fixture *fix)
{
	fill(fix, 1, 0);
	for (int64_t i = 1; i <= 20; i++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(set(fix, t, &fix->tab[0], 0, i), NAM_OK);
		commit_all(t);
		for (unsigned p = 1; p < fix->procs; p++) {
			t = begin(fix, p, TXN_REPEATABLE_READ);
			assert_int_equal(value_of(fix, t, &fix->tab[p], 0), i);
			txn_abort(t);
		}
	}
}
static void
test_cluster_visible(void **state)
{
	(void)state;
	run_some(4, cluster_visible);
}

/* ---- long write sets ---- */

static void
long_sets(struct fixture *fix)
{
	static const uint64_t size[] = { 47, 48, 49, 60, 123, 124, 125, 200, 500 };
	uint64_t next = 0;
	for (unsigned i = 0; i < sizeof size / sizeof *size; i++) {
		uint64_t first = next;
		next += size[i];
		struct txn *t = begin(fix, 0, i % 2 ? TXN_READ_COMMITTED : TXN_REPEATABLE_READ);
		for (uint64_t k = first; k < next; k++)
			assert_int_equal(insert(t, &fix->tab[0], k, 1), NAM_OK);
		for (uint64_t k = first; k < next; k++)
			assert_int_equal(value_of(fix, t, &fix->tab[0], k), 1);
		commit_all(t);
		/* All changed, then all undone. */
		for (int round = 0; round < 2; round++) {
			t = begin(fix, 1, i % 2 ? TXN_READ_COMMITTED : TXN_SERIALIZABLE);
			for (uint64_t k = first; k < next; k++)
				assert_int_equal(set(fix, t, &fix->tab[1], k, 2 + round), NAM_OK);
			if (round == 0)
				commit_all(t);
			else
				txn_abort(t);
		}
		nam_arena_reset(&fix->a);
	}
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < next; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[0], k), 2);
	assert_int_equal(count(t, &fix->tab[0]), next);
	txn_abort(t);
}
static void
test_long_sets(void **state)
{
	(void)state;
	run(2, 2, 1, long_sets);
	run(2, 3, 2, long_sets);
}

/* ---- memory comes back ---- */

static void
with_blob(struct fixture *fix, struct txn *t, uint64_t key, int64_t value, uint32_t len)
{
	char *bytes = malloc(len);
	assert_non_null(bytes);
	memset(bytes, (int)value, len);
	struct row r = mk(key, value);
	assert_int_equal(txn_blob_put(t, &fix->tab[0], bytes, len, &r.blob), NAM_OK);
	free(bytes);
	struct txn_row row;
	struct row was;
	nam_status st = get(fix, t, &fix->tab[0], key, &row, &was);
	if (st == NAM_ABSENT) {
		assert_int_equal(insert_row(t, &fix->tab[0], &r), NAM_OK);
		return;
	}
	assert_int_equal(txn_lock(t, &fix->tab[0], &row), NAM_OK);
	assert_int_equal(txn_update(t, &fix->tab[0], &row, &r, sizeof r), NAM_OK);
}

static uint64_t
memory_taken(struct fixture *fix)
{
	uint64_t sum = 0;
	for (unsigned region = 1; region <= 3; region++)
		sum += ((const struct net_super *)net_sim_memory(fix->sim, region))->bump;
	return sum;
}

static void
reclaimed(struct fixture *fix)
{
	uint64_t taken = 0;
	for (unsigned round = 0; round < 60; round++) {
		nam_arena_reset(&fix->a);
		for (uint64_t k = 0; k < 20; k++) {
			struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
			with_blob(fix, t, k, (int64_t)(k + 1), 2000 + (uint32_t)k * 500);
			assert_int_equal(txn_commit(t, NULL), NAM_OK);
			for (unsigned i = 0; i < 4; i++) {
				t = begin(
				    /* hot: the watermark has not passed it */
				    fix, 0, TXN_REPEATABLE_READ);
				with_blob(fix, t, k, (int64_t)(k + 2), 900);
				assert_int_equal(txn_commit(t, NULL), NAM_OK);
			}
		}
		for (uint64_t k = 0; k < 20; k++) {
			struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
			struct txn_row row;
			struct row r;
			const void *bytes;
			assert_int_equal(get(fix, t, &fix->tab[0], k, &row, &r), NAM_OK);
			assert_int_equal(txn_blob_get(t, &r.blob, 1, &bytes, &fix->a), NAM_OK);
			assert_int_equal(((const unsigned char *)bytes)[899], (unsigned char)(k + 2));
			assert_int_equal(txn_delete(t, &fix->tab[0], &row), NAM_OK);
			assert_int_equal(txn_commit(t, NULL), NAM_OK);
		}
		net_sleep(fix->w[0], 40000000);
		if (round == 10)
			taken = memory_taken(fix);
	}
	/* 50 rounds later hardly any more */
	assert_true(memory_taken(fix) <= taken + 2 * NET_EXTENT);
	struct txn_stats st;
	txn_worker_stats(fix->tw[0], &st);
	assert_true(st.blobs_freed >= 20 * 5 * 55);
	assert_true(st.blocks_freed >= 20 * 55);
	assert_true(st.archives_freed > 0);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(count(t, &fix->tab[0]), 0);
	txn_abort(t);
}
static void
test_reclaimed(void **state)
{
	(void)state;
	run(1, 2, 1, reclaimed);
	run(2, 3, 2, reclaimed);
}

/* While a reader is open, no version that it may see is reclaimed. */
static void
pinned(struct fixture *fix)
{
	fill(fix, 4, 1);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	for (int64_t i = 0; i < 30; i++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < 4; k++)
			assert_int_equal(k == 3 && i % 2 ? insert(t, &fix->tab[0], k, i)
					 : k == 3        ? del(fix, t, &fix->tab[0], k)
							 : set(fix, t, &fix->tab[0], k, i),
			    NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		net_sleep(fix->w[0], 15000000);
		for (uint64_t k = 0; k < 4; k++)
			assert_int_equal(value_of(fix, old, &fix->tab[1], k), 1);
		assert_int_equal(count(old, &fix->tab[1]), 4);
	}
	txn_abort(old);
}
static void
test_pinned(void **state)
{
	(void)state;
	run_some(2, pinned);
}

/* A small cluster fills up, reports it, goes on, and has room again when rows are deleted. */
static void
full(struct fixture *fix)
{
	uint64_t n = 0;
	nam_status st = NAM_OK;
	while (st == NAM_OK) {
		nam_arena_reset(&fix->a);
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (unsigned i = 0; st == NAM_OK && i < 50; i++)
			st = insert(t, &fix->tab[0], n + i, 1);
		if (st == NAM_OK) {
			st = txn_commit(t, NULL);
			n += st == NAM_OK ? 50 : 0;
		} else {
			txn_abort(t);
		}
		assert_true(n < 100000);
	}
	assert_int_equal(st, NAM_FULL);
	assert_true(n > 100);
	/* No row of the refused one exists; reading goes on; updates of existing rows succeed or
	 * end with FULL. */
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(count(t, &fix->tab[1]), n);
	assert_int_equal(value_of(fix, t, &fix->tab[1], n), -1);
	txn_abort(t);
	net_sleep(fix->w[0], 50000000);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	st = set(fix, t, &fix->tab[0], 0, 2);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	net_sleep(fix->w[0], 50000000); /* a row just updated needs memory for its old version:
				   * wait until it is cold */
	for (uint64_t k = 0; k < 100; k++) {
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(del(fix, t, &fix->tab[0], k), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
	net_sleep(fix->w[0], 100000000);
	for (uint64_t k = 0; k < 90; k++) {
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(insert(t, &fix->tab[0], 1000000 + k, 3), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(count(t, &fix->tab[0]), n - 10);
	txn_abort(t);
}
static void
test_full(void **state)
{
	(void)state;
	run_sized(2, 2, 1, 1 << 20, full);
	run_sized(2, 4, 2, 1 << 20, full);
}

/* How many extents can still be had, counted by taking them. */
static unsigned
extents_left(struct fixture *fix)
{
	enum { MOST = 8192 };
	net_addr *at = malloc(MOST * sizeof *at);
	unsigned n = 0;
	assert_non_null(at);
	for (unsigned r = 1; r <= 3; r++)
		while (n < MOST && net_extent_take(fix->w[0], r, 1, &at[n]) == NAM_OK)
			n++;
	assert_true(n < MOST);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(net_extent_give(fix->w[0], at[i]), NAM_OK);
	free(at);
	return n;
}

/* A table with more extents than its anchor has room to name; all go back when it is dropped. */
static void
many_extents(struct fixture *fix)
{
	struct txn_table big = {
		.id = 9, .row_max = sizeof(struct row), .has_key = true, .same_key = row_same_key
	};
	net_addr at;
	assert_int_equal(txn_table_create(fix->tw[0], &big), NAM_OK);
	assert_int_equal(txn_table_open(fix->db[0], &big), NAM_OK);
	unsigned before = extents_left(fix); /* places for anchors stay */
	for (unsigned i = 0; i < TXN_LEDGER_INLINE + 100; i++)
		assert_int_equal(
		    txn_extents_take(big.view->stock, fix->w[0], 1, 0, i, true, &at, NULL), NAM_OK);
	assert_true(extents_left(fix) < before - TXN_LEDGER_INLINE - 100);
	/* As if it had had as many as its direct pages name, but three. */
	struct txn_anchor *a =
	    (void *)((char *)net_sim_memory(fix->sim, net_region_of(big.anchor)) + net_offset_of(big.anchor));
	const uint64_t direct = TXN_LEDGER_INLINE + (uint64_t)TXN_LEDGER_DIRECT * TXN_LEDGER_PAGE;
	unsigned then = extents_left(fix);
	a->used = direct - 3;
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(
		    txn_extents_take(big.view->stock, fix->w[0], 1, 0, i, true, &at, NULL), NAM_OK);
	assert_int_equal(a->used, direct + 3);
	/* The last direct page, a list, and the first page that it names. */
	assert_int_equal(extents_left(fix), then - 6 - 3);
	assert_int_equal(txn_table_free(fix->tw[0], &big, 0), NAM_OK);
	txn_table_close(fix->db[0], &big);
	for (unsigned ms = 0; ms < 2000 && extents_left(fix) != before; ms++)
		net_sleep(fix->w[0], 1000000);
	assert_int_equal(extents_left(fix), before);
}
static void
test_many_extents(void **state)
{
	(void)state;
	run_sized(1, 2, 1, 64 << 20, many_extents);
}

/* A storage node is gone: clear errors for statements that need it, right answers for the
 * others. */
static void
node_lost(struct fixture *fix)
{
	fill(fix, 60, 1);
	net_declare_lost(fix->net[1], 3);
	unsigned gone = 0, good = 0;
	for (uint64_t k = 0; k < 60; k++) {
		struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
		struct txn_row row;
		struct row r;
		nam_status st = get(fix, t, &fix->tab[1], k, &row, &r);
		assert_true(st == NAM_OK || st == NAM_GONE);
		if (st == NAM_OK) {
			assert_int_equal(r.value, 1);
			st = set(fix, t, &fix->tab[1], k, 2);
			assert_true(st == NAM_OK || st == NAM_GONE);
		}
		if (st == NAM_OK) {
			st = txn_commit(t, NULL);
			assert_true(st == NAM_OK || st == NAM_GONE || st == NAM_CONFLICT);
		} else {
			txn_abort(t);
		}
		gone += st == NAM_GONE;
		good += st == NAM_OK;
		/* A process that still reaches the node sees what was committed, whole. */
		net_sleep(fix->w[0], 1000000);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(value_of(fix, t, &fix->tab[0], k), st == NAM_OK ? 2 : 1);
		txn_abort(t);
		nam_arena_reset(&fix->a);
	}
	assert_true(gone > 0);
	assert_true(good > 0);
}
static void
test_node_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		run(2, 2, seed, node_lost);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_skew),
		cmocka_unit_test(test_lost_update),
		cmocka_unit_test(test_locked_before),
		cmocka_unit_test(test_dirty_read),
		cmocka_unit_test(test_long_fork),
		cmocka_unit_test(test_read_only_anomaly),
		cmocka_unit_test(test_phantoms),
		cmocka_unit_test(test_blind_over_deletion),
		cmocka_unit_test(test_duplicate_races),
		cmocka_unit_test(test_deleted_and_again),
		cmocka_unit_test(test_absent_beside_collector),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_cluster_visible),
		cmocka_unit_test(test_long_sets),
		cmocka_unit_test(test_reclaimed),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_many_extents),
		cmocka_unit_test(test_node_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
