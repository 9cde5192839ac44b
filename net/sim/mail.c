/* mail.c -- two-sided messages between simulated machines (mail.h). */
#include <net/sim/mail.h>
#include <net/sim/sim_internal.h>

#include <stdlib.h>
#include <string.h>

/* Sources of every number: bench/verbs/README.md, "The model". */
#define E5_2660V2                                                                                            \
	.turn_ns = 150, .hardware = 40, .cores = 20, .shared_permille = 1600, .latency_ns = 24000000,        \
	.slice_ns = 3000000, .tick_ns = 4000000, .balance_ns = 64000000

static const struct {
	const char *model;
	struct net_sim_stack stack;
} stacks[] = {
	{ "fdr4x", { .name = "ipoeth",
		       .what = "TCP over 1 Gb/s Ethernet",
		       .sockets = true,
		       .send_ns = 1715,
		       .take_ns = 1715,
		       .window = 1488,
		       .wire_ns = 26000,
		       .jitter_ns = 1000,
		       .port_ps = 8000,
		       .mtu = 1448,
		       .header = 90,
		       E5_2660V2 } },
	{ "fdr4x", { .name = "ipoib",
		       .what = "TCP over IPoIB, FDR 4x",
		       .sockets = true,
		       .send_ns = 3015,
		       .take_ns = 3015,
		       .window = 21888,
		       .wire_ns = 13500,
		       .jitter_ns = 1000,
		       .port_ps = 286,
		       .mtu = 1988,
		       .header = 110,
		       E5_2660V2 } },
	{ "fdr4x", { .name = "verbs",
		       .what = "SEND and RECEIVE, FDR 4x",
		       .send_ns = 205,
		       .take_ns = 205,
		       E5_2660V2 } },
	{ "cx6", { .name = "verbs",
		     .what = "SEND and RECEIVE, ConnectX-6",
		     .send_ns = 110,
		     .take_ns = 110,
		     .turn_ns = 100,
		     .hardware = 96,
		     .cores = 96,
		     .shared_permille = 1000,
		     .latency_ns = 24000000,
		     .slice_ns = 3000000,
		     .tick_ns = 4000000,
		     .balance_ns = 64000000 } },
	{ "xstore", { .name = "verbs",
			.what = "SEND and RECEIVE, ConnectX-4",
			.send_ns = 205,
			.take_ns = 205,
			.turn_ns = 150,
			.hardware = 24,
			.cores = 24,
			.shared_permille = 1000,
			.latency_ns = 24000000,
			.slice_ns = 3000000,
			.tick_ns = 4000000,
			.balance_ns = 64000000 } },
};

const struct net_sim_stack *
net_sim_stack_find(const char *model, const char *name)
{
	for (unsigned i = 0; i < sizeof stacks / sizeof stacks[0]; i++)
		if (strcmp(stacks[i].model, model) == 0 && strcmp(stacks[i].stack.name, name) == 0)
			return &stacks[i].stack;
	return NULL;
}

/* ---- structures ---- */

/* One message on its way. Its event is, in turn: it leaves; it has reached the other machine. */
struct letter {
	struct sim_call call;
	struct net_sim_mail *mail;
	struct letter *next; /* in the queue of its thread */
	unsigned from, to;
	uint64_t there; /* when it lies in the machine's memory */
	uint32_t len;
	_Alignas(8) char bytes[];
};

struct thread {
	struct sim_call take; /* its event: it takes its next message */
	struct net_sim_mail *mail;
	net_sim_taker fn;
	void *arg;
	unsigned machine;
	unsigned index; /* among the machine's threads */
	uint64_t clock; /* until when it is busy; in a handler: its time */
	struct letter *first, **end;
	unsigned waiting;
	bool due; /* its event is in the queue */
};

/* A hardware thread. */
struct core {
	uint64_t free;    /* sockets: until when it runs a thread */
	unsigned threads; /* polling ones: slice i is that of thread i mod threads */
	bool shared;      /* its sibling is busy too */
	uint64_t *ends;   /* of slices, so far */
	unsigned slices, cap;
	struct nam_rng rng;
};

/* A place of a polling thread: its hardware thread, its turn there. */
struct place {
	unsigned hardware, turn;
};

struct host {
	struct sim_nic nic;
	struct sim_resource stack, in, out; /* sockets */
	struct core *core;
	unsigned threads;
	struct place *place;    /* as many as threads */
	unsigned *who, periods; /* who[period * threads + thread]: the thread's place */
	uint64_t worked_ns, wait_ns, messages, deepest, bytes_in, bytes_out;
};

