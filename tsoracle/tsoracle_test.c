/* tsoracle_test.c -- the oracle's promises on the simulated fabric: prefixes, claims, wrapping,
 * holes, notes, budgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include "oracle_model.h"

static void
laws(struct fixture *fix)
{
	busy(fix, 12, 30);
	all_quiet(fix);
}

static void
test_laws(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 15; seed++)
		run(1 + (unsigned)seed % 4, 4096, seed, laws);
}

/* ---- wrap-around ---- */

static void
wraps(struct fixture *fix)
{
	busy(fix, 12, 60); /* about 480 CIDs: 7 laps of 64 */
	all_quiet(fix);
	struct tso_stats s;
	uint64_t waits = 0;
	for (unsigned i = 0; i < fix->procs; i++) {
		tso_stats(fix->p[i].tso, &s);
		waits += s.wrap_waits;
	}
	assert_true(waits > 0); /* the vector was really full */
}

static void
test_wraps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		run(1 + (unsigned)seed % 4, 64, seed, wraps);
}

/* A vector of 64, and processes that join and leave all the time. */
static void
come_and_go(struct fixture *fix)
{
	struct busy_arg b = { .fix = fix, .left = 4 };
	for (unsigned i = 0; i < 4; i++)
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), goer_main, &b, 64 << 10));
	for (unsigned round = 0; round < 25; round++) {
		unsigned i = 1 + round % 3;
		struct tso_pin pin;
		join(fix, i);
		uint64_t floor = tso_prefix(fix->p[0].tso);
		assert_int_equal(tso_snapshot(fix->p[i].tw, &pin, NULL), NAM_OK);
		/* A joiner is not behind: marks that were visible to others before it asked are
		 * visible to it. */
		assert_true(pin.at >= floor);
		net_sleep(fix->p[i].w, 3 * TICK_NS);
		for (unsigned k = 0; k <= 3; k++)
			if (fix->p[k].joined)
				assert_true(tso_watermark(fix->p[k].tso) <= pin.at);
		tso_unpin(fix->p[i].tw, &pin);
		leave(fix, i);
	}
	b.stop = true;
	while (b.left > 0)
		net_sleep(fix->p[0].w, 100000);
	assert_true(b.done > 300);
}
static void
test_come_and_go(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		run(1, 64, seed, come_and_go);
}

/* ---- stamps: everything that was under way has ended ---- */

static void
commit_one(struct fixture *fix)
{
	struct tso_pin pin;
	struct tso_claim cl;
	assert_int_equal(tso_snapshot(fix->p[0].tw, &pin, NULL), NAM_OK);
	claim(fix, 0, &cl, 0);
	mark(fix, 0, &cl, 0);
	tso_unpin(fix->p[0].tw, &pin);
}

static void
stamps(struct fixture *fix)
{
	struct proc *a = &fix->p[0], *b = &fix->p[fix->procs - 1];
	for (unsigned round = 0; round < 6; round++) {
		struct tso_pin pin;
		uint64_t bound;
		commit_one(fix);
		net_sleep(a->w, 20 * TICK_NS);
		/* The newest snapshot there is, held open; no commit follows, or one does. */
		assert_int_equal(tso_snapshot(b->tw, &pin, NULL), NAM_OK);
		uint64_t stamp = tso_stamp(a->tso);
		assert_int_equal(tso_bound(a->tso, a->w, &bound), NAM_OK);
		for (unsigned i = 0; i < 20; i++) {
			if (round % 2 == 1 && i == 10)
				commit_one(fix);
			net_sleep(a->w, 2 * TICK_NS);
			for (unsigned p = 0; p < fix->procs; p++)
				assert_false(tso_bound_passed(fix->p[p].tso, bound));
			assert_false(tso_passed(a->tso, stamp));
		}
		tso_unpin(b->tw, &pin);
		commit_one(fix);
		net_sleep(a->w, 20 * TICK_NS);
		assert_true(tso_passed(a->tso, stamp));
		for (unsigned p = 0; p < fix->procs; p++)
			assert_true(tso_bound_passed(fix->p[p].tso, bound));
	}
}
static void
test_stamps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++)
		run(1 + (unsigned)seed % 4, 256, seed, stamps);
}

/* ---- holes: CIDs without an owner ---- */

