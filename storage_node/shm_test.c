/* shm_test.c -- an embedded region driven through net.h in one process. */
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct sn_region *region;
static struct net *net;
static struct net_worker *w;

static int
setup(void **state)
{
	(void)state;
	struct nam_err err = { 0 };
	struct sn_region_config cfg = { .id = 3, .size = 8 << 20, .numa = -1 };
	assert_int_equal(sn_region_open(&region, &cfg, &err), NAM_OK);
	struct net_local *local[] = { sn_local(region), NULL };
	struct net_config nc = { .local = local };
	test_net_open(&nc, &net, &w);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_net_close(net, w);
	sn_region_close(region);
	return 0;
}

static void
verbs_body(void *arg)
{
	(void)arg;
	net_addr at = net_at(3, 1 << 20);
	char out[200], in[200];
	for (unsigned i = 0; i < sizeof out; i++)
		out[i] = (char)i;
	struct net_counts c = { 0 };
	struct net_op ops[8];
	struct net_batch b;
	net_batch_init(&b, w, ops, 8, &c);
	net_write(&b, at, out, sizeof out);
	net_read(&b, at, in, sizeof in);
	net_cas(&b, net_plus(at, 1024), 0, 7);
	net_cas(&b, net_plus(at, 1024), 0, 8);
	net_faa(&b, net_plus(at, 1024), 5);
	assert_int_equal(net_run(&b), NAM_OK);
	assert_memory_equal(in, out, sizeof in);
	assert_int_equal(ops[2].seen, 0);
	assert_int_equal(ops[3].seen, 7);
	assert_int_equal(ops[4].seen, 7);
	assert_int_equal(b.n, 0);
	assert_int_equal(c.doorbells, 1);
	assert_int_equal(c.round_trips, 1);
	assert_int_equal(net_counts_verbs(&c), 5);
	assert_int_equal(c.bytes_in, 200 + 3 * 8);
	/* odd offsets and lengths */
	for (unsigned off = 0; off < 9; off++)
		for (unsigned len = 0; len < 40; len++) {
			memset(in, 0x55, sizeof in);
			assert_int_equal(net_write1(w, net_plus(at, 512 + off), out + 3, len, NULL), NAM_OK);
			assert_int_equal(net_read1(w, net_plus(at, 512 + off), in + 1, len, NULL), NAM_OK);
			assert_memory_equal(in + 1, out + 3, len);
			assert_int_equal(in[1 + len], 0x55);
		}
}

static void
verbs(void **state)
{
	(void)state;
	test_in_coroutine(w, verbs_body, NULL);
}

static void
bad_body(void *arg)
{
	(void)arg;
	char buf[64];
	struct net_op ops[8];
	struct net_batch b;
	net_batch_init(&b, w, ops, 8, NULL);
	net_read(&b, net_at(3, 0), buf, 64);
	net_read(&b, net_at(3, (8 << 20) - 32), buf, 64);
	net_read(&b, net_at(3, 0), buf, 64);
	net_read(&b, net_at(4, 0), buf, 64);
	assert_int_equal(net_run(&b), NAM_INVALID);
	assert_int_equal(ops[0].status, NAM_OK);
	assert_int_equal(ops[1].status, NAM_INVALID);
	assert_int_equal(ops[2].status, NAM_CANCELLED);
	assert_int_equal(ops[3].status, NAM_INVALID);
	assert_int_equal(net_cas1(w, net_at(3, 4), 0, 0, NULL, NULL), NAM_INVALID);
	assert_int_equal(net_read1(w, net_at(3, (UINT64_C(1) << 48) - 8), buf, 64, NULL), NAM_INVALID);
	assert_int_equal(net_read1(w, net_at(60000, 8), buf, 64, NULL), NAM_INVALID);
	assert_int_equal(net_read1(w, net_at(0, 0), buf, 8, NULL), NAM_INVALID);
	net_declare_lost(net, 3);
	assert_int_equal(net_read1(w, net_at(3, 0), buf, 64, NULL), NAM_GONE);
	assert_null(net_direct(w, net_at(3, 0), 8));
	assert_true(net_node_of(net, 3)->lost);
}

static void
bad_ops(void **state)
{
	(void)state;
	test_in_coroutine(w, bad_body, NULL);
}

