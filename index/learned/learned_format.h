/*
 * learned_format.h -- a sub-model of the learned cache, as a message carries it.
 *
 * The keys of a tree's partition are cut into ranges [base, end). Each range has a sub-model: a
 * line that guesses the number of the leaf (0, 1, ... in the range) of a key, and a table with an
 * entry for each leaf. A piece is one sub-model with its table:
 *
 *   byte 0        4      6      7    8                    24          24+8W       24+16W
 *        +--------+------+------+----+--------------------+-----------+-----------+- - - - - - - +
 *        | bytes  | W    | last | 0  | head (below)       | base: 8 W | end: 8 W  | the table    |
 *        +--------+------+------+----+--------------------+-----------+-----------+- - - - - - - +
 *          of all   a key's  no end: the range                          zeros if last
 *                   words    goes on for ever
 *   head
 *        +--------+---------+---------+------+--------+------+------+------+-------+
 *        | slope  | f_shift | q_shift | kind | leaves | low  | high | skip | 0     |
 *        |  u32   |   u8    |   u8    |  u8  |   u8   | i16  | i16  | u16  | u16   |
 *        +--------+---------+---------+------+--------+------+------+------+-------+
 *
 * A key's number is the 64 bits of the key behind its first `skip` bits, less base's: d. All low
 * fences of the range share those `skip` bits with base; a key of the range whose first `skip`
 * bits are greater lies in the last leaf.
 *
 *   f(d)  = min(d * slope >> f_shift, leaves - 1), the product with 96 bits
 *
 *   table entry, IDX_NARROW    63 ............. 30   29   28 ............... 1     0
 *                             +-------------------+-----+---------------------+--------+
 *                             | leaf, offset / 64 | gap | separator >> q_shift | inside |
 *                             +-------------------+-----+---------------------+--------+
 *   IDX_WIDE, two words: the separator with all bits; leaf << 30 | gap << 29 | inside
 *
 *   separator  d of the leaf's low fence; the first leaf's is 0
 *   inside     the fence lies inside its step, so that keys of the same step may lie in front of
 *              it: a bit of it was shifted out, or its bits behind the number, or its value, are
 *              not 0. Clear for the first leaf.
 *   gap        leaves between the entry before and this one have no entries. All their low fences
 *              have the same key.
 *
 * Everything that a client computes is integer arithmetic on these numbers. So server and client
 * get the same results on every machine, with every compiler: no rounding, no fused multiply-add.
 * The server uses floating point only to choose `slope`, and computes the bounds with the slope
 * that it sends.
 *
 * Always true of a piece of a server, for the tree at the moment of training
 *   L1  f is monotone: a product with a constant, a shift and a minimum are.
 *   L2  For each key in [base, end), present or not, every leaf that can hold the key with some
 *       value lies in [f(d) + low, f(d) + high], cut to the table, or is in a gap of it. `low` and
 *       `high` are computed at both ends of every leaf; by L1 they hold between. (The paper trains
 *       on present keys and adds keys to the training set to cover the others.)
 *   L3  Let q be a key's step, d >> q_shift. The leaves that can hold it are those from the last
 *       entry whose (separator, inside) <= (q, 0) to the last one <= (q, 1). These are two or more
 *       only if the key's step has a fence inside.
 *   L4  Nothing depends on L1 to L3 but the number of READs. A leaf proves by its tree, checksum
 *       and fences that it is the right one (index/btree). So a stale, torn, wrong or malicious
 *       piece costs READs, and never gives a wrong answer.
 */
#ifndef NAM_INDEX_LEARNED_FORMAT_H
#define NAM_INDEX_LEARNED_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IDX_SUB_LEAVES = 128,     /* of a new sub-model */
	IDX_SUB_LEAVES_MAX = 255, /* as leaves split; then it is cut into several */
	IDX_LKEY_WORDS = 8,       /* of a key, at most */
	IDX_STEP_BITS = 28,       /* of a separator in a narrow entry */
};

enum { IDX_NARROW, IDX_WIDE, IDX_SUB_KINDS };

struct idx_sub_head {
	uint32_t slope;
	uint8_t f_shift, q_shift, kind, leaves;
	int16_t low, high;
	uint16_t skip, zero;
};
static_assert(sizeof(struct idx_sub_head) == 16, "wire format");

struct idx_piece_head {
	uint32_t bytes;
	uint16_t words;
	uint8_t last, zero;
	struct idx_sub_head sub;
};
static_assert(sizeof(struct idx_piece_head) == 24, "wire format");

enum {
	IDX_PIECE_MAX = sizeof(struct idx_piece_head) + 16 * IDX_LKEY_WORDS + 16 * IDX_SUB_LEAVES_MAX,
	IDX_LEAF_SHIFT = 30,
	IDX_GAP_BIT = 29,
};
/* Of a narrow entry: separator and inside. */
#define IDX_VALUE_MASK ((UINT64_C(1) << IDX_GAP_BIT) - 1)

#endif
