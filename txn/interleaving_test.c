/*
 * interleaving_test.c -- orders of steps that break a careless commit, each built step by step in
 * virtual time.
 *
 * A transaction is slowed down by an open claim of another process (the prefix stalls, so commits
 * are answered and no snapshot covers them), by a lock that is held for some microseconds, or by a
 * sleep between two calls.
 */
#include <base/fault.h>
#include <base/log.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum { MS = 1000000, US = 1000, LEASE_MS = 100, HOLDER = 2 };

/* ---- a claim that is open: it is below all that commit meanwhile ---- */

struct held {
	struct tso_pin pin;
	struct tso_claim claim;
};

static void
hold(struct fixture *fix, struct held *h)
{
	struct tso_worker *o = fix->tw[HOLDER]->tso;
	assert_int_equal(tso_snapshot(o, &h->pin, NULL), NAM_OK);
	tso_claim_start(o, &h->claim, 0, NULL);
	assert_int_equal(tso_claim_wait(o, &h->claim), NAM_OK);
}

static void
let_go(struct fixture *fix, struct held *h)
{
	struct tso_worker *o = fix->tw[HOLDER]->tso;
	tso_mark_wait(o, &h->claim, 0);
	tso_unpin(o, &h->pin);
}

/* Process p writes a key; the answer comes at once, and when this returns all its words have left
 * the lock as well. */
static tso_cid
write_behind(struct fixture *fix, unsigned p, uint64_t key, int64_t value)
{
	tso_cid cid;
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, t, &fix->tab[p], key, value), NAM_OK);
	assert_int_equal(txn_commit(t, &cid), NAM_OK);
	net_sleep(fix->w[0], 200 * US);
	return cid;
}

static uint64_t
locks_left(struct fixture *fix)
{
	uint64_t n;
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(txn_table_locks(t, &fix->tab[0], &n), NAM_OK);
	txn_abort(t);
	return n;
}

/* ---- a transaction that conflicted with a commit is not retried before its snapshot covers it
 * ---- */

enum at { AT_LOCK, AT_UPDATE, AT_COMMIT, AT_READ_MET, AT_READ_CHANGED, AT_SCAN, ATS };

struct retrier {
	struct fixture *fix;
	enum at at;
	unsigned tries;
	bool ready, go, ended;
};

static nam_status
try_once(struct retrier *r)
{
	struct fixture *fix = r->fix;
	struct txn_table *tab = &fix->tab[1];
	struct txn *t = begin(fix, 1, r->at >= AT_READ_MET ? TXN_SERIALIZABLE : TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row n;
	nam_status st;
	switch (r->at) {
	case AT_UPDATE:
		st = get(fix, t, tab, 0, &row, &n);
		n = mk(0, n.value + 1);
		st = st == NAM_OK ? txn_update(t, tab, &row, &n, sizeof n) : st;
		break;
	case AT_LOCK:
	case AT_COMMIT:
		st = set(fix, t, tab, 0, 50);
		break;
	case AT_SCAN: {
		struct txn_scan *s;
		struct txn_row rows[8];
		unsigned k;
		assert_int_equal(txn_scan_open(t, tab, &s), NAM_OK);
		while (assert_int_equal(txn_scan_next(s, rows, 8, &k), NAM_OK), k > 0)
			;
		txn_scan_close(s);
		st = insert(t, &fix->bare[1], 1, 1);
		break;
	}
	default:
		value_of(fix, t, tab, 0);
		st = set(fix, t, tab, 1, 50);
	}
	r->ready = true;
	while (!r->go)
		net_sleep(fix->w[1], US);
	if (st == NAM_OK)
		return txn_commit(t, NULL);
	txn_abort(t);
	return st;
}

static void
retrier_main(void *arg)
{
	struct retrier *r = arg;
	nam_status st;
	do {
		r->tries++;
		st = try_once(r);
		assert_true(st == NAM_OK || st == NAM_CONFLICT);
	} while (st != NAM_OK);
	r->ended = true;
}

static enum at retry_at;

static void
retry(struct fixture *fix)
{
	struct held h;
	struct retrier r = { .fix = fix, .at = retry_at };
	fill(fix, 2, 10);
	hold(fix, &h);
	bool first = r.at == AT_COMMIT || r.at == AT_READ_CHANGED;
	if (!first)
		write_behind(fix, 0, 0, 20);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), retrier_main, &r, 128 << 10));
	while (!r.ready)
		net_sleep(fix->w[0], US);
	if (first)
		write_behind(fix, 0, 0, 20);
	r.go = true;
	net_sleep(fix->w[0], 3 * MS); /* time for hundreds of tries */
	assert_false(r.ended);
	let_go(fix, &h);
	while (!r.ended)
		net_sleep(fix->w[0], 100 * US);
	assert_int_equal(r.tries, 2);
}
static void
test_retry_covers(void **state)
{
	(void)state;
	for (retry_at = 0; retry_at < ATS; retry_at++)
		run_some(3, retry);
}

/* ---- SERIALIZABLE: the version read was not the newest, and the newest was there all the time
 * ---- */

static void
newest_not_shown(struct fixture *fix)
{
	struct held h;
	tso_cid cid;
	fill(fix, 2, 10);
	hold(fix, &h);
	write_behind(fix, 0, 0, 20);
	struct txn *t = begin(fix, 1, TXN_SERIALIZABLE);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), 10); /* not covered yet */
	assert_int_equal(set(fix, t, &fix->tab[1], 1, 30), NAM_OK);
	/* It would commit above the version that it did not see, though no row changes from here
	 * on. */
	assert_int_equal(txn_commit(t, &cid), NAM_CONFLICT);
	let_go(fix, &h);
}
static void
test_newest_not_shown(void **state)
{
	(void)state;
	run_some(3, newest_not_shown);
}

