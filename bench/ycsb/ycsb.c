/* ycsb.c -- `namdb bench ycsb`: its options, and a run in a process of its own beside its peers. */
#include "tree.h"

#include <base/number.h>
#include <bench/crew.h>

#include <stdlib.h>
#include <string.h>

#define WARM_SECONDS 0.5

enum { POINTS = BENCH_SIM_POINTS, CLIENTS_MAX = 256, SIM_RECORDS = 100000, LEVELS_MAX = 32 };

/* All of XStore's paper (7.2, 7.3): 100 M keys, 8-byte values, one server with 2 x ConnectX-4 100
 * Gb/s and 24 cores, up to 15 client machines. */
const struct bench_published bench_ycsb_published[] = {
	{ "XStore, uniform", "A 41, B 80, C 82, D 53, E 10.2, F 36 M/s",
	    "2 x ConnectX-4 100 Gb/s, 24 cores" },
	{ "XStore, skewed", "zipf: C 18 % less; D, latest: 48 M/s", "the same" },
	{ "... whole tree cached", "C 78 M/s, D about 25 M/s", "the same" },
	{ "DrTM-Tree", "C about 21 M/s: the server's cores are full",
	    "the same, as XStore's authors ran it" },
	{ 0 },
};

/* ---- options --------------------------------------------------------------------------------- */

enum peer { PEER_ARRAY, PEER_REDIS, PEERS };
static const char *const peer_name[PEERS] = { "array", "redis" };
static bool peer[PEERS];

static bool
word_in(const char *v, const char *const *names, unsigned n, unsigned *out)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(v, names[i]) == 0) {
			*out = i;
			return true;
		}
	return false;
}

bool
bench_ycsb_take(void *params, int letter, char *v)
{
	struct ycsb_params *p = params;
	unsigned x;
	uint64_t n;
	switch (letter) {
	case 'W':
		if (v[0] == '\0' || v[1] != '\0')
			return false;
		p->workload = (unsigned)((v[0] | 32) - 'a');
		return p->workload < YCSB_WORKLOADS;
	case 'N':
		return nam_number(v, YCSB_KEYS_MIN, YCSB_RECORDS_MAX, &p->records);
	case 'D':
		return word_in(v, bench_ycsb_pick_names, YCSB_PICKS, &x) && (p->pick = x, true);
	case 'K':
		return word_in(v, bench_keys_names, YCSB_SETS, &x) && (p->set = x, true);
	case 'F':
		p->keys_file = v;
		return true;
	case 'V':
		if (!nam_number(v, 8, YCSB_VALUE_MAX, &n) || (n != 8 && n != 32 && n != 1024))
			return false;
		p->value = (uint32_t)n;
		return true;
	case 'B':
		return bench_take_numbers(v, 1, YCSB_BATCH_MAX, &p->batch, 1, &x);
	case 'H':
		p->path = strcmp(v, "hash") == 0 ? NULL : &bench_ycsb_tree;
		return p->path == NULL || idx_tree_cache_parse(v, &p->cache);
	case 'L':
		return bench_take_numbers(v, 1, LEVELS_MAX, &p->levels, 1, &x);
	case 'Q':
		return bench_take_numbers(v, 1, IDX_TREE_PARTS, &p->parts, 1, &x);
	case 'O':
		return bench_take_numbers(v, 50, 100, &p->fill, 1, &x);
	case 'T':
		p->bare = strcmp(v, "index") == 0;
		return p->bare || strcmp(v, "txn") == 0;
	default:
		return false;
	}
}

/* YCSB's own: latest for D, zipf for the others. */
static void
choose(struct ycsb_params *p)
{
	if (p->pick == YCSB_PICKS)
		p->pick = p->workload == 3 ? YCSB_LATEST : YCSB_ZIPF;
}

