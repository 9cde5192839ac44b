/* array.c -- arrays: their bytes, their text, their order. */
#include <base/hash.h>
#include <types/array.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 8 };
#define HAS_NULLS (UINT32_C(1) << 31)

static unsigned
cell_width(enum cat_type elem)
{
	switch (elem) {
	case CAT_BOOL:
		return 1;
	case CAT_INT2:
		return 2;
	case CAT_INT4:
	case CAT_FLOAT4:
		return 4;
	default:
		return cat_type_is_str(elem) ? 4 : 8;
	}
}

void
cat_array_open(enum cat_type type, struct cat_str s, struct cat_array *out)
{
	enum cat_type elem = cat_type_element(type);
	*out = (struct cat_array){ .elem = elem, .lower = 1, .width = cell_width(elem) };
	if (s.len < HEAD)
		return;
	uint32_t n;
	int32_t lower;
	memcpy(&n, s.p, sizeof n);
	memcpy(&lower, s.p + 4, sizeof lower);
	bool nulls = n & HAS_NULLS;
	n &= ~HAS_NULLS;
	uint64_t at = HEAD + (nulls ? ((uint64_t)n + 7) / 8 : 0), end = at + (uint64_t)n * out->width;
	if (n == 0 || end > s.len)
		return;
	out->n = n;
	out->lower = lower;
	out->null = nulls ? (const uint8_t *)s.p + HEAD : NULL;
	out->cell = s.p + at;
	out->str = s.p + end;
	out->bytes = s.len - (uint32_t)end;
}

bool
cat_array_at(const struct cat_array *a, uint32_t k, union cat_val *v)
{
	const char *cell = a->cell + (size_t)k * a->width;
	if (a->null != NULL && (a->null[k / 8] >> k % 8 & 1)) {
		v->s = (struct cat_str){ "", 0 };
		return false;
	}
	if (cat_type_is_str(a->elem)) {
		uint32_t from = 0, to;
		if (k > 0)
			memcpy(&from, cell - 4, sizeof from);
		memcpy(&to, cell, sizeof to);
		bool in = from <= to && to <= a->bytes;
		v->s = in ? (struct cat_str){ a->str + from, to - from } : (struct cat_str){ "", 0 };
		return true;
	}
	switch (a->elem) {
	case CAT_BOOL:
		v->i = *cell != 0;
		break;
	case CAT_INT2: {
		int16_t x;
		memcpy(&x, cell, sizeof x);
		v->i = x;
		break;
	}
	case CAT_INT4: {
		int32_t x;
		memcpy(&x, cell, sizeof x);
		v->i = x;
		break;
	}
	case CAT_FLOAT4: {
		float x;
		memcpy(&x, cell, sizeof x);
		v->f = (double)x;
		break;
	}
	default: /* an integer or a double: the same bits */
		memcpy(&v->i, cell, 8);
	}
	return true;
}

void
cat_array_all(const struct cat_array *a, union cat_val *v, bool *null)
{
	for (uint32_t k = 0; k < a->n; k++)
		null[k] = !cat_array_at(a, k, &v[k]);
}

static void
put(char *cell, enum cat_type elem, union cat_val v)
{
	if (elem == CAT_BOOL) {
		*cell = v.i != 0;
	} else if (elem == CAT_INT2) {
		int16_t x = (int16_t)v.i;
		memcpy(cell, &x, sizeof x);
	} else if (elem == CAT_INT4) {
		int32_t x = (int32_t)v.i;
		memcpy(cell, &x, sizeof x);
	} else if (elem == CAT_FLOAT4) {
		float x = (float)v.f;
		memcpy(cell, &x, sizeof x);
	} else {
		memcpy(cell, &v.i, 8);
	}
}

