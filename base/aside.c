/* aside.c -- the threads beside the workers, and how a coroutine goes there. */
#include <base/aside.h>
#include <base/assert.h>
#include <base/co_internal.h>
#include <base/heap.h>

#include <pthread.h>
#include <stdlib.h>

enum { ASIDE_MOST = 64, STACK = 128 << 10 };

struct nam_asides {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct nam_co *first, *last;
	unsigned most, threads, idle, waiting;
	bool stop;
	pthread_t thread[ASIDE_MOST];
};

static void *
run(void *arg)
{
	struct nam_asides *a = arg;
	struct nam_co_thread t = { 0 };
	nam_heap_enter();
	pthread_mutex_lock(&a->lock);
	while (true) {
		while (a->first == NULL && !a->stop) {
			a->idle++;
			pthread_cond_wait(&a->work, &a->lock);
			a->idle--;
		}
		struct nam_co *co = a->first;
		if (co == NULL)
			break;
		a->first = co->aside_next;
		a->waiting--;
		pthread_mutex_unlock(&a->lock);
		nam_co_switch_to(&t, co);
		nam_co_give_back(co);
		pthread_mutex_lock(&a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* One thread more, which the lock's holder asks for. */
static void
add_thread(struct nam_asides *a)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&a->thread[a->threads], &attr, run, a) == 0)
		pthread_setname_np(a->thread[a->threads++], "namdb-aside");
	pthread_attr_destroy(&attr);
}

struct nam_asides *
nam_asides_open(unsigned most)
{
	struct nam_asides *a = calloc(1, sizeof *a);
	if (a == NULL)
		return NULL;
	a->most = most < ASIDE_MOST ? most : ASIDE_MOST;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	/* With one that runs, no coroutine can go aside and find none. */
	add_thread(a);
	if (a->threads == 1)
		return a;
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->work);
	free(a);
	return NULL;
}

void
nam_asides_close(struct nam_asides *a)
{
	if (a == NULL)
		return;
	pthread_mutex_lock(&a->lock);
	NAM_ASSERT(a->first == NULL);
	a->stop = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (unsigned i = 0; i < a->threads; i++)
		pthread_join(a->thread[i], NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->work);
	free(a);
}

void
nam_sched_asides(struct nam_sched *s, struct nam_asides *a)
{
	s->asides = a;
}

void
nam_asides_take(struct nam_asides *a, struct nam_co *co)
{
	co->aside_next = NULL;
	pthread_mutex_lock(&a->lock);
	if (a->first == NULL)
		a->first = co;
	else
		a->last->aside_next = co;
	a->last = co;
	if (++a->waiting > a->idle && a->threads < a->most)
		add_thread(a);
	pthread_cond_signal(&a->work);
	pthread_mutex_unlock(&a->lock);
}

bool
nam_aside_begin(void)
{
	struct nam_co *co = nam_co_self();
	if (co == NULL || co->sched->asides == NULL || co->aside)
		return false;
	co->aside = co->goes_aside = true;
	co->state = CO_ASIDE;
	nam_co_leave(co);
	return true;
}

void
nam_aside_end(bool went)
{
	if (went)
		nam_aside_home();
}

void
nam_aside_home(void)
{
	struct nam_co *co = nam_co_self();
	if (co != NULL && co->aside)
		nam_co_leave(co);
}

bool
nam_is_aside(void)
{
	struct nam_co *co = nam_co_self();
	return co != NULL && co->aside;
}
