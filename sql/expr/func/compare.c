/* compare.c -- = <> < <= > >= of every type, LIKE, greatest and least. */
#include <sql/expr/functions.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>

/* NaN equals NaN and is greater than everything else. */
static inline bool
float_eq(double x, double y)
{
	return (x == y) | ((x != x) & (y != y));
}
static inline bool
float_le(double x, double y)
{
	return (x <= y) | (y != y);
}
static inline bool
text_eq(struct cat_str x, struct cat_str y)
{
	return x.len == y.len && memcmp(x.p, y.p, x.len) == 0;
}
static inline int
text_cmp(struct cat_str x, struct cat_str y)
{
	uint32_t n = x.len < y.len ? x.len : y.len;
	int c = memcmp(x.p, y.p, n);
	return c ? c : (x.len > y.len) - (x.len < y.len);
}

/* char(n): the blanks behind it do not count. */
static inline int
char_cmp(struct cat_str x, struct cat_str y)
{
	return cat_value_cmp(CAT_BPCHAR, (union cat_val){ .s = x }, (union cat_val){ .s = y });
}

static inline bool
char_eq(struct cat_str x, struct cat_str y)
{
	while (x.len > y.len && x.p[x.len - 1] == ' ')
		x.len--;
	while (y.len > x.len && y.p[y.len - 1] == ' ')
		y.len--;
	return x.len == y.len && (x.len == 0 || memcmp(x.p, y.p, x.len) == 0);
}

#define LOOP(name, T, m, TEST)                                                                               \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i;                                                                      \
		SQL_BINARY(f, T, m, o[k] = (TEST));                                                          \
		return true;                                                                                 \
	}
LOOP(i_eq, int64_t, i, x == y)
LOOP(i_ne, int64_t, i, x != y)
LOOP(i_lt, int64_t, i, x < y)
LOOP(i_le, int64_t, i, x <= y)
LOOP(i_gt, int64_t, i, x > y)
LOOP(i_ge, int64_t, i, x >= y)
LOOP(f_eq, double, f, float_eq(x, y))
LOOP(f_ne, double, f, !float_eq(x, y))
LOOP(f_lt, double, f, !float_le(y, x))
LOOP(f_le, double, f, float_le(x, y))
LOOP(f_gt, double, f, !float_le(x, y))
LOOP(f_ge, double, f, float_le(y, x))
LOOP(t_eq, struct cat_str, s, text_eq(x, y))
LOOP(t_ne, struct cat_str, s, !text_eq(x, y))
LOOP(t_lt, struct cat_str, s, text_cmp(x, y) < 0)
LOOP(t_le, struct cat_str, s, text_cmp(x, y) <= 0)
LOOP(t_gt, struct cat_str, s, text_cmp(x, y) > 0)
LOOP(t_ge, struct cat_str, s, text_cmp(x, y) >= 0)
LOOP(n_eq, struct cat_str, s, cat_num_cmp(x, y) == 0)
LOOP(n_ne, struct cat_str, s, cat_num_cmp(x, y) != 0)
LOOP(n_lt, struct cat_str, s, cat_num_cmp(x, y) < 0)
LOOP(n_le, struct cat_str, s, cat_num_cmp(x, y) <= 0)
LOOP(n_gt, struct cat_str, s, cat_num_cmp(x, y) > 0)
LOOP(n_ge, struct cat_str, s, cat_num_cmp(x, y) >= 0)

enum sql_decimal_test
sql_decimal_test_of(const struct sql_fn *fn)
{
	return fn->vec == n_lt   ? SQL_DECIMAL_LT
	       : fn->vec == n_le ? SQL_DECIMAL_LE
	       : fn->vec == n_gt ? SQL_DECIMAL_GT
	       : fn->vec == n_ge ? SQL_DECIMAL_GE
	       : fn->vec == n_eq ? SQL_DECIMAL_EQ
	       : fn->vec == n_ne ? SQL_DECIMAL_NE
				 : SQL_DECIMAL_NO_TEST;
}

LOOP(c_eq, struct cat_str, s, char_eq(x, y))
LOOP(c_ne, struct cat_str, s, !char_eq(x, y))
LOOP(c_lt, struct cat_str, s, char_cmp(x, y) < 0)
LOOP(c_le, struct cat_str, s, char_cmp(x, y) <= 0)
LOOP(c_gt, struct cat_str, s, char_cmp(x, y) > 0)
LOOP(c_ge, struct cat_str, s, char_cmp(x, y) >= 0)

