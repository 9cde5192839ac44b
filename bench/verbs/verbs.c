/*
 * verbs.c -- `namdb bench verbs`: measures the fabric, one kind of operation at a time, beside
 * plain TCP.
 *
 * Each size has its runs; in each run its operations and the peer take turns, a slice each. So a
 * machine that changes its mind hits all of them, and ratios are taken inside each run.
 */
#include "sim.h"
#include "verbs.h"

#include <base/number.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = VERBS_OPS * VERBS_SIZES_MAX * VERBS_DEPTHS_MAX, WARM_PART = 5, RUNS_QUARTILES = 4 };

atomic_bool bench_verbs_stop;

static const char *const op_names[VERBS_OPS] = { "read", "write", "cas", "fetch_add", "message", "rpc" };

const char *
bench_verbs_op_name(enum verbs_op op)
{
	return op_names[op];
}

unsigned
bench_verbs_depth(uint32_t size, unsigned depth)
{
	unsigned most = VERBS_OUT_MAX / size;
	return depth < most ? depth : most;
}

struct bench {
	struct verbs_params p;
	struct verbs_fabric *f;
	struct verbs_rpc *rpc;
	struct verbs_point *pt;
	unsigned n;
	cpu_set_t client_cores, server_cores, peer_cores;
	const char *provider;
	bool functional; /* a software RDMA device: its figures say nothing about speed */
};

static void
on_interrupt(int sig)
{
	(void)sig;
	atomic_store(&bench_verbs_stop, true);
}

/* ---- options ---- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench verbs [options]\n"
	    "What the fabric does: operations and bytes per second, latency, CPU time, for each verb and "
	    "size, "
	    "for\nmessages to a service, and for plain requests and responses over TCP (rpc) beside them.\n"
	    "  --op LIST        of read, write, cas, fetch_add, message, rpc (default all)\n"
	    "  --size LIST      bytes, with k or m: of 8 .. 32m (default 8, and by fours up to 32m)\n"
	    "  --depth LIST     operations out at once, up to %u (default 1,16: latency, throughput)\n"
	    "  --embedded       shm in this process, no storage node\n"
	    "  --pin A,B        the client runs on core A, our servers on core B\n"
	    "  --sim MODEL      not a fabric but a model of RNICs, in virtual time: fdr4x, cx6 or\n"
	    "                   xstore; with --json at most\n",
	    VERBS_DEPTH_MAX);
	bench_common_usage(to, "", "0.2", "runs of each size");
}

static bool
take_sizes(struct verbs_params *p, char *list)
{
	p->sizes = 0;
	for (char *w; (w = bench_word_of(&list)) != NULL;) {
		uint64_t x;
		if (p->sizes == VERBS_SIZES_MAX || !nam_size(w, VERBS_SIZE_MIN, VERBS_SIZE_MAX, &x) ||
		    x % 8 != 0)
			return false;
		p->size[p->sizes++] = (uint32_t)x;
	}
	return true;
}

static bool
take_pin(struct verbs_params *p, char *list)
{
	uint64_t core[2];
	char *a = bench_word_of(&list), *b = bench_word_of(&list);
	if (b == NULL || list != NULL || !nam_number(a, 0, CPU_SETSIZE - 1, &core[0]) ||
	    !nam_number(b, 0, CPU_SETSIZE - 1, &core[1]))
		return false;
	p->pin_client = (int)core[0];
	p->pin_server = (int)core[1];
	return true;
}

static bool
take(void *arg, int letter, char *value)
{
	struct verbs_params *p = arg;
	switch (letter) {
	case 'o':
		return bench_take_names(value, op_names, VERBS_OPS, p->op);
	case 's':
		return take_sizes(p, value);
	case 'd':
		return bench_take_numbers(value, 1, VERBS_DEPTH_MAX, p->depth, VERBS_DEPTHS_MAX, &p->depths);
	case 'e':
		return p->embedded = true;
	case 'p':
		return take_pin(p, value);
	case 'M':
		p->sim = value;
		return true;
	default:
		return false;
	}
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct verbs_params *p)
{
	static const struct option opt[] = { { "op", 1, NULL, 'o' }, { "size", 1, NULL, 's' },
		{ "depth", 1, NULL, 'd' }, { "embedded", 0, NULL, 'e' }, { "pin", 1, NULL, 'p' },
		{ "sim", 1, NULL, 'M' }, BENCH_COMMON_OPTIONS };
	*p = (struct verbs_params){ .common = { .fabric = NET_AUTO, .runs = 3, .seconds = 0.2 },
		.pin_client = -1,
		.pin_server = -1 };
	memset(p->op, 1, sizeof p->op);
	for (uint32_t s = VERBS_SIZE_MIN; s <= VERBS_SIZE_MAX; s *= 4)
		p->size[p->sizes++] = s;
	p->depth[p->depths++] = 1;
	p->depth[p->depths++] = 16;
	int code = bench_options(argc, argv, opt, &p->common, take, usage, p);
	enum net_kind fabric = p->common.fabric;
	if (code == 0 && p->embedded &&
	    (p->common.storage != NULL || fabric == NET_TCP || fabric == NET_VERBS))
		code = bench_bad_use(
		    "verbs", "--embedded is memory of this process: no --storage, and no fabric but shm");
	return code;
}

/* ---- measuring ---- */

