/* snapshot.c -- reads marks, moves the prefix, and pins snapshots. */
#include "tso_internal.h"

#include <base/assert.h>
#include <base/fault.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_PIECE = 2 }; /* marks in the first of two READs, see base/fault.h */

/*
 * Waiting for a prefix: earlier commits are marked within a round trip or two, so the first pauses
 * only yield. base: the time between two commits of a busy process. cap: the prefix may wait
 * seconds for an owner that has ended, until it is recovered.
 */
enum { PREFIX_YIELDS = 64, PREFIX_BASE_NS = 5000, PREFIX_CAP_NS = 2000000, PREFIX_HOLD = 64 };
enum { DOZE_NS = 10000, DOZE_CAP_NS = 250000, DOZE_PARTS = 4, LATE_TRIES = 8 };
enum { LOOK_SLACK_NS = 100, SKIPS_LOOK_NS = 1000 };

void
tso_raise(_Atomic uint64_t *at, uint64_t to)
{
	uint64_t now = atomic_load(at);
	while (now < to && !atomic_compare_exchange_weak(at, &now, to))
		;
}

void
tso_note_met(struct tso *t, uint64_t cid)
{
	pthread_mutex_lock(&t->notes_lock);
	unsigned at = t->notes_n;
	while (at > 0 && t->notes[at - 1] > cid)
		at--;
	bool known = cid <= t->notes_from || (at > 0 && t->notes[at - 1] == cid);
	if (!known && t->notes_n == TSO_NOTES) {
		/* The oldest goes: caches of the catalog are younger as a rule. */
		t->notes_from = at > 0 ? t->notes[0] : cid;
		known = at == 0;
		if (!known)
			memmove(t->notes, t->notes + 1, --t->notes_n * sizeof t->notes[0]);
		at -= !known;
	}
	if (!known) {
		memmove(t->notes + at + 1, t->notes + at, (t->notes_n - at) * sizeof t->notes[0]);
		t->notes[at] = cid;
		t->notes_n++;
	}
	pthread_mutex_unlock(&t->notes_lock);
}

void
tso_notes_unknown(struct tso *t, uint64_t to)
{
	pthread_mutex_lock(&t->notes_lock);
	if (to > t->notes_from)
		t->notes_from = to;
	pthread_mutex_unlock(&t->notes_lock);
}

/* Walks the marks that the READ brought and moves the prefix over those that are set. True: all
 * were set. */
static bool
advance(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	uint64_t cid = tw->base, noted = 0, memory = 0;
	uint8_t lap = tso_lap(cid, t->vector);
	unsigned i = 0;
	for (; i < tw->window; i++, cid++) { /* a window never crosses a lap */
		/* The twin: if the later READ shows a mark, it takes all CIDs before as marked by
		 * then. But the earlier READ did not show them. */
		if (nam_fault(TWO_READS) && i < TWIN_PIECE && tw->window > TWIN_PIECE &&
		    (tw->bytes[TWIN_PIECE] & TSO_LAP_MASK) == lap)
			continue;
		if ((tw->bytes[i] & TSO_LAP_MASK) != lap)
			break;
		if (tw->bytes[i] & TSO_MARK_CATALOG) {
			noted = cid;
			tso_note_met(t, cid);
		}
		if (tw->bytes[i] & TSO_MARK_MEMORY)
			memory = cid;
	}
	tw->stop_at = i < tw->window ? cid : 0;
	tw->stop_byte = i < tw->window ? tw->bytes[i] : 0;
	if (noted)
		tso_raise(&t->noted, noted);
	if (memory)
		tso_raise(&t->noted_memory, memory);
	if (i > 0)
		tso_raise(&t->prefix, cid - 1);
	return i == tw->window;
}

static void snap_post(struct tso_worker *tw);

