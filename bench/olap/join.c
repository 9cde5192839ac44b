/*
 * join.c -- `namdb bench join`: two relations in remote memory, joined; beside the memory floor of
 * the NAM paper's formula, and DuckDB.
 *
 * R has unique sparse keys. A tuple of S has a partner with the probability that --selectivity
 * says, and which one it is follows Zipf's law if --skew is not 0. Each join gives the number of
 * pairs, and the sums of both sides' payloads over them. What they must be follows from how S
 * was drawn, without a join.
 */
#include "join_data.h"
#include "join_tables.h"
#include "join_tcp.h"
#include "paper.h"
#include "series.h"

#include <base/number.h>
#include <olap/cost.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
	POINTS = 16,
	ROWS_MAX = 1u << 30,
	PAYLOAD_MAX = OLAP_WIDTH_MAX - 8,
	PROCESSES_MAX = 8,
	PARTICIPANTS_MAX = 64
};

static const char *const algorithm_name[] = { "rrj", "rdma-ghj", "broadcast" };
enum { ALGORITHMS = 3 };
/* As enum join_tcp_filters. */
static const char *const tcp_name[] = { "ghj", "ghj-bloom", "ghj-auto" };
enum { TCP_ALGORITHMS = 3 };

struct point {
	struct series_point runs;
	/* With other processes, in each run: the first one alone; then the last one is late. */
	double one[BENCH_RUNS_MAX], late[BENCH_RUNS_MAX], late_share[BENCH_RUNS_MAX];
	unsigned turns;
	double selectivity, floor_s, killed;
	struct join_sums want;
	unsigned bits, split, local_passes;
};

struct bench {
	struct bench_common common;
	unsigned rows[2]; /* R, S */
	unsigned payload, workers, processes;
	bool kill, late, pin;
	double skew, selectivity[POINTS];
	unsigned points, bits;
	enum olap_algorithm algorithm;
	bool peer;
	uint64_t seed;
	struct pool pool;
	struct pool_relation r, s;
	struct series series;
	struct olap_cost cost;
	/* nodes that share nothing, instead of olap's algorithms */
	bool tcp;
	enum join_tcp_filters filters;
	bool choose; /* the algorithm that the cost model says */
	bool tables; /* --from tables */
	/* of the join that runs */
	struct point *pt, *points_at;
	struct join_sums got;
	struct {
		double scan;
		unsigned bits, split;
		atomic_uint local_passes;
	} did;
	pthread_mutex_t mutex; /* pt->counts */
};

/* ---- the join ------------------------------------------------------------------- */

/* Pairs of 8 + 8 bytes: the usual case, without a loop over words. */
static nam_status
sink_fast(void *arg, const struct olap_pairs *p)
{
	struct join_sums *s = arg;
	uint64_t left = 0, right = 0;
	for (unsigned i = 0; i < p->n; i++) {
		left += ((const uint64_t *)p->left[i])[1];
		right += ((const uint64_t *)p->right[i])[1];
	}
	s->pairs += p->n;
	s->left += left;
	s->right += right;
	return NAM_OK;
}

struct wide {
	struct join_sums sums;
	unsigned words;
};

static nam_status
sink_wide(void *arg, const struct olap_pairs *p)
{
	struct wide *s = arg;
	for (unsigned i = 0; i < p->n; i++)
		for (unsigned w = 1; w < s->words; w++) {
			s->sums.left += ((const uint64_t *)p->left[i])[w];
			s->sums.right += ((const uint64_t *)p->right[i])[w];
		}
	s->sums.pairs += p->n;
	return NAM_OK;
}

static void
collect(void *arg, const void *result, uint32_t len)
{
	struct join_sums *sum = arg, one;
	if (len != sizeof one)
		return;
	memcpy(&one, result, sizeof one);
	sum->pairs += one.pairs;
	sum->left += one.left;
	sum->right += one.right;
}

