/*
 * duckdb.h -- DuckDB in this process as a peer, by its C library, which is found at run time.
 *
 * The library comes from its npm package; bench/olap/README.md says how. It is no part of the
 * build.
 */
#ifndef NAM_BENCH_OLAP_DUCKDB_H
#define NAM_BENCH_OLAP_DUCKDB_H

#include <base/status.h>

#include <stdbool.h>
#include <stdint.h>

struct peer_duckdb;
/* Opens a database in memory, for so many threads. NULL: *why says what to do. */
struct peer_duckdb *peer_duckdb_open(unsigned threads, const char **why);
void peer_duckdb_close(struct peer_duckdb *d);
const char *peer_duckdb_version(const struct peer_duckdb *d);

/* A table of `columns` BIGINTs: fill gives n tuples of as many words, number first and
 * following. */
bool peer_duckdb_load(struct peer_duckdb *d, const char *table, unsigned columns, uint64_t tuples,
    void (*fill)(const void *arg, uint64_t first, unsigned n, void *tuples), const void *arg);
/* Runs a statement, and gives each value of its answer as text, row by row; NULL = SQL's NULL.
 * False: stderr says why. ns: the time until the answer is there. */
bool peer_duckdb_rows(struct peer_duckdb *d, const char *sql,
    void (*value)(void *arg, unsigned column, unsigned columns, const char *text), void *arg, uint64_t *ns);
/* Runs a statement. The first row's first n values, which are numbers, into out. False: stderr says
 * why. */
bool peer_duckdb_ask(struct peer_duckdb *d, const char *sql, int64_t *out, unsigned n);

#endif
