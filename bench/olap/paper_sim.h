/*
 * paper_sim.h -- the NAM paper's joins and aggregations in virtual time, on machines that a model
 * describes.
 *
 * Those by verbs are olap's own, over simulated nodes; each thread of a compute machine is a
 * participant. Those by sockets are olap/shuffle's: a machine is one node, whose threads share its
 * work evenly. What all of them compute is charged by bench_work.
 */
#ifndef NAM_BENCH_OLAP_PAPER_SIM_H
#define NAM_BENCH_OLAP_PAPER_SIM_H

#include "join_data.h"
#include "work.h"

#include <net/sim/mail.h>

enum { PAPER_WIDTH = 16 };

/* A cluster, and what lies in it: the same tuples in all ways. */
struct paper_cluster {
	const struct net_sim_model *model;
	unsigned compute, storage, threads; /* threads of a compute machine */
	uint64_t rows;                      /* of a relation, on each compute machine */
	uint64_t seed;
	struct bench_work work;
};

/* A relation: fills n tuples, number first and following. */
struct paper_relation {
	void (*fill)(const void *arg, uint64_t first, unsigned n, void *tuples);
	const void *arg;
};

struct paper_result {
	double seconds;
	uint64_t sums[3];            /* pairs or groups, and two sums: as what asks has them */
	double out_bytes, port, cpu; /* of the compute machines; shares of the time, the busiest */
	double stack;                /* sockets' core; 0 of verbs */
	double storage;              /* port of the busiest storage node; 0 of sockets */
	double kept_out;             /* share of tuples that filters left out */
};

/* A join, left with right, of both relations' rows. */
nam_status bench_paper_join_verbs(const struct paper_cluster *c, const struct paper_relation rel[2],
    enum olap_algorithm a, struct paper_result *out);
nam_status bench_paper_join_sockets(const struct paper_cluster *c, const struct paper_relation rel[2],
    const struct net_sim_stack *stack, bool filters, struct paper_result *out);
/* An aggregation: a sum for each key. */
nam_status bench_paper_sums_verbs(const struct paper_cluster *c, const struct paper_relation *rel,
    uint64_t groups, enum olap_agg_algorithm a, struct paper_result *out);
nam_status bench_paper_sums_sockets(const struct paper_cluster *c, const struct paper_relation *rel,
    const struct net_sim_stack *stack, struct paper_result *out);

/* What a join's pairs and an aggregation's groups add to result->sums. */
nam_status bench_paper_take_pairs(void *sums, const struct olap_pairs *p);
nam_status bench_paper_take_groups(void *sums, const uint64_t *groups, unsigned n);

#endif
