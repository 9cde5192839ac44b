/*
 * pool.h -- worker threads on storage in remote memory for benches of analytics: relations are *
 * loaded once, then jobs run over them.
 *
 * With several processes the first one is the bench; the others are its children, which take
 * part in the jobs that are for everyone. What they need of such a job is in its plan. Then the
 * storage node is a process of its own, whose memory all of them map.
 */
#ifndef NAM_BENCH_OLAP_POOL_H
#define NAM_BENCH_OLAP_POOL_H

#include <bench/bench.h>
#include <bench/jobs.h>
#include <olap/olap.h>

#include <pthread.h>

enum { POOL_WORKERS_MAX = 32, POOL_CORES_MAX = 64 };

struct pool;
/* One worker: a thread with endpoints of its own. */
struct pool_worker {
	struct pool *pool;
	unsigned number;
	struct net_worker *w;
	pthread_t thread;
	bool started;
	nam_status status; /* of its last turn */
};

/* In memory that the processes share. */
struct pool_shared {
	atomic_uint turn; /* counts the jobs for everyone; UINT_MAX: the end */
	atomic_ullong job;
	atomic_uint came[POOL_WORKERS_MAX], went[POOL_WORKERS_MAX]; /* workers of each */
	atomic_uint late_us;                                        /* of the last process */
	/* What each process did of the job, in a measure of fn's. */
	atomic_ullong part[POOL_WORKERS_MAX];
	nam_status (*fn)(struct pool_worker *w, struct olap_job *job, void *arg);
};

struct pool {
	unsigned workers; /* of each process */
	unsigned processes, self;
	/* Of the workers, one process after the other; 0: where the kernel likes. */
	unsigned core[POOL_CORES_MAX], cores;
	pid_t child[POOL_WORKERS_MAX]; /* 0 = none */
	double kill_s;
	struct pool_shared *shared; /* NULL = one process */
	struct net *net;
	struct bench_embedded embedded;
	pid_t node;
	struct pool_worker worker[POOL_WORKERS_MAX];
	net_addr board;
	const char *provider;
	/* a turn: all workers run fn in a coroutine */
	pthread_mutex_t mutex;
	pthread_cond_t go, over;
	unsigned turn, running; /* mutex */
	bool end;
	void (*fn)(struct pool_worker *w, void *arg);
	void *arg;
	/* the job that the turn's workers take part in; the first worker makes it */
	atomic_ullong job;
	atomic_uint out;
};
/* Before it opens, if so many cores are there: a core for each of the workers of all processes. */
void bench_pool_spread(struct pool *p, unsigned workers);
/* Nodes for so many bytes, or those of --storage; threads; other processes, which get arg as it is
 * now. By a process without other threads. */
nam_status bench_pool_open(struct pool *p, unsigned workers, unsigned processes, uint64_t bytes,
    const struct bench_common *c, void *arg, struct nam_err *err);
void bench_pool_close(struct pool *p);
/* fn on every worker, in a coroutine; waits for all. The first status that is not NAM_OK. */
nam_status bench_pool_run(struct pool *p, void (*fn)(struct pool_worker *w, void *arg), void *arg);
/*
 * fn with a job that all workers take part in: the first one makes and ends it. seconds: from
 * before it is made until its memory is given back. keep: instead of its end, the first worker's
 * part of it, for bench_pool_end.
 */
struct pool_job {
	nam_status (*fn)(struct pool_worker *w, struct olap_job *job, void *arg);
	void *arg;
	const void *plan;
	uint32_t plan_len;
	bool everyone; /* other processes too */
	double late_s; /* the last of them comes so much later */
	struct olap_job **keep;
};
nam_status bench_pool_job(struct pool *p, const struct pool_job *j, double *seconds);
/* Kills another process in so long. False: there is none. */
bool bench_pool_kill(struct pool *p, double seconds);
/* Other processes that live. */
unsigned bench_pool_helpers(const struct pool *p);
nam_status bench_pool_end(struct pool *p, struct olap_job *job);

/* ---- relations that a seed gives ---- */

/* Fills n tuples of `width` bytes, number first and following. Any thread. */
typedef void pool_fill(const void *arg, uint64_t first, unsigned n, void *tuples);
struct pool_relation {
	uint64_t tuples;
	uint32_t width;
	pool_fill *fill;
	const void *arg;
	struct olap_source source; /* when it is loaded */
	struct olap_job *job;      /* owns its extents */
};
nam_status bench_pool_load(struct pool *p, struct pool_relation *r, const char *name);

/* Seconds for each byte of a relation that all workers READ once, and its words' sum as proof. */
double bench_pool_c_mem(struct pool *p, const struct pool_relation *r, uint64_t *sum);

#endif
