/*
 * arrays_test.c -- arrays: input and output, operators and functions, columns of arrays.
 * The answers are PostgreSQL 15's.
 */
#include "golden.h"

static const struct golden literals[] = {
	{ "select '{1,2,3}'::int[], '{ 1 , -2 ,NULL}'::integer array, '{}'::int[], ' { } '::text[]",
	    "{1,2,3}|{1,-2,NULL}|{}|{}; SELECT 1" },
	{ "select '{a,\"b c\",NULL,\"NULL\",null,\"\",\"a\\\"b\",\"c\\\\d\",e\\ f,\\{}'::text[]",
	    "{a,\"b c\",NULL,\"NULL\",NULL,\"\",\"a\\\"b\",\"c\\\\d\",\"e f\",\"{\"}; SELECT 1" },
	{ "select '{a b ,  c  d,\"x, y\",\" z \"}'::text[]",
	    "{\"a b\",\"c  d\",\"x, y\",\" z \"}; SELECT 1" },
	{ "select '{t,f,NULL}'::boolean[], '{1.50,2}'::numeric[], '{1.5,NaN,-Infinity}'::float8[], "
	  "'{1.1}'::real[], '{1,32767}'::int2[], '{9223372036854775807}'::int8[]",
	    "{t,f,NULL}|{1.50,2}|{1.5,NaN,-Infinity}|{1.1}|{1,32767}|{9223372036854775807}; SELECT 1" },
	{ "select '{2024-02-29,infinity}'::date[], '{\"2024-01-01 10:00:00\",epoch}'::timestamp[], "
	  "'{10:30:00}'::time[], '{1 day,\"2 mons 3 days\"}'::interval[]",
	    "{2024-02-29,infinity}|{\"2024-01-01 10:00:00\",\"1970-01-01 00:00:00\"}|{10:30:00}|{\"1 "
	    "day\",\"2 mons 3 days\"}; SELECT 1" },
	{ "select '{\"\\\\x01ff\"}'::bytea[], '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid[], "
	  "'{\"{\\\"a\\\": 1}\",2}'::json[], '{ab,c}'::char(3)[], '{abcdef}'::varchar(3)[]",
	    "{\"\\\\x01ff\"}|{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}|{\"{\\\"a\\\": 1}\",2}|{\"ab \",\"c  "
	    "\"}|{abc}; SELECT 1" },
	{ "select '{1.237,NULL}'::numeric(5,2)[], array[1.237,2]::numeric(5,1)[], "
	  "array['abcd','e']::varchar(2)[], array['abcd','e']::char(2)[]",
	    "{1.24,NULL}|{1.2,2.0}|{ab,e}|{ab,\"e \"}; SELECT 1" },
	{ "select '[2:4]={1,2,3}'::int[], '[1:2]={1,2}'::int[], '[-1:0]={a,b}'::text[], "
	  "'[3]={1,2,3}'::int[], '[ 2 : 3 ] = {1,2}'::int[]",
	    "ERROR 22P02: malformed array literal: \"[ 2 : 3 ] = {1,2}\"" },
	{ "select '[2:4] = {1,2,3}'::int[]", "[2:4]={1,2,3}; SELECT 1" },
	{ "select '{1,2'::int[]", "ERROR 22P02: malformed array literal: \"{1,2\"" },
	{ "select '1,2}'::int[]", "ERROR 22P02: malformed array literal: \"1,2}\"" },
	{ "select ''::int[]", "ERROR 22P02: malformed array literal: \"\"" },
	{ "select '{1,2}x'::int[]", "ERROR 22P02: malformed array literal: \"{1,2}x\"" },
	{ "select '{1,,2}'::int[]", "ERROR 22P02: malformed array literal: \"{1,,2}\"" },
	{ "select '{1,2,}'::int[]", "ERROR 22P02: malformed array literal: \"{1,2,}\"" },
	{ "select '{,1}'::int[]", "ERROR 22P02: malformed array literal: \"{,1}\"" },
	{ "select '{\"a\"b}'::text[]", "ERROR 22P02: malformed array literal: \"{\"a\"b}\"" },
	{ "select '{a\"b\"}'::text[]", "ERROR 22P02: malformed array literal: \"{a\"b\"}\"" },
	{ "select '{\"a'::text[]", "ERROR 22P02: malformed array literal: \"{\"a\"" },
	{ "select '{a\\'::text[]", "ERROR 22P02: malformed array literal: \"{a\\\"" },
	{ "select '{a{b}'::text[]", "ERROR 22P02: malformed array literal: \"{a{b}\"" },
	{ "select '{1,x}'::int[]", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select '{1,99999999999}'::int[]",
	    "ERROR 22003: value \"99999999999\" is out of range for type integer" },
	{ "select '{2024-13-01}'::date[]",
	    "ERROR 22008: date/time field value out of range: \"2024-13-01\"" },
	{ "select '[2:3]={1,2,3}'::int[]", "ERROR 22P02: malformed array literal: \"[2:3]={1,2,3}\"" },
	{ "select '[3:2]={1,2}'::int[]", "ERROR 2202E: upper bound cannot be less than lower bound" },
	{ "select '[2:a]={1,2}'::int[]", "ERROR 22P02: malformed array literal: \"[2:a]={1,2}\"" },
	{ "select '[2]{1,2}'::int[]", "ERROR 22P02: malformed array literal: \"[2]{1,2}\"" },
	{ "select '[1:2]=1,2'::int[]", "ERROR 22P02: malformed array literal: \"[1:2]=1,2\"" },
	{ "select '{abcd}'::varchar(3)[] = '{abc}', array['abcd']::varchar(3)[]", "t|{abc}; SELECT 1" },
	{ "select _int4 '{1,2}', int[] '{3}', cast('{4}' as int[]), '{5}'::_text, '{6}'::int[3], '{7}'::int "
	  "array[2]",
	    "ERROR 42601: syntax error at or near \"]\"" },
	{ "select array[1,2,3], array[1,2.5], array[1,null,3], array[null,'a'], array['a','b'], array[true], "
	  "array[1::int8,2::int2]",
	    "{1,2,3}|{1,2.5}|{1,NULL,3}|{NULL,a}|{a,b}|{t}|{1,2}; SELECT 1" },
	{ "select array[date '2024-01-01', null], array[1,2]::text[], array['1','2']::int[], array[]::int[], "
	  "array[]::text[], array[null], array[1.6,2.4]::int[]",
	    "{2024-01-01,NULL}|{1,2}|{1,2}|{}|{}|{NULL}|{2,2}; SELECT 1" },
	{ "select array[]", "ERROR 42P18: cannot determine type of empty array" },
	{ "select array[1,'x']", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select array[1,true]", "ERROR 42804: ARRAY types integer and boolean cannot be matched" },
	{ "select array[1, date '2024-01-01']",
	    "ERROR 42804: ARRAY types integer and date cannot be matched" },
	{ "select array[1,2]::int", "ERROR 42846: cannot cast type integer[] to integer" },
	{ "select array[1,2]::boolean[]", "{t,t}; SELECT 1" },
	{ "select array[true,false]::int[], array[1,0]::boolean[]", "{1,0}|{t,f}; SELECT 1" },
	{ "select array[1,2]::date[]", "ERROR 42846: cannot cast type integer to date" },
	{ "select array[date '2024-02-29']::timestamp[], array[1.5::float8,2]::int[], array[1,2]::int8[], "
	  "'{1,2}'::text::int[], array[1,2]::text, array[1,null]::varchar",
	    "{\"2024-02-29 00:00:00\"}|{2,2}|{1,2}|{1,2}|{1,2}|{1,NULL}; SELECT 1" },
	{ "select array[1,100000]::int2[]", "ERROR 22003: smallint out of range" },
	{ "select array['1','x']::int[]", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select array[1,2]::int[]::text[]::numeric[]", "{1,2}; SELECT 1" },
	{ "select null::int[], null::int[] is null, array[null]::int[] is null, '{}'::int[] is null",
	    "~|t|f|f; SELECT 1" },
};

static const struct golden subscripts[] = {
	{ "select (array[1,2,3])[1], (array[1,2,3])[3], (array[1,2,3])[0], (array[1,2,3])[4], "
	  "(array[1,2,3])[-1], (array[1,null])[2], (array['a','b'])[2]",
	    "1|3|~|~|~|~|b; SELECT 1" },
	{ "select (array[1,2,3])[null], (null::int[])[1], ('[5:6]={7,8}'::int[])[5], "
	  "('[5:6]={7,8}'::int[])[1], (array[1,2,3])['2'], (array[1,2,3])[1.6], (array[1,2,3])[2::int8]",
	    "~|~|7|~|2|2|2; SELECT 1" },
	{ "select (array[1,2,3,4])[2:3], (array[1,2,3,4])[:2], (array[1,2,3,4])[3:], (array[1,2,3,4])[:], "
	  "(array[1,2,3,4])[3:2], (array[1,2,3,4])[0:9], (array[1,2,3])[5:6]",
	    "{2,3}|{1,2}|{3,4}|{1,2,3,4}|{}|{1,2,3,4}|{}; SELECT 1" },
	{ "select ('[5:7]={7,8,9}'::int[])[6:], ('[5:7]={7,8,9}'::int[])[:5], (array[1,2,3])[null:2], "
	  "(array[1,2,3])[1:null], (null::int[])[1:2], ('{}'::int[])[1:2]",
	    "{8,9}|{7}|~|~|~|{}; SELECT 1" },
	{ "select (array[array[1,2][1]+1, 5])[1], (string_to_array('x,y,z', ','))[2], (array['ab','cd'])[1] "
	  "|| 'x'",
	    "ERROR 42601: syntax error at or near \"[\"" },
	{ "select (1)[1]",
	    "ERROR 42804: cannot subscript type integer because it does not support subscripting" },
	{ "select ('a'::text)[1]",
	    "ERROR 42804: cannot subscript type text because it does not support subscripting" },
	{ "select (array[1,2])['x']", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select (array[1,2])[true]", "ERROR 42804: array subscript must have type integer" },
	{ "select x[2] as y, x[1:1], x from (values (array[1,2]), (array[3]), (null), ('{}')) v(x)",
	    "2|{1}|{1,2};~|{3}|{3};~|~|~;~|{}|{}; SELECT 4" },
	{ "select v.x[i] from (values (array[10,20,30], 1), (array[10,20,30], 3), (array[10], 2), "
	  "(array[10], null)) v(x, i)",
	    "10;30;~;~; SELECT 4" },
};

static const struct golden operators[] = {
	{ "select array[1,2]=array[1,2], array[1,2]=array[1,3], array[1,2]<>array[2,1], "
	  "array[1,2]<array[1,2,0], array[1,null]=array[1,null], array[null]::int[]>array[5], "
	  "'{}'::int[]<array[1]",
	    "t|f|t|t|t|t|t; SELECT 1" },
	{ "select array[1,2]='{1,2}', '{1,2}'=array[1,2], array['a']>=array['b'], array[1.0]=array[1.00], "
	  "array['ab']::char(5)[]=array['ab']::char(3)[], array[1]=null",
	    "t|t|f|t|t|~; SELECT 1" },
	{ "select '[2:3]={1,2}'::int[]=array[1,2], '[2:3]={1,2}'::int[]>array[1,2], "
	  "array['NaN'::float8]=array['NaN'::float8], array[0.0::float8]=array['-0'::float8]",
	    "f|t|t|t; SELECT 1" },
	{ "select array[1,2]=array[1,2]::int8[]",
	    "ERROR 42883: operator does not exist: integer[] = bigint[]" },
	{ "select array[1]=array['a']", "ERROR 42883: operator does not exist: integer[] = text[]" },
	{ "select array[1]=1", "ERROR 42883: operator does not exist: integer[] = integer" },
	{ "select array[1]+array[2]", "ERROR 42883: operator does not exist: integer[] + integer[]" },
	{ "select array[json '1']=array[json '1']",
	    "ERROR 42883: could not identify an equality operator for type json" },
	{ "select array[1,2,3]@>array[2], array[1,2]@>array[3], array[1,2]@>'{}', "
	  "array[1,null]@>array[null]::int[], array[1,2]<@array[3,2,1], '{1}'<@array[1], "
	  "array[1,2]&&array[2,3], array[1]&&array[2], array[null]::int[]&&array[null]::int[], "
	  "'{}'::int[]&&'{}'",
	    "t|f|t|f|t|t|t|f|f|f; SELECT 1" },
	{ "select array[1,2,3,4,5,6,7,8,9,10]@>array[9,10,1,1,2,3,4,5,6,7,8], "
	  "array['a','b']&&array['c','b'], array[1,2]@>null",
	    "t|t|~; SELECT 1" },
	{ "select array[1,2]||array[3], array[1,2]||3, 3||array[1,2], array[1,2]||'{3,4}', '{3}'||array[1], "
	  "array[1]||null, null||array[1], array[1]||null::int[], null::int[]||null::int[], null::int[]||1",
	    "{1,2,3}|{1,2,3}|{3,1,2}|{1,2,3,4}|{3,1}|{1}|{1}|{1}|~|{1}; SELECT 1" },
	{ "select array[1,2]||2.5, 2.5||array[1,2], array[1]||array[2.5], array['a']||'{b}'::text[], "
	  "array['a']||'b'::text, 'b'::text||array['a'], '[2:3]={1,2}'::int[]||3, 3||'[2:3]={1,2}'::int[], "
	  "'[2:3]={1,2}'::int[]||array[9]",
	    "{1,2,2.5}|{2.5,1,2}|{1,2.5}|{a,b}|{a,b}|{b,a}|[2:4]={1,2,3}|[2:4]={3,1,2}|[2:4]={1,2,9}; SELECT "
	    "1" },
	{ "select array['a']||'b'", "ERROR 22P02: malformed array literal: \"b\"" },
	{ "select array[1]||'x'::text", "ERROR 42883: operator does not exist: integer[] || text" },
	{ "select 'x'||array[1]", "ERROR 22P02: malformed array literal: \"x\"" },
	{ "select 'a'::text||'b'||array['c']", "{ab,c}; SELECT 1" },
	{ "select '{}'::int[]||'{}'::int[], '{}'::int[]||1, array[1,2]||'{}'::int[]",
	    "{}|{1}|{1,2}; SELECT 1" },
	{ "select array[date '2024-01-01']||'2024-01-02'::date, array[true]||false",
	    "{2024-01-01,2024-01-02}|{t,f}; SELECT 1" },
	{ "select array[1,2] is distinct from array[1,2], array[1] is not distinct from null::int[], "
	  "nullif(array[1],array[1]), coalesce(null,array[1]), case when true then array[1] else '{2}' end, "
	  "greatest(array[1,2],array[1,3]), least(array[2],array[1])",
	    "f|f|~|{1}|{1}|{1,3}|{1}; SELECT 1" },
	{ "select array[1,2] in (array[1,2]), array[3] in ('{1}','{2}'), array[2] between array[1] and "
	  "array[3]",
	    "t|f|t; SELECT 1" },
};

static const struct golden anyall[] = {
	{ "select 1=any(array[1,2]), 3=any(array[1,2]), 3=any(array[1,null]), 1=any(array[1,null]), "
	  "null=any(array[1]), 1=any('{}'::int[]), 1=any(null::int[]), null::int=any('{}')",
	    "t|f|~|t|~|f|~|f; SELECT 1" },
	{ "select 1<>all(array[2,3]), 2<>all(array[2,3]), 1<>all(array[2,null]), 2<>all(array[2,null]), "
	  "1<>all('{}'::int[]), 1<>all(null::int[]), null::int<>all('{}'::int[])",
	    "t|f|~|f|t|~|t; SELECT 1" },
	{ "select 5>all(array[1,2]), 5>any(array[7,9]), 5<some(array[1,9]), 2<=all('{2,3}'), "
	  "2>=any(array[3,null]), 2>=all(array[1,null])",
	    "t|f|t|t|~|~; SELECT 1" },
	{ "select 1=any('{1,2}'), 'b'=any('{a,b}'), 1.5=any('{1,1.50}'), 'b'::text=any(array['b']), date "
	  "'2024-01-01'=any('{2024-01-01}'), 1=any(array[1.0,2.5]), 1.5=any(array[1,2]), "
	  "1::int2=any(array[1::int8]), 'a '::char(2)=any(array['a'::char(1)])",
	    "t|t|t|t|t|t|f|t|t; SELECT 1" },
	{ "select 'abc' like any(array['x%','a%']), 'abc' not like all(array['x%','a%']), 'ABC' ilike "
	  "any('{a%}'), 'abc' ~ any(array['^b','c$']), 'abc' ~ all('{a,b}'), 'abc' like all('{}'::text[])",
	    "t|f|t|t|t|t; SELECT 1" },
	{ "select 10=any('{1,2,3,4,5,6,7,8,9,10}'), 11=any('{1,2,3,4,5,6,7,8,9,10}'), "
	  "11=any('{1,2,3,4,5,6,7,8,9,null}'), 11<>all('{1,2,3,4,5,6,7,8,9,10}'), "
	  "10<>all('{1,2,3,4,5,6,7,8,9,10}'), 11<>all('{1,2,3,4,5,6,7,8,9,null}')",
	    "t|f|~|t|f|~; SELECT 1" },
	{ "select x, x=any('{2,4,6,8,10,12,14,16,18,20}') e, x<>all('{2,4,6,8,10,12,14,16,18,null}') n, "
	  "x<any('{3}') l from (values (1),(2),(20),(null)) v(x)",
	    "1|f|~|t;2|t|f|t;20|t|~|f;~|~|~|~; SELECT 4" },
	{ "select x, 2=any(x), 2<>all(x), 3>all(x) from (values (array[1,2]), (array[3,null]), ('{}'), "
	  "(null), (array[1])) v(x)",
	    "{1,2}|t|f|t;{3,NULL}|~|~|f;{}|f|t|t;~|~|~|~;{1}|f|t|t; SELECT 5" },
	{ "select 1=any(1)", "ERROR 42809: op ANY/ALL (array) requires array on right side" },
	{ "select 1=any('x')", "ERROR 22P02: malformed array literal: \"x\"" },
	{ "select 1=any('{x}')", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select 1+any(array[1])", "ERROR 42809: op ANY/ALL (array) requires operator to yield boolean" },
	{ "select 1=any(array['a'])", "ERROR 42883: operator does not exist: integer = text" },
	{ "select 'a'=any(array[1])", "ERROR 22P02: invalid input syntax for type integer: \"a\"" },
	{ "select true=any(array[1=1,null]), not 1=any(array[1,2]), 1=any(array[2,3]) or 2=any('{2}')",
	    "t|f|t; SELECT 1" },
};

static const struct golden functions[] = {
	{ "select array_length(array[1,2,3],1), array_length(array[1],2), array_length('{}'::int[],1), "
	  "array_length(null::int[],1), array_length(array[1],null), cardinality(array[1,2]), "
	  "cardinality('{}'::int[]), cardinality(null::int[])",
	    "3|~|~|~|~|2|0|~; SELECT 1" },
	{ "select array_lower('[5:6]={1,2}'::int[],1), array_upper('[5:6]={1,2}'::int[],1), "
	  "array_lower('{}'::int[],1), array_upper(array[1,2,3],1), array_upper(array[1],0), "
	  "array_ndims(array[1]), array_ndims('{}'::int[]), array_dims(array[1,2]), "
	  "array_dims('[5:6]={1,2}'::int[]), array_dims('{}'::text[])",
	    "5|6|~|3|~|1|~|[1:2]|[5:6]|~; SELECT 1" },
	{ "select array_append(array[1,2],3), array_append(null::int[],1), array_append('{}'::int[],null), "
	  "array_append(array[1],2.5), array_prepend(0,array[1,2]), array_prepend(null,array[1]), "
	  "array_prepend('a',array['b']), array_append('{1}',2)",
	    "{1,2,3}|{1}|{NULL}|{1,2.5}|{0,1,2}|{NULL,1}|{a,b}|{1,2}; SELECT 1" },
	{ "select array_cat(array[1],array[2,3]), array_cat(null,array[1]), array_cat(array[1],'{2}'), "
	  "array_cat(array[1],array[2.5])",
	    "{1,2,3}|{1}|{1,2}|{1,2.5}; SELECT 1" },
	{ "select array_remove(array[1,2,1,null],1), array_remove(array[1,null,2],null), "
	  "array_remove('{}'::int[],1), array_remove(null::int[],1), array_remove(array['a','b'],'b'), "
	  "array_remove('[2:4]={1,2,1}'::int[],2)",
	    "{2,NULL}|{1,2}|{}|~|{a}|[2:3]={1,1}; SELECT 1" },
	{ "select array_replace(array[1,2,1],1,9), array_replace(array[1,null],null,0), "
	  "array_replace(array[1,2],2,null), array_replace(null::int[],1,2), "
	  "array_replace(array['a'],'a','b')",
	    "{9,2,9}|{1,0}|{1,NULL}|~|{b}; SELECT 1" },
	{ "select array_position(array['a','b','c'],'b'), array_position(array[1,2,1],1,2), "
	  "array_position(array[1,null],null), array_position(array[1],9), "
	  "array_position('[5:6]={7,8}'::int[],8), array_position(null::int[],1), "
	  "array_position(array[1,2],2,-5)",
	    "2|3|2|~|6|~|2; SELECT 1" },
	{ "select array_position(array[1],1,null)", "ERROR 22004: initial position must not be null" },
	{ "select array_positions(array[1,2,1],1), array_positions(array[1],9), "
	  "array_positions(array[null,1,null]::int[],null), array_positions('[5:6]={7,7}'::int[],7)",
	    "{1,3}|{}|{1,3}|{5,6}; SELECT 1" },
	{ "select array_to_string(array[1,2,null,3],','), array_to_string(array[1,null],',','*'), "
	  "array_to_string(array['a','b'],''), array_to_string('{}'::int[],','), "
	  "array_to_string(null::int[],','), array_to_string(array[1],null), "
	  "array_to_string(array[true,false],'|'), array_to_string(array[1.50,null],', ',null)",
	    "1,2,3|1,*|ab||~|~|t|f|1.50; SELECT 1" },
	{ "select string_to_array('a,b,,c',','), string_to_array('abc',null), string_to_array('abc',''), "
	  "string_to_array('',','), string_to_array(null,','), string_to_array('a,x,b',',','x'), "
	  "string_to_array('aXXbXX','XX'), string_to_array('äöü',null), string_to_array('1 2 3',' ')::int[]",
	    "{a,b,\"\",c}|{a,b,c}|{abc}|{}|~|{a,NULL,b}|{a,b,\"\"}|{ä,ö,ü}|{1,2,3}; SELECT 1" },
	{ "select trim_array(array[1,2,3],2), trim_array(array[1],1), trim_array('[3:5]={1,2,3}'::int[],1), "
	  "array_fill(7,array[3]), array_fill('x'::text,array[2],array[5]), array_fill(null::int,array[2]), "
	  "array_fill(1,'{}'::int[])",
	    "{1}|{}|{1,2}|{7,7,7}|[5:6]={x,x}|{NULL,NULL}|{}; SELECT 1" },
	{ "select trim_array(array[1],2)",
	    "ERROR 2202E: number of elements to trim must be between 0 and 1" },
	{ "select trim_array(array[1],-1)",
	    "ERROR 2202E: number of elements to trim must be between 0 and 1" },
	{ "select array_fill(1,null::int[])",
	    "ERROR 22004: dimension array or low bound array cannot be null" },
	{ "select array_length(array[1])", "ERROR 42883: function array_length(integer[]) does not exist" },
	{ "select array_length(1,1)", "ERROR 42883: function array_length(integer, integer) does not exist" },
	{ "select array_length(null,1)",
	    "ERROR 42804: could not determine polymorphic type because input has type unknown" },
	{ "select array_append(1,2)", "ERROR 42883: function array_append(integer, integer) does not exist" },
	{ "select array_append(array[1],'x')", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select array_append(array[1],'x'::text)",
	    "ERROR 42883: function array_append(integer[], text) does not exist" },
	{ "select cardinality('x')",
	    "ERROR 42804: could not determine polymorphic type because input has type unknown" },
	{ "select array_position(array[json '1'],json '1')",
	    "ERROR 42883: could not identify an equality operator for type json" },
	{ "select upper(array['a'])", "ERROR 42883: function upper(text[]) does not exist" },
	{ "select concat(array[1,2],'x'), concat_ws('-',array[1],2)", "{1,2}x|{1}-2; SELECT 1" },
};
static const struct golden columns[] = {
	{ "create table t (id int primary key, a int[], b text[] default '{x}' not null, n numeric(5,2)[] "
	  "check (cardinality(n) < 4), v varchar(3)[], d date array, j json[])",
	    "CREATE TABLE" },
	{ "insert into t values (1, '{1,2}', '{a,\"b c\",NULL}', '{1.234,2}', '{abc}', '{2024-01-01}', "
	  "'{\"{\\\"k\\\": 1}\"}')",
	    "INSERT 0 1" },
	{ "insert into t values (2, array[3], default, null, array['x'], array[date '2024-02-02', null], "
	  "null), (3, null, '{}', array[1,2], '{}', null, null), (4, array[1,2], array['z'], '{}', null, "
	  "null, '{}')",
	    "INSERT 0 3" },
	{ "insert into t (id, b) values (5, null)",
	    "ERROR 23502: null value in column \"b\" of relation \"t\" violates not-null constraint" },
	{ "insert into t (id, n) values (5, '{1,2,3,4}')",
	    "ERROR 23514: new row for relation \"t\" violates check constraint \"t_n_check\"" },
	{ "insert into t (id, n) values (5, '{1000}')", "ERROR 22003: numeric field overflow" },
	{ "insert into t (id, v) values (5, '{abcd}')",
	    "ERROR 22001: value too long for type character varying(3)" },
	{ "insert into t (id, a) values (5, array['x','y'])",
	    "ERROR 42804: column \"a\" is of type integer[] but expression is of type text[]" },
	{ "insert into t (id, a) values (5, 5)",
	    "ERROR 42804: column \"a\" is of type integer[] but expression is of type integer" },
	{ "insert into t (id, a) values (5, '{x}')",
	    "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "insert into t (id, a) values (5, array['1','2']::text[])",
	    "ERROR 42804: column \"a\" is of type integer[] but expression is of type text[]" },
	{ "insert into t (id, a) values (5, array[1.5, 2.5]) returning id, a", "5|{2,3}; INSERT 0 1" },
	{ "select * from t order by id",
	    "1|{1,2}|{a,\"b c\",NULL}|{1.23,2.00}|{abc}|{2024-01-01}|{\"{\\\"k\\\": "
	    "1}\"};2|{3}|{x}|~|{x}|{2024-02-02,NULL}|~;3|~|{}|{1.00,2.00}|{}|~|~;4|{1,2}|{z}|{}|~|~|{};5|{2,"
	    "3}|{x}|~|~|~|~; SELECT 5" },
	{ "select id from t where a = '{1,2}' order by id", "1;4; SELECT 2" },
	{ "select id, a[1], b[2], a[2] + 10, n[1:1] from t order by id",
	    "1|1|b c|12|{1.23};2|3|~|~|~;3|~|~|~|{1.00};4|1|~|12|{};5|2|~|13|~; SELECT 5" },
	{ "select id from t where 2 = any(a) order by id", "1;4;5; SELECT 3" },
	{ "select id from t where not (a && '{3}') order by id", "1;4; SELECT 2" },
	{ "select a, count(*), min(id) from t group by a order by a",
	    "{1,2}|2|1;{2,3}|1|5;{3}|1|2;~|1|3; SELECT 4" },
	{ "select distinct a from t order by a desc nulls last", "{3};{2,3};{1,2};~; SELECT 4" },
	{ "select x.id, y.id from t x join t y on x.a = y.a and x.id < y.id order by 1, 2", "1|4; SELECT 1" },
	{ "select id from t where a in ('{1,2}', '{3}') order by id", "1;2;4; SELECT 3" },
	{ "select id from t order by b, id", "3;1;2;5;4; SELECT 5" },
	{ "select max(a), min(a), count(a), count(distinct a) from t", "{3}|{1,2}|4|3; SELECT 1" },
	{ "select id, array_length(b, 1), cardinality(a), array_to_string(b, '-') from t order by 1",
	    "1|3|2|a-b c;2|1|1|x;3|~|~|;4|1|2|z;5|1|2|x; SELECT 5" },
	{ "update t set a = a || 7, b = array_append(b, 'new') where id in (1, 3) returning id, a, b",
	    "1|{1,2,7}|{a,\"b c\",NULL,new};3|{7}|{new}; UPDATE 2" },
	{ "update t set a = array_remove(a, 7) where 7 = any(a) returning id, a", "1|{1,2};3|{}; UPDATE 2" },
	{ "delete from t where a @> '{3}' returning id", "2;5; DELETE 2" },
	{ "select json '1' = any(j) from t", "ERROR 42883: operator does not exist: json = json" },
	{ "select distinct j from t",
	    "ERROR 42883: could not identify an equality operator for type json[]" },
	{ "create table k (a int[] primary key, v text)", "CREATE TABLE" },
	{ "insert into k values ('{1,2}', 'x'), ('{}', 'empty'), ('{1,NULL}', 'null'), ('[2:3]={1,2}', "
	  "'shifted')",
	    "INSERT 0 4" },
	{ "insert into k values (array[1,2], 'again')",
	    "ERROR 23505: duplicate key value violates unique constraint \"k_pkey\"" },
	{ "insert into k values (null, 'x')",
	    "ERROR 23502: null value in column \"a\" of relation \"k\" violates not-null constraint" },
	{ "select * from k where a = '{1,2}'", "{1,2}|x; SELECT 1" },
	{ "select v from k where a = array[1,null]::int[]", "null; SELECT 1" },
	{ "select v from k where a in ('{}', '{1,2}', '{9}') order by v", "empty;x; SELECT 2" },
	{ "update k set a = a || 1 where a = '{}' returning *", "{1}|empty; UPDATE 1" },
	{ "create table f (a float8[], n numeric[], c char(4)[], primary key (a, n, c))", "CREATE TABLE" },
	{ "insert into f values ('{0,NaN}', '{1.0}', '{ab}')", "INSERT 0 1" },
	{ "insert into f values ('{-0,NaN}', '{1.00}', '{\"ab  \"}')",
	    "ERROR 23505: duplicate key value violates unique constraint \"f_pkey\"" },
	{ "select * from f where n = '{1}' and c = '{ab}' and a = '{0,nan}'",
	    "{0,NaN}|{1.0}|{\"ab  \"}; SELECT 1" },
	{ "select a, v from (select a, v from k union all select '{5}', 'u' union select array[6], 'w') s "
	  "order by a",
	    "{1}|empty;{1,2}|x;[2:3]={1,2}|shifted;{1,NULL}|null;{5}|u;{6}|w; SELECT 6" },
	{ "select a from k intersect select array[1,2]", "{1,2}; SELECT 1" },
	{ "with w as (select array[id] x from t) select x[1], x from w order by 1",
	    "1|{1};3|{3};4|{4}; SELECT 3" },
	{ "create view vw as select id, a[1] as first, b from t", "CREATE VIEW" },
	{ "select * from vw order by id", "1|1|{a,\"b c\",NULL,new};3|~|{new};4|1|{z}; SELECT 3" },
	{ "create table big (id int primary key, a int[], b text[])", "CREATE TABLE" },
	{ "insert into big select g, array_fill(g, array[3000]), array_fill(repeat('x', 100), array[200]) "
	  "from generate_series(1, 3) g",
	    "INSERT 0 3" },
	{ "select id, cardinality(a), a[3000], a[1], cardinality(b), length(b[200]), "
	  "length(array_to_string(b, ',')) from big order by id",
	    "1|3000|1|1|200|100|20199;2|3000|2|2|200|100|20199;3|3000|3|3|200|100|20199; SELECT 3" },
};

static const struct golden prepared[] = {
	{ "create table p (id int primary key, name text, tags text[])", "CREATE TABLE" },
	{ "insert into p values (1, 'one', '{a,b}'), (2, 'two', '{b}'), (3, 'three', null), (4, 'four', "
	  "'{}')",
	    "INSERT 0 4" },
	{ "prepare byids (int[]) as select id, name from p where id = any ($1) order by id", "PREPARE" },
	{ "execute byids ('{1,3,3,NULL,9}')", "1|one;3|three; SELECT 2" },
	{ "execute byids (array[2,4])", "2|two;4|four; SELECT 2" },
	{ "execute byids ('{}')", "SELECT 0" },
	{ "execute byids (null)", "SELECT 0" },
	{ "execute byids ('x')", "ERROR 22P02: malformed array literal: \"x\"" },
	{ "prepare untyped as select id from p where name = any ($1) and id <> all ($2) order by id",
	    "PREPARE" },
	{ "execute untyped ('{one,two,\"three\"}', '{2}')", "1;3; SELECT 2" },
	{ "execute untyped (array['one','four'], array[]::int[])", "1;4; SELECT 2" },
	{ "prepare elem as select $1 = any (tags), id from p order by id", "PREPARE" },
	{ "execute elem ('b')", "t|1;t|2;~|3;f|4; SELECT 4" },
	{ "prepare sub as select $1[2], cardinality($1), array_append($1, $2), $1 || $2 from p where id = 1",
	    "ERROR 42804: cannot subscript type unknown because it does not support subscripting" },
	{ "prepare sub2 (int[], int) as select $1[2], cardinality($1), array_append($1, $2), $1 || $2, "
	  "$1[1:$2] from p where id = 1",
	    "PREPARE" },
	{ "execute sub2 ('{5,6}', 1)", "6|2|{5,6,1}|{5,6,1}|{5}; SELECT 1" },
	{ "prepare like_any as select id from p where name like any ($1) order by id", "PREPARE" },
	{ "execute like_any ('{t%,%e}')", "1;2;3; SELECT 3" },
	{ "prepare arr as select array[$1, 2], array[$2, 'x']", "PREPARE" },
	{ "execute arr (1, 'y')", "{1,2}|{y,x}; SELECT 1" },
	{ "prepare ins (int, text[]) as insert into p values ($1, 'n', $2) returning tags", "PREPARE" },
	{ "execute ins (5, '{\"q r\",NULL}')", "{\"q r\",NULL}; INSERT 0 1" },
	{ "prepare s2a as select string_to_array($1, $2), array_to_string($3::int[], $4), "
	  "array_position(tags, $5) from p where id = 1",
	    "PREPARE" },
	{ "execute s2a ('1,2', ',', '{3,4}', '+', 'b')", "{1,2}|3+4|2; SELECT 1" },
};
static const struct golden aggregates[] = {
	{ "create table t (id int primary key, g text, v int, s text)", "CREATE TABLE" },
	{ "insert into t values "
	  "(1,'a',10,'x'),(2,'a',null,'y'),(3,'b',20,null),(4,'b',10,'x'),(5,'c',30,'\"q\"'),(6,'a',10,'')",
	    "INSERT 0 6" },
	{ "select array_agg(id order by id), array_agg(v order by id), array_agg(s order by id desc), "
	  "array_agg(v order by v desc nulls last, id) from t",
	    "{1,2,3,4,5,6}|{10,NULL,20,10,30,10}|{\"\",\"\\\"q\\\"\",x,NULL,y,x}|{30,20,10,10,10,NULL}; "
	    "SELECT 1" },
	{ "select g, array_agg(id order by id desc), array_agg(distinct v), array_agg(id order by id) filter "
	  "(where v = 10) from t group by g order by g",
	    "a|{6,2,1}|{10,NULL}|{1,6};b|{4,3}|{10,20}|{4};c|{5}|{30}|~; SELECT 3" },
	{ "select array_agg(distinct s order by s desc), array_agg(distinct v order by v nulls first) from t",
	    "{NULL,y,x,\"\\\"q\\\"\",\"\"}|{NULL,10,20,30}; SELECT 1" },
	{ "select array_agg(id) from t where false", "~; SELECT 1" },
	{ "select array_agg(v order by v) filter (where v > 100), cardinality(array_agg(v)) from t",
	    "~|6; SELECT 1" },
	{ "select g from t group by g having array_agg(id order by id) @> array[3] order by g",
	    "b; SELECT 1" },
	{ "select array_agg(v::numeric / 4 order by id), array_agg((v > 15) order by id), array_agg(date "
	  "'2024-01-01' + id order by id) from t where id < 4",
	    "{2.5000000000000000,NULL,5.0000000000000000}|{f,NULL,t}|{2024-01-02,2024-01-03,2024-01-04}; "
	    "SELECT 1" },
	{ "select array_agg(*) from t", "ERROR 42883: function array_agg() does not exist" },
	{ "select array_agg(id, v) from t",
	    "ERROR 42883: function array_agg(integer, integer) does not exist" },
	{ "select array_agg('x') from (values (1),(2)) w(a)",
	    "ERROR 42725: function array_agg(unknown) is not unique" },
	{ "select id, array_agg(id) over (order by id), array_agg(v) over (partition by g order by id) from "
	  "t order by id",
	    "1|{1}|{10};2|{1,2}|{10,NULL};3|{1,2,3}|{20};4|{1,2,3,4}|{20,10};5|{1,2,3,4,5}|{30};6|{1,2,3,4,5,"
	    "6}|{10,NULL,10}; SELECT 6" },
	{ "select id, array_agg(id) over (order by id rows between 1 preceding and 1 following) from t order "
	  "by id",
	    "1|{1,2};2|{1,2,3};3|{2,3,4};4|{3,4,5};5|{4,5,6};6|{5,6}; SELECT 6" },
	{ "select min(a), max(a) from (values (array[2,1]), (array[1,9]), (null)) w(a)",
	    "{1,9}|{2,1}; SELECT 1" },
	{ "select array_agg(x order by x) from (select distinct v % 3 as x from t) q",
	    "{0,1,2,NULL}; SELECT 1" },
};

static const struct golden subqueries[] = {
	{ "create table t (id int primary key, p int)", "CREATE TABLE" },
	{ "insert into t select n, n % 3 from generate_series(1, 9) n", "INSERT 0 9" },
	{ "select array(select id from t order by id desc), array(select id from t where false), "
	  "array(select null::int), array(select 'a'), array(select 'a' union all select 'b')",
	    "{9,8,7,6,5,4,3,2,1}|{}|{NULL}|{a}|{a,b}; SELECT 1" },
	{ "select p, array(select id from t i where i.p = o.p order by id) from (select distinct p from t) o "
	  "order by p",
	    "0|{3,6,9};1|{1,4,7};2|{2,5,8}; SELECT 3" },
	{ "select id from t where id = any (array(select p from t)) order by id", "1;2; SELECT 2" },
	{ "select id from t where id <> all (array(select p + 3 from t)) order by id",
	    "1;2;6;7;8;9; SELECT 6" },
	{ "select array(select id, p from t)", "ERROR 42601: subquery must return only one column" },
	{ "select cardinality(array(select 1 from t a, t b)), (array(select id from t order by 1))[2:3]",
	    "81|{2,3}; SELECT 1" },
	{ "update t set p = cardinality(array(select 1 from t)) where id = 1 returning p", "9; UPDATE 1" },
	{ "select array(select t.id from t i where i.id = 1) from t where id < 3 order by id",
	    "{1};{2}; SELECT 2" },
	{ "select id, array(select x.id from t x where x.id < t.id order by 1) @> '{1}' from t where id < 4 "
	  "order by id",
	    "1|f;2|t;3|t; SELECT 3" },
	{ "select 1 = any (select 1), 1 = any ((select array[1,2])), 3 = any ((select array_agg(id) from t))",
	    "ERROR 42883: operator does not exist: integer = integer[]" },
};

static const struct golden by_key[] = {
	{ "create table t (id int primary key, v text)", "CREATE TABLE" },
	{ "insert into t select g, 'v' || g from generate_series(1, 3000) g", "INSERT 0 3000" },
	{ "select * from t where id = any ('{1,2,2,NULL,5000}') order by id", "1|v1;2|v2; SELECT 2" },
	{ "select count(*), sum(id) from t where id = any (array(select g from generate_series(1, 2500) g))",
	    "2500|3126250; SELECT 1" },
	{ "select count(*) from t where id = any ('{}') or id = any (null)", "0; SELECT 1" },
	{ "select count(*) from t where id = any (null::int[])", "0; SELECT 1" },
	{ "prepare p as select id, v from t where id = any ($1) and v <> 'v3' order by id", "PREPARE" },
	{ "execute p('{3,4,5}')", "4|v4;5|v5; SELECT 2" },
	{ "execute p('{}')", "SELECT 0" },
	{ "execute p(null)", "SELECT 0" },
	{ "execute p('{5,5,4,99999,-1}')", "4|v4;5|v5; SELECT 2" },
	{ "select id from t where id = any ('{1,2,3}'::bigint[]) order by id", "1;2;3; SELECT 3" },
	{ "select id from t where id = any ('{1,2,3000000000}'::bigint[]) order by id", "1;2; SELECT 2" },
	{ "select id from t where id = any ('{1,2.0,2.5}'::numeric[]) order by id", "1;2; SELECT 2" },
	{ "select id from t where id = any ('{1,2}'::int2[]) and id = 2", "2; SELECT 1" },
	{ "select id from t where 7 = any (array[id, length(v)]) and id < 10", "7; SELECT 1" },
	{ "create table c (a int, b text, d int, primary key (a, b))", "CREATE TABLE" },
	{ "insert into c values (1,'x',1),(1,'y',2),(2,'x',3),(2,'z',4)", "INSERT 0 4" },
	{ "select * from c where b = any ('{x,y}') and a = 1 order by 1,2", "1|x|1;1|y|2; SELECT 2" },
	{ "select * from c where a = any ('{1,2,2}'::bigint[]) and b = 'x' order by 1,2",
	    "1|x|1;2|x|3; SELECT 2" },
	{ "select * from c where a = any ('{1,2}') and b = any ('{x,z}') order by 1,2",
	    "1|x|1;2|x|3;2|z|4; SELECT 3" },
	{ "select * from c where a = any ('{1,2}') and b = any ('{x,z}') and d > 1 order by 1,2",
	    "2|x|3;2|z|4; SELECT 2" },
	{ "select o.id, (select count(*) from c where c.a = any (array[o.id, 2]) and c.b = 'x') from t o "
	  "where o.id < 4 order by 1",
	    "1|2;2|1;3|1; SELECT 3" },
	{ "select t.id, c.b from t join c on c.a = t.id where t.id = any ('{1,2,3}') order by 1,2",
	    "1|x;1|y;2|x;2|z; SELECT 4" },
	{ "select t.id, c.b from t left join c on c.a = t.id where t.id = any ('{1,3}') order by 1,2",
	    "1|x;1|y;3|~; SELECT 3" },
	{ "update t set v = 'n' where id = any ('{7,8,8}') returning *", "7|n;8|n; UPDATE 2" },
	{ "delete from t where id = any (array[7,8,9])", "DELETE 3" },
	{ "update t set v = v || 'q' where id = any (array_fill(10, array[3000]))", "UPDATE 1" },
	{ "select v from t where id = 10", "v10q; SELECT 1" },
	{ "update t set v = id::text where id = any (array(select g from generate_series(11, 2000) g))",
	    "UPDATE 1990" },
	{ "select count(*) from t where v = id::text", "1990; SELECT 1" },
	{ "delete from c where (a = 1 and b = 'x') or a = any ('{2}')", "DELETE 3" },
	{ "select * from c", "1|y|2; SELECT 1" },
	{ "with x as (select array[1,2] k) select t.id from t, x where t.id = any (x.k) order by 1",
	    "1;2; SELECT 2" },
};
static const struct golden unnest[] = {
	{ "select unnest(array[1,2,3])", "1;2;3; SELECT 3" },
	{ "select * from unnest(array['a','b',null]) with ordinality", "a|1;b|2;~|3; SELECT 3" },
	{ "select * from unnest(array[1,2], array['x','y','z']) as t(a, b)", "1|x;2|y;~|z; SELECT 3" },
	{ "select * from unnest(array[1,2,3]) as x(v) where v > 1", "2;3; SELECT 2" },
	{ "select x, x + 1 from unnest('{5,6}'::int[]) x order by x desc", "6|7;5|6; SELECT 2" },
	{ "select * from unnest('{}'::int[])", "SELECT 0" },
	{ "select * from unnest(null::int[])", "SELECT 0" },
	{ "select u.* from unnest(array[1.5, null]) with ordinality as u(v, n)", "1.5|1;~|2; SELECT 2" },
	{ "select unnest(array[1,2,3]), unnest(array['a','b'])", "1|a;2|b;3|~; SELECT 3" },
	{ "select 1 as k, unnest(array[7,8]) as v, 'x'", "1|7|x;1|8|x; SELECT 2" },
	{ "create table t (id int primary key, a int[], b text[])", "CREATE TABLE" },
	{ "insert into t values (1, '{10,20}', '{x}'), (2, '{}', '{y,z}'), (3, null, null), (4, '{30,NULL}', "
	  "'{p,q,r}'), (5, '{40}', '{}')",
	    "INSERT 0 5" },
	{ "select id, unnest(a) from t order by id, 2", "1|10;1|20;4|30;4|~;5|40; SELECT 5" },
	{ "select id, unnest(a) as x, unnest(b) as y from t order by id, x, y",
	    "1|10|x;1|20|~;2|~|y;2|~|z;4|30|p;4|~|q;4|~|r;5|40|~; SELECT 8" },
	{ "select unnest(a) + 1 from t order by 1", "11;21;31;41;~; SELECT 5" },
	{ "select unnest(a)::text || '!' as s from t order by s", "10!;20!;30!;40!;~; SELECT 5" },
	{ "select distinct unnest(a || 10) as v from t order by v", "10;20;30;40;~; SELECT 5" },
	{ "select count(*), sum(x) from (select unnest(a) x from t) s", "5|100; SELECT 1" },
	{ "select x, count(*) from (select unnest(array_cat(a, '{10}')) x from t) s group by x order by x",
	    "10|6;20|1;30|1;40|1;~|1; SELECT 5" },
	{ "select unnest(array_agg(id order by id desc)) from t", "5;4;3;2;1; SELECT 5" },
	{ "select id, unnest(a) from t where id = any ('{1,4}') order by id desc, 2 limit 2",
	    "4|30;4|~; SELECT 2" },
	{ "select id from t where 20 in (select unnest(a))  order by id", "1; SELECT 1" },
	{ "select id from t o where exists (select 1 from unnest(o.b) x where x > 'p') order by id",
	    "1;2;4; SELECT 3" },
	{ "select id, (select sum(x) from unnest(t.a) x), array(select x * 2 from unnest(t.a) x) from t "
	  "order by id",
	    "1|30|{20,40};2|~|{};3|~|{};4|30|{60,NULL};5|40|{80}; SELECT 5" },
	{ "select id, (select string_agg(x, '-' order by x desc) from unnest(b) x) from t order by id",
	    "1|x;2|z-y;3|~;4|r-q-p;5|~; SELECT 5" },
	{ "select t.id, u.x from t join unnest(array[4, 1, 9]) with ordinality as u(x, n) on u.x = t.id "
	  "order by u.n",
	    "4|4;1|1; SELECT 2" },
	{ "select u.x, t.id from unnest(array[4, 9]) u(x) left join t on t.id = u.x order by 1",
	    "4|4;9|~; SELECT 2" },
	{ "select t.id, x from t, unnest(t.a) x order by 1, 2", "1|10;1|20;4|30;4|~;5|40; SELECT 5" },
	{ "select t.id, u.n, u.x from t left join unnest(a) with ordinality as u(x, n) on true order by 1, 2",
	    "1|1|10;1|2|20;2|~|~;3|~|~;4|1|30;4|2|~;5|1|40; SELECT 7" },
	{ "select t.id, u.x, y from t, unnest(a, b) as u(x, y) order by 1, 2, 3",
	    "1|10|x;1|20|~;2|~|y;2|~|z;4|30|p;4|~|q;4|~|r;5|40|~; SELECT 8" },
	{ "select t.id, x from t left join lateral unnest(a) x on x > 10 order by 1, 2",
	    "1|20;2|~;3|~;4|30;5|40; SELECT 5" },
	{ "select t.id, x, y from t, unnest(a) x, unnest(array[x, x + id]) y where y is not null order by 1, "
	  "2, 3",
	    "1|10|10;1|10|11;1|20|20;1|20|21;4|30|30;4|30|34;5|40|40;5|40|45; SELECT 8" },
	{ "select id, i, a[i] from t, generate_subscripts(a, 1) i order by 1, 2",
	    "1|1|10;1|2|20;4|1|30;4|2|~;5|1|40; SELECT 5" },
	{ "select id, count(x), count(*) from t left join unnest(b) x on true group by id order by id",
	    "1|1|1;2|2|2;3|0|1;4|3|3;5|0|1; SELECT 5" },
	{ "select id, s from t, string_to_table(array_to_string(b, ','), ',') s order by 1, 2",
	    "1|x;2|y;2|z;4|p;4|q;4|r; SELECT 6" },
	{ "select id, m[1] from t, regexp_matches(array_to_string(b, ','), '[q-y]', 'g') m order by 1, 2",
	    "1|x;2|y;4|q;4|r; SELECT 4" },
	{ "select id, (select sum(x + y) from unnest(t.a) x, unnest(array[x, 1]) y) from t order by 1",
	    "1|92;2|~;3|~;4|91;5|121; SELECT 5" },
	{ "select g, cardinality(array_agg(x)) from generate_series(1, 3) g, unnest(array_fill(g, array[g * "
	  "1000])) x group by g order by g",
	    "1|1000;2|2000;3|3000; SELECT 3" },
	{ "select x from unnest(t.a) x, t", "ERROR 42P01: missing FROM-clause entry for table \"t\"" },
	{ "insert into t (id, b) select unnest(array[7,8]), array['new']", "INSERT 0 2" },
	{ "select id, b from t where id > 5 order by id", "7|{new};8|{new}; SELECT 2" },
	{ "insert into t (id, a) select * from unnest(array[11, 12], array[1, 2]) as v(i, x) where false",
	    "ERROR 42804: column \"a\" is of type integer[] but expression is of type integer" },
	{ "with r as (select unnest(array[3,1,2]) as v) select v from r order by v", "1;2;3; SELECT 3" },
	{ "select unnest(array[1,2]) union select unnest(array[2,3]::bigint[]) order by 1",
	    "1;2;3; SELECT 3" },
	{ "select generate_subscripts(array[5,6,7], 1), generate_subscripts(array['a'], 1)",
	    "1|1;2|~;3|~; SELECT 3" },
	{ "select i, (array['x','y'])[i] from generate_subscripts(array['x','y'], 1) i order by i",
	    "1|x;2|y; SELECT 2" },
	{ "select i from generate_subscripts('[4:6]={1,2,3}'::int[], 1, true) i", "6;5;4; SELECT 3" },
	{ "select * from string_to_table('a,b,,c', ',') x", "a;b;;c; SELECT 4" },
	{ "select string_to_table('a1b', null), string_to_table('x y', ' ', 'y')", "a|x;1|~;b|~; SELECT 3" },
	{ "select cardinality(array(select unnest(array_fill(1, array[5000])))), count(*) from "
	  "unnest(array_fill('y'::text, array[3000])) x",
	    "5000|3000; SELECT 1" },
	{ "select g, unnest(array_fill(g, array[700])) from generate_series(1, 3) g order by 1 limit 1 "
	  "offset 2099",
	    "3|3; SELECT 1" },
	{ "select unnest(1)", "ERROR 42883: function unnest(integer) does not exist" },
	{ "select unnest(array[1], array[2])",
	    "ERROR 42883: function unnest(integer[], integer[]) does not exist" },
	{ "select unnest('{1}')", "ERROR 42725: function unnest(unknown) is not unique" },
	{ "select unnest()", "ERROR 42883: function unnest() does not exist" },
	{ "select 1 where unnest(array[true])",
	    "ERROR 0A000: set-returning functions are not allowed in WHERE" },
	{ "select sum(unnest(array[1]))",
	    "ERROR 0A000: aggregate function calls cannot contain set-returning function calls" },
	{ "select unnest(array[1]) over ()",
	    "ERROR 42809: OVER specified, but unnest is not a window function nor an aggregate function" },
	{ "select id from t group by id having unnest(array[true])",
	    "ERROR 0A000: set-returning functions are not allowed in HAVING" },
	{ "select case when true then unnest(array[1]) end",
	    "ERROR 0A000: set-returning functions are not allowed in CASE" },
	{ "select coalesce(unnest(array[1]), 2)",
	    "ERROR 0A000: set-returning functions are not allowed in COALESCE" },
	{ "update t set id = unnest(array[1])",
	    "ERROR 0A000: set-returning functions are not allowed in UPDATE" },
	{ "select distinct on (x) x, y from (select unnest(array[1,1,2]) x, unnest(array[5,4,3]) y) s order "
	  "by x, y",
	    "1|4;2|3; SELECT 2" },
	{ "prepare un as select unnest($1::int[]) order by 1 desc", "PREPARE" },
	{ "execute un ('{1,3,2}')", "3;2;1; SELECT 3" },
	{ "execute un (null)", "SELECT 0" },
	{ "prepare un2 as select * from unnest($1::int[], $2::text[]) as t(a, b) order by a", "PREPARE" },
	{ "execute un2 ('{2,1}', '{x,y}')", "1|y;2|x; SELECT 2" },
};

static const struct golden patterns[] = {
	{ "select regexp_split_to_array('a, b,c', ',\\s*'), regexp_split_to_array('abc', ''), "
	  "regexp_split_to_array('', 'x'), regexp_split_to_array('xaxbx', 'x'), "
	  "regexp_split_to_array('aXbxc', 'x', 'i'), regexp_split_to_array('the quick', '\\s+'), "
	  "regexp_split_to_array(null, 'x')",
	    "{a,b,c}|{a,b,c}|{\"\"}|{\"\",a,b,\"\"}|{a,b,c}|{the,quick}|~; SELECT 1" },
	{ "select regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('foobar', 'b.r'), "
	  "regexp_match('foo', 'x'), regexp_match('foo', '(x)?o'), regexp_match('FOO', 'o', 'i'), "
	  "regexp_match(null, 'x'), (regexp_match('a1', '\\d'))[1]",
	    "{bar,beque}|{bar}|~|{NULL}|{O}|~|1; SELECT 1" },
	{ "select regexp_match('abc', 'b', 'g')",
	    "ERROR 22023: regexp_match() does not support the \"global\" option" },
	{ "select regexp_matches('foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g')",
	    "{bar,beque};{bazil,barf}; SELECT 2" },
	{ "select regexp_matches('foobarbequebaz', '(bar)(beque)')", "{bar,beque}; SELECT 1" },
	{ "select regexp_matches('foo', 'x')", "SELECT 0" },
	{ "select m[1] from regexp_matches('a1b22', '\\d+', 'g') m", "1;22; SELECT 2" },
	{ "select x from regexp_split_to_table('one two  three', '\\s+') x", "one;two;three; SELECT 3" },
	{ "select regexp_split_to_table('a-b', '-') as y, regexp_matches('xyz', '[xz]', 'g') as z",
	    "a|{x};b|{z}; SELECT 2" },
	{ "select regexp_split_to_array('äöü', 'ö'), regexp_split_to_array('a  b', ' '), "
	  "regexp_split_to_array('aab', 'a*'), regexp_split_to_array('baac', 'a*')",
	    "{ä,ü}|{a,\"\",b}|{\"\",b}|{b,c}; SELECT 1" },
	{ "select regexp_split_to_array(s, p) from (values ('a,b', ','), ('a;b', ';'), (null, ',')) v(s, p)",
	    "{a,b};{a,b};~; SELECT 3" },
	{ "select regexp_split_to_array('a', '(')",
	    "ERROR 2201B: invalid regular expression: parentheses () not balanced" },
	{ "select regexp_split_to_array('a', 'a', 'g')",
	    "ERROR 22023: regexp_split_to_array() does not support the \"global\" option" },
	{ "prepare rx as select regexp_split_to_array($1, $2), regexp_match($1, $2)", "PREPARE" },
	{ "execute rx ('1-2', '-')", "{1,2}|{-}; SELECT 1" },
};

/* What PostgreSQL has and we have not. */
static const struct golden refused[] = {
	{ "select array[array[1]]", "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select array[array[1]]::int[]",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select '{{1}}'::int[]", "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select '[1:1][1:1]={{1}}'::int[]",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select null::int[][]", "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "create table t (a int[][])",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select (array[1])[1][1]",
	    "ERROR 0A000: subscripts of more than one dimension are not supported yet" },
	{ "select array_agg(array[1])",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select array(select array[1])",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select array_fill(1, array[2, 2])",
	    "ERROR 0A000: arrays of more than one dimension are not supported yet" },
	{ "select array[1] = any (array[1])", "ERROR 42883: operator does not exist: integer[] = integer" },
	{ "create table t (a interval[] primary key)",
	    "ERROR 0A000: arrays of intervals in a primary key are not supported yet" },
	{ "create table t (a json[] primary key)",
	    "ERROR 42704: data type json[] has no default operator class for access method \"btree\"" },
	{ "select '[99999999999:2]={1}'::int[]", "ERROR 22003: array bound is out of integer range" },
	{ "select 1 order by unnest(array[1])", "1; SELECT 1" },
	{ "select x + unnest(array[1]) from (values (1)) v(x)", "2; SELECT 1" },
	{ "select unnest(array[1]) + unnest(array[1])", "2; SELECT 1" },
	{ "select unnest(array[1]) + 1 for update",
	    "ERROR 0A000: FOR UPDATE is not allowed with set-returning functions in the target list" },
	{ "select unnest(array[unnest(array[1])])",
	    "ERROR 0A000: set-returning functions are not allowed in the select list" },
	{ "select regexp_match('abcdefghijk', '(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)')",
	    "ERROR 0A000: more than 9 groups of a match are not supported yet" },
	{ "select (array[1]).x", "ERROR 0A000: fields of values are not supported yet" },
};

/* By keys, and by scans where that cannot be. */
static void
lookups(void **state)
{
	(void)state;
	static const char *const keyed[] = { "select v from t where id = any ('{1,2}')",
		"select v from t where id = any ('{1,2}'::bigint[]) and v > 'a'",
		"select v from t where id = any (array(select 1))", "delete from t where id = any ('{1}')",
		"update t set v = 'x' where id = any ('{1}')",
		"select d from c where a = 1 and b = any ('{x}')",
		"select d from c where a = any ('{1,2}') and b = 'x'" };
	static const char *const scanned[] = { "select v from t where id <> all ('{1,2}')",
		"select v from t where id < any ('{1,2}')",
		"select v from t where id = any ('{1.5}'::numeric[])",
		"select v from t where v = any ('{a}')", "select d from c where b = any ('{x}')",
		"select v from t where not id = any ('{1}')", "select v from t where id = any (array[id, 2])",
		"select d from c where a = any ('{1,2}') and b = any ('{x}')" };
	struct embedded e;
	struct test_client t;
	char text[200];
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	ask(&t, "create table t (id int primary key, v text)");
	ask(&t, "create table c (a int, b text, d int, primary key (a, b))");
	for (unsigned k = 0; k < sizeof keyed / sizeof *keyed; k++) {
		snprintf(text, sizeof text, "explain %s", keyed[k]);
		const char *a = ask(&t, text);
		if (strstr(a, "Key Lookup on ") == NULL || strstr(a, "Seq Scan") != NULL)
			fail_msg("%s: %s", keyed[k], a);
	}
	for (unsigned k = 0; k < sizeof scanned / sizeof *scanned; k++) {
		snprintf(text, sizeof text, "explain %s", scanned[k]);
		const char *a = ask(&t, text);
		if (strstr(a, "Key Lookup on ") != NULL || strstr(a, "Seq Scan") == NULL)
			fail_msg("%s: %s", scanned[k], a);
	}
	test_client_close(&t);
	embedded_close(&e);
}

static void
test_literals(void **state)
{
	(void)state;
	golden_all(literals);
}

static void
test_subscripts(void **state)
{
	(void)state;
	golden_all(subscripts);
}

static void
test_operators(void **state)
{
	(void)state;
	golden_all(operators);
}

static void
test_anyall(void **state)
{
	(void)state;
	golden_all(anyall);
}

static void
test_functions(void **state)
{
	(void)state;
	golden_all(functions);
}

static void
test_columns(void **state)
{
	(void)state;
	golden_all(columns);
}

static void
test_prepared(void **state)
{
	(void)state;
	golden_all(prepared);
}

static void
test_aggregates(void **state)
{
	(void)state;
	golden_all(aggregates);
}

static void
test_subqueries(void **state)
{
	(void)state;
	golden_all(subqueries);
}

static void
test_by_key(void **state)
{
	(void)state;
	golden_all(by_key);
}

static void
test_unnest(void **state)
{
	(void)state;
	golden_all(unnest);
}

static void
test_patterns(void **state)
{
	(void)state;
	golden_all(patterns);
}

static void
test_refused(void **state)
{
	(void)state;
	golden_all(refused);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_subscripts),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_anyall),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_prepared),
		cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_subqueries),
		cmocka_unit_test(test_by_key),
		cmocka_unit_test(test_unnest),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(lookups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
