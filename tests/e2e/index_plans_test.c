/*
 * index_plans_test.c -- plans that go by an index: what EXPLAIN says of them, and that their
 * answers are those of a table without one.
 */
#include "golden.h"
#include "later.h"

#include <base/rng.h>

static const struct golden plans[] = {
	{ "create table t (id int primary key, a int, b text, c numeric, d int not null)", "CREATE TABLE" },
	{ "insert into t select i, i % 500, 'b' || i % 7, i / 4.0, i / 2 from generate_series(1, 4000) i",
	    "INSERT 0 4000" },
	{ "create index t_a on t (a)", "CREATE INDEX" },
	{ "create index t_d on t (d desc, a)", "CREATE INDEX" },
	{ "create index t_b on t (b, a)", "CREATE INDEX" },
	{ "analyze t", "ANALYZE" },
	/* ranges */
	{ "explain (costs off) select id from t where a >= 7 and a < 9",
	    "Project;  -> Index Scan using t_a on t;       Index Cond: ((a >= 7) AND (a < 9)); EXPLAIN" },
	{ "select count(*) from t where a >= 7 and a < 9", "16; SELECT 1" },
	{ "explain (costs off) select count(*) from t where a between 7 and 8",
	    "Project;  -> Aggregate;    -> Index Only Scan using t_a on t;         Index Cond: ((a >= 7) AND "
	    "(a <= 8)); "
	    "EXPLAIN" },
	{ "select count(*) from t where a between 7 and 8", "16; SELECT 1" },
	{ "explain (costs off) select id from t where a in (3, 4, 3)",
	    "Project;  -> Index Scan using t_a on t;       Index Cond: (a = ANY ('{3,4,3}'::integer[])); "
	    "EXPLAIN" },
	{ "select count(*) from t where a in (3, 4, 3)", "16; SELECT 1" },
	{ "select count(*) from t where a = any (array[3, null, 4])", "16; SELECT 1" },
	{ "explain (costs off) select id from t where a = 3 or a = 4 or a between 7 and 8",
	    "Project;  -> Index Scan using t_a on t;       Index Cond: ((a = 3) OR (a = 4) OR ((a >= 7) "
	    "AND (a <= 8)));       Filter: ((a = 3) OR (a = 4) OR ((a >= 7) AND (a <= 8))); EXPLAIN" },
	{ "select count(*) from t where a = 3 or a = 4 or a between 4 and 8", "48; SELECT 1" },
	{ "explain (costs off) select id from t where a is null",
	    "Project;  -> Index Scan using t_a on t;       Index Cond: (a IS NULL); EXPLAIN" },
	{ "select count(*) from t where a is null", "0; SELECT 1" },
	{ "explain (costs off) select id from t where b = 'b3' and a between 3 and 4",
	    "Project;  -> Index Scan using t_b on t;       Index Cond: ((b = 'b3'::text) AND (a >= 3) AND "
	    "(a <= 4));       Filter: ((b = 'b3'::text) AND (a >= 3) AND (a <= 4)); EXPLAIN" },
	{ "select count(*) from t where b = 'b3' and a between 3 and 4", "3; SELECT 1" },
	{ "select count(*) from t where b like 'b3%' and a = 3", "2; SELECT 1" },
	/* order */
	{ "explain (costs off) select a from t order by a limit 3",
	    "Limit;  -> Project;    -> Index Only Scan using t_a on t; EXPLAIN" },
	{ "select a from t order by a limit 3", "0;0;0; SELECT 3" },
	{ "explain (costs off) select a from t order by a desc nulls first limit 3",
	    "Limit;  -> Project;    -> Index Only Scan Backward using t_a on t; EXPLAIN" },
	{ "select a from t order by a desc nulls first limit 3", "499;499;499; SELECT 3" },
	{ "explain (costs off) select id from t order by a desc nulls first limit 3",
	    "Limit;  -> Project;    -> Index Scan Backward using t_a on t; EXPLAIN" },
	{ "explain (costs off) select a from t order by a nulls first limit 3",
	    "Limit;  -> Top-N Sort;       Sort Key: a NULLS FIRST;    -> Project;      -> Seq Scan on t; "
	    "EXPLAIN" },
	{ "explain (costs off) select d, a from t where d < 1000 order by d desc, a limit 2",
	    "Limit;  -> Project;    -> Index Only Scan using t_d on t;         Index Cond: (d < 1000); "
	    "EXPLAIN" },
	{ "select d, a from t where d < 1000 order by d desc, a limit 2", "999|498;999|499; SELECT 2" },
	{ "select d, a from t where d < 1000 order by d, a desc limit 3", "0|1;1|3;1|2; SELECT 3" },
	{ "explain (costs off) select max(a) from t",
	    "Project;  -> Aggregate;    -> Limit;      -> Index Only Scan Backward using t_a on t;           "
	    "Index Cond: (a IS NOT "
	    "NULL); EXPLAIN" },
	{ "select max(a) from t", "499; SELECT 1" },
	{ "select min(a) from t where a > 17", "18; SELECT 1" },
	{ "select min(a), max(a) from t", "0|499; SELECT 1" },
	{ "select max(d) from t where d < 77", "76; SELECT 1" },
	{ "select max(a) from t where a > 1000", "~; SELECT 1" },
	/* unselective */
	{ "explain (costs off) select id from t where a > 7",
	    "Project;  -> Seq Scan on t;       Filter: (a > 7); EXPLAIN" },
	/* rows out of keys */
	{ "explain (costs off) select d, a from t where d = 1010 and a > 3",
	    "Project;  -> Index Only Scan using t_d on t;       Index Cond: ((d = 1010) AND (a > 3)); "
	    "EXPLAIN" },
	{ "select d, a from t where d = 1010 and a > 3", "1010|20;1010|21; SELECT 2" },
	{ "select d, a from t where d = 1010 and a > 3", "1010|20;1010|21; SELECT 2" },
	{ "explain (costs off) select b, a from t where b = 'b3' and a < 30",
	    "Project;  -> Index Only Scan using t_b on t;       Index Cond: ((b = 'b3'::text) AND (a < "
	    "30));       Filter: ((b = 'b3'::text) AND (a < 30)); EXPLAIN" },
	{ "select b, a from t where b = 'b3' and a < 5 order by a",
	    "b3|0;b3|0;b3|1;b3|2;b3|3;b3|3;b3|4; SELECT 7" },
	{ "explain (costs off) select a from t where a = 7 for update",
	    "LockRows;  -> Project;    -> Index Scan using t_a on t;         Index Cond: (a = 7); EXPLAIN" },
	/* changes */
	{ "update t set a = a + 1 where a >= 498", "UPDATE 16" },
	{ "select count(*), max(a) from t where a >= 498", "16|500; SELECT 1" },
	{ "delete from t where d between 10 and 19", "DELETE 20" },
	{ "select count(*) from t where d between 9 and 20", "4; SELECT 1" },
	/* joins */
	{ "create table s (k int primary key, x int)", "CREATE TABLE" },
	{ "insert into s select i, i * 3 from generate_series(1, 20) i", "INSERT 0 20" },
	{ "analyze s", "ANALYZE" },
	{ "explain (costs off) select s.k, t.id from s join t on t.a = s.x",
	    "Project;  -> Index Lookup using t_a on t;       Index Cond: (t.a = s.x);    -> Seq Scan on s; "
	    "EXPLAIN" },
	{ "select count(*), sum(t.id) from s join t on t.a = s.x", "153|284830; SELECT 1" },
	{ "explain (costs off) select s.k, t.id from s left join t on t.a = s.x * 10",
	    "Project;  -> Left Index Lookup using t_a on t;       Index Cond: (t.a = (s.x * 10));    -> Seq "
	    "Scan "
	    "on s; EXPLAIN" },
	{ "select count(*), count(t.id) from s left join t on t.a = s.x * 10", "131|127; SELECT 1" },
	{ "select id from t where a = 42 order by id for update skip locked",
	    "42;542;1042;1542;2042;2542;3042;3542; SELECT 8" },
};

