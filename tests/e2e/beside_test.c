/* beside_test.c -- definitions that change while other sessions read and write: right answers, or
 * clean errors. */
#include "later.h"
#include "together.h"

#include <stdatomic.h>
#include <unistd.h>

#define LOST "ERROR 40001: could not serialize access due to concurrent update"

/* ALTER TABLE waits for the transaction that wrote first, and judges its rows by the new rule. */
static void
alter_waits(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
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
	assert_string_equal(cancelled(&l), "ERROR 57014: canceling statement due to user request");
	says(&b, "commit", "COMMIT");
	says(&a, "select id, v from w order by id", "1|3;4|4; SELECT 2");
	says(&a, "drop table w", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* Rows written by the rules of yesterday never get in. */
static void
old_rules(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table o (id int primary key, v int); insert into o values (1, 1)",
	    "CREATE TABLE INSERT 0 1");
	static const char *const level[] = { "repeatable read", "serializable" };
	for (unsigned i = 0; i < 2; i++) {
		char begin[100];
		snprintf(begin, sizeof begin, "begin isolation level %s; select count(*) from o", level[i]);
		/* its rows are locked when it commits, so no session waits for it */
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
		/* nor is what ANALYZE finds out a new rule */
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&b, "update o set v = 1", "UPDATE 1");
		says(&a, "analyze o", "ANALYZE");
		says(&b, "commit", "COMMIT");
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
	test_client_close(&a);
	test_client_close(&b);
}

/* While a definition is changed, writers wait, then go by what became of it. */
static void
writers_wait(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
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
	test_client_close(&a);
	test_client_close(&b);
}

/* Rows that are rewritten while other sessions write: none is lost, and none comes twice. */
static void
rewritten(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table r (id int primary key, v text); insert into r values (1, '1')",
	    "CREATE TABLE INSERT 0 1");
	says(&b, "begin; insert into r values (2, '2')", "BEGIN INSERT 0 1");
	start(&l, &a, "alter table r alter v type int using v::int, add w int default 7");
	usleep(20000);
	says(&b, "update r set v = '10' where id = 1; commit", "UPDATE 1 COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&b, "select * from r order by id", "1|10|7;2|2|7; SELECT 2");
	/* a snapshot of before shows what was then, and nothing of it can be changed */
	says(&b, "begin isolation level repeatable read; select * from r where id = 1",
	    "BEGIN1|10|7; SELECT 1");
	says(&a, "alter table r drop w, alter v type text", "ALTER TABLE");
	says(&a, "insert into r values (3, 'three')", "INSERT 0 1");
	says(&b, "select * from r order by id", "1|10|7;2|2|7; SELECT 2");
	says(&b, "update r set w = 8", "UPDATE 2");
	says(&b, "commit", LOST);
	says(&b, "select * from r order by id", "1|10;2|2;3|three; SELECT 3");
	/* statements by themselves wait, and go by the new columns */
	says(&a, "begin; alter table r add c int not null default 5", "BEGIN ALTER TABLE");
	start(&l, &b, "insert into r values (4, 'four', 44)");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	const char *is = wait_for(&l);
	if (strcmp(is, "INSERT 0 1") != 0) /* it was bound before the column was there */
		assert_string_equal(is, "ERROR 42601: INSERT has more expressions than target columns");
	says(&a, "begin; alter table r drop v", "BEGIN ALTER TABLE");
	start(&l, &b, "update r set v = 'x'");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ERROR 42703: column \"v\" of relation \"r\" does not exist");
	/* TRUNCATE against ALTER */
	says(&a, "begin; truncate r; insert into r values (7, 7)", "BEGIN TRUNCATE TABLE INSERT 0 1");
	start(&l, &b, "alter table r alter c type bigint, add d int default 1");
	usleep(20000);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&a, "select * from r", "7|7|1; SELECT 1");
	/* two that wait for each other */
	says(&a, "create table q (id int primary key); insert into q values (1)", "CREATE TABLE INSERT 0 1");
	says(&b, "begin; update q set id = 1", "BEGIN UPDATE 1");
	says(&a, "begin; update r set c = 0", "BEGIN UPDATE 1");
	start(&l, &b, "alter table r drop d");
	usleep(20000);
	char mine[300];
	snprintf(mine, sizeof mine, "%s", ask(&a, "alter table q add x int"));
	const char *theirs = wait_for(&l), *dead = "ERROR 40P01: deadlock detected";
	assert_true((strcmp(mine, dead) == 0) + (strcmp(theirs, dead) == 0) == 1);
	assert_true((strcmp(mine, "ALTER TABLE") == 0) + (strcmp(theirs, "ALTER TABLE") == 0) == 1);
	ask(&a, "rollback");
	ask(&b, "rollback");
	says(&a, "drop table r, q", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* Another process has only what lies in the catalog. */
static void
elsewhere(void **state)
{
	(void)state;
	struct embedded other = { .region = e.region };
	struct net_local *local[2] = { sn_local(e.region), NULL };
	struct cn_config cfg = { .local = local, .workers = 1 };
	struct nam_err err = { 0 };
	struct test_client a, b, c;
	test_client_open(&a, &e, 0);
	says(&a, "create table x (id int primary key, v text, w int); insert into x values (1, 'one', 1)",
	    "CREATE TABLE INSERT 0 1");
	assert_int_equal(cn_open(&other.cn, &cfg, &err), NAM_OK);
	test_client_open(&b, &other, 0);
	says(&b, "select * from x", "1|one|1; SELECT 1");
	says(&a, "set namdb.visibility = cluster", "SET");
	says(&b, "set namdb.visibility = cluster", "SET");
	says(&a, "alter table x add d numeric default 1.50, drop v", "ALTER TABLE");
	says(&b, "insert into x values (2, 2, 2.5)", "INSERT 0 1");
	says(&b, "select * from x order by id", "1|1|1.50;2|2|2.5; SELECT 2");
	says(&b, "alter table x add s text default 'long enough to be long', add constraint w check (w > 0)",
	    "ALTER TABLE");
	says(&a, "insert into x (id, w) values (3, 0)",
	    "ERROR 23514: new row for relation \"x\" violates check constraint \"w\"");
	says(&a, "insert into x (id, w) values (3, 3); update x set s = 'short' where id = 1",
	    "INSERT 0 1 UPDATE 1");
	says(&b, "select * from x order by id",
	    "1|1|1.50|short;2|2|2.5|long enough to be long;3|3|1.50|long enough to be long; SELECT 3");
	/* what one has begun, the other must not break */
	says(&b, "begin isolation level repeatable read; select count(*) from x", "BEGIN3; SELECT 1");
	says(&b, "insert into x (id, w) values (4, 4)", "INSERT 0 1");
	says(&a, "alter table x drop d", "ALTER TABLE");
	says(&b, "commit", LOST);
	says(&b, "begin; insert into x (id, w) values (5, 5)", "BEGIN INSERT 0 1");
	struct later l;
	start(&l, &a, "alter table x add t int default 9");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	test_client_close(&b);
	cn_close(other.cn);
	/* and one that comes only now */
	assert_int_equal(cn_open(&other.cn, &cfg, &err), NAM_OK);
	test_client_open(&c, &other, 0);
	says(&c, "select id, w, t from x order by id", "1|1|9;2|2|9;3|3|9;5|5|9; SELECT 4");
	test_client_close(&c);
	cn_close(other.cn);
	says(&a, "drop table x", "DROP TABLE");
	test_client_close(&a);
}

/* A drop waits for writers, and does not drop rows unseen that another transaction committed after
 * the snapshot. */
static void
dropped_unseen(void **state)
{
	(void)state;
	static const char *const level[] = { "repeatable read", "serializable" };
	static const char *const end[] = { "drop table d", "truncate d" };
	struct test_client a, b;
	struct later l;
	char text[200];
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	for (unsigned i = 0; i < 4; i++) {
		const char *drop = end[i % 2];
		says(&a, "create table d (id int primary key, v int); insert into d values (1, 1)",
		    "CREATE TABLE INSERT 0 1");
		snprintf(text, sizeof text, "begin isolation level %s; select * from d where id = 1",
		    level[i / 2]);
		says(&a, text, "BEGIN1|1; SELECT 1");
		says(&b, "update d set v = 2", "UPDATE 1");
		says(&a, drop, LOST);
		says(&a, "rollback", "ROLLBACK");
		says(&a, "select * from d", "1|2; SELECT 1");
		/* a row that came meanwhile also counts */
		says(&a, text, "BEGIN1|2; SELECT 1");
		says(&b, "insert into d values (2, 2)", "INSERT 0 1");
		says(&a, drop, LOST);
		says(&a, "rollback", "ROLLBACK");
		/* nothing has changed: nothing is in the way */
		says(&a, text, "BEGIN1|2; SELECT 1");
		snprintf(text, sizeof text, "%s; rollback", drop);
		says(&a, text, i % 2 ? "TRUNCATE TABLE ROLLBACK" : "DROP TABLE ROLLBACK");
		/* READ COMMITTED waits */
		says(&b, "begin; update d set v = 3 where id = 1", "BEGIN UPDATE 1");
		start(&l, &a, drop);
		usleep(20000);
		says(&b, "select count(*) from d; commit", "2; SELECT 1 COMMIT");
		assert_string_equal(wait_for(&l), i % 2 ? "TRUNCATE TABLE" : "DROP TABLE");
		says(&a, i % 2 ? "select count(*) from d; drop table d" : "drop table if exists d",
		    i % 2 ? "0; SELECT 1 DROP TABLE" : "DROP TABLE");
	}
	/* Not for ever, and each limit has its own name. */
	says(&a, "create table d (id int primary key); insert into d values (1)", "CREATE TABLE INSERT 0 1");
	says(&b, "begin; delete from d", "BEGIN DELETE 1");
	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "set lock_timeout = '30ms'; %s", end[i]);
		says(&a, text, "SET ERROR 55P03: canceling statement due to lock timeout");
		snprintf(text, sizeof text, "reset lock_timeout; set statement_timeout = '30ms'; %s", end[i]);
		says(&a, text, "RESET SET ERROR 57014: canceling statement due to statement timeout");
		says(&a, "reset statement_timeout", "RESET");
	}
	/* Two that drop it: the second finds none. */
	says(&b, "rollback", "ROLLBACK");
	says(&b, "begin; drop table d", "BEGIN DROP TABLE");
	says(&a, "begin", "BEGIN");
	start(&l, &a, "drop table d");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ERROR 42P01: table \"d\" does not exist");
	says(&a, "rollback", "ROLLBACK");
	test_client_close(&a);
	test_client_close(&b);
}

