/*
 * from_test.c -- what may stand in FROM besides tables, and queries made of queries: rows with '|'
 * and ';', ~ for NULL, then the command's tag; or the SQLSTATE and message. Set operations,
 * recursion and series are as PostgreSQL 15 answers them; derived tables and plain WITH were worked
 * out by hand.
 */
#include "golden.h"

#define TABLES                                                                                               \
	{ "create table a (id int primary key, v text)", "CREATE TABLE" },                                   \
	    { "create table e (x int)", "CREATE TABLE" },                                                    \
	{                                                                                                    \
		"insert into a values (1, 'one'), (2, 'two'), (3, null)", "INSERT 0 3"                       \
	}

static const struct golden derived[] = {
	TABLES,
	{ "select * from (select 1) x", "1; SELECT 1" },
	{ "select x.c, y.b from (select id, v from a) as x(b, c), (values (1, 'p'), (2, 'q')) y(a, b) "
	  "where x.b = y.a order by 1",
	    "one|p;two|q; SELECT 2" },
	{ "select * from (values (1, null), (2, 'a')) v order by 1 desc", "2|a;1|~; SELECT 2" },
	{ "select column2 from (values (1, null), (2, 'a')) v where column1 = 2", "a; SELECT 1" },
	{ "select count(*), max(q) from (select id * 2 as q from a where id > 1 limit 10) z where q > 4",
	    "1|6; SELECT 1" },
	{ "select a.id, s.n from a join (select v, count(*) n from a group by v) s on s.v = a.v order by 1",
	    "1|1;2|1; SELECT 2" },
	{ "select a.id, s.n from a join (select id, count(*) n from a group by id) s using (id) order by 1",
	    "1|1;2|1;3|1; SELECT 3" },
	{ "select * from a natural join (select 2 as id) s", "2|two; SELECT 1" },
	{ "select * from (select * from (select * from a) b) c where id = 2", "2|two; SELECT 1" },
	{ "select * from (select 1 as a, 2 as a) x", "1|2; SELECT 1" },
	{ "select a from (select 1 as a, 2 as a) x", "ERROR 42702: column reference \"a\" is ambiguous" },
	{ "select * from (select 1) x(a, b)",
	    "ERROR 42P10: table \"x\" has 1 columns available but 2 columns specified" },
	{ "select x.z from (select 1) x(a)", "ERROR 42703: column x.z does not exist" },
	{ "select * from (select null) x, (select '5') y", "~|5; SELECT 1" },
	{ "select id from a, (select id from a) q", "ERROR 42702: column reference \"id\" is ambiguous" },
	{ "select * from (select 1) x, (select 2) x",
	    "ERROR 42712: table name \"x\" specified more than once" },
	{ "select * from (select id from a order by id desc limit 2) x order by id", "2;3; SELECT 2" },
	{ "select * from (select 1)", "ERROR 42601: subquery in FROM must have an alias" },
	{ "select count(*) from (select from a) x", "3; SELECT 1" },
	{ "select * from (select x from e) q", "SELECT 0" },
	{ "select count(*), sum(x) from (select x from e where x > 1) q", "0|~; SELECT 1" },
	{ "select * from (select sum(id) from a) q(s) where s > 100", "SELECT 0" },
	{ "select s + 1 from (select sum(id) from a) q(s)", "7; SELECT 1" },
	{ "select * from (select 1 / 0) q", "ERROR 22012: division by zero" },
	{ "select count(*) from (select id from a) p, (select id from a) q where p.id < q.id",
	    "3; SELECT 1" },
	{ "select v, count(*) from (select v from a) s group by v order by v", "one|1;two|1;~|1; SELECT 3" },
	{ "select v from (select v, id from a) s group by id",
	    "ERROR 42803: column \"s.v\" must appear in the GROUP BY clause or be used in an aggregate "
	    "function" },
	{ "insert into a select x + 10, 'n' from (values (1), (2)) t(x)", "INSERT 0 2" },
	{ "select count(*) from a", "5; SELECT 1" },
};