/*
 * SERIALIZABLE claims when it has its locks. One transaction writes x, and is kept from locking it
 * for some microseconds; another reads x meanwhile and commits. If the first had its CID already,
 * that would be below the CID of the one that did not see its version.
 */
struct late_locker {
	struct fixture *fix;
	uint64_t later_ns;
	struct txn *t;
	tso_cid cid;
	nam_status st;
	bool ended;
};
static void
late_locker_main(void *arg)
{
	struct late_locker *l = arg;
	net_sleep(l->fix->w[1], 1 + l->later_ns);
	l->st = txn_commit(l->t, &l->cid);
	l->ended = true;
}

static uint64_t lock_held_ns; /* 0 = no lock is in the way */
static uint64_t apart_ns;     /* the reader commits so much later */
static unsigned both_committed, in_between;

static void
claim_behind_locks(struct fixture *fix)
{
	/* Their first intents and archives exist, and the rows are cold: a commit is four round
	 * trips. */
	fill(fix, 2, 10);
	for (unsigned i = 0; i < 6; i++) {
		struct txn *t = begin(fix, i % 3, TXN_READ_COMMITTED);
		assert_int_equal(set(fix, t, &fix->tab[i % 3], 0, 10), NAM_OK);
		assert_int_equal(set(fix, t, &fix->tab[i % 3], 1, 10), NAM_OK);
		commit_all(t);
	}
	net_sleep(fix->w[0], 50 * MS);
	struct late_locker l = {
		.fix = fix, .later_ns = lock_held_ns > 0 ? 0 : 6 * US, .t = begin(fix, 1, TXN_SERIALIZABLE)
	};
	assert_int_equal(set(fix, l.t, &fix->tab[1], 0, 20), NAM_OK);
	struct txn *reader = begin(fix, 0, TXN_SERIALIZABLE);
	assert_int_equal(value_of(fix, reader, &fix->tab[0], 0), 10);
	assert_int_equal(set(fix, reader, &fix->tab[0], 1, 30), NAM_OK);
	struct txn *holder = begin(fix, HOLDER, TXN_READ_COMMITTED);
	if (lock_held_ns > 0)
		assert_int_equal(set(fix, holder, &fix->tab[HOLDER], 0, 99), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), late_locker_main, &l, 128 << 10));
	net_sleep(fix->w[0], 1 + lock_held_ns);
	txn_abort(holder);
	net_sleep(fix->w[0], 1 + apart_ns);
	bool waits = !l.ended;
	tso_cid cid = 0;
	nam_status st = txn_commit(reader, &cid);
	in_between += waits && !l.ended && st == NAM_OK;
	while (!l.ended)
		net_sleep(fix->w[0], 10 * US);
	assert_true(st == NAM_OK || st == NAM_CONFLICT);
	assert_true(l.st == NAM_OK || l.st == NAM_CONFLICT);
	if (st == NAM_OK && l.st == NAM_OK) {
		assert_true(cid < l.cid); /* it read the version that the other replaced */
		both_committed++;
	}
}
static void
test_claim_behind_locks(void **state)
{
	(void)state;
	both_committed = in_between = 0;
	apart_ns = 0;
	for (lock_held_ns = US; lock_held_ns < 80 * US; lock_held_ns += nam_rounds(US, 2 * US, 5 * US))
		run(3, 2, lock_held_ns, claim_behind_locks);
	printf("%u pairs committed, %u readers while the writer waited for its lock\n", both_committed,
	    in_between);
	assert_true(both_committed > 5 && in_between > 5);
	/* And their next steps at each moment. */
	both_committed = 0;
	lock_held_ns = 0;
	for (unsigned i = 0; i < 1500; i++) {
		apart_ns = i % 150 * 100;
		run(3, 2, 1 + i, claim_behind_locks);
	}
	printf("%u pairs committed\n", both_committed);
	assert_true(both_committed > 50);
}

/* ---- a lock that is met is not a lost conflict yet ---- */

static unsigned met_then_got;

static void
lock_goes(struct fixture *fix)
{
	fill(fix, 1, 10);
	struct late_locker l = { .fix = fix, .t = begin(fix, 1, TXN_REPEATABLE_READ) };
	assert_int_equal(set(fix, l.t, &fix->tab[1], 0, 20), NAM_OK);
	struct txn *holder = begin(fix, HOLDER, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, holder, &fix->tab[HOLDER], 0, 99), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), late_locker_main, &l, 128 << 10));
	net_sleep(fix->w[0], 15 * US);
	assert_false(l.ended);
	txn_abort(holder);
	while (!l.ended)
		net_sleep(fix->w[0], US);
	assert_int_equal(l.st, NAM_OK);

	/* If the lock stays for long, the transaction gives up. */
	l = (struct late_locker){ .fix = fix, .t = begin(fix, 1, TXN_REPEATABLE_READ) };
	assert_int_equal(set(fix, l.t, &fix->tab[1], 0, 30), NAM_OK);
	holder = begin(fix, HOLDER, TXN_READ_COMMITTED);
	struct txn_row row;
	struct row r;
	nam_status st = get(fix, holder, &fix->tab[HOLDER], 0, &row, &r);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(txn_lock(holder, &fix->tab[HOLDER], &row), NAM_OK);
	uint64_t from = net_now_ns(fix->w[0]);
	assert_int_equal(txn_commit(l.t, NULL), NAM_CONFLICT);
	assert_true(net_now_ns(fix->w[0]) - from < MS);
	txn_abort(holder);
	assert_int_equal(locks_left(fix), 0);
	met_then_got++;
}
static void
test_lock_goes(void **state)
{
	(void)state;
	met_then_got = 0;
	run_some(3, lock_goes);
	assert_int_equal(met_then_got, 6);
}

/* ---- a collector's lock makes no version: a commit waits for it, also for long ---- */