bool
cat_array_make(enum cat_type elem, int32_t lower, const union cat_val *v, const bool *null, uint32_t n,
    struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	bool str = cat_type_is_str(elem), nulls = false;
	unsigned width = cell_width(elem);
	uint64_t bytes = 0;
	for (uint32_t k = 0; k < n; k++) {
		bool is = null != NULL && null[k];
		nulls |= is;
		if (str && !is)
			bytes += v[k].s.len;
	}
	uint64_t map = nulls ? ((uint64_t)n + 7) / 8 : 0, cells = (uint64_t)n * width;
	bytes += HEAD + map + cells;
	if (bytes > CAT_VALUE_MAX)
		return cat_error(
		    err, "54000", "array size exceeds the maximum allowed (%d bytes)", (int)CAT_VALUE_MAX);
	char *p = nam_arena_take(arena, bytes);
	if (p == NULL)
		return cat_error(err, "53200", "out of memory");
	uint32_t count = n | (nulls ? HAS_NULLS : 0);
	lower = n ? lower : 1;
	memcpy(p, &count, sizeof count);
	memcpy(p + 4, &lower, sizeof lower);
	char *bit = p + HEAD, *cell = bit + map, *to = cell + cells;
	memset(bit, 0, map + cells);
	uint32_t end = 0;
	for (uint32_t k = 0; k < n; k++, cell += width) {
		bool is = null != NULL && null[k];
		if (is)
			bit[k / 8] |= (char)(1u << k % 8);
		if (str) {
			if (!is && v[k].s.len > 0) {
				memcpy(to + end, v[k].s.p, v[k].s.len);
				end += v[k].s.len;
			}
			memcpy(cell, &end, sizeof end);
		} else if (!is) {
			put(cell, elem, v[k]);
		}
	}
	*out = (struct cat_str){ p, (uint32_t)bytes };
	return true;
}

bool
cat_array_push(struct cat_array_build *b, enum cat_type elem, union cat_val v, bool null,
    struct nam_arena *arena, struct cat_err *err)
{
	if (b->n == b->cap) {
		uint32_t cap = b->cap ? b->cap * 2 : 8;
		if (cap > CAT_VALUE_MAX)
			return cat_error(err, "54000", "array size exceeds the maximum allowed (%d bytes)",
			    (int)CAT_VALUE_MAX);
		union cat_val *more = nam_arena_take(arena, cap * sizeof *more);
		bool *nulls = nam_arena_take(arena, cap);
		if (more == NULL || nulls == NULL)
			return cat_error(err, "53200", "out of memory");
		if (b->n > 0) {
			memcpy(more, b->v, b->n * sizeof *more);
			memcpy(nulls, b->null, b->n);
		}
		b->v = more;
		b->null = nulls;
		b->cap = cap;
	}
	b->null[b->n] = null;
	b->v[b->n] = v;
	if (!null && cat_type_is_str(elem)) {
		b->v[b->n] = cat_value_copy(elem, v, arena);
		if (v.s.len > 0 && b->v[b->n].s.len == 0)
			return cat_error(err, "53200", "out of memory");
	}
	b->n++;
	return true;
}

/* ---- text in ----------------------------------------------------------------------- */

static bool
space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct reader {
	struct cat_str in;
	uint32_t at;
	bool said; /* what is wrong */
	struct cat_err *err;
};

static bool
malformed(struct reader *r, const char *detail, char c)
{
	int n = (int)(r->in.len > 200 ? 200 : r->in.len);
	cat_error(r->err, "22P02", "malformed array literal: \"%.*s\"", n, r->in.p);
	if (r->err != NULL)
		snprintf(r->err->detail, sizeof r->err->detail, detail, c);
	return false;
}

static void
skip(struct reader *r)
{
	while (r->at < r->in.len && space(r->in.p[r->at]))
		r->at++;
}

static char
peek(const struct reader *r)
{
	return r->at < r->in.len ? r->in.p[r->at] : 0;
}

static bool
whole(struct reader *r, int64_t *out)
{
	bool neg = peek(r) == '-';
	uint32_t from = r->at += neg || peek(r) == '+';
	int64_t x = 0;
	for (; peek(r) >= '0' && peek(r) <= '9'; r->at++)
		if (x <= INT32_MAX)
			x = x * 10 + (peek(r) - '0');
	*out = neg ? -x : x;
	r->said = *out > INT32_MAX || *out < INT32_MIN;
	if (r->said)
		return cat_error(r->err, "22003", "array bound is out of integer range");
	return r->at > from;
}