static void
extents_body(void *arg)
{
	(void)arg;
	static const char zeros[NET_EXTENT];
	static char got[NET_EXTENT];
	net_addr a, b, c, run;
	assert_int_equal(net_extent_take(w, 3, 1, &a), NAM_OK);
	assert_int_equal(net_extent_take(w, 3, 1, &b), NAM_OK);
	assert_int_equal(net_extent_take(w, 3, 4, &run), NAM_OK);
	assert_int_equal(net_offset_of(a), NET_EXTENT);
	assert_int_equal(net_offset_of(b), 2 * NET_EXTENT);
	assert_int_equal(net_offset_of(run), 3 * NET_EXTENT);
	memset(got, 0x77, sizeof got);
	assert_int_equal(net_write1(w, a, got, sizeof got, NULL), NAM_OK);
	assert_int_equal(net_write1(w, b, got, sizeof got, NULL), NAM_OK);
	assert_int_equal(net_extent_give(w, a), NAM_OK);
	assert_int_equal(net_extent_give(w, b), NAM_OK);
	/* last in, first out; clean again */
	assert_int_equal(net_extent_take(w, 3, 1, &c), NAM_OK);
	assert_int_equal(c.bits, b.bits);
	assert_int_equal(net_read1(w, c, got, sizeof got, NULL), NAM_OK);
	assert_memory_equal(got, zeros, sizeof got);
	assert_int_equal(net_extent_take(w, 3, 1, &c), NAM_OK);
	assert_int_equal(c.bits, a.bits);
	assert_int_equal(net_read1(w, c, got, sizeof got, NULL), NAM_OK);
	assert_memory_equal(got, zeros, sizeof got);
	/* all there are */
	unsigned n = 0;
	while (net_extent_take(w, 3, 1, &c) == NAM_OK)
		n++;
	assert_int_equal(n, (8 << 20) / NET_EXTENT - 7);
	assert_int_equal(net_extent_take(w, 3, 1, &c), NAM_FULL);
	assert_int_equal(net_extent_take(w, 3, 1000000, &c), NAM_FULL);
	assert_int_equal(net_extent_give(w, net_at(3, 0)), NAM_INVALID);
	assert_int_equal(net_extent_give(w, net_at(3, NET_EXTENT + 8)), NAM_INVALID);
	assert_int_equal(net_extent_give(w, net_at(3, 8 << 20)), NAM_INVALID);
	assert_int_equal(net_extent_give(w, run), NAM_OK);
	assert_int_equal(net_extent_take(w, 3, 1, &c), NAM_OK);
	assert_int_equal(c.bits, run.bits);
}

static void
extents(void **state)
{
	(void)state;
	test_in_coroutine(w, extents_body, NULL);
}

/* ---- sleeping, idle hooks, done callbacks ----------------------------------- */

static unsigned hook_calls, woken_order[3], woken;
static struct nam_co *hook_waiter;

static void
hook(void *arg)
{
	assert_ptr_equal(arg, &hook_calls);
	hook_calls++;
	if (hook_waiter != NULL) {
		nam_co_wake(hook_waiter);
		hook_waiter = NULL;
	}
}

static void
sleeper(void *arg)
{
	uintptr_t i = (uintptr_t)arg;
	uint64_t before = net_now_ns(w);
	net_sleep(w, i * 2000000);
	assert_true(net_now_ns(w) - before >= i * 2000000);
	woken_order[woken++] = (unsigned)i;
}

static void
hooked(void *arg)
{
	(void)arg;
	hook_waiter = nam_co_self();
	nam_co_park();
}

static void
sleeping(void **state)
{
	(void)state;
	woken = hook_calls = 0;
	net_worker_on_idle(w, hook, &hook_calls);
	nam_co_start(net_worker_sched(w), sleeper, (void *)3, 0);
	nam_co_start(net_worker_sched(w), sleeper, (void *)1, 0);
	nam_co_start(net_worker_sched(w), sleeper, (void *)2, 0);
	nam_co_start(net_worker_sched(w), hooked, NULL, 0);
	net_worker_run(w, NULL, NULL);
	assert_int_equal(woken, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(woken_order[i], i + 1);
	assert_true(hook_calls > 0);
}

static unsigned dones;

static void
done(struct net_batch *b)
{
	assert_int_equal(b->status, NAM_OK);
	assert_false(b->posted);
	dones++;
}

static void
post_then(void **state)
{
	(void)state;
	char buf[8];
	struct net_op op;
	struct net_batch b;
	struct net_counts c = { 0 };
	dones = 0;
	net_batch_init(&b, w, &op, 1, &c);
	for (unsigned i = 1; i <= 3; i++) {
		net_read(&b, net_at(3, 0), buf, 8);
		net_post_then(&b, done);
		assert_int_equal(dones, i);
	}
	assert_int_equal(c.round_trips, 0);
	assert_int_equal(c.doorbells, 3);
	net_worker_counts(w, 0, &c);
	assert_int_equal(c.verbs[NET_READ], 3);
	net_worker_counts(w, 3, &c);
	assert_int_equal(c.verbs[NET_READ], 3);
}

/* ---- the cost of a post: printed, not judged -------------------------------- */

static void
price_body(void *arg)
{
	(void)arg;
	enum { ROUNDS = 200000, OPS = 8 };
	struct net_op ops[OPS];
	struct net_batch b;
	struct net_counts c = { 0 };
	uint64_t words[OPS];
	net_batch_init(&b, w, ops, OPS, &c);
	uint64_t t0 = net_now_ns(w);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < OPS; k++)
			net_read(&b, net_at(3, (1 << 20) + 64 * k), &words[k], 8);
		net_run(&b);
	}
	uint64_t t1 = net_now_ns(w);
	for (int i = 0; i < ROUNDS; i++)
		net_read1(w, net_at(3, 1 << 20), &words[0], 8, &c);
	uint64_t t2 = net_now_ns(w);
	for (int i = 0; i < ROUNDS; i++)
		net_cas1(w, net_at(3, 1 << 20), 0, 0, &words[0], &c);
	uint64_t t3 = net_now_ns(w);
	print_message("8 READs in a batch: %.1f ns each; read1 %.1f ns; cas1 %.1f ns\n",
	    (double)(t1 - t0) / ROUNDS / OPS, (double)(t2 - t1) / ROUNDS, (double)(t3 - t2) / ROUNDS);
}

static void
price(void **state)
{
	(void)state;
	test_in_coroutine(w, price_body, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(verbs, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_ops, setup, teardown),
		cmocka_unit_test_setup_teardown(extents, setup, teardown),
		cmocka_unit_test_setup_teardown(sleeping, setup, teardown),
		cmocka_unit_test_setup_teardown(post_then, setup, teardown),
		cmocka_unit_test_setup_teardown(price, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
