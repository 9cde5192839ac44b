/* explain_test.c -- EXPLAIN ANALYZE: it runs the statement, counts what every operator gave, and
 * shows nothing of the answer. */
#include "golden.h"

#include <ctype.h>

#define QUIET "explain (analyze, costs off, timing off, summary off, buffers off) "

static const struct golden all[] = {
	{ "create table w (id int primary key, g text, v int)", "CREATE TABLE" },
	{ "insert into w values (1,'a',10),(2,'a',20),(3,'b',20),(4,'b',null),(5,'a',10),(6,null,7)",
	    "INSERT 0 6" },
	{ "select count(*) from w", "6; SELECT 1" },
	{ QUIET "select g, sum(v), rank() over (order by sum(v)) from w where id > 1 group by g order by 1 "
		"limit 2",
	    "Limit (actual rows=2 loops=1);  -> Top-N Sort (actual rows=3 loops=1);       Sort Key: g;    -> "
	    "Project (actual "
	    "rows=3 loops=1);      -> WindowAgg (actual rows=3 loops=1);        -> HashAggregate (actual "
	    "rows=3 loops=1);             Group Key: g;          -> Seq Scan on w (actual rows=5 loops=1);   "
	    "            Filter: (id > "
	    "1);               Rows Removed by Filter: 1; EXPLAIN" },
	{ QUIET "select a.id, (select max(b.v) from w b where b.id = a.id) from w a where a.id in (1,2,77)",
	    "Project (actual rows=2 loops=1);  -> Key Lookup on w a (actual rows=2 loops=1);       Key Cond: "
	    "((a.id = 1) OR (a.id = 2) OR (a.id = 77));  SubPlan 1 (per row, then hashed);    -> Project "
	    "(actual rows=1 loops=2);      -> Aggregate (actual rows=1 loops=2);        -> Key Lookup on w b "
	    "(actual rows=1 loops=2);             Key Cond: (b.id = (outer value 1));    -> Project (never "
	    "executed);      -> Project (never executed);        -> HashAggregate (never executed);          "
	    "   Group Key: b.id;          "
	    "-> Seq Scan on w b (never executed); EXPLAIN" },
	{ QUIET "select * from w where id = 99",
	    "Project (actual rows=0 loops=1);  -> Key Lookup on w (actual rows=0 loops=1);       Key Cond: "
	    "(id = 99); EXPLAIN" },
	{ QUIET "insert into w (id) values (100), (101) returning id",
	    "Insert on w (actual rows=2 loops=1); EXPLAIN" },
	{ "select count(*) from w", "8; SELECT 1" },
	{ QUIET "update w set v = 1 where id = 100",
	    "Update on w (actual rows=0 loops=1);  -> Key Lookup on w (actual rows=1 loops=1);       Key "
	    "Cond: (id = 100); EXPLAIN" },
	{ "select v from w where id = 100", "1; SELECT 1" },
	{ "begin; " QUIET "delete from w where id in (100, 101); rollback",
	    "BEGINDelete on w (actual rows=0 loops=1);  -> Key Lookup on w (actual rows=2 loops=1);       "
	    "Key Cond: ((id = 100) OR (id = 101)); EXPLAIN ROLLBACK" },
	{ "select count(*) from w", "8; SELECT 1" },
	{ QUIET "insert into w values (1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"w_pkey\"" },
	{ QUIET "select 1/0", "ERROR 22012: division by zero" },
	{ "explain (analyze off, costs off) select 1", "Project;  -> Result; EXPLAIN" },
	{ "explain (analyze 0, costs 0) select 1", "Project;  -> Result; EXPLAIN" },
	{ "explain (timing) select 1", "ERROR 22023: EXPLAIN option TIMING requires ANALYZE" },
	{ "explain (analyze maybe) select 1", "ERROR 42601: analyze requires a Boolean value" },
	{ "explain (analyze 2) select 1", "ERROR 42601: analyze requires a Boolean value" },
	{ "explain (analyze, wal) select 1", "ERROR 0A000: this option of EXPLAIN is not supported yet" },
	{ "explain (settings) select 1", "ERROR 0A000: this option of EXPLAIN is not supported yet" },
	{ "explain (nosuch) select 1", "ERROR 42601: unrecognized EXPLAIN option \"nosuch\"" },
	{ "explain (format xml) select 1",
	    "ERROR 0A000: EXPLAIN's FORMAT XML and YAML are not supported yet" },
	{ "explain (format csv) select 1",
	    "ERROR 22023: unrecognized value for EXPLAIN option \"format\": \"csv\"" },
	{ "explain (format text, buffers, costs off) select 1", "Project;  -> Result; EXPLAIN" },
	{ "explain (format json, costs off) select 1",
	    "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Project\",\n      \"Plans\": [\n        {\n     "
	    "     \"Node Type\": \"Result\",\n          \"Parent Relationship\": \"Outer\"\n        }\n      "
	    "]\n    }\n  }\n]; EXPLAIN" },
	{ "explain (verbose, costs off) select x.v + 1 as next from w x where g = 'a'",
	    "Project;  Output: next;  -> Seq Scan on w x;       Output: x.g, x.v;       Filter: (x.g = "
	    "'a'::text); EXPLAIN" },
	{ "explain (verbose, costs off, format json) select v as \"a \"\"b\" from w where id = 1",
	    "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Project\",\n      \"Output\": [\"a \\\"b\"],\n  "
	    "    \"Plans\": [\n        {\n          \"Node Type\": \"Key Lookup\",\n          \"Parent "
	    "Relationship\": \"Outer\",\n          \"Relation Name\": \"w\",\n          \"Alias\": \"w\",\n  "
	    "        \"Output\": [\"w.v\"],\n          \"Key Cond\": \"(w.id = 1)\"\n        }\n   "
	    "   ]\n    }\n  }\n]; EXPLAIN" },
	{ "prepare p (int) as select v from w where id = $1", "PREPARE" },
	{ "explain (costs off) execute p (1)",
	    "Project;  -> Key Lookup on w;       Key Cond: (id = $1); EXPLAIN" },
	{ QUIET "execute p (2)", "Project (actual rows=1 loops=1);  -> Key Lookup on w (actual rows=1 "
				 "loops=1);       Key Cond: (id = $1); EXPLAIN" },
	{ QUIET "execute p (77)", "Project (actual rows=0 loops=1);  -> Key Lookup on w (actual rows=0 "
				  "loops=1);       Key Cond: (id = $1); EXPLAIN" },
	{ "execute p (2)", "20; SELECT 1" },
	{ "explain execute p", "ERROR 42601: wrong number of parameters for prepared statement \"p\"" },
	{ "explain execute nosuch (1)", "ERROR 26000: prepared statement \"nosuch\" does not exist" },
	{ "prepare i (int) as insert into w (id) values ($1)", "PREPARE" },
	{ QUIET "execute i (200)", "Insert on w (actual rows=0 loops=1); EXPLAIN" },
	{ "delete from w where id = 200", "DELETE 1" },
	{ QUIET "create table made as select id from w where id < 3",
	    "Project (actual rows=2 loops=1);  -> Seq Scan on w (actual rows=2 loops=1);       Filter: (id < "
	    "3);       Rows Removed by Filter: 6; EXPLAIN" },
	{ "select count(*) from made", "2; SELECT 1" },
	{ "explain (costs off) create table never as select 1", "Project;  -> Result; EXPLAIN" },
	{ "select * from never", "ERROR 42P01: relation \"never\" does not exist" },
	{ QUIET "create table made as select 1", "ERROR 42P07: relation \"made\" already exists" },
	{ QUIET "with x as (select id from w) select count(*) from x, x y where x.id = y.id",
	    "CTE x;  -> Project (actual rows=8 loops=1);    -> Seq Scan on w (actual rows=8 loops=1);Project "
	    "(actual rows=1 loops=1);  -> Aggregate (actual rows=1 loops=1);    -> Hash Join (actual rows=8 "
	    "loops=1);         Hash Cond: (x.id = y.id);      -> Subquery Scan on x (actual rows=8 loops=1); "
	    "       -> CTE Scan on x (actual rows=8 loops=1);      -> Subquery Scan on y (actual rows=8 "
	    "loops=1);        -> CTE Scan on x (actual rows=8 loops=1); EXPLAIN" },
	{ "explain (costs off) select id, v + 1, lower(g) from w order by 2, 3 desc nulls last, v nulls "
	  "first",
	    "Sort;  Sort Key: ((v + 1)), (lower(g)) DESC NULLS LAST, v NULLS FIRST;  -> Project;    -> Seq "
	    "Scan "
	    "on w; EXPLAIN" },
	{ "explain (costs off) select a.g, sum(b.v) from w a join w b using (id) group by 1 order by "
	  "sum(b.v) "
	  "desc, 1",
	    "Sort;  Sort Key: (sum(b.v)) DESC, a.g;  -> Project;    -> HashAggregate;         Group Key: "
	    "a.g;      -> Hash Join;           Hash Cond: (a.id = b.id);        -> Seq Scan on w a;        "
	    "-> Seq Scan on w b; EXPLAIN" },
	{ "explain (costs off) select id x from w union all select v from w order by 1 desc",
	    "Sort;  Sort Key: x DESC;  -> Append;    -> Project;      -> Seq Scan on w;    -> Project;      "
	    "-> "
	    "Seq Scan on w w_1; EXPLAIN" },
	{ "explain (costs off) select g, v % 2, count(*) from w group by rollup (g, v % 2)",
	    "Project;  -> HashAggregate;       Group Key: g, (v % 2);    -> Grouping Sets;      -> Seq Scan "
	    "on "
	    "w; EXPLAIN" },
	{ "explain (costs off, format json) select g from w group by g order by g",
	    "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Sort\",\n      \"Sort Key\": [\"g\"],\n      "
	    "\"Plans\": [\n        {\n          \"Node Type\": \"Project\",\n          \"Parent "
	    "Relationship\": \"Outer\",\n          \"Plans\": [\n            {\n              \"Node Type\": "
	    "\"Distinct\",\n              \"Parent Relationship\": \"Outer\",\n              \"Strategy\": "
	    "\"Hashed\",\n              \"Group Key\": [\"g\"],\n              \"Plans\": [\n                "
	    "{\n                  \"Node Type\": \"Seq Scan\",\n                  \"Parent Relationship\": "
	    "\"Outer\",\n                  \"Relation Name\": \"w\",\n                  \"Alias\": \"w\"\n   "
	    "  "
	    "           }\n              ]\n            }\n          ]\n        }\n      ]\n    }\n  }\n]; "
	    "EXPLAIN" },
	/* 13 pairs have the same g, four of them the ids in that order; then three rows come
	 * without a partner */
	{ QUIET "select 1 from w a left join w b on a.g = b.g and a.id < b.id where a.id < 7 and (b.v is "
		"null or b.v > 10)",
	    "Project (actual rows=5 loops=1);  -> Hash Right Join (actual rows=5 loops=1);       Hash Cond: "
	    "(b.g = a.g);       Join Filter: (a.id < b.id);       Filter: ((b.v IS NULL) OR (b.v > 10));     "
	    "  Rows Removed by Join Filter: 9;       Rows Removed by Filter: 2;    -> Seq Scan on w b "
	    "(actual rows=8 loops=1);    -> Seq Scan on w a (actual rows=6 loops=1);         Filter: (a.id < "
	    "7);         Rows Removed by Filter: 2; EXPLAIN" },
	{ QUIET "select 1 from w a full join w b on a.id < b.id",
	    "Project (actual rows=30 loops=1);  -> Nested Full Join (actual rows=30 loops=1);       Join "
	    "Filter: (a.id < b.id);       Rows Removed by Join Filter: 36;    -> Seq Scan on w a (actual "
	    "rows=8 loops=1);    -> Seq Scan on w b (actual rows=8 loops=1); EXPLAIN" },
	{ "explain truncate w", "ERROR 42601: syntax error at or near \"truncate\"" },
	{ "explain (analyze) insert into w values (1)",
	    "ERROR 23505: duplicate key value violates unique constraint \"w_pkey\"" },
	{ "begin; explain (analyze, buffers off, costs off, timing off, summary off) insert into w (id) "
	  "values (300); select count(*) from w; rollback; select count(*) from w",
	    "BEGINInsert on w (actual rows=0 loops=1); EXPLAIN9; SELECT 1 ROLLBACK8; SELECT 1" },
	{ "explain (verbose, costs off) select a.v from w a join w b on a.v = b.id and a.id < b.v",
	    "Project;  Output: v;  -> Hash Join;       Hash Cond: (a.v = b.id);       Filter: (a.id < "
	    "b.v);       Algorithm: hash table of the second input;    -> Seq Scan on w a;         Output: "
	    "a.id, a.v;    -> Seq Scan on w b;         Output: b.id, b.v; EXPLAIN" },
	{ "explain (verbose, costs off) select 1 from w a, w b where a.v < b.v",
	    "Project;  Output: ?column?;  -> Nested Product;       Filter: (a.v < b.v);       Algorithm: all "
	    "pairs, the second input kept;    -> Seq Scan on w a;         Output: a.v;    -> Seq Scan on w "
	    "b;         Output: b.v; EXPLAIN" },
	{ "explain analyze select $1", "ERROR 42P02: there is no parameter $1" },
};

