/*
 * checkpoint.c -- checkpoints that no user asks for: when the log has grown by much, and before the
 * last process of the cluster ends.
 */
#include <base/clock.h>
#include <base/log.h>
#include <catalog/checkpoint.h>
#include <compute_node/cn_internal.h>

#include <time.h>

#define AGAIN_NS UINT64_C(5000000000)
#define REST_NS  UINT64_C(600000000000)

/* At the end of the last process: a log that has grown by less is replayed in a moment; a database
 * of more than that is not written again within LAST_NS. */
#define GROWN_MIN UINT64_C(0x1000000)
#define HOLDS_MAX UINT64_C(0x8000000)
#define LAST_NS   UINT64_C(2000000000)
#define HANGS_NS  UINT64_C(500000000)
#define LOOK_NS   UINT64_C(5000000)

/* ---- when the log has grown -------------------------------------------------------------- */

/* Behind the last checkpoint the log has grown by as much as that holds, and by `every` at least:
 * so what is written for checkpoints is at most what is written for commits. */
static bool
is_due(const struct txn_log_state *log)
{
	uint64_t grown = log->end - log->full, holds = log->full - log->begin;
	return log->every != 0 && log->end > log->full && grown >= log->every && grown >= holds;
}

/* level: of the line that says why there is none. */
static nam_status
make(struct cn *cn, const struct cn_place *place, uint64_t until_ns, enum nam_log_level level)
{
	struct cat_checkpointed made;
	uint64_t begin = nam_clock_ns();
	const struct txn_checkpoint_limits limits = { .stop = &cn->closing, .until_ns = until_ns };
	nam_status st = cat_checkpoint(place->cat, place->txn, &limits, &made);
	if (st == NAM_OK)
		nam_log(NAM_LOG_INFO,
		    "checkpoint in %.1f s: %u tables, %llu rows, %llu long values, %.1f MiB",
		    (double)(nam_clock_ns() - begin) / 1e9, made.tables, (unsigned long long)made.is.rows,
		    (unsigned long long)made.is.values, (double)made.is.bytes / (1 << 20));
	else if (st != NAM_BUSY && st != NAM_CANCELLED && st != NAM_EXPIRED)
		nam_log(level, "no checkpoint was made: %s; the log goes on growing", nam_status_text(st));
	return st;
}

static void
checkpoint(const struct cn_place *place, void *arg)
{
	struct cn *cn = arg;
	nam_status st = make(cn, place, 0, NAM_LOG_WARN);
	/* What was in its way may be in the way of the next one, and a part of one takes space. */
	uint64_t rest = st == NAM_OK ? 0 : st == NAM_BUSY ? AGAIN_NS : 2 * cn->checkpoint_rest_ns;
	rest = st != NAM_OK && rest < AGAIN_NS ? AGAIN_NS : rest;
	cn->checkpoint_rest_ns = rest < REST_NS ? rest : REST_NS;
	atomic_store(&cn->checkpoint_at_ns, nam_clock_ns() + cn->checkpoint_rest_ns);
	atomic_store(&cn->checkpoints, false);
}

/* Of several processes that find a checkpoint due, one makes it (wal_msg.h, Q6). */
void
cn_look_at_log(struct cn *cn)
{
	struct txn_log_state log;
	if (atomic_load(&cn->checkpoints) || !atomic_load(&cn->whole) ||
	    nam_clock_ns() < atomic_load(&cn->checkpoint_at_ns) ||
	    txn_log_state(cn->heart->place.txn, &log) != NAM_OK || !is_due(&log))
		return;
	/* Workers that are being closed take no job. */
	pthread_mutex_lock(&cn->end_lock);
	bool none = false;
	bool starts =
	    !atomic_load(&cn->closing) && atomic_compare_exchange_strong(&cn->checkpoints, &none, true);
	if (starts && cn_start(cn, 0, checkpoint, cn, 0) != NAM_OK)
		atomic_store(&cn->checkpoints, false);
	pthread_mutex_unlock(&cn->end_lock);
}

/* ---- before the last process ends -------------------------------------------------------- */

/* A restore would replay a third less. */
static bool
is_worth_it(const struct txn_log_state *log)
{
	uint64_t grown = log->end - log->full, holds = log->full - log->begin;
	return log->every != 0 && log->end > log->full && grown >= GROWN_MIN && grown >= holds / 2 &&
	       holds <= HOLDS_MAX;
}

/*
 * No other process has a slot of the oracle, nor has one died that is not recovered yet. Processes
 * that are told to end together see each other: then the one whose slot comes first waits for the
 * others, for cn->last_wait_ms.
 */
static bool
is_alone(const struct cn *cn, const struct cn_place *place)
{
	uint64_t identity[2], until = net_now_ns(place->net) + cn->last_wait_ms * UINT64_C(1000000);
	unsigned n;
	for (;;) {
		nam_status st = tso_living(txn_worker_tso(place->txn), identity, 2, &n);
		if (st == NAM_OK && n <= 1)
			return true;
		if ((st != NAM_OK && st != NAM_FULL) || identity[0] != net_identity(cn->net) ||
		    net_now_ns(place->net) >= until || atomic_load(&cn->closing))
			return false;
		net_sleep(place->net, LOOK_NS);
	}
}

static void
last_checkpoint(const struct cn_place *place, void *arg)
{
	struct cn *cn = arg;
	struct txn_log_state log;
	if (txn_log_state(place->txn, &log) == NAM_OK && is_worth_it(&log) && is_alone(cn, place))
		(void)make(cn, place, cn->last_until_ns, NAM_LOG_INFO);
	atomic_store(&cn->last_done, true);
}

bool
cn_last_checkpoint(struct cn *cn, unsigned wait_ms, bool (*stop)(void *arg), void *arg)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	uint64_t until = nam_clock_ns() + LAST_NS;
	bool none = false;
	if (!txn_db_has_log(cn->db))
		return true;
	/* One that is under way is as good; from now on none begins. */
	while (!atomic_compare_exchange_strong(&cn->checkpoints, &none, true)) {
		if (nam_clock_ns() > until || (stop != NULL && stop(arg)))
			return true;
		none = false;
		nanosleep(&nap, NULL);
	}
	cn->last_until_ns = until;
	cn->last_wait_ms = wait_ms;
	if (cn_start(cn, 0, last_checkpoint, cn, 0) != NAM_OK)
		return true;
	while (!atomic_load(&cn->last_done)) {
		if (nam_clock_ns() > until + HANGS_NS)
			return false;
		if (stop != NULL && stop(arg))
			atomic_store(&cn->closing, true);
		nanosleep(&nap, NULL);
	}
	return true;
}
