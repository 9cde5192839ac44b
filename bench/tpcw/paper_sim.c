/* paper_sim.c -- `namdb bench tpcw --sim MODEL --protocol rsi-paper`: RSI as the NAM paper has
 * it, in virtual time (sim/cluster.h); figure 6's RSI. */
#include "paper.h"

#include <net/region_format.h>

#include <stdlib.h>
#include <string.h>

enum {
	GROUP = 64,    /* records of one READ or WRITE */
	RATE = 150000, /* checkouts of a client per second, at most */
	ROOM = 256,    /* MiB of a node, for what every cluster has */
	WORK = 22,     /* us, as of two-phase commit */
};

static struct bench_sim sim;
static struct tpcw_paper run;
static bool work_given;

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t
products_on(unsigned node)
{
	return (run.tpcw.products + run.nodes - 1 - node) / run.nodes;
}

/* Comes first at each point. */
static uint64_t
bytes(const void *arg)
{
	(void)arg;
	double most = RATE * (sim.seconds + sim.warm);
	run.clients = sim.clients;
	run.nodes = sim.storage > 1 ? sim.storage - 1 : 1;
	run.first = sim.storage > 1 ? 2 : 1;
	run.orders = (uint64_t)(2 * most / run.nodes) + GROUP;
	run.marks = (uint64_t)(2 * most * run.clients) + 4096;
	uint64_t products = products_on(0) * sizeof(struct tpcw_paper_product);
	uint64_t orders = run.clients * (run.orders * sizeof(struct tpcw_paper_order) + NET_EXTENT);
	return sim.storage * (products + orders + run.marks + ((uint64_t)ROOM << 20));
}

static size_t
entries(const void *arg)
{
	(void)arg;
	return 1024; /* no table has rows */
}

static void
begin(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts)
{
	(void)machine;
	run.tpcw.seed = p->seed;
	*(struct tpcw_paper_side *)side = (struct tpcw_paper_side){ .run = &run, .counts = counts };
}

static unsigned
tables(void *side, struct txn_table *out[BENCH_SIM_TABLES])
{
	(void)side;
	(void)out;
	return 0;
}

static nam_status
take_bytes(const struct cn_place *pl, unsigned region, uint64_t n, net_addr *out)
{
	return net_extent_take(pl->net, region, (unsigned)((n + NET_EXTENT - 1) / NET_EXTENT), out);
}

static nam_status
prepare(void *side, const struct cn_place *pl)
{
	(void)side;
	free(run.area);
	run.area = calloc((size_t)run.clients * run.nodes, sizeof *run.area);
	if (run.area == NULL)
		return NAM_NOMEM;
	nam_status st = take_bytes(pl, 1, run.marks, &run.mark);
	for (unsigned d = 0; st == NAM_OK && d < run.nodes; d++) {
		st = take_bytes(
		    pl, run.first + d, products_on(d) * sizeof(struct tpcw_paper_product), &run.product[d]);
		for (unsigned i = 0; st == NAM_OK && i < run.clients; i++)
			st = take_bytes(pl, run.first + d, run.orders * sizeof(struct tpcw_paper_order),
			    &run.area[i * run.nodes + d]);
	}
	return st;
}

static nam_status
load(void *side, const struct cn_place *pl)
{
	(void)side;
	struct tpcw_paper_product *group = calloc(GROUP, sizeof *group);
	nam_status st = group != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned d = 0; st == NAM_OK && d < run.nodes; d++)
		for (uint64_t n, i = 0; st == NAM_OK && i < products_on(d); i += n) {
			n = products_on(d) - i < GROUP ? products_on(d) - i : GROUP;
			for (uint64_t k = 0; k < n; k++)
				tpcw_product_fill(&group[k].row, (int64_t)((i + k) * run.nodes + d));
			st = net_write1(pl->net, net_plus(run.product[d], i * sizeof *group), group,
			    (uint32_t)(n * sizeof *group), NULL);
		}
	free(group);
	return st;
}

static nam_status
warm(void *side, const struct cn_place *pl)
{
	(void)side;
	(void)pl;
	return NAM_OK;
}

/* ---- the check: from outside, by READs ------------------------------------------------------- */

struct found {
	uint64_t unread, products, stock, locked, orders, torn;
	int64_t sold, ordered;
};

static void
look_at_product(struct found *f, const struct tpcw_paper_product *p, int64_t id)
{
	f->products += p->row.id == id;
	f->stock += p->row.stock + p->row.sold != TPCW_STOCK;
	f->locked += (p->word & TPCW_PAPER_LOCK) != 0;
	f->sold += p->row.sold;
}

/* False: there is no order yet. */
static bool
look_at_order(struct found *f, const struct tpcw_paper_order *o, unsigned client)
{
	int64_t cents = 0;
	bool torn = o->word % run.clients != (client + 1) % run.clients;
	if (o->word == 0)
		return false;
	for (unsigned i = 0; i < TPCW_ITEMS; i++) {
		const struct tpcw_line *l = &o->line[i].row;
		torn |= o->line[i].word != o->word || l->order != o->row.id || l->number != i + 1;
		cents += l->price_cents * l->quantity;
		f->ordered += l->quantity;
	}
	f->torn += torn || cents != o->row.total_cents;
	f->orders++;
	return true;
}

