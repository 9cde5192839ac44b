/*
 * numeric_math.c -- roots, exponentials, logarithms and powers of numerics, in fixed point on
 * BIGNUMs.
 *
 * How many places a result shows is PostgreSQL's rule, from an estimate of its size; the digits
 * themselves are computed here with guard digits and rounded half away from zero once, at the end.
 */
#include <base/aside.h>
#include <types/numeric_internal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SIG = 16, SCALE_MAX = 1000, GUARD = 12, EXP_MAX = 6000 /* e^6000 has 2606 digits */ };

/* One computation: numbers are integers that count units of 10^-places. */
struct fix {
	BN_CTX *ctx;
	BIGNUM *one; /* 10^places */
	unsigned places;
	bool went; /* aside */
};

static bool
fix_open(struct fix *f, unsigned places)
{
	f->places = places;
	f->went = nam_aside_for((uint64_t)places * places * places / 400);
	f->ctx = BN_CTX_new();
	f->one = BN_new();
	return f->ctx != NULL && f->one != NULL && cat_bn_pow10(f->one, places, f->ctx);
}

static void
fix_close(struct fix *f)
{
	BN_free(f->one);
	BN_CTX_free(f->ctx);
	nam_aside_end(f->went);
}

static bool
fix_load(struct fix *f, const struct num *a, BIGNUM *to)
{
	if (!cat_bn_load(a, to) ||
	    !(f->places >= a->scale ? cat_bn_scale_up(to, f->places - a->scale, f->ctx)
				    : cat_bn_scale_down(to, a->scale - f->places, true, f->ctx)))
		return false;
	BN_set_negative(to, a->neg);
	return true;
}

static bool
fix_mul(struct fix *f, BIGNUM *r, const BIGNUM *a, const BIGNUM *b)
{
	return BN_mul(r, a, b, f->ctx) && BN_div(r, NULL, r, f->one, f->ctx);
}

static bool
fix_div(struct fix *f, BIGNUM *r, const BIGNUM *a, const BIGNUM *b)
{
	BN_CTX_start(f->ctx);
	BIGNUM *t = BN_CTX_get(f->ctx); /* r may be b */
	bool ok = t != NULL && BN_mul(t, a, f->one, f->ctx) && BN_div(r, NULL, t, b, f->ctx);
	BN_CTX_end(f->ctx);
	return ok;
}

/* r = floor(sqrt(n)), by Newton from above. r is not n. */
static bool
isqrt(BIGNUM *r, const BIGNUM *n, BN_CTX *ctx)
{
	BN_CTX_start(ctx);
	BIGNUM *t = BN_CTX_get(ctx);
	bool ok = t != NULL && BN_one(r) && BN_lshift(r, r, (BN_num_bits(n) + 1) / 2);
	while (ok) {
		ok = BN_div(t, NULL, n, r, ctx) && BN_add(t, t, r) && BN_rshift1(t, t);
		if (!ok || BN_cmp(t, r) >= 0)
			break;
		ok = BN_copy(r, t) != NULL;
	}
	BN_CTX_end(ctx);
	return ok;
}

static bool
fix_sqrt(struct fix *f, BIGNUM *r, const BIGNUM *x)
{
	BN_CTX_start(f->ctx);
	BIGNUM *t = BN_CTX_get(f->ctx);
	bool ok = t != NULL && BN_mul(t, x, f->one, f->ctx) && isqrt(r, t, f->ctx);
	BN_CTX_end(f->ctx);
	return ok;
}

/* r = e^x for x >= 0: Taylor on x / 2^k, squared k times. r is not x. */
static bool
fix_exp(struct fix *f, BIGNUM *r, const BIGNUM *x)
{
	BN_CTX_start(f->ctx);
	BIGNUM *y = BN_CTX_get(f->ctx), *term = BN_CTX_get(f->ctx);
	bool ok = term != NULL;
	int k = ok ? BN_num_bits(x) - BN_num_bits(f->one) + 6 : 0;
	k = k < 0 ? 0 : k;
	ok = ok && BN_rshift(y, x, k) && BN_copy(r, f->one) && BN_copy(term, f->one);
	for (BN_ULONG n = 1; ok && !BN_is_zero(term); n++) {
		ok = fix_mul(f, term, term, y) && BN_div_word(term, n) != (BN_ULONG)-1 && BN_add(r, r, term);
	}
	for (int j = 0; ok && j < k; j++)
		ok = fix_mul(f, r, r, r);
	BN_CTX_end(f->ctx);
	return ok;
}

