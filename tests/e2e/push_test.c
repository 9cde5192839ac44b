/* push_test.c -- conditions over queries in FROM, views and WITH: where they are asked, and that
 * the answer stays the same. */
#include "golden.h"

#define PLAN "explain (costs off) "

static const struct golden groups[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "insert into t values (2000, null, null)", "INSERT 0 1" },
	/* a key of GROUP BY, and what is none */
	{ PLAN "select * from (select a, count(*) as n from t group by a) q where a = 3 and n > 5",
	    "Project;  -> Subquery Scan on q;       Filter: (q.n > 5);    -> Project;      -> HashAggregate; "
	    "          Group Key: t.a;        -> Seq Scan on t;             Filter: (t.a = 3); EXPLAIN" },
	{ "select * from (select a, count(*) as n from t group by a) q where a = 3 and n > 5",
	    "3|100; SELECT 1" },
	{ "select * from (select a, count(*) as n from t group by a) q where a is null", "~|1; SELECT 1" },
	{ "select * from (select a + 1 as k, count(*) from t group by a) q where k = 4", "4|100; SELECT 1" },
	{ "select * from (select a, count(*) from t group by a having count(*) < 50) q where a = 3",
	    "SELECT 0" },
	/* without keys there is one row, whatever is asked of it */
	{ "select * from (select count(*) as n, 5 as c from t) q where c = 5", "1001|5; SELECT 1" },
	{ "select * from (select count(*) as n, 5 as c from t) q where c = 6", "SELECT 0" },
	{ "select * from (select a, grouping(a), count(*) from t group by rollup (a)) q where a is null",
	    "~|0|1;~|1|1001; SELECT 2" },
	{ "select distinct n from (select a, id % 2 as n from t group by a, id % 2) q where a = 4",
	    "0; SELECT 1" },
	{ PLAN "select * from (select distinct a, b from t) q where b = 'x7'",
	    "Project;  -> Subquery Scan on q;    -> Distinct;         Group Key: t.a, t.b;      -> Project;  "
	    "      -> Seq Scan on t;             Filter: (t.b = 'x7'::text); EXPLAIN" },
	{ "select * from (select distinct a, b from t) q where b = 'x7'", "7|x7; SELECT 1" },
	/* the first of each: only what it is the first of */
	{ "select * from (select distinct on (a) a, id from t order by a, id) q where a = 4",
	    "4|4; SELECT 1" },
	{ "select * from (select distinct on (a) a, id from t order by a, id) q where id = 14", "SELECT 0" },
	/* a condition that fails where a group is made of it, as PostgreSQL's does */
	{ "select * from (select a, count(*) from t group by a) q where 10 / a = 5",
	    "ERROR 22012: division by zero" },
};

static const struct golden limits[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "select * from (select id from t order by id limit 3) q where id > 2", "3; SELECT 1" },
	{ "select * from (select id from t order by id offset 998) q where id < 1000", "999; SELECT 1" },
	{ "select * from (select id, a from t order by id fetch first 1 row with ties) q where a = 2",
	    "SELECT 0" },
	{ "select id, r from (select id, a, row_number() over (order by id desc) as r from t) q where a = 3 "
	  "and id > 985",
	    "993|8; SELECT 1" },
	{ PLAN "select * from (select id, a, row_number() over (partition by a order by id) as r from t) q "
	       "where a = 3 and r < 3",
	    "Project;  -> Subquery Scan on q;       Filter: (q.r < 3);    -> Project;      -> WindowAgg;     "
	    "   "
	    "-> Seq Scan on t;             Filter: (t.a = 3); EXPLAIN" },
	{ "select id, r from (select id, a, row_number() over (partition by a order by id) as r from t) q "
	  "where a = 3 and r < 3",
	    "3|1;13|2; SELECT 2" },
	{ "select id, r, c from (select id, a, row_number() over (partition by a order by id) as r, count(*) "
	  "over () as c "
	  "from t) q where a = 3 and r < 3",
	    "3|1|1000;13|2|1000; SELECT 2" },
	{ "select id, r from (select id, a, row_number() over (partition by a, id % 2 order by id) as r from "
	  "t) q "
	  "where a + 1 = 4 and r = 2",
	    "13|2; SELECT 1" },
	{ "select * from (select id, unnest(array[a, a + 1]) as u from t where id < 4) q where u = 2 order "
	  "by id",
	    "1|2;2|2; SELECT 2" },
	{ "select count(*) from (select id, random() as r from t) q where r >= 0 and id = 5", "1; SELECT 1" },
	{ "create sequence s", "CREATE SEQUENCE" },
	{ "select id from (select id, nextval('s') as n from t) q where id = 5", "5; SELECT 1" },
	{ "select nextval('s')", "1001; SELECT 1" },
};

