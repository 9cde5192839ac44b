/* value.c -- values of every type: text in, text out, order, hash, fit. */
#include <base/hash.h>
#include <types/array.h>
#include <types/binary.h>
#include <types/datetime.h>
#include <types/enum.h>
#include <types/interval.h>
#include <types/jsonb.h>
#include <types/numeric.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *word, *array_name, *array_word;
	char category;
	bool preferred;
} types[CAT_TYPES] = {
#define TYPE(name, word, category, preferred)                                                                \
	{                                                                                                    \
		name, word, name "[]", "_" word, category, preferred                                         \
	}
	[CAT_UNKNOWN] = TYPE("unknown", "unknown", 'X', false),
	[CAT_BOOL] = TYPE("boolean", "bool", 'B', true),
	[CAT_INT2] = TYPE("smallint", "int2", 'N', false),
	[CAT_INT4] = TYPE("integer", "int4", 'N', false),
	[CAT_INT8] = TYPE("bigint", "int8", 'N', false),
	[CAT_FLOAT4] = TYPE("real", "float4", 'N', false),
	[CAT_FLOAT8] = TYPE("double precision", "float8", 'N', true),
	[CAT_NUMERIC] = TYPE("numeric", "numeric", 'N', false),
	[CAT_TEXT] = TYPE("text", "text", 'S', true),
	[CAT_BPCHAR] = TYPE("character", "bpchar", 'S', false),
	[CAT_DATE] = TYPE("date", "date", 'D', false),
	[CAT_TIMESTAMPTZ] = TYPE("timestamp with time zone", "timestamptz", 'D', true),
	[CAT_INTERVAL] = TYPE("interval", "interval", 'T', true),
	[CAT_TIME] = TYPE("time without time zone", "time", 'D', false),
	[CAT_BYTEA] = TYPE("bytea", "bytea", 'U', false),
	[CAT_UUID] = TYPE("uuid", "uuid", 'U', false),
	[CAT_JSON] = TYPE("json", "json", 'U', false),
	[CAT_JSONB] = TYPE("jsonb", "jsonb", 'U', false),
	[CAT_OID] = TYPE("oid", "oid", 'N', true),
	[CAT_NAME] = TYPE("name", "name", 'S', false),
	[CAT_CHAR] = TYPE("\"char\"", "char", 'Z', false),
	[CAT_REGCLASS] = TYPE("regclass", "regclass", 'N', false),
	[CAT_REGTYPE] = TYPE("regtype", "regtype", 'N', false),
	[CAT_REGPROC] = TYPE("regproc", "regproc", 'N', false),
	[CAT_REGNAMESPACE] = TYPE("regnamespace", "regnamespace", 'N', false),
	[CAT_REGROLE] = TYPE("regrole", "regrole", 'N', false),
	[CAT_INT2V] = { "smallint", "int2vector element", "int2vector", "int2vector", 'N', false },
	[CAT_OIDV] = { "oid", "oidvector element", "oidvector", "oidvector", 'N', false },
	[CAT_ENUM] = TYPE("anyenum", "anyenum", 'E', false),
	[CAT_TIMESTAMP] = TYPE("timestamp without time zone", "timestamp", 'D', false),
#undef TYPE
};

const char *
cat_type_name(enum cat_type t)
{
	if (cat_type_id(t) != 0)
		return cat_enum_said(t);
	if (cat_type_is_array(t))
		return cat_type_is_known(t) ? types[cat_type_element(t)].array_name : "?";
	return (unsigned)t < CAT_TYPES ? types[t].name : "?";
}

const char *
cat_type_said(enum cat_type t, int32_t typmod)
{
	if (!cat_type_is_varchar(t, typmod))
		return cat_type_name(t);
	return cat_type_is_array(t) ? "character varying[]" : "character varying";
}

static const char *
interval_fields(int32_t typmod)
{
	enum {
		Y = CAT_FIELD_YEAR,
		MO = CAT_FIELD_MONTH,
		D = CAT_FIELD_DAY,
		H = CAT_FIELD_HOUR,
		M = CAT_FIELD_MINUTE,
		S = CAT_FIELD_SECOND
	};
	static const struct {
		int32_t fields;
		const char *name;
	} known[] = { { Y, " year" }, { MO, " month" }, { D, " day" }, { H, " hour" }, { M, " minute" },
		{ S, " second" }, { Y | MO, " year to month" }, { D | H, " day to hour" },
		{ D | H | M, " day to minute" }, { D | H | M | S, " day to second" },
		{ H | M, " hour to minute" }, { H | M | S, " hour to second" },
		{ M | S, " minute to second" } };
	for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].fields == typmod)
			return known[k].name;
	return "";
}

