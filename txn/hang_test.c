/*
 * hang_test.c -- a process whose heart beats keeps a claim open and does not go on with it:
 * snapshots of other processes go on.
 *
 * The worker of process 1 sleeps between claim and mark, is slow, or waits for a node that it does
 * not reach any more. Process 0 commits meanwhile and wants to see it.
 */
#include <base/log.h>
#include <txn/testing/fixture.h>

enum {
	HANGS = 1,
	MS = 1000000,
	LEASE_MS = 100,
	AFTER_MS = 400,   /* four leases: more than the simulated net's timeout, 50 ms */
	TIMEOUT_MS = 50,  /* net's, simulated */
	MEND_MS = 200,    /* mend.c's: for so long a transaction asks for a connection to
			   * finish what it began */
	RECOVERY_MS = 20, /* ticks, a sweep, recovering, two rounds of promises */
};

struct holder {
	struct fixture *fix;
	uint64_t step_ns, until_ns; /* posts a verb each step_ns, if not 0 */
	bool let_go, claimed, ended;
	tso_cid cid;
};

static void
holder_main(void *arg)
{
	struct holder *h = arg;
	struct fixture *fix = h->fix;
	struct net_worker *w = fix->w[HANGS];
	struct tso_worker *o = fix->tw[HANGS]->tso;
	struct tso_pin pin;
	struct tso_claim c;
	struct net_counts acct = { 0 };
	uint64_t word;
	assert_int_equal(tso_snapshot(o, &pin, NULL), NAM_OK);
	tso_claim_start(o, &c, 0, &acct);
	assert_int_equal(tso_claim_wait(o, &c), NAM_OK);
	h->cid = c.cid;
	h->claimed = true;
	while (!h->let_go) {
		net_sleep(w, h->step_ns != 0 ? h->step_ns : 10 * MS);
		if (h->step_ns != 0)
			assert_int_equal(net_read1(w, fix->db[HANGS]->cluster, &word, 8, &acct), NAM_OK);
	}
	tso_mark_wait(o, &c, 0);
	tso_unpin(o, &pin);
	h->ended = true;
}

static void
hold(struct fixture *fix, struct holder *h, uint64_t step_ns)
{
	*h = (struct holder){ .fix = fix, .step_ns = step_ns };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[HANGS]), holder_main, h, 128 << 10));
	while (!h->claimed)
		net_sleep(fix->w[0], 1000);
}

static void
release(struct fixture *fix, struct holder *h)
{
	h->let_go = true;
	while (!h->ended)
		net_sleep(fix->w[0], 100000);
}

static bool
abandoned(const struct fixture *fix)
{
	return atomic_load(&fix->db[HANGS]->failed) == NAM_GONE; /* its heart has stopped */
}

/* Process p commits a value, and waits until its next transaction sees it. How long that took, in
 * ns. */
static uint64_t
write_and_see(struct fixture *fix, unsigned p, int64_t v)
{
	struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, t, &fix->tab[p], 0, v), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	uint64_t from = net_now_ns(fix->w[0]);
	t = begin(fix, p, TXN_READ_COMMITTED);
	uint64_t took = net_now_ns(fix->w[0]) - from;
	assert_int_equal(value_of(fix, t, &fix->tab[p], 0), v);
	txn_abort(t);
	nam_arena_reset(&fix->a);
	return took;
}

