-- canonical text
SELECT '{"b":1,"a":[1,2.50,"x\u00e9\n"],"a":{"z":null,"yy":true}}'::jsonb
SELECT '[]'::jsonb, '{}'::jsonb, ' 1e3 '::jsonb, '"a\"b\\c\/d\u0041\u0001"'::jsonb, 'true'::jsonb, 'null'::jsonb, '-0.0'::jsonb, '12345678901234567890.1200'::jsonb
SELECT '{"aa":1,"b":2,"a":3,"ab":4,"":5,"é":6,"zzz":7}'::jsonb
SELECT '[1, [2, [3, [4, {"a": [5, {"b": {}}]}]]], [], {}]'::jsonb
SELECT '{"a":1,"a":2,"b":3,"a":4}'::jsonb, '{"a":{"c":1,"b":2},"a":[2,1]}'::jsonb
SELECT '"\ud83d\ude00\u00fc"'::jsonb, '"\b\f\n\r\t\u001f"'::jsonb
SELECT '"\u0000"'::jsonb
SELECT '"\ud83d"'::jsonb
SELECT '1e400000'::jsonb
SELECT '{"a"}'::jsonb
SELECT ''::jsonb
SELECT '{"a":1}x'::jsonb
SELECT '01'::jsonb
SELECT pg_typeof('1'::jsonb), pg_typeof('[1]'::jsonb -> 0), pg_typeof('[1]'::jsonb ->> 0)
-- finding
SELECT '{"a":{"b":[10,20,{"c":"x"}]}}'::jsonb -> 'a' -> 'b' -> 2 ->> 'c'
SELECT '{"a":{"b":[10,20,{"c":"x"}]}}'::jsonb #> '{a,b,1}', '{"a":{"b":[10,20,{"c":"x"}]}}'::jsonb #>> '{a,b,2,c}', '{"a":[1,2]}'::jsonb #> ARRAY['a','-1'], '{"a":[1,2]}'::json #>> ARRAY['a','0']
SELECT '[1,2,3]'::jsonb -> -1, '[1,2,3]'::jsonb -> 5, '{"a":null}'::jsonb -> 'a', '{"a":null}'::jsonb ->> 'a', '1'::jsonb -> 'a', '{"a":1}'::jsonb -> 0
SELECT '{"a\"b":1}'::jsonb -> 'a"b', '{"\u00e9":2}'::jsonb -> 'é', '{"":3}'::jsonb -> ''
SELECT '{"a":1}'::jsonb #> '{}', '{"a":1}'::jsonb #> '{a,b}', '[[1,2],[3]]'::jsonb #> '{0,1}'
SELECT jsonb_typeof('null'), jsonb_typeof('1'), jsonb_typeof('"x"'), jsonb_typeof('true'), jsonb_typeof('[]'), jsonb_typeof('{}')
SELECT jsonb_array_length('[1,[2,3],{}]'), jsonb_array_length('[]')
SELECT jsonb_array_length('{}')
SELECT jsonb_array_length('1')
-- order
SELECT '1'::jsonb = '1.0', '{"a":1}'::jsonb = '{"a":1.00}', '[1,2]'::jsonb = '[1, 2]', '"a"'::jsonb = '"b"', '"\u0041"'::jsonb = '"A"'
SELECT v FROM (VALUES ('null'::jsonb), ('"a"'), ('"b"'), ('"ab"'), ('1'), ('10'), ('9'), ('-1'), ('-10'), ('1.5'), ('1.05'), ('true'), ('false'), ('[]'), ('[1]'), ('[1,2]'), ('[2]'), ('[[1]]'), ('[{}]'), ('["x"]'), ('[null]'), ('{}'), ('{"a":1}'), ('{"b":0}'), ('{"a":2}'), ('{"a":1,"b":1}'), ('{"aa":0}'), ('0'), ('0.001'), ('-0.5')) AS t (v) ORDER BY v
SELECT v FROM (VALUES ('[1,"a"]'::jsonb), ('[1,2]'), ('[1,true]'), ('[1,null]'), ('[1,[]]'), ('[1,{}]'), ('["a",1]'), ('[[],1]'), ('[[1,2],0]'), ('[[1],9]')) AS t (v) ORDER BY v DESC
SELECT count(DISTINCT v), min(v::text), max(v::text) FROM (VALUES ('1'::jsonb), ('1.0'), ('1.00'), ('2'), ('"1"')) AS t (v)
SELECT v, count(*) FROM (VALUES ('{"a":1,"b":2}'::jsonb), ('{"b":2,"a":1}'), ('{"b":2, "a":1.5}'), ('[]')) AS t (v) GROUP BY v ORDER BY v
SELECT a.v FROM (VALUES ('1'::jsonb), ('[1,2]'), ('{"x":"y"}')) AS a (v) JOIN (VALUES ('1.0'::jsonb), ('[1,2.0]'), ('{"x":"z"}')) AS b (v) ON a.v = b.v ORDER BY 1
SELECT '{"a":1}'::jsonb < '[1]', '2'::jsonb > '1', '"b"'::jsonb >= '"a"', 'true'::jsonb <= 'false', '[]'::jsonb < 'null', '[]'::jsonb <> '{}'
SELECT greatest('1'::jsonb, '"x"', '[1]'), least('1'::jsonb, '"x"', '[1]')
SELECT '1'::jsonb IN ('2', '1.0', '3'), '1'::jsonb = ANY (ARRAY['2'::jsonb, '1.0'])
-- containment
SELECT '{"a":1,"b":{"c":[1,2,3]}}'::jsonb @> '{"b":{"c":[2]}}', '{"a":1}'::jsonb @> '{"a":1.0}', '{"a":1}'::jsonb @> '{"a":2}', '{"a":1}'::jsonb @> '{}', '[]'::jsonb @> '[]'
SELECT '[1,2,[3,4]]'::jsonb @> '[[4]]', '[1,2,[3,4]]'::jsonb @> '[4]', '[1,2]'::jsonb @> '1', '1'::jsonb @> '1', '1'::jsonb @> '[1]', '[1,1]'::jsonb @> '[1,1,1]', '[1]'::jsonb @> '{"a":1}'
SELECT '{"a":[{"x":1},{"y":2}]}'::jsonb @> '{"a":[{"y":2}]}', '{"a":{}}'::jsonb @> '{"a":[]}', '"foo"'::jsonb @> '"foo"', '["foo"]'::jsonb @> '"foo"', '"foo"'::jsonb @> '["foo"]'
SELECT '{"a":1}'::jsonb <@ '{"a":1,"b":2}', '[]'::jsonb <@ '[1]', '{}'::jsonb <@ '[]'
SELECT '{"a":1,"b":null}'::jsonb ? 'b', '["a","b"]'::jsonb ? 'b', '[1]'::jsonb ? '1', '"a"'::jsonb ? 'a', '{"a":{"b":1}}'::jsonb ? 'b'
SELECT '{"a":1,"b":2}'::jsonb ?| ARRAY['x','b'], '{"a":1}'::jsonb ?| ARRAY['x'], '{"a":1,"b":2}'::jsonb ?& ARRAY['a','b'], '{"a":1}'::jsonb ?& ARRAY['a','b'], '{"a":1}'::jsonb ?& '{}', '{"a":1}'::jsonb ?| '{}', '["a"]'::jsonb ?| '{b,a}'
-- changes
SELECT '{"a":1}'::jsonb || '{"b":2}', '{"a":1}'::jsonb || '{"a":[]}', '[1]'::jsonb || '[2,3]', '[1]'::jsonb || '2', '1'::jsonb || '2', '{"a":1}'::jsonb || '[1]', '[1]'::jsonb || '{"a":1}', '{}'::jsonb || '{}', '[]'::jsonb || '[]'
SELECT '{"a":1,"b":2}'::jsonb - 'a', '["a","b","a",1]'::jsonb - 'a', '{"a":1}'::jsonb - 'x', '[1,2,3]'::jsonb - 1, '[1,2,3]'::jsonb - (-1), '[1,2,3]'::jsonb - 9, '{"a":1,"b":2,"c":3}'::jsonb - ARRAY['a','c'], '["a","b"]'::jsonb - '{b}'::text[]
SELECT '1'::jsonb - 'a'
SELECT '{"a":1}'::jsonb - 1
SELECT '1'::jsonb - 1
SELECT '{"a":{"b":1,"c":2}}'::jsonb #- '{a,b}', '[1,[2,3]]'::jsonb #- '{1,0}', '{"a":1}'::jsonb #- '{x,y}', '[1,2]'::jsonb #- '{-1}', '{"a":1}'::jsonb #- '{}'
SELECT '[1,2]'::jsonb #- '{a}'
SELECT jsonb_set('{"a":{"b":1}}', '{a,b}', '[9]'), jsonb_set('{"a":1}', '{b}', '2'), jsonb_set('{"a":1}', '{b}', '2', false), jsonb_set('{"a":1}', '{b,c}', '2'), jsonb_set('[1,2,3]', '{1}', '"x"'), jsonb_set('[1]', '{5}', '2'), jsonb_set('[1]', '{-5}', '2'), jsonb_set('{"a":[{"b":1}]}', '{a,0,b}', 'null')
SELECT jsonb_set('1', '{a}', '2')
SELECT jsonb_set('[1]', '{x}', '2')
SELECT jsonb_set('{"a":1}', '{}', '2'), jsonb_set('{"a":1}', NULL, '2')
SELECT jsonb_set('{"a":1}', ARRAY['a', NULL]::text[], '2')
SELECT jsonb_insert('{"a":[0,1,2]}', '{a,1}', '"n"'), jsonb_insert('{"a":[0,1,2]}', '{a,1}', '"n"', true), jsonb_insert('{"a":1}', '{b}', '2'), jsonb_insert('[1,2]', '{9}', '3'), jsonb_insert('[1,2]', '{-1}', '3')
SELECT jsonb_insert('{"a":1}', '{a}', '2')
SELECT jsonb_strip_nulls('{"a":null,"b":[null,{"c":null,"d":1}],"e":{"f":null}}'), jsonb_strip_nulls('null')
SELECT jsonb_pretty('{"a":[1,{"b":[]},{}],"c":{"d":"x\"y"},"e":[]}')
SELECT jsonb_pretty('[]'), jsonb_pretty('{}'), jsonb_pretty('1'), jsonb_pretty('[[],[1]]')
-- making
SELECT to_jsonb(1), to_jsonb('x"y'::text), to_jsonb(1.50), to_jsonb(true), to_jsonb(NULL::int), to_jsonb('{"b":1,"a":2}'::json), to_jsonb('2020-01-02'::date), to_jsonb('2020-01-02 03:04:05'::timestamp)
SELECT jsonb_build_object('b', 1, 'a', NULL, 'b', 2), jsonb_build_array(1, 'x', NULL, 2.50, true, '{"a":1}'::jsonb), jsonb_build_object(), jsonb_build_array()
SELECT jsonb_build_object('a')
SELECT jsonb_build_object(NULL, 1)
SELECT jsonb_agg(x ORDER BY x), jsonb_agg(x ORDER BY x DESC) FILTER (WHERE x > 1), jsonb_object_agg('k' || x, x * 2) FROM generate_series(1, 3) x
SELECT jsonb_agg(x) FROM generate_series(1, 0) x
SELECT jsonb_object_agg(k, v) FROM (VALUES ('zz', 1), ('a', 2), ('a', 3)) AS t (k, v)
SELECT json_agg(j), jsonb_agg(j) FROM (VALUES ('{"b":1,  "a":2}'::json)) AS t (j)
-- rows
SELECT * FROM jsonb_array_elements('[1,"a",null,{"b":2},[3]]')
SELECT * FROM jsonb_array_elements_text('[1,"a",null,{"b":2},[3]]')
SELECT e ->> 'n' FROM jsonb_array_elements('[{"n":"x"},{"n":"y"}]') AS t (e)
SELECT * FROM jsonb_object_keys('{"b":1,"a":2,"ccc":3}') k
SELECT jsonb_array_elements('[1,2]'), 'x' AS x
SELECT * FROM jsonb_array_elements('[]')
SELECT * FROM jsonb_array_elements('{"a":1}')
SELECT * FROM jsonb_array_elements('1')
SELECT * FROM jsonb_object_keys('[1]')
SELECT * FROM json_array_elements_text('[1, "a" ]'), json_object_keys('{"z":1,"a":2}') k
-- casts
SELECT '1'::jsonb::int, '1.5'::jsonb::numeric, '1.5'::jsonb::float8, '2.5'::jsonb::int, 'true'::jsonb::bool, '{"a":1}'::jsonb::text, '{"b":1,"a":2}'::json::jsonb, '{"b":1}'::jsonb::json, '"x"'::jsonb::text
SELECT '"1"'::jsonb::int
SELECT 'null'::jsonb::numeric
SELECT '[1]'::jsonb::bool
SELECT '{}'::jsonb::float8
SELECT '1'::jsonb::bool
SELECT '99999999999'::jsonb::int
SELECT 'x'::text::jsonb
SELECT ('{"a":' || 5 || '}')::jsonb -> 'a'
SELECT '{"a":[1,2]}'::jsonb ->> 'a' || 'z'
-- tables
CREATE TABLE doc (id int PRIMARY KEY, d jsonb NOT NULL DEFAULT '{}', a jsonb[])
INSERT INTO doc (id) VALUES (1)
INSERT INTO doc VALUES (2, '{"name":"ann","tags":["x","y"],"n":5}', ARRAY['1'::jsonb, '{"k":2}']), (3, '{"name":"bob","tags":[],"n":7}', '{"{\"a\":1}",null}'), (4, '[1,2]', NULL)
INSERT INTO doc VALUES (5, '{bad}')
INSERT INTO doc VALUES (5, 'x'::text)
SELECT * FROM doc ORDER BY id
SELECT id FROM doc WHERE d @> '{"tags":["x"]}' ORDER BY id
SELECT id, d ->> 'name' FROM doc WHERE d ? 'name' AND (d ->> 'n')::int > 4 ORDER BY id
UPDATE doc SET d = jsonb_set(d, '{n}', to_jsonb((d ->> 'n')::int + 1)) WHERE d ? 'n' RETURNING id, d -> 'n'
UPDATE doc SET d = d || '{"new":true}' WHERE id = 1 RETURNING d
SELECT id, a[1], a[2] FROM doc WHERE a IS NOT NULL ORDER BY id
SELECT d FROM doc ORDER BY d
SELECT DISTINCT jsonb_typeof(d) FROM doc ORDER BY 1
SELECT id, t FROM doc, jsonb_array_elements_text(d -> 'tags') AS t WHERE jsonb_typeof(d) = 'object' AND d ? 'tags' ORDER BY id, t
ALTER TABLE doc ADD e json
UPDATE doc SET e = d
ALTER TABLE doc ALTER e TYPE jsonb
SELECT count(*) FROM doc WHERE d = e
SELECT column_name, data_type, udt_name FROM information_schema.columns WHERE table_name = 'doc' ORDER BY ordinal_position
ANALYZE doc
SELECT id FROM doc WHERE d = '[1,2.0]'
SELECT repeat('[', 400)::text || repeat(']', 400) = (repeat('[', 400) || repeat(']', 400))::jsonb::text
SELECT length((SELECT jsonb_agg(jsonb_build_object('i', i, 'text', repeat('x', i % 50))) FROM generate_series(1, 3000) i)::text)
-- each
SELECT * FROM jsonb_each('{"b": 1, "a": [1, {"x": null}], "c": null, "": "t"}')
SELECT * FROM jsonb_each_text('{"b": 1, "a": [1, {"x": null}], "c": null, "d": "t\"é"}')
SELECT * FROM json_each('{"b": 1, "a": [1,  2], "b": null}')
SELECT * FROM json_each_text('{"b": 1, "a": [1,  2], "b": null, "s": "x\ny"}')
SELECT key, value FROM jsonb_each('{}')
SELECT * FROM jsonb_each(NULL)
SELECT * FROM jsonb_each('[1]')
SELECT * FROM jsonb_each('1')
SELECT * FROM jsonb_each_text('"x"')
SELECT * FROM json_each('[1]')
SELECT * FROM json_each_text('1')
SELECT * FROM json_each('{"a"')
SELECT e.key, e.value -> 'x' FROM jsonb_each('{"a": {"x": 1}, "b": {"x": [2]}}') e WHERE e.key > 'a'
SELECT * FROM jsonb_each('{"a": 1}') AS t (k, v) WHERE v = '1'
SELECT k, value FROM jsonb_each('{"a": 1}') AS t (k)
SELECT * FROM jsonb_each('{"a": 1}') AS t (a, b, c)
SELECT jsonb_each.key FROM jsonb_each('{"a": 1}')
SELECT * FROM jsonb_each('{"a": 1, "b": 2}') WITH ORDINALITY
SELECT * FROM jsonb_each('{"a": 1, "b": 2}') WITH ORDINALITY AS t (k, v, n) ORDER BY n DESC
SELECT * FROM jsonb_each('{"a": 1}', 2)
SELECT * FROM jsonb_each()
SELECT id, key, value FROM doc, jsonb_each(d) WHERE jsonb_typeof(d) = 'object' ORDER BY id, key
SELECT id, key FROM doc LEFT JOIN LATERAL jsonb_each_text(d) e ON e.value = 'ann' WHERE id = 2
SELECT id, (SELECT string_agg(key || '=' || value, ',' ORDER BY key) FROM jsonb_each_text(d)) FROM doc WHERE id IN (1, 2) ORDER BY id
SELECT jsonb_object_agg(key, value) FROM jsonb_each('{"a": 1, "b": {"c": 2}}')
SELECT count(*), sum(value::int) FROM jsonb_each_text((SELECT jsonb_object_agg('k' || i, i) FROM generate_series(1, 5000) i))
SELECT id FROM doc WHERE EXISTS (SELECT 1 FROM jsonb_each(d) WHERE value = '"bob"') AND id = 3
