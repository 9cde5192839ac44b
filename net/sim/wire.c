/* wire.c -- the simulated wire: how a verb travels, executes in pieces, and is done (see
 * sim_internal.h). */
#include <net/sim/sim_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB = 256, PIECES_MAX = 5, BEAT_NS = 10000000 };

struct sim_slab {
	struct sim_slab *next;
	struct sim_verb verb[SLAB];
};

static struct sim_verb *
verb_take(struct net_sim *s)
{
	if (s->free == NULL) {
		struct sim_slab *slab = malloc(sizeof *slab);
		NAM_ASSERT(slab != NULL); /* the simulator's own memory, not the database's */
		slab->next = s->slab;
		s->slab = slab;
		for (unsigned i = SLAB; i-- > 0;) {
			slab->verb[i].own = NULL;
			slab->verb[i].next = s->free;
			s->free = &slab->verb[i];
		}
	}
	struct sim_verb *v = s->free;
	s->free = v->next;
	return v;
}

static void
verb_give(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	*(v->out_prev != NULL ? &v->out_prev->out_next : &qp->out_first) = v->out_next;
	*(v->out_next != NULL ? &v->out_next->out_prev : &qp->out_last) = v->out_prev;
	if (v->counted)
		net_sim_nic_forget(v);
	free(v->own);
	v->own = NULL;
	v->next = s->free;
	s->free = v;
}

void
net_sim_wire_free(struct net_sim *s)
{
	for (struct sim_slab *slab = s->slab; slab != NULL; slab = slab->next)
		for (unsigned i = 0; i < SLAB; i++)
			free(slab->verb[i].own);
	while (s->slab != NULL) {
		struct sim_slab *slab = s->slab;
		s->slab = slab->next;
		free(slab);
	}
	s->free = NULL;
}

uint64_t
net_sim_flight_ns(struct net_sim *s)
{
	return s->cfg.latency_ns + nam_rng_below(&s->rng, s->cfg.jitter_ns + 1);
}

static inline bool
chance(struct net_sim *s, uint32_t permille)
{
	return permille != 0 && nam_rng_below(&s->rng, 1000) < permille;
}

/* How late a READ is, or how long a torn verb takes: mostly about a round trip, sometimes
 * several. */
static inline uint64_t
lag_ns(struct net_sim *s)
{
	uint64_t most = nam_rng_below(&s->rng, 8) == 0 ? 16 : 2;
	return 1 + nam_rng_below(&s->rng, most * s->cfg.latency_ns);
}

/* READs and atomics: what a fence waits for. */
static inline bool
answers(uint8_t code)
{
	return code == NET_READ || code == NET_CAS || code == NET_FAA;
}

static void
trace(const struct net_sim *s, const struct sim_verb *v, const char *what)
{
	static const char *const name[NET_CODES] = { "READ", "WRITE", "WRITE_IMM", "CAS", "FAA" };
	fprintf(stderr, "%12llu p%u w%u.%llu %-7s %s%s %u:%llx+%u", (unsigned long long)s->now,
	    v->qp->worker->proc->id, v->qp->worker->id, (unsigned long long)v->seq, what, name[v->code],
	    v->torn ? " torn" : "", v->qp->node->region, (unsigned long long)v->off, v->len);
	if (v->code == NET_CAS)
		fprintf(stderr, " %llx->%llx", (unsigned long long)v->arg, (unsigned long long)v->want);
	if (v->code == NET_FAA)
		fprintf(stderr, " +%llx", (unsigned long long)v->arg);
	if (answers(v->code) && v->code != NET_READ)
		fprintf(stderr, " saw %llx", (unsigned long long)v->seen);
	fputc('\n', stderr);
}

/* ---- executing --------------------------------------------------------------- */

static inline bool
serves(const struct sim_node *node)
{
	return node->link != NULL || node->window_of != NULL;
}

static void
run_atomic(struct sim_verb *v)
{
	char *mem = v->qp->node->mem + v->off;
	memcpy(&v->seen, mem, 8);
	uint64_t to = v->code == NET_FAA ? v->seen + v->arg : v->seen == v->arg ? v->want : v->seen;
	memcpy(mem, &to, 8);
}

