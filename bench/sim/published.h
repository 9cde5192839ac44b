/* published.h -- what others have published for a workload, to be printed beside our own
 * figures. */
#ifndef NAM_BENCH_SIM_PUBLISHED_H
#define NAM_BENCH_SIM_PUBLISHED_H

#include <stdbool.h>
#include <stdio.h>

struct bench_published {
	const char *system, *figure, *hardware;
};

/* A table, or with json the member "published"; the list ends with a NULL system. */
void bench_published(FILE *to, const struct bench_published *list, bool json);

#endif
