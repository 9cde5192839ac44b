/*
 * sql.c -- TPC-C's five transactions as prepared statements of a session, REPEATABLE READ.
 *
 * What a transaction asks of many rows is one statement with arrays for parameters, so that their
 * READs share doorbells: a New-Order's items and stock, its lines, a Delivery's ten districts.
 */
#include "tpcc.h"

#include <types/array.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	Q_BEGIN,
	Q_COMMIT,
	Q_ROLLBACK,
	Q_NEXT,
	Q_BUYER,
	Q_ORDER,
	Q_OPEN,
	Q_LINES,
	Q_NAMED,
	Q_WAREHOUSE_PAY,
	Q_DISTRICT_PAY,
	Q_PAY,
	Q_HISTORY,
	Q_CUSTOMER,
	Q_NEWEST,
	Q_LINES_OF,
	Q_OLDEST,
	Q_CLOSE,
	Q_CARRIER,
	Q_DELIVERED,
	Q_CREDIT,
	Q_NEXT_IS,
	Q_LEVEL,
	Q_STOCK, /* one for each district, which names its column of stock */
	Q_COUNT = Q_STOCK + TPCC_DISTRICTS
};

static const char *const text[Q_STOCK + 1] = {
	[Q_BEGIN] = "BEGIN ISOLATION LEVEL REPEATABLE READ",
	[Q_COMMIT] = "COMMIT",
	[Q_ROLLBACK] = "ROLLBACK",
	[Q_NEXT] =
	    "UPDATE tpcc_district SET next_o = next_o + 1 WHERE w = $1 AND d = $2 RETURNING next_o - 1, tax",
	[Q_BUYER] = "SELECT c.discount, w.tax, c.last, c.credit FROM tpcc_customer c, tpcc_warehouse w WHERE "
		    "w.w = $1 "
		    "AND c.w = $1 AND c.d = $2 AND c.c = $3",
	[Q_STOCK] =
	    "UPDATE tpcc_stock AS s SET quantity = CASE WHEN s.quantity >= x.n + 10 THEN s.quantity - x.n "
	    "ELSE "
	    "s.quantity - x.n + 91 END, ytd = s.ytd + x.n, order_cnt = s.order_cnt + 1, remote_cnt = "
	    "s.remote_cnt + CASE WHEN s.w = $1 THEN 0 ELSE 1 END FROM (SELECT unnest($2::integer[]) AS w, "
	    "unnest($3::integer[]) AS i, unnest($4::integer[]) AS n) x JOIN tpcc_item t ON t.i = x.i WHERE "
	    "s.w = "
	    "x.w AND s.i = x.i RETURNING s.w, s.i, t.price, (t.data LIKE '%%ORIGINAL%%' AND s.data LIKE "
	    "'%%ORIGINAL%%')::integer, s.quantity, s.dist%02u, t.name",
	[Q_ORDER] = "INSERT INTO tpcc_orders VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)",
	[Q_OPEN] = "INSERT INTO tpcc_new_order VALUES ($1, $2, $3)",
	[Q_LINES] =
	    "INSERT INTO tpcc_order_line SELECT $1, $2, $3, x.number, x.item, x.supply_w, NULL, x.amount, "
	    "x.quantity, x.dist FROM (SELECT generate_series(1, $4::integer) AS number, "
	    "unnest($5::integer[]) AS "
	    "item, unnest($6::integer[]) AS supply_w, unnest($7::bigint[]) AS amount, unnest($8::integer[]) "
	    "AS "
	    "quantity, unnest($9::text[]) AS dist) x",
	[Q_NAMED] = "SELECT c FROM tpcc_customer WHERE w = $1 AND d = $2 AND last = $3 ORDER BY first",
	[Q_WAREHOUSE_PAY] =
	    "UPDATE tpcc_warehouse SET ytd = ytd + $2 WHERE w = $1 RETURNING name, street, city, state, "
	    "zip",
	[Q_DISTRICT_PAY] =
	    "UPDATE tpcc_district SET ytd = ytd + $3 WHERE w = $1 AND d = $2 RETURNING name, street, "
	    "city, state, zip",
	[Q_PAY] =
	    "UPDATE tpcc_customer SET balance = balance - $4, ytd_payment = ytd_payment + $4, payment_cnt = "
	    "payment_cnt + 1, data = CASE WHEN credit = 'BC' THEN left($5 || data, 500) ELSE data END WHERE "
	    "w = $1 "
	    "AND d = $2 AND c = $3 RETURNING balance, discount, credit_lim, since, first, last, credit, "
	    "phone",
	[Q_HISTORY] = "INSERT INTO tpcc_history VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
	[Q_CUSTOMER] =
	    "SELECT balance, first, middle, last FROM tpcc_customer WHERE w = $1 AND d = $2 AND c = $3",
	[Q_NEWEST] =
	    "SELECT o, entry, carrier FROM tpcc_orders WHERE w = $1 AND d = $2 AND c = $3 ORDER BY o DESC "
	    "LIMIT 1",
	[Q_LINES_OF] =
	    "SELECT item, supply_w, quantity, amount, delivery FROM tpcc_order_line WHERE w = $1 AND d = $2 "
	    "AND o = $3",
	[Q_OLDEST] = "SELECT x.d, n.o FROM generate_series(1, 10) AS x(d), LATERAL (SELECT o FROM "
		     "tpcc_new_order WHERE "
		     "w = $1 AND d = x.d ORDER BY o LIMIT 1) n",
	[Q_CLOSE] = "DELETE FROM tpcc_new_order AS n USING (SELECT unnest($2::integer[]) AS d, "
		    "unnest($3::integer[]) AS "
		    "o) x WHERE n.w = $1 AND n.d = x.d AND n.o = x.o RETURNING n.d",
	[Q_CARRIER] =
	    "UPDATE tpcc_orders AS r SET carrier = $4 FROM (SELECT unnest($2::integer[]) AS d, "
	    "unnest($3::integer[]) AS o) x WHERE r.w = $1 AND r.d = x.d AND r.o = x.o RETURNING r.d, r.c",
	[Q_DELIVERED] =
	    "UPDATE tpcc_order_line AS l SET delivery = $4 FROM (SELECT unnest($2::integer[]) AS d, "
	    "unnest($3::integer[]) AS o) x WHERE l.w = $1 AND l.d = x.d AND l.o = x.o RETURNING l.d, "
	    "l.amount",
	[Q_CREDIT] =
	    "UPDATE tpcc_customer AS c SET balance = balance + x.sum, delivery_cnt = delivery_cnt + 1 FROM "
	    "(SELECT unnest($2::integer[]) AS d, unnest($3::integer[]) AS c, unnest($4::bigint[]) AS sum) x "
	    "WHERE c.w = $1 AND c.d = x.d AND c.c = x.c RETURNING c.d",
	[Q_NEXT_IS] = "SELECT next_o FROM tpcc_district WHERE w = $1 AND d = $2",
	[Q_LEVEL] =
	    "SELECT count(DISTINCT l.item) FROM tpcc_order_line l JOIN tpcc_stock s ON s.w = $1 AND s.i = "
	    "l.item WHERE l.w = $1 AND l.d = $2 AND l.o >= $3 AND l.o < $4 AND s.quantity < $5",
};

