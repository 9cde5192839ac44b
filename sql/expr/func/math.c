/*
 * math.c -- mathematical functions but for trigonometry: rounding, roots, logarithms, powers; gcd
 * and lcm, factorials, buckets, scales of numeric.
 */
#include <sql/expr/func/number.h>
#include <sql/expr/func/table.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>

/* ---- double precision ------------------------------------------------------------------ */

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
	return (isinf(v) || v == 0) && !isinf(x) ? sql_float_range(v, r->env->err) : true;
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
		return sql_float_range(v, r->env->err);
	return true;
}

/* ---- numeric: rounding, roots, logarithms, powers -------------------------------------- */

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
k_gcd_int(struct sql_row *r)
{
	return whole(r, gcd(r->a[0].i, r->a[1].i));
}

static bool
k_lcm_int(struct sql_row *r)
{
	int64_t a = r->a[0].i, b = r->a[1].i;
	if (a == 0 || b == 0) {
		r->out.i = 0;
		return true;
	}
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	return whole(r, (unsigned __int128)(x / gcd(a, b)) * y);
}

/* ---- numeric ------------------------------------------------------------------------------- */

/* from * (from + 1) * ... * to, halves first: factors of like size, and little is kept. */
static bool
product(struct sql_row *r, int64_t from, int64_t to, struct cat_str *out)
{
	struct nam_arena *a = r->env->arena;
	if (from == to)
		return cat_num_from_int(from, out, a, r->env->err);
	int64_t mid = from + (to - from) / 2;
	struct cat_str x, y;
	return product(r, from, mid, &x) && product(r, mid + 1, to, &y) &&
	       cat_num_mul(x, y, out, a, r->env->err);
}

static bool
k_factorial(struct sql_row *r)
{
	int64_t n = r->a[0].i;
	if (n < 0)
		return cat_error(r->env->err, "22003", "factorial of a negative number is undefined");
	if (n > 32177)
		return cat_error(r->env->err, "22003", "value overflows numeric format");
	bool went = nam_aside_for((uint64_t)n * (uint64_t)n);
	bool ok = product(r, 1, n < 1 ? 1 : n, &r->out.s);
	nam_aside_end(went);
	return ok;
}

/* Digits behind the point that are not trailing zeros. */
static int64_t
min_scale(struct cat_str n, struct nam_arena *arena)
{
	struct cat_str t = cat_num_out(n, arena);
	const char *point = t.len ? memchr(t.p, '.', t.len) : NULL;
	uint32_t end = t.len;
	if (point == NULL)
		return 0;
	while (t.p + end - 1 > point && t.p[end - 1] == '0')
		end--;
	return t.p + end - 1 - point;
}

static bool
special(struct cat_str n)
{
	return cat_num_is_nan(n) || cat_num_is_inf(n);
}

static bool
k_min_scale(struct sql_row *r)
{
	if (special(r->a[0].s))
		return r->out_null = true;
	r->out.i = min_scale(r->a[0].s, r->env->arena);
	return true;
}

static bool
k_trim_scale(struct sql_row *r)
{
	struct cat_str n = r->a[0].s;
	r->out.s = n;
	return special(n) ||
	       cat_num_trunc(n, (int)min_scale(n, r->env->arena), &r->out.s, r->env->arena, r->env->err);
}

static bool
is_nan(struct sql_row *r)
{
	return cat_num_in((struct cat_str){ "NaN", 3 }, &r->out.s, r->env->arena, r->env->err);
}

/* Euclid's; of the larger scale of the two. */
static bool
numeric_gcd(struct sql_row *r, struct cat_str x, struct cat_str y, struct cat_str *out)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	unsigned sx = cat_num_scale(x), sy = cat_num_scale(y);
	while (cat_num_sign(y) != 0) {
		struct cat_str rest;
		if (!cat_num_mod(x, y, &rest, a, err))
			return false;
		x = y;
		y = rest;
	}
	return cat_num_abs(x, &x, a, err) && cat_num_round(x, (int)(sx > sy ? sx : sy), out, a, err);
}

static bool
k_gcd(struct sql_row *r)
{
	if (special(r->a[0].s) || special(r->a[1].s))
		return is_nan(r);
	return numeric_gcd(r, r->a[0].s, r->a[1].s, &r->out.s);
}

static bool
k_lcm(struct sql_row *r)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	struct cat_str x = r->a[0].s, y = r->a[1].s, by;
	if (special(x) || special(y))
		return is_nan(r);
	unsigned sx = cat_num_scale(x), sy = cat_num_scale(y);
	if (cat_num_sign(x) == 0 || cat_num_sign(y) == 0) {
		struct cat_str zero;
		return cat_num_from_int(0, &zero, a, err) &&
		       cat_num_round(zero, (int)(sx > sy ? sx : sy), &r->out.s, a, err);
	}
	return numeric_gcd(r, x, y, &by) && cat_num_div(x, by, &x, a, err) &&
	       cat_num_round(x, 0, &x, a, err) && cat_num_mul(x, y, &x, a, err) &&
	       cat_num_abs(x, &x, a, err) && cat_num_round(x, (int)(sx > sy ? sx : sy), &r->out.s, a, err);
}

