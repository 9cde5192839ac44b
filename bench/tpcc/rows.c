/* rows.c -- TPC-C's population by clause 4.3.3: a row is a function of the seed and its place,
 * so each part can be made by itself, and again. */
#include "tpcc.h"

#include <string.h>

enum {
	ITEMS_PART = 5000, /* items, or rows of stock, of a part */
	C_LAST_LOAD = 120,
	ENTRY_US = 1000000, /* when all initial orders, payments and customers came */
};

static int32_t
between(struct nam_rng *r, int32_t low, int32_t high)
{
	return low + (int32_t)nam_rng_below(r, (uint64_t)(high - low + 1));
}

/* low to high letters and digits; what follows them stays 0. */
static void
letters(struct nam_rng *r, char *out, int32_t low, int32_t high)
{
	static const char of[64] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ab";
	int32_t n = between(r, low, high);
	uint64_t bits = 0;
	for (int32_t i = 0; i < n; i++, bits >>= 6) {
		if (i % 10 == 0)
			bits = nam_rng_next(r);
		out[i] = of[bits & 63];
	}
}

static void
digits(struct nam_rng *r, char *out, int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		out[i] = (char)('0' + nam_rng_below(r, 10));
}

/* One in ten has "ORIGINAL" somewhere. */
static void
data_of(struct nam_rng *r, char out[50])
{
	letters(r, out, 26, 50);
	size_t n = strnlen(out, 50);
	if (nam_rng_below(r, 10) == 0)
		memcpy(out + nam_rng_below(r, n - 7), "ORIGINAL", 8);
}

static void
address(struct nam_rng *r, struct tpcc_address *a)
{
	letters(r, a->street, 10, 20);
	letters(r, a->street + 20, 10, 20);
	letters(r, a->city, 10, 20);
	letters(r, a->state, 2, 2);
	digits(r, a->zip, 4);
	memcpy(a->zip + 4, "11111", 5);
}

static void
dice_of(struct nam_rng *r, const struct tpcc_params *p, unsigned what, int32_t a, int32_t b)
{
	nam_rng_init(r, p->seed * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)what << 56) +
			    ((uint64_t)a << 28) + (uint64_t)b);
}

nam_status
bench_tpcc_items(const struct tpcc_params *p, int32_t from, int32_t to, tpcc_each *each, void *arg)
{
	nam_status st = NAM_OK;
	for (int32_t i = from; st == NAM_OK && i < to; i++) {
		struct nam_rng r;
		dice_of(&r, p, TPCC_ITEM, 0, i);
		struct tpcc_item row = {
			.i = i, .im = between(&r, 1, 10000), .price = between(&r, 100, 10000)
		};
		letters(&r, row.name, 14, 24);
		data_of(&r, row.data);
		st = each(arg, TPCC_ITEM, &row);
	}
	return st;
}

nam_status
bench_tpcc_stock(const struct tpcc_params *p, int32_t w, int32_t from, int32_t to, tpcc_each *each, void *arg)
{
	nam_status st = NAM_OK;
	for (int32_t i = from; st == NAM_OK && i < to; i++) {
		struct nam_rng r;
		dice_of(&r, p, TPCC_STOCK, w, i);
		struct tpcc_stock row = { .w = w, .i = i, .quantity = between(&r, 10, 100) };
		for (unsigned d = 0; d < TPCC_DISTRICTS; d++)
			letters(&r, row.dist[d], 24, 24);
		data_of(&r, row.data);
		st = each(arg, TPCC_STOCK, &row);
	}
	return st;
}

/* Each customer has paid 10.00 once. */
enum { PAID = 1000 };

nam_status
bench_tpcc_warehouse(const struct tpcc_params *p, int32_t w, tpcc_each *each, void *arg)
{
	struct nam_rng r;
	dice_of(&r, p, TPCC_WAREHOUSE, w, 0);
	struct tpcc_warehouse row = {
		.w = w, .tax = between(&r, 0, 2000), .ytd = (int64_t)p->customers * PAID * TPCC_DISTRICTS
	};
	letters(&r, row.name, 6, 10);
	address(&r, &row.at);
	return each(arg, TPCC_WAREHOUSE, &row);
}

