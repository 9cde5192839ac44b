/* expr_test.c -- expressions: each case folded, over columns and over parameters, against
 * PostgreSQL's answers. */
#include <sql/testing/expr_cases.h>
#include <sql/testing/expr_mini.h>
#include <sql/testing/test_text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct nam_arena arena;

static const char *
answer(const char *text, int mode)
{
	struct cat_datum d;
	struct cat_err err;
	if (!mini_eval(text, mode, &arena, &d, &err))
		return nam_arena_printf(&arena, "ERR %s %s", err.sqlstate, err.text);
	if (!d.null && d.type == CAT_BOOL)
		return d.v.i ? "boolean|true" : "boolean|false";
	return test_typed_text(d, &arena);
}

static void
as_postgresql(void **state)
{
	(void)state;
	for (unsigned k = 0; k < sizeof expr_cases / sizeof *expr_cases; k++) {
		for (int mode = MINI_CONST; mode <= MINI_PARAM; mode++) {
			const char *got = answer(expr_cases[k].text, mode);
			if (strcmp(got, expr_cases[k].answer) != 0) {
				print_error("%s (mode %d)\n  got  %s\n  want %s\n", expr_cases[k].text, mode,
				    got, expr_cases[k].answer);
				fail();
			}
		}
		nam_arena_reset(&arena);
	}
}

/* Over all rows of a batch: dense and selected, column and constant on either side. */
static void
shapes(void **state)
{
	(void)state;
	enum { N = CAT_BATCH };
	struct cat_err err;
	struct sql_env env = { .arena = &arena, .err = &err };
	struct cat_vec col[3], out;
	uint16_t sel[N];
	unsigned n = 0;
	for (unsigned c = 0; c < 3; c++)
		assert_true(cat_vec_take(&col[c], c == 2 ? CAT_FLOAT8 : CAT_INT4, N, &arena));
	for (unsigned k = 0; k < N; k++) {
		col[0].null[k] = k % 7 == 0;
		col[0].i[k] = k % 7 == 0 ? INT64_MAX : (int64_t)k;
		col[1].null[k] = k % 5 == 0;
		col[1].i[k] = k % 5 == 0 ? 0 : (int64_t)(k * 31 % 100) + 1;
		col[2].null[k] = 0;
		col[2].f[k] = k;
		if (k % 3 == 1)
			sel[n++] = (uint16_t)k;
	}
	struct sql_batch b = { .col = col, .cols = 3, .n = N };
	struct sql_expr *x = sql_expr_column(&arena, 0, CAT_INT4, -1, 0),
			*y = sql_expr_column(&arena, 1, CAT_INT4, -1, 0);
	struct sql_expr *f = sql_expr_column(&arena, 2, CAT_FLOAT8, -1, 0);
	struct sql_expr *five = sql_expr_const(&arena, (struct cat_datum){ .type = CAT_INT4, .v.i = 5 }, 0);
	static const char *const ops[] = { "+", "-", "*", "/", "%", "<", "=", ">=" };
	for (unsigned o = 0; o < sizeof ops / sizeof *ops; o++) {
		for (int shape = 0; shape < 3; shape++) {
			struct sql_expr *l = shape == 2 ? five : x, *r = shape == 1 ? five : y;
			struct sql_expr *e = sql_expr_op(&arena, ops[o], l, r, 0, &err);
			assert_non_null(e);
			for (int dense = 0; dense < 2; dense++) {
				unsigned m = dense ? N : n;
				assert_true(sql_eval(e, &b, dense ? NULL : sel, m, &env, &out));
				for (unsigned j = 0; j < m; j++) {
					unsigned k = dense ? j : sel[j];
					bool null = (shape != 2 && k % 7 == 0) || (shape != 1 && k % 5 == 0);
					assert_int_equal(out.null[k], null);
					if (null)
						continue;
					int64_t p = shape == 2 ? 5 : col[0].i[k],
						q = shape == 1 ? 5 : col[1].i[k];
					int64_t want[] = { p + q, p - q, p * q, p / q, p % q, p < q, p == q,
						p >= q };
					assert_int_equal(out.i[k], want[o]);
				}
			}
		}
	}
	/* a filter is the rows where the expression is true */
	struct sql_expr *and[2] = { sql_expr_op(&arena, "<", x, five, 0, &err),
		sql_expr_op(&arena, ">", f, five, 0, &err) };
	struct sql_expr *both = sql_expr_make(&arena, SQL_AND, and, 2, false, 0, &err);
	struct sql_expr *either = sql_expr_make(&arena, SQL_OR, and, 2, false, 0, &err);
	uint16_t keep[N];
	assert_int_equal(sql_filter(both, &b, NULL, N, &env, keep), 0);
	int m = sql_filter(either, &b, sel, n, &env, keep);
	assert_int_equal(m, n - 0);
	m = sql_filter(and[0], &b, NULL, N, &env, keep);
	assert_int_equal(m, 4); /* 1 2 3 4: 0 is NULL */
	assert_int_equal(keep[0], 1);
	assert_int_equal(keep[3], 4);
}

