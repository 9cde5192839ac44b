/*
 * series.h -- points of a bench over relations: each is run several times, beside DuckDB if it is
 * there, and told with the verbs that it took. By the thread that owns the pool.
 */
#ifndef NAM_BENCH_OLAP_SERIES_H
#define NAM_BENCH_OLAP_SERIES_H

#include "duckdb.h"
#include "pool.h"

/* What is measured at a point, one value for each run. */
struct series_point {
	double seconds[BENCH_RUNS_MAX], pass[BENCH_RUNS_MAX], duckdb[BENCH_RUNS_MAX];
	double c_mem; /* seconds a byte, the least of the runs */
	struct net_counts counts;
	uint64_t bad, duckdb_bad; /* wrong answers */
};

/* borrowed: common, pool, arg. */
struct series {
	const struct bench_common *common;
	struct pool *pool;
	struct peer_duckdb *duckdb; /* NULL = none */
	/* One run: its time and that of its first pass; false: it ended early. */
	bool (*once)(void *arg, double *seconds, double *pass);
	/* The same question to DuckDB: a row of three numbers. */
	bool (*right)(void *arg, const int64_t got[3]);
	void *arg;
};

/* If DuckDB cannot be had, stderr says why. */
void bench_series_peer(struct series *s, unsigned threads);
/* Makes its table again, with r's tuples. */
nam_status bench_series_table(const struct series *s, const char *name, const struct pool_relation *r);
/* All runs of a point, behind one that has warmed the pages; in is READ for c_mem. sql: the
 * question. */
void bench_series_runs(const struct series *s, struct series_point *p, const struct pool_relation *in,
    const char *label, const char *sql);

/* verbs, out_bytes, in_bytes: of one run. */
void bench_series_verbs(struct bench_metrics *m, const struct series_point *p, unsigned runs);
/* peer_duckdb_* if there is one, check_errors. */
void bench_series_judged(struct bench_metrics *m, const struct series *s, const struct series_point *p);
/* JSON: DuckDB's version as a parameter, and the end of all parameters. */
void bench_series_params_end(const struct series *s);
/* All points: metrics prints those of one. JSON: the object's rest. */
void bench_series_report(const struct series *s, unsigned points,
    void (*metrics)(const void *arg, unsigned point, struct bench_metrics *m), const void *arg);

#endif
