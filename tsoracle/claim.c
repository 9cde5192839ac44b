/* claim.c -- hands out CIDs, several with one FETCH_ADD, and marks them when their verbs have
 * executed. */
#include "tso_internal.h"

#include <base/assert.h>
#include <base/fault.h>

enum {
	WRAP_LOOK_NS = 50000
}; /* until others' `seen` lets the vector wrap: they publish it once a tick, of 2 ms */

/* Publishes the lowest CID this worker holds or may get (the `open` promise of its process). */
void
tso_open_publish(struct tso_worker *tw)
{
	uint64_t low = tw->claim_first ? tw->claim_first->cid : TSO_NONE;
	if (tw->unmarked != 0 && tw->unmarked < low)
		low = tw->unmarked;
	for (unsigned i = 0; i < TSO_FLIGHTS; i++)
		if (tw->flight[i].busy && tw->flight[i].low < low)
			low = tw->flight[i].low;
	low = tw->skip_low < low ? tw->skip_low : low;
	low = tw->even_low < low ? tw->even_low : low;
	if (atomic_load_explicit(&tw->open, memory_order_relaxed) != low)
		atomic_store(&tw->open, low);
}

/* Puts the claim into its place by CID: completions of two flights may come in any order, though
 * rarely do. */
static void
claim_append(struct tso_worker *tw, struct tso_claim *c)
{
	struct tso_claim *after = tw->claim_last;
	while (after != NULL && after->cid > c->cid)
		after = after->prev;
	c->prev = after;
	c->next = after ? after->next : tw->claim_first;
	if (c->next)
		c->next->prev = c;
	else
		tw->claim_last = c;
	if (after)
		after->next = c;
	else
		tw->claim_first = c;
}

static void
claim_unlink(struct tso_worker *tw, struct tso_claim *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		tw->claim_first = c->next;
	if (c->next)
		c->next->prev = c->prev;
	else
		tw->claim_last = c->prev;
}

/* Takes the claim off the list. lost: this process will not mark it any more, so it stays promised
 * until a recoverer does. */
static void
claim_remove(struct tso_worker *tw, struct tso_claim *c, bool lost)
{
	if (lost && (tw->unmarked == 0 || c->cid < tw->unmarked))
		tw->unmarked = c->cid;
	claim_unlink(tw, c);
	tso_open_publish(tw);
}

static void
claim_ready(struct tso_claim *c, nam_status st)
{
	c->status = st;
	c->ready = true;
	if (c->waiter)
		nam_co_wake(c->waiter);
}

/* Gives the flight's claims their CIDs. */
static void
flight_end(struct tso_flight *f, nam_status st, uint64_t cid)
{
	struct tso_worker *tw = f->owner;
	struct tso_claim *c = f->first;
	unsigned n = tw->t->lanes.n;
	f->busy = false;
	/* Waking only makes coroutines ready: none runs before this function is done. */
	for (unsigned i = 0; i < f->n; i++) {
		struct tso_claim *next = c->next;
		if (st == NAM_OK) {
			c->cid = cid;
			cid += n;
			claim_append(tw, c);
		}
		claim_ready(c, st);
		c = next;
	}
	if (st == NAM_OK)
		tso_raise(&tw->t->lanes.next[cid & (n - 1)], cid);
	tso_open_publish(tw);
}

/*
 * A common FETCH_ADD. One for each commit makes the counter hot when many processes commit: some
 * millions a second, whatever the network. If a FETCH_ADD takes half as long again as a READ of the
 * same node, the workers of a process take turns: one is out at a time, for all that asked before
 * it was posted. If that does not suffice, because there are so many processes, the first that asks
 * waits for others, so long that a FETCH_ADD takes no longer than that: then claims wait in their
 * process, where they gather, and not at the word. The wait begins with the first of them, not
 * with the FETCH_ADD before: clients that got their CIDs together ask again at nearly one time, and
 * stay together. Only where an RNIC executes atomics: over tcp a thread
 * that has no turn makes any verb slow, and on mapped memory the word is a cache line.
 *
 * Each worker has published its promise before it asks (`low`), so whose thread posts makes no
 * difference to others. A thread that is held up with a common FETCH_ADD holds up its process, as
 * with any claim that it does not use; the heart sees it (hang.c).
 */
