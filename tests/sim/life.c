/*
 * life.c -- processes that come and go beside the clients' own: they join, work, idle, work again
 * and leave.
 *
 * A fault strikes each at one of these steps: it dies with one of its verbs, or stalls for longer
 * than a lease, while it joins, works or leaves; or it stalls while it is idle, and then more
 * commit ids pass than the vector has marks. A process that stalled while it was idle has lost
 * nothing and goes on. Notes that come with marks meanwhile must reach every process.
 */
#include "sim_txn.h"

#include <stdlib.h>
#include <string.h>

enum {
	LEASE_NS = SIM_LEASE_MS * 1000000,
	IDLE_NS = 130000000, /* it is idle after 100 ms without a pin */
	POLL_NS = 500000,
	EXIT_VERBS = 300, /* a short exit has about so many */
	JOIN_VERBS = 60,
	NOTES_NS = 60000000, /* so long behind the pause of an idle one each commit id has a note */
	BEFORE_NS = 3000000, /* ... and so long before its end */
	HEAR_NS = 30000000,  /* by then every prefix covers what was marked */
	GAP_NS = 30000000,   /* between two visits, at most */
};

/* From the moment it leaves, or is struck: it collects for 2 s at most, and waits for processes
 * that have to be recovered. */
#define END_NS UINT64_C(6000000000)

enum strike { NONE, DIES_JOINING, DIES_WORKING, DIES_LEAVING, STILL_WORKING, STILL_LEAVING, STRIKES };

struct visit {
	struct run *run;
	struct place place;
	unsigned number;
	enum strike strike;
	bool idles;                      /* stalls while it is idle */
	bool open, idle, leaving, ended; /* as far as it has come */
};

static struct {
	struct visit visit[VISITS_MAX];
	unsigned n;
} it;

/* ---- the visitor ------------------------------------------------------------------ */

static bool
is_dead(const struct visit *v)
{
	return net_sim_crashed(v->place.net);
}

static void
work(struct visit *v, struct session *s, unsigned n)
{
	for (unsigned i = 0; i < n && !v->run->bad && !is_dead(v) && s->told == 0; i++) {
		client_transaction(s);
		if (dice(s, 4) == 0)
			net_sleep(s->w, dice(s, 100000));
	}
}

static void
visitor_main(void *arg)
{
	struct visit *v = arg;
	struct run *r = v->run;
	struct place *p = &v->place;
	nam_status st = place_open(r, p, false);
	v->open = st == NAM_OK;
	if (st != NAM_OK && !is_dead(v) && !p->troubled && !(st == NAM_FULL && (r->shape.loads >> TINY & 1)))
		run_bad(r, "a process cannot join: %s", nam_status_name(st));
	struct session s = { .run = r,
		.place = p,
		.w = p->w[0],
		.tw = p->tw[0],
		.process = PROCS_MAX + v->number,
		.number = CLIENTS + 1 + v->number };
	nam_arena_init(&s.arena, 0);
	if (v->open) {
		work(v, &s, 6 + (unsigned)dice(&s, 20));
		if (v->idles) {
			v->idle = true;
			net_sleep(p->w[0], IDLE_NS + dice(&s, IDLE_NS));
			v->idle = false;
			work(v, &s, 6 + (unsigned)dice(&s, 20));
		}
		v->leaving = true;
	}
	nam_arena_fini(&s.arena);
	place_close(r, p);
	v->ended = true;
}

/* ---- what befalls it, in a coroutine of process 0 ------------------------------------ */

static void
still(struct visit *v, struct nam_rng *dice)
{
	v->place.troubled = v->place.stalled = true;
	v->run->trouble.stalls++;
	net_sim_freeze(v->run->sim, v->place.net, LEASE_NS + nam_rng_below(dice, 3 * LEASE_NS));
}

static void
dies(struct visit *v, uint64_t verbs, struct nam_rng *dice)
{
	net_sim_crash_at(
	    v->run->sim, v->place.net, net_sim_verbs(v->place.net) + 1 + nam_rng_below(dice, verbs));
}

/* Spends commit ids of process 0. With a note, every process whose prefix covers the commit must
 * hear of it. */
static void
spend(struct run *r, unsigned n, unsigned note)
{
	struct txn_worker *tw = r->place[0].tw[0];
	struct tso_worker *o = txn_worker_tso(tw);
	for (unsigned i = 0; i < n && !r->bad && r->lost == 0; i++) {
		struct tso_pin pin;
		struct tso_claim c;
		if (tso_snapshot(o, &pin, NULL) != NAM_OK)
			return;
		tso_claim_start(o, &c, 0, NULL);
		nam_status st = tso_claim_wait(o, &c);
		tso_cid cid = c.cid;
		if (st == NAM_OK)
			tso_mark_wait(o, &c, note);
		tso_unpin(o, &pin);
		if (st != NAM_OK) {
			run_bad(r, "no commit id to be had: %s", nam_status_name(st));
			return;
		}
		if (note == 0)
			continue;
		st = tso_wait_for(o, cid);
		if (st != NAM_OK)
			run_bad(r, "commit %lx does not become visible: %s", cid, nam_status_name(st));
		struct net_worker *w = r->place[0].w[0];
		uint64_t until = net_sim_now_ns(r->sim) + HEAR_NS;
		for (unsigned k = 0; k < r->shape.procs; k++) {
			const struct tso *t = txn_db_oracle(r->place[k].db);
			/* Not all processes look at once. A process whose prefix goes on does not
			 * miss it. */
			while (tso_prefix(t) < cid && !tso_is_idle(t) && net_sim_now_ns(r->sim) < until)
				net_sleep(w, HEAR_NS / 50);
			if (r->place[k].troubled || net_sim_crashed(r->place[k].net))
				continue;
			r->trouble.notes++;
			if (tso_prefix(t) >= cid && tso_noted(t) < cid)
				run_bad(r, "process %u has not heard of the note of commit %lx", k, cid);
		}
	}
}