static void
snap_done(struct net_batch *b)
{
	struct tso_worker *tw = b->tag;
	if (tw->posted_ns != 0 && !tw->posting)
		tso_took(&tw->t->common.read, net_now_ns(tw->w) - tw->posted_ns);
	if (b->status == NAM_OK && advance(tw)) {
		/* There may be more marks behind the window: go on until one is missing. */
		if (tw->window_next < TSO_WINDOW_MAX)
			tw->window_next *= 4;
		tw->again = true;
		if (!tw->posting)
			snap_post(tw);
		return;
	}
	tw->window_next = TSO_WINDOW_MIN;
	atomic_store(&tw->reading, TSO_NONE);
	tw->in_flight = false;
	struct tso_waiter *wt = tw->riding;
	tw->riding = NULL;
	while (wt != NULL) {
		struct tso_waiter *next = wt->next;
		wt->status = b->status;
		wt->done = true;
		nam_co_wake(wt->co);
		wt = next;
	}
}

static void
snap_post(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	do {
		tw->again = false;
		/* Promise first, then choose where to start: see T4 and `seen` in tick.c. */
		if (atomic_load(&tw->reading) == TSO_NONE)
			atomic_store(&tw->reading, atomic_load(&t->prefix));
		tw->base = atomic_load(&t->prefix) + 1;
		uint64_t at = (tw->base & TSO_COUNT_MASK) & (t->vector - 1);
		tw->window = tw->window_next;
		if (tw->window > t->vector - at)
			tw->window = (uint32_t)(t->vector - at);
		net_batch_init(&tw->batch, tw->w, tw->op, 2, tw->riding ? tw->riding->acct : NULL);
		tw->batch.tag = tw;
		unsigned one = nam_fault(TWO_READS) && tw->window > TWIN_PIECE ? TWIN_PIECE : tw->window;
		net_read(&tw->batch, net_plus(t->vector_at, at), tw->bytes, one);
		if (one < tw->window)
			net_read(
			    &tw->batch, net_plus(t->vector_at, at + one), tw->bytes + one, tw->window - one);
		tw->stats.snapshot_reads++;
		tw->posted_ns = tw->stats.snapshot_reads % TSO_SAMPLE == 0 ? net_now_ns(tw->w) : 0;
		tw->posting = true;
		net_post_then(&tw->batch, snap_done);
		tw->posting = false;
	} while (tw->again);
}

static void
on_idle(void *arg)
{
	struct tso_worker *tw = arg;
	tso_turned(tw);
	tso_claims_flush(tw);
	tso_skips_flush(tw);
	if (tw->asking != NULL && !tw->in_flight) {
		tw->riding = tw->asking;
		tw->asking = NULL;
		tw->asking_end = &tw->asking;
		tw->in_flight = true;
		snap_post(tw);
	}
}

/* The waiter lies on its coroutine's stack, and that coroutine stays in tso_refresh until the
 * waiter is off the list. */
static __attribute__((noinline)) void
ask(struct tso_worker *tw, struct tso_waiter *wt)
{
	*tw->asking_end = wt;
	tw->asking_end = &wt->next;
}

nam_status
tso_refresh(struct tso_worker *tw, struct net_counts *acct)
{
	if (acct == NULL)
		acct = net_account(); /* the READ is posted in another coroutine */
	struct tso_waiter wt = { .co = nam_co_self(), .acct = acct };
	ask(tw, &wt);
	if (acct)
		acct->round_trips++;
	while (!wt.done)
		nam_co_park();
	return wt.status;
}

/* ---- pins: a list that rises from head to tail, so that the head is the minimum ---- */

static void
pin_append(struct tso_worker *tw, struct tso_pin *p)
{
	p->next = NULL;
	p->prev = tw->pin_last;
	if (tw->pin_last)
		tw->pin_last->next = p;
	else
		tw->pin_first = p;
	tw->pin_last = p;
}

static void
pin_unlink(struct tso_worker *tw, struct tso_pin *p)
{
	if (p->prev)
		p->prev->next = p->next;
	else
		tw->pin_first = p->next;
	if (p->next)
		p->next->prev = p->prev;
	else
		tw->pin_last = p->prev;
}

static void
pin_publish(struct tso_worker *tw)
{
	uint64_t now = tw->pin_first ? tw->pin_first->at : TSO_NONE;
	if (atomic_load_explicit(&tw->oldest, memory_order_relaxed) != now)
		atomic_store(&tw->oldest, now);
}

/*
 * Another worker of this process has READ marks just now, or is about to: what it finds moves the
 * prefix of all. So beside an RNIC the workers that wait for a prefix READ in turn, two in the time
 * of a READ: else their READs fill home's RNIC. True: this one has slept, and may look at the
 * prefix.
 */