enum { COMMON_WORKERS = 3, PAUSE_STEP_NS = 100, PAUSE_PART = 16, PAUSE_CAP_NS = 50000 };

static bool
is_hot(const struct tso *t)
{
	uint64_t faa = atomic_load_explicit(&t->common.faa, memory_order_relaxed);
	uint64_t read = atomic_load_explicit(&t->common.read, memory_order_relaxed);
	if (atomic_load_explicit(&t->common.always, memory_order_relaxed))
		return true;
	if (!t->common.rnic)
		return false;
	if (atomic_load_explicit(&t->common.pause, memory_order_relaxed) != 0)
		return true;
	return faa > read + read / 2 && read != 0 &&
	       atomic_load_explicit(&t->workers, memory_order_relaxed) >= COMMON_WORKERS;
}

static void
faa_post(struct tso_worker *tw, struct tso_flight *f, void (*done)(struct net_batch *b))
{
	bool timed = f == &tw->common || tw->stats.claim_faas % TSO_SAMPLE == 0;
	struct tso *t = tw->t;
	f->posted_ns = timed ? net_now_ns(tw->w) : 0;
	net_batch_init(&f->batch, tw->w, f->op, 3, f->first->acct);
	f->batch.tag = f;
	tso_lane_choose(tw, f->floor, f->sure, f->n, &f->choice);
	f->faa = net_faa(&f->batch, tso_lane_at(t, f->choice.lane), f->n * (uint64_t)t->lanes.n);
	if (f->choice.to != 0)
		f->cas = net_cas(&f->batch, tso_lane_at(t, f->choice.lags), f->choice.from, f->choice.to);
	f->look = t->lanes.n > 1 && (f->look || !tso_lanes_are_known(t, tw->w));
	if (f->look)
		tso_lanes_post(&f->batch, t, f->words);
	tw->stats.claim_faas++;
	tw->claim_posting = true;
	net_post_then(&f->batch, done);
	tw->claim_posting = false;
}

static void
faa_took(const struct tso_flight *f)
{
	struct tso_worker *tw = f->owner;
	if (f->posted_ns != 0 && !tw->claim_posting)
		tso_took(&tw->t->common.faa, net_now_ns(tw->w) - f->posted_ns);
}

/* What went beside the FETCH_ADD. If a verb failed, home is gone, and the CIDs have no owner. */
static void
beside(struct tso_flight *f, const struct net_batch *b)
{
	struct tso_worker *tw = f->owner;
	uint64_t low, top;
	if (b->status != NAM_OK)
		return;
	if (f->choice.to != 0)
		tso_lane_brought(tw, f->choice.lags, f->choice.from, f->choice.to, f->cas->seen);
	if (f->look)
		tso_lanes_learn(tw->t, tw->w, f->words, &low, &top);
}

static void
flight_done(struct net_batch *b)
{
	struct tso_flight *f = b->tag;
	faa_took(f);
	beside(f, b);
	flight_end(f, b->status, f->faa->seen);
}

/* True if a flight of this worker waits for a common FETCH_ADD, posted or not. */
static bool
rides(const struct tso_worker *tw)
{
	for (unsigned i = 0; i < TSO_FLIGHTS; i++)
		if (tw->flight[i].rides && !atomic_load(&tw->flight[i].landed))
			return true;
	return false;
}

/* Nothing is out: a worker that waits is to post the next. One that came while this thread had
 * `busy` did not post: so the look at the riders comes after. Under `telling`. */
static void
hand_on(struct tso_common *k)
{
	atomic_store(&k->busy, false);
	const struct tso_flight *f = atomic_load(&k->riders);
	if (f != NULL)
		net_worker_tell(f->owner->w);
}