static void
collector_stands(struct fixture *fix)
{
	struct txn_row row = { .at = { 0 } };
	struct row r;
	uint64_t seen;
	fill(fix, 1, 10);
	struct late_locker l = { .fix = fix, .t = begin(fix, 1, TXN_REPEATABLE_READ) };
	assert_int_equal(get(fix, l.t, &fix->tab[1], 0, &row, &r), NAM_OK);
	assert_int_equal(set(fix, l.t, &fix->tab[1], 0, 20), NAM_OK);
	const struct tso *o = fix->db[HOLDER]->tso;
	uint64_t lock = txn_lock_word(tso_owner(o), tso_epoch(o), TXN_INTENT_GC, 7);
	assert_int_equal(net_cas1(fix->w[HOLDER], row.at, row.newest, lock, &seen, NULL), NAM_OK);
	assert_int_equal(seen, row.newest);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), late_locker_main, &l, 128 << 10));
	net_sleep(fix->w[0], 20 * MS);
	assert_false(l.ended);
	assert_int_equal(net_cas1(fix->w[HOLDER], row.at, lock, row.newest, &seen, NULL), NAM_OK);
	while (!l.ended)
		net_sleep(fix->w[0], US);
	assert_int_equal(l.st, NAM_OK);

	/* Not for ever. */
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(get(fix, t, &fix->tab[1], 0, &row, &r), NAM_OK);
	assert_int_equal(set(fix, t, &fix->tab[1], 0, 30), NAM_OK);
	assert_int_equal(net_cas1(fix->w[HOLDER], row.at, row.newest, lock, &seen, NULL), NAM_OK);
	assert_int_equal(seen, row.newest);
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
	assert_int_equal(net_cas1(fix->w[HOLDER], row.at, lock, row.newest, &seen, NULL), NAM_OK);
	assert_int_equal(locks_left(fix), 0);
	met_then_got++;
}
static void
test_collector_stands(void **state)
{
	(void)state;
	met_then_got = 0;
	run_some(3, collector_stands);
	assert_int_equal(met_then_got, 6);
}

/* ---- an abort frees all locks its CASes took, even those behind the one that lost ---- */

static void
one_lost(struct fixture *fix)
{
	enum { KEYS = 8 };
	fill(fix, KEYS, 10);
	for (uint64_t lost = 0; lost < KEYS; lost++) {
		struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < KEYS; k++)
			assert_int_equal(set(fix, t, &fix->tab[1], k, 20), NAM_OK);
		struct txn *u = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(set(fix, u, &fix->tab[0], lost, 30), NAM_OK);
		commit_all(u);
		assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
		assert_int_equal(locks_left(fix), 0);
	}
	/* And no version of it exists. */
	struct txn *t = begin(fix, HOLDER, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		assert_int_equal(value_of(fix, t, &fix->tab[HOLDER], k), 30);
	txn_abort(t);
}
static void
test_one_lost(void **state)
{
	(void)state;
	run_some(3, one_lost);
}

/* ---- an emptied block gets another word ---- */

static void
eager(struct fixture *fix)
{
	for (unsigned i = 0; i < 2; i++)
		txn_collect_at_once(fix->db[i]);
}

/* By default the collector waits for the transactions that may have found the block. */
static void
undone_waits(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ), *u = begin(fix, 0, TXN_REPEATABLE_READ),
		   *o = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[0], 7, 1), NAM_OK);
	assert_int_equal(insert(t, &fix->tab[0], 8, 1), NAM_OK);
	assert_int_equal(insert(u, &fix->tab[0], 7, 2), NAM_OK);
	assert_int_equal(insert(o, &fix->tab[1], 8, 3), NAM_OK);
	txn_abort(t);
	net_sleep(fix->w[0], 40 * MS);
	commit_all(u);
	commit_all(o);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 2);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 8), 3);
	txn_abort(t);
}

static void
emptied(struct fixture *fix)
{
	eager(fix);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[0], 7, 1), NAM_OK);
	txn_abort(t);
	/* The empty block that it left is used, by its word; it is not locked before COMMIT. */
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[1], 7, 2), NAM_OK);
	net_sleep(fix->w[0], 40 * MS); /* the collector has come: no entry leads to it any more */
	assert_int_equal(txn_commit(t, NULL), NAM_CONFLICT);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[1], 7, 3), NAM_OK);
	commit_all(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 3);
	txn_abort(t);
}
static void
test_emptied(void **state)
{
	(void)state;
	run_some(2, undone_waits);
	run_some(2, emptied);
}

/*
 * The same block, and the transaction inserts the key a second time. The index does not lead to it
 * now, so a second block would be taken: the first one would hide it from reads, and an insert
 * would meet it. COMMIT could not succeed, so the insert ends with a conflict.
 */
static unsigned emptied_behind; /* how often the collector came behind the first insert */

static void
emptied_twice(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[1];
	eager(fix);
	for (unsigned i = 0; i < 16; i++) {
		bool deletes = i & 1, looks = i & 2;
		enum txn_iso iso = i & 4 ? TXN_SERIALIZABLE : TXN_REPEATABLE_READ;
		struct txn *left = begin(fix, 0, TXN_READ_COMMITTED);
		assert_int_equal(insert(left, &fix->tab[0], i, 1), NAM_OK);
		struct txn *t = begin(fix, 1, iso);
		if (looks)
			assert_int_equal(value_of(fix, t, tab, i), -1);
		txn_abort(left);
		assert_int_equal(insert(t, tab, i, 2), NAM_OK);
		if (deletes)
			assert_int_equal(del(fix, t, tab, i), NAM_OK);
		net_sleep(fix->w[0], 40 * MS);
		assert_int_equal(value_of(fix, t, tab, i), deletes ? -1 : 2);
		assert_int_equal(insert(t, tab, 100 + i, 2), NAM_OK); /* another key: no conflict */
		nam_status st = insert(t, tab, i, 3);
		emptied_behind += st == NAM_CONFLICT;
		if (st != NAM_CONFLICT) { /* the collector came before the first insert, or has not
					   * come yet */
			assert_int_equal(st, deletes ? NAM_OK : NAM_DUPLICATE);
			assert_int_equal(value_of(fix, t, tab, i), deletes ? 3 : 2);
		}
		txn_abort(t);
		t = begin(fix, 1, iso);
		assert_int_equal(insert(t, tab, i, 4), NAM_OK);
		assert_int_equal(del(fix, t, tab, i), NAM_OK);
		assert_int_equal(insert(t, tab, i, 5), NAM_OK);
		assert_int_equal(insert(t, tab, i, 6), NAM_DUPLICATE);
		assert_int_equal(value_of(fix, t, tab, i), 5);
		commit_all(t);
	}
	net_sleep(fix->w[0], 40 * MS); /* the collector may be in the middle of a block */
	assert_int_equal(locks_left(fix), 0);
}

