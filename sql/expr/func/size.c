/* size.c -- numbers of bytes as words, words as numbers of bytes, and how many a value has. */
#include <sql/expr/func/table.h>
#include <types/array.h>
#include <types/numeric.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
enum { UNITS = sizeof units / sizeof *units, UNIT_BITS = 10 };

/* "10 MB": the largest unit that leaves at least five digits away, rounded. */
static bool
k_pretty(struct sql_row *r)
{
	int64_t v = r->a[0].i;
	unsigned u = 0;
	char *p = nam_arena_take(r->env->arena, 40);
	if (p == NULL)
		return sql_oom(r->env->err);
	/* beyond bytes v counts halves of the unit, so that rounding is to the nearest */
	for (; u < UNITS - 1 && (v < 0 ? 0 - (uint64_t)v : (uint64_t)v) >= (u == 0 ? 10240u : 20479u); u++)
		v /= u == 0 ? 512 : 1024;
	if (u > 0)
		v = (v + (v < 0 ? -1 : 1)) / 2;
	int n = snprintf(p, 40, "%lld %s", (long long)v, units[u]);
	r->out.s = (struct cat_str){ p, (uint32_t)n };
	return true;
}

/* v becomes v / by, without what is left. */
static bool
divide(struct sql_row *r, struct cat_str *v, int64_t by)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	struct cat_str d, rest;
	return cat_num_from_int(by, &d, a, err) && cat_num_mod(*v, d, &rest, a, err) &&
	       cat_num_sub(*v, rest, v, a, err) && cat_num_div(*v, d, v, a, err) &&
	       cat_num_trunc(*v, 0, v, a, err);
}

/* True if |v| < most. A NaN is not. */
static bool
is_below(struct sql_row *r, struct cat_str v, int64_t most, bool *below)
{
	struct cat_str size, end;
	if (!cat_num_abs(v, &size, r->env->arena, r->env->err) ||
	    !cat_num_from_int(most, &end, r->env->arena, r->env->err))
		return false;
	*below = cat_num_cmp(size, end) < 0;
	return true;
}

