/* fuzzed_test.c -- texts that once hurt, found by tests/fuzz: they must get PostgreSQL's
 * answers. */
#include "golden.h"

static const struct golden texts[] = {
	{ "create table t (a int primary key); create table u (k text primary key, a int)",
	    "CREATE TABLE CREATE TABLE" },
	{ "insert into t values (1), (2); insert into u values ('x', 2), ('y', null)",
	    "INSERT 0 2 INSERT 0 2" },
	/* Below a set operation's cast the duplicates are those of the old type. */
	{ "select a from t union select a from u except select 2::numeric order by 1", "1;~; SELECT 2" },
	{ "select a from t union select a from u union all select 2.0 order by 1", "1;2;2.0;~; SELECT 4" },
	{ "select a from t union select a from u union select 2.0::float8 union all select 1 order by 1",
	    "1;1;2;~; SELECT 4" },
};

static void
fuzzed(void **state)
{
	(void)state;
	golden_all(texts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(fuzzed) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