/* comparisons of rows */
static const struct golden rows_compared[] = {
	{ "create table r (id int primary key, a int, k int, n bigint, u text collate \"C\")",
	    "CREATE TABLE" },
	{ "insert into r select i, case when i % 20 > 0 then i / 2 end, i % 7, i / 4, 'u' || i % 100 from "
	  "generate_series(1, 4000) i",
	    "INSERT 0 4000" },
	{ "create index r_a on r (a desc)", "CREATE INDEX" },
	{ "create index r_n on r (n, k)", "CREATE INDEX" },
	{ "create index r_u on r (u, id)", "CREATE INDEX" },
	{ "analyze r", "ANALYZE" },
	{ "explain (costs off) select id from r where (a, id) < (7, 15)",
	    "Project;  -> Index Scan using r_a on r;       Index Cond: (a <= 7);       Filter: ((a < 7) OR "
	    "((a = 7) AND (id < 15))); EXPLAIN" },
	{ "select id from r where (a, id) < (7, 15) order by id",
	    "1;2;3;4;5;6;7;8;9;10;11;12;13;14; SELECT 14" },
	{ "select count(*) from r where (a, id) <= (7, 15)", "15; SELECT 1" },
	{ "explain (costs off) select id from r where (a, id) > (1990, 3981)",
	    "Project;  -> Index Scan using r_a on r;       Index Cond: (a >= 1990);       Filter: ((a > "
	    "1990) OR ((a = 1990) AND (id > 3981))); EXPLAIN" },
	{ "select count(*), min(id) from r where (a, id) > (1990, 3981)", "18|3982; SELECT 1" },
	{ "select count(*), min(id) from r where (1990, 3981) <= (a, id)", "19|3981; SELECT 1" },
	{ "select count(*) from r where (a, id) < (7, null)", "13; SELECT 1" },
	{ "select count(*) from r where (a, id) < (null, 7)", "0; SELECT 1" },
	{ "explain (costs off) select id from r where (n, k, id) >= (990, 3, 3969) and (n, k) < "
	  "(993::smallint, 4)",
	    "Project;  -> Index Scan using r_n on r;       Index Cond: ((n >= 990) AND (n <= "
	    "'993'::smallint));       Filter: (((n < '993'::smallint) OR ((n = '993'::smallint) AND (k < "
	    "4))) AND ((n > 990) OR ((n = 990) AND ((k > 3) OR ((k = 3) AND (id >= 3969)))))); EXPLAIN" },
	{ "select id from r where (n, k, id) >= (990, 3, 3969) and (n, k) < (993::smallint, 4) order by id",
	    "3960;3961;3964;3965;3966;3967;3968;3969;3970;3971;3972; SELECT 11" },
	{ "explain (costs off) select n, k from r where (n, k) = (990, 5)",
	    "Project;  -> Index Only Scan using r_n on r;       Index Cond: ((n = 990) AND (k = 5)); "
	    "EXPLAIN" },
	{ "select n, k from r where (n, k) = (990, 5)", "990|5; SELECT 1" },
	{ "explain (costs off) select id from r where (u, id) > ('u99', 3000)",
	    "Project;  -> Index Only Scan using r_u on r;       Index Cond: ((u > 'u99'::text) OR ((u = "
	    "'u99'::text) AND (id > 3000)));       Filter: ((u >= 'u99'::text) AND ((u > 'u99'::text) OR ((u "
	    "= 'u99'::text) AND (id > 3000)))); EXPLAIN" },
	{ "select id from r where (u, id) > ('u99', 3000) order by id",
	    "3099;3199;3299;3399;3499;3599;3699;3799;3899;3999; SELECT 10" },
	{ "prepare below (int, int) as select id from r where (a, id) < ($1, $2) and a > $1 - 3 order by a, "
	  "id",
	    "PREPARE" },
	{ "execute below (9, 18)", "14;15;16;17; SELECT 4" },
	{ "execute below (null, 18)", "SELECT 0" },
	{ "prepare untyped as select count(*) from r where (n, a) <= ($1, $2)", "PREPARE" },
	{ "execute untyped (7, 14)", "29; SELECT 1" },
	{ "select count(*) from r x join r y on (x.a, x.id) < (y.a, y.id) and y.id < 30", "378; SELECT 1" },
};

