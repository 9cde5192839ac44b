/*
 * record_format.h -- the bytes of a record block, an old version, and a table's anchor.
 *
 * A block holds one record: its word, its directory, n slots. One READ brings it all.
 *
 *   0       8        16       24            24+8n   32+8n
 *   +-------+--------+--------+-- - - - - --+-------+--------------+- - - - -+
 *   | word  | ident  |  link  | cid[0..n)   | check |    slot 0    | slot n-1|
 *   +-------+--------+--------+-- - - - - --+-------+--------------+- - - - -+
 *            <------------ directory ------------->
 *   (slots of 512 bytes and more: head and slots are padded to whole cache lines)
 *   slot:  cid 8 | meta 8 | check 8 | payload, row_max rounded up to 8
 *   meta:  63..33 zero | 32 deleted | 31..0 payload length
 *   cid[k] of the directory: bit 63 = this version is also archived behind link.
 *
 *   word   63: lock   62..0 its holder (bits: intent_format.h)
 *          unlocked: the newest version's CID (of an empty block: 0, or the CID that emptied it)
 *
 *   archive (an old version):  home 8 | cid 8 | prev 8 | meta 8 | check 8 | payload
 *
 * Access
 *   word       any worker, by CAS; the holder of the lock may WRITE it to unlock after a commit,
 *              having seen its CAS succeed.
 *   directory  the holder of the lock.
 *   a slot     the holder of the lock, and only a slot whose version R4 lets go.
 *   readers    any process, any time, no lock: one READ of the whole block.
 *
 * Always true
 *   R1  A version exists iff a whole directory lists its CID, or the chain behind link leads to it.
 *       The bytes in a slot that is not listed are no version.
 *   R2  A listed CID's bytes are those of its slot if cid, length and check there agree, else those
 *       of the archive that carries this block's address and that CID.
 *   R3  CIDs of a record rise with every commit; the word, unlocked, is the greatest listed.
 *   R4  A slot is overwritten only if its version is archived and linked by a directory that has
 *       landed, or its successor's CID is at or below the watermark.
 *   R5  The directory changes only under the lock; between two equal words it lists the same CIDs.
 *   R6  A block that is emptied gets a fresh CID as its word: a word never returns to an old value.
 *   R7  An archive is reused only when its successor's CID is at or below the watermark.
 */
#ifndef NAM_TXN_RECORD_FORMAT_H
#define NAM_TXN_RECORD_FORMAT_H

#include <base/hash.h>
#include <net/net.h>
#include <net/region_format.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REC_SLOTS_MAX = 8,
	REC_NO_SLOT = 255, /* stands for the number of a slot: none */
};
/* The head as words. A cut-short WRITE may land some of them. */
enum { REC_WORD = 0, REC_IDENT = 1, REC_LINK = 2, REC_CID = 3 };

#define REC_LOCK     (UINT64_C(1) << 63)
#define REC_ARCHIVED (UINT64_C(1) << 63)
#define REC_DELETED  (UINT64_C(1) << 32)

/* The head of a block: word and directory. No block is shorter, so an image of any block can be
 * read as this. */
struct rec_block {
	uint64_t word;
	uint64_t ident;
	uint64_t link;
	uint64_t cid[REC_SLOTS_MAX + 1]; /* an entry for each of n slots, then check */
};
static_assert(sizeof(struct rec_block) == 96 && offsetof(struct rec_block, cid) == 8 * REC_CID,
    "a block's head is layout");

/* The CID that an entry of a directory lists, 0 = none. */
static inline uint64_t
rec_listed(uint64_t entry)
{
	return entry & ~REC_ARCHIVED;
}
static inline uint64_t
rec_cid(const struct rec_block *b, unsigned slot)
{
	return rec_listed(b->cid[slot]);
}
static inline bool
rec_is_locked(const struct rec_block *b)
{
	return (b->word & REC_LOCK) != 0;
}
/* The directory without the word before it: its address, and the length of a WRITE of it. */
static inline net_addr
rec_dir_at(net_addr block)
{
	return net_plus(block, 8 * REC_IDENT);
}
static inline const void *
rec_dir(const struct rec_block *b)
{
	return (const uint64_t *)(const void *)b + REC_IDENT;
}
static inline uint32_t
rec_dir_bytes(unsigned slots)
{
	return 8 * (REC_CID - REC_IDENT + slots + 1);
}
static inline uint32_t
rec_head_bytes(unsigned slots)
{
	return 8 * (REC_CID + slots + 1);
}

