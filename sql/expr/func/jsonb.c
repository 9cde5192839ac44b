/* jsonb.c -- operators and functions on jsonb: what contains what, changes, conversions. Finding
 * parts: json.c. */
#include <sql/expr/func/array.h>
#include <sql/expr/func/json.h>
#include <types/jsonb.h>
#include <types/numeric.h>

#include <stdio.h>
#include <string.h>

enum { NESTED_MAX = 500 };

static bool
is_array(struct cat_str j)
{
	return j.len > 0 && *j.p == '[';
}

static bool
is_object(struct cat_str j)
{
	return j.len > 0 && *j.p == '{';
}

static bool
is_scalar(struct cat_str j)
{
	return !is_array(j) && !is_object(j);
}

static bool
same(struct cat_str a, struct cat_str b)
{
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* Text with commas between parts, which are canonical. */
static bool
put_part(struct sql_writer *w, bool *first, struct cat_str key, struct cat_str value)
{
	bool ok = *first || sql_put(w, ", ", 2);
	*first = false;
	if (ok && key.len > 0)
		ok = sql_put_str(w, key) && sql_put(w, ": ", 2);
	return ok && sql_put_str(w, value);
}

/* What the writer has, made canonical: members may have come in any order. */
static bool
canonical(struct sql_row *r, struct sql_writer *w)
{
	return cat_jsonb_in(sql_written(w), &r->out.s, r->env->arena, r->env->err);
}

/* ---- order ------------------------------------------------------------------------------ */

#define TEST(name, test)                                                                                     \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		int c = cat_jsonb_cmp(r->a[0].s, r->a[1].s);                                                 \
		r->out.i = c test 0;                                                                         \
		return true;                                                                                 \
	}
TEST(k_eq, ==)
TEST(k_ne, !=)
TEST(k_lt, <)
TEST(k_le, <=)
TEST(k_gt, >)
TEST(k_ge, >=)
#undef TEST

/* ---- @> --------------------------------------------------------------------------------- */

static bool contains(
    struct cat_str a, struct cat_str b, unsigned depth, bool *yes, const struct sql_env *env);

/* Is b an element of array a, or contained in one? */
static bool
has_element(struct cat_str a, struct cat_str b, unsigned depth, bool *yes, const struct sql_env *env)
{
	struct cat_json_walk w;
	struct cat_str key, v;
	*yes = false;
	for (bool in = cat_json_walk(&w, a); in && !*yes && cat_json_next(&w, &key, &v);) {
		if (is_scalar(b))
			*yes = is_scalar(v) && cat_jsonb_cmp(v, b) == 0;
		else if (*v.p == *b.p && !contains(v, b, depth, yes, env))
			return false;
	}
	return true;
}

static bool
contains(struct cat_str a, struct cat_str b, unsigned depth, bool *yes, const struct sql_env *env)
{
	struct cat_json_walk w;
	struct cat_str key, v, mine, name;
	*yes = false;
	if (depth > NESTED_MAX)
		return cat_error(env->err, "54001", "stack depth limit exceeded");
	if (*a.p != *b.p || !cat_json_walk(&w, b))
		return true;
	*yes = true;
	while (*yes && cat_json_next(&w, &key, &v)) {
		if (is_array(a)) {
			if (!has_element(a, v, depth + 1, yes, env))
				return false;
			continue;
		}
		if (!cat_json_text(key, &name, env->arena, env->err))
			return false;
		*yes = cat_json_member(a, name, &mine, env->arena);
		if (!*yes)
			break;
		if (is_scalar(v))
			*yes = is_scalar(mine) && cat_jsonb_cmp(mine, v) == 0;
		else if (!contains(mine, v, depth + 1, yes, env))
			return false;
	}
	return true;
}