enum { ROWS = TPCC_DISTRICTS * TPCC_LINES, COLUMNS = 8, CELL = 24, PARAMS = 9 };

/* A number, or the beginning of a text. */
struct cell {
	int64_t i;
	char s[CELL];
	uint32_t len;
};
struct client {
	struct tpcc_side *s;
	const struct cn_place *pl;
	struct sql_session *sql;
	struct sql_stmt *q[Q_COUNT];
	struct nam_arena arena;
	struct cat_err err;
	const struct tpcc_order *o;
	int64_t now;
	uint64_t trips; /* of the session, when the attempt began; then those of the attempt */
	int64_t answer; /* what the terminal would show, so that it is looked at */
	unsigned rows;  /* that the last statement brought */
	struct cell row[ROWS][COLUMNS];
};

/* ---- statements ------------------------------------------------------------------------------ */

static bool
take_rows(void *arg, const struct sql_batch_view *b)
{
	struct client *c = arg;
	for (unsigned i = 0; i < b->n && c->rows < ROWS; i++, c->rows++)
		for (unsigned k = 0; k < b->cols && k < COLUMNS; k++) {
			struct cell *to = &c->row[c->rows][k];
			const struct cat_vec *v = &b->col[k];
			if (!cat_type_is_str(v->type)) {
				to->i = v->null[i] ? 0 : v->i[i];
				c->answer += to->i;
				continue;
			}
			to->len = v->s[i].len < CELL ? v->s[i].len : CELL;
			memcpy(to->s, v->s[i].p, to->len);
			c->answer += to->len > 0 ? to->s[0] : 0;
		}
	return true;
}