static bool
k_pretty_numeric(struct sql_row *r)
{
	struct cat_str v = r->a[0].s, one;
	unsigned u = 0;
	for (; u < UNITS - 1; u++) {
		bool below;
		if (!is_below(r, v, u == 0 ? 10240 : 20479, &below))
			return false;
		if (below)
			break;
		if (!divide(r, &v, u == 0 ? 512 : 1024))
			return false;
	}
	if (u > 0 && (!cat_num_from_int(cat_num_sign(v) < 0 ? -1 : 1, &one, r->env->arena, r->env->err) ||
			 !cat_num_add(v, one, &v, r->env->arena, r->env->err) || !divide(r, &v, 2)))
		return false;
	struct cat_str t = cat_num_out(v, r->env->arena);
	char *p = nam_arena_printf(r->env->arena, "%.*s %s", (int)t.len, t.p, units[u]);
	r->out.s = (struct cat_str){ p, p ? (uint32_t)strlen(p) : 0 };
	return p != NULL || sql_oom(r->env->err);
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *
digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

/* The end of a number at p; NULL: there is none. */
static const char *
number_end(const char *p)
{
	p += *p == '-' || *p == '+';
	const char *end = digits(p);
	bool any = end > p;
	if (*end == '.') {
		p = end + 1;
		end = digits(p);
		any |= end > p;
	}
	if (!any)
		return NULL;
	if (*end == 'e' || *end == 'E') {
		char *behind;
		(void)strtol(end + 1, &behind, 10);
		if (behind > end + 1)
			end = behind;
	}
	return end;
}

static bool
no_size(struct sql_row *r, const char *unit)
{
	struct cat_err *err = r->env->err;
	cat_error(err, "22023", "invalid size: \"%.*s\"", (int)r->a[0].s.len, r->a[0].s.p);
	if (unit != NULL) {
		snprintf(err->detail, sizeof err->detail, "Invalid size unit: \"%s\".", unit);
		snprintf(err->hint, sizeof err->hint,
		    "Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".");
	}
	return false;
}

static bool
k_bytes(struct sql_row *r)
{
	struct nam_arena *a = r->env->arena;
	struct cat_err *err = r->env->err;
	struct cat_str v, by;
	char *text = nam_arena_copy(a, r->a[0].s.p, r->a[0].s.len + 1);
	if (text == NULL)
		return sql_oom(err);
	text[r->a[0].s.len] = 0;
	const char *p = text;
	while (is_blank(*p))
		p++;
	const char *end = number_end(p);
	if (end == NULL)
		return no_size(r, NULL);
	if (!cat_num_in((struct cat_str){ p, (uint32_t)(end - p) }, &v, a, err))
		return false;
	while (is_blank(*end))
		end++;
	if (*end != 0) {
		char *last = text + r->a[0].s.len;
		unsigned u = 0;
		while (is_blank(last[-1]))
			last--;
		*last = 0;
		while (u < UNITS && strcasecmp(end, units[u]) != 0)
			u++;
		if (u == UNITS)
			return no_size(r, end);
		if (!cat_num_from_int(INT64_C(1) << (UNIT_BITS * u), &by, a, err) ||
		    !cat_num_mul(v, by, &v, a, err))
			return false;
	}
	return cat_num_to_int(v, CAT_INT8, &r->out.i, err);
}

/* ---- the bytes of a value, as PostgreSQL keeps it uncompressed ------------------------------- */

enum { HEADER = 4, SHORT_MOST = 126, SHORT_SAVES = 3 };

/* A numeric: a word, and its digits to the base 10,000. */
static uint32_t
numeric_bytes(struct cat_str v, struct nam_arena *a)
{
	if (cat_num_is_nan(v) || cat_num_is_inf(v))
		return HEADER + 2;
	struct cat_str t = cat_num_out(v, a);
	const char *p = t.p, *end = t.p + t.len;
	p += p < end && *p == '-';
	while (p < end && *p == '0')
		p++;
	const char *point = memchr(p, '.', (size_t)(end - p));
	while (point != NULL && end[-1] == '0')
		end--;
	if (point == NULL)
		point = end;
	uint32_t whole = (uint32_t)(point - p), part = end > point ? (uint32_t)(end - point - 1) : 0,
		 drop = 0;
	uint32_t groups = (whole + 3) / 4 + (part + 3) / 4;
	while (whole == 0 && drop < part && point[1 + drop] == '0')
		drop++;
	while (part == 0 && drop < whole && point[-1 - (int)drop] == '0')
		drop++;
	int weight = whole > 0 ? (int)(whole + 3) / 4 - 1 : -(int)(drop / 4) - 1;
	bool small = cat_num_scale(v) <= 63 && weight >= -64 && weight <= 63;
	return HEADER + (small ? 2 : 4) + 2 * (groups - drop / 4);
}

static uint32_t
align_of(enum cat_type t)
{
	int16_t size = cat_type_size(t);
	if (size < 0 || size == 4)
		return 4;
	if (t == CAT_NAME || t == CAT_UUID)
		return 1;
	return size > 4 ? 8 : (uint32_t)size;
}

static uint32_t value_bytes(enum cat_type t, union cat_val v, struct nam_arena *a);

static uint32_t
array_bytes(enum cat_type type, struct cat_str s, struct nam_arena *a)
{
	enum { EMPTY = 16, ONE_DIMENSION = 24 };
	struct cat_array x;
	union cat_val v;
	cat_array_open(type, s, &x);
	uint32_t nulls = 0, n = 0, align = align_of(x.elem);
	for (uint32_t k = 0; k < x.n; k++) {
		if (!cat_array_at(&x, k, &v)) {
			nulls++;
			continue;
		}
		n = (n + align - 1) / align * align + value_bytes(x.elem, v, a);
	}
	if (align > 1) /* what follows an element begins where another one could */
		n = (n + align - 1) / align * align;
	uint32_t head = nulls > 0 ? (ONE_DIMENSION + (x.n + 7) / 8 + 7) / 8 * 8 : ONE_DIMENSION;
	return x.n == 0 ? EMPTY : head + n;
}

static uint32_t
value_bytes(enum cat_type t, union cat_val v, struct nam_arena *a)
{
	if (t == CAT_UNKNOWN)
		return v.s.len + 1;
	if (t == CAT_NUMERIC)
		return numeric_bytes(v.s, a);
	if (cat_type_is_array(t))
		return array_bytes(t, v.s, a);
	int16_t size = cat_type_size(t);
	return size > 0 ? (uint32_t)size : HEADER + cat_value_out(t, v, a).len;
}

/* pg_column_size: what a column has, has a short header. */
static bool
k_column_size(struct sql_row *r)
{
	const struct sql_expr *e = r->e->args[0];
	uint32_t n = value_bytes(e->type, r->a[0], r->env->arena);
	if (e->type == CAT_BYTEA)
		n = HEADER + r->a[0].s.len;
	bool varies = e->type != CAT_UNKNOWN && cat_type_size(e->type) < 0;
	r->out.i = varies && e->kind == SQL_COLUMN && n - SHORT_SAVES <= SHORT_MOST ? n - SHORT_SAVES : n;
	return true;
}

const struct sql_fn sql_fns_size[] = {
	{ "pg_column_size", SQL_FN_ANY | SQL_FN_EXACT, 1, { 0 }, CAT_INT4, NULL, k_column_size },
	F("pg_size_pretty", 1, CAT_TEXT, k_pretty, CAT_INT8),
	F("pg_size_pretty", 1, CAT_TEXT, k_pretty_numeric, CAT_NUMERIC),
	F("pg_size_bytes", 1, CAT_INT8, k_bytes, CAT_TEXT),
	{ 0 },
};
