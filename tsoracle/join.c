/* join.c -- formats the oracle, takes and gives back owner slots, wakes an idle one. */
#include "tso_internal.h"

#include <base/assert.h>
#include <base/fault.h>
#include <base/hash.h>
#include <net/region_format.h>

#include <stdlib.h>

/* So many marks are READ for notes, at most, when an owner catches up: 16 READs. */
enum { CATCH_UP_MAX = 16 * TSO_WINDOW_MAX, IDLE_AFTER_NS = 100000000 };
enum { WAKE_LOOK_NS = 1000 }; /* another worker wakes the process: some round trips */

/* A vector that does not wrap while an owner lapses and is recovered, if the home region has room
 * for it. */
enum { MARKS_MIN = 1 << 16, MARKS_A_MS = 5000, LEASES_OF_MARKS = 2, MARKS_SHARE = 16 };
/* All slots that there can be, if they take no more of the home region than that. */
enum { SLOTS_SHARE = 64 };
/* A joiner READs so many slots more than are in use. */
enum { SLOTS_AHEAD = 16 };

__attribute__((constructor)) static void
fold_layout(void)
{
	net_layout_fold("tso.owner", UINT64_C(4) << 48 | (uint64_t)TSO_EPOCH_BITS << 40 |
					 (uint64_t)TSO_LAPS << 32 | sizeof(struct tso_owner_slot) << 8 |
					 TSO_SEALED);
}

uint64_t
tso_promises_check(const struct tso_promises *p, unsigned slot)
{
	return nam_fold_words(&p->beat, 5, slot) | 1;
}

nam_status
tso_format(struct net_worker *w, unsigned region, uint32_t vector, enum tso_scheme scheme, unsigned clients,
    uint32_t lease_ms, unsigned lanes, net_addr *anchor)
{
	uint64_t lease = lease_ms ? lease_ms : TSO_LEASE_MS, marks = vector;
	const struct net_node_info *home = net_node_of(net_worker_net(w), region);
	if (marks == 0)
		for (marks = MARKS_MIN; marks < LEASES_OF_MARKS * lease * MARKS_A_MS && home != NULL &&
					marks * 2 <= home->size / MARKS_SHARE;)
			marks *= 2;
	NAM_ASSERT(marks >= 64 && (marks & (marks - 1)) == 0);
	unsigned slots = TSO_OWNERS;
	if (home == NULL || slots * sizeof(struct tso_owner_slot) > home->size / SLOTS_SHARE)
		slots = TSO_OWNERS_MIN;
	uint64_t owners_bytes = slots * sizeof(struct tso_owner_slot);
	lanes = lanes == 0 || scheme != TSO_CLAIM ? 1 : lanes;
	NAM_ASSERT(lanes <= TSO_LANES && (lanes & (lanes - 1)) == 0);
	struct {
		struct tso_anchor a;
		uint64_t word[TSO_LANES * TSO_LANE_BYTES / sizeof(uint64_t)];
	} made = { .word = { 0 } };
	uint64_t head = sizeof made.a + (lanes > 1 ? lanes * TSO_LANE_BYTES : 0);
	const uint64_t first = (UINT64_C(1) << TSO_COUNT_BITS) + 1;
	for (unsigned k = 0; k < lanes; k++)
		made.word[k * (TSO_LANE_BYTES / sizeof(uint64_t))] = tso_lane_cid(lanes, k, first);
	uint64_t bytes = head + owners_bytes + marks;
	net_addr at;
	nam_status st = net_extent_take(w, region, (unsigned)((bytes + NET_EXTENT - 1) / NET_EXTENT), &at);
	if (st != NAM_OK)
		return st;
	made.a = (struct tso_anchor){
		.magic = TSO_MAGIC,
		.vector = marks,
		.lanes = lanes,
		.lanes_at = net_plus(at, sizeof made.a).bits,
		.owners_at = net_plus(at, head).bits,
		.vector_at = net_plus(at, head + owners_bytes).bits,
		.scheme = (uint64_t)scheme,
		.clients = clients ? clients : 1,
		.slots = slots,
		.lease_ns = lease * UINT64_C(1000000),
		.counter = first,
		.hint = first - 1,
	};
	st = net_write1(w, at, &made, (uint32_t)head, NULL);
	*anchor = at;
	return st;
}

