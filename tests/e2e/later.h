/* later.h -- a statement that another thread asks, while the test goes on. */
#ifndef NAM_TESTS_LATER_H
#define NAM_TESTS_LATER_H

#include "embedded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define says(t, text, answer) assert_string_equal(ask(t, text), answer)

struct later {
	struct test_client *t;
	const char *text;
	char answer[300];
	pthread_t thread;
	atomic_bool done;
};

static void *
run_later(void *arg)
{
	struct later *l = arg;
	snprintf(l->answer, sizeof l->answer, "%s", ask(l->t, l->text));
	l->done = true;
	return NULL;
}

static inline void
start(struct later *l, struct test_client *t, const char *text)
{
	l->t = t;
	l->text = text;
	l->done = false;
	pthread_create(&l->thread, NULL, run_later, l);
}

static inline const char *
wait_for(struct later *l)
{
	pthread_join(l->thread, NULL);
	return l->answer;
}

/* Cancelled before it had begun, a statement would never hear of it: so again, until there is an
 * answer. */
static inline const char *
cancelled(struct later *l)
{
	while (!l->done) {
		cn_cancel(l->t->s);
		usleep(5000);
	}
	return wait_for(l);
}

#endif
