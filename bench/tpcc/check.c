/*
 * check.c -- TPC-C's twelve consistency conditions (clause 3.3.2), judged by scans of one
 * fresh snapshot.
 *
 * It reads the rows by the offsets drawn in tpcc.h and by nothing else of the bench, and trusts no
 * index: what belongs together is found by sorting. Condition 11 is stated for the initial
 * population. Deliveries are counted in C_DELIVERY_CNT, so it is judged as: orders less
 * new_orders of a district are those delivered at first and the deliveries since.
 */
#include "tpcc.h"

#include <bench/tables.h>

#include <stdlib.h>
#include <string.h>

const char *const bench_tpcc_conditions[TPCC_CONDITIONS] = {
	"W_YTD is the sum of D_YTD",
	"D_NEXT_O_ID - 1 is the greatest O_ID and the greatest NO_O_ID",
	"the NO_O_ID of a district have no gap",
	"the sum of O_OL_CNT is the number of lines of a district",
	"O_CARRIER_ID is null exactly where there is a new_order",
	"O_OL_CNT is the number of lines of an order",
	"OL_DELIVERY_D is null exactly where O_CARRIER_ID is",
	"W_YTD is the sum of H_AMOUNT",
	"D_YTD is the sum of H_AMOUNT",
	"C_BALANCE is what was delivered less what was paid",
	"orders less new_orders are the orders delivered",
	"C_BALANCE + C_YTD_PAYMENT is what was delivered",
};

struct house {
	bool seen;
	int64_t ytd, districts, paid;
};
struct district {
	bool seen;
	int64_t ytd, paid;
	int32_t next_o, greatest, new_least, new_greatest;
	int64_t orders, new_orders, counted, lines, deliveries;
};
struct customer {
	bool seen;
	int32_t newest, named; /* orders: the greatest number; what `newest` names */
	int64_t balance, ytd_payment, delivered, paid;
};
struct order {
	uint64_t key; /* warehouse, district, number */
	int32_t c, carrier, ol_cnt, lines, undelivered;
	bool open;
};
struct census {
	unsigned warehouses, customers;
	struct house *house;
	struct district *district;
	struct customer *customer;
	struct order *order;
	uint64_t orders, cap, items, stock;
	uint64_t strangers; /* rows that refer to a row that there is not, or are there twice */
	bool no_memory;
};

/* ---- rows by their offsets ------------------------------------------------------------------- */

static int32_t
n4(const void *row, unsigned at)
{
	int32_t v;
	memcpy(&v, (const char *)row + at, sizeof v);
	return v;
}

static int64_t
n8(const void *row, unsigned at)
{
	int64_t v;
	memcpy(&v, (const char *)row + at, sizeof v);
	return v;
}

static struct house *
house(struct census *c, int32_t w)
{
	if (w >= 1 && w <= (int32_t)c->warehouses)
		return &c->house[w - 1];
	c->strangers++;
	return NULL;
}

static struct district *
district(struct census *c, int32_t w, int32_t d)
{
	if (w >= 1 && w <= (int32_t)c->warehouses && d >= 1 && d <= 10)
		return &c->district[(w - 1) * 10 + d - 1];
	c->strangers++;
	return NULL;
}

static struct customer *
customer(struct census *c, int32_t w, int32_t d, int32_t n)
{
	if (w >= 1 && w <= (int32_t)c->warehouses && d >= 1 && d <= 10 && n >= 1 &&
	    n <= (int32_t)c->customers)
		return &c->customer[((size_t)(w - 1) * 10 + (size_t)d - 1) * c->customers + (size_t)n - 1];
	c->strangers++;
	return NULL;
}

static void
see(struct census *c, bool *seen)
{
	c->strangers += *seen;
	*seen = true;
}

static void
see_warehouse(void *arg, const void *row)
{
	struct house *h = house(arg, n4(row, 0));
	if (h == NULL)
		return;
	see(arg, &h->seen);
	h->ytd = n8(row, 8);
}

static void
see_district(void *arg, const void *row)
{
	struct house *h = house(arg, n4(row, 0));
	struct district *d = district(arg, n4(row, 0), n4(row, 4));
	if (h == NULL || d == NULL)
		return;
	see(arg, &d->seen);
	d->ytd = n8(row, 8);
	d->next_o = n4(row, 16);
	h->districts += d->ytd;
}

static void
see_customer(void *arg, const void *row)
{
	struct district *d = district(arg, n4(row, 0), n4(row, 4));
	struct customer *c = customer(arg, n4(row, 0), n4(row, 4), n4(row, 8));
	if (d == NULL || c == NULL)
		return;
	see(arg, &c->seen);
	c->balance = n8(row, 16);
	c->ytd_payment = n8(row, 24);
	d->deliveries += n4(row, 36);
}

/* A payment counts for each row that it names and that there is. */
static void
see_history(void *arg, const void *row)
{
	struct customer *c = customer(arg, n4(row, 0), n4(row, 4), n4(row, 8));
	struct house *h = house(arg, n4(row, 12));
	struct district *d = district(arg, n4(row, 12), n4(row, 16));
	int64_t amount = n8(row, 24);
	if (c != NULL)
		c->paid += amount;
	if (h != NULL)
		h->paid += amount;
	if (d != NULL)
		d->paid += amount;
}