static bool
others_look(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	uint64_t gap = atomic_load_explicit(&t->common.read, memory_order_relaxed) / 2;
	if (!t->common.rnic || gap == 0)
		return false;
	uint64_t now = net_now_ns(tw->w), last = atomic_load(&t->polled_ns);
	if (now - last < gap) {
		net_sleep(tw->w, gap - (now - last) + LOOK_SLACK_NS);
		return true;
	}
	return !atomic_compare_exchange_strong(&t->polled_ns, &last, now);
}

/*
 * Of the CIDs that are waited for, the first that is not marked may not have been given out: then
 * no process works on it. If no process asks its lane meanwhile, this one brings the lanes forward.
 */
static nam_status
bring_lanes(struct tso_worker *tw, tso_cid cid, tso_cid first, uint64_t *lags)
{
	struct tso *t = tw->t;
	uint64_t low, top;
	if (t->lanes.n == 1 || tso_lanes_above(t, first))
		return NAM_OK;
	nam_status st = tso_lanes_look(tw, &low, &top, NULL);
	if (st != NAM_OK || low != first) {
		*lags = 0;
		return st;
	}
	if (*lags != first && tso_lanes_are_busy(t)) {
		*lags = first;
		return NAM_OK;
	}
	*lags = 0;
	return tso_lanes_bring(tw, cid, NULL);
}

void
tso_marks_late(struct tso *t, uint64_t ns)
{
	if (atomic_load_explicit(&t->late_ns, memory_order_relaxed) != ns)
		atomic_store_explicit(&t->late_ns, ns, memory_order_relaxed);
}

void
tso_marks_come(struct tso_worker *tw)
{
	/* A waiter that counts itself only now has yet to look. */
	if (atomic_load(&tw->t->dozers) != 0)
		net_ring_here(net_worker_net(tw->w));
}

/*
 * The pause of a snapshot that waits for late marks: a yield would bring no mark nearer, and each
 * takes a round of the worker's loop. Its process rings when its marks have come; other processes
 * do not.
 */
static void
doze(struct tso_worker *tw, uint64_t late, uint64_t bells)
{
	uint64_t most = late / DOZE_PARTS;
	most = most < DOZE_NS ? DOZE_NS : most > DOZE_CAP_NS ? DOZE_CAP_NS : most;
	net_sleep_lazily(tw->w, DOZE_NS, most, bells);
}

static nam_status
wait_counted(struct tso_worker *tw, tso_cid cid, const struct tso_timeout *p)
{
	struct tso_still still = { 0 };
	struct net_backoff pause = { .yields = PREFIX_YIELDS,
		.base_ns = PREFIX_BASE_NS,
		.cap_ns = PREFIX_CAP_NS,
		.hold = PREFIX_HOLD };
	uint64_t lags = 0;
	for (unsigned tries = 0; atomic_load(&tw->t->prefix) < cid; tries++) {
		nam_status st;
		uint64_t late = atomic_load_explicit(&tw->t->late_ns, memory_order_relaxed);
		uint64_t bells = net_bells(tw->w);
		if (others_look(tw)) {
			if ((st = tso_timeout_left(tw->w, p)) != NAM_OK)
				return st;
			continue;
		}
		st = tso_refresh(tw, NULL);
		if (st != NAM_OK)
			return st;
		uint64_t now = atomic_load(&tw->t->prefix);
		if (now >= cid)
			break;
		st = tso_timeout_left(tw->w, p);
		if (st == NAM_OK)
			st = bring_lanes(tw, cid, now + 1, &lags);
		if (st == NAM_OK && tries >= (late != 0 ? LATE_TRIES : PREFIX_YIELDS))
			st = tso_stands_still(tw, &still, now, false);
		if (st != NAM_OK)
			return st;
		if (late != 0 && tries != 0)
			doze(tw, late, bells);
		else
			net_back_off(tw->w, &pause);
	}
	return NAM_OK;
}

static nam_status
wait_for(struct tso_worker *tw, tso_cid cid, const struct tso_timeout *p)
{
	if (atomic_load(&tw->t->prefix) >= cid)
		return NAM_OK;
	atomic_fetch_add(&tw->t->dozers, 1);
	nam_status st = wait_counted(tw, cid, p);
	atomic_fetch_sub(&tw->t->dozers, 1);
	return st;
}

