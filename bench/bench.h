/*
 * bench.h -- the drivers of the program namdb-bench, which `namdb bench` becomes. Each parses its
 * own options and returns an exit code: 0 ran and its checks held, 1 it did not, 2 bad usage.
 * Figures on stdout, progress on stderr.
 */
#ifndef NAM_BENCH_BENCH_H
#define NAM_BENCH_BENCH_H

#include <base/hist.h>
#include <net/net.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* TPC-W-like checkout (nam-end-of-slow-networks §4.3), with a memory floor and SQLite beside it.
 * argv[0] is "tpcw". */
int bench_tpcw(int argc, char **argv);
/* Questions over real CSV files, beside SQLite in memory. argv[0] is "sql". */
int bench_sql(int argc, char **argv);
/* TPC-H's data and its 22 questions, beside PostgreSQL. argv[0] is "tpch". */
int bench_tpch(int argc, char **argv);
/* pgbench at `namdb compute` and at PostgreSQL. argv[0] is "pgbench". */
int bench_pgbench(int argc, char **argv);
/* The fabric's verbs one by one, beside requests and responses over TCP. argv[0] is "verbs". */
int bench_verbs(int argc, char **argv);
/* Messages to a service, polling against events, as clients grow. argv[0] is "messages". */
int bench_messages(int argc, char **argv);
/* One client is paused: the others' snapshots, with commit ids claimed and dealt out beforehand.
 * argv[0] is "oracle". */
int bench_oracle(int argc, char **argv);
/* SmallBank and TATP, for real or on a model. argv[0] is "smallbank" or "tatp". */
int bench_smallbank(int argc, char **argv);
int bench_tatp(int argc, char **argv);
/* TPC-C and its twelve conditions, beside SQLite in memory. argv[0] is "tpcc". */
int bench_tpcc(int argc, char **argv);
/* YCSB beside a sorted array and redis. argv[0] is "ycsb". */
int bench_ycsb(int argc, char **argv);
/* A join of relations in remote memory, beside its memory floor and DuckDB. argv[0] is "join". */
int bench_join(int argc, char **argv);
/* Groups of such a relation and their sums, beside DuckDB. argv[0] is "agg". */
int bench_agg(int argc, char **argv);

enum { BENCH_RUNS_MAX = 99 };
/* Of at most BENCH_RUNS_MAX values; of none 0. */
double bench_median(const double *v, unsigned n);
/* The values below which a quarter, and above which a quarter of them lies; of one or more. */
void bench_quartiles(const double *v, unsigned n, double *low, double *high);

/* ---- common.c: what several drivers need ---- */

/* Options that all benches of the fabric have. */
struct bench_common {
	double seconds; /* of a slice */
	unsigned runs;
	enum net_kind fabric;
	const char *storage; /* NULL = a node that the bench starts */
	const char *cluster, *secret_file;
	const char *plot; /* NULL = no picture */
	bool plot_data, json;
};
/* The common options for getopt_long; their values are these letters and 'h' for --help. */
#define BENCH_COMMON_OPTIONS                                                                                 \
	{ "seconds", 1, NULL, 't' }, { "runs", 1, NULL, 'r' }, { "fabric", 1, NULL, 'f' },                   \
	    { "storage", 1, NULL, 'S' }, { "cluster", 1, NULL, 'c' }, { "secret-file", 1, NULL, 'k' },       \
	    { "plot", 1, NULL, 'g' }, { "plot-data", 0, NULL, 'G' }, { "json", 0, NULL, 'j' },               \
	    { "help", 0, NULL, 'h' },                                                                        \
	{                                                                                                    \
		0                                                                                            \
	}
/* The common options' lines of the usage. node: the text of --storage; slice, runs: the defaults of
 * --seconds and --runs. */
void bench_common_usage(FILE *to, const char *node, const char *slice, const char *runs);
/* Takes a common option. False if the value does not fit it, or the letter is none of them. */
bool bench_common_take(struct bench_common *c, int letter, const char *value);
/* Reads argv[0]'s options: take() gets the letters that are not common. 0 = go on; else exit code +
 * 1, and stderr says why. */
