/* joinorder_test.c -- in which order tables are joined: the answers are the same in every one, the
 * rows between are few. */
#include "golden.h"

#include <time.h>

static const struct golden setup[] = {
	{ "create table a (id int primary key, x int, y int, s text)", "CREATE TABLE" },
	{ "create table b (id int primary key, x int, y int, s text)", "CREATE TABLE" },
	{ "create table c (id int, part int, x int, v bigint, primary key (id, part))", "CREATE TABLE" },
	{ "create table d (x int, y int, w numeric)", "CREATE TABLE" },
	{ "create table e (id int primary key, x int)", "CREATE TABLE" },
	{ "insert into a select i, i % 7, i % 3, 's' || i % 5 from generate_series(1, 40) i", "INSERT 0 40" },
	{ "insert into b select i, case when i % 6 = 0 then null else i % 7 end, i % 4, 's' || i % 6 from "
	  "generate_series(1, 30) i",
	    "INSERT 0 30" },
	{ "insert into c select i / 3, i % 3, i % 11, i from generate_series(0, 59) i", "INSERT 0 60" },
	{ "insert into d select i % 7, case when i % 5 = 0 then null else i % 4 end, i from "
	  "generate_series(1, 25) i",
	    "INSERT 0 25" },
};

/* Each counts and sums what it finds, so a row too many or too few shows. */
static const char *const query[] = {
	"select count(*), sum(a.id), sum(b.id) from a, b where a.x = b.x",
	"select count(*), sum(a.id * b.id), sum(d.w) from a, b, d where a.x = b.x and b.x = d.x",
	"select count(*), sum(a.id * b.id), sum(d.w) from a, b, d where a.x = b.x and b.x = d.x and a.x = "
	"d.x and d.y = "
	"b.y",
	"select count(*), sum(a.id), sum(c.v) from a, b, c where a.id = b.id and c.id = b.id",
	"select count(*), sum(a.id), sum(c.v) from a, b, c where a.id = b.id and c.id = b.id and c.part = 1",
	"select count(*), sum(a.id), sum(c.v) from a, b, c where a.id = c.id and b.id = c.part and c.x = b.y",
	"select count(*), sum(c.v) from a, b, c where a.x = c.id and b.y = c.part and a.id = b.id",
	"select count(*), sum(a.id), sum(c.v), sum(d.w) from a, b, c, d where a.x = b.x and b.x = c.x and "
	"c.x = d.x and "
	"d.x = 3",
	"select count(*), sum(a.id), sum(d.w) from a, b, d where a.x = b.x and a.x = 3 and b.y = d.y and a.s "
	"= b.s",
	"select count(*), sum(a.id + b.id + d.w) from a, b, d where a.x + b.y = d.x and a.y = b.y",
	"select count(*), sum(a.id + b.id + d.w) from a, b, d where a.x < b.x and b.y > d.y",
	"select count(*), sum(a.id + b.id) from a, b, e where a.x = b.x and b.x = e.x",
	"select count(*), sum(a.id), sum(b.id), sum(d.w) from a left join b on a.id = b.id join d on d.x = "
	"a.x",
	"select count(*), sum(a.id), sum(b.id), sum(d.w) from a left join (b join d on b.x = d.x) on a.y = "
	"b.y and a.id < "
	"9",
	"select count(*), sum(a.id), sum(b.id), sum(d.w) from a join d on a.x = d.x left join b on b.id = "
	"a.id and b.y = "
	"d.y "
	"where d.w > 5",
	"select count(*), sum(a.id), sum(c.v) from a full join b on a.id = b.id join c on c.id = a.id and "
	"c.part = b.y",
	"select count(*), sum(q.n), sum(a.id) from a join (select x, count(*) as n from b group by x) q on "
	"q.x = a.x join d "
	"on d.x = q.x",
	"select count(*), sum(a.id) from a where exists (select 1 from b, d where b.x = d.x and b.id = a.id)",
	"select count(*), sum((select sum(b.id * d.w) from b, d where b.x = d.x and b.y = a.y and d.x = "
	"a.x)) from a",
	"select count(*), sum(p.id), sum(q.id), sum(r.id), sum(t.id) from a p, a q, b r, a t where p.id = "
	"q.x and q.id = r.x "
	"and r.id = t.y",
	"select count(*), sum(a.id) from a, b, c, d where a.x = b.x and a.y = b.y and c.id = a.id and c.part "
	"= b.y and d.x = "
	"c.part",
};

