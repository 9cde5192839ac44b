/* queue.c -- the simulator's future: a heap of events, earliest first, equal times in the order
 * made. */
#include <net/sim/sim_internal.h>

#include <stdlib.h>

bool
net_sim_queue_open(struct sim_queue *q)
{
	*q = (struct sim_queue){ .cap = 1024 };
	q->heap = malloc(q->cap * sizeof *q->heap);
	return q->heap != NULL;
}

void
net_sim_queue_close(struct sim_queue *q)
{
	free(q->heap);
	*q = (struct sim_queue){ 0 };
}

static inline bool
before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void
net_sim_queue_push(struct sim_queue *q, uint64_t at, enum sim_kind kind, void *what)
{
	if (q->n == q->cap) {
		struct sim_event *more = realloc(q->heap, 2 * q->cap * sizeof *more);
		NAM_ASSERT(more != NULL); /* a simulation that lost an event proves nothing */
		q->heap = more;
		q->cap *= 2;
	}
	struct sim_event e = { at, q->made++ << SIM_KIND_BITS | kind, what };
	size_t i = q->n++;
	while (i > 0) {
		size_t up = (i - 1) / 4;
		if (!before(&e, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
		i = up;
	}
	q->heap[i] = e;
}

bool
net_sim_queue_pop(struct sim_queue *q, struct sim_event *out)
{
	if (q->n == 0)
		return false;
	*out = q->heap[0];
	struct sim_event e = q->heap[--q->n];
	size_t i = 0;
	for (;;) {
		size_t kid = 4 * i + 1;
		if (kid >= q->n)
			break;
		size_t end = kid + 4 < q->n ? kid + 4 : q->n, least = kid;
		for (size_t k = kid + 1; k < end; k++)
			if (before(&q->heap[k], &q->heap[least]))
				least = k;
		if (!before(&q->heap[least], &e))
			break;
		q->heap[i] = q->heap[least];
		i = least;
	}
	q->heap[i] = e;
	return true;
}
