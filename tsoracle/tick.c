/*
 * tick.c -- the heartbeat of a compute process: publish promises, READ those of all slots, draw
 * conclusions.
 *
 * The order matters. A promise is computed from a number read BEFORE the workers' pins are looked
 * at; a worker pins BEFORE it reads the number it will use. So either tick sees the pin, or the
 * worker's number is not below the one the promise was made from. The same argument serves all
 * three promises.
 */
#include "tso_internal.h"

#include <base/fault.h>
#include <base/log.h>

#include <string.h>

enum {
	IDLE_LEASES = 10, /* an idle owner that is silent for so long loses its slot */
	HOLES_PER_TICK = 64,
	HINT_EVERY = 256,
	LOOKS_OF_A_LEASE = 4, /* one look counts for no more than a lease divided by this, ... */
	SLOW_LOOKS = 16,      /* ... or by this, if the round that looked was slow itself */
	SEALED_LOOKS = 3,
	LOOK_NS_A_SLOT = 64, /* see look_is_due */
	LOOKS_IN_A_LEASE = 8,
};

static uint64_t
lowest(const struct tso *t, size_t field, uint64_t start)
{
	unsigned n = atomic_load(&t->workers);
	for (unsigned i = 0; i < n; i++) {
		const struct tso_worker *tw = atomic_load(&t->worker[i]);
		if (tw == NULL)
			continue;
		uint64_t v = atomic_load((const _Atomic uint64_t *)(const void *)((const char *)tw + field));
		if (v < start)
			start = v;
	}
	return start;
}

static bool
counts(uint64_t word)
{
	return tso_word_state(word) == TSO_ACTIVE || tso_word_state(word) == TSO_SEALED;
}

static void
lower(struct tso_promises *min, const struct tso_promises *p)
{
	min->oldest = p->oldest < min->oldest ? p->oldest : min->oldest;
	min->open = p->open < min->open ? p->open : min->open;
	min->seen = p->seen < min->seen ? p->seen : min->seen;
}

/* Judges one slot as READ. False: it counts, and its promises are not known yet. */
static bool
judge(
    struct tso *t, struct net_worker *w, unsigned i, const struct tso_owner_slot *s, struct tso_promises *min)
{
	struct tso_seen *k = &t->seen[i];
	uint64_t now = net_now_ns(w), passed = now - k->look_ns;
	/* Time that this process did not watch does not count: after a pause of its own all others
	 * seem to have stalled. And if its own beats take long, so do theirs: the machine is busy,
	 * or the path to the home node. */
	bool slow = now - t->round_began > t->lease_ns / SLOW_LOOKS;
	uint64_t most = t->lease_ns / (slow ? SLOW_LOOKS : LOOKS_OF_A_LEASE);
	if (passed > most)
		passed = most;
	k->look_ns = now;
	k->still_ns += passed;
	if (k->word != s->word) {
		if (tso_word_epoch(k->word) != tso_word_epoch(s->word))
			k->known = false;
		k->word = s->word;
		k->still_ns = k->sealed_looks = k->lives_ns = 0;
	}
	if (tso_word_state(s->word) == TSO_FREE)
		return true;
	const struct tso_promises *p = &s->promises;
	if (p->epoch == tso_word_epoch(s->word) && p->check == tso_promises_check(p, i)) {
		if (!k->known || p->beat != k->beat)
			k->still_ns = 0;
		k->beat = p->beat;
		/* Promises only rise (T2): a line seen earlier stays true. */
		if (!k->known || p->oldest > k->last.oldest)
			k->last.oldest = p->oldest;
		if (!k->known || p->open > k->last.open)
			k->last.open = p->open;
		if (!k->known || p->seen > k->last.seen)
			k->last.seen = p->seen;
		k->known = true;
	}
	if (!counts(s->word))
		return true;
	if (k->known)
		lower(min, &k->last);
	return k->known;
}

/* Under look_lock, or in the coroutine that writes it. */
static bool
lapsed_idle(const struct tso *t, struct net_worker *w, unsigned i)
{
	const struct tso_seen *k = &t->seen[i];
	return i != tso_home_slot(atomic_load(&t->home)) && tso_word_state(k->word) == TSO_IDLE &&
	       (k->still_ns >= IDLE_LEASES * t->lease_ns ||
		   net_heard_of(w, tso_word_identity(k->word)) != NET_UNHEARD);
}

