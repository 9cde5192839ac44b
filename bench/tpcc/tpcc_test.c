/* tpcc_test.c -- TPC-C draws what it should; each of the twelve conditions sees what breaks it, in
 * both interfaces; and what a New-Order costs. */
#include "tpcc.h"

#include <bench/ycsb/tree.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after these */
#include <cmocka.h>

enum {
	DRAWS = 300000,
	STACK = 1 << 20,
	FEW = 30,
	ITEMS = 100,
	REGION = 256 << 20,
	NODES = 2,
	SQL_TRIPS = 21 /* of REPEATABLE READ, which looks up the keys that it inserts */
};

/* ---- what is drawn --------------------------------------------------------------------------- */

static void
near(double got, double want, double most)
{
	if (got < want - most || got > want + most)
		fail_msg("%g is not near %g", got, want);
}

static void
test_mix(void **state)
{
	(void)state;
	const struct tpcc_params p = { .warehouses = 4, .customers = 3000, .items = 100000 };
	uint64_t kind[TPCC_KINDS] = { 0 }, lines = 0, remote = 0, unused = 0, far = 0, named = 0, asked = 0;
	struct nam_rng r;
	nam_rng_init(&r, 1);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct tpcc_order o;
		bench_tpcc_draw(&o, &r, &p, 2);
		kind[o.what]++;
		assert_true(o.w == 2 && o.d >= 1 && o.d <= 10);
		if (o.what == TPCC_PAYMENT) {
			far += o.c_w != o.w;
			assert_true(o.amount >= 100 && o.amount <= 500000 && o.c_d >= 1 && o.c_d <= 10);
		}
		if (o.what == TPCC_PAYMENT || o.what == TPCC_STATUS) {
			asked++;
			named += o.by_name;
			assert_true(o.by_name || (o.c >= 1 && o.c <= 3000));
		}
		if (o.what != TPCC_NEW)
			continue;
		assert_true(o.lines >= 5 && o.lines <= 15 && o.c >= 1 && o.c <= 3000);
		unused += o.unused_item;
		lines += (uint64_t)o.lines;
		for (int32_t k = 0; k < o.lines; k++) {
			remote += o.line[k].supply_w != o.w;
			assert_true(o.line[k].supply_w >= 1 && o.line[k].supply_w <= 4);
			assert_true(o.line[k].item >= 1 && o.line[k].item <= 100001);
			assert_true(o.line[k].quantity >= 1 && o.line[k].quantity <= 10);
		}
	}
	for (unsigned i = 0; i < TPCC_KINDS; i++)
		near(100.0 * (double)kind[i] / DRAWS, bench_tpcc_percent[i], 0.5);
	near((double)lines / (double)kind[TPCC_NEW], 10, 0.1);
	near(100.0 * (double)remote / (double)lines, 1, 0.1);
	near(100.0 * (double)unused / (double)kind[TPCC_NEW], 1, 0.2);
	near(100.0 * (double)far / (double)kind[TPCC_PAYMENT], 15, 0.5);
	near(100.0 * (double)named / (double)asked, 60, 1);
	char name[16];
	bench_tpcc_last(name, 371);
	assert_string_equal(name, "PRICALLYOUGHT");
}

struct tally {
	uint64_t rows[TPCC_TABLES], original, bad_credit;
};

static nam_status
tally(void *arg, enum tpcc_table table, const void *row)
{
	struct tally *t = arg;
	t->rows[table]++;
	if (table == TPCC_STOCK)
		t->original += memmem(((const struct tpcc_stock *)row)->data, 50, "ORIGINAL", 8) != NULL;
	if (table == TPCC_CUSTOMER)
		t->bad_credit += memcmp(((const struct tpcc_customer *)row)->credit, "BC", 2) == 0;
	return NAM_OK;
}

