/* later.h -- a statement that another thread asks, while the test goes on. */
#ifndef NAM_TESTS_LATER_H
#define NAM_TESTS_LATER_H

#include "embedded.h"

#include <pthread.h>

#define says(t, text, answer) assert_string_equal(ask(t, text), answer)

struct later {
	struct teller *t;
	const char *text;
	char answer[300];
	pthread_t thread;
};

static void *
run_later(void *arg)
{
	struct later *l = arg;
	snprintf(l->answer, sizeof l->answer, "%s", ask(l->t, l->text));
	return NULL;
}

static inline void
start(struct later *l, struct teller *t, const char *text)
{
	l->t = t;
	l->text = text;
	pthread_create(&l->thread, NULL, run_later, l);
}

static inline const char *
wait_for(struct later *l)
{
	pthread_join(l->thread, NULL);
	return l->answer;
}

#endif
