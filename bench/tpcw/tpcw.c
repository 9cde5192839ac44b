/* tpcw.c -- runs the checkout, its memory floor and its peer side by side, and prints the
 * results. */
#include "tpcw.h"

#include <bench/crew.h>
#include <net/region_format.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- on the workers ---- */

struct run {
	struct tpcw_params *p;
	struct tpcw_side side;
	struct bench_crew crew;
	struct tpcw_floor floor;
	struct tpcw_sqlite *peer;
	_Atomic unsigned part; /* the next part of the products to be loaded */
	_Atomic uint64_t loaded;
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

static nam_status
prepare(const struct cn_place *pl, void *arg)
{
	struct run *r = arg;
	return r->side.ops->prepare(&r->side, pl);
}

/* A part of the products: as many as there are coroutines that load. */
static nam_status
load(const struct cn_place *pl, void *arg)
{
	struct run *r = arg;
	uint64_t all = r->p->products, n = r->p->workers * BENCH_CREW_EACH, i = atomic_fetch_add(&r->part, 1);
	return r->side.ops->load(&r->side, pl, all * i / n, all * (i + 1) / n, &r->loaded);
}

static void
client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct tpcw_side *s = side;
	s->ops->client(s, pl, number, out, stop);
}

static nam_status
take_floor(const struct cn_place *pl, void *arg)
{
	struct run *r = arg;
	return floor_memory(&r->floor, pl, r->p);
}

static nam_status
check(const struct cn_place *pl, void *arg)
{
	struct run *r = arg;
	r->bad += r->side.ops->check(&r->side, pl);
	return NAM_OK;
}

static nam_status
finish(const struct cn_place *pl, void *arg)
{
	struct run *r = arg;
	r->side.ops->finish(&r->side, pl);
	return NAM_OK;
}

/* ---- embedded storage ---- */

static uint64_t
bytes(const struct tpcw_params *p)
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
	uint64_t each_node =
	    (uint64_t)(total / BENCH_EMBEDDED_NODES) + p->products * 1024 + FLOOR_APPEND / 2 + (64u << 20);
	return each_node * BENCH_EMBEDDED_NODES;
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

static void
show_loading(void *arg)
{
	const struct run *r = arg;
	bench_progress("loading %llu products %3d %%", (unsigned long long)r->p->products,
	    (int)(atomic_load(&r->loaded) * 100 / r->p->products));
}

static nam_status
load_all(struct run *r)
{
	nam_status st = bench_crew_all(&r->crew, load, show_loading, r);
	bench_progress_end("loading %llu products 100 %%", (unsigned long long)r->p->products);
	return st;
}

/* What the runs gave, one value for each. */
struct measured {
	double tps[BENCH_RUNS_MAX], beside_tps[BENCH_RUNS_MAX], floor_tps[BENCH_RUNS_MAX],
	    peer_tps[BENCH_RUNS_MAX], beside_ratio[BENCH_RUNS_MAX], floor_ratio[BENCH_RUNS_MAX],
	    peer_ratio[BENCH_RUNS_MAX];
	struct bench_slice alone, beside; /* of all runs */
	struct tpcw_beside q;
};

/* The clients' slice beside the questions. */
static double
slice_beside(struct run *r, struct measured *m)
{
	if (tpcw_beside_start(&m->q, r->crew.cn, r->p->workers) != NAM_OK) {
		m->q.bad++;
		return 0;
	}
	double tps = bench_crew_slice(&r->crew, 0, r->p->seconds, &m->beside);
	tpcw_beside_stop(&m->q);
	return tps;
}

/* A run's slices alone and beside the questions; every other run begins with the latter. Between
 * them is time to collect what a snapshot has held back. */
static void
slices(struct run *r, struct measured *m, unsigned run)
{
	bool beside = r->p->beside != TPCW_NOTHING, first = beside && run % 2 == 1;
	if (first) {
		m->beside_tps[run] = slice_beside(r, m);
		usleep(COLLECT_US);
	}
	m->tps[run] = bench_crew_slice(&r->crew, 0, r->p->seconds, &m->alone);
	if (beside && !first) {
		m->beside_tps[run] = slice_beside(r, m);
		usleep(COLLECT_US);
	}
	m->beside_ratio[run] = m->tps[run] > 0 ? m->beside_tps[run] / m->tps[run] : 0;
}

