/* alter_column_test.c -- ALTER TABLE and columns: added, dropped, of other types; keys. The answers
 * are PostgreSQL 15's. */
#include "golden.h"

static const struct golden added[] = {
	{ "create table t (a int primary key, b text); insert into t values (1, 'x'), (2, null)",
	    "CREATE TABLE INSERT 0 2" },
	{ "alter table t add column c int", "ALTER TABLE" },
	{ "select * from t order by a", "1|x|~;2|~|~; SELECT 2" },
	{ "insert into t values (3, 'z', 30); update t set c = 10 where a = 1", "INSERT 0 1 UPDATE 1" },
	{ "select * from t order by a", "1|x|10;2|~|~;3|z|30; SELECT 3" },
	{ "alter table t add d text default 'dd', add e numeric(6,2) default 1.555, add f date default "
	  "'2024-02-29', "
	  "add g float8 default 0.1, add h bool default true, add i char(3) default 'q', add j interval "
	  "default '1 "
	  "day 2 hours', add k bytea default '\\x00ff', add l uuid default "
	  "'12345678-1234-1234-1234-123456789abc'",
	    "ALTER TABLE" },
	{ "select a, d, e, f, g, h, i || '|', j, k, l from t order by a limit 1",
	    "1|dd|1.56|2024-02-29|0.1|t|q||1 day 02:00:00|\\x00ff|12345678-1234-1234-1234-123456789abc; "
	    "SELECT 1" },
	/* what was stored keeps the default of its day */
	{ "alter table t alter d set default 'new'; insert into t (a) values (4); alter table t alter d drop "
	  "default; "
	  "insert into t (a) values (5)",
	    "ALTER TABLE INSERT 0 1 ALTER TABLE INSERT 0 1" },
	{ "select a, d, e from t order by a", "1|dd|1.56;2|dd|1.56;3|dd|1.56;4|new|1.56;5|~|1.56; SELECT 5" },
	{ "select count(*) from t where d = 'dd' and e > 1.5 and c is null", "1; SELECT 1" },
	{ "select d, count(*), sum(e) from t group by d order by d",
	    "dd|3|4.68;new|1|1.56;~|1|1.56; SELECT 3" },
	{ "select x.a, y.d from t x join t y on x.d = y.d and x.a = y.a + 2", "3|dd; SELECT 1" },
	{ "update t set b = 'upd' where a = 2 returning b, c, d, k", "upd|~|dd|\\x00ff; UPDATE 1" },
	{ "delete from t where d = 'dd' and a = 3", "DELETE 1" },
	{ "alter table t add column a int", "ERROR 42701: column \"a\" of relation \"t\" already exists" },
	{ "alter table t add if not exists a int, add m int default 5", "ALTER TABLE" },
	{ "select m from t", "5;5;5;5; SELECT 4" },
	{ "alter table t add n int not null",
	    "ERROR 23502: column \"n\" of relation \"t\" contains null values" },
	{ "alter table t add n int not null default 1", "ALTER TABLE" },
	{ "insert into t (a, n) values (9, null)",
	    "ERROR 23502: null value in column \"n\" of relation \"t\" violates not-null constraint" },
	{ "alter table t add o int default 3 check (o > 5)",
	    "ERROR 23514: check constraint \"t_o_check\" of relation \"t\" is violated by some row" },
	{ "alter table t add o int default 6 check (o > 5), add constraint oo check (o < 10)",
	    "ALTER TABLE" },
	{ "update t set o = 5 where a = 1",
	    "ERROR 23514: new row for relation \"t\" violates check constraint \"t_o_check\"" },
	{ "alter table t add p int primary key",
	    "ERROR 42P16: multiple primary keys for table \"t\" are not allowed" },
	{ "alter table t add p int default 'abc'",
	    "ERROR 22P02: invalid input syntax for type integer: \"abc\"" },
	{ "alter table t add p nope", "ERROR 42704: type \"nope\" does not exist" },
	{ "alter table t add p int default b",
	    "ERROR 0A000: cannot use column reference in DEFAULT expression" },
	{ "alter table t add p int references t (nope)",
	    "ERROR 42703: column \"nope\" referenced in foreign key constraint does not exist" },
	{ "alter table t add p int references nope", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "alter table t add p int default 1/0", "ERROR 22012: division by zero" },
	{ "select p from t", "ERROR 42703: column \"p\" does not exist" },
	{ "alter table nope add a int", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "alter table if exists nope add a int", "ALTER TABLE" },
	{ "alter table nam_tables add a int",
	    "ERROR 42501: permission denied: \"nam_tables\" is a system catalog" },
	/* each row its own value */
	{ "create table s (a int); insert into s select g from generate_series(1, 500) g",
	    "CREATE TABLE INSERT 0 500" },
	{ "alter table s add id serial, add gen bigint generated always as identity (start 1000)",
	    "ALTER TABLE" },
	{ "select count(distinct id), min(id), max(id), count(distinct gen), min(gen), max(gen) from s",
	    "500|1|500|500|1000|1499; SELECT 1" },
	{ "insert into s (a) values (0) returning id, gen", "501|1500; INSERT 0 1" },
	{ "insert into s (gen) values (1)",
	    "ERROR 428C9: cannot insert a non-DEFAULT value into column \"gen\"" },
	{ "alter table s add e int not null",
	    "ERROR 23502: column \"e\" of relation \"s\" contains null values" },
	{ "truncate s; alter table s add e int not null", "TRUNCATE TABLE ALTER TABLE" },
	{ "insert into s (a, e) values (0, 1) returning id, gen", "502|1501; INSERT 0 1" },
};

