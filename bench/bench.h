/*
 * bench.h -- the drivers behind `namdb bench`. Each parses its own options and returns an exit code:
 * 0 ran and its checks held, 1 it did not, 2 bad usage. Figures on stdout, progress on stderr.
 */
#ifndef NAM_BENCH_BENCH_H
#define NAM_BENCH_BENCH_H

/* TPC-W-like checkout (nam-end-of-slow-networks §4.3), with a memory floor and SQLite beside it. argv[0] is "tpcw". */
int bench_tpcw(int argc, char **argv);
/* Questions over real CSV files, beside SQLite in memory. argv[0] is "sql". */
int bench_sql(int argc, char **argv);
/* The fabric's verbs one by one, beside requests and responses over TCP. argv[0] is "verbs". */
int bench_verbs(int argc, char **argv);

enum { BENCH_RUNS_MAX = 99 };
/* Of at most BENCH_RUNS_MAX values; of none 0. */
double bench_median(const double *v, unsigned n);

#endif
