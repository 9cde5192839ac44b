-- arguments of any type, arrays of arrays, LIKE with escapes and of bytes, aggregates over windows, zones, sizes, encodings
SELECT pg_size_pretty(5)
SELECT pg_size_pretty(5::bigint), pg_size_pretty(-123456789012345::bigint), pg_size_pretty(10239::bigint), pg_size_pretty(10240::bigint)
SELECT pg_size_pretty(5.5), pg_size_pretty(123456.789), pg_size_pretty(1e30), pg_size_pretty(-10239.7), pg_size_pretty(10240.0),pg_size_pretty('NaN'::numeric)
SELECT pg_size_pretty(20971519::bigint), pg_size_pretty(20971520::bigint), pg_size_pretty(-20971520::bigint), pg_size_pretty(9223372036854775807), pg_size_pretty(-9223372036854775808), pg_size_pretty(20969472::bigint),pg_size_pretty(10485248::bigint),pg_size_pretty(10737418240)
SELECT pg_size_pretty('5')
SELECT pg_size_bytes('1'), pg_size_bytes('1.5 kB'), pg_size_bytes('  10MB '), pg_size_bytes('-3 GB'), pg_size_bytes('1e3 bytes'), pg_size_bytes('.5 TB'), pg_size_bytes('1 PB'), pg_size_bytes('1B'), pg_size_bytes('1b')
SELECT pg_size_bytes('1 AB')
SELECT pg_size_bytes('1 AB A')
SELECT pg_size_bytes('9223372036854775807.9')
SELECT pg_size_bytes('1e100')
SELECT pg_size_bytes('1e1000000000000000000')
SELECT pg_size_bytes('1 byte')
SELECT pg_size_bytes('')
SELECT pg_size_bytes('kb')
SELECT pg_size_bytes('.+912')
SELECT pg_size_bytes('+912+ kB')
SELECT pg_size_bytes('++123 kB')
SELECT pg_size_bytes('1.5 EB')
SELECT pg_size_bytes('99999999999 PB')
SELECT pg_size_bytes('1e3'), pg_size_bytes('1e-1 kB'), pg_size_bytes('1.e2'), pg_size_bytes('5e kB')
SELECT pg_size_bytes('5.'), pg_size_bytes('-.6'),pg_size_bytes('1 TB'),pg_size_bytes('1.5 gb')
SELECT pg_size_bytes(null)
SELECT concat_ws(1, 2, 3)
SELECT concat_ws(null, 2, 3)
SELECT concat_ws('a'::char(3), 2, 3)
SELECT concat_ws('a'::name, 2, 3),concat_ws('x'::varchar, 2, 3),concat_ws('x'::"char", 2, 3)
SELECT concat_ws('a')
SELECT concat_ws()
SELECT array_replace('{1}', 2, array['a','b'])
SELECT array_replace(null, null, array['a','b'])
SELECT array_remove(null, array[1,2])
SELECT array_append(null, array[1,2])
SELECT array_position(null, array[1,2])
SELECT array_positions(null, array[1,2])
SELECT array_cat(null, array[1,2])
SELECT array_prepend(array[1,2], null)
SELECT array_fill(array[1], array[2])
SELECT null = any(array[1,2])
SELECT array_to_string(null, 'a')
SELECT 'abc' like 'a#bc' escape chr(35), 'a_c' like 'a#_c' escape lower('#')
SELECT 'abc' like lower('A') || '%' escape '#'
SELECT 'a%c' like a escape b from (values ('a#%c','#'), ('a\%c','\'),('a%c',''),('a##',''), ('a#',null)) x(a,b)
SELECT 'a%c' like a escape b from (values ('a#%c','##')) x(a,b)
SELECT 'a%c' like a escape b from (values ('a#','#')) x(a,b)
SELECT 'a%c' ilike a escape b from (values ('A#%C','#')) x(a,b)
SELECT 'a%c' not like a escape b from (values ('A#%C','#')) x(a,b)
SELECT 'a%c' similar to a escape b from (values ('a#%c','#'),('a_c',null)) x(a,b)
SELECT like_escape('a#%','#'), like_escape('a\b','#'), like_escape('a\b','\'),like_escape('a\b','')
SELECT like_escape('a#%'::bytea,'#'::bytea), like_escape('a\\b'::bytea,'#'),like_escape('a#'::bytea,'')
SELECT '\x6162'::bytea like '\x61%'::bytea, '\x6162'::bytea like 'a_', '\xff00'::bytea like '_%', '\x61'::bytea not like 'a%'
SELECT '\x6162'::bytea like 'a\\'
SELECT '\x6162'::bytea ilike 'a_'
SELECT '\x6125'::bytea like 'a#%'::bytea escape '#'
SELECT '\x6125'::bytea like 'a#%'::bytea escape '##'
SELECT json_agg(x) over (order by x), jsonb_agg(x) over (order by x desc) from generate_series(1,4) x
SELECT json_object_agg(x, y) over (order by x), jsonb_object_agg(x,y) over (partition by y) from (values ('a',1),('b',2),('c',1)) v(x,y)
SELECT json_object_agg(null, y) over () from (values ('a',1),('b',2),('c',1)) v(x,y)
SELECT width_bucket(5, array[1,3,5,7]), width_bucket(0, array[1,3]), width_bucket(9, array[1,3]), width_bucket(2.5, array[1,3.0]), width_bucket('b'::text, array['a','c'])
SELECT width_bucket(5, array[]::int[])
SELECT width_bucket(5, array[1,null])
SELECT width_bucket(5, null::int[])
SELECT width_bucket(now(), array['yesterday','today','tomorrow']::timestamptz[])
SELECT width_bucket('NaN'::float8, array[1,3,'NaN']::float8[]), width_bucket(2::float8, array[1,3]::float8[])
SELECT width_bucket('1'::json, array['1'::json])
SELECT width_bucket(5, array[1.5,2.5])
SELECT width_bucket(5::bigint, array[1,2])
SELECT sum(t), avg(t) from (values (time '10:00'), ('23:00'),(null)) x(t)
SELECT sum(t) over (order by t) from (values (time '10:00'), ('23:00')) x(t)
SELECT string_agg(c::"char", ',') from (values ('a'),('b')) x(c)
SELECT string_agg(c, ','::"char") from (values ('a'),('b')) x(c)
SELECT string_agg(c::name, ','::name) from (values ('a'),('b')) x(c)
SELECT string_agg(c, ','::char(3)) from (values ('a'),('b')) x(c)
SELECT string_agg(c::bytea, ','::bytea), string_agg(c::bytea, null),string_agg(null::bytea, ',') from (values ('a'),('b')) x(c)
SELECT string_agg(c::bytea, ','::bytea order by c desc) from (values ('a'),('b')) x(c)
SELECT string_agg(c::bytea, ','::bytea) over (order by c desc) from (values ('a'),('b')) x(c)
SELECT string_agg(c::text, ',') over (order by c desc) from (values ('a'),('b')) x(c)
SELECT string_agg(c, ','::text) from (values (1),(2)) x(c)
SELECT convert_to('a', 'nix')
SELECT convert_from('a', 'nix')
SELECT convert('a', 'nix', 'utf8')
SELECT convert('a', 'utf8', 'utf8')
SELECT date_trunc('day', timestamptz '2001-02-16 20:38:40+00', 'Australia/Sydney'), date_trunc('hour', timestamptz '2001-02-16 20:38:40+00', '+03:30')
SELECT date_trunc('day', timestamptz 'infinity', 'Australia/Sydney')
SELECT date_trunc('dai', timestamptz '2001-02-16 20:38:40+00', 'Australia/Sydney')
SELECT date_trunc('day', timestamptz '2001-02-16 20:38:40+00', 'Nix')
SELECT date_trunc('day', timestamp '2001-02-16 20:38:40', 'Australia/Sydney')
SELECT date_trunc('week', timestamptz '2001-02-16 20:38:40+00', 'America/New_York'), date_trunc('century', timestamptz '2001-02-16 20:38:40+00', 'America/New_York')
SELECT date_trunc('day', date '2001-02-16', 'Australia/Sydney')
SELECT format('c'::char(3)), format('a %s b'::char(10), 1), format('%s', 'c'::char(3)), format('%-5s|'::char(9),'x')
SELECT lower('A'::char(3)) || 'x', length(upper('a'::char(3))), concat('c'::char(3),'d'), repeat('c'::char(3),2), md5('c'::char(3))=md5('c'), quote_literal('c'::char(3)), left('c'::char(3),2)||'x'
SELECT encode('c'::bytea, 'nix')
SELECT format_type(26,0), format_type(23,0), format_type(1043,0), format_type(1043,-1), format_type(1043,20), format_type(1700,0),format_type(25,3),format_type(16,5)
SELECT format_type(1114,3),format_type(1184,3),format_type(1083,3), format_type(18,1), format_type(1042,0),format_type(1042,-1),format_type(1042,null),format_type(1009,3),format_type(1015,8),format_type(1115,3),format_type(19,5),format_type(21,5),format_type(1700,655366),format_type(701,3),format_type(700,3),format_type(17,3)
SELECT format_type(0,3),format_type(99999,3),format_type(2205,3),format_type(114,3),format_type(1182,3),format_type(20,3),format_type(1231,3),format_type(1000,3), format_type(1115,0),format_type(1014,9),format_type(1014,0),format_type(1042,3),format_type(2950,1),format_type(3802,2),format_type(3807,2), format_type('mood'::regtype, 3),format_type('mood'::regtype, -1),format_type(1186,-1),format_type(1186,null),format_type(1187,-1)
SELECT y LIKE 'a%'::bytea, y NOT LIKE '_\x5f_'::bytea, t LIKE 'a#%c' ESCAPE left('#', 1), y LIKE 'x#_z'::bytea ESCAPE '#' FROM fy ORDER BY a
SELECT t LIKE t ESCAPE t FROM fy WHERE a = 3
SELECT t LIKE t ESCAPE left(t, 1) FROM fy WHERE a < 4 ORDER BY a
SELECT a FROM fy WHERE y LIKE 'a_c' ORDER BY a
SELECT a, json_agg(t) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), jsonb_object_agg(a, t) OVER (ORDER BY a ROWS 1 PRECEDING) FROM fy ORDER BY a
SELECT a, json_agg(t) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM fy ORDER BY a
SELECT string_agg(y, '-'::bytea ORDER BY a), string_agg(DISTINCT y, ''::bytea) FROM fy
-- functions over types that are here: of dates and zones, regular expressions, rights, json, regression, names, sizes
SELECT make_timestamptz(2013, 7, 15, 8, 15, 23.5), make_timestamptz(2013, 7, 15, 8, 15, 23.5, 'Europe/Rome'), make_timestamptz(2014, 12, 10, 10, 10, 10, '+01:30'), make_timestamptz(2014, 12, 10, 10, 10, 10, 'UTC')
SELECT make_timestamptz(1973, 07, 15, 08, 15, 55.33, '+2'), make_timestamptz(1973, 07, 15, 08, 15, 55.33, '-2')
SELECT make_timestamptz(1910, 12, 24, 0, 0, 0, 'Nehwon/Lankhmar')
SELECT make_timestamptz(2014, 12, 10, 0, 0, 0, '+16')
SELECT make_timestamptz(2014, 12, 10, 0, 0, 0, '-16')
SELECT make_timestamptz(2014, 13, 10, 0, 0, 0, 'UTC')
SELECT make_timestamptz(2014, 12, 10, 0, 0, 0, null)
SELECT make_timestamptz(2014, 12, 10, 0, 0, 0, '2')
SELECT regexp_instr('abcabcabc', 'a.c', 1, 3, 1, 'i', 0), regexp_substr('abcabc', 'B(c)', 1, 2, 'i', 1), regexp_count('aaa','a'), regexp_like('A','a','i')
SELECT regexp_instr('abc','b',0)
SELECT has_column_privilege('hc', 'a', 'select'), has_column_privilege('hc'::regclass, 1::smallint, 'select'), has_column_privilege('hc', 1::smallint, 'insert, update')
SELECT has_column_privilege('hc', 'nix', 'select')
SELECT has_column_privilege('nix', 'a', 'select')
SELECT has_column_privilege('hc', 99::smallint, 'select')
SELECT has_column_privilege('hc', 'a', 'nix')
SELECT has_column_privilege(current_user, 'hc', 'a', 'select'), has_column_privilege(current_user, 'hc'::regclass::oid, 'b', 'references')
SELECT has_column_privilege('nobody9', 'hc', 'a', 'select')
SELECT has_column_privilege(1::oid, 1::smallint, 'select')
SELECT has_column_privilege('hc', 'a', 'select with grant option')
SELECT has_column_privilege('hc', 'ctid', 'select')
SELECT has_column_privilege('hc', 'a', 'delete')
SELECT json_strip_nulls('{"a":null,"b":[1,null,{"c":null}]}'), json_strip_nulls('null'), json_strip_nulls('{ "a" : {"b":null}, "d" : "x\u0041" }'),json_strip_nulls('[1, 2.50,  "a\/b"]')
SELECT json_strip_nulls('{')
SELECT json_object('{a,1,b,2,3,NULL,"d e f","a b c"}'), json_object('{}'), json_object('{a,b,c}','{1,null,3}')
SELECT json_object('{a}')
SELECT json_object('{a,null}'), json_object('{a,b}','{}')
SELECT json_object('{null,b}')
SELECT json_object('{a,b}', '{1}')
SELECT jsonb_object('{a,1,b,2,3,NULL,"d e f","a b c"}'), jsonb_object('{}'), jsonb_object('{a,b,c}','{1,null,3}'), jsonb_object('{a,1,a,2}')
SELECT jsonb_object('{null,b}')
SELECT corr(b,c), covar_pop(b,c), covar_samp(b,c), regr_avgx(b,c), regr_avgy(b,c), regr_count(b,c), regr_intercept(b,c), regr_r2(b,c), regr_slope(b,c), regr_sxx(b,c), regr_sxy(b,c), regr_syy(b,c) from f2
SELECT corr(b,c), covar_pop(b,c), covar_samp(b,c), regr_avgx(b,c), regr_avgy(b,c), regr_count(b,c), regr_intercept(b,c), regr_r2(b,c), regr_slope(b,c), regr_sxx(b,c), regr_sxy(b,c), regr_syy(b,c) from f2 where a = 1
SELECT corr(b,c), covar_pop(b,c), covar_samp(b,c), regr_avgx(b,c), regr_avgy(b,c), regr_count(b,c), regr_intercept(b,c), regr_r2(b,c), regr_slope(b,c), regr_sxx(b,c), regr_sxy(b,c), regr_syy(b,c) from f2 where false
SELECT corr(b,1), regr_r2(b,1), regr_r2(1,b), regr_slope(b,1), regr_intercept(1,b), corr(1,1) from f2
SELECT array_to_json(array[1,2,null]), array_to_json('{a,b}'::text[]), array_to_json('{1,2}'::int[], true), array_to_json(null::int[]), array_to_json(array[true]), array_to_json('{}'::int[]), array_to_json(array['{"a":1}'::json])
SELECT array_to_json(1)
SELECT parse_ident('a.b."C d"'), parse_ident('  Abc . "x""y"'), parse_ident('a.b[', false)
SELECT parse_ident('a..b')
SELECT parse_ident('1a')
SELECT parse_ident('a.b[')
SELECT parse_ident('')
SELECT parse_ident('"a')
SELECT parse_ident('"".a')
SELECT parse_ident('.a')
SELECT parse_ident('a.')
SELECT parse_ident(' a ')
SELECT parse_ident('foo.bar baz')
SELECT parse_ident('foo$1._x')
SELECT parse_ident('äb.c')
SELECT pg_column_size(1), pg_column_size(1::bigint), pg_column_size('abc'::text), pg_column_size(1.5), pg_column_size(null::int), pg_column_size(now()), pg_column_size(true), pg_column_size('1 day'::interval), pg_column_size('\x61'::bytea)
SELECT pg_column_size('abc'), pg_column_size(12345678.9::numeric), pg_column_size(0::numeric), pg_column_size('NaN'::numeric), pg_column_size(array[1,2]), pg_column_size('a'::name), pg_column_size('a'::"char"), pg_column_size('c'::char(5)), pg_column_size(gen_random_uuid())
SELECT to_json(array[1,2]), to_jsonb(array[1,null]), json_build_object('a', array[1,2]), json_agg(array[1,2]), to_json(array['{"a":1}'::jsonb])
SELECT corr(b), a from f2
SELECT corr(b,c,c) from f2
SELECT corr('x'::text, c) from f2
SELECT corr('1', c) from f2
SELECT regr_count(*) from f2
SELECT corr(b, c) over (order by a), regr_count(b,c) over (order by a rows 1 preceding), covar_pop(a, b) filter (where a > 1) over (order by a) from f2 order by a
SELECT regr_slope(b, c order by a), regr_slope(b, c) filter (where b > 1) from f2
SELECT regr_sxx(x, y), regr_sxy(x, y) from (values (1e300::float8, 'inf'::float8), (2, 3)) v(x,y)
SELECT regr_sxx(x, y), regr_sxy(x, y) from (values (1e300::float8, 1e300), (-1e300, -1e300)) v(x,y)
SELECT regr_sxx(x, y) from (values ('nan'::float8, 'nan'::float8), (2, 3)) v(x,y)
SELECT a % 2, corr(b, a), regr_intercept(b, a) from f2 group by a % 2 order by 1
SELECT corr(a, a::numeric), covar_samp(a::smallint, b::real) from f2
SELECT to_json(array[1.5, null]), to_jsonb(array['a','b"']), json_build_object('x', array[true,false]), jsonb_agg(array[1]), to_json('{}'::int[]), json_build_array(array[now()] = array[now()], array['2020-01-01'::date])
SELECT json_build_object(array[1], 2)
SELECT array_to_json(array['x','y'], true), array_to_json(array[1,2], null)
SELECT json_strip_nulls('"abc"'), json_strip_nulls('  [ ] '), json_strip_nulls('{"a":{"b":{"c":null}},"a":2}'), json_strip_nulls('[1e5, -0.0, true , false]')
SELECT json_strip_nulls('"\ud83d"')
SELECT json_object(null::text[]), json_object('{a}', null), json_object('{"",1}'), json_object('{"q\"",1}')
SELECT make_timestamptz(2020,3,29,2,30,0,'Europe/Rome'), make_timestamptz(2020,10,25,2,30,0,'Europe/Rome'), make_timestamptz(2020,1,1,0,0,0,'+0530'), make_timestamptz(2020,1,1,0,0,0,'-05:30:15')
SELECT make_timestamptz(2020,1,1,0,0,0,'+99')
SELECT make_timestamptz(2020,1,1,0,0,0,'+05:70')
SELECT make_timestamptz(2020,1,1,0,0,0,'nix')
SELECT has_column_privilege('pg_class', 'relname', 'select'), has_column_privilege('pg_class', 'relname', 'insert') is null
SELECT regexp_instr('abcabcabc', 'a.c'), regexp_instr('abcabcabc', 'a.c', 2), regexp_instr('abcabcabc', 'a.c', 1, 3), regexp_instr('abcabcabc', 'a.c', 1, 4), regexp_instr('abcabcabc', 'A.C', 1, 2, 0, 'i'), regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 0, 'i', 2), regexp_instr('1234567890', '(123)(4(56)(78))', 1, 1, 1, 'i', 5), regexp_instr('foo', NULL), regexp_instr('äbcäbc', 'b', 3, 1, 1)
SELECT regexp_instr('abcabcabc', 'a.c', 0, 1)
SELECT regexp_instr('abcabcabc', 'a.c', 1, 0)
SELECT regexp_instr('abcabcabc', 'a.c', 1, 1, 2)
SELECT regexp_instr('abcabcabc', 'a.c', 1, 1, 0, 'g')
SELECT regexp_instr('abcabcabc', 'a.c', 1, 1, 0, '', -1)
SELECT regexp_substr('abcabcabc', 'a.c', 1, 2), regexp_substr('abcabcabc', 'a.c', 9), regexp_substr('abcabcabc', 'a.c', 20), regexp_substr('1234567890', '(123)(4(56)(78))', 1, 1, 'i', 4), regexp_substr('1234567890', '(123)(4(56)(78))', 1, 1, 'i', 5), regexp_substr('1234567890','1|(x)', 1,1,'',1)
SELECT regexp_substr('abc','b',-1)
SELECT regexp_substr('abc','b',1,1,'g')
SELECT regexp_substr('abc','b',1,1,'',-1)
SELECT regexp_count('123123123123123', '\d{3}', 1), regexp_count('123123123123', '33', 3), regexp_count('ABCABCABCABC', 'Abc', 1, 'i'), regexp_count('aaa','',2),regexp_count('abc','x',9)
SELECT regexp_count('123123123123', '33', 0)
SELECT regexp_count('abc','b',1,'g')
SELECT regexp_replace('A PostgreSQL function', 'A|e|i|o|u', 'X', 1), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 0), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 2, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 9, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 7, 0, 'i'), regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 1, 'g'), regexp_replace('abab','a','x','g')
SELECT regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', -1, 0, 'i')
SELECT regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, -1, 'i')
SELECT regexp_replace('abc', 'b', 'X', '1')
SELECT regexp_replace('aaa', 'a', 'b', 2, 2), regexp_replace('aaa', '', '-', 2, 0), regexp_replace('aaa', '$', '-', 5, 0)
SELECT pg_column_size(100000::numeric), pg_column_size(0.0001), pg_column_size(-12345.6789), pg_column_size(1e100::numeric), pg_column_size(123456789012345678901234567890.5), pg_column_size(array['a','bcd',null]), pg_column_size('{}'::int[]), pg_column_size(array[true,false]), pg_column_size(array[1.5,2]), pg_column_size(array[1::smallint]), pg_column_size('a'::char(3)), pg_column_size('{"a":1}'::json),pg_column_size(array['x'::name]), pg_column_size(array[1::bigint,null])
SELECT pg_column_size(a), pg_column_size(b), pg_column_size(n), pg_column_size(t), pg_column_size(y) FROM fy ORDER BY a
-- the time of a statement
SELECT now() = statement_timestamp(), clock_timestamp() >= statement_timestamp()
BEGIN
SELECT pg_sleep(0.02)
SELECT statement_timestamp() - now() >= '20 ms', statement_timestamp() <= clock_timestamp()
COMMIT
SELECT (SELECT pg_sleep(0.03)) IS NOT NULL, clock_timestamp() - statement_timestamp() >= '30 ms', now() = statement_timestamp()
SELECT count(DISTINCT statement_timestamp()) FROM generate_series(1, 5000)
-- regular expressions
SELECT repeat('a', 590) ~ ('^' || repeat('(a)', 590) || '$'), regexp_replace(repeat('a', 590), '^' || repeat('(a)', 590) || '$', '\9')
SELECT repeat('a', 500) ~ ('^' || repeat('(a?)*', 290) || '$'), regexp_replace(repeat('a', 500), '^' || repeat('(a?)*', 290) || '$', '\9')
SELECT 'x' ~ (repeat('(', 99) || 'x' || repeat(')*', 99))
SELECT regexp_match('aaa', '(?q)a'), 'a.c' ~ '***=a.c', 'abc' ~ '***=a.c', 'abc' ~ '***:a.c', 'ABC' ~ '***:(?i)b', 'ABC' ~* '(?c)b'
SELECT 'a' ~ '***a'
SELECT 'a' ~ '(?z)a'
SELECT 'a' ~ 'a(?i)b'
SELECT 'a' ~ '(?i'
SELECT 'aa' ~ '(a)\2'
SELECT 'aa' ~ '(?=(a))\1'
SELECT 'aa' ~ '(a)(?=\1)'
SELECT 'a' ~ '(?=a)*'
SELECT 'a' ~ '\12', chr(10) ~ '^\12$', 'a1' ~ '(a)1', 'aa0' ~ '(a)\10'
SELECT 'Éé' ~* '^(é)\1$', 'AbaB' ~* '^(ab)\1$', regexp_match('ABab', '(ab)\1', 'i')
SELECT regexp_match('a (comment) b', 'a(?#x) \(c'), 'ab' ~ 'a(?#xy)b'
SELECT regexp_matches('foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g')
SELECT regexp_match('XY1234Z', 'Y*([0-9]{1,3})'), regexp_match('XY1234Z', 'Y*?([0-9]{1,3})'), regexp_match('abc01234xyz', '(.*)(\d+)(.*)'), regexp_match('abc01234xyz', '(.*?)(\d+)(.*)'), regexp_match('abc01234xyz', '(?:(.*?)(\d+)(.*)){1,1}')
SELECT regexp_replace('foobarbaz', 'b..', 'X', 'g'), regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), regexp_split_to_array('the quick brown fox', '\s*')
SELECT substring('foobar' similar '%#"o_b#"%' escape '#'), 'abc' similar to '%(b|d)%', substring('aaab' from 'a{2}?'), substring('aaab' from '(a*?)b')
SELECT repeat('x', 20000) ~ '(?<=y+)x', repeat('ab', 500) ~ '^(.*)\1$', regexp_replace(repeat('<b>x</b>', 20), '<(\w+)>(.*?)</\1>', '[\2]', 'g')
