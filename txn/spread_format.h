/*
 * spread_format.h -- bytes that may need more than an extent: a root extent, and further ones that
 * it lists.
 *
 *   0                        32        32 + 8n, up to 64            64 Ki
 *   +------------------------+---------+----------------------------+
 *   | whose, n, entry, check | list[n] | bytes                      |   root
 *   +------------------------+---------+----------------------------+
 *   | further bytes                                                 |   each of the list
 *   +---------------------------------------------------------------+
 *
 * Two kinds: a long value (blob.c), whose extents stand in its table's ledger; and a write set that
 * does not fit its intent (commit.c), whose extents stand nowhere else, so the intent names the
 * root before the first further one is taken.
 *
 * Access
 *   a value      written by its maker, before any other process can reach it; then never, until its
 *                extents are given back.
 *   a write set  written by its transaction, or by its recoverer. One step lengthens the list,
 *                later shortens it, by TXN_LEDGER_PART at most; `n` and `check` are WRITTEN behind
 *                the list.
 *
 * Always true
 *   S1  check covers `whose`, the list, and the root's address: so a root that another transaction
 *       made there meanwhile does not pass.
 *   S2  An extent is listed in a root that has landed before the next TXN_LEDGER_PART are taken,
 *       and is taken off the list before it goes back: so a crash loses TXN_LEDGER_PART at most.
 */
#ifndef NAM_TXN_SPREAD_FORMAT_H
#define NAM_TXN_SPREAD_FORMAT_H

#include <base/hash.h>
#include <net/region_format.h>

#include <assert.h>
#include <stdint.h>

struct txn_spread {
	uint64_t whose; /* a value's length, or the lock word of a write set's transaction */
	uint64_t n;     /* further extents */
	uint64_t entry; /* a value: where the root stands in the ledger */
	uint64_t check;
};
static_assert(sizeof(struct txn_spread) == 32, "the list begins there");

enum { TXN_SPREAD_MOST = 8180 }; /* further extents: half a GiB */

/* Where the bytes begin. */
static inline uint32_t
txn_spread_begin(unsigned n)
{
	return (uint32_t)(sizeof(struct txn_spread) + 8u * n + 63) & ~63u;
}
/* Number of further extents for so many bytes; more than TXN_SPREAD_MOST: too many. */
static inline unsigned
txn_spread_n(uint64_t bytes)
{
	if (bytes > (uint64_t)TXN_SPREAD_MOST * NET_EXTENT)
		return TXN_SPREAD_MOST + 1;
	unsigned n = bytes > NET_EXTENT ? (unsigned)(bytes / NET_EXTENT) - 1 : 0;
	while ((uint64_t)(n + 1) * NET_EXTENT - txn_spread_begin(n) < bytes)
		n++;
	return n;
}
static inline uint64_t
txn_spread_check(const struct txn_spread *s, const uint64_t *list, uint64_t root)
{
	return nam_fold(nam_fold(nam_fold(nam_hash(list, 8 * s->n, root), s->whose), s->n), s->entry) | 1;
}

/* Which bytes lie where: piece 0 in the root, piece i in the i-th extent of the list. */
static inline uint32_t
txn_spread_piece(uint64_t bytes, unsigned n, unsigned i, uint64_t *from)
{
	uint64_t first = NET_EXTENT - txn_spread_begin(n);
	*from = i == 0 ? 0 : first + (uint64_t)(i - 1) * NET_EXTENT;
	uint64_t room = i == 0 ? first : NET_EXTENT, left = bytes - *from;
	return (uint32_t)(left < room ? left : room);
}

#endif
