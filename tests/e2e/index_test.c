/* index_test.c -- indexes: definitions, plans that use them, rows that come and go. */
#include "golden.h"

static const struct golden plain[] = {
	{ "create table long (k int primary key, t text)", "CREATE TABLE" },
	{ "insert into long select i, 'v' || i from generate_series(1, 500) i", "INSERT 0 500" },
	{ "insert into long values (501, repeat('a', 3000))", "INSERT 0 1" },
	/* a row without an entry would not be found */
	{ "create index on long (t)",
	    "ERROR 54000: index row size exceeds btree maximum 2704 for index \"long_t_idx\"" },
	{ "drop index long_t_idx", "ERROR 42704: index \"long_t_idx\" does not exist" },
	{ "select k from long where t > 'a' and t < 'b'", "501; SELECT 1" },
	{ "delete from long where k = 501", "DELETE 1" },
	{ "create index on long (t)", "CREATE INDEX" },
	{ "insert into long values (501, repeat('a', 3000))",
	    "ERROR 54000: index row size exceeds btree maximum 2704 for index \"long_t_idx\"" },
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
	{ "drop index t_pkey",
	    "ERROR 2BP01: cannot drop index t_pkey because constraint t_pkey on table t requires it" },
	{ "drop index if exists t_pkey",
	    "ERROR 2BP01: cannot drop index t_pkey because constraint t_pkey on table t requires it" },
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

static const struct golden unique[] = {
	{ "create table u (id int primary key, a int unique, b text, c int, unique (b, c), "
	  "constraint mine unique (c, a))",
	    "CREATE TABLE" },
	{ "insert into u values (1, 1, 'x', 1), (2, 2, 'x', 2), (3, null, 'x', null), (4, null, 'x', null)",
	    "INSERT 0 4" },
	{ "insert into u values (5, 2, 'y', 1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_a_key\"" },
	{ "insert into u values (5, 5, 'x', 2)",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_b_c_key\"" },
	{ "insert into u values (5, 5, 'y', 1), (6, 5, 'y', 2)",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_a_key\"" },
	{ "update u set a = 2 where id = 1",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_a_key\"" },
	{ "update u set a = a + 1", "UPDATE 4" },
	{ "update u set a = 7 where id in (1, 2)",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_a_key\"" },
	{ "update u set a = 3 where id = 2", "UPDATE 1" },
	{ "select id, a from u order by id", "1|2;2|3;3|~;4|~; SELECT 4" },
	{ "begin", "BEGIN" },
	{ "delete from u where id = 1", "DELETE 1" },
	{ "insert into u values (9, 2, 'x', 1)", "INSERT 0 1" },
	{ "update u set a = 2 where id = 2",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_a_key\"" },
	{ "rollback", "ROLLBACK" },
	{ "begin", "BEGIN" },
	{ "update u set a = 100 where id = 1", "UPDATE 1" },
	{ "update u set a = 2 where id = 2", "UPDATE 1" },
	{ "commit", "COMMIT" },
	{ "select id, a from u where a = 2", "2|2; SELECT 1" },
	{ "select id, a from u where a = 100", "1|100; SELECT 1" },
	{ "alter table u drop constraint u_a_key", "ALTER TABLE" },
	{ "drop index mine",
	    "ERROR 2BP01: cannot drop index mine because constraint mine on table u requires it" },
	{ "insert into u values (5, 2, 'y', 8)", "INSERT 0 1" },
	{ "alter table u add unique (a)", "ERROR 23505: could not create unique index \"u_a_key\"" },
	{ "create unique index ua on u (a)", "ERROR 23505: could not create unique index \"ua\"" },
	{ "select id from u where a = 2 order by id", "2;5; SELECT 2" },
	{ "delete from u where id = 5", "DELETE 1" },
	{ "create unique index ua on u (a)", "CREATE INDEX" },
	{ "insert into u values (5, 2, 'y', 8)",
	    "ERROR 23505: duplicate key value violates unique constraint \"ua\"" },
	{ "alter table u drop column c", "ALTER TABLE" },
	{ "insert into u values (5, 6, 'x')", "INSERT 0 1" },
	{ "insert into u values (6, 6, 'x')",
	    "ERROR 23505: duplicate key value violates unique constraint \"ua\"" },
	{ "alter table u add column d int unique", "ALTER TABLE" },
	{ "alter table u alter a type bigint", "ALTER TABLE" },
	{ "insert into u values (6, 6, 'x')",
	    "ERROR 23505: duplicate key value violates unique constraint \"ua\"" },
	{ "select id from u where a = 6", "5; SELECT 1" },
	{ "explain (costs off) select id from u where a = 6 and b = 'x'",
	    "Project;  -> Index Scan using ua on u;       Index Cond: (a = 6);       Filter: (b = "
	    "'x'::text); "
	    "EXPLAIN" },
	{ "insert into u values (7, 6, 'z') on conflict (a) do update set b = excluded.b, d = u.a returning "
	  "id, b, d",
	    "5|z|6; INSERT 0 1" },
	{ "insert into u values (7, 6, 'z'), (8, 8, 'w'), (9, 8, 'v') on conflict do nothing returning id",
	    "8; INSERT 0 1" },
	{ "insert into u values (8, 9, 'z') on conflict (a) do nothing",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_pkey\"" },
	{ "insert into u values (9, 8, 'z') on conflict (id) do nothing",
	    "ERROR 23505: duplicate key value violates unique constraint \"ua\"" },
	{ "insert into u values (20, 20, 'z'), (21, 20, 'y') on conflict (a) do update set b = 'no'",
	    "ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time" },
	{ "insert into u values (20, 20, 'z') on conflict on constraint ua do nothing",
	    "ERROR 42704: constraint \"ua\" for table \"u\" does not exist" },
	{ "insert into u (id) values (30), (31) on conflict (a) do nothing", "INSERT 0 2" },
	{ "create table n (a int, unique nulls not distinct (a))", "CREATE TABLE" },
	{ "insert into n values (null)", "INSERT 0 1" },
	{ "insert into n values (null)",
	    "ERROR 23505: duplicate key value violates unique constraint \"n_a_key\"" },
	{ "insert into n values (null), (1), (1) on conflict do nothing", "INSERT 0 1" },
	{ "insert into n values (1) on conflict on constraint n_a_key do update set a = 2 returning a",
	    "2; INSERT 0 1" },
	{ "create table l (id int primary key, t text unique)", "CREATE TABLE" },
	{ "insert into l select i, repeat('long', 100) || i from generate_series(1, 50) i", "INSERT 0 50" },
	{ "insert into l values (99, repeat('long', 100) || 7)",
	    "ERROR 23505: duplicate key value violates unique constraint \"l_t_key\"" },
	{ "select id from l where t = repeat('long', 100) || 8", "8; SELECT 1" },
	{ "insert into l values (99, repeat('long', 1000))",
	    "ERROR 54000: index row size exceeds btree maximum 2704 for index \"l_t_key\"" },
	{ "delete from l where t = repeat('long', 100) || 8", "DELETE 1" },
	{ "insert into l values (8, repeat('long', 100) || 8)", "INSERT 0 1" },
	{ "update l set t = t || 'x'", "UPDATE 50" },
	{ "select id from l where t = repeat('long', 100) || '8x'", "8; SELECT 1" },
};

static void
test_unique(void **state)
{
	(void)state;
	golden_all(unique);
}

/* Two transactions give one key to two rows: the second waits, or one of them commits. */
static void
test_race(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client a, b;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 0);
	ask(&a, "create table t (id int primary key, k int unique)");
	ask(&a, "begin");
	ask(&b, "begin");
	ask(&b, "set local lock_timeout = 200");
	assert_string_equal(ask(&a, "insert into t values (21, 5)"), "INSERT 0 1");
	assert_string_equal(
	    ask(&b, "insert into t values (22, 5)"), "ERROR 55P03: canceling statement due to lock timeout");
	ask(&a, "rollback");
	ask(&b, "rollback");
	assert_string_equal(ask(&b, "insert into t values (7, 5)"), "INSERT 0 1");
	assert_string_equal(ask(&b, "delete from t"), "DELETE 1");
	ask(&a, "begin isolation level repeatable read");
	ask(&b, "begin isolation level repeatable read");
	assert_string_equal(ask(&a, "insert into t values (1, 5)"), "INSERT 0 1");
	assert_string_equal(ask(&b, "insert into t values (2, 5)"), "INSERT 0 1");
	assert_string_equal(ask(&a, "commit"), "COMMIT");
	ask(&b, "commit");
	assert_string_equal(b.err.sqlstate, "40001");
	assert_string_equal(ask(&b, "insert into t values (2, 5)"),
	    "ERROR 23505: duplicate key value violates unique constraint \"t_k_key\"");
	/* A key that is being given up: the statement waits for the lock, as in PostgreSQL. */
	ask(&a, "begin");
	ask(&a, "delete from t where id = 1");
	ask(&b, "set lock_timeout = 200");
	assert_string_equal(
	    ask(&b, "insert into t values (3, 5)"), "ERROR 55P03: canceling statement due to lock timeout");
	assert_string_equal(ask(&a, "commit"), "COMMIT");
	assert_string_equal(ask(&b, "insert into t values (3, 5)"), "INSERT 0 1");
	assert_string_equal(ask(&a, "select id from t where k = 5"), "3; SELECT 1");
	/* A row of an open transaction lies where a SERIALIZABLE one reads. */
	ask(&a, "begin");
	ask(&a, "insert into t values (50, 50)");
	ask(&b, "begin isolation level serializable");
	assert_string_equal(ask(&b, "select id from t where k between 40 and 60"), "SELECT 0");
	assert_string_equal(ask(&b, "insert into t values (70, 70)"), "INSERT 0 1");
	ask(&b, "commit");
	assert_string_equal(b.err.sqlstate, "40001");
	ask(&a, "rollback");
	test_client_close(&a);
	test_client_close(&b);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plain), cmocka_unit_test(test_unique),
		cmocka_unit_test(test_race) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
