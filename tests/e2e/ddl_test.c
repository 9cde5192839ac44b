/*
 * ddl_test.c -- effects of definitions on rows: DEFAULT, CHECK, sequences, views, ALTER TABLE.
 * Statement and answer, as in answers_test.c; the answers are PostgreSQL 15's.
 */
#include "golden.h"

static const struct golden defaults[] = {
	{ "create table d (id int primary key, a int default 7, b text default 'x' || 'y', c numeric(6,2) "
	  "default 1.555, e timestamp default now(), f bool default true, g date default '2024-02-29', h "
	  "int)",
	    "CREATE TABLE" },
	{ "insert into d (id) values (1)", "INSERT 0 1" },
	{ "select id, a, b, c, e is not null, f, g, h from d", "1|7|xy|1.56|t|t|2024-02-29|~; SELECT 1" },
	{ "insert into d (id, a, b) values (2, default, default), (3, null, default), (4, 8, null) returning "
	  "id, a, b",
	    "2|7|xy;3|~|xy;4|8|~; INSERT 0 3" },
	{ "insert into d (id, h) select id + 10, 1 from d where id < 3", "INSERT 0 2" },
	{ "select id, a, b, f, h from d where id > 10 order by id", "11|7|xy|t|1;12|7|xy|t|1; SELECT 2" },
	{ "update d set a = default, h = default where id = 4 returning a, h", "7|~; UPDATE 1" },
	{ "update d set a = d.id, b = default from (select 11 as k) q where d.id = q.k returning a, b",
	    "11|xy; UPDATE 1" },
	{ "insert into d default values",
	    "ERROR 23502: null value in column \"id\" of relation \"d\" violates not-null constraint" },
	{ "create table dv (a int default 3, b text default null)", "CREATE TABLE" },
	{ "insert into dv default values returning *", "3|~; INSERT 0 1" },
	{ "insert into dv (a) select 1 where false", "INSERT 0 0" },
	{ "create table dw (a int default b, b int)",
	    "ERROR 0A000: cannot use column reference in DEFAULT expression" },
	{ "create table dw (a int default count(*))",
	    "ERROR 42803: aggregate functions are not allowed in DEFAULT expressions" },
	{ "create table dw (a int default true)",
	    "ERROR 42804: column \"a\" is of type integer but default expression is of type boolean" },
	{ "create table dw (a int default 'abc')",
	    "ERROR 22P02: invalid input syntax for type integer: \"abc\"" },
	{ "create table dw (a int default 1 default 2)",
	    "ERROR 42601: multiple default values specified for column \"a\" of table \"dw\"" },
	{ "create table dw (a int default 1/0)", "CREATE TABLE" },
	{ "insert into dw values (1)", "INSERT 0 1" },
	{ "insert into dw values (default)", "ERROR 22012: division by zero" },
	{ "begin; create table dx (a int default 5, b int); insert into dx (b) values (1); select * from dx; "
	  "rollback",
	    "BEGIN CREATE TABLE INSERT 0 15|1; SELECT 1 ROLLBACK" },
	{ "create table dx (a int default 6, b int)", "CREATE TABLE" },
	{ "insert into dx (b) values (1) returning *", "6|1; INSERT 0 1" },
	{ "drop table dx; create table dx (a int, b int); insert into dx (b) values (1) returning *",
	    "DROP TABLE CREATE TABLE~|1; INSERT 0 1" },
};

