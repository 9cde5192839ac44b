/* numeric_test.c -- decimals: identities over random numbers, and the fast path against 128-bit
 * arithmetic. */
#include <base/rng.h>
#include <types/numeric.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct nam_arena arena;
static struct cat_err err;
static struct nam_rng rng;

static struct cat_str
num(const char *t)
{
	struct cat_str n = { "", 0 };
	if (!cat_num_in((struct cat_str){ t, (uint32_t)strlen(t) }, &n, &arena, &err)) {
		print_error("%s: %s\n", t, err.text);
		fail();
	}
	return n;
}

static const char *
text(struct cat_str n)
{
	struct cat_str s = cat_num_out(n, &arena);
	return nam_arena_str(&arena, s.p, s.len);
}

/* Up to `digits` digits before and after the point. */
static struct cat_str
any(unsigned digits)
{
	char t[256];
	unsigned n = 0, a = (unsigned)nam_rng_below(&rng, digits) + 1,
		 b = (unsigned)nam_rng_below(&rng, digits);
	if (nam_rng_below(&rng, 2))
		t[n++] = '-';
	for (unsigned k = 0; k < a; k++)
		t[n++] = (char)('0' + nam_rng_below(&rng, nam_rng_below(&rng, 4) ? 10 : 1));
	if (b > 0) {
		t[n++] = '.';
		for (unsigned k = 0; k < b; k++)
			t[n++] = (char)('0' + nam_rng_below(&rng, nam_rng_below(&rng, 4) ? 10 : 1));
	}
	t[n] = 0;
	return num(t);
}

static struct cat_str
two(cat_num_binary *f, struct cat_str a, struct cat_str b)
{
	struct cat_str out = { "", 0 };
	if (!f(a, b, &out, &arena, &err)) {
		print_error("%s ? %s: %s\n", text(a), text(b), err.text);
		fail();
	}
	return out;
}

static void
identities(void **state)
{
	(void)state;
	nam_rng_init(&rng, 1);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned digits = round % 4 == 0 ? 60 : round % 4 == 1 ? 25 : 9;
		struct cat_str a = any(digits), b = any(digits), c = any(digits);
		struct cat_str sum = two(cat_num_add, a, b);
		assert_int_equal(cat_num_cmp(two(cat_num_sub, sum, b), a), 0);
		assert_int_equal(cat_num_cmp(sum, two(cat_num_add, b, a)), 0);
		unsigned sa = cat_num_scale(a), sb = cat_num_scale(b);
		assert_int_equal(cat_num_scale(sum), sa > sb ? sa : sb);
		/* a (b + c) = a b + a c */
		struct cat_str l = two(cat_num_mul, a, two(cat_num_add, b, c));
		struct cat_str r = two(cat_num_add, two(cat_num_mul, a, b), two(cat_num_mul, a, c));
		assert_int_equal(cat_num_cmp(l, r), 0);
		assert_int_equal(cat_num_hash(l, 7), cat_num_hash(r, 7));
		assert_int_equal(cat_num_scale(two(cat_num_mul, a, b)), sa + sb);
		/* text and back */
		assert_int_equal(cat_num_cmp(num(text(l)), l), 0);
		/* order agrees with the sign of the difference */
		assert_int_equal(cat_num_cmp(a, b), cat_num_sign(two(cat_num_sub, a, b)));
		if (cat_num_sign(b) != 0) {
			/* a = trunc(a / b) b + a % b, and |a % b| < |b| */
			struct cat_str m = two(cat_num_mod, a, b), am = m, ab = m;
			struct cat_str q = two(cat_num_div, two(cat_num_sub, a, m), b), whole;
			assert_true(cat_num_round(q, 0, &whole, &arena, &err));
			assert_int_equal(cat_num_cmp(two(cat_num_add, two(cat_num_mul, whole, b), m), a), 0);
			assert_true(cat_num_abs(m, &am, &arena, &err) && cat_num_abs(b, &ab, &arena, &err));
			assert_true(cat_num_cmp(am, ab) < 0);
			/* |(a / b) b - a| <= |b| / 2 in the quotient's last place */
			q = two(cat_num_div, a, b);
			struct cat_str d = two(cat_num_sub, two(cat_num_mul, q, b), a), ad;
			assert_true(cat_num_abs(d, &ad, &arena, &err));
			char half[1100];
			snprintf(half, sizeof half, "5e-%u", cat_num_scale(q) + 1);
			assert_true(cat_num_cmp(ad, two(cat_num_mul, num(half), ab)) <= 0);
		}
		if (round % 64 == 0)
			nam_arena_reset(&arena);
	}
}

