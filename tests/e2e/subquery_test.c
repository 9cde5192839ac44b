/*
 * subquery_test.c -- subqueries in expressions, wherever an expression may stand: rows with '|' and ';', ~ for
 * NULL, then the command's tag; or the SQLSTATE and message. The answers are PostgreSQL 15's.
 */
#include "embedded.h"

struct golden {
	const char *text, *answer;
};

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
	    "ERROR 0A000: aggregates over columns of an outer query are not supported yet" },
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

static void
all(const struct golden *g, size_t n)
{
	struct embedded e;
	struct teller t;
	embedded_open(&e, 256u << 20, 1);
	teller_open(&t, &e, 0);
	unsigned wrong = 0;
	for (size_t i = 0; i < n; i++) {
		const char *a = ask(&t, g[i].text);
		if (strcmp(a, g[i].answer) == 0)
			continue;
		wrong++;
		fprintf(stderr, "%s\n  is     %s\n  should %s\n", g[i].text, a, g[i].answer);
	}
	teller_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

static void
places_test(void **state)
{
	(void)state;
	all(places, sizeof places / sizeof *places);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(places_test) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
