/* backoff_test.c -- pauses have the documented lengths, in simulated time. */
#include <net/net.h>
#include <net/sim/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct waiter {
	struct net_worker *w;
	struct net_backoff b;
	uint64_t pause[32];
	unsigned pauses;
};

static void
wait_often(void *arg)
{
	struct waiter *x = arg;
	for (unsigned i = 0; i < x->pauses; i++) {
		uint64_t from = net_now_ns(x->w);
		uint64_t said = net_back_off(x->w, &x->b);
		x->pause[i] = net_now_ns(x->w) - from;
		assert_int_equal(said, x->pause[i]);
	}
}

static void
play(uint64_t seed, struct waiter *x)
{
	struct net_sim *s;
	struct net *n;
	const struct net_sim_config cfg = { .seed = seed, .nodes = 1, .region_bytes = 1 << 20 };
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(s, &n), NAM_OK);
	assert_int_equal(net_worker_open(n, &x->w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(x->w), wait_often, x, 0));
	assert_true(net_sim_run(s, NULL, NULL));
	net_worker_close(x->w);
	net_close(n);
	net_sim_close(s);
}

static void
test_doubles_up_to_the_cap(void **state)
{
	(void)state;
	struct waiter x = { .b = { .base_ns = 1000, .cap_ns = 5000, .yields = 2, .hold = 3 }, .pauses = 16 };
	static const uint64_t want[16] = { 0, 0, 1000, 1000, 1000, 2000, 2000, 2000, 4000, 4000, 4000, 5000,
		5000, 5000, 5000, 5000 };
	play(1, &x);
	assert_memory_equal(x.pause, want, sizeof want);
	assert_int_equal(x.b.tries, 16);
}

static void
test_each_pause_twice_the_last(void **state)
{
	(void)state;
	struct waiter x = { .b = { .base_ns = 2000, .cap_ns = 32000 }, .pauses = 6 };
	static const uint64_t want[6] = { 2000, 4000, 8000, 16000, 32000, 32000 };
	play(1, &x);
	assert_memory_equal(x.pause, want, sizeof want);
}

/* Two seeds give different pauses; one seed gives the same again. */
static void
test_dice(void **state)
{
	(void)state;
	struct waiter a = { .b = { .base_ns = 2000, .cap_ns = 16000, .dice = true }, .pauses = 32 }, b = a,
		      c = a;
	play(7, &a);
	play(7, &b);
	play(8, &c);
	assert_memory_equal(a.pause, b.pause, sizeof a.pause);
	assert_memory_not_equal(a.pause, c.pause, sizeof a.pause);
	for (unsigned i = 0; i < 32; i++) {
		uint64_t step = i < 3 ? UINT64_C(2000) << i : 16000;
		assert_in_range(a.pause[i], step / 2, step / 2 + step - 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles_up_to_the_cap),
		cmocka_unit_test(test_each_pause_twice_the_last),
		cmocka_unit_test(test_dice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
