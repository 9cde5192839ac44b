/* stats_test.c -- ANALYZE and nam_stats: compared with PostgreSQL 15's pg_stats of equal rows. */
#include "golden.h"

#define STATS "select attname, null_frac, n_distinct, most_common_vals, most_common_freqs "

static const struct golden all[] = {
	{ "create table t (id int primary key, g text, d date, k int, h int)", "CREATE TABLE" },
	{ "select count(*) from nam_stats", "0; SELECT 1" },
	{ "analyze t", "ANALYZE" },
	{ "select attname, table_rows, null_frac, n_distinct, histogram_bounds from nam_stats where attname "
	  "= 'g'",
	    "g|0|0|0|~; SELECT 1" },
	{ "insert into t select i, case when i % 2 = 0 then 'even \"one' when i % 3 = 0 then null end, date "
	  "'2020-01-01' + i % 3, i % 20, case when i % 4 = 0 then i when i % 4 = 1 then 7 else i % 40 end "
	  "from "
	  "generate_series(1, 1000) i",
	    "INSERT 0 1000" },
	{ "analyze verbose t", "ANALYZE" },
	{ STATS "from nam_stats where tablename = 't' and attname in ('d', 'g', 'id') order by 1",
	    "d|0|3|{2020-01-02,2020-01-01,2020-01-03}|{0.334,0.333,0.333};"
	    "g|0.5|1|{\"even \\\"one\"}|{0.5};id|0|-1|~|~; SELECT 3" },
	{ STATS "from nam_stats where attname in ('h', 'k') order by 1",
	    "h|0|-0.27|{7,2,3,6,10,11,14,15,18,19,22,23,26,27,30,31,34,35,38,39}|{0.275,0.025,0.025,0.025,0."
	    "025,"
	    "0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025,0.025};"
	    "k|0|20|{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19}|{0.05,0.05,0.05,0.05,0.05,0.05,0.05,"
	    "0.05,"
	    "0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05}; SELECT 2" },
	{ "select attname, substring(histogram_bounds from 1 for 15) from nam_stats where histogram_bounds "
	  "is not "
	  "null order by 1",
	    "h|{4,12,20,32,40,;id|{1,10,20,30,40,; SELECT 2" },
	{ "select attname, avg_width, table_rows from nam_stats order by 1",
	    "d|4|1000;g|9|1000;h|4|1000;id|4|1000;k|4|1000; SELECT 5" },
	/* transactional, as PostgreSQL's pg_statistic */
	{ "begin", "BEGIN" },
	{ "delete from t where k = 3", "DELETE 50" },
	{ "analyze t (k)", "ANALYZE" },
	{ "select attname, table_rows, n_distinct from nam_stats where attname in ('k', 'h') order by 1",
	    "h|950|-0.27;k|950|19; SELECT 2" },
	{ "rollback", "ROLLBACK" },
	{ "select attname, table_rows, n_distinct from nam_stats where attname in ('k', 'h') order by 1",
	    "h|1000|-0.27;k|1000|20; SELECT 2" },
	/* ALTER TABLE keeps them; they go with the table */
	{ "alter table t rename column k to kk", "ALTER TABLE" },
	{ "select n_distinct from nam_stats where attname = 'kk'", "20; SELECT 1" },
	{ "create view v as select * from t", "CREATE VIEW" },
	{ "analyze v, nam_tables, t (kk, h)", "ANALYZE" },

	{ "create table j (a json, b bytea, c text)", "CREATE TABLE" },
	{ "insert into j values ('{}', '\\x00ff', repeat('x', 100)), ('[1]', '\\x00ff', repeat('x', 100)), "
	  "(null, null, "
	  "repeat('x', 99))",
	    "INSERT 0 3" },
	{ "analyze", "ANALYZE" },
	{ STATS "from nam_stats where tablename = 'j' order by 1",
	    "a|0.33333334|0|~|~;b|0.33333334|-0.33333334|{\"\\\\x00ff\"}|{0.6666667};c|0|-0.6666667|~|~; "
	    "SELECT 3" },
	{ "select length(histogram_bounds) from nam_stats where tablename = 'j' and attname = 'c'",
	    "131; SELECT 1" },
	{ "drop table t cascade", "DROP TABLE" },
	{ "select count(*) from nam_stats where tablename <> 'j'", "0; SELECT 1" },
	/* mistakes */
	{ "analyze nope", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "analyze j (a, nope)", "ERROR 42703: column \"nope\" of relation \"j\" does not exist" },
	{ "analyze j (a, b, a)", "ERROR 42701: column \"a\" of relation \"j\" appears more than once" },
	{ "analyze (nope) j", "ERROR 42601: unrecognized ANALYZE option \"nope\"" },
	{ "analyze (verbose maybe) j", "ERROR 42601: verbose requires a Boolean value" },
	{ "analyze (verbose off, skip_locked) j", "ANALYZE" },
	{ "insert into nam_stats values (1)", "ERROR 42501: permission denied for table nam_stats" },
	{ "vacuum", "VACUUM" },
	{ "vacuum (full, analyze) j", "VACUUM" },
	{ "vacuum nope", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "vacuum j (a)", "ERROR 0A000: ANALYZE option must be specified when a column list is provided" },
	{ "vacuum (nope) j", "ERROR 42601: unrecognized VACUUM option \"nope\"" },
	{ "vacuum j; select 1", "ERROR 25001: VACUUM cannot run inside a transaction block" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(all);
}

/* Beyond the sample's size: within what a sample of 30,000 may say of 60,000 rows. */
static void
sampled(void **state)
{
	(void)state;
	static const struct golden list[] = {
		{ "create table big (id int primary key, few int, many int, skew int)", "CREATE TABLE" },
		{ "insert into big select i, i % 7, i % 5000, case when i % 4 = 0 then 0 else i end from "
		  "generate_series(1, 60000) i",
		    "INSERT 0 60000" },
		{ "analyze big", "ANALYZE" },
		{ "select attname, table_rows, n_distinct from nam_stats where attname in ('id', 'few') "
		  "order by 1",
		    "few|60000|7;id|60000|-1; SELECT 2" },
		{ "select n_distinct between 4900 and 5100 from nam_stats where attname = 'many'",
		    "t; SELECT 1" },
		{ "select n_distinct between -0.85 and -0.65, most_common_vals = '{0}', "
		  "most_common_freqs::text between '{0.24' and '{0.26' from nam_stats where attname = 'skew'",
		    "t|t|t; SELECT 1" },
	};
	golden_all(list);
}

/* The first operator's guess and what came: of whatever EXPLAIN ANALYZE prints, the first two
 * "rows=". */
static bool
guess(struct test_client *t, const char *query, double *guessed, double *came)
{
	char text[1000];
	snprintf(text, sizeof text, "explain (analyze, timing off, summary off) %s", query);
	const char *at = strstr(ask(t, text), "rows=");
	if (at == NULL)
		return false;
	*guessed = strtod(at + 5, NULL);
	if ((at = strstr(at + 5, "rows=")) == NULL)
		return false;
	*came = strtod(at + 5, NULL);
	return true;
}

struct estimate {
	const char *query;
	double factor;
};

static unsigned
bad_guesses(struct test_client *t, const struct estimate *e, size_t n)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < n; i++) {
		double guessed = -1, came = -1;
		bool ok = guess(t, e[i].query, &guessed, &came);
		double real = came < 1 ? 1 : came;
		if (ok && guessed <= real * e[i].factor && guessed * e[i].factor >= real)
			continue;
		wrong++;
		fprintf(stderr, "%s: guessed %.0f, came %.0f\n", e[i].query, guessed, came);
	}
	return wrong;
}

