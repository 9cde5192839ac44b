/* small.c -- smallint, real and char(n): arithmetic that ends in them, and what is not as with
 * their bigger kin. */
#include <sql/expr/expr_internal.h>

#include <math.h>
#include <string.h>

static bool
range2(struct cat_err *err)
{
	return cat_error(err, "22003", "smallint out of range");
}

static bool
div_zero(struct cat_err *err)
{
	return cat_error(err, "22012", "division by zero");
}

/* ---- smallint -------------------------------------------------------------------- */

#define INT2(name, op)                                                                                       \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i, bad = 0;                                                             \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, int64_t, i, const int64_t v = (int64_t)((uint64_t)x op(uint64_t) y); o[k] = v; \
			   bad |= (v != (int16_t)v) & !null[k]);                                             \
		return bad ? range2(f->env->err) : true;                                                     \
	}
INT2(add2, +)
INT2(sub2, -)
INT2(mul2, *)

static bool
div2(struct sql_frame *f)
{
	int64_t *o = f->out->i, bad = 0, zero = 0;
	const uint8_t *null = f->out->null;
	SQL_BINARY(f, int64_t, i, zero |= (y == 0) & !null[k];
		   const int64_t v = y == 0    ? 0
				     : y == -1 ? (int64_t)(0 - (uint64_t)x)
					       : x / y;
		   bad |= (v != (int16_t)v) & !null[k]; o[k] = v);
	if (zero)
		return div_zero(f->env->err);
	return bad ? range2(f->env->err) : true;
}

static bool
mod2(struct sql_frame *f)
{
	int64_t *o = f->out->i, zero = 0;
	const uint8_t *null = f->out->null;
	SQL_BINARY(f, int64_t, i, zero |= (y == 0) & !null[k]; o[k] = y == 0 || y == -1 ? 0 : x % y);
	return zero ? div_zero(f->env->err) : true;
}

static bool
set2(struct sql_row *r, int64_t v)
{
	r->out.i = v;
	return v == (int16_t)v || range2(r->env->err);
}

static bool
neg2(struct sql_row *r)
{
	return set2(r, -r->a[0].i);
}

static bool
abs2(struct sql_row *r)
{
	return set2(r, r->a[0].i < 0 ? -r->a[0].i : r->a[0].i);
}

static bool
not2(struct sql_row *r)
{
	return set2(r, ~r->a[0].i);
}

static bool
and2(struct sql_row *r)
{
	return set2(r, r->a[0].i & r->a[1].i);
}

static bool
or2(struct sql_row *r)
{
	return set2(r, r->a[0].i | r->a[1].i);
}

static bool
xor2(struct sql_row *r)
{
	return set2(r, r->a[0].i ^ r->a[1].i);
}

static bool
left2(struct sql_row *r)
{
	return set2(r, (int16_t)((uint32_t)r->a[0].i << ((unsigned)r->a[1].i & 31)));
}

static bool
right2(struct sql_row *r)
{
	return set2(r, r->a[0].i >> ((unsigned)r->a[1].i & 31));
}

static bool
same(struct sql_row *r)
{
	r->out = r->a[0];
	return true;
}

/* ---- real: a double that a float holds; rounding twice is rounding once, a double being more than
 * twice as wide ---- */

static inline int
new_inf(double v, double x, double y)
{
	return (isinf(v) != 0) & (isinf(x) == 0) & (isinf(y) == 0);
}

#define REAL(name, op, UNDER, ZERO)                                                                          \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		double *o = f->out->f;                                                                       \
		int over = 0, under = 0, zero = 0;                                                           \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, double, f, const double v = (double)(float)(x op y); o[k] = v;                 \
			   zero |= (ZERO) & !null[k]; over |= (new_inf(v, x, y) & !(ZERO)) & !null[k];       \
			   under |= (UNDER) & !null[k]);                                                     \
		if (zero)                                                                                    \
			return div_zero(f->env->err);                                                        \
		if (over | under)                                                                            \
			return cat_error(f->env->err, "22003", "value out of range: %s",                     \
			    over ? "overflow" : "underflow");                                                \
		return true;                                                                                 \
	}