static bool
one_slice(struct bench *b, const struct verbs_point *pt, double seconds, struct nam_hist *h,
    struct verbs_slice *s, struct nam_err *err)
{
	nam_status st = pt->op == VERBS_RPC
			    ? bench_verbs_rpc_run(b->rpc, pt->size, pt->out, seconds, h, s, err)
			    : bench_verbs_fabric_run(b->f, pt->op, pt->size, pt->out, seconds, h, s, err);
	CPU_SET((unsigned)sched_getcpu(), &b->client_cores);
	if (pt->op == VERBS_RPC)
		bench_verbs_rpc_core(b->rpc, &b->peer_cores);
	else
		bench_verbs_fabric_core(b->f, &b->server_cores);
	return st == NAM_OK;
}

/* One turn of all that have this size and depth. False after an error or ^C. */
static bool
turn(struct bench *b, struct verbs_point *pt, unsigned n, struct nam_err *err)
{
	static struct nam_hist warm; /* not looked at */
	for (unsigned i = 0; i < n; i++) {
		struct verbs_slice s;
		if (pt[i].runs == 0 && !one_slice(b, &pt[i], b->p.common.seconds / WARM_PART, &warm, &s, err))
			return false;
		if (!one_slice(b, &pt[i], b->p.common.seconds, &pt[i].latency_ns, &s, err))
			return false;
		pt[i].wrong += s.wrong;
		pt[i].ops += s.ops;
		if (atomic_load(&bench_verbs_stop))
			return false; /* the slice was cut: it does not count */
		pt[i].rate[pt[i].runs] = (double)s.ops / s.seconds;
		pt[i].client_ns[pt[i].runs] = (double)s.client_ns / (double)s.ops;
		pt[i].server_ns[pt[i].runs] = (double)s.server_ns / (double)s.ops;
		pt[i].runs++;
	}
	return true;
}

static bool
measure(struct bench *b, struct nam_err *err)
{
	const struct verbs_params *p = &b->p;
	for (unsigned s = 0; s < p->sizes; s++)
		for (unsigned d = 0; d < p->depths; d++) {
			struct verbs_point *pt = b->pt + b->n;
			unsigned n = 0;
			for (unsigned op = 0; op < VERBS_OPS; op++) {
				bool word = op == VERBS_CAS || op == VERBS_FAA;
				bool fits = op != VERBS_MESSAGE || p->size[s] <= VERBS_MESSAGE_MAX;
				if (p->op[op] && fits && (!word || p->size[s] == 8))
					pt[n++] = (struct verbs_point){ .op = op,
						.size = p->size[s],
						.depth = p->depth[d],
						.out = bench_verbs_depth(p->size[s], p->depth[d]) };
			}
			b->n += n;
			bench_progress("%u bytes, depth %u", p->size[s], p->depth[d]);
			for (unsigned r = 0; r < p->common.runs; r++)
				if (!turn(b, pt, n, err))
					return atomic_load(&bench_verbs_stop);
		}
	return true;
}

