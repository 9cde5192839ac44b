/*
 * semijoin_test.c -- subqueries of WHERE as joins: when they become one, where it stands, NULLs,
 * errors of rows that the query does not need.
 */
#include "golden.h"

#define PLAN "explain (costs off) "

static const struct golden statements[] = {
	{ "create table o (id int primary key, k int, v int)", "CREATE TABLE" },
	{ "create table l (id int primary key, k int, v int, w int)", "CREATE TABLE" },
	{ "create table few (id int primary key, k int)", "CREATE TABLE" },
	{ "create table none (k int, v int)", "CREATE TABLE" },
	{ "insert into o select i, i % 50, i % 7 from generate_series(1, 2000) i", "INSERT 0 2000" },
	{ "insert into l select i, i % 40, i % 3, i % 11 from generate_series(1, 3000) i", "INSERT 0 3000" },
	{ "insert into few values (1, 1), (2, 2), (3, null)", "INSERT 0 3" },
	{ "insert into o values (-1, null, 1), (-2, 1, null), (-3, null, null)", "INSERT 0 3" },
	{ "insert into l values (-1, null, 1, 1), (-2, 1, null, 1), (-3, 77, 0, null)", "INSERT 0 3" },
	{ "analyze", "ANALYZE" },

	/* an equality alone; with more, which pairs are asked */
	{ PLAN "select 1 from o where exists (select 1 from l where l.k = o.k)",
	    "Project;  -> Hash Semi Join;       Hash Cond: (o.k = l.k);    -> Seq Scan on o;    -> Project;  "
	    "    -> "
	    "Seq Scan on l; EXPLAIN" },
	{ PLAN
	    "select 1 from o where not exists (select 1 from l where l.k = o.k and l.v <> o.v and l.w > 3)",
	    "Project;  -> Hash Anti Join;       Hash Cond: (o.k = l.k);       Join Filter: (l.v <> o.v);    "
	    "-> Seq "
	    "Scan on o;    -> Project;      -> Seq Scan on l;           Filter: (l.w > 3); EXPLAIN" },
	{ PLAN "select 1 from o where o.k in (select l.k from l where l.v = o.v + 1)",
	    "Project;  -> Hash Semi Join;       Hash Cond: ((o.k = l.k) AND ((o.v + 1) = l.v));    -> Seq "
	    "Scan on "
	    "o;    -> Project;      -> Seq Scan on l; EXPLAIN" },
	{ "select count(*), sum(id) from o where exists (select 1 from l where l.k = o.k)",
	    "1601|1593198; SELECT 1" },
	{ "select count(*) from o where not exists (select 1 from l where l.k = o.k)", "402; SELECT 1" },

	{ PLAN "select 1 from o where exists (select 1 from l where l.k = o.k and l.v > o.v limit 1)",
	    "Project;  -> Hash Semi Join;       Hash Cond: (o.k = l.k);       Join Filter: (l.v > o.v);    "
	    "-> Seq Scan on o;    -> Project;      -> Seq Scan on l; EXPLAIN" },
	{ "select count(*) from o where exists (select 1 from l where l.k = o.k and l.v > o.v limit 1)",
	    "455; SELECT 1" },
	{ "select count(*) from o where exists (select 1 from l where l.k = o.k limit 0)", "0; SELECT 1" },
	{ "select count(*) from o where exists (select 1 from l where l.k = o.k order by l.v offset 74)",
	    "1601; SELECT 1" },

	/* NULL equals nothing, and differs from nothing */
	{ "select id from o where id < 0 and exists (select 1 from l where l.k = o.k) order by 1",
	    "-2; SELECT 1" },
	{ "select id from o where id < 0 and not exists (select 1 from l where l.k = o.k and l.v <> o.v) "
	  "order by 1",
	    "-3;-2;-1; SELECT 3" },
	{ "select id from few where exists (select 1 from l where l.k = few.k and l.v + few.id is null)",
	    "1; SELECT 1" },
	{ "select count(*) from few where k not in (select k from none)", "3; SELECT 1" },
	{ "select count(*) from few where k not in (select k from l where k is null)", "0; SELECT 1" },
	{ "select count(*) from few where not exists (select 1 from none where none.k = few.k and none.v < "
	  "few.id)",
	    "3; SELECT 1" },
	{ "select count(*) from few where exists (select 1 from none where none.k = few.k and none.v < "
	  "few.id)",
	    "0; SELECT 1" },

	/* duplicates outside stay, duplicates inside make none */
	{ "select count(*) from o a, o b where a.k = b.id and exists (select 1 from l where l.k = b.k and "
	  "l.v < a.v)",
	    "1338; SELECT 1" },

	/* an empty group counts 0, and sums to nothing */
	{ "select count(*) from few where (select count(*) from none where none.k = few.k) = 0",
	    "3; SELECT 1" },
	{ "select count(*) from few where (select sum(v) from none where none.k = few.k) is null",
	    "3; SELECT 1" },
	{ "select count(*) from o where (select count(*) from l where l.k = o.k) = 0", "402; SELECT 1" },

	/* where few rows come by: below the join with few's, above a selective scan */
	{ PLAN "select 1 from o, l where o.id = l.id and exists (select 1 from few where few.k = o.k and "
	       "few.id <> "
	       "o.v)",
	    "Project;  -> Key Lookup on l;       Key Cond: (l.id = o.id);    -> Seq Scan on o;         "
	    "Filter: (SubPlan 1);  SubPlan 1 (hashed);    -> Project;      -> Seq Scan on few;           "
	    "Filter: ((few.k = (outer value 1)) AND (few.id <> (outer value 2)));    -> Project;      -> Seq "
	    "Scan on few; EXPLAIN" },
	{ PLAN "select 1 from o where id = 5 and exists (select 1 from l where l.k = o.k and l.v <> o.v)",
	    "Project;  -> Key Lookup on o;       Key Cond: (o.id = 5);       Filter: (SubPlan 1);  SubPlan 1 "
	    "(per row, then hashed);    -> Project;      -> Seq Scan on l;           Filter: ((l.k = (outer "
	    "value 1)) AND (l.v <> (outer value 2)));    -> Project;      -> Seq Scan on l; EXPLAIN" },
	/* the sides of an outer join are no place for it */
	{ PLAN
	    "select 1 from o left join few on few.id = o.id where exists (select 1 from l where l.k = few.k)",
	    "Project;  -> Hash Semi Join;       Hash Cond: (few.k = l.k);    -> Hash Left Join;         Hash "
	    "Cond: (o.id = few.id);      -> Seq Scan on o;      -> Seq Scan on few;    -> Project;      -> "
	    "Seq Scan on l; EXPLAIN" },

	/* an error of a row that the query does not need */
	{ "create table z (k int, d int)", "CREATE TABLE" },
	{ "insert into z values (1, 1), (2, 1), (9, 0)", "INSERT 0 3" },
	{ "select count(*) from few where exists (select 1 from z where z.k = few.k and 1 / z.d = 1)",
	    "2; SELECT 1" },
	{ "select count(*) from few where exists (select 1 from z where z.k = few.k and few.id / z.d > 0)",
	    "2; SELECT 1" },
	{ "insert into few values (9, 9)", "INSERT 0 1" },
	{ "select count(*) from few where exists (select 1 from z where z.k = few.k and few.id / z.d > 0)",
	    "ERROR 22012: division by zero" },
	{ "select count(*) from few where id < 9 and exists (select 1 from z where z.k = few.k and few.id / "
	  "z.d > 0)",
	    "2; SELECT 1" },
	{ "delete from few where id = 9", "DELETE 1" },

	/* a change sees the rows as they were */
	{ "begin", "BEGIN" },
	{ PLAN "insert into few select o.id + 9000, o.k from o where exists (select 1 from l where l.k = o.k "
	       "and l.v > o.v)",
	    "Insert on few;  -> Project;    -> Hash Semi Join;         Hash Cond: (o.k = l.k);         Join "
	    "Filter: (l.v > o.v);      -> Seq Scan on o;      -> Project;        -> Seq Scan on l; EXPLAIN" },
	{ "insert into few select o.id + 9000, o.k from o where exists (select 1 from l where l.k = o.k and "
	  "l.v > o.v)",
	    "INSERT 0 455" },
	{ "insert into few select o.id + 19000, o.k from o where not exists (select 1 from few where few.k = "
	  "o.k and few.id > 9)",
	    "INSERT 0 402" },
	{ "select count(*), sum(id) from few", "860|12594294; SELECT 1" },
	{ "delete from few where id > 9", "DELETE 857" },
	{ "update o set v = -1 where exists (select 1 from few where few.k = o.k and few.id <> o.v)",
	    "UPDATE 68" },
	{ "select count(*) from o where v = -1", "68; SELECT 1" },
	{ "delete from o where not exists (select 1 from l where l.k = o.k and l.v <> o.v)", "DELETE 403" },
	{ "select count(*) from o", "1600; SELECT 1" },
	{ "rollback", "ROLLBACK" },

	/* a function that answers otherwise each time is asked by each outer row */
	{ "create sequence q", "CREATE SEQUENCE" },
	{ "select count(*) from few where exists (select 1 from l where l.k = few.k and l.id < 3 and "
	  "nextval('q') > 0)",
	    "2; SELECT 1" },
	{ "select currval('q')", "2; SELECT 1" },
	{ PLAN "select 1 from few where (select max(v + nextval('q')) from l where l.k = few.k) > 0",
	    "Project;  -> Seq Scan on few;       Filter: ((SubPlan 1) > 0);  SubPlan 1 (per row);    -> "
	    "Project;      -> Aggregate;        -> Seq Scan on l;             Filter: (l.k = (outer value "
	    "1)); EXPLAIN" },

	/* inside of each other, both sides of a UNION, prepared and run again */
	{ "select count(*) from o where exists (select 1 from l where l.k = o.k and l.v <> o.v and not "
	  "exists (select 1 "
	  "from few where few.k = l.v and few.id < o.v))",
	    "1600; SELECT 1" },
	{ "prepare p (int) as select count(*) from o where exists (select 1 from l where l.k = o.k and l.w > "
	  "o.v + $1)",
	    "PREPARE" },
	{ "execute p (0)", "1600; SELECT 1" },
	{ "execute p (5)", "1142; SELECT 1" },
	{ "execute p (0)", "1600; SELECT 1" },

	/* ORs: what all branches say */
	{ PLAN "select 1 from o, l where (o.id = l.id and o.v = 1 and l.w < 3) or (o.v = 2 and l.id = o.id)",
	    "Project;  -> Key Lookup on l;       Key Cond: (l.id = o.id);       Filter: (((o.v = 1) AND (l.w "
	    "< 3)) OR (o.v = 2));    -> Seq Scan on o;         Filter: ((o.v = 1) OR (o.v = 2)); EXPLAIN" },
	{ PLAN "select 1 from o, l where (o.id = l.id and o.v = 1) or o.id = l.id",
	    "Project;  -> Hash Join;       Hash Cond: (l.id = o.id);       Filter: (((o.id = l.id) AND (o.v "
	    "= 1)) OR (o.id = l.id));    -> Seq Scan on l;    -> Seq Scan on o; EXPLAIN" },
	{ "select count(*) from o, l where (o.id = l.id and o.v = 1 and l.w < 3) or (o.v = 2 and l.id = "
	  "o.id)",
	    "365; SELECT 1" },
	{ "select count(*) from o where (v = 1 and k > 3 and id / (id - 9) >= 0) or (v = 1 and k < 3)",
	    "280; SELECT 1" },
	{ "select 1 from o where (v = 1 and k > 3) or (v = 1 and nosuch = 3)",
	    "ERROR 42703: column \"nosuch\" does not exist" },
	{ "select 1 from o where (v = 1) or (v = 1 and nosuch = 3)",
	    "ERROR 42703: column \"nosuch\" does not exist" },
	/* a branch's part that may fail is asked where it was written */
	{ "select count(*) from few, z where (few.k = z.k and few.id = 1 and 1 / z.d = 1) or (few.k = z.k "
	  "and few.id = 2)",
	    "2; SELECT 1" },

	/* LATERAL joins what it uses first, and the others by hash */
	{ PLAN "select 1 from o a, o b join lateral (values (a.id)) s(x) on b.id = s.x",
	    "Project;  -> Hash Join;       Hash Cond: (s.column1 = b.id);    -> Nested Loop on s;      -> "
	    "Seq Scan on o a;      -> Values;    -> Seq Scan on o b; EXPLAIN" },
	{ "select count(*), sum(b.k) from o a, o b join lateral (values (a.id)) s(x) on b.id = s.x",
	    "2003|49001; SELECT 1" },
	{ "select count(*) from o a, o b, few f, lateral (select a.id + f.id as y) s where b.id = s.y and "
	  "f.k < b.v",
	    "2572; SELECT 1" },
};

static void
all(void **state)
{
	(void)state;
	golden_all(statements);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all) };
	return cmocka_run_group_tests_name("semijoin", tests, NULL, NULL);
}
