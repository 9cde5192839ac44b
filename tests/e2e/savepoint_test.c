/* savepoint_test.c -- SAVEPOINT, RELEASE, ROLLBACK TO; races of ON CONFLICT and UPDATE ... FROM
 * inside of blocks. */
#include "golden.h"

static const struct golden list[] = {
	{ "create table t (id int primary key, a int)", "CREATE TABLE" },
	{ "create table h (a text)", "CREATE TABLE" },
	{ "savepoint a", "ERROR 25P01: SAVEPOINT can only be used in transaction blocks" },
	{ "release a", "ERROR 25P01: RELEASE SAVEPOINT can only be used in transaction blocks" },
	{ "rollback to a", "ERROR 25P01: ROLLBACK TO SAVEPOINT can only be used in transaction blocks" },
	{ "select 1; savepoint a; select 2",
	    "1; SELECT 1 ERROR 25P01: SAVEPOINT can only be used in transaction blocks" },
	{ "begin; savepoint a; insert into t values (1, 1); rollback to a; insert into t values (2, 2); "
	  "commit; "
	  "select * from t",
	    "BEGIN SAVEPOINT INSERT 0 1 ROLLBACK INSERT 0 1 COMMIT2|2; SELECT 1" },
	{ "begin; insert into t values (3, 3); savepoint a; update t set a = a * 10; delete from t where id "
	  "= 3; "
	  "insert into t values (4, 4); insert into h values ('x'); savepoint b; insert into t values (5, 5)",
	    "BEGIN INSERT 0 1 SAVEPOINT UPDATE 2 DELETE 1 INSERT 0 1 INSERT 0 1 SAVEPOINT INSERT 0 1" },
	{ "select * from t order by id", "2|20;4|4;5|5; SELECT 3" },
	{ "rollback to savepoint b; select * from t order by id", "ROLLBACK2|20;4|4; SELECT 2" },
	{ "rollback to a; select * from t order by id; select * from h",
	    "ROLLBACK2|2;3|3; SELECT 2 SELECT 0" },
	{ "rollback to b", "ERROR 3B001: savepoint \"b\" does not exist" },
	{ "select 1",
	    "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block" },
	{ "savepoint c",
	    "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block" },
	{ "release a",
	    "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block" },
	{ "rollback to a; insert into t values (6, 6); commit; select * from t order by id",
	    "ROLLBACK INSERT 0 1 COMMIT2|2;3|3;6|6; SELECT 3" },
	/* a failed statement leaves nothing of itself */
	{ "begin; savepoint a; insert into t values (7, 7), (8, 8), (2, 2)",
	    "BEGIN SAVEPOINT ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "rollback to a; select * from t order by id; insert into t values (7, 70); commit",
	    "ROLLBACK2|2;3|3;6|6; SELECT 3 INSERT 0 1 COMMIT" },
	{ "begin; savepoint a; update t set a = 100 / (id - 6) where id > 1",
	    "BEGIN SAVEPOINT ERROR 22012: division by zero" },
	{ "rollback to a; select sum(a) from t; commit", "ROLLBACK81; SELECT 1 COMMIT" },
	{ "begin; savepoint a; select nonsense",
	    "BEGIN SAVEPOINT ERROR 42703: column \"nonsense\" does not exist" },
	{ "nonsense", "ERROR 42601: syntax error at or near \"nonsense\"" },
	{ "commit", "ROLLBACK" },
	{ "begin; savepoint a; insert into t values (9, 9); nonsense",
	    "ERROR 42601: syntax error at or near \"nonsense\"" },
	{ "begin; savepoint a; insert into t values (9, 9)", "BEGIN SAVEPOINT INSERT 0 1" },
	{ "nonsense", "ERROR 42601: syntax error at or near \"nonsense\"" },
	{ "rollback to a", "ROLLBACK" },
	{ "rollback to a; rollback to a; select count(*) from t; rollback",
	    "ROLLBACK ROLLBACK4; SELECT 1 ROLLBACK" },
	/* names */
	{ "begin; savepoint a; insert into t values (10, 1); savepoint a; insert into t values (11, 1); "
	  "rollback to a; "
	  "select count(*) from t where id > 9; release a; rollback to a; select count(*) from t where id > "
	  "9; rollback",
	    "BEGIN SAVEPOINT INSERT 0 1 SAVEPOINT INSERT 0 1 ROLLBACK1; SELECT 1 RELEASE ROLLBACK0; SELECT 1 "
	    "ROLLBACK" },
	{ "begin; savepoint a; savepoint b; release a; release b",
	    "BEGIN SAVEPOINT SAVEPOINT RELEASE ERROR 3B001: savepoint \"b\" does not exist" },
	{ "rollback to b", "ERROR 3B001: savepoint \"b\" does not exist" },
	{ "rollback", "ROLLBACK" },
	{ "begin; savepoint \"A b\"; rollback to \"A b\"; rollback to a",
	    "BEGIN SAVEPOINT ROLLBACK ERROR 3B001: savepoint \"a\" does not exist" },
	{ "rollback", "ROLLBACK" },
	/* what is released stays */
	{ "begin; savepoint a; insert into t values (12, 1); release a; commit; select a from t where id = "
	  "12",
	    "BEGIN SAVEPOINT INSERT 0 1 RELEASE COMMIT1; SELECT 1" },
	/* settings go back as well */
	{ "begin; set lock_timeout = 5; savepoint a; set lock_timeout = 6; rollback to a; show lock_timeout; "
	  "rollback; "
	  "show lock_timeout",
	    "BEGIN SET SAVEPOINT SET ROLLBACK5ms; SHOW ROLLBACK0; SHOW" },
	/* snapshots stay */
	{ "begin isolation level repeatable read; savepoint a; delete from t; select count(*) from t; "
	  "rollback to a; "
	  "select count(*) from t; insert into t values (20, 1); rollback to a; insert into t values (20, "
	  "2); commit; "
	  "select a from t where id = 20",
	    "BEGIN SAVEPOINT DELETE 50; SELECT 1 ROLLBACK5; SELECT 1 INSERT 0 1 ROLLBACK INSERT 0 1 "
	    "COMMIT2; SELECT "
	    "1" },
	{ "begin isolation level serializable; update t set a = 3 where id = 20; savepoint a; update t set a "
	  "= 4 where "
	  "id = 20; rollback to a; commit; select a from t where id = 20",
	    "BEGIN UPDATE 1 SAVEPOINT UPDATE 1 ROLLBACK COMMIT3; SELECT 1" },
	{ "begin; savepoint a; set transaction isolation level serializable",
	    "BEGIN SAVEPOINT ERROR 25001: SET TRANSACTION ISOLATION LEVEL must not be called in a "
	    "subtransaction" },
	{ "rollback", "ROLLBACK" },
	/* the catalog */
	{ "begin; create table n (a int); savepoint a; insert into n values (1); rollback to a; insert into "
	  "n values "
	  "(2); commit; select * from n",
	    "BEGIN CREATE TABLE SAVEPOINT INSERT 0 1 ROLLBACK INSERT 0 1 COMMIT2; SELECT 1" },
	{ "begin; savepoint a; create table n (a int)",
	    "BEGIN SAVEPOINT ERROR 42P07: relation \"n\" already exists" },
	{ "rollback to a; select * from n; commit", "ROLLBACK2; SELECT 1 COMMIT" },
	{ "begin; savepoint a; create table m (a int); rollback to a",
	    "BEGIN SAVEPOINT CREATE TABLE ERROR 0A000: ROLLBACK TO SAVEPOINT across statements that change "
	    "the catalog is "
	    "not supported yet" },
	{ "rollback; select * from m", "ROLLBACK ERROR 42P01: relation \"m\" does not exist" },
	{ "begin; savepoint a; create table m (a int); select 1 / 0",
	    "BEGIN SAVEPOINT CREATE TABLE ERROR 22012: division by zero" },
	{ "rollback to a", "ERROR 0A000: ROLLBACK TO SAVEPOINT across statements that change the catalog is "
			   "not supported yet" },
	{ "commit; select * from m", "ROLLBACK ERROR 42P01: relation \"m\" does not exist" },
	{ "select * from t order by id", "2|2;3|3;6|6;7|70;12|1;20|3; SELECT 6" },
};

