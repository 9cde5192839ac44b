/*
 * core.h -- what a thread does between two looks at memory that another thread writes: it offers
 * its core to other threads, and learns whether they want it for long.
 *
 * sched_yield(2) is the shortest wait while cores are idle. Beside threads that compute without end
 * it gives them the core for whole slices of time, some milliseconds each, where a thread that has
 * slept runs as soon as it wakes. So a yield that took long says: sleep instead, for a while.
 */
#ifndef NAM_BASE_CORE_H
#define NAM_BASE_CORE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NAM_CORE_LONG_NS = 200000,    /* so long a yield went to a thread that computes */
	NAM_CORE_AGAIN_NS = 20000000, /* the next yield after one */
};

/* Of one thread. Zeros: nothing is known yet. */
struct nam_core {
	uint64_t not_before; /* nanoseconds of nam_clock_ns */
};

/* Lets other threads have the core. False: other threads want it for long, and the caller sleeps
 * instead; either no yield was made, or it took long. Takes two looks at the clock. */
bool nam_core_yield(struct nam_core *c);
/* The next yield would not be made. Takes a look at the clock. */
bool nam_core_is_wanted(const struct nam_core *c);

#endif
