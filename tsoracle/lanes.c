/*
 * lanes.c -- several words that give out CIDs: which one to ask, and how one that lags behind is
 * brought forward.
 *
 * Lane k gives out the CIDs that are k modulo K, in rising order. Between lanes there is no order:
 * a claim may be less than one that another process made before. What has to be true nevertheless
 * is kept here and in claim.c (README, "Lanes").
 *
 * A prefix needs all lanes. So a FETCH_ADD goes to the lane that lags most, as far as this process
 * knows: by its own claims, by its prefix, and by a READ of all lanes, which goes with a FETCH_ADD
 * when the last one is LOOK_NS old. Processes that know the same would all ask one lane; so lanes
 * that are no further apart than they move in SLACK_NS count as equal, and each process begins its
 * round at another one. A process alone asks 0, 1, 2, ...
 *
 * A claim that has a floor asks the lane that lags most of those that seem to be above it, else the
 * floor's own lane. Then a lane below the floor is not asked any more, and would part from the
 * others: so if it seems not to move at all, a CAS goes with the FETCH_ADD that brings it up to the
 * others, from the word that this process knows. If the CAS fails, the lane has moved.
 */
#include "tso_internal.h"

#include <base/assert.h>
#include <base/fault.h>

enum {
	LOOK_NS = 20000,
	SLACK_NS = 2000,
	AGE_NS_MAX = 200000, /* what was known longer ago says nothing about now */
	RATE_SHIFT = 20,     /* rates are CIDs in 2^20 ns */
};

void
tso_lanes_init(struct tso *t, const struct tso_anchor *a)
{
	struct tso_lanes *l = &t->lanes;
	l->n = (unsigned)a->lanes;
	l->at =
	    l->n == 1 ? net_plus(t->anchor, offsetof(struct tso_anchor, counter)) : (net_addr){ a->lanes_at };
	atomic_store(&l->turn, (unsigned)t->identity);
}

net_addr
tso_lane_at(const struct tso *t, unsigned k)
{
	return net_plus(t->lanes.at, k * (uint64_t)TSO_LANE_BYTES);
}

void
tso_lanes_passed(struct tso *t, uint64_t from)
{
	struct tso_lanes *l = &t->lanes;
	for (unsigned k = 0; k < l->n; k++)
		tso_raise(&l->next[k], tso_lane_cid(l->n, k, from));
}

/* Lane k gives out no CID below this: T10, and what was READ of it. */
static uint64_t
known(const struct tso *t, unsigned k, uint64_t prefix)
{
	uint64_t next = atomic_load(&t->lanes.next[k]), by = tso_lane_cid(t->lanes.n, k, prefix + 1);
	return next > by ? next : by;
}

uint64_t
tso_lanes_low(const struct tso *t)
{
	uint64_t prefix = atomic_load(&t->prefix), low = known(t, 0, prefix);
	for (unsigned k = 1; k < t->lanes.n; k++) {
		uint64_t next = known(t, k, prefix);
		low = next < low ? next : low;
	}
	return low;
}

bool
tso_lanes_above(const struct tso *t, uint64_t cid)
{
	return tso_lanes_low(t) > cid;
}

/* How far the lanes have gone on in so many ns, at the rate of late. */
static uint64_t
moved(const struct tso_lanes *l, uint64_t ns)
{
	uint64_t rate = atomic_load_explicit(&l->rate, memory_order_relaxed);
	return (rate * (ns < AGE_NS_MAX ? ns : AGE_NS_MAX)) >> RATE_SHIFT;
}

bool
tso_lanes_are_busy(const struct tso *t)
{
	return moved(&t->lanes, SLACK_NS) >= t->lanes.n;
}

void
tso_lane_choose(struct tso_worker *tw, uint64_t floor, bool sure, unsigned n, struct tso_choice *out)
{
	struct tso *t = tw->t;
	struct tso_lanes *l = &t->lanes;
	uint64_t prefix = atomic_load(&t->prefix), is[TSO_LANES], at[TSO_LANES] = { 0 }, low = TSO_NONE,
		 top = floor;
	*out = (struct tso_choice){ .lane = 0 };
	if (l->n == 1)
		return;
	uint64_t age = net_now_ns(tw->w) - atomic_load_explicit(&l->look_ns, memory_order_relaxed);
	uint64_t on = moved(l, age), slack = moved(l, SLACK_NS);
	unsigned lags = 0, mask = l->n - 1;
	for (unsigned k = 0; k < l->n; k++) {
		uint64_t plan = atomic_load_explicit(&l->planned[k], memory_order_relaxed);
		is[k] = known(t, k, prefix);
		at[k] = plan > is[k] ? plan : is[k];
		lags = at[k] < at[lags] ? k : lags;
		top = is[k] > top ? is[k] : top;
		if (!sure && at[k] + on / 4 * 3 > floor && at[k] < low)
			low = at[k];
	}
	unsigned lane = (unsigned)floor & mask; /* has passed it, if no other is known to have */
	unsigned turn = atomic_fetch_add_explicit(&l->turn, 1, memory_order_relaxed);
	for (unsigned i = 0; low != TSO_NONE && i < l->n; i++) {
		unsigned k = (turn + i) & mask;
		if (at[k] >= low && at[k] - low <= slack) {
			lane = k;
			break;
		}
	}
	out->lane = lane;
	atomic_store_explicit(&l->planned[lane], at[lane] + n * (uint64_t)l->n, memory_order_relaxed);
	if (lags != lane && at[lags] == is[lags] && at[lags] + 2 * on + slack <= floor) {
		out->lags = lags;
		out->from = is[lags];
		out->to = tso_lane_cid(l->n, lags, top);
		atomic_store_explicit(&l->planned[lags], out->to, memory_order_relaxed);
	}
}

