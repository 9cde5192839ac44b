/* numeric.c -- arithmetic of decimals: in 128 bits when they fit, with OpenSSL's BIGNUM when they
 * do not. */
#include <base/hash.h>
#include <types/numeric_internal.h>

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_NEG = 1, KIND_SPECIAL = 2, MIN_SIG = 16, RESULT_SCALE_MAX = 2000, DISPLAY_SCALE_MAX = 1000 };

#define P19 UINT64_C(10000000000000000000)
static const uint64_t pow10_64[20] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
	UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
	UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000), P19 };

/* 10^n, n <= 38. */
static inline u128
p10(unsigned n)
{
	return n < 20 ? pow10_64[n] : (u128)pow10_64[n - 19] * P19;
}

bool
cat_num_oom(struct cat_err *err)
{
	return cat_error(err, "53200", "out of memory");
}

bool
cat_num_overflow(struct cat_err *err)
{
	return cat_error(err, "22003", "value overflows numeric format");
}

/* n <= 8 bytes, without a call to memcpy and without a look beyond them. */
static inline uint64_t
load64(const uint8_t *p, unsigned n)
{
	if (n >= 4) {
		uint32_t lo, hi; /* they may overlap, in equal bits */
		memcpy(&lo, p, 4);
		memcpy(&hi, p + n - 4, 4);
		return lo | (uint64_t)hi << (8 * (n - 4));
	}
	return n == 0 ? 0 : p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

struct num
cat_num_load(struct cat_str s)
{
	struct num a = { 0 };
	if (s.len < 2)
		return a;
	const uint8_t *p = (const uint8_t *)s.p;
	unsigned head = (unsigned)p[0] | (unsigned)p[1] << 8;
	a.scale = head & 0x3fff;
	a.p = p + 2;
	a.len = s.len - 2;
	if (head >> 14 >= KIND_SPECIAL) {
		a.special = a.scale == 0 ? NUM_NAN : NUM_INF;
		a.neg = a.scale == 2;
		a.scale = 0;
		a.len = 0;
		return a;
	}
	while (a.len > 16 && a.p[a.len - 1] == 0) /* not ours, but a 128-bit value must take the
						   * fast path */
		a.len--;
	if (a.len <= 8)
		a.m = load64(a.p, a.len);
	else if (a.len <= 16)
		a.m = (u128)load64(a.p + 8, a.len - 8) << 64 | load64(a.p, 8);
	if (a.len <= 16 && a.m == 0)
		a.len = 0;
	a.neg = head >> 14 == KIND_NEG && a.len > 0;
	return a;
}

bool
cat_num_store(
    bool neg, u128 m, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	uint8_t *p = nam_arena_take(arena, 18);
	if (p == NULL)
		return cat_num_oom(err);
	uint64_t lo = (uint64_t)m, hi = (uint64_t)(m >> 64);
	unsigned len = hi   ? 16 - (unsigned)__builtin_clzll(hi) / 8
		       : lo ? 8 - (unsigned)__builtin_clzll(lo) / 8
			    : 0;
	unsigned head = scale | (neg && m ? KIND_NEG << 14 : 0);
	p[0] = (uint8_t)head;
	p[1] = (uint8_t)(head >> 8);
	memcpy(p + 2, &lo, 8);
	memcpy(p + 10, &hi, 8);
	*out = (struct cat_str){ (const char *)p, len + 2 };
	return true;
}

bool
cat_num_store_special(
    enum num_special sp, bool neg, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	uint8_t *p = nam_arena_take(arena, 2);
	if (p == NULL)
		return cat_num_oom(err);
	p[0] = sp == NUM_NAN ? 0 : neg ? 2 : 1;
	p[1] = KIND_SPECIAL << 6;
	*out = (struct cat_str){ (const char *)p, 2 };
	return true;
}

bool
cat_num_store_bn(bool neg, const BIGNUM *m, unsigned scale, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	unsigned len = (unsigned)BN_num_bytes(m);
	/* log2(10) = 3.3219...: exact enough, the limit is far away from any real number */
	if ((uint64_t)BN_num_bits(m) * 100000 > (uint64_t)(CAT_NUM_DIGITS_MAX + scale) * 332193)
		return cat_num_overflow(err);
	uint8_t *p = nam_arena_take(arena, len + 2);
	if (p == NULL)
		return cat_num_oom(err);
	unsigned head = scale | (neg && len ? KIND_NEG << 14 : 0);
	p[0] = (uint8_t)head;
	p[1] = (uint8_t)(head >> 8);
	BN_bn2lebinpad(m, p + 2, (int)len);
	*out = (struct cat_str){ (const char *)p, len + 2 };
	return true;
}

static unsigned
digits64(uint64_t v)
{
	unsigned n = 1;
	while (n < 20 && v >= pow10_64[n])
		n++;
	return n;
}

static unsigned
digits128(u128 v)
{
	return v >= P19 ? v / P19 >= P19 ? 39 : 19 + digits64((uint64_t)(v / P19)) : digits64((uint64_t)v);
}

/* ---- BIGNUM helpers ---------------------------------------------------------- */

bool
cat_bn_load(const struct num *a, BIGNUM *to)
{
	return BN_lebin2bn(a->p, (int)a->len, to) != NULL;
}

bool
cat_bn_pow10(BIGNUM *to, unsigned n, BN_CTX *ctx)
{
	if (n < 20)
		return BN_set_word(to, pow10_64[n]);
	BN_CTX_start(ctx);
	BIGNUM *ten = BN_CTX_get(ctx), *e = BN_CTX_get(ctx);
	bool ok = e != NULL && BN_set_word(ten, 10) && BN_set_word(e, n) && BN_exp(to, ten, e, ctx);
	BN_CTX_end(ctx);
	return ok;
}

bool
cat_bn_scale_up(BIGNUM *x, unsigned n, BN_CTX *ctx)
{
	if (n == 0)
		return true;
	BN_CTX_start(ctx);
	BIGNUM *p = BN_CTX_get(ctx);
	bool ok = p != NULL && cat_bn_pow10(p, n, ctx) && BN_mul(x, x, p, ctx);
	BN_CTX_end(ctx);
	return ok;
}

bool
cat_bn_div_round(BIGNUM *q, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx)
{
	BN_CTX_start(ctx);
	BIGNUM *r = BN_CTX_get(ctx), *quot = BN_CTX_get(ctx);
	bool ok = quot != NULL && BN_div(quot, r, a, b, ctx) && BN_lshift1(r, r);
	if (ok && BN_ucmp(r, b) >= 0)
		ok = BN_is_negative(a) != BN_is_negative(b) ? BN_sub_word(quot, 1) : BN_add_word(quot, 1);
	ok = ok && BN_copy(q, quot) != NULL;
	BN_CTX_end(ctx);
	return ok;
}

bool
cat_bn_scale_down(BIGNUM *x, unsigned n, bool round, BN_CTX *ctx)
{
	if (n == 0)
		return true;
	BN_CTX_start(ctx);
	BIGNUM *p = BN_CTX_get(ctx);
	bool ok = p != NULL && cat_bn_pow10(p, n, ctx) &&
		  (round ? cat_bn_div_round(x, x, p, ctx) : BN_div(x, NULL, x, p, ctx));
	BN_CTX_end(ctx);
	return ok;
}

/* ---- text ---------------------------------------------------------------------- */

static bool
space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
bad_text(struct cat_str t, struct cat_err *err)
{
	return cat_error(err, "22P02", "invalid input syntax for type numeric: \"%.*s\"", (int)t.len, t.p);
}

static bool
word(struct cat_str s, const char *w)
{
	return s.len == strlen(w) && strncasecmp(s.p, w, s.len) == 0;
}

static bool
in_bn(const char *digits, unsigned n, bool neg, unsigned up, unsigned scale, struct cat_str *out,
    struct nam_arena *arena, struct cat_err *err)
{
	char *z = nam_arena_str(arena, digits, n);
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *m = BN_new();
	bool ok =
	    z != NULL && ctx != NULL && m != NULL && BN_dec2bn(&m, z) > 0 && cat_bn_scale_up(m, up, ctx);
	ok = ok ? cat_num_store_bn(neg, m, scale, out, arena, err) : cat_num_oom(err);
	BN_free(m);
	BN_CTX_free(ctx);
	return ok;
}

bool
cat_num_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_str s = text;
	while (s.len > 0 && space(s.p[0]))
		s.p++, s.len--;
	while (s.len > 0 && space(s.p[s.len - 1]))
		s.len--;
	if (word(s, "nan"))
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	bool neg = false;
	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		neg = s.p[0] == '-';
		s.p++, s.len--;
	}
	if (word(s, "inf") || word(s, "infinity"))
		return cat_num_store_special(NUM_INF, neg, out, arena, err);
	/* digits [. digits] [e exponent] */
	u128 m = 0;
	unsigned digits = 0, seen = 0, after = 0, k = 0;
	bool point = false;
	for (; k < s.len; k++) {
		char c = s.p[k];
		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		seen++;
		after += point;
		if (digits > 0 || c != '0')
			digits++;
		if (digits <= 38)
			m = m * 10 + (unsigned)(c - '0');
	}
	if (seen == 0)
		return bad_text(text, err);
	unsigned body = k;
	long exp = 0;
	if (k < s.len && (s.p[k] == 'e' || s.p[k] == 'E')) {
		bool eneg = false;
		k++;
		if (k < s.len && (s.p[k] == '-' || s.p[k] == '+'))
			eneg = s.p[k++] == '-';
		if (k >= s.len || s.p[k] < '0' || s.p[k] > '9')
			return bad_text(text, err);
		for (; k < s.len && s.p[k] >= '0' && s.p[k] <= '9'; k++)
			if (exp < 100000000)
				exp = exp * 10 + (s.p[k] - '0');
		if (eneg)
			exp = -exp;
	}
	if (k != s.len)
		return bad_text(text, err);
	long scale = (long)after - exp;
	unsigned up = scale < 0 ? (unsigned)-scale : 0;
	if (scale < 0)
		scale = 0;
	if (scale > CAT_NUM_SCALE_MAX)
		return cat_num_overflow(err);
	if (digits == 0)
		return cat_num_store(false, 0, (unsigned)scale, out, arena, err);
	if ((uint64_t)digits + up > (uint64_t)CAT_NUM_DIGITS_MAX + (unsigned)scale)
		return cat_num_overflow(err);
	if (digits + up <= 38)
		return cat_num_store(neg, m * p10(up), (unsigned)scale, out, arena, err);
	/* too long: the digits without the point */
	char *d = nam_arena_take(arena, body + 1);
	if (d == NULL)
		return cat_num_oom(err);
	unsigned n = 0;
	for (unsigned j = 0; j < body; j++)
		if (s.p[j] != '.')
			d[n++] = s.p[j];
	return in_bn(d, n, neg, up, (unsigned)scale, out, arena, err);
}