/* TRUNCATE puts an empty table in the place of the full one: what hangs on it stays, and a
 * savepoint can undo it. */
static void
truncated(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table u (id serial primary key, v int default 5 check (v > 0), w text not null)",
	    "CREATE TABLE");
	says(&a, "create view uv as select id, w from u where v = 5", "CREATE VIEW");
	says(&a, "insert into u (w) values ('a'), ('b')", "INSERT 0 2");
	says(&a, "alter table u add x int default 7", "ALTER TABLE");
	says(&b, "begin isolation level repeatable read; select count(*) from u", "BEGIN2; SELECT 1");
	says(&a, "truncate u; select count(*) from uv", "TRUNCATE TABLE0; SELECT 1");
	says(&b, "select id, w, x from u order by id; commit", "1|a|7;2|b|7; SELECT 2 COMMIT");
	says(&b, "insert into u (w) values ('c'); select * from u", "INSERT 0 13|5|c|7; SELECT 1");
	says(&b, "insert into u (v, w) values (0, 'd')",
	    "ERROR 23514: new row for relation \"u\" violates check constraint \"u_v_check\"");
	says(&b, "insert into u (w) values (null)",
	    "ERROR 23502: null value in column \"w\" of relation \"u\" violates not-null constraint");
	says(&b, "insert into u (id, w) values (3, 'e')",
	    "ERROR 23505: duplicate key value violates unique constraint \"u_pkey\"");
	says(&a, "begin; insert into u (w) values ('f'); savepoint s; truncate u; select count(*) from u",
	    "BEGIN INSERT 0 1 SAVEPOINT TRUNCATE TABLE0; SELECT 1");
	says(&a, "rollback to s; select w from uv order by id; commit", "ROLLBACKc;f; SELECT 2 COMMIT");
	says(&a,
	    "begin; truncate u; insert into u (w) values ('g'); truncate u; insert into u (w) values ('h')",
	    "BEGIN TRUNCATE TABLE INSERT 0 1 TRUNCATE TABLE INSERT 0 1");
	says(&a, "commit; select w, x from u", "COMMITh|7; SELECT 1");
	says(&a, "drop table u cascade", "DROP TABLE");
	says(&a, "select nextval('u_id_seq')", "ERROR 42P01: relation \"u_id_seq\" does not exist");
	test_client_close(&a);
	test_client_close(&b);
}

