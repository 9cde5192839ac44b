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
