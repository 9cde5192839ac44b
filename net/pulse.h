/*
 * pulse.h -- tells a slow worker from one that hangs, for a watch over the workers of a process.
 *
 * Apart from net.h, because only such a watch needs it. Any thread, while the worker is open.
 */
#ifndef NAM_NET_PULSE_H
#define NAM_NET_PULSE_H

#include <net/net.h>

/*
 * CPU time of the thread that runs, or last ran, the worker's loop: a thread that computes without
 * returning to its loop uses CPU time, a blocked one does not. 0 = not known, always in a simulated
 * cluster.
 */
uint64_t net_worker_cpu_ns(const struct net_worker *w);
/* The longest wait for a verb: if no answer comes meanwhile, the verb has ended with NAM_GONE. */
uint64_t net_timeout_ns(const struct net_worker *w);

#endif
