/*
 * admit.c -- how much may be under way at a time: work of several round trips begins only while the
 * RNIC is not overloaded.
 *
 * An RNIC keeps the work requests that are out on its chip. If there are too many, it reads some of
 * them again from memory, and all verbs become slower: a ConnectX-6 falls from 109 to 55 million
 * READs a second (SMART). So where a process serves more clients than its RNIC bears, the later
 * ones wait before they begin. What has begun ends sooner, holds its locks for a shorter time, and
 * reads with a younger snapshot. Over tcp and on mapped memory no work waits.
 *
 * Few workers that have work get the same share of the ops each. Many take turns. A share of six or
 * eight ops would let in one or two transactions at a time: each would READ a snapshot of its own.
 * In its turn a worker lets in a group, which shares what it asks for first. A turn is over when
 * few ops of the worker are out. How many turns there are at a time is steered by the ops that all
 * workers have out: some verbs a transaction or many, with short or long pauses between them.
 *
 * Turns are a semaphore of two words that rise: a worker takes a number, and its turn begins when
 * all but `turns` of the numbers before are over. A worker touches these words once for a group.
 *
 * Work that has been admitted and has not posted yet (a transaction that waits for its snapshot)
 * counts as if it had ops out: otherwise much of it would post at one time later.
 */
#include <net/provider.h>

enum {
	/* Ops out of a process: SMART finds more than 768 to be too many, and work that has begun
	 * posts more than it had out then. */
	OUT_MAX = 640,
	/* Waiters are let in when so much of the share is free, or seven eighths of it. */
	GROUP = 16,
	WEIGHT = 2,      /* ops that work is counted for until it posts */
	LOOK_EVERY = 16, /* admissions between two looks at the clock */
	/* When so many ops of the worker have ended since it let one in, it lets in one more,
	 * whatever is out: long work of others does not keep it out. */
	PASSED_MAX = 64,
	/* More workers than this take turns, and at least so many have theirs. */
	TURNS_LEAST = 16,
	OWN = 4, /* ops at which a worker without a turn admits no more, and nothing waits yet */
	LOW = 6, /* ops out at which a turn is over */
	/* Mean of the ops out while work waits for a turn. An RNIC whose verbs take 2 us is full
	 * with 200; more of them wait in it only. */
	OUT_WANTED = 300,
	SCALE = 256, /* net->turns counts parts of one */
	LOOK_NS = 500,
};
#define COUNT_NS UINT64_C(1000000)
#define STEER_NS UINT64_C(20000)

struct net_waiter {
	struct nam_co *co;
	struct net_waiter *next;
	bool in;
};

static unsigned
active_of(const struct net *n)
{
	unsigned active = atomic_load_explicit(&n->active, memory_order_relaxed);
	if (active == 0) /* not counted yet */
		active = (unsigned)atomic_load_explicit(&n->workers, memory_order_relaxed);
	return active;
}

static unsigned
turns_of(const struct net *n)
{
	unsigned turns = atomic_load_explicit(&n->turns, memory_order_relaxed) / SCALE;
	return turns > TURNS_LEAST ? turns : TURNS_LEAST;
}

static bool
take_turns(const struct net *n)
{
	return active_of(n) > TURNS_LEAST;
}

/* Workers that have admitted work since the last count share the RNIC. Under workers_lock. */
static void
count_active(struct net *n, uint64_t now)
{
	unsigned active = 0;
	for (struct net_worker *k = n->first_worker; k != NULL; k = k->next_worker) {
		uint64_t admitted = atomic_load_explicit(&k->admitted, memory_order_relaxed);
		active += admitted != k->admitted_before;
		k->admitted_before = admitted;
	}
	atomic_store_explicit(&n->counted_ns, now, memory_order_relaxed);
	atomic_store_explicit(&n->active, active, memory_order_relaxed);
}

/* With so many turns at a time OUT_WANTED ops are out: down in large steps, up in smaller ones, and
 * only while a worker waits for its turn. Under workers_lock. */
static void
steer(struct net *n, uint64_t now)
{
	unsigned out = 0, most = active_of(n) * SCALE, least = TURNS_LEAST * SCALE;
	unsigned turns = atomic_load_explicit(&n->turns, memory_order_relaxed);
	for (struct net_worker *k = n->first_worker; k != NULL; k = k->next_worker)
		out += net_out(k);
	if (out > 2 * OUT_WANTED)
		out = 2 * OUT_WANTED;
	uint64_t asked = atomic_load(&n->turns_asked) - atomic_load(&n->turns_over);
	if (out > OUT_WANTED)
		turns -= turns / 2 * (out - OUT_WANTED) / OUT_WANTED;
	else if (asked > turns / SCALE)
		turns += turns / 4 * (OUT_WANTED - out) / OUT_WANTED;
	turns = turns < most ? turns : most;
	turns = turns > least ? turns : least;
	atomic_store_explicit(&n->turns, turns, memory_order_relaxed);
	atomic_store_explicit(&n->steered_ns, now, memory_order_relaxed);
}

