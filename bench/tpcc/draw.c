/* draw.c -- what a client of TPC-C asks for: the mix and the random numbers of clauses 2 and
 * 5.2. */
#include "tpcc.h"

#include <string.h>

/* Of NURand: the same in each run. The constant of last names differs from that of the population
 * by 80, as clause 2.1.6.1 demands (65 to 119, neither 96 nor 112). */
enum { C_LAST = 200, C_CUSTOMER = 259, C_ITEM = 7911 };

const char *const bench_tpcc_names[TPCC_KINDS] = { "New-Order", "Payment", "Order-Status", "Delivery",
	"Stock-Level" };
const unsigned bench_tpcc_percent[TPCC_KINDS] = { 45, 43, 4, 4, 4 };

struct tpcc_params bench_tpcc_params = { .warehouses = 1, .customers = 300, .items = 10000, .seed = 1 };

static int32_t
between(struct nam_rng *r, int32_t low, int32_t high)
{
	return low + (int32_t)nam_rng_below(r, (uint64_t)(high - low + 1));
}

int32_t
bench_tpcc_nurand(struct nam_rng *r, int32_t a, int32_t c, int32_t x, int32_t y)
{
	int32_t one = between(r, 0, a), other = between(r, x, y);
	return ((one | other) + c) % (y - x + 1) + x;
}

void
bench_tpcc_last(char out[16], unsigned number)
{
	static const char *const part[10] = { "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY",
		"ATION", "EING" };
	memset(out, 0, 16);
	for (unsigned by = 100, at = 0; by > 0; by /= 10) {
		const char *s = part[number / by % 10];
		size_t n = strlen(s);
		memcpy(out + at, s, n); /* three parts of 5 bytes at most */
		at += (unsigned)n;
	}
}

/* Payment and Order-Status: six in ten by last name. */
static void
customer(struct tpcc_order *o, struct nam_rng *r, const struct tpcc_params *p)
{
	int32_t customers = (int32_t)p->customers;
	int32_t names = customers < TPCC_NAMES ? customers : TPCC_NAMES;
	o->by_name = nam_rng_below(r, 100) < 60;
	if (o->by_name)
		bench_tpcc_last(o->last, (unsigned)bench_tpcc_nurand(r, 255, C_LAST, 0, names - 1));
	else
		o->c = bench_tpcc_nurand(r, 1023, C_CUSTOMER, 1, customers);
}

/* Another warehouse, if there is one. */
static int32_t
remote(struct nam_rng *r, const struct tpcc_params *p, int32_t w)
{
	if (p->warehouses == 1)
		return w;
	int32_t other = between(r, 1, (int32_t)p->warehouses - 1);
	return other < w ? other : other + 1;
}

static void
new_order(struct tpcc_order *o, struct nam_rng *r, const struct tpcc_params *p)
{
	o->c = bench_tpcc_nurand(r, 1023, C_CUSTOMER, 1, (int32_t)p->customers);
	o->lines = between(r, TPCC_LINES_MIN, TPCC_LINES);
	o->unused_item = nam_rng_below(r, 100) == 0;
	for (int32_t i = 0; i < o->lines; i++) {
		o->line[i].item = bench_tpcc_nurand(r, 8191, C_ITEM, 1, (int32_t)p->items);
		o->line[i].supply_w = nam_rng_below(r, 100) == 0 ? remote(r, p, o->w) : o->w;
		o->line[i].quantity = between(r, 1, 10);
	}
	if (o->unused_item)
		o->line[o->lines - 1].item = (int32_t)p->items + 1;
}

void
bench_tpcc_draw(struct tpcc_order *o, struct nam_rng *r, const struct tpcc_params *p, int32_t home)
{
	unsigned dice = (unsigned)nam_rng_below(r, 100), what = 0;
	while (dice >= bench_tpcc_percent[what])
		dice -= bench_tpcc_percent[what++];
	o->what = (enum tpcc_what)what;
	o->w = home != 0 ? home : between(r, 1, (int32_t)p->warehouses);
	o->c_w = o->w;
	o->c_d = o->d = between(r, 1, TPCC_DISTRICTS);
	o->by_name = o->unused_item = false;
	switch (o->what) {
	case TPCC_NEW:
		new_order(o, r, p);
		break;
	case TPCC_PAYMENT:
		if (p->warehouses > 1 && nam_rng_below(r, 100) < 15) {
			o->c_w = remote(r, p, o->w);
			o->c_d = between(r, 1, TPCC_DISTRICTS);
		}
		customer(o, r, p);
		o->amount = between(r, 100, 500000);
		break;
	case TPCC_STATUS:
		customer(o, r, p);
		break;
	case TPCC_DELIVERY:
		o->carrier = between(r, 1, 10);
		break;
	default:
		o->threshold = between(r, 10, 20);
		break;
	}
}
