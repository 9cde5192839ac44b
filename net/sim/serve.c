/*
 * serve.c -- services on simulated storage nodes: rings over the simulated wire, served in virtual
 * time.
 *
 * A shard that polls is played by events: each piece of a WRITE that lands in a request ring makes
 * it look a moment later, so it sees every half of every torn message. The ring of a client in
 * event mode is looked at only when its WRITE_IMM has executed. Answers are WRITEs of the node on a
 * queue pair of its own, into the client's memory; they also tear. Idle hooks have their turn a
 * microsecond after requests were served, and again as long as one of them does something.
 *
 * With a model that prices a request (serve_ns) a ring belongs to one of the node's shards: a look
 * waits until the shard is free, and a request served keeps it busy. The price of a request that
 * finds the shard idle lies before the look, so that a lone request waits for it too.
 */
#include <base/hash.h>
#include <net/ring/channel.h>
#include <net/ring/link.h>
#include <net/sim/sim_internal.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 20, SERVE_NS = 200, IDLE_NS = 1000 };

/* One client's rings. Lives as long as the simulator, because events name it. */
struct sim_link {
	struct net_link link;
	struct net_sim *sim;
	struct sim_node *node;
	struct sim_node window; /* the response ring, as if it were a node's memory */
	struct sim_qp back;     /* answers; its worker is the client's */
	struct net_channel *ch; /* NULL: closed */
	uint64_t ring;          /* offset of the request ring */
	uint32_t number;
	bool due, timeout_due;
	uint64_t ready; /* 0, or until when what has come costs time, before it can be served */
	struct sim_call look, timeout; /* events */
	struct sim_link *next;         /* of the node */
};

#define LINK_OF(call, member) ((struct sim_link *)(void *)((char *)(call)-offsetof(struct sim_link, member)))

/* NULL: requests have no price. */
static struct sim_resource *
shard_of(const struct sim_link *l)
{
	const struct net_sim_model *m = l->sim->cfg.model;
	return m != NULL && m->serve_ns != 0 ? &l->node->shard[l->number % m->shards] : NULL;
}

static void
look_at(struct sim_link *l, uint64_t after)
{
	if (l->due)
		return;
	l->due = true;
	net_sim_queue_push(&l->sim->queue, l->sim->now + after, SIM_CALL, &l->look);
}

/* The node's shard has looked into its rings: the idle hooks have their turn a moment later. */
static void
idle_soon(struct net_sim *s, struct sim_node *node)
{
	bool any = false;
	for (unsigned i = 0; i < node->services; i++)
		any |= node->service[i].idle != NULL;
	if (node->idle_due || !any)
		return;
	node->idle_due = true;
	net_sim_queue_push(&s->queue, s->now + IDLE_NS, SIM_CALL, &node->idle);
}

static void
idle(struct net_sim *s, struct sim_call *c)
{
	struct sim_node *node = (struct sim_node *)(void *)((char *)c - offsetof(struct sim_node, idle));
	node->idle_due = false;
	if (!node->paused && !node->down && net_link_idle(node->service, node->services, 0, 1))
		idle_soon(s, node);
}

static void
turn(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, look);
	l->due = false;
	/* Requests of a fenced process are not served any more. */
	if (l->ch == NULL || l->node->paused || l->node->down ||
	    net_set_has(&l->back.worker->proc->fenced, l->node->region))
		return;
	struct sim_resource *shard = shard_of(l);
	if (shard != NULL) {
		uint64_t from = sim_later(l->ready, (shard->free + 999) / 1000);
		if (from > s->now) {
			look_at(l, from - s->now);
			return;
		}
		l->ready = 0;
	}
	uint64_t served = l->link.served;
	if (net_link_turn(&l->link, s->desk, s->now) != NET_LINK_SERVED)
		return;
	served = l->link.served - served;
	if (shard != NULL)
		sim_serve(shard, s->now * 1000, served * s->cfg.model->serve_ns * 1000);
	look_at(l, shard != NULL ? s->cfg.model->serve_ns : SERVE_NS);
	idle_soon(s, l->node);
}

/* A piece of a WRITE to a node has executed. */
struct sim_node *
net_sim_serve_node(const struct sim_link *l)
{
	return l->node;
}

void
net_sim_serve_written(struct net_sim *s, const struct sim_verb *v, bool last)
{
	struct sim_node *node = v->qp->node;
	if (node->link == NULL) {
		/* A client's window. */
		struct sim_link *l = node->window_of;
		if (l->ch != NULL && net_sim_runs(v->qp->worker->proc) &&
		    (l->ch->mode == NET_POLLING || (last && v->code == NET_WRITE_IMM))) {
			net_sim_touch(v->qp->worker);
			net_channel_look(l->ch);
		}
		return;
	}
	for (struct sim_link *l = node->link; l != NULL; l = l->next) {
		bool hit = v->off >= l->ring && v->off < l->ring + l->link.in.bytes;
		bool told = v->code == NET_WRITE_IMM && last && v->arg == l->number;
		if (l->ch == NULL || !(told || (hit && l->link.polled)))
			continue;
		if (shard_of(l) != NULL && l->ready == 0)
			l->ready = s->now + s->cfg.model->serve_ns;
		look_at(l, LOOK_NS);
	}
}

/* The node's WRITE of answers. */
static void
write_back(struct net_link *link, struct net_ring_run run, bool announce)
{
	struct sim_link *l = link->tag;
	net_sim_wire_write(&l->back, run.at, link->out.mirror + run.at, run.len, announce);
}