/* ---- looking ---- */

void
tso_lanes_post(struct net_batch *b, const struct tso *t, uint64_t *words)
{
	net_read(b, t->lanes.at, words, t->lanes.n * TSO_LANE_BYTES);
}

static uint64_t
word_of(const uint64_t *words, unsigned k)
{
	return words[k * (TSO_LANE_BYTES / sizeof *words)];
}

void
tso_lanes_learn(struct tso *t, struct net_worker *w, const uint64_t *words, uint64_t *low, uint64_t *top)
{
	struct tso_lanes *l = &t->lanes;
	uint64_t now = net_now_ns(w), level = 0;
	*low = TSO_NONE;
	*top = 0;
	for (unsigned k = 0; k < l->n; k++) {
		uint64_t next = word_of(words, k);
		tso_raise(&l->next[k], next);
		*low = next < *low ? next : *low;
		*top = next > *top ? next : *top;
		level += next;
		/* What was planned beyond it has landed, or is on its way. */
		atomic_store_explicit(&l->planned[k], next, memory_order_relaxed);
	}
	level /= l->n;
	*top -= l->n;
	uint64_t was_ns = atomic_load_explicit(&l->look_ns, memory_order_relaxed);
	uint64_t was = atomic_load_explicit(&l->level, memory_order_relaxed);
	if (was_ns != 0 && now - was_ns < LOOK_NS / 4)
		return; /* too soon for a rate */
	uint64_t rate = level > was && now > was_ns && was_ns != 0 && level - was < UINT64_C(1) << 40
			    ? ((level - was) << RATE_SHIFT) / (now - was_ns)
			    : 0;
	atomic_store_explicit(&l->rate, rate, memory_order_relaxed);
	atomic_store_explicit(&l->level, level, memory_order_relaxed);
	atomic_store_explicit(&l->look_ns, now, memory_order_relaxed);
}

uint64_t
tso_lanes_top(const struct tso *t, const uint64_t *words)
{
	uint64_t top = 0;
	for (unsigned k = 0; k < t->lanes.n; k++)
		top = word_of(words, k) > top ? word_of(words, k) : top;
	return top - t->lanes.n;
}

bool
tso_lanes_are_known(const struct tso *t, struct net_worker *w)
{
	const struct tso_lanes *l = &t->lanes;
	return l->n == 1 || net_now_ns(w) - atomic_load_explicit(&l->look_ns, memory_order_relaxed) < LOOK_NS;
}

nam_status
tso_lanes_look(struct tso_worker *tw, uint64_t *low, uint64_t *top, struct net_counts *acct)
{
	uint64_t words[TSO_LANES * TSO_LANE_BYTES / sizeof(uint64_t)];
	struct net_op op;
	struct net_batch b;
	net_batch_init(&b, tw->w, &op, 1, acct);
	tso_lanes_post(&b, tw->t, words);
	nam_status st = net_run(&b);
	if (st == NAM_OK)
		tso_lanes_learn(tw->t, tw->w, words, low, top);
	return st;
}

nam_status
tso_claimed_by_all(struct tso_worker *tw, tso_cid *floor)
{
	uint64_t low;
	*floor = 0;
	return tw->t->lanes.n == 1 ? NAM_OK : tso_lanes_look(tw, &low, floor, NULL);
}

/* ---- bringing lanes forward ---- */

/*
 * A CAS from the word READ to one above `to` gives this worker all CIDs between. No transaction
 * uses them, so they are marked at once. Its promise (`even_low`) stands before the CAS, like that
 * of a FETCH_ADD. If the process dies in between they are CIDs of a dead owner, as any other.
 */
