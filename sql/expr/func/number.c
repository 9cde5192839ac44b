/* number.c -- the arithmetic of all number types. */
#include <sql/expr/func/number.h>
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
		return sql_div_zero(f->env->err);
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
	return zero ? sql_div_zero(f->env->err) : true;
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
			return sql_float_range(over ? 1 : 0, f->env->err);                                   \
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
		return sql_div_zero(f->env->err);
	if (over | under)
		return sql_float_range(over ? 1 : 0, f->env->err);
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
	F2V("mod", CAT_INT4, CAT_INT4, CAT_INT4, mod_int),
	F2V("mod", CAT_INT8, CAT_INT8, CAT_INT8, mod_int),
	F2V("mod", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_mod),
	{ 0 },
};