struct rec_slot {
	uint64_t cid;
	uint64_t meta;
	uint64_t check;
	unsigned char payload[];
};
static_assert(sizeof(struct rec_slot) == 24, "a slot's head is layout");

struct rec_archive {
	uint64_t home;
	uint64_t cid;
	uint64_t prev;
	uint64_t meta;
	uint64_t check;
	unsigned char payload[];
};
static_assert(sizeof(struct rec_archive) == 40, "an archive's head is layout");

/* The sum of a version: its payload's hash, combined with the block and the CID it belongs to. */
static inline uint64_t
rec_slot_check(uint64_t payload_hash, uint64_t cid, uint64_t meta, uint64_t at)
{
	return nam_fold(nam_fold(payload_hash, cid), meta ^ nam_mix(at)) | 1;
}

static inline uint64_t
rec_archive_check(uint64_t payload_hash, const struct rec_archive *a)
{
	return nam_fold(nam_fold(nam_fold(payload_hash, a->cid), a->home), a->meta ^ nam_mix(a->prev)) | 1;
}

/* Sum over the directory of a block of n slots; never 0. */
static inline uint64_t
rec_dir_check(const struct rec_block *b, unsigned n, uint64_t at)
{
	/* Most tables have two slots. */
	return (n == 2 ? nam_fold_4(rec_dir(b), at) : nam_fold_words(rec_dir(b), n + 2, at)) | 1;
}

