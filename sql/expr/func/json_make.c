/* json_make.c -- json made of values: to_json, json_build_object, json_build_array; the parts of
 * json_agg. */
#include <sql/expr/func/array.h>
#include <sql/expr/func/json.h>
#include <types/datetime.h>
#include <types/jsonb.h>
#include <types/numeric.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool
put(struct sql_writer *w, const char *s)
{
	return sql_put(w, s, strlen(s));
}

bool
sql_json_put_string(struct sql_writer *w, struct cat_str s)
{
	if (!sql_put_char(w, '"'))
		return false;
	for (uint32_t k = 0; k < s.len; k++) {
		char c = s.p[k], code[8];
		const char *e = c == '"'    ? "\\\""
				: c == '\\' ? "\\\\"
				: c == '\b' ? "\\b"
				: c == '\f' ? "\\f"
				: c == '\n' ? "\\n"
				: c == '\r' ? "\\r"
				: c == '\t' ? "\\t"
					    : NULL;
		if (e == NULL && (unsigned char)c < 0x20) {
			snprintf(code, sizeof code, "\\u%04x", (unsigned)c);
			e = code;
		}
		if (e ? !put(w, e) : !sql_put_char(w, c))
			return false;
	}
	return sql_put_char(w, '"');
}

/* As XML writes it: T between date and time, minutes in the offset. */
static bool
put_time(struct sql_writer *w, enum cat_type type, int64_t v)
{
	char buf[CAT_DATETIME_CHARS];
	unsigned n = type == CAT_TIMESTAMPTZ ? cat_timestamptz_out(v, buf) : cat_timestamp_out(v, buf);
	if (!sql_put_char(w, '"'))
		return false;
	bool date = true;
	for (unsigned k = 0; k < n; k++) {
		bool blank = date && buf[k] == ' ';
		if (!sql_put_char(w, blank ? 'T' : buf[k]))
			return false;
		date &= !blank;
		bool offset = type == CAT_TIMESTAMPTZ && k >= 2 && (buf[k - 2] == '+' || buf[k - 2] == '-') &&
			      !date && (k + 1 == n || buf[k + 1] == ' ');
		if (offset && !put(w, ":00"))
			return false;
	}
	return sql_put_char(w, '"');
}

static bool
put_json(struct sql_writer *w, enum cat_type type, union cat_val v, bool null)
{
	bool plain = cat_type_is_float(type) ? !isnan(v.f) && !isinf(v.f)
		     : type == CAT_NUMERIC   ? !cat_num_is_nan(v.s) && !cat_num_is_inf(v.s)
					     : cat_type_is_int(type) || type == CAT_JSON || type == CAT_JSONB;
	if (null)
		return put(w, "null");
	if (type == CAT_BOOL)
		return put(w, v.i ? "true" : "false");
	if (type == CAT_TIMESTAMP || type == CAT_TIMESTAMPTZ)
		return put_time(w, type, v.i);
	if (type == CAT_TEXT || type == CAT_BPCHAR)
		return sql_json_put_string(w, v.s);
	if (cat_type_is_array(type))
		return sql_json_put_array(w, type, v.s, ",");
	struct cat_str t = sql_value_text(w->env, type, v);
	return plain ? sql_put_str(w, t) : sql_json_put_string(w, t);
}

bool
sql_json_put_array(struct sql_writer *w, enum cat_type type, struct cat_str array, const char *between)
{
	struct sql_elements x;
	if (!sql_array_load(w->env, type, array, 0, &x) || !sql_put_char(w, '['))
		return false;
	for (uint32_t k = 0; k < x.a.n; k++)
		if ((k > 0 && !put(w, between)) || !put_json(w, x.a.elem, x.v[k], x.null[k]))
			return false;
	return sql_put_char(w, ']');
}

static bool
put_key(struct sql_writer *w, enum cat_type type, union cat_val v)
{
	if (type == CAT_JSON || type == CAT_JSONB || cat_type_is_array(type))
		return cat_error(
		    w->env->err, "22023", "key value must be scalar, not array, composite, or json");
	if (type == CAT_BOOL)
		return put(w, v.i ? "\"true\"" : "\"false\"");
	if (type == CAT_TIMESTAMP || type == CAT_TIMESTAMPTZ)
		return put_time(w, type, v.i);
	return sql_json_put_string(w, sql_value_text(w->env, type, v));
}

