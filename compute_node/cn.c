/* cn.c -- a compute node's life: connect, join, run workers, leave. */
#include <base/aside.h>
#include <base/assert.h>
#include <base/clock.h>
#include <base/heap.h>
#include <base/log.h>
#include <compute_node/cn_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	ASIDES = 16,
	HEART_NICE = -10,
	SLACK_NS = 1000,
	WATCH_NS = 10000000,
	SCOUT_NS = 500000,
	SCOUT_IDLE_NS = 10000000,
	LOOK_EVERY = 100,
	RESET_NAP_NS = 20000000,
	RESET_MS = 60000
};

/* ---- the end --------------------------------------------------------------------- */

static void
tell_end(struct cn *cn)
{
	pthread_mutex_lock(&cn->end_lock);
	void (*fn)(void *, const char *) = cn->on_end;
	void *arg = cn->on_end_arg;
	cn->on_end = NULL;
	pthread_mutex_unlock(&cn->end_lock);
	if (fn != NULL)
		fn(arg, net_membership_why(cn->net));
}

static void *
ender_thread(void *arg)
{
	tell_end(arg);
	return NULL;
}

/* On the heart. The host may take its time over the news, so they come on a thread that does
 * nothing else. */
static void
watch_end(void *arg)
{
	struct cn *cn = arg;
	for (unsigned i = 1; !atomic_load(&cn->closing) && net_membership(cn->net) != NET_FENCED; i++) {
		net_sleep(cn->heart->place.net, WATCH_NS);
		if (i % LOOK_EVERY == 0)
			cn_look_at_log(cn);
	}
	if (net_membership(cn->net) != NET_FENCED)
		return;
	pthread_mutex_lock(&cn->end_lock);
	cn->ended = true;
	bool asked = cn->on_end != NULL;
	pthread_mutex_unlock(&cn->end_lock);
	if (asked && pthread_create(&cn->ender, NULL, ender_thread, cn) == 0)
		cn->telling = true;
	else if (asked)
		tell_end(cn);
}

void
cn_on_end(struct cn *cn, void (*fn)(void *arg, const char *why), void *arg)
{
	pthread_mutex_lock(&cn->end_lock);
	cn->on_end = fn;
	cn->on_end_arg = arg;
	bool ended = cn->ended;
	pthread_mutex_unlock(&cn->end_lock);
	if (ended)
		tell_end(cn);
}

/* ---- a worker's thread ---------------------------------------------------------- */

