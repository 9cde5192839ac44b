/*
 * serve.c -- services on simulated storage nodes: rings over the simulated wire, served in virtual
 * time.
 *
 * A shard that polls is played by events: each piece of a WRITE that lands in a request ring makes
 * it look a moment later, so it sees every half of every torn message. The ring of a client in
 * event mode is looked at only when its WRITE_IMM has executed. Answers are WRITEs of the node on
 * a queue pair of its own, into the client's memory; they also tear. Idle hooks have their turn a
 * microsecond after requests were served, and again as long as one of them does something.
 *
 * Rings come and go as on a storage node (net/ring/pool.h). What the two ends say about them
 * travels as messages of its own; a process that is stalled hears them when it goes on. When the
 * node sees that a client has gone, or it is fenced, its rings end and rest.
 *
 * With a model that prices a request (serve_ns) a ring belongs to one of the node's shards: a look
 * waits until the shard is free, and a request served keeps it busy. The price of a request that
 * finds the shard idle lies before the look, so that a lone request waits for it too.
 */
#include <base/hash.h>
#include <net/ring/channel.h>
#include <net/ring/link.h>
#include <net/ring/pool.h>
#include <net/sim/sim_internal.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 20, SERVE_NS = 200, IDLE_NS = 1000, LINE_NS = 500000, ODD_NS = 600000000 };

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
	struct net_pool_member member;
	struct net_ring_offer offer; /* the last */
	struct net_ring_want want;   /* the last */
	uint32_t offers;             /* so far, for their seeds */
	bool gives, wants, ends;     /* on its way to the node */
	bool offered, wanted;        /* on its way to the client */
	bool ended;                  /* the node has seen the end */
	bool dropped;                /* the node has ended it: its ring had no message */
	bool odd_due;
	struct sim_call odd; /* event */
	bool due, timeout_due, to_node_due, to_client_due;
	struct sim_call to_node, to_client; /* events: what was said arrives */
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

/* How long a word travels. Draws nothing from the wire's dice, so a run without a crowd stays as
 * it is. */
static uint64_t
word_ns(const struct sim_link *l)
{
	uint64_t latency = l->sim->cfg.latency_ns + 1;
	return latency + nam_mix(l->sim->now ^ (uint64_t)l->number << 40) % (4 * latency);
}

static void
say_to_client(struct sim_link *l)
{
	if (l->to_client_due)
		return;
	l->to_client_due = true;
	net_sim_queue_push(&l->sim->queue, l->sim->now + word_ns(l), SIM_CALL, &l->to_client);
}

static void
link_end(struct net_sim *s, struct sim_link *l)
{
	if (!l->ended)
		net_pool_leave(l->node->pool, &l->member, s->now);
	l->ended = true;
}

static void
turn(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, look);
	l->due = false;
	/* Requests of a fenced process are not served any more. */
	if (l->ch == NULL || !l->member.has || l->node->paused || l->node->down ||
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
	enum net_link_sight sight = net_link_turn(&l->link, s->desk, s->now);
	if (sight == NET_LINK_RUBBISH) {
		l->dropped = true;
		link_end(s, l);
		say_to_client(l);
	}
	if (sight == NET_LINK_UNDER_WAY && l->link.odd_since_ns != 0 && !l->odd_due) {
		l->odd_due = true;
		net_sim_queue_push(&s->queue, s->now + ODD_NS, SIM_CALL, &l->odd);
	}
	if (sight != NET_LINK_SERVED)
		return;
	l->member.used_ns = s->now;
	served = l->link.served - served;
	if (shard != NULL)
		sim_serve(shard, s->now * 1000, served * s->cfg.model->serve_ns * 1000);
	look_at(l, shard != NULL ? s->cfg.model->serve_ns : SERVE_NS);
	idle_soon(s, l->node);
}

/* Bytes that are no message may have stayed for too long. */
static void
odd(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, odd);
	(void)s;
	l->odd_due = false;
	if (l->ch != NULL && l->member.has && l->link.odd_since_ns != 0)
		look_at(l, LOOK_NS);
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
		if (l->ch == NULL || !l->member.has || !(told || (hit && l->link.polled)))
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

/* ---- rings that come and go ------------------------------------------------------------ */

