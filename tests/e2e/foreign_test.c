/*
 * foreign_test.c -- foreign keys beside other sessions: whatever the order and the isolation level,
 * no row is left that refers to nothing.
 */
#include "later.h"
#include "together.h"

#include <base/rng.h>

#define LOST "ERROR 40001: could not serialize access due to concurrent update"

static const char *const level[] = { "read committed", "repeatable read", "serializable" };

static const char *
text_of(const char *what, const char *with)
{
	static char text[300];
	snprintf(text, sizeof text, what, with);
	return text;
}

static const char insert_absent[] =
    "ERROR 23503: insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\"";
static const char delete_referred[] = "ERROR 23503: update or delete on table \"p\" violates foreign key "
				      "constraint \"c_p_fkey\" on table \"c\"";

/* How rows that refer are found: not at all, by an index, by their primary key. */
enum { SCANNED, INDEXED, KEYED, WAYS };
static const char *const way_name[WAYS] = { "without an index", "with an index", "by the key" };

static void
make(struct test_client *a, unsigned way)
{
	says(a, "create table p (id int primary key, x int unique, v int)", "CREATE TABLE");
	says(a,
	    way == KEYED ? "create table c (id int, p int primary key references p, v int)"
			 : "create table c (id int primary key, p int references p, v int)",
	    "CREATE TABLE");
	says(a, "insert into p select i, i, 0 from generate_series(1, 9) i", "INSERT 0 9");
	if (way == INDEXED)
		says(a, "create index on c (p)", "CREATE INDEX");
}

/* A row that refers, and a DELETE of what it refers to, in open transactions: of two COMMITs one at
 * most succeeds. */
static void
one_of_two(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	for (unsigned i = 0; i < 3 * 2 * WAYS; i++) {
		bool rows_first = i & 1, locks = i / 2 / WAYS == 0;
		const char *begin = text_of("begin isolation level %s; select 1", level[i / 2 / WAYS]);
		make(&a, i / 2 % WAYS);
		says(&a, begin, "BEGIN1; SELECT 1");
		says(&b, begin, "BEGIN1; SELECT 1");
		if (locks && !rows_first) {
			/* READ COMMITTED: the deletion has locked, so the row that refers waits */
			struct later l;
			says(&a, "delete from p where id = 1", "DELETE 1");
			start(&l, &b, "insert into c values (1, 1)");
			usleep(20000);
			assert_false(l.done);
			says(&a, "commit", "COMMIT");
			assert_string_equal(wait_for(&l), insert_absent);
			says(&b, "rollback", "ROLLBACK");
		} else if (locks) {
			/* The row is not committed yet, so the deletion does not see it: the one
			 * that commits first stays. */
			says(&b, "insert into c values (1, 1)", "INSERT 0 1");
			says(&a, "delete from p where id = 1", "DELETE 1");
			says(&b, "commit", "COMMIT");
			says(&a, "commit", LOST);
		} else {
			says(&a, "delete from p where id = 1", "DELETE 1");
			says(&b, "insert into c values (1, 1)", "INSERT 0 1");
			says(rows_first ? &b : &a, "commit", "COMMIT");
			says(rows_first ? &a : &b, "commit", LOST);
		}
		says(
		    &a, "select count(*) from c left join p on c.p = p.id where p.id is null", "0; SELECT 1");
		says(&a, "drop table c, p", "DROP TABLE");
	}
	test_client_close(&a);
	test_client_close(&b);
}

/* Rows that refer to one row, and changes of it that leave its key alone, do not meet. */
static void
side_by_side(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	for (unsigned i = 0; i < 3; i++) {
		const char *begin = text_of("begin isolation level %s; select 1", level[i]);
		make(&a, INDEXED);
		says(&a, begin, "BEGIN1; SELECT 1");
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&a, "insert into c values (1, 1), (2, 2)", "INSERT 0 2");
		says(&b, "insert into c values (3, 1), (4, 2)", "INSERT 0 2");
		says(&a, "commit", "COMMIT");
		says(&b, "commit", "COMMIT");
		says(&a, "begin; update p set v = 1 where id = 1", "BEGIN UPDATE 1");
		says(&b, "insert into c values (5, 1)", "INSERT 0 1");
		says(&a, "commit", "COMMIT");
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&a, "update p set v = v + 1, x = 10 where id = 1", "UPDATE 1");
		says(&b, "insert into c values (6, 1)", "INSERT 0 1");
		says(&b, "commit", i == 2 ? LOST : "COMMIT"); /* SERIALIZABLE: the row was read */
		/* rows that another transaction deletes are no obstacle to others */
		says(&a, "begin; delete from p where id = 9", "BEGIN DELETE 1");
		says(&b, "insert into c values (7, 8)", "INSERT 0 1");
		says(&b, "delete from p where id = 7", "DELETE 1");
		says(&a, "commit", "COMMIT");
		says(&a, "delete from p where id = 1", delete_referred);
		says(&a, "drop table p cascade", "DROP TABLE");
		says(&a, "drop table c", "DROP TABLE");
	}
	test_client_close(&a);
	test_client_close(&b);
}