static uint64_t
key_of(int32_t w, int32_t d, int32_t o)
{
	return (uint64_t)(uint16_t)w << 48 | (uint64_t)(uint16_t)d << 32 | (uint32_t)o;
}

static void
see_order(void *arg, const void *row)
{
	struct census *c = arg;
	struct district *d = district(c, n4(row, 0), n4(row, 4));
	struct customer *who = customer(c, n4(row, 0), n4(row, 4), n4(row, 12));
	if (d == NULL || who == NULL)
		return;
	if (c->orders == c->cap) {
		c->cap = c->cap * 2 + 4096;
		struct order *more = realloc(c->order, c->cap * sizeof *more);
		if (more == NULL) {
			c->no_memory = true;
			c->orders = 0;
			c->cap = c->cap / 2 - 2048;
			return;
		}
		c->order = more;
	}
	struct order *o = &c->order[c->orders++];
	*o = (struct order){ .key = key_of(n4(row, 0), n4(row, 4), n4(row, 8)),
		.c = n4(row, 12),
		.carrier = n4(row, 24),
		.ol_cnt = n4(row, 28) };
	d->orders++;
	d->counted += o->ol_cnt;
	if (n4(row, 8) > d->greatest)
		d->greatest = n4(row, 8);
	if (n4(row, 8) > who->newest)
		who->newest = n4(row, 8);
}

static int
by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct order *)a)->key, y = ((const struct order *)b)->key;
	return x < y ? -1 : x > y;
}

/* After all orders, which are sorted now. NULL: there is none. */
static struct order *
order(struct census *c, int32_t w, int32_t d, int32_t o)
{
	struct order key = { .key = key_of(w, d, o) };
	struct order *found = c->orders > 0 ? bsearch(&key, c->order, c->orders, sizeof key, by_key) : NULL;
	c->strangers += found == NULL;
	return found;
}

static void
see_new_order(void *arg, const void *row)
{
	struct district *d = district(arg, n4(row, 0), n4(row, 4));
	int32_t number = n4(row, 8);
	if (d == NULL)
		return;
	if (d->new_orders++ == 0 || number < d->new_least)
		d->new_least = number;
	if (number > d->new_greatest)
		d->new_greatest = number;
	struct order *o = order(arg, n4(row, 0), n4(row, 4), number);
	if (o != NULL)
		see(arg, &o->open);
}

static void
see_line(void *arg, const void *row)
{
	struct district *d = district(arg, n4(row, 0), n4(row, 4));
	if (d == NULL)
		return;
	d->lines++;
	struct order *o = order(arg, n4(row, 0), n4(row, 4), n4(row, 8));
	if (o == NULL)
		return;
	o->lines++;
	if (n8(row, 24) == 0) {
		o->undelivered++;
		return;
	}
	struct customer *c = customer(arg, n4(row, 0), n4(row, 4), o->c);
	if (c != NULL)
		c->delivered += n8(row, 32);
}

static void
see_item(void *arg, const void *row)
{
	(void)row;
	((struct census *)arg)->items++;
}

static void
see_stock(void *arg, const void *row)
{
	struct census *c = arg;
	c->stock += house(c, n4(row, 0)) != NULL;
}

static void
see_newest(void *arg, const void *row)
{
	struct customer *c = customer(arg, n4(row, 0), n4(row, 4), n4(row, 8));
	if (c != NULL)
		c->named = n4(row, 12);
}

/* ---- the conditions -------------------------------------------------------------------------- */

/* How many times each does not hold. */
static void
judge(const struct census *c, uint64_t bad[TPCC_CONDITIONS + 1])
{
	for (unsigned i = 0; i < c->warehouses; i++) {
		const struct house *h = &c->house[i];
		bad[1] += h->ytd != h->districts;
		bad[8] += h->ytd != h->paid;
	}
	int64_t first = (int64_t)c->customers - (int64_t)c->customers * 3 / 10;
	for (unsigned i = 0; i < c->warehouses * 10; i++) {
		const struct district *d = &c->district[i];
		bad[2] +=
		    d->next_o - 1 != d->greatest || (d->new_orders > 0 && d->new_greatest != d->greatest);
		bad[3] += d->new_orders > 0 && d->new_greatest - d->new_least + 1 != d->new_orders;
		bad[4] += d->counted != d->lines;
		bad[9] += d->ytd != d->paid;
		bad[11] += d->orders - d->new_orders != first + d->deliveries;
	}
	for (uint64_t i = 0; i < c->orders; i++) {
		const struct order *o = &c->order[i];
		bad[5] += (o->carrier == 0) != o->open;
		bad[6] += o->ol_cnt != o->lines;
		bad[7] += o->carrier == 0 ? o->undelivered != o->lines : o->undelivered != 0;
	}
	for (uint64_t i = 0; i < (uint64_t)c->warehouses * 10 * c->customers; i++) {
		const struct customer *u = &c->customer[i];
		bad[10] += u->balance != u->delivered - u->paid;
		bad[12] += u->balance + u->ytd_payment != u->delivered;
	}
}

