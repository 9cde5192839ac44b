/*
 * subquery_test.c -- subqueries in expressions, wherever an expression may stand: rows with '|' and
 * ';', ~ for NULL, then the command's tag; or the SQLSTATE and message. The answers are PostgreSQL
 * 15's.
 */
#include "golden.h"

static const struct golden places[] = {
	{ "create table t (id int primary key, k int, v text)", "CREATE TABLE" },
	{ "create table u (id int primary key, k int, w int)", "CREATE TABLE" },
	{ "create table e (x int, y int)", "CREATE TABLE" },
	{ "insert into t values (1, 10, 'a'), (2, 20, 'b'), (3, null, 'c'), (4, 10, 'd')", "INSERT 0 4" },
	{ "insert into u values (1, 10, 100), (2, 10, 200), (3, 30, 300), (4, null, 400)", "INSERT 0 4" },
	{ "select (select 1)", "1; SELECT 1" },
	{ "select (select 1, 2)", "ERROR 42601: subquery must return only one column" },
	{ "select (select id from u)",
	    "ERROR 21000: more than one row returned by a subquery used as an expression" },
	{ "select (select id from u where id > 100)", "~; SELECT 1" },
	{ "select (select w from u where u.id = t.id) from t order by id", "100;200;300;400; SELECT 4" },
	{ "select id, (select max(w) from u where u.k = t.k) m from t order by id",
	    "1|200;2|~;3|~;4|200; SELECT 4" },
	{ "select id, (select count(*) from u where u.k = t.k) from t order by id",
	    "1|2;2|0;3|0;4|2; SELECT 4" },
	{ "select id from t where exists (select 1 from u where u.k = t.k) order by id", "1;4; SELECT 2" },
	{ "select id from t where not exists (select 1 from u where u.k = t.k) order by id",
	    "2;3; SELECT 2" },
	{ "select id from t where k in (select k from u) order by id", "1;4; SELECT 2" },
	{ "select id from t where k not in (select k from u) order by id", "SELECT 0" },
	{ "select id from t where k not in (select k from u where k is not null) order by id",
	    "2; SELECT 1" },
	{ "select id from t where k not in (select k from u where false) order by id", "1;2;3;4; SELECT 4" },
	{ "select id, k in (select k from u), k not in (select k from u where k > 10) from t order by id",
	    "1|t|t;2|~|t;3|~|~;4|t|t; SELECT 4" },
	{ "select id, k in (select x from e), k not in (select x from e), k > all (select x from e), k > any "
	  "(select x from e) from t order by id",
	    "1|f|t|t|f;2|f|t|t|f;3|f|t|t|f;4|f|t|t|f; SELECT 4" },
	{ "select id, k = any (select k from u), k <> all (select k from u), k < any (select k from u), k >= "
	  "all (select k from u where k is not null) from t order by id",
	    "1|t|f|t|f;2|~|~|t|f;3|~|~|~|~;4|t|f|t|f; SELECT 4" },
	{ "select id, (id, k) in (select id, k from u) from t order by id", "1|t;2|f;3|~;4|~; SELECT 4" },
	{ "select id, (id, k) not in (select id, k from u) from t order by id", "1|f;2|t;3|~;4|~; SELECT 4" },
	{ "select null in (select k from u), 10 in (select k from u), 11 in (select k from u), 11 in (select "
	  "k from u where k is not null), null in (select k from u where false)",
	    "~|t|~|f|f; SELECT 1" },
	{ "select 1 in (select k, w from u)", "ERROR 42601: subquery has too many columns" },
	{ "select (1, 2) in (select k from u)", "ERROR 42601: subquery has too few columns" },
	{ "select id from t where k = (select k from u where id = 1) order by id", "1;4; SELECT 2" },
	{ "select id from t where k = (select k from u) order by id",
	    "ERROR 21000: more than one row returned by a subquery used as an expression" },
	{ "select id from t where id = (select max(id) from u)", "4; SELECT 1" },
	{ "select exists (select 1 from u), exists (select 1 from e), not exists (select * from e)",
	    "t|f|t; SELECT 1" },
	{ "select exists (select from u)", "t; SELECT 1" },
	{ "select id, case when exists (select 1 from u where u.id = t.id and w > 150) then 'big' else "
	  "'small' end from t order by id",
	    "1|small;2|big;3|big;4|big; SELECT 4" },
	{ "select k, count(*) from t group by k having count(*) > (select count(*) from e) order by k",
	    "10|2;20|1;~|1; SELECT 3" },
	{ "select k, (select max(w) from u where u.k = t.k) from t group by k order by k",
	    "10|200;20|~;~|~; SELECT 3" },
	{ "select k, (select max(w) from u where u.id = t.id) from t group by k order by k",
	    "ERROR 42803: subquery uses ungrouped column \"t.id\" from outer query" },
	{ "select id from t order by (select -w from u where u.id = t.id)", "4;3;2;1; SELECT 4" },
	{ "select id, v from t where (select count(*) from u where u.k = t.k) = 2 order by id",
	    "1|a;4|d; SELECT 2" },
	{ "select sum((select w from u where u.id = t.id)) from t", "1000; SELECT 1" },
	{ "select (select sum(t.id) from u) from t",
	    "ERROR 21000: more than one row returned by a subquery used as an expression" },
	{ "select (select sum(t.id) from u where u.id = 1) from t", "10; SELECT 1" },
	{ "select t.id, u.id from t join u on u.id = t.id and exists (select 1 from e where x = t.id) order "
	  "by 1",
	    "SELECT 0" },
	{ "select t.id, u.id from t join u on u.k = t.k and u.w > (select min(w) from u) order by 1, 2",
	    "1|2;4|2; SELECT 2" },
	{ "select id from t where exists (select 1 from u where u.k = t.k and u.w > t.id * 100) order by id",
	    "1; SELECT 1" },
	{ "select id from t a where exists (select 1 from u where exists (select 1 from t b where b.k = u.k "
	  "and b.id <> a.id)) order by id",
	    "1;2;3;4; SELECT 4" },
	{ "select id from t a where exists (select 1 from u where u.k = a.k and exists (select 1 from t b "
	  "where b.k = u.k and b.id = a.id + 3)) order by id",
	    "1; SELECT 1" },
	{ "select id, (select count(*) from (select * from u where u.k = t.k) d) from t order by id",
	    "1|2;2|0;3|0;4|2; SELECT 4" },
	{ "select id, (select (select w from u where u.id = t.id)) from t order by id",
	    "1|100;2|200;3|300;4|400; SELECT 4" },
	{ "select id from t where id in (select id from u order by w desc limit 2) order by id",
	    "3;4; SELECT 2" },
	{ "select id from t where k in (select k from u where u.id = t.id) order by id", "1; SELECT 1" },
	{ "select id from t where k not in (select k from u where u.id = t.id) order by id", "2; SELECT 1" },
	{ "select id, k in (select k from u where u.w > t.id * 100) from t order by id",
	    "1|t;2|~;3|~;4|f; SELECT 4" },
	{ "select id from t where id > any (select w / 100 from u) order by id", "2;3;4; SELECT 3" },
	{ "select id from t where v like any (select 'a%') order by id", "1; SELECT 1" },
	{ "select id + any (select 1) from t",
	    "ERROR 42804: row comparison operator must yield type boolean, not type integer" },
	{ "select nope from t where exists (select nope from u)",
	    "ERROR 42703: column \"nope\" does not exist" },
	{ "select id from t where exists (select t.nope from u)",
	    "ERROR 42703: column t.nope does not exist" },
	{ "select id from t where exists (select zz.nope from u)",
	    "ERROR 42P01: missing FROM-clause entry for table \"zz\"" },
	{ "select id from t where exists (select 1 from u where v = 'a') order by id", "1; SELECT 1" },
	{ "select id from t where id in (select v from t)",
	    "ERROR 42883: operator does not exist: integer = text" },
	{ "select id from t where v = (select 1)", "ERROR 42883: operator does not exist: text = integer" },
	{ "select (select id from t where id = $1)", "ERROR 42P02: there is no parameter $1" },
	{ "select (select v from t where id = 1) || (select v from t where id = 2)", "ab; SELECT 1" },
	{ "select (select null), (select null) is null, (select 'x')", "~|t|x; SELECT 1" },
	{ "select (select 1 where false) is null", "t; SELECT 1" },
	{ "select count(*) from t where (select true)", "4; SELECT 1" },
	{ "select count(*) from t where (select 1)",
	    "ERROR 42804: argument of WHERE must be type boolean, not type integer" },
	{ "select count(*) from t limit (select 1)", "4; SELECT 1" },
	{ "select distinct (select max(k) from u) from t", "30; SELECT 1" },
	{ "select (select 2147483647) + 1", "ERROR 22003: integer out of range" },
	{ "select (select 1 / (id - 1) from t where id = 1)", "ERROR 22012: division by zero" },
	{ "select id, (select max(w) from u where u.k = t.k group by k) from t order by id",
	    "1|200;2|~;3|~;4|200; SELECT 4" },
	{ "select id, (select max(w) from u where u.k = t.k having count(*) > 1) from t order by id",
	    "1|200;2|~;3|~;4|200; SELECT 4" },
	{ "select id, exists (select max(w) from u where u.k = t.k) from t order by id",
	    "1|t;2|t;3|t;4|t; SELECT 4" },
	{ "select id, exists (select max(w) from u where u.k = t.k having count(*) > 5) from t order by id",
	    "1|f;2|f;3|f;4|f; SELECT 4" },
	{ "select id, exists (select 1 from u where u.k = t.k limit 0) from t order by id",
	    "1|f;2|f;3|f;4|f; SELECT 4" },
	{ "select id, exists (select 1 from u where u.k = t.k offset 1) from t order by id",
	    "1|t;2|f;3|f;4|t; SELECT 4" },
	{ "select id, exists (select distinct k from u where u.k = t.k order by k) from t order by id",
	    "1|t;2|f;3|f;4|t; SELECT 4" },
	{ "select id from t where (exists (select 1 from u where u.k = t.k)) or id = 2 order by id",
	    "1;2;4; SELECT 3" },
	{ "select id from t where k + 0 in (select k from u) and v || 'x' in (select v || 'x' from t where "
	  "id < 3) order by id",
	    "1; SELECT 1" },
	{ "select id from t where k::numeric in (select k from u) order by id", "1;4; SELECT 2" },
	{ "select id from t where k in (select k::double precision from u) order by id", "1;4; SELECT 2" },
	{ "select id from t where k in (10, (select 20)) order by id", "1;2;4; SELECT 3" },
	{ "select id from t where id between (select 2) and (select 3) order by id", "2;3; SELECT 2" },
	{ "select coalesce((select v from t where id = 99), 'none')", "none; SELECT 1" },
	{ "select nullif((select 1), (select 1))", "~; SELECT 1" },
	{ "insert into e values ((select max(id) from t), (select min(w) from u)), (1, (select count(*) from "
	  "e))",
	    "INSERT 0 2" },
	{ "select * from e order by x", "1|0;4|100; SELECT 2" },
	{ "insert into e select id, (select max(w) from u where u.id = t.id) from t where id in (select id "
	  "from u) and id < 3",
	    "INSERT 0 2" },
	{ "select * from e order by x, y", "1|0;1|100;2|200;4|100; SELECT 4" },
	{ "update t set k = (select max(w) from u where u.id = t.id) where id in (select id from u where w < "
	  "300)",
	    "UPDATE 2" },
	{ "select * from t order by id", "1|100|a;2|200|b;3|~|c;4|10|d; SELECT 4" },
	{ "update t set k = (select sum(k) from t) where id = 3", "UPDATE 1" },
	{ "update t set k = (select sum(k) from t)", "UPDATE 4" },
	{ "select * from t order by id", "1|620|a;2|620|b;3|620|c;4|620|d; SELECT 4" },
	{ "update t set v = (select id from u)",
	    "ERROR 21000: more than one row returned by a subquery used as an expression" },
	{ "update t set k = id * 10 where exists (select 1 from u where u.id = t.id)", "UPDATE 4" },
	{ "delete from t where id = (select max(id) from t)", "DELETE 1" },
	{ "delete from t where not exists (select 1 from u where u.id = t.id and u.w < 300) returning id, "
	  "(select max(w) from u)",
	    "3|400; DELETE 1" },
	{ "select * from t order by id", "1|10|a;2|20|b; SELECT 2" },
	{ "delete from u where id in (select t.id from t) returning id", "1;2; DELETE 2" },
	{ "select id from u order by id", "3;4; SELECT 2" },
	{ "create table bad (a int default (select 1))",
	    "ERROR 0A000: cannot use subquery in DEFAULT expression" },
	{ "create table bad (a int check (a > (select 1)))",
	    "ERROR 0A000: cannot use subquery in check constraint" },
	{ "values ((select 1), (select 2))", "1|2; SELECT 1" },
};