static __int128
wide(struct cat_str n, unsigned scale)
{
	__int128 v;
	assert_true(cat_num_to_int128(n, scale, &v));
	return v;
}

static void
against_int128(void **state)
{
	(void)state;
	nam_rng_init(&rng, 2);
	for (unsigned round = 0; round < 50000; round++) {
		int64_t x = (int64_t)nam_rng_next(&rng) >> nam_rng_below(&rng, 60);
		int64_t y = (int64_t)nam_rng_next(&rng) >> nam_rng_below(&rng, 60);
		unsigned sx = (unsigned)nam_rng_below(&rng, 10), sy = (unsigned)nam_rng_below(&rng, 10);
		struct cat_str a, b;
		assert_true(cat_num_from_int128(x, sx, &a, &arena, &err));
		assert_true(cat_num_from_int128(y, sy, &b, &arena, &err));
		__int128 ax = x, by = y;
		unsigned s = sx > sy ? sx : sy;
		for (unsigned k = sx; k < s; k++)
			ax *= 10;
		for (unsigned k = sy; k < s; k++)
			by *= 10;
		assert_true(wide(two(cat_num_add, a, b), s) == ax + by);
		assert_true(wide(two(cat_num_sub, a, b), s) == ax - by);
		assert_true(wide(two(cat_num_mul, a, b), sx + sy) == (__int128)x * y);
		assert_int_equal(cat_num_cmp(a, b), (ax > by) - (ax < by));
		if (y != 0)
			assert_true(wide(two(cat_num_mod, a, b), s) == ax % by);
		if (round % 256 == 0)
			nam_arena_reset(&arena);
	}
}

static void
texts(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = { { "0", "0" }, { "-0", "0" }, { "-0.00", "0.00" }, { "1e5", "100000" },
		{ "1.50e1", "15.0" }, { "1.5e-3", "0.0015" }, { " 12.50 ", "12.50" }, { ".5", "0.5" },
		{ "5.", "5" }, { "NaN", "NaN" }, { "-infinity", "-Infinity" }, { "+inf", "Infinity" },
		{ "00012", "12" },
		{ "340282366920938463463374607431768211456", "340282366920938463463374607431768211456" },
		{ "340282366920938463463374607431768211455", "340282366920938463463374607431768211455" },
		{ "-0.00000000000000000000000000000000000000000000001",
		    "-0.00000000000000000000000000000000000000000000001" } };
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
		assert_string_equal(text(num(cases[k].in)), cases[k].out);
	static const char *const bad[] = { "", ".", "e5", "1e", "1e+", "- 1", "1 2", "0x10", "1_0", "--1",
		"nan1", "1.2.3" };
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++) {
		struct cat_str n;
		assert_false(
		    cat_num_in((struct cat_str){ bad[k], (uint32_t)strlen(bad[k]) }, &n, &arena, &err));
		assert_string_equal(err.sqlstate, "22P02");
	}
}

