/* together.h -- one cluster with two workers for all tests of a file: give cluster_setup and
 * cluster_teardown to cmocka. */
#ifndef NAM_TESTS_TOGETHER_H
#define NAM_TESTS_TOGETHER_H

#include "embedded.h"

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

#endif
