/* enum_test.c -- the map of enums: labels in and out, newer definitions, room between keys. */
#include <types/enum.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

static void
labels(struct cat_label *out, unsigned n, const char *const *name)
{
	memset(out, 0, n * sizeof *out);
	for (unsigned i = 0; i < n; i++)
		strcpy(out[i].name, name[i]);
	cat_enum_spread(out, n);
}

static void
test_types(void **state)
{
	(void)state;
	enum cat_type t = cat_type_enum(77), a = cat_type_array_of(t);
	assert_true(cat_type_is_enum(t) && !cat_type_is_array(t) && !cat_type_is_str(t));
	assert_true(cat_type_is_array(a) && !cat_type_is_enum(a) && cat_type_is_str(a));
	assert_int_equal(cat_type_element(a), t);
	assert_int_equal(cat_type_id(t), 77);
	assert_int_equal(cat_type_id(a), 77);
	assert_int_equal(cat_type_plain(t), CAT_INT8);
	assert_int_equal(cat_type_plain(a), cat_type_array_of(CAT_INT8));
	assert_int_equal(cat_type_plain(CAT_TEXT), CAT_TEXT);
	assert_true(cat_type_is_known(t) && cat_type_is_known(a));
	assert_false(cat_type_is_known(CAT_ENUM) || cat_type_is_known(CAT_INT4 | 77 << CAT_ID_SHIFT) ||
		     cat_type_is_known(CAT_NAMED) || cat_type_is_known(-1));
	assert_true(cat_type_is_known(cat_type_enum(CAT_TYPE_IDS - 1)));
}

static void
test_labels(void **state)
{
	(void)state;
	static const char *const name[] = { "sad", "", "happy", "it's" };
	struct cat_label l[5];
	struct cat_err err;
	struct nam_arena arena;
	union cat_val v, w;
	enum cat_type other;
	int32_t typmod;
	nam_arena_init(&arena, 1 << 10);
	cat_enum_hold();
	uint32_t five = cat_enum_number(1, 5);
	enum cat_type t = cat_type_enum(five);
	assert_int_equal(cat_enum_number(1, 5), five);
	assert_int_not_equal(cat_enum_number(1, 6), five);
	assert_int_equal(cat_enum_id(five), 5);
	assert_false(cat_value_in(t, -1, str("sad"), &v, &arena, &err)); /* not known */
	labels(l, 4, name);
	assert_true(cat_enum_learn(five, 0, "My mood", l, 4));
	for (unsigned i = 0; i < 4; i++) {
		assert_true(cat_value_in(t, -1, str(name[i]), &v, &arena, &err));
		struct cat_str s = cat_value_out(t, v, &arena);
		assert_true(s.p != NULL && s.len == strlen(name[i]) && memcmp(s.p, name[i], s.len) == 0);
		assert_true(i == 0 || cat_value_cmp(t, w, v) < 0);
		w = v;
	}
	assert_false(cat_value_in(t, -1, str("Sad"), &v, &arena, &err));
	assert_string_equal(err.sqlstate, "22P02");
	assert_string_equal(err.text, "invalid input value for enum \"My mood\": \"Sad\"");
	assert_string_equal(cat_type_name(cat_type_array_of(t)), "\"My mood\"[]");
	assert_string_equal(cat_type_word(cat_type_array_of(t)), "_My mood");
	assert_true(cat_type_numbered(cat_type_oid(t, -1), -1, &other, &typmod) && other == t);
	assert_true(cat_type_numbered(cat_type_oid(cat_type_array_of(t), -1), -1, &other, &typmod) &&
		    other == cat_type_array_of(t));
	assert_false(
	    cat_type_numbered(cat_type_oid(cat_type_enum(cat_enum_number(1, 6)), -1), -1, &other, &typmod));
	/* an older definition changes nothing, a newer one keeps the values */
	strcpy(l[0].name, "bad");
	assert_true(cat_enum_learn(five, 0, "mood", l, 4));
	assert_string_equal(cat_type_name(t), "\"My mood\"");
	assert_true(cat_value_in(t, -1, str("happy"), &v, &arena, &err));
	l[4].key = cat_enum_between(l, 4, 4);
	strcpy(l[4].name, "new");
	assert_true(cat_enum_learn(five, 1, "mood", l, 5));
	assert_string_equal(cat_type_name(t), "mood");
	assert_memory_equal(cat_value_out(t, v, &arena).p, "happy", 5);
	assert_true(cat_value_in(t, -1, str("bad"), &v, &arena, &err));
	assert_true(cat_value_in(t, -1, str("new"), &w, &arena, &err));
	assert_true(cat_value_cmp(t, v, w) < 0);
	w.i++;
	assert_false(cat_enum_has(t, w.i));
	assert_memory_equal(cat_value_out(t, w, &arena).p, "???", 3);
	assert_false(cat_value_in(t, -1, str("sad"), &v, &arena, &err));
	/* a type of another catalog, with the same id */
	uint32_t also = cat_enum_number(2, 5);
	assert_int_not_equal(also, five);
	assert_int_equal(cat_enum_only(5), five);
	labels(l, 1, (const char *const[]){ "red" });
	assert_true(cat_enum_learn(also, 0, "color", l, 1));
	assert_int_equal(cat_enum_only(5), 0);
	assert_true(cat_value_in(cat_type_enum(also), -1, str("red"), &v, &arena, &err));
	assert_memory_equal(cat_value_out(cat_type_enum(also), v, &arena).p, "red", 3);
	assert_false(cat_value_in(t, -1, str("red"), &v, &arena, &err));
	cat_enum_leave();
	assert_null(cat_enum_find(five));
	nam_arena_fini(&arena);
}

