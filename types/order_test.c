/*
 * order_test.c -- bytes are in the order of values, as cat_value_cmp and the rules for NULL have
 * it: on edge values all against all, and on random ones.
 */
#include <base/rng.h>
#include <types/array.h>
#include <types/datetime.h>
#include <types/interval.h>
#include <types/numeric.h>
#include <types/order.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES = 400, COLUMNS_MAX = 4, ROUNDS = 300, ROWS = 60 };

static struct nam_arena arena;
static struct cat_err err;
static struct nam_rng rng;

struct key {
	uint8_t bytes[CAT_ORDER_MAX];
	uint32_t len;
};

/* ---- values ---------------------------------------------------------------------------------- */

static union cat_val
bytes(const void *p, size_t n)
{
	char *copy = nam_arena_copy(&arena, p, n > 0 ? n : 1);
	return (union cat_val){ .s = { copy, (uint32_t)n } };
}

static union cat_val
parsed(enum cat_type t, const char *text)
{
	union cat_val v;
	if (!cat_value_in(t, -1, (struct cat_str){ text, (uint32_t)strlen(text) }, &v, &arena, &err))
		fail_msg("%s: %s", text, err.text);
	return v;
}

static union cat_val
any_number(void)
{
	char t[400];
	unsigned n = 0, a = (unsigned)nam_rng_below(&rng, nam_rng_below(&rng, 8) ? 6 : 150),
		 b = (unsigned)nam_rng_below(&rng, nam_rng_below(&rng, 8) ? 6 : 150);
	if (nam_rng_below(&rng, 2))
		t[n++] = '-';
	t[n++] = '0';
	/* few different digits, so that many numbers begin alike */
	for (unsigned k = 0; k < a; k++)
		t[n++] = (char)('0' + nam_rng_below(&rng, 3) * nam_rng_below(&rng, 5));
	t[n++] = '.';
	for (unsigned k = 0; k < b; k++)
		t[n++] = (char)('0' + nam_rng_below(&rng, 3) * nam_rng_below(&rng, 5));
	t[n] = 0;
	return parsed(CAT_NUMERIC, t);
}

static union cat_val
any_bytes(bool zero)
{
	static const char few[] = { 0, 1, 2, 'a', ' ', (char)255, (char)254 };
	char t[12];
	unsigned n = (unsigned)nam_rng_below(&rng, sizeof t);
	for (unsigned i = 0; i < n; i++)
		t[i] = few[!zero + nam_rng_below(&rng, sizeof few - !zero)];
	return bytes(t, n);
}

static union cat_val
any_interval(void)
{
	struct cat_interval x = { .us = (int64_t)nam_rng_next(&rng) >> nam_rng_below(&rng, 64),
		.days = (int32_t)((int64_t)nam_rng_next(&rng) >> (32 + nam_rng_below(&rng, 32))),
		.months = (int32_t)((int64_t)nam_rng_next(&rng) >> (32 + nam_rng_below(&rng, 32))) };
	return bytes(&x, sizeof x);
}

static union cat_val
any_value(enum cat_type t)
{
	union cat_val v = { .i = (int64_t)nam_rng_next(&rng) >> nam_rng_below(&rng, 64) };
	char raw[16];
	float narrow;
	if (cat_type_is_array(t)) {
		union cat_val e[3];
		bool null[3];
		uint32_t n = (uint32_t)nam_rng_below(&rng, 4);
		for (uint32_t i = 0; i < n; i++) {
			null[i] = nam_rng_below(&rng, 4) == 0;
			e[i] = any_value(cat_type_element(t));
		}
		assert_true(cat_array_make(cat_type_element(t), (int32_t)nam_rng_below(&rng, 3) - 1, e, null,
		    n, &v.s, &arena, &err));
		return v;
	}
	switch (t) {
	case CAT_BOOL:
		v.i &= 1;
		return v;
	case CAT_INT2:
		v.i = (int16_t)v.i;
		return v;
	case CAT_INT4:
		v.i = (int32_t)v.i;
		return v;
	case CAT_DATE:
		v.i = (int32_t)v.i / 2;
		return v;
	case CAT_FLOAT8:
		v.i = (int64_t)nam_rng_next(&rng); /* any bits, NaNs among them */
		return v;
	case CAT_FLOAT4: {
		uint32_t b = (uint32_t)nam_rng_next(&rng);
		memcpy(&narrow, &b, 4);
		v.f = narrow;
		return v;
	}
	case CAT_NUMERIC:
		return any_number();
	case CAT_INTERVAL:
		return any_interval();
	case CAT_UUID:
		for (unsigned i = 0; i < 16; i++)
			raw[i] = (char)(nam_rng_below(&rng, 3) * 127);
		return bytes(raw, 16);
	case CAT_TEXT:
	case CAT_BPCHAR:
		return any_bytes(false);
	case CAT_BYTEA:
		return any_bytes(true);
	default:
		return v;
	}
}

