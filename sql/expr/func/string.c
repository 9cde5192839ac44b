/* string.c -- format(), quoting and parse_ident(); Unicode escapes; counting NULLs. */
#include <sql/expr/func/table.h>
#include <types/array.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 256 << 20 };

bool
sql_put(struct sql_writer *w, const char *p, size_t n)
{
	if (w->n + n > w->cap) {
		size_t cap = (w->n + n) * 2 + 16;
		if (w->n + n > TEXT_MAX)
			return cat_error(w->env->err, "54000", "requested length too large");
		char *to = nam_arena_take(w->env->arena, cap);
		if (to == NULL)
			return sql_oom(w->env->err);
		if (w->n > 0)
			memcpy(to, w->p, w->n);
		w->p = to;
		w->cap = cap;
	}
	if (n > 0)
		memcpy(w->p + w->n, p, n);
	w->n += n;
	return true;
}

/* ---- quoting ----------------------------------------------------------------------- */

/* PostgreSQL's keywords that may not stand everywhere as names, sorted. */
static const char *const keywords[] = { "all", "analyse", "analyze", "and", "any", "array", "as", "asc",
	"asymmetric", "authorization", "between", "bigint", "binary", "bit", "boolean", "both", "case",
	"cast", "char", "character", "check", "coalesce", "collate", "collation", "column", "concurrently",
	"constraint", "create", "cross", "current_catalog", "current_date", "current_role", "current_schema",
	"current_time", "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable",
	"desc", "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
	"for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having",
	"ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into", "is",
	"isnull", "join", "lateral", "leading", "least", "left", "like", "limit", "localtime",
	"localtimestamp", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
	"nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps", "overlay",
	"placing", "position", "precision", "primary", "real", "references", "returning", "right", "row",
	"select", "session_user", "setof", "similar", "smallint", "some", "substring", "symmetric", "table",
	"tablesample", "then", "time", "timestamp", "to", "trailing", "treat", "trim", "true", "union",
	"unique", "user", "using", "values", "varchar", "variadic", "verbose", "when", "where", "window",
	"with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces",
	"xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable" };

static int
by_word(const void *key, const void *member)
{
	const struct cat_str *s = key;
	const char *w = *(const char *const *)member;
	int c = strncmp(s->p, w, s->len);
	return c != 0 ? c : w[s->len] == 0 ? 0 : -1;
}

bool
sql_is_keyword(struct cat_str s)
{
	return bsearch(&s, keywords, sizeof keywords / sizeof *keywords, sizeof *keywords, by_word) != NULL;
}