/* The heartbeat is written when a READ looks at it, so that it is no event. */
static void
beat(struct net_sim *s, struct sim_node *node)
{
	struct net_super *super = (struct net_super *)(void *)node->mem;
	super->beat = s->now / BEAT_NS;
	super->beat_wall_us = s->now / 1000;
}

/* Executes the whole verb at once. */
static void
execute(struct net_sim *s, struct sim_verb *v)
{
	struct sim_node *node = v->qp->node;
	if (v->code == NET_READ && v->off < sizeof(struct net_super))
		beat(s, node);
	if (v->code == NET_READ)
		memcpy(v->buf, node->mem + v->off, v->len);
	else if (v->code == NET_WRITE || v->code == NET_WRITE_IMM)
		memcpy(node->mem + v->off, v->buf, v->len);
	else
		run_atomic(v);
	sim_note(s, v->off ^ (uint64_t)v->code << 56, v->seen);
	if (s->cfg.trace)
		trace(s, v, "execute");
}

/* ---- the poster's side ------------------------------------------------------ */

static void
owe(struct sim_proc *p, struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	if (p->owed_n == p->owed_cap) {
		size_t cap = p->owed_cap != 0 ? 2 * p->owed_cap : 64;
		struct sim_owed *more = realloc(p->owed, cap * sizeof *more);
		NAM_ASSERT(more != NULL);
		p->owed = more;
		p->owed_cap = cap;
	}
	p->owed[p->owed_n++] = (struct sim_owed){ ep, b, op };
}

static inline struct net_endpoint *
qp_endpoint(const struct sim_qp *qp)
{
	return qp->worker->w->ep[qp->node->region];
}

/* From its RNIC on, which has just got it. */
static void
fly(struct net_sim *s, struct sim_verb *v, uint64_t there)
{
	struct sim_qp *qp = v->qp;
	there += net_sim_fault_delay_ns(s, qp);
	/* it stalled before the verb */
	if (qp->worker->proc->mapped && qp->worker->proc->paused)
		there += qp->worker->proc->resume_at - s->now;
	qp->last_arrive = sim_later(qp->last_arrive, there); /* S1 */
	net_sim_queue_push(&s->queue, qp->last_arrive, SIM_ARRIVE, v);
}

void
net_sim_wire_leave(struct net_sim *s, struct sim_verb *v)
{
	fly(s, v, net_sim_nic_leave(s, v));
}

/* The posting thread gives it to the RNIC: later than now, if the thread has posted others in this
 * turn. A model's resources are asked at that time, so that they serve in the order of time. */
static void
leave(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	uint64_t debt = qp->worker->debt;
	v->idle = false;
	if (answers(v->code))
		qp->out++;
	if (s->cfg.model == NULL)
		fly(s, v, s->now + debt + net_sim_flight_ns(s));
	else if (debt == 0)
		net_sim_wire_leave(s, v);
	else
		net_sim_queue_push(&s->queue, s->now + debt, SIM_LEAVE, v);
}

static void
append(struct sim_qp *qp, struct sim_verb *v)
{
	v->qp = qp;
	v->out_next = NULL;
	v->out_prev = qp->out_last;
	*(qp->out_last != NULL ? &qp->out_last->out_next : &qp->out_first) = v;
	qp->out_last = v;
}

static void
owe_unless_quiet(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct sim_qp *qp = ep->priv;
	if (!(op->flags & NET_QUIET))
		owe(qp->worker->proc, ep, b, op);
}

