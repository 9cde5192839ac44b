/* tables.h -- tables of a bench that uses transactions directly: rows of fixed length, whose first
 * bytes are the key. */
#ifndef NAM_BENCH_TABLES_H
#define NAM_BENCH_TABLES_H

#include <base/hash.h>
#include <compute_node/cn.h>

/* One table: room for it, and the length of its rows and of the keys with which they begin. */
struct bench_table {
	struct txn_table *at;
	uint32_t row, key;
};
enum { BENCH_LOAD_BATCH = 32 };

/* Makes tables with numbers far above the catalog's, new each run, and opens them. */
nam_status bench_tables_make(const struct cn_place *pl, const struct bench_table *t, unsigned n);
/* Closes them and gives their memory back. */
void bench_tables_drop(const struct cn_place *pl, const struct bench_table *t, unsigned n);
/* Inserts n rows that lie one behind the other, n <= BENCH_LOAD_BATCH, in a transaction of its
 * own. */
nam_status bench_tables_load(
    const struct cn_place *pl, const struct bench_table *t, const void *rows, unsigned n);
/* Reads the rows with these keys, which lie `stride` bytes from each other; all exist. */
nam_status bench_tables_warm(
    const struct cn_place *pl, const struct bench_table *t, const void *keys, size_t stride, unsigned n);
/* What a get and a put of such a table look like. key and row are borrowed. */
struct txn_get bench_get(struct txn_table *t, const void *key, uint32_t len);
struct txn_put bench_put(struct txn_table *t, const void *row, uint32_t row_len, uint32_t key_len);

/* Calls each(arg, row) for all rows that t shows. The number of rows that could not be read: 0 or
 * 1. */
uint64_t bench_tables_each(
    struct txn *t, struct txn_table *table, void (*each)(void *arg, const void *row), void *arg);
/* Begins a transaction for a check: its snapshot covers all commits that any process has been
 * answered. (Snapshots promise that only of their own process's commits.) */
nam_status bench_tables_begin(const struct cn_place *pl, struct txn **out);
/* How many records of the tables are still locked. */
uint64_t bench_tables_locked(struct txn *t, const struct bench_table *table, unsigned n);

#endif