static const struct golden checks[] = {
	{ "create table p (id int primary key, price numeric check (price > 0), q int constraint few check "
	  "(q < "
	  "10) not null, note text, check (price < 1000 or note is not null), constraint named check (id <> "
	  "q))",
	    "CREATE TABLE" },
	{ "insert into p values (1, 5, 2), (2, null, 3)", "INSERT 0 2" },
	{ "insert into p values (3, 0, 2)",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_price_check\"" },
	{ "insert into p values (3, 5, 20)",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"few\"" },
	{ "insert into p values (4, 5000, 2)",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_check\"" },
	{ "insert into p values (4, 5000, 2, 'dear')", "INSERT 0 1" },
	{ "insert into p values (5, 5, 5)",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"named\"" },
	{ "insert into p values (6, -1, null)",
	    "ERROR 23502: null value in column \"q\" of relation \"p\" violates not-null constraint" },
	{ "insert into p values (6, 1, 1), (7, -1, 1), (8, 1, null)",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_price_check\"" },
	{ "update p set price = price - 5 where id = 1",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_price_check\"" },
	{ "update p set id = q",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"named\"" },
	{ "update p set price = null, note = 'n' where id = 1", "UPDATE 1" },
	{ "insert into p values (1, 5, 2) on conflict (id) do update set price = -1",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_price_check\"" },
	{ "insert into p select id + 100, -5, 1 from p",
	    "ERROR 23514: new row for relation \"p\" violates check constraint \"p_price_check\"" },
	{ "select id, price, q from p order by id", "1|~|2;2|~|3;4|5000|2; SELECT 3" },
	{ "create table pp (a int check (b > 1))", "ERROR 42703: column \"b\" does not exist" },
	{ "create table pp (a int check (a))",
	    "ERROR 42804: argument of CHECK must be type boolean, not type integer" },
	{ "create table pp (a int check (sum(a) > 1))",
	    "ERROR 42803: aggregate functions are not allowed in check constraints" },
	{ "create table pp (a int constraint c check (a > 1) constraint c check (a > 2))",
	    "ERROR 42710: constraint \"c\" for relation \"pp\" already exists" },
	{ "create table pp (a int check (a > 1) check (a < 9), check (a <> 5))", "CREATE TABLE" },
	{ "insert into pp values (1)",
	    "ERROR 23514: new row for relation \"pp\" violates check constraint \"pp_a_check\"" },
	{ "insert into pp values (10)",
	    "ERROR 23514: new row for relation \"pp\" violates check constraint \"pp_a_check1\"" },
	{ "insert into pp values (5)",
	    "ERROR 23514: new row for relation \"pp\" violates check constraint \"pp_a_check2\"" },
	{ "create table pk (a int, b int, constraint mine primary key (a))", "CREATE TABLE" },
	{ "insert into pk values (1, 1), (1, 2)",
	    "ERROR 23505: duplicate key value violates unique constraint \"mine\"" },
	{ "insert into pk values (1, 1)", "INSERT 0 1" },
	{ "insert into pk values (1, 2) on conflict on constraint mine do update set b = 3 returning *",
	    "1|3; INSERT 0 1" },
};

