/* jsonb.c -- JSON in canonical text: making it, its order. */
#include <base/hash.h>
#include <types/jsonb.h>
#include <types/numeric.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- canonical text --------------------------------------------------------------------- */

/* A member or an element whose container is still open. */
struct part {
	struct cat_str key, value; /* key: without quotes and escapes */
	uint32_t at;               /* its place among them */
};

struct level {
	struct part *part;
	uint32_t n, cap;
	struct cat_str key; /* of the member whose value comes */
	bool object;
};

struct making {
	const char *p, *end;
	struct level *level;
	unsigned depth, cap;
	struct nam_arena *arena;
	struct cat_err *err;
};

static bool
no_memory(struct cat_err *err)
{
	return cat_error(err, "53200", "out of memory");
}

static void
blanks(struct making *m)
{
	while (m->p < m->end && (*m->p == ' ' || *m->p == '\t' || *m->p == '\n' || *m->p == '\r'))
		m->p++;
}

/* The string at m->p, which moves behind it. */
static struct cat_str
string_at(struct making *m)
{
	const char *from = m->p;
	for (m->p++; m->p < m->end && *m->p != '"'; m->p++)
		if (*m->p == '\\')
			m->p++;
	m->p++;
	return (struct cat_str){ from, (uint32_t)(m->p - from) };
}

bool
cat_jsonb_string(struct cat_str text, struct cat_str *out, struct nam_arena *arena)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 2;
	for (uint32_t k = 0; k < text.len; k++) {
		unsigned char c = (unsigned char)text.p[k];
		n += c == '"' || c == '\\' || (c >= 8 && c <= 13 && c != 11) ? 2 : c < 0x20 ? 6 : 1;
	}
	char *to = n <= UINT32_MAX ? nam_arena_take(arena, n) : NULL;
	if (to == NULL)
		return false;
	*out = (struct cat_str){ to, (uint32_t)n };
	*to++ = '"';
	for (uint32_t k = 0; k < text.len; k++) {
		unsigned char c = (unsigned char)text.p[k];
		if (c >= 8 && c <= 13 && c != 11) {
			*to++ = '\\';
			*to++ = "btn?fr"[c - 8];
		} else if (c < 0x20) {
			memcpy(to, "\\u00", 4);
			to[4] = hex[c >> 4];
			to[5] = hex[c & 15];
			to += 6;
		} else {
			if (c == '"' || c == '\\')
				*to++ = '\\';
			*to++ = (char)c;
		}
	}
	*to = '"';
	return true;
}

static bool
scalar(struct making *m, struct cat_str *out)
{
	if (*m->p == '"') {
		struct cat_str plain;
		return cat_json_text(string_at(m), &plain, m->arena, m->err) &&
		       (cat_jsonb_string(plain, out, m->arena) || no_memory(m->err));
	}
	const char *from = m->p;
	while (m->p < m->end && strchr(",]} \t\n\r", *m->p) == NULL)
		m->p++;
	*out = (struct cat_str){ from, (uint32_t)(m->p - from) };
	if (*from >= 'a')
		return true; /* null, true, false */
	struct cat_str number;
	if (!cat_num_in(*out, &number, m->arena, m->err))
		return false;
	*out = cat_num_out(number, m->arena);
	return out->len > 0 || no_memory(m->err);
}

static bool
open_level(struct making *m, bool object)
{
	if (m->depth == m->cap) {
		unsigned cap = m->cap ? 2 * m->cap : 16;
		struct level *more = nam_arena_take(m->arena, cap * sizeof *more);
		if (more == NULL)
			return no_memory(m->err);
		if (m->depth > 0)
			memcpy(more, m->level, m->depth * sizeof *more);
		m->level = more;
		m->cap = cap;
	}
	m->level[m->depth++] = (struct level){ .object = object };
	return true;
}

static bool
key(struct making *m)
{
	blanks(m);
	if (!cat_json_text(string_at(m), &m->level[m->depth - 1].key, m->arena, m->err))
		return false;
	blanks(m);
	m->p++; /* : */
	return true;
}

static bool
add(struct making *m, struct cat_str value)
{
	struct level *l = &m->level[m->depth - 1];
	if (l->n == l->cap) {
		uint32_t cap = l->cap ? 2 * l->cap : 8;
		struct part *more = nam_arena_take(m->arena, cap * sizeof *more);
		if (more == NULL)
			return no_memory(m->err);
		if (l->n > 0)
			memcpy(more, l->part, l->n * sizeof *more);
		l->part = more;
		l->cap = cap;
	}
	l->part[l->n] = (struct part){ l->key, value, l->n };
	l->n++;
	return true;
}

static int
by_key(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	if (x->key.len != y->key.len)
		return x->key.len < y->key.len ? -1 : 1;
	int c = x->key.len ? memcmp(x->key.p, y->key.p, x->key.len) : 0;
	return c != 0 ? c : x->at < y->at ? -1 : x->at > y->at;
}

