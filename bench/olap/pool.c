/* pool.c -- threads that run jobs over relations in remote memory. */
#include "pool.h"

#include <base/clock.h>
#include <bench/node.h>
#include <net/secret.h>

#include <stdlib.h>
#include <string.h>

enum { STACK = 256 << 10, TUPLES = 4096, MORSELS = 4096 };

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

nam_status
bench_pool_open(
    struct pool *p, unsigned workers, uint64_t bytes, const struct bench_common *c, struct nam_err *err)
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
	if (c->storage != NULL) {
		st = net_secret_load(c->secret_file, secret, &secret_len, err);
	} else if (c->fabric == NET_TCP || c->fabric == NET_VERBS) {
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
	if (st == NAM_OK)
		st = net_open(&p->net, &cfg, err);
	for (unsigned i = 0; st == NAM_OK && i < workers; i++) {
		p->worker[i] = (struct pool_worker){ .pool = p, .number = i };
		st = net_worker_open(p->net, &p->worker[i].w, err);
		if (st == NAM_OK)
			p->worker[i].started =
			    pthread_create(&p->worker[i].thread, NULL, worker_main, &p->worker[i]) == 0;
		if (st == NAM_OK && !p->worker[i].started)
			st = nam_fail(err, NAM_NOMEM, "no thread for a worker");
	}
	if (st != NAM_OK)
		return st;
	p->provider = net_kind_name(net_node(p->net, 0)->kind);
	st = bench_pool_run(p, make_board, NULL);
	return st == NAM_OK ? NAM_OK : nam_fail(err, st, "no memory for jobs: %s", nam_status_text(st));
}

void
bench_pool_close(struct pool *p)
{
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

struct job_turn {
	nam_status (*fn)(struct pool_worker *w, struct olap_job *job, void *arg);
	void *arg;
	struct olap_job **keep;
};

enum { NO_JOB = 1 }; /* no address: the first worker could not make it */

static void
job_main(struct pool_worker *w, void *arg)
{
	struct job_turn *t = arg;
	struct pool *p = w->pool;
	struct olap_job *job = NULL;
	struct net_backoff pause = { .base_ns = 2000, .cap_ns = 100000, .yields = 1000 };
	uint64_t at;
	if (w->number == 0) {
		w->status = olap_job_make(w->w, p->board, "", 0, &job);
		atomic_store(&p->job, job != NULL ? olap_job_at(job).bits : NO_JOB);
	} else {
		while ((at = atomic_load(&p->job)) == 0)
			net_back_off(w->w, &pause);
		w->status = at == NO_JOB ? NAM_GONE : olap_job_join(w->w, (net_addr){ at }, &job);
	}
	/* A job ends only when all workers have come: until then they may still join. */
	atomic_fetch_add(&p->out, 1);
	if (w->status != NAM_OK)
		return;
	w->status = t->fn(w, job, t->arg);
	if (w->number > 0) {
		olap_job_leave(job);
		return;
	}
	while (atomic_load(&p->out) < p->workers)
		net_back_off(w->w, &pause);
	if (t->keep != NULL) {
		*t->keep = job;
		return;
	}
	nam_status st = olap_job_end(job);
	w->status = w->status == NAM_OK ? st : w->status;
}

nam_status
bench_pool_job(struct pool *p, nam_status (*fn)(struct pool_worker *w, struct olap_job *job, void *arg),
    void *arg, double *seconds, struct olap_job **keep)
{
	struct job_turn t = { fn, arg, keep };
	atomic_store(&p->job, 0);
	atomic_store(&p->out, 0);
	uint64_t began = nam_clock_ns();
	nam_status st = bench_pool_run(p, job_main, &t);
	*seconds = (double)(nam_clock_ns() - began) / 1e9;
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
	nam_status st = bench_pool_job(p, load_main, r, &s, &r->job);
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
	if (bench_pool_job(p, scan_main, &s, &all, NULL) != NAM_OK || r->tuples == 0)
		return 0;
	*sum = atomic_load(&s.sum);
	return (double)(s.ended - s.began) / 1e9 / ((double)r->tuples * r->width);
}