/* Executes it at once, if the node's memory is mapped. */
static void
in_place(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct sim_qp *qp = ep->priv;
	struct net_sim *s = qp->worker->sim;
	struct sim_proc *p = qp->worker->proc;
	struct sim_verb v = { .qp = qp,
		.seq = ++qp->seq,
		.code = op->code,
		.len = op->len,
		.off = net_offset_of(op->at),
		.buf = op->buf,
		.arg = op->arg,
		.want = op->want };
	bool executes = true;
	s->stats.verbs++;
	p->verbs++;
	if (p->verbs == p->crash_at) /* before the verb, or behind it */
		executes = p->carry == NET_SIM_CARRY_ALL ||
			   (p->carry == NET_SIM_CARRY_DICE && nam_rng_below(&s->rng, 2));
	if (executes)
		execute(s, &v);
	net_sim_fault_post(s, qp);
	net_sim_charge(qp->worker,
	    s->cfg.post_ns + (op->code == NET_READ ? (uint64_t)op->len * s->cfg.read_cpu_ps / 1000 : 0));
	op->seen = v.seen;
	if (p->dead && !p->buried)
		owe_unless_quiet(ep, b, op);
	else if (!(op->flags & NET_QUIET))
		net_op_done(ep, b, op, NAM_OK);
}

/* Verbs that one batch posts on one queue pair share a doorbell. */
static void
charge_post(struct sim_qp *qp, const struct net_batch *b)
{
	struct sim_worker *sw = qp->worker;
	const struct net_sim_model *m = sw->sim->cfg.model;
	net_sim_charge(sw, sw->sim->cfg.post_ns);
	if (m == NULL || (qp->rung_turn == sw->turn && qp->rung_batch == b))
		return;
	qp->rung_turn = sw->turn;
	qp->rung_batch = b;
	net_sim_charge(sw, m->doorbell_ns);
}

static void
wire_post(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct sim_qp *qp = ep->priv;
	struct net_sim *s = qp->worker->sim;
	struct sim_proc *p = qp->worker->proc;
	bool quiet = (op->flags & NET_QUIET) != 0;
	if (p->dead && !p->buried) {
		/* The process is dead, but does not know it before its coroutines stop: no verb
		 * leaves any more. */
		owe_unless_quiet(ep, b, op);
		return;
	}
	if (qp->broken) {
		if (quiet)
			net_quiet_failed(ep, NAM_GONE);
		else
			net_op_done(ep, b, op, NAM_GONE);
		return;
	}
	if (p->mapped && !p->paused && !qp->deaf && qp->out_first == NULL && !serves(qp->node)) {
		in_place(ep, b, op);
		return;
	}
	struct sim_verb *v = verb_take(s);
	v->next = NULL;
	append(qp, v);
	v->op = quiet ? NULL : op;
	v->b = quiet ? NULL : b;
	v->seq = ++qp->seq;
	v->code = op->code;
	v->flags = op->flags;
	v->torn = v->orphan = v->idle = v->landed = v->counted = false;
	v->len = op->len;
	v->off = net_offset_of(op->at);
	v->buf = op->buf;
	v->arg = op->arg;
	v->want = op->want;
	v->seen = 0;
	if (op->flags & NET_INLINE) {
		memcpy(v->inl, op->buf, op->len);
		v->buf = v->inl;
	}
	s->stats.verbs++;
	p->verbs++;
	charge_post(qp, b);
	if (qp->held != NULL || ((v->flags & NET_FENCE) && qp->out != 0)) { /* S3 */
		*qp->held_end = v;
		qp->held_end = &v->next;
		v->idle = true;
	} else {
		leave(s, v);
	}
	net_sim_fault_post(s, qp);
}

static void
finish(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	struct net_op *op = v->op;
	struct net_batch *b = v->b;
	struct net_endpoint *ep = qp_endpoint(qp);
	bool lost = net_node_lost(ep->node);
	if (op != NULL)
		op->seen = v->seen;
	if (v->code == NET_READ)
		net_sim_charge(qp->worker, (uint64_t)v->len * s->cfg.read_cpu_ps / 1000);
	if (s->cfg.model != NULL)
		net_sim_charge(qp->worker, s->cfg.model->poll_ns);
	verb_give(s, v);
	net_sim_touch(qp->worker);
	if (b != NULL)
		net_op_done(ep, b, op, lost ? NAM_GONE : NAM_OK);
	else if (lost)
		net_quiet_failed(ep, NAM_GONE);
}

