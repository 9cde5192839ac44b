/*
 * hashjoin_test.c -- joins and what is grouped above them, in sizes that fill several batches.
 * Every question is put twice: as it is, and with each column in an expression, so that nothing
 * that is known of where a column comes from can be used. The two must have the same rows, and as
 * many as PostgreSQL 15 finds.
 */
#include "golden.h"

struct pair {
	const char *one, *other;
	unsigned rows; /* that both have */
};

static const struct golden tables[] = {
	/* f: 5,000 rows in runs of 3 with the same k; k = 0 .. 1666, every 7th has no partner,
	 * every 11th is NULL */
	{ "create table f (id int primary key, k text, kn numeric, kf float8, kb char(12), ki bigint, v int, "
	  "w text)",
	    "CREATE TABLE" },
	{ "insert into f select i, 'key ' || i / 3, (i / 3)::numeric / 4, (i / 3)::float8 / 4, 'b' || i / 3, "
	  "i / 3, i, 'w' "
	  "|| i % 5 from generate_series(0, 4999) i",
	    "INSERT 0 5000" },
	{ "update f set k = null where ki % 11 = 0", "UPDATE 456" },
	/* d: one row each, but for k divisible by 7 */
	{ "create table d (k text primary key, n numeric, f float8, b char(20), i int, s text, t text)",
	    "CREATE TABLE" },
	{ "insert into d select 'key ' || i, i::numeric(20,2) / 4, i::float8 / 4, 'b' || i, i, case when i % "
	  "13 <> 0 then "
	  "'s' || i % 13 end, 't' || i % 3 from generate_series(0, 1999) i where i % 7 <> 0",
	    "INSERT 0 1714" },
	/* m: three rows for each k of the even ones */
	{ "create table m (id int primary key, k text, s text, x int)", "CREATE TABLE" },
	{ "insert into m select i * 3 + j, 'key ' || i, 's' || i % 13, j from generate_series(0, 1998, 2) i, "
	  "generate_series(0, 2) j",
	    "INSERT 0 3000" },
	{ "create table none (k text primary key, s text)", "CREATE TABLE" },
};