static const struct golden sets[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "create table u (id int primary key, a bigint, b text)", "CREATE TABLE" },
	{ "insert into u values (1, 1, 'x1'), (2, 7, 'x2'), (3, null, null)", "INSERT 0 3" },
	/* a query that can give nothing is not read */
	{ PLAN "select * from (select 'p' as k, id from t union all select 'q', id from u) q where k = 'q' "
	       "and id = 2",
	    "Project;  -> Subquery Scan on q;    -> Append;      -> Project;        -> Result;             "
	    "One-Time "
	    "Filter: false;      -> Project;        -> Key Lookup on u;             Key Cond: (u.id = 2); "
	    "EXPLAIN" },
	{ "select * from (select 'p' as k, id from t union all select 'q', id from u) q where k = 'q' and id "
	  "= 2",
	    "q|2; SELECT 1" },
	{ PLAN "select * from (select id, b from t intersect select id, b from u) q where id = 1",
	    "Project;  -> Subquery Scan on q;    -> Intersect;      -> Project;        -> Key Lookup on t;   "
	    "     "
	    "     Key Cond: (t.id = 1);      -> Project;        -> Key Lookup on u;             Key Cond: "
	    "(u.id = "
	    "1); EXPLAIN" },
	{ "select * from (select id, b from t intersect select id, b from u) q where id = 1",
	    "1|x1; SELECT 1" },
	{ "select * from (select a from t union select id from u) q where a < 3 order by a",
	    "0;1;2; SELECT 3" },
	{ "select count(*) from (select a from t intersect all select id from u) q where a = 1",
	    "1; SELECT 1" },
	{ "select * from (select a from t except select id from u) q where a < 5 order by a",
	    "0;4; SELECT 2" },
	{ "select count(*) from (select a from t except all select id from u) q where a = 3",
	    "99; SELECT 1" },
	/* what would fail on a row that EXCEPT takes away is asked above it */
	{ "select * from (select id - 1 as a from u except select 0) q where 4 / a = 2", "2; SELECT 1" },
	/* another type: above */
	{ "select * from (select a from t where id < 3 union all select a from u) q where a = 1",
	    "1;1; SELECT 2" },
	{ "select * from (select a from u union all select 1.5) q where a = 1.5", "1.5; SELECT 1" },
	{ "select * from (select id from t union all select 5 limit 3) q where id = 5", "SELECT 0" },
	{ "select * from (values (1, 'a'), (2, 'b'), (null, 'c')) q (x, y) where x = 2", "2|b; SELECT 1" },
	{ PLAN "select * from t where false", "Project;  -> Result;       One-Time Filter: false; EXPLAIN" },
	{ "select count(*), max(a) from t where null and a = 1", "0|~; SELECT 1" },
	{ "update t set a = 1 where false", "UPDATE 0" },
	{ "delete from t where 1 = 2", "DELETE 0" },
	{ "select id from t where a = 3 and false for update", "SELECT 0" },
};

