/* locking_test.c -- SELECT ... FOR UPDATE and its like: alone, and with sessions beside each other.
 * PostgreSQL 15's answers. */
#include "golden.h"
#include "later.h"
#include "together.h"

#include <stdatomic.h>
#include <unistd.h>

static const struct golden alone[] = {
	{ "create table fa (id int primary key, v int); insert into fa values (1, 10), (2, 20), (3, 30); "
	  "create table fb (id "
	  "int primary key, aid int); insert into fb values (1, 1), (2, 2), (3, null); create table fc (x "
	  "int); insert into "
	  "fc values (5), (6); create view fv as select * from fa",
	    "CREATE TABLE INSERT 0 3 CREATE TABLE INSERT 0 3 CREATE TABLE INSERT 0 2 CREATE VIEW" },
	{ "select * from fa order by id for update", "1|10;2|20;3|30; SELECT 3" },
	{ "select v from fa order by id desc limit 1 for no key update", "30; SELECT 1" },
	{ "select v from fa order by id limit 1 offset 1 for share", "20; SELECT 1" },
	{ "select v from fa order by id for key share offset 5", "SELECT 0" },
	{ "select v from fa where v > 15 order by -v for update limit 0", "SELECT 0" },
	{ "select x from fc order by x for update", "5;6; SELECT 2" },
	{ "select v + 1, id from fa where id = 2 for update nowait", "21|2; SELECT 1" },
	{ "select v from fa where id in (1, 3) order by v desc for share skip locked", "30;10; SELECT 2" },
	{ "select fa.v, fb.id from fa join fb on fb.aid = fa.id order by 1 for update",
	    "10|1;20|2; SELECT 2" },
	{ "select fa.v, x from fa, fc where fa.id = 1 order by x for update of fc for share of fa",
	    "10|5;10|6; SELECT 2" },
	{ "select fa.id, fb.id from fa left join fb on fb.aid = fa.id order by 1 for update of fa",
	    "1|1;2|2;3|~; SELECT 3" },
	{ "select fa.id, fb.id from fa left join fb on fb.aid = fa.id for update",
	    "ERROR 0A000: FOR UPDATE cannot be applied to the nullable side of an outer join" },
	{ "select fa.id, fb.id from fa left join fb on fb.aid = fa.id where fb.id > 1 for update",
	    "2|2; SELECT 1" },
	{ "select fa.id from fa full join fb on fa.id = fb.id for share of fb",
	    "ERROR 0A000: FOR SHARE cannot be applied to the nullable side of an outer join" },
	{ "select id from fa join fb using (id) order by id desc for update of fb", "3;2;1; SELECT 3" },
	{ "select * from (select v from fa where id < 3) q order by v for update", "10;20; SELECT 2" },
	{ "select * from (select count(*) from fa) q for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with aggregate functions" },
	{ "select * from (select count(*) from fa) q, fc where x = 5 for update of fc", "3|5; SELECT 1" },
	{ "select * from (values (1)) x for update", "1; SELECT 1" },
	{ "select v from fa where id in (select aid from fb for update) order by v for update",
	    "10;20; SELECT 2" },
	{ "select exists (select 1 from fa where id = fb.aid for update) from fb order by id",
	    "t;t;f; SELECT 3" },
	{ "with w as (select * from fa) select v from w order by v for update", "10;20;30; SELECT 3" },
	{ "with w as (select * from fa order by id limit 1 for update) select v from w", "10; SELECT 1" },
	{ "with w as (select * from fa) select * from w for update of w",
	    "ERROR 0A000: FOR UPDATE cannot be applied to a WITH query" },
	{ "select * from generate_series(1, 2) g for update", "1;2; SELECT 2" },
	{ "select * from generate_series(1, 2) g for update of g",
	    "ERROR 0A000: FOR UPDATE cannot be applied to a function" },
	{ "select generate_series(1, 2) from fa for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with set-returning functions in the target list" },
	{ "select 1 for update", "1; SELECT 1" },
	{ "select * from fv for update", "ERROR 0A000: FOR UPDATE over a view is not supported yet" },
	{ "select id, count(*) from fa group by id for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with GROUP BY clause" },
	{ "select sum(v) from fa for share",
	    "ERROR 0A000: FOR SHARE is not allowed with aggregate functions" },
	{ "select distinct v from fa for key share",
	    "ERROR 0A000: FOR KEY SHARE is not allowed with DISTINCT clause" },
	{ "select v from fa union select id from fb for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT" },
	{ "select sum(v) over () from fa for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with window functions" },
	{ "values (1) for update", "ERROR 0A000: FOR UPDATE cannot be applied to VALUES" },
	{ "select * from fa x for update of fa",
	    "ERROR 42P01: relation \"fa\" in FOR UPDATE clause not found in FROM clause" },
	{ "select * from fa for update of s.fa",
	    "ERROR 42601: FOR UPDATE must specify unqualified relation names" },
	{ "select * from nope for update", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "update fa set v = v + 1 where id = (select id from fa order by id limit 1 for update skip locked) "
	  "returning *",
	    "1|11; UPDATE 1" },
	{ "delete from fc where x in (select x from fc where x > 5 for update)", "DELETE 1" },
	{ "insert into fc select v from fa for update", "INSERT 0 3" },
	{ "create table fd as select v from fa for update", "SELECT 3" },
	/* what the transaction itself has written */
	{ "begin; update fa set v = 5 where id = 1; insert into fa values (4, 40); select * from fa order by "
	  "id for update",
	    "BEGIN UPDATE 1 INSERT 0 11|5;2|20;3|30;4|40; SELECT 4" },
	{ "select * from fa where id = 1 for share; delete from fa where id = 2; select id from fa order by "
	  "id for update "
	  "nowait; rollback",
	    "1|5; SELECT 1 DELETE 11;3;4; SELECT 3 ROLLBACK" },
	{ "begin isolation level serializable; select v from fa order by id for update; update fa set v = v "
	  "+ 1; commit; "
	  "select v from fa order by id",
	    "BEGIN11;20;30; SELECT 3 UPDATE 3 COMMIT12;21;31; SELECT 3" },
	{ "create table big (id int primary key, v int); insert into big select g, g % 10 from "
	  "generate_series(1, 3000) g",
	    "CREATE TABLE INSERT 0 3000" },
	{ "begin; select count(*), sum(id) from (select id from big where v < 5 for update) q; commit",
	    "BEGIN1500|2248500; SELECT 1 COMMIT" },
	{ "prepare p as select v from fa where id = $1 for update; execute p(1); execute p(2); execute p(9)",
	    "PREPARE12; SELECT 121; SELECT 1 SELECT 0" },
};