/* While it is idle it stalls, longer than its slot is kept for it, and the vector wraps. */
static void
still_idle(struct visit *v, struct nam_rng *dice)
{
	struct run *r = v->run;
	struct net_worker *w = r->place[0].w[0];
	while (!v->ended && !r->bad && !is_dead(v) && !v->leaving &&
	       !(v->idle && tso_is_idle(txn_db_oracle(v->place.db))))
		net_sleep(w, POLL_NS);
	if (v->ended || v->leaving || r->bad || is_dead(v))
		return;
	uint64_t ns = 12 * LEASE_NS / 10 + nam_rng_below(dice, 2 * LEASE_NS);
	uint64_t end = net_sim_now_ns(r->sim) + ns;
	net_sim_freeze(r->sim, v->place.net, ns);
	r->trouble.idle_stalls++;
	net_sleep(w, ns - ns / 4);
	if (r->shape.vector <= 256)
		spend(r, r->shape.vector + (unsigned)nam_rng_below(dice, 3 * r->shape.vector), 0);
	while (net_sim_now_ns(r->sim) + BEFORE_NS < end)
		net_sleep(w, POLL_NS);
	while (net_sim_now_ns(r->sim) < end + NOTES_NS && !r->bad)
		spend(r, 1, TSO_NOTE_CATALOG);
}

static void
visit_main(void *arg)
{
	struct visit *v = arg;
	struct run *r = v->run;
	struct net_worker *w = r->place[0].w[0];
	struct nam_rng *dice = net_rng(w);
	/* Where memory is to be used up, it joins before that. */
	net_sleep(w, nam_rng_below(dice, r->shape.tight ? GAP_NS / 1000 : GAP_NS) * (v->number + 1));
	if (r->lost != 0 || r->bad || !place_attach(r, &v->place))
		goto out;
	r->trouble.visits++;
	v->strike = r->shape.idles ? NONE : (enum strike)nam_rng_below(dice, STRIKES);
	v->idles = r->shape.idles || nam_rng_below(dice, 2);
	if (r->shape.tight)
		v->strike =
		    v->idles ? NONE : DIES_WORKING + (enum strike)nam_rng_below(dice, STRIKES - DIES_WORKING);
	if (v->strike == DIES_JOINING)
		dies(v, JOIN_VERBS, dice);
	nam_co_start(net_worker_sched(v->place.w[0]), visitor_main, v, 256 << 10);
	while (!v->open && !v->ended && !is_dead(v) && !r->bad)
		net_sleep(w, POLL_NS);
	if (v->strike == DIES_WORKING)
		dies(v, 20 * EXIT_VERBS, dice);
	if (v->strike == STILL_WORKING) {
		net_sleep(w, nam_rng_below(dice, 500000));
		still(v, dice);
	}
	if (v->idles && !is_dead(v))
		still_idle(v, dice);
	while (!v->leaving && !v->ended && !is_dead(v) && !r->bad)
		net_sleep(w, POLL_NS / 50);
	if (v->strike == DIES_LEAVING)
		dies(v, EXIT_VERBS, dice);
	if (v->strike == STILL_LEAVING) {
		v->place.troubled = v->place.stalled = true;
		r->trouble.stalls++;
		net_sim_freeze_at(v->place.net,
		    net_sim_verbs(v->place.net) + 1 + nam_rng_below(dice, EXIT_VERBS),
		    LEASE_NS + nam_rng_below(dice, 3 * LEASE_NS));
	}
	uint64_t until = net_sim_now_ns(r->sim) + END_NS;
	while (!v->ended && !r->bad) {
		if (net_sim_now_ns(r->sim) > until)
			run_bad(r, "process %u, a visitor, does not come to its end", PROCS_MAX + v->number);
		if (is_dead(v) && !v->place.buried) {
			r->trouble.visitors_dead++;
			net_sim_bury(r->sim, v->place.net);
			v->place.buried = true;
		}
		net_sleep(w, POLL_NS);
	}
	r->trouble.exits += !v->place.buried;
out:
	r->visiting--;
}

void
life_start(struct run *r)
{
	memset(&it, 0, sizeof it);
	it.n = r->visiting = r->shape.visits;
	for (unsigned i = 0; i < it.n; i++) {
		it.visit[i].run = r;
		it.visit[i].number = i;
		nam_co_start(net_worker_sched(r->place[0].w[0]), visit_main, &it.visit[i], 64 << 10);
	}
}

bool
life_died(void)
{
	for (unsigned i = 0; i < it.n; i++)
		if (it.visit[i].place.buried || it.visit[i].place.stalled)
			return true;
	return false;
}

void
life_close(void)
{
	for (unsigned i = 0; i < it.n; i++)
		if (it.visit[i].place.net != NULL)
			place_detach(it.visit[i].run, &it.visit[i].place);
	it.n = 0;
}