/* The heart comes first and joins the cluster, then the recoverer. */
static nam_status
open_worker(struct cn_worker *w, struct nam_err *err)
{
	struct cn *cn = w->cn;
	nam_status st = NAM_OK;
	if (w == cn->heart && (st = txn_db_open(w->place.net, &cn->txn, &cn->db, err)) != NAM_OK)
		return st;
	if (w == cn->heart)
		sql_guard_helpers(cn->db); /* the recoverer comes next */
	if ((st = txn_worker_open(cn->db, w->place.net, &w->place.txn)) != NAM_OK)
		return nam_fail(err, st, "cannot open a transaction worker: %s", nam_status_text(st));
	w->place.parser = cn->parser;
	if (w == cn->heart && nam_co_start(net_worker_sched(w->place.net), watch_end, cn, CN_STACK) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a worker's stack");
	return NAM_OK;
}

static void
close_worker(struct cn_worker *w)
{
	struct cn *cn = w->cn;
	bool last = w == cn->heart;
	if (w->place.txn != NULL)
		txn_worker_close(w->place.txn);
	/* After the garbage collectors: they ask the catalog's tables which blobs a row names. */
	if (last && cn->cat != NULL)
		cat_close(cn->cat);
	if (last && cn->db != NULL)
		txn_db_close(w->place.net, cn->db);
}

static void
run_job(void *arg)
{
	struct cn_job *job = arg;
	struct cn_worker *w = job->worker;
	job->fn(&w->place, job->arg);
	free(job);
	w->live--;
	nam_co_wake(w->boss);
}

/* Starts what is queued. What the boss does next: */
enum next { SLEEP, LOOK_AGAIN, STOP };
static enum next
serve(struct cn_worker *w)
{
	pthread_mutex_lock(&w->lock);
	struct cn_job *job = w->first;
	w->first = NULL;
	w->last = &w->first;
	bool stop = w->stop, posted = w->stop_posted;
	pthread_mutex_unlock(&w->lock);
	for (struct cn_job *next; job != NULL; job = next) {
		next = job->next;
		w->live++;
		if (nam_co_start(net_worker_sched(w->place.net), run_job, job, job->stack) == NULL) {
			/* No stack to be had: run it here, late but surely. */
			run_job(job);
		}
	}
	if (!stop || w->live > 0)
		return SLEEP;
	return posted ? STOP : LOOK_AGAIN; /* its waker may still be inside nam_co_post */
}

static void
boss(void *arg)
{
	struct cn_worker *w = arg;
	struct nam_err err = { 0 };
	nam_status st = open_worker(w, &err);
	w->boss = nam_co_self();
	pthread_mutex_lock(&w->lock);
	w->status = st;
	w->err = err;
	w->open = true;
	pthread_cond_signal(&w->opened);
	pthread_mutex_unlock(&w->lock);
	for (enum next next = LOOK_AGAIN; st == NAM_OK && (next = serve(w)) != STOP;) {
		if (next == SLEEP)
			nam_co_park();
		else
			nam_co_yield();
	}
	close_worker(w);
}

static void *
worker_thread(void *arg)
{
	struct cn_worker *w = arg;
	struct nam_err err = { 0 };
	nam_heap_enter();
	/* If the heart gets no turn for a lease, the process is fenced. So it gets a higher
	 * priority than threads that compute, if the system allows it. */
	if (w == w->cn->heart)
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), HEART_NICE);
	/* The system lets a thread sleep 50 us longer than it asks for: a commit that waits for a
	 * sync of the log would be late by a third of it. */
	(void)prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	nam_status st = net_worker_open(w->cn->net, &w->place.net, &err);
	if (st == NAM_OK && nam_co_start(net_worker_sched(w->place.net), boss, w, CN_STACK) == NULL) {
		net_worker_close(w->place.net);
		st = nam_fail(&err, NAM_NOMEM, "no memory for a worker's stack");
	}
	if (st != NAM_OK) {
		pthread_mutex_lock(&w->lock);
		w->status = st;
		w->err = err;
		w->open = true;
		pthread_cond_signal(&w->opened);
		pthread_mutex_unlock(&w->lock);
		return NULL;
	}
	/* No client waits for a turn of these two. */
	if (w == w->cn->heart || w == w->cn->recoverer)
		net_worker_background(w->place.net);
	else
		nam_sched_asides(net_worker_sched(w->place.net), w->cn->asides);
	net_worker_run(w->place.net, NULL, NULL);
	net_worker_close(w->place.net);
	return NULL;
}

static nam_status
start_worker(struct cn *cn, unsigned i, struct nam_err *err)
{
	struct cn_worker *w = &cn->worker[i];
	w->cn = cn;
	w->place.worker = i;
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->opened, NULL);
	if (pthread_create(&w->thread, NULL, worker_thread, w) != 0)
		return nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
	char name[16];
	snprintf(name, sizeof name, "namdb-worker-%u", i % 100);
	pthread_setname_np(w->thread, w == cn->heart       ? "namdb-heart"
				      : w == cn->recoverer ? "namdb-recoverer"
							   : name);
	pthread_mutex_lock(&w->lock);
	while (!w->open)
		pthread_cond_wait(&w->opened, &w->lock);
	nam_status st = w->status;
	*err = w->err;
	pthread_mutex_unlock(&w->lock);
	if (st != NAM_OK)
		pthread_join(w->thread, NULL);
	return st;
}

static void
stop_worker(struct cn_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_mutex_unlock(&w->lock);
	nam_co_post(w->boss);
	/* The boss may end only after that call has returned. */
	pthread_mutex_lock(&w->lock);
	w->stop_posted = true;
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
}

/* ---- help from other workers ------------------------------------------------------ */

struct helping {
	void (*fn)(const struct sql_place *place, void *call);
	void *call;
};

static void
help(const struct cn_place *place, void *arg)
{
	struct helping *h = arg;
	const struct sql_place at = { place->txn, place->cat, place->parser };
	h->fn(&at, h->call);
	free(h);
}

static bool
ask_help(void *arg, unsigned k, void (*fn)(const struct sql_place *place, void *call), void *call)
{
	struct cn_worker *w = arg;
	struct helping *h = malloc(sizeof *h);
	if (h == NULL)
		return false;
	*h = (struct helping){ fn, call };
	if (cn_start(w->cn, (w->place.worker + 1 + k) % w->cn->workers, help, h, 0) == NAM_OK)
		return true;
	free(h);
	return false;
}