static nam_status
bring(struct tso_worker *tw, uint64_t to, struct net_counts *acct)
{
	struct tso *t = tw->t;
	unsigned n = t->lanes.n, lane[TSO_LANES], some = 0;
	uint64_t low, top, was[TSO_LANES], want[TSO_LANES];
	struct net_op op[TSO_LANES], *cas[TSO_LANES];
	struct net_batch b;
	nam_status st = tso_lanes_look(tw, &low, &top, acct);
	if (st != NAM_OK)
		return st;
	net_batch_init(&b, tw->w, op, TSO_LANES, acct);
	for (unsigned k = 0; k < n; k++) {
		uint64_t next = atomic_load(&t->lanes.next[k]);
		if (next > to)
			continue;
		lane[some] = k;
		was[some] = next;
		want[some] = tso_lane_cid(n, k, to + 1);
		if (next < tw->even_low)
			tw->even_low = next;
		some++;
	}
	if (some == 0)
		return NAM_OK;
	tso_open_publish(tw);
	for (unsigned i = 0; i < some; i++)
		cas[i] = net_cas(&b, tso_lane_at(t, lane[i]), was[i], want[i]);
	st = net_run(&b);
	/* In doubt: the CIDs, if any, have no owner. */
	for (unsigned i = 0; i < some; i++) {
		if (cas[i]->status != NAM_OK)
			continue;
		tso_lane_brought(tw, lane[i], was[i], want[i], cas[i]->seen);
	}
	tw->even_low = TSO_NONE;
	tso_open_publish(tw);
	return st;
}

nam_status
tso_lanes_bring(struct tso_worker *tw, uint64_t to, struct net_counts *acct)
{
	struct tso *t = tw->t;
	uint64_t may = atomic_load(&t->min_seen) + t->vector;
	if (t->lanes.n == 1 || tso_lanes_above(t, to))
		return NAM_OK;
	/* Of the workers of a process one does it; it knows no more than the others. */
	if (atomic_exchange(&t->lanes.bringing, true)) {
		nam_co_yield();
		return NAM_OK;
	}
	/* What cannot be marked yet (T4) may as well stay. */
	nam_status st = bring(tw, (to & TSO_COUNT_MASK) > t->vector && to > may ? may : to, acct);
	atomic_store(&t->lanes.bringing, false);
	return st;
}

/* ---- CIDs that are not used ---- */

static void
skip_publish(struct tso_worker *tw)
{
	uint64_t low = TSO_NONE;
	for (unsigned i = 0; i < tw->skips; i++)
		low = tw->skip[i] < low ? tw->skip[i] : low;
	for (unsigned i = 0; i < tw->skips_out; i++)
		low = tw->skip_out[i] < low ? tw->skip_out[i] : low;
	tw->skip_low = low;
	tso_open_publish(tw);
}

/* If there is no room, the CID is a hole like that of a dead owner, and a heart marks it. */
void
tso_skip(struct tso_worker *tw, uint64_t cid)
{
	if (tw->skips == TSO_SKIPS)
		return;
	tw->skip[tw->skips++] = cid;
	if (cid < tw->skip_low)
		tw->skip_low = cid;
	tw->stats.skipped++;
}

void
tso_lane_brought(struct tso_worker *tw, unsigned k, uint64_t from, uint64_t to, uint64_t seen)
{
	struct tso_lanes *l = &tw->t->lanes;
	tso_raise(&l->next[k], seen == from ? to : seen);
	if (seen != from)
		return;
	atomic_fetch_add(&tw->t->n_brought, 1);
	for (; from < to; from += l->n)
		tso_skip(tw, from);
	tso_open_publish(tw);
}

static void
skips_done(struct net_batch *b)
{
	struct tso_worker *tw = b->tag;
	for (unsigned i = 0; i < tw->skips_out; i++)
		if (tw->skip_op[i].status == NAM_GONE)
			tso_doubt(tw, tw->skip_out[i]);
	tw->skips_out = 0;
	skip_publish(tw);
	/* The doubt ends with a new connection, and this worker may post nothing else that asks for
	 * one. Until then the vector does not wrap. */
	if (b->status == NAM_GONE && tw->home_lost != NULL && !atomic_load(&tw->t->abandoned))
		tw->home_lost(tw->home_lost_arg);
}

void
tso_skips_flush(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	if (__builtin_expect(tw->skips == 0, 1) || tw->skips_out != 0)
		return;
	net_batch_init(&tw->skip_batch, tw->w, tw->skip_op, TSO_SKIPS_OUT, NULL);
	tw->skip_batch.tag = tw;
	while (tw->skips > 0 && tw->skips_out < TSO_SKIPS_OUT) {
		uint64_t cid = tw->skip[--tw->skips], count = cid & TSO_COUNT_MASK;
		if (count > t->vector && cid - t->vector > atomic_load(&t->min_seen))
			continue; /* T4: a heart marks it when that is allowed */
		unsigned i = tw->skips_out++;
		tw->skip_out[i] = cid;
		tw->skip_byte[i] = tso_lap(cid, t->vector);
		struct net_op *op = net_write(
		    &tw->skip_batch, net_plus(t->vector_at, count & (t->vector - 1)), &tw->skip_byte[i], 1);
		op->flags = NET_INLINE;
	}
	if (tw->skips_out == 0) {
		skip_publish(tw);
		return;
	}
	net_post_then(&tw->skip_batch, skips_done);
}