static bool
done(void *arg, const char *tag, uint64_t rows)
{
	(void)arg;
	(void)tag;
	(void)rows;
	return true;
}

/* Numbers are of the types that the statement wants. False: c->err says why. */
static bool
run(struct client *c, unsigned which, unsigned n, const struct cat_datum *v)
{
	const struct sql_sink sink = { .arg = c, .rows = take_rows, .done = done };
	struct cat_datum param[PARAMS];
	const enum cat_type *type;
	unsigned wanted = sql_stmt_params(c->q[which], &type);
	for (unsigned i = 0; i < n; i++) {
		param[i] = v[i];
		if (i < wanted && param[i].type == CAT_INT8)
			param[i].type = type[i];
	}
	c->rows = 0;
	return sql_run(c->sql, c->q[which], param, n, &sink, &c->err);
}
#define RUN(c, which, ...)                                                                                   \
	run(c, which, sizeof((struct cat_datum[]){ __VA_ARGS__ }) / sizeof(struct cat_datum),                \
	    (const struct cat_datum[]){ __VA_ARGS__ })

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

/* An array; NULL if there is no memory, which the statement then tells. */
static struct cat_datum
list(struct client *c, enum cat_type elem, const union cat_val *v, unsigned n)
{
	struct cat_datum d = { .type = cat_type_array_of(elem) };
	d.null = !cat_array_make(elem, 1, v, NULL, n, &d.v.s, &c->arena, &c->err);
	return d;
}

/* The transaction finds what must not be: told like an error of a statement. */
static bool
wrong(struct client *c, const char *what)
{
	snprintf(c->err.sqlstate, sizeof c->err.sqlstate, "XX000");
	snprintf(c->err.text, sizeof c->err.text, "%s", what);
	return false;
}

/* ---- New-Order ------------------------------------------------------------------------------- */

struct newing {
	bool done[TPCC_LINES];
	union cat_val item[TPCC_LINES], supply[TPCC_LINES], quantity[TPCC_LINES], amount[TPCC_LINES],
	    dist[TPCC_LINES];
	char bytes[TPCC_LINES][CELL];
	bool missing;
	int64_t sum;
};

/* The line that a row of stock is about: of those that were asked for. */
static bool
new_line(struct client *c, struct newing *x, const struct cell *row, const bool *asked)
{
	int32_t k = 0;
	while (k < c->o->lines && (!asked[k] || x->done[k] || row[0].i != c->o->line[k].supply_w ||
				      row[1].i != c->o->line[k].item))
		k++;
	if (k == c->o->lines)
		return wrong(c, "a row of stock that no line asked for");
	x->done[k] = true;
	x->item[k].i = row[1].i;
	x->supply[k].i = row[0].i;
	x->quantity[k].i = c->o->line[k].quantity;
	x->amount[k].i = row[2].i * c->o->line[k].quantity;
	x->sum += x->amount[k].i;
	memcpy(x->bytes[k], row[5].s, row[5].len);
	x->dist[k].s = (struct cat_str){ x->bytes[k], row[5].len };
	return true;
}

