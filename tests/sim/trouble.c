/*
 * trouble.c -- faults of the clients' own processes and of the storage nodes: a pause longer than
 * the lease, a connection that breaks or is cut for a while, the loss of a node. Each comes after a
 * random number of commits.
 *
 * Process 0 has no fault but the node's loss, because it judges at the end. A process in trouble
 * may answer with clean errors, until its clients have seen a few of them; then it ends like a
 * process that cannot go on, and the others recover it.
 */
#include "sim_txn.h"

/* Longer than a lease, and than it takes others to notice. */
enum { STALL_LEAST_NS = 150000000, STALL_NS = 300000000 };
enum {
	JUMP_NS = 300000000,  /* of a clock */
	RUMOUR_NS = 30000000, /* how long a process is falsely reported to have left */
	PART_NS = 60000000,
	LINGER_NS = 30000000, /* so long clients go on in a process that has been told */
};

static void
wait_for(struct run *r, struct net_worker *w, unsigned committed)
{
	while (r->committed < committed && r->clients_left > 0 && !r->bad)
		net_sleep(w, 20000);
}

static struct place *
some_place(struct run *r, struct net_worker *w)
{
	struct place *p = &r->place[1 + nam_rng_below(net_rng(w), r->shape.procs - 1)];
	return net_sim_crashed(p->net) ? NULL : p;
}

static void
trouble_main(void *arg)
{
	struct run *r = arg;
	struct net_worker *w = r->place[0].w[0];
	struct nam_rng *dice = net_rng(w);
	struct place *p;
	if (r->shape.stall) {
		wait_for(r, w, (unsigned)nam_rng_below(dice, COMMITTED_LEAST * 3 / 4));
		if ((p = some_place(r, w)) != NULL && r->clients_left > 0) {
			p->troubled = p->stalled = true;
			r->trouble.stalls++;
			net_sim_freeze(r->sim, p->net, STALL_LEAST_NS + nam_rng_below(dice, STALL_NS));
		}
	}
	for (unsigned i = 0; i < r->shape.breaks; i++) {
		wait_for(r, w, (unsigned)nam_rng_below(dice, COMMITTED_LEAST * 3 / 4));
		net_sleep(w, nam_rng_below(dice, 1000000));
		unsigned node = 1 + (unsigned)nam_rng_below(dice, 3);
		if ((p = some_place(r, w)) == NULL || r->clients_left == 0)
			continue;
		p->troubled = true;
		if (nam_rng_below(dice, 2)) {
			r->trouble.breaks++;
			net_sim_break(r->sim, p->net, node);
		} else {
			r->trouble.parts++;
			net_sim_part(r->sim, p->net, node, 1 + nam_rng_below(dice, PART_NS));
		}
	}
	for (unsigned i = 0; i < r->shape.alone; i++) {
		wait_for(r, w, (unsigned)nam_rng_below(dice, COMMITTED_LEAST * 3 / 4));
		net_sleep(w, nam_rng_below(dice, 1000000));
		unsigned node = 1 + (unsigned)nam_rng_below(dice, 3);
		if ((p = some_place(r, w)) == NULL || r->clients_left == 0)
			continue;
		p->troubled = true;
		r->trouble.alone++;
		net_sim_break_one(r->sim, p->w[nam_rng_below(dice, r->shape.workers)], node);
	}
	for (unsigned i = 0; i < 3 && !r->shape.storm && (r->shape.hints || r->shape.clocks); i++) {
		wait_for(r, w, (unsigned)nam_rng_below(dice, COMMITTED_LEAST * 3 / 4));
		if ((p = some_place(r, w)) == NULL)
			continue;
		/* A hint is no proof, but enough to be fenced. */
		if (r->shape.hints && nam_rng_below(dice, 2)) {
			p->troubled = true;
			r->trouble.rumours++;
			net_sim_rumour(r->sim, p->net, nam_rng_below(dice, RUMOUR_NS));
		}
		if (r->shape.clocks && nam_rng_below(dice, 2)) {
			r->trouble.jumps++;
			net_sim_clock_jump(p->net, nam_rng_below(dice, JUMP_NS));
		}
	}
	if (r->shape.lose) {
		wait_for(r, w, COMMITTED_LEAST + (unsigned)nam_rng_below(dice, 50));
		if (r->clients_left > 0) {
			r->lost = 1 + (unsigned)nam_rng_below(dice, 3);
			for (unsigned i = 0; i < r->shape.procs; i++)
				r->place[i].troubled = true;
			r->lost_at = net_sim_now_ns(r->sim);
			r->trouble.nodes++;
			r->trouble.homes += r->lost == HOME;
			net_sim_lose_node(r->sim, r->lost);
		}
	}
	r->trouble_ended = true;
}

void
trouble_start(struct run *r)
{
	r->trouble_ended = !r->shape.stall && !r->shape.breaks && !r->shape.lose && !r->shape.alone &&
			   (r->shape.storm || (!r->shape.hints && !r->shape.clocks));
	if (!r->trouble_ended)
		nam_co_start(net_worker_sched(r->place[0].w[0]), trouble_main, r, 64 << 10);
}

void
trouble_look(struct run *r)
{
	uint64_t now = net_sim_now_ns(r->sim);
	if (r->lost != 0) {
		if (now > r->lost_at + LINGER_NS)
			r->cut = 1;
		return;
	}
	for (unsigned i = 1; i < r->shape.procs; i++) {
		struct place *p = &r->place[i];
		bool over = p->clients == 0 || (p->found != 0 && now > p->found + LINGER_NS);
		if (!p->troubled || !over || net_sim_crashed(p->net))
			continue;
		r->trouble.ended++;
		net_sim_crash(r->sim, p->net);
	}
}
