/* lanes_test.c -- several words give out CIDs: floors, order, lanes that lag and are brought
 * forward, and processes that die meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include "oracle_model.h"

/* ---- lanes: several words give out CIDs ---- */

static uint64_t
lane_word(struct fixture *fix, unsigned k)
{
	uint64_t word;
	struct proc *p = &fix->p[0];
	assert_int_equal(net_read1(p->w, tso_lane_at(p->tso, k), &word, 8, NULL), NAM_OK);
	return word;
}

/* One process: its claims come out in order, and neither claim nor snapshot costs more verbs than
 * with one lane. */
static void
lanes_alone(struct fixture *fix)
{
	struct proc *p = &fix->p[0];
	struct tso_pin pin;
	uint64_t last = fix->first - 1;
	assert_int_equal(tso_lanes(p->tso), fix->lanes);
	for (unsigned i = 0; i < 300; i++) {
		struct tso_claim c;
		struct net_counts trips = { 0 };
		assert_int_equal(tso_snapshot(p->tw, &pin, &trips), NAM_OK);
		assert_int_equal(trips.round_trips, 1);
		assert_int_equal(pin.at, last);
		if (i % 3 == 0)
			tso_claim_start_ordered(p->tw, &c, last, &trips);
		else
			tso_claim_start(p->tw, &c, i % 3 == 1 ? last : 0, &trips);
		assert_int_equal(tso_claim_wait(p->tw, &c), NAM_OK);
		assert_int_equal(c.cid, last + 1);
		last = c.cid;
		assert_int_equal(trips.verbs[NET_CAS], 0);
		assert_int_equal(trips.verbs[NET_FAA], 1);
		assert_int_equal(trips.round_trips, 1); /* of the snapshot */
		fix->claimed[count_of(fix, c.cid)] = 1;
		mark(fix, 0, &c, 0);
		tso_answered(p->tso, c.cid);
		tso_unpin(p->tw, &pin);
	}
	struct tso_stats s;
	tso_stats(p->tso, &s);
	assert_int_equal(s.missed, 0);
	assert_int_equal(s.brought, 0);
	assert_int_equal(s.skipped, 0);
}

/* CIDs of one lane are given out to a process that no other has heard of. */
static tso_cid
ahead(struct fixture *fix, unsigned k, unsigned n)
{
	struct proc *p = &fix->p[0];
	uint64_t seen = 0;
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(net_faa1(p->w, tso_lane_at(p->tso, k), fix->lanes, &seen, NULL), NAM_OK);
		uint8_t byte = tso_mark_byte(seen, fix->vector, 0);
		fix->claimed[count_of(fix, seen)] = fix->marked[count_of(fix, seen)] = 1;
		assert_int_equal(
		    net_write1(p->w, net_plus(p->tso->vector_at, seen & TSO_COUNT_MASK & (fix->vector - 1)),
			&byte, 1, NULL),
		    NAM_OK);
	}
	return seen;
}

/* Whatever lane it asks, a claim is above its floor; an ordered one is below all that come. */
static void
lanes_floor(struct fixture *fix)
{
	struct proc *p = &fix->p[0];
	struct nam_rng *d = net_rng(p->w);
	struct tso_pin pin;
	uint64_t top = 0;
	for (unsigned i = 0; i < 60; i++) {
		struct tso_claim c;
		struct net_counts counts = { 0 };
		tso_cid floor =
		    ahead(fix, (unsigned)nam_rng_below(d, fix->lanes), 1 + (unsigned)nam_rng_below(d, 6));
		bool ordered = nam_rng_below(d, 2);
		assert_int_equal(tso_pin_now(p->tw, &pin), NAM_OK);
		if (i % 4 == 0) {
			assert_int_equal(tso_claimed_by_all(p->tw, &floor), NAM_OK);
			for (unsigned k = 0; k < fix->lanes; k++)
				assert_true(lane_word(fix, k) <= floor + fix->lanes);
		}
		if (ordered)
			tso_claim_start_ordered(p->tw, &c, floor, &counts);
		else
			tso_claim_start(p->tw, &c, floor, &counts);
		assert_int_equal(tso_claim_wait(p->tw, &c), NAM_OK);
		assert_true(c.cid > floor);
		assert_false(fix->claimed[count_of(fix, c.cid)]++);
		for (unsigned k = 0; ordered && k < fix->lanes; k++)
			assert_true(lane_word(fix, k) > c.cid);
		mark(fix, 0, &c, 0);
		top = c.cid > top ? c.cid : top;
		tso_answered(p->tso, c.cid);
		tso_unpin(p->tw, &pin);
	}
	struct tso_stats s;
	tso_stats(p->tso, &s);
	assert_true(s.brought > 0 && s.skipped > 0);
	assert_int_equal(tso_snapshot(p->tw, &pin, NULL), NAM_OK);
	assert_true(pin.at >= top);
	tso_unpin(p->tw, &pin);
}

