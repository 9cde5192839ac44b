/*
 * crew.h -- a compute node with a bench's clients on its workers: opened as the options say, tasks
 * on it, and slices of time in which all clients work. One thread, not a worker's, calls all of it.
 */
#ifndef NAM_BENCH_CREW_H
#define NAM_BENCH_CREW_H

#include <bench/bench.h>
#include <bench/jobs.h>

#include <stdatomic.h>

struct bench_crew {
	/* given */
	unsigned workers, clients; /* clients: of each worker */
	uint64_t transactions;     /* a slice ends when so many have committed; 0: by time */
	/* A client, until *stop, or until it has committed out->most. */
	void (*client)(void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out,
	    const atomic_bool *stop);
	void *side;
	/* its own; all 0 at first */
	struct cn *cn;
	struct bench_jobs jobs;
	struct bench_embedded embedded; /* without --storage */
	unsigned char secret[64];
	size_t secret_len;
	atomic_bool stop;
};

/* First: with --storage reads the secret; else opens nodes in this process, of so many bytes
 * together. Not OK: close it. */
nam_status bench_crew_storage(
    struct bench_crew *w, const struct bench_common *c, uint64_t bytes, struct nam_err *err);
/* Then: the compute node, with so many workers that have no clients. Not OK: close it. */
nam_status bench_crew_open(struct bench_crew *w, const struct bench_common *c, unsigned more,
    uint64_t cache_entries, struct nam_err *err);
/* Behind it the last commits are finished. */
void bench_crew_close(struct bench_crew *w);

/* Runs it on the first worker, to its end: what it returned, or why it could not start. */
nam_status bench_crew_one(
    struct bench_crew *w, nam_status (*run)(const struct cn_place *pl, void *arg), void *arg);
/* Runs it as several coroutines on each worker, to their end; meanwhile calls look(arg) several
 * times a second. The first status that is not OK. */
enum { BENCH_CREW_EACH = 4, BENCH_CREW_WORKERS = 32 };
nam_status bench_crew_all(struct bench_crew *w, nam_status (*run)(const struct cn_place *pl, void *arg),
    void (*look)(void *arg), void *arg);

/* All clients for so long; what they did is added to *sum. Commits a second. */
double bench_crew_slice(struct bench_crew *w, unsigned round, double seconds, struct bench_slice *sum);

#endif
