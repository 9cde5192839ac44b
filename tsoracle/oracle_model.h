/*
 * oracle_model.h -- processes that use one oracle on the simulated fabric, and what really happened
 * there.
 *
 * Included by tests only. It keeps which CIDs were claimed and marked, so a test can say what a
 * snapshot may show; it shares no code with the oracle.
 */
#ifndef NAM_TSORACLE_ORACLE_MODEL_H
#define NAM_TSORACLE_ORACLE_MODEL_H

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

static inline uint64_t
count_of(const struct fixture *fix, tso_cid cid)
{
	assert_true(cid >= fix->first && cid - fix->first < CIDS_MAX);
	return cid - fix->first;
}

static inline void
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

static inline void
join(struct fixture *fix, unsigned i)
{
	struct proc *p = &fix->p[i];
	assert_int_equal(tso_join(p->w, fix->anchor, &p->tso), NAM_OK);
	assert_int_equal(tso_worker_open(p->tso, p->w, &p->tw), NAM_OK);
	p->stop = p->stall = p->ended = false;
	p->joined = true;
	assert_non_null(nam_co_start(net_worker_sched(p->w), heart, p, 128 << 10));
}

static inline void
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

static inline void
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

static inline void
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

static inline void
run_scheme(unsigned procs, uint32_t vector, uint64_t seed, enum tso_scheme scheme, unsigned clients,
    void (*body)(struct fixture *))
{
	run_prepared(procs, vector, seed, scheme, clients, body, 4 << 20, NULL);
}

static inline void
run(unsigned procs, uint32_t vector, uint64_t seed, void (*body)(struct fixture *))
{
	run_scheme(procs, vector, seed, TSO_CLAIM, 0, body);
}

/* ---- one "commit": claim, work, mark ---- */

static inline tso_cid
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
static inline void
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
static inline void
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

static inline void
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
static inline void
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

/* Clients of process 0 that commit until `stop`. */
struct busy_arg {
	struct fixture *fix;
	bool stop;
	unsigned left;
	uint64_t done;
};

static inline void
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

#endif
