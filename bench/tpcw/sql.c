/* sql.c -- the checkout through SQL: sessions, prepared statements, the same twelve statements
 * SQLite gets. */
#include "tpcw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Q_BEGIN, Q_READ, Q_ORDER, Q_LINE, Q_UPDATE, Q_COMMIT, Q_COUNT };
static const char *const text[Q_COUNT] = {
	"BEGIN ISOLATION LEVEL REPEATABLE READ",
	"SELECT stock, price_cents, sold, title, description FROM product WHERE id = $1",
	"INSERT INTO orders VALUES ($1, $2, $3, $4, $5)",
	"INSERT INTO order_line VALUES ($1, $2, $3, $4, $5, $6)",
	"UPDATE product SET stock = stock - $1, sold = sold + $1 WHERE id = $2",
	"COMMIT",
};

static bool
nothing(void *arg, const char *tag, uint64_t rows)
{
	(void)arg;
	(void)tag;
	(void)rows;
	return true;
}

static bool
take_rows(void *arg, const struct sql_batch_view *b)
{
	struct tpcw_answer *a = arg;
	for (unsigned k = 0; b->n > 0 && k < b->cols && k < TPCW_COLUMNS; k++)
		if (!cat_type_is_str(b->col[k].type))
			a->i[k] = b->col[k].null[0] ? 0 : b->col[k].i[0];
	a->rows += b->n;
	return true;
}

bool
tpcw_sql_exec(struct sql_session *s, const char *sql, struct tpcw_answer *a)
{
	struct sql_sink sink = { .arg = a, .rows = a ? take_rows : NULL, .done = nothing };
	struct cat_err err = { 0 };
	if (sql_execute(s, sql, strlen(sql), &sink, &err))
		return true;
	fprintf(stderr, "namdb bench: %s: %s\n", err.sqlstate, err.text);
	return false;
}

struct sql_session *
tpcw_sql_session(const struct cn_place *pl)
{
	struct sql_session_config cfg = { .tw = pl->txn, .cat = pl->cat, .parser = pl->parser };
	struct sql_session *s = NULL;
	return sql_session_open(&cfg, &s) == NAM_OK ? s : NULL;
}

static nam_status
prepare(struct tpcw_side *side, const struct cn_place *pl)
{
	(void)side;
	struct sql_session *s = tpcw_sql_session(pl);
	bool ok =
	    s != NULL &&
	    tpcw_sql_exec(s,
		"DROP TABLE IF EXISTS product; DROP TABLE IF EXISTS orders; DROP TABLE IF EXISTS order_line",
		NULL) &&
	    tpcw_sql_exec(s,
		"CREATE TABLE product (id bigint PRIMARY KEY, stock bigint NOT NULL, price_cents bigint NOT "
		"NULL, "
		"sold bigint NOT NULL, title varchar(8) NOT NULL, description varchar(960) NOT NULL)",
		NULL) &&
	    tpcw_sql_exec(s,
		"CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint NOT NULL, placed_us bigint NOT "
		"NULL, "
		"total_cents bigint NOT NULL, ship_to varchar(128) NOT NULL)",
		NULL) &&
	    tpcw_sql_exec(s,
		"CREATE TABLE order_line (order_id bigint NOT NULL, number bigint NOT NULL, product bigint "
		"NOT NULL, "
		"quantity bigint NOT NULL, price_cents bigint NOT NULL, comment varchar(40) NOT NULL, "
		"PRIMARY KEY (order_id, number))",
		NULL);
	if (s)
		sql_session_close(s);
	return ok ? NAM_OK : NAM_INVALID;
}

static struct cat_datum
num(int64_t i)
{
	return (struct cat_datum){ .type = CAT_INT8, .v.i = i };
}
static struct cat_datum
str(const char *p, size_t len)
{
	return (struct cat_datum){ .type = CAT_TEXT, .v.s = { p, (uint32_t)len } };
}

static nam_status
load(struct tpcw_side *side, const struct cn_place *pl, uint64_t from, uint64_t to, _Atomic uint64_t *done)
{
	(void)side;
	struct sql_session *s = tpcw_sql_session(pl);
	struct sql_stmt *q = NULL;
	struct cat_err err = { 0 };
	const char *ins = "INSERT INTO product VALUES ($1, $2, $3, 0, $4, $5)";
	bool ok = s != NULL && sql_prepare(s, ins, strlen(ins), NULL, 0, &q, &err);
	struct sql_sink sink = { .done = nothing };
	for (uint64_t i = from; ok && i < to;) {
		ok = tpcw_sql_exec(s, "BEGIN", NULL);
		for (unsigned n = 0; ok && n < 256 && i < to; n++, i++) {
			struct tpcw_product r;
			tpcw_product_fill(&r, (int64_t)i);
			struct cat_datum v[5] = { num(r.id), num(r.stock), num(r.price_cents),
				str(r.title, sizeof r.title), str(r.description, sizeof r.description) };
			ok = sql_run(s, q, v, 5, &sink, &err);
			atomic_fetch_add_explicit(done, 1, memory_order_relaxed);
		}
		ok = ok && tpcw_sql_exec(s, "COMMIT", NULL);
	}
	if (err.sqlstate[0])
		fprintf(stderr, "namdb bench: %s: %s\n", err.sqlstate, err.text);
	if (q)
		sql_stmt_close(q);
	if (s)
		sql_session_close(s);
	return ok ? NAM_OK : NAM_INVALID;
}

