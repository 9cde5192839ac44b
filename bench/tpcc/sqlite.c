/* sqlite.c -- TPC-C on SQLite in memory: one thread, prepared statements, one transaction
 * each, with the indexes that the questions want. */
#include "tpcc.h"

#include <base/clock.h>
#include <bench/bench.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	Q_BEGIN,
	Q_COMMIT,
	Q_ROLLBACK,
	Q_WAREHOUSE,
	Q_DISTRICT,
	Q_CUSTOMER,
	Q_NEXT,
	Q_ORDER,
	Q_OPEN,
	Q_ITEM,
	Q_STOCK,
	Q_STOCK_SET,
	Q_LINE,
	Q_WAREHOUSE_PAY,
	Q_DISTRICT_PAY,
	Q_NAMED,
	Q_PAYER,
	Q_PAY,
	Q_PAY_BAD,
	Q_HISTORY,
	Q_NEWEST,
	Q_LINES,
	Q_OLDEST,
	Q_CLOSE,
	Q_WHOSE,
	Q_CARRIER,
	Q_DELIVERED,
	Q_SUM,
	Q_CREDIT,
	Q_NEXT_IS,
	Q_LEVEL,
	Q_COUNT
};

static const char *const text[Q_COUNT] = {
	[Q_BEGIN] = "BEGIN",
	[Q_COMMIT] = "COMMIT",
	[Q_ROLLBACK] = "ROLLBACK",
	[Q_WAREHOUSE] = "SELECT tax FROM warehouse WHERE w = ?",
	[Q_DISTRICT] = "SELECT next_o, tax FROM district WHERE w = ? AND d = ?",
	[Q_CUSTOMER] = "SELECT discount, last, credit FROM customer WHERE w = ? AND d = ? AND c = ?",
	[Q_NEXT] = "UPDATE district SET next_o = next_o + 1 WHERE w = ? AND d = ?",
	[Q_ORDER] = "INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
	[Q_OPEN] = "INSERT INTO new_order VALUES (?, ?, ?)",
	[Q_ITEM] = "SELECT price, name, data FROM item WHERE i = ?",
	[Q_STOCK] = "SELECT quantity, data, dist01, dist02, dist03, dist04, dist05, dist06, dist07, dist08, "
		    "dist09, dist10 FROM stock WHERE w = ? AND i = ?",
	[Q_STOCK_SET] = "UPDATE stock SET quantity = ?, ytd = ytd + ?, order_cnt = order_cnt + 1, remote_cnt "
			"= remote_cnt + ? WHERE w = ? AND i = ?",
	[Q_LINE] = "INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)",
	[Q_WAREHOUSE_PAY] =
	    "UPDATE warehouse SET ytd = ytd + ? WHERE w = ? RETURNING name, street, city, state, zip",
	[Q_DISTRICT_PAY] = "UPDATE district SET ytd = ytd + ? WHERE w = ? AND d = ? RETURNING name, street, "
			   "city, state, zip",
	[Q_NAMED] = "SELECT c FROM customer WHERE w = ? AND d = ? AND last = ? ORDER BY first",
	[Q_PAYER] = "SELECT first, middle, last, street, city, state, zip, phone, since, credit, credit_lim, "
		    "discount, balance, data FROM customer WHERE w = ? AND d = ? AND c = ?",
	[Q_PAY] = "UPDATE customer SET balance = balance - ?, ytd_payment = ytd_payment + ?, payment_cnt = "
		  "payment_cnt + 1 WHERE w = ? AND d = ? AND c = ?",
	[Q_PAY_BAD] = "UPDATE customer SET balance = balance - ?, ytd_payment = ytd_payment + ?, payment_cnt "
		      "= payment_cnt + 1, data = ? WHERE w = ? AND d = ? AND c = ?",
	[Q_HISTORY] = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[Q_NEWEST] =
	    "SELECT o, entry, carrier FROM orders WHERE w = ? AND d = ? AND c = ? ORDER BY o DESC LIMIT 1",
	[Q_LINES] = "SELECT item, supply_w, quantity, amount, delivery FROM order_line WHERE w = ? AND d = ? "
		    "AND o = ?",
	[Q_OLDEST] = "SELECT o FROM new_order WHERE w = ? AND d = ? ORDER BY o LIMIT 1",
	[Q_CLOSE] = "DELETE FROM new_order WHERE w = ? AND d = ? AND o = ?",
	[Q_WHOSE] = "SELECT c FROM orders WHERE w = ? AND d = ? AND o = ?",
	[Q_CARRIER] = "UPDATE orders SET carrier = ? WHERE w = ? AND d = ? AND o = ?",
	[Q_DELIVERED] = "UPDATE order_line SET delivery = ? WHERE w = ? AND d = ? AND o = ?",
	[Q_SUM] = "SELECT sum(amount) FROM order_line WHERE w = ? AND d = ? AND o = ?",
	[Q_CREDIT] = "UPDATE customer SET balance = balance + ?, delivery_cnt = delivery_cnt + 1 WHERE w = ? "
		     "AND d = ? AND c = ?",
	[Q_NEXT_IS] = "SELECT next_o FROM district WHERE w = ? AND d = ?",
	[Q_LEVEL] =
	    "SELECT count(DISTINCT l.item) FROM order_line l JOIN stock s ON s.w = ?1 AND s.i = l.item WHERE "
	    "l.w = ?1 AND l.d = ?2 AND l.o >= ?3 AND l.o < ?4 AND s.quantity < ?5",
};