/* What every participant must know, in any process. */
struct plan {
	struct olap_source left, right;
	enum olap_algorithm algorithm;
	unsigned participants;
};

static nam_status
join_main(struct pool_worker *w, struct olap_job *job, void *arg)
{
	uint32_t len;
	const struct plan *plan = olap_job_plan(job, &len);
	if (len != sizeof *plan)
		return NAM_CORRUPT;
	struct bench *b = arg;
	struct wide wide = { .words = plan->left.width / 8 };
	bool fast = plan->left.width == 16;
	struct olap_phase ph;
	struct olap_join j = { .kind = OLAP_INNER,
		.algorithm = plan->algorithm,
		.left = plan->left,
		.right = plan->right,
		.bits = b->bits,
		.workers = plan->participants,
		.memory = (size_t)4 << 30,
		.sink = fast ? sink_fast : sink_wide,
		.arg = &wide,
		.result = &wide.sums,
		.result_len = sizeof wide.sums };
	nam_status st = olap_join_run(job, &j, &ph);
	if (st == NAM_OK && w->number == 0 && w->pool->self == 0) {
		b->got = (struct join_sums){ 0 };
		st = olap_phase_results(&ph, collect, &b->got);
		b->did.scan = (double)j.did.scan_ns / 1e9;
		b->did.bits = j.did.bits;
		b->did.split = j.did.split;
	}
	if (w->pool->shared != NULL)
		atomic_fetch_add(&w->pool->shared->part[w->pool->self], wide.sums.pairs);
	if (w->pool->self == 0) {
		atomic_fetch_add(&b->did.local_passes, j.did.local_passes);
		pthread_mutex_lock(&b->mutex);
		net_counts_add(&b->pt->runs.counts, olap_job_counts(job));
		pthread_mutex_unlock(&b->mutex);
	}
	if (st == NAM_OK)
		olap_phase_end(&ph);
	return st;
}

static bool
same(const struct join_sums *a, const struct join_sums *b)
{
	return a->pairs == b->pairs && a->left == b->left && a->right == b->right;
}

/* By all processes, or by the first one alone. late: the last of them comes so much later. */
static bool
join_by(struct bench *b, bool alone, double late, double *seconds)
{
	atomic_store(&b->did.local_passes, 0);
	const struct plan plan = { b->s.source, b->r.source, b->algorithm,
		b->workers * (alone ? 1 : b->processes) };
	const struct pool_job j = { .fn = join_main,
		.arg = b,
		.plan = &plan,
		.plan_len = sizeof plan,
		.everyone = !alone,
		.late_s = late };
	nam_status st = bench_pool_job(&b->pool, &j, seconds);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: the join ended: %s\n", nam_status_text(st));
	else if (!same(&b->got, &b->pt->want))
		fprintf(stderr, "namdb bench: wrong answer: %llu pairs, expected %llu\n",
		    (unsigned long long)b->got.pairs, (unsigned long long)b->pt->want.pairs);
	b->pt->runs.bad += st != NAM_OK || !same(&b->got, &b->pt->want);
	return st == NAM_OK;
}

static bool
join_once(void *arg, double *seconds, double *pass)
{
	struct bench *b = arg;
	bool ok = join_by(b, false, 0, seconds);
	*pass = b->did.scan;
	return ok;
}

/* When the last process comes late: in the middle of what the others take without it. */
static double
middle(const struct bench *b, double one)
{
	return one / (b->processes - 1) / 2;
}

/* A run: by the first process alone, and with one that is late; then by all from the beginning. */
static bool
join_turn(void *arg, double *seconds, double *pass)
{
	struct bench *b = arg;
	struct point *pt = b->pt;
	unsigned k = pt->turns++;
	const struct net_counts counts = pt->runs.counts;
	if (b->processes > 1 && !join_by(b, true, 0, &pt->one[k]))
		return false;
	if (b->late) {
		if (!join_by(b, false, middle(b, pt->one[k]), &pt->late[k]))
			return false;
		pt->late_share[k] = pt->want.pairs > 0
					? (double)atomic_load(&b->pool.shared->part[b->processes - 1]) /
					      (double)pt->want.pairs
					: 0;
	}
	pt->runs.counts = counts; /* verbs are told of the last of them */
	if (b->processes > 1)
		fprintf(stderr, "one process: %.3f s%s", pt->one[k], b->late ? "" : "; all: ");
	if (b->late)
		fprintf(stderr, "; with one that is late: %.3f s; all: ", pt->late[k]);
	return join_once(b, seconds, pass);
}

