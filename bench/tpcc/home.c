/*
 * home.c -- where TPC-C's tables lie, for processes that did not make them.
 *
 * Tables that a bench makes are not in the catalog. So a load leaves their numbers and anchors, and
 * the size of the population, in a small SQL table: namdb_bench_tpcc (name, value).
 */
#include "tpcc.h"

#include <stdio.h>
#include <string.h>

struct found {
	struct tpcc_side *s;
	unsigned n;
};

static bool
done(void *arg, const char *tag, uint64_t rows)
{
	(void)arg;
	(void)tag;
	(void)rows;
	return true;
}

static void
store(struct found *f, const char *name, size_t len, int64_t value)
{
	struct {
		const char *name;
		unsigned *at;
	} size[3] = { { "warehouses", &bench_tpcc_params.warehouses },
		{ "customers", &bench_tpcc_params.customers }, { "items", &bench_tpcc_params.items } };
	for (unsigned i = 0; i < 3; i++)
		if (strlen(size[i].name) == len && memcmp(size[i].name, name, len) == 0) {
			*size[i].at = (unsigned)value;
			f->n++;
		}
	for (unsigned i = 0; i < TPCC_TABLES; i++) {
		const char *table = bench_tpcc_table_names[i];
		size_t n = strlen(table);
		if (len <= n || memcmp(table, name, n) != 0)
			continue;
		if (len == n + 3 && memcmp(name + n, " id", 3) == 0) {
			f->s->table[i].id = (uint32_t)value;
			f->n++;
		} else if (len == n + 7 && memcmp(name + n, " anchor", 7) == 0) {
			f->s->table[i].anchor.bits = (uint64_t)value;
			f->n++;
		}
	}
}

static bool
take_rows(void *arg, const struct sql_batch_view *b)
{
	for (unsigned i = 0; b->cols == 2 && i < b->n; i++)
		store(arg, b->col[0].s[i].p, b->col[0].s[i].len, b->col[1].i[i]);
	return true;
}

/* One line of SQL in a session of its own. NAM_ABSENT: the table is not there. */
static nam_status
run_sql(const struct cn_place *pl, const char *sql, struct found *f)
{
	const struct sql_session_config cfg = { .tw = pl->txn, .cat = pl->cat, .parser = pl->parser };
	struct sql_session *s;
	nam_status st = sql_session_open(&cfg, &s);
	if (st != NAM_OK)
		return st;
	const struct sql_sink sink = { .arg = f, .rows = f != NULL ? take_rows : NULL, .done = done };
	struct cat_err err = { 0 };
	if (!sql_execute(s, sql, strlen(sql), &sink, &err)) {
		st = strcmp(err.sqlstate, "42P01") == 0 ? NAM_ABSENT : NAM_IO;
		if (st != NAM_ABSENT)
			fprintf(stderr, "namdb bench: %s: %s\n", err.sqlstate, err.text);
	}
	sql_session_close(s);
	return st;
}

nam_status
bench_tpcc_tell(const struct tpcc_side *s, const struct cn_place *pl)
{
	char sql[4096];
	int n = snprintf(sql, sizeof sql,
	    "BEGIN; DROP TABLE IF EXISTS namdb_bench_tpcc; CREATE TABLE namdb_bench_tpcc (name text PRIMARY "
	    "KEY, value bigint NOT NULL); INSERT INTO namdb_bench_tpcc VALUES ('warehouses', %u), "
	    "('customers', %u), ('items', %u)",
	    s->p->warehouses, s->p->customers, s->p->items);
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		n += snprintf(sql + n, sizeof sql - (size_t)n, ", ('%s id', %u), ('%s anchor', %lld)",
		    bench_tpcc_table_names[i], s->table[i].id, bench_tpcc_table_names[i],
		    (long long)s->table[i].anchor.bits);
	snprintf(sql + n, sizeof sql - (size_t)n, "; COMMIT");
	return run_sql(pl, sql, NULL);
}

nam_status
bench_tpcc_find(struct tpcc_side *s, const struct cn_place *pl)
{
	struct found f = { .s = s };
	nam_status st = run_sql(pl, "SELECT name, value FROM namdb_bench_tpcc", &f);
	return st == NAM_OK && f.n != 3 + 2 * TPCC_TABLES ? NAM_CORRUPT : st;
}

nam_status
bench_tpcc_forget(const struct cn_place *pl)
{
	return run_sql(pl, "DROP TABLE namdb_bench_tpcc", NULL);
}
