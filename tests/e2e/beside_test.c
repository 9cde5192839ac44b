/* beside_test.c -- definitions that change while other sessions read and write: right answers, or clean errors. */
#include "later.h"

#include <stdatomic.h>
#include <unistd.h>

static struct embedded e;

#define LOST "ERROR 40001: could not serialize access due to concurrent update"

/* Who writes first is waited for, and his rows are judged by the new rule. */
static void
alter_waits(void **state)
{
	(void)state;
	struct teller a, b;
	struct later l;
	teller_open(&a, &e, 0);
	teller_open(&b, &e, 1);
	says(&a, "create table w (id int primary key, v int); insert into w values (1, 1)",
	    "CREATE TABLE INSERT 0 1");
	says(&b, "select v from w", "1; SELECT 1");
	says(&b, "begin; insert into w values (2, -2)", "BEGIN INSERT 0 1");
	start(&l, &a, "alter table w add constraint plus check (v > 0)");
	usleep(20000);
	says(&b, "update w set v = 3 where id = 1; commit", "UPDATE 1 COMMIT");
	assert_string_equal(
	    wait_for(&l), "ERROR 23514: check constraint \"plus\" of relation \"w\" is violated by some row");
	says(&b, "begin; delete from w where id = 2", "BEGIN DELETE 1");
	start(&l, &a, "alter table w add constraint plus check (v > 0)");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&b, "insert into w values (2, -2)",
	    "ERROR 23514: new row for relation \"w\" violates check constraint \"plus\"");
	/* not for ever */
	says(&b, "begin; insert into w values (4, 4)", "BEGIN INSERT 0 1");
	says(&a, "set lock_timeout = '30ms'; alter table w drop constraint plus",
	    "SET ERROR 55P03: canceling statement due to lock timeout");
	says(&a, "reset lock_timeout", "RESET");
	start(&l, &a, "alter table w drop constraint plus");
	usleep(20000);
	cn_cancel(a.s);
	assert_string_equal(wait_for(&l), "ERROR 57014: canceling statement due to user request");
	says(&b, "commit", "COMMIT");
	says(&a, "select id, v from w order by id", "1|3;4|4; SELECT 2");
	says(&a, "drop table w", "DROP TABLE");
	teller_close(&a);
	teller_close(&b);
}

/* Rows written by the rules of yesterday never get in. */
static void
old_rules(void **state)
{
	(void)state;
	struct teller a, b;
	teller_open(&a, &e, 0);
	teller_open(&b, &e, 1);
	says(&a, "create table o (id int primary key, v int); insert into o values (1, 1)",
	    "CREATE TABLE INSERT 0 1");
	static const char *const level[] = { "repeatable read", "serializable" };
	for (unsigned i = 0; i < 2; i++) {
		char begin[100];
		snprintf(begin, sizeof begin, "begin isolation level %s; select count(*) from o", level[i]);
		/* its rows are locked when it commits, so nobody waits for it */
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "insert into o values (2, null)", "INSERT 0 1");
		says(&a, "alter table o alter v set not null", "ALTER TABLE");
		says(&b, "select count(*) from o", "2; SELECT 1");
		says(&b, "commit", LOST);
		says(&b, "insert into o values (2, null)",
		    "ERROR 23502: null value in column \"v\" of relation \"o\" violates not-null constraint");
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "update o set v = 7", "UPDATE 1");
		says(&a, "alter table o alter v drop not null", "ALTER TABLE");
		says(&b, "commit", LOST);
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "delete from o", "DELETE 1");
		says(&a, "alter table o rename v to w; alter table o rename w to v",
		    "ALTER TABLE ALTER TABLE");
		says(&b, "commit", LOST);
		/* reading alone is no harm */
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&a, "alter table o alter v set default 3; alter table o alter v drop default",
		    "ALTER TABLE ALTER TABLE");
		says(&b, "select v from o; commit", "1; SELECT 1 COMMIT");
		/* nor is writing something else */
		says(&a, "create table p (id int primary key)", "CREATE TABLE");
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "insert into p values (1)", "INSERT 0 1");
		says(&a, "alter table o alter v set default 3; alter table o alter v drop default",
		    "ALTER TABLE ALTER TABLE");
		says(&b, "commit", "COMMIT");
		/* a table that is gone */
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "insert into p values (2)", "INSERT 0 1");
		says(&a, "drop table p", "DROP TABLE");
		says(&b, "commit", LOST);
	}
	says(&a, "select * from o", "1|1; SELECT 1");
	says(&a, "drop table o", "DROP TABLE");
	teller_close(&a);
	teller_close(&b);
}

/* While a definition is changed, writers wait, then go by what became of it. */
static void
writers_wait(void **state)
{
	(void)state;
	struct teller a, b;
	struct later l;
	teller_open(&a, &e, 0);
	teller_open(&b, &e, 1);
	says(&a, "create table h (id int primary key, v int)", "CREATE TABLE");
	says(&b, "insert into h values (1, 1)", "INSERT 0 1");
	says(&a, "begin; alter table h add constraint plus check (v > 0)", "BEGIN ALTER TABLE");
	says(&b, "select * from h", "1|1; SELECT 1");
	start(&l, &b, "insert into h values (2, -2)");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(
	    wait_for(&l), "ERROR 23514: new row for relation \"h\" violates check constraint \"plus\"");
	says(&a, "begin; alter table h add constraint small check (v < 10)", "BEGIN ALTER TABLE");
	start(&l, &b, "update h set v = 11 where id = 1");
	usleep(20000);
	says(&a, "rollback", "ROLLBACK");
	assert_string_equal(wait_for(&l), "UPDATE 1");
	/* in a block there is nothing that could be run again */
	says(&a, "begin; alter table h alter v set default 5", "BEGIN ALTER TABLE");
	says(&b, "begin; insert into h values (3, 3)", "BEGIN INSERT 0 1");
	start(&l, &b, "commit");
	usleep(20000);
	says(&a, "insert into h (id) values (4); commit", "INSERT 0 1 COMMIT");
	assert_string_equal(wait_for(&l), LOST);
	says(&b, "select id, v from h order by id", "1|11;4|5; SELECT 2");
	/* two that change it: one after the other */
	says(&a, "begin; alter table h add constraint c1 check (v <> 1)", "BEGIN ALTER TABLE");
	start(&l, &b, "alter table h add constraint c2 check (v <> 2)");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&a, "insert into h values (5, 1)",
	    "ERROR 23514: new row for relation \"h\" violates check constraint \"c1\"");
	says(&a, "insert into h values (5, 2)",
	    "ERROR 23514: new row for relation \"h\" violates check constraint \"c2\"");
	says(&a, "drop table h", "DROP TABLE");
	teller_close(&a);
	teller_close(&b);
}

static int
setup(void **state)
{
	(void)state;
	embedded_open(&e, 512u << 20, 2);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	embedded_close(&e);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alter_waits),
		cmocka_unit_test(old_rules),
		cmocka_unit_test(writers_wait),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
