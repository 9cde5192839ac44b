/*
 * more_functions_test.c -- functions beyond the first ones, in rows and with NULLs;
 * tests/sql/asked.sql asks a real PostgreSQL about many more. Rows with '|' and ';', ~ for NULL,
 * then the command's tag; or the SQLSTATE and message.
 */
#include "golden.h"

static const struct golden strings[] = {
	{ "create table t (id int primary key, s text, n numeric, b bytea)", "CREATE TABLE" },
	{ "insert into t values (1, 'a b', 1.50, '\\x00ff'), (2, 'select', 10, ''), (3, null, null, null), "
	  "(4, 'it''s', -0.25, 'abc')",
	    "INSERT 0 4" },
	{ "select id, format('%I=%L', s, n) from t where s is not null order by id",
	    "1|\"a b\"='1.50';2|\"select\"='10';4|\"it's\"='-0.25'; SELECT 3" },
	{ "select format('%I', s) from t order by id",
	    "ERROR 22004: null values cannot be formatted as an SQL identifier" },
	{ "select format('[%*s]', id, s) from t order by id", "[a b];[select];[   ];[it's]; SELECT 4" },
	{ "select quote_ident(s), quote_literal(s), quote_nullable(n) from t order by id",
	    "\"a b\"|'a b'|'1.50';\"select\"|'select'|'10';~|~|NULL;\"it's\"|'it''s'|'-0.25'; SELECT 4" },
	{ "select encode(b, 'base64'), encode(b, 'escape'), encode(b, 'hex') from t order by id",
	    "AP8=|\\000\\377|00ff;||;~|~|~;YWJj|abc|616263; SELECT 4" },
	{ "select decode(encode(b, 'base64'), 'base64') = b, decode(encode(b, 'escape'), 'escape') = b from "
	  "t "
	  "order by id",
	    "t|t;t|t;~|~;t|t; SELECT 4" },
	{ "select convert_from('\\xff'::bytea, 'UTF8')",
	    "ERROR 22021: invalid byte sequence for encoding \"UTF8\": 0xff" },
	{ "select convert_to('x', 'latin1')", "ERROR 0A000: encoding \"latin1\" is not supported yet" },
	{ "select id, num_nulls(s, n, b), num_nonnulls(id, s) from t order by id",
	    "1|0|2;2|0|2;3|3|1;4|0|2; SELECT 4" },
	{ "select trim_scale(n), min_scale(n), width_bucket(n, -1, 11, 4) from t order by id",
	    "1.5|1|1;10|0|4;~|~|~;-0.25|2|1; SELECT 4" },
	{ "select factorial(id) from t order by id", "1;2;6;24; SELECT 4" },
};

static const struct golden session[] = {
	{ "select current_user, session_user, user, current_database(), current_catalog, current_schema",
	    "namdb|namdb|namdb|namdb|namdb|public; SELECT 1" },
	{ "select pg_typeof(null::int), pg_typeof(1::numeric), pg_typeof(array_nothing)",
	    "ERROR 42703: column \"array_nothing\" does not exist" },
	{ "select pg_typeof(null::int), pg_typeof(sum(x)) from generate_series(1, 2) as g(x)",
	    "integer|bigint; SELECT 1" },
	{ "select current_setting('application_name') = '', current_setting('server_version_num')",
	    "t|150000; SELECT 1" },
	{ "set application_name = 'me'", "SET" },
	{ "select current_setting('application_name')", "me; SELECT 1" },
	{ "select current_setting('no.such', false)",
	    "ERROR 42704: unrecognized configuration parameter \"no.such\"" },
	{ "select setseed(0.5), random()", "|0.9851677175347999; SELECT 1" },
	{ "select count(distinct random()) from generate_series(1, 3000)", "3000; SELECT 1" },
	{ "select random() between 0 and 1, random() = random()", "t|f; SELECT 1" },
	{ "select setseed(1.5)", "ERROR 22023: setseed parameter 1.5 is out of allowed range [-1,1]" },
	{ "select pg_backend_pid() > 0, clock_timestamp() > now() - interval '1 day', length(timeofday()) > "
	  "20",
	    "t|t|t; SELECT 1" },
	{ "select age(now() - interval '2 days') >= interval '1 day'", "t; SELECT 1" },
};

static void
strings_and_numbers(void **state)
{
	(void)state;
	golden_all(strings);
}

static void
session_and_dice(void **state)
{
	(void)state;
	golden_all(session);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(strings_and_numbers),
		cmocka_unit_test(session_and_dice) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
