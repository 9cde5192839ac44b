-- settings of programs
show my.x
select current_setting('my.x', true)
select current_setting('my.x')
set my.x = 'a'
show my.x
set My.X to 1, 2
show MY.x
select current_setting('my.X')
set my.x = on
show my.x
set my.x = 1.50
show my.x
reset my.x
show my.x
reset never.set
show never.set
begin
set my.y = '1'
rollback
show my.y
begin
set local my.z = '1'
show my.z
commit
show my.z
set my.w = 2
show my.w
set my.w to default
show my.w
select set_config('my.q', 'v', false), current_setting('my.q')
select set_config('my.q', null, false), current_setting('my.q') = ''
set "my.bad-name" = 1
set "my." = 1
set ".my" = 1
set "a.b.c" = 1
show "a.b.c"
set a.b.c = 2
show a.b.c
set "1a.b" = 1
set plpgsql.nosuch = 1
set nodot = 1
select set_config('nodot', '1', false)
select set_config('no dot.x', '1', false)
begin
set my.s = 1
savepoint a
set my.s = 2
rollback to a
show my.s
commit
show my.s
begin
set my.t = 1
set local my.t = 2
show my.t
commit
show my.t
select count(*) from pg_settings where name like 'my.%'
reset all
show my.s
select current_setting('my.s', true) = ''
set my.s = 'k'
discard all
show my.s
set my.s = ''
show my.s
set my.é = 1
show my.é
show "my.bad-name"
select current_setting('nodot', true)
-- names of constraints
create table t1 (a int constraint c1 check (a > 0), b int constraint c1 check (b > 0))
create table t2 (a int, b int, constraint c1 check (a > 0), constraint c1 unique (b))
create table t3 (a int constraint c1 primary key, b int constraint c1 unique)
create table t3b (a int, b int, constraint c1 unique (a), constraint c1 check (b > 0))
create table t4 (a int)
alter table t4 add constraint c check (a > 0)
alter table t4 add constraint c check (a > 1)
alter table t4 add constraint c unique (a)
alter table t4 add constraint u unique (a)
alter table t4 add constraint u check (a > 3)
alter table t4 add constraint u check (a > 3), add constraint v check (a > 4), add constraint v check (a > 5)
create table p1 (a int primary key)
create table t5 (a int constraint f references p1, b int constraint f check (b > 0))
create table t6 (a int constraint f references p1, b int constraint f references p1)
alter table t4 add constraint c foreign key (a) references p1
alter table t4 add b int constraint c check (b > 0)
alter table t4 add d int constraint z check (d > 0)
create domain d1 as int constraint k check (value > 0) constraint k check (value < 10)
create domain d2 as int constraint k check (value > 0)
alter domain d2 add constraint k check (value < 5)
-- COMPRESSION and OWNED BY
create table x1 (a text compression nosuch)
create table x2 (a int compression pglz)
create table x3 (a text compression pglz)
create table x3b (a text compression default)
alter table x3 alter a set compression nosuch
alter table x3 alter a set compression pglz
create sequence s1 owned by nosuch.col
create sequence s2 owned by x3.nosuch
create sequence s3 owned by nosuch
create sequence s4 owned by none
create sequence s5 owned by x3.a
alter sequence s4 owned by nosuch.a
alter sequence s4 owned by x3.b
-- a view by its name, and new names of relations
create view v as select 1 as a
select pg_get_viewdef('v')
select pg_get_viewdef('v'::regclass)
select pg_get_viewdef('v', true)
select pg_get_viewdef('public.v')
select pg_get_viewdef('nosuch')
select pg_get_viewdef('x3')
select pg_get_viewdef(0)
alter table v rename to v2
create sequence sq
alter table sq rename to sq2
select nextval('sq2')
create index ix on x3 (a)
alter table ix rename to ix2
alter view x3 rename to x4
alter sequence x3 rename to x4
alter index x3 rename to x4
select count(*) from x4
alter index x4 rename to x3
alter view sq2 rename to sq3
alter sequence v2 rename to v3
alter index v2 rename to v3
alter view v2 rename to v4
alter table nosuch rename to y
alter view nosuch rename to y
alter index nosuch rename to y
alter sequence nosuch rename to y
alter index sq2 rename to sq9
alter sequence sq2 rename to sq3
-- a schema before a function, a type, an operator
select nosuch.abs(-48)
select pg_catalog.abs(-48)
select public.abs(-48)
select nosuch.count(*) from p1
select information_schema.abs(-1)
select 1::nosuch.int4
select 1::pg_catalog.int4
select 1::public.int4
select cast(1 as nosuch.text)
select null::information_schema.int4
create table y1 (a nosuch.int4)
create table y2 (a public.int4)
create table y3 (a pg_catalog.int4)
select * from nosuch.generate_series(1,2)
select * from public.generate_series(1,2)
select * from pg_catalog.generate_series(1,2)
select nosuch.now()
select nosuch.coalesce(1)
select pg_catalog.max(a) from p1
select nosuch.max(a) from p1
select 'a'::nosuch.text[]
select 1 operator(nosuch.+) 2
select 1 operator(pg_catalog.+) 2
select 1 operator(public.+) 2
select nosuch.row_number() over ()
create schema own
select own.abs(1)
select 1::own.int4
select nosuch.nosuch(1)
create domain d3 as int check (value > 0)
select connoinherit from pg_constraint where conname = 'd3_check'
select "nosuch.abs"(1)
select nosuch.sum(a) filter (where a > 0) from p1
select a from p1 group by a having nosuch.max(a) > 1
create view bad as select nosuch.abs(1)
create table bad (a int default nosuch.abs(1))
create table bad (a int check (nosuch.abs(a) > 1))
prepare bad (nosuch.int4) as select $1
select information_schema._pg_truetypid(1, 2)
create domain bad as nosuch.int4
alter table p1 add column z nosuch.int4
alter table p1 alter a type nosuch.int8
select pg_catalog.sum(a) over () from p1
select pg_catalog.lower('A')
select '1'::pg_catalog.int4[]
-- catalogs asked for one relation
CREATE TABLE asked_one (id integer PRIMARY KEY, b text DEFAULT 'x', c integer CHECK (c > 0))
CREATE TABLE asked_two (id integer REFERENCES asked_one, b text, UNIQUE (b))
CREATE INDEX asked_ix ON asked_one (b, c)
SELECT relname, relkind FROM pg_class WHERE oid = 'asked_one'::regclass
SELECT relname FROM pg_class WHERE 'asked_ix'::regclass = oid
SELECT relname FROM pg_class c WHERE c.oid = 'asked_one'::regclass AND relname = 'asked_two'
SELECT relname FROM pg_class WHERE oid = 'asked_one'::regclass OR relname = 'asked_two' ORDER BY 1
SELECT count(*) FROM pg_class WHERE NOT (oid = 'asked_one'::regclass) AND relname LIKE 'asked%'
SELECT relname FROM pg_class WHERE oid = 1259
SELECT relname FROM pg_class WHERE oid = '1259'
SELECT relname FROM pg_class WHERE oid = 4294967295
SELECT relname FROM pg_class WHERE oid = 'no_such_relation'::regclass
SELECT attname, attnum FROM pg_attribute WHERE attrelid = 'asked_one'::regclass AND attnum > 0 ORDER BY attnum
SELECT attname FROM pg_attribute a WHERE attrelid = 'asked_ix'::regclass ORDER BY attnum
SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid = 'asked_two'::regclass AND a.attnum > 0 ORDER BY 2
SELECT c.relname, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 2 WHERE c.relname LIKE 'asked__n_' OR c.relname = 'asked_two' ORDER BY 1, 2
SELECT c.relname, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = 'asked_one'::regclass AND a.attnum = 1 WHERE c.relname LIKE 'asked%' ORDER BY 1, 2
SELECT c.relname, a.attname FROM pg_attribute a RIGHT JOIN pg_class c ON a.attrelid = 'asked_one'::regclass AND a.attnum = 1 AND c.oid = a.attrelid WHERE c.relname LIKE 'asked%' ORDER BY 1, 2
SELECT count(*) FROM pg_class c FULL JOIN pg_attribute a ON a.attrelid = 'asked_one'::regclass AND a.attrelid = c.oid WHERE c.relname = 'asked_two'
SELECT c2.relname, i.indisprimary FROM pg_class c, pg_class c2, pg_index i WHERE c.oid = 'asked_one'::regclass AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY 1
SELECT c2.relname, con.contype FROM pg_class c, pg_class c2, pg_index i LEFT JOIN pg_constraint con ON con.conrelid = i.indrelid AND con.conindid = i.indexrelid AND con.contype IN ('p', 'u', 'x') WHERE c.oid = 'asked_one'::regclass AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY 1
SELECT conname, contype FROM pg_constraint WHERE conrelid = 'asked_one'::regclass ORDER BY 1
SELECT conname FROM pg_constraint WHERE confrelid = 'asked_one'::regclass ORDER BY 1
SELECT conname FROM pg_constraint WHERE conrelid = 'asked_two'::regclass AND confrelid = 'asked_one'::regclass
SELECT (SELECT relname FROM pg_class WHERE oid = a.attrelid), count(*) FROM pg_attribute a WHERE attrelid IN ('asked_one'::regclass, 'asked_two'::regclass) AND attnum > 0 GROUP BY 1 ORDER BY 1
SELECT (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) FROM pg_attribute a WHERE a.attrelid = 'asked_one'::regclass AND a.attnum = 2
SELECT x.relname FROM (SELECT oid AS o, relname FROM pg_class) x WHERE x.o = 'asked_one'::regclass
SELECT c.relname FROM pg_class AS c(oid, relname) WHERE c.oid = 'asked_one'::regclass
SELECT c.relname FROM pg_class AS c(o) WHERE o = 'asked_one'::regclass
SELECT a.relname, b.relname FROM pg_class a, pg_class b WHERE a.oid = b.oid AND b.oid = 'asked_two'::regclass
SELECT oid FROM pg_class, pg_constraint WHERE oid = 'asked_two'::regclass
SELECT count(*) FROM pg_class JOIN pg_index ON indrelid = pg_class.oid AND pg_class.oid = 'asked_one'::regclass
SELECT c.oid::regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = 'asked_one'::regclass
SELECT c.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_inherits i ON c.oid = i.inhrelid WHERE c.relname LIKE 'asked_t%'
SELECT c.relname FROM pg_catalog.pg_inherits i RIGHT JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid WHERE c.relname LIKE 'asked_t%'
SELECT count(c.relname) FROM pg_catalog.pg_inherits i LEFT JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
SELECT c.relname FROM pg_catalog.pg_class c FULL JOIN pg_catalog.pg_inherits i ON c.oid = i.inhrelid WHERE c.relname LIKE 'asked_t%'
SELECT c.relname FROM pg_catalog.pg_class c CROSS JOIN LATERAL (SELECT 1 FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum = 3) a WHERE c.oid = 'asked_one'::regclass
SELECT count(*) FROM (pg_class c CROSS JOIN (VALUES (1)) v(q)) AS j(foo, relname, oid) WHERE oid = 2200 AND relname = 'asked_one'
SELECT count(*) FROM (pg_class c CROSS JOIN (VALUES (1)) v(q)) AS j(foo, relname, oid) JOIN (VALUES (2)) y(z) ON oid = 2200 WHERE relname = 'asked_one'
SELECT count(*) FROM (VALUES (2200::oid), (1)) c(oid) WHERE EXISTS (SELECT FROM (pg_class c CROSS JOIN (VALUES (1)) v(q)) AS j WHERE c.oid = 2200 AND relname = 'asked_one')
SELECT j.relname FROM (pg_class c JOIN pg_attribute a ON a.attrelid = c.oid) AS j WHERE j.oid = 'asked_two'::regclass AND j.attnum = 1
SELECT count(*) > 0 FROM pg_class c, pg_attribute a WHERE c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid AND c.oid = a.attrelid
