/* path_test.c -- paths of relations: every schema and name leads to a path of its own, and back. */
#include <catalog/path.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
test_there_and_back(void **state)
{
	(void)state;
	static const char *const schemas[] = { "public", "app", "Other One", "pg_temp_1",
		"a23456789012345678901234567890123456789012345678901234567890123" };
	static const char *const names[] = { "t", "a.b", ".", "..x", ".t", "app.t", "T \"x\"",
		"n23456789012345678901234567890123456789012345678901234567890123" };
	enum { S = sizeof schemas / sizeof *schemas, N = sizeof names / sizeof *names };
	char path[S][N][CAT_PATH_MAX + 1], schema[CAT_NAME_MAX + 1], beside[CAT_PATH_MAX + 1];
	for (unsigned s = 0; s < S; s++)
		for (unsigned n = 0; n < N; n++) {
			cat_path(schemas[s], names[n], path[s][n]);
			assert_string_equal(cat_local(path[s][n]), names[n]);
			cat_schema_of(path[s][n], schema);
			assert_string_equal(schema, schemas[s]);
			assert_int_equal(cat_in_public(path[s][n]), s == 0);
			cat_beside(path[s][0], names[n], beside);
			assert_string_equal(beside, path[s][n]);
			assert_true(cat_same_schema(path[s][0], path[s][n]));
			assert_int_equal(cat_same_schema(path[0][n], path[s][n]), s == 0);
		}
	for (unsigned a = 0; a < S * N; a++)
		for (unsigned b = 0; b < S * N; b++)
			assert_int_equal(strcmp(path[a / N][a % N], path[b / N][b % N]) == 0, a == b);
}

/* A schema's own path is none that a relation may have. */
static void
test_schema(void **state)
{
	(void)state;
	char path[CAT_PATH_MAX + 1], name[CAT_NAME_MAX + 1], other[CAT_PATH_MAX + 1];
	cat_path("app", "", path);
	assert_string_equal(path, "app.");
	assert_string_equal(cat_local(path), "");
	cat_schema_of(path, name);
	assert_string_equal(name, "app");
	cat_path("public", "app.", other);
	assert_string_not_equal(path, other);
	cat_path("public", "t", other);
	assert_string_equal(other, "t");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_schema),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
