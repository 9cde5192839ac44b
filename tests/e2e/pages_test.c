/* pages_test.c -- scans with kept pages (catalog/pages.c): their answers while rows change under
 * them. */
#include "golden.h"

enum { ROWS = 4000 };

/* A statement of a printf; its answer. */
__attribute__((format(printf, 2, 3))) static const char *
askf(struct test_client *t, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return ask(t, text);
}

static void
fill(struct test_client *t)
{
	assert_string_equal(ask(t, "create table t (id int primary key, v int, s text)"), "CREATE TABLE");
	assert_string_equal(ask(t, "insert into t select i, i, 'row ' || i from generate_series(1, 4000) i"),
	    "INSERT 0 4000");
}

static const char sums[] = "select count(*), sum(v), min(v), max(v), sum(length(s)) from t";

struct model {
	bool there[ROWS + 1];
	int v[ROWS + 1];
};

/* What `sums` must answer. */
static void
expect(const struct model *m, char out[160])
{
	int64_t n = 0, sum = 0, len = 0;
	int lo = INT_MAX, hi = INT_MIN;
	for (int i = 1; i <= ROWS; i++) {
		char text[20];
		if (!m->there[i])
			continue;
		n++;
		sum += m->v[i];
		lo = m->v[i] < lo ? m->v[i] : lo;
		hi = m->v[i] > hi ? m->v[i] : hi;
		len += snprintf(text, sizeof text, "row %d", m->v[i]);
	}
	snprintf(
	    out, 160, "%lld|%lld|%d|%d|%lld; SELECT 1", (long long)n, (long long)sum, lo, hi, (long long)len);
}

static void
change(struct test_client *t, struct model *m, unsigned i, int v)
{
	if (!m->there[i]) {
		assert_string_equal(
		    askf(t, "insert into t values (%u, %d, 'row %d')", i, v, v), "INSERT 0 1");
		m->there[i] = true;
	} else if (v % 3 == 0) {
		assert_string_equal(askf(t, "delete from t where id = %u", i), "DELETE 1");
		m->there[i] = false;
	} else {
		assert_string_equal(
		    askf(t, "update t set v = %d, s = 'row %d' where id = %u", v, v, i), "UPDATE 1");
	}
	m->v[i] = v;
}

/* Rows change one by one and in heaps; a new snapshot sees all of it, one that was taken before
 * nothing. */
static void
test_changes(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client w, r, old;
	static struct model m, then;
	char want[160], was[160];
	uint64_t x = 88172645463325252u;
	embedded_open(&e, 64u << 20, 2);
	test_client_open(&w, &e, 0);
	test_client_open(&r, &e, 1);
	test_client_open(&old, &e, 1);
	fill(&w);
	for (int i = 1; i <= ROWS; i++) {
		m.there[i] = true;
		m.v[i] = i;
	}
	for (int round = 0; round < 200; round++) {
		expect(&m, want);
		assert_string_equal(ask(&w, sums), want);
		assert_string_equal(ask(&r, sums), want);
		assert_string_equal(ask(&r, sums), want);
		if (round % 20 == 5) {
			then = m;
			assert_string_equal(ask(&old, "begin isolation level repeatable read"), "BEGIN");
			assert_string_equal(ask(&old, sums), want);
		}
		if (round % 20 > 5) {
			expect(&then, was);
			assert_string_equal(ask(&old, sums), was);
		}
		if (round % 20 == 19)
			assert_string_equal(ask(&old, "commit"), "COMMIT");
		unsigned many = round % 17 == 3 ? 900 : 1 + round % 5;
		if (many > 5)
			ask(&w, "begin");
		for (unsigned k = 0; k < many; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			change(&w, &m, 1 + x % ROWS, (int)(x >> 32) % 100000);
		}
		if (many > 5)
			assert_string_equal(ask(&w, "commit"), "COMMIT");
	}
	test_client_close(&old);
	test_client_close(&r);
	test_client_close(&w);
	embedded_close(&e);
}

