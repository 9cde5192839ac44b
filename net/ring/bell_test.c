/* bell_test.c -- bells: a caller that waits is roused once its number has been reached, whichever
 * comes first, and no byte is on its way to a connection that is closed. Also a twin. */
#include <base/fault.h>
#include <net/ring/bell.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct caller {
	int here, there; /* the shard's end, and its own */
	struct net_sleeper *sleeper;
};

static struct net_bell bell;

static void
caller_open(struct caller *c)
{
	int fd[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd), 0);
	*c = (struct caller){ .here = fd[0], .there = fd[1] };
}

static void
caller_close(struct caller *c)
{
	if (c->sleeper != NULL)
		net_bell_forget(&bell, c->sleeper);
	c->sleeper = NULL;
	close(c->here);
	close(c->there);
}

static void
waits_for(struct caller *c, uint64_t number)
{
	net_bell_tell(&bell, &c->sleeper, c->here, number);
}

/* How many bytes have come since the last time. */
static int
came(struct caller *c)
{
	char bytes[64];
	ssize_t n = recv(c->there, bytes, sizeof bytes, MSG_DONTWAIT);
	return n > 0 ? (int)n : 0;
}

static void
in_order(void **state)
{
	struct caller a, b;
	(void)state;
	memset(&bell, 0, sizeof bell);
	caller_open(&a);
	caller_open(&b);
	waits_for(&a, 10);
	waits_for(&b, 20);
	waits_for(&a, 30); /* both of its requests are waited for */
	net_bell_ring(&bell, 9);
	assert_int_equal(came(&a) + came(&b), 0);
	net_bell_ring(&bell, 10);
	assert_int_equal(came(&a), 1);
	assert_int_equal(came(&b), 0);
	net_bell_ring(&bell, 25);
	assert_int_equal(came(&a), 1); /* it does not know which one it was */
	assert_int_equal(came(&b), 1);
	net_bell_ring(&bell, 30);
	net_bell_ring(&bell, 31);
	assert_int_equal(came(&a), 1);
	assert_int_equal(came(&b), 0);
	/* What has been reached already is rung by the shard. */
	waits_for(&b, 31);
	assert_int_equal(came(&b), 1);
	waits_for(&b, 40);
	caller_close(&b);
	caller_open(&b);
	net_bell_ring(&bell, 50);
	assert_int_equal(came(&b), 0); /* it is another one's connection now */
	caller_close(&a);
	caller_close(&b);
}

/* One more than there are places for is not roused, and takes no place. */
static void
crowd(void **state)
{
	static struct net_sleeper *s[NET_BELL_SLEEPERS];
	struct caller a, b;
	(void)state;
	memset(&bell, 0, sizeof bell);
	memset(s, 0, sizeof s);
	caller_open(&a);
	caller_open(&b);
	for (unsigned i = 0; i < NET_BELL_SLEEPERS; i++) {
		net_bell_tell(&bell, &s[i], a.here, 7);
		assert_non_null(s[i]);
	}
	waits_for(&b, 7);
	assert_null(b.sleeper);
	net_bell_forget(&bell, s[3]);
	waits_for(&b, 7);
	assert_ptr_equal(b.sleeper, s[3]);
	net_bell_ring(&bell, 7);
	assert_int_equal(came(&b), 1);
	caller_close(&a);
	caller_close(&b);
}

enum { NUMBERS = 4000 };

static _Atomic uint64_t asked, rang;

static void *
ringer(void *arg)
{
	(void)arg;
	for (uint64_t at = 0; at < NUMBERS;) {
		uint64_t to = atomic_load(&asked);
		if (to == at) {
			sched_yield();
			continue;
		}
		net_bell_ring(&bell, at = to);
		atomic_store(&rang, at);
	}
	return NULL;
}

/* Returns how many of NUMBERS rings were lost, while a thread rings each number as soon as it is
 * there: before the shard has noted it, at the same time, and behind that. */
static unsigned
race(void)
{
	struct caller c;
	pthread_t thread;
	unsigned lost = 0;
	memset(&bell, 0, sizeof bell);
	atomic_store(&asked, 0);
	atomic_store(&rang, 0);
	caller_open(&c);
	assert_int_equal(pthread_create(&thread, NULL, ringer, NULL), 0);
	for (uint64_t i = 1; i <= NUMBERS; i++) {
		atomic_store(&asked, i);
		if (i % 64 == 0)
			usleep(20);
		for (unsigned k = 0; k < i % 64; k++)
			atomic_load(&asked);
		waits_for(&c, i);
		while (atomic_load(&rang) < i)
			sched_yield();
		lost += came(&c) == 0;
		if (i % 1000 == 0) { /* another connection in its place */
			caller_close(&c);
			caller_open(&c);
		}
	}
	pthread_join(thread, NULL);
	caller_close(&c);
	return lost;
}

static void
two_threads(void **state)
{
	(void)state;
	assert_int_equal(race(), 0);
	nam_fault_on = NAM_FAULT_BELL_UNASKED;
	unsigned lost = race();
	nam_fault_on = NAM_FAULT_NONE;
	assert_true(lost > 0);
	printf("fault %s: %u of %d rings were lost\n", nam_fault_name[NAM_FAULT_BELL_UNASKED], lost, NUMBERS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(crowd),
		cmocka_unit_test(two_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