/* several ends of indexes */
static const struct golden ends[] = {
	{ "create table e (id int primary key, a int, k int not null, t text, d date)", "CREATE TABLE" },
	{ "create index e_a on e (a)", "CREATE INDEX" },
	{ "create index e_d on e (d, a)", "CREATE INDEX" },
	{ "create index e_k on e (k desc)", "CREATE INDEX" },
	{ "select min(a), max(a), min(d), max(k) from e", "~|~|~|~; SELECT 1" },
	{ "insert into e select i, nullif(i % 100, 0), i / 7, 't' || i, date '2024-01-01' + i % 50 from "
	  "generate_series(1, 4000) i",
	    "INSERT 0 4000" },
	{ "analyze e", "ANALYZE" },
	{ "explain (costs off) select min(a), max(a) from e",
	    "Project;  -> Aggregate;    -> Append;      -> Limit;        -> Index Only Scan using e_a on e;  "
	    "           Index Cond: (e.a IS NOT NULL);      -> Limit;        -> Index Only Scan Backward "
	    "using e_a on e e_1;             Index Cond: (e_1.a IS NOT NULL); EXPLAIN" },
	{ "select min(a), max(a) from e", "1|99; SELECT 1" },
	{ "select max(a) - min(a), min(a) + 1, max(a), min(id % 7) from e", "98|2|99|0; SELECT 1" },
	{ "explain (costs off) select max(k), min(k), min(a) from e",
	    "Project;  -> Aggregate;    -> Append;      -> Limit;        -> Index Scan using e_k on e;       "
	    "      Index Cond: (e.k IS NOT NULL);      -> Limit;        -> Index Scan Backward using e_k on "
	    "e e_1;             Index Cond: (e_1.k IS NOT NULL);      -> Limit;        -> Index Scan using "
	    "e_a on e e_2;             Index Cond: (e_2.a IS NOT NULL); EXPLAIN" },
	{ "select max(k), min(k), min(a) from e", "571|0|1; SELECT 1" },
	{ "explain (costs off) select min(a), max(a) from e where a between 40 and 43",
	    "Project;  -> Aggregate;    -> Append;      -> Limit;        -> Index Only Scan using e_a on e;  "
	    "           Index Cond: ((e.a >= 40) AND (e.a <= 43));      -> Limit;        -> Index Only Scan "
	    "Backward using e_a on e e_1;             Index Cond: ((e_1.a >= 40) AND (e_1.a <= 43)); "
	    "EXPLAIN" },
	{ "select min(a), max(a) from e where a between 40 and 43", "40|43; SELECT 1" },
	{ "select min(a), max(a) from e where a > 1000", "~|~; SELECT 1" },
	{ "select min(a), max(k) from e where a is null", "~|571; SELECT 1" },
	{ "select min(a), max(a) from e where d = '2024-01-08'", "7|57; SELECT 1" },
	{ "select min(a), max(d) from e having max(a) > 1000", "SELECT 0" },
	{ "select min(a), max(a) from e having min(a) < 1000 order by max(a)", "1|99; SELECT 1" },
	{ "explain (costs off) select min(a), max(a), count(*) from e",
	    "Project;  -> Aggregate;    -> Seq Scan on e; EXPLAIN" },
	{ "select min(a), max(a), count(*) from e", "1|99|4000; SELECT 1" },
	{ "explain (costs off) select min(a), max(id) from e",
	    "Project;  -> Aggregate;    -> Seq Scan on e; EXPLAIN" },
	{ "select min(a), max(id) from e", "1|4000; SELECT 1" },
	{ "select min(a), max(a) from e where exists (select from e x where x.id = e.k)", "1|99; SELECT 1" },
	{ "select x.id, (select max(a) - min(a) from e where e.d = date '2024-01-01' + x.id) from e x where "
	  "x.id < 3",
	    "1|50;2|50; SELECT 2" },
	{ "select min(a) filter (where k > 3), max(a) from e", "1|99; SELECT 1" },
	{ "prepare ends (int) as select min(a), max(a), max(k) from e where a < $1", "PREPARE" },
	{ "execute ends (50)", "1|49|564; SELECT 1" },
	{ "execute ends (null)", "~|~|~; SELECT 1" },
	{ "begin", "BEGIN" },
	{ "delete from e where a in (1, 99)", "DELETE 80" },
	{ "insert into e values (0, 7777, 1)", "INSERT 0 1" },
	{ "select min(a), max(a) from e", "2|7777; SELECT 1" },
	{ "rollback", "ROLLBACK" },
	{ "select min(a), max(a) from e", "1|99; SELECT 1" },
};

