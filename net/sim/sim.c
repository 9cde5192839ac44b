/* sim.c -- the simulated cluster: its memory, its processes and the loop that plays its time. */
#include <base/assert.h>
#include <net/sim/sim_internal.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	START_NS = 1000000000, /* virtual time at open: not 0, as no real clock is */
	ROUNDS_MAX = 16,       /* of the ready queue without an event: a coroutine spins */
	EVERYBODY = 32,        /* rounds of idle hooks between two for all workers */
	SPIN_NS = 100,         /* time that passes for spinners when no other event happens */
};

/* ---- the world of a simulated worker ---------------------------------------- */

void
net_sim_ready(struct sim_worker *sw)
{
	struct net_sim *s = sw->sim;
	if (sw->queued || !net_sim_runs(sw->proc) || net_sim_busy(sw))
		return;
	sw->queued = true;
	sw->next_ready = NULL;
	*s->ready_end = sw;
	s->ready_end = &sw->next_ready;
}

static void
ready(void *worker)
{
	net_sim_ready(worker);
}

void
net_sim_settle(struct sim_worker *sw)
{
	if (sw->debt == 0)
		return;
	sw->busy_until = sim_later(sw->busy_until, sw->sim->now) + sw->debt;
	sw->debt = 0;
	sw->turn++;
}

static void
freed(struct net_sim *s, struct sim_call *c)
{
	struct sim_worker *sw = (struct sim_worker *)(void *)((char *)c - offsetof(struct sim_worker, freed));
	sw->waits = false;
	if (net_sim_busy(sw))
		return; /* for longer than it was when this event was made */
	net_sim_wire_told(s, sw);
	net_sim_touch(sw);
	if (nam_sched_ready(sw->sched))
		net_sim_ready(sw);
}

bool
net_sim_busy(struct sim_worker *sw)
{
	struct net_sim *s = sw->sim;
	if (sw->busy_until <= s->now)
		return false;
	if (!sw->waits) {
		sw->waits = true;
		sw->freed.fn = freed;
		net_sim_queue_push(&s->queue, sw->busy_until, SIM_CALL, &sw->freed);
	}
	return true;
}

void
net_sim_count_live(struct sim_worker *sw, bool live)
{
	nam_sched_watch(sw->sched, ready, sw, live ? &sw->sim->live : NULL);
}