/* ---- the report ---- */

static void
print_cores(const cpu_set_t *set, const char *open, const char *close)
{
	const char *comma = "";
	printf("%s", open);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set)) {
			printf("%s%u", comma, i);
			comma = ",";
		}
	printf("%s", close);
}

static bool
server_known(const struct bench *b, const struct verbs_point *pt)
{
	return pt->op == VERBS_RPC || (pt->op == VERBS_MESSAGE && b->p.common.storage == NULL) ||
	       (b->f != NULL && bench_verbs_fabric_served(b->f));
}

static double
us(const struct verbs_point *pt, double q)
{
	return (double)nam_hist_quantile(&pt->latency_ns, q) / 1e3;
}

/* CPU time in cycles, of a core that runs as fast as its counter counts. */
static double
cycles(const double *ns, const struct verbs_point *pt)
{
	return bench_median(ns, pt->runs) * bench_verbs_ghz();
}

static void
table(const struct bench *b)
{
	printf("%-9s %9s %5s %12s %10s %10s %10s %10s %10s %10s %10s\n", "", "", "", "", "", "", "", "client",
	    "server", "client", "server");
	printf("%-9s %9s %5s %12s %10s %10s %10s %10s %10s %10s %10s\n", "operation", "bytes", "depth",
	    "op/s", "MB/s", "p50 us", "p99 us", "ns/op", "ns/op", "cycles/op", "cycles/op");
	for (unsigned i = 0; i < b->n; i++) {
		const struct verbs_point *pt = &b->pt[i];
		double rate = bench_median(pt->rate, pt->runs);
		if (pt->runs == 0)
			continue;
		printf("%-9s %9u %5u %12.0f %10.2f %10.2f %10.2f %10.0f", op_names[pt->op], pt->size, pt->out,
		    rate, rate * pt->size / 1e6, us(pt, 0.5), us(pt, 0.99),
		    bench_median(pt->client_ns, pt->runs));
		if (server_known(b, pt))
			printf(" %10.0f %10.0f %10.0f\n", bench_median(pt->server_ns, pt->runs),
			    cycles(pt->client_ns, pt), cycles(pt->server_ns, pt));
		else
			printf(" %10s %10.0f %10s\n", "?", cycles(pt->client_ns, pt), "?");
	}
}

static void
points(const struct bench *b)
{
	const char *comma = "";
	for (unsigned i = 0; i < b->n; i++) {
		const struct verbs_point *pt = &b->pt[i];
		double rate = bench_median(pt->rate, pt->runs);
		if (pt->runs == 0)
			continue;
		printf("%s{\"op\": \"%s\", \"bytes\": %u, \"depth\": %u, \"runs\": %u, \"ops_per_s\": %.6g, "
		       "\"mb_per_s\": %.6g, \"p50_us\": %.6g, \"p99_us\": %.6g, \"client_ns_per_op\": %.6g, "
		       "\"client_cycles_per_op\": %.6g",
		    comma, op_names[pt->op], pt->size, pt->out, pt->runs, rate, rate * pt->size / 1e6,
		    us(pt, 0.5), us(pt, 0.99), bench_median(pt->client_ns, pt->runs),
		    cycles(pt->client_ns, pt));
		if (server_known(b, pt))
			printf(", \"server_ns_per_op\": %.6g, \"server_cycles_per_op\": %.6g",
			    bench_median(pt->server_ns, pt->runs), cycles(pt->server_ns, pt));
		printf("}");
		comma = ", ";
	}
}

/* The point of that operation and size at the least or most depth; NULL = it was not measured. */
static const struct verbs_point *
find(const struct bench *b, enum verbs_op op, uint32_t size, bool deep)
{
	const struct verbs_point *best = NULL;
	for (unsigned i = 0; i < b->n; i++) {
		const struct verbs_point *pt = &b->pt[i];
		if (pt->op == op && pt->size == size && pt->runs > 0 &&
		    (best == NULL || (deep ? pt->depth > best->depth : pt->depth < best->depth)))
			best = pt;
	}
	return best;
}