const char *
bench_ycsb_fits(const void *params)
{
	struct ycsb_params *p = &bench_ycsb_params;
	(void)params; /* the same, which the caller does not change */
	choose(p);
	if (p->keys_file != NULL && p->set != YCSB_OSM)
		return "--keys-file goes with --keys osm";
	if (bench_ycsb_percent[p->workload][YCSB_SCAN] > 0 && p->path == NULL)
		return "workload e has scans: --cache hash has no order";
	if (p->levels > 0 && (p->path == NULL || p->cache != IDX_TREE_INNER))
		return "--levels goes with --cache tree";
	if (p->bare &&
	    (p->path == NULL || p->value != 8 ||
		bench_ycsb_percent[p->workload][YCSB_UPDATE] + bench_ycsb_percent[p->workload][YCSB_RMW] > 0))
		return "--through index has values of 8 bytes, in the ordered index, and no updates";
	if (p->pick == YCSB_LATEST && bench_ycsb_percent[p->workload][YCSB_INSERT] == 0)
		return "--distribution latest goes with inserts: workload d or e";
	return NULL;
}

static void
own_usage(FILE *to)
{
	fprintf(to,
	    "  --workload W     a: 50 %% reads, 50 %% updates; b: 95, 5; c: reads (default); d: 95 %% "
	    "reads,\n"
	    "                   5 %% inserts; e: 95 %% scans of 1 to 100 keys, 5 %% inserts; f: 50 %% "
	    "reads,\n"
	    "                   50 %% read-modify-writes. One operation is one transaction\n"
	    "  --records N      keys at first (default 1000000, on a model 100000)\n"
	    "  --distribution D uniform, zipf (0.99, scrambled) or latest (default: zipf, of d latest)\n"
	    "  --keys K         linear, noised, lognormal or osm (default linear)\n"
	    "  --keys-file F    osm: keys from a file instead: a number, and as many 8-byte keys that rise\n"
	    "  --value B        bytes of a value: 8, 32 or 1024 (default 8)\n"
	    "  --batch N        reads in a row that one transaction does, 1 to 8 (default 1)\n"
	    "  --cache C        what a client has of the ordered index: learned (default; models, and the\n"
	    "                   table of leaves), models, ondemand (both, as needed), tree (inner nodes),\n"
	    "                   none, messages (every lookup is one); or hash: the hash index instead\n"
	    "  --levels N       tree: only so many levels from the root down\n"
	    "  --parts N        partitions of the index (default: one on each storage node)\n"
	    "  --fill P         per cent of a leaf that loading fills (default 90)\n"
	    "  --through T      txn (default), or index: the index has the values, and there are no records\n"
	    "                   and no transactions, as in XStore's paper; c, d and e\n");
}

void
bench_ycsb_sim_usage(FILE *to)
{
	fprintf(to, "usage: namdb bench ycsb --sim MODEL [options]\n"
		    "YCSB in virtual time, on machines of a model: xstore, fdr4x or cx6.\n");
	own_usage(to);
	bench_sim_usage(to, "1,8,64", "1+1", "0.005");
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench ycsb [options]\n"
	    "YCSB's six workloads: short transactions on 8-byte keys, beside a sorted array and redis.\n");
	own_usage(to);
	fprintf(to,
	    "  --peer LIST      array: a binary search in this process (workload c, values of 8 bytes);\n"
	    "                   redis: over a UNIX socket, %d commands under way (not e)\n"
	    "  --workers N      worker threads (default 1)\n"
	    "  --clients LIST   clients (coroutines) on each worker, one after the other (default 16)\n"
	    "  --seed N         of keys and clients' dice (default 1)\n",
	    YCSB_PIPELINE);
	bench_common_usage(to, "", "2", "of namdb and peers");
	fprintf(to, "  --sim MODEL      in virtual time instead; see --sim cx6 --help\n");
}

/* ---- a run for real -------------------------------------------------------------------------- */

struct point {
	unsigned clients; /* of each worker */
	double ops[BENCH_RUNS_MAX], array[BENCH_RUNS_MAX], lanes[BENCH_RUNS_MAX], redis[BENCH_RUNS_MAX];
	struct bench_slice sum, warm;
	struct ycsb_path_counts before, after;
	struct net_counts used; /* of all slices, warm-up included */
};

struct real {
	struct bench_common common;
	struct bench_crew crew;
	unsigned number[POINTS], points, most; /* most clients in all */
	struct ycsb_params *p;
	struct ycsb_side side;
	struct ycsb_steps *peer_steps; /* of each worker: those of all its clients */
	struct ycsb_array *array;
	struct ycsb_redis *redis;
	struct net_counts *counts;
	struct bench_sim_plot plot;
	uint64_t bad;
};