/* The poster's process gets the completion when its code runs and its thread polls. */
static void
finish_or_defer(struct net_sim *s, struct sim_verb *v, bool polls)
{
	struct sim_qp *qp = v->qp;
	struct sim_worker *sw = qp->worker;
	struct sim_proc *p = sw->proc;
	if (qp->cut || v->orphan) {
		verb_give(s, v);
		return;
	}
	if (p->paused) {
		v->idle = true;
		v->next = NULL;
		*p->deferred_end = v;
		p->deferred_end = &v->next;
		return;
	}
	if (polls) {
		finish(s, v);
		return;
	}
	v->next = NULL;
	*sw->told_end = v;
	sw->told_end = &v->next;
	if (!net_sim_busy(sw))
		net_sim_wire_told(s, sw);
}

/* The thread polls: it gets all completions that have come, before its coroutines run again. */
void
net_sim_wire_told(struct net_sim *s, struct sim_worker *sw)
{
	struct sim_verb *v = sw->told;
	sw->told = NULL;
	sw->told_end = &sw->told;
	for (struct sim_verb *next; v != NULL; v = next) {
		next = v->next;
		finish_or_defer(s, v, true);
	}
	net_sim_settle(sw);
}

void
net_sim_wire_write(struct sim_qp *qp, uint64_t off, const char *from, uint32_t len, bool imm)
{
	struct net_sim *s = qp->worker->sim;
	struct sim_verb *v = verb_take(s);
	*v = (struct sim_verb){ .seq = ++qp->seq,
		.code = imm ? NET_WRITE_IMM : NET_WRITE,
		.len = len,
		.off = off,
		.buf = (char *)(uintptr_t)from };
	append(qp, v);
	s->stats.verbs++;
	leave(s, v);
}

void
net_sim_wire_done(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	if (qp->cut || v->orphan) {
		verb_give(s, v);
		return;
	}
	if (qp->mute) {
		v->idle = true;
		return;
	}
	if (s->cfg.model != NULL && !v->landed) {
		v->landed = true;
		uint64_t at = net_sim_nic_land(s, v);
		if (at > s->now) {
			net_sim_queue_push(&s->queue, at, SIM_DONE, v);
			return;
		}
	}
	if (s->cfg.trace)
		trace(s, v, "done");
	if (answers(v->code)) {
		NAM_ASSERT(qp->out > 0);
		qp->out--;
		while (qp->held != NULL && (qp->out == 0 || !(qp->held->flags & NET_FENCE))) {
			struct sim_verb *h = qp->held;
			qp->held = h->next;
			if (qp->held == NULL)
				qp->held_end = &qp->held;
			h->next = NULL;
			leave(s, h);
		}
	}
	finish_or_defer(s, v, false);
}

void
net_sim_wire_resume(struct net_sim *s, struct sim_proc *p)
{
	struct sim_verb *v = p->deferred;
	p->deferred = NULL;
	p->deferred_end = &p->deferred;
	for (struct sim_verb *d = v; d != NULL; d = d->next)
		d->idle = false; /* the completions are here, even if the process dies of the
				  * first */
	for (struct sim_verb *next; v != NULL; v = next) {
		next = v->next;
		finish_or_defer(s, v, false);
	}
}

/* ---- broken connections ------------------------------------------------------- */

/* No coroutine waits for it any more. A verb that may still execute keeps a payload of its own. */
static void
orphan(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	v->op = NULL;
	v->b = NULL;
	if (v->idle) {
		verb_give(s, v);
		return;
	}
	v->orphan = true;
	if ((v->code != NET_WRITE && v->code != NET_WRITE_IMM) || v->buf == v->inl || v->len == 0 ||
	    (qp->deaf && v->seq > qp->last + qp->half))
		return;
	v->own = malloc(v->len);
	NAM_ASSERT(v->own != NULL);
	memcpy(v->own, v->buf, v->len);
	v->buf = v->own;
}

/* Breaks the node's end. The node never executes more verbs than now; its answers do not come any
 * more, or those under way still do. */
static void
deafen(struct net_sim *s, struct sim_qp *qp, uint64_t last, bool half)
{
	if (!qp->deaf || last < qp->last) {
		qp->last = last;
		qp->half = half;
	} else if (last == qp->last) {
		qp->half &= half;
	}
	if (!qp->deaf)
		qp->mute = nam_rng_below(&s->rng, 4) != 0;
	qp->deaf = true;
}