/* A common FETCH_ADD has ended: how long is the next one to gather? Under `busy`. */
static void
pace(struct tso_worker *tw, const struct tso_flight *all)
{
	struct tso_common *k = &tw->t->common;
	uint64_t now = net_now_ns(tw->w), took = now - all->posted_ns;
	uint64_t read = atomic_load_explicit(&k->read, memory_order_relaxed);
	uint64_t pause = atomic_load_explicit(&k->pause, memory_order_relaxed);
	if (tw->claim_posting || read == 0)
		return;
	tso_took(&k->faa, took);
	uint64_t step = PAUSE_STEP_NS + pause / PAUSE_PART;
	if (took > read + read / 2)
		pause = pause + step < PAUSE_CAP_NS ? pause + step : PAUSE_CAP_NS;
	else
		pause = pause > step ? pause - step : 0;
	atomic_store_explicit(&k->pause, pause, memory_order_relaxed);
}

static void
common_done(struct net_batch *b)
{
	struct tso_flight *all = b->tag;
	struct tso_worker *tw = all->owner;
	struct tso_common *k = &tw->t->common;
	uint64_t cid = all->faa->seen;
	pace(tw, all);
	beside(all, b);
	/* A worker that sees its flight landed may close: it waits until it has been told. */
	atomic_fetch_add(&k->telling, 1);
	for (struct tso_flight *f = tw->common_first, *next; f != NULL; f = next) {
		struct tso_worker *owner = f->owner;
		next = f->next;
		f->status = b->status;
		f->cid = cid;
		cid += f->n * (uint64_t)tw->t->lanes.n;
		atomic_store(&f->landed, true); /* the owner's again */
		net_worker_tell(owner->w);
	}
	hand_on(k);
	atomic_fetch_sub(&k->telling, 1);
}

/* ns until a common FETCH_ADD may be posted. */
static uint64_t
paused(struct tso_worker *tw)
{
	uint64_t next = atomic_load_explicit(&tw->t->common.next, memory_order_relaxed);
	uint64_t now = next != 0 ? net_now_ns(tw->w) : 0;
	return next > now && next - now <= PAUSE_CAP_NS ? next - now : 0; /* clocks may jump */
}

static void
wake_riders(struct tso_worker *tw)
{
	for (unsigned i = 0; i < TSO_FLIGHTS; i++)
		if (tw->flight[i].rides && tw->flight[i].first->waiter != NULL)
			nam_co_wake(tw->flight[i].first->waiter);
}

/* A worker posts only what it waits for itself: so its thread stays in its loop until then. */
static void
common_go(struct tso_worker *tw)
{
	struct tso_common *k = &tw->t->common;
	struct tso_flight *all = &tw->common;
	if (!rides(tw) || atomic_load(&k->busy)) /* its poster hands on */
		return;
	if (paused(tw) != 0) {
		wake_riders(tw); /* they sleep until then: claim_wait */
		return;
	}
	if (atomic_exchange(&k->busy, true))
		return;
	if (!rides(tw)) { /* it landed meanwhile */
		atomic_fetch_add(&k->telling, 1);
		hand_on(k);
		atomic_fetch_sub(&k->telling, 1);
		return;
	}
	tw->common_first = atomic_exchange(&k->riders, NULL);
	all->n = 0;
	all->floor = 0;
	all->sure = all->look = false;
	all->words = tw->words[TSO_FLIGHTS];
	for (struct tso_flight *f = tw->common_first; f != NULL; f = f->next) {
		all->n += f->n;
		all->floor = f->floor > all->floor ? f->floor : all->floor;
		all->sure |= f->sure;
		all->look |= f->look;
		if (f->owner == tw) /* one is; the counters of others belong to their threads */
			all->first = f->first;
	}
	all->owner = tw;
	faa_post(tw, all, common_done);
}

static void
ride(struct tso_worker *tw, struct tso_flight *f)
{
	struct tso_common *k = &tw->t->common;
	f->rides = true;
	f->next = atomic_load(&k->riders);
	while (!atomic_compare_exchange_weak(&k->riders, &f->next, f))
		;
	/* The first one begins to gather. */
	uint64_t pause = atomic_load_explicit(&k->pause, memory_order_relaxed);
	if (f->next == NULL && pause != 0)
		atomic_store_explicit(&k->next, net_now_ns(tw->w) + pause, memory_order_relaxed);
	common_go(tw);
}

void
tso_share_claims(struct tso *t)
{
	atomic_store(&t->common.always, true);
}

