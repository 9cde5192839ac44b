/* cluster.c -- builds a simulated cluster, lets a bench's clients run on it, and prints what
 * they did. */
#include "cluster.h"

#include <bench/verbs/sim.h>

#include <stdlib.h>
#include <string.h>

enum {
	MACHINES_MAX = 64,
	THREADS_MAX = 127,
	CLIENTS_MAX = 1 << 16,
	COROUTINES_MAX = 64,
	STACK = 256 << 10,
};

struct cluster;

struct client {
	struct cluster *c;
	unsigned machine, number;
	const struct cn_place *place;
	struct bench_slice slice;
	bool ended;
};

struct machine {
	struct net *net;
	struct txn_db *db;
	struct net_worker *duty_net;
	struct txn_worker *duty;
	struct cn_place *place; /* of each thread */
	struct client *client;
	unsigned threads, clients;
	bool begun; /* its side */
};

struct cluster {
	const struct bench_sim *p;
	const struct bench_sim_user *u;
	struct net_sim *sim;
	struct machine machine[MACHINES_MAX];
	void *side[MACHINES_MAX];
	struct net_counts *counts; /* one a client */
	unsigned machines, clients;
	atomic_bool stop;
	uint64_t begin_ns, end_ns;
	struct net_sim_use node; /* the busiest storage node */
	unsigned node_number;
	struct net_sim_use compute; /* of the first machine, which has as many clients as any */
	struct bench_sim_point point;
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

/* An RNIC of cx6 takes nine times as many atomics as one word of it. */
static unsigned
lanes(const struct bench_sim *p)
{
	return p->lanes != 0 ? p->lanes : strcmp(p->model->name, "cx6") == 0 ? 8 : 1;
}

/* Joins with all workers of a machine. The first machine makes the cluster and the tables. */
static void
join(struct cluster *c, struct machine *m)
{
	struct nam_err err;
	unsigned k = (unsigned)(m - c->machine);
	const struct txn_config cfg = { .ptr_cache_entries = c->u->entries(c->u->params),
		.lanes = lanes(c->p) };
	if (!good(c, txn_db_open(m->duty_net, &cfg, &m->db, &err), "joining the cluster") ||
	    !good(c, txn_worker_open(m->db, m->duty_net, &m->duty), "a worker"))
		return;
	for (unsigned i = 0; i < m->threads; i++)
		if (!good(c, txn_worker_open(m->db, m->place[i].net, &m->place[i].txn), "a worker"))
			return;
	c->u->begin(c->side[k], c->p, k, c->counts);
	m->begun = true;
	if (k == 0) {
		good(c, c->u->prepare(c->side[0], &m->place[0]), "making the tables");
		return;
	}
	struct txn_table *from[BENCH_SIM_TABLES], *to[BENCH_SIM_TABLES];
	unsigned n = c->u->tables(c->side[0], from);
	c->u->tables(c->side[k], to);
	for (unsigned i = 0; i < n; i++) {
		*to[i] = *from[i];
		to[i]->view = NULL;
		if (!good(c, txn_table_open(m->db, to[i]), "a table"))
			return;
	}
}

static void
leave(struct cluster *c, struct machine *m)
{
	struct txn_table *all[BENCH_SIM_TABLES];
	unsigned n = m->begun ? c->u->tables(c->side[m - c->machine], all) : 0;
	for (unsigned i = m->threads; i-- > 0;)
		if (m->place[i].txn != NULL)
			txn_worker_close(m->place[i].txn);
	if (m->duty != NULL)
		txn_worker_close(m->duty);
	for (unsigned i = 0; i < n; i++)
		if (all[i]->view != NULL)
			txn_table_close(m->db, all[i]);
	if (m->db != NULL)
		txn_db_close(m->duty_net, m->db);
}

static void
client_main(void *arg)
{
	struct client *t = arg;
	t->c->u->client(t->c->side[t->machine], t->place, t->number, &t->slice, &t->c->stop);
	t->ended = true;
}

static void
sums(const struct cluster *c, struct bench_slice *out)
{
	memset(out, 0, sizeof *out);
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].clients; i++)
			bench_slice_add(out, &c->machine[k].client[i].slice);
}

static bool
ended(const struct cluster *c)
{
	bool all = true;
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].clients; i++)
			all &= c->machine[k].client[i].ended;
	return all;
}

