/* order.c -- writes keys whose bytes are in SQL's order (order.h). */
#include <types/array.h>
#include <types/interval.h>
#include <types/numeric.h>
#include <types/order.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NULL_FIRST = 0, VALUE = 1, NULL_LAST = 2, END = 0, ESCAPED = 255, SPAN_BYTES = 10 };
enum number { MINUS_INFINITY = 1, NEGATIVE, ZERO, POSITIVE, INFINITE, NOT_A_NUMBER };
enum { EXPONENT_ZERO = 128, EXPONENT_NEAR = 100, EXPONENT_FAR = 1 << 23 };

struct writer {
	uint8_t *out;
	uint32_t len;
	bool over; /* it is longer than CAT_ORDER_MAX */
	struct nam_arena *arena;
	struct cat_err *err;
};

static void
byte(struct writer *w, unsigned b)
{
	if (w->len == CAT_ORDER_MAX)
		w->over = true;
	else
		w->out[w->len++] = (uint8_t)b;
}

/* The lowest n bytes of x, the highest first. */
static void
big_endian(struct writer *w, unsigned __int128 x, unsigned n)
{
	while (n-- > 0)
		byte(w, (unsigned)(x >> 8 * n) & 255);
}

/* A number of n bytes with a sign. */
static void
whole(struct writer *w, __int128 x, unsigned n)
{
	big_endian(w, (unsigned __int128)x ^ (unsigned __int128)1 << (8 * n - 1), n);
}

static void
turn(struct writer *w, uint32_t from)
{
	for (uint32_t i = from; i < w->len; i++)
		w->out[i] = (uint8_t)~w->out[i];
}

static bool
corrupt(struct writer *w, enum cat_type type)
{
	return cat_error(w->err, "XX001", "a stored value of type %s is damaged", cat_type_name(type));
}

static void
floating(struct writer *w, double f, bool narrow)
{
	uint64_t bits;
	unsigned n = narrow ? 4 : 8;
	if (f == 0)
		f = 0; /* -0.0 too */
	if (narrow) {
		float g = (float)f;
		uint32_t b;
		memcpy(&b, &g, 4);
		bits = isnan(f) ? UINT32_C(0x7fc00000) : b;
	} else {
		memcpy(&bits, &f, 8);
		bits = isnan(f) ? UINT64_C(0x7ff8000000000000) : bits;
	}
	uint64_t sign = UINT64_C(1) << (8 * n - 1);
	big_endian(w, bits & sign ? ~bits : bits | sign, n);
}

static bool
date(struct writer *w, int64_t days)
{
	if (days == INT64_MAX || days == INT64_MIN)
		days = days < 0 ? INT32_MIN : INT32_MAX;
	else if (days <= INT32_MIN || days >= INT32_MAX)
		return corrupt(w, CAT_DATE);
	whole(w, days, 4);
	return true;
}

static void
text(struct writer *w, struct cat_str s)
{
	for (uint32_t i = 0; i < s.len && !w->over; i++) {
		byte(w, (uint8_t)s.p[i]);
		if (s.p[i] == 0)
			byte(w, ESCAPED);
	}
	byte(w, END);
	byte(w, END);
}

/* Exponent and digits of a number's text without its sign, which is not zero. */
static void
decimal(struct writer *w, const char *p, uint32_t len)
{
	const char *point = memchr(p, '.', len);
	uint32_t before = point != NULL ? (uint32_t)(point - p) : len, first = 0;
	while (p[first] == '0' || p[first] == '.')
		first++;
	/* digits before the point, from the first that counts; below 0 if it lies further behind */
	int ten = first < before ? (int)(before - first) : (int)before + 1 - (int)first;
	int e = ten >= 0 ? (ten + 1) / 2 : ten / 2;
	if (point != NULL)
		while (p[len - 1] == '0')
			len--;
	if (e >= -EXPONENT_NEAR && e <= EXPONENT_NEAR) {
		byte(w, (unsigned)(EXPONENT_ZERO + e));
	} else {
		byte(w, e < 0 ? 1 : 255);
		big_endian(w, (unsigned)(EXPONENT_FAR + e), 3);
	}
	unsigned pair = 0, zeros = 0;
	bool second = ten & 1; /* the first pair begins with a 0 that is not written */
	for (uint32_t i = first; i <= len && !w->over; i++) {
		if (i < len && p[i] == '.')
			continue;
		if (i == len && !second)
			break;
		pair = pair * 10 + (i < len ? (unsigned)(p[i] - '0') : 0);
		second = !second;
		if (second)
			continue;
		if (pair == 0) {
			zeros++;
		} else {
			for (; zeros > 0 && !w->over; zeros--)
				byte(w, 1);
			byte(w, pair + 1);
		}
		pair = 0;
	}
	byte(w, END);
}

