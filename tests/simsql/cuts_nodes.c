/*
 * cuts_nodes.c -- storage nodes of sim_cuts that end alone: their memory is gone, and they come
 * back with what their disk has kept, while the others and the compute processes live on.
 *
 * Then the life of the cluster is over (txn/over.c). A compute process that finds that out closes
 * its handle and opens the database again, as `namdb compute` does: it asks the other nodes to
 * reset their memory, and one of them restores. A node does here what cli/node.c does. First it may
 * come back with an empty directory, by mistake.
 */
#include "cuts_run.h"

#include <base/hash.h>
#include <txn/cluster_format.h>
#include <wal/remote/host.h>
#include <wal/testing/faulty.h>

#define MS UINT64_C(1000000)

enum fall_state { WAITS, IS_DOWN, IS_WRONG, IS_BACK };

static struct cut_disk *
disk_of(struct cut_run *r, unsigned region)
{
	struct cut_disk *d = NULL;
	for (unsigned i = 0; i < r->disks; i++)
		if (r->disk[i].region == region && !r->disk[i].absent)
			d = &r->disk[i];
	return d;
}

/* What one of them was asked for is done when its answer has left: by cut_nodes_step. */
static nam_status
reset_asked(void *arg, struct net_request *rq)
{
	struct cut_node *n = arg;
	const struct net_super *super = net_sim_memory(n->run->c.sim, n->region);
	nam_status st = net_reset_asked(super->incarnation, rq);
	n->asked = n->asked || st == NAM_OK;
	return st;
}

void
cut_nodes_begin(struct cut_run *r, unsigned nodes)
{
	struct nam_rng d;
	nam_rng_init(&d, nam_mix(r->seed * 17 + r->number) ^ 0xfa11);
	for (unsigned i = 1; i <= nodes; i++) {
		r->node[i] = (struct cut_node){ .run = r, .region = i };
		r->c.reset[i] = (struct net_service){
			.id = NET_SERVICE_RESET, .name = "reset", .fn = reset_asked, .arg = &r->node[i]
		};
	}
	r->nodes = nodes;
	for (unsigned i = 0; i < r->shape.falls; i++)
		r->fall[i] = (struct cut_fall){ .region = 1 + (unsigned)nam_rng_below(&d, nodes),
			.at_ns = nam_rng_below(&d, 20 * MS),
			.down_ns = nam_rng_below(&d, 20 * MS),
			.wrong_ns = nam_rng_below(&d, 3) == 0 ? 1 + nam_rng_below(&d, 60 * MS) : 0,
			.power = nam_rng_below(&d, 2) };
	if (r->shape.falls > 1)
		r->fall[0].wrong_ns = r->fall[1].wrong_ns = 0;
}

/* asked: it ends by itself, and what its log has received is flushed. */
static void
end_node(struct cut_run *r, unsigned region, bool asked, bool power)
{
	struct cut_disk *d = disk_of(r, region);
	net_sim_lose_node(r->c.sim, region);
	idx_tree_host_close(r->c.tree_host[region]);
	r->c.tree_host[region] = NULL;
	r->node[region].down = true;
	r->node[region].asked = false;
	if (d == NULL)
		return;
	if (asked)
		wal_host_close(d->host);
	else if (power)
		wal_faulty_cut(d->dir);
	else
		wal_faulty_end(d->dir);
	d->host = NULL;
	d->line = NULL;
	r->c.log[region].fn = NULL;
}

static void
begin_node(struct cut_run *r, unsigned region)
{
	struct cut_disk *d = disk_of(r, region);
	net_sim_restart_node(r->c.sim, region);
	r->node[region].down = false;
	if (d != NULL && !cut_disk_serve(d)) {
		if (!r->over)
			cluster_bad(&r->c, "node %u cannot open its log", region);
		return;
	}
	if (!cluster_host(&r->c, region))
		cluster_bad(&r->c, "no memory for node %u", region);
}

/* Does another node know of the cluster? Else none can say that a directory is a wrong one. Nor can
 * they if an operator has said that its own is lost, or if the database has no copy there: then an
 * empty one becomes a copy. */
