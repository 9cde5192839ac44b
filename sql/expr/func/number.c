/* number.c -- arithmetic and mathematical functions. */
#include <sql/expr/expr_internal.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>

static bool
range4(struct cat_err *err)
{
	return cat_error(err, "22003", "integer out of range");
}
static bool
range8(struct cat_err *err)
{
	return cat_error(err, "22003", "bigint out of range");
}
static bool
div_zero(struct cat_err *err)
{
	return cat_error(err, "22012", "division by zero");
}
static bool
float_range(double r, struct cat_err *err)
{
	return cat_error(err, "22003", "value out of range: %s", r == 0 ? "underflow" : "overflow");
}

/* ---- integers: rows that are NULL hold garbage, which must not overflow anyone ---- */

#define INT4(name, EXPR)                                                                                     \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i, bad = 0;                                                             \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, int64_t, i, const int64_t v = (int64_t)((uint64_t)x EXPR(uint64_t) y);         \
			   o[k] = v; bad |= (v != (int32_t)v) & !null[k]);                                   \
		return bad ? range4(f->env->err) : true;                                                     \
	}
INT4(add4, +)
INT4(sub4, -)
INT4(mul4, *)

#define INT8(name, builtin)                                                                                  \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i, bad = 0;                                                             \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, int64_t, i, int64_t v; bad |= builtin(x, y, &v) & !null[k]; o[k] = v);         \
		return bad ? range8(f->env->err) : true;                                                     \
	}
INT8(add8, __builtin_add_overflow)
INT8(sub8, __builtin_sub_overflow)
INT8(mul8, __builtin_mul_overflow)

static bool
div_int(struct sql_frame *f, int64_t least)
{
	int64_t *o = f->out->i, bad = 0, zero = 0;
	const uint8_t *null = f->out->null;
	if (f->arg[1].mask == 0 && f->arg[1].i[0] > 0) {
		const int64_t *a = f->arg[0].i, y = f->arg[1].i[0];
		SQL_EACH(f, o[k] = a[k] / y);
		return true;
	}
	SQL_BINARY(f, int64_t, i, bool over = y == -1 && x <= least; zero |= (y == 0) & !null[k];
		   bad |= (int)over & !null[k]; o[k] = y == 0 || over ? 0 : x / y);
	if (zero)
		return div_zero(f->env->err);
	return bad ? least == INT32_MIN ? range4(f->env->err) : range8(f->env->err) : true;
}

static bool
div4(struct sql_frame *f)
{
	return div_int(f, INT32_MIN);
}

static bool
div8(struct sql_frame *f)
{
	return div_int(f, INT64_MIN);
}

static bool
mod_int(struct sql_frame *f)
{
	int64_t *o = f->out->i, zero = 0;
	const uint8_t *null = f->out->null;
	SQL_BINARY(f, int64_t, i, zero |= (y == 0) & !null[k]; o[k] = y == 0 || y == -1 ? 0 : x % y);
	return zero ? div_zero(f->env->err) : true;
}

static bool
neg_int(struct sql_frame *f)
{
	const int64_t *a = f->arg[0].i;
	int64_t *o = f->out->i, bad = 0, least = f->e->type == CAT_INT4 ? INT32_MIN : INT64_MIN;
	const uint8_t *null = f->out->null;
	SQL_EACH(f, bad |= (a[k] == least) & !null[k]; o[k] = (int64_t)(0 - (uint64_t)a[k]));
	return bad ? least == INT32_MIN ? range4(f->env->err) : range8(f->env->err) : true;
}

static bool
abs_int(struct sql_frame *f)
{
	const int64_t *a = f->arg[0].i;
	int64_t *o = f->out->i, bad = 0, least = f->e->type == CAT_INT4 ? INT32_MIN : INT64_MIN;
	const uint8_t *null = f->out->null;
	SQL_EACH(f, bad |= (a[k] == least) & !null[k];
		 o[k] = a[k] < 0 ? (int64_t)(0 - (uint64_t)a[k]) : a[k]);
	return bad ? least == INT32_MIN ? range4(f->env->err) : range8(f->env->err) : true;
}