/* Another worker's clock may be ahead of this one's. */
static bool
is_due(const _Atomic uint64_t *last_ns, uint64_t now, uint64_t every_ns)
{
	return (int64_t)(now - atomic_load_explicit(last_ns, memory_order_relaxed)) >= (int64_t)every_ns;
}

static void
look_at_workers(struct net_worker *w)
{
	struct net *n = w->net;
	uint64_t now = net_now_ns(w);
	if ((!is_due(&n->counted_ns, now, COUNT_NS) &&
		!(take_turns(n) && is_due(&n->steered_ns, now, STEER_NS))) ||
	    pthread_mutex_trylock(&n->workers_lock) != 0)
		return;
	/* another worker may have counted meanwhile: a count of no time would find few */
	if (is_due(&n->counted_ns, now, COUNT_NS))
		count_active(n, now);
	if (take_turns(n) && is_due(&n->steered_ns, now, STEER_NS))
		steer(n, now);
	pthread_mutex_unlock(&n->workers_lock);
}

/* The ops out at which the worker admits no more. */
static unsigned
share_of(const struct net_worker *w)
{
	if (take_turns(w->net))
		return OWN + (w->turn == NET_TURN_HAS ? GROUP : 0);
	return OUT_MAX / active_of(w->net);
}

static unsigned
load_of(const struct net_worker *w)
{
	return net_out(w) + WEIGHT * w->soon;
}

static void
turn_over(struct net_worker *w)
{
	if (w->turn != NET_TURN_NONE)
		atomic_fetch_add(&w->net->turns_over, 1);
	w->turn = NET_TURN_NONE;
}

/* The first that waits for the worker's turn looks whether it has begun. */
static void
first_looks(struct net_worker *w)
{
	nam_co_wake(w->waiters->co);
}

static void
let_in(struct net_worker *w, unsigned share)
{
	do {
		struct net_waiter *first = w->waiters;
		if ((w->waiters = first->next) == NULL)
			w->waiters_end = &w->waiters;
		w->soon++;
		w->let_in = w->ended;
		first->in = true;
		nam_co_wake(first->co);
	} while (w->waiters != NULL && load_of(w) < share);
	if (w->turn == NET_TURN_ASKED) {
		if (w->waiters == NULL)
			turn_over(w);
		else
			first_looks(w);
	}
}

/* True if the worker's turn has begun just now. */
static bool
turn_begins(struct net_worker *w)
{
	struct net *n = w->net;
	if (w->turn == NET_TURN_ASKED ? w->waiters == NULL : load_of(w) <= LOW)
		turn_over(w);
	if (w->turn == NET_TURN_HAS || w->waiters == NULL)
		return false;
	if (w->turn == NET_TURN_NONE) {
		w->ticket = atomic_fetch_add(&n->turns_asked, 1);
		w->turn = NET_TURN_ASKED;
		first_looks(w);
	}
	if ((int64_t)(w->ticket - atomic_load(&n->turns_over)) >= (int64_t)turns_of(n))
		return false;
	w->turn = NET_TURN_HAS;
	return true;
}

static bool
may_go_on(struct net_worker *w)
{
	if (take_turns(w->net))
		return turn_begins(w);
	turn_over(w);
	unsigned share = share_of(w), group = share - share / 8;
	if (group > GROUP)
		group = GROUP;
	return load_of(w) + group <= share;
}

void
net_admit_next(struct net_worker *w)
{
	bool go = may_go_on(w), passed = w->ended - w->let_in >= PASSED_MAX;
	if ((go || passed) && w->waiters != NULL)
		let_in(w, go ? share_of(w) : 0);
}

static __attribute__((noinline)) void
wait_turn(struct net_worker *w, struct net_waiter *me)
{
	*w->waiters_end = me;
	w->waiters_end = &me->next;
	net_admit_next(w);
	while (!me->in) {
		if (w->waiters == me && w->turn == NET_TURN_ASKED) {
			net_sleep(w, LOOK_NS);
			if (!me->in)
				net_admit_next(w);
		} else {
			nam_co_park();
		}
	}
}

bool
net_all_mapped(const struct net_worker *w)
{
	return w->async_count == 0;
}

void
net_admit(struct net_worker *w)
{
	if (w->net->rnic && !net_all_mapped(w)) {
		uint64_t admitted = atomic_load_explicit(&w->admitted, memory_order_relaxed) + 1;
		atomic_store_explicit(&w->admitted, admitted, memory_order_relaxed);
		if (admitted % LOOK_EVERY == 0)
			look_at_workers(w);
		if (w->waiters != NULL || load_of(w) >= share_of(w)) {
			struct net_waiter me = { .co = nam_co_self() };
			wait_turn(w, &me);
			return;
		}
	}
	w->soon++;
	w->let_in = w->ended;
}

/* As long as anything waits, an op is out, work that was admitted has not posted, or the first that
 * waits looks for the worker's turn: each lets the next one in. */
void
net_admit_end(struct net_worker *w)
{
	w->soon--;
	if (net_admits(w))
		net_admit_next(w);
}

void
net_admit_more(struct net_worker *w)
{
	w->soon++;
}
