/*
 * intent_format.h -- what a transaction leaves in remote memory so that others can finish or undo
 * it.
 *
 *   log directory (one extent an owner slot, its address in the slot): address of the extent that
 *   holds intents 16i .. 16i+15, at word i. It stays with the slot: the next owner of the slot
 *   takes it over.
 *
 *   intent (4 KiB):
 *   0             64                                      128
 *   +-------------+---------------------------------------+- - - - - - - - - - - - - - - - - - - +
 *   | cid, check  | lock, n, more, check, waits_for, note | entries: at, expect, what, archive … |
 *   +-------------+---------------------------------------+- - - - - - - - - - - - - - - - - - - +
 *    commit line    head, WRITTEN with the entries
 *
 *   what:   63..34 zero | 33 fresh | 32 deletion | 31..16 row_max | 15..8 slots | 7..0 slot written
 *
 *   lock word:   63     62..51       50..29        28..19        18..0
 *              +------+-------+-------------+---------------+------------+
 *              | lock | owner | owner epoch | intent number | generation |
 *              +------+-------+-------------+---------------+------------+
 *   A process that meets a lock finds the intent, and knows by comparing `lock` whether it is still
 *   about that attempt. Of the collector's locks (TXN_INTENT_GC) the generation is 18..12 worker |
 *   11..0 count of that worker.
 *
 * Always true
 *   I1  Before any slot is written, head and entries have landed whole: check covers all of them.
 *       So have the blobs of the new versions, and the tables' guards have been found as they must
 *       be.
 *   I2  Decided iff the commit line carries this attempt's check, and (a listed word has left the
 *       lock, or every version and archive listed is whole).
 *   I3  An intent is reused only when the words of its last use have been written.
 *   I4  A commit line of an earlier use proves nothing: its check covers the lock, and that is new.
 *   I5  To undo an attempt whose commit line is valid, a process empties the line before any listed
 *       word leaves the lock.
 *   I6  The entries and the present directory together determine what the directory must become,
 *       even if a WRITE of it was cut short: for each of its words, the old and the new value are
 *       known.
 *   I7  A lock word of an intent is used again only when all transactions that were open at its
 *       last use, in any process, have ended: an intent whose generations are used up rests until
 *       tso_passed confirms this, and its commit line is emptied first. So no process still
 *       compares with the word of an earlier use, and no line of an earlier use proves a later one
 *       (I4). The collector's lock words come again after 2^12 of one worker. None of that worker's
 *       verbs is under way then, because it waits for each. Other processes CAS such a word only
 *       when its owner has ended (T7) and hence takes no further lock.
 */
#ifndef NAM_TXN_INTENT_FORMAT_H
#define NAM_TXN_INTENT_FORMAT_H

#include <base/hash.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TXN_INTENT_BYTES = 4096,
	TXN_INTENTS = 1022,
	TXN_INTENT_ENTRIES = 82,
	TXN_INTENT_GC = 1023,     /* no intent: the collector's locks */
	TXN_INTENT_INDEX = 1022,  /* no intent: an index is being resized */
	TXN_INTENTS_A_CHUNK = 16, /* one extent */
	TXN_INTENTS_A_PIECE = 4,  /* that a worker takes at once */
	TXN_CHUNKS = (TXN_INTENTS + 2) / TXN_INTENTS_A_CHUNK,
	TXN_PIECES = (TXN_INTENTS + 2) / TXN_INTENTS_A_PIECE,
	TXN_OWNER_BITS = 12,
	TXN_EPOCH_BITS = 22,
	TXN_INTENT_BITS = 10,
	TXN_GENERATION_BITS = 19,
	TXN_GENERATION_MAX = (1 << TXN_GENERATION_BITS) - 1,
	TXN_GC_COUNT_BITS = 12, /* of the collector's generation; the worker's number above them */
};

#define TXN_WHAT_DELETED (UINT64_C(1) << 32) /* the bit a version's meta has for it */
#define TXN_WHAT_FRESH   (UINT64_C(1) << 33) /* an insert's block, allocated for this insert */

