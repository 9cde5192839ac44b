-- docs.sql -- examples of every line of docs/SQL.md; how to read them: test_docs.py.

-- [missing] namdb
SELECT to_tsvector('a cat');
--! 0A000
CREATE INDEX i ON t USING gin (a);
--! 0A000
SELECT '10.0.0.1'::inet;
--! 0A000
SELECT 'a cat'::text @@ 'cat';
--! 0A000
SELECT nosuch(1);
--! 42883
SELECT '1'::nosuch;
--! 42704

-- [page] namdb
--= tests/sql/test_docs.py has no example

-- [type-boolean] pg
SELECT true::boolean, 'f'::boolean, 'on'::bool, NULL::boolean;
--> t,f,t,
SELECT 'maybe'::boolean;
--! 22P02

-- [type-integer] pg
SELECT 32767::smallint, (-2147483648)::integer, 9223372036854775807::bigint;
--> 32767,-2147483648,9223372036854775807
SELECT 32768::smallint;
--! 22003
SELECT 2147483647 + 1;
--! 22003
SELECT 9223372036854775807 + 1;
--! 22003
SELECT 1.5::integer, 2.5::integer, '7'::int8;
--> 2,3,7

-- [type-array] pg
SELECT '{1,NULL}'::integer[], '{a,"b c"}'::text ARRAY, '[2:3]={1,2}'::int8[];
--> "{1,NULL}","{a,""b c""}","[2:3]={1,2}"
CREATE TABLE tya (k int[] PRIMARY KEY, v varchar(3)[]);
INSERT INTO tya VALUES ('{1,2}', '{abc}');
INSERT INTO tya VALUES (ARRAY[1,2], NULL);
--! 23505
INSERT INTO tya VALUES ('{}', '{abcd}');
--! 22001
SELECT '{1,x}'::int[];
--! 22P02

-- [arrays] pg
SELECT ARRAY[1,2], (ARRAY[1,2])[2], (ARRAY[1,2,3])[2:3], (ARRAY[1,2])[3];
--> "{1,2}",2,"{2,3}",
SELECT a = b, a <> b, a < b, a <= b, a > b, a >= b FROM (VALUES (ARRAY[1,2], ARRAY[1,3])) v(a, b);
--> f,t,t,t,f,f
SELECT ARRAY[1,2] @> ARRAY[2], ARRAY[1] <@ ARRAY[2,1], ARRAY[1] && ARRAY[2], ARRAY[1] || 2;
--> t,t,f,"{1,2}"
SELECT 1 = ANY (ARRAY[1,2]), 3 > SOME ('{5,2}'), 'ab' LIKE ALL ('{a%,%b}'), ARRAY['1']::int[];
--> t,t,t,{1}
CREATE TABLE ark (id int PRIMARY KEY, v text);
INSERT INTO ark VALUES (1, 'a'), (2, 'b'), (3, 'c');
SELECT v FROM ark WHERE id = ANY ('{3,1,1,9}') ORDER BY v;
--> a
--> c
SELECT v FROM ark WHERE id IN (3, 1) ORDER BY v;
--> a
--> c

-- [unnest] pg
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b','c']) WITH ORDINALITY AS u (x, y, n);
--> 1,a,1
--> 2,b,2
--> ,c,3
SELECT unnest(ARRAY[1,2]) + 1, regexp_split_to_table('a b', ' ');
--> 2,a
--> 3,b
SELECT i FROM generate_subscripts(ARRAY['a','b'], 1) i ORDER BY i;
--> 1
--> 2
SELECT string_to_table('a,b', ','), regexp_matches('a1b2', '\d', 'g');
--> a,{1}
--> b,{2}
SELECT k, k * unnest(a) - k, count(*) OVER () FROM (VALUES (1, ARRAY[5,6]), (2, ARRAY[7])) AS t (k, a) ORDER BY 1, 2;
--> 1,4,2
--> 1,5,2
--> 2,12,2
SELECT k, x, n FROM (VALUES (1, ARRAY[5,6]), (2, NULL)) AS t (k, a) LEFT JOIN unnest(t.a) WITH ORDINALITY AS u (x, n) ON true ORDER BY k, n;
--> 1,5,1
--> 1,6,2
--> 2,,

-- [functions-array] pg
SELECT regexp_match('abc', '(b)(x)?'), regexp_split_to_array('a, b', ',\s*');
--> "{b,NULL}","{a,b}"
SELECT array_append(ARRAY[1], 2), array_prepend(0, ARRAY[1]), array_cat(ARRAY[1], ARRAY[2]), array_remove(ARRAY[1,2,1], 1), array_replace(ARRAY[1,2], 1, 9);
--> "{1,2}","{0,1}","{1,2}",{2},"{9,2}"
SELECT array_position(ARRAY['a','b'], 'b'), array_positions(ARRAY[1,2,1], 1), array_length(ARRAY[1,2], 1), array_lower(ARRAY[1], 1), array_upper(ARRAY[1,2], 1);
--> 2,"{1,3}",2,1,2
SELECT array_ndims(ARRAY[1]), array_dims(ARRAY[1,2]), cardinality(ARRAY[1,2]), array_to_string(ARRAY[1,NULL,2], ',', '*'), string_to_array('a,b', ','), trim_array(ARRAY[1,2], 1), array_fill(7, ARRAY[2]);
--> 1,[1:2],2,"1,*,2","{a,b}",{1},"{7,7}"

-- [type-float] pg
SELECT 0.1::real, 0.1::double precision + 0.2, '1e308'::float8, 'NaN'::float8, '-Infinity'::float8;
--> 0.1,0.30000000000000004,1e+308,NaN,-Infinity
SELECT 'NaN'::float8 = 'NaN', 'NaN'::float8 > 'Infinity';
--> t,t
SELECT 1e308::float8 * 10;
--! 22003
SELECT 1::float8 / 0;
--! 22012

-- [type-numeric] pg
SELECT 1.10::numeric, 12345.678::numeric(7,1), 1.005::decimal(3,2), 'NaN'::numeric, 2::numeric / 3;
--> 1.10,12345.7,1.01,NaN,0.66666666666666666667
SELECT 12345678901234567890123456789012345678901234567890 * 10;
--> 123456789012345678901234567890123456789012345678900
SELECT 1000::numeric(3);
--! 22003

-- [type-text] pg
SELECT 'it''s'::text, 'long'::varchar(2), 'x'::char(3) || '|', length('x  '::char(3)), 'x'::char(3) = 'x';
--> it's,lo,x|,1,t
CREATE TABLE tt (v varchar(2), c char(3));
INSERT INTO tt VALUES ('ab   ', 'x');
INSERT INTO tt VALUES ('abc', 'x');
--! 22001
SELECT v, c, length(c) FROM tt;
--> ab,x  ,1

-- [type-date] pg
SELECT date 'tomorrow' - date 'yesterday', 'now'::timestamp = localtimestamp, date 'today' = current_date, time 'allballs';
--> 2,t,t,00:00:00
SELECT '2024-02-29'::date, '23:59:59.5'::time, '2024-02-29 12:00'::timestamp, '2024-02-29 12:00+02'::timestamp with time zone;
--> 2024-02-29,23:59:59.5,2024-02-29 12:00:00,2024-02-29 10:00:00+00
SELECT '1 year 2 days 03:04:05'::interval, '90 minutes'::interval hour to minute, '1-2'::interval year to month;
--> 1 year 2 days 03:04:05,01:30:00,1 year 2 mons
SELECT '2023-02-29'::date;
--! 22008
SELECT 'infinity'::date, '-infinity'::timestamp;
--> infinity,-infinity
SELECT 'infinity'::date > '9999-01-01', '-infinity'::timestamp;
--> t,-infinity
SELECT date '2024-01-31' + interval '1 month', timestamp '2024-03-01' - timestamp '2024-02-01';
--> 2024-02-29 00:00:00,29 days

-- [type-jsonb] namdb
CREATE TABLE tjb (id int PRIMARY KEY, doc jsonb);
INSERT INTO tjb VALUES (1, '{"b": 1.0, "a": [true, null]}'), (2, '{"b":1,"a":[true,null]}');
SELECT doc, count(*) FROM tjb WHERE id = 1 GROUP BY doc;
--> "{""a"": [true, null], ""b"": 1.0}",1
SELECT count(DISTINCT doc) FROM tjb;
--> 1
CREATE INDEX ON tjb (doc);
--! 0A000
CREATE TABLE tjk (doc jsonb PRIMARY KEY);
--! 0A000
SELECT (repeat('[', 600) || repeat(']', 600))::jsonb @> (repeat('[', 600) || repeat(']', 600))::jsonb;
--! 54001

-- [type-other] pg
SELECT '\x00ff'::bytea, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid, '{"a": [1, 2]}'::json;
--> \x00ff,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,"{""a"": [1, 2]}"
SELECT 'x'::uuid;
--! 22P02
SELECT '{"a": '::json;
--! 22P02

-- [create-table] pg
CREATE TABLE IF NOT EXISTS ct (a int, b text NOT NULL, c int DEFAULT 7 CHECK (c > 0), d int, PRIMARY KEY (a, b), CONSTRAINT small CHECK (d < 10));
CREATE TABLE IF NOT EXISTS ct (z int);
CREATE TABLE ct (z int);
--! 42P07
INSERT INTO ct (a, b) VALUES (1, 'x');
INSERT INTO ct (a, b) VALUES (1, 'x');
--! 23505
INSERT INTO ct (a) VALUES (2);
--! 23502
INSERT INTO ct VALUES (3, 'y', 0, 1);
--! 23514
INSERT INTO ct VALUES (3, 'y', 1, 10);
--! 23514
SELECT * FROM ct;
--> 1,x,7,
CREATE TABLE ct2 (a int PRIMARY KEY);
INSERT INTO ct2 VALUES (NULL);
--! 23502

-- [create-table-with] namdb
CREATE TABLE ctw (a int PRIMARY KEY) WITH (versions = 8, fillfactor = 70, autovacuum_enabled = false, toast_tuple_target = 128, parallel_workers = 2);
CREATE TABLE ctx (a int) WITH (fillfactor = 5);
--! 22023
INSERT INTO ctw VALUES (1);
SELECT a FROM ctw;
--> 1
CREATE TABLE ctx (a int) WITH (versions = 9);
--! 22023
CREATE TABLE ctx (a int) WITH (nosuch = 9);
--! 22023

-- [ordered-key] namdb
--= tests/e2e/ordered_key_test.c create table l (k text primary key) with (primary_key = ordered)
CREATE TABLE ok (a int, b int, c text, PRIMARY KEY (a, b) WITH (primary_key = ordered));
INSERT INTO ok SELECT i % 100, i / 100, 'c' || i FROM generate_series(0, 4999) i;
ANALYZE ok;
EXPLAIN (COSTS OFF) SELECT c FROM ok WHERE a = 7 AND b < 2;
--> Project
-->   -> Index Scan using ok_pkey on ok
-->        Index Cond: ((a = 7) AND (b < 2))
EXPLAIN (COSTS OFF) SELECT c FROM ok WHERE a = 7 AND b = 2;
--> Project
-->   -> Index Scan using ok_pkey on ok
-->        Index Cond: ((a = 7) AND (b = 2))
SELECT c FROM ok WHERE a = 7 AND b < 2 ORDER BY b DESC;
--> c107
--> c7
SELECT a, b FROM ok ORDER BY a DESC, b LIMIT 1;
--> 99,0
SELECT min(a), max(a) FROM ok;
--> 0,99
SELECT count(*) FROM ok WHERE a IN (7, 8) AND b IN (2, 3);
--> 4
INSERT INTO ok VALUES (7, 2, 'twice');
--! 23505
ALTER INDEX ok_pkey RENAME TO okk;
SELECT indexdef FROM pg_indexes WHERE tablename = 'ok';
--> "CREATE UNIQUE INDEX okk ON public.ok USING btree (a, b)"
ALTER TABLE ok SET (primary_key = hash);
SELECT indexdef FROM pg_indexes WHERE tablename = 'ok';
--> "CREATE UNIQUE INDEX okk ON public.ok USING hash (a, b)"
EXPLAIN (COSTS OFF) SELECT c FROM ok WHERE a = 7 AND b < 2;
--> Project
-->   -> Seq Scan on ok
-->        Filter: ((a = 7) AND (b < 2))
ALTER TABLE ok SET (primary_key = btree);
SELECT count(*) FROM ok WHERE a BETWEEN 7 AND 8;
--> 100
ALTER TABLE ok RESET (primary_key);
CREATE TABLE okb (a int PRIMARY KEY) WITH (primary_key = ordered);
ALTER TABLE okb DROP CONSTRAINT okb_pkey, ADD CONSTRAINT okc PRIMARY KEY (a) WITH (primary_key = hash);
SELECT indexname FROM pg_indexes WHERE tablename = 'okb';
--> okc
CREATE TABLE okd (a int) WITH (primary_key = ordered);
--! 22023
CREATE TABLE okd (a int PRIMARY KEY) WITH (primary_key = rtree);
--! 22023

-- [create-table-as] differ
CREATE TABLE IF NOT EXISTS cta (x, y) AS SELECT 1, 'a' UNION SELECT 2, 'b';
SELECT * FROM cta ORDER BY x;
--> 1,a
--> 2,b
CREATE TABLE ctb AS SELECT y FROM cta WITH NO DATA;
SELECT * FROM ctb;
SELECT x + 1 AS z INTO ctc FROM cta;
SELECT * FROM ctc ORDER BY z;
--> 2
--> 3
DROP TABLE ctc;
INSERT INTO cta VALUES (1, 'a');
PREPARE five AS SELECT 5 AS a;
CREATE TABLE ctd AS EXECUTE five;
--! 0A000
--pg> *
CREATE TABLE cte WITH (versions = 4) AS SELECT 1 AS a;
--pg! 22023

-- [drop-table] pg
CREATE TABLE dt1 (a int);
CREATE TABLE dt2 (a int);
CREATE VIEW dv AS SELECT a FROM dt1;
DROP TABLE dt1;
--! 2BP01
DROP TABLE dt1, dt2 CASCADE;
SELECT * FROM dv;
--! 42P01
DROP TABLE dt1;
--! 42P01
DROP TABLE IF EXISTS dt1;

-- [view] pg
CREATE TABLE vt (a int, b text);
INSERT INTO vt VALUES (1, 'one'), (2, 'two');
CREATE VIEW vv (n, word) AS SELECT a, b FROM vt WHERE a > 1;
SELECT n, word FROM vv;
--> 2,two
INSERT INTO vt VALUES (3, 'three');
SELECT n, word FROM vv ORDER BY n;
--> 2,two
--> 3,three
CREATE OR REPLACE VIEW vv (n, word) AS SELECT a + 10, b FROM vt;
SELECT n FROM vv ORDER BY 1;
--> 11
--> 12
--> 13
CREATE VIEW vw AS SELECT n FROM vv;
DROP VIEW vv;
--! 2BP01
DROP VIEW IF EXISTS vv, nosuch CASCADE;
SELECT * FROM vw;
--! 42P01
CREATE VIEW vx AS SELECT a FROM vt;
DELETE FROM vx;
--! 0A000

-- [alter-columns] pg
CREATE TABLE ac (a int PRIMARY KEY, b text);
INSERT INTO ac VALUES (1, '10'), (2, NULL);
ALTER TABLE ac ADD COLUMN c int NOT NULL DEFAULT 7, ADD IF NOT EXISTS b text, ALTER b TYPE int USING b::int + 1;
SELECT * FROM ac ORDER BY a;
--> 1,11,7
--> 2,,7
CREATE VIEW acv AS SELECT c FROM ac;
ALTER TABLE ac DROP c;
--! 2BP01
ALTER TABLE ac ALTER c TYPE bigint;
--! 0A000
ALTER TABLE ac DROP COLUMN IF EXISTS c CASCADE;
SELECT * FROM acv;
--! 42P01
ALTER TABLE ac DROP CONSTRAINT ac_pkey;
INSERT INTO ac VALUES (1, 12);
ALTER TABLE ac ADD PRIMARY KEY (a);
--! 23505
UPDATE ac SET b = 0 WHERE b IS NULL;
ALTER TABLE ac ADD PRIMARY KEY (a, b);
INSERT INTO ac VALUES (1, 12);
--! 23505

-- [alter-table] pg
--= tests/e2e/beside_test.c 40001
CREATE TABLE at (a int, b int);
INSERT INTO at VALUES (1, 1);
ALTER TABLE at ALTER b SET DEFAULT 5;
INSERT INTO at (a) VALUES (2);
ALTER TABLE at ALTER b DROP DEFAULT;
INSERT INTO at (a) VALUES (3);
ALTER TABLE at ALTER b SET NOT NULL;
--! 23502
ALTER TABLE at ALTER a SET NOT NULL;
INSERT INTO at VALUES (NULL, 1);
--! 23502
ALTER TABLE at ALTER a DROP NOT NULL;
INSERT INTO at VALUES (NULL, 1);
ALTER TABLE at ADD CONSTRAINT pos CHECK (b > 0);
ALTER TABLE at ADD CHECK (a > 1);
--! 23514
INSERT INTO at VALUES (9, 0);
--! 23514
ALTER TABLE at DROP CONSTRAINT pos;
INSERT INTO at VALUES (9, 0);
ALTER TABLE at RENAME b TO c;
ALTER TABLE at RENAME TO au;
SELECT a, c FROM au ORDER BY a, c;
--> 1,1
--> 2,5
--> 3,
--> 9,0
--> ,1
--= tests/e2e/beside_test.c 40001
CREATE VIEW atv AS SELECT 1 AS a;
ALTER VIEW atv RENAME TO atw;
SELECT a FROM atw;
--> 1
CREATE SEQUENCE ats;
ALTER SEQUENCE ats RENAME TO atq;
SELECT nextval('atq');
--> 1

