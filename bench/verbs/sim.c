/*
 * sim.c -- `namdb bench verbs --sim MODEL`: the same verbs in virtual time, on a model of
 * RNICs (net/sim/nic.h), beside what is published about the hardware that the model stands for.
 *
 * Two tables. The first is one client thread, as figures 2 and 3 of the NAM paper have it: latency
 * of one operation at a time, and throughput with many under way. The second is many clients of one
 * storage node, where its RNIC is the limit.
 */
#include "sim.h"

#include <net/region_format.h>
#include <net/sim/sim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REGION = 256 << 20,
	CHUNK = 16 << 20, /* the most that one operation moves */
	WINDOW = 32,      /* operations under way of a client, for throughput */
	MACHINES_MAX = 64,
	THREADS_MAX = 32,
};

/* One simulated cluster: a storage node, client machines with some threads each. */
struct world {
	struct net_sim *sim;
	unsigned machines, threads;
	struct net *net[MACHINES_MAX];
	struct net_worker *w[MACHINES_MAX * THREADS_MAX];
	const struct verbs_sim_load *load;
	uint64_t begin_ns, end_ns;
	uint64_t ops, latency_ns; /* of operations that ended between begin and end */
	nam_status status;
	struct client {
		struct world *world;
		unsigned i;
	} client[MACHINES_MAX * THREADS_MAX];
};

static net_addr
place(const struct world *w, struct net_worker *nw)
{
	const struct verbs_sim_load *l = w->load;
	if (l->hot)
		return net_at(1, 2 * NET_EXTENT);
	uint64_t slot = l->size < 64 ? 64 : l->size;
	uint64_t room = REGION / 2 / slot;
	return net_at(1, 2 * NET_EXTENT + nam_rng_below(net_rng(nw), room) * slot);
}

static void
add(struct net_batch *b, enum net_code code, net_addr at, char *buf, uint32_t size)
{
	for (uint64_t done = 0; done < size || done == 0; done += CHUNK) {
		uint32_t n = size - done < CHUNK ? (uint32_t)(size - done) : CHUNK;
		if (code == NET_READ)
			net_read(b, net_plus(at, done), buf, n);
		else if (code == NET_WRITE)
			net_write(b, net_plus(at, done), buf, n);
		else if (code == NET_CAS)
			net_cas(b, at, 0, 0);
		else
			net_faa(b, at, 1);
	}
}

static void
client(void *arg)
{
	struct client *c = arg;
	struct world *w = c->world;
	const struct verbs_sim_load *l = w->load;
	struct net_worker *nw = w->w[c->i];
	uint32_t each = l->size > CHUNK ? l->size / CHUNK : 1;
	struct net_op *ops = calloc(each, sizeof *ops);
	char *buf = malloc(l->size < CHUNK ? l->size : CHUNK);
	if (ops == NULL || buf == NULL)
		w->status = NAM_NOMEM;
	while (w->status == NAM_OK) {
		uint64_t from = net_now_ns(nw);
		if (from >= w->end_ns)
			break;
		struct net_batch b;
		net_batch_init(&b, nw, ops, each, NULL);
		add(&b, l->code, place(w, nw), buf, l->size);
		nam_status st = net_run(&b);
		uint64_t now = net_now_ns(nw);
		if (st != NAM_OK)
			w->status = st;
		if (now < w->begin_ns || now > w->end_ns)
			continue;
		w->ops++;
		w->latency_ns += now - from;
	}
	free(buf);
	free(ops);
}

static void
begins(void *arg)
{
	struct world *w = arg;
	net_sleep(w->w[0], w->begin_ns - net_now_ns(w->w[0]));
	net_sim_use_begin(w->sim);
	net_sleep(w->w[0], w->end_ns - net_now_ns(w->w[0]));
	net_sim_use_node(w->sim, 1, w->load->node);
	net_sim_use_process(w->net[0], w->load->machine);
}