/* The first insert has been rolled back: nothing is lost, the second one succeeds. */
static void
emptied_and_rolled_back(struct fixture *fix)
{
	struct txn_table *tab = &fix->tab[1];
	eager(fix);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[0], 7, 1), NAM_OK);
	txn_abort(t);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	uint32_t mark = txn_mark(t);
	assert_int_equal(insert(t, tab, 7, 2), NAM_OK);
	net_sleep(fix->w[0], 40 * MS);
	assert_int_equal(txn_rollback_to(t, mark), NAM_OK);
	assert_int_equal(insert(t, tab, 7, 3), NAM_OK);
	assert_int_equal(value_of(fix, t, tab, 7), 3);
	commit_all(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 7), 3);
	txn_abort(t);
}

static void
test_emptied_twice(void **state)
{
	(void)state;
	run_some(2, emptied_twice);
	printf("%u blocks emptied behind an insert\n", emptied_behind);
	assert_true(emptied_behind >= 40);
	run_some(2, emptied_and_rolled_back);
}

/* ---- visible everywhere: the answer waits for the prefix ---- */

static void
committer_main(void *arg)
{
	struct late_locker *l = arg;
	txn_set_cluster_visible(l->t, true);
	l->st = txn_commit(l->t, &l->cid);
	l->ended = true;
}

static void
answer_waits(struct fixture *fix)
{
	struct held h;
	fill(fix, 1, 10);
	hold(fix, &h);
	/* Without cluster visibility the answer does not wait, and others need not see the
	 * commit. */
	write_behind(fix, 0, 0, 20);
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), 10);
	txn_abort(t);
	let_go(fix, &h);

	struct late_locker l = { .fix = fix, .t = begin(fix, 0, TXN_REPEATABLE_READ) };
	assert_int_equal(set(fix, l.t, &fix->tab[0], 0, 30), NAM_OK);
	hold(fix, &h);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), committer_main, &l, 128 << 10));
	net_sleep(fix->w[0], 3 * MS);
	assert_false(l.ended);
	let_go(fix, &h);
	while (!l.ended)
		net_sleep(fix->w[0], US);
	assert_int_equal(l.st, NAM_OK);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), 30);
	txn_abort(t);
}
static void
test_answer_waits(void **state)
{
	(void)state;
	run_some(3, answer_waits);
}

/* ---- own commits are never laid over an older prefix ---- */

static void
fork_main(void *arg)
{
	struct late_locker *l = arg;
	assert_int_equal(txn_begin(l->fix->tw[0], TXN_REPEATABLE_READ, &l->t), NAM_OK);
	l->ended = true;
}

static void
own_over_old(struct fixture *fix)
{
	struct held h;
	fill(fix, 2, 10);
	hold(fix, &h);
	write_behind(fix, 1, 1, 20); /* below the next commit, and process 0 need not see it */
	write_behind(fix, 0, 0, 20);
	/* It must see its own commit, so it waits: no snapshot has the second commit without the
	 * first. */
	struct late_locker l = { .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), fork_main, &l, 128 << 10));
	net_sleep(fix->w[0], 3 * MS);
	assert_false(l.ended);
	let_go(fix, &h);
	while (!l.ended)
		net_sleep(fix->w[0], US);
	assert_int_equal(value_of(fix, l.t, &fix->tab[0], 0), 20);
	assert_int_equal(value_of(fix, l.t, &fix->tab[0], 1), 20);
	txn_abort(l.t);
}
static void
test_own_over_old(void **state)
{
	(void)state;
	run_some(3, own_over_old);
}

/* ---- a lock word comes twice only when no transaction remains that may know it ---- */

static void
generations(struct fixture *fix)
{
	enum { COMMITS = 240, LEFT = 3 };
	uint32_t last[TXN_INTENTS] = { 0 };
	unsigned used_up = 0, again = 0;
	struct txn *watcher = NULL;
	fill(fix, 1, 0);
	for (int64_t i = 1; i <= COMMITS; i++) {
		struct txn_worker *tw = fix->tw[0];
		/* All generations nearly used up. First while a transaction is open that may know
		 * the words, then without one. */
		if (i == COMMITS / 4 || i == COMMITS / 2)
			for (struct txn_intent *in = tw->intent_free; in != NULL; in = in->next)
				in->generation = TXN_GENERATION_MAX - LEFT;
		if (i == COMMITS / 4) {
			watcher = begin(fix, 1, TXN_REPEATABLE_READ);
			(void)value_of(fix, watcher, &fix->tab[1], 0);
		}
		if (i == COMMITS / 2) {
			assert_int_equal(again, 0);
			txn_abort(watcher);
		}
		struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
		assert_int_equal(set(fix, t, &fix->tab[0], 0, i), NAM_OK);
		unsigned number = txn_lock_intent(t->lock);
		uint32_t generation = txn_lock_generation(t->lock);
		assert_true(number < TXN_INTENTS && txn_lock_owner(t->lock) == tso_owner(fix->db[0]->tso));
		assert_int_equal(txn_lock_epoch(t->lock), tso_epoch(fix->db[0]->tso));
		if (generation <= last[number]) {
			const struct txn_commit_line *line =
			    (const void *)((const char *)net_sim_memory(
					       fix->sim, net_region_of(t->intent->at)) +
					   net_offset_of(t->intent->at));
			assert_int_equal(last[number], TXN_GENERATION_MAX);
			assert_int_equal(generation, 1);
			assert_true(line->cid == 0 && line->check == 0);
			again++;
		}
		last[number] = generation;
		used_up += generation == TXN_GENERATION_MAX;
		commit_all(t);
		net_sleep(fix->w[0], 500 * US); /* beats go by */
	}
	assert_true(used_up > 0 && again > 0);
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), COMMITS);
	txn_abort(t);
}
static void
test_generations(void **state)
{
	(void)state;
	run_some(2, generations);
}

