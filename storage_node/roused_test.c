/* roused_test.c -- workers that sleep lazily: a bell of a service rouses one of its host, another
 * thread of the process does, and one that nothing rouses wakes by itself. */
#include <base/clock.h>
#include <net/ring/bell.h>
#include <net/ring/service.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
enum { SERVICE = 7, TIMES = 20, REACHED_MS = 5, LONG_MS = 20000, SHORT_MS = 20 };

static struct net_bell bell;
static _Atomic uint64_t asked;
static atomic_bool stop, slept;

/* A request waits for the next number; the answer is that number. */
static nam_status
ask(void *arg, struct net_request *rq)
{
	(void)arg;
	rq->tell = atomic_fetch_add(&asked, 1) + 1;
	memcpy(rq->answer, &rq->tell, 8);
	rq->answer_len = 8;
	return NAM_OK;
}

static void *
works(void *arg)
{
	const struct timespec t = { .tv_nsec = REACHED_MS * MS };
	(void)arg;
	while (!atomic_load(&stop)) {
		uint64_t to = atomic_load(&asked);
		nanosleep(&t, NULL);
		net_bell_ring(&bell, to);
	}
	return NULL;
}

struct sleeper {
	struct net *n;
	struct net_worker *w;
	uint64_t most_ns, slept_ns;
	bool calls;
};

static void
sleeps_co(void *arg)
{
	struct sleeper *s = arg;
	const struct net_call_config plain = { .mode = NET_EVENTS };
	uint64_t number = 0, begin = net_now_ns(s->w);
	uint32_t got;
	if (!s->calls) {
		net_sleep_lazily(s->w, s->most_ns, s->most_ns, net_bells(s->w));
		s->slept_ns = net_now_ns(s->w) - begin;
		return;
	}
	assert_int_equal(net_call_open(s->w, 1, SERVICE, &plain, NULL), NAM_OK);
	assert_true(net_call_rouses(s->w, 1, SERVICE));
	for (unsigned i = 0; i < TIMES; i++) {
		assert_int_equal(net_call(s->w, 1, SERVICE, &number, 8, &number, 8, &got), NAM_OK);
		for (;;) {
			uint64_t bells = net_bells(s->w);
			if (atomic_load(&bell.reached) >= number)
				break;
			net_sleep_lazily(s->w, s->most_ns, s->most_ns, bells);
		}
	}
	s->slept_ns = net_now_ns(s->w) - begin;
}

static void
play(struct test_node *t, struct sleeper *s, enum net_kind kind, void (*co)(void *))
{
	const struct net_config cfg = { .storage = sn_server_address(t->server), .fabric = kind };
	assert_int_equal(net_open(&s->n, &cfg, NULL), NAM_OK);
	assert_int_equal(net_worker_open(s->n, &s->w, NULL), NAM_OK);
	nam_co_start(net_worker_sched(s->w), co, s, 0);
	net_worker_run(s->w, NULL, NULL);
	net_worker_close(s->w);
	net_close(s->n);
}

static const struct net_service service[] = { { .id = SERVICE, .name = "slow", .fn = ask, .bell = &bell } };
static const struct sn_serve_config serve = { .service = service, .services = 1, .unpinned = true };

static void
by_a_service(void **state)
{
	struct test_node t;
	struct sleeper s = { .most_ns = LONG_MS * MS, .calls = true };
	pthread_t thread;
	(void)state;
	test_node_start_serving(&t, 1, 16 << 20, NULL, &serve);
	assert_int_equal(pthread_create(&thread, NULL, works, NULL), 0);
	play(&t, &s, NET_SHM, sleeps_co);
	assert_true(s.slept_ns < LONG_MS * MS); /* all of them together */
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	test_node_stop(&t);
}

/* Over tcp no bell does: its callers look by themselves. */
static void
far_co(void *arg)
{
	struct sleeper *s = arg;
	assert_int_equal(net_call_open(s->w, 1, SERVICE, NULL, NULL), NAM_OK);
	assert_false(net_call_rouses(s->w, 1, SERVICE));
}

static void *
rings_here(void *arg)
{
	const struct timespec t = { .tv_nsec = SHORT_MS * MS };
	struct sleeper *s = arg;
	/* It may ring before the other one sleeps. */
	while (!atomic_load(&slept)) {
		nanosleep(&t, NULL);
		net_ring_here(s->n);
	}
	return NULL;
}

static void
begins_co(void *arg)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, rings_here, arg), 0);
	sleeps_co(arg);
	atomic_store(&slept, true);
	pthread_join(thread, NULL);
}

static void
by_others(void **state)
{
	struct test_node t;
	struct sleeper s = { .most_ns = LONG_MS * MS };
	(void)state;
	test_node_start_serving(&t, 1, 16 << 20, NULL, &serve);
	play(&t, &s, NET_TCP, far_co);
	play(&t, &s, NET_SHM, begins_co);
	assert_true(s.slept_ns < LONG_MS * MS);
	s.most_ns = SHORT_MS * MS;
	play(&t, &s, NET_SHM, sleeps_co); /* by none */
	assert_true(s.slept_ns >= SHORT_MS * MS);
	test_node_stop(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(by_a_service), cmocka_unit_test(by_others) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
