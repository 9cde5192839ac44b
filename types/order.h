/*
 * order.h -- a key of several columns as bytes that memcmp puts in SQL's order.
 *
 * Of two keys the one that sorts first has the lesser bytes: byte by byte, and the shorter one
 * first if it is the beginning of the other. Equal keys, and only they, have equal bytes. So an
 * index need not know types. Any thread.
 *
 * A key is its columns' encodings one behind the other. None of a column's encodings is the
 * beginning of another, so a later column counts only when the earlier ones are equal.
 *
 *	marker       1 byte: 0 a NULL that comes first, 1 a value, 2 a NULL that comes last. A
 *                   column that is NOT NULL has none.
 *	BOOL         1 byte; INT2 2, INT4 and DATE 4, INT8, TIME and timestamps 8:
 *                   big-endian, the sign's bit turned. A DATE's infinities are the ends of
 *                   its 4 bytes.
 *	FLOAT4 4, FLOAT8 8: as above, all bits of a negative one turned; -0.0 as 0.0, any NaN as
 *                   one above Infinity
 *	ENUM         8, as INT8
 *	INTERVAL     10: its length in microseconds, big-endian, the sign's bit turned
 *	UUID         its 16 bytes
 *	TEXT, BPCHAR, BYTEA   its bytes, a 0 as 0 255, then 0 0. BPCHAR without trailing blanks
 *	NUMERIC      1 byte: 1 -Infinity, 2 negative, 3 zero, 4 positive, 5 Infinity, 6 NaN. Then,
 *                   of 2 and 4, the exponent e and the digits d, each 0..99, of 0.ddd * 100^e.
 *                   The exponent is e + 128 in one byte if it is -100..100, else 1 or 255 and
 *                   three bytes; each d is d + 1, without zeros at the end; then 0. Of a negative
 *                   number all these bits are turned.
 *	arrays       of each element 1 and its encoding, or 2 for a NULL; 0; the lower bound as an
 *                   INT4
 *
 * Of a descending column all bits but the marker's are turned.
 */
#ifndef NAM_TYPES_ORDER_H
#define NAM_TYPES_ORDER_H

#include <types/value.h>

struct cat_order_column {
	enum cat_type type;
	bool descending;
	bool nulls_first; /* whatever `descending` says; PostgreSQL's default: both or neither */
	bool not_null;    /* no value of it is NULL */
};

enum { CAT_ORDER_MAX = 2704 /* bytes of a key; PostgreSQL's own limit */ };

/*
 * Writes the key of n columns to out, and its length to *len. null: NULL = none is. arena: scratch.
 * False: 54000 the key is longer than CAT_ORDER_MAX; 0A000 values of the type have no order; XX001
 * a value's bytes are not of its type; 53200 no memory.
 */
bool cat_order_encode(const struct cat_order_column *col, unsigned n, const union cat_val *v,
    const bool *null, uint8_t out[CAT_ORDER_MAX], uint32_t *len, struct nam_arena *arena,
    struct cat_err *err);

/* True if a key tells values of that type: not what is equal and yet differs, as 1.5 and 1.50. */
bool cat_order_tells(enum cat_type type);
/*
 * The reverse: the first n columns of a key whose first len bytes are at hand. need: of which
 * columns the values are asked for; the others are only passed. arena: for strings, NULL = they are
 * not wanted. False: the bytes do not tell one of these: the key goes on behind them, or it is a
 * 0.0 that may be a -0.0, or of a type that keys do not tell, or the bytes are no key; no memory.
 */
bool cat_order_decode(const struct cat_order_column *col, unsigned n, const uint8_t *bytes, uint32_t len,
    const bool *need, union cat_val *v, bool *null, struct nam_arena *arena);

/*
 * Makes of a key, or of the key of some first columns, the least bytes above it and above all that
 * begin with it: where a scan of that prefix ends. False: there are none.
 */
bool cat_order_after(uint8_t *key, uint32_t *len);

#endif