/* CASE and COALESCE and OR must not touch rows that do not need them. */
static void
only_the_rows_needed(void **state)
{
	(void)state;
	static const char *const ok[] = {
		"case when 0 = 0 then 1 else 1 / 0 end",
		"coalesce(1, 1 / 0)",
		"0 = 0 or 1 / 0 = 1",
		"0 = 1 and 1 / 0 = 1",
		"case when 1 = 0 then 1 / 0 when 1 = 1 then 2 end",
	};
	for (unsigned k = 0; k < sizeof ok / sizeof *ok; k++) {
		for (int mode = MINI_CONST; mode <= MINI_PARAM; mode++) {
			struct cat_datum d;
			struct cat_err err;
			if (!mini_eval(ok[k], mode, &arena, &d, &err)) {
				print_error("%s (mode %d): %s\n", ok[k], mode, err.text);
				fail();
			}
		}
	}
}

static void
assignments(void **state)
{
	(void)state;
	static const struct {
		enum cat_type to;
		int32_t typmod;
		const char *from, *answer;
	} cases[] = {
		{ CAT_INT4, -1, "true",
		    "ERR 42804 column \"a\" is of type integer but expression is of type boolean" },
		{ CAT_INT4, -1, "'abc'", "ERR 22P02 invalid input syntax for type integer: \"abc\"" },
		{ CAT_INT4, -1, "'12'::text",
		    "ERR 42804 column \"a\" is of type integer but expression is of type text" },
		{ CAT_INT4, -1, "12.5", "13" },
		{ CAT_INT4, -1, "1e10", "ERR 22003 integer out of range" },
		{ CAT_INT4, -1, "null", "<null>" },
		{ CAT_INT8, -1, "5", "5" },
		{ CAT_TEXT, 3, "'abcd'", "ERR 22001 value too long for type character varying(3)" },
		{ CAT_TEXT, 3, "'abc   '", "abc" },
		{ CAT_TEXT, 3, "'日本語'", "日本語" },
		{ CAT_TEXT, 3, "12345", "ERR 22001 value too long for type character varying(3)" },
		{ CAT_TEXT, 3, "123", "123" },
		{ CAT_NUMERIC, 5 << 16 | 2, "12345", "ERR 22003 numeric field overflow" },
		{ CAT_NUMERIC, 5 << 16 | 2, "1.005", "1.01" },
		{ CAT_DATE, -1, "timestamp '2020-01-01 10:00'", "2020-01-01" },
		{ CAT_DATE, -1, "1",
		    "ERR 42804 column \"a\" is of type date but expression is of type integer" },
	};
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct cat_err err = { 0 };
		struct mini m = { .at = cases[k].from, .mode = MINI_PARAM, .a = &arena, .err = &err };
		struct sql_expr *e = mini_expr(&m, 0);
		assert_non_null(e);
		struct sql_env env = { .param = m.hole, .params = m.holes, .arena = &arena, .err = &err };
		struct cat_datum d;
		const char *got;
		e = sql_expr_assign(&arena, e, cases[k].to, cases[k].typmod, "a", 0, &err);
		if (e == NULL || !sql_eval_one(e, &env, &d)) {
			got = nam_arena_printf(&arena, "ERR %s %s", err.sqlstate, err.text);
		} else {
			assert_int_equal(d.type, cases[k].to);
			got = test_text(d, &arena);
		}
		assert_string_equal(got, cases[k].answer);
	}
}

