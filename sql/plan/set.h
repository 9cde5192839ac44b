/*
 * set.h -- sets of a query's tables, by their numbers: 0 .. SQL_TABLES_MAX-1.
 *
 * A set is a value without a pointer: it is copied, needs no arena and cannot fail. At this size
 * its operations are a few vector instructions.
 */
#ifndef NAM_SQL_SET_H
#define NAM_SQL_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { SQL_TABLES_MAX = 512, SQL_SET_WORDS = SQL_TABLES_MAX / 64 };

struct sql_set {
	uint64_t w[SQL_SET_WORDS];
};

static inline void
sql_set_put(struct sql_set *s, unsigned k)
{
	s->w[k / 64] |= UINT64_C(1) << k % 64;
}

static inline bool
sql_set_has(const struct sql_set *s, unsigned k)
{
	return s->w[k / 64] >> k % 64 & 1;
}

/* first..end-1 */
static inline struct sql_set
sql_set_range(unsigned first, unsigned end)
{
	struct sql_set s = { { 0 } };
	for (unsigned k = first; k < end; k++)
		sql_set_put(&s, k);
	return s;
}

static inline struct sql_set
sql_set_none(void)
{
	return (struct sql_set){ { 0 } };
}

static inline struct sql_set
sql_set_one(unsigned k)
{
	struct sql_set s = { { 0 } };
	sql_set_put(&s, k);
	return s;
}

static inline struct sql_set
sql_set_all(void)
{
	struct sql_set s = { { 0 } };
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		s.w[i] = UINT64_MAX;
	return s;
}

/* Puts those of `more` into *s. */
static inline void
sql_set_add(struct sql_set *s, const struct sql_set *more)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		s->w[i] |= more->w[i];
}

/* Leaves in *s those of `only`. */
static inline void
sql_set_keep(struct sql_set *s, const struct sql_set *only)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		s->w[i] &= only->w[i];
}

static inline struct sql_set
sql_set_or(const struct sql_set *x, const struct sql_set *y)
{
	struct sql_set s = *x;
	sql_set_add(&s, y);
	return s;
}

static inline struct sql_set
sql_set_and(const struct sql_set *x, const struct sql_set *y)
{
	struct sql_set s = *x;
	sql_set_keep(&s, y);
	return s;
}

static inline struct sql_set
sql_set_without(const struct sql_set *x, const struct sql_set *y)
{
	struct sql_set s = *x;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		s.w[i] &= ~y->w[i];
	return s;
}

static inline bool
sql_set_is_empty(const struct sql_set *s)
{
	uint64_t any = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		any |= s->w[i];
	return any == 0;
}

/* True if each of x is in y, also if x is empty. */
static inline bool
sql_set_within(const struct sql_set *x, const struct sql_set *y)
{
	uint64_t out = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		out |= x->w[i] & ~y->w[i];
	return out == 0;
}

/* True if a table is in both. */
static inline bool
sql_set_meets(const struct sql_set *x, const struct sql_set *y)
{
	uint64_t both = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		both |= x->w[i] & y->w[i];
	return both != 0;
}

static inline bool
sql_set_equal(const struct sql_set *x, const struct sql_set *y)
{
	uint64_t other = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		other |= x->w[i] ^ y->w[i];
	return other == 0;
}

static inline unsigned
sql_set_count(const struct sql_set *s)
{
	unsigned n = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++)
		n += (unsigned)__builtin_popcountll(s->w[i]);
	return n;
}

/* True if it has two at least. */
static inline bool
sql_set_is_many(const struct sql_set *s)
{
	uint64_t any = 0, more = 0;
#pragma GCC unroll 8
	for (unsigned i = 0; i < SQL_SET_WORDS; i++) {
		more |= (s->w[i] & (s->w[i] - 1)) | (any != 0 ? s->w[i] : 0);
		any |= s->w[i];
	}
	return more != 0;
}

/* The least of k .. end-1; end or more: none. */
static inline unsigned
sql_set_from(const struct sql_set *s, unsigned k, unsigned end)
{
	if (k >= end)
		return end;
	unsigned i = k / 64;
	uint64_t w = s->w[i] & UINT64_MAX << k % 64;
	while (w == 0 && ++i * 64 < end)
		w = s->w[i];
	return w == 0 ? end : i * 64 + (unsigned)__builtin_ctzll(w);
}

/* for (k = sql_set_first(&s, end); k < end; k = sql_set_next(&s, k, end)): end is more than the
 * greatest of the set, SQL_TABLES_MAX at most. */
static inline unsigned
sql_set_first(const struct sql_set *s, unsigned end)
{
	return sql_set_from(s, 0, end);
}

static inline unsigned
sql_set_next(const struct sql_set *s, unsigned k, unsigned end)
{
	return sql_set_from(s, k + 1, end);
}

/* Each number greater by `by`; what would be SQL_TABLES_MAX or more is gone. */
static inline struct sql_set
sql_set_moved(const struct sql_set *s, unsigned by)
{
	struct sql_set to = { { 0 } };
	unsigned words = by / 64, bits = by % 64;
	for (unsigned i = words; i < SQL_SET_WORDS; i++) {
		to.w[i] = s->w[i - words] << bits;
		if (bits > 0 && i > words)
			to.w[i] |= s->w[i - words - 1] >> (64 - bits);
	}
	return to;
}

#endif