static void
test_population(void **state)
{
	(void)state;
	const struct tpcc_params p = { .warehouses = 2, .customers = 300, .items = 10000, .seed = 1 };
	struct tally t = { 0 };
	for (unsigned i = 0; i < bench_tpcc_parts(&p); i++)
		assert_int_equal(bench_tpcc_part(&p, i, tally, &t), NAM_OK);
	static const uint64_t want[TPCC_TABLES] = { 2, 20, 6000, 6000, 1800, 6000, 0, 10000, 20000, 6000 };
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		if (i != TPCC_LINE)
			assert_int_equal(t.rows[i], want[i]);
	near((double)t.rows[TPCC_LINE] / 6000, 10, 0.2);
	near(100.0 * (double)t.original / 20000, 10, 1);
	near(100.0 * (double)t.bad_credit / 6000, 10, 1.5);
}

/* ---- a cluster ------------------------------------------------------------------------------- */

struct world {
	struct net_worker *w;
	struct tpcc_side *side;
	struct cn_place pl;
	struct nam_arena a;
	const struct tpcc_ops *ops;
	void (*scene)(struct world *l);
};

static void
populate(struct world *l)
{
	unsigned n = bench_tpcc_parts(l->side->p);
	assert_int_equal(l->ops->make(l->side, &l->pl), NAM_OK);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(l->ops->load(l->side, &l->pl, i, true), NAM_OK);
	assert_int_equal(l->ops->loaded(l->side, &l->pl, false), NAM_OK);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(l->ops->load(l->side, &l->pl, i, false), NAM_OK);
}

static uint64_t
check_all(struct world *l)
{
	void *side = l->side;
	return l->ops->check(&side, 1, &l->pl);
}

static void
run(void *arg)
{
	struct world *l = arg;
	struct nam_err err;
	struct txn_db *db;
	struct net_counts counts = { 0 };
	const struct txn_config cfg = { .ptr_cache_entries = 1 << 18 };
	const struct bench_sim p = { .seed = 1 };
	l->pl.net = l->w;
	assert_int_equal(txn_db_open(l->w, &cfg, &db, &err), NAM_OK);
	assert_int_equal(txn_worker_open(db, l->w, &l->pl.txn), NAM_OK);
	assert_int_equal(cat_open(l->pl.txn, &l->pl.cat), NAM_OK);
	assert_int_equal(sql_parser_open(0, &l->pl.parser), NAM_OK);
	sql_parser_blocks(l->pl.parser);
	bench_tpcc_user.begin(l->side, &p, 0, &counts);
	populate(l);
	assert_int_equal(check_all(l), 0);
	l->scene(l);
	assert_int_equal(l->ops->drop(l->side, &l->pl, false), NAM_OK);
	sql_parser_close(l->pl.parser);
	cat_close(l->pl.cat);
	txn_worker_close(l->pl.txn);
	txn_db_close(l->w, db);
}

static void
play(const struct tpcc_ops *ops, void (*scene)(struct world *l))
{
	const struct net_sim_config cfg = { .seed = 1, .nodes = NODES, .region_bytes = REGION };
	struct net_sim *sim;
	struct net *net;
	struct bench_tree_hosts hosts = { 0 };
	struct world l = { .side = calloc(1, sizeof *l.side), .ops = ops, .scene = scene };
	bench_tpcc_params.warehouses = 2;
	bench_tpcc_params.customers = FEW;
	bench_tpcc_params.items = ITEMS;
	assert_non_null(l.side);
	nam_arena_init(&l.a, 4096);
	assert_int_equal(net_sim_open(&sim, &cfg), NAM_OK);
	assert_int_equal(bench_tree_host_sim(&hosts, sim, NODES, REGION), NAM_OK);
	assert_int_equal(net_sim_attach(sim, &net), NAM_OK);
	assert_int_equal(net_worker_open(net, &l.w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(l.w), run, &l, STACK));
	assert_true(net_sim_run(sim, NULL, NULL));
	net_worker_close(l.w);
	net_close(net);
	net_sim_close(sim);
	bench_tree_unhost(&hosts);
	nam_arena_fini(&l.a);
	free(l.side);
}

/* ---- the conditions -------------------------------------------------------------------------- */

