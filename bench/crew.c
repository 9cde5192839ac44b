/* crew.c -- opens a compute node for a bench, and has its clients work for slices of time. */
#include "crew.h"

#include <base/clock.h>
#include <net/secret.h>

#include <stdlib.h>
#include <time.h>

enum { LOOK_MS = 200 };

/* ---- the node -------------------------------------------------------------------------------- */

nam_status
bench_crew_storage(struct bench_crew *w, const struct bench_common *c, uint64_t bytes, struct nam_err *err)
{
	if (c->storage != NULL)
		return net_secret_load(c->secret_file, w->secret, &w->secret_len, err);
	return bench_embedded_open(&w->embedded, bytes / BENCH_EMBEDDED_NODES, c->cluster, err);
}

nam_status
bench_crew_open(struct bench_crew *w, const struct bench_common *c, unsigned more, uint64_t cache_entries,
    struct nam_err *err)
{
	const struct cn_config cfg = { .storage = c->storage,
		.local = c->storage != NULL ? NULL : w->embedded.local,
		.fabric = c->fabric,
		.cluster = c->cluster,
		.secret = w->secret,
		.secret_len = w->secret_len,
		.workers = w->workers + more,
		.measure = true,
		.txn = { .ptr_cache_entries = cache_entries } };
	w->jobs = (struct bench_jobs)BENCH_JOBS;
	nam_status st = cn_open(&w->cn, &cfg, err);
	if (st == NAM_OK && err->text[0] != 0)
		fprintf(stderr, "namdb bench: warning: %s\n", err->text);
	return st;
}

void
bench_crew_close(struct bench_crew *w)
{
	if (w->cn != NULL)
		cn_close(w->cn);
	bench_embedded_close(&w->embedded);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct task {
	struct bench_job job;
	nam_status (*run)(const struct cn_place *pl, void *arg);
	void *arg;
	nam_status status;
};

static void
run_task(const struct cn_place *pl, void *arg)
{
	struct task *t = arg;
	t->status = t->run(pl, t->arg);
}

static nam_status
start_task(struct bench_crew *w, unsigned worker, struct task *t)
{
	t->job = (struct bench_job){ .run = run_task, .arg = t };
	return bench_job_start(w->cn, &w->jobs, worker, &t->job);
}

nam_status
bench_crew_one(struct bench_crew *w, nam_status (*run)(const struct cn_place *pl, void *arg), void *arg)
{
	struct task t = { .run = run, .arg = arg };
	nam_status st = start_task(w, 0, &t);
	if (st != NAM_OK)
		return st;
	bench_jobs_wait(&w->jobs, 0);
	return t.status;
}

nam_status
bench_crew_all(struct bench_crew *w, nam_status (*run)(const struct cn_place *pl, void *arg),
    void (*look)(void *arg), void *arg)
{
	struct task t[BENCH_CREW_WORKERS * BENCH_CREW_EACH];
	unsigned n = w->workers * BENCH_CREW_EACH;
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < n; i++) {
		t[i] = (struct task){ .run = run, .arg = arg };
		nam_status is = start_task(w, i % w->workers, &t[i]);
		st = st == NAM_OK ? is : st;
	}
	while (!bench_jobs_wait(&w->jobs, LOOK_MS))
		look(arg);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = t[i].status;
	return st;
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct client {
	struct bench_job job;
	struct bench_crew *crew;
	unsigned number;
	double cpu_began, cpu_ended; /* of its worker's thread */
	struct bench_slice slice;
};

static double
thread_cpu_seconds(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
run_client(const struct cn_place *pl, void *arg)
{
	struct client *c = arg;
	struct bench_crew *w = c->crew;
	c->cpu_began = thread_cpu_seconds();
	w->client(w->side, pl, c->number, &c->slice, &w->stop);
	c->cpu_ended = thread_cpu_seconds();
}

/* CPU time of the clients' workers, from the first client's begin to the last one's end. */
static double
workers_cpu(const struct client *c, unsigned clients, unsigned workers)
{
	double all = 0;
	for (unsigned w = 0; w < workers; w++) {
		double began = c[w].cpu_began, ended = c[w].cpu_ended;
		for (unsigned i = w; i < clients; i += workers) {
			began = c[i].cpu_began < began ? c[i].cpu_began : began;
			ended = c[i].cpu_ended > ended ? c[i].cpu_ended : ended;
		}
		all += ended - began;
	}
	return all;
}

double
bench_crew_slice(struct bench_crew *w, unsigned round, double seconds, struct bench_slice *sum)
{
	unsigned n = w->workers * w->clients;
	struct client *c = calloc(n, sizeof *c);
	if (c == NULL) {
		sum->errors++;
		return 0;
	}
	uint64_t before = sum->commits, begin = nam_clock_ns(), all = w->transactions;
	double cpu = bench_cpu_seconds();
	atomic_store(&w->stop, false);
	for (unsigned i = 0; i < n; i++) {
		c[i].crew = w;
		c[i].number = i;
		c[i].job = (struct bench_job){ .run = run_client, .arg = &c[i] };
		c[i].slice.most = all != 0 ? all / n + (i < all % n) : UINT64_MAX;
		c[i].slice.round = round;
		sum->errors += bench_job_start(w->cn, &w->jobs, i % w->workers, &c[i].job) != NAM_OK;
	}
	/* By time, before that only when clients give up; or when all have done their share. */
	bench_jobs_wait(&w->jobs, all != 0 ? 0 : (unsigned)(seconds * 1e3));
	atomic_store(&w->stop, true);
	bench_jobs_wait(&w->jobs, 0);
	double took = (double)(nam_clock_ns() - begin) / 1e9;
	sum->seconds += took;
	sum->cpu_seconds += bench_cpu_seconds() - cpu;
	sum->worker_cpu_seconds += workers_cpu(c, n, w->workers);
	for (unsigned i = 0; i < n; i++)
		bench_slice_add(sum, &c[i].slice);
	free(c);
	return (double)(sum->commits - before) / took;
}