/* Decimal digits of m, ending at end; returns their start. */
static char *
put_digits(char *end, u128 m)
{
	while (m >= P19) {
		uint64_t low = (uint64_t)(m % P19);
		m /= P19;
		for (int k = 0; k < 19; k++, low /= 10)
			*--end = (char)('0' + low % 10);
	}
	uint64_t v = (uint64_t)m;
	do
		*--end = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	return end;
}

struct cat_str
cat_num_out(struct cat_str s, struct nam_arena *arena)
{
	struct num a = cat_num_load(s);
	if (a.special == NUM_NAN)
		return (struct cat_str){ "NaN", 3 };
	if (a.special == NUM_INF)
		return a.neg ? (struct cat_str){ "-Infinity", 9 } : (struct cat_str){ "Infinity", 8 };
	char small[48], *digits, *owned = NULL;
	size_t n;
	if (num_big(&a)) {
		BIGNUM *m = BN_lebin2bn(a.p, (int)a.len, NULL);
		digits = owned = m ? BN_bn2dec(m) : NULL;
		BN_free(m);
		if (digits == NULL)
			return (struct cat_str){ "", 0 };
		n = strlen(digits);
	} else {
		digits = put_digits(small + sizeof small, a.m);
		n = (size_t)(small + sizeof small - digits);
	}
	char *out = nam_arena_take(arena, n + a.scale + 4), *p = out;
	if (out != NULL) {
		if (a.neg)
			*p++ = '-';
		if (n > a.scale) {
			memcpy(p, digits, n - a.scale);
			p += n - a.scale;
			digits += n - a.scale;
			n = a.scale;
		} else {
			*p++ = '0';
		}
		if (a.scale > 0) {
			*p++ = '.';
			memset(p, '0', a.scale - n);
			p += a.scale - n;
			memcpy(p, digits, n);
			p += n;
		}
	}
	OPENSSL_free(owned);
	return out ? (struct cat_str){ out, (uint32_t)(p - out) } : (struct cat_str){ "", 0 };
}

