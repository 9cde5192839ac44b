/* fault.c -- the faults of a simulated cluster: by dice, or on a test's request. */
#include <net/sim/sim_internal.h>

#include <stdarg.h>
#include <stdio.h>

/* Faults in the trace hash. */
enum { RINGS_GONE_NS = 1000000 }; /* until a node sees that a client's connection has ended */
enum { NOTE_CRASH = 1, NOTE_PAUSE, NOTE_PART, NOTE_NODE, NOTE_BREAK };

static inline struct sim_proc *
proc_of(const struct net *n)
{
	return n->env_priv;
}

void
net_sim_say(const struct net_sim *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "%12llu ** ", (unsigned long long)s->now);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

/* ---- broken connections --------------------------------------------------------- */

/* How much of the verbs under way a connection still carries: all, none, or up to some verb. */
static uint64_t
carried(struct net_sim *s, const struct sim_qp *qp)
{
	switch (nam_rng_below(&s->rng, 4)) {
	case 0:
		return qp->seq;
	case 1:
		return 0;
	default: {
		uint64_t from = qp->out_first != NULL ? qp->out_first->seq - 1 : qp->seq;
		return from + nam_rng_below(&s->rng, qp->seq - from + 1);
	}
	}
}

static void
break_all(struct net_sim *s, struct sim_proc *p, unsigned region, uint64_t delay_ns)
{
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->worker->proc == p && qp->node->region == region && !qp->cut && !qp->broken)
			net_sim_qp_break(s, qp, carried(s, qp), nam_rng_below(&s->rng, 2),
			    1 + nam_rng_below(&s->rng, delay_ns));
}

void
net_sim_break(struct net_sim *s, struct net *n, unsigned region)
{
	struct sim_proc *p = proc_of(n);
	if (p->dead || region == 0 || region >= NET_REGIONS)
		return;
	s->stats.breaks++;
	sim_note(s, NOTE_BREAK, p->id);
	if (s->cfg.trace)
		net_sim_say(s, "the connections of p%u to node %u break", p->id, region);
	break_all(s, p, region, 20 * s->cfg.latency_ns);
}

void
net_sim_break_one(struct net_sim *s, struct net_worker *w, unsigned region)
{
	struct sim_worker *sw = w->env_priv;
	if (sw->proc->dead)
		return;
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->worker == sw && qp->node->region == region && !qp->cut && !qp->broken) {
			s->stats.breaks++;
			sim_note(s, NOTE_BREAK, sw->id);
			if (s->cfg.trace)
				net_sim_say(
				    s, "the connection of w%u to node %u breaks, alone", sw->id, region);
			qp->alone = true;
			net_sim_qp_break(s, qp, carried(s, qp), nam_rng_below(&s->rng, 2),
			    1 + nam_rng_below(&s->rng, 20 * s->cfg.latency_ns));
		}
}

static void
heal(struct net_sim *s, struct sim_call *c)
{
	struct sim_heal *h = (struct sim_heal *)(void *)c;
	if (s->now >= h->at)
		net_set_drop(&h->proc->parted, h->region);
}

void
net_sim_part(struct net_sim *s, struct net *n, unsigned region, uint64_t ns)
{
	struct sim_proc *p = proc_of(n);
	if (p->dead || region == 0 || region >= NET_REGIONS)
		return;
	struct sim_heal *h = &p->heal[region];
	s->stats.parts++;
	sim_note(s, NOTE_PART, p->id);
	if (s->cfg.trace)
		net_sim_say(s, "p%u and node %u do not reach each other", p->id, region);
	h->at = s->now + ns < s->now ? UINT64_MAX : s->now + ns;
	net_set_add(&p->parted, region);
	break_all(s, p, region, SIM_TIMEOUT_NS);
	if (h->at == UINT64_MAX)
		return;
	h->call.fn = heal;
	h->proc = p;
	h->region = region;
	net_sim_queue_push(&s->queue, h->at, SIM_CALL, &h->call);
}

void
net_sim_heal(struct net_sim *s, struct net *n, unsigned region)
{
	(void)s;
	net_set_drop(&proc_of(n)->parted, region);
}