static const struct golden sequences[] = {
	{ "create sequence s", "CREATE SEQUENCE" },
	{ "create sequence s", "ERROR 42P07: relation \"s\" already exists" },
	{ "create sequence if not exists s", "CREATE SEQUENCE" },
	{ "create table s (a int)", "ERROR 42P07: relation \"s\" already exists" },
	{ "select currval('s')",
	    "ERROR 55000: currval of sequence \"s\" is not yet defined in this session" },
	{ "select lastval()", "ERROR 55000: lastval is not yet defined in this session" },
	{ "select nextval('s'), nextval('public.S')", "1|2; SELECT 1" },
	{ "select currval('s'), lastval(), nextval(null)", "2|2|~; SELECT 1" },
	{ "select nextval('nope')", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "begin; select nextval('s'); rollback; select nextval('s')",
	    "BEGIN3; SELECT 1 ROLLBACK4; SELECT 1" },
	{ "select setval('s', 10), nextval('s')", "10|11; SELECT 1" },
	{ "select setval('s', 20, false), nextval('s')", "20|20; SELECT 1" },
	{ "select setval('s', 0)",
	    "ERROR 22003: setval: value 0 is out of bounds for sequence \"s\" (1..9223372036854775807)" },
	{ "create table few (a int)", "CREATE TABLE" },
	{ "insert into few values (1), (2), (3)", "INSERT 0 3" },
	{ "select nextval('s') from few", "21;22;23; SELECT 3" },
	{ "select nextval('s') from few limit 2", "24;25; SELECT 2" },
	{ "select nextval('s') from few limit 0", "SELECT 0" },
	{ "select nextval('few')", "ERROR 42809: \"few\" is not a sequence" },
	{ "create sequence down increment -2 minvalue -5", "CREATE SEQUENCE" },
	{ "select nextval('down') from few", "-1;-3;-5; SELECT 3" },
	{ "select nextval('down')", "ERROR 2200H: nextval: reached minimum value of sequence \"down\" (-5)" },
	{ "select nextval('down')", "ERROR 2200H: nextval: reached minimum value of sequence \"down\" (-5)" },
	{ "create sequence round minvalue 5 maxvalue 8 increment 2 start 7 cycle", "CREATE SEQUENCE" },
	{ "select nextval('round'), nextval('round'), nextval('round'), nextval('round')",
	    "7|5|7|5; SELECT 1" },
	{ "create sequence many cache 10 maxvalue 12", "CREATE SEQUENCE" },
	{ "select nextval('many'), nextval('many') from few", "1|4;2|5;3|6; SELECT 3" },
	{ "select nextval('many'), nextval('many') from few", "7|10;8|11;9|12; SELECT 3" },
	{ "select nextval('many')", "ERROR 2200H: nextval: reached maximum value of sequence \"many\" (12)" },
	{ "create sequence top start 9223372036854775807", "CREATE SEQUENCE" },
	{ "select nextval('top')", "9223372036854775807; SELECT 1" },
	{ "select nextval('top')",
	    "ERROR 2200H: nextval: reached maximum value of sequence \"top\" (9223372036854775807)" },
	{ "create sequence bad increment 0", "ERROR 22023: INCREMENT must not be zero" },
	{ "create sequence bad minvalue 5 maxvalue 4",
	    "ERROR 22023: MINVALUE (5) must be less than MAXVALUE (4)" },
	{ "create sequence bad start 0", "ERROR 22023: START value (0) cannot be less than MINVALUE (1)" },
	{ "create sequence bad cache 0", "ERROR 22023: CACHE (0) must be greater than zero" },
	{ "create sequence bad as text", "ERROR 22023: sequence type must be smallint, integer, or bigint" },
	{ "create sequence bad as smallint maxvalue 40000",
	    "ERROR 22023: MAXVALUE (40000) is out of range for sequence data type smallint" },
	{ "create table t (id serial primary key, n bigserial, v text)", "CREATE TABLE" },
	{ "insert into t (v) values ('a'), ('b') returning id, n", "1|1;2|2; INSERT 0 2" },
	{ "insert into t (v) select 'c' from few", "INSERT 0 3" },
	{ "select * from t order by id", "1|1|a;2|2|b;3|3|c;4|4|c;5|5|c; SELECT 5" },
	{ "select currval('t_id_seq'), lastval()", "5|5; SELECT 1" },
	{ "insert into t values (default, 9, 'd') returning id, n", "6|9; INSERT 0 1" },
	{ "insert into t (id) values (null)",
	    "ERROR 23502: null value in column \"id\" of relation \"t\" violates not-null constraint" },
	{ "drop sequence t_id_seq",
	    "ERROR 2BP01: cannot drop sequence t_id_seq because other objects depend on it" },
	{ "drop table t", "DROP TABLE" },
	{ "select nextval('t_id_seq')", "ERROR 42P01: relation \"t_id_seq\" does not exist" },
	{ "create table t (id int generated always as identity (start with 10 increment by 5), j int "
	  "generated "
	  "by default as identity, v text)",
	    "CREATE TABLE" },
	{ "insert into t (v) values ('a'), ('b') returning id, j", "10|1;15|2; INSERT 0 2" },
	{ "insert into t (id) values (1)",
	    "ERROR 428C9: cannot insert a non-DEFAULT value into column \"id\"" },
	{ "insert into t (id) values (default) returning id", "20; INSERT 0 1" },
	{ "insert into t (id, j) overriding system value values (1, 77) returning id, j",
	    "1|77; INSERT 0 1" },
	{ "insert into t (id, j) overriding user value values (1, 77) returning id, j", "25|4; INSERT 0 1" },
	{ "insert into t (id) select 1",
	    "ERROR 428C9: cannot insert a non-DEFAULT value into column \"id\"" },
	{ "update t set id = 5", "ERROR 428C9: column \"id\" can only be updated to DEFAULT" },
	{ "update t set id = default where id = 1 returning id", "30; UPDATE 1" },
	{ "create table u (a text generated always as identity)",
	    "ERROR 22023: identity column type must be smallint, integer, or bigint" },
	{ "create table u (a serial default 5)",
	    "ERROR 42601: multiple default values specified for column \"a\" of table \"u\"" },
	{ "create table \"Odd'\"\"Name\" (\"Id\" serial, b int)", "CREATE TABLE" },
	{ "insert into \"Odd'\"\"Name\" (b) values (1) returning *", "1|1; INSERT 0 1" },
	{ "drop table s", "ERROR 42809: \"s\" is not a table" },
	{ "insert into s values (1)", "ERROR 42809: cannot change sequence \"s\"" },
	{ "select * from s", "ERROR 0A000: reading sequence \"s\" as a table is not supported yet" },
	{ "begin; create sequence mine; select nextval('mine'); rollback; select nextval('mine')",
	    "BEGIN CREATE SEQUENCE1; SELECT 1 ROLLBACK ERROR 42P01: relation \"mine\" does not exist" },
	{ "drop sequence s, nope", "ERROR 42P01: sequence \"nope\" does not exist" },
	{ "drop sequence few", "ERROR 42809: \"few\" is not a sequence" },
	{ "drop sequence if exists s, nope", "DROP SEQUENCE" },
	{ "select nextval('s')", "ERROR 42P01: relation \"s\" does not exist" },
};