/* Verbs that wait for a fence never left. */
static void
forget_held(struct sim_qp *qp)
{
	qp->held = NULL;
	qp->held_end = &qp->held;
}

void
net_sim_qp_orphan(struct net_sim *s, struct sim_qp *qp, uint64_t last, bool half)
{
	if (qp->cut || qp->broken)
		return;
	deafen(s, qp, last, half);
	qp->broken = true;
	forget_held(qp);
	for (struct sim_verb *v = qp->out_first, *next; v != NULL; v = next) {
		next = v->out_next;
		if (v->b != NULL)
			owe(qp->worker->proc, qp_endpoint(qp), v->b, v->op);
		orphan(s, v);
	}
}

/* Every verb that is out ends with NAM_GONE. */
static void
give_up(struct net_sim *s, struct sim_qp *qp)
{
	if (qp->broken || qp->cut)
		return;
	struct net_endpoint *ep = qp_endpoint(qp);
	qp->broken = ep->broke = true;
	forget_held(qp);
	net_sim_touch(qp->worker);
	/* A coroutine that gets its completion may post, but no verb is added to the list of a
	 * broken connection. */
	for (struct sim_verb *v = qp->out_first, *next; v != NULL; v = next) {
		next = v->out_next;
		struct net_batch *b = v->b;
		struct net_op *op = v->op;
		if (b == NULL)
			net_quiet_failed(ep, NAM_GONE);
		orphan(s, v);
		if (b != NULL)
			net_op_done(ep, b, op, NAM_GONE);
	}
}

/* If a node is lost for its process, all workers give up their verbs there; they do not learn of
 * one connection that breaks alone. */
static void
tell_poster(struct net_sim *s, struct sim_call *c)
{
	struct sim_qp *qp = (struct sim_qp *)(void *)((char *)c - offsetof(struct sim_qp, tell));
	if (qp->cut || qp->broken)
		return;
	struct sim_proc *p = qp->worker->proc;
	if (p->paused) { /* its code does not run */
		net_sim_queue_push(&s->queue, p->resume_at, SIM_CALL, c);
		return;
	}
	if (s->cfg.trace)
		net_sim_say(s, "p%u w%u knows that its connection to node %u is broken", p->id,
		    qp->worker->id, qp->node->region);
	if (!qp->alone)
		net_node_set_lost(qp_endpoint(qp)->node);
	for (struct sim_qp *q = s->qp; q != NULL; q = q->next)
		if (q == qp || (!qp->alone && q->worker->proc == p && q->node == qp->node))
			give_up(s, q);
}

void
net_sim_qp_break(struct net_sim *s, struct sim_qp *qp, uint64_t last, bool half, uint64_t delay_ns)
{
	if (qp->cut)
		return;
	deafen(s, qp, last, half);
	if (qp->breaking || qp->broken)
		return;
	qp->breaking = true;
	qp->tell.fn = tell_poster;
	net_sim_queue_push(&s->queue, s->now + delay_ns, SIM_CALL, &qp->tell);
}

/* ---- the node's side -------------------------------------------------------- */

/* Cuts a verb into chunks of whole words of the node's memory. */
static void
cut(struct net_sim *s, struct sim_verb *v)
{
	v->grain = 8 * (1 + (v->len - 1) / (8 * (SIM_CHUNKS - 4)));
	v->skew = (uint32_t)(v->off & 7) + 8 * (uint32_t)nam_rng_below(&s->rng, v->grain / 8);
	unsigned n = (v->len + v->skew + v->grain - 1) / v->grain;
	NAM_ASSERT(n <= SIM_CHUNKS);
	for (unsigned i = 0; i < SIM_CHUNKS / 64; i++) {
		unsigned first = 64 * i;
		v->left[i] = n >= first + 64 ? UINT64_MAX : n > first ? (UINT64_C(1) << (n - first)) - 1 : 0;
	}
	v->pieces = (uint8_t)(2 + nam_rng_below(&s->rng, PIECES_MAX - 1));
	v->torn = true;
}

