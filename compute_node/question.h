/*
 * question.h -- one question to all workers of a process, for a thread beside them that waits for
 * their answers, not for ever. Each worker that was asked holds the question, so that one that
 * answers late still finds it.
 */
#ifndef NAM_COMPUTE_NODE_QUESTION_H
#define NAM_COMPUTE_NODE_QUESTION_H

#include <compute_node/cn.h>

#include <pthread.h>

/* The first member of what is asked. */
struct cn_question {
	pthread_mutex_t lock; /* over all of it; the worker's answer is written under it */
	pthread_cond_t answered;
	unsigned refs, open;
	void (*end)(struct cn_question *q); /* the last one has dropped it */
};
void cn_question_init(struct cn_question *q, void (*end)(struct cn_question *q));
/* With the lock. A worker that could not be asked counts as answered: false. */
bool cn_question_ask(
    struct cn *cn, unsigned worker, struct cn_question *q, void (*fn)(const struct cn_place *, void *));
/* With the lock: until all have answered, or *enough (NULL: never), for ms at most. */
void cn_question_wait(struct cn_question *q, unsigned ms, const bool *enough);
/* On a worker, with the lock, which it frees: its answer is there, and it drops the question. */
void cn_question_answer(struct cn_question *q);
void cn_question_drop(struct cn_question *q);

#endif
