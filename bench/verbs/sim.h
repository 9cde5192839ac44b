/* sim.h -- verbs in virtual time, on a model of RNICs (net/sim/nic.h). */
#ifndef NAM_BENCH_VERBS_SIM_H
#define NAM_BENCH_VERBS_SIM_H

#include <net/net.h>
#include <net/sim/nic.h>

struct verbs_sim_load {
	enum net_code code;
	uint32_t size;
	bool hot; /* all on one word; else on random places of 128 MiB */
	unsigned machines, threads,
	    window; /* client machines, threads of each, operations under way of each thread */
	/* out: of the storage node, and of the first client machine */
	struct net_sim_use *node, *machine;
};

/* Operations a second, and the mean time from posting one to its completion. */
nam_status bench_verbs_sim_run(const struct net_sim_model *m, const struct verbs_sim_load *l, double *rate,
    double *latency_ns, struct nam_err *err);

/* The name of what is busiest of a storage node and a client machine, and its share of the time. */
const char *bench_verbs_sim_limit(
    const struct net_sim_use *node, const struct net_sim_use *machine, double *share);
double bench_verbs_sim_busiest(const struct net_sim_use *u);

/* The tables of `namdb bench verbs --sim NAME`. An exit code. */
int bench_verbs_sim(const char *name, bool json);

#endif
