-- casts to text
CREATE TABLE fl (i int PRIMARY KEY, d float8, r float4, ad float8[], ar float4[], t text DEFAULT (1::float8 / 3)::text)
INSERT INTO fl VALUES (1, 1::float8 / 3, 1::float4 / 3, ARRAY[0.1::float8 + 0.2, 1e300, -0.0], ARRAY[0.1::float4, 16777216]), (2, 1e23, 1e-10, '{NaN,Infinity,-Infinity}', '{}'), (3, '-0', 'NaN', '{123456789012345680,1e-5}', '{3.4e38,1.1}'), (4, 2.2250738585072014e-308, 3.4028235e38, NULL, NULL), (5, 100, 123456792, '{100000,999999.96}', '{NULL}')
SELECT * FROM fl ORDER BY i
SHOW extra_float_digits
SET extra_float_digits = 0
SELECT * FROM fl ORDER BY i
SELECT d::text, r::text, ad::text, ar::text, d::varchar(5), r::char(8) FROM fl ORDER BY i
SELECT d || 'x', 'x' || r, concat(d, r, ad), concat_ws(d::text, r, i, d), format('%s %L %10s', d, r, ad), quote_literal(d), quote_nullable(r) FROM fl ORDER BY i
SELECT array_to_string(ad, ','), ad::text[], ar::float8[]::text, string_agg(d::text, ';') OVER (ORDER BY i) FROM fl ORDER BY i
SELECT to_json(d), to_jsonb(r), json_build_object(d, r), jsonb_build_array(ad, ar), to_json(ad), array_to_json(ar) FROM fl WHERE i NOT IN (2, 3) ORDER BY i
SELECT json_agg(d ORDER BY i), jsonb_agg(r ORDER BY i), json_object_agg(i, d ORDER BY i), array_agg(r ORDER BY i), string_agg(r::text, ',' ORDER BY i) FROM fl WHERE i NOT IN (2, 3)
SELECT avg(d), sum(r), stddev(d), corr(i, r), percentile_cont(0.3) WITHIN GROUP (ORDER BY i) FROM fl WHERE i IN (1, 5)
SELECT random()::text = random()::text, length((1::float8 / 3)::text), 0.1::float8::text, (0.1::float4)::text, 1e15::float8::text, 1e6::float4::text
-- digits as 15 and 6 and fewer
SET extra_float_digits = -3
SELECT d, r, ad, ar, d::text, to_json(r) FROM fl WHERE i <> 2 ORDER BY i
SET extra_float_digits = -5
SELECT d, r, ad, ar FROM fl ORDER BY i
SET extra_float_digits = -6
SELECT d, r FROM fl ORDER BY i
SET extra_float_digits = -15
SELECT d, r, ad, ar FROM fl ORDER BY i
SELECT d::text, r::text FROM fl ORDER BY i
SET extra_float_digits = -14
SELECT d, r FROM fl ORDER BY i
SET extra_float_digits = 2
SELECT d, r FROM fl ORDER BY i
SET extra_float_digits = 3
SELECT d, r FROM fl ORDER BY i
-- the setting
SET extra_float_digits = 4
SET extra_float_digits = -16
SET extra_float_digits = 'abc'
SET extra_float_digits = ''
SET extra_float_digits = '-2'
SHOW extra_float_digits
SELECT setting, boot_val, min_val, max_val, vartype, context FROM pg_settings WHERE name = 'extra_float_digits'
SELECT current_setting('extra_float_digits'), set_config('extra_float_digits', '-7', false)
SHOW extra_float_digits
SELECT d FROM fl WHERE i = 1
RESET extra_float_digits
SHOW extra_float_digits
SELECT d FROM fl WHERE i = 1
SET extra_float_digits TO DEFAULT
BEGIN
SET LOCAL extra_float_digits = -10
SELECT d, d::text FROM fl WHERE i = 1
SAVEPOINT a
SET LOCAL extra_float_digits = -2
SELECT d, d::text FROM fl WHERE i = 1
ROLLBACK TO a
SELECT d, d::text FROM fl WHERE i = 1
COMMIT
SELECT d, d::text FROM fl WHERE i = 1
BEGIN
SET extra_float_digits = -10
SELECT d FROM fl WHERE i = 1
ROLLBACK
SELECT d FROM fl WHERE i = 1
-- plans that are kept, constants, views, cursors
PREPARE p AS SELECT d, d::text, r FROM fl WHERE i = $1
EXECUTE p(1)
SET extra_float_digits = -4
EXECUTE p(1)
CREATE VIEW flv AS SELECT i, d::text AS dt, concat(r) AS rt FROM fl
SELECT * FROM flv ORDER BY i
RESET extra_float_digits
EXECUTE p(1)
SELECT * FROM flv ORDER BY i
INSERT INTO fl (i) VALUES (6)
SET extra_float_digits = -10
INSERT INTO fl (i) VALUES (7)
RESET extra_float_digits
SELECT i, t FROM fl WHERE i > 5 ORDER BY i
BEGIN
DECLARE c CURSOR FOR SELECT d, r FROM fl WHERE i < 6 ORDER BY i
FETCH 1 FROM c
SET extra_float_digits = -8
FETCH 1 FROM c
FETCH ALL FROM c
COMMIT
RESET extra_float_digits
DEALLOCATE p
SELECT i FROM fl WHERE d::text = '0.3333333333333333' ORDER BY i
SET extra_float_digits = 0
SELECT i FROM fl WHERE d::text = '0.3333333333333333' ORDER BY i
SELECT i FROM fl WHERE d::text = (1::float8 / 3)::text ORDER BY i
SELECT i FROM fl WHERE t = (1::float8 / 3)::text ORDER BY i
SELECT DISTINCT d::text FROM (VALUES (1::float8 / 3), (0.3333333333333330::float8)) x(d)
UPDATE fl SET t = d WHERE i = 1 RETURNING t, d
SELECT CASE WHEN i > 0 THEN (2::float8 / 3)::text END, (2::float4 / 3)::text || i FROM fl WHERE i = 1
-- COPY and messages
COPY (SELECT d, r, ad FROM fl WHERE i < 6 ORDER BY i) TO STDOUT
COPY (SELECT d, r FROM fl WHERE i < 6 ORDER BY i) TO STDOUT (FORMAT csv)
CREATE TABLE flk (d float8 PRIMARY KEY, r float4 CHECK (r < 1000), UNIQUE (r))
INSERT INTO flk VALUES (1::float8 / 3, 1::float4 / 3)
INSERT INTO flk VALUES (1::float8 / 3, 2)
INSERT INTO flk VALUES (2::float8 / 3, 1000.0001)
INSERT INTO flk VALUES (2::float8 / 3, 1::float4 / 3)
CREATE TABLE flf (d float8 REFERENCES flk)
INSERT INTO flf VALUES (2::float8 / 3)
INSERT INTO flf VALUES (1::float8 / 3)
DELETE FROM flk
RESET extra_float_digits
INSERT INTO flf VALUES (2::float8 / 3)
SELECT d, d::numeric, r::numeric, d::text::float8 = d FROM fl WHERE i < 6 AND i <> 2 ORDER BY i
DROP TABLE flf, flk
DROP VIEW flv
DROP TABLE fl