/* ---- conversions ------------------------------------------------------------------ */

bool
cat_num_from_int(int64_t v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return cat_num_store(v < 0, v < 0 ? -(uint64_t)v : (uint64_t)v, 0, out, arena, err);
}

bool
cat_num_from_int128(
    __int128 v, unsigned scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return cat_num_store(v < 0, v < 0 ? -(u128)v : (u128)v, scale, out, arena, err);
}

bool
cat_num_from_double(double v, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	char t[32];
	int n = snprintf(t, sizeof t, "%.15g", v);
	return cat_num_in((struct cat_str){ v != v ? "nan" : t, v != v ? 3 : (uint32_t)n }, out, arena, err);
}

bool
cat_num_to_double(struct cat_str s, double *out, struct nam_arena *arena, struct cat_err *err)
{
	static const double p[23] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
		1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	struct num a = cat_num_load(s);
	if (a.special != NUM_FINITE) {
		*out = a.special == NUM_NAN ? __builtin_nan("") : a.neg ? -__builtin_inf() : __builtin_inf();
		return true;
	}
	if (a.len <= 8 && (uint64_t)a.m <= UINT64_C(1) << 53 && a.scale <= 22) {
		double x = (double)(uint64_t)a.m / p[a.scale]; /* both exact: one rounding */
		*out = a.neg ? -x : x;
		return true;
	}
	struct cat_str t = cat_num_out(s, arena);
	char *z = t.len ? nam_arena_str(arena, t.p, t.len) : NULL;
	if (z == NULL)
		return cat_num_oom(err);
	*out = strtod(z, NULL);
	if (*out == __builtin_inf() || *out == -__builtin_inf())
		return cat_error(err, "22003", "\"%.300s\" is out of range for type double precision", z);
	return true;
}