/* [lower:upper]= or [upper]= before the braces. */
static bool
bounds(struct reader *r, int64_t *lower, int64_t *upper)
{
	r->at++;
	*lower = 1;
	bool ok = whole(r, upper);
	if (ok && peek(r) == ':') {
		*lower = *upper;
		r->at++;
		ok = whole(r, upper);
	}
	if (!ok)
		return r->said ? false : malformed(r, "Missing array dimension value.", 0);
	if (peek(r) != ']')
		return malformed(r, "Missing \"%c\" after array dimensions.", ']');
	r->at++;
	if (*upper < *lower)
		return cat_error(r->err, "2202E", "upper bound cannot be less than lower bound");
	if (*upper == INT32_MAX)
		return cat_error(r->err, "54000", "array upper bound is too large: %d", INT32_MAX);
	skip(r);
	if (peek(r) == '[')
		return cat_error(r->err, "0A000", "arrays of more than one dimension are not supported yet");
	if (peek(r) != '=')
		return malformed(r, "Missing \"%c\" after array dimensions.", '=');
	r->at++;
	skip(r);
	return true;
}

/* One element, its escapes taken off into *to, which moves on. */
static bool
element(struct reader *r, char **to, struct cat_str *out, bool *null)
{
	char *from = *to, *last = from; /* behind the last that is no blank at the end */
	bool quoted = peek(r) == '"', escaped = false;
	r->at += quoted;
	while (true) {
		if (r->at == r->in.len)
			return malformed(r, "Unexpected end of input.", 0);
		char c = r->in.p[r->at];
		if (quoted && c == '"') {
			r->at++;
			last = *to;
			break;
		}
		if (!quoted && (c == ',' || c == '}'))
			break;
		if (!quoted && c == '{')
			return malformed(r, "Unexpected \"%c\" character.", c);
		if (!quoted && c == '"')
			return malformed(r, "Incorrectly quoted array element.", 0);
		bool kept = quoted;
		if (c == '\\') {
			if (++r->at == r->in.len)
				return malformed(r, "Unexpected end of input.", 0);
			c = r->in.p[r->at];
			kept = escaped = true;
		}
		*(*to)++ = c;
		r->at++;
		if (kept || !space(c))
			last = *to;
	}
	*out = (struct cat_str){ from, (uint32_t)(last - from) };
	if (!quoted && out->len == 0)
		return malformed(r, "Unexpected \"%c\" character.", peek(r));
	*null = !quoted && !escaped && out->len == 4 && strncasecmp(from, "null", 4) == 0;
	skip(r);
	if (peek(r) == ',' || peek(r) == '}')
		return true;
	return r->at == r->in.len ? malformed(r, "Unexpected end of input.", 0)
				  : malformed(r, "Unexpected array element.", 0);
}

/* An int2vector or oidvector: "1 2 3". Its first element has the number 0. */
static bool
vector_in(
    enum cat_type elem, struct cat_str in, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	union cat_val *v = nam_arena_take(arena, (in.len / 2 + 1) * sizeof *v);
	uint32_t n = 0;
	if (v == NULL)
		return cat_error(err, "53200", "out of memory");
	for (uint32_t at = 0; at < in.len;) {
		uint32_t from = at;
		while (at < in.len && !space(in.p[at]))
			at++;
		struct cat_str one = { in.p + from, at - from };
		if (one.len > 0 && !cat_value_in(elem, -1, one, &v[n++], arena, err))
			return false;
		at++;
	}
	return cat_array_make(elem, 0, v, NULL, n, out, arena, err);
}