static void
holes(struct fixture *fix)
{
	/* A process claimed five CIDs and is gone: no process holds them, and none will mark
	 * them. */
	uint64_t seen;
	assert_int_equal(net_faa1(fix->p[0].w, net_plus(fix->anchor, offsetof(struct tso_anchor, counter)), 5,
			     &seen, NULL),
	    NAM_OK);
	for (uint64_t k = 0; k < 5; k++)
		fix->claimed[count_of(fix, seen + k)] = fix->marked[count_of(fix, seen + k)] = 1;
	struct tso_claim cl;
	tso_cid cid = claim(fix, 0, &cl, 0);
	mark(fix, 0, &cl, 0);
	/* A claim that is held is no hole, however long it takes. */
	struct tso_claim slow;
	tso_cid held = claim(fix, fix->procs - 1, &slow, 0);
	net_sleep(fix->p[0].w, 50 * TICK_NS);
	struct tso_pin pin;
	for (unsigned i = 0; i < fix->procs; i++) {
		assert_int_equal(tso_snapshot(fix->p[i].tw, &pin, NULL), NAM_OK);
		assert_true(pin.at >= cid && pin.at < held);
		tso_unpin(fix->p[i].tw, &pin);
	}
	uint64_t filled = 0;
	for (unsigned i = 0; i < fix->procs; i++) {
		struct tso_stats s;
		tso_stats(fix->p[i].tso, &s);
		filled += s.holes_marked;
	}
	assert_true(filled >= 5);
	mark(fix, fix->procs - 1, &slow, 0);
	assert_int_equal(tso_wait_for(fix->p[0].tw, held), NAM_OK);
}
static void
test_holes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		run(1 + (unsigned)seed % 3, 256, seed, holes);
}

/* ---- idle owners ---- */

static void
idle_and_sealed(struct fixture *fix)
{
	struct proc *q = &fix->p[1];
	unsigned slot = tso_owner(q->tso), epoch = tso_epoch(q->tso);
	struct tso_pin pin;
	assert_int_equal(tso_snapshot(q->tw, &pin, NULL), NAM_OK);
	uint64_t seen_then = pin.at;
	tso_unpin(q->tw, &pin);
	net_sleep(q->w, 200000000); /* nothing to do for long: it is idle */
	assert_int_equal(atomic_load(&q->tso->idle), IDLE_YES);
	/* Idle and ticking: it is not sealed, and wakes in its own slot. */
	net_sleep(q->w, 3000000000);
	assert_int_equal(tso_snapshot(q->tw, &pin, NULL), NAM_OK);
	tso_unpin(q->tw, &pin);
	assert_int_equal(tso_epoch(q->tso), epoch);
	net_sleep(q->w, 200000000);
	q->stall = true; /* stopped by its machine, for example */
	busy(fix, 1, 40);
	net_sleep(q->w, 1500000000);
	struct tso_stats s;
	tso_stats(fix->p[0].tso, &s);
	assert_int_equal(s.seals, 1);
	/* The others went on: many laps of 64, watermark and all. */
	busy(fix, 1, 200);
	net_sleep(fix->p[0].w, 10 * TICK_NS);
	assert_true(tso_watermark(fix->p[0].tso) > seen_then + 64);
	/* Another process takes the slot that is free now. */
	join(fix, 2);
	assert_int_equal(tso_owner(fix->p[2].tso), slot);
	unsigned epoch2 = tso_epoch(fix->p[2].tso);
	assert_int_not_equal(epoch2, epoch);
	/* The one that lost its slot wakes: in another slot, in another epoch, and up to date. */
	uint64_t floor = tso_prefix(fix->p[0].tso);
	q->stall = false;
	assert_int_equal(tso_snapshot(q->tw, &pin, NULL), NAM_OK);
	assert_true(pin.at >= floor);
	assert_int_not_equal(tso_owner(q->tso), slot);
	net_sleep(q->w, 10 * TICK_NS);
	for (unsigned i = 0; i < 3; i++)
		assert_true(tso_watermark(fix->p[i].tso) <= pin.at);
	tso_unpin(q->tw, &pin);
	fix->procs = 3;
	busy(fix, 9, 40);
	all_quiet(fix);
	/* Its owner slot is another, though the worker is the same: the same slot would need
	 * another epoch. */
	assert_true(tso_owner(q->tso) != slot || tso_epoch(q->tso) != epoch);
	assert_int_equal(tso_epoch(fix->p[2].tso), epoch2);
}
static void
test_idle_and_sealed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		run(2, 64, seed, idle_and_sealed);
}

/* ---- the baseline: CIDs dealt out beforehand ---- */

static void
work(struct fixture *fix, unsigned i)
{
	struct tso_pin pin;
	struct tso_claim cl;
	assert_int_equal(tso_snapshot(fix->p[i].tw, &pin, NULL), NAM_OK);
	claim(fix, i, &cl, 0);
	mark(fix, i, &cl, 0);
	tso_unpin(fix->p[i].tw, &pin);
}