/* Edge values of a type into v; how many. */
static unsigned
edges(enum cat_type t, union cat_val *v)
{
	static const int64_t number[] = { 0, 1, -1, 127, 128, 255, 256, -128, -129, -256, -257, INT16_MAX,
		INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
	static const double real[] = { 0, -0.0, 1, -1, 0.5, -0.5, 1e30, -1e30, 1e-40, -1e-40, INFINITY,
		-INFINITY, NAN, -NAN, 1.5, 1.25 };
	static const struct cat_str str[] = { { "", 0 }, { "a", 1 }, { "a ", 2 }, { "a  ", 3 }, { "a\1", 2 },
		{ "ab", 2 }, { "b", 1 }, { "\xff", 1 }, { "\xff\xff", 2 }, { " ", 1 }, { "a\xff", 2 },
		{ "\xc3\xa4", 2 }, { "\0", 1 }, { "\0\0", 2 }, { "a\0", 2 }, { "a\0\0", 3 }, { "a\0b", 3 },
		{ "a\0\xff", 3 }, { "a\0\1", 3 }, { "\0\xff", 2 } };
	static const char *const numeric[] = { "0", "0.00", "1", "1.0", "1.00", "-1", "-1.0", "10", "100",
		"1000", "0.1", "0.01", "0.001", "-0.1", "-0.01", "1.5", "1.55", "1.05", "-1.5", "-1.55", "99",
		"99.99", "101", "100.01", "-99", "-100", "-101", "NaN", "Infinity", "-Infinity",
		"123456789012345678901234567890123456789012", "1e200", "1e201", "1e202", "1e-199", "1e-200",
		"1e-201", "1e-202", "-1e200", "-1e201", "-1e202", "-1e-200", "-1e-201", "1e1000", "9e1000",
		"-1e1000", "1e-1000", "-1e-1000", "1e199", "1e198" };
	static const char *const interval[] = { "0", "1 mon", "30 days", "720 hours", "-1 mon", "1 day",
		"24 hours", "-24 hours", "1 us", "-1 us", "2147483647 mons", "-2147483648 mons",
		"2147483647 mons 2147483647 days" };
	unsigned n = 0;
	if (cat_type_is_float(t)) {
		for (; n < sizeof real / sizeof real[0]; n++)
			v[n].f = t == CAT_FLOAT4 ? (float)real[n] : real[n];
	} else if (t == CAT_NUMERIC) {
		for (; n < sizeof numeric / sizeof numeric[0]; n++)
			v[n] = parsed(t, numeric[n]);
	} else if (t == CAT_INTERVAL) {
		for (; n < sizeof interval / sizeof interval[0]; n++)
			v[n] = parsed(t, interval[n]);
	} else if (t == CAT_TEXT || t == CAT_BPCHAR || t == CAT_BYTEA) {
		for (; n < (t == CAT_BYTEA ? sizeof str / sizeof str[0] : 12); n++)
			v[n].s = str[n];
	} else if (!cat_type_is_str(t)) {
		for (unsigned i = 0; i < sizeof number / sizeof number[0]; i++)
			if (t == CAT_BOOL ? number[i] >> 1 == 0
			    : t == CAT_DATE
				? cat_time_infinite(number[i]) || labs(number[i]) < INT32_MAX
				: t == CAT_INT8 || !cat_type_is_int(t) || cat_int_fits(t, number[i]))
				v[n++].i = number[i];
	}
	return n;
}

/* ---- order ----------------------------------------------------------------------------------- */

static struct key
key_of(const struct cat_order_column *col, unsigned n, const union cat_val *v, const bool *null)
{
	struct key k;
	if (!cat_order_encode(col, n, v, null, k.bytes, &k.len, &arena, &err))
		fail_msg("%s: %s", err.sqlstate, err.text);
	return k;
}

static int
sign(int c)
{
	return (c > 0) - (c < 0);
}

static int
by_bytes(const struct key *a, const struct key *b)
{
	uint32_t n = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->bytes, b->bytes, n);
	return c != 0 ? sign(c) : (a->len > b->len) - (a->len < b->len);
}

