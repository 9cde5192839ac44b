/*
 * tpcw_sim.c -- `namdb bench tpcw --sim MODEL`: the checkout by many clients in virtual time, on
 * machines that a model describes (net/sim/nic.h); the shape of the NAM paper's figure 6.
 *
 * Each compute machine is one process: a worker for the heart, recovery and sweeps, and a worker,
 * so a thread, for each of its clients. The code under test is the code that runs elsewhere. The
 * model's turns are all that is charged for computing beside verbs.
 */
#include "tpcw_internal.h"

#include <bench/verbs_sim.h>
#include <net/sim/sim.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MACHINES_MAX = 64,
	THREADS_MAX = 63,
	POINTS_MAX = 32,
	WARM_NS = 1000000,
	STACK = 256 << 10,
};

struct sim_params {
	const struct net_sim_model *model;
	unsigned clients[POINTS_MAX], points;
	unsigned compute, storage;
	double seconds; /* virtual */
	bool json;
	struct tpcw_params tpcw;
};

struct cluster;

struct thread {
	struct cluster *c;
	unsigned machine, number;
	struct cn_place place;
	struct tpcw_slice slice;
	bool ended;
};

struct machine {
	struct net *net;
	struct txn_db *db;
	struct net_worker *duty_net;
	struct txn_worker *duty;
	struct tpcw_side side;
	struct thread *thread;
	unsigned threads;
};

struct cluster {
	const struct sim_params *p;
	struct net_sim *sim;
	struct machine machine[MACHINES_MAX];
	struct net_counts *counts; /* one a client */
	unsigned machines, clients;
	atomic_bool stop;
	uint64_t begin_ns, end_ns, commits, aborts; /* of the time measured */
	struct net_sim_use node, other_node;
	struct net_sim_use compute; /* of the first machine, which has as many clients as any */
	/* of all compute machines */
	uint64_t messages, bytes_in, bytes_out;
	uint64_t bad;
	bool over;
	nam_status status;
	const char *step; /* that failed */
};

/* ---- a cluster ------------------------------------------------------------------------------- */

static bool
good(struct cluster *c, nam_status st, const char *step)
{
	if (st != NAM_OK && c->status == NAM_OK) {
		c->status = st;
		c->step = step;
	}
	return c->status == NAM_OK;
}

/* Joins with all workers of a machine. The first machine makes the cluster and the tables. */
static void
join(struct cluster *c, struct machine *m, bool first)
{
	struct nam_err err;
	const struct txn_config cfg = { .ptr_cache_entries = c->p->tpcw.products * 2 };
	if (!good(c, txn_db_open(m->duty_net, &cfg, &m->db, &err), "joining the cluster") ||
	    !good(c, txn_worker_open(m->db, m->duty_net, &m->duty), "a worker"))
		return;
	for (unsigned i = 0; i < m->threads; i++)
		if (!good(c, txn_worker_open(m->db, m->thread[i].place.net, &m->thread[i].place.txn),
			"a worker"))
			return;
	m->side = (struct tpcw_side){ .ops = &tpcw_native,
		.p = &c->p->tpcw,
		.next_order = 1 + ((int64_t)(m - c->machine) << 40),
		.counts = c->counts };
	if (first) {
		good(c, m->side.ops->prepare(&m->side, &m->thread[0].place), "making the tables");
		return;
	}
	const struct tpcw_side *from = &c->machine[0].side;
	struct txn_table *to[3] = { &m->side.product, &m->side.order, &m->side.line };
	const struct txn_table *as[3] = { &from->product, &from->order, &from->line };
	for (unsigned i = 0; i < 3; i++) {
		*to[i] = *as[i];
		to[i]->view = NULL;
		if (!good(c, txn_table_open(m->db, to[i]), "a table"))
			return;
	}
}

static void
leave(struct machine *m)
{
	struct txn_table *all[3] = { &m->side.product, &m->side.order, &m->side.line };
	for (unsigned i = m->threads; i-- > 0;)
		if (m->thread[i].place.txn != NULL)
			txn_worker_close(m->thread[i].place.txn);
	if (m->duty != NULL)
		txn_worker_close(m->duty);
	for (unsigned i = 0; i < 3; i++)
		if (all[i]->view != NULL)
			txn_table_close(m->db, all[i]);
	if (m->db != NULL)
		txn_db_close(m->duty_net, m->db);
}