/* Numbers become N. */
static const char *
shape_of(struct test_client *t, const char *text)
{
	static char shape[2000];
	size_t n = 0;
	for (const char *p = ask(t, text); *p && n + 1 < sizeof shape; p++) {
		bool digit = isdigit((unsigned char)*p) || *p == '.';
		if (!digit)
			shape[n++] = *p;
		else if (n == 0 || shape[n - 1] != 'N')
			shape[n++] = 'N';
	}
	shape[n] = 0;
	return shape;
}

#define TERMS "network N us, memory N us, CPU N us"
#define TOOK  "network N us, memory and CPU N us"

static void
answers(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, all, sizeof all / sizeof *all);
	assert_int_equal(wrong, 0);
	/* The whole form: times and the fabric. */
	assert_string_equal(shape_of(&t, "explain analyze select v from w where id = 1"),
	    "Project  (cost=N rows=N width=N) (actual time=N rows=N loops=N);  -> Key Lookup on w  "
	    "(cost=N rows=N width=N) (actual time=N rows=N loops=N);       Key Cond: (id = N);       Fabric: "
	    "read=N round "
	    "trips=N bytes in=N;       Memory: NkB;Estimated Time: " TERMS ";Actual Time: " TOOK
	    ";Planning Time: N ms;Execution Time: N ms;Fabric at "
	    "begin: read=N round trips=N bytes in=N;Fabric of operators: read=N round trips=N bytes "
	    "in=N;Fabric at commit: nothing;Fabric in all: read=N round trips=N bytes in=N; EXPLAIN");
	assert_string_equal(
	    shape_of(&t, "explain (analyze, verbose, buffers off, summary off) select v from w where id = 1"),
	    "Project  (cost=N rows=N width=N) (actual time=N rows=N loops=N);  Output: v;  Cost: " TERMS
	    ";  Took: " TOOK ";  -> Key Lookup on w  (cost=N rows=N width=N) (actual time=N rows=N "
	    "loops=N);       Output: wNv;       Key Cond: (wNid = N);       Cost: " TERMS
	    ";       Took: " TOOK "; EXPLAIN");
	assert_string_equal(shape_of(&t, "explain select 1"),
	    "Project  (cost=N rows=N width=N);  -> Result  (cost=N rows=N width=N);Estimated Time: " TERMS
	    "; EXPLAIN");
	assert_non_null(strstr(ask(&t, "explain (verbose, format json) select 1 from w a join w b on a.v = "
				       "b.id"),
	    "\"Algorithm\": \"hash table of the second input\""));
	/* A term is of its own constants. */
	ask(&t, "set namdb.costs = standard");
	ask(&t, "set namdb.cost_trip = '1ms'; set namdb.cost_verb = 0; set namdb.cost_byte = 0");
	assert_non_null(strstr(ask(&t, "explain (costs, verbose) select v from w where id = 1"),
	    "Cost: network 1000.00 us, memory 0.00 us, CPU 0.0"));
	assert_non_null(strstr(ask(&t, "explain select v from w where id = 1"),
	    "Estimated Time: network 1000.00 us, memory 0.00 us, CPU 0.0"));
	ask(&t, "set namdb.cost_value = 0; set namdb.cost_row = 0; set namdb.cost_trip = 0");
	ask(&t, "set namdb.cost_hash_near = '1us'");
	const char *joined = ask(&t, "explain select 1 from w a join w b on a.v = b.v");
	/* 9 rows of b are put into the table, for 9 of a it is asked */
	assert_non_null(strstr(joined, "Estimated Time: network 0.00 us, memory 18.00 us, CPU 0.00 us"));
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
