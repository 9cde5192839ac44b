/* offer_test.c -- an offer comes back as it was; bytes that are cut, or of another build, are
 * refused. */
#include <sql/session/offer.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

static struct sql_offer
some(void)
{
	static enum cat_type types[] = { CAT_INT4, CAT_TEXT, CAT_FLOAT8, CAT_UNKNOWN };
	static struct cat_datum param[4];
	static struct sql_hint hint[] = { { 7, 1000 }, { 9, UINT64_C(1) << 40 } };
	static uint64_t part[] = { 65536, 131072, 3 };
	param[0] = (struct cat_datum){ .type = CAT_INT4, .v.i = -5 };
	param[1] = (struct cat_datum){ .type = CAT_TEXT, .v.s = str("it's") };
	param[2] = (struct cat_datum){ .type = CAT_FLOAT8, .null = true };
	/* A user's type, one of many. */
	types[3] = cat_type_enum(CAT_TYPE_IDS - 1);
	param[3] = (struct cat_datum){ .type = types[3], .v.i = 9 };
	struct sql_offer o = { .snapshot = 77,
		.number = 0x1234,
		.now_us = -3,
		.workers = 2,
		.most = 62,
		.fragment = 1,
		.statement = 2,
		.explained = true,
		.user = str("me"),
		.text = str("SELECT $1, $2"),
		.types = types,
		.param = param,
		.params = 4,
		.hint = hint,
		.hints = 2,
		.part = part,
		.parts = 3 };
	o.settings.parallel = 3;
	strcpy(o.settings.search_path, "a, b");
	strcpy(o.login.name, "me");
	o.costs.row = 12.5;
	sql_offer_here(&o);
	return o;
}

static void
test_back(void **state)
{
	struct nam_arena a, b;
	struct sql_offer o = some(), c;
	uint32_t n;
	(void)state;
	nam_arena_init(&a, 0);
	nam_arena_init(&b, 0);
	void *bytes = sql_offer_put(&o, 32 << 10, &a, &n);
	assert_non_null(bytes);
	assert_true(sql_offer_get(&c, bytes, n, &b));
	assert_int_equal(c.snapshot, 77);
	assert_int_equal(c.number, 0x1234);
	assert_int_equal(c.now_us, -3);
	assert_int_equal(c.statement, 2);
	assert_true(c.explained);
	assert_int_equal(c.settings.parallel, 3);
	assert_string_equal(c.settings.search_path, "a, b");
	assert_string_equal(c.login.name, "me");
	assert_true(c.costs.row == 12.5);
	assert_int_equal(c.params, 4);
	assert_int_equal(c.param[0].v.i, -5);
	assert_int_equal(c.param[1].v.s.len, 4);
	assert_memory_equal(c.param[1].v.s.p, "it's", 4);
	assert_true(c.param[2].null && c.types[2] == CAT_FLOAT8);
	assert_int_equal(c.types[3], o.types[3]);
	assert_int_equal(c.param[3].type, o.types[3]);
	assert_int_equal(c.param[3].v.i, 9);
	assert_int_equal(c.hint[1].rows, UINT64_C(1) << 40);
	assert_int_equal(c.part[2], 3);
	/* It does not fit. */
	assert_null(sql_offer_put(&o, n - 1, &a, &n));
	/* One core is taken by each of their workers on this machine. */
	assert_int_equal(sql_offer_room(&c, 0, 0), 0);
	/* This machine's cores, those of the asking process and of other helpers taken away. */
	c.workers = 0;
	unsigned room = sql_offer_room(&c, 1000, 0);
	assert_int_equal(sql_offer_room(&c, 1000, 1000), 0);
	assert_int_equal(sql_offer_room(&c, 1000, 1), room - 1);
	c.workers = 1;
	assert_int_equal(sql_offer_room(&c, 1000, 0), room - 1);
	c.host++; /* another machine: all of ours */
	assert_int_equal(sql_offer_room(&c, 1000, 1000), room);
	c.host--;
	c.most = 0;
	assert_int_equal(sql_offer_room(&c, 4, 0), 0);
	nam_arena_fini(&a);
	nam_arena_fini(&b);
}

static void
test_refused(void **state)
{
	struct nam_arena a, b;
	struct sql_offer o = some(), c;
	uint32_t n;
	(void)state;
	nam_arena_init(&a, 0);
	char *bytes = sql_offer_put(&o, 32 << 10, &a, &n);
	assert_non_null(bytes);
	for (uint32_t cut = 0; cut < n; cut++) {
		char *part = malloc(cut + 1); /* so that a sanitizer sees each byte behind it */
		memcpy(part, bytes, cut);
		nam_arena_init(&b, 0);
		assert_false(sql_offer_get(&c, part, cut, &b));
		nam_arena_fini(&b);
		free(part);
	}
	for (unsigned i = 0; i < 16; i++) {
		bytes[i] ^= 1;
		nam_arena_init(&b, 0);
		assert_false(sql_offer_get(&c, bytes, n, &b));
		nam_arena_fini(&b);
		bytes[i] ^= 1;
	}
	nam_arena_fini(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_back), cmocka_unit_test(test_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
