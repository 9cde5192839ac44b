/* range_test.c -- RANGE frames with offsets over dates, times and intervals; aggregates over
 * windows. Answers are PostgreSQL 15's. */
#include "golden.h"

static const struct golden cases[] = {
	{ "CREATE TABLE ev (id int PRIMARY KEY, d date, ts timestamp, tz timestamptz, tm time, iv interval, "
	  "n numeric, v int)",
	    "CREATE TABLE" },
	{ "INSERT INTO ev VALUES (1,'2024-01-01','2024-01-01 10:00','2024-01-01 10:00+00','10:00','1 "
	  "day',1.5,10),(2,'2024-01-02','2024-01-01 11:00','2024-01-01 11:00+00','11:00','25 "
	  "hours',2.5,20),(3,'2024-01-05','2024-01-03 10:00','2024-01-03 10:00+00','23:30','2 "
	  "days',2.6,30),(4,'2024-02-01','2024-02-01 00:00','2024-02-01 00:00+00','00:10','1 "
	  "month',10,40),(5,'2024-02-29','2024-02-29 00:00','2024-02-29 00:00+00','12:00','30 "
	  "days',11,50),(6,NULL,NULL,NULL,NULL,NULL,NULL,60),(7,'infinity','infinity','infinity','24:00','"
	  "100 years','NaN',70),(8,'2024-01-02','2024-01-01 11:00','2024-01-01 11:00+00','11:00','25 "
	  "hours',2.5,80)",
	    "INSERT 0 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN '1 day' PRECEDING AND '3 days' FOLLOWING) FROM "
	  "ev ORDER BY id",
	    "1|110;2|140;3|30;4|40;5|50;6|60;7|70;8|140; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY d DESC RANGE BETWEEN '1 month' PRECEDING AND CURRENT ROW) FROM "
	  "ev ORDER BY id",
	    "1|180;2|170;3|70;4|90;5|50;6|60;7|70;8|170; SELECT 8" },
	{ "SELECT id, count(*) OVER (ORDER BY ts RANGE '1 hour' PRECEDING), min(id) OVER (ORDER BY ts RANGE "
	  "BETWEEN interval '2 days' FOLLOWING AND interval '40 days' FOLLOWING) FROM ev ORDER BY id",
	    "1|1|3;2|3|4;3|1|4;4|1|5;5|1|~;6|1|6;7|1|7;8|3|4; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY tz RANGE BETWEEN '1 month' PRECEDING AND '1 day' PRECEDING) FROM "
	  "ev ORDER BY id",
	    "1|~;2|~;3|110;4|140;5|40;6|60;7|70;8|~; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '1 hour' PRECEDING AND '30 min' FOLLOWING) FROM "
	  "ev ORDER BY id",
	    "1|10;2|110;3|100;4|40;5|150;6|60;7|100;8|110; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY iv RANGE BETWEEN '1 hour' PRECEDING AND '30 days' FOLLOWING) "
	  "FROM ev ORDER BY id",
	    "1|230;2|230;3|120;4|90;5|90;6|60;7|70;8|230; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY n RANGE BETWEEN 1.0 PRECEDING AND 0.1 FOLLOWING) FROM ev ORDER "
	  "BY id",
	    "1|10;2|140;3|130;4|40;5|90;6|60;7|70;8|140; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN '-1 day' PRECEDING AND CURRENT ROW) FROM ev "
	  "ORDER BY id",
	    "ERROR 22013: invalid preceding or following size in window function" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM ev ORDER BY id",
	    "ERROR 0A000: RANGE with offset PRECEDING/FOLLOWING is not supported for column type date and "
	    "offset type integer" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN NULL PRECEDING AND CURRENT ROW) FROM ev ORDER BY "
	  "id",
	    "ERROR 22004: frame starting offset must not be null" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 'x' PRECEDING AND CURRENT ROW) FROM ev ORDER BY "
	  "id",
	    "ERROR 22007: invalid input syntax for type interval: \"x\"" },
	{ "SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '1 day' PRECEDING AND CURRENT ROW) FROM ev "
	  "ORDER BY id",
	    "1|10;2|100;3|30;4|40;5|50;6|60;7|70;8|100; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY tm RANGE BETWEEN '-1 hour' PRECEDING AND CURRENT ROW) FROM ev "
	  "ORDER BY id",
	    "ERROR 22013: invalid preceding or following size in window function" },
	{ "SELECT id, sum(v) OVER (PARTITION BY id % 2 ORDER BY d NULLS FIRST RANGE BETWEEN '31 days' "
	  "PRECEDING AND '31 days' FOLLOWING) FROM ev ORDER BY id",
	    "1|40;2|140;3|40;4|140;5|50;6|60;7|70;8|140; SELECT 8" },
	{ "SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND '1 day' FOLLOWING "
	  "EXCLUDE CURRENT ROW) FROM ev ORDER BY id",
	    "1|100;2|90;3|110;4|140;5|180;6|300;7|230;8|30; SELECT 8" },
	{ "SELECT id, string_agg(id::text, ',') OVER (ORDER BY id ROWS 2 PRECEDING) FROM ev ORDER BY id",
	    "1|1;2|1,2;3|1,2,3;4|2,3,4;5|3,4,5;6|4,5,6;7|5,6,7;8|6,7,8; SELECT 8" },
	{ "SELECT id, string_agg(id::text, ',') FILTER (WHERE id <> 2) OVER (ORDER BY id) FROM ev ORDER BY "
	  "id",
	    "1|1;2|1;3|1,3;4|1,3,4;5|1,3,4,5;6|1,3,4,5,6;7|1,3,4,5,6,7;8|1,3,4,5,6,7,8; SELECT 8" },
	{ "SELECT id, count(*) FILTER (WHERE v > 20) OVER (ORDER BY id), sum(v) FILTER (WHERE v > 20) OVER "
	  "(ORDER BY id ROWS 1 PRECEDING), bool_and(v > 10) OVER (ORDER BY id DESC), stddev(v) OVER (ORDER "
	  "BY id) FROM ev ORDER BY id",
	    "1|0|~|f|~;2|0|~|t|7.0710678118654752;3|1|30|t|10.0000000000000000;4|2|70|t|12.9099444873580563;"
	    "5|3|90|t|15.8113883008418967;6|4|110|t|18.7082869338697069;7|5|130|t|21.6024689946928674;8|6|"
	    "150|t|24.4948974278317810; SELECT 8" },
	{ "SELECT count(DISTINCT v) OVER () FROM ev",
	    "ERROR 0A000: DISTINCT is not implemented for window functions" },
	{ "SELECT string_agg(id::text, ',' ORDER BY id) OVER () FROM ev",
	    "ERROR 0A000: aggregate ORDER BY is not implemented for window functions" },
	{ "SELECT rank() FILTER (WHERE true) OVER () FROM ev",
	    "ERROR 0A000: FILTER is not implemented for non-aggregate window functions" },
	{ "SELECT id, sum(v) OVER (ORDER BY id::text RANGE 1 PRECEDING) FROM ev",
	    "ERROR 0A000: RANGE with offset PRECEDING/FOLLOWING is not supported for column type text" },
	{ "SELECT id, sum(v) OVER (ORDER BY d, id RANGE '1 day' PRECEDING) FROM ev",
	    "ERROR 42P20: RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column" },
};

static void
answers(void **state)
{
	(void)state;
	golden_all(cases);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