static void
one_is_idle(struct fixture *fix)
{
	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < 4; i++)
			work(fix, i);
	struct tso_pin pin;
	assert_int_equal(tso_snapshot(fix->p[0].tw, &pin, NULL), NAM_OK);
	tso_cid all = pin.at;
	tso_unpin(fix->p[0].tw, &pin);
	assert_true(all >= FIRST + 79); /* all four at work: the snapshot keeps up */
	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < 3; i++)
			work(fix, i);
	net_sleep(fix->p[0].w, 500000000);
	assert_int_equal(tso_snapshot(fix->p[0].tw, &pin, NULL), NAM_OK);
	if (fix->scheme == TSO_PREASSIGNED)
		assert_true(pin.at <= all + 4); /* one idle client stops the prefix for all */
	else
		assert_true(pin.at >= all + 60); /* an idle client costs nothing */
	tso_unpin(fix->p[0].tw, &pin);
}
static void
test_preassigned(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		run_scheme(4, 4096, seed, TSO_PREASSIGNED, 4, one_is_idle);
		run_scheme(4, 4096, seed, TSO_CLAIM, 4, one_is_idle);
	}
}

/* ---- notes ---- */

/* A note of one kind does not count as the other kind. */
static void
notes(struct fixture *fix)
{
	static const unsigned kinds[] = { TSO_NOTE_CATALOG, TSO_NOTE_MEMORY, 0,
		TSO_NOTE_CATALOG | TSO_NOTE_MEMORY };
	for (unsigned i = 0; i < 40; i++) {
		struct tso_claim cl;
		struct tso_pin pin;
		const struct tso *other = fix->p[1].tso;
		unsigned kind = kinds[i % 4];
		tso_cid noted = tso_noted(other), memory = tso_noted_memory(other);
		work(fix, 0);
		tso_cid cid = claim(fix, 0, &cl, 0);
		mark(fix, 0, &cl, kind);
		work(fix, 0);
		assert_int_equal(tso_snapshot(fix->p[1].tw, &pin, NULL), NAM_OK);
		assert_true(pin.at >= cid && noted < cid && memory < cid);
		assert_int_equal(tso_noted(other), kind & TSO_NOTE_CATALOG ? cid : noted);
		assert_int_equal(tso_noted_memory(other), kind & TSO_NOTE_MEMORY ? cid : memory);
		tso_unpin(fix->p[1].tw, &pin);
	}
}
static void
test_notes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run(2, 64, seed, notes);
}

/* ---- budgets ---- */

static void
asker_main(void *arg)
{
	struct client *c = arg;
	for (unsigned i = 0; i < c->n; i++) {
		struct tso_pin pin;
		struct net_counts counts = { 0 };
		assert_int_equal(tso_snapshot(c->fix->p[0].tw, &pin, &counts), NAM_OK);
		assert_true(counts.round_trips <= 1);
		tso_unpin(c->fix->p[0].tw, &pin);
	}
	--*c->left;
}
static void
asker_alone(struct fixture *fix, unsigned clients, struct tso_stats *used)
{
	struct client c[16];
	unsigned left = clients;
	struct tso_stats before;
	net_sleep(fix->p[0].w, 3 * TICK_NS / 2);
	tso_stats(fix->p[0].tso, &before);
	for (unsigned i = 0; i < clients; i++) {
		c[i] = (struct client){ .fix = fix, .n = 400, .left = &left };
		assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), asker_main, &c[i], 64 << 10));
	}
	uint64_t began = net_now_ns(fix->p[0].w);
	while (left > 0)
		net_sleep(fix->p[0].w, 1000);
	uint64_t ticks = (net_now_ns(fix->p[0].w) - began) / TICK_NS + 2;
	tso_stats(fix->p[0].tso, used);
	used->snapshots -= before.snapshots;
	used->snapshot_reads -= before.snapshot_reads + ticks; /* a heartbeat READs as well */
}
static void
budgets(struct fixture *fix)
{
	struct tso_stats used;
	asker_alone(fix, 1, &used);
	assert_int_equal(used.snapshots, 400);
	assert_true(used.snapshot_reads <= used.snapshots);
	asker_alone(fix, 16, &used);
	assert_int_equal(used.snapshots, 16 * 400);
	assert_true(used.snapshot_reads * 8 <= used.snapshots);
	/* Sixteen claims at once: one FETCH_ADD. */
	struct tso_claim cl[16];
	struct tso_stats before;
	tso_stats(fix->p[0].tso, &before);
	for (unsigned i = 0; i < 16; i++)
		tso_claim_start(fix->p[0].tw, &cl[i], 0, NULL);
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(tso_claim_wait(fix->p[0].tw, &cl[i]), NAM_OK);
		assert_int_equal(cl[i].cid, cl[0].cid + i);
	}
	tso_stats(fix->p[0].tso, &used);
	assert_int_equal(used.claim_faas - before.claim_faas, 1);
	for (unsigned i = 16; i-- > 0;) /* marked in any order */
		mark(fix, 0, &cl[i], 0);
	assert_int_equal(tso_wait_for(fix->p[0].tw, cl[15].cid), NAM_OK);
}
static void
test_budgets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run(1, 4096, seed, budgets);
}