/* Moves the bytes of some chunks; the rest stays for later. */
static void
move_some(struct net_sim *s, struct sim_verb *v, bool all)
{
	char *mem = v->qp->node->mem + v->off;
	for (unsigned i = 0; i < SIM_CHUNKS / 64; i++) {
		uint64_t now = v->left[i];
		if (now == 0)
			continue;
		if (!all)
			now &= nam_rng_next(&s->rng);
		v->left[i] &= ~now;
		for (; now != 0; now &= now - 1) {
			uint32_t c = 64 * i + (uint32_t)__builtin_ctzll(now);
			uint32_t from = c == 0 ? 0 : c * v->grain - v->skew;
			uint32_t to = (c + 1) * v->grain - v->skew;
			if (to > v->len)
				to = v->len;
			if (v->code == NET_READ)
				memcpy(v->buf + from, mem + from, to - from);
			else
				memcpy(mem + from, v->buf + from, to - from);
		}
	}
}

/* True: the node does not execute the verb, or no more of it. */
static bool
unheard(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	if (!qp->cut && !(qp->deaf && v->seq > qp->last + qp->half))
		return false;
	if (qp->cut || v->orphan || (v->b == NULL && !answers(v->code)))
		verb_give(s, v);
	else
		v->idle = true;
	return true;
}

static inline bool
tearable(const struct sim_verb *v)
{
	return !(answers(v->code) && v->code != NET_READ) && v->len > 1 &&
	       v->off >> 3 != (v->off + v->len - 1) >> 3;
}

void
net_sim_wire_execute(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	if (unheard(s, v))
		return;
	if (v->orphan && v->code == NET_READ) {
		verb_give(s, v); /* into nowhere */
		return;
	}
	s->stats.late += v->orphan;
	if (qp->deaf && v->seq > qp->last) {
		/* The last verb that the connection carried, and not all of it. */
		if (v->code != NET_READ && tearable(v)) {
			if (!v->torn)
				cut(s, v);
			move_some(s, v, false);
			if (serves(qp->node))
				net_sim_serve_written(s, v, false);
			s->stats.half_writes++;
		}
		qp->half = false;
		(void)unheard(s, v);
		return;
	}
	if (v->code == NET_READ && v->off < sizeof(struct net_super))
		beat(s, qp->node);
	if (v->torn) {
		bool last = --v->pieces == 0;
		move_some(s, v, last);
		if (!answers(v->code) && serves(qp->node))
			net_sim_serve_written(s, v, last);
		if (!last) {
			uint64_t next = v->finish;
			if (v->pieces > 1)
				next = s->now + nam_rng_below(&s->rng, v->finish - s->now + 1);
			net_sim_queue_push(&s->queue, next, SIM_EXECUTE, v);
			return;
		}
	} else if (v->code == NET_READ) {
		memcpy(v->buf, qp->node->mem + v->off, v->len);
	} else if (v->code == NET_WRITE || v->code == NET_WRITE_IMM) {
		memcpy(qp->node->mem + v->off, v->buf, v->len);
		if (serves(qp->node))
			net_sim_serve_written(s, v, true);
	} else {
		run_atomic(v);
	}
	if (v->code == NET_READ && v->seq < qp->executed)
		s->stats.reads_reordered++;
	if (v->seq > qp->executed)
		qp->executed = v->seq;
	sim_note(s, v->off ^ (uint64_t)v->code << 56, v->seen);
	if (s->cfg.trace)
		trace(s, v, "execute");
	if (s->cfg.model != NULL)
		v->done_at += net_sim_nic_answer(s, v);
	if (v->orphan || (v->b == NULL && !answers(v->code)))
		verb_give(s, v); /* no coroutine waits, no fence counts it */
	else
		net_sim_queue_push(&s->queue, v->done_at, SIM_DONE, v);
}

