/*
 * clock.h -- time of this machine. Only net and the mains may call it: all rooms between ask their
 * net_worker (net_now_ns), so that a simulated cluster has its own time.
 */
#ifndef NAM_BASE_CLOCK_H
#define NAM_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some fixed point; never goes back. */
uint64_t nam_clock_ns(void);
/* Microseconds since 1970-01-01 UTC. */
int64_t nam_clock_wall_us(void);

#endif