static const struct golden with[] = {
	TABLES,
	{ "with x as (select 1) select * from x", "1; SELECT 1" },
	{ "with x(p, q) as (select * from a), y as (select p from x where p > 1) select * from y, x where "
	  "x.p "
	  "= y.p order by 1",
	    "2|2|two;3|3|~; SELECT 2" },
	{ "with x as (select * from a) select count(*) from x p, x q", "9; SELECT 1" },
	{ "with x as (select * from e) select count(*) from x p, x q", "0; SELECT 1" },
	{ "with x as (select 1 / 0) select 2", "2; SELECT 1" },
	{ "with x as (select 1 / 0 as z) select p.z from x p, x q", "ERROR 22012: division by zero" },
	{ "with x as (select nope) select 2", "ERROR 42703: column \"nope\" does not exist" },
	{ "with x as (select 1), x as (select 2) select 3",
	    "ERROR 42712: WITH query name \"x\" specified more than once" },
	{ "with x(a, b) as (select 1) select 3",
	    "ERROR 42P10: WITH query \"x\" has 1 columns available but 2 columns specified" },
	{ "with a as (select 7 as id) select * from a", "7; SELECT 1" },
	{ "with a as (select 7 as id) select id from public.a order by 1", "1;2;3; SELECT 3" },
	{ "with a as (select * from a) select count(*) from a", "3; SELECT 1" },
	{ "with x as (select 1), y as (select * from z), z as (select 2) select * from y",
	    "ERROR 42P01: relation \"z\" does not exist" },
	{ "select * from (with x as (select 5 as f) select f, f + 1 from x) z", "5|6; SELECT 1" },
	{ "with x as (select 1 as q) select * from (with x as (select 2 as q) select * from x) y, x",
	    "2|1; SELECT 1" },
	{ "with x as (select 1 as q) select * from (select * from x) y, x", "1|1; SELECT 1" },
	{ "with x as materialized (select 3 as e) select e from x", "3; SELECT 1" },
	{ "with x as not materialized (select 3 as e) select p.e from x p, x q", "3; SELECT 1" },
	{ "with x as (select id from a order by id desc limit 1) select * from x, x y", "3|3; SELECT 1" },
	{ "with x as (values (10, 't'), (11, 'e')) insert into a select * from x", "INSERT 0 2" },
	{ "with a as (select 20, 'zz') insert into a select * from a", "INSERT 0 1" },
	{ "insert into a with q as (select 30) select *, 'w' from q", "INSERT 0 1" },
	{ "with q as (select 40 as n) insert into a select p.n + q.n, 'v' from q p, q returning *",
	    "80|v; INSERT 0 1" },
	{ "with q as (select 1) update a set v = 'upd' where id = 1 returning *", "1|upd; UPDATE 1" },
	{ "with a as (select 1) delete from a where id = 1", "DELETE 1" },
	{ "select * from a order by 1", "2|two;3|~;10|t;11|e;20|zz;30|w;80|v; SELECT 7" },
	{ "with x as (insert into a values (5) returning *) select * from x", "5|~; SELECT 1" },
	{ "select * from (with x as (insert into a values (6) returning *) select * from x) y",
	    "ERROR 0A000: WITH clause containing a data-modifying statement must be at the top level" },
};

