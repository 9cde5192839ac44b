/* nic.c -- RNICs, ports and cores that take time (nic.h). */
#include <net/sim/sim_internal.h>

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

/* Sources of every number: bench/verbs/README.md, "The model". */
static const struct net_sim_model models[] = {
	{
	    .name = "fdr4x",
	    .what = "Connect-IB, FDR 4x, two ports; Xeon E5-2660 v2 (the NAM paper's cluster)",
	    .wire_ns = 695,
	    .jitter_ns = 60,
	    .ports = 2,
	    .port_ps = 147,
	    .mtu = 4096,
	    .header = 30,
	    .message_ps = 14600,
	    .inline_max = 256,
	    .dma_ns = 300,
	    .atomic_ps = 59000,
	    .address_ns = 410,
	    .contexts = 1024,
	    .requests = 1024,
	    .miss_ps = 60000,
	    .cores = 20,
	    .post_ns = 55,
	    .doorbell_ns = 90,
	    .poll_ns = 60,
	    .turn_ns = 150,
	},
	{
	    .name = "cx6",
	    .what = "ConnectX-6, 200 Gb/s, one port; 96 cores",
	    .wire_ns = 610,
	    .jitter_ns = 50,
	    .ports = 1,
	    .port_ps = 40,
	    .mtu = 4096,
	    .header = 30,
	    .message_ps = 9000,
	    .inline_max = 220,
	    .dma_ns = 250,
	    .atomic_ps = 20000,
	    .address_ns = 180,
	    .contexts = 4096,
	    .requests = 768,
	    .miss_ps = 30000,
	    .cores = 96,
	    .post_ns = 30,
	    .doorbell_ns = 50,
	    .poll_ns = 30,
	    .turn_ns = 100,
	},
	{
	    .name = "xstore",
	    .what = "two ConnectX-4, 100 Gb/s each; 24 cores of 2.2 GHz (the XStore paper's machines)",
	    .wire_ns = 650,
	    .jitter_ns = 60,
	    .ports = 2,
	    .port_ps = 80,
	    .mtu = 4096,
	    .header = 30,
	    .message_ps = 12200,
	    .inline_max = 220,
	    .dma_ns = 300,
	    .atomic_ps = 24400,
	    .address_ns = 410,
	    .contexts = 2048,
	    .requests = 2048,
	    .miss_ps = 30000,
	    .cores = 24,
	    .post_ns = 55,
	    .doorbell_ns = 90,
	    .poll_ns = 60,
	    .turn_ns = 150,
	    .shards = 24,
	    .serve_ns = 1090,
	},
};

const struct net_sim_model *
net_sim_model_at(unsigned i)
{
	return i < sizeof models / sizeof models[0] ? &models[i] : NULL;
}

const struct net_sim_model *
net_sim_model_find(const char *name)
{
	const struct net_sim_model *m = NULL;
	for (unsigned i = 0; (m = net_sim_model_at(i)) != NULL && strcmp(m->name, name) != 0;)
		i++;
	return m;
}

/* ---- resources ----------------------------------------------------------------------- */

/* True if the RNIC has the queue pair's context on its chip. It has it now. */
static bool
known(struct sim_nic *nic, const struct net_sim_model *m, uint32_t qp)
{
	uint32_t sets = m->contexts / WAYS;
	uint32_t *set = &nic->context[(uint32_t)(nam_mix(qp) % sets) * WAYS];
	unsigned i = 0;
	while (i < WAYS - 1 && set[i] != qp)
		i++;
	bool hit = set[i] == qp;
	memmove(set + 1, set, i * sizeof *set);
	set[0] = qp;
	return hit;
}

/* A message passes the RNIC: when it is through. *later: what it waits for beside others, ps. */
static uint64_t
pass(struct net_sim *s, struct sim_nic *nic, uint32_t qp, bool own, uint64_t at, uint64_t *later)
{
	const struct net_sim_model *m = s->cfg.model;
	bool miss = !known(nic, m, qp);
	/* Work requests under way that do not fit are read again when they are wanted. */
	if (own && nic->out > m->requests)
		miss |= nam_rng_below(&s->rng, nic->out) >= m->requests;
	nic->messages++;
	nic->misses += miss;
	uint64_t cost = m->message_ps + (miss ? m->miss_ps : 0);
	if (miss)
		*later += m->dma_ns * UINT64_C(1000);
	return sim_serve(&nic->unit, at, cost) + cost;
}

static uint64_t
bytes_of(const struct net_sim_model *m, uint32_t payload)
{
	return payload + (uint64_t)m->header * (1 + (payload != 0 ? (payload - 1) / m->mtu : 0));
}

