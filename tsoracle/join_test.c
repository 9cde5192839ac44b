/* join_test.c -- processes that join, sleep, wake, stall and are told dead, moment by moment; their
 * slots and epochs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include "oracle_model.h"

#include <base/rounds.h>

/* ---- joining, moment by moment ---- */

enum { STEP_NS = 200, STEPS = 150, STILL_NS = 7 * TICK_NS / 2 };

struct freezer {
	struct fixture *fix;
	unsigned p;
	uint64_t after_ns;
	bool *done;
};
static void
freezer_main(void *arg)
{
	struct freezer *f = arg;
	net_sleep(f->fix->p[0].w, f->after_ns);
	net_sim_freeze(f->fix->sim, f->fix->p[f->p].net, STILL_NS);
	*f->done = true;
}

/* Its next snapshot covers all marks made before it asked, and no watermark passes it. */
static void
good_snapshot(struct fixture *fix, unsigned i)
{
	struct tso_pin pin;
	uint64_t floor = tso_prefix(fix->p[0].tso);
	assert_int_equal(tso_snapshot(fix->p[i].tw, &pin, NULL), NAM_OK);
	assert_true(pin.at >= floor);
	for (unsigned k = 0; k < 4; k++) {
		assert_true(tso_watermark(fix->p[0].tso) <= pin.at);
		net_sleep(fix->p[0].w, TICK_NS);
	}
	tso_unpin(fix->p[i].tw, &pin);
}

static void
work_on(struct fixture *fix, struct busy_arg *b)
{
	*b = (struct busy_arg){ .fix = fix, .left = 4 };
	for (unsigned i = 0; i < 4; i++)
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), goer_main, b, 64 << 10));
}
static void
work_ends(struct busy_arg *b)
{
	b->stop = true;
	while (b->left > 0)
		net_sleep(b->fix->p[0].w, 100000);
}

/* A joiner stalls for some heartbeats, at each moment of its joining; the others go on, for more
 * than a lap. */
static void
slow_joiners(struct fixture *fix)
{
	struct busy_arg b;
	unsigned laps = 0;
	work_on(fix, &b);
	for (unsigned step = 0; step < STEPS; step++) {
		bool frozen = false;
		struct freezer f = { fix, 1, 1 + step * STEP_NS, &frozen };
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), freezer_main, &f, 64 << 10));
		uint64_t from = tso_prefix(fix->p[0].tso);
		join(fix, 1);
		good_snapshot(fix, 1);
		assert_true(frozen);
		laps += tso_prefix(fix->p[0].tso) > from + fix->vector;
		leave(fix, 1);
	}
	assert_true(laps > STEPS / 10); /* as long as it has no slot, it delays no process */
	work_ends(&b);
}
static void
test_slow_joiners(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(1, 64, seed, slow_joiners);
}

/* A process joins while the only other one writes its promises, so that they may be torn each time
 * the joiner READs them. */
static void
at_a_beat(struct fixture *fix)
{
	struct busy_arg b;
	work_on(fix, &b);
	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t beat = atomic_load(&fix->p[0].tso->beat);
		while (atomic_load(&fix->p[0].tso->beat) == beat)
			net_sleep(fix->p[0].w, STEP_NS);
		net_sleep(fix->p[0].w, TICK_NS - STEPS / 2 * STEP_NS + step * STEP_NS);
		join(fix, 1);
		good_snapshot(fix, 1);
		leave(fix, 1);
	}
	work_ends(&b);
}
static void
test_join_at_a_beat(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(1, 64, seed, at_a_beat);
}

/* An owner that lost its slot while it was idle takes a snapshot, and stalls at each moment of
 * that. */