static const struct golden views[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t values (1, 10, 'x'), (2, 20, 'y'), (3, null, null)", "INSERT 0 3" },
	{ "create view v as select id, a * 2 as twice from t where a is not null", "CREATE VIEW" },
	{ "select * from v order by id", "1|20;2|40; SELECT 2" },
	{ "select w.twice, t.b from v w join t using (id) where w.id = 2", "40|y; SELECT 1" },
	{ "select count(*), sum(twice) from v", "2|60; SELECT 1" },
	{ "select q from v as w (p, q) where p = 1", "20; SELECT 1" },
	{ "create view vv (k, n) as select twice, count(*) from v group by twice", "CREATE VIEW" },
	{ "select * from vv order by k", "20|1;40|1; SELECT 2" },
	{ "select n, k from vv where k > 20", "1|40; SELECT 1" },
	{ "create table u (id int)", "CREATE TABLE" },
	{ "insert into u select id from v", "INSERT 0 2" },
	{ "select count(*) from u where id in (select id from v)", "2; SELECT 1" },
	{ "with t as (select 7 as id, 8 as a) select count(*) from v, t", "2; SELECT 1" },
	{ "create view v as select 1", "ERROR 42P07: relation \"v\" already exists" },
	{ "create or replace view v as select id, a * 3 as twice, b from t", "CREATE VIEW" },
	{ "select * from v order by id", "1|30|x;2|60|y;3|~|~; SELECT 3" },
	{ "create or replace view v as select id from t", "ERROR 42P16: cannot drop columns from view" },
	{ "create or replace view v as select id, a * 3 as thrice, b from t",
	    "ERROR 42P16: cannot change name of view column \"twice\" to \"thrice\"" },
	{ "create or replace view v as select id, b as twice, b from t",
	    "ERROR 42P16: cannot change data type of view column \"twice\" from integer to text" },
	{ "create or replace view t as select 1", "ERROR 42809: \"t\" is not a view" },
	{ "create view w as select nope from t", "ERROR 42703: column \"nope\" does not exist" },
	{ "create view w as select id, id from t", "ERROR 42701: column \"id\" specified more than once" },
	{ "create view w (a, b) as select 1",
	    "ERROR 42601: CREATE VIEW specifies more column names than columns" },
	{ "create view w as select 'lit' as l, null as n", "CREATE VIEW" },
	{ "select l || 'x', n from w", "litx|~; SELECT 1" },
	{ "drop table t", "ERROR 2BP01: cannot drop table t because other objects depend on it" },
	{ "drop view v", "ERROR 2BP01: cannot drop view v because other objects depend on it" },
	{ "drop table v", "ERROR 42809: \"v\" is not a table" },
	{ "drop view t", "ERROR 42809: \"t\" is not a view" },
	{ "drop view nope", "ERROR 42P01: view \"nope\" does not exist" },
	{ "drop view if exists nope", "DROP VIEW" },
	{ "insert into v values (1)", "ERROR 0A000: changing rows through view \"v\" is not supported yet" },
	{ "update v set id = 1", "ERROR 0A000: changing rows through view \"v\" is not supported yet" },
	{ "delete from v", "ERROR 0A000: changing rows through view \"v\" is not supported yet" },
	{ "begin; drop table t cascade; rollback; select count(*) from vv",
	    "BEGIN DROP TABLE ROLLBACK3; SELECT 1" },
	{ "drop view v, vv", "DROP VIEW" },
	{ "select * from v", "ERROR 42P01: relation \"v\" does not exist" },
	{ "create view v as select * from t; create view vv as select * from v", "CREATE VIEW CREATE VIEW" },
	{ "drop table t cascade", "DROP TABLE" },
	{ "select * from vv", "ERROR 42P01: relation \"vv\" does not exist" },
};