/* 20,000 rows whose distribution is known: the guess is within a factor of what comes. */
static void
estimates(void **state)
{
	(void)state;
	static const struct golden setup[] = {
		{ "create table t (id int primary key, k int, g text, v numeric(10,2), d date, n int, f "
		  "float8, "
		  "ok boolean, skew int, ts timestamp)",
		    "CREATE TABLE" },
		{ "insert into t select i, i % 100, 'name' || i % 1000, i, date '2020-01-01' + i % 365, "
		  "case when i % 4 = 0 then i end, i / 2.0, i % 10 = 0, case when i % 2 = 0 then 1 else i "
		  "end, "
		  "timestamp '2020-01-01 00:00' + i * interval '1 minute' from generate_series(1, 20000) i",
		    "INSERT 0 20000" },
		{ "create table s (id int primary key, t_id int, x int)", "CREATE TABLE" },
		{ "insert into s select i, i % 20000 + 1, i % 10 from generate_series(1, 50000) i",
		    "INSERT 0 50000" },
		{ "create table pair (a int, b int, v int, primary key (a, b))", "CREATE TABLE" },
		{ "insert into pair select i / 100, i % 100, i % 7 from generate_series(0, 9999) i",
		    "INSERT 0 10000" },
		{ "analyze", "ANALYZE" },
	};
	static const struct estimate list[] = {
		{ "select * from t where k = 5", 1.1 },
		{ "select * from t where 5 = k", 1.1 },
		{ "select * from t where k <> 5", 1.05 },
		{ "select * from t where k = 5.0", 1.1 },
		{ "select * from t where k in (1, 2, 3, 1000)", 1.3 },
		{ "select * from t where k not in (1, 2, 3)", 1.05 },
		{ "select * from t where skew = 1", 1.1 },
		{ "select * from t where skew = 777", 3 },
		{ "select * from t where skew <> 1", 1.1 },
		{ "select * from t where v < 5000", 1.1 },
		{ "select * from t where v between 100 and 300", 1.2 },
		{ "select * from t where v > 100 and v <= 300 and v >= 50", 1.2 },
		{ "select * from t where 100 < v and 300 >= v", 1.2 },
		{ "select * from t where f < 1000", 1.2 },
		{ "select * from t where f < 1000::numeric", 1.2 },
		{ "select * from t where v > 1e6", 20 },
		{ "select * from t where d >= '2020-03-01' and d < '2020-04-01'", 1.2 },
		{ "select * from t where d < timestamp '2020-02-01 00:00'", 1.2 },
		{ "select * from t where ts < '2020-01-02'", 1.2 },
		{ "select * from t where g like 'name1%'", 1.3 },
		{ "select * from t where g like 'name12%'", 1.8 },
		{ "select * from t where g like '%9'", 1.5 },
		{ "select * from t where g not like 'name1%'", 1.1 },
		{ "select * from t where g ~ '^name[0-4]'", 1.3 },
		{ "select * from t where length(g) = 6", 1.8 },
		{ "select * from t where n is null", 1.05 },
		{ "select * from t where n is not null", 1.05 },
		{ "select * from t where n > 10000", 1.2 },
		{ "select * from t where not (n > 10000)", 1.2 },
		{ "select * from t where coalesce(n, 0) = 0", 1.1 },
		{ "select * from t where ok", 1.1 },
		{ "select * from t where not ok", 1.1 },
		{ "select * from t where ok is null", 1.1 },
		{ "select * from t where k = 5 or k = 6", 1.2 },
		{ "select * from t where k = 5 or v < 5000", 1.1 },
		{ "select * from t where k < 50 and v < 10000", 1.2 },
		{ "select * from t where k % 2 = 0", 1.1 },
		{ "select * from t where null", 1.1 },
		{ "select * from t where k = null", 1.1 },
		{ "select k from t group by k", 1.05 },
		{ "select k, ok from t group by k, ok", 11 },
		{ "select g from t where id <= 100 group by g", 1.3 },
		{ "select distinct k from t", 1.05 },
		{ "select distinct id from t", 1.05 },
		{ "select * from t, s where t.id = s.t_id", 1.1 },
		{ "select * from t, s where t.id = s.t_id and s.x = 3", 1.2 },
		{ "select * from t, s where t.id = s.t_id and t.k = 3", 1.2 },
		{ "select * from t, s where t.k = s.x and t.id < 1000", 1.3 },
		{ "select * from t a join t b on a.skew = b.skew where a.id < 500 and b.id < 500", 2 },
		{ "select * from pair p join pair q on p.a = q.a and p.b = q.b", 1.1 },
		{ "select * from t limit 7", 1.01 },
		{ "select * from t order by v limit 7", 1.01 },
		/* what a query in FROM passes on */
		{ "select * from (select k, v from t) x where k = 5", 1.1 },
		{ "select * from (select k, count(*) from t group by k) x where k < 10", 1.2 },
		{ "select * from (select id, k from t) x join s on s.t_id = x.id", 1.1 },
	};
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 512u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, setup, sizeof setup / sizeof *setup);
	wrong += bad_guesses(&t, list, sizeof list / sizeof *list);
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(sampled),
		cmocka_unit_test(estimates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
