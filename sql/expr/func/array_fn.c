/* array_fn.c -- functions over arrays, and between arrays and text. */
#include <sql/expr/func/array.h>
#include <types/datetime.h>
#include <types/interval.h>
#include <types/numeric.h>

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 256 << 20 };

/* array_length, array_lower, array_upper of a dimension; array_ndims, cardinality */
bool
sql_array_k_bound(struct sql_row *r)
{
	const char *name = r->e->fn->name;
	struct cat_array a;
	cat_array_open(r->e->args[0]->type, r->a[0].s, &a);
	if (name[0] == 'c') {
		r->out.i = a.n;
		return true;
	}
	r->out_null = a.n == 0 || (r->n > 1 && r->a[1].i != 1);
	int64_t upper = (int64_t)a.lower + a.n - 1;
	switch (name[6]) {
	case 'n':
		r->out.i = 1;
		break;
	case 'u':
		r->out.i = upper;
		break;
	default:
		r->out.i = name[7] == 'e' ? (int64_t)a.n : a.lower;
	}
	return true;
}

bool
sql_array_k_dims(struct sql_row *r)
{
	struct cat_array a;
	cat_array_open(r->e->args[0]->type, r->a[0].s, &a);
	r->out_null = a.n == 0;
	char *p = nam_arena_printf(
	    r->env->arena, "[%d:%lld]", (int)a.lower, (long long)a.lower + (long long)a.n - 1);
	r->out.s = (struct cat_str){ p, p ? (uint32_t)strlen(p) : 0 };
	return p != NULL || sql_oom(r->env->err);
}

/* True if the elements have =. */
static bool
comparable(const struct sql_row *r)
{
	enum cat_type t = cat_type_element(r->e->args[0]->type);
	return cat_type_is_ordered(t) ||
	       cat_error(r->env->err, "42883", "could not identify an equality operator for type %s",
		   cat_type_name(t));
}

/* The elements of the first argument; if it is NULL, so is the answer. */
static bool
begin(struct sql_row *r, struct sql_elements *x)
{
	r->out_null = r->null[0];
	return r->out_null || (comparable(r) && sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, x));
}

/* Element k is the second argument, where NULL is NULL. */
static bool
is_second(const struct sql_row *r, const struct sql_elements *x, uint32_t k)
{
	if (x->null[k] || r->null[1])
		return x->null[k] && r->null[1];
	return cat_value_cmp(x->a.elem, x->v[k], r->a[1]) == 0;
}

bool
sql_array_k_remove(struct sql_row *r)
{
	struct sql_elements x;
	if (!begin(r, &x) || r->out_null)
		return r->out_null;
	uint32_t m = 0;
	for (uint32_t k = 0; k < x.a.n; k++) {
		if (is_second(r, &x, k))
			continue;
		x.v[m] = x.v[k];
		x.null[m++] = x.null[k];
	}
	return sql_array_store(r, x.a.lower, x.v, x.null, m, &r->out.s);
}

bool
sql_array_k_replace(struct sql_row *r)
{
	struct sql_elements x;
	if (!begin(r, &x) || r->out_null)
		return r->out_null;
	for (uint32_t k = 0; k < x.a.n; k++) {
		if (!is_second(r, &x, k))
			continue;
		x.v[k] = r->a[2];
		x.null[k] = r->null[2];
	}
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n, &r->out.s);
}

bool
sql_array_k_position(struct sql_row *r)
{
	struct sql_elements x;
	if (!begin(r, &x) || r->out_null)
		return r->out_null;
	if (r->n > 2 && r->null[2])
		return cat_error(r->env->err, "22004", "initial position must not be null");
	int64_t from = r->n > 2 ? r->a[2].i - x.a.lower : 0;
	for (int64_t k = from < 0 ? 0 : from; k < x.a.n; k++)
		if (is_second(r, &x, (uint32_t)k)) {
			r->out.i = x.a.lower + k;
			return true;
		}
	r->out_null = true;
	return true;
}

