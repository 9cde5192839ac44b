/* order_test.c -- ORDER BY, LIMIT, groups and DISTINCT over more rows than a batch holds, and
 * values that are easily mistaken. */
#include "golden.h"

static void
test_small_values(void **state)
{
	(void)state;
	static const struct golden g[] = {
		{ "create table f (id int primary key, x float8, s text, n numeric, b bytea)",
		    "CREATE TABLE" },
		{ "insert into f values (1, 'NaN', '', 1.0, ''), (2, '-0', 'abcdefghZ', 1.00, '\\x00'), "
		  "(3, 0, 'abcdefgh', 2, '\\x0000'), (4, null, null, null, null), "
		  "(5, '-Infinity', 'abcdefghA', -1, '\\xff'), (6, 'Infinity', 'abcdefg', 10, '\\x00ff'), "
		  "(7, -1.5, 'é', 9, '\\x61'), (8, 1e-300, 'z', 0.5, '\\x6162636465666768'), "
		  "(9, null, 'abcdefghA', 'NaN', '\\x616263646566676800')",
		    "INSERT 0 9" },
		{ "select id from f order by x, id", "5;7;2;3;8;6;1;4;9; SELECT 9" },
		{ "select id from f order by x desc, id", "4;9;1;6;8;2;3;7;5; SELECT 9" },
		{ "select id from f order by x nulls first, id desc", "9;4;5;7;3;2;8;6;1; SELECT 9" },
		{ "select id from f order by x desc nulls last, id desc", "1;6;8;3;2;7;5;9;4; SELECT 9" },
		{ "select id from f order by s, id", "1;6;3;5;9;2;8;7;4; SELECT 9" },
		{ "select id from f order by s desc, id", "4;7;8;2;5;9;3;6;1; SELECT 9" },
		{ "select id from f order by n, id", "5;8;1;2;3;7;6;9;4; SELECT 9" },
		{ "select id from f order by b, id", "1;2;3;6;7;8;9;5;4; SELECT 9" },
		{ "select id from f order by b desc nulls last", "5;9;8;7;6;3;2;1;4; SELECT 9" },
		{ "select id from f order by s is null desc, n desc limit 3", "4;9;6; SELECT 3" },
		{ "select count(distinct x), count(distinct s), count(distinct n), count(distinct b) from f",
		    "6|7|7|8; SELECT 1" },
		{ "select x, count(*) from f group by x order by x",
		    "-Infinity|1;-1.5|1;-0|2;1e-300|1;Infinity|1;NaN|1;~|2; SELECT 7" },
		{ "select n, count(*) from f group by n having count(*) > 1", "1.0|2; SELECT 1" },
		{ "select s, n, count(*) from f where s = 'abcdefghA' group by s, n order by n",
		    "abcdefghA|-1|1;abcdefghA|NaN|1; SELECT 2" },
		{ "select distinct c from (values ('a'::char(3)), ('a '), ('b')) v(c) order by c",
		    "a  ;b; SELECT 2" },
		{ "select count(distinct c), count(c) from (values ('a'::char(3)), ('a '), (null)) v(c)",
		    "1|2; SELECT 1" },
		{ "select count(distinct i) from (values ('1 day'::interval), ('24 hours'), ('1 month')) "
		  "v(i)",
		    "2; SELECT 1" },
		{ "select count(distinct id) from f where false", "0; SELECT 1" },
		{ "select sum(distinct id), avg(distinct id) from f where false", "~|~; SELECT 1" },
		{ "select id from f where false order by s, id limit 3", "SELECT 0" },
	};
	golden_all(g);
}

static void
test_many(void **state)
{
	(void)state;
	static const struct golden g[] = {
		{ "create table m (id int primary key, a int, s text, f float8)", "CREATE TABLE" },
		/* a: every number of 0..4999 once, in no order; s: 0..49 as text, NULL for 49; f: a
		 * tenth are NULL */
		{ "insert into m select i, i * 2777 % 5000, case when i % 50 < 49 then 'a long prefix ' || i "
		  "% 50 "
		  "end, case when i % 10 > 0 then i * 1777 % 5000 / 8.0 - 200 end from generate_series(0, "
		  "4999) i",
		    "INSERT 0 5000" },
		{ "select count(*), sum(case when a = r then 1 end) from (select a, row_number() over (order "
		  "by a) "
		  "- 1 r from m) v",
		    "5000|5000; SELECT 1" },
		{ "select count(*), sum(case when a < b or b is null then 1 end) from (select a, lead(a) "
		  "over () b "
		  "from (select a from m order by a) v) w",
		    "5000|5000; SELECT 1" },
		{ "select count(*) from (select s, a, lag(s) over () ls, lag(a) over () la from (select s, a "
		  "from m "
		  "order by s desc, a) v) w where ls < s or (ls = s and la >= a) or (ls is not null and s is "
		  "null)",
		    "0; SELECT 1" },
		{ "select count(*) from (select f, lag(f) over () lf, row_number() over () r from (select f "
		  "from m "
		  "order by f nulls first) v) w where lf > f or (f is null) <> (r <= 500)",
		    "0; SELECT 1" },
		{ "select a from m order by a limit 4", "0;1;2;3; SELECT 4" },
		{ "select a from m order by a desc limit 3 offset 4000", "999;998;997; SELECT 3" },
		{ "select a from m order by a limit 3 offset 4998", "4998;4999; SELECT 2" },
		{ "select a from m order by a limit 0", "SELECT 0" },
		{ "select s, a from m order by s desc, a desc limit 2", "~|4973;~|4923; SELECT 2" },
		{ "select s, a from m order by s desc nulls last, a limit 2",
		    "a long prefix 9|43;a long prefix 9|93; SELECT 2" },
		{ "select s, a from m order by s, a desc limit 2",
		    "a long prefix 0|4950;a long prefix 0|4900; SELECT 2" },
		{ "select f is null, a from m order by f nulls first, a limit 2 offset 499",
		    "t|4990;f|3001; SELECT 2" },
		{ "select count(*) from (select f from m order by f limit 4501) v where f is null",
		    "1; SELECT 1" },
		{ "select f from m order by f desc nulls last limit 1", "424.875; SELECT 1" },
		{ "select count(distinct a), count(distinct s), count(distinct f), sum(distinct a / 2), "
		  "avg(distinct a % 10) from m",
		    "5000|49|4500|3123750|4.5000000000000000; SELECT 1" },
		{ "select s, count(distinct a % 4), count(distinct f) from m where s is null or s like '% 1' "
		  "group "
		  "by s order by s",
		    "a long prefix 1|2|100;~|2|100; SELECT 2" },
		{ "select count(distinct a) filter (where a < 10), count(distinct s) filter (where s is "
		  "null) from "
		  "m",
		    "10|0; SELECT 1" },
		{ "select count(*), sum(n), min(n), max(n) from (select a % 1500 k, count(*) n from m group "
		  "by 1) v",
		    "1500|5000|3|4; SELECT 1" },
		{ "select count(*), sum(n) from (select s, a % 7 k, f is null o, count(*) n from m group by "
		  "1, 2, "
		  "3) v",
		    "350|5000; SELECT 1" },
		{ "select count(*) from (select distinct s, a from m) v", "5000; SELECT 1" },
		{ "select count(*) from (select distinct length(s) from m) v", "3; SELECT 1" },
	};
	golden_all(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_values),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