void
tso_claims_flush(struct tso_worker *tw)
{
	for (unsigned i = 0; i < TSO_FLIGHTS; i++) {
		struct tso_flight *f = &tw->flight[i];
		if (f->rides && atomic_load(&f->landed)) {
			f->rides = false;
			atomic_store(&f->landed, false);
			flight_end(f, f->status, f->cid);
		}
	}
	common_go(tw); /* of what earlier calls left */
	if (tw->claim_asking == NULL)
		return;
	struct tso_flight *f = &tw->flight[tw->flight_at];
	if (f->busy)
		return;
	f->words = tw->words[tw->flight_at];
	tw->flight_at = (tw->flight_at + 1) % TSO_FLIGHTS;
	f->first = tw->claim_asking;
	tw->claim_asking = NULL;
	tw->claim_asking_end = &tw->claim_asking;
	f->n = 0;
	f->floor = 0;
	f->sure = f->look = false;
	for (struct tso_claim *c = f->first; c != NULL; c = c->next) {
		f->n++;
		f->floor = c->floor > f->floor ? c->floor : f->floor;
		f->sure |= c->sure;
		f->look |= c->ordered;
	}
	/* Promise first: the FETCH_ADD returns no CID below this. */
	f->low = tso_lanes_low(tw->t);
	f->busy = true;
	f->owner = tw;
	tso_open_publish(tw);
	if (is_hot(tw->t))
		ride(tw, f);
	else
		faa_post(tw, f, flight_done);
}

/* The baseline: CIDs were dealt out beforehand; this worker's are every clients-th. Those it skips
 * are marked. */
static void
claim_preassigned(struct tso_worker *tw, struct tso_claim *c)
{
	struct tso *t = tw->t;
	struct net_op op[32];
	struct net_batch b;
	uint8_t mark[32];
	net_batch_init(&b, tw->w, op, 32, c->acct);
	while (tw->own_next <= c->floor) {
		uint64_t skip = tw->own_next;
		mark[b.n] = tso_lap(skip, t->vector);
		net_write(&b, net_plus(t->vector_at, skip & TSO_COUNT_MASK & (t->vector - 1)), &mark[b.n], 1);
		tw->own_next += t->clients;
		if (b.n == 32)
			net_run(&b);
	}
	if (b.n > 0)
		net_run(&b);
	c->cid = tw->own_next;
	tw->own_next += t->clients;
	claim_append(tw, c);
	tso_open_publish(tw);
	claim_ready(c, NAM_OK);
}

static void
claim_ask(struct tso_worker *tw, struct tso_claim *c)
{
	c->next = NULL;
	*tw->claim_asking_end = c;
	tw->claim_asking_end = &c->next;
}

static void
claim_start(struct tso_worker *tw, struct tso_claim *c, tso_cid floor, bool ordered, struct net_counts *acct)
{
	NAM_ASSERT(atomic_load(&tw->t->idle) == IDLE_NO); /* there is a pin */
	c->cid = 0;
	c->ready = false;
	c->waiter = NULL;
	c->sure = false;
	c->ordered = ordered;
	c->floor = nam_fault(FLOOR_UNKEPT) ? 0 : floor;
	c->acct = acct != NULL ? acct : net_account(); /* the operation is posted in another
						        * coroutine */
	c->done = NULL;
	tw->stats.claims++;
	if (tw->t->scheme == TSO_PREASSIGNED) {
		claim_preassigned(tw, c);
		return;
	}
	claim_ask(tw, c);
}

void
tso_claim_start(struct tso_worker *tw, struct tso_claim *c, tso_cid floor, struct net_counts *acct)
{
	claim_start(tw, c, floor, false, acct);
}

void
tso_claim_start_ordered(struct tso_worker *tw, struct tso_claim *c, tso_cid floor, struct net_counts *acct)
{
	claim_start(tw, c, floor, true, acct);
}

/* Waits until the FETCH_ADD has brought a CID, or has failed. */
static nam_status
await(struct tso_worker *tw, struct tso_claim *c)
{
	struct tso *t = tw->t;
	c->waiter = nam_co_self();
	while (!c->ready) {
		uint64_t ns = rides(tw) && !atomic_load(&t->common.busy) ? paused(tw) : 0;
		if (ns != 0)
			net_sleep(tw->w, ns + PAUSE_STEP_NS); /* not less, by whatever clock */
		common_go(tw); /* before it parks: no other thread need come by */
		if (!c->ready && ns == 0)
			nam_co_park();
	}
	c->waiter = NULL;
	return c->status;
}