static const struct golden sets[] = {
	TABLES,
	{ "select 1 union select 2 order by 1", "1;2; SELECT 2" },
	{ "select 1 as q union all select 1 union all select 2 order by q desc", "2;1;1; SELECT 3" },
	{ "select 1 union all select 1 union select 1", "1; SELECT 1" },
	{ "select 1 union select 1 union all select 1", "1;1; SELECT 2" },
	{ "select id, v from a union select id, null from a order by 1, 2",
	    "1|one;1|~;2|two;2|~;3|~; SELECT 5" },
	{ "select v from a union select null order by 1", "one;two;~; SELECT 3" },
	{ "select null union select 1", "~;1; SELECT 2" },
	{ "select 1 union select null order by 1", "1;~; SELECT 2" },
	{ "select null union select null union select 1",
	    "ERROR 42804: UNION types text and integer cannot be matched" },
	{ "select '1' union select 2 order by 1", "1;2; SELECT 2" },
	{ "select 'x' union select 2", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select 1 union select 2.5 order by 1", "1;2.5; SELECT 2" },
	{ "select 1 union select 2.5 union select 'a'::text",
	    "ERROR 42804: UNION types numeric and text cannot be matched" },
	{ "select id from a union select v from a",
	    "ERROR 42804: UNION types integer and text cannot be matched" },
	{ "select id, v from a union select id from a",
	    "ERROR 42601: each UNION query must have the same number of columns" },
	{ "select id from a except select 2 order by 1", "1;3; SELECT 2" },
	{ "select id from a intersect select 2", "2; SELECT 1" },
	{ "select 1 union all select 1 intersect select 1", "1;1; SELECT 2" },
	{ "(select 1 union all select 1) intersect all select 1", "1; SELECT 1" },
	{ "(values (1),(1),(1),(2)) except all (values (1),(3)) order by 1", "1;1;2; SELECT 3" },
	{ "(values (1),(1),(1),(2)) intersect all (values (1),(1),(3)) order by 1", "1;1; SELECT 2" },
	{ "(values (1),(1),(null),(null)) except (values (3)) order by 1", "1;~; SELECT 2" },
	{ "(values (1),(1),(null),(null)) intersect (values (1),(null)) order by 1", "1;~; SELECT 2" },
	{ "select x from e union select x from e", "SELECT 0" },
	{ "select x from e except select 1", "SELECT 0" },
	{ "select 1 except select x from e", "1; SELECT 1" },
	{ "select id as n from a union select 9 order by n desc limit 2 offset 1", "3;2; SELECT 2" },
	{ "(select id from a order by id desc limit 1) union all (select id from a order by id limit 1)",
	    "3;1; SELECT 2" },
	{ "select id from a union select 5 order by id + 1",
	    "ERROR 0A000: invalid UNION/INTERSECT/EXCEPT ORDER BY clause" },
	{ "select id from a union select 5 order by nope", "ERROR 42703: column \"nope\" does not exist" },
	{ "select id from a union select 5 order by a.id",
	    "ERROR 42P01: missing FROM-clause entry for table \"a\"" },
	{ "select id as a, id as a from a union select 1, 2 order by a",
	    "ERROR 42702: ORDER BY \"a\" is ambiguous" },
	{ "select id from a union select 5 order by 3",
	    "ERROR 42P10: ORDER BY position 3 is not in select list" },
	{ "select * from (select id from a union all select 7) u where id > 2 order by 1", "3;7; SELECT 2" },
	{ "with u as (select 1 as k union select 2) select count(*), sum(p.k) from u p, u q",
	    "4|6; SELECT 1" },
	{ "insert into e select 1 union all select 2", "INSERT 0 2" },
	{ "select x::bigint from e union all select 3 order by 1", "1;2;3; SELECT 3" },
	{ "select 1::numeric(5,2) union all select 2::numeric(5,2)", "1.00;2.00; SELECT 2" },
	{ "select 1.5 union all select 1::double precision order by 1", "1;1.5; SELECT 2" },
	{ "select date '2024-01-01' union select '2023-05-05' order by 1",
	    "2023-05-05;2024-01-01; SELECT 2" },
	{ "select distinct 'a' union select 'b' order by 1", "a;b; SELECT 2" },
	{ "select count(*) from a union all select count(*) from e order by 1", "2;3; SELECT 2" },
	{ "select id from a union all select id from a group by id having id > 2 order by 1",
	    "1;2;3;3; SELECT 4" },
	{ "select 1 union select 1/0", "ERROR 22012: division by zero" },
	{ "select true union select 1", "ERROR 42804: UNION types boolean and integer cannot be matched" },
	{ "select 1 limit 1 union select 2", "ERROR 42601: syntax error at or near \"union\"" },
	{ "table a union all select 4, 'four' order by 1", "1|one;2|two;3|~;4|four; SELECT 4" },
	{ "select id from a where id = 1 union (select id from a where id = 2 except select 2) order by 1",
	    "1; SELECT 1" },
	{ "select 1 as x union select nope from a", "ERROR 42703: column \"nope\" does not exist" },
	{ "select 1 union select * from a",
	    "ERROR 42601: each UNION query must have the same number of columns" },
	{ "select sum(s) from (select 1 s union all select 2 union all select 3) t", "6; SELECT 1" },
	{ "select 1 union select 2 intersect select 3 order by 1", "1; SELECT 1" },
	{ "explain (costs off) select 1 union all select 2",
	    "Append;  -> Project;    -> Result;  -> Project;    -> Result; EXPLAIN" },
};

static const struct golden series[] = {
	TABLES,
	{ "select * from generate_series(1, 3)", "1;2;3; SELECT 3" },
	{ "select g from generate_series(1, 3) g where g > 1", "2;3; SELECT 2" },
	{ "select x.y from generate_series(5, 1, -2) as x(y)", "5;3;1; SELECT 3" },
	{ "select count(*), sum(g), min(g), max(g) from generate_series(1, 100000) g",
	    "100000|5000050000|1|100000; SELECT 1" },
	{ "select * from generate_series(1, 3) with ordinality", "1|1;2|2;3|3; SELECT 3" },
	{ "select * from generate_series(10, 30, 10) with ordinality as t(a, b) where b = 2",
	    "20|2; SELECT 1" },
	{ "select * from generate_series(1, 0)", "SELECT 0" },
	{ "select * from generate_series(1, null)", "SELECT 0" },
	{ "select * from generate_series(1, 2, 0)", "ERROR 22023: step size cannot equal zero" },
	{ "select * from generate_series('a'::text, 'b')",
	    "ERROR 42883: function generate_series(text, unknown) does not exist" },
	{ "select * from generate_series(1)",
	    "ERROR 42883: function generate_series(integer) does not exist" },
	{ "select max(g) from generate_series(9223372036854775806, 9223372036854775807) g",
	    "9223372036854775807; SELECT 1" },
	{ "select a.id, g from a, generate_series(1, 2) g order by 1, 2",
	    "1|1;1|2;2|1;2|2;3|1;3|2; SELECT 6" },
	{ "select a.id, g.g from a left join generate_series(2, 9) g on g.g = a.id order by 1",
	    "1|~;2|2;3|3; SELECT 3" },
	{ "select generate_series(1, 3)", "1;2;3; SELECT 3" },
	{ "select generate_series(1, 2) as n, id from a order by 1, 2", "1|1;1|2;1|3;2|1;2|2;2|3; SELECT 6" },
	{ "insert into e select generate_series(1, 5000)", "INSERT 0 5000" },
	{ "select count(*), sum(x) from e", "5000|12502500; SELECT 1" },
	{ "insert into a select g, 'n' || g from generate_series(100, 102) g", "INSERT 0 3" },
	{ "select * from a where id >= 100 order by id", "100|n100;101|n101;102|n102; SELECT 3" },
	{ "select generate_series(1, 3) union all select 9 order by 1 desc", "9;3;2;1; SELECT 4" },
	{ "select g from generate_series(1, 10) g order by g desc limit 2", "10;9; SELECT 2" },
	{ "select g % 3 as m, count(*) from generate_series(1, 10) g group by m order by 1",
	    "0|3;1|4;2|3; SELECT 3" },
	{ "select (select sum(g) from generate_series(1, a.id) g) from a where id < 5 order by 1",
	    "1;3;6; SELECT 3" },
};

static const struct golden inside[] = {
	TABLES,
	{ "with c as (select max(id) m from a) select id from a where id = (select m from c) ",
	    "3; SELECT 1" },
	{ "with c as (select id, count(*) n from a group by id) select a.id, (select n + a.id from c where "
	  "c.id = a.id) from a order by 1",
	    "1|2;2|3;3|4; SELECT 3" },
	{ "select id, (select count(*) from (select 1 union all select 2 union select a.id) u) from a order "
	  "by 1",
	    "1|2;2|2;3|3; SELECT 3" },
	{ "select id from a where id in (select 1 union select 3 union all select null) order by 1",
	    "1;3; SELECT 2" },
	{ "select id from a where exists (select 1 where a.id = 1 union all select 2 where a.id = 3) order "
	  "by 1",
	    "1;3; SELECT 2" },
	{ "select id, (with w as (select a.id * 10 as z) select p.z + q.z from w p, w q) from a order by 1",
	    "1|20;2|40;3|60; SELECT 3" },
	{ "select id, (select s from (select a.id + 1 as s) d) from a order by 1", "1|2;2|3;3|4; SELECT 3" },
	{ "select id from a where id in (select id from a except select 2) order by 1", "1;3; SELECT 2" },
	{ "select (select 1 union select 2)",
	    "ERROR 21000: more than one row returned by a subquery used as an expression" },
	{ "with c as (select 1 as one) insert into e select one from c where one in (select one from c)",
	    "INSERT 0 1" },
	{ "select x from e", "1; SELECT 1" },
};

static const struct golden recursive[] = {
	TABLES,
	{ "create table t (id int primary key, up int, name text)", "CREATE TABLE" },
	{ "insert into t values (1,null,'root'),(2,1,'l'),(3,1,'r'),(4,2,'ll'),(5,4,'lll')", "INSERT 0 5" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10) select count(*), "
	  "sum(i) from n",
	    "10|55; SELECT 1" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n limit 5",
	    "1;2;3;4;5; SELECT 5" },
	{ "with recursive n as (values (1) union select (column1 * 2) % 7 from n) select * from n order by 1",
	    "1;2;4; SELECT 3" },
	{ "with recursive s(id, path) as (select id, name from t where up is null union all select t.id, "
	  "s.path || '/' || t.name from t join s on t.up = s.id) select * from s order by id",
	    "1|root;2|root/l;3|root/r;4|root/l/ll;5|root/l/ll/lll; SELECT 5" },
	{ "with recursive s as (select id, up, 0 as d from t where id = 5 union all select t.id, t.up, d + 1 "
	  "from t, s where s.up = t.id) select id, d from s order by d",
	    "5|0;4|1;2|2;1|3; SELECT 4" },
	{ "with recursive f(a, b) as (select 0, 1 union all select b, a + b from f where b < 100) select a "
	  "from f order by a",
	    "0;1;1;2;3;5;8;13;21;34;55;89; SELECT 12" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select count(*), "
	  "max(i) from n",
	    "5000|5000; SELECT 1" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select p.i, q.i from "
	  "n p, n q where p.i = q.i order by 1",
	    "1|1;2|2;3|3; SELECT 3" },
	{ "with recursive x as (select 1 as a union all select 2), y as (select * from x) select * from y "
	  "order by 1",
	    "1;2; SELECT 2" },
	{ "with recursive x as (select 1 as a union all select 2.5) select * from x order by 1",
	    "1;2.5; SELECT 2" },
	{ "with recursive x as (select 7 as a) select * from x", "7; SELECT 1" },
	{ "with recursive x as (select 1 from x) select * from x",
	    "ERROR 42P19: recursive query \"x\" does not have the form non-recursive-term UNION [ALL] "
	    "recursive-term" },
	{ "with recursive x(a) as (select 1 union all select p.a from x p, x q) select * from x",
	    "ERROR 42P19: recursive reference to query \"x\" must not appear more than once" },
	{ "with recursive x(a) as (select 1 union all select 1 where 1 in (select a from x)) select * from x",
	    "ERROR 42P19: recursive reference to query \"x\" must not appear within a subquery" },
	{ "with recursive x(a) as (select 1 union all select max(a) from x) select * from x",
	    "ERROR 42P19: aggregate functions are not allowed in a recursive query's recursive term" },
	{ "with recursive x(a) as (select 1 union all select a + 1.5 from x) select * from x",
	    "ERROR 42804: recursive query \"x\" column 1 has type integer in non-recursive term but type "
	    "numeric overall" },
	{ "with recursive x(a) as (select 1 union all select a, 2 from x) select * from x",
	    "ERROR 42601: each UNION query must have the same number of columns" },
	{ "with recursive x(a) as (select 1 union all select a + 1 from x order by 1) select * from x",
	    "ERROR 0A000: ORDER BY in a recursive query is not implemented" },
	{ "with recursive x(a) as (select 1 intersect select a + 1 from x) select * from x",
	    "ERROR 42P19: recursive query \"x\" does not have the form non-recursive-term UNION [ALL] "
	    "recursive-term" },
	{ "with recursive x(a) as (select 1 where false union all select a + 1 from x) select * from x",
	    "SELECT 0" },
	{ "with recursive x(a) as (select 'a'::text union all select a || 'b' from x where length(a) < 4) "
	  "select * from x order by a",
	    "a;ab;abb;abbb; SELECT 4" },
	{ "with recursive x(a) as (select 1 union all select 5 union all select a + 10 from x where a < 30) "
	  "select * from x order by a",
	    "1;5;11;15;21;25;31;35; SELECT 8" },
	{ "select id, (with recursive u(i, p) as (select t.id, t.up union all select z.id, z.up from t z, u "
	  "where z.id = u.p) select count(*) from u) from t order by id",
	    "1|1;2|2;3|2;4|3;5|4; SELECT 5" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n where i < 4) insert into e select "
	  "i from n",
	    "INSERT 0 4" },
	{ "select x from e order by x", "1;2;3;4; SELECT 4" },
	{ "with recursive n(i) as (select 1 union select i + 1 from n where i < (select max(id) from a)) "
	  "select * from n order by 1",
	    "1;2;3; SELECT 3" },
	{ "with recursive x as (select 1 as a union all select 2.5) select a + 1 from x order by 1",
	    "2;3.5; SELECT 2" },
	{ "with recursive n(i) as (select 1 union all select 1 from n union all select i from n) select i "
	  "from n",
	    "ERROR 42P19: recursive reference to query \"n\" must not appear within its non-recursive term" },
	{ "set statement_timeout = 200", "SET" },
	{ "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
	    "ERROR 57014: canceling statement due to statement timeout" },
	{ "reset statement_timeout", "RESET" },
};

static void
derived_tables(void **state)
{
	(void)state;
	golden_all(derived);
}

static void
with_queries(void **state)
{
	(void)state;
	golden_all(with);
}

static void
set_operations(void **state)
{
	(void)state;
	golden_all(sets);
}

static void
series_in_from(void **state)
{
	(void)state;
	golden_all(series);
}

static void
inside_expressions(void **state)
{
	(void)state;
	golden_all(inside);
}

static void
recursive_queries(void **state)
{
	(void)state;
	golden_all(recursive);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(derived_tables), cmocka_unit_test(with_queries),
		cmocka_unit_test(set_operations), cmocka_unit_test(series_in_from),
		cmocka_unit_test(inside_expressions), cmocka_unit_test(recursive_queries) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