/* A claim asks a lane that has not passed its floor, though the process thinks that it has. */
static void
lanes_missed(struct fixture *fix)
{
	struct proc *p = &fix->p[0];
	struct tso_pin pin;
	struct tso_stats s = { 0 };
	assert_int_equal(tso_pin_now(p->tw, &pin), NAM_OK);
	for (unsigned i = 0; i < 4 * fix->lanes && s.missed == 0; i++) {
		struct tso_claim c;
		uint64_t low, top;
		tso_cid floor = ahead(fix, i / 2 % fix->lanes, 5);
		/* It has seen the lanes go on fast, so it thinks that they are further. */
		assert_int_equal(tso_lanes_look(p->tw, &low, &top, NULL), NAM_OK);
		atomic_store(&p->tso->lanes.rate, UINT64_C(1) << 24);
		net_sleep(p->w, 1000);
		tso_claim_start(p->tw, &c, floor, NULL);
		assert_int_equal(tso_claim_wait(p->tw, &c), NAM_OK);
		assert_true(c.cid > floor);
		assert_false(fix->claimed[count_of(fix, c.cid)]++);
		mark(fix, 0, &c, 0);
		assert_int_equal(tso_wait_for(p->tw, c.cid), NAM_OK);
		tso_stats(p->tso, &s);
	}
	assert_int_equal(s.missed, 1);
	assert_true(s.skipped >= 1);
	tso_unpin(p->tw, &pin);
}

/* A process has committed in one lane and asks no more. A snapshot that has to cover that does
 * not wait for any heart; and without a snapshot the hearts see to it that the watermark gets
 * there. */
static void
lanes_lag(struct fixture *fix)
{
	struct proc *p = &fix->p[0];
	struct tso_pin pin;
	for (unsigned i = 0; i < 20; i++) {
		tso_cid cid = ahead(fix, i % fix->lanes, 3);
		uint64_t began = net_now_ns(p->w);
		if (i % 2 == 0) {
			tso_answered(p->tso, cid);
			assert_int_equal(tso_snapshot(p->tw, &pin, NULL), NAM_OK);
			assert_true(pin.at >= cid);
			tso_unpin(p->tw, &pin);
			assert_true(net_now_ns(p->w) - began < TICK_NS);
		} else {
			net_sleep(p->w, 20 * TICK_NS);
			assert_true(tso_watermark(p->tso) >= cid);
		}
	}
}

/* ---- a process dies while it brings lanes forward ---- */

static struct {
	unsigned verb;
	tso_cid to;
} dying;

static void
bringer_main(void *arg)
{
	struct fixture *fix = arg;
	struct proc *q = &fix->p[1];
	(void)tso_lanes_bring(q->tw, dying.to, NULL);
	while (q->tw->skips + q->tw->skips_out > 0 && !tso_abandoned(q->tso))
		net_sleep(q->w, 1000);
	q->ended = true;
}

