/*
 * cluster.h -- a bench by many clients in virtual time, on machines that a model describes
 * (net/sim/nic.h): the cluster, the time measured and its report. A bench gives its tables and its
 * clients.
 *
 * Each compute machine is one process: a worker for the heart, recovery and sweeps, and a worker
 * for each of its client threads. The code under test is the code that runs elsewhere. The model's
 * turns are all that is charged for computing beside verbs.
 */
#ifndef NAM_BENCH_SIM_CLUSTER_H
#define NAM_BENCH_SIM_CLUSTER_H

#include "plot.h"
#include "published.h"

#include <bench/bench.h>
#include <compute_node/cn.h>
#include <net/sim/sim.h>

#include <stdatomic.h>

enum { BENCH_SIM_POINTS = 32, BENCH_SIM_TABLES = 12, BENCH_SIM_LANES = 256 };

/* What the options say. */
struct bench_sim {
	const struct net_sim_model *model;
	unsigned number[BENCH_SIM_POINTS], points;
	bool threads;        /* number[] are threads of a compute machine; else clients of all */
	unsigned coroutines; /* clients that share a thread */
	unsigned clients;    /* of all machines, at the point that runs */
	unsigned compute, storage;
	unsigned lanes;       /* of the oracle; 0: as fits the model */
	double seconds, warm; /* virtual; warm: bench_sim_main has its default */
	uint64_t seed;
	bool json;
	struct bench_sim_plot plot;
};

/* One point: what was measured with a number of clients. */
struct bench_sim_point {
	unsigned clients, threads; /* threads: of a compute machine, at most */
	double seconds;
	/* commits, aborts and refused: of the time measured; the rest: of all time */
	struct bench_slice sum;
	uint64_t ever; /* commits and refused, of all time */
	/* all compute machines, in the time measured */
	uint64_t messages, bytes_in, bytes_out;
	/* shares of the time: of the words that give out commit ids, the busiest and the idlest */
	double lane_most, lane_least;
	double port_in, port_out; /* shares of the time, of the busiest storage node */
	uint64_t bad;             /* what does not hold */
};

/*
 * A bench. A machine's part of it is `side_size` bytes, zeroed at first; every call but begin and
 * full runs in a coroutine.
 */
struct bench_sim_user {
	const char *bench;    /* its name */
	const char *protocol; /* of several that it has; may be NULL */
	const void *params;
	size_t side_size;
	void (*usage)(FILE *to);
	/* Takes an option that is not of every bench. */
	bool (*take)(void *params, int letter, char *value);
	/* NULL, or why the options do not fit each other. May be NULL itself. */
	const char *(*fits)(const void *params);
	/* Bytes that its tables need of all storage nodes, and entries of a pointer cache. */
	uint64_t (*bytes)(const void *params);
	size_t (*entries)(const void *params);
	/* Before a process attaches: services on the storage nodes 1.., which have regions of so
	 * many bytes; and after the simulator has been closed. May be NULL. */
	nam_status (*host)(const void *params, struct net_sim *sim, unsigned nodes, uint64_t region);
	void (*unhost)(const void *params);
	/* Fills a machine's side. counts: one of each client, as the slices lie in the cluster. */
	void (*begin)(void *side, const struct bench_sim *p, unsigned machine, struct net_counts *counts);
	/* The side's tables, for txn_table_open by the other machines. How many. */
	unsigned (*tables)(void *side, struct txn_table *out[BENCH_SIM_TABLES]);
	/* The first machine makes the tables, opens and fills them. */
	nam_status (*prepare)(void *side, const struct cn_place *pl);
	nam_status (*load)(void *side, const struct cn_place *pl);
	/* The others read the rows once, so that their pointer caches are warm. */
	nam_status (*warm)(void *side, const struct cn_place *pl);
	/* A client, until *stop. number: of all machines' clients, from 0. */
	void (*client)(void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out,
	    const atomic_bool *stop);
	/* NULL, or why clients of the side stopped early, so that the rate would be wrong. May be
	 * NULL itself. */
	const char *(*full)(void *side);
	/* Counts what does not hold. side[machine]: all sides. */
	uint64_t (*check)(void *const *side, unsigned machines, const struct cn_place *pl);
	/* Gives the tables' memory back, where the storage nodes outlive the run. For mix.h
	 * only. */
	void (*drop)(void *side, const struct cn_place *pl);
	const struct bench_published *published; /* ends with a NULL system; may be NULL */
	/* Columns or members of its own; may be NULL. point NULL: the columns' heads. */
	void (*more)(const struct bench_sim_point *point, const struct bench_sim *p);
};

/* The options of every bench for getopt_long; a bench's own come before them. */
#define BENCH_SIM_OPTIONS                                                                                    \
	{ "sim", 1, NULL, 'm' }, { "clients", 1, NULL, 'c' }, { "threads", 1, NULL, 't' },                   \
	    { "coroutines", 1, NULL, 'k' }, { "nodes", 1, NULL, 'n' }, { "seconds", 1, NULL, 's' },          \
	    { "warm", 1, NULL, 'w' }, { "seed", 1, NULL, 'S' }, { "lanes", 1, NULL, BENCH_SIM_LANES },       \
	    BENCH_SIM_PLOT_OPTIONS, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' },                      \
	{                                                                                                    \
		0                                                                                            \
	}
/* The common options' lines of the usage. clients, nodes, seconds: defaults as they are shown. */
void bench_sim_usage(FILE *to, const char *clients, const char *nodes, const char *seconds);

/* Reads the options into p, which has the defaults, and into params; runs each point. An exit
 * code. */
int bench_sim_main(int argc, char **argv, const struct option *opt, struct bench_sim *p, void *params,
    const struct bench_sim_user *u);

#endif