static bool
numeric(struct writer *w, struct cat_str n)
{
	if (cat_num_is_nan(n) || cat_num_is_inf(n)) {
		byte(w, cat_num_is_nan(n) ? NOT_A_NUMBER : cat_num_sign(n) < 0 ? MINUS_INFINITY : INFINITE);
		return true;
	}
	int sign = cat_num_sign(n);
	byte(w, sign < 0 ? NEGATIVE : sign == 0 ? ZERO : POSITIVE);
	if (sign == 0)
		return true;
	struct cat_str s = cat_num_out(n, w->arena);
	if (s.len == 0)
		return cat_error(w->err, "53200", "out of memory");
	uint32_t from = w->len;
	decimal(w, s.p + (sign < 0), s.len - (sign < 0));
	if (sign < 0)
		turn(w, from);
	return true;
}

static bool value(struct writer *w, enum cat_type type, union cat_val v);

static bool
array(struct writer *w, enum cat_type type, struct cat_str s)
{
	struct cat_array a;
	cat_array_open(type, s, &a);
	for (uint32_t k = 0; k < a.n && !w->over; k++) {
		union cat_val v;
		bool there = cat_array_at(&a, k, &v);
		byte(w, there ? VALUE : NULL_LAST);
		if (there && !value(w, a.elem, v))
			return false;
	}
	byte(w, END);
	whole(w, a.lower, 4);
	return true;
}

static bool
value(struct writer *w, enum cat_type type, union cat_val v)
{
	if (cat_type_is_array(type))
		return array(w, type, v.s);
	type = cat_type_plain(type);
	switch (type) {
	case CAT_BOOL:
		byte(w, v.i != 0);
		return true;
	case CAT_INT2:
		whole(w, v.i, 2);
		return true;
	case CAT_INT4:
		whole(w, v.i, 4);
		return true;
	case CAT_DATE:
		return date(w, v.i);
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		floating(w, v.f, type == CAT_FLOAT4);
		return true;
	case CAT_INTERVAL:
		whole(w, cat_interval_span(cat_interval_load(v.s)), SPAN_BYTES);
		return true;
	case CAT_UUID:
		if (v.s.len != 16)
			return corrupt(w, type);
		for (unsigned i = 0; i < 16; i++)
			byte(w, (uint8_t)v.s.p[i]);
		return true;
	case CAT_NUMERIC:
		return numeric(w, v.s);
	case CAT_BPCHAR:
		while (v.s.len > 0 && v.s.p[v.s.len - 1] == ' ')
			v.s.len--;
		text(w, v.s);
		return true;
	case CAT_REGCLASS:
	case CAT_REGTYPE:
	case CAT_REGPROC:
	case CAT_REGNAMESPACE:
	case CAT_REGROLE:
		whole(w, cat_reg_oid(v.s.p, v.s.len), 8);
		return true;
	case CAT_TEXT:
	case CAT_NAME:
	case CAT_CHAR:
	case CAT_BYTEA:
	case CAT_UNKNOWN:
		text(w, v.s);
		return true;
	default: /* INT8, OID, TIME, timestamps */
		whole(w, v.i, 8);
		return true;
	}
}

bool
cat_order_encode(const struct cat_order_column *col, unsigned n, const union cat_val *v, const bool *null,
    uint8_t out[CAT_ORDER_MAX], uint32_t *len, struct nam_arena *arena, struct cat_err *err)
{
	struct writer w = { .out = out, .arena = arena, .err = err };
	for (unsigned i = 0; i < n && !w.over; i++) {
		if (!cat_type_is_key(col[i].type))
			return cat_error(
			    err, "0A000", "values of type %s have no order", cat_type_name(col[i].type));
		bool none = null != NULL && null[i];
		if (none && col[i].not_null)
			return cat_error(err, "XX001", "a value of a NOT NULL column is NULL");
		if (!col[i].not_null)
			byte(&w, !none ? VALUE : col[i].nulls_first ? NULL_FIRST : NULL_LAST);
		uint32_t from = w.len;
		if (!none && !value(&w, col[i].type, v[i]))
			return false;
		if (col[i].descending)
			turn(&w, from);
	}
	*len = w.len;
	if (!w.over)
		return true;
	cat_error(err, "54000", "index key exceeds maximum %d", (int)CAT_ORDER_MAX);
	snprintf(err->hint, sizeof err->hint, "Values of an indexed column must be shorter.");
	return false;
}

bool
cat_order_after(uint8_t *key, uint32_t *len)
{
	while (*len > 0 && key[*len - 1] == 255)
		--*len;
	if (*len == 0)
		return false;
	key[*len - 1]++;
	return true;
}

/* ---- values out of keys ------------------------------------------------------------------- */

/* turn: 255 if the bits are turned, else 0. Reading beyond the bytes makes it over. */
struct reader {
	const uint8_t *p;
	uint32_t len, at;
	uint8_t turn;
	bool over;
};

static unsigned
next_byte(struct reader *r)
{
	if (r->at >= r->len) {
		r->over = true;
		return 0;
	}
	return r->p[r->at++] ^ r->turn;
}

static uint64_t
next_bits(struct reader *r, unsigned n)
{
	uint64_t x = 0;
	while (n-- > 0)
		x = x << 8 | next_byte(r);
	return x;
}

/* A number of n bytes with a sign. */
static int64_t
next_whole(struct reader *r, unsigned n)
{
	uint64_t x = next_bits(r, n) ^ UINT64_C(1) << (8 * n - 1);
	unsigned up = 64 - 8 * n;
	return (int64_t)(x << up) >> up;
}

