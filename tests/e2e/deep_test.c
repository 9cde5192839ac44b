/*
 * deep_test.c -- every construct nested, chained and widened: as far as it goes it works, beyond
 * that it is an error with PostgreSQL's SQLSTATE for a limit, and the session goes on. Nothing
 * crashes.
 */
#include "embedded.h"

/* head, n times unit, middle, n times close, tail */
struct shape {
	const char *name, *head, *unit, *middle, *close, *tail;
	unsigned fits;   /* so many answer */
	unsigned beyond; /* so many do not: 54xxx */
};

static const struct shape shapes[] = {
	{ "parentheses", "select ", "(", "1", ")", "", 1000, 50000 },
	{ "signs", "select ", "- ", "1", "", "", 290, 200000 },
	{ "not", "select ", "not ", "true", "", "", 290, 5000 },
	{ "terms", "select a", " + a", "", "", " from t", 290, 5000 },
	{ "and", "select a from t where true", " and a = 1", "", "", "", 5000, 100000 },
	{ "case", "select ", "case when a = 1 then ", "1", " end", " from t", 200, 5000 },
	{ "else", "select ", "case when a = 2 then 1 else ", "1", " end", " from t", 200, 5000 },
	{ "arms", "select case ", "when a = 7 then 2 ", "", "", "end from t", 1000, 50000 },
	{ "coalesce", "select ", "coalesce(", "b", ", 'x')", " from t", 200, 5000 },
	{ "casts", "select a", "::text::int", "", "", " from t", 100, 3000 },
	{ "functions", "select ", "upper(", "b", ")", " from t", 200, 5000 },
	{ "array", "select ", "array_append(", "array[1]", ", 2)", "", 100, 5000 },
	{ "scalar subqueries", "select ", "(select ", "1", ")", "", 20, 500 },
	{ "correlated", "select ", "(select a + ", "1", " from t where a = 1)", "", 15, 500 },
	{ "exists", "select 1 from t where ", "exists (select 1 from t where ", "true", ")", "", 20, 500 },
	{ "in", "select 1 from t where ", "a in (select a from t where ", "true", ")", "", 20, 500 },
	{ "from", "select * from ", "(select * from ", "t", ") x", "", 50, 500 },
	{ "union", "select 1", " union select 1", "", "", "", 500, 5000 },
	{ "union all", "select 1", " union all select 1", "", "", "", 500, 5000 },
	{ "except", "select 1", " except select 2", "", "", "", 100, 5000 },
	{ "intersect in brackets", "", "(", "select 1", " intersect select 1)", "", 60, 5000 },
	{ "union to the right", "", "select 1 union (", "select 1", ")", "", 30, 5000 },
	{ "with", "", "with c as (", "select 1", ") select * from c", "", 50, 5000 },
	{ "joins in brackets", "select 1 from ", "(", "t", " cross join t x)", "", 0, 3000 },
	{ "columns", "select 1", ", 1", "", "", "", 1500, 10000 },
	{ "values", "values (1", ", 1", "", "", ")", 1500, 10000 },
	{ "group by", "select count(*) from t group by a", ", a + 1", "", "", "", 100, 0 },
	{ "order by", "select a from t order by a", ", a + 1", "", "", "", 100, 0 },
	{ "aggregates", "select sum(a)", ", sum(a + 1)", "", "", " from t", 500, 10000 },
	{ "windows", "select a", ", sum(a) over (order by b)", "", "", " from t", 100, 10000 },
	{ "in list", "select a from t where a in (1", ", 2", "", "", ")", 60000, 66000 },
	{ "rows", "values (1)", ", (2)", "", "", "", 60000, 0 },
	{ "statements", "select 1", "; select 1", "", "", "", 2000, 0 },
	{ "semicolons", "select 1", ";", "", "", "", 100000, 0 },
	{ "comments", "select 1", "/*", "", "*/", "", 300, 100000 },
	{ "json", "select '", "[", "", "]", "'::json", 1000, 200000 },
	{ "groups of a pattern", "select 'a' ~ '", "(", "a", ")", "'", 50, 0 },
	{ "wildcards", "select repeat('ab', 1000) like '", "%a", "c", "", "'", 5000, 0 },
	{ "an interval", "select interval '", "1 day ", "", "", "'", 1, 0 },
};

