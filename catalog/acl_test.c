/* acl_test.c -- access control lists: what a grant adds, what a revoke takes away, their bytes. */
#include <catalog/acl.h>
#include <catalog/role.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct nam_arena arena;

static struct cat_table
table_of(const char *owner)
{
	struct cat_table t = { .path = "t" };
	strcpy(t.owner, owner);
	return t;
}

static void
grant(struct cat_table *t, const char *to, const char *by, unsigned rights, unsigned options)
{
	assert_true(cat_acl_grant(t, to, by, (uint16_t)rights, (uint16_t)options, &arena));
}

/* True if nothing depends on what is taken. */
static bool
revoke(struct cat_table *t, const char *to, const char *by, unsigned rights, bool options, bool cascade)
{
	bool depends;
	assert_true(cat_acl_revoke(t, to, by, (uint16_t)rights, options, cascade, &depends, &arena));
	return !depends;
}

static void
says(const struct cat_table *t, const char *want)
{
	assert_string_equal(cat_acl_text(t, &arena), want);
}

static void
without_a_list(void **state)
{
	(void)state;
	struct cat_table t = table_of("");
	assert_string_equal(cat_owner(&t), CAT_FIRST_ROLE);
	assert_int_equal(cat_acl_rights(&t, CAT_FIRST_ROLE), cat_acl_all(CAT_TABLE));
	assert_int_equal(cat_acl_rights(&t, "ann"), 0);
	assert_int_equal(cat_acl_rights(&t, CAT_PUBLIC), 0);
	assert_int_equal(cat_acl_options(&t, "ann"), 0);
	assert_true(cat_acl_names(&t, CAT_FIRST_ROLE));
	assert_false(cat_acl_names(&t, "ann"));
	says(&t, "");
	t.kind = CAT_SEQUENCE;
	assert_int_equal(cat_acl_rights(&t, CAT_FIRST_ROLE), CAT_MAY_USE | CAT_MAY_SELECT | CAT_MAY_UPDATE);
}

static void
grants(void **state)
{
	(void)state;
	struct cat_table t = table_of("own"), was = t;
	grant(&t, "ann", "own", CAT_MAY_SELECT, 0);
	says(&t, "2 127 0 3:own 3:own 2 0 3:ann 3:own");
	assert_int_equal(was.grants, 0);
	grant(&t, "ann", "own", CAT_MAY_INSERT, CAT_MAY_INSERT);
	grant(&t, CAT_PUBLIC, "own", CAT_MAY_SELECT, 0);
	says(&t, "3 127 0 3:own 3:own 3 1 3:ann 3:own 2 0 0: 3:own");
	assert_int_equal(cat_acl_rights(&t, "ann"), CAT_MAY_SELECT | CAT_MAY_INSERT);
	assert_int_equal(cat_acl_options(&t, "ann"), CAT_MAY_INSERT);
	assert_int_equal(cat_acl_options(&t, "own"), cat_acl_all(CAT_TABLE));
	assert_int_equal(cat_acl_rights(&t, "an"), 0);
	/* Its own rights may be taken from an owner, but not that it grants them. */
	assert_true(revoke(&t, "own", "own", 127, false, false));
	assert_int_equal(cat_acl_rights(&t, "own"), 0);
	assert_int_equal(cat_acl_options(&t, "own"), cat_acl_all(CAT_TABLE));
	/* The same right from two grantors stays until both have taken it. */
	grant(&t, "bob", "own", CAT_MAY_INSERT, 0);
	grant(&t, "bob", "ann", CAT_MAY_INSERT, 0);
	assert_true(revoke(&t, "bob", "own", CAT_MAY_INSERT, false, false));
	assert_int_equal(cat_acl_rights(&t, "bob"), CAT_MAY_INSERT);
	assert_true(revoke(&t, "bob", "ann", CAT_MAY_INSERT, false, false));
	assert_int_equal(cat_acl_rights(&t, "bob"), 0);
	assert_false(cat_acl_names(&t, "bob"));
}

/* own -> ann -> bob -> cy, each with the option. */
static struct cat_table
chain(void)
{
	struct cat_table t = table_of("own");
	grant(&t, "ann", "own", CAT_MAY_SELECT | CAT_MAY_UPDATE, CAT_MAY_SELECT | CAT_MAY_UPDATE);
	grant(&t, "bob", "ann", CAT_MAY_SELECT, CAT_MAY_SELECT);
	grant(&t, "cy", "bob", CAT_MAY_SELECT, 0);
	return t;
}

