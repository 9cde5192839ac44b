/* session_test.c -- the baton between a session's coroutine and its caller, with a fake sql and a
 * fake worker. */
#include <compute_node/cn_internal.h>
#include <net/sim/sim.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a worker: one thread, one scheduler ---- */

enum { THREADS = 2 };
static struct thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct nam_sched *sched;
	struct job {
		void (*fn)(const struct cn_place *, void *);
		void *arg;
		struct job *next;
	} * jobs;
	bool roused, stop;
} thread[THREADS];

static void
rouse(void *arg)
{
	struct thread *t = arg;
	pthread_mutex_lock(&t->lock);
	t->roused = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
}

static void
run_job(void *arg)
{
	struct job *j = arg;
	struct cn_place place = { 0 };
	j->fn(&place, j->arg);
	free(j);
}

static void *
loop(void *arg)
{
	struct thread *t = arg;
	pthread_mutex_lock(&t->lock);
	while (!t->stop || nam_sched_live(t->sched) > 0 || t->jobs != NULL) {
		struct job *j = t->jobs;
		t->jobs = NULL;
		t->roused = false;
		pthread_mutex_unlock(&t->lock);
		for (struct job *next; j != NULL; j = next) {
			next = j->next;
			nam_co_start(t->sched, run_job, j, 64 << 10);
		}
		int ran = nam_sched_run(t->sched);
		pthread_mutex_lock(&t->lock);
		if (ran == 0 && !nam_sched_ready(t->sched) && !t->roused && !t->stop && t->jobs == NULL)
			pthread_cond_wait(&t->more, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

nam_status
cn_start(struct cn *cn, unsigned worker, void (*fn)(const struct cn_place *, void *), void *arg, size_t stack)
{
	(void)cn;
	(void)stack;
	struct thread *t = &thread[worker];
	struct job *j = malloc(sizeof *j);
	*j = (struct job){ fn, arg, NULL };
	pthread_mutex_lock(&t->lock);
	j->next = t->jobs;
	t->jobs = j;
	t->roused = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	return NAM_OK;
}

unsigned
cn_workers(const struct cn *cn)
{
	(void)cn;
	return 2;
}

const struct sql_crew *
cn_crew(struct cn *cn, unsigned worker)
{
	(void)cn;
	(void)worker;
	return NULL;
}

/* ---- a sql that answers what the text says ---- */

struct sql_session {
	struct sql_session_config cfg;
	char state;
};
static _Atomic int open_sessions;
static nam_status open_status = NAM_OK;

nam_status
sql_session_open(const struct sql_session_config *cfg, struct sql_session **out)
{
	if (open_status != NAM_OK)
		return open_status;
	*out = calloc(1, sizeof **out);
	(*out)->cfg = *cfg;
	(*out)->state = 'I';
	atomic_fetch_add(&open_sessions, 1);
	return NAM_OK;
}

void
sql_session_close(struct sql_session *s)
{
	atomic_fetch_sub(&open_sessions, 1);
	free(s);
}

char
sql_session_state(const struct sql_session *s)
{
	return s->state;
}

void
sql_session_counts(const struct sql_session *s, struct net_counts *out)
{
	(void)s;
	*out = (struct net_counts){ .round_trips = 7 };
}

bool
sql_execute(
    struct sql_session *s, const char *text, size_t len, const struct sql_sink *k, struct cat_err *err)
{
	struct sql_column col = { .name = "n", .type = CAT_INT8 };
	if (len == 5 && memcmp(text, "begin", 5) == 0) {
		s->state = 'T';
		return k->done(k->arg, "BEGIN", 0);
	}
	if (len == 4 && memcmp(text, "fail", 4) == 0) {
		strcpy(err->sqlstate, "42601");
		return false;
	}
	if (len == 4 && memcmp(text, "wait", 4) == 0) {
		while (atomic_load(s->cfg.cancel) == 0)
			nam_co_yield();
		strcpy(err->sqlstate, "57014");
		return false;
	}
	if (len == 4 && memcmp(text, "copy", 4) == 0) {
		uint64_t bytes = 0;
		for (;;) {
			const char *p;
			size_t n;
			if (!k->copy_in(k->arg, &p, &n))
				return false;
			if (n == 0)
				break;
			for (size_t i = 0; i < n; i++)
				bytes += (unsigned char)p[i];
			k->progress(k->arg, bytes, 0, 1);
		}
		return k->done(k->arg, "COPY", bytes);
	}
	/* A number: that many batches. */
	int batches = atoi(text);
	int64_t value[4];
	uint8_t null[4] = { 0 };
	struct cat_vec v = { .type = CAT_INT8, .null = null, .i = value };
	struct sql_batch_view b = { .col = &v, .cols = 1, .n = 4 };
	if (!k->begin(k->arg, &col, 1))
		return false;
	for (int i = 0; i < batches; i++) {
		for (int j = 0; j < 4; j++)
			value[j] = i * 4 + j;
		if (!k->rows(k->arg, &b)) {
			strcpy(err->sqlstate, "57014");
			return false;
		}
		nam_co_yield();
	}
	k->notice(k->arg, "NOTICE", "00000", "hello");
	return k->done(k->arg, "SELECT", (uint64_t)batches * 4);
}

/* A prepared statement is its text. */
struct sql_stmt {
	char text[16];
	size_t len;
};

bool
sql_prepare(struct sql_session *s, const char *text, size_t len, const enum cat_type *types, unsigned n,
    struct sql_stmt **out, struct cat_err *err)
{
	(void)s, (void)types, (void)n;
	if (len >= sizeof(*out)->text) {
		strcpy(err->sqlstate, "54000");
		return false;
	}
	*out = calloc(1, sizeof **out);
	memcpy((*out)->text, text, len);
	(*out)->len = len;
	return true;
}

bool
sql_run(struct sql_session *s, struct sql_stmt *st, const struct cat_datum *param, unsigned n,
    const struct sql_sink *k, struct cat_err *err)
{
	(void)param, (void)n;
	return sql_execute(s, st->text, st->len, k, err);
}

void
sql_stmt_close(struct sql_stmt *st)
{
	free(st);
}

/* ---- tests ---- */

struct seen {
	pthread_t caller;
	int64_t sum, limit;
	unsigned begins, dones, notices, pieces;
	uint64_t rows;
	bool slow;
};

static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct seen *x = arg;
	assert_true(pthread_equal(pthread_self(), x->caller));
	assert_int_equal(n, 1);
	assert_string_equal(col[0].name, "n");
	x->begins++;
	return true;
}
static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct seen *x = arg;
	assert_true(pthread_equal(pthread_self(), x->caller));
	if (x->slow)
		usleep(2000); /* longer than the caller's and the worker's patience */
	for (unsigned i = 0; i < b->n; i++)
		x->sum += b->col[0].i[i];
	return x->limit == 0 || x->sum < x->limit;
}
static bool
on_done(void *arg, const char *tag, uint64_t rows)
{
	struct seen *x = arg;
	(void)tag;
	x->dones++;
	x->rows = rows;
	return true;
}
static void
on_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct seen *x = arg;
	(void)severity;
	(void)sqlstate;
	assert_string_equal(text, "hello");
	x->notices++;
}
static bool
on_copy_in(void *arg, const char **bytes, size_t *len)
{
	struct seen *x = arg;
	*bytes = "\1\2\3";
	*len = x->pieces++ < 10 ? 3 : 0;
	return true;
}