void
net_sim_lose_node(struct net_sim *s, unsigned region)
{
	if (region == 0 || region >= NET_REGIONS || s->node[region].mem == NULL || s->node[region].down)
		return;
	s->node[region].down = true;
	s->stats.nodes_lost++;
	sim_note(s, NOTE_NODE, region);
	if (s->cfg.trace)
		net_sim_say(s, "storage node %u is gone", region);
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->node->region == region && !qp->cut && !qp->broken)
			net_sim_qp_break(s, qp, 0, false, 1 + nam_rng_below(&s->rng, 20 * s->cfg.latency_ns));
}

void
net_sim_replace_node(struct net_sim *s, unsigned region)
{
	net_sim_lose_node(s, region);
	if (region > 0 && region < NET_REGIONS && s->node[region].down)
		s->node[region].replaced = true;
}

/* Verbs that a broken connection still carried end with the memory. */
static void
silence(struct net_sim *s, const struct sim_node *node)
{
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->node == node) {
			qp->deaf = true;
			qp->half = false;
			qp->last = 0;
		}
}

void
net_sim_restart_node(struct net_sim *s, unsigned region)
{
	if (region == 0 || region >= NET_REGIONS || s->node[region].mem == NULL)
		return;
	struct sim_node *node = &s->node[region];
	net_sim_lose_node(s, region);
	silence(s, node);
	net_sim_serve_end(node);
	net_sim_node_empty(s, node);
	node->down = node->replaced = false;
	for (struct sim_proc *p = s->proc; p != NULL; p = p->next)
		net_set_drop(&p->fenced, region);
	if (s->cfg.trace)
		net_sim_say(s, "storage node %u begins again, empty", region);
}

/* ---- processes ------------------------------------------------------------------- */

void
net_sim_map(struct net *n)
{
	proc_of(n)->mapped = true;
}

void
net_sim_clock(struct net *n, int32_t drift_ppm, uint64_t offset_ns)
{
	proc_of(n)->drift_ppm = drift_ppm;
	proc_of(n)->ahead_ns = offset_ns;
}

void
net_sim_clock_jump(struct net *n, uint64_t ns)
{
	proc_of(n)->ahead_ns += ns;
}

