-- aggregates whose argument an enclosing FROM has a column for
create table t(a int, b int)
insert into t values (11,22),(12,21),(13,22)
create table p(k int primary key, a int, b int)
insert into p values (1,11,22),(2,12,21),(3,13,22)
select a, (select max(s) from (select sum(b) as s from t) q) from t
select a from t where exists (select 1 from (select sum(b) as s from t) q where q.s = t.a + 53)
select a from t where a+53 in (select s from (select sum(b) as s from t) q)
select a, x.* from t, lateral (select max(s) from (select sum(b) as s from t) q) x
select a, (select max(s) from (select sum(b) as s from t where t.a > 11) q) from t
select a, (select max(s) from (select sum(u.b) as s from t u where u.a = t.a) q) from t
select (select sum(b)) from t
select (select sum(t.b) from t x) from t
select (select sum(b + x.a) from (select 1 as a) x) from t
select a, (select sum(b) from (select 1 as a) x) from t group by a
select (select sum(b) from (select 1 as a) x) from t
select (select sum(q.a) from (select 1 as a) q) from t
select (select max((select min(b) from (select 1 as z) y)) from (select 1 as a) x) from t
select a from t group by a having exists (select 1 from (select 1 as z) y where sum(b) > 21)
select a from t where exists (select 1 from (select 1 as z) y where sum(b) > 21)
select a from t where exists (select 1 from (select 1 as z) y having sum(b) > 21)
select a from t group by a order by (select sum(b) from (select 1 as z) y), a
select (select count(*) from (select sum(b) from t) q) from t
select (select sum(b) from lateral (select t.b) z) from t
select (select sum(b) from lateral (select t.b as c) z) from t
select (select sum(z.b) from lateral (select t.b) z) from t
select (select sum(a) filter (where b > 21) from (select 1 as a) z) from t
select (select sum(distinct a) from (select 1 as c) z) from t
select (select (select sum(a) from (select 1 as c) y) from (select 1 as c) z) from t
select (select (select sum(a) from (select 1 as c) y) from t z limit 1) from t
with w as (select sum(b) as s from t) select a, (select s from w) from t
with w as (select sum(b) as s from t) select a, (select max(s) from w) from t
select a, (with w as (select b from t) select sum(b) from w) from t
select a, (with recursive w(b) as (select 1 union all select b+1 from w where b < 3) select sum(b) from w) from t
select a, (with recursive w as (select 1 as b union all select b+1 from w where b < 3) select sum(b) from w) from t
select a, (select sum(b) from generate_series(1,3) b) from t
select a, (select sum(b) from generate_series(1,3) x(b)) from t
select a, (select sum(b) from generate_series(1,3) x(c)) from t group by a
select a, (select sum(b) from (values (1),(2)) x(b)) from t
select a, (select sum(column1) from (values (1),(2)) x) from t
select a, (select sum(b) from t x join t y using (b)) from t
select a, (select sum(b) from t x natural join t y) from t
select a, (select sum(j.b) from (t x join t y using (b)) as j(b,c,d)) from t
select a, (select sum(x.b) from (t x join t y using (b)) as j(b,c,d)) from t
select a, (select sum(b) from p) from t
select a, (select sum(k) from p) from t
select k, (select sum(k) from t) from p group by k
select (select max(a) over ()) from t
select (select sum(sum(b))) from t
select sum((select sum(b))) from t
select sum((select sum(z.b) from t z)) from t
select (select sum(sum(z.b)) from t z) from t
select (select sum(b) union select sum(a)) from t
select (select sum(b) from (select sum(a) from t union select 2) q(b)) from t
update t set b = (select max(s) from (select sum(b) as s from t) q)
select * from t
update t set b = (select sum(b) from (select 1 as c) z)
delete from t where a = (select max(s) from (select sum(a) - 23 as s from t) q)
select * from t
insert into t select 1, (select max(s) from (select sum(b) as s from p) q)
select * from t
insert into t values (5, 6) returning (select max(s) from (select sum(b) as s from p) q)
insert into t values (5, 6) returning (select sum(b) from p)
insert into t values (5, 6) returning (select sum(b) from (select 1) x)
insert into t values (5, (select sum(b) from p))
select * from t
-- aggregates of outer queries by ORDER BY, FILTER, subqueries in arguments
drop table t
create table t(a int, b int)
insert into t values (11,22),(12,21),(13,22)
select (select sum(t.a) filter (where z.q > 0) from (select 1 as q) z) from t
select (select sum(t.a order by z.q) from (select 1 as q) z) from t
select (select sum((select t.b)) from (select 1 as c) z) from t
select (select sum((select z.c)) from (select 1 as c) z) from t
select (select sum((select z.c + t.b)) from (select 1 as c) z) from t
select (select sum((select max(z.b) from t z where z.a = t.a)) from (select 1 as c) y) from t
select (select sum(z.c + sum(t.b)) from (select 1 as c) z group by z.c) from t
select (select sum(z.c + (select sum(t.b))) from (select 1 as c) z) from t
select (select sum(sum(t.b)) from (select 1 as c) z) from t
select (select count(*) filter (where t.b > 21) from (select 1 as c) z) from t
select (select sum(b) from (select * from p) z) from t
select (select sum(b) from (select z.* from (select 1 as c) z) y) from t
select (select sum(b) from (select t.* from (select 1 as c) z) y) from t
select (select sum(b) from (select p.* from p limit 1) y(c)) from t
select distinct on (sum(b)) 7 from t
select distinct on ((select sum(t.b) from (select 1) z)) 7 from t
select distinct on ((select sum(t.b) from (select 1) z)) a from t
-- GROUPING of an outer query
select grouping(a), (select grouping(a) from (select 1 as c) z) from t group by a
select a, (select grouping(a)) from t group by rollup(a)
select a, (select grouping(t.a) from t z limit 1) from t group by rollup(a)
select a, (select grouping(z.a) from t z group by z.a limit 1) from t group by rollup(a)
-- names in WITH, RECURSIVE and set operations
select a, (with c as (select sum(b) from t x where t.a = x.a) select * from c) from t
select a, (with w(q) as (select b from t) select sum(b) from w) from t
select a, (with recursive w(q) as (select 1 as b union all select q+1 from w where q < 3) select sum(b) from w) from t
select a, (select sum(a) from (t x join t y using (b)) as j) from t
select (select sum(b) from (select 1 union select 2) q) from t
with recursive x as (select * from y), y as (select 1 as a) select * from x
with recursive x as (select * from y), y as (select * from x) select * from x
with recursive x as (select * from y), y as (select * from z), z as (select 3 as c union select c + 1 from z where c < 5) select c from x order by c
with recursive x as (with y as (select 5 as e) select * from y), y as (select * from x) select * from y
with recursive t as (select * from p), p as (select 5 as five) select * from t
with x as (select * from y), y as (select 1 as a) select * from x
with p as (select a from p) select * from p order by a
with t as (select 1 as b) select (select sum(b) from t) from p
with recursive x(n) as (select 1 union all select n + 1 from x, y where n < y.m), y(m) as (select 3) select * from x order by n
-- a qualified name belongs to the nearest item of that name
select (select t.k from t) from p t
select (select p.b from t p limit 1) from p
select (select p.k from t p limit 1) from p
select (select t.zz from t limit 1) from p
select (select public.p.k from t limit 1) from p order by 1
select (select x from generate_series(1, 1) x(b)) from (select 7 as x) y
select (select x from generate_series(1, 1) y(x)) from (select 7 as x) y
select x from generate_series(1, 2) x(b)
select (select max(x) from generate_series(1, 2) x(b)) from t
select (select a from p x, p y limit 1) from t
-- JOIN USING and NATURAL: the type both have in common
create table ia (x int, y smallint, n text)
create table nb (x numeric(6,2), y bigint, m text)
create table vc (x float8, s varchar(3), c char(4), tx text, d date)
create table vd (x real, s varchar(5), c text, tx varchar, d timestamp)
insert into ia values (1, 2, 'l'), (2, 3, 'l2'), (7, 7, 'l3')
insert into nb values (1.00, 2, 'r'), (2, 9, 'r2'), (3.50, 3, 'r3')
insert into vc values (1, 'ab', 'ab', 'k', '2020-01-01'), (2.5, 'c', 'c', 'c', '2020-01-02')
insert into vd values (1, 'ab', 'ab', 'k', '2020-01-01'), (2.5, 'cdef', 'c', 'c', '2020-01-02 10:00')
select x/2 from (values(1)) a(x) join (values(1.0)) b(x) using(x)
select x/2 from (values(1.0)) a(x) join (values(1)) b(x) using(x)
select x/2 from (values(3)) a(x) left join (values(4.0)) b(x) using(x)
select x/2 from (values(3.0)) a(x) left join (values(4)) b(x) using(x)
select x/2 from (values(3)) a(x) right join (values(5.0)) b(x) using(x)
select x/2 from (values(3.0)) a(x) right join (values(5)) b(x) using(x)
select x/2 from (values(3)) a(x) full join (values(5.0)) b(x) using(x) order by 1
select x/2 from (values(3)) a(x) natural join (values(3.0)) b(x)
select x/2, a.x/2, b.x/2 from (values(3)) a(x) natural left join (values(3.0)) b(x)
select x, y, pg_typeof(x), pg_typeof(y), a.x / 2, b.x / 2, a.y, pg_typeof(a.y), pg_typeof(b.y) from ia a join nb b using (x, y)
select * from ia natural left join nb order by 1, 2
select * from ia natural right join nb order by 1, 2
select * from ia natural full join nb order by 1, 2
select x, pg_typeof(x), pg_typeof(y) from ia a left join nb b using (x, y) order by 1
select x, pg_typeof(x), pg_typeof(y) from ia a right join nb b using (x, y) order by 1
select x, pg_typeof(x), pg_typeof(y) from ia a full join nb b using (x, y) order by 1
select pg_typeof(x), x from vc join vd using (x)
select pg_typeof(s), s from vc join vd using (s)
select pg_typeof(s), s from vc left join vd using (s) order by 2
select pg_typeof(c), c || '|' from vc join vd using (c)
select pg_typeof(c), c || '|' from vc left join vd using (c) order by 2
select pg_typeof(c), c || '|' from vc right join vd using (c) order by 2
select pg_typeof(tx), tx from vc join vd using (tx) order by 2
select pg_typeof(tx), tx from vc left join vd using (tx) order by 2
select pg_typeof(d), d from vc join vd using (d)
select pg_typeof(d), d from vc left join vd using (d) order by 2
select pg_typeof(d), d from vc full join vd using (d) order by 2
select x from ia join vc using (x) join nb using (x)
select pg_typeof(x), x from ia join nb using (x) join vc using (x)
select pg_typeof(x), x/2 from ia left join nb using (x) left join vc using (x) order by 2
select x/2, count(*) from ia join nb using (x) group by x order by 1
select x/2, count(*) from ia left join nb using (x) group by x/2 order by 1
select x, sum(x/2) from ia left join nb using (x) group by x having x > 0 order by x
select j.x/2 from (ia left join nb using (x)) as j order by 1
select j.q/2 from (ia left join nb using (x)) as j(q) order by 1
select u.x/2 from ia left join nb using (x) as u order by 1
select u.* from ia left join nb using (x) as u order by 1
select (select x/2 from nb where nb.m = 'r') from ia left join nb using (x) order by 1
select (select q.x/4) from (select * from ia left join nb using (x)) q order by 1
select x/2 from ia left join nb using (x) where x > 1 order by x desc
select x from ia join (values (date '2020-01-01')) v(x) using (x)
select x from ia join (values ('1')) v(x) using (x)
select x from ia join (values (true)) v(x) using (x)
select * from ia a join ia b using (x) join nb c using (x)
select a.n, b.n from ia a join ia b using (x, y) left join nb c using (y) order by 1
create view uv as select * from ia left join nb using (x)
select x / 2 from uv order by 1
-- names of columns
create table nt (a int, b int, s text, d date, ts timestamp, tz timestamptz, n numeric, f float8, j jsonb, ar int[], bo boolean)
insert into nt values (1, 2, 'x', '2020-01-01', '2020-01-01', '2020-01-01', 1.5, 2.5, '{"k": 1}', '{1,2}', true)
select (select a union select b order by 1 limit 1) from nt
select (select a as q except select 7) from nt
select (select a intersect select 1) from nt
select (values (1)) from nt
select (values (1), (2) limit 1) from nt
select (select * from (values (5)) v) from nt
select (select * from (values (5)) v(z)) from nt
select (select x.* from (select 1 as w) x) from nt
select (select a + 1), (select 1), (select a::text), (select count(*) from nt), (select max(a) from nt) from nt
select (with c as (select 4 as four) select * from c)
select (with c(k) as (select 4 as four) select * from c)
select (select (select (select a))) from nt
select ((select a))::text, (select a)::int, ((select 1))::int from nt
select case when true then (select a) end, case when true then a else b end, case when true then 1 else 2 end, case a when 1 then 2 end from nt
select case when true then 1 else (select b) end, case when true then 1 else upper(s) end, case when true then 1 else a::bigint end from nt
select coalesce(a, b), coalesce((select 1), 2), greatest(a, b), least(a, 1), nullif(a, b), nullif(a, 1)::text from nt
select exists (select 1), not exists (select 1), array(select 1), array[1, 2], array[a, b] from nt
select a in (1, 2), a = any (array[1]), a in (select 1), a between 1 and 2, a is null, a is not null, a is distinct from b from nt
select ar[1], ar[1:2], (array[1, 2])[1], (array(select 1))[1], ar[1]::text, (ar)[1] from nt
select s like 'x', s ilike 'x', s similar to 'x', s ~ 'x', s || 'y', not bo, bo and bo, bo or bo, bo is true, bo is not unknown, - a, + a, @ a from nt
select 1, 'x', 1.5, null, true, false, null::int, true::text, 'x'::text, 1::int8, '1'::numeric(5, 2), 'x'::varchar(3), 'x'::char(4), '1 day'::interval, date '2020-01-01', timestamp '2020-01-01', interval '1' day, int '4', bigint '5', float8 '1', double precision '3', boolean 'true', time '10:00', timestamptz '2020-01-01'
select cast(a as smallint), cast(1 as smallint), cast('x' as name), cast('{1}' as int[]), '{1}'::int[], '{}'::text[], cast('1' as real), cast(1 as decimal), cast(1 as double precision), cast('x' as character varying), cast('x' as character), cast('x' as "char"), '1'::bytea, '1'::json, '1'::jsonb, '1'::oid, 'nt'::regclass::text, cast(1 as bool) from nt
select extract(year from d), date_part('year', d), current_date is null, date_trunc('day', ts), age(ts, ts), d + 1, ts at time zone 'UTC', tz at time zone 'UTC', (ts, ts) overlaps (ts, ts), make_date(2020, 1, 1), to_char(ts, 'YYYY') from nt
select substring(s from 1 for 1), substring(s, 1), substr(s, 1), position('x' in s), strpos(s, 'x'), trim(s), trim(leading 'x' from s), trim(trailing 'x' from s), trim(both 'x' from s), btrim(s), overlay(s placing 'y' from 1), upper(s), length(s), char_length(s), octet_length(s), left(s, 1), replace(s, 'x', 'y'), concat(s, 1), concat_ws(',', s, 1), lpad(s, 3), format('%s', s), md5(s), initcap(s), reverse(s), repeat(s, 2), split_part(s, 'x', 1) from nt
select abs(a), round(n), ceil(n), ceiling(n), floor(n), power(a, 2), pow(a, 2), sqrt(n), mod(a, 2), div(n, 2), sign(n), exp(n), ln(n), log(n), pi() is null, width_bucket(n, 1, 2, 3), a % 2, a / 2, a ^ 2 from nt
select current_user is null, session_user is null, current_schema, current_schema(), current_database(), current_catalog, user, current_role from nt where false
select current_date, current_timestamp, localtimestamp, now(), localtime, current_date::text, current_timestamp::date, current_user::text from nt where false
select count(*), count(a), count(distinct a), sum(a), avg(a), min(a) filter (where a > 0), string_agg(s, ','), array_agg(a), bool_and(bo), every(bo), json_agg(a), jsonb_agg(a), stddev(a), variance(a), max(a) + 1 from nt
select row_number() over (), rank() over (order by a), sum(a) over (), lag(a) over (order by a), count(*) over (), first_value(a) over (order by a), (sum(a) over ())::int from nt
select grouping(a), grouping(a, b), a, b from nt group by rollup(a, b) order by 1, 2
select j -> 'k', j ->> 'k', j #> '{k}', j @> '{}', j ? 'k', jsonb_typeof(j), jsonb_build_object('a', 1), to_jsonb(a), (j -> 'k')::int, (j ->> 'k')::text from nt
select percentile_cont(0.5) within group (order by a), mode() within group (order by a) from nt
select generate_series(1, 2), unnest(ar), unnest(array[1]) from nt
select * from generate_series(1, 2)
select * from generate_series(1, 2) g
select * from unnest(array[1, 2]) with ordinality
select * from unnest(array[1, 2]) with ordinality u
select * from unnest(array[1, 2]) with ordinality u(x)
select * from unnest(array[1], array[2])
select a collate "C" from (values ('x')) v(a)
select 'x' collate "C", s collate "C" from nt
select (s collate "C")::text, upper(s collate "C") from nt
select nt.a, nt.s::text, nt.a + nt.b from nt
insert into nt (a) values (9) returning a, (select max(b) from nt where a < 9), a + 1, (values (3)), (select 1 union select 1), a::text
update nt set b = 4 where a = 9 returning (select 1 as q), coalesce(b, 1), case when true then b else a end, b::bigint
select (select (values (1))), (select array[1]), (select exists (select 1)), (select case when true then 1 end), (select 1::int), (select null), (select true)
select array_length(ar, 1), cardinality(ar), ar || 1, array_append(ar, 1), 1 = any (ar), 1 = all (ar) from nt
select int4(1.5), float8(1), text('x'), numeric('1'), bool(1), varchar('x'), date('2020-01-01'), "timestamp"('2020-01-01') from nt
select * from (select 1, 2, 'x', a, a + 1, count(*) over () from nt where a = 1) q
select q.* from (values (1, 2), (3, 4)) q order by 1
select (row(1, 2) = row(1, 2)), (a, b) = (1, 2), (a, b) < (1, 2), row(a) is null from nt
select lower(s) as "Q", a as a1, b "B" from nt
with x as (select a + 1, b::text, (select 1) from nt where a = 1) select * from x
select (select a from nt x where x.a = 1)::text || 'x', -(select 1), (select a from nt limit 1) + 1
create table n9 as select (select 1 union select 1), (values (5)) as v9
select * from n9
create view nv as select (select max(a) from nt), coalesce(1, 2), 1::int8
select * from nv
create view nv2 as select 1, 2
select * from (select (select a union select 1 order by 1 limit 1), (values (1)) from nt) q
select "?column?" from (select 1) q
select column1 from (select (values (1))) q
-- functional dependency; aliases hidden in an aliased join
create table fp (id int primary key, a int, b int, s text)
insert into fp values (1, 10, 5, 'x'), (2, 20, 5, 'y'), (3, 20, 6, 'z')
create table fq (k1 int, k2 int, v int, w int, primary key (k1, k2))
insert into fq values (1, 1, 5, 6), (1, 2, 7, 8), (2, 1, 5, 9)
select id, a, b from fp group by id order by 1
select id, a, sum(b) from fp group by rollup(id) order by 1, 2
select id, a, sum(b) from fp group by grouping sets ((id), ()) order by 1
select id, a, sum(b) from fp group by grouping sets ((id), (id, b)) order by 1, 3
select id, a, sum(b) from fp group by grouping sets ((id, b), (id, s)) order by 1, 3
select id, a, b, sum(b) from fp group by id, grouping sets ((b), ()) order by 1, 3
select id, s, grouping(b), count(*) from fp group by id, rollup(b) order by 1, 3
select id, s, count(*) from fp group by cube(id, s) order by 1, 2
select a, count(*) from fp group by grouping sets ((id)) order by 1
select a, count(*) from fp group by rollup(id, a) order by 1, 2
select k1, k2, v, w from fq group by k1, k2 order by 1, 2
select k1, k2, v, sum(w) from fq group by rollup(k1, k2) order by 1, 2
select k1, k2, v, sum(w) from fq group by k1, rollup(k2) order by 1, 2
select k1, k2, v, sum(w) from fq group by grouping sets ((k1, k2), (k2, k1, v)) order by 1, 2, 3
select v from fq group by k1
select fp.*, count(*) from fp join fq on fq.k1 = fp.id group by fp.id order by 1
select fp.*, count(*) from fp join fq on fq.k1 = fp.id group by fp.id, rollup(fq.v) order by 1, 5
select fp.a, fq.k1, count(*) from fp join fq on fq.k1 = fp.id group by grouping sets ((fp.id, fq.k1), (fp.id)) order by 1, 2
select id, a from (select * from fp) q group by id
select x.id, x.a, y.a from fp x, fp y where x.id = y.id group by x.id order by 1
select x.id, x.a, y.a from fp x, fp y where x.id = y.id group by x.id, y.id order by 1
select id, (select a), (select max(v) from fq where k1 = fp.a - 9) from fp group by id order by 1
select id, (select a from fq limit 1) from fp group by rollup(id) order by 1, 2
select id from fp group by id having a > 10 order by s desc
select id from fp group by rollup(id) having a > 10 order by s desc
select id from fp group by grouping sets ((id), (id)) having a > 10 order by s desc, id
select id, a + b as ab, sum(b) over (order by a, id) from fp group by id order by 1
select distinct a from fp group by id order by a
select a from fp group by id order by sum(b), id
select (id), a from fp group by (id) order by 1
select id + 0, a from fp group by id + 0
select id as b, a from fp group by 1 order by 1
select id as z, a from fp group by z order by 1
select b.id, b.a from fp a join fp b using (id) group by b.id order by 1
select id, a.a from fp a join fp b using (id) group by id
select id, a.a from fp a join fp b using (id) group by a.id order by 1
select id, a.a from fp a left join fp b using (id) group by a.id order by 1
create view fv as select id, a from fp group by id
select * from fv order by 1
select a.x from (fp as a(x, y, z) join fq b on a.x = b.k1) as j
select j.x from (fp as a(x, y, z) join fq b on a.x = b.k1) as j order by 1
select x from (fp as a(x, y, z) join fq b on a.x = b.k1) as j order by 1
select b.v from (fp a join fq b on a.id = b.k1) as j
select fq.v from (fp join fq on id = k1) as j
select * from (fp join fq on id = k1) as j order by 1, 6
select j.* from (fp join fq on id = k1) as j order by 1, 6
select j.v from (fp join fq on id = k1) as j order by 1
select a.id from (fp a join fq b on a.id = b.k1) as a order by 1
select a.id, a.v from (fp a join fq b on a.id = b.k1) as a order by 1, 2
select fp.v from (fp join fq on id = k1) as fp order by 1
select a.id from (fp a join fq b on a.id = b.k1) as j, fp a order by 1
select j.id, a.id from (fp a join fq b on a.id = b.k1) as j, fp a order by 1, 2
select j.id from (fp a join fq b on a.id = b.k1) as j join fp a on a.id = j.v order by 1
select j.id from (fp a join fq b on a.id = b.k1) as j join fq b on b.k1 = j.id order by 1
select (select a.id from fp a where a.id = j.id) from (fp a join fq b on a.id = b.k1) as j order by 1
select (select a.id) from (fp a join fq b on a.id = b.k1) as j order by 1
select (select j.id) from (fp a join fq b on a.id = b.k1) as j order by 1
select (select id) from (fp a join fq b on a.id = b.k1) as j order by 1
select a.z from fp a where exists (select 1 from (fp a join fq b on a.id = b.k1) as j where a.id = j.id)
select a.id from fp a where exists (select 1 from (fp a join fq b on a.id = b.k1) as j where a.id = j.id) order by 1
select a.id from fp a where exists (select 1 from (fp c join fq b on c.id = b.k1) as j where a.id = j.id) order by 1
select j.id from (fp a join fq b on a.id = b.k1 and a.b = 5) as j order by 1
select k.id from ((fp a join fq b on a.id = b.k1) as j join fq c on j.id = c.k1) as k order by 1
select j.id from ((fp a join fq b on a.id = b.k1) as j join fq c on j.id = c.k1) as k order by 1
select c.k1 from ((fp a join fq b on a.id = b.k1) as j join fq c on j.id = c.k1) order by 1
select j.id, c.k1 from ((fp a join fq b on a.id = b.k1) as j join fq c on j.id = c.k1) order by 1
select u.id from (fp a join fp b using (id) as u) order by 1
select u.id from (fp a join fp b using (id) as u) as j order by 1
select u.a from (fp a join fp b using (id) as u)
select u.id, a.a from fp a join fp b using (id) as u order by 1
select sum(j.v) from (fp a join fq b on a.id = b.k1) as j group by j.id order by 1
select j.id, j.a from (fp a join fq b on a.id = b.k1) as j group by j.id order by 1
-- which of several mistakes is told
create table m (k int primary key, a int, b int)
insert into m values (1, 2, 3), (2, 3, 4)
select nosuch from m where m.a = x.a
select m.a, k from m where nosuch = 1 group by m.a
select k from m where nosuch = 1 group by a
select k from m group by a order by nosuch
select k from m group by a, nosuch having sum(a) > x.y
select k, (select sum(z) from m) from m group by a
select nosuch1 from m where sum(a) > 1
update m set a = nosuch where x.b = 1
update m set a = nosuch where b = 1 returning x.b
update m set a = 1 where nosuch = 1 returning x.b
update m set a = nosuch from nt where x.b = 1 returning nosuch
delete from m where nosuch = 1 returning x.b
update m set a = g from generate_series(1, k) g where g = k
update m set a = 1 from (select k) z
update m set a = 1 from lateral (select k) z
delete from m using generate_series(1, m.k) g
select k, sum(a) from m union select nosuch, 1 from m
select k from m where nosuch in (select x.y from m)
select k from m where sum(nosuch) > 1
select k from m where sum(a) filter (where x.y) > 1
-- equal names of an outer query
select k from m where exists (select k, k from nt order by k)
select (select m.a from nt group by m.a order by m.a limit 1), (select k from nt group by k having k > 0 limit 1) from m order by 1
-- groups that are merged columns
select x.k, (select max(z.a) from nt z where z.a = x.k) from (m full join (values (1)) v(k) using (k)) as x group by x.k
select x.k, (select max(z.a) from nt z where z.a = x.k) from (m join (values (1)) v(k) using (k)) as x group by x.k
select k, (select max(z.a) from nt z where z.a = k) from m left join (values (1)) v(k) using (k) group by k order by 1
select k, (select sum(k) from nt z) from m full join (values (1)) v(k) using (k) group by k order by 1
