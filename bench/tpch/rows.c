/*
 * rows.c -- TPC-H's rows (§4.2.3), each from dice of its own. Money is in cents, discounts
 * in hundredths.
 */
#include "tpch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* days since 1992-01-01 */
	DAY_LAST_ORDER = 2556 - 151, /* 1998-12-31 less the longest delivery */
	DAY_CURRENT = 1263,          /* 1995-06-17 */
	SUPPLIERS_OF_PART = 4,
	KEYS_USED = 8, /* of each KEYS_IN_A_ROW order keys */
	KEYS_IN_A_ROW = 32,
	NATIONS = 25,
	REGIONS = 5,
	LOUD_WORDS = 18, /* "Customer" and "Complaints" */
};

#define MONEY "numeric(15,2)"
const struct tpch_definition tpch_definitions[TPCH_TABLES] = {
	[TPCH_REGION] = { "region",
	    "r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152)", "r_regionkey",
	    { NULL } },
	[TPCH_NATION] = { "nation",
	    "n_nationkey integer NOT NULL, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, "
	    "n_comment varchar(152)",
	    "n_nationkey", { "n_regionkey" } },
	[TPCH_SUPPLIER] = { "supplier",
	    "s_suppkey integer NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, "
	    "s_nationkey integer NOT NULL, s_phone char(15) NOT NULL, s_acctbal " MONEY " NOT NULL, "
	    "s_comment varchar(101) NOT NULL",
	    "s_suppkey", { "s_nationkey" } },
	[TPCH_PART] = { "part",
	    "p_partkey integer NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, "
	    "p_brand char(10) NOT NULL, p_type varchar(25) NOT NULL, p_size integer NOT NULL, "
	    "p_container char(10) NOT NULL, p_retailprice " MONEY " NOT NULL, "
	    "p_comment varchar(23) NOT NULL",
	    "p_partkey", { NULL } },
	[TPCH_PARTSUPP] = { "partsupp",
	    "ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, "
	    "ps_supplycost " MONEY " NOT NULL, ps_comment varchar(199) NOT NULL",
	    "ps_partkey, ps_suppkey", { "ps_suppkey" } },
	[TPCH_CUSTOMER] = { "customer",
	    "c_custkey integer NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, "
	    "c_nationkey integer NOT NULL, c_phone char(15) NOT NULL, c_acctbal " MONEY " NOT NULL, "
	    "c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL",
	    "c_custkey", { "c_nationkey" } },
	[TPCH_ORDERS] = { "orders",
	    "o_orderkey bigint NOT NULL, o_custkey integer NOT NULL, o_orderstatus char(1) NOT NULL, "
	    "o_totalprice " MONEY " NOT NULL, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, "
	    "o_clerk char(15) NOT NULL, o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL",
	    "o_orderkey", { "o_custkey" } },
	[TPCH_LINEITEM] = { "lineitem",
	    "l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, "
	    "l_linenumber integer NOT NULL, l_quantity " MONEY " NOT NULL, l_extendedprice " MONEY
	    " NOT NULL, l_discount " MONEY " NOT NULL, l_tax " MONEY " NOT NULL, "
	    "l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, "
	    "l_commitdate date NOT NULL, l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, "
	    "l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL",
	    "l_orderkey, l_linenumber", { "l_partkey, l_suppkey", "l_suppkey" } },
};

/* ---- lines ---------------------------------------------------------------------------- */

struct line {
	const struct tpch *g;
	struct tpch_dice d;
	char *at;
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void
put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	l->at += vsprintf(l->at, fmt, ap);
	va_end(ap);
}

static void
put_number(struct line *l, int64_t x)
{
	char digit[24];
	unsigned n = 0;
	uint64_t u = x < 0 ? -(uint64_t)x : (uint64_t)x;
	if (x < 0)
		*l->at++ = '-';
	do
		digit[n++] = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	while (n > 0)
		*l->at++ = digit[--n];
	*l->at++ = '|';
}

