/* hash_internal.h -- the hash index: a process's view of it, shared by the room's files. */
#ifndef NAM_INDEX_HASH_INTERNAL_H
#define NAM_INDEX_HASH_INTERNAL_H

#include <base/assert.h>
#include <base/fault.h>
#include <base/hash.h>
#include <index/hash/hash_format.h>
#include <index/index.h>

#include <stdatomic.h>

/*
 * A copy of the directory, as it was READ word by word. Its words may be stale at any moment; a
 * stale word leads to a frozen table, and a caller that meets one repairs the word. It never
 * changes its size: a longer copy replaces it, and it is kept until close for readers that still
 * hold it.
 *
 * Key:  i set before another thread can see it, then never again
 *       a  atomic, relaxed: a word is an address elsewhere, no local memory hangs on it
 */
struct idx_dir {
	struct idx_dir *older;   /* i */
	uint64_t root;           /* i  the root word it belongs to */
	uint64_t mask;           /* i  words - 1 */
	uint64_t *page;          /* i  where its pages lie; behind the words */
	_Atomic uint64_t word[]; /* a  0 = not known */
};

struct idx_hash {
	net_addr anchor;               /* i */
	uint64_t tag;                  /* i  16 bits that all bucket headers of this index carry */
	unsigned shift;                /* i  idx_block_shift */
	struct idx_memory mem;         /* i  a copy; mem.arg is borrowed until close */
	_Atomic(struct idx_dir *) dir; /* a  release / acquire; NULL = cold */
	struct idx_reclaim reclaim;    /* i  now == NULL: no sub-table is reclaimed */
	_Atomic uint64_t owner;        /* a  relaxed; the owner's word for the resize lock */
	atomic_bool doubt;             /* a  relaxed; this process may have left it locked */
	_Atomic uint64_t rest_until;   /* a  relaxed; no memory: no early splits before it */
	atomic_bool resizing;          /* a  a thread of this process has the resize lock or asks
					 * for it */
};

/* In a probe, the results of the lookup. */
enum {
	IDX_SEEN_SLOT, /* address of the first zero slot of the sequence, 0 = none (full or
		        * frozen) */
	IDX_SEEN_WORD, /* directory word of the table, 0 = the index has none yet */
	IDX_SEEN_STEP, /* buckets from home to the slot */
};

static inline uint64_t
idx_tag(net_addr anchor)
{
	return nam_mix(anchor.bits) >> 48;
}
static inline net_addr
idx_anchor_at(net_addr anchor, size_t member)
{
	return net_plus(anchor, member);
}
#define IDX_AT(anchor, member) idx_anchor_at(anchor, offsetof(struct idx_anchor, member))

/* dir.c: the cached directory. */

/* Fetches root and directory. NAM_ABSENT: the index has no memory yet (H10). */
nam_status idx_dir_load(struct net_worker *w, struct idx_hash *ix, struct net_counts *acct);
/* A root word was READ: makes the cached directory belong to that root. NAM_CORRUPT: it is no root.
 * READs the list of pages, if it has one. */
nam_status idx_dir_adopt(struct net_worker *w, struct idx_hash *ix, uint64_t root, struct net_counts *acct);
/* The addresses of the pages of that root's directory; page[IDX_PAGES]. */
nam_status idx_dir_pages(struct net_worker *w, uint64_t root, uint64_t *page, struct net_counts *acct);
/* A directory word for this hash was READ from dir's place: stores it. */
void idx_dir_learn(struct idx_dir *dir, uint64_t hash, uint64_t word);
static inline net_addr
idx_dir_at(const struct idx_dir *dir, uint64_t hash)
{
	uint64_t i = hash & dir->mask;
	return (net_addr){ dir->page[i >> IDX_PAGE_LOG2] + 8 * (i & (IDX_PAGE_WORDS - 1)) };
}

/* resize.c */

/*
 * Makes room for hash in the table of this directory word: splits it, or rewrites it without its
 * tombs. NAM_OK: that table is not the current one any more. NAM_BUSY: another process resizes.
 * NAM_FULL: no memory, or the index has its greatest depth.
 */
nam_status idx_resize(
    struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint64_t word, struct net_counts *acct);

/* Makes the first sub-tables, if there are none. NAM_BUSY: another process makes them, or died
 * while it did. NAM_FULL: no memory. */
nam_status idx_make(struct net_worker *w, struct idx_hash *ix, struct net_counts *acct);

#endif
