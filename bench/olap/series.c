/* series.c -- runs of a point beside DuckDB, and the report of all points (series.h). */
#include "series.h"

#include <base/clock.h>

#include <stdio.h>

void
bench_series_peer(struct series *s, unsigned threads)
{
	const char *why;
	s->duckdb = peer_duckdb_open(threads, &why);
	if (s->duckdb == NULL)
		fprintf(stderr, "namdb bench: duckdb is skipped: %s\n", why);
}

nam_status
bench_series_table(const struct series *s, const char *name, const struct pool_relation *r)
{
	char drop[64];
	if (s->duckdb == NULL)
		return NAM_OK;
	snprintf(drop, sizeof drop, "DROP TABLE IF EXISTS %s", name);
	bool ok = peer_duckdb_ask(s->duckdb, drop, NULL, 0) &&
		  peer_duckdb_load(s->duckdb, name, r->width / 8, r->tuples, r->fill, r->arg);
	return ok ? NAM_OK : NAM_IO;
}

static bool
duckdb_once(const struct series *s, struct series_point *p, const char *sql, double *seconds)
{
	int64_t got[3];
	uint64_t began = nam_clock_ns();
	bool ok = peer_duckdb_ask(s->duckdb, sql, got, 3);
	*seconds = (double)(nam_clock_ns() - began) / 1e9;
	p->duckdb_bad += !ok || !s->right(s->arg, got);
	return ok;
}

void
bench_series_runs(const struct series *s, struct series_point *p, const struct pool_relation *in,
    const char *label, const char *sql)
{
	unsigned runs = s->common->runs;
	uint64_t proof = 0;
	for (unsigned k = 0; k < runs && p->bad == 0; k++) {
		double c_mem = bench_pool_c_mem(s->pool, in, &proof);
		p->c_mem = k == 0 || c_mem < p->c_mem ? c_mem : p->c_mem;
		if (!s->once(s->arg, &p->seconds[k], &p->pass[k]))
			break;
		fprintf(stderr, "%srun %u of %u: %.3f s (pass %.3f s)", label, k + 1, runs, p->seconds[k],
		    p->pass[k]);
		if (s->duckdb != NULL && duckdb_once(s, p, sql, &p->duckdb[k]))
			fprintf(stderr, ", duckdb %.3f s", p->duckdb[k]);
		fputc('\n', stderr);
	}
}

/* ---- the report -------------------------------------------------------------------- */

void
bench_series_verbs(struct bench_metrics *m, const struct series_point *p, unsigned runs)
{
	bench_metric(m, "verbs", (double)net_counts_verbs(&p->counts) / runs);
	bench_metric(m, "out_bytes", (double)p->counts.bytes_out / runs);
	bench_metric(m, "in_bytes", (double)p->counts.bytes_in / runs);
}

void
bench_series_judged(struct bench_metrics *m, const struct series *s, const struct series_point *p)
{
	unsigned runs = s->common->runs;
	double ratio[BENCH_RUNS_MAX] = { 0 };
	if (s->duckdb != NULL) {
		for (unsigned k = 0; k < runs; k++)
			ratio[k] = p->seconds[k] > 0 ? p->duckdb[k] / p->seconds[k] : 0;
		bench_metric(m, "peer_duckdb_s", bench_median(p->duckdb, runs));
		bench_metric(m, "peer_duckdb_ratio", bench_median(ratio, runs));
		bench_metric(m, "peer_duckdb_errors", (double)p->duckdb_bad);
	}
	bench_metric(m, "check_errors", (double)p->bad);
}

void
bench_series_params_end(const struct series *s)
{
	if (s->duckdb != NULL)
		printf(", \"duckdb\": \"%s\"", peer_duckdb_version(s->duckdb));
	printf("}, ");
}

void
bench_series_report(const struct series *s, unsigned points,
    void (*metrics)(const void *arg, unsigned point, struct bench_metrics *m), const void *arg)
{
	bool json = s->common->json, list = json && points > 1;
	printf("%s", list ? "\"points\": [" : "");
	for (unsigned i = 0; i < points; i++) {
		struct bench_metrics m = { .json = json, .comma = "" };
		if (json)
			printf("%s%s\"metrics\": {", i > 0 ? ", " : "", list ? "{" : "");
		metrics(arg, i, &m);
		printf("%s", list ? "}}" : json ? "}" : "");
	}
	printf("%s", list ? "]}\n" : json ? "}\n" : "");
	fflush(stdout);
}
