/* pool.c -- threads that run jobs over relations in remote memory. */
#include "pool.h"

#include <base/assert.h>
#include <base/clock.h>
#include <bench/node.h>
#include <net/secret.h>

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 256 << 10, TUPLES = 4096, MORSELS = 4096, LOOK_US = 20 };

/* ---- threads ---- */

static void
turn_main(void *arg)
{
	struct pool_worker *w = arg;
	w->pool->fn(w, w->pool->arg);
}

static void *
worker_main(void *arg)
{
	struct pool_worker *w = arg;
	struct pool *p = w->pool;
	unsigned seen = 0;
	if (p->cores > 0)
		bench_pin(p->core[p->self * p->workers + w->number]);
	for (;;) {
		pthread_mutex_lock(&p->mutex);
		while (p->turn == seen && !p->end)
			pthread_cond_wait(&p->go, &p->mutex);
		seen = p->turn;
		bool end = p->end;
		pthread_mutex_unlock(&p->mutex);
		if (end)
			return NULL;
		w->status = NAM_OK;
		if (nam_co_start(net_worker_sched(w->w), turn_main, w, STACK) == NULL)
			w->status = NAM_NOMEM;
		net_worker_run(w->w, NULL, NULL);
		pthread_mutex_lock(&p->mutex);
		if (--p->running == 0)
			pthread_cond_signal(&p->over);
		pthread_mutex_unlock(&p->mutex);
	}
}

nam_status
bench_pool_run(struct pool *p, void (*fn)(struct pool_worker *w, void *arg), void *arg)
{
	pthread_mutex_lock(&p->mutex);
	p->fn = fn;
	p->arg = arg;
	p->turn++;
	p->running = p->workers;
	pthread_cond_broadcast(&p->go);
	while (p->running > 0)
		pthread_cond_wait(&p->over, &p->mutex);
	pthread_mutex_unlock(&p->mutex);
	for (unsigned i = 0; i < p->workers; i++)
		if (p->worker[i].status != NAM_OK)
			return p->worker[i].status;
	return NAM_OK;
}

static void
make_board(struct pool_worker *w, void *arg)
{
	(void)arg;
	if (w->number == 0)
		w->status = olap_board_make(w->w, &w->pool->board);
}

static void
drop_board(struct pool_worker *w, void *arg)
{
	(void)arg;
	if (w->number == 0)
		w->status = olap_board_drop(w->w, w->pool->board);
}

/* Its thread is in the loop at each window: so it lives. */
static enum net_answer_life
answer(void *arg)
{
	(void)arg;
	return NET_LIVES;
}

static nam_status
open_net(struct pool *p, const struct net_config *cfg, struct nam_err *err)
{
	nam_status st = net_open(&p->net, cfg, err);
	if (st == NAM_OK)
		net_on_asked(p->net, answer, NULL);
	for (unsigned i = 0; st == NAM_OK && i < p->workers; i++) {
		p->worker[i] = (struct pool_worker){ .pool = p, .number = i };
		st = net_worker_open(p->net, &p->worker[i].w, err);
		if (st == NAM_OK)
			p->worker[i].started =
			    pthread_create(&p->worker[i].thread, NULL, worker_main, &p->worker[i]) == 0;
		if (st == NAM_OK && !p->worker[i].started)
			st = nam_fail(err, NAM_NOMEM, "no thread for a worker");
	}
	return st;
}

/* ---- other processes ---- */

static void
help_main(struct pool_worker *w, void *arg)
{
	struct pool *p = w->pool;
	struct olap_job *job = NULL;
	if (p->self == p->processes - 1)
		usleep(atomic_load(&p->shared->late_us));
	nam_status st = olap_job_join(w->w, (net_addr){ atomic_load(&p->shared->job) }, &job);
	atomic_fetch_add(&p->shared->came[p->self], 1);
	if (st == NAM_OK) {
		p->shared->fn(w, job, arg);
		olap_job_leave(job);
	}
	atomic_fetch_add(&p->shared->went[p->self], 1);
}

/* A child: takes part in each job for everyone, until the end. */
static void
be_helper(struct pool *p, const struct net_config *cfg, pid_t parent, void *arg)
{
	struct nam_err err;
	unsigned seen = 0, turn;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (p->cores > 0)
		bench_pin(p->core[p->self * p->workers]); /* it looks for jobs there, too */
	if (getppid() != parent)
		_exit(1);
	nam_status st = open_net(p, cfg, &err);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: a process that was to help: %s\n", err.text);
	while (st == NAM_OK && (turn = atomic_load(&p->shared->turn)) != UINT_MAX) {
		if (turn == seen)
			usleep(LOOK_US);
		else
			bench_pool_run(p, help_main, arg);
		seen = turn;
	}
	_exit(st == NAM_OK ? 0 : 1);
}