/* ---- help for other processes ----------------------------------------------------- */

static void
scout(const struct cn_place *place, void *arg)
{
	struct cn *cn = arg;
	struct sql_scout *s;
	const struct sql_scout_config cfg = {
		.at = { place->txn, place->cat, place->parser },
		.crew = cn_crew(cn, place->worker),
		.stop = &cn->closing,
	};
	if (sql_scout_open(&cfg, &s) != NAM_OK)
		return;
	/* After a call others are likely. */
	for (uint64_t pause = SCOUT_IDLE_NS; !atomic_load(&cn->closing);) {
		pause = sql_scout_look(s) ? SCOUT_NS : pause < SCOUT_IDLE_NS ? 2 * pause : SCOUT_IDLE_NS;
		net_sleep(place->net, pause);
	}
	sql_scout_close(s);
}

/* ---- opening -------------------------------------------------------------------- */

/* A node that came back empty has been named by the heart, and is the reason. */
static struct nam_err
cause_of(nam_status st, const struct nam_err *warning, const struct nam_err *said)
{
	struct nam_err is = st == NAM_GONE && warning->text[0] != 0 ? *warning : *said;
	is.status = st;
	return is;
}

static nam_status
open_once(struct cn **out, const struct cn_config *cfg, struct nam_err *err)
{
	err->text[0] = 0;
	unsigned workers = cfg->workers;
	if (workers == 0) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);
		workers = cores < 1 ? 1 : cores > 8 ? 8 : (unsigned)cores;
	}
	struct cn *cn = calloc(1, sizeof *cn + (workers + 2) * sizeof cn->worker[0]);
	if (cn == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a compute node");
	cn->heart = &cn->worker[workers];
	cn->recoverer = &cn->worker[workers + 1];
	pthread_mutex_init(&cn->end_lock, NULL);
	cn->txn = cfg->txn;
	cn->txn.split = true;
	cn->measure = cfg->measure;
	cn->opening = cfg->opening;
	cn->gone_hint = cfg->gone_hint != NULL ? strdup(cfg->gone_hint) : NULL;
	const struct net_config nc = {
		.storage = cfg->storage,
		.fabric = cfg->fabric,
		.cluster = cfg->cluster,
		.secret = cfg->secret,
		.secret_len = cfg->secret_len,
		.local = cfg->local,
		.connect_ms = cfg->connect_ms,
	};
	for (unsigned i = 0; i < workers; i++)
		cn->worker[i].crew =
		    (struct sql_crew){ .workers = workers, .start = ask_help, .arg = &cn->worker[i] };
	nam_status st = net_open(&cn->net, &nc, err);
	if (st != NAM_OK)
		goto fail;
	if ((st = sql_parser_open(cfg->statement_max, &cn->parser)) != NAM_OK) {
		nam_fail(err, st, "cannot start the parser's thread: %s", nam_status_text(st));
		goto fail_net;
	}
	if ((cn->asides = nam_asides_open(ASIDES)) == NULL) {
		st = nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
		goto fail_parser;
	}
	struct nam_err warning = { 0 };
	if ((st = start_worker(cn, workers, &warning)) != NAM_OK) {
		*err = warning;
		goto fail_parser;
	}
	struct nam_err cause = { 0 };
	if ((st = start_worker(cn, workers + 1, &cause)) != NAM_OK) {
		*err = cause_of(st, &warning, &cause);
		goto fail_heart;
	}
	for (; cn->workers < workers; cn->workers++) {
		struct nam_err said = { 0 };
		if ((st = start_worker(cn, cn->workers, &said)) != NAM_OK) {
			*err = cause_of(st, &warning, &said);
			goto fail_workers;
		}
		if (warning.text[0] == 0)
			warning = said;
	}
	struct nam_err told = { 0 };
	if ((st = cn_open_database(cn, &told)) != NAM_OK) {
		*err = cause_of(st, &warning, &told);
		goto fail_workers;
	}
	if (warning.text[0] == 0)
		warning = told;
	if (cfg->helps && cn_start(cn, 0, scout, cn, 0) != NAM_OK) {
		st = nam_fail(err, NAM_NOMEM, "no memory for a worker's stack");
		goto fail_workers;
	}
	cn->opening = NULL;
	atomic_store(&cn->whole, true);
	*err = warning;
	*out = cn;
	return NAM_OK;

fail_workers:
	atomic_store(&cn->closing, true);
	for (unsigned i = cn->workers; i-- > 0;)
		stop_worker(&cn->worker[i]);
	stop_worker(cn->recoverer);
fail_heart:
	atomic_store(&cn->closing, true);
	stop_worker(cn->heart);
fail_parser:
	nam_asides_close(cn->asides);
	sql_parser_close(cn->parser);
fail_net:
	net_close(cn->net);
fail:
	pthread_mutex_destroy(&cn->end_lock);
	free(cn->gone_hint);
	free(cn);
	return st;
}

