/* string.c -- format() and quoting; bytes in other alphabets: base64, escape; counting NULLs. */
#include <sql/expr/expr_internal.h>
#include <types/binary.h>

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool
plain_name(struct cat_str s)
{
	if (s.len == 0 || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (uint32_t k = 0; k < s.len; k++)
		if (!((s.p[k] >= 'a' && s.p[k] <= 'z') || (s.p[k] >= '0' && s.p[k] <= '9') || s.p[k] == '_'))
			return false;
	return bsearch(&s, keywords, sizeof keywords / sizeof *keywords, sizeof *keywords, by_word) == NULL;
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
	struct cat_str t = cat_value_out(r->e->args[0]->type, r->a[0], r->env->arena);
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
	struct cat_str t = cat_value_out(r->e->args[at]->type, r->a[at], r->env->arena);
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
	struct cat_str v = cat_value_out(r->e->args[at]->type, r->a[at], r->env->arena);
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

/* ---- bytes and text ----------------------------------------------------------------- */

static bool
is(struct cat_str s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.p, word, s.len) == 0;
}

static bool
no_encoding(struct sql_row *r)
{
	struct cat_str s = r->a[1].s;
	return cat_error(
	    r->env->err, "22023", "unrecognized encoding: \"%.*s\"", (int)(s.len > 60 ? 60 : s.len), s.p);
}

/* Lines of 76 characters, as in a mail. */
static bool
to_base64(struct sql_row *r, struct cat_str s)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p = nam_arena_take(r->env->arena, (size_t)s.len * 2 + 8), *q = p, *line = p;
	if (p == NULL)
		return sql_oom(r->env->err);
	for (uint32_t k = 0; k < s.len; k += 3) {
		uint32_t left = s.len - k, v = (uint32_t)(unsigned char)s.p[k] << 16;
		v |= left > 1 ? (uint32_t)(unsigned char)s.p[k + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)(unsigned char)s.p[k + 2] : 0;
		if (q - line == 76) {
			*q++ = '\n';
			line = q;
		}
		*q++ = digit[v >> 18];
		*q++ = digit[v >> 12 & 63];
		*q++ = left > 1 ? digit[v >> 6 & 63] : '=';
		*q++ = left > 2 ? digit[v & 63] : '=';
	}
	r->out.s = (struct cat_str){ p, (uint32_t)(q - p) };
	return true;
}

static int
base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool
from_base64(struct sql_row *r, struct cat_str s)
{
	char *p = nam_arena_take(r->env->arena, (size_t)s.len + 4), *q = p;
	if (p == NULL)
		return sql_oom(r->env->err);
	uint32_t v = 0;
	unsigned pos = 0, end = 0;
	for (uint32_t k = 0; k < s.len; k++) {
		char c = s.p[k];
		int d;
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		if (c == '=') {
			/* only as the third or fourth of four */
			if (end == 0 && pos < 2)
				return cat_error(
				    r->env->err, "22023", "unexpected \"=\" while decoding base64 sequence");
			end = end ? end : pos == 2 ? 1 : 2;
			d = 0;
		} else if ((d = base64_digit(c)) < 0) {
			uint32_t at = k;
			sql_utf8_get(s, &at);
			return cat_error(r->env->err, "22023",
			    "invalid symbol \"%.*s\" found while decoding base64 sequence", (int)(at - k),
			    s.p + k);
		}
		v = v << 6 | (uint32_t)d;
		if (++pos == 4) {
			*q++ = (char)(v >> 16);
			if (end == 0 || end > 1)
				*q++ = (char)(v >> 8);
			if (end == 0 || end > 2)
				*q++ = (char)v;
			pos = 0;
			v = 0;
		}
	}
	if (pos != 0) {
		cat_error(r->env->err, "22023", "invalid base64 end sequence");
		snprintf(r->env->err->hint, sizeof r->env->err->hint,
		    "Input data is missing padding, is truncated, or is otherwise corrupted.");
		return false;
	}
	r->out.s = (struct cat_str){ p, (uint32_t)(q - p) };
	return true;
}

