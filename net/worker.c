/* worker.c -- the real world's worker: its loop, its clock, its timers and how it sleeps. */
#include <base/assert.h>
#include <base/clock.h>
#include <net/ring/channel.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS_PER_CLOCK = 16, /* busy: look at the clock every so many rounds */
	ROUNDS_PER_IDLE = 8,   /* never dry: idle hooks still get their turn */
	LOOKS_BEFORE_SLEEP = 8,
	NEAR_NS = 100000,      /* a timer that is due so soon is slept for with care */
	CLOSE_NS = 5000,       /* beside an RNIC one that is due so soon is looked for: ppoll(2)
				* sleeps 50 us longer than it is asked to */
	NAP_NS_MAX = 20000000, /* with ops out: a node may be declared lost while we sleep */
};

/* A sleeper. Lives on its coroutine's stack, in a pairing heap by due time. */
struct net_timer {
	uint64_t due;
	struct nam_co *co;
	struct net_timer *child, *next;
	bool fired;
	bool news; /* ends early when there are some */
};

/* One that sleeps lazily. Also on its coroutine's stack. */
struct net_lazy {
	uint64_t due, last, bells;
	struct nam_co *co;
	struct net_lazy *next;
	bool fired;
};

static struct net_timer *
meld(struct net_timer *a, struct net_timer *b)
{
	if (a == NULL)
		return b;
	if (b == NULL)
		return a;
	if (b->due < a->due) {
		struct net_timer *t = a;
		a = b;
		b = t;
	}
	b->next = a->child;
	a->child = b;
	return a;
}

