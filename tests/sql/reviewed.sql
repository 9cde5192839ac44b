-- crash: LATERAL ties in a join's order
SELECT 1 FROM rt x, rt y, LATERAL (SELECT x.i AS k, x.i + 1 AS b) z WHERE x.j = y.j AND y.i = z.k AND z.b = x.j
SELECT x.i, y.i, z.k, z.b FROM rt x, rt y, LATERAL (SELECT x.i AS k, x.i + 1 AS b) z WHERE x.j = y.j AND y.i = z.k AND z.b > x.j ORDER BY 1, 2
ANALYZE rempty
ANALYZE rt
ANALYZE rtext (s)
-- W1: LEFT JOIN whose ON reads the left row
SELECT * FROM (VALUES (1, 5)) v(x, z) LEFT JOIN generate_series(1, z) u(y) ON y = x
SELECT * FROM (VALUES (1, 5), (9, 2), (2, 2)) v(x, z) LEFT JOIN generate_series(1, z) u(y) ON y = x ORDER BY 1, 2, 3
SELECT * FROM (VALUES (1, ARRAY[10, 20])) v(x, ys) LEFT JOIN unnest(ys) u(y) ON y = 10
SELECT * FROM (VALUES (1, ARRAY[10, 20]), (2, ARRAY[20]), (3, NULL)) v(x, ys) LEFT JOIN unnest(ys) u(y) ON y = 10 ORDER BY x
SELECT * FROM rt a LEFT JOIN LATERAL (SELECT b.j FROM rt b WHERE b.j >= a.j) q(y) ON y = a.j ORDER BY 1, 2, 3
SELECT * FROM rt a LEFT JOIN LATERAL (SELECT b.j FROM rt b WHERE b.j >= a.i) q(y) ON y = a.j + 1 ORDER BY 1, 2, 3
SELECT a.i, q.y, r.s FROM rt a LEFT JOIN LATERAL (SELECT b.j FROM rt b WHERE b.j >= a.i) q(y) ON y = a.j LEFT JOIN rtext r ON r.id = q.y ORDER BY 1, 2, 3
-- W2: casts between types of equal length
SELECT octet_length(f::char(4)) FROM rvc ORDER BY 1
SELECT octet_length(f::char(4)), octet_length(f::char(6)), octet_length(f::varchar(4)), octet_length(f::varchar(1)), octet_length(f::text) FROM rvc ORDER BY 1
SELECT octet_length(c::varchar(4)), octet_length(c::char(4)), octet_length(c), c::varchar(4) || '|', c::text || '|' FROM rvc ORDER BY 4
SELECT f::char(4)::varchar(4)::char(4) || '|' FROM rvc ORDER BY 1
SELECT n::numeric(6, 2), n::numeric(6, 1), n::numeric FROM rvc ORDER BY 1
-- W3: functions that answer rows, windows, DISTINCT ON
SELECT count(*) OVER (), generate_series(1, 3) FROM (VALUES (1), (2)) v(x)
SELECT row_number() OVER (ORDER BY x), generate_series(1, x) FROM (VALUES (1), (2), (3)) v(x) ORDER BY 1, 2
SELECT sum(x) OVER (ORDER BY x), unnest(ARRAY[x, x + 1]) FROM (VALUES (1), (2)) v(x) ORDER BY 1, 2
SELECT DISTINCT ON (x) x, generate_series(1, 3) AS g FROM (VALUES (1), (2), (1)) v(x) ORDER BY x, g
SELECT DISTINCT ON (x) x, y, generate_series(1, y) AS g FROM (VALUES (1, 3), (2, 2), (1, 4)) v(x, y) ORDER BY x, y
SELECT x, count(*), generate_series(1, 2) FROM (VALUES (1), (2), (1)) v(x) GROUP BY x ORDER BY 1, 3
SELECT generate_series(1, count(*)) FROM (VALUES (1), (2), (1)) v(x)
SELECT max(x), generate_series(1, 3) FROM (VALUES (1), (2)) v(x)
SELECT max(x) + generate_series(1, 3), min(x) FROM (VALUES (1), (2)) v(x)
SELECT DISTINCT x, generate_series(1, 2) FROM (VALUES (1), (1)) v(x) ORDER BY 1, 2
SELECT generate_series(1, 2), x FROM (VALUES (3), (4)) v(x) ORDER BY x DESC, 1 LIMIT 3
SELECT rank() OVER (ORDER BY generate_series(1, 3))
-- casts of what windows answer, by name only
SELECT (lag(i) OVER (ORDER BY i))::bigint, (max(s) OVER ())::varchar, (first_value(s) OVER (ORDER BY id))::text FROM rt JOIN rtext ON i = id ORDER BY 1
SELECT (lag(d) OVER (ORDER BY i))::timestamptz, rank() OVER (ORDER BY i) + sum(i) OVER () FROM (VALUES (1, '2020-01-01'::timestamp), (2, NULL)) v(i, d) ORDER BY (lag(i) OVER (ORDER BY i))::bigint
SELECT (lag(f) OVER (ORDER BY f))::text || '!', CASE WHEN n > 2 THEN lead(f) OVER (ORDER BY f) ELSE f::text END, coalesce(lag(f) OVER (ORDER BY f), tx) FROM rvc ORDER BY 1, 2
-- W4: aggregates of the query outside
SELECT (SELECT min(q1.i) FROM rt q2 LIMIT 1), generate_series(1, 3) FROM rt q1 ORDER BY 1, 2
SELECT (SELECT q1.i), generate_series(1, 2) FROM rt q1 ORDER BY 1, 2
SELECT (SELECT count(*) FILTER (WHERE o <> 0) FROM (VALUES (1)) t0(i)) FROM (VALUES (2), (3)) t1(o)
SELECT (SELECT count(o) FROM (VALUES (1)) t0(i)) FROM (VALUES (2), (3)) t1(o)
SELECT (SELECT sum(o) FROM (VALUES (1), (2)) t0(i) LIMIT 1) FROM (VALUES (2), (3)) t1(o)
SELECT (SELECT sum(o + i) FROM (VALUES (1), (2)) t0(i)) FROM (VALUES (2), (3)) t1(o) ORDER BY 1
SELECT (SELECT count(i) FILTER (WHERE o <> 0) FROM (VALUES (1)) t0(i)) FROM (VALUES (2), (3)) t1(o)
SELECT (SELECT max((SELECT count(o) FROM (VALUES (1)) z(a))) FROM (VALUES (1)) t0(i)) FROM (VALUES (2), (3)) t1(o)
SELECT o, (SELECT i FROM (VALUES (1), (5)) t0(i) WHERE i > count(o)) FROM (VALUES (2), (3), (2)) t1(o) GROUP BY o ORDER BY o
-- W5: a column grouped by twice
SELECT g AS a1, g AS a2 FROM generate_series(1, 3) g GROUP BY a1, rollup(a2) ORDER BY 1, 2
SELECT * FROM (SELECT g AS a1, g AS a2, count(*) FROM generate_series(1, 3) g GROUP BY rollup(a1), rollup(a2)) q ORDER BY 1, 2, 3
SELECT * FROM (SELECT g AS a1, g AS a2, grouping(g) FROM generate_series(1, 3) g GROUP BY grouping sets ((a1), (a2), ())) q ORDER BY 1, 2, 3
-- W6: names of types
SELECT pg_typeof('x'), pg_typeof(NULL), pg_typeof('x'::text), pg_typeof('x'::varchar), pg_typeof('x'::varchar(3)), pg_typeof('x'::char), pg_typeof('x'::char(3))
SELECT pg_typeof(f), pg_typeof(w), pg_typeof(c), pg_typeof(n), pg_typeof(tx), pg_typeof(fa), pg_typeof(wa) FROM rvc LIMIT 1
SELECT pg_typeof(coalesce(f, 'x')), pg_typeof(coalesce('x', f)), pg_typeof(coalesce(f, tx)), pg_typeof(coalesce(tx, f)), pg_typeof(coalesce(f, c)), pg_typeof(coalesce(c, f)), pg_typeof(coalesce(w, f)), pg_typeof(coalesce('x', 'y')) FROM rvc LIMIT 1
SELECT pg_typeof(CASE WHEN true THEN f ELSE 'x' END), pg_typeof(CASE WHEN true THEN 'x' ELSE f END), pg_typeof(CASE WHEN true THEN f ELSE tx END), pg_typeof(CASE WHEN true THEN tx ELSE f END), pg_typeof(CASE WHEN true THEN 'x' ELSE 'y' END), pg_typeof(CASE WHEN true THEN f END), pg_typeof(CASE WHEN false THEN f ELSE w END) FROM rvc LIMIT 1
SELECT pg_typeof(nullif(f, 'x')), pg_typeof(nullif('x', f)), pg_typeof(nullif('x', 'y')), pg_typeof(greatest(f, w)), pg_typeof(least(f, 'x')), pg_typeof(greatest('a', 'b')), pg_typeof(nullif(c, 'x')), pg_typeof(nullif(1, 2)) FROM rvc LIMIT 1
SELECT pg_typeof(f || 'x'), pg_typeof(upper(f)), pg_typeof(substring(f, 1)), pg_typeof(f || c), pg_typeof(concat(f)), pg_typeof(trim(f)), pg_typeof(f || f) FROM rvc LIMIT 1
SELECT pg_typeof(min(f)), pg_typeof(max(c)), pg_typeof(string_agg(f, ',')), pg_typeof(array_agg(f)), pg_typeof(array_agg(c)), pg_typeof(array_agg(tx)), pg_typeof(count(f)) FROM rvc
SELECT pg_typeof(fa[1]), pg_typeof(fa[1:2]), pg_typeof(ARRAY[f]), pg_typeof(ARRAY[f, 'x']), pg_typeof(ARRAY[f, tx]), pg_typeof(ARRAY['x', f]), pg_typeof(ARRAY['x']), pg_typeof(wa[1]), pg_typeof(fa || f), pg_typeof(array_append(fa, f)), pg_typeof(array_append(fa, 'x')), pg_typeof(array_cat(fa, fa)), pg_typeof(string_to_array(f, ',')) FROM rvc LIMIT 1
SELECT pg_typeof(first_value(f) OVER ()), pg_typeof(lag(f) OVER ()), pg_typeof(lag(f, 1, 'x') OVER ()), pg_typeof(lead(f, 1, tx) OVER ()), pg_typeof(nth_value(c, 1) OVER ()), pg_typeof(max(f) OVER ()) FROM rvc LIMIT 1
SELECT pg_typeof(x), pg_typeof(y) FROM (SELECT f, 'lit' FROM rvc) q(x, y) LIMIT 1
SELECT pg_typeof(x) FROM (SELECT f FROM rvc UNION ALL SELECT 'x') q(x) LIMIT 1
SELECT pg_typeof(x) FROM (SELECT 'x' UNION ALL SELECT f FROM rvc) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (SELECT f FROM rvc UNION ALL SELECT tx FROM rvc) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (SELECT tx FROM rvc UNION ALL SELECT f FROM rvc) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (SELECT f FROM rvc UNION SELECT w FROM rvc) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (VALUES ('x'), ('y')) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (VALUES ('x'::varchar), ('y')) q(x) LIMIT 1
SELECT pg_typeof(x) FROM unnest((SELECT fa FROM rvc LIMIT 1)) u(x) LIMIT 1
SELECT pg_typeof(x), pg_typeof((SELECT f FROM rvc LIMIT 1)), pg_typeof(ARRAY(SELECT f FROM rvc)) FROM (SELECT unnest(fa) FROM rvc) q(x) LIMIT 1
SELECT pg_typeof(x) FROM (WITH r AS (SELECT f FROM rvc) SELECT f FROM r) q(x) LIMIT 1
SELECT pg_typeof(f) FROM rvc JOIN rvc r2 USING (f) LIMIT 1
SELECT pg_typeof(f) FROM rvc FULL JOIN (SELECT 'x'::text AS f) r2 USING (f) LIMIT 1
SELECT pg_typeof(f) FROM rvc GROUP BY f LIMIT 1
SELECT pg_typeof(f), pg_typeof(x), pg_typeof(lit), pg_typeof(cc) FROM rvc_view LIMIT 1
SELECT pg_typeof(1), pg_typeof(1.5), pg_typeof(5000000000), pg_typeof(1e3), pg_typeof(true), pg_typeof(now()), pg_typeof('1'::smallint), pg_typeof('{}'::int[]), pg_typeof('{}'::varchar[]), pg_typeof('{}'::varchar(3)[]), pg_typeof('{}'::char(3)[]), pg_typeof('{}'::text[])
SELECT pg_typeof('x' || 'y'), pg_typeof('1' + 1), pg_typeof(upper('x')), pg_typeof(date '2020-01-01' + 1), pg_typeof(interval '1 day'), pg_typeof('1 day'::interval day)
SELECT pg_typeof($1)
-- wrong errors: COPY of a view, COPY of an INSERT
COPY (SELECT * FROM rview ORDER BY 1) TO STDOUT
COPY (INSERT INTO rser(s) VALUES ('a') RETURNING id) TO STDOUT
COPY (INSERT INTO rser(s) VALUES ('b'), ('c') RETURNING id, s) TO STDOUT
COPY (UPDATE rser SET s = s || '!' RETURNING s) TO STDOUT
SELECT * FROM rser ORDER BY id
-- wrong errors: NULL decides
SELECT 1 FROM rbig WHERE NULL > a * 2
SELECT 1 FROM rbig WHERE NULL = 1 / (a - a)
SELECT 1 FROM rbig WHERE a * 2 > NULL
SELECT 1 FROM rbig WHERE a * 2 > 0
SELECT NULL > a * 2 FROM rbig
SELECT NULL + a * 2 FROM rbig
-- wrong errors: which of two is told
INSERT INTO rdup VALUES (1, 1), (1, NULL)
INSERT INTO rdup VALUES (1, NULL), (1, 1)
INSERT INTO rdup VALUES (3, 1), (4, 2), (3, 3), (5, NULL)
INSERT INTO rdup VALUES (NULL, 1), (9, 1), (9, 1)
INSERT INTO rdup SELECT g % 2, nullif(g, 3) FROM generate_series(1, 3) g
INSERT INTO rdup SELECT g % 4, nullif(g, 3) FROM generate_series(1, 6) g
INSERT INTO rchk VALUES (1, 1), (1, -1)
INSERT INTO rchk VALUES (1, -1), (1, 1)
SELECT * FROM rdup ORDER BY 1
-- should work: substring of SQL's patterns
SELECT substring('abcdefg' FROM 'a#"(b_d)#"%' FOR '#'), substring('abcdefg' FROM '#"(b_d)#"%' FOR '#'), substring('abcdefg' SIMILAR '%#"c_e#"%' ESCAPE '#')
SELECT substring('abcdefg' FROM '%' FOR NULL), substring('abcdefg' FROM 'c.e'), substring('Thomas' FROM '%#"o_a#"_' FOR '#')
SELECT substring('abc' FROM 2 FOR 1), substring('abc' FOR 2), substring('abc' FROM '2')
SELECT substring('abcdefg', 'a#"%#"g', '#')
-- should work: words of dates
SELECT 'today'::date = current_date, 'tomorrow'::date = current_date + 1, 'yesterday'::date = current_date - 1, 'now'::timestamptz = now(), 'allballs'::time, 'epoch'::timestamp, 'infinity'::date, '-infinity'::timestamp
SELECT 'now'::timestamp = localtimestamp, 'today'::timestamp = current_date::timestamp, 'now'::date = current_date, 'tomorrow 10:00'::timestamp = current_date + 1 + time '10:00', 'today'::timestamptz = current_date::timestamptz
SELECT 'allballs'::timestamp
SELECT 'today allballs'::timestamp = current_date::timestamp
SELECT 'now'::time = localtime
SELECT 'now'::time <= 'allballs'::time
SELECT 'today'::time
-- zones by name
SELECT timestamptz '2020-01-01 00:00 America/New_York'
SELECT timestamptz '2020-07-01 00:00 EST'
SELECT now() AT TIME ZONE 'Europe/Berlin' IS NULL
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'PST8PDT'
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'UTC', timestamp '2020-01-01 12:00' AT TIME ZONE '+02', timestamptz '2020-01-01 12:00Z', timestamptz '2020-01-01 12:00 GMT'
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'Nowhere/City'
SELECT timestamptz '2020-01-01 00:00 Nowhere/City'
SELECT timestamptz '2020-01-01 00:00 NOW'
SELECT date '2020-01-01 Europe/Paris'
SELECT timestamp '2020-01-01 10:00 CEST'
SELECT time '10:00EST'
SELECT timestamptz '2020-01-01 10:00 Foo'
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'Foo'
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'FOO3'
SELECT timestamp '2020-01-01 12:00' AT TIME ZONE 'Foo3Bar'
SELECT date 'CET'
SET timezone = 'Europe/Berlin'
SET timezone = 'Nowhere/City'
SET timezone = 'UTC'
SET timezone TO DEFAULT
RESET timezone
SET TIME ZONE 'America/Caracas'
SET TIME ZONE 0
SET TIME ZONE LOCAL
-- whole rows
SELECT count(t.*) FROM rt t
SELECT count(rt) FROM rt
SELECT t FROM rt t
SELECT (t).i FROM rt t ORDER BY 1
SELECT (t.*) IS NULL FROM rt t
SELECT t.*::text FROM rt t
SELECT row_to_json(t) FROM rt t ORDER BY t.i
SELECT t = t FROM rt t
SELECT o.i, q.* FROM rt o, LATERAL (SELECT o.*) q ORDER BY 1
SELECT o.i, q.* FROM rt o, LATERAL (SELECT o.*, o.i + 1 AS n) q ORDER BY 1
SELECT o.i, q.* FROM rt o LEFT JOIN LATERAL (SELECT o.* WHERE o.i > 1) q ON true ORDER BY 1
SELECT (SELECT o.* FROM rt LIMIT 1) FROM rt o
SELECT (SELECT o.j LIMIT 1) FROM rt o ORDER BY 1
-- roles, catalogs, system columns
SET ROLE postgres
SET ROLE nobody_there
SET ROLE NONE
RESET ROLE
SET SESSION AUTHORIZATION DEFAULT
SET SESSION AUTHORIZATION nobody_there
RESET SESSION AUTHORIZATION
SELECT relname FROM pg_class WHERE relname = 'rt'
SELECT count(*) > 0 FROM pg_type
SELECT typname FROM pg_catalog.pg_type WHERE typname = 'int4'
SELECT table_name FROM information_schema.tables WHERE table_name = 'rt'
SELECT count(*) FROM pg_stat_activity WHERE false
SELECT * FROM pg_tables WHERE false
SELECT * FROM pg_no_such_catalog
SELECT * FROM pg_catalog.no_such
SELECT * FROM information_schema.no_such
SELECT xmin IS NULL FROM rt LIMIT 1
SELECT ctid FROM rt LIMIT 1
SELECT cmin, cmax, xmax FROM rt LIMIT 1
SELECT tableoid IS NULL FROM rt LIMIT 1
SELECT t.xmin IS NULL FROM rt t LIMIT 1
DELETE FROM rt WHERE ctid = '(99,1)'
UPDATE rt SET ctid = NULL
INSERT INTO rt (ctid) VALUES (NULL)
INSERT INTO rt VALUES (1, 1) ON CONFLICT (xmin) DO NOTHING
SELECT xmin FROM (SELECT 1 AS a) q
SELECT oid FROM rt
SELECT has_table_privilege('rt', 'select')
SELECT has_table_privilege('postgres', 'rt', 'select')
SELECT has_schema_privilege('public', 'usage')
SET search_path = a, b
SET search_path = public, a
SET search_path TO public
SET search_path TO "$user", public
SET search_path = ''
SET search_path TO DEFAULT
SHOW search_path
-- aliases of joins
SELECT * FROM (rt a JOIN rt b USING (i)) j ORDER BY 1
SELECT j.i, j.j FROM (rt a JOIN rtext b ON a.i = b.id) j ORDER BY 1
SELECT j.x, j.y FROM (rt a JOIN rtext b ON a.i = b.id) j(x, y) ORDER BY 1
SELECT a.i FROM (rt a JOIN rtext b ON a.i = b.id) j
SELECT x.i FROM rt a JOIN rt b USING (i) AS x ORDER BY 1
SELECT j.* FROM (rt a CROSS JOIN rempty b) j
SELECT j.j FROM (rt a JOIN rt b ON a.i = b.i) j
-- WITH inside of a recursive query
WITH RECURSIVE t(n) AS (WITH t1 AS (SELECT 1 AS x) SELECT x FROM t1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t ORDER BY 1
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL (WITH t1 AS (SELECT * FROM t) SELECT n + 1 FROM t1 WHERE n < 5)) SELECT * FROM t ORDER BY 1
WITH RECURSIVE t(n) AS (WITH t1 AS (SELECT 1 FROM t) SELECT 1 UNION SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM (WITH u AS (SELECT n FROM t) SELECT n FROM u) q WHERE n < 5) SELECT * FROM t ORDER BY 1
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rt LEFT JOIN x ON n = i WHERE n < 10) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LEFT JOIN rt ON n = i WHERE n < 10) SELECT count(*) FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x RIGHT JOIN rt ON n = i WHERE n < 10) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x FULL JOIN rt ON n = i WHERE n < 10) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT x.n + 1 FROM x JOIN x y ON x.n = y.n WHERE x.n < 10) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM x WHERE n < 10) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT i FROM rt WHERE i NOT IN (SELECT n FROM x)) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 EXCEPT SELECT n + 1 FROM x) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT n FROM x) SELECT * FROM x
-- storage parameters
CREATE TABLE rp1 (a int) WITH (autovacuum_enabled = false)
CREATE TABLE rp2 (a int) WITH (fillfactor = 2)
CREATE TABLE rp3 (a int) WITH (fillfactor = 70)
CREATE TABLE rp4 (a int) WITH (nosuch = 70)
CREATE TABLE rp5 (a int) WITH (fillfactor = 101)
CREATE TABLE rp6 (a int) WITH (autovacuum_enabled = maybe)
CREATE TABLE rp7 (a int) WITH (fillfactor = 70, fillfactor = 80)
CREATE TABLE rp8 (a int) WITH (oids = false)
CREATE TABLE rp9 (a int) WITH (oids = true)
CREATE TABLE rp10 (a int) WITH (autovacuum_vacuum_threshold = 5, autovacuum_vacuum_scale_factor = 0.1)
CREATE TABLE rp11 (a int) WITH (toast.autovacuum_enabled = false)
CREATE TABLE rp12 (a int) WITH (fillfactor = x)
CREATE TABLE rp13 (a int) WITH (autovacuum_vacuum_scale_factor = 200)
CREATE TABLE rp14 (a int) WITHOUT OIDS
CREATE TABLE rp15 (a int) WITH (parallel_workers = 2)
CREATE TABLE rp18 (a int) WITH (fillfactor)
CREATE TABLE rp19 (a int) WITH (autovacuum_enabled)
CREATE TABLE rp20 (a int) WITH (autovacuum_enabled = off, fillfactor = '50')
CREATE TABLE rp21 (a int) WITH (fillfactor = 50.5)
CREATE TABLE rp22 (a int) WITH (autovacuum_vacuum_cost_delay = 2.5, vacuum_truncate = false, log_autovacuum_min_duration = -1)
CREATE TABLE rp23 (a int) WITH (parallel_workers = -1)
CREATE TABLE rp24 (a int) WITH (toast_tuple_target = 100)
CREATE TABLE rp25 (a int) WITH (toast.fillfactor = 50)
CREATE TABLE rp26 (a int) WITH (autovacuum_nosuch = 1)
CREATE TABLE rp16 WITH (fillfactor = 3) AS SELECT 1 AS a
CREATE TABLE rp17 WITH (fillfactor = 50) AS SELECT 1 AS a
ALTER TABLE rt SET (fillfactor = 2)
ALTER TABLE rt SET (fillfactor = 50)
ALTER TABLE rt RESET (fillfactor)
-- literals of dates and intervals
SELECT interval '1 2' day to hour
SELECT interval '1 2:03' day to minute, interval '1-2' year to month, interval '1 2:03:04.5' day to second, interval '5' hour, interval '1:2' minute to second, interval '2:03' hour to minute
SELECT interval '1 2' hour to minute
SELECT interval '1 2:03' day to hour, interval '1 2:03:04' day to minute
SELECT interval '1 2:03:04.5' day to second(1)
SELECT interval '12:34.5678' minute to second, interval '1.234' second
SELECT interval '1 2.3' day to second
SELECT interval 'P0002-10-15T10:30:20', interval 'P1Y2M3DT4H5M6S', interval 'P1.5Y', interval 'P0002', interval 'P00021015T103020', interval 'PT10:30'
SELECT interval '4 millenniums', interval '2 centuries', interval '3 decades', interval '1 millennium 2 century', interval '4 millenia 5 centuries 4 decades 1 year 4 months 4 days 17 minutes 31 seconds'
SELECT interval '1.5 weeks', interval '@ 1 minute ago', interval '1 mon -1 day', interval '-1 +02:03', interval '1 fortnight'
SELECT interval '3 mils', interval '5 msecs', interval '7 us', interval '2 c', interval '1 mil 2 d'
SELECT timestamptz '1970-01-01+00', timestamptz '1970-01-01-05:30', timestamptz '1970-01-01 00:00+05:30:10', timestamptz '2020-02-03 04:05:06.789-8', timestamptz '19970210 173201 -0800'
SELECT date '5874897-12-31', date '4714-11-24 BC', timestamp '294276-12-31 23:59:59.999999', timestamp '4714-11-24 00:00 BC', date '99999-01-01', timestamptz '200000-01-01+00'
SELECT date '5874898-01-01'
SELECT date '4714-11-23 BC'
SELECT timestamp '294277-01-01'
SELECT timestamptz '294276-12-31 23:59:59.999999-01'
SELECT timestamp '4714-11-23 23:59:59 BC'
SELECT date '0044-03-15 BC', date '0001-01-01 BC', timestamp '0044-03-15 10:00 BC', date '0044-03-15 BC' + 366
SELECT date '0000-01-01'
SELECT date '1999-08-Jan'
SELECT date '1999-Jan-08', date 'Jan-08-1999', date '08-Jan-1999', date '19990108', date '990108', date '1999.008', date 'J2451187', date 'January 8, 99 BC'
SELECT date '99-Jan-08'
SELECT date '99 08 Jan'
SELECT date '08 99 Jan'
SELECT date '12 98 Feb'
SELECT date '99 Jan 08'
SELECT date '1998 12 Feb'
SELECT date '12 1998 Feb'
SELECT date '1999 Jan 08', date '1999 08 Jan', date 'Jan 08 1999', date '08 Jan 1999', date '08 Jan 99'
SELECT date '99-08-Jan'
SELECT date 'Jan-08-99', date '08-Jan-99', date '1999-01-08', date '1/8/1999', date '1/18/1999', date '01/02/03'
SELECT date '18/1/1999'
SELECT date '1999-01-32'
SELECT timestamp '2020-01-01T10:11:12', timestamp '20200101T101112', timestamp '2020-01-01 10:11 PM', timestamp '2020-01-01 24:00', timestamp '2020-01-01 10:11:60', time '24:00', time '040506', time '04:05 AM'
SELECT time '24:00:01'
-- accepted where PostgreSQL errs
CREATE TABLE roc (a int) ON COMMIT DROP
CREATE TABLE roc (a int) ON COMMIT DELETE ROWS
CREATE TABLE roc2 AS SELECT 1 AS a
CREATE TABLE roc3 ON COMMIT DROP AS SELECT 1 AS a
CREATE TABLE rsg1 (a serial GENERATED ALWAYS AS IDENTITY)
CREATE TABLE rsg2 (a serial GENERATED BY DEFAULT AS IDENTITY)
CREATE TABLE rsg3 (a serial DEFAULT 5)
CREATE TABLE rsg4 (a serial NULL)
CREATE TABLE rsg5 (a int DEFAULT 1 GENERATED ALWAYS AS IDENTITY)
CREATE TABLE rsg6 (a text GENERATED ALWAYS AS IDENTITY)
CREATE TABLE rsc1 (xmin int)
CREATE TABLE rsc2 (a int, ctid int)
CREATE TABLE rsc3 (tableoid int)
CREATE TABLE rsc4 (cmax int)
CREATE TABLE rsc5 (oid int)
CREATE TABLE rsc6 AS SELECT 1 AS xmin
CREATE TABLE rsc7 (xmax) AS SELECT 1
CREATE VIEW rsc8 AS SELECT 1 AS xmin
ALTER TABLE rt ADD COLUMN xmin int
ALTER TABLE rt RENAME COLUMN j TO xmax
SELECT xmin FROM (SELECT 1 AS xmin) q
-- a prepared plan's columns
CREATE TABLE rprep (a int, b text)
INSERT INTO rprep VALUES (1, 'x')
PREPARE rp_all AS SELECT * FROM rprep
EXECUTE rp_all
ALTER TABLE rprep ADD COLUMN c int
EXECUTE rp_all
PREPARE rp_b AS SELECT b FROM rprep
EXECUTE rp_b
ALTER TABLE rprep ALTER COLUMN b TYPE varchar(5)
EXECUTE rp_b
ALTER TABLE rprep ALTER COLUMN b TYPE int USING 5
EXECUTE rp_b
PREPARE rp_a AS SELECT a FROM rprep
ALTER TABLE rprep ALTER COLUMN a TYPE bigint
EXECUTE rp_a
ALTER TABLE rprep RENAME COLUMN a TO aa
EXECUTE rp_a
PREPARE rp_sum AS SELECT count(*) FROM rprep
ALTER TABLE rprep DROP COLUMN b
EXECUTE rp_sum
EXECUTE rp_b
DROP TABLE rprep
EXECUTE rp_sum
-- cheap to accept: COLLATE
SELECT 'a' COLLATE "C" < 'b', s COLLATE "C" FROM rtext ORDER BY s COLLATE "C"
SELECT s FROM rtext ORDER BY s COLLATE "POSIX"
SELECT s FROM rtext ORDER BY s COLLATE "default"
SELECT s FROM rtext ORDER BY s COLLATE "en_US"
SELECT s FROM rtext ORDER BY s COLLATE "nope"
SELECT 1 COLLATE "C"
SELECT 'a' COLLATE "C" < 'b' COLLATE "POSIX"
SELECT 'a' COLLATE "C" || 'b' COLLATE "C"
CREATE TABLE rcoll (a text COLLATE "C" PRIMARY KEY, b varchar(4) COLLATE "default")
CREATE TABLE rcoll2 (a int COLLATE "C")
CREATE TABLE rcoll3 (a text COLLATE "nope")
-- cheap to accept: BEGIN READ ONLY
BEGIN READ ONLY
SELECT count(*) FROM rt
INSERT INTO rt VALUES (77, 77)
SELECT 1
ROLLBACK
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
CREATE TABLE rro (a int)
ROLLBACK
START TRANSACTION READ WRITE
INSERT INTO rt VALUES (78, 78)
ROLLBACK
BEGIN READ ONLY DEFERRABLE
COMMIT
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE
SHOW transaction_read_only
COMMIT
BEGIN
SET TRANSACTION READ ONLY
DELETE FROM rt
ROLLBACK
BEGIN READ ONLY
SELECT nextval('rser_id_seq')
ROLLBACK
BEGIN READ ONLY
COPY rt TO STDOUT
TRUNCATE rt
ROLLBACK
BEGIN READ ONLY
ANALYZE rt
SELECT * FROM rt FOR UPDATE
ROLLBACK
BEGIN READ ONLY
SET TRANSACTION READ WRITE
ROLLBACK
BEGIN READ ONLY
SELECT 1
SET TRANSACTION READ WRITE
ROLLBACK
SHOW default_transaction_read_only
SET default_transaction_read_only = on
INSERT INTO rt VALUES (79, 79)
SET default_transaction_read_only = off
-- cheap to accept: TRUNCATE of several
CREATE TABLE rtr1 (a int)
CREATE TABLE rtr2 (a int)
INSERT INTO rtr1 VALUES (1)
INSERT INTO rtr2 VALUES (1)
TRUNCATE rtr1, rtr2
SELECT (SELECT count(*) FROM rtr1), (SELECT count(*) FROM rtr2)
TRUNCATE rtr1, rtr1
TRUNCATE TABLE ONLY rtr1, rtr2 CASCADE
TRUNCATE rtr1, rview
TRUNCATE rtr1, rnope
TRUNCATE rtr1 CONTINUE IDENTITY
BEGIN
INSERT INTO rtr1 VALUES (1)
TRUNCATE rtr2, rtr1
INSERT INTO rtr1 VALUES (2)
SELECT * FROM rtr1
ROLLBACK
SELECT count(*) FROM rtr1
-- cheap to accept: COMMENT, VACUUM
COMMENT ON TABLE rt IS 'x'
COMMENT ON COLUMN rt.i IS NULL
COMMENT ON COLUMN rt.nope IS 'x'
COMMENT ON TABLE rnope IS 'x'
COMMENT ON VIEW rview IS 'a view'
COMMENT ON VIEW rt IS 'not a view'
COMMENT ON SEQUENCE rser_id_seq IS 'a sequence'
COMMENT ON DATABASE postgres IS 'x'
COMMENT ON FUNCTION nope() IS 'x'
COMMENT ON SCHEMA public IS 'x'
COMMENT ON INDEX rt_pkey IS 'x'
COMMENT ON CONSTRAINT rt_pkey ON rt IS 'x'
VACUUM
VACUUM rt
VACUUM FULL rt
VACUUM (ANALYZE, VERBOSE false) rt
VACUUM ANALYZE rt
VACUUM rnope
VACUUM (nosuch) rt
VACUUM rt (i)
VACUUM ANALYZE rt (i)
BEGIN
VACUUM
ROLLBACK
-- W6: types of columns
SELECT f, w, c, n, tx, fa, wa FROM rvc
SELECT f::text, f::varchar, w::varchar(3), tx::varchar, n::numeric, n::numeric(4, 1), c::bpchar, c::varchar, n::varchar(9), fa::text[], wa::varchar(2)[] FROM rvc
SELECT coalesce(f, f), coalesce(f, w), coalesce(f, 'x'), coalesce(n, n), coalesce(n, 1), coalesce(c, c), coalesce(c, 'x'), coalesce(tx, f), coalesce(f, tx), coalesce(f, NULL) FROM rvc
SELECT CASE WHEN true THEN f ELSE f END, CASE WHEN true THEN f ELSE 'x' END, CASE WHEN true THEN n END, CASE WHEN true THEN n ELSE n END, CASE WHEN true THEN f ELSE w END, CASE WHEN true THEN c ELSE f END FROM rvc
SELECT nullif(f, 'x'), nullif(n, 1), nullif(n, n), nullif(1, 2.2), nullif(1, 2.5::float8), nullif(1::smallint, 2), nullif(1, 5000000000), nullif(i, 1.5), nullif(i, j), nullif(n, 1.5::float8) FROM rvc, rt
SELECT nullif(1, 2.2), nullif(1.5, 1), nullif('2020-01-01'::date, '2020-01-01 10:00'::timestamp), nullif(1, 1.5::float4), nullif(1.5, 1.5::float8), nullif(1, 1.0)
SELECT greatest(f, f), greatest(f, 'x'), least(n, n), least(n, 1), greatest(c, c), greatest(1, 2.5) FROM rvc
SELECT min(f), max(n), min(c), array_agg(f), array_agg(n), array_agg(c), string_agg(f, ','), sum(n), avg(n), count(*), min(fa) FROM rvc
SELECT fa[1], fa[1:2], ARRAY[f, f], ARRAY[n, n], ARRAY[f, 'x'], fa || f, array_append(fa, 'x'), array_cat(wa, fa), array_remove(fa, 'x') FROM rvc
SELECT first_value(f) OVER (), lag(n) OVER (), lag(f, 1, 'x') OVER (), max(f) OVER (), array_agg(f) OVER (), nth_value(c, 1) OVER () FROM rvc
SELECT f, n FROM rvc UNION SELECT f, n FROM rvc
SELECT f, n FROM rvc UNION ALL SELECT w, 1 FROM rvc
SELECT f, n, c FROM rvc UNION ALL SELECT 'x', 1.5, 'y'
SELECT tx, f FROM rvc INTERSECT SELECT f, tx FROM rvc
SELECT f FROM rvc EXCEPT SELECT tx FROM rvc
SELECT f FROM rvc UNION ALL SELECT f FROM rvc UNION ALL SELECT f FROM rvc
SELECT 'x' UNION ALL SELECT 'y' UNION ALL SELECT f FROM rvc
VALUES ('x'::varchar(3)), ('y'::varchar(3))
VALUES ('x'::varchar(3), 1.5::numeric(3, 1), 'x'), ('y', 2.5::numeric(3, 1), NULL)
VALUES (1.5::numeric(3, 1)), (2.5)
WITH RECURSIVE r(x) AS (SELECT f FROM rvc UNION ALL SELECT x FROM r WHERE false) SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT f FROM rvc UNION ALL SELECT x || 'x' FROM r WHERE false) SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT f FROM rvc UNION ALL SELECT (x || 'x')::varchar(4) FROM r WHERE false) SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT f FROM rvc UNION ALL SELECT (x || 'x')::varchar FROM r WHERE false) SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT n FROM rvc UNION ALL SELECT x + 1 FROM r WHERE false) SELECT x FROM r
WITH RECURSIVE r(x) AS (SELECT w FROM rvc UNION ALL SELECT 'x' FROM r WHERE false) SELECT x FROM r
WITH q AS (SELECT f, n FROM rvc) SELECT f, n FROM q
SELECT (SELECT f FROM rvc LIMIT 1), ARRAY(SELECT f FROM rvc), (SELECT n FROM rvc LIMIT 1), ARRAY(SELECT n FROM rvc), EXISTS (SELECT f FROM rvc)
SELECT * FROM rvc_view
SELECT f, a.n, b.n FROM rvc a JOIN rvc b USING (f)
SELECT f FROM rvc a FULL JOIN rvc b USING (f)
SELECT f FROM rvc a FULL JOIN (SELECT 'x'::varchar(9) AS f) b USING (f)
SELECT x, y FROM unnest('{a}'::varchar(3)[], '{b}'::text[]) u(x, y)
SELECT x FROM rvc, unnest(fa) x
SELECT unnest(fa), unnest(ARRAY[n]) FROM rvc
SELECT 'x', NULL, 'x'::varchar, 'x'::char, 'x'::varchar(3), 1.5, 1.5::numeric(4, 1), '1.5'::numeric, interval '1' day, interval '1 day', '1 day'::interval day to second
SELECT DISTINCT f, n FROM rvc ORDER BY f, n
SELECT f, n, count(*) FROM rvc GROUP BY f, n ORDER BY 1, 2
SELECT f, n, count(*) FROM rvc GROUP BY ROLLUP (f, n)
SELECT upper(f), f || 'x', substr(f, 1, 2), concat(f, 'x'), replace(f, 'a', 'b'), md5(f), lower(c), f LIKE 'a%', length(f) FROM rvc
SELECT f = 'a', f = tx, f < w, f = c, f IN ('a', 'b'), f = ANY (fa), f = ANY (wa), f BETWEEN 'a' AND 'z' FROM rvc ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
SELECT n + 1, n * n, -n, abs(n), round(n, 1), n::int, n::float8, n / 3 FROM rvc
-- regular expressions that fold case
SELECT '日本語' ~* '[[:upper:]]', 'ab1' ~* '^[[:lower:]]+$', 'AB' ~* '^[[:lower:]]+$', 'ß1' ~* '[[:upper:]]$', 'Ab' ~ '^[[:upper:]]+$', '日' ~ '[[:upper:]]', 'A日' ~* '[^[:lower:]]'
-- LATERAL behind a comma's LEFT JOIN
SELECT a.i, b.i, l.x FROM rt a, rt b LEFT JOIN LATERAL (SELECT a.j + b.i AS x) l ON l.x > 4 ORDER BY 1, 2, 3
SELECT a.i, b.i, l.x, c.s FROM rt a, rt b LEFT JOIN LATERAL (SELECT a.j AS x) l ON l.x = b.i LEFT JOIN rtext c ON c.id = l.x ORDER BY 1, 2, 3, 4
SELECT a.i, b.i, l.x, c.s FROM rt a JOIN rt b ON a.j = b.j LEFT JOIN rtext c ON c.id = b.i, rt d LEFT JOIN LATERAL (SELECT a.j + d.i AS x WHERE b.i > 1) l ON l.x = 4 WHERE d.i < 3 ORDER BY 1, 2, 3, 4
SELECT a.i, d.i, l.x, m.y FROM rt a, (rt d LEFT JOIN LATERAL (SELECT a.j + d.i AS x) l ON l.x = 4) LEFT JOIN LATERAL (SELECT a.i + l.x AS y) m ON m.y > 5 ORDER BY 1, 2, 3, 4
SELECT a.i, d.i, l.x, c.id FROM rt a, (rt d CROSS JOIN LATERAL (SELECT a.j + d.i AS x) l) LEFT JOIN rtext c ON c.id = l.x ORDER BY 1, 2, 3, 4
SELECT a.i, d.i, l.x, c.id FROM rt a LEFT JOIN (rt d LEFT JOIN LATERAL (SELECT a.j + d.i AS x) l ON l.x = 4) ON a.i = d.i, rtext c ORDER BY 1, 2, 3, 4
SELECT a.i, d.i, l.x FROM rt a LEFT JOIN rt b ON a.i = b.j, rt d LEFT JOIN LATERAL (SELECT b.j + d.i AS x) l ON l.x = 4 WHERE a.i = 2 ORDER BY 1, 2, 3
SELECT a.i, d.i, l.x FROM rt a FULL JOIN rt b ON a.i = b.j, rt d LEFT JOIN LATERAL (SELECT b.j + d.i AS x) l ON l.x = 4 WHERE d.i = 2 ORDER BY 1, 2, 3
SELECT a.i, d.i, l.x FROM rt a, rt e RIGHT JOIN rt d ON e.i = d.j LEFT JOIN LATERAL (SELECT a.j + d.i AS x) l ON l.x = 4 ORDER BY 1, 2, 3
SELECT a.i, d.i, g FROM rt a, rt d LEFT JOIN generate_series(1, a.j) g ON g = d.i ORDER BY 1, 2, 3
SELECT a.i, d.i, g, h FROM rt a, rt d LEFT JOIN generate_series(1, a.j) g ON g = d.i LEFT JOIN unnest(ARRAY[a.i, g]) h ON h > 1 WHERE a.i < 3 ORDER BY 1, 2, 3, 4
-- the last digit of degrees and radians
SELECT degrees(x), radians(x), degrees(x * 7), radians(x * 7) FROM unnest(ARRAY[0.1, 0.2, 0.3, 0.7, 1, 2, 3.3, 45, 90, 123.456]::float8[]) x
-- ALTER TYPE with a default of another type
CREATE TABLE rdef (i int, a varchar(4) DEFAULT true, b text DEFAULT 0.5, c text DEFAULT 'x', d text DEFAULT NULL, e int DEFAULT 5)
ALTER TABLE rdef ALTER a TYPE boolean USING false
ALTER TABLE rdef ALTER b TYPE float8 USING 1
ALTER TABLE rdef ALTER c TYPE int USING 1
ALTER TABLE rdef ALTER d TYPE int USING 1
ALTER TABLE rdef ALTER e TYPE boolean USING true
ALTER TABLE rdef ALTER e TYPE text USING 'x'
ALTER TABLE rdef ALTER e TYPE numeric USING 1.5
INSERT INTO rdef (i) VALUES (1)
SELECT * FROM rdef
-- arithmetic of smallint and real, comparisons of char(n), bytea and uuid
SELECT x + y, x - y, x * y, x / nullif(y, 0), x % nullif(y, 0), -x, +x, @x, ~x, abs(x), x & y, x | y, x # y, x << 3, x >> 2, x << 17, mod(x, nullif(y, 0)), pg_typeof(x / 1::smallint) FROM (VALUES (7::smallint, -2::smallint), (-100, 3), (0, 0), (NULL, 1)) v(x, y)
SELECT 32767::smallint + 1::smallint
SELECT (-32768)::smallint - 1::smallint
SELECT 200::smallint * 200::smallint
SELECT (-32768)::smallint / (-1)::smallint
SELECT (-32768)::smallint % (-1)::smallint
SELECT 1::smallint / 0::smallint
SELECT 1::smallint % 0::smallint
SELECT -((-32768)::smallint)
SELECT abs((-32768)::smallint)
SELECT (-2147483648) / (-1)
SELECT x + y, x - y, x * y, x / y, -x, +x, @x, abs(x), pg_typeof(x / y) FROM (VALUES (1.5::real, 3::real), (0.1, 0.3), ('Infinity', 2), ('NaN', 0), (-7.25, '-Infinity'), (NULL, 0)) v(x, y)
SELECT 3e38::real + 3e38::real
SELECT 3e38::real * 10::real
SELECT 1e-30::real * 1e-30::real
SELECT 1e-30::real / 1e30::real
SELECT 1::real / 0::real
SELECT 1::float8 / 0
SELECT 1e300::float8 * 1e300
SELECT 1e-300::float8 / 1e300
SELECT x = y, x <> y, x < y, x <= y, x > y, x >= y, x LIKE y::text, x NOT LIKE 'a%', octet_length(x) FROM (VALUES ('a'::char(3), 'a '::char(5)), ('b', 'a'), ('A', 'a'), (NULL, 'x'), ('', ' ')) v(x, y)
SELECT x = y, x <> y, x < y, x <= y, x > y, x >= y FROM (VALUES ('\x00ff'::bytea, '\x00'::bytea), ('\xff', '\x7f'), ('', '\x00'), ('a', 'a'), (NULL, 'x')) v(x, y)
SELECT x = y, x <> y, x < y, x <= y, x > y, x >= y FROM (VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'::uuid), ('ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000'), (NULL, '00000000-0000-0000-0000-000000000000')) v(x, y)
-- W6: definitions with varchar
CREATE TABLE rw1 (id int PRIMARY KEY, a varchar(4), b varchar, c text, d varchar(6)[])
INSERT INTO rw1 VALUES (1, 'abcd', 'anything', 'any', '{abcdef}')
ALTER TABLE rw1 ALTER a TYPE varchar
INSERT INTO rw1 VALUES (2, 'longer than four', 'b', 'c', NULL)
ALTER TABLE rw1 ALTER a TYPE varchar(4)
ALTER TABLE rw1 ALTER b TYPE varchar(3)
ALTER TABLE rw1 ALTER b TYPE varchar(10)
ALTER TABLE rw1 ALTER c TYPE varchar
ALTER TABLE rw1 ALTER c TYPE varchar(2)
ALTER TABLE rw1 ALTER c TYPE varchar(3)
ALTER TABLE rw1 ALTER d TYPE varchar(3)[]
ALTER TABLE rw1 ALTER d TYPE varchar[]
ALTER TABLE rw1 ADD e varchar DEFAULT 'x'
SELECT *, pg_typeof(a), pg_typeof(b), pg_typeof(c), pg_typeof(d), pg_typeof(e) FROM rw1 ORDER BY id
INSERT INTO rw1 (id, b) VALUES (3, 'eleven char')
INSERT INTO rw1 (id, c) VALUES (3, 'four')
CREATE VIEW rw2 AS SELECT a, b, c FROM rw1
CREATE OR REPLACE VIEW rw2 AS SELECT a, b::varchar AS b, c FROM rw1
CREATE OR REPLACE VIEW rw2 AS SELECT a::text AS a, b, c FROM rw1
CREATE OR REPLACE VIEW rw2 AS SELECT a, b, c, id FROM rw1
INSERT INTO rw1 (id, a) VALUES (4, 'r') RETURNING pg_typeof(a), pg_typeof(b), a
UPDATE rw1 SET a = a || '!' WHERE id = 4 RETURNING a, pg_typeof(a)
PREPARE rw5 AS SELECT a FROM rw1 WHERE a = $1
EXECUTE rw5('r!')
SELECT a FROM rw1 WHERE a IN ('abcd', 'r!') AND b IS NOT NULL OR a = ANY ('{r!}'::varchar[]) ORDER BY 1
SELECT a FROM rw1 WHERE a::text = 'r!' OR a::varchar = 'abcd' OR c::char(5) = 'any' ORDER BY 1
SELECT x.a FROM rw1 x JOIN rw1 y ON x.a::text = y.a JOIN rw1 z ON z.a::varchar(9) = y.a::varchar ORDER BY 1
SELECT a::text, count(*) FROM rw1 GROUP BY a::text ORDER BY a::text
SELECT a, count(*) FROM rw1 GROUP BY a HAVING a::varchar(1) > '' ORDER BY a::varchar
SELECT a::text FROM rw1 GROUP BY a ORDER BY 1
SELECT DISTINCT a::varchar, b::text FROM rw1 ORDER BY 1, 2
SELECT pg_typeof(current_date::varchar), pg_typeof(1::varchar(3)), pg_typeof(true::varchar), pg_typeof(varchar 'x'), pg_typeof(varchar(2) 'xyz'), pg_typeof(cast('x' AS varchar))
SELECT pg_typeof(NULL::varchar || NULL), pg_typeof('{a,b}'::varchar[] || 'c'::varchar), pg_typeof('{a,b}'::varchar[] || '{c}'::text[]), pg_typeof('{a}'::text[] || '{c}'::varchar[])
SELECT 'a'::varchar = 'a'::text, 'a'::varchar = 'a'::char(3), 'a ' = 'a'::char(3), 'a '::varchar = 'a'::char(3), 'a '::text = 'a'::char(3)
SELECT pg_typeof(coalesce(NULL, NULL)), pg_typeof(CASE WHEN false THEN NULL END), pg_typeof(nullif(NULL, NULL)), pg_typeof(greatest(NULL, 'x'::varchar)), pg_typeof(ARRAY[NULL, 'x'::varchar]), pg_typeof((SELECT NULL)), pg_typeof((SELECT 'x'))
-- casts that change no byte, over columns
SELECT ts::timestamptz, ts, tz::timestamp, t::char(5)::bpchar || '|' FROM rrel ORDER BY id
SELECT x::timestamptz FROM (SELECT ts AS x FROM rrel) q ORDER BY 1
SELECT x::timestamptz, y FROM (SELECT ts AS x, id AS y FROM rrel OFFSET 0) q ORDER BY 2
SELECT (SELECT ts::timestamptz), (SELECT r.ts::timestamptz FROM rrel x WHERE x.id = r.id) FROM rrel r ORDER BY 1
SELECT ts::timestamptz, count(*) FROM rrel GROUP BY ts::timestamptz ORDER BY 1
SELECT ts::timestamptz, count(*) FROM rrel GROUP BY ts ORDER BY 1
SELECT max(ts::timestamptz), min(ts)::timestamptz, array_agg(ts::timestamptz ORDER BY id), count(DISTINCT ts::timestamptz) FROM rrel
SELECT DISTINCT ts::timestamptz FROM rrel ORDER BY 1
SELECT DISTINCT ON (ts::timestamptz) ts::timestamptz, id FROM rrel ORDER BY 1, id
SELECT ts::timestamptz FROM rrel UNION SELECT tz FROM rrel ORDER BY 1
SELECT ts FROM rrel UNION ALL SELECT tz FROM rrel ORDER BY 1
SELECT lag(ts::timestamptz) OVER (ORDER BY id), first_value(ts) OVER (ORDER BY id)::timestamptz, max(ts::timestamptz) OVER () FROM rrel ORDER BY id
SELECT a.ts::timestamptz, b.ts::timestamptz FROM rrel a JOIN rrel b ON a.ts::timestamptz = b.tz ORDER BY a.id, b.id
SELECT a.ts::timestamptz, b.ts::timestamptz FROM rrel a LEFT JOIN rrel b ON a.id = b.id + 1 ORDER BY a.id
SELECT coalesce(ts::timestamptz, tz), CASE WHEN id > 1 THEN ts::timestamptz END FROM rrel ORDER BY id
SELECT ARRAY[ts::timestamptz, tz], ts::timestamptz::text, (ts::timestamptz)::date FROM rrel ORDER BY id
WITH q AS MATERIALIZED (SELECT ts::timestamptz AS x, id FROM rrel) SELECT a.x, b.x FROM q a JOIN q b USING (id) ORDER BY id
SELECT v.x::timestamptz FROM (VALUES (timestamp '2020-01-01'), (NULL)) v(x) ORDER BY 1
SELECT x::timestamptz FROM unnest(ARRAY[timestamp '2020-01-01']) x
SELECT l.x FROM rrel r, LATERAL (SELECT r.ts::timestamptz AS x) l ORDER BY 1
SELECT t::bpchar, count(*) FROM (VALUES ('a'), ('a '), ('b')) v(t) GROUP BY t::bpchar ORDER BY 1, 2
SELECT count(DISTINCT t::bpchar), count(DISTINCT t) FROM (VALUES ('a'), ('a '), ('b')) v(t)
SELECT count(*) FROM rrel a JOIN rrel b ON a.t::bpchar = b.t::bpchar
SELECT a.id, b.id FROM rrel a JOIN rrel b ON a.t::bpchar = b.t ORDER BY 1, 2
SELECT id FROM rrel WHERE t::bpchar IN ('a', 'z') ORDER BY 1
SELECT id FROM rrel WHERE t::bpchar IN (SELECT t::bpchar FROM rrel WHERE id = 1) ORDER BY 1
SELECT id FROM rrel a WHERE EXISTS (SELECT 1 FROM rrel b WHERE b.t::bpchar = a.t::bpchar AND b.id <> a.id) ORDER BY 1
SELECT rank() OVER (ORDER BY t::bpchar), count(*) OVER (PARTITION BY t::bpchar) FROM rrel ORDER BY id
SELECT t::bpchar FROM rrel UNION SELECT 'a'::bpchar ORDER BY 1
SELECT t::bpchar FROM rrel INTERSECT SELECT 'a'::bpchar
SELECT id FROM rrel ORDER BY t::bpchar, id DESC
SELECT t::bpchar = 'a   ', t = 'a   ', greatest(t::bpchar, 'a'), nullif(t::bpchar, 'a') IS NULL FROM rrel ORDER BY id
UPDATE rrel SET tz = ts RETURNING tz, ts::timestamptz
INSERT INTO rrel (id, tz) SELECT id + 10, ts FROM rrel RETURNING tz
-- varchar beside char(n)
SELECT f = c, c = f, t = c, c = t, f < c, c <= f, f <> c, c > f FROM rbp
SELECT f IN (c), f IN (c, 'x'), c IN (f), c IN (f, 'x'), t IN (c), t IN (c,'x'), c IN (t), c IN (t,'x') FROM rbp
SELECT f IN (SELECT c FROM rbp), c IN (SELECT f FROM rbp), t IN (SELECT c FROM rbp), c IN (SELECT t FROM rbp) FROM rbp
SELECT f NOT IN (SELECT c FROM rbp), c NOT IN (SELECT t FROM rbp WHERE t <> 'a'), f = ALL (SELECT c FROM rbp) FROM rbp
SELECT (SELECT count(*) FROM rbp x JOIN rbp y ON x.f = y.c), (SELECT count(*) FROM rbp x JOIN rbp y ON y.c = x.f), (SELECT count(*) FROM rbp x JOIN rbp y ON x.t = y.c)
SELECT count(*) FROM rbp x JOIN (SELECT c AS f FROM rbp) y USING (f)
SELECT count(*) FROM (SELECT c AS f FROM rbp) y NATURAL JOIN (SELECT f FROM rbp) x
SELECT count(*) FROM rbp x WHERE EXISTS (SELECT 1 FROM rbp y WHERE y.c = x.f)
SELECT count(*) FROM rbp x WHERE NOT EXISTS (SELECT 1 FROM rbp y WHERE y.c = x.f)
SELECT f IS DISTINCT FROM c, c IS NOT DISTINCT FROM f, nullif(f, c), nullif(c, f), nullif(c, t), nullif(t, c) FROM rbp
SELECT CASE f WHEN c THEN 1 ELSE 0 END, CASE c WHEN f THEN 1 ELSE 0 END, f BETWEEN c AND c, c = ANY (ARRAY[f]), f = ANY (ARRAY[c]), c = ANY ('{a }'::varchar[]), f = ANY ('{a}'::char(3)[]), f <> ALL (ARRAY[c]) FROM rbp
SELECT x.f, y.c, z.f FROM rbp x JOIN rbp y ON x.f = y.c JOIN rbp z ON y.c = z.f WHERE x.f = 'a' ORDER BY 1, 2, 3
SELECT k.c, r.f FROM rbpk k JOIN rbp r ON k.c = r.f ORDER BY 1, 2
SELECT k.v, r.c FROM rbpv k JOIN rbp r ON k.v = r.c ORDER BY 1, 2
SELECT * FROM rbpv WHERE v = 'a'::char(3) ORDER BY 1
SELECT * FROM rbpk WHERE c = 'a  '::varchar ORDER BY 1
SELECT x.f, count(*) FROM rbp x JOIN rbpk k ON x.f = k.c GROUP BY x.f ORDER BY 1
SELECT x.f, k.c, count(*) FROM rbpk k JOIN rbp x ON k.c = x.f GROUP BY x.f, k.c ORDER BY 1, 2
INSERT INTO rtext VALUES (9, 'z') RETURNING id::text, upper(s), s || 'x', (SELECT 1), CASE WHEN true THEN s END, coalesce(s, 'x'), id + 1, s::varchar(1)