/* ---- an entry holds the hash; the row holds the key ---- */

static nam_status
insert_as(struct fixture *fix, struct txn *t, uint64_t key, int64_t value, uint64_t hash)
{
	struct row r = mk(key, value);
	struct txn_put p = {
		.table = &fix->tab[0], .bytes = &r, .len = sizeof r, .key = &r.key, .key_len = 8, .hash = hash
	};
	return txn_insert(t, &p, 1);
}
static int64_t
value_as(struct fixture *fix, struct txn *t, uint64_t key, uint64_t hash, struct txn_row *row)
{
	struct txn_get g = { .table = &fix->tab[0], .key = &key, .key_len = 8, .hash = hash };
	struct row r;
	assert_int_equal(txn_get(t, &g, 1, &fix->a), NAM_OK);
	if (g.status == NAM_ABSENT)
		return -1;
	assert_int_equal(g.status, NAM_OK);
	memcpy(&r, g.row.bytes, sizeof r);
	assert_int_equal(r.key, key);
	*row = g.row;
	return r.value;
}
static void
same_hash(struct fixture *fix)
{
	enum { HASH = 0x1234567 };
	struct txn_row row;
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert_as(fix, t, 1, 10, HASH), NAM_OK);
	commit_all(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_as(fix, t, 2, HASH, &row), -1);
	assert_int_equal(insert_as(fix, t, 2, 20, HASH), NAM_OK);
	assert_int_equal(insert_as(fix, t, 1, 11, HASH), NAM_DUPLICATE);
	txn_abort(t);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(insert_as(fix, t, 2, 20, HASH), NAM_OK);
	commit_all(t);
	for (unsigned i = 0; i < 3; i++) {
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(value_as(fix, t, 1, HASH, &row), 10);
		assert_int_equal(value_as(fix, t, 2, HASH, &row), 20);
		txn_abort(t);
	}
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_as(fix, t, 1, HASH, &row), 10);
	assert_int_equal(txn_delete(t, &fix->tab[0], &row), NAM_OK);
	commit_all(t);
	net_sleep(fix->w[0], 50 * MS);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_as(fix, t, 1, HASH, &row), -1);
	assert_int_equal(value_as(fix, t, 2, HASH, &row), 20);
	assert_int_equal(insert_as(fix, t, 1, 12, HASH), NAM_OK);
	commit_all(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_as(fix, t, 1, HASH, &row), 12);
	assert_int_equal(value_as(fix, t, 2, HASH, &row), 20);
	txn_abort(t);
}
static void
test_same_hash(void **state)
{
	(void)state;
	run_some(2, same_hash);
}

/* ---- dead processes of which no other process meets a lock ---- */

static bool dead_claims;

static void
quiet_death(struct fixture *fix)
{
	struct tso_worker *o = fix->tw[HOLDER]->tso;
	static struct held h; /* its worker knows of the claim until the worker is closed, after
			       * this test */
	fill(fix, 1, 10);
	if (dead_claims)
		hold(fix, &h);
	else
		assert_int_equal(tso_snapshot(o, &h.pin, NULL), NAM_OK);
	net_sim_crash(fix->sim, fix->net[HOLDER]);
	uint64_t from = net_now_ns(fix->w[0]);
	write_behind(fix, 0, 0, 20);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ); /* waits because of the claim */
	tso_cid seen = txn_snapshot(t);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 0), 20);
	txn_abort(t);
	while (tso_watermark(fix->db[0]->tso) < seen || tso_watermark(fix->db[1]->tso) < seen) {
		net_sleep(fix->w[0], MS);
		assert_true(net_now_ns(fix->w[0]) - from < 3 * (uint64_t)LEASE_MS * MS);
	}
	assert_true(net_now_ns(fix->w[0]) - from > (LEASE_MS - 10) * (uint64_t)MS);
	net_sim_bury(fix->sim, fix->net[HOLDER]);
	/* Its worker has a pin. It may be closed when it knows that it has been fenced. */
	while (!tso_abandoned(fix->db[HOLDER]->tso))
		net_sleep(fix->w[0], MS);
}
static void
test_quiet_death(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		dead_claims = i > 0;
		run_some(3, quiet_death);
	}
}

/* ---- the collector died while it emptied a block ---- */

static struct {
	unsigned left;  /* of the directory's words, those that its WRITE had not reached */
	uint64_t pause; /* the process that finds it stalls after so long */
	struct txn *t;  /* of the process that finds it */
	bool done;
} half;