static void
slow_wakers(struct fixture *fix)
{
	struct proc *q = &fix->p[1];
	struct busy_arg b;
	work_on(fix, &b);
	for (unsigned step = 0; step < STEPS / 3; step++) {
		struct tso_stats s;
		bool frozen = false;
		struct freezer f = { fix, 1, 1 + 3 * step * STEP_NS, &frozen };
		while (atomic_load(&q->tso->idle) != IDLE_YES)
			net_sleep(fix->p[0].w, 10 * TICK_NS);
		q->stall = true;
		tso_stats(fix->p[0].tso, &s);
		for (uint64_t seals = s.seals; s.seals == seals; tso_stats(fix->p[0].tso, &s))
			net_sleep(fix->p[0].w, 10 * TICK_NS);
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), freezer_main, &f, 64 << 10));
		unsigned joins = tso_joins(q->tso);
		good_snapshot(fix, 1);
		assert_true(frozen);
		assert_int_equal(tso_joins(q->tso), joins + 1);
		q->stall = false;
	}
	work_ends(&b);
}
static void
test_slow_wakers(void **state)
{
	(void)state;
	lease_ms = 10;
	for (uint64_t seed = 1; seed <= 2; seed++)
		run(2, 64, seed, slow_wakers);
	lease_ms = 100;
}

/* ... and one that did not lose it: at each moment of its waking, the others go on, for more than a
 * lap. */
static void
sleepers(struct fixture *fix)
{
	struct proc *q = &fix->p[1];
	struct busy_arg b;
	unsigned joins = tso_joins(q->tso), laps = 0;
	work_on(fix, &b);
	for (unsigned step = 0; step < STEPS / 3; step++) {
		bool frozen = false;
		struct freezer f = { fix, 1, 1 + 3 * step * STEP_NS, &frozen };
		while (atomic_load(&q->tso->idle) != IDLE_YES)
			net_sleep(fix->p[0].w, 10 * TICK_NS);
		uint64_t from = tso_prefix(fix->p[0].tso), at = tso_prefix(q->tso);
		net_sleep(fix->p[0].w, 12 * TICK_NS);
		assert_int_equal(tso_prefix(q->tso), at); /* it READs no marks */
		laps += tso_prefix(fix->p[0].tso) > from + fix->vector;
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), freezer_main, &f, 64 << 10));
		good_snapshot(fix, 1);
		assert_true(frozen);
	}
	assert_int_equal(tso_joins(q->tso), joins);
	assert_true(laps > STEPS / 6); /* a sleeping process delays no other */
	struct tso_stats s;
	tso_stats(q->tso, &s);
	assert_int_equal(s.holes_marked, 0);
	work_ends(&b);
}
static void
test_sleepers(void **state)
{
	(void)state;
	lease_ms = 1000;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(2, 64, seed, sleepers);
	lease_ms = 100;
}

/* One sleeps while the others commit, more than V or less, and stalls or beats meanwhile: it hears
 * of each note. */
static void
notes_asleep(struct fixture *fix)
{
	struct proc *q = &fix->p[1];
	struct nam_rng *d = net_rng(fix->p[0].w);
	unsigned exact = 0;
	for (unsigned round = 0; round < 30; round++) {
		struct tso_claim cl;
		struct tso_pin pin;
		while (atomic_load(&q->tso->idle) != IDLE_YES)
			net_sleep(fix->p[0].w, 10 * TICK_NS);
		q->stall = round % 3 == 1;
		uint64_t n = 1 + nam_rng_below(d, round % 2 == 0 ? fix->vector / 2 - 2 : 5 * fix->vector);
		tso_cid noted[2] = { tso_noted(q->tso), tso_noted_memory(q->tso) }, told[2] = { 0 }, cid = 0;
		assert_int_equal(tso_pin_now(fix->p[0].tw, &pin), NAM_OK);
		for (uint64_t i = 0; i < n; i++) {
			unsigned note = i % 7 == round % 7 ? 1 + (unsigned)nam_rng_below(d, 2) : 0;
			cid = claim(fix, 0, &cl, 0);
			mark(fix, 0, &cl, note);
			if (note != 0)
				told[note - 1] = cid;
		}
		tso_unpin(fix->p[0].tw, &pin);
		q->stall = false;
		assert_int_equal(tso_snapshot(q->tw, &pin, NULL), NAM_OK);
		assert_true(pin.at >= cid);
		assert_true(tso_noted(q->tso) >= told[0] && tso_noted_memory(q->tso) >= told[1]);
		assert_true(tso_noted(q->tso) <= pin.at && tso_noted_memory(q->tso) <= pin.at);
		/* A note that the vector still shows is not guessed. */
		if (round % 2 == 0) {
			assert_int_equal(tso_noted(q->tso), told[0] ? told[0] : noted[0]);
			assert_int_equal(tso_noted_memory(q->tso), told[1] ? told[1] : noted[1]);
			exact += told[0] != 0;
		}
		tso_unpin(q->tw, &pin);
	}
	assert_true(exact > 3);
	busy(fix, 4, 20);
	all_quiet(fix);
}
static void
test_notes_asleep(void **state)
{
	(void)state;
	lease_ms = 10000;
	for (uint64_t seed = 1; seed <= nam_rounds(4, 4, 1); seed++)
		run(2, 64, seed, notes_asleep);
	lease_ms = 100;
}

