/*
 * load.h -- the size of a new connection's buffers, by the memory and the network capacity that the
 * machine has left (Load-aware buffer registration, RDMA-Mongo 4.2).
 *
 *      load = (1 - THR/B) * (1 - U/T)       THR of B: network in use; U of T: memory in use
 *      size = k * S * load  where load < threshold, else S
 *
 * A size is chosen when a connection is made, and stays. A connection made while the machine is
 * short of memory, or the network is full, gets less, and so leaves more to the present
 * connections. We differ from the paper in a minimum size, and in that a load that cannot be
 * measured counts as idle.
 *
 * Threads: any.
 */
#ifndef NAM_NET_LOAD_H
#define NAM_NET_LOAD_H

#include <stddef.h>
#include <stdint.h>

/* Parts of a whole, 0 to 1. */
struct net_load {
	double memory_free, network_free;
};

/* The formula. base: the size under no load; least: the minimum; both multiples of 4096, as is the
 * answer. */
size_t net_buffer_for(const struct net_load *load, size_t base, size_t least);

/* The load of this machine, measured a moment ago at most. */
void net_load_now(struct net_load *out);

/* net_load_now and net_buffer_for in one call. */
size_t net_buffer_size(size_t base, size_t least);

/* ---- the parts of net_load_now, for tests ---- */

/* MemAvailable over MemTotal of a text like /proc/meminfo; 1: the text has no such lines. */
double net_load_memory(const char *meminfo);
/* The free part of a port that has moved so many bytes, in its busier direction, in so much time.
 * bits_per_s 0 = unknown: all of it. */
double net_load_port(uint64_t bytes, uint64_t ns, uint64_t bits_per_s);

#endif
