-- functions
SELECT format('%s and %s', 1, 2.50), format('%2$s %1$s', 'a', 'b'), format('%I %L', 'a b', 'it''s'), format('[%10s] [%-10s]', 'x', 'y'), format('%%'), format('%L', NULL)
SELECT format('%s', NULL), format(NULL, 1), format('%s %s', 1)
SELECT format('%3$s', 1)
SELECT format('%x', 1)
SELECT format('%', 1)
SELECT format('%I', NULL)
SELECT format('%0$s', 1)
SELECT format('%*s|%s', 5, 'a', 'b'), format('%-*s|', 4, 'z'), format('%*2$s', 'a', 4)
SELECT format('%1$*2$s|', 'a', 4), format('%*s|', -4, 'z'), format('%*s|', NULL, 'z')
SELECT format('%99999999999s', 1)
SELECT format('%s', true), format('%s', DATE '2020-01-01')
SELECT format(1)
SELECT format('plain')
SELECT quote_ident('select'), quote_ident('abc'), quote_ident('Abc'), quote_ident(''), quote_ident('a"b'), quote_ident('name'), quote_ident('int'), quote_ident('between'), quote_ident('1a'), quote_ident('über')
SELECT quote_literal(1), quote_literal(1.5), quote_literal('x'), quote_nullable(NULL), quote_nullable(5), quote_literal(true)
SELECT quote_literal()
SELECT quote_literal(1, 2)
SELECT encode('\x616263'::bytea, 'base64'), encode('\x61'::bytea, 'base64'), encode(''::bytea, 'base64'), encode('\x6162'::bytea, 'base64'), encode(repeat('abc', 30)::bytea, 'base64')
SELECT decode('YWJj', 'base64'), decode('YQ==', 'base64'), decode(' Y W I = ', 'base64')
SELECT decode('YQ=', 'base64')
SELECT decode('Y=Q=', 'base64')
SELECT decode('Y$==', 'base64')
SELECT decode('YWJjZ', 'base64')
SELECT encode('\x00ff5c61'::bytea, 'escape'), decode('a\\b\001', 'escape')
SELECT decode('a\x', 'escape')
SELECT encode('\x00', 'nope')
SELECT sha224('abc'), sha384('abc'), sha256('abc'), sha512('abc'), md5('abc')
SELECT btrim('\x000100'::bytea, '\x00'), ltrim('\x000100'::bytea, '\x00'), rtrim('\x000100'::bytea, '\x00')
SELECT overlay('\x01020304'::bytea placing '\xffff' from 2), overlay('\x01020304'::bytea placing '\xff' from 2 for 3)
SELECT convert_from('\xc3bc', 'UTF8'), convert_to('ü', 'utf-8')
SELECT unistr('\0041bc'), unistr('d\u0061t\+000061'), unistr('\\x'), unistr('\U0001F600'), unistr('\d83d\de00')
SELECT unistr('\00')
SELECT unistr('\d83d')
SELECT num_nulls(1, NULL, 'x'), num_nonnulls(1, NULL, NULL::int), num_nulls(NULL)
SELECT num_nulls()
SELECT sind(30), cosd(60), tand(45), cotd(45), asind(0.5), acosd(0.5), atand(1), atan2d(1, 1), sind(-390), cosd(300), tand(135), sind('NaN')
SELECT asind(2)
SELECT sind('infinity')
SELECT factorial(0), factorial(1), factorial(20), factorial(25), factorial(100)
SELECT factorial(-1)
SELECT factorial(40000)
SELECT length(factorial(5000)::text), md5(factorial(2000)::text)
SELECT min_scale(1.500), min_scale(100), trim_scale(1.500), trim_scale(100.000), min_scale('NaN'), trim_scale(0.00)
SELECT gcd(12.5, 5), gcd(0.0, 5), lcm(2.5, 4), lcm(0, 1.5), gcd('NaN', 1.0), lcm(10.00, 4)
SELECT width_bucket(5, 0, 10, 5), width_bucket(5.0, 10, 0, 5), width_bucket(-1, 0, 10, 5), width_bucket(10, 0, 10, 5), width_bucket(3.5::float8, 3, 9, 5), width_bucket(5.35, 0.024, 10.06, 5)
SELECT width_bucket(5, 0, 0, 5)
SELECT width_bucket(5, 0, 10, 0)
SELECT width_bucket('NaN'::float8, 0, 10, 5)
SELECT width_bucket(5, 0, 'Infinity'::numeric, 5)
SELECT width_bucket(10, 0, 10, 2147483647)
SELECT |/ 25.0, ||/ 27.0, @ -5
SELECT setseed(0.5)
SELECT setseed(0.25)
SELECT setseed(2)
SELECT pg_typeof(1), pg_typeof('a'::text), pg_typeof(1.5), pg_typeof(now()), pg_typeof(true)
SELECT pg_size_pretty(10::bigint), pg_size_pretty(10239::bigint), pg_size_pretty(10240::bigint), pg_size_pretty(123456789::bigint), pg_size_pretty(-99999999999::bigint), pg_size_pretty(9223372036854775807)
SELECT current_setting('nope')
SELECT current_setting('nope', true), current_setting('timezone')
SELECT current_schema, current_schema()
SELECT get_bit('\x1234'::bytea, 2), set_bit('\x1234'::bytea, 0, 1), bit_count('\x1234ff'::bytea)
SELECT get_bit('\x12'::bytea, 8)
SELECT set_bit('\x12'::bytea, 0, 2)
SELECT random(), random(), random() < 1
-- grouping sets
CREATE TABLE s (a int, b text, c int, v numeric)
INSERT INTO s VALUES (1,'x',10,1.5),(1,'y',20,2.5),(2,'x',10,NULL),(2,NULL,30,4),(NULL,'x',10,5),(1,'x',20,7)
SELECT a, b, sum(v), count(*) FROM s GROUP BY ROLLUP (a, b) ORDER BY 1, 2, 3, 4
SELECT a, b, sum(v), grouping(a), grouping(b), grouping(a, b) FROM s GROUP BY CUBE (a, b) ORDER BY 6, 1, 2
SELECT a, b, count(*) FROM s GROUP BY GROUPING SETS ((a), (b), ()) ORDER BY 1, 2, 3
SELECT a, b, count(*) FROM s GROUP BY GROUPING SETS ((a), (a), (b)) ORDER BY 1, 2
SELECT a, b, count(*) FROM s GROUP BY DISTINCT ROLLUP (a), ROLLUP (a, b) ORDER BY 1, 2, 3
SELECT a, b, count(*) FROM s GROUP BY ROLLUP (a), ROLLUP (a, b) ORDER BY 1, 2, 3
SELECT a, c, count(*) FROM s GROUP BY a, ROLLUP (c) ORDER BY 1, 2
SELECT a, b, c, count(*) FROM s GROUP BY ROLLUP ((a, b), c) ORDER BY 1, 2, 3
SELECT a, b, c, count(*) FROM s GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (c)) ORDER BY 1, 2, 3
SELECT a + 1 AS x, sum(c) FROM s GROUP BY ROLLUP (x) ORDER BY 1, 2
SELECT a, sum(c) FROM s GROUP BY ROLLUP (1) ORDER BY 1, 2
SELECT a, sum(v), grouping(a) FROM s WHERE false GROUP BY ROLLUP (a)
SELECT a, sum(v) FROM s WHERE false GROUP BY GROUPING SETS ((), (a), ())
SELECT count(*) FROM s WHERE false GROUP BY GROUPING SETS (())
SELECT count(*) FROM s GROUP BY ()
SELECT count(*) FROM s GROUP BY GROUPING SETS ((), ())
SELECT 1 FROM s GROUP BY ()
SELECT a, b, count(*) FROM s GROUP BY ROLLUP (a, b) HAVING grouping(b) = 1 ORDER BY 1, 2, 3
SELECT a, count(*) FROM s GROUP BY CUBE (a) ORDER BY grouping(a) DESC, a
SELECT grouping(b) FROM s GROUP BY a
SELECT grouping(a) FROM s
SELECT a FROM s WHERE grouping(a) = 0
SELECT grouping(a) FROM s GROUP BY a ORDER BY 1
SELECT a, b FROM s GROUP BY ROLLUP (a)
SELECT a, count(DISTINCT b), string_agg(b, ',' ORDER BY b) FROM s GROUP BY ROLLUP (a) ORDER BY 1, 2
SELECT a, count(*) FILTER (WHERE c > 10), sum(a) FROM s GROUP BY ROLLUP (a) ORDER BY 1, 2
SELECT a, sum(c), rank() OVER (PARTITION BY grouping(a) ORDER BY sum(c)) FROM s GROUP BY ROLLUP (a) ORDER BY 1, 2
SELECT a, b, sum(c) FROM s GROUP BY CUBE (a, b, c, v) ORDER BY 1, 2, 3 LIMIT 7
SELECT a FROM s GROUP BY CUBE (a, b, c, v, 1+a, 2+a, 3+a, 4+a, 5+a, 6+a, 7+a, 8+a, 9+a)
SELECT (SELECT sum(x.c) FROM s x WHERE x.a = s.a), a FROM s GROUP BY ROLLUP (a) ORDER BY 2, 1
SELECT DISTINCT a FROM s GROUP BY CUBE (a, b) ORDER BY 1
SELECT a, count(*) FROM s GROUP BY (a, b), c ORDER BY 1, 2
SELECT coalesce(a, -1), sum(c) FROM s GROUP BY ROLLUP (a) UNION ALL SELECT 99, 0 ORDER BY 1, 2
CREATE TABLE p (id int PRIMARY KEY, n text, q int)
INSERT INTO p VALUES (1, 'one', 5), (2, 'two', 6)
SELECT id, n, sum(q) FROM p GROUP BY id, ROLLUP (q) ORDER BY 1, 2, 3
SELECT id, n, sum(q) FROM p GROUP BY ROLLUP (id)
SELECT * FROM (SELECT a, sum(c) AS t FROM s GROUP BY ROLLUP (a)) z WHERE a IS NULL ORDER BY t
SELECT sum(grouping(a)) FROM s GROUP BY a
SELECT a, b, grouping(b, a) FROM s GROUP BY GROUPING SETS ((a, b), a, b) ORDER BY 3, 1, 2
SELECT a FROM s GROUP BY GROUPING SETS (a, count(*))
-- numerics in order
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010)) q ORDER BY x
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010)) q ORDER BY x DESC
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010)) q ORDER BY x NULLS FIRST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010)) q ORDER BY x DESC NULLS LAST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (9223372036854775807), (9223372036854775806), (-9223372036854775808)) q ORDER BY x
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (9223372036854775807), (9223372036854775806), (-9223372036854775808)) q ORDER BY x DESC
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (9223372036854775807), (9223372036854775806), (-9223372036854775808)) q ORDER BY x NULLS FIRST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (9223372036854775807), (9223372036854775806), (-9223372036854775808)) q ORDER BY x DESC NULLS LAST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (92233720368547758.07), (-92233720368547758.08)) q ORDER BY x
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (92233720368547758.07), (-92233720368547758.08)) q ORDER BY x DESC
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (92233720368547758.07), (-92233720368547758.08)) q ORDER BY x NULLS FIRST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (92233720368547758.07), (-92233720368547758.08)) q ORDER BY x DESC NULLS LAST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (1e40), (-1e40), (1e-30)) q ORDER BY x
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (1e40), (-1e40), (1e-30)) q ORDER BY x DESC
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (1e40), (-1e40), (1e-30)) q ORDER BY x NULLS FIRST
SELECT x FROM (SELECT round((k * 7919 % 1000 - 500)::numeric / 8, 2) AS x FROM generate_series(1, 100) k UNION ALL VALUES ('NaN'::numeric), ('Infinity'), ('-Infinity'), (NULL), (0), (-0.01), (0.010), (1e40), (-1e40), (1e-30)) q ORDER BY x DESC NULLS LAST
-- distinct aggregates
CREATE TABLE da (g int, i int, l bigint, n numeric(8,2), m numeric, f float8, t text, c char(5), d date, b boolean, v interval)
INSERT INTO da SELECT nullif(k % 4, 3), k % 7, k % 5 * 4000000000, k % 6 * 0.25, k % 6, k % 3 * 0.5, 't' || k % 8, 'c' || k % 2, date '2024-01-01' + k % 9, k % 2 = 0, k % 4 * interval '1 hour' FROM generate_series(1, 500) k
INSERT INTO da VALUES (9), (NULL), (8, 1, 1, 'NaN', 'NaN', 'NaN', '', '', '2024-01-01', true, '1 day'), (8, 1, 1, 'NaN', 1, '-0', '', ' ', '2024-01-01', true, '24 hours')
SELECT count(DISTINCT g), count(DISTINCT i), count(DISTINCT l), count(DISTINCT n), count(DISTINCT m), count(DISTINCT f), count(DISTINCT t), count(DISTINCT c), count(DISTINCT d), count(DISTINCT b), count(DISTINCT v) FROM da
SELECT g, count(DISTINCT i), count(DISTINCT l), count(DISTINCT n), count(DISTINCT m), count(DISTINCT f), count(DISTINCT t), count(DISTINCT c), count(DISTINCT d), count(DISTINCT b), count(DISTINCT v), count(*) FROM da GROUP BY g ORDER BY g
SELECT g, sum(DISTINCT i), sum(DISTINCT l), sum(DISTINCT n), sum(DISTINCT m), sum(DISTINCT f), avg(DISTINCT i), avg(DISTINCT l), avg(DISTINCT n), sum(i), sum(n) FROM da GROUP BY g ORDER BY g
SELECT var_pop(DISTINCT i), stddev(DISTINCT l), var_samp(DISTINCT i), bit_xor(DISTINCT i), bit_and(DISTINCT i), max(DISTINCT t), min(DISTINCT n), bool_or(DISTINCT b) FROM da WHERE g < 8
SELECT t, var_pop(DISTINCT n), stddev_samp(DISTINCT n), avg(DISTINCT m) FROM da WHERE g < 8 GROUP BY t ORDER BY t
SELECT b, count(DISTINCT t) FILTER (WHERE i > 2), sum(DISTINCT i) FILTER (WHERE i > 100), count(DISTINCT i ORDER BY i DESC) FROM da GROUP BY b ORDER BY b
SELECT count(DISTINCT i), sum(DISTINCT i), avg(DISTINCT n), var_pop(DISTINCT i) FROM da WHERE i < 0
SELECT g, count(DISTINCT i), sum(DISTINCT n) FROM da WHERE i < 0 GROUP BY g
SELECT g, b, count(DISTINCT t), sum(DISTINCT n), count(*) FROM da GROUP BY CUBE (g, b) ORDER BY grouping(g, b), g, b
SELECT g, count(DISTINCT t), string_agg(DISTINCT t, ',' ORDER BY t), count(i) FROM da GROUP BY g ORDER BY g
SELECT g, count(DISTINCT ARRAY[i, g]), count(DISTINCT i + 1), sum(DISTINCT i % 3) FROM da GROUP BY g HAVING count(DISTINCT i) > 1 ORDER BY g
-- to_char, to_date, to_number
SELECT to_char(DATE '12345-12-31', 'YYYY-MM-DD')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'YYYY-MM-DD')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'YYYY-MM-DD')
SELECT to_char(TIMESTAMP 'infinity', 'YYYY-MM-DD')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'YYYY-MM-DD')
SELECT to_char(interval '3 mons -2 days', 'YYYY-MM-DD')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'DD/MM/YY')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'DD/MM/YY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'DD/MM/YY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'DD/MM/YY')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'DD/MM/YY')
SELECT to_char(interval '100 hours', 'DD/MM/YY')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'HH24:MI:SS')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'HH24:MI:SS')
SELECT to_char(TIMESTAMP 'infinity', 'HH24:MI:SS')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'HH24:MI:SS')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'HH24:MI:SS')
SELECT to_char(interval '12 months', 'HH24:MI:SS')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'HH12:MI AM')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'HH12:MI AM')
SELECT to_char(DATE '12345-12-31', 'HH12:MI AM')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'HH12:MI AM')
SELECT to_char(interval '12 months', 'HH12:MI AM')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'HH12:MI AM')
SELECT to_char(TIMESTAMP 'infinity', 'Month')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'Month')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'Month')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'Month')
SELECT to_char(interval '999 years', 'Month')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'Month')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMMonth DD, YYYY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'FMMonth DD, YYYY')
SELECT to_char(DATE '2022-01-02', 'FMMonth DD, YYYY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'FMMonth DD, YYYY')
SELECT to_char(interval '0', 'FMMonth DD, YYYY')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'FMMonth DD, YYYY')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'Mon')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'Mon')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'Mon')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'Mon')
SELECT to_char(interval '0', 'Mon')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'Mon')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'MON')
SELECT to_char(TIMESTAMP 'infinity', 'MON')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'MON')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'MON')
SELECT to_char(interval '-25:00:00', 'MON')
SELECT to_char(interval '0', 'MON')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'mon')
SELECT to_char(DATE '12345-12-31', 'mon')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'mon')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'mon')
SELECT to_char(interval '-25:00:00', 'mon')
SELECT to_char(interval '100 hours', 'mon')
SELECT to_char(DATE '12345-12-31', 'Day')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'Day')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'Day')
SELECT to_char(DATE '2022-01-02', 'Day')
SELECT to_char(interval '12 months', 'Day')
SELECT to_char(interval '100 hours', 'Day')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FMDay')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'FMDay')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FMDay')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'FMDay')
SELECT to_char(interval '999 years', 'FMDay')
SELECT to_char(interval '0', 'FMDay')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'DY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'DY')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'DY')
SELECT to_char(DATE '2022-01-02', 'DY')
SELECT to_char(interval '-25:00:00', 'DY')
SELECT to_char(interval '3 mons -2 days', 'DY')
SELECT to_char(TIMESTAMP 'infinity', 'Dy')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'Dy')
SELECT to_char(DATE '12345-12-31', 'Dy')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'Dy')
SELECT to_char(interval '3 mons -2 days', 'Dy')
SELECT to_char(interval '12 months', 'Dy')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'D')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'D')
SELECT to_char(DATE '12345-12-31', 'D')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'D')
SELECT to_char(interval '100 hours', 'D')
SELECT to_char(interval '12 months', 'D')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'DDD')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'DDD')
SELECT to_char(DATE '12345-12-31', 'DDD')
SELECT to_char(TIMESTAMP 'infinity', 'DDD')
SELECT to_char(interval '999 years', 'DDD')
SELECT to_char(interval '100 hours', 'DDD')
SELECT to_char(DATE '2022-01-02', 'WW')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'WW')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'WW')
SELECT to_char(TIMESTAMP 'infinity', 'WW')
SELECT to_char(interval '999 years', 'WW')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'WW')
SELECT to_char(DATE '12345-12-31', 'IW')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'IW')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'IW')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'IW')
SELECT to_char(interval '3 mons -2 days', 'IW')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'IW')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'IYYY')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'IYYY')
SELECT to_char(DATE '2022-01-02', 'IYYY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'IYYY')
SELECT to_char(interval '-25:00:00', 'IYYY')
SELECT to_char(interval '100 hours', 'IYYY')
SELECT to_char(DATE '2022-01-02', 'ID')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'ID')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'ID')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'ID')
SELECT to_char(interval '-25:00:00', 'ID')
SELECT to_char(interval '100 hours', 'ID')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'IDDD')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'IDDD')
SELECT to_char(DATE '12345-12-31', 'IDDD')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'IDDD')
SELECT to_char(interval '12 months', 'IDDD')
SELECT to_char(interval '0', 'IDDD')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'Q')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'Q')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'Q')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'Q')
SELECT to_char(interval '3 mons -2 days', 'Q')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'Q')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'J')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'J')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'J')
SELECT to_char(DATE '12345-12-31', 'J')
SELECT to_char(interval '3 mons -2 days', 'J')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'J')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'CC')
SELECT to_char(DATE '12345-12-31', 'CC')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'CC')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'CC')
SELECT to_char(interval '0', 'CC')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'CC')
SELECT to_char(DATE '12345-12-31', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(TIMESTAMP 'infinity', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(interval '100 hours', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(interval '0', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'US')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'US')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'US')
SELECT to_char(TIMESTAMP 'infinity', 'US')
SELECT to_char(interval '3 mons -2 days', 'US')
SELECT to_char(interval '100 hours', 'US')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'SSSS')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'SSSS')
SELECT to_char(DATE '12345-12-31', 'SSSS')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'SSSS')
SELECT to_char(interval '999 years', 'SSSS')
SELECT to_char(interval '0', 'SSSS')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', '"Year: "YYYY')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', '"Year: "YYYY')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', '"Year: "YYYY')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', '"Year: "YYYY')
SELECT to_char(interval '999 years', '"Year: "YYYY')
SELECT to_char(interval '0', '"Year: "YYYY')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'Y,YYY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'Y,YYY')
SELECT to_char(TIMESTAMP 'infinity', 'Y,YYY')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'Y,YYY')
SELECT to_char(interval '100 hours', 'Y,YYY')
SELECT to_char(interval '-25:00:00', 'Y,YYY')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'RM')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'RM')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'RM')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'RM')
SELECT to_char(interval '999 years', 'RM')
SELECT to_char(interval '100 hours', 'RM')
SELECT to_char(DATE '2022-01-02', 'rm')
SELECT to_char(DATE '12345-12-31', 'rm')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'rm')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'rm')
SELECT to_char(interval '-25:00:00', 'rm')
SELECT to_char(interval '999 years', 'rm')
SELECT to_char(DATE '12345-12-31', 'FMRM')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'FMRM')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FMRM')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMRM')
SELECT to_char(interval '12 months', 'FMRM')
SELECT to_char(interval '3 mons -2 days', 'FMRM')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'FMDDth')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FMDDth')
SELECT to_char(DATE '2022-01-02', 'FMDDth')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMDDth')
SELECT to_char(interval '100 hours', 'FMDDth')
SELECT to_char(interval '12 months', 'FMDDth')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'DDTH')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'DDTH')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'DDTH')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'DDTH')
SELECT to_char(interval '12 months', 'DDTH')
SELECT to_char(interval '0', 'DDTH')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'a.m.')
SELECT to_char(DATE '2022-01-02', 'a.m.')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'a.m.')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'a.m.')
SELECT to_char(interval '12 months', 'a.m.')
SELECT to_char(interval '-25:00:00', 'a.m.')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'P.M.')
SELECT to_char(TIMESTAMP 'infinity', 'P.M.')
SELECT to_char(DATE '12345-12-31', 'P.M.')
SELECT to_char(DATE '2022-01-02', 'P.M.')
SELECT to_char(interval '100 hours', 'P.M.')
SELECT to_char(interval '3 mons -2 days', 'P.M.')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'HH:MI:SS pm')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'HH:MI:SS pm')
SELECT to_char(DATE '2022-01-02', 'HH:MI:SS pm')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'HH:MI:SS pm')
SELECT to_char(interval '100 hours', 'HH:MI:SS pm')
SELECT to_char(interval '12 months', 'HH:MI:SS pm')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'YYYYMMDD')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'YYYYMMDD')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'YYYYMMDD')
SELECT to_char(TIMESTAMP 'infinity', 'YYYYMMDD')
SELECT to_char(interval '999 years', 'YYYYMMDD')
SELECT to_char(interval '100 hours', 'YYYYMMDD')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', '"it is" DD')
SELECT to_char(TIMESTAMP 'infinity', '"it is" DD')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', '"it is" DD')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', '"it is" DD')
SELECT to_char(interval '3 mons -2 days', '"it is" DD')
SELECT to_char(interval '100 hours', '"it is" DD')
SELECT to_char(DATE '12345-12-31', 'YYY Y')
SELECT to_char(DATE '2022-01-02', 'YYY Y')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'YYY Y')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'YYY Y')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'YYY Y')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'YYY Y')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'MONTH')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'MONTH')
SELECT to_char(DATE '12345-12-31', 'MONTH')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'MONTH')
SELECT to_char(interval '100 hours', 'MONTH')
SELECT to_char(interval '-25:00:00', 'MONTH')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'month')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'month')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'month')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'month')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'month')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'month')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'DAY')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'DAY')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'DAY')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'DAY')
SELECT to_char(interval '0', 'DAY')
SELECT to_char(interval '12 months', 'DAY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'day')
SELECT to_char(TIMESTAMP 'infinity', 'day')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'day')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'day')
SELECT to_char(interval '3 mons -2 days', 'day')
SELECT to_char(interval '-25:00:00', 'day')
SELECT to_char(DATE '12345-12-31', 'FF3')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'FF3')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'FF3')
SELECT to_char(DATE '2022-01-02', 'FF3')
SELECT to_char(interval '-25:00:00', 'FF3')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'FF3')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(TIMESTAMP 'infinity', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(DATE '2022-01-02', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(interval '3 mons -2 days', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(interval '999 years', 'FF1 FF2 FF4 FF5 FF6')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'IYY IY I')
SELECT to_char(DATE '2022-01-02', 'IYY IY I')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'IYY IY I')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'IYY IY I')
SELECT to_char(interval '12 months', 'IYY IY I')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'IYY IY I')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'BC')
SELECT to_char(DATE '2022-01-02', 'BC')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'BC')
SELECT to_char(DATE '12345-12-31', 'BC')
SELECT to_char(interval '12 months', 'BC')
SELECT to_char(interval '100 hours', 'BC')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'b.c.')
SELECT to_char(TIMESTAMP 'infinity', 'b.c.')
SELECT to_char(DATE '2022-01-02', 'b.c.')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'b.c.')
SELECT to_char(interval '-25:00:00', 'b.c.')
SELECT to_char(interval '0', 'b.c.')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'A.D.')
SELECT to_char(DATE '12345-12-31', 'A.D.')
SELECT to_char(TIMESTAMP 'infinity', 'A.D.')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'A.D.')
SELECT to_char(interval '999 years', 'A.D.')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'A.D.')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMHH24:FMMI')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'FMHH24:FMMI')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FMHH24:FMMI')
SELECT to_char(TIMESTAMP 'infinity', 'FMHH24:FMMI')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'FMHH24:FMMI')
SELECT to_char(interval '0', 'FMHH24:FMMI')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'W')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'W')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'W')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'W')
SELECT to_char(interval '3 mons -2 days', 'W')
SELECT to_char(interval '0', 'W')
SELECT to_char(TIMESTAMP 'infinity', 'TZ')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'TZ')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'TZ')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'TZ')
SELECT to_char(interval '999 years', 'TZ')
SELECT to_char(interval '-25:00:00', 'TZ')
SELECT to_char(TIMESTAMP 'infinity', 'tz')
SELECT to_char(DATE '12345-12-31', 'tz')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'tz')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'tz')
SELECT to_char(interval '12 months', 'tz')
SELECT to_char(interval '-25:00:00', 'tz')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'OF')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'OF')
SELECT to_char(DATE '12345-12-31', 'OF')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'OF')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'OF')
SELECT to_char(interval '100 hours', 'OF')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'TZH:TZM')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'TZH:TZM')
SELECT to_char(DATE '12345-12-31', 'TZH:TZM')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'TZH:TZM')
SELECT to_char(interval '999 years', 'TZH:TZM')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'TZH:TZM')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'FMOF')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'FMOF')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'FMOF')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMOF')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'FMOF')
SELECT to_char(interval '3 mons -2 days', 'FMOF')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'YYYYth')
SELECT to_char(TIMESTAMP 'infinity', 'YYYYth')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'YYYYth')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'YYYYth')
SELECT to_char(interval '12 months', 'YYYYth')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'YYYYth')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'Y,YYYth')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'Y,YYYth')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'Y,YYYth')
SELECT to_char(DATE '12345-12-31', 'Y,YYYth')
SELECT to_char(interval '12 months', 'Y,YYYth')
SELECT to_char(interval '3 mons -2 days', 'Y,YYYth')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'HH24th')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'HH24th')
SELECT to_char(DATE '2022-01-02', 'HH24th')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'HH24th')
SELECT to_char(interval '999 years', 'HH24th')
SELECT to_char(interval '12 months', 'HH24th')
SELECT to_char(DATE '12345-12-31', '\"x\"YYYY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', '\"x\"YYYY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', '\"x\"YYYY')
SELECT to_char(TIMESTAMP 'infinity', '\"x\"YYYY')
SELECT to_char(interval '100 hours', '\"x\"YYYY')
SELECT to_char(interval '999 years', '\"x\"YYYY')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FXYYYY')
SELECT to_char(DATE '2022-01-02', 'FXYYYY')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FXYYYY')
SELECT to_char(DATE '12345-12-31', 'FXYYYY')
SELECT to_char(interval '12 months', 'FXYYYY')
SELECT to_char(interval '-25:00:00', 'FXYYYY')
SELECT to_char(DATE '2022-01-02', 'TMMonth')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'TMMonth')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'TMMonth')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'TMMonth')
SELECT to_char(interval '-25:00:00', 'TMMonth')
SELECT to_char(interval '999 years', 'TMMonth')
SELECT to_char(DATE '12345-12-31', 'FMTMDay')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMTMDay')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'FMTMDay')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'FMTMDay')
SELECT to_char(interval '12 months', 'FMTMDay')
SELECT to_char(interval '999 years', 'FMTMDay')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', '')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', '')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', '')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', '')
SELECT to_char(interval '3 mons -2 days', '')
SELECT to_char(interval '999 years', '')
SELECT to_char(TIMESTAMP 'infinity', 'yyyy dd')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'yyyy dd')
SELECT to_char(DATE '12345-12-31', 'yyyy dd')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'yyyy dd')
SELECT to_char(interval '3 mons -2 days', 'yyyy dd')
SELECT to_char(interval '-25:00:00', 'yyyy dd')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', 'MMTH')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'MMTH')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'MMTH')
SELECT to_char(TIMESTAMP 'infinity', 'MMTH')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'MMTH')
SELECT to_char(interval '100 hours', 'MMTH')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'FMMM')
SELECT to_char(TIMESTAMP 'infinity', 'FMMM')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'FMMM')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FMMM')
SELECT to_char(interval '999 years', 'FMMM')
SELECT to_char(interval '100 hours', 'FMMM')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'FMYY')
SELECT to_char(DATE '12345-12-31', 'FMYY')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'FMYY')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'FMYY')
SELECT to_char(interval '999 years', 'FMYY')
SELECT to_char(interval '100 hours', 'FMYY')
SELECT to_char(DATE '2022-01-02', 'SSSSS')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'SSSSS')
SELECT to_char(TIMESTAMP 'infinity', 'SSSSS')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', 'SSSSS')
SELECT to_char(interval '1 year 2 months 3 days 4 hours 5 min 6.789 sec', 'SSSSS')
SELECT to_char(interval '999 years', 'SSSSS')
SELECT to_char(TIMESTAMP '2023-07-04 12:34:56.789', '"a\"b" YYYY')
SELECT to_char(TIMESTAMP '0044-03-15 BC 11:00:01', '"a\"b" YYYY')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', '"a\"b" YYYY')
SELECT to_char(TIMESTAMP 'infinity', '"a\"b" YYYY')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', '"a\"b" YYYY')
SELECT to_char(interval '-25:00:00', '"a\"b" YYYY')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'CCth')
SELECT to_char(TIMESTAMP '0001-05-15 00:30:00', 'CCth')
SELECT to_char(TIMESTAMP 'infinity', 'CCth')
SELECT to_char(DATE '12345-12-31', 'CCth')
SELECT to_char(interval '3 mons -2 days', 'CCth')
SELECT to_char(interval '-25:00:00', 'CCth')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'Jth')
SELECT to_char(TIMESTAMP '2000-01-01 00:00:00', 'Jth')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'Jth')
SELECT to_char(TIMESTAMP 'infinity', 'Jth')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'Jth')
SELECT to_char(interval '999 years', 'Jth')
SELECT to_char(DATE '12345-12-31', 'üYYYY本')
SELECT to_char(TIMESTAMP '2024-02-29 23:59:59.999999', 'üYYYY本')
SELECT to_char(TIMESTAMP '1969-07-20 20:17:40', 'üYYYY本')
SELECT to_char(timestamptz '2021-12-11 13:12:01.05+00', 'üYYYY本')
SELECT to_char(interval '999 years', 'üYYYY本')
SELECT to_char(interval '-1 year -2 months -3 days -4 hours -5 min -6.789 sec', 'üYYYY本')
SELECT to_date('2024-02-29', 'YYYY-MM-DD')
SELECT to_timestamp('2024-02-29', 'YYYY-MM-DD')
SELECT to_date('29/02/24', 'DD/MM/YY')
SELECT to_timestamp('29/02/24', 'DD/MM/YY')
SELECT to_date('20240229', 'YYYYMMDD')
SELECT to_timestamp('20240229', 'YYYYMMDD')
SELECT to_date('29 Feb 2024', 'DD Mon YYYY')
SELECT to_timestamp('29 Feb 2024', 'DD Mon YYYY')
SELECT to_date('February 29, 2024', 'Month DD, YYYY')
SELECT to_timestamp('February 29, 2024', 'Month DD, YYYY')
SELECT to_date('2024-13-01', 'YYYY-MM-DD')
SELECT to_timestamp('2024-13-01', 'YYYY-MM-DD')
SELECT to_date('2023-02-29', 'YYYY-MM-DD')
SELECT to_timestamp('2023-02-29', 'YYYY-MM-DD')
SELECT to_date('x', 'YYYY')
SELECT to_timestamp('x', 'YYYY')
SELECT to_date('2024', 'YYYY')
SELECT to_timestamp('2024', 'YYYY')
SELECT to_date('2024-060', 'YYYY-DDD')
SELECT to_timestamp('2024-060', 'YYYY-DDD')
SELECT to_date('1 3 2020', 'DD MM YYYY')
SELECT to_timestamp('1 3 2020', 'DD MM YYYY')
SELECT to_date('70-01-01', 'YY-MM-DD')
SELECT to_timestamp('70-01-01', 'YY-MM-DD')
SELECT to_date('2024/02/29', 'YYYY-MM-DD')
SELECT to_timestamp('2024/02/29', 'YYYY-MM-DD')
SELECT to_date('', 'YYYY-MM-DD')
SELECT to_timestamp('', 'YYYY-MM-DD')
SELECT to_date('5-1-2', 'YYYY-MM-DD')
SELECT to_timestamp('5-1-2', 'YYYY-MM-DD')
SELECT to_date('2024 10 3', 'IYYY IW ID')
SELECT to_timestamp('2024 10 3', 'IYYY IW ID')
SELECT to_date('2024 10', 'IYYY IW')
SELECT to_timestamp('2024 10', 'IYYY IW')
SELECT to_date('2020-53-7', 'IYYY-IW-ID')
SELECT to_timestamp('2020-53-7', 'IYYY-IW-ID')
SELECT to_date('2024-10', 'YYYY-WW')
SELECT to_timestamp('2024-10', 'YYYY-WW')
SELECT to_date('2451187', 'J')
SELECT to_timestamp('2451187', 'J')
SELECT to_date('44-03-15 BC', 'YYYY-MM-DD BC')
SELECT to_timestamp('44-03-15 BC', 'YYYY-MM-DD BC')
SELECT to_date('44-03-15 B.C.', 'YYYY-MM-DD B.C.')
SELECT to_timestamp('44-03-15 B.C.', 'YYYY-MM-DD B.C.')
SELECT to_date('21 99', 'CC YY')
SELECT to_timestamp('21 99', 'CC YY')
SELECT to_date('21', 'CC')
SELECT to_timestamp('21', 'CC')
SELECT to_date('19 00', 'CC YY')
SELECT to_timestamp('19 00', 'CC YY')
SELECT to_date('2024 IV', 'YYYY RM')
SELECT to_timestamp('2024 IV', 'YYYY RM')
SELECT to_date('iv 2024', 'RM YYYY')
SELECT to_timestamp('iv 2024', 'RM YYYY')
SELECT to_date('2,024', 'Y,YYY')
SELECT to_timestamp('2,024', 'Y,YYY')
SELECT to_date('2024-02-30', 'YYYY-MM-DD')
SELECT to_timestamp('2024-02-30', 'YYYY-MM-DD')
SELECT to_date('Thursday 5 2020', 'Day DD YYYY')
SELECT to_timestamp('Thursday 5 2020', 'Day DD YYYY')
SELECT to_date('2020 2 3', 'YYYY Q MM')
SELECT to_timestamp('2020 2 3', 'YYYY Q MM')
SELECT to_date('2024-366', 'YYYY-DDD')
SELECT to_timestamp('2024-366', 'YYYY-DDD')
SELECT to_date('2023-366', 'YYYY-DDD')
SELECT to_timestamp('2023-366', 'YYYY-DDD')
SELECT to_date('060', 'DDD')
SELECT to_timestamp('060', 'DDD')
SELECT to_date('12 2024', 'IW YYYY')
SELECT to_timestamp('12 2024', 'IW YYYY')
SELECT to_date('1999 5', 'YYY MM')
SELECT to_timestamp('1999 5', 'YYY MM')
SELECT to_date('5', 'Y')
SELECT to_timestamp('5', 'Y')
SELECT to_date('05', 'YY')
SELECT to_timestamp('05', 'YY')
SELECT to_date('205', 'YYY')
SELECT to_timestamp('205', 'YYY')
SELECT to_date('2024-02-29 extra', 'YYYY-MM-DD')
SELECT to_timestamp('2024-02-29 extra', 'YYYY-MM-DD')
SELECT to_date('  2024-02-29', 'YYYY-MM-DD')
SELECT to_timestamp('  2024-02-29', 'YYYY-MM-DD')
SELECT to_date('2024--02-29', 'YYYY-MM-DD')
SELECT to_timestamp('2024--02-29', 'YYYY-MM-DD')
SELECT to_date('2024-02-29', 'YYYY MM DD')
SELECT to_timestamp('2024-02-29', 'YYYY MM DD')
SELECT to_date('2024.02.29', 'FXYYYY-MM-DD')
SELECT to_timestamp('2024.02.29', 'FXYYYY-MM-DD')
SELECT to_date('2024 02', 'FXYYYYMM')
SELECT to_timestamp('2024 02', 'FXYYYYMM')
SELECT to_date('29th February 2024', 'DDth Month YYYY')
SELECT to_timestamp('29th February 2024', 'DDth Month YYYY')
SELECT to_date('Junk', 'Month')
SELECT to_timestamp('Junk', 'Month')
SELECT to_date('99999999999', 'YYYY')
SELECT to_timestamp('99999999999', 'YYYY')
SELECT to_date('2024-02-29', 'YYYY-MM-DD"T"')
SELECT to_timestamp('2024-02-29', 'YYYY-MM-DD"T"')
SELECT to_date('20 24', 'YYYY')
SELECT to_timestamp('20 24', 'YYYY')
SELECT to_date('-44-03-15', 'YYYY-MM-DD')
SELECT to_timestamp('-44-03-15', 'YYYY-MM-DD')
SELECT to_date('2024 2024', 'YYYY YYYY')
SELECT to_timestamp('2024 2024', 'YYYY YYYY')
SELECT to_date('2024 2025', 'YYYY YYYY')
SELECT to_timestamp('2024 2025', 'YYYY YYYY')
SELECT to_date('1', 'DDD')
SELECT to_timestamp('1', 'DDD')
SELECT to_date('2024W5', 'YYYY"W"WW')
SELECT to_timestamp('2024W5', 'YYYY"W"WW')
SELECT to_date('300000-01-01', 'YYYY-MM-DD')
SELECT to_timestamp('300000-01-01', 'YYYY-MM-DD')
SELECT to_date('6000000-01-01', 'YYYY-MM-DD')
SELECT to_timestamp('6000000-01-01', 'YYYY-MM-DD')
SELECT to_date('2024 3 2', 'YYYY W MM')
SELECT to_timestamp('2024 3 2', 'YYYY W MM')
SELECT to_date('0000-01-01', 'YYYY-MM-DD')
SELECT to_timestamp('0000-01-01', 'YYYY-MM-DD')
SELECT to_date('12', 'MM')
SELECT to_timestamp('12', 'MM')
SELECT to_date('0', 'MM')
SELECT to_timestamp('0', 'MM')
SELECT to_date('00', 'DD')
SELECT to_timestamp('00', 'DD')
SELECT to_date('2024-02-29', 'yyyy-mm-dd')
SELECT to_timestamp('2024-02-29', 'yyyy-mm-dd')
SELECT to_date('Feb', 'MON')
SELECT to_timestamp('Feb', 'MON')
SELECT to_date('feb 5', 'mon d')
SELECT to_timestamp('feb 5', 'mon d')
SELECT to_date('+5', 'DD')
SELECT to_timestamp('+5', 'DD')
SELECT to_date('2024-1-', 'YYYY-MM-DD')
SELECT to_timestamp('2024-1-', 'YYYY-MM-DD')
SELECT to_date('2024x02', 'YYYY-MM')
SELECT to_timestamp('2024x02', 'YYYY-MM')
SELECT to_timestamp('2024-02-29 12:34:56', 'YYYY-MM-DD HH24:MI:SS')
SELECT to_timestamp('2024-02-29 12:34:56.5', 'YYYY-MM-DD HH24:MI:SS.MS')
SELECT to_timestamp('12:34 PM', 'HH12:MI PM')
SELECT to_timestamp('12:34 AM', 'HH:MI AM')
SELECT to_timestamp('01:02 p.m.', 'HH:MI a.m.')
SELECT to_timestamp('13:00 PM', 'HH12:MI PM')
SELECT to_timestamp('00:00', 'HH12:MI')
SELECT to_timestamp('25:00', 'HH24:MI')
SELECT to_timestamp('12:60', 'HH24:MI')
SELECT to_timestamp('12:00:61', 'HH24:MI:SS')
SELECT to_timestamp('3661', 'SSSS')
SELECT to_timestamp('3661', 'SSSSS')
SELECT to_timestamp('86400', 'SSSS')
SELECT to_timestamp('12:34:56.123456', 'HH24:MI:SS.US')
SELECT to_timestamp('12:34:56.1', 'HH24:MI:SS.US')
SELECT to_timestamp('12:34:56.12', 'HH24:MI:SS.FF3')
SELECT to_timestamp('12:34:56.1234', 'HH24:MI:SS.FF3')
SELECT to_timestamp('2024-02-29 12:00 +02:30', 'YYYY-MM-DD HH24:MI TZH:TZM')
SELECT to_timestamp('2024-02-29 12:00-05', 'YYYY-MM-DD HH24:MITZH')
SELECT to_timestamp('2024-02-29 12:00 -05', 'YYYY-MM-DD HH24:MI TZH')
SELECT to_timestamp('2024-02-29 12:00 UTC', 'YYYY-MM-DD HH24:MI TZ')
SELECT to_timestamp('2024-02-29 12:00 20', 'YYYY-MM-DD HH24:MI TZH')
SELECT to_timestamp('1,000-01-01', 'Y,YYY-MM-DD')
SELECT to_timestamp('2000 1 1 1 1 1', 'YYYY MM DD HH MI SS')
SELECT to_timestamp('20000101010101', 'YYYYMMDDHH24MISS')
SELECT to_timestamp('2000010101010', 'YYYYMMDDHH24MISS')
SELECT to_timestamp('2000-01-01T01:02:03Z', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
SELECT to_timestamp('15:01:02 2000', 'HH24:MI:SS YYYY')
SELECT to_timestamp('1999-12-31 24:00:00', 'YYYY-MM-DD HH24:MI:SS')
SELECT to_timestamp('999', 'MS')
SELECT to_timestamp('25', 'MS')
SELECT to_timestamp('1.5', 'SS.MS')
SELECT to_timestamp('12 x', 'HH24 MI')
SELECT to_timestamp('2024 AD', 'YYYY AD')
SELECT to_timestamp('2024 ad', 'YYYY BC')
SELECT to_timestamp('5 BC', 'YYYY AD')
SELECT to_timestamp('2024 zz', 'YYYY AD')
SELECT to_timestamp(0)
SELECT to_timestamp(1284352323.5)
SELECT to_timestamp('infinity'::float8)
SELECT to_timestamp('nan'::float8)
SELECT to_timestamp(1e15)
SELECT to_timestamp(-1e12)
SELECT to_timestamp(-210866803200)
SELECT to_date(NULL, 'YYYY'), to_char(NULL::timestamp, 'YYYY'), to_char(now(), NULL) IS NULL
SELECT to_char(time '12:34:56', 'HH24-MI')
SELECT to_char(-1234.5, '999')
SELECT to_char('NaN'::float8, '999')
SELECT to_char(100.00, '999')
SELECT to_char(-0.004, '999')
SELECT to_char(0.0001, '999')
SELECT to_char(-1, '999')
SELECT to_char(999999, '999')
SELECT to_char(0.5, '9999.99')
SELECT to_char(1, '9999.99')
SELECT to_char(123456789012.345::float8, '9999.99')
SELECT to_char(12, '9999.99')
SELECT to_char(1.5::real, '9999.99')
SELECT to_char('Infinity'::numeric, '9999.99')
SELECT to_char(-1, '9999.99')
SELECT to_char(NULL::numeric, '0000')
SELECT to_char(1, '0000')
SELECT to_char(1e20::float8, '0000')
SELECT to_char(0.0001, '0000')
SELECT to_char(12, '0000')
SELECT to_char('Infinity'::numeric, '0000')
SELECT to_char('NaN'::float8, '0000')
SELECT to_char(123.456, '9,999,999.00')
SELECT to_char(0, '9,999,999.00')
SELECT to_char(-0.004, '9,999,999.00')
SELECT to_char(-1, '9,999,999.00')
SELECT to_char(-0.1, '9,999,999.00')
SELECT to_char(1.5::real, '9,999,999.00')
SELECT to_char('NaN'::float8, '9,999,999.00')
SELECT to_char(5::float8, 'FM999.99')
SELECT to_char(100.00, 'FM999.99')
SELECT to_char('NaN'::numeric, 'FM999.99')
SELECT to_char('-Infinity'::float8, 'FM999.99')
SELECT to_char(0.0001, 'FM999.99')
SELECT to_char(1, 'FM999.99')
SELECT to_char(123.456, 'FM999.99')
SELECT to_char(7::bigint, 'S999')
SELECT to_char(99.95, 'S999')
SELECT to_char(123.456, 'S999')
SELECT to_char(1e20::float8, 'S999')
SELECT to_char('-Infinity'::float8, 'S999')
SELECT to_char(1.5::real, 'S999')
SELECT to_char(-0.5::float8, 'S999')
SELECT to_char(99.95, '999MI')
SELECT to_char(123456789012.345::float8, '999MI')
SELECT to_char(999999, '999MI')
SELECT to_char('NaN'::float8, '999MI')
SELECT to_char(1234567.891, '999MI')
SELECT to_char(NULL::numeric, '999MI')
SELECT to_char(-1, '999MI')
SELECT to_char(123456789012.345::float8, '$999.99')
SELECT to_char(1234567.891, '$999.99')
SELECT to_char(NULL::numeric, '$999.99')
SELECT to_char(32767::smallint, '$999.99')
SELECT to_char(99.95, '$999.99')
SELECT to_char(-0.5::float8, '$999.99')
SELECT to_char(123.456, '$999.99')
SELECT to_char(0.0001, '99.9')
SELECT to_char(1234567.891, '99.9')
SELECT to_char('NaN'::numeric, '99.9')
SELECT to_char(1e10, '99.9')
SELECT to_char(-9223372036854775807, '99.9')
SELECT to_char('Infinity'::numeric, '99.9')
SELECT to_char(-1234.5, '99.9')
SELECT to_char(123.456, 'FM0.00')
SELECT to_char(7::bigint, 'FM0.00')
SELECT to_char(0, 'FM0.00')
SELECT to_char('-Infinity'::float8, 'FM0.00')
SELECT to_char(-0.1, 'FM0.00')
SELECT to_char(-1, 'FM0.00')
SELECT to_char(1e20::float8, 'FM0.00')
SELECT to_char(1.5::real, 'L99')
SELECT to_char(1, 'L99')
SELECT to_char(-1, 'L99')
SELECT to_char(12, 'L99')
SELECT to_char(-0.5::float8, 'L99')
SELECT to_char('NaN'::float8, 'L99')
SELECT to_char(1e10, 'L99')
SELECT to_char(1234567.891, '999PR')
SELECT to_char('Infinity'::numeric, '999PR')
SELECT to_char(1e10, '999PR')
SELECT to_char(5::float8, '999PR')
SELECT to_char(-0.1, '999PR')
SELECT to_char(12, '999PR')
SELECT to_char(-0.5::float8, '999PR')
SELECT to_char(0, '9.99EEEE')
SELECT to_char(123456789012.345::float8, '9.99EEEE')
SELECT to_char(-9223372036854775807, '9.99EEEE')
SELECT to_char('Infinity'::numeric, '9.99EEEE')
SELECT to_char(1, '9.99EEEE')
SELECT to_char(123.456, '9.99EEEE')
SELECT to_char(-0.004, '9.99EEEE')
SELECT to_char(1.5::real, 'RN')
SELECT to_char(0.0001, 'RN')
SELECT to_char(1234567.891, 'RN')
SELECT to_char(-9223372036854775807, 'RN')
SELECT to_char(12, 'RN')
SELECT to_char(-1, 'RN')
SELECT to_char(100.00, 'RN')
SELECT to_char(5::float8, 'FMRN')
SELECT to_char(999999, 'FMRN')
SELECT to_char(0.5, 'FMRN')
SELECT to_char(123.456, 'FMRN')
SELECT to_char(7::bigint, 'FMRN')
SELECT to_char('NaN'::float8, 'FMRN')
SELECT to_char('Infinity'::numeric, 'FMRN')
SELECT to_char('NaN'::numeric, 'rn')
SELECT to_char(999999, 'rn')
SELECT to_char(1234567.891, 'rn')
SELECT to_char(99.95, 'rn')
SELECT to_char(-0.1, 'rn')
SELECT to_char('NaN'::float8, 'rn')
SELECT to_char(100.00, 'rn')
SELECT to_char(0.0001, 'FM9,999')
SELECT to_char('Infinity'::numeric, 'FM9,999')
SELECT to_char(999999, 'FM9,999')
SELECT to_char(123.456, 'FM9,999')
SELECT to_char(-9223372036854775807, 'FM9,999')
SELECT to_char('NaN'::numeric, 'FM9,999')
SELECT to_char('-Infinity'::float8, 'FM9,999')
SELECT to_char(99.95, '000.000')
SELECT to_char(0.0001, '000.000')
SELECT to_char('-Infinity'::float8, '000.000')
SELECT to_char(-0.004, '000.000')
SELECT to_char('NaN'::numeric, '000.000')
SELECT to_char(-0.5::float8, '000.000')
SELECT to_char(1, '000.000')
SELECT to_char(1e20::float8, 'SG99')
SELECT to_char(100.00, 'SG99')
SELECT to_char(0.5, 'SG99')
SELECT to_char(-9223372036854775807, 'SG99')
SELECT to_char(-1234.5, 'SG99')
SELECT to_char('Infinity'::numeric, 'SG99')
SELECT to_char(-1, 'SG99')
SELECT to_char(12, '99V99')
SELECT to_char(1, '99V99')
SELECT to_char(999999, '99V99')
SELECT to_char(-1234.5, '99V99')
SELECT to_char(0.5, '99V99')
SELECT to_char(-9223372036854775807, '99V99')
SELECT to_char(0.0001, '99V99')
SELECT to_char(5::float8, 'FM990.0099')
SELECT to_char(100.00, 'FM990.0099')
SELECT to_char(1.5::real, 'FM990.0099')
SELECT to_char(32767::smallint, 'FM990.0099')
SELECT to_char('NaN'::numeric, 'FM990.0099')
SELECT to_char(0, 'FM990.0099')
SELECT to_char(-0.004, 'FM990.0099')
SELECT to_char(5::float8, '9G999D99')
SELECT to_char(99.95, '9G999D99')
SELECT to_char('NaN'::float8, '9G999D99')
SELECT to_char(-0.004, '9G999D99')
SELECT to_char(-0.1, '9G999D99')
SELECT to_char(1e10, '9G999D99')
SELECT to_char(7::bigint, '9G999D99')
SELECT to_char(12, '999th')
SELECT to_char(0.5, '999th')
SELECT to_char(123.456, '999th')
SELECT to_char('-Infinity'::float8, '999th')
SELECT to_char(-1234.5, '999th')
SELECT to_char(-1, '999th')
SELECT to_char('NaN'::numeric, '999th')
SELECT to_char(100.00, 'FM999TH')
SELECT to_char('Infinity'::numeric, 'FM999TH')
SELECT to_char(5::float8, 'FM999TH')
SELECT to_char(123.456, 'FM999TH')
SELECT to_char(123456789012.345::float8, 'FM999TH')
SELECT to_char(NULL::numeric, 'FM999TH')
SELECT to_char(12, 'FM999TH')
SELECT to_char(NULL::numeric, 'PL99')
SELECT to_char(999999, 'PL99')
SELECT to_char(-1234.5, 'PL99')
SELECT to_char(32767::smallint, 'PL99')
SELECT to_char(99.95, 'PL99')
SELECT to_char(1.5::real, 'PL99')
SELECT to_char(1234567.891, 'PL99')
SELECT to_char(1, '99PL')
SELECT to_char(5::float8, '99PL')
SELECT to_char(100.00, '99PL')
SELECT to_char('NaN'::numeric, '99PL')
SELECT to_char(32767::smallint, '99PL')
SELECT to_char(-0.1, '99PL')
SELECT to_char(0.0001, '99PL')
SELECT to_char(7::bigint, '99S')
SELECT to_char(0, '99S')
SELECT to_char(1.5::real, '99S')
SELECT to_char(1e10, '99S')
SELECT to_char(5::float8, '99S')
SELECT to_char(123.456, '99S')
SELECT to_char(12, '99S')
SELECT to_char(0.0001, 'FMS99.9')
SELECT to_char(1.5::real, 'FMS99.9')
SELECT to_char(-0.1, 'FMS99.9')
SELECT to_char(99.95, 'FMS99.9')
SELECT to_char(1e10, 'FMS99.9')
SELECT to_char(999999, 'FMS99.9')
SELECT to_char(1234567.891, 'FMS99.9')
SELECT to_char(-9223372036854775807, 'S.9')
SELECT to_char(-1234.5, 'S.9')
SELECT to_char(1, 'S.9')
SELECT to_char(0.5, 'S.9')
SELECT to_char(7::bigint, 'S.9')
SELECT to_char(0, 'S.9')
SELECT to_char(1e20::float8, 'S.9')
SELECT to_char(1234567.891, '9.9')
SELECT to_char(1.5::real, '9.9')
SELECT to_char(-1, '9.9')
SELECT to_char('NaN'::float8, '9.9')
SELECT to_char('Infinity'::numeric, '9.9')
SELECT to_char(7::bigint, '9.9')
SELECT to_char('NaN'::numeric, '9.9')
SELECT to_char(1.5::real, 'FM9.9')
SELECT to_char(99.95, 'FM9.9')
SELECT to_char(-1234.5, 'FM9.9')
SELECT to_char(1e10, 'FM9.9')
SELECT to_char('NaN'::numeric, 'FM9.9')
SELECT to_char(999999, 'FM9.9')
SELECT to_char(-1, 'FM9.9')
SELECT to_char(-9223372036854775807, '.99')
SELECT to_char(7::bigint, '.99')
SELECT to_char(1e10, '.99')
SELECT to_char(-1234.5, '.99')
SELECT to_char(1234567.891, '.99')
SELECT to_char(32767::smallint, '.99')
SELECT to_char(1.5::real, '.99')
SELECT to_char(0.5, 'FM.99')
SELECT to_char(1, 'FM.99')
SELECT to_char('-Infinity'::float8, 'FM.99')
SELECT to_char('NaN'::float8, 'FM.99')
SELECT to_char(-0.004, 'FM.99')
SELECT to_char(NULL::numeric, 'FM.99')
SELECT to_char(0, 'FM.99')
SELECT to_char(1e10, '0.9')
SELECT to_char(1, '0.9')
SELECT to_char(100.00, '0.9')
SELECT to_char(32767::smallint, '0.9')
SELECT to_char(1.5::real, '0.9')
SELECT to_char(-0.004, '0.9')
SELECT to_char(-1234.5, '0.9')
SELECT to_char(1, 'FM09.90')
SELECT to_char(100.00, 'FM09.90')
SELECT to_char(123456789012.345::float8, 'FM09.90')
SELECT to_char(-0.5::float8, 'FM09.90')
SELECT to_char(1e20::float8, 'FM09.90')
SELECT to_char('NaN'::numeric, 'FM09.90')
SELECT to_char(12, 'FM09.90')
SELECT to_char(7::bigint, '"x"99"y"')
SELECT to_char(-1, '"x"99"y"')
SELECT to_char(1234567.891, '"x"99"y"')
SELECT to_char(5::float8, '"x"99"y"')
SELECT to_char(999999, '"x"99"y"')
SELECT to_char(32767::smallint, '"x"99"y"')
SELECT to_char(1, '"x"99"y"')
SELECT to_char(1.5::real, '99 99')
SELECT to_char(1234567.891, '99 99')
SELECT to_char('-Infinity'::float8, '99 99')
SELECT to_char(1, '99 99')
SELECT to_char(5::float8, '99 99')
SELECT to_char('Infinity'::numeric, '99 99')
SELECT to_char(32767::smallint, '99 99')
SELECT to_char(1, 'B99')
SELECT to_char(NULL::numeric, 'B99')
SELECT to_char(-0.004, 'B99')
SELECT to_char(1e10, 'B99')
SELECT to_char(99.95, 'B99')
SELECT to_char('-Infinity'::float8, 'B99')
SELECT to_char(100.00, 'B99')
SELECT to_char(1, '9999999999999999999')
SELECT to_char(0.5, '9999999999999999999')
SELECT to_char(-1234.5, '9999999999999999999')
SELECT to_char(7::bigint, '9999999999999999999')
SELECT to_char(-0.5::float8, '9999999999999999999')
SELECT to_char('-Infinity'::float8, '9999999999999999999')
SELECT to_char('Infinity'::numeric, '9999999999999999999')
SELECT to_char(0.5, 'FM9999999999.999999')
SELECT to_char(123456789012.345::float8, 'FM9999999999.999999')
SELECT to_char(1234567.891, 'FM9999999999.999999')
SELECT to_char(-1, 'FM9999999999.999999')
SELECT to_char(-0.1, 'FM9999999999.999999')
SELECT to_char(12, 'FM9999999999.999999')
SELECT to_char(32767::smallint, 'FM9999999999.999999')
SELECT to_char(123456789012.345::float8, '9.9PR')
SELECT to_char(-1234.5, '9.9PR')
SELECT to_char('NaN'::float8, '9.9PR')
SELECT to_char(-1, '9.9PR')
SELECT to_char(-9223372036854775807, '9.9PR')
SELECT to_char(0.5, '9.9PR')
SELECT to_char(0.0001, '9.9PR')
SELECT to_char(0, 'FMPR99')
SELECT to_char(1e10, 'FMPR99')
SELECT to_char(123456789012.345::float8, 'FMPR99')
SELECT to_char('NaN'::numeric, 'FMPR99')
SELECT to_char(5::float8, 'FMPR99')
SELECT to_char(-0.004, 'FMPR99')
SELECT to_char(1e20::float8, 'FMPR99')
SELECT to_char(32767::smallint, '99PRPR9')
SELECT to_char('Infinity'::numeric, '99PRPR9')
SELECT to_char(-0.5::float8, '99PRPR9')
SELECT to_char('-Infinity'::float8, '99PRPR9')
SELECT to_char(123.456, '99PRPR9')
SELECT to_char(0, '99PRPR9')
SELECT to_char(99.95, '99PRPR9')
SELECT to_char(7::bigint, 'FM99PR')
SELECT to_char(1e10, 'FM99PR')
SELECT to_char(1234567.891, 'FM99PR')
SELECT to_char(123456789012.345::float8, 'FM99PR')
SELECT to_char(12, 'FM99PR')
SELECT to_char(123.456, 'FM99PR')
SELECT to_char(99.95, 'FM99PR')
SELECT to_char(5::float8, '099MI')
SELECT to_char(-1, '099MI')
SELECT to_char(32767::smallint, '099MI')
SELECT to_char(0.0001, '099MI')
SELECT to_char(NULL::numeric, '099MI')
SELECT to_char('Infinity'::numeric, '099MI')
SELECT to_char(-0.1, '099MI')
SELECT to_char(123.456, 'MI99')
SELECT to_char(100.00, 'MI99')
SELECT to_char(123456789012.345::float8, 'MI99')
SELECT to_char(-1, 'MI99')
SELECT to_char(5::float8, 'MI99')
SELECT to_char(1234567.891, 'MI99')
SELECT to_char(32767::smallint, 'MI99')
SELECT to_char(0.0001, '9S9')
SELECT to_char(-0.004, '9S9')
SELECT to_char(1e20::float8, '9S9')
SELECT to_char(1.5::real, '9S9')
SELECT to_char(1234567.891, '9S9')
SELECT to_char(NULL::numeric, '9S9')
SELECT to_char(1, '9S9')
SELECT to_char(5::float8, 'S9S')
SELECT to_char(7::bigint, 'S9S')
SELECT to_char(1234567.891, 'S9S')
SELECT to_char(1, 'S9S')
SELECT to_char(999999, 'S9S')
SELECT to_char(0.5, 'S9S')
SELECT to_char(99.95, 'S9S')
SELECT to_char('NaN'::numeric, 'V9')
SELECT to_char(12, 'V9')
SELECT to_char(-1, 'V9')
SELECT to_char(-0.004, 'V9')
SELECT to_char(-0.1, 'V9')
SELECT to_char('Infinity'::numeric, 'V9')
SELECT to_char(123456789012.345::float8, 'V9')
SELECT to_char(0, '9V9V9')
SELECT to_char(99.95, '9V9V9')
SELECT to_char('-Infinity'::float8, '9V9V9')
SELECT to_char(32767::smallint, '9V9V9')
SELECT to_char(123.456, '9V9V9')
SELECT to_char(1e20::float8, '9V9V9')
SELECT to_char(100.00, '9V9V9')
SELECT to_char(1e10, 'EEEE')
SELECT to_char(123.456, 'EEEE')
SELECT to_char(7::bigint, 'EEEE')
SELECT to_char('-Infinity'::float8, 'EEEE')
SELECT to_char(0, 'EEEE')
SELECT to_char(1, 'EEEE')
SELECT to_char(-0.004, 'EEEE')
SELECT to_char(NULL::numeric, '99.99EEEE9')
SELECT to_char(12, '99.99EEEE9')
SELECT to_char(0.0001, '99.99EEEE9')
SELECT to_char('Infinity'::numeric, '99.99EEEE9')
SELECT to_char(123456789012.345::float8, '99.99EEEE9')
SELECT to_char(123.456, '99.99EEEE9')
SELECT to_char(-0.1, '99.99EEEE9')
SELECT to_char(-1, '9SP')
SELECT to_char(99.95, '9SP')
SELECT to_char(-1234.5, '9SP')
SELECT to_char(123.456, '9SP')
SELECT to_char(NULL::numeric, '9SP')
SELECT to_char(5::float8, '9SP')
SELECT to_char(1.5::real, '9SP')
SELECT to_char(-0.1, '9C9')
SELECT to_char(99.95, '9C9')
SELECT to_char(1, '9C9')
SELECT to_char(-1, '9C9')
SELECT to_char(123456789012.345::float8, '9C9')
SELECT to_char(-9223372036854775807, '9C9')
SELECT to_char(0, '9C9')
SELECT to_char(0, 'FM')
SELECT to_char(12, 'FM')
SELECT to_char(1, 'FM')
SELECT to_char(123.456, 'FM')
SELECT to_char('NaN'::numeric, 'FM')
SELECT to_char(-0.004, 'FM')
SELECT to_char(NULL::numeric, 'FM')
SELECT to_char('NaN'::float8, '')
SELECT to_char(0, '')
SELECT to_char(1234567.891, '')
SELECT to_char(-0.5::float8, '')
SELECT to_char(-0.004, '')
SELECT to_char(123.456, '')
SELECT to_char('NaN'::numeric, '')
SELECT to_char(0.5, '0')
SELECT to_char(-0.1, '0')
SELECT to_char('NaN'::numeric, '0')
SELECT to_char(0, '0')
SELECT to_char(-1234.5, '0')
SELECT to_char(1e20::float8, '0')
SELECT to_char('NaN'::float8, '0')
SELECT to_char(999999, '00.00')
SELECT to_char(-1234.5, '00.00')
SELECT to_char(-9223372036854775807, '00.00')
SELECT to_char(12, '00.00')
SELECT to_char(NULL::numeric, '00.00')
SELECT to_char(-0.5::float8, '00.00')
SELECT to_char('NaN'::float8, '00.00')
SELECT to_char(-1234.5, '99D99')
SELECT to_char('-Infinity'::float8, '99D99')
SELECT to_char(7::bigint, '99D99')
SELECT to_char(123.456, '99D99')
SELECT to_char(1e10, '99D99')
SELECT to_char(-0.004, '99D99')
SELECT to_char(0.0001, '99D99')
SELECT to_char(12, '9.')
SELECT to_char(-0.1, '9.')
SELECT to_char(999999, '9.')
SELECT to_char(1e10, '9.')
SELECT to_char(1234567.891, '9.')
SELECT to_char(32767::smallint, '9.')
SELECT to_char('NaN'::float8, '9.')
SELECT to_char(-0.004, '9.9.9')
SELECT to_char(-1234.5, '9.9.9')
SELECT to_char(1e10, '9.9.9')
SELECT to_char(1, '9.9.9')
SELECT to_char(1.5::real, '9.9.9')
SELECT to_char(999999, '9.9.9')
SELECT to_char(123456789012.345::float8, '9.9.9')
SELECT to_char(5::float8, 'S9PR')
SELECT to_char(100.00, 'S9PR')
SELECT to_char('NaN'::float8, 'S9PR')
SELECT to_char(0, 'S9PR')
SELECT to_char(12, 'S9PR')
SELECT to_char(123.456, 'S9PR')
SELECT to_char(-0.004, 'S9PR')
SELECT to_char(1.5::real, 'EEEE9EEEE')
SELECT to_char(1, 'EEEE9EEEE')
SELECT to_char(0.5, 'EEEE9EEEE')
SELECT to_char(0, 'EEEE9EEEE')
SELECT to_char(999999, 'EEEE9EEEE')
SELECT to_char(1e20::float8, 'EEEE9EEEE')
SELECT to_char(1234567.891, 'EEEE9EEEE')
SELECT to_char(5::float8, 'FM9EEEE')
SELECT to_char(7::bigint, 'FM9EEEE')
SELECT to_char('NaN'::numeric, 'FM9EEEE')
SELECT to_char('Infinity'::numeric, 'FM9EEEE')
SELECT to_char(1e10, 'FM9EEEE')
SELECT to_char(0.5, 'FM9EEEE')
SELECT to_char(999999, 'FM9EEEE')
SELECT to_char(NULL::numeric, '999999999999999.99')
SELECT to_char(999999, '999999999999999.99')
SELECT to_char(0.5, '999999999999999.99')
SELECT to_char(99.95, '999999999999999.99')
SELECT to_char(123456789012.345::float8, '999999999999999.99')
SELECT to_char(-0.5::float8, '999999999999999.99')
SELECT to_char('NaN'::numeric, '999999999999999.99')
SELECT to_char(32767::smallint, 'fm9g999')
SELECT to_char(100.00, 'fm9g999')
SELECT to_char(0.0001, 'fm9g999')
SELECT to_char(1234567.891, 'fm9g999')
SELECT to_char('NaN'::numeric, 'fm9g999')
SELECT to_char(-9223372036854775807, 'fm9g999')
SELECT to_char(999999, 'fm9g999')
SELECT to_char(999999, 'eeee')
SELECT to_char(1.5::real, 'eeee')
SELECT to_char(1, 'eeee')
SELECT to_char('NaN'::float8, 'eeee')
SELECT to_char(5::float8, 'eeee')
SELECT to_char('Infinity'::numeric, 'eeee')
SELECT to_char('NaN'::numeric, 'eeee')
SELECT to_char(123.456, 'ü9')
SELECT to_char(100.00, 'ü9')
SELECT to_char(1234567.891, 'ü9')
SELECT to_char(5::float8, 'ü9')
SELECT to_char('Infinity'::numeric, 'ü9')
SELECT to_char(1, 'ü9')
SELECT to_char(12, 'ü9')
SELECT to_char(-1234.5, '\9')
SELECT to_char('Infinity'::numeric, '\9')
SELECT to_char(12, '\9')
SELECT to_char(32767::smallint, '\9')
SELECT to_char(7::bigint, '\9')
SELECT to_char(99.95, '\9')
SELECT to_char(0.5, '\9')
SELECT to_char(0.0001, '9,9,9')
SELECT to_char(100.00, '9,9,9')
SELECT to_char(32767::smallint, '9,9,9')
SELECT to_char(-0.1, '9,9,9')
SELECT to_char(5::float8, '9,9,9')
SELECT to_char(1.5::real, '9,9,9')
SELECT to_char(-9223372036854775807, '9,9,9')
SELECT to_char(100.00, 'FM9,9,9')
SELECT to_char(123456789012.345::float8, 'FM9,9,9')
SELECT to_char('NaN'::float8, 'FM9,9,9')
SELECT to_char(-1, 'FM9,9,9')
SELECT to_char(0.5, 'FM9,9,9')
SELECT to_char('Infinity'::numeric, 'FM9,9,9')
SELECT to_char(0, 'FM9,9,9')
SELECT to_char(12, '0,0')
SELECT to_char(-0.5::float8, '0,0')
SELECT to_char('NaN'::float8, '0,0')
SELECT to_char(1e20::float8, '0,0')
SELECT to_char(0.0001, '0,0')
SELECT to_char(-1234.5, '0,0')
SELECT to_char('Infinity'::numeric, '0,0')
SELECT to_number('123', '999')
SELECT to_number('1,234.56', '9,999.99')
SELECT to_number('-12', 'S99')
SELECT to_number('12-', '99S')
SELECT to_number('-12', '99')
SELECT to_number('12-', '99MI')
SELECT to_number('<12>', '99PR')
SELECT to_number('$12.5', 'L99.9')
SELECT to_number('12 34', '99 99')
SELECT to_number('abc', '999')
SELECT to_number('', '999')
SELECT to_number('1.5', '9')
SELECT to_number('1234', '99')
SELECT to_number('0012', '9999')
SELECT to_number('1e5', '9EEEE')
SELECT to_number('12.345', '99.99')
SELECT to_number('12', '99V9')
SELECT to_number('1,2,3', '9G9G9')
SELECT to_number(' 12', '999')
SELECT to_number('+12', 'S99')
SELECT to_number('+12', '99')
SELECT to_number('12+', '99PL')
SELECT to_number('1st', '9th')
SELECT to_number('.5', '9.9')
SELECT to_number('5.', '9.9')
SELECT to_number('34,50', '999,99')
SELECT to_number('12345.6789', '99999.9999')
SELECT to_number('$1,234', '$9,999')
SELECT to_number('-0.5', '9.9')
SELECT to_number('0', '0')
SELECT to_number('485', '999')
SELECT to_number('-34,338,492', '99G999G999')
SELECT to_number('<564646.654564>', '999999.999999PR')
SELECT to_number('0.00001-', '9.999999S')
SELECT to_number('5.01-', 'FM9.999999S')
SELECT to_number('5.01-', 'FM9.999999MI')
SELECT to_number('5 4 4 4 4 8 . 7 8', '9 9 9 9 9 9 . 9 9')
SELECT to_number('.01', 'FM9.99')
SELECT to_number('.0', '99999999.99999999')
SELECT to_number('0', '99.99')
SELECT to_number('.-01', 'S99.99')
SELECT to_number('.01-', '99.99S')
SELECT to_number(' . 0 1-', ' 9 9 . 9 9 S')
SELECT to_number('123456', '999G999')
SELECT to_number('$1234.56', 'L9,999.99')
SELECT to_number('1234.56', 'L99,999.99')
SELECT to_number('1,234.56', 'L9,999.99')
SELECT to_number('42nd', '99th')
SELECT to_number('IV', 'RN')
SELECT to_number('x', '')
SELECT to_number(NULL, '9'), to_number('1', NULL)
SELECT make_timestamp(2024,2,29,12,34,56.789)
SELECT make_timestamp(2023,2,29,12,0,0)
SELECT make_timestamp(2024,1,1,24,0,0)
SELECT make_timestamp(2024,1,1,24,0,1)
SELECT make_timestamp(2024,1,1,23,59,60)
SELECT make_timestamp(2024,1,1,23,60,0)
SELECT make_timestamp(2024,1,1,0,0,-1)
SELECT make_timestamp(0,1,1,0,0,0)
SELECT make_timestamp(-44,3,15,0,0,0)
SELECT make_timestamp(400000,1,1,0,0,0)
SELECT make_timestamp(2024,1,1,0,0,60.5)
SELECT make_timestamp(NULL,1,1,0,0,0)
SELECT make_timestamptz(2024,2,29,12,34,56.789)
SELECT date_bin('15 minutes', TIMESTAMP '2020-02-11 15:44:17.71323', TIMESTAMP '2001-01-01')
SELECT date_bin('5 min', TIMESTAMP '2020-02-01 01:01:01', TIMESTAMP '2020-02-01 00:02:30')
SELECT date_bin('5 min', TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01')
SELECT date_bin('7 days', TIMESTAMP '2000-01-01 00:00:01', TIMESTAMP '2020-01-01')
SELECT date_bin('1 month', TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01')
SELECT date_bin('0', TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01')
SELECT date_bin('-1 day', TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01')
SELECT date_bin('1 day', TIMESTAMP 'infinity', TIMESTAMP '2020-01-01')
SELECT date_bin('1 day', TIMESTAMP '2000-01-01', TIMESTAMP 'infinity')
SELECT date_bin('1 hour', timestamptz '2020-02-11 15:44:17+00', timestamptz '2001-01-01 00:30+00')
SELECT (DATE '2001-02-16', DATE '2001-12-21') OVERLAPS (DATE '2001-10-30', DATE '2002-10-30')
SELECT (DATE '2001-02-16', INTERVAL '100 days') OVERLAPS (DATE '2001-10-30', DATE '2002-10-30')
SELECT (DATE '2001-10-29', DATE '2001-10-30') OVERLAPS (DATE '2001-10-30', DATE '2001-10-31')
SELECT (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-30') OVERLAPS (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-31')
SELECT (TIME '10:00', TIME '12:00') OVERLAPS (TIME '11:00', INTERVAL '1 hour')
SELECT (TIMESTAMP '2001-10-30', NULL) OVERLAPS (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-31')
SELECT (NULL::timestamp, NULL) OVERLAPS (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-31')
SELECT (TIMESTAMP '2001-10-29', NULL) OVERLAPS (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-31')
SELECT (TIMESTAMP '2001-10-31', TIMESTAMP '2001-10-29') OVERLAPS (TIMESTAMP '2001-10-30', TIMESTAMP '2001-10-30')
SELECT make_interval(years => 10)
SELECT make_interval(1,2,3,4,5,6,7.5)
SELECT make_interval(days => 10, secs => 1.5, hours => -3)
SELECT make_interval()
SELECT make_interval(1, months => 5)
SELECT make_interval(secs => 'infinity')
SELECT make_date(year => 2020, month => 1, day => 2)
SELECT make_date(day => 2, month => 1, year => 2020)
SELECT make_interval(foo => 1)
SELECT make_time(hour => 1, min => 2, sec => 3.5)
SELECT make_interval(years => 1, years => 2)
SELECT make_interval(years => 1, 2)
SELECT make_interval(1, years => 2)
SELECT to_char('NaN'::float8, 'RN')
-- lateral, aliases of joins
CREATE TABLE a (id int PRIMARY KEY, x int, s text)
CREATE TABLE b (id int PRIMARY KEY, x int, t text)
CREATE TABLE c (k int PRIMARY KEY, x int)
INSERT INTO a VALUES (1, 10, 'one'), (2, 20, 'two'), (3, NULL, 'three'), (4, 10, NULL)
INSERT INTO b VALUES (1, 10, 'u'), (2, 10, 'v'), (3, 20, 'w'), (5, 30, 'z')
INSERT INTO c VALUES (1, 10), (2, 30), (3, NULL)
SELECT a.id, l.t FROM a, LATERAL (SELECT b.t FROM b WHERE b.x = a.x ORDER BY b.t DESC LIMIT 1) l ORDER BY a.id
SELECT a.id, l.t FROM a LEFT JOIN LATERAL (SELECT b.t FROM b WHERE b.x = a.x ORDER BY b.t) l ON true ORDER BY a.id, l.t
SELECT a.id, l.t FROM a LEFT JOIN LATERAL (SELECT b.t FROM b WHERE b.x = a.x) l ON l.t <> 'u' ORDER BY a.id, l.t
SELECT a.id, l.n FROM a CROSS JOIN LATERAL (SELECT count(*) AS n FROM b WHERE b.x = a.x) l ORDER BY 1
SELECT a.id, g FROM a, generate_series(1, a.id) g ORDER BY 1, 2
SELECT a.id, g FROM a, generate_series(1, a.x) AS g WHERE g > 8 ORDER BY 1, 2
SELECT a.id, g FROM a LEFT JOIN generate_series(2, a.id) AS g ON g <> 3 ORDER BY 1, 2
SELECT a.id, g.v, g.ordinality FROM a, generate_series(a.id, 4) WITH ORDINALITY AS g(v) ORDER BY 1, 2
SELECT a.id, l.y, m.z FROM a, LATERAL (SELECT a.x + 1 AS y) l, LATERAL (SELECT l.y * 2 AS z) m ORDER BY 1
SELECT a.id, l.y, c.k FROM a, LATERAL (SELECT a.x AS y) l, c WHERE c.x = l.y ORDER BY 1, 3
SELECT a.id, l.y, c.k FROM a, LATERAL (SELECT a.x AS y) l JOIN c ON c.x = l.y ORDER BY 1, 3
SELECT a.id, l.y, c.k FROM a CROSS JOIN LATERAL (SELECT a.x AS y) l LEFT JOIN c ON c.x = l.y ORDER BY 1, 3
SELECT a.id, l.* FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id) l ORDER BY 1
SELECT * FROM a, LATERAL (SELECT x) l ORDER BY 1
SELECT * FROM a, (SELECT a.x) l
SELECT * FROM LATERAL (SELECT a.x) l, a
SELECT a.id, (SELECT max(l.y) FROM generate_series(1, a.id) g, LATERAL (SELECT g * a.x AS y) l) FROM a ORDER BY 1
SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b, LATERAL (SELECT b.x + a.id AS q) l WHERE l.q = 11) ORDER BY 1
SELECT a.id, l.n FROM a, LATERAL (WITH w AS (SELECT * FROM b WHERE b.x = a.x) SELECT count(*) + (SELECT count(*) FROM w) AS n FROM w) l ORDER BY 1
SELECT a.id, l.v FROM a, LATERAL (SELECT a.x AS v UNION ALL SELECT b.x FROM b WHERE b.id = a.id) l ORDER BY 1, 2
SELECT a.id, l.v FROM a, LATERAL (VALUES (a.x), (a.id)) l(v) ORDER BY 1, 2
SELECT a.id, l.r FROM a, LATERAL (SELECT b.id, rank() OVER (ORDER BY b.x + a.id) AS r FROM b) l WHERE l.id = a.id ORDER BY 1
SELECT l.s, count(*) FROM a, LATERAL (SELECT s FROM generate_series(1, a.id)) l GROUP BY l.s ORDER BY 1
SELECT count(*), sum(g) FROM a, generate_series(1, a.id * 1000) g
SELECT count(*) FROM generate_series(1, 60) n, LATERAL (SELECT n AS m FROM generate_series(1, n)) l WHERE m % 2 = 0
SELECT count(*), max(length(l.t)) FROM generate_series(1, 2000) n, LATERAL (SELECT repeat('x', n % 7) AS t) l
SELECT a.id, generate_series(1, a.id) AS g FROM a ORDER BY 1, 2
SELECT a.id, l.w FROM a RIGHT JOIN LATERAL (SELECT 1 AS w) l ON true ORDER BY 1
SELECT a.id, l.w FROM a FULL JOIN LATERAL (SELECT 1 AS w) l ON a.id = l.w ORDER BY 1
SELECT a.id, l.i FROM a JOIN LATERAL (SELECT b.id AS i FROM b WHERE b.x > coalesce(a.x, 0)) l ON l.i < 4 ORDER BY 1, 2
SELECT x.id, y.id, z.m FROM a x JOIN a y ON x.x = y.x JOIN LATERAL (SELECT max(b.id) AS m FROM b WHERE b.x = x.x AND b.id <= y.id) z ON true ORDER BY 1, 2
SELECT a.id, l.n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.x = a.x) l WHERE l.n > 0 ORDER BY 1
SELECT a.id, l.q FROM a LEFT JOIN LATERAL (SELECT a.x / b.x AS q FROM b WHERE b.id = a.id) l ON a.id > 1 ORDER BY 1
SELECT a.id FROM a LEFT JOIN LATERAL (SELECT a.x AS q) l ON true WHERE l.q = 10 ORDER BY 1
SELECT id, (SELECT string_agg(l.y::text, ',' ORDER BY l.y) FROM b, LATERAL (SELECT b.id * a.id AS y) l) FROM a ORDER BY 1
UPDATE c SET x = l.m FROM a, LATERAL (SELECT max(b.x) AS m FROM b WHERE b.id <= a.id) l WHERE a.id = c.k
SELECT * FROM c ORDER BY k
SELECT * FROM (a JOIN b USING (id)) AS j ORDER BY 1
SELECT j.id, j.s, j.t FROM (a JOIN b USING (id)) AS j ORDER BY 1
SELECT j.x FROM (a JOIN b USING (id)) AS j
SELECT a.id FROM (a JOIN b USING (id)) AS j
SELECT * FROM (a JOIN b USING (id)) AS j(k, ax, s, bx) ORDER BY k
SELECT j.k, ax + bx, t FROM (a JOIN b USING (id)) AS j(k, ax, s, bx) ORDER BY k
SELECT * FROM (a JOIN b USING (id)) AS j(a1, a2, a3, a4, a5, a6)
SELECT * FROM (a JOIN b USING (id)) AS j, a WHERE j.id = a.id ORDER BY 1
SELECT * FROM (a JOIN b USING (id)) AS a ORDER BY 1
SELECT a.id FROM (a JOIN b USING (id)) AS a ORDER BY 1
SELECT * FROM (a JOIN b USING (id)) AS c, c
SELECT j.* FROM (a FULL JOIN b USING (id)) AS j(k) ORDER BY k
SELECT k, j.k FROM (a FULL JOIN b USING (id)) AS j(k) ORDER BY k
SELECT j.id, c.x FROM (a LEFT JOIN b USING (id)) AS j JOIN c ON c.k = j.id ORDER BY 1
SELECT * FROM (a CROSS JOIN c) AS j(p, q) ORDER BY 1, 4 LIMIT 3
SELECT * FROM (a JOIN b ON a.id = b.id) AS j(i1, x1, s1, i2) JOIN c ON c.k = j.i2 ORDER BY 1
SELECT * FROM (a NATURAL JOIN b) AS j ORDER BY 1
SELECT u.id, a.x, b.x FROM a JOIN b USING (id) AS u ORDER BY 1
SELECT u.* FROM a JOIN b USING (id) AS u ORDER BY 1
SELECT u.x FROM a JOIN b USING (id) AS u
SELECT u.id, a.id FROM a FULL JOIN b USING (id) AS u ORDER BY 1
SELECT u.id FROM a JOIN b USING (id, x) AS u ORDER BY 1
SELECT * FROM ((a JOIN b USING (id)) AS j(id2, xx) JOIN c ON c.k = j.id2) AS m ORDER BY 1
SELECT m.id2 FROM ((a JOIN b USING (id)) AS j(id2, xx) JOIN c ON c.k = j.id2) AS m ORDER BY 1
SELECT j.id2 FROM ((a JOIN b USING (id)) AS j(id2, xx) JOIN c ON c.k = j.id2) AS m ORDER BY 1
SELECT count(*) FROM (a JOIN b USING (id)) AS j GROUP BY j.id ORDER BY 1
SELECT j.id, l.z FROM (a JOIN b USING (id)) AS j, LATERAL (SELECT j.id * 2 AS z) l ORDER BY 1
SELECT id, l.z FROM a JOIN b USING (id), LATERAL (SELECT id * 2 AS z) l ORDER BY 1
SELECT a.x, l.z FROM a JOIN b USING (id) CROSS JOIN LATERAL (SELECT a.x + b.x AS z) l ORDER BY 1, 2
SELECT id, (WITH w AS (SELECT a.x AS q) SELECT q + (SELECT q FROM w) FROM w) FROM a ORDER BY 1
SELECT id, (WITH w AS (SELECT a.x AS q) SELECT count(*) FROM w WHERE EXISTS (SELECT 1 FROM w v WHERE v.q = w.q)) FROM a ORDER BY 1
-- range frames
CREATE TABLE ev (id int PRIMARY KEY, d date, ts timestamp, tz timestamptz, tm time, iv interval, n numeric, v int)
INSERT INTO ev VALUES (1,'2024-01-01','2024-01-01 10:00','2024-01-01 10:00+00','10:00','1 day',1.5,10),(2,'2024-01-02','2024-01-01 11:00','2024-01-01 11:00+00','11:00','25 hours',2.5,20),(3,'2024-01-05','2024-01-03 10:00','2024-01-03 10:00+00','23:30','2 days',2.6,30),(4,'2024-02-01','2024-02-01 00:00','2024-02-01 00:00+00','00:10','1 month',10,40),(5,'2024-02-29','2024-02-29 00:00','2024-02-29 00:00+00','12:00','30 days',11,50),(6,NULL,NULL,NULL,NULL,NULL,NULL,60),(7,'infinity','infinity','infinity','24:00','100 years','NaN',70),(8,'2024-01-02','2024-01-01 11:00','2024-01-01 11:00+00','11:00','25 hours',2.5,80)
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN '1 day' PRECEDING AND '3 days' FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d DESC RANGE BETWEEN '1 month' PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, count(*) OVER (ORDER BY ts RANGE '1 hour' PRECEDING), min(id) OVER (ORDER BY ts RANGE BETWEEN interval '2 days' FOLLOWING AND interval '40 days' FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY tz RANGE BETWEEN '1 month' PRECEDING AND '1 day' PRECEDING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '1 hour' PRECEDING AND '30 min' FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY iv RANGE BETWEEN '1 hour' PRECEDING AND '30 days' FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY n RANGE BETWEEN 1.0 PRECEDING AND 0.1 FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN '-1 day' PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN NULL PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 'x' PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '1 day' PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '-1 hour' PRECEDING AND CURRENT ROW) FROM ev ORDER BY id
SELECT id, sum(v) OVER (PARTITION BY id % 2 ORDER BY d NULLS FIRST RANGE BETWEEN '31 days' PRECEDING AND '31 days' FOLLOWING) FROM ev ORDER BY id
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND '1 day' FOLLOWING EXCLUDE CURRENT ROW) FROM ev ORDER BY id
SELECT id, string_agg(id::text, ',') OVER (ORDER BY id ROWS 2 PRECEDING) FROM ev ORDER BY id
SELECT id, string_agg(id::text, ',') FILTER (WHERE id <> 2) OVER (ORDER BY id) FROM ev ORDER BY id
SELECT id, count(*) FILTER (WHERE v > 20) OVER (ORDER BY id), sum(v) FILTER (WHERE v > 20) OVER (ORDER BY id ROWS 1 PRECEDING), bool_and(v > 10) OVER (ORDER BY id DESC), stddev(v) OVER (ORDER BY id) FROM ev ORDER BY id
SELECT count(DISTINCT v) OVER () FROM ev
SELECT string_agg(id::text, ',' ORDER BY id) OVER () FROM ev
SELECT rank() FILTER (WHERE true) OVER () FROM ev
SELECT id, sum(v) OVER (ORDER BY id::text RANGE 1 PRECEDING) FROM ev
SELECT id, sum(v) OVER (ORDER BY d, id RANGE '1 day' PRECEDING) FROM ev
-- generate_series, with ties
SELECT * FROM generate_series(timestamp '2024-01-30', timestamp '2024-03-02', interval '1 month') g
SELECT * FROM generate_series(timestamp '2024-01-02', '2024-01-01', '-6 hours') g
SELECT * FROM generate_series(date '2024-01-01', date '2024-01-03', '1 day') g
SELECT g::date, o FROM generate_series('2024-01-01'::timestamptz, '2024-01-03', '36 hours') WITH ORDINALITY AS g(g, o)
SELECT * FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-03', '0') g
SELECT * FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-03') g
SELECT * FROM generate_series(timestamp '2024-01-01', NULL, '1 day') g
SELECT * FROM generate_series(timestamp '2024-01-03', timestamp '2024-01-01', '1 day') g
SELECT * FROM generate_series(1.5, 3, 0.5) g
SELECT * FROM generate_series(1.0, 3) g
SELECT * FROM generate_series(3, 1.0, -0.75) g
SELECT * FROM generate_series(1.0, 3, 0) g
SELECT * FROM generate_series('NaN'::numeric, 3) g
SELECT * FROM generate_series(1.0, 'infinity') g
SELECT * FROM generate_series(1.0, 2, 'NaN') g
SELECT count(*), sum(g), min(g), max(g) FROM generate_series(0.1, 500, 0.1) g
SELECT count(*), max(g) FROM generate_series(timestamp '2024-01-01', timestamp '2024-12-31 23:59', '1 hour') g
SELECT generate_series(timestamp '2024-01-01', timestamp '2024-01-02', '12 hours') AS g ORDER BY 1
SELECT v.d, g FROM (VALUES (date '2024-01-01'), (date '2024-01-05')) AS v(d), generate_series(v.d, v.d + 1, '1 day') g ORDER BY 1, 2
SELECT * FROM generate_series(1, 2, 'x') g
SELECT * FROM generate_series(1, 2.5::float8) g
CREATE TABLE tt (id int PRIMARY KEY, v int, s text)
INSERT INTO tt VALUES (1,10,'a'),(2,20,'b'),(3,20,'c'),(4,30,'b'),(5,30,'a'),(6,NULL,'z'),(7,NULL,'y'),(8,30,'q')
SELECT v FROM tt ORDER BY v FETCH FIRST 2 ROWS WITH TIES
SELECT v FROM tt ORDER BY v FETCH FIRST 1 ROW WITH TIES
SELECT v, s FROM tt ORDER BY v DESC, s FETCH FIRST 1 ROWS WITH TIES OFFSET 0
SELECT v FROM tt ORDER BY v OFFSET 1 FETCH FIRST 1 ROWS WITH TIES
SELECT v FROM tt ORDER BY v OFFSET 3 ROWS FETCH NEXT 2 ROWS WITH TIES
SELECT v FROM tt ORDER BY v FETCH FIRST 0 ROWS WITH TIES
SELECT v FROM tt ORDER BY v FETCH FIRST 100 ROWS WITH TIES
SELECT s FROM tt ORDER BY s, v FETCH FIRST 3 ROWS WITH TIES
SELECT count(*) FROM (SELECT v FROM tt ORDER BY v FETCH FIRST 4 ROWS WITH TIES) x
SELECT v FROM tt ORDER BY length(s), v FETCH FIRST 2 ROWS WITH TIES
SELECT DISTINCT v FROM tt ORDER BY v FETCH FIRST 2 ROWS WITH TIES
SELECT v FROM tt UNION ALL SELECT 10 ORDER BY v FETCH FIRST 1 ROWS WITH TIES
SELECT v FROM tt FETCH FIRST 1 ROWS WITH TIES
SELECT v FROM tt ORDER BY v FETCH FIRST -1 ROWS WITH TIES
SELECT v, count(*) FROM tt GROUP BY v ORDER BY count(*) DESC, v IS NULL FETCH FIRST 1 ROWS WITH TIES
SELECT count(*) FROM (SELECT g % 3 FROM generate_series(1, 9000) g ORDER BY 1 FETCH FIRST 5 ROWS WITH TIES) x
-- json
CREATE TABLE js (id int PRIMARY KEY, t text, n numeric, f float8, b boolean, d date, ts timestamp, tz timestamptz, j json, u uuid)
INSERT INTO js VALUES (1, E'a"b\\c\n\x01é', 1.50, 2.5, true, '2024-02-29', '2024-02-29 10:00:00.5', '2024-02-29 10:00+00', '{"x": [1, 2]}', '00000000-0000-0000-0000-000000000001'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, '', 'NaN', 'infinity', false, 'infinity', '-infinity', 'infinity', 'null', NULL)
SELECT id, to_json(t), to_json(n), to_json(f), to_json(b), to_json(d), to_json(ts), to_json(tz), to_json(j), to_json(u) FROM js ORDER BY id
SELECT json_build_object('id', id, 't', t, 'n', n, 'ts', ts, 'j', j) FROM js ORDER BY id
SELECT json_build_array(id, t, b, d, NULL, 'x', 1.5, j) FROM js ORDER BY id
SELECT json_build_object(), json_build_array(), json_build_object(1, 2, true, DATE '2024-01-01', 'k'::text, NULL)
SELECT json_build_object('a')
SELECT json_build_object(NULL, 1)
SELECT json_build_object('{}'::json, 1)
SELECT json_agg(id ORDER BY id DESC), json_agg(t ORDER BY id) FROM js
SELECT json_agg(id) FROM js WHERE false
SELECT json_agg(n ORDER BY n, id) FILTER (WHERE id > 1) FROM js
SELECT json_object_agg(id, t ORDER BY id) FROM js
SELECT json_object_agg(t, id) FROM js
SELECT json_object_agg(b, d ORDER BY id) FROM js WHERE b IS NOT NULL
SELECT json_agg(json_build_object('i', id) ORDER BY id) FROM js
SELECT b, json_agg(id ORDER BY id) FROM js GROUP BY b ORDER BY b
SELECT json_object_agg('a', 1)
SELECT json_agg(1, 2)
SELECT json_object_agg('a')
SELECT to_json('x'::text), to_json(NULL::int), to_json(12345678901), to_json(interval '1 day'), to_json(time '10:00')
SELECT json_build_object('a', json_build_array(1, json_build_object('b', NULL))) -> 'a' -> 1
SELECT to_json(timestamp '0044-03-15 BC 10:00'), to_json(timestamptz '2024-01-01 00:00:00.123456-03:30')
SELECT (SELECT json_agg(x.id ORDER BY x.id) FROM js x WHERE x.id <= js.id) FROM js ORDER BY id
SELECT json_agg('x')
SELECT to_json('x')
-- lateral, as reviewed
CREATE TABLE la (i int PRIMARY KEY, j int)
INSERT INTO la VALUES (1, 1), (2, 2), (3, 3), (4, 3)
SELECT x.i, y.i, k, b FROM la x, la y, LATERAL (SELECT x.i AS k, x.i + 1 AS b) z WHERE x.j = y.j AND y.i = z.k AND z.b = x.j
SELECT x.i, y.i, k, b FROM la x, la y, LATERAL (SELECT x.i AS k, x.i AS b) z WHERE x.j = y.j AND y.i = z.k AND z.b = x.j ORDER BY 1, 2
SELECT * FROM (VALUES (1, 5)) v (x, z) LEFT JOIN generate_series(1, z) u (y) ON y = x
SELECT * FROM (VALUES (1, 5), (2, 3), (9, 2)) v (x, z) LEFT JOIN generate_series(1, z) u (y) ON y = x OR y = 2 ORDER BY 1, 2, 3
SELECT * FROM (VALUES (1, ARRAY[10, 20])) v (x, ys) LEFT JOIN unnest(ys) u (y) ON y = 10
SELECT * FROM la a LEFT JOIN LATERAL (SELECT b.j FROM la b WHERE b.j >= a.j) q (y) ON y = a.j ORDER BY 1, 2, 3
-- casts, as reviewed
CREATE TABLE rl (n numeric, f float8, i int, v varchar(4), s text)
INSERT INTO rl VALUES (3000000000, 3e9, -2147483648, 'ab', 'abcdef')
SELECT n::int::bigint FROM rl
SELECT f::int::bigint FROM rl
SELECT 3e9::float8::int::bigint
SELECT abs(i)::bigint FROM rl
SELECT (i << 1)::bigint, (-(i + 1))::bigint FROM rl
SELECT x::bigint FROM (SELECT n::int AS x FROM rl) q
SELECT octet_length(v::char(4)), octet_length(v::char(2)::char(2)), octet_length('ab'::varchar(4)::char(4)) FROM rl
SELECT octet_length(s::varchar(4)::char(6)), s::varchar(4)::char(6) || 'x', octet_length(v::varchar(3)::char(6)) FROM rl
-- grouping sets, as reviewed
SELECT g AS a1, g AS a2 FROM generate_series(1, 3) g GROUP BY a1, ROLLUP (a2) ORDER BY 1, 2
SELECT g AS a1, g AS a2 FROM generate_series(1, 3) g GROUP BY 1, ROLLUP (2) ORDER BY 1, 2
SELECT g AS a1, g AS a2 FROM generate_series(1, 3) g GROUP BY g, ROLLUP (a2) ORDER BY 1, 2
SELECT g AS a1, g AS a2, g + 1 FROM generate_series(1, 3) g GROUP BY a1, ROLLUP (a2) ORDER BY 1, 2, 3
SELECT g AS a1, g AS a2, count(*) FROM generate_series(1, 3) g GROUP BY CUBE (a1, a2) HAVING g > 1 ORDER BY 1, 2, 3
-- set-returning functions beside others
create table srt(x int primary key, y int)
insert into srt values (1,10),(2,20),(3,20)
select count(*) over (), generate_series(1,3) from (values(1),(2)) v(x)
select distinct on (x) x, generate_series(1,3) from (values(1),(2)) v(x) order by x
select distinct on (x) x, generate_series(1,3) from (values(1),(2)) v(x)
select distinct on (x) x, generate_series(1,3) g from (values(1),(2)) v(x) order by x, g desc
select distinct on (x) x, unnest(array[3,1]) g, x + generate_series(1,2) from (values(1),(2)) v(x) order by x, x desc limit 3
select x, row_number() over (order by x desc), generate_series(1,2) from (values(1),(2)) v(x) order by 1,2,3
select x, generate_series(1,2), sum(x) over (order by x) + generate_series(1,2) from (values(1),(2)) v(x) order by 1,2,3
select max(x), generate_series(1,3) from srt
select max(x) + generate_series(1,3) from srt
select y, count(*), generate_series(1,count(*)) from srt group by y order by 1,3
select generate_series(1,3) g, count(*) from srt group by g order by 1
select generate_series(1,3) g, count(*) from srt group by 1 order by 1
select generate_series(1,3), * from srt order by 1,2
select x + generate_series(1,3) from srt order by 1
select generate_series(1,2), generate_series(1,4)
select generate_series(1,2) + generate_series(10,13)
select generate_series(1,2) * 10 + generate_series(1,3) * x, x from srt order by 2, 1
select x, unnest(array[x,y]) + y from srt order by 1,2
select x from srt order by generate_series(1,2), x
select x, generate_series(1,2) from srt order by generate_series(1,2), x
select x, generate_series(1,x) from srt order by 1,2 limit 2
select x, generate_series(1.0, 2.0, 0.5), generate_series(timestamp '2020-01-01', timestamp '2020-01-03', '1 day') from srt order by 1,2
select x, generate_series(1, null::int), 1+ generate_series(1,0) from srt
select generate_series(1,2), generate_series(5,1,0)
select generate_series(1,2), generate_series('nan'::numeric, 1)
select case when true then generate_series(1,2) end
select coalesce(generate_series(1,2), 3) from srt
select generate_series(1,2), (select max(x) from srt) + generate_series(1,2)
select x, (select max(t2.x) from srt t2 where t2.x < srt.x) + generate_series(1,2) from srt order by 1,2
select sum(generate_series(1,2)) from srt
select generate_series(1, x) a, x, string_to_table('a,b',',') from srt order by 2,1
select distinct generate_series(1,2), generate_series(1,2) + 0 * x from srt order by 1
select generate_series(1,2) from srt union select 7 order by 1
select generate_series(9223372036854775805, 9223372036854775807), x from srt where x = 1
select generate_series(2147483646, 2147483647), generate_series(1,2)
select generate_series(-5, -9, -2), generate_series(1,2)
select x, regexp_matches('ab cd', '(.)(.)', 'g') || '{z}' from srt where x = 1
select exists (select generate_series(1,0), 1 + generate_series(1,0))
select x, array(select generate_series(1, x) + x) from srt order by 1
insert into srt select generate_series(10,11), row_number() over ()
insert into srt select generate_series(20,21) + count(*), max(y) from srt
select * from srt order by 1
select generate_series(1,2) where false
select generate_series(1,3) limit 2 offset 1
select x, generate_series(1,3) as x2 from srt where x < 3 order by x, x2 desc fetch first 4 rows only
-- aggregates of the query outside
create table aoa(i int primary key, j int, s text)
insert into aoa values (1,10,'a'),(2,10,'b'),(3,20,'c'),(4,null,'d')
create table aob(i int primary key, k int)
insert into aob values (1,1),(2,3)
select (select count(*) filter (where o<>0) from (values(1)) t0(i)) from (values(2),(3)) t1(o)
select (select count(o) from (values(1)) t0(i)) from (values(2),(3)) t1(o)
select (select sum(o + i) from (values(1)) t0(i)) from (values(2),(3)) t1(o) order by 1
select (select max(aoa.j) from aob) from aoa
select (select max(aoa.j) from aob where k = 1) from aoa
select (select max(aoa.j)) from aoa
select (select max(aoa.j) + max(aob.k) from aob) from aoa
select j, (select count(aoa.i) from aob where aob.k = 1) from aoa group by j order by j
select j, (select count(aoa.i) + max(k) from aob) from aoa group by j order by j
select j, (select j + max(aoa.i)) from aoa group by j order by 1
select aoa.i, (select max(aoa.j) from aob) from aoa
select (select (select max(aoa.j))) from aoa
select (select (select max(aoa.j) from aob where aob.i=1) from aob where i=1) from aoa
select (select max(j) from aob) from aoa
select (select max(i) from aob) from aoa order by 1
select (select max(k) from aob where aob.i = aoa.i) from aoa order by 1
select (select sum(distinct aoa.j) from aob where i = 1), count(*) from aoa
select (select string_agg(aoa.s, ',' order by aoa.i desc)) from aoa
select j from aoa group by j having (select max(aoa.i) > 1) order by j
select j from aoa group by j having exists (select 1 from aob where aob.k = max(aoa.i)) order by j
select j from aoa group by j order by (select -max(aoa.i)), j
select i from aoa where (select max(aoa.j)) > 1
select i from aoa where i = (select max(aoa.j) from aob)
select * from aoa, lateral (select max(aoa.i) from aob) q
select (with w as (select 1 as j) select max(j) from w) from aoa
select (select max(q.j) from (select j from aoa) q) from aoa order by 1
select (select max(j) from (select j from aoa) q) from aoa order by 1
select (select max(z) from (select j as z from aoa) q) from aoa order by 1
select (select max(column1) from (values (1),(2)) v) from aoa
select (select count(aoa.*) from aob) from aoa
select (select sum(aoa.j) over ()) from aoa
select (select array_agg(aoa.i order by aoa.i) from aob where i=1) from aoa
select count(*), (select count(*) from aob) from aoa
select (select count(*) from aob where aob.i <= aoa.i) from aoa order by 1
select i, (select count(*) filter (where aoa.i > aob.i) from aob) from aoa order by 1
select (select count(*) filter (where aoa.i > 2) from aob) from aoa order by 1
select exists (select max(aoa.i) from aob where false) from aoa
select 1 in (select max(aoa.i) from aob) from aoa
select max(i), (select min(aoa.i) from aob b2 where b2.k = 3) from aoa
select (select max(min(aoa.i)) from aob) from aoa
select max((select aoa.i)) from aoa
select max((select max(aoa.i))) from aoa
update aoa set j = (select max(aoa.i) from aob)
select case when (select count(aoa.j) from aob where k=3) > 2 then 'x' else 'y' end from aoa
SELECT count(aoa.*), count(x.*) FILTER (WHERE x.i > 1) FROM aoa JOIN aob x ON x.k = aoa.i
SELECT count(aoa.*), count(x.*) FROM aoa LEFT JOIN aob x ON x.k = aoa.i
SELECT count(x.*), count(y.*) FROM (SELECT NULL::int) x, aoa y
SELECT count(nothing.*) FROM aoa
SELECT max(aoa.*) FROM aoa
SELECT count(DISTINCT aoa.*) FROM aoa
-- errors and texts of the catalog, as reviewed
CREATE TABLE ev (id serial PRIMARY KEY, s text)
CREATE VIEW evv AS SELECT id, s FROM ev WHERE id > 0
INSERT INTO ev (s) VALUES ('a')
COPY (SELECT * FROM evv) TO STDOUT
COPY (INSERT INTO ev (s) VALUES ('b') RETURNING id) TO STDOUT
CREATE TABLE ov (a int)
INSERT INTO ov VALUES (2147483647), (1)
SELECT * FROM ov WHERE NULL > a * 2
SELECT * FROM ov WHERE NULL > a / 0
SELECT NULL > a * 2, NULL + a * 2, a * 2 + NULL::int FROM ov
SELECT * FROM ov WHERE a * 2 > NULL::int
SELECT a * 2 FROM ov
CREATE TABLE du (i int PRIMARY KEY, s text NOT NULL CHECK (s <> 'bad'))
INSERT INTO du VALUES (1, 'a')
INSERT INTO du VALUES (1, 'b'), (2, NULL)
INSERT INTO du VALUES (1, 'b'), (NULL, 'x')
INSERT INTO du VALUES (3, 'b'), (3, 'x'), (2, NULL)
INSERT INTO du VALUES (1, 'b'), (2, 'bad')
INSERT INTO du VALUES (2, 'bad'), (1, 'b')
INSERT INTO du VALUES (2, NULL), (1, 'b')
INSERT INTO du VALUES (2, 'b'), (3, 'bad'), (2, 'c')
INSERT INTO du SELECT i, CASE WHEN i = 1 THEN 'x' END FROM (VALUES (1), (2)) v (i)
SELECT * FROM du
-- definitions, settings, WITH RECURSIVE, as reviewed
create table rdu(i int primary key)
insert into rdu values (1),(2),(3)
with recursive r(n) as (with x as (select 1 as n) select n from x union all select n+1 from r where n < 3) select * from r
with recursive r(n) as (with x as (select max(i) as m from rdu) select 1 union all select n+1 from r, x where n < m) select * from r
with recursive r(n) as (with x as (select i from rdu), y as (select i+1 as j from x) select min(j) from y union all select n+1 from r, x where n = i and exists (select 1 from y where j = n)) select * from r order by 1
with recursive r(n) as (with x as (select 1 as n) select n from x union select n+1 from r where n < 3 and exists (with z as (select i from rdu) select 1 from z where i = n)) select * from r, (select max(n) from r) q order by 1
with recursive r(n) as (with x as materialized (select 1 as n) select n from x union all select r.n+1 from r, x where r.n < 3 order by 1) select * from r
with recursive r(n) as (select 1 union all select r.n+1 from rdu left join r on r.n = rdu.i where r.n < 3) select * from r
with recursive r(n) as (select 1 union all select r.n+1 from r left join rdu on r.n = rdu.i where r.n < 3) select * from r
with recursive r(n) as (select 1 union all select r.n+1 from r full join rdu on r.n = rdu.i where r.n < 3) select * from r
with recursive r(n) as (select 1 union all select r.n+1 from rdu right join r on r.n = rdu.i where r.n < 3) select * from r
create table cpt(a int)
prepare cpp as select * from cpt
execute cpp
alter table cpt add b int
execute cpp /* 2 */
execute cpp /* 3 */
alter table cpt drop b
execute cpp /* 4 */
alter table cpt alter a type text
execute cpp /* 5 */
drop table cpt
execute cpp /* 6 */
create table cpt(a int) /* 2 */
execute cpp /* 7 */
deallocate cpp
prepare cpp as select a from cpt where a = $1
alter table cpt add zz int
execute cpp(1)
prepare cpi as insert into cpt values ($1) returning *
execute cpi(7)
alter table cpt add yy int
execute cpi(8)
select * from cpt
create table dup(i int primary key, s text not null)
insert into dup values (1, 'a')
create table ovp(a int)
insert into ovp values (1), (2)
select l.* from (values (1,2)) o(a,b), lateral (select o.*) l
set role none
reset role
set session authorization default
set search_path to public
set search_path = "$user", public
reset search_path
select j.* from (dup a join dup b on a.i = b.i) j
select * from (dup a join dup b using (i)) j
create table wao(i int) with (autovacuum_enabled=false)
create table wao2(i int) with (autovacuum_vacuum_scale_factor=0.1, fillfactor=50)
create table wao3(i int) with (toast_tuple_target=128)
create table wao4(i int) with (fillfactor=2)
create table wao5(i int) with (nosuch=2)
create table oc(i int) on commit drop
create table oc2(i int) on commit preserve rows
create table sg(i serial generated always as identity)
create table sg2(i int default 1 generated always as identity)
create table sysc(xmin int)
create table sysc(ctid int)
create table sysc(tableoid int)
create table sysc(oid int)
alter table dup add xmax int
alter table dup rename s to cmin
create table cpq(a int)
alter table cpq add b int
alter table cpq alter b type text
deallocate cpp /* 2 */
select 'a' collate "C" < 'B', s collate "C" from dup order by s collate "C"
select 'a' collate "POSIX", 'a' collate "default"
select 1 collate "C"
create table coll(s text collate "C", t varchar(5) collate "default" primary key)
begin read only
select 1
insert into cpq values (1)
rollback
begin isolation level repeatable read read write
commit
start transaction read only
commit /* 2 */
begin read only, isolation level serializable
commit /* 3 */
set transaction read only
set session characteristics as transaction read only
set session characteristics as transaction read write
truncate ovp, cpq
select count(*) from ovp
truncate ovp, nosuch
comment on table ovp is 'x'
comment on column ovp.a is 'x'
comment on table nosuch is 'x'
comment on column ovp.zz is 'x'
vacuum
vacuum ovp
vacuum analyze ovp
vacuum (verbose false, analyze) ovp, cpq
vacuum full ovp
vacuum nosuch
vacuum ovp(zz)
begin
vacuum /* 2 */
rollback /* 2 */
-- dates and intervals, as reviewed
select interval '1 2' day to hour, interval '1 2:03' day to hour, interval '1 2:03' day to minute, interval '1 2:03:04' day to second, interval '1-2' year to month
select interval '1 2 hours'
select interval '1 2'
select interval '1 2 3' day to hour
select interval '1 2.5' day to hour
select interval '1 -2' day to hour
select interval 'P0002-10-15T10:30:20', interval 'P1Y2M3DT4H5M6S', interval 'PT36H', interval 'P00021015T103020', interval 'P0002-10-15', interval 'PT10:30:25', interval 'P0002', interval 'P1.5Y'
select interval 'P0002-10T10:30'
select interval 'P0002-1015T10'
select interval 'P1Y-2'
select interval 'PT10:30:25.5', interval 'PT103020.25', interval 'P-1-2-3T-4:05:06'
select interval 'P00021015'
select interval 'P2T'
select interval 'P'
select interval 'PT10'
select interval 'P10:30'
select interval 'P1Y10:30'
select interval 'PT1H30'
select interval '4 millenniums 5 centuries 4 decades 1 year 4 months 4 days 17 minutes 31 seconds', interval '1 mil', interval '2 millennia', interval '3 c', interval '1 dec', interval '2 decs'
select timestamptz '1970-01-01+00', timestamptz '1970-01-01 +02', timestamptz '1970-01-01 UTC', timestamptz '1970-01-01 z', timestamptz '1970-01-01+02:30', timestamptz '1970-01-01 -05'
select timestamptz '1970-01-01-05'
select date '1970-01-01+05', date '1970-01-01 utc', timestamp '1970-01-01+05', timestamptz 'Jan 1, 1970 +03', timestamptz '19700101+03', timestamptz '1970-01-01z'
select timestamptz '1970-01 +05'
select time '10:00+05', time 'allballs', timestamp '2024-01-01 allballs', timestamptz '2024-01-01 allballs', time '2024-01-01 allballs'
select time 'allballs 10:00'
select date '1999-08-Jan'
select date '1999-Jan-08', date '08-Jan-1999', date 'Jan-08-1999', date '99-Jan-08'
select date '99-08-Jan'
select date '08-99-Jan'
select date '1999 08 Jan'
select date '08 Jan 1999'
select date 'allballs'
select interval 'P1YT'
select interval 'PT'
select interval 'P1Y2'
select date 'today' = current_date, date 'tomorrow' - current_date, date 'yesterday' - current_date, timestamp 'today' = current_date, timestamp 'now' = now()::timestamp, time 'allballs', timestamp '2024-01-01 allballs', timestamptz 'tomorrow' - current_date
select 'now'::timestamptz = now(), 'now'::date = current_date, 'now'::time = localtime
select 'today'::text::date = current_date
select date 'today ' = current_date, date ' TODAY' = current_date
select timestamp 'today 10:00' - current_date, timestamp 'tomorrow 10:30' - current_date
select time 'now' is not null
select date 'todayx'
select timestamp 'now 10:00'
select time 'today'
create table dax(d date default 'today', t timestamptz, s text)
insert into dax(t, s) values ('now', 'tomorrow')
select d = current_date, t <= now(), s::date - current_date from dax
select count(*) from dax where d = 'today' and t < 'tomorrow'
select s::timestamp::time from dax
-- julian days; substring by SQL's patterns
select extract(julian from timestamp '2010-05-15 00:30:00'), date_part('julian', timestamp '2010-05-15 00:30:00'), extract(julian from timestamptz '2010-05-15 17:30:10.123456'), date_part('julian', timestamp '2010-05-15 12:00'), extract(julian from timestamp '2010-05-15 12:00'), extract(julian from timestamp '2010-05-15 00:00:00.000001')
select date_part('julian', date '2010-05-15'), date_part('julian', timestamp '1969-07-20 20:17:40'), date_part('julian', timestamp '2024-02-29 23:59:59.999999'), date_part('julian', timestamp 'infinity'), extract(julian from timestamptz '4714-11-24 10:00 BC'), date_part('julian', timestamp '4714-11-24 10:00:01 BC')
select substring('abcdefg' from 'a#"%#"g' for '#')
select substring('abcdefg' similar 'a#"(b_d)#"%' escape '#')
select substring('abcdefg' from '#"%#"g' for '#'), substring('abcdefg' from 'c%' for '#'), substring('abc' from '%#"x%#"' for '#'), substring('abcdefg' from 'a#"%' for '#')
select substring('abcdefg' from 'a*#"%#"g*#"x' for '#')
select substring(null from 'a' for '#'), substring('a' from null for '#'), substring('a' from 'a' for null)
select substring('abcdefg' similar 'a*#"%#"g*' escape '#'), substring('abcdefg' similar '#"%#"g' escape '#'), substring('abcdefg' similar 'a#"%#"x|g' escape '#'), substring('abcdefg' similar 'a#"%|ab#"g' escape '#')
select substring('abcdefg' similar 'a#"%' escape '#'), substring('abcdefg' similar '%#"_#"%' escape '#'), substring('xaya' similar '%#"a%#"%' escape '#')
select substring('aabb' similar 'a*#"a*b#"b*' escape '#'), substring('über' from '_#"b%#"' for '#'), substring('a"b' from 'a#"_#"b' for '#')
select substring('abc' similar 'abc' escape '#'), substring('abc' similar 'ab' escape '#'), substring('' similar '#"%#"' escape '#')
select substring('a#c' similar 'a#"##%#"' escape '#')
select substring('abc' from 'abc' for '##')
select substring('a1b22' from '%#"[0-9]{2}#"' for '#'), substring('Thomas' from '%#"o_a#"_' for '#')
select substring('abc' from 'a\"b\"c' for '\')
select x, substring(x from '_#"%#"_' for '#') from (values ('abcd'), ('a'), (null)) v(x)
select substring('foobar' from 'o(.)b'), substring('abcdef', 2, 3), substring('abc', 2)
select null in (x / 0), null not in (x / 0, 1), (null) in (x / x) from (values (0), (1)) v(x)
select x from (values (0), (1)) v(x) group by x having (null) in (x / x)
select null in (1, null), null::int in (1 / x) from (values (1)) v(x)
-- int2vector and oidvector
SELECT '1 2 3'::int2vector, ''::int2vector, ' 7  8 '::oidvector, '1 2'::int2vector::text
SELECT '{1,2}'::int2vector
SELECT '1 a'::int2vector
SELECT '40000'::int2vector
SELECT '-32768 32767'::int2vector
SELECT '5000000000'::oidvector
SELECT ('4 5 6'::int2vector)[0], ('4 5 6'::int2vector)[2], ('4 5 6'::oidvector)[3]
SELECT '1 2'::int2vector = '1 2'::int2vector
-- dates beside timestamps
select d, d < timestamp '2020-03-01', d < timestamp '2020-03-01 12:00', timestamp '2020-03-01' < d, timestamp '2020-03-01 00:00:00.000001' < d, d < date '2020-02-29' + interval '1 day', d < timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' < d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), ('5000000-01-01'), (null)) v(d)
select d, d < timestamp 'infinity', timestamp '-infinity' < d, d < null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d <= timestamp '2020-03-01', d <= timestamp '2020-03-01 12:00', timestamp '2020-03-01' <= d, timestamp '2020-03-01 00:00:00.000001' <= d, d <= date '2020-02-29' + interval '1 day', d <= timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' <= d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), ('5000000-01-01'), (null)) v(d)
select d, d <= timestamp 'infinity', timestamp '-infinity' <= d, d <= null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d > timestamp '2020-03-01', d > timestamp '2020-03-01 12:00', timestamp '2020-03-01' > d, timestamp '2020-03-01 00:00:00.000001' > d, d > date '2020-02-29' + interval '1 day', d > timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' > d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), ('5000000-01-01'), (null)) v(d)
select d, d > timestamp 'infinity', timestamp '-infinity' > d, d > null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d >= timestamp '2020-03-01', d >= timestamp '2020-03-01 12:00', timestamp '2020-03-01' >= d, timestamp '2020-03-01 00:00:00.000001' >= d, d >= date '2020-02-29' + interval '1 day', d >= timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' >= d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), ('5000000-01-01'), (null)) v(d)
select d, d >= timestamp 'infinity', timestamp '-infinity' >= d, d >= null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d = timestamp '2020-03-01', d = timestamp '2020-03-01 12:00', timestamp '2020-03-01' = d, timestamp '2020-03-01 00:00:00.000001' = d, d = date '2020-02-29' + interval '1 day', d = timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' = d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d = timestamp 'infinity', timestamp '-infinity' = d, d = null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d <> timestamp '2020-03-01', d <> timestamp '2020-03-01 12:00', timestamp '2020-03-01' <> d, timestamp '2020-03-01 00:00:00.000001' <> d, d <> date '2020-02-29' + interval '1 day', d <> timestamp '1999-12-31 23:59', timestamp '1969-07-20 20:17' <> d from (values (date '2020-02-29'), ('2020-03-01'), ('2020-03-02'), ('1999-12-31'), ('2000-01-01'), ('1969-07-20'), ('1969-07-21'), ('infinity'), ('-infinity'), (null)) v(d)
select d, d <> timestamp 'infinity', timestamp '-infinity' <> d, d <> null::timestamp from (values (date '2020-02-29'), ('infinity'), ('-infinity'), (null)) v(d)
select d from (values (date '2020-02-29'), ('2020-03-01')) v(d) where d between timestamp '2020-02-29 00:00' and timestamp '2020-02-29 23:00'
-- sizes and rights
select pg_relation_size('nope')
select pg_relation_size('pg_class', 'x')
select pg_relation_size(99999999::oid), pg_table_size(null), pg_total_relation_size(99999999::oid), pg_indexes_size(99999999::oid)
select pg_database_size('no such'), 1
select pg_tablespace_size('no such'), 1
select pg_tablespace_size('pg_default') > 0, pg_database_size(current_database()) > 0, pg_total_relation_size('pg_class') >= 0
select has_database_privilege(current_database(), 'create, temp'), has_database_privilege(current_user, current_database(), 'TEMPORARY'), has_schema_privilege('public', 'usage'), has_schema_privilege(98765432::oid, 'usage'), has_schema_privilege('pg_catalog', 'usage with grant option')
select has_schema_privilege('nope', 'usage')
select has_schema_privilege('public', 'select')
select has_database_privilege('no such', 'create')
select has_database_privilege('no such role', current_database(), 'create')
select has_table_privilege('pg_class', 'select, drop')