/* All lines whose item and warehouse differ; lines that have both of an earlier one come next. */
static bool
new_lines(struct client *c, struct newing *x)
{
	const struct tpcc_order *o = c->o;
	int32_t left = o->lines;
	while (left > 0 && !x->missing) {
		union cat_val w[TPCC_LINES], i[TPCC_LINES], q[TPCC_LINES];
		bool asked[TPCC_LINES] = { false };
		unsigned n = 0;
		for (int32_t k = 0; k < o->lines; k++) {
			int32_t same = 0;
			while (same < k && !(asked[same] && o->line[same].item == o->line[k].item &&
					       o->line[same].supply_w == o->line[k].supply_w))
				same++;
			asked[k] = !x->done[k] && same == k;
			if (!asked[k])
				continue;
			w[n].i = o->line[k].supply_w;
			i[n].i = o->line[k].item;
			q[n++].i = o->line[k].quantity;
		}
		if (!RUN(c, (unsigned)(Q_STOCK + o->d - 1), num(o->w), list(c, CAT_INT4, w, n),
			list(c, CAT_INT4, i, n), list(c, CAT_INT4, q, n)))
			return false;
		for (unsigned k = 0; k < c->rows; k++)
			if (!new_line(c, x, c->row[k], asked))
				return false;
		x->missing = c->rows < n;
		left -= (int32_t)n;
	}
	return true;
}

static bool
new_order(struct client *c, bool *refused)
{
	const struct tpcc_order *o = c->o;
	struct newing x = { 0 };
	int64_t all_local = 1;
	if (!RUN(c, Q_NEXT, num(o->w), num(o->d)))
		return false;
	int64_t number = c->row[0][0].i, tax = c->row[0][1].i;
	if (!RUN(c, Q_BUYER, num(o->w), num(o->d), num(o->c)))
		return false;
	int64_t discount = c->row[0][0].i;
	tax += c->row[0][1].i;
	if (!new_lines(c, &x))
		return false;
	if (x.missing) {
		*refused = o->unused_item;
		return *refused ? true : wrong(c, "an item or its stock is missing");
	}
	for (int32_t k = 0; k < o->lines; k++)
		all_local &= o->line[k].supply_w == o->w;
	unsigned n = (unsigned)o->lines;
	c->answer += x.sum * (10000 - discount) / 10000 * (10000 + tax) / 10000;
	return RUN(c, Q_ORDER, num(o->w), num(o->d), num(number), num(o->c), num(c->now), num(n),
		   num(all_local)) &&
	       RUN(c, Q_OPEN, num(o->w), num(o->d), num(number)) &&
	       RUN(c, Q_LINES, num(o->w), num(o->d), num(number), num(n), list(c, CAT_INT4, x.item, n),
		   list(c, CAT_INT4, x.supply, n), list(c, CAT_INT8, x.amount, n),
		   list(c, CAT_INT4, x.quantity, n), list(c, CAT_TEXT, x.dist, n));
}

/* ---- Payment, Order-Status ------------------------------------------------------------------- */

/* The customer in the middle of those with the drawn name. */
static bool
find_customer(struct client *c, int64_t *number)
{
	const struct tpcc_order *o = c->o;
	*number = o->c;
	if (!o->by_name)
		return true;
	if (!RUN(c, Q_NAMED, num(o->c_w), num(o->c_d), str(o->last, strnlen(o->last, sizeof o->last))))
		return false;
	if (c->rows == 0)
		return wrong(c, "no customer has a name that was drawn");
	*number = c->row[(c->rows - 1) / 2][0].i;
	return true;
}

static bool
payment(struct client *c)
{
	const struct tpcc_order *o = c->o;
	char data[2 * CELL + 4], bad[96];
	int64_t number;
	if (!find_customer(c, &number))
		return false;
	int n = snprintf(bad, sizeof bad, "%lld %d %d %d %d %lld ", (long long)number, o->c_d, o->c_w, o->d,
	    o->w, (long long)o->amount);
	if (!RUN(c, Q_PAY, num(o->c_w), num(o->c_d), num(number), num(o->amount), str(bad, (size_t)n)) ||
	    !RUN(c, Q_DISTRICT_PAY, num(o->w), num(o->d), num(o->amount)))
		return false;
	struct cell district = c->row[0][0];
	if (!RUN(c, Q_WAREHOUSE_PAY, num(o->w), num(o->amount)))
		return false;
	const struct cell *warehouse = &c->row[0][0];
	n = snprintf(data, sizeof data, "%.*s    %.*s", (int)warehouse->len, warehouse->s, (int)district.len,
	    district.s);
	return RUN(c, Q_HISTORY, num(o->c_w), num(o->c_d), num(number), num(o->w), num(o->d), num(o->amount),
	    num(c->now), str(data, (size_t)n));
}

