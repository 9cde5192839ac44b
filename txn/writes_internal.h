/* writes_internal.h -- what a transaction has written and locked, and how its commit is logged. */
#ifndef NAM_TXN_WRITES_INTERNAL_H
#define NAM_TXN_WRITES_INTERNAL_H

#include "attempt_internal.h"

/* local.c: a commit asks whether another one of this process has changed, or is changing, a record
 * that it changes. NAM_CONFLICT: it has. leave: with the CID that the records have now, 0 = they
 * are as before. */
nam_status txn_local_open(struct txn_db *db);
void txn_local_close(struct txn_db *db);
nam_status txn_local_enter(struct txn *t);
void txn_local_leave(struct txn *t, tso_cid cid);

/*
 * logged.c. start: sends the records of a commit that is to be decided; they leave with the
 * doorbell
 * of the verbs posted next. wait: until the log has received them (J1); always after start. An
 * error: the transaction has to be undone.
 */
nam_status txn_log_start(struct txn *t, const struct txn_intent_head *h);
nam_status txn_log_wait(struct txn *t);
/* J3: says in the log that an attempt was undone, and waits until that is flushed. */
/* copies: bits of those that may have its records; no other one can get them any more. */
nam_status txn_log_undone(struct txn_worker *tw, uint64_t lock, uint64_t check, unsigned copies);
/* *copies: bits of those that have received that attempt's last record, and no later one of its
 * intent. *has: all have. */
nam_status txn_log_has(
    struct txn_worker *tw, uint64_t lock, uint64_t check, bool *has, unsigned *copies, struct wal_ends *end);
/* Waits until the log is flushed up to a position of each copy. NAM_UNLOGGED: it is broken. */
nam_status txn_flush_wait(struct txn_worker *tw, struct wal_ends end);
/* Also NAM_CANCELLED, NAM_EXPIRED, if l says so when at least least_ns have passed. */
nam_status txn_flush_wait_by(
    struct txn_worker *tw, struct wal_ends end, const struct txn_limits *l, uint64_t least_ns);
void txn_flush_add(struct txn_worker *tw, struct txn_flush *f);
/* What waits for these very positions, and has no waiter, waits no longer: it goes on as if the log
 * were flushed. False: nothing waits for it (yet). */
bool txn_flush_skip(struct txn_worker *tw, struct wal_ends end);

/* own.c */
struct txn_write *txn_own(const struct txn *t, net_addr at);
/* The insert of this key, even if the row has been deleted again; NULL = none. */
struct txn_write *txn_own_insert(
    struct txn *t, const struct txn_table *table, uint64_t hash, const void *key, uint32_t key_len);
/* The newest blob of t that has had this address, dropped or not; NULL = none. Good until t makes
 * another one. */
struct txn_new_blob *txn_own_blob(struct txn *t, net_addr at);
/* A write has been added to the end of the list. False: no memory. */
bool txn_own_added(struct txn *t);
/* Writes and blobs have been taken off the ends of their lists. */
void txn_own_cut(struct txn *t);
/* The transaction has ended: long lists give their memory back. */
void txn_own_end(struct txn *t);
/* Of a transaction that is pooled: what a large one has left is freed. */
void txn_own_trim(struct txn *t);
void txn_own_free(struct txn *t);

/* own_keys.c: t's own rows in a range of an order, as they are when it is opened. */
struct txn_own_range {
	struct txn *t; /* NULL: it needs no closing */
	struct txn_own_keys *list;
	struct txn_own_key *next;
	uint64_t reading;
	struct txn_own_range *older, *newer;
	struct idx_tree_range range;
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS];
};
/* r lasts until it is closed, or t has ended. */
nam_status txn_own_range_open(struct txn *t, struct txn_table_view *v, unsigned order,
    const struct idx_tree_range *range, struct txn_own_range *r);
/* The key of the next row, NULL = there is none. */
const uint64_t *txn_own_range_key(const struct txn_own_range *r);
bool txn_own_range_next(struct txn_own_range *r, struct txn_row *row);
void txn_own_range_close(struct txn_own_range *r);
/* Call when a write has been changed, or is none any more. False: no memory. */
bool txn_own_touched(struct txn *t, struct txn_write *w);
/* The view of a table is replaced by another one. */
void txn_own_keys_forget(struct txn *t, const struct txn_table_view *v);
void txn_own_keys_end(struct txn *t);

/* write.c */
struct txn_write *txn_write_add(struct txn *t, struct txn_table *table, net_addr at, enum txn_kind kind);
/* The payload that will become a version; its CID is filled in at commit. */
nam_status txn_version_set(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len, bool deleted);
/* Takes over what the block shows. partial: img has one slot only. NAM_TORN: another slot is
 * needed. */
nam_status txn_image_set(struct txn *t, struct txn_write *w, const struct rec_block *img, bool partial);
/* The blobs that the version replaced names. */
nam_status txn_old_blobs(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len);

/* lock.c */
nam_status txn_ensure_lock(struct txn *t);
/* The transaction that had the intent has ended: the intent can be used again, or rests first. */
void txn_intent_give(struct txn_worker *tw, struct txn_intent *in);
void txn_intents_drop(struct txn_worker *tw);
/* Frees a lock that turned out to be useless; the write then has no effect. */
nam_status txn_unlock_now(struct txn *t, struct txn_write *w);
/* Under the lock: the block's present state. *s: its newest version, NULL = none. */
nam_status txn_newest_locked(
    struct txn *t, struct txn_write *w, struct rec_block *img, const struct rec_slot **s);

/* mark.c */
/* Call before a write is changed. False: out of memory. */
bool txn_keep_write(struct txn *t, struct txn_write *w);
/* Call before a blob is dropped. True: a mark may need it again, do not give it back. */
bool txn_keep_blob(struct txn *t, const struct txn_new_blob *b);
/* The transaction has ended. */
void txn_marks_end(struct txn *t);

/* insert.c: entries left for COMMIT. begin posts their CASes, end judges them: NAM_CONFLICT if
 * another transaction has inserted a key. */
unsigned txn_entries_begin(struct txn *t);
nam_status txn_entries_end(struct txn *t, unsigned op);
/* Writes have been taken off the end of t: their entries are not due any more. */
void txn_entries_cut(struct txn *t);
/* True if t may commit: txn_begin_latest demands that it changed all that it read. */
bool txn_latest_whole(struct txn *t);

#endif
