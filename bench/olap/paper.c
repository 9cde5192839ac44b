/*
 * paper.c -- the NAM paper's figure 8 on a model of its cluster, and figure 7 from its cost model:
 * joins by selectivity, aggregations by groups. Each answer is compared with what must come out.
 */
#include "paper.h"
#include "paper_sim.h"

#include <base/hash.h>
#include <base/number.h>
#include <bench/bench.h>
#include <olap/cost.h>
#include <olap/shuffle/shuffle.h>

#include <stdlib.h>
#include <string.h>

enum { POINTS = 12, WAYS = 6, MACHINES_MAX = 16 };

/* A way to do it. */
struct way {
	const char *name;
	const char *stack; /* NULL = verbs */
	bool filters;
	int algorithm;
};
static const struct way join_way[WAYS] = {
	{ "ghj-ipoeth", "ipoeth", false, 0 },
	{ "ghj-bloom-ipoeth", "ipoeth", true, 0 },
	{ "ghj-ipoib", "ipoib", false, 0 },
	{ "ghj-bloom-ipoib", "ipoib", true, 0 },
	{ "rdma-ghj", NULL, false, OLAP_RDMA_GHJ },
	{ "rrj", NULL, false, OLAP_RRJ },
};
static const struct way agg_way[] = {
	{ "dist-agg-ipoeth", "ipoeth", false, 0 },
	{ "dist-agg-ipoib", "ipoib", false, 0 },
	{ "rdma-agg", NULL, false, OLAP_RDMA_AGG },
};
enum { AGG_WAYS = sizeof agg_way / sizeof agg_way[0] };

struct paper {
	bool agg, listed; /* --selectivity is given */
	const char *model;
	unsigned compute, storage, threads, rows;
	uint64_t seed;
	bool json, plot_data, measure;
	const char *plot;
	double selectivity[POINTS];
	unsigned groups[POINTS], machines[POINTS], points;
	unsigned scale_points;
	bool scales; /* the points are machines, which share the same tuples */
	const struct way *way;
	unsigned ways;
	struct paper_cluster cluster;
	struct paper_result result[POINTS][WAYS];
	unsigned bad;
};

/* ---- what must come out --------------------------------------------------------------- */

struct draw {
	uint64_t seed, groups;
};

static uint64_t
key_of(uint64_t group)
{
	return nam_mix(group + 1) >> 1;
}

static void
fill_groups(const void *arg, uint64_t first, unsigned n, void *tuples)
{
	const struct draw *d = arg;
	uint64_t *t = tuples;
	for (uint64_t i = first; i < first + n; i++, t += 2) {
		uint64_t h = nam_mix(d->seed + i * 2);
		t[0] = key_of((uint64_t)(((unsigned __int128)h * d->groups) >> 64));
		t[1] = nam_mix(d->seed + i * 2 + 1) >> 44;
	}
}

static bool
expected_groups(const struct draw *d, uint64_t rows, uint64_t sums[3])
{
	uint64_t *sum = calloc(d->groups, 8), t[2];
	uint8_t *there = calloc(d->groups, 1);
	bool ok = sum != NULL && there != NULL;
	memset(sums, 0, 24);
	for (uint64_t i = 0; ok && i < rows; i++) {
		uint64_t g = (uint64_t)(((unsigned __int128)nam_mix(d->seed + i * 2) * d->groups) >> 64);
		fill_groups(d, i, 1, t);
		sum[g] += t[1];
		there[g] = 1;
	}
	for (uint64_t g = 0; ok && g < d->groups; g++)
		if (there[g]) {
			const uint64_t group[2] = { key_of(g), sum[g] };
			bench_paper_take_groups(sums, group, 1);
		}
	free(sum);
	free(there);
	return ok;
}

/* ---- points --------------------------------------------------------------------------- */