static net_addr
slot_at(const struct tso *t, unsigned slot)
{
	return net_plus(t->owners, slot * sizeof(struct tso_owner_slot));
}

uint64_t
tso_published(const struct tso_anchor *a, const struct tso_owner_slot *slots, unsigned n)
{
	uint64_t prefix = a->hint;
	for (unsigned i = 0; i < n; i++)
		if (slots[i].promises.seen > prefix)
			prefix = slots[i].promises.seen;
	return prefix;
}

/* The slots that a READ brought: all below `high` as the anchor beside them showed it, and more. */
struct slots {
	struct tso_owner_slot *at;
	unsigned n, cap;
};

/*
 * READs all that owners have published. What lies at or above `high` was never used. A process that
 * raises it later READs all slots later as well, and finds what this process has WRITTEN before.
 */
static nam_status
published(struct net_worker *w, struct tso *t, struct tso_anchor *a, struct slots *s, uint64_t *prefix)
{
	s->n = atomic_load(&t->high) + SLOTS_AHEAD;
	for (;;) {
		struct net_op op[2];
		struct net_batch b;
		if (s->n > t->slots_max)
			s->n = t->slots_max;
		if (s->n > s->cap) {
			struct tso_owner_slot *more = realloc(s->at, s->n * sizeof *more);
			if (more == NULL)
				return NAM_NOMEM;
			s->at = more;
			s->cap = s->n;
		}
		net_batch_init(&b, w, op, 2, NULL);
		net_read(&b, t->anchor, a, sizeof *a);
		net_read(&b, t->owners, s->at, (uint32_t)(s->n * sizeof *s->at));
		nam_status st = net_run(&b);
		if (st == NAM_OK && a->high > t->slots_max)
			st = NAM_CORRUPT;
		if (st != NAM_OK)
			return st;
		/* One slot beyond those in use, so that there is one to take. */
		if (a->high < s->n || s->n == t->slots_max) {
			*prefix = tso_published(a, s->at, s->n);
			return NAM_OK;
		}
		s->n = (unsigned)a->high + SLOTS_AHEAD;
	}
}

static nam_status
take_slot(struct net_worker *w, struct tso *t)
{
	struct tso_anchor a;
	struct slots s = { 0 };
	struct tso_promises first;
	uint64_t prefix, seen;
	nam_status st;
	unsigned i = 0, epoch = 0;
again:
	st = published(w, t, &a, &s, &prefix);
	/* A slot that is ours already: the CAS that took it broke with its connection. */
	for (i = 0; st == NAM_OK && i < s.n; i++) {
		epoch = tso_word_epoch(s.at[i].word);
		if (s.at[i].word == tso_word(TSO_ACTIVE, epoch, t->identity) &&
		    ((uint64_t)i << 32 | epoch) != atomic_load(&t->home))
			goto ours;
	}
	for (i = 0; st == NAM_OK && i < s.n; i++)
		if (tso_word_state(s.at[i].word) == TSO_FREE && tso_word_epoch(s.at[i].word) < TSO_EPOCH_MAX)
			break;
	if (st == NAM_OK && i == s.n)
		st = NAM_FULL;
	if (st != NAM_OK)
		goto out;
	/* `high` before the slot: a process that scans the slots below high must not miss a live
	 * one. */
	for (seen = a.high; st == NAM_OK && seen < i + 1;) {
		uint64_t expect = seen;
		st = net_cas1(
		    w, net_plus(t->anchor, offsetof(struct tso_anchor, high)), expect, i + 1, &seen, NULL);
		if (seen == expect)
			break;
	}
	epoch = i < s.n ? tso_word_epoch(s.at[i].word) + 1 : 0;
	if (st == NAM_OK)
		st = net_cas1(
		    w, slot_at(t, i), s.at[i].word, tso_word(TSO_ACTIVE, epoch, t->identity), &seen, NULL);
	if (st == NAM_OK && seen != s.at[i].word)
		goto again;
	if (st != NAM_OK)
		goto out;
ours:
	/* Promises at a prefix published before the slot was ours: low, so safe. Then READ the
	 * slots again: conclusions that others drew without our line are at or below the numbers
	 * READ now. */
	first = (struct tso_promises){
		.beat = 1, .oldest = prefix, .open = prefix + 1, .seen = prefix, .epoch = epoch
	};
	first.check = tso_promises_check(&first, i);
	st = net_write1(w, net_plus(slot_at(t, i), offsetof(struct tso_owner_slot, promises)), &first,
	    sizeof first, NULL);
	if (st == NAM_OK)
		st = published(w, t, &a, &s, &prefix);
	if (st != NAM_OK)
		goto out;
	atomic_store(&t->joined_at, first.seen);
	atomic_store(&t->home, (uint64_t)i << 32 | epoch);
	atomic_fetch_add(&t->joins, 1);
	atomic_store(&t->homeless, false);
	tso_notes_unknown(t, prefix);
	tso_raise(&t->noted, prefix); /* this process has not READ the marks between: they may carry
				       * notes */
	tso_raise(&t->noted_memory, prefix);
	tso_raise(&t->prefix, prefix);
	tso_lanes_passed(t, prefix + 1);
out:
	free(s.at);
	return st;
}

