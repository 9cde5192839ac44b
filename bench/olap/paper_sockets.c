/*
 * paper_sockets.c -- joins and aggregations by sockets in virtual time: nodes that share nothing
 * (olap/shuffle), on machines whose messages cost what net/sim/mail.h says.
 *
 * A machine's tuples are in its memory when the time begins. Its threads share its work evenly,
 * so the work of the node is charged divided by them; the kernel's part of messages is not.
 */
#include "paper_sim.h"

#include <olap/shuffle/shuffle.h>

#include <stdlib.h>
#include <string.h>

struct world;
/* A message that has overtaken one before it: TCP would hold it back. */
struct early {
	struct early *next;
	uint32_t len;
	_Alignas(8) char bytes[];
};

struct machine {
	struct world *x;
	struct early *early;
	uint32_t taken[OLAP_NODES_MAX]; /* messages of each node */
	struct olap_shuffle s;
	struct olap_node *node;
	unsigned thread;
	char *tuples[2];
	uint64_t sums[3];
	uint64_t left_ps, ended;
	bool over;
};

struct world {
	const struct paper_cluster *c;
	struct net_sim *sim;
	struct net_sim_mail *mail;
	struct machine machine[OLAP_NODES_MAX];
	unsigned over;
	uint64_t began;
	nam_status status;
};

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct machine *m = arg;
	nam_status st = net_sim_mail_send(m->x->mail, m->thread, m->x->machine[to].thread, bytes, len);
	if (st != NAM_OK)
		m->x->status = st;
}

static void
spends(void *arg, enum olap_work what, uint64_t n)
{
	struct machine *m = arg;
	m->left_ps += (uint64_t)((double)n * m->x->c->work.ps[what] / m->x->c->threads);
	net_sim_mail_work(m->x->mail, m->thread, m->left_ps / 1000);
	m->left_ps %= 1000;
}

static nam_status
take_one(struct machine *m, const void *bytes, uint32_t len)
{
	const struct shuffle_head *h = bytes;
	m->taken[h->from]++;
	return olap_node_take(m->node, bytes, len);
}

static nam_status
hold(struct machine *m, const void *bytes, uint32_t len)
{
	struct early *e = malloc(sizeof *e + len);
	if (e == NULL)
		return NAM_NOMEM;
	*e = (struct early){ .next = m->early, .len = len };
	memcpy(e->bytes, bytes, len);
	m->early = e;
	return NAM_OK;
}

/* Those held back whose turn has come. */
static nam_status
take_held(struct machine *m)
{
	nam_status st = NAM_OK;
	for (struct early **at = &m->early; st == NAM_OK && *at != NULL;) {
		struct early *e = *at;
		const struct shuffle_head *h = (const void *)e->bytes;
		if (h->number != m->taken[h->from]) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		st = take_one(m, e->bytes, e->len);
		free(e);
		at = &m->early; /* one behind it may follow */
	}
	return st;
}

/* The first message, of no node, begins. */
static void
takes(void *arg, const void *bytes, uint32_t len)
{
	struct machine *m = arg;
	const struct shuffle_head *h = bytes;
	nam_status st = NAM_OK;
	if (len >= sizeof *h)
		st = h->number != m->taken[h->from] ? hold(m, bytes, len) : take_one(m, bytes, len);
	if (st == NAM_OK)
		st = take_held(m);
	if (st == NAM_OK && !m->over)
		st = olap_node_step(m->node);
	if (st == NAM_OK && !m->over) {
		m->over = true;
		m->x->over++;
		m->ended = net_sim_mail_now_ns(m->x->mail, m->thread);
	}
	if (st != NAM_OK && st != NAM_BUSY)
		m->x->status = st;
}

static bool
ends(void *arg)
{
	const struct world *x = arg;
	return x->status != NAM_OK || x->over == x->c->compute;
}

static nam_status
machine_open(struct world *x, unsigned i, const struct paper_relation *rel, unsigned relations,
    const struct olap_shuffle *like)
{
	const struct paper_cluster *c = x->c;
	struct machine *m = &x->machine[i];
	m->x = x;
	m->s = *like;
	m->s.self = i;
	m->s.wire = (struct olap_wire){ sends, spends, m };
	m->s.arg = m->sums;
	for (unsigned k = 0; k < relations; k++) {
		m->tuples[k] = malloc(c->rows * PAPER_WIDTH + 8);
		if (m->tuples[k] == NULL)
			return NAM_NOMEM;
		for (uint64_t at = 0; at < c->rows;) {
			unsigned n = c->rows - at < 65536 ? (unsigned)(c->rows - at) : 65536;
			rel[k].fill(rel[k].arg, i * c->rows + at, n, m->tuples[k] + at * PAPER_WIDTH);
			at += n;
		}
		m->s.tuples[k] = m->tuples[k];
		m->s.n[k] = c->rows;
		m->s.all[k] = c->rows * c->compute;
	}
	nam_status st = olap_node_open(&m->s, &m->node);
	return st == NAM_OK ? net_sim_mail_thread(x->mail, i, takes, m, &m->thread) : st;
}