/* ---- told dead, and asked before it is fenced ---- */

static bool
lapses(struct fixture *fix, struct tso_lapse *l, uint64_t within_ns)
{
	uint64_t end = net_now_ns(fix->p[0].w) + within_ns;
	unsigned slot = tso_owner(fix->p[1].tso);
	while (!tso_lapsed(fix->p[0].tso, fix->p[0].w, slot, l)) {
		if (net_now_ns(fix->p[0].w) >= end)
			return false;
		net_sleep(fix->p[0].w, TICK_NS / 4);
	}
	return true;
}

static void
told(struct fixture *fix)
{
	enum { LEASE_NS = 1000000000 };
	struct proc *q = &fix->p[1];
	struct tso_pin pin, mine;
	struct tso_lapse l;
	struct nam_err err = { 0 };
	struct tso_stats s;
	bool ended;
	assert_int_equal(tso_pin_now(fix->p[0].tw, &mine), NAM_OK);
	net_sleep(fix->p[0].w, 3 * TICK_NS);
	/* Silent for a third of a lease it answers that it lives; its silence counts from zero
	 * again, and a rumour is not believed. */
	assert_int_equal(tso_pin_now(q->tw, &pin), NAM_OK);
	net_sleep(q->w, 3 * TICK_NS);
	unsigned slot = tso_owner(q->tso), epoch = tso_epoch(q->tso);
	q->stall = true;
	net_sleep(q->w, LEASE_NS / 3);
	assert_false(lapses(fix, &l, 0));
	net_sim_rumour(fix->sim, q->net, LEASE_NS);
	assert_true(lapses(fix, &l, 0));
	assert_int_equal(l.heard, NET_LEFT);
	assert_int_equal(tso_seal(fix->p[0].tw, &l, &err), NAM_BUSY);
	assert_false(lapses(fix, &l, LEASE_NS / 10));
	assert_true(fix->p[0].tso->seen[slot].still_ns < LEASE_NS / 2);
	q->stall = false;
	net_sleep(q->w, LEASE_NS * 2L);
	assert_false(lapses(fix, &l, 0));
	assert_int_equal(tso_epoch(q->tso), epoch);
	/* Silent for longer it gives itself up when it is asked, after 0.9 leases. */
	uint64_t from = net_now_ns(q->w);
	q->stall = true;
	assert_true(lapses(fix, &l, 2L * LEASE_NS));
	uint64_t took = net_now_ns(q->w) - from;
	assert_true(took >= LEASE_NS / 10 * 9 - TICK_NS && took < LEASE_NS);
	assert_int_equal(l.heard, NET_UNHEARD);
	assert_int_equal(tso_seal(fix->p[0].tw, &l, &err), NAM_OK);
	assert_true(tso_abandoned(q->tso));
	assert_int_equal(tso_unseal(fix->p[0].tw, &l), NAM_OK);
	assert_int_equal(tso_ended(fix->p[0].tw, slot, epoch, &ended), NAM_OK);
	assert_true(ended);
	tso_unpin(q->tw, &pin);
	/* A sleeping process that is said to have left loses its slot at once, without being
	 * fenced: it takes another. */
	join(fix, 2);
	while (!tso_is_idle(fix->p[2].tso))
		net_sleep(fix->p[0].w, TICK_NS);
	tso_stats(fix->p[0].tso, &s);
	uint64_t seals = s.seals;
	unsigned joins = tso_joins(fix->p[2].tso);
	net_sim_rumour(fix->sim, fix->p[2].net, 20 * TICK_NS);
	net_sleep(fix->p[0].w, 5 * TICK_NS);
	tso_stats(fix->p[0].tso, &s);
	assert_int_equal(s.seals, seals + 1);
	assert_int_equal(tso_snapshot(fix->p[2].tw, &pin, NULL), NAM_OK);
	assert_int_equal(tso_joins(fix->p[2].tso), joins + 1);
	tso_unpin(fix->p[2].tw, &pin);
	tso_unpin(fix->p[0].tw, &mine);
	leave(fix, 2);
	q->stop = true;
	if (net_sim_crashed(q->net))
		net_sim_bury(fix->sim, q->net);
	while (!q->ended)
		net_sleep(fix->p[0].w, TICK_NS);
	tso_worker_close(q->tw);
	tso_close(q->tso);
	q->joined = false;
}
static void
test_told(void **state)
{
	(void)state;
	lease_ms = 1000;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(2, 64, seed, told);
	lease_ms = 100;
}

