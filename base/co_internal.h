/* co_internal.h -- a coroutine, its scheduler, and the threads that run it: for co.c and
 * aside.c. */
#ifndef NAM_BASE_CO_INTERNAL_H
#define NAM_BASE_CO_INTERNAL_H

#include <base/co.h>
#include <base/co_turn.h>

#include <stdatomic.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define CO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CO_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CO_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CO_TSAN 1
#endif
#endif
#ifdef CO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef CO_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum co_state { CO_READY, CO_RUNNING, CO_PARKED, CO_ASIDE, CO_ENDED };

/* A thread's own stack, while a coroutine runs on the thread. */
struct nam_co_thread {
	void *fctx;
#ifdef CO_ASAN
	void *fake;
	const void *bottom;
	size_t size;
#endif
#ifdef CO_TSAN
	void *fiber;
#endif
};

struct nam_co {
	struct nam_sched *sched;            /* i */
	struct nam_co *next;                /* o  in the ready queue or the pool */
	_Atomic(struct nam_co *) post_next; /* a  in the post list; release by poster, acquire by
					     * owner */
	atomic_bool posted;                 /* a  in the post list already: memory stays until
					     * taken */
	enum co_state state;                /* o */
	bool woken;                         /* o  a wake came while not parked */
	void *fctx;                         /* of the thread that runs it, or will */
	struct nam_co_thread *on;           /* the thread that runs it, or ran it last */
	struct nam_co *aside_next;          /* the asides' lock, then a of the list `back` */
	bool goes_aside;                    /* o */
	bool aside; /* o  it runs on a thread beside its own, or is on the way there or back */
	void (*fn)(void *);
	void *arg;
	void *tag;
	char *stack;       /* mapping: guard page, then stack */
	size_t stack_size; /* without the guard page */
#ifdef CO_ASAN
	void *fake;
#endif
#ifdef CO_TSAN
	void *fiber;
#endif
};

struct nam_sched {
	struct nam_co *head, *tail; /* ready queue */
	struct nam_co *pool;        /* ended coroutines with their stacks */
	struct nam_co *current;
	struct nam_co_thread thread;
	struct nam_asides *asides;     /* i  NULL = none */
	_Atomic(struct nam_co *) back; /* a  came back from aside; pushed by any
	                  * thread, taken whole by the owner */
	atomic_int away;               /* a  the owner counts up, a thread beside it
	                  * down when it touches s no more */
	size_t page;                   /* i */
	int live, pooled;
	int haunting;                       /* ended, but still in the post list */
	_Atomic(struct nam_co *) post_list; /* a  pushed by any thread, taken whole by the owner */
	void (*rouse)(void *);
	void *rouse_arg;
	void (*ready)(void *);
	void *ready_arg;
	int *watched_live;
	void (*over)(void *);
	void *over_arg;
};

/* Switches from the stack of the calling thread, t, to co; returns when co leaves it. */
void nam_co_switch_to(struct nam_co_thread *t, struct nam_co *co);
/* Switches from the coroutine to the stack of the thread that runs it. */
void nam_co_leave(struct nam_co *co);
/* aside.c: co has left its own thread, which hands it on. */
void nam_asides_take(struct nam_asides *a, struct nam_co *co);
/* co waits for its own thread; the calling thread will not touch it any more. */
void nam_co_give_back(struct nam_co *co);

#endif