/* ---- LIKE ----------------------------------------------------------------------- */

/* A constant pattern without _ and \, of the form [%]word[%], needs no matcher. */
static bool
simple_pattern(struct cat_str p, struct cat_str *w, bool *open_left, bool *open_right)
{
	*w = p;
	*open_left = *open_right = false;
	while (w->len > 0 && w->p[0] == '%')
		w->p++, w->len--, *open_left = true;
	while (w->len > 0 && w->p[w->len - 1] == '%')
		w->len--, *open_right = true;
	for (uint32_t k = 0; k < w->len; k++)
		if (w->p[k] == '_' || w->p[k] == '\\' || w->p[k] == '%')
			return false;
	return true;
}

static inline bool
simple_match(struct cat_str x, struct cat_str w, bool left, bool right)
{
	if (x.len < w.len)
		return false;
	if (w.len == 0)
		return left || right || x.len == 0;
	if (left && right)
		return memmem(x.p, x.len, w.p, w.len) != NULL;
	if (left)
		return memcmp(x.p + x.len - w.len, w.p, w.len) == 0;
	return (right || x.len == w.len) && memcmp(x.p, w.p, w.len) == 0;
}

static bool
like(struct sql_frame *f, bool negate)
{
	const struct sql_arg *a = f->arg;
	const uint8_t *null = f->out->null;
	int64_t *o = f->out->i;
	struct cat_str w;
	bool left, right, bytes = f->e->args[0]->type == CAT_BYTEA;
	if (a[1].mask == 0 && simple_pattern(a[1].s[0], &w, &left, &right)) {
		SQL_EACH(f, o[k] = simple_match(a[0].s[k & a[0].mask], w, left, right) != negate);
		return true;
	}
	uint64_t work = 0;
	SQL_EACH(
	    f, struct cat_str x = a[0].s[k & a[0].mask]; bool hit = false;
	    if (!null[k] && !sql_like(x, a[1].s[k & a[1].mask], bytes, &hit, f->env->err)) return false;
	    o[k] = hit != negate; if ((work += x.len) >= SQL_WORK_PIECE) {
		    if (!sql_work(f->env, work))
			    return false;
		    work = 0;
	    });
	return true;
}

static bool
k_like(struct sql_frame *f)
{
	return like(f, false);
}

static bool
k_not_like(struct sql_frame *f)
{
	return like(f, true);
}

static bool
ilike(struct sql_row *r, bool negate)
{
	struct cat_str x, p;
	bool hit;
	if (!sql_case(r->a[0].s, false, &x, r->env->arena) || !sql_case(r->a[1].s, false, &p, r->env->arena))
		return sql_oom(r->env->err);
	if (!sql_like(x, p, false, &hit, r->env->err))
		return false;
	r->out.i = hit != negate;
	return true;
}

static bool
k_ilike(struct sql_row *r)
{
	return ilike(r, false);
}

static bool
k_not_ilike(struct sql_row *r)
{
	return ilike(r, true);
}

/* ---- greatest, least --------------------------------------------------------------- */

static bool
extreme(struct sql_row *r, int sign)
{
	r->out_null = true;
	for (unsigned k = 0; k < r->n; k++) {
		if (r->null[k] || (!r->out_null && cat_value_cmp(r->e->type, r->a[k], r->out) * sign <= 0))
			continue;
		r->out = r->a[k];
		r->out_null = false;
	}
	return true;
}

static bool
k_greatest(struct sql_row *r)
{
	return extreme(r, 1);
}

static bool
k_least(struct sql_row *r)
{
	return extreme(r, -1);
}

const struct sql_fn sql_fn_greatest = { .name = "greatest", .flags = SQL_FN_NULLS, .row = k_greatest };
const struct sql_fn sql_fn_least = { .name = "least", .flags = SQL_FN_NULLS, .row = k_least };

#define CMP(op, a, b, f)                                                                                     \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { a, b }, CAT_BOOL, f, NULL                                                \
	}