/* A parameter of unknown type takes the type of its place. */
static void
parameters(void **state)
{
	(void)state;
	struct cat_err err = { 0 };
	struct sql_expr *p = sql_expr_param(&arena, 0, CAT_UNKNOWN, 0);
	struct sql_expr *x = sql_expr_column(&arena, 0, CAT_INT8, -1, 0);
	assert_non_null(sql_expr_op(&arena, "=", x, p, 0, &err));
	assert_int_equal(p->type, CAT_INT8);
	struct sql_env env = { .arena = &arena, .err = &err };
	struct cat_datum d;
	assert_false(sql_eval_one(p, &env, &d));
	assert_string_equal(err.sqlstate, "42P02");
	assert_false(sql_eval_one(x, &env, &d));
}

/* The work that a function may do: it is told to stop at the n-th look. */
static bool
stop_at(void *arg, uint64_t work)
{
	unsigned *left = arg;
	(void)work;
	if (*left > 0)
		--*left;
	return *left > 0;
}

/* A function that is stopped on its way gives no answer, wherever that was. */
static void
stopped_functions(void **state)
{
	(void)state;
	static const char *const cases[] = {
		"array_length(regexp_split_to_array(repeat('a,', 30000), ','), 1)",
		"array_length(regexp_matches(repeat('a,', 30000), '(a),', 'g'), 1)",
		"regexp_match(repeat('a,', 30000) || 'b', 'b')",
		"regexp_match(repeat('a,', 30000), 'b')",
		"regexp_count(repeat('a,', 30000), ',')",
		"regexp_instr(repeat('a,', 30000) || 'b', 'b')",
		"regexp_replace(repeat('a,', 30000), 'a', 'b', 'g')",
		"repeat('a,', 30000) ~ 'b'",
		"regexp_match(repeat('a,', 20000), '(.*),(a).*$')",
		"repeat('a,', 2000) ~ '^(.*)\\1$'",
		"repeat('a,', 20000) ~ '(?=b+)[ab]'",
		"repeat('a,', 20000) ~ '(?<=b.*)a'",
		"regexp_replace(repeat('a', 60), '^(a*)(a*)b?\\1\\2\\1$', 'x')",
		"repeat('a,', 30000) like '%b'",
		"substring(repeat('a,', 30000), '.*')",
		"substring(repeat('a,', 30000), '%#\",%#\"', '#')",
		"substring(repeat('a,', 30000), '%', '#')",
		"length(replace(repeat('a,', 30000), 'a', 'bb'))",
		"array_length(string_to_array(repeat('a,', 30000), ','), 1)",
	};
	unsigned stops = 0;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct cat_err err = { 0 };
		struct cat_datum want, got;
		struct mini m = { .at = cases[k], .mode = MINI_PARAM, .a = &arena, .err = &err };
		struct sql_expr *e = mini_expr(&m, 0);
		assert_non_null(e);
		struct sql_env env = { .param = m.hole, .params = m.holes, .arena = &arena, .err = &err };
		assert_true(sql_eval_one(e, &env, &want));
		env.go_on = stop_at;
		for (unsigned n = 1;; n++) {
			unsigned left = n;
			env.go_on_arg = &left;
			bool ok = sql_eval_one(e, &env, &got);
			stops += !ok;
			if (ok)
				assert_string_equal(test_text(got, &arena), test_text(want, &arena));
			if (left > 0)
				break;
		}
		/* as a constant it is what it is as a parameter */
		struct mini c = { .at = cases[k], .mode = MINI_CONST, .a = &arena, .err = &err };
		env.go_on = NULL;
		assert_non_null(e = mini_expr(&c, 0));
		assert_true(sql_eval_one(e, &env, &got));
		assert_string_equal(test_text(got, &arena), test_text(want, &arena));
		nam_arena_reset(&arena);
	}
	assert_true(stops >= 40);
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