static nam_status
env_worker_open(struct net_worker *w, struct nam_err *err)
{
	struct sim_proc *p = w->net->env_priv;
	struct net_sim *s = p->sim;
	struct sim_worker *sw = calloc(1, sizeof *sw);
	if (sw == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a worker");
	sw->sim = s;
	sw->proc = p;
	sw->w = w;
	sw->turn = 1;
	sw->sched = nam_sched_open();
	if (sw->sched == NULL) {
		free(sw);
		return nam_fail(err, NAM_NOMEM, "no memory for a scheduler");
	}
	sw->id = s->workers++;
	sw->told_end = &sw->told;
	p->workers++;
	*s->worker_end = sw;
	s->worker_end = &sw->next;
	net_sim_count_live(sw, !p->dead || p->buried);
	nam_sched_on_post(sw->sched, ready, sw);
	w->sched = sw->sched;
	w->env_priv = sw;
	nam_rng_init(&w->rng, nam_mix(s->cfg.seed + UINT64_C(0x9e3779b97f4a7c15) * (sw->id + 1)));
	return NAM_OK;
}

static void
env_worker_close(struct net_worker *w)
{
	struct sim_worker *sw = w->env_priv;
	sw->w = NULL;
	sw->proc->workers--;
}

static void
env_worker_run(struct net_worker *w, bool (*until)(void *), void *arg)
{
	(void)net_sim_run(((struct sim_worker *)w->env_priv)->sim, until, arg);
}

static void
env_rouse(struct net_worker *w)
{
	(void)w; /* until() is looked at after each event */
}

static void
env_tell(struct net_worker *w)
{
	net_sim_touch(w->env_priv);
}

static uint64_t
env_now(struct net_worker *w)
{
	const struct sim_worker *sw = w->env_priv;
	const struct sim_proc *p = sw->proc;
	int64_t now = (int64_t)(sw->sim->now + sw->debt);
	return (uint64_t)(now + (now - START_NS) * p->drift_ppm / 1000000) + p->ahead_ns;
}

/* The same time, since the begin of 1970. */
static int64_t
env_wall_us(struct net_worker *w)
{
	return (int64_t)(env_now(w) / 1000);
}

static uint64_t
env_cpu(const struct net_worker *w)
{
	(void)w;
	return 0; /* no code computes for long in virtual time */
}

static uint64_t
env_timeout(const struct net_worker *w)
{
	(void)w;
	return SIM_TIMEOUT_NS;
}

uint64_t
net_sim_sleep_until(const struct sim_worker *sw, uint64_t ns)
{
	if (sw->proc->drift_ppm != 0 && ns < UINT64_MAX / 1000000)
		ns = ns * 1000000 / (uint64_t)(1000000 + sw->proc->drift_ppm);
	uint64_t from = sw->sim->now + sw->debt;
	return from + ns < from ? UINT64_MAX : from + ns;
}

static void
env_sleep(struct net_worker *w, uint64_t ns)
{
	struct net_sim *s = ((struct sim_worker *)w->env_priv)->sim;
	struct sim_timer t = { .worker = w->env_priv, .co = nam_co_self() };
	NAM_ASSERT(t.co != NULL); /* only a coroutine may sleep */
	net_sim_queue_push(&s->queue, net_sim_sleep_until(t.worker, ns), SIM_TIMER, &t);
	while (!t.fired)
		nam_co_park();
}

static void
env_net_close(struct net *n)
{
	((struct sim_proc *)n->env_priv)->net = NULL;
}

static const struct net_env sim_env = {
	.worker_open = env_worker_open,
	.worker_close = env_worker_close,
	.worker_run = env_worker_run,
	.rouse = env_rouse,
	.tell = env_tell,
	.now = env_now,
	.wall_us = env_wall_us,
	.cpu = env_cpu,
	.timeout = env_timeout,
	.sleep = env_sleep,
	.net_close = env_net_close,
	.fence = net_sim_fence,
	.heard = net_sim_heard,
	.sleep_or_news = net_sim_sleep_or_news,
	.on_asked = net_sim_on_asked,
};

/* ---- opening ---------------------------------------------------------------- */

static nam_status
node_open(struct net_sim *s, unsigned region)
{
	struct sim_node *node = &s->node[region];
	void *mem = mmap(NULL, s->cfg.region_bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return NAM_NOMEM;
	node->region = region;
	node->mem = mem;
	node->size = s->cfg.region_bytes;
	net_sim_node_empty(s, node);
	return net_sim_nic_open(s, &node->nic) ? NAM_OK : NAM_NOMEM;
}

void
net_sim_node_empty(const struct net_sim *s, struct sim_node *node)
{
	struct net_super *super = (struct net_super *)(void *)node->mem;
	/* Pages that read as zeros, however many there are. */
	NAM_ASSERT(madvise(node->mem, node->size, MADV_DONTNEED) == 0);
	super->magic = NET_MAGIC;
	super->version = NET_VERSION;
	super->region = node->region;
	super->layout = net_layout();
	super->cluster = nam_hash("namdb", 5, 0);
	super->incarnation = nam_mix(s->cfg.seed + node->region + ((uint64_t)node->lives++ << 32)) | 1;
	super->size = node->size;
	super->bump = NET_EXTENT;
}

nam_status
net_sim_open(struct net_sim **out, const struct net_sim_config *cfg)
{
	if (cfg->nodes == 0 || cfg->nodes >= NET_REGIONS || cfg->region_bytes < 2 * NET_EXTENT ||
	    cfg->region_bytes % NET_EXTENT != 0 || cfg->region_bytes > NET_REGION_SIZE_MAX)
		return NAM_INVALID;
	struct net_sim *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	s->cfg = *cfg;
	if (s->cfg.latency_ns == 0)
		s->cfg.latency_ns = 1000;
	if (s->cfg.jitter_ns == 0)
		s->cfg.jitter_ns = 500;
	if (s->cfg.byte_ps == 0)
		s->cfg.byte_ps = 100;
	if (s->cfg.verb_ns == 0)
		s->cfg.verb_ns = 10;
	if (s->cfg.model != NULL) {
		s->cfg.latency_ns = s->cfg.model->wire_ns;
		s->cfg.jitter_ns = s->cfg.model->jitter_ns;
		s->cfg.turn_ns = s->cfg.model->turn_ns;
		s->cfg.post_ns = s->cfg.model->post_ns;
	}
	s->now = START_NS;
	s->hash = nam_mix(cfg->seed);
	s->worker_end = &s->worker;
	s->ready_end = &s->ready;
	s->faults = true;
	s->proc_end = &s->proc;
	nam_rng_init(&s->rng, cfg->seed);
	if (s->cfg.delay_ns == 0)
		s->cfg.delay_ns = 50 * s->cfg.latency_ns;
	if (s->cfg.pause_ns == 0)
		s->cfg.pause_ns = 1000 * s->cfg.latency_ns;
	if (s->cfg.part_ns == 0)
		s->cfg.part_ns = 1000 * s->cfg.latency_ns;
	nam_status st = net_sim_queue_open(&s->queue) ? NAM_OK : NAM_NOMEM;
	for (unsigned r = 1; r <= cfg->nodes && st == NAM_OK; r++)
		st = node_open(s, r);
	if (st != NAM_OK) {
		net_sim_close(s);
		return st;
	}
	*out = s;
	return NAM_OK;
}

void
net_sim_close(struct net_sim *s)
{
	if (s == NULL)
		return;
	for (unsigned r = 1; r <= s->cfg.nodes; r++)
		if (s->node[r].mem != NULL) {
			net_sim_serve_free(&s->node[r]);
			net_sim_nic_close(&s->node[r].nic);
			munmap(s->node[r].mem, s->node[r].size);
		}
	while (s->qp != NULL) {
		struct sim_qp *qp = s->qp;
		s->qp = qp->next;
		free(qp);
	}
	while (s->worker != NULL) {
		struct sim_worker *sw = s->worker;
		NAM_ASSERT(sw->w == NULL); /* close workers and nets first */
		s->worker = sw->next;
		nam_sched_close(sw->sched);
		free(sw);
	}
	while (s->proc != NULL) {
		struct sim_proc *p = s->proc;
		s->proc = p->next;
		free(p->owed);
		net_sim_nic_close(&p->nic);
		free(p);
	}
	net_sim_fence_free(s);
	net_sim_naps_free(s);
	net_sim_wire_free(s);
	net_sim_queue_close(&s->queue);
	free(s->desk);
	free(s);
}

nam_status
net_sim_attach(struct net_sim *s, struct net **out)
{
	return net_sim_attach_to(s, UINT64_MAX, out);
}

nam_status
net_sim_attach_to(struct net_sim *s, uint64_t regions, struct net **out)
{
	struct sim_proc *p = calloc(1, sizeof *p);
	struct net *n = p != NULL ? net_new(&sim_env, p) : NULL;
	if (n == NULL) {
		free(p);
		return NAM_NOMEM;
	}
	p->sim = s;
	p->net = n;
	if (!net_sim_nic_open(s, &p->nic)) {
		net_close(n);
		free(p);
		return NAM_NOMEM;
	}
	p->deferred_end = &p->deferred;
	p->id = s->procs++;
	p->identity = nam_mix(s->cfg.seed ^ nam_mix(p->id)) >> (64 - NET_IDENTITY_BITS);
	p->identity += p->identity == 0;
	n->identity = p->identity;
	*s->proc_end = p;
	s->proc_end = &p->next;
	for (unsigned r = 1; r <= s->cfg.nodes; r++) {
		if (regions != UINT64_MAX && (r > 63 || (regions >> r & 1) == 0))
			continue;
		const struct net_super *super = (const struct net_super *)(void *)s->node[r].mem;
		struct net_node_info info = { .region = r,
			.kind = NET_SIM,
			.size = super->size,
			.incarnation = super->incarnation,
			.log = super->log };
		info.name[0] = 's';
		info.name[1] = 'i';
		info.name[2] = 'm';
		unsigned at = 3;
		for (unsigned ten = r < 100 ? 10 : r < 1000 ? 100 : 1000; ten > 0; ten /= 10)
			info.name[at++] = (char)('0' + r / ten % 10);
		struct net_node *node;
		nam_status st = net_add_node(n, &net_sim_provider, &info, &node, NULL);
		if (st != NAM_OK) {
			net_close(n);
			return st;
		}
		node->priv = &s->node[r];
	}
	*out = n;
	return NAM_OK;
}

/* ---- playing ---------------------------------------------------------------- */

/* The one place where an event happens. */
static void
play(struct net_sim *s, const struct sim_event *e)
{
	s->now = e->at;
	s->stats.events++;
	sim_note(s, e->at, e->order);
	switch ((enum sim_kind)(e->order & ((1 << SIM_KIND_BITS) - 1))) {
	case SIM_LEAVE:
		net_sim_wire_leave(s, e->what);
		break;
	case SIM_ARRIVE:
		net_sim_wire_arrive(s, e->what);
		break;
	case SIM_EXECUTE:
		net_sim_wire_execute(s, e->what);
		break;
	case SIM_DONE:
		net_sim_wire_done(s, e->what);
		break;
	case SIM_TIMER: {
		struct sim_timer *t = e->what;
		t->fired = true;
		net_sim_touch(t->worker);
		if (t->co != NULL)
			nam_co_wake(t->co);
		break;
	}
	case SIM_CALL: {
		struct sim_call *c = e->what;
		c->fn(s, c);
	}
	}
}

static void
idle(struct net_sim *s)
{
	bool everybody = ++s->since_all >= EVERYBODY;
	struct sim_worker *sw = everybody ? s->worker : s->touched;
	if (everybody)
		s->since_all = 0;
	s->touched = NULL;
	for (struct sim_worker *next; sw != NULL; sw = next) {
		next = everybody ? sw->next : sw->next_touched;
		sw->touched = false;
		if (sw->w != NULL && sw->w->hooks != 0 && net_sim_runs(sw->proc) && !net_sim_busy(sw)) {
			net_worker_idle(sw->w);
			net_sim_settle(sw);
		}
	}
}

/* Runs each worker that is ready, once, as its thread would. */
static void
run_ready(struct net_sim *s)
{
	struct sim_worker *sw = s->ready;
	s->ready = NULL;
	s->ready_end = &s->ready;
	for (struct sim_worker *next; sw != NULL; sw = next) {
		next = sw->next_ready;
		sw->queued = false;
		if (!net_sim_runs(sw->proc) || net_sim_busy(sw))
			continue; /* stopped since; it is queued again when it goes on */
		if (sw->told != NULL)
			net_sim_wire_told(s, sw);
		net_sim_charge(sw, (uint64_t)nam_sched_run(sw->sched) * s->cfg.turn_ns);
		net_sim_settle(sw);
		if (nam_sched_ready(sw->sched))
			net_sim_ready(sw);
	}
}

bool
net_sim_run(struct net_sim *s, bool (*until)(void *arg), void *arg)
{
	unsigned rounds = 0;
	bool ran = true;
	s->since_all = EVERYBODY; /* any worker may have been made ready meanwhile */
	for (;;) {
		if (until != NULL && until(arg))
			return true;
		if (s->ready != NULL) {
			run_ready(s);
			ran = true;
			if (++rounds < ROUNDS_MAX)
				continue;
			/* A coroutine yields in a circle: let time pass for it. */
			if (s->queue.n == 0)
				s->now += SPIN_NS;
		}
		if (ran || s->touched != NULL) {
			ran = false;
			idle(s);
			if (s->ready != NULL && rounds < ROUNDS_MAX)
				continue;
		}
		if (until == NULL && s->live == 0)
			return true;
		rounds = 0;
		struct sim_event e;
		if (net_sim_queue_pop(&s->queue, &e)) {
			play(s, &e);
		} else if (s->ready == NULL) {
			s->since_all = EVERYBODY; /* look at all workers before giving up */
			idle(s);
			if (s->queue.n == 0 && s->ready == NULL && !(until != NULL && until(arg)))
				return false;
		}
	}
}

void
net_sim_work(struct net_worker *w, uint64_t ns)
{
	net_sim_charge(w->env_priv, ns);
}

uint64_t
net_sim_now_ns(const struct net_sim *s)
{
	return s->now;
}

uint64_t
net_sim_trace_hash(const struct net_sim *s)
{
	return s->hash;
}

void
net_sim_stats(const struct net_sim *s, struct net_sim_stats *out)
{
	*out = s->stats;
}

void
net_sim_stats_add(struct net_sim_stats *all, const struct net_sim_stats *one)
{
	uint64_t *sum = (uint64_t *)(void *)all;
	for (size_t i = 0; i < sizeof *all / sizeof *sum; i++)
		sum[i] += ((const uint64_t *)(const void *)one)[i];
}

void *
net_sim_memory(struct net_sim *s, unsigned region)
{
	return region < NET_REGIONS ? s->node[region].mem : NULL;
}