/* ---- the client's side ----------------------------------------------------------------- */

static void
timeout(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, timeout);
	struct net_channel *ch = l->ch;
	struct sim_proc *p = l->back.worker->proc;
	if (p->paused) { /* its code does not run */
		net_sim_queue_push(&s->queue, p->resume_at, SIM_CALL, &l->timeout);
		return;
	}
	l->timeout_due = false;
	if (!net_sim_runs(p) || ch == NULL || ch->out_first == NULL)
		return;
	net_sim_touch(l->back.worker);
	net_channel_look(ch);
	if (ch->out_first != NULL) {
		l->timeout_due = true;
		net_sim_queue_push(&s->queue, ch->progress_ns + ch->timeout_ns + 1, SIM_CALL, &l->timeout);
	}
}

void
net_sim_serve_resume(struct net_sim *s, struct sim_proc *p)
{
	for (unsigned r = 1; r <= s->cfg.nodes; r++)
		for (struct sim_link *l = s->node[r].link; l != NULL; l = l->next)
			if (l->back.worker->proc == p && l->ch != NULL)
				net_channel_look(l->ch);
}

/* A request was posted: virtual time has to reach the end of the timeout, if no other event
 * does. */
static void
sim_posted(struct net_channel *ch)
{
	struct sim_link *l = ch->priv;
	if (l->timeout_due)
		return;
	l->timeout_due = true;
	net_sim_queue_push(&l->sim->queue, ch->progress_ns + ch->timeout_ns + 1, SIM_CALL, &l->timeout);
}

static void
sim_close(struct net_channel *ch)
{
	struct sim_link *l = ch->priv;
	if (l == NULL)
		return;
	l->ch = NULL;
	l->back.cut = true;
}

static const struct net_channel_ops sim_ops = { .posted = sim_posted, .close = sim_close };

nam_status
net_sim_serve_open(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct sim_qp *qp = ch->ep->priv;
	struct sim_node *node = qp->node;
	struct net_sim *s = qp->worker->sim;
	struct net_super *super = (struct net_super *)(void *)node->mem;
	uint64_t extents = (ch->out.bytes + NET_EXTENT - 1) / NET_EXTENT;
	(void)until;
	(void)service;
	if (node->services == 0)
		return nam_fail(err, NAM_UNSUPPORTED, "storage node %u does not host services", node->region);
	if (super->bump + extents * NET_EXTENT > node->size)
		return nam_fail(
		    err, NAM_FULL, "storage node %u has no room for more message rings", node->region);
	struct sim_link *l = calloc(1, sizeof *l);
	char *mirror = calloc(1, ch->in.bytes);
	ch->in.ring = calloc(1, ch->in.bytes);
	ch->in_ours = true;
	if (l == NULL || mirror == NULL || ch->in.ring == NULL) {
		free(l);
		free(mirror);
		return nam_fail(err, NAM_NOMEM, "no memory for rings");
	}
	l->sim = s;
	l->node = node;
	l->ch = ch;
	l->look.fn = turn;
	l->timeout.fn = timeout;
	l->ring = super->bump;
	super->bump += extents * NET_EXTENT;
	l->number = ++node->links;
	ch->ring = net_at(node->region, l->ring);
	ch->number = l->number;
	ch->shards = 1;
	ch->out.seed = ch->in.seed = nam_mix(s->cfg.seed ^ (uint64_t)l->number << 32 ^ node->region);
	ch->ops = &sim_ops;
	ch->priv = l;
	l->window = (struct sim_node){
		.region = node->region, .mem = ch->in.ring, .size = ch->in.bytes, .window_of = l
	};
	l->back.worker = qp->worker;
	l->back.id = ++s->qps;
	l->back.port = qp->port;
	l->back.node = &l->window;
	l->back.held_end = &l->back.held;
	l->link = (struct net_link){
		.service = node->service,
		.services = node->services,
		.shards = 1,
		.in = { .ring = node->mem + l->ring, .bytes = ch->out.bytes, .seed = ch->in.seed },
		.out = { .mirror = mirror, .bytes = ch->in.bytes, .seed = ch->in.seed },
		.write = write_back,
		.tag = l,
	};
	l->next = node->link;
	node->link = l;
	return NAM_OK;
}

/* ---- hosting ----------------------------------------------------------------------------- */

nam_status
net_sim_serve(struct net_sim *s, unsigned region, const struct net_service *service, unsigned count)
{
	if (region == 0 || region >= NET_REGIONS || s->node[region].mem == NULL || count > NET_SERVICES)
		return NAM_INVALID;
	if (s->desk == NULL && (s->desk = malloc(sizeof *s->desk)) == NULL)
		return NAM_NOMEM;
	s->node[region].service = service;
	s->node[region].services = count;
	s->node[region].idle.fn = idle;
	return NAM_OK;
}

void
net_sim_pause(struct net_sim *s, unsigned region, bool paused)
{
	struct sim_node *node = &s->node[region];
	node->paused = paused;
	for (struct sim_link *l = node->link; l != NULL && !paused; l = l->next)
		look_at(l, LOOK_NS);
	if (!paused)
		idle_soon(s, node);
}

void
net_sim_serve_free(struct sim_node *node)
{
	while (node->link != NULL) {
		struct sim_link *l = node->link;
		node->link = l->next;
		free(l->link.out.mirror);
		free(l);
	}
}