/* What a transaction has not committed is there for itself alone, and gone when it rolls back. */
static void
test_own_writes(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client a, b;
	embedded_open(&e, 64u << 20, 1);
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 0);
	fill(&a);
	static const char all[] = "4000|8002000|1|4000|30893; SELECT 1";
	for (int k = 0; k < 3; k++) {
		assert_string_equal(ask(&a, sums), all);
		ask(&a, "begin");
		assert_string_equal(ask(&a, sums), all);
		assert_string_equal(ask(&a, "update t set v = -5 where id = 77"), "UPDATE 1");
		assert_string_equal(ask(&a, "delete from t where id = 4000"), "DELETE 1");
		assert_string_equal(ask(&a, "insert into t values (5000, 9999, 'x')"), "INSERT 0 1");
		assert_string_equal(ask(&a, sums), "4000|8007917|-5|9999|30886; SELECT 1");
		assert_string_equal(ask(&b, sums), all);
		assert_string_equal(ask(&a, "savepoint p"), "SAVEPOINT");
		assert_string_equal(ask(&a, "update t set v = 0"), "UPDATE 4000");
		assert_string_equal(ask(&a, "select sum(v) from t"), "0; SELECT 1");
		assert_string_equal(ask(&a, "rollback to p"), "ROLLBACK");
		assert_string_equal(ask(&a, "select sum(v) from t"), "8007917; SELECT 1");
		assert_string_equal(ask(&a, "rollback"), "ROLLBACK");
		assert_string_equal(ask(&b, sums), all);
	}
	/* a statement reads what was there when it began */
	assert_string_equal(
	    ask(&a, "insert into t select id + 10000, v, s from t where id <= 4000"), "INSERT 0 4000");
	assert_string_equal(ask(&a, "select count(*), sum(v) from t"), "8000|16004000; SELECT 1");
	assert_string_equal(ask(&a, "update t set v = v + 1"), "UPDATE 8000");
	assert_string_equal(ask(&b, "select count(*), sum(v) from t"), "8000|16012000; SELECT 1");
	assert_string_equal(ask(&a, "delete from t where v % 2 = 0"), "DELETE 4000");
	assert_string_equal(ask(&b, "select count(*), sum(v) from t"), "4000|8008000; SELECT 1");
	test_client_close(&a);
	test_client_close(&b);
	embedded_close(&e);
}

/* Serializable: two scans that each other's inserts would change cannot both commit. */
static void
test_skew(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client a, b;
	embedded_open(&e, 64u << 20, 1);
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 0);
	fill(&a);
	for (int k = 0; k < 3; k++)
		ask(&a, sums);
	ask(&a, "begin isolation level serializable");
	ask(&b, "begin isolation level serializable");
	assert_string_equal(ask(&a, "select sum(v) from t"), "8002000; SELECT 1");
	assert_string_equal(ask(&b, "select sum(v) from t"), "8002000; SELECT 1");
	assert_string_equal(ask(&a, "insert into t values (6001, 1, '')"), "INSERT 0 1");
	assert_string_equal(ask(&b, "insert into t values (6002, 2, '')"), "INSERT 0 1");
	assert_string_equal(ask(&a, "commit"), "COMMIT");
	assert_int_equal(strncmp(ask(&b, "commit"), "ERROR 40001", 11), 0);
	assert_string_equal(ask(&b, "select sum(v) from t"), "8002001; SELECT 1");
	test_client_close(&a);
	test_client_close(&b);
	embedded_close(&e);
}

/* With hardly any memory for them, or none, or when that changes under a scan's feet. */
static void
test_memory(void **state)
{
	(void)state;
	static const char *const limit[] = { "1MB", "0", "256MB", "1MB", "64MB" };
	struct embedded e;
	struct test_client a;
	char usual[40];
	embedded_open(&e, 64u << 20, 1);
	test_client_open(&a, &e, 0);
	snprintf(usual, sizeof usual, "%s", ask(&a, "show namdb.scan_memory"));
	assert_string_not_equal(usual, "64MB; SHOW");
	fill(&a);
	for (int k = 0; k < 3; k++)
		assert_string_equal(ask(&a, "insert into t select id + (select max(id) from t), v, s || "
					    "repeat('-', 50) from t"),
		    k == 0   ? "INSERT 0 4000"
		    : k == 1 ? "INSERT 0 8000"
			     : "INSERT 0 16000");
	for (unsigned k = 0; k < 5; k++) {
		assert_string_equal(askf(&a, "set namdb.scan_memory = '%s'", limit[k]), "SET");
		char want[40];
		snprintf(want, sizeof want, "%s; SHOW", limit[k]);
		assert_string_equal(ask(&a, "show namdb.scan_memory"), want);
		for (int i = 0; i < 4; i++) {
			assert_string_equal(ask(&a, "select count(*), sum(v), sum(length(s)) from t"),
			    "32000|64016000|2647144; SELECT 1");
			assert_string_equal(
			    ask(&a, "select count(*) from t x join t y on y.id = x.v where x.id <= 4000"),
			    "4000; SELECT 1");
		}
	}
	assert_string_equal(ask(&a, "set namdb.scan_memory = '1kB'"),
	    "ERROR 22023: 1kB is outside the valid range for parameter \"namdb.scan_memory\" (0, 1MB .. "
	    "8192TB)");
	assert_string_equal(ask(&a, "reset namdb.scan_memory"), "RESET");
	assert_string_equal(ask(&a, "show namdb.scan_memory"), usual);
	test_client_close(&a);
	embedded_close(&e);
}

