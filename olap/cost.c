/* cost.c -- estimates of joins and aggregations, and the measuring of their constants. */
#include "table.h"

#include <olap/cost.h>

#include <stdlib.h>
#include <string.h>

enum {
	SAMPLE = 16384, /* tuples: their table fits the cache */
	SAMPLE_BITS = 8,
	ROUNDS = 4,
	SCAN = 64 << 20, /* bytes */
	READS = 16,
	READ_BYTES = 64 << 10,
	TUPLE = 16,
	CACHE = 1 << 20
};

const struct olap_cost olap_cost_usual = { .memory = 4e-11,
	.network = 0,
	.round_trip = 1e-7,
	.partition = 3e-9,
	.build = 4e-9,
	.probe = 6e-9,
	.miss = 2.5e-8,
	.cache = CACHE };

/* ---- measuring ----------------------------------------------------------------- */

/* The least of some rounds: what the machine does beside this only adds. */
static double
least(double a, uint64_t ns, double n)
{
	double each = (double)ns / 1e9 / n;
	return a == 0 || each < a ? each : a;
}

static nam_status
measure_network(struct net_worker *w, net_addr at, struct olap_cost *c)
{
	struct net_op op[READS];
	struct net_batch b;
	char *into = malloc((size_t)READS * READ_BYTES);
	uint64_t word;
	nam_status st = into != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned k = 0; st == NAM_OK && k < ROUNDS; k++) {
		uint64_t t0 = net_now_ns(w);
		st = net_read1(w, at, &word, sizeof word, NULL);
		uint64_t t1 = net_now_ns(w);
		net_batch_init(&b, w, op, READS, NULL);
		for (unsigned i = 0; i < READS; i++)
			net_read(&b, at, into + (size_t)i * READ_BYTES, READ_BYTES);
		if (st == NAM_OK)
			st = net_run(&b);
		c->round_trip = least(c->round_trip, t1 - t0, 1);
		c->network = least(c->network, net_now_ns(w) - t1, (double)READS * READ_BYTES);
	}
	if (net_all_mapped(w))
		c->network = 0;
	free(into);
	return st;
}

static uint64_t
scan(const uint64_t *v, size_t words)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;
	for (size_t i = 0; i + 4 <= words; i += 4) {
		a += v[i];
		b += v[i + 1];
		c += v[i + 2];
		d += v[i + 3];
	}
	return a ^ b ^ c ^ d;
}

static uint64_t
look_up(const struct olap_table *t, const uint64_t *tuple, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++, tuple += 2) {
		uint32_t b = olap_bucket(t, tuple[0]);
		for (uint32_t at = t->off[b]; at < t->off[b + 1]; at++) {
			const uint64_t *u = (const uint64_t *)(const void *)(t->tuples + (size_t)at * TUPLE);
			sum += u[0] == tuple[0] ? u[1] : 0;
		}
	}
	return sum;
}

nam_status
olap_cost_measure(struct net_worker *w, net_addr at, struct olap_cost *out)
{
	struct olap_cost c = { .cache = CACHE, .miss = olap_cost_usual.miss };
	struct olap_memory m = { .limit = (size_t)SCAN };
	struct olap_table t = { 0 };
	struct olap_area part = { 0 };
	uint32_t start[(1 << SAMPLE_BITS) + 2];
	uint64_t *v = malloc(SCAN), sum = 0;
	nam_status st = v != NULL ? measure_network(w, at, &c) : NAM_NOMEM;
	const struct olap_piece some = { (const char *)v, SAMPLE };
	for (size_t i = 0; v != NULL && i < SCAN / 8; i++)
		v[i] = i * UINT64_C(0x9e3779b97f4a7c15) ^ i >> 3;
	for (unsigned k = 0; st == NAM_OK && k < ROUNDS; k++) {
		uint64_t t0 = net_now_ns(w);
		sum += scan(v, SCAN / 8);
		uint64_t t1 = net_now_ns(w);
		st = olap_local_pass(&part, &m, &some, 1, TUPLE, 0, SAMPLE_BITS, start);
		uint64_t t2 = net_now_ns(w);
		if (st == NAM_OK)
			st = olap_table_make(&t, &m, &some, 1, TUPLE, 0, false);
		if (st != NAM_OK)
			break;
		uint64_t t3 = net_now_ns(w);
		sum += look_up(&t, v, SAMPLE);
		c.probe = least(c.probe, net_now_ns(w) - t3, SAMPLE);
		c.memory = least(c.memory, t1 - t0, SCAN);
		/* A local pass reads its tuples twice; a remote one has copies to make instead. */
		c.partition = least(c.partition, t2 - t1, SAMPLE);
		c.build = least(c.build, t3 - t2, SAMPLE);
	}
	volatile uint64_t proof = sum; /* else nothing was computed */
	(void)proof;
	olap_table_free(&t);
	olap_area_free(&part);
	free(v);
	if (st == NAM_OK)
		*out = c;
	return st;
}

/* ---- estimates ------------------------------------------------------------------- */

static struct olap_estimate
total(const struct olap_cost *c, double memory, double network, double processor, unsigned workers)
{
	double each = workers > 0 ? workers : 1;
	struct olap_estimate e = { .memory = memory * c->memory / each,
		.network = network * c->network / each,
		.processor = processor / each };
	double here = e.memory + e.processor;
	/* A job, its phases and their ends. */
	e.seconds = (here > e.network ? here : e.network) + 100 * c->round_trip;
	return e;
}

