/* grouping_test.c -- GROUPING SETS, ROLLUP, CUBE and GROUPING(). Every answer is PostgreSQL
 * 15's. */
#include "golden.h"

static const struct golden cases[] = {
	{ "CREATE TABLE s (a int, b text, c int, v numeric)", "CREATE TABLE" },
	{ "INSERT INTO s VALUES "
	  "(1,'x',10,1.5),(1,'y',20,2.5),(2,'x',10,NULL),(2,NULL,30,4),(NULL,'x',10,5),(1,'x',20,7)",
	    "INSERT 0 6" },
	{ "SELECT a, b, sum(v), count(*) FROM s GROUP BY ROLLUP (a, b) ORDER BY 1, 2, 3, 4",
	    "1|x|8.5|2;1|y|2.5|1;1|~|11.0|3;2|x|~|1;2|~|4|1;2|~|4|2;~|x|5|1;~|~|5|1;~|~|20.0|6; SELECT 9" },
	{ "SELECT a, b, sum(v), grouping(a), grouping(b), grouping(a, b) FROM s GROUP BY CUBE (a, b) ORDER "
	  "BY 6, 1, 2",
	    "1|x|8.5|0|0|0;1|y|2.5|0|0|0;2|x|~|0|0|0;2|~|4|0|0|0;~|x|5|0|0|0;1|~|11.0|0|1|1;2|~|4|0|1|1;~|~|"
	    "5|0|1|1;~|x|13.5|1|0|2;~|y|2.5|1|0|2;~|~|4|1|0|2;~|~|20.0|1|1|3; SELECT 12" },
	{ "SELECT a, b, count(*) FROM s GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY 1, 2, 3",
	    "1|~|3;2|~|2;~|x|4;~|y|1;~|~|1;~|~|1;~|~|6; SELECT 7" },
	{ "SELECT a, b, count(*) FROM s GROUP BY GROUPING SETS ((a), (a), (b)) ORDER BY 1, 2",
	    "1|~|3;1|~|3;2|~|2;2|~|2;~|x|4;~|y|1;~|~|1;~|~|1;~|~|1; SELECT 9" },
	{ "SELECT a, b, count(*) FROM s GROUP BY DISTINCT ROLLUP (a), ROLLUP (a, b) ORDER BY 1, 2, 3",
	    "1|x|2;1|y|1;1|~|3;2|x|1;2|~|1;2|~|2;~|x|1;~|~|1;~|~|6; SELECT 9" },
	{ "SELECT a, b, count(*) FROM s GROUP BY ROLLUP (a), ROLLUP (a, b) ORDER BY 1, 2, 3",
	    "1|x|2;1|x|2;1|y|1;1|y|1;1|~|3;1|~|3;1|~|3;2|x|1;2|x|1;2|~|1;2|~|1;2|~|2;2|~|2;2|~|2;~|x|1;~|x|1;"
	    "~|~|1;~|~|1;~|~|1;~|~|6; SELECT 20" },
	{ "SELECT a, c, count(*) FROM s GROUP BY a, ROLLUP (c) ORDER BY 1, 2",
	    "1|10|1;1|20|2;1|~|3;2|10|1;2|30|1;2|~|2;~|10|1;~|~|1; SELECT 8" },
	{ "SELECT a, b, c, count(*) FROM s GROUP BY ROLLUP ((a, b), c) ORDER BY 1, 2, 3",
	    "1|x|10|1;1|x|20|1;1|x|~|2;1|y|20|1;1|y|~|1;2|x|10|1;2|x|~|1;2|~|30|1;2|~|~|1;~|x|10|1;~|x|~|1;~|"
	    "~|~|6; SELECT 12" },
	{ "SELECT a, b, c, count(*) FROM s GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (c)) ORDER BY 1, 2, 3",
	    "1|x|~|2;1|y|~|1;1|~|~|3;2|x|~|1;2|~|~|1;2|~|~|2;~|x|~|1;~|~|10|3;~|~|20|2;~|~|30|1;~|~|~|1;~|~|~"
	    "|6;~|~|~|6; SELECT 13" },
	{ "SELECT a + 1 AS x, sum(c) FROM s GROUP BY ROLLUP (x) ORDER BY 1, 2",
	    "2|50;3|40;~|10;~|100; SELECT 4" },
	{ "SELECT a, sum(c) FROM s GROUP BY ROLLUP (1) ORDER BY 1, 2", "1|50;2|40;~|10;~|100; SELECT 4" },
	{ "SELECT a, sum(v), grouping(a) FROM s WHERE false GROUP BY ROLLUP (a)", "~|~|1; SELECT 1" },
	{ "SELECT a, sum(v) FROM s WHERE false GROUP BY GROUPING SETS ((), (a), ())", "~|~;~|~; SELECT 2" },
	{ "SELECT count(*) FROM s WHERE false GROUP BY GROUPING SETS (())", "0; SELECT 1" },
	{ "SELECT count(*) FROM s GROUP BY ()", "6; SELECT 1" },
	{ "SELECT count(*) FROM s GROUP BY GROUPING SETS ((), ())", "6;6; SELECT 2" },
	{ "SELECT 1 FROM s GROUP BY ()", "1; SELECT 1" },
	{ "SELECT a, b, count(*) FROM s GROUP BY ROLLUP (a, b) HAVING grouping(b) = 1 ORDER BY 1, 2, 3",
	    "1|~|3;2|~|2;~|~|1;~|~|6; SELECT 4" },
	{ "SELECT a, count(*) FROM s GROUP BY CUBE (a) ORDER BY grouping(a) DESC, a",
	    "~|6;1|3;2|2;~|1; SELECT 4" },
	{ "SELECT grouping(b) FROM s GROUP BY a",
	    "ERROR 42803: arguments to GROUPING must be grouping expressions of the associated query level" },
	{ "SELECT grouping(a) FROM s",
	    "ERROR 42803: arguments to GROUPING must be grouping expressions of the associated query level" },
	{ "SELECT a FROM s WHERE grouping(a) = 0",
	    "ERROR 42803: grouping operations are not allowed in WHERE" },
	{ "SELECT grouping(a) FROM s GROUP BY a ORDER BY 1", "0;0;0; SELECT 3" },
	{ "SELECT a, b FROM s GROUP BY ROLLUP (a)", "ERROR 42803: column \"s.b\" must appear in the GROUP BY "
						    "clause or be used in an aggregate function" },
	{ "SELECT a, count(DISTINCT b), string_agg(b, ',' ORDER BY b) FROM s GROUP BY ROLLUP (a) ORDER BY 1, "
	  "2",
	    "1|2|x,x,y;2|1|x;~|1|x;~|2|x,x,x,x,y; SELECT 4" },
	{ "SELECT a, count(*) FILTER (WHERE c > 10), sum(a) FROM s GROUP BY ROLLUP (a) ORDER BY 1, 2",
	    "1|2|3;2|1|4;~|0|~;~|3|7; SELECT 4" },
	{ "SELECT a, sum(c), rank() OVER (PARTITION BY grouping(a) ORDER BY sum(c)) FROM s GROUP BY ROLLUP "
	  "(a) ORDER BY 1, 2",
	    "1|50|3;2|40|2;~|10|1;~|100|1; SELECT 4" },
	{ "SELECT a, b, sum(c) FROM s GROUP BY CUBE (a, b, c, v) ORDER BY 1, 2, 3 LIMIT 7",
	    "1|x|10;1|x|10;1|x|10;1|x|20;1|x|20;1|x|20;1|x|30; SELECT 7" },
	{ "SELECT a FROM s GROUP BY CUBE (a, b, c, v, 1+a, 2+a, 3+a, 4+a, 5+a, 6+a, 7+a, 8+a, 9+a)",
	    "ERROR 54011: CUBE is limited to 12 elements" },
	{ "SELECT (SELECT sum(x.c) FROM s x WHERE x.a = s.a), a FROM s GROUP BY ROLLUP (a) ORDER BY 2, 1",
	    "50|1;40|2;~|~;~|~; SELECT 4" },
	{ "SELECT DISTINCT a FROM s GROUP BY CUBE (a, b) ORDER BY 1", "1;2;~; SELECT 3" },
	{ "SELECT a, count(*) FROM s GROUP BY (a, b), c ORDER BY 1, 2", "1|1;1|1;1|1;2|1;2|1;~|1; SELECT 6" },
	{ "SELECT coalesce(a, -1), sum(c) FROM s GROUP BY ROLLUP (a) UNION ALL SELECT 99, 0 ORDER BY 1, 2",
	    "-1|10;-1|100;1|50;2|40;99|0; SELECT 5" },
	{ "CREATE TABLE p (id int PRIMARY KEY, n text, q int)", "CREATE TABLE" },
	{ "INSERT INTO p VALUES (1, 'one', 5), (2, 'two', 6)", "INSERT 0 2" },
	{ "SELECT id, n, sum(q) FROM p GROUP BY id, ROLLUP (q) ORDER BY 1, 2, 3",
	    "1|one|5;1|one|5;2|two|6;2|two|6; SELECT 4" },
	{ "SELECT id, n, sum(q) FROM p GROUP BY ROLLUP (id)",
	    "ERROR 42803: column \"p.n\" must appear in the GROUP BY clause or be used in an aggregate "
	    "function" },
	{ "SELECT * FROM (SELECT a, sum(c) AS t FROM s GROUP BY ROLLUP (a)) z WHERE a IS NULL ORDER BY t",
	    "~|10;~|100; SELECT 2" },
	{ "SELECT sum(grouping(a)) FROM s GROUP BY a",
	    "ERROR 42803: aggregate function calls cannot be nested" },
	{ "SELECT a, b, grouping(b, a) FROM s GROUP BY GROUPING SETS ((a, b), a, b) ORDER BY 3, 1, 2",
	    "1|x|0;1|y|0;2|x|0;2|~|0;~|x|0;~|x|1;~|y|1;~|~|1;1|~|2;2|~|2;~|~|2; SELECT 11" },
	{ "SELECT a FROM s GROUP BY GROUPING SETS (a, count(*))",
	    "ERROR 42803: aggregate functions are not allowed in GROUP BY" },
};