/* Frees the slot of an idle owner that has been silent for so long: it held nothing, so there is
 * nothing to recover. */
static nam_status
lapse(struct tso *t, struct net_worker *w, unsigned i)
{
	struct tso_seen *k = &t->seen[i];
	if (!lapsed_idle(t, w, i))
		return NAM_OK;
	uint64_t seen, word = k->word;
	nam_status st = net_cas1(w, net_plus(t->owners, i * sizeof(struct tso_owner_slot)), word,
	    tso_word(TSO_FREE, tso_word_epoch(word), 0), &seen, NULL);
	if (st == NAM_OK && seen == word)
		atomic_fetch_add(&t->n_seals, 1);
	pthread_mutex_lock(&t->look_lock);
	k->still_ns = 0;
	pthread_mutex_unlock(&t->look_lock);
	return st;
}

/*
 * Sealed slots name a recoverer. If no slot has that identity, the recoverer was itself recovered,
 * or has left. A recoverer is never idle, so it does not change slots; and the READ that misses it
 * began after one that showed its seal, because only looks after the first count.
 */
static void
watch_sealed(struct tso *t)
{
	for (unsigned i = 0; i < t->high; i++) {
		struct tso_seen *k = &t->seen[i];
		if (tso_word_state(k->word) != TSO_SEALED)
			continue;
		uint64_t by = tso_word_identity(k->word);
		bool there = by == t->identity;
		for (unsigned o = 0; o < t->high && !there; o++) {
			unsigned state = tso_word_state(t->slots[o].word);
			there = (state == TSO_ACTIVE || state == TSO_IDLE) &&
				tso_word_identity(t->slots[o].word) == by;
		}
		k->sealed_looks = there ? 0 : k->sealed_looks + 1;
	}
}

bool
tso_lapsed(struct tso *t, struct net_worker *w, unsigned i, struct tso_lapse *out)
{
	struct tso_seen *k = &t->seen[i];
	if (i == tso_owner(t) || i >= atomic_load(&t->high))
		return false;
	pthread_mutex_lock(&t->look_lock);
	uint64_t word = k->word, still_ns = k->still_ns, looks = k->sealed_looks, lives_ns = k->lives_ns;
	pthread_mutex_unlock(&t->look_lock);
	unsigned state = tso_word_state(word);
	uint64_t who = tso_word_identity(word);
	*out = (struct tso_lapse){
		.slot = i, .epoch = tso_word_epoch(word), .word = word, .still_ns = still_ns
	};
	/* The question whether it lives takes time as well: a lease and a fifth in all. */
	if (state == TSO_ACTIVE)
		out->heard = net_heard_of(w, who);
	/* That it has no connection is a hint; its own answer that it lives counts more. */
	if (out->heard == NET_LEFT && lives_ns != 0 && net_now_ns(w) - lives_ns < t->lease_ns / 2)
		out->heard = NET_UNHEARD;
	return (state == TSO_ACTIVE && (out->heard != NET_UNHEARD || still_ns >= t->lease_ns / 10 * 9)) ||
	       (state == TSO_SEALED &&
		   (who == t->identity || looks >= SEALED_LOOKS || nam_fault(TWO_RECOVERERS)));
}

/* True if any worker has a pin, an open claim, a READ of marks under way or a mark in doubt. */
static bool
anything_open(const struct tso *t)
{
	return lowest(t, offsetof(struct tso_worker, oldest), TSO_NONE) != TSO_NONE ||
	       lowest(t, offsetof(struct tso_worker, open), TSO_NONE) != TSO_NONE ||
	       lowest(t, offsetof(struct tso_worker, reading), TSO_NONE) != TSO_NONE ||
	       lowest(t, offsetof(struct tso_worker, doubtful), TSO_NONE) != TSO_NONE;
}