/* m / 10^n, half away from zero (round) or toward it. */
static u128
down(u128 m, unsigned n, bool round)
{
	if (n > 38)
		return n == 39 && round && m >= (u128)5 * p10(38); /* 10^39 > 2^128: at most 0.34 */
	u128 p = p10(n), q, r;
	if (m >> 64 == 0 && p >> 64 == 0) {
		q = (uint64_t)m / (uint64_t)p;
		r = (uint64_t)m % (uint64_t)p;
	} else {
		q = m / p;
		r = m % p;
	}
	return q + (round && r >= p - r);
}

bool
cat_num_to_int(struct cat_str s, enum cat_type type, int64_t *out, struct cat_err *err)
{
	struct num a = cat_num_load(s);
	const char *t = cat_type_name(type);
	if (a.special == NUM_NAN)
		return cat_error(err, "0A000", "cannot convert NaN to %s", t);
	if (a.special == NUM_INF)
		return cat_error(err, "0A000", "cannot convert infinity to %s", t);
	u128 m = a.m;
	if (num_big(&a)) {
		BIGNUM *x = BN_new();
		BN_CTX *ctx = BN_CTX_new();
		uint8_t b[16];
		bool ok = x != NULL && ctx != NULL && cat_bn_load(&a, x) &&
			  cat_bn_scale_down(x, a.scale, true, ctx);
		bool fits = ok && BN_bn2lebinpad(x, b, 16) == 16;
		BN_free(x);
		BN_CTX_free(ctx);
		if (!ok)
			return cat_num_oom(err);
		if (!fits)
			return cat_error(err, "22003", "%s out of range", t);
		memcpy(&m, b, 16);
	} else if (a.scale > 0) {
		m = down(m, a.scale, true);
	}
	u128 most = type == CAT_INT2 ? INT16_MAX : type == CAT_INT4 ? INT32_MAX : (u128)INT64_MAX;
	if (m > most + a.neg)
		return cat_error(err, "22003", "%s out of range", t);
	*out = a.neg ? (int64_t)(0 - (uint64_t)m) : (int64_t)m;
	return true;
}

bool
cat_num_to_int128(struct cat_str s, unsigned scale, __int128 *out)
{
	struct num a = cat_num_load(s);
	u128 m = a.m;
	if (a.special != NUM_FINITE || num_big(&a) || a.scale > scale)
		return false;
	if (scale > a.scale && m != 0) {
		if (scale - a.scale > 38 || __builtin_mul_overflow(m, p10(scale - a.scale), &m))
			return false;
	}
	if (m >> 126)
		return false;
	*out = a.neg ? -(__int128)m : (__int128)m;
	return true;
}

/* ---- questions ----------------------------------------------------------------------- */

bool
cat_num_is_nan(struct cat_str n)
{
	return cat_num_load(n).special == NUM_NAN;
}

bool
cat_num_is_inf(struct cat_str n)
{
	return cat_num_load(n).special == NUM_INF;
}

unsigned
cat_num_scale(struct cat_str n)
{
	return cat_num_load(n).scale;
}

int
cat_num_sign(struct cat_str n)
{
	struct num a = cat_num_load(n);
	if (a.special == NUM_NAN || num_zero(&a))
		return 0;
	return a.neg ? -1 : 1;
}