/* ---- an entry that a process READs is not used again ---- */

static void
read_under_way(struct fixture *fix)
{
	struct net_worker *w;
	struct tso_worker *other;
	struct busy_arg b;
	/* A READ of another worker of that process, which its heart does not wait for. */
	assert_int_equal(net_worker_open(fix->p[1].net, &w, NULL), NAM_OK);
	assert_int_equal(tso_worker_open(fix->p[1].tso, w, &other), NAM_OK);
	uint64_t from = tso_prefix(fix->p[1].tso);
	atomic_store(&other->reading, from);
	work_on(fix, &b);
	net_sleep(fix->p[0].w, 50 * TICK_NS);
	assert_true(tso_prefix(fix->p[0].tso) > from + fix->vector / 2);
	assert_true(tso_prefix(fix->p[0].tso) <= from + fix->vector);
	for (unsigned i = 0; i < 2; i++)
		assert_true(atomic_load(&fix->p[i].tso->min_seen) <= from);
	atomic_store(&other->reading, TSO_NONE);
	net_sleep(fix->p[0].w, 20 * TICK_NS);
	assert_true(tso_prefix(fix->p[0].tso) > from + 2 * fix->vector);
	work_ends(&b);
	tso_worker_close(other);
	net_worker_close(w);
}
static void
test_read_under_way(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(2, 64, seed, read_under_way);
}

/* ---- epochs and views ---- */

static struct tso_anchor *
anchor_of(struct fixture *fix)
{
	return (void *)((char *)net_sim_memory(fix->sim, net_region_of(fix->anchor)) +
			net_offset_of(fix->anchor));
}

/* A slot whose epochs are used up is not taken: an earlier lock word must not come again. */
static void
epochs(struct fixture *fix)
{
	struct tso_owner_slot *s =
	    (void *)((char *)anchor_of(fix) + (anchor_of(fix)->owners_at - fix->anchor.bits));
	s[1].word = tso_word(TSO_FREE, TSO_EPOCH_MAX, 0);
	s[2].word = tso_word(TSO_FREE, TSO_EPOCH_MAX - 1, 0);
	join(fix, 1);
	assert_int_equal(tso_owner(fix->p[1].tso), 2);
	assert_int_equal(tso_epoch(fix->p[1].tso), TSO_EPOCH_MAX);
	leave(fix, 1);
	fix->procs = 3;
	for (unsigned i = 1; i < 3; i++) {
		join(fix, i);
		assert_int_equal(tso_owner(fix->p[i].tso), 2 + i);
		assert_int_equal(tso_epoch(fix->p[i].tso), 1);
	}
}
static void
test_epochs(void **state)
{
	(void)state;
	run(1, 64, 1, epochs);
}

