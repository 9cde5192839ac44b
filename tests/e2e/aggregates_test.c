/*
 * aggregates_test.c -- DISTINCT, FILTER and ORDER BY in aggregates, and the rarer ones; DISTINCT
 * ON. The answers are PostgreSQL 15's.
 */
#include "golden.h"

static const struct golden aggregates[] = {
	{ "create table g (id int primary key, k int, i int, b bigint, f double precision, n numeric, s "
	  "text, ok boolean, sm smallint)",
	    "CREATE TABLE" },
	{ "create table none (i int, s text, n numeric, f double precision, ok boolean)", "CREATE TABLE" },
	{ "insert into g values "
	  "(1,1,5,5000000000,1.5,1.10,'b',true,3),(2,1,5,5000000000,2.5,1.1,'a',true,5),(3,1,7,1,0.5,2.25,'b'"
	  ",false,6),(4,2,null,null,null,null,null,null,null),(5,2,3,9,1e10,1000000000000.5,'d',false,7),(6,"
	  "3,-4,-9223372036854775807,-3,0.0001,'',true,-1),(7,3,-4,9223372036854775807,4,12345,'e',true,-1),("
	  "8,null,2,2,'2',-7,'a',null,2)",
	    "INSERT 0 8" },
	{ "select count(distinct i), count(i), sum(distinct i), avg(distinct i), min(distinct i), "
	  "max(distinct i) from g",
	    "5|7|13|2.6000000000000000|-4|7; SELECT 1" },
	{ "select k, count(distinct i), sum(distinct b), count(distinct s), count(distinct ok) from g group "
	  "by k order by k",
	    "1|2|5000000001|2|2;2|1|9|1|1;3|1|0|2|1;~|1|2|1|0; SELECT 4" },
	{ "select count(distinct n), sum(distinct n), count(distinct f), sum(distinct f) from g",
	    "6|1000000012341.8501|7|10000000007.5; SELECT 1" },
	{ "select count(distinct i) from none", "0; SELECT 1" },
	{ "select k, count(*) filter (where i > 3), sum(i) filter (where i > 3), sum(i) from g group by k "
	  "order by k",
	    "1|3|17|17;2|0|~|3;3|0|~|-8;~|0|~|2; SELECT 4" },
	{ "select count(*) filter (where ok), count(*) filter (where not ok), count(*) filter (where ok is "
	  "null), count(*) filter (where null), count(*) filter (where true) from g",
	    "4|2|2|0|8; SELECT 1" },
	{ "select count(*) filter (where ok) from none", "0; SELECT 1" },
	{ "select count(distinct i) filter (where k = 1), string_agg(s, ',' order by id) filter (where k <> "
	  "1) from g",
	    "2|d,,e; SELECT 1" },
	{ "select sum(10 / i) filter (where i <> 0), sum(10 / (i - 5)) filter (where i <> 5) from g",
	    "9|-5; SELECT 1" },
	{ "select string_agg(s, ',' order by id) from g", "b,a,b,d,,e,a; SELECT 1" },
	{ "select string_agg(s, ',' order by id desc), string_agg(s, '' order by s, id) from g",
	    "a,e,,d,b,a,b|aabbde; SELECT 1" },
	{ "select k, string_agg(s, '; ' order by s desc, id) from g group by k order by k nulls first",
	    "~|a;1|b; b; a;2|d;3|e; ; SELECT 4" },
	{ "select string_agg(distinct s, ',') from g", ",a,b,d,e; SELECT 1" },
	{ "select string_agg(distinct s, ',' order by s desc) from g", "e,d,b,a,; SELECT 1" },
	{ "select string_agg(s, ',' order by n desc nulls last) from g", "d,e,b,b,a,,a; SELECT 1" },
	{ "select string_agg(s, null order by id), string_agg(null, ','), string_agg(s, ok::text order by "
	  "id) from g",
	    "babdea|~|btrueafalsebfalsedtruetrueea; SELECT 1" },
	{ "select string_agg(id::text, '-' order by k nulls first, id desc) from g",
	    "8-3-2-1-5-4-7-6; SELECT 1" },
	{ "select string_agg(s, ',') from none", "~; SELECT 1" },
	{ "select string_agg('x', 'y') from g", "xyxyxyxyxyxyxyx; SELECT 1" },
	{ "select string_agg(i, ',') from g",
	    "ERROR 42883: function string_agg(integer, unknown) does not exist" },
	{ "select string_agg(s) from g", "ERROR 42883: function string_agg(text) does not exist" },
	{ "select string_agg(distinct s, ',' order by id) from g",
	    "ERROR 42P10: in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list" },
	{ "select string_agg(s, ',' order by 1) from g where id = 1", "b; SELECT 1" },
	{ "select bool_and(ok), bool_or(ok), every(ok) from g", "f|t|f; SELECT 1" },
	{ "select k, bool_and(ok), bool_or(ok), every(ok) from g group by k order by k",
	    "1|f|t|f;2|f|f|f;3|t|t|t;~|~|~|~; SELECT 4" },
	{ "select bool_and(i > -10), bool_or(i > 100) from g", "t|f; SELECT 1" },
	{ "select bool_and(i) from g", "ERROR 42883: function bool_and(integer) does not exist" },
	{ "select bool_and('t'), bool_or(null) from g", "t|~; SELECT 1" },
	{ "select bool_and(ok), bool_or(ok), bit_and(i), bit_or(i), bit_xor(i), variance(n), stddev(f) from "
	  "none",
	    "~|~|~|~|~|~|~; SELECT 1" },
	{ "select bit_and(i), bit_or(i), bit_xor(i), bit_and(b), bit_or(b), bit_and(sm), bit_or(sm), "
	  "bit_xor(sm) from g",
	    "0|-1|6|0|-1|0|-1|5; SELECT 1" },
	{ "select bit_and(n) from g", "ERROR 42883: function bit_and(numeric) does not exist" },
	{ "select k, bit_and(i), bit_or(i) from g group by k order by k",
	    "1|5|7;2|3|3;3|-4|-4;~|2|2; SELECT 4" },
	{ "select variance(i), var_samp(i), var_pop(i), stddev(i), stddev_samp(i), stddev_pop(i) from g",
	    "19.3333333333333333|19.3333333333333333|16.5714285714285714|4.3969686527576397|4."
	    "3969686527576397|4.0708019567928592; SELECT 1" },
	{ "select variance(b), var_pop(b), stddev(b), stddev_pop(b) from g",
	    "28356863910078205288418016874744167094|24305883351495604532929728749780714652|"
	    "5325116328314171701|4930099730380269349; SELECT 1" },
	{ "select variance(b), var_pop(b), stddev(b), stddev_pop(b) from g where id < 6",
	    "8333333316666666686|6249999987500000014|2886751343|2499999998; SELECT 1" },
	{ "select variance(n), var_pop(n), stddev(n), stddev_pop(n) from g",
	    "142857142269550017010598.92753357|122448979088185728866227.65217163|377964472231.91496284|"
	    "349927105392.23126730; SELECT 1" },
	{ "select variance(n), var_pop(n), stddev(n), stddev_pop(n) from g where k = 1",
	    "0.44083333333333333333|0.29388888888888888889|0.66395280956806962918|0.54211519890968643538; "
	    "SELECT 1" },
	{ "select variance(f), var_pop(f), stddev(f), stddev_pop(f) from g where k = 1",
	    "1|0.6666666666666666|1|0.816496580927726; SELECT 1" },
	{ "select variance(sm), var_pop(sm), stddev(sm), stddev_pop(sm) from g",
	    "10.3333333333333333|8.8571428571428571|3.2145502536643183|2.9760952365713798; SELECT 1" },
	{ "select k, variance(i), var_pop(i), stddev(f), stddev_pop(n) from g group by k order by k",
	    "1|1.3333333333333333|0.88888888888888888889|1|0.54211519890968643538;2|~|0|~|0;3|0|0|4."
	    "949747468305833|6172.499950000000;~|~|0|~|0; SELECT 4" },
	{ "select variance(n), var_pop(n), stddev(n), stddev_pop(n) from g where id = 1",
	    "~|0|~|0; SELECT 1" },
	{ "select variance(f), var_pop(f), stddev(f), stddev_pop(f) from g where id = 1",
	    "~|0|~|0; SELECT 1" },
	{ "select var_pop(x), stddev(x) from (values (1::numeric), ('NaN')) v(x)", "NaN|NaN; SELECT 1" },
	{ "select var_pop(x), stddev(x) from (values (1::float8), ('Infinity')) v(x)", "NaN|NaN; SELECT 1" },
	{ "select var_pop(x), var_samp(x), stddev(x) from (values (0.1::numeric), (0.1), (0.1)) v(x)",
	    "0|0|0; SELECT 1" },
	{ "select var_pop(x), var_samp(x), stddev(x) from (values (12345678901234567890.123::numeric), (1), "
	  "(0.0000001)) v(x)",
	    "33870175007197414998354790388648955064.08340886393334|50805262510796122497532185582973432596."
	    "12511329590000|7127781036956461003.20367416603144; SELECT 1" },
	{ "select stddev(x), variance(x) from (values (1.5::real), (2.5)) v(x)",
	    "0.7071067811865476|0.5; SELECT 1" },
	{ "select variance(s) from g", "ERROR 42883: function variance(text) does not exist" },
	{ "select variance(distinct i), stddev_pop(distinct n) from g",
	    "17.3000000000000000|372677995330.28139041; SELECT 1" },
	{ "select sum(i order by id), avg(i order by i desc), count(i order by id), max(s order by id) from "
	  "g",
	    "14|2.0000000000000000|7|e; SELECT 1" },
	{ "select count(distinct i, k) from g",
	    "ERROR 42883: function count(integer, integer) does not exist" },
	{ "select lower(distinct s) from g",
	    "ERROR 42809: DISTINCT specified, but lower is not an aggregate function" },
	{ "select lower(s) filter (where true) from g",
	    "ERROR 42809: FILTER specified, but lower is not an aggregate function" },
	{ "select lower(s order by s) from g",
	    "ERROR 42809: ORDER BY specified, but lower is not an aggregate function" },
	{ "select count(*) filter (where count(*) > 1) from g",
	    "ERROR 42803: aggregate functions are not allowed in FILTER" },
	{ "select count(*) filter (where i) from g",
	    "ERROR 42804: argument of FILTER must be type boolean, not type integer" },
	{ "select sum(i) filter (where k = 1) from g having count(*) filter (where ok) > 3", "17; SELECT 1" },
	{ "select k from g group by k order by count(distinct i) desc, k", "1;2;3;~; SELECT 4" },
	{ "select k, count(distinct i) from g group by k having count(distinct i) > 1 order by 1",
	    "1|2; SELECT 1" },
	{ "select sum(count(*)) from g", "ERROR 42803: aggregate function calls cannot be nested" },
	{ "select string_agg(sum(i)::text, ',') from g",
	    "ERROR 42803: aggregate function calls cannot be nested" },
	{ "select count(distinct i) + count(distinct i), count(distinct i) - count(i) from g",
	    "10|-2; SELECT 1" },
	{ "select count(*) from g where count(distinct i) > 1",
	    "ERROR 42803: aggregate functions are not allowed in WHERE" },
	{ "select count(distinct x) from (values (1.0), (1.00), (1), (null), (2)) v(x)", "2; SELECT 1" },
	{ "select count(distinct x) from (values ('NaN'::float8), ('NaN'), (0), ('-0'), (null)) v(x)",
	    "2; SELECT 1" },
	{ "select sum(distinct x order by x desc) from (values (1), (2), (1)) v(x)", "3; SELECT 1" },
	{ "select sum(distinct x order by y) from (values (1, 2), (2, 1)) v(x, y)",
	    "ERROR 42P10: in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list" },
};