/* Adds `by` to four or eight bytes of the row of a key, which is not part of it. */
static void
add(struct world *l, enum tpcc_table table, const int32_t *key, size_t at, size_t size, int64_t by)
{
	struct txn *t;
	void *row;
	assert_int_equal(txn_begin(l->pl.txn, TXN_REPEATABLE_READ, &t), NAM_OK);
	struct txn_get g = bench_tpcc_get(l->side, table, key);
	assert_int_equal(txn_get(t, &g, 1, &l->a), NAM_OK);
	assert_int_equal(g.status, NAM_OK);
	assert_int_equal(txn_edit(t, g.table, &g.row, &row), NAM_OK);
	int64_t v = 0;
	memcpy(&v, (char *)row + at, size);
	v += by;
	memcpy((char *)row + at, &v, size);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_reset(&l->a);
}

/* A row comes, or goes. */
static void
put(struct world *l, enum tpcc_table table, const void *row, bool in)
{
	struct txn *t;
	assert_int_equal(txn_begin(l->pl.txn, TXN_REPEATABLE_READ, &t), NAM_OK);
	if (in) {
		struct txn_put p = bench_tpcc_put(l->side, table, row);
		assert_int_equal(txn_insert(t, &p, 1), NAM_OK);
	} else {
		struct txn_get g = bench_tpcc_get(l->side, table, row);
		assert_int_equal(txn_get(t, &g, 1, &l->a), NAM_OK);
		assert_int_equal(g.status, NAM_OK);
		assert_int_equal(txn_delete(t, g.table, &g.row), NAM_OK);
	}
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_reset(&l->a);
}

/* The first payment of customer 1 of district 1 of warehouse 1: adds `by` to one of its numbers.
 * gone: deletes a payment of district 11 instead. */
static void
history(struct world *l, size_t at, int32_t by, bool gone)
{
	struct txn *t;
	struct txn_scan *scan;
	struct txn_row row[8];
	unsigned n, hits = 0;
	struct txn_table *table = &l->side->table[TPCC_HISTORY];
	assert_int_equal(txn_begin(l->pl.txn, TXN_REPEATABLE_READ, &t), NAM_OK);
	assert_int_equal(txn_scan_open(t, table, &scan), NAM_OK);
	while (hits == 0 && txn_scan_next(scan, row, 8, &n) == NAM_OK && n > 0)
		for (unsigned i = 0; hits == 0 && i < n; i++) {
			struct tpcc_history h;
			memcpy(&h, row[i].bytes, sizeof h);
			if (gone ? h.d != 11 : h.c_w != 1 || h.c_d != 1 || (h.c != 1 && h.date != 77))
				continue;
			int32_t v;
			memcpy(&v, (char *)&h + at, 4);
			v += by;
			memcpy((char *)&h + at, &v, 4);
			h.date = by > 0 ? 77 : 1; /* found again by it */
			assert_int_equal(txn_row_keep(table, &row[i], &l->a), NAM_OK);
			assert_int_equal(gone ? txn_delete(t, table, &row[i])
					      : txn_update(t, table, &row[i], &h, sizeof h),
			    NAM_OK);
			hits++;
		}
	txn_scan_close(scan);
	assert_int_equal(hits, 1);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_reset(&l->a);
}

#define C(n) (UINT64_C(1) << (n))

/* Exactly these conditions fail; and the check as a whole does. */
static void
fails(struct world *l, uint64_t conditions)
{
	assert_true(check_all(l) > 0);
	assert_int_equal(l->side->failed, conditions);
}

static void
spoil(struct world *l, enum tpcc_table table, const int32_t *key, size_t at, size_t size, int64_t by,
    uint64_t conditions)
{
	add(l, table, key, at, size, by);
	fails(l, conditions);
	add(l, table, key, at, size, -by);
}
#define SPOIL(l, table, type, field, by, conditions, ...)                                                    \
	spoil(l, table, (const int32_t[4]){ __VA_ARGS__ }, offsetof(struct type, field),                     \
	    sizeof(((struct type *)0)->field), by, conditions)