#define BITS(name, EXPR)                                                                                     \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i;                                                                      \
		SQL_BINARY(f, int64_t, i, o[k] = EXPR);                                                      \
		return true;                                                                                 \
	}
BITS(bit_and, x &y)
BITS(bit_or, x | y)
BITS(bit_xor, x ^ y)

static bool
shift_left(struct sql_row *r)
{
	unsigned by = (unsigned)r->a[1].i;
	if (r->e->type == CAT_INT4)
		r->out.i = (int32_t)((uint32_t)r->a[0].i << (by & 31));
	else
		r->out.i = (int64_t)((uint64_t)r->a[0].i << (by & 63));
	return true;
}

static bool
shift_right(struct sql_row *r)
{
	r->out.i = r->a[0].i >> ((unsigned)r->a[1].i & (r->e->type == CAT_INT4 ? 31 : 63));
	return true;
}

static bool
bit_not(struct sql_row *r)
{
	r->out.i = ~r->a[0].i;
	return true;
}

static bool
same(struct sql_row *r)
{
	r->out = r->a[0];
	return true;
}

/* ---- double precision: infinite results come only from infinite arguments ---------- */

static inline int
new_inf(double v, double x, double y)
{
	return (isinf(v) != 0) & (isinf(x) == 0) & (isinf(y) == 0);
}

#define FLOAT(name, op, UNDER)                                                                               \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		double *o = f->out->f;                                                                       \
		int over = 0, under = 0;                                                                     \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, double, f, const double v = x op y; o[k] = v;                                  \
			   over |= new_inf(v, x, y) & !null[k]; under |= (UNDER) & !null[k]);                \
		if (over | under)                                                                            \
			return float_range(over ? 1 : 0, f->env->err);                                       \
		return true;                                                                                 \
	}
FLOAT(add_f, +, 0)
FLOAT(sub_f, -, 0)
FLOAT(mul_f, *, (v == 0) & (x != 0) & (y != 0))

static bool
div_f(struct sql_frame *f)
{
	double *o = f->out->f;
	int over = 0, under = 0, zero = 0;
	const uint8_t *null = f->out->null;
	SQL_BINARY(f, double, f, const double v = x / y; o[k] = v; zero |= ((y == 0) & (x == x)) & !null[k];
		   over |= (new_inf(v, x, x) & (y != 0)) & !null[k];
		   under |= ((v == 0) & (x != 0) & (isinf(y) == 0)) & !null[k]);
	if (zero)
		return div_zero(f->env->err);
	if (over | under)
		return float_range(over ? 1 : 0, f->env->err);
	return true;
}

#define FLOAT1(name, EXPR)                                                                                   \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		double x = r->a[0].f;                                                                        \
		r->out.f = (EXPR);                                                                           \
		return true;                                                                                 \
	}
FLOAT1(f_neg, -x)
FLOAT1(f_abs, fabs(x))
FLOAT1(f_ceil, ceil(x))
FLOAT1(f_floor, floor(x))
FLOAT1(f_round, rint(x))
FLOAT1(f_trunc, trunc(x))
FLOAT1(f_sign, x > 0 ? 1 : x < 0 ? -1 : 0)
FLOAT1(f_cbrt, cbrt(x))

static bool
f_sqrt(struct sql_row *r)
{
	if (r->a[0].f < 0)
		return cat_error(r->env->err, "2201F", "cannot take square root of a negative number");
	r->out.f = sqrt(r->a[0].f);
	return true;
}

static bool
f_exp(struct sql_row *r)
{
	double x = r->a[0].f, v = exp(x);
	r->out.f = v;
	return (isinf(v) || v == 0) && !isinf(x) ? float_range(v, r->env->err) : true;
}

