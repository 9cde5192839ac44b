/* types_text.c -- values in the protocol's text format. */
#include "pgwire_internal.h"

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

void
cn_pg_text_out(
    struct cn_pg_out *o, enum cat_type t, union cat_val v, uint8_t floats, struct nam_arena *arena)
{
	struct cat_str s;
	if (cat_type_is_int(t)) {
		integer(o, v.i);
		return;
	}
	if (t == CAT_TEXT || t == CAT_BPCHAR || t == CAT_JSON || t == CAT_JSONB || t == CAT_UNKNOWN)
		s = v.s;
	else
		s = cat_value_show(t, v, floats, arena);
	char *p = cn_pg_take(o, 4 + (size_t)s.len);
	if (p == NULL)
		return;
	cn_pg_store32(p, s.len);
	if (s.len > 0)
		memcpy(p + 4, s.p, s.len);
}

bool
cn_pg_text_in(
    enum cat_type t, struct cat_str in, union cat_val *v, struct nam_arena *arena, struct cat_err *err)
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