REAL(add_r, +, 0, 0)
REAL(sub_r, -, 0, 0)
REAL(mul_r, *, (v == 0) & (x != 0) & (y != 0), 0)
REAL(div_r, /, (v == 0) & (x != 0) & (isinf(y) == 0), (y == 0) & (x == x))

static bool
neg_r(struct sql_row *r)
{
	r->out.f = -r->a[0].f;
	return true;
}

static bool
abs_r(struct sql_row *r)
{
	r->out.f = fabs(r->a[0].f);
	return true;
}

/* ---- char(n) ----------------------------------------------------------------------- */

static bool
octets(struct sql_row *r)
{
	r->out.i = r->a[0].s.len;
	return true;
}

#define COMPARE(name, op)                                                                                    \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		r->out.i = cat_value_cmp(CAT_BPCHAR, r->a[0], r->a[1]) op 0;                                 \
		return true;                                                                                 \
	}
COMPARE(c_eq, ==)
COMPARE(c_ne, !=)
COMPARE(c_lt, <)
COMPARE(c_le, <=)
COMPARE(c_gt, >)
COMPARE(c_ge, >=)

/* Patterns also match the blanks. */
static bool
c_like(struct sql_row *r)
{
	bool hit;
	if (!sql_like(r->a[0].s, r->a[1].s, &hit, r->env->err))
		return false;
	r->out.i = hit;
	return true;
}

static bool
c_not_like(struct sql_row *r)
{
	if (!c_like(r))
		return false;
	r->out.i ^= 1;
	return true;
}

#define I2 CAT_INT2
#define R  CAT_FLOAT4
#define C  CAT_BPCHAR
#define VEC2(op, t, f)                                                                                       \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { t, t }, t, f, NULL                                                       \
	}
#define ROW2(op, t, f)                                                                                       \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { t, t }, t, NULL, f                                                       \
	}
#define ROW1(op, flags, t, f)                                                                                \
	{                                                                                                    \
		op, flags, 1, { t }, t, NULL, f                                                              \
	}
#define CMP(op, f)                                                                                           \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { C, C }, CAT_BOOL, NULL, f                                                \
	}

const struct sql_fn sql_fns_small[] = {
	VEC2("+", I2, add2),
	VEC2("-", I2, sub2),
	VEC2("*", I2, mul2),
	VEC2("/", I2, div2),
	VEC2("%", I2, mod2),
	{ "mod", 0, 2, { I2, I2 }, I2, mod2, NULL },
	ROW1("-", SQL_FN_OP, I2, neg2),
	ROW1("+", SQL_FN_OP, I2, same),
	ROW1("@", SQL_FN_OP, I2, abs2),
	ROW1("~", SQL_FN_OP, I2, not2),
	ROW1("abs", 0, I2, abs2),
	ROW2("&", I2, and2),
	ROW2("|", I2, or2),
	ROW2("#", I2, xor2),
	{ "<<", SQL_FN_OP, 2, { I2, CAT_INT4 }, I2, NULL, left2 },
	{ ">>", SQL_FN_OP, 2, { I2, CAT_INT4 }, I2, NULL, right2 },
	VEC2("+", R, add_r),
	VEC2("-", R, sub_r),
	VEC2("*", R, mul_r),
	VEC2("/", R, div_r),
	ROW1("-", SQL_FN_OP, R, neg_r),
	ROW1("+", SQL_FN_OP, R, same),
	ROW1("@", SQL_FN_OP, R, abs_r),
	ROW1("abs", 0, R, abs_r),
	CMP("=", c_eq),
	CMP("<>", c_ne),
	CMP("<", c_lt),
	CMP("<=", c_le),
	CMP(">", c_gt),
	CMP(">=", c_ge),
	{ "~~", SQL_FN_OP, 2, { C, CAT_TEXT }, CAT_BOOL, NULL, c_like },
	{ "!~~", SQL_FN_OP, 2, { C, CAT_TEXT }, CAT_BOOL, NULL, c_not_like },
	{ "octet_length", 0, 1, { C }, CAT_INT4, NULL, octets },
	{ 0 },
};