static nam_status
maybe_idle(struct tso *t, struct net_worker *w)
{
	uint64_t now = net_now_ns(w), home = atomic_load(&t->home);
	if (anything_open(t) || t->quiet_since == 0)
		t->quiet_since = now;
	if (now - t->quiet_since < t->idle_after_ns)
		return NAM_OK;
	int is = IDLE_NO;
	if (!atomic_compare_exchange_strong(&t->idle, &is, IDLE_GOING))
		return NAM_OK;
	/* A worker pins first and then looks at `idle`; the tick sets `idle` first and then looks
	 * at pins. */
	if (anything_open(t)) {
		atomic_store(&t->idle, IDLE_NO);
		return NAM_OK;
	}
	uint64_t seen;
	unsigned epoch = tso_home_epoch(home);
	nam_status st = net_cas1(w, net_plus(t->owners, tso_home_slot(home) * sizeof(struct tso_owner_slot)),
	    tso_word(TSO_ACTIVE, epoch, t->identity), tso_word(TSO_IDLE, epoch, t->identity), &seen, NULL);
	/* In doubt: the next tick that reaches home READs the result (end_doubt). A worker that
	 * wakes waits for that. */
	if (st != NAM_GONE)
		atomic_store(&t->idle, st == NAM_OK ? IDLE_YES : IDLE_NO);
	return st;
}

/* The CAS of maybe_idle was posted over a connection that broke. The word, READ over the new one,
 * tells whether it was done. */
static nam_status
end_doubt(struct tso *t, struct net_worker *w)
{
	uint64_t word;
	if (atomic_load(&t->idle) != IDLE_GOING)
		return NAM_OK;
	nam_status st = net_read1(
	    w, net_plus(t->owners, tso_owner(t) * sizeof(struct tso_owner_slot)), &word, sizeof word, NULL);
	if (st == NAM_OK)
		atomic_store(
		    &t->idle, word == tso_word(TSO_ACTIVE, tso_epoch(t), t->identity) ? IDLE_NO : IDLE_YES);
	return st;
}

/* Marks CIDs without an owner: claimed by a process that is gone and held nothing else. */
static nam_status
fill_holes(struct tso_worker *tw, uint64_t below)
{
	struct tso *t = tw->t;
	nam_status st = NAM_OK;
	for (unsigned n = 0; st == NAM_OK && n < HOLES_PER_TICK; n++) {
		uint64_t hole = atomic_load(&t->prefix) + 1;
		if (hole >= below)
			break;
		/* T4: a process may still READ or mark the lap before there. */
		if ((hole & TSO_COUNT_MASK) > t->vector && hole - t->vector > atomic_load(&t->min_seen))
			break;
		/* The prefix may be older than the promises: a CID that was marked between the two
		 * looks like a hole, and marking it again would erase its note. READ again, after
		 * the promises. */
		st = tso_refresh(tw, NULL);
		if (st != NAM_OK || atomic_load(&t->prefix) + 1 != hole)
			continue;
		/* Of an older lap, or none: else others have gone on without this process, and it
		 * is this one that is wrong. */
		uint8_t was = tw->stop_byte & TSO_LAP_MASK;
		uint64_t count = hole & TSO_COUNT_MASK;
		if (!nam_fault(IDLE_MARKS) &&
		    (tw->stop_at != hole ||
			was != (count > t->vector ? tso_lap(hole - t->vector, t->vector) : 0)))
			break;
		uint8_t mark = tso_lap(hole, t->vector);
		st = net_write1(tw->w, net_plus(t->vector_at, count & (t->vector - 1)), &mark, 1, NULL);
		if (st == NAM_GONE)
			tso_doubt(tw, hole);
		atomic_fetch_add(&t->n_holes, 1);
		if (st == NAM_OK)
			st = tso_refresh(tw, NULL);
	}
	return st;
}

/* One round of the heart. */
struct round {
	struct tso *t;
	struct net_worker *w;
	int state; /* enum of t->idle, when the round began */
	bool active;
	uint64_t home;
	unsigned slot, high;
	uint64_t counter; /* the least CID that no lane had given out */
	uint64_t top;     /* the highest that one had */
	uint64_t joined;
	struct tso_promises mine, min;
	bool ours;  /* t->mine belongs to this slot */
	bool own;   /* the slot is still ours */
	bool known; /* all slots' promises were whole */
	unsigned actives, silent;
};

/* The promises that this process makes now. prefix, r->counter and r->joined were read before: the
 * numbers first, then the pins. */