static void
look(struct cluster *c)
{
	for (unsigned r = 1; r <= c->p->storage; r++) {
		struct net_sim_use u;
		net_sim_use_node(c->sim, r, &u);
		if (r > 1 && bench_verbs_sim_busiest(&u) <= bench_verbs_sim_busiest(&c->node))
			continue;
		c->node = u;
		c->node_number = r;
	}
	const struct tso *t = txn_db_oracle(c->machine[0].db);
	c->point.lane_least = 1;
	for (unsigned k = 0; k < tso_lanes(t); k++) {
		net_addr at = tso_lane_at(t, k);
		double share = net_sim_use_word(c->sim, net_region_of(at), net_offset_of(at));
		c->point.lane_most = share > c->point.lane_most ? share : c->point.lane_most;
		c->point.lane_least = share < c->point.lane_least ? share : c->point.lane_least;
	}
	c->point.port_in = c->node.in;
	c->point.port_out = c->node.out;
	net_sim_use_process(c->machine[0].net, &c->compute);
	for (unsigned k = 0; k < c->machines; k++) {
		struct net_sim_use u;
		net_sim_use_process(c->machine[k].net, &u);
		c->point.messages += u.messages;
		c->point.bytes_in += u.bytes_in;
		c->point.bytes_out += u.bytes_out;
	}
}

static void
measure(struct cluster *c)
{
	struct net_worker *w = c->machine[0].duty_net;
	struct bench_slice *before = calloc(1, sizeof *before);
	if (!good(c, before != NULL ? NAM_OK : NAM_NOMEM, "measuring")) {
		free(before);
		return;
	}
	for (unsigned k = 0; k < c->machines; k++)
		for (unsigned i = 0; i < c->machine[k].clients; i++) {
			struct client *t = &c->machine[k].client[i];
			t->slice.most = UINT64_MAX;
			if (nam_co_start(net_worker_sched(t->place->net), client_main, t, STACK) == NULL) {
				t->ended = true;
				good(c, NAM_NOMEM, "starting a client");
			}
		}
	net_sleep(w, (uint64_t)(c->p->warm * 1e9));
	sums(c, before);
	c->begin_ns = net_sim_now_ns(c->sim);
	net_sim_use_begin(c->sim);
	net_sleep(w, (uint64_t)(c->p->seconds * 1e9));
	c->end_ns = net_sim_now_ns(c->sim);
	look(c);
	struct bench_slice *sum = &c->point.sum;
	sums(c, sum);
	uint64_t commits = sum->commits - before->commits, aborts = sum->aborts - before->aborts,
		 refused = sum->refused - before->refused;
	struct nam_hist latency = sum->latency_ns;
	nam_hist_subtract(&latency, &before->latency_ns);
	free(before);
	atomic_store(&c->stop, true);
	while (!ended(c))
		net_sleep(w, 10000);
	for (unsigned k = 0; k < c->machines; k++) {
		const char *full = c->u->full != NULL ? c->u->full(c->side[k]) : NULL;
		if (full != NULL)
			good(c, NAM_FULL, full);
	}
	sums(c, sum);
	c->point.bad += sum->errors;
	c->point.ever = sum->commits + sum->refused;
	c->point.seconds = (double)(c->end_ns - c->begin_ns) / 1e9;
	sum->commits = commits;
	sum->aborts = aborts;
	sum->latency_ns = latency;
	sum->refused = refused;
}

static void
director(void *arg)
{
	struct cluster *c = arg;
	struct machine *first = &c->machine[0];
	for (unsigned k = 0; k < c->machines && c->status == NAM_OK; k++)
		join(c, &c->machine[k]);
	if (c->status == NAM_OK)
		good(c, c->u->load(c->side[0], &first->place[0]), "loading");
	for (unsigned k = 1; k < c->machines && c->status == NAM_OK; k++)
		good(c, c->u->warm(c->side[k], &c->machine[k].place[0]), "reading the rows");
	if (c->status == NAM_OK) {
		measure(c);
		c->point.bad += c->u->check(c->side, c->machines, &first->place[0]);
	}
	for (unsigned k = c->machines; k-- > 0;)
		leave(c, &c->machine[k]);
	/* only now has the last commit been finished */
	c->point.sum.counts = (struct net_counts){ 0 };
	for (unsigned i = 0; i < c->clients; i++)
		net_counts_add(&c->point.sum.counts, &c->counts[i]);
	c->over = true;
}

