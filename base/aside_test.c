/* aside_test.c -- coroutines that go to a thread beside their own and come back. */
#include <base/aside.h>
#include <base/co.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

struct guest {
	struct nam_asides *asides;
	pid_t here, there, after;
	atomic_int *gate; /* waits there until it is not 0 */
	struct nam_co *co;
	bool went, again, was_aside, is_aside;
	int parked, done;
};

static void
visit(void *arg)
{
	struct guest *g = arg;
	g->co = nam_co_self();
	g->here = gettid();
	g->went = nam_aside_begin();
	g->there = gettid();
	g->again = nam_aside_begin();
	g->was_aside = nam_is_aside();
	while (g->gate != NULL && atomic_load(g->gate) == 0)
		sched_yield();
	nam_aside_end(g->again); /* it stays */
	g->was_aside &= nam_is_aside() == g->went;
	nam_aside_end(g->went);
	g->is_aside = nam_is_aside();
	g->after = gettid();
	for (int i = 0; i < g->parked; i++)
		nam_co_park();
	g->done++;
}

static void
run_all(struct nam_sched *s)
{
	while (nam_sched_live(s) > 0)
		if (nam_sched_run(s) == 0)
			sched_yield();
}

static void
goes_and_comes_back(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct nam_asides *a = nam_asides_open(2);
	struct guest g = { 0 };
	nam_sched_asides(s, a);
	nam_co_start(s, visit, &g, 0);
	run_all(s);
	assert_true(g.went && g.was_aside);
	assert_false(g.again || g.is_aside);
	assert_int_not_equal(g.here, g.there);
	assert_int_equal(g.here, g.after);
	assert_int_equal(g.done, 1);
	nam_sched_close(s);
	nam_asides_close(a);
}

static void
stays_where_there_is_no_thread_beside(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct guest g = { 0 };
	nam_co_start(s, visit, &g, 0);
	run_all(s);
	assert_false(g.went || g.was_aside);
	assert_int_equal(g.here, g.there);
	assert_int_equal(g.done, 1);
	assert_false(nam_aside_begin()); /* on a plain stack */
	nam_aside_home();
	nam_sched_close(s);
}

static void
count_up(void *arg)
{
	++*(int *)arg;
}

/* More coroutines than threads, which all wait there; others of their scheduler run meanwhile. */
static void
others_run_meanwhile(void **state)
{
	(void)state;
	enum { GUESTS = 5 };
	struct nam_sched *s = nam_sched_open();
	struct nam_asides *a = nam_asides_open(2);
	atomic_int gate = 0;
	struct guest g[GUESTS] = { 0 };
	int n = 0;
	nam_sched_asides(s, a);
	for (int i = 0; i < GUESTS; i++) {
		g[i].gate = &gate;
		nam_co_start(s, visit, &g[i], 0);
	}
	for (int i = 0; i < 10; i++)
		nam_co_start(s, count_up, &n, 0);
	while (nam_sched_live(s) > GUESTS)
		nam_sched_run(s);
	assert_int_equal(n, 10);
	assert_int_equal(nam_sched_run(s), 0);
	atomic_store(&gate, 1);
	run_all(s);
	for (int i = 0; i < GUESTS; i++)
		assert_true(g[i].done && g[i].went && g[i].here == g[i].after);
	nam_sched_close(s);
	nam_asides_close(a);
}

/* A wake that comes while it is aside does not run it twice, and is not lost. */
static void
wakes_are_kept(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct nam_asides *a = nam_asides_open(1);
	atomic_int gate = 0;
	struct guest g = { .gate = &gate, .parked = 2 };
	nam_sched_asides(s, a);
	nam_co_start(s, visit, &g, 0);
	assert_int_equal(nam_sched_run(s), 1);
	nam_co_wake(g.co);
	nam_co_post(g.co);
	assert_int_equal(nam_sched_run(s), 0);
	atomic_store(&gate, 1);
	while (!nam_sched_ready(s))
		sched_yield();
	while (nam_sched_run(s) > 0)
		continue;
	assert_int_equal(g.done, 0); /* one park is through, for the wakes counted as one */
	nam_co_wake(g.co);
	run_all(s);
	assert_int_equal(g.done, 1);
	nam_sched_close(s);
	nam_asides_close(a);
}

struct traveller {
	uint64_t sum;
	int trips;
};

static void
travel(void *arg)
{
	struct traveller *t = arg;
	for (int i = 0; i < t->trips; i++) {
		bool went = nam_aside_for(i % 3 == 0 ? NAM_ASIDE_STEPS : 1);
		t->sum += (uint64_t)i;
		nam_aside_end(went);
		if (i % 2 == 0)
			nam_co_yield();
	}
}

static void *
a_worker(void *arg)
{
	enum { TRAVELLERS = 20, TRIPS = 200 };
	struct nam_sched *s = nam_sched_open();
	struct traveller t[TRAVELLERS];
	nam_sched_asides(s, arg);
	for (int i = 0; i < TRAVELLERS; i++) {
		t[i] = (struct traveller){ .trips = TRIPS };
		nam_co_start(s, travel, &t[i], 0);
	}
	run_all(s);
	for (int i = 0; i < TRAVELLERS; i++)
		assert_int_equal(t[i].sum, TRIPS * (TRIPS - 1) / 2);
	nam_sched_close(s);
	return NULL;
}

static void
many_of_two_workers(void **state)
{
	(void)state;
	struct nam_asides *a = nam_asides_open(3);
	pthread_t w[2];
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&w[i], NULL, a_worker, a), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(w[i], NULL);
	nam_asides_close(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_and_comes_back),
		cmocka_unit_test(stays_where_there_is_no_thread_beside),
		cmocka_unit_test(others_run_meanwhile),
		cmocka_unit_test(wakes_are_kept),
		cmocka_unit_test(many_of_two_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