void
net_sim_wire_arrive(struct net_sim *s, struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	struct sim_node *node = qp->node;
	if (unheard(s, v))
		return;
	if (net_sim_fault_arrive(s, v)) {
		net_sim_qp_break(s, qp, v->seq - nam_rng_below(&s->rng, 2), nam_rng_below(&s->rng, 2),
		    nam_rng_below(&s->rng, 20 * s->cfg.latency_ns));
		if (unheard(s, v))
			return;
	}
	bool read = v->code == NET_READ, moves = read || !answers(v->code);
	bool model = s->cfg.model != NULL;
	uint64_t start = model ? net_sim_nic_arrive(s, v) : sim_later(s->now, node->verb_free);
	node->verb_free = start + s->cfg.verb_ns;
	start = sim_later(start, qp->order_free); /* S2 */
	if (read && chance(s, s->cfg.reorder_permille))
		start += lag_ns(s);

	/* The link carries one verb's bytes after the other's. */
	uint64_t carried = start;
	if (moves && v->len > 8 && !model) {
		uint64_t *link = read ? &node->out_free : &node->in_free;
		*link = sim_later(*link, s->now) + v->len * s->cfg.byte_ps / 1000;
		carried = sim_later(start, *link);
	}
	uint64_t first = read ? start : carried;
	v->finish = first;
	if (tearable(v) && chance(s, s->cfg.tear_permille)) {
		cut(s, v);
		first = start;
		v->finish = sim_later(carried, start + lag_ns(s));
		if (read)
			s->stats.reads_torn++;
		else
			s->stats.writes_torn++;
	}
	if (!read)
		qp->order_free = v->finish + 1; /* S2 */
	/* with a model: what is to be added when it has executed */
	v->done_at = model ? 0 : sim_later(carried, v->finish) + net_sim_flight_ns(s);
	v->done_at += net_sim_fault_delay_ns(s, qp);
	if (first == s->now)
		net_sim_wire_execute(s, v);
	else
		net_sim_queue_push(&s->queue, first, SIM_EXECUTE, v);
}

/* ---- the provider ----------------------------------------------------------- */

static nam_status
wire_open(struct net_endpoint *ep, struct nam_err *err)
{
	struct sim_worker *sw = ep->w->env_priv;
	struct net_sim *s = sw->sim;
	struct sim_node *node = ep->node->priv;
	if (net_set_has(&sw->proc->fenced, node->region))
		return nam_fail(err, NAM_REFUSED, "%s has fenced this process", ep->node->info.name);
	if (node->replaced)
		net_node_set_replaced(ep->node);
	if (sw->proc->dead || node->down || !net_node_is(ep->node, sim_incarnation(node)))
		return nam_fail(err, NAM_GONE, "%s is not there any more", ep->node->info.name);
	if (net_set_has(&sw->proc->parted, node->region))
		return nam_fail(err, NAM_TIMEOUT, "%s does not answer", ep->node->info.name);
	struct sim_qp *qp = calloc(1, sizeof *qp);
	if (qp == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a queue pair");
	/* No verb of the connection that this one replaces executes any more. */
	for (struct sim_qp *old = s->qp; old != NULL; old = old->next)
		if (old->worker == sw && old->node == node && !old->cut) {
			net_sim_qp_break(s, old, 0, false, 0);
			s->stats.reconnects++;
		}
	qp->worker = sw;
	qp->node = node;
	qp->held_end = &qp->held;
	qp->next = s->qp;
	s->qp = qp;
	qp->id = ++s->qps;
	/* a node's workers take its ports in turn, and so does a worker for its nodes */
	qp->port = sw->id + node->region;
	ep->priv = qp;
	return NAM_OK;
}

static void
wire_close(struct net_endpoint *ep)
{
	((struct sim_qp *)ep->priv)->cut = true;
}

/* Events deliver completions; this is called only when a connection is given up. */
static int
wire_poll(struct net_endpoint *ep)
{
	struct sim_qp *qp = ep->priv;
	if (net_node_lost(ep->node) || ep->broke)
		give_up(qp->worker->sim, qp);
	return 0;
}

const struct net_provider net_sim_provider = {
	.kind = NET_SIM,
	.open = wire_open,
	.close = wire_close,
	.post = wire_post,
	.channel = net_sim_serve_open,
	.poll = wire_poll,
};
