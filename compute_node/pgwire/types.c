/* types.c -- PostgreSQL's numbers for types, and whether a client's text is text. */
#include "pgwire_internal.h"

#include <types/interval.h>

/* By enum cat_type. size: typlen. */
static const struct {
	uint32_t oid, array;
	int16_t size;
} types[CAT_TYPES] = {
	[CAT_UNKNOWN] = { 25, 1009, -1 },
	[CAT_BOOL] = { 16, 1000, 1 },
	[CAT_INT2] = { 21, 1005, 2 },
	[CAT_INT4] = { 23, 1007, 4 },
	[CAT_INT8] = { 20, 1016, 8 },
	[CAT_FLOAT4] = { 700, 1021, 4 },
	[CAT_FLOAT8] = { 701, 1022, 8 },
	[CAT_NUMERIC] = { 1700, 1231, -1 },
	[CAT_TEXT] = { 25, 1009, -1 },
	[CAT_BPCHAR] = { 1042, 1014, -1 },
	[CAT_DATE] = { 1082, 1182, 4 },
	[CAT_TIME] = { 1083, 1183, 8 },
	[CAT_TIMESTAMP] = { 1114, 1115, 8 },
	[CAT_TIMESTAMPTZ] = { 1184, 1185, 8 },
	[CAT_INTERVAL] = { 1186, 1187, 16 },
	[CAT_BYTEA] = { 17, 1001, -1 },
	[CAT_UUID] = { 2950, 2951, 16 },
	[CAT_JSON] = { 114, 199, -1 },
};

/* Types of PostgreSQL's that namdb has under another name. */
static const struct {
	uint32_t oid;
	enum cat_type type;
} also[] = {
	{ 0, CAT_UNKNOWN }, { 705, CAT_UNKNOWN }, { 1043, CAT_TEXT }, { 1015, CAT_ARRAY | CAT_TEXT },
	{ 18, CAT_TEXT }, /* "char" */
	{ 19, CAT_TEXT }, /* name */
	{ 26, CAT_INT8 }, /* oid */
};

uint32_t
cn_pg_oid(enum cat_type t, int32_t typmod)
{
	enum cat_type e = cat_type_element(t);
	if (cat_type_is_varchar(t, typmod))
		return cat_type_is_array(t) ? 1015 : 1043;
	if (e >= CAT_TYPES || types[e].oid == 0)
		e = CAT_TEXT;
	return cat_type_is_array(t) ? types[e].array : types[e].oid;
}

int16_t
cn_pg_size(enum cat_type t)
{
	return t < CAT_TYPES && types[t].oid != 0 ? types[t].size : -1;
}

int32_t
cn_pg_typmod(enum cat_type t, int32_t typmod)
{
	enum { HEADER = 4, FULL_PRECISION = 0xffff };
	if (typmod < 0)
		return -1;
	switch (cat_type_element(t)) {
	case CAT_TEXT:
		return typmod == CAT_VARCHAR ? -1 : typmod + HEADER;
	case CAT_BPCHAR:
	case CAT_NUMERIC:
		return typmod + HEADER;
	case CAT_INTERVAL:
		return (int32_t)((uint32_t)(typmod & CAT_FIELD_ALL) << 16 | FULL_PRECISION);
	default:
		return -1;
	}
}

bool
cn_pg_type(uint32_t oid, enum cat_type *out)
{
	for (unsigned i = 0; i < sizeof also / sizeof *also; i++)
		if (also[i].oid == oid) {
			*out = also[i].type;
			return true;
		}
	for (unsigned t = CAT_BOOL; t < CAT_TYPES; t++)
		if (types[t].oid != 0 && (types[t].oid == oid || types[t].array == oid)) {
			*out = types[t].oid == oid ? (enum cat_type)t : cat_type_array_of((enum cat_type)t);
			return true;
		}
	return false;
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