static nam_status
world_open(struct world *w, const struct net_sim_model *m, struct nam_err *err)
{
	const struct net_sim_config cfg = { .seed = 1, .nodes = 1, .region_bytes = REGION, .model = m };
	nam_status st = net_sim_open(&w->sim, &cfg);
	for (unsigned i = 0; st == NAM_OK && i < w->machines; i++) {
		if ((st = net_sim_attach(w->sim, &w->net[i])) != NAM_OK)
			break;
		for (unsigned t = 0; t < w->threads && st == NAM_OK; t++)
			st = net_worker_open(w->net[i], &w->w[i * w->threads + t], err);
	}
	return st;
}

static void
world_close(struct world *w)
{
	for (unsigned i = 0; i < w->machines * w->threads; i++)
		if (w->w[i] != NULL)
			net_worker_close(w->w[i]);
	for (unsigned i = 0; i < w->machines; i++)
		if (w->net[i] != NULL)
			net_close(w->net[i]);
	net_sim_close(w->sim);
}

nam_status
bench_verbs_sim_run(const struct net_sim_model *m, const struct verbs_sim_load *l, double *rate,
    double *latency_ns, struct nam_err *err)
{
	if (l->machines == 0 || l->machines > MACHINES_MAX || l->threads == 0 || l->threads > THREADS_MAX)
		return nam_fail(
		    err, NAM_INVALID, "1 to %d machines of 1 to %d threads", MACHINES_MAX, THREADS_MAX);
	struct world *w = calloc(1, sizeof *w);
	if (w == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	w->machines = l->machines;
	w->threads = l->threads;
	w->load = l;
	nam_status st = world_open(w, m, err);
	if (st == NAM_OK) {
		/* long enough for the slowest: a hundred of its operations one after the other */
		uint64_t op_ns = (uint64_t)l->size * m->port_ps / 1000 + 4000;
		w->begin_ns = net_now_ns(w->w[0]) + 4 * op_ns * l->window;
		w->end_ns = w->begin_ns + (l->size > 1 << 20 ? 20 : 200) * op_ns + 100000;
		bool started = nam_co_start(net_worker_sched(w->w[0]), begins, w, 64 << 10) != NULL;
		for (unsigned i = 0; i < l->machines * l->threads; i++)
			for (unsigned k = 0; k < l->window; k++) {
				w->client[i] = (struct client){ w, i };
				started &= nam_co_start(net_worker_sched(w->w[i]), client, &w->client[i],
					       64 << 10) != NULL;
			}
		if (!started)
			st = nam_fail(err, NAM_NOMEM, "no memory for clients");
		else if (!net_sim_run(w->sim, NULL, NULL))
			st = nam_fail(
			    err, NAM_CORRUPT, "the simulated clients wait for nothing that could happen");
		else if ((st = w->status) != NAM_OK)
			nam_fail(err, st, "a simulated verb failed: %s", nam_status_text(st));
	}
	if (st == NAM_OK) {
		*rate = (double)w->ops * 1e9 / (double)(w->end_ns - w->begin_ns);
		*latency_ns = w->ops != 0 ? (double)w->latency_ns / (double)w->ops : 0;
	}
	world_close(w);
	free(w);
	return st;
}

/* ---- the tables ---------------------------------------------------------------------- */

/* Published figures. The sources are in bench/verbs/README.md, "The model". */
static const struct anchor {
	const char *model, *what;
	struct verbs_sim_load load;
	bool latency; /* in us; else the rate, in units */
	double unit, published;
	const char *of;
} anchors[] = {
	{ "fdr4x", "READ of 8 B, latency (us)",
	    { .code = NET_READ, .size = 8, .machines = 1, .threads = 1, .window = 1 }, true, 1e3, 2,
	    "NAM paper, 2.2" },
	{ "fdr4x", "CAS, latency (us)",
	    { .code = NET_CAS, .size = 8, .machines = 1, .threads = 1, .window = 1 }, true, 1e3, 2,
	    "paper, 2.2: as a READ of 8 B" },
	{ "fdr4x", "WRITE of 1 MB, latency (us)",
	    { .code = NET_WRITE, .size = 1 << 20, .machines = 1, .threads = 1, .window = 1 }, true, 1e3, 161,
	    "paper, 2.2" },
	{ "fdr4x", "WRITE of 32 KB, GB/s of one port",
	    { .code = NET_WRITE, .size = 32 << 10, .machines = 1, .threads = 1, .window = WINDOW }, false,
	    1e9 / (32 << 10), 6.8, "paper, figure 2a" },
	{ "fdr4x", "READ of 4 KB, GB/s of one port",
	    { .code = NET_READ, .size = 4 << 10, .machines = 1, .threads = 1, .window = WINDOW }, false,
	    1e9 / (4 << 10), 6.8, "paper, figure 2a: full above 2 KB" },
	{ "fdr4x", "FETCH_ADD of one word (M/s)",
	    { .code = NET_FAA, .size = 8, .hot = true, .machines = 4, .threads = 4, .window = 8 }, false, 1e6,
	    2.4, "low end of what is published" },
	{ "cx6", "READ of 8 B, all clients (M/s)",
	    { .code = NET_READ, .size = 8, .machines = 8, .threads = 16, .window = 6 }, false, 1e6, 111,
	    "SMART 2024" },
	{ "cx6", "READ of 8 B, latency (us)",
	    { .code = NET_READ, .size = 8, .machines = 1, .threads = 1, .window = 1 }, true, 1e3, 1.7,
	    "ib_read_lat, as commonly reported" },
	{ "xstore", "READ of 8 B, all clients (M/s)",
	    { .code = NET_READ, .size = 8, .machines = 15, .threads = 16, .window = 8 }, false, 1e6, 80,
	    "XStore: some 40 M/s of each RNIC" },
	{ "xstore", "READ of 4 KB, GB/s of both ports",
	    { .code = NET_READ, .size = 4 << 10, .machines = 15, .threads = 16, .window = 8 }, false,
	    1e9 / (4 << 10), 25, "2 x 100 Gb/s" },
	{ "xstore", "READ of 8 B, latency (us)",
	    { .code = NET_READ, .size = 8, .machines = 1, .threads = 1, .window = 1 }, true, 1e3, 1.9,
	    "ib_read_lat, as commonly reported" },
};

static const struct verbs_sim_load scale[] = {
	{ .code = NET_READ, .size = 8, .machines = 1, .threads = 1, .window = 8 },
	{ .code = NET_READ, .size = 8, .machines = 4, .threads = 4, .window = 8 },
	{ .code = NET_READ, .size = 8, .machines = 8, .threads = 16, .window = 6 },
	{ .code = NET_READ, .size = 8, .machines = 32, .threads = 32, .window = 6 },
	{ .code = NET_READ, .size = 1024, .machines = 8, .threads = 16, .window = 6 },
	{ .code = NET_WRITE, .size = 1024, .machines = 8, .threads = 16, .window = 6 },
	{ .code = NET_CAS, .size = 8, .machines = 8, .threads = 16, .window = 6 },
	{ .code = NET_FAA, .size = 8, .hot = true, .machines = 8, .threads = 16, .window = 6 },
};

double
bench_verbs_sim_busiest(const struct net_sim_use *u)
{
	return fmax(fmax(fmax(u->rnic, u->in), fmax(u->out, u->atomics)), fmax(u->address, u->core));
}

const char *
bench_verbs_sim_limit(const struct net_sim_use *node, const struct net_sim_use *machine, double *share)
{
	const struct {
		const char *name;
		double share;
	} all[] = { { "the clients' threads", machine->core }, { "a client's RNIC", machine->rnic },
		{ "a client's port, in", machine->in }, { "a client's port, out", machine->out },
		{ "the node's RNIC", node->rnic }, { "the node's port, in", node->in },
		{ "the node's port, out", node->out }, { "the node's atomics engine", node->atomics },
		{ "one address", node->address }, { "the node's cores", node->core } };
	unsigned most = 0;
	for (unsigned i = 1; i < sizeof all / sizeof all[0]; i++)
		if (all[i].share > all[most].share)
			most = i;
	*share = all[most].share;
	return all[most].share < 0.5 ? "latency" : all[most].name;
}

static const char *
code_name(enum net_code code)
{
	static const char *const name[NET_CODES] = { "READ", "WRITE", "WRITE_IMM", "CAS", "FETCH_ADD" };
	return name[code];
}

static nam_status
calibrate(const struct net_sim_model *m, bool json, struct nam_err *err)
{
	const char *comma = "";
	if (!json)
		printf("%-36s %10s %10s %7s  %s\n", "one model, published figures", "published", "model",
		    "ratio", "source");
	for (unsigned i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
		const struct anchor *a = &anchors[i];
		if (strcmp(a->model, m->name) != 0)
			continue;
		struct net_sim_use node, machine;
		struct verbs_sim_load l = a->load;
		double rate, ns;
		l.node = &node;
		l.machine = &machine;
		nam_status st = bench_verbs_sim_run(m, &l, &rate, &ns, err);
		if (st != NAM_OK)
			return st;
		double v = a->latency ? ns / a->unit : rate / a->unit;
		if (json)
			printf("%s{\"what\": \"%s\", \"published\": %g, \"model\": %.4g, \"ratio\": %.3f, "
			       "\"source\": \"%s\"}",
			    comma, a->what, a->published, v, v / a->published, a->of);
		else
			printf("%-36s %10.4g %10.4g %7.2f  %s\n", a->what, a->published, v, v / a->published,
			    a->of);
		comma = ", ";
	}
	return NAM_OK;
}

static nam_status
curve(const struct net_sim_model *m, bool json, struct nam_err *err)
{
	const char *comma = "";
	if (!json)
		printf("\n%-10s %6s %9s %8s %7s %9s %9s  %s\n", "verb", "bytes", "machines", "threads",
		    "window", "M/s", "us", "busiest");
	for (unsigned i = 0; i < sizeof scale / sizeof scale[0]; i++) {
		struct net_sim_use node, machine;
		struct verbs_sim_load l = scale[i];
		double rate, ns, share;
		l.node = &node;
		l.machine = &machine;
		nam_status st = bench_verbs_sim_run(m, &l, &rate, &ns, err);
		if (st != NAM_OK)
			return st;
		const char *limit = bench_verbs_sim_limit(&node, &machine, &share);
		if (json)
			printf("%s{\"verb\": \"%s\", \"size\": %u, \"one_word\": %s, \"machines\": %u, "
			       "\"threads\": %u, \"window\": %u, "
			       "\"ops\": %.0f, \"latency_ns\": %.0f, \"limit\": \"%s\", \"utilisation\": "
			       "%.3f, \"misses_per_message\": %.3f}",
			    comma, code_name(l.code), l.size, l.hot ? "true" : "false", l.machines, l.threads,
			    l.window, rate, ns, limit, share,
			    node.messages != 0 ? (double)node.misses / (double)node.messages : 0);
		else
			printf("%-10s %6u %9u %8u %7u %9.2f %9.2f  %s %.0f %%\n", code_name(l.code), l.size,
			    l.machines, l.threads, l.window, rate / 1e6, ns / 1e3, limit, share * 100);
		comma = ", ";
	}
	return NAM_OK;
}

int
bench_verbs_sim(const char *name, bool json)
{
	const struct net_sim_model *m = net_sim_model_find(name);
	struct nam_err err = { 0 };
	if (m == NULL) {
		fprintf(stderr, "namdb bench: no model is called \"%s\"; there are:", name);
		for (unsigned i = 0; (m = net_sim_model_at(i)) != NULL; i++)
			fprintf(stderr, " %s", m->name);
		fputc('\n', stderr);
		return 2;
	}
	if (json)
		printf("{\"bench\": \"verbs\", \"sim\": \"%s\", \"calibration\": [", m->name);
	else
		printf("%s: %s\n\n", m->name, m->what);
	nam_status st = calibrate(m, json, &err);
	if (json)
		printf("], \"curve\": [");
	if (st == NAM_OK)
		st = curve(m, json, &err);
	if (json)
		printf("]}\n");
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	return st == NAM_OK ? 0 : 1;
}