/* Answers another process's question whether this one lives, before it is fenced. On the heart's
 * thread. */
static enum net_answer_life
alive(void *arg)
{
	struct tso *t = arg;
	struct net_worker *w = atomic_load(&t->heart);
	if (!atomic_load(&t->abandoned) && net_now_ns(w) - atomic_load(&t->landed_ns) < t->lease_ns / 2)
		return NET_LIVES;
	tso_abandon(t);
	return NET_GIVEN_UP;
}

nam_status
tso_join(struct net_worker *w, net_addr anchor, struct tso **out)
{
	struct tso_anchor a;
	nam_status st = net_read1(w, anchor, &a, sizeof a, NULL);
	if (st != NAM_OK)
		return st;
	if (a.magic != TSO_MAGIC || a.vector < 64 || (a.vector & (a.vector - 1)) != 0 || a.lease_ns == 0 ||
	    a.slots == 0 || a.slots > TSO_OWNERS || a.lanes == 0 || a.lanes > TSO_LANES ||
	    (a.lanes & (a.lanes - 1)) != 0)
		return NAM_CORRUPT;
	struct tso *t = calloc(1, sizeof *t);
	if (t == NULL)
		return NAM_NOMEM;
	t->slots_max = (unsigned)a.slots;
	t->slots = malloc(t->slots_max * sizeof *t->slots);
	if (t->slots == NULL) {
		free(t);
		return NAM_NOMEM;
	}
	t->anchor = anchor;
	const struct net_node_info *node = net_node_of(net_worker_net(w), net_region_of(anchor));
	t->common.rnic = node != NULL && (node->kind == NET_VERBS || node->kind == NET_SIM);
	t->owners = (net_addr){ a.owners_at };
	t->vector_at = (net_addr){ a.vector_at };
	t->vector = a.vector;
	t->scheme = (enum tso_scheme)a.scheme;
	t->clients = (unsigned)a.clients;
	t->lease_ns = a.lease_ns;
	t->idle_after_ns = IDLE_AFTER_NS;
	t->identity = net_identity(net_worker_net(w));
	tso_lanes_init(t, &a);
	pthread_mutex_init(&t->look_lock, NULL);
	pthread_mutex_init(&t->notes_lock, NULL);
	st = take_slot(w, t);
	if (st != NAM_OK) {
		tso_close(t);
		return st;
	}
	/* Everything at or below the prefix is older than this process: its caches begin here. */
	tso_notes_unknown(t, atomic_load(&t->prefix));
	atomic_store(&t->noted, atomic_load(&t->prefix));
	atomic_store(&t->noted_memory, atomic_load(&t->prefix));
	atomic_store(&t->landed_ns, net_now_ns(w));
	atomic_store(&t->heart, w);
	net_on_asked(net_worker_net(w), alive, t);
	*out = t;
	return NAM_OK;
}

net_addr
tso_log_at(const struct tso *t, unsigned owner)
{
	return net_plus(slot_at(t, owner), offsetof(struct tso_owner_slot, log));
}

void
tso_on_attach(struct tso *t, nam_status (*fn)(void *arg, struct net_worker *w), void *arg)
{
	t->attach = fn;
	t->attach_arg = arg;
}

bool
tso_is_idle(const struct tso *t)
{
	return atomic_load(&t->idle) == IDLE_YES;
}

uint64_t
tso_lease_ns(const struct tso *t)
{
	return t->lease_ns;
}