static void
resume(struct net_sim *s, struct sim_call *c)
{
	struct sim_proc *p = (struct sim_proc *)(void *)((char *)c - offsetof(struct sim_proc, resume));
	if (!p->paused || p->dead)
		return;
	p->paused = false;
	if (s->cfg.trace)
		net_sim_say(s, "p%u goes on", p->id);
	net_sim_wire_resume(s, p);
	net_sim_serve_resume(s, p);
	for (struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		if (sw->proc == p) {
			net_sim_touch(sw);
			if (nam_sched_ready(sw->sched))
				net_sim_ready(sw);
		}
}

void
net_sim_freeze(struct net_sim *s, struct net *n, uint64_t ns)
{
	struct sim_proc *p = proc_of(n);
	if (p->dead || p->paused)
		return;
	p->paused = true;
	p->resume_at = s->now + ns;
	p->resume.fn = resume;
	s->stats.pauses++;
	sim_note(s, NOTE_PAUSE, p->id);
	if (s->cfg.trace)
		net_sim_say(s, "p%u stalls for %llu ns", p->id, (unsigned long long)ns);
	net_sim_queue_push(&s->queue, p->resume_at, SIM_CALL, &p->resume);
}

void
net_sim_crash(struct net_sim *s, struct net *n)
{
	struct sim_proc *p = proc_of(n);
	if (p->dead)
		return;
	p->dead = true;
	p->paused = false;
	s->stats.crashes++;
	sim_note(s, NOTE_CRASH, p->id);
	if (s->cfg.trace)
		net_sim_say(s, "p%u dies, %llu verbs old", p->id, (unsigned long long)p->verbs);
	net_sim_heard_crash(s, p);
	/* Deferred completions belong to verbs of these connections as well. */
	p->deferred = NULL;
	p->deferred_end = &p->deferred;
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->worker->proc == p && p->carry == NET_SIM_CARRY_DICE)
			net_sim_qp_orphan(s, qp, carried(s, qp), nam_rng_below(&s->rng, 2));
		else if (qp->worker->proc == p)
			net_sim_qp_orphan(s, qp, p->carry == NET_SIM_CARRY_ALL ? qp->seq : 0, false);
	for (struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		if (sw->proc == p)
			net_sim_count_live(sw, false);
	for (unsigned r = 1; r <= s->cfg.nodes; r++)
		net_sim_serve_gone(s, p, &s->node[r], RINGS_GONE_NS);
}

void
net_sim_crash_at(struct net_sim *s, struct net *n, uint64_t verb)
{
	(void)s;
	proc_of(n)->crash_at = verb;
}

void
net_sim_freeze_at(struct net *n, uint64_t verb, uint64_t ns)
{
	proc_of(n)->freeze_at = verb;
	proc_of(n)->freeze_ns = ns;
}

void
net_sim_carry(struct net *n, enum net_sim_carry carry)
{
	proc_of(n)->carry = carry;
}

bool
net_sim_crashed(const struct net *n)
{
	return proc_of(n)->dead;
}

uint64_t
net_sim_verbs(const struct net *n)
{
	return proc_of(n)->verbs;
}

void
net_sim_bury(struct net_sim *s, struct net *n)
{
	struct sim_proc *p = proc_of(n);
	if (!p->dead || p->buried)
		return;
	p->buried = true;
	for (unsigned i = 0; i < n->count; i++)
		net_node_set_lost(n->node[i]);
	for (struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		if (sw->proc == p) {
			net_sim_count_live(sw, true);
			if (nam_sched_ready(sw->sched))
				net_sim_ready(sw);
		}
	/* A process whose verbs have ended gets no more completions: all later verbs end by
	 * themselves. */
	for (size_t i = 0; i < p->owed_n; i++)
		net_op_done(p->owed[i].ep, p->owed[i].b, p->owed[i].op, NAM_GONE);
	p->owed_n = 0;
	net_sim_serve_resume(s, p);
}

/* ---- dice -------------------------------------------------------------------------- */

void
net_sim_faults(struct net_sim *s, bool on)
{
	s->faults = on;
}

static bool
meets(struct net_sim *s, const struct sim_proc *p, uint32_t rate, uint32_t of)
{
	return rate != 0 && s->faults && p->id >= s->cfg.sheltered && nam_rng_below(&s->rng, of) < rate;
}

void
net_sim_fault_post(struct net_sim *s, struct sim_qp *qp)
{
	struct sim_proc *p = qp->worker->proc;
	struct net *n = p->net;
	const struct net_sim_config *cfg = &s->cfg;
	if (p->verbs == p->crash_at || meets(s, p, cfg->crash_ppm, 1000000)) {
		net_sim_crash(s, n);
		return;
	}
	if (p->verbs == p->freeze_at)
		net_sim_freeze(s, n, p->freeze_ns);
	if (meets(s, p, cfg->pause_ppm, 1000000))
		net_sim_freeze(s, n, 1 + nam_rng_below(&s->rng, cfg->pause_ns));
	if (meets(s, p, cfg->part_ppm, 1000000))
		net_sim_part(s, n, qp->node->region, 1 + nam_rng_below(&s->rng, cfg->part_ns));
	if (meets(s, p, cfg->lose_node_ppm, 1000000))
		net_sim_lose_node(s, qp->node->region);
}

bool
net_sim_fault_arrive(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	struct sim_proc *p = qp->worker->proc;
	if (qp->deaf || p->dead || !meets(s, p, s->cfg.lose_ppm, 1000000))
		return false;
	s->stats.breaks++;
	sim_note(s, NOTE_BREAK, p->id);
	if (s->cfg.trace)
		net_sim_say(s, "the connection of w%u to node %u breaks with its verb %llu", qp->worker->id,
		    qp->node->region, (unsigned long long)v->seq);
	return true;
}

uint64_t
net_sim_fault_delay_ns(struct net_sim *s, struct sim_qp *qp)
{
	if (!meets(s, qp->worker->proc, s->cfg.delay_permille, 1000))
		return 0;
	s->stats.delays++;
	return nam_rng_below(&s->rng, s->cfg.delay_ns);
}