static void
put_money(struct line *l, int64_t cents)
{
	if (cents < 0)
		*l->at++ = '-';
	cents = llabs(cents);
	put_number(l, cents / 100);
	l->at[-1] = '.';
	*l->at++ = (char)('0' + cents / 10 % 10);
	*l->at++ = (char)('0' + cents % 10);
	*l->at++ = '|';
}

static void
put_word(struct line *l, const char *w)
{
	size_t n = strlen(w);
	memcpy(l->at, w, n);
	l->at += n;
	*l->at++ = '|';
}

/* The proleptic Gregorian calendar, in eras of 400 years that begin in March. */
static void
put_date(struct line *l, int64_t day)
{
	static const int64_t days_to_1992 = 8035, epoch_shift = 719468;
	int64_t z = day + days_to_1992 + epoch_shift, era = z / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	int64_t d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
	int64_t y = yoe + era * 400 + (m <= 2);
	const char text[] = { (char)('0' + y / 1000), (char)('0' + y / 100 % 10), (char)('0' + y / 10 % 10),
		(char)('0' + y % 10), '-', (char)('0' + m / 10), (char)('0' + m % 10), '-',
		(char)('0' + d / 10), (char)('0' + d % 10), '|' };
	memcpy(l->at, text, sizeof text);
	l->at += sizeof text;
}

/* §4.2.2.7 */
static void
put_address(struct line *l)
{
	static const char symbol[] = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
	for (int64_t n = tpch_roll(&l->d, 10, 40); n > 0; n--)
		*l->at++ = symbol[tpch_roll(&l->d, 0, 63)];
	*l->at++ = '|';
}

/* §4.2.2.9 */
static void
put_phone(struct line *l, int64_t nation)
{
	int64_t a = tpch_roll(&l->d, 100, 999), b = tpch_roll(&l->d, 100, 999);
	put(l, "%d-%d-%d-%d|", (int)nation + 10, (int)a, (int)b, (int)tpch_roll(&l->d, 1000, 9999));
}

static size_t
put_text(struct line *l, int64_t low, int64_t high)
{
	size_t n = (size_t)tpch_roll(&l->d, low, high);
	memcpy(l->at, l->g->pool + tpch_roll(&l->d, 0, (int64_t)(l->g->pool_len - n)), n);
	l->at += n;
	return n;
}

/* The last value of a row. */
static void
put_comment(struct line *l, int64_t low, int64_t high)
{
	put_text(l, low, high);
	*l->at++ = '\n';
}

/* ---- tables --------------------------------------------------------------------------- */

static void
region(struct line *l, int64_t i)
{
	put_number(l, i);
	put_word(l, tpch_regions.word[i]);
	put_comment(l, 31, 115);
}

static void
nation(struct line *l, int64_t i)
{
	put_number(l, i);
	put_word(l, tpch_nations.word[i]);
	put_number(l, tpch_region_of[i]);
	put_comment(l, 31, 114);
}

/* What suppliers and customers begin with: key, name, address, nation, phone, balance. */
static void
put_party(struct line *l, const char *kind, int64_t key)
{
	int64_t of = tpch_roll(&l->d, 0, NATIONS - 1);
	put_number(l, key);
	put(l, "%s#%09lld|", kind, (long long)key);
	put_address(l);
	put_number(l, of);
	put_phone(l, of);
	put_money(l, tpch_roll(&l->d, -99999, 999999));
}

static void
supplier(struct line *l, int64_t i)
{
	put_party(l, "Supplier", i + 1);
	int64_t n = (int64_t)put_text(l, 25, 100);
	for (unsigned k = 0; k < l->g->louds; k++) {
		if (l->g->loud[k] != i)
			continue;
		int64_t from = tpch_roll(&l->d, 0, n - LOUD_WORDS);
		int64_t between = tpch_roll(&l->d, 0, n - LOUD_WORDS - from);
		memcpy(l->at - n + from, "Customer", 8);
		memcpy(l->at - n + from + 8 + between, k < l->g->louds / 2 ? "Complaints" : "Recommends", 10);
	}
	*l->at++ = '\n';
}

static int64_t
retail_price(int64_t part)
{
	return 90000 + part / 10 % 20001 + 100 * (part % 1000);
}

