/* core_test.c -- a thread beside threads that compute on its core stops yielding for a while. */
#include <base/clock.h>
#include <base/core.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

enum { BUSY = 3, YIELDS = 1000 };

static atomic_bool over;

static void
on_one_core(void)
{
	cpu_set_t may, one;
	int cpu = 0;
	assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void *
compute(void *arg)
{
	(void)arg;
	on_one_core();
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		;
	return NULL;
}

static void
beside_threads_that_compute(void **state)
{
	pthread_t busy[BUSY];
	struct nam_core core = { 0 };
	int yields = 0;
	(void)state;
	on_one_core();
	for (int i = 0; i < BUSY; i++)
		assert_int_equal(pthread_create(&busy[i], NULL, compute, NULL), 0);
	while (nam_core_yield(&core) && yields < YIELDS)
		yields++;
	assert_true(yields < YIELDS);
	/* No yield is made for a while: none returns true, and none moves the end of the while. */
	uint64_t end = core.not_before;
	while (nam_clock_ns() + NAM_CORE_AGAIN_NS / 2 < end) {
		bool wanted = nam_core_is_wanted(&core), yielded = nam_core_yield(&core);
		if (nam_clock_ns() >= end)
			break;
		assert_true(wanted);
		assert_false(yielded);
		assert_true(core.not_before == end);
	}
	atomic_store(&over, true);
	for (int i = 0; i < BUSY; i++)
		pthread_join(busy[i], NULL);
	/* Alone again: it yields when the while is over. */
	uint64_t until = nam_clock_ns() + UINT64_C(20000000000);
	while (!nam_core_yield(&core))
		assert_true(nam_clock_ns() < until);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(beside_threads_that_compute) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