/* Of district (1, 1): order 1 is delivered, FEW is not. */
static void
conditions(struct world *l)
{
	SPOIL(l, TPCC_WAREHOUSE, tpcc_warehouse, ytd, 1, C(1) | C(8), 1);
	SPOIL(l, TPCC_DISTRICT, tpcc_district, ytd, 1, C(1) | C(9), 1, 1);
	SPOIL(l, TPCC_DISTRICT, tpcc_district, next_o, 1, C(2), 1, 1);
	SPOIL(l, TPCC_ORDERS, tpcc_orders, ol_cnt, 1, C(4) | C(6), 1, 1, 1);
	SPOIL(l, TPCC_ORDERS, tpcc_orders, carrier, 7, C(5) | C(7), 1, 1, FEW);
	SPOIL(l, TPCC_LINE, tpcc_line, delivery, -1000000, C(7), 1, 1, 1, 1);
	SPOIL(l, TPCC_LINE, tpcc_line, amount, 1, C(10) | C(12), 1, 1, 1, 1);
	SPOIL(l, TPCC_CUSTOMER, tpcc_customer, balance, 1, C(10) | C(12), 1, 1, 1);
	SPOIL(l, TPCC_CUSTOMER, tpcc_customer, ytd_payment, 1, C(12), 1, 1, 1);
	SPOIL(l, TPCC_CUSTOMER, tpcc_customer, delivery_cnt, 1, C(11), 1, 1, 1);
	SPOIL(l, TPCC_NEWEST, tpcc_newest, o, 1, 0, 1, 1, 1);
	/* Rows that come and go: 3 of a gap, 4 and 6 of a line, 8 of a payment to no district. */
	const struct tpcc_new_order open = { .w = 1, .d = 1, .o = FEW - 2 };
	put(l, TPCC_NEW_ORDER, &open, false);
	fails(l, C(3) | C(5) | C(11));
	put(l, TPCC_NEW_ORDER, &open, true);
	struct tpcc_line line = { .w = 1, .d = 1, .o = 9999, .number = 1, .delivery = 1 };
	put(l, TPCC_LINE, &line, true);
	fails(l, C(4));
	put(l, TPCC_LINE, &line, false);
	line.o = 1;
	line.number = 99;
	put(l, TPCC_LINE, &line, true);
	fails(l, C(4) | C(6));
	put(l, TPCC_LINE, &line, false);
	const struct tpcc_history lost = { .w = 1, .d = 11, .amount = 5 };
	put(l, TPCC_HISTORY, &lost, true);
	fails(l, C(8));
	add(l, TPCC_WAREHOUSE, (const int32_t[4]){ 1 }, offsetof(struct tpcc_warehouse, ytd), 8, 5);
	fails(l, C(1));
	add(l, TPCC_WAREHOUSE, (const int32_t[4]){ 1 }, offsetof(struct tpcc_warehouse, ytd), 8, -5);
	history(l, 0, 0, true);
	/* A payment that names another warehouse, district, customer, amount. */
	static const struct {
		size_t at;
		uint64_t conditions;
	} names[] = { { offsetof(struct tpcc_history, w), C(8) | C(9) },
		{ offsetof(struct tpcc_history, d), C(9) }, { offsetof(struct tpcc_history, c), C(10) },
		{ offsetof(struct tpcc_history, amount), C(8) | C(9) | C(10) } };
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		history(l, names[i].at, 1, false);
		fails(l, names[i].conditions);
		history(l, names[i].at, -1, false);
	}
	assert_int_equal(check_all(l), 0);
}

static void
test_conditions(void **state)
{
	(void)state;
	play(&bench_tpcc_native, conditions);
}

/* ---- the conditions over SQL's tables -------------------------------------------------------- */

static void
tell(struct world *l, const char *sql)
{
	struct sql_session *s = bench_tpcc_session(&l->pl);
	assert_non_null(s);
	if (!bench_tpcc_say(s, sql, NULL, NULL, NULL))
		fail_msg("%s", sql);
	sql_session_close(s);
}