/* The same question in SQL, of tuples of so many words. */
static void
question(unsigned words, char *sql, size_t size)
{
	char left[4096] = "0", right[4096] = "0";
	size_t l = 1, r = 1;
	for (unsigned w = 1; w < words; w++) {
		l += (size_t)snprintf(left + l, sizeof left - l, " + s.p%u", w);
		r += (size_t)snprintf(right + r, sizeof right - r, " + r.p%u", w);
	}
	snprintf(sql, size, "SELECT count(*), sum(%s)::BIGINT, sum(%s)::BIGINT FROM s JOIN r USING (k)",
	    l > 1 ? left + 4 : left, r > 1 ? right + 4 : right);
}

static bool
right(void *arg, const int64_t got[3])
{
	const struct bench *b = arg;
	const struct join_sums sums = { (uint64_t)got[0], (uint64_t)got[1], (uint64_t)got[2] };
	return same(&sums, &b->pt->want);
}

/* ---- the cost model ------------------------------------------------------------- */

static void
measure_cost(struct pool_worker *w, void *arg)
{
	struct bench *b = arg;
	if (w->number == 0)
		w->status = olap_cost_measure(w->w, w->pool->board, &b->cost);
}

static struct olap_size
size_of(const struct bench *b, unsigned side)
{
	return (struct olap_size){ b->rows[side], 8 + b->payload };
}

/* ---- a point ---------------------------------------------------------------------- */

static nam_status
measure(struct bench *b, struct point *pt)
{
	const struct join_draw d = { b->seed, b->rows[0], pt->selectivity, b->skew, 8 + b->payload };
	double first, pass;
	char sql[9000];
	b->pt = pt;
	b->s = (struct pool_relation){
		.tuples = b->rows[1], .width = d.width, .fill = bench_join_fill_s, .arg = &d
	};
	nam_status st = bench_pool_load(&b->pool, &b->s, "S");
	pt->want = bench_join_expected(&d, b->rows[1]);
	if (st == NAM_OK)
		st = bench_series_table(&b->series, "s", &b->s);
	if (st != NAM_OK)
		return st;
	join_once(b, &first, &pass); /* its pages are warm afterwards */
	pt->runs.counts = (struct net_counts){ 0 };
	question(d.width / 8, sql, sizeof sql);
	bench_series_runs(&b->series, &pt->runs, &b->s, "", sql);
	/* Once more, and a process dies in the middle. */
	if (b->kill && pt->runs.bad == 0) {
		bench_pool_kill(&b->pool, bench_median(pt->runs.seconds, b->common.runs) / 2);
		join_once(b, &pt->killed, &pass);
		fprintf(stderr, "with a death: %.3f s, %u processes left\n", pt->killed,
		    1 + bench_pool_helpers(&b->pool));
	}
	pt->bits = b->did.bits;
	pt->split = b->did.split;
	pt->local_passes = atomic_load(&b->did.local_passes);
	pt->floor_s = 2 * pt->runs.c_mem * d.width * ((double)b->rows[0] + (double)b->rows[1]);
	return bench_pool_end(&b->pool, b->s.job);
}

/* ---- the report -------------------------------------------------------------------- */

/* The median of what the runs took, over what one process took in the same run. */
static double
over_one(const struct point *pt, const double *seconds, unsigned runs)
{
	double ratio[BENCH_RUNS_MAX];
	for (unsigned k = 0; k < runs; k++)
		ratio[k] = pt->one[k] > 0 ? seconds[k] / pt->one[k] : 0;
	return bench_median(ratio, runs);
}

