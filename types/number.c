/* number.c -- PostgreSQL's numbers for types and typmods, and types by those numbers. */
#include <types/enum.h>
#include <types/interval.h>
#include <types/void.h>

#include <stdio.h>

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
	[CAT_JSONB] = { 3802, 3807, -1 },
	[CAT_OID] = { 26, 1028, 4 },
	[CAT_NAME] = { 19, 1003, 64 },
	[CAT_CHAR] = { 18, 1002, 1 },
	[CAT_REGCLASS] = { 2205, 2210, 4 },
	[CAT_REGTYPE] = { 2206, 2211, 4 },
	[CAT_REGPROC] = { 24, 1008, 4 },
	[CAT_REGNAMESPACE] = { 4089, 4090, 4 },
	[CAT_REGROLE] = { 4096, 4097, 4 },
	[CAT_INT2V] = { 21, 22, 2 }, /* after INT2 and OID, whose numbers these are */
	[CAT_OIDV] = { 26, 30, 4 },
};

enum { VARCHAR = 1043, VARCHAR_ARRAY = 1015, OID_VOID = 2278, HEADER = 4, FULL_PRECISION = 0xffff };

uint32_t
cat_type_oid(enum cat_type t, int32_t typmod)
{
	enum cat_type e = cat_type_element(t);
	if (cat_type_is_varchar(t, typmod))
		return cat_type_is_array(t) ? VARCHAR_ARRAY : VARCHAR;
	if (t == CAT_TEXT && typmod == CAT_VOID)
		return OID_VOID;
	if (cat_type_id(t) != 0)
		return (cat_type_is_array(t) ? CAT_OID_ARRAYS : 0) + CAT_OID_MADE +
		       cat_enum_id(cat_type_id(t));
	if (e >= CAT_TYPES || types[e].oid == 0)
		e = CAT_TEXT;
	return cat_type_is_array(t) ? types[e].array : types[e].oid;
}

int16_t
cat_type_size(enum cat_type t)
{
	if (cat_type_is_enum(t))
		return 4;
	return t < CAT_TYPES && types[t].oid != 0 ? types[t].size : -1;
}

int32_t
cat_typmod_out(enum cat_type t, int32_t typmod)
{
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

/* The type's own typmod for PostgreSQL's; varchar: its oid was varchar's. */
static int32_t
typmod_in(enum cat_type t, bool varchar, int32_t typmod)
{
	if (varchar)
		return typmod > HEADER ? typmod - HEADER : CAT_VARCHAR;
	if (typmod < 0)
		return -1;
	switch (cat_type_element(t)) {
	case CAT_BPCHAR:
	case CAT_NUMERIC:
		return typmod > HEADER ? typmod - HEADER : -1;
	case CAT_INTERVAL: {
		int32_t fields = typmod >> 16 & CAT_FIELD_ALL;
		return fields == CAT_FIELD_ALL ? -1 : fields;
	}
	default:
		return -1;
	}
}

bool
cat_type_numbered(uint32_t oid, int32_t typmod, enum cat_type *type, int32_t *own)
{
	bool varchar = oid == VARCHAR || oid == VARCHAR_ARRAY, found = varchar;
	bool array = oid >= CAT_OID_ARRAYS;
	uint32_t id = oid - CAT_OID_MADE - (array ? CAT_OID_ARRAYS : 0);
	uint32_t number = id > 0 && id < CAT_TYPE_IDS ? cat_enum_only(id) : 0;
	if (number != 0) {
		*type = array ? cat_type_array_of(cat_type_enum(number)) : cat_type_enum(number);
		*own = -1;
		return true;
	}
	*type = oid == VARCHAR ? CAT_TEXT : cat_type_array_of(CAT_TEXT);
	for (unsigned t = CAT_BOOL; t < CAT_TYPES && !found; t++)
		if (types[t].oid != 0 && (types[t].oid == oid || types[t].array == oid)) {
			*type = types[t].oid == oid ? (enum cat_type)t : cat_type_array_of((enum cat_type)t);
			found = true;
		}
	if (found)
		*own = typmod_in(*type, varchar, typmod);
	return found;
}
