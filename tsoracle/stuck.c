/*
 * stuck.c -- how long a coroutine waits for other processes, and the message when that is too long.
 *
 * All waiting here is for numbers that only rise (the prefix, the least `seen`). They stall while a
 * process has stopped: for a lease, and until it is recovered. If it cannot be recovered (a storage
 * node does not answer, and so cannot fence it) they stall for ever. So a wait without a time-out
 * of its own ends when the number has stalled for STUCK_NS; sooner if the recoverer has reported
 * that it has tried for a while, or if a wait for the same number has ended so before.
 */
#include "tso_internal.h"

#include <base/log.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* longer than a hang may last (hang.c), plus a lease and a recovery */
#define STUCK_NS       UINT64_C(30000000000)
#define UNRECOVERED_NS UINT64_C(3000000000)
#define AGAIN_NS       UINT64_C(1000000000)

static pthread_mutex_t why_lock = PTHREAD_MUTEX_INITIALIZER;

nam_status
tso_timeout_left(struct net_worker *w, const struct tso_timeout *p)
{
	if (p == NULL)
		return NAM_OK;
	if (p->cancel != NULL && atomic_load_explicit(p->cancel, memory_order_relaxed) != 0)
		return NAM_CANCELLED;
	return p->until_ns != 0 && net_now_ns(w) >= p->until_ns ? NAM_EXPIRED : NAM_OK;
}

void
tso_unrecovered(struct tso *t, unsigned slot, unsigned epoch, const char *why)
{
	uint32_t was = atomic_exchange(&t->unrecovered[slot], why != NULL ? epoch : 0);
	if (why != NULL) {
		pthread_mutex_lock(&why_lock);
		snprintf(t->why, sizeof t->why, "%s", why);
		pthread_mutex_unlock(&why_lock);
	}
	if (was == 0 && why != NULL)
		atomic_fetch_add(&t->unrecovered_any, 1);
	else if (was != 0 && why == NULL)
		atomic_fetch_sub(&t->unrecovered_any, 1);
}

bool
tso_is_unrecovered(const struct tso *t, unsigned slot, unsigned epoch)
{
	return atomic_load_explicit(&t->unrecovered_any, memory_order_relaxed) != 0 && epoch != 0 &&
	       atomic_load(&t->unrecovered[slot]) == epoch;
}

static void
say(struct tso_worker *tw, unsigned slot, bool known)
{
	char why[sizeof tw->t->why] = "";
	if (known) {
		pthread_mutex_lock(&why_lock);
		memcpy(why, tw->t->why, sizeof why);
		pthread_mutex_unlock(&why_lock);
	}
	snprintf(tw->stuck, sizeof tw->stuck, "The compute process in owner slot %u has stopped%s%s.", slot,
	    known ? " and cannot be fenced: " : "", why);
}

nam_status
tso_stuck_on(struct tso_worker *tw, unsigned slot, unsigned epoch)
{
	say(tw, slot, tso_is_unrecovered(tw->t, slot, epoch));
	return NAM_STUCK;
}

void
tso_stuck_text(struct tso_worker *tw, char *out, size_t max)
{
	snprintf(out, max, "%s", tw->stuck);
	tw->stuck[0] = 0;
}

/* Finds the slot with the least promise: it delays all others. */
static void
find_out(struct tso_worker *tw, bool seen)
{
	struct tso *t = tw->t;
	unsigned n = atomic_load(&t->high);
	struct tso_owner_slot *slots = malloc((n + 1) * sizeof *slots);
	uint64_t least = UINT64_MAX;
	unsigned who = n;
	snprintf(tw->stuck, sizeof tw->stuck, "A compute process has stopped in the middle of a commit.");
	if (slots == NULL ||
	    net_read1(tw->w, t->owners, slots, (uint32_t)(n * sizeof *slots), NULL) != NAM_OK) {
		free(slots);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct tso_promises *p = &slots[i].promises;
		unsigned state = tso_word_state(slots[i].word);
		uint64_t promise = seen ? p->seen : p->open;
		if (state == TSO_FREE || state == TSO_IDLE || p->epoch != tso_word_epoch(slots[i].word) ||
		    p->check != tso_promises_check(p, i) || promise >= least)
			continue;
		least = promise;
		who = i;
	}
	if (who < n)
		say(tw, who, tso_is_unrecovered(t, who, tso_word_epoch(slots[who].word)));
	free(slots);
}

nam_status
tso_stands_still(struct tso_worker *tw, struct tso_still *k, uint64_t now_at, bool seen)
{
	struct tso *t = tw->t;
	_Atomic uint64_t *stuck = seen ? &t->stuck_seen : &t->stuck_at;
	uint64_t now = net_now_ns(tw->w);
	if (k->since_ns == 0 || k->at != now_at) {
		*k = (struct tso_still){ .at = now_at, .since_ns = now };
		return NAM_OK;
	}
	bool before = atomic_load(stuck) == now_at + 1;
	uint64_t most = before ? AGAIN_NS : atomic_load(&t->unrecovered_any) != 0 ? UNRECOVERED_NS : STUCK_NS;
	if (now - k->since_ns < most)
		return NAM_OK;
	find_out(tw, seen);
	/* One line for all waits for the same number. */
	if (atomic_exchange(stuck, now_at + 1) != now_at + 1)
		nam_log(NAM_LOG_WARN,
		    "%s for %.0f s: transactions end with an error until that is mended. %s",
		    seen ? "no commit can begin" : "no newer snapshot", (double)most / 1e9, tw->stuck);
	return NAM_STUCK;
}