static nam_status
run_way(struct paper *p, const struct paper_relation *rel, unsigned groups, const struct way *w,
    struct paper_result *out)
{
	const struct paper_cluster *c = &p->cluster;
	const struct net_sim_stack *stack = w->stack != NULL ? net_sim_stack_find(p->model, w->stack) : NULL;
	if (w->stack != NULL && stack == NULL)
		return NAM_INVALID;
	if (p->agg)
		return stack != NULL ? bench_paper_sums_sockets(c, rel, stack, out)
				     : bench_paper_sums_verbs(
					   c, rel, groups, (enum olap_agg_algorithm)w->algorithm, out);
	return stack != NULL ? bench_paper_join_sockets(c, rel, stack, w->filters, out)
			     : bench_paper_join_verbs(c, rel, (enum olap_algorithm)w->algorithm, out);
}

static uint64_t
all_rows(const struct paper *p)
{
	return (uint64_t)p->rows * p->compute;
}

static nam_status
run_point(struct paper *p, unsigned at)
{
	uint64_t all = all_rows(p), want[3];
	const struct join_draw d = { p->seed, all, p->selectivity[p->scales ? 0 : at], 0, PAPER_WIDTH };
	const struct draw g = { p->seed, p->groups[at] };
	const struct paper_relation join[2] = { { bench_join_fill_s, &d }, { bench_join_fill_r, &d } };
	const struct paper_relation agg = { fill_groups, &g };
	nam_status st = NAM_OK;
	if (p->scales) {
		p->cluster.compute = p->machines[at];
		p->cluster.rows = all / p->machines[at];
	}
	if (p->agg) {
		st = expected_groups(&g, all, want) ? NAM_OK : NAM_NOMEM;
	} else {
		struct join_sums s = bench_join_expected(&d, all);
		want[0] = s.pairs;
		want[1] = s.left;
		want[2] = s.right;
	}
	for (unsigned w = 0; st == NAM_OK && w < p->ways; w++) {
		struct paper_result *r = &p->result[at][w];
		st = run_way(p, p->agg ? &agg : join, p->groups[at], &p->way[w], r);
		if (st == NAM_OK && memcmp(r->sums, want, sizeof want) != 0) {
			fprintf(stderr, "namdb bench: wrong answer of %s: %llu, expected %llu\n",
			    p->way[w].name, (unsigned long long)r->sums[0], (unsigned long long)want[0]);
			p->bad++;
		}
		bench_progress("point %u of %u, %s", at + 1, p->points, p->way[w].name);
	}
	return st;
}

/* ---- figure 7 -------------------------------------------------------------------------- */

/* Seconds for a byte over a stack, one message after the other: port and both sides' CPU. */
static double
c_net(const struct net_sim_stack *k)
{
	double cpu = (double)(k->send_ns + k->take_ns) / k->window;
	return 1e-9 * (k->port_ps / 1e3 * (1 + (double)k->header / k->mtu) + cpu);
}

/* As in the paper: |R| = |S| = 1 M, 8 bytes, c_mem 1 ns, filters that err by 10 %. */
static double
cost7(const struct paper *p, const struct way *w, double selectivity)
{
	const double bytes = 16e6, c_mem = 1e-9, error = 0.1;
	const struct net_sim_stack *k = w->stack != NULL ? net_sim_stack_find(p->model, w->stack) : NULL;
	enum olap_paper a = k == NULL    ? w->algorithm == OLAP_RRJ ? OLAP_PAPER_RRJ : OLAP_PAPER_RDMA_GHJ
			    : w->filters ? OLAP_PAPER_GHJ_BLOOM
					 : OLAP_PAPER_GHJ;
	return olap_cost_paper(a, c_mem, k != NULL ? c_net(k) : 0, bytes, selectivity, error);
}

/* ---- the report -------------------------------------------------------------------------- */

static const char *
limit_of(const struct paper_result *r, double *share)
{
	const char *name = "cpu";
	*share = r->cpu;
	if (r->port > *share) {
		name = "port";
		*share = r->port;
	}
	if (r->stack > *share) {
		name = "kernel";
		*share = r->stack;
	}
	if (r->storage > *share) {
		name = "storage port";
		*share = r->storage;
	}
	return name;
}

/* How much faster than the first point's. */
static double
speed_up(const struct paper *p, unsigned at, unsigned way)
{
	double s = p->result[at][way].seconds;
	return s > 0 ? p->result[0][way].seconds / s : 0;
}

