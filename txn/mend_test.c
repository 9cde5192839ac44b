/*
 * mend_test.c -- a process loses a node in the middle of a transaction: its connection breaks, or
 * no packet comes through for a while, or for ever. Later it dies, or goes on.
 *
 * From any moment of the transaction on, and for each of the nodes: intent, rows and the cluster
 * record lie on different ones. Other processes then find all of the transaction or none of it, in
 * agreement with the answer to its client, and no lock that stays.
 */
#include <base/log.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum {
	CUT = 1,
	ROWS = 12,
	OLD = 1,
	NEW = 7,
	LATER = 30,
	MS = 1000000,
	LEASE_MS = 100,
	FROM_NS = 35000,
	STEP_NS = 400,
	MANY = 150
};

/* Over the same time, in so many steps. */
#define STEPS  (nam_rounds(MANY, 50, 19))
#define STRIDE (MANY * (uint64_t)STEP_NS / STEPS)

enum how { BREAKS, PARTED_A_WHILE, PARTED, PARTED_AND_DIES, HOWS };
static const char *const how_text[HOWS] = { "broken", "parted for 40 ms", "parted for ever",
	"parted, then dead" };

static struct {
	enum how how;
	unsigned node;
	uint64_t at;
	bool old; /* a reader needs the version that will be overwritten: its directory is written
		   * twice, the first time to link the archive */
	/* how often each outcome occurred */
	unsigned all, nothing, told, unsure, gave_up, linked;
} moment;

struct client {
	struct fixture *fix;
	bool ended;
	nam_status st;
};

static void
client_main(void *arg)
{
	struct client *c = arg;
	struct fixture *fix = c->fix;
	struct txn *t;
	c->st = txn_begin(fix->tw[CUT], TXN_REPEATABLE_READ, &t);
	if (c->st == NAM_OK) {
		for (uint64_t k = 0; k < ROWS && c->st == NAM_OK; k++)
			c->st = set(fix, t, &fix->tab[CUT], k, NEW);
		if (c->st == NAM_OK)
			c->st = txn_commit(t, NULL);
		else
			txn_abort(t);
	}
	c->ended = true;
}

static void
lose(struct fixture *fix)
{
	fill(fix, ROWS, OLD);
	/* Takes its first intents, and all else that takes long only once. */
	struct txn *t = begin(fix, CUT, TXN_READ_COMMITTED);
	assert_int_equal(set(fix, t, &fix->tab[CUT], 0, OLD), NAM_OK);
	commit_all(t);

	net_sleep(fix->w[0], 20 * (uint64_t)MS); /* no snapshot needs an older version */
	struct txn *reader = moment.old ? begin(fix, 0, TXN_REPEATABLE_READ) : NULL;
	for (unsigned i = 1; i < fix->slots; i++) {
		t = begin(fix, CUT, TXN_READ_COMMITTED);
		for (uint64_t k = 0; k < ROWS; k++)
			assert_int_equal(set(fix, t, &fix->tab[CUT], k, OLD), NAM_OK);
		commit_all(t);
	}

	struct txn_stats before, stats;
	txn_worker_stats(fix->tw[CUT], &before);
	struct client c = { .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[CUT]), client_main, &c, 128 << 10));
	net_sleep(fix->w[0], moment.at);
	if (moment.how == BREAKS)
		net_sim_break(fix->sim, fix->net[CUT], moment.node);
	else
		net_sim_part(fix->sim, fix->net[CUT], moment.node,
		    moment.how == PARTED_A_WHILE ? 40 * (uint64_t)MS : UINT64_MAX);
	/* Until it knows the outcome, and another process has recovered what it left. */
	net_sleep(fix->w[0], 600 * (uint64_t)MS);
	txn_worker_stats(fix->tw[CUT], &stats);
	moment.linked += stats.archived_late > before.archived_late;
	moment.gave_up += atomic_load(&fix->db[CUT]->failed) != 0;
	if (moment.how == PARTED_AND_DIES) {
		net_sim_crash(fix->sim, fix->net[CUT]);
		net_sleep(fix->w[0], 2 * LEASE_MS * (uint64_t)MS);
	}

	if (reader != NULL) {
		for (uint64_t k = 0; k < ROWS; k++)
			assert_int_equal(value_of(fix, reader, &fix->tab[0], k), OLD);
		txn_abort(reader);
	}
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	unsigned seen = 0;
	for (uint64_t k = 0; k < ROWS; k++) {
		int64_t v = value_of(fix, t, &fix->tab[0], k);
		assert_true(v == OLD || v == NEW);
		seen += v == NEW;
	}
	txn_abort(t);
	assert_true(seen == 0 || seen == ROWS);
	moment.all += seen != 0;
	moment.nothing += seen == 0;
	if (c.ended) {
		moment.told += c.st == NAM_OK;
		moment.unsure += c.st == NAM_UNSURE;
		if (c.st == NAM_OK)
			assert_int_equal(seen, ROWS);
		else if (c.st != NAM_UNSURE)
			assert_int_equal(seen, 0);
	}
	/* Its locks are gone. */
	t = begin(fix, 2, TXN_READ_COMMITTED);
	struct txn_limits soon = { .lock_wait_ns = 2 * LEASE_MS * (uint64_t)MS };
	txn_set_limits(t, &soon);
	for (uint64_t k = 0; k < ROWS; k++)
		assert_int_equal(set(fix, t, &fix->tab[2], k, LATER), NAM_OK);
	commit_all(t);

	if (moment.how == PARTED_AND_DIES)
		net_sim_bury(fix->sim, fix->net[CUT]);
	else
		net_sim_heal(fix->sim, fix->net[CUT], moment.node);
	while (!c.ended)
		net_sleep(fix->w[0], 100000);
}

