/* index_test.c -- indexes: definitions, plans that use them, rows that come and go. */
#include "golden.h"

static const struct golden plain[] = {
	{ "create table t (id int primary key, a int, b text, c numeric)", "CREATE TABLE" },
	{ "insert into t select i, i % 500, 'b' || i % 7, i / 4.0 from generate_series(1, 4000) i",
	    "INSERT 0 4000" },
	{ "create index on t (a)", "CREATE INDEX" },
	{ "create index on t (a)", "CREATE INDEX" },
	{ "create index on t (b desc, a) include (c)", "CREATE INDEX" },
	{ "create index t_a_idx on t (a)", "ERROR 42P07: relation \"t_a_idx\" already exists" },
	{ "create index if not exists t_a_idx on t (a)", "CREATE INDEX" },
	{ "create table t_a_idx (a int)", "ERROR 42P07: relation \"t_a_idx\" already exists" },
	{ "create index on t (nope)", "ERROR 42703: column \"nope\" does not exist" },
	{ "create index on nope (a)", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "drop index t_a_idx1", "DROP INDEX" },
	{ "drop index t_a_idx1", "ERROR 42704: index \"t_a_idx1\" does not exist" },
	{ "drop index if exists t_a_idx1", "DROP INDEX" },
	{ "drop index t", "ERROR 42809: \"t\" is not an index" },
	{ "explain (costs off) select id from t where a = 7",
	    "Project;  -> Index Scan using t_a_idx on t;       Index Cond: (a = 7); EXPLAIN" },
	{ "select id from t where a = 7 order by id", "7;507;1007;1507;2007;2507;3007;3507; SELECT 8" },
	{ "select id from t where a = 5000000000", "SELECT 0" },
	{ "select id from t where a = null", "SELECT 0" },
	{ "update t set a = 7 where id = 1", "UPDATE 1" },
	{ "update t set a = 8 where id = 7", "UPDATE 1" },
	{ "delete from t where id = 507", "DELETE 1" },
	{ "insert into t values (5000, 7, 'x', 1)", "INSERT 0 1" },
	{ "select id from t where a = 7 order by id", "1;1007;1507;2007;2507;3007;3507;5000; SELECT 8" },
	{ "update t set c = -1 where a = 7", "UPDATE 8" },
	{ "select count(*) from t where c = -1", "8; SELECT 1" },
	{ "delete from t where a = 7", "DELETE 8" },
	{ "select id from t where a = 7 order by id", "SELECT 0" },
	{ "begin", "BEGIN" },
	{ "insert into t values (6000, 7, 'y', 1)", "INSERT 0 1" },
	{ "select id from t where a = 7", "6000; SELECT 1" },
	{ "create index inner_ on t (c)", "CREATE INDEX" },
	{ "select id from t where c = 1 order by id", "4;6000; SELECT 2" },
	{ "insert into t values (6001, 7, 'y', 1)", "INSERT 0 1" },
	{ "select id from t where c = 1 order by id", "4;6000;6001; SELECT 3" },
	{ "rollback", "ROLLBACK" },
	{ "select id from t where a = 7", "SELECT 0" },
	{ "create table inner_ (a int)", "CREATE TABLE" },
	{ "alter index t_a_idx rename to by_a", "ALTER INDEX" },
	{ "explain (costs off) select id from t where a = 9",
	    "Project;  -> Index Scan using by_a on t;       Index Cond: (a = 9); EXPLAIN" },
	{ "select count(*) from t where a = 9", "8; SELECT 1" },
	{ "select count(*) from t where b = 'b3' and a = 10", "2; SELECT 1" },
	{ "truncate t", "TRUNCATE TABLE" },
	{ "insert into t values (1, 9, 'x', 1)", "INSERT 0 1" },
	{ "create index late on t (c)", "CREATE INDEX" },
	{ "select id from t where a = 9", "1; SELECT 1" },
	{ "drop table t", "DROP TABLE" },
	{ "create table by_a (a int)", "CREATE TABLE" },
};

static void
test_plain(void **state)
{
	(void)state;
	golden_all(plain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plain) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