static bool
is_over(void *arg)
{
	return ((struct cluster *)arg)->over;
}

static unsigned
at_least(unsigned a, unsigned by)
{
	return (a + by - 1) / by;
}

static nam_status
machine_open(struct cluster *c, unsigned k, unsigned *number, struct nam_err *err)
{
	struct machine *m = &c->machine[k];
	m->clients = c->clients / c->machines + (k < c->clients % c->machines);
	m->threads = at_least(m->clients, c->p->coroutines);
	m->place = calloc(m->threads, sizeof *m->place);
	m->client = calloc(m->clients, sizeof *m->client);
	c->side[k] = calloc(1, c->u->side_size);
	nam_status st = m->place != NULL && m->client != NULL && c->side[k] != NULL
			    ? net_sim_attach(c->sim, &m->net)
			    : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_worker_open(m->net, &m->duty_net, err);
	for (unsigned i = 0; st == NAM_OK && i < m->threads; i++)
		st = net_worker_open(m->net, &m->place[i].net, err);
	for (unsigned i = 0; st == NAM_OK && i < m->clients; i++) {
		m->client[i].c = c;
		m->client[i].machine = k;
		m->client[i].number = (*number)++;
		m->client[i].place = &m->place[i % m->threads];
	}
	if (m->threads > c->point.threads)
		c->point.threads = m->threads;
	return st;
}

static nam_status
cluster_open(struct cluster *c, struct nam_err *err)
{
	uint64_t bytes = c->u->bytes(c->u->params) / c->p->storage;
	const struct net_sim_config cfg = { .seed = c->p->seed,
		.nodes = c->p->storage,
		.region_bytes = bytes >> 20 << 20,
		.model = c->p->model };
	nam_status st = net_sim_open(&c->sim, &cfg);
	if (st == NAM_OK && c->u->host != NULL)
		st = c->u->host(c->u->params, c->sim, c->p->storage, cfg.region_bytes);
	c->machines = c->p->compute < c->clients ? c->p->compute : c->clients;
	c->counts = calloc(c->clients, sizeof *c->counts);
	if (st == NAM_OK && c->counts == NULL)
		st = NAM_NOMEM;
	for (unsigned k = 0, number = 0; st == NAM_OK && k < c->machines; k++)
		st = machine_open(c, k, &number, err);
	return st;
}

