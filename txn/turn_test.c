/* turn_test.c -- with turns, transactions of a process on one record have no conflicts; a turn that
 * stalls, and turns in different orders, hold nobody up for long. */
#include <txn/testing/fixture.h>

enum { CLIENTS = 8, ROUNDS = 12, KEYS = 3, STACK = 128 << 10, MS = 1000000 };

static unsigned running;
static uint64_t conflicts;
static bool turns;

struct one {
	struct fixture *fix;
	unsigned number;
};

static uint64_t
one_more(struct fixture *fix, uint64_t key)
{
	uint64_t lost = 0;
	for (nam_status st = NAM_CONFLICT; st != NAM_OK; lost++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		st = set(fix, t, &fix->tab[0], key, value_of(fix, t, &fix->tab[0], key) + 1);
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		assert_true(st == NAM_OK || st == NAM_CONFLICT);
	}
	return lost - 1;
}

/* Both keys of a turn, in an order that differs. */
static void
client(void *arg)
{
	struct one *o = arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t key = (o->number + i) % KEYS, other = (key + 1 + i % 2) % KEYS;
		struct txn_turn turn = { .hash = { key, other, key }, .n = 3 };
		if (turns)
			txn_turn_take(o->fix->tw[0], &turn);
		conflicts += one_more(o->fix, key);
		if (turns)
			txn_turn_leave(o->fix->tw[0], &turn);
	}
	running--;
}

static void
many(struct fixture *fix)
{
	struct one o[CLIENTS];
	fill(fix, KEYS, 0);
	running = CLIENTS;
	conflicts = 0;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ fix, i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), client, &o[i], STACK));
	}
	while (running > 0)
		net_sleep(fix->w[0], MS / 10);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	int64_t sum = 0;
	for (uint64_t k = 0; k < KEYS; k++)
		sum += value_of(fix, t, &fix->tab[0], k);
	txn_abort(t);
	assert_int_equal(sum, CLIENTS * ROUNDS);
}

static void
test_no_conflicts(void **state)
{
	(void)state;
	turns = true;
	run_some(1, many);
	assert_int_equal(conflicts, 0);
	turns = false; /* what they are for */
	run_some(1, many);
	assert_true(conflicts > CLIENTS * ROUNDS / 4);
}

/* ---- one that stalls ---- */

static unsigned order[CLIENTS], came;

static void
waits(void *arg)
{
	struct one *o = arg;
	struct txn_turn turn = { .hash = { 7 }, .n = 1 };
	uint64_t from = net_now_ns(o->fix->w[0]);
	txn_turn_take(o->fix->tw[0], &turn);
	assert_true(net_now_ns(o->fix->w[0]) - from < 15 * MS);
	order[came++] = o->number;
	txn_turn_leave(o->fix->tw[0], &turn);
	running--;
}

/* All wait for a turn that lasts for so long. */
static void
behind(struct fixture *fix, uint64_t ns)
{
	struct one o[CLIENTS];
	struct txn_turn turn = { .hash = { 7, 8 }, .n = 2 };
	uint64_t from = net_now_ns(fix->w[0]);
	txn_turn_take(fix->tw[0], &turn);
	assert_int_equal(turn.held, 2);
	assert_int_equal(net_now_ns(fix->w[0]), from);
	running = CLIENTS;
	came = 0;
	for (unsigned i = 0; i < CLIENTS; i++) {
		o[i] = (struct one){ fix, i };
		assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), waits, &o[i], STACK));
	}
	net_sleep(fix->w[0], ns);
	assert_int_equal(running, ns < MS ? CLIENTS : 0);
	txn_turn_leave(fix->tw[0], &turn);
	while (running > 0)
		net_sleep(fix->w[0], 1000);
	for (unsigned i = 0; ns < MS && i < CLIENTS; i++)
		assert_int_equal(order[i], i);
	from = net_now_ns(fix->w[0]); /* nothing is left of them */
	txn_turn_take(fix->tw[0], &turn);
	assert_int_equal(turn.held, 2);
	assert_int_equal(net_now_ns(fix->w[0]), from);
	txn_turn_leave(fix->tw[0], &turn);
}

static void
stalls(struct fixture *fix)
{
	behind(fix, MS / 2);
	behind(fix, 30 * MS);
}

static void
test_stalls(void **state)
{
	(void)state;
	run_some(1, stalls);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_conflicts),
		cmocka_unit_test(test_stalls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