/* What breaks conditions, and what mends it. The last ones are rows that foreign keys forbid. */
static const struct {
	const char *spoil, *mend;
	uint64_t conditions;
} breaks[] = {
	{ "UPDATE tpcc_warehouse SET ytd = ytd + 1 WHERE w = 1",
	    "UPDATE tpcc_warehouse SET ytd = ytd - 1 WHERE w = 1", C(1) | C(8) },
	{ "UPDATE tpcc_district SET ytd = ytd + 1 WHERE w = 1 AND d = 1",
	    "UPDATE tpcc_district SET ytd = ytd - 1 WHERE w = 1 AND d = 1", C(1) | C(9) },
	{ "UPDATE tpcc_district SET next_o = next_o + 1 WHERE w = 1 AND d = 1",
	    "UPDATE tpcc_district SET next_o = next_o - 1 WHERE w = 1 AND d = 1", C(2) },
	{ "DELETE FROM tpcc_new_order WHERE w = 1 AND d = 1 AND o = 28",
	    "INSERT INTO tpcc_new_order VALUES (1, 1, 28)", C(3) | C(5) | C(11) },
	{ "UPDATE tpcc_orders SET ol_cnt = ol_cnt + 1 WHERE w = 1 AND d = 1 AND o = 1",
	    "UPDATE tpcc_orders SET ol_cnt = ol_cnt - 1 WHERE w = 1 AND d = 1 AND o = 1", C(4) | C(6) },
	{ "UPDATE tpcc_orders SET carrier = 7 WHERE w = 1 AND d = 1 AND o = 30",
	    "UPDATE tpcc_orders SET carrier = NULL WHERE w = 1 AND d = 1 AND o = 30", C(5) | C(7) },
	{ "INSERT INTO tpcc_order_line VALUES (1, 1, 1, 99, 1, 1, 1, 0, 1, '')",
	    "DELETE FROM tpcc_order_line WHERE w = 1 AND d = 1 AND o = 1 AND number = 99", C(4) | C(6) },
	{ "UPDATE tpcc_order_line SET delivery = NULL WHERE w = 1 AND d = 1 AND o = 1 AND number = 1",
	    "UPDATE tpcc_order_line SET delivery = 1 WHERE w = 1 AND d = 1 AND o = 1 AND number = 1", C(7) },
	{ "UPDATE tpcc_order_line SET amount = amount + 1 WHERE w = 1 AND d = 1 AND o = 1 AND number = 1",
	    "UPDATE tpcc_order_line SET amount = amount - 1 WHERE w = 1 AND d = 1 AND o = 1 AND number = 1",
	    C(10) | C(12) },
	{ "UPDATE tpcc_customer SET balance = balance + 1 WHERE w = 1 AND d = 1 AND c = 1",
	    "UPDATE tpcc_customer SET balance = balance - 1 WHERE w = 1 AND d = 1 AND c = 1", C(10) | C(12) },
	{ "UPDATE tpcc_customer SET ytd_payment = ytd_payment + 1 WHERE w = 1 AND d = 1 AND c = 1",
	    "UPDATE tpcc_customer SET ytd_payment = ytd_payment - 1 WHERE w = 1 AND d = 1 AND c = 1", C(12) },
	{ "UPDATE tpcc_customer SET delivery_cnt = delivery_cnt + 1 WHERE w = 1 AND d = 1 AND c = 1",
	    "UPDATE tpcc_customer SET delivery_cnt = delivery_cnt - 1 WHERE w = 1 AND d = 1 AND c = 1",
	    C(11) },
	{ "UPDATE tpcc_history SET w = 2 WHERE c_w = 1 AND c_d = 1 AND c = 1",
	    "UPDATE tpcc_history SET w = 1 WHERE c_w = 1 AND c_d = 1 AND c = 1", C(8) | C(9) },
	{ "UPDATE tpcc_history SET d = 2 WHERE c_w = 1 AND c_d = 1 AND c = 1",
	    "UPDATE tpcc_history SET d = 1 WHERE c_w = 1 AND c_d = 1 AND c = 1", C(9) },
	{ "UPDATE tpcc_history SET amount = amount + 1 WHERE c_w = 1 AND c_d = 1 AND c = 1",
	    "UPDATE tpcc_history SET amount = amount - 1 WHERE c_w = 1 AND c_d = 1 AND c = 1",
	    C(8) | C(9) | C(10) },
	{ "UPDATE tpcc_history SET c = 2, date = 77 WHERE c_w = 1 AND c_d = 1 AND c = 1",
	    "UPDATE tpcc_history SET c = 1, date = 1 WHERE date = 77", C(10) },
};

