/*
 * checkpoint.h -- a checkpoint of the cluster's log: rows, long values and sequences' numbers as
 * snapshots show them are appended once more, so that the log needs nothing from before the
 * checkpoint's begin (logged_format.h, J7 to J9; the log's rounds: wal/remote/wal_msg.h, Q6).
 *
 * What there is to append its caller knows (catalog/checkpoint.c). The rules:
 *   - each row is one that a transaction shows which was begun after txn_checkpoint_begin;
 *   - that transaction ends only after txn_checkpoint_received;
 *   - each row of each table, and each number, is appended; a row of a table that was made
 *     meanwhile, or has been dropped, may be left out.
 * All functions run in a coroutine of the worker and may park.
 */
#ifndef NAM_TXN_CHECKPOINT_H
#define NAM_TXN_CHECKPOINT_H

#include <txn/txn.h>

struct txn_checkpoint;

struct txn_checkpoint_counts {
	uint64_t rows, values, numbers, bytes; /* bytes: of records */
};

/* What ends it before its end. Borrowed. */
struct txn_checkpoint_limits {
	bool over;                 /* another process may be at work on one: its fails */
	const _Atomic int *cancel; /* not 0: NAM_CANCELLED; NULL = never */
	const _Atomic bool *stop;  /* likewise */
	uint64_t until_ns;         /* of the worker's clock: NAM_EXPIRED; 0 = never */
};

/*
 * Transactions of this worker that begin from now on see every commit whose record lies before the
 * begin. NAM_BUSY: another one is under way; NAM_UNSUPPORTED: the cluster has no log; NAM_REFUSED:
 * its life is over; NAM_UNLOGGED; NAM_NOMEM; NAM_GONE.
 */
nam_status txn_checkpoint_begin(
    struct txn_worker *tw, const struct txn_checkpoint_limits *limits, struct txn_checkpoint **out);
/* What the limits say; and tells the log that the checkpoint is under way, now and then. To be
 * called at least once a second. NAM_BUSY: another one has begun. */
nam_status txn_checkpoint_go_on(struct txn_checkpoint *c);
/* A row as txn_scan_next has given it. Errors of all that append: NAM_BUSY: another checkpoint has
 * begun; NAM_NO_SPACE; NAM_UNLOGGED; NAM_GONE; those of the limits. */
nam_status txn_checkpoint_row(
    struct txn_checkpoint *c, const struct txn_table *table, const struct txn_row *row);
/* A long value that such a row names. */
nam_status txn_checkpoint_value(
    struct txn_checkpoint *c, const struct txn_table *table, const struct txn_blob *b, const void *bytes);
/* As txn_log_number. */
nam_status txn_checkpoint_number(
    struct txn_checkpoint *c, net_addr word, uint32_t generation, int64_t number);
/* Ids of tables below this one may have been given out. */
nam_status txn_checkpoint_ids(struct txn_checkpoint *c, uint64_t next);
/* All that was appended so far is received. After an error of any of these: nothing is on its way
 * any more. */
nam_status txn_checkpoint_received(struct txn_checkpoint *c);
/* It is whole: the log is to begin at its begin. Waits until it does, or until an end that the
 * limits make: then it will. c is gone. */
nam_status txn_checkpoint_end(struct txn_checkpoint *c);
/* It is given up: the log stays as it was, but for what was appended. c is gone. */
void txn_checkpoint_quit(struct txn_checkpoint *c);
void txn_checkpoint_counts(const struct txn_checkpoint *c, struct txn_checkpoint_counts *out);

/* How far the log reaches. */
struct txn_log_state {
	uint64_t begin, end; /* positions of the log: from where, and up to where it is flushed */
	uint64_t full;       /* where the last checkpoint, or the restore, had ended */
	uint64_t every;      /* bytes behind `full` at which one is due, 0 = never */
	/* Since the log's node began. */
	uint64_t syncs, records, bytes, written; /* written: bytes of blocks, perhaps compressed */
	uint64_t sync_ns;                        /* how long one takes at present */
	uint64_t full_wall_us;                   /* wall clock of `full` */
};
/* One READ. NAM_UNSUPPORTED: the cluster has no log. */
nam_status txn_log_state(struct txn_worker *tw, struct txn_log_state *out);

#endif