static void
processes_metrics(const struct bench *b, const struct point *pt, struct bench_metrics *m)
{
	unsigned runs = b->common.runs;
	double s = bench_median(pt->runs.seconds, runs), one = bench_median(pt->one, runs);
	bench_metric(m, "one_s", one);
	bench_metric(m, "one_ratio", over_one(pt, pt->runs.seconds, runs));
	if (b->late) {
		bench_metric(m, "late_s", bench_median(pt->late, runs));
		bench_metric(m, "late_one_ratio", over_one(pt, pt->late, runs));
		bench_metric(m, "late_share", bench_median(pt->late_share, runs));
	}
	if (b->kill) {
		bench_metric(m, "killed_s", pt->killed);
		bench_metric(m, "killed_ratio", s > 0 ? pt->killed / s : 0);
		bench_metric(m, "killed_one_ratio", one > 0 ? pt->killed / one : 0);
	}
}

static void
metrics(const void *arg, unsigned point, struct bench_metrics *m)
{
	const struct bench *b = arg;
	const struct point *pt = &b->points_at[point];
	unsigned runs = b->common.runs;
	double s = bench_median(pt->runs.seconds, runs);
	bench_metric(m, "selectivity", pt->selectivity);
	bench_metric(m, "join_s", s);
	bench_metric(m, "pass_s", bench_median(pt->runs.pass, runs));
	bench_metric(m, "tuples_per_s", s > 0 ? ((double)b->rows[0] + (double)b->rows[1]) / s : 0);
	bench_metric(m, "pairs", (double)pt->want.pairs);
	bench_metric(m, "fan_out", (double)(1u << pt->bits));
	bench_metric(m, "split_partitions", pt->split);
	bench_metric(m, "local_passes", pt->local_passes);
	bench_metric(m, "c_mem_ns_per_byte", pt->runs.c_mem * 1e9);
	bench_metric(m, "floor_s", pt->floor_s);
	bench_metric(m, "floor_ratio", pt->floor_s > 0 ? s / pt->floor_s : 0);
	struct olap_estimate e =
	    olap_cost_join(&b->cost, b->algorithm, size_of(b, 1), size_of(b, 0), b->workers * b->processes);
	bench_metric(m, "estimate_s", e.seconds);
	bench_metric(m, "estimate_memory_s", e.memory);
	bench_metric(m, "estimate_network_s", e.network);
	bench_metric(m, "estimate_processor_s", e.processor);
	bench_metric(m, "cost_byte_ns", b->cost.memory * 1e9);
	bench_metric(m, "cost_partition_ns", b->cost.partition * 1e9);
	bench_metric(m, "cost_build_ns", b->cost.build * 1e9);
	bench_metric(m, "cost_probe_ns", b->cost.probe * 1e9);
	bench_metric(m, "cost_round_trip_ns", b->cost.round_trip * 1e9);
	bench_series_verbs(m, &pt->runs, runs);
	if (b->processes > 1)
		processes_metrics(b, pt, m);
	bench_series_judged(m, &b->series, &pt->runs);
}

