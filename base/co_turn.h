/* co_turn.h -- for those who measure coroutines. */
#ifndef NAM_BASE_CO_TURN_H
#define NAM_BASE_CO_TURN_H

struct nam_sched;

/* over(arg) is called whenever a coroutine has given the thread back. NULL = not any more. Owner
 * thread. */
void nam_sched_on_turn(struct nam_sched *s, void (*over)(void *arg), void *arg);

#endif
