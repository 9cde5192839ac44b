/* agg_test.c -- aggregates: result types, NULLs, overflow, and sums that outgrow 128 bits. */
#include <base/rng.h>
#include <sql/expr/expr.h>
#include <sql/testing/test_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct nam_arena arena;

/* Values as text, NULL for NULL, all in one group: both ways of adding, which must agree. */
static const char *
agg(enum sql_agg_kind k, enum cat_type type, const char *const *v, unsigned n)
{
	struct cat_err err = { 0 };
	struct cat_vec col;
	assert_true(cat_vec_take(&col, type, n + 1, &arena));
	for (unsigned j = 0; j < n; j++) {
		union cat_val x = { .s = { "", 0 } };
		if (v[j])
			assert_true(cat_value_in(
			    type, -1, (struct cat_str){ v[j], (uint32_t)strlen(v[j]) }, &x, &arena, &err));
		else if (!cat_type_is_str(type))
			x.i = -1;
		cat_vec_set(&col, j, x, v[j] == NULL);
	}
	const char *out[2];
	for (int way = 0; way < 2; way++) {
		void *st = nam_arena_zero(&arena, SQL_AGG_BYTES);
		void **states = nam_arena_take(&arena, (n + 1) * sizeof *states);
		for (unsigned j = 0; j < n; j++)
			states[j] = st;
		bool ok = way ? sql_agg_add_all(k, type, &col, NULL, n, st, &arena, &err)
			      : sql_agg_add(k, type, &col, NULL, n, states, &arena, &err);
		struct cat_datum d;
		if (!ok || !sql_agg_result(k, type, st, &d, &arena, &err)) {
			out[way] = nam_arena_printf(&arena, "ERR %s %s", err.sqlstate, err.text);
			continue;
		}
		out[way] = test_typed_text(d, &arena);
	}
	assert_string_equal(out[0], out[1]);
	return out[0];
}

#define AGG(k, type, ...)                                                                                    \
	agg(k, type, (const char *const[]){ __VA_ARGS__ },                                                   \
	    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void
results(void **state)
{
	(void)state;
	assert_string_equal(AGG(SQL_COUNT, CAT_INT4, "1", NULL, "3"), "bigint|2");
	assert_string_equal(AGG(SQL_COUNT_STAR, CAT_INT4, "1", NULL, "3"), "bigint|3");
	assert_string_equal(AGG(SQL_SUM, CAT_INT4, "1", NULL, "3"), "bigint|4");
	assert_string_equal(AGG(SQL_SUM, CAT_INT4, NULL), "bigint|<null>");
	assert_string_equal(AGG(SQL_SUM, CAT_INT4, "2147483647", "2147483647"), "bigint|4294967294");
	assert_string_equal(AGG(SQL_SUM, CAT_INT8, "9223372036854775807", "9223372036854775807", "1"),
	    "numeric|18446744073709551615");
	assert_string_equal(AGG(SQL_SUM, CAT_INT8, "-9223372036854775808", "-9223372036854775808", NULL, "5"),
	    "numeric|-18446744073709551611");
	assert_string_equal(AGG(SQL_AVG, CAT_INT4, "1", "2"), "numeric|1.5000000000000000");
	assert_string_equal(AGG(SQL_AVG, CAT_INT4, "1", "1", "2"), "numeric|1.3333333333333333");
	assert_string_equal(AGG(SQL_AVG, CAT_INT8, "0", "0"), "numeric|0.00000000000000000000");
	assert_string_equal(AGG(SQL_AVG, CAT_INT4, NULL, NULL), "numeric|<null>");
	assert_string_equal(AGG(SQL_AVG, CAT_NUMERIC, "1.5", "2.50"), "numeric|2.0000000000000000");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, "1.5", "2.505", "-1"), "numeric|3.005");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, "1.5", "NaN"), "numeric|NaN");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, "1.5", "inf"), "numeric|Infinity");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, "-inf", "inf"), "numeric|NaN");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, NULL), "numeric|<null>");
	assert_string_equal(AGG(SQL_SUM, CAT_NUMERIC, "1e60", "1", "1e-30", "-1e60"),
	    "numeric|1.000000000000000000000000000001");
	assert_string_equal(
	    AGG(SQL_SUM, CAT_NUMERIC, "99999999999999999999999999999999999999",
		"99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
	    "numeric|299999999999999999999999999999999999997");
	assert_string_equal(AGG(SQL_SUM, CAT_FLOAT8, "0.1", "0.2"), "double precision|0.30000000000000004");
	assert_string_equal(AGG(SQL_AVG, CAT_FLOAT8, "1", NULL, "2"), "double precision|1.5");
	assert_string_equal(
	    AGG(SQL_SUM, CAT_FLOAT8, "1e308", "1e308"), "ERR 22003 value out of range: overflow");
	assert_string_equal(AGG(SQL_SUM, CAT_FLOAT8, "inf", "1"), "double precision|Infinity");
	assert_string_equal(AGG(SQL_MAX, CAT_FLOAT8, "1", "NaN", "inf"), "double precision|NaN");
	assert_string_equal(AGG(SQL_MIN, CAT_FLOAT8, "NaN", "1", "inf"), "double precision|1");
	assert_string_equal(AGG(SQL_MIN, CAT_INT4, "5", NULL, "-3", "7"), "integer|-3");
	assert_string_equal(AGG(SQL_MAX, CAT_INT8, "5", NULL, "-3", "7"), "bigint|7");
	assert_string_equal(AGG(SQL_MAX, CAT_INT8, NULL, NULL), "bigint|<null>");
	assert_string_equal(AGG(SQL_MAX, CAT_TEXT, "b", "a", "abcdefghijklmnopqrstuvwxyz", "é"), "text|é");
	assert_string_equal(AGG(SQL_MIN, CAT_TEXT, "b", "B", NULL), "text|B");
	assert_string_equal(AGG(SQL_MIN, CAT_TEXT, "", "a"), "text|");
	assert_string_equal(AGG(SQL_MAX, CAT_TEXT, "", NULL), "text|");
	assert_string_equal(AGG(SQL_MAX, CAT_NUMERIC, "1.0", "1.00", "0.9"), "numeric|1.0");
	assert_string_equal(AGG(SQL_MIN, CAT_DATE, "2020-01-02", "2020-01-01"), "date|2020-01-01");
	assert_string_equal(
	    AGG(SQL_MAX, CAT_TIMESTAMP, "2020-01-02", "infinity"), "timestamp without time zone|infinity");
}

