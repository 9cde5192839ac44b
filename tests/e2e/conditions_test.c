/* conditions_test.c -- EXPLAIN shows the conditions on rows in PostgreSQL 15's words,
 * wherever the plans are alike. */
#include "golden.h"

#define PLAN "explain (costs off) "

static const struct golden all[] = {
	{ "create table w (id int primary key, g text, v int, n numeric, b bigint)", "CREATE TABLE" },
	{ "create table z (a int, c int, t varchar(5), d date, primary key (a, c))", "CREATE TABLE" },
	{ PLAN "select 1 from w where v > 1 and g = 'a''b' or n < 1.5 and b = 5",
	    "Project;  -> Seq Scan on w;       Filter: (((v > 1) AND (g = 'a''b'::text)) OR ((n < 1.5) AND "
	    "(b = 5))); EXPLAIN" },
	{ PLAN "select 1 from w where v in (1,2,3) and g in ('a','b c',null)",
	    "Project;  -> Seq Scan on w;       Filter: ((v = ANY ('{1,2,3}'::integer[])) AND (g = ANY "
	    "('{a,\"b c\",NULL}'::text[]))); EXPLAIN" },
	{ PLAN "select 1 from w where g in ('', 'null', 'a''b', 'c\\d\"')",
	    "Project;  -> Seq Scan on w;       Filter: (g = ANY "
	    "('{\"\",\"null\",a''b,\"c\\\\d\\\"\"}'::text[])); EXPLAIN" },
	{ PLAN "select 1 from w where g is not null and v <> 2 and coalesce(v, 0) = -1",
	    "Project;  -> Seq Scan on w;       Filter: ((g IS NOT NULL) AND (v <> 2) AND (COALESCE(v, 0) = "
	    "'-1'::integer)); EXPLAIN" },
	{ PLAN "select 1 from w where case when v = 1 then true else g = 'b' end",
	    "Project;  -> Seq Scan on w;       Filter: CASE WHEN (v = 1) THEN true ELSE (g = 'b'::text) END; "
	    "EXPLAIN" },
	{ PLAN "select 1 from w where (- v) > 2 and lower(g) = 'x' and v % 2 = 0 and v::text = '1'",
	    "Project;  -> Seq Scan on w;       Filter: (((- v) > 2) AND (lower(g) = 'x'::text) AND ((v % 2) "
	    "= 0) AND ((v)::text = '1'::text)); EXPLAIN" },
	{ PLAN "select 1 from z where a = 1 and c = 2 and d > '2020-01-01'",
	    "Project;  -> Key Lookup on z;       Key Cond: ((a = 1) AND (c = 2));       Filter: (d > "
	    "'2020-01-01'::date); EXPLAIN" },
	{ PLAN "select 1 from w where id = any (array[5,6])",
	    "Project;  -> Key Lookup on w;       Key Cond: (id = ANY ('{5,6}'::integer[])); EXPLAIN" },
	{ PLAN "select 1 from w where id in (5,6)",
	    "Project;  -> Key Lookup on w;       Key Cond: ((id = 5) OR (id = 6)); EXPLAIN" },
	{ PLAN "select 1 from w left join z on w.v = z.a and w.b < z.c",
	    "Project;  -> Hash Left Join;       Hash Cond: (w.v = z.a);       Join Filter: (w.b < z.c);    "
	    "-> Seq Scan on w;    -> Seq Scan on z; EXPLAIN" },
	{ PLAN "select 1 from w x join w y on x.v = y.id where x.id = 3",
	    "Project;  -> Key Lookup on w y;       Key Cond: (y.id = x.v);    -> Key Lookup on w x;         "
	    "Key Cond: (x.id = 3); EXPLAIN" },
	{ PLAN "select g from w group by g having count(*) > 2 and sum(v) > 5",
	    "Project;  -> HashAggregate;       Group Key: g;       Filter: ((count(*) > 2) AND (sum(v) > "
	    "5));    -> Seq Scan on w; EXPLAIN" },
	{ PLAN "select g from w group by rollup (g, v) having count(*) > 1 and g is null",
	    "Project;  -> HashAggregate;       Group Key: g, v;       Filter: ((count(*) > 1) AND (g IS "
	    "NULL));    -> Grouping Sets;      -> Seq Scan on w; EXPLAIN" },
	{ PLAN "select 1 from w where exists (select 1 from z where z.a = w.v and z.d is not null)",
	    "Project;  -> Hash Semi Join;       Hash Cond: (w.v = z.a);    -> Seq Scan on w;    -> Project;  "
	    "    -> Seq "
	    "Scan on z;           Filter: (z.d IS NOT NULL); EXPLAIN" },
	{ "create table y (bp char(3), ar int[])", "CREATE TABLE" },
	{ "create table sub (id int primary key, ts timestamp, a int[])", "CREATE TABLE" },
	{ PLAN "select 1 from sub where a[1] = 3",
	    "Project;  -> Seq Scan on sub;       Filter: (a[1] = 3); EXPLAIN" },
	{ PLAN "select 1 from sub where a[id + 1] is null",
	    "Project;  -> Seq Scan on sub;       Filter: (a[(id + 1)] IS NULL); EXPLAIN" },
	{ PLAN "select 1 from sub where a[1:2] = '{1,2}'",
	    "Project;  -> Seq Scan on sub;       Filter: (a[1:2] = '{1,2}'::integer[]); EXPLAIN" },
	{ PLAN "select 1 from sub where a[:2] = a[2:]",
	    "Project;  -> Seq Scan on sub;       Filter: (a[:2] = a[2:]); EXPLAIN" },
	{ PLAN "select 1 from sub where a[:] is null",
	    "Project;  -> Seq Scan on sub;       Filter: (a[:] IS NULL); EXPLAIN" },
	{ PLAN "select 1 from sub where (array[1,2])[id] = 3",
	    "Project;  -> Seq Scan on sub;       Filter: (('{1,2}'::integer[])[id] = 3); EXPLAIN" },
	{ PLAN "select 1 from sub where extract(year from ts) = 2020",
	    "Project;  -> Seq Scan on sub;       Filter: (EXTRACT(year FROM ts) = '2020'::numeric); "
	    "EXPLAIN" },
	{ PLAN "select 1 from sub where date_part('month', ts) = 3",
	    "Project;  -> Seq Scan on sub;       Filter: (date_part('month'::text, ts) = '3'::double "
	    "precision); EXPLAIN" },
	{ PLAN "select 1 from y where bp = 'a' and ar = array[1,2]",
	    "Project;  -> Seq Scan on y;       Filter: ((bp = 'a'::bpchar) AND (ar = '{1,2}'::integer[])); "
	    "EXPLAIN" },
	{ "prepare p (int, text) as select 1 from w where v = $1 and g = $2", "PREPARE" },
	{ PLAN "execute p (1, 'x')",
	    "Project;  -> Seq Scan on w;       Filter: ((v = $1) AND (g = $2)); EXPLAIN" },
	{ PLAN "select 1 from w where g = E'two\\nlines'",
	    "Project;  -> Seq Scan on w;       Filter: (g = 'two lines'::text); EXPLAIN" },
};

static void
conditions(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	unsigned wrong = golden_wrong(&t, all, sizeof all / sizeof *all);
	assert_int_equal(wrong, 0);
	/* A list of any length has an end. */
	static char text[200000];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", PLAN "select 1 from w where v in (-1");
	for (unsigned k = 0; k < 20000; k++)
		n += (size_t)snprintf(text + n, sizeof text - n, ",%u", k);
	snprintf(text + n, sizeof text - n, ")");
	const char *is = ask(&t, text);
	assert_non_null(strstr(is, "...}'::integer[]))"));
	assert_true(strlen(is) < 20000);
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(conditions) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