static void
json_point(const struct paper *p, unsigned i)
{
	if (p->scales)
		printf("\"machines\": %u", p->machines[i]);
	else if (p->agg)
		printf("\"groups\": %u", p->groups[i]);
	else
		printf("\"selectivity\": %g", p->selectivity[i]);
}

static void
report_json(const struct paper *p)
{
	printf("{\"bench\": \"%s\", \"provider\": \"sim\", \"model\": \"%s\", \"nodes\": \"%u+%u\", "
	       "\"params\": {\"rows\": %u, \"threads\": %u, \"seed\": %llu}, \"points\": [",
	    p->agg ? "agg" : "join", p->model, p->compute, p->storage, p->rows, p->threads,
	    (unsigned long long)p->seed);
	for (unsigned i = 0; i < p->points; i++) {
		printf("%s{", i > 0 ? ", " : "");
		json_point(p, i);
		for (unsigned w = 0; w < p->ways; w++) {
			const struct paper_result *r = &p->result[i][w];
			double share;
			const char *limit = limit_of(r, &share);
			printf(", \"%s\": {\"run_s\": %.6g, \"out_bytes\": %.0f, \"kept_out_share\": %.4g, "
			       "\"limit\": \"%s\", \"utilisation\": %.3g",
			    p->way[w].name, r->seconds, r->out_bytes, r->kept_out, limit, share);
			if (p->scales)
				printf(", \"speed_up\": %.4g", speed_up(p, i, w));
			else if (!p->agg)
				printf(", \"figure7_s\": %.6g", cost7(p, &p->way[w], p->selectivity[i]));
			printf("}");
		}
		printf("}");
	}
	printf("], \"metrics\": {\"check_errors\": %u}}\n", p->bad);
}

/* One join by more and more machines. */
static void
report_scaling(const struct paper *p)
{
	printf("join on %s: machines of %u threads, %u storage nodes for verbs; two relations of %llu tuples "
	       "of %d "
	       "bytes, selectivity %g\n",
	    p->model, p->threads, p->storage, (unsigned long long)all_rows(p), PAPER_WIDTH,
	    p->selectivity[0]);
	for (unsigned i = 0; i < p->points; i++) {
		printf("%u machine%s\n", p->machines[i], p->machines[i] > 1 ? "s" : "");
		for (unsigned w = 0; w < p->ways; w++) {
			const struct paper_result *r = &p->result[i][w];
			double share;
			const char *limit = limit_of(r, &share);
			printf("  %-18s %9.3f ms  %5.2f times as fast as on %u; %s %.0f %%\n", p->way[w].name,
			    r->seconds * 1e3, speed_up(p, i, w), p->machines[0], limit, 100 * share);
		}
	}
}

static void
report_table(const struct paper *p)
{
	if (p->scales) {
		report_scaling(p);
		return;
	}
	printf("%s on %s: %u machines of %u threads%s, %u storage nodes for verbs; %u tuples of %d bytes on "
	       "each\n",
	    p->agg ? "aggregation" : "join", p->model, p->compute, p->threads,
	    p->agg ? "" : ", two relations", p->storage, p->rows, PAPER_WIDTH);
	for (unsigned i = 0; i < p->points; i++) {
		if (p->agg)
			printf("%u groups\n", p->groups[i]);
		else
			printf("selectivity %g\n", p->selectivity[i]);
		double least = p->result[i][p->ways - 1].seconds;
		for (unsigned w = 0; w < p->ways; w++) {
			const struct paper_result *r = &p->result[i][w];
			double share;
			const char *limit = limit_of(r, &share);
			printf("  %-18s %9.3f ms  %5.2f times %s; %s %.0f %%", p->way[w].name,
			    r->seconds * 1e3, least > 0 ? r->seconds / least : 0, p->way[p->ways - 1].name,
			    limit, 100 * share);
			if (r->kept_out > 0)
				printf("; filters keep %.0f %% out", 100 * r->kept_out);
			if (!p->agg)
				printf("; figure 7: %.1f ms", 1e3 * cost7(p, &p->way[w], p->selectivity[i]));
			putchar('\n');
		}
	}
}

