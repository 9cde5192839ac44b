/*
 * neighbour.c -- processes without transactions on those storage nodes, which get worse faults.
 *
 * A roamer's connections break and it is cut off for a while; it comes back each time. A zombie is
 * fenced in the middle of work and goes on trying. A mortal dies with some verb and is fenced as
 * well. All add to words and overwrite blocks of their own. A judge fences them, and checks that
 * their verbs had a possible effect: no sure addition is lost, none is made twice, and nothing
 * comes after a reconnect or a fence.
 */
#include "sim_txn.h"

#include <net/region_format.h>

#include <string.h>

enum { REGIONS = 3, BLOCK = 2048 };

/* In the extent of each region. */
enum { ROAMER_AT = 0, VICTIM_AT = 8192 };

struct victim {
	struct run *run;
	struct net *net;
	struct net_worker *w;
	uint64_t at; /* in each extent: a word, and 64 bytes on its block */
	bool ended;
};

struct neighbours {
	struct net *roamer, *judge;
	struct net_worker *rw, *jw;
	struct victim victim[2]; /* the zombie, the mortal */
	net_addr extent[REGIONS];
	bool roamer_ended, judge_ended;
};

static struct neighbours it;

static uint64_t
word_at(struct run *r, unsigned k, uint64_t at)
{
	uint64_t word;
	memcpy(&word, (char *)net_sim_memory(r->sim, k + 1) + net_offset_of(it.extent[k]) + at, 8);
	return word;
}

static void
roamer_main(void *arg)
{
	struct run *r = arg;
	struct nam_rng *dice = net_rng(it.rw);
	while (!r->neighbours_stop && !r->bad) {
		struct net_op op[REGIONS];
		struct net_batch b;
		net_batch_init(&b, it.rw, op, REGIONS, NULL);
		for (unsigned k = 0; k < REGIONS; k++)
			net_faa(&b, net_plus(it.extent[k], ROAMER_AT), 1);
		net_post(&b);
		unsigned at = 1 + (unsigned)nam_rng_below(dice, REGIONS);
		switch (nam_rng_below(dice, 12)) {
		case 0:
			net_sim_part(r->sim, it.roamer, at, 1 + nam_rng_below(dice, 2000000));
			break;
		case 1:
			net_sim_break(r->sim, it.roamer, at);
			break;
		}
		(void)net_wait(&b);
		for (unsigned k = 0; k < REGIONS && !r->bad; k++) {
			struct nam_err err;
			uint64_t seen, first, second;
			if (op[k].status == NAM_OK) {
				r->roamed.sure++;
				continue;
			}
			r->roamed.unknown++;
			if (op[k].status != NAM_GONE)
				run_bad(r, "a broken connection's verb ended with %s",
				    nam_status_name((nam_status)op[k].status));
			nam_status st;
			while ((st = net_worker_reconnect(it.rw, k + 1, &err)) == NAM_TIMEOUT)
				net_sleep(it.rw, 50000);
			if (st != NAM_OK)
				run_bad(r, "a reconnect ended with %s: %s", nam_status_name(st), err.text);
			first = word_at(r, k, ROAMER_AT);
			net_sleep(it.rw, nam_rng_below(dice, 1000000));
			second = word_at(r, k, ROAMER_AT);
			if (first != second)
				run_bad(r, "a verb of a connection that was replaced came late");
			/* The new connection works, unless it has broken again: then the next round
			 * finds it. */
			if (net_faa1(it.rw, net_plus(it.extent[k], ROAMER_AT), 1, &seen, NULL) == NAM_OK)
				r->roamed.sure++;
			else
				r->roamed.unknown++;
		}
		net_sleep(it.rw, nam_rng_below(dice, 500000));
	}
	it.roamer_ended = true;
}

static void
victim_main(void *arg)
{
	struct victim *v = arg;
	uint64_t block[BLOCK / 8];
	nam_status st = NAM_OK;
	for (uint64_t round = 1; st == NAM_OK && !v->run->neighbours_stop; round++) {
		struct net_op op[2 * REGIONS];
		struct net_batch b;
		for (unsigned i = 0; i < BLOCK / 8; i++)
			block[i] = round;
		net_batch_init(&b, v->w, op, 2 * REGIONS, NULL);
		for (unsigned k = 0; k < REGIONS; k++) {
			net_faa(&b, net_plus(it.extent[k], v->at), 1);
			net_write(&b, net_plus(it.extent[k], v->at + 64), block, sizeof block);
		}
		st = net_run(&b);
		net_sleep(v->w, nam_rng_below(net_rng(v->w), 5000));
	}
	/* A zombie tries again; each node lets it in until it has heard of the fence, and never
	 * after. */
	for (unsigned k = 0; k < REGIONS && !v->run->neighbours_stop; k++) {
		struct nam_err err;
		while ((st = net_worker_reconnect(v->w, k + 1, &err)) == NAM_OK)
			net_sleep(v->w, 1000);
		if (st != NAM_REFUSED && !net_sim_crashed(v->net))
			run_bad(v->run, "a reconnect of a fenced process ended with %s", nam_status_name(st));
	}
	v->ended = true;
}