static const char schema[] =
    "CREATE TABLE warehouse (w INTEGER PRIMARY KEY, ytd INTEGER, tax INTEGER, name TEXT, street TEXT, city "
    "TEXT, state TEXT, zip TEXT);"
    "CREATE TABLE district (w INTEGER, d INTEGER, ytd INTEGER, next_o INTEGER, tax INTEGER, name TEXT, "
    "street "
    "TEXT, city TEXT, state TEXT, zip TEXT, PRIMARY KEY (w, d)) WITHOUT ROWID;"
    "CREATE TABLE customer (w INTEGER, d INTEGER, c INTEGER, discount INTEGER, balance INTEGER, ytd_payment "
    "INTEGER, payment_cnt INTEGER, delivery_cnt INTEGER, since INTEGER, credit_lim INTEGER, last TEXT, first "
    "TEXT, middle TEXT, credit TEXT, phone TEXT, street TEXT, city TEXT, state TEXT, zip TEXT, data TEXT, "
    "PRIMARY KEY (w, d, c)) WITHOUT ROWID;"
    "CREATE TABLE history (c_w INTEGER, c_d INTEGER, c INTEGER, w INTEGER, d INTEGER, amount INTEGER, date "
    "INTEGER, data TEXT);"
    "CREATE TABLE new_order (w INTEGER, d INTEGER, o INTEGER, PRIMARY KEY (w, d, o)) WITHOUT ROWID;"
    "CREATE TABLE orders (w INTEGER, d INTEGER, o INTEGER, c INTEGER, entry INTEGER, carrier INTEGER, ol_cnt "
    "INTEGER, all_local INTEGER, PRIMARY KEY (w, d, o)) WITHOUT ROWID;"
    "CREATE TABLE order_line (w INTEGER, d INTEGER, o INTEGER, number INTEGER, item INTEGER, supply_w "
    "INTEGER, delivery INTEGER, amount INTEGER, quantity INTEGER, dist TEXT, PRIMARY KEY (w, d, o, number)) "
    "WITHOUT ROWID;"
    "CREATE TABLE item (i INTEGER PRIMARY KEY, im INTEGER, price INTEGER, name TEXT, data TEXT);"
    "CREATE TABLE stock (w INTEGER, i INTEGER, quantity INTEGER, ytd INTEGER, order_cnt INTEGER, remote_cnt "
    "INTEGER, dist01 TEXT, dist02 TEXT, dist03 TEXT, dist04 TEXT, dist05 TEXT, dist06 TEXT, dist07 TEXT, "
    "dist08 TEXT, dist09 TEXT, dist10 TEXT, data TEXT, PRIMARY KEY (w, i)) WITHOUT ROWID;"
    "CREATE INDEX customer_name ON customer (w, d, last, first);"
    "CREATE INDEX orders_customer ON orders (w, d, c, o)";

