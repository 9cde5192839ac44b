/* paper_sim.c -- joins and aggregations by verbs in virtual time (paper_sim.h). */
#include "paper_sim.h"

#include <net/region_format.h>
#include <net/sim/sim.h>

#include <stdlib.h>
#include <string.h>

enum { STACK = 512 << 10, PARTS = 64, FILL = 2048, SMALL_CACHE = 16 << 10, WINDOW = 16 << 10, POLL_NS = 500 };

struct world;
/* A thread of a compute machine. */
struct part {
	struct world *x;
	unsigned number;
	struct net_worker *w;
	uint64_t sums[3], got[3];
	uint64_t left_ps; /* of work that is not a whole nanosecond yet */
	nam_status status;
	bool over;
};

struct world {
	const struct paper_cluster *c;
	const struct paper_relation *rel;
	unsigned relations, parts;
	struct net_sim *sim;
	struct net **net;
	struct part part[PARTS];
	net_addr board, at;
	struct olap_source source[2];
	struct olap_job *data;
	unsigned joined;
	uint64_t began, ended;
	/* either */
	const struct olap_join *join;
	const struct olap_agg *agg;
};

nam_status
bench_paper_take_pairs(void *sums, const struct olap_pairs *p)
{
	uint64_t *s = sums;
	for (unsigned i = 0; i < p->n; i++) {
		s[1] += ((const uint64_t *)p->left[i])[1];
		s[2] += ((const uint64_t *)p->right[i])[1];
	}
	s[0] += p->n;
	return NAM_OK;
}

nam_status
bench_paper_take_groups(void *sums, const uint64_t *g, unsigned n)
{
	uint64_t *s = sums;
	for (unsigned i = 0; i < n; i++, g += 2) {
		s[0]++;
		s[1] += g[1];
		s[2] += g[1] * (g[0] & 63);
	}
	return NAM_OK;
}

static void
spends(void *arg, enum olap_work what, uint64_t n)
{
	struct part *p = arg;
	p->left_ps += (uint64_t)((double)n * p->x->c->work.ps[what]);
	net_sim_work(p->w, p->left_ps / 1000);
	p->left_ps %= 1000;
}

/* ---- the relations: by the first thread, before the time begins ---- */

static nam_status
load_one(struct world *x, unsigned which)
{
	uint64_t tuples = x->c->rows * x->c->compute;
	char *t = malloc((size_t)FILL * PAPER_WIDTH);
	struct olap_writer *wr = NULL;
	struct olap_phase ph = { 0 };
	uint32_t m;
	nam_status st = t != NULL ? olap_writer_open(x->data, PAPER_WIDTH, 0, WINDOW, &wr) : NAM_NOMEM;
	if (st == NAM_OK)
		st = olap_phase_begin(&ph, x->data, which, 1);
	if (st == NAM_OK)
		st = olap_take(&ph, &m);
	for (uint64_t at = 0; st == NAM_OK && at < tuples; at += FILL) {
		unsigned n = tuples - at < FILL ? (unsigned)(tuples - at) : FILL;
		x->rel[which].fill(x->rel[which].arg, at, n, t);
		st = olap_write(wr, t, n);
	}
	if (st == NAM_OK)
		st = olap_publish(&ph, wr, NULL, 0);
	if (st == NAM_OK)
		st = olap_settle(&ph);
	if (st == NAM_OK)
		olap_phase_source(&ph, PAPER_WIDTH, 0, &x->source[which]);
	olap_phase_end(&ph);
	olap_writer_close(wr);
	free(t);
	return st;
}

static void
load_main(void *arg)
{
	struct world *x = arg;
	struct part *p = &x->part[0];
	p->status = olap_board_make(p->w, &x->board);
	if (p->status == NAM_OK)
		p->status = olap_job_make(p->w, x->board, "", 0, &x->data);
	for (unsigned i = 0; p->status == NAM_OK && i < x->relations; i++)
		p->status = load_one(x, i);
}

/* ---- the operator ---- */