nam_status
tso_pin_now(struct tso_worker *tw, struct tso_pin *pin)
{
	struct tso *t = tw->t;
	pin->at = atomic_load(&t->prefix);
	pin_append(tw, pin);
	pin_publish(tw);
	if (atomic_load(&t->idle) == IDLE_NO)
		return NAM_OK;
	nam_status st = tso_wake(tw);
	/* Others have gone on without this process: the pin is now where it begins. It is our own
	 * until it is published higher. */
	pin_unlink(tw, pin);
	pin->at = atomic_load(&t->prefix);
	pin_append(tw, pin);
	pin_publish(tw);
	return st;
}

nam_status
tso_pin_at(struct tso_worker *tw, struct tso_pin *pin, tso_cid at)
{
	nam_status st = tso_pin_now(tw, pin);
	pin_unlink(tw, pin);
	struct tso_pin *next = tw->pin_first;
	while (next != NULL && next->at <= at)
		next = next->next;
	pin->at = at;
	pin->next = next;
	pin->prev = next != NULL ? next->prev : tw->pin_last;
	if (pin->prev != NULL)
		pin->prev->next = pin;
	else
		tw->pin_first = pin;
	if (next != NULL)
		next->prev = pin;
	else
		tw->pin_last = pin;
	pin_publish(tw);
	return st;
}

/* An idle process READs no marks (T9), so it is pinned meanwhile. */
nam_status
tso_wait_for_by(struct tso_worker *tw, tso_cid cid, const struct tso_timeout *p)
{
	struct tso_pin pin;
	if (atomic_load(&tw->t->prefix) >= cid)
		return NAM_OK;
	nam_status st = tso_pin_now(tw, &pin);
	if (st == NAM_OK)
		st = wait_for(tw, cid, p);
	tso_unpin(tw, &pin);
	return st;
}

nam_status
tso_wait_for(struct tso_worker *tw, tso_cid cid)
{
	return tso_wait_for_by(tw, cid, NULL);
}

nam_status
tso_snapshot(struct tso_worker *tw, struct tso_pin *pin, struct net_counts *acct)
{
	return tso_snapshot_by(tw, pin, NULL, acct);
}

nam_status
tso_snapshot_by(
    struct tso_worker *tw, struct tso_pin *pin, const struct tso_timeout *p, struct net_counts *acct)
{
	struct tso *t = tw->t;
	tw->stats.snapshots++;
	/* A placeholder at or below the snapshot to come goes first: a tick that publishes `oldest`
	 * after this sees it; a tick that did so before had read a prefix that our snapshot will
	 * cover (T3). */
	nam_status st = tso_pin_now(tw, pin);
	/* Under the paper's scheme a snapshot may be older than the answered commits: else one slow
	 * client would stop all. */
	uint64_t need = t->scheme == TSO_CLAIM ? atomic_load(&t->answered) : 0;
	if (st == NAM_OK)
		st = tso_refresh(tw, acct);
	if (st == NAM_OK && atomic_load(&t->prefix) < need && !nam_fault(OWN_OVER_OLD))
		st = tso_wait_for_by(tw, need, p);
	pin_unlink(tw, pin);
	if (st == NAM_OK) {
		pin->at = atomic_load(&t->prefix);
		if (nam_fault(OWN_OVER_OLD) && pin->at < need)
			pin->at = need;
		pin_append(tw, pin);
	}
	pin_publish(tw);
	return st;
}

void
tso_unpin(struct tso_worker *tw, struct tso_pin *pin)
{
	pin_unlink(tw, pin);
	pin_publish(tw);
}

void
tso_hold(struct tso_worker *tw, struct tso_pin *pin, struct tso_pin *hold)
{
	*hold = *pin;
	if (hold->prev)
		hold->prev->next = hold;
	else
		tw->pin_first = hold;
	if (hold->next)
		hold->next->prev = hold;
	else
		tw->pin_last = hold;
}

tso_cid
tso_noted(const struct tso *t)
{
	return atomic_load(&t->noted);
}

