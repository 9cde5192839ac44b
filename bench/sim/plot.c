/* plot.c -- draws what a bench came to as its clients grow: three panels over one axis. */
#include "plot.h"

#include <string.h>

bool
bench_sim_plot_take(struct bench_sim_plot *p, int letter, const char *value)
{
	if (letter == 'G')
		return p->keep_data = true;
	if (letter != 'g')
		return false;
	p->file = value;
	return bench_plot_named(value);
}

bool
bench_sim_plot_ready(const struct bench_sim_plot *p)
{
	return p->file == NULL || bench_plot_ready(p->file);
}

struct bench_sim_plot_row *
bench_sim_plot_add(struct bench_sim_plot *p, unsigned x, const char *limit)
{
	struct bench_sim_plot_row *r = &p->row[p->rows < BENCH_SIM_PLOT_ROWS - 1 ? p->rows : p->rows - 1];
	p->rows += p->rows < BENCH_SIM_PLOT_ROWS;
	*r = (struct bench_sim_plot_row){ .x = x };
	snprintf(r->limit, sizeof r->limit, "%s", limit);
	return r;
}

/* A limit is written once: where it is not that of the row before. Returns whether any is known. */
static bool
write_data(FILE *to, const struct bench_sim_plot *p)
{
	const char *before = "";
	bool known = false;
	fprintf(to, "# %s txn/s p50_us p99_us busy_percent limit\n", p->x);
	for (unsigned i = 0; i < p->rows; i++) {
		const struct bench_sim_plot_row *r = &p->row[i];
		fprintf(to, "%.6g %.6g %.6g %.6g %.6g \"%s\"\n", r->x, r->per_s, r->p50_us, r->p99_us,
		    r->share * 100, strcmp(r->limit, before) != 0 ? r->limit : "");
		before = r->limit;
		known |= r->limit[0] != 0;
	}
	return known;
}

static void
curve(FILE *to, const char *lead, const char *data, unsigned column, const char *title)
{
	fprintf(to, "%s", lead);
	bench_quote(to, data);
	fprintf(to, " using 1:%u with linespoints title '%s'", column, title);
}

/* The limits' names, of one half of the x axis. */
static void
labels(FILE *to, const struct bench_sim_plot *p, const char *data, const char *half, const char *how)
{
	fprintf(to, ", ");
	bench_quote(to, data);
	fprintf(
	    to, " using ($1%s%g?$1:NaN):5:6 with labels %s notitle", half, p->row[p->rows - 1].x / 2, how);
}

bool
bench_sim_plot_end(const struct bench_sim_plot *p)
{
	struct bench_plot plot;
	if (p->file == NULL || p->rows == 0)
		return true;
	if (!bench_plot_open(&plot, p->file))
		return false;
	bool known = write_data(plot.data, p);
	FILE *g = bench_plot_draw(&plot, 1000, known ? 1100 : 750);
	if (g != NULL) {
		fprintf(g, "set multiplot layout %d,1 title ", known ? 3 : 2);
		bench_quote(g, p->title);
		fprintf(g,
		    "\nset grid\nset key left top\nset lmargin 14\nset rmargin 6\nset format y '%%.1s%%c'\n"
		    "set xlabel '%s' offset 0,0.6\nset xrange [0:%.6g]\nset yrange [0:*]\n"
		    "set title 'throughput'\nset ylabel 'txn/s'\n",
		    p->x, p->row[p->rows - 1].x * 1.1);
		curve(g, "plot ", plot.data_name, 2, "committed");
		fprintf(g, "\nset title 'latency'\nset ylabel 'us'\nset logscale y\nset yrange [*:*]\n"
			   "set format y '%%g'\n");
		curve(g, "plot ", plot.data_name, 3, "median");
		curve(g, ", ", plot.data_name, 4, "99th percentile");
		if (known) {
			fprintf(g, "\nset title 'the busiest resource'\nset ylabel '%% of the time'\n"
				   "unset logscale y\nset yrange [0:*<200]\nset offsets 0,0,20,0\n");
			curve(g, "plot ", plot.data_name, 5, "busy");
			labels(g, p, plot.data_name, "<", "left offset 0.5,0.9");
			labels(g, p, plot.data_name, ">=", "right offset -0.5,0.9");
		}
		fprintf(g, "\nunset multiplot\n");
	}
	return bench_plot_close(&plot, p->keep_data);
}