/* The last byte has left. */
static uint64_t
send(struct sim_nic *nic, const struct net_sim_model *m, uint32_t port, uint32_t payload, uint64_t at)
{
	uint64_t bytes = bytes_of(m, payload), ps = bytes * m->port_ps;
	nic->bytes_out += bytes;
	return sim_serve(&nic->send[port % m->ports], at, ps) + ps;
}

/* The last byte is there: at `at`, or later if other messages fill the port. */
static uint64_t
receive(struct sim_nic *nic, const struct net_sim_model *m, uint32_t port, uint32_t payload, uint64_t at)
{
	uint64_t bytes = bytes_of(m, payload), ps = bytes * m->port_ps;
	nic->bytes_in += bytes;
	return sim_serve(&nic->receive[port % m->ports], at - sim_sooner(at, ps), ps) + ps;
}

static uint64_t
flight(struct net_sim *s)
{
	const struct net_sim_model *m = s->cfg.model;
	return (m->wire_ns + nam_rng_below(&s->rng, m->jitter_ns + 1)) * UINT64_C(1000);
}

static uint64_t
whole(uint64_t ps)
{
	return (ps + 999) / 1000;
}

static void
vote(struct sim_nic *nic, uint64_t off)
{
	unsigned i = off >> 3 & (SIM_WORDS - 1);
	if (nic->voted[i].votes == 0)
		nic->voted[i].off = off;
	if (nic->voted[i].off == off)
		nic->voted[i].votes++;
	else
		nic->voted[i].votes--;
}

static bool
carries(const struct sim_verb *v)
{
	return v->code == NET_WRITE || v->code == NET_WRITE_IMM;
}

/*
 * ---- a verb's way --------------------------------------------------------------------
 *
 * A resource serves in the order of the calls. So each call is made at the time it is about, and
 * what keeps only one message waiting is added behind the resources.
 */

/* A service's answers go from the storage node to the client's window. */
static struct sim_nic *
poster(const struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	return qp->node->window_of != NULL ? &net_sim_serve_node(qp->node->window_of)->nic
					   : &qp->worker->proc->nic;
}

static struct sim_nic *
target(const struct sim_verb *v)
{
	struct sim_qp *qp = v->qp;
	return qp->node->window_of != NULL ? &qp->worker->proc->nic : &qp->node->nic;
}

void
net_sim_nic_forget(struct sim_verb *v)
{
	NAM_ASSERT(poster(v)->out > 0);
	poster(v)->out--;
	v->counted = false;
}

uint64_t
net_sim_nic_leave(struct net_sim *s, struct sim_verb *v)
{
	const struct net_sim_model *m = s->cfg.model;
	struct sim_qp *qp = v->qp;
	struct sim_nic *nic = poster(v);
	uint32_t payload = carries(v) ? v->len : 0;
	uint64_t later = payload > m->inline_max ? m->dma_ns * UINT64_C(1000) : 0;
	nic->out++;
	v->counted = true;
	uint64_t at = pass(s, nic, qp->id, true, s->now * 1000, &later);
	return whole(send(nic, m, qp->port, payload, at) + later + flight(s));
}

uint64_t
net_sim_nic_arrive(struct net_sim *s, const struct sim_verb *v)
{
	const struct net_sim_model *m = s->cfg.model;
	struct sim_nic *nic = target(v);
	uint64_t later = carries(v) ? 0 : m->dma_ns * UINT64_C(1000);
	uint64_t at = pass(s, nic, v->qp->id, false, s->now * 1000, &later);
	at = receive(nic, m, v->qp->port, carries(v) ? v->len : 0, at);
	if (v->code == NET_CAS || v->code == NET_FAA) {
		struct sim_resource *word = &nic->word[v->off >> 3 & (SIM_WORDS - 1)];
		at = sim_serve(&nic->atomics, at, m->atomic_ps);
		/* one that waits for its word does not hold up others */
		at = sim_serve(word, at, m->address_ns * UINT64_C(1000));
		vote(nic, v->off);
	}
	return whole(at + later);
}

uint64_t
net_sim_nic_answer(struct net_sim *s, const struct sim_verb *v)
{
	const struct net_sim_model *m = s->cfg.model;
	uint32_t payload = carries(v) ? 0 : v->len;
	return whole(send(target(v), m, v->qp->port, payload, s->now * 1000) + flight(s));
}

uint64_t
net_sim_nic_land(struct net_sim *s, struct sim_verb *v)
{
	const struct net_sim_model *m = s->cfg.model;
	if (v->counted)
		net_sim_nic_forget(v);
	return whole(receive(poster(v), m, v->qp->port, carries(v) ? 0 : v->len, s->now * 1000));
}

/* ---- a two-sided message's way: its SEND, and a RECEIVE that waits for it ---------------- */

