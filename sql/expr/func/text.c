/*
 * text.c -- functions on text. Characters are UTF-8 code points; positions count from 1.
 *
 * Upper and lower case are the C library's simple mappings (C.UTF-8), one character to one.
 */
#include <sql/expr/func/table.h>
#include <types/numeric.h>

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

enum { TEXT_MAX = 256 << 20 }; /* longest result of repeat, lpad, replace ... */

static inline bool
starts_char(char c)
{
	return ((uint8_t)c & 0xc0) != 0x80;
}

static uint32_t
chars(struct cat_str s)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < s.len; k++)
		n += starts_char(s.p[k]);
	return n;
}

/* Byte offset of character number n (from 0), at most s.len. */
static uint32_t
offset(struct cat_str s, int64_t n)
{
	uint32_t k = 0;
	if (n >= s.len)
		return s.len;
	for (; n > 0 && k < s.len; n--)
		for (k++; k < s.len && !starts_char(s.p[k]); k++)
			;
	return k;
}

uint32_t
sql_utf8_get(struct cat_str s, uint32_t *k)
{
	uint8_t c = (uint8_t)s.p[*k];
	unsigned n = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	uint32_t v = n == 0 ? c : c & (0x3fu >> n);
	for ((*k)++; n > 0 && *k < s.len; n--, (*k)++)
		v = v << 6 | ((uint8_t)s.p[*k] & 0x3f);
	return v;
}

unsigned
sql_utf8_put(uint32_t c, char *to)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (unsigned k = n; k-- > 1; c >>= 6)
		to[k] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)((0xf00 >> n & 0xff) | c);
	return n;
}

static bool
too_long(struct sql_row *r)
{
	return cat_error(r->env->err, "54000", "requested length too large");
}

static char *
room(struct sql_row *r, uint64_t n)
{
	if (n > TEXT_MAX) {
		too_long(r);
		return NULL;
	}
	if (n >= SQL_WORK_PIECE && !sql_work(r->env, n))
		return NULL;
	char *p = nam_arena_take(r->env->arena, n ? n : 1);
	if (p == NULL)
		sql_oom(r->env->err);
	return p;
}

/* ---- case ------------------------------------------------------------------------------ */

static locale_t utf8_locale;
static pthread_once_t utf8_once = PTHREAD_ONCE_INIT;