struct net_sim_mail {
	struct net_sim *sim;
	const struct net_sim_stack *stack;
	struct host *host;
	struct thread **thread;
	unsigned hosts, threads;
	bool placed;
	uint64_t from_ns; /* net_sim_mail_begin */
	struct nam_rng rng;
	uint64_t letters; /* that are on their way */
};

#define OF(type, call, member) ((type *)(void *)((char *)(call)-offsetof(type, member)))

/* ---- the scheduler of a machine that polls ---- */

static void
shuffle(struct nam_rng *r, unsigned *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned with = i + (unsigned)nam_rng_below(r, n - i), was = list[i];
		list[i] = list[with];
		list[with] = was;
	}
}

/*
 * The system places a machine's threads evenly: one on each core, then one on each core's other
 * hardware thread, and so on. Which thread gets which place is chance, and differs from machine to
 * machine: the system does not know which threads of different machines work together.
 */
static nam_status
place_host(struct net_sim_mail *m, struct host *host, unsigned *core)
{
	const struct net_sim_stack *k = m->stack;
	unsigned n = host->threads, sides = k->hardware / k->cores, side = 0, *first = core + k->cores;
	host->place = calloc(n + 1, sizeof *host->place);
	if (host->place == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		unsigned c = i % k->cores;
		if (c == 0) {
			shuffle(&m->rng, core, k->cores);
			side = i / k->cores % sides;
			for (unsigned x = 0; side == 0 && x < k->cores; x++)
				first[x] = (unsigned)nam_rng_below(&m->rng, sides);
		}
		struct place *p = &host->place[i];
		p->hardware = (first[core[c]] + side) % sides * k->cores + core[c];
		p->turn = host->core[p->hardware].threads++;
	}
	for (unsigned c = 0; c < k->hardware; c++) {
		unsigned sibling = (c + k->cores) % (sides * k->cores);
		host->core[c].shared =
		    sibling != c && host->core[c].threads != 0 && host->core[sibling].threads != 0;
		nam_rng_init(&host->core[c].rng, nam_rng_next(&m->rng));
	}
	return NAM_OK;
}

static nam_status
place(struct net_sim_mail *m)
{
	unsigned cores = m->stack->cores;
	unsigned *room = malloc(2 * cores * sizeof *room);
	nam_status st = room != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned c = 0; room != NULL && c < cores; c++)
		room[c] = c;
	for (unsigned h = 0; st == NAM_OK && h < m->hosts; h++)
		st = place_host(m, &m->host[h], room);
	m->placed = st == NAM_OK;
	free(room);
	return st;
}

/*
 * The thread's place at that time, and until when. Where threads outnumber hardware threads the
 * system moves them from time to time, so that no thread has a bad place for ever.
 */
static const struct place *
place_at(struct net_sim_mail *m, const struct thread *t, uint64_t at, uint64_t *until)
{
	const struct net_sim_stack *k = m->stack;
	struct host *h = &m->host[t->machine];
	unsigned n = h->threads;
	uint64_t period = 0;
	*until = UINT64_MAX;
	if (n > k->hardware && k->balance_ns != 0) {
		period = (at - m->from_ns) / k->balance_ns;
		*until = m->from_ns + (period + 1) * k->balance_ns;
	}
	while (h->periods <= period) {
		unsigned *more = realloc(h->who, (h->periods + 1) * (size_t)n * sizeof *more);
		NAM_ASSERT(more != NULL); /* or a run proves nothing */
		h->who = more;
		unsigned *now = more + h->periods * (size_t)n;
		for (unsigned i = 0; i < n; i++)
			now[i] = i;
		shuffle(&m->rng, now, n);
		h->periods++;
	}
	return &h->place[h->who[period * n + t->index]];
}

