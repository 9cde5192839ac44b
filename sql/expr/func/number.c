/* number.c -- the arithmetic of all number types. */
#include <sql/expr/func/number.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>

static int64_t
least_of(enum cat_type type)
{
	return type == CAT_INT2 ? INT16_MIN : type == CAT_INT4 ? INT32_MIN : INT64_MIN;
}

static bool
out_of_range(const struct sql_frame *f)
{
	return cat_error(f->env->err, "22003", "%s out of range", cat_type_name(f->e->type));
}

/* ---- integers: rows that are NULL hold garbage, which must not overflow anyone ---- */

#define NARROW(name, T, OP)                                                                                  \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i, bad = 0;                                                             \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, int64_t, i, const int64_t v = (int64_t)((uint64_t)x OP(uint64_t) y); o[k] = v; \
			   bad |= (v != (T)v) & !null[k]);                                                   \
		return bad ? out_of_range(f) : true;                                                         \
	}
NARROW(add2, int16_t, +)
NARROW(sub2, int16_t, -)
NARROW(mul2, int16_t, *)
NARROW(add4, int32_t, +)
NARROW(sub4, int32_t, -)
NARROW(mul4, int32_t, *)

#define INT8(name, builtin)                                                                                  \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i, bad = 0;                                                             \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, int64_t, i, int64_t v; bad |= builtin(x, y, &v) & !null[k]; o[k] = v);         \
		return bad ? out_of_range(f) : true;                                                         \
	}
INT8(add8, __builtin_add_overflow)
INT8(sub8, __builtin_sub_overflow)
INT8(mul8, __builtin_mul_overflow)

static bool
div_int(struct sql_frame *f)
{
	int64_t *o = f->out->i, bad = 0, zero = 0, least = least_of(f->e->type);
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
	return bad ? out_of_range(f) : true;
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
	int64_t *o = f->out->i, bad = 0, least = least_of(f->e->type);
	const uint8_t *null = f->out->null;
	SQL_EACH(f, bad |= (a[k] == least) & !null[k]; o[k] = (int64_t)(0 - (uint64_t)a[k]));
	return bad ? out_of_range(f) : true;
}

static bool
abs_int(struct sql_frame *f)
{
	const int64_t *a = f->arg[0].i;
	int64_t *o = f->out->i, bad = 0, least = least_of(f->e->type);
	const uint8_t *null = f->out->null;
	SQL_EACH(f, bad |= (a[k] == least) & !null[k];
		 o[k] = a[k] < 0 ? (int64_t)(0 - (uint64_t)a[k]) : a[k]);
	return bad ? out_of_range(f) : true;
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
	if (r->e->type == CAT_INT8)
		r->out.i = (int64_t)((uint64_t)r->a[0].i << (by & 63));
	else
		r->out.i = (int32_t)((uint32_t)r->a[0].i << (by & 31));
	if (r->e->type == CAT_INT2)
		r->out.i = (int16_t)r->out.i;
	return true;
}

static bool
shift_right(struct sql_row *r)
{
	r->out.i = r->a[0].i >> ((unsigned)r->a[1].i & (r->e->type == CAT_INT8 ? 63 : 31));
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

/* ---- double precision and real ----------------------------------------------------------- */

/*
 * Infinite results come only from infinite arguments. A real is a double that a float holds;
 * rounding twice is rounding once, a double being more than twice as wide.
 */
static inline int
new_inf(double v, double x, double y)
{
	return (isinf(v) != 0) & (isinf(x) == 0) & (isinf(y) == 0);
}

#define FLOAT(name, T, op, UNDER, ZERO)                                                                      \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		double *o = f->out->f;                                                                       \
		int over = 0, under = 0, zero = 0;                                                           \
		const uint8_t *null = f->out->null;                                                          \
		SQL_BINARY(f, double, f, const double v = (double)(T)(x op y); o[k] = v;                     \
			   zero |= (ZERO) & !null[k]; over |= (new_inf(v, x, y) & !(ZERO)) & !null[k];       \
			   under |= (UNDER) & !null[k]);                                                     \
		if (zero)                                                                                    \
			return sql_div_zero(f->env->err);                                                    \
		if (over | under)                                                                            \
			return sql_float_range(over ? 1 : 0, f->env->err);                                   \
		return true;                                                                                 \
	}