/* ---- a table's anchor: 4 KiB, a place of an extent that several tables share (places.c) --------
 *
 *   0     64       256        384     896  1024                       1536            4032   4096
 *   +-----+--------+----------+-------+----+--------------------------+---------------+------+
 *   | id  | heads  | index    | trees |    | ledger: a word an extent | its pages     | lists|
 *   +-----+--------+----------+-------+----+--------------------------+---------------+------+
 *
 * trees      the anchors of the ordered indexes (txn/order.c), IDX_TREE_ANCHOR_BYTES each.
 *
 * id         TXN_ANCHOR_MAGIC, and the table's number. TXN_ANCHOR_CLOSED once the table is being
 *            given back: written by the holder of `sweeper`, which is never freed afterwards. A
 *            process may WRITE or CAS to the table's memory only if it READ the open anchor under a
 *            pin that it still has.
 * maker      the process that makes the table, named as in a lock word; 0 once the transaction that
 *            makes it has committed.
 * listed     1: the catalog can tell whether this table exists (tables.c).
 * swept      how many deaths the cluster had counted when the last completed sweep began.
 * blocks     newest extent of record blocks; each extent's head names the one before. CAS.
 * partial    extents of blocks given back half used: pushed by CAS, taken all at once by CAS to
 *            nothing.
 * free       emptied blocks given back: likewise, a tree of txn_free_cell; a block's lies in its
 *            slot area.
 * rest       memory for archives and blobs given back: likewise, a tree of stretches. Bits 63..50
 *            of each of these heads are the generation of the memory; a list of another generation
 *            counts as empty (M8).
 * sweeper    0, or the lock word of the process that sweeps the table or releases it. CAS.
 * sweep      2g - 1: sweep g is under way; 2g: it is over. Memory taken since it began is of
 *            generation g, all memory taken before is older. Written by the holder of `sweeper`.
 * horizon    of the last completed sweep: a CID; no extent's horizon is above it. Written before
 *            `sweep`.
 * before     the value of `horizon` when the last completed sweep began.
 * used       entries of the ledger handed out, by FETCH_ADD.
 * holes      about how many of those are empty (a count that a crash may leave wrong: nothing but
 *            room depends on it).
 * ledger     a word for each extent that is not of blocks: of archives and blobs, or of the index.
 *            CAS from 0 after the extent was taken and before it is used; CAS to 0 before it goes
 *            back to its storage node. Any process may take an empty entry. If a process crashes
 *            between taking extents and entering them, those extents (TXN_LEDGER_PART at most) are
 *            lost until restart.
 * pages      continuation of the ledger: each word, by CAS from 0, names an extent full of entries.
 * lists      continuation of pages: each word, by CAS from 0, names an extent full of words like
 *            those of pages. 514 Mi entries in all.
 *
 * Always true, of a table's memory
 *   M1  A dropped table's extents go back when the watermark has passed a CID that was claimed
 *       after its anchor was closed.
 *   M2  A WRITE or CAS to a table's memory outside of transactions is done under a pin under which
 *       the open anchor was READ, or with the table's `sweeper` and some pin.
 *   M3  A sweep looks at the table only when no transaction remains that may have memory of an
 *       earlier generation at hand.
 *   M4  A process that has lost its slot uses nothing that it had at hand before.
 *   M5  While its table stays, an extent goes back to its node under M2 only, and whole: no other
 *       worker has any part of it at hand, and garbage of it that still waits in a queue was left
 *       before the horizon of a completed sweep. If the table takes the extent again, its entry
 *       shows that it was taken after that sweep (`sweep` is READ after the extent was taken), so
 *       garbage that old is recognized as of the earlier use.
 *   M6  A sweep looks at an extent of blocks at one snapshot, and writes that snapshot into the
 *       extent's head as its `horizon`, which only rises. Memory that the sweep finds free is used
 *       when the watermark has passed all of these horizons.
 *   M7  A completed sweep has judged each block of an earlier generation by a whole directory. A
 *       block without a version and without an index entry is its: it waits until no process has
 *       that block locked. A process that frees a lock of a dead owner does not give the block out.
 *   M8  A sweep WRITEs `sweep` before it touches a list, so no list is of a later generation than
 *       `sweep` tells. Memory of the generation that `sweep` tells takes the place of a list of an
 *       earlier one; only memory of an earlier generation is left to the sweep.
 */
#define TXN_ANCHOR_MAGIC  UINT64_C(0x33304341584e5400)
#define TXN_ANCHOR_CLOSED UINT64_C(0x33304c43584e5400)
enum { TXN_ORDERS = 4 }; /* most trees whose anchors lie in a table's */
enum {
	TXN_ANCHOR_INDEX = 256,
	TXN_ANCHOR_ORDERS = 384,
	TXN_ANCHOR_LEDGER = 1024,
	TXN_ANCHOR_PAGES = 1536,
	TXN_ANCHOR_LISTS = 4032,
	TXN_ANCHOR_BYTES = 4096
};
enum {
	TXN_LEDGER_INLINE = (TXN_ANCHOR_PAGES - TXN_ANCHOR_LEDGER) / 8,
	TXN_LEDGER_PAGE = NET_EXTENT / 8, /* entries of a page, pages of a list */
	TXN_LEDGER_DIRECT = (TXN_ANCHOR_LISTS - TXN_ANCHOR_PAGES) / 8,
	TXN_LEDGER_LISTS = (TXN_ANCHOR_BYTES - TXN_ANCHOR_LISTS) / 8,
	TXN_LEDGER_PAGES = TXN_LEDGER_DIRECT + TXN_LEDGER_LISTS * TXN_LEDGER_PAGE
};

struct txn_anchor {
	uint64_t magic;
	uint64_t table;
	uint64_t swept;
	uint64_t maker;
	uint64_t listed;
	uint64_t before;
	uint64_t pad0;
	uint64_t holes;
	uint64_t blocks;
	uint64_t partial;
	uint64_t free;
	uint64_t used;
	uint64_t rest;
	uint64_t sweeper;
	uint64_t sweep;
	uint64_t horizon;
};
static_assert(sizeof(struct txn_anchor) == 128, "anchor is layout");

