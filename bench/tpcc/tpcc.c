/* tpcc.c -- runs TPC-C on a compute node, beside SQLite if asked for, judges its twelve conditions,
 * and prints the results. */
#include "tpcc.h"

#include <base/number.h>
#include <bench/crew.h>
#include <bench/mix.h>
#include <bench/ycsb/tree.h>

#include <stdlib.h>
#include <string.h>

#define WARM_SECONDS 0.5
enum { FOUND_ENTRIES = 1 << 22 };

/* Parts of a whole run, for several processes on one cluster. */
enum only { ALL, LOAD, RUN, CHECK, DROP };
static const char *const only_names[] = { "all", "load", "run", "check", "drop" };

struct real {
	struct bench_common common;
	struct bench_crew crew;
	enum only only;
	bool sized; /* by the user */
	const struct tpcc_ops *ops;
	struct tpcc_side side;
	struct tpcc_sqlite *peer;
	bool sqlite;
	_Atomic unsigned part; /* the next part of the population to be loaded or read */
	bool insert;
	uint64_t bad;
};

/* ---- on the workers -------------------------------------------------------------------------- */

static nam_status
make(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	return r->ops->make(&r->side, pl);
}

static nam_status
find(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	return r->ops->open(&r->side, pl);
}

static nam_status
fill(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	unsigned n = bench_tpcc_parts(r->side.p), i;
	nam_status st = NAM_OK;
	while (st == NAM_OK && (i = atomic_fetch_add(&r->part, 1)) < n)
		st = r->ops->load(&r->side, pl, i, r->insert);
	return st;
}

static nam_status
loaded(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	return r->ops->loaded(&r->side, pl, r->only == LOAD);
}

static nam_status
check(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	r->bad += r->ops->check((void *const *)&(void *){ &r->side }, 1, pl);
	return NAM_OK;
}

static nam_status
drop(const struct cn_place *pl, void *arg)
{
	struct real *r = arg;
	return r->ops->drop(&r->side, pl, r->only == DROP);
}

static void
show_population(void *arg)
{
	const struct real *r = arg;
	unsigned done = atomic_load(&r->part), parts = bench_tpcc_parts(r->side.p);
	bench_progress("%s %u warehouse%s %3u %%", r->insert ? "loading" : "reading", r->side.p->warehouses,
	    r->side.p->warehouses > 1 ? "s" : "", done < parts ? done * 100 / parts : 100);
}

/* The population, by several coroutines on each worker: inserted, or read. */
static nam_status
population(struct real *r, bool insert)
{
	r->insert = insert;
	atomic_store(&r->part, 0);
	nam_status st = bench_crew_all(&r->crew, fill, show_population, r);
	bench_progress_end(NULL);
	return st;
}

/* ---- the report ------------------------------------------------------------------------------ */

struct figures {
	struct bench_slice warm, sum;
	double tps[BENCH_RUNS_MAX], peer[BENCH_RUNS_MAX], ratio[BENCH_RUNS_MAX];
	double peer_cpu, peer_commits;
	unsigned runs;
};