static void
owner_words(void **state)
{
	(void)state;
	const uint64_t identity[] = { 1, 0x5a5a5a5a5a, (UINT64_C(1) << NET_IDENTITY_BITS) - 1 };
	const unsigned epoch[] = { 1, 0x155555, TSO_EPOCH_MAX };
	for (unsigned i = 0; i < 27; i++) {
		unsigned state_of = TSO_ACTIVE + i % 3;
		uint64_t w = tso_word(state_of, epoch[i / 3 % 3], identity[i / 9]);
		assert_int_equal(tso_word_state(w), state_of);
		assert_int_equal(tso_word_epoch(w), epoch[i / 3 % 3]);
		assert_int_equal(tso_word_identity(w), identity[i / 9]);
	}
}

/* ---- as many slots as there can be ---- */

enum { USED_UP = TSO_OWNERS - 4 };

/* All slots but the last four were in use once, and cannot be used again. */
static void
use_up(struct fixture *fix)
{
	struct tso_anchor *a = anchor_of(fix);
	struct tso_owner_slot *s = (void *)((char *)a + (a->owners_at - fix->anchor.bits));
	assert_int_equal(a->slots, TSO_OWNERS);
	for (unsigned i = 0; i < USED_UP; i++)
		s[i].word = tso_word(TSO_FREE, TSO_EPOCH_MAX, 0);
	a->high = USED_UP;
}

static void
last_slots(struct fixture *fix)
{
	struct tso *none;
	for (unsigned i = 0; i < fix->procs; i++)
		assert_int_equal(tso_owner(fix->p[i].tso), USED_UP + i);
	busy(fix, 12, 30);
	all_quiet(fix);
	assert_int_equal(anchor_of(fix)->high, TSO_OWNERS);
	assert_int_equal(tso_join(fix->p[4].w, fix->anchor, &none), NAM_FULL);
	/* Beats go on at their pace, looks do not: else 4,096 processes would keep the home node
	 * busy. */
	uint64_t beats = atomic_load(&fix->p[1].tso->beat), looks = atomic_load(&fix->p[1].tso->looks);
	struct tso_pin pin;
	assert_int_equal(tso_pin_now(fix->p[1].tw, &pin), NAM_OK);
	net_sleep(fix->p[0].w, 100 * TICK_NS);
	beats = atomic_load(&fix->p[1].tso->beat) - beats;
	looks = atomic_load(&fix->p[1].tso->looks) - looks;
	tso_unpin(fix->p[1].tw, &pin);
	assert_in_range(beats, 80, 101);
	assert_in_range(looks, 8, 20);
	/* One stops while it holds a claim: the others notice, in no more than twice the lease. */
	struct tso_pin held;
	struct tso_lapse l;
	assert_int_equal(tso_pin_now(fix->p[0].tw, &held), NAM_OK);
	assert_int_equal(tso_pin_now(fix->p[3].tw, &pin), NAM_OK);
	struct tso_claim cl;
	claim(fix, 3, &cl, 0);
	net_sleep(fix->p[0].w, 50000000);
	fix->p[3].stall = true;
	assert_false(tso_lapsed(fix->p[0].tso, fix->p[0].w, USED_UP + 3, &l));
	net_sleep(fix->p[0].w, 2 * lease_ms * UINT64_C(1000000));
	assert_true(tso_lapsed(fix->p[0].tso, fix->p[0].w, USED_UP + 3, &l));
	assert_int_equal(l.slot, USED_UP + 3);
	fix->p[3].stall = false;
	mark(fix, 3, &cl, 0);
	tso_unpin(fix->p[3].tw, &pin);
	tso_unpin(fix->p[0].tw, &held);
	/* A slot given back is the next one taken. */
	leave(fix, 2);
	join(fix, 2);
	assert_int_equal(tso_owner(fix->p[2].tso), USED_UP + 2);
	assert_int_equal(tso_epoch(fix->p[2].tso), 2);
	busy(fix, 8, 20);
	all_quiet(fix);
}
static void
test_last_slots(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(4, 4, 1); seed++) {
		run_prepared(4, 4096, seed, TSO_CLAIM, 0, last_slots, 64 << 20, use_up);
		run_prepared(4, 64, seed, TSO_CLAIM, 0, last_slots, 64 << 20, use_up);
	}
}