static const struct golden alters[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t values (1, 10, 'x'), (2, null, 'y')", "INSERT 0 2" },
	{ "alter table t alter a set default 5, alter column b set default 'z'", "ALTER TABLE" },
	{ "insert into t (id) values (3) returning *", "3|5|z; INSERT 0 1" },
	{ "alter table t alter a drop default", "ALTER TABLE" },
	{ "insert into t (id) values (4) returning *", "4|~|z; INSERT 0 1" },
	{ "alter table t alter a set default 'q'",
	    "ERROR 22P02: invalid input syntax for type integer: \"q\"" },
	{ "alter table t alter nope drop default",
	    "ERROR 42703: column \"nope\" of relation \"t\" does not exist" },
	{ "alter table t alter a set not null",
	    "ERROR 23502: column \"a\" of relation \"t\" contains null values" },
	{ "update t set a = 0 where a is null", "UPDATE 2" },
	{ "alter table t alter a set not null", "ALTER TABLE" },
	{ "insert into t (id, a) values (5, null)",
	    "ERROR 23502: null value in column \"a\" of relation \"t\" violates not-null constraint" },
	{ "alter table t alter a drop not null", "ALTER TABLE" },
	{ "insert into t values (5, null, 'n')", "INSERT 0 1" },
	{ "alter table t alter id drop not null", "ERROR 42P16: column \"id\" is in a primary key" },
	{ "alter table t add constraint pos check (a > 0)",
	    "ERROR 23514: check constraint \"pos\" of relation \"t\" is violated by some row" },
	{ "alter table t add constraint pos check (a >= 0), add check (b <> 'bad')", "ALTER TABLE" },
	{ "insert into t values (6, -1, 'n')",
	    "ERROR 23514: new row for relation \"t\" violates check constraint \"pos\"" },
	{ "insert into t values (6, 1, 'bad')",
	    "ERROR 23514: new row for relation \"t\" violates check constraint \"t_b_check\"" },
	{ "alter table t add constraint pos check (a > 1)",
	    "ERROR 42710: constraint \"pos\" for relation \"t\" already exists" },
	{ "alter table t drop constraint pos", "ALTER TABLE" },
	{ "alter table t drop constraint pos",
	    "ERROR 42704: constraint \"pos\" of relation \"t\" does not exist" },
	{ "alter table t drop constraint if exists pos", "ALTER TABLE" },
	{ "insert into t values (6, -1, 'n')", "INSERT 0 1" },
	{ "alter table t rename a to amount", "ALTER TABLE" },
	{ "select amount from t where id = 1", "10; SELECT 1" },
	{ "select a from t", "ERROR 42703: column \"a\" does not exist" },
	{ "alter table t rename amount to b", "ERROR 42701: column \"b\" of relation \"t\" already exists" },
	{ "alter table t rename b to c",
	    "ERROR 0A000: renaming a column that a CHECK constraint reads is not supported yet" },
	{ "alter table t rename to s", "ALTER TABLE" },
	{ "select * from t", "ERROR 42P01: relation \"t\" does not exist" },
	{ "select count(*), sum(amount) from s", "6|14; SELECT 1" },
	{ "insert into s values (1, 1, 'x')",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "begin; insert into s values (7, 7, 'x'); alter table s rename to r; update r set amount = 70 "
	  "where id "
	  "= 7; insert into r values (8, 8, 'y'); select id, amount from r where id > 6 order by id; delete "
	  "from "
	  "r where id = 8; commit",
	    "BEGIN INSERT 0 1 ALTER TABLE UPDATE 1 INSERT 0 17|70;8|8; SELECT 2 DELETE 1 COMMIT" },
	{ "select id, amount from r where id > 5 order by id", "6|-1;7|70; SELECT 2" },
	{ "select * from s", "ERROR 42P01: relation \"s\" does not exist" },
	{ "begin; alter table r rename to q; alter table q alter b set default 'w'; insert into q (id) "
	  "values (9); "
	  "rollback",
	    "BEGIN ALTER TABLE ALTER TABLE INSERT 0 1 ROLLBACK" },
	{ "select count(*) from r", "7; SELECT 1" },
	{ "begin; create table n (a int); alter table n alter a set default 3; insert into n default values; "
	  "alter "
	  "table n rename to m; commit",
	    "BEGIN CREATE TABLE ALTER TABLE INSERT 0 1 ALTER TABLE COMMIT" },
	{ "select * from m", "3; SELECT 1" },
	{ "begin; create table n (a int); alter table n rename to o; drop table o; commit; select * from n",
	    "BEGIN CREATE TABLE ALTER TABLE DROP TABLE COMMIT ERROR 42P01: relation \"n\" does not exist" },
	{ "begin; alter table m rename to n; drop table n; commit", "BEGIN ALTER TABLE DROP TABLE COMMIT" },
	{ "create table m (b text); insert into m values ('new'); select * from m",
	    "CREATE TABLE INSERT 0 1new; SELECT 1" },
	{ "create view v as select * from m", "CREATE VIEW" },
	{ "alter table m rename to n", "ERROR 0A000: renaming what a view reads is not supported yet" },
	{ "alter table m alter b set default 'k'; insert into m default values; select * from v order by 1",
	    "ALTER TABLE INSERT 0 1k;new; SELECT 2" },
	{ "alter table m rename to r", "ERROR 42P07: relation \"r\" already exists" },
	{ "alter table nope rename to r2", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "alter table if exists nope rename to r2", "ALTER TABLE" },
	{ "alter table v alter b set default 1", "ERROR 42809: \"v\" is not a table" },
	{ "drop table r", "DROP TABLE" },
};

