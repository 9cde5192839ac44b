SELECT 1 + 1, 'text' || 2, 1.5::numeric(5,1), NULL IS NULL, CASE WHEN true THEN 1 ELSE 2 END
SELECT a, b, c FROM t WHERE a > 1 AND b LIKE 'd%' OR c IS NULL ORDER BY a DESC NULLS LAST LIMIT 2 OFFSET 1
SELECT f, count(*), sum(c), avg(e), min(d), max(h) FROM t GROUP BY f HAVING count(*) > 0 ORDER BY 1
SELECT DISTINCT b FROM t WHERE a IN (1, 2, 3) AND g BETWEEN -5 AND 5
SELECT t.a, u.k FROM t JOIN u ON t.a = u.a WHERE u.k <> 'q'
SELECT * FROM t LEFT JOIN u USING (a) FULL JOIN u AS w ON w.k = u.k
SELECT * FROM (SELECT a, b FROM t) AS s(x, y), (VALUES (1, 'v'), (2, 'w')) AS v WHERE s.x = v.column1
SELECT a FROM t UNION ALL SELECT a FROM u EXCEPT SELECT 2 ORDER BY 1
WITH w AS (SELECT a, g FROM t) SELECT w.a, (SELECT max(k) FROM u WHERE u.a = w.a) FROM w WHERE EXISTS (SELECT 1 FROM u)
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT sum(n) FROM r
SELECT a, row_number() OVER (ORDER BY a), sum(g) OVER (PARTITION BY f ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
INSERT INTO t (a, b) VALUES (10, 'ten'), (11, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING a, b
UPDATE t SET b = upper(b), c = c * 2 WHERE a = 1 RETURNING *
DELETE FROM t USING u WHERE t.a = u.a AND u.k = 'y'
BEGIN; SAVEPOINT s; INSERT INTO u VALUES ('n', 9); ROLLBACK TO s; COMMIT
CREATE TABLE n (i integer PRIMARY KEY, s varchar(3) NOT NULL DEFAULT 'abc', CHECK (i > 0)); INSERT INTO n VALUES (1, 'a'); DROP TABLE n
CREATE VIEW vw AS SELECT a, b FROM t; SELECT * FROM vw; DROP VIEW vw
ALTER TABLE u ADD COLUMN z integer DEFAULT 5
CREATE SEQUENCE sq; SELECT nextval('sq'); DROP SEQUENCE sq
SELECT date '2024-02-29' + 1, extract(year FROM timestamp '2024-01-01 10:00'), now() > '2000-01-01'::timestamp
SELECT lpad('x', 5, '*'), substring('hello' FROM 2 FOR 3), position('l' IN 'hello'), replace('a-b', '-', '+')
SELECT round(2.5), 7 / 2, 7 % 2, 2 ^ 10, sqrt(2), 1e300 * 10, power(2, 0.5), abs(-3), greatest(1, NULL, 3)
SELECT generate_series(1, 3), x FROM generate_series(1, 10, 3) AS g(x)
EXPLAIN ANALYZE SELECT t.a FROM t JOIN u ON u.a = t.a
SET lock_timeout = '2s'; SHOW transaction_isolation; RESET ALL
SELECT a = ANY (SELECT a FROM u), a NOT IN (SELECT a FROM u WHERE a IS NOT NULL) FROM t
SELECT count(DISTINCT b) FILTER (WHERE a > 1), string_agg(b, ',' ORDER BY a) FROM t
PREPARE p AS SELECT $1::integer + 1; EXECUTE p(2); DEALLOCATE p