/* the order of an index is the order of the first columns alone */
static const struct golden first_columns[] = {
	{ "create table i (id int primary key, a int, k int not null, t text, f float8)", "CREATE TABLE" },
	{ "insert into i select n, case when n % 50 > 0 then n / 40 end, n % 40, 't' || n % 500, case n % 9 "
	  "when 0 then 'NaN' when 1 then '-0' else n / 100.0::float8 end from generate_series(1, 40000) n",
	    "INSERT 0 40000" },
	{ "create index i_a on i (a desc nulls last)", "CREATE INDEX" },
	{ "create index i_t on i (t, k)", "CREATE INDEX" },
	{ "create index i_f on i (f)", "CREATE INDEX" },
	{ "create index i_k on i (k)", "CREATE INDEX" },
	{ "analyze i", "ANALYZE" },
	{ "explain (costs off) select id from i order by a desc nulls last, id desc limit 3",
	    "Limit;  -> Incremental Sort;       Sort Key: a DESC NULLS LAST, id DESC;       Presorted Key: a "
	    "DESC NULLS LAST;    -> Project;      -> Index Scan using i_a on i; EXPLAIN" },
	{ "select id from i order by a desc nulls last, id desc limit 3", "39999;39998;39997; SELECT 3" },
	{ "select id from i order by a nulls first, id limit 4", "50;100;150;200; SELECT 4" },
	{ "select id from i order by a, id limit 3 offset 37", "38;39;40; SELECT 3" },
	{ "explain (costs off) select id from i order by a desc, id limit 3",
	    "Limit;  -> Top-N Sort;       Sort Key: a DESC, id;    -> Project;      -> Seq Scan on i; "
	    "EXPLAIN" },
	{ "select id from i order by a desc, id limit 3", "50;100;150; SELECT 3" },
	{ "explain (costs off) select id from i where (a, id) < (500, 20013) order by a desc, id desc limit "
	  "3",
	    "Limit;  -> Incremental Sort;       Sort Key: a DESC, id DESC;       Presorted Key: a DESC;    "
	    "-> Project;      -> Index Scan using i_a on i;           Index Cond: (a <= 500);           "
	    "Filter: ((a < 500) OR ((a = 500) AND (id < 20013))); EXPLAIN" },
	{ "select id from i where (a, id) < (500, 20013) order by a desc, id desc limit 3",
	    "20012;20011;20010; SELECT 3" },
	{ "select count(*), sum(id) from (select id from i where a > 990 order by a, id desc limit 1000) s",
	    "353|14056420; SELECT 1" },
	{ "select id from i where a is null order by a, id limit 3", "50;100;150; SELECT 3" },
	{ "explain (costs off) select id from i order by t, k, id desc limit 2",
	    "Limit;  -> Top-N Sort;       Sort Key: t, k, id DESC;    -> Project;      -> Seq Scan on i; "
	    "EXPLAIN" },
	{ "select id from i order by t, k, id desc limit 2", "40000;39000; SELECT 2" },
	{ "select id, t from i order by t desc, id limit 3", "99|t99;599|t99;1099|t99; SELECT 3" },
	{ "select id, f from i order by f desc, id limit 2", "9|NaN;18|NaN; SELECT 2" },
	{ "select id, f from i where f <= 0 order by f, id limit 3", "1|-0;10|-0;19|-0; SELECT 3" },
	{ "explain (costs off) select id from i order by k, id limit 2",
	    "Limit;  -> Top-N Sort;       Sort Key: k, id;    -> Project;      -> Seq Scan on i; EXPLAIN" },
	{ "select id from i order by k, id limit 2", "40;80; SELECT 2" },
	{ "select id from i order by a, id limit 0", "SELECT 0" },
	{ "prepare page (int, int) as select id from i where (a, id) > ($1, $2) order by a, id limit 3",
	    "PREPARE" },
	{ "execute page (7, 310)", "311;312;313; SELECT 3" },
	{ "execute page (null, 310)", "SELECT 0" },
	{ "execute page (999, 39998)", "39999; SELECT 1" },
	/* a limit that a parameter gives is taken for that of a page */
	{ "prepare first_ones (int) as select id from i order by a desc nulls last, id desc limit $1",
	    "PREPARE" },
	{ "explain (costs off) execute first_ones (3)",
	    "Limit;  -> Incremental Sort;       Sort Key: a DESC NULLS LAST, id DESC;       Presorted Key: a "
	    "DESC NULLS LAST;    -> Project;      -> Index Scan using i_a on i; EXPLAIN" },
	{ "execute first_ones (3)", "39999;39998;39997; SELECT 3" },
	{ "execute first_ones (0)", "SELECT 0" },
	{ "select id from i order by a, id desc fetch first 1 row with ties", "39; SELECT 1" },
	{ "begin", "BEGIN" },
	{ "select id from i order by a, id desc limit 1 for update", "39; SELECT 1" },
	{ "insert into i values (0, -1, 5), (50001, -1, 6)", "INSERT 0 2" },
	{ "select id from i order by a, id desc limit 3", "50001;0;39; SELECT 3" },
	{ "delete from i where a < 500", "DELETE 19602" },
	{ "select id from i order by a, id desc limit 3", "20039;20038;20037; SELECT 3" },
	{ "rollback", "ROLLBACK" },
	{ "select id from i order by a, id desc limit 2", "39;38; SELECT 2" },
};

/* a scalar subquery that few rows ask, or all */
static const struct golden few_ask[] = {
	{ "create table c (id int primary key, x int)", "CREATE TABLE" },
	{ "insert into c select i, i % 10000 from generate_series(1, 20000) i", "INSERT 0 20000" },
	{ "create table o (id int primary key, cust int, created int)", "CREATE TABLE" },
	{ "insert into o select i, i % 20000 + 1, i * 7919::bigint % 60000 from generate_series(1, 60000) i",
	    "INSERT 0 60000" },
	{ "create index o_cust on o (cust)", "CREATE INDEX" },
	{ "create index o_created on o (created)", "CREATE INDEX" },
	{ "analyze c", "ANALYZE" },
	{ "analyze o", "ANALYZE" },
	{ "explain (costs off) select id, (select max(created) from o where o.cust = c.id) from c where x "
	  "between 500 and 519",
	    "Project;  -> Seq Scan on c;       Filter: ((c.x >= 500) AND (c.x <= 519));  SubPlan 1 (per row, "
	    "then hashed);    -> Project;      -> Aggregate;        -> Index Scan using o_cust on o;         "
	    "    Index Cond: (o.cust = (outer value 1));    -> Project;      -> Project;        -> "
	    "HashAggregate;             Group Key: o.cust;          -> Seq Scan on o; EXPLAIN" },
	{ "select count(*), sum(m) from (select (select max(created) from o where o.cust = c.id) m from c "
	  "where x between 500 and 519) s",
	    "40|1992460; SELECT 1" },
	{ "select count(*), sum(m) from (select (select max(created) from o where o.cust = c.id) m from c "
	  "where x < 400) s",
	    "800|39977200; SELECT 1" },
	{ "select count(*), sum(m) from (select (select max(created) from o where o.cust = c.id) m from c) s",
	    "20000|999990000; SELECT 1" },
};

static void
test_plans(void **state)
{
	(void)state;
	golden_all(plans);
}

static void
test_rows_compared(void **state)
{
	(void)state;
	golden_all(rows_compared);
}

static void
test_ends(void **state)
{
	(void)state;
	golden_all(ends);
}

static void
test_first_columns(void **state)
{
	(void)state;
	golden_all(first_columns);
}

static void
test_few_ask(void **state)
{
	(void)state;
	golden_all(few_ask);
}

/* ---- the same answers as without an index ---------------------------------------- */

enum { ROUNDS = 12, ASKED = 60, MAX = 2000 };

static const char *const column[] = { "a", "b", "c", "d", "e", "f", "g" };
enum { COLUMNS = sizeof column / sizeof *column };

static const char *const text[] = { "''", "'a'", "'ab'", "'abc'", "'abcd'", "'b'", "'ba'",
	"'a long text that is more than any key can hold, 48 bytes at most, or 64'",
	"'a long text that is more than any key can hold, 48 bytes at most, or 64!'",
	"'a long text that is more than any key can hold, other'", "'\xc3\xa4'", "'a b'" };

/* A value of column c, in SQL. */
static void
value(struct nam_rng *r, unsigned c, char *out, size_t max)
{
	unsigned n = (unsigned)nam_rng_below(r, 20);
	switch (c) {
	case 1:
		snprintf(out, max, "%s", text[nam_rng_below(r, sizeof text / sizeof *text)]);
		break;
	case 2:
		snprintf(out, max, "%d.%u", (int)n - 10, (unsigned)nam_rng_below(r, 3) * 5);
		break;
	case 4:
		snprintf(out, max, "'%s'", n < 5 ? "x" : n < 10 ? "x  " : n < 15 ? "xy" : "wz");
		break;
	case 5:
		snprintf(out, max, "date '2020-01-%02u'", n + 1);
		break;
	case 6:
		snprintf(out, max,
		    n == 0   ? "'NaN'::float8"
		    : n == 1 ? "'-Infinity'::float8"
			     : "%d.5::float8",
		    (int)n - 9);
		break;
	default:
		snprintf(out, max, "%d", (int)n - 5);
	}
}

