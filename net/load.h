/*
 * load.h -- how large a new connection's buffers shall be, by what the machine has left (Load-aware
 * buffer registration, RDMA-Mongo 4.2).
 *
 *	load = (1 - THR/B) * (1 - U/T)       THR of B: network in use; U of T: memory in use
 *	size = k * S * load  where load < threshold, else S
 *
 * Sizes are chosen when a connection is made and stay; who connects while the machine is short of
 * memory or the network is full gets by with less, and so leaves more to those who are there. We
 * differ in a floor, and in that what cannot be learnt counts as idle.
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

/* The formula. base: when nothing is short; least: never less; both multiples of 4096, as is the
 * answer. */
size_t net_buffer_for(const struct net_load *load, size_t base, size_t least);

/* This machine now, a moment old at most. */
void net_load_now(struct net_load *out);

/* Both at once. */
size_t net_buffer_size(size_t base, size_t least);

/* ---- the parts of net_load_now, for tests ---- */

/* MemAvailable over MemTotal of a text like /proc/meminfo; 1: it does not say. */
double net_load_memory(const char *meminfo);
/* How much of a port is free that has moved so many bytes, the busier way, in so much time.
 * bits_per_s 0: unknown, all of it. */
double net_load_port(uint64_t bytes, uint64_t ns, uint64_t bits_per_s);

#endif
