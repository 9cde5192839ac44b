/* tpcw.c -- runs the checkout, its memory floor and its peer side by side, and prints the
 * results. */
#include "tpcw.h"

#include <base/clock.h>
#include <bench/bench.h>
#include <bench/jobs.h>
#include <net/region_format.h>
#include <net/secret.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FLOOR_APPEND = 512 << 20, WARM_SECONDS = 1, COLLECT_US = 300000 };

void
tpcw_product_fill(struct tpcw_product *r, int64_t id)
{
	*r = (struct tpcw_product){ .id = id, .stock = TPCW_STOCK, .price_cents = 100 + id % 9900 };
	memcpy(r->title, "product ", 8);
	for (unsigned i = 0; i < TPCW_DESCRIPTION; i++)
		r->description[i] = (char)('a' + (id + i) % 26);
}

void
tpcw_cart_fill(struct tpcw_cart *c, struct nam_rng *r, const struct tpcw_params *p, int64_t order)
{
	c->order = order;
	c->customer = (int64_t)nam_rng_below(r, 100000);
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
again:
		c->product[i] = (int64_t)nam_rng_below(r, p->products);
		for (unsigned k = 0; k < i; k++)
			if (c->product[k] == c->product[i])
				goto again;
		c->quantity[i] = 1 + (int64_t)nam_rng_below(r, 3);
	}
}

/* ---- coroutines on workers, and a thread that waits for them ---- */

struct job {
	struct bench_job job;
	struct tpcw_side *side;
	enum { JOB_PREPARE, JOB_LOAD, JOB_CLIENT, JOB_CHECK, JOB_FINISH, JOB_FLOOR } what;
	struct tpcw_floor *floor;
	unsigned number;
	uint64_t from, to;
	_Atomic uint64_t *done;
	const atomic_bool *stop;
	struct bench_slice slice;
	double cpu_began, cpu_ended; /* of its worker's thread */
	nam_status status;
	uint64_t bad;
};

/* The floor runs on memory of the storage nodes themselves, where it is mapped here. No memory, no
 * floor. */
static nam_status
floor_memory(struct tpcw_floor *f, const struct cn_place *pl, const struct tpcw_params *p)
{
	uint64_t product = (p->products * 1024 + NET_EXTENT - 1) / NET_EXTENT,
		 append = FLOOR_APPEND / NET_EXTENT;
	net_addr at[2];
	unsigned region[NET_REGIONS], n = txn_db_regions(txn_worker_db(pl->txn), region, NET_REGIONS);
	if (net_direct(pl->net, net_at(region[0], 0), 8) == NULL)
		return NAM_UNSUPPORTED; /* before it takes memory that it cannot use */
	nam_status st = net_extent_take(pl->net, region[0], (unsigned)product, &at[0]);
	if (st == NAM_OK)
		st = net_extent_take(pl->net, region[n - 1], (unsigned)append, &at[1]);
	if (st != NAM_OK)
		return st;
	f->product = (char *)(uintptr_t)net_direct(pl->net, at[0], product * NET_EXTENT);
	f->append = (char *)(uintptr_t)net_direct(pl->net, at[1], append * NET_EXTENT);
	if (f->product == NULL || f->append == NULL) {
		f->product = NULL;
		return NAM_UNSUPPORTED;
	}
	f->products = p->products;
	f->append_bytes = append * NET_EXTENT;
	memset(f->product, 1, product * NET_EXTENT);
	memset(f->append, 1, append * NET_EXTENT);
	return NAM_OK;
}

