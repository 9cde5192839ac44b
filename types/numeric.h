/*
 * numeric.h -- decimal numbers of any length, with PostgreSQL's rules for scale and rounding.
 *
 * A numeric is a short byte string (a struct cat_str):
 *
 *	byte 0, 1   little endian: bits 0-13 scale (digits after the point), bits 14-15 kind
 *	byte 2...   magnitude, little endian, no leading zero bytes (nothing: zero)
 *
 *	kind 0: magnitude / 10^scale     1: the same, negative     2: special, scale says which:
 *	0 NaN, 1 Infinity, 2 -Infinity
 *
 * Zero is never negative. 1.0 and 1.00 are different bytes (their scale shows) and compare and hash
 * alike. Any bytes are safe to read: too short a string is 0.
 *
 * Magnitudes up to 128 bits take a fast path without malloc; longer ones go through OpenSSL's
 * BIGNUM. Results live in the arena. Functions that can fail return false and fill *err: 22003
 * overflow, 22012 division by zero, 22P02 bad text, 2201E/2201F logarithm and power, 53200 no
 * memory. Any thread.
 */
#ifndef NAM_CATALOG_NUMERIC_H
#define NAM_CATALOG_NUMERIC_H

#include <types/value.h>

enum { CAT_NUM_SCALE_MAX = 16383, CAT_NUM_DIGITS_MAX = 131072 /* before the point */ };

bool cat_num_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* "" if the arena is full. */
struct cat_str cat_num_out(struct cat_str n, struct nam_arena *arena);

bool cat_num_from_int(int64_t v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
bool cat_num_from_int128(
    __int128 v, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* 15 significant digits, as PostgreSQL. */
bool cat_num_from_double(double v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* Nearest double; 22003 if there is none. arena: scratch. */
bool cat_num_to_double(struct cat_str n, double *out, struct nam_arena *arena, struct cat_err *err);
/* Rounds half away from zero. type: CAT_INT4 or CAT_INT8, whose range holds. */
bool cat_num_to_int(struct cat_str n, enum cat_type type, int64_t *out, struct cat_err *err);
/* value * 10^scale as an __int128. False if that is not exact, or not below 2^126 in size, or if n
 * is special. */
bool cat_num_to_int128(struct cat_str n, unsigned scale, __int128 *out);

bool cat_num_is_nan(struct cat_str n);
bool cat_num_is_inf(struct cat_str n);
unsigned cat_num_scale(struct cat_str n);
int cat_num_sign(struct cat_str n); /* -1, 0, 1; NaN: 0 */
int cat_num_cmp(struct cat_str a, struct cat_str b);
uint64_t cat_num_hash(struct cat_str n, uint64_t seed);

typedef bool cat_num_binary(
    struct cat_str a, struct cat_str b, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
cat_num_binary cat_num_add, cat_num_sub, cat_num_mul, cat_num_div, cat_num_mod, cat_num_power;
/* Logarithm of b to the base a. */
cat_num_binary cat_num_log;

typedef bool cat_num_unary(
    struct cat_str a, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
cat_num_unary cat_num_neg, cat_num_abs, cat_num_ceil, cat_num_floor, cat_num_sqrt, cat_num_exp, cat_num_ln;

/* The square root to that many digits after the point. */
bool cat_num_sqrt_to(
    struct cat_str a, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);

/* scale may be negative: round(1234, -2) = 1200. */
bool cat_num_round(
    struct cat_str a, int scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
bool cat_num_trunc(
    struct cat_str a, int scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* numeric(p,s): typmod = p << 16 | s. */
bool cat_num_fit(
    struct cat_str a, int32_t typmod, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);

/*
 * A running sum in 32 zeroed bytes: an __int128 at the largest scale seen. A sum that does not fit
 * continues as a numeric in the arena, whose memory is used again as it grows.
 */
struct cat_num_sum {
	uint64_t lo, hi; /* the __int128, apart: the state may be 8-aligned only */
	struct cat_num_big *big;
	uint64_t n : 45, scale : 14, nan : 1, plus_inf : 1, minus_inf : 1;
};
_Static_assert(sizeof(struct cat_num_sum) == 32, "fits an aggregate's state");
bool cat_num_sum_add(struct cat_num_sum *s, struct cat_str v, struct nam_arena *arena, struct cat_err *err);
/* Adds v / 10^scale. */
bool cat_num_sum_add_far(
    struct cat_num_sum *s, int64_t v, unsigned scale, struct nam_arena *arena, struct cat_err *err);
static inline bool
cat_num_sum_add_scaled(
    struct cat_num_sum *s, int64_t v, unsigned scale, struct nam_arena *arena, struct cat_err *err)
{
	__int128 was = (__int128)((unsigned __int128)s->hi << 64 | s->lo), now;
	if (s->n == 0)
		s->scale = scale & 0x3fff;
	if (s->scale != scale || __builtin_add_overflow(was, v, &now))
		return cat_num_sum_add_far(s, v, scale, arena, err);
	s->lo = (uint64_t)now;
	s->hi = (uint64_t)((unsigned __int128)now >> 64);
	s->n++;
	return true;
}
/* Adds an int64. */
bool cat_num_sum_add_int(struct cat_num_sum *s, int64_t v, struct nam_arena *arena, struct cat_err *err);
/* Adds the sum v of n values. */
bool cat_num_sum_add_all(
    struct cat_num_sum *s, struct cat_str v, uint64_t n, struct nam_arena *arena, struct cat_err *err);
/* Adds another sum, which has neither memory nor special values. */
bool cat_num_sum_merge(
    struct cat_num_sum *s, const struct cat_num_sum *x, struct nam_arena *arena, struct cat_err *err);
/* The sum of s->n values. If n is 0, the caller decides what the result is. */
bool cat_num_sum_get(
    const struct cat_num_sum *s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);

#endif
