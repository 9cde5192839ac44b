/*
 * logged_format.h -- the bytes of a record of the cluster's log (wal/): what a transaction has
 * committed, or that an attempt was undone.
 *
 *   record:  0          40
 *            +----------+- - - - - - - - - - - - - - - - -+
 *            | head     | a piece of the attempt's body   |
 *            +----------+- - - - - - - - - - - - - - - - -+
 *   body:    item | bytes, padded to 8 | item | ...
 *
 *   A body that is longer than a message takes several records; `part` counts them from 0, and the
 *   last one has TXN_LOGGED_LAST. The pieces put together are the body.
 *
 *   An attempt's *name* is its lock word and the check of its intent's head. Lock words come again
 *   after 2^19 uses of an intent, and in the next life of the cluster; the check covers the
 *   entries,
 *   and a log's life is one life of the cluster.
 *
 * Always true, of each copy of the log by itself (wal/README.md, Copies)
 *   J1  A transaction's records are received before its first directory is WRITTEN. So what a
 *       transaction has read lies before it in the log, at every level of durability.
 *   J2  An attempt is committed iff all its parts are there and no record says that it was undone.
 *       While the cluster lives, it counts only if that is so on all copies.
 *   J3  An attempt whose last record may have been sent is undone in this order: a record that says
 *       so, flushed on each copy that may have the attempt's; then its first lock is freed; then
 *       its client hears of it.
 *   J4  A row's address names it within a table: a block is used for another row only after its
 *       deletion is in the log, and of the versions logged of an address the one with the greatest
 *       CID is the newest.
 *   J5  A long value is logged once, by the transaction that made it, before the rows that name it.
 *       Its memory is used again only when no row names it.
 *   J6  A sequence gives out a number only if a number behind it is in the log, flushed, under the
 *       sequence's generation; each setval begins a generation. So after a restart the sequence
 *       goes
 *       on at the number of its last generation that is the farthest in the direction of its step.
 *   J7  A checkpoint's snapshots cover every commit whose record lies before its begin P0: their
 *       CIDs are at most SINCE. It appends each row that they show, with the row's own CID, so of
 *       the log from P0 on J4 holds. Numbers likewise: what covers those before P0 is appended.
 *   J8  What a checkpoint has appended is received before its snapshot ends: so a long value lies
 *       before all that its memory is used for later (J5), and a row before the records of the
 *       checkpoint that follows, which may not have seen its deletion (wal_msg.h, Q6).
 *   J9  A body of which the log has no first part began before P0, if its CID is at most SINCE.
 *   J10 A log from its begin to any record behind WHOLE (wal_format.h, W8) is a database, without
 *       the attempts that a record of the log undoes, wherever that lies (cut.h).
 */
#ifndef NAM_TXN_LOGGED_FORMAT_H
#define NAM_TXN_LOGGED_FORMAT_H

#include <assert.h>
#include <stdint.h>

enum txn_logged_kind {
	TXN_LOGGED_COMMIT = 1,
	TXN_LOGGED_UNDONE,
	TXN_LOGGED_NUMBERS, /* items of kind NUMBER; of no attempt */
	TXN_LOGGED_KEPT,    /* by a checkpoint; lock 0, check: its round and a number */
};

enum { TXN_LOGGED_LAST = 1 };

struct txn_logged {
	uint16_t kind;
	uint16_t flags;
	uint32_t part;
	uint64_t lock;  /* name of the attempt */
	uint64_t check; /* likewise */
	uint64_t cid;   /* of COMMIT */
	int64_t time;   /* microseconds since 1970, by the clock of the process that sends it;
			 * 0 = not known */
};
static_assert(sizeof(struct txn_logged) == 40, "a record's head is a layout");

enum txn_logged_item_kind {
	TXN_LOGGED_ROW = 1,
	TXN_LOGGED_DELETED, /* no bytes */
	TXN_LOGGED_VALUE,   /* a long one */
	/* Of a sequence: at is its word, table the generation, ident a number; no bytes. */
	TXN_LOGGED_NUMBER,
	TXN_LOGGED_KEPT_ROW, /* of KEPT; the bytes begin with its CID, 8 bytes */
	TXN_LOGGED_SINCE,    /* of KEPT; at: 1 + P0, ident: the greatest CID before it; one
			      * for the P0 of each copy, with the greatest CID of all */
	TXN_LOGGED_NEXT_ID,  /* of KEPT; ident: ids of tables below it were given out; at: 1 */
};

struct txn_logged_item {
	uint32_t kind;
	uint32_t table; /* id */
	uint64_t at;    /* address of the block, or of the value */
	uint64_t ident; /* of a row: the hash of its key, or of its id */
	uint32_t len;   /* of the bytes that follow */
	uint32_t pad;
};
static_assert(sizeof(struct txn_logged_item) == 32, "an item is a layout");

#endif
