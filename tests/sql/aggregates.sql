-- FILTER over windows, DISTINCT of json and of two arguments
CREATE TABLE ag (i int PRIMARY KEY, x int, t text, f float8, j json, jb jsonb, b bool)
INSERT INTO ag VALUES (1, 1, 'a', 1.5, '1', '{"a":1}', true), (2, 1, 'b', 1.5, '2', '{"a":1}', false), (3, NULL, 'a', NULL, NULL, NULL, NULL), (4, 2, NULL, 2.5, '1', '[1]', true), (5, 2, 'b', 2.5, '2', '[1]', true), (6, NULL, NULL, NULL, NULL, NULL, false)
SELECT i, array_agg(x) FILTER (WHERE b) OVER (ORDER BY i) FROM ag ORDER BY i
SELECT i, json_agg(x) FILTER (WHERE b) OVER (ORDER BY i), jsonb_agg(t) FILTER (WHERE NOT b) OVER (PARTITION BY x ORDER BY i) FROM ag ORDER BY i
SELECT i, json_object_agg(i, x) FILTER (WHERE x > 1) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), jsonb_object_agg(i, t) FILTER (WHERE t IS NOT NULL) OVER (ORDER BY i DESC) FROM ag ORDER BY i
SELECT i, array_agg(x) FILTER (WHERE i <> 2) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM ag ORDER BY i
SELECT i, array_agg(x) FILTER (WHERE i = 2) OVER w, array_agg(x) FILTER (WHERE i = 3) OVER w, array_agg(x) OVER w, count(*) FILTER (WHERE b) OVER w, string_agg(t, '-') FILTER (WHERE b) OVER w FROM ag WINDOW w AS (ORDER BY i GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW) ORDER BY i
SELECT i, array_agg(10 / (i - 2)) FILTER (WHERE true) OVER () FROM ag WHERE i > 2 ORDER BY i
SELECT i, array_agg(x) FILTER (WHERE NULL) OVER (ORDER BY i), json_agg(x) FILTER (WHERE false) OVER (ORDER BY i) FROM ag ORDER BY i
SELECT x, array_agg(x) FILTER (WHERE x > 0) OVER (ORDER BY x), array_agg(count(*)) FILTER (WHERE x > 1) OVER (ORDER BY x) FROM ag GROUP BY x ORDER BY x
SELECT array_agg(x) FILTER (WHERE 1) OVER () FROM ag
SELECT array_agg(x) FILTER (WHERE count(*) > 1) OVER () FROM ag GROUP BY x
SELECT array_agg(x) FILTER (WHERE rank() OVER () > 1) OVER () FROM ag
SELECT array_agg(x) FILTER (WHERE nope) OVER () FROM ag
SELECT array_agg(DISTINCT x) FILTER (WHERE b) OVER () FROM ag
SELECT array_agg(x) FILTER (WHERE t IN (SELECT t FROM ag a WHERE a.i = 1)) OVER (ORDER BY i) FROM ag ORDER BY i
SELECT json_agg(ARRAY[x, 1]), jsonb_agg(ARRAY[x]), json_object_agg(i, ARRAY[x]), json_agg(j), json_agg(t) FROM ag
SELECT json_agg(ARRAY[x, 1]) OVER (ORDER BY i), json_agg(ARRAY[x]) FILTER (WHERE x > 1) OVER () FROM ag ORDER BY i
SELECT json_agg(DISTINCT x), jsonb_agg(DISTINCT t), json_agg(DISTINCT x ORDER BY x DESC), jsonb_agg(DISTINCT f ORDER BY f NULLS FIRST), json_agg(DISTINCT b) FROM ag
SELECT x, json_agg(DISTINCT t), jsonb_agg(DISTINCT jb), json_agg(DISTINCT t) FILTER (WHERE i <> 2) FROM ag GROUP BY x ORDER BY x
SELECT json_object_agg(DISTINCT t, x) FILTER (WHERE t IS NOT NULL) FROM ag
SELECT jsonb_object_agg(DISTINCT i, x) FROM ag
SELECT json_object_agg(DISTINCT i % 3, x ORDER BY i % 3 DESC, x) FROM ag
SELECT json_object_agg(DISTINCT i % 3, x ORDER BY x NULLS FIRST, i % 3) FROM ag
SELECT json_object_agg(DISTINCT i % 3, x ORDER BY i) FROM ag
SELECT json_agg(DISTINCT j) FROM ag
SELECT json_object_agg(DISTINCT i, j) FROM ag
SELECT jsonb_agg(DISTINCT ARRAY[x, 1]), json_agg(DISTINCT ARRAY[t]) FROM ag
SELECT json_agg(DISTINCT 'a') FROM ag
SELECT json_agg(DISTINCT 'a'::text), json_agg(DISTINCT NULL::int), json_object_agg(DISTINCT 'a', 'b') FROM ag
SELECT json_agg(DISTINCT x) FROM ag WHERE false
SELECT json_object_agg(DISTINCT x, t) FROM ag
SELECT corr(DISTINCT f, x), covar_pop(DISTINCT f, x), regr_count(DISTINCT x, f), regr_count(x, f), regr_sxx(DISTINCT x, i % 2), regr_avgx(DISTINCT x, f) FROM ag
SELECT b, regr_count(DISTINCT x, f), regr_slope(DISTINCT f, i) FROM ag GROUP BY b ORDER BY b
SELECT regr_count(DISTINCT 1, x), regr_sxy(DISTINCT x, x ORDER BY x) FROM ag
SELECT string_agg(DISTINCT t, ','), string_agg(DISTINCT t, i::text ORDER BY t DESC, i::text), string_agg(DISTINCT t, ',' ORDER BY t DESC) FROM ag
SELECT string_agg(DISTINCT x::text, t) FROM ag
SELECT string_agg(DISTINCT t, ',' ORDER BY i) FROM ag
SELECT string_agg(DISTINCT convert_to(t, 'UTF8'), '\x2c') FROM ag
SELECT string_agg(DISTINCT t, t) FILTER (WHERE i < 5) FROM ag
PREPARE ad AS SELECT json_agg(DISTINCT x + $1), string_agg(DISTINCT t, $2), json_object_agg(DISTINCT i % 2, $3::text) FROM ag
EXECUTE ad(1, '-', 'z')
DEALLOCATE ad
-- calls in calls: which mistake is told
SELECT sum(max(x) + nope) FROM ag
SELECT sum(nope + max(x)) FROM ag
SELECT sum(max(nope)) FROM ag
SELECT sum(max(x)) FROM ag
SELECT sum(max(min(x))) FROM ag
SELECT sum(max(t)) FROM ag
SELECT sum(lower(max(x))) FROM ag
SELECT max(sum(t)) FROM ag
SELECT sum(x) FILTER (WHERE max(x) > 1 AND nope) FROM ag
SELECT sum(x) FILTER (WHERE nope AND max(x) > 1) FROM ag
SELECT sum(x) FILTER (WHERE max(min(x)) > 1) FROM ag
SELECT sum(max(x)) FILTER (WHERE nope) FROM ag
SELECT sum(max(x)) FILTER (WHERE max(x) > 1) FROM ag
SELECT sum(max(x) ORDER BY nope) FROM ag
SELECT array_agg(x ORDER BY max(x)) FROM ag
SELECT array_agg(x ORDER BY max(x), nope) FROM ag
SELECT x FROM ag WHERE sum(max(x)) > 1
SELECT x FROM ag WHERE sum(max(x) + nope) > 1
SELECT sum(rank() OVER () + nope) FROM ag
SELECT sum(rank() OVER ()) FROM ag
SELECT sum(rank() OVER (ORDER BY nope)) FROM ag
SELECT sum(rank() OVER (ORDER BY max(x))) FROM ag
SELECT sum(x) FILTER (WHERE rank() OVER () > 1) FROM ag
SELECT x FROM ag WHERE sum(rank() OVER ()) > 1
SELECT max(coalesce(x, (SELECT max(ag.x) FROM ag a WHERE a.nope = 1))) FROM ag
SELECT max(coalesce(x, (SELECT max(ag.x) FROM ag a WHERE a.x = 1))) FROM ag
SELECT (SELECT max(ag.x + (SELECT min(ag.x) FROM ag c WHERE c.nope)) FROM ag b) FROM ag
SELECT max(x) FILTER (WHERE (SELECT max(ag.x) > 1 FROM ag a)) FROM ag
SELECT max(x) FILTER (WHERE (SELECT max(a.x) > 1 FROM ag a)) FROM ag
DROP TABLE ag
-- WITH: mistakes of its queries come first
CREATE TABLE wt (a int, b int, c int)
INSERT INTO wt VALUES (1, 2, 3), (2, 3, 4)
WITH p AS (SELECT nope FROM wt) SELECT max(a) FROM (SELECT x.e FROM wt x(e, a, e)) y, p
WITH p AS (SELECT nope FROM wt) SELECT a.b FROM gone, p
WITH p AS (SELECT nope FROM wt) SELECT gone.a FROM wt
WITH p AS (SELECT a FROM wt GROUP BY a HAVING b > 1), q AS (SELECT max(min(a)) FROM p) SELECT nope FROM q
WITH p AS (SELECT a FROM wt), q AS (SELECT a FROM p WHERE gone.b = 1), r AS (SELECT nope FROM wt) SELECT a FROM r, q GROUP BY b
WITH p AS (SELECT a FROM wt), q AS (SELECT nope FROM wt), r AS (SELECT gone.a FROM q) SELECT a, b FROM r, p GROUP BY a
WITH p AS (SELECT a FROM wt), q AS (SELECT a FROM p), r AS (SELECT a + 1 AS a FROM q) SELECT 1
WITH p AS (SELECT a FROM wt), q AS (WITH p AS (SELECT b FROM wt) SELECT b FROM p), r AS (SELECT a FROM p) SELECT * FROM q ORDER BY 1
SELECT (WITH p AS (SELECT x.nope FROM wt) SELECT y.a FROM wt y WHERE y.nope = 1) FROM wt
SELECT (WITH p AS (SELECT x.a) SELECT p.nope FROM p) FROM wt x
SELECT (SELECT max(y.b) FROM wt WHERE a = y.a) FROM (WITH wt(a, a) AS (SELECT 1, 2 FROM wt z(q, q) WHERE q = 1) SELECT a, b FROM wt) y
SELECT (SELECT max(y.b) FROM wt WHERE a <> y.a) FROM (WITH t(e, id) AS (SELECT e - y.c, e FROM wt y(e, c)) SELECT a, b FROM wt) y
WITH p AS (SELECT 1 AS a UNION SELECT nope FROM wt) SELECT a FROM p UNION SELECT gone FROM wt
WITH p AS (SELECT gone FROM wt) VALUES (1), (nope)
WITH p(a, b) AS (SELECT a FROM wt) SELECT nope FROM p
WITH p(a, b) AS (SELECT a FROM wt), q AS (SELECT nope FROM wt) SELECT * FROM q, p
WITH p AS (SELECT a FROM wt), q AS (SELECT 1 / 0 AS z FROM p), r AS (SELECT z FROM q) SELECT count(*) FROM wt
WITH p AS (WITH q AS (WITH r AS (SELECT nope FROM wt) SELECT gone.a FROM wt) SELECT a FROM wt GROUP BY b) SELECT max(max(a)) FROM wt
WITH p AS (SELECT a FROM wt WHERE nope), q AS MATERIALIZED (SELECT gone.a FROM p) SELECT b FROM q, q z
-- WITH RECURSIVE: where a query may use itself is told first
WITH RECURSIVE p(a) AS (SELECT x.b FROM wt y UNION SELECT a + 1 FROM p), q(b) AS (SELECT b FROM q) SELECT 1
WITH RECURSIVE p(a) AS (SELECT x.b FROM wt y UNION SELECT a + 1 FROM p, p z) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope FROM p UNION SELECT a + 1 FROM p) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a + 1 FROM wt LEFT JOIN p ON true) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a + 1 FROM wt RIGHT JOIN p ON true) SELECT 1
WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT p.a + 1 FROM wt RIGHT JOIN p ON true WHERE p.a < 3) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a + 1 FROM wt FULL JOIN p ON true) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a FROM wt WHERE a IN (SELECT a FROM p)) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT (SELECT a FROM p)) SELECT 1
WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a + 1 FROM (SELECT a FROM p WHERE a < 4) z) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (SELECT 1 UNION (SELECT a + 1 FROM p WHERE a < 4 EXCEPT SELECT nope)) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (SELECT 1 UNION (SELECT 2 EXCEPT SELECT a FROM p)) SELECT nope
WITH RECURSIVE p(a) AS (SELECT 1 UNION (SELECT a FROM p EXCEPT ALL SELECT 2)) SELECT nope
WITH RECURSIVE p(a) AS (SELECT 1 UNION (SELECT a FROM p INTERSECT ALL SELECT 2)) SELECT nope
WITH RECURSIVE p(a) AS (SELECT 1 UNION (SELECT a FROM p INTERSECT SELECT 2)) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (SELECT nope INTERSECT SELECT a FROM p) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a FROM p ORDER BY 1) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a FROM p LIMIT 1) SELECT 1
WITH RECURSIVE p(a) AS (WITH z AS (SELECT a FROM p) SELECT nope UNION SELECT a FROM p) SELECT 1
WITH RECURSIVE p(a) AS (WITH p AS (SELECT 1) SELECT nope UNION SELECT a FROM p) SELECT 1
WITH RECURSIVE p(a) AS (SELECT 1 UNION SELECT a FROM (WITH p AS (SELECT 1 AS a) SELECT a FROM p) z) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (SELECT nope UNION SELECT a FROM q), q(a) AS (SELECT a FROM p) SELECT 1
WITH RECURSIVE p(a) AS (SELECT nope FROM wt), q(a) AS (SELECT a FROM p UNION SELECT a FROM q, q z) SELECT 1
WITH RECURSIVE p(a) AS (SELECT 1 UNION ALL SELECT max(a) FROM p) SELECT 1
WITH RECURSIVE p(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM p JOIN wt ON a IN (SELECT a FROM p)) SELECT nope
WITH RECURSIVE p(a) AS (SELECT 1 UNION ALL SELECT z.a + 1 FROM wt y, LATERAL (SELECT p.a FROM p WHERE p.a < 2) z) SELECT count(*) FROM p
WITH RECURSIVE p(a) AS (WITH z AS (SELECT 1 AS x), y AS (SELECT x FROM z) SELECT x FROM y UNION ALL SELECT a + 1 FROM p WHERE a < 5), q AS (SELECT nope FROM wt) SELECT a FROM p ORDER BY 1
WITH RECURSIVE q AS (SELECT b FROM wt), p(a) AS (WITH z AS (SELECT 1 AS x), y AS (SELECT x FROM z) SELECT x FROM y UNION ALL SELECT a + 1 FROM p WHERE a < 5), r AS (SELECT a FROM p) SELECT a FROM r, q ORDER BY 1
WITH RECURSIVE q AS (SELECT b FROM wt), p(a) AS (WITH z AS (SELECT 1 AS x), y AS (SELECT nope FROM z) SELECT x FROM y UNION ALL SELECT a + 1 FROM p WHERE a < 5), r AS (SELECT gone.a FROM p) SELECT a FROM r, q ORDER BY 1
WITH RECURSIVE p(a) AS (WITH z AS (SELECT 1 AS x) SELECT x FROM z UNION ALL SELECT a + 1 FROM p WHERE a < 5) SELECT a FROM p WHERE nope
DROP TABLE wt