bool
sql_array_k_positions(struct sql_row *r)
{
	struct sql_elements x;
	if (!begin(r, &x) || r->out_null)
		return r->out_null;
	uint32_t m = 0;
	for (uint32_t k = 0; k < x.a.n; k++)
		if (is_second(r, &x, k))
			x.v[m++].i = (int64_t)x.a.lower + k;
	return sql_array_store(r, 1, x.v, NULL, m, &r->out.s);
}

bool
sql_array_k_trim(struct sql_row *r)
{
	struct sql_elements x;
	if (!sql_array_load(r->env, r->e->type, r->a[0].s, 0, &x))
		return false;
	int64_t n = r->a[1].i;
	if (n < 0 || n > x.a.n)
		return cat_error(r->env->err, "2202E", "number of elements to trim must be between 0 and %u",
		    (unsigned)x.a.n);
	return sql_array_store(r, 1, x.v, x.null, x.a.n - (uint32_t)n, &r->out.s);
}

/* generate_subscripts(a, dimension [, reverse]) as an array */
bool
sql_array_k_subscripts(struct sql_row *r)
{
	struct cat_array a;
	cat_array_open(r->e->args[0]->type, r->a[0].s, &a);
	uint32_t n = r->a[1].i == 1 ? a.n : 0;
	union cat_val *v = nam_arena_take(r->env->arena, n * sizeof *v);
	if (v == NULL)
		return sql_oom(r->env->err);
	for (uint32_t k = 0; k < n; k++)
		v[k].i = a.lower + (int64_t)(r->n > 2 && r->a[2].i ? n - 1 - k : k);
	return sql_array_store(r, 1, v, NULL, n, &r->out.s);
}

/* The step of generate_series, checked: -1, 1; 0: *err. */
static int
step_of(const struct sql_row *r, enum cat_type type, const union cat_val *v)
{
	static const char *const what[] = { "start value", "stop value", "step size" };
	for (unsigned k = 0; type == CAT_NUMERIC && k < 3; k++)
		if (cat_num_is_nan(v[k].s) || cat_num_is_inf(v[k].s)) {
			cat_error(r->env->err, "22023", "%s cannot be %s", what[k],
			    cat_num_is_nan(v[k].s) ? "NaN" : "infinity");
			return 0;
		}
	int sign;
	if (type == CAT_NUMERIC) {
		sign = cat_num_sign(v[2].s);
	} else if (cat_type_is_int(type)) {
		sign = (v[2].i > 0) - (v[2].i < 0);
	} else {
		__int128 span = cat_interval_span(cat_interval_load(v[2].s));
		sign = (span > 0) - (span < 0);
	}
	if (sign == 0)
		cat_error(r->env->err, "22023", "step size cannot equal zero");
	return sign;
}

/* generate_series as an array, for select lists */
static bool
k_series(struct sql_row *r)
{
	enum { SERIES_MAX = 1 << 25 };
	enum cat_type type = cat_type_element(r->e->type);
	union cat_val v[3] = { r->a[0], r->a[1] }, *out = NULL;
	uint32_t n = 0, room = 0;
	bool num = type == CAT_NUMERIC, ints = cat_type_is_int(type);
	v[2].i = 1;
	if (r->n > 2)
		v[2] = r->a[2];
	else if (num && !cat_num_from_int(1, &v[2].s, r->env->arena, r->env->err))
		return false;
	int sign = step_of(r, type, v);
	while (sign != 0 && cat_value_cmp(type, v[0], v[1]) * sign <= 0) {
		if (n == room) {
			union cat_val *more = nam_arena_take(r->env->arena, 2 * (room + 8) * sizeof *more);
			if (more == NULL)
				return sql_oom(r->env->err);
			if (n > 0)
				memcpy(more, out, n * sizeof *out);
			out = more;
			room = 2 * (room + 8);
			if (r->env->go_on != NULL && !r->env->go_on(r->env->go_on_arg, room * sizeof *out))
				return false;
		}
		if (n == SERIES_MAX)
			return cat_error(r->env->err, "54000",
			    "generate_series beside windows, aggregates or others like it: more than %d rows",
			    SERIES_MAX);
		out[n++] = v[0];
		if (ints && (__builtin_add_overflow(v[0].i, v[2].i, &v[0].i) ||
				(type == CAT_INT4 && v[0].i != (int32_t)v[0].i)))
			break;
		if (num && !cat_num_add(v[0].s, v[2].s, &v[0].s, r->env->arena, r->env->err))
			return false;
		if (!ints && !num &&
		    !cat_timestamp_add(v[0].i, cat_interval_load(v[2].s), &v[0].i, r->env->err))
			return false;
	}
	return sign != 0 && sql_array_store(r, 1, out, NULL, n, &r->out.s);
}
static const struct sql_fn fn_series = { .name = "generate_series", .row = k_series };