const char *
cat_type_full(enum cat_type t, int32_t typmod, char out[CAT_TYPE_TEXT])
{
	enum cat_type each = cat_type_element(t);
	const char *end = cat_type_is_array(t) ? "[]" : "";
	if (typmod > CAT_VARCHAR && (each == CAT_TEXT || each == CAT_BPCHAR))
		snprintf(
		    out, CAT_TYPE_TEXT, "character%s(%d)%s", each == CAT_TEXT ? " varying" : "", typmod, end);
	else if (typmod >= 0 && each == CAT_NUMERIC)
		snprintf(out, CAT_TYPE_TEXT, "numeric(%d,%d)%s", typmod >> 16, typmod & 0xffff, end);
	else if (typmod >= 0 && each == CAT_INTERVAL)
		snprintf(out, CAT_TYPE_TEXT, "interval%s%s", interval_fields(typmod), end);
	else
		snprintf(out, CAT_TYPE_TEXT, "%s",
		    each == CAT_BPCHAR ? (*end ? "bpchar[]" : "bpchar") : cat_type_said(t, typmod));
	return out;
}

const char *
cat_type_word(enum cat_type t)
{
	if (cat_type_id(t) != 0)
		return cat_enum_word(t);
	if (cat_type_is_array(t))
		return cat_type_is_known(t) ? types[cat_type_element(t)].array_word : "?";
	return (unsigned)t < CAT_TYPES ? types[t].word : "?";
}

enum cat_type
cat_type_find(const char *word)
{
	for (int t = CAT_UNKNOWN + 1; t < CAT_TYPES; t++)
		if (t == CAT_ENUM)
			continue;
		else if (strcmp(types[t].word, word) == 0)
			return (enum cat_type)t;
		else if (strcmp(types[t].array_word, word) == 0)
			return cat_type_array_of((enum cat_type)t);
	return strcmp(word, "varchar") == 0    ? CAT_TEXT
	       : strcmp(word, "_varchar") == 0 ? cat_type_array_of(CAT_TEXT)
					       : CAT_UNKNOWN;
}

char
cat_type_category(enum cat_type t)
{
	unsigned kind = cat_type_kind(t);
	return cat_type_is_array(t) ? 'A' : kind < CAT_TYPES ? types[kind].category : 'X';
}

bool
cat_type_preferred(enum cat_type t)
{
	return (unsigned)t < CAT_TYPES && types[t].preferred;
}

bool
cat_vec_take(struct cat_vec *v, enum cat_type type, unsigned n, struct nam_arena *arena)
{
	size_t each = cat_type_is_str(type) ? sizeof(struct cat_str) : 8;
	char *p = nam_arena_take(arena, n * each + n);
	if (p == NULL)
		return false;
	v->type = type;
	v->i = (int64_t *)(void *)p;
	v->null = (uint8_t *)p + n * each;
	return true;
}

bool
cat_error(struct cat_err *err, const char *sqlstate, const char *fmt, ...)
{
	if (err == NULL)
		return false;
	memcpy(err->sqlstate, sqlstate, 5);
	err->sqlstate[5] = 0;
	err->position = 0;
	err->detail[0] = err->hint[0] = err->context[0] = 0;
	err->table[0] = err->column[0] = err->constraint[0] = 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	return false;
}

bool
cat_error_about(struct cat_err *err, const char *table, const char *column, const char *constraint)
{
	if (err == NULL)
		return false;
	snprintf(err->table, sizeof err->table, "%s", table ? table : "");
	snprintf(err->column, sizeof err->column, "%s", column ? column : "");
	snprintf(err->constraint, sizeof err->constraint, "%s", constraint ? constraint : "");
	return false;
}

/* ---- in ---------------------------------------------------------------------- */

