/* types_binary.c -- values in the protocol's binary format, as PostgreSQL's send and receive
 * functions have them. */
#include "pgwire_internal.h"

#include <types/array.h>
#include <types/binary.h>
#include <types/datetime.h>
#include <types/interval.h>
#include <types/json.h>
#include <types/numeric.h>

#include <limits.h>
#include <string.h>

static bool
malformed(struct cat_err *err)
{
	return cat_error(err, "22P03", "incorrect binary data format");
}

/* ---- numeric: digits to the base 10000 ------------------------------------------------ */

enum { NUM_NEGATIVE = 0x4000, NUM_NAN = 0xc000, NUM_PLUS_INF = 0xd000, NUM_MINUS_INF = 0xf000 };

static void
numeric_head(struct cn_pg_out *o, unsigned digits, int weight, unsigned sign, unsigned scale)
{
	cn_pg_put16(o, (uint16_t)digits);
	cn_pg_put16(o, (uint16_t)weight);
	cn_pg_put16(o, (uint16_t)sign);
	cn_pg_put16(o, (uint16_t)scale);
}

/* From its text: "-12345.678". */
static void
numeric_out(struct cn_pg_out *o, struct cat_str v, struct nam_arena *arena)
{
	struct cat_str s = cat_num_out(v, arena);
	bool minus = s.len > 0 && s.p[0] == '-';
	const char *p = s.p + minus, *end = s.p + s.len;
	if (cat_num_is_nan(v) || cat_num_is_inf(v)) {
		numeric_head(o, 0, 0, cat_num_is_nan(v) ? NUM_NAN : minus ? NUM_MINUS_INF : NUM_PLUS_INF, 0);
		return;
	}
	const char *point = memchr(p, '.', (size_t)(end - p));
	int whole = (int)((point ? point : end) - p), scale = point ? (int)(end - point - 1) : 0;
	/* Decimal digit i, from the left; groups of four meet at the point. */
	int pad = (4 - whole % 4) % 4, groups = (pad + whole) / 4 + (scale + 3) / 4,
	    weight = (pad + whole) / 4 - 1;
	int first = groups, last = -1;
	uint16_t *digit = nam_arena_zero(arena, ((size_t)groups + 1) * sizeof *digit);
	if (digit == NULL) {
		o->failed = true;
		return;
	}
	for (int i = 0; i < whole + scale; i++) {
		static const uint16_t ten[] = { 1000, 100, 10, 1 };
		int at = pad + i;
		char c = i < whole ? p[i] : point[1 + i - whole];
		digit[at / 4] = (uint16_t)(digit[at / 4] + (c - '0') * ten[at % 4]);
	}
	for (int g = 0; g < groups; g++)
		if (digit[g] != 0) {
			first = first < g ? first : g;
			last = g;
		}
	if (last < 0) {
		numeric_head(o, 0, 0, 0, (unsigned)scale);
		return;
	}
	numeric_head(
	    o, (unsigned)(last - first + 1), weight - first, minus ? NUM_NEGATIVE : 0, (unsigned)scale);
	for (int g = first; g <= last; g++)
		cn_pg_put16(o, digit[g]);
}

/* Writes four decimal digits. */
static void
four(char *to, unsigned v)
{
	for (int i = 3; i >= 0; i--, v /= 10)
		to[i] = (char)('0' + v % 10);
}

