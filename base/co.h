/*
 * co.h -- coroutines: many on one thread, none of them ever blocks it.
 *
 * A scheduler belongs to one thread. nam_sched_run() runs the ready coroutines; the loop of the
 * thread (net's worker loop, or the simulator) then polls the network and wakes coroutines. A
 * coroutine yields the thread only in nam_co_yield and nam_co_park, so code between two of them is
 * atomic to all coroutines of the same thread.
 *
 * Stacks are mapped with a guard page and reused. Switches are 10-20 ns
 * (boost-context). Sanitizers are told about every switch.
 */
#ifndef NAM_BASE_CO_H
#define NAM_BASE_CO_H

#include <stdbool.h>
#include <stddef.h>

struct nam_co;
struct nam_sched;

struct nam_sched *nam_sched_open(void);
/* All coroutines must have ended, and no nam_co_post be under way. */
void nam_sched_close(struct nam_sched *s);
/* On the scheduler's thread: the stacks of coroutines that have ended go back to the system, but
 * for a few. */
void nam_sched_trim(struct nam_sched *s);

/* Starts fn(arg) at the back of the ready queue. Owner thread only. stack 0 = 64 KiB, at most 1
 * GiB. NULL when there is no memory. */
struct nam_co *nam_co_start(struct nam_sched *s, void (*fn)(void *), void *arg, size_t stack);

/* The running coroutine, or NULL on a plain stack. */
struct nam_co *nam_co_self(void);
/* Puts the running coroutine at the back of the ready queue. */
void nam_co_yield(void);
/* Sleeps until woken. A wake that came before the park is not lost: park then returns at once. So a
 * park may also return for an earlier wake: check the condition again. */
void nam_co_park(void);
/* Makes co ready. Owner thread only. Several wakes of a ready or running coroutine count as one. */
void nam_co_wake(struct nam_co *co);
/* nam_co_wake from any thread; co must not have ended when it is called, which the posting thread
 * makes sure of. The owner's loop must be looking (see nam_sched_on_post). */
void nam_co_post(struct nam_co *co);
/* Called by nam_co_post, on the posting thread, to rouse a sleeping owner. */
void nam_sched_on_post(struct nam_sched *s, void (*rouse)(void *), void *arg);

/* Runs the coroutines that are ready now, each once. Returns how many ran. Not from one of its own
 * coroutines; a coroutine of another scheduler may call it. */
int nam_sched_run(struct nam_sched *s);
bool nam_sched_ready(struct nam_sched *s);
/* Coroutines that have not ended. */
int nam_sched_live(struct nam_sched *s);
/* For a loop that runs several schedulers on one thread: ready(arg) is called when a scheduler with
 * nothing to run gets a ready coroutine. Its coroutines that have not ended are counted in *live,
 * until nam_sched_watch is called again. Either may be NULL. Owner thread. */
void nam_sched_watch(struct nam_sched *s, void (*ready)(void *arg), void *arg, int *live);

/* One pointer per coroutine. net keeps in it the account for verbs that have none of their own
 * (net_account_to). */
void nam_co_set_tag(struct nam_co *co, void *tag);
void *nam_co_tag(struct nam_co *co);

#endif