/* Rows that are not there, and an index that names another order. */
static uint64_t
missing(const struct census *c, const struct tpcc_params *p, uint64_t *wrong)
{
	uint64_t n = c->items != p->items;
	n += c->stock != (uint64_t)p->items * p->warehouses;
	for (unsigned i = 0; i < c->warehouses; i++)
		n += !c->house[i].seen;
	for (unsigned i = 0; i < c->warehouses * 10; i++)
		n += !c->district[i].seen;
	for (uint64_t i = 0; i < (uint64_t)c->warehouses * 10 * c->customers; i++) {
		n += !c->customer[i].seen;
		*wrong += c->customer[i].newest != c->customer[i].named;
	}
	return n;
}

static bool
census_open(struct census *c, const struct tpcc_params *p)
{
	*c = (struct census){ .warehouses = p->warehouses, .customers = p->customers };
	c->house = calloc(p->warehouses, sizeof *c->house);
	c->district = calloc((size_t)p->warehouses * 10, sizeof *c->district);
	c->customer = calloc((size_t)p->warehouses * 10 * p->customers, sizeof *c->customer);
	return c->house != NULL && c->district != NULL && c->customer != NULL;
}

static void
census_close(struct census *c)
{
	free(c->house);
	free(c->district);
	free(c->customer);
	free(c->order);
}

/* All tables; orders before what belongs to them. What could not be read. */
static uint64_t
take(struct census *c, tpcc_rows *rows, void *arg)
{
	static const struct {
		enum tpcc_table table;
		void (*see)(void *arg, const void *row);
	} all[] = { { TPCC_WAREHOUSE, see_warehouse }, { TPCC_DISTRICT, see_district },
		{ TPCC_CUSTOMER, see_customer }, { TPCC_HISTORY, see_history }, { TPCC_ORDERS, see_order },
		{ TPCC_NEW_ORDER, see_new_order }, { TPCC_LINE, see_line }, { TPCC_ITEM, see_item },
		{ TPCC_STOCK, see_stock }, { TPCC_NEWEST, see_newest } };
	uint64_t bad = 0;
	for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
		bad += rows(arg, all[i].table, all[i].see, c);
		if (all[i].table != TPCC_ORDERS || c->orders == 0)
			continue;
		qsort(c->order, c->orders, sizeof *c->order, by_key);
		for (uint64_t k = 1; k < c->orders; k++)
			c->strangers += c->order[k].key == c->order[k - 1].key;
	}
	return bad + bench_complain("out of memory", c->no_memory);
}

uint64_t
bench_tpcc_judge(struct tpcc_side *s, tpcc_rows *rows, void *arg)
{
	struct census c;
	uint64_t broken[TPCC_CONDITIONS + 1] = { 0 }, wrong = 0;
	s->failed = 0;
	if (!census_open(&c, s->p)) {
		census_close(&c);
		return bench_complain("out of memory", 1);
	}
	uint64_t bad = take(&c, rows, arg);
	judge(&c, broken);
	for (unsigned i = 1; i <= TPCC_CONDITIONS; i++) {
		if (broken[i] == 0)
			continue;
		s->failed |= UINT64_C(1) << i;
		fprintf(stderr, "namdb bench: check: condition %u does not hold: %s (%llu)\n", i,
		    bench_tpcc_conditions[i - 1], (unsigned long long)broken[i]);
		bad++;
	}
	bad += bench_complain("rows of others that are missing, or rows twice", c.strangers);
	bad += bench_complain("rows of the population are missing", missing(&c, s->p, &wrong));
	bad += bench_complain("customers whose newest order is another one", wrong);
	fprintf(stderr, "check: %llu orders, 12 conditions: %s\n", (unsigned long long)c.orders,
	    bad ? "WRONG" : "all hold");
	census_close(&c);
	return bad;
}

/* ---- of tables that txn knows ---------------------------------------------------------------- */

struct scanned {
	struct tpcc_side *s;
	struct txn *t;
};

static uint64_t
scan(void *arg, enum tpcc_table table, void (*show)(void *to, const void *row), void *to)
{
	struct scanned *from = arg;
	return bench_tables_each(from->t, &from->s->table[table], show, to);
}

uint64_t
bench_tpcc_check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	struct scanned from = { .s = side[0] };
	struct bench_table all[TPCC_TABLES];
	(void)machines;
	if (bench_tables_begin(pl, &from.t) != NAM_OK)
		return bench_complain("cannot begin", 1);
	uint64_t bad = bench_tpcc_judge(from.s, scan, &from);
	for (unsigned i = 0; i < TPCC_TABLES; i++)
		all[i] = (struct bench_table){ .at = &from.s->table[i] };
	bad += bench_complain("records still locked", bench_tables_locked(from.t, all, TPCC_TABLES));
	txn_commit(from.t, NULL);
	return bad;
}
