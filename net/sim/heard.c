/*
 * heard.c -- the news that simulated processes hear about each other (net_heard_of), and how a
 * process is asked before it is fenced.
 *
 * Others hear of a crash as a death, as closed connections, or not at all, as if its machine were
 * gone. By a rumour they hear that a live process has left: all its connections seemed closed, and
 * it comes back. A live process is never told dead.
 */
#include <net/sim/sim_internal.h>

#include <stdlib.h>

enum { TOLD_NS = 2000000, LEFT_NS = 5000000 };

/* A sleeper that news wake. Lives until its time has come. */
struct sim_nap {
	struct sim_call call;
	struct sim_worker *worker;
	struct nam_co *co; /* NULL = it has been woken */
	bool *woken;       /* on its stack */
	struct sim_nap *next;
};

static struct sim_proc *
find(struct net_sim *s, uint64_t identity)
{
	struct sim_proc *p = s->proc;
	while (p != NULL && p->identity != identity)
		p = p->next;
	return p;
}

static void
wake(struct sim_nap *nap)
{
	struct nam_co *co = nap->co;
	nap->co = NULL;
	if (co == NULL)
		return;
	*nap->woken = true;
	net_sim_touch(nap->worker);
	nam_co_wake(co);
}

static void
nap_over(struct net_sim *s, struct sim_call *c)
{
	struct sim_nap *nap = (struct sim_nap *)(void *)c;
	struct sim_nap **at = &s->naps;
	while (*at != nap)
		at = &(*at)->next;
	*at = nap->next;
	wake(nap);
	free(nap);
}

static void
news(struct net_sim *s)
{
	s->news++;
	for (struct sim_nap *nap = s->naps; nap != NULL; nap = nap->next)
		wake(nap);
}

static void
told(struct net_sim *s, struct sim_call *c)
{
	struct sim_proc *p = (struct sim_proc *)(void *)((char *)c - offsetof(struct sim_proc, obituary));
	p->heard = p->heard_next;
	if (s->cfg.trace)
		net_sim_say(s, "p%u is told %s", p->id, p->heard == NET_DEAD ? "dead" : "left");
	news(s);
}

void
net_sim_heard_crash(struct net_sim *s, struct sim_proc *p)
{
	if (!s->cfg.hints)
		return;
	unsigned how = (unsigned)nam_rng_below(&s->rng, 4);
	if (how == 0)
		return;
	p->heard_next = how == 1 ? NET_LEFT : NET_DEAD;
	p->obituary.fn = told;
	net_sim_queue_push(&s->queue,
	    s->now + nam_rng_below(&s->rng, TOLD_NS) + (how == 1 ? NET_LEFT_NS + LEFT_NS : 0), SIM_CALL,
	    &p->obituary);
}

void
net_sim_tell(struct net_sim *s, struct net *n, uint64_t ns)
{
	struct sim_proc *p = n->env_priv;
	if (!p->dead || p->heard_next != NET_UNHEARD)
		return;
	p->heard_next = NET_DEAD;
	p->obituary.fn = told;
	net_sim_queue_push(&s->queue, s->now + ns, SIM_CALL, &p->obituary);
}

static void
rumour_over(struct net_sim *s, struct sim_call *c)
{
	struct sim_proc *p = (struct sim_proc *)(void *)((char *)c - offsetof(struct sim_proc, rumour));
	(void)s;
	p->rumoured = false;
}

void
net_sim_rumour(struct net_sim *s, struct net *n, uint64_t ns)
{
	struct sim_proc *p = n->env_priv;
	if (p->dead || p->rumoured)
		return;
	if (s->cfg.trace)
		net_sim_say(s, "p%u is said to have left", p->id);
	p->rumoured = true;
	p->rumour.fn = rumour_over;
	net_sim_queue_push(&s->queue, s->now + ns, SIM_CALL, &p->rumour);
	news(s);
}

enum net_heard
net_sim_heard(struct net_worker *w, uint64_t identity)
{
	const struct sim_worker *sw = w->env_priv;
	const struct sim_proc *p = find(sw->sim, identity);
	if (p == NULL || p == sw->proc)
		return NET_UNHEARD;
	return p->heard != NET_UNHEARD ? p->heard : p->rumoured ? NET_LEFT : NET_UNHEARD;
}

void
net_sim_sleep_or_news(struct net_worker *w, uint64_t ns, uint64_t *seen)
{
	struct sim_worker *sw = w->env_priv;
	struct net_sim *s = sw->sim;
	if (*seen != s->news) {
		*seen = s->news;
		ns = 0;
	}
	bool woken = false;
	struct sim_nap *nap = malloc(sizeof *nap);
	NAM_ASSERT(nap != NULL && nam_co_self() != NULL);
	*nap = (struct sim_nap){
		.call.fn = nap_over, .worker = sw, .co = nam_co_self(), .woken = &woken, .next = s->naps
	};
	s->naps = nap;
	net_sim_queue_push(&s->queue, net_sim_sleep_until(sw, ns), SIM_CALL, &nap->call);
	while (!woken)
		nam_co_park();
	*seen = s->news;
}

void
net_sim_naps_free(struct net_sim *s)
{
	while (s->naps != NULL) {
		struct sim_nap *nap = s->naps;
		s->naps = nap->next;
		free(nap);
	}
}

/* ---- asked before it is fenced -------------------------------------------------- */

void
net_sim_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg)
{
	struct sim_proc *p = n->env_priv;
	p->asked = fn;
	p->asked_arg = arg;
}

/* True if its heart's thread runs its loop, and a node reaches it. */
static bool
can_answer(struct net_sim *s, const struct sim_proc *p)
{
	if (p->asked == NULL || p->dead || p->paused || p->net == NULL)
		return false;
	for (struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		if (sw->proc == p) {
			for (unsigned r = 1; r <= s->cfg.nodes; r++)
				if (!net_set_has(&p->parted, r) && !s->node[r].down)
					return sw->busy_until <= s->now;
			return false;
		}
	return false;
}

nam_status
net_sim_ask(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	struct sim_worker *sw = w->env_priv;
	struct net_sim *s = sw->sim;
	struct sim_proc *p = find(s, identity);
	uint64_t until = s->now + grace_ns, step = grace_ns / 16 + 1;
	if (p == NULL || p->asked == NULL || p->fenced_any)
		return NAM_OK;
	net_sleep(w, 2 * net_sim_flight_ns(s));
	while (!can_answer(s, p)) {
		if (s->now >= until || p->net == NULL)
			return NAM_OK;
		net_sleep(w, step);
	}
	s->stats.asked++;
	bool lives = p->asked(p->asked_arg) == NET_LIVES;
	if (s->cfg.trace)
		net_sim_say(s, "p%u is asked and %s", p->id, lives ? "lives" : "gives up");
	if (!lives) {
		net_sim_disarm(s, p);
		s->stats.gave_up++;
	}
	net_sleep(w, 2 * net_sim_flight_ns(s));
	return lives ? nam_fail(err, NAM_BUSY, "the process says that it lives") : NAM_OK;
}
