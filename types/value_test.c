/* value_test.c -- values: shortest floats, UTF-8, dates there and back, order and hash of each
 * type. */
#include <base/rng.h>
#include <types/datetime.h>
#include <types/value.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct nam_arena arena;
static struct cat_err err;

static bool
in(enum cat_type t, const char *s, union cat_val *v)
{
	return cat_value_in(t, -1, (struct cat_str){ s, (uint32_t)strlen(s) }, v, &arena, &err);
}

static const char *
out(enum cat_type t, union cat_val v)
{
	struct cat_str s = cat_value_out(t, v, &arena);
	return nam_arena_str(&arena, s.p, s.len);
}

static void
floats(void **state)
{
	(void)state;
	static const struct {
		double v;
		const char *text;
	} cases[] = { { 0.1, "0.1" }, { 1e20, "1e+20" }, { 1e-5, "1e-05" }, { 0.0001, "0.0001" },
		{ 1e15, "1e+15" }, { 1e14, "100000000000000" }, { 123456789012345.6, "123456789012345.6" },
		{ -0.0, "-0" }, { 0, "0" }, { 5e-324, "5e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" }, { 0x1p-44, "5.684341886080802e-14" },
		{ 1e23, "9.999999999999999e+22" }, { 0.1 + 0.2, "0.30000000000000004" },
		{ INFINITY, "Infinity" }, { -INFINITY, "-Infinity" }, { NAN, "NaN" }, { 1.5, "1.5" },
		{ 100, "100" }, { 2.2250738585072014e-308, "2.2250738585072014e-308" } };
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
		assert_string_equal(out(CAT_FLOAT8, (union cat_val){ .f = cases[k].v }), cases[k].text);
	/* every double comes back, and no text is longer than 17 digits */
	struct nam_rng r;
	nam_rng_init(&r, 5);
	for (int k = 0; k < 100000; k++) {
		union cat_val v = { .i = (int64_t)nam_rng_next(&r) }, back;
		if (isnan(v.f) || isinf(v.f))
			continue;
		const char *t = out(CAT_FLOAT8, v);
		assert_true(in(CAT_FLOAT8, t, &back));
		assert_true(back.i == v.i);
		assert_true(strlen(t) <= 24);
		if (k % 512 == 0)
			nam_arena_reset(&arena);
	}
}

static void
errors(void **state)
{
	(void)state;
	static const struct {
		enum cat_type t;
		const char *text, *sqlstate, *message;
	} cases[] = {
		{ CAT_INT4, "abc", "22P02", "invalid input syntax for type integer: \"abc\"" },
		{ CAT_INT4, "2147483648", "22003", "value \"2147483648\" is out of range for type integer" },
		{ CAT_INT8, "99999999999999999999", "22003",
		    "value \"99999999999999999999\" is out of range for type bigint" },
		{ CAT_INT8, "", "22P02", "invalid input syntax for type bigint: \"\"" },
		{ CAT_BOOL, "o", "22P02", "invalid input syntax for type boolean: \"o\"" },
		{ CAT_FLOAT8, "1e400", "22003", "\"1e400\" is out of range for type double precision" },
		{ CAT_FLOAT8, "1,5", "22P02", "invalid input syntax for type double precision: \"1,5\"" },
		{ CAT_NUMERIC, "1,5", "22P02", "invalid input syntax for type numeric: \"1,5\"" },
		{ CAT_DATE, "abc", "22007", "invalid input syntax for type date: \"abc\"" },
		{ CAT_DATE, "2021-02-30", "22008", "date/time field value out of range: \"2021-02-30\"" },
		{ CAT_TIMESTAMP, "2021-01-01 25:00", "22008",
		    "date/time field value out of range: \"2021-01-01 25:00\"" },
		{ CAT_TEXT, "a\xff", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff" },
		{ CAT_TEXT, "\xc3(", "22021", "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28" },
		{ CAT_TEXT, "\xed\xa0\x80", "22021",
		    "invalid byte sequence for encoding \"UTF8\": 0xed 0xa0 0x80" },
	};
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		union cat_val v;
		assert_false(in(cases[k].t, cases[k].text, &v));
		assert_string_equal(err.sqlstate, cases[k].sqlstate);
		assert_string_equal(err.text, cases[k].message);
	}
	union cat_val v;
	assert_false(cat_value_in(CAT_TEXT, -1, (struct cat_str){ "a\0b", 3 }, &v, &arena, &err));
	assert_string_equal(err.sqlstate, "22021");
	/* a valid run longer than a word, and a bad byte at every place of it */
	char t[24];
	for (unsigned at = 0; at < 20; at++) {
		memcpy(t, "0123456789éabcdefghi", 21);
		assert_true(in(CAT_TEXT, t, &v));
		t[at] = (char)0x80;
		if (at != 11) /* the second byte of é may be another one */
			assert_false(in(CAT_TEXT, t, &v));
	}
}