static double
thread_cpu_seconds(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
job_main(const struct cn_place *pl, void *arg)
{
	struct job *j = arg;
	const struct tpcw_ops *ops = j->side->ops;
	switch (j->what) {
	case JOB_PREPARE:
		j->status = ops->prepare(j->side, pl);
		break;
	case JOB_LOAD:
		j->status = ops->load(j->side, pl, j->from, j->to, j->done);
		break;
	case JOB_CLIENT:
		j->cpu_began = thread_cpu_seconds();
		ops->client(j->side, pl, j->number, &j->slice, j->stop);
		j->cpu_ended = thread_cpu_seconds();
		break;
	case JOB_CHECK:
		j->bad = ops->check(j->side, pl);
		break;
	case JOB_FINISH:
		ops->finish(j->side, pl);
		break;
	case JOB_FLOOR:
		j->status = floor_memory(j->floor, pl, j->side->p);
		break;
	}
}

static nam_status
start(struct cn *cn, struct bench_jobs *g, unsigned worker, struct job *j)
{
	j->job.run = job_main;
	j->job.arg = j;
	return bench_job_start(cn, g, worker, &j->job);
}

static nam_status
one(struct cn *cn, struct bench_jobs *g, struct job *j)
{
	nam_status st = start(cn, g, 0, j);
	if (st != NAM_OK)
		return st;
	bench_jobs_wait(g, 0);
	return j->status;
}

/* ---- a slice of the measurement ---- */

static double
cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* CPU time of the clients' workers, from the first client's begin to the last one's end. */
static double
workers_cpu(const struct job *j, unsigned clients, unsigned workers)
{
	double all = 0;
	for (unsigned w = 0; w < workers; w++) {
		double began = j[w].cpu_began, ended = j[w].cpu_ended;
		for (unsigned i = w; i < clients; i += workers) {
			began = j[i].cpu_began < began ? j[i].cpu_began : began;
			ended = j[i].cpu_ended > ended ? j[i].cpu_ended : ended;
		}
		all += ended - began;
	}
	return all;
}

/* What clients did, and the CPU time of their workers. */
struct clients {
	struct bench_slice did;
	double cpu_seconds;
};

static double
slice(struct cn *cn, struct bench_jobs *g, struct tpcw_side *side, double seconds, struct clients *all)
{
	struct bench_slice *sum = &all->did;
	const struct tpcw_params *p = side->p;
	unsigned n = p->workers * p->clients;
	struct job *j = calloc(n, sizeof *j);
	atomic_bool stop = false;
	if (j == NULL)
		return 0;
	double cpu = cpu_seconds();
	uint64_t begin = nam_clock_ns();
	for (unsigned i = 0; i < n; i++) {
		j[i] = (struct job){ .side = side, .what = JOB_CLIENT, .number = i, .stop = &stop };
		j[i].slice.most =
		    p->transactions != 0 ? p->transactions / n + (i < p->transactions % n) : UINT64_MAX;
		if (start(cn, g, i % p->workers, &j[i]) != NAM_OK)
			sum->errors++;
	}
	/* By time, before that only when the memory is full; or when all have done their share. */
	bench_jobs_wait(g, p->transactions != 0 ? 0 : (unsigned)(seconds * 1e3));
	atomic_store(&stop, true);
	bench_jobs_wait(g, 0);
	double took = (double)(nam_clock_ns() - begin) / 1e9;
	sum->cpu_seconds += cpu_seconds() - cpu;
	uint64_t commits = 0;
	for (unsigned i = 0; i < n; i++) {
		commits += j[i].slice.commits;
		bench_slice_add(sum, &j[i].slice);
	}
	all->cpu_seconds += workers_cpu(j, n, p->workers);
	free(j);
	return (double)commits / took;
}

/* ---- embedded storage ---- */

static nam_status
embed(struct bench_embedded *e, const struct tpcw_params *p, struct nam_err *err)
{
	/* Products take 2.1 KiB each (two versions), a checkout leaves 1.7 KiB; no core does more
	 * than 500,000 a second. */
	unsigned slices = p->runs * (p->beside != TPCW_NOTHING ? 2 : 1);
	double seconds = p->seconds * slices + WARM_SECONDS;
	double commits = p->transactions != 0 ? (double)p->transactions * (slices + 1)
					      : seconds * p->workers * (p->sql ? 200e3 : 500e3);
	/* A snapshot that stays holds back a version of each product that a checkout changes. */
	double each = p->beside != TPCW_NOTHING && p->transactions != 0 ? 1700 + TPCW_ITEMS * 1100 : 1700;
	double total = (double)p->products * 2300 + commits * each;
	/* The floor's products lie on one node. */
	uint64_t size =
	    ((uint64_t)(total / BENCH_EMBEDDED_NODES) + p->products * 1024 + FLOOR_APPEND / 2 + (64u << 20)) /
	    NET_EXTENT * NET_EXTENT;
	return bench_embedded_open(e, size, p->cluster, err);
}

/* ---- options ---- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcw [options]\n"
	    "The checkout of the NAM paper's section 4.3: read 3 products, insert 1 order and 3 lines, "
	    "update 3 stocks.\n"
	    "  --workers N      worker threads (default 1)\n"
	    "  --clients N      clients (coroutines) on each worker (default 16)\n"
	    "  --api native|sql transactions directly, or prepared SQL statements (default native)\n"
	    "  --snapshot       native: read at a snapshot, as a transaction must that does not change all "
	    "it\n"
	    "                   reads (default: the newest versions, checked at the commit)\n"
	    "  --seconds S      length of each run (default 5)\n"
	    "  --transactions N a run ends when N have committed, however long that takes\n"
	    "  --runs N         runs, interleaved with floor and peer; medians are reported (default 1)\n"
	    "  --products N     products of about 1 KB (default 1000000)\n"
	    "  --fabric P       auto, shm, verbs or tcp; with --storage (default auto)\n"
	    "  --storage LIST   storage nodes host:port,...; default: three in this process\n"
	    "  --cluster NAME, --secret-file F   as for namdb sql\n"
	    "  --seed N         of the carts (default 1)\n"
	    "  --peer sqlite    the same transaction on SQLite in memory, in turn with ours\n"
	    "  --beside LOAD    each run once more, beside another worker. It asks questions in SQL again "
	    "and\n"
	    "                   again, at one snapshot: products, sales (orders and their lines), all; "
	    "holds\n"
	    "                   a snapshot alone: snapshot; reads memory: memory. With --api sql\n"
	    "  --json           one object on stdout\n"
	    "  --sim MODEL      in virtual time on a model of machines; see --sim fdr4x --help\n"
	    "  --protocol 2pc-tcp|2pc-messages   two-phase commit instead; see --protocol 2pc-tcp --help\n");
}

static bool
number(const char *s, double min, double max, double *out)
{
	char *end;
	errno = 0;
	*out = strtod(s, &end);
	return errno == 0 && end != s && *end == 0 && *out >= min && *out <= max;
}

enum {
	O_WORKERS = 256,
	O_CLIENTS,
	O_API,
	O_SECONDS,
	O_TRANSACTIONS,
	O_RUNS,
	O_PRODUCTS,
	O_FABRIC,
	O_STORAGE,
	O_CLUSTER,
	O_SECRET,
	O_PEER,
	O_JSON,
	O_SEED,
	O_SNAPSHOT,
	O_BESIDE
};

/* Takes the value of option c. False if it is wrong. */
static bool
option(int c, const char *value, struct tpcw_params *p)
{
	double x = 0;
	bool ok = true;
	switch (c) {
	case O_WORKERS:
		ok = number(value, 1, 32, &x);
		p->workers = (unsigned)x;
		break;
	case O_CLIENTS:
		ok = number(value, 1, 256, &x);
		p->clients = (unsigned)x;
		break;
	case O_SECONDS:
		ok = number(value, 0.05, 86400, &p->seconds);
		break;
	case O_TRANSACTIONS:
		ok = number(value, 1, 1e12, &x);
		p->transactions = (uint64_t)x;
		break;
	case O_RUNS:
		ok = number(value, 1, BENCH_RUNS_MAX, &x);
		p->runs = (unsigned)x;
		break;
	case O_PRODUCTS:
		ok = number(value, 3, 1e9, &x);
		p->products = (uint64_t)x;
		break;
	case O_SEED:
		ok = number(value, 0, 1e15, &x);
		p->seed = (uint64_t)x;
		break;
	case O_API:
		p->sql = strcmp(value, "sql") == 0;
		ok = p->sql || strcmp(value, "native") == 0;
		break;
	case O_FABRIC:
		ok = net_kind_parse(value, &p->fabric);
		break;
	case O_PEER:
		ok = p->peer_sqlite = strcmp(value, "sqlite") == 0;
		break;
	case O_BESIDE:
		ok = tpcw_beside_named(value, &p->beside);
		break;
	case O_STORAGE:
		p->storage = value;
		break;
	case O_CLUSTER:
		p->cluster = value;
		break;
	case O_SECRET:
		p->secret_file = value;
		break;
	case O_JSON:
		p->json = true;
		break;
	case O_SNAPSHOT:
		p->snapshot = true;
		break;
	}
	return ok;
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct tpcw_params *p)
{
	static const struct option opt[] = { { "workers", 1, NULL, O_WORKERS },
		{ "clients", 1, NULL, O_CLIENTS }, { "api", 1, NULL, O_API },
		{ "seconds", 1, NULL, O_SECONDS }, { "transactions", 1, NULL, O_TRANSACTIONS },
		{ "runs", 1, NULL, O_RUNS }, { "products", 1, NULL, O_PRODUCTS },
		{ "fabric", 1, NULL, O_FABRIC }, { "storage", 1, NULL, O_STORAGE },
		{ "cluster", 1, NULL, O_CLUSTER }, { "secret-file", 1, NULL, O_SECRET },
		{ "peer", 1, NULL, O_PEER }, { "json", 0, NULL, O_JSON }, { "seed", 1, NULL, O_SEED },
		{ "snapshot", 0, NULL, O_SNAPSHOT }, { "beside", 1, NULL, O_BESIDE },
		{ "help", 0, NULL, 'h' }, { 0 } };
	*p = (struct tpcw_params){ .workers = 1,
		.clients = 16,
		.runs = 1,
		.seconds = 5,
		.products = 1000000,
		.fabric = NET_AUTO,
		.seed = 1 };
	optind = 0;
	for (int c; (c = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		if (c == 'h') {
			usage(stdout);
			return 1;
		}
		if (c < O_WORKERS)
			return 3;
		if (!option(c, optarg, p)) {
			fprintf(stderr,
			    "namdb bench: '%s' is not a value for this option; see namdb bench tpcw --help\n",
			    optarg);
			return 3;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb bench: unexpected '%s'; see namdb bench tpcw --help\n", argv[optind]);
		return 3;
	}
	if (p->beside != TPCW_NOTHING && !p->sql) {
		fprintf(stderr, "namdb bench: --beside goes with --api sql: SQL knows no other tables; see "
				"namdb bench tpcw --help\n");
		return 3;
	}
	if (p->fabric == NET_TCP && p->storage == NULL) {
		fprintf(stderr, "namdb bench: --fabric tcp needs --storage: embedded storage is memory of "
				"this process\n");
		return 3;
	}
	return 0;
}

/* ---- the report ---- */

struct metric {
	const char *name;
	double value;
	bool have;
};

static void
report(const struct tpcw_params *p, const struct metric *m, unsigned n)
{
	const char *provider = p->storage ? net_kind_name(p->fabric) : "shm";
	if (!p->json) {
		printf(
		    "tpcw checkout, %s, %s API, %u worker%s x %u clients, %llu products, %u run%s of %g s\n",
		    p->storage ? provider : "embedded shm", p->sql ? "sql" : "native", p->workers,
		    p->workers > 1 ? "s" : "", p->clients, (unsigned long long)p->products, p->runs,
		    p->runs > 1 ? "s" : "", p->seconds);
		for (unsigned i = 0; i < n; i++)
			if (m[i].have)
				printf("  %-28s %14.*f\n", m[i].name, m[i].value >= 1000 ? 0 : 3, m[i].value);
		return;
	}
	printf("{\"bench\": \"tpcw\", \"provider\": \"%s\", \"params\": {\"workers\": %u, \"clients\": %u, "
	       "\"api\": \"%s\", "
	       "\"seconds\": %g, \"runs\": %u, \"products\": %llu, \"embedded\": %s, \"beside\": \"%s\"}, "
	       "\"metrics\": {",
	    provider, p->workers, p->clients, p->sql ? "sql" : "native", p->seconds, p->runs,
	    (unsigned long long)p->products, p->storage ? "false" : "true", tpcw_beside_name(p->beside));
	const char *comma = "";
	for (unsigned i = 0; i < n; i++)
		if (m[i].have) {
			printf("%s\"%s\": %.6g", comma, m[i].name, m[i].value);
			comma = ", ";
		}
	printf("}}\n");
}

/* ---- loading, with a line that shows it ---- */

static nam_status
load_all(struct cn *cn, struct bench_jobs *g, struct tpcw_side *side)
{
	const struct tpcw_params *p = side->p;
	enum { PER_WORKER = 4 };
	struct job j[32 * PER_WORKER];
	_Atomic uint64_t done = 0;
	unsigned n = p->workers * PER_WORKER;
	for (unsigned i = 0; i < n; i++) {
		j[i] = (struct job){ .side = side,
			.what = JOB_LOAD,
			.from = p->products * i / n,
			.to = p->products * (i + 1) / n,
			.done = &done };
		nam_status st = start(cn, g, i % p->workers, &j[i]);
		if (st != NAM_OK)
			return st;
	}
	while (!bench_jobs_wait(g, 200))
		bench_progress("loading %llu products %3d %%", (unsigned long long)p->products,
		    (int)(atomic_load(&done) * 100 / p->products));
	bench_progress_end("loading %llu products 100 %%", (unsigned long long)p->products);
	for (unsigned i = 0; i < n; i++)
		if (j[i].status != NAM_OK)
			return j[i].status;
	return NAM_OK;
}

/* What the runs gave, one value for each. */
struct measured {
	double tps[BENCH_RUNS_MAX], beside_tps[BENCH_RUNS_MAX], floor_tps[BENCH_RUNS_MAX],
	    peer_tps[BENCH_RUNS_MAX], beside_ratio[BENCH_RUNS_MAX], floor_ratio[BENCH_RUNS_MAX],
	    peer_ratio[BENCH_RUNS_MAX];
	struct clients alone, beside; /* of all runs */
	struct tpcw_beside q;
};

/* The clients' slice beside the questions. */
static double
slice_beside(struct cn *cn, struct bench_jobs *g, struct tpcw_side *side, struct measured *m)
{
	if (tpcw_beside_start(&m->q, cn, side->p->workers) != NAM_OK) {
		m->q.bad++;
		return 0;
	}
	double tps = slice(cn, g, side, side->p->seconds, &m->beside);
	tpcw_beside_stop(&m->q);
	return tps;
}

/* A run's slices alone and beside the questions; every other run begins with the latter. Between
 * them is time to collect what a snapshot has held back. */
static void
slices(struct cn *cn, struct bench_jobs *g, struct tpcw_side *side, struct measured *m, unsigned run)
{
	const struct tpcw_params *p = side->p;
	bool beside = p->beside != TPCW_NOTHING, first = beside && run % 2 == 1;
	if (first) {
		m->beside_tps[run] = slice_beside(cn, g, side, m);
		usleep(COLLECT_US);
	}
	m->tps[run] = slice(cn, g, side, p->seconds, &m->alone);
	if (beside && !first) {
		m->beside_tps[run] = slice_beside(cn, g, side, m);
		usleep(COLLECT_US);
	}
	m->beside_ratio[run] = m->tps[run] > 0 ? m->beside_tps[run] / m->tps[run] : 0;
}

/* The runs and the report of them. Gives the number of errors. */
static uint64_t
measure(struct cn *cn, struct bench_jobs *g, struct tpcw_side *side, struct tpcw_floor *fl,
    struct tpcw_sqlite *peer)
{
	const struct tpcw_params *p = side->p;
	static struct measured v = { .q = { .jobs = BENCH_JOBS } };
	v.q.load = p->beside;
	v.q.products = p->products;
	double pause = p->seconds < WARM_SECONDS ? p->seconds : WARM_SECONDS;
	{ /* One slice warms caches and pointer cache; it does not count. */
		static struct clients warm;
		slice(cn, g, side, pause, &warm);
		v.alone.did.errors += warm.did.errors;
	}
	unsigned runs = 0;
	for (unsigned i = 0; i < p->runs && v.alone.did.errors == 0 && !atomic_load(&side->full); i++) {
		v.floor_tps[i] = fl->product ? tpcw_floor_run(fl, p->workers, pause) : 0;
		slices(cn, g, side, &v, i);
		v.peer_tps[i] = peer ? tpcw_sqlite_run(peer, p->seconds) : 0;
		v.floor_ratio[i] = v.floor_tps[i] > 0 ? v.tps[i] / v.floor_tps[i] : 0;
		v.peer_ratio[i] = v.peer_tps[i] > 0 ? v.tps[i] / v.peer_tps[i] : 0;
		fprintf(stderr, "run %u of %u: %.0f/s", i + 1, p->runs, v.tps[i]);
		if (fl->product)
			fprintf(stderr, ", floor %.0f/s (ratio %.3f)", v.floor_tps[i], v.floor_ratio[i]);
		if (peer)
			fprintf(stderr, ", sqlite %.0f/s (ratio %.2f)", v.peer_tps[i], v.peer_ratio[i]);
		if (p->beside != TPCW_NOTHING)
			fprintf(stderr, ", beside %.0f/s (ratio %.3f)", v.beside_tps[i], v.beside_ratio[i]);
		fprintf(stderr, "\n");
		v.alone.did.errors += v.beside.did.errors;
		if (!atomic_load(&side->full))
			runs++;
	}
	if (atomic_load(&side->full)) {
		fprintf(stderr,
		    "namdb bench: the storage nodes' memory is full; figures are of the %u run%s before: ask "
		    "for less (--seconds, --runs), or for larger nodes (--storage)\n",
		    runs, runs == 1 ? "" : "s");
		v.alone.did.errors += runs == 0;
	}
	struct job j = { .side = side, .what = JOB_CHECK };
	one(cn, g, &j);
	uint64_t bad = j.bad + v.alone.did.errors + v.q.bad + (peer ? tpcw_sqlite_check(peer) : 0);
	if (v.alone.did.errors)
		runs = 0;
	bool beside = p->beside != TPCW_NOTHING, asked = v.q.queries > 0;
	double commits = v.alone.did.commits ? (double)v.alone.did.commits : 1,
	       more = v.beside.did.commits ? (double)v.beside.did.commits : 1;
	const struct metric m[] = {
		{ "commits", (double)v.alone.did.commits, true },
		{ "throughput_tps", bench_median(v.tps, runs), true },
		{ "p50_us", (double)nam_hist_quantile(&v.alone.did.latency_ns, 0.5) / 1e3, true },
		{ "p99_us", (double)nam_hist_quantile(&v.alone.did.latency_ns, 0.99) / 1e3, true },
		{ "p999_us", (double)nam_hist_quantile(&v.alone.did.latency_ns, 0.999) / 1e3, true },
		{ "aborts_per_txn", (double)v.alone.did.aborts / commits, true },
		{ "verbs_per_txn", (double)net_counts_verbs(&v.alone.did.counts) / commits, true },
		{ "round_trips_per_txn", (double)v.alone.did.counts.round_trips / commits, true },
		{ "bytes_per_txn",
		    (double)(v.alone.did.counts.bytes_in + v.alone.did.counts.bytes_out) / commits, true },
		{ "cpu_us_per_txn", v.alone.did.cpu_seconds * 1e6 / commits, true },
		{ "floor_tps", bench_median(v.floor_tps, runs), fl->product != NULL },
		{ "floor_ratio", bench_median(v.floor_ratio, runs), fl->product != NULL },
		{ "peer_sqlite_tps", bench_median(v.peer_tps, runs), peer != NULL },
		{ "peer_sqlite_ratio", bench_median(v.peer_ratio, runs), peer != NULL },
		{ "beside_tps", bench_median(v.beside_tps, runs), beside },
		{ "beside_ratio", bench_median(v.beside_ratio, runs), beside },
		{ "beside_p50_us", (double)nam_hist_quantile(&v.beside.did.latency_ns, 0.5) / 1e3, beside },
		{ "beside_p99_us", (double)nam_hist_quantile(&v.beside.did.latency_ns, 0.99) / 1e3, beside },
		{ "beside_aborts_per_txn", (double)v.beside.did.aborts / more, beside },
		{ "worker_cpu_us_per_txn", v.alone.cpu_seconds * 1e6 / commits, beside },
		{ "beside_worker_cpu_us_per_txn", v.beside.cpu_seconds * 1e6 / more, beside },
		{ "beside_cpu_ratio",
		    v.beside.cpu_seconds > 0 ? v.alone.cpu_seconds / commits / (v.beside.cpu_seconds / more)
					     : 0,
		    beside },
		{ "queries", (double)v.q.queries, asked },
		{ "query_p50_ms", (double)nam_hist_quantile(&v.q.latency_ns, 0.5) / 1e6, asked },
		{ "query_p99_ms", (double)nam_hist_quantile(&v.q.latency_ns, 0.99) / 1e6, asked },
		{ "check_errors", (double)bad, true },
	};
	report(p, m, sizeof m / sizeof *m);
	fflush(stdout); /* the figures are out, whatever closing may meet */
	return bad;
}

int
bench_tpcw(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "2pc-", 4) == 0 || strncmp(argv[i], "--protocol=2pc-", 15) == 0)
			return bench_tpcw_twopc(argc, argv);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "rsi-paper") == 0 || strcmp(argv[i], "--protocol=rsi-paper") == 0)
			return bench_tpcw_paper(argc, argv);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0)
			return bench_tpcw_sim(argc, argv);
	struct tpcw_params p;
	struct nam_err err = { 0 };
	struct bench_embedded e = { 0 };
	struct cn *cn = NULL;
	struct bench_jobs g = BENCH_JOBS;
	struct tpcw_floor fl = { 0 };
	struct tpcw_sqlite *peer = NULL;
	unsigned char secret[64];
	size_t secret_len = 0;
	struct net_counts *counts = NULL;
	int code = options(argc, argv, &p);
	if (code != 0)
		return code - 1;
	code = 1;
	nam_status st =
	    p.storage ? net_secret_load(p.secret_file, secret, &secret_len, &err) : embed(&e, &p, &err);
	if (st != NAM_OK)
		goto out;
	struct cn_config cfg = { .storage = p.storage,
		.local = p.storage ? NULL : e.local,
		.fabric = p.fabric,
		.cluster = p.cluster,
		.secret = secret,
		.secret_len = secret_len,
		.workers = p.workers + (p.beside != TPCW_NOTHING),
		.measure = true,
		.txn = { .ptr_cache_entries = p.products * 2 } };
	if ((st = cn_open(&cn, &cfg, &err)) != NAM_OK)
		goto out;
	if (err.text[0])
		fprintf(stderr, "namdb bench: warning: %s\n", err.text);

	if ((counts = calloc((size_t)p.workers * p.clients, sizeof *counts)) == NULL) {
		st = nam_fail(&err, NAM_NOMEM, "no memory");
		goto out;
	}
	struct tpcw_side side = {
		.ops = p.sql ? &tpcw_sql : &tpcw_native, .p = &p, .next_order = 1, .counts = counts
	};
	struct job j = { .side = &side, .what = JOB_PREPARE };
	if ((st = one(cn, &g, &j)) != NAM_OK || (st = load_all(cn, &g, &side)) != NAM_OK) {
		nam_fail(&err, st, "loading failed: %s", nam_status_text(st));
		goto out;
	}
	j = (struct job){ .side = &side, .what = JOB_FLOOR, .floor = &fl };
	if (one(cn, &g, &j) != NAM_OK)
		fprintf(stderr, "no floor: the storage nodes have no mapped memory to spare for it\n");
	if (p.peer_sqlite && (peer = tpcw_sqlite_open(&p)) == NULL) {
		nam_fail(&err, NAM_IO, "SQLite could not be set up");
		goto out;
	}

	uint64_t bad = measure(cn, &g, &side, &fl, peer);
	code = bad == 0 ? 0 : 1;
	if (p.storage) {
		j = (struct job){ .side = &side, .what = JOB_FINISH };
		one(cn, &g, &j);
	}
out:
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	if (cn)
		cn_close(cn);
	free(counts); /* only now has the last commit been finished */
	if (peer)
		tpcw_sqlite_close(peer);
	bench_embedded_close(&e);
	return code;
}