/* A statement that grows; @ stands for the table. */
struct statement {
	char p[20000];
	size_t n;
};

static void
add(struct statement *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	s->n += (size_t)vsnprintf(s->p + s->n, sizeof s->p - s->n, fmt, ap);
	va_end(ap);
	assert_true(s->n < sizeof s->p);
}

static void
condition(struct nam_rng *r, struct statement *s, unsigned depth)
{
	static const char *const op[] = { "=", "=", "<", "<=", ">", ">=" };
	static const char *const like[] = { "a%", "ab%", "abc", "a_c%", "a long text%", "%b", "\\a%" };
	unsigned c = (unsigned)nam_rng_below(r, COLUMNS);
	char v[3][120];
	for (unsigned i = 0; i < 3; i++)
		value(r, c, v[i], sizeof v[i]);
	switch (nam_rng_below(r, depth < 2 ? 9 : 7)) {
	case 0:
		add(s, "%s between %s and %s", column[c], v[0], v[1]);
		break;
	case 1:
		add(s, "%s in (%s, %s, %s)", column[c], v[0], v[1], v[2]);
		break;
	case 2:
		add(s, "%s is %snull", column[c], nam_rng_below(r, 2) ? "not " : "");
		break;
	case 3:
		add(s, "b like '%s'", like[nam_rng_below(r, sizeof like / sizeof *like)]);
		break;
	case 7:
	case 8:
		add(s, "(");
		condition(r, s, depth + 1);
		add(s, nam_rng_below(r, 2) ? " and " : " or ");
		condition(r, s, depth + 1);
		add(s, ")");
		break;
	default:
		add(s, "%s %s %s", column[c], op[nam_rng_below(r, 6)], v[0]);
	}
}

/* Rows of v, and their partners. */
static void
join(struct nam_rng *r, struct statement *s)
{
	static const char *const on[] = { "x.a = v.p", "x.b = v.q", "x.a = v.p and x.c = v.p", "x.d = v.p",
		"x.d = v.p and x.a = v.p", "x.f = v.w", "x.e = v.q and x.f = v.w", "x.c = v.p and x.a = v.id",
		"x.a = v.big", "x.b = v.q and x.a = v.p and x.id > v.id" };
	const char *how = on[nam_rng_below(r, sizeof on / sizeof *on)];
	unsigned kind = (unsigned)nam_rng_below(r, 4);
	if (kind < 2)
		add(s, "select v.id, x.id from v %s join @ x on %s where v.id <= %u order by v.id, x.id",
		    kind ? "left" : "", how, (unsigned)nam_rng_below(r, 60));
	else
		add(s,
		    "select v.id from v where v.id <= %u and %s exists (select from @ x where %s) order by "
		    "v.id",
		    (unsigned)nam_rng_below(r, 60), kind == 2 ? "" : "not", how);
}

static void
query(struct nam_rng *r, struct statement *s)
{
	static const char *const how[] = { "", " desc", " nulls first", " desc nulls last" };
	unsigned x = (unsigned)nam_rng_below(r, COLUMNS), y = (unsigned)nam_rng_below(r, COLUMNS);
	const char *hx = how[nam_rng_below(r, 4)], *hy = how[nam_rng_below(r, 4)];
	unsigned limit = (unsigned)nam_rng_below(r, 30), skip = (unsigned)nam_rng_below(r, 5);
	unsigned kind = (unsigned)nam_rng_below(r, 8);
	s->n = 0;
	if (kind > 5) {
		join(r, s);
		return;
	}
	if (kind == 0)
		add(s, "select id");
	else if (kind == 1)
		add(s, "select %s, %s", column[x], column[y]);
	else if (kind == 2)
		add(s, "select %s from @ order by %s%s limit %u", column[x], column[x], hx, limit);
	else if (kind == 3 || kind == 4)
		add(s, "select %s(%s)", kind == 3 ? "min" : "max", column[x]);
	else
		add(s, "select count(*)");
	if (kind == 2)
		return;
	add(s, " from @ where ");
	condition(r, s, 0);
	if (nam_rng_below(r, 2)) {
		add(s, " and ");
		condition(r, s, 0);
	}
	if (kind == 0)
		add(s, " order by id");
	if (kind == 1)
		add(s, " order by %s%s, %s%s limit %u offset %u", column[x], hx, column[y], hy, limit, skip);
}

struct pair {
	struct test_client t;
	unsigned wrong, indexed, joined, only, all, any;
};

/* What a statement answers for a table. The caller frees it. */
static char *
answer(struct pair *p, const char *before, const struct statement *s, char table)
{
	struct statement q = { .n = 0 };
	add(&q, "%s%s", before, s->p);
	for (size_t i = 0; i < q.n; i++)
		if (q.p[i] == '@')
			q.p[i] = table;
	return strdup(ask(&p->t, q.p));
}

/* Asks it of both tables. */
static void
both(struct pair *p, const struct statement *s, bool explain)
{
	char *with = answer(p, "", s, 't'), *without = answer(p, "", s, 'u');
	bool same = strcmp(with, without) == 0 && strncmp(with, "ERROR", 5) != 0;
	if (explain || !same) {
		char *plan = answer(p, "explain (costs off) ", s, 't');
		p->indexed += explain && strstr(plan, "Index ") != NULL;
		p->joined += explain && strstr(plan, "Lookup using") != NULL;
		p->only += explain && strstr(plan, "Index Only") != NULL;
		p->all += explain && strstr(plan, "Index And Scan") != NULL;
		p->any += explain && strstr(plan, "Index Or Scan") != NULL;
		if (!same)
			fprintf(stderr, "%s\n  with an index %.500s\n  without       %.500s\n  %s\n", s->p,
			    with, without, plan);
		free(plan);
	}
	p->wrong += !same;
	free(with);
	free(without);
}

static void
row(struct nam_rng *r, struct statement *s, unsigned id)
{
	add(s, "(%u", id);
	for (unsigned c = 0; c < COLUMNS; c++) {
		char v[120];
		value(r, c, v, sizeof v);
		add(s, ", %s", nam_rng_below(r, 8) ? v : "null");
	}
	add(s, ")");
}

