/* lateral_test.c -- LATERAL, functions in FROM over columns beside them, aliases of joins. Every
 * answer is PostgreSQL 15's. */
#include "golden.h"

static const struct golden cases[] = {
	{ "CREATE TABLE a (id int PRIMARY KEY, x int, s text)", "CREATE TABLE" },
	{ "CREATE TABLE b (id int PRIMARY KEY, x int, t text)", "CREATE TABLE" },
	{ "CREATE TABLE c (k int PRIMARY KEY, x int)", "CREATE TABLE" },
	{ "INSERT INTO a VALUES (1, 10, 'one'), (2, 20, 'two'), (3, NULL, 'three'), (4, 10, NULL)",
	    "INSERT 0 4" },
	{ "INSERT INTO b VALUES (1, 10, 'u'), (2, 10, 'v'), (3, 20, 'w'), (5, 30, 'z')", "INSERT 0 4" },
	{ "INSERT INTO c VALUES (1, 10), (2, 30), (3, NULL)", "INSERT 0 3" },
	{ "SELECT a.id, l.t FROM a, LATERAL (SELECT b.t FROM b WHERE b.x = a.x ORDER BY b.t DESC LIMIT 1) l "
	  "ORDER BY a.id",
	    "1|v;2|w;4|v; SELECT 3" },
	{ "SELECT a.id, l.t FROM a LEFT JOIN LATERAL (SELECT b.t FROM b WHERE b.x = a.x ORDER BY b.t) l ON "
	  "true ORDER BY a.id, l.t",
	    "1|u;1|v;2|w;3|~;4|u;4|v; SELECT 6" },
	{ "SELECT a.id, l.t FROM a LEFT JOIN LATERAL (SELECT b.t FROM b WHERE b.x = a.x) l ON l.t <> 'u' "
	  "ORDER BY a.id, l.t",
	    "1|v;2|w;3|~;4|v; SELECT 4" },
	{ "SELECT a.id, l.n FROM a CROSS JOIN LATERAL (SELECT count(*) AS n FROM b WHERE b.x = a.x) l ORDER "
	  "BY 1",
	    "1|2;2|1;3|0;4|2; SELECT 4" },
	{ "SELECT a.id, g FROM a, generate_series(1, a.id) g ORDER BY 1, 2",
	    "1|1;2|1;2|2;3|1;3|2;3|3;4|1;4|2;4|3;4|4; SELECT 10" },
	{ "SELECT a.id, g FROM a, generate_series(1, a.x) AS g WHERE g > 8 ORDER BY 1, 2",
	    "1|9;1|10;2|9;2|10;2|11;2|12;2|13;2|14;2|15;2|16;2|17;2|18;2|19;2|20;4|9;4|10; SELECT 16" },
	{ "SELECT a.id, g FROM a LEFT JOIN generate_series(2, a.id) AS g ON g <> 3 ORDER BY 1, 2",
	    "1|~;2|2;3|2;4|2;4|4; SELECT 5" },
	{ "SELECT a.id, g.v, g.ordinality FROM a, generate_series(a.id, 4) WITH ORDINALITY AS g(v) ORDER BY "
	  "1, 2",
	    "1|1|1;1|2|2;1|3|3;1|4|4;2|2|1;2|3|2;2|4|3;3|3|1;3|4|2;4|4|1; SELECT 10" },
	{ "SELECT a.id, l.y, m.z FROM a, LATERAL (SELECT a.x + 1 AS y) l, LATERAL (SELECT l.y * 2 AS z) m "
	  "ORDER BY 1",
	    "1|11|22;2|21|42;3|~|~;4|11|22; SELECT 4" },
	{ "SELECT a.id, l.y, c.k FROM a, LATERAL (SELECT a.x AS y) l, c WHERE c.x = l.y ORDER BY 1, 3",
	    "1|10|1;4|10|1; SELECT 2" },
	{ "SELECT a.id, l.y, c.k FROM a, LATERAL (SELECT a.x AS y) l JOIN c ON c.x = l.y ORDER BY 1, 3",
	    "1|10|1;4|10|1; SELECT 2" },
	{ "SELECT a.id, l.y, c.k FROM a CROSS JOIN LATERAL (SELECT a.x AS y) l LEFT JOIN c ON c.x = l.y "
	  "ORDER BY 1, 3",
	    "1|10|1;2|20|~;3|~|~;4|10|1; SELECT 4" },
	{ "SELECT a.id, l.* FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) l ORDER BY 1",
	    "1|1|10|u;2|2|10|v;3|3|20|w; SELECT 3" },
	{ "SELECT * FROM a, LATERAL (SELECT x) l ORDER BY 1",
	    "1|10|one|10;2|20|two|20;3|~|three|~;4|10|~|10; SELECT 4" },
	{ "SELECT * FROM LATERAL (SELECT a.x) l, a",
	    "ERROR 42P01: missing FROM-clause entry for table \"a\"" },
	{ "SELECT a.id, (SELECT max(l.y) FROM generate_series(1, a.id) g, LATERAL (SELECT g * a.x AS y) l) "
	  "FROM a ORDER BY 1",
	    "1|10;2|40;3|~;4|40; SELECT 4" },
	{ "SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b, LATERAL (SELECT b.x + a.id AS q) l WHERE l.q = "
	  "11) ORDER BY 1",
	    "1; SELECT 1" },
	{ "SELECT a.id, l.n FROM a, LATERAL (WITH w AS (SELECT * FROM b WHERE b.x = a.x) SELECT count(*) + "
	  "(SELECT count(*) FROM w) AS n FROM w) l ORDER BY 1",
	    "1|4;2|2;3|0;4|4; SELECT 4" },
	{ "SELECT a.id, l.v FROM a, LATERAL (SELECT a.x AS v UNION ALL SELECT b.x FROM b WHERE b.id = a.id) "
	  "l ORDER BY 1, 2",
	    "1|10;1|10;2|10;2|20;3|20;3|~;4|10; SELECT 7" },
	{ "SELECT a.id, l.v FROM a, LATERAL (VALUES (a.x), (a.id)) l(v) ORDER BY 1, 2",
	    "1|1;1|10;2|2;2|20;3|3;3|~;4|4;4|10; SELECT 8" },
	{ "SELECT a.id, l.r FROM a, LATERAL (SELECT b.id, rank() OVER (ORDER BY b.x + a.id) AS r FROM b) l "
	  "WHERE l.id = a.id ORDER BY 1",
	    "1|1;2|1;3|3; SELECT 3" },
	{ "SELECT l.s, count(*) FROM a, LATERAL (SELECT s FROM generate_series(1, a.id)) l GROUP BY l.s "
	  "ORDER BY 1",
	    "one|1;three|3;two|2;~|4; SELECT 4" },
	{ "SELECT count(*), sum(g) FROM a, generate_series(1, a.id * 1000) g", "10000|15005000; SELECT 1" },
	{ "SELECT count(*) FROM generate_series(1, 60) n, LATERAL (SELECT n AS m FROM generate_series(1, n)) "
	  "l WHERE m % 2 = 0",
	    "930; SELECT 1" },
	{ "SELECT count(*), max(length(l.t)) FROM generate_series(1, 2000) n, LATERAL (SELECT repeat('x', n "
	  "% 7) AS t) l",
	    "2000|6; SELECT 1" },
	{ "SELECT a.id, generate_series(1, a.id) AS g FROM a ORDER BY 1, 2",
	    "1|1;2|1;2|2;3|1;3|2;3|3;4|1;4|2;4|3;4|4; SELECT 10" },
	{ "SELECT a.id, l.w FROM a RIGHT JOIN LATERAL (SELECT 1 AS w) l ON true ORDER BY 1",
	    "1|1;2|1;3|1;4|1; SELECT 4" },
	{ "SELECT a.id, l.w FROM a FULL JOIN LATERAL (SELECT 1 AS w) l ON a.id = l.w ORDER BY 1",
	    "1|1;2|~;3|~;4|~; SELECT 4" },
	{ "SELECT a.id, l.i FROM a JOIN LATERAL (SELECT b.id AS i FROM b WHERE b.x > coalesce(a.x, 0)) l ON "
	  "l.i < 4 ORDER BY 1, 2",
	    "1|3;3|1;3|2;3|3;4|3; SELECT 5" },
	{ "SELECT x.id, y.id, z.m FROM a x JOIN a y ON x.x = y.x JOIN LATERAL (SELECT max(b.id) AS m FROM b "
	  "WHERE b.x = x.x AND b.id <= y.id) z ON true ORDER BY 1, 2",
	    "1|1|1;1|4|2;2|2|~;4|1|1;4|4|2; SELECT 5" },
	{ "SELECT a.id, l.n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.x = a.x) l WHERE l.n > 0 "
	  "ORDER BY 1",
	    "1|2;2|1;4|2; SELECT 3" },
	{ "SELECT a.id, l.q FROM a LEFT JOIN LATERAL (SELECT a.x / b.x AS q FROM b WHERE b.id = a.id) l ON "
	  "a.id > 1 ORDER BY 1",
	    "1|~;2|2;3|~;4|~; SELECT 4" },
	{ "SELECT a.id FROM a LEFT JOIN LATERAL (SELECT a.x AS q) l ON true WHERE l.q = 10 ORDER BY 1",
	    "1;4; SELECT 2" },
	{ "SELECT id, (SELECT string_agg(l.y::text, ',' ORDER BY l.y) FROM b, LATERAL (SELECT b.id * a.id AS "
	  "y) l) FROM a ORDER BY 1",
	    "1|1,2,3,5;2|2,4,6,10;3|3,6,9,15;4|4,8,12,20; SELECT 4" },
	{ "UPDATE c SET x = l.m FROM a, LATERAL (SELECT max(b.x) AS m FROM b WHERE b.id <= a.id) l WHERE "
	  "a.id = c.k",
	    "UPDATE 3" },
	{ "SELECT * FROM c ORDER BY k", "1|10;2|10;3|20; SELECT 3" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS j ORDER BY 1",
	    "1|10|one|10|u;2|20|two|10|v;3|~|three|20|w; SELECT 3" },
	{ "SELECT j.id, j.s, j.t FROM (a JOIN b USING (id)) AS j ORDER BY 1",
	    "1|one|u;2|two|v;3|three|w; SELECT 3" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS j(k, ax, s, bx) ORDER BY k",
	    "1|10|one|10|u;2|20|two|10|v;3|~|three|20|w; SELECT 3" },
	{ "SELECT j.k, ax + bx, t FROM (a JOIN b USING (id)) AS j(k, ax, s, bx) ORDER BY k",
	    "1|20|u;2|30|v;3|~|w; SELECT 3" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS j(a1, a2, a3, a4, a5, a6)",
	    "ERROR 42P10: join expression \"j\" has 5 columns available but 6 columns specified" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS j, a WHERE j.id = a.id ORDER BY 1",
	    "1|10|one|10|u|1|10|one;2|20|two|10|v|2|20|two;3|~|three|20|w|3|~|three; SELECT 3" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS a ORDER BY 1",
	    "1|10|one|10|u;2|20|two|10|v;3|~|three|20|w; SELECT 3" },
	{ "SELECT a.id FROM (a JOIN b USING (id)) AS a ORDER BY 1", "1;2;3; SELECT 3" },
	{ "SELECT * FROM (a JOIN b USING (id)) AS c, c",
	    "ERROR 42712: table name \"c\" specified more than once" },
	{ "SELECT j.* FROM (a FULL JOIN b USING (id)) AS j(k) ORDER BY k",
	    "1|10|one|10|u;2|20|two|10|v;3|~|three|20|w;4|10|~|~|~;5|~|~|30|z; SELECT 5" },
	{ "SELECT k, j.k FROM (a FULL JOIN b USING (id)) AS j(k) ORDER BY k",
	    "1|1;2|2;3|3;4|4;5|5; SELECT 5" },
	{ "SELECT j.id, c.x FROM (a LEFT JOIN b USING (id)) AS j JOIN c ON c.k = j.id ORDER BY 1",
	    "1|10;2|10;3|20; SELECT 3" },
	{ "SELECT * FROM (a CROSS JOIN c) AS j(p, q) ORDER BY 1, 4 LIMIT 3",
	    "1|10|one|1|10;1|10|one|2|10;1|10|one|3|20; SELECT 3" },
	{ "SELECT * FROM (a JOIN b ON a.id = b.id) AS j(i1, x1, s1, i2) JOIN c ON c.k = j.i2 ORDER BY 1",
	    "1|10|one|1|10|u|1|10;2|20|two|2|10|v|2|10;3|~|three|3|20|w|3|20; SELECT 3" },
	{ "SELECT * FROM (a NATURAL JOIN b) AS j ORDER BY 1", "1|10|one|u; SELECT 1" },
	{ "SELECT u.id, a.x, b.x FROM a JOIN b USING (id) AS u ORDER BY 1",
	    "1|10|10;2|20|10;3|~|20; SELECT 3" },
	{ "SELECT u.* FROM a JOIN b USING (id) AS u ORDER BY 1", "1;2;3; SELECT 3" },
	{ "SELECT u.x FROM a JOIN b USING (id) AS u", "ERROR 42703: column u.x does not exist" },
	{ "SELECT u.id, a.id FROM a FULL JOIN b USING (id) AS u ORDER BY 1",
	    "1|1;2|2;3|3;4|4;5|~; SELECT 5" },
	{ "SELECT u.id FROM a JOIN b USING (id, x) AS u ORDER BY 1", "1; SELECT 1" },
	{ "SELECT * FROM ((a JOIN b USING (id)) AS j(id2, xx) JOIN c ON c.k = j.id2) AS m ORDER BY 1",
	    "1|10|one|10|u|1|10;2|20|two|10|v|2|10;3|~|three|20|w|3|20; SELECT 3" },
	{ "SELECT m.id2 FROM ((a JOIN b USING (id)) AS j(id2, xx) JOIN c ON c.k = j.id2) AS m ORDER BY 1",
	    "1;2;3; SELECT 3" },
	{ "SELECT count(*) FROM (a JOIN b USING (id)) AS j GROUP BY j.id ORDER BY 1", "1;1;1; SELECT 3" },
	{ "SELECT j.id, l.z FROM (a JOIN b USING (id)) AS j, LATERAL (SELECT j.id * 2 AS z) l ORDER BY 1",
	    "1|2;2|4;3|6; SELECT 3" },
	{ "SELECT id, l.z FROM a JOIN b USING (id), LATERAL (SELECT id * 2 AS z) l ORDER BY 1",
	    "1|2;2|4;3|6; SELECT 3" },
	{ "SELECT a.x, l.z FROM a JOIN b USING (id) CROSS JOIN LATERAL (SELECT a.x + b.x AS z) l ORDER BY 1, "
	  "2",
	    "10|20;20|30;~|~; SELECT 3" },
	{ "SELECT id, (WITH w AS (SELECT a.x AS q) SELECT q + (SELECT q FROM w) FROM w) FROM a ORDER BY 1",
	    "1|20;2|40;3|~;4|20; SELECT 4" },
	{ "SELECT id, (WITH w AS (SELECT a.x AS q) SELECT count(*) FROM w WHERE EXISTS (SELECT 1 FROM w v "
	  "WHERE v.q = w.q)) FROM a ORDER BY 1",
	    "1|1;2|1;3|0;4|1; SELECT 4" },
};