static void
types(void **state)
{
	(void)state;
	struct cat_err err;
	enum cat_type t;
	assert_false(sql_agg_type(SQL_SUM, CAT_TEXT, &t, 7, &err));
	assert_string_equal(err.text, "function sum(text) does not exist");
	assert_string_equal(err.sqlstate, "42883");
	assert_int_equal(err.position, 7);
	assert_false(sql_agg_type(SQL_MIN, CAT_BOOL, &t, 0, &err));
	assert_string_equal(err.text, "function min(boolean) does not exist");
	assert_false(sql_agg_type(SQL_SUM, CAT_UNKNOWN, &t, 0, &err));
	assert_string_equal(err.sqlstate, "42725");
	enum sql_agg_kind k;
	assert_true(sql_agg_find("avg", &k) && k == SQL_AVG);
	assert_false(sql_agg_find("median", &k));
}

/* Groups, selections and NULLs at random, against a plain loop. */
static void
groups(void **state)
{
	(void)state;
	enum { N = 1000, G = 7 };
	struct cat_err err = { 0 };
	struct nam_rng r;
	nam_rng_init(&r, 42);
	struct cat_vec col;
	assert_true(cat_vec_take(&col, CAT_INT8, N, &arena));
	void *st[G], *of[N];
	__int128 want[G] = { 0 }, total = 0;
	int64_t count[G] = { 0 };
	uint16_t sel[N];
	unsigned n = 0;
	for (int g = 0; g < G; g++)
		st[g] = nam_arena_zero(&arena, SQL_AGG_BYTES);
	for (unsigned k = 0; k < N; k++) {
		col.null[k] = nam_rng_below(&r, 4) == 0;
		col.i[k] = (int64_t)nam_rng_next(&r);
		if (nam_rng_below(&r, 3) == 0)
			continue;
		unsigned g = (unsigned)nam_rng_below(&r, G);
		of[n] = st[g];
		sel[n++] = (uint16_t)k;
		if (!col.null[k]) {
			want[g] += col.i[k];
			total += col.i[k];
			count[g]++;
		}
	}
	assert_true(sql_agg_add(SQL_SUM, CAT_INT8, &col, sel, n, of, &arena, &err));
	for (int g = 0; g < G; g++) {
		struct cat_datum d;
		assert_true(count[g] > 0 && sql_agg_result(SQL_SUM, CAT_INT8, st[g], &d, &arena, &err));
		struct cat_str s = cat_value_out(CAT_NUMERIC, d.v, &arena);
		bool neg = s.p[0] == '-';
		__int128 got = 0;
		for (uint32_t k = neg; k < s.len; k++)
			got = got * 10 + (s.p[k] - '0');
		assert_true((neg ? -got : got) == want[g]);
	}
	void *one = nam_arena_zero(&arena, SQL_AGG_BYTES);
	struct cat_datum d;
	assert_true(sql_agg_add_all(SQL_SUM, CAT_INT8, &col, sel, n, one, &arena, &err));
	assert_true(sql_agg_result(SQL_SUM, CAT_INT8, one, &d, &arena, &err));
	struct cat_str s = cat_value_out(CAT_NUMERIC, d.v, &arena);
	bool neg = s.p[0] == '-';
	__int128 got = 0;
	for (uint32_t k = neg; k < s.len; k++)
		got = got * 10 + (s.p[k] - '0');
	assert_true((neg ? -got : got) == total);
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(results), cmocka_unit_test(types),
		cmocka_unit_test(groups) };
	return cmocka_run_group_tests(tests, setup, teardown);
}