/* SQL's order of two rows. */
static int
by_rules(const struct cat_order_column *col, unsigned n, const union cat_val *a, const bool *na,
    const union cat_val *b, const bool *nb)
{
	for (unsigned i = 0; i < n; i++) {
		int c;
		if (na[i] || nb[i]) {
			c = (int)na[i] - (int)nb[i]; /* NULL is the greater one ... */
			if (col[i].nulls_first)
				c = -c;
		} else {
			c = cat_value_cmp(col[i].type, a[i], b[i]);
			if (col[i].descending)
				c = -c;
		}
		if (c != 0)
			return sign(c);
	}
	return 0;
}

static const enum cat_type types[] = { CAT_BOOL, CAT_INT2, CAT_INT4, CAT_INT8, CAT_FLOAT4, CAT_FLOAT8,
	CAT_NUMERIC, CAT_TEXT, CAT_BPCHAR, CAT_BYTEA, CAT_DATE, CAT_TIME, CAT_TIMESTAMP, CAT_TIMESTAMPTZ,
	CAT_INTERVAL, CAT_UUID, CAT_ARRAY | CAT_INT4, CAT_ARRAY | CAT_TEXT, CAT_ARRAY | CAT_NUMERIC };
enum { TYPES = sizeof types / sizeof types[0] };

/* One column, all against all: edge values, random ones, and NULL. */
static void
test_one_column(void **state)
{
	(void)state;
	static struct key key[VALUES];
	static union cat_val v[VALUES];
	bool null[VALUES] = { false };
	for (unsigned t = 0; t < TYPES; t++)
		for (unsigned how = 0; how < 4; how++) {
			const struct cat_order_column col = {
				.type = types[t], .descending = how & 1, .nulls_first = how >> 1 & 1
			};
			unsigned n = edges(types[t], v), equal = 0;
			while (n < VALUES - 1)
				v[n++] = any_value(types[t]);
			null[n++] = true;
			for (unsigned i = 0; i < n; i++)
				key[i] = key_of(&col, 1, &v[i], &null[i]);
			for (unsigned i = 0; i < n; i++)
				for (unsigned k = 0; k < n; k++) {
					int want = by_rules(&col, 1, &v[i], &null[i], &v[k], &null[k]);
					if (by_bytes(&key[i], &key[k]) != want)
						fail_msg("type %s, how %u: %u against %u: not %d",
						    cat_type_name(types[t]), how, i, k, want);
					equal += want == 0 && i != k;
				}
			assert_true(equal > 0 || types[t] == CAT_UUID || types[t] == CAT_INTERVAL);
			nam_arena_reset(&arena);
		}
}

/* Random types, directions and places of NULL; columns of few values, so that later ones count. */
static void
test_columns(void **state)
{
	(void)state;
	static struct key key[ROWS];
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct cat_order_column col[COLUMNS_MAX];
		union cat_val some[COLUMNS_MAX][4], v[ROWS][COLUMNS_MAX];
		bool null[ROWS][COLUMNS_MAX];
		unsigned n = 1 + (unsigned)nam_rng_below(&rng, COLUMNS_MAX);
		for (unsigned c = 0; c < n; c++) {
			union cat_val edge[VALUES];
			col[c] = (struct cat_order_column){ .type = types[nam_rng_below(&rng, TYPES)],
				.descending = nam_rng_below(&rng, 2),
				.nulls_first = nam_rng_below(&rng, 2),
				.not_null = nam_rng_below(&rng, 2) };
			unsigned e = edges(col[c].type, edge);
			for (unsigned k = 0; k < 4; k++)
				some[c][k] =
				    e > 0 && k < 2 ? edge[nam_rng_below(&rng, e)] : any_value(col[c].type);
		}
		for (unsigned i = 0; i < ROWS; i++) {
			for (unsigned c = 0; c < n; c++) {
				v[i][c] = some[c][nam_rng_below(&rng, 4)];
				null[i][c] = !col[c].not_null && nam_rng_below(&rng, 5) == 0;
			}
			key[i] = key_of(col, n, v[i], null[i]);
		}
		for (unsigned i = 0; i < ROWS; i++)
			for (unsigned k = 0; k < ROWS; k++)
				assert_int_equal(by_bytes(&key[i], &key[k]),
				    by_rules(col, n, v[i], null[i], v[k], null[k]));
		nam_arena_reset(&arena);
	}
}