/* HOLDER's collector was emptying this block when HOLDER ended. words: of the directory. */
static uint64_t
empties_and_dies(struct fixture *fix, net_addr at, unsigned words)
{
	struct tso_pin pin;
	uint64_t img[1 + 3 + REC_SLOTS_MAX];
	assert_int_equal(tso_snapshot(fix->tw[HOLDER]->tso, &pin, NULL), NAM_OK);
	uint64_t lock = txn_gc_lock(fix->tw[HOLDER]);
	assert_int_equal(net_read1(fix->w[0], at, img, 8 * (1 + words), NULL), NAM_OK);
	img[REC_WORD] = lock;
	for (unsigned k = 0; k < words; k++)
		if ((half.left >> k & 1) == 0)
			img[REC_IDENT + k] = 0;
	assert_int_equal(net_write1(fix->w[0], at, img, 8 * (1 + words), NULL), NAM_OK);
	net_sim_crash(fix->sim, fix->net[HOLDER]);
	return lock;
}

/* Key 0 was deleted, all snapshots see that, and HOLDER's collector was emptying its block when it
 * ended. */
static void
half_emptied(struct fixture *fix)
{
	struct txn_row row;
	struct row r;
	fill(fix, 1, 10);
	struct txn *before = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(get(fix, before, &fix->tab[1], 0, &row, &r), NAM_OK);
	/* Deleted by HOLDER itself: no other process knows of the row's block, and only a
	 * transaction that looks for the key finds it. */
	struct txn *t = begin(fix, HOLDER, TXN_REPEATABLE_READ);
	assert_int_equal(del(fix, t, &fix->tab[HOLDER], 0), NAM_OK);
	commit_all(t);
	empties_and_dies(fix, row.at, 3 + fix->slots);
	txn_abort(before);
}

/* A collector may empty the block between the insert and its commit: a conflict is the only error
 * allowed. */
static void
insert_for_sure(struct fixture *fix, unsigned p, uint64_t key, int64_t value)
{
	nam_status st;
	do {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		if ((st = insert(t, &fix->tab[p], key, value)) != NAM_OK) {
			txn_abort(t);
		} else {
			txn_set_cluster_visible(t, true);
			st = txn_commit(t, NULL);
		}
		assert_true(st == NAM_OK || st == NAM_CONFLICT);
	} while (st != NAM_OK);
}

static void
half_emptied_read(struct fixture *fix)
{
	half_emptied(fix);
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), -1);
	txn_abort(t);
	insert_for_sure(fix, 1, 0, 30);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 0), 30);
	txn_abort(t);
	net_sim_bury(fix->sim, fix->net[HOLDER]);
}

static void
finder_main(void *arg)
{
	struct fixture *fix = arg;
	value_of(fix, half.t, &fix->tab[1], 0);
	txn_abort(half.t);
	half.done = true;
}

/* Two processes find it at once; one of them stalls, and the key is inserted into that block before
 * it goes on. */
static void
half_emptied_twice(struct fixture *fix)
{
	half_emptied(fix);
	half.done = false;
	half.t = begin(fix, 1, TXN_REPEATABLE_READ);
	net_sleep(fix->w[0], (LEASE_MS + 20) * MS); /* it has ended */
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), finder_main, fix, 128 << 10));
	net_sleep(fix->w[0], half.pause);
	net_sim_freeze(fix->sim, fix->net[1], 20 * MS);
	insert_for_sure(fix, 0, 0, 30);
	while (!half.done)
		net_sleep(fix->w[0], MS);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 0), 30);
	txn_abort(t);
	net_sim_bury(fix->sim, fix->net[HOLDER]);
}

static void
test_half_emptied(void **state)
{
	(void)state;
	for (unsigned slots = 2; slots <= 4; slots++) {
		half.left = 0;
		for (; half.left < 1u << (3 + slots); half.left++)
			run(3, slots, 1 + half.left, half_emptied_read);
	}
	half.left = 1;
	for (half.pause = 0; half.pause < 400 * US; half.pause += nam_rounds(US, 2 * US, 7 * US))
		run(3, 2, 5, half_emptied_twice);
}

/* ---- a sweep looks at a block that is being emptied, or that another process has locked ---- */

/*
 * The lock that the sweep meets. DEAD_LOCK: of the process that died while it emptied the block.
 * FINISHER: of a live process that finishes that work. FINISHER_DIES: that one dies as well.
 * INSERTER: of a live process whose insert looked its key up before a collector removed the entry.
 */
enum meets { DEAD_LOCK, FINISHER, FINISHER_DIES, INSERTER, MEETS };
static struct {
	bool keyed;
	enum meets meets;
	uint64_t held;   /* a live process keeps its lock so long after the sweep has begun */
	unsigned owners; /* the block's, at the end */
} swept;

static void *
memory(struct fixture *fix, uint64_t at)
{
	return (char *)net_sim_memory(fix->sim, net_region_of((net_addr){ at })) +
	       net_offset_of((net_addr){ at });
}

static unsigned
in_tree(struct fixture *fix, const struct txn_table_view *v, uint64_t cell, uint64_t at)
{
	if (cell == 0)
		return 0;
	const struct txn_free_cell *c = memory(fix, cell + v->head_bytes);
	return (cell == at) + in_tree(fix, v, c->next, at) + in_tree(fix, v, c->other, at);
}

/* The owners of a block: a row, the anchor's list, the processes that have it at hand. */
static unsigned
owners_of(struct fixture *fix, const struct txn_table *tab, uint64_t at)
{
	const struct txn_table_view *v = tab[0].view;
	const struct txn_anchor *an = memory(fix, v->anchor.bits);
	uint64_t generation = txn_generation(an->sweep);
	unsigned n = txn_rec_newest(v, memory(fix, at)) != REC_NO_SLOT;
	n += in_tree(fix, v, txn_list_at(an->free, generation), at);
	for (unsigned p = 0; p < HOLDER; p++) {
		const struct txn_alloc *a = tab[p].view->stock->alloc[fix->tw[p]->number];
		if (a == NULL || !a->looked || txn_generation(a->sweep) != generation)
			continue;
		for (uint32_t i = 0; i < a->blocks.n; i += 2)
			n += a->blocks.item[i] == at;
		for (uint32_t i = 0; i < a->block_tree.n; i++)
			n += in_tree(fix, v, a->block_tree.item[i], at);
	}
	return n;
}