static void
hung(struct fixture *fix)
{
	struct holder h;
	fill(fix, 2, 1);
	assert_true(write_and_see(fix, 0, 2) < MS);
	hold(fix, &h, 0);
	uint64_t took = write_and_see(fix, 0, 3);
	/* The claim stalled the snapshot for as long as the process might still have been alive
	 * ... */
	assert_true(took > (AFTER_MS - LEASE_MS) * (uint64_t)MS);
	/* ... and no longer than it takes to notice the stall, to wait for a lease and to recover
	 * it. */
	assert_true(took < (AFTER_MS + LEASE_MS + RECOVERY_MS) * (uint64_t)MS);
	assert_true(abandoned(fix));
	assert_true(write_and_see(fix, 2, 4) < MS);
	assert_true(write_and_see(fix, 0, 5) < MS);
	/* Its claimed CID is a hole; when it wakes, all its verbs fail. */
	assert_true(tso_prefix(fix->db[0]->tso) > h.cid);
	release(fix, &h);
	struct txn *t;
	assert_int_not_equal(txn_begin(fix->tw[HANGS], TXN_READ_COMMITTED, &t), NAM_OK);
	assert_true(write_and_see(fix, 2, 6) < MS);
}
static void
test_hung(void **state)
{
	(void)state;
	run_some(3, hung);
}

/* A commit that goes on, a verb at a time, does not count as hanging, however long others wait for
 * it. */
static void
slow(struct fixture *fix)
{
	struct holder h;
	fill(fix, 2, 1);
	hold(fix, &h, 300 * MS);
	net_sleep(fix->w[0], 4 * (uint64_t)AFTER_MS * MS);
	assert_false(abandoned(fix));
	release(fix, &h);
	assert_true(write_and_see(fix, 0, 2) < MS);
	assert_true(write_and_see(fix, HANGS, 3) < MS);
}
static void
test_slow(void **state)
{
	(void)state;
	run_some(2, slow);
}

/* If no process waits for the hanging one, it may wake at any time. When another process joins, it
 * is in the way. */
static void
alone(struct fixture *fix)
{
	struct holder h;
	fill(fix, 2, 1);
	/* Process 0 leaves, so that process 1 is alone; process 0 comes back after that. */
	struct net_worker *w = fix->w[0];
	txn_worker_close(fix->tw[0]);
	txn_table_close(fix->db[0], &fix->tab[0]);
	txn_table_close(fix->db[0], &fix->bare[0]);
	txn_db_close(w, fix->db[0]);
	hold(fix, &h, 0);
	net_sleep(w, 4 * (uint64_t)AFTER_MS * MS);
	assert_false(abandoned(fix));
	struct txn_config cfg = { .ptr_cache_entries = 4096, .lease_ms = LEASE_MS };
	struct nam_err err;
	assert_int_equal(txn_db_open(w, &cfg, &fix->db[0], &err), NAM_OK);
	assert_int_equal(txn_worker_open(fix->db[0], w, &fix->tw[0]), NAM_OK);
	assert_int_equal(txn_table_open(fix->db[0], &fix->tab[0]), NAM_OK);
	assert_int_equal(txn_table_open(fix->db[0], &fix->bare[0]), NAM_OK);
	assert_true(write_and_see(fix, 0, 2) < (AFTER_MS + LEASE_MS + RECOVERY_MS) * (uint64_t)MS);
	assert_true(abandoned(fix));
	release(fix, &h);
}
static void
test_alone(void **state)
{
	(void)state;
	run_some(2, alone);
}

/* ---- from a moment of its commit on, it does not reach a node any more ---- */

struct parted {
	struct fixture *fix;
	bool ended;
	nam_status st;
};

static void
parted_main(void *arg)
{
	struct parted *v = arg;
	struct fixture *fix = v->fix;
	struct txn *t;
	v->st = txn_begin(fix->tw[HANGS], TXN_READ_COMMITTED, &t);
	for (uint64_t k = 1; k < 12 && v->st == NAM_OK; k++)
		v->st = set(fix, t, &fix->tab[HANGS], k, 7);
	if (v->st == NAM_OK)
		v->st = txn_commit(t, NULL);
	else if (v->st != NAM_OK)
		txn_abort(t);
	v->ended = true;
}

static uint64_t part_at, part_longest;
static unsigned part_ends[2]; /* outcomes of its commit, as it knew them: committed, anything
			       * else */

