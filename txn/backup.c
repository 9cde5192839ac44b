/*
 * backup.c -- the end of a backup is chosen, and the log is read up to there (backup.h).
 *
 * The round of a backup (wal_msg.h, Q8) gives the position and the greatest CID before it. When a
 * snapshot covers that CID, each attempt that has a record before the position has ended, and if it
 * was undone, the record that says so is flushed (J3). So `behind` is how far the log is flushed
 * then.
 */
#include "backup.h"
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>

enum { BUSY_NS = 1000000, TELL_NS = 500000000 };

struct txn_backup {
	struct txn_worker *tw;
	struct wal_rounds round; /* on the first copy, which is the one that is read */
	struct txn_backup_limits limits;
	uint64_t told_ns; /* when the log has heard of it last */
	int64_t time;
};

static nam_status
limit(const struct txn_backup *b)
{
	return b->limits.cancel != NULL && atomic_load(b->limits.cancel) != 0 ? NAM_CANCELLED : NAM_OK;
}

static nam_status
take_round(struct txn_backup *b, void (*waits)(void *arg), void *arg)
{
	nam_status st;
	bool told = false;
	for (;;) {
		/* Before it: what was committed by then lies before the round's position. */
		b->time = net_wall_us(b->tw->w);
		st = wal_log_round(b->tw->w, &b->tw->db->wal, 1, false, &b->round);
		if (st != NAM_BUSY)
			break;
		if (waits != NULL && !told)
			waits(arg);
		told = true;
		if ((st = limit(b)) != NAM_OK)
			return st;
		net_sleep(b->tw->w, BUSY_NS);
	}
	struct wal_line line;
	if (nam_fault(BACKUP_SHORT) && wal_log_line(b->tw->w, &b->tw->db->wal, &line) == NAM_OK)
		b->round.position.at[0] = line.flushed;
	b->told_ns = net_now_ns(b->tw->w);
	return st;
}

/* A snapshot shows all that lies before the round's position. */
static nam_status
cover(struct txn_backup *b)
{
	const struct txn_limits within = { .cancel = b->limits.cancel };
	struct txn *t;
	if (b->round.stamp != 0 && !nam_fault(BACKUP_UNCOVERED))
		tso_answered(b->tw->db->tso, b->round.stamp);
	txn_reach(b->tw);
	nam_status st = txn_begin_by(b->tw, TXN_REPEATABLE_READ, &within, &t);
	if (st == NAM_OK)
		txn_abort(t);
	return st;
}

static nam_status
choose(struct txn_backup *b, struct txn_backup_plan *plan)
{
	struct txn_db *db = b->tw->db;
	struct wal_line line;
	uint32_t record;
	nam_status st = cover(b);
	/* What was received before the round may not be flushed yet. */
	if (st == NAM_OK)
		st = txn_flush_wait(b->tw, b->round.position);
	if (st == NAM_OK)
		st = wal_log_line(b->tw->w, &db->wal, &line);
	if (st == NAM_OK && line.life != db->wal.life)
		st = NAM_REFUSED;
	if (st == NAM_OK)
		st = wal_log_most(b->tw->w, db->wal.copy[0].region, &record, &plan->read_max);
	if (st != NAM_OK)
		return st;
	plan->cluster = db->number;
	plan->begin = line.begin;
	plan->end = b->round.position.at[0];
	plan->whole = line.full < plan->end ? line.full : plan->end;
	plan->behind = line.flushed;
	/* The waits may have been long: the round is this backup's still, so the begin holds. */
	b->told_ns = 0;
	return txn_backup_go_on(b);
}

nam_status
txn_backup_open(struct txn_worker *tw, const struct txn_backup_limits *limits, void (*waits)(void *arg),
    void *arg, struct txn_backup **out, struct txn_backup_plan *plan)
{
	*plan = (struct txn_backup_plan){ .node = tw->db->wal.copy[0].region };
	if (tw->db->wal.copies == 0)
		return NAM_UNSUPPORTED;
	struct txn_backup *b = calloc(1, sizeof *b);
	if (b == NULL)
		return NAM_NOMEM;
	b->tw = tw;
	b->limits = *limits;
	nam_status st = take_round(b, waits, arg);
	plan->time = b->time;
	if (st == NAM_OK)
		st = choose(b, plan);
	if (st == NAM_OK)
		*out = b;
	else
		txn_backup_close(b);
	return st;
}

nam_status
txn_backup_go_on(struct txn_backup *b)
{
	uint64_t now = net_now_ns(b->tw->w);
	nam_status st = limit(b);
	if (st != NAM_OK || now - b->told_ns <= TELL_NS)
		return st;
	st = wal_log_round_is(b->tw->w, &b->tw->db->wal, &b->round, true);
	b->told_ns = now;
	return st == NAM_REFUSED ? NAM_BUSY : st;
}

nam_status
txn_backup_read(
    struct txn_backup *b, uint64_t position, void *out, uint32_t cap, uint32_t *got, uint64_t *next)
{
	nam_status st = txn_backup_go_on(b);
	return st == NAM_OK ? wal_log_read_live(b->tw->w, &b->tw->db->wal, position, out, cap, got, next)
			    : st;
}

void
txn_backup_close(struct txn_backup *b)
{
	/* The next round need not wait until this one has been silent for long. */
	if (b->round.copies != 0)
		(void)wal_log_round_is(b->tw->w, &b->tw->db->wal, &b->round, false);
	free(b);
}
