/*
 * value.h -- types, values and vectors of values, as every room from catalog up holds them in
 * memory.
 *
 * Types are PostgreSQL's, and so are their rules: see docs/SQL.md.
 *
 *	type        in memory
 *	BOOL        int64 0/1
 *	INT2, INT4, INT8  int64
 *	FLOAT8      double
 *	FLOAT4      double that a float holds
 *	NUMERIC     str: bytes that only types/numeric.h looks into
 *	TEXT        str: UTF-8, not 0-terminated, no 0 byte inside. varchar(n) is TEXT with typmod
 *                  n, varchar without a length TEXT with typmod CAT_VARCHAR
 *	BPCHAR      str: char(n), padded with spaces to n characters; they do not count when it is
 *                  compared
 *	DATE        int64 days since 2000-01-01; INT64_MAX / INT64_MIN = infinity / -infinity
 *	TIMESTAMP   int64 microseconds since 2000-01-01 00:00; same infinities
 *	TIMESTAMPTZ int64 as TIMESTAMP, in UTC
 *	TIME        int64 microseconds since midnight
 *	INTERVAL    str: 16 bytes, see types/interval.h
 *	BYTEA       str: any bytes
 *	UUID        str: 16 bytes
 *	JSON        str: text that types/json.h has checked; nothing compares it
 *	OID         int64 0..2^32-1: PostgreSQL's number of something in its system catalogs
 *	NAME        str: a text of at most 63 bytes
 *	CHAR        str: "char", one byte, or none for a 0
 *	REGCLASS, REGTYPE, REGPROC, REGNAMESPACE, REGROLE
 *                  str: an oid (4 bytes, little-endian), then its name as text shows it; the oid
 *                  alone counts
 *	INT2V, OIDV int64: elements of int2vector and oidvector, which have a text of their own
 *                  ("1 2 3") and otherwise are arrays of INT8
 *	ENUM        int64, see types/enum.h. Each such type is CAT_ENUM with an id in its
 *                  higher bits
 *	UNKNOWN     str: an untyped literal before the binder has decided; never stored
 *	ARRAY | t   str: see types/array.h; t is the elements' type
 */
#ifndef NAM_CATALOG_VALUE_H
#define NAM_CATALOG_VALUE_H

#include <base/arena.h>
#include <base/status.h>

#include <stdbool.h>
#include <stdint.h>

enum cat_type {
	CAT_UNKNOWN = 0,
	CAT_BOOL = 1,
	CAT_INT4 = 2,
	CAT_INT8 = 3,
	CAT_FLOAT8 = 4,
	CAT_NUMERIC = 5,
	CAT_TEXT = 6,
	CAT_DATE = 7,
	CAT_TIMESTAMP = 8,
	CAT_INT2 = 9,
	CAT_FLOAT4 = 10,
	CAT_BPCHAR = 11,
	CAT_TIMESTAMPTZ = 12,
	CAT_INTERVAL = 13,
	CAT_TIME = 14,
	CAT_BYTEA = 15,
	CAT_UUID = 16,
	CAT_JSON = 17,
	CAT_OID = 18,
	CAT_NAME = 19,
	CAT_CHAR = 20,
	CAT_REGCLASS = 21,
	CAT_REGTYPE = 22,
	CAT_REGPROC = 23,
	CAT_REGNAMESPACE = 24,
	CAT_REGROLE = 25,
	CAT_INT2V = 26,
	CAT_OIDV = 27,
	CAT_JSONB = 28,
	CAT_ENUM = 29, /* | id << CAT_ID_SHIFT. The types before it are PostgreSQL's */
	CAT_TYPES,
	CAT_NAMED = 63, /* in a statement's tree: the catalog has yet to say which type it is */
	CAT_ARRAY = 64, /* | type of its elements */
	CAT_ID_SHIFT = 8
};
/* Ids of types that users make are below this. */
enum { CAT_TYPE_IDS = 1 << 23 };

