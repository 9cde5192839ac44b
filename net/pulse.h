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
/* Whoever waits for a verb waits no longer than this: where nothing comes back meanwhile, it has
 * ended with NAM_GONE. */
uint64_t net_timeout_ns(const struct net_worker *w);

#endif