static bool
order_status(struct client *c)
{
	const struct tpcc_order *o = c->o;
	int64_t number;
	return find_customer(c, &number) && RUN(c, Q_CUSTOMER, num(o->w), num(o->d), num(number)) &&
	       RUN(c, Q_NEWEST, num(o->w), num(o->d), num(number)) &&
	       (c->rows == 1 || wrong(c, "a customer has no order")) &&
	       RUN(c, Q_LINES_OF, num(o->w), num(o->d), num(c->row[0][0].i));
}

/* ---- Delivery -------------------------------------------------------------------------------- */

static bool
delivery(struct client *c)
{
	int64_t w = c->o->w, sum[TPCC_DISTRICTS + 1] = { 0 };
	union cat_val d[TPCC_DISTRICTS], o[TPCC_DISTRICTS], who[TPCC_DISTRICTS], sums[TPCC_DISTRICTS];
	if (!RUN(c, Q_OLDEST, num(w)))
		return false;
	unsigned n = c->rows;
	for (unsigned i = 0; i < n; i++) {
		d[i].i = c->row[i][0].i;
		o[i].i = c->row[i][1].i;
	}
	if (n == 0)
		return true;
	struct cat_datum ds = list(c, CAT_INT4, d, n), os = list(c, CAT_INT4, o, n);
	if (!RUN(c, Q_CLOSE, num(w), ds, os))
		return false;
	if (c->rows != n)
		return wrong(c, "a new_order is not there any more");
	if (!RUN(c, Q_DELIVERED, num(w), ds, os, num(c->now)))
		return false;
	for (unsigned i = 0; i < c->rows; i++)
		sum[c->row[i][0].i] += c->row[i][1].i;
	if (!RUN(c, Q_CARRIER, num(w), ds, os, num(c->o->carrier)))
		return false;
	if (c->rows != n)
		return wrong(c, "a new_order has no order");
	for (unsigned i = 0; i < n; i++) {
		d[i].i = c->row[i][0].i;
		who[i].i = c->row[i][1].i;
		sums[i].i = sum[d[i].i];
	}
	return RUN(c, Q_CREDIT, num(w), list(c, CAT_INT4, d, n), list(c, CAT_INT4, who, n),
		   list(c, CAT_INT8, sums, n)) &&
	       (c->rows == n || wrong(c, "an order has no customer"));
}

/* ---- Stock-Level ----------------------------------------------------------------------------- */

static bool
stock_level(struct client *c)
{
	const struct tpcc_order *o = c->o;
	if (!RUN(c, Q_NEXT_IS, num(o->w), num(o->d)))
		return false;
	int64_t next = c->row[0][0].i;
	return RUN(c, Q_LEVEL, num(o->w), num(o->d), num(next - TPCC_RECENT), num(next), num(o->threshold));
}

/* ---- a client -------------------------------------------------------------------------------- */

static bool
body(struct client *c, bool *refused)
{
	switch (c->o->what) {
	case TPCC_NEW:
		return new_order(c, refused);
	case TPCC_PAYMENT:
		return payment(c);
	case TPCC_STATUS:
		return order_status(c);
	case TPCC_DELIVERY:
		return delivery(c);
	default:
		return stock_level(c);
	}
}

static uint64_t
round_trips(struct client *c)
{
	struct net_counts n;
	sql_session_counts(c->sql, &n);
	return n.round_trips;
}

