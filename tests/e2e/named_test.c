/* named_test.c -- PREPARE, EXECUTE, DEALLOCATE. */
#include "golden.h"

static const struct golden list[] = {
	{ "create table t (id int primary key, a text, n numeric)", "CREATE TABLE" },
	{ "prepare ins as insert into t values ($1, $2, $3) returning *", "PREPARE" },
	{ "execute ins (1, 'one', 1.5)", "1|one|1.5; INSERT 0 1" },
	{ "execute ins (1 + 1, upper('two'), null)", "2|TWO|~; INSERT 0 1" },
	{ "execute ins ('3', 'three', '3')", "3|three|3; INSERT 0 1" },
	{ "execute ins ('x', 'three', '3')", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "execute ins (1, 'again', 1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "execute ins (1, 'again')",
	    "ERROR 42601: wrong number of parameters for prepared statement \"ins\"" },
	{ "execute ins", "ERROR 42601: wrong number of parameters for prepared statement \"ins\"" },
	{ "execute ins (id, 'x', 1)", "ERROR 42703: column \"id\" does not exist" },
	{ "prepare ins as select 1", "ERROR 42P05: prepared statement \"ins\" already exists" },
	{ "prepare q (int) as select a from t where id = $1", "PREPARE" },
	{ "execute q (2)", "TWO; SELECT 1" },
	{ "execute q (9)", "SELECT 0" },
	{ "execute q (null)", "SELECT 0" },
	{ "execute q (1 / 0)", "ERROR 22012: division by zero" },
	{ "prepare none as select count(*) from t", "PREPARE" },
	{ "execute none", "3; SELECT 1" },
	{ "prepare bad as select zz from t", "ERROR 42703: column \"zz\" does not exist" },
	{ "execute bad", "ERROR 26000: prepared statement \"bad\" does not exist" },
	{ "prepare bad (nosuch) as select $1", "ERROR 42704: type \"nosuch\" does not exist" },
	{ "deallocate bad", "ERROR 26000: prepared statement \"bad\" does not exist" },
	{ "prepare u as update t set n = n + $2 where id = $1", "PREPARE" },
	{ "begin; execute u (1, 10); execute q (1); rollback; execute none; select n from t where id = 1",
	    "BEGIN UPDATE 1one; SELECT 1 ROLLBACK3; SELECT 11.5; SELECT 1" },
	{ "begin; prepare inside as select 1; rollback; execute inside",
	    "BEGIN PREPARE ROLLBACK1; SELECT 1" },
	{ "begin; execute nope", "BEGIN ERROR 26000: prepared statement \"nope\" does not exist" },
	{ "execute none",
	    "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block" },
	{ "rollback", "ROLLBACK" },
	/* a table that changes under it */
	{ "drop table t; create table t (id int primary key, a text, n numeric); execute none",
	    "DROP TABLE CREATE TABLE0; SELECT 1" },
	{ "execute ins (1, 'new', 1)", "1|new|1; INSERT 0 1" },
	{ "deallocate prepare q", "DEALLOCATE" },
	{ "execute q (1)", "ERROR 26000: prepared statement \"q\" does not exist" },
	{ "deallocate all", "DEALLOCATE ALL" },
	{ "execute none", "ERROR 26000: prepared statement \"none\" does not exist" },
	{ "prepare two (int, int) as select $1 + $2", "PREPARE" },
	{ "execute two (1, 2)", "3; SELECT 1" },
	{ "select $1", "ERROR 42P02: there is no parameter $1" },
};

static void
named(void **state)
{
	(void)state;
	golden_all(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(named) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