/* The member has just got rings: the link to them, and the offer. */
static void
begin_link(struct net_sim *s, struct sim_link *l)
{
	struct sim_node *node = l->node;
	const struct net_pool_member *m = &l->member;
	uint64_t which = (uint64_t)l->number << 32 ^ (uint64_t)++l->offers << 8;
	uint64_t seed = nam_mix(s->cfg.seed ^ which ^ node->region);
	l->ring = node->rings + m->request;
	l->offer = (struct net_ring_offer){ .magic = NET_RING_MAGIC,
		.status = NAM_OK,
		.number = l->number,
		.request = l->ring,
		.seed = seed,
		.shards = 1,
		.request_bytes = m->request_bytes,
		.response_bytes = m->response_bytes };
	memset(node->mem + l->ring, 0, m->request_bytes);
	l->link.in =
	    (struct net_ring_in){ .ring = node->mem + l->ring, .bytes = m->request_bytes, .seed = seed };
	l->link.out =
	    (struct net_ring_out){ .mirror = l->link.out.mirror, .bytes = m->response_bytes, .seed = seed };
	l->link.polled = false;
	l->link.odd_since_ns = 0;
	l->wanted = false;
}

static void line(struct net_sim *s, struct sim_node *node);

/* The node's turn while clients wait. */
static void
line_due(struct net_sim *s, struct sim_call *c)
{
	struct sim_node *node = (struct sim_node *)(void *)((char *)c - offsetof(struct sim_node, line));
	node->line_due = false;
	line(s, node);
}

/* Gives rings to the clients that wait, and asks others for theirs. */
static void
line(struct net_sim *s, struct sim_node *node)
{
	if (node->down || node->paused || node->pool == NULL)
		return;
	while (node->pool->first != NULL) {
		struct sim_link *l = node->pool->first->tag;
		if (!net_pool_grant(node->pool, s->now))
			break;
		begin_link(s, l);
		l->offered = true;
		say_to_client(l);
	}
	if (net_pool_ask(node->pool, s->now))
		for (struct sim_link *l = node->link; l != NULL; l = l->next)
			if (l->member.has && l->member.asked && !l->wanted) {
				l->wanted = true;
				say_to_client(l);
			}
	if (node->pool->first == NULL || node->line_due)
		return;
	node->line_due = true;
	net_sim_queue_push(&s->queue, s->now + LINE_NS, SIM_CALL, &node->line);
}

/* What the client has said arrives. */
static void
at_node(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, to_node);
	struct sim_node *node = l->node;
	l->to_node_due = false;
	if (node->down || node->paused || l->ended)
		return; /* paused: net_sim_pause comes back to it */
	if (l->gives && l->member.has)
		net_pool_give(node->pool, &l->member);
	if (l->ends)
		link_end(s, l);
	else if (l->wants && !l->member.has && !l->member.waits)
		net_pool_want(node->pool, &l->member, &l->want);
	l->gives = l->wants = false;
	line(s, node);
}

static void
say_to_node(struct sim_link *l)
{
	if (l->to_node_due)
		return;
	l->to_node_due = true;
	net_sim_queue_push(&l->sim->queue, l->sim->now + word_ns(l), SIM_CALL, &l->to_node);
}

static bool
sim_tell(struct net_channel *ch, enum net_ring_word word, const struct net_ring_want *want)
{
	struct sim_link *l = ch->priv;
	l->gives |= word == NET_RING_GIVE;
	l->wants |= word == NET_RING_WANT;
	if (want != NULL)
		l->want = *want;
	say_to_node(l);
	return true;
}

/* What the node has said arrives. A stalled process hears it when it goes on. */
static void
at_client(struct net_sim *s, struct sim_call *c)
{
	struct sim_link *l = LINK_OF(c, to_client);
	(void)s;
	l->to_client_due = false;
	if (l->ch == NULL || l->ch->broken || !net_sim_runs(l->back.worker->proc))
		return;
	net_sim_touch(l->back.worker);
	if (l->dropped) {
		net_channel_dropped(l->ch, "the node has dropped them");
		return;
	}
	if (l->offered) {
		l->offered = false;
		(void)net_channel_offered(l->ch, &l->offer);
	}
	if (l->wanted)
		net_channel_wanted(l->ch);
}

void
net_sim_serve_gone(struct net_sim *s, const struct sim_proc *p, struct sim_node *node, uint64_t after_ns)
{
	for (struct sim_link *l = node->link; l != NULL; l = l->next)
		if (l->back.worker->proc == p && !l->ended && !l->ends) {
			l->ends = true;
			if (!l->to_node_due)
				net_sim_queue_push(&s->queue, s->now + after_ns, SIM_CALL, &l->to_node);
			l->to_node_due = true;
		}
}

/* ---- the client's side ----------------------------------------------------------------- */

/* Virtual time has to reach the end of the channel's timeouts, if no other event does. */
static void
await(struct sim_link *l)
{
	const struct net_channel *ch = l->ch;
	uint64_t at = l->sim->now + ch->timeout_ns / 2;
	if (ch->out_first != NULL)
		at = ch->progress_ns + ch->timeout_ns + 1;
	if (l->timeout_due)
		return;
	l->timeout_due = true;
	net_sim_queue_push(&l->sim->queue, at > l->sim->now ? at : l->sim->now + 1, SIM_CALL, &l->timeout);
}

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
	if (!net_sim_runs(p) || ch == NULL || (ch->out_first == NULL && ch->queue == NULL))
		return;
	net_sim_touch(l->back.worker);
	net_channel_look(ch);
	if (ch->out_first != NULL || ch->queue != NULL)
		await(l);
}