static void
change(struct pair *p, struct nam_rng *r)
{
	static unsigned next = 100000;
	struct statement s = { .n = 0 };
	unsigned c = (unsigned)nam_rng_below(r, COLUMNS);
	char v[120];
	value(r, c, v, sizeof v);
	switch (nam_rng_below(r, 3)) {
	case 0:
		add(&s, "update @ set %s = %s where id %% 7 = 3 and ", column[c], v);
		condition(r, &s, 1);
		break;
	case 1:
		add(&s, "delete from @ where id between %u and %u and ", next % 300, next % 300 + 20);
		condition(r, &s, 1);
		break;
	default:
		add(&s, "insert into @ values ");
		row(r, &s, next);
	}
	next++;
	both(p, &s, false);
}

static const char *const definition[] = { "create index on t (a)", "create index on t (b)",
	"create index on t (a desc, c)", "create index on t (c, a)",
	"create index on t (e, f desc nulls last)", "create index on t (f)",
	"create index on t (g nulls first)", "create index on t (d, a desc, f)",
	"create index on t (b desc, a)" };

static void
test_alike(void **state)
{
	(void)state;
	struct embedded e;
	struct pair p = { .wrong = 0 };
	struct nam_rng r;
	static struct statement q;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&p.t, &e, 0);
	nam_rng_init(&r, 20261124);
	ask(&p.t, "create table v (id int primary key, p int, q text, w date, big bigint)");
	for (unsigned i = 1; i <= 60; i++) {
		char v[3][120];
		static const unsigned of[] = { 0, 1, 5 };
		for (unsigned k = 0; k < 3; k++)
			value(&r, of[k], v[k], sizeof v[k]);
		q.n = 0;
		add(&q, "insert into v values (%u, %s, %s, %s, %s)", i, i % 9 ? v[0] : "null", v[1], v[2],
		    i % 5 ? "3" : "10000000000");
		assert_string_equal(ask(&p.t, q.p), "INSERT 0 1");
	}
	for (unsigned round = 0; round < ROUNDS && p.wrong == 0; round++) {
		unsigned n = round % 3 == 0 ? 30 : round % 3 == 1 ? 300 : MAX;
		ask(&p.t, "drop table if exists t, u");
		q.n = 0;
		add(&q,
		    "create table @ (id int primary key, a int, b text, c numeric, d smallint, e char(5), f "
		    "date, g float8)");
		both(&p, &q, false);
		for (unsigned i = 1; i <= n;) {
			q.n = 0;
			add(&q, "insert into @ values ");
			for (unsigned k = 0; k < 50 && i <= n; k++, i++) {
				add(&q, k ? ", " : "");
				row(&r, &q, i);
			}
			both(&p, &q, false);
		}
		for (unsigned i = 0; i < 4; i++)
			ask(&p.t, definition[nam_rng_below(&r, sizeof definition / sizeof *definition)]);
		if (round % 2)
			ask(&p.t, "analyze");
		for (unsigned i = 0; i < ASKED && p.wrong < 3; i++) {
			if (i == ASKED / 3)
				ask(&p.t, round % 4 < 2 ? "begin" : "begin isolation level serializable");
			if (nam_rng_below(&r, 4) == 0)
				change(&p, &r);
			query(&r, &q);
			both(&p, &q, true);
			if (i == 2 * ASKED / 3)
				ask(&p.t, round % 2 ? "commit" : "rollback");
		}
	}
	fprintf(stderr,
	    "by an index: %u of %u; joins among them: %u; out of keys: %u; by several: all %u, any %u\n",
	    p.indexed, ROUNDS * ASKED, p.joined, p.only, p.all, p.any);
	test_client_close(&p.t);
	embedded_close(&e);
	assert_int_equal(p.wrong, 0);
	assert_true(p.indexed > ROUNDS * ASKED / 5);
	assert_true(p.joined > ROUNDS * ASKED / 50);
	assert_true(p.only > ROUNDS * ASKED / 50 && p.all + p.any > ROUNDS);
}

/* ---- round trips --------------------------------------------------------------------- */

/* Of the operator by an index in the plan of q, when all is warm. */
static unsigned
trips(struct test_client *t, const char *q)
{
	struct statement s = { .n = 0 };
	add(&s, "explain (analyze, costs off, timing off, summary off) %s", q);
	ask(t, s.p);
	const char *plan = ask(t, s.p), *at = strstr(plan, "Index ");
	at = at != NULL ? strstr(at, "round trips=") : NULL;
	if (at == NULL)
		fprintf(stderr, "%s\n", plan);
	assert_non_null(at);
	return (unsigned)strtoul(at + strlen("round trips="), NULL, 10);
}

static void
test_trips(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	ask(&t, "create table t (id int primary key, a int, b int)");
	ask(&t, "insert into t select i, i / 2, i from generate_series(1, 4000) i");
	ask(&t, "create index on t (a)");
	ask(&t, "create index on t (b)");
	ask(&t, "create table s (k int primary key, x int)");
	ask(&t, "insert into s select i, i * 7 from generate_series(1, 100) i");
	ask(&t, "create table l (id int primary key, b text)");
	ask(&t, "insert into l select i, 'a key of many words ' || i from generate_series(1, 4000) i");
	ask(&t, "create index on l (b)");
	ask(&t, "analyze");
	/* a leaf, the blocks */
	assert_int_equal(trips(&t, "select id from t where a = 77"), 2);
	assert_int_equal(trips(&t, "select id from t where a in (77, 78, 1000)"), 2);
	assert_int_equal(trips(&t, "select max(b) from t"), 2);
	assert_int_equal(trips(&t, "select id from t order by b limit 5"), 2);
	/* leaves and blocks in growing steps */
	assert_in_range(trips(&t, "select id from t where b between 100 and 163"), 2, 8);
	/* 100 keys: their leaves with one doorbell, and their blocks */
	assert_int_equal(trips(&t, "select s.k, t.id from s join t on t.b = s.x"), 2);
	assert_int_equal(
	    trips(&t, "select s.k, x.id from s join l x on x.b = 'a key of many words ' || s.x"), 2);
	test_client_close(&t);
	embedded_close(&e);
}

/* ---- rows out of keys ----------------------------------------------------------------- */