/* ---- several workers: their claims share a FETCH_ADD ---- */

enum { SHARERS = 8, SHARED_CLAIMS = 300 };

struct sharer {
	struct fixture *fix;
	struct net_worker *w;
	struct tso_worker *tw;
	bool ended;
};

static void
sharer_main(void *arg)
{
	struct sharer *s = arg;
	struct fixture *fix = s->fix;
	for (unsigned i = 0; i < SHARED_CLAIMS; i++) {
		struct tso_pin pin;
		struct tso_claim c[2];
		unsigned n = 1 + (i % 16 == 0);
		assert_int_equal(tso_snapshot(s->tw, &pin, NULL), NAM_OK);
		for (unsigned k = 0; k < n; k++)
			tso_claim_start(s->tw, &c[k], 0, NULL);
		for (unsigned k = 0; k < n; k++) {
			assert_int_equal(tso_claim_wait(s->tw, &c[k]), NAM_OK);
			assert_true(c[k].cid > pin.at); /* no prefix may pass an open claim */
			assert_false(fix->claimed[count_of(fix, c[k].cid)]++);
		}
		net_sleep(s->w, nam_rng_below(net_rng(s->w), 3000));
		for (unsigned k = 0; k < n; k++) {
			assert_true(tso_prefix(fix->p[0].tso) < c[k].cid);
			tso_mark_wait(s->tw, &c[k], 0);
		}
		tso_unpin(s->tw, &pin);
	}
	s->ended = true;
}

/* FETCH_ADDs for SHARERS x SHARED_CLAIMS claims. */
static uint64_t
share(struct fixture *fix)
{
	struct sharer s[SHARERS];
	struct tso_stats before, after;
	tso_stats(fix->p[0].tso, &before);
	for (unsigned i = 0; i < SHARERS; i++) {
		s[i] = (struct sharer){ .fix = fix };
		assert_int_equal(net_worker_open(fix->p[0].net, &s[i].w, NULL), NAM_OK);
		assert_int_equal(tso_worker_open(fix->p[0].tso, s[i].w, &s[i].tw), NAM_OK);
	}
	for (unsigned i = 0; i < SHARERS; i++)
		assert_non_null(nam_co_start(net_worker_sched(s[i].w), sharer_main, &s[i], 64 << 10));
	for (unsigned i = 0; i < SHARERS; i++)
		while (!s[i].ended)
			net_sleep(fix->p[0].w, 10000);
	tso_stats(fix->p[0].tso, &after);
	for (unsigned i = 0; i < SHARERS; i++) {
		tso_worker_close(s[i].tw);
		net_worker_close(s[i].w);
	}
	return after.claim_faas - before.claim_faas;
}

static void
shared(struct fixture *fix)
{
	/* The counter is not hot: no claim waits for another one. */
	uint64_t alone = share(fix);
	assert_true(alone >= SHARERS * SHARED_CLAIMS);
	tso_share_claims(fix->p[0].tso);
	assert_true(share(fix) < alone * 3 / 4);
}

static void
test_shared(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run(2, 1 << 16, seed, shared);
}

/* ---- the same with lanes: several words give out CIDs ---- */

static void
test_with_lanes(void **state)
{
	(void)state;
	for (lanes_wanted = 2; lanes_wanted <= TSO_LANES; lanes_wanted *= 2) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run(1 + (unsigned)seed % 4, 64, seed, wraps);
			run(1, 64, seed, come_and_go);
			run(2, 64, seed, idle_and_sealed);
			run(2, 64, seed, notes);
		}
		run(4, 256, lanes_wanted, laws);
	}
	lanes_wanted = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_idle_and_sealed),
		cmocka_unit_test(test_preassigned),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_with_lanes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