/* Data blocks, which gnuplot wants before a multiplot begins. */
static void
figure7_data(const struct paper *p, FILE *g)
{
	for (unsigned w = 0; w < p->ways; w++) {
		fprintf(g, "$cost%u << EOD\n", w);
		for (unsigned i = 0; i <= 20; i++)
			fprintf(g, "%g %g\n", i / 20.0, 1e3 * cost7(p, &p->way[w], i / 20.0));
		fprintf(g, "EOD\n");
	}
}

static void
draw_figure7(const struct paper *p, FILE *g)
{
	fprintf(g, "set title \"figure 7: costs by the paper's formulas\"\nset xlabel 'selectivity'\n"
		   "set ylabel 'ms'\nset xrange [0:1]\nset logscale y\nplot ");
	for (unsigned w = 0; w < p->ways; w++)
		fprintf(g, "%s$cost%u using 1:2 with lines lt %u lw 2 title '%s'", w > 0 ? ", " : "", w,
		    w + 1, p->way[w].name);
	fprintf(g, "\n");
}

static bool
draw_scaling(const struct paper *p)
{
	struct bench_plot plot;
	if (!bench_plot_open(&plot, p->plot))
		return false;
	for (unsigned i = 0; i < p->points; i++) {
		fprintf(plot.data, "%u", p->machines[i]);
		for (unsigned w = 0; w < p->ways; w++)
			fprintf(plot.data, " %g", speed_up(p, i, w));
		fputc('\n', plot.data);
	}
	FILE *g = bench_plot_draw(&plot, 700, 550);
	if (g != NULL) {
		fprintf(g,
		    "set grid\nset key below\nset title \"one join on %s: %llu x %llu tuples\"\n"
		    "set xlabel 'compute machines'\nset ylabel 'times as fast as on %u'\n"
		    "set xrange [0:*]\nset yrange [0:*]\nset xtics 1\nplot x / %u. with lines dt 2 title "
		    "'ideal'",
		    p->model, (unsigned long long)all_rows(p), (unsigned long long)all_rows(p),
		    p->machines[0], p->machines[0]);
		for (unsigned w = 0; w < p->ways; w++) {
			fprintf(g, ", ");
			bench_quote(g, plot.data_name);
			fprintf(g, " using 1:%u with linespoints lt %u pt 7 title '%s'", w + 2, w + 1,
			    p->way[w].name);
		}
		fputc('\n', g);
	}
	return bench_plot_close(&plot, p->plot_data);
}

static bool
draw_picture(const struct paper *p)
{
	struct bench_plot plot;
	if (p->scales)
		return draw_scaling(p);
	if (!bench_plot_open(&plot, p->plot))
		return false;
	for (unsigned i = 0; i < p->points; i++) {
		fprintf(plot.data, "%g", p->agg ? (double)p->groups[i] : p->selectivity[i]);
		for (unsigned w = 0; w < p->ways; w++)
			fprintf(plot.data, " %g", 1e3 * p->result[i][w].seconds);
		fputc('\n', plot.data);
	}
	FILE *g = bench_plot_draw(&plot, p->agg ? 700 : 1200, 550);
	if (g != NULL) {
		if (!p->agg)
			figure7_data(p, g);
		fprintf(g, "set grid\nset key below\nset multiplot layout 1,%d\n", p->agg ? 1 : 2);
		if (!p->agg)
			draw_figure7(p, g);
		fprintf(g, "set title \"figure 8%s on %s: %u tuples a machine%s\"\nset ylabel 'ms'\n",
		    p->agg ? "b" : "a", p->model, p->rows, p->agg ? "" : " and relation");
		fprintf(g, p->agg ? "set xlabel 'groups'\nset yrange [0:*]\nset format x '%%.0s%%c'\nplot "
				  : "set xlabel 'selectivity'\nset xrange [1:0]\nset logscale y\nplot ");
		for (unsigned w = 0; w < p->ways; w++) {
			fprintf(g, "%s", w > 0 ? ", " : "");
			bench_quote(g, plot.data_name);
			fprintf(g, " using 1:%u with linespoints lt %u pt 7 title '%s'", w + 2, w + 1,
			    p->way[w].name);
		}
		fprintf(g, "\nunset multiplot\n");
	}
	return bench_plot_close(&plot, p->plot_data);
}