static bool
plain_name(struct cat_str s)
{
	if (s.len == 0 || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (uint32_t k = 0; k < s.len; k++)
		if (!((s.p[k] >= 'a' && s.p[k] <= 'z') || (s.p[k] >= '0' && s.p[k] <= '9') || s.p[k] == '_'))
			return false;
	return !sql_is_keyword(s);
}

bool
sql_put_ident(struct sql_writer *w, struct cat_str s)
{
	if (plain_name(s))
		return sql_put_str(w, s);
	if (!sql_put_char(w, '"'))
		return false;
	for (uint32_t k = 0; k < s.len; k++)
		if ((s.p[k] == '"' && !sql_put_char(w, '"')) || !sql_put_char(w, s.p[k]))
			return false;
	return sql_put_char(w, '"');
}

bool
sql_put_literal(struct sql_writer *w, struct cat_str s)
{
	if (s.len > 0 && memchr(s.p, '\\', s.len) != NULL && !sql_put_char(w, 'E'))
		return false;
	if (!sql_put_char(w, '\''))
		return false;
	for (uint32_t k = 0; k < s.len; k++)
		if (((s.p[k] == '\'' || s.p[k] == '\\') && !sql_put_char(w, s.p[k])) ||
		    !sql_put_char(w, s.p[k]))
			return false;
	return sql_put_char(w, '\'');
}

static bool
k_quote_ident(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (!sql_put_ident(&w, r->a[0].s))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_quote_literal(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (r->null[0])
		return r->out_null = true;
	struct cat_str t = sql_value_text(r->env, r->e->args[0]->type, r->a[0]);
	if (r->e->args[0]->type == CAT_BPCHAR &&
	    !cat_value_canonical(CAT_BPCHAR, t, &t, r->env->arena)) /* as a text */
		return sql_oom(r->env->err);
	if (r->e->args[0]->type == CAT_BOOL) /* as a cast says it */
		t = r->a[0].i ? (struct cat_str){ "true", 4 } : (struct cat_str){ "false", 5 };
	if (!sql_put_literal(&w, t))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
k_quote_nullable(struct sql_row *r)
{
	if (!r->null[0])
		return k_quote_literal(r);
	r->out.s = (struct cat_str){ "NULL", 4 };
	return true;
}

/* ---- format ------------------------------------------------------------------------ */

struct spec {
	int64_t arg, width_arg, width; /* the args: -1 none, 0 the next one */
	bool left;
};

static bool
spec_error(struct sql_row *r, const char *what)
{
	snprintf(r->env->err->hint, sizeof r->env->err->hint, "For a single \"%%\" use \"%%%%\".");
	return cat_error(r->env->err, "22023", "%s", what);
}

/* A step further in the format, which must go on. */
static bool
advance(struct sql_row *r, uint32_t *k)
{
	return ++*k < r->a[0].s.len || spec_error(r, "unterminated format() type specifier");
}

/* Digits at *k: *any says whether there were some. */
static bool
digits(struct sql_row *r, uint32_t *k, int64_t *n, bool *any)
{
	const char *p = r->a[0].s.p;
	*n = 0;
	*any = false;
	while (p[*k] >= '0' && p[*k] <= '9') {
		*n = *n * 10 + (p[*k] - '0');
		if (*n > INT32_MAX)
			return cat_error(r->env->err, "22003", "number is out of range");
		if (!advance(r, k))
			return false;
		*any = true;
	}
	return true;
}

static bool
from_one(struct sql_row *r)
{
	return cat_error(
	    r->env->err, "22023", "format specifies argument 0, but arguments are numbered from 1");
}

/* What stands between % and the letter of a type, at which *k ends. */
static bool
spec_read(struct sql_row *r, uint32_t *k, struct spec *s)
{
	const char *p = r->a[0].s.p;
	int64_t n;
	bool any;
	*s = (struct spec){ -1, -1, 0, false };
	if (!digits(r, k, &n, &any))
		return false;
	if (any) {
		if (p[*k] != '$') {
			s->width = n;
			return true;
		}
		s->arg = n;
		if (n == 0)
			return from_one(r);
		if (!advance(r, k))
			return false;
	}
	while (p[*k] == '-') {
		s->left = true;
		if (!advance(r, k))
			return false;
	}
	if (p[*k] != '*')
		return digits(r, k, &s->width, &any);
	if (!advance(r, k) || !digits(r, k, &n, &any))
		return false;
	s->width_arg = 0;
	if (!any)
		return true;
	if (p[*k] != '$')
		return cat_error(r->env->err, "22023", "width argument position must be ended by \"$\"");
	if (n == 0)
		return from_one(r);
	s->width_arg = n;
	return advance(r, k);
}

static bool
take_arg(struct sql_row *r, int64_t given, int64_t *next, unsigned *at)
{
	if (given > 0)
		*next = given;
	if (*next >= r->n)
		return cat_error(r->env->err, "22023", "too few arguments for format()");
	*at = (unsigned)*next;
	++*next;
	return true;
}

static bool
width_of(struct sql_row *r, unsigned at, struct spec *s)
{
	if (r->null[at])
		return true;
	struct cat_str t = sql_value_text(r->env, r->e->args[at]->type, r->a[at]);
	union cat_val v;
	if (!cat_value_in(CAT_INT4, -1, t, &v, r->env->arena, r->env->err))
		return false;
	if (v.i == INT32_MIN)
		return cat_error(r->env->err, "22003", "number is out of range");
	s->left |= v.i < 0;
	s->width = v.i < 0 ? -v.i : v.i;
	return true;
}

static bool
put_padded(struct sql_writer *w, const struct spec *s, struct cat_str t)
{
	int64_t chars = 0;
	for (uint32_t k = 0; k < t.len; k++)
		chars += ((uint8_t)t.p[k] & 0xc0) != 0x80;
	if (s->left && !sql_put_str(w, t))
		return false;
	if (s->width - chars > TEXT_MAX)
		return cat_error(w->env->err, "54000", "requested length too large");
	for (int64_t n = chars; n < s->width; n++)
		if (!sql_put_char(w, ' '))
			return false;
	return s->left || sql_put_str(w, t);
}

static bool
put_arg(struct sql_row *r, struct sql_writer *w, const struct spec *s, char letter, unsigned at)
{
	if (r->null[at]) {
		if (letter == 'I')
			return cat_error(
			    r->env->err, "22004", "null values cannot be formatted as an SQL identifier");
		return put_padded(w, s, (struct cat_str){ "NULL", letter == 'L' ? 4 : 0 });
	}
	struct sql_writer t = { .env = r->env };
	struct cat_str v = sql_value_text(r->env, r->e->args[at]->type, r->a[at]);
	if (letter == 's')
		return put_padded(w, s, v);
	return (letter == 'I' ? sql_put_ident(&t, v) : sql_put_literal(&t, v)) &&
	       put_padded(w, s, sql_written(&t));
}

static bool
k_format(struct sql_row *r)
{
	struct sql_writer w = { .env = r->env };
	if (r->null[0])
		return r->out_null = true;
	struct cat_str f = r->a[0].s;
	int64_t next = 1;
	for (uint32_t k = 0; k < f.len; k++) {
		if (f.p[k] != '%') {
			if (!sql_put_char(&w, f.p[k]))
				return false;
			continue;
		}
		if (!advance(r, &k))
			return false;
		if (f.p[k] == '%') {
			if (!sql_put_char(&w, '%'))
				return false;
			continue;
		}
		struct spec s;
		unsigned at = 0;
		if (!spec_read(r, &k, &s))
			return false;
		if (f.p[k] != 's' && f.p[k] != 'I' && f.p[k] != 'L') {
			char what[64];
			uint32_t end = k;
			sql_utf8_get(f, &end);
			snprintf(what, sizeof what, "unrecognized format() type specifier \"%.*s\"",
			    (int)(end - k), f.p + k);
			return spec_error(r, what);
		}
		if (s.width_arg >= 0 && (!take_arg(r, s.width_arg, &next, &at) || !width_of(r, at, &s)))
			return false;
		if (!take_arg(r, s.arg, &next, &at) || !put_arg(r, &w, &s, f.p[k], at))
			return false;
	}
	r->out.s = sql_written(&w);
	return true;
}

/* ---- Unicode escapes ---------------------------------------------------------------- */

/* Hexadecimal digits at k: their value, -1 when they are not there. */
static int64_t
code_point(struct cat_str s, uint32_t k, unsigned n)
{
	int64_t v = 0;
	if (k + n > s.len)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		char c = (char)(s.p[k + i] | 32);
		bool digit = s.p[k + i] >= '0' && s.p[k + i] <= '9';
		if (!digit && !(c >= 'a' && c <= 'f'))
			return -1;
		v = v * 16 + (digit ? s.p[k + i] - '0' : c - 'a' + 10);
	}
	return v;
}

static bool
bad_escape(struct sql_row *r)
{
	cat_error(r->env->err, "42601", "invalid Unicode escape");
	snprintf(r->env->err->hint, sizeof r->env->err->hint,
	    "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
	return false;
}

/* \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX become what they name. */
static bool
k_unistr(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	struct sql_writer w = { .env = r->env };
	int64_t high = 0;
	for (uint32_t k = 0; k < s.len;) {
		if (s.p[k] != '\\' || (k + 1 < s.len && s.p[k + 1] == '\\')) {
			if (high)
				return cat_error(r->env->err, "42601", "invalid Unicode surrogate pair");
			if (!sql_put_char(&w, s.p[k]))
				return false;
			k += s.p[k] == '\\' ? 2 : 1;
			continue;
		}
		char kind = k + 1 < s.len ? s.p[k + 1] : 0;
		unsigned n = kind == '+'   ? 6
			     : kind == 'U' ? 8
					   : 4,
			 skip = kind == '+' || kind == 'u' || kind == 'U' ? 2 : 1;
		int64_t c = code_point(s, k + skip, n);
		if (c < 0)
			return bad_escape(r);
		if (c == 0 || c > 0x10ffff)
			return cat_error(r->env->err, "22023", "invalid Unicode code point: %04llX",
			    (unsigned long long)c);
		k += skip + n;
		bool low = c >= 0xdc00 && c < 0xe000;
		if (low != (high != 0))
			return cat_error(r->env->err, "42601", "invalid Unicode surrogate pair");
		if (c >= 0xd800 && c < 0xdc00) {
			high = c;
			continue;
		}
		if (low)
			c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
		high = 0;
		char to[4] = { 0 };
		unsigned n_to = sql_utf8_put((uint32_t)c, to);
		if (!sql_put(&w, to, n_to))
			return false;
	}
	if (high)
		return cat_error(r->env->err, "42601", "invalid Unicode surrogate pair");
	r->out.s = sql_written(&w);
	return true;
}

/* ---- parse_ident ----------------------------------------------------------------------- */

static bool
no_ident(struct sql_row *r, const char *detail)
{
	struct cat_err *err = r->env->err;
	struct cat_str s = r->a[0].s;
	cat_error(err, "22023", "string is not a valid identifier: \"%.*s\"",
	    (int)(s.len > 200 ? 200 : s.len), s.p);
	snprintf(err->detail, sizeof err->detail, "%s", detail);
	return false;
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
begins_ident(char c)
{
	return c == '_' || (unsigned char)c >= 0x80 || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool
goes_on_ident(char c)
{
	return begins_ident(c) || (c >= '0' && c <= '9') || c == '$';
}

/* One name at *k: in double quotes, or in small letters. *found: there is one. */
static bool
one_ident(struct sql_row *r, uint32_t *k, struct sql_writer *w, bool *found)
{
	struct cat_str s = r->a[0].s;
	uint32_t at = *k;
	bool quoted = at < s.len && s.p[at] == '"';
	*w = (struct sql_writer){ .env = r->env };
	*found = quoted || (at < s.len && begins_ident(s.p[at]));
	for (; !quoted && *found && at < s.len && goes_on_ident(s.p[at]); at++) {
		char c = s.p[at];
		if (!sql_put_char(w, c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c))
			return false;
	}
	for (at += quoted; quoted; at++) {
		if (at >= s.len)
			return no_ident(r, "String has unclosed double quotes.");
		if (s.p[at] == '"' && (at + 1 >= s.len || s.p[at + 1] != '"'))
			break;
		at += s.p[at] == '"';
		if (!sql_put_char(w, s.p[at]))
			return false;
	}
	if (quoted && w->n == 0)
		return no_ident(r, "Quoted identifier must not be empty.");
	*k = at + quoted;
	return true;
}

/* parse_ident(text, strict): the names that dots part. */
static bool
k_parse_ident(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	struct cat_array_build all = { 0 };
	bool after_dot = false, found, strict = r->n < 2 || r->a[1].i;
	for (uint32_t k = 0;; after_dot = true) {
		struct sql_writer w;
		while (k < s.len && is_blank(s.p[k]))
			k++;
		if (!one_ident(r, &k, &w, &found))
			return false;
		if (!found)
			return no_ident(r, k < s.len && s.p[k] == '.' ? "No valid identifier before \".\"."
					   : after_dot                ? "No valid identifier after \".\"."
								      : "");
		union cat_val v = { .s = sql_written(&w) };
		if (!cat_array_push(&all, CAT_TEXT, v, false, r->env->arena, r->env->err))
			return false;
		while (k < s.len && is_blank(s.p[k]))
			k++;
		if (k < s.len && s.p[k] == '.') {
			k++;
			continue;
		}
		if (k < s.len && strict)
			return no_ident(r, "");
		break;
	}
	return cat_array_make(CAT_TEXT, 1, all.v, all.null, all.n, &r->out.s, r->env->arena, r->env->err);
}

/* ---- NULLs -------------------------------------------------------------------------- */

static bool
k_num_nulls(struct sql_row *r)
{
	r->out.i = 0;
	for (unsigned k = 0; k < r->n; k++)
		r->out.i += r->null[k];
	return true;
}

static bool
k_num_nonnulls(struct sql_row *r)
{
	k_num_nulls(r);
	r->out.i = r->n - r->out.i;
	return true;
}

#define T CAT_TEXT
#define I CAT_INT4
#define ANY(name, n, ret, f)                                                                                 \
	{                                                                                                    \
		name, SQL_FN_ANY | SQL_FN_NULLS, n, { 0 }, ret, NULL, f                                      \
	}

const struct sql_fn sql_fns_string[] = {
	F("quote_ident", 1, T, k_quote_ident, T),
	{ "quote_literal", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_EXACT, 1, { 0 }, T, NULL, k_quote_literal },
	{ "quote_nullable", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_EXACT, 1, { 0 }, T, NULL, k_quote_nullable },
	{ "format", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_TEXT1, 1, { 0 }, T, NULL, k_format },
	F("unistr", 1, T, k_unistr, T),
	F("parse_ident", 1, CAT_ARRAY | T, k_parse_ident, T),
	F("parse_ident", 2, CAT_ARRAY | T, k_parse_ident, T, CAT_BOOL),
	ANY("num_nulls", 1, I, k_num_nulls),
	ANY("num_nonnulls", 1, I, k_num_nonnulls),
	{ 0 },
};