static bool
numeric_in(struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	struct cn_pg_reader r = cn_pg_reader(in.p, in.len);
	unsigned n = cn_pg_get16(&r);
	int weight = (int16_t)cn_pg_get16(&r);
	unsigned sign = cn_pg_get16(&r), scale = cn_pg_get16(&r);
	const char *special = sign == NUM_NAN         ? "NaN"
			      : sign == NUM_PLUS_INF  ? "Infinity"
			      : sign == NUM_MINUS_INF ? "-Infinity"
						      : NULL;
	if (r.bad || (size_t)(r.end - r.p) != (size_t)n * 2 || scale > CAT_NUM_SCALE_MAX)
		return malformed(err);
	if (special != NULL)
		return cat_num_in((struct cat_str){ special, (uint32_t)strlen(special) }, &v->s, arena, err);
	if (sign != 0 && sign != NUM_NEGATIVE)
		return cat_error(err, "22P03", "invalid sign in external \"numeric\" value");
	/* Groups before the point: 0..weight; behind it: enough for scale. */
	int before = weight >= 0 ? weight + 1 : 0, behind = (int)(scale + 3) / 4;
	size_t most = 4 * ((size_t)before + (size_t)behind) + 8, len = 0;
	char *text = nam_arena_take(arena, most);
	const unsigned char *digit = (const unsigned char *)r.p;
	if (text == NULL)
		return cat_error(err, "53200", "out of memory");
	if (sign == NUM_NEGATIVE)
		text[len++] = '-';
	text[len++] = '0';
	for (int g = 0; g < before + behind; g++) {
		int k = g - before + weight + 1; /* its place among those sent */
		unsigned d = k >= 0 && (unsigned)k < n ? (unsigned)digit[2 * k] << 8 | digit[2 * k + 1] : 0;
		if (d > 9999)
			return cat_error(err, "22P03", "invalid digit in external \"numeric\" value");
		if (g == before)
			text[len++] = '.';
		four(text + len, d);
		len += 4;
	}
	if (behind > 0)
		len -= (size_t)behind * 4 - scale;
	if (scale == 0 && behind > 0)
		len--;
	return cat_num_in((struct cat_str){ text, (uint32_t)len }, &v->s, arena, err);
}

/* ---- out -------------------------------------------------------------------------------- */

static void value_out(struct cn_pg_out *o, enum cat_type t, union cat_val v, struct nam_arena *arena);

static void
array_out(struct cn_pg_out *o, enum cat_type t, struct cat_str s, struct nam_arena *arena)
{
	struct cat_array a;
	cat_array_open(t, s, &a);
	cn_pg_put32(o, a.n > 0);
	cn_pg_put32(o, a.null != NULL);
	cn_pg_put32(o, cn_pg_oid(a.elem, -1));
	if (a.n == 0)
		return;
	cn_pg_put32(o, a.n);
	cn_pg_put32(o, (uint32_t)a.lower);
	for (uint32_t k = 0; k < a.n; k++) {
		union cat_val e;
		if (cat_array_at(&a, k, &e))
			cn_pg_binary_out(o, a.elem, e, arena);
		else
			cn_pg_put32(o, UINT32_MAX);
	}
}

