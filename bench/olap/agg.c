/*
 * agg.c -- `namdb bench agg`: a relation in remote memory, grouped by its keys and summed up,
 * beside DuckDB.
 *
 * Each tuple's group is drawn evenly, or by Zipf's law. What comes out is the number of groups, the
 * sum over them, and a sum in which each group's own sum is weighted by its key; what they must be
 * follows from an array with a place for each group.
 */
#include "join_data.h"
#include "paper.h"
#include "series.h"

#include <base/hash.h>
#include <base/number.h>

#include <stdlib.h>
#include <string.h>

enum { POINTS = 16, ROWS_MAX = 1u << 30, WIDTH = 16 };

static const char *const algorithm_name[] = { "rdma", "classic" };
enum { ALGORITHMS = 2 };

struct sums {
	uint64_t groups, sum, weighted;
};

struct point {
	struct series_point runs;
	unsigned groups;
	struct sums want;
	uint64_t direct;
	unsigned bits;
};

struct bench {
	struct bench_common common;
	unsigned rows, workers, groups[POINTS], points;
	enum olap_agg_algorithm algorithm;
	double skew;
	bool peer, hint;
	uint64_t seed;
	struct pool pool;
	struct pool_relation in;
	struct series series;
	struct point *pt, *points_at;
	struct sums got;
	double scan;
	pthread_mutex_t mutex; /* of the point's sums over workers */
};

/* ---- the relation ------------------------------------------------------------ */

struct draw {
	uint64_t seed, groups;
	double skew;
};

static uint64_t
group_of(const struct draw *d, uint64_t i)
{
	uint64_t h = nam_mix(d->seed + i * 2);
	if (d->skew <= 0)
		return (uint64_t)(((unsigned __int128)h * d->groups) >> 64);
	return bench_zipf((double)(h >> 11) * 0x1p-53, d->groups, d->skew);
}

/* Sparse, and above 0 in a column of signed numbers. */
static uint64_t
key_of(uint64_t group)
{
	return nam_mix(group + 1) >> 1;
}

static uint64_t
value_of(const struct draw *d, uint64_t i)
{
	return nam_mix(d->seed + i * 2 + 1) >> 44;
}

static void
fill(const void *arg, uint64_t first, unsigned n, void *tuples)
{
	const struct draw *d = arg;
	uint64_t *t = tuples;
	for (uint64_t i = first; i < first + n; i++, t += 2) {
		t[0] = key_of(group_of(d, i));
		t[1] = value_of(d, i);
	}
}

static void
weigh(struct sums *s, uint64_t key, uint64_t sum)
{
	s->groups++;
	s->sum += sum;
	s->weighted += sum * (key & 63);
}

static bool
expected(const struct draw *d, uint64_t rows, struct sums *want)
{
	uint64_t *sum = calloc(d->groups, 8);
	uint8_t *there = calloc(d->groups, 1);
	bool ok = sum != NULL && there != NULL;
	*want = (struct sums){ 0 };
	for (uint64_t i = 0; ok && i < rows; i++) {
		uint64_t g = group_of(d, i);
		sum[g] += value_of(d, i);
		there[g] = 1;
	}
	for (uint64_t g = 0; ok && g < d->groups; g++)
		if (there[g])
			weigh(want, key_of(g), sum[g]);
	free(sum);
	free(there);
	return ok;
}

/* ---- the aggregation ----------------------------------------------------------- */

static nam_status
sink(void *arg, const uint64_t *groups, unsigned n)
{
	struct sums *s = arg;
	for (unsigned i = 0; i < n; i++, groups += 2)
		weigh(s, groups[0], groups[1]);
	return NAM_OK;
}

static void
collect(void *arg, const void *result, uint32_t len)
{
	struct sums *sum = arg, one;
	if (len != sizeof one)
		return;
	memcpy(&one, result, sizeof one);
	sum->groups += one.groups;
	sum->sum += one.sum;
	sum->weighted += one.weighted;
}