static struct tso_promises
promise(const struct round *r, uint64_t prefix)
{
	struct tso *t = r->t;
	struct tso_promises p = { .beat = atomic_load(&t->beat) + 1, .epoch = tso_home_epoch(r->home) };
	if (r->active) {
		p.oldest = lowest(t, offsetof(struct tso_worker, oldest), prefix);
		p.open = lowest(t, offsetof(struct tso_worker, open), r->counter);
		p.seen = lowest(t, offsetof(struct tso_worker, doubtful),
		    lowest(t, offsetof(struct tso_worker, reading), prefix));
		/* A worker that woke the process raises its pin before it uses it. */
		p.oldest = p.oldest > r->joined ? p.oldest : r->joined;
		p.seen = p.seen > r->joined ? p.seen : r->joined;
	} else if (r->state == IDLE_YES) {
		/* A worker that wakes the process looks at `idle` and then READs the published
		 * numbers: no less than the round before READ. And its claims come after that
		 * round's counter. */
		p.oldest = p.seen = t->published;
		p.open = t->before_counter;
	}
	/* Earlier promises still hold (T2), even if this round's estimate is lower. */
	if (r->ours) {
		p.oldest = p.oldest > t->mine.oldest ? p.oldest : t->mine.oldest;
		p.open = p.open > t->mine.open ? p.open : t->mine.open;
		p.seen = p.seen > t->mine.seen ? p.seen : t->mine.seen;
	}
	p.check = tso_promises_check(&p, r->slot);
	return p;
}

/* WRITEs our promises and READs all slots, in this order. */
static nam_status
exchange(struct round *r, struct net_batch *b, uint64_t prefix)
{
	struct tso *t = r->t;
	struct tso_owner_slot *slots = t->slots;
	r->ours = t->mine_home == r->home;
	r->mine = promise(r, prefix);
	/* A slot just taken gets its first line from the process that took it; a slot that was lost
	 * has another owner. */
	if ((r->active || r->ours) && !atomic_load(&t->homeless)) {
		t->mine = r->mine;
		t->mine_home = r->home;
		net_write(b,
		    net_plus(t->owners, r->slot * sizeof *slots + offsetof(struct tso_owner_slot, promises)),
		    &r->mine, sizeof r->mine);
	}
	net_read(b, t->owners, slots, (uint32_t)(r->high * sizeof *slots));
	nam_status st = net_run(b);
	if (st != NAM_OK)
		return st;
	atomic_store(&t->landed_ns, net_now_ns(r->w));
	atomic_store(&t->heart, r->w);
	if (t->scheme == TSO_CLAIM && tso_hangs(t, r->w, r->slot)) {
		tso_abandon(t);
		return NAM_GONE;
	}
	return NAM_OK;
}

/*
 * Each process READs all slots: with many processes the home node would do nothing else. So a look
 * is due at most so often that all processes together READ 2 GB/s of slots: 128 bytes of each of
 * `high` slots, by as many processes. Up to 176 slots that is every beat. Leases need a few looks
 * however many slots there are.
 */
static bool
look_is_due(const struct round *r)
{
	const struct tso *t = r->t;
	uint64_t every = (uint64_t)LOOK_NS_A_SLOT * r->high * r->high;
	if (every > t->lease_ns / LOOKS_IN_A_LEASE)
		every = t->lease_ns / LOOKS_IN_A_LEASE;
	return t->looked_ns == 0 || t->round_began - t->looked_ns >= every;
}

/* Lost while idle: tso_wake will see it as well, and take another slot. */
static void
miss_home(struct round *r)
{
	struct tso *t = r->t;
	if (!r->own && atomic_load(&t->idle) == IDLE_YES && atomic_load(&t->home) == r->home)
		atomic_store(&t->homeless, true);
}

/* A beat without a look: WRITEs our promises, and READs our own word. What the look before
 * concluded still holds. */
static nam_status
only_beat(struct round *r, struct net_batch *b, uint64_t prefix)
{
	struct tso *t = r->t;
	r->ours = t->mine_home == r->home;
	r->mine = promise(r, prefix);
	if ((!r->active && !r->ours) || atomic_load(&t->homeless))
		return NAM_OK;
	t->mine = r->mine;
	t->mine_home = r->home;
	net_write(b,
	    net_plus(t->owners,
		r->slot * sizeof(struct tso_owner_slot) + offsetof(struct tso_owner_slot, promises)),
	    &r->mine, sizeof r->mine);
	uint64_t word;
	net_read(b, net_plus(t->owners, r->slot * sizeof(struct tso_owner_slot)), &word, sizeof word);
	nam_status st = net_run(b);
	if (st != NAM_OK)
		return st;
	atomic_store(&t->landed_ns, net_now_ns(r->w));
	atomic_store(&t->heart, r->w);
	atomic_store(&t->beat, r->mine.beat);
	r->own =
	    r->active || (tso_word_epoch(word) == r->mine.epoch && tso_word_identity(word) == t->identity);
	miss_home(r);
	return NAM_OK;
}

