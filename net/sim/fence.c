/* fence.c -- net_fence_process in a simulated cluster: a message to every node, and an answer. */
#include <net/sim/sim_internal.h>

#include <stdlib.h>

struct sim_fence;
struct sim_leg {
	struct sim_call call;
	struct sim_fence *of;
	struct sim_node *node;
};

/* One call of net_fence_process. Its messages may arrive after it has given up. */
struct sim_fence {
	struct sim_fence *next;
	struct sim_timer timeout;
	uint64_t identity;
	unsigned left; /* nodes that have not answered */
	struct sim_leg leg[NET_REGIONS];
};

static void
fence_at(struct sim_proc *p, unsigned region)
{
	net_set_add(&p->fenced, region);
	p->fenced_any = true;
}

static bool
unreachable(const struct sim_fence *f, const struct sim_node *node)
{
	const struct sim_proc *p = f->timeout.worker->proc;
	return (node->down && !node->replaced) || net_set_has(&p->parted, node->region);
}

static void
leg_answered(struct net_sim *s, struct sim_call *c)
{
	struct sim_leg *leg = (struct sim_leg *)(void *)c;
	struct sim_fence *f = leg->of;
	if (unreachable(f, leg->node))
		return;
	(void)s;
	struct net *asker = f->timeout.worker->proc->net;
	const struct net_node_info *known = net_node_of(asker, leg->node->region);
	if (leg->node->replaced || known->incarnation != sim_incarnation(leg->node))
		net_declare_replaced(asker, leg->node->region);
	f->left--;
	if (f->timeout.co != NULL) {
		net_sim_touch(f->timeout.worker);
		nam_co_wake(f->timeout.co);
	}
}

/* At this moment and node, ends all that the process can do. */
static void
leg_arrived(struct net_sim *s, struct sim_call *c)
{
	struct sim_leg *leg = (struct sim_leg *)(void *)c;
	if (unreachable(leg->of, leg->node))
		return;
	struct sim_proc *p = s->proc;
	while (p != NULL && p->identity != leg->of->identity)
		p = p->next;
	bool gave_up = p != NULL && net_set_has(&p->fenced, leg->node->region);
	if (p != NULL) {
		fence_at(p, leg->node->region);
		net_sim_serve_gone(s, p, leg->node, 0);
	}
	for (struct sim_qp *qp = s->qp; p != NULL && qp != NULL; qp = qp->next)
		if (qp->worker->proc == p && qp->node == leg->node && !qp->cut) {
			s->stats.fences++;
			net_sim_qp_break(s, qp, 0, false, net_sim_flight_ns(s));
		}
	if (s->cfg.trace)
		net_sim_say(s, "node %u fences p%d", leg->node->region, p != NULL ? (int)p->id : -1);
	if (p != NULL && (s->cfg.fence_kills || p->mapped) && p->net != NULL && !p->dead && !gave_up)
		net_sim_crash(s, p->net);
	leg->call.fn = leg_answered;
	net_sim_queue_push(&s->queue, s->now + net_sim_flight_ns(s), SIM_CALL, &leg->call);
}

void
net_sim_disarm(struct net_sim *s, struct sim_proc *p)
{
	for (unsigned r = 1; r <= s->cfg.nodes; r++)
		fence_at(p, r);
	atomic_store(&p->net->fenced, true);
	for (struct sim_qp *qp = s->qp; qp != NULL; qp = qp->next)
		if (qp->worker->proc == p && !qp->cut)
			net_sim_qp_break(s, qp, 0, false, 0);
}

bool
net_sim_shut(const struct net *n)
{
	return ((const struct sim_proc *)n->env_priv)->fenced_any;
}

nam_status
net_sim_fence(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	struct sim_worker *sw = w->env_priv;
	struct net_sim *s = sw->sim;
	if (sw->proc->fenced_any)
		return nam_fail(err, NAM_REFUSED, "this process has been fenced itself");
	if (grace_ns > 0 && net_sim_ask(w, identity, grace_ns, err) == NAM_BUSY)
		return NAM_BUSY;
	struct sim_fence *f = calloc(1, sizeof *f);
	if (f == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to fence a process");
	f->next = s->fence;
	s->fence = f;
	f->identity = identity;
	f->timeout.worker = sw;
	f->timeout.co = nam_co_self();
	for (unsigned i = 0; i < w->net->count; i++) {
		struct sim_leg *leg = &f->leg[i];
		*leg = (struct sim_leg){ .call.fn = leg_arrived, .of = f, .node = w->net->node[i]->priv };
		net_sim_queue_push(&s->queue, s->now + net_sim_flight_ns(s), SIM_CALL, &leg->call);
		f->left++;
	}
	net_sim_queue_push(&s->queue, s->now + SIM_TIMEOUT_NS, SIM_TIMER, &f->timeout);
	while (f->left > 0 && !f->timeout.fired)
		nam_co_park();
	f->timeout.co = NULL;
	if (f->left > 0)
		return nam_fail(err, NAM_GONE, "%u storage nodes do not answer", f->left);
	return NAM_OK;
}

void
net_sim_fence_free(struct net_sim *s)
{
	while (s->fence != NULL) {
		struct sim_fence *f = s->fence;
		s->fence = f->next;
		free(f);
	}
}