static void
every_order(void **state)
{
	(void)state;
	enum { QUERIES = sizeof query / sizeof *query, SEEDS = 40 };
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, setup, sizeof setup / sizeof *setup);
	char *first[QUERIES];
	for (unsigned i = 0; i < QUERIES; i++) {
		first[i] = strdup(ask(&t, query[i]));
		assert_non_null(first[i]);
		assert_null(strstr(first[i], "ERROR"));
	}
	for (unsigned analyzed = 0; analyzed < 2; analyzed++) {
		for (unsigned seed = 0; seed <= SEEDS; seed++) {
			char set[60];
			snprintf(set, sizeof set, "set namdb.join_order = %u", seed);
			assert_string_equal(ask(&t, set), "SET");
			for (unsigned i = 0; i < QUERIES; i++) {
				const char *a = ask(&t, query[i]);
				if (strcmp(a, first[i]) == 0)
					continue;
				wrong++;
				fprintf(stderr, "order %u: %s\n  is     %s\n  should %s\n", seed, query[i], a,
				    first[i]);
			}
		}
		assert_string_equal(ask(&t, "analyze"), "ANALYZE");
	}
	for (unsigned i = 0; i < QUERIES; i++)
		free(first[i]);
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

/* All rows that the operators of a plan gave, from EXPLAIN ANALYZE: each line's "actual ...
 * rows=". */
static double
rows_through(struct test_client *t, const char *q)
{
	char text[2000];
	double sum = 0;
	snprintf(text, sizeof text, "explain (analyze, timing off, summary off) %s", q);
	for (const char *at = ask(t, text); (at = strstr(at, "actual")) != NULL; at += 6) {
		const char *rows = strstr(at, "rows=");
		sum += rows ? strtod(rows + 5, NULL) : 0;
	}
	return sum;
}

/*
 * The smallest table meets the big one in a column of two values, the other in a column of 5,000: a
 * plan that begins with the smallest pair of tables goes through 20,000 rows for each of its rows.
 */
static void
beats_greedy(void **state)
{
	(void)state;
	static const struct golden make[] = {
		{ "create table tiny (x int)", "CREATE TABLE" },
		{ "insert into tiny select i % 2 from generate_series(1, 10) i", "INSERT 0 10" },
		{ "create table small (x int, y int)", "CREATE TABLE" },
		{ "insert into small select i % 2, i * 50 from generate_series(1, 100) i", "INSERT 0 100" },
		{ "create table big (y int, z int)", "CREATE TABLE" },
		{ "insert into big select i % 5000, i from generate_series(1, 20000) i", "INSERT 0 20000" },
		{ "create table mid (z int, u int)", "CREATE TABLE" },
		{ "insert into mid select i * 400, i from generate_series(1, 50) i", "INSERT 0 50" },
		{ "analyze", "ANALYZE" },
	};
	/* tiny-small: 500 rows, which big quadruples; small-big: 400; big-mid: 50 */
	static const char q[] =
	    "select count(*) from tiny, small, big, mid where tiny.x = small.x and small.y = big.y "
	    "and big.z = mid.z";
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, make, sizeof make / sizeof *make);
	double best = rows_through(&t, q), worse = 0, least = 1e30;
	for (unsigned seed = 1; seed <= 60; seed++) {
		char set[60];
		snprintf(set, sizeof set, "set namdb.join_order = %u", seed);
		ask(&t, set);
		double rows = rows_through(&t, q);
		worse += rows > best;
		least = rows < least ? rows : least;
	}
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
	assert_true(best <= least * 1.05); /* no order that dice found is clearly better */
	assert_true(worse >= 30);
	assert_true(best < 21500); /* the scans are 20,160 of them */
}