static struct sql_sink
sink(struct seen *x)
{
	*x = (struct seen){ .caller = pthread_self() };
	return (struct sql_sink){ .arg = x,
		.begin = on_begin,
		.rows = on_rows,
		.done = on_done,
		.notice = on_notice,
		.copy_in = on_copy_in };
}

static struct cn *
fake_cn(void)
{
	static _Alignas(64) char memory[sizeof(struct cn) + sizeof(struct cn_worker)];
	return (struct cn *)memory;
}

static void
answers(void **state)
{
	(void)state;
	struct cn_session *s;
	struct seen x;
	struct cat_err err = { 0 };
	struct net_counts counts;
	struct sql_sink k = sink(&x);
	assert_int_equal(cn_session_open(fake_cn(), UINT_MAX, &s), NAM_OK);
	assert_int_equal(cn_session_state(s), 'I');
	assert_true(cn_exec(s, "3", 1, &k, &err));
	assert_int_equal(x.sum, 66);
	assert_int_equal(x.begins + x.dones + x.notices, 3);
	k = sink(&x);
	x.slow = true;
	assert_true(cn_exec(s, "3", 1, &k, &err));
	assert_int_equal(x.sum, 66);
	/* The sink may say stop. */
	k = sink(&x);
	x.limit = 10;
	assert_false(cn_exec(s, "9", 1, &k, &err));
	assert_string_equal(err.sqlstate, "57014");
	assert_int_equal(x.sum, 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7);
	k = sink(&x);
	assert_true(cn_exec(s, "copy", 4, &k, &err));
	assert_int_equal(x.rows, 60);
	assert_false(cn_exec(s, "fail", 4, &k, &err));
	assert_string_equal(err.sqlstate, "42601");
	assert_true(cn_exec(s, "begin", 5, &k, &err));
	assert_int_equal(cn_session_state(s), 'T');
	cn_session_counts(s, &counts);
	assert_int_equal(counts.round_trips, 7);
	/* A sink that is not interested. */
	const struct sql_sink none = { 0 };
	assert_true(cn_exec(s, "5", 1, &none, &err));
	assert_true(cn_exec(s, "copy", 4, &none, &err));
	cn_session_close(s);
	assert_int_equal(atomic_load(&open_sessions), 0);
	open_status = NAM_NOMEM;
	assert_int_equal(cn_session_open(fake_cn(), 0, &s), NAM_NOMEM);
	open_status = NAM_OK;
}

