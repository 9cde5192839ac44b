/*
 * work.h -- what computing costs in simulations of joins and aggregations: cycles for a tuple, a
 * key or a byte, measured on a real machine, at a model's clock.
 */
#ifndef NAM_BENCH_OLAP_WORK_H
#define NAM_BENCH_OLAP_WORK_H

#include <base/status.h>
#include <olap/olap.h>

#include <stdbool.h>

struct bench_work {
	double ps[OLAP_WORKS]; /* each, of one thread */
};

/* At so many GHz, with the cycles that bench/olap/README.md has. */
struct bench_work bench_work_at(double ghz);
/* The clock of a model's cores; 0: not known. */
double bench_work_ghz(const char *model);
/* Measures them on this machine, which is to be idle, and prints nanoseconds and cycles. */
nam_status bench_work_measure(bool json);

#endif