static nam_status
start_helpers(struct pool *p, const struct net_config *cfg, void *arg, struct nam_err *err)
{
	pid_t parent = getpid();
	p->shared = mmap(NULL, sizeof *p->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return nam_fail(err, NAM_NOMEM, "no memory to share with other processes: %m");
	}
	fflush(NULL);
	for (unsigned i = 1; i < p->processes; i++) {
		p->self = i;
		p->child[i] = fork();
		if (p->child[i] == 0)
			be_helper(p, cfg, parent, arg);
		if (p->child[i] < 0) {
			p->child[i] = 0;
			return nam_fail(err, NAM_IO, "no process that helps: %m");
		}
	}
	p->self = 0;
	return NAM_OK;
}

/* Looks without reaping: its id stays its own until the pool closes. */
static bool
lives(const struct pool *p, unsigned i)
{
	siginfo_t ended = { 0 };
	return p->child[i] != 0 &&
	       waitid(P_PID, (id_t)p->child[i], &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       ended.si_pid == 0;
}

unsigned
bench_pool_helpers(const struct pool *p)
{
	unsigned n = 0;
	for (unsigned i = 1; i < p->processes; i++)
		n += lives(p, i);
	return n;
}

static void *
kill_main(void *arg)
{
	struct pool *p = arg;
	usleep((useconds_t)(p->kill_s * 1e6));
	kill(p->child[p->processes - 1], SIGKILL);
	return NULL;
}

bool
bench_pool_kill(struct pool *p, double seconds)
{
	pthread_t t;
	p->kill_s = seconds;
	if (p->processes < 2 || !lives(p, p->processes - 1) || pthread_create(&t, NULL, kill_main, p) != 0)
		return false;
	pthread_detach(t);
	return true;
}

void
bench_pool_spread(struct pool *p, unsigned workers)
{
	cpu_set_t set;
	p->cores = 0;
	if (workers > POOL_CORES_MAX || sched_getaffinity(0, sizeof set, &set) != 0 ||
	    (unsigned)CPU_COUNT(&set) < workers)
		return;
	for (unsigned i = 0; p->cores < workers; i++)
		if (CPU_ISSET(i, &set))
			p->core[p->cores++] = i;
}

/* Each worker has a core, and each of them is one that this process may use. */
static nam_status
check_cores(const struct pool *p, struct nam_err *err)
{
	cpu_set_t set;
	if (p->cores > 0 && sched_getaffinity(0, sizeof set, &set) != 0)
		return nam_fail(err, NAM_IO, "it is not known which cores are ours: %m");
	NAM_ASSERT(p->cores == 0 || p->cores == p->workers * p->processes);
	for (unsigned i = 0; i < p->cores; i++)
		if (!CPU_ISSET(p->core[i], &set))
			return nam_fail(err, NAM_INVALID, "core %u is not ours to run on", p->core[i]);
	return NAM_OK;
}

nam_status
bench_pool_open(struct pool *p, unsigned workers, unsigned processes, uint64_t bytes,
    const struct bench_common *c, void *arg, struct nam_err *err)
{
	unsigned char secret[64];
	size_t secret_len = NET_SECRET_LEN;
	char address[BENCH_NODE_ADDRESS];
	nam_status st = NAM_OK;
	struct net_config cfg = { .storage = c->storage, .fabric = c->fabric, .cluster = c->cluster };
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->go, NULL);
	pthread_cond_init(&p->over, NULL);
	p->workers = workers;
	p->processes = processes;
	if ((st = check_cores(p, err)) != NAM_OK)
		return st;
	if (c->storage != NULL) {
		st = net_secret_load(c->secret_file, secret, &secret_len, err);
	} else if (c->fabric == NET_TCP || c->fabric == NET_VERBS || processes > 1) {
		nam_random_bytes(secret, NET_SECRET_LEN);
		const struct bench_node n = {
			.fabric = c->fabric, .cluster = c->cluster, .secret = secret, .bytes = bytes
		};
		st = bench_node_start(&n, &p->node, address, err);
		cfg.storage = address;
	} else {
		st = bench_embedded_open(&p->embedded, bytes / BENCH_EMBEDDED_NODES, c->cluster, err);
		cfg.local = p->embedded.local;
	}
	cfg.secret = secret;
	cfg.secret_len = secret_len;
	if (st == NAM_OK && processes > 1)
		st = start_helpers(p, &cfg, arg, err);
	if (st == NAM_OK)
		st = open_net(p, &cfg, err);
	if (st != NAM_OK)
		return st;
	p->provider = net_kind_name(net_node(p->net, 0)->kind);
	st = bench_pool_run(p, make_board, NULL);
	return st == NAM_OK ? NAM_OK : nam_fail(err, st, "no memory for jobs: %s", nam_status_text(st));
}

