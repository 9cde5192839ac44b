/* conformance_sim.h -- for tests: simulated clusters for net's suite. */
#ifndef NAM_NET_CONFORMANCE_SIM_H
#define NAM_NET_CONFORMANCE_SIM_H

#include <net/conformance/conformance.h>
#include <net/sim/sim.h>

struct sim_world {
	struct net_sim_config cfg;
	void (*attached)(struct net *n); /* may change its nodes' provider; NULL = no change */
	bool serves;                     /* its nodes host net_conf_service */
	struct net_sim *sim;
};

static inline nam_status
sim_world_open(void *arg, unsigned nodes, unsigned nets, struct net **out)
{
	struct sim_world *w = arg;
	w->cfg.nodes = nodes;
	w->cfg.region_bytes = NET_CONF_REGION;
	nam_status st = net_sim_open(&w->sim, &w->cfg);
	for (unsigned r = 1; w->serves && r <= nodes && st == NAM_OK; r++)
		st = net_sim_serve(w->sim, r, net_conf_service, NET_CONF_SERVICES);
	for (unsigned i = 0; i < nets && st == NAM_OK; i++) {
		st = net_sim_attach(w->sim, &out[i]);
		if (st == NAM_OK && w->attached != NULL)
			w->attached(out[i]);
	}
	return st;
}

static inline void
sim_world_close(void *arg, struct net **net, unsigned nets)
{
	struct sim_world *w = arg;
	for (unsigned i = 0; i < nets; i++)
		net_close(net[i]);
	net_sim_close(w->sim);
}

static inline bool
sim_world_run(void *arg, struct net_worker **workers, unsigned n)
{
	struct sim_world *w = arg;
	(void)workers;
	(void)n;
	return net_sim_run(w->sim, NULL, NULL);
}

static inline struct net_conf_env
sim_world_env(struct sim_world *w, const char *name, bool breaks)
{
	return (struct net_conf_env){ .name = name,
		.kind = NET_SIM,
		.seed = w->cfg.seed,
		.breaks = breaks,
		.arg = w,
		.open = sim_world_open,
		.close = sim_world_close,
		.run = sim_world_run };
}

#endif