/* Whether a key tells a value as it is, -0.0 and blanks included. */
static bool
exactly(enum cat_type t, union cat_val a, union cat_val b)
{
	if (cat_type_is_str(t))
		return a.s.len == b.s.len && memcmp(a.s.p, b.s.p, a.s.len) == 0;
	if (cat_type_is_float(t))
		return (isnan(a.f) && isnan(b.f)) || (a.f == b.f && signbit(a.f) == signbit(b.f));
	return a.i == b.i;
}

/* Values out of whole keys, and out of keys that are cut anywhere: the right ones or none. */
static void
test_values(void **state)
{
	(void)state;
	unsigned told = 0, cut_told = 0, untold = 0;
	for (unsigned round = 0; round < 40000; round++) {
		struct cat_order_column col[COLUMNS_MAX];
		union cat_val v[COLUMNS_MAX], got[COLUMNS_MAX], edge[VALUES];
		bool null[COLUMNS_MAX], none[COLUMNS_MAX], need[COLUMNS_MAX], can = true;
		unsigned n = 1 + (unsigned)nam_rng_below(&rng, COLUMNS_MAX);
		for (unsigned c = 0; c < n; c++) {
			col[c] = (struct cat_order_column){ .type = types[nam_rng_below(&rng, TYPES)],
				.descending = nam_rng_below(&rng, 2),
				.nulls_first = nam_rng_below(&rng, 2),
				.not_null = nam_rng_below(&rng, 2) };
			unsigned e = edges(col[c].type, edge);
			v[c] = e > 0 && nam_rng_below(&rng, 2) ? edge[nam_rng_below(&rng, e)]
							       : any_value(col[c].type);
			null[c] = !col[c].not_null && nam_rng_below(&rng, 5) == 0;
			need[c] = cat_order_tells(col[c].type) && nam_rng_below(&rng, 4) > 0;
			can &= null[c] || !cat_type_is_array(col[c].type);
			can &= null[c] || !need[c] || !cat_type_is_float(col[c].type) || v[c].f != 0;
		}
		struct key k = key_of(col, n, v, null);
		for (unsigned i = 0; i < 4; i++) {
			uint32_t len = i == 0 ? k.len : (uint32_t)nam_rng_below(&rng, k.len + 1);
			bool is = cat_order_decode(col, n, k.bytes, len, need, got, none, &arena);
			if (len == k.len)
				assert_int_equal(is, can);
			told += is && i == 0;
			untold += !is && i == 0;
			cut_told += is && len < k.len;
			for (unsigned c = 0; is && c < n; c++) {
				assert_int_equal(none[c], null[c]);
				assert_true(null[c] || !need[c] || exactly(col[c].type, v[c], got[c]));
			}
		}
		nam_arena_reset(&arena);
	}
	assert_true(told > 1000 && untold > 100);
	assert_int_equal(cut_told, 0); /* every byte of a key counts */
	for (unsigned t = 0; t < TYPES; t++) {
		const struct cat_order_column col = { .type = types[t], .not_null = true };
		union cat_val v = any_value(types[t]), got;
		bool none, need = true;
		struct key k = key_of(&col, 1, &v, NULL);
		if (!cat_order_tells(types[t]))
			assert_false(cat_order_decode(&col, 1, k.bytes, k.len, &need, &got, &none, &arena));
	}
}

/* A scan from a prefix to what is after it brings the keys that begin with those columns, and no
 * others. */
static void
test_prefix(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		const struct cat_order_column col[2] = {
			{ .type = types[nam_rng_below(&rng, TYPES)], .descending = nam_rng_below(&rng, 2) },
			{ .type = types[nam_rng_below(&rng, TYPES)], .not_null = true },
		};
		union cat_val a[2] = { any_value(col[0].type), any_value(col[1].type) },
			      b[2] = { any_value(col[0].type), any_value(col[1].type) };
		if (nam_rng_below(&rng, 3) == 0)
			b[0] = a[0];
		struct key low = key_of(col, 1, a, NULL), high = low, of = key_of(col, 2, b, NULL);
		bool same = cat_value_cmp(col[0].type, a[0], b[0]) == 0;
		if (!cat_order_after(high.bytes, &high.len))
			high.len = 0;
		bool inside = by_bytes(&of, &low) >= 0 && (high.len == 0 || by_bytes(&of, &high) < 0);
		assert_int_equal(inside, same);
		nam_arena_reset(&arena);
	}
	uint8_t ends[] = { 255, 255 }, more[] = { 7, 255, 255 };
	uint32_t len = 2;
	assert_false(cat_order_after(ends, &len));
	len = 3;
	assert_true(cat_order_after(more, &len));
	assert_true(len == 1 && more[0] == 8);
}