static inline bool
cat_type_is_array(enum cat_type t)
{
	return (t & CAT_ARRAY) != 0;
}
static inline enum cat_type
cat_type_element(enum cat_type array)
{
	return (enum cat_type)(array & ~CAT_ARRAY);
}
static inline enum cat_type
cat_type_array_of(enum cat_type element)
{
	return (enum cat_type)(element | CAT_ARRAY);
}
static inline enum cat_type
cat_type_enum(uint32_t id)
{
	return (enum cat_type)(CAT_ENUM | (int)(id << CAT_ID_SHIFT));
}
static inline bool
cat_type_is_enum(enum cat_type t)
{
	return ((int)t & ((1 << CAT_ID_SHIFT) - 1)) == CAT_ENUM;
}
/* The number of a type, or of an array's elements, that a user has made (types/enum.h); 0 = it is
 * another one. */
static inline uint32_t
cat_type_id(enum cat_type t)
{
	return (uint32_t)t >> CAT_ID_SHIFT;
}
/* t without an id: what to switch on. */
static inline enum cat_type
cat_type_kind(enum cat_type t)
{
	return (enum cat_type)((int)t & ((1 << CAT_ID_SHIFT) - 1));
}
/* The type with the same bytes, in memory and in rows, whose text does not depend on labels. */
static inline enum cat_type
cat_type_plain(enum cat_type t)
{
	if (!cat_type_is_enum(cat_type_element(t)))
		return t;
	return (enum cat_type)(CAT_INT8 | ((int)t & CAT_ARRAY));
}
/* True if t is the number of a type, array or not, that a column may have. For bytes from a
 * wire. */
static inline bool
cat_type_is_known(int64_t t)
{
	int64_t kind = t & ((1 << CAT_ID_SHIFT) - 1) & ~(int64_t)CAT_ARRAY, id = t >> CAT_ID_SHIFT;
	return t >= 0 && kind > CAT_UNKNOWN && kind < CAT_TYPES &&
	       (kind == CAT_ENUM ? id > 0 && id < CAT_TYPE_IDS : id == 0);
}

/* The typmod of varchar without a length, which has text's values and another name. */
enum { CAT_VARCHAR = 0 };
/* Is it varchar, or an array of varchar? */
static inline bool
cat_type_is_varchar(enum cat_type t, int32_t typmod)
{
	return typmod >= CAT_VARCHAR && cat_type_element(t) == CAT_TEXT;
}
/* The typmod of a value that is computed from one: a varchar stays one, of any length. */
static inline int32_t
cat_type_loose(enum cat_type t, int32_t typmod)
{
	return cat_type_is_varchar(t, typmod) ? CAT_VARCHAR : -1;
}

/* "integer", "bigint", "double precision", "numeric", "text", "boolean", "date", "timestamp without
 * time zone" */
const char *cat_type_name(enum cat_type t);
/* cat_type_name of a type and its typmod, which may make text varchar. */
const char *cat_type_said(enum cat_type t, int32_t typmod);
/* With its length, or precision: "character varying(20)", "numeric(10,2)", "integer". */
enum { CAT_TYPE_TEXT = 2 * 63 + 5 };
const char *cat_type_full(enum cat_type t, int32_t typmod, char out[CAT_TYPE_TEXT]);
/* PostgreSQL's own word for it: "int4", "bpchar", "timestamptz" */
const char *cat_type_word(enum cat_type t);
/* The type of such a word; varchar is TEXT. CAT_UNKNOWN = namdb has no such type. */
enum cat_type cat_type_find(const char *word);
/* PostgreSQL's typcategory (N, S, D ...; A: array; X: unknown) and typispreferred. */
char cat_type_category(enum cat_type t);
bool cat_type_preferred(enum cat_type t);

/* number.c: PostgreSQL's pg_type.oid of a type, its typlen, and its typmod for one of ours. A type
 * without a number is text. */