/* A key that goes by an UPDATE; the unique key of an index; CASCADE beside a new row. */
static void
other_ways(void **state)
{
	(void)state;
	struct test_client a, b;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table p (id int primary key, x int unique)", "CREATE TABLE");
	says(&a,
	    "create table c (id int primary key, x int references p (x) on delete cascade on update cascade)",
	    "CREATE TABLE");
	says(&a, "insert into p select i, i from generate_series(1, 20) i", "INSERT 0 20");
	/* Each round has a key of its own, because the collector may be at work on the last one. It
	 * changes leaves that SERIALIZABLE has read. */
	for (unsigned n = 1; n <= 6; n++) {
		static const char *const gone[] = { "delete from p where id = %u",
			"update p set x = x + 100 where id = %u",
			"update p set id = id + 100, x = x + 100 where id = %u" };
		static const char begin[] = "begin isolation level repeatable read; select 1";
		char take[100], refer[100], then[100];
		bool gone_whole = n % 3 == 0;
		snprintf(take, sizeof take, gone[n % 3], n);
		snprintf(refer, sizeof refer, "insert into c values (%u, %u)", n, n);
		snprintf(then, sizeof then, "select x - %u from c where id = %u", n, n);
		says(&a, begin, "BEGIN1; SELECT 1");
		says(&b, begin, "BEGIN1; SELECT 1");
		says(&a, take, gone_whole ? "DELETE 1" : "UPDATE 1");
		says(&b, refer, "INSERT 0 1");
		says(&b, "commit", "COMMIT");
		says(&a, "commit", LOST);
		says(&a, take, gone_whole ? "DELETE 1" : "UPDATE 1");
		says(&a, then, gone_whole ? "SELECT 0" : "100; SELECT 1");
	}
	/* a key that moves to another row is not the row that was referred to */
	says(&b, "begin isolation level repeatable read; insert into c values (15, 15)", "BEGIN INSERT 0 1");
	says(&a, "begin; delete from p where id = 15; insert into p values (50, 15); commit",
	    "BEGIN DELETE 1 INSERT 0 1 COMMIT");
	says(&b, "commit", LOST);
	/* a savepoint that is rolled back takes what it said along */
	says(&b,
	    "begin isolation level repeatable read; savepoint s; insert into c values (16, 16); rollback to "
	    "s",
	    "BEGIN SAVEPOINT INSERT 0 1 ROLLBACK");
	says(&a, "delete from p where id = 16", "DELETE 1");
	says(&b, "insert into c values (17, 17); commit", "INSERT 0 1 COMMIT");
	says(&a, "drop table c, p", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* A constraint that comes while rows are written: none slips through. */
static void
added(void **state)
{
	(void)state;
	struct test_client a, b;
	struct later l;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table p (id int primary key); create table c (id int primary key, p int)",
	    "CREATE TABLE CREATE TABLE");
	says(&a, "insert into p values (1), (2); insert into c values (1, 1)", "INSERT 0 2 INSERT 0 1");
	for (unsigned i = 0; i < 4; i++) {
		says(&b, text_of("begin isolation level %s; select count(*) from p", level[1 + i / 2]),
		    "BEGIN2; SELECT 1");
		says(&b, i & 1 ? "insert into c values (2, 7)" : "delete from p where id = 1",
		    i & 1 ? "INSERT 0 1" : "DELETE 1");
		says(&a, "alter table c add foreign key (p) references p", "ALTER TABLE");
		says(&b, "commit", LOST);
		says(&a, "alter table c drop constraint c_p_fkey", "ALTER TABLE");
	}
	/* READ COMMITTED has locked, so ALTER waits for rows that refer */
	says(&b, "begin; insert into c values (2, 7)", "BEGIN INSERT 0 1");
	start(&l, &a, "alter table c add foreign key (p) references p");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), insert_absent);
	says(&b, "delete from c where id = 2", "DELETE 1");
	/* Of two tables that one transaction holds, the second one's writers give way. */
	says(&b, "begin; delete from p where id = 1", "BEGIN DELETE 1");
	start(&l, &a, "alter table c add foreign key (p) references p");
	usleep(20000);
	says(&b, "commit", LOST);
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&a, "alter table c drop constraint c_p_fkey", "ALTER TABLE");
	/* and of one that goes */
	says(&a, "alter table c add foreign key (p) references p", "ALTER TABLE");
	says(&b, "begin; insert into c values (3, 2)", "BEGIN INSERT 0 1");
	start(&l, &a, "alter table c drop constraint c_p_fkey");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ALTER TABLE");
	says(&b, "insert into c values (4, 9)", "INSERT 0 1");
	says(&a, "drop table p; drop table c", "DROP TABLE DROP TABLE");
	/* Two tables that come to refer to one: both are in its definition. */
	says(&a, "create table p (id int primary key)", "CREATE TABLE");
	says(&b, "begin; create table c (p int references p)", "BEGIN CREATE TABLE");
	start(&l, &a, "create table d (p int references p)");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "CREATE TABLE");
	says(&a, "insert into p values (1), (2); insert into c values (1); insert into d values (2)",
	    "INSERT 0 2 INSERT 0 1 INSERT 0 1");
	says(&b, "delete from p where id = 1",
	    "ERROR 23503: update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on "
	    "table \"c\"");
	says(&b, "delete from p where id = 2",
	    "ERROR 23503: update or delete on table \"p\" violates foreign key constraint \"d_p_fkey\" on "
	    "table \"d\"");
	/* and one beside the end of what it refers to */
	says(&b, "begin; create table f (p int references p)", "BEGIN CREATE TABLE");
	start(&l, &a, "drop table p cascade");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "DROP TABLE");
	says(&b, "insert into f values (7)", "INSERT 0 1");
	says(&a, "create table p (id int primary key); insert into p values (3)", "CREATE TABLE INSERT 0 1");
	says(&b, "begin; drop table p", "BEGIN DROP TABLE");
	start(&l, &a, "create table g (p int references p)");
	usleep(20000);
	says(&b, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "ERROR 42P01: relation \"p\" does not exist");
	says(&a, "drop table c, d, f", "DROP TABLE");
	test_client_close(&a);
	test_client_close(&b);
}

