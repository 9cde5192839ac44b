/* create_as_test.c -- CREATE TABLE ... AS and SELECT ... INTO; the answers are PostgreSQL 15's. */
#include "golden.h"

static const struct golden made[] = {
	{ "create table a (x int primary key, y varchar(5), z numeric(6,2)); insert into a values (1, 'a', "
	  "1.5), "
	  "(2, null, null)",
	    "CREATE TABLE INSERT 0 2" },
	{ "create table b as select * from a", "SELECT 2" },
	{ "select * from b order by x", "1|a|1.50;2|~|~; SELECT 2" },
	/* types come along, keys and NOT NULL do not */
	{ "insert into b values (1, 'abcdef', 1)",
	    "ERROR 22001: value too long for type character varying(5)" },
	{ "insert into b values (null, 'abcde', 1.239), (1, 'x', 0)", "INSERT 0 2" },
	{ "select count(*), count(x), sum(z) from b", "4|3|2.74; SELECT 1" },
	{ "create table if not exists b as select * from a", "CREATE TABLE AS" },
	{ "select count(*) from b", "4; SELECT 1" },
	{ "create table if not exists b as select * from nope",
	    "ERROR 42P01: relation \"nope\" does not exist" },
	{ "create table b as select 1", "ERROR 42P07: relation \"b\" already exists" },
	{ "create table c (p, q) as select x, y, z from a with no data", "CREATE TABLE AS" },
	{ "select p, q, z from c", "SELECT 0" },
	{ "insert into c values (1, 'q', 2) returning p, z", "1|2.00; INSERT 0 1" },
	{ "create table d (p, q, r, s) as select * from a",
	    "ERROR 42601: too many column names were specified" },
	{ "create table d (p, p) as select * from a", "ERROR 42701: column \"p\" specified more than once" },
	{ "create table d as select 1, 2", "ERROR 42701: column \"?column?\" specified more than once" },
	{ "create table d as select 'x' as e, null as f, 1 as i", "SELECT 1" },
	{ "select e || 'y', f || 'z', i + 1 from d", "xy|~|2; SELECT 1" },
	{ "create table f as values (1, 2), (3, 4)", "SELECT 2" },
	{ "select column1 + column2 from f order by 1", "3;7; SELECT 2" },
	{ "create table g as table f", "SELECT 2" },
	{ "create table h as select column1, sum(column2) from g where false group by column1", "SELECT 0" },
	{ "select * from h", "SELECT 0" },
	{ "create table n as select 1/0 as a", "ERROR 22012: division by zero" },
	{ "select * from n", "ERROR 42P01: relation \"n\" does not exist" },
	{ "create table l as select $1::int", "ERROR 42P02: there is no parameter $1" },
	{ "create table big as select g as id, g % 7 as m, repeat('x', 300) || g as t from "
	  "generate_series(1, "
	  "3000) g",
	    "SELECT 3000" },
	{ "select count(*), sum(id), sum(m), sum(length(t)) from big", "3000|4501500|8998|910893; SELECT 1" },
	{ "create table nam_tables as select 1 as a", "ERROR 42P07: relation \"nam_tables\" already exists" },
	{ "create table s.t as select 1", "ERROR 3F000: schema \"s\" does not exist" },
};

static const struct golden into[] = {
	{ "create table a (x int primary key, y text); insert into a values (1, 'a'), (2, null)",
	    "CREATE TABLE INSERT 0 2" },
	{ "select * into e from a union select 3, 'z'", "SELECT 3" },
	{ "select * from e order by x", "1|a;2|~;3|z; SELECT 3" },
	{ "with w as (select 7 as k) select k into i from w", "SELECT 1" },
	{ "select * from i", "7; SELECT 1" },
	{ "select x as k into table i from a", "ERROR 42P07: relation \"i\" already exists" },
	{ "select * from (select 1 into f) q", "ERROR 42601: SELECT ... INTO is not allowed here" },
	{ "select (select 1 into f)", "ERROR 42601: SELECT ... INTO is not allowed here" },
	{ "insert into a select 1, 'x' into f", "ERROR 42601: SELECT ... INTO is not allowed here" },
	{ "select 1 union select 2 into f",
	    "ERROR 42601: INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT" },
	{ "create view v as select 1 into f", "ERROR 0A000: views must not contain SELECT INTO" },
	{ "select * from f", "ERROR 42P01: relation \"f\" does not exist" },
};

static const struct golden in_transactions[] = {
	{ "begin; create table b as select g as x from generate_series(1, 600) g; select count(*), sum(x) "
	  "from b",
	    "BEGIN SELECT 600600|180300; SELECT 1" },
	{ "insert into b select x from b", "INSERT 0 600" },
	{ "select count(*) from b", "1200; SELECT 1" },
	{ "rollback", "ROLLBACK" },
	{ "select * from b", "ERROR 42P01: relation \"b\" does not exist" },
	{ "begin; create table b as select 5 as x; commit; select x from b",
	    "BEGIN SELECT 1 COMMIT5; SELECT 1" },
	{ "begin; drop table b; create table b as select 'six' as y; select y from b; commit",
	    "BEGIN DROP TABLE SELECT 1six; SELECT 1 COMMIT" },
	{ "select y from b", "six; SELECT 1" },
};

static void
test_made(void **state)
{
	(void)state;
	golden_all(made);
}
static void
test_into(void **state)
{
	(void)state;
	golden_all(into);
}
static void
test_in_transactions(void **state)
{
	(void)state;
	golden_all(in_transactions);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_into),
		cmocka_unit_test(test_in_transactions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