/* r = ln x for x > 0 and not far from 1: roots until it is near, then 2 atanh((x-1)/(x+1)). r is
 * not x. */
static bool
fix_ln_near(struct fix *f, BIGNUM *r, const BIGNUM *x)
{
	BN_CTX_start(f->ctx);
	BIGNUM *y = BN_CTX_get(f->ctx), *d = BN_CTX_get(f->ctx), *z = BN_CTX_get(f->ctx),
	       *t = BN_CTX_get(f->ctx);
	bool ok = t != NULL && BN_copy(y, x);
	int roots = 0;
	while (ok) {
		ok = BN_sub(d, y, f->one);
		if (!ok || BN_num_bits(d) + 4 < BN_num_bits(f->one))
			break;
		ok = fix_sqrt(f, t, y) && BN_copy(y, t);
		roots++;
	}
	ok = ok && BN_add(t, y, f->one) && fix_div(f, z, d, t) && BN_copy(r, z) && BN_copy(t, z) &&
	     fix_mul(f, d, z, z);
	/* r = z + z^3/3 + z^5/5 ...; t = z^n, d = z^2, y = the term */
	for (BN_ULONG n = 3; ok; n += 2) {
		ok = fix_mul(f, t, t, d) && BN_copy(y, t);
		if (!ok || BN_is_zero(t))
			break;
		ok = BN_div_word(y, n) != (BN_ULONG)-1 && BN_add(r, r, y);
	}
	ok = ok && BN_lshift(r, r, roots + 1);
	BN_CTX_end(f->ctx);
	return ok;
}

/* The decimal logarithm of |a|, roughly. a is not zero. */
static double
rough_log10(const struct num *a)
{
	if (num_big(a)) {
		/* the highest 8 bytes say enough */
		double top = 0;
		for (unsigned k = 1; k <= 8; k++)
			top = top * 256 + a->p[a->len - k];
		return log10(top) + (a->len - 8.0) * 8 * 0.30102999566398120 - a->scale;
	}
	return log10((double)a->m) - a->scale;
}

/* r = ln a. a > 0 */
static bool
fix_ln(struct fix *f, BIGNUM *r, const struct num *a)
{
	/* a = m * 10^e with m between 0.3 and 3.2, so that a near 1 keeps all its places */
	int e = (int)lround(rough_log10(a));
	struct num m = *a;
	int scale = (int)a->scale + e;
	BN_CTX_start(f->ctx);
	BIGNUM *x = BN_CTX_get(f->ctx), *ten = BN_CTX_get(f->ctx), *l = BN_CTX_get(f->ctx);
	bool ok = l != NULL && cat_bn_load(&m, x);
	int up = (int)f->places - scale;
	ok = ok && (up >= 0 ? cat_bn_scale_up(x, (unsigned)up, f->ctx)
			    : cat_bn_scale_down(x, (unsigned)-up, true, f->ctx));
	ok = ok && fix_ln_near(f, r, x);
	if (ok && e != 0)
		ok = BN_copy(ten, f->one) && BN_mul_word(ten, 10) && fix_ln_near(f, l, ten) &&
		     BN_mul_word(l, (BN_ULONG)abs(e)) && (e > 0 ? BN_add(r, r, l) : BN_sub(r, r, l));
	BN_CTX_end(f->ctx);
	return ok;
}

/* Rounds f's x to scale places and stores it. */
static bool
fix_store(struct fix *f, BIGNUM *x, unsigned scale, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	bool neg = BN_is_negative(x);
	BN_set_negative(x, 0);
	bool ok = scale <= f->places ? cat_bn_scale_down(x, f->places - scale, true, f->ctx)
				     : cat_bn_scale_up(x, scale - f->places, f->ctx);
	return ok ? cat_num_store_bn(neg, x, scale, out, arena, err) : cat_num_oom(err);
}

static int
clamp_scale(int scale, int at_least, int at_least2)
{
	scale = scale > at_least ? scale : at_least;
	scale = scale > at_least2 ? scale : at_least2;
	return scale < 0 ? 0 : scale > SCALE_MAX ? SCALE_MAX : scale;
}