/* A scalar by itself is contained in an array that has it, and in itself. */
static bool
whole_contains(struct sql_row *r, struct cat_str a, struct cat_str b)
{
	bool yes = false, ok = true;
	if (is_scalar(b) && is_scalar(a))
		yes = cat_jsonb_cmp(a, b) == 0;
	else if (is_scalar(b) && is_array(a))
		ok = has_element(a, b, 0, &yes, r->env);
	else
		ok = contains(a, b, 0, &yes, r->env);
	r->out.i = yes;
	return ok;
}

static bool
k_contains(struct sql_row *r)
{
	return whole_contains(r, r->a[0].s, r->a[1].s);
}

static bool
k_contained(struct sql_row *r)
{
	return whole_contains(r, r->a[1].s, r->a[0].s);
}

/* ---- ? ---------------------------------------------------------------------------------- */

/* Is the text a member's name, or a string among the elements, or the string itself? */
static bool
exists(struct sql_row *r, struct cat_str json, struct cat_str text, bool *yes)
{
	struct cat_str v, quoted;
	*yes = false;
	if (is_object(json)) {
		*yes = cat_json_member(json, text, &v, r->env->arena);
		return true;
	}
	if (!cat_jsonb_string(text, &quoted, r->env->arena))
		return sql_oom(r->env->err);
	if (is_array(json))
		return has_element(json, quoted, 0, yes, r->env);
	*yes = same(json, quoted);
	return true;
}

static bool
k_exists(struct sql_row *r)
{
	bool yes;
	if (!exists(r, r->a[0].s, r->a[1].s, &yes))
		return false;
	r->out.i = yes;
	return true;
}

/* Of several texts, all or any; a NULL among them counts for nothing. */
static bool
exist(struct sql_row *r, bool all)
{
	struct sql_elements x;
	bool yes = all;
	if (!sql_array_load(r->env, CAT_ARRAY | CAT_TEXT, r->a[1].s, 0, &x))
		return false;
	for (uint32_t k = 0; k < x.a.n && yes == all; k++)
		if (!x.null[k] && !exists(r, r->a[0].s, x.v[k].s, &yes))
			return false;
	r->out.i = yes;
	return true;
}

static bool
k_exist_any(struct sql_row *r)
{
	return exist(r, false);
}

static bool
k_exist_all(struct sql_row *r)
{
	return exist(r, true);
}

/* ---- || and - --------------------------------------------------------------------------- */

static bool
put_all(struct sql_writer *w, bool *first, struct cat_str json)
{
	struct cat_json_walk walk;
	struct cat_str key = { "", 0 }, v;
	bool in = cat_json_walk(&walk, json);
	while (in && cat_json_next(&walk, &key, &v))
		if (!put_part(w, first, key, v))
			return false;
	return true;
}

static bool
k_concat(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	struct cat_str none = { "", 0 };
	bool first = true, objects = is_object(r->a[0].s) && is_object(r->a[1].s);
	if (!sql_put_char(&w, objects ? '{' : '['))
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (objects || is_array(r->a[k].s) ? !put_all(&w, &first, r->a[k].s)
						   : !put_part(&w, &first, none, r->a[k].s))
			return false;
	return sql_put_char(&w, objects ? '}' : ']') && canonical(r, &w);
}

static bool
no_scalar(struct sql_row *r, const char *what)
{
	return !is_scalar(r->a[0].s) || cat_error(r->env->err, "22023", "cannot %s scalar", what);
}