-- [sequence] pg
CREATE SEQUENCE IF NOT EXISTS sq AS smallint START 3 INCREMENT 2 MINVALUE 1 MAXVALUE 6 CACHE 1 CYCLE;
SELECT nextval('sq'), nextval('sq'), nextval('sq'), currval('sq'), lastval();
--> 3,5,1,1,1
SELECT setval('sq', 5);
--> 5
BEGIN READ ONLY;
SELECT setval('sq', 3);
--! 25006
ROLLBACK;
BEGIN READ ONLY;
SELECT nextval('sq');
--! 25006
ROLLBACK;
SELECT nextval('sq');
--> 1
CREATE TABLE sqt (a int);
CREATE SEQUENCE sqo OWNED BY sqt.a;
DROP TABLE sqt;
SELECT nextval('sqo');
--! 42P01
DROP SEQUENCE sq;
SELECT currval('nosuch');
--! 42P01
--= tests/e2e/ddl_test.c sequence

-- [sequence-table] pg
CREATE TABLE sr (a serial, b bigserial, c int GENERATED ALWAYS AS IDENTITY, d int GENERATED BY DEFAULT AS IDENTITY, e int);
INSERT INTO sr (e) VALUES (10), (20);
INSERT INTO sr (c, e) VALUES (5, 30);
--! 428C9
INSERT INTO sr (d, e) VALUES (7, 40);
SELECT * FROM sr ORDER BY e;
--> 1,1,1,1,10
--> 2,2,2,2,20
--> 3,3,3,7,40

-- [create-index] pg
--= tests/e2e/index_build_test.c create index on m
--= tests/e2e/index_test.c 54000
CREATE TABLE ci (a int PRIMARY KEY, b text, c numeric);
INSERT INTO ci VALUES (1, 'x', 1.5), (2, 'y', NULL), (3, 'x', 2), (4, NULL, 2);
CREATE INDEX ON ci (b);
CREATE INDEX IF NOT EXISTS ci_b_idx ON ci USING btree (c);
CREATE INDEX CONCURRENTLY cic ON ci (c DESC NULLS LAST, b ASC NULLS FIRST) INCLUDE (a);
CREATE INDEX ci_b_idx ON ci (c);
--! 42P07
SELECT a FROM ci WHERE b = 'x' ORDER BY a;
--> 1
--> 3
SELECT a FROM ci WHERE c = 2 AND b IS NULL;
--> 4
CREATE UNIQUE INDEX cib ON ci (b);
--! 23505
CREATE UNIQUE INDEX cib ON ci (c) NULLS NOT DISTINCT;
--! 23505
UPDATE ci SET c = 3 WHERE a = 4;
CREATE UNIQUE INDEX cib ON ci (c) NULLS NOT DISTINCT;
INSERT INTO ci VALUES (5, 'z', NULL);
--! 23505
ALTER INDEX cib RENAME TO cid;
DROP INDEX cid, cic;
DROP INDEX IF EXISTS cid;
DROP INDEX cid;
--! 42704
DROP INDEX CONCURRENTLY ci_b_idx;
BEGIN;
CREATE INDEX ci_later ON ci (c);
SELECT a FROM ci WHERE c = 3;
--> 4
ROLLBACK;
CREATE INDEX ci_later ON ci (nope);
--! 42703

-- [index-plans] pg
--= tests/e2e/index_plans_test.c joined
CREATE TABLE ip (id int PRIMARY KEY, a int, b text, c int);
INSERT INTO ip SELECT i, i % 500, 'b' || i % 9, NULLIF(i % 100, 0) FROM generate_series(1, 5000) i;
CREATE INDEX ON ip (a, c DESC);
CREATE INDEX ON ip (b, id);
CREATE INDEX ON ip (c);
ANALYZE ip;
SELECT count(*), min(id), max(id) FROM ip WHERE a = 7 AND c <= 7;
--> 10,7,4507
SELECT count(*) FROM ip WHERE a IN (7, 8) OR a >= 498 AND a < 500;
--> 40
SELECT count(*) FROM ip WHERE a = ANY (ARRAY[7, NULL, 8]) AND c BETWEEN 5 AND 7;
--> 10
SELECT count(*) FROM ip WHERE a <= 2 AND c IS NOT NULL;
--> 20
SELECT count(*), max(id) FROM ip WHERE c IS NULL AND a > 300;
--> 10,4900
SELECT id FROM ip WHERE b LIKE 'b8%' AND id < 30 ORDER BY b, id;
--> 8
--> 17
--> 26
SELECT a, c FROM ip ORDER BY a DESC, c LIMIT 2;
--> 499,99
--> 499,99
SELECT id FROM ip WHERE (a, id) < (3, 1003) ORDER BY a DESC, id DESC LIMIT 3;
--> 503
--> 3
--> 4502
SELECT min(a), max(a), min(c) FROM ip;
--> 0,499,1
SELECT min(a), max(c) FROM ip WHERE a = 33;
--> 33,33
SELECT x, count(ip.id) FROM (VALUES (3), (1000), (NULL)) v (x) LEFT JOIN ip ON ip.a = x GROUP BY x ORDER BY x;
--> 3,10
--> 1000,0
--> ,0

-- [index-only] namdb
--= tests/e2e/index_plans_test.c Index Only Scan
--= tests/e2e/index_plans_test.c Index Only Lookup
CREATE TABLE io (id int PRIMARY KEY, a int, b text, c double precision, d numeric, e int, f boolean, g real, h date, i time,
  j uuid, k varchar(20), l bytea, m char(3), n interval);
INSERT INTO io SELECT i, i % 700, 'b' || i % 9, i % 3, i, i, i % 2 = 0, i % 5, date '2024-01-01' + i % 30, time '10:00',
  NULL, 'v' || i % 4, NULL, 'x', interval '1 day' FROM generate_series(1, 5000) i;
CREATE INDEX io_a ON io (a, b, c) INCLUDE (e);
CREATE INDEX io_d ON io (d);
CREATE INDEX io_n ON io (e, n, m, f, g, h, i, j, k, l);
ANALYZE io;
EXPLAIN (COSTS OFF) SELECT b FROM io WHERE a = 7;
--> Project
-->   -> Index Only Scan using io_a on io
-->        Index Cond: (a = 7)
SELECT b, c FROM io WHERE a = 7 ORDER BY b, c;
--> b1,1
--> b2,2
--> b3,0
--> b4,1
--> b5,2
--> b6,0
--> b7,1
--> b8,2
UPDATE io SET b = NULL WHERE id = 7;
SELECT count(*) FROM io WHERE a = 7 AND b IS NULL;
--> 1
EXPLAIN (COSTS OFF) SELECT f, g, h, i, j, k, l FROM io WHERE e = 7;
--> Project
-->   -> Index Only Scan using io_n on io
-->        Index Cond: (e = 7)
SELECT f, g, h, i, j, k, l FROM io WHERE e = 7;
--> f,2,2024-01-08,10:00:00,,v3,
SELECT f, g, h, i, j, k, l FROM io WHERE e = 7;
--> f,2,2024-01-08,10:00:00,,v3,
EXPLAIN (COSTS OFF) SELECT d FROM io WHERE d = 7;
--> Project
-->   -> Index Scan using io_d on io
-->        Index Cond: (d = '7'::numeric)
EXPLAIN (COSTS OFF) SELECT m FROM io WHERE e = 7;
--> Project
-->   -> Index Scan using io_n on io
-->        Index Cond: (e = 7)
EXPLAIN (COSTS OFF) SELECT e FROM io WHERE a = 7;
--> Project
-->   -> Index Scan using io_a on io
-->        Index Cond: (a = 7)

-- [index-merge] namdb
--= tests/e2e/index_plans_test.c Index And Scan
--= tests/e2e/index_plans_test.c Index Or Scan
CREATE TABLE im (id int PRIMARY KEY, a int, b int, c text);
INSERT INTO im SELECT i, i % 77, i % 40, repeat('long ', 20) FROM generate_series(1, 6000) i;
CREATE INDEX im_a ON im (a);
CREATE INDEX im_b ON im (b);
ANALYZE im;
EXPLAIN (COSTS OFF) SELECT id FROM im WHERE a = 7 AND b = 7;
--> Project
--> "  -> Index And Scan using im_a, im_b on im"
-->        Index Cond: ((a = 7) AND (b = 7))
-->        Filter: ((a = 7) AND (b = 7))
SELECT count(*), min(id) FROM im WHERE a = 7 AND b = 7;
--> 2,7
EXPLAIN (COSTS OFF) SELECT id FROM im WHERE a = 7 OR b = 8;
--> Project
--> "  -> Index Or Scan using im_a, im_b on im"
-->        Index Cond: ((a = 7) OR (b = 8))
-->        Filter: ((a = 7) OR (b = 8))
SELECT count(*), min(id) FROM im WHERE a = 7 OR b = 8;
--> 226,7

-- [index-explain] namdb
--= tests/e2e/index_plans_test.c Index Reads
--= tests/e2e/index_plans_test.c words
--= tests/e2e/index_plans_test.c Index Cache
--= tests/e2e/index_plans_test.c tree
--= tests/e2e/index_plans_test.c learned
--= tests/e2e/index_plans_test.c Index Scan Backward
--= tests/e2e/index_plans_test.c Index Lookup
--= tests/e2e/index_plans_test.c Index Cond
--= tests/e2e/index_plans_test.c Filter
CREATE TABLE ie (id int PRIMARY KEY, a int, t text);
INSERT INTO ie SELECT i, i, 'x' || i FROM generate_series(1, 5000) i;
CREATE INDEX ie_a ON ie (a);
CREATE INDEX ie_t ON ie (t);
ANALYZE ie;
EXPLAIN (COSTS OFF) SELECT id FROM ie WHERE a > 4990;
--> Project
-->   -> Index Scan using ie_a on ie
-->        Index Cond: (a > 4990)
EXPLAIN (COSTS OFF) SELECT id FROM ie ORDER BY a DESC NULLS FIRST LIMIT 1;
--> Limit
-->   -> Project
-->     -> Index Scan Backward using ie_a on ie
EXPLAIN (COSTS OFF) SELECT count(*) FROM ie WHERE a = 3;
--> Project
-->   -> Aggregate
-->     -> Index Only Scan using ie_a on ie
-->          Index Cond: (a = 3)
EXPLAIN (COSTS OFF) SELECT id FROM ie WHERE t < 'x2' AND t > 'x1999';
--> Project
-->   -> Index Scan using ie_t on ie
-->        Index Cond: ((t > 'x1999'::text) AND (t < 'x2'::text))
-->        Filter: ((t < 'x2'::text) AND (t > 'x1999'::text))
EXPLAIN (COSTS OFF) SELECT x.id FROM (VALUES (1), (2)) v (k) JOIN ie x ON x.a = v.k;
--> *
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM ie WHERE a = 3;
--> *

-- [unique] pg
CREATE TABLE un (a int UNIQUE, b int, c text, CONSTRAINT unc UNIQUE (b, c));
INSERT INTO un VALUES (1, 1, 'x'), (2, 1, 'y'), (NULL, 2, 'x'), (NULL, 2, NULL), (NULL, 2, NULL);
INSERT INTO un VALUES (1, 3, 'z');
--! 23505
UPDATE un SET b = 1, c = 'y' WHERE a = 1;
--! 23505
ALTER TABLE un DROP CONSTRAINT un_a_key;
INSERT INTO un VALUES (1, 3, 'z');
ALTER TABLE un ADD CONSTRAINT una UNIQUE (a);
--! 23505
UPDATE un SET a = 3 WHERE c = 'z';
ALTER TABLE un ADD CONSTRAINT una UNIQUE (a);
INSERT INTO un VALUES (3, 4, 'w') ON CONFLICT (a) DO UPDATE SET c = 'more';
INSERT INTO un VALUES (3, 4, 'w'), (9, 1, 'x') ON CONFLICT DO NOTHING;
SELECT a, b, c FROM un WHERE a IS NOT NULL ORDER BY a;
--> 1,1,x
--> 2,1,y
--> 3,3,more
CREATE TABLE unn (a int, UNIQUE NULLS NOT DISTINCT (a));
INSERT INTO unn VALUES (NULL);
INSERT INTO unn VALUES (NULL);
--! 23505

-- [insert] pg
CREATE TABLE it (k int PRIMARY KEY, v int DEFAULT 1);
INSERT INTO it VALUES (1, 10), (2, 20) RETURNING k, v + 1;
--> 1,11
--> 2,21
INSERT INTO it AS x (k) SELECT k + 10 FROM it RETURNING *;
--> 11,1
--> 12,1
INSERT INTO it VALUES (1, 11) ON CONFLICT DO NOTHING;
INSERT INTO it VALUES (1, 11), (3, 30) ON CONFLICT (k) DO UPDATE SET v = excluded.v + it.v WHERE it.v < 100 RETURNING *;
--> 1,21
--> 3,30
INSERT INTO it VALUES (1, 5) ON CONFLICT ON CONSTRAINT it_pkey DO UPDATE SET v = 0;
INSERT INTO it VALUES (4, 1), (4, 2) ON CONFLICT (k) DO UPDATE SET v = 9;
--! 21000
SELECT * FROM it ORDER BY k;
--> 1,0
--> 2,20
--> 3,30
--> 11,1
--> 12,1
CREATE TABLE ide (a int DEFAULT 3, b text);
INSERT INTO ide DEFAULT VALUES RETURNING *;
--> 3,

-- [update-delete] pg
CREATE TABLE ut (k int PRIMARY KEY, a int, b int);
CREATE TABLE uo (k int, x int);
INSERT INTO ut VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
INSERT INTO uo VALUES (1, 100), (3, 300);
UPDATE ut SET a = a * 10, (b, k) = (a, k + 10) WHERE k >= 2 RETURNING *;
--> 12,20,2
--> 13,30,3
UPDATE ut SET a = x FROM uo WHERE uo.k = ut.k RETURNING ut.k, a, x;
--> 1,100,100
UPDATE ut SET k = 1 WHERE k = 12;
--! 23505
DELETE FROM ut USING uo WHERE ut.k = uo.k + 10 RETURNING ut.*;
--> 13,30,3
DELETE FROM ut WHERE a = 100 RETURNING k;
--> 1
SELECT * FROM ut;
--> 12,20,2

-- [update-needs-key] differ
CREATE TABLE unk (a int);
CREATE TABLE uno (a int);
UPDATE unk SET a = 1 FROM uno WHERE uno.a = unk.a;
--! 0A000
--pg> *
DELETE FROM unk USING uno WHERE uno.a = unk.a;
--! 0A000
--pg> *

-- [truncate] pg
CREATE TABLE tr (a int);
INSERT INTO tr VALUES (1), (2);
BEGIN;
TRUNCATE tr;
SELECT count(*) FROM tr;
--> 0
CREATE TABLE tr2 (a int);
INSERT INTO tr VALUES (1);
INSERT INTO tr2 VALUES (1);
TRUNCATE tr, tr2;
SELECT count(*) FROM tr, tr2;
--> 0
ROLLBACK;
SELECT count(*) FROM tr;
--> 2
TRUNCATE tr;
SELECT count(*) FROM tr;
--> 0
DROP TABLE tr;

