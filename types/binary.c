/* binary.c -- bytea and uuid: text in and out. */
#include <types/binary.h>

#include <string.h>

static bool
no_memory(struct cat_err *err)
{
	return cat_error(err, "53200", "out of memory");
}

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void
cat_hex_out(const void *bytes, size_t n, char *to)
{
	const unsigned char *p = bytes;
	for (size_t k = 0; k < n; k++) {
		*to++ = "0123456789abcdef"[p[k] >> 4];
		*to++ = "0123456789abcdef"[p[k] & 15];
	}
}

/* How many bytes the character at p has, of at most n. */
static int
char_bytes(const char *p, size_t n)
{
	size_t k = 1;
	while (k < n && k < 4 && ((unsigned char)p[k] & 0xc0) == 0x80)
		k++;
	return (int)k;
}

bool
cat_hex_in(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	char *to = nam_arena_take(arena, s.len / 2 + 1);
	if (to == NULL)
		return no_memory(err);
	uint32_t n = 0;
	for (uint32_t k = 0; k < s.len;) {
		if (s.p[k] == ' ' || s.p[k] == '\n' || s.p[k] == '\t' || s.p[k] == '\r') {
			k++;
			continue;
		}
		int hi = nibble(s.p[k]), lo = k + 1 < s.len ? nibble(s.p[k + 1]) : 0;
		const char *bad = hi < 0 ? s.p + k : s.p + k + 1;
		if (hi >= 0 && k + 1 == s.len)
			return cat_error(err, "22023", "invalid hexadecimal data: odd number of digits");
		if (hi < 0 || lo < 0)
			return cat_error(err, "22023", "invalid hexadecimal digit: \"%.*s\"",
			    char_bytes(bad, (size_t)(s.p + s.len - bad)), bad);
		to[n++] = (char)(hi << 4 | lo);
		k += 2;
	}
	*out = (struct cat_str){ to, n };
	return true;
}

bool
cat_bytea_in(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	if (s.len >= 2 && s.p[0] == '\\' && s.p[1] == 'x')
		return cat_hex_in((struct cat_str){ s.p + 2, s.len - 2 }, out, arena, err);
	if (s.len == 0 || memchr(s.p, '\\', s.len) == NULL) {
		*out = s;
		return true;
	}
	char *to = nam_arena_take(arena, s.len);
	if (to == NULL)
		return no_memory(err);
	uint32_t n = 0;
	for (uint32_t k = 0; k < s.len;) {
		const char *p = s.p + k;
		if (p[0] != '\\') {
			to[n++] = p[0];
			k++;
		} else if (s.len - k >= 2 && p[1] == '\\') {
			to[n++] = '\\';
			k += 2;
		} else if (s.len - k >= 4 && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
			   p[3] >= '0' && p[3] <= '7') {
			to[n++] = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			k += 4;
		} else {
			return cat_error(err, "22P02", "invalid input syntax for type bytea");
		}
	}
	*out = (struct cat_str){ to, n };
	return true;
}

struct cat_str
cat_bytea_out(struct cat_str s, struct nam_arena *arena)
{
	char *to = nam_arena_take(arena, 2 + 2 * (size_t)s.len);
	if (to == NULL)
		return (struct cat_str){ "", 0 };
	to[0] = '\\';
	to[1] = 'x';
	cat_hex_out(s.p, s.len, to + 2);
	return (struct cat_str){ to, 2 + 2 * s.len };
}

bool
cat_uuid_in(struct cat_str s, struct cat_str *out, struct nam_arena *arena, struct cat_err *err)
{
	/* digits, a hyphen after any four of them, perhaps all in braces */
	char *to = nam_arena_take(arena, CAT_UUID_BYTES);
	if (to == NULL)
		return no_memory(err);
	const char *p = s.p, *end = s.p + s.len;
	bool braces = s.len > 1 && p[0] == '{', good = true;
	if (braces) {
		good = end[-1] == '}';
		p++;
		end--;
	}
	for (unsigned k = 0; k < CAT_UUID_BYTES && good; k++) {
		int hi = end - p >= 2 ? nibble(p[0]) : -1, lo = hi >= 0 ? nibble(p[1]) : -1;
		good = lo >= 0;
		if (!good)
			break;
		to[k] = (char)(hi << 4 | lo);
		p += 2;
		if (k % 2 == 1 && k < CAT_UUID_BYTES - 1 && p < end && *p == '-')
			p++;
	}
	if (!good || p != end)
		return cat_error(err, "22P02", "invalid input syntax for type uuid: \"%.*s\"",
		    (int)(s.len > 200 ? 200 : s.len), s.p);
	*out = (struct cat_str){ to, CAT_UUID_BYTES };
	return true;
}

void
cat_uuid_out(struct cat_str s, char *to)
{
	static const unsigned char group[] = { 4, 2, 2, 2, 6 };
	unsigned char none[CAT_UUID_BYTES] = { 0 };
	const unsigned char *p = s.len == CAT_UUID_BYTES ? (const unsigned char *)s.p : none;
	for (unsigned g = 0; g < sizeof group; g++) {
		if (g > 0)
			*to++ = '-';
		cat_hex_out(p, group[g], to);
		p += group[g];
		to += 2 * group[g];
	}
}
