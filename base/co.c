/* co.c -- the coroutine scheduler over boost-context's three C symbols. */
#include <base/assert.h>
#include <base/co_internal.h>

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* boost-context ships no C header; these are its C symbols (fcontext). */
typedef struct {
	void *fctx;
	void *data;
} transfer_t;
extern transfer_t jump_fcontext(void *to, void *arg);
extern void *make_fcontext(void *stack_top, size_t size, void (*fn)(transfer_t));

enum { DEFAULT_STACK = 64 << 10, STACK_MAX = 1 << 30, POOL_MAX = 256, POOL_TRIMMED = 16 };

static _Thread_local struct nam_co *self;

/* A coroutine may go on on another thread than it left: no address of self is kept over that. */
static __attribute__((noinline)) void
set_self(struct nam_co *co)
{
	self = co;
}

struct nam_sched *
nam_sched_open(void)
{
	struct nam_sched *s = calloc(1, sizeof *s);
	if (s != NULL)
		s->page = (size_t)sysconf(_SC_PAGESIZE);
	return s;
}

static void
co_free(struct nam_co *co)
{
	size_t page = co->sched->page;
#ifdef CO_ASAN
	__lsan_unregister_root_region(co->stack + page, co->stack_size);
#endif
	munmap(co->stack, co->stack_size + page);
	free(co);
}

/* An ended coroutine that no thread can reach any more: its stack serves the next one. */
static void
recycle(struct nam_co *co)
{
	struct nam_sched *s = co->sched;
	if (s->pooled == POOL_MAX) {
		co_free(co);
		return;
	}
	co->next = s->pool;
	s->pool = co;
	s->pooled++;
}

void
nam_sched_trim(struct nam_sched *s)
{
	struct nam_co **link = &s->pool;
	for (int n = 0; n < POOL_TRIMMED && *link != NULL; n++)
		link = &(*link)->next;
	for (struct nam_co *co = *link, *next; co != NULL; co = next) {
		next = co->next;
		co_free(co);
		s->pooled--;
	}
	*link = NULL;
}

static void
take_posts(struct nam_sched *s)
{
	if (atomic_load_explicit(&s->post_list, memory_order_relaxed) == NULL)
		return;
	struct nam_co *co = atomic_exchange_explicit(&s->post_list, NULL, memory_order_acq_rel);
	while (co != NULL) {
		struct nam_co *next = atomic_load_explicit(&co->post_next, memory_order_relaxed);
		atomic_exchange_explicit(&co->posted, false, memory_order_acq_rel);
		if (co->state == CO_ENDED) {
			s->haunting--;
			recycle(co);
		} else {
			nam_co_wake(co);
		}
		co = next;
	}
}

void
nam_sched_close(struct nam_sched *s)
{
	NAM_ASSERT(s->live == 0);
	/* The last thread that brought a coroutine back may still be rousing us. */
	while (atomic_load_explicit(&s->away, memory_order_acquire) != 0)
		sched_yield();
	take_posts(s);
	NAM_ASSERT(s->haunting == 0); /* a post is still under way */
	for (struct nam_co *co = s->pool, *next; co != NULL; co = next) {
		next = co->next;
		co_free(co);
	}
	free(s);
}

static void
push_ready(struct nam_co *co)
{
	struct nam_sched *s = co->sched;
	co->state = CO_READY;
	co->next = NULL;
	if (s->tail)
		s->tail->next = co;
	else
		s->head = co;
	s->tail = co;
	if (s->head == co && s->ready != NULL)
		s->ready(s->ready_arg);
}

/* Switches from the coroutine to the stack of the thread that runs it. `last` when the
 * coroutine will
 * never run again. */
static void
leave(struct nam_co *co, bool last)
{
	struct nam_co_thread *t = co->on;
	set_self(NULL);
	(void)last;
#ifdef CO_TSAN
	__tsan_switch_to_fiber(t->fiber, 0);
#endif
#ifdef CO_ASAN
	__sanitizer_start_switch_fiber(last ? NULL : &co->fake, t->bottom, t->size);
#endif
	transfer_t from = jump_fcontext(t->fctx, co);
	t = co->on;
#ifdef CO_ASAN
	__sanitizer_finish_switch_fiber(co->fake, &t->bottom, &t->size);
#endif
	t->fctx = from.fctx;
	set_self(co);
}

