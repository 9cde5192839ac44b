/* types.c -- PostgreSQL's numbers for types, and whether a client's text is text. */
#include "pgwire_internal.h"

uint32_t
cn_pg_oid(enum cat_type t, int32_t typmod)
{
	return cat_type_oid(t, typmod);
}

int16_t
cn_pg_size(enum cat_type t)
{
	return cat_type_size(t);
}

int32_t
cn_pg_typmod(enum cat_type t, int32_t typmod)
{
	return cat_typmod_out(t, typmod);
}

bool
cn_pg_type(uint32_t oid, enum cat_type *out)
{
	enum { UNKNOWN = 705 };
	int32_t typmod;
	if (oid != 0 && oid != UNKNOWN)
		return cat_type_numbered(oid, -1, out, &typmod);
	*out = CAT_UNKNOWN;
	return true;
}

bool
cn_pg_utf8(const char *text, size_t n, size_t *bad)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i = 0;
	while (i < n) {
		unsigned c = p[i], more = 0;
		uint32_t v = c, least = 0;
		if (c - 1 < 0x7f) {
			i++;
			continue;
		}
		if (c >= 0xc2 && c < 0xe0)
			more = 1, v = c & 0x1f, least = 0x80;
		else if (c >= 0xe0 && c < 0xf0)
			more = 2, v = c & 0x0f, least = 0x800;
		else if (c >= 0xf0 && c < 0xf5)
			more = 3, v = c & 0x07, least = 0x10000;
		*bad = i;
		if (more == 0 || n - i <= more)
			return false;
		for (unsigned k = 1; k <= more; k++) {
			if ((p[i + k] & 0xc0) != 0x80)
				return false;
			v = v << 6 | (p[i + k] & 0x3f);
		}
		if (v < least || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
			return false;
		i += more + 1;
	}
	return true;
}