/* ---- all at once ----------------------------------------------------------------------- */

struct busy {
	struct test_client t;
	unsigned number;
	long added, bad;
	const char *(*next)(struct busy *b, unsigned i, char *buf, size_t max);
	bool (*fine)(const char *answer);
	pthread_t thread;
};

static atomic_bool over;

static void *
run_busy(void *arg)
{
	struct busy *b = arg;
	char text[200];
	for (unsigned i = 0; !atomic_load(&over); i++) {
		const char *is = ask(&b->t, b->next(b, i, text, sizeof text));
		if (strncmp(is, "INSERT 0 ", 9) == 0)
			b->added += atol(is + 9);
		else if (strncmp(is, "DELETE ", 7) == 0)
			b->added -= atol(is + 7);
		if (!b->fine(is)) {
			fprintf(stderr, "%s\n  is %s\n", text, is);
			b->bad++;
		}
	}
	return NULL;
}

/* Never a wrong answer, nor an error without a name for what happened. */
static bool
clean(const char *is)
{
	static const char *const may[] = { "INSERT 0 1", "INSERT 0 3", "UPDATE ", "DELETE ", "ERROR 40001",
		"ERROR 42P01", "ERROR 42703", "ERROR 42601: INSERT has more", "ERROR 40P01", "t; SELECT 1" };
	for (unsigned i = 0; i < sizeof may / sizeof *may; i++)
		if (starts_with(is, may[i]))
			return true;
	return false;
}