struct tpcc_sqlite {
	const struct tpcc_params *p;
	sqlite3 *db;
	sqlite3_stmt *q[Q_COUNT], *fill[TPCC_TABLES];
	bool ok;
	int64_t answer; /* what the terminal would show, so that it is looked at */
};

/* ---- statements ------------------------------------------------------------------------------ */

static void
fail(struct tpcc_sqlite *s)
{
	if (s->ok)
		fprintf(stderr, "namdb bench: sqlite: %s\n", sqlite3_errmsg(s->db));
	s->ok = false;
}

/* Binds n numbers and takes the first step. True: there is a row. */
static bool
ask(struct tpcc_sqlite *s, int which, unsigned n, const int64_t *v)
{
	sqlite3_stmt *q = s->q[which];
	for (unsigned i = 0; i < n; i++)
		sqlite3_bind_int64(q, (int)i + 1, v[i]);
	int rc = sqlite3_step(q);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		fail(s);
	return rc == SQLITE_ROW;
}
#define ASK(s, which, ...)                                                                                   \
	ask(s, which, sizeof((int64_t[]){ __VA_ARGS__ }) / 8, (const int64_t[]){ __VA_ARGS__ })

static void
end(struct tpcc_sqlite *s, int which)
{
	sqlite3_reset(s->q[which]);
}

/* A statement whose rows, if there are any, are looked at. */
#define DO(s, which, ...)                                                                                    \
	do {                                                                                                 \
		if (ASK(s, which, __VA_ARGS__))                                                              \
			look(s, which);                                                                      \
		end(s, which);                                                                               \
	} while (0)

static int64_t
num(struct tpcc_sqlite *s, int which, int column)
{
	return sqlite3_column_int64(s->q[which], column);
}

/* All rows that are left, all columns. */
static void
look(struct tpcc_sqlite *s, int which)
{
	sqlite3_stmt *q = s->q[which];
	int rc, n = sqlite3_column_count(q);
	do
		for (int i = 0; i < n; i++)
			if (sqlite3_column_type(q, i) == SQLITE_TEXT)
				s->answer += sqlite3_column_text(q, i)[0];
			else
				s->answer += sqlite3_column_int64(q, i);
	while ((rc = sqlite3_step(q)) == SQLITE_ROW);
	if (rc != SQLITE_DONE)
		fail(s);
}

static void
bare(struct tpcc_sqlite *s, int which)
{
	ask(s, which, 0, NULL);
	end(s, which);
}

/* ---- filling --------------------------------------------------------------------------------- */

static void
str(sqlite3_stmt *q, int at, const char *v, size_t max)
{
	sqlite3_bind_text(q, at, v, (int)strnlen(v, max), SQLITE_STATIC);
}

static int
address(sqlite3_stmt *q, int at, const struct tpcc_address *a)
{
	str(q, at, a->street, sizeof a->street);
	str(q, at + 1, a->city, sizeof a->city);
	str(q, at + 2, a->state, sizeof a->state);
	str(q, at + 3, a->zip, sizeof a->zip);
	return at + 4;
}

static void
fill_customer(sqlite3_stmt *q, const struct tpcc_customer *c)
{
	const int64_t v[10] = { c->w, c->d, c->c, c->discount, c->balance, c->ytd_payment, c->payment_cnt,
		c->delivery_cnt, c->since, c->credit_lim };
	for (int i = 0; i < 10; i++)
		sqlite3_bind_int64(q, i + 1, v[i]);
	str(q, 11, c->last, sizeof c->last);
	str(q, 12, c->first, sizeof c->first);
	str(q, 13, c->middle, sizeof c->middle);
	str(q, 14, c->credit, sizeof c->credit);
	str(q, 15, c->phone, sizeof c->phone);
	str(q, address(q, 16, &c->at), c->data, sizeof c->data);
}

static void
numbers(sqlite3_stmt *q, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(q, i + 1, v[i]);
}