/* READs of 8 bytes beside the peer's answers of as many, run by run; over tcp that is what tcp.c is
 * judged by. */
static void
ratio_metric(const struct bench *b, struct bench_metrics *m)
{
	const struct verbs_point *r = find(b, VERBS_READ, 8, true), *q = find(b, VERBS_RPC, 8, true);
	double ratio[BENCH_RUNS_MAX];
	unsigned n = 0;
	char name[48];
	if (r == NULL || q == NULL)
		return;
	for (; n < r->runs && n < q->runs; n++)
		ratio[n] = r->rate[n] / q->rate[n];
	snprintf(name, sizeof name, "read8_%s_ratio", b->provider);
	bench_metric(m, name, bench_median(ratio, n));
	if (n < RUNS_QUARTILES)
		return;
	double low, high;
	bench_quartiles(ratio, n, &low, &high);
	snprintf(name, sizeof name, "read8_%s_ratio_q1", b->provider);
	bench_metric(m, name, low);
	snprintf(name, sizeof name, "read8_%s_ratio_q3", b->provider);
	bench_metric(m, name, high);
}

/* "8", "4k", "32m": as --size has it. */
static void
size_word(uint32_t size, char out[16])
{
	unsigned unit = size % (1 << 20) == 0 ? 20 : size % (1 << 10) == 0 ? 10 : 0;
	snprintf(out, 16, "%u%s", size >> unit, unit == 20 ? "m" : unit == 10 ? "k" : "");
}

static void
metrics(const struct bench *b, bool json)
{
	struct bench_metrics m = { json, "" };
	uint32_t low = b->p.size[0], high = b->p.size[0];
	uint64_t wrong = 0;
	for (unsigned i = 0; i < b->p.sizes; i++) {
		low = b->p.size[i] < low ? b->p.size[i] : low;
		high = b->p.size[i] > high ? b->p.size[i] : high;
	}
	for (unsigned op = 0; op < VERBS_OPS; op++) {
		const struct verbs_point *deep = find(b, op, low, true), *flat = find(b, op, low, false),
					 *large = find(b, op, high, true);
		char name[64], at[16];
		if (deep == NULL)
			continue;
		size_word(low, at);
		snprintf(name, sizeof name, "%s%s_ops_per_s", op_names[op], at);
		bench_metric(&m, name, bench_median(deep->rate, deep->runs));
		snprintf(name, sizeof name, "%s%s_p50_us", op_names[op], at);
		bench_metric(&m, name, us(flat, 0.5));
		snprintf(name, sizeof name, "%s%s_p99_us", op_names[op], at);
		bench_metric(&m, name, us(flat, 0.99));
		if (large != NULL) {
			size_word(high, at);
			snprintf(name, sizeof name, "%s%s_mb_per_s", op_names[op], at);
			bench_metric(&m, name, bench_median(large->rate, large->runs) * high / 1e6);
		}
	}
	ratio_metric(b, &m);
	for (unsigned i = 0; i < b->n; i++)
		wrong += b->pt[i].wrong;
	bench_metric(&m, "check_errors", (double)wrong);
}

static const char mark[] = "functional, not a performance figure";