static void
report(const struct bench *b)
{
	const struct bench_common *c = &b->common;
	if (c->json) {
		printf("{\"bench\": \"join\", \"provider\": \"%s\", \"params\": {\"rows\": [%u, %u], "
		       "\"payload\": %u, \"skew\": %g, \"algorithm\": \"%s\", \"workers\": %u, "
		       "\"processes\": %u, \"pinned\": %s, \"runs\": %u, \"seed\": %llu, \"embedded\": %s",
		    b->pool.provider, b->rows[0], b->rows[1], b->payload, b->skew,
		    algorithm_name[b->algorithm], b->workers, b->processes,
		    b->pool.cores > 0 ? "true" : "false", c->runs, (unsigned long long)b->seed,
		    c->storage == NULL && b->pool.node == 0 ? "true" : "false");
		bench_series_params_end(&b->series);
	} else {
		printf("join %u x %u, tuples of 8 + %u bytes, skew %g, %s, %s, %u worker%s, median of %u\n",
		    b->rows[0], b->rows[1], b->payload, b->skew, algorithm_name[b->algorithm],
		    b->pool.provider, b->workers, b->workers > 1 ? "s" : "", c->runs);
		if (b->processes > 1)
			printf("  %u processes%s\n", b->processes,
			    b->pool.cores > 0 ? ", each worker on a core of its own" : "");
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
		fprintf(p.data, "%g %g %g %g\n", pt[i].selectivity,
		    bench_median(pt[i].runs.seconds, b->common.runs), pt[i].floor_s,
		    bench_median(pt[i].runs.duckdb, b->common.runs));
	FILE *g = bench_plot_draw(&p, 800, 500);
	if (g != NULL) {
		fprintf(g, "set title 'namdb bench join: %u x %u, %s, %u worker(s)'\n", b->rows[0],
		    b->rows[1], algorithm_name[b->algorithm], b->workers);
		fprintf(g, "set xlabel 'selectivity'\nset ylabel 'seconds'\nset yrange [0:*]\n"
			   "set key left top\nplot ");
		bench_quote(g, p.data_name);
		fprintf(g, " using 1:2 with linespoints title 'namdb', ");
		bench_quote(g, p.data_name);
		fprintf(g, " using 1:3 with lines title '2 c_{mem} (w_r|R| + w_s|S|)'");
		if (b->series.duckdb != NULL) {
			fprintf(g, ", ");
			bench_quote(g, p.data_name);
			fprintf(g, " using 1:4 with linespoints title 'DuckDB'");
		}
		fputc('\n', g);
	}
	return bench_plot_close(&p, b->common.plot_data);
}

/* ---- options ----------------------------------------------------------------------- */

static bool
take_rows(struct bench *b, char *list)
{
	unsigned n;
	if (!bench_take_numbers(list, 1, ROWS_MAX, b->rows, 2, &n))
		return false;
	if (n == 1)
		b->rows[1] = b->rows[0];
	return true;
}

static bool
take_share(const char *s, double most, double *out)
{
	char *end;
	*out = strtod(s, &end);
	return end != s && *end == 0 && *out >= 0 && *out <= most;
}

static bool
take(void *arg, int letter, char *v)
{
	struct bench *b = arg;
	uint64_t x;
	switch (letter) {
	case 'n':
		return take_rows(b, v);
	case 'p':
		if (!nam_number(v, 8, PAYLOAD_MAX, &x) || x % 8 != 0)
			return false;
		b->payload = (unsigned)x;
		return true;
	case 'x':
		b->points = 0;
		for (char *w; (w = bench_word_of(&v)) != NULL; b->points++)
			if (b->points == POINTS || !take_share(w, 1, &b->selectivity[b->points]))
				return false;
		return b->points > 0;
	case 'z':
		return take_share(v, 3, &b->skew);
	case 'a':
		b->choose = strcmp(v, "auto") == 0;
		b->tcp = false;
		for (unsigned i = 0; i < TCP_ALGORITHMS; i++)
			if (strcmp(v, tcp_name[i]) == 0) {
				b->filters = (enum join_tcp_filters)i;
				return b->tcp = true;
			}
		for (unsigned i = 0; i < ALGORITHMS; i++)
			if (strcmp(v, algorithm_name[i]) == 0) {
				b->algorithm = (enum olap_algorithm)i;
				return true;
			}
		return b->choose;
	case 'f':
		b->tables = strcmp(v, "tables") == 0;
		return b->tables || strcmp(v, "relations") == 0;
	case 'w':
		if (!nam_number(v, 1, POOL_WORKERS_MAX, &x))
			return false;
		b->workers = (unsigned)x;
		return true;
	case 'Z':
		if (!nam_number(v, 1, PROCESSES_MAX, &x))
			return false;
		b->processes = (unsigned)x;
		return true;
	case 'K':
		return b->kill = true;
	case 'L':
		return b->late = true;
	case 'i':
		b->pin = true;
		b->pool.cores = 0;
		return strcmp(v, "none") == 0 || bench_take_numbers(v, 0, CPU_SETSIZE - 1, b->pool.core,
						     POOL_CORES_MAX, &b->pool.cores);
	case 'B':
		if (!nam_number(v, 0, OLAP_BITS_MAX, &x))
			return false;
		b->bits = (unsigned)x;
		return true;
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
	    "usage: namdb bench join [options]\n"
	    "Two relations in remote memory, joined; beside the memory floor of the NAM paper's formula.\n"
	    "  --rows R,S       tuples of both sides (default 1000000,1000000); R's keys are unique\n"
	    "  --payload B      bytes behind each tuple's 8-byte key, a multiple of 8 (default 8)\n"
	    "  --selectivity X  share of S that has a partner in R; a list: each in turn (default 1)\n"
	    "  --skew Z         partners are drawn by Zipf's law with this exponent (default 0: evenly)\n"
	    "  --algorithm A    rrj (default), rdma-ghj, broadcast, or auto: as the cost model says;\n"
	    "                   ghj, ghj-bloom: processes that share nothing, by messages over TCP, without\n"
	    "                   and with Bloom filters; ghj-auto: with them if the cost model says so\n"
	    "  --from F         relations (default): in remote memory, without transactions; tables: "
	    "namdb's\n"
	    "                   own, at one snapshot: cold, and with columns kept of a scan before\n"
	    "  --bits N         2^N partitions (default 0: as the sizes ask)\n"
	    "  --workers N      worker threads (default 1)\n"
	    "  --processes N    that take part, with so many workers each (default 1)\n"
	    "  --late           each run once more, in which one of them takes part from the middle on\n"
	    "  --kill           one run more, in whose middle such a process is killed\n"
	    "  --pin LIST       a core for each worker, one process after the other; none: where the\n"
	    "                   kernel likes (default: with several processes, if there are as many cores)\n"
	    "  --peer duckdb    the same join by DuckDB, with as many threads\n"
	    "  --seed N         of the data (default 1)\n");
	fprintf(to, "  --sim MODEL      in virtual time on a model of machines; see --sim fdr4x --help\n");
	bench_common_usage(to, "", "unused", "of each join");
}

static nam_status
run(struct bench *b, struct point *pt, struct nam_err *err)
{
	uint32_t width = 8 + b->payload;
	uint64_t data = ((uint64_t)b->rows[0] + b->rows[1]) * width;
	const struct join_draw d = { b->seed, b->rows[0], 0, 0, width };
	nam_status st = bench_pool_open(
	    &b->pool, b->workers, b->processes, data * 27 / 10 + (UINT64_C(512) << 20), &b->common, b, err);
	if (st != NAM_OK)
		return st;
	if ((st = bench_pool_run(&b->pool, measure_cost, b)) != NAM_OK)
		return nam_fail(err, st, "no constants of costs: %s", nam_status_text(st));
	if (b->choose)
		b->algorithm = olap_cost_choose(
		    &b->cost, OLAP_INNER, size_of(b, 1), size_of(b, 0), b->workers * b->processes);
	b->series = (struct series){
		.common = &b->common, .pool = &b->pool, .once = join_turn, .right = right, .arg = b
	};
	if (b->peer)
		bench_series_peer(&b->series, b->workers * b->processes);
	b->points_at = pt;
	b->r = (struct pool_relation){
		.tuples = b->rows[0], .width = width, .fill = bench_join_fill_r, .arg = &d
	};
	st = bench_pool_load(&b->pool, &b->r, "R");
	if (st == NAM_OK)
		st = bench_series_table(&b->series, "r", &b->r);
	for (unsigned i = 0; st == NAM_OK && i < b->points; i++) {
		pt[i].selectivity = b->selectivity[i];
		st = measure(b, &pt[i]);
	}
	if (st == NAM_OK)
		st = bench_pool_end(&b->pool, b->r.job);
	return st == NAM_OK ? st : nam_fail(err, st, "the join ended: %s", nam_status_text(st));
}

/* ---- processes that share nothing ---------------------------------------------------- */

static void
tcp_metrics(const struct join_tcp *j, struct bench_metrics *m, double selectivity, unsigned bad)
{
	double s = bench_median(j->seconds, j->runs), all = (double)(j->rows[0] + j->rows[1]);
	bench_metric(m, "selectivity", selectivity);
	bench_metric(m, "join_s", s);
	bench_metric(m, "tuples_per_s", s > 0 ? all / s : 0);
	bench_metric(m, "pairs", (double)j->sums[0].pairs);
	bench_metric(m, "message_bytes", (double)j->bytes);
	bench_metric(m, "filter_bytes", (double)j->filter_bytes);
	bench_metric(m, "kept_out_share", (double)j->kept_out / all);
	bench_metric(m, "filters", j->filtered);
	bench_metric(m, "estimate_s", j->estimate.seconds);
	bench_metric(m, "estimate_network_s", j->estimate.network);
	bench_metric(m, "cost_message_byte_ns", j->cost.network * 1e9);
	bench_metric(m, "check_errors", bad);
}

static nam_status
tcp_point(struct bench *b, double selectivity, struct bench_metrics *m, unsigned *bad, struct nam_err *err)
{
	static struct join_tcp j;
	j = (struct join_tcp){ .processes = b->processes,
		.runs = b->common.runs,
		.rows = { b->rows[0], b->rows[1] },
		.draw = { b->seed, b->rows[0], selectivity, b->skew, 8 + b->payload },
		.filters = b->filters,
		.cost = b->cost };
	nam_status st = bench_join_tcp(&j, err);
	if (st != NAM_OK)
		return st;
	const struct join_sums want = bench_join_expected(&j.draw, b->rows[1]);
	unsigned wrong = 0;
	for (unsigned k = 0; k < j.runs; k++)
		wrong += !same(&j.sums[k], &want);
	if (wrong > 0)
		fprintf(stderr, "namdb bench: wrong answer: %llu pairs, expected %llu\n",
		    (unsigned long long)j.sums[0].pairs, (unsigned long long)want.pairs);
	*bad += wrong;
	tcp_metrics(&j, m, selectivity, wrong);
	return NAM_OK;
}

/* The constants of costs: measured before any process is made. */
static nam_status
tcp_costs(struct bench *b, struct nam_err *err)
{
	static struct pool pool;
	const struct bench_common embedded = { .fabric = NET_AUTO, .cluster = b->common.cluster };
	nam_status st = bench_pool_open(&pool, 1, 1, UINT64_C(64) << 20, &embedded, b, err);
	if (st == NAM_OK && (st = bench_pool_run(&pool, measure_cost, b)) != NAM_OK)
		nam_fail(err, st, "no constants of costs: %s", nam_status_text(st));
	bench_pool_close(&pool);
	return st;
}

static int
tcp_main(struct bench *b)
{
	struct nam_err err = { 0 };
	bool json = b->common.json, list = json && b->points > 1;
	unsigned bad = 0;
	nam_status st = tcp_costs(b, &err);
	if (json)
		printf("{\"bench\": \"join\", \"provider\": \"sockets\", \"params\": {\"rows\": [%u, %u], "
		       "\"payload\": %u, \"skew\": %g, \"algorithm\": \"%s\", \"processes\": %u, "
		       "\"runs\": %u, \"seed\": %llu}, %s",
		    b->rows[0], b->rows[1], b->payload, b->skew, tcp_name[b->filters], b->processes,
		    b->common.runs, (unsigned long long)b->seed, list ? "\"points\": [" : "");
	else
		printf("join %u x %u, tuples of 8 + %u bytes, skew %g, %s, %u processes over TCP, median of "
		       "%u\n",
		    b->rows[0], b->rows[1], b->payload, b->skew, tcp_name[b->filters], b->processes,
		    b->common.runs);
	for (unsigned i = 0; st == NAM_OK && i < b->points; i++) {
		struct bench_metrics m = { .json = json, .comma = "" };
		if (json)
			printf("%s%s\"metrics\": {", i > 0 ? ", " : "", list ? "{" : "");
		st = tcp_point(b, b->selectivity[i], &m, &bad, &err);
		printf("%s", list ? "}}" : json ? "}" : "");
	}
	printf("%s", list ? "]}\n" : json ? "}\n" : "");
	fflush(stdout);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	return st == NAM_OK && bad == 0 ? 0 : 1;
}

int
bench_join(int argc, char **argv)
{
	static const struct option opt[] = { { "rows", 1, NULL, 'n' }, { "payload", 1, NULL, 'p' },
		{ "selectivity", 1, NULL, 'x' }, { "skew", 1, NULL, 'z' }, { "algorithm", 1, NULL, 'a' },
		{ "bits", 1, NULL, 'B' }, { "workers", 1, NULL, 'w' }, { "processes", 1, NULL, 'Z' },
		{ "kill", 0, NULL, 'K' }, { "late", 0, NULL, 'L' }, { "pin", 1, NULL, 'i' },
		{ "from", 1, NULL, 'f' }, { "peer", 1, NULL, 'P' }, { "seed", 1, NULL, 'e' },
		BENCH_COMMON_OPTIONS };
	static struct bench b = { .common = { .runs = 3, .fabric = NET_AUTO, .seconds = 1 },
		.rows = { 1000000, 1000000 },
		.payload = 8,
		.workers = 1,
		.processes = 1,
		.selectivity = { 1 },
		.points = 1,
		.seed = 1,
		.mutex = PTHREAD_MUTEX_INITIALIZER };
	struct nam_err err = { 0 };
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--sim", 5) == 0)
			return bench_join_sim(argc, argv);
	int code = bench_options(argc, argv, opt, &b.common, take, usage, &b);
	if (code != 0)
		return code - 1;
	if (b.workers * b.processes > PARTICIPANTS_MAX)
		return bench_bad_use(
			   argv[0], "a join has 64 participants at most: workers of all processes") -
		       1;
	if ((b.kill || b.late) && b.processes < 2)
		return bench_bad_use(argv[0], "--kill and --late go with --processes 2 or more") - 1;
	if (b.pool.cores > 0 && b.pool.cores != b.workers * b.processes)
		return bench_bad_use(argv[0], "--pin takes a core for each worker of all processes") - 1;
	if (b.processes > 1 && !b.pin)
		bench_pool_spread(&b.pool, b.workers * b.processes);
	if (b.tcp && (b.workers > 1 || b.kill || b.late || b.pin || b.peer || b.common.plot != NULL ||
			 b.common.storage != NULL || b.bits > 0))
		return bench_bad_use(argv[0],
			   "ghj has neither --workers, --kill, --late, --pin, --peer, --plot, "
			   "--storage nor --bits: its processes have one thread and no storage") -
		       1;
	if (b.tables && (b.tcp || b.choose || b.algorithm == OLAP_BROADCAST || b.processes > 1 || b.pin ||
			    b.common.storage != NULL || b.common.plot != NULL))
		return bench_bad_use(argv[0],
			   "--from tables takes rrj and rdma-ghj, and has neither --processes, --pin, "
			   "--storage nor --plot") -
		       1;
	if (b.tables) {
		const struct join_tables t = { &b.common, { b.rows[0], b.rows[1] }, b.payload, b.workers,
			b.bits, b.algorithm, b.seed, b.skew, b.selectivity, b.points, b.peer };
		return bench_join_tables(&t);
	}
	if (b.tcp)
		return tcp_main(&b);
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
