/* jobs.c -- starts coroutines on the workers of a compute node and waits for them; opens storage
 * nodes in the bench's own process. */
#include "jobs.h"

#include <bench/bench.h>
#include <net/region_format.h>

#include <errno.h>
#include <time.h>
#include <unistd.h>

static void
job_main(const struct cn_place *pl, void *arg)
{
	struct bench_job *j = arg;
	struct bench_jobs *g = j->jobs;
	j->run(pl, j->arg);
	pthread_mutex_lock(&g->mutex);
	if (--g->running == 0)
		pthread_cond_signal(&g->cond);
	pthread_mutex_unlock(&g->mutex);
}

nam_status
bench_job_start(struct cn *cn, struct bench_jobs *g, unsigned worker, struct bench_job *j)
{
	j->jobs = g;
	pthread_mutex_lock(&g->mutex);
	g->running++;
	pthread_mutex_unlock(&g->mutex);
	nam_status st = cn_start(cn, worker, job_main, j, 256 << 10);
	if (st != NAM_OK) {
		pthread_mutex_lock(&g->mutex);
		g->running--;
		pthread_mutex_unlock(&g->mutex);
	}
	return st;
}

bool
bench_jobs_wait(struct bench_jobs *g, unsigned ms)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&g->mutex);
	int rc = 0;
	while (g->running > 0 && rc != ETIMEDOUT)
		rc = ms ? pthread_cond_timedwait(&g->cond, &g->mutex, &until)
			: pthread_cond_wait(&g->cond, &g->mutex);
	bool all = g->running == 0;
	pthread_mutex_unlock(&g->mutex);
	return all;
}

/* First touch costs a page fault each: done before the clock runs. */
static void
touch(struct sn_region *r, const char *what)
{
	uint64_t size = sn_region_size(r), step = 64 << 20;
	for (uint64_t at = 0; at < size; at += step) {
		sn_region_touch(r, at, step);
		bench_progress("%s %3d %%", what, (int)(at * 100 / size));
	}
	bench_progress_end("%s 100 %%", what);
}

nam_status
bench_embedded_open(struct bench_embedded *e, uint64_t size, const char *cluster, struct nam_err *err)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	size = size / NET_EXTENT * NET_EXTENT;
	if (size * BENCH_EMBEDDED_NODES > memory / 10 * 6)
		size = memory / 10 * 6 / BENCH_EMBEDDED_NODES / NET_EXTENT * NET_EXTENT;
	for (unsigned i = 0; i < BENCH_EMBEDDED_NODES; i++) {
		struct sn_region_config cfg = {
			.id = i + 1, .size = size, .cluster = cluster, .numa = -1, .embedded = true
		};
		nam_status st = sn_region_open(&e->region[i], &cfg, err);
		if (st != NAM_OK)
			return st;
		e->local[i] = sn_local(e->region[i]);
		char what[64];
		snprintf(what, sizeof what, "storage node %u of %u: touching %.1f GiB", i + 1,
		    (unsigned)BENCH_EMBEDDED_NODES, (double)size / (1 << 30));
		touch(e->region[i], what);
	}
	return NAM_OK;
}

void
bench_embedded_close(struct bench_embedded *e)
{
	for (unsigned i = 0; i < BENCH_EMBEDDED_NODES; i++)
		if (e->region[i] != NULL)
			sn_region_close(e->region[i]);
}