static nam_status
agg_main(struct pool_worker *w, struct olap_job *job, void *arg)
{
	struct bench *b = arg;
	struct sums mine;
	struct olap_phase ph;
	struct olap_agg a = { .algorithm = b->algorithm,
		.in = b->in.source,
		.aggregate = { { OLAP_SUM, 1 } },
		.aggregates = 1,
		.groups = b->hint ? b->pt->groups : 0,
		.workers = b->workers,
		.memory = (size_t)4 << 30,
		.sink = sink,
		.arg = &mine,
		.result = &mine,
		.result_len = sizeof mine };
	nam_status st = olap_agg_run(job, &a, &ph);
	if (st == NAM_OK && w->number == 0) {
		b->got = (struct sums){ 0 };
		st = olap_phase_results(&ph, collect, &b->got);
		b->scan = (double)a.did.scan_ns / 1e9;
		b->pt->bits = a.did.bits;
	}
	pthread_mutex_lock(&b->mutex);
	b->pt->direct += a.did.direct;
	net_counts_add(&b->pt->runs.counts, olap_job_counts(job));
	pthread_mutex_unlock(&b->mutex);
	if (st == NAM_OK)
		olap_phase_end(&ph);
	return st;
}

static bool
same(const struct sums *a, const struct sums *b)
{
	return a->groups == b->groups && a->sum == b->sum && a->weighted == b->weighted;
}

static bool
agg_once(void *arg, double *seconds, double *pass)
{
	struct bench *b = arg;
	const struct pool_job j = { .fn = agg_main, .arg = b };
	nam_status st = bench_pool_job(&b->pool, &j, seconds);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: the aggregation ended: %s\n", nam_status_text(st));
	else if (!same(&b->got, &b->pt->want))
		fprintf(stderr, "namdb bench: wrong answer: %llu groups, expected %llu\n",
		    (unsigned long long)b->got.groups, (unsigned long long)b->pt->want.groups);
	b->pt->runs.bad += st != NAM_OK || !same(&b->got, &b->pt->want);
	*pass = b->scan;
	return st == NAM_OK;
}

/* Sums of sums over groups, so that both sides give three numbers. */
static const char question[] = "SELECT count(*), sum(v)::BIGINT, sum(v * (k & 63))::BIGINT FROM "
			       "(SELECT k, sum(p1) AS v FROM t GROUP BY k)";

static bool
right(void *arg, const int64_t got[3])
{
	const struct bench *b = arg;
	const struct sums sums = { (uint64_t)got[0], (uint64_t)got[1], (uint64_t)got[2] };
	return same(&sums, &b->pt->want);
}

static nam_status
measure(struct bench *b, struct point *pt)
{
	const struct draw d = { b->seed, pt->groups, b->skew };
	double first, pass;
	char label[32];
	b->pt = pt;
	b->in = (struct pool_relation){ .tuples = b->rows, .width = WIDTH, .fill = fill, .arg = &d };
	if (!expected(&d, b->rows, &pt->want))
		return NAM_NOMEM;
	nam_status st = bench_pool_load(&b->pool, &b->in, "relation");
	if (st == NAM_OK)
		st = bench_series_table(&b->series, "t", &b->in);
	if (st != NAM_OK)
		return st;
	agg_once(b, &first, &pass); /* its pages are warm afterwards */
	pt->runs.counts = (struct net_counts){ 0 };
	pt->direct = 0;
	snprintf(label, sizeof label, "%u groups, ", pt->groups);
	bench_series_runs(&b->series, &pt->runs, &b->in, label, question);
	return bench_pool_end(&b->pool, b->in.job);
}

/* ---- the report -------------------------------------------------------------------- */