bool
cat_array_in(enum cat_type type, int32_t typmod, struct cat_str in, struct cat_str *out,
    struct nam_arena *arena, struct cat_err *err)
{
	struct reader r = { .in = in, .err = err };
	enum cat_type elem = cat_type_element(type);
	int64_t lower = 1, upper = 0;
	uint32_t most = 1, n = 0;
	if (elem == CAT_INT2V || elem == CAT_OIDV)
		return vector_in(elem, in, out, arena, err);
	skip(&r);
	bool said = peek(&r) == '[';
	if (said && !bounds(&r, &lower, &upper))
		return false;
	if (peek(&r) != '{')
		return said ? malformed(&r, "Array contents must start with \"%c\".", '{')
			    : malformed(
				  &r, "Array value must start with \"%c\" or dimension information.", '{');
	r.at++;
	for (uint32_t k = r.at; k < in.len; k++)
		most += in.p[k] == ',';
	union cat_val *v = nam_arena_take(arena, most * sizeof *v);
	bool *null = nam_arena_take(arena, most);
	char *room = nam_arena_take(arena, in.len);
	if (v == NULL || null == NULL || room == NULL)
		return cat_error(err, "53200", "out of memory");
	skip(&r);
	while (peek(&r) != '}') {
		struct cat_str s;
		if (peek(&r) == '{')
			return cat_error(
			    r.err, "0A000", "arrays of more than one dimension are not supported yet");
		if (!element(&r, &room, &s, &null[n]) ||
		    (!null[n] && !cat_value_in(elem, typmod, s, &v[n], arena, err)))
			return false;
		n++;
		if (peek(&r) == '}')
			break;
		r.at++; /* the comma: something follows */
		skip(&r);
		if (peek(&r) == '}' || r.at == in.len)
			return r.at == in.len ? malformed(&r, "Unexpected end of input.", 0)
					      : malformed(&r, "Unexpected \"%c\" character.", '}');
	}
	r.at++;
	skip(&r);
	if (r.at < in.len)
		return malformed(&r, "Junk after closing right brace.", 0);
	if (said && upper - lower + 1 != n)
		return malformed(&r, "Specified array dimensions do not match array contents.", 0);
	return cat_array_make(elem, (int32_t)lower, v, null, n, out, arena, err);
}

/* ---- text out -------------------------------------------------------------------------- */

static bool
wants_quotes(struct cat_str s)
{
	if (s.len == 0 || (s.len == 4 && strncasecmp(s.p, "null", 4) == 0))
		return true;
	for (uint32_t k = 0; k < s.len; k++)
		if (space(s.p[k]) || strchr("\"\\{},", s.p[k]) != NULL)
			return true;
	return false;
}

/* Of an int2vector or oidvector: "1 2 3". */
static struct cat_str
vector_out(const struct cat_array *a, struct nam_arena *arena)
{
	enum { DIGITS_MAX = 21 };
	char *p = nam_arena_take(arena, (size_t)a->n * DIGITS_MAX + 1), *to = p;
	if (p == NULL)
		return (struct cat_str){ "", 0 };
	for (uint32_t k = 0; k < a->n; k++) {
		union cat_val v;
		cat_array_at(a, k, &v);
		to += snprintf(to, DIGITS_MAX + 1, "%s%lld", k ? " " : "", (long long)v.i);
	}
	return (struct cat_str){ p, (uint32_t)(to - p) };
}