/* A domain's node: values stay as they are; of several rows the first that breaks a constraint says
 * which, NULL before the checks. */
static void
domains(void **state)
{
	(void)state;
	enum { N = CAT_BATCH };
	struct cat_err err;
	struct sql_env env = { .arena = &arena, .err = &err };
	struct cat_vec col, out;
	uint16_t sel[N];
	unsigned n = 0;
	assert_true(cat_vec_take(&col, CAT_INT4, N, &arena));
	for (unsigned k = 0; k < N; k++) {
		col.null[k] = 0;
		col.i[k] = (int64_t)k + 1;
		if (k % 3 == 1)
			sel[n++] = (uint16_t)k;
	}
	struct sql_batch b = { .col = &col, .cols = 1, .n = N };
	struct sql_expr *x = sql_expr_column(&arena, 0, CAT_INT4, -1, 0);
	struct sql_expr *zero = sql_expr_const(&arena, (struct cat_datum){ .type = CAT_INT4 }, 0);
	struct sql_expr *most =
	    sql_expr_const(&arena, (struct cat_datum){ .type = CAT_INT4, .v.i = 5000 }, 0);
	struct sql_domain_check check[2] = { { "above", sql_expr_op(&arena, ">", x, zero, 0, &err) },
		{ "below", sql_expr_op(&arena, "<", x, most, 0, &err) } };
	struct sql_domain d = { .id = 7, .name = "d", .not_null = true, .check = check, .checks = 2 };
	struct sql_expr *e = sql_expr_domain(&arena, x, &d, &err);
	assert_non_null(e);
	assert_ptr_equal(sql_expr_is_domain(e), &d);
	assert_null(sql_expr_is_domain(x));
	assert_true(e->domain == 7 && e->rows && !e->pure);
	for (int dense = 0; dense < 2; dense++) {
		unsigned m = dense ? N : n;
		assert_true(sql_eval(e, &b, dense ? NULL : sel, m, &env, &out));
		for (unsigned j = 0; j < m; j++)
			assert_int_equal(out.i[dense ? j : sel[j]], (dense ? j : sel[j]) + 1);
	}
	col.i[4] = 6000;
	col.i[7] = -1;
	assert_false(sql_eval(e, &b, sel, n, &env, &out));
	assert_string_equal(err.sqlstate, "23514");
	assert_string_equal(err.text, "value for domain d violates check constraint \"below\"");
	assert_string_equal(err.constraint, "below");
	col.null[1] = 1;
	assert_false(sql_eval(e, &b, sel, n, &env, &out));
	assert_string_equal(err.sqlstate, "23502");
	assert_string_equal(err.text, "domain d does not allow null values");
	/* rows that are not selected are not asked */
	col.null[1] = 0;
	col.i[4] = 5;
	col.i[7] = 8;
	col.i[2] = -5;
	assert_true(sql_eval(e, &b, sel, n, &env, &out));
	/* one value, and a constant that is not computed before it is reached */
	struct sql_expr *bad = sql_expr_domain(&arena, zero, &d, &err);
	struct cat_datum v;
	assert_true(bad != NULL && bad->kind == SQL_CALL);
	assert_false(sql_eval_one(bad, &env, &v));
	assert_string_equal(err.text, "value for domain d violates check constraint \"above\"");
	struct sql_expr *none =
	    sql_expr_const(&arena, (struct cat_datum){ .type = CAT_INT4, .null = true }, 0);
	d.not_null = false;
	assert_true(sql_eval_one(sql_expr_domain(&arena, none, &d, &err), &env, &v) && v.null);
	nam_arena_reset(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_postgresql),
		cmocka_unit_test(shapes),
		cmocka_unit_test(only_the_rows_needed),
		cmocka_unit_test(assignments),
		cmocka_unit_test(parameters),
		cmocka_unit_test(domains),
		cmocka_unit_test(stopped_functions),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
