/*
 * cost.h -- what a join or an aggregation will take: the NAM paper's formulas, with a term for the
 * processor, and constants measured on this machine and fabric.
 *
 * Three terms, in seconds of one participant: memory (bytes that pass), network (bytes over the
 * wire, if the nodes' memory is not mapped), processor (tuples that are partitioned, put into
 * tables, looked up). Memory and processor add up; the network's part overlaps with them,
 * because WRITEs and READs ahead run in the background. So the time is the greater of both.
 */
#ifndef NAM_OLAP_COST_H
#define NAM_OLAP_COST_H

#include <olap/olap.h>

/* Seconds each. */
struct olap_cost {
	double memory;     /* a byte that passes once: the paper's c_mem */
	double network;    /* a byte over the wire: c_net; 0 = the nodes' memory is mapped */
	double round_trip; /* a READ of 8 bytes */
	double partition;  /* a tuple to its write buffer */
	double build;      /* a tuple into a table in the cache */
	double probe;      /* a look into such a table */
	double miss;       /* more, if the table does not fit the cache */
	size_t cache;      /* bytes of it */
};

/* Of a machine like that of bench/olap/README.md, with mapped memory: for tests and simulations. */
extern const struct olap_cost olap_cost_usual;
/* Measures all of them. In a coroutine; takes some 60 ms. at: an extent that may be READ. */
nam_status olap_cost_measure(struct net_worker *w, net_addr at, struct olap_cost *out);

struct olap_estimate {
	double memory, network, processor, seconds;
};

/* One side of a join. */
struct olap_size {
	double tuples;
	uint32_t width;
};
/* By so many participants side by side. bits: the fan-out, of OLAP_RRJ. */
struct olap_estimate olap_cost_join(const struct olap_cost *c, enum olap_algorithm a, struct olap_size left,
    struct olap_size right, unsigned workers);
/* The one that is estimated to be the fastest; of those that the kind allows. */
enum olap_algorithm olap_cost_choose(const struct olap_cost *c, enum olap_kind kind, struct olap_size left,
    struct olap_size right, unsigned workers);
/* width: of a group, its key and a word for each aggregate. */
struct olap_estimate olap_cost_agg(const struct olap_cost *c, enum olap_agg_algorithm a, struct olap_size in,
    double groups, uint32_t width, unsigned workers);

/*
 * GHJ by messages between so many nodes that share nothing (olap/shuffle); c->network is a byte's
 * cost over their sockets, both ends, and c->miss that of a look into a filter. bits: of a Bloom
 * filter for each key, 0 = none; error: the share of tuples without a partner that it lets pass.
 * selectivity: the share of either side that has a partner.
 */
struct olap_estimate olap_cost_ghj(const struct olap_cost *c, struct olap_size left, struct olap_size right,
    unsigned nodes, double selectivity, unsigned bits, double error);
/* True if filters of so many bits are estimated to make that join faster. */
bool olap_cost_filter_pays(const struct olap_cost *c, struct olap_size left, struct olap_size right,
    unsigned nodes, double selectivity, unsigned bits, double error);

/*
 * The paper's own formulas (§5.1, §5.2): memory and network alone, on one machine. selectivity: the
 * share of either side that has a partner; of the algorithms, only GHJ with a Bloom filter asks for
 * it, and it lets `error` more pass.
 */
enum olap_paper { OLAP_PAPER_GHJ, OLAP_PAPER_GHJ_BLOOM, OLAP_PAPER_RDMA_GHJ, OLAP_PAPER_RRJ };
double olap_cost_paper(
    enum olap_paper a, double c_mem, double c_net, double bytes, double selectivity, double error);

#endif