static void
test_alone(void **state)
{
	(void)state;
	golden_all(alone);
}

static void
beside(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a,
	    "create table t (id int primary key, v int, w text); insert into t values (1, 10, 'a'), (2, 20, "
	    "'b'), (3, 30, "
	    "'c')",
	    "CREATE TABLE INSERT 0 3");
	says(&b, "select sum(v) from t", "60; SELECT 1");
	/* a writer of the row waits; a session that locks it sees its new version, and evaluates
	 * the condition again */
	says(&a, "begin; select v from t where id = 1 for update", "BEGIN10; SELECT 1");
	start(&l, &b, "update t set v = v + 1 where id = 1");
	usleep(20000);
	says(&a, "update t set v = 100 where id = 1; commit", "UPDATE 1 COMMIT");
	assert_string_equal(wait_for(&l), "UPDATE 1");
	says(&b, "begin; update t set v = v + 1 where id < 3", "BEGIN UPDATE 2");
	start(&l, &a, "select id, v from t where v in (101, 21, 30) order by v for update");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "2|21;3|30; SELECT 2");
	says(&b, "begin; delete from t where id = 3; update t set v = 10 where id = 2",
	    "BEGIN DELETE 1 UPDATE 1");
	start(&l, &a, "select id, v from t order by v limit 2 for share");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "2|10;1|102; SELECT 2");
	/* not waiting */
	says(&a, "begin; select v from t where id = 1 for share", "BEGIN102; SELECT 1");
	says(&b, "select * from t for update nowait",
	    "ERROR 55P03: could not obtain lock on row in relation \"t\"");
	says(&b, "select id from t for update skip locked", "2; SELECT 1");
	says(&b, "begin; select id from t order by id limit 1 for update skip locked", "BEGIN2; SELECT 1");
	says(&a, "select id from t order by id for update skip locked", "1; SELECT 1");
	says(&b, "select id from t for update skip locked; rollback", "2; SELECT 1 ROLLBACK");
	says(&b, "set lock_timeout = '30ms'; select * from t where id = 1 for update",
	    "SET ERROR 55P03: canceling statement due to lock timeout");
	says(&b, "reset lock_timeout", "RESET");
	start(&l, &b, "select * from t where id = 1 for update");
	usleep(20000);
	assert_string_equal(cancelled(&l), "ERROR 57014: canceling statement due to user request");
	says(&a, "commit", "COMMIT");
	says(&b, "select id from t order by id for update nowait", "1;2; SELECT 2");
	/* savepoints */
	says(&a, "begin; savepoint s; select v from t where id = 2 for update; rollback to s",
	    "BEGIN SAVEPOINT10; SELECT 1 ROLLBACK");
	says(&b, "select v from t where id = 2 for update nowait", "10; SELECT 1");
	says(&a, "rollback", "ROLLBACK");
	/* each waits for the other */
	says(&a, "begin; select v from t where id = 1 for update", "BEGIN102; SELECT 1");
	says(&b, "begin; select v from t where id = 2 for update", "BEGIN10; SELECT 1");
	start(&l, &b, "select v from t where id = 1 for update");
	usleep(20000);
	char mine[300];
	snprintf(mine, sizeof mine, "%s", ask(&a, "select v from t where id = 2 for update"));
	const char *theirs = wait_for(&l), *dead = "ERROR 40P01: deadlock detected";
	assert_true((strcmp(mine, dead) == 0) + (strcmp(theirs, dead) == 0) == 1);
	ask(&a, "rollback");
	ask(&b, "rollback");
	/* one's own commit is no lock, even while it is still being written down */
	for (unsigned i = 0; i < 300; i++) {
		says(&a, "update t set v = v + 1 where id = 2", "UPDATE 1");
		says(&b, "begin; select id from t where id = 2 for update nowait; commit",
		    "BEGIN2; SELECT 1 COMMIT");
	}
	says(&a, "drop table t", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* One table on the kept side of two joins over the same keys: rows of the one that is named are
 * locked, the other's are not. */
static void
kept_twice(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a,
	    "create table p (id int primary key, k int); insert into p select i, i from generate_series(1, "
	    "2000) i;"
	    "create table d (x int, y int); insert into d select i, i + 1 from generate_series(1, 1500) i",
	    "CREATE TABLE INSERT 0 2000 CREATE TABLE INSERT 0 1500");
	says(&a, "select count(*) from d join p f on f.k = d.x join p g on g.k = d.y", "1500; SELECT 1");
	says(&a,
	    "begin; select d.x, f.id, g.id from d join p f on f.k = d.x join p g on g.k = d.y where d.x % "
	    "700 = 5 "
	    "order by 1 for update of g",
	    "BEGIN5|5|6;705|705|706;1405|1405|1406; SELECT 3");
	says(&b, "select id from p where id = 5 for update nowait", "5; SELECT 1");
	says(&b, "select id from p where id = 706 for update nowait",
	    "ERROR 55P03: could not obtain lock on row in relation \"p\"");
	says(&b, "select count(*) from (select id from p for update skip locked) q", "1997; SELECT 1");
	says(&a,
	    "commit; begin; select d.x, f.id, g.id from d join p f on f.k = d.x join p g on g.k = d.y where "
	    "d.x = 9 "
	    "for update of f, g",
	    "COMMIT BEGIN9|9|10; SELECT 1");
	says(&b, "select count(*) from (select id from p for update skip locked) q", "1998; SELECT 1");
	says(&a, "rollback; drop table p, d", "ROLLBACK DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* Above READ COMMITTED a lock is of the snapshot's version, or it fails. */
static void
snapshots(void **state)
{
	(void)state;
	static const char lost[] = "ERROR 40001: could not serialize access due to concurrent update";
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table t (id int primary key, v int); insert into t values (1, 1), (2, 1)",
	    "CREATE TABLE INSERT 0 2");
	static const char *const level[] = { "repeatable read", "serializable" };
	for (unsigned i = 0; i < 2; i++) {
		char begin[100];
		snprintf(begin, sizeof begin, "begin isolation level %s; select sum(v) from t", level[i]);
		says(&b, begin, "BEGIN2; SELECT 1");
		says(&a, "update t set v = 1 where id = 1", "UPDATE 1");
		says(&b, "select v from t where id = 1 for update", lost);
		says(&b, "rollback", "ROLLBACK");
		says(&b, begin, "BEGIN2; SELECT 1");
		says(&a, "delete from t where id = 2", "DELETE 1");
		says(&b, "select v from t where id = 2 for update skip locked", lost);
		says(&b, "rollback", "ROLLBACK");
		says(&a, "insert into t values (2, 1)", "INSERT 0 1");
		/* two that each keep the other's row: no write skew */
		says(&a, begin, "BEGIN2; SELECT 1");
		says(&b, begin, "BEGIN2; SELECT 1");
		says(&a, "select v from t where id = 2 for share; update t set v = 0 where id = 1",
		    "1; SELECT 1 UPDATE 1");
		start(&l, &b, "select v from t where id = 1 for share; update t set v = 0 where id = 2");
		usleep(20000);
		bool first = strcmp(ask(&a, "commit"), "COMMIT") == 0;
		wait_for(&l);
		bool second = strcmp(ask(&b, "commit"), "COMMIT") == 0;
		assert_true(first + second == 1);
		says(&a, "update t set v = 1", "UPDATE 2");
	}
	says(&a, "drop table t", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* ---- many at once ------------------------------------------------------------------------ */

enum { WORKERS = 4, JOBS = 300, STEPS = 100 };

struct worker {
	struct test_client t;
	unsigned number;
	long done, bad;
	pthread_t thread;
};

static void *
take_jobs(void *arg)
{
	struct worker *w = arg;
	char text[200];
	for (unsigned idle = 0; idle < 20;) {
		const char *is;
		if (w->number % 2 == 0) {
			snprintf(text, sizeof text,
			    "update jobs set taken = taken + 1, who = %u where id = (select id from jobs "
			    "where taken = 0 "
			    "order by id limit 1 for update skip locked)",
			    w->number);
			is = ask(&w->t, text);
			w->bad += strncmp(is, "UPDATE ", 7) != 0;
			if (strcmp(is, "UPDATE 1") == 0)
				w->done++;
			else
				idle++;
			continue;
		}
		is = ask(&w->t,
		    "begin; select id from jobs where taken = 0 order by id limit 1 for update skip locked");
		w->bad += strncmp(is, "BEGIN", 5) != 0;
		if (strstr(is, "SELECT 1") != NULL) {
			snprintf(text, sizeof text,
			    "update jobs set taken = taken + 1, who = %u where id = %d; commit", w->number,
			    atoi(is + 5));
			w->bad += strcmp(ask(&w->t, text), "UPDATE 1 COMMIT") != 0;
			w->done++;
		} else {
			idle++;
			ask(&w->t, "rollback");
		}
	}
	return NULL;
}

static void *
count_up(void *arg)
{
	struct worker *w = arg;
	char text[200];
	for (unsigned i = 0; i < STEPS; i++) {
		const char *is = ask(&w->t, "begin; select v from counter where id = 1 for update");
		if (strncmp(is, "BEGIN", 5) != 0 || strstr(is, "SELECT 1") == NULL) {
			w->bad++;
			ask(&w->t, "rollback");
			continue;
		}
		snprintf(
		    text, sizeof text, "update counter set v = %d where id = 1; commit", atoi(is + 5) + 1);
		w->bad += strcmp(ask(&w->t, text), "UPDATE 1 COMMIT") != 0;
		w->done++;
	}
	return NULL;
}

static long
together(void *(*run)(void *))
{
	struct worker w[WORKERS] = { 0 };
	long done = 0, bad = 0;
	for (unsigned i = 0; i < WORKERS; i++) {
		w[i].number = i + 1;
		test_client_open(&w[i].t, &e, i % 2);
		pthread_create(&w[i].thread, NULL, run, &w[i]);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(w[i].thread, NULL);
		done += w[i].done;
		bad += w[i].bad;
		test_client_close(&w[i].t);
	}
	assert_int_equal(bad, 0);
	return done;
}

static void
queue(void **state)
{
	(void)state;
	struct test_client a;
	test_client_open(&a, &e, 0);
	says(&a,
	    "create table jobs (id int primary key, taken int default 0, who int); insert into jobs (id) "
	    "select g from "
	    "generate_series(1, 300) g",
	    "CREATE TABLE INSERT 0 300");
	assert_int_equal(together(take_jobs), JOBS);
	says(&a, "select count(*), min(taken), max(taken), count(who) from jobs", "300|1|1|300; SELECT 1");
	says(&a, "drop table jobs", "DROP TABLE");
	test_client_close(&a);
}

static void
counter(void **state)
{
	(void)state;
	struct test_client a;
	test_client_open(&a, &e, 0);
	says(&a, "create table counter (id int primary key, v int); insert into counter values (1, 0)",
	    "CREATE TABLE INSERT 0 1");
	assert_int_equal(together(count_up), WORKERS * STEPS);
	says(&a, "select v from counter", "400; SELECT 1");
	says(&a, "drop table counter", "DROP TABLE");
	test_client_close(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test_setup_teardown(beside, cluster_setup, cluster_teardown),
		cmocka_unit_test_setup_teardown(kept_twice, cluster_setup, cluster_teardown),
		cmocka_unit_test_setup_teardown(snapshots, cluster_setup, cluster_teardown),
		cmocka_unit_test_setup_teardown(queue, cluster_setup, cluster_teardown),
		cmocka_unit_test_setup_teardown(counter, cluster_setup, cluster_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
