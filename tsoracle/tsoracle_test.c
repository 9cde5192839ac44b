/* tsoracle_test.c -- the oracle's promises on the simulated fabric: prefixes, claims, wrapping,
 * idle owners, budgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include "tso_internal.h"

#include <base/hash.h>
#include <net/region_format.h>
#include <net/sim/sim.h>

#include <cmocka.h>

enum { PROCS = 6, CIDS_MAX = 1 << 19, TICK_NS = 2000000 };

#define FIRST ((UINT64_C(1) << TSO_COUNT_BITS) + 1)

struct proc {
	struct net *net;
	struct net_worker *w;
	struct tso *tso;
	struct tso_worker *tw;
	bool stop, stall, ended, joined; /* of its heartbeat */
};

struct fixture {
	struct net_sim *sim;
	struct proc p[PROCS];
	unsigned procs;
	uint32_t vector;
	enum tso_scheme scheme;
	unsigned clients, lanes;
	net_addr anchor;
	uint64_t first; /* CID of the view */
	void (*body)(struct fixture *);
	void (*prepare)(struct fixture *); /* after the oracle was made */
	bool ok;
	/* What really happened, by count of CID. */
	uint8_t claimed[CIDS_MAX], marked[CIDS_MAX];
	uint64_t marked_up_to; /* all CIDs below FIRST + this were marked: their marks had been
			        * posted */
};

static uint64_t
count_of(const struct fixture *fix, tso_cid cid)
{
	assert_true(cid >= fix->first && cid - fix->first < CIDS_MAX);
	return cid - fix->first;
}

static void
heart(void *arg)
{
	struct proc *p = arg;
	while (!p->stop) {
		if (!p->stall)
			assert_int_equal(tso_tick(p->tw), NAM_OK);
		net_sleep(p->w, TICK_NS);
	}
	p->ended = true;
}

static void
join(struct fixture *fix, unsigned i)
{
	struct proc *p = &fix->p[i];
	assert_int_equal(tso_join(p->w, fix->anchor, &p->tso), NAM_OK);
	assert_int_equal(tso_worker_open(p->tso, p->w, &p->tw), NAM_OK);
	p->stop = p->stall = p->ended = false;
	p->joined = true;
	assert_non_null(nam_co_start(net_worker_sched(p->w), heart, p, 128 << 10));
}

static void
leave(struct fixture *fix, unsigned i)
{
	struct proc *p = &fix->p[i];
	p->stop = true;
	while (!p->ended)
		net_sleep(p->w, 100000);
	tso_worker_close(p->tw);
	assert_int_equal(tso_leave(p->w, p->tso), NAM_OK);
	tso_close(p->tso);
	p->joined = false;
}

static uint32_t lease_ms = 100;
static unsigned lanes_wanted; /* of the next runs */

static void
main_co(void *arg)
{
	struct fixture *fix = arg;
	assert_int_equal(tso_format(fix->p[0].w, 1, fix->vector, fix->scheme, fix->clients, lease_ms,
			     fix->lanes, &fix->anchor),
	    NAM_OK);
	if (fix->prepare != NULL)
		fix->prepare(fix);
	for (unsigned i = 0; i < fix->procs; i++)
		join(fix, i);
	fix->body(fix);
	for (unsigned i = 0; i < fix->procs; i++)
		if (fix->p[i].joined)
			leave(fix, i);
	fix->ok = true;
}