static bool
k_to_json(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (r->null[0])
		return r->out_null = true;
	if (!put_json(&w, r->e->args[0]->type, r->a[0], false))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* One row of json_agg: a NULL is null. */
static bool
k_item(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	enum cat_type type = r->e->args[0]->type;
	if (cat_type_is_array(type) && !r->null[0] && !sql_put_char(&w, SQL_JSON_LINE))
		return false;
	if (!put_json(&w, type, r->a[0], r->null[0]))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* One row of json_object_agg. */
static bool
k_pair(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (r->null[0])
		return cat_error(r->env->err, "22023", "field name must not be null");
	if (!put_key(&w, r->e->args[0]->type, r->a[0]) || !put(&w, " : ") ||
	    !put_json(&w, r->e->args[1]->type, r->a[1], r->null[1]))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_build_array(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (!sql_put_char(&w, '['))
		return false;
	for (unsigned k = 0; k < r->n; k++)
		if ((k > 0 && !put(&w, ", ")) || !put_json(&w, r->e->args[k]->type, r->a[k], r->null[k]))
			return false;
	if (!sql_put_char(&w, ']'))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_build_object(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (r->n % 2 != 0) {
		snprintf(r->env->err->hint, sizeof r->env->err->hint,
		    "The arguments of json_build_object() must consist of alternating keys and values.");
		return cat_error(r->env->err, "22023", "argument list must have even number of elements");
	}
	if (!sql_put_char(&w, '{'))
		return false;
	for (unsigned k = 0; k < r->n; k += 2) {
		if (r->null[k]) {
			snprintf(r->env->err->hint, sizeof r->env->err->hint, "Object keys should be text.");
			return cat_error(r->env->err, "22023", "argument %u cannot be null", k + 1);
		}
		if ((k > 0 && !put(&w, ", ")) || !put_key(&w, r->e->args[k]->type, r->a[k]) ||
		    !put(&w, " : ") || !put_json(&w, r->e->args[k + 1]->type, r->a[k + 1], r->null[k + 1]))
			return false;
	}
	if (!sql_put_char(&w, '}'))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* The same as jsonb. */
static bool
as_jsonb(struct sql_row *r, bool made)
{
	return made && (r->out_null || cat_jsonb_in(r->out.s, &r->out.s, r->env->arena, r->env->err));
}

static bool
k_to_jsonb(struct sql_row *r)
{
	return as_jsonb(r, k_to_json(r));
}

static bool
k_build_jsonb_array(struct sql_row *r)
{
	return as_jsonb(r, k_build_array(r));
}

static bool
k_build_jsonb_object(struct sql_row *r)
{
	for (unsigned k = 0; k < r->n && r->n % 2 == 0; k += 2)
		if (r->null[k])
			return cat_error(r->env->err, "22023", "argument %u: key must not be null", k + 1);
	return as_jsonb(r, k_build_object(r));
}

#define ANY_B(name, flags, n, f)                                                                             \
	{                                                                                                    \
		name, SQL_FN_ANY | SQL_FN_NULLS | flags, n, { 0 }, CAT_JSONB, NULL, f                        \
	}
#define ANY(name, flags, n, f)                                                                               \
	{                                                                                                    \
		name, SQL_FN_ANY | SQL_FN_NULLS | flags, n, { 0 }, CAT_JSON, NULL, f                         \
	}

static const struct sql_fn fn_item = ANY("json_agg", SQL_FN_EXACT, 1, k_item);
static const struct sql_fn fn_pair = ANY("json_object_agg", SQL_FN_EXACT, 2, k_pair);

struct sql_expr *
sql_expr_json_row(
    struct nam_arena *a, enum sql_agg_kind k, struct sql_expr **args, int position, struct cat_err *err)
{
	unsigned n = k == SQL_JSON_AGG ? 1 : 2;
	if (n == 1 && args[0]->type == CAT_UNKNOWN) {
		cat_error(
		    err, "42804", "could not determine polymorphic type because input has type unknown");
		return NULL;
	}
	for (unsigned i = 0; i < n; i++)
		if ((args[i] = sql_expr_default_type(a, args[i], err)) == NULL)
			return NULL;
	return sql_expr_call(a, n == 1 ? &fn_item : &fn_pair, args, n, position, err);
}

const struct sql_fn sql_fns_json_make[] = {
	ANY("to_json", SQL_FN_EXACT, 1, k_to_json),
	ANY("json_build_array", 0, 0, k_build_array),
	ANY("json_build_object", 0, 0, k_build_object),
	ANY_B("to_jsonb", SQL_FN_EXACT, 1, k_to_jsonb),
	ANY_B("jsonb_build_array", 0, 0, k_build_jsonb_array),
	ANY_B("jsonb_build_object", 0, 0, k_build_jsonb_object),
	{ 0 },
};