static void
report(const struct real *r, const struct figures *f)
{
	const struct bench_common *c = &r->common;
	const struct tpcc_side *s = &r->side;
	const char *provider = c->storage != NULL ? net_kind_name(c->fabric) : "shm";
	const char *api = r->ops == &bench_tpcc_sql ? "sql" : "native";
	struct bench_metrics m = { .json = c->json, .comma = "" };
	if (c->json)
		printf(
		    "{\"bench\": \"tpcc\", \"provider\": \"%s\", \"params\": {\"workers\": %u, \"clients\": "
		    "%u, \"api\": \"%s\", \"warehouses\": %u, \"customers\": %u, \"items\": %u, "
		    "\"seconds\": %g, \"runs\": %u, \"embedded\": %s}, \"metrics\": {",
		    provider, r->crew.workers, r->crew.clients, api, s->p->warehouses, s->p->customers,
		    s->p->items, c->seconds, c->runs, c->storage != NULL ? "false" : "true");
	else
		printf("tpcc, %s, %s API, %u worker%s x %u clients, %u warehouse%s of %u customers a "
		       "district and %u items, %u run%s of %g s\n",
		    c->storage != NULL ? provider : "embedded shm", api, r->crew.workers,
		    r->crew.workers > 1 ? "s" : "", r->crew.clients, s->p->warehouses,
		    s->p->warehouses > 1 ? "s" : "", s->p->customers, s->p->items, c->runs,
		    c->runs > 1 ? "s" : "", c->seconds);
	double commits = f->sum.commits != 0 ? (double)f->sum.commits : 1;
	double news = (double)atomic_load(&s->ended[TPCC_NEW]);
	if (r->only == ALL || r->only == RUN) {
		bench_metric(&m, "commits", (double)f->sum.commits);
		bench_metric(&m, "throughput_tps", bench_median(f->tps, f->runs));
		bench_metric(&m, "new_order_tpm", (double)atomic_load(&s->new_orders) * 60 / f->sum.seconds);
		bench_metric_latency(&m, &f->sum);
		bench_metric(&m, "aborts_per_txn", (double)f->sum.aborts / commits);
		bench_metric(&m, "refused_per_txn", (double)f->sum.refused / commits);
		bench_metric(&m, "round_trips_per_new_order",
		    (double)atomic_load(&s->trips[TPCC_NEW]) / (news > 0 ? news : 1));
		bench_metric(&m, "cpu_us_per_txn", f->sum.cpu_seconds * 1e6 / commits);
	}
	if (r->peer != NULL) {
		bench_metric(&m, "peer_sqlite_tps", bench_median(f->peer, f->runs));
		bench_metric(&m, "peer_sqlite_ratio", bench_median(f->ratio, f->runs));
		bench_metric(&m, "peer_sqlite_cpu_us_per_txn",
		    f->peer_cpu * 1e6 / (f->peer_commits > 0 ? f->peer_commits : 1));
	}
	if (r->only == ALL || r->only == CHECK)
		bench_metric(&m, "conditions_failed", (double)__builtin_popcountll(s->failed));
	bench_metric(&m, "check_errors", (double)r->bad);
	printf("%s", c->json ? "}}\n" : "");
	fflush(stdout); /* the figures are out, whatever closing may meet */
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void
measure(struct real *r, struct figures *f)
{
	double seconds = r->common.seconds;
	bench_crew_slice(&r->crew, 0, seconds < WARM_SECONDS ? seconds : WARM_SECONDS, &f->warm);
	for (unsigned i = 0; i < r->common.runs && f->warm.errors + f->sum.errors == 0; i++) {
		double tps = bench_crew_slice(&r->crew, i + 1, seconds, &f->sum);
		if (atomic_load(&r->side.full)) {
			fprintf(stderr,
			    "namdb bench: the storage nodes' memory is full; figures are of the %u run%s "
			    "before: ask for less (--seconds, --runs), or for larger nodes (--storage)\n",
			    i, i == 1 ? "" : "s");
			break;
		}
		f->tps[i] = tps;
		f->runs++;
		fprintf(stderr, "run %u of %u: %.0f/s", i + 1, r->common.runs, tps);
		if (r->peer != NULL) {
			uint64_t commits;
			double cpu = bench_cpu_seconds();
			f->peer[i] = bench_tpcc_sqlite_run(r->peer, seconds, i + 1, &commits);
			f->peer_cpu += bench_cpu_seconds() - cpu;
			f->peer_commits += (double)commits;
			f->ratio[i] = f->peer[i] > 0 ? tps / f->peer[i] : 0;
			fprintf(stderr, ", sqlite %.0f/s (ratio %.2f)", f->peer[i], f->ratio[i]);
		}
		fputc('\n', stderr);
	}
	r->bad += f->warm.errors + f->sum.errors + (f->runs == 0);
}

/* What `only` says, on a compute node that is open. */
static nam_status
steps(struct real *r, struct nam_err *err)
{
	static struct figures f;
	bool whole = r->only == ALL, found = !whole && r->only != LOAD;
	nam_status st = bench_crew_one(&r->crew, found ? find : make, r);
	if (st == NAM_ABSENT)
		return nam_fail(err, st, "no TPC-C tables are loaded here: --only load makes them");
	if (st == NAM_UNSUPPORTED)
		return nam_fail(err, st, "the storage nodes host no ordered index");
	if (st != NAM_OK)
		return nam_fail(
		    err, st, "%s the tables failed: %s", found ? "opening" : "making", nam_status_text(st));
	if (whole || r->only == LOAD)
		st = population(r, true);
	if (st == NAM_OK && (whole || r->only == LOAD))
		st = bench_crew_one(&r->crew, loaded, r);
	if (st == NAM_OK && (whole || r->only == RUN))
		st = population(r, false);
	if (st != NAM_OK)
		nam_fail(err, st, "loading failed: %s", nam_status_text(st));
	if (st == NAM_OK && r->sqlite && (r->peer = bench_tpcc_sqlite_open(r->side.p)) == NULL)
		st = nam_fail(err, NAM_IO, "SQLite cannot be loaded");
	if (st == NAM_OK && (whole || r->only == RUN))
		measure(r, &f);
	if (st == NAM_OK && (whole || r->only == CHECK))
		st = bench_crew_one(&r->crew, check, r);
	if (st == NAM_OK && r->peer != NULL)
		r->bad += bench_tpcc_sqlite_check(r->peer);
	if (st == NAM_OK)
		report(r, &f);
	if (r->only == DROP || (whole && r->common.storage != NULL)) {
		nam_status is = bench_crew_one(&r->crew, drop, r);
		st = st == NAM_OK ? is : st;
	}
	return st;
}

static int
run(struct real *r)
{
	struct nam_err err = { 0 };
	struct bench_tree_hosts hosts = { 0 };
	struct bench_crew *w = &r->crew;
	const struct bench_common *c = &r->common;
	bench_tpcc_params.seconds = (c->seconds * c->runs + 1) * w->workers;
	r->side.p = &bench_tpcc_params;
	r->side.seed = bench_tpcc_params.seed;
	r->side.counts = calloc((size_t)w->workers * w->clients, sizeof *r->side.counts);
	w->client = r->ops->client;
	w->side = &r->side;
	nam_status st = r->side.counts != NULL ? NAM_OK : nam_fail(&err, NAM_NOMEM, "no memory");
	if (st == NAM_OK)
		st = bench_crew_storage(w, c, r->ops->bytes(r->side.p), &err);
	if (st == NAM_OK && c->storage == NULL)
		st = bench_tree_host(&hosts, &w->embedded, &err);
	if (st == NAM_OK)
		st = bench_crew_open(
		    w, c, 0, r->only > LOAD ? FOUND_ENTRIES : bench_tpcc_entries(r->side.p), &err);
	if (st == NAM_OK)
		st = steps(r, &err);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	bench_crew_close(w);
	bench_tree_unhost(&hosts);
	if (r->peer != NULL)
		bench_tpcc_sqlite_close(r->peer);
	free(r->side.counts); /* only now has the last commit been finished */
	return st == NAM_OK && r->bad == 0 ? 0 : 1;
}

/* ---- options --------------------------------------------------------------------------------- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcc [options]\n"
	    "TPC-C: nine tables, five transactions (New-Order 45, Payment 43, Order-Status 4, Delivery 4,\n"
	    "Stock-Level 4 of each hundred), no think time, and the twelve consistency conditions "
	    "afterwards.\n"
	    "  --warehouses N   warehouses (default 1)\n"
	    "  --size S         small (default: 300 customers a district, 10000 items) or spec (3000, "
	    "100000)\n"
	    "  --api native|sql transactions directly, or prepared SQL statements (default native)\n"
	    "  --workers N      worker threads (default 1)\n"
	    "  --clients N      clients (coroutines) on each worker (default 1)\n"
	    "  --seconds S      length of each run (default 2)\n"
	    "  --runs N         runs, in turn with the peer's; medians are reported (default 1)\n"
	    "  --pause MS       a client waits so long before each transaction (default 0)\n"
	    "  --peer sqlite    the same transactions on SQLite in memory, in turn with ours\n"
	    "  --only STEP      load, run, check or drop: one step of several processes on one cluster\n"
	    "                   (with --storage); default: all of them\n"
	    "  --fabric P       auto, shm, verbs or tcp; with --storage (default auto)\n"
	    "  --storage LIST   storage nodes host:port,...; default: three in this process\n"
	    "  --cluster NAME, --secret-file F   as for namdb sql\n"
	    "  --seed N         of rows and clients' dice (default 1)\n"
	    "  --json           one object on stdout\n"
	    "  --sim MODEL      in virtual time on a model of machines; see --sim cx6 --help\n");
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
		if (!nam_number(v, 1, 256, &x))
			return false;
		r->crew.clients = (unsigned)x;
		return true;
	case 'e':
		return nam_number(v, 0, UINT64_MAX / 2, &bench_tpcc_params.seed);
	case 'o':
		for (r->only = LOAD; r->only <= DROP; r->only++)
			if (strcmp(v, only_names[r->only]) == 0)
				return true;
		return false;
	case 'P':
		return r->sqlite = strcmp(v, "sqlite") == 0;
	case 'u':
		return bench_take_seconds(v, &bench_tpcc_params.pause_ms);
	case 'a':
		r->ops = strcmp(v, "sql") == 0 ? &bench_tpcc_sql : &bench_tpcc_native;
		return r->ops == &bench_tpcc_sql || strcmp(v, "native") == 0;
	case 'W':
	case 'z':
		r->sized = true;
		return bench_tpcc_user.take(&bench_tpcc_params, letter, v);
	default:
		return false;
	}
}

/* NULL, or why the options do not fit each other. */
static const char *
unfit(const struct real *r)
{
	if (r->common.fabric == NET_TCP && r->common.storage == NULL)
		return "--fabric tcp needs --storage: embedded storage is memory of this process";
	if (r->only != ALL && r->common.storage == NULL)
		return "--only needs --storage: embedded storage ends with this process";
	if (r->only > LOAD && r->sized)
		return "--warehouses and --size are those of --only load";
	if (r->only != ALL && r->sqlite)
		return "--peer goes with a whole run, not with --only";
	return NULL;
}

int
bench_tpcc(int argc, char **argv)
{
	static const struct option sim[] = { { "warehouses", 1, NULL, 'W' }, { "size", 1, NULL, 'z' },
		BENCH_SIM_OPTIONS };
	static const struct option opt[] = { { "warehouses", 1, NULL, 'W' }, { "size", 1, NULL, 'z' },
		{ "api", 1, NULL, 'a' }, { "workers", 1, NULL, 'w' }, { "clients", 1, NULL, 'C' },
		{ "seed", 1, NULL, 'e' }, { "pause", 1, NULL, 'u' }, { "peer", 1, NULL, 'P' },
		{ "only", 1, NULL, 'o' }, { "seconds", 1, NULL, 't' }, { "runs", 1, NULL, 'r' },
		{ "fabric", 1, NULL, 'f' }, { "storage", 1, NULL, 'S' }, { "cluster", 1, NULL, 'c' },
		{ "secret-file", 1, NULL, 'k' }, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0) {
			struct bench_sim p = { .number = { 1, 8, 64 },
				.points = 3,
				.coroutines = 1,
				.compute = 1,
				.storage = 2,
				.seconds = 0.005,
				.seed = 1 };
			return bench_sim_main(argc, argv, sim, &p, &bench_tpcc_params, &bench_tpcc_user);
		}
	struct real *r = calloc(1, sizeof *r);
	if (r == NULL) {
		fprintf(stderr, "namdb bench: no memory\n");
		return 1;
	}
	r->common = (struct bench_common){ .seconds = 2, .runs = 1, .fabric = NET_AUTO };
	r->ops = &bench_tpcc_native;
	r->crew.workers = 1;
	r->crew.clients = 1;
	int code = bench_options(argc, argv, opt, &r->common, take, usage, r);
	if (code == 0) {
		const char *why = unfit(r);
		code = why != NULL ? bench_bad_use("tpcc", why) : run(r) + 1;
	}
	free(r);
	return code - 1;
}