static void
utf8_open(void)
{
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

uint32_t
sql_char_case(uint32_t c, bool upper)
{
	if (c < 0x80)
		return upper ? (c >= 'a' && c <= 'z' ? c - 32 : c) : (c >= 'A' && c <= 'Z' ? c + 32 : c);
	pthread_once(&utf8_once, utf8_open);
	if (utf8_locale == (locale_t)0)
		return c;
	return (uint32_t)(upper ? towupper_l((wint_t)c, utf8_locale) : towlower_l((wint_t)c, utf8_locale));
}

bool
sql_char_is(uint32_t c, enum sql_char_class k)
{
	static const char *const names[SQL_CHAR_CLASSES] = { "alpha", "digit", "alnum", "upper", "lower",
		"space", "blank", "punct", "print", "graph", "cntrl", "xdigit", "alnum" };
	if (k == SQL_CHAR_WORD && c == '_')
		return true;
	pthread_once(&utf8_once, utf8_open);
	if (utf8_locale == (locale_t)0)
		return c < 0x80 && iswctype((wint_t)c, wctype(names[k]));
	return iswctype_l((wint_t)c, wctype_l(names[k], utf8_locale), utf8_locale);
}

bool
sql_case(struct cat_str s, bool upper, struct cat_str *out, struct nam_arena *arena)
{
	char *p = nam_arena_take(arena, (size_t)s.len * 2 + 4); /* a mapping may be a byte longer */
	if (p == NULL)
		return false;
	uint32_t n = 0;
	for (uint32_t k = 0; k < s.len;) {
		if ((uint8_t)s.p[k] < 0x80)
			p[n++] = (char)sql_char_case((uint8_t)s.p[k++], upper);
		else
			n += sql_utf8_put(sql_char_case(sql_utf8_get(s, &k), upper), p + n);
	}
	*out = (struct cat_str){ p, n };
	return true;
}

static bool
k_lower(struct sql_row *r)
{
	return sql_case(r->a[0].s, false, &r->out.s, r->env->arena) || sql_oom(r->env->err);
}

static bool
k_upper(struct sql_row *r)
{
	return sql_case(r->a[0].s, true, &r->out.s, r->env->arena) || sql_oom(r->env->err);
}

static bool
k_initcap(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	char *p = room(r, (uint64_t)s.len * 2 + 4);
	if (p == NULL)
		return false;
	uint32_t n = 0;
	bool inside = false;
	for (uint32_t k = 0; k < s.len;) {
		uint32_t c = sql_utf8_get(s, &k);
		n += sql_utf8_put(sql_char_case(c, !inside), p + n);
		pthread_once(&utf8_once, utf8_open);
		inside = c < 0x80 ? (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
				  : utf8_locale != (locale_t)0 && iswalnum_l((wint_t)c, utf8_locale);
	}
	r->out.s = (struct cat_str){ p, n };
	return true;
}

/* ---- length and parts ----------------------------------------------------------------------- */

static bool
k_length(struct sql_frame *f)
{
	const struct cat_str *x = f->arg[0].s;
	int64_t *o = f->out->i;
	SQL_EACH(f, o[k] = chars(x[k]));
	return true;
}

static bool
k_octet_length(struct sql_frame *f)
{
	const struct cat_str *x = f->arg[0].s;
	int64_t *o = f->out->i, unit = f->e->fn->name[0] == 'b' ? 8 : 1;
	SQL_EACH(f, o[k] = x[k].len * unit);
	return true;
}

/* Characters from..from+count-1 (counting from 1), as far as there are any. */
static struct cat_str
part(struct cat_str s, int64_t from, int64_t count)
{
	int64_t end = from + count;
	if (from < 1)
		from = 1;
	if (end <= from)
		return (struct cat_str){ "", 0 };
	uint32_t a = offset(s, from - 1);
	struct cat_str rest = { s.p + a, s.len - a };
	return (struct cat_str){ rest.p, offset(rest, end - from) };
}

static bool
k_substring(struct sql_row *r)
{
	int64_t count = r->n > 2 ? r->a[2].i : INT64_C(1) << 40;
	if (count < 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	r->out.s = part(r->a[0].s, r->a[1].i, count);
	return true;
}

/* overlay(s, by, from, count): count characters from `from` on make way for by. */
static bool
k_overlay(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, by = r->a[1].s;
	int64_t from = r->a[2].i, count = r->n > 3 ? r->a[3].i : chars(by);
	if (from <= 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	int64_t behind = from + count;
	if (r->n > 3 && behind > INT32_MAX)
		return cat_error(r->env->err, "22003", "integer out of range");
	uint32_t a = offset(s, from - 1), b = behind > 1 ? offset(s, behind - 1) : 0;
	char *p = room(r, (uint64_t)a + by.len + (s.len - b));
	if (p == NULL)
		return false;
	memcpy(p, s.p, a);
	memcpy(p + a, by.p, by.len);
	memcpy(p + a + by.len, s.p + b, s.len - b);
	r->out.s = (struct cat_str){ p, a + by.len + (s.len - b) };
	return true;
}

static bool
k_left(struct sql_row *r)
{
	int64_t n = r->a[1].i;
	r->out.s = part(r->a[0].s, 1, n >= 0 ? n : chars(r->a[0].s) + n);
	return true;
}

static bool
k_right(struct sql_row *r)
{
	int64_t n = r->a[1].i, all = chars(r->a[0].s);
	int64_t skip = n >= 0 ? all - n : -n;
	r->out.s = part(r->a[0].s, skip < 0 ? 1 : skip + 1, all);
	return true;
}

static const char *
find(struct cat_str s, struct cat_str w)
{
	return w.len == 0 ? s.p : memmem(s.p, s.len, w.p, w.len);
}

static bool
k_strpos(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	const char *at = find(s, r->a[1].s);
	r->out.i = at ? chars((struct cat_str){ s.p, (uint32_t)(at - s.p) }) + 1 : 0;
	return true;
}

static bool
k_starts_with(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, w = r->a[1].s;
	r->out.i = s.len >= w.len && memcmp(s.p, w.p, w.len) == 0;
	return true;
}

static bool
k_split_part(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, d = r->a[1].s;
	int64_t n = r->a[2].i;
	r->out.s = (struct cat_str){ "", 0 };
	if (n == 0)
		return cat_error(r->env->err, "22023", "field position must not be zero");
	if (s.len == 0)
		return true;
	if (d.len == 0) {
		if (n == 1 || n == -1)
			r->out.s = s;
		return true;
	}
	int64_t fields = 1;
	const char *at, *end = s.p + s.len;
	if (n < 0) {
		for (const char *p = s.p; (at = memmem(p, (size_t)(end - p), d.p, d.len)) != NULL;
		     p = at + d.len)
			fields++;
		n += fields + 1;
		if (n <= 0)
			return true;
	}
	for (const char *p = s.p;; p = at + d.len, n--) {
		at = memmem(p, (size_t)(end - p), d.p, d.len);
		if (n == 1) {
			r->out.s = (struct cat_str){ p, (uint32_t)((at ? at : end) - p) };
			return true;
		}
		if (at == NULL)
			return true;
	}
}

/* ---- trimming and padding
 * ----------------------------------------------------------------------- */

static bool
in_set(struct cat_str c, struct cat_str set)
{
	if (c.len == 1)
		return memchr(set.p, c.p[0], set.len) != NULL;
	for (uint32_t k = 0; k + c.len <= set.len; k++)
		if (memcmp(set.p + k, c.p, c.len) == 0)
			return true;
	return false;
}

static bool
trim(struct sql_row *r, bool left, bool right)
{
	struct cat_str s = r->a[0].s, set = r->n > 1 ? r->a[1].s : (struct cat_str){ " ", 1 };
	while (left && s.len > 0) {
		uint32_t n = offset(s, 1);
		if (!in_set((struct cat_str){ s.p, n }, set))
			break;
		s.p += n;
		s.len -= n;
	}
	while (right && s.len > 0) {
		uint32_t k = s.len - 1;
		while (k > 0 && !starts_char(s.p[k]))
			k--;
		if (!in_set((struct cat_str){ s.p + k, s.len - k }, set))
			break;
		s.len = k;
	}
	r->out.s = s;
	return true;
}

static bool
k_btrim(struct sql_row *r)
{
	return trim(r, true, true);
}

static bool
k_ltrim(struct sql_row *r)
{
	return trim(r, true, false);
}

static bool
k_rtrim(struct sql_row *r)
{
	return trim(r, false, true);
}

static bool
pad(struct sql_row *r, bool left)
{
	struct cat_str s = r->a[0].s, fill = r->n > 2 ? r->a[2].s : (struct cat_str){ " ", 1 };
	int64_t want = r->a[1].i, have = chars(s);
	if (want < 0)
		want = 0;
	if (want <= have || fill.len == 0) {
		r->out.s = part(s, 1, want < have ? want : have);
		return true;
	}
	int64_t more = want - have, unit = chars(fill), whole = more / unit;
	uint64_t rest = offset(fill, more % unit), bytes = (uint64_t)whole * fill.len + rest;
	char *p = room(r, s.len + bytes);
	if (p == NULL)
		return false;
	bool went = nam_aside_for(bytes * 4);
	char *q = p;
	if (!left) {
		memcpy(q, s.p, s.len);
		q += s.len;
	}
	for (int64_t k = 0; k < whole; k++, q += fill.len)
		memcpy(q, fill.p, fill.len);
	memcpy(q, fill.p, rest);
	q += rest;
	if (left)
		memcpy(q, s.p, s.len);
	nam_aside_end(went);
	r->out.s = (struct cat_str){ p, (uint32_t)(s.len + bytes) };
	return true;
}

static bool
k_lpad(struct sql_row *r)
{
	return pad(r, true);
}

static bool
k_rpad(struct sql_row *r)
{
	return pad(r, false);
}

/* ---- new texts
 * -------------------------------------------------------------------------------------- */

static bool
k_join(struct sql_frame *f)
{
	const struct sql_arg *a = f->arg;
	struct cat_str *o = f->out->s;
	const uint8_t *null = f->out->null;
	uint64_t work = 0;
	SQL_EACH(
	    f, struct cat_str x = a[0].s[k & a[0].mask]; struct cat_str y = a[1].s[k & a[1].mask];
	    if (null[k]) {
		    o[k] = (struct cat_str){ "", 0 };
	    } else {
		    if (x.len > TEXT_MAX || y.len > TEXT_MAX)
			    return cat_error(f->env->err, "54000", "requested length too large");
		    char *p = nam_arena_take(f->env->arena, (size_t)x.len + y.len + 1);
		    if (p == NULL)
			    return sql_oom(f->env->err);
		    memcpy(p, x.p, x.len);
		    memcpy(p + x.len, y.p, y.len);
		    o[k] = (struct cat_str){ p, x.len + y.len };
		    if ((work += o[k].len) >= SQL_WORK_PIECE) {
			    if (!sql_work(f->env, work))
				    return false;
			    work = 0;
		    }
	    });
	return true;
}

static bool
concat(struct sql_row *r, unsigned from, struct cat_str sep)
{
	uint64_t n = 0;
	struct cat_str *t = nam_arena_take(r->env->arena, (r->n + 1) * sizeof *t);
	if (t == NULL)
		return sql_oom(r->env->err);
	for (unsigned k = from; k < r->n; k++) {
		if (r->null[k])
			continue;
		t[k] = sql_value_text(r->env, r->e->args[k]->type, r->a[k]);
		n += (uint64_t)t[k].len + sep.len;
	}
	char *p = room(r, n), *q = p;
	if (p == NULL)
		return false;
	bool first = true;
	for (unsigned k = from; k < r->n; k++) {
		if (r->null[k])
			continue;
		if (!first) {
			memcpy(q, sep.p, sep.len);
			q += sep.len;
		}
		first = false;
		memcpy(q, t[k].p, t[k].len);
		q += t[k].len;
	}
	r->out.s = (struct cat_str){ p, (uint32_t)(q - p) };
	return true;
}

static bool
k_concat(struct sql_row *r)
{
	return concat(r, 0, (struct cat_str){ "", 0 });
}

static bool
k_concat_ws(struct sql_row *r)
{
	if (r->null[0])
		return r->out_null = true;
	return concat(r, 1, sql_value_text(r->env, r->e->args[0]->type, r->a[0]));
}

static bool
k_replace(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, w = r->a[1].s, by = r->a[2].s;
	uint64_t hits = 0;
	const char *at, *end = s.p + s.len;
	if (w.len > 0)
		for (const char *p = s.p; (at = memmem(p, (size_t)(end - p), w.p, w.len)) != NULL;
		     p = at + w.len)
			hits++;
	if (hits == 0) {
		r->out.s = s;
		return true;
	}
	uint64_t n = s.len - hits * w.len + hits * by.len;
	char *to = room(r, n), *q = to;
	if (to == NULL)
		return false;
	for (const char *p = s.p;; p = at + w.len) {
		at = memmem(p, (size_t)(end - p), w.p, w.len);
		size_t keep = (size_t)((at ? at : end) - p);
		memcpy(q, p, keep);
		q += keep;
		if (at == NULL)
			break;
		memcpy(q, by.p, by.len);
		q += by.len;
	}
	r->out.s = (struct cat_str){ to, (uint32_t)n };
	return true;
}

static bool
k_translate(struct sql_row *r)
{
	struct cat_str s = r->a[0].s, from = r->a[1].s, to = r->a[2].s;
	char *p = room(r, (uint64_t)s.len * 4 + 4);
	if (p == NULL)
		return false;
	uint32_t n = 0;
	for (uint32_t k = 0; k < s.len;) {
		uint32_t c = sql_utf8_get(s, &k), j = 0, which = 0;
		bool found = false;
		while (j < from.len && !(found = sql_utf8_get(from, &j) == c))
			which++;
		if (!found) {
			n += sql_utf8_put(c, p + n);
			continue;
		}
		uint32_t at = offset(to, which);
		if (at < to.len)
			n += sql_utf8_put(sql_utf8_get(to, &at), p + n);
	}
	r->out.s = (struct cat_str){ p, n };
	return true;
}

static bool
k_repeat(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	int64_t times = r->a[1].i;
	if (times <= 0 || s.len == 0) {
		r->out.s = (struct cat_str){ "", 0 };
		return true;
	}
	uint64_t all = (uint64_t)times * s.len;
	char *p = room(r, all);
	if (p == NULL)
		return false;
	bool went = nam_aside_for(all);
	memcpy(p, s.p, s.len);
	for (uint64_t n = s.len; n < all; n *= 2)
		memcpy(p + n, p, n < all - n ? n : all - n);
	nam_aside_end(went);
	r->out.s = (struct cat_str){ p, (uint32_t)all };
	return true;
}

static bool
k_reverse(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	char *p = room(r, s.len);
	if (p == NULL)
		return false;
	for (uint32_t k = 0; k < s.len;) {
		uint32_t from = k;
		for (k++; k < s.len && !starts_char(s.p[k]); k++)
			;
		memcpy(p + s.len - k, s.p + from, k - from);
	}
	r->out.s = (struct cat_str){ p, s.len };
	return true;
}

static bool
k_chr(struct sql_row *r)
{
	int64_t c = r->a[0].i;
	if (c < 0)
		return cat_error(r->env->err, "22023", "character number must be positive");
	if (c == 0)
		return cat_error(r->env->err, "54000", "null character not permitted");
	if (c > 0x10ffff)
		return cat_error(
		    r->env->err, "54000", "requested character too large for encoding: %d", (int)c);
	if (c >= 0xd800 && c < 0xe000)
		return cat_error(
		    r->env->err, "54000", "requested character not valid for encoding: %d", (int)c);
	char *p = room(r, 4);
	if (p == NULL)
		return false;
	r->out.s = (struct cat_str){ p, sql_utf8_put((uint32_t)c, p) };
	return true;
}

static bool
k_ascii(struct sql_row *r)
{
	uint32_t k = 0;
	r->out.i = r->a[0].s.len ? sql_utf8_get(r->a[0].s, &k) : 0;
	return true;
}

static bool
k_to_hex(struct sql_row *r)
{
	char *p = room(r, 17);
	if (p == NULL)
		return false;
	uint64_t v = r->e->args[0]->type == CAT_INT4 ? (uint32_t)r->a[0].i : (uint64_t)r->a[0].i;
	r->out.s = (struct cat_str){ p, (uint32_t)snprintf(p, 17, "%lx", (unsigned long)v) };
	return true;
}

#define T CAT_TEXT
#define I CAT_INT4

const struct sql_fn sql_fns_text[] = {
	{ "||", SQL_FN_OP, 2, { T, T }, T, k_join, NULL },
	{ "^@", SQL_FN_OP, 2, { T, T }, CAT_BOOL, NULL, k_starts_with },
	V("length", 1, I, k_length, T),
	V("char_length", 1, I, k_length, T),
	V("character_length", 1, I, k_length, T),
	V("octet_length", 1, I, k_octet_length, T),
	V("octet_length", 1, I, k_octet_length, CAT_BPCHAR),
	V("bit_length", 1, I, k_octet_length, T),
	F("lower", 1, T, k_lower, T),
	F("upper", 1, T, k_upper, T),
	F("initcap", 1, T, k_initcap, T),
	F("substring", 2, T, k_substring, T, I),
	F("substring", 3, T, k_substring, T, I, I),
	F("substr", 2, T, k_substring, T, I),
	F("substr", 3, T, k_substring, T, I, I),
	F("overlay", 3, T, k_overlay, T, T, I),
	F("overlay", 4, T, k_overlay, T, T, I, I),
	F("left", 2, T, k_left, T, I),
	F("right", 2, T, k_right, T, I),
	F("position", 2, I, k_strpos, T, T),
	F("strpos", 2, I, k_strpos, T, T),
	F("starts_with", 2, CAT_BOOL, k_starts_with, T, T),
	F("split_part", 3, T, k_split_part, T, T, I),
	F("trim", 1, T, k_btrim, T),
	F("trim", 2, T, k_btrim, T, T),
	F("btrim", 1, T, k_btrim, T),
	F("btrim", 2, T, k_btrim, T, T),
	F("ltrim", 1, T, k_ltrim, T),
	F("ltrim", 2, T, k_ltrim, T, T),
	F("rtrim", 1, T, k_rtrim, T),
	F("rtrim", 2, T, k_rtrim, T, T),
	F("lpad", 2, T, k_lpad, T, I),
	F("lpad", 3, T, k_lpad, T, I, T),
	F("rpad", 2, T, k_rpad, T, I),
	F("rpad", 3, T, k_rpad, T, I, T),
	F("replace", 3, T, k_replace, T, T, T),
	F("translate", 3, T, k_translate, T, T, T),
	F("repeat", 2, T, k_repeat, T, I),
	F("reverse", 1, T, k_reverse, T),
	F("md5", 1, T, sql_md5, T),
	F("chr", 1, T, k_chr, I),
	F("ascii", 1, I, k_ascii, T),
	F("to_hex", 1, T, k_to_hex, I),
	F("to_hex", 1, T, k_to_hex, CAT_INT8),
	{ "concat", SQL_FN_ANY | SQL_FN_NULLS, 1, { 0 }, T, NULL, k_concat },
	{ "concat_ws", SQL_FN_ANY | SQL_FN_NULLS | SQL_FN_TEXT1, 2, { 0 }, T, NULL, k_concat_ws },
	{ 0 },
};