static void
dependents(void **state)
{
	(void)state;
	struct cat_table t = chain(), was = t;
	assert_false(revoke(&t, "ann", "own", CAT_MAY_SELECT, false, false));
	assert_false(revoke(&t, "ann", "own", CAT_MAY_SELECT, true, false));
	assert_int_equal(cat_acl_rights(&t, "cy"), CAT_MAY_SELECT);
	assert_ptr_equal(t.grant, was.grant); /* nothing has changed */
	assert_true(revoke(&t, "ann", "own", CAT_MAY_UPDATE, false, false));
	assert_true(revoke(&t, "ann", "own", CAT_MAY_SELECT, true, true));
	assert_int_equal(cat_acl_rights(&t, "ann"), CAT_MAY_SELECT);
	assert_int_equal(cat_acl_rights(&t, "bob") | cat_acl_rights(&t, "cy"), 0);
	/* A second grantor of bob's option holds what hangs on it. */
	t = chain();
	grant(&t, "bob", "own", CAT_MAY_SELECT, CAT_MAY_SELECT);
	assert_true(revoke(&t, "bob", "ann", CAT_MAY_SELECT, false, false));
	assert_int_equal(cat_acl_rights(&t, "cy"), CAT_MAY_SELECT);
	/* A circle of options ends. */
	t = chain();
	grant(&t, "cy", "bob", CAT_MAY_SELECT, CAT_MAY_SELECT);
	grant(&t, "ann", "cy", CAT_MAY_SELECT, CAT_MAY_SELECT);
	assert_true(revoke(&t, "bob", "ann", CAT_MAY_SELECT, false, true));
	assert_int_equal(cat_acl_rights(&t, "bob") | cat_acl_rights(&t, "cy"), 0);
	assert_int_equal(cat_acl_rights(&t, "ann"), CAT_MAY_SELECT | CAT_MAY_UPDATE);
}

static void
owners(void **state)
{
	(void)state;
	struct cat_table t = chain();
	assert_true(cat_acl_give(&t, "ann", &arena));
	assert_string_equal(cat_owner(&t), "ann");
	says(&t, "3 127 6 3:ann 3:ann 2 2 3:bob 3:ann 2 0 2:cy 3:bob");
	assert_false(cat_acl_names(&t, "own"));
	assert_true(cat_acl_forget(&t, "bob", &arena));
	says(&t, "1 127 6 3:ann 3:ann");
	struct cat_table none = table_of("own");
	assert_true(cat_acl_give(&none, "bob", &arena) && cat_acl_forget(&none, "ann", &arena));
	assert_false(none.granted);
	assert_int_equal(cat_acl_rights(&none, "bob"), cat_acl_all(CAT_TABLE));
}

static void
bytes(void **state)
{
	(void)state;
	struct cat_table t = table_of("a role: 3:x \"7 1"), back = { .path = "t" };
	char longest[CAT_NAME_MAX + 1];
	memset(longest, 'l', CAT_NAME_MAX);
	longest[CAT_NAME_MAX] = 0;
	grant(&t, longest, t.owner, 127, 127);
	grant(&t, CAT_PUBLIC, longest, 1, 0);
	const char *text = cat_acl_text(&t, &arena);
	assert_true(cat_acl_read(&back, text, &arena));
	says(&back, text);
	assert_int_equal(back.grants, t.grants);
	assert_memory_equal(back.grant, t.grant, t.grants * sizeof *t.grant);
	assert_true(cat_acl_read(&back, "0", &arena));
	assert_true(back.granted && back.grants == 0);
	assert_true(cat_acl_read(&back, "", &arena));
	assert_false(back.granted);
	/* Every cut and every changed byte is refused, or reads as a list that says the same as its
	 * own text. */
	size_t n = strlen(text);
	for (size_t i = 1; i < n; i++) {
		char *cut = nam_arena_str(&arena, text, i);
		assert_false(cat_acl_read(&back, cut, &arena));
	}
	for (size_t i = 0; i < n; i++)
		for (unsigned c = 1; c < 128; c++) {
			char *bad = nam_arena_str(&arena, text, n);
			bad[i] = (char)c;
			if (cat_acl_read(&back, bad, &arena))
				assert_true(cat_acl_text(&back, &arena) != NULL);
		}
	assert_false(cat_acl_read(&back, "4294967295", &arena));
	assert_false(cat_acl_read(&back, "1 2 0 64:", &arena));
	assert_false(cat_acl_read(&back, "1 2 0 1:a 0:", &arena)); /* granted by no role */
	assert_false(cat_acl_read(&back, "1 70000 0 1:a 1:b", &arena));
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(without_a_list), cmocka_unit_test(grants),
		cmocka_unit_test(dependents), cmocka_unit_test(owners), cmocka_unit_test(bytes) };
	nam_arena_init(&arena, 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	nam_arena_fini(&arena);
	return failed;
}
