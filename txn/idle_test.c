/*
 * idle_test.c -- an idle process, and one that goes on after it was idle, does no harm to others.
 *
 *      old laps   it stalls for longer than a lease, and more commit ids pass than the vector has
 *                 marks. When it goes on, it must not take marks of later laps for holes: a mark
 *                 written over one that carries a note would hide a change of the catalog from
 *                 others.
 *      a break    the heart's connection to the home node breaks with the CAS that says "idle", and
 *                 another worker of the process goes on at once. No answer tells whether the CAS
 *                 was done: the process must not believe that it is active.
 */
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum { MS = 1000000, US = 1000, VECTOR = 64, NOTED = 1500, STILL_MS = 600 };

static nam_status
add(struct fixture *fix, struct txn_worker *tw, unsigned p, int64_t by)
{
	struct txn *t;
	struct txn_row row;
	struct row r = { 0 };
	nam_status st = txn_begin(tw, TXN_READ_COMMITTED, &t);
	if (st != NAM_OK)
		return st;
	st = get(fix, t, &fix->tab[p], 0, &row, &r);
	if (st == NAM_OK)
		st = txn_lock(t, &fix->tab[p], &row);
	if (st == NAM_OK && row.changed)
		memcpy(&r, row.bytes, sizeof r);
	r = mk(0, r.value + by);
	if (st == NAM_OK)
		st = txn_update(t, &fix->tab[p], &row, &r, sizeof r);
	if (st == NAM_OK)
		return txn_commit(t, NULL);
	txn_abort(t);
	return st;
}

static int64_t
newest(struct fixture *fix, unsigned p)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	int64_t v = value_of(fix, t, &fix->tab[p], 0);
	txn_abort(t);
	return v;
}

/* ---- marks of an old lap ----------------------------------------------------------- */

static void
old_laps(struct fixture *fix)
{
	fill(fix, 2, 0);
	uint64_t from = net_now_ns(fix->w[0]);
	while (!tso_is_idle(fix->db[1]->tso)) {
		assert_true(net_now_ns(fix->w[0]) - from < 2000 * (uint64_t)MS);
		net_sleep(fix->w[0], MS);
	}
	net_sim_freeze(fix->sim, fix->net[1], STILL_MS * (uint64_t)MS);
	from = net_now_ns(fix->w[0]);
	int64_t n = 0;
	while (net_now_ns(fix->w[0]) - from < (STILL_MS - 5) * (uint64_t)MS) {
		assert_int_equal(add(fix, fix->tw[0], 0, 1), NAM_OK);
		n++;
		net_sleep(fix->w[0], MS / 4);
	}
	assert_true(n > 2 * VECTOR);
	/* It goes on, while every commit carries a note. Process 2 hears of all notes, of none
	 * later than the commit is visible there. */
	unsigned missed = 0;
	for (unsigned i = 0; i < NOTED; i++, n++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(set(fix, t, &fix->tab[0], 0, n + 1), NAM_OK);
		txn_set_note(t, TSO_NOTE_CATALOG);
		tso_cid cid;
		assert_int_equal(txn_commit(t, &cid), NAM_OK);
		assert_int_equal(tso_wait_for(fix->tw[2]->tso, cid), NAM_OK);
		missed += tso_noted(fix->db[2]->tso) < cid;
		nam_arena_reset(&fix->a);
	}
	assert_int_equal(missed, 0);
	assert_int_equal(newest(fix, 1), n);
	assert_int_equal(add(fix, fix->tw[1], 1, 1), NAM_OK);
	net_sleep(fix->w[0], 20 * MS);
	assert_int_equal(newest(fix, 2), n + 1);
}

static void
test_old_laps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(4, 2, 1); seed++)
		run_wrapping(3, 2, seed, VECTOR, old_laps);
}

/* ---- a connection breaks with the CAS ----------------------------------------------- */

static uint64_t idle_at; /* when the process knew that it was idle, if nothing broke */
static uint64_t break_at;

struct second {
	struct fixture *fix;
	struct net_worker *w;
	struct txn_worker *tw;
	bool go, done;
	nam_status st;
};

/* Adds 1 to the row, slowly. */
static void
second_main(void *arg)
{
	struct second *s = arg;
	struct fixture *fix = s->fix;
	struct txn *t;
	struct txn_row row;
	struct row r;
	while (!s->go)
		net_sleep(s->w, 100);
	s->st = txn_begin(s->tw, TXN_READ_COMMITTED, &t);
	if (s->st != NAM_OK) {
		s->done = true;
		return;
	}
	s->st = get(fix, t, &fix->tab[1], 0, &row, &r);
	if (s->st == NAM_OK)
		s->st = txn_lock(t, &fix->tab[1], &row);
	net_sleep(s->w, 400 * (uint64_t)MS);
	r = mk(0, r.value + 1);
	if (s->st == NAM_OK)
		s->st = txn_update(t, &fix->tab[1], &row, &r, sizeof r);
	if (s->st == NAM_OK)
		s->st = txn_commit(t, NULL);
	else
		txn_abort(t);
	s->done = true;
}

static void
broken(struct fixture *fix)
{
	struct second s = { .fix = fix };
	fill(fix, 2, 100);
	assert_int_equal(net_worker_open(fix->net[1], &s.w, NULL), NAM_OK);
	assert_int_equal(txn_worker_open(fix->db[1], s.w, &s.tw), NAM_OK);
	assert_int_equal(add(fix, s.tw, 1, 0), NAM_OK);
	nam_co_start(net_worker_sched(s.w), second_main, &s, 128 << 10);
	uint64_t from = net_now_ns(fix->w[0]);
	if (break_at == 0) {
		while (!tso_is_idle(fix->db[1]->tso)) {
			assert_true(net_now_ns(fix->w[0]) - from < 2000 * (uint64_t)MS);
			net_sleep(fix->w[0], 100);
		}
		idle_at = net_now_ns(fix->w[0]);
	} else {
		net_sleep(fix->w[0], break_at - from);
		net_sim_break_one(fix->sim, fix->w[1], 1);
	}
	net_sleep(fix->w[0], 300);
	s.go = true;
	/* Its slot may be idle: then the slot is free a while later, and the row's lock has no
	 * owner. */
	net_sleep(fix->w[0], 300 * (uint64_t)MS);
	int64_t right = 100;
	nam_status st = add(fix, fix->tw[0], 0, 50);
	right += st == NAM_OK ? 50 : 0;
	while (!s.done)
		net_sleep(fix->w[0], MS);
	right += s.st == NAM_OK;
	net_sleep(fix->w[0], 20 * MS);
	assert_true(st == NAM_OK);
	/* An unsure answer may mean either outcome. */
	int64_t is = newest(fix, 2);
	if (is != right && !(s.st == NAM_UNSURE && is == right + 1))
		fail_msg("broken %lld ns before it knew: %lld, right is %lld (the second worker: %s)",
		    (long long)(idle_at - break_at), (long long)is, (long long)right, nam_status_name(s.st));
	txn_worker_close(s.tw);
	net_worker_close(s.w);
}

static void
test_break(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 2, 1); seed++) {
		break_at = 0;
		run(3, 2, seed, broken);
		for (uint64_t before = 100; before <= 4000; before += 300) {
			break_at = idle_at - before;
			run(3, 2, seed, broken);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_laps),
		cmocka_unit_test(test_break),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