static void
run_prepared(unsigned procs, uint32_t vector, uint64_t seed, enum tso_scheme scheme, unsigned clients,
    void (*body)(struct fixture *), uint64_t region_bytes, void (*prepare)(struct fixture *))
{
	struct fixture *fix = calloc(1, sizeof *fix);
	assert_non_null(fix);
	fix->procs = procs;
	fix->vector = vector;
	fix->first = FIRST;
	fix->scheme = scheme;
	fix->clients = clients;
	fix->lanes = lanes_wanted;
	fix->body = body;
	fix->prepare = prepare;
	struct net_sim_config cfg = { .seed = seed,
		.nodes = 1,
		.region_bytes = region_bytes,
		.tear_permille = 300,
		.reorder_permille = 300 };
	assert_int_equal(net_sim_open(&fix->sim, &cfg), NAM_OK);
	for (unsigned i = 0; i < PROCS; i++) {
		assert_int_equal(net_sim_attach(fix->sim, &fix->p[i].net), NAM_OK);
		assert_int_equal(net_worker_open(fix->p[i].net, &fix->p[i].w, NULL), NAM_OK);
	}
	assert_non_null(nam_co_start(net_worker_sched(fix->p[0].w), main_co, fix, 256 << 10));
	assert_true(net_sim_run(fix->sim, NULL, NULL));
	assert_true(fix->ok);
	for (unsigned i = 0; i < PROCS; i++) {
		net_worker_close(fix->p[i].w);
		net_close(fix->p[i].net);
	}
	net_sim_close(fix->sim);
	free(fix);
}

static void
run_scheme(unsigned procs, uint32_t vector, uint64_t seed, enum tso_scheme scheme, unsigned clients,
    void (*body)(struct fixture *))
{
	run_prepared(procs, vector, seed, scheme, clients, body, 4 << 20, NULL);
}

static void
run(unsigned procs, uint32_t vector, uint64_t seed, void (*body)(struct fixture *))
{
	run_scheme(procs, vector, seed, TSO_CLAIM, 0, body);
}

/* ---- one "commit": claim, work, mark ---- */

static tso_cid
claim(struct fixture *fix, unsigned i, struct tso_claim *c, tso_cid floor)
{
	struct proc *p = &fix->p[i];
	tso_claim_start(p->tw, c, floor, NULL);
	assert_int_equal(tso_claim_wait(p->tw, c), NAM_OK);
	uint64_t n = count_of(fix, c->cid);
	assert_int_equal(fix->claimed[n], 0); /* never given twice */
	fix->claimed[n] = 1;
	return c->cid;
}

/* Marks and waits until the mark has landed. */
static void
mark(struct fixture *fix, unsigned i, struct tso_claim *c, unsigned note)
{
	fix->marked[count_of(fix, c->cid)] = 1;
	tso_mark_wait(fix->p[i].tw, c, note);
}

struct client {
	struct fixture *fix;
	unsigned p, n;
	unsigned *left;
	uint64_t last; /* snapshot before */
};

/* Snapshots rise, cover every commit answered here, and never cover an unmarked CID. */
static void
client_main(void *arg)
{
	struct client *c = arg;
	struct fixture *fix = c->fix;
	struct proc *p = &fix->p[c->p];
	struct nam_rng *d = net_rng(p->w);
	for (unsigned i = 0; i < c->n; i++) {
		struct tso_pin pin;
		uint64_t answered = atomic_load(&p->tso->answered);
		assert_int_equal(tso_snapshot(p->tw, &pin, NULL), NAM_OK);
		assert_true(pin.at >= c->last && pin.at >= answered);
		c->last = pin.at;
		for (uint64_t k = fix->first; k <= pin.at; k++)
			/* The prefix has no hole; with lanes, what no process claims is skipped. */
			assert_true(fix->marked[count_of(fix, k)] ||
				    (fix->lanes > 1 && !fix->claimed[count_of(fix, k)]));
		assert_true(tso_watermark(p->tso) <= pin.at);
		if (nam_rng_below(d, 3)) {
			struct tso_claim cl;
			tso_cid cid = claim(fix, c->p, &cl, pin.at);
			assert_true(cid > pin.at);
			if (nam_rng_below(d, 4) == 0)
				net_sleep(p->w, nam_rng_below(d, 30000));
			/* While it is not marked, no snapshot covers it. */
			for (unsigned k = 0; k < fix->procs; k++)
				assert_true(tso_prefix(fix->p[k].tso) < cid);
			mark(fix, c->p, &cl, 0);
			tso_answered(p->tso, cid);
		} else if (nam_rng_below(d, 8) == 0) {
			net_sleep(p->w, nam_rng_below(d, 5000000));
		}
		/* However old, it is pinned: no watermark passes it. */
		for (unsigned k = 0; k < fix->procs; k++)
			assert_true(tso_watermark(fix->p[k].tso) <= pin.at);
		tso_unpin(p->tw, &pin);
	}
	--*c->left;
}

