/*
 * nic.h -- what a simulated fabric costs: a model of RNICs, wires and cores.
 *
 * Without a model a verb takes a random time of flight (net_sim_config.latency_ns). With one, each
 * storage node and each compute process is a machine with one RNIC, and a verb uses, in this order:
 *
 *	poster's core | poster's RNIC | its port, out | wire | node's port, in | node's RNIC, its
 *	memory, its atomics engine | node's port, out | wire | poster's port, in | poster's core
 *
 * Each of these serves one message at a time and keeps the others waiting, so that the one with the
 * most work limits the whole. bench/verbs/README.md says where the numbers of a model come from.
 */
#ifndef NAM_NET_SIM_NIC_H
#define NAM_NET_SIM_NIC_H

#include <stdint.h>

enum { NET_SIM_PORTS = 2, NET_SIM_SHARDS = 32 };

/* Times in ns, or in ps where a name ends so. A model is constant and outlives its simulators. */
struct net_sim_model {
	const char *name, *what;
	/* the wire */
	uint32_t wire_ns;   /* cables and switch, one way */
	uint32_t jitter_ns; /* uniform, on top */
	uint32_t ports;     /* of a machine, 1 to NET_SIM_PORTS; a queue pair uses one of them */
	uint32_t port_ps;   /* a byte, of a port in one direction */
	uint32_t mtu;       /* payload of a packet */
	uint32_t header;    /* bytes of a packet beside its payload */
	/* the RNIC */
	uint32_t message_ps; /* between two messages that it starts, or that reach it */
	uint32_t inline_max; /* a longer payload is fetched from the poster's memory: dma_ns */
	uint32_t dma_ns;     /* a READ of the machine's own memory by its RNIC */
	uint32_t atomic_ps;  /* between two atomics of an RNIC */
	uint32_t address_ns; /* between two atomics of one address (bits 3 to 11 of it) */
	/*
	 * What the RNIC keeps on its chip. Contexts of queue pairs: the last `contexts` used. Work
	 * requests that are out: of more than `requests`, those too many are read again. A miss
	 * occupies the RNIC for miss_ps and makes its message dma_ns later.
	 */
	uint32_t contexts, requests;
	uint32_t miss_ps;
	/* a core: 450 cycles and the like */
	uint32_t cores;       /* of a machine; more workers than cores share them */
	uint32_t post_ns;     /* posting a verb */
	uint32_t doorbell_ns; /* telling the RNIC: once for what a batch posts on a queue pair */
	uint32_t poll_ns;     /* taking a completion */
	uint32_t turn_ns;     /* a coroutine's turn */
	/*
	 * A storage node's services: so many of its cores, NET_SIM_SHARDS at most, each for the
	 * clients of some rings, and a core's time for a request, from the ring to the answer. 0:
	 * they cost nothing but a moment (serve.c).
	 */
	uint32_t shards, serve_ns;
};

/* NULL: no model has that name. */
const struct net_sim_model *net_sim_model_find(const char *name);
/* Number i of those there are, from 0. NULL: no more. */
const struct net_sim_model *net_sim_model_at(unsigned i);

/* What one machine did since net_sim_use_begin, each as a share of the time: 1 = all the time. */
struct net_sim_use {
	double rnic, in, out;      /* in and out: of its busiest port */
	double atomics, address;   /* address: of the busiest one */
	uint64_t hot;              /* its offset in the region */
	double core;               /* of its workers' threads, or a node's shards, mean */
	uint64_t messages, misses; /* misses: of contexts and work requests */
	uint64_t bytes_in, bytes_out;
};

#endif