static char *
build(const struct shape *s, unsigned n)
{
	size_t len = strlen(s->head) + strlen(s->middle) + strlen(s->tail) +
		     n * (strlen(s->unit) + strlen(s->close)) + 1;
	char *text = malloc(len), *p = text;
	assert_non_null(text);
	p = stpcpy(p, s->head);
	for (unsigned k = 0; k < n; k++)
		p = stpcpy(p, s->unit);
	p = stpcpy(p, s->middle);
	for (unsigned k = 0; k < n; k++)
		p = stpcpy(p, s->close);
	stpcpy(p, s->tail);
	return text;
}

/* The SQLSTATE, or "ok". */
static const char *
state_of(struct test_client *t, const struct shape *s, unsigned n)
{
	char *text = build(s, n);
	t->err.sqlstate[0] = 0;
	const char *said = ask(t, text);
	free(text);
	return strstr(said, "ERROR ") != NULL && t->err.sqlstate[0] ? t->err.sqlstate : "ok";
}

static void
deep(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	unsigned wrong = 0;
	embedded_open(&e, 128u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_string_equal(ask(&t, "create table t (a int primary key, b text)"), "CREATE TABLE");
	assert_string_equal(ask(&t, "insert into t values (1, 'x'), (2, null)"), "INSERT 0 2");
	assert_string_equal(ask(&t, "set statement_timeout = '20s'"), "SET");
	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];
		const unsigned between[] = { 1, 2, 3, 31, 33, 60, 64, 65, 299, 300, 301, 1000, 4001, 20000 };
		const char *got;
		if (s->fits > 0 && strcmp(got = state_of(&t, s, s->fits), "ok") != 0) {
			fprintf(stderr, "%s, %u: %s\n", s->name, s->fits, t.text);
			wrong++;
		}
		if (s->beyond > 0 && strncmp(got = state_of(&t, s, s->beyond), "54", 2) != 0) {
			fprintf(stderr, "%s, %u: %.200s\n", s->name, s->beyond, t.text);
			wrong++;
		}
		/* In between either may be, but nothing else than an answer or a SQLSTATE of five
		 * characters. */
		for (unsigned k = 0;
		     k < sizeof between / sizeof *between && (s->beyond == 0 || between[k] < s->beyond);
		     k++) {
			got = state_of(&t, s, between[k]);
			if (strcmp(got, "ok") != 0 && (strlen(got) != 5 || strncmp(got, "XX", 2) == 0)) {
				fprintf(stderr, "%s, %u: %.200s\n", s->name, between[k], t.text);
				wrong++;
			}
		}
		if (strcmp(ask(&t, "select a from t where a = 1"), "1; SELECT 1") != 0) {
			fprintf(stderr, "after %s: %s\n", s->name, t.text);
			wrong++;
		}
	}
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

/* Table names of their own, so that tables can be joined by their columns. */
static char *
joins(const char *kind, unsigned n)
{
	char *text = malloc(64 + n * 60), *p = text;
	assert_non_null(text);
	p += sprintf(p, "select count(*) from t t0");
	for (unsigned k = 1; k < n; k++)
		p += sprintf(p, " %s join t t%u on t%u.a = t%u.a", kind, k, k, k - 1);
	return text;
}

static void
wide_joins(void **state)
{
	(void)state;
	static const char *const kind[] = { "", "left", "full" };
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 128u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_string_equal(ask(&t, "create table t (a int primary key)"), "CREATE TABLE");
	assert_string_equal(ask(&t, "insert into t values (1), (2), (3)"), "INSERT 0 3");
	for (unsigned k = 0; k < 3; k++) {
		char *text = joins(kind[k], 280);
		assert_string_equal(ask(&t, text), "3; SELECT 1");
		free(text);
		text = joins(kind[k], 320);
		assert_true(strstr(ask(&t, text), "ERROR 54001") != NULL);
		free(text);
	}
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(deep), cmocka_unit_test(wide_joins) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
