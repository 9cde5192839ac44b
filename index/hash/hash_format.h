/*
 * hash_format.h -- the hash index as every compute node sees it through one-sided verbs.
 *
 * Extendible hashing. The use of the 64 bits of a key's hash (the others only help caches):
 *
 *   bit 29 ........... 22 21 ................................ 0
 *      +-----------------+------------------------------------+
 *      | home bucket (8) | directory: its low G bits (G <= 22)|
 *      +-----------------+------------------------------------+
 *                     23 ................................... 0   the signature, 24 bits
 *
 * anchor (128 bytes, the caller's)
 *     0  magic                    64  lock     0, or the resizing owner
 *     8  root                     72  spare    next unused sub-table | how many follow (1..4)
 *    16  left     the list below  80  old      } a split being published: the directory word
 *    24  left_at  its first << 32 | how many
 *                                 88  new[2]   } that goes, the two that come
 *                                104  prefix   }
 *                                112  splits, 120 rewrites: how many so far
 * root             address of the directory | its capacity, log2 words << 5 | G. 0: nothing was
 *                  ever inserted, and the index has no memory
 * directory        2^G words in pages of 2^11, 16 KiB each. Up to G = 11 the root leads to the only
 *                  page; above, its capacity is 22 and it leads to the list of pages, which also
 *                  takes 16 KiB. Doubling appends.
 * directory word   63   62 ........ 54  53 .. 44  43 .......... 14  13 ....... 5  4 ... 0
 *                  0  | turn, high 9 | region  | offset / 16 Ki   | turn, low 9 | L
 *                  the address of a sub-table, its turn, its local depth. One of depth L with
 *                  prefix p stands in all words p + k * 2^L.
 * turn             the number of the resize that made the sub-table, 18 bits of it
 * sub-table        256 buckets of 64 bytes, 16 KiB, aligned to that. Four to an extent.
 * list of left     a ring of 1,024 pairs (sub-table, stamp), oldest first, in the memory of a
 *                  sub-table: what resizes of any process left behind. 0: there is none yet
 * bucket           a header and 7 slots
 *
 *   header  63 .... 48  47   46 40  39 .. 22  21 ......... 0
 *          +----------+-----+------+--------+--------------+
 *          | index tag|moved|  L   |  turn  |   prefix p   |
 *          +----------+-----+------+--------+--------------+
 *   slot    63 ............ 40  39 ... 40-R  39-R ............. 0
 *          +------------------+-------------+--------------------+   0       never used
 *          | signature        | region      | offset / 64        |   TOMB    was removed
 *          +------------------+-------------+--------------------+   FROZEN  it is being split
 *
 * R, the bits of a region, follows from the greatest region of the cluster, which never changes:
 *
 *   regions up to          63       127       255       511      1023
 *   R                       6         7         8         9        10
 *   blocks lie below    1 TiB   512 GiB   256 GiB   128 GiB    64 GiB   of each region
 *   extents for them   2^24      2^23      2^22      2^21      2^20     of each region
 *
 * An entry holds 30 bits of its hash: 24 in it, and 6 more by its place, because the signature
 * holds the two low bits of the home bucket and an entry lies at most 3 buckets behind home
 * (wrapping inside the sub-table). So a splitter never reads a record. False candidates per lookup:
 * entries / 2^30. Limits: blocks aligned to 64, in 64 TiB of all regions together; 2^22 sub-tables
 * = 64 GiB, about 4e9 entries.
 *
 * Access
 *   a slot      0 -> entry, entry -> TOMB, 0 -> FROZEN: any worker, by CAS; no other change, ever.
 *   a header    the holder of `lock`, by WRITE of that word (only `moved` is ever set).
 *   directory, root, spare, left, old, new[], splits: the holder of `lock`. root by CAS, the first
 *               one from 0.
 *   readers     any process, any time.
 *
 * Always true
 *   H1  In a bucket the zero slots are a suffix. (An insert takes the first zero slot it saw, and
 *       slots never go back to 0: so a CAS that succeeds has hit the very first one.)
 *   H2  An entry lies in the first bucket of its probe sequence (home .. home + 3) that was not
 *       full when it came. So behind a zero slot of the sequence there is no entry of that hash.
 *   H3  FROZEN replaces the first zero slot of a bucket; `moved` is set in full buckets only. A
 *       table whose buckets all carry one of both never takes an entry again: an insert that saw a
 *       later slot as the first zero one would have seen the frozen slot as not zero, but that went
 *       from 0 to FROZEN.
 *   H4  A table becomes reachable only when the one before it is completely frozen and copied.
 *       So of all tables for a hash at most one takes entries: the one the directory names.
 *   H5  If a reader READs the root and the directory word for its hash, in any order, and finds the
 *       root it used, then all entries inserted for this hash before both READs began are in the
 *       table that the word names. For this the words of a split are written from the highest index
 *       down: a reader with a shorter directory (which READs a word of lower index) learns of new
 *       tables later than one with the longer directory, never earlier. And no reader draws a
 *       conclusion from a word about a word of lower index.
 *   H6  Between `old` set and `old` cleared, each directory word of that prefix is old or one of
 *       new[]. new[], prefix and spare were written before `old` was set. So a process that finds
 *       `old` set under the lock can finish the work of a dead splitter, and must.
 *   H7  Memory of a sub-table that is used again is first overwritten wholly with buckets of no
 *       table, all of whose slots are FROZEN, and only then with the new table, of another turn. So
 *       a process that follows a stale word meets, in any mix of old and new words, a frozen bucket
 *       or a header that differs from the one its word tells: never a zero slot that it would
 *       trust.
 *   H8  A page is listed before the root counts it; before it is listed, `spare` stops offering it.
 *   H9  A sub-table is in the list, or reachable, or neither, and in the list once at most: left_at
 *       stops offering those of new[] before `old` is set, and the old one joins when no directory
 *       word names it any more, under a stamp taken after that, before `old` is cleared. So a
 *       process that finds `old` set compares the last of the list with it.
 *   H10 The first sub-tables and their directory are whole before root leads to them, and root is
 *       CASed from 0 under `lock`. So a READ that finds root 0 proves that no entry was inserted
 *       before it began (idx_is_bare). A maker that dies before the CAS has left its extent in
 *       `spare`: the next maker, which gets the lock when that one is fenced, uses it. One whose
 *       WRITEs are in doubt clears `spare`.
 *
 * Why two inserters of one key cannot both succeed: both saw every slot before theirs, and no
 * candidate they have not compared; both CAS the first zero slot of the same probe sequence (H1,
 * H2) in the one table that takes entries (H4). The second CAS fails; its owner reads again and
 * meets the first's entry. Why "absent" is true: a zero slot proves that the bucket was live when
 * it was READ, so all entries inserted before the READ began lie in front of it (H1, H2). A frozen
 * bucket proves nothing; then the directory word is READ as well, and if it still names this table,
 * then by H5 the table has all entries. A READ may mix old and new words: slots only go 0 -> entry
 * -> TOMB, so the argument holds word by word. An old zero slot under a new header that says
 * `moved` is taken for a frozen one.
 *
 * Why a stale word does no harm: it leads to a frozen table, which shows that it is frozen (H3).
 * Tables left behind are not used again before all readers that may look at them have ended
 * (idx_reclaim in index.h; without it: never). A process may remember the word for longer: then the
 * turn differs (H7). An entry removed from a table after it was copied would come back: so a remove
 * READs the bucket behind its CAS, and if the bucket is frozen it also removes the copy. If the
 * splitter is dead, the copy stays: a hint to a block with another key.
 *
 * A worker that dies with the lock loses nothing: tables it froze are still read, at two round
 * trips; an insert into one of them ends with NAM_BUSY until idx_hash_recover has freed the lock,
 * and the next insert then splits that table itself.
 */