/*
 * T11: the lane asked had not passed the floor yet, though this process thought so. The next claim
 * asks one that is known to have passed it: the floor's own, if no other. The first CID is marked
 * as one that is not used.
 */
static nam_status
above_floor(struct tso_worker *tw, struct tso_claim *c)
{
	struct tso_claim more = { .floor = c->floor, .ordered = c->ordered, .sure = true, .acct = c->acct };
	tw->stats.missed++;
	claim_ask(tw, &more);
	nam_status st = await(tw, &more);
	if (st == NAM_OK && more.cid <= c->floor) {
		tso_skip(tw, more.cid);
		claim_remove(tw, &more, false);
		st = NAM_CORRUPT; /* no lane has given out that floor */
	}
	tso_skip(tw, c->cid);
	if (st != NAM_OK) {
		claim_remove(tw, c, false);
		return c->status = st;
	}
	claim_unlink(tw, c);
	c->cid = more.cid;
	claim_append(tw, c);
	claim_remove(tw, &more, false);
	return NAM_OK;
}

/* No lane may still give out a CID below this one: a lane that lags behind is brought forward. */
static nam_status
order(struct tso_worker *tw, struct tso_claim *c)
{
	nam_status st = NAM_OK;
	while (st == NAM_OK && !tso_lanes_above(tw->t, c->cid) && !nam_fault(SERIAL_UNORDERED))
		st = tso_lanes_bring(tw, c->cid, c->acct);
	if (st != NAM_OK) {
		tso_skip(tw, c->cid);
		claim_remove(tw, c, false);
	}
	return c->status = st;
}

static nam_status
claim_wait(struct tso_worker *tw, struct tso_claim *c, bool ends, const struct tso_timeout *p)
{
	struct tso *t = tw->t;
	struct tso_still still = { 0 };
	struct net_backoff pause = { .base_ns = WRAP_LOOK_NS, .cap_ns = WRAP_LOOK_NS };
	ends = ends && t->scheme == TSO_CLAIM; /* CIDs dealt out beforehand never become holes */
	nam_status got = await(tw, c);
	if (got == NAM_OK && t->lanes.n > 1 && c->cid <= c->floor)
		got = above_floor(tw, c);
	if (got != NAM_OK)
		return got;
	/* T4: the entry may be used when no process READs or marks the lap before any more. */
	while ((c->cid & TSO_COUNT_MASK) > t->vector && c->cid - t->vector > atomic_load(&t->min_seen) &&
	       !nam_fault(WRAP_UNSEEN)) {
		/* This process does not hear of others' promises any more. The caller may free c
		 * when this returns. */
		if (atomic_load(&t->abandoned)) {
			claim_remove(tw, c, true);
			return c->status = NAM_GONE;
		}
		nam_status st = ends ? tso_timeout_left(tw->w, p) : NAM_OK;
		if (st == NAM_OK && ends)
			st = tso_stands_still(tw, &still, atomic_load(&t->min_seen), true);
		/* No version is written with it: from here on it is below our `open`, so a hole,
		 * and marked as T4 allows. */
		if (st != NAM_OK) {
			claim_remove(tw, c, false);
			return c->status = st;
		}
		tw->stats.wrap_waits++;
		net_back_off(tw->w, &pause);
	}
	return c->ordered && t->lanes.n > 1 ? order(tw, c) : NAM_OK;
}

nam_status
tso_claim_wait(struct tso_worker *tw, struct tso_claim *c)
{
	return claim_wait(tw, c, false, NULL);
}

nam_status
tso_claim_wait_by(struct tso_worker *tw, struct tso_claim *c, const struct tso_timeout *p)
{
	return claim_wait(tw, c, true, p);
}

/*
 * Marks in doubt. A mark whose connection broke has been made, or will be, or not. So its CID stays
 * a claim (no process takes it for a hole, which would have no note), and the `seen` promise of
 * this process stays below it: the place is not used again (T4). When a new connection is granted,
 * no verb of the old one executes any more. Then, if a prefix covers the CID, the mark had been
 * made; if none does, no `seen` of ours does either, so it can be made again. A CID that was
 * claimed by a FETCH_ADD in doubt has no owner and becomes a hole: no verb of it was posted.
 */