static void
look(const struct world *x, const struct net_sim_stack *stack, struct paper_result *out)
{
	uint64_t kept_out = 0;
	for (unsigned i = 0; i < x->c->compute; i++) {
		const struct machine *m = &x->machine[i];
		struct net_sim_mail_use u;
		net_sim_mail_use(x->mail, i, &u);
		double s = (double)(m->ended - x->began) / 1e9;
		/* The last handlers work on when the last event has been played. */
		double of = (double)(net_sim_now_ns(x->sim) - x->began) / (double)(m->ended - x->began);
		double port = (u.in > u.out ? u.in : u.out) * of;
		out->out_bytes += (double)u.bytes_out;
		out->port = port > out->port ? port : out->port;
		out->stack = u.stack * of > out->stack ? u.stack * of : out->stack;
		double cpu = u.work * of * stack->hardware; /* of all its threads: see spends */
		out->cpu = cpu > out->cpu ? cpu : out->cpu;
		out->seconds = s > out->seconds ? s : out->seconds;
		for (unsigned k = 0; k < 3; k++)
			out->sums[k] += m->sums[k];
		kept_out += m->s.did.kept_out;
	}
	out->kept_out = (double)kept_out / (2.0 * (double)x->c->rows * x->c->compute);
}

static nam_status
sockets(const struct paper_cluster *c, const struct paper_relation *rel, unsigned relations,
    const struct net_sim_stack *stack, const struct olap_shuffle *like, struct paper_result *out)
{
	struct world *x = calloc(1, sizeof *x);
	/* its one node is not used */
	const struct net_sim_config cfg = {
		.seed = c->seed, .nodes = 1, .region_bytes = 1 << 20, .model = c->model
	};
	memset(out, 0, sizeof *out);
	if (x == NULL)
		return NAM_NOMEM;
	x->c = c;
	nam_status st = net_sim_open(&x->sim, &cfg);
	if (st == NAM_OK)
		st = net_sim_mail_open(&x->mail, x->sim, stack, c->compute);
	for (unsigned i = 0; st == NAM_OK && i < c->compute; i++)
		st = machine_open(x, i, rel, relations, like);
	/* All machines begin at once, with a message of their own. */
	if (st == NAM_OK) {
		net_sim_mail_begin(x->mail);
		x->began = net_sim_now_ns(x->sim);
	}
	for (unsigned i = 0; st == NAM_OK && i < c->compute; i++)
		st = net_sim_mail_send(x->mail, x->machine[i].thread, x->machine[i].thread, "go", 2);
	bool alive = st != NAM_OK || net_sim_run(x->sim, ends, x);
	if (st == NAM_OK)
		st = !alive ? NAM_CORRUPT : x->status;
	if (st == NAM_OK)
		look(x, stack, out);
	for (unsigned i = 0; i < c->compute; i++) {
		for (struct early *e; (e = x->machine[i].early) != NULL; free(e))
			x->machine[i].early = e->next;
		olap_node_close(x->machine[i].node);
		free(x->machine[i].tuples[0]);
		free(x->machine[i].tuples[1]);
	}
	net_sim_mail_close(x->mail);
	net_sim_close(x->sim);
	free(x);
	return st;
}

nam_status
bench_paper_join_sockets(const struct paper_cluster *c, const struct paper_relation rel[2],
    const struct net_sim_stack *stack, bool filters, struct paper_result *out)
{
	const struct olap_shuffle like = {
		.nodes = c->compute, .width = PAPER_WIDTH, .filters = filters, .pairs = bench_paper_take_pairs
	};
	return sockets(c, rel, 2, stack, &like, out);
}

nam_status
bench_paper_sums_sockets(const struct paper_cluster *c, const struct paper_relation *rel,
    const struct net_sim_stack *stack, struct paper_result *out)
{
	const struct olap_shuffle like = { .nodes = c->compute,
		.width = PAPER_WIDTH,
		.aggregate = { { OLAP_SUM, 1 } },
		.aggregates = 1,
		.groups = bench_paper_take_groups };
	return sockets(c, rel, 1, stack, &like, out);
}
