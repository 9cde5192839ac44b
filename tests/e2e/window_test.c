/* window_test.c -- window functions, end to end. The answers are PostgreSQL 15's. */
#include "golden.h"

static const struct golden all[] = {
	{ "create table w(id int primary key, g text, v int, f float8, n numeric)", "CREATE TABLE" },
	{ "insert into w values "
	  "(1,'a',10,1.5,1.10),(2,'a',20,null,2.2),(3,'b',20,2.5,null),(4,'b',null,3.5,4),(5,'a',10,0.5,5.55)"
	  ",(6,null,7,1,1)",
	    "INSERT 0 6" },
	{ "select id, row_number() over (order by v, id), rank() over (order by v), dense_rank() over (order "
	  "by v), percent_rank() over (order by v), cume_dist() over (order by v) from w order by id",
	    "1|2|2|2|0.2|0.5;2|4|4|3|0.6|0.8333333333333334;3|5|4|3|0.6|0.8333333333333334;4|6|6|4|1|1;5|3|2|"
	    "2|0.2|0.5;6|1|1|1|0|0.16666666666666666; SELECT 6" },
	{ "select id, rank() over (partition by g order by v desc), sum(v) over (partition by g) , sum(v) "
	  "over (partition by g order by id), count(*) over () from w order by id",
	    "1|2|40|10|6;2|1|40|30|6;3|2|20|20|6;4|1|20|20|6;5|2|40|40|6;6|1|7|7|6; SELECT 6" },
	{ "select id, ntile(3) over (order by id), ntile(4) over (order by id), ntile(10) over (order by id "
	  "desc) from w order by id",
	    "1|1|1|6;2|1|1|5;3|2|2|4;4|2|2|3;5|3|3|2;6|3|4|1; SELECT 6" },
	{ "select id, lag(v) over (order by id), lead(v) over (order by id), lag(v,2) over (order by id), "
	  "lead(v,-1,99) over (order by id), lag(v,1,-1) over (partition by g order by id), lag(g,0) over "
	  "(order by id), lag(v,null) over (order by id) from w order by id",
	    "1|~|20|~|99|-1|a|~;2|10|20|~|10|10|a|~;3|20|~|10|20|-1|b|~;4|20|10|20|20|20|b|~;5|~|7|20|~|20|a|"
	    "~;6|10|~|~|10|-1|~|~; SELECT 6" },
	{ "select id, first_value(g) over w1, last_value(v) over w1, nth_value(v,2) over w1, nth_value(v,id) "
	  "over w1, nth_value(v,null) over w1 from w window w1 as (order by id) order by id",
	    "1|a|10|~|10|~;2|a|20|20|20|~;3|a|20|20|20|~;4|a|~|20|~|~;5|a|10|20|10|~;6|a|7|20|7|~; SELECT "
	    "6" },
	{ "select id, sum(v) over (order by id rows 1 preceding), avg(v) over (order by id rows between 1 "
	  "preceding and 1 following), min(v) over (order by id rows between 1 following and 2 following), "
	  "max(n) over (order by id rows between 2 preceding and 1 preceding), sum(f) over (order by id rows "
	  "between current row and unbounded following) from w order by id",
	    "1|10|15.0000000000000000|20|~|9;2|30|16.6666666666666667|20|1.10|7.5;3|40|20.0000000000000000|"
	    "10|2.2|7.5;4|20|15.0000000000000000|7|2.2|5;5|10|8.5000000000000000|7|4|1.5;6|17|8."
	    "5000000000000000|~|5.55|1; SELECT 6" },
	{ "select id, sum(n) over (order by id rows 1 preceding), avg(n) over (order by id rows between 1 "
	  "preceding and 1 following), avg(f) over (order by id rows 2 preceding), count(f) over (order by "
	  "id rows 2 preceding) from w order by id",
	    "1|1.10|1.6500000000000000|1.5|1;2|3.30|1.6500000000000000|1.5|1;3|2.2|3.1000000000000000|2|2;4|"
	    "4|4.7750000000000000|3|2;5|9.55|3.5166666666666667|2.1666666666666665|3;6|6.55|3."
	    "2750000000000000|1.6666666666666667|3; SELECT 6" },
	{ "select id, sum(v) over (order by v groups 1 preceding), sum(v) over (order by v groups between 1 "
	  "following and 2 following), count(*) over (order by v groups between current row and current row) "
	  "from w order by id",
	    "1|27|40|2;2|60|~|2;3|60|~|2;4|40|~|1;5|27|40|2;6|7|60|1; SELECT 6" },
	{ "select id, v, sum(v) over (order by v range 10 preceding), sum(v) over (order by v range between "
	  "3 following and 10 following), count(*) over (order by v desc range between 5 preceding and 10 "
	  "following), count(*) over (order by v nulls first range between 5 preceding and 10 "
	  "following),count(*) over (order by v desc nulls last range between unbounded preceding and 10 "
	  "preceding) from w order by id",
	    "1|10|27|40|3|5|2;2|20|60|~|4|2|0;3|20|60|~|4|2|0;4|~|~|~|1|1|6;5|10|27|40|3|5|2;6|7|7|20|3|3|2; "
	    "SELECT 6" },
	{ "select id, f, sum(f) over (order by f range between 1 preceding and 0.5 following), sum(n) over "
	  "(order by n range between 1.1 preceding and 1 following) from w order by id",
	    "1|1.5|3|2.10;2|~|~|3.30;3|2.5|4|~;4|3.5|6|4;5|0.5|1.5|5.55;6|1|3|2.10; SELECT 6" },
	{ "select g, sum(sum(v)) over (order by g), rank() over (order by count(*)), count(*) from w group "
	  "by g order by g",
	    "a|40|3|3;b|60|2|2;~|67|1|1; SELECT 3" },
	{ "select g, count(*) c, row_number() over (order by count(*) desc, g) + 1 as rn from w group by g "
	  "having count(*) > 1 order by rn",
	    "a|3|2;b|2|3; SELECT 2" },
	{ "select distinct count(*) over (partition by g) from w order by 1", "1;2;3; SELECT 3" },
	{ "select id, rank() over (order by v) r from w order by r desc, id limit 2 offset 1",
	    "2|4;3|4; SELECT 2" },
	{ "select id from w order by row_number() over (order by v desc nulls last, id)",
	    "2;3;1;5;6;4; SELECT 6" },
	{ "select sum(v) over (w1 rows 1 preceding), sum(v) over (w2 order by id desc) from w window w1 as "
	  "(order by id), w2 as (partition by g) order by w.id",
	    "10|40;30|30;40|20;20|~;10|10;17|7; SELECT 6" },
	{ "select row_number() over () from w where id > 100", "SELECT 0" },
	{ "select id, case when row_number() over (order by id) % 2 = 0 then 'even' else 'odd' end p, "
	  "(lag(v) over (order by id)) is null from w order by id",
	    "1|odd|t;2|even|f;3|odd|f;4|even|f;5|odd|t;6|even|f; SELECT 6" },
	{ "select a.id, b.id, row_number() over (partition by a.id order by b.id desc) from w a join w b on "
	  "a.v = b.v order by 1,2",
	    "1|1|2;1|5|1;2|2|2;2|3|1;3|2|2;3|3|1;5|1|2;5|5|1;6|6|1; SELECT 9" },
	{ "select max(g) over (order by id rows between 1 preceding and current row), min(g) over (partition "
	  "by v order by id) from w order by id",
	    "a|a;a|a;b|a;b|b;b|a;a|~; SELECT 6" },
	{ "select sum(v) over (order by id rows between 3 following and 1 following), count(*) over (order "
	  "by id rows between 3 following and 1 following) from w order by id",
	    "~|0;~|0;~|0;~|0;~|0;~|0; SELECT 6" },
	{ "select count(*), sum(count(*)) over () from w", "6|6; SELECT 1" },
	{ "select g, v, count(*), sum(count(*)) over (partition by g order by v) from w group by g, v order "
	  "by 1,2",
	    "a|10|2|2;a|20|1|3;b|20|1|1;b|~|1|2;~|7|1|1; SELECT 5" },
	{ "select row_number() over w from w window w as (partition by g order by v desc, id) order by id",
	    "2;1;2;1;3;1; SELECT 6" },
	{ "select id, g, v, row_number() over (partition by g order by id) from w",
	    "1|a|10|1;2|a|20|2;5|a|10|3;3|b|20|1;4|b|~|2;6|~|7|1; SELECT 6" },
	{ "select * , row_number() over (order by id desc) rn from w order by rn",
	    "6|~|7|1|1|1;5|a|10|0.5|5.55|2;4|b|~|3.5|4|3;3|b|20|2.5|~|4;2|a|20|~|2.2|5;1|a|10|1.5|1.10|6; "
	    "SELECT 6" },
	{ "select avg(v) over (order by id), min(f) over (order by id), max(f) over (order by f desc) from w "
	  "order by id",
	    "10.0000000000000000|1.5|3.5;15.0000000000000000|1.5|~;16.6666666666666667|1.5|3.5;16."
	    "6666666666666667|1.5|3.5;15.0000000000000000|0.5|3.5;13.4000000000000000|0.5|3.5; SELECT 6" },
	{ "select lag(id) over (order by id) + lead(id) over (order by id) from w order by id",
	    "~;4;6;8;10;~; SELECT 6" },
	{ "select sum(9223372036854775807) over (order by id), sum(2147483647) over (order by id) from w "
	  "order by id",
	    "9223372036854775807|2147483647;18446744073709551614|4294967294;27670116110564327421|6442450941;"
	    "36893488147419103228|8589934588;46116860184273879035|10737418235;55340232221128654842|"
	    "12884901882; SELECT 6" },
	{ "select w1.id, row_number() over (order by w1.g || 'x' nulls first, w1.id) from w w1 order by 1",
	    "1|2;2|3;3|5;4|6;5|4;6|1; SELECT 6" },
	{ "select id, count(*) over (order by id rows between 9223372036854775807 preceding and "
	  "9223372036854775807 following) from w order by 1",
	    "1|6;2|6;3|6;4|6;5|6;6|6; SELECT 6" },
	{ "select row_number(1) over () from w", "ERROR 42883: function row_number(integer) does not exist" },
	{ "select row_number() from w", "ERROR 42809: window function row_number requires an OVER clause" },
	{ "select lower('x') over () from w",
	    "ERROR 42809: OVER specified, but lower is not a window function nor an aggregate function" },
	{ "select nosuch(1) over () from w", "ERROR 42883: function nosuch(integer) does not exist" },
	{ "select id from w where row_number() over () = 1",
	    "ERROR 42P20: window functions are not allowed in WHERE" },
	{ "select id from w where count(*) over () = 1",
	    "ERROR 42P20: window functions are not allowed in WHERE" },
	{ "select count(*) from w group by row_number() over ()",
	    "ERROR 42P20: window functions are not allowed in GROUP BY" },
	{ "select count(*) from w having row_number() over () = 1",
	    "ERROR 42P20: window functions are not allowed in HAVING" },
	{ "select sum(row_number() over ()) from w",
	    "ERROR 42803: aggregate function calls cannot contain window function calls" },
	{ "select sum(sum(v) over ()) over () from w",
	    "ERROR 42P20: window function calls cannot be nested" },
	{ "select sum(v) over (order by row_number() over ()) from w",
	    "ERROR 42P20: window functions are not allowed in window definitions" },
	{ "select sum(v) over w2 from w", "ERROR 42704: window \"w2\" does not exist" },
	{ "select sum(v) over (w2 partition by id) from w window w2 as (order by id)",
	    "ERROR 42P20: cannot override PARTITION BY clause of window \"w2\"" },
	{ "select sum(v) over (w2 order by id) from w window w2 as (order by id)",
	    "ERROR 42P20: cannot override ORDER BY clause of window \"w2\"" },
	{ "select sum(v) over (w2) from w window w2 as (order by id rows 1 preceding)",
	    "ERROR 42P20: cannot copy window \"w2\" because it has a frame clause" },
	{ "select sum(v) over w2 from w window w2 as (order by id), w2 as (order by v)",
	    "ERROR 42P20: window \"w2\" is already defined" },
	{ "select sum(v) over (order by id groups between -1 preceding and current row) from w",
	    "ERROR 22013: frame starting offset must not be negative" },
	{ "select sum(v) over (order by id rows between null preceding and current row) from w",
	    "ERROR 22004: frame starting offset must not be null" },
	{ "select sum(v) over (order by id rows between v preceding and current row) from w",
	    "ERROR 42P10: argument of ROWS must not contain variables" },
	{ "select sum(v) over (order by id rows between 'x' preceding and current row) from w",
	    "ERROR 22P02: invalid input syntax for type bigint: \"x\"" },
	{ "select sum(v) over (order by id rows between 1.5 preceding and current row) from w",
	    "10;30;50;40;30;17; SELECT 6" },
	{ "select sum(v) over (groups 1 preceding) from w",
	    "ERROR 42P20: GROUPS mode requires an ORDER BY clause" },
	{ "select sum(v) over (range 1 preceding) from w",
	    "ERROR 42P20: RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column" },
	{ "select sum(v) over (order by g range 1 preceding) from w",
	    "ERROR 0A000: RANGE with offset PRECEDING/FOLLOWING is not supported for column type text" },
	{ "select sum(v) over (order by id rows between current row and 1 preceding) from w",
	    "ERROR 42P20: frame starting from current row cannot have preceding rows" },
	{ "select sum(v) over (order by id rows between unbounded following and 1 preceding) from w",
	    "ERROR 42P20: frame start cannot be UNBOUNDED FOLLOWING" },
	{ "select ntile(0) over () from w", "ERROR 22014: argument of ntile must be greater than zero" },
	{ "select ntile(null) over () is null from w", "t;t;t;t;t;t; SELECT 6" },
	{ "select nth_value(v,0) over () from w",
	    "ERROR 22016: argument of nth_value must be greater than zero" },
	{ "select lag(v,'x') over () from w", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select lag(v,1,'x') over () from w", "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "select lag(v,1,1.5) over (order by id) from w", "1.5;10;20;20;~;10; SELECT 6" },
	{ "select lag() over () from w", "ERROR 42883: function lag() does not exist" },
	{ "select count(distinct v) over () from w",
	    "ERROR 0A000: DISTINCT is not implemented for window functions" },
	{ "select sum(distinct v) over () from w",
	    "ERROR 0A000: DISTINCT is not implemented for window functions" },
	{ "select v from w limit row_number() over ()",
	    "ERROR 42P20: window functions are not allowed in LIMIT" },
	{ "select sum(v) over (partition by nope) from w", "ERROR 42703: column \"nope\" does not exist" },
	{ "select id from w window q as (partition by nope)", "ERROR 42703: column \"nope\" does not exist" },
	{ "select distinct id from w order by row_number() over ()",
	    "ERROR 42P10: for SELECT DISTINCT, ORDER BY expressions must appear in select list" },
	{ "select sum(v) over (order by id), count(*) from w",
	    "ERROR 42803: column \"w.v\" must appear in the GROUP BY clause or be used in an aggregate "
	    "function" },
	{ "select g, sum(v) over () from w group by g",
	    "ERROR 42803: column \"w.v\" must appear in the GROUP BY clause or be used in an aggregate "
	    "function" },
	{ "select g, sum(sum(v)) over (order by g), rank() over (order by count(*)) from w group by g order "
	  "by g",
	    "a|40|3;b|60|2;~|67|1; SELECT 3" },
	{ "update w set v = row_number() over ()",
	    "ERROR 42P20: window functions are not allowed in UPDATE" },
	{ "delete from w returning row_number() over ()",
	    "ERROR 42P20: window functions are not allowed in RETURNING" },
	{ "select * from w a join w b on row_number() over () = 1",
	    "ERROR 42P20: window functions are not allowed in JOIN conditions" },
	{ "select sum(v) over (order by id rows between row_number() over () preceding and current row) from "
	  "w",
	    "ERROR 42P20: window functions are not allowed in window definitions" },
	{ "select sum(max(v)) over (order by id) from w",
	    "ERROR 42803: column \"w.id\" must appear in the GROUP BY clause or be used in an aggregate "
	    "function" },
	{ "select percent_rank() over (order by v), cume_dist() over (order by v), ntile(4) over (order by "
	  "v,id) from w",
	    "0|0.16666666666666666|1;0.2|0.5|1;0.2|0.5|2;0.6|0.8333333333333334|2;0.6|0.8333333333333334|3;1|"
	    "1|4; SELECT 6" },
	{ "select sum(v) over (order by id range between 1 preceding and 1 preceding) from w order by id",
	    "~;10;20;20;~;10; SELECT 6" },
	{ "select count(*) over (order by f range between 'NaN' preceding and current row) from w",
	    "ERROR 22013: invalid preceding or following size in window function" },
	{ "select count(*) over (order by id range -1 preceding) from w",
	    "ERROR 22013: invalid preceding or following size in window function" },
	{ "select count(*) over (order by id range between current row and null following) from w",
	    "ERROR 22004: frame ending offset must not be null" },
	{ "select count(*) over (order by f range between 'Infinity' preceding and current row) from w order "
	  "by id",
	    "3;1;4;5;1;2; SELECT 6" },
	{ "select count(*) over (order by id rows between true preceding and current row) from w",
	    "ERROR 42804: argument of ROWS must be type bigint, not type boolean" },
	{ "select lag(v, 1, 'x'::text) over () from w",
	    "ERROR 42883: function lag(integer, integer, text) does not exist" },
	{ "select ntile(2.5) over () from w", "ERROR 42883: function ntile(numeric) does not exist" },
	{ "select nth_value(v) over () from w", "ERROR 42883: function nth_value(integer) does not exist" },
	{ "select sum(g) over () from w", "ERROR 42883: function sum(text) does not exist" },
	{ "select nth_value(v, 0) over () from w where id > 100", "SELECT 0" },
	{ "select row_number() over w1, * from w window w1 as (order by nope)",
	    "ERROR 42703: column \"nope\" does not exist" },
	{ "select count(*) over (order by id rows 1 following) from w",
	    "ERROR 42P20: frame starting from following row cannot end with current row" },
	{ "select id, row_number() over (order by id desc), (select count(*) from w b where b.id <= a.id) "
	  "from w a order by id",
	    "1|6|1;2|5|2;3|4|3;4|3|4;5|2|5;6|1|6; SELECT 6" },
	{ "select id, sum((select max(v) from w b where b.id = a.id)) over (order by id) from w a order by "
	  "id",
	    "1|10;2|30;3|50;4|50;5|60;6|67; SELECT 6" },
	{ "select id, (select x from (select row_number() over (order by id desc) x, id from w) q where q.id "
	  "= a.id) from w a order by id",
	    "1|6;2|5;3|4;4|3;5|2;6|1; SELECT 6" },
	{ "select id, rank() over (partition by (select g from w b where b.id = a.id) order by id) from w a "
	  "order by id",
	    "1|1;2|2;3|1;4|2;5|3;6|1; SELECT 6" },
	{ "select * from (select id, row_number() over (partition by g order by id) rn from w) x where rn = "
	  "1 order by id",
	    "1|1;3|1;6|1; SELECT 3" },
	{ "with x as (select id, sum(v) over (order by id) s from w) select a.id, a.s, b.s from x a left "
	  "join x b on a.id = b.id + 1 order by 1",
	    "1|10|~;2|30|10;3|50|30;4|50|50;5|60|50;6|67|60; SELECT 6" },
	{ "select a.id, b.id, count(b.id) over (partition by a.g order by a.id) from w a left join w b on "
	  "a.id = b.v order by 1",
	    "1|~|0;2|~|0;3|~|0;4|~|0;5|~|0;6|~|0; SELECT 6" },
	{ "select id from w a where exists (select row_number() over () from w b where b.id = a.id + 1) "
	  "order by 1",
	    "1;2;3;4;5; SELECT 5" },
	{ "select id from w where id in (select rank() over (order by id) from w b where b.id < 3) order by "
	  "1",
	    "1;2; SELECT 2" },
	{ "select id, (select row_number() over (order by a.id)) from w a order by id",
	    "1|1;2|1;3|1;4|1;5|1;6|1; SELECT 6" },
	{ "select (select sum(a.v) over ()) from w a order by a.id", "10;20;20;~;10;7; SELECT 6" },
	{ "select id, lag(id) over (order by id) = (select max(id) from w) from w order by id",
	    "1|~;2|f;3|f;4|f;5|f;6|f; SELECT 6" },
	{ "select g, sum(count(*)) over (order by g), (select max(id) from w b where b.g = a.g) from w a "
	  "group by g order by g",
	    "a|3|5;b|5|4;~|6|~; SELECT 3" },
	{ "select id, count(*) over (order by id rows (select 1) preceding) from w order by id",
	    "1|1;2|2;3|2;4|2;5|2;6|2; SELECT 6" },
	{ "select id, v::smallint as s2, sum(v::smallint) over (order by id rows 1 preceding), "
	  "avg(v::smallint) over (order by id rows 1 preceding), sum(f::real) over (order by id rows 2 "
	  "preceding), min(v::smallint) over (order by id rows 2 preceding) from w order by id",
	    "1|10|10|10.0000000000000000|1.5|10;2|20|30|15.0000000000000000|1.5|10;3|20|40|20."
	    "0000000000000000|4|10;4|~|20|20.0000000000000000|6|20;5|10|10|10.0000000000000000|6.5|10;6|7|17|"
	    "8.5000000000000000|5|7; SELECT 6" },
	{ "select id, sum(v) over (order by v::smallint range 1 preceding), count(*) over (order by f::real "
	  "range 1 preceding) from w order by id",
	    "1|20|3;2|40|1;3|40|2;4|~|2;5|20|1;6|7|2; SELECT 6" },
	{ "select id, ntile(2::smallint) over (order by id), lag(v, 1::smallint) over (order by id), "
	  "nth_value(v, 2::smallint) over (order by id) from w order by id",
	    "1|1|~|~;2|1|10|20;3|1|20|20;4|2|20|20;5|2|~|20;6|2|10|20; SELECT 6" },
	{ "select id, ntile(2::bigint) over (order by id) from w",
	    "ERROR 42883: function ntile(bigint) does not exist" },
	{ "select id, lag(g::char(3), 1, 'zz') over (order by id), min(g::char(3)) over (order by id) from w "
	  "order by id",
	    "1|zz|a  ;2|a  |a  ;3|a  |a  ;4|b  |a  ;5|b  |a  ;6|a  |a  ; SELECT 6" },
	{ "select row_number() over (order by id) from w full join (values (1),(99)) x(y) on y = id order by "
	  "1",
	    "1;2;3;4;5;6;7; SELECT 7" },
	{ "select string_agg(g, ',') over (order by id) from w order by id",
	    "a;a,a;a,a,b;a,a,b,b;a,a,b,b,a;a,a,b,b,a; SELECT 6" },
	{ "select bool_and(v > 5) over (order by id rows 1 preceding) from w order by id",
	    "t;t;t;t;t;t; SELECT 6" },
	{ "select id, sum(v) filter (where g = 'a') over (order by id), count(*) filter (where v > 10) over "
	  "(order by id rows 1 preceding), min(f) filter (where false) over () from w order by id",
	    "1|10|0|~;2|30|1|~;3|30|2|~;4|30|1|~;5|40|0|~;6|40|0|~; SELECT 6" },
	{ "select row_number() filter (where true) over () from w",
	    "ERROR 0A000: FILTER is not implemented for non-aggregate window functions" },
	{ "select string_agg(g, '-') filter (where v = 20) over (order by id rows 2 preceding), "
	  "string_agg(g, g) over (partition by v order by id) from w order by id",
	    "~|a;a|a;a-b|abb;a-b|b;b|aaa;~|~; SELECT 6" },
	{ "select sum(v order by id) over () from w",
	    "ERROR 0A000: aggregate ORDER BY is not implemented for window functions" },
	{ "select string_agg(v, ',') over () from w",
	    "ERROR 42883: function string_agg(integer, unknown) does not exist" },
	{ "select stddev_pop(v) over (order by id rows 1 preceding), bit_or(v) over (order by id) from w "
	  "order by id",
	    "0|10;5.0000000000000000|30;0|30;0|30;0|30;1.5000000000000000|31; SELECT 6" },
	{ "select string_agg('x', ',') over (order by id) from w order by id",
	    "x;x,x;x,x,x;x,x,x,x;x,x,x,x,x;x,x,x,x,x,x; SELECT 6" },
	{ "select id, v, sum(v) over (order by v, id rows between 1 preceding and 1 following exclude "
	  "current row), sum(v) over (order by v range between unbounded preceding and current row exclude "
	  "group), sum(v) over (order by v groups between 1 preceding and 1 following exclude ties) from w "
	  "order by id",
	    "1|10|17|7|57;2|20|30|27|40;3|20|20|27|40;4|~|20|67|40;5|10|30|7|57;6|7|10|~|27; SELECT 6" },
	{ "select id, first_value(id) over w1, last_value(id) over w1, nth_value(id, 2) over w1, count(*) "
	  "over w1, min(n) over w1, avg(f) over w1 from w window w1 as (order by v, id rows between "
	  "unbounded preceding and unbounded following exclude current row) order by id",
	    "1|6|4|5|5|1|1.875;2|6|4|1|5|1|1.8;3|6|4|1|5|1|1.625;4|6|3|1|5|1|1.375;5|6|4|1|5|1|2.125;6|1|4|5|"
	    "5|1.10|2; SELECT 6" },
	{ "select id, first_value(v) over w1, last_value(v) over w1, nth_value(v, 3) over w1, count(*) over "
	  "w1, min(id) over w1, max(id) over w1 from w window w1 as (order by v groups between unbounded "
	  "preceding and 1 following exclude ties) order by v, id",
	    "6|7|10|10|3|1|6;1|7|20|20|4|1|6;5|7|20|20|4|2|6;2|7|~|10|5|1|6;3|7|~|10|5|1|6;4|7|~|10|6|1|6; "
	    "SELECT 6" },
	{ "select id, first_value(v) over w1, last_value(v) over w1, nth_value(v, 1) over w1, count(*) over "
	  "w1, max(g) over w1 from w window w1 as (order by v range between unbounded preceding and "
	  "unbounded following exclude group) order by id",
	    "1|7|~|7|4|b;2|7|~|7|4|b;3|7|~|7|4|b;4|7|20|7|5|b;5|7|~|7|4|b;6|10|~|10|5|b; SELECT 6" },
	{ "select id, count(*) over (rows between unbounded preceding and unbounded following exclude no "
	  "others), sum(v) over (order by id rows between 2 preceding and 1 preceding exclude group), sum(v) "
	  "over (order by id rows between 1 following and 2 following exclude ties), count(v) over (order by "
	  "id rows between current row and current row exclude ties) from w order by id",
	    "1|6|~|40|1;2|6|10|20|1;3|6|30|10|1;4|6|40|17|0;5|6|20|7|1;6|6|10|~|1; SELECT 6" },
	{ "select count(*) over (w1) from w window w1 as (order by id rows 1 preceding exclude ties)",
	    "ERROR 42P20: cannot copy window \"w1\" because it has a frame clause" },
	{ "select count(*) over (order by d range 1 preceding) from (select date '2024-01-01' as d) x",
	    "ERROR 0A000: RANGE with offset PRECEDING/FOLLOWING is not supported for column type "
	    "date and offset type integer" },
	{ "insert into w select id + 10, 'z', row_number() over (order by id desc) from w", "INSERT 0 6" },
	{ "select id, v from w where g = 'z' order by id", "11|6;12|5;13|4;14|3;15|2;16|1; SELECT 6" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(all);
}

/* Frames that slide over many rows: every way to keep a running state against adding it all up. */
static void
sliding(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_string_equal(ask(&t, "create table d (i int)"), "CREATE TABLE");
	assert_string_equal(
	    ask(&t, "insert into d values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)"), "INSERT 0 10");
	assert_string_equal(ask(&t, "create table s (id int primary key, p int, v int, n numeric, f float8)"),
	    "CREATE TABLE");
	assert_string_equal(
	    ask(&t, "insert into s select k, k % 3, (k * 7919) % 101, ((k * 31) % 57)::numeric / 8, "
		    "k % 16 from (select a.i * 1000 + b.i * 100 + c.i * 10 + x.i as k from d a, d b, "
		    "d c, d x where a.i < 4) y"),
	    "INSERT 0 4000");
	/* 4000 rows are four batches: sums over 100 rows from running sums are the differences of
	 * those */
	assert_string_equal(
	    ask(&t,
		"select count(*), sum(case when a = b - coalesce(c, 0) then 1 else 0 end) from (select a, b, "
		"lag(b, 100) over (partition by p order by id) as c from (select p, id, sum(v) over "
		"(partition "
		"by p order by id rows 99 preceding) as a, sum(v) over (partition by p order by id) as b "
		"from "
		"s) x) y"),
	    "4000|4000; SELECT 1");
	assert_string_equal(
	    ask(&t,
		"select count(*) from (select sum(n) over w as a, sum(n + 0.00) over w as b, sum(f) over w "
		"as c, "
		"sum(f::int) over w as e, max(v) over w as g, -min(-v) over w as h, avg(v) over w as i, "
		"sum(v) "
		"over w / nullif(count(v) over w, 0)::numeric as j from s window w as (order by v, id rows "
		"between 50 preceding and 20 following)) x where a <> b or c <> e or g <> h or i <> j"),
	    "0; SELECT 1");
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(sliding) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