#ifndef NAM_INDEX_HASH_FORMAT_H
#define NAM_INDEX_HASH_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define IDX_MAGIC UINT64_C(0x3148534148584449) /* "IDXHASH1" */

enum {
	IDX_SLOTS = 7,
	IDX_BUCKET_BYTES = 64,
	IDX_BUCKETS = 256,
	IDX_TABLE_BYTES = IDX_BUCKETS * IDX_BUCKET_BYTES,
	IDX_TABLES_PER_EXTENT = 4,
	IDX_EXTENT_BYTES = 65536, /* of net: NET_EXTENT */
	IDX_PROBES = 4,           /* buckets of a probe sequence */
	IDX_DEPTH_MAX = 22,
	IDX_BUCKET_SHIFT = 22,
	IDX_SIG_BITS = 24,
	IDX_DEPTH_FIRST = 1, /* of a new index: two sub-tables ... */
	IDX_PAGE_LOG2 = 11,  /* ... behind a directory of one page, and one spare: one extent */
	IDX_PAGE_WORDS = 1 << IDX_PAGE_LOG2,
	IDX_PAGES = 1 << (IDX_DEPTH_MAX - IDX_PAGE_LOG2),
	IDX_TURN_BITS = 18,
	IDX_REGION_MAX = 1023,
	IDX_BLOCK_BITS = 40, /* of an entry: region and offset / 64 */
	IDX_WORD_REGION = 44
};