static bool
is_known(struct cut_run *r, unsigned region)
{
	bool is = false;
	for (unsigned i = 0; i < r->disks; i++) {
		const struct wal_line *l = r->disk[i].line;
		if (r->disk[i].absent || r->disk[i].emptied ||
		    (l != NULL && l->published != 0 && !wal_ids_have(l->copies.copy, region)))
			return false;
	}
	for (unsigned i = 1; i <= r->nodes; i++) {
		const struct net_super *super = net_sim_memory(r->c.sim, i);
		is = is || (i != region && !r->node[i].down &&
			       txn_member_roster(super->root[TXN_ROOT_MEMBER]) != 0);
	}
	return is;
}

static void
mistake(struct cut_run *r, struct cut_disk *d)
{
	d->own = d->dir;
	d->dir = wal_faulty_open(r->seed * 10 + r->number + 3000);
	if (d->dir == NULL)
		abort();
}

static void
undo_mistake(struct cut_disk *d)
{
	wal_faulty_close(d->dir);
	d->dir = d->own;
	d->own = NULL;
}

static void
fall_step(struct cut_run *r, struct cut_fall *f)
{
	uint64_t now = net_sim_now_ns(r->c.sim), from = r->shape.early ? r->begin_ns : r->judged_at;
	struct cut_disk *d = disk_of(r, f->region);
	bool due = now >= f->until;
	switch ((enum fall_state)f->state) {
	case WAITS:
		/* Nothing goes wrong while a judge reads all. */
		if (from == 0 || now < from + f->at_ns || r->judging || r->node[f->region].down ||
		    (d != NULL && d->own != NULL))
			return;
		end_node(r, f->region, false, f->power);
		r->falls++;
		f->until = now + f->down_ns;
		f->state = IS_DOWN;
		return;
	case IS_DOWN:
		if (!due)
			return;
		f->state = d != NULL && f->wrong_ns != 0 && is_known(r, f->region) ? IS_WRONG : IS_BACK;
		if (f->state == IS_WRONG)
			mistake(r, d);
		begin_node(r, f->region);
		f->until = now + f->wrong_ns;
		return;
	case IS_WRONG:
		if (!due || r->judging)
			return;
		end_node(r, f->region, false, false);
		undo_mistake(d);
		begin_node(r, f->region);
		f->state = IS_BACK;
		return;
	case IS_BACK:
		return;
	}
}

bool
cut_nodes_pending(const struct cut_run *r)
{
	bool pending = false;
	for (unsigned i = 0; i < r->shape.falls; i++)
		pending = pending || r->fall[i].state != IS_BACK;
	return pending;
}

bool
cut_life_over(struct cut_run *r, unsigned p)
{
	const struct net *n = r->c.place[p].net;
	bool is = false;
	for (unsigned i = 1; i <= r->nodes; i++) {
		const struct net_super *super = net_sim_memory(r->c.sim, i);
		is = is || r->node[i].down || net_node_of(n, i)->incarnation != super->incarnation;
	}
	return is;
}

/* A process comes back. */
static void
open_again(struct cut_run *r, unsigned p)
{
	struct place *at = &r->c.place[p];
	*at = (struct place){ 0 };
	if (net_sim_attach(r->c.sim, &at->net) != NAM_OK ||
	    net_worker_open(at->net, &at->w, NULL) != NAM_OK) {
		cluster_bad(&r->c, "no memory for process %u", p);
		return;
	}
	/* It may die while it resets, or restores. */
	struct nam_rng *d = net_rng(r->c.place[0].w);
	if (p < r->shape.procs && nam_rng_below(d, 4) == 0)
		net_sim_crash_at(r->c.sim, at->net, 1 + nam_rng_below(d, 600));
	r->opened_again++;
	cut_member_start(r, p);
}

bool
cut_nodes_step(struct cut_run *r)
{
	bool down = false, busy = false;
	for (unsigned i = 0; i < r->shape.falls; i++)
		fall_step(r, &r->fall[i]);
	for (unsigned i = 1; i <= r->nodes && !r->over && !r->c.bad; i++) {
		if (r->node[i].asked && !r->node[i].down) {
			end_node(r, i, true, false);
			begin_node(r, i);
			r->resets++;
		}
		down = down || r->node[i].down;
	}
	for (unsigned p = 1; p <= r->shape.procs && !r->over && !r->c.bad; p++) {
		busy = busy || r->again_ns[p] != 0;
		if (r->again_ns[p] == 0 || down || net_sim_now_ns(r->c.sim) < r->again_ns[p])
			continue;
		r->again_ns[p] = 0;
		open_again(r, p);
	}
	return busy;
}