static void *
canceller(void *arg)
{
	usleep(5000);
	cn_cancel(arg);
	return NULL;
}

static void
cancel(void **state)
{
	(void)state;
	struct cn_session *s;
	struct cat_err err = { 0 };
	struct seen x;
	struct sql_sink k = sink(&x);
	assert_int_equal(cn_session_open(fake_cn(), 0, &s), NAM_OK);
	cn_cancel(s); /* nothing runs: forgotten */
	assert_true(cn_exec(s, "1", 1, &k, &err));
	pthread_t t;
	pthread_create(&t, NULL, canceller, s);
	assert_false(cn_exec(s, "wait", 4, &k, &err));
	assert_string_equal(err.sqlstate, "57014");
	pthread_join(t, NULL);
	assert_true(cn_exec(s, "1", 1, &k, &err));
	cn_session_close(s);
}

static void *
client(void *arg)
{
	struct cat_err err = { 0 };
	for (int i = 0; i < 100; i++) {
		struct cn_session *s;
		struct seen x;
		struct sql_sink k = sink(&x);
		assert_int_equal(cn_session_open(arg, UINT_MAX, &s), NAM_OK);
		for (int j = 0; j < i % 5; j++)
			assert_true(cn_exec(s, "4", 1, &k, &err));
		assert_int_equal(x.sum, i % 5 * 120);
		cn_session_close(s);
	}
	return NULL;
}

static void
many(void **state)
{
	(void)state;
	enum { CLIENTS = 6 };
	pthread_t t[CLIENTS];
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&t[i], NULL, client, fake_cn());
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(atomic_load(&open_sessions), 0);
	assert_int_equal(atomic_load(&fake_cn()->sessions), 0);
}

/* Rows that are pulled: all of them, some of them, none of them. */
static void
pulled(void **state)
{
	(void)state;
	struct cn_session *s;
	struct cat_err err = { 0 };
	struct seen x;
	struct sql_sink k = sink(&x);
	struct sql_stmt *st = NULL;
	const struct sql_batch_view *b;
	assert_int_equal(cn_session_open(fake_cn(), UINT_MAX, &s), NAM_OK);
	assert_false(cn_prepare(s, "much longer than that", 21, &st, &err));
	assert_null(st);
	assert_true(cn_prepare(s, "4", 1, &st, &err));
	for (int most = 0; most <= 5; most++) {
		int64_t sum = 0;
		enum cn_next next = CN_ROWS;
		int got = 0;
		cn_run(s, st, NULL, 0, &k, &err);
		for (; got < most && (next = cn_next(s, &b)) == CN_ROWS; got++)
			for (unsigned i = 0; i < b->n; i++)
				sum += b->col[0].i[i];
		assert_int_equal(got, most < 4 ? most : 4);
		assert_int_equal(sum, 8 * got * got - 2 * got);
		assert_int_equal(next, most == 5 ? CN_DONE : CN_ROWS);
		cn_stop(s); /* nothing, where it has ended */
		assert_true(cn_exec(s, "1", 1, &k, &err));
	}
	/* In a block the rest is read: the statement must not fail. */
	assert_true(cn_exec(s, "begin", 5, &k, &err));
	cn_run(s, st, NULL, 0, &k, &err);
	assert_int_equal(cn_next(s, &b), CN_ROWS);
	assert_int_equal(cn_stop(s), CN_DONE);
	struct sql_stmt *bad = NULL;
	assert_true(cn_prepare(s, "fail", 4, &bad, &err));
	cn_run(s, bad, NULL, 0, &k, &err);
	assert_int_equal(cn_next(s, &b), CN_FAILED);
	assert_string_equal(err.sqlstate, "42601");
	cn_forget(s, bad);
	cn_forget(s, st);
	cn_session_close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(cancel),
		cmocka_unit_test(pulled),
		cmocka_unit_test(many),
	};
	struct net_sim *sim; /* an unused net: sessions ask it whether the process is fenced */
	const struct net_sim_config one = { .seed = 1, .nodes = 1, .region_bytes = 1 << 20 };
	if (net_sim_open(&sim, &one) != NAM_OK || net_sim_attach(sim, &fake_cn()->net) != NAM_OK)
		return 1;
	fake_cn()->workers = THREADS;
	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&thread[i].lock, NULL);
		pthread_cond_init(&thread[i].more, NULL);
		thread[i].sched = nam_sched_open();
		nam_sched_on_post(thread[i].sched, rouse, &thread[i]);
		pthread_create(&thread[i].thread, NULL, loop, &thread[i]);
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_lock(&thread[i].lock);
		thread[i].stop = true;
		pthread_cond_signal(&thread[i].more);
		pthread_mutex_unlock(&thread[i].lock);
		pthread_join(thread[i].thread, NULL);
		nam_sched_close(thread[i].sched);
	}
	net_close(fake_cn()->net);
	net_sim_close(sim);
	return failed;
}