int
tso_notes(struct tso *t, tso_cid from, tso_cid to, tso_cid *out, unsigned max)
{
	int n = 0;
	pthread_mutex_lock(&t->notes_lock);
	if (from < t->notes_from || to > atomic_load(&t->prefix))
		n = -1;
	for (unsigned i = 0; n >= 0 && i < t->notes_n; i++) {
		if (t->notes[i] <= from || t->notes[i] > to)
			continue;
		if ((unsigned)n == max)
			n = -1;
		else
			out[n++] = t->notes[i];
	}
	pthread_mutex_unlock(&t->notes_lock);
	return n;
}

tso_cid
tso_noted_memory(const struct tso *t)
{
	return atomic_load(&t->noted_memory);
}

tso_cid
tso_prefix(const struct tso *t)
{
	return atomic_load(&t->prefix);
}

tso_cid
tso_watermark(const struct tso *t)
{
	return atomic_load(&t->watermark);
}

void
tso_answered(struct tso *t, tso_cid cid)
{
	tso_raise(&t->answered, cid);
}

tso_cid
tso_last_answered(const struct tso *t)
{
	return atomic_load(&t->answered);
}

/* ---- workers ---- */

nam_status
tso_worker_open(struct tso *t, struct net_worker *w, struct tso_worker **out)
{
	struct tso_worker *tw = aligned_alloc(64, (sizeof *tw + 63) / 64 * 64);
	if (tw == NULL)
		return NAM_NOMEM;
	*tw = (struct tso_worker){
		.t = t, .w = w, .window_next = TSO_WINDOW_MIN, .skip_low = TSO_NONE, .even_low = TSO_NONE
	};
	tw->bytes = malloc(TSO_WINDOW_MAX);
	unsigned place = TSO_WORKERS;
	atomic_init(&tw->oldest, TSO_NONE);
	atomic_init(&tw->open, TSO_NONE);
	atomic_init(&tw->reading, TSO_NONE);
	atomic_init(&tw->doubtful, TSO_NONE);
	tw->asking_end = &tw->asking;
	tw->claim_asking_end = &tw->claim_asking;
	nam_status st = tw->bytes ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK && t->scheme == TSO_PREASSIGNED) {
		uint64_t client;
		st = net_faa1(
		    w, net_plus(t->anchor, offsetof(struct tso_anchor, client_next)), 1, &client, NULL);
		if (st == NAM_OK && client >= t->clients)
			st = NAM_FULL;
		tw->own_next = (UINT64_C(1) << TSO_COUNT_BITS) + 1 + client;
	}
	for (unsigned i = 0; st == NAM_OK && i < TSO_WORKERS; i++) {
		struct tso_worker *none = NULL;
		if (atomic_compare_exchange_strong(&t->worker[i], &none, tw)) {
			place = i;
			break;
		}
	}
	if (st == NAM_OK && place == TSO_WORKERS)
		st = NAM_FULL;
	if (st != NAM_OK) {
		free(tw->bytes);
		free(tw);
		return st;
	}
	unsigned n = atomic_load(&t->workers);
	while (n < place + 1 && !atomic_compare_exchange_weak(&t->workers, &n, place + 1))
		;
	net_worker_on_idle(w, on_idle, tw);
	*out = tw;
	return NAM_OK;
}

void
tso_worker_close(struct tso_worker *tw)
{
	NAM_ASSERT(tw->pin_first == NULL || atomic_load(&tw->t->abandoned));
	NAM_ASSERT(tw->claim_first == NULL || atomic_load(&tw->t->abandoned));
	NAM_ASSERT(!tw->in_flight);
	while (atomic_load(&tw->t->common.telling) != 0)
		sched_yield();
	while (tw->skips_out != 0 && nam_co_self() != NULL)
		net_sleep(tw->w, SKIPS_LOOK_NS);
	NAM_ASSERT(tw->skips_out == 0);
	/* Those that are not posted are holes now. */
	tw->skips = 0;
	tw->skip_low = TSO_NONE;
	tso_open_publish(tw);
	net_worker_off_idle(tw->w, on_idle, tw);
	/* The ticking thread may be reading its promises: they stay, without effect, until
	 * tso_close. */
	free(tw->bytes);
	tw->bytes = NULL;
}