int bench_options(int argc, char **argv, const struct option *opt, struct bench_common *c,
    bool (*take)(void *arg, int letter, char *value), void (*usage)(FILE *to), void *arg);
int bench_bad_use(const char *bench, const char *why);

/* Cuts the next word off a comma-separated list. NULL = no more. */
char *bench_word_of(char **list);
/* 0.001 to 3600. False if it is none of these. */
bool bench_take_seconds(const char *s, double *out);
/* Numbers of a list, low..high each, at most `max` of them. False if the list is none of these. */
bool bench_take_numbers(char *list, uint64_t low, uint64_t high, unsigned *out, unsigned max, unsigned *n);
/* Names of a list, each one of `count`: which of them are there. False if the list is none of
 * these. */
bool bench_take_names(char *list, const char *const *name, unsigned count, bool *there);

/* What one client of transactions did, or several together. */
struct bench_slice {
	uint64_t commits, aborts, errors;
	uint64_t refused; /* ended as the workload wants it, without a change: neither of them */
	uint64_t most;    /* commits wanted of this client; UINT64_MAX: as many as there is time
			     * for */
	unsigned round;   /* given: a client of another round draws other transactions */
	/* bench_crew_slice sets them: how long it took; CPU time of the whole process, and of
	 * the clients' workers. */
	double seconds, cpu_seconds, worker_cpu_seconds;
	struct nam_hist latency_ns;
	struct net_counts counts;
};

/* Adds what one did to `into`, except what was given. */
void bench_slice_add(struct bench_slice *into, const struct bench_slice *from);

/* Metrics, one after the other, as lines or as members of a JSON object. comma is "" at first. */
struct bench_metrics {
	bool json;
	const char *comma;
};
void bench_metric(struct bench_metrics *m, const char *name, double value);
/* p50_us, p99_us and p999_us. */
void bench_metric_latency(struct bench_metrics *m, const struct bench_slice *s);
/* Prints what does not hold, if n > 0, and returns n. */
uint64_t bench_complain(const char *what, uint64_t n);
/* CPU time of this process so far. */
double bench_cpu_seconds(void);

/*
 * Prints the progress on stderr: at a terminal one line that changes; elsewhere a line every ten
 * seconds. From one thread. bench_progress_end ends it: with a text, that is printed as a last
 * line; else the terminal's line is cleared.
 */
void bench_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void bench_progress_end(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* True if PATH leads to this program. */
bool bench_program_there(const char *name);

/* This thread runs on one core. False: that is not ours to run on. */
bool bench_pin(unsigned core);

/* True if there is a software RDMA device here. Figures over RDMA then say nothing about speed. */
bool bench_software_device(void);
/* ---- plot.c: pictures by gnuplot ---- */

/* True if the name is that of a picture: x.png or x.svg. */
bool bench_plot_named(const char *name);
/* True if gnuplot is there and the file can be written; else stderr says why. Ask before
 * measuring. */
bool bench_plot_ready(const char *file);

struct bench_plot {
	const char *file;
	FILE *data, *gnuplot;
	char data_name[4096]; /* FILE.dat */
};
/* Opens FILE.dat for the points: p->data. If that fails, stderr says why. */
bool bench_plot_open(struct bench_plot *p, const char *file);
/* Closes FILE.dat and starts gnuplot: what is written to the result is its script, which draws on
 * FILE. NULL: gnuplot cannot be started; bench_plot_close says so. */
FILE *bench_plot_draw(struct bench_plot *p, unsigned width, unsigned height);
/* Ends gnuplot. True if there is a picture; else stderr says that there is none. keep: FILE.dat
 * stays. */
bool bench_plot_close(struct bench_plot *p, bool keep);
/* Writes s as gnuplot wants it between single quotes. */
void bench_quote(FILE *to, const char *s);

#endif