/* scale < 0: PostgreSQL's choice for sqrt() */
static bool
square_root(struct cat_str s, int scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(s);
	if (a.special == NUM_NAN || (a.special && !a.neg)) {
		*out = s;
		return true;
	}
	if (a.neg)
		return cat_error(err, "2201F", "cannot take square root of a negative number");
	int weight, first;
	cat_num_weight(&a, &weight, &first);
	if (scale < 0)
		scale = clamp_scale(MIN_SIG - ((weight + 1) * 4 / 2 - 1), a.scale, 0);
	if (num_zero(&a))
		return cat_num_store(false, 0, (unsigned)scale, out, arena, err);
	struct fix f;
	BIGNUM *r = BN_new(), *x = BN_new();
	unsigned places = (unsigned)(scale > a.scale ? scale : a.scale) + 2;
	bool ok = fix_open(&f, places) && r != NULL && x != NULL && fix_load(&f, &a, x) && fix_sqrt(&f, r, x);
	ok = ok ? fix_store(&f, r, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	fix_close(&f);
	BN_free(r);
	BN_free(x);
	return ok;
}

bool
cat_num_sqrt(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return square_root(s, -1, out, arena, err);
}

bool
cat_num_sqrt_to(
    struct cat_str s, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return square_root(s, (int)scale, out, arena, err);
}

bool
cat_num_exp(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(s);
	if (a.special) {
		if (a.special == NUM_INF && a.neg)
			return cat_num_store(false, 0, 0, out, arena, err);
		*out = s;
		return true;
	}
	double val;
	if (!cat_num_to_double(s, &val, arena, err))
		val = a.neg ? -1e300 : 1e300;
	if (val >= EXP_MAX)
		return cat_num_overflow(err);
	val *= 0.434294481903252;
	val = val < -2000 ? -2000 : val > 2000 ? 2000 : val;
	int scale = clamp_scale(MIN_SIG - (int)val, a.scale, 0);
	if (a.neg && val <= -1100)
		return cat_num_store(false, 0, (unsigned)scale, out, arena, err);
	struct fix f;
	BIGNUM *r = BN_new(), *x = BN_new();
	unsigned size = (unsigned)fabs(rough_log10(&a) < 0 || num_zero(&a) ? 0 : (a.neg ? -val : val)) + 2;
	/* every squaring doubles the error: size digits more in front need as many behind */
	bool ok =
	    fix_open(&f, (unsigned)scale + size * 2 + GUARD) && r != NULL && x != NULL && fix_load(&f, &a, x);
	if (ok) {
		BN_set_negative(x, 0);
		ok = fix_exp(&f, r, x);
	}
	if (ok && a.neg)
		ok = fix_div(&f, r, f.one, r);
	ok = ok ? fix_store(&f, r, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	fix_close(&f);
	BN_free(r);
	BN_free(x);
	return ok;
}

/* Roughly log10 |ln a|: how many digits ln a has in front (or, negative, zeros behind). */
static int
ln_weight(const struct num *a, struct nam_arena *arena)
{
	if (num_zero(a) || a->neg || a->special)
		return 0;
	struct cat_err ignore;
	struct cat_str one, v, d;
	double x = rough_log10(a);
	if (x > -0.0458 && x < 0.0414) {
		/* 0.9 to 1.1: what matters is how far it is from 1 */
		int weight, first;
		if (!cat_num_store(false, 1, 0, &one, arena, &ignore))
			return 0;
		if (num_big(a)) {
			BIGNUM *m = BN_lebin2bn(a->p, (int)a->len, NULL);
			bool ok = m != NULL && cat_num_store_bn(false, m, a->scale, &v, arena, &ignore);
			BN_free(m);
			if (!ok)
				return 0;
		} else if (!cat_num_store(false, a->m, a->scale, &v, arena, &ignore)) {
			return 0;
		}
		if (!cat_num_sub(v, one, &d, arena, &ignore))
			return 0;
		struct num diff = cat_num_load(d);
		if (num_zero(&diff))
			return 0;
		cat_num_weight(&diff, &weight, &first);
		return weight * 4 + (int)log10(first);
	}
	return (int)log10(fabs(x * 2.302585092994046));
}

static bool
positive(const struct num *a, struct cat_err *err)
{
	if (num_zero(a))
		return cat_error(err, "2201E", "cannot take logarithm of zero");
	if (a->neg)
		return cat_error(err, "2201E", "cannot take logarithm of a negative number");
	return true;
}

bool
cat_num_ln(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(s);
	if (a.special == NUM_NAN) {
		*out = s;
		return true;
	}
	if (!positive(&a, err))
		return false;
	if (a.special) {
		*out = s;
		return true;
	}
	int scale = clamp_scale(MIN_SIG - ln_weight(&a, arena), a.scale, 0);
	struct fix f;
	BIGNUM *r = BN_new();
	bool ok = fix_open(&f, (unsigned)scale + GUARD + 8) && r != NULL && fix_ln(&f, r, &a);
	ok = ok ? fix_store(&f, r, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	fix_close(&f);
	BN_free(r);
	return ok;
}

bool
cat_num_log(
    struct cat_str base, struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num b = cat_num_load(base), a = cat_num_load(s);
	if (b.special == NUM_NAN || a.special == NUM_NAN)
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (!positive(&b, err) || !positive(&a, err))
		return false;
	if (b.special && a.special)
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (b.special)
		return cat_num_store(false, 0, 0, out, arena, err);
	if (a.special)
		return cat_num_store_special(NUM_INF, false, out, arena, err);
	int wb = ln_weight(&b, arena), wa = ln_weight(&a, arena);
	int scale = clamp_scale(MIN_SIG - (wa - wb), a.scale, b.scale);
	struct fix f;
	BIGNUM *x = BN_new(), *y = BN_new();
	unsigned places = (unsigned)scale + GUARD + 16 + 2 * (unsigned)(abs(wa) + abs(wb));
	bool ok = fix_open(&f, places) && x != NULL && y != NULL && fix_ln(&f, x, &a) && fix_ln(&f, y, &b);
	bool zero = ok && BN_is_zero(y);
	ok = ok && !zero && fix_div(&f, x, x, y);
	ok = ok     ? fix_store(&f, x, (unsigned)scale, out, arena, err)
	     : zero ? cat_error(err, "22012", "division by zero")
		    : cat_num_oom(err);
	fix_close(&f);
	BN_free(x);
	BN_free(y);
	return ok;
}

/* A long floating number: m * 10^e, cut to about `digits` digits. */
struct wide {
	BIGNUM *m;
	int64_t e;
};

static bool
wide_mul(struct wide *r, const struct wide *b, unsigned digits, BN_CTX *ctx)
{
	if (!BN_mul(r->m, r->m, b->m, ctx))
		return false;
	r->e += b->e;
	int64_t have = (int64_t)BN_num_bits(r->m) * 30103 / 100000; /* digits, or one fewer */
	if (have <= (int64_t)digits + 1)
		return true;
	unsigned cut = (unsigned)(have - digits);
	r->e += cut;
	return cat_bn_scale_down(r->m, cut, true, ctx);
}

/* base^n for a whole n; base is finite and not zero. Squares and multiplies; exact while the digits
 * fit. */
static bool
whole_power(const struct num *a, int64_t n, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	int scale = clamp_scale(MIN_SIG, a->scale, 0);
	bool neg = a->neg && n % 2 != 0;
	double size = rough_log10(a) * (double)n; /* digits of the result in front of the point */
	if (size > CAT_NUM_DIGITS_MAX)
		return cat_num_overflow(err);
	if (n != 0 && size < -scale - 1)
		return cat_num_store(false, 0, (unsigned)scale, out, arena, err);
	/* each of at most 62 products loses half a unit in the last digit, and a squaring doubles
	 * what was lost */
	unsigned digits = (unsigned)scale + (size > 0 ? (unsigned)size : 0) + GUARD + 12;
	bool went = nam_aside_for((uint64_t)digits * digits / 10);
	BN_CTX *ctx = BN_CTX_new();
	struct wide r = { BN_new(), 0 }, x = { BN_new(), -(int64_t)a->scale };
	BIGNUM *p = BN_new();
	bool ok =
	    ctx != NULL && r.m != NULL && x.m != NULL && p != NULL && BN_one(r.m) && cat_bn_load(a, x.m);
	for (uint64_t k = n < 0 ? -(uint64_t)n : (uint64_t)n; ok && k > 0; k >>= 1) {
		if (k & 1)
			ok = wide_mul(&r, &x, digits, ctx);
		if (k > 1)
			ok = ok && wide_mul(&x, &x, digits, ctx);
	}
	if (ok && n < 0) {
		int64_t up = scale - r.e; /* 10^-e / m, in units of 10^-scale */
		ok = up < 0 ? BN_set_word(r.m, 0)
			    : cat_bn_pow10(p, (unsigned)up, ctx) && cat_bn_div_round(r.m, p, r.m, ctx);
	} else if (ok) {
		int64_t up = r.e + scale;
		ok = up >= 0 ? cat_bn_scale_up(r.m, (unsigned)up, ctx)
			     : cat_bn_scale_down(r.m, (unsigned)-up, true, ctx);
	}
	ok = ok ? cat_num_store_bn(neg, r.m, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	BN_free(r.m);
	BN_free(x.m);
	BN_free(p);
	BN_CTX_free(ctx);
	nam_aside_end(went);
	return ok;
}

static bool
special_power(const struct num *a, const struct num *b, struct cat_str sa, struct cat_str sb, bool whole,
    bool odd, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_str one;
	if (!cat_num_store(false, 1, 0, &one, arena, err))
		return false;
	/* 1 to any power and anything to the power 0 are 1, even with NaN */
	if (a->special == NUM_NAN || b->special == NUM_NAN) {
		if (cat_num_cmp(sa, one) == 0 || num_zero(b))
			*out = one;
		else
			return cat_num_store_special(NUM_NAN, false, out, arena, err);
		return true;
	}
	if (num_zero(b) || cat_num_cmp(sa, one) == 0) {
		*out = one;
		return true;
	}
	if (num_zero(a) && b->neg)
		return cat_error(err, "2201F", "zero raised to a negative power is undefined");
	if (num_zero(a))
		return cat_num_store(false, 0, 0, out, arena, err);
	if (a->neg && b->special == NUM_FINITE && !whole)
		return cat_error(
		    err, "2201F", "a negative number raised to a non-integer power yields a complex result");
	if (b->special) {
		struct cat_str m;
		if (!cat_num_abs(sa, &m, arena, err))
			return false;
		int c = cat_num_cmp(m, one);
		if (c == 0) {
			*out = one;
			return true;
		}
		if ((c > 0) == !b->neg)
			return cat_num_store_special(NUM_INF, false, out, arena, err);
		return cat_num_store(false, 0, 0, out, arena, err);
	}
	(void)sb;
	if (b->neg)
		return cat_num_store(false, 0, 0, out, arena, err);
	return cat_num_store_special(NUM_INF, a->neg && odd, out, arena, err);
}

bool
cat_num_power(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	struct cat_str t;
	int64_t n = 0;
	struct cat_err ignore;
	if (!cat_num_trunc(sb, 0, &t, arena, err))
		return false;
	bool whole = b.special == NUM_FINITE && cat_num_cmp(t, sb) == 0;
	bool small = whole && cat_num_to_int(sb, CAT_INT4, &n, &ignore);
	if (a.special || b.special)
		return special_power(
		    &a, &b, sa, sb, whole, whole && (num_big(&b) || n % 2 != 0), out, arena, err);
	if (num_zero(&a)) {
		if (b.neg)
			return cat_error(err, "2201F", "zero raised to a negative power is undefined");
		int scale = clamp_scale(MIN_SIG, a.scale, whole ? 0 : b.scale);
		struct cat_str one;
		if (!cat_num_store(false, num_zero(&b), 0, &one, arena, err))
			return false;
		return cat_num_round(one, scale, out, arena, err);
	}
	if (small)
		return whole_power(&a, n, out, arena, err);
	if (a.neg && !whole)
		return cat_error(
		    err, "2201F", "a negative number raised to a non-integer power yields a complex result");
	/* e^(b ln |a|) */
	double e, size;
	if (!cat_num_to_double(sb, &e, arena, &ignore))
		e = b.neg ? -1e300 : 1e300;
	size = e * rough_log10(&a);
	if (size * 2.302585092994046 >= EXP_MAX)
		return cat_num_overflow(err);
	double shown = size > 2000 ? 2000 : size < -2000 ? -2000 : size;
	int scale = clamp_scale(MIN_SIG - (int)shown, a.scale, b.scale);
	if (size < -scale - 1)
		return cat_num_store(false, 0, (unsigned)scale, out, arena, err);
	bool odd = false;
	if (a.neg) {
		struct cat_str two, r;
		if (!cat_num_store(false, 2, 0, &two, arena, err) || !cat_num_mod(sb, two, &r, arena, err))
			return false;
		odd = cat_num_sign(r) != 0;
		a.neg = false;
	}
	struct fix f;
	BIGNUM *x = BN_new(), *y = BN_new();
	unsigned places = (unsigned)(scale + 2 * (int)fabs(size)) + GUARD + 22 + b.scale;
	bool ok = fix_open(&f, places) && x != NULL && y != NULL && fix_ln(&f, x, &a) &&
		  fix_load(&f, &b, y) && fix_mul(&f, x, x, y);
	if (ok) {
		bool down = BN_is_negative(x);
		BN_set_negative(x, 0);
		ok = fix_exp(&f, y, x) && (!down || fix_div(&f, y, f.one, y));
	}
	if (ok)
		BN_set_negative(y, odd);
	ok = ok ? fix_store(&f, y, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	fix_close(&f);
	BN_free(x);
	BN_free(y);
	return ok;
}