static nam_status
customer_rows(const struct tpcc_params *p, struct nam_rng *r, int32_t w, int32_t d, int32_t c,
    tpcc_each *each, void *arg)
{
	struct tpcc_customer row = { .w = w,
		.d = d,
		.c = c,
		.discount = between(r, 0, 5000),
		.balance = -PAID,
		.ytd_payment = PAID,
		.payment_cnt = 1,
		.since = ENTRY_US,
		.credit_lim = 5000000,
		.middle = "OE",
		.credit = "GC" };
	bench_tpcc_last(row.last, c <= TPCC_NAMES
				      ? (unsigned)c - 1
				      : (unsigned)bench_tpcc_nurand(r, 255, C_LAST_LOAD, 0, TPCC_NAMES - 1));
	letters(r, row.first, 8, 16);
	if (nam_rng_below(r, 10) == 0)
		memcpy(row.credit, "BC", 2);
	digits(r, row.phone, 16);
	address(r, &row.at);
	letters(r, row.data, 300, 500);
	struct tpcc_history paid = {
		.c_w = w, .c_d = d, .c = c, .w = w, .d = d, .amount = PAID, .date = ENTRY_US
	};
	letters(r, paid.data, 12, 24);
	nam_status st = each(arg, TPCC_CUSTOMER, &row);
	(void)p;
	return st == NAM_OK ? each(arg, TPCC_HISTORY, &paid) : st;
}

/* Order o is of the customer that a permutation names; the last three in ten are not delivered. */
static nam_status
order_rows(const struct tpcc_params *p, struct nam_rng *r, int32_t w, int32_t d, int32_t o, tpcc_each *each,
    void *arg)
{
	int32_t n = (int32_t)p->customers, open = n - n * 3 / 10;
	/* 7 shares no factor with 300 and 3000, so its multiples go through all customers. */
	int32_t c = (o * 7 + d) % n + 1;
	bool delivered = o <= open;
	struct tpcc_orders row = { .w = w,
		.d = d,
		.o = o,
		.c = c,
		.entry = ENTRY_US,
		.carrier = delivered ? between(r, 1, 10) : 0,
		.ol_cnt = between(r, TPCC_LINES_MIN, TPCC_LINES),
		.all_local = 1 };
	nam_status st = each(arg, TPCC_ORDERS, &row);
	for (int32_t k = 1; st == NAM_OK && k <= row.ol_cnt; k++) {
		struct tpcc_line line = { .w = w,
			.d = d,
			.o = o,
			.number = k,
			.item = between(r, 1, (int32_t)p->items),
			.supply_w = w,
			.delivery = delivered ? ENTRY_US : 0,
			.amount = delivered ? 0 : between(r, 1, 999999),
			.quantity = 5 };
		letters(r, line.dist, 24, 24);
		st = each(arg, TPCC_LINE, &line);
	}
	if (st == NAM_OK && !delivered)
		st = each(arg, TPCC_NEW_ORDER, &(struct tpcc_new_order){ .w = w, .d = d, .o = o });
	return st == NAM_OK ? each(arg, TPCC_NEWEST, &(struct tpcc_newest){ w, d, c, o }) : st;
}

nam_status
bench_tpcc_district(const struct tpcc_params *p, int32_t w, int32_t d, tpcc_each *each, void *arg)
{
	struct nam_rng r;
	dice_of(&r, p, TPCC_DISTRICT, w, d);
	struct tpcc_district row = { .w = w,
		.d = d,
		.tax = between(&r, 0, 2000),
		.ytd = (int64_t)p->customers * PAID,
		.next_o = (int32_t)p->customers + 1 };
	letters(&r, row.name, 6, 10);
	address(&r, &row.at);
	nam_status st = each(arg, TPCC_DISTRICT, &row);
	for (int32_t c = 1; st == NAM_OK && c <= (int32_t)p->customers; c++)
		st = customer_rows(p, &r, w, d, c, each, arg);
	for (int32_t o = 1; st == NAM_OK && o <= (int32_t)p->customers; o++)
		st = order_rows(p, &r, w, d, o, each, arg);
	return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static unsigned
slices(const struct tpcc_params *p)
{
	return (p->items + ITEMS_PART - 1) / ITEMS_PART;
}

/* Of a warehouse: the slices of its stock, its districts; the first district also has its row. */
unsigned
bench_tpcc_parts(const struct tpcc_params *p)
{
	return slices(p) + p->warehouses * (slices(p) + TPCC_DISTRICTS);
}

nam_status
bench_tpcc_part(const struct tpcc_params *p, unsigned part, tpcc_each *each, void *arg)
{
	unsigned n = slices(p), of = n + TPCC_DISTRICTS;
	unsigned at = part < n ? part : (part - n) % of;
	int32_t w = part < n ? 0 : (int32_t)((part - n) / of) + 1;
	int32_t from = (int32_t)at * ITEMS_PART + 1, to = from + ITEMS_PART;
	if (to > (int32_t)p->items + 1)
		to = (int32_t)p->items + 1;
	if (part < n)
		return bench_tpcc_items(p, from, to, each, arg);
	if (at < n)
		return bench_tpcc_stock(p, w, from, to, each, arg);
	int32_t d = (int32_t)(at - n) + 1;
	nam_status st = d == 1 ? bench_tpcc_warehouse(p, w, each, arg) : NAM_OK;
	return st == NAM_OK ? bench_tpcc_district(p, w, d, each, arg) : st;
}