static struct net_timer *
pop(struct net_timer *root)
{
	struct net_timer *list = root->child, *pairs = NULL;
	while (list != NULL) {
		struct net_timer *a = list, *b = a->next;
		list = b != NULL ? b->next : NULL;
		a->next = NULL;
		if (b != NULL)
			b->next = NULL;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	struct net_timer *heap = NULL;
	while (pairs != NULL) {
		struct net_timer *a = pairs;
		pairs = a->next;
		a->next = NULL;
		heap = meld(heap, a);
	}
	return heap;
}

static void
fire_timers(struct net_worker *w)
{
	if (w->timers == NULL && w->lazy == NULL)
		return;
	uint64_t now = nam_clock_ns();
	for (struct net_lazy **p = &w->lazy; *p != NULL;) {
		struct net_lazy *l = *p;
		if (l->due > now && l->bells == w->bells) {
			p = &l->next;
			continue;
		}
		*p = l->next;
		l->fired = true;
		nam_co_wake(l->co);
	}
	while (w->timers != NULL && w->timers->due <= now) {
		struct net_timer *t = w->timers;
		w->timers = pop(t);
		t->fired = true;
		nam_co_wake(t->co);
	}
}

static void
sleep_as(struct net_worker *w, uint64_t ns, bool news)
{
	struct net_timer t = { .co = nam_co_self(), .news = news };
	NAM_ASSERT(t.co != NULL); /* only a coroutine may sleep */
	uint64_t now = nam_clock_ns();
	t.due = now + ns < now ? UINT64_MAX : now + ns;
	w->timers = meld(w->timers, &t);
	w->news_sleepers += news;
	while (!t.fired)
		nam_co_park();
	w->news_sleepers -= news;
}

static void
real_sleep(struct net_worker *w, uint64_t ns)
{
	sleep_as(w, ns, false);
}

static void
real_sleep_or_news(struct net_worker *w, uint64_t ns, uint64_t *news)
{
	/* News that come after this look set w->news, which the loop reads after the coroutine
	 * sleeps. */
	if (atomic_load(&w->net->news) == *news)
		sleep_as(w, ns, true);
	*news = atomic_load(&w->net->news);
}

static __attribute__((noinline)) void
lazy_add(struct net_worker *w, struct net_lazy *l)
{
	l->next = w->lazy;
	w->lazy = l;
}

static void
real_sleep_lazily(struct net_worker *w, uint64_t ns, uint64_t most, uint64_t bells)
{
	uint64_t now = nam_clock_ns();
	struct net_lazy l = { .due = now + ns, .last = now + most, .bells = bells, .co = nam_co_self() };
	NAM_ASSERT(l.co != NULL);
	lazy_add(w, &l);
	atomic_store(&w->dozes, true);
	while (!l.fired)
		nam_co_park();
	if (w->lazy == NULL)
		atomic_store(&w->dozes, false);
}

/* When a worker that sleeps has to wake; UINT64_MAX = for nothing. */
static uint64_t
wakes_at(const struct net_worker *w)
{
	uint64_t at = w->timers != NULL ? w->timers->due : UINT64_MAX;
	for (const struct net_lazy *l = w->lazy; l != NULL; l = l->next)
		at = l->last < at ? l->last : at;
	return at;
}

/* Coroutines that sleep until news come are due now. Rare: the heap is built again. */
static void
wake_for_news(struct net_worker *w)
{
	struct net_timer *old = w->timers;
	if (w->news_sleepers == 0)
		return;
	w->timers = NULL;
	while (old != NULL) {
		struct net_timer *t = old;
		old = pop(t);
		t->child = t->next = NULL;
		if (t->news)
			t->due = 0;
		w->timers = meld(w->timers, t);
	}
	fire_timers(w);
}

/* Acts on flags that other threads have set for this worker. */
static void
look_at_flags(struct net_worker *w)
{
	if (atomic_load_explicit(&w->news, memory_order_relaxed) && atomic_exchange(&w->news, false))
		wake_for_news(w);
	if (atomic_load_explicit(&w->ringing, memory_order_relaxed) && atomic_exchange(&w->ringing, false))
		w->bells++;
	if (atomic_load_explicit(&w->asked, memory_order_relaxed) && atomic_exchange(&w->asked, false))
		net_monitor_answer(w->net);
}

static uint64_t
real_now(struct net_worker *w)
{
	(void)w;
	return nam_clock_ns();
}

static int64_t
real_wall_us(struct net_worker *w)
{
	(void)w;
	return nam_clock_wall_us();
}

static uint64_t
real_cpu(const struct net_worker *w)
{
	struct timespec t = { 0 };
	int clock = atomic_load(&w->cpu_clock);
	if (clock != 0 && clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t
real_timeout(const struct net_worker *w)
{
	return TIMEOUT_CONNECTS * (uint64_t)w->net->connect_ms * 1000000;
}

static void
real_rouse(struct net_worker *w)
{
	if (!atomic_exchange(&w->asleep, false))
		return;
	uint64_t one = 1;
	while (write(w->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void
real_tell(struct net_worker *w)
{
	atomic_store(&w->news, true);
	real_rouse(w);
}

void
net_worker_wakes_on(struct net_worker *w, int fd)
{
	w->also_fd = fd;
}

void
net_workers_news(struct net *n)
{
	pthread_mutex_lock(&n->workers_lock);
	for (struct net_worker *w = n->first_worker; w != NULL; w = w->next_worker) {
		real_tell(w);
	}
	pthread_mutex_unlock(&n->workers_lock);
}

void
net_ring_here(struct net *n)
{
	pthread_mutex_lock(&n->workers_lock);
	for (struct net_worker *w = n->first_worker; w != NULL; w = w->next_worker) {
		/* One that is about to doze is awake, and sees it before it sleeps. */
		atomic_store(&w->ringing, true);
		if (atomic_load(&w->dozes))
			real_rouse(w);
	}
	pthread_mutex_unlock(&n->workers_lock);
}

void
net_workers_asked(struct net *n)
{
	struct net_worker *first = NULL;
	pthread_mutex_lock(&n->workers_lock);
	for (struct net_worker *w = n->first_worker; w != NULL; w = w->next_worker)
		if (first == NULL || w->number < first->number)
			first = w;
	if (first != NULL) {
		atomic_store(&first->asked, true);
		real_rouse(first);
	}
	pthread_mutex_unlock(&n->workers_lock);
}

static void
on_post(void *arg)
{
	real_rouse(arg);
}

static nam_status
real_open(struct net_worker *w, struct nam_err *err)
{
	w->also_fd = -1;
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->wake_fd < 0)
		return nam_fail(err, NAM_IO, "cannot make an eventfd (%m)");
	w->sched = nam_sched_open();
	if (w->sched == NULL) {
		close(w->wake_fd);
		return nam_fail(err, NAM_NOMEM, "no memory for a scheduler");
	}
	nam_sched_on_post(w->sched, on_post, w);
	uint64_t seed;
	nam_random_bytes(&seed, sizeof seed);
	nam_rng_init(&w->rng, seed);
	return NAM_OK;
}

static void
real_close(struct net_worker *w)
{
	nam_sched_close(w->sched);
	close(w->wake_fd);
}

/* Sends buffered posts, takes completions. */
static int
turn_network(struct net_worker *w)
{
	int done = 0;
	for (unsigned i = 0; i < w->async_count; i++)
		if (w->async[i]->p->flush != NULL)
			w->async[i]->p->flush(w->async[i]);
	for (unsigned i = 0; i < w->async_count; i++)
		if (w->async[i]->p->poll != NULL)
			done += w->async[i]->p->poll(w->async[i]);
	return done;
}

enum after { CAME, SLEEP, LOOK };

/*
 * Nothing is ready: how to wait for answers? Over streams by blocking at once. Polling would take
 * system calls there, and on a busy machine a yield costs a whole slice of time, while a blocked
 * thread runs as soon as bytes come. If ops are out at one stream only, waits in its own call: that
 * saves a poll(2). A thread that posts to this worker meanwhile waits for the next answer, or once
 * for the longest time of wait().
 */
static enum after
wait_for_answers(struct net_worker *w)
{
	struct net_endpoint *one = NULL;
	bool many = false;
	for (unsigned i = 0; i < w->async_count; i++) {
		struct net_endpoint *ep = w->async[i];
		short events = POLLIN;
		if (ep->p->fd == NULL || ep->p->fd(ep, &events) < 0)
			continue;
		if (ep->p->wait == NULL)
			return LOOK;
		many |= one != NULL || events != POLLIN;
		one = ep;
	}
	if (one == NULL)
		return LOOK;
	if (many || w->calls_out != 0 || w->lazy != NULL ||
	    (w->timers != NULL && w->timers->due < nam_clock_ns() + NEAR_NS))
		return SLEEP;
	return one->p->wait(one) >= 0 ? CAME : SLEEP;
}

/* False: not yet, because an answer may be here at any moment. */
static bool
sleep_until_something(struct net_worker *w, bool (*until)(void *), void *arg)
{
	struct pollfd fd[2 + NET_REGIONS + 2 * NET_CHANNELS];
	uint64_t nap_ns = NAP_NS_MAX;
	/* no op is out there */
	struct net_endpoint *idle[2 + NET_REGIONS + 2 * NET_CHANNELS];
	nfds_t n = 0;
	bool busy = false;
	fd[n++] = (struct pollfd){ .fd = w->wake_fd, .events = POLLIN };
	if (w->channels != NULL && !net_channels_may_sleep(w, fd, &n, &nap_ns))
		return false;
	const nfds_t channels = n;
	memset(idle, 0, n * sizeof *idle);
	for (unsigned i = 0; i < w->async_count; i++) {
		struct net_endpoint *ep = w->async[i];
		short events = POLLIN;
		int f = ep->p->fd != NULL ? ep->p->fd(ep, &events) : -1;
		idle[n] = f < 0 && ep->p->idle_fd != NULL ? ep : NULL;
		busy |= f >= 0;
		if (idle[n] != NULL)
			f = ep->p->idle_fd(ep);
		if (f >= 0)
			fd[n++] = (struct pollfd){ .fd = f, .events = events };
	}
	if (w->also_fd >= 0) {
		idle[n] = NULL;
		fd[n++] = (struct pollfd){ .fd = w->also_fd, .events = POLLIN };
	}
	struct timespec ts, *wait = NULL;
	const uint64_t at = wakes_at(w);
	if (at != UINT64_MAX) {
		uint64_t now = nam_clock_ns(), ns = at > now ? at - now : 0;
		ts.tv_sec = (time_t)(ns / 1000000000);
		ts.tv_nsec = (long)(ns % 1000000000);
		if (ns / 1000000000 < 1000000)
			wait = &ts;
	}
	busy |= w->calls_out != 0 || w->rings_awaited;
	if (busy && (wait == NULL || ts.tv_sec > 0 || ts.tv_nsec > (long)nap_ns)) {
		ts = (struct timespec){ .tv_nsec = (long)nap_ns };
		wait = &ts;
	}
	atomic_store(&w->asleep, true);
	/* A post from before this store is seen here; a poster after it writes to wake_fd. */
	if (!nam_sched_ready(w->sched) && !(until != NULL && until(arg)) && !atomic_load(&w->news) &&
	    !atomic_load(&w->asked) && !atomic_load(&w->ringing))
		ppoll(fd, n, wait, NULL);
	atomic_store(&w->asleep, false);
	for (nfds_t i = 1; i < channels; i++)
		w->rings_news |= fd[i].revents != 0;
	for (nfds_t i = 1; i < n; i++)
		if (fd[i].revents != 0 && idle[i] != NULL)
			idle[i]->p->news(idle[i]);
	if (fd[0].revents & POLLIN) {
		uint64_t sink;
		ssize_t got = read(w->wake_fd, &sink, sizeof sink);
		(void)got;
	}
	return true;
}

static bool
timer_is_close(const struct net_worker *w)
{
	return w->net->rnic && w->timers != NULL && w->timers->due < nam_clock_ns() + CLOSE_NS;
}

/* What a worker waits for that dozes, or that has called a service, takes longer than looks, and
 * rouses it. An RNIC answers sooner. */
static unsigned
looks_before_sleep(const struct net_worker *w)
{
	bool roused = w->lazy != NULL || w->calls_out != 0;
	return roused && !w->net->rnic ? 0 : LOOKS_BEFORE_SLEEP;
}

static bool
over(struct net_worker *w, bool (*until)(void *), void *arg)
{
	return until != NULL ? until(arg) : nam_sched_live(w->sched) == 0;
}

static void
real_run(struct net_worker *w, bool (*until)(void *), void *arg)
{
	unsigned round = 0, wet = 0, looks = 0;
	clockid_t clock;
	if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
		atomic_store(&w->cpu_clock, clock);
	net_turns_begin(w);
	while (!over(w, until, arg)) {
		net_turns_from_here(w);
		int ran = nam_sched_run(w->sched), came = 0;
		look_at_flags(w);
		if (!nam_sched_ready(w->sched) || ++wet >= ROUNDS_PER_IDLE) {
			wet = 0;
			net_worker_idle(w);
		}
		if (w->async_count != 0)
			came = turn_network(w);
		if (w->channels != NULL)
			came += net_channels_look(w);
		bool ready = nam_sched_ready(w->sched);
		if (!ready || ++round >= ROUNDS_PER_CLOCK) {
			round = 0;
			fire_timers(w);
			ready = nam_sched_ready(w->sched);
		}
		enum after next = came != 0 || ready                           ? CAME
				  : w->async_count == 0 || over(w, until, arg) ? LOOK
									       : wait_for_answers(w);
		if (next == CAME || (next == LOOK && ran != 0)) {
			looks = 0;
			continue;
		}
		/* Nothing to do: let other threads have the core, look a few times more, then
		 * sleep; at once if other threads compute on this core. */
		if (next == LOOK && !w->background &&
		    (looks++ < looks_before_sleep(w) || timer_is_close(w)) && nam_core_yield(&w->core))
			continue;
		if (!sleep_until_something(w, until, arg))
			nam_core_yield(&w->core);
		else
			looks = 0;
	}
	/* Posts that no coroutine waits for must still be sent. */
	if (w->async_count != 0)
		turn_network(w);
}

const struct net_env net_env_real = {
	.worker_open = real_open,
	.worker_close = real_close,
	.worker_run = real_run,
	.rouse = real_rouse,
	.tell = real_tell,
	.now = real_now,
	.wall_us = real_wall_us,
	.cpu = real_cpu,
	.timeout = real_timeout,
	.sleep = real_sleep,
	.fence = net_real_fence,
	.heard = net_real_heard,
	.sleep_or_news = real_sleep_or_news,
	.sleep_lazily = real_sleep_lazily,
	.on_asked = net_real_on_asked,
};