struct cat_str
cat_array_out(enum cat_type type, struct cat_str s, uint8_t floats, struct nam_arena *arena)
{
	struct cat_array a;
	cat_array_open(type, s, &a);
	if (a.elem == CAT_INT2V || a.elem == CAT_OIDV)
		return vector_out(&a, arena);
	if (a.n == 0)
		return (struct cat_str){ "{}", 2 };
	struct cat_str *text = nam_arena_take(arena, a.n * sizeof *text);
	if (text == NULL)
		return (struct cat_str){ "", 0 };
	char dims[40] = "{";
	if (a.lower != 1)
		snprintf(dims, sizeof dims, "[%d:%lld]={", (int)a.lower, (long long)a.lower + a.n - 1);
	size_t room = strlen(dims) + 1;
	for (uint32_t k = 0; k < a.n; k++) {
		union cat_val v;
		text[k] = (struct cat_str){ NULL, 4 };
		if (cat_array_at(&a, k, &v))
			text[k] = cat_value_show(a.elem, v, floats, arena);
		room += text[k].p == NULL ? 5 : (size_t)text[k].len * 2 + 3;
	}
	char *p = nam_arena_take(arena, room), *to = p;
	if (p == NULL || room > UINT32_MAX)
		return (struct cat_str){ "", 0 };
	to = stpcpy(to, dims);
	for (uint32_t k = 0; k < a.n; k++) {
		if (k > 0)
			*to++ = ',';
		if (text[k].p == NULL) {
			memcpy(to, "NULL", 4);
			to += 4;
			continue;
		}
		bool quotes = wants_quotes(text[k]);
		if (quotes)
			*to++ = '"';
		for (uint32_t j = 0; j < text[k].len; j++) {
			char c = text[k].p[j];
			if (c == '"' || c == '\\')
				*to++ = '\\';
			*to++ = c;
		}
		if (quotes)
			*to++ = '"';
	}
	*to++ = '}';
	return (struct cat_str){ p, (uint32_t)(to - p) };
}

/* ---- order, hash, keys --------------------------------------------------------------------- */

int
cat_array_cmp(enum cat_type type, struct cat_str x, struct cat_str y)
{
	struct cat_array a, b;
	cat_array_open(type, x, &a);
	cat_array_open(type, y, &b);
	for (uint32_t k = 0; k < a.n && k < b.n; k++) {
		union cat_val u, v;
		bool has_u = cat_array_at(&a, k, &u), has_v = cat_array_at(&b, k, &v);
		int c = has_u && has_v ? cat_value_cmp(a.elem, u, v) : (int)has_v - (int)has_u;
		if (c != 0)
			return c;
	}
	if (a.n != b.n)
		return a.n > b.n ? 1 : -1;
	return (a.lower > b.lower) - (a.lower < b.lower);
}

uint64_t
cat_array_hash(enum cat_type type, struct cat_str s, uint64_t seed)
{
	struct cat_array a;
	cat_array_open(type, s, &a);
	uint64_t h = nam_mix(a.n ^ seed);
	for (uint32_t k = 0; k < a.n; k++) {
		union cat_val v;
		h = cat_array_at(&a, k, &v) ? cat_value_hash(a.elem, v, h) : nam_mix(h + 1);
	}
	return h;
}

bool
cat_array_canonical(enum cat_type type, struct cat_str s, struct cat_str *out, struct nam_arena *arena)
{
	struct cat_array a;
	struct cat_err ignored;
	cat_array_open(type, s, &a);
	union cat_val *v = nam_arena_take(arena, a.n * sizeof *v);
	bool *null = nam_arena_take(arena, a.n);
	if (v == NULL || null == NULL)
		return false;
	cat_array_all(&a, v, null);
	for (uint32_t k = 0; k < a.n; k++) {
		if (null[k])
			continue;
		if (cat_type_is_str(a.elem)) {
			if (!cat_value_canonical(a.elem, v[k].s, &v[k].s, arena))
				return false;
		} else if (cat_type_is_float(a.elem)) {
			v[k].f = isnan(v[k].f) ? (double)NAN : v[k].f == 0 ? 0 : v[k].f;
		}
	}
	return cat_array_make(a.elem, a.lower, v, null, a.n, out, arena, &ignored);
}

bool
cat_array_fit(
    enum cat_type type, int32_t typmod, struct cat_str *s, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_array a;
	cat_array_open(type, *s, &a);
	union cat_val *v = nam_arena_take(arena, a.n * sizeof *v);
	bool *null = nam_arena_take(arena, a.n);
	if (v == NULL || null == NULL)
		return cat_error(err, "53200", "out of memory");
	cat_array_all(&a, v, null);
	for (uint32_t k = 0; k < a.n; k++)
		if (!null[k] && !cat_value_fit(a.elem, typmod, &v[k], arena, err))
			return false;
	return cat_array_make(a.elem, a.lower, v, null, a.n, s, arena, err);
}