void
tso_abandon(struct tso *t)
{
	atomic_store(&t->abandoned, true);
}

bool
tso_abandoned(const struct tso *t)
{
	return atomic_load(&t->abandoned);
}

unsigned
tso_joins(const struct tso *t)
{
	return atomic_load(&t->joins);
}

/* Raises the published hint, so that a later joiner need not start from a lap long past. */
nam_status
tso_hint_raise(struct net_worker *w, struct tso *t, tso_cid to)
{
	uint64_t seen = 0, expect;
	net_addr at = net_plus(t->anchor, offsetof(struct tso_anchor, hint));
	nam_status st = net_read1(w, at, &seen, 8, NULL);
	while (st == NAM_OK && seen < to) {
		expect = seen;
		st = net_cas1(w, at, expect, to, &seen, NULL);
		if (seen == expect)
			break;
	}
	return st;
}

nam_status
tso_leave(struct net_worker *w, struct tso *t)
{
	if (atomic_load(&t->abandoned))
		return NAM_GONE; /* the slot has another owner, so it cannot be given back */
	nam_status st = tso_hint_raise(w, t, atomic_load(&t->prefix));
	uint64_t seen, home = atomic_load(&t->home);
	unsigned slot = tso_home_slot(home), epoch = tso_home_epoch(home);
	for (unsigned state = TSO_ACTIVE; st == NAM_OK && state <= TSO_IDLE; state++)
		st = net_cas1(w, slot_at(t, slot), tso_word(state, epoch, t->identity),
		    tso_word(TSO_FREE, epoch, 0), &seen, NULL);
	return st;
}

void
tso_close(struct tso *t)
{
	for (unsigned i = 0; i < TSO_WORKERS; i++)
		free(atomic_load(&t->worker[i]));
	pthread_mutex_destroy(&t->look_lock);
	pthread_mutex_destroy(&t->notes_lock);
	free(t->slots);
	free(t);
}

unsigned
tso_lanes(const struct tso *t)
{
	return t->lanes.n;
}

unsigned
tso_owner(const struct tso *t)
{
	return tso_home_slot(atomic_load(&t->home));
}

unsigned
tso_slots_used(const struct tso *t)
{
	return atomic_load(&t->high);
}

unsigned
tso_epoch(const struct tso *t)
{
	return tso_home_epoch(atomic_load(&t->home));
}

void
tso_catch_up(struct tso_worker *tw, tso_cid to)
{
	struct tso *t = tw->t;
	uint64_t from = atomic_load(&t->prefix), noted = 0, memory = 0;
	/*
	 * The byte of a CID up to `to` shows its own lap, or a later one when its place has been
	 * used again. Nothing beyond `to` + V has been used (T4), so it is the next lap at most,
	 * and no two laps look alike.
	 */
	bool sure = to > from && to - from < t->vector / 2 && to - from <= CATCH_UP_MAX;
	uint8_t *bytes = sure ? malloc(TSO_WINDOW_MAX) : NULL;
	sure = sure && bytes != NULL;
	for (uint64_t cid = from + 1; sure && cid <= to;) {
		uint64_t at = (cid & TSO_COUNT_MASK) & (t->vector - 1), n = to - cid + 1;
		if (n > TSO_WINDOW_MAX)
			n = TSO_WINDOW_MAX;
		if (n > t->vector - at)
			n = t->vector - at;
		if (net_read1(tw->w, net_plus(t->vector_at, at), bytes, (uint32_t)n, NULL) != NAM_OK)
			sure = false;
		for (uint64_t i = 0; sure && i < n; i++, cid++) {
			sure = (bytes[i] & TSO_LAP_MASK) == tso_lap(cid, t->vector);
			if (sure && bytes[i] & TSO_MARK_CATALOG) {
				noted = cid;
				tso_note_met(t, cid);
			}
			if (sure && bytes[i] & TSO_MARK_MEMORY)
				memory = cid;
		}
	}
	free(bytes);
	if (to > from) {
		if (!sure)
			tso_notes_unknown(t, to);
		tso_raise(&t->noted, sure ? noted : to);
		tso_raise(&t->noted_memory, sure ? memory : to);
		tso_raise(&t->prefix, to);
		tso_lanes_passed(t, to + 1);
	}
}

/*
 * Idle -> active, by one CAS, and behind it on the same connection a READ of what others have
 * published: the joiner's argument (README), except that the promises exist already: the heart has
 * written them while the process was idle.
 */