/* A figure of the operator by an index in the plan of q, which is run; 0 = it is not there. */
static unsigned
figure(struct test_client *t, const char *q, const char *name)
{
	struct statement s = { .n = 0 };
	add(&s, "explain (analyze, costs off, timing off, summary off) %s", q);
	const char *plan = ask(t, s.p), *at = strstr(plan, "Index ");
	if (at != NULL)
		at = strstr(at, name);
	return at == NULL ? 0 : (unsigned)strtoul(at + strlen(name), NULL, 10);
}

/* What the next execution of q READs: rows, words, round trips, bytes. */
static void
reads(struct test_client *t, const char *q, unsigned out[4])
{
	struct statement s = { .n = 0 };
	static const char *const name[] = { " rows=", "words=", "round trips=", "bytes in=" };
	add(&s, "explain (analyze, costs off, timing off, summary off) %s", q);
	const char *plan = ask(t, s.p), *at = strstr(plan, "Index Only");
	if (at == NULL)
		fprintf(stderr, "%s\n", plan);
	assert_non_null(at);
	const char *reads_at = strstr(at, "Index Reads: lookups=");
	assert_non_null(reads_at);
	for (unsigned i = 0; i < 4; i++) {
		const char *is = strstr(i < 2 ? reads_at : strstr(at, "Fabric: "), name[i]);
		out[i] = is == NULL ? 0 : (unsigned)strtoul(is + strlen(name[i]), NULL, 10);
	}
}

static void
test_only(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t, u;
	unsigned is[4], first_bytes;
	const char *q = "select b from w where a between 101 and 150";
	embedded_open(&e, 256u << 20, 2);
	test_client_open(&t, &e, 0);
	test_client_open(&u, &e, 1);
	ask(&t, "create table w (id int primary key, a int, b int, pad varchar(400))");
	ask(&t, "insert into w select i, i, -i, repeat('x', 400) from generate_series(1, 4000) i");
	ask(&t, "create index on w (a, b)");
	ask(&t, "analyze");
	/* at first rows; from then on 8 bytes of each */
	reads(&t, q, is);
	assert_int_equal(is[0], 50);
	assert_int_equal(is[1], 0);
	first_bytes = is[3];
	unsigned trips = is[2];
	reads(&t, q, is);
	assert_int_equal(is[0], 0);
	assert_int_equal(is[1], 50);
	assert_true(is[2] <= trips);
	assert_in_range(first_bytes - is[3], 50 * 800, 50 * 1200);
	says(&t, "select sum(b), count(*) from w where a between 101 and 150", "-6275|50; SELECT 1");
	/* the process's other sessions know them as well */
	reads(&u, q, is);
	assert_int_equal(is[1], 50);
	/* rows that have changed are READ again, those of one doorbell in one more round trip */
	says(&u, "begin isolation level repeatable read", "BEGIN");
	says(&u, "select count(*) from w where a between 101 and 150", "50; SELECT 1");
	says(&t, "update w set pad = 'y' where id between 105 and 107", "UPDATE 3");
	says(&t, "update w set b = 0 where id = 110", "UPDATE 1");
	says(&t, "delete from w where id = 111", "DELETE 1");
	says(&t, "insert into w values (9999, 120, 7, 'z')", "INSERT 0 1");
	trips = is[2];
	reads(&t, q, is);
	assert_in_range(is[0], 5, 7);
	assert_true(is[2] <= trips + 2);
	says(&t, "select sum(b), count(*) from w where a between 101 and 150", "-6047|50; SELECT 1");
	/* an older snapshot has its own rows */
	says(&u, "select sum(b), count(*) from w where a between 101 and 150", "-6275|50; SELECT 1");
	says(&u, "update w set b = 1 where id = 130", "UPDATE 1");
	says(&u, "select sum(b), count(*) from w where a between 101 and 150", "-6144|50; SELECT 1");
	says(&u, "rollback", "ROLLBACK");
	says(&u, "select sum(b), count(*) from w where a between 101 and 150", "-6047|50; SELECT 1");
	/* in a join: a leaf for each key, a word for each row */
	ask(&t, "create table s (k int primary key)");
	ask(&t, "insert into s select i * 30 from generate_series(1, 100) i");
	ask(&t, "analyze");
	ask(&t, "create index on w (a)");
	q = "select s.k, w.a from s join w on w.a = s.k";
	reads(&t, q, is);
	reads(&t, q, is);
	assert_int_equal(is[0], 0);
	assert_int_equal(is[1], 101); /* two of them have key 120 */
	assert_int_equal(is[2], 2);
	assert_non_null(
	    strstr(ask(&t, "explain select s.k, w.a from s join w on w.a = s.k"), "Index Only Lookup using"));
	assert_int_equal(figure(&t, q, "lookups="), 100);
	assert_int_equal(figure(&t, q, "nodes="), 100);
	test_client_close(&t);
	test_client_close(&u);
	embedded_close(&e);
}

/* Of models EXPLAIN says by how much they may be wrong; a lookup takes one READ of a leaf all the
 * same. */
static void
test_caches(void **state)
{
	(void)state;
	static const struct {
		enum idx_tree_cache cache;
		const char *says;
		unsigned nodes; /* READs for a lookup, at least */
	} of[] = { { IDX_TREE_INNER, "Index Cache: tree ", 1 },
		{ IDX_TREE_LEARNED, "Index Cache: learned ", 1 },
		{ IDX_TREE_NONE, "Index Cache: none 0kB", 3 } };
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		struct embedded e;
		struct test_client t;
		const char *q = "select pad from w where a = 1234";
		embedded_order_cache = 1 + (unsigned)of[i].cache;
		embedded_open(&e, 256u << 20, 1);
		test_client_open(&t, &e, 0);
		ask(&t, "create table w (id int primary key, a int, pad text)");
		ask(&t, "insert into w select i, i * i % 100003, 'x' from generate_series(1, 4000) i");
		ask(&t, "create index on w (a)");
		ask(&t, "analyze");
		for (unsigned k = 0; k < 3; k++)
			(void)figure(&t, q, "nodes=");
		assert_int_equal(figure(&t, q, "lookups="), 1);
		assert_in_range(figure(&t, q, "nodes="), of[i].nodes, of[i].nodes == 1 ? 1 : 9);
		const char *plan = ask(&t,
		    "explain (analyze, costs off, timing off, summary off) select pad from w where a = 1234");
		assert_non_null(strstr(plan, of[i].says));
		assert_int_equal(strstr(plan, "(model error: ") != NULL, of[i].cache == IDX_TREE_LEARNED);
		test_client_close(&t);
		embedded_close(&e);
	}
	embedded_order_cache = 0;
}