/* Formats that others rely on, byte by byte. */
static void
test_bytes(void **state)
{
	(void)state;
	const struct cat_order_column pair[2] = { { .type = CAT_INT4, .not_null = true },
		{ .type = CAT_TEXT, .descending = true } };
	const union cat_val v[2] = { { .i = -2 }, { .s = { "a\0", 2 } } };
	static const uint8_t want[] = { 0x7f, 0xff, 0xff, 0xfe, 1, 0x9e, 0xff, 0, 0xff, 0xff };
	struct key k = key_of(pair, 2, v, NULL);
	assert_int_equal(k.len, sizeof want);
	assert_memory_equal(k.bytes, want, sizeof want);
	/* one BIGINT that is NOT NULL: eight bytes, a word */
	const struct cat_order_column big = { .type = CAT_INT8, .not_null = true };
	k = key_of(&big, 1, &(union cat_val){ .i = 258 }, NULL);
	static const uint8_t word[] = { 0x80, 0, 0, 0, 0, 0, 1, 2 };
	assert_int_equal(k.len, 8);
	assert_memory_equal(k.bytes, word, 8);
	const struct cat_order_column number = { .type = CAT_NUMERIC, .not_null = true };
	union cat_val n = parsed(CAT_NUMERIC, "-12.30");
	static const uint8_t digits[] = { 2, (uint8_t)~129, (uint8_t)~13, (uint8_t)~31, 255 };
	k = key_of(&number, 1, &n, NULL);
	assert_int_equal(k.len, sizeof digits);
	assert_memory_equal(k.bytes, digits, sizeof digits);
}

static void
fails(const char *sqlstate, const struct cat_order_column *col, union cat_val v, bool null)
{
	struct key k;
	assert_false(cat_order_encode(col, 1, &v, &null, k.bytes, &k.len, &arena, &err));
	assert_string_equal(err.sqlstate, sqlstate);
}

static void
test_limits(void **state)
{
	(void)state;
	const struct cat_order_column text = { .type = CAT_TEXT }, zeros = { .type = CAT_BYTEA },
				      date = { .type = CAT_DATE }, uuid = { .type = CAT_UUID },
				      json = { .type = CAT_JSON }, jsons = { .type = CAT_ARRAY | CAT_JSON },
				      there = { .type = CAT_INT4, .not_null = true },
				      number = { .type = CAT_NUMERIC };
	size_t most = CAT_ORDER_MAX - 3, huge = 64 << 20;
	char *long_text = malloc(huge);
	memset(long_text, 'x', huge);
	struct key k = key_of(&text, 1, &(union cat_val){ .s = { long_text, (uint32_t)most } }, NULL);
	assert_int_equal(k.len, CAT_ORDER_MAX);
	fails("54000", &text, (union cat_val){ .s = { long_text, (uint32_t)most + 1 } }, false);
	fails("54000", &text, (union cat_val){ .s = { long_text, (uint32_t)most + 3 } }, false);
	fails("54000", &text, (union cat_val){ .s = { long_text, (uint32_t)huge } }, false);
	memset(long_text, 0, most);
	fails("54000", &zeros, (union cat_val){ .s = { long_text, (uint32_t)most } }, false);
	memset(long_text, '7', 8000);
	long_text[8000] = 0;
	fails("54000", &number, parsed(CAT_NUMERIC, long_text), false);
	free(long_text);
	fails("XX001", &date, (union cat_val){ .i = INT64_C(1) << 40 }, false);
	fails("XX001", &uuid, (union cat_val){ .s = { "short", 5 } }, false);
	fails("0A000", &json, (union cat_val){ .s = { "1", 1 } }, false);
	fails("0A000", &jsons, (union cat_val){ .s = { "", 0 } }, false);
	fails("XX001", &there, (union cat_val){ .i = 0 }, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_column),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_limits),
	};
	nam_arena_init(&arena, 1 << 20);
	nam_rng_init(&rng, 15);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	nam_arena_fini(&arena);
	return rc;
}