static bool
log_of(struct sql_row *r, double (*fn)(double))
{
	double x = r->a[0].f;
	if (x == 0)
		return cat_error(r->env->err, "2201E", "cannot take logarithm of zero");
	if (x < 0)
		return cat_error(r->env->err, "2201E", "cannot take logarithm of a negative number");
	r->out.f = fn(x);
	return true;
}

static bool
f_ln(struct sql_row *r)
{
	return log_of(r, log);
}

static bool
f_log10(struct sql_row *r)
{
	return log_of(r, log10);
}

static bool
f_power(struct sql_row *r)
{
	double x = r->a[0].f, y = r->a[1].f;
	if (x == 0 && y < 0)
		return cat_error(r->env->err, "2201F", "zero raised to a negative power is undefined");
	if (x < 0 && y != floor(y) && !isnan(y))
		return cat_error(r->env->err, "2201F",
		    "a negative number raised to a non-integer power yields a complex result");
	double v = pow(x, y);
	r->out.f = v;
	if ((isinf(v) || (v == 0 && x != 0)) && !isinf(x) && !isinf(y))
		return float_range(v, r->env->err);
	return true;
}

/* ---- numeric ---------------------------------------------------------------------------- */

#define NUM2(name, fn)                                                                                       \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		const uint8_t *null = f->out->null;                                                          \
		struct cat_str *o = f->out->s;                                                               \
		struct nam_arena *arena = f->env->arena;                                                     \
		struct cat_err *err = f->env->err;                                                           \
		SQL_BINARY(f, struct cat_str, s, if (null[k]) o[k] = ((struct cat_str){ "", 0 });            \
			   else if (!fn(x, y, &o[k], arena, err)) return false);                             \
		return true;                                                                                 \
	}
NUM2(n_add, cat_num_add)
NUM2(n_sub, cat_num_sub)
NUM2(n_mul, cat_num_mul)
NUM2(n_div, cat_num_div)
NUM2(n_mod, cat_num_mod)

#define NUM1(name, fn)                                                                                       \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		return fn(r->a[0].s, &r->out.s, r->env->arena, r->env->err);                                 \
	}
NUM1(n_neg, cat_num_neg)
NUM1(n_abs, cat_num_abs)
NUM1(n_ceil, cat_num_ceil)
NUM1(n_floor, cat_num_floor)
NUM1(n_sqrt, cat_num_sqrt)
NUM1(n_exp, cat_num_exp)
NUM1(n_ln, cat_num_ln)

static bool
n_power(struct sql_row *r)
{
	return cat_num_power(r->a[0].s, r->a[1].s, &r->out.s, r->env->arena, r->env->err);
}

static bool
n_log(struct sql_row *r)
{
	return cat_num_log(r->a[0].s, r->a[1].s, &r->out.s, r->env->arena, r->env->err);
}

static bool
n_log10(struct sql_row *r)
{
	struct cat_str ten;
	return cat_num_from_int(10, &ten, r->env->arena, r->env->err) &&
	       cat_num_log(ten, r->a[0].s, &r->out.s, r->env->arena, r->env->err);
}

static int
places(const struct sql_row *r)
{
	int64_t s = r->n > 1 ? r->a[1].i : 0;
	return s > 20000 ? 20000 : s < -20000 ? -20000 : (int)s;
}

static bool
n_round(struct sql_row *r)
{
	return cat_num_round(r->a[0].s, places(r), &r->out.s, r->env->arena, r->env->err);
}

static bool
n_trunc(struct sql_row *r)
{
	return cat_num_trunc(r->a[0].s, places(r), &r->out.s, r->env->arena, r->env->err);
}

static bool
n_sign(struct sql_row *r)
{
	if (cat_num_is_nan(r->a[0].s)) {
		r->out = r->a[0];
		return true;
	}
	return cat_num_from_int(cat_num_sign(r->a[0].s), &r->out.s, r->env->arena, r->env->err);
}

static bool
n_scale(struct sql_row *r)
{
	r->out_null = cat_num_is_nan(r->a[0].s) || cat_num_is_inf(r->a[0].s);
	r->out.i = cat_num_scale(r->a[0].s);
	return true;
}