void
nam_co_leave(struct nam_co *co)
{
	leave(co, false);
}

static void
entry(transfer_t t)
{
	struct nam_co *co = t.data;
	co->on->fctx = t.fctx;
#ifdef CO_ASAN
	__sanitizer_finish_switch_fiber(NULL, &co->on->bottom, &co->on->size);
#endif
	set_self(co);
	co->fn(co->arg);
	co->state = CO_ENDED;
	leave(co, true);
	NAM_ASSERT(!"an ended coroutine was resumed");
}

struct nam_co *
nam_co_start(struct nam_sched *s, void (*fn)(void *), void *arg, size_t stack)
{
	size_t page = s->page;
	stack = stack ? stack : DEFAULT_STACK;
	if (stack > STACK_MAX)
		return NULL;
	stack = (stack + page - 1) / page * page;
	struct nam_co *co = s->pool, **link = &s->pool;
	while (co != NULL && co->stack_size != stack) {
		link = &co->next;
		co = co->next;
	}
	if (co != NULL) {
		*link = co->next;
		s->pooled--;
	} else {
		co = calloc(1, sizeof *co);
		if (co == NULL)
			return NULL;
		co->stack_size = stack;
		co->stack = mmap(NULL, stack + page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
		if (co->stack == MAP_FAILED) {
			free(co);
			return NULL;
		}
		/* Fails when the process has too many mappings: then make no coroutine, rather than
		 * one without a guard. */
		if (mprotect(co->stack, page, PROT_NONE) != 0) {
			munmap(co->stack, stack + page);
			free(co);
			return NULL;
		}
#ifdef CO_ASAN
		__lsan_register_root_region(co->stack + page, stack);
#endif
	}
#ifdef CO_ASAN
	/* The last frames on a reused stack never returned, and a new mapping may lie where
	 * an old stack lay: either way the shadow still shows their red zones. */
	ASAN_UNPOISON_MEMORY_REGION(co->stack + page, stack);
#endif
	co->sched = s;
	co->fn = fn;
	co->arg = arg;
	co->tag = NULL;
	co->woken = co->goes_aside = co->aside = false;
	co->fctx = make_fcontext(co->stack + page + stack, stack, entry);
#ifdef CO_ASAN
	co->fake = NULL;
#endif
#ifdef CO_TSAN
	co->fiber = __tsan_create_fiber(0);
#endif
	s->live++;
	if (s->watched_live != NULL)
		++*s->watched_live;
	push_ready(co);
	return co;
}

struct nam_co *
nam_co_self(void)
{
	return self;
}

void
nam_co_yield(void)
{
	struct nam_co *co = self;
	NAM_ASSERT(co != NULL && !co->aside);
	push_ready(co);
	leave(co, false);
}

void
nam_co_park(void)
{
	struct nam_co *co = self;
	NAM_ASSERT(co != NULL && !co->aside);
	if (co->woken) {
		co->woken = false;
		return;
	}
	co->state = CO_PARKED;
	leave(co, false);
}

void
nam_co_wake(struct nam_co *co)
{
	if (co->state == CO_PARKED)
		push_ready(co);
	else
		co->woken = true;
}

void
nam_co_post(struct nam_co *co)
{
	struct nam_sched *s = co->sched;
	if (atomic_exchange_explicit(&co->posted, true, memory_order_acq_rel))
		return; /* on the list already; the owner will see it */
	struct nam_co *head = atomic_load_explicit(&s->post_list, memory_order_relaxed);
	do
		atomic_store_explicit(&co->post_next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(
	    &s->post_list, &head, co, memory_order_acq_rel, memory_order_relaxed));
	if (s->rouse)
		s->rouse(s->rouse_arg);
}

void
nam_sched_on_post(struct nam_sched *s, void (*rouse)(void *), void *arg)
{
	s->rouse = rouse;
	s->rouse_arg = arg;
}

void
nam_sched_watch(struct nam_sched *s, void (*ready)(void *arg), void *arg, int *live)
{
	s->ready = ready;
	s->ready_arg = arg;
	if (s->watched_live != NULL)
		*s->watched_live -= s->live;
	if (live != NULL)
		*live += s->live;
	s->watched_live = live;
}

void
nam_sched_on_turn(struct nam_sched *s, void (*over)(void *arg), void *arg)
{
	s->over = over;
	s->over_arg = arg;
}

void
nam_co_switch_to(struct nam_co_thread *t, struct nam_co *co)
{
	co->on = t;
#ifdef CO_TSAN
	t->fiber = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(co->fiber, 0);
#endif
#ifdef CO_ASAN
	__sanitizer_start_switch_fiber(&t->fake, co->stack + co->sched->page, co->stack_size);
#endif
	transfer_t back = jump_fcontext(co->fctx, co);
#ifdef CO_ASAN
	__sanitizer_finish_switch_fiber(t->fake, NULL, NULL);
#endif
	co->fctx = back.fctx;
}

static void
resume(struct nam_sched *s, struct nam_co *co)
{
	struct nam_co *outer = self; /* not NULL when a coroutine of another scheduler runs this
				      * one */
	co->state = CO_RUNNING;
	s->current = co;
	nam_co_switch_to(&s->thread, co);
	s->current = NULL;
	set_self(outer);
	if (co->goes_aside) {
		co->goes_aside = false;
		atomic_fetch_add_explicit(&s->away, 1, memory_order_relaxed);
		nam_asides_take(s->asides, co);
		return;
	}
	if (co->state != CO_ENDED)
		return;
#ifdef CO_ASAN
	/* Its last frames never returned, so their red zones are still marked; the memory is used
	 * again. */
	__asan_unpoison_memory_region(co->stack + s->page, co->stack_size);
#endif
#ifdef CO_TSAN
	__tsan_destroy_fiber(co->fiber);
#endif
	s->live--;
	if (s->watched_live != NULL)
		--*s->watched_live;
	/* A late post still refers to it: take_posts recycles it then. */
	if (atomic_load_explicit(&co->posted, memory_order_acquire))
		s->haunting++;
	else
		recycle(co);
}

void
nam_co_give_back(struct nam_co *co)
{
	struct nam_sched *s = co->sched;
	struct nam_co *head = atomic_load_explicit(&s->back, memory_order_relaxed);
	do
		co->aside_next = head;
	while (!atomic_compare_exchange_weak_explicit(
	    &s->back, &head, co, memory_order_seq_cst, memory_order_relaxed));
	if (s->rouse)
		s->rouse(s->rouse_arg);
	atomic_fetch_sub_explicit(&s->away, 1, memory_order_release);
}

static void
take_back(struct nam_sched *s)
{
	if (atomic_load_explicit(&s->back, memory_order_relaxed) == NULL)
		return;
	struct nam_co *co = atomic_exchange_explicit(&s->back, NULL, memory_order_acq_rel);
	while (co != NULL) {
		struct nam_co *next = co->aside_next;
		co->aside = false;
		push_ready(co);
		co = next;
	}
}

int
nam_sched_run(struct nam_sched *s)
{
	NAM_ASSERT(s->current == NULL); /* not from one of its own coroutines */
	take_posts(s);
	take_back(s);
	struct nam_co *last = s->tail;
	int ran = 0;
	while (s->head != NULL) {
		struct nam_co *co = s->head;
		s->head = co->next;
		if (s->head == NULL)
			s->tail = NULL;
		resume(s, co);
		if (s->over != NULL)
			s->over(s->over_arg);
		ran++;
		if (co == last)
			break;
	}
	return ran;
}

bool
nam_sched_ready(struct nam_sched *s)
{
	return s->head != NULL || atomic_load(&s->post_list) != NULL || atomic_load(&s->back) != NULL;
}

int
nam_sched_live(struct nam_sched *s)
{
	return s->live;
}

void
nam_co_set_tag(struct nam_co *co, void *tag)
{
	co->tag = tag;
}

void *
nam_co_tag(struct nam_co *co)
{
	return co->tag;
}
