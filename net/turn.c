/*
 * turn.c -- how long a worker's coroutines keep its thread, in CPU time.
 *
 * The counter of the processor is read after each turn, which takes some nanoseconds; the
 * clocks, of
 * which one is a system call, only after a turn that seems long, and once in a while.
 */
#include <base/clock.h>
#include <base/co_turn.h>
#include <net/provider.h>

#include <time.h>

const unsigned net_turn_ms[NET_TURN_STEPS] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000 };

#if defined __x86_64__
enum { LONG = 1 << 20 }; /* ticks: a third of a millisecond or so */
static uint64_t
ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
enum { LONG = 300000 };
static uint64_t
ticks(void)
{
	return nam_clock_ns();
}
#endif

static uint64_t
cpu_ns(void)
{
	struct timespec t;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
read_clocks(struct net_worker_turns *t)
{
	t->cpu_ns = cpu_ns();
	t->wall_ns = nam_clock_ns();
	t->cpu_tick = ticks();
}

static void
add(_Atomic uint64_t *n, uint64_t more)
{
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + more, memory_order_relaxed);
}

/* A turn has ended that may have been long. Between the last look at the clocks and its
 * begin lies less than LONG. */
static void
long_turn(struct net_worker_turns *t)
{
	uint64_t cpu = t->cpu_ns, wall = t->wall_ns;
	read_clocks(t);
	cpu = t->cpu_ns - cpu;
	wall = t->wall_ns - wall;
	uint64_t ns = cpu < wall ? cpu : wall;
	for (unsigned k = 0; k < NET_TURN_STEPS && ns >= net_turn_ms[k] * UINT64_C(1000000); k++)
		add(&t->at_least[k], 1);
	if (ns > atomic_load_explicit(&t->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&t->longest_ns, ns, memory_order_relaxed);
}

static void
turn_is_over(void *arg)
{
	struct net_worker_turns *t = arg;
	uint64_t now = ticks();
	if (now - t->tick > LONG)
		long_turn(t);
	else if (now - t->cpu_tick > LONG)
		read_clocks(t);
	t->tick = now;
}

void
net_turns_begin(struct net_worker *w)
{
	read_clocks(&w->turns);
	w->turns.tick = w->turns.cpu_tick;
	nam_sched_on_turn(w->sched, turn_is_over, &w->turns);
}

void
net_turns_from_here(struct net_worker *w)
{
	struct net_worker_turns *t = &w->turns;
	t->tick = ticks();
	if (t->tick - t->cpu_tick > LONG)
		read_clocks(t);
}

void
net_worker_turns(const struct net_worker *w, struct net_turns *into)
{
	uint64_t longest = atomic_load_explicit(&w->turns.longest_ns, memory_order_relaxed);
	if (longest > into->longest_ns)
		into->longest_ns = longest;
	for (unsigned k = 0; k < NET_TURN_STEPS; k++)
		into->at_least[k] += atomic_load_explicit(&w->turns.at_least[k], memory_order_relaxed);
}