void
bench_pool_close(struct pool *p)
{
	if (p->shared != NULL)
		atomic_store(&p->shared->turn, UINT_MAX);
	for (unsigned i = 1; i < p->processes; i++)
		if (p->child[i] != 0)
			waitpid(p->child[i], NULL, 0);
	if (p->board.bits != 0)
		bench_pool_run(p, drop_board, NULL);
	pthread_mutex_lock(&p->mutex);
	p->end = true;
	pthread_cond_broadcast(&p->go);
	pthread_mutex_unlock(&p->mutex);
	for (unsigned i = 0; i < p->workers; i++) {
		if (p->worker[i].started)
			pthread_join(p->worker[i].thread, NULL);
		if (p->worker[i].w != NULL)
			net_worker_close(p->worker[i].w);
	}
	if (p->net != NULL)
		net_close(p->net);
	bench_embedded_close(&p->embedded);
	bench_node_stop(p->node);
}

/* ---- jobs ---- */

enum { NO_JOB = 1 }; /* no address: the first worker could not make it */

/* True as long as a process that lives has not counted all of its workers. */
static bool
others_miss(const struct pool *p, const struct pool_job *j, atomic_uint *counted)
{
	if (!j->everyone || p->shared == NULL)
		return false;
	for (unsigned i = 1; i < p->processes; i++)
		if (atomic_load(&counted[i]) < p->workers && lives(p, i))
			return true;
	return false;
}

/* The first worker makes the job, and shows it to the others. */
static struct olap_job *
make_job(struct pool_worker *w, const struct pool_job *j)
{
	struct pool *p = w->pool;
	struct olap_job *job = NULL;
	w->status = olap_job_make(w->w, p->board, j->plan != NULL ? j->plan : "", j->plan_len, &job);
	if (j->everyone && p->shared != NULL && job != NULL) {
		atomic_store(&p->shared->job, olap_job_at(job).bits);
		atomic_fetch_add(&p->shared->turn, 1);
	}
	atomic_store(&p->job, job != NULL ? olap_job_at(job).bits : NO_JOB);
	return job;
}

static void
job_main(struct pool_worker *w, void *arg)
{
	const struct pool_job *j = arg;
	struct pool *p = w->pool;
	struct olap_job *job = NULL;
	struct net_backoff pause = { .base_ns = 2000, .cap_ns = 100000, .yields = 1000 };
	uint64_t at;
	if (w->number == 0) {
		job = make_job(w, j);
	} else {
		while ((at = atomic_load(&p->job)) == 0)
			net_back_off(w->w, &pause);
		w->status = at == NO_JOB ? NAM_GONE : olap_job_join(w->w, (net_addr){ at }, &job);
	}
	/* A job ends only when all workers have come: until then they may still join. */
	atomic_fetch_add(&p->out, 1);
	if (w->status != NAM_OK)
		return;
	w->status = j->fn(w, job, j->arg);
	if (w->number > 0) {
		olap_job_leave(job);
		return;
	}
	while (atomic_load(&p->out) < p->workers || (p->shared != NULL && others_miss(p, j, p->shared->came)))
		net_back_off(w->w, &pause);
	if (j->keep != NULL) {
		*j->keep = job;
		return;
	}
	nam_status st = olap_job_end(job);
	w->status = w->status == NAM_OK ? st : w->status;
}

nam_status
bench_pool_job(struct pool *p, const struct pool_job *j, double *seconds)
{
	struct pool_job job = *j;
	atomic_store(&p->job, 0);
	atomic_store(&p->out, 0);
	for (unsigned i = 1; i < p->processes; i++) {
		atomic_store(&p->shared->came[i], 0);
		atomic_store(&p->shared->went[i], 0);
		atomic_store(&p->shared->part[i], 0);
	}
	if (p->shared != NULL) {
		p->shared->fn = j->fn;
		atomic_store(&p->shared->late_us, (unsigned)(j->late_s * 1e6));
	}
	uint64_t began = nam_clock_ns();
	nam_status st = bench_pool_run(p, job_main, &job);
	*seconds = (double)(nam_clock_ns() - began) / 1e9;
	while (p->shared != NULL && others_miss(p, j, p->shared->went))
		usleep(LOOK_US);
	return st;
}

static void
end_main(struct pool_worker *w, void *job)
{
	if (w->number == 0)
		w->status = olap_job_end(job);
}

