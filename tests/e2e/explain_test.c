/* explain_test.c -- EXPLAIN ANALYZE: it runs the statement, counts what every operator gave, and shows nothing of the answer. */
#include "golden.h"

#include <ctype.h>

#define QUIET "explain (analyze, timing off, summary off) "

static const struct golden all[] = {
	{ "create table w (id int primary key, g text, v int)", "CREATE TABLE" },
	{ "insert into w values (1,'a',10),(2,'a',20),(3,'b',20),(4,'b',null),(5,'a',10),(6,null,7)",
	    "INSERT 0 6" },
	{ "select count(*) from w", "6; SELECT 1" },
	{ QUIET "select g, sum(v), rank() over (order by sum(v)) from w where id > 1 group by g order by 1 "
		"limit 2",
	    "Limit  (rows=2) (actual rows=2 loops=1);  -> Top-N Sort  (rows=2) (actual rows=3 loops=1);    "
	    "-> "
	    "Project  (rows=2) (actual rows=3 loops=1);      -> WindowAgg  (rows=2) (actual rows=3 loops=1); "
	    "     "
	    "  -> HashAggregate  (rows=2) (actual rows=3 loops=1);          -> Seq Scan on w  (rows=2) "
	    "(actual "
	    "rows=5 loops=1)  Filter: yes; EXPLAIN" },
	{ QUIET "select a.id, (select max(b.v) from w b where b.id = a.id) from w a where a.id in (1,2,77)",
	    "Project  (rows=3) (actual rows=2 loops=1);  -> Key Lookup on w  (rows=3) (actual rows=2 "
	    "loops=1);  "
	    "SubPlan (per row, then hashed);    -> Project  (rows=1) (actual rows=2 loops=2);      -> "
	    "Aggregate  "
	    "(rows=1) (actual rows=2 loops=2);        -> Key Lookup on w  (rows=1) (actual rows=2 loops=2);  "
	    "  -> "
	    "Project  (rows=3) (never executed);      -> Project  (rows=3) (never executed);        -> "
	    "HashAggregate  (rows=3) (never executed);          -> Seq Scan on w  (rows=7) (never executed); "
	    "EXPLAIN" },
	{ QUIET "select * from w where id = 99", "Project  (rows=1) (actual rows=0 loops=1);  -> Key Lookup "
						 "on w  (rows=1) (actual rows=0 loops=1); "
						 "EXPLAIN" },
	{ QUIET "insert into w (id) values (100), (101) returning id", "Insert on w; EXPLAIN" },
	{ "select count(*) from w", "8; SELECT 1" },
	{ QUIET "update w set v = 1 where id = 100",
	    "Update on w;  -> Key Lookup on w  (rows=1) (actual rows=1 loops=1); EXPLAIN" },
	{ "select v from w where id = 100", "1; SELECT 1" },
	{ "begin; " QUIET "delete from w where id in (100, 101); rollback",
	    "BEGINDelete on w;  -> Key Lookup on w  (rows=2) (actual rows=2 loops=1); EXPLAIN ROLLBACK" },
	{ "select count(*) from w", "8; SELECT 1" },
	{ QUIET "insert into w values (1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"w_pkey\"" },
	{ QUIET "select 1/0", "ERROR 22012: division by zero" },
	{ "explain (analyze off) select 1", "Project  (rows=1);  -> Result  (rows=1); EXPLAIN" },
	{ "explain (analyze 0, verbose, costs on) select 1",
	    "Project  (rows=1);  -> Result  (rows=1); EXPLAIN" },
	{ "explain (timing) select 1", "ERROR 22023: EXPLAIN option TIMING requires ANALYZE" },
	{ "explain (analyze maybe) select 1", "ERROR 42601: analyze requires a Boolean value" },
	{ "explain (analyze 2) select 1", "ERROR 42601: analyze requires a Boolean value" },
	{ "explain (analyze, buffers) select 1", "ERROR 0A000: this option of EXPLAIN is not supported yet" },
	{ "explain analyze select $1", "ERROR 42P02: there is no parameter $1" },
};

static void
answers(void **state)
{
	(void)state;
	struct embedded e;
	struct teller t;
	embedded_open(&e, 256u << 20, 1);
	teller_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, all, sizeof all / sizeof *all);
	assert_int_equal(wrong, 0);
	/* The whole form: times and the fabric. Numbers become N. */
	char shape[1000];
	size_t n = 0;
	for (const char *p = ask(&t, "explain analyze select v from w where id = 1");
	     *p && n + 1 < sizeof shape; p++) {
		bool digit = isdigit((unsigned char)*p) || *p == '.';
		if (!digit)
			shape[n++] = *p;
		else if (n == 0 || shape[n - 1] != 'N')
			shape[n++] = 'N';
	}
	shape[n] = 0;
	assert_string_equal(shape, "Project  (rows=N) (actual time=N rows=N loops=N);  -> Key Lookup on w  "
				   "(rows=N) (actual time=N rows=N "
				   "loops=N);Planning Time: N ms;Execution Time: N ms;Fabric: N verbs, N "
				   "round trips, N bytes out, N bytes "
				   "in; EXPLAIN");
	teller_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
