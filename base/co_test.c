/* co_test.c -- switching, parking, posting from other threads, and stacks that are used again. */
#include <base/co.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void
drain(struct nam_sched *s)
{
	while (nam_sched_run(s) > 0)
		;
}

/* ---- stacks ---- */

static void
touch(void *arg)
{
	volatile char piece[16 << 10];
	piece[0] = piece[sizeof piece - 1] = 1;
	++*(int *)arg;
	nam_co_yield();
}

/* The guards of stacks: each is a small mapping that nothing may touch. What a sanitizer maps for
 * itself is large. */
static int
guards(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], may[8];
	unsigned long from, to;
	int n = 0;
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL)
		n += sscanf(line, "%lx-%lx %7s", &from, &to, may) == 3 && strcmp(may, "---p") == 0 &&
		     to - from <= 64 << 10;
	fclose(f);
	return n;
}

static void
stacks_go_back(void **state)
{
	(void)state;
	enum { MANY = 200 };
	struct nam_sched *s = nam_sched_open();
	int ran = 0;
	for (int i = 0; i < MANY; i++)
		assert_non_null(nam_co_start(s, touch, &ran, 0));
	drain(s);
	int kept = guards();
	assert_true(kept >= MANY);
	nam_sched_trim(s);
	assert_true(guards() < kept - MANY / 2);
	/* Those that stay serve, and new ones are made. */
	for (int i = 0; i < MANY; i++)
		assert_non_null(nam_co_start(s, touch, &ran, 0));
	drain(s);
	assert_int_equal(ran, 2 * MANY);
	nam_sched_close(s);
}

/* Two coroutines that write a letter and yield: the letters must interleave. */
struct letters {
	char text[32];
	size_t n;
};
struct writer {
	struct letters *out;
	char letter;
};

static void
write_three(void *arg)
{
	struct writer *w = arg;
	for (int i = 0; i < 3; i++) {
		w->out->text[w->out->n++] = w->letter;
		nam_co_yield();
	}
}

static void
yield_takes_turns(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct letters out = { .n = 0 };
	struct writer a = { &out, 'a' }, b = { &out, 'b' };
	nam_co_start(s, write_three, &a, 0);
	nam_co_start(s, write_three, &b, 0);
	assert_int_equal(nam_sched_live(s), 2);
	assert_int_equal(nam_sched_run(s), 2); /* each once, though both yielded */
	assert_string_equal(out.text, "ab");
	drain(s);
	assert_string_equal(out.text, "ababab");
	assert_int_equal(nam_sched_live(s), 0);
	assert_false(nam_sched_ready(s));
	assert_null(nam_co_self());
	nam_sched_close(s);
}

struct sleeper {
	struct nam_co *co;
	int step;
};

static void
park_twice(void *arg)
{
	struct sleeper *z = arg;
	z->co = nam_co_self();
	z->step = 1;
	nam_co_park();
	z->step = 2;
	nam_co_park();
	z->step = 3;
}

static void
park_waits_for_wake(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct sleeper z = { 0 };
	struct nam_co *co = nam_co_start(s, park_twice, &z, 0);
	drain(s);
	assert_ptr_equal(z.co, co);
	assert_int_equal(z.step, 1);
	drain(s);
	assert_int_equal(z.step, 1); /* no coroutine woke it */
	nam_co_wake(co);
	drain(s);
	assert_int_equal(z.step, 2);
	nam_co_wake(co);
	drain(s);
	assert_int_equal(z.step, 3);
	assert_int_equal(nam_sched_live(s), 0);
	nam_sched_close(s);
}

static void
wake_before_park_is_kept(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct sleeper z = { 0 };
	struct nam_co *co = nam_co_start(s, park_twice, &z, 0);
	nam_co_wake(co); /* it has not run yet; two wakes count once */
	nam_co_wake(co);
	drain(s);
	assert_int_equal(z.step, 2);
	nam_co_wake(co);
	drain(s);
	assert_int_equal(z.step, 3);
	nam_sched_close(s);
}