static bool
to_escape(struct sql_row *r, struct cat_str s)
{
	char *p = nam_arena_take(r->env->arena, (size_t)s.len * 4 + 1), *q = p;
	if (p == NULL)
		return sql_oom(r->env->err);
	for (uint32_t k = 0; k < s.len; k++) {
		unsigned char c = (unsigned char)s.p[k];
		if (c == 0 || c >= 0x80) {
			*q++ = '\\';
			*q++ = (char)('0' + (c >> 6));
			*q++ = (char)('0' + (c >> 3 & 7));
			*q++ = (char)('0' + (c & 7));
		} else {
			if (c == '\\')
				*q++ = '\\';
			*q++ = (char)c;
		}
	}
	r->out.s = (struct cat_str){ p, (uint32_t)(q - p) };
	return true;
}

static bool
k_encode(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, how = r->a[1].s;
	if (s.len > TEXT_MAX / 4)
		return cat_error(r->env->err, "54000", "result of encoding conversion is too large");
	if (is(how, "base64"))
		return to_base64(r, s);
	if (is(how, "escape"))
		return to_escape(r, s);
	if (!is(how, "hex"))
		return no_encoding(r);
	char *p = nam_arena_take(r->env->arena, 2 * (size_t)s.len + 1);
	if (p == NULL)
		return sql_oom(r->env->err);
	cat_hex_out(s.p, s.len, p);
	r->out.s = (struct cat_str){ p, 2 * s.len };
	return true;
}

/* What bytea's own text form says of backslashes, but \x means nothing here. */
static bool
from_escape(struct sql_row *r, struct cat_str s)
{
	if (s.len >= 2 && s.p[0] == '\\' && s.p[1] == 'x')
		return cat_error(r->env->err, "22P02", "invalid input syntax for type bytea");
	return cat_bytea_in(s, &r->out.s, r->env->arena, r->env->err);
}

static bool
k_decode(struct sql_row *r)
{
	if (is(r->a[1].s, "base64"))
		return from_base64(r, r->a[0].s);
	if (is(r->a[1].s, "escape"))
		return from_escape(r, r->a[0].s);
	if (!is(r->a[1].s, "hex"))
		return no_encoding(r);
	return cat_hex_in(r->a[0].s, &r->out.s, r->env->arena, r->env->err);
}

static bool
digest(struct sql_row *r, const EVP_MD *md)
{
	unsigned n = 0;
	unsigned char *p = nam_arena_take(r->env->arena, EVP_MAX_MD_SIZE);
	if (p == NULL || EVP_Digest(r->a[0].s.p, r->a[0].s.len, p, &n, md, NULL) != 1)
		return sql_oom(r->env->err);
	r->out.s = (struct cat_str){ (char *)p, n };
	return true;
}

static bool
k_sha224(struct sql_row *r)
{
	return digest(r, EVP_sha224());
}

static bool
k_sha384(struct sql_row *r)
{
	return digest(r, EVP_sha384());
}

static bool
bit_at(struct sql_row *r, int64_t *n)
{
	int64_t bits = (int64_t)r->a[0].s.len * 8;
	*n = r->a[1].i;
	return (*n >= 0 && *n < bits) ||
	       cat_error(r->env->err, "2202E", "index %lld out of valid range, 0..%lld", (long long)*n,
		   (long long)bits - 1);
}

static bool
k_get_bit(struct sql_row *r)
{
	int64_t n;
	if (!bit_at(r, &n))
		return false;
	r->out.i = (unsigned char)r->a[0].s.p[n / 8] >> (n % 8) & 1;
	return true;
}

static bool
k_set_bit(struct sql_row *r)
{
	int64_t n, v = r->a[2].i;
	if (!bit_at(r, &n))
		return false;
	if (v != 0 && v != 1)
		return cat_error(r->env->err, "22023", "new bit must be 0 or 1");
	char *p = nam_arena_copy(r->env->arena, r->a[0].s.p, r->a[0].s.len);
	if (p == NULL)
		return sql_oom(r->env->err);
	p[n / 8] = (char)(((unsigned char)p[n / 8] & ~(1u << (n % 8))) | (unsigned)v << (n % 8));
	r->out.s = (struct cat_str){ p, r->a[0].s.len };
	return true;
}

static bool
k_bit_count(struct sql_row *r)
{
	r->out.i = 0;
	for (uint32_t k = 0; k < r->a[0].s.len; k++)
		r->out.i += __builtin_popcount((unsigned char)r->a[0].s.p[k]);
	return true;
}

