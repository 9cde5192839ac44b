/*
 * hang.c -- notices a claim of this process that will never be marked, though its heart beats.
 *
 * The heart has a thread of its own. So the beat says that the process lives, not that each of its
 * workers does: a blocked worker, or a coroutine that is never woken, between claim and mark stops
 * the prefix of all processes for ever. It differs from a long commit in two ways:
 *   - its transaction has posted no verb for longer than any transaction waits for one
 *     (net_timeout_ns), and did not wait for the vector to wrap, or for what its caller has seen
 *     to go on (tso_goes_on);
 *   - meanwhile the worker's loop turned, so that every coroutine that could go on did; or its
 *     thread used no CPU time, so it is blocked. A worker that computes without turning the loop is
 *     only slow, however long that takes; and a thread that gets a core now and then is not
 *     blocked.
 * Time counts only as far as the heart itself watched (as in judge()): a process that stalled as a
 * whole does not hang. And another process must be in the cluster: alone, it may hang and wake at
 * any time.
 */
#include "tso_internal.h"

#include <base/log.h>
#include <net/pulse.h>

enum {
	HANGS_LEASES = 4,
	LOOKS_OF_A_LEASE = 4, /* one look counts for no more than a lease divided by this */
};

void
tso_turned(struct tso_worker *tw)
{
	const struct tso_claim *c = tw->claim_first;
	uint64_t steps = tw->outside + tw->stats.wrap_waits +
			 (c != NULL && c->acct != NULL ? net_counts_verbs(c->acct) : 0);
	atomic_store_explicit(&tw->steps, steps, memory_order_relaxed);
	atomic_store_explicit(
	    &tw->turns, atomic_load_explicit(&tw->turns, memory_order_relaxed) + 1, memory_order_relaxed);
}

void
tso_goes_on(struct tso_worker *tw)
{
	tw->outside++;
}

uint64_t
tso_hangs_after_ns(const struct tso *t, const struct net_worker *w)
{
	/* More than the timeout of net: a verb that waits for a node that is gone ends by itself,
	 * and so does its commit. */
	uint64_t leases = HANGS_LEASES * t->lease_ns, timeout = net_timeout_ns(w) / 8 * 9;
	return leases > timeout ? leases : timeout;
}

/* One look at one worker. True: for too long its lowest claim has made no progress. */
static bool
hangs(const struct tso *t, struct tso_watch *k, const struct tso_worker *tw, uint64_t now, uint64_t after_ns)
{
	uint64_t open = atomic_load(&tw->open), passed = now - k->look_ns;
	uint64_t steps = atomic_load_explicit(&tw->steps, memory_order_relaxed);
	uint64_t turns = atomic_load_explicit(&tw->turns, memory_order_relaxed);
	k->look_ns = now;
	if (open == TSO_NONE || open != k->open || steps != k->steps) {
		*k = (struct tso_watch){ .open = open, .steps = steps, .turns = turns, .look_ns = now };
		return false;
	}
	if (passed > t->lease_ns / LOOKS_OF_A_LEASE)
		passed = t->lease_ns / LOOKS_OF_A_LEASE;
	uint64_t cpu = net_worker_cpu_ns(tw->w);
	k->quiet_ns = cpu == k->cpu_ns || turns != k->turns ? k->quiet_ns + passed : 0;
	if (turns != k->turns) {
		k->still_ns += k->quiet_ns;
		k->quiet_ns = 0;
	}
	k->turns = turns;
	k->cpu_ns = cpu;
	return k->still_ns + k->quiet_ns >= after_ns;
}

static bool
has_company(const struct tso *t, unsigned own)
{
	for (unsigned i = 0; i < t->high; i++)
		if (i != own && tso_word_state(t->slots[i].word) != TSO_FREE)
			return true;
	return false;
}

bool
tso_hangs(struct tso *t, struct net_worker *w, unsigned own)
{
	uint64_t now = net_now_ns(w), after_ns = tso_hangs_after_ns(t, w);
	unsigned n = atomic_load(&t->workers);
	bool any = false;
	for (unsigned i = 0; i < n; i++) {
		const struct tso_worker *tw = atomic_load(&t->worker[i]);
		if (tw != NULL)
			any = hangs(t, &t->watch[i], tw, now, after_ns) || any;
	}
	if (!any || !has_company(t, own))
		return false;
	nam_log(NAM_LOG_WARN,
	    "a commit of this process has not gone on for %llu ms, and the snapshots of all other processes "
	    "wait for it: a worker hangs; another process fences and recovers this one now",
	    (unsigned long long)(after_ns / 1000000));
	return true;
}
