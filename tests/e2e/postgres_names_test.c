/* postgres_names_test.c -- a name that PostgreSQL 15 has and namdb has not is 0A000; a name that
 * neither has does not exist. */
#include "golden.h"

static const struct golden all[] = {
	/* PostgreSQL has it */
	{ "select to_tsvector('a b')", "ERROR 0A000: function to_tsvector(unknown) is not supported yet" },
	{ "select range_agg(1) filter (where true)",
	    "ERROR 0A000: aggregate range_agg is not supported yet" },
	{ "select range_agg(distinct 1)", "ERROR 0A000: aggregate range_agg is not supported yet" },
	{ "select xmlagg(1) over ()", "ERROR 0A000: aggregate xmlagg is not supported yet" },
	{ "select set_masklen('10.0.0.1', 8)", "ERROR 0A000: type inet is not supported yet" },
	{ "select jsonb_extract_path('{}'::jsonb, 'a', 'b')",
	    "ERROR 0A000: function jsonb_extract_path(jsonb, unknown, unknown) is not supported yet" },
	{ "select pg_postmaster_start_time()",
	    "ERROR 0A000: function pg_postmaster_start_time() is not supported yet" },
	{ "select 'a'::text @@ 'b'", "ERROR 0A000: operator text @@ text is not supported yet" },
	{ "select '1'::inet", "ERROR 0A000: type inet is not supported yet" },
	{ "create table x (a tsquery)", "ERROR 0A000: type tsquery is not supported yet" },
	{ "set shared_buffers = 64", "ERROR 0A000: parameter shared_buffers is not supported yet" },
	{ "show Shared_Buffers", "ERROR 0A000: parameter shared_buffers is not supported yet" },
	/* PostgreSQL has the name, for other arguments: its own answer */
	{ "select to_tsvector()", "ERROR 42883: function to_tsvector() does not exist" },
	{ "select set_masklen(1, 8)", "ERROR 42883: function set_masklen(integer, integer) does not exist" },
	{ "select upper(5)", "ERROR 42883: function upper(integer) does not exist" },
	{ "select abs('a'::text)", "ERROR 42883: function abs(text) does not exist" },
	{ "select sum('a'::text)", "ERROR 42883: function sum(text) does not exist" },
	{ "select sum(26::oid)", "ERROR 42883: function sum(oid) does not exist" },
	{ "select avg(x) from (values (26::oid), (23)) v (x)",
	    "ERROR 42883: function avg(oid) does not exist" },
	{ "select stddev(x) from (values (26::oid), (23)) v (x)",
	    "ERROR 42883: function stddev(oid) does not exist" },
	{ "select sum(x) over () from (values ('pg_class'::regclass)) v (x)",
	    "ERROR 42883: function sum(regclass) does not exist" },
	{ "select count(1, 2)", "ERROR 42883: function count(integer, integer) does not exist" },
	{ "select sum(*)", "ERROR 42883: function sum() does not exist" },
	{ "select string_agg(1, 2)", "ERROR 42883: function string_agg(integer, integer) does not exist" },
	{ "select lag(1, 1, 'x'::text) over ()",
	    "ERROR 42883: function lag(integer, integer, text) does not exist" },
	{ "select to_char(1)", "ERROR 42883: function to_char(integer) does not exist" },
	{ "select round(1.5::float8, 1)",
	    "ERROR 42883: function round(double precision, integer) does not exist" },
	{ "select upper(distinct 'a')",
	    "ERROR 42809: DISTINCT specified, but upper is not an aggregate function" },
	{ "select * from generate_series('a'::text, 'b')",
	    "ERROR 42883: function generate_series(text, unknown) does not exist" },
	{ "select 1 @@ 2", "ERROR 42883: operator does not exist: integer @@ integer" },
	{ "select 1 | 1.5", "ERROR 42883: operator does not exist: integer | numeric" },
	{ "select 'a' + 'b'", "ERROR 42725: operator is not unique: unknown + unknown" },
	/* neither has it; parts and neighbours of names in the list are no names */
	{ "select nosuch(1)", "ERROR 42883: function nosuch(integer) does not exist" },
	{ "select to_tsvecto('a')", "ERROR 42883: function to_tsvecto(unknown) does not exist" },
	{ "select \"int4,int4\"(1)", "ERROR 42883: function int4,int4(integer) does not exist" },
	{ "select \"abs(float4)\"(1)", "ERROR 42883: function abs(float4)(integer) does not exist" },
	{ "select \"\"\"\"(1)", "ERROR 42883: function \"(integer) does not exist" },
	{ "select 1 @#@ 2", "ERROR 42883: operator does not exist: integer @#@ integer" },
	{ "select '1'::foo", "ERROR 42704: type \"foo\" does not exist" },
	{ "select '1'::\"cid cidr\"", "ERROR 42704: type \"cid cidr\" does not exist" },
	{ "select 1::serial", "ERROR 42704: type \"serial\" does not exist" },
	{ "set foo.bar = 3", "SET" },
	{ "set foo = 3", "ERROR 42704: unrecognized configuration parameter \"foo\"" },
	{ "show mem", "ERROR 42704: unrecognized configuration parameter \"mem\"" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