static const struct golden distinct_on[] = {
	{ "create table d (id int primary key, k int, v text, n numeric)", "CREATE TABLE" },
	{ "insert into d values "
	  "(1,1,'b',1.0),(2,1,'a',1.00),(3,2,'c',2),(4,null,'x',null),(5,null,'w',3),(6,2,'c',1),(7,3,'z',0)",
	    "INSERT 0 7" },
	{ "select distinct on (k) k, v from d order by k, v", "1|a;2|c;3|z;~|w; SELECT 4" },
	{ "select distinct on (k) k, v from d order by k desc, v desc", "~|x;3|z;2|c;1|b; SELECT 4" },
	{ "select distinct on (k) k, v from d order by k nulls first, id desc", "~|w;1|a;2|c;3|z; SELECT 4" },
	{ "select distinct on (k) id from d order by k, id", "1;3;7;4; SELECT 4" },
	{ "select distinct on (k % 2) id, k from d order by k % 2, id desc", "6|2;7|3;5|~; SELECT 3" },
	{ "select distinct on (k, v) id, k, v from d order by v, k, id",
	    "2|1|a;1|1|b;3|2|c;5|~|w;4|~|x;7|3|z; SELECT 6" },
	{ "select distinct on (v, k) id, k, v from d order by v desc, k, id",
	    "7|3|z;4|~|x;5|~|w;3|2|c;1|1|b;2|1|a; SELECT 6" },
	{ "select distinct on (k) k from d", "1;2;3;~; SELECT 4" },
	{ "select distinct on (1) k, v from d order by 1, 2", "1|a;2|c;3|z;~|w; SELECT 4" },
	{ "select distinct on (n) n, id from d order by n, id", "0|7;1.0|1;2|3;3|5;~|4; SELECT 5" },
	{ "select distinct on (k) k, v from d order by k, v limit 2", "1|a;2|c; SELECT 2" },
	{ "select distinct on (k) k, v from d order by k, v limit 2 offset 1", "2|c;3|z; SELECT 2" },
	{ "select distinct on (k) k, v from d order by v",
	    "ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions" },
	{ "select distinct on (k) k, v from d order by v, k",
	    "ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions" },
	{ "select distinct on (k, v) id from d order by k, id",
	    "ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions" },
	{ "select distinct on (k, v) id from d order by k, id, v",
	    "ERROR 42P10: SELECT DISTINCT ON expressions must match initial ORDER BY expressions" },
	{ "select distinct on (k, k) k, id from d order by k, k, id", "1|1;2|3;3|7;~|4; SELECT 4" },
	{ "select distinct on (3) k, v from d", "ERROR 42P10: DISTINCT ON position 3 is not in select list" },
	{ "select distinct on ('x') k, v from d order by 1",
	    "ERROR 42601: non-integer constant in DISTINCT ON" },
	{ "select distinct on (nope) k from d", "ERROR 42703: column \"nope\" does not exist" },
	{ "select distinct on (k) k as v, v as k from d order by k, v", "1|a;1|b;2|c;~|w;~|x;3|z; SELECT 6" },
	{ "select distinct on (count(*)) k, count(*) from d group by k order by count(*), k",
	    "3|1;1|2; SELECT 2" },
	{ "select distinct on (k) k, row_number() over (order by id) r from d order by k, r desc",
	    "1|2;2|6;3|7;~|5; SELECT 4" },
	{ "select count(*) from (select distinct on (k) k, v from d order by k, v) x", "4; SELECT 1" },
	{ "select distinct on (k) * from d where false", "SELECT 0" },
	{ "select distinct on (k) k, sum(id) over (partition by k) from d order by k",
	    "1|3;2|9;3|7;~|9; SELECT 4" },
	{ "select id from d where id in (select distinct on (k) id from d order by k, id) order by id",
	    "1;3;4;7; SELECT 4" },
};

static void
the_aggregates(void **state)
{
	(void)state;
	golden_all(aggregates);
}

static void
the_first_of_each(void **state)
{
	(void)state;
	golden_all(distinct_on);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_aggregates),
		cmocka_unit_test(the_first_of_each) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
