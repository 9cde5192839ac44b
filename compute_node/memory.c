/* memory.c -- asks the kernel and the allocator about this process, and has memory given back. */
#include <base/heap.h>
#include <compute_node/cn_internal.h>
#include <compute_node/memory.h>
#include <compute_node/question.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MORE = 16,        /* of its memory, a part */
	WORKER_MS = 1000, /* a worker that takes longer is not waited for */
};

static uint64_t
resident(void)
{
	char line[128];
	uint64_t kib = 0;
	FILE *f = fopen("/proc/self/status", "re");
	while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib = strtoull(line + 8, NULL, 10);
	if (f != NULL)
		fclose(f);
	return kib << 10;
}

void
cn_memory_look(struct cn_memory *m)
{
	struct mallinfo2 info = mallinfo2();
	m->resident = resident();
	m->allocated = info.uordblks + info.hblkhd;
	m->freed = info.fordblks;
}

/* Resident beyond what is allocated. `freed` would not do: a trim leaves it as it is, so memory
 * that was used and freed again since would not show. */
static uint64_t
excess(const struct cn_memory *m)
{
	return m->resident > m->allocated ? m->resident - m->allocated : 0;
}

static void
end(struct cn_question *q)
{
	free(q);
}

/* On a worker. */
static void
trim_worker(const struct cn_place *place, void *arg)
{
	struct cn_question *q = arg;
	nam_sched_trim(net_worker_sched(place->net));
	pthread_mutex_lock(&q->lock);
	cn_question_answer(q);
}

static void
trim(struct cn *cn)
{
	struct cn_question *q = calloc(1, sizeof *q);
	if (q != NULL) {
		cn_question_init(q, end);
		pthread_mutex_lock(&q->lock);
		for (unsigned i = 0; i < cn->workers; i++)
			(void)cn_question_ask(cn, i, q, trim_worker);
		cn_question_wait(q, WORKER_MS, NULL);
		pthread_mutex_unlock(&q->lock);
		cn_question_drop(q);
	}
	nam_heap_trim();
}

void
cn_memory_trim(struct cn *cn, struct cn_memory_trim *t)
{
	struct cn_memory m;
	cn_memory_look(&m);
	if (m.resident > t->resident + t->resident / MORE || excess(&m) > t->excess + m.resident / MORE) {
		trim(cn);
		cn_memory_look(&m);
		t->resident = m.resident;
		t->excess = excess(&m);
	}
	t->resident = m.resident < t->resident ? m.resident : t->resident;
	t->excess = excess(&m) < t->excess ? excess(&m) : t->excess;
}