static void
settings(void **state)
{
	(void)state;
	static const struct golden list[] = {
		{ "show namdb.join_order", "cost; SHOW" },
		{ "set namdb.join_order = 17", "SET" },
		{ "show namdb.join_order", "17; SHOW" },
		{ "set namdb.join_order = -1",
		    "ERROR 22023: invalid value for parameter \"namdb.join_order\": \"-1\"" },
		{ "set namdb.join_order = 'x'",
		    "ERROR 22023: invalid value for parameter \"namdb.join_order\": \"x\"" },
		{ "set namdb.join_order = 'cost'", "SET" },
		{ "show namdb.join_order", "cost; SHOW" },
		{ "show namdb.costs", "measured; SHOW" },
		{ "set namdb.costs = 'standard'", "SET" },
		{ "show namdb.costs", "standard; SHOW" },
		{ "set namdb.costs = 'cheap'",
		    "ERROR 22023: invalid value for parameter \"namdb.costs\": \"cheap\"" },
		{ "show namdb.cost_trip", "500ns; SHOW" },
		{ "show namdb.cost_byte", "0.15ns; SHOW" },
		{ "show namdb.cost_cache", "1MB; SHOW" },
		{ "set namdb.cost_trip = 700; set namdb.cost_byte = '1.25 us'; set namdb.cost_cache = '96kB'",
		    "SET SET SET" },
		{ "show namdb.cost_trip", "700ns; SHOW" },
		{ "show namdb.cost_byte", "1250ns; SHOW" },
		{ "show namdb.cost_cache", "96kB; SHOW" },
		{ "show namdb.cost_verb", "150ns; SHOW" },
		{ "select name, setting, unit, vartype, min_val, max_val from pg_settings where name like "
		  "'namdb.cost\\_%' and name ~ 'byte|cache|row' order by 1",
		    "namdb.cost_byte|1250|ns|real|-1|1000000000;namdb.cost_cache|96|kB|integer|-1|"
		    "8796093022208;namdb.cost_row|40|ns|real|-1|1000000000; SELECT 3" },
		{ "set namdb.cost_byte = -1", "SET" },
		{ "show namdb.cost_byte", "0.15ns; SHOW" },
		{ "set namdb.cost_trip = '-0'; show namdb.cost_trip", "SET0ns; SHOW" },
		{ "set namdb.cost_trip = default", "SET" },
		{ "show namdb.cost_trip", "500ns; SHOW" },
		{ "begin; set local namdb.cost_row = 0; show namdb.cost_row; rollback; show namdb.cost_row",
		    "BEGIN SET0ns; SHOW ROLLBACK40ns; SHOW" },
		{ "set namdb.cost_trip = -2", "ERROR 22023: -2 is outside the valid range for parameter "
					      "\"namdb.cost_trip\" (-1, 0 .. 1s)" },
		{ "set namdb.cost_trip = '2s'", "ERROR 22023: 2s is outside the valid range for parameter "
						"\"namdb.cost_trip\" (-1, 0 .. 1s)" },
		{ "set namdb.cost_trip = 'nan'", "ERROR 22023: nan is outside the valid range for parameter "
						 "\"namdb.cost_trip\" (-1, 0 .. 1s)" },
		{ "set namdb.cost_trip = '1kB'",
		    "ERROR 22023: invalid value for parameter \"namdb.cost_trip\": \"1kB\"" },
		{ "set namdb.cost_cache = '5ns'",
		    "ERROR 22023: invalid value for parameter \"namdb.cost_cache\": \"5ns\"" },
		{ "set namdb.cost_trip = ''",
		    "ERROR 22023: invalid value for parameter \"namdb.cost_trip\": \"\"" },
		{ "set namdb.cost_none = 1",
		    "ERROR 42704: unrecognized configuration parameter \"namdb.cost_none\"" },
		{ "reset all", "RESET" },
		{ "show namdb.cost_cache", "1MB; SHOW" },
		{ "show namdb.costs", "measured; SHOW" },
	};
	golden_all(list);
}

