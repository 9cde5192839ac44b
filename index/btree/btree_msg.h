/*
 * btree_msg.h -- messages between a client and the service of a partition. All in words of 8 bytes.
 *
 * A request is an idx_rq and what follows it; an answer is an idx_an and what follows it. W: words
 * of a key. An answer that has no room for all entries of a request answers the first `done` of
 * them; the client asks for the others again.
 *
 *   CREATE  number, low[9], high[9], state               -
 *   DROP    -                                            -; NAM_BUSY: ask again, there is more
 *   GROW    extents there are, n offsets                 extents there are now; done: so many of n
 *                                                        are the partition's
 *   INSERT  n * (value, hint, unique | hits << 8,        n * idx_an_change, each with its hits
 *                key[W], hits)
 *   REMOVE  the same                                     n * idx_an_change
 *   LOOKUP  n * key[W]                                   n * (hits | leaves << 16, hits, leaves as
 *                                                        (address, check))
 *   SCAN    descending | most << 8, (low[W], value),     entries | leaves << 32, (next[W], value),
 *           (high[W], value): exclusive                  entries as (key[W], value), leaves
 *   FILL    percent | IDX_FILL_MOVE, n * (key[W], value) -
 *   SHAPE   -                                            idx_an_shape
 *   MODEL   what index/learned wants                     likewise, behind the idx_an
 *   SEAL    -                                            is there a fence to cut at, fence[9]
 *   UNSEAL  -                                            -
 *   CUT     fence[9]                                     -; NAM_BUSY: ask again, there is more
 *   OPEN    -                                            -
 *
 * Status of an answer: NAM_OK; NAM_FULL: the entry number `done` needs memory (GROW) or more hits
 * than fit; NAM_ABSENT: no such partition, or it has not got the key any more; NAM_BUSY: the key
 * is being moved, ask again; NAM_CANCELLED: a later turn of this view has been
 * served (B9), nothing was done; NAM_INVALID, NAM_CORRUPT.
 */
#ifndef NAM_INDEX_BTREE_MSG_H
#define NAM_INDEX_BTREE_MSG_H

#include <index/btree/btree_format.h>

enum idx_message {
	IDX_MSG_CREATE = 1,
	IDX_MSG_DROP,
	IDX_MSG_GROW,
	IDX_MSG_INSERT,
	IDX_MSG_REMOVE,
	IDX_MSG_LOOKUP,
	IDX_MSG_SCAN,
	IDX_MSG_FILL,
	IDX_MSG_SHAPE,
	IDX_MSG_MODEL,
	IDX_MSG_SEAL,
	IDX_MSG_UNSEAL,
	IDX_MSG_CUT,
	IDX_MSG_OPEN,
};
enum { IDX_FILL_MOVE = 256 }; /* the target of a move is filled; else a partition that lives */

struct idx_rq {
	uint64_t tree, part; /* part: offset of its head */
	uint64_t view;       /* who asks, and ... */
	uint64_t turn;       /* ... its turn, B9 */
	uint32_t what, n;    /* enum idx_message; entries */
	uint32_t words, zero;
};
static_assert(sizeof(struct idx_rq) == 48, "a message's head is wire format");

struct idx_an {
	uint32_t status, done;
	uint32_t extents; /* of the partition now, for a GROW to come */
	/* Its nodes would fill so many of them: a move leaves unused ones behind. */
	uint32_t used;
};
static_assert(sizeof(struct idx_an) == 16, "an answer's head is wire format");

enum { IDX_AN_HINTED = 1 << 16, IDX_AN_FALLS = 32, IDX_AN_LEFT_FALLS = 48 };
struct idx_an_change {
	/* nam_status | hits << 8 | IDX_AN_HINTED; with a sibling, idx_meta_falls of it and of the
	 * leaf << IDX_AN_FALLS, IDX_AN_LEFT_FALLS */
	uint64_t status;
	uint64_t before[2], after[2], sibling[2]; /* address, check */
};
struct idx_an_shape {
	uint64_t entries, leaves, inners, splits, extents, trains, levels, leaf_bytes, inner_bytes;
};

enum {
	IDX_MSG_HITS = 8,    /* IDX_HITS_MAX */
	IDX_MSG_LEAVES = 16, /* of one key's answer; more: NAM_FULL */
};

#endif