/* ---- options ---------------------------------------------------------------------------- */

static bool
take_nodes(struct paper *p, const char *v)
{
	char *end;
	unsigned long c = strtoul(v, &end, 10);
	if (end == v || *end != '+' || c < 1 || c > MACHINES_MAX)
		return false;
	unsigned long s = strtoul(end + 1, &end, 10);
	p->compute = (unsigned)c;
	p->storage = (unsigned)s;
	return *end == 0 && s >= 1 && s <= MACHINES_MAX;
}

static bool
take_selectivities(struct paper *p, char *v)
{
	p->points = 0;
	for (char *w; (w = bench_word_of(&v)) != NULL; p->points++) {
		char *end;
		double x = strtod(w, &end);
		if (p->points == POINTS || end == w || *end != 0 || !(x >= 0 && x <= 1))
			return false;
		p->selectivity[p->points] = x;
	}
	return p->points > 0;
}

static bool
take(struct paper *p, int letter, char *v)
{
	uint64_t x;
	switch (letter) {
	case 'm':
		p->model = v;
		return net_sim_model_find(v) != NULL && bench_work_ghz(v) > 0;
	case 'n':
		return take_nodes(p, v);
	case 'R':
		if (!nam_number(v, 1, 1u << 26, &x))
			return false;
		p->rows = (unsigned)x;
		return true;
	case 't':
		if (!nam_number(v, 1, 32, &x))
			return false;
		p->threads = (unsigned)x;
		return true;
	case 'x':
		p->listed = true;
		return !p->agg && take_selectivities(p, v);
	case 'C':
		p->scales = true;
		return !p->agg &&
		       bench_take_numbers(v, 1, MACHINES_MAX, p->machines, POINTS, &p->scale_points);
	case 'G':
		return p->agg && bench_take_numbers(v, 1, 1u << 30, p->groups, POINTS, &p->points);
	case 'e':
		return nam_number(v, 0, UINT32_MAX, &p->seed);
	case 'g':
		p->plot = v;
		return bench_plot_named(v);
	case 'D':
		return p->plot_data = true;
	case 'M':
		return p->measure = true;
	case 'j':
		return p->json = true;
	default:
		return false;
	}
}

static void
usage(FILE *to, const struct paper *p)
{
	fprintf(to, "usage: namdb bench %s --sim fdr4x [options]\n%s", p->agg ? "agg" : "join",
	    p->agg ? "The NAM paper's figure 8b in virtual time: aggregations by sockets and by verbs.\n"
		   : "The NAM paper's figure 8a in virtual time: joins by sockets and by verbs; figure 7 "
		     "beside it.\n");
	fprintf(to,
	    "  --sim MODEL      fdr4x: the paper's machines\n"
	    "  --nodes C+S      compute machines and, of verbs alone, storage nodes (default 4+4)\n"
	    "  --threads N      of a compute machine (default 10)\n"
	    "  --rows N         tuples of %s on each compute machine (default %u)\n",
	    p->agg ? "the relation" : "each relation", p->rows);
	fprintf(to,
	    p->agg ? "  --groups LIST    (default: as many for a tuple as the paper's 1, 16, 32 and 64 M)\n"
		   : "  --selectivity X  share of tuples with a partner: a list (default 1,0.75,0.5,0.25)\n");
	if (!p->agg)
		fprintf(to, "  --machines LIST  instead: one join by so many compute machines, each in turn, "
			    "of the tuples\n"
			    "                   that those of --nodes have together; of one selectivity "
			    "(default 1)\n");
	fprintf(to,
	    "  --measure        instead: what a step costs on this machine, beside what the model takes\n"
	    "  --seed N         of the data and the fabric (default 1)\n"
	    "  --plot FILE      a picture of the points (.svg or .png, by gnuplot)\n"
	    "  --plot-data      keeps its points in FILE.dat\n"
	    "  --json           one JSON object\n");
}

