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
SELECT t.a, l.x FROM t, LATERAL (SELECT t.a + g AS x FROM u WHERE u.a <= t.a) AS l LEFT JOIN LATERAL generate_series(1, l.x) AS s(n) ON true
SELECT f, b, GROUPING(f, b), count(*) FROM t GROUP BY GROUPING SETS ((f), (b), ()) ORDER BY 1, 2
SELECT x, y, sum(y) FROM m GROUP BY ROLLUP (x, y) HAVING sum(y) > 3
SELECT x, z, count(*) FROM m GROUP BY CUBE (x, z), y % 2
SELECT ARRAY[1, 2, NULL], ARRAY[[1, 2], [3, 4]], '{"a","b c",NULL}'::text[], (ARRAY[1, 2, 3])[2:3], ARRAY[1] || 2, 2 = ANY (ARRAY[1, 2])
SELECT array_agg(a ORDER BY a DESC), array_length(array_agg(b), 1), array_to_string(array_agg(b), ',', '*') FROM t
SELECT unnest(ARRAY[1, 2, 3]), v FROM unnest(ARRAY['x', 'y']) WITH ORDINALITY AS q(v, n)
ALTER TABLE t ALTER b SET DEFAULT 'none'; ALTER TABLE t ALTER b DROP DEFAULT; ALTER TABLE u ALTER a SET NOT NULL
ALTER TABLE t ADD CONSTRAINT pos CHECK (a > 0); ALTER TABLE t DROP CONSTRAINT pos; ALTER TABLE t RENAME b TO bb; ALTER TABLE t RENAME TO tt
ALTER TABLE u ADD COLUMN w integer NOT NULL DEFAULT 7, DROP COLUMN a; SELECT * FROM u
CREATE OR REPLACE VIEW v (x, y) AS SELECT a, count(*) OVER () FROM t WHERE a > 1; SELECT v.x FROM v JOIN t ON v.x = t.a; DROP VIEW v CASCADE
CREATE VIEW v AS WITH c AS (SELECT * FROM m) SELECT x, (SELECT max(y) FROM c WHERE c.x = d.x) FROM c AS d; SELECT * FROM v; DROP TABLE m
SELECT b ~ '^o(n|x)*e?$', b ~* '[[:alpha:]]{2,4}', b !~ '\d+', b SIMILAR TO '(o|d)%', regexp_replace(b, '(.)(.)', '\2\1', 'g') FROM t
SELECT regexp_count(b, 'e'), regexp_instr(b, 'e', 1, 1), regexp_substr(b, '[a-f]+'), regexp_like(b, 'N', 'i'), substring(b FROM 'n.') FROM t
SELECT o -> 'a', o -> 'a' -> 0, o #> '{a,1}', o #>> '{a,1,b}', o ->> 'a', '[1, {"x": "\u00e9"}]'::json -> 1 FROM j
SELECT i + i, i * 2.5, z - i, extract(day FROM i), justify_days(i), m + i, date_trunc('hour', z), z AT TIME ZONE '+02', age(z, now()) FROM j
COPY t (a, b, c) FROM STDIN (FORMAT csv, HEADER, NULL 'nil', FORCE_NOT_NULL (b))@@a,b,c
COPY u FROM STDIN@@k1	5
COPY j (id, y, v) FROM STDIN (FORMAT csv, DELIMITER ';', QUOTE '"', ESCAPE '!', FORCE_NULL (v))@@9;"!"x";abc
COPY (SELECT a, b FROM t ORDER BY a) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)
COPY u TO STDOUT WITH (FORMAT text, DELIMITER '|', NULL '')
SELECT x, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(3) OVER w FROM m WINDOW w AS (PARTITION BY x ORDER BY z NULLS FIRST)
SELECT lag(y, 2, -1) OVER (ORDER BY y), lead(z) OVER (ORDER BY y), first_value(y) OVER w, nth_value(y, 2) OVER w FROM m WINDOW w AS (ORDER BY x GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES)
SELECT sum(y) OVER (ORDER BY y RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW), count(*) FILTER (WHERE z IS NOT NULL) OVER (PARTITION BY x) FROM m
SELECT * FROM t WHERE (a, g) NOT IN (SELECT x, y FROM m) AND a <> ALL (SELECT x FROM m WHERE m.y = t.g) AND NOT EXISTS (SELECT FROM u WHERE u.a > t.a)
SELECT (SELECT count(*) FROM m WHERE m.x = t.a AND m.y > (SELECT avg(a) FROM u WHERE u.a <= t.a)), CASE WHEN EXISTS (SELECT 1 FROM u) THEN a END FROM t
WITH RECURSIVE r(n, s) AS (SELECT 1, 'x' UNION SELECT (n * 2) % 11, s || n FROM r JOIN m ON m.x = r.n WHERE length(s) < 6), q AS (SELECT * FROM r) SELECT * FROM q, r LIMIT 20
WITH a AS MATERIALIZED (SELECT x, y FROM m), b AS (SELECT x FROM a GROUP BY x) INSERT INTO u SELECT x::text, x FROM b ON CONFLICT DO NOTHING RETURNING k
WITH d AS (DELETE FROM m WHERE y > 50 RETURNING *), n AS (INSERT INTO u SELECT z || y, x FROM d RETURNING a) SELECT count(*) FROM n
INSERT INTO m AS old VALUES (1, 1, 'q'), (1, 99, 'r') ON CONFLICT (x, y) DO UPDATE SET z = old.z || excluded.z, y = old.y + 100 WHERE old.x < 5 RETURNING old.*
INSERT INTO m (x, y) SELECT x + 100, y FROM m ON CONFLICT ON CONSTRAINT m_pkey DO NOTHING
UPDATE m SET (y, z) = (m.y + 1000, t.b), x = DEFAULT FROM t JOIN u USING (a) WHERE t.a = m.x RETURNING m.x, t.*
UPDATE m SET x = x + 1 WHERE z = (SELECT max(z) FROM m); DELETE FROM m USING t WHERE t.a = m.x RETURNING *
BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM t; SAVEPOINT a; DELETE FROM t; SAVEPOINT b; INSERT INTO t (a) VALUES (1); RELEASE b; ROLLBACK TO a; SELECT count(*) FROM t; COMMIT
BEGIN; CREATE TABLE n (a integer); INSERT INTO n VALUES (1); PREPARE q AS SELECT * FROM n; EXECUTE q; DROP TABLE n; EXECUTE q
PREPARE q (integer, text) AS SELECT $1 + a, $2 || b FROM t WHERE a = $1 OR b LIKE $2; EXECUTE q (1, 'o%'); EXECUTE q (NULL, NULL); ALTER TABLE t RENAME b TO c2; EXECUTE q (1, '')
CREATE SEQUENCE sq AS smallint START 5 INCREMENT -2 MINVALUE -10 MAXVALUE 5 CYCLE CACHE 3; SELECT nextval('sq'), nextval('sq'), currval('sq'), lastval(), setval('sq', 1, false)
CREATE TABLE n (i bigint GENERATED ALWAYS AS IDENTITY (START 9), s serial, d timestamp DEFAULT now()); INSERT INTO n DEFAULT VALUES RETURNING *; TRUNCATE n
CREATE TABLE n AS SELECT a, b FROM t WITH NO DATA; INSERT INTO n SELECT 1, 'x'; SELECT * INTO p FROM n
CREATE UNIQUE INDEX ON t (b); CREATE INDEX i ON m (z, x DESC); ANALYZE m; EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM m WHERE z = 'z1' ORDER BY z LIMIT 3
ANALYZE; SELECT t.a, m.y, w.k FROM t, m, u AS w WHERE t.a = m.x AND w.a = m.x AND m.y BETWEEN 2 AND 40 ORDER BY m.y DESC, 1 LIMIT 5
SELECT DISTINCT ON (x) x, y, z FROM m ORDER BY x, y DESC NULLS LAST FETCH FIRST 3 ROWS ONLY
SELECT string_agg(DISTINCT z, '-' ORDER BY z DESC), bool_and(y > 0), bit_or(x), stddev(y), var_pop(x), every(z IS NULL), avg(i), sum(r), min(q::text) FROM m, j
SELECT x FROM m INTERSECT ALL SELECT a FROM t UNION (SELECT a FROM u EXCEPT ALL VALUES (1), (NULL)) ORDER BY 1 NULLS FIRST LIMIT 3 OFFSET 1
SELECT * FROM (t CROSS JOIN u) NATURAL LEFT JOIN (m AS t2 (a, yy) RIGHT JOIN (VALUES (1, 2)) AS v (p, q) ON yy = p) FULL JOIN e ON e.a = t.g
SELECT '1.5e3'::numeric, 0.1::real, 'NaN'::numeric, 1e-130::numeric, 12345678901234567890::numeric % 7, (-7) / 2, -7 % 3, 5 # 3, ~5, 1 << 40, 2 ^ 0.5, |/ 4, @ -3
SELECT '2024-02-30'::date, 'today'::date, make_date(2024, 2, 29), to_timestamp(0), '24:00'::time, '1 year 2 mons'::interval::text, 'epoch'::timestamptz
SELECT 'x'::char(3) || 'y', 'abcdef'::varchar(3), U&'\00e9', E'\x41\101\n', $q$a'b$q$, B'101', X'1F', 'a' 'b', '\xDEADbeef'::bytea, encode('\x00', 'hex')
SET namdb.statement_memory = '1MB'; SELECT string_agg(a.z, '') FROM m a, m b, m c ORDER BY 1
SHOW ALL; SET extra_float_digits = 0; SET TIME ZONE 'UTC'; SHOW timezone; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET search_path = x
DECLARE c CURSOR FOR SELECT * FROM t; COMMENT ON TABLE t IS 'x'; GRANT SELECT ON t TO x; CREATE SCHEMA s; LOCK TABLE t; DO $$BEGIN END$$
MERGE INTO m USING t ON m.x = t.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (t.a, 0, t.b)
SELECT to_char(h, 'YYYY-MM-DD HH24:MI:SS.US'), to_char(c, 'FM999.00'), to_date('2024', 'YYYY'), format('%s %I %L', a, b, d), encode(y, 'base64') FROM t, j
SELECT * FROM t WHERE a = 1 FOR UPDATE; SELECT * FROM t TABLESAMPLE system (50); SELECT t FROM t; SELECT (t).a FROM t; SELECT count(t) FROM t
SELECT ARRAY[1,NULL] || '{2}', ('[2:4]={1,2,3}'::int[])[3:], '{a,"b c",NULL}'::text[] @> ARRAY['a'], 1 = ANY ('{1,2}'), 'x' LIKE ALL (ARRAY['%', NULL]), ARRAY[1.5]::int[]
SELECT id, unnest(k), unnest(ARRAY['x', 'y']) FROM (SELECT array_agg(DISTINCT a ORDER BY a DESC) FILTER (WHERE a > 1) AS k, 1 AS id FROM t) s ORDER BY 1, 2 LIMIT 5
SELECT * FROM unnest(ARRAY[1,2], '{a}'::text[]) WITH ORDINALITY AS u (x, y, n), string_to_table('a,b', ',') s, generate_subscripts(ARRAY[5,6], 1) g
SELECT a FROM t WHERE a = ANY (ARRAY(SELECT x FROM m)) AND a <> ALL ('{5,NULL}') AND ARRAY[a] < '{9}' ORDER BY a; DELETE FROM t WHERE a = ANY ('{1,2,2}')
CREATE TABLE ar (k int[] PRIMARY KEY, v varchar(3)[] DEFAULT '{x}', n numeric(4,1)[]); INSERT INTO ar VALUES ('{1}', DEFAULT, '{1.25}'); UPDATE ar SET k = k || 2 WHERE k = '{1}' RETURNING k[2], v || 'y'::text
SELECT array_remove(ARRAY[1,2], 1), array_replace(ARRAY['a'], 'a', NULL), array_position('{1}', 1), array_fill(7, ARRAY[3], ARRAY[2]), trim_array(ARRAY[1,2], 1), array_to_string(ARRAY[1,NULL], '', '*'), regexp_matches('aXb', '(.)(x)?', 'gi'), regexp_split_to_array('a b', '')
CREATE SCHEMA IF NOT EXISTS app AUTHORIZATION CURRENT_USER; CREATE TABLE app.t (id serial PRIMARY KEY, a int DEFAULT nextval('s'), b text UNIQUE REFERENCES app.t (b)); SET search_path = "$user", app, pg_temp; SELECT app.t.*, t.b FROM app.t, public.t; DROP SCHEMA app, "B" CASCADE
CREATE TEMP TABLE t (a int) ON COMMIT DELETE ROWS; CREATE TEMPORARY VIEW v AS SELECT a FROM pg_temp.t; CREATE TEMP SEQUENCE s; SELECT 1 AS x INTO TEMP u; CREATE TEMP TABLE w ON COMMIT DROP AS TABLE t; GRANT USAGE, CREATE ON SCHEMA app TO PUBLIC; ALTER SCHEMA app OWNER TO x; DISCARD TEMP
CREATE TYPE mood AS ENUM ('sad', 'ok'); ALTER TYPE mood ADD VALUE IF NOT EXISTS 'glad' AFTER 'ok'; CREATE TABLE m (m mood DEFAULT 'sad'::mood PRIMARY KEY, a mood[]); SELECT enum_range(NULL::mood), max(m) FROM m WHERE m > 'sad' AND m = ANY ('{ok,glad}'); ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'; DROP TYPE mood CASCADE
CREATE DOMAIN d AS numeric(8,2) DEFAULT 1 NOT NULL CONSTRAINT c CHECK (VALUE > 0); CREATE TABLE x (v d, w int); INSERT INTO x VALUES (DEFAULT, 1), (2::d, '3'); ALTER DOMAIN d ADD CONSTRAINT e CHECK (VALUE < 9) NOT VALID; ALTER DOMAIN d VALIDATE CONSTRAINT e; DROP DOMAIN d CASCADE
