/* numeric_internal.h -- shared by numeric.c and numeric_math.c: a numeric taken apart. */
#ifndef NAM_CATALOG_NUMERIC_INTERNAL_H
#define NAM_CATALOG_NUMERIC_INTERNAL_H

#include <types/numeric.h>

#include <openssl/bn.h>

typedef unsigned __int128 u128;

enum num_special { NUM_FINITE = 0, NUM_NAN, NUM_INF };

/* p, len: the magnitude's bytes. m is the magnitude when len <= 16. */
struct num {
	bool neg;
	uint8_t special;
	uint16_t scale;
	uint32_t len;
	const uint8_t *p;
	u128 m;
};

struct num cat_num_load(struct cat_str s);
static inline bool
num_big(const struct num *a)
{
	return a->len > 16;
}
static inline bool
num_zero(const struct num *a)
{
	return a->special == NUM_FINITE && a->len == 0;
}

bool cat_num_oom(struct cat_err *err);
bool cat_num_overflow(struct cat_err *err);
bool cat_num_store(
    bool neg, u128 m, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
bool cat_num_store_special(
    enum num_special sp, bool neg, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* Checks PostgreSQL's limit of digits. Sign from neg, not from m. */
bool cat_num_store_bn(bool neg, const BIGNUM *m, unsigned scale, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err);

/* Weight and first digit in base 10000: what PostgreSQL's rules for result scales look at. */
void cat_num_weight(const struct num *a, int *weight, int *first);

/* BIGNUM helpers; false if there is no memory. Magnitudes only, except where said. */
bool cat_bn_load(const struct num *a, BIGNUM *to);
bool cat_bn_pow10(BIGNUM *to, unsigned n, BN_CTX *ctx);
bool cat_bn_scale_up(BIGNUM *x, unsigned n, BN_CTX *ctx); /* x *= 10^n */
/* half away from zero */
bool cat_bn_div_round(BIGNUM *q, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx);
bool cat_bn_scale_down(BIGNUM *x, unsigned n, bool round, BN_CTX *ctx); /* x /= 10^n */

#endif
