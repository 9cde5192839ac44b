/* ahead.c -- a coroutine fills one buffer while the caller uses the other (ahead.h). */
#include "ahead.h"

#include <stdlib.h>

enum { BUFFERS = 2 };

struct buffer {
	char *bytes;
	const char *records;
	uint32_t n;
	nam_status status;
	bool full;
};

struct wal_ahead {
	struct net_worker *w;
	unsigned region;
	uint32_t cap;
	uint64_t position;
	struct nam_co *reader, *caller; /* caller: NULL = it does not wait */
	struct buffer buffer[BUFFERS];
	unsigned use;         /* the caller's next one */
	struct buffer *given; /* what the caller has; NULL = nothing yet */
	bool stop, ended;
};

static void
tell_caller(struct wal_ahead *a)
{
	if (a->caller != NULL)
		nam_co_wake(a->caller);
}

static void
read_on(void *arg)
{
	struct wal_ahead *a = arg;
	a->reader = nam_co_self();
	for (unsigned i = 0; !a->stop; i = (i + 1) % BUFFERS) {
		struct buffer *b = &a->buffer[i];
		while (b->full && !a->stop)
			nam_co_park();
		if (a->stop)
			break;
		b->status = wal_log_read(
		    a->w, a->region, a->position, b->bytes, a->cap, &b->records, &b->n, &a->position);
		b->full = true;
		if (b->status != NAM_OK || b->n == 0)
			break;
		tell_caller(a);
	}
	a->ended = true;
	tell_caller(a);
}

nam_status
wal_ahead_open(struct wal_ahead **out, struct net_worker *w, unsigned region, uint64_t position)
{
	struct wal_ahead *a = calloc(1, sizeof *a);
	uint32_t record;
	nam_status st = NAM_NOMEM;
	*out = NULL;
	if (a == NULL)
		return st;
	*a = (struct wal_ahead){ .w = w, .region = region, .position = position };
	if ((st = wal_log_most(w, region, &record, &a->cap)) == NAM_OK) {
		for (unsigned i = 0; i < BUFFERS; i++)
			if ((a->buffer[i].bytes = malloc(a->cap)) == NULL)
				st = NAM_NOMEM;
	}
	if (st == NAM_OK && nam_co_start(net_worker_sched(w), read_on, a, 0) == NULL)
		st = NAM_NOMEM;
	if (st != NAM_OK) {
		a->ended = true;
		wal_ahead_close(a);
		return st;
	}
	*out = a;
	return NAM_OK;
}

static void
wait_for(struct wal_ahead *a)
{
	a->caller = nam_co_self();
	nam_co_park();
	a->caller = NULL;
}

nam_status
wal_ahead_next(struct wal_ahead *a, const char **records, uint32_t *n)
{
	struct buffer *b = a->given;
	/* The end, and a failure, stay where they are. */
	if (b == NULL || (b->status == NAM_OK && b->n > 0)) {
		if (b != NULL) {
			b->full = false;
			if (!a->ended)
				nam_co_wake(a->reader);
		}
		b = a->given = &a->buffer[a->use];
		a->use = (a->use + 1) % BUFFERS;
		while (!b->full)
			wait_for(a);
		/* The next request leaves when no coroutine is ready. */
		net_sleep(a->w, 1);
	}
	*records = b->records;
	*n = b->status == NAM_OK ? b->n : 0;
	return b->status;
}

void
wal_ahead_close(struct wal_ahead *a)
{
	if (a == NULL)
		return;
	a->stop = true;
	while (!a->ended) {
		if (a->reader != NULL)
			nam_co_wake(a->reader);
		wait_for(a);
	}
	for (unsigned i = 0; i < BUFFERS; i++)
		free(a->buffer[i].bytes);
	free(a);
}