static void
busy(struct fixture *fix, unsigned clients, unsigned n)
{
	struct client c[32];
	unsigned left = clients;
	assert_true(clients <= 32);
	for (unsigned i = 0; i < clients; i++) {
		c[i] = (struct client){ .fix = fix, .p = i % fix->procs, .n = n, .left = &left };
		assert_non_null(
		    nam_co_start(net_worker_sched(fix->p[c[i].p].w), client_main, &c[i], 64 << 10));
	}
	while (left > 0)
		net_sleep(fix->p[0].w, 100000);
}

/* When no process is at work, each snapshot covers every commit, and the watermark follows. */
static void
all_quiet(struct fixture *fix)
{
	uint64_t last = fix->first - 1;
	for (uint64_t k = fix->first; count_of(fix, k) < CIDS_MAX - 1; k++)
		if (fix->claimed[count_of(fix, k)])
			last = k;
		else if (fix->lanes <= 1)
			break;
	if (fix->lanes > 1) /* a lane may lag behind until a heart brings it forward */
		net_sleep(fix->p[0].w, 10 * TICK_NS);
	for (unsigned i = 0; i < fix->procs; i++) {
		struct tso_pin pin;
		assert_int_equal(tso_snapshot(fix->p[i].tw, &pin, NULL), NAM_OK);
		assert_true(pin.at >= last);
		tso_unpin(fix->p[i].tw, &pin);
	}
	net_sleep(fix->p[0].w, 50000000); /* some looks, however many slots there are */
	for (unsigned i = 0; i < fix->procs; i++)
		assert_true(tso_watermark(fix->p[i].tso) >= last);
}

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
struct busy_arg {
	struct fixture *fix;
	bool stop;
	unsigned left;
	uint64_t done;
};
static void
goer_main(void *arg)
{
	struct busy_arg *b = arg;
	struct fixture *fix = b->fix;
	while (!b->stop) {
		struct tso_claim cl;
		struct tso_pin pin;
		assert_int_equal(tso_snapshot(fix->p[0].tw, &pin, NULL), NAM_OK);
		claim(fix, 0, &cl, pin.at);
		mark(fix, 0, &cl, 0);
		tso_unpin(fix->p[0].tw, &pin);
		b->done++;
	}
	b->left--;
}
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
	for (uint64_t seed = 1; seed <= 3; seed++)
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
	for (uint64_t seed = 1; seed <= 3; seed++)
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
	for (uint64_t seed = 1; seed <= 3; seed++)
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
	for (uint64_t seed = 1; seed <= 4; seed++)
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
	for (uint64_t seed = 1; seed <= 3; seed++)
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
	for (uint64_t seed = 1; seed <= 3; seed++)
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
	for (uint64_t seed = 1; seed <= 4; seed++) {
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
	for (uint64_t seed = 1; seed <= 3; seed++)
		run(2, 64, seed, next_view);
}

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

static void
test_lanes(void **state)
{
	(void)state;
	for (lanes_wanted = 2; lanes_wanted <= TSO_LANES; lanes_wanted *= 2) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run(1, 4096, seed, lanes_alone);
			run(2, 4096, seed, lanes_floor);
			run(2, 4096, seed, lanes_missed);
			run(2, 4096, seed, lanes_lag);
			run(1 + (unsigned)seed % 4, 64, seed, wraps);
			run(1, 64, seed, come_and_go);
			run(2, 64, seed, idle_and_sealed);
			run(2, 64, seed, notes);
		}
		run(4, 256, lanes_wanted, laws);
		run(4, 64, lanes_wanted, sleepers);
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
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_idle_and_sealed),
		cmocka_unit_test(test_preassigned),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_shared),
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
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_lanes_die),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
