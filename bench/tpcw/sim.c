/* sim.c -- `namdb bench tpcw --sim MODEL`: the checkout by many clients in virtual time
 * (sim/cluster.h); the shape of the NAM paper's figure 6. */
#include "tpcw.h"

#include <bench/sim/cluster.h>

#include <string.h>

static uint64_t
bytes(const void *params)
{
	const struct tpcw_params *p = params;
	/* blocks of the products, what clients insert, and 64 bytes of index an entry at most */
	return p->products * 4096 + p->orders * (TPCW_ITEMS + 1) * 64 + (UINT64_C(2) << 30);
}

static size_t
entries(const void *params)
{
	return ((const struct tpcw_params *)params)->products * 2;
}

/* The parameters are read by all machines, and the options' seed is theirs as well. */
static struct tpcw_params params = { .products = 30000, .orders = 200000 };
static struct bench_sim sim;

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	struct tpcw_side *s = side;
	params.seed = p->seed;
	*s = (struct tpcw_side){ .ops = &tpcw_native,
		.p = &params,
		.next_order = 1 + ((int64_t)machine << 40),
		.counts = counts };
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	struct tpcw_side *s = side;
	out[0] = &s->product;
	out[1] = &s->order;
	out[2] = &s->line;
	return 3;
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	return tpcw_native.prepare(side, pl);
}

static nam_status
load(void *side, const struct cn_place *pl)
{
	_Atomic uint64_t done = 0;
	return tpcw_native.load(side, pl, 0, params.products, &done);
}

static nam_status
warm(void *side, const struct cn_place *pl)
{
	return tpcw_native_warm(side, pl, 0, params.products);
}

static void
client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop)
{
	tpcw_native.client(side, pl, number, out, stop);
}

static const char *
full(void *side)
{
	struct tpcw_side *s = side;
	return atomic_load(&s->full) ? "the orders do not fit; measure for less time (--seconds)" : NULL;
}

static uint64_t
check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	(void)machines;
	return tpcw_native.check(side[0], pl);
}

void
tpcw_sim_more(const struct bench_sim_point *at, const struct bench_sim *p)
{
	if (at == NULL) {
		printf("%6s %9s  ", "trips", "port % i/o");
		return;
	}
	double trips = at->ever != 0 ? (double)at->sum.counts.round_trips / (double)at->ever : 0;
	if (p->json)
		printf("\"round_trips_per_txn\": %.2f, \"node_port_in\": %.3f, \"node_port_out\": %.3f, ",
		    trips, at->port_in, at->port_out);
	else
		printf("%6.2f %5.0f %4.0f  ", trips, at->port_in * 100, at->port_out * 100);
}

/* ---- options ------------------------------------------------------------------------------- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcw --sim MODEL [options]\n"
	    "The checkout in virtual time, on machines of a model: fdr4x (the NAM paper's cluster) or cx6.\n"
	    "  --products N     products of about 1 KB (default 30000)\n"
	    "  --orders N       the indexes have room for so many orders from the start; 0: they\n"
	    "                   grow from nothing, which holds inserts up (default 200000)\n"
	    "  --work US        what a client computes for each checkout, in microseconds (default 0)\n"
	    "  --snapshot       read at a snapshot, as a transaction must that does not change all it reads\n"
	    "                   (default: the newest versions, checked at the commit)\n"
	    "  --oracle O       claimed (default); preassigned: with --protocol rsi-paper\n"
	    "  --protocol P     rsi: this one (default); rsi-paper: as the NAM paper has it; 2pc-ipoeth,\n"
	    "                   2pc-ipoib, 2pc-verbs: two-phase commit. These have options of their own\n"
	    "                   (--protocol rsi-paper --help, --protocol 2pc-verbs --help)\n");
	bench_sim_usage(to, "1,10,20,30,40,50,60,70", "4+3", "0.01");
}

static bool preassigned; /* asked for */

static bool
take(void *arg, int letter, char *v)
{
	struct tpcw_params *p = arg;
	unsigned n, x;
	if (letter == 'o' && bench_take_numbers(v, 0, 10000000, &x, 1, &n)) {
		p->orders = x;
		return true;
	}
	if (letter == 'W' && bench_take_numbers(v, 0, 1000000, &x, 1, &n)) {
		p->work_us = x;
		return true;
	}
	if (letter == 'R')
		return p->snapshot = true;
	if (letter == 'O')
		return (preassigned = strcmp(v, "preassigned") == 0) || strcmp(v, "claimed") == 0;
	if (letter == 'P')
		return strcmp(v, "rsi") == 0; /* the others: paper_sim.c, twopc_main.c */
	if (letter != 'p' || !bench_take_numbers(v, TPCW_ITEMS, 10000000, &x, 1, &n))
		return false;
	p->products = x;
	return true;
}

/* The work of clients that share a thread would overlap. */
const char *
tpcw_sim_fits(const struct tpcw_params *p, const struct bench_sim *s)
{
	return p->work_us != 0 && s->coroutines > 1 ? "--work needs a thread for each client" : NULL;
}

static const char *
fits(const void *arg)
{
	if (preassigned)
		return "--oracle preassigned needs --protocol rsi-paper; see also namdb bench oracle";
	return tpcw_sim_fits(arg, &sim);
}

int
bench_tpcw_sim(int argc, char **argv)
{
	static const struct option opt[] = { { "products", 1, NULL, 'p' }, { "orders", 1, NULL, 'o' },
		{ "protocol", 1, NULL, 'P' }, { "work", 1, NULL, 'W' }, { "snapshot", 0, NULL, 'R' },
		{ "oracle", 1, NULL, 'O' }, BENCH_SIM_OPTIONS };
	static const struct bench_sim_user user = { .bench = "tpcw",
		.protocol = "rsi",
		.params = &params,
		.side_size = sizeof(struct tpcw_side),
		.usage = usage,
		.take = take,
		.bytes = bytes,
		.entries = entries,
		.begin = begin,
		.tables = tables,
		.prepare = prepare,
		.load = load,
		.warm = warm,
		.client = client,
		.full = full,
		.check = check,
		.fits = fits,
		.more = tpcw_sim_more };
	sim = (struct bench_sim){ .number = { 1, 10, 20, 30, 40, 50, 60, 70 },
		.points = 8,
		.coroutines = 1,
		.compute = 4,
		.storage = 3,
		.seconds = 0.01,
		.seed = 1 };
	return bench_sim_main(argc, argv, opt, &sim, &params, &user);
}