/* The runs and the report of them. */
static void
measure(struct run *r)
{
	const struct tpcw_params *p = r->p;
	const struct tpcw_floor *fl = &r->floor;
	struct tpcw_side *side = &r->side;
	struct tpcw_sqlite *peer = r->peer;
	static struct measured v = { .q = { .jobs = BENCH_JOBS } };
	v.q.load = p->beside;
	v.q.products = p->products;
	double pause = p->seconds < WARM_SECONDS ? p->seconds : WARM_SECONDS;
	{ /* One slice warms caches and pointer cache; it does not count. */
		static struct bench_slice warm;
		bench_crew_slice(&r->crew, 0, pause, &warm);
		v.alone.errors += warm.errors;
	}
	unsigned runs = 0;
	for (unsigned i = 0; i < p->runs && v.alone.errors == 0 && !atomic_load(&side->full); i++) {
		v.floor_tps[i] = fl->product ? tpcw_floor_run(fl, p->workers, pause) : 0;
		slices(r, &v, i);
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
		v.alone.errors += v.beside.errors;
		if (!atomic_load(&side->full))
			runs++;
	}
	if (atomic_load(&side->full)) {
		fprintf(stderr,
		    "namdb bench: the storage nodes' memory is full; figures are of the %u run%s before: ask "
		    "for less (--seconds, --runs), or for larger nodes (--storage)\n",
		    runs, runs == 1 ? "" : "s");
		v.alone.errors += runs == 0;
	}
	if (bench_crew_one(&r->crew, check, r) != NAM_OK)
		r->bad++;
	r->bad += v.alone.errors + v.q.bad + (peer ? tpcw_sqlite_check(peer) : 0);
	if (v.alone.errors)
		runs = 0;
	bool beside = p->beside != TPCW_NOTHING, asked = v.q.queries > 0;
	double commits = v.alone.commits ? (double)v.alone.commits : 1,
	       more = v.beside.commits ? (double)v.beside.commits : 1;
	const struct metric m[] = {
		{ "commits", (double)v.alone.commits, true },
		{ "throughput_tps", bench_median(v.tps, runs), true },
		{ "p50_us", (double)nam_hist_quantile(&v.alone.latency_ns, 0.5) / 1e3, true },
		{ "p99_us", (double)nam_hist_quantile(&v.alone.latency_ns, 0.99) / 1e3, true },
		{ "p999_us", (double)nam_hist_quantile(&v.alone.latency_ns, 0.999) / 1e3, true },
		{ "aborts_per_txn", (double)v.alone.aborts / commits, true },
		{ "verbs_per_txn", (double)net_counts_verbs(&v.alone.counts) / commits, true },
		{ "round_trips_per_txn", (double)v.alone.counts.round_trips / commits, true },
		{ "bytes_per_txn", (double)(v.alone.counts.bytes_in + v.alone.counts.bytes_out) / commits,
		    true },
		{ "cpu_us_per_txn", v.alone.cpu_seconds * 1e6 / commits, true },
		{ "floor_tps", bench_median(v.floor_tps, runs), fl->product != NULL },
		{ "floor_ratio", bench_median(v.floor_ratio, runs), fl->product != NULL },
		{ "peer_sqlite_tps", bench_median(v.peer_tps, runs), peer != NULL },
		{ "peer_sqlite_ratio", bench_median(v.peer_ratio, runs), peer != NULL },
		{ "beside_tps", bench_median(v.beside_tps, runs), beside },
		{ "beside_ratio", bench_median(v.beside_ratio, runs), beside },
		{ "beside_p50_us", (double)nam_hist_quantile(&v.beside.latency_ns, 0.5) / 1e3, beside },
		{ "beside_p99_us", (double)nam_hist_quantile(&v.beside.latency_ns, 0.99) / 1e3, beside },
		{ "beside_aborts_per_txn", (double)v.beside.aborts / more, beside },
		{ "worker_cpu_us_per_txn", v.alone.worker_cpu_seconds * 1e6 / commits, beside },
		{ "beside_worker_cpu_us_per_txn", v.beside.worker_cpu_seconds * 1e6 / more, beside },
		{ "beside_cpu_ratio",
		    v.beside.worker_cpu_seconds > 0
			? v.alone.worker_cpu_seconds / commits / (v.beside.worker_cpu_seconds / more)
			: 0,
		    beside },
		{ "queries", (double)v.q.queries, asked },
		{ "query_p50_ms", (double)nam_hist_quantile(&v.q.latency_ns, 0.5) / 1e6, asked },
		{ "query_p99_ms", (double)nam_hist_quantile(&v.q.latency_ns, 0.99) / 1e6, asked },
		{ "check_errors", (double)r->bad, true },
	};
	report(p, m, sizeof m / sizeof *m);
	fflush(stdout); /* the figures are out, whatever closing may meet */
}

static nam_status
load_and_measure(struct run *r, struct nam_err *err)
{
	nam_status st = bench_crew_one(&r->crew, prepare, r);
	if (st == NAM_OK)
		st = load_all(r);
	if (st != NAM_OK)
		return nam_fail(err, st, "loading failed: %s", nam_status_text(st));
	if (bench_crew_one(&r->crew, take_floor, r) != NAM_OK)
		fprintf(stderr, "no floor: the storage nodes have no mapped memory to spare for it\n");
	if (r->p->peer_sqlite && (r->peer = tpcw_sqlite_open(r->p)) == NULL)
		return nam_fail(err, NAM_IO, "SQLite could not be set up");
	measure(r);
	if (r->p->storage != NULL)
		bench_crew_one(&r->crew, finish, r);
	return NAM_OK;
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
	int code = options(argc, argv, &p);
	if (code != 0)
		return code - 1;
	const struct bench_common c = {
		.fabric = p.fabric, .storage = p.storage, .cluster = p.cluster, .secret_file = p.secret_file
	};
	struct run r = { .p = &p,
		.side = { .ops = p.sql ? &tpcw_sql : &tpcw_native, .p = &p, .next_order = 1 },
		.crew = { .workers = p.workers,
		    .clients = p.clients,
		    .transactions = p.transactions,
		    .client = client,
		    .side = &r.side } };
	r.side.counts = calloc((size_t)p.workers * p.clients, sizeof *r.side.counts);
	nam_status st = r.side.counts != NULL ? NAM_OK : nam_fail(&err, NAM_NOMEM, "no memory");
	if (st == NAM_OK)
		st = bench_crew_storage(&r.crew, &c, bytes(&p), &err);
	if (st == NAM_OK)
		st = bench_crew_open(&r.crew, &c, p.beside != TPCW_NOTHING, p.products * 2, &err);
	if (st == NAM_OK)
		st = load_and_measure(&r, &err);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	bench_crew_close(&r.crew);
	free(r.side.counts); /* only now has the last commit been finished */
	if (r.peer != NULL)
		tpcw_sqlite_close(r.peer);
	return st == NAM_OK && r.bad == 0 ? 0 : 1;
}
