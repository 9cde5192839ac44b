-- long constants
SELECT count(*) FROM regexp_split_to_table(repeat('a,', 100000), ',')
SELECT count(*), min(m), max(m) FROM regexp_matches(repeat('a,', 100000), 'a', 'g') m
SELECT array_length(regexp_split_to_array(repeat('a,', 100000), ','), 1)
SELECT regexp_match(repeat('a,', 300000) || 'b', 'b'), regexp_match(repeat('a,', 300000) || 'b', 'c')
SELECT length(regexp_replace(repeat('a,', 300000), 'a', 'bb', 'g')), repeat('a,', 300000) ~ 'b', repeat('a,', 300000) !~ 'b', regexp_count(repeat('a,', 300000), ',')
SELECT length(substring(repeat('a,', 300000) from '.*')), regexp_instr(repeat('a,', 300000) || 'b', 'b'), length(substring(repeat('a,', 300000) similar '%#",%#"' escape '#'))
CREATE TABLE long_parts (id serial, v text DEFAULT array_length(regexp_split_to_array(repeat('a,', 90000), ','), 1)::text)
CREATE TABLE long_check (a int CHECK (array_length(regexp_split_to_array(repeat('a,', 90000), ','), 1) = 90001))
INSERT INTO long_check VALUES (1)
DROP TABLE long_check
INSERT INTO long_parts (v) SELECT regexp_split_to_table(repeat('a,', 100000), ',')
INSERT INTO long_parts (v) SELECT x[1] FROM regexp_matches(repeat('b,', 100000), 'b', 'g') x
INSERT INTO long_parts DEFAULT VALUES
SELECT v, count(*) FROM long_parts GROUP BY v ORDER BY v
SELECT * FROM (VALUES ('a'), ('b'), ('c')) x(v) WHERE v = ANY (regexp_split_to_array(repeat('b,', 50000) || 'a', ',')) ORDER BY v
PREPARE long_ones(text) AS SELECT count(*) FROM regexp_split_to_table(repeat($1, 100000), ',')
EXECUTE long_ones('x,')
EXECUTE long_ones(',')
DEALLOCATE long_ones
DROP TABLE long_parts
-- SIMILAR in three parts
SELECT length(substring(repeat('a', 200000) similar '%#"b#"%' escape '#'))
SELECT length(substring(repeat('ab', 100000) similar '(a|b)*#"(ab)*#"%b' escape '#')), length(substring(repeat('ab', 100000) similar 'a%#"%b%#"%b' escape '#')), length(substring(repeat('ab', 100000) similar '%#"%#"%' escape '#'))
SELECT substring('abcdefg' similar 'a#"(b_d)#"%' escape '#'), substring('abcdefg' from 'a#"%#"x|g' for '#'), substring('abcdefg' similar '%#"%' escape '#'), substring('foobar' similar '#"(o|f)*#"%' escape '#')
SELECT substring('abc' similar '%#"#"%#"' escape '#')
SELECT substring('abc' similar 'a#"(b#"c)' escape '##')
SELECT 'abc' SIMILAR TO 'a#"b#"c' ESCAPE '#', 'abc' SIMILAR TO 'a\"_\"c', 'ab' SIMILAR TO 'a#"_#"c' ESCAPE '#'
SELECT 'abc' SIMILAR TO 'a#"b#"c#"' ESCAPE '#'
SELECT 'a]c' SIMILAR TO 'a[]x]c', 'a]c' SIMILAR TO 'a[^]x]c', 'a^c' SIMILAR TO 'a[^^]c', 'a%c' SIMILAR TO 'a[%]c', 'a%' SIMILAR TO 'a[%x]+', 'ab' SIMILAR TO 'a[[:alpha:]%]'
SELECT substring('a' similar '#d|[a#]_#".|^[a#][^b]|_[a#]#"[^b]b_%##|#%#".|##a' escape '#'), substring('' similar '^_b#a|[a#]#"[ab]b#"|' escape '#')
SELECT 'a' SIMILAR TO 'a\', 'a\' SIMILAR TO 'a\', 'a' SIMILAR TO 'a#' ESCAPE '#', substring('ab' similar 'a#"_#"#' escape '#')
-- forms of dates and times
SELECT '10:30 today'::timestamp = date_trunc('day', now()::timestamp) + interval '10:30', 'tomorrow allballs'::timestamptz - 'yesterday'::timestamptz, ('to' || 'day')::date = current_date, 'now'::time IS NOT NULL
SELECT 'J2452271-08'::timestamptz, 'J2452271'::date, 'Jan 1 00:00:00 GMT-4 2001'::timestamptz, '2001-02-03 04:05:06 UTC+3'::timestamptz, '2000-2-29T7:59:59 UTC+3'::date
SELECT '23:59:60.01'::time
SELECT '23:59:60'::time, '10:59:60.5'::time, 'T13:5'::time, '04:05:06.789 PM'::time, 'T040506-08'::time, 'allballs'::time, '0405'::time, 'J2452271 04:05'::time
SELECT 'infinity 10:00'::timestamp, 'epoch 10:00'::timestamp, '2000 Jan 01 236060'::timestamp, '99-Jan-08'::date, '08 1999 january'::date, '2942770129 AD'::date
SELECT '2000-01-01 24:00:01'::timestamp
SELECT 'Jan 32 2000'::date
SELECT '21474836480131'::date
SELECT '2000-01-01 10:00 +16'::timestamptz
SELECT '2000-01-01 Nowhere/Zone'::timestamptz
SELECT '2000-13-01'::date
SELECT '10:30 yesterday today'::timestamp
SELECT 'today'::time
SELECT '5874898-01-01'::date
SELECT '294277-01-01'::timestamp
SELECT '4714-11-23 BC'::date
SELECT '0000-01-01'::date
-- forms of intervals
SELECT '178956971 years'::interval
SELECT '2147483648 years'::interval
SELECT interval '2000-01-01'
SELECT '1-2 :20'::interval, '1 year 2 mons 1:'::interval, '1 day day'::interval, '1 day ago ago'::interval, 'PTT102030'::interval, '10:00 1.5 days'::interval, 'P0001-02-03T04:05:06'::interval, '-1-2 +3 -4:05:06'::interval
SELECT '1 ago'::interval
SELECT 'P178956971Y'::interval
SELECT '1-13'::interval
SELECT '9223372036854775808 microseconds'::interval
SELECT '1 2147483648 days'::interval
SELECT '1 timezone'::interval
-- char(n)
SELECT 'a'::char(3) ~ '^a$', 'a'::char(3) ~ 'a  ', 'a'::char(3) ~* 'A  $', 'a'::char(3) !~ 'a$', 'a'::char(3) !~* 'A$'
SELECT 'a'::char(3) LIKE 'a', 'a'::char(3) LIKE 'a  ', 'a'::char(3) ILIKE 'A', 'a'::char(3) ILIKE 'A  ', 'a'::char(3) NOT ILIKE 'A', 'a'::char(3) NOT LIKE 'a'
SELECT 'a'::char(3) SIMILAR TO 'a', 'a'::char(3) SIMILAR TO 'a  '
SELECT 'a'::char(3)::name || '|', length('a'::char(3)::name::text), 'a'::char(3)::varchar || '|', 'a'::char(3)::text || '|'
SELECT length('a  '::char(3)), octet_length('a'::char(3)), char_length('a'::char(3)), bit_length('a'::char(3)), character_length('a'::char(3))
SELECT upper('a'::char(3)) || '|', lower('A'::char(3)) || '|', initcap('a'::char(3)) || '|', reverse('ab'::char(3)) || '|', concat('a'::char(3), '|'), concat_ws('-', 'a'::char(3), 'b'::char(2))
SELECT 'a'::char(3) || '|', 'a'::char(3) || 'b'::char(3) || '|', substring('abc'::char(5), 2) || '|', substr('abc'::char(5), 2, 5) || '|', left('a'::char(3), 2) || '|', right('a'::char(3), 2) || '|', lpad('a'::char(3), 5, 'x'), rpad('a'::char(3), 5, 'x'), repeat('a'::char(3), 2) || '|'
SELECT trim('a'::char(3)) || '|', ltrim('  a'::char(5)) || '|', rtrim('a'::char(3)) || '|', btrim(' a'::char(5)) || '|', position('  ' in 'a'::char(5)), strpos('a'::char(5), ' ')
SELECT replace('a b'::char(5), ' ', '_'), translate('a b'::char(5), ' ', '_'), split_part('a b'::char(5), ' ', 2) || '|', md5('a'::char(3)), md5('a'), ascii(''::char(2)), quote_literal('a'::char(3)), quote_ident('a'::char(3)), to_json('a'::char(3)), to_jsonb('a'::char(3)), format('%s|%L', 'a'::char(3), 'a'::char(3))
SELECT regexp_replace('a'::char(3), '\s', '_', 'g'), regexp_match('a'::char(3), 'a\s*'), substring('a'::char(3) from 'a *') || '|', string_to_array('a b'::char(5), ' '), starts_with('a'::char(3), 'a '), overlay('abc'::char(5) placing 'x' from 2) || '|', encode('a'::char(3)::text::bytea, 'hex')
SELECT 'a'::char(3) = 'a', 'a'::char(3) = 'a '::text, 'a'::char(3) < 'a'::char(5), 'a'::char(3) = 'a'::varchar, 'a '::text = 'a'::char(3), 'a'::name = 'a'::char(3), 'a'::char(3) = any (array['a ', 'b']), 'a'::char(3) in ('a '), 'a'::char(3)::bpchar || '|', 'a  '::bpchar || '|', length('a  '::bpchar)
SELECT max(x) || '|', min(x), count(distinct x), string_agg(x, ','), array_agg(x), json_agg(x) from (values ('a'::char(3)), ('a '::char(3)), ('b'::char(3))) v(x)
SELECT 'a'::char(3) ~ p FROM (VALUES ('^a$'), ('^a  $'), ('a\s+$')) v(p)
SELECT x ~ '^a$', x ILIKE 'A', x LIKE 'a__', x LIKE 'a' FROM (VALUES ('a'::char(3))) v(x)
-- "char"
SELECT coalesce('a'::char(3), 'b') || '|', nullif('a'::char(3), 'a '), greatest('a'::char(3), 'b ') || '|', case when true then 'a'::char(3) else 'b' end || '|', 'a'::char(3)::"char", pg_typeof('a'::char(3) || 'b'), pg_typeof(upper('a'::char(3)))
SELECT '\101'::"char", '\377'::"char", '\400'::"char", '\000'::"char", 'é'::"char", ''::"char", '\18'::"char", 65::"char", 'A'::"char"::int, '\377'::"char"::int, (-1)::"char", ''::"char"::int, 0::"char"
SELECT 128::"char"
SELECT (-129)::"char"
SELECT x, x::int FROM (VALUES ('\200'::"char"), ('a'), ('')) v(x)
-- parts of times
SELECT extract(epoch from '294276-12-31 23:59:59.5'::timestamp), extract(epoch from '294276-12-31'::timestamptz), extract(epoch from '4714-11-24 BC'::timestamp), date_part('epoch', '294276-12-31'::timestamp), extract(epoch from '5874897-12-31'::date), extract(epoch from '178956970 years'::interval), extract(epoch from '-178956970 years -2147483648 days'::interval), extract(epoch from '1000000 years 0.5 seconds'::interval), extract(epoch from '2147483647 days'::interval)
SELECT extract(microseconds from '23:59:59.5'::time), extract(julian from '294276-12-31 23:59:59.5'::timestamp), extract(julian from '2000-01-01 12:00'::timestamp)
-- degrees
SELECT degrees(1e308)
SELECT degrees('-1e307'), degrees('inf'), degrees('nan'), degrees(1), radians(180), radians('inf'), radians(1e308), degrees(-1e306)
SELECT radians(1e-323), radians(0), radians(1e-322)
SELECT radians(5e-324)
-- escapes of json
SELECT '"\ud800"'::json -> 0
SELECT '{"a":"\ud800"}'::json -> 'a'
SELECT '{"a":"\udc00", "b":1}'::json -> 'b'
SELECT '{"b":1, "a":"\ud800\ud800"}'::json -> 'b'
SELECT '{"b":1, "a":"\ud800x"}'::json ->> 'b'
SELECT '{"b":1, "a":"\u0000"}'::json ->> 'b'
SELECT '{"b":1, "a":"\ud83d\ude00"}'::json -> 'a', '["\\u0000", "\\ud800"]'::json -> 0
SELECT '["\ud83d\ud83d\ude00"]'::json -> 0
SELECT '["\ud83d\n\ude00"]'::json #> '{0}'
SELECT '["\ud83d"]'::json #>> '{0}'
SELECT json_array_length('["\ud83d"]'::json)
SELECT json_typeof('["\ud83d"]'::json)
SELECT * FROM json_each('{"a":"\ud83d"}'::json)
SELECT * FROM json_each_text('{"a":"\ud83d"}'::json)
SELECT json_object_keys('{"\ud83d":1}'::json)
SELECT * FROM json_array_elements('["\ud83d"]'::json)
-- RANGE with infinities
SELECT x, count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' PRECEDING AND 'inf' FOLLOWING), count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' FOLLOWING AND 'inf' FOLLOWING), count(*) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), count(*) OVER (ORDER BY x DESC RANGE BETWEEN 'inf' PRECEDING AND 'inf' PRECEDING) FROM (VALUES ('-inf'::numeric), (1), (2), (100), ('inf'), ('nan'), (NULL)) v(x) ORDER BY x
SELECT x, count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' PRECEDING AND 'inf' FOLLOWING), count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY x RANGE BETWEEN 'inf' FOLLOWING AND 'inf' FOLLOWING), count(*) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING), count(*) OVER (ORDER BY x DESC RANGE BETWEEN 'inf' PRECEDING AND 'inf' PRECEDING) FROM (VALUES ('-inf'::float8), (1), (2), (100), ('inf'), ('nan'), (NULL)) v(x) ORDER BY x
-- other limits
SELECT '99999999999.995'::int, 1
SELECT md5(''), md5('a'), md5(repeat('x', 100000)), md5('a'::bytea)
-- names that are said as values and are not there
CREATE TABLE rg (i int PRIMARY KEY, o oid, c regclass)
SELECT 'nix'::regclass FROM rg
SELECT i FROM rg WHERE 'nix'::regclass IS NULL
SELECT i FROM rg GROUP BY i HAVING ('nix'::regclass) IS NULL
SELECT CASE WHEN false THEN 'nix'::regclass END
SELECT i FROM rg WHERE EXISTS (SELECT 'nix'::regtype)
WITH q AS (SELECT 'nix'::regrole) SELECT 1
SELECT i FROM rg WHERE o = 'nix'::regnamespace
SELECT i FROM rg WHERE o = 'nix'::regproc
SELECT regclass 'nix' FROM rg
SELECT i FROM rg ORDER BY 'nix'::regclass LIMIT 0
INSERT INTO rg SELECT 1, 'nix'::regclass WHERE false
UPDATE rg SET o = 'nix'::regclass
DELETE FROM rg WHERE o = 'nix'::regclass
DELETE FROM rg RETURNING 'nix'::regclass
SELECT 'rg'::regclass, 'pg_class'::regclass, 'public.rg'::regclass, 'int4'::regtype, 'integer'::regtype FROM rg
PREPARE rp AS SELECT 'nix'::regclass
PREPARE rp AS SELECT 'rg'::regclass FROM rg
EXECUTE rp
DROP TABLE rg
