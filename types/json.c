/* json.c -- JSON in its text: the check, and finding things in it. */
#include <types/json.h>

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 6000 };

struct scan {
	const char *p, *end;
};

static void
blanks(struct scan *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool
digit(const struct scan *c)
{
	return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

static bool
wordy(unsigned char ch)
{
	return (ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z') || ch == '_' || ch >= 0x80;
}

/* ---- the check -------------------------------------------------------------------- */

static bool
wrong(struct cat_err *err, const char *detail, const char *p, size_t n)
{
	cat_error(err, "22P02", "invalid input syntax for type json");
	if (err != NULL)
		snprintf(err->detail, sizeof err->detail, detail, (int)(n > 200 ? 200 : n), p);
	return false;
}

static bool
invalid(const struct scan *c, const char *from, struct cat_err *err)
{
	const char *to = from;
	if (from >= c->end)
		return wrong(err, "The input string ended unexpectedly.%.*s", "", 0);
	while (to < c->end && wordy((unsigned char)*to))
		to++;
	return wrong(err, "Token \"%.*s\" is invalid.", from, to > from ? (size_t)(to - from) : 1);
}

static bool
number(struct scan *c)
{
	if (c->p < c->end && *c->p == '-')
		c->p++;
	if (!digit(c))
		return false;
	if (*c->p++ != '0')
		while (digit(c))
			c->p++;
	if (c->p < c->end && *c->p == '.') {
		c->p++;
		if (!digit(c))
			return false;
		while (digit(c))
			c->p++;
	}
	if (c->p < c->end && (*c->p | 32) == 'e') {
		c->p++;
		if (c->p < c->end && (*c->p == '+' || *c->p == '-'))
			c->p++;
		if (!digit(c))
			return false;
		while (digit(c))
			c->p++;
	}
	return c->p == c->end || !wordy((unsigned char)*c->p);
}

static int
nibble(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 32;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* Behind \u: four digits; -1 = they are not. */
static int
unit(const char *p, const char *end)
{
	int v = 0;
	if (end - p < 4)
		return -1;
	for (int k = 0; k < 4; k++) {
		int n = nibble(p[k]);
		if (n < 0)
			return -1;
		v = v << 4 | n;
	}
	return v;
}

static bool
string(struct scan *c, struct cat_err *err)
{
	const char *from = c->p++;
	for (; c->p < c->end && *c->p != '"'; c->p++) {
		if ((unsigned char)*c->p < 0x20)
			return wrong(err, "Character with value 0x%02x must be escaped.%.0s", "",
			    (size_t)(unsigned char)*c->p);
		if (*c->p != '\\')
			continue;
		c->p++;
		if (c->p == c->end)
			break;
		if (*c->p == 'u') {
			if (unit(c->p + 1, c->end) < 0)
				return wrong(
				    err, "\"\\u\" must be followed by four hexadecimal digits.%.*s", "", 0);
			c->p += 4;
		} else if (strchr("\"\\/bfnrt", *c->p) == NULL) {
			return wrong(err, "Escape sequence \"\\%.*s\" is invalid.", c->p, 1);
		}
	}
	if (c->p >= c->end)
		return wrong(err, "Token \"%.*s\" is invalid.", from, (size_t)(c->end - from));
	c->p++;
	return true;
}

static bool
scalar(struct scan *c, struct cat_err *err)
{
	static const char *const words[] = { "null", "true", "false" };
	const char *from = c->p;
	if (c->p < c->end && *c->p == '"')
		return string(c, err);
	if (digit(c) || (c->p < c->end && *c->p == '-'))
		return number(c) || invalid(c, from, err);
	for (unsigned k = 0; k < 3; k++) {
		size_t n = strlen(words[k]);
		if ((size_t)(c->end - c->p) >= n && memcmp(c->p, words[k], n) == 0 &&
		    (c->p + n == c->end || !wordy((unsigned char)c->p[n]))) {
			c->p += n;
			return true;
		}
	}
	return invalid(c, from, err);
}

static bool
no_colon(const struct scan *c, struct cat_err *err)
{
	const char *to = c->p;
	while (to < c->end && wordy((unsigned char)*to))
		to++;
	return wrong(err, "Expected \":\", but found \"%.*s\".", c->p, to > c->p ? (size_t)(to - c->p) : 1);
}

/* "name" : */
static bool
name(struct scan *c, struct cat_err *err)
{
	blanks(c);
	if (c->p >= c->end || *c->p != '"')
		return invalid(c, c->p, err);
	if (!string(c, err))
		return false;
	blanks(c);
	if (c->p >= c->end || *c->p != ':')
		return c->p >= c->end ? invalid(c, c->p, err) : no_colon(c, err);
	c->p++;
	return true;
}

bool
cat_json_check(struct cat_str text, struct cat_err *err)
{
	struct scan c = { text.p, text.p + text.len };
	char open[DEPTH_MAX];
	unsigned depth = 0;
	for (;;) {
		/* a value begins here */
		blanks(&c);
		if (c.p < c.end && (*c.p == '{' || *c.p == '[')) {
			char close = *c.p == '{' ? '}' : ']';
			c.p++;
			blanks(&c);
			if (c.p >= c.end || *c.p != close) {
				if (depth == DEPTH_MAX)
					return cat_error(err, "54001", "stack depth limit exceeded");
				open[depth++] = close;
				if (close == '}' && !name(&c, err))
					return false;
				continue;
			}
			c.p++;
		} else if (!scalar(&c, err)) {
			return false;
		}
		/* and ends here, and with it perhaps what it is in */
		for (blanks(&c); depth > 0 && c.p < c.end && *c.p == open[depth - 1]; blanks(&c)) {
			c.p++;
			depth--;
		}
		if (depth == 0)
			return c.p == c.end || invalid(&c, c.p, err);
		if (c.p >= c.end || *c.p != ',')
			return invalid(&c, c.p, err);
		c.p++;
		if (open[depth - 1] == '}' && !name(&c, err))
			return false;
	}
}

/* ---- finding ------------------------------------------------------------------------ */

static void
over_string(struct scan *c)
{
	for (c->p++; c->p < c->end && *c->p != '"'; c->p++)
		if (*c->p == '\\' && c->p + 1 < c->end)
			c->p++;
	if (c->p < c->end)
		c->p++;
}

/* Over a value: brackets are counted. */
static struct cat_str
value(struct scan *c)
{
	blanks(c);
	const char *from = c->p;
	int64_t depth = 0;
	while (c->p < c->end) {
		char ch = *c->p;
		if (ch == '"') {
			over_string(c);
		} else if (ch == '{' || ch == '[') {
			depth++;
			c->p++;
		} else if (ch == '}' || ch == ']') {
			if (depth == 0)
				break;
			depth--;
			c->p++;
		} else if (depth == 0 &&
			   (ch == ',' || ch == ':' || ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r')) {
			break;
		} else {
			c->p++;
			continue;
		}
		if (depth == 0)
			break;
	}
	return (struct cat_str){ from, (uint32_t)(c->p - from) };
}

enum cat_json_kind
cat_json_kind(struct cat_str json)
{
	struct scan c = { json.p, json.p + json.len };
	blanks(&c);
	switch (c.p < c.end ? *c.p : 'n') {
	case '{':
		return CAT_JSON_OBJECT;
	case '[':
		return CAT_JSON_ARRAY;
	case '"':
		return CAT_JSON_STRING;
	case 't':
	case 'f':
		return CAT_JSON_BOOL;
	case 'n':
		return CAT_JSON_NULL;
	default:
		return CAT_JSON_NUMBER;
	}
}

static bool
enter(struct scan *c, struct cat_str json, char bracket)
{
	*c = (struct scan){ json.p, json.p + json.len };
	blanks(c);
	if (c->p >= c->end || *c->p != bracket)
		return false;
	c->p++;
	blanks(c);
	return c->p < c->end && *c->p != ']' && *c->p != '}';
}

/* To the next member or element. False after the last. */
static bool
more(struct scan *c)
{
	blanks(c);
	if (c->p >= c->end || *c->p != ',')
		return false;
	c->p++;
	return true;
}

bool
cat_json_member(struct cat_str json, struct cat_str want, struct cat_str *out, struct nam_arena *arena)
{
	struct scan c;
	bool found = false;
	if (!enter(&c, json, '{'))
		return false;
	do {
		struct cat_str k = value(&c), plain, v;
		struct cat_err ignored;
		blanks(&c);
		if (c.p < c.end)
			c.p++; /* : */
		v = value(&c);
		bool same = k.len == want.len + 2 && memcmp(k.p + 1, want.p, want.len) == 0;
		if (!same && k.len > want.len + 2 && memchr(k.p, '\\', k.len) != NULL)
			same = cat_json_text(k, &plain, arena, &ignored) && plain.len == want.len &&
			       memcmp(plain.p, want.p, want.len) == 0;
		if (same) {
			*out = v;
			found = true;
		}
	} while (more(&c));
	return found;
}

int64_t
cat_json_length(struct cat_str json)
{
	struct scan c;
	int64_t n = 0;
	if (!enter(&c, json, '['))
		return 0;
	do {
		value(&c);
		n++;
	} while (more(&c));
	return n;
}

bool
cat_json_element(struct cat_str json, int64_t at, struct cat_str *out)
{
	struct scan c;
	if (at < 0)
		at += cat_json_length(json);
	if (at < 0 || !enter(&c, json, '['))
		return false;
	do {
		*out = value(&c);
		if (at-- == 0)
			return true;
	} while (more(&c));
	return false;
}

bool
cat_json_walk(struct cat_json_walk *w, struct cat_str json)
{
	enum cat_json_kind kind = cat_json_kind(json);
	struct scan c;
	if (kind != CAT_JSON_OBJECT && kind != CAT_JSON_ARRAY)
		return false;
	w->object = kind == CAT_JSON_OBJECT;
	w->more = enter(&c, json, w->object ? '{' : '[');
	w->p = c.p;
	w->end = c.end;
	return true;
}

bool
cat_json_next(struct cat_json_walk *w, struct cat_str *key, struct cat_str *out)
{
	struct scan c = { w->p, w->end };
	if (!w->more)
		return false;
	if (w->object) {
		*key = value(&c);
		blanks(&c);
		if (c.p < c.end)
			c.p++; /* : */
	}
	*out = value(&c);
	w->more = more(&c);
	w->p = c.p;
	return true;
}

static unsigned
put_char(char *to, uint32_t ch)
{
	if (ch < 0x80) {
		to[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		to[0] = (char)(0xc0 | ch >> 6);
		to[1] = (char)(0x80 | (ch & 63));
		return 2;
	}
	if (ch < 0x10000) {
		to[0] = (char)(0xe0 | ch >> 12);
		to[1] = (char)(0x80 | (ch >> 6 & 63));
		to[2] = (char)(0x80 | (ch & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | ch >> 18);
	to[1] = (char)(0x80 | (ch >> 12 & 63));
	to[2] = (char)(0x80 | (ch >> 6 & 63));
	to[3] = (char)(0x80 | (ch & 63));
	return 4;
}

bool
cat_json_text(struct cat_str json, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	struct scan c = { json.p, json.p + json.len };
	blanks(&c);
	struct cat_str v = value(&c);
	*out = v;
	if (v.len < 2 || v.p[0] != '"')
		return true;
	v = (struct cat_str){ v.p + 1, v.len - 2 };
	*out = v;
	if (v.len == 0 || memchr(v.p, '\\', v.len) == NULL)
		return true;
	char *to = nam_arena_take(arena, v.len); /* an escape is longer than what it means */
	if (to == NULL)
		return cat_error(err, "53200", "out of memory");
	uint32_t n = 0;
	const char *end = v.p + v.len;
	for (const char *p = v.p; p < end; p++) {
		if (*p != '\\' || p + 1 == end) {
			to[n++] = *p;
			continue;
		}
		static const char from[] = "bfnrt", is[] = "\b\f\n\r\t";
		const char *simple = strchr(from, *++p);
		if (*p != 'u') {
			to[n++] = simple && *simple ? is[simple - from] : *p;
			continue;
		}
		int ch = unit(p + 1, end);
		p += ch < 0 ? 0 : 4;
		if (ch == 0) {
			cat_error(err, "22P05", "unsupported Unicode escape sequence");
			if (err != NULL)
				snprintf(
				    err->detail, sizeof err->detail, "\\u0000 cannot be converted to text.");
			return false;
		}
		if (ch >= 0xd800 && ch < 0xdc00 && end - p > 6 && p[1] == '\\' && p[2] == 'u') {
			int low = unit(p + 3, end);
			if (low >= 0xdc00 && low < 0xe000) {
				ch = 0x10000 + ((ch - 0xd800) << 10) + (low - 0xdc00);
				p += 6;
			}
		}
		if (ch < 0 || (ch >= 0xd800 && ch < 0xe000)) {
			cat_error(err, "22P02", "invalid input syntax for type json");
			if (err != NULL)
				snprintf(err->detail, sizeof err->detail,
				    "Unicode low surrogate must follow a high surrogate.");
			return false;
		}
		n += put_char(to + n, (uint32_t)ch);
	}
	*out = (struct cat_str){ to, n };
	return true;
}

static bool
bad_surrogate(const char *why, struct cat_err *err)
{
	cat_error(err, "22P02", "invalid input syntax for type json");
	if (err != NULL)
		snprintf(err->detail, sizeof err->detail, "Unicode %s surrogate must %s a high surrogate.",
		    strcmp(why, "follow") == 0 ? "low" : "high", why);
	return false;
}

bool
cat_json_unescapes(struct cat_str s, struct cat_err *err)
{
	const char *end = s.p + s.len, *p = s.p, *behind = NULL; /* a high surrogate's end */
	while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		if (behind != NULL && (p != behind || p[1] != 'u'))
			return bad_surrogate("follow", err);
		if (p[1] != 'u') {
			p += 2;
			continue;
		}
		int ch = unit(p + 2, end);
		p += 6;
		if (ch >= 0xd800 && ch < 0xdc00) {
			if (behind != NULL)
				return bad_surrogate("not follow", err);
			behind = p;
			continue;
		}
		bool low = ch >= 0xdc00 && ch < 0xe000;
		if (low != (behind != NULL))
			return bad_surrogate("follow", err);
		behind = NULL;
		if (ch == 0) {
			cat_error(err, "22P05", "unsupported Unicode escape sequence");
			if (err != NULL)
				snprintf(
				    err->detail, sizeof err->detail, "\\u0000 cannot be converted to text.");
			return false;
		}
	}
	return behind == NULL || bad_surrogate("follow", err);
}
