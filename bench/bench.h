/*
 * bench.h -- the drivers behind `namdb bench`. Each parses its own options and returns an exit code:
 * 0 ran and its checks held, 1 it did not, 2 bad usage. Figures on stdout, progress on stderr.
 */
#ifndef NAM_BENCH_BENCH_H
#define NAM_BENCH_BENCH_H

#include <stdbool.h>
#include <stdio.h>

/* TPC-W-like checkout (nam-end-of-slow-networks §4.3), with a memory floor and SQLite beside it. argv[0] is "tpcw". */
int bench_tpcw(int argc, char **argv);
/* Questions over real CSV files, beside SQLite in memory. argv[0] is "sql". */
int bench_sql(int argc, char **argv);
/* The fabric's verbs one by one, beside requests and responses over TCP. argv[0] is "verbs". */
int bench_verbs(int argc, char **argv);
/* Messages to a service, polling against events, as clients grow. argv[0] is "messages". */
int bench_messages(int argc, char **argv);

enum { BENCH_RUNS_MAX = 99 };
/* Of at most BENCH_RUNS_MAX values; of none 0. */
double bench_median(const double *v, unsigned n);
/* The values below which a quarter, and above which a quarter of them lies; of one or more. */
void bench_quartiles(const double *v, unsigned n, double *low, double *high);

/* ---- common.c: what several of them need ---- */

/* Cuts the next word off a comma-separated list. NULL: no more. */
char *bench_word_of(char **list);
/* 0.001 to 3600. False: not that. */
bool bench_take_seconds(const char *s, double *out);
/* x.png or x.svg. */
bool bench_is_picture(const char *name);

/* One after the other, as lines or as members of a JSON object. comma is "" at first. */
struct bench_metrics {
	bool json;
	const char *comma;
};
void bench_metric(struct bench_metrics *m, const char *name, double value);

/* There is a software RDMA device here: what is measured over RDMA says nothing about speed. */
bool bench_software_device(void);
/* Is gnuplot there? Asked before anything is measured; else said on stderr. */
bool bench_plot_ready(void);
/* As gnuplot has it between single quotes. */
void bench_quote(FILE *to, const char *s);

#endif