static double
bytes_of(struct olap_size s)
{
	return s.tuples * s.width;
}

/* A look into a table of so many bytes. */
static double
probe_of(const struct olap_cost *c, double table)
{
	return c->probe + (table > (double)c->cache ? c->miss : 0);
}

struct olap_estimate
olap_cost_join(const struct olap_cost *c, enum olap_algorithm a, struct olap_size left,
    struct olap_size right, unsigned workers)
{
	double tuples = left.tuples + right.tuples, bytes = bytes_of(left) + bytes_of(right);
	double small = left.tuples < right.tuples ? left.tuples : right.tuples, large = tuples - small;
	double tables = small * c->build + large * c->probe;
	double n = workers > 0 ? workers : 1;
	switch (a) {
	case OLAP_RRJ:
		/* Out in the pass, in for the pass and for the join. */
		return total(c, 2 * bytes, 3 * bytes, tuples * c->partition + tables, workers);
	case OLAP_RDMA_GHJ:
		return total(c, 3 * bytes, 3 * bytes, 2 * tuples * c->partition + tables, workers);
	default: {
		/* The right side as the caller has it: each participant makes its table. */
		double table = bytes_of(right), out = c->build + (table > (double)c->cache ? c->miss : 0);
		return total(c, n * table + bytes_of(left), n * table + bytes_of(left),
		    n * right.tuples * out + left.tuples * probe_of(c, table), workers);
	}
	}
}

enum olap_algorithm
olap_cost_choose(const struct olap_cost *c, enum olap_kind kind, struct olap_size left,
    struct olap_size right, unsigned workers)
{
	enum olap_algorithm best = OLAP_RRJ;
	double least_s = olap_cost_join(c, OLAP_RRJ, left, right, workers).seconds;
	if (olap_cost_join(c, OLAP_RDMA_GHJ, left, right, workers).seconds < least_s) {
		best = OLAP_RDMA_GHJ;
		least_s = olap_cost_join(c, OLAP_RDMA_GHJ, left, right, workers).seconds;
	}
	/* A right join's table is of its left side. */
	struct olap_size build = kind == OLAP_RIGHT ? left : right, probe = kind == OLAP_RIGHT ? right : left;
	if (kind != OLAP_FULL && olap_cost_join(c, OLAP_BROADCAST, probe, build, workers).seconds < least_s)
		best = OLAP_BROADCAST;
	return best;
}

struct olap_estimate
olap_cost_agg(const struct olap_cost *c, enum olap_agg_algorithm a, struct olap_size in, double groups,
    uint32_t width, unsigned workers)
{
	double bytes = bytes_of(in), table = 2 * groups * width, n = workers > 0 ? workers : 1;
	if (a == OLAP_CLASSIC_AGG)
		return total(c, bytes + n * table, bytes + n * table,
		    in.tuples * probe_of(c, table) + n * groups * c->build, workers);
	if (table <= OLAP_CACHE)
		return total(c, bytes, bytes, in.tuples * c->probe, workers);
	/* Nearly every tuple goes to its partition. */
	double out = in.tuples * width;
	return total(c, bytes + out, bytes + 2 * out, in.tuples * (c->partition + c->probe), workers);
}

struct olap_estimate
olap_cost_ghj(const struct olap_cost *c, struct olap_size left, struct olap_size right, unsigned nodes,
    double selectivity, unsigned bits, double error)
{
	double n = nodes > 0 ? nodes : 1, away = (n - 1) / n;
	double pass = bits > 0 ? selectivity + (1 - selectivity) * error : 1;
	double tuples = left.tuples + right.tuples, bytes = bytes_of(left) + bytes_of(right);
	double small = left.tuples < right.tuples ? left.tuples : right.tuples, large = tuples - small;
	/* Every node sends its part of a filter, and gets the whole of it. */
	double filters = bits > 0 ? 2 * n * away * tuples * bits / 8 : 0;
	double memory = 4 * pass * bytes + (bits > 0 ? bytes : 0);
	double processor = pass * (2 * tuples * c->partition + small * c->build + large * c->probe) +
			   (bits > 0 ? 2 * tuples * c->miss : 0);
	struct olap_estimate e = total(c, memory, pass * away * bytes + filters, processor, nodes);
	/* A thread sends, or computes. */
	e.seconds = e.memory + e.network + e.processor + 100 * c->round_trip;
	return e;
}

bool
olap_cost_filter_pays(const struct olap_cost *c, struct olap_size left, struct olap_size right,
    unsigned nodes, double selectivity, unsigned bits, double error)
{
	return olap_cost_ghj(c, left, right, nodes, selectivity, bits, error).seconds <
	       olap_cost_ghj(c, left, right, nodes, selectivity, 0, 0).seconds;
}

double
olap_cost_paper(enum olap_paper a, double c_mem, double c_net, double bytes, double selectivity, double error)
{
	double pass = selectivity + error < 1 ? selectivity + error : 1;
	switch (a) {
	case OLAP_PAPER_GHJ:
		return bytes * (4 * c_mem + c_net);
	case OLAP_PAPER_GHJ_BLOOM:
		return bytes * (c_mem + 4 * pass * c_mem + pass * c_net);
	case OLAP_PAPER_RDMA_GHJ:
		return bytes * 3 * c_mem;
	default:
		return bytes * 2 * c_mem;
	}
}