static const struct golden flat[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "create table u (id int primary key, t_id int, c text)", "CREATE TABLE" },
	{ "insert into u select i, i % 1000, 'y' || i from generate_series(1, 5000) i", "INSERT 0 5000" },
	{ "create view v as select id, a + 1 as a1, b from t", "CREATE VIEW" },
	{ "create view w as select u.id, v.a1, v.b, u.c from u join v on v.id = u.t_id", "CREATE VIEW" },
	{ "create view ww as select w.*, v.b as b2 from w left join v on v.id = w.a1", "CREATE VIEW" },
	{ PLAN "select * from v where id = 17",
	    "Project;  -> Key Lookup on t;       Key Cond: (id = 17); EXPLAIN" },
	{ "select * from v where id = 17", "17|8|x17; SELECT 1" },
	{ PLAN "select * from w where id = 17", "Project;  -> Key Lookup on t;       Key Cond: (t.id = "
						"u.t_id);    -> Key Lookup on u;         Key Cond: "
						"(u.id = 17); EXPLAIN" },
	{ "select * from ww where id = 17", "17|8|x17|y17|x8; SELECT 1" },
	/* under an outer join: columns yes, and what NULLs make NULL; a constant is one only for
	 * rows that are there */
	{ PLAN "select u.c, v.a1 from u left join v on v.id = u.t_id where u.id = 4",
	    "Project;  -> Left Key Lookup on t;       Key Cond: (t.id = u.t_id);    -> Key Lookup on u;      "
	    "   Key "
	    "Cond: (u.id = 4); EXPLAIN" },
	{ "select u.id, v.a1 from u left join v on v.id = u.t_id where u.id in (4, 1000) order by 1",
	    "4|5;1000|~; SELECT 2" },
	{ "select u.id, q.b, q.k from u left join (select id, b, 5 as k from t where a < 3) q on q.id = "
	  "u.t_id "
	  "where u.id < 4 order by 1",
	    "1|x1|5;2|x2|5;3|~|~; SELECT 3" },
	{ "select u.id, q.k from u left join (select id, coalesce(a, 0) as k from t where a < 3) q on q.id = "
	  "u.t_id "
	  "where u.id < 4 and q.k is null",
	    "3|~; SELECT 1" },
	{ "select u.id, q.k from (select id, a is null as k from t where a < 3) q right join u on q.id = "
	  "u.t_id "
	  "where u.id < 4 order by 1",
	    "1|f;2|f;3|~; SELECT 3" },
	{ "select q.id, r.id from (select id from t where id < 3) q full join (select id from u where id in "
	  "(2, 3)) r "
	  "on q.id = r.id order by 1, 2",
	    "1|~;2|2;~|3; SELECT 3" },
	{ "select id, a, c from (select id, a from t) q natural join (select id, c from u) r where id = 8",
	    "8|8|y8; SELECT 1" },
	{ "select * from ((select id, a from t) q full join (select id, c from u where id > 998) r using "
	  "(id)) as j "
	  "where id between 999 and 1001 order by id",
	    "999|9|y999;1000|0|y1000;1001|~|y1001; SELECT 3" },
	{ "select q.x, q.y from (select id as x, (select max(c) from u where u.t_id = t.id) as y from t) q "
	  "where q.x = 3",
	    "3|y4003; SELECT 1" },
	{ "select q.id, (select max(c) from (select c, t_id from u) z where z.t_id = q.id) from (select id "
	  "from t) q "
	  "where q.id < 3 order by 1",
	    "1|y4001;2|y4002; SELECT 2" },
	{ "select q.id from (select id, t_id from u) q where exists (select 1 from v where v.id = q.t_id and "
	  "v.a1 = 10) "
	  "and q.id < 20",
	    "9;19; SELECT 2" },
	{ "select a1, count(*) from v group by a1 having a1 < 3 order by a1", "1|100;2|100; SELECT 2" },
	{ "select q.* from (select from t where id < 3) q", ";; SELECT 2" },
	{ "select count(*) from (select id from t where id < 4) q, (select id from t where id < 3) r",
	    "6; SELECT 1" },
	{ "select l.n from (select id, a from t) q, lateral (select count(*) as n from u where u.t_id = "
	  "q.id) l "
	  "where q.id = 5",
	    "5; SELECT 1" },
	{ "update t set b = 'new' from (select t_id, max(id) as m from u group by t_id) q, v "
	  "where q.t_id = t.id and v.id = t.id and t.id = 5 returning t.id, q.m, v.a1",
	    "5|4005|6; UPDATE 1" },
	{ "delete from t using v where v.id = t.id and v.a1 = 10 and t.id < 20 returning v.b",
	    "x9;x19; DELETE 2" },
	/* names inside are not visible */
	{ "select t.id from v join u on true", "ERROR 42P01: missing FROM-clause entry for table \"t\"" },
	{ "select id from v x, v where v.id = 1", "ERROR 42702: column reference \"id\" is ambiguous" },
	{ "select v.b from v t, v where t.id = v.id and v.id = 1", "x1; SELECT 1" },
	{ "select v.* from v group by id", "ERROR 42803: column \"v.a1\" must appear in the GROUP BY clause "
					   "or be used in an aggregate function" },
	/* a row that is kept away is not computed */
	{ "insert into t values (3000, 2147483647, 'big')", "INSERT 0 1" },
	{ "select * from v where b = 'x7'", "7|8|x7; SELECT 1" },
	{ "select count(*) from v", "999; SELECT 1" },
	{ "select a1 from v where id = 3000", "ERROR 22003: integer out of range" },
};