/* Process p reads the only row, and may delete it. Returns its block. */
static net_addr
only_row(struct fixture *fix, unsigned p, struct txn_table *tab, bool deletes)
{
	struct txn_scan *s;
	struct txn_row row;
	unsigned n;
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	assert_int_equal(txn_scan_open(t, tab, &s), NAM_OK);
	assert_int_equal(txn_scan_next(s, &row, 1, &n), NAM_OK);
	assert_int_equal(n, 1);
	net_addr at = row.at;
	if (deletes)
		assert_int_equal(txn_delete(t, tab, &row), NAM_OK);
	txn_scan_close(s);
	commit_all(t);
	return at;
}

/* If a sweep is due, process 0 begins it because it takes memory. Returns how many it has
 * completed. */
static uint64_t
take_a_block(struct fixture *fix, struct txn_table *tab, uint64_t key)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, tab, key, 20), NAM_OK);
	commit_all(t);
	return fix->tw[0]->stats.sweeps;
}

static uint64_t
lock_now(struct fixture *fix, net_addr at, uint64_t from, uint64_t to)
{
	uint64_t seen;
	assert_int_equal(net_cas1(fix->w[0], at, from, to, &seen, NULL), NAM_OK);
	assert_int_equal(seen, from);
	return to;
}

static void
unlink_row(struct fixture *fix, const struct txn_table *tab, net_addr at)
{
	const uint64_t key = 0;
	if (tab->has_key)
		assert_int_equal(
		    idx_remove(fix->w[0], tab->view->index, nam_hash(&key, 8, tab->id), at, NULL), NAM_OK);
}

/* Process 1 locks a block and empties it. Returns its lock. */
static uint64_t
empties(struct fixture *fix, const struct txn_table *tab, net_addr at, uint64_t from)
{
	static const uint64_t zero[3 + REC_SLOTS_MAX];
	uint64_t lock = lock_now(fix, at, from, txn_gc_lock(fix->tw[1]));
	assert_int_equal(
	    net_write1(fix->w[0], rec_dir_at(at), zero, rec_dir_bytes(tab->view->slots), NULL), NAM_OK);
	return lock;
}

/* A round of process 1's collector frees the block: the sweep waits for that round. An insert that
 * began after the sweep locks the block. Returns that lock; *cid: the block's fresh word. */
static uint64_t
collected_and_locked(struct fixture *fix, const struct txn_table *tab, net_addr at, tso_cid *cid)
{
	struct tso *o = fix->db[1]->tso;
	uint64_t lock = empties(fix, tab, at, *(const uint64_t *)memory(fix, at.bits));
	unlink_row(fix, tab, at);
	assert_int_equal(txn_word_fresh(fix->tw[1], at, lock, 0, cid), NAM_OK);
	struct txn_junk j = {
		.kind = JUNK_BLOCK, .stock = tab->view->stock, .at = at, .cid = *cid, .aux = *cid
	};
	txn_junk_add(fix->tw[1], j);
	return lock_now(fix, at, *cid, txn_lock_word(tso_owner(o), tso_epoch(o), 5, 77));
}

static void
swept_block(struct fixture *fix)
{
	struct txn_table *tab = swept.keyed ? fix->tab : fix->bare;
	const struct txn_anchor *an = memory(fix, tab->anchor.bits);
	uint64_t lock = 0;
	tso_cid cid = 0;
	take_a_block(fix, tab, 0);
	struct txn *before = begin(fix, 1, TXN_REPEATABLE_READ); /* collectors wait for it */
	unsigned deletes = swept.meets == INSERTER ? 1 : HOLDER;
	net_addr at = only_row(fix, deletes, &tab[deletes], true);
	if (swept.meets == INSERTER) {
		net_sim_crash(fix->sim, fix->net[HOLDER]);
	} else {
		lock = empties_and_dies(fix, at, 3 + tab->view->slots);
		if (half.left == 0) /* the entry goes when the directory is empty */
			unlink_row(fix, tab, at);
		txn_abort(before);
	}
	net_sleep(fix->w[0], 3 * LEASE_MS * MS); /* it is recovered, and its death is counted */
	if (swept.meets == FINISHER || swept.meets == FINISHER_DIES)
		lock = empties(fix, &tab[1], at, lock);
	assert_int_equal(an->sweep, 0);
	take_a_block(fix, tab, 1);
	while (an->sweep == 0)
		net_sleep(fix->w[0], 100 * US);
	if (swept.meets == INSERTER) {
		lock = collected_and_locked(fix, &tab[1], at, &cid);
		txn_abort(before);
	}
	net_sleep(fix->w[0], swept.held);
	if (swept.meets == INSERTER) {
		lock_now(fix, at, lock, cid);
	} else if (swept.meets == FINISHER) {
		struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
		assert_int_equal(txn_word_fresh(fix->tw[1], at, lock, 0, &cid), NAM_OK);
		txn_abort(t);
	} else if (swept.meets == FINISHER_DIES) {
		net_sim_crash(fix->sim, fix->net[1]);
		net_sleep(fix->w[0], 3 * LEASE_MS * MS);
	}
	/* If the lock was held for too long, the next sweep finds the block. */
	for (uint64_t k = 2; k < 100 && (take_a_block(fix, tab, k) == 0 || (an->sweep & 1)); k++)
		net_sleep(fix->w[0], 10 * MS);
	assert_true(fix->tw[0]->stats.sweeps > 0);
	net_sleep(fix->w[0], 100 * MS);
	swept.owners = owners_of(fix, tab, at.bits);
	for (unsigned p = 1; p <= HOLDER; p++)
		if (net_sim_crashed(fix->net[p]))
			net_sim_bury(fix->sim, fix->net[p]);
}