/* Compares magnitudes of two finite numbers when BIGNUM is needed. */
static int
cmp_big(const struct num *a, const struct num *b)
{
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *x = BN_new(), *y = BN_new();
	int c = 0;
	if (ctx != NULL && x != NULL && y != NULL && cat_bn_load(a, x) && cat_bn_load(b, y) &&
	    cat_bn_scale_up(a->scale < b->scale ? x : y, (unsigned)abs((int)a->scale - (int)b->scale), ctx))
		c = BN_ucmp(x, y); /* any size */
	else
		abort(); /* no memory, and a comparison cannot say so */
	BN_free(x);
	BN_free(y);
	BN_CTX_free(ctx);
	return (c > 0) - (c < 0);
}

int
cat_num_cmp(struct cat_str sa, struct cat_str sb)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	if (a.special | b.special) {
		/* -Infinity 0, finite 1, Infinity 2, NaN 3 */
		int ra = a.special == NUM_NAN ? 3 : a.special == NUM_FINITE ? 1 : a.neg ? 0 : 2;
		int rb = b.special == NUM_NAN ? 3 : b.special == NUM_FINITE ? 1 : b.neg ? 0 : 2;
		return (ra > rb) - (ra < rb);
	}
	if (a.neg != b.neg)
		return a.neg ? -1 : 1;
	int c;
	if (a.scale == b.scale && !num_big(&a) && !num_big(&b)) {
		c = (a.m > b.m) - (a.m < b.m);
	} else if (num_zero(&a) || num_zero(&b)) {
		c = (int)num_zero(&b) - (int)num_zero(&a);
	} else if (!num_big(&a) && !num_big(&b)) {
		/* An overflow while scaling up says which is larger. */
		u128 x = a.m, y = b.m;
		unsigned d = (unsigned)abs((int)a.scale - (int)b.scale);
		bool over = d > 38 || __builtin_mul_overflow(
					  a.scale < b.scale ? x : y, p10(d), a.scale < b.scale ? &x : &y);
		c = over ? (a.scale < b.scale ? 1 : -1) : (x > y) - (x < y);
	} else {
		c = cmp_big(&a, &b);
	}
	return a.neg ? -c : c;
}

uint64_t
cat_num_hash(struct cat_str s, uint64_t seed)
{
	struct num a = cat_num_load(s);
	if (a.special != NUM_FINITE)
		return nam_mix(seed ^ (0x5eed + a.special * 2u + a.neg));
	unsigned scale = a.scale;
	u128 m = a.m;
	if (num_big(&a)) {
		BIGNUM *x = BN_lebin2bn(a.p, (int)a.len, NULL);
		char *d = x ? BN_bn2dec(x) : NULL;
		BN_free(x);
		if (d == NULL)
			abort(); /* no memory, and a hash cannot say so */
		size_t n = strlen(d);
		while (scale > 0 && d[n - 1] == '0')
			n--, scale--;
		m = 0;
		bool fits = true;
		for (size_t k = 0; k < n && fits; k++)
			fits = !__builtin_mul_overflow(m, (u128)10, &m) &&
			       !__builtin_add_overflow(m, (u128)(d[k] - '0'), &m);
		uint64_t h = fits ? 0 : nam_hash(d, n, seed + scale * 2u + a.neg);
		OPENSSL_free(d);
		if (!fits)
			return h;
	}
	/* The canonical form has the smallest scale that holds the value. */
	while (scale > 0 && m >> 64 != 0 && m % 10 == 0)
		m /= 10, scale--;
	if (m >> 64 == 0) {
		uint64_t lo = (uint64_t)m;
		while (scale > 0 && lo % 10 == 0)
			lo = lo ? lo / 10 : 0, scale = lo ? scale - 1 : 0;
		m = lo;
	}
	return nam_mix(nam_fold((uint64_t)m ^ seed, (uint64_t)(m >> 64) + scale * 2u + a.neg));
}

/* ---- + and - ----------------------------------------------------------------------------- */

static bool
add_big(const struct num *a, const struct num *b, bool bneg, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	unsigned scale = a->scale > b->scale ? a->scale : b->scale;
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *x = BN_new(), *y = BN_new();
	bool ok = ctx != NULL && x != NULL && y != NULL && cat_bn_load(a, x) && cat_bn_load(b, y) &&
		  cat_bn_scale_up(x, scale - a->scale, ctx) && cat_bn_scale_up(y, scale - b->scale, ctx);
	if (ok) {
		BN_set_negative(x, a->neg);
		BN_set_negative(y, bneg);
		ok = BN_add(x, x, y);
	}
	ok = ok ? cat_num_store_bn(BN_is_negative(x), x, scale, out, arena, err) : cat_num_oom(err);
	BN_free(x);
	BN_free(y);
	BN_CTX_free(ctx);
	return ok;
}

