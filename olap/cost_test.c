/* cost_test.c -- the cost model: the paper's comparison, sensible choices, constants that can be
 * measured on any fabric. */
#include "olap_test.h"

#include <olap/cost.h>

/* Figure 7: 1 M x 1 M tuples of 8 bytes, c_mem of 1 ns; a Bloom filter lets a tenth more pass. */
static void
figure_7(void **state)
{
	(void)state;
	const double bytes = 16e6, c_mem = 1e-9, eth = 1e-8, ib = 1e-9;
	for (unsigned s = 0; s <= 10; s++) {
		double x = s / 10.0;
		double ghj_eth = olap_cost_paper(OLAP_PAPER_GHJ, c_mem, eth, bytes, x, 0.1);
		double red_eth = olap_cost_paper(OLAP_PAPER_GHJ_BLOOM, c_mem, eth, bytes, x, 0.1);
		double ghj_ib = olap_cost_paper(OLAP_PAPER_GHJ, c_mem, ib, bytes, x, 0.1);
		double red_ib = olap_cost_paper(OLAP_PAPER_GHJ_BLOOM, c_mem, ib, bytes, x, 0.1);
		double rdma = olap_cost_paper(OLAP_PAPER_RDMA_GHJ, c_mem, ib, bytes, x, 0.1);
		double rrj = olap_cost_paper(OLAP_PAPER_RRJ, c_mem, ib, bytes, x, 0.1);
		/* On Ethernet reducing almost always pays; on IPoIB below 0.8 less the error. */
		assert_true(x > 0.81 || red_eth < ghj_eth);
		assert_int_equal(x < 0.69, red_ib < ghj_ib);
		assert_true(rrj < rdma && rdma < ghj_ib && ghj_ib < ghj_eth);
	}
	assert_true(olap_cost_paper(OLAP_PAPER_RRJ, c_mem, ib, bytes, 1, 0) == 2 * c_mem * bytes);
}

static void
choices(void **state)
{
	(void)state;
	const struct olap_size few = { 1000, 16 }, many = { 16e6, 16 };
	struct olap_cost c = olap_cost_usual;
	/* A small right side is not worth a pass over the left one; unless every tuple of it is
	 * wanted. */
	assert_int_equal(olap_cost_choose(&c, OLAP_INNER, many, few, 2), OLAP_BROADCAST);
	assert_int_equal(olap_cost_choose(&c, OLAP_LEFT, many, few, 2), OLAP_BROADCAST);
	assert_int_equal(olap_cost_choose(&c, OLAP_RIGHT, few, many, 2), OLAP_BROADCAST);
	assert_int_equal(olap_cost_choose(&c, OLAP_FULL, many, few, 2), OLAP_RRJ);
	assert_int_equal(olap_cost_choose(&c, OLAP_INNER, many, many, 2), OLAP_RRJ);
	/* A slow network: the time is that of the bytes. */
	c.network = 1e-8;
	struct olap_estimate e = olap_cost_join(&c, OLAP_RRJ, many, many, 1);
	assert_true(e.seconds >= e.network && e.network > e.memory + e.processor);
	/* Two participants take half of it. */
	struct olap_estimate half = olap_cost_join(&c, OLAP_RRJ, many, many, 2);
	assert_true(half.network * 2 == e.network);
	/* More groups take longer; the classical way is slow where its table leaves the cache. */
	c = olap_cost_usual;
	double a = olap_cost_agg(&c, OLAP_RDMA_AGG, many, 100, 16, 1).seconds;
	double b = olap_cost_agg(&c, OLAP_RDMA_AGG, many, 1e6, 16, 1).seconds;
	double classic = olap_cost_agg(&c, OLAP_CLASSIC_AGG, many, 1e6, 16, 1).seconds;
	assert_true(a < b && b < classic);
}

static struct olap_cost measured;

static void
measure(void *arg)
{
	struct cluster *c = arg;
	assert_int_equal(olap_cost_measure(c->w[0], net_at(1, NET_EXTENT), &measured), NAM_OK);
}

/* On the simulated fabric only the network takes time: a byte 100 ps, a READ two latencies. */
static void
measured_constants(void **state)
{
	(void)state;
	struct cluster c;
	cluster_open(&c, 1, 1, 4 << 20, 1, 0);
	cluster_run(&c, 0, measure, &c);
	assert_true(measured.network > 0.9e-10 && measured.network < 2.5e-10);
	assert_true(measured.round_trip > 1.9e-6 && measured.round_trip < 4e-6);
	assert_true(measured.cache > 0);
	cluster_close(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_7),
		cmocka_unit_test(choices),
		cmocka_unit_test(measured_constants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