/* The whole part of a quotient. */
static bool
n_whole_div(struct sql_row *r)
{
	struct cat_str m, d, q;
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	if (cat_num_is_inf(r->a[0].s))
		return cat_num_div(r->a[0].s, r->a[1].s, &r->out.s, a, err);
	return cat_num_mod(r->a[0].s, r->a[1].s, &m, a, err) && cat_num_sub(r->a[0].s, m, &d, a, err) &&
	       cat_num_div(d, r->a[1].s, &q, a, err) && cat_num_trunc(q, 0, &r->out.s, a, err);
}

/* ---- the table --------------------------------------------------------------------------- */

#define OP2V(op, a, b, ret, f)                                                                               \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { a, b }, ret, f, NULL                                                     \
	}
#define INTS(op, f4, f8)                                                                                     \
	OP2V(op, CAT_INT4, CAT_INT4, CAT_INT4, f4), OP2V(op, CAT_INT8, CAT_INT8, CAT_INT8, f8),              \
	    OP2V(op, CAT_INT2, CAT_INT4, CAT_INT4, f4), OP2V(op, CAT_INT4, CAT_INT2, CAT_INT4, f4),          \
	    OP2V(op, CAT_INT2, CAT_INT8, CAT_INT8, f8), OP2V(op, CAT_INT8, CAT_INT2, CAT_INT8, f8),          \
	    OP2V(op, CAT_INT4, CAT_INT8, CAT_INT8, f8), OP2V(op, CAT_INT8, CAT_INT4, CAT_INT8, f8)
#define NUMS(op, f4, f8, ff, fn)                                                                             \
	INTS(op, f4, f8), OP2V(op, CAT_FLOAT8, CAT_FLOAT8, CAT_FLOAT8, ff),                                  \
	    OP2V(op, CAT_FLOAT4, CAT_FLOAT8, CAT_FLOAT8, ff),                                                \
	    OP2V(op, CAT_FLOAT8, CAT_FLOAT4, CAT_FLOAT8, ff),                                                \
	    OP2V(op, CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, fn)
#define OP1V(op, t, f)                                                                                       \
	{                                                                                                    \
		op, SQL_FN_OP, 1, { t }, t, f, NULL                                                          \
	}
#define OP1(op, t, f)                                                                                        \
	{                                                                                                    \
		op, SQL_FN_OP, 1, { t }, t, NULL, f                                                          \
	}
#define F1(name, t, f)                                                                                       \
	{                                                                                                    \
		name, 0, 1, { t }, t, NULL, f                                                                \
	}
#define F1V(name, t, f)                                                                                      \
	{                                                                                                    \
		name, 0, 1, { t }, t, f, NULL                                                                \
	}
#define F2(name, a, b, ret, f)                                                                               \
	{                                                                                                    \
		name, 0, 2, { a, b }, ret, NULL, f                                                           \
	}
#define F2V(name, a, b, ret, f)                                                                              \
	{                                                                                                    \
		name, 0, 2, { a, b }, ret, f, NULL                                                           \
	}
#define BOTH(name, f, n) F1(name, CAT_FLOAT8, f), F1(name, CAT_NUMERIC, n)