static uint32_t
float_bits(double v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static void
value_out(struct cn_pg_out *o, enum cat_type t, union cat_val v, struct nam_arena *arena)
{
	struct cat_interval iv;
	if (cat_type_is_array(t)) {
		array_out(o, t, v.s, arena);
		return;
	}
	if (cat_type_is_enum(t)) {
		struct cat_str label = cat_value_out(t, v, arena);
		cn_pg_put(o, label.p, label.len);
		return;
	}
	switch (t) {
	case CAT_BOOL:
		cn_pg_put8(o, v.i != 0);
		break;
	case CAT_INT2:
	case CAT_INT2V:
		cn_pg_put16(o, (uint16_t)v.i);
		break;
	case CAT_INT4:
	case CAT_OID:
	case CAT_OIDV:
		cn_pg_put32(o, (uint32_t)v.i);
		break;
	case CAT_REGCLASS:
	case CAT_REGTYPE:
	case CAT_REGPROC:
	case CAT_REGNAMESPACE:
	case CAT_REGROLE:
		cn_pg_put32(o, cat_reg_oid(v.s.p, v.s.len));
		break;
	case CAT_DATE:
		cn_pg_put32(o, v.i == INT64_MAX   ? (uint32_t)INT32_MAX
			       : v.i == INT64_MIN ? (uint32_t)INT32_MIN
						  : (uint32_t)v.i);
		break;
	case CAT_INT8:
	case CAT_TIME:
	case CAT_TIMESTAMP:
	case CAT_TIMESTAMPTZ:
		cn_pg_put64(o, (uint64_t)v.i);
		break;
	case CAT_FLOAT4:
		cn_pg_put32(o, float_bits(v.f));
		break;
	case CAT_FLOAT8:
		cn_pg_put64(o, (uint64_t)v.i); /* the same 8 bytes */
		break;
	case CAT_NUMERIC:
		numeric_out(o, v.s, arena);
		break;
	case CAT_INTERVAL:
		iv = cat_interval_load(v.s);
		cn_pg_put64(o, (uint64_t)iv.us);
		cn_pg_put32(o, (uint32_t)iv.days);
		cn_pg_put32(o, (uint32_t)iv.months);
		break;
	case CAT_JSONB:
		cn_pg_put8(o, 1);
		cn_pg_put(o, v.s.p, v.s.len);
		break;
	default:
		cn_pg_put(o, v.s.p, v.s.len);
	}
}

void
cn_pg_binary_out(struct cn_pg_out *o, enum cat_type t, union cat_val v, struct nam_arena *arena)
{
	size_t at = cn_pg_length_at(o);
	value_out(o, t, v, arena);
	cn_pg_length_is(o, at);
}

/* ---- in ---------------------------------------------------------------------------------- */

static bool
array_in(
    enum cat_type t, struct cn_pg_reader *r, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	enum cat_type elem = cat_type_element(t), sent;
	bool vector = elem == CAT_INT2V || elem == CAT_OIDV, nulls = false;
	uint32_t dims = cn_pg_get32(r);
	cn_pg_get32(r); /* whether any is NULL, which the lengths say as well */
	uint32_t oid = cn_pg_get32(r);
	uint32_t n = dims == 1 ? cn_pg_get32(r) : 0;
	int32_t lower = dims == 1 ? (int32_t)cn_pg_get32(r) : 1;
	if (r->bad)
		return malformed(err);
	if (dims > 1)
		return cat_error(err, "0A000", "arrays of more than one dimension are not supported yet");
	if (vector ? oid != cn_pg_oid(elem, -1) : !cn_pg_type(oid, &sent) || sent != elem)
		return cat_error(err, "42804", "binary data has array element type %u instead of expected %u",
		    oid, cn_pg_oid(elem, -1));
	/* Every element has a length of 4 bytes at least. */
	if (n > (size_t)(r->end - r->p) / 4)
		return malformed(err);
	union cat_val *e = nam_arena_zero(arena, ((size_t)n + 1) * sizeof *e);
	bool *null = nam_arena_zero(arena, (size_t)n + 1);
	if (e == NULL || null == NULL)
		return cat_error(err, "53200", "out of memory");
	if (cat_type_is_enum(elem))
		elem = CAT_TEXT;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t len = cn_pg_get32(r);
		null[k] = len == UINT32_MAX;
		nulls |= null[k];
		const char *p = null[k] ? "" : cn_pg_get_bytes(r, len);
		if (r->bad)
			return malformed(err);
		if (null[k])
			e[k].s = (struct cat_str){ "", 0 };
		else if (!cn_pg_binary_in(elem, (struct cat_str){ p, len }, &e[k], arena, err))
			return false;
	}
	if (vector && (nulls || (n > 0 && lower != 0)))
		return cat_error(err, "22P03", "invalid %s data", cat_type_name(t));
	return cat_array_make(elem, vector ? 0 : lower, e, null, n, &v->s, arena, err);
}

static bool
interval_in(struct cn_pg_reader *r, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_interval iv = { .us = (int64_t)cn_pg_get64(r) };
	iv.days = (int32_t)cn_pg_get32(r);
	iv.months = (int32_t)cn_pg_get32(r);
	return cat_interval_store(iv, &v->s, arena, err);
}

