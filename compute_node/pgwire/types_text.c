/* types_text.c -- values in the protocol's text format. */
#include "pgwire_internal.h"

#include <base/aside.h>

#include <string.h>

static void
integer(struct cn_pg_out *o, int64_t v)
{
	char digits[20];
	unsigned n = 0;
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	do
		digits[n++] = (char)('0' + u % 10);
	while ((u /= 10) != 0);
	unsigned len = n + (v < 0);
	char *p = cn_pg_take(o, 4 + len);
	if (p == NULL)
		return;
	cn_pg_store32(p, len);
	p += 4;
	if (v < 0)
		*p++ = '-';
	while (n > 0)
		*p++ = digits[--n];
}

/* A long value's text takes steps of about the square of its length, if it is a numeric. */
static struct cat_str
long_value_out(enum cat_type t, union cat_val v, uint8_t floats, struct nam_arena *arena)
{
	uint64_t bytes = cat_type_is_str(t) ? v.s.len : 0;
	bool went = nam_aside_for(t == CAT_NUMERIC ? bytes * bytes / 20 : bytes * 8);
	struct cat_str s = cat_value_show(t, v, floats, arena);
	nam_aside_end(went);
	return s;
}

void
cn_pg_text_out(struct cn_pg_out *o, enum cat_type t, union cat_val v, uint8_t floats, struct nam_arena *arena)
{
	struct cat_str s;
	if (cat_type_is_int(t)) {
		integer(o, v.i);
		return;
	}
	if (t == CAT_TEXT || t == CAT_BPCHAR || t == CAT_JSON || t == CAT_JSONB || t == CAT_UNKNOWN)
		s = v.s;
	else
		s = long_value_out(t, v, floats, arena);
	char *p = cn_pg_take(o, 4 + (size_t)s.len);
	if (p == NULL)
		return;
	cn_pg_store32(p, s.len);
	if (s.len > 0)
		memcpy(p + 4, s.p, s.len);
}

static bool
text_in(enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	size_t bad = 0;
	if (!cn_pg_utf8(in.p, in.len, &bad))
		return cat_error(err, "22021", "invalid byte sequence for encoding \"UTF8\": 0x%02x",
		    (unsigned char)in.p[bad]);
	if (t == CAT_TEXT || t == CAT_UNKNOWN) {
		v->s = in;
		return true;
	}
	return cat_value_in(t, -1, in, v, arena, err);
}

bool
cn_pg_text_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
{
	bool went = nam_aside_for(t == CAT_NUMERIC ? (uint64_t)in.len * in.len / 20 : (uint64_t)in.len * 4);
	bool ok = text_in(t, in, v, arena, err);
	nam_aside_end(went);
	return ok;
}