static const struct golden dropped[] = {
	{ "create table t (a int primary key, b int, c text default 'x', d serial, check (a > b), constraint "
	  "cb check (b < "
	  "100), constraint cc check (length(c) < 5)); insert into t values (1, 0, 'q'), (2, 1, 'w')",
	    "CREATE TABLE INSERT 0 2" },
	{ "alter table t drop column b", "ALTER TABLE" },
	{ "select * from t order by a", "1|q|1;2|w|2; SELECT 2" },
	{ "select b from t", "ERROR 42703: column \"b\" does not exist" },
	{ "insert into t values (-5, 'qqqqq')",
	    "ERROR 23514: new row for relation \"t\" violates check constraint \"cc\"" },
	{ "insert into t values (-5, 'qqqq') returning *", "-5|qqqq|4; INSERT 0 1" },
	{ "select nextval('t_d_seq')", "5; SELECT 1" },
	{ "alter table t drop d", "ALTER TABLE" },
	{ "select nextval('t_d_seq')", "ERROR 42P01: relation \"t_d_seq\" does not exist" },
	{ "alter table t drop column nope", "ERROR 42703: column \"nope\" of relation \"t\" does not exist" },
	{ "alter table t drop column if exists nope", "ALTER TABLE" },
	{ "alter table t drop c, add b text default 'again'", "ALTER TABLE" },
	{ "select * from t order by a", "-5|again;1|again;2|again; SELECT 3" },
	/* with the key's column goes the key */
	{ "insert into t values (1, 'dup')",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "alter table t drop a", "ALTER TABLE" },
	{ "insert into t values ('dup'), ('dup')", "INSERT 0 2" },
	{ "alter table t drop b, add c int default 7", "ALTER TABLE" },
	{ "select * from t", "7;7;7;7;7; SELECT 5" },
	{ "create table k (a int, b int, c text, d int, primary key (d, b)); insert into k values (1, 2, "
	  "'c', 4)",
	    "CREATE TABLE INSERT 0 1" },
	{ "alter table k drop c, drop a", "ALTER TABLE" },
	{ "insert into k values (2, 4)",
	    "ERROR 23505: duplicate key value violates unique constraint \"k_pkey\"" },
	{ "insert into k values (4, 2); select * from k where d = 2 and b = 4", "INSERT 0 14|2; SELECT 1" },
	{ "alter table k drop b, drop b", "ERROR 42703: column \"b\" of relation \"k\" does not exist" },
	{ "alter table k add e int, drop e", "ERROR 42703: column \"e\" of relation \"k\" does not exist" },
	/* views */
	{ "create table m (a int, b int, c text); insert into m values (1, 2, 'three')",
	    "CREATE TABLE INSERT 0 1" },
	{ "create view v as select a, b from m; create view vv as select a from v; create view w as select c "
	  "from m where "
	  "length(c) > 1",
	    "CREATE VIEW CREATE VIEW CREATE VIEW" },
	{ "alter table m drop b",
	    "ERROR 2BP01: cannot drop column b of table m because other objects depend on it" },
	{ "alter table m drop a",
	    "ERROR 2BP01: cannot drop column a of table m because other objects depend on it" },
	{ "alter table m alter c type varchar(9)",
	    "ERROR 0A000: cannot alter type of a column used by a view or rule" },
	{ "alter table m add d int default 4", "ALTER TABLE" },
	{ "select * from vv, w", "1|three; SELECT 1" },
	{ "alter table m drop b cascade", "ALTER TABLE" },
	{ "select * from vv", "ERROR 42P01: relation \"vv\" does not exist" },
	{ "select * from w, m", "three|1|three|4; SELECT 1" },
	{ "alter table m drop d, drop a", "ALTER TABLE" },
	{ "select * from w, m", "three|three; SELECT 1" },
};

