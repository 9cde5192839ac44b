/* json.c -- operators and functions on json. */
#include <sql/expr/func/array.h>
#include <sql/expr/func/json.h>
#include <types/json.h>

#include <string.h>
#include <strings.h>

/* A part that was found, as json or as text; a json null as text is NULL. */
static bool
found(struct sql_row *r, bool is, struct cat_str part, bool text)
{
	r->out_null = !is || (text && cat_json_kind(part) == CAT_JSON_NULL);
	r->out.s = part;
	if (r->out_null || !text)
		return true;
	return cat_json_text(part, &r->out.s, r->env->arena, r->env->err);
}

/* json is kept as it was written: what its escapes stand for is looked at when a part is taken. */
bool
sql_json_readable(struct sql_row *r)
{
	return r->e->args[0]->type != CAT_JSON || cat_json_unescapes(r->a[0].s, r->env->err);
}

static bool
member(struct sql_row *r, bool text)
{
	struct cat_str part = { "", 0 };
	if (!sql_json_readable(r))
		return false;
	bool is = cat_json_member(r->a[0].s, r->a[1].s, &part, r->env->arena);
	return found(r, is, part, text);
}

bool
sql_json_member(struct sql_row *r)
{
	return member(r, false);
}

bool
sql_json_member_text(struct sql_row *r)
{
	return member(r, true);
}

static bool
element(struct sql_row *r, bool text)
{
	struct cat_str part = { "", 0 };
	if (!sql_json_readable(r))
		return false;
	bool is = cat_json_element(r->a[0].s, r->a[1].i, &part);
	return found(r, is, part, text);
}

bool
sql_json_element(struct sql_row *r)
{
	return element(r, false);
}

bool
sql_json_element_text(struct sql_row *r)
{
	return element(r, true);
}

/* One step of a path; an array wants a number. */
static bool
step(struct cat_str *at, struct cat_str key, struct nam_arena *arena)
{
	if (cat_json_kind(*at) == CAT_JSON_OBJECT)
		return cat_json_member(*at, key, at, arena);
	bool minus = key.len > 0 && key.p[0] == '-';
	int64_t n = 0;
	if (key.len == minus || key.len > 10)
		return false;
	for (uint32_t k = minus; k < key.len; k++) {
		if (key.p[k] < '0' || key.p[k] > '9')
			return false;
		n = n * 10 + (key.p[k] - '0');
	}
	return cat_json_element(*at, minus ? -n : n, at);
}

static bool
malformed(struct sql_row *r, struct cat_str s)
{
	return cat_error(
	    r->env->err, "22P02", "malformed array literal: \"%.*s\"", (int)(s.len > 200 ? 200 : s.len), s.p);
}

static bool
blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The path is a list of words as PostgreSQL writes an array of texts: {a,0,"b c"}. */
static bool
path(struct sql_row *r, bool text)
{
	struct cat_str at = r->a[0].s, s = r->a[1].s, whole = s;
	bool is = true;
	if (!sql_json_readable(r))
		return false;
	while (s.len > 0 && blank(s.p[0]))
		s.p++, s.len--;
	while (s.len > 0 && blank(s.p[s.len - 1]))
		s.len--;
	if (s.len < 2 || s.p[0] != '{' || s.p[s.len - 1] != '}')
		return malformed(r, whole);
	const char *p = s.p + 1, *end = s.p + s.len - 1;
	char *word = nam_arena_take(r->env->arena, s.len);
	if (word == NULL)
		return sql_oom(r->env->err);
	while (p < end && blank(*p))
		p++;
	for (bool first = true; first ? p < end : true; first = false) {
		uint32_t n = 0, keep = 0;
		while (p < end && blank(*p))
			p++;
		bool quoted = p < end && *p == '"';
		p += quoted;
		for (; p < end && (quoted ? *p != '"' : *p != ','); p++) {
			if (!quoted && (*p == '{' || *p == '}' || *p == '"'))
				return malformed(r, whole);
			bool escaped = *p == '\\' && p + 1 < end;
			p += escaped;
			word[n++] = *p;
			if (quoted || escaped || !blank(*p))
				keep = n;
		}
		if (quoted) {
			if (p == end)
				return malformed(r, whole);
			for (p++; p < end && blank(*p);)
				p++;
		}
		if ((!quoted && keep == 0) || (p < end && *p != ','))
			return malformed(r, whole);
		/* an unquoted NULL finds nothing */
		if (!quoted && keep == 4 && strncasecmp(word, "null", 4) == 0)
			is = false;
		is = is && step(&at, (struct cat_str){ word, quoted ? n : keep }, r->env->arena);
		if (p == end)
			break;
		p++;
	}
	return found(r, is, at, text);
}

bool
sql_json_path(struct sql_row *r)
{
	return path(r, false);
}

bool
sql_json_path_text(struct sql_row *r)
{
	return path(r, true);
}

/* The path is an array of texts. */
static bool
names(struct sql_row *r, bool text)
{
	struct sql_elements x;
	struct cat_str at = r->a[0].s;
	bool is = true;
	if (!sql_json_readable(r))
		return false;
	if (!sql_array_load(r->env, CAT_ARRAY | CAT_TEXT, r->a[1].s, 0, &x))
		return false;
	for (uint32_t k = 0; k < x.a.n && is; k++)
		is = !x.null[k] && step(&at, x.v[k].s, r->env->arena);
	return found(r, is, at, text);
}

bool
sql_json_names(struct sql_row *r)
{
	return names(r, false);
}

bool
sql_json_names_text(struct sql_row *r)
{
	return names(r, true);
}

bool
sql_json_typeof(struct sql_row *r)
{
	static const char *const words[] = { "null", "boolean", "number", "string", "array", "object" };
	const char *w = words[cat_json_kind(r->a[0].s)];
	r->out.s = (struct cat_str){ w, (uint32_t)strlen(w) };
	return true;
}

bool
sql_json_length(struct sql_row *r)
{
	enum cat_json_kind k = cat_json_kind(r->a[0].s);
	if (k != CAT_JSON_ARRAY)
		return cat_error(r->env->err, "22023", "cannot get array length of a %s",
		    k == CAT_JSON_OBJECT ? "non-array" : "scalar");
	r->out.i = cat_json_length(r->a[0].s);
	return true;
}

#define J CAT_JSON
#define T CAT_TEXT
#define OP(op, b, ret, f)                                                                                    \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { J, b }, ret, NULL, f                                                     \
	}

const struct sql_fn sql_fns_json[] = {
	OP("->", T, J, sql_json_member),
	OP("->", CAT_INT4, J, sql_json_element),
	OP("->>", T, T, sql_json_member_text),
	OP("->>", CAT_INT4, T, sql_json_element_text),
	OP("#>", T, J, sql_json_path),
	OP("#>>", T, T, sql_json_path_text),
	OP("#>", CAT_ARRAY | T, J, sql_json_names),
	OP("#>>", CAT_ARRAY | T, T, sql_json_names_text),
	{ "json_typeof", 0, 1, { J }, T, NULL, sql_json_typeof },
	{ "json_array_length", 0, 1, { J }, CAT_INT4, NULL, sql_json_length },
	{ 0 },
};