static void
alike(void **state)
{
	(void)state;
	static const char *const same[][2] = { { "1", "1.000" }, { "0", "0.00" }, { "100", "100.0" },
		{ "1e50", "1e50" }, { "1e40", "10000000000000000000000000000000000000000.000" },
		{ "-2.50", "-2.5" },
		{ "340282366920938463463374607431768211455", "340282366920938463463374607431768211455.0" },
		{ "340282366920938463463374607431768211456", "340282366920938463463374607431768211456.0" },
		{ "NaN", "nan" }, { "0.1", "0.1000000000000000000000000000000000000000000" } };
	for (unsigned k = 0; k < sizeof same / sizeof *same; k++) {
		struct cat_str a = num(same[k][0]), b = num(same[k][1]);
		assert_int_equal(cat_num_cmp(a, b), 0);
		assert_true(cat_num_hash(a, 3) == cat_num_hash(b, 3));
	}
	static const char *const up[] = { "-inf", "-1e50", "-1.1", "-1", "-0.1", "0", "1e-30", "0.1", "0.11",
		"1", "1e20", "1e50", "inf", "nan" };
	for (unsigned a = 0; a < sizeof up / sizeof *up; a++)
		for (unsigned b = 0; b < sizeof up / sizeof *up; b++)
			assert_int_equal(cat_num_cmp(num(up[a]), num(up[b])), (a > b) - (a < b));
}

/* Bytes from elsewhere are read without harm. */
static void
foreign_bytes(void **state)
{
	(void)state;
	nam_rng_init(&rng, 3);
	for (unsigned round = 0; round < 20000; round++) {
		char b[2][40];
		struct cat_str n[2];
		for (int k = 0; k < 2; k++) {
			for (unsigned j = 0; j < sizeof b[k]; j++)
				b[k][j] = (char)nam_rng_next(&rng);
			b[k][1] &= nam_rng_below(&rng, 2) ? 0xc0 : 0xff;
			uint32_t len = (uint32_t)nam_rng_below(&rng, 40);
			n[k] = (struct cat_str){ nam_arena_copy(&arena, b[k], len ? len : 1), len };
		}
		struct cat_str out;
		(void)text(n[0]);
		(void)cat_num_hash(n[0], 1);
		int c = cat_num_cmp(n[0], n[1]);
		assert_int_equal(c, -cat_num_cmp(n[1], n[0]));
		(void)cat_num_add(n[0], n[1], &out, &arena, &err);
		(void)cat_num_mul(n[0], n[1], &out, &arena, &err);
		(void)cat_num_div(n[0], n[1], &out, &arena, &err);
		if (round % 64 == 0)
			nam_arena_reset(&arena);
	}
}

/* exp(ln(x)) = x, sqrt(x)^2 = x, and powers both ways, to the digits they show. */
static void
functions(void **state)
{
	(void)state;
	nam_rng_init(&rng, 4);
	for (unsigned round = 0; round < 300; round++) {
		char t[64];
		snprintf(t, sizeof t, "%u.%06u", (unsigned)nam_rng_below(&rng, 1000),
		    1 + (unsigned)nam_rng_below(&rng, 999999));
		struct cat_str x = num(t), l, e, r, back;
		double fx = 0, fe = 0;
		assert_true(cat_num_ln(x, &l, &arena, &err) && cat_num_exp(l, &e, &arena, &err));
		assert_true(
		    cat_num_to_double(x, &fx, &arena, &err) && cat_num_to_double(e, &fe, &arena, &err));
		assert_true(fe / fx - 1 < 1e-13 && fx / fe - 1 < 1e-13);
		assert_true(cat_num_sqrt(x, &r, &arena, &err));
		back = two(cat_num_mul, r, r);
		assert_true(cat_num_to_double(back, &fe, &arena, &err));
		assert_true(fe / fx - 1 < 1e-13 && fx / fe - 1 < 1e-13);
	}
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities),
		cmocka_unit_test(against_int128),
		cmocka_unit_test(texts),
		cmocka_unit_test(alike),
		cmocka_unit_test(foreign_bytes),
		cmocka_unit_test(functions),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