static void
conditions_of_sql(struct world *l)
{
	for (unsigned i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
		tell(l, breaks[i].spoil);
		fails(l, breaks[i].conditions);
		tell(l, breaks[i].mend);
	}
	assert_int_equal(check_all(l), 0);
	/* Foreign keys forbid what comes next. */
	tell(l, "ALTER TABLE tpcc_order_line DROP CONSTRAINT tpcc_order_line_w_d_o_fkey");
	tell(l, "ALTER TABLE tpcc_history DROP CONSTRAINT tpcc_history_w_d_fkey");
	tell(l, "INSERT INTO tpcc_order_line VALUES (1, 1, 9999, 1, 1, 1, 1, 0, 1, '')");
	fails(l, C(4));
	tell(l, "DELETE FROM tpcc_order_line WHERE o = 9999");
	tell(l, "UPDATE tpcc_warehouse SET ytd = ytd + 5 WHERE w = 1");
	tell(l, "INSERT INTO tpcc_history VALUES (1, 1, 1, 1, 11, 5, 1, '')");
	tell(l, "UPDATE tpcc_customer SET balance = balance - 5, ytd_payment = ytd_payment + 5 WHERE w = 1 "
		"AND d = 1 AND "
		"c = 1");
	fails(l, C(1));
	tell(l, "DELETE FROM tpcc_history WHERE d = 11");
	fails(l, C(1) | C(8) | C(10));
}

static void
test_conditions_of_sql(void **state)
{
	(void)state;
	play(&bench_tpcc_sql, conditions_of_sql);
}

/* ---- what it costs --------------------------------------------------------------------------- */

static uint64_t
trips(struct world *l, struct tpcc_order *o)
{
	bool refused;
	uint64_t n;
	assert_int_equal(bench_tpcc_once(l->side, &l->pl, o, &refused, &n), NAM_OK);
	assert_int_equal(refused, o->unused_item);
	return n;
}

/* A New-Order of so many different items. */
static void
order_of(struct tpcc_order *o, int32_t lines)
{
	*o = (struct tpcc_order){ .what = TPCC_NEW, .w = 1, .d = 3, .c = 7, .lines = lines };
	for (int32_t i = 0; i < lines; i++) {
		o->line[i].item = 5 + i;
		o->line[i].supply_w = 1 + (i == 2);
		o->line[i].quantity = 3;
	}
}

/* Each commit is behind all snapshots when the next transaction begins, as it is where a district's
 * orders do not come a few microseconds after each other. */
static void
cost(struct world *l)
{
	struct tpcc_order o;
	for (int32_t i = 0; i < 3; i++) {
		order_of(&o, TPCC_LINES);
		trips(l, &o);
		net_sleep(l->w, 20000000);
	}
	for (int32_t lines = TPCC_LINES_MIN; lines <= TPCC_LINES; lines++) {
		order_of(&o, lines);
		/* snapshot; all rows, and the lookups of the new ones; entries; locks, claim and
		 * write set; versions and commit line */
		assert_int_equal(trips(l, &o), 5);
		net_sleep(l->w, 20000000);
	}
	/* A guess that is wrong costs a round trip: the new rows are looked up by themselves. */
	uint64_t least = 99;
	for (int32_t i = 0; i < 4; i++) {
		atomic_store(&l->side->next_o[2], 9999);
		uint64_t n = trips(l, &o);
		least = n < least ? n : least;
		net_sleep(l->w, 20000000);
	}
	assert_int_equal(least, 6);
	atomic_store(&l->side->next_o[2], 0);
	o = (struct tpcc_order){
		.what = TPCC_PAYMENT, .w = 1, .d = 3, .c_w = 2, .c_d = 4, .c = 9, .amount = 700
	};
	trips(l, &o);
	net_sleep(l->w, 20000000);
	assert_int_equal(trips(l, &o), 4);
	assert_int_equal(check_all(l), 0);
}