const struct sql_fn sql_fns_number[] = {
	NUMS("+", add4, add8, add_f, n_add),
	NUMS("-", sub4, sub8, sub_f, n_sub),
	NUMS("*", mul4, mul8, mul_f, n_mul),
	NUMS("/", div4, div8, div_f, n_div),
	OP2V("%", CAT_INT4, CAT_INT4, CAT_INT4, mod_int),
	OP2V("%", CAT_INT8, CAT_INT8, CAT_INT8, mod_int),
	OP2V("%", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_mod),
	{ "^", SQL_FN_OP, 2, { CAT_FLOAT8, CAT_FLOAT8 }, CAT_FLOAT8, NULL, f_power },
	{ "^", SQL_FN_OP, 2, { CAT_NUMERIC, CAT_NUMERIC }, CAT_NUMERIC, NULL, n_power },
	OP1V("-", CAT_INT4, neg_int),
	OP1V("-", CAT_INT8, neg_int),
	OP1("-", CAT_FLOAT8, f_neg),
	OP1("-", CAT_NUMERIC, n_neg),
	OP1("+", CAT_INT4, same),
	OP1("+", CAT_INT8, same),
	OP1("+", CAT_FLOAT8, same),
	OP1("+", CAT_NUMERIC, same),
	OP1V("@", CAT_INT4, abs_int),
	OP1V("@", CAT_INT8, abs_int),
	OP1("@", CAT_FLOAT8, f_abs),
	OP1("@", CAT_NUMERIC, n_abs),
	OP2V("&", CAT_INT4, CAT_INT4, CAT_INT4, bit_and),
	OP2V("&", CAT_INT8, CAT_INT8, CAT_INT8, bit_and),
	OP2V("|", CAT_INT4, CAT_INT4, CAT_INT4, bit_or),
	OP2V("|", CAT_INT8, CAT_INT8, CAT_INT8, bit_or),
	OP2V("#", CAT_INT4, CAT_INT4, CAT_INT4, bit_xor),
	OP2V("#", CAT_INT8, CAT_INT8, CAT_INT8, bit_xor),
	{ "<<", SQL_FN_OP, 2, { CAT_INT4, CAT_INT4 }, CAT_INT4, NULL, shift_left },
	{ "<<", SQL_FN_OP, 2, { CAT_INT8, CAT_INT4 }, CAT_INT8, NULL, shift_left },
	{ ">>", SQL_FN_OP, 2, { CAT_INT4, CAT_INT4 }, CAT_INT4, NULL, shift_right },
	{ ">>", SQL_FN_OP, 2, { CAT_INT8, CAT_INT4 }, CAT_INT8, NULL, shift_right },
	OP1("~", CAT_INT4, bit_not),
	OP1("~", CAT_INT8, bit_not),
	F1V("abs", CAT_INT4, abs_int),
	F1V("abs", CAT_INT8, abs_int),
	BOTH("abs", f_abs, n_abs),
	BOTH("ceil", f_ceil, n_ceil),
	BOTH("ceiling", f_ceil, n_ceil),
	BOTH("floor", f_floor, n_floor),
	BOTH("round", f_round, n_round),
	F2("round", CAT_NUMERIC, CAT_INT4, CAT_NUMERIC, n_round),
	BOTH("trunc", f_trunc, n_trunc),
	F2("trunc", CAT_NUMERIC, CAT_INT4, CAT_NUMERIC, n_trunc),
	BOTH("sign", f_sign, n_sign),
	BOTH("sqrt", f_sqrt, n_sqrt),
	OP1("|/", CAT_FLOAT8, f_sqrt),
	OP1("||/", CAT_FLOAT8, f_cbrt),
	BOTH("exp", f_exp, n_exp),
	BOTH("ln", f_ln, n_ln),
	BOTH("log", f_log10, n_log10),
	BOTH("log10", f_log10, n_log10),
	F2("log", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_log),
	F2("power", CAT_FLOAT8, CAT_FLOAT8, CAT_FLOAT8, f_power),
	F2("power", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_power),
	F2("pow", CAT_FLOAT8, CAT_FLOAT8, CAT_FLOAT8, f_power),
	F2("pow", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_power),
	F2V("mod", CAT_INT4, CAT_INT4, CAT_INT4, mod_int),
	F2V("mod", CAT_INT8, CAT_INT8, CAT_INT8, mod_int),
	F2V("mod", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_mod),
	F2("div", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_whole_div),
	{ "scale", 0, 1, { CAT_NUMERIC }, CAT_INT4, NULL, n_scale },
	F1("cbrt", CAT_FLOAT8, f_cbrt),
	{ 0 },
};
