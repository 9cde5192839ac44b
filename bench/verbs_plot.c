/* verbs_plot.c -- the picture of `namdb bench verbs`, by gnuplot: bandwidth and latency over the size. */
#include <bench/verbs_internal.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LEN = 4096 };

/* One block per operation and depth, two empty lines between them: gnuplot's index. Returns how many. */
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

bool
bench_verbs_plot(const char *file, bool keep_data, const char *title, const struct verbs_point *pt,
    unsigned n, unsigned depth_low, unsigned depth_high)
{
	char data[PATH_LEN];
	bool svg = strlen(file) > 4 && strcmp(file + strlen(file) - 4, ".svg") == 0;
	if ((size_t)snprintf(data, sizeof data, "%s.dat", file) >= sizeof data) {
		fprintf(stderr, "namdb bench: the name of --plot is too long\n");
		return false;
	}
	FILE *d = fopen(data, "we");
	if (d == NULL) {
		fprintf(stderr, "namdb bench: %s: %s\n", data, strerror(errno));
		return false;
	}
	unsigned second = write_data(d, pt, n, depth_high, 0);
	write_data(d, pt, n, depth_low, second);
	bool ok = fclose(d) == 0;
	FILE *g = ok ? popen("gnuplot", "we") : NULL;
	if (g != NULL) {
		fprintf(g, "set terminal %s size 1100,450 noenhanced\nset output ", svg ? "svg" : "pngcairo");
		bench_quote(g, file);
		fprintf(g, "\nset multiplot layout 1,2 title ");
		bench_quote(g, title);
		fprintf(g,
		    "\nset logscale xy\nset key left top\nset grid\nset xlabel 'bytes'\n"
		    "set ylabel 'MB/s'\nset title 'throughput, depth %u'\n",
		    depth_high);
		write_curves(g, data, pt, n, depth_high, 0, 3);
		fprintf(g, "set ylabel 'us'\nset title 'latency, median, depth %u'\nset key left top\n",
		    depth_low);
		write_curves(g, data, pt, n, depth_low, second, 4);
		fprintf(g, "unset multiplot\n");
		ok = pclose(g) == 0;
	} else
		ok = false;
	if (!ok)
		fprintf(stderr, "namdb bench: gnuplot made no %s\n", file);
	if (!keep_data)
		unlink(data);
	return ok;
}
