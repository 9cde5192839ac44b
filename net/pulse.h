/*
 * pulse.h -- what tells a worker that is slow from one that hangs: for whoever watches over the
 * workers of a process.
 *
 * Beside net.h, because nobody but such a watch asks. Any thread, while the worker is open.
 */
#ifndef NAM_NET_PULSE_H
#define NAM_NET_PULSE_H

#include <net/net.h>

/*
 * CPU time of the thread that runs, or last ran, the worker's loop: one that computes without
 * turning its loop uses it, one that is blocked does not. 0 where that is not known, always in a
 * simulated cluster.
 */
uint64_t net_worker_cpu_ns(const struct net_worker *w);
/* The longest wait for a verb: if nothing comes back meanwhile, the verb has ended with
 * NAM_GONE. */
uint64_t net_timeout_ns(const struct net_worker *w);

#endif