/* Without the members of those names, or the elements that are such strings. */
static bool
without(struct sql_row *r, const union cat_val *text, const bool *null, uint32_t n)
{
	struct sql_writer w = { .env = r->env };
	struct cat_json_walk walk;
	struct cat_str key = { "", 0 }, v, plain;
	bool first = true, object = is_object(r->a[0].s);
	if (!no_scalar(r, "delete from") || !sql_put_char(&w, object ? '{' : '['))
		return false;
	cat_json_walk(&walk, r->a[0].s);
	while (cat_json_next(&walk, &key, &v)) {
		struct cat_str name = object ? key : v;
		bool gone = false;
		if (*name.p == '"') {
			if (!cat_json_text(name, &plain, r->env->arena, r->env->err))
				return false;
			for (uint32_t k = 0; k < n && !gone; k++)
				gone = (null == NULL || !null[k]) && same(plain, text[k].s);
		}
		if (!gone && !put_part(&w, &first, key, v))
			return false;
	}
	if (!sql_put_char(&w, object ? '}' : ']'))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_minus_text(struct sql_row *r)
{
	return without(r, &r->a[1], NULL, 1);
}

static bool
k_minus_texts(struct sql_row *r)
{
	struct sql_elements x;
	return sql_array_load(r->env, CAT_ARRAY | CAT_TEXT, r->a[1].s, 0, &x) &&
	       without(r, x.v, x.null, x.a.n);
}

static bool
k_minus_at(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	struct cat_json_walk walk;
	struct cat_str key = { "", 0 }, v;
	int64_t at = r->a[1].i;
	bool first = true;
	if (!no_scalar(r, "delete from"))
		return false;
	if (is_object(r->a[0].s))
		return cat_error(r->env->err, "22023", "cannot delete from object using integer index");
	if (at < 0)
		at += cat_json_length(r->a[0].s);
	if (!sql_put_char(&w, '['))
		return false;
	cat_json_walk(&walk, r->a[0].s);
	for (int64_t k = 0; cat_json_next(&walk, &key, &v); k++)
		if (k != at && !put_part(&w, &first, key, v))
			return false;
	if (!sql_put_char(&w, ']'))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* ---- changes at the end of a path ------------------------------------------------------- */

enum change { SET, INSERT, REMOVE };

struct edit {
	struct sql_row *r;
	struct sql_writer w;
	struct sql_elements path;
	struct cat_str value;
	enum change change;
	bool create; /* SET: also what is not there */
	bool after;  /* INSERT: behind the element */
};

static bool edit_at(struct edit *e, struct cat_str json, uint32_t depth);

/* The number that element k of the path is. */
static bool
index_of(struct edit *e, uint32_t k, int64_t *out)
{
	struct cat_str s = e->path.v[k].s;
	bool minus = s.len > 0 && *s.p == '-';
	*out = 0;
	for (uint32_t i = minus; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || *out > INT32_MAX)
			s.len = 0;
		else
			*out = *out * 10 + (s.p[i] - '0');
	}
	if (s.len > minus) {
		*out = minus ? -*out : *out;
		return true;
	}
	return cat_error(e->r->env->err, "22P02", "path element at position %u is not an integer: \"%.*s\"",
	    k + 1, (int)(e->path.v[k].s.len > 200 ? 200 : e->path.v[k].s.len), e->path.v[k].s.p);
}

/* A member or element on the path, whose place is the last (or not) of it. */
static bool
edit_part(struct edit *e, bool *first, struct cat_str key, struct cat_str v, uint32_t depth)
{
	struct cat_str none = { "", 0 };
	if (depth + 1 < e->path.a.n) {
		bool ok = *first || sql_put(&e->w, ", ", 2);
		*first = false;
		if (ok && key.len > 0)
			ok = sql_put_str(&e->w, key) && sql_put(&e->w, ": ", 2);
		return ok && edit_at(e, v, depth + 1);
	}
	switch (e->change) {
	case SET:
		return put_part(&e->w, first, key, e->value);
	case REMOVE:
		return true;
	default:
		if (key.len > 0)
			return cat_error(e->r->env->err, "22023", "cannot replace existing key");
		return e->after ? put_part(&e->w, first, none, v) && put_part(&e->w, first, none, e->value)
				: put_part(&e->w, first, none, e->value) && put_part(&e->w, first, none, v);
	}
}

static bool
edit_object(struct edit *e, struct cat_str json, uint32_t depth)
{
	struct cat_json_walk walk;
	struct cat_str key, v, quoted;
	bool first = true, found = false;
	if (!cat_jsonb_string(e->path.v[depth].s, &quoted, e->r->env->arena))
		return sql_oom(e->r->env->err);
	if (!sql_put_char(&e->w, '{'))
		return false;
	cat_json_walk(&walk, json);
	while (cat_json_next(&walk, &key, &v)) {
		bool here = same(key, quoted);
		found |= here;
		if (here ? !edit_part(e, &first, key, v, depth) : !put_part(&e->w, &first, key, v))
			return false;
	}
	bool adds = !found && depth + 1 == e->path.a.n && e->change != REMOVE && e->create;
	return (!adds || put_part(&e->w, &first, quoted, e->value)) && sql_put_char(&e->w, '}');
}

static bool
edit_array(struct edit *e, struct cat_str json, uint32_t depth)
{
	struct cat_json_walk walk;
	struct cat_str key = { "", 0 }, v;
	int64_t at, n = cat_json_length(json);
	bool first = true, last = depth + 1 == e->path.a.n;
	if (!index_of(e, depth, &at))
		return false;
	if (at < 0)
		at = -at > n ? INT32_MIN : n + at;
	bool adds = last && e->change != REMOVE && e->create;
	if (!sql_put_char(&e->w, '[') || (adds && at < 0 && !put_part(&e->w, &first, key, e->value)))
		return false;
	cat_json_walk(&walk, json);
	for (int64_t k = 0; cat_json_next(&walk, &key, &v); k++)
		if (k == at ? !edit_part(e, &first, key, v, depth) : !put_part(&e->w, &first, key, v))
			return false;
	return (!adds || at < n || put_part(&e->w, &first, key, e->value)) && sql_put_char(&e->w, ']');
}

static bool
edit_at(struct edit *e, struct cat_str json, uint32_t depth)
{
	if (depth > NESTED_MAX)
		return cat_error(e->r->env->err, "54001", "stack depth limit exceeded");
	if (e->path.null[depth])
		return cat_error(e->r->env->err, "22004", "path element at position %u is null", depth + 1);
	if (is_scalar(json))
		return sql_put_str(&e->w, json);
	return is_object(json) ? edit_object(e, json, depth) : edit_array(e, json, depth);
}

static bool
edit(struct edit *e)
{
	struct sql_row *r = e->r;
	static const char *const what[] = { "set path in", "set path in", "delete path in" };
	e->w.env = r->env;
	if (!no_scalar(r, what[e->change]) ||
	    !sql_array_load(r->env, CAT_ARRAY | CAT_TEXT, r->a[1].s, 0, &e->path))
		return false;
	if (e->path.a.n == 0) {
		r->out = r->a[0];
		return true;
	}
	return edit_at(e, r->a[0].s, 0) && canonical(r, &e->w);
}

static bool
k_set(struct sql_row *r)
{
	struct edit e = { .r = r, .value = r->a[2].s, .change = SET, .create = r->n < 4 || r->a[3].i };
	return edit(&e);
}

static bool
k_insert(struct sql_row *r)
{
	struct edit e = {
		.r = r, .value = r->a[2].s, .change = INSERT, .create = true, .after = r->n > 3 && r->a[3].i
	};
	return edit(&e);
}

static bool
k_minus_path(struct sql_row *r)
{
	struct edit e = { .r = r, .change = REMOVE };
	return edit(&e);
}

/* ---- forms ------------------------------------------------------------------------------ */

/* A walk over all of a text, token by token. */
static bool
k_pretty(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	struct cat_str j = r->a[0].s;
	unsigned depth = 0;
	bool string = false;
	for (uint32_t k = 0; k < j.len; k++) {
		char c = j.p[k];
		bool open = !string && (c == '{' || c == '['), close = !string && (c == '}' || c == ']');
		if (string && c == '\\' && k + 1 < j.len) {
			if (!sql_put(&w, j.p + k, 2))
				return false;
			k++;
			continue;
		}
		string ^= c == '"';
		depth -= close;
		bool line = close || (!string && c == ' ' && j.p[k - 1] == ',');
		if (line) {
			if (!sql_put_char(&w, '\n'))
				return false;
			for (unsigned i = 0; i < 4 * depth; i++)
				if (!sql_put_char(&w, ' '))
					return false;
			if (!close)
				continue;
		}
		if (!sql_put_char(&w, c))
			return false;
		depth += open;
		if (open && k + 1 < j.len && j.p[k + 1] != '}' && j.p[k + 1] != ']') {
			if (!sql_put_char(&w, '\n'))
				return false;
			for (unsigned i = 0; i < 4 * depth; i++)
				if (!sql_put_char(&w, ' '))
					return false;
		}
	}
	r->out.s = sql_written(&w);
	return true;
}

/* Without members that are null: what stands between the other ones is copied. */
static bool
strip(struct sql_row *r, struct sql_writer *w, struct cat_str json, unsigned depth)
{
	struct cat_json_walk walk;
	struct cat_str key = { "", 0 }, v;
	bool first = true, object = is_object(json);
	if (depth > NESTED_MAX)
		return cat_error(r->env->err, "54001", "stack depth limit exceeded");
	if (!cat_json_walk(&walk, json))
		return sql_put_str(w, json);
	if (!sql_put_char(w, object ? '{' : '['))
		return false;
	while (cat_json_next(&walk, &key, &v)) {
		if (object && *v.p == 'n')
			continue;
		if ((!first && !sql_put(w, ", ", 2)) ||
		    (object && (!sql_put_str(w, key) || !sql_put(w, ": ", 2))) || !strip(r, w, v, depth + 1))
			return false;
		first = false;
	}
	return sql_put_char(w, object ? '}' : ']');
}

static bool
k_strip_nulls(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (!strip(r, &w, r->a[0].s, 0))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

/* ---- rows: arrays that FROM takes apart --------------------------------------------------- */

static bool
elements(struct sql_row *r, bool text)
{
	struct cat_json_walk walk;
	struct cat_str key, v, json = r->a[0].s;
	int64_t n = cat_json_length(json);
	enum cat_json_kind kind = cat_json_kind(json);
	if (kind != CAT_JSON_ARRAY)
		return cat_error(r->env->err, "22023",
		    kind == CAT_JSON_OBJECT ? "cannot extract elements from an object"
					    : "cannot extract elements from a scalar");
	union cat_val *e = nam_arena_zero(r->env->arena, (size_t)(n + 1) * sizeof *e);
	bool *null = nam_arena_zero(r->env->arena, (size_t)(n + 1) * sizeof *null);
	if (e == NULL || null == NULL)
		return sql_oom(r->env->err);
	cat_json_walk(&walk, json);
	for (int64_t k = 0; k < n && cat_json_next(&walk, &key, &v); k++) {
		null[k] = text && cat_json_kind(v) == CAT_JSON_NULL;
		e[k].s = v;
		if (text && !null[k] && !cat_json_text(v, &e[k].s, r->env->arena, r->env->err))
			return false;
	}
	return sql_array_store(r, 1, e, null, (uint32_t)n, &r->out.s);
}

static bool
k_elements(struct sql_row *r)
{
	return elements(r, false);
}

static bool
k_elements_text(struct sql_row *r)
{
	return elements(r, true);
}

/* Of each member of an object its key, or its value; text: as ->> answers it. */
static bool
members(struct sql_row *r, bool keys, bool text)
{
	struct cat_json_walk walk;
	struct cat_str key, v, json = r->a[0].s;
	uint32_t n = 0, cap = 0;
	union cat_val *e = NULL;
	bool *null = NULL;
	if (!sql_json_readable(r))
		return false;
	cat_json_walk(&walk, json);
	while (cat_json_next(&walk, &key, &v)) {
		if (n == cap) {
			cap = cap ? 2 * cap : 16;
			union cat_val *more = nam_arena_zero(r->env->arena, cap * sizeof *more);
			bool *nulls = nam_arena_zero(r->env->arena, cap * sizeof *nulls);
			if (more == NULL || nulls == NULL)
				return sql_oom(r->env->err);
			if (n > 0) {
				memcpy(more, e, n * sizeof *more);
				memcpy(nulls, null, n * sizeof *nulls);
			}
			e = more;
			null = nulls;
		}
		null[n] = text && !keys && cat_json_kind(v) == CAT_JSON_NULL;
		e[n].s = v;
		if ((keys || text) && !null[n] &&
		    !cat_json_text(keys ? key : v, &e[n].s, r->env->arena, r->env->err))
			return false;
		n++;
	}
	return sql_array_store(r, 1, e, null, n, &r->out.s);
}

static bool
k_keys(struct sql_row *r)
{
	enum cat_json_kind kind = cat_json_kind(r->a[0].s);
	const char *name = r->e->args[0]->type == CAT_JSONB ? "jsonb_object_keys" : "json_object_keys";
	if (kind != CAT_JSON_OBJECT)
		return cat_error(r->env->err, "22023", "cannot call %s on %s", name,
		    kind == CAT_JSON_ARRAY ? "an array" : "a scalar");
	return members(r, true, true);
}

/* json_each and its kin: "json_each.key" and "json_each.value" (parse/convert_each.c). */
static bool
k_each(struct sql_row *r)
{
	const char *name = r->e->fn->name, *part = strchr(name, '.');
	enum cat_json_kind kind = cat_json_kind(r->a[0].s);
	bool text = strncmp(part - 5, "_text", 5) == 0;
	if (kind == CAT_JSON_OBJECT)
		return members(r, strcmp(part, ".key") == 0, text);
	if (r->e->args[0]->type == CAT_JSONB)
		return cat_error(
		    r->env->err, "22023", "cannot call %.*s on a non-object", (int)(part - name), name);
	return cat_error(r->env->err, "22023",
	    kind == CAT_JSON_ARRAY ? "cannot deconstruct an array as an object"
				   : "cannot deconstruct a scalar");
}

/* ---- casts ------------------------------------------------------------------------------ */

static bool
no_cast(struct sql_row *r, const char *to)
{
	static const char *const kinds[] = { "null", "boolean", "numeric", "string", "array", "object" };
	enum cat_json_kind kind = cat_json_kind(r->a[0].s);
	return cat_error(r->env->err, "22023", "cannot cast jsonb %s to type %s", kinds[kind], to);
}

static bool
to_number(struct sql_row *r)
{
	union cat_val number;
	enum cat_type to = r->e->type;
	if (cat_json_kind(r->a[0].s) != CAT_JSON_NUMBER)
		return no_cast(r, cat_type_name(to));
	if (cat_type_is_float(to) || to == CAT_NUMERIC)
		return cat_value_in(to, -1, r->a[0].s, &r->out, r->env->arena, r->env->err);
	return cat_value_in(CAT_NUMERIC, -1, r->a[0].s, &number, r->env->arena, r->env->err) &&
	       cat_num_to_int(number.s, to, &r->out.i, r->env->err);
}

static bool
to_bool(struct sql_row *r)
{
	if (cat_json_kind(r->a[0].s) != CAT_JSON_BOOL)
		return no_cast(r, "boolean");
	r->out.i = *r->a[0].s.p == 't';
	return true;
}

const struct sql_fn sql_fn_jsonb_to_number = { .name = "cast", .nargs = 1, .row = to_number };
const struct sql_fn sql_fn_jsonb_to_bool = { .name = "cast", .nargs = 1, .row = to_bool };

#define J  CAT_JSON
#define B  CAT_JSONB
#define T  CAT_TEXT
#define TS (CAT_ARRAY | CAT_TEXT)
#define OP(op, b, ret, f)                                                                                    \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { B, b }, ret, NULL, f                                                     \
	}

const struct sql_fn sql_fns_jsonb[] = {
	OP("=", B, CAT_BOOL, k_eq),
	OP("<>", B, CAT_BOOL, k_ne),
	OP("<", B, CAT_BOOL, k_lt),
	OP("<=", B, CAT_BOOL, k_le),
	OP(">", B, CAT_BOOL, k_gt),
	OP(">=", B, CAT_BOOL, k_ge),
	OP("->", T, B, sql_json_member),
	OP("->", CAT_INT4, B, sql_json_element),
	OP("->>", T, T, sql_json_member_text),
	OP("->>", CAT_INT4, T, sql_json_element_text),
	OP("#>", T, B, sql_json_path),
	OP("#>>", T, T, sql_json_path_text),
	OP("#>", TS, B, sql_json_names),
	OP("#>>", TS, T, sql_json_names_text),
	OP("@>", B, CAT_BOOL, k_contains),
	OP("<@", B, CAT_BOOL, k_contained),
	OP("?", T, CAT_BOOL, k_exists),
	OP("?|", TS, CAT_BOOL, k_exist_any),
	OP("?&", TS, CAT_BOOL, k_exist_all),
	OP("||", B, B, k_concat),
	OP("-", T, B, k_minus_text),
	OP("-", CAT_INT4, B, k_minus_at),
	OP("-", TS, B, k_minus_texts),
	OP("#-", TS, B, k_minus_path),
	{ "jsonb_typeof", 0, 1, { B }, T, NULL, sql_json_typeof },
	{ "jsonb_array_length", 0, 1, { B }, CAT_INT4, NULL, sql_json_length },
	{ "jsonb_set", 0, 3, { B, TS, B }, B, NULL, k_set },
	{ "jsonb_set", 0, 4, { B, TS, B, CAT_BOOL }, B, NULL, k_set },
	{ "jsonb_insert", 0, 3, { B, TS, B }, B, NULL, k_insert },
	{ "jsonb_insert", 0, 4, { B, TS, B, CAT_BOOL }, B, NULL, k_insert },
	{ "jsonb_pretty", 0, 1, { B }, T, NULL, k_pretty },
	{ "jsonb_strip_nulls", 0, 1, { B }, B, NULL, k_strip_nulls },
	{ "jsonb_array_elements", 0, 1, { B }, CAT_ARRAY | B, NULL, k_elements },
	{ "jsonb_array_elements_text", 0, 1, { B }, TS, NULL, k_elements_text },
	{ "jsonb_object_keys", 0, 1, { B }, TS, NULL, k_keys },
	{ "json_array_elements", 0, 1, { J }, CAT_ARRAY | J, NULL, k_elements },
	{ "json_array_elements_text", 0, 1, { J }, TS, NULL, k_elements_text },
	{ "json_object_keys", 0, 1, { J }, TS, NULL, k_keys },
	{ "jsonb_each.key", 0, 1, { B }, TS, NULL, k_each },
	{ "jsonb_each.value", 0, 1, { B }, CAT_ARRAY | B, NULL, k_each },
	{ "jsonb_each_text.key", 0, 1, { B }, TS, NULL, k_each },
	{ "jsonb_each_text.value", 0, 1, { B }, TS, NULL, k_each },
	{ "json_each.key", 0, 1, { J }, TS, NULL, k_each },
	{ "json_each.value", 0, 1, { J }, CAT_ARRAY | J, NULL, k_each },
	{ "json_each_text.key", 0, 1, { J }, TS, NULL, k_each },
	{ "json_each_text.value", 0, 1, { J }, TS, NULL, k_each },
	{ 0 },
};