/* A coroutine of one scheduler runs another scheduler to its end. */
static void
outer(void *arg)
{
	struct nam_co *me = nam_co_self();
	struct nam_sched *in = nam_sched_open();
	struct letters *out = arg;
	struct writer w = { out, 'i' };
	nam_co_start(in, write_three, &w, 0);
	for (int i = 0; i < 3; i++) {
		nam_sched_run(in);
		assert_ptr_equal(nam_co_self(), me);
		out->text[out->n++] = 'o';
		nam_co_yield();
	}
	drain(in);
	nam_sched_close(in);
	assert_ptr_equal(nam_co_self(), me);
}

static void
schedulers_nest(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct letters out = { .n = 0 };
	nam_co_start(s, outer, &out, 0);
	drain(s);
	assert_string_equal(out.text, "ioioio");
	assert_null(nam_co_self());
	nam_sched_close(s);
}

static void
starts_another(void *arg)
{
	struct nam_sched *s = ((void **)arg)[0];
	struct writer *w = ((void **)arg)[1];
	assert_non_null(nam_co_start(s, write_three, w, 0));
	nam_co_yield();
	w->out->text[w->out->n++] = 'S';
}

static void
a_coroutine_starts_another(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct letters out = { .n = 0 };
	struct writer w = { &out, 'x' };
	void *arg[2] = { s, &w };
	nam_co_start(s, starts_another, arg, 0);
	assert_int_equal(nam_sched_run(s), 1); /* the new one waits for the next round */
	drain(s);
	assert_string_equal(out.text, "xSxx");
	nam_sched_close(s);
}

/* Goes down a few frames with arrays in them, and comes back up. The volatile bytes make the
 * frames real, so that AddressSanitizer paints red zones on the stack. */
static unsigned
dig(unsigned depth, volatile unsigned char *above)
{
	volatile unsigned char room[256];
	for (size_t i = 0; i < sizeof room; i++)
		room[i] = (unsigned char)(depth + i);
	unsigned sum = above[0] + room[depth % sizeof room];
	if (depth > 0) {
		if (depth % 5 == 0)
			nam_co_yield();
		sum += dig(depth - 1, room);
	}
	return sum + room[(depth * 7) % sizeof room];
}

struct digger {
	unsigned depth, sum;
};

static void
dig_down(void *arg)
{
	struct digger *d = arg;
	volatile unsigned char zero[1] = { 0 };
	d->sum = dig(d->depth, zero);
}

static void
many_coroutines_keep_their_stacks_apart(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	enum { MANY = 200 }; /* a fiber takes ThreadSanitizer two milliseconds */
#else
	enum { MANY = 2000 };
#endif
	struct nam_sched *s = nam_sched_open();
	struct digger *d = calloc(MANY, sizeof *d);
	unsigned first = 0;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			d[i] = (struct digger){ .depth = 40 };
			assert_non_null(nam_co_start(s, dig_down, &d[i], 0));
		}
		assert_int_equal(nam_sched_live(s), MANY);
		drain(s);
		first = d[0].sum;
		assert_int_not_equal(first, 0);
		for (int i = 0; i < MANY; i++)
			assert_int_equal(d[i].sum, first);
		assert_int_equal(nam_sched_live(s), 0);
	}
	free(d);
	nam_sched_close(s);
}

static void
note_stack(void *arg)
{
	char here;
	*(uintptr_t *)arg = (uintptr_t)&here;
}

static void
a_stack_is_used_again_by_one_of_its_size(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	uintptr_t first = 0, second = 0, large = 0;
	nam_co_start(s, note_stack, &first, 0);
	drain(s);
	nam_co_start(s, note_stack, &large, 1 << 20);
	drain(s);
	nam_co_start(s, note_stack, &second, 0);
	drain(s);
	assert_true(first != 0 && large != 0);
	assert_true(second > first ? second - first < 4096 : first - second < 4096);
	assert_true(large > first ? large - first > 4096 : first - large > 4096);
	nam_sched_close(s);
}

static void
stack_sizes_have_a_limit(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	uintptr_t at = 0;
	assert_null(nam_co_start(s, note_stack, &at, SIZE_MAX));
	assert_null(nam_co_start(s, note_stack, &at, (size_t)2 << 30));
	assert_int_equal(nam_sched_live(s), 0);
	assert_non_null(nam_co_start(s, note_stack, &at, 1)); /* rounded up to pages */
	drain(s);
	nam_sched_close(s);
	assert_true(at != 0);
}