-- [copy-from] pg
CREATE TABLE cf (a int, b text, c text);
COPY cf FROM STDIN WITH (FORMAT csv, HEADER, NULL '-', DELIMITER ';', QUOTE '''', ESCAPE '!', FORCE_NULL (b), FORCE_NOT_NULL (c));
a;b;c
1;'it!'s';-
2;'-';''
\.
COPY cf (a, b) FROM STDIN WITH (FORMAT text);
3	tab\there
4	\N
\.
COPY cf FROM STDIN CSV HEADER;
a,b,c
5,"five",
\.
COPY cf FROM STDIN WITH (FORMAT csv, HEADER MATCH);
a,b,x
6,,
\.
--! 22P04
SELECT * FROM cf ORDER BY a;
--> 1,it's,-
--> 2,,""
--> 3,tab	here,
--> 4,,
--> 5,five,
COPY cf (a) FROM STDIN CSV;
7
x
\.
--! 22P02
SELECT count(*) FROM cf;
--> 5
COPY cf TO '{dir}/cf.csv' CSV;
COPY cf FROM '{dir}/cf.csv' CSV;
SELECT count(*) FROM cf;
--> 10

-- [copy-to] pg
CREATE TABLE co (a int, b text);
INSERT INTO co VALUES (1, 'x,y'), (2, NULL);
COPY (SELECT a, b FROM co ORDER BY a) TO '{dir}/co.csv' WITH (FORMAT csv, HEADER, FORCE_QUOTE (b));
COPY co (a) TO '{dir}/co2.csv' WITH (FORMAT csv, FORCE_QUOTE *);
COPY (DELETE FROM co WHERE a = 2 RETURNING a, b) TO '{dir}/co3.txt';
CREATE TABLE cp (a text, b text);
COPY cp FROM '{dir}/co.csv' CSV;
COPY cp (a) FROM '{dir}/co2.csv' CSV;
COPY cp FROM '{dir}/co3.txt';
SELECT * FROM cp ORDER BY a, b;
--> 1,"x,y"
--> 1,
--> 2,
--> 2,
--> 2,
--> a,b
COPY co TO 'co.csv';
--! 42602
--= tests/e2e/copy_test.c to stdout

-- [select] pg
CREATE TABLE se (a int, b text, c int);
INSERT INTO se VALUES (1, 'x', 5), (2, 'x', 6), (3, 'y', 7), (4, NULL, 8);
SELECT DISTINCT b FROM se ORDER BY b;
--> x
--> y
--> ""
SELECT DISTINCT ON (b) b, a FROM se ORDER BY b, a DESC;
--> x,2
--> y,3
--> ,4
SELECT b, sum(c) FROM se WHERE a > 1 GROUP BY b HAVING count(*) > 0 ORDER BY 2 DESC LIMIT 2 OFFSET 1;
--> y,7
--> x,6

-- [select-for-update] pg
CREATE TABLE lk (a int PRIMARY KEY, b int);
CREATE TABLE ll (a int PRIMARY KEY);
INSERT INTO lk VALUES (1, 10), (2, 20);
INSERT INTO ll VALUES (1);
SELECT b FROM lk ORDER BY a FOR UPDATE;
--> 10
--> 20
SELECT b FROM lk ORDER BY a LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
--> 10
SELECT lk.b FROM lk, ll WHERE lk.a = ll.a FOR SHARE OF lk, ll NOWAIT;
--> 10
SELECT b FROM lk WHERE a = 2 FOR KEY SHARE;
--> 20
UPDATE lk SET b = 0 WHERE a = (SELECT a FROM lk ORDER BY a DESC LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING a;
--> 2
SELECT count(*) FROM lk FOR UPDATE;
--! 0A000
--= tests/e2e/locking_test.c 55P03

-- [values] pg
VALUES (1, 'a'), (2, NULL), (3, 'c');
--> 1,a
--> 2,
--> 3,c

-- [set-operations] pg
SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 ORDER BY 1 LIMIT 5;
--> 1
--> 2
--> 2
(VALUES (1), (1), (2)) INTERSECT ALL (VALUES (1), (1), (3));
--> 1
--> 1
(VALUES (1), (1), (2)) EXCEPT ALL (VALUES (1)) ORDER BY 1;
--> 1
--> 2
(VALUES (1), (1), (2)) EXCEPT (VALUES (1));
--> 2
SELECT 1 UNION SELECT 2.5 ORDER BY 1;
--> 1
--> 2.5
SELECT 1 UNION SELECT 'x'::text;
--! 42804

-- [with] pg
WITH x (a, b) AS (SELECT 1, 2) SELECT a + b FROM x;
--> 3
WITH x AS NOT MATERIALIZED (SELECT 1 AS a), y AS MATERIALIZED (SELECT a + 1 AS b FROM x) SELECT * FROM x, y, y AS z;
--> 1,2,2
WITH RECURSIVE f (n, p) AS (VALUES (1, 1) UNION ALL SELECT n + 1, p * (n + 1) FROM f WHERE n < 5) SELECT p FROM f WHERE n = 5;
--> 120
CREATE TABLE wi (a int PRIMARY KEY);
WITH x AS (VALUES (1), (2)) INSERT INTO wi SELECT * FROM x;
WITH x AS (SELECT 2 AS a) UPDATE wi SET a = 20 WHERE a IN (SELECT a FROM x);
WITH x AS (SELECT 1 AS a) DELETE FROM wi WHERE a IN (SELECT a FROM x);
SELECT * FROM wi;
--> 20

-- [with-change] namdb
CREATE TABLE wjobs (a int PRIMARY KEY, b text);
CREATE TABLE wdone (a int PRIMARY KEY, b text);
WITH i AS (INSERT INTO wjobs VALUES (1, 'x'), (2, 'y'), (3, 'z') RETURNING a) SELECT count(*) FROM i;
--> 3
WITH d AS (DELETE FROM wjobs WHERE a = 2 RETURNING *) INSERT INTO wdone SELECT * FROM d RETURNING b;
--> y
WITH u AS (UPDATE wjobs SET b = b || '!' RETURNING b) SELECT string_agg(b, ',' ORDER BY b) FROM u;
--> "x!,z!"
WITH u AS (UPDATE wjobs SET b = 'q' RETURNING a) SELECT count(*) FROM wjobs;
--! 0A000
WITH d AS (DELETE FROM wdone RETURNING *) UPDATE wjobs SET b = d.b FROM d WHERE wjobs.a = 3;
SELECT b FROM wjobs WHERE a = 3;
--> y
EXPLAIN WITH d AS (DELETE FROM wdone RETURNING *) SELECT * FROM d;
--! 0A000
COPY (WITH d AS (DELETE FROM wdone RETURNING *) SELECT * FROM d) TO STDOUT;
--! 0A000
CREATE TABLE wcopy AS WITH d AS (DELETE FROM wdone RETURNING *) SELECT * FROM d;
--! 0A000

-- [explain] namdb
CREATE TABLE ex (a int PRIMARY KEY);
EXPLAIN VERBOSE SELECT * FROM ex;
--> *
EXPLAIN ANALYZE INSERT INTO ex VALUES (1);
--> *
EXPLAIN (ANALYZE, VERBOSE, COSTS, TIMING, SUMMARY, BUFFERS, FORMAT JSON) UPDATE ex SET a = 2;
--> *
EXPLAIN (ANALYZE, FORMAT TEXT) DELETE FROM ex WHERE a = 3;
--> *
EXPLAIN (COSTS off) SELECT 1 FROM ex WHERE a = 1;
--> Project
-->   -> Key Lookup on ex
-->        Key Cond: (a = 1)
EXPLAIN (COSTS off) SELECT 1 FROM ex x LEFT JOIN ex y ON x.a + 1 = y.a + 1 AND x.a < y.a WHERE x.a > 3;
--> Project
-->   -> Hash Right Join
-->        Hash Cond: ((y.a + 1) = (x.a + 1))
-->        Join Filter: (x.a < y.a)
-->     -> Seq Scan on ex y
-->     -> Seq Scan on ex x
-->          Filter: (x.a > 3)
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) SELECT 1 FROM ex WHERE a = 2;
--> Project (actual rows=1 loops=1)
-->   -> Key Lookup on ex (actual rows=1 loops=1)
-->        Key Cond: (a = 2)
PREPARE one AS SELECT 1;
EXPLAIN EXECUTE one;
--> *
EXPLAIN CREATE TABLE never AS SELECT 1;
--> *
EXPLAIN (TIMING) SELECT 1;
--! 22023
EXPLAIN (FORMAT YAML) SELECT 1;
--! 0A000
SELECT * FROM ex;
--> 2
SET namdb.costs = 'standard';
SET namdb.cost_value = '1us';
EXPLAIN SELECT x FROM (VALUES (1), (2)) v (x);
--> Project  (cost=0.00..4.00 rows=2 width=4)
-->   -> Subquery Scan on v  (cost=0.00..2.00 rows=2 width=4)
-->     -> Values  (cost=0.00..2.00 rows=2 width=4)
--> "Estimated Time: network 0.00 us, memory 0.00 us, CPU 4.00 us"
SET namdb.cost_hash_near = 100;
EXPLAIN (VERBOSE, SUMMARY OFF) SELECT x FROM (VALUES (1), (2)) v (x) JOIN (VALUES (3)) w (y) ON x = y;
--> Project  (cost=1.00..13.80 rows=2 width=4)
-->   Output: x
--> "  Cost: network 0.00 us, memory 0.00 us, CPU 2.00 us"
-->   -> Hash Join  (cost=1.00..11.80 rows=2 width=8)
-->        Hash Cond: (v.column1 = w.column1)
-->        Algorithm: hash table of the second input
--> "       Cost: network 0.00 us, memory 0.30 us, CPU 8.50 us"
-->     -> Subquery Scan on v  (cost=0.00..2.00 rows=2 width=4)
--> "         Cost: network 0.00 us, memory 0.00 us, CPU 0.00 us"
-->       -> Values  (cost=0.00..2.00 rows=2 width=4)
--> "           Cost: network 0.00 us, memory 0.00 us, CPU 2.00 us"
-->     -> Subquery Scan on w  (cost=0.00..1.00 rows=1 width=4)
--> "         Cost: network 0.00 us, memory 0.00 us, CPU 0.00 us"
-->       -> Values  (cost=0.00..1.00 rows=1 width=4)
--> "           Cost: network 0.00 us, memory 0.00 us, CPU 1.00 us"
EXPLAIN (ANALYZE, VERBOSE) SELECT 1;
--> *
RESET namdb.cost_hash_near;
RESET namdb.cost_value;
RESET namdb.costs;
--= tests/e2e/explain_test.c Algorithm
--= tests/e2e/explain_test.c Estimated Time
--= tests/e2e/explain_test.c Actual Time
--= tests/e2e/explain_test.c Cost: network
--= tests/e2e/explain_test.c Took
--= tests/e2e/parallel_test.c Fabric of Others
--= tests/e2e/explain_counts_test.c net_worker_counts

-- [transactions] pg
CREATE TABLE ta (a int);
BEGIN READ ONLY;
SHOW transaction_read_only;
--> on
INSERT INTO ta VALUES (0);
--! 25006
ROLLBACK;
START TRANSACTION READ WRITE;
SET TRANSACTION READ ONLY;
SELECT * FROM ta FOR UPDATE;
--! 25006
ROLLBACK;
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;
TRUNCATE ta;
--! 25006
SET default_transaction_read_only = off;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SHOW transaction_isolation;
--> repeatable read
INSERT INTO ta VALUES (1);
COMMIT;
START TRANSACTION;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
INSERT INTO ta VALUES (2);
ROLLBACK;
SELECT * FROM ta;
--> 1
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SHOW default_transaction_isolation;
--> serializable
BEGIN;
SELECT 1 / 0;
--! 22012
SELECT 1;
--! 25P02
COMMIT;
SELECT 1;
--> 1

-- [savepoints] pg
CREATE TABLE sa (a int);
BEGIN;
INSERT INTO sa VALUES (1);
SAVEPOINT s;
INSERT INTO sa VALUES (2);
SELECT 1 / 0;
--! 22012
ROLLBACK TO s;
INSERT INTO sa VALUES (3);
SAVEPOINT t;
INSERT INTO sa VALUES (4);
RELEASE SAVEPOINT t;
COMMIT;
SELECT * FROM sa ORDER BY a;
--> 1
--> 3
--> 4

-- [prepare] pg
PREPARE p (int, text) AS SELECT $1 + 1, $2 || '!';
EXECUTE p (41, 'x');
--> 42,x!
EXECUTE p ('41', 7::text);
--> 42,7!
EXECUTE p (1);
--! 42601
DEALLOCATE p;
EXECUTE p (1, 'x');
--! 26000
PREPARE q AS SELECT 5;
DEALLOCATE ALL;
EXECUTE q;
--! 26000

-- [checkpoint] namdb
CHECKPOINT;
BEGIN;
CHECKPOINT;
COMMIT;
CREATE ROLE docs_low;
SET ROLE docs_low;
CHECKPOINT;
--! 42501
RESET ROLE;
DROP ROLE docs_low;

-- [discard] pg
PREPARE p AS SELECT 1;
DISCARD PLANS;
EXECUTE p;
--> 1
DISCARD SEQUENCES;
DISCARD TEMP;
DISCARD ALL;
EXECUTE p;
--! 26000
UNLISTEN *;
BEGIN;
DISCARD ALL;
--! 25001
ROLLBACK;

-- [cursors] differ
BEGIN;
DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 9) g ORDER BY g;
FETCH 2 FROM c;
--> 1
--> 2
--pg> 1
--pg> 2
MOVE 3 IN c;
FETCH c;
--> 6
--pg> 6
FETCH PRIOR FROM c;
--! 55000
--pg> 5
ROLLBACK;
BEGIN;
DECLARE s SCROLL CURSOR WITH HOLD FOR SELECT g FROM generate_series(1, 9) g ORDER BY g;
FETCH LAST FROM s;
--> 9
--pg> 9
FETCH RELATIVE -3 FROM s;
--> 6
--pg> 6
COMMIT;
FETCH ABSOLUTE 2 FROM s;
--> 2
--pg> 2
CLOSE s;
FETCH s;
--! 34000
--pg! 34000
DECLARE n NO SCROLL CURSOR FOR SELECT 1;
--! 25P01
--pg! 25P01
--= tests/sql/test_cursors.py test_memory

-- [set-show] pg
SELECT set_config('lock_timeout', '7s', false), current_setting('lock_timeout');
--> 7s,7s
SET lock_timeout = 5000;
SHOW lock_timeout;
--> 5s
BEGIN;
SET LOCAL lock_timeout = '1min';
SHOW lock_timeout;
--> 1min
COMMIT;
SHOW lock_timeout;
--> 5s
RESET lock_timeout;
SHOW lock_timeout;
--> 0
SHOW ALL;
--> *

-- [select-list] pg
CREATE TABLE sl (a int, b text);
INSERT INTO sl VALUES (1, 'x');
SELECT *, t.*, t.a + 1 AS next, t.n || '!' FROM sl AS t (a, n);
--> 1,x,1,x,2,x!

-- [joins] pg
CREATE TABLE ja (k int, a text);
CREATE TABLE jb (k int, b text);
INSERT INTO ja VALUES (1, 'a1'), (2, 'a2'), (NULL, 'an');
INSERT INTO jb VALUES (2, 'b2'), (3, 'b3'), (NULL, 'bn');
SELECT a, b FROM ja, jb WHERE ja.k = jb.k;
--> a2,b2
SELECT a, b FROM ja INNER JOIN jb ON ja.k = jb.k;
--> a2,b2
SELECT a, b FROM ja JOIN jb ON ja.k < jb.k ORDER BY 1, 2;
--> a1,b2
--> a1,b3
--> a2,b3
SELECT a, b FROM ja LEFT JOIN jb USING (k) ORDER BY 1, 2;
--> a1,
--> a2,b2
--> an,
SELECT a, b FROM ja RIGHT JOIN jb USING (k) ORDER BY 1, 2;
--> a2,b2
--> ,b3
--> ,bn
SELECT k, a, b FROM ja FULL JOIN jb USING (k) ORDER BY 1, 2, 3;
--> 1,a1,
--> 2,a2,b2
--> 3,,b3
--> ,an,
--> ,,bn
SELECT * FROM ja NATURAL JOIN jb;
--> 2,a2,b2
SELECT count(*) FROM ja CROSS JOIN jb;
--> 9
SELECT x.a, b, y.a FROM ja x LEFT JOIN (jb JOIN ja y ON y.k = jb.k) ON x.k = jb.k ORDER BY 1;
--> a1,,
--> a2,b2,a2
--> an,,

-- [join-aliases] pg
SELECT j.x, y, j.z FROM ((VALUES (1, 2)) AS a (k, v) JOIN (VALUES (1, 3)) AS b (k, w) USING (k)) AS j (x, y, z);
--> 1,2,3
SELECT u.k, a.v FROM (VALUES (1, 2)) AS a (k, v) JOIN (VALUES (1, 3)) AS b (k, w) USING (k) AS u;
--> 1,2
SELECT a.k FROM ((VALUES (1)) AS a (k) CROSS JOIN (VALUES (2)) AS b (l)) AS j;
--! 42P01

-- [lateral] pg
SELECT v.a, x.b FROM (VALUES (1), (2)) AS v (a), LATERAL (SELECT v.a * 10 AS b) AS x ORDER BY 1;
--> 1,10
--> 2,20
SELECT v.a, x.b FROM (VALUES (1), (2)) AS v (a) LEFT JOIN LATERAL (SELECT v.a AS b WHERE v.a > 1) AS x ON true ORDER BY 1;
--> 1,
--> 2,2
SELECT v.a, g FROM (VALUES (1), (2)) AS v (a), generate_series(1, v.a) AS g ORDER BY 1, 2;
--> 1,1
--> 2,1
--> 2,2

-- [from] pg
SELECT * FROM (SELECT 1, 2) AS x (a, b), (VALUES (3), (4)) AS v ORDER BY 3;
--> 1,2,3
--> 1,2,4
SELECT * FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-02', '1 day'), generate_series(1.5, 2, 0.5) g;
--> 2024-01-01 00:00:00,1.5
--> 2024-01-01 00:00:00,2.0
--> 2024-01-02 00:00:00,1.5
--> 2024-01-02 00:00:00,2.0
SELECT * FROM generate_series(1, 5, 2) WITH ORDINALITY;
--> 1,1
--> 3,2
--> 5,3
SELECT generate_series(3, 1, -1);
--> 3
--> 2
--> 1

-- [aggregates] pg
SELECT corr(y, x), covar_pop(y, x), covar_samp(y, x), regr_count(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x) FROM (VALUES (1, 1), (3, 2), (5, 3)) AS v (y, x);
--> 1,1.3333333333333333,2,3,2,-1,1
SELECT regr_avgx(y, x), regr_avgy(y, x), regr_sxx(y, x), regr_sxy(y, x), regr_syy(y, x) FROM (VALUES (1, 1), (3, 2), (5, 3)) AS v (y, x);
--> 2,3,2,4,8
SELECT (SELECT sum(v.a) FROM (VALUES (1)) AS w (b)) FROM (VALUES (2), (3)) AS v (a);
--> 5
CREATE TABLE ag (g int, v int, t text);
INSERT INTO ag VALUES (1, 5, 'x'), (1, 5, 'y'), (1, 8, 'z'), (2, NULL, 'w');
SELECT g, count(*), count(v), sum(v), avg(v), min(t), max(t) FROM ag GROUP BY g ORDER BY g;
--> 1,3,3,18,6.0000000000000000,x,z
--> 2,1,0,,,w,w
SELECT array_agg(v ORDER BY v DESC NULLS LAST), array_agg(DISTINCT g), array_agg(t) FILTER (WHERE t = 'x') FROM ag;
--> "{8,5,5,NULL}","{1,2}",{x}
SELECT bool_and(v > 5), bool_or(v > 5), every(v > 0), bit_and(v), bit_or(v), bit_xor(v) FROM ag;
--> f,t,t,0,13,8
SELECT variance(v), var_pop(v), var_samp(v), stddev(v), stddev_pop(v), stddev_samp(v) FROM ag;
--> 3.0000000000000000,2.0000000000000000,3.0000000000000000,1.7320508075688773,1.4142135623730950,1.7320508075688773
SELECT string_agg(t, ',' ORDER BY t DESC), sum(DISTINCT v), count(*) FILTER (WHERE v = 5) FROM ag;
--> "z,y,x,w",13,2

-- [within-group] pg
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_disc(ARRAY[0.25, 1]) WITHIN GROUP (ORDER BY x DESC), mode() WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (2), (5)) v(x);
--> 2,"{5,1}",2
SELECT rank(2) WITHIN GROUP (ORDER BY x), dense_rank(5) WITHIN GROUP (ORDER BY x), percent_rank(2) WITHIN GROUP (ORDER BY x), cume_dist(5) WITHIN GROUP (ORDER BY x) FILTER (WHERE x < 5) FROM (VALUES (1), (2), (2), (5)) v(x);
--> 2,3,0.25,1
SELECT percentile_disc(0.5, x) FROM (VALUES (1)) v(x);
--! 42809

-- [group-by] pg
CREATE TABLE gb (k int PRIMARY KEY, a int, b text);
INSERT INTO gb VALUES (1, 10, 'x'), (2, 10, 'y'), (3, 20, 'x');
SELECT a / 10 AS tens, count(*) FROM gb GROUP BY tens HAVING count(*) > 1;
--> 1,2
SELECT a % 3, count(*) FROM gb GROUP BY 1 ORDER BY 1;
--> 1,2
--> 2,1
SELECT a + 1, count(*) FROM gb GROUP BY a + 1 ORDER BY 1;
--> 11,2
--> 21,1
SELECT k, b, count(*) FROM gb GROUP BY k ORDER BY k;
--> 1,x,1
--> 2,y,1
--> 3,x,1
SELECT b, a FROM gb GROUP BY a;
--! 42803

-- [grouping-sets] pg
CREATE TABLE gs (a int, b text, v int);
INSERT INTO gs VALUES (1, 'x', 10), (1, 'y', 20), (2, 'x', 30);
SELECT a, b, sum(v), GROUPING(a, b) FROM gs GROUP BY ROLLUP (a, b) ORDER BY 4, 1, 2;
--> 1,x,10,0
--> 1,y,20,0
--> 2,x,30,0
--> 1,,30,1
--> 2,,30,1
--> ,,60,3
SELECT a, b, sum(v) FROM gs GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY 1, 2;
--> 1,,30
--> 2,,30
--> ,x,40
--> ,y,20
--> ,,60
SELECT a, b, count(*) FROM gs GROUP BY DISTINCT CUBE (a, b), a ORDER BY 1, 2;
--> 1,x,1
--> 1,y,1
--> 1,,2
--> 2,x,1
--> 2,,1
SELECT count(*) FROM gs WHERE false GROUP BY ();
--> 0
SELECT a FROM gs GROUP BY CUBE (a, a, a, a, a, a, a), CUBE (a, a, a, a, a, a);
--! 54001

-- [order-by] pg
SELECT a FROM (VALUES (1), (2), (2)) AS v (a) ORDER BY a FETCH FIRST 2 ROWS WITH TIES;
--> 1
--> 2
--> 2
CREATE TABLE ob (a int, b int);
INSERT INTO ob VALUES (1, 3), (2, NULL), (3, 1), (4, 2);
SELECT a FROM ob ORDER BY b NULLS FIRST;
--> 2
--> 3
--> 4
--> 1
SELECT a, -b AS m FROM ob ORDER BY m NULLS LAST;
--> 1,-3
--> 4,-2
--> 3,-1
--> 2,
SELECT a, b FROM ob ORDER BY 2 DESC LIMIT 2 OFFSET 1;
--> 1,3
--> 4,2
SELECT a FROM ob ORDER BY a % 2, a FETCH FIRST 3 ROWS ONLY;
--> 2
--> 4
--> 1

-- [window] pg
CREATE TABLE wn (g text, v int);
INSERT INTO wn VALUES ('a', 1), ('a', 2), ('a', 2), ('b', 5), ('b', 7);
SELECT v, row_number() OVER w, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(2) OVER w FROM wn WINDOW w AS (ORDER BY v) ORDER BY 2;
--> 1,1,1,1,0,0.2,1
--> 2,2,2,2,0.25,0.6,1
--> 2,3,2,2,0.25,0.6,1
--> 5,4,4,3,0.75,0.8,2
--> 7,5,5,4,1,1,2
SELECT v, lag(v) OVER w, lead(v, 1, 0) OVER w, first_value(v) OVER w, last_value(v) OVER w, nth_value(v, 2) OVER w FROM wn WINDOW w AS (PARTITION BY g ORDER BY v) ORDER BY g, v, 2 NULLS FIRST;
--> 1,,2,1,1,
--> 2,1,2,1,2,2
--> 2,2,0,1,2,2
--> 5,,7,5,5,
--> 7,5,0,5,7,7
SELECT g, v, sum(v) OVER (PARTITION BY g ORDER BY v) FROM wn ORDER BY g, v;
--> a,1,1
--> a,2,5
--> a,2,5
--> b,5,5
--> b,7,12

-- [window-frames] pg
SELECT count(*) OVER (ORDER BY d RANGE '1 day' PRECEDING) FROM (VALUES (date '2024-01-01'), (date '2024-01-02')) AS v (d);
--> 1
--> 2
CREATE TABLE wf (v int);
INSERT INTO wf VALUES (1), (2), (2), (4);
SELECT v, sum(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY v GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING), count(*) OVER (ORDER BY v RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM wf ORDER BY 1, 2;
--> 1,1,3,3
--> 2,3,3,3
--> 2,4,3,3
--> 4,6,1,1
SELECT v, sum(v) OVER (ORDER BY v ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW), count(*) FILTER (WHERE v > 1) OVER () FROM wf ORDER BY 1, 2;
--> 1,,3
--> 2,1,3
--> 2,3,3
--> 4,5,3

-- [subqueries] pg
CREATE TABLE sx (a int, b int);
CREATE TABLE sy (a int, c int);
INSERT INTO sx VALUES (1, 10), (2, 20), (3, NULL);
INSERT INTO sy VALUES (1, 5), (1, 6), (NULL, 7);
SELECT ARRAY(SELECT c FROM sy ORDER BY c);
--> "{5,6,7}"
SELECT a, (SELECT max(c) FROM sy WHERE sy.a = sx.a) FROM sx ORDER BY a;
--> 1,6
--> 2,
--> 3,
SELECT a FROM sx WHERE EXISTS (SELECT 1 FROM sy WHERE sy.a = sx.a);
--> 1
SELECT a FROM sx WHERE NOT EXISTS (SELECT FROM sy WHERE sy.a = sx.a) ORDER BY a;
--> 2
--> 3
SELECT a FROM sx WHERE a IN (SELECT a FROM sy);
--> 1
SELECT a FROM sx WHERE a NOT IN (SELECT a FROM sy);
SELECT a FROM sx WHERE b > ANY (SELECT c FROM sy) ORDER BY a;
--> 1
--> 2
SELECT a FROM sx WHERE b = SOME (VALUES (10), (30));
--> 1
SELECT a FROM sx WHERE b > ALL (SELECT c FROM sy) ORDER BY a;
--> 1
--> 2
SELECT a FROM sx WHERE (a, b) IN (VALUES (1, 10), (2, 0));
--> 1
SELECT a FROM sx WHERE (a, b) NOT IN (VALUES (1, 10)) ORDER BY a;
--> 2
--> 3
SELECT (SELECT a FROM sx);
--! 21000

-- [subquery-plans] pg
CREATE TABLE sp (a int PRIMARY KEY, b int);
INSERT INTO sp SELECT n, n % 10 FROM generate_series(1, 2000) AS n;
SELECT count(*) FROM sp x WHERE EXISTS (SELECT 1 FROM sp y WHERE y.a = x.b);
--> 1800
SELECT count(*) FROM sp x WHERE NOT EXISTS (SELECT 1 FROM sp y WHERE y.a = x.b AND y.b <> x.a);
--> 209
SELECT count(*) FROM sp x WHERE b IN (SELECT y.b FROM sp y WHERE y.a = x.a);
--> 2000
SELECT sum((SELECT count(*) FROM sp y WHERE y.b = x.a)) FROM sp x;
--> 1800
--= tests/e2e/explain_test.c row, then hashed

-- [operators] pg
SELECT 7 + 2, 7 - 2, 7 * 2, 7 / 2, 7 % 2, 2 ^ 10, -7 / 2, -7 % 2;
--> 9,5,14,3,1,1024,-3,-1
SELECT 1 < 2, 1 <= 1, 1 = 2, 1 <> 2, 1 != 2, 2 >= 1, 2 > 1;
--> t,t,f,t,t,t,t
SELECT 12 & 10, 12 | 10, 12 # 10, ~ 12, 1 << 4, 256 >> 4, 'a' || 'b' || 3;
--> 8,14,6,-13,16,16,ab3

-- [collate] differ
SELECT 'a' COLLATE "en_US";
--! 0A000
--pg! 42704
SELECT 'a' COLLATE "C" < 'B', 'a' COLLATE "POSIX", 'a' COLLATE "default" = 'a';
--> f,a,t
CREATE TABLE col (s text COLLATE "C" PRIMARY KEY);
INSERT INTO col VALUES ('b'), ('B');
SELECT s FROM col ORDER BY s COLLATE "C" DESC;
--> b
--> B
SELECT 1 COLLATE "C";
--! 42804

-- [comment] pg
CREATE TABLE com (a int);
COMMENT ON TABLE com IS 'a table';
COMMENT ON COLUMN com.a IS 'a column';
COMMENT ON COLUMN com.b IS 'none';
--! 42703
COMMENT ON VIEW com IS 'no view';
--! 42809
COMMENT ON SEQUENCE nocom IS 'none';
--! 42P01
COMMENT ON TYPE nocom IS 'none';
--! 42704

-- [roles] namdb
CREATE USER docs_user PASSWORD 'secret';
CREATE ROLE docs_user;
--! 42710
ALTER ROLE docs_user SUPERUSER NOLOGIN PASSWORD NULL;
ALTER USER docs_user NOSUPERUSER LOGIN;
CREATE ROLE docs_other REPLICATION;
--! 0A000
CREATE TABLE of_user (a int);
GRANT SELECT ON of_user TO docs_user;
DROP USER docs_user;
--! 2BP01
DROP TABLE of_user;
CREATE TABLE of_all (a int);
GRANT SELECT ON of_all TO PUBLIC;
ALTER ROLE docs_user INHERIT;
ALTER ROLE docs_user NOINHERIT;
SELECT rolinherit FROM pg_roles WHERE rolname = 'docs_user';
--> f
DROP USER docs_user;
DROP ROLE docs_user;
--! 42704
CREATE ROLE docs_boss SUPERUSER;
SET SESSION AUTHORIZATION docs_boss;
DROP ROLE namdb;
--! 2BP01
ALTER ROLE namdb NOSUPERUSER;
--! 0A000
RESET SESSION AUTHORIZATION;
DROP ROLE docs_boss;
DROP TABLE of_all;
DROP ROLE IF EXISTS docs_user;

-- [grant] pg
CREATE ROLE docs_ann;
CREATE TABLE gt (a int PRIMARY KEY);
CREATE SEQUENCE gs;
CREATE VIEW gv AS SELECT a + 1 AS b FROM gt;
INSERT INTO gt VALUES (1);
GRANT SELECT ON gv TO docs_ann;
SET ROLE docs_ann;
SELECT * FROM gv;
--> 2
SELECT * FROM gt;
--! 42501
INSERT INTO gt VALUES (2);
--! 42501
SELECT nextval('gs');
--! 42501
RESET ROLE;
GRANT SELECT, INSERT ON gt TO docs_ann WITH GRANT OPTION;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO PUBLIC;
GRANT UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public TO docs_ann;
REVOKE UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM docs_ann;
SET ROLE docs_ann;
INSERT INTO gt VALUES (nextval('gs') + 1);
SELECT count(*) FROM gt;
--> 2
GRANT SELECT ON gt TO PUBLIC;
RESET ROLE;
REVOKE GRANT OPTION FOR SELECT ON gt FROM docs_ann;
--! 2BP01
REVOKE ALL ON gt FROM docs_ann CASCADE;
REVOKE USAGE ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC;
DROP VIEW gv;
DROP ROLE docs_ann;

-- [schema] namdb
CREATE SCHEMA docs_s;
CREATE SCHEMA docs_s;
--! 42P06
CREATE SCHEMA IF NOT EXISTS docs_s;
CREATE TABLE docs_s.t (a int PRIMARY KEY, b int REFERENCES docs_s.t);
INSERT INTO docs_s.t VALUES (1, 1);
SELECT docs_s.t.a FROM docs_s.t;
--> 1
DROP SCHEMA docs_s;
--! 2BP01
ALTER SCHEMA docs_s OWNER TO CURRENT_USER;
ALTER SCHEMA docs_s RENAME TO docs_s3;
--! 0A000
ALTER TABLE docs_s.t SET SCHEMA public;
--! 0A000
CREATE SCHEMA "a.b";
--! 0A000
DROP SCHEMA public;
--! 0A000
DROP SCHEMA IF EXISTS docs_s CASCADE;
CREATE ROLE docs_role;
CREATE SCHEMA AUTHORIZATION docs_role;
CREATE SCHEMA s AUTHORIZATION docs_role;
CREATE TABLE s.t (c int);
SELECT s.t.c FROM s.t;
CREATE VIEW s.v AS SELECT c FROM s.t;
CREATE SEQUENCE s.q;
CREATE INDEX i ON s.t (c);
DROP SCHEMA s, docs_role CASCADE;
DROP ROLE docs_role;

-- [temp] differ
CREATE TABLE docs_t (a int);
CREATE TEMP TABLE docs_t (a int, b serial);
INSERT INTO docs_t (a) VALUES (5);
SELECT a, b FROM pg_temp.docs_t;
--> 5,1
SELECT count(*) FROM public.docs_t;
--> 0
CREATE TEMPORARY VIEW docs_v AS SELECT a FROM docs_t;
SELECT * FROM docs_v;
--> 5
CREATE TEMP SEQUENCE docs_seq;
CREATE TEMP TABLE docs_as AS SELECT 1 AS one;
SELECT 2 AS two INTO TEMP docs_into;
CREATE TEMP TABLE docs_keeps (a int) ON COMMIT PRESERVE ROWS;
CREATE TEMP TABLE docs_empties (a int) ON COMMIT DELETE ROWS;
INSERT INTO docs_empties VALUES (1);
SELECT count(*) FROM docs_empties;
--> 0
BEGIN;
CREATE TEMP TABLE t (a int) ON COMMIT DROP;
COMMIT;
SELECT * FROM pg_temp.t;
--! 42P01
BEGIN READ ONLY;
INSERT INTO docs_t (a) VALUES (6);
--! 25006
--pg> *
ROLLBACK;
SELECT * FROM pg_temp_9999.t;
--! 0A000
--pg! 42P01
DROP TABLE docs_t CASCADE;
SELECT count(*) FROM docs_t;
--> 0
DISCARD TEMP;
--= tests/process/test_temp.py killed

-- [grant-schema] namdb
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO PUBLIC;
REVOKE CONNECT ON DATABASE namdb FROM PUBLIC;
--! 0A000
CREATE ROLE docs_maker;
SET ROLE docs_maker;
CREATE TABLE made (a int);
--! 42501
RESET ROLE;
GRANT CREATE ON SCHEMA public TO docs_maker;
SET ROLE docs_maker;
CREATE TABLE made (a int);
RESET ROLE;
SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'made';
--> docs_maker
DROP ROLE docs_maker;
--! 2BP01
DROP OWNED BY docs_maker;
DROP ROLE docs_maker;

-- [grant-role] pg
CREATE ROLE docs_group;
CREATE ROLE docs_member;
CREATE TABLE grt (a int);
GRANT SELECT ON grt TO docs_group;
GRANT docs_group TO docs_member WITH ADMIN OPTION;
SET ROLE docs_member;
SELECT count(*) FROM grt;
--> 0
RESET ROLE;
ALTER ROLE docs_member NOINHERIT;
SET ROLE docs_member;
SELECT count(*) FROM grt;
--! 42501
SET ROLE docs_group;
SELECT count(*) FROM grt;
--> 0
RESET ROLE;
ALTER ROLE docs_member INHERIT;
REVOKE ADMIN OPTION FOR docs_group FROM docs_member;
REVOKE docs_group FROM docs_member;
SET ROLE docs_member;
SELECT count(*) FROM grt;
--! 42501
RESET ROLE;
DROP TABLE grt;
DROP ROLE docs_group, docs_member;

-- [owner] pg
CREATE ROLE docs_owner;
CREATE TABLE ot (a serial PRIMARY KEY);
ALTER TABLE ot OWNER TO docs_owner;
SELECT count(*) FROM pg_class WHERE relname IN ('ot', 'ot_pkey', 'ot_a_seq') AND pg_get_userbyid(relowner) = 'docs_owner';
--> 3
CREATE VIEW ow AS SELECT 1 AS a;
CREATE SEQUENCE os;
ALTER VIEW ow OWNER TO docs_owner;
ALTER SEQUENCE os OWNER TO docs_owner;
REASSIGN OWNED BY docs_owner TO CURRENT_USER;
DROP ROLE docs_owner;
DROP TABLE ot;
DROP VIEW ow;
DROP SEQUENCE os;

-- [set-role] pg
CREATE ROLE docs_me;
BEGIN;
SET LOCAL ROLE docs_me;
SELECT current_user;
--> docs_me
COMMIT;
SELECT current_user = session_user;
--> t
SET SESSION AUTHORIZATION docs_me;
SELECT session_user;
--> docs_me
RESET SESSION AUTHORIZATION;
SET ROLE nobody_there;
--! 22023
DROP ROLE docs_me;

-- [set-idle] namdb
SET idle_in_transaction_session_timeout = '2s';
SHOW idle_in_transaction_session_timeout;
--> 2s
SET idle_session_timeout = 'x';
--! 22023

-- [set-slow] pg
SHOW log_min_duration_statement;
--> -1
SET log_min_duration_statement = '2s';
SHOW log_min_duration_statement;
--> 2s
SET log_min_duration_statement = 0;
SHOW log_min_duration_statement;
--> 0
SET log_min_duration_statement = 'soon';
--! 22023
RESET log_min_duration_statement;
SHOW log_min_duration_statement;
--> -1
--= tests/process/test_metrics.py --log-slow

-- [set-path] pg
SET search_path = a, public;
SHOW search_path;
--> "a, public"
RESET search_path;
SET search_path TO public;
SHOW search_path;
--> public
SET search_path = "$user", public;
SHOW search_path;
--> """$user"", public"
SET search_path = pg_catalog, public;
SELECT current_schemas(false);
--> "{pg_catalog,public}"
CREATE SCHEMA docs_path;
SET search_path = docs_path;
CREATE SEQUENCE s;
CREATE TABLE t (a int DEFAULT nextval('s'), b text);
CREATE VIEW v AS SELECT b FROM t;
RESET search_path;
INSERT INTO docs_path.t (b) VALUES ('x') RETURNING a;
--> 1
SELECT * FROM docs_path.v;
--> x
DROP SCHEMA docs_path CASCADE;
SET ROLE none;

-- [rows] differ
SELECT (1, 2) = (1, 2), (1, NULL) < (2, 1), (1, 2) <> (1, 3), (2, 1) <= (1, 9), ROW(2, 1) > (1, 9), (2, 1) >= (2, 1);
--> t,t,t,f,t,t
SELECT (1, 2) IN ((1, 2), (3, 4)), (1, 2) NOT IN ((1, 3)), (1, 2) BETWEEN (1, 1) AND (2, 0), (1, NULL) IS DISTINCT FROM (1, NULL);
--> t,t,t,f
SELECT ROW(NULL, NULL) IS NULL, ROW(1, NULL) IS NULL, ROW(1, NULL) IS NOT NULL, (1, 2) NOT BETWEEN (1, 3) AND (2, 0), (1, 2) IS NOT DISTINCT FROM (1, 2);
--> t,f,f,t,t
CREATE TABLE rws (a int, b int, PRIMARY KEY (a, b));
INSERT INTO rws VALUES (1, 1), (1, 2), (1, 3), (2, 0);
SELECT * FROM rws WHERE (a, b) > (1, 2) ORDER BY a, b;
--> 1,3
--> 2,0
SELECT (1, 2) = (1, 2, 3);
--! 42601
DROP TABLE rws;
SELECT ROW(1, 2);
--! 0A000
--pg> "(1,2)"

-- [conditions] pg
SELECT NULL AND false, NULL OR true, NOT NULL::boolean;
--> f,t,
SELECT 1 IS NULL, 1 IS NOT NULL, (1 = 2) IS TRUE, (NULL = 2) IS NOT FALSE, (NULL = 1) IS UNKNOWN;
--> f,t,f,t,t
SELECT NULL IS DISTINCT FROM 1, NULL IS NOT DISTINCT FROM NULL;
--> t,t
SELECT 1 IN (1, 2), 3 NOT IN (1, NULL), 2 BETWEEN 1 AND 3, 2 BETWEEN SYMMETRIC 3 AND 1, 5 NOT BETWEEN 1 AND 3;
--> t,,t,t,t
SELECT CASE WHEN 1 = 2 THEN 'a' ELSE 'b' END, CASE 3 WHEN 3 THEN 'three' END;
--> b,three
SELECT COALESCE(NULL, 2), NULLIF(1, 1), GREATEST(1, NULL, 3), LEAST('b', 'a');
--> 2,,3,a

-- [patterns] pg
SELECT regexp_match('abcd', '(a|ab)(c|bcd)(d*)'), 'abab' ~ '^(ab)\1$', regexp_replace('aaa', 'a+?', 'x'), substring('abc' FROM '(?<=a)b(?=c)'), 'ABC' ~ '(?i)abc', 'a.c' ~ '***=a.c';
--> "{ab,c,d}",t,xaa,b,t,t
SELECT substring('abcdefg' SIMILAR 'a#"(b_d)#"%' ESCAPE '#');
--> bcd
SELECT 'abc' LIKE 'a%', 'abc' NOT LIKE '_b_', 'ABC' ILIKE 'a%', 'abc' SIMILAR TO '(a|x)b?c', 'a%c' LIKE 'a\%c';
--> t,f,t,t,t
SELECT 'abc' ~ '^a.c$', 'ABC' ~* 'b', 'abc' !~ 'x', 'ABC' !~* 'b';
--> t,t,t,f
SELECT 'a' ~ '(';
--! 2201B

-- [literals] pg
SELECT CAST('7' AS int) + 1, '8'::int + 1, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02', INTERVAL '1 day';
--> 8,9,2024-02-29,2024-02-29 01:02:00,1 day
SELECT now() = CURRENT_TIMESTAMP, CURRENT_DATE = now()::date;
--> t,t

-- [functions-number] pg
SELECT min_scale(1.50), trim_scale(1.50), gcd(12, 18), lcm(4, 6), factorial(20), width_bucket(5.35, 0.024, 10.06, 5);
--> 1,1.5,6,12,2432902008176640000,3
SELECT sind(30), cosd(60), tand(45), cotd(45), asind(0.5), acosd(0.5), atand(1), atan2d(1, 1), |/ 25, ||/ 27, @ -5;
--> 0.5,0.5,1,1,30,60,45,45,5,3.0000000000000004,5
SELECT setseed(0.5);
--> ""
SELECT random(), random() < 1;
--> 0.9851677175347999,t
SELECT abs(-5), sign(-2.5), ceil(1.2), ceiling(1.2), floor(-1.2), round(2.567, 2), trunc(2.567, 1), mod(7, 3), div(7, 2), scale(1.230);
--> 5,-1,2,2,-2,2.57,2.5,1,3,3
SELECT sqrt(2.0::float8), cbrt(27), power(2, 3), pow(2.0, 0.5), exp(1.0), ln(10.0), log(100.0), log(2.0, 64.0), log10(1000.0);
--> 1.4142135623730951,3.0000000000000004,8,1.4142135623730950,2.7182818284590452,2.3025850929940457,2.0000000000000000,6.0000000000000000,3.0000000000000000
SELECT pi(), degrees(1), radians(180), sin(1), cos(1), tan(1), asin(0.5), acos(0.5), atan(1), atan2(1, 2), cot(1);
--> 3.141592653589793,57.29577951308232,3.141592653589793,0.8414709848078965,0.5403023058681398,1.5574077246549023,0.5235987755982989,1.0471975511965979,0.7853981633974483,0.4636476090008061,0.6420926159343306
SELECT sinh(1), cosh(1), tanh(1), asinh(1), acosh(2), atanh(0.5);
--> 1.1752011936438014,1.5430806348152437,0.7615941559557649,0.881373587019543,1.3169578969248166,0.5493061443340548
SELECT sqrt(-1);
--! 2201F

-- [functions-text] pg
SELECT parse_ident('Public."My Table".a'), regexp_substr('a1b22', '[0-9]+', 1, 2), regexp_replace('aaa', 'a', 'b', 2, 1);
--> "{public,""My Table"",a}",22,aba
SELECT quote_ident('a b'), format('%I = %L [%5s]', 'select', 'it''s', 7), unistr('d\0061t\+000061');
--> """a b""","""select"" = 'it''s' [    7]",data
SELECT length('öl'), char_length('öl'), character_length('öl'), octet_length('öl'), bit_length('öl'), lower('ÖL'), upper('öl'), initcap('two words');
--> 2,2,2,3,24,öl,ÖL,Two Words
SELECT substr('abcdef', 2, 3), substring('abcdef' FROM 3), substring('abcdef' FROM '[c-e]+'), left('abc', 2), right('abc', -1);
--> bcd,cdef,cde,ab,bc
SELECT lpad('7', 3, '0'), rpad('x', 3) || '|', btrim('  a '), ltrim('xxa', 'x'), rtrim('axx', 'x'), trim(BOTH 'x' FROM 'xax');
--> 007,x  |,a,a,a,a
SELECT replace('aXbX', 'X', '-'), translate('abc', 'ab', 'x'), overlay('abcd' PLACING 'XX' FROM 2), position('b' IN 'abc'), strpos('abc', 'c'), starts_with('abc', 'ab');
--> a-b-,xc,aXXd,2,3,t
SELECT repeat('ab', 3), reverse('abc'), split_part('a,b,c', ',', 2), concat('a', NULL, 1), concat_ws('-', 'a', NULL, 'b');
--> ababab,cba,b,a1,a-b
SELECT chr(246), ascii('a'), to_hex(255), md5('a'), quote_literal('it''s'), quote_nullable(NULL);
--> ö,97,ff,0cc175b9c0f1b6a831c399e269772661,'it''s',NULL
SELECT regexp_count('abcabc', 'b'), regexp_instr('abcabc', 'c'), regexp_like('abc', 'B', 'i'), regexp_replace('abcabc', 'b', 'X', 'g'), regexp_substr('abc', '.c');
--> 2,3,t,aXcaXc,bc

-- [functions-date] pg
SELECT make_timestamp(2024, 2, 29, 12, 34, 56.5), make_timestamptz(2024, 2, 29, 0, 0, 0), make_interval(days => 3), make_interval(1, 2);
--> 2024-02-29 12:34:56.5,2024-02-29 00:00:00+00,3 days,1 year 2 mons
SELECT date_bin('15 minutes', timestamp '2020-02-11 15:44:17', timestamp '2001-01-01'), clock_timestamp() >= now(), length(timeofday()) > 30, statement_timestamp() <= clock_timestamp();
--> 2020-02-11 15:30:00,t,t,t
SELECT pg_sleep(0.01), pg_sleep_for('1 ms'), pg_sleep_until(now()), pg_sleep(-1);
--> "","","",""
SELECT (date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', interval '1 day');
--> t
SELECT age(timestamp '2024-03-01', timestamp '2023-01-31'), date_part('year', date '2024-02-29'), date_trunc('month', timestamp '2024-02-29 10:00');
--> 1 year 1 mon 1 day,2024,2024-02-01 00:00:00
SELECT extract(epoch FROM timestamp '1970-01-02'), isfinite(date 'infinity');
--> 86400.000000,f
SELECT justify_days(interval '35 days'), justify_hours(interval '27 hours'), justify_interval(interval '1 month -1 hour');
--> 1 mon 5 days,1 day 03:00:00,29 days 23:00:00
SELECT make_date(2024, 2, 29), make_time(1, 2, 3.5), timezone('UTC', timestamp '2024-01-01'), localtimestamp = now()::timestamp, current_date = now()::date;
--> 2024-02-29,01:02:03.5,2024-01-01 00:00:00+00,t,t
SELECT make_date(2023, 2, 29);
--! 22008

-- [functions-format] pg
SELECT to_char(timestamp '2024-02-29 15:04:05.678', 'FMDay, DDth Month YYYY HH12:MI:SS.MS p.m.'), to_char(interval '27 hours', 'HH24:MI'), to_char(date '2024-12-30', 'IYYY-"W"IW-ID');
--> "Thursday, 29th February  2024 03:04:05.678 p.m.",27:00,2025-W01-1
SELECT to_char(1234.5, '9,999.99'), to_char(-0.5, 'FM0.00'), to_char(1999, 'FMRN'), to_char(0.00012345, '9.99EEEE');
--> " 1,234.50",-0.50,MCMXCIX, 1.23e-04
SELECT to_date('29 Feb 2024', 'DD Mon YYYY'), to_timestamp('2024-060 3:04 PM', 'YYYY-DDD HH12:MI PM'), to_timestamp(86400), to_number('-1,234.5', 'S9,999.9');
--> 2024-02-29,2024-02-29 15:04:00+00,1970-01-02 00:00:00+00,-1234.5
SELECT to_date('2024-02-30', 'YYYY-MM-DD');
--! 22008

-- [functions-session] namdb
SELECT current_user, session_user, user, current_role, current_catalog, current_database(), current_schema, current_schema();
--> namdb,namdb,namdb,namdb,namdb,namdb,public,public
SELECT version() LIKE 'PostgreSQL 15%', current_setting('timezone'), current_setting('no.such', true), pg_backend_pid() > 0, pg_client_encoding(), pg_is_in_recovery();
--> t,UTC,,t,UTF8,f
SELECT current_setting('no.such');
--! 42704
SELECT pg_cancel_backend(0), pg_terminate_backend(0);
--> f,f
SELECT set_config('application_name', 'me', false), current_setting('application_name'), current_schemas(true), current_schemas(false), pg_my_temp_schema();
--> me,me,"{pg_catalog,public}",{public},0

-- [functions-size] namdb
CREATE TABLE sized (id int PRIMARY KEY, t text);
SELECT pg_relation_size('sized'), pg_table_size('sized'), pg_indexes_size('sized'), pg_total_relation_size('sized');
--> 4096,4096,0,4096
INSERT INTO sized SELECT i, repeat('x', 300) FROM generate_series(1, 2000) i;
SELECT pg_table_size('sized') > 2000 * 300, (pg_relation_size('sized') - 4096) % 65536, pg_relation_size('sized', 'fsm');
--> t,0,0
INSERT INTO sized SELECT -i, repeat(md5(i::text), 30000) FROM generate_series(1, 3) i;
SELECT pg_table_size('sized') - pg_relation_size('sized') > 3 * 900000;
--> t
CREATE INDEX sized_i ON sized (id);
SELECT pg_indexes_size('sized') = pg_relation_size('sized_pkey') + pg_relation_size('sized_i');
--> t
SELECT pg_database_size('namdb') >= pg_total_relation_size('sized'), pg_tablespace_size('pg_default') = pg_database_size('namdb');
--> t,t
SELECT pg_relation_size(99999999) IS NULL;
--> t
SELECT pg_relation_size('nope');
--! 42P01
DROP TABLE sized;

-- [pg-settings] pg
SELECT name, setting, unit, context, vartype, source, min_val, max_val, enumvals, boot_val, reset_val, pending_restart FROM pg_settings WHERE name IN ('lock_timeout', 'plan_cache_mode', 'jit', 'random_page_cost', 'max_index_keys', 'default_transaction_isolation') ORDER BY name;
--> default_transaction_isolation,read committed,,user,enum,default,,,"{serializable,""repeatable read"",""read committed"",""read uncommitted""}",read committed,read committed,f
--> jit,on,,user,bool,default,,,,on,on,f
--> lock_timeout,0,ms,user,integer,default,0,2147483647,,0,0,f
--> max_index_keys,32,,internal,integer,default,32,32,,32,32,f
--> plan_cache_mode,auto,,user,enum,default,,,"{auto,force_generic_plan,force_custom_plan}",auto,auto,f
--> random_page_cost,4,,user,real,default,0,1.79769e+308,,4,4,f
SET lock_timeout = '2s';
SELECT name, setting, unit, source, boot_val FROM pg_settings WHERE name LIKE 'lock%' AND source <> 'default';
--> lock_timeout,2000,ms,session,0
RESET lock_timeout;
SELECT source FROM pg_catalog.pg_settings WHERE name = 'lock_timeout';
--> default
SELECT setting::int / 10000 FROM pg_settings WHERE name = 'server_version_num';
--> 15
PREPARE pgs AS SELECT setting FROM pg_settings WHERE name = 'work_mem';
EXECUTE pgs;
--> 4096
SET work_mem = '1MB';
EXECUTE pgs;
--> 1024
RESET work_mem;
DEALLOCATE pgs;

-- [seen] namdb
CREATE ROLE docs_seer;
CREATE TABLE seen (a int);
INSERT INTO seen VALUES (1), (2);
ANALYZE seen;
SELECT count(*) FROM nam_stats WHERE tablename = 'seen';
--> 1
SET ROLE docs_seer;
SELECT count(*) FROM nam_stats WHERE tablename = 'seen';
--> 0
SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%seen%';
--> 0
SELECT count(*) FROM nam_extras;
--! 42501
RESET ROLE;
GRANT SELECT ON seen TO docs_seer;
SET ROLE docs_seer;
SELECT count(*) FROM nam_stats WHERE tablename = 'seen';
--> 1
RESET ROLE;
DROP TABLE seen;
DROP ROLE docs_seer;

-- [functions-right] namdb
SELECT has_table_privilege('pg_class', 'select'), has_table_privilege('pg_class', 'insert'), has_any_column_privilege('pg_class', 'select');
--> t,f,t
SELECT has_column_privilege('pg_class', 'relname', 'select'), has_column_privilege('pg_class', 'relname', 'update');
--> t,f
CREATE SEQUENCE righted;
SELECT has_sequence_privilege('righted', 'usage, update'), has_database_privilege('namdb', 'CREATE, TEMP'), has_schema_privilege('public', 'create'), has_schema_privilege('pg_catalog', 'create');
--> t,t,t,f
DROP SEQUENCE righted;
SELECT pg_has_role('namdb', 'member');
--> t

-- [functions-list] namdb
SELECT name, result, arguments, type FROM nam_functions WHERE name IN ('lower', 'string_agg', 'lag') ORDER BY name, arguments;
--> lag,anycompatible,"anycompatible, integer, anycompatible",window
--> lower,text,text,func
--> string_agg,bytea,"bytea, bytea",agg
--> string_agg,text,"text, text",agg
DELETE FROM nam_functions;
--! 42501

-- [functions-jsonb] pg
SELECT '{"a": {"b": [1, 2]}}'::jsonb -> 'a' ->> 'b', '{"a": {"b": [1, 2]}}'::jsonb #> '{a,b,0}', '{"a": {"b": [1, 2]}}'::jsonb #>> '{a,b}';
--> "[1, 2]",1,"[1, 2]"
SELECT '{"a": 1, "b": [2]}'::jsonb @> '{"b": [2]}', '[1]'::jsonb <@ '[1, 2]', '{"a": 1}'::jsonb ? 'a', '{"a": 1}'::jsonb ?| '{a,b}', '{"a": 1}'::jsonb ?& '{a,b}', '1'::jsonb = '1.0', '[1]'::jsonb < '[2]';
--> t,t,t,t,f,t,t
SELECT '{"a": 1}'::jsonb || '{"b": 2}', '{"a": 1, "b": 2}'::jsonb - 'a', '[1, 2]'::jsonb - 0, '{"a": [1, 2]}'::jsonb #- '{a,0}';
--> "{""a"": 1, ""b"": 2}","{""b"": 2}",[2],"{""a"": [2]}"
SELECT jsonb_typeof('[]'), jsonb_array_length('[1, 2]'), jsonb_set('{"a": 1}', '{b}', '2'), jsonb_insert('[1, 3]', '{1}', '2'), jsonb_strip_nulls('{"a": null}'), jsonb_pretty('[]') = '[' || chr(10) || ']';
--> array,2,"{""a"": 1, ""b"": 2}","[1, 2, 3]",{},t
SELECT to_jsonb('x'::text), jsonb_build_object('a', 1), jsonb_build_array(1, NULL), jsonb_agg(x), jsonb_object_agg(x, x) FROM (VALUES (1)) v (x);
--> """x""","{""a"": 1}","[1, null]",[1],"{""1"": 1}"
SELECT value FROM jsonb_array_elements('[1, 2]') ORDER BY 1;
--> 1
--> 2
SELECT jsonb_array_elements_text('["x"]'), jsonb_object_keys('{"k": 1}'), json_array_elements('[7]'), json_array_elements_text('[8]'), json_object_keys('{"l": 1}');
--> x,k,7,8,l
SELECT key, value FROM jsonb_each('{"k": [1]}');
--> k,[1]
SELECT e.key, e.value, j.value FROM jsonb_each_text('{"k": "t"}') AS e, json_each('{"m": 1}') AS j;
--> k,t,1
SELECT '{"b":1}'::json::jsonb, '2.5'::jsonb::int, 'true'::jsonb::bool, '"x"'::jsonb::text;
--> "{""b"": 1}",3,t,"""x"""

-- [functions-other] pg
SELECT to_json(1.5), json_build_object('a', 1, 'b', NULL), json_build_array(1, 'x'::text, true);
--> 1.5,"{""a"" : 1, ""b"" : null}","[1, ""x"", true]"
SELECT json_agg(a ORDER BY a), json_object_agg(a, a * 2 ORDER BY a) FROM (VALUES (2), (1)) AS v (a);
--> "[1, 2]","{ ""1"" : 2, ""2"" : 4 }"
SELECT num_nulls(1, NULL), num_nonnulls(1, NULL), pg_typeof(1.5), pg_size_pretty(123456789::bigint);
--> 1,1,numeric,118 MB
SELECT json_object('{a,1,b,NULL}'), jsonb_object(ARRAY['a'], ARRAY['1']), array_to_json(ARRAY[1, 2]), json_strip_nulls('{"a": null, "b": 1}');
--> "{""a"" : ""1"", ""b"" : null}","{""a"": ""1""}","[1,2]","{""b"":1}"
SELECT pg_column_size(1), pg_column_size('abc'::text), pg_column_size(1.5), pg_column_size(ARRAY[1, 2]);
--> 4,7,10,32
SELECT pg_size_bytes('1.5 MB'), pg_size_pretty(1572864.5), convert('\xc3bc', 'UTF8', 'UTF8'), width_bucket(5, ARRAY[1, 5, 9]);
--> 1572864,1536 kB,\xc3bc,2
SELECT encode('\x00ff'::bytea, 'base64'), decode('AP8=', 'base64'), encode('\x00ff'::bytea, 'escape'), convert_from('\xc3bc', 'UTF8'), convert_to('ü', 'UTF8');
--> AP8=,\x00ff,\000\377,ü,\xc3bc
SELECT get_bit('\x12'::bytea, 1), set_bit('\x12'::bytea, 0, 1), bit_count('\x12ff'::bytea), length(sha224('a')), length(sha384('a'));
--> 1,\x13,10,28,48
SELECT encode('\x00ff'::bytea, 'hex'), decode('00ff', 'hex'), get_byte('\x0102'::bytea, 1), set_byte('\x0102'::bytea, 0, 255);
--> 00ff,\x00ff,2,\xff02
SELECT encode(sha256('a'::bytea), 'hex'), length(sha512('a'::bytea)), length(gen_random_uuid()::text);
--> ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb,64,36
SELECT json_typeof('[1]'::json), json_array_length('[1, 2]'::json);
--> array,2

-- [set-visibility] namdb
SHOW namdb.visibility;
--> session
SET namdb.visibility = cluster;
SHOW namdb.visibility;
--> cluster
SET namdb.visibility = 'nowhere';
--! 22023
--= tests/process/test_bad_sql.py SET namdb.visibility = 'cluster'
--= tests/process/test_waits.py 40003
--= tests/process/test_waits.py statement_timeout
SET namdb.visibility = 'session';

-- [set-isolation] pg
SHOW default_transaction_isolation;
--> read committed
SET default_transaction_isolation = 'repeatable read';
SHOW transaction_isolation;
--> repeatable read
SET default_transaction_isolation = 'serializable';
BEGIN;
SHOW transaction_isolation;
--> serializable
COMMIT;
SET default_transaction_isolation = 'read committed';
SHOW transaction_isolation;
--> read committed
SET default_transaction_isolation = 'chaos';
--! 22023

-- [set-timeouts] pg
SHOW statement_timeout;
--> 0
SET lock_timeout = 1500;
SHOW lock_timeout;
--> 1500ms
SET statement_timeout = '2s';
SHOW statement_timeout;
--> 2s
SET statement_timeout = '1min';
SHOW statement_timeout;
--> 1min
SET statement_timeout = '1 fortnight';
--! 22023
SET statement_timeout = 30;
SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b;
--! 57014

-- [set-memory] namdb
SHOW namdb.statement_memory;
--> 4GB
SET namdb.statement_memory = '64MB';
SHOW namdb.statement_memory;
--> 64MB
SET namdb.statement_memory = '2GB';
SHOW namdb.statement_memory;
--> 2GB
SET namdb.statement_memory = '1MB';
SELECT count(*) FROM (SELECT a FROM generate_series(1, 1000000) AS a ORDER BY a DESC OFFSET 0) AS x;
--! 53200
SET namdb.statement_memory = 0;
SELECT count(*) FROM (SELECT a FROM generate_series(1, 100000) AS a ORDER BY a DESC OFFSET 0) AS x;
--> 100000

-- [set-process-memory] namdb
SHOW namdb.process_memory;
--> 0
SET namdb.process_memory = '1MB';
SELECT count(*) FROM (SELECT a FROM generate_series(1, 1000000) AS a ORDER BY a DESC OFFSET 0) AS x;
--! 53200
SET namdb.process_memory = 0;

-- [set-scan-memory] namdb
SET namdb.scan_memory = '64MB';
SHOW namdb.scan_memory;
--> 64MB
SET namdb.scan_memory = 0;
SHOW namdb.scan_memory;
--> 0
RESET namdb.scan_memory;

-- [set-parallel] namdb
SHOW namdb.parallel;
--> 0
SET namdb.parallel = 1;
SHOW namdb.parallel;
--> 1
SET namdb.parallel = 'all';
--! 22023
RESET namdb.parallel;

-- [set-parallel-rows] namdb
SHOW namdb.parallel_rows;
--> 20000
SET namdb.parallel_rows = 0;
SELECT count(*), sum(a) FROM generate_series(1, 1000) AS a;
--> 1000,500500
SET namdb.parallel_rows = -1;
--! 22023
RESET namdb.parallel_rows;

-- [set-help] namdb
SHOW namdb.help;
--> on
SET namdb.help = off;
SHOW namdb.help;
--> off
SET namdb.help = wait;
SET namdb.parallel_rows = 10;
SELECT count(*), sum(a) FROM generate_series(1, 1000) AS a;
--> 1000,500500
SET namdb.help = on;
SET namdb.parallel = 1;
SELECT count(*), sum(a) FROM generate_series(1, 1000) AS a;
--> 1000,500500
RESET namdb.parallel;
RESET namdb.parallel_rows;
SET namdb.help = 'some';
--! 22023
RESET namdb.help;

-- [set-join-order] namdb
SHOW namdb.join_order;
--> cost
SET namdb.join_order = 7;
SELECT count(*) FROM generate_series(1, 10) AS a, generate_series(1, 20) AS b, generate_series(5, 30) AS c WHERE a = b AND b = c;
--> 6
SET namdb.join_order = 'cost';
SET namdb.join_order = 'best';
--! 22023

-- [set-costs] namdb
SHOW namdb.costs;
--> measured
SET namdb.costs = 'standard';
SHOW namdb.costs;
--> standard
SET namdb.costs = 'guessed';
--! 22023
SET namdb.costs = 'measured';

-- [set-cost] namdb
--= tests/e2e/joinorder_test.c constants_decide
--= tests/process/test_doctor.py namdb doctor
SET namdb.costs = 'standard';
SELECT name, setting, unit FROM pg_settings WHERE name LIKE 'namdb.cost\_%' ORDER BY 1;
--> namdb.cost_byte,0.15,ns
--> namdb.cost_cache,1024,kB
--> namdb.cost_hash_far,100,ns
--> namdb.cost_hash_near,15,ns
--> namdb.cost_row,40,ns
--> namdb.cost_trip,500,ns
--> namdb.cost_value,5,ns
--> namdb.cost_verb,150,ns
SET namdb.cost_trip = 500;
SET namdb.cost_trip = '2us';
SHOW namdb.cost_trip;
--> 2000ns
SET namdb.cost_trip = '1s';
SET namdb.cost_trip = -1;
SHOW namdb.cost_trip;
--> 500ns
SET namdb.cost_verb = '500ns';
SET namdb.cost_byte = 0.5;
SET namdb.cost_row = 1;
SET namdb.cost_value = 1;
SET namdb.cost_hash_near = 1;
SET namdb.cost_hash_far = 1;
SET namdb.cost_cache = '512kB';
SHOW namdb.cost_cache;
--> 512kB
SET namdb.cost_hash_far = '1 mile';
--! 22023
RESET namdb.cost_verb;
RESET namdb.cost_byte;
RESET namdb.cost_row;
RESET namdb.cost_value;
RESET namdb.cost_hash_near;
RESET namdb.cost_hash_far;
RESET namdb.cost_cache;
RESET namdb.costs;

-- [set-primary-key] namdb
SHOW namdb.primary_key;
--> hash
SET namdb.primary_key = ordered;
CREATE TABLE spk (a int PRIMARY KEY);
SET namdb.primary_key = 'hash';
CREATE TABLE spl (a int PRIMARY KEY);
SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'sp_' ORDER BY 1;
--> CREATE UNIQUE INDEX spk_pkey ON public.spk USING btree (a)
--> CREATE UNIQUE INDEX spl_pkey ON public.spl USING hash (a)
SET namdb.primary_key = 'tree';
--! 22023
RESET namdb.primary_key;
RESET namdb.costs;

-- [set-kept] pg
SET application_name = 'me';
SHOW application_name;
--> me
SET client_min_messages = 'error';
SHOW client_min_messages;
--> error

-- [set-sync] pg
SHOW synchronous_commit;
--> on
SET synchronous_commit = off;
SHOW synchronous_commit;
--> off
SET synchronous_commit = remote_apply;
SET synchronous_commit = remote_write;
SET synchronous_commit = local;
SET synchronous_commit = on;
SET synchronous_commit = 'later';
--! 22023
RESET synchronous_commit;
--= tests/process/test_disk_hangs.py has committed

-- [set-floats] pg
SHOW extra_float_digits;
--> 1
SELECT 1::double precision / 3, (1::real / 3)::text, json_build_array(0.1::float8 + 0.2);
--> 0.3333333333333333,0.3333333333333333,[0.30000000000000004]
SET extra_float_digits = 0;
SELECT 1::double precision / 3, (1::real / 3)::text, json_build_array(0.1::float8 + 0.2);
--> 0.333333333333333,0.333333333333333,[0.3]
SET extra_float_digits = -15;
SELECT 1::double precision / 3, ARRAY[1::real / 3::real];
--> 0.3,{0.3}
SET extra_float_digits = 4;
--! 22023
RESET extra_float_digits;

-- [set-fixed] differ
SHOW client_encoding;
--> UTF8
SET client_encoding = 'UTF8';
SET client_encoding = 'LATIN1';
--! 0A000
--pg> *
SET client_encoding = 'UTF8';
SET datestyle = 'ISO';
SET datestyle = 'German';
--! 0A000
--pg> *
SET timezone = 'UTC';
SHOW timezone;
--> UTC
SET timezone = 'Europe/Rome';
--! 0A000
--pg> *
SET standard_conforming_strings = on;
SET standard_conforming_strings = off;
--! 0A000
--pg> *

-- [set-without-effect] pg
SET work_mem = '64MB';
SHOW work_mem;
--> 64MB
SET work_mem = '1kB';
--! 22023
SET maintenance_work_mem = 65536;
SHOW maintenance_work_mem;
--> 64MB
SHOW enable_seqscan;
--> on
SET enable_seqscan = f;
SHOW enable_seqscan;
--> off
SET enable_seqscan = 2;
--! 22023
RESET enable_seqscan;
SHOW enable_seqscan;
--> on
SET jit = off;
SET synchronous_commit = off;
SHOW synchronous_commit;
--> off
SET synchronous_commit = often;
--! 22023
SET row_security = off;
SET check_function_bodies = false;
SET random_page_cost = 1.1;
SHOW random_page_cost;
--> 1.1
SET bytea_output = hex;

-- [set-others] differ
SET wal_compression = on;
--! 0A000
--pg> *
SHOW wal_level;
--! 0A000
--pg> *
SET nosuch = 1;
--! 42704
SET myapp.x = 'a';
SHOW myapp.x;
--> a
BEGIN;
SET LOCAL myapp.y = 'b';
COMMIT;
SELECT current_setting('myapp.y') = '', set_config('myapp.x', 'c', false);
--> t,c
RESET myapp.x;
SET "my.bad-name" = 1;
--! 42602
SET namdb.nosuch = 1;
--! 42704
--pg> *

-- [statistics] namdb
CREATE TABLE st (a int PRIMARY KEY, b text);
INSERT INTO st SELECT n, CASE WHEN n <= 50 THEN 'x' END FROM generate_series(1, 100) AS n;
ANALYZE st;
SELECT attname, null_frac, n_distinct FROM nam_stats WHERE tablename = 'st' ORDER BY attname;
--> a,0,-1
--> b,0.5,1
ANALYZE (VERBOSE, SKIP_LOCKED) st (b);
VACUUM;
VACUUM (FULL, ANALYZE) st;
BEGIN;
VACUUM st;
--! 25001
ROLLBACK;
-- shown as nam_stats, not as pg_stats
--= tests/e2e/stats_test.c nam_stats

-- [limit-text] namdb
SELECT length('{1000000 x a}');
--> 1000000
SELECT length('{1100000 x a}');
--! 54000
SELECT {290 x abs(}1{290 x )};
--> 1
SELECT {310 x abs(}1{310 x )};
--! 54001
CREATE TABLE lt (a int);
SELECT count(*) FROM lt WHERE a = 0{24900 x  OR a = #};
--> 0
SELECT count(*) FROM lt WHERE a = 0{25100 x  OR a = #};
--! 54001

-- [limit-columns] namdb
CREATE TABLE lc (z int{1599 x , c# int});
SELECT count(*) FROM lc;
--> 0
CREATE TABLE lcb (z int{1600 x , c# int});
--! 54011
SELECT 1{1600 x , #};
--! 54011
CREATE TABLE lk (z int{31 x , c# int}, PRIMARY KEY (z{31 x , c#}));
CREATE TABLE lkb (z int{32 x , c# int}, PRIMARY KEY (z{32 x , c#}));
--! 54011
CREATE TABLE lf (a int);
SELECT count(*) FROM lf z{511 x , lf c#};
--> 0
SELECT count(*) FROM lf z{512 x , lf c#};
--! 54011
SELECT -1 IN (0{65533 x , #}), 65533 IN (0{65533 x , #});
--> f,t
SELECT -1 IN (0{65534 x , #});
--! 54000

-- [limit-rows] namdb
CREATE TABLE lr (z int{1599 x , c# text});
INSERT INTO lr VALUES (0{1599 x , 'abcdefghij'});
INSERT INTO lr (z, c1, c2, c3) VALUES (1, repeat('x', 20000), repeat('y', 20000), 'z');
INSERT INTO lr VALUES (2{1599 x , repeat('x', 30)});
--! 54000
SELECT z, c1599, length(c1) FROM lr ORDER BY z;
--> 0,abcdefghij,10
--> 1,,20000
CREATE TABLE lrv (z int{1599 x , c# text}) WITH (versions = 8);
--! 54000

-- [limit-memory] namdb
SET namdb.statement_memory = '2MB';
SELECT count(*) FROM (SELECT DISTINCT a FROM generate_series(1, 1000000) AS a) AS x;
--! 53200

-- [differ-definitions] differ
CREATE TABLE ddt (a int CHECK (CASE WHEN a > 0 THEN true END), b text);
CREATE VIEW ddv AS SELECT a, b FROM ddt WHERE a > 1;
SELECT pg_get_viewdef('ddv'::regclass);
--> " SELECT a, b FROM ddt WHERE a > 1;"
--pg> *
SELECT pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 'ddt'::regclass;
--> CHECK (CASE WHEN a > 0 THEN true END)
--pg> *
CREATE TABLE ddd (a int DEFAULT 1 + 1, b numeric DEFAULT CAST(1 AS int));
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'ddd'::regclass ORDER BY adnum;
--> *
--pg> *

-- [differ-text] pg
SELECT 'B' < 'a', 'Z' < 'ä', upper('straße éa'), lower('ÉΑ'), 'ÉA' ILIKE 'éa';
--> t,t,STRAßE ÉA,éα,t
SELECT min(x), max(x) FROM (VALUES ('b'), ('A'), ('ä')) AS v (x);
--> A,ä
SELECT x FROM (VALUES ('b'), ('A'), ('ä'), ('a')) AS v (x) ORDER BY x;
--> A
--> a
--> b
--> ä

-- [differ-zones] differ
SHOW timezone;
--> UTC
SELECT timestamptz '2024-01-01 12:00 +02', timestamptz '2024-01-01 12:00-05:30', timestamp '2024-01-01 12:00' AT TIME ZONE 'UTC', timestamp '2024-01-01 12:00' AT TIME ZONE '+02';
--> 2024-01-01 10:00:00+00,2024-01-01 17:30:00+00,2024-01-01 12:00:00+00,2024-01-01 14:00:00+00
SELECT timestamp '2024-01-01 12:00' AT TIME ZONE 'Europe/Rome', '2024-07-01 12:00 Europe/Rome'::timestamptz;
--> 2024-01-01 11:00:00+00,2024-07-01 10:00:00+00
SELECT timestamp '2024-01-01 12:00' AT TIME ZONE 'CEST';
--! 0A000
--pg> 2024-01-01 10:00:00+00
SELECT timestamp '2024-01-01 12:00' AT TIME ZONE 'Japan';
--! 0A000
--pg> 2024-01-01 03:00:00+00

-- [differ-key-update] differ
CREATE TABLE dk (id int PRIMARY KEY);
INSERT INTO dk VALUES (1), (2), (3);
UPDATE dk SET id = id + 1;
--pg! 23505
SELECT id FROM dk ORDER BY id;
--> 2
--> 3
--> 4
--pg> 1
--pg> 2
--pg> 3
UPDATE dk SET id = 9;
--! 23505

-- [foreign] pg
CREATE TABLE fka (id int PRIMARY KEY, x text UNIQUE);
CREATE TABLE fkb (a int REFERENCES fka ON DELETE CASCADE, b text, CONSTRAINT fkb_n FOREIGN KEY (b) REFERENCES fka (x) MATCH SIMPLE ON DELETE SET NULL ON UPDATE CASCADE);
INSERT INTO fka VALUES (1, 'x'), (2, 'y');
INSERT INTO fkb VALUES (1, 'x'), (NULL, 'y'), (2, NULL);
INSERT INTO fkb VALUES (3, NULL);
--! 23503
UPDATE fka SET x = 'z' WHERE id = 2;
DELETE FROM fka WHERE id = 2;
SELECT * FROM fkb;
--> 1,x
--> ,
ALTER TABLE fkb DROP CONSTRAINT fkb_n;
ALTER TABLE fkb ADD CONSTRAINT fkb_n FOREIGN KEY (b) REFERENCES fka (x) ON DELETE NO ACTION ON UPDATE RESTRICT;
ALTER TABLE fkb ADD FOREIGN KEY (b) REFERENCES fka (x) ON DELETE SET DEFAULT;
UPDATE fka SET x = 'q';
--! 23503
DROP TABLE fka;
--! 2BP01
TRUNCATE fka;
--! 0A000
TRUNCATE fka CASCADE;
DROP TABLE fka CASCADE;

-- [differ-no-action] differ
CREATE TABLE dna (a int PRIMARY KEY);
CREATE TABLE dnb (a int PRIMARY KEY REFERENCES dna ON DELETE CASCADE);
CREATE TABLE dnc (a int REFERENCES dna ON DELETE NO ACTION, b int REFERENCES dnb ON DELETE CASCADE);
INSERT INTO dna VALUES (1);
INSERT INTO dnb VALUES (1);
INSERT INTO dnc VALUES (1, 1);
DELETE FROM dna;
--pg! 23503
SELECT count(*) FROM dnc;
--> 0
--pg> 1

-- [differ-foreign-race] namdb
--= tests/e2e/foreign_test.c 40001

-- [differ-unique-race] namdb
--= tests/e2e/index_test.c 40001

-- [differ-serializable-open] namdb
--= tests/e2e/index_test.c 40001

-- [differ-transactions] differ
BEGIN;
COMMIT AND CHAIN;
--! 0A000
--pg> *
ROLLBACK;
CREATE TABLE dtt (a int);
BEGIN;
SAVEPOINT a;
TRUNCATE dtt, dtt;
--! 0A000
--pg> *
ROLLBACK;
TRUNCATE dtt RESTART IDENTITY;
--! 0A000
--pg> *
BEGIN;
SAVEPOINT a;
CREATE TABLE dtr (a int);
ROLLBACK TO a;
--! 0A000
--pg> *
ROLLBACK;

-- [differ-full-join] differ
SELECT x, y FROM (VALUES (1), (2)) AS a (x) FULL JOIN (VALUES (2), (3)) AS b (y) ON x > y ORDER BY 1, 2;
--> 1,
--> 2,
--> ,2
--> ,3
--pg! 0A000

-- [differ-set] differ
SET lock_timeout = 1;
BEGIN;
SET lock_timeout = 2;
SELECT 1 / 0;
--! 22012
ROLLBACK;
SHOW lock_timeout;
--> 1ms
SHOW ALL;
--> *

-- [differ-race] namdb
--= tests/e2e/session_test.c 40001

-- [differ-hints] namdb
SELECT t.nmae FROM (SELECT 1 AS name) AS t;
--! 42703
--= tests/process/test_shell_describe.py Perhaps you meant

-- [differ-regex] differ
SELECT 'a' ~ '(?x) a';
--! 0A000
--pg> t
SELECT 'a' ~ '[[.a.]]';
--! 0A000
--pg> t

-- [differ-division] differ
CREATE TABLE dd (a int);
INSERT INTO dd VALUES (1);
SELECT 1/0 FROM dd WHERE false;
--pg! 22012
SELECT 1/0 FROM dd;
--! 22012

-- [differ-nextval] differ
CREATE SEQUENCE dn;
SELECT nextval('dn'), nextval('dn') FROM generate_series(1, 2);
--> 1,3
--> 2,4
--pg> 1,2
--pg> 3,4

-- [differ-copy-end] pg
CREATE TABLE dce (a text);
COPY dce FROM STDIN;
one
\.
SELECT * FROM dce;
--> one

-- [not-queries] namdb
SELECT generate_series(1, generate_series(1, 2));
--! 0A000
SELECT count(*) FROM (VALUES (ARRAY[1])) t (a) GROUP BY unnest(a);
--! 0A000
SELECT sum(k) OVER (ORDER BY unnest(a)) FROM (VALUES (1, ARRAY[1])) t (k, a);
--! 0A000

-- [not-with] namdb
CREATE TABLE nw (a int PRIMARY KEY);
WITH RECURSIVE x AS (SELECT a FROM y), y AS (INSERT INTO nw VALUES (1) RETURNING a) SELECT * FROM x;
--! 0A000
WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x WHERE a < 3) SEARCH DEPTH FIRST BY a SET o SELECT * FROM x;
--! 0A000
WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT z.a + 1 FROM (VALUES (1)) y, LATERAL (SELECT x.a FROM x WHERE x.a < 2) z) SELECT * FROM x;
--! 0A000
WITH RECURSIVE x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x WHERE a < 3) CYCLE a SET c USING p SELECT * FROM x;
--! 0A000

-- [not-windows] namdb
SELECT count(DISTINCT a) OVER () FROM (VALUES (1)) AS v (a);
--! 0A000

-- [not-changes] namdb
CREATE TABLE nc (a int PRIMARY KEY, b int);
UPDATE nc SET b = (SELECT max(x.b) FROM nc x WHERE x.a < nc.a);
--! 0A000
UPDATE nc SET b = (SELECT max(x.b) FROM nc x WHERE x.a = nc.a);
DELETE FROM nc RETURNING (SELECT max(x.b) FROM nc x WHERE x.a < nc.a);
--! 0A000

-- [activity] namdb
SELECT count(*) >= 0, max(wait_event), max(query) FROM pg_stat_activity WHERE state = 'no state';
--> t,,
SELECT pid, usename, state, xact_start FROM pg_catalog.pg_stat_activity WHERE pid = 0;
SELECT datname, xact_commit >= 0, xact_rollback >= 0, numbackends >= 0 FROM pg_stat_database WHERE datname = 'nothing';
DELETE FROM pg_stat_activity;
--! 42501
--= tests/process/test_metrics.py "ClientRead"

-- [type-enum] pg
CREATE TYPE size AS ENUM ('small', 'medium', 'large');
CREATE TABLE shirts (id int PRIMARY KEY, s size NOT NULL DEFAULT 'medium', fits size[]);
CREATE INDEX ON shirts (s);
INSERT INTO shirts VALUES (1, 'large', '{large,medium}'), (2, 'small', '{}'), (3, DEFAULT, NULL);
SELECT id, s FROM shirts WHERE s >= 'medium' ORDER BY s;
--> 3,medium
--> 1,large
SELECT min(s), max(s), pg_typeof(max(s)) FROM shirts;
--> small,large,size
SELECT id FROM shirts WHERE s = ANY ('{small,large}') AND 'large' <> ALL (fits);
--> 2
INSERT INTO shirts VALUES (4, 'huge');
--! 22P02
SELECT s = 'small'::text FROM shirts;
--! 42883
PREPARE of_size (size) AS SELECT id FROM shirts WHERE s = $1;
EXECUTE of_size('large');
--> 1
DEALLOCATE of_size;
COPY shirts TO '{dir}/shirts';
CREATE TABLE more_shirts (id int, s size, fits size[]);
COPY more_shirts FROM '{dir}/shirts';
SELECT s, fits FROM more_shirts ORDER BY id;
--> large,"{large,medium}"
--> small,{}
--> medium,
SELECT t.typname, e.enumlabel FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typname = 'size' ORDER BY e.enumsortorder;
--> size,small
--> size,medium
--> size,large

-- [enum-type] namdb
CREATE TYPE state AS ENUM ('new', 'done');
CREATE TYPE state AS ENUM ('x');
--! 42710
CREATE TABLE jobs (id int, s state);
INSERT INTO jobs VALUES (1, 'done'), (2, 'new');
ALTER TYPE state ADD VALUE 'running' BEFORE 'done';
ALTER TYPE state ADD VALUE IF NOT EXISTS 'running';
ALTER TYPE state ADD VALUE 'late' AFTER 'done';
INSERT INTO jobs VALUES (3, 'running'), (4, 'late');
SELECT s FROM jobs ORDER BY s;
--> new
--> running
--> done
--> late
ALTER TYPE state RENAME VALUE 'late' TO 'lost';
SELECT s FROM jobs WHERE s > 'done';
--> lost
ALTER TYPE state RENAME TO job_state;
ALTER TYPE job_state OWNER TO CURRENT_USER;
CREATE TABLE says (s job_state DEFAULT 'new'::job_state, CHECK (s <> 'lost'));
ALTER TYPE job_state RENAME TO state;
ALTER TYPE state RENAME TO job_state;
ALTER TYPE job_state RENAME VALUE 'new' TO 'open';
INSERT INTO says VALUES (DEFAULT);
SELECT s FROM says;
--> open
ALTER TYPE job_state RENAME VALUE 'lost' TO 'gone';
--! 0A000
DROP TYPE job_state;
--! 2BP01
DROP TYPE IF EXISTS no_such, no_such_either;
DROP TABLE says;
DROP TYPE job_state CASCADE;
SELECT * FROM jobs ORDER BY id;
--> 1
--> 2
--> 3
--> 4
CREATE TYPE hollow AS ENUM ('', 'a');
ALTER TYPE hollow ADD VALUE 'b';
--! 0A000
CREATE TYPE dense AS ENUM ('a', 'z');
ALTER TYPE dense ADD VALUE '1' BEFORE 'z';
ALTER TYPE dense ADD VALUE '2' BEFORE 'z';
ALTER TYPE dense ADD VALUE '3' BEFORE 'z';
ALTER TYPE dense ADD VALUE '4' BEFORE 'z';
ALTER TYPE dense ADD VALUE '5' BEFORE 'z';
ALTER TYPE dense ADD VALUE '6' BEFORE 'z';
ALTER TYPE dense ADD VALUE '7' BEFORE 'z';
ALTER TYPE dense ADD VALUE '8' BEFORE 'z';
ALTER TYPE dense ADD VALUE '9' BEFORE 'z';
ALTER TYPE dense ADD VALUE '10' BEFORE 'z';
ALTER TYPE dense ADD VALUE '11' BEFORE 'z';
ALTER TYPE dense ADD VALUE '12' BEFORE 'z';
ALTER TYPE dense ADD VALUE '13' BEFORE 'z';
ALTER TYPE dense ADD VALUE '14' BEFORE 'z';
ALTER TYPE dense ADD VALUE '15' BEFORE 'z';
ALTER TYPE dense ADD VALUE '16' BEFORE 'z';
ALTER TYPE dense ADD VALUE '17' BEFORE 'z';
ALTER TYPE dense ADD VALUE '18' BEFORE 'z';
ALTER TYPE dense ADD VALUE '19' BEFORE 'z';
ALTER TYPE dense ADD VALUE '20' BEFORE 'z';
ALTER TYPE dense ADD VALUE '21' BEFORE 'z';
ALTER TYPE dense ADD VALUE '22' BEFORE 'z';
ALTER TYPE dense ADD VALUE '23' BEFORE 'z';
ALTER TYPE dense ADD VALUE '24' BEFORE 'z';
ALTER TYPE dense ADD VALUE '25' BEFORE 'z';
ALTER TYPE dense ADD VALUE '26' BEFORE 'z';
ALTER TYPE dense ADD VALUE '27' BEFORE 'z';
ALTER TYPE dense ADD VALUE '28' BEFORE 'z';
ALTER TYPE dense ADD VALUE '29' BEFORE 'z';
ALTER TYPE dense ADD VALUE '30' BEFORE 'z';
ALTER TYPE dense ADD VALUE '31' BEFORE 'z';
--! 54000

-- [functions-enum] pg
CREATE TYPE step AS ENUM ('one', 'two', 'three');
SELECT enum_first(NULL::step), enum_last('one'::step), enum_range(NULL::step), enum_range('two'::step, NULL);
--> one,three,"{one,two,three}","{two,three}"
SELECT enum_first(1);
--! 42883

-- [differ-enum] differ
CREATE TYPE late AS ENUM ('a', 'b');
BEGIN;
ALTER TYPE late RENAME VALUE 'a' TO 'c';
SELECT enum_first(NULL::late);
--> a
--pg> c
COMMIT;
SELECT enum_first(NULL::late);
--> c
BEGIN;
ALTER TYPE late ADD VALUE 'd';
SELECT 'd'::late;
--! 22P02
--pg! 55P04
ROLLBACK;
BEGIN;
CREATE TYPE early AS ENUM ('a');
ALTER TYPE early ADD VALUE 'b';
SELECT 'b'::early, enum_last(NULL::early);
--> b,b
--pg! 55P04
ROLLBACK;

-- [system-catalogs] differ
SELECT enumlabel FROM pg_enum WHERE enumtypid = 1;
CREATE TABLE sca (a serial PRIMARY KEY, b varchar(3) UNIQUE DEFAULT 'x');
CREATE VIEW scv AS SELECT a FROM sca;
SELECT c.relname, c.relkind, n.nspname, am.amname FROM pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am am ON am.oid = c.relam WHERE relname LIKE 'sca%' OR relname = 'scv' ORDER BY 1;
--> sca,r,public,heap
--> sca_a_seq,S,public,
--> sca_b_key,i,public,btree
--> sca_pkey,i,public,hash
--> scv,v,public,
--pg> sca,r,public,heap
--pg> sca_a_seq,S,public,
--pg> sca_b_key,i,public,btree
--pg> sca_pkey,i,public,btree
--pg> scv,v,public,
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'sca'::regclass AND attnum > 0 ORDER BY attnum;
--> a,integer,t
--> b,character varying(3),f
SELECT c.relname, indkey, indisprimary FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE c.relname LIKE 'sca%' ORDER BY 1;
--> sca_b_key,2,f
--> sca_pkey,1,t
SELECT d.adnum, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = 'sca'::regclass ORDER BY 1;
--> 1,nextval('sca_a_seq'::regclass)
--> 2,'x'::character varying
SELECT conname, contype, conkey FROM pg_constraint WHERE conrelid = 'sca'::regclass ORDER BY 1;
--> sca_b_key,u,{2}
--> sca_pkey,p,{1}
SELECT refobjsubid, deptype, seqstart FROM pg_depend JOIN pg_sequence ON seqrelid = objid WHERE refobjid = 'sca'::regclass AND classid = 'pg_class'::regclass AND deptype = 'a';
--> 1,a,1
SELECT typname, typarray, typcategory FROM pg_type WHERE oid = 23;
--> int4,1007,N
SELECT count(*) FROM pg_proc WHERE proname = 'md5' AND prorettype = 25;
--> 2
SELECT collname FROM pg_collation WHERE oid = 100;
--> default
SELECT lanname FROM pg_language WHERE lanname = 'sql';
--> sql
SELECT spcname FROM pg_tablespace ORDER BY 1;
--> pg_default
--> pg_global
SELECT tablename, hasindexes FROM pg_tables WHERE tablename = 'sca';
--> sca,t
SELECT viewname FROM pg_views WHERE viewname = 'scv';
--> scv
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'sca' ORDER BY 1;
--> sca_b_key,CREATE UNIQUE INDEX sca_b_key ON public.sca USING btree (b)
--> sca_pkey,CREATE UNIQUE INDEX sca_pkey ON public.sca USING hash (a)
--pg> sca_b_key,CREATE UNIQUE INDEX sca_b_key ON public.sca USING btree (b)
--pg> sca_pkey,CREATE UNIQUE INDEX sca_pkey ON public.sca USING btree (a)
SELECT sequencename, data_type FROM pg_sequences WHERE sequencename LIKE 'sca%';
--> sca_a_seq,integer
SELECT count(*) FROM pg_roles r JOIN pg_authid a ON a.oid = r.oid JOIN pg_user u ON u.usesysid = r.oid JOIN pg_shadow s ON s.usename = u.usename WHERE r.rolname = current_user;
--> 1
SELECT count(*) > 0 FROM pg_database WHERE datname = current_database();
--> t
SELECT count(*) FROM pg_group WHERE groname = 'no such';
--> 0
SELECT relname, n_live_tup FROM pg_stat_user_tables WHERE relname = 'no such';
-- \d

-- [system-empty] pg
SELECT count(*) FROM pg_description WHERE objoid = 1;
--> 0
SELECT (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_policy), (SELECT count(*) FROM pg_inherits), (SELECT count(*) FROM pg_statistic_ext), (SELECT count(*) FROM pg_publication), (SELECT count(*) FROM pg_event_trigger), (SELECT count(*) FROM pg_foreign_table), (SELECT count(*) FROM pg_matviews);
--> 0,0,0,0,0,0,0,0
SELECT rulename FROM pg_rewrite WHERE ev_class = 1;
SELECT extname FROM pg_extension WHERE extname = 'none';
SELECT rngtypid FROM pg_range WHERE rngtypid = 1;
SELECT roleid FROM pg_auth_members WHERE roleid = 1;
SELECT rulename FROM pg_rules WHERE tablename = 'none';

-- [information-schema] pg
CREATE TABLE isp (a int PRIMARY KEY);
CREATE TABLE ist (a int REFERENCES isp, b numeric(8,2) NOT NULL CHECK (b > 1), c varchar(7));
CREATE SEQUENCE iss;
CREATE VIEW isv AS SELECT a FROM isp;
SELECT table_name, table_type FROM information_schema.tables WHERE table_name LIKE 'is_' ORDER BY 1;
--> isp,BASE TABLE
--> ist,BASE TABLE
--> isv,VIEW
SELECT column_name, data_type, is_nullable, numeric_precision, character_maximum_length FROM information_schema.columns WHERE table_name = 'ist' ORDER BY ordinal_position;
--> a,integer,YES,32,
--> b,numeric,NO,8,
--> c,character varying,YES,,7
SELECT table_name FROM information_schema.views WHERE table_name = 'isv';
--> isv
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_name = 'ist' AND constraint_name LIKE 'ist%' ORDER BY 1;
--> ist_a_fkey,FOREIGN KEY
--> ist_b_check,CHECK
SELECT constraint_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_name LIKE 'is_' ORDER BY 1;
--> isp_pkey,a,1
--> ist_a_fkey,a,1
SELECT r.constraint_name, r.unique_constraint_name, r.delete_rule, u.table_name, u.column_name, t.table_name FROM information_schema.referential_constraints r JOIN information_schema.constraint_column_usage u ON u.constraint_name = r.constraint_name JOIN information_schema.constraint_table_usage t ON t.constraint_name = r.constraint_name WHERE r.constraint_name = 'ist_a_fkey';
--> ist_a_fkey,isp_pkey,NO ACTION,isp,a,isp
SELECT check_clause FROM information_schema.check_constraints WHERE constraint_name = 'ist_b_check';
--> ((b > (1)::numeric))
SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'public';
--> public
SELECT sequence_name, data_type FROM information_schema.sequences WHERE sequence_name = 'iss';
--> iss,bigint
SELECT count(*) FROM information_schema.routines WHERE routine_name = 'md5';
--> 2
SELECT character_set_name FROM information_schema.character_sets;
--> UTF8
SELECT count(*) FROM information_schema.enabled_roles WHERE role_name = current_user;
--> 1
SELECT catalog_name = current_database() FROM information_schema.information_schema_catalog_name;
--> t
SELECT trigger_name FROM information_schema.triggers;
CREATE DOMAIN isd AS int CONSTRAINT isd_c CHECK (VALUE > 0);
SELECT domain_name, data_type FROM information_schema.domains WHERE domain_name = 'isd';
--> isd,integer
SELECT constraint_name FROM information_schema.domain_constraints WHERE domain_name = 'isd';
--> isd_c
SELECT grantee FROM information_schema.applicable_roles WHERE role_name = 'none';
SELECT count(*) FROM information_schema.table_privileges WHERE table_name = 'isp' AND grantee = current_user;
--> 7
SELECT count(*) FROM information_schema.role_table_grants WHERE table_name = 'isp' AND privilege_type = 'SELECT';
--> 1
SELECT * FROM information_schema.no_such;
--! 42P01
-- Others, element_types: 0A000

-- [functions-catalog] pg
CREATE TABLE fca (a serial UNIQUE, b int CHECK (b > 0));
CREATE VIEW fcv AS SELECT 1 AS x;
SELECT format_type(1043, 14), format_type(23, NULL), format_type(1007, -1), format_type(0, 0), format_type(1, 1);
--> character varying(10),integer,integer[],-,???
SELECT pg_get_indexdef('fca_a_key'::regclass), pg_get_indexdef('fca_a_key'::regclass, 1, true), pg_get_viewdef('fcv'::regclass) LIKE '%1 AS x;';
--> CREATE UNIQUE INDEX fca_a_key ON public.fca USING btree (a),a,t
SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true), pg_get_expr(conbin, conrelid) FROM pg_constraint WHERE conname = 'fca_b_check';
--> CHECK ((b > 0)),CHECK (b > 0),(b > 0)
SELECT pg_get_userbyid(10) <> '', pg_get_userbyid(5), pg_get_serial_sequence('fca', 'a');
--> t,unknown (OID=5),public.fca_a_seq
SELECT pg_get_function_result(oid), pg_get_function_arguments(oid), pg_get_function_identity_arguments(oid), pg_function_is_visible(oid) FROM pg_proc WHERE proname = 'md5' ORDER BY 2;
--> text,bytea,bytea,t
--> text,text,text,t
SELECT pg_table_is_visible('fca'::regclass), pg_type_is_visible(23), to_regclass('none'), to_regtype('int'), to_regproc('md5x'), to_regnamespace('public'), to_regrole('none');
--> t,t,,integer,,public,
SELECT obj_description('fca'::regclass, 'pg_class'), col_description('fca'::regclass, 1), pg_encoding_to_char(6), pg_char_to_encoding('UTF8');
--> ,,UTF8,6
SELECT has_table_privilege('fca', 'SELECT, INSERT'), pg_has_role(current_user, 'USAGE'), (SELECT count(*) FROM pg_partition_ancestors('fca'));
--> t,t,0
SELECT has_table_privilege('fca', 'eat');
--! 22023

-- [type-catalog] pg
SELECT '5'::oid + 1 > 5, 'abc'::name, 'abc'::"char", 'pg_class'::regclass, 'int'::regtype, 'pg_catalog'::regnamespace, 1259::regclass::text;
--! 42883
SELECT '5'::oid, 'abc'::name, 'abc'::"char", 'pg_class'::regclass, 'int'::regtype, 'pg_catalog'::regnamespace, 1259::regclass::text;
--> 5,abc,a,pg_class,integer,pg_catalog,pg_class
SELECT 5::oid < 6, 5::oid = '5', 'x'::name = 'x'::text, 'pg_class'::regclass = 1259, 3000000000::oid::int;
--> t,t,t,t,-1294967296
CREATE TABLE tct (o oid, n name, c "char");
INSERT INTO tct VALUES (4000000000, repeat('n', 70), 'xyz'), (1, 'b', '');
SELECT o, length(n), c FROM tct ORDER BY o;
--> 1,1,""
--> 4000000000,63,x
SELECT pg_typeof(o), pg_typeof(n), pg_typeof(c), pg_typeof(pg_typeof(1)), pg_typeof(current_user) FROM tct LIMIT 1;
--> oid,name,"""char""",regtype,name
SELECT 'missing'::regclass;
--! 42P01
SELECT 'missing'::regtype;
--! 42704
SELECT '-'::regproc, 0::oid::regrole;
--> -,-
-- reg types; int2vector, oidvector: pg_index.indkey, pg_proc.proargtypes
SELECT proargtypes, proargtypes[0] FROM pg_proc WHERE proname = 'md5' ORDER BY 2;
--> 17,17
--> 25,25

-- [not-definitions] namdb
SELECT 1 FROM pg_cast;
--! 0A000
SELECT 1 FROM pg_operator;
--! 0A000
CREATE TABLE ndc (a int);
SELECT ctid, a FROM ndc;
--! 0A000
CREATE TABLE ne (a int);
CREATE TABLE nek (a int PRIMARY KEY, b int);
ALTER TABLE nek ADD FOREIGN KEY (b) REFERENCES nek MATCH FULL;
--! 0A000
ALTER TABLE nek ADD FOREIGN KEY (b) REFERENCES nek NOT VALID;
--! 0A000
ALTER TABLE nek ADD FOREIGN KEY (b) REFERENCES nek ON DELETE SET NULL (b);
--! 0A000
CREATE TABLE nel (a numeric REFERENCES nek);
--! 0A000
ALTER TABLE nek ADD FOREIGN KEY (b) REFERENCES nek;
ALTER TABLE nek ALTER b TYPE bigint;
--! 0A000
CREATE TABLE nede (a int UNIQUE DEFERRABLE);
--! 0A000
CREATE INDEX ni ON ne (lower(a));
--! 0A000
CREATE INDEX ni ON ne (a) WHERE a > 1;
--! 0A000
CREATE ROLE ne_role;
GRANT SELECT (a) ON ne TO ne_role;
--! 0A000
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ne_role;
--! 0A000
DROP ROLE ne_role;
SELECT * FROM pg_catalog.pg_cast;
--! 0A000
SELECT * FROM information_schema.element_types;
--! 0A000

-- [not-types] namdb
SET timezone = 'Europe/Rome';
--! 0A000
SELECT jsonb_path_query('{}'::jsonb, '$.a');
--! 0A000
SELECT jsonb_each('{}'::jsonb);
--! 0A000
SELECT * FROM jsonb_to_record('{}'::jsonb) AS x (a int);
--! 0A000
CREATE DOMAIN ntd AS int;
CREATE TABLE nts (a ntd[]);
--! 0A000
CREATE TABLE nts (a int DEFAULT ntd(1));
--! 0A000
CREATE TABLE nts (a int CHECK (ntd(a) > 0));
--! 0A000
CREATE TABLE nts (a ntd);
DROP DOMAIN ntd CASCADE;
--! 0A000
CREATE TYPE ntc AS (a int);
--! 0A000
CREATE TYPE ntr AS RANGE (subtype = int);
--! 0A000
CREATE TYPE nte AS ENUM ('a');
GRANT USAGE ON TYPE nte TO PUBLIC;
--! 0A000
SELECT '{{1}}'::int[];
--! 0A000
CREATE TABLE nti (k interval[] PRIMARY KEY);
--! 0A000
CREATE TABLE nta (i int, a int[]);
UPDATE nta SET a[1] = 2;
--! 0A000

-- [type-domain] pg
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN code AS varchar(4) DEFAULT 'none' NOT NULL;
CREATE TABLE parts (id positive PRIMARY KEY, c code, n positive DEFAULT 1);
INSERT INTO parts VALUES (1);
INSERT INTO parts VALUES (2, 'ab', 5);
SELECT *, n + 1, pg_typeof(n), pg_typeof(n + 1) FROM parts ORDER BY id;
--> 1,none,1,2,positive,integer
--> 2,ab,5,6,positive,integer
SELECT array_agg(n ORDER BY id) FROM parts;
--> "{1,5}"
INSERT INTO parts VALUES (0);
--! 23514
UPDATE parts SET n = n - 5;
--! 23514
INSERT INTO parts VALUES (3, NULL);
--! 23502
SELECT 7::positive, 'abcdef'::code;
--> 7,abcd
SELECT (-7)::positive;
--! 23514
CREATE VIEW some_parts AS SELECT id, n FROM parts;
CREATE TABLE copied_parts AS SELECT n FROM some_parts;
INSERT INTO copied_parts VALUES (-1);
--! 23514
PREPARE part_of (positive) AS SELECT c FROM parts WHERE n = $1;
EXECUTE part_of(5);
--> ab
EXECUTE part_of(0);
--! 23514
DEALLOCATE part_of;
SELECT column_name, data_type, domain_name FROM information_schema.columns WHERE table_name = 'parts' ORDER BY 1;
--> c,character varying,code
--> id,integer,positive
--> n,integer,positive

-- [domain] namdb
CREATE DOMAIN grade AS int COLLATE "C";
--! 42804
CREATE DOMAIN grade AS int NULL DEFAULT 1 CONSTRAINT known CHECK (VALUE BETWEEN 1 AND 6);
CREATE DOMAIN grade AS text;
--! 42710
CREATE DOMAIN passed AS grade CHECK (VALUE < 5);
CREATE TABLE exams (id int PRIMARY KEY, g grade, p passed);
INSERT INTO exams VALUES (1, 6, 4);
INSERT INTO exams (id) VALUES (2);
INSERT INTO exams VALUES (3, 3, 6);
--! 23514
INSERT INTO exams VALUES (3, 3, 0);
--! 23514
SELECT * FROM exams ORDER BY id;
--> 1,6,4
--> 2,1,1
ALTER DOMAIN grade ADD CONSTRAINT not_6 CHECK (VALUE <> 6);
--! 23514
ALTER DOMAIN grade ADD CONSTRAINT not_6 CHECK (VALUE <> 6) NOT VALID;
INSERT INTO exams VALUES (4, 6, 1);
--! 23514
ALTER DOMAIN grade VALIDATE CONSTRAINT not_6;
--! 23514
UPDATE exams SET g = 5 WHERE g = 6;
ALTER DOMAIN grade VALIDATE CONSTRAINT not_6;
ALTER DOMAIN grade RENAME CONSTRAINT not_6 TO no_six;
ALTER DOMAIN grade DROP CONSTRAINT no_six;
ALTER DOMAIN grade DROP CONSTRAINT IF EXISTS no_six;
ALTER DOMAIN grade DROP DEFAULT;
INSERT INTO exams VALUES (5);
ALTER DOMAIN grade SET NOT NULL;
--! 23502
UPDATE exams SET g = 1, p = 1 WHERE id = 5;
ALTER DOMAIN grade SET NOT NULL;
ALTER DOMAIN grade DROP NOT NULL;
ALTER DOMAIN grade SET DEFAULT 2;
ALTER DOMAIN grade RENAME TO mark;
ALTER DOMAIN mark OWNER TO CURRENT_USER;
INSERT INTO exams (id) VALUES (6) RETURNING g, p;
--> 2,1
CREATE VIEW marks AS SELECT 3::mark::int AS m;
ALTER DOMAIN mark RENAME TO grade;
--! 0A000
DROP DOMAIN mark;
--! 2BP01
CREATE TABLE marked (a int DEFAULT 3::mark, b int CHECK (b::mark > 0));
DROP DOMAIN mark CASCADE;
--! 0A000
DROP TABLE marked;
DROP DOMAIN mark CASCADE;
SELECT * FROM exams WHERE id = 1;
--> 1
DROP DOMAIN IF EXISTS mark, passed;
CREATE TYPE shade AS ENUM ('dark', 'light');
CREATE DOMAIN not_dark AS shade CHECK (VALUE <> 'dark');
SELECT 'light'::not_dark, not_dark('light');
--> light,light
SELECT 'dark'::not_dark;
--! 23514
DROP TYPE shade;
--! 2BP01
DROP TYPE shade CASCADE;
--= tests/process/test_domains.py test_old_snapshots

-- [differ-domain] differ
SELECT DISTINCT pg_typeof(table_name) FROM information_schema.tables;
--> name
--pg> information_schema.sql_identifier
CREATE DOMAIN said AS varchar(3) DEFAULT 'abc';
SELECT typdefault FROM pg_type WHERE typname = 'said';
--> 'abc'
--pg> 'abc'::character varying
CREATE SCHEMA elsewhere;
SET search_path = elsewhere;
SELECT 'ab'::said;
--> ab
--pg! 42704
CREATE DOMAIN of_elsewhere AS int;
--! 0A000
--pg> *
CREATE DOMAIN public.of_public AS int;
SET search_path = public;
DROP SCHEMA elsewhere CASCADE;