static const struct golden with[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ PLAN "with q as (select id, a + 1 as x, b from t) select x from q where id = 4",
	    "Project;  -> Key Lookup on t;       Key Cond: (id = 4); EXPLAIN" },
	{ "with q as (select id, a + 1 as x, b from t) select x from q where id = 4", "5; SELECT 1" },
	{ PLAN "with q(i, n) as (select a, count(*) from t group by a) select n from q where i = 4",
	    "Project;  -> Subquery Scan on q;    -> Project;      -> HashAggregate;           Group Key: "
	    "t.a;        -> Seq Scan on t;             Filter: (t.a = 4); EXPLAIN" },
	{ "with q(i, n) as (select a, count(*) from t group by a) select n from q where i = 4",
	    "100; SELECT 1" },
	/* used twice, or for each row: run once, as it is */
	{ PLAN
	    "with q as (select id from t where a = 0) select 1 from q x, q y where x.id = 10 and y.id = 20",
	    "CTE q;  -> Project;    -> Seq Scan on t;         Filter: (t.a = 0);Project;  -> Nested Product; "
	    "   -> "
	    "Subquery Scan on x;         Filter: (x.id = 10);      -> CTE Scan on q;    -> Subquery Scan on "
	    "y;      "
	    "   Filter: (y.id = 20);      -> CTE Scan on q; EXPLAIN" },
	{ "with q as (select id from t where id < 3) select (select count(*) from q where q.id <= t.id) from "
	  "t "
	  "where id < 4 order by 1",
	    "1;2;2; SELECT 3" },
	{ PLAN "with q as materialized (select id from t) select id from q where id = 4",
	    "CTE q;  -> Project;    -> Seq Scan on t;Project;  -> Subquery Scan on q;       Filter: (id = "
	    "4);    -> "
	    "CTE Scan on q; EXPLAIN" },
	{ "with q as (select id from t), w as (select id from q where id < 5) select * from w where id > 2 "
	  "order by 1",
	    "3;4; SELECT 2" },
	{ "with q as (select 1 as x), r as (with q as (select 2 as x) select x from q) select * from r",
	    "2; SELECT 1" },
	{ "with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select n from r "
	  "where n > 3",
	    "4;5; SELECT 2" },
	{ "with q as (select nope from t) select 1", "ERROR 42703: column \"nope\" does not exist" },
	{ "with q as (select nope from t) select 1 from (with q as (select 1) select * from q) z",
	    "ERROR 42703: column \"nope\" does not exist" },
	{ "with q(a, b, c) as (select id, a from t) select * from q",
	    "ERROR 42P10: WITH query \"q\" has 2 columns available but 3 columns specified" },
	{ "with q(x) as (select id from t) select z.x from q as z (x, y) where z.x = 3",
	    "ERROR 42P10: table \"z\" has 1 columns available but 2 columns specified" },
	{ "with q as (select id from t) select * from q where id = 3 for update of q",
	    "ERROR 0A000: FOR UPDATE cannot be applied to a WITH query" },
	{ "with q as (select id, a from t) update t set b = 'w' from q where q.id = t.id and q.a = 7 and "
	  "t.id < 20 "
	  "returning t.id",
	    "7;17; UPDATE 2" },
};