static void
test_cost(void **state)
{
	(void)state;
	play(&bench_tpcc_native, cost);
}

/* ---- what it does ---------------------------------------------------------------------------- */

/* All kinds, one after the other; deliveries until nothing is left to deliver. */
static void
work(struct world *l)
{
	struct tpcc_order o;
	struct nam_rng r;
	bool refused;
	uint64_t n;
	nam_rng_init(&r, 5);
	for (unsigned i = 0; i < 400; i++) {
		bench_tpcc_draw(&o, &r, l->side->p, 0);
		assert_int_equal(bench_tpcc_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
		assert_int_equal(refused, o.unused_item);
		if (i % 97 == 0) /* as another process, which knows nothing, or something else */
			for (unsigned k = 0; k < 2 * TPCC_DISTRICTS; k++)
				atomic_store(&l->side->oldest[k], i % 2 == 0 ? 0 : 999);
	}
	assert_int_equal(check_all(l), 0);
	for (unsigned i = 0; i < 2 * 60; i++) {
		o = (struct tpcc_order){ .what = TPCC_DELIVERY, .w = 1 + (int32_t)i % 2, .carrier = 3 };
		assert_int_equal(bench_tpcc_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
	}
	assert_int_equal(check_all(l), 0);
	const int32_t none[3] = { 1, 1, FEW };
	struct txn *t;
	struct txn_get g = bench_tpcc_get(l->side, TPCC_NEW_ORDER, none);
	assert_int_equal(txn_begin(l->pl.txn, TXN_REPEATABLE_READ, &t), NAM_OK);
	assert_int_equal(txn_get(t, &g, 1, &l->a), NAM_OK);
	assert_int_equal(g.status, NAM_ABSENT);
	txn_abort(t);
}

static void
test_work(void **state)
{
	(void)state;
	play(&bench_tpcc_native, work);
}

/* The same of SQL, in fewer transactions; and a New-Order's price. */
static void
work_of_sql(struct world *l)
{
	struct tpcc_order o;
	struct nam_rng r;
	bool refused;
	uint64_t n;
	nam_rng_init(&r, 5);
	for (unsigned i = 0; i < 120; i++) {
		bench_tpcc_draw(&o, &r, l->side->p, 0);
		assert_int_equal(bench_tpcc_sql_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
		assert_int_equal(refused, o.unused_item);
	}
	assert_int_equal(check_all(l), 0);
	/* Lines of one item, and of one item of two warehouses, are lines of their own. */
	order_of(&o, TPCC_LINES);
	for (int32_t k = 0; k < TPCC_LINES; k++)
		o.line[k].item = 5 + k % 2;
	assert_int_equal(bench_tpcc_sql_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
	for (unsigned i = 0; i < 30; i++) {
		o = (struct tpcc_order){ .what = TPCC_DELIVERY, .w = 1 + (int32_t)i % 2, .carrier = 3 };
		assert_int_equal(bench_tpcc_sql_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
	}
	assert_int_equal(check_all(l), 0);
	for (unsigned i = 0; i < 4; i++) {
		order_of(&o, TPCC_LINES);
		net_sleep(l->w, 20000000);
		assert_int_equal(bench_tpcc_sql_once(l->side, &l->pl, &o, &refused, &n), NAM_OK);
	}
	if (n > SQL_TRIPS)
		fail_msg("a New-Order over SQL takes %u round trips", (unsigned)n);
}

static void
test_work_of_sql(void **state)
{
	(void)state;
	play(&bench_tpcc_sql, work_of_sql);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_population),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_conditions_of_sql),
		cmocka_unit_test(test_work_of_sql),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