static inline bool
add(const struct num *a, const struct num *b, bool bneg, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	if (__builtin_expect(a->special | b->special, 0)) {
		if (a->special == NUM_NAN || b->special == NUM_NAN ||
		    (a->special && b->special && a->neg != bneg))
			return cat_num_store_special(NUM_NAN, false, out, arena, err);
		return cat_num_store_special(NUM_INF, a->special ? a->neg : bneg, out, arena, err);
	}
	if (num_big(a) || num_big(b))
		return add_big(a, b, bneg, out, arena, err);
	u128 x = a->m, y = b->m, r;
	unsigned scale = a->scale;
	if (a->scale < b->scale) {
		scale = b->scale;
		unsigned d = (unsigned)b->scale - a->scale;
		if (x != 0 && (d > 38 || __builtin_mul_overflow(x, p10(d), &x)))
			return add_big(a, b, bneg, out, arena, err);
	} else if (a->scale > b->scale) {
		unsigned d = (unsigned)a->scale - b->scale;
		if (y != 0 && (d > 38 || __builtin_mul_overflow(y, p10(d), &y)))
			return add_big(a, b, bneg, out, arena, err);
	}
	if (a->neg == bneg) {
		if (__builtin_add_overflow(x, y, &r))
			return add_big(a, b, bneg, out, arena, err);
		return cat_num_store(bneg, r, scale, out, arena, err);
	}
	return x >= y ? cat_num_store(a->neg, x - y, scale, out, arena, err)
		      : cat_num_store(bneg, y - x, scale, out, arena, err);
}

bool
cat_num_add(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	return add(&a, &b, b.neg, out, arena, err);
}

bool
cat_num_sub(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	return add(&a, &b, !b.neg, out, arena, err);
}

/* ---- *
 * ---------------------------------------------------------------------------------------- */

bool
cat_num_mul(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	bool neg = a.neg != b.neg;
	if (a.special | b.special) {
		if (a.special == NUM_NAN || b.special == NUM_NAN || num_zero(&a) || num_zero(&b))
			return cat_num_store_special(NUM_NAN, false, out, arena, err);
		return cat_num_store_special(NUM_INF, neg, out, arena, err);
	}
	unsigned scale = (unsigned)a.scale + b.scale;
	u128 r;
	if (!num_big(&a) && !num_big(&b) && scale <= CAT_NUM_SCALE_MAX &&
	    !__builtin_mul_overflow(a.m, b.m, &r))
		return cat_num_store(neg, r, scale, out, arena, err);
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *x = BN_new(), *y = BN_new();
	bool ok = ctx != NULL && x != NULL && y != NULL && cat_bn_load(&a, x) && cat_bn_load(&b, y) &&
		  BN_mul(x, x, y, ctx);
	if (ok && scale > CAT_NUM_SCALE_MAX) {
		ok = cat_bn_scale_down(x, scale - CAT_NUM_SCALE_MAX, true, ctx);
		scale = CAT_NUM_SCALE_MAX;
	}
	ok = ok ? cat_num_store_bn(neg, x, scale, out, arena, err) : cat_num_oom(err);
	BN_free(x);
	BN_free(y);
	BN_CTX_free(ctx);
	return ok;
}

/* ---- / and %
 * ------------------------------------------------------------------------------------ */

static int
floor4(int e)
{
	return e >= 0 ? e / 4 : -((3 - e) / 4);
}

void
cat_num_weight(const struct num *a, int *weight, int *first)
{
	*weight = *first = 0;
	if (a->special || num_zero(a))
		return;
	if (num_big(a)) {
		BIGNUM *m = BN_lebin2bn(a->p, (int)a->len, NULL);
		char *d = m ? BN_bn2dec(m) : NULL;
		if (d != NULL) {
			int top = (int)strlen(d) - 1 - a->scale; /* exponent of the first digit */
			*weight = floor4(top);
			for (int k = 0; k <= top - 4 * *weight; k++)
				*first = *first * 10 + (d[k] - '0');
		}
		BN_free(m);
		OPENSSL_free(d);
		return;
	}
	int top = (int)digits128(a->m) - 1 - a->scale;
	*weight = floor4(top);
	int cut = 4 * *weight + a->scale; /* decimal digits below the first group */
	*first = (int)(cut >= 0 ? a->m / p10((unsigned)cut) : a->m * p10((unsigned)-cut));
}