static void
metrics(const void *arg, unsigned point, struct bench_metrics *m)
{
	const struct bench *b = arg;
	const struct point *pt = &b->points_at[point];
	unsigned runs = b->common.runs;
	double s = bench_median(pt->runs.seconds, runs);
	bench_metric(m, "groups", (double)pt->want.groups);
	bench_metric(m, "agg_s", s);
	bench_metric(m, "pass_s", bench_median(pt->runs.pass, runs));
	bench_metric(m, "tuples_per_s", s > 0 ? b->rows / s : 0);
	bench_metric(m, "fan_out", (double)(1u << pt->bits));
	bench_metric(m, "direct_share", (double)pt->direct / runs / b->rows);
	bench_metric(m, "c_mem_ns_per_byte", pt->runs.c_mem * 1e9);
	bench_metric(m, "scan_floor_s", pt->runs.c_mem * WIDTH * b->rows);
	bench_series_verbs(m, &pt->runs, runs);
	bench_series_judged(m, &b->series, &pt->runs);
}

static void
report(const struct bench *b)
{
	const struct bench_common *c = &b->common;
	if (c->json) {
		printf("{\"bench\": \"agg\", \"provider\": \"%s\", \"params\": {\"rows\": %u, \"skew\": %g, "
		       "\"algorithm\": \"%s\", \"workers\": %u, \"runs\": %u, \"seed\": %llu, \"hint\": %s",
		    b->pool.provider, b->rows, b->skew, algorithm_name[b->algorithm], b->workers, c->runs,
		    (unsigned long long)b->seed, b->hint ? "true" : "false");
		bench_series_params_end(&b->series);
	} else {
		printf("agg over %u tuples of 8 + 8 bytes, skew %g, %s, %s, %u worker%s, median of %u\n",
		    b->rows, b->skew, algorithm_name[b->algorithm], b->pool.provider, b->workers,
		    b->workers > 1 ? "s" : "", c->runs);
	}
	bench_series_report(&b->series, b->points, metrics, b);
}

static bool
draw_picture(const struct bench *b, const struct point *pt)
{
	struct bench_plot p;
	if (!bench_plot_open(&p, b->common.plot))
		return false;
	for (unsigned i = 0; i < b->points; i++)
		fprintf(p.data, "%u %g %g\n", pt[i].groups, bench_median(pt[i].runs.seconds, b->common.runs),
		    bench_median(pt[i].runs.duckdb, b->common.runs));
	FILE *g = bench_plot_draw(&p, 800, 500);
	if (g != NULL) {
		fprintf(g, "set title 'namdb bench agg: %u tuples, %s, %u worker(s)'\n", b->rows,
		    algorithm_name[b->algorithm], b->workers);
		fprintf(g, "set logscale x\nset xlabel 'groups'\nset ylabel 'seconds'\nset yrange [0:*]\n"
			   "set key left top\nplot ");
		bench_quote(g, p.data_name);
		fprintf(g, " using 1:2 with linespoints title 'namdb'");
		if (b->series.duckdb != NULL) {
			fprintf(g, ", ");
			bench_quote(g, p.data_name);
			fprintf(g, " using 1:3 with linespoints title 'DuckDB'");
		}
		fputc('\n', g);
	}
	return bench_plot_close(&p, b->common.plot_data);
}

/* ---- options ----------------------------------------------------------------------- */