static void
test_lose(void **state)
{
	(void)state;
	for (unsigned how = 0; how < HOWS; how++) {
		memset(&moment, 0, sizeof moment);
		moment.how = how;
		for (moment.node = 1; moment.node <= 3; moment.node++)
			for (unsigned i = 0; i < STEPS; i++) {
				moment.old = i % 2 != 0;
				moment.at = FROM_NS + i * STRIDE;
				run(3, 2 + i % 3, 1 + i, lose);
			}
		printf("%s: all of it %u times, nothing of it %u times; answered %u, unsure %u; archives "
		       "linked first "
		       "%u times; gave itself up %u times\n",
		    how_text[how], moment.all, moment.nothing, moment.told, moment.unsure, moment.linked,
		    moment.gave_up);
		assert_true(moment.all > nam_rounds(50, 16, 5) && moment.nothing > nam_rounds(50, 16, 5));
		/* Some were in the middle of it, and then the outcome depends on whether a
		 * connection can be had again. */
		assert_true((moment.unsure > 0) == (how >= PARTED));
	}
}

/*
 * Behind a connection that breaks a collector may leave a lock outside of transactions. It finishes
 * its work over a new connection, so every process can insert those keys again, and no process
 * gives itself up for that.
 */
static struct {
	unsigned on, gave_up;
} after;

static void
goes_on_main(void *arg)
{
	struct client *c = arg;
	struct fixture *fix = c->fix;
	c->st = NAM_GONE;
	for (unsigned i = 0; i < 40 && c->st != NAM_OK; i++) {
		struct txn *t;
		struct txn_row row;
		struct row r;
		txn_reach(fix->tw[CUT]);
		c->st = txn_begin(fix->tw[CUT], TXN_REPEATABLE_READ, &t);
		if (c->st == NAM_OK) {
			for (uint64_t k = 100; k < 100 + ROWS && c->st == NAM_OK; k++)
				c->st = get(fix, t, &fix->tab[CUT], k, &row, &r);
			txn_abort(t);
		}
		net_sleep(fix->w[CUT], 5 * (uint64_t)MS);
	}
	c->ended = true;
}

static nam_status
insert_all(struct fixture *fix, unsigned p)
{
	struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
	struct txn_limits soon = { .lock_wait_ns = LEASE_MS * (uint64_t)MS };
	nam_status st = NAM_OK;
	txn_set_limits(t, &soon);
	for (uint64_t k = 0; k < ROWS && st == NAM_OK; k++)
		st = insert(t, &fix->tab[p], k, LATER);
	if (st != NAM_OK) {
		txn_abort(t);
		return st;
	}
	txn_set_cluster_visible(t, true);
	return txn_commit(t, NULL);
}

static bool
collecting(struct fixture *fix, const net_addr *at)
{
	for (unsigned k = 0; k < ROWS; k++) {
		uint64_t word;
		assert_int_equal(net_read1(fix->w[0], at[k], &word, sizeof word, NULL), NAM_OK);
		if ((word & REC_LOCK) && txn_lock_intent(word) == TXN_INTENT_GC)
			return true;
	}
	return false;
}

static void
collected(struct fixture *fix)
{
	net_addr at[ROWS];
	struct txn_row row = { .at = { 0 } };
	struct row r;
	fill(fix, ROWS, OLD);
	struct txn *t = begin(fix, CUT, TXN_READ_COMMITTED);
	for (uint64_t k = 0; k < ROWS; k++)
		assert_int_equal(insert(t, &fix->tab[CUT], 100 + k, OLD), NAM_OK);
	commit_all(t);
	t = begin(fix, CUT, TXN_READ_COMMITTED);
	for (uint64_t k = 0; k < ROWS; k++) {
		assert_int_equal(get(fix, t, &fix->tab[CUT], k, &row, &r), NAM_OK);
		at[k] = row.at;
		assert_int_equal(del(fix, t, &fix->tab[CUT], k), NAM_OK);
	}
	commit_all(t);
	while (!collecting(fix, at))
		net_sleep(fix->w[0], 100);
	net_sleep(fix->w[0], moment.at);
	net_sim_break(fix->sim, fix->net[CUT], moment.node);

	struct client c = { .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[CUT]), goes_on_main, &c, 128 << 10));
	uint64_t from = net_now_ns(fix->w[0]);
	nam_status st;
	while ((st = insert_all(fix, 2)) != NAM_OK) {
		assert_true(st == NAM_CONFLICT || st == NAM_TIMEOUT);
		assert_true(net_now_ns(fix->w[0]) - from < 5 * LEASE_MS * (uint64_t)MS);
	}
	while (!c.ended)
		net_sleep(fix->w[0], 100000);
	bool abandoned = atomic_load(&fix->db[CUT]->failed) != 0 || c.st != NAM_OK;
	after.gave_up += abandoned;
	after.on += !abandoned;
	net_sleep(fix->w[0], 3 * LEASE_MS * (uint64_t)MS); /* and no verb comes later */
	for (unsigned p = 0; p < 3; p += 2) {
		t = begin(fix, p, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < ROWS; k++)
			assert_int_equal(value_of(fix, t, &fix->tab[p], k), LATER);
		txn_abort(t);
	}
}

static void
test_collector(void **state)
{
	(void)state;
	memset(&moment, 0, sizeof moment);
	for (moment.node = 1; moment.node <= 3; moment.node++)
		for (unsigned i = 0; i < STEPS; i++) {
			moment.at = i * STRIDE;
			run(3, 2 + i % 3, 1 + i, collected);
		}
	printf("a collector lost its connection: its process went on %u times, gave itself up %u times\n",
	    after.on, after.gave_up);
	assert_true(after.on == 3 * STEPS && after.gave_up == 0);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lose), cmocka_unit_test(test_collector) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
