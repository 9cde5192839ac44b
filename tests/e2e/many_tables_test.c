/*
 * many_tables_test.c -- queries over more tables than a machine word has bits: their answers, in
 * what time they are planned, and what is said beyond the limits.
 */
#include "golden.h"

#include <time.h>

enum { MOST = 512, ROWS = 20 };

/* n: v goes round, 1 .. 20 -> 2 .. 20, 1. low and high overlap. one: a column, so NATURAL takes
 * it. */
static const struct golden setup[] = {
	{ "create table n (id int primary key, v int)", "CREATE TABLE" },
	{ "insert into n select i, i % 20 + 1 from generate_series(1, 20) i", "INSERT 0 20" },
	{ "create table low (id int primary key)", "CREATE TABLE" },
	{ "insert into low select i from generate_series(1, 10) i", "INSERT 0 10" },
	{ "create table high (id int primary key)", "CREATE TABLE" },
	{ "insert into high select i from generate_series(6, 15) i", "INSERT 0 10" },
	{ "create table u (id int primary key, v int)", "CREATE TABLE" },
	{ "insert into u select i, 0 from generate_series(1, 20) i", "INSERT 0 20" },
	{ "create view w as select x.id, y.v from n x, n y where x.id = y.id", "CREATE VIEW" },
};

/* A text that grows. */
struct text {
	char *s;
	size_t len, cap;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	char piece[400];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(piece, sizeof piece, fmt, ap);
	va_end(ap);
	assert_in_range(n, 0, sizeof piece - 1);
	if (t->len + (size_t)n + 1 > t->cap) {
		t->cap = (t->len + (size_t)n + 1) * 2;
		t->s = realloc(t->s, t->cap);
		assert_non_null(t->s);
	}
	memcpy(t->s + t->len, piece, (size_t)n + 1);
	t->len += (size_t)n;
}

/* Does the text answer that? The next one begins empty. */
static unsigned
differs(struct test_client *c, struct text *t, const char *what, unsigned n, const char *answer)
{
	const char *is = ask(c, t->s);
	bool same = strcmp(is, answer) == 0;
	if (!same)
		fprintf(stderr, "%s, %u tables\n  is     %.300s\n  should %s\n", what, n, is, answer);
	t->len = 0;
	return !same;
}

static const char *
answer(char *out, const char *fmt, unsigned x)
{
	snprintf(out, 100, fmt, x);
	return out;
}

/* n t0, n t1, ..., each tied to the one before. */
static void
chain(struct text *t, unsigned n)
{
	add(t, "n t0");
	for (unsigned i = 1; i < n; i++)
		add(t, ", n t%u", i);
	add(t, " where t0.id > 0");
	for (unsigned i = 1; i < n; i++)
		add(t, " and t%u.id = t%u.v", i, i - 1);
}