static void
use_the_whole_stack(void *arg)
{
	volatile char big[40 << 10];
	for (size_t i = 0; i < sizeof big; i += 512)
		big[i] = 1;
	*(int *)arg = big[512];
}

static unsigned
endless(unsigned n, volatile unsigned char *above)
{
	volatile unsigned char room[1024];
	room[0] = (unsigned char)(above[0] + n);
	return n == 0 ? room[0] : endless(n - 1, room) + room[0];
}

static void
overflow(void *arg)
{
	volatile unsigned char zero[1] = { 0 };
	*(unsigned *)arg = endless(100000, zero);
}

static void
stacks_end_at_a_guard_page(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	int used = 0;
	nam_co_start(s, use_the_whole_stack, &used, 64 << 10);
	drain(s);
	assert_int_equal(used, 1);
	nam_sched_close(s);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* The sanitizers catch the fault themselves and print a page about it. */
#else
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		unsigned sum = 0;
		struct nam_sched *in = nam_sched_open();
		nam_co_start(in, overflow, &sum, 64 << 10);
		nam_sched_run(in);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
#endif
	(void)overflow;
}

/* ---- posts from other threads ---- */

enum { POSTERS = 3, POSTS = 4000 };

struct inbox {
	struct nam_co *co;
	_Atomic uint64_t sent; /* posters add, then post */
	uint64_t seen;
	_Atomic int rouses;
};

static void
reader(void *arg)
{
	struct inbox *in = arg;
	while (in->seen < (uint64_t)POSTERS * POSTS) {
		uint64_t now = atomic_load_explicit(&in->sent, memory_order_acquire);
		if (now == in->seen)
			nam_co_park();
		in->seen = now;
	}
}

static void *
poster(void *arg)
{
	struct inbox *in = arg;
	for (int i = 0; i < POSTS; i++) {
		atomic_fetch_add_explicit(&in->sent, 1, memory_order_release);
		nam_co_post(in->co);
	}
	return NULL;
}

static void
count_rouse(void *arg)
{
	struct inbox *in = arg;
	atomic_fetch_add(&in->rouses, 1);
}

/* The reader ends as soon as it has seen the last sum, which may be before the last poster has
 * posted: so a second coroutine, which is never the target, keeps the scheduler open, and the
 * target waits until the posters report that they are done. */
struct gate {
	struct inbox in;
	_Atomic bool done;
};

static void
gated_reader(void *arg)
{
	struct gate *g = arg;
	reader(&g->in);
	while (!atomic_load(&g->done))
		nam_co_yield();
}

static void
posts_from_threads_are_not_lost(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct gate g = { .done = false };
	nam_sched_on_post(s, count_rouse, &g.in);
	g.in.co = nam_co_start(s, gated_reader, &g, 0);
	pthread_t t[POSTERS];
	for (int i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, poster, &g.in), 0);
	/* A lost post leaves the reader parked for ever: then the test's time limit ends it. */
	while (g.in.seen < (uint64_t)POSTERS * POSTS)
		if (nam_sched_run(s) == 0)
			sched_yield();
	for (int i = 0; i < POSTERS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&g.done, true);
	drain(s);
	assert_int_equal(nam_sched_live(s), 0);
	assert_true(atomic_load(&g.in.rouses) > 0);
	nam_sched_close(s);
}

/* Bytes that a poster wrote before nam_co_post, plainly, the woken coroutine may read plainly. */
struct letter {
	struct nam_co *co;
	int text; /* not atomic: ThreadSanitizer judges the post's own ordering */
	bool read;
};

static void
wait_for_letter(void *arg)
{
	struct letter *l = arg;
	nam_co_park();
	l->read = l->text == 42;
}

static void *
send_letter(void *arg)
{
	struct letter *l = arg;
	l->text = 42;
	nam_co_post(l->co);
	return NULL;
}

static void
a_post_carries_what_was_written_before(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	for (int i = 0; i < 200; i++) {
		struct letter l = { 0 };
		l.co = nam_co_start(s, wait_for_letter, &l, 0);
		pthread_t t;
		assert_int_equal(pthread_create(&t, NULL, send_letter, &l), 0);
		while (nam_sched_live(s) > 0)
			if (nam_sched_run(s) == 0)
				sched_yield();
		pthread_join(t, NULL);
		assert_true(l.read);
	}
	nam_sched_close(s);
}