static nam_status
come_back(struct tso_worker *tw, bool *lost)
{
	struct tso *t = tw->t;
	uint64_t home = atomic_load(&t->home);
	unsigned slot = tso_home_slot(home), epoch = tso_home_epoch(home);
	uint64_t idle = tso_word(TSO_IDLE, epoch, t->identity),
		 active = tso_word(TSO_ACTIVE, epoch, t->identity);
	struct tso_owner_slot *slots = NULL;
	for (;;) {
		struct net_op op[3];
		struct net_batch b;
		struct tso_anchor a;
		unsigned n = atomic_load(&t->high);
		if (n < slot + 1)
			n = slot + 1;
		free(slots);
		slots = malloc(n * sizeof *slots);
		if (slots == NULL)
			return NAM_NOMEM;
		net_batch_init(&b, tw->w, op, 3, NULL);
		struct net_op *cas = net_cas(&b, slot_at(t, slot), idle, active);
		net_read(&b, t->anchor, &a, sizeof a);
		net_read(&b, t->owners, slots, (uint32_t)(n * sizeof *slots));
		nam_status st = net_run(&b);
		/* An earlier CAS, whose completion did not come, may have done it. */
		*lost = st == NAM_OK && cas->seen != idle && cas->seen != active;
		bool all = st == NAM_OK && a.high <= n;
		if (st == NAM_OK && !all && a.high <= t->slots_max)
			atomic_store(&t->high, (unsigned)a.high);
		if (st == NAM_OK && !*lost && all && !nam_fault(WAKE_UNREAD))
			tso_catch_up(tw, tso_published(&a, slots, n));
		if (st != NAM_OK || *lost || all) {
			free(slots);
			return st;
		}
	}
}

nam_status
tso_wake(struct tso_worker *tw)
{
	struct tso *t = tw->t;
	uint64_t from = net_now_ns(tw->w);
	struct net_backoff pause = { .base_ns = WAKE_LOOK_NS, .cap_ns = WAKE_LOOK_NS };
	for (;;) {
		int is = IDLE_YES;
		if (atomic_load(&t->idle) == IDLE_NO)
			return NAM_OK;
		if (atomic_compare_exchange_strong(&t->idle, &is, IDLE_WAKING))
			break;
		/* The heart may have lost its connection to home meanwhile. */
		if (atomic_load(&t->abandoned) || net_now_ns(tw->w) - from > t->lease_ns)
			return NAM_GONE;
		net_back_off(tw->w, &pause); /* another worker wakes the process */
	}
	bool lost = atomic_load(&t->homeless);
	nam_status st = atomic_load(&t->abandoned) ? NAM_GONE : NAM_OK;
	if (st == NAM_OK && !lost)
		st = come_back(tw, &lost);
	/* The slot was freed while the process slept: it held nothing, so it simply joins again, in
	 * another epoch. */
	if (st == NAM_OK && lost && (st = take_slot(tw->w, t)) == NAM_OK && t->attach != NULL)
		st = t->attach(t->attach_arg, tw->w);
	atomic_store(&t->idle, st == NAM_OK ? IDLE_NO : IDLE_YES);
	return st;
}

uint64_t
tso_seals(const struct tso *t)
{
	return atomic_load(&t->n_seals);
}

void
tso_stats(const struct tso *t, struct tso_stats *out)
{
	*out = (struct tso_stats){ .holes_marked = atomic_load(&t->n_holes),
		.seals = atomic_load(&t->n_seals),
		.fenced = atomic_load(&t->n_fenced),
		.brought = atomic_load(&t->n_brought) };
	unsigned n = atomic_load(&t->workers);
	for (unsigned i = 0; i < n; i++) {
		const struct tso_worker *tw = atomic_load(&t->worker[i]);
		if (tw == NULL)
			continue;
		out->snapshots += tw->stats.snapshots;
		out->snapshot_reads += tw->stats.snapshot_reads;
		out->claims += tw->stats.claims;
		out->claim_faas += tw->stats.claim_faas;
		out->marks += tw->stats.marks;
		out->wrap_waits += tw->stats.wrap_waits;
		out->marks_again += tw->stats.marks_again;
		out->missed += tw->stats.missed;
		out->skipped += tw->stats.skipped;
	}
}