static const char *
write_some(struct busy *b, unsigned i, char *buf, size_t max)
{
	unsigned id = b->number * 1000000 + i;
	switch (i % 5) {
	case 0:
	case 1:
		snprintf(buf, max, "insert into z (id, v) values (%u, %u)", id, id);
		break;
	case 2:
		snprintf(buf, max, "insert into z (id, v) values (%u, %u), (%u, %u), (%u, %u)", id, id,
		    id + 400000, id + 400000, id + 800000, id + 800000);
		break;
	case 3:
		snprintf(buf, max, "update z set v = id where id = %u", b->number * 1000000 + i / 2);
		break;
	default:
		snprintf(buf, max, "delete from z where id = %u", b->number * 1000000 + i / 3);
	}
	return buf;
}

static const char *
read_all(struct busy *b, unsigned i, char *buf, size_t max)
{
	(void)b;
	snprintf(buf, max,
	    i % 2 ? "select count(*) = count(v) and sum(id) = sum(v) or count(*) = 0 from z"
		  : "select coalesce(bool_and(id = v), true) from z where id %% 3 = 1");
	return buf;
}

static void
all_at_once(void **state)
{
	(void)state;
	enum { WRITERS = 3, READERS = 1, ROUNDS = 12 };
	static const char *const change[] = {
		"alter table z add c int default 5",
		"alter table z alter v type numeric",
		"alter table z add constraint same check (id = v)",
		"alter table z drop c, add d text default 'd'",
		"alter table z drop constraint same, alter v type int",
		"begin; alter table z add e int; update z set e = id; alter table z drop e; rollback",
		"alter table z drop constraint z_pkey, add primary key (id)",
		"alter table z alter v set not null, drop d",
		"alter table z alter v drop not null",
		"begin; drop table z; rollback",
	};
	struct busy b[WRITERS + READERS] = { 0 };
	struct test_client a;
	long rows = 0, bad = 0;
	unsigned done = 0;
	test_client_open(&a, &e, 0);
	says(&a, "create table z (id int primary key, v int)", "CREATE TABLE");
	atomic_store(&over, false);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		b[i].number = i + 1;
		b[i].next = i < WRITERS ? write_some : read_all;
		b[i].fine = clean;
		test_client_open(&b[i].t, &e, i % 2);
		pthread_create(&b[i].thread, NULL, run_busy, &b[i]);
	}
	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned i = 0; i < sizeof change / sizeof *change; i++) {
			const char *is = ask(&a, change[i]);
			bool ended = strstr(is, "ERROR") == NULL;
			done += ended;
			if (!ended && strstr(is, "ERROR 40") == NULL && strstr(is, "ERROR 42") == NULL) {
				fprintf(stderr, "%s\n  is %s\n", change[i], is);
				bad++;
			}
			ask(&a, "rollback");
			usleep(2000);
		}
	atomic_store(&over, true);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		pthread_join(b[i].thread, NULL);
		rows += b[i].added;
		bad += b[i].bad;
		test_client_close(&b[i].t);
	}
	char want[100];
	snprintf(want, sizeof want, "%ld|%ld; SELECT 1", rows, rows);
	says(&a, "select count(*), count(distinct id) from z where id = v", want);
	assert_int_equal(bad, 0);
	assert_true(rows > 100);
	assert_true(done > ROUNDS * 5); /* busy writers do not keep definitions from changing */
	says(&a, "drop table z", "DROP TABLE");
	test_client_close(&a);
}