struct sql_expr *
sql_expr_series(struct nam_arena *a, struct sql_expr **args, unsigned n, enum cat_type type, int position,
    struct cat_err *err)
{
	struct sql_expr *e = sql_expr_call(a, &fn_series, args, n, position, err);
	if (e == NULL)
		return NULL;
	e->type = cat_type_array_of(type);
	return sql_expr_fold(a, e);
}

/* array_fill(x, ARRAY[length] [, ARRAY[lower bound]]) */
bool
sql_array_k_fill(struct sql_row *r)
{
	int64_t n[2] = { 0, 1 };
	for (unsigned k = 1; k < r->n; k++) {
		struct cat_array a;
		union cat_val v = { 0 };
		if (r->null[k])
			return cat_error(
			    r->env->err, "22004", "dimension array or low bound array cannot be null");
		cat_array_open(r->e->args[k]->type, r->a[k].s, &a);
		if (a.n > 1)
			return cat_error(
			    r->env->err, "0A000", "arrays of more than one dimension are not supported yet");
		if (a.n == 1 && !cat_array_at(&a, 0, &v))
			return cat_error(r->env->err, "22004", "dimension values cannot be null");
		if (a.n == 0 && k == 2 && n[0] > 0)
			return cat_error(r->env->err, "2202E", "wrong number of array subscripts");
		if (a.n == 1)
			n[k - 1] = v.i;
	}
	if (n[0] < 0 || n[0] > TEXT_MAX)
		return cat_error(
		    r->env->err, "54000", "array size exceeds the maximum allowed (%d)", (int)TEXT_MAX);
	if (n[1] + n[0] - 1 > INT32_MAX - (n[0] > 0))
		return cat_error(
		    r->env->err, "54000", "array lower bound is too large: %lld", (long long)n[1]);
	union cat_val *v = nam_arena_take(r->env->arena, (size_t)n[0] * sizeof *v);
	bool *null = nam_arena_take(r->env->arena, (size_t)n[0]);
	if (v == NULL || null == NULL)
		return sql_oom(r->env->err);
	for (int64_t k = 0; k < n[0]; k++) {
		v[k] = r->a[0];
		null[k] = r->null[0];
	}
	return sql_array_store(r, (int32_t)n[1], v, null, (uint32_t)n[0], &r->out.s);
}

/* ---- and text --------------------------------------------------------------------------- */

