/*
 * database.c -- a compute node opens the cluster's database: the catalog, and all that is in the
 * log, if this process is the one that restores it.
 */
#include <base/clock.h>
#include <base/log.h>
#include <catalog/restore.h>
#include <compute_node/cn_internal.h>

#include <stdlib.h>

/* Of the restore, in permille: reading the log, and all. */
enum { LOG_PART = 150, ALL = 1000 };
#define TELL_NS UINT64_C(2000000000) /* of a line for the log */
#define SHOW_NS UINT64_C(100000000)  /* of a word for other processes */

struct opening {
	struct cn *cn;
	uint64_t told_ns, shown_ns;
	unsigned permille; /* told last */
	nam_status status;
	struct nam_err err;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done; /* lock */
};

/* ---- progress ---- */

static void
publish(const struct opening *o, unsigned permille)
{
	if (o->cn->opening != NULL)
		atomic_store(&o->cn->opening->restoring, 1 + permille);
}

static bool
is_time(uint64_t *last_ns, uint64_t every_ns)
{
	uint64_t now = nam_clock_ns();
	if (now - *last_ns < every_ns)
		return false;
	*last_ns = now;
	return true;
}

/* On worker 0. */
static void
tell(void *arg, enum cat_restoring_part which, uint64_t done, uint64_t all)
{
	struct opening *o = arg;
	double part = all > 0 && done < all ? (double)done / (double)all : 1;
	unsigned permille = which == CAT_RESTORING_LOG ? (unsigned)(part * LOG_PART)
						       : LOG_PART + (unsigned)(part * (ALL - LOG_PART));
	/* A log that has to be read twice is found to be so on the way. */
	permille = permille > o->permille ? permille : o->permille;
	o->permille = permille;
	publish(o, permille);
	if (is_time(&o->shown_ns, SHOW_NS))
		txn_life_tell(o->cn->worker[0].place.txn, permille);
	if (is_time(&o->told_ns, TELL_NS))
		nam_log(NAM_LOG_WARN, "restoring the database: %u %%", permille / 10);
}

static void
tell_of_other(void *arg, unsigned permille)
{
	struct opening *o = arg;
	publish(o, permille);
	if (is_time(&o->told_ns, TELL_NS))
		nam_log(NAM_LOG_WARN, "another process restores the database: %u %%", permille / 10);
}

/* ---- help ---- */

struct helping {
	void (*fn)(struct txn_worker *tw, void *call);
	void *call;
};

static void
help(const struct cn_place *place, void *arg)
{
	struct helping *h = arg;
	h->fn(place->txn, h->call);
	free(h);
}

static bool
ask_help(void *arg, unsigned k, void (*fn)(struct txn_worker *tw, void *call), void *call)
{
	struct helping *h = malloc(sizeof *h);
	if (h == NULL)
		return false;
	*h = (struct helping){ fn, call };
	if (cn_start(arg, 1 + k, help, h, 0) == NAM_OK)
		return true;
	free(h);
	return false;
}

/* ---- opening ---- */

static nam_status
restore(struct opening *o, struct txn_worker *tw)
{
	struct cn *cn = o->cn;
	struct cat_restored restored = { 0 };
	uint64_t begin = nam_clock_ns();
	const struct cat_restoring how = { .helpers = cn->workers - 1,
		.start = ask_help,
		.start_arg = cn,
		.told = tell,
		.told_arg = o,
		.stop = cn->opening != NULL ? &cn->opening->stop : NULL };
	publish(o, 0);
	nam_status st = cat_restore(cn->cat, tw, &how, &restored, &o->err);
	if (st == NAM_OK)
		nam_log(NAM_LOG_WARN,
		    "restored the database in %.1f s: %llu tables, %llu rows, out of %llu records of the log",
		    (double)(nam_clock_ns() - begin) / 1e9, (unsigned long long)restored.tables,
		    (unsigned long long)restored.rows, (unsigned long long)restored.records);
	return st;
}

static nam_status
open_catalog(struct opening *o, struct txn_worker *tw)
{
	struct cn *cn = o->cn;
	bool restorer, restores;
	const struct txn_life_wait wait = {
		.stop = cn->opening != NULL ? &cn->opening->stop : NULL, .told = tell_of_other, .told_arg = o
	};
	nam_status st = txn_life(tw, &wait, &restorer, &restores, &o->err);
	if (st != NAM_OK)
		return st;
	st = restorer ? cat_open_empty(tw, &cn->cat) : cat_open(tw, &cn->cat);
	if (st != NAM_OK)
		nam_fail(&o->err, st, "cannot open the catalog: %s", nam_status_text(st));
	if (st == NAM_OK && restores)
		st = restore(o, tw);
	if (st == NAM_OK && restorer)
		st = txn_life_done(tw, wait.stop, &o->err);
	if (st != NAM_OK && restorer)
		txn_life_quit(tw);
	return st;
}

/* On worker 0; the others have no job but to help it. */
static void
open_it(const struct cn_place *place, void *arg)
{
	struct opening *o = arg;
	struct cn *cn = o->cn;
	o->status = open_catalog(o, place->txn);
	if (o->status == NAM_OK && cn->measure)
		sql_costs_measure(place->net, txn_db_root(cn->db, 0));
	for (unsigned i = 0; i < cn->workers; i++)
		cn->worker[i].place.cat = cn->cat;
	pthread_mutex_lock(&o->lock);
	o->done = true;
	pthread_cond_signal(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

nam_status
cn_open_database(struct cn *cn, struct nam_err *err)
{
	struct opening o = { .cn = cn, .told_ns = nam_clock_ns() };
	pthread_mutex_init(&o.lock, NULL);
	pthread_cond_init(&o.changed, NULL);
	if (cn_start(cn, 0, open_it, &o, 0) != NAM_OK) {
		o.status = nam_fail(&o.err, NAM_NOMEM, "no memory for a worker's stack");
		o.done = true;
	}
	pthread_mutex_lock(&o.lock);
	while (!o.done)
		pthread_cond_wait(&o.changed, &o.lock);
	pthread_mutex_unlock(&o.lock);
	pthread_mutex_destroy(&o.lock);
	pthread_cond_destroy(&o.changed);
	if (cn->opening != NULL)
		atomic_store(&cn->opening->restoring, 0);
	*err = o.err;
	return o.status;
}