static void
collect(void *arg, const void *result, uint32_t len)
{
	uint64_t *sum = arg, one[3];
	if (len != sizeof one)
		return;
	memcpy(one, result, sizeof one);
	for (unsigned i = 0; i < 3; i++)
		sum[i] += one[i];
}

static nam_status
operate(struct part *p, struct olap_job *job)
{
	struct world *x = p->x;
	struct olap_phase ph;
	nam_status st;
	if (x->join != NULL) {
		struct olap_join j = *x->join;
		j.left = x->source[0];
		j.right = x->source[1];
		j.workers = x->parts;
		j.sink = bench_paper_take_pairs;
		j.arg = j.result = p->sums;
		j.result_len = sizeof p->sums;
		st = olap_join_run(job, &j, &ph);
	} else {
		struct olap_agg a = *x->agg;
		a.in = x->source[0];
		a.workers = x->parts;
		a.sink = bench_paper_take_groups;
		a.arg = a.result = p->sums;
		a.result_len = sizeof p->sums;
		st = olap_agg_run(job, &a, &ph);
	}
	if (st == NAM_OK && net_now_ns(p->w) > x->ended)
		x->ended = net_now_ns(p->w);
	if (st == NAM_OK && p->number == 0)
		st = olap_phase_results(&ph, collect, p->got);
	if (st == NAM_OK)
		olap_phase_end(&ph);
	return st;
}

/* The time begins when all participants are there. */
static void
part_main(void *arg)
{
	struct part *p = arg;
	struct world *x = p->x;
	struct olap_job *job = NULL;
	if (p->number == 0) {
		p->status = olap_job_make(p->w, x->board, "", 0, &job);
		x->at = job != NULL ? olap_job_at(job) : (net_addr){ 1 };
	} else {
		while (x->at.bits == 0)
			net_sleep(p->w, POLL_NS);
		p->status = olap_job_join(p->w, x->at, &job);
	}
	x->joined++;
	while (x->joined < x->parts)
		net_sleep(p->w, POLL_NS);
	if (x->began == 0) {
		x->began = net_now_ns(p->w);
		net_sim_use_begin(x->sim);
	}
	if (p->status == NAM_OK) {
		olap_job_spend(job, spends, p);
		p->status = operate(p, job);
	}
	p->over = true;
	for (unsigned i = 0; p->number == 0 && i < x->parts; i++)
		while (!x->part[i].over)
			net_sleep(p->w, POLL_NS);
	if (job != NULL && p->number > 0)
		olap_job_leave(job);
	else if (job != NULL)
		olap_job_end(job);
}

static bool
all_over(void *arg)
{
	const struct world *x = arg;
	for (unsigned i = 0; i < x->parts; i++)
		if (!x->part[i].over)
			return false;
	return true;
}

/* ---- the cluster ---- */

static nam_status
world_open(struct world *x)
{
	const struct paper_cluster *c = x->c;
	uint64_t data = x->relations * c->rows * c->compute * PAPER_WIDTH;
	/* Sources, partitions, and what participants have at hand. */
	uint64_t each = (data * 5 / 2 + x->parts * (UINT64_C(8) << 20)) / c->storage + (8 << 20);
	const struct net_sim_config cfg = { .seed = c->seed,
		.nodes = c->storage,
		.region_bytes = (each + NET_EXTENT - 1) / NET_EXTENT * NET_EXTENT,
		.model = c->model };
	nam_status st = net_sim_open(&x->sim, &cfg);
	x->net = calloc(c->compute, sizeof(struct net *));
	if (st == NAM_OK && x->net == NULL)
		st = NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < c->compute; i++)
		st = net_sim_attach(x->sim, &x->net[i]);
	for (unsigned i = 0; st == NAM_OK && i < x->parts; i++) {
		x->part[i].x = x;
		x->part[i].number = i;
		st = net_worker_open(x->net[i / c->threads], &x->part[i].w, NULL);
	}
	return st;
}