/* An entry:  63..54 region | 53..30 number of the extent in it | 29 the index's | 28..0 the
 * anchor's `sweep` when it was taken */
#define TXN_LEDGER_INDEX (UINT64_C(1) << 29) /* without it: of archives and blobs */
#define TXN_LEDGER_WHOSE (TXN_LEDGER_INDEX | (TXN_LEDGER_INDEX - 1))
enum { TXN_LEDGER_REGION = 54, TXN_LEDGER_NUMBER = 30, TXN_LEDGER_SWEEPS = 29, TXN_LEDGER_PART = 16 };
static_assert(NET_REGIONS <= 1 << (64 - TXN_LEDGER_REGION), "a region fits an entry");
static_assert(NET_REGION_SIZE_MAX / NET_EXTENT <= 1 << (TXN_LEDGER_REGION - TXN_LEDGER_NUMBER),
    "a number of an extent fits an entry");

/* 0 = the ledger cannot name such an extent. */
static inline uint64_t
txn_ledger_entry(uint64_t extent, uint64_t whose)
{
	uint64_t number = (extent & ((UINT64_C(1) << 48) - 1)) / NET_EXTENT;
	if (number >> (TXN_LEDGER_REGION - TXN_LEDGER_NUMBER) != 0 || whose >> TXN_LEDGER_NUMBER != 0)
		return 0;
	return extent >> 48 << TXN_LEDGER_REGION | number << TXN_LEDGER_NUMBER | whose;
}
static inline uint64_t
txn_ledger_extent(uint64_t entry)
{
	return entry >> TXN_LEDGER_REGION << 48 |
	       (entry >> TXN_LEDGER_NUMBER & ((UINT64_C(1) << (TXN_LEDGER_REGION - TXN_LEDGER_NUMBER)) - 1)) *
		   NET_EXTENT;
}
static inline uint64_t
txn_ledger_sweep(uint64_t entry)
{
	return entry & ((UINT64_C(1) << TXN_LEDGER_SWEEPS) - 1);
}

/* A cell of a list of free memory names two further cells, so that one cell can join any two
 * lists. */
struct txn_free_cell {
	uint64_t next;
	uint64_t other;
	uint64_t what; /* of a block, its word; of a stretch, its length */
};
static_assert(sizeof(struct txn_free_cell) == 24, "fits the smallest stretch, and a slot's head");

/* The head of a list:  63..50 generation | 49..40 region | 39..0 offset */
enum { TXN_LIST_SHIFT = NET_REGION_BITS + NET_OFFSET_BITS };
static inline uint64_t
txn_list(uint64_t generation, uint64_t at)
{
	return generation << TXN_LIST_SHIFT | at >> 48 << NET_OFFSET_BITS | (at & (NET_REGION_SIZE_MAX - 1));
}
/* Where the list begins, 0 = it is empty, or of another generation. */
static inline uint64_t
txn_list_at(uint64_t head, uint64_t generation)
{
	uint64_t low = head & ((UINT64_C(1) << TXN_LIST_SHIFT) - 1);
	uint64_t at = low >> NET_OFFSET_BITS << 48 | (low & (NET_REGION_SIZE_MAX - 1));
	return txn_list(generation, at) == head ? at : 0;
}
static inline uint64_t
txn_generation(uint64_t sweep)
{
	return (sweep + 1) / 2;
}

/* The head of an extent of blocks; the first block follows at byte 64. */
struct txn_extent {
	uint64_t next; /* the extent linked before this one; never changes once linked */
	uint64_t table;
	uint64_t used;    /* when on the partial list: first free byte */
	uint64_t partial; /* when on the partial list: the next one there */
	uint64_t generation;
	uint64_t horizon; /* M6 */
	uint64_t pad[2];
};
static_assert(sizeof(struct txn_extent) == 64, "extent head is a line");

#endif