static nam_status
prepare(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	nam_status st = bench_ycsb_user.prepare(&r->side, pl);
	return st == NAM_OK ? bench_ycsb_user.load(&r->side, pl) : st;
}

static nam_status
check(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	void *side = &r->side;
	r->bad += bench_ycsb_user.check(&side, 1, pl);
	return NAM_OK;
}

static nam_status
drop(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	bench_ycsb_user.drop(&r->side, pl);
	return NAM_OK;
}

struct counting {
	const struct real *r;
	struct ycsb_path_counts *out;
};

static nam_status
count(const struct cn_place *pl, void *arg)
{
	const struct counting *c = arg;
	return c->r->p->path->counts(c->r->side.path, pl, c->out);
}

static void
path_counts(struct real *r, struct ycsb_path_counts *out)
{
	struct counting c = { .r = r, .out = out };
	if (r->p->path != NULL)
		r->bad += bench_crew_one(&r->crew, count, &c) != NAM_OK;
}

/* A number of clients: warm-up, then namdb and its peers in turn. */
static void
measure(struct real *r, struct point *pt)
{
	const struct bench_common *c = &r->common;
	struct net_counts none = { 0 };
	for (unsigned i = 0; i < r->most; i++)
		r->counts[i] = none;
	r->crew.clients = pt->clients;
	bench_crew_slice(&r->crew, 0, c->seconds < WARM_SECONDS ? c->seconds : WARM_SECONDS, &pt->warm);
	path_counts(r, &pt->before);
	for (unsigned k = 0; k < c->runs && pt->warm.errors + pt->sum.errors + r->bad == 0; k++) {
		pt->ops[k] = bench_crew_slice(&r->crew, k + 1, c->seconds, &pt->sum);
		fprintf(stderr, "run %u of %u: %.0f/s", k + 1, c->runs, pt->ops[k]);
		if (r->array != NULL) {
			pt->array[k] = bench_array_run(
			    r->array, r->peer_steps, r->crew.workers, c->seconds, false, &r->bad);
			pt->lanes[k] = bench_array_run(
			    r->array, r->peer_steps, r->crew.workers, c->seconds, true, &r->bad);
			fprintf(stderr, ", array %.0f/s, interleaved %.0f/s", pt->array[k], pt->lanes[k]);
		}
		if (r->redis != NULL) {
			pt->redis[k] = bench_redis_run(r->redis, r->peer_steps, c->seconds, &r->bad);
			fprintf(stderr, ", redis %.0f/s", pt->redis[k]);
		}
		fputc('\n', stderr);
	}
	path_counts(r, &pt->after);
	for (unsigned i = 0; i < r->crew.workers * pt->clients; i++)
		net_counts_add(&pt->used, &r->counts[i]);
	r->bad += pt->warm.errors + pt->sum.errors;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* The median of the ratios of each run. */
static void
beside(struct bench_metrics *m, const struct real *r, const char *what, const double *ops,
    const double *peer_ops)
{
	double ratio[BENCH_RUNS_MAX] = { 0 };
	char name[64];
	for (unsigned k = 0; k < r->common.runs; k++)
		ratio[k] = peer_ops[k] > 0 ? ops[k] / peer_ops[k] : 0;
	snprintf(name, sizeof name, "peer_%s_ops", what);
	bench_metric(m, name, bench_median(peer_ops, r->common.runs));
	snprintf(name, sizeof name, "peer_%s_ratio", what);
	bench_metric(m, name, bench_median(ratio, r->common.runs));
}

static void
metrics(const struct real *r, const struct point *pt)
{
	struct bench_metrics m = { .json = r->common.json, .comma = "" };
	const struct bench_slice *s = &pt->sum;
	double ops = s->commits != 0 ? (double)s->commits : 1, ever = ops + (double)pt->warm.commits;
	bench_metric(&m, "operations", (double)s->commits);
	bench_metric(&m, "throughput_ops", bench_median(pt->ops, r->common.runs));
	bench_metric_latency(&m, s);
	bench_metric(&m, "aborts_per_op", (double)s->aborts / ops);
	bench_metric(&m, "not_yet_seen_per_op", (double)s->refused / ops);
	bench_metric(&m, "verbs_per_op", (double)net_counts_verbs(&pt->used) / ever);
	bench_metric(&m, "round_trips_per_op", (double)pt->used.round_trips / ever);
	if (r->p->path != NULL) {
		const struct ycsb_path_counts *a = &pt->before, *b = &pt->after;
		double lookups = b->lookups > a->lookups ? (double)(b->lookups - a->lookups) : 1;
		bench_metric(
		    &m, "index_reads_per_lookup", (double)(b->index_reads - a->index_reads) / lookups);
		bench_metric(&m, "fallbacks_per_op", (double)(b->fallbacks - a->fallbacks) / ops);
		bench_metric(
		    &m, "retrains_per_s", s->seconds > 0 ? (double)(b->trains - a->trains) / s->seconds : 0);
		bench_metric(&m, "cache_bytes", (double)b->cache_bytes);
		bench_metric(&m, "table_bytes", (double)b->table_bytes);
		bench_metric(&m, "inner_bytes", (double)b->inner_bytes);
	}
	if (r->array != NULL) {
		beside(&m, r, "array", pt->ops, pt->array);
		beside(&m, r, "array_interleaved", pt->ops, pt->lanes);
	}
	if (r->redis != NULL)
		beside(&m, r, "redis", pt->ops, pt->redis);
	bench_metric(&m, "check_errors", (double)r->bad);
}

static void
report(struct real *r, const struct point *pt)
{
	const struct bench_common *c = &r->common;
	const struct ycsb_params *p = r->p;
	const char *provider = c->storage != NULL ? net_kind_name(c->fabric) : "shm";
	const char *cache = p->path != NULL ? idx_tree_cache_name(p->cache) : "hash";
	if (c->json)
		printf("{\"bench\": \"ycsb\", \"provider\": \"%s\", \"params\": {\"workload\": \"%c\", "
		       "\"records\": %llu, \"distribution\": \"%s\", \"keys\": \"%s\", \"value\": %u, "
		       "\"batch\": %u, \"cache\": \"%s\", \"through\": \"%s\", \"workers\": %u, \"seconds\": "
		       "%g, \"runs\": %u, "
		       "\"embedded\": %s}, %s",
		    provider, 'a' + (int)p->workload, (unsigned long long)p->records,
		    bench_ycsb_pick_names[p->pick], bench_keys_names[p->set], p->value, p->batch, cache,
		    p->bare ? "index" : "txn", r->crew.workers, c->seconds, c->runs,
		    c->storage != NULL ? "false" : "true", r->points > 1 ? "\"points\": [" : "");
	else
		printf("ycsb %c, %llu %s keys, values of %u bytes, %s, --cache %s, %s, %u worker%s, %u "
		       "run%s of %g s\n",
		    'A' + (int)p->workload, (unsigned long long)p->records, bench_keys_names[p->set],
		    p->value, bench_ycsb_pick_names[p->pick], cache,
		    c->storage != NULL ? provider : "embedded shm", r->crew.workers,
		    r->crew.workers > 1 ? "s" : "", c->runs, c->runs > 1 ? "s" : "", c->seconds);
	for (unsigned i = 0; i < r->points; i++) {
		if (c->json)
			printf("%s%s\"clients\": %u, \"metrics\": {", i > 0 ? ", " : "",
			    r->points > 1 ? "{" : "", pt[i].clients);
		else
			printf("%u clients on each worker\n", pt[i].clients);
		metrics(r, &pt[i]);
		printf("%s", !c->json ? "" : r->points > 1 ? "}}" : "}");
		struct bench_sim_plot_row *row = bench_sim_plot_add(&r->plot, pt[i].clients, "");
		row->per_s = bench_median(pt[i].ops, c->runs);
		row->p50_us = (double)nam_hist_quantile(&pt[i].sum.latency_ns, 0.5) / 1e3;
		row->p99_us = (double)nam_hist_quantile(&pt[i].sum.latency_ns, 0.99) / 1e3;
	}
	printf("%s", !c->json ? "" : r->points > 1 ? "], " : ", ");
	bench_published(stdout, bench_ycsb_published, c->json);
	printf("%s", c->json ? "}\n" : "");
	fflush(stdout); /* the figures are out, whatever closing may meet */
}

/* ---- all of a run ---------------------------------------------------------------------------- */

/* A peer must not find more in the processor's cache than namdb does: so it gets the steps of all
 * clients, as many keys as they ask for together. */
static bool
steps_for_peers(struct real *r)
{
	const struct ycsb_steps *from = r->p->steps;
	r->peer_steps = calloc(r->crew.workers, sizeof *r->peer_steps);
	for (unsigned w = 0; r->peer_steps != NULL && w < r->crew.workers; w++) {
		struct ycsb_steps *to = &r->peer_steps[w];
		to->latest = from[0].latest;
		for (unsigned i = w; i < r->most; i += r->crew.workers)
			to->n += from[i].n;
		to->step = malloc(to->n * sizeof *to->step);
		if (to->step == NULL)
			return false;
		unsigned at = 0;
		for (unsigned i = w; i < r->most; at += from[i].n, i += r->crew.workers)
			memcpy(to->step + at, from[i].step, from[i].n * sizeof *to->step);
	}
	return r->peer_steps != NULL;
}

/* What must be there before there are threads: keys, steps and peers. */
static nam_status
before_threads(struct real *r, struct nam_err *err)
{
	struct ycsb_params *p = r->p;
	nam_status st = bench_keys_open(&p->keys, p->set, p->records, p->seed, p->keys_file, err);
	bench_items_init(&p->items, p->records);
	for (unsigned i = 0; i < r->points; i++)
		r->most = r->number[i] * r->crew.workers > r->most ? r->number[i] * r->crew.workers : r->most;
	r->counts = calloc(r->most, sizeof *r->counts);
	if (st == NAM_OK && (r->counts == NULL || bench_ycsb_draw_all(p, r->most) != NAM_OK))
		st = nam_fail(err, NAM_NOMEM, "no memory for the clients' steps");
	if (st == NAM_OK && (peer[PEER_ARRAY] || peer[PEER_REDIS]) && !steps_for_peers(r))
		st = nam_fail(err, NAM_NOMEM, "no memory for the peers' steps");
	if (st == NAM_OK && peer[PEER_ARRAY])
		st = bench_array_open(&r->array, &p->keys, err);
	if (st == NAM_OK && peer[PEER_REDIS])
		st = bench_redis_open(&r->redis, &p->keys, p->value, r->crew.workers, err);
	return st;
}

static nam_status
load_and_measure(struct real *r, struct nam_err *err)
{
	struct point *pt = calloc(r->points, sizeof *pt);
	nam_status st = pt != NULL ? NAM_OK : nam_fail(err, NAM_NOMEM, "no memory");
	if (st == NAM_OK) {
		const struct bench_sim b = { .seed = r->p->seed };
		bench_ycsb_user.begin(&r->side, &b, 0, r->counts);
		if ((st = bench_crew_one(&r->crew, prepare, r)) != NAM_OK)
			nam_fail(err, st, "loading failed: %s", nam_status_text(st));
	}
	if (st == NAM_OK) {
		for (unsigned i = 0; i < r->points && r->bad == 0; i++) {
			pt[i].clients = r->number[i];
			measure(r, &pt[i]);
		}
		if (bench_crew_one(&r->crew, check, r) != NAM_OK)
			r->bad++;
		report(r, pt);
	}
	bench_crew_one(&r->crew, drop, r);
	free(pt);
	return st;
}

static int
run(struct real *r)
{
	struct nam_err err = { 0 };
	struct bench_tree_hosts hosts = { 0 };
	struct bench_crew *w = &r->crew;
	const struct bench_common *c = &r->common;
	w->client = bench_ycsb_user.client;
	w->side = &r->side;
	nam_status st = before_threads(r, &err);
	if (st == NAM_OK)
		st = bench_crew_storage(w, c, bench_ycsb_user.bytes(r->p), &err);
	if (st == NAM_OK && c->storage == NULL && r->p->path != NULL)
		st = bench_tree_host(&hosts, &w->embedded, &err);
	if (st == NAM_OK)
		st = bench_crew_open(w, c, 0, bench_ycsb_user.entries(r->p), &err);
	if (st == NAM_OK)
		st = load_and_measure(r, &err);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	bench_crew_close(w);
	bench_tree_unhost(&hosts);
	bench_redis_close(r->redis);
	bench_array_close(r->array);
	for (unsigned i = 0; r->peer_steps != NULL && i < w->workers; i++)
		free(r->peer_steps[i].step);
	free(r->peer_steps);
	bench_ycsb_undraw(r->p);
	bench_keys_close(&r->p->keys);
	free(r->counts); /* only now has the last commit been finished */
	return st == NAM_OK && r->bad == 0 && bench_sim_plot_end(&r->plot) ? 0 : 1;
}

static bool
take(void *arg, int letter, char *v)
{
	struct real *r = arg;
	uint64_t x;
	switch (letter) {
	case 'w':
		if (!nam_number(v, 1, BENCH_CREW_WORKERS, &x))
			return false;
		r->crew.workers = (unsigned)x;
		return true;
	case 'C':
		return bench_take_numbers(v, 1, CLIENTS_MAX, r->number, POINTS, &r->points);
	case 'e':
		return nam_number(v, 0, UINT32_MAX, &r->p->seed);
	case 'P':
		return bench_take_names(v, peer_name, PEERS, peer);
	default:
		return bench_ycsb_take(r->p, letter, v);
	}
}

/* NULL, or why the options do not fit each other. */
static const char *
fits(const struct real *r)
{
	const struct ycsb_params *p = r->p;
	if (r->common.fabric == NET_TCP && r->common.storage == NULL)
		return "--fabric tcp needs --storage: embedded storage is memory of this process";
	if (peer[PEER_ARRAY] && (p->workload != 2 || p->value != 8))
		return "--peer array only reads values of 8 bytes: workload c";
	if (peer[PEER_REDIS] && bench_ycsb_percent[p->workload][YCSB_SCAN] > 0)
		return "--peer redis is GET and SET: workload e has scans";
	return bench_ycsb_fits(p);
}

#define OWN_OPTIONS                                                                                          \
	{ "workload", 1, NULL, 'W' }, { "records", 1, NULL, 'N' }, { "distribution", 1, NULL, 'D' },         \
	    { "keys", 1, NULL, 'K' }, { "keys-file", 1, NULL, 'F' }, { "value", 1, NULL, 'V' },              \
	    { "batch", 1, NULL, 'B' }, { "cache", 1, NULL, 'H' }, { "levels", 1, NULL, 'L' },                \
	    { "parts", 1, NULL, 'Q' }, { "fill", 1, NULL, 'O' },                                             \
	{                                                                                                    \
		"through", 1, NULL, 'T'                                                                      \
	}

static int
on_model(int argc, char **argv)
{
	static const struct option opt[] = { OWN_OPTIONS, BENCH_SIM_OPTIONS };
	struct bench_sim p = { .number = { 1, 8, 64 },
		.points = 3,
		.coroutines = 1,
		.compute = 1,
		.storage = 1,
		.seconds = 0.005,
		.seed = 1 };
	bench_ycsb_params.records = SIM_RECORDS;
	int code = bench_sim_main(argc, argv, opt, &p, &bench_ycsb_params, &bench_ycsb_user);
	bench_ycsb_undraw(&bench_ycsb_params);
	bench_keys_close(&bench_ycsb_params.keys);
	return code;
}

int
bench_ycsb(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0)
			return on_model(argc, argv);
	static const struct option opt[] = { OWN_OPTIONS, { "peer", 1, NULL, 'P' },
		{ "workers", 1, NULL, 'w' }, { "clients", 1, NULL, 'C' }, { "seed", 1, NULL, 'e' },
		BENCH_COMMON_OPTIONS };
	struct real r = { .common = { .seconds = 2, .runs = 3, .fabric = NET_AUTO },
		.crew = { .workers = 1 },
		.number = { 16 },
		.points = 1,
		.p = &bench_ycsb_params };
	int code = bench_options(argc, argv, opt, &r.common, take, usage, &r);
	if (code != 0)
		return code - 1;
	const char *why = fits(&r);
	if (why != NULL)
		return bench_bad_use(argv[0], why) - 1;
	r.plot.file = r.common.plot;
	r.plot.keep_data = r.common.plot_data;
	r.plot.x = "clients on each worker";
	snprintf(r.plot.title, sizeof r.plot.title, "YCSB %c, %llu %s keys, %s", 'A' + (int)r.p->workload,
	    (unsigned long long)r.p->records, bench_keys_names[r.p->set], bench_ycsb_pick_names[r.p->pick]);
	if (!bench_sim_plot_ready(&r.plot))
		return 1;
	return run(&r);
}
