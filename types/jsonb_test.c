/* jsonb_test.c -- canonical text of random JSON against a tree of its own, and its order. */
#include <base/rng.h>
#include <types/jsonb.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct nam_arena arena;

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

static const char *
canonical(const char *text)
{
	struct cat_str out;
	struct cat_err err;
	if (!cat_jsonb_in(str(text), &out, &arena, &err))
		return nam_arena_printf(&arena, "ERROR %s", err.sqlstate);
	return nam_arena_printf(&arena, "%.*s", (int)out.len, out.p);
}

static void
texts(void **state)
{
	static const char *const cases[][2] = { { " { } ", "{}" }, { "[ ]", "[]" },
		{ "{\"b\":1 ,\"a\" : [1.50,-0,1e2 ]}", "{\"a\": [1.50, 0, 100], \"b\": 1}" },
		{ "{\"aa\":1,\"b\":2,\"aa\":3}", "{\"b\": 2, \"aa\": 3}" },
		{ "\"\\u0041\\/\\t\\u0007\"", "\"A/\\t\\u0007\"" }, { "\"\\u0000\"", "ERROR 22P05" },
		{ "[1,]", "ERROR 22P02" }, { "", "ERROR 22P02" }, { "1e999999", "ERROR 22003" } };
	(void)state;
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
		assert_string_equal(canonical(cases[k][0]), cases[k][1]);
}

/* ---- a tree, its texts and its order, told in another way ------------------------------- */

enum { NUL, STR, NUM, BOOL, ARR, OBJ };

struct tree {
	int kind, n; /* NUM: its value in quarters; BOOL; STR: a letter, or none */
	struct tree *part[4];
	int key[4]; /* letters, rising */
};

static struct tree *
grow(struct nam_rng *r, unsigned depth)
{
	struct tree *t = nam_arena_zero(&arena, sizeof *t);
	t->kind = (int)(nam_rng_next(r) % (depth > 3 ? 4 : 6));
	t->n = (int)(nam_rng_next(r) % 5);
	if (t->kind == NUM)
		t->n -= 2;
	if (t->kind == BOOL)
		t->n %= 2;
	if (t->kind < ARR)
		return t;
	t->n %= 4;
	int key = 0;
	for (int k = 0; k < t->n; k++) {
		t->part[k] = grow(r, depth + 1);
		t->key[k] = key += 1 + (int)(nam_rng_next(r) % 2);
	}
	return t;
}

static int
order(const struct tree *a, const struct tree *b, bool top)
{
	if (top && (a->kind == ARR) != (b->kind == ARR) && a->kind != OBJ && b->kind != OBJ) {
		const struct tree *arr = a->kind == ARR ? a : b;
		int c = arr->n == 0 ? -1 : 1;
		return arr == a ? c : -c;
	}
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == NUL)
		return 0;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (int k = 0; a->kind >= ARR && k < a->n; k++) {
		int c = a->kind == OBJ ? a->key[k] - b->key[k] : 0;
		if (c == 0)
			c = order(a->part[k], b->part[k], false);
		if (c != 0)
			return c < 0 ? -1 : 1;
	}
	return 0;
}

/* As it may be written: blanks, members backwards, zeros, escapes. */
static char *
write_tree(const struct tree *t, struct nam_rng *r)
{
	static const char *const blanks[] = { "", " ", "\n", "\t " };
	const char *b = blanks[nam_rng_next(r) % 4];
	switch (t->kind) {
	case NUL:
		return nam_arena_printf(&arena, "%snull", b);
	case STR:
		return t->n == 0             ? nam_arena_printf(&arena, "\"\"%s", b)
		       : nam_rng_next(r) % 2 ? nam_arena_printf(&arena, "%s\"\\u006%d\"", b, t->n)
					     : nam_arena_printf(&arena, "\"%c\"", '`' + t->n);
	case NUM:
		return nam_arena_printf(&arena, nam_rng_next(r) % 2 ? "%s%.2f" : "%s%.4f", b, t->n / 4.0);
	case BOOL:
		return nam_arena_printf(&arena, "%s%s", t->n ? "true" : "false", b);
	}
	char *out = nam_arena_printf(&arena, t->kind == ARR ? "[%s" : "{%s", b);
	for (int i = 0; i < t->n; i++) {
		int k = t->kind == ARR ? i : t->n - 1 - i;
		out = t->kind == ARR
			  ? nam_arena_printf(&arena, "%s%s%s", out, i ? "," : "", write_tree(t->part[k], r))
			  : nam_arena_printf(&arena, "%s%s\"%c\"%s:%s", out, i ? "," : "", '`' + t->key[k], b,
				write_tree(t->part[k], r));
	}
	return nam_arena_printf(&arena, "%s%s%c", out, b, t->kind == ARR ? ']' : '}');
}

