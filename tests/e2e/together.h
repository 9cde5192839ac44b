/* together.h -- one cluster with two workers for all tests of a file: give cluster_setup and
 * cluster_teardown to cmocka. */
#ifndef NAM_TESTS_TOGETHER_H
#define NAM_TESTS_TOGETHER_H

#include "embedded.h"

#include <stdatomic.h>
#include <stdio.h>

static struct embedded e;

static int
cluster_setup(void **state)
{
	(void)state;
	embedded_open(&e, 512u << 20, 2);
	return 0;
}

static int
cluster_teardown(void **state)
{
	(void)state;
	embedded_close(&e);
	return 0;
}

static inline bool
starts_with(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* Asks beside others. False: it has lost a race (40001, 40P01), or met an SQLSTATE that `allowed`
 * names; another one is told, and counts in *bad. A block that has failed is rolled back. */
static inline bool
attempt(struct test_client *t, const char *text, const char *allowed, atomic_uint *bad)
{
	t->err.sqlstate[0] = 0;
	ask(t, text);
	if (t->err.sqlstate[0] == 0)
		return true;
	if (strstr("40001 40P01", t->err.sqlstate) == NULL && strstr(allowed, t->err.sqlstate) == NULL) {
		fprintf(stderr, "%s: %s\n", text, t->text);
		atomic_fetch_add(bad, 1);
	}
	if (cn_session_state(t->s) != 'I')
		ask(t, "rollback");
	return false;
}

#endif
