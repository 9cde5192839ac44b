/* limits_test.c -- statement_timeout and the memory limits end statements that take too long or too
 * much. */
#include "embedded.h"

static const char *const long_ones[] = {
	"select count(*) from b x, b y where x.i + y.i = -1",
	"select count(*) from b x, b y where x.s = y.s and x.i + y.i < 0",
	"select x.s || y.s from b x join b y on x.s = y.s order by 1 limit 1",
	"select x.i, count(*) from b x, b y where x.s = y.s group by 1",
	"select count(*) from (select distinct x.i + y.i from b x, b y where x.s = y.s) q",
	"update b set s = c.s from b c where c.i + b.i = -1",
	("insert into b select x.i * 100000 + y.i + 1000000, 'x' from b x, b y where x.s = y.s on conflict "
	 "do "
	 "nothing"),
	"copy (select x.i from b x, b y where x.s = y.s) to stdout",
};
static const char *const large_ones[] = {
	"select x.s || y.s from b x join b y on x.s = y.s order by 1, x.i",
	"select x.i, y.i, count(*) from b x, b y where x.s = y.s group by 1, 2",
	"select count(*) from (select distinct x.i + y.i * 100000 from b x, b y where x.s = y.s) q",
	("select count(*) from b x join b y on x.s = y.s join b z on z.i = x.i + y.i where x.i > 0 group by "
	 "x.i, y.i"),
	"insert into b select x.i * 100000 + y.i + 1000000, 'x' from b x, b y where x.s = y.s",
	"select x.i, row_number() over (order by x.s) from b x, b y where x.s = y.s",
	"select 1 union select x.i * 100 + y.i from b x, b y where x.s = y.s",
	"with recursive r(n) as (select 1 union select n + 1 from r) select count(*) from r",
	"with recursive r(n, s) as (select 1, 'x' union all select n + 1, s || s from r) select max(n) from "
	"r",
	"select length(string_agg(x.s, ',')) from b x, b y where x.s = y.s",
	"select x.s, string_agg(y.s, ',' order by y.i) from b x, b y where x.s = y.s group by 1",
	"select g from generate_series(1, 100000000) as g order by 1 desc",
	"select count(distinct x.i * 90 + y.i) from b x, b y where x.s = y.s",
	"create table big as select x.i * 90 + y.i as k from b x, b y where x.s = y.s",
	"select distinct on (y.s, x.i, y.i) x.i, y.i from b x, b y where x.s = y.s",
	"select count(*) from b where i in (select x.i * 7 + y.i from b x, b y where x.s = y.s)",
	"select repeat(s, 100000) from b order by 1",
	"update b set s = repeat(s, 5000)",
	"copy (select x.s from b x, b y where x.s = y.s order by x.i, y.i) to stdout",
};

static void
fill(struct test_client *t, unsigned rows)
{
	char *text = malloc(rows * 24 + 100);
	assert_string_equal(ask(t, "create table b (i int primary key, s text)"), "CREATE TABLE");
	size_t at = (size_t)sprintf(text, "insert into b values (0, 'v0')");
	for (unsigned i = 1; i < rows; i++)
		at += (size_t)sprintf(text + at, ", (%u, 'v%u')", i, i % 20);
	ask(t, text);
	free(text);
}

static void
limits(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	unsigned wrong = 0;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	fill(&t, 20000);
	assert_string_equal(ask(&t, "set statement_timeout = 60"), "SET");
	for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
		ask(&t, long_ones[i]);
		if (strcmp(t.err.sqlstate, "57014") != 0 || strstr(t.err.text, "timeout") == NULL) {
			wrong++;
			fprintf(stderr, "%s: %.200s\n", long_ones[i], t.text);
		}
		t.err.sqlstate[0] = 0;
	}
	assert_string_equal(ask(&t, "select count(*) from b"), "20000; SELECT 1");
	assert_string_equal(ask(&t, "reset statement_timeout"), "RESET");
	for (int whole = 0; whole < 2; whole++) {
		assert_string_equal(ask(&t, whole ? "set namdb.process_memory = '48MB'"
						  : "set namdb.statement_memory = '48MB'"),
		    "SET");
		for (size_t i = 0; i < sizeof large_ones / sizeof *large_ones; i++) {
			ask(&t, large_ones[i]);
			if (strcmp(t.err.sqlstate, "53200") != 0) {
				wrong++;
				fprintf(stderr, "%s: %.200s\n", large_ones[i], t.text);
			}
			t.err.sqlstate[0] = 0;
		}
		assert_string_equal(ask(&t, "select count(*) from b"), "20000; SELECT 1");
		assert_string_equal(
		    ask(&t, whole ? "show namdb.process_memory" : "show namdb.statement_memory"),
		    "48MB; SHOW");
		ask(&t, whole ? "reset namdb.process_memory" : "reset namdb.statement_memory");
	}
	assert_string_equal(ask(&t, "show namdb.statement_memory"), "4GB; SHOW");
	assert_string_equal(ask(&t, "show namdb.process_memory"), "0; SHOW");
	assert_string_equal(ask(&t, "set namdb.statement_memory = '1kB'"),
	    "ERROR 22023: 1kB is outside the valid range for parameter \"namdb.statement_memory\" (0, 1MB .. "
	    "8192TB)");
	assert_string_equal(ask(&t, "set namdb.statement_memory = 'much'"),
	    "ERROR 22023: invalid value for parameter \"namdb.statement_memory\": \"much\"");
	/* a block that went over its limit can go back */
	assert_string_equal(
	    ask(&t,
		"begin; insert into b values (-1, 'x'); savepoint a; set namdb.statement_memory = '16MB'"),
	    "BEGIN INSERT 0 1 SAVEPOINT SET");
	ask(&t, large_ones[4]);
	assert_string_equal(t.err.sqlstate, "53200");
	assert_string_equal(
	    ask(&t, "rollback to a; commit; select count(*) from b"), "ROLLBACK COMMIT20001; SELECT 1");
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(limits) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