/* ---- several indexes ------------------------------------------------------------------ */

static void
test_several(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t, u;
	const char *all = "select id from m where a = 7 and b = 7",
		   *any = "select id from m where a = 7 or b = 8";
	embedded_open(&e, 256u << 20, 2);
	test_client_open(&t, &e, 0);
	test_client_open(&u, &e, 1);
	ask(&t, "create table m (id int primary key, a int, b int, c text)");
	ask(&t, "insert into m select i, i % 50, i % 60, repeat('x', 100) from generate_series(1, 6000) i");
	ask(&t, "create index on m (a)");
	ask(&t, "create index on m (b)");
	ask(&t, "analyze");
	assert_non_null(strstr(ask(&t, "explain select id from m where a = 7 and b = 7"), "Index And Scan"));
	assert_non_null(strstr(ask(&t, "explain select id from m where a = 7 or b = 8"), "Index Or Scan"));
	/* 20 rows of 120 and 100 entries; their leaves, and then the rows in one round trip */
	(void)figure(&t, all, " rows=");
	assert_int_equal(figure(&t, all, " rows="), 20);
	assert_in_range(figure(&t, all, "nodes="), 12, 60);
	assert_in_range(figure(&t, all, "round trips="), 3, 6);
	/* a row that both conditions lead to comes once */
	says(&t, "select count(*), count(distinct id) from m where a = 7 or b = 8", "220|220; SELECT 1");
	assert_int_equal(figure(&t, any, " rows="), 220);
	says(&t, "select count(*), count(distinct id) from m where a = 7 or b = 7", "200|200; SELECT 1");
	/* own rows, and rows that others change */
	says(&t, "begin", "BEGIN");
	says(&t, "update m set b = 7 where id = 57", "UPDATE 1");
	says(&t, "update m set a = 8 where id = 7", "UPDATE 1");
	says(&t, "insert into m values (7001, 7, 7, '')", "INSERT 0 1");
	says(&t, "delete from m where id = 307", "DELETE 1");
	says(&t, "select count(*), min(id), max(id) from m where a = 7 and b = 7", "20|57|7001; SELECT 1");
	says(&u, "select count(*), min(id), max(id) from m where a = 7 and b = 7", "20|7|5707; SELECT 1");
	says(&t, "commit", "COMMIT");
	says(&u, "select count(*), min(id), max(id) from m where a = 7 and b = 7", "20|57|7001; SELECT 1");
	says(&u, "update m set c = 'seen' where a = 7 and b = 7", "UPDATE 20");
	says(&u, "select count(*) from m where c = 'seen'", "20; SELECT 1");
	/* a row that would have come into what was read */
	says(&t, "begin isolation level serializable", "BEGIN");
	says(&t, "select count(*) from m where a = 7 and b = 9", "0; SELECT 1");
	says(&u, "update m set b = 9 where id = 107", "UPDATE 1");
	says(&t, "insert into m values (7002, 1, 1, '')", "INSERT 0 1");
	assert_memory_equal(ask(&t, "commit"), "ERROR 40001", strlen("ERROR 40001"));
	test_client_close(&t);
	test_client_close(&u);
	embedded_close(&e);
}

/* ---- two sessions ---------------------------------------------------------------------- */

static bool
by_index(struct test_client *t, const char *q)
{
	struct statement s = { .n = 0 };
	add(&s, "explain %s", q);
	return strstr(ask(t, s.p), "Index Scan") != NULL;
}

static void
test_beside(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client a, b;
	struct later l;
	embedded_open(&e, 256u << 20, 2);
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	says(&a, "create table t (id int primary key, a int, b int)", "CREATE TABLE");
	says(&a, "insert into t select i, i, 0 from generate_series(1, 4000) i", "INSERT 0 4000");
	says(&a, "create index on t (a)", "CREATE INDEX");
	ask(&a, "analyze");
	assert_true(by_index(&a, "update t set b = 1 where a between 4 and 6"));
	/* a row that leaves the range while its lock is waited for is not changed */
	says(&a, "begin", "BEGIN");
	says(&a, "update t set a = 100 where id = 5", "UPDATE 1");
	start(&l, &b, "update t set b = 1 where a between 4 and 6");
	usleep(100000);
	assert_false(l.done);
	says(&a, "commit", "COMMIT");
	assert_string_equal(wait_for(&l), "UPDATE 2");
	says(&a, "select id from t where b = 1 order by id", "4;6; SELECT 2");
	/* locks of rows found by the index */
	says(&a, "begin", "BEGIN");
	says(&a, "select id from t where a = 10 for update", "10; SELECT 1");
	assert_true(by_index(&b, "select id from t where a in (9, 10, 11) for update skip locked"));
	says(&b, "select id from t where a in (9, 10, 11) order by a for update skip locked",
	    "9;11; SELECT 2");
	says(&b, "select id from t where a between 9 and 11 for update nowait",
	    "ERROR 55P03: could not obtain lock on row in relation \"t\"");
	says(&b, "select id from t where a >= 9 order by a limit 2 for update skip locked", "9;11; SELECT 2");
	says(&a, "commit", "COMMIT");
	/* a row that would have come into a range that was read */
	says(&a, "begin isolation level serializable", "BEGIN");
	says(&a, "select count(*) from t where a between 5000 and 6000", "0; SELECT 1");
	says(&b, "insert into t values (5001, 5001, 0)", "INSERT 0 1");
	says(&a, "insert into t values (5002, 5002, 0)", "INSERT 0 1");
	assert_memory_equal(ask(&a, "commit"), "ERROR 40001", strlen("ERROR 40001"));
	/* an UPDATE that moves rows forward in the index it goes by moves each once */
	says(&a, "update t set a = a + 1 where a between 3000 and 3099", "UPDATE 100");
	says(&a, "select count(*), min(a), max(a) from t where id between 3000 and 3099",
	    "100|3001|3100; SELECT 1");
	test_client_close(&a);
	test_client_close(&b);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plans),
		cmocka_unit_test(test_rows_compared), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_first_columns), cmocka_unit_test(test_few_ask),
		cmocka_unit_test(test_alike), cmocka_unit_test(test_trips), cmocka_unit_test(test_only),
		cmocka_unit_test(test_caches), cmocka_unit_test(test_several),
		cmocka_unit_test(test_beside) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
