/*
 * wait_test.c -- waits for other processes end: by a time-out, by a cancel, and by themselves if
 * the process that is waited for cannot be recovered.
 *
 * Process 1 has a claim open: it lives, or it is dead, and a storage node is gone, so that it
 * cannot be fenced.
 */
#include <base/log.h>
#include <txn/testing/fixture.h>

enum { HELD = 1, MS = 1000000, LEASE_MS = 100, LONG_MS = 8000 };

struct holder {
	struct fixture *fix;
	bool let_go, claimed, ended;
	tso_cid cid;
};

static void
holder_main(void *arg)
{
	struct holder *h = arg;
	struct fixture *fix = h->fix;
	struct tso_worker *o = fix->tw[HELD]->tso;
	struct tso_pin pin;
	struct tso_claim c;
	struct net_counts acct = { 0 };
	assert_int_equal(tso_snapshot(o, &pin, NULL), NAM_OK);
	tso_claim_start(o, &c, 0, &acct);
	assert_int_equal(tso_claim_wait(o, &c), NAM_OK);
	h->cid = c.cid;
	h->claimed = true;
	while (!h->let_go)
		net_sleep(fix->w[HELD], MS);
	tso_mark_wait(o, &c, 0);
	tso_unpin(o, &pin);
	h->ended = true;
}

static void
hold(struct fixture *fix, struct holder *h)
{
	*h = (struct holder){ .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[HELD]), holder_main, h, 128 << 10));
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

static uint64_t
now_ms(struct fixture *fix)
{
	return net_now_ns(fix->w[0]) / MS;
}

struct canceller {
	struct fixture *fix;
	_Atomic int word;
	bool ended;
};

static void
canceller_main(void *arg)
{
	struct canceller *c = arg;
	net_sleep(c->fix->w[0], 20 * MS);
	atomic_store(&c->word, 1);
	c->ended = true;
}

static void
cancel_soon(struct fixture *fix, struct canceller *c)
{
	*c = (struct canceller){ .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), canceller_main, c, 128 << 10));
}

/* A snapshot that cannot be had, by time-out and by cancel. */
static void
limits_hold(struct fixture *fix)
{
	struct txn *t;
	uint64_t from = now_ms(fix);
	struct txn_limits l = { .until_ns = net_now_ns(fix->w[0]) + 30 * (uint64_t)MS };
	assert_int_equal(txn_begin_by(fix->tw[0], TXN_READ_COMMITTED, &l, &t), NAM_EXPIRED);
	assert_in_range(now_ms(fix) - from, 30, 35);
	struct canceller c;
	cancel_soon(fix, &c);
	l = (struct txn_limits){ .cancel = &c.word };
	from = now_ms(fix);
	assert_int_equal(txn_begin_by(fix->tw[0], TXN_READ_COMMITTED, &l, &t), NAM_CANCELLED);
	assert_in_range(now_ms(fix) - from, 19, 25);
}

/* ---- the other process lives, and takes long ---- */

static void
slow_commit(struct fixture *fix)
{
	struct holder h;
	fill(fix, 2, 1);
	hold(fix, &h);
	/* Decided, and not visible in time: never plain OK. It stays. */
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	tso_cid cid = 0;
	assert_int_equal(set(fix, t, &fix->tab[0], 0, 7), NAM_OK);
	struct txn_limits l = { .until_ns = net_now_ns(fix->w[0]) + 30 * (uint64_t)MS };
	txn_set_limits(t, &l);
	txn_set_cluster_visible(t, true);
	uint64_t from = now_ms(fix);
	assert_int_equal(txn_commit(t, &cid), NAM_UNSEEN);
	assert_in_range(now_ms(fix) - from, 29, 35);
	assert_true(cid > h.cid);
	limits_hold(fix);
	release(fix, &h);
	for (unsigned p = 0; p < fix->procs; p++) {
		t = begin(fix, p, TXN_READ_COMMITTED);
		assert_int_equal(value_of(fix, t, &fix->tab[p], 0), 7);
		txn_abort(t);
	}
	/* And with time enough it is OK. */
	hold(fix, &h);
	h.let_go = true;
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, t, &fix->tab[0], 0, 8), NAM_OK);
	commit_all(t);
	release(fix, &h);
}

static void
test_slow_commit(void **state)
{
	(void)state;
	run_some(3, slow_commit);
}

/* ---- claims that wait for the vector ---- */