/* btrim and its kin over bytes. */
static bool
trim_bytes(struct sql_row *r, bool left, bool right)
{
	struct cat_str s = r->a[0].s, set = r->a[1].s;
	while (left && s.len > 0 && set.len > 0 && memchr(set.p, s.p[0], set.len) != NULL) {
		s.p++;
		s.len--;
	}
	while (right && s.len > 0 && set.len > 0 && memchr(set.p, s.p[s.len - 1], set.len) != NULL)
		s.len--;
	r->out.s = s;
	return true;
}

static bool
k_btrim(struct sql_row *r)
{
	return trim_bytes(r, true, true);
}

static bool
k_ltrim(struct sql_row *r)
{
	return trim_bytes(r, true, false);
}

static bool
k_rtrim(struct sql_row *r)
{
	return trim_bytes(r, false, true);
}

static bool
k_overlay(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, by = r->a[1].s;
	int64_t from = r->a[2].i, count = r->n > 3 ? r->a[3].i : by.len, behind = from + count;
	if (from <= 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	if (behind > INT32_MAX)
		return cat_error(r->env->err, "22003", "integer out of range");
	uint32_t a = from - 1 > s.len ? s.len : (uint32_t)(from - 1);
	uint32_t b = behind <= 1 ? 0 : behind - 1 > s.len ? s.len : (uint32_t)(behind - 1);
	struct sql_writer w = { .env = r->env };
	if (!sql_put(&w, s.p, a) || !sql_put_str(&w, by) || !sql_put(&w, s.p + b, s.len - b))
		return false;
	r->out.s = sql_written(&w);
	return true;
}

static bool
utf8_only(struct sql_row *r, unsigned at)
{
	struct cat_str s = r->a[at].s;
	if (is(s, "utf8") || is(s, "utf-8") || is(s, "unicode"))
		return true;
	return cat_error(r->env->err, "0A000", "encoding \"%.*s\" is not supported yet",
	    (int)(s.len > 60 ? 60 : s.len), s.p);
}

static bool
k_convert_from(struct sql_row *r)
{
	if (!utf8_only(r, 1))
		return false;
	return cat_value_in(CAT_TEXT, -1, r->a[0].s, &r->out, r->env->arena, r->env->err);
}

static bool
k_convert_to(struct sql_row *r)
{
	r->out.s = r->a[0].s;
	return utf8_only(r, 1);
}

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
#define B CAT_BYTEA
#define I CAT_INT4
#define F(name, n, ret, f, ...)                                                                              \
	{                                                                                                    \
		name, 0, n, { __VA_ARGS__ }, ret, NULL, f                                                    \
	}
#define ANY(name, n, ret, f)                                                                                 \
	{                                                                                                    \
		name, SQL_FN_ANY | SQL_FN_NULLS, n, { 0 }, ret, NULL, f                                      \
	}

const struct sql_fn sql_fns_string[] = {
	F("quote_ident", 1, T, k_quote_ident, T),
	{ "quote_literal", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_EXACT, 1, { 0 }, T, NULL, k_quote_literal },
	{ "quote_nullable", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_EXACT, 1, { 0 }, T, NULL, k_quote_nullable },
	{ "format", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_TEXT1, 1, { 0 }, T, NULL, k_format },
	F("encode", 2, T, k_encode, B, T),
	F("decode", 2, B, k_decode, T, T),
	F("sha224", 1, B, k_sha224, B),
	F("sha384", 1, B, k_sha384, B),
	F("get_bit", 2, I, k_get_bit, B, CAT_INT8),
	F("set_bit", 3, B, k_set_bit, B, CAT_INT8, I),
	F("bit_count", 1, CAT_INT8, k_bit_count, B),
	F("btrim", 2, B, k_btrim, B, B),
	F("ltrim", 2, B, k_ltrim, B, B),
	F("rtrim", 2, B, k_rtrim, B, B),
	F("overlay", 3, B, k_overlay, B, B, I),
	F("overlay", 4, B, k_overlay, B, B, I, I),
	F("convert_from", 2, T, k_convert_from, B, T),
	F("convert_to", 2, B, k_convert_to, T, T),
	F("unistr", 1, T, k_unistr, T),
	ANY("num_nulls", 1, I, k_num_nulls),
	ANY("num_nonnulls", 1, I, k_num_nonnulls),
	{ 0 },
};