static void
dates(void **state)
{
	(void)state;
	/* the calendar walks day by day, and text comes back, over 400 years and far away */
	int64_t y = 1799, last = cat_days(1799, 12, 31);
	for (int64_t d = last + 1; d < last + 146097; d++) {
		int64_t yy;
		int m, day;
		cat_civil(d, &yy, &m, &day);
		assert_int_equal(cat_days(yy, m, day), d);
		assert_true(yy >= y && m >= 1 && m <= 12 && day >= 1 && day <= 31);
		y = yy;
	}
	assert_int_equal(cat_days(2000, 1, 1), 0);
	assert_int_equal(cat_days(1970, 1, 1), -10957);
	struct nam_rng r;
	nam_rng_init(&r, 6);
	for (int k = 0; k < 20000; k++) {
		union cat_val d = { .i = (int64_t)nam_rng_below(&r, 2147477000) - 2451000 }, back;
		assert_true(in(CAT_DATE, out(CAT_DATE, d), &back));
		assert_int_equal(back.i, d.i);
		union cat_val t = { .i = (int64_t)nam_rng_below(&r, UINT64_C(9223371331200000000)) -
					 INT64_C(211000000000000000) };
		assert_true(in(CAT_TIMESTAMP, out(CAT_TIMESTAMP, t), &back));
		assert_int_equal(back.i, t.i);
		nam_arena_reset(&arena);
	}
	/* nonsense is refused, never believed */
	for (int k = 0; k < 200000; k++) {
		static const char set[] = "0123456789-:/. TabcJnMrP+,";
		char t[24];
		unsigned n = (unsigned)nam_rng_below(&r, sizeof t);
		for (unsigned j = 0; j < n; j++)
			t[j] = set[nam_rng_below(&r, sizeof set - 1)];
		int64_t v;
		if (cat_timestamp_in((struct cat_str){ t, n }, &v, &err))
			assert_true(cat_timestamp_valid(v));
		if (cat_date_in((struct cat_str){ t, n }, &v, &err))
			assert_true(cat_date_valid(v));
	}
}

static void
order(void **state)
{
	(void)state;
	static const struct {
		enum cat_type t;
		const char *up[6];
	} cases[] = {
		{ CAT_BOOL, { "f", "t" } },
		{ CAT_INT4, { "-5", "0", "7" } },
		{ CAT_FLOAT8, { "-inf", "-1", "0", "1.5", "inf", "nan" } },
		{ CAT_NUMERIC, { "-inf", "-1.5", "0.00", "1.5", "inf", "nan" } },
		{ CAT_TEXT, { "", "A", "Ab", "a", "\xc3\xa9" } },
		{ CAT_DATE, { "-infinity", "0001-01-01 BC", "2020-01-01", "infinity" } },
	};
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		for (int a = 0; a < 6 && cases[k].up[a]; a++) {
			for (int b = 0; b < 6 && cases[k].up[b]; b++) {
				union cat_val x = { 0 }, y = { 0 };
				assert_true(
				    in(cases[k].t, cases[k].up[a], &x) && in(cases[k].t, cases[k].up[b], &y));
				assert_int_equal(cat_value_cmp(cases[k].t, x, y), (a > b) - (a < b));
				bool same =
				    cat_value_hash(cases[k].t, x, 9) == cat_value_hash(cases[k].t, y, 9);
				assert_int_equal(same, a == b);
			}
		}
	}
	union cat_val zero = { .f = 0.0 }, minus = { .f = -0.0 }, nan1 = { .f = NAN }, nan2 = { .f = -NAN };
	assert_true(cat_value_hash(CAT_FLOAT8, zero, 1) == cat_value_hash(CAT_FLOAT8, minus, 1));
	assert_true(cat_value_hash(CAT_FLOAT8, nan1, 1) == cat_value_hash(CAT_FLOAT8, nan2, 1));
	assert_int_equal(cat_value_cmp(CAT_FLOAT8, zero, minus), 0);
}

static void
fit(void **state)
{
	(void)state;
	union cat_val v;
	assert_true(in(CAT_TEXT, "日本語", &v));
	assert_true(cat_value_fit(CAT_TEXT, 3, &v, &arena, &err));
	assert_false(cat_value_fit(CAT_TEXT, 2, &v, &arena, &err));
	assert_string_equal(err.sqlstate, "22001");
	assert_true(in(CAT_TEXT, "ab  ", &v) && cat_value_fit(CAT_TEXT, 3, &v, &arena, &err));
	assert_int_equal(v.s.len, 3);
	assert_true(
	    in(CAT_NUMERIC, "999.994", &v) && cat_value_fit(CAT_NUMERIC, 5 << 16 | 2, &v, &arena, &err));
	assert_string_equal(out(CAT_NUMERIC, v), "999.99");
	assert_true(in(CAT_NUMERIC, "999.995", &v));
	assert_false(cat_value_fit(CAT_NUMERIC, 5 << 16 | 2, &v, &arena, &err));
	assert_string_equal(
	    err.detail, "A field with precision 5, scale 2 must round to an absolute value less than 10^3.");
}

static int
setup(void **state)
{
	(void)state;
	nam_arena_init(&arena, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	nam_arena_fini(&arena);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(floats), cmocka_unit_test(errors),
		cmocka_unit_test(dates), cmocka_unit_test(order), cmocka_unit_test(fit) };
	return cmocka_run_group_tests(tests, setup, teardown);
}