/* ---- one slot, taken and given back very often ---- */

static unsigned joins_wanted = 5000;

static void
joins_main(void *arg)
{
	struct fixture *fix = arg;
	struct proc *p = &fix->p[0];
	unsigned epoch = 0;
	assert_int_equal(tso_format(p->w, 1, fix->vector, TSO_CLAIM, 0, 0, 0, &fix->anchor), NAM_OK);
	for (unsigned i = 0; i < joins_wanted; i++) {
		struct tso *t;
		assert_int_equal(tso_join(p->w, fix->anchor, &t), NAM_OK);
		assert_int_equal(tso_owner(t), 0);
		assert_int_equal(tso_epoch(t), ++epoch);
		assert_int_equal(tso_leave(p->w, t), NAM_OK);
		tso_close(t);
	}
	fix->ok = true;
}
static void
test_joins(void **state)
{
	(void)state;
	struct fixture fix = { .vector = 64, .body = NULL };
	struct net_sim_config cfg = { .seed = 1, .nodes = 1, .region_bytes = 4 << 20 };
	assert_int_equal(net_sim_open(&fix.sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(fix.sim, &fix.p[0].net), NAM_OK);
	assert_int_equal(net_worker_open(fix.p[0].net, &fix.p[0].w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(fix.p[0].w), joins_main, &fix, 256 << 10));
	assert_true(net_sim_run(fix.sim, NULL, NULL));
	assert_true(fix.ok);
	net_worker_close(fix.p[0].w);
	net_close(fix.p[0].net);
	net_sim_close(fix.sim);
}

/* The counter begins again, in a next view: the same counts are other CIDs, above all earlier
 * ones. */
static void
next_view(struct fixture *fix)
{
	tso_cid last = 0;
	for (unsigned view = 1; view <= 3; view++) {
		fix->first = ((uint64_t)view << TSO_COUNT_BITS) + 1;
		if (view > 1) { /* all have left, and the memory is as it was made, except that */
			struct tso_anchor *a = anchor_of(fix);
			a->counter = fix->first;
			a->hint = fix->first - 1;
			memset((char *)a + (a->vector_at - fix->anchor.bits), 0, a->vector);
			memset(fix->claimed, 0, sizeof fix->claimed);
			memset(fix->marked, 0, sizeof fix->marked);
			join(fix, 0);
			join(fix, 1);
		}
		struct tso_claim cl;
		tso_cid cid = claim(fix, 0, &cl, 0);
		assert_int_equal(cid & TSO_COUNT_MASK, 1);
		assert_true(cid > last && cid <= TSO_CID_MAX);
		mark(fix, 0, &cl, 0);
		busy(fix, 8, 60); /* some laps */
		all_quiet(fix);
		last = claim(fix, 0, &cl, 0);
		mark(fix, 0, &cl, 0);
		leave(fix, 1);
		leave(fix, 0);
	}
}
static void
test_next_view(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= nam_rounds(3, 3, 1); seed++)
		run(2, 64, seed, next_view);
}

static void
test_sleepers_with_lanes(void **state)
{
	(void)state;
	for (lanes_wanted = 2; lanes_wanted <= TSO_LANES; lanes_wanted *= 2)
		run(4, 64, lanes_wanted, sleepers);
	lanes_wanted = 0;
}

/* joins N: only so many processes that join and leave, one after the other. */
int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "joins") == 0) {
		joins_wanted = (unsigned)strtoul(argv[2], NULL, 10);
		const struct CMUnitTest joins[] = { cmocka_unit_test(test_joins) };
		return cmocka_run_group_tests(joins, NULL, NULL);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_joiners),
		cmocka_unit_test(test_join_at_a_beat),
		cmocka_unit_test(test_slow_wakers),
		cmocka_unit_test(test_sleepers),
		cmocka_unit_test(test_notes_asleep),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_read_under_way),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(owner_words),
		cmocka_unit_test(test_last_slots),
		cmocka_unit_test(test_joins),
		cmocka_unit_test(test_next_view),
		cmocka_unit_test(test_sleepers_with_lanes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
