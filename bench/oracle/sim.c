/* sim.c -- the clients of `namdb bench oracle` in a simulated cluster: virtual time, one
 * seed. */
#include "oracle.h"

#include <net/sim/sim.h>

#include <stdlib.h>
#include <string.h>

enum { TOLD_NS = 1000000 }; /* a storage node sees the end of a process's pidfd, and reports it */

struct cluster {
	struct oracle_run *r;
	struct net_sim *sim;
	struct net *net[ORACLE_CLIENTS_MAX + 1]; /* the last is the observer's */
	struct net_worker *w[ORACLE_CLIENTS_MAX + 1];
	struct oracle_place place[ORACLE_CLIENTS_MAX];
	nam_status status;
};

static void
stand_still(struct oracle_place *p)
{
	struct cluster *c = p->host;
	if (c->r->what == ORACLE_DEAD) {
		net_sim_crash(c->sim, c->net[p->i]);
		if (!c->r->p.untold)
			net_sim_tell(c->sim, c->net[p->i], TOLD_NS);
		atomic_store(&c->r->client[p->i].ended, true);
	} else
		net_sim_freeze(c->sim, c->net[p->i], (uint64_t)(c->r->p.pause_s * 1e9));
	net_sleep(p->w, 1); /* none of its coroutines goes on before the pause is over, or after
			     * its death */
}

static void
looks_on(void *arg)
{
	struct cluster *c = arg;
	struct oracle_run *r = c->r;
	struct net_worker *w = c->w[r->p.clients];
	struct nam_sched *s;
	unsigned started = 0;
	for (unsigned i = 0; i < r->p.clients; i++) {
		c->place[i] = (struct oracle_place){
			.run = r, .i = i, .w = c->w[i], .stand_still = stand_still, .host = c
		};
		s = net_worker_sched(c->w[i]);
		if (nam_co_start(s, bench_oracle_client, &c->place[i], 0) != NULL)
			started++;
		else
			atomic_store(&r->client[i].ended, true);
	}
	if (started < r->p.clients)
		c->status = NAM_NOMEM;
	while (started == r->p.clients && !bench_oracle_all(r, false))
		net_sleep(w, 1000000);
	atomic_store(&r->begin_ns, net_now_ns(w));
	while (!bench_oracle_all(r, true))
		net_sleep(w, 10000000);
	/* A dead client's coroutines come to their ends without a verb that executes. */
	net_sim_bury(c->sim, c->net[ORACLE_VICTIM]);
	while (!c->place[ORACLE_VICTIM].over)
		net_sleep(w, 1000000);
	for (unsigned i = 0; i < r->p.clients; i++)
		bench_oracle_client_close(&c->place[i]);
}

nam_status
bench_oracle_sim(struct oracle_run *r, struct nam_err *err)
{
	const struct net_sim_config cfg = { .seed = r->p.seed,
		.nodes = 1,
		.region_bytes = bench_oracle_bytes(&r->p),
		.tear_permille = r->p.model == NULL ? 100 : 0,
		.reorder_permille = r->p.model == NULL ? 100 : 0,
		.model = r->p.model };
	struct cluster *c = calloc(1, sizeof *c);
	if (c == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	c->r = r;
	nam_status st = net_sim_open(&c->sim, &cfg);
	unsigned n = 0;
	for (; st == NAM_OK && n <= r->p.clients; n++) {
		if ((st = net_sim_attach(c->sim, &c->net[n])) != NAM_OK)
			break;
		if ((st = net_worker_open(c->net[n], &c->w[n], err)) != NAM_OK) {
			net_close(c->net[n]);
			break;
		}
	}
	if (st == NAM_OK &&
	    nam_co_start(net_worker_sched(c->w[r->p.clients]), looks_on, c, 128 << 10) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK && !net_sim_run(c->sim, NULL, NULL))
		st = nam_fail(err, NAM_CORRUPT, "the simulated cluster waits for nothing that could happen");
	else if (st == NAM_OK && (st = c->status) == NAM_OK)
		for (unsigned i = 0; i < r->p.clients && st == NAM_OK; i++)
			if (i != ORACLE_VICTIM &&
			    (st = (nam_status)atomic_load(&r->client[i].status)) != NAM_OK)
				nam_fail(err, st, "client %u: %s", i,
				    c->place[i].err.text[0] ? c->place[i].err.text : nam_status_text(st));
	while (n-- > 0) {
		net_worker_close(c->w[n]);
		net_close(c->net[n]);
	}
	if (c->sim != NULL)
		net_sim_close(c->sim);
	free(c);
	if (st != NAM_OK && err->text[0] == 0)
		nam_fail(err, st, "cannot simulate: %s", nam_status_text(st));
	return st;
}