#define IDX_TOMB   UINT64_C(1)
#define IDX_FROZEN UINT64_C(2)
#define IDX_MOVED  (UINT64_C(1) << 47)

struct idx_bucket {
	uint64_t head;
	uint64_t slot[IDX_SLOTS];
};
static_assert(sizeof(struct idx_bucket) == IDX_BUCKET_BYTES, "a bucket is a cache line");

struct idx_anchor {
	uint64_t magic;
	uint64_t root;
	uint64_t left;
	uint64_t left_at;
	uint64_t pad0[4];
	uint64_t lock;
	uint64_t spare;
	uint64_t old;
	uint64_t new_[2];
	uint64_t prefix;
	uint64_t splits;
	uint64_t rewrites;
};
/* A sub-table that is not reachable since before the stamp (idx_reclaim). */
struct idx_left {
	uint64_t table, stamp;
};
enum { IDX_LEFT = IDX_TABLE_BYTES / sizeof(struct idx_left) };

static_assert(sizeof(struct idx_anchor) == 128, "index.h promises the anchor's size");
static_assert(offsetof(struct idx_anchor, lock) == 64, "the lock is not in the line of the root");
static_assert(IDX_BUCKET_SHIFT + 2 == IDX_SIG_BITS, "a signature ends with two bits of the home bucket");
static_assert(IDX_PAGE_WORDS * 8 == IDX_TABLE_BYTES && IDX_PAGES * 8 <= IDX_TABLE_BYTES,
    "pages are taken as sub-tables are");
static_assert(IDX_PROBES == 4, "those two bits tell how far from home an entry lies");
static_assert(IDX_WORD_REGION + 10 == 54 && IDX_REGION_MAX < 1 << 10, "a region fits a directory word");
static_assert(IDX_TABLES_PER_EXTENT * IDX_TABLE_BYTES == IDX_EXTENT_BYTES, "sub-tables fill an extent");

static inline uint64_t
idx_low(unsigned bits)
{
	return (UINT64_C(1) << bits) - 1;
}
/* The entry of a hash and a block, 0 = such an address cannot be indexed. shift: 40 - R
 * (idx_block_shift in index.h). */
static inline uint64_t
idx_entry(uint64_t hash, uint64_t block, unsigned shift)
{
	uint64_t region = block >> 48, off = block & idx_low(48);
	if (region == 0 || region >> (IDX_BLOCK_BITS - shift) != 0 || (off & 63) != 0 ||
	    off >> shift >> 6 != 0)
		return 0;
	return hash << IDX_BLOCK_BITS | region << shift | off >> 6;
}
/* Whatever R is: a region is not 0, so an entry's low 40 bits are 2^30 at least. */
static inline int
idx_is_entry(uint64_t slot)
{
	return (slot & idx_low(IDX_BLOCK_BITS)) >> 30 != 0;
}
static inline uint64_t
idx_entry_block(uint64_t slot, unsigned shift)
{
	return (slot & idx_low(IDX_BLOCK_BITS)) >> shift << 48 | (slot & idx_low(shift)) << 6;
}
static inline uint64_t
idx_entry_sig(uint64_t slot)
{
	return slot >> 40;
}
static inline uint64_t
idx_sig(uint64_t hash)
{
	return hash & idx_low(IDX_SIG_BITS);
}
static inline unsigned
idx_home(uint64_t hash)
{
	return (unsigned)(hash >> IDX_BUCKET_SHIFT) & (IDX_BUCKETS - 1);
}
/* The home bucket of an entry that lies in bucket b. */
static inline unsigned
idx_home_of_entry(uint64_t slot, unsigned b)
{
	unsigned low = (unsigned)(slot >> 62);
	return (b - ((b - low) & 3)) & (IDX_BUCKETS - 1);
}

