/*
 * aside.h -- threads beside the workers: a coroutine computes there what would keep its own thread
 * from the other coroutines for too long.
 *
 * Between nam_aside_begin and nam_aside_end the coroutine runs on another thread, on its own stack.
 * It may compute, allocate, and take locks that no thread holds for long; it must not yield, park,
 * or touch what belongs to its scheduler's thread (endpoints, transactions, other coroutines). To
 * the other coroutines nam_aside_begin is a yield. The function that calls nam_aside_begin
 * uses no errno,
 * pthread_self() or thread-local variable: the compiler may keep their address over the
 * change of threads.
 */
#ifndef NAM_BASE_ASIDE_H
#define NAM_BASE_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

struct nam_sched;
struct nam_asides;

/* At most so many threads, which begin when they are needed. NULL: no memory. */
struct nam_asides *nam_asides_open(unsigned most);
/* No coroutine is aside. */
void nam_asides_close(struct nam_asides *a);
/* Where the coroutines of s go; NULL = nowhere, as before the first call. Owner thread,
 * while none is
 * there. */
void nam_sched_asides(struct nam_sched *s, struct nam_asides *a);

/* True: the coroutine runs aside now, and nam_aside_end(true) ends it. False: all is as it
 * was, on a
 * plain stack, without threads beside it, or because the coroutine is there already. */
bool nam_aside_begin(void);
void nam_aside_end(bool went);
/* If the coroutine runs aside, it goes back before nam_aside_end: for what only its own
 * thread may do. */
void nam_aside_home(void);
/* Does the running coroutine run aside? */
bool nam_is_aside(void);

/* About so many steps of a nanosecond are worth the two switches. */
enum { NAM_ASIDE_STEPS = 500000 };
static inline bool
nam_aside_for(uint64_t steps)
{
	return steps >= NAM_ASIDE_STEPS && nam_aside_begin();
}

#endif