void
net_sim_serve_resume(struct net_sim *s, struct sim_proc *p)
{
	for (unsigned r = 1; r <= s->cfg.nodes; r++)
		for (struct sim_link *l = s->node[r].link; l != NULL; l = l->next)
			if (l->back.worker->proc == p && l->ch != NULL) {
				at_client(s, &l->to_client);
				net_channel_look(l->ch);
			}
}

static void
sim_posted(struct net_channel *ch)
{
	await(ch->priv);
}

static void
sim_close(struct net_channel *ch)
{
	struct sim_link *l = ch->priv;
	if (l == NULL)
		return;
	l->ch = NULL;
	l->back.cut = true;
	l->ends = true;
	say_to_node(l);
}

static const struct net_channel_ops sim_ops = { .posted = sim_posted, .tell = sim_tell, .close = sim_close };

/* The memory for rings of a node, taken when it gets its first client. */
static nam_status
open_pool(struct sim_node *node, struct nam_err *err)
{
	struct net_super *super = (struct net_super *)(void *)node->mem;
	uint64_t bytes = net_pool_bytes(node->size, 0);
	if (node->pool != NULL)
		return NAM_OK;
	if (super->bump + bytes > node->size)
		return nam_fail(
		    err, NAM_CROWDED, "storage node %u has no room for message rings", node->region);
	node->pool = calloc(1, sizeof *node->pool);
	if (node->pool == NULL || !net_pool_open(node->pool, bytes)) {
		free(node->pool);
		node->pool = NULL;
		return nam_fail(err, NAM_NOMEM, "no memory for rings");
	}
	node->line.fn = line_due;
	node->rings = super->bump;
	super->bump += bytes;
	return NAM_OK;
}

nam_status
net_sim_serve_open(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct sim_qp *qp = ch->ep->priv;
	struct sim_node *node = qp->node;
	struct net_sim *s = qp->worker->sim;
	(void)until;
	(void)service;
	if (node->services == 0)
		return nam_fail(err, NAM_UNSUPPORTED, "storage node %u does not host services", node->region);
	nam_status st = open_pool(node, err);
	if (st != NAM_OK)
		return st;
	struct sim_link *l = calloc(1, sizeof *l);
	char *mirror = calloc(1, ch->in_most);
	ch->in.ring = calloc(1, ch->in_most);
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
	l->odd.fn = odd;
	l->timeout.fn = timeout;
	l->to_node.fn = at_node;
	l->to_client.fn = at_client;
	l->member.tag = l;
	l->number = ++node->links;
	ch->shards = 1;
	ch->ops = &sim_ops;
	ch->priv = l;
	l->window = (struct sim_node){
		.region = node->region, .mem = ch->in.ring, .size = ch->in_most, .window_of = l
	};
	l->back.worker = qp->worker;
	l->back.id = ++s->qps;
	l->back.port = qp->port;
	l->back.node = &l->window;
	l->back.held_end = &l->back.held;
	l->link = (struct net_link){
		.service = node->service,
		.services = node->services,
		.rouses = -1,
		.shards = 1,
		.out = { .mirror = mirror },
		.write = write_back,
		.tag = l,
	};
	l->next = node->link;
	node->link = l;
	net_pool_join(node->pool, &l->member);
	const struct net_ring_want want = net_channel_wants(ch);
	net_pool_want(node->pool, &l->member, &want);
	if (node->pool->first == &l->member && net_pool_grant(node->pool, s->now)) {
		begin_link(s, l);
		(void)net_channel_offered(ch, &l->offer);
	}
	line(s, node);
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
	for (struct sim_link *l = node->link; l != NULL && !paused; l = l->next) {
		look_at(l, LOOK_NS);
		if (l->gives || l->wants || l->ends)
			say_to_node(l);
	}
	if (!paused && node->pool != NULL)
		line(s, node);
	if (!paused)
		idle_soon(s, node);
}

static void
pool_free(struct sim_node *node)
{
	if (node->pool != NULL)
		net_pool_close(node->pool);
	free(node->pool);
	node->pool = NULL;
}

/* Links stay: events name them. */
void
net_sim_serve_end(struct sim_node *node)
{
	for (struct sim_link *l = node->link; l != NULL; l = l->next) {
		l->ended = true;
		l->member.has = l->member.waits = false;
		l->offered = l->wanted = l->dropped = false;
		l->link.polled = false;
	}
	pool_free(node);
	node->service = NULL;
	node->services = 0;
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
	pool_free(node);
}