/* A chain as long as no stack is; more keys than go together; keys that change in a ring. */
static void
long_ways(void **state)
{
	(void)state;
	struct test_client a;
	test_client_open(&a, &e, 0);
	says(&a,
	    "create table t (id int primary key, up int references t on delete cascade on update cascade)",
	    "CREATE TABLE");
	says(&a, "create index on t (up)", "CREATE INDEX");
	says(&a, "insert into t select i, nullif(i - 1, 0) from generate_series(1, 1200) i", "INSERT 0 1200");
	says(&a, "delete from t where id = 1", "DELETE 1");
	says(&a, "select count(*) from t", "0; SELECT 1");
	says(&a, "insert into t select i, i % 600 + 1 from generate_series(1, 600) i", "INSERT 0 600");
	says(&a, "update t set id = id % 600 + 1", "UPDATE 600");
	says(&a, "select count(*) from t where up <> id % 600 + 1", "0; SELECT 1");
	says(&a, "update t set id = case id when 4 then 5 else 4 end where id in (4, 5)", "UPDATE 2");
	says(&a, "select id, up from t where id in (3, 4, 5) or up in (4, 5, 6) order by id",
	    "3|5;4|6;5|4; SELECT 3");
	/* So many keys that they go with several statements, each becoming what the one behind it
	 * was; between them rings. */
	says(&a, "delete from t", "DELETE 600");
	says(&a, "insert into t select i, i % 20000 + 1 from generate_series(1, 20000) i", "INSERT 0 20000");
	says(&a, "update t set id = id + 1", "UPDATE 20000");
	says(&a, "select count(*) from t where up <> (id - 1) % 20000 + 2", "0; SELECT 1");
	says(&a,
	    "update t set id = case when id > 15000 then id + 7 when id % 10 = 9 then id - 8 when id % 10 > "
	    "0 "
	    "then id + 1 else id end",
	    "UPDATE 20000");
	says(&a,
	    "select count(*), count(distinct up), sum(up) = sum(id) from t where up in (select id from t)",
	    "20000|20000|t; SELECT 1");
	says(&a, "drop table t", "DROP TABLE");
	test_client_close(&a);
}