/* Five colors that differ. */
static void
put_name(struct line *l)
{
	int64_t seen[5] = { 0 };
	for (unsigned k = 0; k < 5;) {
		int64_t c = tpch_roll(&l->d, 0, tpch_colors.n - 1);
		bool again = false;
		for (unsigned j = 0; j < k; j++)
			again |= seen[j] == c;
		if (again)
			continue;
		seen[k++] = c;
		put_word(l, tpch_colors.word[c]);
		l->at[-1] = k < 5 ? ' ' : '|';
	}
}

static void
part(struct line *l, int64_t i)
{
	int64_t maker = tpch_roll(&l->d, 1, 5), brand = tpch_roll(&l->d, 1, 5);
	put_number(l, i + 1);
	put_name(l);
	put(l, "Manufacturer#%d|Brand#%d%d|", (int)maker, (int)maker, (int)brand);
	for (unsigned k = 0; k < 3; k++) {
		put_word(l, tpch_word(&l->d, &tpch_types[k]));
		l->at[-1] = k < 2 ? ' ' : '|';
	}
	put_number(l, tpch_roll(&l->d, 1, 50));
	put_word(l, tpch_word(&l->d, &tpch_containers[0]));
	l->at[-1] = ' ';
	put_word(l, tpch_word(&l->d, &tpch_containers[1]));
	put_money(l, retail_price(i + 1));
	put_comment(l, 5, 22);
}

/* Supplier number `nth` of a part. */
static int64_t
supplier_of(const struct tpch *g, int64_t part, int64_t nth)
{
	int64_t s = g->suppliers;
	return (part + nth * (s / 4 + (part - 1) / s)) % s + 1;
}

static void
partsupp(struct line *l, int64_t i)
{
	for (int64_t k = 0; k < SUPPLIERS_OF_PART; k++) {
		put_number(l, i + 1);
		put_number(l, supplier_of(l->g, i + 1, k));
		put_number(l, tpch_roll(&l->d, 1, 9999));
		put_money(l, tpch_roll(&l->d, 100, 100000));
		put_comment(l, 49, 198);
	}
}

static void
customer(struct line *l, int64_t i)
{
	put_party(l, "Customer", i + 1);
	put_word(l, tpch_word(&l->d, &tpch_segments));
	put_comment(l, 29, 116);
}

/* What an order and its lines have in common: both tables are made from it. */
struct order {
	int64_t key, day, lines;
	struct order_line {
		int64_t part, supplier, quantity, price, discount, tax, ship, commit, receipt;
	} line[TPCH_LINES_MAX];
};

static void
draw_order(const struct tpch *g, int64_t i, struct order *o)
{
	struct tpch_dice d = tpch_dice_of(g->seed, 100, (uint64_t)i);
	o->key = i / KEYS_USED * KEYS_IN_A_ROW + i % KEYS_USED + 1;
	o->day = tpch_roll(&d, 0, DAY_LAST_ORDER);
	o->lines = tpch_roll(&d, 1, TPCH_LINES_MAX);
	for (int64_t k = 0; k < o->lines; k++) {
		struct order_line *x = &o->line[k];
		x->part = tpch_roll(&d, 1, g->parts);
		x->supplier = supplier_of(g, x->part, tpch_roll(&d, 0, SUPPLIERS_OF_PART - 1));
		x->quantity = tpch_roll(&d, 1, 50);
		x->price = x->quantity * retail_price(x->part);
		x->discount = tpch_roll(&d, 0, 10);
		x->tax = tpch_roll(&d, 0, 8);
		x->ship = o->day + tpch_roll(&d, 1, 121);
		x->commit = o->day + tpch_roll(&d, 30, 90);
		x->receipt = x->ship + tpch_roll(&d, 1, 30);
	}
}