/* NULLs, empty and long values, columns asked for one after the other, tables of the same name. */
static void
test_values(void **state)
{
	(void)state;
	static const struct golden g[] = {
		{ "create table n (id int primary key, a text, b float8, c bool, d numeric)",
		    "CREATE TABLE" },
		{ "select count(*), count(a) from n", "0|0; SELECT 1" },
		{ "select count(*), count(a) from n", "0|0; SELECT 1" },
		{ "insert into n select i, case when i % 3 > 0 then repeat('x', i % 50) end, "
		  "case when i % 2 = 0 then i / 4.0 end, i % 5 = 0, i * 1.5 from generate_series(1, 3000) i",
		    "INSERT 0 3000" },
		{ "select count(*) from n", "3000; SELECT 1" },
		{ "select count(*) from n", "3000; SELECT 1" },
		{ "select count(a), sum(length(a)) from n", "2000|49000; SELECT 1" },
		{ "select count(b), sum(b), count(a) from n", "1500|562875|2000; SELECT 1" },
		{ "select count(*) from n where c and a is null", "200; SELECT 1" },
		{ "select sum(d), max(a) from n where a <> ''",
		    "4410000.0|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; SELECT 1" },
		{ "select count(*) from n where a = ''", "40; SELECT 1" },
		{ "update n set a = repeat('y', 100000) where id = 1500", "UPDATE 1" },
		{ "select max(length(a)), count(*) from n", "100000|3000; SELECT 1" },
		{ "select max(length(a)), count(*) from n", "100000|3000; SELECT 1" },
		{ "update n set a = repeat('z', 20000) where id <= 1000", "UPDATE 1000" },
		{ "select sum(length(a)), count(*) from n", "20132683|3000; SELECT 1" },
		{ "select sum(length(a)), count(*) from n", "20132683|3000; SELECT 1" },
		{ "select count(*), sum(id) from n", "3000|4501500; SELECT 1" },
		{ "select sum(length(a)), count(c) from n where id > 1500", "24500|1500; SELECT 1" },
		{ "alter table n rename column a to aa", "ALTER TABLE" },
		{ "select sum(length(aa)), count(*) from n where id > 1500", "24500|1500; SELECT 1" },
		{ "truncate n", "TRUNCATE TABLE" },
		{ "select count(*) from n", "0; SELECT 1" },
		{ "drop table n", "DROP TABLE" },
		{ "create table n (id int primary key, a int)", "CREATE TABLE" },
		{ "insert into n values (1, 7), (2, null)", "INSERT 0 2" },
		{ "select count(*), sum(a) from n", "2|7; SELECT 1" },
		{ "select count(*), sum(a) from n", "2|7; SELECT 1" },
		{ "begin", "BEGIN" },
		{ "drop table n", "DROP TABLE" },
		{ "create table n (id int primary key, a text)", "CREATE TABLE" },
		{ "insert into n values (1, 'seven')", "INSERT 0 1" },
		{ "select a from n", "seven; SELECT 1" },
		{ "select a from n", "seven; SELECT 1" },
		{ "rollback", "ROLLBACK" },
		{ "select count(*), sum(a) from n", "2|7; SELECT 1" },
	};
	golden_all(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_own_writes),
		cmocka_unit_test(test_skew),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