void
tso_doubt(struct tso_worker *tw, tso_cid cid)
{
	if (cid - 1 < atomic_load(&tw->doubtful))
		atomic_store(&tw->doubtful, cid - 1);
}

bool
tso_in_doubt(const struct tso_worker *tw)
{
	return tw->marks_lost != NULL ||
	       atomic_load_explicit(&tw->doubtful, memory_order_relaxed) != TSO_NONE;
}

void
tso_on_home_lost(struct tso_worker *tw, void (*fn)(void *arg), void *arg)
{
	tw->home_lost = fn;
	tw->home_lost_arg = arg;
}

static void
mark_ended(struct tso_worker *tw, struct tso_claim *c, nam_status st)
{
	/* As a hole it would lose its note. The recoverer marks it. */
	if (st != NAM_OK)
		tso_abandon(tw->t);
	c->op.status = (uint16_t)st;
	claim_remove(tw, c, st != NAM_OK);
	if (c->done)
		c->done(c->done_arg);
}

static void
mark_done(struct net_batch *b)
{
	struct tso_claim *c = b->tag;
	struct tso_worker *tw = c->tw;
	if (b->status != NAM_GONE || tw->home_lost == NULL || atomic_load(&tw->t->abandoned)) {
		mark_ended(tw, c, b->status);
		return;
	}
	tso_doubt(tw, c->cid);
	c->again = tw->marks_lost;
	tw->marks_lost = c;
	tw->home_lost(tw->home_lost_arg);
}

static void
mark_post(struct tso_worker *tw, struct tso_claim *c, void (*done)(struct net_batch *b))
{
	struct tso *t = tw->t;
	net_batch_init(&c->batch, tw->w, &c->op, 1, c->acct);
	c->batch.tag = c;
	struct net_op *op = net_write(
	    &c->batch, net_plus(t->vector_at, c->cid & TSO_COUNT_MASK & (t->vector - 1)), &c->byte, 1);
	op->flags = NET_INLINE;
	net_post_then(&c->batch, done);
}

/* No mark is in doubt any more. */
static void
certain(struct tso_worker *tw)
{
	if (tw->marks_lost == NULL && tw->marks_again == 0)
		atomic_store(&tw->doubtful, TSO_NONE);
}

static void
mark_done_again(struct net_batch *b)
{
	struct tso_claim *c = b->tag;
	struct tso_worker *tw = c->tw;
	tw->marks_again--;
	if (b->status == NAM_OK)
		certain(tw);
	mark_done(b);
}

void
tso_home_again(struct tso_worker *tw, nam_status st)
{
	struct tso *t = tw->t;
	struct tso_claim *c = tw->marks_lost, *next;
	tw->marks_lost = NULL;
	for (; c != NULL; c = next) {
		next = c->again;
		if (st != NAM_OK || atomic_load(&t->prefix) >= c->cid) {
			mark_ended(tw, c, st);
			continue;
		}
		tw->marks_again++;
		tw->stats.marks_again++;
		mark_post(tw, c, mark_done_again);
	}
	if (st == NAM_OK)
		certain(tw);
}

void
tso_mark(struct tso_worker *tw, struct tso_claim *c, unsigned note, void (*done)(void *), void *arg)
{
	struct tso *t = tw->t;
	tw->stats.marks++;
	c->tw = tw;
	c->done = done;
	c->done_arg = arg;
	c->byte = tso_mark_byte(c->cid, t->vector, note);
	mark_post(tw, c, mark_done);
}

struct mark_wait {
	struct nam_co *co;
	bool done;
};

static void
mark_waited(void *arg)
{
	struct mark_wait *m = arg;
	m->done = true;
	nam_co_wake(m->co);
}

void
tso_mark_wait(struct tso_worker *tw, struct tso_claim *c, unsigned note)
{
	struct mark_wait m = { .co = nam_co_self() };
	tso_mark(tw, c, note, mark_waited, &m);
	while (!m.done)
		nam_co_park();
}