static void
client(void *arg)
{
	struct thread *t = arg;
	struct machine *m = &t->c->machine[t->machine];
	m->side.ops->client(&m->side, &t->place, t->number, &t->slice, &t->c->stop);
	t->ended = true;
}

static void
sums(const struct cluster *c, uint64_t *commits, uint64_t *aborts)
{
	*commits = *aborts = 0;
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].threads; i++) {
			*commits += c->machine[k].thread[i].slice.commits;
			*aborts += c->machine[k].thread[i].slice.aborts;
		}
}

static bool
ended(const struct cluster *c)
{
	bool all = true;
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].threads; i++)
			all &= c->machine[k].thread[i].ended;
	return all;
}

/* The storage node with the oracle, and the busiest of the others. */
static void
look(struct cluster *c)
{
	for (unsigned r = 1; r <= c->p->storage; r++) {
		struct net_sim_use u;
		net_sim_use_node(c->sim, r, &u);
		struct net_sim_use *to = r == 1 ? &c->node : &c->other_node;
		if (r <= 2 || u.messages > to->messages)
			*to = u;
	}
	net_sim_use_process(c->machine[0].net, &c->compute);
	for (unsigned k = 0; k < c->machines; k++) {
		struct net_sim_use u;
		net_sim_use_process(c->machine[k].net, &u);
		c->messages += u.messages;
		c->bytes_in += u.bytes_in;
		c->bytes_out += u.bytes_out;
	}
}

static void
measure(struct cluster *c)
{
	struct net_worker *w = c->machine[0].duty_net;
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].threads; i++) {
			struct thread *t = &c->machine[k].thread[i];
			t->slice.most = UINT64_MAX;
			if (nam_co_start(net_worker_sched(t->place.net), client, t, STACK) == NULL) {
				t->ended = true;
				good(c, NAM_NOMEM, "starting a client");
			}
		}
	uint64_t commits, aborts;
	net_sleep(w, WARM_NS);
	sums(c, &commits, &aborts);
	c->begin_ns = net_sim_now_ns(c->sim);
	net_sim_use_begin(c->sim);
	net_sleep(w, (uint64_t)(c->p->seconds * 1e9));
	c->end_ns = net_sim_now_ns(c->sim);
	look(c);
	sums(c, &c->commits, &c->aborts);
	c->commits -= commits;
	c->aborts -= aborts;
	atomic_store(&c->stop, true);
	while (!ended(c))
		net_sleep(w, 10000);
	for (unsigned k = 0; k < c->machines; k++) {
		/* its clients stopped early, so the rate would be wrong */
		if (atomic_load(&c->machine[k].side.full))
			good(c, NAM_FULL, "the orders do not fit; measure for less time (--seconds)");
		for (unsigned i = 0; i < c->machine[k].threads; i++)
			c->bad += c->machine[k].thread[i].slice.errors;
	}
}

static void
director(void *arg)
{
	struct cluster *c = arg;
	_Atomic uint64_t done = 0;
	struct machine *first = &c->machine[0];
	for (unsigned k = 0; k < c->machines && c->status == NAM_OK; k++)
		join(c, &c->machine[k], k == 0);
	if (c->status == NAM_OK)
		good(c,
		    tpcw_native.load(&first->side, &first->thread[0].place, 0, c->p->tpcw.products, &done),
		    "loading");
	for (unsigned k = 1; k < c->machines && c->status == NAM_OK; k++)
		good(c,
		    tpcw_native_warm(
			&c->machine[k].side, &c->machine[k].thread[0].place, 0, c->p->tpcw.products),
		    "reading the products");
	if (c->status == NAM_OK) {
		measure(c);
		c->bad += tpcw_native.check(&first->side, &first->thread[0].place);
	}
	for (unsigned k = c->machines; k-- > 0;)
		leave(&c->machine[k]);
	c->over = true;
}

static bool
is_over(void *arg)
{
	return ((struct cluster *)arg)->over;
}