/* More sets than a batch has rows are no trouble; more than there may be are refused. */
static const struct golden many[] = {
	{ "create table w (a int, b int, c int, d int, e int, f int, g int, h int, i int, j int)",
	    "CREATE TABLE" },
	{ "insert into w values (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (1, 2, 3, 4, 5, 6, 7, 8, 9, 11)",
	    "INSERT 0 2" },
	{ "select count(*), sum(n) from (select count(*) as n from w group by cube (a, b, c, d, e, f, g, h, "
	  "i, j)) x",
	    "1536|2048; SELECT 1" },
	{ "select count(*) from w group by cube (a, b, c, d, e, f, g), cube (a, b, c, d, e, f, g)",
	    "ERROR 54001: too many grouping sets present (maximum 4096)" },
	{ "select a, grouping(a) from generate_series(1, 3000) as s(a) group by rollup (a) order by 2 desc, "
	  "1 limit 2",
	    "~|1;1|0; SELECT 2" },
	{ "prepare p as select a, count(*) from w where a < $1 group by rollup (a) order by 1", "PREPARE" },
	{ "execute p (2)", "1|2;~|2; SELECT 2" },
	{ "execute p (0)", "~|0; SELECT 1" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(cases);
}

static void
many_sets(void **state)
{
	(void)state;
	golden_all(many);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(many_sets) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
