/* push_test.c -- conditions over queries in FROM, views and WITH: where they are asked, and that the answer stays the same. */
#include "golden.h"

#define PLAN "explain (costs off) "

static const struct golden groups[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "insert into t values (2000, null, null)", "INSERT 0 1" },
	/* a key of GROUP BY, and what is none */
	{ PLAN "select * from (select a, count(*) as n from t group by a) q where a = 3 and n > 5",
	    "Project;  -> Subquery Scan on q;       Filter: (q.n > 5);    -> Project;      -> HashAggregate; "
	    "     "
	    "  -> Seq Scan on t;             Filter: (t.a = 3); EXPLAIN" },
	{ "select * from (select a, count(*) as n from t group by a) q where a = 3 and n > 5",
	    "3|100; SELECT 1" },
	{ "select * from (select a, count(*) as n from t group by a) q where a is null", "~|1; SELECT 1" },
	{ "select * from (select a + 1 as k, count(*) from t group by a) q where k = 4", "4|100; SELECT 1" },
	{ "select * from (select a, count(*) from t group by a having count(*) < 50) q where a = 3",
	    "SELECT 0" },
	/* without keys there is one row, whatever is asked of it */
	{ "select * from (select count(*) as n, 5 as c from t) q where c = 5", "1001|5; SELECT 1" },
	{ "select * from (select count(*) as n, 5 as c from t) q where c = 6", "SELECT 0" },
	{ "select * from (select a, grouping(a), count(*) from t group by rollup (a)) q where a is null",
	    "~|0|1;~|1|1001; SELECT 2" },
	{ "select distinct n from (select a, id % 2 as n from t group by a, id % 2) q where a = 4",
	    "0; SELECT 1" },
	{ PLAN "select * from (select distinct a, b from t) q where b = 'x7'",
	    "Project;  -> Subquery Scan on q;    -> Distinct;      -> Project;        -> Seq Scan on t;      "
	    "    "
	    "   Filter: (t.b = 'x7'::text); EXPLAIN" },
	{ "select * from (select distinct a, b from t) q where b = 'x7'", "7|x7; SELECT 1" },
	/* the first of each: only what it is the first of */
	{ "select * from (select distinct on (a) a, id from t order by a, id) q where a = 4",
	    "4|4; SELECT 1" },
	{ "select * from (select distinct on (a) a, id from t order by a, id) q where id = 14", "SELECT 0" },
	/* a condition that fails where a group is made of it, as PostgreSQL's does */
	{ "select * from (select a, count(*) from t group by a) q where 10 / a = 5",
	    "ERROR 22012: division by zero" },
};

static const struct golden limits[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "select * from (select id from t order by id limit 3) q where id > 2", "3; SELECT 1" },
	{ "select * from (select id from t order by id offset 998) q where id < 1000", "999; SELECT 1" },
	{ "select * from (select id, a from t order by id fetch first 1 row with ties) q where a = 2",
	    "SELECT 0" },
	{ "select id, r from (select id, a, row_number() over (order by id desc) as r from t) q where a = 3 "
	  "and id > 985",
	    "993|8; SELECT 1" },
	{ PLAN "select * from (select id, a, row_number() over (partition by a order by id) as r from t) q "
	       "where a = 3 and r < 3",
	    "Project;  -> Subquery Scan on q;       Filter: (q.r < 3);    -> Project;      -> WindowAgg;     "
	    "   "
	    "-> Seq Scan on t;             Filter: (t.a = 3); EXPLAIN" },
	{ "select id, r from (select id, a, row_number() over (partition by a order by id) as r from t) q "
	  "where a = 3 and r < 3",
	    "3|1;13|2; SELECT 2" },
	{ "select id, r, c from (select id, a, row_number() over (partition by a order by id) as r, count(*) "
	  "over () as c "
	  "from t) q where a = 3 and r < 3",
	    "3|1|1000;13|2|1000; SELECT 2" },
	{ "select id, r from (select id, a, row_number() over (partition by a, id % 2 order by id) as r from "
	  "t) q "
	  "where a + 1 = 4 and r = 2",
	    "13|2; SELECT 1" },
	{ "select * from (select id, unnest(array[a, a + 1]) as u from t where id < 4) q where u = 2 order "
	  "by id",
	    "1|2;2|2; SELECT 2" },
	{ "select count(*) from (select id, random() as r from t) q where r >= 0 and id = 5", "1; SELECT 1" },
	{ "create sequence s", "CREATE SEQUENCE" },
	{ "select id from (select id, nextval('s') as n from t) q where id = 5", "5; SELECT 1" },
	{ "select nextval('s')", "1001; SELECT 1" },
};

