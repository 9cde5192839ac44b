/*
 * sql_tables.c -- TPC-C's tables in SQL: made, filled by COPY, then given their indexes and
 * foreign keys, found by other processes, and dropped.
 *
 * A table is called tpcc_ and the name in tpcc.h, and has the columns that are drawn there; money
 * is whole cents. What is 0 there for NULL is NULL here.
 */
#include "tpcc.h"

#include <types/array.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 32 /* of a question that warms */, NAME = 64 };

/* ---- statements ------------------------------------------------------------------------------ */

struct sql_session *
bench_tpcc_session(const struct cn_place *pl)
{
	const struct sql_session_config cfg = { .tw = pl->txn, .cat = pl->cat, .parser = pl->parser };
	struct sql_session *s = NULL;
	return sql_session_open(&cfg, &s) == NAM_OK ? s : NULL;
}

static bool
done(void *arg, const char *tag, uint64_t rows)
{
	(void)arg;
	(void)tag;
	(void)rows;
	return true;
}

bool
bench_tpcc_say(struct sql_session *s, const char *sql, bool (*rows)(void *, const struct sql_batch_view *),
    void *arg, const char *quiet)
{
	const struct sql_sink sink = { .arg = arg, .rows = rows, .done = done };
	struct cat_err err = { 0 };
	if (sql_execute(s, sql, strlen(sql), &sink, &err))
		return true;
	if (quiet == NULL || strcmp(err.sqlstate, quiet) != 0)
		fprintf(stderr, "namdb bench: %s: %s: %.100s\n", err.sqlstate, err.text, sql);
	return false;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

enum kind { INT, INT_OR_NULL, BIG, BIG_OR_NULL, TEXT };
struct column {
	const char *name;
	enum kind kind;
	unsigned at, size;
};
struct shape {
	const char *key; /* NULL = none */
	unsigned n;
	const struct column *column;
};
#define FIELD(table, kind, field)                                                                            \
	{                                                                                                    \
#field, kind, offsetof(struct tpcc_##table, field),                                          \
		    sizeof(((struct tpcc_##table *)0)->field)                                                \
	}
#define ADDRESS(table)                                                                                       \
	{ "street", TEXT, offsetof(struct tpcc_##table, at.street), 40 },                                    \
	    { "city", TEXT, offsetof(struct tpcc_##table, at.city), 20 },                                    \
	    { "state", TEXT, offsetof(struct tpcc_##table, at.state), 2 },                                   \
	{                                                                                                    \
		"zip", TEXT, offsetof(struct tpcc_##table, at.zip), 9                                        \
	}
#define DIST(number, k)                                                                                      \
	{                                                                                                    \
		"dist" number, TEXT, offsetof(struct tpcc_stock, dist[k]), 24                                \
	}

static const struct column warehouse[] = { FIELD(warehouse, INT, w), FIELD(warehouse, BIG, ytd),
	FIELD(warehouse, INT, tax), FIELD(warehouse, TEXT, name), ADDRESS(warehouse) };
static const struct column district[] = { FIELD(district, INT, w), FIELD(district, INT, d),
	FIELD(district, BIG, ytd), FIELD(district, INT, next_o), FIELD(district, INT, tax),
	FIELD(district, TEXT, name), ADDRESS(district) };
static const struct column customer[] = { FIELD(customer, INT, w), FIELD(customer, INT, d),
	FIELD(customer, INT, c), FIELD(customer, INT, discount), FIELD(customer, BIG, balance),
	FIELD(customer, BIG, ytd_payment), FIELD(customer, INT, payment_cnt),
	FIELD(customer, INT, delivery_cnt), FIELD(customer, BIG, since), FIELD(customer, BIG, credit_lim),
	FIELD(customer, TEXT, last), FIELD(customer, TEXT, first), FIELD(customer, TEXT, middle),
	FIELD(customer, TEXT, credit), FIELD(customer, TEXT, phone), ADDRESS(customer),
	FIELD(customer, TEXT, data) };
static const struct column history[] = { FIELD(history, INT, c_w), FIELD(history, INT, c_d),
	FIELD(history, INT, c), FIELD(history, INT, w), FIELD(history, INT, d), FIELD(history, BIG, amount),
	FIELD(history, BIG, date), FIELD(history, TEXT, data) };
static const struct column new_order[] = { FIELD(new_order, INT, w), FIELD(new_order, INT, d),
	FIELD(new_order, INT, o) };
static const struct column orders[] = { FIELD(orders, INT, w), FIELD(orders, INT, d), FIELD(orders, INT, o),
	FIELD(orders, INT, c), FIELD(orders, BIG, entry), FIELD(orders, INT_OR_NULL, carrier),
	FIELD(orders, INT, ol_cnt), FIELD(orders, INT, all_local) };
static const struct column line[] = { FIELD(line, INT, w), FIELD(line, INT, d), FIELD(line, INT, o),
	FIELD(line, INT, number), FIELD(line, INT, item), FIELD(line, INT, supply_w),
	FIELD(line, BIG_OR_NULL, delivery), FIELD(line, BIG, amount), FIELD(line, INT, quantity),
	FIELD(line, TEXT, dist) };
static const struct column item[] = { FIELD(item, INT, i), FIELD(item, INT, im), FIELD(item, BIG, price),
	FIELD(item, TEXT, name), FIELD(item, TEXT, data) };
static const struct column stock[] = { FIELD(stock, INT, w), FIELD(stock, INT, i),
	FIELD(stock, INT, quantity), FIELD(stock, INT, ytd), FIELD(stock, INT, order_cnt),
	FIELD(stock, INT, remote_cnt), DIST("01", 0), DIST("02", 1), DIST("03", 2), DIST("04", 3),
	DIST("05", 4), DIST("06", 5), DIST("07", 6), DIST("08", 7), DIST("09", 8), DIST("10", 9),
	FIELD(stock, TEXT, data) };

#define SHAPE(table, key)                                                                                    \
	{                                                                                                    \
		key, sizeof table / sizeof table[0], table                                                   \
	}
static const struct shape shapes[TPCC_TABLES] = { [TPCC_WAREHOUSE] = SHAPE(warehouse, "w"),
	[TPCC_DISTRICT] = SHAPE(district, "w, d"),
	[TPCC_CUSTOMER] = SHAPE(customer, "w, d, c"),
	[TPCC_HISTORY] = SHAPE(history, NULL),
	[TPCC_NEW_ORDER] = SHAPE(new_order, "w, d, o"),
	[TPCC_ORDERS] = SHAPE(orders, "w, d, o"),
	[TPCC_LINE] = SHAPE(line, "w, d, o, number"),
	[TPCC_ITEM] = SHAPE(item, "i"),
	[TPCC_STOCK] = SHAPE(stock, "w, i") };

/* Each of them by itself, when the rows are there. */
static const char *const afterwards[] = {
	"CREATE INDEX tpcc_customer_name ON tpcc_customer (w, d, last, first)",
	"CREATE INDEX tpcc_orders_customer ON tpcc_orders (w, d, c, o DESC)",
	"ALTER TABLE tpcc_new_order SET (primary_key = ordered)",
	"ALTER TABLE tpcc_order_line SET (primary_key = ordered)",
	"ALTER TABLE tpcc_district ADD FOREIGN KEY (w) REFERENCES tpcc_warehouse",
	"ALTER TABLE tpcc_customer ADD FOREIGN KEY (w, d) REFERENCES tpcc_district",
	"ALTER TABLE tpcc_history ADD FOREIGN KEY (c_w, c_d, c) REFERENCES tpcc_customer, ADD FOREIGN KEY "
	"(w, d) "
	"REFERENCES tpcc_district",
	"ALTER TABLE tpcc_orders ADD FOREIGN KEY (w, d, c) REFERENCES tpcc_customer",
	"ALTER TABLE tpcc_new_order ADD FOREIGN KEY (w, d, o) REFERENCES tpcc_orders",
	"ALTER TABLE tpcc_stock ADD FOREIGN KEY (w) REFERENCES tpcc_warehouse, ADD FOREIGN KEY (i) "
	"REFERENCES "
	"tpcc_item",
	"ALTER TABLE tpcc_order_line ADD FOREIGN KEY (w, d, o) REFERENCES tpcc_orders, ADD FOREIGN KEY "
	"(supply_w, "
	"item) REFERENCES tpcc_stock",
	"ANALYZE",
};

static const char drops[] =
    "DROP TABLE IF EXISTS tpcc_new_order, tpcc_order_line, tpcc_orders, tpcc_history, "
    "tpcc_customer, tpcc_stock, tpcc_item, tpcc_district, tpcc_warehouse";

static nam_status
said(const struct cn_place *pl, const char *const *sql, unsigned n)
{
	struct sql_session *s = bench_tpcc_session(pl);
	bool ok = s != NULL;
	for (unsigned i = 0; ok && i < n; i++)
		ok = bench_tpcc_say(s, sql[i], NULL, NULL, NULL);
	if (s != NULL)
		sql_session_close(s);
	return ok ? NAM_OK : NAM_INVALID;
}

static nam_status
make(struct tpcc_side *s, const struct cn_place *pl)
{
	static const char *const types[] = { [INT] = "integer NOT NULL",
		[INT_OR_NULL] = "integer",
		[BIG] = "bigint NOT NULL",
		[BIG_OR_NULL] = "bigint" };
	char text[TPCC_TABLES][2048];
	const char *sql[TPCC_TABLES + 1] = { drops };
	unsigned all = 1;
	(void)s;
	for (unsigned i = 0; i < TPCC_TABLES; i++) {
		const struct shape *h = &shapes[i];
		size_t n = 0, max = sizeof text[i];
		if (h->n == 0)
			continue; /* `newest` is an index here */
		for (unsigned k = 0; k < h->n; k++) {
			const struct column *c = &h->column[k];
			n += (size_t)(k == 0 ? snprintf(text[i], max, "CREATE TABLE tpcc_%s (",
						   bench_tpcc_table_names[i])
					     : snprintf(text[i] + n, max - n, ", "));
			n += (size_t)(c->kind == TEXT
					  ? snprintf(text[i] + n, max - n, "%s varchar(%u) NOT NULL", c->name,
						c->size)
					  : snprintf(text[i] + n, max - n, "%s %s", c->name, types[c->kind]));
		}
		if (h->key != NULL)
			n += (size_t)snprintf(text[i] + n, max - n, ", PRIMARY KEY (%s)", h->key);
		snprintf(text[i] + n, max - n, ")");
		sql[all++] = text[i];
	}
	return said(pl, sql, all);
}

static nam_status
loaded(struct tpcc_side *s, const struct cn_place *pl, bool tell)
{
	(void)s;
	(void)tell; /* the catalog does */
	return said(pl, afterwards, sizeof afterwards / sizeof afterwards[0]);
}

static nam_status
drop(struct tpcc_side *s, const struct cn_place *pl, bool told)
{
	(void)s;
	(void)told;
	return said(pl, (const char *const[]){ drops }, 1);
}

/* ---- filling --------------------------------------------------------------------------------- */

/* The rows of a part, a text for each table as COPY reads it. */
struct text {
	char *bytes;
	size_t len, cap;
	bool taken;
};
struct filling {
	struct text table[TPCC_TABLES];
};

static char *
number(char *out, int64_t v)
{
	return out + sprintf(out, "%lld", (long long)v);
}

/* Texts are letters and digits, so nothing needs an escape. */
static char *
cell(char *out, const struct column *c, const char *row)
{
	int32_t small;
	int64_t v;
	memcpy(&small, row + c->at, sizeof small);
	v = small;
	switch (c->kind) {
	case TEXT: {
		size_t n = strnlen(row + c->at, c->size);
		memcpy(out, row + c->at, n);
		return out + n;
	}
	case BIG:
	case BIG_OR_NULL:
		memcpy(&v, row + c->at, sizeof v);
		break;
	default:
		break;
	}
	if (v == 0 && (c->kind == INT_OR_NULL || c->kind == BIG_OR_NULL))
		return (char *)memcpy(out, "\\N", 2) + 2;
	return number(out, v);
}

static nam_status
write_row(void *arg, enum tpcc_table table, const void *row)
{
	struct filling *f = arg;
	struct text *t = &f->table[table];
	const struct shape *h = &shapes[table];
	if (h->n == 0)
		return NAM_OK;
	if (t->cap - t->len < 2048) { /* more than any row's */
		size_t cap = t->cap * 2 + (64 << 10);
		char *more = realloc(t->bytes, cap);
		if (more == NULL)
			return NAM_NOMEM;
		t->bytes = more;
		t->cap = cap;
	}
	char *at = t->bytes + t->len;
	for (unsigned k = 0; k < h->n; k++) {
		at = cell(at, &h->column[k], row);
		*at++ = k + 1 < h->n ? '\t' : '\n';
	}
	t->len = (size_t)(at - t->bytes);
	return NAM_OK;
}

static bool
give(void *arg, const char **bytes, size_t *len)
{
	struct text *t = arg;
	*bytes = t->bytes;
	*len = t->taken ? 0 : t->len;
	t->taken = true;
	return true;
}

static nam_status
copy(struct sql_session *s, enum tpcc_table table, struct text *t)
{
	const struct sql_sink sink = { .arg = t, .done = done, .copy_in = give };
	struct cat_err err = { 0 };
	char sql[NAME];
	int n = snprintf(sql, sizeof sql, "COPY tpcc_%s FROM STDIN", bench_tpcc_table_names[table]);
	do { /* new rows of two transactions may meet in one empty block */
		t->taken = false;
		if (sql_execute(s, sql, (size_t)n, &sink, &err))
			return NAM_OK;
	} while (strcmp(err.sqlstate, "40001") == 0);
	fprintf(stderr, "namdb bench: %s: %s: %s\n", err.sqlstate, err.text, sql);
	return strcmp(err.sqlstate, "53100") == 0 ? NAM_FULL : NAM_INVALID;
}

static nam_status
fill(struct tpcc_side *s, const struct cn_place *pl, unsigned part)
{
	struct filling f = { 0 };
	struct sql_session *q = bench_tpcc_session(pl);
	nam_status st = q != NULL ? bench_tpcc_part(s->p, part, write_row, &f) : NAM_NOMEM;
	for (unsigned i = 0; i < TPCC_TABLES; i++) {
		if (st == NAM_OK && f.table[i].len > 0)
			st = copy(q, i, &f.table[i]);
		free(f.table[i].bytes);
	}
	if (q != NULL)
		sql_session_close(q);
	return st;
}

/* ---- reading, so that the process knows where rows lie --------------------------------------- */

/* Keys that wait until a question has as many as it takes. */
struct asking {
	struct sql_session *s;
	struct {
		unsigned n;
		char list[KEYS * 12];
		size_t len;
		int32_t w, d;
	} table[TPCC_TABLES];
};

static bool
ask(struct asking *a, enum tpcc_table table)
{
	static const char *const text[TPCC_TABLES] = {
		[TPCC_ITEM] = "SELECT count(im) FROM tpcc_item WHERE i IN (%s)",
		[TPCC_STOCK] = "SELECT count(ytd) FROM tpcc_stock WHERE i IN (%s) AND w = %d",
		[TPCC_CUSTOMER] =
		    "SELECT count(since) FROM tpcc_customer WHERE c IN (%s) AND w = %d AND d = %d",
		[TPCC_ORDERS] = "SELECT count(entry) FROM tpcc_orders WHERE o IN (%s) AND w = %d AND d = %d",
	};
	char sql[KEYS * 12 + 128];
	if (a->table[table].n == 0)
		return true;
	snprintf(sql, sizeof sql, text[table], a->table[table].list, a->table[table].w, a->table[table].d);
	a->table[table].n = 0;
	a->table[table].len = 0;
	return bench_tpcc_say(a->s, sql, NULL, NULL, NULL);
}

static nam_status
note_key(void *arg, enum tpcc_table table, const void *row)
{
	struct asking *a = arg;
	int32_t key[3];
	memcpy(key, row, sizeof key);
	int32_t k = table == TPCC_ITEM ? key[0] : table == TPCC_STOCK ? key[1] : key[2];
	if (table != TPCC_ITEM && table != TPCC_STOCK && table != TPCC_CUSTOMER && table != TPCC_ORDERS)
		return NAM_OK;
	char *at = a->table[table].list + a->table[table].len;
	a->table[table].len += (size_t)sprintf(at, a->table[table].n > 0 ? ",%d" : "%d", k);
	a->table[table].w = key[0];
	a->table[table].d = key[1];
	return ++a->table[table].n < KEYS || ask(a, table) ? NAM_OK : NAM_INVALID;
}

static nam_status
load(struct tpcc_side *s, const struct cn_place *pl, unsigned part, bool insert)
{
	if (insert)
		return fill(s, pl, part);
	struct asking a = { .s = bench_tpcc_session(pl) };
	nam_status st = a.s != NULL ? bench_tpcc_part(s->p, part, note_key, &a) : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < TPCC_TABLES; i++)
		st = ask(&a, i) ? NAM_OK : NAM_INVALID;
	if (a.s != NULL)
		sql_session_close(a.s);
	return st;
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool
take_sizes(void *arg, const struct sql_batch_view *b)
{
	int64_t *size = arg;
	for (unsigned k = 0; k < b->cols && b->n > 0; k++)
		size[k] = b->col[k].null[0] ? 0 : b->col[k].i[0];
	return true;
}

static nam_status
find(struct tpcc_side *s, const struct cn_place *pl)
{
	int64_t size[3] = { 0 };
	struct sql_session *q = bench_tpcc_session(pl);
	(void)s;
	if (q == NULL)
		return NAM_NOMEM;
	bool ok = bench_tpcc_say(q,
	    "SELECT (SELECT count(*) FROM tpcc_warehouse), (SELECT max(c) FROM tpcc_customer), (SELECT "
	    "count(*) FROM tpcc_item)",
	    take_sizes, size, "42P01");
	sql_session_close(q);
	if (!ok || size[0] == 0 || size[1] == 0 || size[2] == 0)
		return NAM_ABSENT;
	bench_tpcc_params.warehouses = (unsigned)size[0];
	bench_tpcc_params.customers = (unsigned)size[1];
	bench_tpcc_params.items = (unsigned)size[2];
	return NAM_OK;
}

/* Rows of SQL are longer, and their indexes are trees beside the tables. */
static uint64_t
bytes(const void *params)
{
	return bench_tpcc_bytes(params) * 2;
}

const struct tpcc_ops bench_tpcc_sql = { .make = make,
	.open = find,
	.load = load,
	.loaded = loaded,
	.client = bench_tpcc_sql_client,
	.check = bench_tpcc_sql_check,
	.drop = drop,
	.bytes = bytes };
