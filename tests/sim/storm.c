/*
 * storm.c -- a run in which every process but the first is struck, at the worst moments.
 *
 * In the mixed load a process dies at any moment, mostly between two commits, or while it waits, so
 * a recoverer finds mostly nothing. Here each process is struck in the middle of a commit: it dies,
 * or it stalls for longer than a lease. Recoverers are struck during the recovery: they stall,
 * usually for less than a lease, or die.
 */
#include "sim_txn.h"

#include <tsoracle/oracle_format.h>

#include <string.h>

enum {
	SURVIVOR = PROCS_MAX - 1,
	LOOK_NS = 10000,     /* between two looks for recoverers */
	STEP_NS = 8000,      /* a commit takes about that long */
	SETTLE_NS = 150000,  /* so does a recovery */
	LONG_NS = 120000000, /* a pause longer than a lease, and up to twice as long */
	SHORT_NS = 50000000, /* one that leaves the lease alone */
	TRIP_NS = 4000,      /* so does a round trip */
	STUTTER_NS = 4000000,
	RUMOUR_NS = 10000000,
	WATCH_NS = 5000000000, /* a run that takes longer than this has come to grief of its own */
	COMMIT_VERBS = 16,
	STEP_VERBS = 6,
	LAST_STEP_NS = 1500, /* what is posted takes longer than this to be executed */
};

/* One strike under way: a coroutine of process 0, which nothing happens to. */
struct strike {
	struct run *run;
	struct net *net;
	uint64_t after, ns; /* then it stalls for so long; 0 = it dies */
	unsigned again;     /* so often, after a step or so */
	bool busy;
};

enum how {
	STILL,     /* stalls, some time into a commit */
	DIES,      /* with one of the next verbs */
	AT_ANSWER, /* the same, but from the answer on: the directories and words are under way */
	OVERLAP,   /* the same, when a commit begins while those of another client are under way */
	RUMOURED,  /* others hear that it has left, and it goes on */
};

static struct {
	struct nam_rng dice;
	unsigned at_commit[PROCS_MAX]; /* struck in that commit; 0 = it has been */
	enum how how[PROCS_MAX];
	uint64_t answered_ns[PROCS_MAX]; /* a client of it had its last answer then */
	uint64_t settled_by[TSO_OWNERS]; /* the last recoverer seen of that slot */
	struct strike strike[2 * PROCS_MAX];
	unsigned under_way;
	bool stop;
} it;

struct shape
storm_shape(uint64_t seed)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(seed) ^ 0x57024);
	unsigned procs = nam_rng_below(&d, 3) ? 4 : 2;
	return (struct shape){
		.procs = procs,
		.workers = 1,
		.slots = 2 + (unsigned)nam_rng_below(&d, 3),
		.keys = ACCOUNTS + 2 + (unsigned)nam_rng_below(&d, KEYS_MAX - ACCOUNTS - 1),
		.txns = 20 + (unsigned)nam_rng_below(&d, 30),
		.vector = 65536,
		.tear = (uint32_t)nam_rng_below(&d, 1000),
		.reorder = (uint32_t)nam_rng_below(&d, 1000),
		.iso = 3,
		.hot = nam_rng_below(&d, 2),
		.delay = nam_rng_below(&d, 2) ? 1 + (uint32_t)nam_rng_below(&d, 400) : 0,
		.pause_ns = 2 * LONG_NS,
		.bystander = procs == PROCS_MAX && nam_rng_below(&d, 2),
		.hints = nam_rng_below(&d, 2),
		.loads = 1u << MIXED,
		.storm = true,
	};
}

static void
strike_main(void *arg)
{
	struct strike *k = arg;
	struct net_worker *w = k->run->place[0].w[0];
	net_sleep(w, k->after);
	for (unsigned i = 0; i <= k->again; i++) {
		if (k->ns == 0)
			net_sim_crash(k->run->sim, k->net);
		else
			net_sim_freeze(k->run->sim, k->net, k->ns);
		if (i < k->again)
			net_sleep(w, k->ns + nam_rng_below(&it.dice, TRIP_NS));
	}
	k->busy = false;
	it.under_way--;
}

static void
strike(struct run *r, struct net *net, struct strike how)
{
	for (unsigned i = 0; i < 2 * PROCS_MAX; i++) {
		struct strike *k = &it.strike[i];
		if (k->busy)
			continue;
		*k = how;
		k->run = r;
		k->net = net;
		k->busy = true;
		it.under_way++;
		nam_co_start(net_worker_sched(r->place[0].w[0]), strike_main, k, 0);
		return;
	}
}