static nam_status
write_one(struct fixture *fix, int64_t v, uint64_t within_ns)
{
	struct txn_limits l = { .until_ns = net_now_ns(fix->w[0]) + within_ns };
	struct txn *t;
	nam_status st = txn_begin_by(fix->tw[0], TXN_READ_COMMITTED, &l, &t);
	if (st != NAM_OK)
		return st;
	if ((st = set(fix, t, &fix->tab[0], 0, v)) == NAM_OK)
		return txn_commit(t, NULL);
	txn_abort(t);
	return st;
}

/* Process 1 stalls for less than a lease, so no process may use CIDs beyond those it has seen. */
static void
claims(struct fixture *fix)
{
	fill(fix, 1, 0);
	int64_t v = 1;
	unsigned expired = 0;
	for (unsigned round = 0; round < 8; round++) {
		net_sim_freeze(fix->sim, fix->net[HELD], LEASE_MS / 2 * (uint64_t)MS);
		uint64_t end = net_now_ns(fix->w[0]) + (LEASE_MS / 2 + 20) * (uint64_t)MS;
		for (; net_now_ns(fix->w[0]) < end; v++) {
			nam_status st = write_one(fix, v, 2 * MS);
			assert_true(st == NAM_OK || st == NAM_EXPIRED);
			expired += st == NAM_EXPIRED;
		}
		/* A claim that is not used holds no other process up. */
		assert_int_equal(write_one(fix, v, 100 * (uint64_t)MS), NAM_OK);
		for (unsigned p = 0; p < fix->procs; p++) {
			net_sleep(fix->w[0], 5 * MS);
			struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
			assert_int_equal(value_of(fix, t, &fix->tab[p], 0), v);
			txn_abort(t);
		}
		v++;
	}
	assert_true(expired > 20);
}

static void
test_claims(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		run_wrapping(3, 2, seed, 64, claims);
}

/* ---- a node does not answer, then a process dies in the middle of a commit ---- */

/* An empty node has taken its place: there is nothing to fence on it, and the others go on. */
static void
node_is_replaced(struct fixture *fix)
{
	struct holder h;
	struct txn *t;
	fill(fix, 2, 1);
	hold(fix, &h);
	net_sim_replace_node(fix->sim, 3);
	net_sim_crash(fix->sim, fix->net[HELD]);
	tso_answered(fix->db[0]->tso, h.cid);
	nam_status st = NAM_STUCK;
	for (unsigned tries = 0; tries < 20 && st != NAM_OK; tries++)
		st = txn_begin(fix->tw[0], TXN_READ_COMMITTED, &t);
	assert_int_equal(st, NAM_OK);
	txn_abort(t);
	net_sim_bury(fix->sim, fix->net[HELD]);
	while (!h.ended) {
		h.let_go = true;
		net_sleep(fix->w[0], 100000);
	}
}

static void
nobody_can(struct fixture *fix)
{
	struct holder h;
	struct txn *t;
	char why[320];
	fill(fix, 2, 1);
	hold(fix, &h);
	net_sim_lose_node(fix->sim, 3);
	net_sim_crash(fix->sim, fix->net[HELD]);
	/* As if process 0 had answered a later commit. */
	tso_answered(fix->db[0]->tso, h.cid);
	limits_hold(fix);
	uint64_t from = now_ms(fix);
	assert_int_equal(txn_begin(fix->tw[0], TXN_READ_COMMITTED, &t), NAM_STUCK);
	assert_true(now_ms(fix) - from < LONG_MS);
	tso_stuck_text(fix->tw[0]->tso, why, sizeof why);
	char who[40];
	snprintf(who, sizeof who, "owner slot %u ", tso_owner(fix->db[HELD]->tso));
	assert_non_null(strstr(why, who));
	assert_non_null(strstr(why, "do not answer"));
	tso_stuck_text(fix->tw[0]->tso, why, sizeof why);
	assert_int_equal(why[0], 0);
	limits_hold(fix);
	/* Once it is known, the error comes soon. */
	from = now_ms(fix);
	assert_int_equal(txn_begin(fix->tw[0], TXN_READ_COMMITTED, &t), NAM_STUCK);
	assert_true(now_ms(fix) - from < 1100);
	net_sim_bury(fix->sim, fix->net[HELD]);
	while (!h.ended) {
		h.let_go = true;
		net_sleep(fix->w[0], 100000);
	}
}

static void
test_nobody_can(void **state)
{
	(void)state;
	run_some(3, nobody_can);
}

static void
test_node_is_replaced(void **state)
{
	(void)state;
	run_some(3, node_is_replaced);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_commit),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_nobody_can),
		cmocka_unit_test(test_node_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
