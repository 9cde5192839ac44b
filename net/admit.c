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
 * Each worker that has work gets the same share. Work that has been admitted and has not posted yet
 * (a transaction that waits for its snapshot) counts as if it had ops out: otherwise much of it
 * would post at one time later.
 */
#include <net/net_internal.h>

enum {
	/* Ops out of a process: SMART finds more than 768 to be too many, and work that has begun
	 * posts more than it had out then. */
	OUT_MAX = 640,
	/* Waiters are let in when so much of the share is free, or seven eighths of it: work that
	 * begins at one moment shares what it asks for first, as transactions share the READ of a
	 * snapshot. */
	GROUP = 16,
	LEAST = 4,       /* of a worker */
	WEIGHT = 2,      /* ops that work is counted for until it posts */
	LOOK_EVERY = 16, /* admissions between two looks at the clock */
	/* When so many ops of the worker have ended since it let one in, it lets in one more,
	 * whatever is out: long work of others does not keep it out. */
	PASSED_MAX = 64,
};
#define COUNT_NS UINT64_C(1000000)

struct net_waiter {
	struct nam_co *co;
	struct net_waiter *next;
	bool in;
};

/* Workers that have admitted work since the last count share the RNIC. */
static void
count_workers(struct net_worker *w)
{
	struct net *n = w->net;
	uint64_t now = net_now_ns(w);
	if (now - atomic_load_explicit(&n->counted_ns, memory_order_relaxed) < COUNT_NS ||
	    pthread_mutex_trylock(&n->workers_lock) != 0)
		return;
	unsigned active = 0;
	for (struct net_worker *k = n->first_worker; k != NULL; k = k->next_worker) {
		uint64_t admitted = atomic_load_explicit(&k->admitted, memory_order_relaxed);
		active += admitted != k->admitted_before;
		k->admitted_before = admitted;
	}
	atomic_store_explicit(&n->counted_ns, now, memory_order_relaxed);
	atomic_store_explicit(&n->active, active, memory_order_relaxed);
	pthread_mutex_unlock(&n->workers_lock);
}

/* The worker's share of the ops out. */
static unsigned
share_of(const struct net_worker *w)
{
	unsigned active = atomic_load_explicit(&w->net->active, memory_order_relaxed);
	if (active == 0) /* not counted yet */
		active = (unsigned)atomic_load_explicit(&w->net->workers, memory_order_relaxed);
	unsigned share = OUT_MAX / active;
	return share > LEAST ? share : LEAST;
}

static unsigned
load_of(const struct net_worker *w)
{
	return w->out + WEIGHT * w->soon;
}

void
net_admit_next(struct net_worker *w)
{
	unsigned share = share_of(w), group = share - share / 8;
	if (group > GROUP)
		group = GROUP;
	if (load_of(w) + group > share && w->ended - w->let_in < PASSED_MAX)
		return;
	do {
		struct net_waiter *first = w->waiters;
		if ((w->waiters = first->next) == NULL)
			w->waiters_end = &w->waiters;
		w->soon++;
		w->let_in = w->ended;
		first->in = true;
		nam_co_wake(first->co);
	} while (w->waiters != NULL && load_of(w) < share);
}

static __attribute__((noinline)) void
wait_turn(struct net_worker *w, struct net_waiter *me)
{
	*w->waiters_end = me;
	w->waiters_end = &me->next;
	while (!me->in)
		nam_co_park();
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
			count_workers(w);
		if (w->waiters != NULL || load_of(w) >= share_of(w)) {
			struct net_waiter me = { .co = nam_co_self() };
			wait_turn(w, &me);
			return;
		}
	}
	w->soon++;
	w->let_in = w->ended;
}

/* As long as anything waits, an op is out or work that was admitted has not posted: either lets the
 * next one in when it ends. */
void
net_admit_end(struct net_worker *w)
{
	w->soon--;
	if (w->waiters != NULL)
		net_admit_next(w);
}

void
net_admit_more(struct net_worker *w)
{
	w->soon++;
}
