/*
 * sql_check.c -- TPC-C's twelve conditions over SQL's tables: the judge of check.c gets
 * the rows that SELECTs of one snapshot show.
 *
 * It shares no statement with the transactions. All rows come from scans of the tables, but for
 * "the newest order of a customer": that comes from the index of orders, so that the judge
 * compares it with the table. No row may be locked.
 */
#include "tpcc.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 6 };

/* A question, and where the judge expects its columns in a row: their offsets and lengths. */
static const struct question {
	enum tpcc_table table;
	const char *sql;
	unsigned char at[COLUMNS], size[COLUMNS];
} questions[] = {
	{ TPCC_WAREHOUSE, "SELECT w, ytd FROM tpcc_warehouse", { 0, 8 }, { 4, 8 } },
	{ TPCC_DISTRICT, "SELECT w, d, ytd, next_o FROM tpcc_district", { 0, 4, 8, 16 }, { 4, 4, 8, 4 } },
	{ TPCC_CUSTOMER, "SELECT w, d, c, balance, ytd_payment, delivery_cnt FROM tpcc_customer",
	    { 0, 4, 8, 16, 24, 36 }, { 4, 4, 4, 8, 8, 4 } },
	{ TPCC_HISTORY, "SELECT c_w, c_d, c, w, d, amount FROM tpcc_history", { 0, 4, 8, 12, 16, 24 },
	    { 4, 4, 4, 4, 4, 8 } },
	{ TPCC_NEW_ORDER, "SELECT w, d, o FROM tpcc_new_order", { 0, 4, 8 }, { 4, 4, 4 } },
	{ TPCC_ORDERS, "SELECT w, d, o, c, carrier, ol_cnt FROM tpcc_orders", { 0, 4, 8, 12, 24, 28 },
	    { 4, 4, 4, 4, 4, 4 } },
	{ TPCC_LINE, "SELECT w, d, o, delivery, amount FROM tpcc_order_line", { 0, 4, 8, 24, 32 },
	    { 4, 4, 4, 8, 8 } },
	{ TPCC_ITEM, "SELECT i FROM tpcc_item", { 0 }, { 4 } },
	{ TPCC_STOCK, "SELECT w, i FROM tpcc_stock", { 0, 4 }, { 4, 4 } },
	{ TPCC_NEWEST,
	    "SELECT c.w, c.d, c.c, n.o FROM tpcc_customer c, LATERAL (SELECT x.o FROM tpcc_orders x WHERE "
	    "x.w = "
	    "c.w AND x.d = c.d AND x.c = c.c ORDER BY x.o DESC LIMIT 1) n",
	    { 0, 4, 8, 12 }, { 4, 4, 4, 4 } },
};

struct reading {
	struct sql_session *s;
	const struct question *q;
	void (*see)(void *to, const void *row);
	void *to;
};

/* NULL is 0 for the judge. */
static bool
take_rows(void *arg, const struct sql_batch_view *b)
{
	struct reading *r = arg;
	for (unsigned i = 0; i < b->n; i++) {
		char row[40] = { 0 };
		for (unsigned k = 0; k < b->cols; k++)
			if (!b->col[k].null[i])
				memcpy(row + r->q->at[k], &b->col[k].i[i], r->q->size[k]);
		r->see(r->to, row);
	}
	return true;
}

static uint64_t
ask(void *arg, enum tpcc_table table, void (*see)(void *to, const void *row), void *to)
{
	struct reading *r = arg;
	r->see = see;
	r->to = to;
	r->q = questions;
	while (r->q->table != table)
		r->q++;
	return bench_complain("cannot read a table", !bench_tpcc_say(r->s, r->q->sql, take_rows, r, NULL));
}

static uint64_t
locked(struct txn *t, const struct cn_place *pl)
{
	uint64_t n = 0;
	char name[40];
	for (unsigned i = 0; i < TPCC_NEWEST; i++) {
		const struct cat_table *table = NULL;
		snprintf(name, sizeof name, "tpcc_%s", bench_tpcc_table_names[i]);
		if (cat_find(pl->cat, t, name, &table) != NAM_OK || table == NULL)
			return bench_complain("a table is missing", 1);
		struct txn_table copy = table->store;
		n += bench_tables_locked(t, &(struct bench_table){ .at = &copy }, 1);
	}
	return bench_complain("records still locked", n);
}

uint64_t
bench_tpcc_sql_check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	struct reading r = { .s = bench_tpcc_session(pl) };
	struct txn *t = NULL;
	(void)machines;
	if (r.s == NULL)
		return bench_complain("cannot open a session", 1);
	/* The session's snapshot comes after t's, which covers all that any process answered. */
	uint64_t bad = 1;
	if (bench_tables_begin(pl, &t) != NAM_OK)
		bench_complain("cannot begin", 1);
	else if (bench_tpcc_say(r.s, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", NULL, NULL, NULL)) {
		bad = bench_tpcc_judge(side[0], ask, &r);
		bench_tpcc_say(r.s, "COMMIT", NULL, NULL, NULL);
		bad += locked(t, pl);
	}
	if (t != NULL)
		txn_commit(t, NULL);
	sql_session_close(r.s);
	return bad;
}