/* What it had got, and had not marked, becomes holes when its slot is free; not before. */
static void
lanes_dies(struct fixture *fix)
{
	struct proc *p = &fix->p[0], *q = &fix->p[1];
	struct tso_pin pin, held;
	struct tso_lapse l;
	struct nam_err err;
	unsigned slot = tso_owner(q->tso);
	assert_int_equal(tso_pin_now(p->tw, &held), NAM_OK);
	assert_int_equal(tso_pin_now(q->tw, &pin), NAM_OK);
	q->stop = true;
	while (!q->ended)
		net_sleep(p->w, 100000);
	q->ended = false;
	dying.to = ahead(fix, 1, 3);
	net_sim_crash_at(fix->sim, q->net, net_sim_verbs(q->net) + dying.verb);
	assert_non_null(nam_co_start(net_worker_sched(q->w), bringer_main, fix, 64 << 10));
	net_sleep(p->w, 30 * TICK_NS);
	bool died = net_sim_crashed(q->net);
	if (!died)
		net_sim_crash(fix->sim, q->net);
	while (!tso_lapsed(p->tso, p->w, slot, &l))
		net_sleep(p->w, TICK_NS);
	assert_int_equal(tso_seal(p->tw, &l, &err), NAM_OK);
	assert_int_equal(tso_unseal(p->tw, &l), NAM_OK);
	tso_unpin(p->tw, &held);
	tso_answered(p->tso, dying.to);
	assert_int_equal(tso_snapshot(p->tw, &pin, NULL), NAM_OK);
	assert_true(pin.at >= dying.to);
	tso_unpin(p->tw, &pin);
	struct tso_stats s;
	tso_stats(p->tso, &s);
	dying.to = died ? s.holes_marked : UINT64_MAX; /* for the test's own proof */
	tso_abandon(q->tso);
	net_sim_bury(fix->sim, q->net);
	while (!q->ended)
		net_sleep(p->w, 100000);
	tso_worker_close(q->tw);
	tso_close(q->tso);
	q->joined = false;
}

/* ---- the connection breaks under the marks of CIDs that nobody uses ---- */

static unsigned in_doubt; /* runs in which the marks were */

static void
count_loss(void *arg)
{
	++*(unsigned *)arg;
}

/* A worker that posts nothing else asks for a new connection. With that one the doubt ends: so
 * `seen` rises again, and the vector can wrap. */
static void
lanes_break(struct fixture *fix)
{
	struct proc *p = &fix->p[0], *q = &fix->p[1];
	unsigned region = net_region_of(tso_lane_at(p->tso, 0)), lost = 0;
	struct tso_pin pin;
	struct nam_err err;
	assert_int_equal(tso_pin_now(q->tw, &pin), NAM_OK);
	tso_on_home_lost(q->tw, count_loss, &lost);
	q->stop = true;
	while (!q->ended)
		net_sleep(p->w, 100000);
	q->ended = false;
	dying.to = ahead(fix, 1, 3);
	assert_non_null(nam_co_start(net_worker_sched(q->w), bringer_main, fix, 64 << 10));
	while (q->tw->skips_out == 0)
		net_sleep(p->w, 50);
	net_sim_break_one(fix->sim, q->w, region);
	while (!q->ended)
		net_sleep(p->w, 1000);
	/* The answers may have been under way already. */
	assert_int_equal(lost > 0, tso_in_doubt(q->tw));
	in_doubt += lost > 0;
	assert_int_equal(net_worker_reconnect(q->w, region, &err), NAM_OK);
	tso_home_again(q->tw, NAM_OK);
	assert_false(tso_in_doubt(q->tw));
	tso_on_home_lost(q->tw, NULL, NULL);
	tso_unpin(q->tw, &pin);
	tso_answered(p->tso, dying.to);
	for (unsigned i = 0; tso_watermark(p->tso) < dying.to; i++) {
		assert_true(i < 100);
		assert_int_equal(tso_tick(q->tw), NAM_OK);
		net_sleep(p->w, TICK_NS);
	}
}

static void
test_lanes(void **state)
{
	(void)state;
	for (lanes_wanted = 2; lanes_wanted <= TSO_LANES; lanes_wanted *= 2)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run(1, 4096, seed, lanes_alone);
			run(2, 4096, seed, lanes_floor);
			run(2, 4096, seed, lanes_missed);
			run(2, 4096, seed, lanes_lag);
		}
	lanes_wanted = 0;
}

static void
test_lanes_die(void **state)
{
	(void)state;
	uint64_t filled = 0;
	lanes_wanted = 4;
	dying.to = 0;
	for (dying.verb = 1; dying.verb < 40 && dying.to != UINT64_MAX; dying.verb++) {
		run(2, 4096, dying.verb, lanes_dies);
		filled += dying.to != UINT64_MAX ? dying.to : 0;
	}
	assert_true(dying.to == UINT64_MAX && dying.verb > 5); /* it died at every verb */
	assert_true(filled > 0);
	lanes_wanted = 0;
}

static void
test_lanes_break(void **state)
{
	(void)state;
	lanes_wanted = 4;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run(2, 4096, seed, lanes_break);
	assert_true(in_doubt > 3);
	lanes_wanted = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_lanes_die),
		cmocka_unit_test(test_lanes_break),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
