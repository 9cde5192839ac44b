/* series_test.c -- generate_series over numerics and timestamps; FETCH ... WITH TIES. Every answer
 * is PostgreSQL 15's. */
#include "golden.h"

static const struct golden series[] = {
	{ "SELECT * FROM generate_series(timestamp '2024-01-30', timestamp '2024-03-02', interval '1 month') "
	  "g",
	    "2024-01-30 00:00:00;2024-02-29 00:00:00; SELECT 2" },
	{ "SELECT * FROM generate_series(timestamp '2024-01-02', '2024-01-01', '-6 hours') g",
	    "2024-01-02 00:00:00;2024-01-01 18:00:00;2024-01-01 12:00:00;2024-01-01 06:00:00;2024-01-01 "
	    "00:00:00; SELECT 5" },
	{ "SELECT * FROM generate_series(date '2024-01-01', date '2024-01-03', '1 day') g",
	    "2024-01-01 00:00:00+00;2024-01-02 00:00:00+00;2024-01-03 00:00:00+00; SELECT 3" },
	{ "SELECT g::date, o FROM generate_series('2024-01-01'::timestamptz, '2024-01-03', '36 hours') WITH "
	  "ORDINALITY AS g(g, o)",
	    "2024-01-01|1;2024-01-02|2; SELECT 2" },
	{ "SELECT * FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-03', '0') g",
	    "ERROR 22023: step size cannot equal zero" },
	{ "SELECT * FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-03') g",
	    "ERROR 42883: function generate_series(timestamp without time zone, timestamp without time zone) "
	    "does not exist" },
	{ "SELECT * FROM generate_series(timestamp '2024-01-01', NULL, '1 day') g", "SELECT 0" },
	{ "SELECT * FROM generate_series(timestamp '2024-01-03', timestamp '2024-01-01', '1 day') g",
	    "SELECT 0" },
	{ "SELECT * FROM generate_series(1.5, 3, 0.5) g", "1.5;2.0;2.5;3.0; SELECT 4" },
	{ "SELECT * FROM generate_series(1.0, 3) g", "1.0;2.0;3.0; SELECT 3" },
	{ "SELECT * FROM generate_series(3, 1.0, -0.75) g", "3;2.25;1.50; SELECT 3" },
	{ "SELECT * FROM generate_series(1.0, 3, 0) g", "ERROR 22023: step size cannot equal zero" },
	{ "SELECT * FROM generate_series('NaN'::numeric, 3) g", "ERROR 22023: start value cannot be NaN" },
	{ "SELECT * FROM generate_series(1.0, 'infinity') g", "ERROR 22023: stop value cannot be infinity" },
	{ "SELECT * FROM generate_series(1.0, 2, 'NaN') g", "ERROR 22023: step size cannot be NaN" },
	{ "SELECT count(*), sum(g), min(g), max(g) FROM generate_series(0.1, 500, 0.1) g",
	    "5000|1250250.0|0.1|500.0; SELECT 1" },
	{ "SELECT count(*), max(g) FROM generate_series(timestamp '2024-01-01', timestamp '2024-12-31 "
	  "23:59', '1 hour') g",
	    "8784|2024-12-31 23:00:00; SELECT 1" },
	{ "SELECT generate_series(timestamp '2024-01-01', timestamp '2024-01-02', '12 hours') AS g ORDER BY "
	  "1",
	    "2024-01-01 00:00:00;2024-01-01 12:00:00;2024-01-02 00:00:00; SELECT 3" },
	{ "SELECT v.d, g FROM (VALUES (date '2024-01-01'), (date '2024-01-05')) AS v(d), "
	  "generate_series(v.d, v.d + 1, '1 day') g ORDER BY 1, 2",
	    "2024-01-01|2024-01-01 00:00:00+00;2024-01-01|2024-01-02 00:00:00+00;2024-01-05|2024-01-05 "
	    "00:00:00+00;2024-01-05|2024-01-06 00:00:00+00; SELECT 4" },
	{ "SELECT * FROM generate_series(1, 2, 'x') g",
	    "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "SELECT * FROM generate_series(1, 2.5::float8) g",
	    "ERROR 42883: function generate_series(integer, double precision) does not exist" },
};

static const struct golden with_ties[] = {
	{ "CREATE TABLE tt (id int PRIMARY KEY, v int, s text)", "CREATE TABLE" },
	{ "INSERT INTO tt VALUES "
	  "(1,10,'a'),(2,20,'b'),(3,20,'c'),(4,30,'b'),(5,30,'a'),(6,NULL,'z'),(7,NULL,'y'),(8,30,'q')",
	    "INSERT 0 8" },
	{ "SELECT v FROM tt ORDER BY v FETCH FIRST 2 ROWS WITH TIES", "10;20;20; SELECT 3" },
	{ "SELECT v FROM tt ORDER BY v FETCH FIRST 1 ROW WITH TIES", "10; SELECT 1" },
	{ "SELECT v, s FROM tt ORDER BY v DESC, s FETCH FIRST 1 ROWS WITH TIES OFFSET 0", "~|y; SELECT 1" },
	{ "SELECT v FROM tt ORDER BY v OFFSET 1 FETCH FIRST 1 ROWS WITH TIES", "20;20; SELECT 2" },
	{ "SELECT v FROM tt ORDER BY v OFFSET 3 ROWS FETCH NEXT 2 ROWS WITH TIES", "30;30;30; SELECT 3" },
	{ "SELECT v FROM tt ORDER BY v FETCH FIRST 0 ROWS WITH TIES", "SELECT 0" },
	{ "SELECT v FROM tt ORDER BY v FETCH FIRST 100 ROWS WITH TIES", "10;20;20;30;30;30;~;~; SELECT 8" },
	{ "SELECT s FROM tt ORDER BY s, v FETCH FIRST 3 ROWS WITH TIES", "a;a;b; SELECT 3" },
	{ "SELECT count(*) FROM (SELECT v FROM tt ORDER BY v FETCH FIRST 4 ROWS WITH TIES) x",
	    "6; SELECT 1" },
	{ "SELECT v FROM tt ORDER BY length(s), v FETCH FIRST 2 ROWS WITH TIES", "10;20;20; SELECT 3" },
	{ "SELECT DISTINCT v FROM tt ORDER BY v FETCH FIRST 2 ROWS WITH TIES", "10;20; SELECT 2" },
	{ "SELECT v FROM tt UNION ALL SELECT 10 ORDER BY v FETCH FIRST 1 ROWS WITH TIES", "10;10; SELECT 2" },
	{ "SELECT v FROM tt FETCH FIRST 1 ROWS WITH TIES",
	    "ERROR 42601: WITH TIES cannot be specified without ORDER BY clause" },
	{ "SELECT v FROM tt ORDER BY v FETCH FIRST -1 ROWS WITH TIES",
	    "ERROR 2201W: LIMIT must not be negative" },
	{ "SELECT v, count(*) FROM tt GROUP BY v ORDER BY count(*) DESC, v IS NULL FETCH FIRST 1 ROWS WITH "
	  "TIES",
	    "30|3; SELECT 1" },
	{ "SELECT count(*) FROM (SELECT g % 3 FROM generate_series(1, 9000) g ORDER BY 1 FETCH FIRST 5 ROWS "
	  "WITH TIES) x",
	    "3000; SELECT 1" },
};

static void
other_series(void **state)
{
	(void)state;
	golden_all(series);
}

static void
ties(void **state)
{
	(void)state;
	golden_all(with_ties);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(other_series), cmocka_unit_test(ties) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