static struct cat_str
strip(struct cat_str s)
{
	while (s.len > 0 && (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r')))
		s.p++, s.len--;
	while (s.len > 0 && (s.p[s.len - 1] == ' ' || (s.p[s.len - 1] >= '\t' && s.p[s.len - 1] <= '\r')))
		s.len--;
	return s;
}

static bool
bad(enum cat_type t, struct cat_str s, struct cat_err *err)
{
	return cat_error(err, "22P02", "invalid input syntax for type %s: \"%.*s\"", cat_type_name(t),
	    (int)(s.len > 200 ? 200 : s.len), s.p);
}

static bool
bool_in(struct cat_str in, union cat_val *out, struct cat_err *err)
{
	/* Any beginning of these that is not a beginning of both on and off. */
	static const char *const yes[] = { "true", "yes", "on", "1" }, *const no[] = { "false", "no", "off",
		"0" };
	struct cat_str s = strip(in);
	for (int k = 0; k < 4 && s.len > 0; k++) {
		bool o = k == 2 && s.len == 1;
		if (s.len <= strlen(yes[k]) && !o && strncasecmp(s.p, yes[k], s.len) == 0) {
			out->i = 1;
			return true;
		}
		if (s.len <= strlen(no[k]) && !o && strncasecmp(s.p, no[k], s.len) == 0) {
			out->i = 0;
			return true;
		}
	}
	return bad(CAT_BOOL, in, err);
}

static bool
int_in(enum cat_type type, struct cat_str in, union cat_val *out, struct cat_err *err)
{
	struct cat_str s = strip(in);
	bool neg = false, over = false;
	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		neg = s.p[0] == '-';
		s.p++, s.len--;
	}
	if (s.len == 0)
		return bad(type, in, err);
	uint64_t v = 0, most = type == CAT_INT2 ? INT16_MAX : type == CAT_INT4 ? INT32_MAX : INT64_MAX;
	most += neg;
	for (uint32_t k = 0; k < s.len; k++) {
		unsigned d = (unsigned)(unsigned char)s.p[k] - '0';
		if (d > 9)
			return bad(type, in, err);
		over = __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, d, &v) || v > most;
		if (over) /* whatever follows */
			break;
	}
	if (over)
		return cat_error(err, "22003", "value \"%.*s\" is out of range for type %s",
		    (int)(in.len > 200 ? 200 : in.len), in.p, cat_type_name(type));
	out->i = neg ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

static bool
float_in(
    enum cat_type type, struct cat_str in, union cat_val *out, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_str s = strip(in);
	char small[64];
	char *z = small;
	if (s.len < sizeof small) {
		memcpy(small, s.p, s.len);
		small[s.len] = 0;
	} else if ((z = nam_arena_str(arena, s.p, s.len)) == NULL) {
		return cat_error(err, "53200", "out of memory");
	}
	if (s.len == 0)
		return bad(type, in, err);
	char *end;
	errno = 0;
	out->f = type == CAT_FLOAT4 ? (double)strtof(z, &end) : strtod(z, &end);
	if (end != z + s.len || memchr(z, '(', s.len) != NULL)
		return bad(type, in, err);
	if (errno == ERANGE && (out->f == 0 || isinf(out->f)))
		return cat_error(
		    err, "22003", "\"%.200s\" is out of range for type %s", z, cat_type_name(type));
	return true;
}

/* First byte that does not begin a valid UTF-8 character, or s.len. No surrogates, nothing over
 * U+10FFFF, no 0. */
static uint32_t
utf8_valid(struct cat_str s)
{
	const uint8_t *p = (const uint8_t *)s.p;
	uint32_t k = 0;
	while (k < s.len) {
		if (s.len - k >= 8) {
			uint64_t w;
			memcpy(&w, p + k, 8);
			/* no high bit and no 0 byte in these eight */
			if (((w | (w - UINT64_C(0x0101010101010101))) & UINT64_C(0x8080808080808080)) == 0) {
				k += 8;
				continue;
			}
		}
		uint8_t c = p[k];
		unsigned n = c < 0x80                ? 1
			     : c >= 0xc2 && c < 0xe0 ? 2
			     : (c & 0xf0) == 0xe0    ? 3
			     : c >= 0xf0 && c < 0xf5 ? 4
						     : 0;
		if (c == 0 || n == 0 || n > s.len - k)
			return k;
		for (unsigned j = 1; j < n; j++)
			if ((p[k + j] & 0xc0) != 0x80)
				return k;
		if ((c == 0xe0 && p[k + 1] < 0xa0) || (c == 0xed && p[k + 1] > 0x9f) ||
		    (c == 0xf0 && p[k + 1] < 0x90) || (c == 0xf4 && p[k + 1] > 0x8f))
			return k;
		k += n;
	}
	return k;
}

static bool
text_in(struct cat_str in, union cat_val *out, struct cat_err *err)
{
	uint32_t k = utf8_valid(in);
	if (k < in.len) {
		char hex[64];
		unsigned n = 0, c = (unsigned char)in.p[k],
			 want = c < 0xc0   ? 1
				: c < 0xe0 ? 2
				: c < 0xf0 ? 3
				: c < 0xf8 ? 4
					   : 1;
		for (unsigned j = 0; j < want && k + j < in.len; j++)
			n += (unsigned)snprintf(
			    hex + n, sizeof hex - n, "%s0x%02x", j ? " " : "", (unsigned char)in.p[k + j]);
		return cat_error(err, "22021", "invalid byte sequence for encoding \"UTF8\": %s", hex);
	}
	out->s = in;
	return true;
}

/* Characters of valid UTF-8 up to `most`; *bytes gets their length. */
static uint32_t
chars_up_to(struct cat_str s, uint32_t most, uint32_t *bytes)
{
	uint32_t k = 0, n = 0;
	while (k < s.len && n < most) {
		for (k++; k < s.len && ((uint8_t)s.p[k] & 0xc0) == 0x80; k++)
			;
		n++;
	}
	*bytes = k;
	return n;
}

bool
cat_reg_make(uint32_t oid, struct cat_str name, struct cat_str *out, struct nam_arena *arena)
{
	char *p = nam_arena_take(arena, CAT_OID_BYTES + (size_t)name.len);
	if (p == NULL)
		return false;
	for (unsigned k = 0; k < CAT_OID_BYTES; k++)
		p[k] = (char)(oid >> 8 * k);
	if (name.len > 0)
		memcpy(p + CAT_OID_BYTES, name.p, name.len);
	*out = (struct cat_str){ p, CAT_OID_BYTES + name.len };
	return true;
}

/* Blanks around, a sign: as PostgreSQL reads it. */
static bool
oid_in(struct cat_str in, union cat_val *out, struct cat_err *err)
{
	struct cat_err why;
	if (!int_in(CAT_INT8, in, out, &why)) {
		bool over = why.sqlstate[0] == '2' && why.sqlstate[4] == '3';
		return over ? cat_error(err, "22003", "value \"%.*s\" is out of range for type oid",
				  (int)(in.len > 200 ? 200 : in.len), in.p)
			    : bad(CAT_OID, in, err);
	}
	if (out->i < INT32_MIN || out->i > UINT32_MAX)
		return cat_error(err, "22003", "value \"%.*s\" is out of range for type oid",
		    (int)(in.len > 200 ? 200 : in.len), in.p);
	out->i = (uint32_t)out->i;
	return true;
}

/* The most characters that max bytes hold. */
static struct cat_str
cut(struct cat_str s, uint32_t max)
{
	if (s.len > max)
		for (s.len = max; s.len > 0 && ((uint8_t)s.p[s.len] & 0xc0) == 0x80; s.len--)
			;
	return s;
}

static bool
name_in(struct cat_str in, union cat_val *out, struct cat_err *err)
{
	if (!text_in(in, out, err))
		return false;
	out->s = cut(out->s, CAT_NAME_BYTES);
	return true;
}

#define ROW(b)                                                                                               \
	b, b + 1, b + 2, b + 3, b + 4, b + 5, b + 6, b + 7, b + 8, b + 9, b + 10, b + 11, b + 12, b + 13,    \
	    b + 14, b + 15
static const unsigned char every_byte[256] = { ROW(0), ROW(16), ROW(32), ROW(48), ROW(64), ROW(80), ROW(96),
	ROW(112), ROW(128), ROW(144), ROW(160), ROW(176), ROW(192), ROW(208), ROW(224), ROW(240) };
#undef ROW

struct cat_str
cat_char_of(unsigned char c)
{
	return (struct cat_str){ (const char *)&every_byte[c], c != 0 };
}

struct cat_str
cat_char_from_text(struct cat_str s)
{
	unsigned v = 0;
	bool octal = s.len == 4 && s.p[0] == '\\';
	for (uint32_t k = 1; octal && k < 4; k++) {
		octal = s.p[k] >= '0' && s.p[k] <= '7';
		v = v * 8 + (unsigned)(s.p[k] - '0');
	}
	return octal ? cat_char_of((unsigned char)v) : (struct cat_str){ s.p, s.len > 0 };
}

static bool
char_in(struct cat_str in, union cat_val *out, struct cat_err *err)
{
	if (!text_in(in, out, err))
		return false;
	out->s = cat_char_from_text(out->s);
	return true;
}

bool
cat_char_to_text(struct cat_str c, struct cat_str *out, struct nam_arena *arena)
{
	unsigned char b = c.len > 0 ? (unsigned char)c.p[0] : 0;
	*out = c;
	if (b < 0x80)
		return true;
	char *p = nam_arena_take(arena, 4);
	if (p == NULL)
		return false;
	p[0] = '\\';
	p[1] = (char)('0' + (b >> 6));
	p[2] = (char)('0' + (b >> 3 & 7));
	p[3] = (char)('0' + (b & 7));
	*out = (struct cat_str){ p, 4 };
	return true;
}

bool
cat_value_fit(
    enum cat_type type, int32_t typmod, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	if (typmod < 0 || (typmod == CAT_VARCHAR && cat_type_element(type) == CAT_TEXT))
		return true;
	if (cat_type_is_array(type))
		return cat_array_fit(type, typmod, &v->s, arena, err);
	if (type == CAT_NUMERIC)
		return cat_num_fit(v->s, typmod, &v->s, arena, err);
	if (type == CAT_INTERVAL)
		return cat_interval_store(
		    cat_interval_fit(cat_interval_load(v->s), typmod), &v->s, arena, err);
	bool pads = type == CAT_BPCHAR;
	if (!pads && (type != CAT_TEXT || v->s.len <= (uint32_t)typmod))
		return true;
	uint32_t bytes, chars = chars_up_to(v->s, (uint32_t)typmod, &bytes);
	if (pads && chars < (uint32_t)typmod) {
		uint32_t more = (uint32_t)typmod - chars;
		char *p = nam_arena_take(arena, v->s.len + (size_t)more);
		if (p == NULL)
			return cat_error(err, "53200", "out of memory");
		memcpy(p, v->s.p, v->s.len);
		memset(p + v->s.len, ' ', more);
		v->s = (struct cat_str){ p, v->s.len + more };
		return true;
	}
	/* Spaces too many go silently. */
	for (uint32_t k = bytes; k < v->s.len; k++)
		if (v->s.p[k] != ' ')
			return cat_error(err, "22001", "value too long for type character%s(%d)",
			    pads ? "" : " varying", (int)typmod);
	v->s.len = bytes;
	return true;
}

bool
cat_value_in(enum cat_type type, int32_t typmod, struct cat_str in, union cat_val *out,
    struct nam_arena *arena, struct cat_err *err)
{
	if (cat_type_is_array(type))
		return cat_array_in(type, typmod, in, &out->s, arena, err);
	if (cat_type_is_enum(type))
		return cat_enum_in(type, in, &out->i, err);
	switch (type) {
	case CAT_BOOL:
		return bool_in(in, out, err);
	case CAT_INT2:
	case CAT_INT4:
	case CAT_INT8:
		return int_in(type, in, out, err);
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		return float_in(type, in, out, arena, err);
	case CAT_NUMERIC:
		return cat_num_in(in, &out->s, arena, err) && cat_value_fit(type, typmod, out, arena, err);
	case CAT_TEXT:
	case CAT_BPCHAR:
	case CAT_UNKNOWN:
		return text_in(in, out, err) && cat_value_fit(type, typmod, out, arena, err);
	case CAT_DATE:
		return cat_date_in(in, &out->i, err);
	case CAT_TIMESTAMP:
		return cat_timestamp_in(in, &out->i, err);
	case CAT_TIMESTAMPTZ:
		return cat_timestamptz_in(in, &out->i, err);
	case CAT_JSON:
		return text_in(in, out, err) && cat_json_check(in, err);
	case CAT_JSONB:
		return text_in(in, out, err) && cat_jsonb_in(in, &out->s, arena, err);
	case CAT_BYTEA:
		return cat_bytea_in(in, &out->s, arena, err);
	case CAT_UUID:
		return cat_uuid_in(in, &out->s, arena, err);
	case CAT_TIME:
		return cat_time_in(in, &out->i, err);
	case CAT_OID:
	case CAT_OIDV:
		return oid_in(in, out, err);
	case CAT_INT2V:
		return int_in(CAT_INT2, in, out, err);
	case CAT_NAME:
		return name_in(in, out, err);
	case CAT_CHAR:
		return char_in(in, out, err);
	case CAT_REGCLASS:
	case CAT_REGTYPE:
	case CAT_REGPROC:
	case CAT_REGNAMESPACE:
	case CAT_REGROLE: /* a name needs a catalog: sql/expr/func/system.c */
		return cat_error(
		    err, "0A000", "names of type %s are not supported here yet", cat_type_name(type));
	case CAT_INTERVAL: {
		struct cat_interval v;
		return cat_interval_in(in, typmod, &v, err) && cat_interval_store(v, &out->s, arena, err);
	}
	default:
		return cat_error(err, "XX000", "unknown type %d", (int)type);
	}
}

/* ---- out --------------------------------------------------------------------------- */

static unsigned
int_out(int64_t v, char *to)
{
	char t[24];
	unsigned n = 0, k = 0;
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	do
		t[n++] = (char)('0' + u % 10);
	while ((u /= 10) != 0);
	if (v < 0)
		to[k++] = '-';
	while (n > 0)
		to[k++] = t[--n];
	return k;
}

/* True if text reads back as v, and not only because of how a tie was rounded. */
static bool
reads_back(const char *t, double v, bool four)
{
	if (four) {
		float f = (float)v;
		if (strtof(t, NULL) != f)
			return false;
		/* halfway between two floats is a double */
		double near = strtod(t, NULL);
		return near == v || (near != (v + (double)nextafterf(f, INFINITY)) / 2 &&
					near != (v + (double)nextafterf(f, -INFINITY)) / 2);
	}
	if (strtod(t, NULL) != v)
		return false;
	/* Halfway to a neighbour fits a long double exactly. Such a text is ambiguous for other
	 * readers. */
	long double x = strtold(t, NULL), d = v;
	return x == d || (x != (d + (long double)nextafter(v, INFINITY)) / 2 &&
			     x != (d + (long double)nextafter(v, -INFINITY)) / 2);
}

/* Shortest digits that read back as v > 0: writes them and their exponent (d.ddd * 10^e). */
static unsigned
shortest(double v, bool four, char digits[24], int *exp)
{
	char t[40];
	/* 15 digits (6 of a float) are unique, except where a double has fewer bits */
	int p = v < (four ? 1.2e-38 : 2.3e-308) ? 1 : four ? 6 : 15, most = four ? 9 : 17;
	for (; p < most; p++) {
		snprintf(t, sizeof t, "%.*e", p - 1, v);
		if (reads_back(t, v, four))
			break;
		/* At a power of two the gap above is twice the gap below: the text just above may
		 * do. */
		int ignore;
		if (frexp(v, &ignore) == 0.5) {
			char up[40];
			memcpy(up, t, sizeof up);
			int last = p == 1 ? 0 : p;
			if (up[last] < '9') {
				up[last]++;
				if (reads_back(up, v, four)) {
					memcpy(t, up, sizeof up);
					break;
				}
			}
		}
	}
	if (p == most)
		snprintf(t, sizeof t, "%.*e", most - 1, v);
	unsigned n = 0;
	char *e = strchr(t, 'e');
	for (char *c = t; c < e; c++)
		if (*c != '.')
			digits[n++] = *c;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	*exp = atoi(e + 1);
	return n;
}

/* With so many significant digits as cat_value_show's floats says. */
static unsigned
float_cut(double v, bool four, uint8_t floats, char *to)
{
	int digits = (four ? 7 : 16) - floats;
	return (unsigned)snprintf(to, CAT_DATETIME_CHARS, "%.*g", digits < 1 ? 1 : digits, v);
}

static unsigned
float_out(double v, bool four, uint8_t floats, char *to)
{
	int plain = four ? 6 : 15; /* digits before the point without an exponent */
	if (isnan(v)) {
		memcpy(to, "NaN", 3);
		return 3;
	}
	if (isinf(v)) {
		memcpy(to, v < 0 ? "-Infinity" : "Infinity", 9);
		return v < 0 ? 9 : 8;
	}
	if (floats != 0)
		return float_cut(v, four, floats, to);
	unsigned n = 0;
	if (signbit(v)) {
		to[n++] = '-';
		v = -v;
	}
	if (v < (four ? 1e6 : 1e15) && v == (double)(int64_t)v)
		return n + int_out((int64_t)v, to + n);
	char d[24];
	int e;
	unsigned count = shortest(v, four, d, &e);
	if (e >= -4 && e < plain) {
		if (e < 0) {
			to[n++] = '0';
			to[n++] = '.';
			for (int k = -1; k > e; k--)
				to[n++] = '0';
			memcpy(to + n, d, count);
			return n + count;
		}
		for (unsigned k = 0; k < count || (int)k <= e; k++) {
			if ((int)k == e + 1)
				to[n++] = '.';
			to[n++] = k < count ? d[k] : '0';
		}
		return n;
	}
	to[n++] = d[0];
	if (count > 1) {
		to[n++] = '.';
		memcpy(to + n, d + 1, count - 1);
		n += count - 1;
	}
	return n + (unsigned)snprintf(to + n, 8, "e%c%02d", e < 0 ? '-' : '+', abs(e));
}

struct cat_str
cat_value_out(enum cat_type type, union cat_val v, struct nam_arena *arena)
{
	return cat_value_show(type, v, 0, arena);
}

struct cat_str
cat_value_show(enum cat_type type, union cat_val v, uint8_t floats, struct nam_arena *arena)
{
	if (type == CAT_BOOL)
		return (struct cat_str){ v.i ? "t" : "f", 1 };
	if (type == CAT_TEXT || type == CAT_JSON || type == CAT_JSONB || type == CAT_BPCHAR ||
	    type == CAT_UNKNOWN || type == CAT_NAME)
		return v.s;
	if (type == CAT_CHAR)
		return cat_char_to_text(v.s, &v.s, arena) ? v.s : (struct cat_str){ "", 0 };
	if (cat_type_is_reg(type))
		return v.s.len > CAT_OID_BYTES
			   ? (struct cat_str){ v.s.p + CAT_OID_BYTES, v.s.len - CAT_OID_BYTES }
			   : (struct cat_str){ "-", 1 };
	if (cat_type_is_array(type))
		return cat_array_out(type, v.s, floats, arena);
	if (cat_type_is_enum(type))
		return cat_enum_out(type, v.i, arena);
	if (type == CAT_NUMERIC)
		return cat_num_out(v.s, arena);
	if (type == CAT_BYTEA)
		return cat_bytea_out(v.s, arena);
	char *p = nam_arena_take(arena, type == CAT_INTERVAL ? CAT_INTERVAL_CHARS : CAT_DATETIME_CHARS);
	if (p == NULL)
		return (struct cat_str){ "", 0 };
	unsigned n = 0;
	switch (type) {
	case CAT_INT2:
	case CAT_INT4:
	case CAT_INT8:
	case CAT_OID:
	case CAT_INT2V:
	case CAT_OIDV:
		n = int_out(v.i, p);
		break;
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		n = float_out(v.f, type == CAT_FLOAT4, floats, p);
		break;
	case CAT_DATE:
		n = cat_date_out(v.i, p);
		break;
	case CAT_TIMESTAMP:
		n = cat_timestamp_out(v.i, p);
		break;
	case CAT_TIMESTAMPTZ:
		n = cat_timestamptz_out(v.i, p);
		break;
	case CAT_UUID:
		cat_uuid_out(v.s, p);
		n = CAT_UUID_CHARS;
		break;
	case CAT_TIME:
		n = cat_time_out(v.i, p);
		break;
	case CAT_INTERVAL:
		n = cat_interval_out(cat_interval_load(v.s), p);
		break;
	default:
		break;
	}
	return (struct cat_str){ p, n };
}

/* ---- order, hash, copy ---------------------------------------------------------------- */

static struct cat_str
without_blanks(struct cat_str s)
{
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

/* The numeric without trailing zeros of its fraction: equal numbers, equal bytes. */
static bool
numeric_canonical(struct cat_str n, struct cat_str *out, struct nam_arena *arena)
{
	struct cat_err err;
	*out = n;
	if (cat_num_is_nan(n) || cat_num_is_inf(n) || cat_num_scale(n) == 0)
		return true;
	struct cat_str text = cat_num_out(n, arena);
	if (text.len == 0)
		return false;
	while (text.p[text.len - 1] == '0')
		text.len--;
	if (text.p[text.len - 1] == '.')
		text.len--;
	return cat_num_in(text, out, arena, &err);
}

bool
cat_value_canonical(enum cat_type type, struct cat_str s, struct cat_str *out, struct nam_arena *arena)
{
	if (cat_type_is_array(type))
		return cat_array_canonical(type, s, out, arena);
	switch (type) {
	case CAT_NUMERIC:
		return numeric_canonical(s, out, arena);
	case CAT_BPCHAR:
		*out = without_blanks(s);
		return true;
	case CAT_INTERVAL: {
		__int128 span = cat_interval_span(cat_interval_load(s));
		const char *p = nam_arena_copy(arena, &span, sizeof span);
		*out = (struct cat_str){ p, s.len };
		return p != NULL;
	}
	default:
		if (cat_type_is_reg(type) && s.len > CAT_OID_BYTES)
			s.len = CAT_OID_BYTES;
		*out = s;
		return true;
	}
}

int
cat_value_cmp(enum cat_type type, union cat_val a, union cat_val b)
{
	if (cat_type_is_array(type))
		return cat_array_cmp(type, a.s, b.s);
	if (cat_type_is_reg(type)) {
		uint32_t x = cat_reg_oid(a.s.p, a.s.len), y = cat_reg_oid(b.s.p, b.s.len);
		return (x > y) - (x < y);
	}
	switch (type) {
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		if (isnan(a.f) || isnan(b.f))
			return (int)!!isnan(a.f) - (int)!!isnan(b.f);
		return (a.f > b.f) - (a.f < b.f);
	case CAT_NUMERIC:
		return cat_num_cmp(a.s, b.s);
	case CAT_INTERVAL: {
		__int128 x = cat_interval_span(cat_interval_load(a.s));
		__int128 y = cat_interval_span(cat_interval_load(b.s));
		return (x > y) - (x < y);
	}
	case CAT_JSONB:
		return cat_jsonb_cmp(a.s, b.s);
	case CAT_BPCHAR:
		a.s = without_blanks(a.s);
		b.s = without_blanks(b.s);
		/* fall through */
	case CAT_TEXT:
	case CAT_NAME:
	case CAT_CHAR:
	case CAT_BYTEA:
	case CAT_UUID:
	case CAT_JSON:
	case CAT_UNKNOWN: {
		uint32_t n = a.s.len < b.s.len ? a.s.len : b.s.len;
		int c = n ? memcmp(a.s.p, b.s.p, n) : 0;
		if (c == 0)
			return (a.s.len > b.s.len) - (a.s.len < b.s.len);
		return c < 0 ? -1 : 1;
	}
	default:
		return (a.i > b.i) - (a.i < b.i);
	}
}

uint64_t
cat_value_hash(enum cat_type type, union cat_val v, uint64_t seed)
{
	if (cat_type_is_array(type))
		return cat_array_hash(type, v.s, seed);
	if (cat_type_is_reg(type))
		return nam_mix(
			   ((uint64_t)cat_reg_oid(v.s.p, v.s.len) + UINT64_C(0x9e3779b97f4a7c15)) ^ seed) +
		       seed;
	switch (type) {
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		if (v.f == 0)
			v.f = 0;
		if (isnan(v.f))
			v.i = INT64_C(0x7ff8000000000000);
		return nam_mix((uint64_t)v.i ^ seed) + seed;
	case CAT_NUMERIC:
		return cat_num_hash(v.s, seed);
	case CAT_INTERVAL: {
		__int128 span = cat_interval_span(cat_interval_load(v.s));
		return nam_hash(&span, sizeof span, seed);
	}
	case CAT_JSONB:
		return cat_jsonb_hash(v.s, seed);
	case CAT_BPCHAR:
		v.s = without_blanks(v.s);
		/* fall through */
	case CAT_TEXT:
	case CAT_NAME:
	case CAT_CHAR:
	case CAT_BYTEA:
	case CAT_UUID:
	case CAT_JSON:
	case CAT_UNKNOWN:
		return nam_hash(v.s.p, v.s.len, seed);
	default:
		return nam_mix(((uint64_t)v.i + UINT64_C(0x9e3779b97f4a7c15)) ^ seed) + seed;
	}
}

union cat_val
cat_value_copy(enum cat_type type, union cat_val v, struct nam_arena *arena)
{
	if (cat_type_is_str(type)) {
		const char *p = v.s.len ? nam_arena_copy(arena, v.s.p, v.s.len) : "";
		v.s = p ? (struct cat_str){ p, v.s.len } : (struct cat_str){ "", 0 };
	}
	return v;
}