/* Storage nodes that reset their memory are away for a moment. */
nam_status
cn_open(struct cn **out, const struct cn_config *cfg, struct nam_err *err)
{
	const struct timespec nap = { 0, RESET_NAP_NS };
	struct nam_err local = { 0 };
	char told[sizeof local.text] = "";
	uint64_t until = 0;
	if (err == NULL)
		err = &local;
	for (;;) {
		uint64_t from = nam_clock_ns();
		nam_status st = open_once(out, cfg, err);
		uint64_t now = nam_clock_ns();
		/* Also again, if it has waited meanwhile for a restorer, which has died. */
		if (st == NAM_RESET && (until == 0 || now - from >= RESET_MS * UINT64_C(1000000)))
			until = now + RESET_MS * UINT64_C(1000000);
		if (st == NAM_OK || (st != NAM_RESET && st != NAM_GONE && st != NAM_UNSURE) || now >= until)
			return st;
		if (strcmp(told, err->text) != 0)
			nam_log(NAM_LOG_WARN, "%s", err->text);
		memcpy(told, err->text, sizeof told);
		if (cfg->opening != NULL && atomic_load(&cfg->opening->stop))
			return nam_fail(err, NAM_CANCELLED,
			    "the process was told to end before the storage nodes had reset their memory");
		nanosleep(&nap, NULL);
	}
}

void
cn_close(struct cn *cn)
{
	if (cn == NULL)
		return;
	NAM_ASSERT(atomic_load(&cn->sessions) == 0);
	pthread_mutex_lock(&cn->end_lock);
	atomic_store(&cn->closing, true);
	pthread_mutex_unlock(&cn->end_lock);
	for (unsigned i = cn->workers; i-- > 0;)
		stop_worker(&cn->worker[i]);
	stop_worker(cn->recoverer);
	stop_worker(cn->heart); /* last: it closes what all of them share */
	if (cn->telling)
		pthread_join(cn->ender, NULL);
	pthread_mutex_destroy(&cn->end_lock);
	for (unsigned i = 0; i < cn->workers + 2; i++) {
		pthread_mutex_destroy(&cn->worker[i].lock);
		pthread_cond_destroy(&cn->worker[i].opened);
	}
	nam_asides_close(cn->asides);
	sql_parser_close(cn->parser);
	net_close(cn->net);
	free(cn->gone_hint);
	free(cn);
}

bool
cn_rest(struct cn *cn, unsigned ms)
{
	const struct timespec nap = { 0, 5000000 };
	struct tso *tso = txn_db_oracle(cn->db);
	uint64_t until = nam_clock_ns() + ms * UINT64_C(1000000);
	while (!tso_is_idle(tso) && nam_clock_ns() < until)
		nanosleep(&nap, NULL);
	return tso_is_idle(tso);
}

unsigned
cn_workers(const struct cn *cn)
{
	return cn->workers;
}

struct net *
cn_net(struct cn *cn)
{
	return cn->net;
}

nam_status
cn_start(struct cn *cn, unsigned worker, void (*fn)(const struct cn_place *place, void *arg), void *arg,
    size_t stack)
{
	NAM_ASSERT(worker < cn->workers);
	struct cn_worker *w = &cn->worker[worker];
	struct cn_job *job = malloc(sizeof *job);
	if (job == NULL)
		return NAM_NOMEM;
	*job = (struct cn_job){ .fn = fn, .arg = arg, .stack = stack ? stack : CN_STACK, .worker = w };
	pthread_mutex_lock(&w->lock);
	*w->last = job;
	w->last = &job->next;
	pthread_mutex_unlock(&w->lock);
	nam_co_post(w->boss);
	return NAM_OK;
}

const struct sql_crew *
cn_crew(struct cn *cn, unsigned worker)
{
	return &cn->worker[worker].crew;
}
