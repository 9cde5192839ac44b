/* more.c -- the rarer functions: hyperbolic and inverse ones, gcd and lcm, overlay. */
#include <sql/expr/expr_internal.h>

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 256 << 20 };

/* ---- double precision -------------------------------------------------------------- */

static bool
outside(struct sql_row *r)
{
	return cat_error(r->env->err, "22003", "input is out of range");
}

/* name(x) = VALUE, unless WRONG. */
#define FLOAT1(name, WRONG, VALUE)                                                                           \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		double x = r->a[0].f;                                                                        \
		if (WRONG)                                                                                   \
			return outside(r);                                                                   \
		r->out.f = (VALUE);                                                                          \
		return true;                                                                                 \
	}
FLOAT1(f_asin, x<-1 || x> 1, asin(x))
FLOAT1(f_acos, x<-1 || x> 1, acos(x))
FLOAT1(f_sinh, false, sinh(x))
FLOAT1(f_cosh, false, cosh(x))
FLOAT1(f_tanh, false, tanh(x))
FLOAT1(f_asinh, false, asinh(x))
FLOAT1(f_acosh, x < 1, acosh(x))
FLOAT1(f_atanh, x<-1 || x> 1, atanh(x))
FLOAT1(f_cot, isinf(x), 1 / tan(x))

static bool
f_atan2(struct sql_row *r)
{
	r->out.f = atan2(r->a[0].f, r->a[1].f);
	return true;
}

/* ---- integers ------------------------------------------------------------------------ */

static uint64_t
gcd(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	while (y != 0) {
		uint64_t rest = x % y;
		x = y;
		y = rest;
	}
	return x;
}

static bool
whole(struct sql_row *r, unsigned __int128 v)
{
	bool four = r->e->type == CAT_INT4;
	if (v > (uint64_t)(four ? INT32_MAX : INT64_MAX))
		return cat_error(r->env->err, "22003", "%s out of range", cat_type_name(r->e->type));
	r->out.i = (int64_t)v;
	return true;
}

static bool
k_gcd(struct sql_row *r)
{
	return whole(r, gcd(r->a[0].i, r->a[1].i));
}

static bool
k_lcm(struct sql_row *r)
{
	int64_t a = r->a[0].i, b = r->a[1].i;
	if (a == 0 || b == 0) {
		r->out.i = 0;
		return true;
	}
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	return whole(r, (unsigned __int128)(x / gcd(a, b)) * y);
}

/* ---- text ------------------------------------------------------------------------------- */

static char *
room(struct sql_row *r, uint64_t n)
{
	char *p = NULL;
	if (n > TEXT_MAX)
		cat_error(r->env->err, "54000", "requested length too large");
	else if ((p = nam_arena_take(r->env->arena, n ? n : 1)) == NULL)
		sql_oom(r->env->err);
	return p;
}

static int64_t
chars(struct cat_str s)
{
	int64_t n = 0;
	for (uint32_t k = 0; k < s.len; k++)
		n += ((uint8_t)s.p[k] & 0xc0) != 0x80;
	return n;
}

/* Byte at which character number n (from 0) begins, at most s.len. */
static uint32_t
byte_of(struct cat_str s, int64_t n)
{
	uint32_t k = 0;
	while (n-- > 0 && k < s.len)
		sql_utf8_get(s, &k);
	return k;
}

/* overlay(s, by, from, count): count characters from `from` on make way for by. */
static bool
k_overlay(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, by = r->a[1].s;
	int64_t from = r->a[2].i, count = r->n > 3 ? r->a[3].i : chars(by);
	if (from <= 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	int64_t behind = from + count;
	if (r->n > 3 && behind > INT32_MAX)
		return cat_error(r->env->err, "22003", "integer out of range");
	uint32_t a = byte_of(s, from - 1), b = behind > 1 ? byte_of(s, behind - 1) : 0;
	char *p = room(r, (uint64_t)a + by.len + (s.len - b));
	if (p == NULL)
		return false;
	memcpy(p, s.p, a);
	memcpy(p + a, by.p, by.len);
	memcpy(p + a + by.len, s.p + b, s.len - b);
	r->out.s = (struct cat_str){ p, a + by.len + (s.len - b) };
	return true;
}

#define T CAT_TEXT
#define I CAT_INT4
#define F1(name, f)                                                                                          \
	{                                                                                                    \
		name, 0, 1, { CAT_FLOAT8 }, CAT_FLOAT8, NULL, f                                              \
	}
#define F(name, flags, n, ret, f, ...)                                                                       \
	{                                                                                                    \
		name, flags, n, { __VA_ARGS__ }, ret, NULL, f                                                \
	}

const struct sql_fn sql_fns_more[] = {
	F1("asin", f_asin),
	F1("acos", f_acos),
	F1("sinh", f_sinh),
	F1("cosh", f_cosh),
	F1("tanh", f_tanh),
	F1("asinh", f_asinh),
	F1("acosh", f_acosh),
	F1("atanh", f_atanh),
	F1("cot", f_cot),
	F("atan2", 0, 2, CAT_FLOAT8, f_atan2, CAT_FLOAT8, CAT_FLOAT8),
	F("gcd", 0, 2, I, k_gcd, I, I),
	F("gcd", 0, 2, CAT_INT8, k_gcd, CAT_INT8, CAT_INT8),
	F("lcm", 0, 2, I, k_lcm, I, I),
	F("lcm", 0, 2, CAT_INT8, k_lcm, CAT_INT8, CAT_INT8),
	F("overlay", 0, 3, T, k_overlay, T, T, I),
	F("overlay", 0, 4, T, k_overlay, T, T, I, I),
	{ 0 },
};