static const char *
move_many(struct busy *b, unsigned i, char *buf, size_t max)
{
	(void)b;
	snprintf(buf, max,
	    i % 2 ? "update y set v = v - 1 where id %% 2 = 0" : "update y set v = v + 1 where id %% 2 = 0");
	return buf;
}

static const char *
sum_all(struct busy *b, unsigned i, char *buf, size_t max)
{
	(void)b;
	(void)i;
	snprintf(buf, max, "select sum(v) in (0, 100) and count(md5(repeat(id::text, 20))) = 200 from y");
	return buf;
}

/* Scans of different snapshots use the same remembered pages while a writer makes half of their
 * blocks differ. */
static void
remembered_pages(void **state)
{
	(void)state;
	enum { WRITERS = 1, READERS = 4 };
	struct busy b[WRITERS + READERS] = { 0 };
	struct test_client a;
	long bad = 0;
	test_client_open(&a, &e, 0);
	says(&a,
	    "create table y (id int primary key, v int); insert into y select g, 0 from generate_series(1, "
	    "200) g",
	    "CREATE TABLE INSERT 0 200");
	atomic_store(&over, false);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		b[i].number = i + 1;
		b[i].next = i < WRITERS ? move_many : sum_all;
		b[i].fine = clean;
		test_client_open(&b[i].t, &e, i % 2);
		pthread_create(&b[i].thread, NULL, run_busy, &b[i]);
	}
	sleep(3);
	atomic_store(&over, true);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		pthread_join(b[i].thread, NULL);
		bad += b[i].bad;
		test_client_close(&b[i].t);
	}
	assert_int_equal(bad, 0);
	says(&a, "drop table y", "DROP TABLE");
	test_client_close(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alter_waits),
		cmocka_unit_test(old_rules),
		cmocka_unit_test(writers_wait),
		cmocka_unit_test(rewritten),
		cmocka_unit_test(elsewhere),
		cmocka_unit_test(dropped_unseen),
		cmocka_unit_test(truncated),
		cmocka_unit_test(all_at_once),
		cmocka_unit_test(remembered_pages),
	};
	return cmocka_run_group_tests(tests, cluster_setup, cluster_teardown);
}