static const struct golden typed[] = {
	{ "create table t (a int primary key, b text default '5', c numeric(6,2), d varchar(3)); insert into "
	  "t values (1, "
	  "'10', 1.50, 'abc'), (2, null, 2.5, null)",
	    "CREATE TABLE INSERT 0 2" },
	{ "alter table t alter b type int",
	    "ERROR 42804: column \"b\" cannot be cast automatically to type integer" },
	{ "alter table t alter b type int using b::int",
	    "ERROR 42804: default for column \"b\" cannot be cast automatically to type integer" },
	{ "alter table t alter b drop default, alter b type int using b::int * 2, alter b set default 9",
	    "ALTER TABLE" },
	{ "insert into t (a) values (3); select a, b, b + 1 from t order by a",
	    "INSERT 0 11|20|21;2|~|~;3|9|10; SELECT 3" },
	{ "alter table t alter c type int", "ALTER TABLE" },
	{ "select c from t order by a", "2;3;~; SELECT 3" },
	{ "alter table t alter c type text, alter d type varchar(5)", "ALTER TABLE" },
	{ "update t set d = 'abcde', c = c || '!' where a = 1 returning c, d", "2!|abcde; UPDATE 1" },
	{ "alter table t alter d type varchar(4)",
	    "ERROR 22001: value too long for type character varying(4)" },
	{ "alter table t alter d type text using upper(d) || a", "ALTER TABLE" },
	{ "select d from t order by a", "ABCDE1;~;~; SELECT 3" },
	{ "alter table t alter a type bigint, alter b type numeric(8,3)", "ALTER TABLE" },
	{ "insert into t values (1, 1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "insert into t values (5000000000, 1.23456) returning a, b", "5000000000|1.235; INSERT 0 1" },
	{ "select a, b from t where a = 2", "2|~; SELECT 1" },
	{ "alter table t alter a type int", "ERROR 22003: integer out of range" },
	{ "alter table t alter a type numeric using 7",
	    "ERROR 23505: could not create unique index \"t_pkey\"" },
	{ "alter table t alter a type json using '{}'",
	    "ERROR 42704: data type json has no default operator class for access method \"btree\"" },
	{ "alter table t alter c type date using true", "ERROR 42804: result of USING clause for column "
							"\"c\" cannot be cast automatically to type date" },
	{ "alter table t alter c type date using 'abc'",
	    "ERROR 22007: invalid input syntax for type date: \"abc\"" },
	{ "alter table t alter c type date using nope", "ERROR 42703: column \"nope\" does not exist" },
	{ "alter table t alter nope type int",
	    "ERROR 42703: column \"nope\" of relation \"t\" does not exist" },
	{ "alter table t alter c type text using max(a)",
	    "ERROR 42803: aggregate functions are not allowed in transform expressions" },
	{ "alter table t alter c type text using (select 'x')",
	    "ERROR 0A000: cannot use subquery in transform expression" },
	{ "alter table t alter c type text using row_number() over ()",
	    "ERROR 42P20: window functions are not allowed in transform expressions" },
	{ "alter table t alter c type text, alter c type int",
	    "ERROR 42804: column \"c\" cannot be cast automatically to type integer" },
	{ "alter table t alter c type int using t.a, drop d", "ERROR 22003: integer out of range" },
	{ "alter table t alter c type bigint using t.a, drop d", "ALTER TABLE" },
	{ "select * from t order by a", "1|20.000|1;2|~|2;3|9.000|3;5000000000|1.235|5000000000; SELECT 4" },
	/* checks are asked of the new values, and must make sense */
	{ "create table k (x int primary key check (x > 0), y int check (y > 0)); insert into k values (1, "
	  "1)",
	    "CREATE TABLE INSERT 0 1" },
	{ "alter table k alter y type numeric using -y",
	    "ERROR 23514: check constraint \"k_y_check\" of relation \"k\" is violated by some row" },
	{ "alter table k alter x type numeric", "ALTER TABLE" },
	{ "insert into k values (1.0, 2)",
	    "ERROR 23505: duplicate key value violates unique constraint \"k_pkey\"" },
	{ "alter table k alter x type bool using true",
	    "ERROR 42883: operator does not exist: boolean > integer" },
	{ "alter table k alter y set not null, alter y type int using null",
	    "ERROR 23502: column \"y\" of relation \"k\" contains null values" },
	{ "create table g (i int generated always as identity, j serial); insert into g default values",
	    "CREATE TABLE INSERT 0 1" },
	{ "alter table g alter i type text",
	    "ERROR 22023: identity column type must be smallint, integer, or bigint" },
	{ "alter table g alter i type bigint, alter j type smallint; insert into g default values returning "
	  "*",
	    "ALTER TABLE2|2; INSERT 0 1" },
};

/* Columns come and go, the rows stay where they are: the table keeps its number. */
#define STAYS "select count(*) from was join nam_tables n using (id)", "1; SELECT 1"
static const struct golden stays[] = {
	{ "create table t (a int primary key, b text, c bool); insert into t values (1, 'one', true), (2, "
	  "repeat('two', 1000), "
	  "null), (3, null, false); create table was as select id from nam_tables where name = 't'",
	    "CREATE TABLE INSERT 0 3 SELECT 1" },
	{ "alter table t add d int default 4", "ALTER TABLE" },
	{ STAYS },
	{ "insert into t values (4, 'four', true, 44), (5, 'five', null, null); update t set c = true where "
	  "a = 3",
	    "INSERT 0 2 UPDATE 1" },
	{ "select a, length(b), c, d from t order by a",
	    "1|3|t|4;2|3000|~|4;3|~|t|4;4|4|t|44;5|4|~|~; SELECT 5" },
	{ "alter table t alter d set default 7; insert into t (a) values (6)", "ALTER TABLE INSERT 0 1" },
	{ "select d from t where a in (1, 4, 5, 6) order by a", "4;44;~;7; SELECT 4" },
	{ "alter table t drop b", "ALTER TABLE" },
	{ STAYS },
	{ "select * from t order by a", "1|t|4;2|~|4;3|t|4;4|t|44;5|~|~;6|~|7; SELECT 6" },
	{ "insert into t values (7, false, 77), (2, false, 1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "update t set d = d + 1 where a < 3 returning *", "1|t|5;2|~|5; UPDATE 2" },
	{ "delete from t where a = 2; insert into t values (2, true, 22)", "DELETE 1 INSERT 0 1" },
	{ "alter table t add b bool default false", "ALTER TABLE" },
	{ STAYS },
	{ "select * from t order by a", "1|t|5|f;2|t|22|f;3|t|4|f;4|t|44|f;5|~|~|f;6|~|7|f; SELECT 6" },
	{ "update t set b = null where a = 1; update t set b = true where a = 6; select a, b from t where b "
	  "is not false order by a",
	    "UPDATE 1 UPDATE 11|~;6|t; SELECT 2" },
	{ "create table k as select * from t", "SELECT 6" },
	{ "analyze t; select count(*), count(b), count(d) from t", "ANALYZE6|5|5; SELECT 1" },
	{ "begin; alter table t drop c, add e text default 'e'; insert into t values (8, 1, true, 'x'); "
	  "select count(*), "
	  "min(e), max(e) from t; rollback",
	    "BEGIN ALTER TABLE INSERT 0 17|e|x; SELECT 1 ROLLBACK" },
	{ STAYS },
	{ "select * from t where a = 4", "4|t|44|f; SELECT 1" },
	/* a default that is not the same for all, or another type: then they move */
	{ "alter table t alter d type bigint", "ALTER TABLE" },
	{ "select count(*) from was join nam_tables n using (id)", "0; SELECT 1" },
	{ "select * from t order by a", "1|t|5|~;2|t|22|f;3|t|4|f;4|t|44|f;5|~|~|f;6|~|7|t; SELECT 6" },
	/* long values among the new columns, and in rows whose columns are gone */
	{ "create table l (a int primary key, b text, c text); insert into l select g, repeat('b', g * 100), "
	  "repeat('c', g * "
	  "50) from generate_series(1, 60) g",
	    "CREATE TABLE INSERT 0 60" },
	{ "truncate was; insert into was select id from nam_tables where name = 'l'",
	    "TRUNCATE TABLE INSERT 0 1" },
	{ "alter table l drop b; alter table l add d text default 'dd'; update l set d = repeat('d', a * "
	  "100) where a > 30",
	    "ALTER TABLE ALTER TABLE UPDATE 30" },
	{ STAYS },
	{ "select count(*), sum(length(c)), sum(length(d)), min(length(d)) from l",
	    "60|91500|136560|2; SELECT 1" },
	{ "delete from l where a % 2 = 0; alter table l drop c; insert into l select g, 'new' from "
	  "generate_series(2, 60, 2) "
	  "g; select count(*), sum(length(d)) from l",
	    "DELETE 30 ALTER TABLE INSERT 0 3060|67620; SELECT 1" },
	{ "select d from l where a = 7", "dd; SELECT 1" },
	/* eight columns: the bitmap is full */
	{ "create table e (a int, b int, c int, d int, e int, f int, g int, h int); insert into e values (1, "
	  "null, 3, 4, 5, 6, "
	  "7, null)",
	    "CREATE TABLE INSERT 0 1" },
	{ "alter table e add i bool; insert into e values (1, 2, 3, 4, 5, 6, 7, 8, true); alter table e drop "
	  "a, add j bool "
	  "default true; select * from e order by b",
	    "ALTER TABLE INSERT 0 1 ALTER TABLE2|3|4|5|6|7|8|t|t;~|3|4|5|6|7|~|~|t; SELECT 2" },
	/* arrays */
	{ "create table y (a int primary key, b text); insert into y values (1, 'x'); alter table y add c "
	  "int[] default "
	  "'{1,2}', add d text[]; insert into y values (2, 'y', '{3}', '{a,b}'); alter table y drop b; "
	  "select * from y order "
	  "by a",
	    "CREATE TABLE INSERT 0 1 ALTER TABLE INSERT 0 1 ALTER TABLE1|{1,2}|~;2|{3}|{a,b}; SELECT 2" },
	/* no room any more, at some time */
	{ "create table n (a int primary key, b int); insert into n values (0, 0)",
	    "CREATE TABLE INSERT 0 1" },
	{ "alter table n add c1 int default 1; insert into n (a) values (1); alter table n add c2 int "
	  "default 2; insert into n "
	  "(a) values (2); alter table n add c3 int default 3; insert into n (a) values (3); alter table n "
	  "add c4 text "
	  "default 'four'; insert into n (a) values (4); alter table n drop c1, add c5 numeric default 5.50",
	    "ALTER TABLE INSERT 0 1 ALTER TABLE INSERT 0 1 ALTER TABLE INSERT 0 1 ALTER TABLE INSERT 0 1 "
	    "ALTER TABLE" },
	{ "select * from n order by a", "0|0|2|3|four|5.50;1|~|2|3|four|5.50;2|~|2|3|four|5.50;3|~|2|3|four|"
					"5.50;4|~|2|3|four|5.50; SELECT 5" },
	{ "alter table n drop b, drop c2, drop c3, drop c4; alter table n add b int; select * from n where a "
	  "= 3",
	    "ALTER TABLE ALTER TABLE3|5.50|~; SELECT 1" },
};

static const struct golden keys[] = {
	{ "create table t (a int, b text, c int); insert into t values (1, 'x', null), (2, 'y', 1), (2, 'z', "
	  "1)",
	    "CREATE TABLE INSERT 0 3" },
	{ "alter table t add primary key (a)", "ERROR 23505: could not create unique index \"t_pkey\"" },
	{ "alter table t add primary key (b, c)",
	    "ERROR 23502: column \"c\" of relation \"t\" contains null values" },
	{ "alter table t add primary key (a, nope)",
	    "ERROR 42703: column \"nope\" of relation \"t\" does not exist" },
	{ "alter table t add primary key (a, b)", "ALTER TABLE" },
	{ "insert into t values (2, 'z', 5)",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "insert into t values (2, null, 5)",
	    "ERROR 23502: null value in column \"b\" of relation \"t\" violates not-null constraint" },
	{ "insert into t values (2, 'z', 5) on conflict (a, b) do update set c = excluded.c returning *",
	    "2|z|5; INSERT 0 1" },
	{ "alter table t add constraint other primary key (c)",
	    "ERROR 42P16: multiple primary keys for table \"t\" are not allowed" },
	{ "alter table t drop constraint t_pkey, add constraint other primary key (b)", "ALTER TABLE" },
	{ "insert into t values (7, 'z', 5)",
	    "ERROR 23505: duplicate key value violates unique constraint \"other\"" },
	{ "alter table t drop constraint other", "ALTER TABLE" },
	{ "insert into t values (7, 'z', 5); select count(*) from t where b = 'z'", "INSERT 0 12; SELECT 1" },
	{ "insert into t values (null, null)",
	    "ERROR 23502: null value in column \"a\" of relation \"t\" violates not-null constraint" },
	{ "alter table t add id bigserial primary key", "ALTER TABLE" },
	{ "select count(distinct id) from t where id between 1 and 4", "4; SELECT 1" },
	{ "create table e (a int); insert into e values (1)", "CREATE TABLE INSERT 0 1" },
	{ "alter table e add p int primary key",
	    "ERROR 23502: column \"p\" of relation \"e\" contains null values" },
	{ "alter table e add p int primary key default 3", "ALTER TABLE" },
	{ "select * from e where p = 3", "1|3; SELECT 1" },
};

static const struct golden in_transactions[] = {
	{ "create table r (a int primary key, b text); insert into r values (2, '2')",
	    "CREATE TABLE INSERT 0 1" },
	{ "begin isolation level repeatable read; select * from r; alter table r add c int default 1; insert "
	  "into r values (5, "
	  "'five', 2); commit; select * from r order by a",
	    "BEGIN2|2; SELECT 1 ALTER TABLE INSERT 0 1 COMMIT2|2|1;5|five|2; SELECT 2" },
	{ "begin isolation level serializable; alter table r add d int default 3; select sum(d) from r; "
	  "commit",
	    "BEGIN ALTER TABLE6; SELECT 1 COMMIT" },
	{ "create table t (a int primary key, b int); insert into t values (1, 1), (2, 2)",
	    "CREATE TABLE INSERT 0 2" },
	{ "begin; insert into t values (3, 3); alter table t add c int default 9; update t set c = 8 where a "
	  "= 3; insert into "
	  "t values (4, 4, 4); select * from t order by a",
	    "BEGIN INSERT 0 1 ALTER TABLE UPDATE 1 INSERT 0 11|1|9;2|2|9;3|3|8;4|4|4; SELECT 4" },
	{ "alter table t drop b; select * from t order by a", "ALTER TABLE1|9;2|9;3|8;4|4; SELECT 4" },
	{ "rollback; select * from t order by a", "ROLLBACK1|1;2|2; SELECT 2" },
	{ "begin; alter table t add c text default 'c'; alter table t alter b type text; delete from t where "
	  "a = 1; commit",
	    "BEGIN ALTER TABLE ALTER TABLE DELETE 1 COMMIT" },
	{ "select b || c from t", "2c; SELECT 1" },
	{ "prepare p as select * from t where a = 2; execute p", "PREPARE2|2|c; SELECT 1" },
	{ "alter table t drop c; select * from t where a = 2", "ALTER TABLE2|2; SELECT 1" },
};

#define GOLDEN(name, of)                                                                                     \
	static void name(void **state)                                                                       \
	{                                                                                                    \
		(void)state;                                                                                 \
		golden_all(of);                                                                              \
	}
GOLDEN(test_added, added)
GOLDEN(test_dropped, dropped)
GOLDEN(test_typed, typed)
GOLDEN(test_stays, stays)
GOLDEN(test_keys, keys)
GOLDEN(test_in_transactions, in_transactions)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_in_transactions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