bool
cat_num_div(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	bool neg = a.neg != b.neg;
	if (a.special == NUM_NAN || b.special == NUM_NAN || (a.special && b.special))
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (num_zero(&b))
		return cat_error(err, "22012", "division by zero");
	if (a.special)
		return cat_num_store_special(NUM_INF, neg, out, arena, err);
	if (b.special)
		return cat_num_store(false, 0, 0, out, arena, err);
	/* At least 16 significant digits, and no fewer places than either side shows. */
	int wa, fa, wb, fb;
	cat_num_weight(&a, &wa, &fa);
	cat_num_weight(&b, &wb, &fb);
	int scale = MIN_SIG - 4 * (wa - wb - (fa <= fb));
	scale = scale > a.scale ? scale : a.scale;
	scale = scale > b.scale ? scale : b.scale;
	scale = scale < 0 ? 0 : scale > DISPLAY_SCALE_MAX ? DISPLAY_SCALE_MAX : scale;
	int up = scale + b.scale - a.scale; /* may be negative when a shows more than 1000 places */
	u128 x = a.m;
	if (!num_big(&a) && !num_big(&b) && up >= 0 &&
	    (x == 0 || (up <= 38 && !__builtin_mul_overflow(x, p10((unsigned)up), &x)))) {
		u128 q, r;
		if (x >> 64 == 0 && b.len <= 8) {
			q = (uint64_t)x / (uint64_t)b.m;
			r = (uint64_t)x % (uint64_t)b.m;
		} else {
			q = x / b.m;
			r = x - q * b.m;
		}
		return cat_num_store(neg, q + (r >= b.m - r), (unsigned)scale, out, arena, err);
	}
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *n = BN_new(), *d = BN_new();
	bool ok = ctx != NULL && n != NULL && d != NULL && cat_bn_load(&a, n) && cat_bn_load(&b, d) &&
		  cat_bn_scale_up(up >= 0 ? n : d, (unsigned)abs(up), ctx) && cat_bn_div_round(n, n, d, ctx);
	ok = ok ? cat_num_store_bn(neg, n, (unsigned)scale, out, arena, err) : cat_num_oom(err);
	BN_free(n);
	BN_free(d);
	BN_CTX_free(ctx);
	return ok;
}

bool
cat_num_mod(
    struct cat_str sa, struct cat_str sb, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(sa), b = cat_num_load(sb);
	if (a.special == NUM_NAN || b.special == NUM_NAN)
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (num_zero(&b))
		return cat_error(err, "22012", "division by zero");
	if (a.special)
		return cat_num_store_special(NUM_NAN, false, out, arena, err);
	if (b.special) {
		*out = sa;
		return true;
	}
	unsigned scale = a.scale > b.scale ? a.scale : b.scale, da = scale - a.scale, db = scale - b.scale;
	u128 x = a.m, y = b.m;
	if (!num_big(&a) && !num_big(&b) && da <= 38 && db <= 38 && !__builtin_mul_overflow(x, p10(da), &x) &&
	    !__builtin_mul_overflow(y, p10(db), &y))
		return cat_num_store(a.neg, x % y, scale, out, arena, err);
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *n = BN_new(), *d = BN_new();
	bool ok = ctx != NULL && n != NULL && d != NULL && cat_bn_load(&a, n) && cat_bn_load(&b, d) &&
		  cat_bn_scale_up(n, da, ctx) && cat_bn_scale_up(d, db, ctx) && BN_mod(n, n, d, ctx);
	ok = ok ? cat_num_store_bn(a.neg, n, scale, out, arena, err) : cat_num_oom(err);
	BN_free(n);
	BN_free(d);
	BN_CTX_free(ctx);
	return ok;
}

/* ---- sign and places
 * ---------------------------------------------------------------------------- */

static bool
with_sign(struct cat_str s, int what, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct num a = cat_num_load(s);
	bool neg = what == 0 ? false : !a.neg;
	if (a.special)
		return cat_num_store_special(a.special, neg, out, arena, err);
	if (neg == a.neg || num_zero(&a)) {
		*out = s;
		return true;
	}
	char *p = nam_arena_copy(arena, s.p, s.len);
	if (p == NULL)
		return cat_num_oom(err);
	p[1] = (char)((p[1] & 0x3f) | (neg ? KIND_NEG << 6 : 0));
	*out = (struct cat_str){ p, s.len };
	return true;
}

