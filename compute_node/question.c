/* question.c -- one question to all workers, which a thread beside them waits for. */
#include <compute_node/question.h>

#include <time.h>

void
cn_question_init(struct cn_question *q, void (*end)(struct cn_question *q))
{
	pthread_condattr_t by_clock;
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->answered, &by_clock);
	pthread_condattr_destroy(&by_clock);
	q->refs = 1;
	q->open = 0;
	q->end = end;
}

bool
cn_question_ask(
    struct cn *cn, unsigned worker, struct cn_question *q, void (*fn)(const struct cn_place *, void *))
{
	q->refs++;
	q->open++;
	if (cn_start(cn, worker, fn, q, 0) == NAM_OK)
		return true;
	q->refs--;
	q->open--;
	return false;
}

void
cn_question_wait(struct cn_question *q, unsigned ms, const bool *enough)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	while (q->open > 0 && (enough == NULL || !*enough) &&
	       pthread_cond_timedwait(&q->answered, &q->lock, &until) == 0)
		continue;
}

void
cn_question_answer(struct cn_question *q)
{
	q->open--;
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	cn_question_drop(q);
}

void
cn_question_drop(struct cn_question *q)
{
	pthread_mutex_lock(&q->lock);
	bool last = --q->refs == 0;
	pthread_mutex_unlock(&q->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->answered);
	q->end(q);
}