static void
parted(struct fixture *fix)
{
	fill(fix, 12, 1);
	assert_true(write_and_see(fix, HANGS, 2) < MS);
	struct parted v = { .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[HANGS]), parted_main, &v, 128 << 10));
	net_sleep(fix->w[0], part_at);
	net_sim_part(fix->sim, fix->net[HANGS], 2, UINT64_MAX);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t took = write_and_see(fix, 0, 10 + i);
		part_longest = took > part_longest ? took : part_longest;
		net_sleep(fix->w[0], 5 * MS);
	}
	net_sim_heal(fix->sim, fix->net[HANGS], 2);
	while (!v.ended)
		net_sleep(fix->w[0], 100000);
	part_ends[v.st != NAM_OK]++;
	assert_true(write_and_see(fix, 2, 60) < MS);
}
static void
test_parted(void **state)
{
	(void)state;
	for (part_at = 0; part_at < 400000; part_at += 2500)
		run(3, 2, 1 + part_at, parted);
	printf("%u committed, %u did not; snapshots waited for %.1f ms at most\n", part_ends[0], part_ends[1],
	    (double)part_longest / MS);
	assert_true(part_ends[0] > 5 && part_ends[1] > 5);
	/* some moments were in the middle of the commit */
	assert_true(part_longest > TIMEOUT_MS / 2 * (uint64_t)MS);
	assert_true(part_longest < (TIMEOUT_MS + MEND_MS + LEASE_MS + RECOVERY_MS) * (uint64_t)MS);
}

/* ---- it ends, and has no time left for what it does ---- */

enum { ENDING_ROWS = 400 };

struct ending {
	struct fixture *fix;
	bool commits, ended;
	nam_status st;
};

static void
ending_main(void *arg)
{
	struct ending *v = arg;
	struct fixture *fix = v->fix;
	struct nam_arena mine = fix->a;
	struct txn *t;
	nam_arena_init(&fix->a, 0);
	assert_int_equal(txn_begin(fix->tw[HANGS], TXN_READ_COMMITTED, &t), NAM_OK);
	for (uint64_t k = 0; k < ENDING_ROWS; k++)
		assert_int_equal(set(fix, t, &fix->tab[HANGS], k, 7), NAM_OK);
	txn_ending(fix->db[HANGS], 1);
	if (v->commits)
		v->st = txn_commit(t, NULL);
	else
		txn_abort(t);
	nam_arena_fini(&fix->a);
	fix->a = mine;
	v->ended = true;
}

/* Rows of a transaction that it leaves behind are as it was told, and free, after a recovery. */
static void
ending(struct fixture *fix, bool commits)
{
	fill(fix, ENDING_ROWS, 1);
	assert_true(write_and_see(fix, HANGS, 1) < MS);
	struct ending v = { .fix = fix, .commits = commits };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[HANGS]), ending_main, &v, 128 << 10));
	while (!v.ended)
		net_sleep(fix->w[0], 100000);
	assert_int_equal(v.st, NAM_OK);
	assert_non_null(fix->tw[HANGS]->left);
	net_sleep(fix->w[0], (2 * LEASE_MS + RECOVERY_MS) * (uint64_t)MS);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	for (uint64_t k = 0; k < ENDING_ROWS; k++) {
		assert_int_equal(value_of(fix, t, &fix->tab[0], k), commits ? 7 : 1);
		assert_int_equal(set(fix, t, &fix->tab[0], k, 9), NAM_OK);
	}
	commit_all(t);
	nam_arena_reset(&fix->a);
}
static void
ending_commit(struct fixture *fix)
{
	ending(fix, true);
}
static void
ending_abort(struct fixture *fix)
{
	ending(fix, false);
}
static void
test_ending(void **state)
{
	(void)state;
	run_some(3, ending_commit);
	run_some(3, ending_abort);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR); /* the hang that it warns of is intended */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hung),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_parted),
		cmocka_unit_test(test_ending),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
