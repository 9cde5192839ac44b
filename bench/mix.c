/* mix.c -- runs a mix of short transactions on a compute node and prints the results; or hands it
 * over to the model. */
#include "mix.h"

#include <base/number.h>
#include <bench/crew.h>

#include <stdlib.h>
#include <string.h>

#define WARM_SECONDS 0.5
enum { OPTIONS_MAX = 32 };

struct real {
	struct bench_common common;
	struct bench_crew crew;
	uint64_t seed;
	void *params;
	const struct bench_sim_user *u;
	struct net_counts *counts;
	uint64_t bad;
};

static nam_status
prepare(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	nam_status st = r->u->prepare(r->crew.side, pl);
	return st == NAM_OK ? r->u->load(r->crew.side, pl) : st;
}

static nam_status
check(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	r->bad += r->u->check(&r->crew.side, 1, pl);
	return NAM_OK;
}

static nam_status
drop(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	r->u->drop(r->crew.side, pl);
	return NAM_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void
report(const struct real *r, const struct bench_slice *sum, double tps, const struct net_counts *used,
    uint64_t ever)
{
	const struct bench_common *c = &r->common;
	const char *provider = c->storage != NULL ? net_kind_name(c->fabric) : "shm";
	struct bench_metrics m = { .json = c->json, .comma = "" };
	if (c->json)
		printf("{\"bench\": \"%s\", \"provider\": \"%s\", \"params\": {\"workers\": %u, \"clients\": "
		       "%u, \"seconds\": %g, \"runs\": %u, \"embedded\": %s}, \"metrics\": {",
		    r->u->bench, provider, r->crew.workers, r->crew.clients, c->seconds, c->runs,
		    c->storage != NULL ? "false" : "true");
	else
		printf("%s, %s, %u worker%s x %u clients, %u run%s of %g s\n", r->u->bench,
		    c->storage != NULL ? provider : "embedded shm", r->crew.workers,
		    r->crew.workers > 1 ? "s" : "", r->crew.clients, c->runs, c->runs > 1 ? "s" : "",
		    c->seconds);
	double commits = sum->commits != 0 ? (double)sum->commits : 1, all = ever != 0 ? (double)ever : 1;
	bench_metric(&m, "commits", (double)sum->commits);
	bench_metric(&m, "throughput_tps", tps);
	bench_metric_latency(&m, sum);
	bench_metric(&m, "aborts_per_txn", (double)sum->aborts / commits);
	bench_metric(&m, "refused_per_txn", (double)sum->refused / commits);
	bench_metric(&m, "verbs_per_txn", (double)net_counts_verbs(used) / all);
	bench_metric(&m, "round_trips_per_txn", (double)used->round_trips / all);
	bench_metric(&m, "bytes_out_per_txn", (double)used->bytes_out / all);
	bench_metric(&m, "bytes_in_per_txn", (double)used->bytes_in / all);
	bench_metric(&m, "check_errors", (double)r->bad);
	printf("%s", c->json ? "}, " : "");
	bench_published(stdout, r->u->published, c->json);
	printf("%s", c->json ? "}\n" : "");
	fflush(stdout); /* the figures are out, whatever closing may meet */
}

void
bench_mix_more(const struct bench_sim_point *at, const struct bench_sim *p)
{
	if (at == NULL) {
		printf("%6s %8s  ", "trips", "refused");
		return;
	}
	double commits = at->sum.commits != 0 ? (double)at->sum.commits : 1;
	double trips = at->ever != 0 ? (double)at->sum.counts.round_trips / (double)at->ever : 0;
	printf(p->json ? "\"round_trips_per_txn\": %.2f, \"refused_per_txn\": %.5f, " : "%6.2f %8.4f  ",
	    trips, (double)at->sum.refused / commits);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* The time measured, and what follows it. */
static void
measure(struct real *r)
{
	static struct bench_slice warm, sum;
	double tps[BENCH_RUNS_MAX];
	unsigned runs = 0;
	bench_crew_slice(&r->crew, 0, WARM_SECONDS, &warm);
	while (runs < r->common.runs && warm.errors + sum.errors == 0) {
		tps[runs] = bench_crew_slice(&r->crew, runs + 1, r->common.seconds, &sum);
		runs++;
		fprintf(stderr, "run %u of %u: %.0f/s\n", runs, r->common.runs, tps[runs - 1]);
	}
	if (bench_crew_one(&r->crew, check, r) != NAM_OK)
		r->bad++;
	r->bad += warm.errors + sum.errors;
	struct net_counts used = { 0 };
	/* Commits are finished behind their answers: a few of the last ones are not counted yet. */
	for (unsigned i = 0; i < r->crew.workers * r->crew.clients; i++)
		net_counts_add(&used, &r->counts[i]);
	report(
	    r, &sum, bench_median(tps, runs), &used, warm.commits + warm.refused + sum.commits + sum.refused);
}

static int
run(struct real *r)
{
	struct nam_err err = { 0 };
	struct bench_crew *w = &r->crew;
	w->client = r->u->client;
	w->side = calloc(1, r->u->side_size);
	r->counts = calloc((size_t)w->workers * w->clients, sizeof *r->counts);
	nam_status st =
	    w->side != NULL && r->counts != NULL ? NAM_OK : nam_fail(&err, NAM_NOMEM, "no memory");
	if (st == NAM_OK)
		st = bench_crew_storage(w, &r->common, r->u->bytes(r->params), &err);
	if (st == NAM_OK)
		st = bench_crew_open(w, &r->common, 0, r->u->entries(r->params), &err);
	if (st == NAM_OK) {
		const struct bench_sim b = { .seed = r->seed };
		r->u->begin(w->side, &b, 0, r->counts);
		st = bench_crew_one(w, prepare, r);
		if (st != NAM_OK)
			nam_fail(&err, st, "loading failed: %s", nam_status_text(st));
		else
			measure(r);
		if (r->common.storage != NULL)
			bench_crew_one(w, drop, r);
	}
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	bench_crew_close(w);
	free(r->counts); /* only now has the last commit been finished */
	free(w->side);
	return st == NAM_OK && r->bad == 0 ? 0 : 1;
}

/* ---- options --------------------------------------------------------------------------------- */

void
bench_mix_usage(FILE *to)
{
	fprintf(to, "For real:\n"
		    "  --workers N      worker threads (default 1)\n"
		    "  --clients N      clients (coroutines) on each worker (default 16)\n"
		    "  --seconds S      length of each run (default 2)\n"
		    "  --runs N         runs; the median is reported (default 1)\n"
		    "  --fabric P       auto, shm, verbs or tcp; with --storage (default auto)\n"
		    "  --storage LIST   storage nodes host:port,...; default: three in this process\n"
		    "  --cluster NAME, --secret-file F   as for namdb sql\n"
		    "  --seed N         of the clients' dice (default 1)\n"
		    "  --json           one object on stdout\n"
		    "  --sim MODEL      in virtual time on machines of a model instead: fdr4x, cx6 or\n"
		    "                   xstore. Then:\n");
	bench_sim_usage(to, "1,8,64", "1+2", "0.005");
}

static bool
take(void *arg, int letter, char *v)
{
	struct real *r = arg;
	uint64_t x;
	switch (letter) {
	case 'w':
		if (!nam_number(v, 1, 32, &x))
			return false;
		r->crew.workers = (unsigned)x;
		return true;
	case 'C':
		if (!nam_number(v, 1, 256, &x))
			return false;
		r->crew.clients = (unsigned)x;
		return true;
	case 'e':
		return nam_number(v, 0, UINT64_MAX / 2, &r->seed);
	default:
		return r->u->take(r->params, letter, v);
	}
}

static const struct bench_sim_user *asked_for; /* whose usage is to be printed */

static void
usage(FILE *to)
{
	asked_for->usage(to);
}

/* The bench's own options, then others, in one list. */
static void
together(struct option out[OPTIONS_MAX], const struct option *own, const struct option *others)
{
	unsigned n = 0;
	while (own->name != NULL)
		out[n++] = *own++;
	do
		out[n++] = *others;
	while (others++->name != NULL);
}

int
bench_mix_main(int argc, char **argv, const struct option *own, void *params, const struct bench_sim_user *u)
{
	static const struct option sim[] = { BENCH_SIM_OPTIONS }, real[] = { { "workers", 1, NULL, 'w' },
		{ "clients", 1, NULL, 'C' }, { "seed", 1, NULL, 'e' }, { "seconds", 1, NULL, 't' },
		{ "runs", 1, NULL, 'r' }, { "fabric", 1, NULL, 'f' }, { "storage", 1, NULL, 'S' },
		{ "cluster", 1, NULL, 'c' }, { "secret-file", 1, NULL, 'k' }, { "json", 0, NULL, 'j' },
		{ "help", 0, NULL, 'h' }, { 0 } };
	struct option all[OPTIONS_MAX];
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0) {
			struct bench_sim p = { .number = { 1, 8, 64 },
				.points = 3,
				.coroutines = 1,
				.compute = 1,
				.storage = 2,
				.seconds = 0.005,
				.seed = 1 };
			together(all, own, sim);
			return bench_sim_main(argc, argv, all, &p, params, u);
		}
	struct real r = { .common = { .seconds = 2, .runs = 1, .fabric = NET_AUTO },
		.crew = { .workers = 1, .clients = 16 },
		.seed = 1,
		.params = params,
		.u = u };
	together(all, own, real);
	asked_for = u;
	int code = bench_options(argc, argv, all, &r.common, take, usage, &r);
	if (code != 0)
		return code - 1;
	const char *why = u->fits != NULL ? u->fits(params) : NULL;
	if (why == NULL && r.common.fabric == NET_TCP && r.common.storage == NULL)
		why = "--fabric tcp needs --storage: embedded storage is memory of this process";
	if (why != NULL)
		return bench_bad_use(u->bench, why) - 1;
	return run(&r);
}