static nam_status
cluster_open(struct cluster *c, struct nam_err *err)
{
	/* blocks of the products, and what the clients insert */
	uint64_t bytes = (c->p->tpcw.products * 4096 + (UINT64_C(2) << 30)) / c->p->storage;
	const struct net_sim_config cfg = { .seed = c->p->tpcw.seed,
		.nodes = c->p->storage,
		.region_bytes = bytes >> 20 << 20,
		.model = c->p->model };
	nam_status st = net_sim_open(&c->sim, &cfg);
	c->machines = c->p->compute < c->clients ? c->p->compute : c->clients;
	c->counts = calloc(c->clients, sizeof *c->counts);
	if (st == NAM_OK && c->counts == NULL)
		st = NAM_NOMEM;
	for (unsigned k = 0, number = 0; st == NAM_OK && k < c->machines; k++) {
		struct machine *m = &c->machine[k];
		m->threads = c->clients / c->machines + (k < c->clients % c->machines);
		m->thread = calloc(m->threads, sizeof *m->thread);
		st = m->thread != NULL ? net_sim_attach(c->sim, &m->net) : NAM_NOMEM;
		if (st == NAM_OK)
			st = net_worker_open(m->net, &m->duty_net, err);
		for (unsigned i = 0; st == NAM_OK && i < m->threads; i++) {
			m->thread[i] = (struct thread){ .c = c, .machine = k, .number = number };
			number++;
			st = net_worker_open(m->net, &m->thread[i].place.net, err);
		}
	}
	return st;
}

static void
cluster_close(struct cluster *c)
{
	for (unsigned k = 0; k < c->machines; k++) {
		struct machine *m = &c->machine[k];
		for (unsigned i = 0; m->thread != NULL && i < m->threads; i++)
			if (m->thread[i].place.net != NULL)
				net_worker_close(m->thread[i].place.net);
		if (m->duty_net != NULL)
			net_worker_close(m->duty_net);
		if (m->net != NULL)
			net_close(m->net);
		free(m->thread);
	}
	if (c->sim != NULL)
		net_sim_close(c->sim);
	free(c->counts);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void
report(const struct sim_params *p, const struct cluster *c, const char *comma)
{
	double s = (double)(c->end_ns - c->begin_ns) / 1e9, share;
	struct nam_hist all = { 0 };
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].threads; i++)
			nam_hist_merge(&all, &c->machine[k].thread[i].slice.latency_ns);
	double commits = c->commits != 0 ? (double)c->commits : 1;
	bool home = bench_verbs_sim_busiest(&c->node) >= bench_verbs_sim_busiest(&c->other_node);
	const struct net_sim_use *node = home ? &c->node : &c->other_node;
	const char *limit = bench_verbs_sim_limit(node, &c->compute, &share);
	double messages = (double)c->messages / commits;
	double out = (double)c->bytes_out / commits;
	double in = (double)c->bytes_in / commits;
	double p50 = (double)nam_hist_quantile(&all, 0.5) / 1e3,
	       p99 = (double)nam_hist_quantile(&all, 0.99) / 1e3;
	if (p->json)
		printf("%s{\"clients\": %u, \"throughput_tps\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, "
		       "\"aborts_per_txn\": %.5f, \"verbs_per_txn\": %.2f, \"bytes_out_per_txn\": %.0f, "
		       "\"bytes_in_per_txn\": %.0f, \"limit\": \"%s\", \"utilisation\": %.3f, "
		       "\"check_errors\": %llu}",
		    comma, c->clients, (double)c->commits / s, p50, p99, (double)c->aborts / commits,
		    messages, out, in, limit, share, (unsigned long long)c->bad);
	else
		printf("%7u %12.0f %9.1f %9.1f %9.4f %7.1f %9.0f %9.0f  %s %.0f %%\n", c->clients,
		    (double)c->commits / s, p50, p99, (double)c->aborts / commits, messages, out, in, limit,
		    share * 100);
	fflush(stdout);
}

static int
point(const struct sim_params *p, unsigned clients, const char *comma)
{
	struct nam_err err = { 0 };
	struct cluster *c = calloc(1, sizeof *c);
	if (c == NULL) {
		fprintf(stderr, "namdb bench: no memory\n");
		return 1;
	}
	c->p = p;
	c->clients = clients;
	nam_status st = cluster_open(c, &err);
	if (st == NAM_OK &&
	    nam_co_start(net_worker_sched(c->machine[0].duty_net), director, c, STACK) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK && !net_sim_run(c->sim, is_over, c))
		st = nam_fail(&err, NAM_CORRUPT, "the simulated cluster waits for nothing that could happen");
	if (st == NAM_OK && (st = c->status) != NAM_OK)
		nam_fail(&err, st, "%s: %s", c->step, nam_status_text(st));
	if (st == NAM_OK)
		report(p, c, comma);
	else
		fprintf(stderr, "namdb bench: %s\n", err.text[0] != 0 ? err.text : nam_status_text(st));
	int code = st == NAM_OK && c->bad == 0 ? 0 : 1;
	cluster_close(c);
	free(c);
	return code;
}