uint64_t
net_sim_nic_send(struct net_sim *s, struct sim_nic *nic, uint32_t qp, uint32_t len)
{
	const struct net_sim_model *m = s->cfg.model;
	uint64_t later = len > m->inline_max ? m->dma_ns * UINT64_C(1000) : 0;
	uint64_t at = pass(s, nic, qp, false, s->now * 1000, &later);
	return whole(send(nic, m, qp, len, at) + later + flight(s));
}

uint64_t
net_sim_nic_receive(struct net_sim *s, struct sim_nic *nic, uint32_t qp, uint32_t len)
{
	const struct net_sim_model *m = s->cfg.model;
	uint64_t later = 0;
	uint64_t at = pass(s, nic, qp, false, s->now * 1000, &later);
	return whole(receive(nic, m, qp, len, at) + later);
}

bool
net_sim_nic_open(const struct net_sim *s, struct sim_nic *nic)
{
	if (s->cfg.model != NULL)
		nic->context = calloc(s->cfg.model->contexts, sizeof *nic->context);
	return s->cfg.model == NULL || nic->context != NULL;
}

void
net_sim_nic_close(struct sim_nic *nic)
{
	free(nic->context);
}

/* ---- figures ------------------------------------------------------------------------- */

void
net_sim_nic_begin(struct sim_nic *nic)
{
	nic->unit.busy = nic->atomics.busy = 0;
	nic->messages = nic->misses = nic->bytes_in = nic->bytes_out = 0;
	for (unsigned p = 0; p < NET_SIM_PORTS; p++)
		nic->send[p].busy = nic->receive[p].busy = 0;
	for (unsigned i = 0; i < SIM_WORDS; i++)
		nic->word[i].busy = 0;
	memset(nic->voted, 0, sizeof nic->voted);
}

void
net_sim_use_begin(struct net_sim *s)
{
	s->use_from = s->now;
	for (unsigned r = 1; r <= s->cfg.nodes; r++) {
		net_sim_nic_begin(&s->node[r].nic);
		for (unsigned i = 0; i < NET_SIM_SHARDS; i++)
			s->node[r].shard[i].busy = 0;
	}
	for (struct sim_proc *p = s->proc; p != NULL; p = p->next)
		net_sim_nic_begin(&p->nic);
	for (struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		sw->worked = 0;
}

void
net_sim_nic_use(const struct net_sim *s, const struct sim_nic *nic, struct net_sim_use *out)
{
	double ps = (double)(s->now - s->use_from) * 1e3;
	memset(out, 0, sizeof *out);
	if (ps <= 0)
		return;
	uint64_t in = 0, sent = 0, word = 0;
	for (unsigned p = 0; p < NET_SIM_PORTS; p++) {
		in = sim_later(in, nic->receive[p].busy);
		sent = sim_later(sent, nic->send[p].busy);
	}
	for (unsigned i = 0; i < SIM_WORDS; i++) {
		if (nic->word[i].busy > word)
			out->hot = nic->voted[i].off;
		word = sim_later(word, nic->word[i].busy);
	}
	out->rnic = (double)nic->unit.busy / ps;
	out->in = (double)in / ps;
	out->out = (double)sent / ps;
	out->atomics = (double)nic->atomics.busy / ps;
	out->address = (double)word / ps;
	out->messages = nic->messages;
	out->misses = nic->misses;
	out->bytes_in = nic->bytes_in;
	out->bytes_out = nic->bytes_out;
}

void
net_sim_use_node(const struct net_sim *s, unsigned region, struct net_sim_use *out)
{
	const struct sim_node *node = &s->node[region];
	uint64_t served = 0;
	net_sim_nic_use(s, &node->nic, out);
	for (unsigned i = 0; i < NET_SIM_SHARDS; i++)
		served += node->shard[i].busy;
	if (served != 0 && s->now > s->use_from)
		out->core = (double)served / s->cfg.model->shards / ((double)(s->now - s->use_from) * 1e3);
}

double
net_sim_use_word(const struct net_sim *s, unsigned region, uint64_t off)
{
	double ps = (double)(s->now - s->use_from) * 1e3;
	return ps > 0 ? (double)s->node[region].nic.word[off >> 3 & (SIM_WORDS - 1)].busy / ps : 0;
}

void
net_sim_use_process(const struct net *n, struct net_sim_use *out)
{
	const struct sim_proc *p = n->env_priv;
	const struct net_sim *s = p->sim;
	net_sim_nic_use(s, &p->nic, out);
	uint64_t worked = 0, workers = 0;
	for (const struct sim_worker *sw = s->worker; sw != NULL; sw = sw->next)
		if (sw->proc == p) {
			worked += sw->worked;
			workers++;
		}
	if (workers != 0 && s->now > s->use_from)
		out->core = (double)worked / (double)workers / (double)(s->now - s->use_from);
}
