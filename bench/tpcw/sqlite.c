/* sqlite.c -- the same checkout on SQLite in memory: prepared statements, one transaction
 * each. */
#include "tpcw.h"

#include <base/clock.h>
#include <bench/bench.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Q_BEGIN, Q_READ, Q_ORDER, Q_LINE, Q_UPDATE, Q_COMMIT, Q_COUNT };

struct tpcw_sqlite {
	const struct tpcw_params *p;
	sqlite3 *db;
	sqlite3_stmt *q[Q_COUNT];
	struct nam_rng rng;
	int64_t order;
};

static bool
run(struct tpcw_sqlite *s, const char *sql)
{
	char *msg = NULL;
	if (sqlite3_exec(s->db, sql, NULL, NULL, &msg) == SQLITE_OK)
		return true;
	fprintf(stderr, "namdb bench: sqlite: %s\n", msg);
	sqlite3_free(msg);
	return false;
}

struct tpcw_sqlite *
tpcw_sqlite_open(const struct tpcw_params *p)
{
	static const char *const text[Q_COUNT] = { "BEGIN",
		"SELECT stock, price_cents, sold, title, description FROM product WHERE id = ?",
		"INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
		"INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?)",
		"UPDATE product SET stock = stock - ?, sold = sold + ? WHERE id = ?", "COMMIT" };
	struct tpcw_sqlite *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->p = p;
	nam_rng_init(&s->rng, p->seed + 99);
	sqlite3_stmt *ins = NULL;
	bool ok = sqlite3_open(":memory:", &s->db) == SQLITE_OK &&
		  run(s, "CREATE TABLE product (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL, price_cents "
			 "INTEGER NOT NULL, "
			 "sold INTEGER NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL);"
			 "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, placed_us "
			 "INTEGER NOT NULL, "
			 "total_cents INTEGER NOT NULL, ship_to TEXT NOT NULL);"
			 "CREATE TABLE order_line (order_id INTEGER NOT NULL, number INTEGER NOT NULL, "
			 "product INTEGER NOT NULL, "
			 "quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL, comment TEXT NOT NULL, "
			 "PRIMARY KEY (order_id, number)) WITHOUT ROWID") &&
		  sqlite3_prepare_v2(
		      s->db, "INSERT INTO product VALUES (?, ?, ?, 0, ?, ?)", -1, &ins, NULL) == SQLITE_OK;
	for (unsigned i = 0; ok && i < Q_COUNT; i++)
		ok = sqlite3_prepare_v3(s->db, text[i], -1, SQLITE_PREPARE_PERSISTENT, &s->q[i], NULL) ==
		     SQLITE_OK;
	ok = ok && run(s, "BEGIN");
	for (uint64_t i = 0; ok && i < p->products; i++) {
		struct tpcw_product r;
		tpcw_product_fill(&r, (int64_t)i);
		sqlite3_bind_int64(ins, 1, r.id);
		sqlite3_bind_int64(ins, 2, r.stock);
		sqlite3_bind_int64(ins, 3, r.price_cents);
		sqlite3_bind_text(ins, 4, r.title, sizeof r.title, SQLITE_STATIC);
		sqlite3_bind_text(ins, 5, r.description, sizeof r.description, SQLITE_STATIC);
		ok = sqlite3_step(ins) == SQLITE_DONE;
		sqlite3_reset(ins);
		if (i % 50000 == 0)
			bench_progress("sqlite: loading products %3d %%", (int)(i * 100 / p->products));
	}
	bench_progress_end("sqlite: loading products 100 %%");
	sqlite3_finalize(ins);
	if (!ok || !run(s, "COMMIT")) {
		tpcw_sqlite_close(s);
		return NULL;
	}
	return s;
}

static bool
step(sqlite3_stmt *q)
{
	int rc = sqlite3_step(q);
	while (rc == SQLITE_ROW) {
		/* Look at what was read, as the other side does. */
		volatile int64_t stock = sqlite3_column_int64(q, 0);
		volatile const unsigned char *text = sqlite3_column_text(q, 4);
		(void)stock;
		(void)text;
		rc = sqlite3_step(q);
	}
	sqlite3_reset(q);
	return rc == SQLITE_DONE;
}

double
tpcw_sqlite_run(struct tpcw_sqlite *s, double seconds)
{
	static const char comment[40] = "as ordered", ship[128] = "to the customer's address";
	uint64_t begin = nam_clock_ns(), end = begin + (uint64_t)(seconds * 1e9), now = begin, n = 0;
	bool ok = true;
	while (ok && now < end) {
		struct tpcw_cart c;
		tpcw_cart_fill(&c, &s->rng, s->p, ++s->order);
		ok = step(s->q[Q_BEGIN]);
		for (unsigned i = 0; ok && i < TPCW_ITEMS; i++) {
			sqlite3_bind_int64(s->q[Q_READ], 1, c.product[i]);
			ok = step(s->q[Q_READ]);
		}
		sqlite3_bind_int64(s->q[Q_ORDER], 1, c.order);
		sqlite3_bind_int64(s->q[Q_ORDER], 2, c.customer);
		sqlite3_bind_int64(s->q[Q_ORDER], 3, (int64_t)now);
		sqlite3_bind_int64(s->q[Q_ORDER], 4, 100);
		sqlite3_bind_text(s->q[Q_ORDER], 5, ship, sizeof ship, SQLITE_STATIC);
		ok = ok && step(s->q[Q_ORDER]);
		for (unsigned i = 0; ok && i < TPCW_ITEMS; i++) {
			sqlite3_bind_int64(s->q[Q_LINE], 1, c.order);
			sqlite3_bind_int64(s->q[Q_LINE], 2, i + 1);
			sqlite3_bind_int64(s->q[Q_LINE], 3, c.product[i]);
			sqlite3_bind_int64(s->q[Q_LINE], 4, c.quantity[i]);
			sqlite3_bind_int64(s->q[Q_LINE], 5, 100);
			sqlite3_bind_text(s->q[Q_LINE], 6, comment, sizeof comment, SQLITE_STATIC);
			ok = step(s->q[Q_LINE]);
		}
		for (unsigned i = 0; ok && i < TPCW_ITEMS; i++) {
			sqlite3_bind_int64(s->q[Q_UPDATE], 1, c.quantity[i]);
			sqlite3_bind_int64(s->q[Q_UPDATE], 2, c.quantity[i]);
			sqlite3_bind_int64(s->q[Q_UPDATE], 3, c.product[i]);
			ok = step(s->q[Q_UPDATE]);
		}
		ok = ok && step(s->q[Q_COMMIT]);
		n++;
		if (n % 64 == 0)
			now = nam_clock_ns();
	}
	if (!ok)
		fprintf(stderr, "namdb bench: sqlite: %s\n", sqlite3_errmsg(s->db));
	return ok ? (double)n * 1e9 / (double)(now - begin) : 0;
}

uint64_t
tpcw_sqlite_check(struct tpcw_sqlite *s)
{
	sqlite3_stmt *q = NULL;
	int64_t diff = 1;
	if (sqlite3_prepare_v2(s->db,
		"SELECT (SELECT sum(sold) FROM product) - (SELECT coalesce(sum(quantity), 0) FROM "
		"order_line)",
		-1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		diff = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return diff != 0;
}

void
tpcw_sqlite_close(struct tpcw_sqlite *s)
{
	for (unsigned i = 0; i < Q_COUNT; i++)
		sqlite3_finalize(s->q[i]);
	sqlite3_close(s->db);
	free(s);
}
