/* json_turn.c -- json out of arrays of texts and of arrays; json without its nulls. */
#include <sql/expr/func/array.h>
#include <sql/expr/func/json.h>
#include <sql/expr/func/table.h>
#include <types/jsonb.h>

#include <string.h>

/* ---- json_object: names and values out of texts ------------------------------------------- */

static bool
put_member(struct sql_writer *w, const struct sql_elements *keys, uint32_t k, const struct sql_elements *of,
    uint32_t v)
{
	if (keys->null[k])
		return cat_error(w->env->err, "22004", "null value not allowed for object key");
	return (w->n == 1 || sql_put(w, ", ", 2)) && sql_json_put_string(w, keys->v[k].s) &&
	       sql_put(w, " : ", 3) &&
	       (of->null[v] ? sql_put(w, "null", 4) : sql_json_put_string(w, of->v[v].s));
}

static bool
object(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	struct sql_elements keys, values;
	bool pairs = r->n == 1;
	if (!sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, &keys) ||
	    !sql_array_load(r->env, r->e->args[r->n - 1]->type, r->a[r->n - 1].s, 0, &values))
		return false;
	if (pairs && keys.a.n % 2 != 0)
		return cat_error(r->env->err, "2202E", "array must have even number of elements");
	/* an empty array has no dimension */
	if (!pairs && (keys.a.n == 0) != (values.a.n == 0))
		return cat_error(r->env->err, "2202E", "wrong number of array subscripts");
	if (keys.a.n != values.a.n)
		return cat_error(r->env->err, "2202E", "mismatched array dimensions");
	if (!sql_put_char(&w, '{'))
		return false;
	for (uint32_t k = 0; k < keys.a.n; k += pairs ? 2 : 1)
		if (!put_member(&w, &keys, k, &values, pairs ? k + 1 : k))
			return false;
	if (!sql_put_char(&w, '}'))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_object_b(struct sql_row *r)
{
	return object(r) && cat_jsonb_in(r->out.s, &r->out.s, r->env->arena, r->env->err);
}

/* ---- arrays ---------------------------------------------------------------- */

/* array_to_json(array, pretty): with a line for each element. */
bool
sql_array_k_to_json(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (!sql_json_put_array(&w, r->e->args[0]->type, r->a[0].s, r->n > 1 && r->a[1].i ? ",\n " : ","))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* ---- json without its nulls ------------------------------------------------ */

enum { DEPTH_MAX = 6000 };

static bool strip(struct sql_writer *w, struct cat_str json, unsigned depth);

static bool
strip_members(struct sql_writer *w, struct cat_str json, unsigned depth)
{
	struct cat_json_walk walk;
	struct cat_str key, v, name;
	bool object = cat_json_walk(&walk, json) && walk.object, first = true;
	if (!sql_put_char(w, object ? '{' : '['))
		return false;
	while (cat_json_next(&walk, &key, &v)) {
		if (object && cat_json_kind(v) == CAT_JSON_NULL)
			continue;
		if (!first && !sql_put_char(w, ','))
			return false;
		first = false;
		if (object && (!cat_json_text(key, &name, w->env->arena, w->env->err) ||
				  !sql_json_put_string(w, name) || !sql_put_char(w, ':')))
			return false;
		if (!strip(w, v, depth + 1))
			return false;
	}
	return sql_put_char(w, object ? '}' : ']');
}

static bool
strip(struct sql_writer *w, struct cat_str json, unsigned depth)
{
	enum cat_json_kind kind = cat_json_kind(json);
	struct cat_str text;
	if (depth > DEPTH_MAX)
		return cat_error(w->env->err, "54001", "stack depth limit exceeded");
	if (kind == CAT_JSON_ARRAY || kind == CAT_JSON_OBJECT)
		return strip_members(w, json, depth);
	if (kind != CAT_JSON_STRING) {
		while (json.len > 0 && strchr(" \t\n\r", json.p[json.len - 1]) != NULL)
			json.len--;
		while (json.len > 0 && strchr(" \t\n\r", json.p[0]) != NULL)
			json.p++, json.len--;
		return sql_put_str(w, json);
	}
	return cat_json_text(json, &text, w->env->arena, w->env->err) && sql_json_put_string(w, text);
}

static bool
k_strip(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (!sql_json_readable(r) || !strip(&w, r->a[0].s, 0))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

#define J  CAT_JSON
#define TS (CAT_ARRAY | CAT_TEXT)

const struct sql_fn sql_fns_json_turn[] = {
	F("json_object", 1, J, object, TS),
	F("json_object", 2, J, object, TS, TS),
	F("jsonb_object", 1, CAT_JSONB, k_object_b, TS),
	F("jsonb_object", 2, CAT_JSONB, k_object_b, TS, TS),
	F("json_strip_nulls", 1, J, k_strip, J),
	{ 0 },
};