static uint64_t
picture(struct run *r, const struct victim *v)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < REGIONS; k++)
		sum = nam_hash((char *)net_sim_memory(r->sim, k + 1) + net_offset_of(it.extent[k]) + v->at,
		    64 + BLOCK, sum);
	return sum;
}

static void
judge_main(void *arg)
{
	struct run *r = arg;
	struct nam_rng *dice = net_rng(it.jw);
	uint64_t then[2];
	for (unsigned i = 0; i < 2; i++) {
		struct nam_err err;
		struct victim *v = &it.victim[i];
		net_sleep(it.jw, nam_rng_below(dice, 3000000));
		uint64_t before = picture(r, v);
		nam_status st = net_fence_process(it.jw, net_identity(v->net), 0, &err);
		then[i] = picture(r, v);
		r->roamed.fences++;
		r->roamed.moved += before != then[i];
		if (st != NAM_OK)
			run_bad(r, "a fence ended with %s: %s", nam_status_name(st), err.text);
	}
	r->neighbours_fenced = true;
	while (!r->neighbours_stop) {
		net_sleep(it.jw, 100000);
		for (unsigned i = 0; i < 2 && !r->bad; i++)
			if (picture(r, &it.victim[i]) != then[i])
				run_bad(r, "process %u was fenced, and a verb of it executed later", i);
	}
	it.judge_ended = true;
}

bool
neighbours_attach(struct run *r)
{
	memset(&it, 0, sizeof it);
	struct {
		struct net **net;
		struct net_worker **w;
	} all[] = { { &it.roamer, &it.rw }, { &it.judge, &it.jw }, { &it.victim[0].net, &it.victim[0].w },
		{ &it.victim[1].net, &it.victim[1].w } };
	bool ok = true;
	for (unsigned i = 0; ok && i < 4; i++)
		ok = net_sim_attach(r->sim, all[i].net) == NAM_OK &&
		     net_worker_open(*all[i].net, all[i].w, NULL) == NAM_OK;
	return ok;
}

bool
neighbours_take(struct run *r)
{
	for (unsigned k = 0; k < REGIONS; k++) {
		nam_status st = net_extent_take(it.jw, k + 1, 1, &it.extent[k]);
		if (st != NAM_OK) {
			run_bad(r, "no extent for the neighbours: %s", nam_status_name(st));
			return false;
		}
	}
	return true;
}

void
neighbours_start(struct run *r)
{
	for (unsigned i = 0; i < 2; i++) {
		struct victim *v = &it.victim[i];
		v->run = r;
		v->at = VICTIM_AT * (i + 1);
		nam_co_start(net_worker_sched(v->w), victim_main, v, 0);
	}
	net_sim_crash_at(r->sim, it.victim[1].net, 1 + nam_rng_below(net_rng(it.jw), 400));
	nam_co_start(net_worker_sched(it.rw), roamer_main, r, 0);
	nam_co_start(net_worker_sched(it.jw), judge_main, r, 0);
}

void
neighbours_end(struct run *r, struct net_worker *w)
{
	while (!r->neighbours_fenced && !r->bad)
		net_sleep(w, 100000);
	r->neighbours_stop = true;
	/* A dead process's verbs under way also come to an end, and everything can be closed. */
	if (net_sim_crashed(it.victim[1].net))
		net_sim_bury(r->sim, it.victim[1].net);
	while (!it.roamer_ended || !it.judge_ended || !it.victim[0].ended || !it.victim[1].ended)
		net_sleep(w, 100000);
	uint64_t landed = 0;
	for (unsigned k = 0; k < REGIONS; k++)
		landed += word_at(r, k, ROAMER_AT);
	r->roamed.landed = landed;
	if (landed < r->roamed.sure || landed > r->roamed.sure + r->roamed.unknown)
		run_bad(r, "the roamer added %lu times for sure and %lu times perhaps, and the words say %lu",
		    r->roamed.sure, r->roamed.unknown, landed);
	for (unsigned k = 0; k < REGIONS; k++)
		(void)net_extent_give(w, it.extent[k]);
}

void
neighbours_close(void)
{
	struct net_worker *w[] = { it.rw, it.jw, it.victim[0].w, it.victim[1].w };
	struct net *n[] = { it.roamer, it.judge, it.victim[0].net, it.victim[1].net };
	for (unsigned i = 0; i < 4; i++) {
		net_worker_close(w[i]);
		net_close(n[i]);
	}
}