static void
cluster_close(struct cluster *c)
{
	for (unsigned k = 0; k < c->machines; k++) {
		struct machine *m = &c->machine[k];
		for (unsigned i = 0; m->place != NULL && i < m->threads; i++)
			if (m->place[i].net != NULL)
				net_worker_close(m->place[i].net);
		if (m->duty_net != NULL)
			net_worker_close(m->duty_net);
		if (m->net != NULL)
			net_close(m->net);
		free(m->place);
		free(m->client);
		free(c->side[k]);
	}
	if (c->sim != NULL)
		net_sim_close(c->sim);
	if (c->u->unhost != NULL)
		c->u->unhost(c->u->params);
	free(c->counts);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void
head(const struct bench_sim *p, const struct bench_sim_user *u)
{
	if (p->json) {
		printf("{\"bench\": \"%s\", \"sim\": \"%s\", ", u->bench, p->model->name);
		if (u->protocol != NULL)
			printf("\"protocol\": \"%s\", ", u->protocol);
		printf("\"nodes\": \"%u+%u\", \"points\": [", p->compute, p->storage);
		return;
	}
	printf("%s, %u compute machines, %u storage nodes\n\n%7s %12s %9s %9s %9s %7s "
	       "%9s %9s %9s  ",
	    p->model->what, p->compute, p->storage, p->threads ? "threads" : "clients", "txn/s", "p50 us",
	    "p99 us", "aborts", "verbs", "B out", "B in", "id word %");
	if (u->more != NULL)
		u->more(NULL, p);
	printf("%s\n", "busiest");
}

static void
report(const struct cluster *c, const char *comma, struct bench_sim_plot *plot)
{
	const struct bench_sim_point *at = &c->point;
	const struct bench_sim *p = c->p;
	double share, commits = at->sum.commits != 0 ? (double)at->sum.commits : 1;
	double tps = (double)at->sum.commits / at->seconds;
	const char *limit = bench_verbs_sim_limit(&c->node, &c->compute, &share);
	char where[40] = "";
	if (strcmp(limit, "one address") == 0)
		snprintf(where, sizeof where, " %u:0x%llx", c->node_number, (unsigned long long)c->node.hot);
	double messages = (double)at->messages / commits;
	double out = (double)at->bytes_out / commits;
	double in = (double)at->bytes_in / commits;
	double p50 = (double)nam_hist_quantile(&at->sum.latency_ns, 0.5) / 1e3,
	       p99 = (double)nam_hist_quantile(&at->sum.latency_ns, 0.99) / 1e3;
	double aborts = (double)at->sum.aborts / commits;
	if (p->json) {
		printf("%s{", comma);
		if (p->threads || p->coroutines > 1)
			printf("\"threads\": %u, ", at->threads);
		printf("\"clients\": %u, \"throughput_tps\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, "
		       "\"aborts_per_txn\": %.5f, \"verbs_per_txn\": %.2f, \"bytes_out_per_txn\": %.0f, "
		       "\"bytes_in_per_txn\": %.0f, \"lanes\": %u, \"lane_busiest\": %.3f, \"lane_idlest\": "
		       "%.3f, ",
		    at->clients, tps, p50, p99, aborts, messages, out, in, lanes(p), at->lane_most,
		    at->lane_least);
		if (c->u->more != NULL)
			c->u->more(at, p);
		printf("\"limit\": \"%s%s\", \"utilisation\": %.3f, \"check_errors\": %llu}", limit, where,
		    share, (unsigned long long)at->bad);
	} else {
		printf("%7u %12.0f %9.1f %9.1f %9.4f %7.1f %9.0f %9.0f %5.0f-%-3.0f  ",
		    p->threads ? at->threads : at->clients, tps, p50, p99, aborts, messages, out, in,
		    at->lane_least * 100, at->lane_most * 100);
		if (c->u->more != NULL)
			c->u->more(at, p);
		printf("%s%s %.0f %%\n", limit, where, share * 100);
	}
	char full[80];
	snprintf(full, sizeof full, "%s%s", limit, where);
	struct bench_sim_plot_row *row =
	    bench_sim_plot_add(plot, p->threads ? at->threads : at->clients, full);
	row->per_s = tps;
	row->p50_us = p50;
	row->p99_us = p99;
	row->share = share;
	fflush(stdout);
}

static int
point(struct bench_sim *p, const struct bench_sim_user *u, const char *comma)
{
	struct nam_err err = { 0 };
	struct cluster *c = calloc(1, sizeof *c);
	if (c == NULL) {
		fprintf(stderr, "namdb bench: no memory\n");
		return 1;
	}
	c->p = p;
	c->u = u;
	c->clients = c->point.clients = p->clients;
	nam_status st = cluster_open(c, &err);
	if (st == NAM_OK &&
	    nam_co_start(net_worker_sched(c->machine[0].duty_net), director, c, STACK) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK && !net_sim_run(c->sim, is_over, c))
		st = nam_fail(&err, NAM_CORRUPT, "the simulated cluster waits for nothing that could happen");
	if (st == NAM_OK && (st = c->status) != NAM_OK)
		nam_fail(&err, st, "%s: %s", c->step, nam_status_text(st));
	if (st == NAM_OK)
		report(c, comma, &p->plot);
	else
		fprintf(stderr, "namdb bench: %s\n", err.text[0] != 0 ? err.text : nam_status_text(st));
	int code = st == NAM_OK && c->point.bad == 0 ? 0 : 1;
	cluster_close(c);
	free(c);
	return code;
}

/* ---- options ------------------------------------------------------------------------------- */

void
bench_sim_usage(FILE *to, const char *clients, const char *nodes, const char *seconds)
{
	fprintf(to,
	    "  --clients LIST   clients of all machines; a line for each number (default %s)\n"
	    "  --threads LIST   instead: client threads of each compute machine\n"
	    "  --coroutines N   clients that share a thread (default 1)\n"
	    "  --nodes C+S      compute machines and storage nodes (default %s)\n"
	    "  --seconds S      virtual time measured (default %s)\n"
	    "  --warm S         virtual time before it (default 0.001)\n"
	    "  --lanes N        words that give out commit ids: 1, 2, 4, 8, 16 (default 8 on cx6, else 1)\n"
	    "  --seed N         of the clients' dice and the wire's jitter (default 1)\n" BENCH_SIM_PLOT_USAGE
	    "  --json           one object on stdout\n",
	    clients, nodes, seconds);
}

static bool
take_nodes(const char *v, struct bench_sim *p)
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
take(int letter, char *v, struct bench_sim *p)
{
	unsigned n, x;
	switch (letter) {
	case 'm':
		return (p->model = net_sim_model_find(v)) != NULL;
	case 'c':
	case 't':
		p->points = 0;
		p->threads = letter == 't';
		return bench_take_numbers(
		    v, 1, p->threads ? THREADS_MAX : CLIENTS_MAX, p->number, BENCH_SIM_POINTS, &p->points);
	case 'k':
		return bench_take_numbers(v, 1, COROUTINES_MAX, &p->coroutines, 1, &n);
	case 'n':
		return take_nodes(v, p);
	case 's':
		return bench_take_seconds(v, &p->seconds);
	case 'w':
		return bench_take_seconds(v, &p->warm);
	case BENCH_SIM_LANES:
		return bench_take_numbers(v, 1, TSO_LANES, &p->lanes, 1, &n) &&
		       (p->lanes & (p->lanes - 1)) == 0;
	case 'S':
		if (!bench_take_numbers(v, 0, UINT32_MAX, &x, 1, &n))
			return false;
		p->seed = x;
		return true;
	case 'j':
		return p->json = true;
	default:
		return bench_sim_plot_take(&p->plot, letter, v);
	}
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, const struct option *opt, struct bench_sim *p, void *params,
    const struct bench_sim_user *u)
{
	optind = 0;
	p->warm = 0.001;
	for (int l; (l = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		if (l == 'h') {
			u->usage(stdout);
			return 1;
		}
		if (l == '?')
			return 3;
		if (!u->take(params, l, optarg) && !take(l, optarg, p)) {
			fprintf(stderr,
			    "namdb bench: '%s' is not a value for this option; see namdb bench %s --sim "
			    "fdr4x --help\n",
			    optarg, u->bench);
			return 3;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb bench: unexpected '%s'; see namdb bench %s --sim fdr4x --help\n",
		    argv[optind], u->bench);
		return 3;
	}
	if (p->plot.keep_data && p->plot.file == NULL)
		return bench_bad_use(u->bench, "--plot-data goes with --plot");
	const char *why = u->fits != NULL ? u->fits(params) : NULL;
	if (why != NULL)
		return bench_bad_use(u->bench, why);
	for (unsigned i = 0; !p->threads && i < p->points; i++)
		if (at_least(at_least(p->number[i], p->compute), p->coroutines) > THREADS_MAX) {
			fprintf(stderr,
			    "namdb bench: %u clients need more than %u machines of %d threads; see --nodes\n",
			    p->number[i], p->compute, THREADS_MAX);
			return 3;
		}
	return 0;
}

int
bench_sim_main(int argc, char **argv, const struct option *opt, struct bench_sim *p, void *params,
    const struct bench_sim_user *u)
{
	int code = options(argc, argv, opt, p, params, u);
	if (code != 0)
		return code - 1;
	if (!bench_sim_plot_ready(&p->plot))
		return 1;
	snprintf(p->plot.title, sizeof p->plot.title, "%s on %s, %u + %u machines", u->bench, p->model->name,
	    p->compute, p->storage);
	p->plot.x = p->threads ? "threads of a compute machine" : "clients";
	head(p, u);
	for (unsigned i = 0; i < p->points; i++) {
		p->clients = p->threads ? p->number[i] * p->coroutines * p->compute : p->number[i];
		code |= point(p, u, i > 0 ? ", " : "");
	}
	if (p->json)
		printf("]");
	if (u->published != NULL) {
		printf("%s", p->json ? ", " : "");
		bench_published(stdout, u->published, p->json);
	}
	if (p->json)
		printf("}\n");
	fflush(stdout);
	return bench_sim_plot_end(&p->plot) ? code : 1;
}
