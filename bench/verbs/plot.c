/* plot.c -- the picture of `namdb bench verbs`, by gnuplot: bandwidth, latency and CPU cycles
 * at both ends over the size. */
#include "verbs.h"

#include <stdio.h>

/* Columns of the data. */
enum { MB_PER_S = 3, P50_US = 4, CLIENT_CYCLES = 8, SERVER_CYCLES = 9 };

/* One block per operation and depth, two empty lines between them: gnuplot's index. Returns how
 * many. */
static unsigned
write_data(FILE *to, const struct verbs_point *pt, unsigned n, unsigned depth, unsigned block)
{
	for (unsigned op = 0; op < VERBS_OPS; op++) {
		unsigned rows = 0;
		for (unsigned i = 0; i < n; i++) {
			const struct verbs_point *p = &pt[i];
			if (p->op != op || p->depth != depth || p->runs == 0)
				continue;
			double rate = bench_median(p->rate, p->runs);
			if (rows++ == 0)
				fprintf(to,
				    "%s# %u: %s, depth %u\n# bytes op/s MB/s p50_us p99_us client_ns_per_op "
				    "server_ns_per_op "
				    "client_cycles_per_op server_cycles_per_op\n",
				    block > 0 ? "\n\n" : "", block, bench_verbs_op_name(op), depth);
			fprintf(to, "%u %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g\n", p->size, rate,
			    rate * p->size / 1e6, (double)nam_hist_quantile(&p->latency_ns, 0.5) / 1e3,
			    (double)nam_hist_quantile(&p->latency_ns, 0.99) / 1e3,
			    bench_median(p->client_ns, p->runs), bench_median(p->server_ns, p->runs),
			    bench_median(p->client_ns, p->runs) * bench_verbs_ghz(),
			    bench_median(p->server_ns, p->runs) * bench_verbs_ghz());
		}
		block += rows > 0;
	}
	return block;
}

static void
write_curves(FILE *to, const char *data, const struct verbs_point *pt, unsigned n, unsigned depth,
    unsigned block, unsigned column)
{
	const char *lead = "plot ";
	for (unsigned op = 0; op < VERBS_OPS; op++) {
		bool any = false;
		for (unsigned i = 0; i < n; i++)
			any |= pt[i].op == op && pt[i].depth == depth && pt[i].runs > 0;
		if (!any)
			continue;
		fprintf(to, "%s", lead);
		bench_quote(to, data);
		fprintf(to, " index %u using 1:%u with linespoints title ", block++, column);
		bench_quote(to, bench_verbs_op_name(op));
		lead = ", ";
	}
	fprintf(to, "\n");
}

static void
panel(FILE *to, const char *what, unsigned depth, const char *unit)
{
	fprintf(to, "set title '%s, depth %u'\nset ylabel '%s'\n", what, depth, unit);
}

static bool
some_server(const struct verbs_point *pt, unsigned n, unsigned depth)
{
	for (unsigned i = 0; i < n; i++)
		if (pt[i].depth == depth && pt[i].runs > 0 && bench_median(pt[i].server_ns, pt[i].runs) > 0)
			return true;
	return false;
}

bool
bench_verbs_plot(const char *file, bool keep_data, const char *title, const struct verbs_point *pt,
    unsigned n, unsigned depth_low, unsigned depth_high)
{
	struct bench_plot plot;
	if (!bench_plot_open(&plot, file))
		return false;
	const char *data = plot.data_name;
	unsigned second = write_data(plot.data, pt, n, depth_high, 0);
	write_data(plot.data, pt, n, depth_low, second);
	FILE *g = bench_plot_draw(&plot, 1200, 900);
	if (g != NULL) {
		fprintf(g, "set multiplot layout 2,2 title ");
		bench_quote(g, title);
		fprintf(g,
		    "\nset logscale xy\nset key below horizontal\nset grid\nset xlabel 'bytes' offset 0,0.6\n"
		    "set xtics ('8' 8, '128' 128, '2K' 2048, '32K' 32768, '512K' 524288, '8M' 8388608)\n");
		panel(g, "throughput", depth_high, "MB/s");
		write_curves(g, data, pt, n, depth_high, 0, MB_PER_S);
		panel(g, "latency, median", depth_low, "us");
		write_curves(g, data, pt, n, depth_low, second, P50_US);
		panel(g, "CPU at the client", depth_high, "cycles per operation");
		write_curves(g, data, pt, n, depth_high, 0, CLIENT_CYCLES);
		/* Where the server is memory alone there is nothing to draw. */
		if (some_server(pt, n, depth_high)) {
			panel(g, "CPU at the server", depth_high, "cycles per operation");
			write_curves(g, data, pt, n, depth_high, 0, SERVER_CYCLES);
		}
		fprintf(g, "unset multiplot\n");
	}
	return bench_plot_close(&plot, keep_data);
}