static void
report(const struct bench *b)
{
	const struct verbs_params *p = &b->p;
	bool served = b->f != NULL && bench_verbs_fabric_served(b->f);
	const char *node = p->common.storage != NULL ? "storage" : p->embedded ? "embedded" : "own";
	const char *provider = b->provider != NULL ? b->provider : "none";
	bool cut = atomic_load(&bench_verbs_stop);
	if (!p->common.json) {
		printf("verbs over %s (%s node), %u run%s of %g s%s\n", provider, node, p->common.runs,
		    p->common.runs == 1 ? "" : "s", p->common.seconds, cut ? ", interrupted" : "");
		if (b->functional)
			printf("A software RDMA device: %s.\n", mark);
		table(b);
		metrics(b, false);
		print_cores(&b->client_cores, "client on core ", "");
		if (served)
			print_cores(&b->server_cores, ", storage node on core ", "");
		if (b->rpc != NULL)
			print_cores(&b->peer_cores, ", rpc's server on core ", "");
		printf(p->pin_client >= 0 ? ", pinned\n" : "\n");
		return;
	}
	printf("{\"bench\": \"verbs\", \"provider\": \"%s\", \"params\": {\"node\": \"%s\", \"seconds\": %g, "
	       "\"runs\": %u, \"interrupted\": %s, \"pinned\": %s, ",
	    provider, node, p->common.seconds, p->common.runs, cut ? "true" : "false",
	    p->pin_client >= 0 ? "true" : "false");
	if (b->functional)
		printf("\"mark\": \"%s\", ", mark);
	print_cores(&b->client_cores, "\"client_cores\": [", "]");
	if (served)
		print_cores(&b->server_cores, ", \"server_cores\": [", "]");
	if (b->rpc != NULL)
		print_cores(&b->peer_cores, ", \"peer_cores\": [", "]");
	printf("}, \"metrics\": {");
	metrics(b, true);
	printf("}, \"points\": [");
	points(b);
	printf("]}\n");
}

static bool
draw(const struct bench *b)
{
	const struct verbs_params *p = &b->p;
	unsigned low = p->depth[0], high = p->depth[0];
	char title[128];
	for (unsigned i = 0; i < p->depths; i++) {
		low = p->depth[i] < low ? p->depth[i] : low;
		high = p->depth[i] > high ? p->depth[i] : high;
	}
	snprintf(title, sizeof title, "namdb bench verbs, %s%s%s", b->provider != NULL ? b->provider : "rpc",
	    b->functional ? ": " : "", b->functional ? mark : "");
	return bench_verbs_plot(p->common.plot, p->common.plot_data, title, b->pt, b->n, low, high);
}

static nam_status
prepare(struct bench *b, struct nam_err *err)
{
	const struct verbs_params *p = &b->p;
	bool fabric = false;
	for (unsigned op = 0; op < VERBS_RPC; op++)
		fabric |= p->op[op];
	if ((b->pt = calloc(POINTS_MAX, sizeof *b->pt)) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	nam_status st = fabric ? bench_verbs_fabric_open(&b->f, p, err) : NAM_OK;
	if (st == NAM_OK && p->op[VERBS_RPC])
		st = bench_verbs_rpc_open(&b->rpc, p, err);
	if (st != NAM_OK)
		return st;
	if (b->f != NULL) {
		b->provider = net_kind_name(bench_verbs_fabric_kind(b->f));
		b->functional = bench_verbs_fabric_kind(b->f) == NET_VERBS && bench_software_device();
	}
	/* Only now: the threads of net shall not share the core. */
	if (p->pin_client >= 0 && !bench_pin((unsigned)p->pin_client))
		return nam_fail(err, NAM_INVALID, "core %d is not ours to run on: %m", p->pin_client);
	return NAM_OK;
}

int
bench_verbs(int argc, char **argv)
{
	static struct bench b;
	struct nam_err err = { 0 };
	(void)bench_verbs_ghz(); /* from here on it counts */
	int code = options(argc, argv, &b.p);
	if (code != 0)
		return code - 1;
	if (b.p.sim != NULL)
		return bench_verbs_sim(b.p.sim, b.p.common.json);
	if (b.p.common.plot != NULL && !bench_plot_ready(b.p.common.plot))
		return 1;
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND }, before;
	sigaction(SIGINT, &sa, &before);
	bool ok = prepare(&b, &err) == NAM_OK && measure(&b, &err);
	bench_progress_end(NULL);
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	if (b.n > 0) {
		report(&b);
		fflush(stdout);
		ok &= b.p.common.plot == NULL || draw(&b);
	}
	for (unsigned i = 0; i < b.n; i++)
		ok &= b.pt[i].wrong == 0;
	if (b.rpc != NULL)
		bench_verbs_rpc_close(b.rpc);
	if (b.f != NULL)
		bench_verbs_fabric_close(b.f);
	free(b.pt);
	sigaction(SIGINT, &before, NULL);
	return ok ? 0 : 1;
}