static const struct golden sets[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "create table u (id int primary key, a bigint, b text)", "CREATE TABLE" },
	{ "insert into u values (1, 1, 'x1'), (2, 7, 'x2'), (3, null, null)", "INSERT 0 3" },
	/* a query that can give nothing is not read */
	{ PLAN "select * from (select 'p' as k, id from t union all select 'q', id from u) q where k = 'q' "
	       "and id = 2",
	    "Project;  -> Subquery Scan on q;    -> Append;      -> Project;        -> Result;             "
	    "One-Time "
	    "Filter: false;      -> Project;        -> Key Lookup on u;             Key Cond: (u.id = 2); "
	    "EXPLAIN" },
	{ "select * from (select 'p' as k, id from t union all select 'q', id from u) q where k = 'q' and id "
	  "= 2",
	    "q|2; SELECT 1" },
	{ PLAN "select * from (select id, b from t intersect select id, b from u) q where id = 1",
	    "Project;  -> Subquery Scan on q;    -> Intersect;      -> Project;        -> Key Lookup on t;   "
	    "     "
	    "     Key Cond: (t.id = 1);      -> Project;        -> Key Lookup on u;             Key Cond: "
	    "(u.id = "
	    "1); EXPLAIN" },
	{ "select * from (select id, b from t intersect select id, b from u) q where id = 1",
	    "1|x1; SELECT 1" },
	{ "select * from (select a from t union select id from u) q where a < 3 order by a",
	    "0;1;2; SELECT 3" },
	{ "select count(*) from (select a from t intersect all select id from u) q where a = 1",
	    "1; SELECT 1" },
	{ "select * from (select a from t except select id from u) q where a < 5 order by a",
	    "0;4; SELECT 2" },
	{ "select count(*) from (select a from t except all select id from u) q where a = 3",
	    "99; SELECT 1" },
	/* what would fail on a row that EXCEPT takes away is asked above it */
	{ "select * from (select id - 1 as a from u except select 0) q where 4 / a = 2", "2; SELECT 1" },
	/* another type: above */
	{ "select * from (select a from t where id < 3 union all select a from u) q where a = 1",
	    "1;1; SELECT 2" },
	{ "select * from (select a from u union all select 1.5) q where a = 1.5", "1.5; SELECT 1" },
	{ "select * from (select id from t union all select 5 limit 3) q where id = 5", "SELECT 0" },
	{ "select * from (values (1, 'a'), (2, 'b'), (null, 'c')) q (x, y) where x = 2", "2|b; SELECT 1" },
	{ PLAN "select * from t where false", "Project;  -> Result;       One-Time Filter: false; EXPLAIN" },
	{ "select count(*), max(a) from t where null and a = 1", "0|~; SELECT 1" },
	{ "update t set a = 1 where false", "UPDATE 0" },
	{ "delete from t where 1 = 2", "DELETE 0" },
	{ "select id from t where a = 3 and false for update", "SELECT 0" },
};

static void
of_groups(void **state)
{
	(void)state;
	golden_all(groups);
}

static void
of_limits(void **state)
{
	(void)state;
	golden_all(limits);
}

static void
of_sets(void **state)
{
	(void)state;
	golden_all(sets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(of_groups), cmocka_unit_test(of_limits),
		cmocka_unit_test(of_sets) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
