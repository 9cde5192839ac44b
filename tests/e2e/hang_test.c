/*
 * hang_test.c -- a worker's thread that does not come back between claim and mark, while its
 * process's heart beats. If the thread is blocked, the process gives up, so that others can recover
 * it. If it computes, the process does not, however long that takes.
 *
 * Real threads; txn/hang_test.c has what the others do then, in virtual time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka after the four above */
#include <base/clock.h>
#include <base/log.h>
#include <net/net.h>
#include <storage_node/sn.h>
#include <txn/txn.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LEASE_MS = 100, AFTER_MS = 4 * LEASE_MS, CONNECT_MS = 50, SILENCE_S = 2, SLOW_S = 60 };

/* A thread with a worker of its own; do_it runs on it as a coroutine. */
struct place {
	struct net *net;
	struct txn_db **db; /* of its process */
	bool joins;         /* opens the db, and so its heart is here */
	void (*do_it)(struct place *p);
	pthread_t thread;
	struct net_worker *w;
	struct txn_worker *tw;
	atomic_bool open, stop, ended;
	int pipe[2];
	bool blocks;
	double seconds;
};

static void
place_main(void *arg)
{
	struct place *p = arg;
	struct nam_err err = { 0 };
	const struct txn_config cfg = { .lease_ms = LEASE_MS, .ptr_cache_entries = 4096, .bystander = true };
	if (p->joins)
		assert_int_equal(txn_db_open(p->w, &cfg, p->db, &err), NAM_OK);
	assert_int_equal(txn_worker_open(*p->db, p->w, &p->tw), NAM_OK);
	atomic_store(&p->open, true);
	if (p->do_it != NULL)
		p->do_it(p);
	atomic_store(&p->ended, true);
	while (!atomic_load(&p->stop))
		net_sleep(p->w, 1000000);
	txn_worker_close(p->tw);
	if (p->joins)
		txn_db_close(p->w, *p->db);
}

static void *
place_thread(void *arg)
{
	struct place *p = arg;
	assert_int_equal(net_worker_open(p->net, &p->w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(p->w), place_main, p, 256 << 10));
	net_worker_run(p->w, NULL, NULL);
	net_worker_close(p->w);
	return NULL;
}

static void
place_start(struct place *p)
{
	assert_int_equal(pthread_create(&p->thread, NULL, place_thread, p), 0);
	while (!atomic_load(&p->open))
		usleep(1000);
}

static void
place_stop(struct place *p)
{
	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
}

/* Is there, and in use: an owner that the other one is in the way of. */
static void
keep_pin(struct place *p)
{
	struct tso_pin pin;
	assert_int_equal(tso_snapshot(txn_worker_tso(p->tw), &pin, NULL), NAM_OK);
	while (!atomic_load(&p->stop))
		net_sleep(p->w, 1000000);
	tso_unpin(txn_worker_tso(p->tw), &pin);
}

static void
hold_claim(struct place *p)
{
	struct tso_worker *o = txn_worker_tso(p->tw);
	struct tso_pin pin;
	struct tso_claim c;
	struct net_counts acct = { 0 };
	char byte;
	assert_int_equal(tso_snapshot(o, &pin, NULL), NAM_OK);
	tso_claim_start(o, &c, 0, &acct);
	assert_int_equal(tso_claim_wait(o, &c), NAM_OK);
	uint64_t end = nam_clock_ns() + (uint64_t)(p->seconds * 1e9);
	if (p->blocks)
		assert_int_equal(read(p->pipe[0], &byte, 1), 1);
	while (nam_clock_ns() < end)
		;
	tso_mark_wait(o, &c, 0);
	tso_unpin(o, &pin);
}

/* True if its heart beats within that time. */
static bool
beats_within(const struct place *p, double seconds)
{
	const struct tso *t = txn_db_oracle(*p->db);
	uint64_t stamp = tso_stamp(t), end = nam_clock_ns() + (uint64_t)(seconds * 1e9);
	while (nam_clock_ns() < end && tso_stamp(t) == stamp)
		usleep(1000);
	return tso_stamp(t) != stamp;
}

static void
play(bool blocks, double seconds)
{
	struct sn_region *r;
	struct nam_err err;
	const struct sn_region_config rc = { .id = 1, .size = 64 << 20, .numa = -1, .embedded = true };
	assert_int_equal(sn_region_open(&r, &rc, &err), NAM_OK);
	struct net_local *local[2] = { sn_local(r), NULL };
	const struct net_config nc = { .local = local, .connect_ms = CONNECT_MS };
	struct net *net[2];
	struct txn_db *db[2];
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(net_open(&net[i], &nc, &err), NAM_OK);
	struct place heart = { .net = net[0], .db = &db[0], .joins = true };
	struct place other = { .net = net[1], .db = &db[1], .joins = true, .do_it = keep_pin };
	struct place worker = {
		.net = net[0], .db = &db[0], .do_it = hold_claim, .blocks = blocks, .seconds = seconds
	};
	assert_int_equal(pipe(worker.pipe), 0);
	place_start(&heart);
	place_start(&other);
	uint64_t from = nam_clock_ns();
	place_start(&worker);
	if (blocks) {
		while (beats_within(&worker, SILENCE_S))
			assert_true(nam_clock_ns() - from < SLOW_S * UINT64_C(1000000000));
		assert_true(nam_clock_ns() - from > (AFTER_MS - LEASE_MS) * UINT64_C(1000000));
		assert_int_equal(write(worker.pipe[1], "x", 1), 1);
	}
	while (!atomic_load(&worker.ended))
		usleep(1000);
	assert_int_equal(beats_within(&worker, blocks ? SILENCE_S : SLOW_S), !blocks);
	place_stop(&worker);
	place_stop(&heart);
	place_stop(&other);
	close(worker.pipe[0]);
	close(worker.pipe[1]);
	for (unsigned i = 0; i < 2; i++)
		net_close(net[i]);
	sn_region_close(r);
}

static void
test_blocked(void **state)
{
	(void)state;
	play(true, 0);
}

static void
test_computing(void **state)
{
	(void)state;
	play(false, 3.5 * AFTER_MS / 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_computing),
	};
	nam_log_level_set(NAM_LOG_ERROR); /* that it hangs is what is asked for */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
