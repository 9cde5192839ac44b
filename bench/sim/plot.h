/*
 * plot.h -- the picture of a bench that grows its clients: throughput, latency, and the
 * resource that limits it, over clients or threads.
 */
#ifndef NAM_BENCH_SIM_PLOT_H
#define NAM_BENCH_SIM_PLOT_H

#include <bench/bench.h>

enum { BENCH_SIM_PLOT_ROWS = 32 };

struct bench_sim_plot {
	const char *file; /* of --plot; NULL: no picture */
	bool keep_data;   /* --plot-data */
	char title[160];
	const char *x; /* what grows */
	struct bench_sim_plot_row {
		double x, per_s, p50_us, p99_us;
		char limit[96]; /* the resource; "": none is known */
		double share;   /* of the time that it is busy */
	} row[BENCH_SIM_PLOT_ROWS];
	unsigned rows;
};

/* Takes --plot ('g') and --plot-data ('G'). False if the value does not fit, or the letter is
 * neither. */
bool bench_sim_plot_take(struct bench_sim_plot *p, int letter, const char *value);
/* False if a picture is wanted that cannot be made: stderr says why. Ask before measuring. */
bool bench_sim_plot_ready(const struct bench_sim_plot *p);
/* A row more, with x and limit; the caller fills in the rest. */
struct bench_sim_plot_row *bench_sim_plot_add(struct bench_sim_plot *p, unsigned x, const char *limit);
/* Draws the picture, if one is wanted and there is a row. True if nothing failed; else stderr says
 * what did. */
bool bench_sim_plot_end(const struct bench_sim_plot *p);

/* The options for getopt_long, and their lines of the usage. */
#define BENCH_SIM_PLOT_OPTIONS                                                                               \
	{ "plot", 1, NULL, 'g' },                                                                            \
	{                                                                                                    \
		"plot-data", 0, NULL, 'G'                                                                    \
	}
#define BENCH_SIM_PLOT_USAGE                                                                                 \
	"  --plot FILE      a picture, .png or .svg, by gnuplot; --plot-data also keeps FILE.dat\n"

#endif