enum { CAT_OID_MADE = 16384, CAT_OID_ARRAYS = 1 << 29 }; /* those of types that users make: + id */
uint32_t cat_type_oid(enum cat_type t, int32_t typmod);
int16_t cat_type_size(enum cat_type t);
int32_t cat_typmod_out(enum cat_type t, int32_t typmod);
/* The type of an oid and PostgreSQL's typmod. False: namdb has no such type. */
bool cat_type_numbered(uint32_t oid, int32_t typmod, enum cat_type *type, int32_t *own);

/* True if cat_val.s holds a value of type t, and a row keeps it among its variable bytes. */
static inline bool
cat_type_is_str(enum cat_type t)
{
	return cat_type_is_array(t) ||
	       (UINT32_C(1) << ((unsigned)t & 31) &
		   (1u << CAT_TEXT | 1u << CAT_NUMERIC | 1u << CAT_UNKNOWN | 1u << CAT_BPCHAR |
		       1u << CAT_INTERVAL | 1u << CAT_BYTEA | 1u << CAT_UUID | 1u << CAT_JSON |
		       1u << CAT_JSONB | 1u << CAT_NAME | 1u << CAT_CHAR | 1u << CAT_REGCLASS |
		       1u << CAT_REGTYPE | 1u << CAT_REGPROC | 1u << CAT_REGNAMESPACE | 1u << CAT_REGROLE)) !=
		   0;
}