/* How many round trips a statement takes, with its commit. */
static unsigned
round_trips(struct test_client *t, const char *text)
{
	char all[400];
	snprintf(all, sizeof all, "explain analyze %s", text);
	const char *line = strstr(ask(t, all), "Fabric in all:");
	const char *trips = line != NULL ? strstr(line, "round trips=") : NULL;
	assert_non_null(trips);
	return (unsigned)strtoul(trips + strlen("round trips="), NULL, 10);
}

/* Keys are looked up together: not one by one, whichever side asks. */
static void
together_(void **state)
{
	(void)state;
	struct test_client a;
	test_client_open(&a, &e, 0);
	says(&a, "create table p (id int primary key, x int unique)", "CREATE TABLE");
	says(&a, "create table bare (id int primary key, p int, x int)", "CREATE TABLE");
	says(&a,
	    "create table c (id int primary key, p int references p on delete cascade, x int references p "
	    "(x))",
	    "CREATE TABLE");
	says(&a, "create index on c (p); create index on c (x)", "CREATE INDEX CREATE INDEX");
	says(&a, "insert into p select i, i from generate_series(1, 2000) i", "INSERT 0 2000");
	says(&a, "insert into bare select -i, i, i from generate_series(1, 10) i", "INSERT 0 10");
	says(&a, "insert into c select -i, i, i from generate_series(1, 10) i", "INSERT 0 10");
	unsigned without = round_trips(&a, "insert into bare select i, i, i from generate_series(1, 200) i");
	unsigned with = round_trips(&a, "insert into c select i, i, i from generate_series(1, 200) i");
	unsigned one = round_trips(&a, "insert into c values (3000, 1, 2)");
	unsigned gone = round_trips(&a, "delete from p where id between 1501 and 1700");
	print_message("200 rows: %u round trips, that refer to 400 keys: %u; one such row: %u; 200 keys that "
		      "no row refers to go: %u\n",
	    without, with, one, gone);
	assert_true(with < without + 100 && one < 20 && gone < 400);
	says(&a, "drop table c, p, bare", "DROP TABLE");
	test_client_close(&a);
}

/* ---- all at once -------------------------------------------------------------------------- */

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { ROUNDS = 150 };
#else
enum { ROUNDS = 600 };
#endif
enum { THREADS = 4, KEYS = 8 };

static atomic_uint bad, made, gone;

static void *
client(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	struct nam_rng rng;
	struct test_client t;
	char text[300];
	test_client_open(&t, &e, me % 2);
	nam_rng_init(&rng, me + 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned key = (unsigned)nam_rng_below(&rng, KEYS), what = (unsigned)nam_rng_below(&rng, 6);
		snprintf(text, sizeof text, "set default_transaction_isolation = '%s'",
		    level[nam_rng_below(&rng, 3)]);
		if (i % 5 == 0)
			ask(&t, text);
		if (what < 3)
			snprintf(text, sizeof text, "insert into c values (%u, %u)", me * ROUNDS + i, key);
		else if (what == 3)
			snprintf(text, sizeof text,
			    "begin; delete from c where p = %u; delete from p where id = %u; commit", key,
			    key);
		else if (what == 4)
			snprintf(text, sizeof text, "insert into p values (%u, %u, 0) on conflict do nothing",
			    key, key);
		else
			snprintf(text, sizeof text, "update p set v = v + 1 where id = %u", key);
		bool ok = attempt(&t, text, "23503 23505", &bad);
		atomic_fetch_add(&made, ok && what < 3);
		atomic_fetch_add(&gone, ok && what == 3);
		if (i % 50 == 0)
			attempt(&t, "delete from p", "23503 23505", &bad);
	}
	test_client_close(&t);
	return NULL;
}

static void
all_at_once(void **state)
{
	(void)state;
	struct test_client a;
	test_client_open(&a, &e, 0);
	for (unsigned way = 0; way < WAYS; way++) {
		pthread_t thread[THREADS];
		atomic_store(&made, 0);
		atomic_store(&gone, 0);
		make(&a, way);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, client, (void *)(uintptr_t)i);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		says(&a, "select count(*) from c where p not in (select id from p)", "0; SELECT 1");
		print_message("%s: %u rows that refer, %u times their key gone\n", way_name[way], made, gone);
		assert_int_equal(bad, 0);
		assert_true(made > ROUNDS / 10 && gone > ROUNDS / 20);
		says(&a, "drop table c, p", "DROP TABLE");
	}
	test_client_close(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two),
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(other_ways),
		cmocka_unit_test(added),
		cmocka_unit_test(long_ways),
		cmocka_unit_test(together_),
		cmocka_unit_test(all_at_once),
	};
	return cmocka_run_group_tests(tests, cluster_setup, cluster_teardown);
}