/* ---- options ------------------------------------------------------------------------------- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcw --sim MODEL [options]\n"
	    "The checkout in virtual time, on machines of a model: fdr4x (the NAM paper's cluster) or cx6.\n"
	    "  --clients LIST   client threads of all machines; a line for each number (default\n"
	    "                   1,10,20,30,40,50,60,70)\n"
	    "  --nodes C+S      compute machines and storage nodes (default 4+3)\n"
	    "  --products N     products of about 1 KB (default 30000)\n"
	    "  --seconds S      virtual time measured, after 1 ms (default 0.01)\n"
	    "  --seed N         of the carts and the wire's jitter (default 1)\n"
	    "  --json           one object on stdout\n");
}

static bool
take_nodes(const char *v, struct sim_params *p)
{
	char *plus = NULL;
	unsigned long c = strtoul(v, &plus, 10);
	if (plus == v || *plus != '+')
		return false;
	char *end = NULL;
	unsigned long s = strtoul(plus + 1, &end, 10);
	if (end == plus + 1 || *end != 0 || c < 1 || c > MACHINES_MAX || s < 1 || s >= NET_REGIONS)
		return false;
	p->compute = (unsigned)c;
	p->storage = (unsigned)s;
	return true;
}

static bool
take(int letter, char *v, struct sim_params *p)
{
	unsigned n, x;
	switch (letter) {
	case 'm':
		return (p->model = net_sim_model_find(v)) != NULL;
	case 'c':
		p->points = 0;
		return bench_take_numbers(
		    v, 1, MACHINES_MAX * THREADS_MAX, p->clients, POINTS_MAX, &p->points);
	case 'n':
		return take_nodes(v, p);
	case 'p':
		if (!bench_take_numbers(v, TPCW_ITEMS, 10000000, &x, 1, &n))
			return false;
		p->tpcw.products = x;
		return true;
	case 's':
		return bench_take_seconds(v, &p->seconds);
	case 'S':
		if (!bench_take_numbers(v, 0, UINT32_MAX, &x, 1, &n))
			return false;
		p->tpcw.seed = x;
		return true;
	case 'j':
		return p->json = true;
	default:
		return false;
	}
}

int
bench_tpcw_sim(int argc, char **argv)
{
	static const struct option opt[] = { { "sim", 1, NULL, 'm' }, { "clients", 1, NULL, 'c' },
		{ "nodes", 1, NULL, 'n' }, { "products", 1, NULL, 'p' }, { "seconds", 1, NULL, 's' },
		{ "seed", 1, NULL, 'S' }, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	struct sim_params p = { .clients = { 1, 10, 20, 30, 40, 50, 60, 70 },
		.points = 8,
		.compute = 4,
		.storage = 3,
		.seconds = 0.01,
		.tpcw = { .products = 30000, .seed = 1 } };
	optind = 0;
	for (int l; (l = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		if (l == 'h') {
			usage(stdout);
			return 0;
		}
		if (l == '?' || !take(l, optarg, &p)) {
			if (l != '?')
				fprintf(stderr,
				    "namdb bench: '%s' is not a value for this option; see namdb bench tpcw "
				    "--sim fdr4x "
				    "--help\n",
				    optarg);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb bench: unexpected '%s'; see namdb bench tpcw --sim fdr4x --help\n",
		    argv[optind]);
		return 2;
	}
	for (unsigned i = 0; i < p.points; i++)
		if (p.clients[i] > p.compute * THREADS_MAX) {
			fprintf(stderr,
			    "namdb bench: %u clients need more than %u machines of %d threads; see --nodes\n",
			    p.clients[i], p.compute, THREADS_MAX);
			return 2;
		}
	if (p.json)
		printf("{\"bench\": \"tpcw\", \"sim\": \"%s\", \"nodes\": \"%u+%u\", "
		       "\"points\": [",
		    p.model->name, p.compute, p.storage);
	else
		printf("%s, %u compute machines, %u storage nodes\n\n%7s %12s %9s %9s %9s %7s "
		       "%9s %9s  "
		       "%s\n",
		    p.model->what, p.compute, p.storage, "clients", "txn/s", "p50 us", "p99 us", "aborts",
		    "verbs", "B out", "B in", "busiest");
	int code = 0;
	for (unsigned i = 0; i < p.points; i++)
		code |= point(&p, p.clients[i], i > 0 ? ", " : "");
	if (p.json)
		printf("]}\n");
	return code;
}