struct txn_intent_entry {
	uint64_t at;      /* the block */
	uint64_t expect;  /* the word before the lock */
	uint64_t what;    /* the slot written, and the shape of the block */
	uint64_t archive; /* where the version overwritten next is archived in step 2, 0 =
			   * nowhere */
	uint64_t late;    /* where the version in that slot is archived before step 2, 0 =
			   * nowhere */
	uint64_t ident;   /* what the directory will say */
};

enum {
	TXN_HOLDS_TABLES = 1, /* exclusive use of the tables whose guards it has locked */
	TXN_HOLDS_KEYS = 2,   /* rows that it has locked may go, and nothing may refer to them */
};

struct txn_intent_head {
	uint64_t lock;      /* the lock word of this attempt */
	uint64_t n;         /* entries */
	uint64_t more;      /* root of a list of more than TXN_INTENT_ENTRIES entries
			     * (spread_format.h), 0 = none */
	uint64_t check;     /* over lock, n, more, note and all entries */
	uint64_t waits_for; /* the lock word this transaction waits for, 0 = none (not covered by
			     * check) */
	uint64_t holds;     /* TXN_HOLDS_TABLES, TXN_HOLDS_KEYS (not covered by check) */
	uint64_t note;      /* what its mark carries: TSO_NOTE_CATALOG, TSO_NOTE_MEMORY, both, or
			     * 0 */
	uint64_t pad;
};

struct txn_commit_line {
	uint64_t cid;
	uint64_t check;
	uint64_t pad[6];
};
static_assert(sizeof(struct txn_intent_head) == 64 && sizeof(struct txn_commit_line) == 64, "lines");
static_assert(1 + TXN_OWNER_BITS + TXN_EPOCH_BITS + TXN_INTENT_BITS + TXN_GENERATION_BITS == 64, "lock word");
static_assert(128 + TXN_INTENT_ENTRIES * sizeof(struct txn_intent_entry) <= TXN_INTENT_BYTES, "fits");

static inline uint64_t
txn_lock_word(unsigned owner, unsigned epoch, unsigned intent, uint32_t generation)
{
	return UINT64_C(1) << 63 |
	       (uint64_t)(owner & ((1u << TXN_OWNER_BITS) - 1))
		   << (TXN_EPOCH_BITS + TXN_INTENT_BITS + TXN_GENERATION_BITS) |
	       (uint64_t)(epoch & ((1u << TXN_EPOCH_BITS) - 1)) << (TXN_INTENT_BITS + TXN_GENERATION_BITS) |
	       (uint64_t)(intent & ((1u << TXN_INTENT_BITS) - 1)) << TXN_GENERATION_BITS |
	       (generation & TXN_GENERATION_MAX);
}
static inline unsigned
txn_lock_owner(uint64_t lock)
{
	return (unsigned)(lock >> (TXN_EPOCH_BITS + TXN_INTENT_BITS + TXN_GENERATION_BITS)) &
	       ((1u << TXN_OWNER_BITS) - 1);
}
static inline unsigned
txn_lock_epoch(uint64_t lock)
{
	return (unsigned)(lock >> (TXN_INTENT_BITS + TXN_GENERATION_BITS)) & ((1u << TXN_EPOCH_BITS) - 1);
}
static inline unsigned
txn_lock_intent(uint64_t lock)
{
	return (unsigned)(lock >> TXN_GENERATION_BITS) & ((1u << TXN_INTENT_BITS) - 1);
}
static inline uint32_t
txn_lock_generation(uint64_t lock)
{
	return (uint32_t)lock & TXN_GENERATION_MAX;
}
static inline uint64_t
txn_what(unsigned target, unsigned slots, uint32_t row_max, bool deleted, bool fresh)
{
	return target | slots << 8 | (uint64_t)row_max << 16 | (deleted ? TXN_WHAT_DELETED : 0) |
	       (fresh ? TXN_WHAT_FRESH : 0);
}
static inline uint64_t
txn_head_check(const struct txn_intent_head *h, uint64_t entries_hash)
{
	return nam_fold(nam_fold(nam_fold(entries_hash, h->lock), h->n), h->more ^ nam_mix(h->note)) | 1;
}
static inline uint64_t
txn_commit_check(uint64_t entries_check, uint64_t lock, uint64_t cid)
{
	return nam_fold(nam_fold(entries_check, lock), cid) | 1;
}

#endif