static unsigned
commas(struct test_client *c, struct text *t, unsigned n)
{
	unsigned wrong = 0;
	char is[100];
	add(t, "select count(*), sum(t%u.id) from ", n - 1);
	chain(t, n);
	wrong += differs(c, t, "a chain", n, "20|210; SELECT 1");
	add(t, "select t%u.id from ", n - 1);
	chain(t, n);
	add(t, " and t0.id = 3");
	wrong += differs(c, t, "a chain from 3", n, answer(is, "%u; SELECT 1", (3 + n - 2) % ROWS + 1));
	add(t, "select t0.id from ");
	chain(t, n);
	add(t, " and t%u.id = 3", n - 1);
	wrong += differs(
	    c, t, "a chain to 3", n, answer(is, "%u; SELECT 1", (2 + 40 * ROWS - (n - 1)) % ROWS + 1));
	/* the last tables as operands of OR, of EXISTS, of GROUP BY */
	add(t, "select count(*) from ");
	chain(t, n);
	add(t, " and ((t%u.id = 5 and t%u.id = 6) or (t%u.id = 9 and t%u.id = 10))", n - 2, n - 1, n - 2,
	    n - 1);
	wrong += differs(c, t, "OR", n, "2; SELECT 1");
	add(t, "select count(*) from ");
	chain(t, n);
	add(t, " and exists (select 1 from low where low.id = t%u.id)", n - 1);
	wrong += differs(c, t, "EXISTS", n, "10; SELECT 1");
	add(t, "select t%u.id, t%u.v, count(*) from ", n - 1, n - 1);
	chain(t, n);
	add(t, " and t%u.id < 3 group by t%u.id order by 1", n - 1, n - 1);
	wrong += differs(c, t, "GROUP BY a key", n, "1|2|1;2|3|1; SELECT 2");
	/* equal, all of them: each to each, and to a constant */
	for (unsigned constant = 0; constant < 2; constant++) {
		add(t, "select count(*), sum(t%u.id) from n t0", n - 1);
		for (unsigned i = 1; i < n; i++)
			add(t, ", n t%u", i);
		add(t, constant ? " where t0.id = 7" : " where t0.v > 0");
		for (unsigned i = 1; i < n; i++)
			add(t, " and t%u.id = t%u.id", i - 1, i);
		wrong += differs(c, t, "all equal", n, constant ? "1|7; SELECT 1" : "20|210; SELECT 1");
	}
	add(t, "select count(*), sum(t1.id), sum(t%u.v) from n t0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, ", n t%u", i);
	add(t, " where t0.v <= 10");
	for (unsigned i = 1; i < n; i++)
		add(t, " and t%u.id = t0.v", i);
	wrong += differs(c, t, "a star", n, "10|55|65; SELECT 1");
	return wrong;
}

static unsigned
joins(struct test_client *c, struct text *t, unsigned n)
{
	unsigned wrong = 0;
	char is[100];
	add(t, "select count(*), sum(t%u.id) from n t0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " join n t%u on t%u.id = t%u.v", i, i, i - 1);
	wrong += differs(c, t, "JOIN", n, "20|210; SELECT 1");
	add(t, "select count(*), count(t%u.id), sum(t%u.id) from n t0", n - 1, n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " left join low t%u on t%u.id = t%u.id", i, i, i - 1);
	wrong += differs(c, t, "LEFT JOIN", n, "20|10|55; SELECT 1");
	add(t, "select count(*), sum(t%u.id) from n t0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " left join low t%u on t%u.id = t%u.id", i, i, i - 1);
	add(t, " where t%u.id > 5", n - 1);
	wrong += differs(c, t, "LEFT JOIN, rejected", n, "5|40; SELECT 1");
	add(t, "select count(*), count(t0.id), sum(t%u.id) from low t0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " right join n t%u on t%u.id = t%u.id", i, i, i - 1);
	wrong += differs(c, t, "RIGHT JOIN", n, "20|10|210; SELECT 1");
	add(t, "select count(*), sum(id), sum(t%u.v) from n t0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " join %s t%u using (id)", i == n / 2 ? "low" : "n", i);
	wrong += differs(c, t, "USING", n, "10|55|65; SELECT 1");
	add(t, "select count(*), count(t0.id), count(t1.id), sum(id) from low t0");
	for (unsigned i = 1; i < n; i++)
		add(t, " full join %s t%u using (id)", i % 2 ? "high" : "low", i);
	wrong += differs(c, t, "FULL JOIN USING", n, "15|10|10|120; SELECT 1");
	add(t, "select * from low t0");
	for (unsigned i = 1; i < n; i++)
		add(t, " natural join %s t%u", i == n - 1 ? "high" : "low", i);
	add(t, " order by id limit 2");
	wrong += differs(c, t, "NATURAL JOIN", n, "6;7; SELECT 2");
	add(t, "select count(*), sum(t0.x), sum(t%u.x) from (values (1)) t0(x)", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " cross join (values (%u)) t%u(x)", i + 1, i);
	wrong += differs(c, t, "CROSS JOIN", n, answer(is, "1|1|%u; SELECT 1", n));
	return wrong;
}

static unsigned
queries(struct test_client *c, struct text *t, unsigned n)
{
	unsigned wrong = 0;
	char is[100];
	/* each stands for two tables and has a number itself: beyond the limit they are operands */
	for (unsigned view = 0; view < 2; view++) {
		const char *q = view ? "w" : "(select x.id, y.v from n x, n y where x.id = y.id)";
		add(t, "select count(*), sum(q%u.id) from %s q0", n - 1, q);
		for (unsigned i = 1; i < n; i++)
			add(t, ", %s q%u", q, i);
		add(t, " where q0.v > 10");
		for (unsigned i = 1; i < n; i++)
			add(t, " and q%u.id = q%u.v", i, i - 1);
		unsigned sum = 0;
		for (unsigned k = 0; k < ROWS / 2; k++)
			sum += (10 + k + n - 2) % ROWS + 1;
		wrong += differs(c, t, view ? "views" : "subqueries", n, answer(is, "10|%u; SELECT 1", sum));
	}
	add(t, "select sum(q%u.x) from (select id as x from low) q0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, " left join (select id as x from low where id <> %u) q%u on q%u.x = q%u.x", i % 10 + 1,
		    i, i, i - 1);
	wrong += differs(c, t, "LEFT JOIN of subqueries", n, n > 10 ? "~; SELECT 1" : "41; SELECT 1");
	add(t, "select q%u.x from (select 1 as x) q0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, ", lateral (select q%u.x + 1 as x) q%u", i - 1, i);
	wrong += differs(c, t, "LATERAL", n, answer(is, "%u; SELECT 1", n));
	add(t, "select count(*), sum(q%u.x) from n q0", n - 1);
	for (unsigned i = 1; i < n; i++)
		add(t, ", lateral (select q%u.%s as x limit 1) q%u", i - 1, i == 1 ? "id" : "x", i);
	wrong += differs(c, t, "LATERAL over a table", n, "20|210; SELECT 1");
	add(t, "select 1");
	for (unsigned i = 1; i < n; i++)
		add(t, " + (select count(*) from low where id = %u)", i % 10 + 1);
	wrong += differs(c, t, "scalar subqueries", n, answer(is, "%u; SELECT 1", n));
	return wrong;
}

static unsigned
changes(struct test_client *c, struct text *t, unsigned n)
{
	unsigned wrong = 0;
	char is[100];
	add(t, "update u set v = t%u.id from ", n - 2);
	chain(t, n - 1);
	add(t, " and u.id = t0.id");
	wrong += differs(c, t, "UPDATE", n, "UPDATE 20");
	add(t, "select v from u where id = 1");
	wrong += differs(c, t, "UPDATE", n, answer(is, "%u; SELECT 1", (n - 2) % ROWS + 1));
	add(t, "begin; delete from u using ");
	chain(t, n - 1);
	add(t, " and u.id = t%u.id and t0.id <= 5; select count(*) from u; rollback", n - 2);
	wrong += differs(c, t, "DELETE", n, "BEGIN DELETE 515; SELECT 1 ROLLBACK");
	add(t, "begin; select count(*) from (select t0.id from ");
	chain(t, n);
	add(t, " for update) q; rollback");
	wrong += differs(c, t, "FOR UPDATE", n, "BEGIN20; SELECT 1 ROLLBACK");
	return wrong;
}

/* As many lines as there are tables speak of one. */
static unsigned
explained(struct test_client *c, struct text *t, unsigned n)
{
	unsigned lines = 0;
	char last[40];
	add(t, "explain select count(*) from ");
	chain(t, n);
	const char *is = ask(c, t->s);
	snprintf(last, sizeof last, " on n t%u ", n - 1);
	for (const char *p = is; (p = strstr(p, " on n t")) != NULL; p++)
		lines++;
	/* 1,000 rows each are a guess, but the product of so many is no number any more */
	const char *cost = strstr(is, "cost="), *all = cost != NULL ? strstr(cost, "..") : NULL;
	bool ok = lines == n && strstr(is, last) != NULL && all != NULL && strtod(all + 2, NULL) < 1e7;
	if (!ok)
		fprintf(stderr, "EXPLAIN, %u tables: %u lines\n%.2000s\n", n, lines, is);
	t->len = 0;
	return !ok;
}

static void
answers(void **state)
{
	(void)state;
	static const unsigned many[] = { 5, 12, 13, 60, 61, 64, 65, 100, 200 };
	struct embedded e;
	struct test_client c;
	struct text t = { 0 };
	unsigned wrong = 0;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&c, &e, 0);
	wrong += golden_wrong(&c, setup, sizeof setup / sizeof *setup);
	for (unsigned analyzed = 0; analyzed < 2; analyzed++) {
		for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
			wrong += commas(&c, &t, many[i]);
			wrong += joins(&c, &t, many[i]);
			wrong += queries(&c, &t, many[i]);
			wrong += changes(&c, &t, many[i]);
			wrong += explained(&c, &t, many[i]);
		}
		ask(&c, "analyze");
	}
	free(t.s);
	test_client_close(&c);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

static double
cpu_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* The limit, and what is beyond it; explicit joins nest, and that ends before. */
static void
limits(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client c;
	struct text t = { 0 };
	char is[100];
	unsigned wrong = 0;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&c, &e, 0);
	wrong += golden_wrong(&c, setup, sizeof setup / sizeof *setup);
	double began = cpu_ms();
	wrong += explained(&c, &t, 100);
	double took = cpu_ms() - began;
	printf("100 tables are planned and explained in %.0f ms\n", took);
	assert_true(took < 2000); /* 20 are usual: a sanitizer, or another process, may take more */
	began = cpu_ms();
	wrong += explained(&c, &t, MOST);
	took = cpu_ms() - began;
	printf("%d tables are planned and explained in %.0f ms\n", MOST, took);
	assert_true(took < 20000);
	wrong += commas(&c, &t, MOST);
	add(&t, "select count(*) from ");
	chain(&t, MOST + 1);
	wrong += differs(
	    &c, &t, "too many", MOST + 1, answer(is, "ERROR 54011: more than %u tables in a query", MOST));
	add(&t, "update u set v = 1 from ");
	chain(&t, MOST);
	wrong += differs(
	    &c, &t, "too many", MOST + 1, answer(is, "ERROR 54011: more than %u tables in a query", MOST));
	static const char *const kind[] = { "join", "left join", "right join", "full join" };
	for (unsigned k = 0; k < 4; k++)
		for (unsigned n = 280; n <= MOST; n += MOST - 280) {
			add(&t, "select count(*), sum(t%u.id) from n t0", n - 1);
			for (unsigned i = 1; i < n; i++)
				add(&t, " %s n t%u on t%u.id = t%u.v", kind[k], i, i, i - 1);
			wrong += differs(&c, &t, kind[k], n,
			    n == 280 ? "20|210; SELECT 1" : "ERROR 54001: stack depth limit exceeded");
		}
	for (unsigned k = 0; k < 2; k++) {
		add(&t, "select id from low t0");
		for (unsigned i = 1; i < 280; i++)
			add(&t, k ? " full join low t%u using (id)" : " natural join low t%u", i);
		add(&t, " order by 1 limit 1");
		wrong += differs(&c, &t, k ? "FULL JOIN USING" : "NATURAL JOIN", 280, "1; SELECT 1");
	}
	/* one in the other */
	for (unsigned n = 100; n <= 200; n += 100) {
		add(&t, "select count(*) from ");
		for (unsigned i = 0; i < n; i++)
			add(&t, "(select id from ");
		add(&t, "n");
		for (unsigned i = 0; i < n; i++)
			add(&t, " q%u limit 20)", i);
		add(&t, " q");
		ask(&c, t.s);
		t.len = 0;
		wrong += c.err.sqlstate[0] != 0 && strcmp(c.err.sqlstate, "54001") != 0;
		c.err.sqlstate[0] = 0;
	}
	add(&t, "select count(*) from n");
	wrong += differs(&c, &t, "what comes then", 1, "20; SELECT 1");
	free(t.s);
	test_client_close(&c);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(limits) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