static bool
checkout(
    struct sql_session *s, struct sql_stmt **q, const struct tpcw_cart *c, int64_t now, struct cat_err *err)
{
	static const char ship[128] =
	    "to the customer's address                                                         ";
	struct tpcw_answer a = { 0 };
	struct sql_sink rows = { .arg = &a, .rows = take_rows, .done = nothing }, none = { .done = nothing };
	int64_t price[TPCW_ITEMS], total = 0;
	if (!sql_run(s, q[Q_BEGIN], NULL, 0, &none, err))
		return false;
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		struct cat_datum v = num(c->product[i]);
		if (!sql_run(s, q[Q_READ], &v, 1, &rows, err))
			return false;
		price[i] = a.i[1];
		total += price[i] * c->quantity[i];
	}
	struct cat_datum o[5] = { num(c->order), num(c->customer), num(now), num(total), str(ship, 80) };
	if (!sql_run(s, q[Q_ORDER], o, 5, &none, err))
		return false;
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		struct cat_datum l[6] = { num(c->order), num(i + 1), num(c->product[i]), num(c->quantity[i]),
			num(price[i]), str("as ordered", 10) };
		if (!sql_run(s, q[Q_LINE], l, 6, &none, err))
			return false;
	}
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		struct cat_datum u[2] = { num(c->quantity[i]), num(c->product[i]) };
		if (!sql_run(s, q[Q_UPDATE], u, 2, &none, err))
			return false;
	}
	return sql_run(s, q[Q_COMMIT], NULL, 0, &none, err);
}

static void
client(struct tpcw_side *side, const struct cn_place *pl, unsigned number, struct bench_slice *out,
    const atomic_bool *stop)
{
	struct sql_session *s = tpcw_sql_session(pl);
	struct sql_stmt *q[Q_COUNT] = { NULL };
	struct cat_err err = { 0 };
	struct nam_rng r;
	bool ok = s != NULL;
	for (unsigned i = 0; ok && i < Q_COUNT; i++)
		ok = sql_prepare(s, text[i], strlen(text[i]), NULL, 0, &q[i], &err);
	nam_rng_init(&r, side->p->seed + number * 7919u + (uint64_t)atomic_load(&side->next_order));
	int64_t next = 0, end = 0;
	while (ok && out->commits < out->most && !atomic_load_explicit(stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&side->full, memory_order_relaxed)) {
		if (next == end) {
			next = atomic_fetch_add(&side->next_order, 4096);
			end = next + 4096;
		}
		struct tpcw_cart c;
		tpcw_cart_fill(&c, &r, side->p, next++);
		uint64_t began = net_now_ns(pl->net);
		while (!(ok = checkout(s, q, &c, (int64_t)began, &err))) {
			if (sql_session_state(s) != 'I')
				tpcw_sql_exec(s, "ROLLBACK", NULL);
			if (strcmp(err.sqlstate, "40001") != 0)
				break;
			err.sqlstate[0] = 0;
			out->aborts++;
		}
		if (!ok)
			break;
		out->commits++;
		nam_hist_add(&out->latency_ns, net_now_ns(pl->net) - began);
	}
	if (!ok && strcmp(err.sqlstate, "53100") == 0) {
		atomic_store(&side->full, true);
	} else if (!ok) {
		out->errors++;
		fprintf(stderr, "namdb bench: checkout: %s: %s\n", err.sqlstate, err.text);
	}
	if (s)
		sql_session_counts(s, &out->counts);
	for (unsigned i = 0; i < Q_COUNT; i++)
		if (q[i])
			sql_stmt_close(q[i]);
	if (s)
		sql_session_close(s);
}

static int64_t
ask(struct sql_session *s, const char *sql)
{
	struct tpcw_answer a = { .i = { -1 } };
	return tpcw_sql_exec(s, sql, &a) && a.rows == 1 ? a.i[0] : INT64_MIN;
}

static uint64_t
check(struct tpcw_side *side, const struct cn_place *pl)
{
	struct sql_session *s = tpcw_sql_session(pl);
	if (s == NULL)
		return 1;
	int64_t products = ask(s, "SELECT count(*) FROM product");
	int64_t sold = ask(s, "SELECT sum(sold)::bigint FROM product");
	int64_t wrong = ask(s, "SELECT count(*) FROM product WHERE stock + sold <> 1000000");
	int64_t ordered = ask(s, "SELECT coalesce(sum(quantity), 0)::bigint FROM order_line");
	int64_t lines = ask(s, "SELECT count(*) FROM order_line");
	int64_t orders = ask(s, "SELECT count(*) FROM orders");
	int64_t matched = ask(s, "SELECT count(*) FROM orders o JOIN order_line l ON o.id = l.order_id");
	int64_t odd = ask(s, "SELECT count(*) FROM order_line WHERE number < 1 OR number > 3");
	uint64_t bad = (products != (int64_t)side->p->products) + (sold != ordered) + (wrong != 0) +
		       (lines != orders * TPCW_ITEMS) + (matched != lines) + (odd != 0);
	fprintf(stderr, "check: %lld products, %lld orders, %lld lines, %lld sold: %s\n", (long long)products,
	    (long long)orders, (long long)lines, (long long)sold, bad ? "WRONG" : "all holds");
	sql_session_close(s);
	return bad;
}

static void
finish(struct tpcw_side *side, const struct cn_place *pl)
{
	(void)side;
	struct sql_session *s = tpcw_sql_session(pl);
	if (s == NULL)
		return;
	tpcw_sql_exec(s, "DROP TABLE product; DROP TABLE orders; DROP TABLE order_line", NULL);
	sql_session_close(s);
}

const struct tpcw_ops tpcw_sql = { prepare, load, client, check, finish };
