/* json_test.c -- json made of values: to_json, json_build_*, json_agg, json_object_agg. Every
 * answer is PostgreSQL 15's. */
#include "golden.h"

static const struct golden cases[] = {
	{ "CREATE TABLE js (id int PRIMARY KEY, t text, n numeric, f float8, b boolean, d date, ts "
	  "timestamp, tz timestamptz, j json, u uuid)",
	    "CREATE TABLE" },
	{ "INSERT INTO js VALUES (1, E'a\"b\\\\c\\n\\x01é', 1.50, 2.5, true, '2024-02-29', '2024-02-29 "
	  "10:00:00.5', '2024-02-29 10:00+00', '{\"x\": [1, 2]}', '00000000-0000-0000-0000-000000000001'), "
	  "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, '', 'NaN', 'infinity', false, "
	  "'infinity', '-infinity', 'infinity', 'null', NULL)",
	    "INSERT 0 3" },
	{ "SELECT id, to_json(t), to_json(n), to_json(f), to_json(b), to_json(d), to_json(ts), to_json(tz), "
	  "to_json(j), to_json(u) FROM js ORDER BY id",
	    "1|\"a\\\"b\\\\c\\n\\u0001é\"|1.50|2.5|true|\"2024-02-29\"|\"2024-02-29T10:00:00.5\"|\"2024-02-"
	    "29T10:00:00+00:00\"|{\"x\": [1, "
	    "2]}|\"00000000-0000-0000-0000-000000000001\";2|~|~|~|~|~|~|~|~|~;3|\"\"|\"NaN\"|\"Infinity\"|"
	    "false|\"infinity\"|\"-infinity\"|\"infinity\"|null|~; SELECT 3" },
	{ "SELECT json_build_object('id', id, 't', t, 'n', n, 'ts', ts, 'j', j) FROM js ORDER BY id",
	    "{\"id\" : 1, \"t\" : \"a\\\"b\\\\c\\n\\u0001é\", \"n\" : 1.50, \"ts\" : "
	    "\"2024-02-29T10:00:00.5\", \"j\" : {\"x\": [1, 2]}};{\"id\" : 2, \"t\" : null, \"n\" : null, "
	    "\"ts\" : null, \"j\" : null};{\"id\" : 3, \"t\" : \"\", \"n\" : \"NaN\", \"ts\" : "
	    "\"-infinity\", \"j\" : null}; SELECT 3" },
	{ "SELECT json_build_array(id, t, b, d, NULL, 'x', 1.5, j) FROM js ORDER BY id",
	    "[1, \"a\\\"b\\\\c\\n\\u0001é\", true, \"2024-02-29\", null, \"x\", 1.5, {\"x\": [1, 2]}];[2, "
	    "null, null, null, null, \"x\", 1.5, null];[3, \"\", false, \"infinity\", null, \"x\", 1.5, "
	    "null]; SELECT 3" },
	{ "SELECT json_build_object(), json_build_array(), json_build_object(1, 2, true, DATE '2024-01-01', "
	  "'k'::text, NULL)",
	    "{}|[]|{\"1\" : 2, \"true\" : \"2024-01-01\", \"k\" : null}; SELECT 1" },
	{ "SELECT json_build_object('a')", "ERROR 22023: argument list must have even number of elements" },
	{ "SELECT json_build_object(NULL, 1)", "ERROR 22023: argument 1 cannot be null" },
	{ "SELECT json_build_object('{}'::json, 1)",
	    "ERROR 22023: key value must be scalar, not array, composite, or json" },
	{ "SELECT json_agg(id ORDER BY id DESC), json_agg(t ORDER BY id) FROM js",
	    "[3, 2, 1]|[\"a\\\"b\\\\c\\n\\u0001é\", null, \"\"]; SELECT 1" },
	{ "SELECT json_agg(id) FROM js WHERE false", "~; SELECT 1" },
	{ "SELECT json_agg(n ORDER BY n, id) FILTER (WHERE id > 1) FROM js", "[\"NaN\", null]; SELECT 1" },
	{ "SELECT json_object_agg(id, t ORDER BY id) FROM js",
	    "{ \"1\" : \"a\\\"b\\\\c\\n\\u0001é\", \"2\" : null, \"3\" : \"\" }; SELECT 1" },
	{ "SELECT json_object_agg(t, id) FROM js", "ERROR 22023: field name must not be null" },
	{ "SELECT json_object_agg(b, d ORDER BY id) FROM js WHERE b IS NOT NULL",
	    "{ \"true\" : \"2024-02-29\", \"false\" : \"infinity\" }; SELECT 1" },
	{ "SELECT json_agg(json_build_object('i', id) ORDER BY id) FROM js",
	    "[{\"i\" : 1}, {\"i\" : 2}, {\"i\" : 3}]; SELECT 1" },
	{ "SELECT b, json_agg(id ORDER BY id) FROM js GROUP BY b ORDER BY b", "f|[3];t|[1];~|[2]; SELECT 3" },
	{ "SELECT json_object_agg('a', 1)", "{ \"a\" : 1 }; SELECT 1" },
	{ "SELECT json_agg(1, 2)", "ERROR 42883: function json_agg(integer, integer) does not exist" },
	{ "SELECT json_object_agg('a')", "ERROR 42883: function json_object_agg(unknown) does not exist" },
	{ "SELECT to_json('x'::text), to_json(NULL::int), to_json(12345678901), to_json(interval '1 day'), "
	  "to_json(time '10:00')",
	    "\"x\"|~|12345678901|\"1 day\"|\"10:00:00\"; SELECT 1" },
	{ "SELECT json_build_object('a', json_build_array(1, json_build_object('b', NULL))) -> 'a' -> 1",
	    "{\"b\" : null}; SELECT 1" },
	{ "SELECT to_json(timestamp '0044-03-15 BC 10:00'), to_json(timestamptz '2024-01-01 "
	  "00:00:00.123456-03:30')",
	    "\"0044-03-15T10:00:00 BC\"|\"2024-01-01T03:30:00.123456+00:00\"; SELECT 1" },
	{ "SELECT (SELECT json_agg(x.id ORDER BY x.id) FROM js x WHERE x.id <= js.id) FROM js ORDER BY id",
	    "[1];[1, 2];[1, 2, 3]; SELECT 3" },
	{ "SELECT json_agg('x')",
	    "ERROR 42804: could not determine polymorphic type because input has type unknown" },
	{ "SELECT to_json('x')",
	    "ERROR 42804: could not determine polymorphic type because input has type unknown" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(cases);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