/* ---- width_bucket --------------------------------------------------------------------------- */

static bool
bucket_error(struct sql_row *r, const char *what)
{
	return cat_error(r->env->err, "2201G", "%s", what);
}

/* Above all buckets. */
static bool
last_bucket(struct sql_row *r)
{
	r->out.i = r->a[3].i + 1;
	return r->out.i == (int32_t)r->out.i || cat_error(r->env->err, "22003", "integer out of range");
}

static bool
k_bucket_float(struct sql_row *r)
{
	double x = r->a[0].f, low = r->a[1].f, high = r->a[2].f;
	int64_t count = r->a[3].i;
	if (count <= 0)
		return bucket_error(r, "count must be greater than zero");
	if (isnan(x) || isnan(low) || isnan(high))
		return bucket_error(r, "operand, lower bound, and upper bound cannot be NaN");
	if (isinf(low) || isinf(high))
		return bucket_error(r, "lower and upper bounds must be finite");
	if (low == high)
		return bucket_error(r, "lower bound cannot equal upper bound");
	bool down = low > high;
	if (down ? x > low : x < low) {
		r->out.i = 0;
		return true;
	}
	if (down ? x <= high : x >= high)
		return last_bucket(r);
	double width = high - low;
	double part = isinf(width) ? (x / 2 - low / 2) / (high / 2 - low / 2) : (x - low) / width;
	r->out.i = (int64_t)((double)count * part);
	if (r->out.i >= count)
		r->out.i = count - 1; /* the quotient was rounded up to 1 */
	r->out.i++;
	return true;
}

static bool
k_bucket_numeric(struct sql_row *r)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	struct cat_str x = r->a[0].s, low = r->a[1].s, high = r->a[2].s, count;
	if (r->a[3].i <= 0)
		return bucket_error(r, "count must be greater than zero");
	if (cat_num_is_nan(x) || cat_num_is_nan(low) || cat_num_is_nan(high))
		return bucket_error(r, "operand, lower bound, and upper bound cannot be NaN");
	if (cat_num_is_inf(low) || cat_num_is_inf(high))
		return bucket_error(r, "lower and upper bounds must be finite");
	int way = cat_num_cmp(low, high);
	if (way == 0)
		return bucket_error(r, "lower bound cannot equal upper bound");
	if (way * cat_num_cmp(x, low) > 0) {
		r->out.i = 0;
		return true;
	}
	if (way * cat_num_cmp(x, high) <= 0)
		return last_bucket(r);
	return cat_num_from_int(r->a[3].i, &count, a, err) && cat_num_sub(x, low, &x, a, err) &&
	       cat_num_sub(high, low, &high, a, err) && cat_num_mul(x, count, &x, a, err) &&
	       cat_num_div(x, high, &x, a, err) && cat_num_floor(x, &x, a, err) &&
	       cat_num_to_int(x, CAT_INT4, &r->out.i, err) && (++r->out.i, true);
}

#define F8 CAT_FLOAT8
#define N  CAT_NUMERIC

#define F2(name, a, b, ret, f)                                                                               \
	{                                                                                                    \
		name, 0, 2, { a, b }, ret, NULL, f                                                           \
	}
#define BOTH(name, f, n) F1(name, CAT_FLOAT8, f), F1(name, CAT_NUMERIC, n)

const struct sql_fn sql_fns_math[] = {
	F("factorial", 1, N, k_factorial, CAT_INT8),
	F("min_scale", 1, CAT_INT4, k_min_scale, N),
	F("trim_scale", 1, N, k_trim_scale, N),
	F("gcd", 2, CAT_INT4, k_gcd_int, CAT_INT4, CAT_INT4),
	F("gcd", 2, CAT_INT8, k_gcd_int, CAT_INT8, CAT_INT8),
	F("gcd", 2, N, k_gcd, N, N),
	F("lcm", 2, CAT_INT4, k_lcm_int, CAT_INT4, CAT_INT4),
	F("lcm", 2, CAT_INT8, k_lcm_int, CAT_INT8, CAT_INT8),
	F("lcm", 2, N, k_lcm, N, N),
	F("width_bucket", 4, CAT_INT4, k_bucket_float, F8, F8, F8, CAT_INT4),
	F("width_bucket", 4, CAT_INT4, k_bucket_numeric, N, N, N, CAT_INT4),
	{ "^", SQL_FN_OP, 2, { CAT_FLOAT8, CAT_FLOAT8 }, CAT_FLOAT8, NULL, f_power },
	{ "^", SQL_FN_OP, 2, { CAT_NUMERIC, CAT_NUMERIC }, CAT_NUMERIC, NULL, n_power },
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
	F2("div", CAT_NUMERIC, CAT_NUMERIC, CAT_NUMERIC, n_whole_div),
	{ "scale", 0, 1, { CAT_NUMERIC }, CAT_INT4, NULL, n_scale },
	F1("cbrt", CAT_FLOAT8, f_cbrt),
	{ 0 },
};