bool
cat_num_abs(struct cat_str a, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return with_sign(a, 0, out, arena, err);
}

bool
cat_num_neg(struct cat_str a, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return with_sign(a, 1, out, arena, err);
}

static bool
places(struct cat_str s, int scale, bool round, struct cat_str *out, struct nam_arena *arena,
    struct cat_err *err)
{
	struct num a = cat_num_load(s);
	if (a.special || scale == a.scale) {
		*out = s;
		return true;
	}
	scale = scale < -RESULT_SCALE_MAX  ? -RESULT_SCALE_MAX
		: scale > RESULT_SCALE_MAX ? RESULT_SCALE_MAX
					   : scale;
	unsigned shown = scale > 0 ? (unsigned)scale : 0;
	if (!num_big(&a)) {
		if (scale < a.scale) {
			u128 q = down(a.m, (unsigned)(a.scale - scale), round);
			if (scale >= 0 || q == 0)
				return cat_num_store(a.neg, q, shown, out, arena, err);
			if (-scale <= 38 && !__builtin_mul_overflow(q, p10((unsigned)-scale), &q))
				return cat_num_store(a.neg, q, 0, out, arena, err);
		} else if (a.m == 0) {
			return cat_num_store(false, 0, shown, out, arena, err);
		} else if (scale - a.scale <= 38) {
			u128 m;
			if (!__builtin_mul_overflow(a.m, p10((unsigned)(scale - a.scale)), &m))
				return cat_num_store(a.neg, m, shown, out, arena, err);
		}
	}
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *m = BN_new();
	bool ok = ctx != NULL && m != NULL && cat_bn_load(&a, m);
	if (ok && scale > a.scale)
		ok = cat_bn_scale_up(m, (unsigned)(scale - a.scale), ctx);
	else if (ok)
		ok = cat_bn_scale_down(m, (unsigned)(a.scale - scale), round, ctx) &&
		     cat_bn_scale_up(m, scale < 0 ? (unsigned)-scale : 0, ctx);
	ok = ok ? cat_num_store_bn(a.neg, m, shown, out, arena, err) : cat_num_oom(err);
	BN_free(m);
	BN_CTX_free(ctx);
	return ok;
}

bool
cat_num_round(struct cat_str a, int scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return places(a, scale, true, out, arena, err);
}

bool
cat_num_trunc(struct cat_str a, int scale, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return places(a, scale, false, out, arena, err);
}

static bool
to_whole(struct cat_str s, bool up, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_str t, one;
	if (!places(s, 0, false, &t, arena, err))
		return false;
	struct num a = cat_num_load(s);
	if (a.special || a.neg == up || cat_num_cmp(s, t) == 0) {
		*out = t;
		return true;
	}
	return cat_num_from_int(up ? 1 : -1, &one, arena, err) && cat_num_add(t, one, out, arena, err);
}

bool
cat_num_ceil(struct cat_str a, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return to_whole(a, true, out, arena, err);
}

bool
cat_num_floor(struct cat_str a, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	return to_whole(a, false, out, arena, err);
}

bool
cat_num_fit(
    struct cat_str s, int32_t typmod, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	*out = s;
	if (typmod < 0)
		return true;
	int precision = typmod >> 16, scale = (int16_t)(typmod & 0xffff);
	struct num a = cat_num_load(s);
	if (a.special == NUM_NAN)
		return true;
	if (a.special == NUM_INF) {
		cat_error(err, "22003", "numeric field overflow");
		snprintf(err->detail, sizeof err->detail,
		    "A field with precision %d, scale %d cannot hold an infinite value.", precision, scale);
		return false;
	}
	if (a.scale != scale && !places(s, scale, true, out, arena, err))
		return false;
	struct num r = cat_num_load(*out);
	int whole = precision - scale; /* digits allowed before the point; negative: zeros after
				        * it */
	bool over;
	if (num_zero(&r)) {
		over = false;
	} else if (num_big(&r)) {
		int weight, first;
		cat_num_weight(&r, &weight, &first);
		int digits = 4 * weight + (int)digits64((uint64_t)first);
		over = digits > whole;
	} else {
		over = (int)digits128(r.m) - r.scale > whole;
	}
	if (over) {
		cat_error(err, "22003", "numeric field overflow");
		snprintf(err->detail, sizeof err->detail,
		    "A field with precision %d, scale %d must round to an absolute value less than %s%d.",
		    precision, scale, whole ? "10^" : "", whole ? whole : 1);
		return false;
	}
	return true;
}