/* A plan is made again if a constant is given that changes it; others are not touched. */
static void
constants_decide(void **state)
{
	(void)state;
#define BY_INDEX "Project;  -> Index Scan using ci on c;       Index Cond: (v = 7); EXPLAIN"
#define BY_SCAN  "Project;  -> Seq Scan on c;       Filter: (v = 7); EXPLAIN"
	static const struct golden list[] = {
		{ "create table c (id int primary key, v int, w int)", "CREATE TABLE" },
		{ "insert into c select i, i % 40, i from generate_series(1, 4000) i", "INSERT 0 4000" },
		{ "create index ci on c (v)", "CREATE INDEX" },
		{ "analyze c", "ANALYZE" },
		{ "set namdb.costs = 'standard'", "SET" },
		{ "prepare p as select w from c where v = 7", "PREPARE" },
		{ "explain (costs off) execute p", BY_INDEX },
		{ "set namdb.cost_verb = '1ms'", "SET" },
		{ "explain (costs off) execute p", BY_SCAN },
		{ "explain (costs off) create table d as select w from c where v = 7", BY_SCAN },
		{ "explain (costs off) select w from c where v = 7", BY_SCAN },
		{ "begin; set local namdb.cost_row = '1ms'; explain (costs off) execute p; rollback",
		    "BEGIN SETProject;  -> Index Scan using ci on c;       Index Cond: (v = 7); "
		    "EXPLAIN ROLLBACK" },
		{ "explain (costs off) execute p", BY_SCAN },
		{ "reset namdb.cost_verb", "RESET" },
		{ "explain (costs off) execute p", BY_INDEX },
	};
	golden_all(list);
}

/* Chains, stars and cliques of many tables: a plan is made soon. The limit is generous: machines
 * are busy. */
static void
many_tables(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	static char text[200000];
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_string_equal(ask(&t, "create table m (id int primary key, x int, y int)"), "CREATE TABLE");
	assert_string_equal(
	    ask(&t, "insert into m select i, i, i % 10 from generate_series(1, 100) i"), "INSERT 0 100");
	for (unsigned shape = 0; shape < 3; shape++)
		for (unsigned n = 2; n <= 60; n = n < 12 ? n + 5 : n * 5 / 2) {
			size_t at = (size_t)snprintf(text, sizeof text, "explain select count(*) from m t0");
			for (unsigned i = 1; i < n; i++)
				at += (size_t)snprintf(text + at, sizeof text - at, ", m t%u", i);
			at += (size_t)snprintf(text + at, sizeof text - at, " where true");
			for (unsigned i = 1; i < n; i++)
				for (unsigned k = shape == 2 && n <= 30 ? 0
						  : shape == 0          ? i - 1
									: 0;
				     k < (shape == 2 && n <= 30 ? i
					     : shape == 0       ? i
								: 1);
				     k++)
					at += (size_t)snprintf(text + at, sizeof text - at,
					    " and t%u.%s = t%u.x", k, shape == 0 ? "y" : "x", i);
			struct timespec from, to;
			clock_gettime(CLOCK_MONOTONIC, &from);
			assert_null(strstr(ask(&t, text), "ERROR"));
			clock_gettime(CLOCK_MONOTONIC, &to);
			double took =
			    (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
			print_message("shape %u, %u tables: %.1f ms\n", shape, n, took * 1e3);
			assert_true(took < 5);
		}
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order),
		cmocka_unit_test(beats_greedy),
		cmocka_unit_test(settings),
		cmocka_unit_test(constants_decide),
		cmocka_unit_test(many_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