nam_status
bench_pool_end(struct pool *p, struct olap_job *job)
{
	return job != NULL ? bench_pool_run(p, end_main, job) : NAM_OK;
}

/* ---- relations ---- */

static nam_status
load_main(struct pool_worker *w, struct olap_job *job, void *arg)
{
	struct pool_relation *r = arg;
	struct olap_phase ph = { 0 };
	struct olap_writer *wr = NULL;
	uint64_t group = (r->tuples + MORSELS - 1) / MORSELS;
	char *t = malloc((size_t)TUPLES * r->width);
	uint32_t m;
	group = group > TUPLES ? group : TUPLES;
	nam_status st = t != NULL ? olap_writer_open(job, r->width, 0, 0, &wr) : NAM_NOMEM;
	if (st == NAM_OK)
		st = olap_phase_begin(&ph, job, 0, (uint32_t)((r->tuples + group - 1) / group));
	while (st == NAM_OK) {
		while ((st = olap_take(&ph, &m)) == NAM_OK) {
			uint64_t at = m * group, end = at + group < r->tuples ? at + group : r->tuples;
			while (st == NAM_OK && at < end) {
				unsigned n = end - at < TUPLES ? (unsigned)(end - at) : TUPLES;
				r->fill(r->arg, at, n, t);
				st = olap_write(wr, t, n);
				at += n;
			}
			if (st != NAM_OK)
				break;
		}
		if (st == NAM_ABSENT)
			st = olap_publish(&ph, wr, NULL, 0);
		if (st == NAM_OK)
			st = olap_settle(&ph);
		if (st != NAM_BUSY)
			break;
		st = NAM_OK;
	}
	if (st == NAM_OK && w->number == 0)
		olap_phase_source(&ph, r->width, 0, &r->source);
	if (st != NAM_OK)
		olap_job_stop(job, st);
	olap_phase_end(&ph);
	olap_writer_close(wr);
	free(t);
	return st;
}

nam_status
bench_pool_load(struct pool *p, struct pool_relation *r, const char *name)
{
	double s;
	const struct pool_job j = { .fn = load_main, .arg = r, .keep = &r->job };
	nam_status st = bench_pool_job(p, &j, &s);
	if (st == NAM_OK)
		bench_progress_end("%s: %llu tuples of %u bytes in %.2f s", name,
		    (unsigned long long)r->tuples, r->width, s);
	return st;
}

/* ---- the cost of a byte ---- */

struct scan {
	const struct pool_relation *r;
	atomic_ullong sum;
	_Atomic uint64_t began, ended;
};

static nam_status
scan_main(struct pool_worker *w, struct olap_job *job, void *arg)
{
	struct scan *s = arg;
	struct olap_rel rel = { 0 };
	struct olap_reader *rd = NULL;
	const void *at;
	uint32_t n;
	uint64_t a = 0, b = 0, c = 0, d = 0, zero = 0;
	nam_status st = olap_rel_load(job, &s->r->source, &rel);
	if (st == NAM_OK)
		st = olap_reader_open(job, &rd);
	if (st != NAM_OK)
		return st;
	atomic_compare_exchange_strong(&s->began, &zero, nam_clock_ns());
	uint32_t each = (rel.windows + w->pool->workers - 1) / w->pool->workers, from = each * w->number;
	uint32_t mine = from >= rel.windows ? 0 : rel.windows - from < each ? rel.windows - from : each;
	olap_reader_begin(rd, &rel, from < rel.windows ? from : 0, mine);
	while ((st = olap_reader_next(rd, &at, &n)) == NAM_OK) {
		const uint64_t *v = at;
		size_t words = (size_t)n * rel.width / 8, i = 0;
		for (; i + 4 <= words; i += 4) {
			a += v[i];
			b += v[i + 1];
			c += v[i + 2];
			d += v[i + 3];
		}
		for (; i < words; i++)
			a += v[i];
	}
	atomic_fetch_add(&s->sum, a + b + c + d);
	atomic_store(&s->ended, nam_clock_ns());
	olap_reader_close(rd);
	olap_rel_free(&rel);
	return st == NAM_ABSENT ? NAM_OK : st;
}

double
bench_pool_c_mem(struct pool *p, const struct pool_relation *r, uint64_t *sum)
{
	struct scan s = { .r = r };
	double all;
	const struct pool_job j = { .fn = scan_main, .arg = &s };
	if (bench_pool_job(p, &j, &all) != NAM_OK || r->tuples == 0)
		return 0;
	*sum = atomic_load(&s.sum);
	return (double)(s.ended - s.began) / 1e9 / ((double)r->tuples * r->width);
}