/* Columns that no operator needs are not read: VERBOSE shows those that are. */
static const struct golden unasked[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "insert into t select i, i % 10, 'x' || i from generate_series(1, 1000) i", "INSERT 0 1000" },
	{ "create view g as select a, count(*) as n, max(b) as mb, sum(id) as s from t group by a",
	    "CREATE VIEW" },
	{ "explain (costs off, verbose) select a from g where s > 3",
	    "Project;  Output: a;  -> Subquery Scan on g;       Filter: (g.s > 3);    -> Project;      -> "
	    "HashAggregate;           Group Key: t.a;        -> Seq Scan on t;             Output: t.id, "
	    "t.a; EXPLAIN" },
	{ "select a from g where s > 50100 order by a", "0;7;8;9; SELECT 4" },
	{ "select mb, n from g where a = 3", "x993|100; SELECT 1" },
	{ "explain (costs off, verbose) select count(*) from (select a, b from t union all select id, b from "
	  "t) q",
	    "Project;  Output: count;  -> Aggregate;    -> Subquery Scan on q;      -> Append;        -> "
	    "Project;     "
	    "     -> Seq Scan on t;        -> Project;          -> Seq Scan on t t_1; EXPLAIN" },
	{ "select count(*) from (select a, b from t union all select id, b from t) q", "2000; SELECT 1" },
	{ "explain (costs off, verbose) select id from (select id, a, b from t order by a, id limit 5) q",
	    "Project;  Output: id;  -> Subquery Scan on q;    -> Limit;      -> Top-N Sort;           Sort "
	    "Key: t.a, t.id;        -> Project;          -> Seq Scan on t;               Output: t.id, t.a; "
	    "EXPLAIN" },
	{ "select id from (select id, a, b from t order by a, id limit 3) q", "10;20;30; SELECT 3" },
	{ "select b from (select id, a, b from t order by a, id fetch first 1 rows with ties) q order by 1 "
	  "limit 1",
	    "x10; SELECT 1" },
	/* DISTINCT and the like look at all columns */
	{ "select count(*) from (select distinct a, id % 20 from t) q", "20; SELECT 1" },
	{ "select count(*) from (select a, id % 20 from t union select 3, 4) q", "21; SELECT 1" },
	{ "select count(*) from (select a, b from t except select 3, 'x3') q", "999; SELECT 1" },
	{ "select m from (select distinct on (a) a, id as m, b from t order by a, id desc) q order by m "
	  "limit 2",
	    "991;992; SELECT 2" },
	{ "select r from (select id, b, a, rank() over (partition by a order by id desc) as r from t) q "
	  "where id = 5",
	    "100; SELECT 1" },
	/* what fails is not missed, what does something is done */
	{ "select count(*) from (select id, 1 / (a - 3) as x from t limit 500) q", "500; SELECT 1" },
	{ "select count(x) from (select id, 1 / (a - 3) as x from t limit 500) q",
	    "ERROR 22012: division by zero" },
	{ "create sequence s", "CREATE SEQUENCE" },
	{ "select count(*) from (select id, nextval('s') as x from t offset 500) q", "500; SELECT 1" },
	{ "select nextval('s')", "1001; SELECT 1" },
	{ "select id from t where exists (select 1 / 0 from (select distinct a, b from t) q where q.a = "
	  "t.id) order by 1 "
	  "limit 2",
	    "1;2; SELECT 2" },
	{ "select x.a from (select id, a, b from t offset 3) x join (select id, a, b from t offset 3) y on "
	  "x.id = y.a "
	  "where y.b = 'x17' order by 1",
	    "7; SELECT 1" },
	{ "select q.id from (select t.id, u.b, u.a from t join t u on u.id = t.a limit 900) q where q.id = "
	  "17",
	    "17; SELECT 1" },
};