/* One attempt. False: c->err says why. */
static bool
attempt(struct client *c, bool *refused)
{
	*refused = false;
	c->err.sqlstate[0] = 0;
	nam_arena_reset(&c->arena);
	uint64_t before = round_trips(c);
	bool ok = run(c, Q_BEGIN, 0, NULL) && body(c, refused);
	c->trips = round_trips(c) - before;
	if (!ok || *refused) {
		struct cat_err why = c->err;
		if (sql_session_state(c->sql) != 'I')
			run(c, Q_ROLLBACK, 0, NULL);
		c->err = why;
		return ok;
	}
	ok = run(c, Q_COMMIT, 0, NULL);
	if (c->o->what != TPCC_STATUS && c->o->what != TPCC_LEVEL)
		c->trips += txn_last_commit_round_trips(c->pl->txn);
	return ok;
}

/* A conflict; 23505: another New-Order of the district has taken the number. */
static bool
again(const struct client *c)
{
	return strcmp(c->err.sqlstate, "40001") == 0 ||
	       (c->o->what == TPCC_NEW && strcmp(c->err.sqlstate, "23505") == 0);
}

static nam_status
carry_out(void *arg, const struct tpcc_order *o, int64_t now, const atomic_bool *stop, struct tpcc_done *done)
{
	struct client *c = arg;
	struct net_backoff pause = { 0 };
	c->o = o;
	c->now = now;
	for (unsigned tries = 1; !attempt(c, &done->refused); tries++) {
		if (strcmp(c->err.sqlstate, "53100") == 0)
			return NAM_FULL;
		if (!again(c)) {
			fprintf(stderr, "namdb bench: TPC-C, %s: %s: %s\n", bench_tpcc_names[o->what],
			    c->err.sqlstate, c->err.text);
			return NAM_INVALID;
		}
		done->aborts++;
		if (stop != NULL && atomic_load_explicit(stop, memory_order_relaxed))
			return NAM_CONFLICT;
		bench_tpcc_pause(c->pl, tries, &pause);
	}
	done->round_trips = c->trips;
	return NAM_OK;
}

static void
client_close(struct client *c)
{
	for (unsigned i = 0; i < Q_COUNT; i++)
		if (c->q[i] != NULL)
			sql_stmt_close(c->q[i]);
	if (c->sql != NULL)
		sql_session_close(c->sql);
	nam_arena_fini(&c->arena);
	free(c);
}

/* NULL: it has been told why. */
static struct client *
client_open(struct tpcc_side *s, const struct cn_place *pl)
{
	char stock[1024];
	struct client *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->s = s;
	c->pl = pl;
	nam_arena_init(&c->arena, 16 << 10);
	bool ok = (c->sql = bench_tpcc_session(pl)) != NULL;
	for (unsigned i = 0; ok && i < Q_COUNT; i++) {
		const char *sql = i < Q_STOCK ? text[i] : stock;
		if (i >= Q_STOCK)
			snprintf(stock, sizeof stock, text[Q_STOCK], i - Q_STOCK + 1);
		ok = sql_prepare(c->sql, sql, strlen(sql), NULL, 0, &c->q[i], &c->err);
	}
	if (ok)
		return c;
	fprintf(stderr, "namdb bench: TPC-C: %s: %s\n", c->err.sqlstate, c->err.text);
	client_close(c);
	return NULL;
}

nam_status
bench_tpcc_sql_once(struct tpcc_side *s, const struct cn_place *pl, const struct tpcc_order *o, bool *refused,
    uint64_t *round_trips)
{
	struct tpcc_done done = { 0 };
	struct client *c = client_open(s, pl);
	if (c == NULL)
		return NAM_INVALID;
	nam_status st = carry_out(c, o, (int64_t)(net_now_ns(pl->net) / 1000) + 1, NULL, &done);
	*refused = done.refused;
	*round_trips = done.round_trips;
	client_close(c);
	return st;
}

void
bench_tpcc_sql_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	struct client *c = client_open(side, pl);
	if (c == NULL) {
		out->errors++;
		return;
	}
	bench_tpcc_loop(side, pl, number, out, stop, &(struct tpcc_hand){ c, carry_out });
	client_close(c);
}
