/*
 * join_tables.h -- the join of `namdb bench join` over namdb's own tables (--from tables): a
 * snapshot, the tables' blocks or the columns that the process has kept of them, and olap's join.
 */
#ifndef NAM_BENCH_OLAP_JOIN_TABLES_H
#define NAM_BENCH_OLAP_JOIN_TABLES_H

#include "join_data.h"

#include <bench/bench.h>
#include <olap/olap.h>

#include <stdbool.h>

struct join_tables {
	const struct bench_common *common;
	unsigned rows[2], payload, workers; /* R, S; bytes behind each key */
	unsigned bits;
	enum olap_algorithm algorithm; /* not OLAP_BROADCAST */
	uint64_t seed;
	double skew;
	const double *selectivity;
	unsigned points;
	bool peer;
};

/* Exit code of the whole bench, which prints its report. */
int bench_join_tables(const struct join_tables *j);

#endif
