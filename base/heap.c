/* heap.c -- a list of pieces, one in the arena of each long-lived thread. */
#include <base/heap.h>

#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum {
	MAPPED = 32 << 20, /* a piece of so many bytes is a mapping of its own: glibc's greatest */
	END_MOST = 64 << 20,
	END_LEAST = 128 << 10,
	LONG = 128 << 10, /* of which no page but the first is touched */
	SHORT = 64,
};

struct piece {
	struct piece *prev, *next;
	void *memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *pieces; /* lock's */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int no_key;

static void
thread_ends(void *arg)
{
	struct piece *p = arg;
	pthread_mutex_lock(&lock);
	*(p->prev != NULL ? &p->prev->next : &pieces) = p->next;
	if (p->next != NULL)
		p->next->prev = p->prev;
	pthread_mutex_unlock(&lock);
	free(p->memory);
	free(p);
}

static void
make_key(void)
{
	no_key = pthread_key_create(&key, thread_ends);
}

void
nam_heap_begin(void)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED);
	mallopt(M_TRIM_THRESHOLD, END_MOST);
}

/* Without memory for it the thread goes on without. */
void
nam_heap_enter(void)
{
	pthread_once(&once, make_key);
	if (no_key != 0 || pthread_getspecific(key) != NULL)
		return;
	struct piece *p = calloc(1, sizeof *p);
	if (p == NULL || (p->memory = malloc(LONG)) == NULL || pthread_setspecific(key, p) != 0) {
		if (p != NULL)
			free(p->memory);
		free(p);
		return;
	}
	pthread_mutex_lock(&lock);
	p->next = pieces;
	if (p->next != NULL)
		p->next->prev = p;
	pieces = p;
	pthread_mutex_unlock(&lock);
}

/* realloc stays in the arena that the piece is in, whichever thread calls it. */
static void
resize(struct piece *p, size_t bytes)
{
	void *memory = realloc(p->memory, bytes);
	if (memory != NULL)
		p->memory = memory;
}

void
nam_heap_trim(void)
{
	pthread_mutex_lock(&lock);
	mallopt(M_TRIM_THRESHOLD, END_LEAST);
	for (struct piece *p = pieces; p != NULL; p = p->next) {
		resize(p, SHORT);
		resize(p, LONG);
	}
	mallopt(M_TRIM_THRESHOLD, END_MOST);
	malloc_trim(0);
	pthread_mutex_unlock(&lock);
}