#define FLOATS(name, op, UNDER, ZERO)                                                                        \
	FLOAT(name##_f, double, op, UNDER, ZERO)                                                             \
	FLOAT(name##_r, float, op, UNDER, ZERO)
FLOATS(add, +, 0, 0)
FLOATS(sub, -, 0, 0)
FLOATS(mul, *, (v == 0) & (x != 0) & (y != 0), 0)
FLOATS(div, /, (v == 0) & (x != 0) & (isinf(y) == 0), (y == 0) & (x == x))

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

enum sql_decimal_op
sql_decimal_op_of(const struct sql_fn *fn)
{
	return fn->vec == NULL                  ? SQL_DECIMAL_NONE
	       : fn->vec == n_mul               ? SQL_DECIMAL_MUL
	       : fn->vec == n_add               ? SQL_DECIMAL_ADD
	       : fn->vec == n_sub               ? SQL_DECIMAL_SUB
	       : sql_cast_is_int_to_numeric(fn) ? SQL_DECIMAL_INT
						: SQL_DECIMAL_NONE;
}

NUM1(n_neg, cat_num_neg)
NUM1(n_abs, cat_num_abs)
/* ---- the table --------------------------------------------------------------------------- */

#define OP2V(op, a, b, ret, f)                                                                               \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { a, b }, ret, f, NULL                                                     \
	}
#define INTS(op, f2, f4, f8)                                                                                 \
	OP2V(op, CAT_INT2, CAT_INT2, CAT_INT2, f2), OP2V(op, CAT_INT4, CAT_INT4, CAT_INT4, f4),              \
	    OP2V(op, CAT_INT8, CAT_INT8, CAT_INT8, f8), OP2V(op, CAT_INT2, CAT_INT4, CAT_INT4, f4),          \
	    OP2V(op, CAT_INT4, CAT_INT2, CAT_INT4, f4), OP2V(op, CAT_INT2, CAT_INT8, CAT_INT8, f8),          \
	    OP2V(op, CAT_INT8, CAT_INT2, CAT_INT8, f8), OP2V(op, CAT_INT4, CAT_INT8, CAT_INT8, f8),          \
	    OP2V(op, CAT_INT8, CAT_INT4, CAT_INT8, f8)
#define NUMS(op, f2, f4, f8, fr, ff, fn)                                                                     \
	INTS(op, f2, f4, f8), OP2V(op, CAT_FLOAT4, CAT_FLOAT4, CAT_FLOAT4, fr),                              \
	    OP2V(op, CAT_FLOAT8, CAT_FLOAT8, CAT_FLOAT8, ff),                                                \
	    OP2V(op, CAT_FLOAT4, CAT_FLOAT8, CAT_FLOAT8, ff),                                                \
	    OP2V(op, CAT_FLOAT8, CAT_FLOAT4, CAT_FLOAT8, ff),                                                \
	    OP2V(op, CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, fn)
#define OP1V(op, t, f)                                                                                       \
	{                                                                                                    \
		op, SQL_FN_OP, 1, { t }, t, f, NULL                                                          \
	}
#define F1V(name, t, f)                                                                                      \
	{                                                                                                    \
		name, 0, 1, { t }, t, f, NULL                                                                \
	}
#define F2V(name, a, b, ret, f)                                                                              \
	{                                                                                                    \
		name, 0, 2, { a, b }, ret, f, NULL                                                           \
	}

const struct sql_fn sql_fns_number[] = {
	NUMS("+", add2, add4, add8, add_r, add_f, n_add),
	NUMS("-", sub2, sub4, sub8, sub_r, sub_f, n_sub),
	NUMS("*", mul2, mul4, mul8, mul_r, mul_f, n_mul),
	NUMS("/", div_int, div_int, div_int, div_r, div_f, n_div),
	OP2V("%", CAT_INT2, CAT_INT2, CAT_INT2, mod_int),
	OP2V("%", CAT_INT4, CAT_INT4, CAT_INT4, mod_int),
	OP2V("%", CAT_INT8, CAT_INT8, CAT_INT8, mod_int),
	OP2V("%", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_mod),
	OP1V("-", CAT_INT2, neg_int),
	OP1V("-", CAT_INT4, neg_int),
	OP1V("-", CAT_INT8, neg_int),
	OP1("-", CAT_FLOAT4, f_neg),
	OP1("-", CAT_FLOAT8, f_neg),
	OP1("-", CAT_NUMERIC, n_neg),
	OP1("+", CAT_INT2, same),
	OP1("+", CAT_INT4, same),
	OP1("+", CAT_INT8, same),
	OP1("+", CAT_FLOAT4, same),
	OP1("+", CAT_FLOAT8, same),
	OP1("+", CAT_NUMERIC, same),
	OP1V("@", CAT_INT2, abs_int),
	OP1V("@", CAT_INT4, abs_int),
	OP1V("@", CAT_INT8, abs_int),
	OP1("@", CAT_FLOAT4, f_abs),
	OP1("@", CAT_FLOAT8, f_abs),
	OP1("@", CAT_NUMERIC, n_abs),
	OP2V("&", CAT_INT2, CAT_INT2, CAT_INT2, bit_and),
	OP2V("&", CAT_INT4, CAT_INT4, CAT_INT4, bit_and),
	OP2V("&", CAT_INT8, CAT_INT8, CAT_INT8, bit_and),
	OP2V("|", CAT_INT2, CAT_INT2, CAT_INT2, bit_or),
	OP2V("|", CAT_INT4, CAT_INT4, CAT_INT4, bit_or),
	OP2V("|", CAT_INT8, CAT_INT8, CAT_INT8, bit_or),
	OP2V("#", CAT_INT2, CAT_INT2, CAT_INT2, bit_xor),
	OP2V("#", CAT_INT4, CAT_INT4, CAT_INT4, bit_xor),
	OP2V("#", CAT_INT8, CAT_INT8, CAT_INT8, bit_xor),
	{ "<<", SQL_FN_OP, 2, { CAT_INT2, CAT_INT4 }, CAT_INT2, NULL, shift_left },
	{ "<<", SQL_FN_OP, 2, { CAT_INT4, CAT_INT4 }, CAT_INT4, NULL, shift_left },
	{ "<<", SQL_FN_OP, 2, { CAT_INT8, CAT_INT4 }, CAT_INT8, NULL, shift_left },
	{ ">>", SQL_FN_OP, 2, { CAT_INT2, CAT_INT4 }, CAT_INT2, NULL, shift_right },
	{ ">>", SQL_FN_OP, 2, { CAT_INT4, CAT_INT4 }, CAT_INT4, NULL, shift_right },
	{ ">>", SQL_FN_OP, 2, { CAT_INT8, CAT_INT4 }, CAT_INT8, NULL, shift_right },
	OP1("~", CAT_INT2, bit_not),
	OP1("~", CAT_INT4, bit_not),
	OP1("~", CAT_INT8, bit_not),
	F1V("abs", CAT_INT2, abs_int),
	F1V("abs", CAT_INT4, abs_int),
	F1V("abs", CAT_INT8, abs_int),
	F1("abs", CAT_FLOAT4, f_abs),
	F1("abs", CAT_FLOAT8, f_abs),
	F1("abs", CAT_NUMERIC, n_abs),
	F2V("mod", CAT_INT2, CAT_INT2, CAT_INT2, mod_int),
	F2V("mod", CAT_INT4, CAT_INT4, CAT_INT4, mod_int),
	F2V("mod", CAT_INT8, CAT_INT8, CAT_INT8, mod_int),
	F2V("mod", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_mod),
	{ 0 },
};