static void
test_swept(void **state)
{
	(void)state;
	half.left = 0;
	for (unsigned i = 0; i < MEETS * 4; i++) {
		swept.meets = i / 4;
		swept.keyed = i & 1;
		swept.held = (i & 2 ? 4 * LEASE_MS : 40) * (uint64_t)MS;
		run(3, 2 + i % 3, 1 + i, swept_block);
		assert_int_equal(swept.owners, 1);
	}
	swept.meets = DEAD_LOCK;
	for (half.left = 1; half.left < 1u << (3 + 2); half.left++)
		for (unsigned i = 0; i < 2; i++) {
			swept.keyed = i;
			run(3, 2, half.left, swept_block);
			assert_int_equal(swept.owners, 1);
		}
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	unsigned missed = 0;
	half.left = 0;
	swept.held = 40 * MS;
	nam_fault_on = NAM_FAULT_SWEEP_PASSES;
	for (unsigned i = 0; i < 4; i++) {
		swept.meets = i & 1 ? FINISHER : INSERTER;
		swept.keyed = i & 2;
		run(3, 2, 1 + i, swept_block);
		missed += swept.owners != 0;
	}
	nam_fault_on = NAM_FAULT_NONE;
	printf("fault %s: a block without an owner, %u times of 4\n", nam_fault_name[NAM_FAULT_SWEEP_PASSES],
	    4 - missed);
	assert_int_equal(missed, 0);
}
#endif

/* ---- an insert over a deletion: its process has died, and only its lock remains ---- */

/*
 * The deletion was HOLDER's, so no collector knows of it any more; the transaction of the insert
 * had no write set yet, so its recoverer does not find the lock. An insert that meets the lock
 * frees it: no process takes memory of the table, so there is no sweep.
 */
static void
dead_insert(struct fixture *fix)
{
	enum { TRIES = 3 };
	fill(fix, 1, 10);
	/* HOLDER's collector does not touch the row */
	struct txn *before = begin(fix, 1, TXN_REPEATABLE_READ);
	struct txn *t = begin(fix, HOLDER, TXN_REPEATABLE_READ);
	assert_int_equal(del(fix, t, &fix->tab[HOLDER], 0), NAM_OK);
	commit_all(t);
	struct txn *left = begin(fix, HOLDER, TXN_SERIALIZABLE);
	assert_int_equal(insert(left, &fix->tab[HOLDER], 0, 20), NAM_OK);
	txn_abort(before);
	net_sim_crash(fix->sim, fix->net[HOLDER]);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[0], 0, 30), NAM_CONFLICT);
	txn_abort(t);
	net_sleep(fix->w[0], 2 * LEASE_MS * MS); /* it is recovered, and its slot is free */
	assert_int_equal(locks_left(fix), 1);
	nam_status st = NAM_CONFLICT;
	for (unsigned i = 0; i < TRIES && st == NAM_CONFLICT; i++) {
		t = begin(fix, 0, i % 2 == 0 ? TXN_REPEATABLE_READ : TXN_SERIALIZABLE);
		if ((st = insert(t, &fix->tab[0], 0, 30)) == NAM_OK)
			commit_all(t);
		else
			txn_abort(t);
	}
	assert_int_equal(st, NAM_OK);
	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[1], 0), 30);
	txn_abort(t);
	assert_int_equal(locks_left(fix), 0);
	net_sim_bury(fix->sim, fix->net[HOLDER]);
	txn_abort(left);
}
static void
test_dead_insert(void **state)
{
	(void)state;
	run_some(3, dead_insert);
}

/* ---- what a row costs to lock ---- */

static void
lock_costs(struct fixture *fix)
{
	struct txn_row row, old;
	struct row r;
	fill(fix, 1, 10);
	struct txn *t = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(get(fix, t, &fix->tab[1], 0, &row, &r), NAM_OK);
	old = row;
	uint64_t trips = txn_counts(t)->round_trips;
	assert_int_equal(txn_lock(t, &fix->tab[1], &row), NAM_OK);
	assert_int_equal(txn_counts(t)->round_trips - trips, 1);
	assert_false(row.changed);
	txn_abort(t);
	struct txn *u = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(set(fix, u, &fix->tab[0], 0, 20), NAM_OK);
	/* The remembered CID is not the newest any more: one more round trip, and the row is
	 * returned as it is now. */
	t = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(get(fix, t, &fix->tab[1], 0, &row, &r), NAM_OK);
	commit_all(u);
	trips = txn_counts(t)->round_trips;
	assert_int_equal(txn_lock(t, &fix->tab[1], &row), NAM_OK);
	assert_true(txn_counts(t)->round_trips - trips >= 2);
	assert_true(row.changed && row.cid > old.cid);
	memcpy(&r, row.bytes, sizeof r);
	assert_int_equal(r.value, 20);
	txn_abort(t);
}
static void
test_lock_costs(void **state)
{
	(void)state;
	run_some(2, lock_costs);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retry_covers),
		cmocka_unit_test(test_newest_not_shown),
		cmocka_unit_test(test_claim_behind_locks),
		cmocka_unit_test(test_lock_goes),
		cmocka_unit_test(test_collector_stands),
		cmocka_unit_test(test_one_lost),
		cmocka_unit_test(test_emptied),
		cmocka_unit_test(test_emptied_twice),
		cmocka_unit_test(test_answer_waits),
		cmocka_unit_test(test_own_over_old),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_same_hash),
		cmocka_unit_test(test_quiet_death),
		cmocka_unit_test(test_half_emptied),
		cmocka_unit_test(test_swept),
		cmocka_unit_test(test_dead_insert),
		cmocka_unit_test(test_lock_costs),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
