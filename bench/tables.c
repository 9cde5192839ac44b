/* tables.c -- makes, fills and scans the tables of a bench that uses transactions directly. */
#include "tables.h"

#include <bench/bench.h>

#include <string.h>

enum { LOCK_LOOKS = 200, LOCK_LOOK_NS = 10000000 };

enum { NUMBERS = 8 }; /* of a run: at most so many tables */

static bool
same_key(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= key_len && memcmp(row, key, key_len) == 0;
}

nam_status
bench_tables_make(const struct cn_place *pl, const struct bench_table *t, unsigned n)
{
	uint32_t id = UINT32_C(0x80000000) | (uint32_t)nam_rng_below(net_rng(pl->net), 0x0fffffff) * NUMBERS;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		*t[i].at = (struct txn_table){
			.id = id + i, .slots = 2, .row_max = t[i].row, .has_key = true, .same_key = same_key
		};
		st = txn_table_create(pl->txn, t[i].at);
		if (st == NAM_OK)
			st = txn_table_open(txn_worker_db(pl->txn), t[i].at);
	}
	return st;
}

void
bench_tables_drop(const struct cn_place *pl, const struct bench_table *t, unsigned n)
{
	struct txn_db *db = txn_worker_db(pl->txn);
	for (unsigned i = 0; i < n; i++) {
		if (t[i].at->view == NULL)
			continue;
		txn_table_close(db, t[i].at);
		txn_table_free(pl->txn, t[i].at, tso_prefix(txn_db_oracle(db)));
	}
}

struct txn_get
bench_get(struct txn_table *t, const void *key, uint32_t len)
{
	return (struct txn_get){ .table = t, .key = key, .key_len = len, .hash = nam_hash(key, len, t->id) };
}

struct txn_put
bench_put(struct txn_table *t, const void *row, uint32_t row_len, uint32_t key_len)
{
	return (struct txn_put){ .table = t,
		.key = row,
		.key_len = key_len,
		.hash = nam_hash(row, key_len, t->id),
		.bytes = row,
		.len = row_len };
}

nam_status
bench_tables_load(const struct cn_place *pl, const struct bench_table *t, const void *rows, unsigned n)
{
	struct txn_put put[BENCH_LOAD_BATCH];
	nam_status st = NAM_CONFLICT;
	/* Two keys of the same signature, inserted at the same moment, may meet in one empty
	 * block. */
	while (st == NAM_CONFLICT) {
		struct txn *x;
		if ((st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &x)) != NAM_OK)
			return st;
		for (unsigned i = 0; i < n; i++)
			put[i] = bench_put(t->at, (const char *)rows + (size_t)i * t->row, t->row, t->key);
		st = txn_insert(x, put, n);
		if (st == NAM_OK)
			st = txn_commit(x, NULL);
		else
			txn_abort(x);
	}
	return st;
}

nam_status
bench_tables_begin(const struct cn_place *pl, struct txn **out)
{
	struct tso_worker *o = txn_worker_tso(pl->txn);
	struct txn *pinned;
	tso_cid all;
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &pinned);
	if (st != NAM_OK)
		return st;
	st = tso_claimed_by_all(o, &all);
	if (st == NAM_OK)
		st = tso_wait_for(o, all);
	txn_abort(pinned);
	return st == NAM_OK ? txn_begin(pl->txn, TXN_REPEATABLE_READ, out) : st;
}

nam_status
bench_tables_warm(
    const struct cn_place *pl, const struct bench_table *t, const void *keys, size_t stride, unsigned n)
{
	struct txn_get get[BENCH_LOAD_BATCH];
	struct nam_arena a;
	struct txn *x;
	nam_status st = txn_begin(pl->txn, TXN_REPEATABLE_READ, &x);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&a, 32 << 10);
	for (unsigned i = 0; i < n; i++)
		get[i] = bench_get(t->at, (const char *)keys + i * stride, t->key);
	st = txn_get(x, get, n, &a);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = get[i].status;
	txn_abort(x);
	nam_arena_fini(&a);
	return st;
}

uint64_t
bench_tables_each(struct txn *t, struct txn_table *table, void (*each)(void *arg, const void *row), void *arg)
{
	struct txn_scan *scan;
	struct txn_row row[64];
	unsigned n;
	nam_status st = txn_scan_open(t, table, &scan);
	if (st != NAM_OK)
		return bench_complain("cannot scan", 1);
	while ((st = txn_scan_next(scan, row, 64, &n)) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++)
			each(arg, row[i].bytes);
	txn_scan_close(scan);
	return bench_complain("a scan ended early", st != NAM_OK);
}

static uint64_t
locked_now(struct txn *t, const struct bench_table *table, unsigned n)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t k = 0;
		if (txn_table_locks(t, table[i].at, &k) != NAM_OK)
			k = 1;
		all += k;
	}
	return all;
}

/* A collector locks blocks of deleted rows for some round trips: only a lock that stays counts. */
uint64_t
bench_tables_locked(struct txn *t, const struct bench_table *table, unsigned n)
{
	uint64_t all = locked_now(t, table, n);
	for (unsigned look = 0; all != 0 && look < LOCK_LOOKS; look++) {
		net_sleep(txn_worker_net(txn_worker_of(t)), LOCK_LOOK_NS);
		all = locked_now(t, table, n);
	}
	return all;
}
