/* retry_test.c -- on mapped memory no verb parks: a transaction that is tried again and again still
 * lets the other coroutines of its worker go on. */
#include "jobs.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka after these */
#include <cmocka.h>

enum { HELD_NS = 2000000, TRIES_MAX = 3000000 };

struct row {
	int64_t key, value;
};

static struct txn_table table;
static bool locked, ended;
static unsigned tries;

static nam_status
insert(struct txn *t, int64_t key)
{
	const struct row r = { key, 1 };
	struct txn_put p = bench_put(&table, &r, sizeof r, 8);
	return txn_insert(t, &p, 1);
}

static void
make(const struct cn_place *pl, void *arg)
{
	const struct bench_table t = { &table, sizeof(struct row), 8 };
	*(nam_status *)arg = bench_tables_make(pl, &t, 1);
}

/* Inserts the key, so that its block is locked and has no version; a little later it ends. It
 * sleeps meanwhile: a coroutine that is not ready is no reason for others to yield. */
static void
holder(const struct cn_place *pl, void *arg)
{
	struct txn *t;
	*(nam_status *)arg = txn_begin(pl->txn, TXN_READ_COMMITTED, &t);
	if (*(nam_status *)arg != NAM_OK)
		return;
	*(nam_status *)arg = insert(t, 7);
	locked = true;
	net_sleep(pl->net, HELD_NS);
	txn_abort(t);
	ended = true;
}

/* Wants the same key: an insert that does not wait for writers. */
static void
rival(const struct cn_place *pl, void *arg)
{
	nam_status st = NAM_CONFLICT;
	while (!locked)
		nam_co_yield();
	for (tries = 0; st == NAM_CONFLICT && tries < TRIES_MAX; tries++) {
		struct txn *t;
		if ((st = txn_begin_latest(pl->txn, NULL, &t)) != NAM_OK)
			break;
		if ((st = insert(t, 7)) == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
	}
	*(nam_status *)arg = st;
}

static void
test_lets_others_go_on(void **state)
{
	(void)state;
	struct bench_embedded e = { 0 };
	struct bench_jobs g = BENCH_JOBS;
	struct nam_err err;
	struct cn *cn;
	nam_status got[3] = { NAM_IO, NAM_IO, NAM_IO };
	if (bench_embedded_open(&e, 64 << 20, "namdb", &err) != NAM_OK)
		fail_msg("%s", err.text);
	const struct cn_config cfg = { .local = e.local, .cluster = "namdb", .workers = 1, .measure = true };
	assert_int_equal(cn_open(&cn, &cfg, &err), NAM_OK);
	struct bench_job made = { .run = make, .arg = &got[0] };
	assert_int_equal(bench_job_start(cn, &g, 0, &made), NAM_OK);
	bench_jobs_wait(&g, 0);
	assert_int_equal(got[0], NAM_OK);
	struct bench_job both[2] = { { .run = holder, .arg = &got[1] }, { .run = rival, .arg = &got[2] } };
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(bench_job_start(cn, &g, 0, &both[i]), NAM_OK);
	bench_jobs_wait(&g, 0);
	assert_int_equal(got[1], NAM_OK);
	assert_int_equal(got[2], NAM_OK);
	assert_true(ended && tries > 0 && tries < TRIES_MAX);
	cn_close(cn);
	bench_embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lets_others_go_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