/* Reading one row of a view costs what reading one row of its tables costs: a READ and a round trip
 * each. */
static void
of_verbs(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	ask(&t, "create table t (id int primary key, a int, b text);"
		"insert into t select i, i % 10, 'x' || i from generate_series(1, 3000) i;"
		"create view v as select id, a + 1 as a1, b from t;"
		"create view g as select id, max(b) as m from v group by id;"
		"create view k as select 'p' as kind, id, b from v union all select 'q', id, m from g");
	static const struct {
		const char *text, *answer;
		unsigned reads;
	} list[] = {
		{ "select * from v where id = 7", "7|8|x7; SELECT 1", 1 },
		{ "select m from g where id = 7", "x7; SELECT 1", 1 },
		{ "select b from k where id = 7 and kind = 'q'", "x7; SELECT 1", 1 },
		{ "select x.b, y.b from v x join v y on y.id = x.a1 where x.id = 7", "x7|x8; SELECT 1", 2 },
		{ "with q as (select * from v) select b from q where id = 7", "x7; SELECT 1", 1 },
		{ "select b from (select * from v intersect select * from v) q where id = 7", "x7; SELECT 1",
		    2 },
	};
	for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
		char text[300];
		assert_string_equal(ask(&t, list[i].text), list[i].answer);
		snprintf(text, sizeof text, "explain (analyze, costs off, timing off) %s", list[i].text);
		const char *a = ask(&t, text);
		unsigned lookups = 0;
		for (const char *at = a; (at = strstr(at, "Fabric: read=1 round trips=1 bytes in=")) != NULL;
		     at++)
			lookups++;
		if (lookups != list[i].reads || strstr(a, "Seq Scan") != NULL)
			fprintf(stderr, "%s\n", a);
		assert_int_equal(lookups, list[i].reads);
		assert_null(strstr(a, "Seq Scan"));
		snprintf(text, sizeof text, "Fabric of operators: read=%u round trips=%u ", list[i].reads,
		    list[i].reads);
		assert_non_null(strstr(a, text));
	}
	test_client_close(&t);
	embedded_close(&e);
}

/* Views of views that say a column twice, forty deep: neither conditions nor expressions double
 * forty times. */
static void
of_doubles(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	char text[300];
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	ask(&t,
	    "create table t (id int primary key, a int); insert into t values (1, 0), (2, 0), (3, 7);"
	    "create view d0 as select id, a + a as x from t; create view g0 as select id, a + a as x from t");
	for (unsigned i = 1; i < 40; i++) {
		snprintf(text, sizeof text,
		    "create view d%u as select id, x + x as x from d%u;"
		    "create view g%u as select id, x %% 7 + x as x from g%u group by id, x",
		    i, i - 1, i, i - 1);
		assert_string_equal(ask(&t, text), "CREATE VIEW CREATE VIEW");
	}
	assert_string_equal(
	    ask(&t, "select id from d39 where x = 0 and id < 3 order by id"), "1;2; SELECT 2");
	assert_string_equal(ask(&t, "select x from d20 where id = 3"), "14680064; SELECT 1");
	assert_string_equal(
	    ask(&t, "select id, x from g39 where x < 5 and id < 3 order by id"), "1|0;2|0; SELECT 2");
	test_client_close(&t);
	embedded_close(&e);
}

static void
of_with(void **state)
{
	(void)state;
	golden_all(with);
}

static void
of_unasked(void **state)
{
	(void)state;
	golden_all(unasked);
}

static void
of_flat(void **state)
{
	(void)state;
	golden_all(flat);
}

static void
of_groups(void **state)
{
	(void)state;
	golden_all(groups);
}

static void
of_limits(void **state)
{
	(void)state;
	golden_all(limits);
}

static void
of_sets(void **state)
{
	(void)state;
	golden_all(sets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(of_groups), cmocka_unit_test(of_limits),
		cmocka_unit_test(of_sets), cmocka_unit_test(of_flat), cmocka_unit_test(of_with),
		cmocka_unit_test(of_unasked), cmocka_unit_test(of_verbs), cmocka_unit_test(of_doubles) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
