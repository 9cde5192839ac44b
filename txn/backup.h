/*
 * backup.h -- the cluster's log, read while transactions run: from its begin to a position `end`,
 * which was its end when the backup began, and what says of attempts before `end` that they were
 * undone (cut.h decides what of that is kept).
 *
 * All functions run in a coroutine of the worker and may park.
 */
#ifndef NAM_TXN_BACKUP_H
#define NAM_TXN_BACKUP_H

#include <txn/txn.h>

struct txn_backup;

/* What ends it before its end. Borrowed. */
struct txn_backup_limits {
	const _Atomic int *cancel; /* not 0: NAM_CANCELLED; NULL = never */
};

struct txn_backup_plan {
	uint64_t cluster;  /* number of the cluster */
	unsigned node;     /* id of the storage node that has the log; set also on an error */
	uint64_t begin;    /* positions: where the log begins */
	uint64_t whole;    /* wal_format.h, W8: at most `end` */
	uint64_t end;      /* where the backup ends */
	uint64_t behind;   /* what undoes an attempt before `end` lies before this one */
	int64_t time;      /* what was committed by then lies before `end`; as net_wall_us */
	uint32_t read_max; /* cap of txn_backup_read */
};

/*
 * Waits until no checkpoint is under way; none begins until txn_backup_close, or until the backup
 * has been silent for 5 s. waits(arg), unless NULL: a checkpoint is under way. NAM_UNSUPPORTED: the
 * cluster has no log; NAM_REFUSED: its life is over; NAM_CANCELLED, NAM_UNLOGGED, NAM_NOMEM,
 * NAM_GONE, and what txn_begin returns.
 */
nam_status txn_backup_open(struct txn_worker *tw, const struct txn_backup_limits *limits,
    void (*waits)(void *arg), void *arg, struct txn_backup **out, struct txn_backup_plan *plan);
/*
 * Whole records from that position on (wal_read_live), from plan->begin to plan->behind. To be
 * called at least once a second. NAM_ABSENT: a checkpoint of before has cut off the begin: close,
 * and open again; NAM_BUSY: another round has begun, because this one was silent: likewise.
 */
nam_status txn_backup_read(
    struct txn_backup *b, uint64_t position, void *out, uint32_t cap, uint32_t *got, uint64_t *next);
/* Tells the log that the backup is under way, now and then; what txn_backup_read does as well. */
nam_status txn_backup_go_on(struct txn_backup *b);
void txn_backup_close(struct txn_backup *b);

#endif