/* Judges the slots that the round READ. */
static void
judge_all(struct round *r)
{
	struct tso *t = r->t;
	const struct tso_owner_slot *slots = t->slots;
	uint64_t word = r->slot < r->high ? slots[r->slot].word : 0;
	r->min = (struct tso_promises){ .oldest = TSO_NONE, .open = TSO_NONE, .seen = TSO_NONE };
	r->known = true;
	r->own =
	    r->active || (tso_word_epoch(word) == r->mine.epoch && tso_word_identity(word) == t->identity);
	pthread_mutex_lock(&t->look_lock);
	for (unsigned i = 0; i < r->high; i++) {
		bool mine = r->own && i == r->slot, in = (mine && r->active) || counts(slots[i].word);
		r->actives += in;
		if (!mine)
			r->known = judge(t, r->w, i, &slots[i], &r->min) && r->known;
		else if (in)
			lower(&r->min, &r->mine);
		r->silent += lapsed_idle(t, r->w, i);
	}
	watch_sealed(t);
	pthread_mutex_unlock(&t->look_lock);
}

/*
 * A slot may have been taken, or woken, after this round READ it, and its owner may have READ all
 * promises before this round READ the last of them: then our minimum can be above the snapshot with
 * which the owner begins. So conclusions are drawn from the lines that the round before READ in
 * full: a process that took a slot after that READ promises no lower than those; one that took it
 * earlier is among the slots of this round. Such a bound must exist: an idle process whose round
 * before found no active owner concludes nothing. An active process has its own promise, which it
 * had WRITTEN before it READ the slots. True if r->min and r->counter are such a bound.
 */
static bool
bound(struct round *r)
{
	struct tso *t = r->t;
	struct tso_promises now = r->min;
	uint64_t counter_now = r->counter;
	bool all = r->known && t->before_known && (r->active || t->before_active > 0);
	if (t->before_known) {
		lower(&r->min, &t->before);
		r->counter = t->before_counter;
	}
	t->before = now;
	t->before_counter = counter_now;
	t->before_known = r->known;
	t->before_active = r->actives;
	return all;
}

static nam_status
lapse_all(struct round *r)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < r->high; i++)
		st = lapse(r->t, r->w, i);
	return st;
}

/* An idle process: silent idle slots are to be freed, and if no process is active, this one wakes
 * for it. */
static nam_status
free_silent(struct round *r, struct tso_worker *tw)
{
	struct tso_pin pin;
	if (r->silent == 0 || r->actives > 0)
		return NAM_OK;
	nam_status st = tso_pin_now(tw, &pin);
	if (st == NAM_OK)
		st = lapse_all(r);
	tso_unpin(tw, &pin);
	return st;
}

/*
 * The prefix stands before a CID that no process has asked for, and others above it were given
 * out: a lane lags behind. If that has not changed since the round before, all lanes are brought
 * forward, so that in a cluster that comes to rest the prefix covers all that was committed.
 */
static nam_status
even(struct tso_worker *tw, const struct round *r)
{
	struct tso *t = tw->t;
	bool lags = r->top > r->counter && atomic_load(&t->prefix) + 1 == r->counter;
	uint64_t before = t->lane_low;
	t->lane_low = lags ? r->counter : 0;
	return lags && before == r->counter ? tso_lanes_bring(tw, r->top, NULL) : NAM_OK;
}