static void
world_close(struct world *x)
{
	for (unsigned i = 0; i < x->parts; i++)
		if (x->part[i].w != NULL)
			net_worker_close(x->part[i].w);
	for (unsigned i = 0; x->net != NULL && i < x->c->compute; i++)
		if (x->net[i] != NULL)
			net_close(x->net[i]);
	net_sim_close(x->sim);
	free(x->net);
}

static nam_status
play(struct world *x, struct paper_result *out)
{
	struct nam_sched *first = net_worker_sched(x->part[0].w);
	if (nam_co_start(first, load_main, x, STACK) == NULL)
		return NAM_NOMEM;
	if (!net_sim_run(x->sim, NULL, NULL))
		return NAM_CORRUPT;
	if (x->part[0].status != NAM_OK)
		return x->part[0].status;
	for (unsigned i = 0; i < x->parts; i++)
		if (nam_co_start(net_worker_sched(x->part[i].w), part_main, &x->part[i], STACK) == NULL)
			return NAM_NOMEM;
	if (!net_sim_run(x->sim, all_over, x))
		return NAM_CORRUPT;
	for (unsigned i = 0; i < x->c->compute; i++) {
		struct net_sim_use u;
		net_sim_use_process(x->net[i], &u);
		out->out_bytes += (double)u.bytes_out;
		double port = u.in > u.out ? u.in : u.out;
		out->port = port > out->port ? port : out->port;
		out->cpu = u.core > out->cpu ? u.core : out->cpu;
	}
	for (unsigned i = 1; i <= x->c->storage; i++) {
		struct net_sim_use u;
		net_sim_use_node(x->sim, i, &u);
		double port = u.in > u.out ? u.in : u.out;
		out->storage = port > out->storage ? port : out->storage;
	}
	if (!net_sim_run(x->sim, NULL, NULL))
		return NAM_CORRUPT;
	for (unsigned i = 0; i < x->parts; i++)
		if (x->part[i].status != NAM_OK)
			return x->part[i].status;
	memcpy(out->sums, x->part[0].got, sizeof out->sums);
	out->seconds = (double)(x->ended - x->began) / 1e9;
	return NAM_OK;
}

static void
end_data(void *arg)
{
	struct world *x = arg;
	olap_job_end(x->data);
}

static nam_status
verbs(struct world *x, struct paper_result *out)
{
	memset(out, 0, sizeof *out);
	x->parts = x->c->compute * x->c->threads;
	if (x->parts > PARTS)
		return NAM_INVALID;
	nam_status st = world_open(x);
	if (st == NAM_OK)
		st = play(x, out);
	if (x->data != NULL && nam_co_start(net_worker_sched(x->part[0].w), end_data, x, STACK) != NULL)
		net_sim_run(x->sim, NULL, NULL);
	world_close(x);
	free(x);
	return st;
}

nam_status
bench_paper_join_verbs(const struct paper_cluster *c, const struct paper_relation rel[2],
    enum olap_algorithm a, struct paper_result *out)
{
	/* At the paper's size the few partitions of GHJ do not fit a cache, and each goes through a
	 * local pass. So it does here, where they are small. */
	const struct olap_join j = {
		.kind = OLAP_INNER, .algorithm = a, .cache = a == OLAP_RDMA_GHJ ? SMALL_CACHE : 0
	};
	struct world *x = calloc(1, sizeof *x);
	if (x == NULL)
		return NAM_NOMEM;
	x->c = c;
	x->rel = rel;
	x->relations = 2;
	x->join = &j;
	return verbs(x, out);
}

nam_status
bench_paper_sums_verbs(const struct paper_cluster *c, const struct paper_relation *rel, uint64_t groups,
    enum olap_agg_algorithm a, struct paper_result *out)
{
	const struct olap_agg agg = {
		.algorithm = a, .aggregate = { { OLAP_SUM, 1 } }, .aggregates = 1, .groups = groups
	};
	struct world *x = calloc(1, sizeof *x);
	if (x == NULL)
		return NAM_NOMEM;
	x->c = c;
	x->rel = rel;
	x->relations = 1;
	x->agg = &agg;
	return verbs(x, out);
}