bool
sql_array_k_to_string(struct sql_row *r)
{
	struct sql_elements x;
	r->out_null = r->null[0] || r->null[1];
	if (r->out_null)
		return true;
	if (!sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, &x))
		return false;
	const struct cat_str *stand_in = r->n > 2 && !r->null[2] ? &r->a[2].s : NULL;
	struct cat_str *part = nam_arena_take(r->env->arena, x.a.n * sizeof *part);
	uint64_t room = 0;
	uint32_t m = 0;
	if (part == NULL)
		return sql_oom(r->env->err);
	for (uint32_t k = 0; k < x.a.n; k++) {
		if (x.null[k] && stand_in == NULL)
			continue;
		part[m] = x.null[k] ? *stand_in : sql_value_text(r->env, x.a.elem, x.v[k]);
		room += part[m++].len;
	}
	room += m ? (uint64_t)(m - 1) * r->a[1].s.len : 0;
	if (room > TEXT_MAX)
		return cat_error(r->env->err, "54000", "requested length too large");
	char *p = nam_arena_take(r->env->arena, room), *to = p;
	if (p == NULL)
		return sql_oom(r->env->err);
	for (uint32_t k = 0; k < m; k++) {
		if (k > 0 && r->a[1].s.len > 0)
			to = mempcpy(to, r->a[1].s.p, r->a[1].s.len);
		if (part[k].len > 0)
			to = mempcpy(to, part[k].p, part[k].len);
	}
	r->out.s = (struct cat_str){ p, (uint32_t)room };
	return true;
}

/* The next part of s from *at on; beyond its end: none. Without a separator: a character. */
static bool
part_of(struct cat_str s, const struct cat_str *separator, uint32_t *at, struct cat_str *out)
{
	uint32_t from = *at, to = s.len;
	if (separator == NULL) {
		if (from >= s.len)
			return false;
		to = from;
		sql_utf8_get(s, &to);
		*at = to;
	} else {
		if (from > s.len)
			return false;
		const char *hit =
		    separator->len ? memmem(s.p + from, s.len - from, separator->p, separator->len) : NULL;
		if (hit != NULL)
			to = (uint32_t)(hit - s.p);
		*at = hit ? to + separator->len : s.len + 1;
	}
	*out = (struct cat_str){ s.p + from, to - from };
	return true;
}

static bool
k_from_string(struct sql_row *r)
{
	r->out_null = r->null[0];
	if (r->out_null)
		return true;
	struct cat_str s = r->a[0].s, part;
	const struct cat_str *separator = r->null[1] ? NULL : &r->a[1].s;
	const struct cat_str *null_word = r->n > 2 && !r->null[2] ? &r->a[2].s : NULL;
	uint32_t n = 0, k = 0, at = 0;
	while (s.len > 0 && part_of(s, separator, &at, &part))
		n++;
	union cat_val *v = nam_arena_take(r->env->arena, n * sizeof *v);
	bool *null = nam_arena_take(r->env->arena, n);
	if (v == NULL || null == NULL)
		return sql_oom(r->env->err);
	for (at = 0; k < n && part_of(s, separator, &at, &part); k++) {
		v[k].s = part;
		null[k] = null_word != NULL && part.len == null_word->len &&
			  memcmp(part.p, null_word->p, part.len) == 0;
	}
	return sql_array_store(r, 1, v, null, n, &r->out.s);
}

#define T CAT_TEXT
const struct sql_fn sql_fns_array[] = {
	{ "string_to_array", SQL_FN_NULLS, 2, { T, T }, CAT_ARRAY | T, NULL, k_from_string },
	{ "string_to_array", SQL_FN_NULLS, 3, { T, T, T }, CAT_ARRAY | T, NULL, k_from_string },
	{ 0 },
};

/* width_bucket(value, thresholds): how many of the sorted thresholds are not above the value. */
bool
sql_array_k_bucket(struct sql_row *r)
{
	struct sql_elements x;
	enum cat_type elem = cat_type_element(r->e->args[1]->type);
	if (!cat_type_is_ordered(elem))
		return cat_error(r->env->err, "42883", "could not identify a comparison function for type %s",
		    cat_type_name(elem));
	if (!sql_array_load(r->env, r->e->args[1]->type, r->a[1].s, 0, &x))
		return false;
	for (uint32_t k = 0; k < x.a.n; k++)
		if (x.null[k])
			return cat_error(r->env->err, "22004", "thresholds array must not contain NULLs");
	uint32_t lo = 0, hi = x.a.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (cat_value_cmp(elem, r->a[0], x.v[mid]) < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	r->out.i = lo;
	return true;
}