static struct cat_str
jsonb(const struct tree *t, struct nam_rng *r)
{
	struct cat_str out;
	struct cat_err err;
	assert_true(cat_jsonb_in(str(write_tree(t, r)), &out, &arena, &err));
	return out;
}

static void
trees(void **state)
{
	enum { ROUNDS = 20000 };
	unsigned equal = 0;
	(void)state;
	struct nam_rng r;
	nam_rng_init(&r, 7);
	for (unsigned i = 0; i < ROUNDS; i++) {
		nam_arena_reset(&arena);
		struct tree *a = grow(&r, 0), *b = nam_rng_next(&r) % 4 ? grow(&r, 0) : a;
		struct cat_str x = jsonb(a, &r), y = jsonb(b, &r), again;
		struct cat_err err;
		assert_true(cat_jsonb_in(x, &again, &arena, &err)); /* it is canonical already */
		assert_true(again.len == x.len && memcmp(again.p, x.p, x.len) == 0);
		int want = order(a, b, true), c = cat_jsonb_cmp(x, y);
		if (c != want || cat_jsonb_cmp(y, x) != -want)
			fail_msg("%.*s and %.*s: %d, not %d", (int)x.len, x.p, (int)y.len, y.p, c, want);
		if (c == 0) {
			equal++;
			assert_int_equal(cat_jsonb_hash(x, 5), cat_jsonb_hash(y, 5));
		}
	}
	assert_true(equal > ROUNDS / 10);
}

/* Any bytes are refused, or have a text that is its own. */
static void
garbage(void **state)
{
	static const char bits[] = "{}[]\",:\\u00ab1.5e-tnl ";
	(void)state;
	struct nam_rng r;
	nam_rng_init(&r, 9);
	unsigned good = 0;
	for (unsigned i = 0; i < 200000; i++) {
		char text[24];
		struct cat_str out, again, s = { text, (uint32_t)(nam_rng_next(&r) % sizeof text) };
		struct cat_err err;
		nam_arena_reset(&arena);
		for (uint32_t k = 0; k < s.len; k++)
			text[k] = bits[nam_rng_next(&r) % (sizeof bits - 1)];
		if (!cat_jsonb_in(s, &out, &arena, &err))
			continue;
		good++;
		assert_true(cat_jsonb_in(out, &again, &arena, &err));
		assert_true(again.len == out.len && memcmp(again.p, out.p, out.len) == 0);
		assert_int_equal(cat_jsonb_cmp(out, again), 0);
	}
	assert_true(good > 100);
}

static void
deep(void **state)
{
	enum { DEPTH = 6000 };
	(void)state;
	char *text = nam_arena_take(&arena, 2 * DEPTH + 4);
	memset(text, '[', DEPTH);
	memset(text + DEPTH, ']', DEPTH);
	struct cat_str s = { text, 2 * DEPTH }, out;
	struct cat_err err;
	assert_true(cat_jsonb_in(s, &out, &arena, &err));
	assert_int_equal(out.len, 2 * DEPTH);
	assert_int_equal(cat_jsonb_cmp(out, s), 0);
	memset(text, '[', DEPTH + 1);
	s.len = DEPTH + 1;
	assert_false(cat_jsonb_in(s, &out, &arena, &err));
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(trees),
		cmocka_unit_test(garbage), cmocka_unit_test(deep) };
	nam_arena_init(&arena, 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	nam_arena_fini(&arena);
	return failed;
}