nam_status
tso_tick(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	struct net_worker *w = tw->w;
	struct net_op op[2];
	struct net_batch b;
	struct tso_anchor a;
	uint64_t words[TSO_LANES * TSO_LANE_BYTES / sizeof(uint64_t)];
	nam_status st = NAM_OK;

	t->round_began = net_now_ns(w);
	/*
	 * Only this coroutine makes the process idle. So if it is active now, it is active to the
	 * end of the round, and the round's WRITEs will be fenced before the slot gets another
	 * owner. If it is idle now, a worker may wake it at any moment: then the round is that of
	 * an idle process to its end.
	 */
	if ((st = end_doubt(t, w)) != NAM_OK)
		return st;
	struct round r = { .t = t, .w = w, .state = atomic_load(&t->idle) };
	r.active = r.state == IDLE_NO;
	r.home = atomic_load(&t->home);
	r.slot = tso_home_slot(r.home);
	bool marks = r.active || nam_fault(IDLE_MARKS);
	if (r.active && !t->was_active)
		t->quiet_since = t->round_began;
	t->was_active = r.active;
	if (marks)
		st = tso_refresh(tw, NULL);
	/* The prefix that the round before found published is marked. If the vector does not show
	 * it, its places have been used again. */
	if (st == NAM_OK && r.active && t->published > atomic_load(&t->prefix) && !nam_fault(WAKE_UNREAD) &&
	    !nam_fault(IDLE_MARKS))
		tso_catch_up(tw, t->published);
	if (st != NAM_OK)
		return st;
	net_batch_init(&b, w, op, 2, NULL);
	net_read(&b, t->anchor, &a, sizeof a);
	if (t->lanes.n > 1)
		tso_lanes_post(&b, t, words);
	st = net_run(&b);
	if (st != NAM_OK)
		return st;
	if (atomic_load(&t->abandoned))
		return NAM_GONE;
	if (a.high <= t->slots_max)
		atomic_store(&t->high, (unsigned)a.high);
	r.high = atomic_load(&t->high);
	uint64_t prefix = atomic_load(&t->prefix);
	r.counter = a.counter;
	r.top = a.counter - 1;
	if (t->lanes.n > 1)
		tso_lanes_learn(t, w, words, &r.counter, &r.top);
	r.joined = atomic_load(&t->joined_at);
	if (!look_is_due(&r))
		return only_beat(&r, &b, prefix);
	t->looked_ns = t->round_began;
	atomic_store(&t->counters[(atomic_load(&t->looks) + 1) % 64], r.top + 1);
	if ((st = exchange(&r, &b, prefix)) != NAM_OK)
		return st;
	judge_all(&r);
	atomic_store(&t->beat, r.mine.beat);
	uint64_t look = atomic_fetch_add(&t->looks, 1) + 1;
	t->published = tso_published(&a, t->slots, r.high);
	miss_home(&r);
	bool all = bound(&r);
	if (all && r.min.oldest != TSO_NONE) {
		tso_raise(&t->watermark, r.min.oldest);
		tso_raise(&t->min_seen, r.min.seen);
	}
	if (!marks)
		return free_silent(&r, tw);
	if (r.active)
		st = lapse_all(&r);
	if (st == NAM_OK && all && t->scheme == TSO_CLAIM)
		st = fill_holes(tw, r.min.open < r.counter && !nam_fault(NO_OPEN) ? r.min.open : r.counter);
	if (st == NAM_OK && r.active)
		st = even(tw, &r);
	if (st == NAM_OK && r.active && look % HINT_EVERY == 0)
		st = tso_hint_raise(w, t, atomic_load(&t->prefix));
	if (st == NAM_OK && r.active)
		st = maybe_idle(t, w);
	return st;
}

uint64_t
tso_stamp(const struct tso *t)
{
	return atomic_load(&t->looks);
}

/* A look that began after the stamp READ a counter above every snapshot taken before the stamp:
 * they have all ended when the watermark has reached it, so when a later commit has ended. */
bool
tso_passed(const struct tso *t, uint64_t stamp)
{
	return atomic_load(&t->looks) >= stamp + 2 &&
	       tso_bound_passed(t, atomic_load(&t->counters[(stamp + 2) % 64]));
}

nam_status
tso_bound(struct tso *t, struct net_worker *w, uint64_t *stamp)
{
	struct tso_anchor a;
	uint64_t words[TSO_LANES * TSO_LANE_BYTES / sizeof(uint64_t)];
	struct net_op op[2];
	struct net_batch b;
	net_batch_init(&b, w, op, 2, NULL);
	net_read(&b, t->anchor, &a, sizeof a);
	if (t->lanes.n > 1)
		tso_lanes_post(&b, t, words);
	nam_status st = net_run(&b);
	if (st == NAM_OK)
		*stamp = t->lanes.n > 1 ? tso_lanes_top(t, words) + 1 : a.counter;
	return st;
}

bool
tso_bound_passed(const struct tso *t, uint64_t stamp)
{
	/* CIDs dealt out beforehand do not move the counter: then it proves nothing. */
	return t->scheme == TSO_CLAIM && atomic_load(&t->watermark) >= stamp;
}