static void
fill_stock(sqlite3_stmt *q, const struct tpcc_stock *r)
{
	numbers(q, (const int64_t[]){ r->w, r->i, r->quantity, r->ytd, r->order_cnt, r->remote_cnt }, 6);
	for (int i = 0; i < TPCC_DISTRICTS; i++)
		str(q, 7 + i, r->dist[i], 24);
	str(q, 17, r->data, sizeof r->data);
}

static void
fill_order(sqlite3_stmt *q, const struct tpcc_orders *r)
{
	numbers(
	    q, (const int64_t[]){ r->w, r->d, r->o, r->c, r->entry, r->carrier, r->ol_cnt, r->all_local }, 8);
	if (r->carrier == 0)
		sqlite3_bind_null(q, 6);
}

static void
fill_line(sqlite3_stmt *q, const struct tpcc_line *r)
{
	numbers(q,
	    (const int64_t[]){
		r->w, r->d, r->o, r->number, r->item, r->supply_w, r->delivery, r->amount, r->quantity },
	    9);
	if (r->delivery == 0)
		sqlite3_bind_null(q, 7);
	str(q, 10, r->dist, sizeof r->dist);
}

static nam_status
fill(void *arg, enum tpcc_table table, const void *row)
{
	struct tpcc_sqlite *s = arg;
	sqlite3_stmt *q = s->fill[table];
	const struct tpcc_warehouse *w = row;
	const struct tpcc_district *d = row;
	const struct tpcc_history *h = row;
	const struct tpcc_new_order *n = row;
	const struct tpcc_item *t = row;
	switch (table) {
	case TPCC_WAREHOUSE:
		numbers(q, (const int64_t[]){ w->w, w->ytd, w->tax }, 3);
		str(q, 4, w->name, sizeof w->name);
		address(q, 5, &w->at);
		break;
	case TPCC_DISTRICT:
		numbers(q, (const int64_t[]){ d->w, d->d, d->ytd, d->next_o, d->tax }, 5);
		str(q, 6, d->name, sizeof d->name);
		address(q, 7, &d->at);
		break;
	case TPCC_CUSTOMER:
		fill_customer(q, row);
		break;
	case TPCC_HISTORY:
		numbers(q, (const int64_t[]){ h->c_w, h->c_d, h->c, h->w, h->d, h->amount, h->date }, 7);
		str(q, 8, h->data, sizeof h->data);
		break;
	case TPCC_NEW_ORDER:
		numbers(q, (const int64_t[]){ n->w, n->d, n->o }, 3);
		break;
	case TPCC_ORDERS:
		fill_order(q, row);
		break;
	case TPCC_LINE:
		fill_line(q, row);
		break;
	case TPCC_ITEM:
		numbers(q, (const int64_t[]){ t->i, t->im, t->price }, 3);
		str(q, 4, t->name, sizeof t->name);
		str(q, 5, t->data, sizeof t->data);
		break;
	case TPCC_STOCK:
		fill_stock(q, row);
		break;
	default:
		return NAM_OK; /* orders_customer is its index */
	}
	if (sqlite3_step(q) != SQLITE_DONE)
		fail(s);
	sqlite3_reset(q);
	return s->ok ? NAM_OK : NAM_IO;
}

static bool
load(struct tpcc_sqlite *s)
{
	static const int columns[TPCC_TABLES] = { 8, 10, 20, 8, 3, 8, 10, 5, 17, 0 };
	char sql[128];
	for (unsigned i = 0; s->ok && i < TPCC_TABLES; i++) {
		if (columns[i] == 0)
			continue;
		int n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", bench_tpcc_table_names[i]);
		for (int k = 1; k < columns[i]; k++)
			n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
		snprintf(sql + n, sizeof sql - (size_t)n, ")");
		if (sqlite3_prepare_v2(s->db, sql, -1, &s->fill[i], NULL) != SQLITE_OK)
			fail(s);
	}
	bare(s, Q_BEGIN);
	unsigned parts = bench_tpcc_parts(s->p);
	for (unsigned i = 0; s->ok && i < parts; i++) {
		bench_tpcc_part(s->p, i, fill, s);
		bench_progress("sqlite: loading %3u %%", i * 100 / parts);
	}
	bench_progress_end(NULL);
	bare(s, Q_COMMIT);
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		sqlite3_finalize(s->fill[i]);
	return s->ok;
}

