/*
 * conformance.h -- one suite for every provider: what net.h promises, checked from above net.h.
 *
 * A test with a cluster of its own (the simulator's, storage_node's) fills a net_conf_env and calls
 * net_conformance. Each test gets a fresh cluster. A failed check is one line on stderr; the suite
 * goes on.
 *
 * Threads: called on one thread; run() may start more, one per worker.
 */
#ifndef NAM_NET_CONFORMANCE_H
#define NAM_NET_CONFORMANCE_H

#include <net/ring/service.h>

/* Every region of a cluster under test has at least this much, and only the suite uses it. */
#define NET_CONF_REGION (UINT64_C(8) << 20)

struct net_conf_env {
	const char *name;   /* for messages */
	enum net_kind kind; /* the kind that net_node must report; NET_SHM: net_direct must give
			     * pointers, else NULL */
	uint64_t seed;      /* for messages: how to run it again; 0 = none */
	/* True for a fabric that breaks every order that net.h does not promise: code that relies
	 * on it must be caught. */
	bool breaks;
	void *arg;
	/* A fresh cluster of nodes 1..nodes (at most 3), seen by `nets` processes (at most 2). */
	nam_status (*open)(void *arg, unsigned nodes, unsigned nets, struct net **out);
	/* Closes the nets and takes the cluster down; workers are closed before. */
	void (*close)(void *arg, struct net **net, unsigned nets);
	/* Runs all workers until all their coroutines have ended. False: they are stuck. */
	bool (*run)(void *arg, struct net_worker **w, unsigned n);
};

/* Returns how many checks failed: 0 = all passed. */
int net_conformance(const struct net_conf_env *env);

/* The part about service.h, on clusters whose nodes host these. */
enum { NET_CONF_SERVICES = 6 };
extern const struct net_service net_conf_service[NET_CONF_SERVICES];
int net_conformance_services(const struct net_conf_env *env);

/* A run() for real fabrics: a thread per worker, joined. */
bool net_conf_run_threads(void *arg, struct net_worker **w, unsigned n);

#endif