/* Members in order, each name once. */
static void
sort(struct level *l)
{
	uint32_t n = 0;
	if (l->n > 0)
		qsort(l->part, l->n, sizeof *l->part, by_key);
	for (uint32_t k = 0; k < l->n; k++) {
		bool last = k + 1 == l->n || l->part[k].key.len != l->part[k + 1].key.len ||
			    memcmp(l->part[k].key.p, l->part[k + 1].key.p, l->part[k].key.len) != 0;
		if (last)
			l->part[n++] = l->part[k];
	}
	l->n = n;
}

/* The innermost container is complete. */
static bool
close_level(struct making *m, struct cat_str *out)
{
	struct level *l = &m->level[--m->depth];
	size_t n = 2;
	if (l->object)
		sort(l);
	for (uint32_t k = 0; k < l->n; k++) {
		if (l->object && !cat_jsonb_string(l->part[k].key, &l->part[k].key, m->arena))
			return no_memory(m->err);
		n += (l->object ? l->part[k].key.len + 2u : 0u) + l->part[k].value.len + (k > 0 ? 2u : 0u);
	}
	char *to = n <= UINT32_MAX ? nam_arena_take(m->arena, n) : NULL;
	if (to == NULL)
		return no_memory(m->err);
	*out = (struct cat_str){ to, (uint32_t)n };
	*to++ = l->object ? '{' : '[';
	for (uint32_t k = 0; k < l->n; k++) {
		const struct part *x = &l->part[k];
		if (k > 0) {
			*to++ = ',';
			*to++ = ' ';
		}
		if (l->object) {
			memcpy(to, x->key.p, x->key.len);
			to += x->key.len;
			*to++ = ':';
			*to++ = ' ';
		}
		memcpy(to, x->value.p, x->value.len);
		to += x->value.len;
	}
	*to = l->object ? '}' : ']';
	return true;
}

bool
cat_jsonb_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct making m = { .p = text.p, .end = text.p + text.len, .arena = arena, .err = err };
	struct cat_str v;
	if (!cat_json_check(text, err))
		return false;
	for (;;) {
		blanks(&m);
		char open = *m.p;
		if (open == '{' || open == '[') {
			m.p++;
			blanks(&m);
			if (!open_level(&m, open == '{'))
				return false;
			if (*m.p != '}' && *m.p != ']') {
				if (open == '{' && !key(&m))
					return false;
				continue;
			}
			m.p++;
			if (!close_level(&m, &v))
				return false;
		} else if (!scalar(&m, &v)) {
			return false;
		}
		/* A value has ended, and with it perhaps what it is in. */
		for (;;) {
			if (m.depth == 0) {
				*out = v;
				return true;
			}
			if (!add(&m, v))
				return false;
			blanks(&m);
			if (*m.p++ == ',')
				break;
			if (!close_level(&m, &v))
				return false;
		}
		if (m.level[m.depth - 1].object && !key(&m))
			return false;
	}
}

/* ---- order ------------------------------------------------------------------------------ */

/* Where in a canonical text two walks are. */
struct at {
	const char *p, *end;
};

static unsigned
rank(char c)
{
	switch (c) {
	case 'n':
		return 0;
	case '"':
		return 1;
	case 't':
	case 'f':
		return 3;
	case '[':
		return 4;
	case '{':
		return 5;
	default:
		return 2;
	}
}

/* Over a scalar. */
static struct cat_str
token(struct at *x)
{
	const char *from = x->p;
	if (*x->p == '"') {
		for (x->p++; x->p < x->end && *x->p != '"'; x->p++)
			if (*x->p == '\\')
				x->p++;
		x->p++;
	} else {
		while (x->p < x->end && *x->p != ',' && *x->p != ']' && *x->p != '}')
			x->p++;
	}
	if (x->p > x->end)
		x->p = x->end;
	return (struct cat_str){ from, (uint32_t)(x->p - from) };
}

/* Parts of the container at p. */
static uint32_t
parts(struct at x)
{
	uint32_t n = 0;
	unsigned depth = 0;
	if (x.p + 1 < x.end && x.p[1] != ']' && x.p[1] != '}')
		n = 1;
	while (x.p < x.end) {
		if (*x.p == '"') {
			token(&x);
			continue;
		}
		depth += *x.p == '[' || *x.p == '{';
		depth -= *x.p == ']' || *x.p == '}';
		n += *x.p == ',' && depth == 1;
		if (depth == 0)
			break;
		x.p++;
	}
	return n;
}

/* The byte that comes next in a string, its escape resolved; -1 = it ends. */
static int
byte(struct at *x)
{
	static const char names[] = "btnfr", is[] = "\b\t\n\f\r";
	if (x->p >= x->end || *x->p == '"')
		return -1;
	if (*x->p != '\\' || x->p + 1 >= x->end)
		return (unsigned char)*x->p++;
	char c = x->p[1];
	const char *name = strchr(names, c);
	if (c == 'u' && x->end - x->p >= 6) { /* below 0x20, or it would stand for itself */
		int high = x->p[4] - '0', low = x->p[5];
		x->p += 6;
		return high * 16 + (low <= '9' ? low - '0' : low - 'a' + 10);
	}
	x->p += 2;
	return name != NULL ? is[name - names] : (unsigned char)c;
}