static void
savepoints(void **state)
{
	(void)state;
	golden_all(list);
}

/* Two sessions: what ROLLBACK TO gives up is another's at once. */
static void
beside_each_other(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client a, b;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 0);
	ask(&a, "create table t (id int primary key, a int); insert into t values (1, 1), (2, 2)");
	ask(&b, "set lock_timeout = 50");
	ask(&a, "begin; update t set a = 10 where id = 1; savepoint s; update t set a = 20 where id = 2; "
		"insert into t "
		"values (3, 3)");
	assert_string_equal(ask(&b, "update t set a = 21 where id = 2"),
	    "ERROR 55P03: canceling statement due to lock timeout");
	assert_string_equal(ask(&a, "rollback to s"), "ROLLBACK");
	assert_string_equal(ask(&b, "update t set a = 21 where id = 2"), "UPDATE 1");
	assert_string_equal(ask(&b, "insert into t values (3, 30)"), "INSERT 0 1");
	assert_string_equal(ask(&b, "update t set a = 11 where id = 1"),
	    "ERROR 55P03: canceling statement due to lock timeout");
	/* a failure also frees what came after the savepoint */
	assert_string_equal(
	    ask(&a, "update t set a = a / (a - a) where id = 2"), "ERROR 22012: division by zero");
	assert_string_equal(ask(&b, "update t set a = 22 where id = 2"), "UPDATE 1");
	assert_string_equal(ask(&a, "rollback to s; commit"), "ROLLBACK COMMIT");
	assert_string_equal(ask(&b, "select * from t order by id"), "1|10;2|22;3|30; SELECT 3");
	/* ON CONFLICT sees what came after its transaction's first statement: each statement has a
	 * snapshot */
	ask(&a, "begin; select 1");
	assert_string_equal(ask(&b, "insert into t values (4, 4)"), "INSERT 0 1");
	assert_string_equal(
	    ask(&a, "insert into t values (4, 1) on conflict (id) do update set a = t.a + 100 returning a"),
	    "104; INSERT 0 1");
	assert_string_equal(ask(&a, "commit"), "COMMIT");
	/* a snapshot that does not cover it cannot go on */
	ask(&a, "begin isolation level repeatable read; select * from t");
	assert_string_equal(ask(&b, "insert into t values (5, 5)"), "INSERT 0 1");
	assert_string_equal(ask(&a, "insert into t values (5, 1) on conflict do nothing"),
	    "ERROR 40001: could not serialize access due to concurrent update");
	assert_string_equal(ask(&a, "rollback"), "ROLLBACK");
	test_client_close(&a);
	test_client_close(&b);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(savepoints),
		cmocka_unit_test(beside_each_other) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