/* Labels put anywhere have keys between their neighbours', until there is no room. */
static void
test_room(void **state)
{
	(void)state;
	enum { MOST = 400 };
	static struct cat_label l[MOST];
	memset(l, 0, sizeof l);
	for (unsigned way = 0; way < 3; way++) {
		unsigned n = 2, added = 0;
		cat_enum_spread(l, n);
		for (; n < MOST; n++, added++) {
			unsigned at = way == 0 ? n : way == 1 ? 0 : n - 1;
			int64_t key = cat_enum_between(l, n, at);
			if (key == 0)
				break;
			assert_true(at == 0 || l[at - 1].key < key);
			assert_true(at == n || key < l[at].key);
			assert_true(key >= 1 && key < CAT_ENUM_KEY_END);
			memmove(l + at + 1, l + at, (n - at) * sizeof *l);
			l[at].key = key;
		}
		assert_true(way == 0 ? n == MOST : added >= 29);
	}
	struct cat_label none[1];
	assert_true(cat_enum_between(none, 0, 0) > 0);
	static struct cat_label many[100000];
	cat_enum_spread(many, 100000);
	for (unsigned i = 1; i < 100000; i++)
		assert_true(many[i - 1].key < many[i].key && many[i].key < CAT_ENUM_KEY_END / 2 + 1);
}

/* A type that is gone takes no memory; one of a newer generation stays. */
static void
test_forget(void **state)
{
	(void)state;
	struct cat_label l[2] = { { .name = "a" }, { .name = "b" } };
	cat_enum_spread(l, 2);
	cat_enum_hold();
	uint32_t first = cat_enum_number(7, 100), newer = cat_enum_number(7, 101);
	assert_true(cat_enum_learn(first, 1, "first", l, 2));
	const struct cat_enum *held = cat_enum_find(first);
	assert_true(cat_enum_learn(newer, 2, "newer", l, 2));
	cat_enum_forget(newer, 1);
	assert_non_null(cat_enum_find(newer));
	cat_enum_forget(first, 1);
	assert_null(cat_enum_find(first));
	/* A reader that still has it may use it for a while. */
	for (uint32_t i = 0; i < CAT_ENUM_LIMBO - 1; i++) {
		uint32_t n = cat_enum_number(7, 200 + i);
		assert_true(cat_enum_learn(n, 1, "more", l, 2));
		cat_enum_forget(n, 3);
	}
	assert_string_equal(held->name, "first");
	assert_int_equal(held->labels, 2);
	/* It may be learned again. */
	assert_true(cat_enum_learn(first, 1, "first", l, 2));
	assert_non_null(cat_enum_find(first));
	cat_enum_leave();
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_types), cmocka_unit_test(test_forget),
		cmocka_unit_test(test_labels), cmocka_unit_test(test_room) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