static int
cmp_strings(struct cat_str a, struct cat_str b)
{
	struct at x = { a.p + 1, a.p + a.len }, y = { b.p + 1, b.p + b.len };
	for (;;) {
		int c = byte(&x), d = byte(&y);
		if (c != d)
			return c < d ? -1 : 1;
		if (c < 0)
			return 0;
	}
}

/* A number as numeric writes it, without what its value does not need. */
struct number {
	bool minus;
	const char *whole, *part;
	uint32_t wholes, parts;
};

static struct number
number(struct cat_str s)
{
	struct number n = { 0 };
	if (s.len > 0 && *s.p == '-') {
		n.minus = true;
		s.p++;
		s.len--;
	}
	const char *dot = memchr(s.p, '.', s.len);
	n.whole = s.p;
	n.wholes = dot ? (uint32_t)(dot - s.p) : s.len;
	n.part = dot ? dot + 1 : s.p;
	n.parts = dot ? s.len - n.wholes - 1 : 0;
	while (n.wholes > 0 && *n.whole == '0') {
		n.whole++;
		n.wholes--;
	}
	while (n.parts > 0 && n.part[n.parts - 1] == '0')
		n.parts--;
	n.minus &= n.wholes > 0 || n.parts > 0;
	return n;
}

static int
cmp_bytes(const char *a, uint32_t n, const char *b, uint32_t m)
{
	uint32_t both = n < m ? n : m;
	int c = both ? memcmp(a, b, both) : 0;
	return c != 0 ? (c < 0 ? -1 : 1) : (n > m) - (n < m);
}

static int
cmp_numbers(struct cat_str a, struct cat_str b)
{
	struct number x = number(a), y = number(b);
	if (x.minus != y.minus)
		return x.minus ? -1 : 1;
	int c = x.wholes != y.wholes ? (x.wholes < y.wholes ? -1 : 1)
				     : cmp_bytes(x.whole, x.wholes, y.whole, y.wholes);
	if (c == 0)
		c = cmp_bytes(x.part, x.parts, y.part, y.parts);
	return x.minus ? -c : c;
}

static int
cmp_scalars(unsigned kind, struct cat_str a, struct cat_str b)
{
	if (kind == 1)
		return cmp_strings(a, b);
	if (kind == 2)
		return cmp_numbers(a, b);
	return kind == 3 ? (*a.p == 't') - (*b.p == 't') : 0;
}

/* Both texts have come to a value. PostgreSQL keeps a scalar by itself as an array of one part, so
 * the empty array is less than it. */
static int
cmp_tops(struct at x, struct at y)
{
	unsigned r = rank(*x.p), s = rank(*y.p);
	if (r == 4 && s < 4)
		return parts(x) == 0 ? -1 : 1;
	if (s == 4 && r < 4)
		return parts(y) == 0 ? 1 : -1;
	return (r > s) - (r < s);
}

int
cat_jsonb_cmp(struct cat_str a, struct cat_str b)
{
	struct at x = { a.p, a.p + a.len }, y = { b.p, b.p + b.len };
	unsigned depth = 0;
	if (a.len == 0 || b.len == 0)
		return (a.len > b.len) - (a.len < b.len);
	int c = cmp_tops(x, y);
	while (c == 0 && x.p < x.end && y.p < y.end) {
		/* Both are at a value, or at a member's name. */
		unsigned r = rank(*x.p), s = rank(*y.p);
		if (r != s)
			return r < s ? -1 : 1;
		if (r >= 4) {
			uint32_t n = parts(x), m = parts(y);
			if (n != m)
				return n < m ? -1 : 1;
			x.p++;
			y.p++;
			depth++;
			if (n > 0)
				continue;
		} else if ((c = cmp_scalars(r, token(&x), token(&y))) != 0) {
			break;
		}
		/* Containers of equal numbers of parts end together. */
		while (depth > 0 && x.p < x.end && y.p < y.end && (*x.p == ']' || *x.p == '}')) {
			x.p++;
			y.p++;
			depth--;
		}
		if (depth == 0)
			break;
		x.p += 2; /* ", " or ": " */
		y.p += 2;
	}
	return c;
}

uint64_t
cat_jsonb_hash(struct cat_str json, uint64_t seed)
{
	struct at x = { json.p, json.p + json.len };
	uint64_t h = seed;
	while (x.p < x.end) {
		char c = *x.p;
		if (rank(c) == 2 && (c == '-' || (c >= '0' && c <= '9'))) {
			struct number n = number(token(&x));
			h = nam_hash(n.whole, n.wholes, h + n.minus);
			h = nam_hash(n.part, n.parts, h + 2);
		} else if (c == '"') {
			struct cat_str s = token(&x);
			h = nam_hash(s.p, s.len, h);
		} else {
			h = nam_mix(h + (unsigned char)c);
			x.p++;
		}
	}
	return h;
}