static void
look(struct found *f, const struct cn_place *pl, void *room)
{
	struct tpcw_paper_product *p = room;
	struct tpcw_paper_order *o = room;
	for (unsigned d = 0; d < run.nodes; d++) {
		for (uint64_t n, i = 0; i < products_on(d); i += n) {
			n = products_on(d) - i < GROUP ? products_on(d) - i : GROUP;
			f->unread += net_read1(pl->net, net_plus(run.product[d], i * sizeof *p), p,
					 (uint32_t)(n * sizeof *p), NULL) != NAM_OK;
			for (uint64_t k = 0; k < n; k++)
				look_at_product(f, &p[k], (int64_t)((i + k) * run.nodes + d));
		}
		for (unsigned c = 0; c < run.clients; c++) {
			bool more = true;
			for (uint64_t n, i = 0; more && i < run.orders; i += n) {
				n = run.orders - i < GROUP ? run.orders - i : GROUP;
				f->unread +=
				    net_read1(pl->net, net_plus(run.area[c * run.nodes + d], i * sizeof *o),
					o, (uint32_t)(n * sizeof *o), NULL) != NAM_OK;
				for (uint64_t k = 0; more && k < n; k++)
					more = look_at_order(f, &o[k], c);
			}
		}
	}
}

static uint64_t
check(void *const *side, unsigned machines, const struct cn_place *pl)
{
	struct found f = { 0 };
	uint64_t orders = 0;
	void *room = calloc(GROUP, sizeof(struct tpcw_paper_product));
	if (room == NULL)
		return bench_complain("out of memory", 1);
	look(&f, pl, room);
	free(room);
	for (unsigned k = 0; k < machines; k++)
		orders += ((const struct tpcw_paper_side *)side[k])->orders;
	uint64_t bad = bench_complain("memory that cannot be read", f.unread);
	bad += bench_complain("products missing", run.tpcw.products - f.products);
	bad += bench_complain("products whose stock and sold do not add up", f.stock);
	bad += bench_complain("stock sold differs from order lines", f.sold != f.ordered);
	bad += bench_complain("orders missing", f.orders != orders);
	bad += bench_complain("orders whose lines are not theirs", f.torn);
	bad += bench_complain("records still locked", f.locked);
	fprintf(stderr, "check: %llu products, %llu orders, %lld sold: %s\n", (unsigned long long)f.products,
	    (unsigned long long)f.orders, (long long)f.sold, bad ? "WRONG" : "all holds");
	return bad;
}

static const char *
full(void *side)
{
	const struct tpcw_paper_side *s = side;
	return s->full ? "the orders do not fit; measure for less time (--seconds)" : NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcw --sim MODEL --protocol rsi-paper [options]\n"
	    "The checkout by RSI as the NAM paper has it, in virtual time on machines of a model: fdr4x "
	    "(the\n"
	    "paper's cluster) or cx6. The first storage node has the timestamps, the others have the data.\n"
	    "  --products N     products of about 1 KB (default 1000000)\n"
	    "  --one-at-a-time  a client waits for each verb before it posts the next; without it, it posts\n"
	    "                   all verbs of a step at once\n"
	    "  --oracle O       preassigned: the paper's, the only one here\n"
	    "  --work US        what a client computes for each checkout, in microseconds (default 22; 0\n"
	    "                   with --one-at-a-time)\n");
	bench_sim_usage(to, "1,10,20,30,40,50,60,70", "4+4", "0.01");
}

static bool
take(void *arg, int letter, char *v)
{
	struct tpcw_paper *p = arg;
	unsigned n, x;
	switch (letter) {
	case 'P':
		return strcmp(v, "rsi-paper") == 0;
	case 'O':
		return strcmp(v, "preassigned") == 0;
	case 'o':
		return p->one_at_a_time = true;
	case 'W':
		return work_given = bench_take_numbers(v, 0, 1000000, &p->tpcw.work_us, 1, &n);
	case 'p':
		if (!bench_take_numbers(v, TPCW_ITEMS, 10000000, &x, 1, &n))
			return false;
		p->tpcw.products = x;
		return true;
	default:
		return false;
	}
}

static const char *
fits(const void *arg)
{
	const struct tpcw_paper *p = arg;
	if (!work_given)
		run.tpcw.work_us = p->one_at_a_time || sim.coroutines > 1 ? 0 : WORK;
	return sim.model == NULL ? "--protocol rsi-paper needs --sim" : tpcw_sim_fits(&p->tpcw, &sim);
}

int
bench_tpcw_paper(int argc, char **argv)
{
	static const struct option opt[] = { { "products", 1, NULL, 'p' }, { "protocol", 1, NULL, 'P' },
		{ "one-at-a-time", 0, NULL, 'o' }, { "work", 1, NULL, 'W' }, { "oracle", 1, NULL, 'O' },
		BENCH_SIM_OPTIONS };
	static const struct bench_sim_user user = { .bench = "tpcw",
		.protocol = "rsi-paper",
		.params = &run,
		.side_size = sizeof(struct tpcw_paper_side),
		.usage = usage,
		.take = take,
		.fits = fits,
		.bytes = bytes,
		.entries = entries,
		.begin = begin,
		.tables = tables,
		.prepare = prepare,
		.load = load,
		.warm = warm,
		.client = tpcw_paper_client,
		.full = full,
		.check = check,
		.more = tpcw_sim_more };
	sim = (struct bench_sim){ .number = { 1, 10, 20, 30, 40, 50, 60, 70 },
		.points = 8,
		.coroutines = 1,
		.compute = 4,
		.storage = 4,
		.seconds = 0.01,
		.seed = 1 };
	run = (struct tpcw_paper){ .tpcw = { .products = 1000000 } };
	work_given = false;
	int code = bench_sim_main(argc, argv, opt, &sim, &run, &user);
	free(run.area);
	return code;
}