static void
orders(struct line *l, int64_t i)
{
	struct order o;
	int64_t customer, total = 0, open = 0;
	draw_order(l->g, i, &o);
	for (int64_t k = 0; k < o.lines; k++) {
		total += o.line[k].price * (100 + o.line[k].tax) * (100 - o.line[k].discount);
		open += o.line[k].ship > DAY_CURRENT;
	}
	do /* every third customer orders nothing */
		customer = tpch_roll(&l->d, 1, l->g->customers);
	while (customer % 3 == 0);
	put_number(l, o.key);
	put_number(l, customer);
	put_word(l, open == 0 ? "F" : open == o.lines ? "O" : "P");
	put_money(l, (total + 5000) / 10000);
	put_date(l, o.day);
	put_word(l, tpch_word(&l->d, &tpch_priorities));
	int64_t clerks = (int64_t)l->g->scale * 10;
	put(l, "Clerk#%09lld|0|", (long long)tpch_roll(&l->d, 1, clerks));
	put_comment(l, 19, 78);
}

static void
lineitem(struct line *l, int64_t i, unsigned *rows)
{
	struct order o;
	draw_order(l->g, i, &o);
	*rows = (unsigned)o.lines;
	for (int64_t k = 0; k < o.lines; k++) {
		const struct order_line *x = &o.line[k];
		put_number(l, o.key);
		put_number(l, x->part);
		put_number(l, x->supplier);
		put_number(l, k + 1);
		put_money(l, x->quantity * 100);
		put_money(l, x->price);
		put_money(l, x->discount);
		put_money(l, x->tax);
		put_word(l, x->receipt > DAY_CURRENT ? "N" : tpch_roll(&l->d, 0, 1) ? "R" : "A");
		put_word(l, x->ship > DAY_CURRENT ? "O" : "F");
		put_date(l, x->ship);
		put_date(l, x->commit);
		put_date(l, x->receipt);
		put_word(l, tpch_word(&l->d, &tpch_instructions));
		put_word(l, tpch_word(&l->d, &tpch_modes));
		put_comment(l, 10, 43);
	}
}

/* ---- all ------------------------------------------------------------------------------- */

/* Suppliers whose comments complain and recommend: 5 of each at scale 1, 1 at least. */
static void
draw_loud(struct tpch *g)
{
	struct tpch_dice d = tpch_dice_of(g->seed, 200, 0);
	unsigned each = (g->scale * 5 + 50) / 100;
	g->louds = 2 * (each > 0 ? each : 1);
	for (unsigned k = 0; k < g->louds;) {
		int64_t s = tpch_roll(&d, 0, g->suppliers - 1);
		bool again = false;
		for (unsigned j = 0; j < k; j++)
			again |= g->loud[j] == s;
		if (!again)
			g->loud[k++] = s;
	}
}

bool
tpch_open(struct tpch *g, unsigned scale, uint64_t seed, size_t pool_len)
{
	*g = (struct tpch){ .scale = scale, .seed = seed, .pool_len = pool_len };
	g->suppliers = scale * INT64_C(100);
	g->parts = scale * INT64_C(2000);
	g->customers = scale * INT64_C(1500);
	g->orders = scale * INT64_C(15000);
	draw_loud(g);
	if ((g->pool = malloc(pool_len)) == NULL)
		return false;
	tpch_sentences(seed, g->pool, pool_len);
	return true;
}

void
tpch_close(struct tpch *g)
{
	free(g->pool);
	g->pool = NULL;
}

int64_t
tpch_items(const struct tpch *g, enum tpch_table t)
{
	switch (t) {
	case TPCH_REGION:
		return REGIONS;
	case TPCH_NATION:
		return NATIONS;
	case TPCH_SUPPLIER:
		return g->suppliers;
	case TPCH_PART:
	case TPCH_PARTSUPP:
		return g->parts;
	case TPCH_CUSTOMER:
		return g->customers;
	default:
		return g->orders;
	}
}

size_t
tpch_item(const struct tpch *g, enum tpch_table t, int64_t i, char *into, unsigned *rows)
{
	static void (*const make[TPCH_TABLES])(
	    struct line *, int64_t) = { region, nation, supplier, part, partsupp, customer, orders };
	struct line l = { g, tpch_dice_of(g->seed, t, (uint64_t)i), into };
	*rows = t == TPCH_PARTSUPP ? SUPPLIERS_OF_PART : 1;
	if (t == TPCH_LINEITEM)
		lineitem(&l, i, rows);
	else
		make[t](&l, i);
	return (size_t)(l.at - into);
}