/* Why the options do not fit each other; NULL = they do. Makes machines the points. */
static const char *
unfit(struct paper *p)
{
	unsigned most = p->scales ? 0 : p->compute;
	if (p->scales && p->points > 1 && p->listed)
		return "--machines goes with one selectivity";
	for (unsigned i = 0; i < p->scale_points; i++) {
		if (all_rows(p) % p->machines[i] != 0)
			return "--machines: each number must divide the tuples of a relation";
		most = p->machines[i] > most ? p->machines[i] : most;
	}
	if (p->scales)
		p->points = p->scale_points;
	return most * p->threads > 64 ? "64 threads of all machines at most" : NULL;
}

static bool
options(int argc, char **argv, struct paper *p, int *code)
{
	static const struct option opt[] = { { "sim", 1, NULL, 'm' }, { "nodes", 1, NULL, 'n' },
		{ "rows", 1, NULL, 'R' }, { "threads", 1, NULL, 't' }, { "selectivity", 1, NULL, 'x' },
		{ "groups", 1, NULL, 'G' }, { "machines", 1, NULL, 'C' }, { "seed", 1, NULL, 'e' },
		{ "plot", 1, NULL, 'g' }, { "plot-data", 0, NULL, 'D' }, { "measure", 0, NULL, 'M' },
		{ "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	int letter, which;
	*code = 2;
	optind = 1;
	while ((letter = getopt_long(argc, argv, "", opt, &which)) != -1) {
		if (letter == 'h') {
			usage(stdout, p);
			*code = 0;
			return false;
		}
		if (letter == '?')
			return false;
		if (!take(p, letter, optarg)) {
			fprintf(stderr,
			    "namdb bench %s: --%s %s is not what this bench takes; see --sim fdr4x --help\n",
			    argv[0], opt[which].name, optarg != NULL ? optarg : "");
			return false;
		}
	}
	const char *why = optind < argc ? "there are no arguments beside options" : unfit(p);
	if (why != NULL) {
		bench_bad_use(argv[0], why);
		return false;
	}
	return true;
}

static int
run(int argc, char **argv, struct paper *p)
{
	/* The paper's groups of 128 M tuples on each machine (anchors: its setup). */
	static const unsigned share[] = { 0, 16, 32, 64 };
	int code;
	if (!options(argc, argv, p, &code))
		return code;
	if (p->measure) {
		nam_status st = bench_work_measure(p->json);
		return st == NAM_OK ? 0 : 1;
	}
	for (unsigned i = 0; p->agg && p->points == 0 && i < 4; i++) {
		uint64_t g = (uint64_t)share[i] * p->rows / 128;
		p->groups[i] = g > 0 ? (unsigned)g : 1;
	}
	if (p->agg && p->points == 0)
		p->points = 4;
	if (p->plot != NULL && !bench_plot_ready(p->plot))
		return 1;
	p->cluster = (struct paper_cluster){ .model = net_sim_model_find(p->model),
		.compute = p->compute,
		.storage = p->storage,
		.threads = p->threads,
		.rows = p->rows,
		.seed = p->seed,
		.work = bench_work_at(bench_work_ghz(p->model)) };
	for (unsigned i = 0; i < p->points; i++) {
		nam_status st = run_point(p, i);
		if (st != NAM_OK) {
			fprintf(stderr, "namdb bench: %s ended: %s\n", p->agg ? "an aggregation" : "a join",
			    nam_status_text(st));
			return 1;
		}
	}
	bench_progress_end(NULL);
	if (p->json)
		report_json(p);
	else
		report_table(p);
	fflush(stdout);
	return (p->plot == NULL || draw_picture(p)) && p->bad == 0 ? 0 : 1;
}

int
bench_join_sim(int argc, char **argv)
{
	static struct paper p = { .model = "fdr4x",
		.compute = 4,
		.storage = 4,
		.threads = 10,
		.rows = 1000000,
		.seed = 1,
		.selectivity = { 1, 0.75, 0.5, 0.25 },
		.points = 4,
		.way = join_way,
		.ways = WAYS };
	return run(argc, argv, &p);
}

int
bench_agg_sim(int argc, char **argv)
{
	static struct paper p = { .agg = true,
		.model = "fdr4x",
		.compute = 4,
		.storage = 4,
		.threads = 10,
		.rows = 1000000,
		.seed = 1,
		.way = agg_way,
		.ways = AGG_WAYS };
	return run(argc, argv, &p);
}
