/* learned_internal.h -- the arithmetic of learned_format.h, the same for server and client. */
#ifndef NAM_INDEX_LEARNED_INTERNAL_H
#define NAM_INDEX_LEARNED_INTERNAL_H

#include <index/learned/learned.h>

#include <string.h>

enum { IDX_OVER = 3 }; /* words that idx_up_to reads past its entries */

/* -1, 0, 1: a is before, equal to, behind b. */
static inline int
idx_words_order(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* The 64 bits behind the first `skip` ones. */
static inline uint64_t
idx_number(const uint64_t *key, unsigned skip)
{
	unsigned at = skip / 64, shift = skip % 64;
	return shift == 0 ? key[at] : key[at] << shift | key[at + 1] >> (64 - shift);
}

/* -1, 0, 1: the first `skip` bits of a are less, equal, greater than those of b. */
static inline int
idx_prefix_order(const uint64_t *a, const uint64_t *b, unsigned skip)
{
	int way = idx_words_order(a, b, skip / 64);
	if (way != 0 || skip % 64 == 0)
		return way;
	uint64_t x = a[skip / 64] >> (64 - skip % 64), y = b[skip / 64] >> (64 - skip % 64);
	return x < y ? -1 : x > y;
}

/* Bits of the longest common prefix. */
static inline unsigned
idx_common(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (a[i] != b[i])
			return 64 * i + (unsigned)__builtin_clzll(a[i] ^ b[i]);
	return 64 * words;
}

/* A key's d; UINT64_MAX: it lies behind all fences of the range. */
static inline uint64_t
idx_distance(const uint64_t *key, const uint64_t *base, unsigned skip)
{
	if (skip > 0 && idx_prefix_order(key, base, skip) != 0)
		return UINT64_MAX;
	return idx_number(key, skip) - idx_number(base, skip);
}

/* f(d) */
static inline unsigned
idx_line(const struct idx_sub_head *h, uint64_t d)
{
	unsigned __int128 f = (unsigned __int128)d * h->slope >> h->f_shift;
	return f >= h->leaves ? h->leaves - 1u : (unsigned)f;
}

/* The part of the table in which the key's leaves are (L2). */
static inline void
idx_window(const struct idx_sub_head *h, uint64_t d, unsigned *low, unsigned *high)
{
	int f = (int)idx_line(h, d), last = h->leaves - 1, from = f + h->low, to = f + h->high;
	from = from < 0 ? 0 : from > last ? last : from;
	to = to < from ? from : to > last ? last : to;
	*low = (unsigned)from;
	*high = (unsigned)to;
}

static inline unsigned
idx_entry_words(const struct idx_sub_head *h)
{
	return h->kind == IDX_WIDE ? 2 : 1;
}

/* Of the narrow entries at[1 .. n), how many have a number up to `most`: they rise. Without a
 * branch that depends on the key for short windows; reads IDX_OVER words past the entry at[n -
 * 1]. */
static inline __attribute__((always_inline)) unsigned
idx_up_to(const uint64_t *at, unsigned n, uint64_t mask, uint64_t most)
{
	unsigned base = 0;
	while (n > IDX_OVER + 1) {
		unsigned half = n / 2;
		base = (at[base + half] & mask) <= most ? base + half : base;
		n -= half;
	}
	const uint64_t *a = at + base;
	return base + ((n > 1) & ((a[1] & mask) <= most)) + ((n > 2) & ((a[2] & mask) <= most)) +
	       ((n > 3) & ((a[3] & mask) <= most));
}

/*
 * The leaves of a window that can hold the key (L3): numbers first to last. at: the window's first
 * entry, which has the number low; IDX_OVER words behind the table can be read.
 */
static inline __attribute__((always_inline)) void
idx_pick(const struct idx_sub_head *h, const uint64_t *at, uint64_t d, unsigned low, unsigned high,
    unsigned *first, unsigned *last)
{
	unsigned base = 0, n = high - low + 1;
	if (h->kind == IDX_WIDE) {
		while (n > 1) {
			unsigned half = n / 2;
			base = at[2 * (base + half)] <= d ? base + half : base;
			n -= half;
		}
		*last = low + base;
		while (base > 0 && (at[2 * base] > d || (at[2 * base] == d && (at[2 * base + 1] & 1) != 0)))
			base--;
		*first = low + base;
		return;
	}
	uint64_t q = d >> h->q_shift;
	q = q >> IDX_STEP_BITS != 0 ? UINT64_C(1) << IDX_STEP_BITS : q;
	base = idx_up_to(at, n, IDX_VALUE_MASK, 2 * q + 1);
	*last = low + base;
	while (base > 0 && (at[base] & IDX_VALUE_MASK) > 2 * q)
		base--;
	*first = low + base;
}

/* The entries first to last as a guess; table: the whole one, or the part from number `from`
 * on. */
static inline void
idx_tell(const struct idx_sub_head *h, const uint64_t *table, unsigned from, unsigned first, unsigned last,
    struct idx_guess *out)
{
	unsigned words = idx_entry_words(h);
	out->known = true;
	out->more = last - first >= IDX_GUESS_MAX;
	out->first = (uint8_t)first;
	out->n = (uint8_t)(out->more ? IDX_GUESS_MAX : last - first + 1);
	for (unsigned i = first; i <= last; i++) {
		uint64_t e = table[words * (i - from) + words - 1];
		if (i - first < IDX_GUESS_MAX)
			out->leaf[i - first] = e >> IDX_LEAF_SHIFT;
		out->more |= i > first && (e >> IDX_GAP_BIT & 1) != 0;
	}
}

#endif