static bool
take(void *arg, int letter, char *v)
{
	struct bench *b = arg;
	uint64_t x;
	char *end;
	switch (letter) {
	case 'n':
		if (!nam_number(v, 1, ROWS_MAX, &x))
			return false;
		b->rows = (unsigned)x;
		return true;
	case 'q':
		return bench_take_numbers(v, 1, ROWS_MAX, b->groups, POINTS, &b->points);
	case 'z':
		b->skew = strtod(v, &end);
		return end != v && *end == 0 && b->skew >= 0 && b->skew <= 3;
	case 'a':
		for (unsigned i = 0; i < ALGORITHMS; i++)
			if (strcmp(v, algorithm_name[i]) == 0) {
				b->algorithm = (enum olap_agg_algorithm)i;
				return true;
			}
		return false;
	case 'w':
		if (!nam_number(v, 1, POOL_WORKERS_MAX, &x))
			return false;
		b->workers = (unsigned)x;
		return true;
	case 'H':
		return b->hint = true;
	case 'e':
		return nam_number(v, 0, UINT32_MAX, &b->seed);
	case 'P':
		return b->peer = strcmp(v, "duckdb") == 0;
	default:
		return false;
	}
}

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench agg [options]\n"
	    "A relation in remote memory, grouped by its keys, with a sum for each group.\n"
	    "  --rows N         tuples (default 1000000)\n"
	    "  --groups LIST    groups that they are drawn from, one number after the other (default 1000)\n"
	    "  --skew Z         groups are drawn by Zipf's law with this exponent (default 0: evenly)\n"
	    "  --algorithm A    rdma (default) or classic\n"
	    "  --hint           the aggregation is told how many groups there are\n"
	    "  --workers N      worker threads (default 1)\n"
	    "  --peer duckdb    the same by DuckDB, with as many threads\n"
	    "  --seed N         of the data (default 1)\n");
	fprintf(to, "  --sim MODEL      in virtual time on a model of machines; see --sim fdr4x --help\n");
	bench_common_usage(to, "", "unused", "of each aggregation");
}

static nam_status
run(struct bench *b, struct point *pt, struct nam_err *err)
{
	uint64_t data = (uint64_t)b->rows * WIDTH;
	nam_status st = bench_pool_open(
	    &b->pool, b->workers, 1, data * 27 / 10 + (UINT64_C(512) << 20), &b->common, NULL, err);
	if (st != NAM_OK)
		return st;
	b->series = (struct series){
		.common = &b->common, .pool = &b->pool, .once = agg_once, .right = right, .arg = b
	};
	if (b->peer)
		bench_series_peer(&b->series, b->workers);
	b->points_at = pt;
	for (unsigned i = 0; st == NAM_OK && i < b->points; i++) {
		pt[i].groups = b->groups[i];
		st = measure(b, &pt[i]);
	}
	return st == NAM_OK ? st : nam_fail(err, st, "the aggregation ended: %s", nam_status_text(st));
}

int
bench_agg(int argc, char **argv)
{
	static const struct option opt[] = { { "rows", 1, NULL, 'n' }, { "groups", 1, NULL, 'q' },
		{ "skew", 1, NULL, 'z' }, { "algorithm", 1, NULL, 'a' }, { "hint", 0, NULL, 'H' },
		{ "workers", 1, NULL, 'w' }, { "peer", 1, NULL, 'P' }, { "seed", 1, NULL, 'e' },
		BENCH_COMMON_OPTIONS };
	static struct bench b = { .common = { .runs = 3, .fabric = NET_AUTO, .seconds = 1 },
		.rows = 1000000,
		.workers = 1,
		.groups = { 1000 },
		.points = 1,
		.seed = 1,
		.mutex = PTHREAD_MUTEX_INITIALIZER };
	struct nam_err err = { 0 };
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0)
			return bench_agg_sim(argc, argv);
	int code = bench_options(argc, argv, opt, &b.common, take, usage, &b);
	if (code != 0)
		return code - 1;
	if (b.common.plot != NULL && !bench_plot_ready(b.common.plot))
		return 1;
	struct point *pt = calloc(POINTS, sizeof *pt);
	nam_status st = pt != NULL ? run(&b, pt, &err) : nam_fail(&err, NAM_NOMEM, "no memory");
	bool ok = st == NAM_OK;
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	else
		report(&b);
	for (unsigned i = 0; ok && i < b.points; i++)
		ok = pt[i].runs.bad + pt[i].runs.duckdb_bad == 0;
	if (st == NAM_OK && b.common.plot != NULL)
		ok &= draw_picture(&b, pt);
	peer_duckdb_close(b.series.duckdb);
	bench_pool_close(&b.pool);
	free(pt);
	return ok ? 0 : 1;
}