static const struct golden correlated[] = {
	{ "create table emp (id int primary key, dept int, sal int, name text)", "CREATE TABLE" },
	{ "create table dept (id int primary key, name text, boss int)", "CREATE TABLE" },
	{ "insert into dept values (1, 'one', 1), (2, 'two', 4), (3, 'three', null)", "INSERT 0 3" },
	{ "insert into emp values (1, 1, 10, 'a'), (2, 1, 20, 'b'), (3, 1, 30, null), (4, 2, 40, 'd'), (5, "
	  "2, null, 'e'), (6, null, 60, 'f'), (7, 9, 70, 'g')",
	    "INSERT 0 7" },
	{ "select id, (select avg(sal) from emp x where x.dept = emp.dept) > sal from emp order by id",
	    "1|t;2|f;3|f;4|f;5|~;6|~;7|f; SELECT 7" },
	{ "select id, (select count(*) + 10 from emp x where x.dept = emp.dept and x.sal > 15) from emp "
	  "order by id",
	    "1|12;2|12;3|12;4|11;5|11;6|10;7|11; SELECT 7" },
	{ "select id, (select count(sal) from emp x where x.dept = emp.dept + 1) from emp order by id",
	    "1|1;2|1;3|1;4|0;5|0;6|0;7|0; SELECT 7" },
	{ "select id, (select coalesce(max(name), 'nobody') from emp x where x.dept = emp.dept) from emp "
	  "order by id",
	    "1|b;2|b;3|b;4|e;5|e;6|nobody;7|g; SELECT 7" },
	{ "select id, (select string_agg(name, ',' order by id desc) from emp x where x.dept = emp.dept) "
	  "from emp order by id",
	    "1|b,a;2|b,a;3|b,a;4|e,d;5|e,d;6|~;7|g; SELECT 7" },
	{ "select id, (select sum(100 / (sal - 70)) from emp x where x.dept = emp.dept) from emp where id < "
	  "7 order by id",
	    "1|-5;2|-5;3|-5;4|-3;5|-3;6|~; SELECT 6" },
	{ "select id from emp where sal = (select max(sal) from emp x where x.dept = emp.dept) order by id",
	    "3;4;7; SELECT 3" },
	{ "select id from emp e where exists (select 1 from dept d where d.id = e.dept and d.boss = e.id) "
	  "order by id",
	    "1;4; SELECT 2" },
	{ "select d.id, (select count(*) from emp e where e.dept = d.id and e.id <> d.boss) from dept d "
	  "order by id",
	    "1|2;2|1;3|0; SELECT 3" },
	{ "select d.id from dept d where d.name in (select x.name from dept x where x.id = d.id) order by id",
	    "1;2;3; SELECT 3" },
	{ "select d.id, d.boss in (select e.id from emp e where e.dept = d.id) from dept d order by id",
	    "1|t;2|t;3|f; SELECT 3" },
	{ "select d.id from dept d left join emp e on e.dept = d.id and exists (select 1 from emp f where "
	  "f.sal = e.sal * 2) where e.id is not null order by d.id",
	    "1;1;1; SELECT 3" },
	{ "select d.id, e.id from dept d left join emp e on e.dept = d.id and e.sal > (select avg(sal) from "
	  "emp) order by 1, 2",
	    "1|~;2|4;3|~; SELECT 3" },
	{ "select d.name, (select e.name from emp e where e.id = d.boss) from dept d order by d.id",
	    "one|a;two|d;three|~; SELECT 3" },
	{ "select dept, sum(sal) from emp group by dept having sum(sal) > (select avg(sal) from emp x where "
	  "x.dept <> 99) order by dept",
	    "1|60;2|40;9|70;~|60; SELECT 4" },
	{ "select dept, (select count(*) from emp x where x.dept = emp.dept) c from emp group by dept order "
	  "by c desc, dept",
	    "1|3;2|2;9|1;~|0; SELECT 4" },
	{ "select distinct (select name from dept where id = emp.dept) from emp order by 1",
	    "one;two;~; SELECT 3" },
	{ "select id, row_number() over (order by (select name from dept where id = emp.dept), id) from emp "
	  "order by id",
	    "1|1;2|2;3|3;4|4;5|5;6|6;7|7; SELECT 7" },
	{ "select id, rank() over (order by sal) > (select count(*) from dept) from emp where sal is not "
	  "null order by id",
	    "1|f;2|f;3|f;4|t;6|t;7|t; SELECT 6" },
	{ "with m as (select dept, max(sal) s from emp group by dept) select id from emp where (dept, sal) "
	  "in (select dept, s from m) order by id",
	    "3;4;7; SELECT 3" },
	{ "with m as (select max(sal) s from emp) select id, (select s from m) from emp where sal < (select "
	  "s from m) order by id",
	    "1|70;2|70;3|70;4|70;6|70; SELECT 5" },
	{ "with m as (select * from emp) select id, (select count(*) from m where m.dept = emp.dept) from "
	  "emp order by id",
	    "1|3;2|3;3|3;4|2;5|2;6|0;7|1; SELECT 7" },
	{ "select * from (select id, (select name from dept where id = dept.id limit 1) n from emp) x order "
	  "by id limit 2",
	    "1|one;2|one; SELECT 2" },
	{ "select id, (select (select (select max(x.sal) from emp x where x.dept = d.id) from dept d where "
	  "d.id = e.dept)) from emp e order by id",
	    "1|30;2|30;3|30;4|40;5|40;6|~;7|~; SELECT 7" },
	{ "select id, exists (with w as (select * from dept where dept.id = emp.dept) select 1 from w) from "
	  "emp order by id",
	    "1|t;2|t;3|t;4|t;5|t;6|f;7|f; SELECT 7" },
	{ "select dept from emp group by dept having exists (select 1 from dept d where d.id = emp.dept) "
	  "order by dept",
	    "1;2; SELECT 2" },
	{ "select dept from emp group by dept having exists (select 1 from dept d where d.id = emp.id) order "
	  "by dept",
	    "ERROR 42803: subquery uses ungrouped column \"emp.id\" from outer query" },
	{ "select id, (select count(*) from dept d where d.id = emp.dept) from emp group by id order by id",
	    "1|1;2|1;3|1;4|1;5|1;6|0;7|0; SELECT 7" },
	{ "select sum(sal) filter (where exists (select 1 from dept d where d.id = emp.dept)) from emp",
	    "100; SELECT 1" },
	{ "update emp set sal = (select avg(sal) from emp x where x.dept = emp.dept)", "UPDATE 7" },
	{ "select id, sal from emp order by id", "1|20;2|20;3|20;4|40;5|40;6|~;7|70; SELECT 7" },
	{ "update emp set dept = dept + 1, sal = (select count(*) from emp x where x.dept = emp.dept + 1)",
	    "UPDATE 7" },
	{ "select id, dept, sal from emp order by id",
	    "1|2|2;2|2|2;3|2|2;4|3|0;5|3|0;6|~|0;7|10|0; SELECT 7" },
	{ "update emp set sal = 0 where exists (select 1 from dept d where d.id = emp.dept)", "UPDATE 5" },
	{ "update emp set name = (select name from dept where id = emp.dept) || '!' where dept in (select id "
	  "from dept) returning id, name, (select count(*) from dept d where d.id = emp.dept)",
	    "1|two!|1;2|two!|1;3|two!|1;4|three!|1;5|three!|1; UPDATE 5" },
	{ "delete from emp e where e.sal < (select max(x.sal) from emp x where x.dept = e.dept)",
	    "DELETE 0" },
	{ "delete from emp where (select count(*) from dept d where d.id = emp.dept) = 0", "DELETE 2" },
	{ "select id, dept, sal, name from emp order by id",
	    "1|2|0|two!;2|2|0|two!;3|2|0|two!;4|3|0|three!;5|3|0|three!; SELECT 5" },
	{ "insert into emp select id + 100, (select max(dept) from emp), (select count(*) from emp x where "
	  "x.dept = dept.id), name from dept where not exists (select 1 from emp where emp.dept = dept.id)",
	    "INSERT 0 1" },
	{ "select id, dept, sal, name from emp order by id",
	    "1|2|0|two!;2|2|0|two!;3|2|0|two!;4|3|0|three!;5|3|0|three!;101|3|0|one; SELECT 6" },
	{ "insert into emp (id, sal) values ((select max(id) + 1 from emp), (select sum(sal) from emp)) "
	  "returning id, sal",
	    "102|0; INSERT 0 1" },
	{ "select id from emp where id in (select 1 from dept where boss = emp.id) or id not in (select boss "
	  "from dept where boss is not null) order by id",
	    "1;2;3;5;101;102; SELECT 6" },
	{ "select case when (select count(*) from dept) > 2 then (select min(name) from dept) else 'x' || "
	  "(select max(name) from dept where 1 / (id - 1) > 0) end",
	    "one; SELECT 1" },
	{ "select id, sal from emp order by (select d.name from dept d where d.id = emp.dept) nulls first, "
	  "id",
	    "102|0;4|0;5|0;101|0;1|0;2|0;3|0; SELECT 7" },
	{ "select (select id from dept order by id desc limit 1), (select id from dept order by id offset 1 "
	  "limit 1)",
	    "3|2; SELECT 1" },
	{ "select count(*) from emp a, emp b where exists (select 1 from dept d where d.id = a.dept and d.id "
	  "= b.dept)",
	    "18; SELECT 1" },
	{ "select a.id from emp a where (select a.id + count(*) from dept) > 5 order by 1",
	    "3;4;5;101;102; SELECT 5" },
	{ "select 5 = any (select id from dept), 5 <> all (select id from dept), 2 >= all (select id from "
	  "dept where id < 3), 'a' like any (select name from emp)",
	    "f|t|t|~; SELECT 1" },
};

static void
places_test(void **state)
{
	(void)state;
	golden_all(places);
}

static void
correlated_test(void **state)
{
	(void)state;
	golden_all(correlated);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(places_test),
		cmocka_unit_test(correlated_test) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