#define GOLDEN(name, of)                                                                                     \
	static void name(void **state)                                                                       \
	{                                                                                                    \
		(void)state;                                                                                 \
		golden_all(of);                                                                              \
	}

GOLDEN(test_defaults, defaults)
GOLDEN(test_checks, checks)
GOLDEN(test_alters, alters)
GOLDEN(test_views, views)
GOLDEN(test_sequences, sequences)

/* COPY fills in what the file does not give, and checks what it does. */
static void
test_copy(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	ask(&t, "create table c (a int primary key, b int default 4 check (b < 10), s text default 'z')");
	t.copy = "1\n2\n";
	t.copy_len = strlen(t.copy);
	assert_string_equal(ask(&t, "copy c (a) from stdin"), "COPY 2");
	t.copy = "3\t9\n4\t10\n";
	t.copy_len = strlen(t.copy);
	assert_string_equal(ask(&t, "copy c (a, b) from stdin"),
	    "ERROR 23514: new row for relation \"c\" violates check constraint \"c_b_check\"");
	assert_string_equal(ask(&t, "select * from c order by a"), "1|4|z;2|4|z; SELECT 2");
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults), cmocka_unit_test(test_checks),
		cmocka_unit_test(test_sequences), cmocka_unit_test(test_views), cmocka_unit_test(test_alters),
		cmocka_unit_test(test_copy) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
