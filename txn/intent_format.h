/*
 * intent_format.h -- what a transaction leaves in remote memory so that others can finish or undo it.
 *
 *   log directory (one extent a process, its address in the owner slot): address of the
 *   extent that holds intents 16i .. 16i+15, at word i.
 *
 *   intent (4 KiB):
 *   0             64                                128
 *   +-------------+---------------------------------+- - - - - - - - - - - - - - - - - - -+
 *   | cid, check  | lock, n, more, check, waits_for | entries: at, expect, slot, archive  |
 *   +-------------+---------------------------------+- - - - - - - - - - - - - - - - - - -+
 *    commit line    head, WRITTEN with the entries
 *
 *   A lock word's sequence is  41..32 intent number | 31..0 generation  so that who meets a lock
 *   finds the intent, and knows by comparing `lock` whether it is still about that attempt.
 *
 * Always true
 *   I1  Before any slot is written, head and entries have landed whole: check covers all of them.
 *   I2  Decided iff the commit line carries this attempt's check, and (a listed word has left the
 *       lock, or every version and archive listed is whole).
 *   I3  An intent is reused only when the words of its last use have been written.
 *   I4  A commit line of an earlier use proves nothing: its check covers the lock, and that is new.
 */
#ifndef NAM_TXN_INTENT_FORMAT_H
#define NAM_TXN_INTENT_FORMAT_H

#include <assert.h>
#include <base/hash.h>
#include <stddef.h>
#include <stdint.h>

enum { TXN_INTENT_BYTES = 4096, TXN_INTENTS = 1023, TXN_INTENT_ENTRIES = 124, TXN_INTENT_GC = 1023 };

struct txn_intent_entry {
	uint64_t at;      /* the block */
	uint64_t expect;  /* the word before the lock */
	uint64_t slot;    /* the slot written | 1 << 32 if the version is a deletion */
	uint64_t archive; /* where the version that was newest is archived, or 0 */
};

struct txn_intent_head {
	uint64_t lock;      /* the lock word of this attempt */
	uint64_t n;         /* entries */
	uint64_t more;      /* entries beyond TXN_INTENT_ENTRIES: address of all of them, or 0 */
	uint64_t check;     /* over lock, n and all entries */
	uint64_t waits_for; /* the lock word this transaction waits for, or 0 (not covered by check) */
	uint64_t holds; /* 1: the tables whose guards it has locked are its alone (not covered by check) */
	uint64_t pad[2];
};

struct txn_commit_line {
	uint64_t cid;
	uint64_t check;
	uint64_t pad[6];
};
static_assert(sizeof(struct txn_intent_head) == 64 && sizeof(struct txn_commit_line) == 64, "lines");
static_assert(128 + TXN_INTENT_ENTRIES * sizeof(struct txn_intent_entry) <= TXN_INTENT_BYTES, "fits");

static inline uint64_t
txn_lock_word(unsigned owner, unsigned epoch, unsigned intent, uint32_t generation)
{
	return UINT64_C(1) << 63 | (uint64_t)(owner & 0xff) << 55 | (uint64_t)(epoch & 0x1fff) << 42 |
	       (uint64_t)(intent & 0x3ff) << 32 | generation;
}
static inline unsigned
txn_lock_owner(uint64_t lock)
{
	return (unsigned)(lock >> 55) & 0xff;
}
static inline unsigned
txn_lock_intent(uint64_t lock)
{
	return (unsigned)(lock >> 32) & 0x3ff;
}
static inline uint64_t
txn_commit_check(uint64_t entries_check, uint64_t lock, uint64_t cid)
{
	return nam_fold(nam_fold(entries_check, lock), cid) | 1;
}

#endif