#define ALL(op, i, f, t, n, c)                                                                               \
	CMP(op, CAT_INT2, CAT_INT2, i), CMP(op, CAT_INT2, CAT_INT4, i), CMP(op, CAT_INT4, CAT_INT2, i),      \
	    CMP(op, CAT_INT2, CAT_INT8, i), CMP(op, CAT_INT8, CAT_INT2, i),                                  \
	    CMP(op, CAT_FLOAT4, CAT_FLOAT4, f), CMP(op, CAT_FLOAT4, CAT_FLOAT8, f),                          \
	    CMP(op, CAT_FLOAT8, CAT_FLOAT4, f), CMP(op, CAT_INT4, CAT_INT4, i),                              \
	    CMP(op, CAT_INT8, CAT_INT8, i), CMP(op, CAT_INT4, CAT_INT8, i), CMP(op, CAT_INT8, CAT_INT4, i),  \
	    CMP(op, CAT_TEXT, CAT_TEXT, t), CMP(op, CAT_FLOAT8, CAT_FLOAT8, f),                              \
	    CMP(op, CAT_NUMERIC, CAT_NUMERIC, n), CMP(op, CAT_DATE, CAT_DATE, i),                            \
	    CMP(op, CAT_TIMESTAMP, CAT_TIMESTAMP, i), CMP(op, CAT_TIMESTAMPTZ, CAT_TIMESTAMPTZ, i),          \
	    CMP(op, CAT_TIME, CAT_TIME, i), CMP(op, CAT_BOOL, CAT_BOOL, i),                                  \
	    CMP(op, CAT_BYTEA, CAT_BYTEA, t), CMP(op, CAT_UUID, CAT_UUID, t),                                \
	    CMP(op, CAT_BPCHAR, CAT_BPCHAR, c), CMP(op, CAT_OID, CAT_OID, i),                                \
	    CMP(op, CAT_NAME, CAT_NAME, t), CMP(op, CAT_NAME, CAT_TEXT, t), CMP(op, CAT_TEXT, CAT_NAME, t),  \
	    CMP(op, CAT_CHAR, CAT_CHAR, t), CMP(op, CAT_ENUM, CAT_ENUM, i)

const struct sql_fn sql_fns_compare[] = {
	ALL("=", i_eq, f_eq, t_eq, n_eq, c_eq),
	ALL("<>", i_ne, f_ne, t_ne, n_ne, c_ne),
	ALL("<", i_lt, f_lt, t_lt, n_lt, c_lt),
	ALL("<=", i_le, f_le, t_le, n_le, c_le),
	ALL(">", i_gt, f_gt, t_gt, n_gt, c_gt),
	ALL(">=", i_ge, f_ge, t_ge, n_ge, c_ge),
	{ "~~", SQL_FN_OP, 2, { CAT_TEXT, CAT_TEXT }, CAT_BOOL, k_like, NULL },
	{ "!~~", SQL_FN_OP, 2, { CAT_TEXT, CAT_TEXT }, CAT_BOOL, k_not_like, NULL },
	{ "~~", SQL_FN_OP, 2, { CAT_BYTEA, CAT_BYTEA }, CAT_BOOL, k_like, NULL },
	{ "!~~", SQL_FN_OP, 2, { CAT_BYTEA, CAT_BYTEA }, CAT_BOOL, k_not_like, NULL },
	/* patterns meet the blanks of char(n), too */
	{ "~~", SQL_FN_OP, 2, { CAT_BPCHAR, CAT_TEXT }, CAT_BOOL, k_like, NULL },
	{ "!~~", SQL_FN_OP, 2, { CAT_BPCHAR, CAT_TEXT }, CAT_BOOL, k_not_like, NULL },
	{ "~~*", SQL_FN_OP, 2, { CAT_BPCHAR, CAT_TEXT }, CAT_BOOL, NULL, k_ilike },
	{ "!~~*", SQL_FN_OP, 2, { CAT_BPCHAR, CAT_TEXT }, CAT_BOOL, NULL, k_not_ilike },
	{ "~~*", SQL_FN_OP, 2, { CAT_TEXT, CAT_TEXT }, CAT_BOOL, NULL, k_ilike },
	{ "!~~*", SQL_FN_OP, 2, { CAT_TEXT, CAT_TEXT }, CAT_BOOL, NULL, k_not_ilike },
	{ 0 },
};