static void
post_self_and_end(void *arg)
{
	(void)arg;
	nam_co_post(nam_co_self());
}

static void
a_coroutine_that_ends_while_posted_is_kept_until_the_list_is_read(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	uintptr_t at = 0;
	for (int i = 0; i < 50; i++) {
		struct nam_co *ghost = nam_co_start(s, post_self_and_end, NULL, 0);
		assert_int_equal(nam_sched_run(s), 1);
		assert_int_equal(nam_sched_live(s), 0);
		assert_true(nam_sched_ready(s)); /* the post is still there ... */
		struct nam_co *next = nam_co_start(s, note_stack, &at, 0);
		assert_ptr_not_equal(next, ghost);     /* ... so its memory is not used again */
		assert_int_equal(nam_sched_run(s), 1); /* and the late wake runs no coroutine */
		assert_false(nam_sched_ready(s));
	}
	nam_co_start(s, post_self_and_end, NULL, 0);
	nam_sched_run(s);
	nam_sched_close(s); /* with a post in the list: no memory leaks (LeakSanitizer looks) */
	assert_true(at != 0);
}

static void
tag_is_per_coroutine(void **state)
{
	(void)state;
	struct nam_sched *s = nam_sched_open();
	struct sleeper a = { 0 }, b = { 0 };
	struct nam_co *x = nam_co_start(s, park_twice, &a, 0), *y = nam_co_start(s, park_twice, &b, 0);
	assert_null(nam_co_tag(x));
	nam_co_set_tag(x, &a);
	nam_co_set_tag(y, &b);
	assert_ptr_equal(nam_co_tag(x), &a);
	assert_ptr_equal(nam_co_tag(y), &b);
	for (int i = 0; i < 3; i++) {
		drain(s);
		if (nam_sched_live(s) > 0) {
			nam_co_wake(x);
			nam_co_wake(y);
		}
	}
	assert_int_equal(nam_sched_live(s), 0);
	struct sleeper c = { 0 };
	struct nam_co *z = nam_co_start(s, park_twice, &c, 0);
	assert_null(nam_co_tag(z)); /* not the tag of the stack's previous coroutine */
	nam_co_wake(z);
	drain(s);
	nam_co_wake(z);
	drain(s);
	nam_sched_close(s);
}

static void
count_ready(void *arg)
{
	++*(int *)arg;
}

/* A watcher of several schedulers is called once for each that got work, and counts the coroutines
 * of all. */
static void
watched(void **state)
{
	(void)state;
	struct nam_sched *a = nam_sched_open(), *b = nam_sched_open();
	struct letters out = { .n = 0 };
	struct writer w = { &out, 'a' };
	int ready = 0, live = 0;
	nam_co_start(b, write_three, &w, 0);
	nam_sched_watch(a, count_ready, &ready, &live);
	nam_sched_watch(b, count_ready, &ready, &live);
	assert_int_equal(live, 1); /* it was there already */
	nam_co_start(a, write_three, &w, 0);
	nam_co_start(a, write_three, &w, 0);
	assert_int_equal(ready, 1); /* the second found it ready */
	assert_int_equal(live, 3);
	nam_sched_watch(b, NULL, NULL, NULL);
	assert_int_equal(live, 2);
	drain(a);
	drain(b);
	assert_int_equal(live, 0);
	nam_sched_close(a);
	nam_sched_close(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yield_takes_turns),
		cmocka_unit_test(park_waits_for_wake),
		cmocka_unit_test(wake_before_park_is_kept),
		cmocka_unit_test(schedulers_nest),
		cmocka_unit_test(a_coroutine_starts_another),
		cmocka_unit_test(many_coroutines_keep_their_stacks_apart),
		cmocka_unit_test(a_stack_is_used_again_by_one_of_its_size),
		cmocka_unit_test(stack_sizes_have_a_limit),
		cmocka_unit_test(stacks_end_at_a_guard_page),
		cmocka_unit_test(posts_from_threads_are_not_lost),
		cmocka_unit_test(a_post_carries_what_was_written_before),
		cmocka_unit_test(a_coroutine_that_ends_while_posted_is_kept_until_the_list_is_read),
		cmocka_unit_test(tag_is_per_coroutine),
		cmocka_unit_test(stacks_go_back),
		cmocka_unit_test(watched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
