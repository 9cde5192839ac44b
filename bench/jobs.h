/* jobs.h -- coroutines on the workers of a compute node, a thread that waits for them, and storage
 * nodes in the bench's own process. */
#ifndef NAM_BENCH_JOBS_H
#define NAM_BENCH_JOBS_H

#include <compute_node/cn.h>
#include <storage_node/sn.h>

#include <pthread.h>

struct bench_jobs {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned running; /* mutex */
};
#define BENCH_JOBS                                                                                           \
	{                                                                                                    \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                                       \
	}
/* Caller's memory; lives until the job has ended. */
struct bench_job {
	struct bench_jobs *jobs; /* set by bench_job_start */
	void (*run)(const struct cn_place *pl, void *arg);
	void *arg;
};
nam_status bench_job_start(struct cn *cn, struct bench_jobs *g, unsigned worker, struct bench_job *j);
/* Waits up to ms for all jobs; 0 = for ever. True if all have ended. */
bool bench_jobs_wait(struct bench_jobs *g, unsigned ms);

enum { BENCH_EMBEDDED_NODES = 3 };
struct bench_embedded {
	struct sn_region *region[BENCH_EMBEDDED_NODES];
	struct net_local *local[BENCH_EMBEDDED_NODES + 1];
};
/* Nodes of `size` bytes each, or of a fifth of the machine's memory if that is less. Their pages
 * are touched. Not OK: close what was opened. */
nam_status bench_embedded_open(
    struct bench_embedded *e, uint64_t size, const char *cluster, struct nam_err *err);
void bench_embedded_close(struct bench_embedded *e);

#endif