/* Directory words. */
static inline uint64_t
idx_word(uint64_t table, unsigned depth, uint64_t turn)
{
	return (turn >> 9 & 511) << 54 | table >> 48 << IDX_WORD_REGION | (table & idx_low(IDX_WORD_REGION)) |
	       (turn & 511) << 5 | depth;
}
static inline uint64_t
idx_word_table(uint64_t word)
{
	return (word & idx_low(54)) >> IDX_WORD_REGION << 48 |
	       (word & idx_low(IDX_WORD_REGION) & ~(uint64_t)(IDX_TABLE_BYTES - 1));
}
static inline unsigned
idx_word_depth(uint64_t word)
{
	return (unsigned)word & 31;
}
static inline uint64_t
idx_word_turn(uint64_t word)
{
	return (word >> 54 & 511) << 9 | (word >> 5 & 511);
}
/* True if a word from remote memory is a directory word of a directory of this depth. */
static inline int
idx_word_sane(uint64_t word, unsigned dir_depth)
{
	return word >> 63 == 0 && (word & idx_low(54)) >> IDX_WORD_REGION != 0 &&
	       idx_word_depth(word) <= dir_depth;
}

/* Root words. */
static inline uint64_t
idx_root(uint64_t dir, unsigned cap_log2, unsigned depth)
{
	return dir | (uint64_t)cap_log2 << 5 | depth;
}
static inline uint64_t
idx_root_dir(uint64_t root)
{
	return root & ~(uint64_t)(IDX_TABLE_BYTES - 1);
}
static inline unsigned
idx_root_depth(uint64_t root)
{
	return (unsigned)root & 31;
}
static inline unsigned
idx_root_cap(uint64_t root)
{
	return (unsigned)(root >> 5) & 31;
}
static inline int
idx_root_sane(uint64_t root)
{
	return root >> 48 != 0 && root >> 48 <= IDX_REGION_MAX &&
	       idx_root_depth(root) <= idx_root_cap(root) &&
	       (idx_root_cap(root) == IDX_PAGE_LOG2 || idx_root_cap(root) == IDX_DEPTH_MAX) &&
	       (root & (IDX_TABLE_BYTES - 1)) >> 10 == 0;
}
/* The number of pages of the directory; whether the root leads to a list of them. */
static inline unsigned
idx_root_pages(uint64_t root)
{
	return idx_root_depth(root) > IDX_PAGE_LOG2 ? 1u << (idx_root_depth(root) - IDX_PAGE_LOG2) : 1;
}
static inline int
idx_root_listed(uint64_t root)
{
	return idx_root_cap(root) > IDX_PAGE_LOG2;
}

/* By H10 the index had no memory when this READ began: the magic is WRITTEN before root is CASed,
 * and one READ may bring the former's old word with the latter's new one. */
static inline int
idx_is_bare(uint64_t magic, uint64_t root)
{
	return magic == 0 || root == 0;
}

/* Headers. */
static inline uint64_t
idx_head(uint64_t tag, unsigned depth, uint64_t turn, uint64_t hash)
{
	return tag << 48 | (uint64_t)depth << 40 | (turn & idx_low(IDX_TURN_BITS)) << 22 |
	       (hash & idx_low(depth));
}
/* The header of the sub-table that a directory word leads to. */
static inline uint64_t
idx_head_of(uint64_t tag, uint64_t word, uint64_t hash)
{
	return idx_head(tag, idx_word_depth(word), idx_word_turn(word), hash);
}

/* The hash index's part of idx_layout_fold. */
void idx_hash_layout_fold(void);

#endif
