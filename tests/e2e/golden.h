/* golden.h -- statements and their right answers, in order, in one session, in the form of ask() of
 * embedded.h. */
#ifndef NAM_TESTS_GOLDEN_H
#define NAM_TESTS_GOLDEN_H

#include "embedded.h"

struct golden {
	const char *text, *answer;
};

/* Asks them all; shows those that are answered otherwise, and says how many. */
static inline unsigned
golden_wrong(struct test_client *t, const struct golden *g, size_t n)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < n; i++) {
		const char *a = ask(t, g[i].text);
		if (strcmp(a, g[i].answer) == 0)
			continue;
		wrong++;
		fprintf(stderr, "%s\n  is     %s\n  should %s\n", g[i].text, a, g[i].answer);
	}
	return wrong;
}

/* The same on a cluster of their own. */
static inline void
golden_run(const struct golden *g, size_t n)
{
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, g, n);
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}
#define golden_all(list) golden_run(list, sizeof(list) / sizeof *(list))

#endif