/* Numbers of a fixed width. */
static bool
number_in(enum cat_type t, struct cn_pg_reader *r, union cat_val *v, struct cat_err *err)
{
	uint32_t bits;
	float f;
	switch (t) {
	case CAT_BOOL:
		v->i = cn_pg_get8(r) != 0;
		return true;
	case CAT_INT2:
	case CAT_INT2V:
		v->i = (int16_t)cn_pg_get16(r);
		return true;
	case CAT_INT4:
		v->i = (int32_t)cn_pg_get32(r);
		return true;
	case CAT_OID:
	case CAT_OIDV:
		v->i = cn_pg_get32(r);
		return true;
	case CAT_FLOAT4:
		bits = cn_pg_get32(r);
		memcpy(&f, &bits, sizeof f);
		v->f = (double)f;
		return true;
	case CAT_DATE:
		v->i = (int32_t)cn_pg_get32(r);
		v->i = v->i == INT32_MAX ? INT64_MAX : v->i == INT32_MIN ? INT64_MIN : v->i;
		return cat_date_valid(v->i) || cat_error(err, "22008", "date out of range");
	case CAT_TIME:
		v->i = (int64_t)cn_pg_get64(r);
		return (v->i >= 0 && v->i <= CAT_US_PER_DAY) || cat_error(err, "22008", "time out of range");
	case CAT_TIMESTAMP:
	case CAT_TIMESTAMPTZ:
		v->i = (int64_t)cn_pg_get64(r);
		return cat_time_infinite(v->i) || cat_timestamp_valid(v->i) ||
		       cat_error(err, "22008", "timestamp out of range");
	default:
		v->i = (int64_t)cn_pg_get64(r); /* int8, and the bits of a float8 */
		return true;
	}
}

/* Its name is its number: a name needs the catalog. */
static bool
reg_in(struct cn_pg_reader *r, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	union cat_val oid = { .i = cn_pg_get32(r) };
	if (r->bad || r->p != r->end)
		return malformed(err);
	return cat_reg_make((uint32_t)oid.i, cat_value_out(CAT_OID, oid, arena), &v->s, arena) ||
	       cat_error(err, "53200", "out of memory");
}

bool
cn_pg_labels_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	struct cn_pg_reader r = cn_pg_reader(in.p, in.len);
	return array_in(t, &r, v, arena, err) && (cn_pg_whole(&r) || malformed(err));
}

bool
cn_pg_binary_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	struct cn_pg_reader r = cn_pg_reader(in.p, in.len);
	bool ok = true;
	switch (cat_type_is_array(t) ? CAT_ARRAY : t) {
	case CAT_ARRAY:
		ok = array_in(t, &r, v, arena, err);
		break;
	case CAT_INTERVAL:
		ok = interval_in(&r, v, arena, err);
		break;
	case CAT_NUMERIC:
		return numeric_in(in, v, arena, err);
	case CAT_BYTEA:
		v->s = in;
		return true;
	case CAT_UUID:
		v->s = in;
		return in.len == CAT_UUID_BYTES || malformed(err);
	case CAT_REGCLASS:
	case CAT_REGTYPE:
	case CAT_REGPROC:
	case CAT_REGNAMESPACE:
	case CAT_REGROLE:
		return reg_in(&r, v, arena, err);
	case CAT_JSONB: /* its version goes before it */
		if (in.len == 0 || in.p[0] != 1)
			return malformed(err);
		return cn_pg_text_in(t, (struct cat_str){ in.p + 1, in.len - 1 }, v, arena, err);
	case CAT_TEXT:
	case CAT_BPCHAR:
	case CAT_UNKNOWN:
	case CAT_JSON:
	case CAT_NAME:
	case CAT_CHAR:
		return cn_pg_text_in(t, in, v, arena, err);
	default:
		ok = number_in(t, &r, v, err);
	}
	return ok ? cn_pg_whole(&r) || malformed(err) : false;
}
