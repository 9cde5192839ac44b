/* binary.c -- functions and operators on bytea and uuid; bytes as text: hex, base64, escape. */
#include <sql/expr/func/table.h>
#include <types/binary.h>

#define OPENSSL_SUPPRESS_DEPRECATED /* MD5_Init and its kin */
#include <openssl/evp.h>
#include <openssl/md5.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { TEXT_MAX = 256 << 20 };

static bool
k_length(struct sql_row *r)
{
	r->out.i = r->a[0].s.len;
	return true;
}

static bool
k_bit_length(struct sql_row *r)
{
	r->out.i = (int64_t)r->a[0].s.len * 8;
	return true;
}

static bool
k_join(struct sql_row *r)
{
	struct cat_str x = r->a[0].s, y = r->a[1].s;
	if ((uint64_t)x.len + y.len > 1 << 28)
		return cat_error(r->env->err, "54000", "requested length too large");
	char *p = nam_arena_take(r->env->arena, (size_t)x.len + y.len + 1);
	if (p == NULL)
		return sql_oom(r->env->err);
	memcpy(p, x.p, x.len);
	memcpy(p + x.len, y.p, y.len);
	r->out.s = (struct cat_str){ p, x.len + y.len };
	return true;
}

static bool
k_substring(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	int64_t from = r->a[1].i - 1, to = r->n > 2 ? from + r->a[2].i : s.len;
	if (r->n > 2 && r->a[2].i < 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	from = from < 0 ? 0 : from > s.len ? s.len : from;
	to = to < from ? from : to > s.len ? s.len : to;
	r->out.s = (struct cat_str){ s.p + from, (uint32_t)(to - from) };
	return true;
}

static bool
k_position(struct sql_row *r)
{
	struct cat_str x = r->a[0].s, y = r->a[1].s;
	const char *at = y.len == 0 ? x.p : memmem(x.p, x.len, y.p, y.len);
	r->out.i = at ? at - x.p + 1 : 0;
	return true;
}

static bool
in_range(struct sql_row *r, int64_t n)
{
	return (n >= 0 && n < r->a[0].s.len) ||
	       cat_error(r->env->err, "2202E", "index %lld out of valid range, 0..%lld", (long long)n,
		   (long long)r->a[0].s.len - 1);
}

static bool
k_get_byte(struct sql_row *r)
{
	if (!in_range(r, r->a[1].i))
		return false;
	r->out.i = (unsigned char)r->a[0].s.p[r->a[1].i];
	return true;
}

static bool
k_set_byte(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	if (!in_range(r, r->a[1].i))
		return false;
	char *p = nam_arena_copy(r->env->arena, s.p, s.len);
	if (p == NULL)
		return sql_oom(r->env->err);
	p[r->a[1].i] = (char)r->a[2].i;
	r->out.s = (struct cat_str){ p, s.len };
	return true;
}

static bool
digest(struct sql_row *r, const EVP_MD *md, bool text)
{
	unsigned char d[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char *p = nam_arena_take(r->env->arena, 2 * sizeof d);
	if (p == NULL || EVP_Digest(r->a[0].s.p, r->a[0].s.len, d, &n, md, NULL) != 1)
		return sql_oom(r->env->err);
	if (text)
		cat_hex_out(d, n, p);
	else
		memcpy(p, d, n);
	r->out.s = (struct cat_str){ p, text ? 2 * n : n };
	return true;
}

/* By its own functions: EVP looks its digest up and takes memory for each text, which costs more
 * than a short text's sum. */
bool
sql_md5(struct sql_row *r)
{
	unsigned char sum[MD5_DIGEST_LENGTH];
	MD5_CTX md;
	char *p = nam_arena_take(r->env->arena, 2 * sizeof sum);
	if (p == NULL)
		return sql_oom(r->env->err);
	if (MD5_Init(&md) != 1 || MD5_Update(&md, r->a[0].s.p, r->a[0].s.len) != 1 ||
	    MD5_Final(sum, &md) != 1)
		return cat_error(r->env->err, "XX000", "MD5 is not available");
	cat_hex_out(sum, sizeof sum, p);
	r->out.s = (struct cat_str){ p, 2 * sizeof sum };
	return true;
}

static bool
k_sha224(struct sql_row *r)
{
	return digest(r, EVP_sha224(), false);
}

static bool
k_sha384(struct sql_row *r)
{
	return digest(r, EVP_sha384(), false);
}

static bool
k_sha256(struct sql_row *r)
{
	return digest(r, EVP_sha256(), false);
}

static bool
k_sha512(struct sql_row *r)
{
	return digest(r, EVP_sha512(), false);
}

/* ---- as text ----------------------------------------------------------------------- */

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

/* ---- uuid -------------------------------------------------------------------------- */

static bool
k_new_uuid(struct sql_row *r)
{
	unsigned char u[CAT_UUID_BYTES];
	if (getrandom(u, sizeof u, 0) != (ssize_t)sizeof u)
		return cat_error(r->env->err, "XX000", "could not generate random values");
	u[6] = (u[6] & 0x0f) | 0x40; /* version 4, of the usual variant */
	u[8] = (u[8] & 0x3f) | 0x80;
	const char *p = nam_arena_copy(r->env->arena, u, sizeof u);
	r->out.s = (struct cat_str){ p, sizeof u };
	return p != NULL || sql_oom(r->env->err);
}

#define B CAT_BYTEA
#define U CAT_UUID
#define I CAT_INT4

const struct sql_fn sql_fns_binary[] = {
	{ "||", SQL_FN_OP, 2, { B, B }, B, NULL, k_join },
	F("length", 1, I, k_length, B),
	F("octet_length", 1, I, k_length, B),
	F("bit_length", 1, I, k_bit_length, B),
	F("substring", 2, B, k_substring, B, I),
	F("substring", 3, B, k_substring, B, I, I),
	F("substr", 2, B, k_substring, B, I),
	F("substr", 3, B, k_substring, B, I, I),
	F("position", 2, I, k_position, B, B),
	F("get_byte", 2, I, k_get_byte, B, I),
	F("set_byte", 3, B, k_set_byte, B, I, I),
	F("md5", 1, CAT_TEXT, sql_md5, B),
	F("sha256", 1, B, k_sha256, B),
	F("sha512", 1, B, k_sha512, B),
	F("encode", 2, CAT_TEXT, k_encode, B, CAT_TEXT),
	F("decode", 2, B, k_decode, CAT_TEXT, CAT_TEXT),
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
	{ "gen_random_uuid", SQL_FN_VOLATILE | SQL_FN_EACH, 0, { 0 }, U, NULL, k_new_uuid },
	{ 0 },
};