/* Many rows beside few and few beside many; what PostgreSQL refuses. */
static const struct golden more[] = {
	{ "select count(*), sum(m) from generate_series(1, 3) n, lateral (select n * g as m from "
	  "generate_series(1, 5000) g) l where m % 2 = 1",
	    "5000|25000000; SELECT 1" },
	{ "select count(l.m), count(*) from generate_series(1, 3000) n left join lateral (select n as m "
	  "where n % 3 = 0) l "
	  "on l.m % 2 = 0",
	    "500|3000; SELECT 1" },
	{ "prepare p as select n, g from generate_series(1, $1) n, generate_series(n, $2) g order by 1, 2",
	    "PREPARE" },
	{ "execute p (2, 3)", "1|1;1|2;1|3;2|2;2|3; SELECT 5" },
	{ "execute p (1, 1)", "1|1; SELECT 1" },
	{ "select * from generate_series(1, 2) n, lateral (select nothing) l",
	    "ERROR 42703: column \"nothing\" does not exist" },
	{ "select * from generate_series(1, x.n) g, (select 2 as n) x",
	    "ERROR 42P01: missing FROM-clause entry for table \"x\"" },
	{ "select n from generate_series(1, 3) n, lateral (select 1 / (n - 2)) l",
	    "ERROR 22012: division by zero" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(cases);
}

static void
batches(void **state)
{
	(void)state;
	golden_all(more);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(batches) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