struct tpcc_sqlite *
bench_tpcc_sqlite_open(const struct tpcc_params *p)
{
	struct tpcc_sqlite *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->p = p;
	s->ok = true;
	if (sqlite3_open(":memory:", &s->db) != SQLITE_OK ||
	    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		fail(s);
	for (unsigned i = 0; s->ok && i < Q_COUNT; i++)
		if (sqlite3_prepare_v3(s->db, text[i], -1, SQLITE_PREPARE_PERSISTENT, &s->q[i], NULL) !=
		    SQLITE_OK)
			fail(s);
	if (s->ok && load(s))
		return s;
	bench_tpcc_sqlite_close(s);
	return NULL;
}

/* ---- the transactions ------------------------------------------------------------------------ */

/* One line of a New-Order. False: there is no such item. */
static bool
new_line(struct tpcc_sqlite *s, const struct tpcc_order *o, int32_t number, int32_t k, int64_t *sum)
{
	int32_t item = o->line[k].item, from = o->line[k].supply_w, n = o->line[k].quantity;
	if (!ASK(s, Q_ITEM, item)) {
		end(s, Q_ITEM);
		return false;
	}
	int64_t price = num(s, Q_ITEM, 0);
	s->answer += sqlite3_column_text(s->q[Q_ITEM], 1)[0];
	bool original = strstr((const char *)sqlite3_column_text(s->q[Q_ITEM], 2), "ORIGINAL") != NULL;
	end(s, Q_ITEM);
	if (!ASK(s, Q_STOCK, from, item))
		fail(s);
	int64_t quantity = num(s, Q_STOCK, 0);
	char dist[24];
	if (s->ok) {
		s->answer +=
		    original && strstr((const char *)sqlite3_column_text(s->q[Q_STOCK], 1), "ORIGINAL");
		memcpy(dist, sqlite3_column_text(s->q[Q_STOCK], 1 + o->d), sizeof dist);
	}
	end(s, Q_STOCK);
	quantity -= quantity >= n + 10 ? n : n - 91;
	DO(s, Q_STOCK_SET, quantity, n, from != o->w, from, item);
	str(s->q[Q_LINE], 9, dist, sizeof dist);
	DO(s, Q_LINE, o->w, o->d, number, k + 1, item, from, n * price, n);
	*sum += n * price;
	return true;
}

static bool
new_order(struct tpcc_sqlite *s, const struct tpcc_order *o, int64_t now)
{
	int64_t sum = 0;
	int32_t local = 1;
	ASK(s, Q_WAREHOUSE, o->w);
	int64_t tax = num(s, Q_WAREHOUSE, 0);
	end(s, Q_WAREHOUSE);
	ASK(s, Q_DISTRICT, o->w, o->d);
	int32_t number = (int32_t)num(s, Q_DISTRICT, 0);
	tax += num(s, Q_DISTRICT, 1);
	end(s, Q_DISTRICT);
	ASK(s, Q_CUSTOMER, o->w, o->d, o->c);
	int64_t discount = num(s, Q_CUSTOMER, 0);
	end(s, Q_CUSTOMER);
	DO(s, Q_NEXT, o->w, o->d);
	for (int32_t k = 0; k < o->lines; k++)
		local &= o->line[k].supply_w == o->w;
	DO(s, Q_ORDER, o->w, o->d, number, o->c, now, o->lines, local);
	DO(s, Q_OPEN, o->w, o->d, number);
	for (int32_t k = 0; s->ok && k < o->lines; k++)
		if (!new_line(s, o, number, k, &sum))
			return false;
	s->answer += sum * (10000 - discount) / 10000 * (10000 + tax) / 10000;
	return true;
}

/* The customer in the middle of those with the drawn name. */
static int64_t
customer(struct tpcc_sqlite *s, const struct tpcc_order *o)
{
	int64_t who[64];
	unsigned n = 0;
	if (!o->by_name)
		return o->c;
	str(s->q[Q_NAMED], 3, o->last, sizeof o->last);
	for (bool more = ASK(s, Q_NAMED, o->c_w, o->c_d); more && n < 64;
	     more = sqlite3_step(s->q[Q_NAMED]) == SQLITE_ROW)
		who[n++] = num(s, Q_NAMED, 0);
	end(s, Q_NAMED);
	if (n == 0) {
		fail(s);
		return 0;
	}
	return who[(n - 1) / 2];
}

static void
pay(struct tpcc_sqlite *s, const struct tpcc_order *o, int64_t c)
{
	char data[600];
	bool bad = false;
	if (ASK(s, Q_PAYER, o->c_w, o->c_d, c)) {
		bad = memcmp(sqlite3_column_text(s->q[Q_PAYER], 9), "BC", 2) == 0;
		if (bad)
			snprintf(data, 501, "%lld %d %d %d %d %lld %s", (long long)c, o->c_d, o->c_w, o->d,
			    o->w, (long long)o->amount, sqlite3_column_text(s->q[Q_PAYER], 13));
		look(s, Q_PAYER);
	}
	end(s, Q_PAYER);
	if (bad) {
		sqlite3_bind_text(s->q[Q_PAY_BAD], 3, data, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s->q[Q_PAY_BAD], 4, o->c_w);
		sqlite3_bind_int64(s->q[Q_PAY_BAD], 5, o->c_d);
		sqlite3_bind_int64(s->q[Q_PAY_BAD], 6, c);
		DO(s, Q_PAY_BAD, o->amount, o->amount);
	} else {
		DO(s, Q_PAY, o->amount, o->amount, o->c_w, o->c_d, c);
	}
}

static void
payment(struct tpcc_sqlite *s, const struct tpcc_order *o, int64_t now)
{
	char name[2][16] = { "", "" }, data[40];
	int64_t c = customer(s, o);
	if (ASK(s, Q_WAREHOUSE_PAY, o->amount, o->w)) {
		snprintf(name[0], sizeof name[0], "%s", sqlite3_column_text(s->q[Q_WAREHOUSE_PAY], 0));
		look(s, Q_WAREHOUSE_PAY);
	}
	end(s, Q_WAREHOUSE_PAY);
	if (ASK(s, Q_DISTRICT_PAY, o->amount, o->w, o->d)) {
		snprintf(name[1], sizeof name[1], "%s", sqlite3_column_text(s->q[Q_DISTRICT_PAY], 0));
		look(s, Q_DISTRICT_PAY);
	}
	end(s, Q_DISTRICT_PAY);
	pay(s, o, c);
	int n = snprintf(data, sizeof data, "%s    %s", name[0], name[1]);
	sqlite3_bind_text(s->q[Q_HISTORY], 8, data, n, SQLITE_STATIC);
	DO(s, Q_HISTORY, o->c_w, o->c_d, c, o->w, o->d, o->amount, now);
}

static void
order_status(struct tpcc_sqlite *s, const struct tpcc_order *o)
{
	int64_t c = customer(s, o), number = 0;
	DO(s, Q_PAYER, o->w, o->d, c);
	if (ASK(s, Q_NEWEST, o->w, o->d, c))
		number = num(s, Q_NEWEST, 0);
	end(s, Q_NEWEST);
	DO(s, Q_LINES, o->w, o->d, number);
}

static void
delivery(struct tpcc_sqlite *s, const struct tpcc_order *o, int64_t now)
{
	for (int64_t d = 1; s->ok && d <= TPCC_DISTRICTS; d++) {
		int64_t number = 0, c = 0, sum = 0;
		if (ASK(s, Q_OLDEST, o->w, d))
			number = num(s, Q_OLDEST, 0);
		end(s, Q_OLDEST);
		if (number == 0)
			continue;
		DO(s, Q_CLOSE, o->w, d, number);
		if (ASK(s, Q_WHOSE, o->w, d, number))
			c = num(s, Q_WHOSE, 0);
		end(s, Q_WHOSE);
		DO(s, Q_CARRIER, o->carrier, o->w, d, number);
		DO(s, Q_DELIVERED, now, o->w, d, number);
		if (ASK(s, Q_SUM, o->w, d, number))
			sum = num(s, Q_SUM, 0);
		end(s, Q_SUM);
		DO(s, Q_CREDIT, sum, o->w, d, c);
	}
}

static void
stock_level(struct tpcc_sqlite *s, const struct tpcc_order *o)
{
	ASK(s, Q_NEXT_IS, o->w, o->d);
	int64_t next = num(s, Q_NEXT_IS, 0);
	end(s, Q_NEXT_IS);
	DO(s, Q_LEVEL, o->w, o->d, next - TPCC_RECENT, next, o->threshold);
}

/* False: it was rolled back. */
static bool
once(struct tpcc_sqlite *s, const struct tpcc_order *o, int64_t now)
{
	bool commit = true;
	bare(s, Q_BEGIN);
	switch (o->what) {
	case TPCC_NEW:
		commit = new_order(s, o, now);
		break;
	case TPCC_PAYMENT:
		payment(s, o, now);
		break;
	case TPCC_STATUS:
		order_status(s, o);
		break;
	case TPCC_DELIVERY:
		delivery(s, o, now);
		break;
	default:
		stock_level(s, o);
		break;
	}
	bare(s, commit ? Q_COMMIT : Q_ROLLBACK);
	return commit;
}

double
bench_tpcc_sqlite_run(struct tpcc_sqlite *s, double seconds, unsigned round, uint64_t *commits)
{
	uint64_t begin = nam_clock_ns(), until = begin + (uint64_t)(seconds * 1e9), now = begin;
	*commits = 0;
	struct nam_rng dice;
	nam_rng_init(&dice, s->p->seed + round * UINT64_C(104729)); /* as the first client's */
	for (uint64_t n = 1; s->ok && now < until; n++) {
		struct tpcc_order o;
		bench_tpcc_draw(&o, &dice, s->p, 0);
		*commits += once(s, &o, (int64_t)(now / 1000) + 1);
		if (n % 16 == 0)
			now = nam_clock_ns();
	}
	return s->ok ? (double)*commits * 1e9 / (double)(now - begin) : 0;
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Some of the conditions, which show that the peer did the work. */
uint64_t
bench_tpcc_sqlite_check(struct tpcc_sqlite *s)
{
	static const char *const none[] = {
		"SELECT count(*) FROM warehouse x WHERE ytd <> (SELECT sum(ytd) FROM district WHERE w = x.w) "
		"OR "
		"ytd <> (SELECT sum(amount) FROM history WHERE w = x.w)",
		"SELECT count(*) FROM district x WHERE next_o - 1 <> (SELECT max(o) FROM orders WHERE w = "
		"x.w AND "
		"d = x.d)",
		"SELECT (SELECT sum(ol_cnt) FROM orders) <> (SELECT count(*) FROM order_line)",
		"SELECT (SELECT count(*) FROM orders WHERE carrier IS NULL) <> (SELECT count(*) FROM "
		"new_order)",
		"SELECT (SELECT sum(balance + ytd_payment) FROM customer) <> (SELECT sum(amount) FROM "
		"order_line "
		"WHERE delivery IS NOT NULL)",
	};
	uint64_t bad = !s->ok;
	for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++) {
		sqlite3_stmt *q = NULL;
		bool good = sqlite3_prepare_v2(s->db, none[i], -1, &q, NULL) == SQLITE_OK &&
			    sqlite3_step(q) == SQLITE_ROW && sqlite3_column_int64(q, 0) == 0;
		sqlite3_finalize(q);
		if (!good)
			fprintf(stderr, "namdb bench: check: sqlite: not none: %s\n", none[i]);
		bad += !good;
	}
	return bad;
}

void
bench_tpcc_sqlite_close(struct tpcc_sqlite *s)
{
	for (unsigned i = 0; i < Q_COUNT; i++)
		sqlite3_finalize(s->q[i]);
	sqlite3_close(s->db);
	free(s);
}