/* The slice of the hardware thread at that time. */
static unsigned
slice_at(const struct net_sim_mail *m, struct core *c, uint64_t at)
{
	const struct net_sim_stack *k = m->stack;
	uint64_t share = k->latency_ns / c->threads;
	share = share > k->slice_ns ? share : k->slice_ns;
	while (c->slices == 0 || c->ends[c->slices - 1] <= at) {
		if (c->slices == c->cap) {
			c->cap = c->cap != 0 ? 2 * c->cap : 64;
			c->ends = realloc(c->ends, c->cap * sizeof *c->ends);
			NAM_ASSERT(c->ends != NULL); /* or a run proves nothing */
		}
		/* the thread's turn ends at the first tick after its share, wherever the tick
		 * is */
		uint64_t length = share + nam_rng_below(&c->rng, k->tick_ns + 1);
		uint64_t begin = m->from_ns;
		if (c->slices != 0)
			begin = c->ends[c->slices - 1];
		else /* the first one is under way */
			length = 1 + nam_rng_below(&c->rng, length * c->threads);
		c->ends[c->slices++] = begin + length;
	}
	unsigned low = 0, high = c->slices - 1;
	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (c->ends[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* When the thread runs next, from `at` on; *until: for how long. */
static uint64_t
runs_at(struct net_sim_mail *m, const struct thread *t, uint64_t at, uint64_t *until)
{
	*until = UINT64_MAX;
	while (!m->stack->sockets) {
		uint64_t moved;
		const struct place *p = place_at(m, t, at, &moved);
		struct core *c = &m->host[t->machine].core[p->hardware];
		*until = moved;
		if (c->threads <= 1)
			break;
		unsigned i = slice_at(m, c, at);
		*until = sim_sooner(c->ends[i], moved);
		if (i % c->threads == p->turn)
			break;
		at = *until;
	}
	return at;
}

/* The thread works: its clock goes on, over the slices of others. */
static void
charge(struct net_sim_mail *m, struct thread *t, uint64_t ns)
{
	struct host *host = &m->host[t->machine];
	uint64_t until;
	if (!m->stack->sockets && host->core[place_at(m, t, t->clock, &until)->hardware].shared)
		ns = ns * m->stack->shared_permille / 1000;
	host->worked_ns += ns;
	while (ns != 0) {
		uint64_t at = runs_at(m, t, t->clock, &until);
		uint64_t now = sim_sooner(ns, until - at);
		t->clock = at + now;
		ns -= now;
	}
}

/* ---- a message's way ---- */

/* CPU of the stack's core. */
static uint64_t
kernel_ps(const struct net_sim_stack *k, uint32_t ns, uint32_t len)
{
	uint64_t ps = ns * UINT64_C(1000);
	return k->window != 0 && len > k->window ? ps * len / k->window : ps;
}

static uint64_t
wire_bytes(const struct net_sim_stack *k, uint32_t len)
{
	return len + (uint64_t)k->header * (1 + (len != 0 ? (len - 1) / k->mtu : 0));
}

static void
take_later(struct thread *t, uint64_t at)
{
	uint64_t until;
	if (t->due || t->first == NULL)
		return;
	t->due = true;
	at = sim_later(sim_later(at, t->clock), t->first->there);
	net_sim_queue_push(&t->mail->sim->queue, runs_at(t->mail, t, at, &until), SIM_CALL, &t->take);
}

/* It has reached the other machine: through its port and its stack or RNIC, to the thread. */
static void
reached(struct net_sim *s, struct sim_call *call)
{
	struct letter *l = OF(struct letter, call, call);
	struct net_sim_mail *m = l->mail;
	const struct net_sim_stack *k = m->stack;
	struct thread *t = m->thread[l->to];
	struct host *h = &m->host[t->machine];
	if (k->sockets) {
		uint64_t bytes = wire_bytes(k, l->len), ps = bytes * k->port_ps;
		uint64_t at = s->now * 1000;
		at = sim_serve(&h->in, at - sim_sooner(at, ps), ps) + ps;
		uint64_t cpu = kernel_ps(k, k->take_ns, l->len);
		l->there = (sim_serve(&h->stack, at, cpu) + cpu + 999) / 1000;
		h->bytes_in += bytes;
	} else {
		l->there = net_sim_nic_receive(s, &h->nic, l->from * m->threads + l->to, l->len);
	}
	l->next = NULL;
	*t->end = l;
	t->end = &l->next;
	if (++t->waiting > h->deepest)
		h->deepest = t->waiting;
	take_later(t, s->now);
}

/* It leaves the machine. */
static void
leaves(struct net_sim *s, struct sim_call *call)
{
	struct letter *l = OF(struct letter, call, call);
	struct net_sim_mail *m = l->mail;
	const struct net_sim_stack *k = m->stack;
	struct host *h = &m->host[m->thread[l->from]->machine];
	uint64_t at;
	if (k->sockets) {
		uint64_t bytes = wire_bytes(k, l->len), ps = bytes * k->port_ps;
		uint64_t cpu = kernel_ps(k, k->send_ns, l->len);
		at = sim_serve(&h->stack, s->now * 1000, cpu) + cpu;
		at = sim_serve(&h->out, at, ps) + ps;
		at = at / 1000 + k->wire_ns + nam_rng_below(&m->rng, k->jitter_ns + 1);
		h->bytes_out += bytes;
	} else {
		/* each direction of a pair of threads is a queue pair's */
		at = net_sim_nic_send(s, &h->nic, l->from * m->threads + l->to, l->len);
	}
	l->call.fn = reached;
	net_sim_queue_push(&s->queue, at, SIM_CALL, &l->call);
}

/* Sockets: the first hardware thread that is free runs the thread. */
static struct core *
any_core(struct net_sim_mail *m, struct host *h)
{
	struct core *best = &h->core[0];
	for (unsigned c = 1; c < m->stack->hardware && best->free > m->sim->now; c++)
		if (h->core[c].free < best->free)
			best = &h->core[c];
	return best;
}

/* The thread takes its first message. */
static void
takes(struct net_sim *s, struct sim_call *call)
{
	struct thread *t = OF(struct thread, call, take);
	struct net_sim_mail *m = t->mail;
	struct host *h = &m->host[t->machine];
	struct core *core = m->stack->sockets ? any_core(m, h) : NULL;
	if (core != NULL && core->free > s->now) {
		net_sim_queue_push(&s->queue, core->free, SIM_CALL, &t->take);
		return;
	}
	struct letter *l = t->first;
	t->due = false;
	t->first = l->next;
	if (t->first == NULL)
		t->end = &t->first;
	t->waiting--;
	t->clock = s->now;
	h->messages++;
	h->wait_ns += s->now - l->there;
	charge(m, t, m->stack->turn_ns + (core != NULL ? 0 : m->stack->take_ns));
	t->fn(t->arg, l->bytes, l->len);
	if (core != NULL)
		core->free = t->clock;
	m->letters--;
	free(l);
	take_later(t, s->now);
}

/* ---- the face ---- */

nam_status
net_sim_mail_send(struct net_sim_mail *m, unsigned from, unsigned to, const void *bytes, uint32_t len)
{
	NAM_ASSERT(from < m->threads && to < m->threads);
	nam_status st = m->placed ? NAM_OK : place(m);
	struct letter *l = st == NAM_OK ? malloc(sizeof *l + len) : NULL;
	if (l == NULL)
		return NAM_NOMEM;
	struct thread *t = m->thread[from];
	*l = (struct letter){ .call.fn = leaves, .mail = m, .from = from, .to = to, .len = len };
	memcpy(l->bytes, bytes, len);
	t->clock = sim_later(t->clock, m->sim->now);
	if (!m->stack->sockets)
		charge(m, t, m->stack->send_ns);
	m->letters++;
	net_sim_queue_push(&m->sim->queue, t->clock, SIM_CALL, &l->call);
	return NAM_OK;
}

void
net_sim_mail_work(struct net_sim_mail *m, unsigned thread, uint64_t ns)
{
	charge(m, m->thread[thread], ns);
}

uint64_t
net_sim_mail_now_ns(const struct net_sim_mail *m, unsigned thread)
{
	return sim_later(m->thread[thread]->clock, m->sim->now);
}

nam_status
net_sim_mail_thread(struct net_sim_mail *m, unsigned machine, net_sim_taker fn, void *arg, unsigned *number)
{
	NAM_ASSERT(machine < m->hosts && !m->placed);
	struct thread **more = realloc(m->thread, (m->threads + 1) * sizeof *more);
	if (more != NULL)
		m->thread = more;
	struct thread *t = more != NULL ? calloc(1, sizeof *t) : NULL;
	if (t == NULL)
		return NAM_NOMEM;
	*t = (struct thread){ .take.fn = takes, .mail = m, .fn = fn, .arg = arg, .machine = machine };
	t->end = &t->first;
	t->index = m->host[machine].threads;
	*number = m->threads;
	m->thread[m->threads++] = t;
	m->host[machine].threads++;
	return NAM_OK;
}

nam_status
net_sim_mail_open(
    struct net_sim_mail **out, struct net_sim *sim, const struct net_sim_stack *stack, unsigned machines)
{
	if (machines == 0 || stack->cores == 0 || stack->hardware % stack->cores != 0 ||
	    (!stack->sockets && sim->cfg.model == NULL))
		return NAM_INVALID;
	struct net_sim_mail *m = calloc(1, sizeof *m);
	if (m == NULL || (m->host = calloc(machines, sizeof *m->host)) == NULL) {
		free(m);
		return NAM_NOMEM;
	}
	m->sim = sim;
	m->stack = stack;
	m->hosts = machines;
	m->from_ns = sim->now;
	nam_rng_init(&m->rng, sim->cfg.seed ^ UINT64_C(0x6d61696c));
	for (unsigned h = 0; h < machines; h++) {
		m->host[h].core = calloc(stack->hardware, sizeof *m->host[h].core);
		if (m->host[h].core == NULL || !net_sim_nic_open(sim, &m->host[h].nic)) {
			net_sim_mail_close(m);
			return NAM_NOMEM;
		}
	}
	*out = m;
	return NAM_OK;
}

/* Letters that are on their way are known to the simulator's queue alone. */
static void
drop_letters(struct net_sim_mail *m)
{
	struct sim_queue *q = &m->sim->queue;
	for (size_t i = 0; i < q->n; i++) {
		struct sim_call *c = q->heap[i].what;
		bool call = (q->heap[i].order & ((1 << SIM_KIND_BITS) - 1)) == SIM_CALL;
		if (call && (c->fn == leaves || c->fn == reached) && OF(struct letter, c, call)->mail == m)
			free(OF(struct letter, c, call));
	}
}

void
net_sim_mail_close(struct net_sim_mail *m)
{
	if (m == NULL)
		return;
	drop_letters(m);
	for (unsigned i = 0; i < m->threads; i++) {
		for (struct letter *l = m->thread[i]->first, *next; l != NULL; l = next) {
			next = l->next;
			free(l);
		}
		free(m->thread[i]);
	}
	for (unsigned h = 0; h < m->hosts; h++) {
		net_sim_nic_close(&m->host[h].nic);
		for (unsigned c = 0; m->host[h].core != NULL && c < m->stack->hardware; c++)
			free(m->host[h].core[c].ends);
		free(m->host[h].core);
		free(m->host[h].place);
		free(m->host[h].who);
	}
	free(m->thread);
	free(m->host);
	free(m);
}

/* ---- figures ---- */

void
net_sim_mail_begin(struct net_sim_mail *m)
{
	net_sim_use_begin(m->sim);
	for (unsigned i = 0; i < m->hosts; i++) {
		struct host *h = &m->host[i];
		net_sim_nic_begin(&h->nic);
		h->stack.busy = h->in.busy = h->out.busy = 0;
		h->worked_ns = h->wait_ns = h->messages = h->deepest = h->bytes_in = h->bytes_out = 0;
	}
}

void
net_sim_mail_use(const struct net_sim_mail *m, unsigned machine, struct net_sim_mail_use *out)
{
	const struct host *h = &m->host[machine];
	double ns = (double)(m->sim->now - m->sim->use_from);
	memset(out, 0, sizeof *out);
	if (ns <= 0)
		return;
	if (m->stack->sockets) {
		out->stack = (double)h->stack.busy / ns / 1e3;
		out->in = (double)h->in.busy / ns / 1e3;
		out->out = (double)h->out.busy / ns / 1e3;
		out->bytes_in = h->bytes_in;
		out->bytes_out = h->bytes_out;
	} else {
		struct net_sim_use u;
		net_sim_nic_use(m->sim, &h->nic, &u);
		out->rnic = u.rnic;
		out->in = u.in;
		out->out = u.out;
		out->bytes_in = u.bytes_in;
		out->bytes_out = u.bytes_out;
		out->crowd = (double)h->threads / m->stack->hardware;
	}
	out->work = (double)h->worked_ns / ns / m->stack->hardware;
	out->messages = h->messages;
	out->deepest = h->deepest;
	out->wait_us = h->messages != 0 ? (double)h->wait_ns / (double)h->messages / 1e3 : 0;
}

const char *
net_sim_mail_limit(const struct net_sim_mail_use *u, double *share)
{
	const struct {
		const char *name;
		double share;
	} all[] = { { "the kernel's network stack", u->stack }, { "RNIC", u->rnic }, { "port in", u->in },
		{ "port out", u->out }, { "cores", u->work },
		{ "threads that poll, to a hardware thread", u->crowd > 1 ? u->crowd : 0 } };
	unsigned best = 0;
	for (unsigned i = 1; i < sizeof all / sizeof all[0]; i++)
		if (all[i].share > all[best].share)
			best = i;
	*share = all[best].share;
	return *share > 0.7 ? all[best].name : "latency";
}