/* False: it may be another one. */
static bool
next_floating(struct reader *r, bool narrow, double *f)
{
	unsigned n = narrow ? 4 : 8;
	uint64_t bits = next_bits(r, n), sign = UINT64_C(1) << (8 * n - 1);
	bits = bits & sign ? bits ^ sign : ~bits & (sign | (sign - 1));
	if (narrow) {
		uint32_t b = (uint32_t)bits;
		float g;
		memcpy(&g, &b, 4);
		*f = (double)g;
	} else {
		memcpy(f, &bits, 8);
	}
	return *f != 0;
}

static bool
next_text(struct reader *r, struct cat_str *s, struct nam_arena *arena)
{
	uint32_t from = r->at, n = 0, k = 0;
	while (!r->over) {
		if (next_byte(r) == 0 && next_byte(r) == END)
			break;
		n++;
	}
	if (r->over || arena == NULL)
		return !r->over;
	char *out = nam_arena_take(arena, n + 1);
	if (out == NULL)
		return false;
	for (r->at = from; k < n; k++)
		if ((out[k] = (char)next_byte(r)) == 0)
			(void)next_byte(r);
	r->at += 2;
	*s = (struct cat_str){ out, n };
	return true;
}

static void
pass_numeric(struct reader *r)
{
	unsigned kind = next_byte(r);
	if (kind != NEGATIVE && kind != POSITIVE)
		return;
	uint8_t turn = kind == NEGATIVE ? 255 : 0;
	unsigned e = next_byte(r) ^ turn;
	if (e == 1 || e == 255)
		(void)next_bits(r, 3);
	while (!r->over && (next_byte(r) ^ turn) != END)
		;
}

bool
cat_order_tells(enum cat_type type)
{
	switch (cat_type_is_array(type) ? type : cat_type_plain(type)) {
	case CAT_BOOL:
	case CAT_INT2:
	case CAT_INT4:
	case CAT_INT8:
	case CAT_DATE:
	case CAT_TIME:
	case CAT_TIMESTAMP:
	case CAT_TIMESTAMPTZ:
	case CAT_FLOAT4:
	case CAT_FLOAT8:
	case CAT_UUID:
	case CAT_TEXT:
	case CAT_BYTEA:
		return true;
	default:
		return false;
	}
}

/* False: the bytes do not tell it, or not what follows. */
static bool
next_value(struct reader *r, enum cat_type type, bool need, union cat_val *v, struct nam_arena *arena)
{
	if (cat_type_is_array(type) || (need && !cat_order_tells(type)))
		return false;
	type = cat_type_plain(type);
	switch (type) {
	case CAT_BOOL:
		v->i = (int64_t)next_bits(r, 1);
		break;
	case CAT_INT2:
		v->i = next_whole(r, 2);
		break;
	case CAT_INT4:
		v->i = next_whole(r, 4);
		break;
	case CAT_DATE:
		v->i = next_whole(r, 4);
		if (v->i == INT32_MIN || v->i == INT32_MAX)
			v->i = v->i < 0 ? INT64_MIN : INT64_MAX;
		break;
	case CAT_FLOAT4:
	case CAT_FLOAT8:
		return (next_floating(r, type == CAT_FLOAT4, &v->f) || !need) && !r->over;
	case CAT_INTERVAL:
		(void)next_bits(r, SPAN_BYTES);
		break;
	case CAT_NUMERIC:
		pass_numeric(r);
		break;
	case CAT_UUID:
		v->s = (struct cat_str){ "", 0 };
		if (r->len - r->at < 16)
			return false;
		if (need && arena != NULL) {
			char *out = nam_arena_take(arena, 16);
			for (unsigned i = 0; out != NULL && i < 16; i++)
				out[i] = (char)(r->p[r->at + i] ^ r->turn);
			v->s = (struct cat_str){ out, 16 };
			if (out == NULL)
				return false;
		}
		r->at += 16;
		break;
	case CAT_TEXT:
	case CAT_BPCHAR:
	case CAT_BYTEA:
	case CAT_UNKNOWN:
		return next_text(r, &v->s, need ? arena : NULL);
	case CAT_INT8:
	case CAT_TIME:
	case CAT_TIMESTAMP:
	case CAT_TIMESTAMPTZ:
		v->i = next_whole(r, 8);
		break;
	default:
		return false;
	}
	return !r->over;
}

bool
cat_order_decode(const struct cat_order_column *col, unsigned n, const uint8_t *bytes, uint32_t len,
    const bool *need, union cat_val *v, bool *null, struct nam_arena *arena)
{
	struct reader r = { .p = bytes, .len = len };
	for (unsigned i = 0; i < n; i++) {
		r.turn = 0;
		null[i] = !col[i].not_null && next_byte(&r) != VALUE;
		if (r.over)
			return false;
		v[i] = (union cat_val){ 0 };
		if (null[i])
			continue;
		r.turn = col[i].descending ? 255 : 0;
		if (!next_value(&r, col[i].type, need[i], &v[i], arena))
			return false;
	}
	return true;
}