/* True if this is the moment for a process to be struck. */
static bool
is_due(struct run *r, unsigned process, bool answered)
{
	uint64_t now = net_now_ns(r->place[0].w[0]), *last = &it.answered_ns[process];
	bool soon = now - *last < LAST_STEP_NS;
	if (answered)
		*last = now;
	if (it.stop || it.at_commit[process] == 0 || answered != (it.how[process] == AT_ANSWER) ||
	    (it.how[process] == OVERLAP && !soon))
		return false;
	return --it.at_commit[process] == 0;
}

void
storm_commit(struct run *r, unsigned process, bool answered)
{
	struct net *n = r->place[process].net;
	if (!is_due(r, process, answered))
		return;
	if (it.how[process] == RUMOURED)
		net_sim_rumour(r->sim, n, RUMOUR_NS + nam_rng_below(&it.dice, RUMOUR_NS));
	else if (it.how[process] == STILL)
		strike(r, n,
		    (struct strike){ .after = nam_rng_below(&it.dice, STEP_NS),
			.ns = LONG_NS + nam_rng_below(&it.dice, LONG_NS) });
	else
		net_sim_crash_at(r->sim, n,
		    net_sim_verbs(n) + 1 +
			nam_rng_below(&it.dice, it.how[process] == OVERLAP ? STEP_VERBS : COMMIT_VERBS));
}

/* A recoverer dies, or stalls once, or stalls repeatedly: then each of its steps takes as long as a
 * whole recovery of another process. */
static struct strike
at_settling(unsigned process)
{
	switch (nam_rng_below(&it.dice, 8)) {
	case 0:
		if (process == SURVIVOR)
			break;
		return (struct strike){ .after = nam_rng_below(&it.dice, SETTLE_NS) };
	case 1:
	case 2:
		return (struct strike){ .after = nam_rng_below(&it.dice, SETTLE_NS),
			.ns = 1 + nam_rng_below(&it.dice, SHORT_NS) };
	}
	return (struct strike){ .after = nam_rng_below(&it.dice, TRIP_NS),
		.ns = 1 + nam_rng_below(&it.dice, STUTTER_NS),
		.again = 60 };
}

/* Which processes have begun to recover another since the last look? */
static void
watch_main(void *arg)
{
	struct run *r = arg;
	struct net_worker *w = r->place[0].w[0];
	const struct tso_owner_slot *s = outside_owners(r);
	uint64_t until = net_now_ns(w) + WATCH_NS;
	it.under_way++;
	while (!it.stop && net_now_ns(w) < until) {
		net_sleep(w, LOOK_NS);
		for (unsigned i = 0; i < TSO_OWNERS_MIN; i++) {
			uint64_t by = tso_word_identity(s[i].word);
			if (tso_word_state(s[i].word) != TSO_SEALED || it.settled_by[i] == by)
				continue;
			it.settled_by[i] = by;
			for (unsigned p = 1; p < r->shape.procs; p++)
				if (net_identity(r->place[p].net) == by)
					strike(r, r->place[p].net, at_settling(p));
		}
	}
	it.under_way--;
}

void
storm_start(struct run *r)
{
	memset(&it, 0, sizeof it);
	nam_rng_init(&it.dice, nam_mix(r->seed) ^ 0x57025);
	/* The last of four is struck only as a recoverer, and does not die: one process has to be
	 * left. */
	for (unsigned p = 1; p < r->shape.procs && p < SURVIVOR; p++) {
		it.at_commit[p] = 1 + (unsigned)nam_rng_below(&it.dice, 40);
		it.how[p] = (enum how)nam_rng_below(&it.dice, AT_ANSWER + 1);
		/* There are many clients in that one process. */
		if (r->shape.procs == 2 && it.how[p] != AT_ANSWER) {
			it.how[p] = OVERLAP;
			it.at_commit[p] = 1 + it.at_commit[p] / 8;
		}
		if (r->shape.hints && nam_rng_below(&it.dice, 3) == 0) {
			it.how[p] = RUMOURED;
			it.at_commit[p] = 1 + it.at_commit[p] / 4;
		}
		if (p > 1 && (r->shape.bystander || nam_rng_below(&it.dice, 2)))
			it.at_commit[p] = 0;
	}
	nam_co_start(net_worker_sched(r->place[0].w[0]), watch_main, r, 0);
}

void
storm_end(struct run *r)
{
	it.stop = true;
	while (it.under_way > 0)
		net_sleep(r->place[0].w[0], LOOK_NS);
}