static const struct pair pairs[] = {
	{ "select d.s, count(*), sum(v) from f join d on f.k = d.k group by d.s",
	    "select d.s || '', count(*), sum(v) from f join d on f.k || '' = d.k group by 1", 13 },
	{ "select d.s, d.t, count(*), min(w) from f join d on f.k = d.k group by d.s, d.t",
	    "select d.s || '', d.t || '', count(*), min(w) from f join d on f.k || '' = d.k group by 1, 2",
	    39 },
	{ "select d.s, e.t, count(*), max(v) from f join d on f.k = d.k join d e on f.ki = e.i group by d.s, "
	  "e.t",
	    "select d.s || '', e.t || '', count(*), max(v) from f join d on f.k || '' = d.k join d e on f.ki "
	    "+ 0 = e.i + 0 "
	    "group by 1, 2",
	    39 },
	{ "select d.s, f.w, count(*), max(v) from f join d on f.k = d.k group by d.s, f.w",
	    "select d.s || '', f.w || '', count(*), max(v) from f join d on f.k || '' = d.k group by 1, 2",
	    65 },
	{ "select f.w, d.s, e.t, d.t, count(*) from f join d on f.k = d.k join d e on f.ki = e.i group by "
	  "d.s, e.t, d.t, f.w",
	    "select f.w || '', d.s || '', e.t || '', d.t || '', count(*) from f join d on f.k || '' = d.k "
	    "join d e on f.ki + "
	    "0 = e.i + 0 group by 1, 2, 3, 4",
	    195 },
	/* a row without partner is a group of its own, and so is a NULL */
	{ "select d.s, count(*), count(d.k) from f left join d on f.k = d.k group by d.s",
	    "select d.s || '', count(*), count(d.k) from f left join d on f.k || '' = d.k group by 1", 13 },
	{ "select d.i, f.w, count(*) from f left join d on f.k = d.k group by d.i, f.w",
	    "select d.i + 0, f.w || '', count(*) from f left join d on f.k || '' = d.k group by 1, 2", 3899 },
	{ "select d.s, e.s, count(*) from f left join d on f.k = d.k left join d e on f.ki = e.i and e.t = "
	  "'t1' group by "
	  "d.s, e.s",
	    "select d.s || '', e.s || '', count(*) from f left join d on f.k || '' = d.k left join d e on "
	    "f.ki + 0 = e.i + 0 "
	    "and e.t || '' = 't1' group by 1, 2",
	    37 },
	/* what was compared with a key: the left side's own values where there was no partner */
	{ "select f.k, count(*) from f join d on f.k = d.k group by f.k",
	    "select f.k || '', count(*) from f join d on f.k || '' = d.k group by 1", 1298 },
	{ "select f.k, count(*), count(d.k) from f left join d on f.k = d.k group by f.k",
	    "select f.k || '', count(*), count(d.k) from f left join d on f.k || '' = d.k group by 1", 1516 },
	{ "select f.k, d.s, count(*) from f left join d on f.k = d.k and d.t <> 't0' group by f.k, d.s",
	    "select f.k || '', d.s || '', count(*) from f left join d on f.k || '' = d.k and d.t || '' <> "
	    "'t0' group by 1, 2",
	    1516 },
	/* other types of keys: equal values that look differently, one group */
	{ "select f.kn, count(*), min(d.s) from f join d on f.kn = d.n group by f.kn",
	    "select f.kn + 0, count(*), min(d.s) from f join d on f.kn + 0 = d.n group by 1", 1428 },
	{ "select d.n, f.w, count(*) from f join d on f.kn = d.n group by d.n, f.w",
	    "select d.n + 0, f.w || '', count(*) from f join d on f.kn + 0 = d.n group by 1, 2", 4284 },
	{ "select d.f, count(*) from f join d on f.kf = d.f group by d.f",
	    "select d.f + 0, count(*) from f join d on f.kf + 0 = d.f group by 1", 1428 },
	{ "select d.b = 'b8', count(*), sum(v) from f join d on f.kb = d.b group by d.b",
	    "select d.b || '' = 'b8', count(*), sum(v) from f join d on f.kb = d.b group by d.b || ''",
	    1428 },
	{ "select d.s, count(*) from f join d on f.ki = d.i and f.k = d.k group by d.s",
	    "select d.s || '', count(*) from f join d on f.ki + 0 = d.i + 0 and f.k || '' = d.k group by 1",
	    13 },
	/* several partners each */
	{ "select m.s, m.x, count(*), sum(v) from f join m on f.k = m.k group by m.s, m.x",
	    "select m.s || '', m.x + 0, count(*), sum(v) from f join m on f.k || '' = m.k group by 1, 2",
	    39 },
	{ "select d.s, m.x, count(*) from f join d on f.k = d.k join m on m.k = d.k group by d.s, m.x",
	    "select d.s || '', m.x + 0, count(*) from f join d on f.k || '' = d.k join m on m.k || '' = d.k "
	    "|| '' group by 1, "
	    "2",
	    39 },
	{ "select m.s, f.w, count(*), count(m.x) from f left join m on f.k = m.k and m.x > 0 group by m.s, "
	  "f.w",
	    "select m.s || '', f.w || '', count(*), count(m.x) from f left join m on f.k || '' = m.k and m.x "
	    "+ 0 > 0 group by "
	    "1, 2",
	    70 },
	/* rows of the kept side that are left over come last */
	{ "select d.s, count(*), count(f.id), min(f.w) from f right join d on f.k = d.k group by d.s",
	    "select d.s || '', count(*), count(f.id), min(f.w) from f right join d on f.k || '' = d.k group "
	    "by 1",
	    13 },
	{ "select d.s, m.s, count(*) from d full join m on d.k = m.k group by d.s, m.s",
	    "select d.s || '', m.s || '', count(*) from d full join m on d.k || '' = m.k group by 1, 2", 38 },
	{ "select d.t, f.w, count(*) from f full join d on f.k = d.k and f.v % 2 = 0 group by d.t, f.w",
	    "select d.t || '', f.w || '', count(*) from f full join d on f.k || '' = d.k and f.v % 2 = 0 "
	    "group by 1, 2",
	    23 },
	/* nothing on one side, and filters above */
	{ "select n.s, count(*) from f left join none n on f.k = n.k group by n.s",
	    "select n.s || '', count(*) from f left join none n on f.k || '' = n.k group by 1", 1 },
	{ "select n.s, count(*) from f join none n on f.k = n.k group by n.s",
	    "select n.s || '', count(*) from f join none n on f.k || '' = n.k group by 1", 0 },
	{ "select d.s, count(*) from f left join d on f.k = d.k where d.k is null or d.i > f.v / 4 group by "
	  "d.s",
	    "select d.s || '', count(*) from f left join d on f.k || '' = d.k where d.k is null or d.i + 0 > "
	    "f.v / 4 group by 1",
	    13 },
	{ "select distinct d.s, e.t from f join d on f.k = d.k join d e on f.ki = e.i where f.w = 'w1'",
	    "select distinct d.s || '', e.t || '' from f join d on f.k || '' = d.k join d e on f.ki + 0 = "
	    "e.i + 0 where f.w = "
	    "'w1'",
	    39 },
};

static void
both_ways(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, tables, sizeof tables / sizeof *tables);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const struct pair *p = &pairs[i];
		char text[4000], rows[40];
		snprintf(text, sizeof text,
		    "select count(*) from (((%s) except all (%s)) union all ((%s) except all (%s))) as x",
		    p->one, p->other, p->other, p->one);
		const struct golden same = { text, "0; SELECT 1" };
		wrong += golden_wrong(&t, &same, 1);
		snprintf(text, sizeof text, "select count(*) from (%s) as x", p->one);
		snprintf(rows, sizeof rows, "%u; SELECT 1", p->rows);
		const struct golden many = { text, rows };
		wrong += golden_wrong(&t, &many, 1);
	}
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(both_ways) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