/* True if a value of type t is an oid with the name of what it numbers. */
static inline bool
cat_type_is_reg(enum cat_type t)
{
	return t >= CAT_REGCLASS && t <= CAT_REGROLE;
}
/* The oid of such a value, and the name. A value that is too short is 0. */
static inline uint32_t
cat_reg_oid(const char *p, uint32_t len)
{
	const unsigned char *b = (const unsigned char *)p;
	return len < 4 ? 0 : b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* True if values of type t have = and <. */
static inline bool
cat_type_is_ordered(enum cat_type t)
{
	return cat_type_element(t) != CAT_JSON;
}

/* True if a key, of a table or an index, may have a column of type t. */
static inline bool
cat_type_is_key(enum cat_type t)
{
	return cat_type_is_ordered(t) && cat_type_element(t) != CAT_JSONB;
}

/* True if cat_val.f holds a value of type t. */
static inline bool
cat_type_is_float(enum cat_type t)
{
	return t == CAT_FLOAT8 || t == CAT_FLOAT4;
}

static inline bool
cat_type_is_int(enum cat_type t)
{
	return t == CAT_INT4 || t == CAT_INT8 || t == CAT_INT2;
}

/* True if the integer type t holds x. */
static inline bool
cat_int_fits(enum cat_type t, int64_t x)
{
	return t == CAT_INT2 ? x == (int16_t)x : t == CAT_INT4 ? x == (int32_t)x : true;
}

/* Bytes somewhere. The function that returns a cat_str names their owner (usually an arena). */
struct cat_str {
	const char *p;
	uint32_t len;
};

union cat_val {
	int64_t i;
	double f;
	struct cat_str s;
};

/* One value. */
struct cat_datum {
	enum cat_type type;
	bool null;
	union cat_val v;
};

enum { CAT_BATCH = 1024 };          /* rows a vector holds at most */
enum { CAT_VALUE_MAX = 256 << 20 }; /* bytes of one value */

/* A column of values. null[k] == 1: value k is NULL and its payload is garbage (but readable: strs
 * have len 0). */
struct cat_vec {
	enum cat_type type;
	uint8_t *null;
	union {
		int64_t *i;
		double *f;
		struct cat_str *s;
	};
};

/* Takes memory for a vector of n values from the arena. False if there is none. */
bool cat_vec_take(struct cat_vec *v, enum cat_type type, unsigned n, struct nam_arena *arena);

static inline union cat_val
cat_vec_at(const struct cat_vec *v, unsigned k)
{
	union cat_val out;
	if (cat_type_is_float(v->type))
		out.f = v->f[k];
	else if (cat_type_is_str(v->type))
		out.s = v->s[k];
	else
		out.i = v->i[k];
	return out;
}
static inline void
cat_vec_set(struct cat_vec *v, unsigned k, union cat_val x, bool null)
{
	v->null[k] = null;
	if (cat_type_is_float(v->type))
		v->f[k] = x.f;
	else if (cat_type_is_str(v->type))
		v->s[k] = null ? (struct cat_str){ "", 0 } : x.s;
	else
		v->i[k] = x.i;
}

enum { CAT_OID_BYTES = 4, CAT_NAME_BYTES = 63 };
/* A value of one of the types REG...; false: no memory. */
bool cat_reg_make(uint32_t oid, struct cat_str name, struct cat_str *out, struct nam_arena *arena);

/* An SQL error: PostgreSQL's SQLSTATE and message. position: character in the statement, from 1; 0
 * = none. */
struct cat_err {
	char sqlstate[6];
	int position;
	char text[400];
	char detail[300];
	char hint[200];
	char context[300]; /* where it happened: the line of a COPY; "" = nowhere else */
	char table[64], column[64], constraint[64]; /* which of them it is about; "" = none */
};
/* Fills *err and returns false, so that `return cat_error(...)` reads well. */
bool cat_error(struct cat_err *err, const char *sqlstate, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Which table, column and constraint it is about, for programs that react to them; NULL = none.
 * Returns false. */
bool cat_error_about(struct cat_err *err, const char *table, const char *column, const char *constraint);

/* Text to value, by PostgreSQL's input rules (22P02, 22003, 22007, 22008 ...). typmod -1 = none.
 * The value's bytes lie in arena; a TEXT may also point into `in`. */
bool cat_value_in(enum cat_type type, int32_t typmod, struct cat_str in, union cat_val *out,
    struct nam_arena *arena, struct cat_err *err);
/* Value to text, as psql shows it (bool t/f, float8 shortest round trip, dates ISO). */
struct cat_str cat_value_out(enum cat_type type, union cat_val v, struct nam_arena *arena);
/* Likewise, for a client. floats: how floats are written, 0 = as above; k = with 16 - k significant
 * digits, a FLOAT4 with 7 - k, at least one: cat_floats of the setting extra_float_digits. */
struct cat_str cat_value_show(enum cat_type type, union cat_val v, uint8_t floats, struct nam_arena *arena);
static inline uint8_t
cat_floats(int extra_digits)
{
	return extra_digits > 0 ? 0 : (uint8_t)(1 - extra_digits);
}
/* "char": of a byte; the first one of a text, or \ooo; as a text, where a byte of 128 and more is
 * \ooo. False: no memory. */
struct cat_str cat_char_of(unsigned char c);
struct cat_str cat_char_from_text(struct cat_str s);
bool cat_char_to_text(struct cat_str c, struct cat_str *out, struct nam_arena *arena);
/* Applies varchar(n) and char(n) (22001; char pads) and numeric(p,s) (rounding; 22003) to a value
 * about to be stored. */
bool cat_value_fit(
    enum cat_type type, int32_t typmod, union cat_val *v, struct nam_arena *arena, struct cat_err *err);
/* -1, 0, 1. Text by bytes; NaN greater than all and equal to itself; same type both. */
int cat_value_cmp(enum cat_type type, union cat_val a, union cat_val b);
/* Equal values hash alike (numeric 1.0 and 1.00; -0.0 and 0.0). */
uint64_t cat_value_hash(enum cat_type type, union cat_val v, uint64_t seed);
/* Copies a value with the bytes it points to. */
union cat_val cat_value_copy(enum cat_type type, union cat_val v, struct nam_arena *arena);

/* The bytes of a value that count in a comparison: without trailing zeros of a numeric and trailing
 * spaces of char(n); of an interval the 16 bytes of its length. Equal values become equal bytes,
 * never longer than before. False if there is no memory. */
bool cat_value_canonical(enum cat_type type, struct cat_str s, struct cat_str *out, struct nam_arena *arena);

/* typmods: varchar(n), char(n): n; varchar: CAT_VARCHAR. numeric(p,s): p << 16 | s. interval: its
 * fields. Of an array: that of its elements. */

#endif
