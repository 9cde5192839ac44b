/* parse_test.c -- texts that are refused before they can hurt, and the trees of others. */
#include <base/clock.h>
#include <base/rng.h>
#include <base/rounds.h>
#include <sql/parse/parse.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct sql_parser *parser;

/* "ok", or the SQLSTATE. */
static const char *
parse(const char *text, size_t len)
{
	static _Thread_local struct cat_err err;
	struct sql_parsed *p = NULL;
	if (!sql_parse(parser, text, len, &p, &err)) {
		assert_int_equal(strlen(err.sqlstate), 5);
		assert_true(err.text[0] != 0);
		assert_true(err.position >= 0 && (size_t)err.position <= len + 1);
		return err.sqlstate;
	}
	sql_parsed_drop(p);
	return "ok";
}

static const char *
parse_s(const char *text)
{
	return parse(text, strlen(text));
}

static char *
repeat(const char *head, const char *unit, unsigned n, const char *tail)
{
	size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
	char *s = malloc(h + u * n + t + 1), *p = s;
	memcpy(p, head, h);
	p += h;
	for (unsigned i = 0; i < n; i++, p += u)
		memcpy(p, unit, u);
	memcpy(p, tail, t + 1);
	return s;
}

static const char *
parse_many(const char *head, const char *unit, unsigned n, const char *tail)
{
	char *s = repeat(head, unit, n, tail);
	const char *r = parse_s(s);
	free(s);
	return r;
}

static void
nested(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	printf(
	    "skip: sql.parse_test nested: a minute of one thread's recursion: nothing for this sanitizer\n");
	skip();
#endif
	/* long operator chains: PostgreSQL's grammar itself would run off the stack */
	assert_string_equal(parse_many("select 1", "+1", 100000, ""), "54001");
	assert_string_equal(parse_many("select 1", "+1", 40000, ""), "54001");
	assert_string_equal(parse_many("select 1", "+1", 5000, ""), "54001");
	assert_string_equal(parse_many("select 1", "+1", 290, ""), "ok");
	assert_string_equal(parse_many("select ", "- ", 100000, "1"), "54001");
	assert_string_equal(parse_many("select ", "not ", 100000, "true"), "54001");
	assert_string_equal(parse_many("select ", "(", 100000, "1"), "54001");
	char *deep = repeat("", "(", 3000, "1"), *all = repeat(deep, ")", 3000, "");
	char *text = repeat("select ", all, 1, "");
	assert_string_equal(parse_s(text), "ok"); /* parentheses alone make no tree */
	free(deep);
	free(all);
	free(text);
	assert_string_equal(parse_many("select 1", " union select 1", 30000, ""), "54001");
	assert_string_equal(parse_many("", "select (", 3000, "1"), "42601");
	assert_string_equal(parse_many("select ", "case when true then ", 20000, "1"), "54001");
	assert_string_equal(parse_many("select * from t", " join t on true", 30000, ""), "54001");
	assert_string_equal(parse_many("select 1", "::int", 60000, ""), "54001");
	assert_string_equal(parse_many("select 1", " is null", 60000, ""), "54001");
	assert_string_equal(parse_many("select 'a'", " || 'a'", 60000, ""), "54001");
	/* such a list with things between that look like its end */
	assert_string_equal(parse_many("select f(1,2)", "+f(1,2)", 60000, ""), "54001");
	assert_string_equal(parse_many("select 1", "/*,*/+1", 100000, ""), "54001");
	assert_string_equal(parse_many("select 1", "+','", 100000, ""), "54001");
	assert_string_equal(parse_many("select 1", "--,\n+1", 100000, ""), "54001");
	assert_string_equal(parse_many("select 1", "+$q$,$q$", 100000, ""), "54001");
}

static void
wide(void **state)
{
	(void)state;
	/* long, but not deep: allowed */
	assert_string_equal(parse_many("insert into t values (1,'a')", ",(-2,'b''c')", 50000, ""), "ok");
	assert_string_equal(parse_many("select 1", ",1", 1500, ""), "ok");
	assert_string_equal(parse_many("select 1 from t where a in (0", ",1", 100000, ")"), "ok");
	assert_string_equal(parse_many("select 1 from t where a = 0", " or a = 1", 20000, ""), "ok");
	assert_string_equal(parse_many("select 1", ";select 1", 5000, ""), "ok");
}

/* update t set (a, a, ...) = row(1, 1, ...), n of them; and what stands between. */
static const char *
assign(unsigned n, const char *between)
{
	size_t cap = 40 + 4 * (size_t)n + strlen(between);
	char *s = malloc(cap), *to = s;
	assert_non_null(s);
	to += sprintf(to, "update t set (a");
	for (unsigned i = 1; i < n; i++)
		to += sprintf(to, ",a");
	to += sprintf(to, "%s1", between);
	for (unsigned i = 1; i < n; i++)
		to += sprintf(to, ",1");
	sprintf(to, ")");
	static char said[16];
	snprintf(said, sizeof said, "%s", sql_text_too_wide(s, strlen(s)) ? "wide" : "fits");
	free(s);
	return said;
}

/* The parser copies the right side for each column on the left. */
static void
multiplied(void **state)
{
	(void)state;
	assert_string_equal(assign(2, ")=("), "fits");
	assert_string_equal(assign(1600, ")=("), "fits");
	assert_string_equal(assign(5000, ")=("), "wide");
	assert_string_equal(assign(5000, ") = ROW ("), "wide");
	assert_string_equal(assign(5000, ")/* c */=--\n("), "wide");
	assert_string_equal(assign(5000, ")=((select 1),"), "wide");
	assert_string_equal(assign(50000, ") values ("), "fits");
	char *many = malloc(400000), *to = many;
	assert_non_null(many);
	to += sprintf(to, "update t set a = 1");
	for (unsigned i = 0; i < 10000; i++)
		to += sprintf(to, ", (a, b) = (1, 2)");
	assert_false(sql_text_too_wide(many, strlen(many)));
	free(many);
}

static void
too_long(void **state)
{
	(void)state;
	/* 100 MB of which no byte may be read: the pages cannot be */
	size_t len = 100u << 20;
	char *s = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(s, MAP_FAILED);
	assert_string_equal(parse(s, len), "54000");
	munmap(s, len);
	assert_string_equal(parse_many("select '", "x", (1u << 20) + 1, "'"), "54000");
	assert_string_equal(parse_many("select '", "x", 1000000, "'"), "ok");
}

static void
features(void **state)
{
	(void)state;
	static const char *const no[] = { "select a[1][2] from t", "select '{}'::int[][]",
		"grant select (a) on t to x", "grant all on function f to x",
		"comment on function f() is 'x'", "delete from t where current of c",
		"merge into t using u on true when matched then delete",
		"create table t (a int unique deferrable)", "copy t from program 'ls'", "lock table t",
		"listen x", "notify x", "create function f() returns int language sql as ''",
		"select * from t tablesample system (1)", "select a collate \"de_DE\" from t",
		"prepare transaction 'x'", "select money '1'", "select current_time", "select row(1,2)",
		"explain (analyze, wal) select 1", "select b'1'", "select x'1f'", "commit and chain",
		"truncate a restart identity", "create schema s create table t (a int)",
		"create unlogged table t (a int) partition by hash (a)", "create table t (like u)" };
	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		const char *r = parse_s(no[i]);
		if (strcmp(r, "0A000") != 0 && strcmp(r, "3F000") != 0 && strcmp(r, "42704") != 0)
			fail_msg("%s: %s", no[i], r);
	}
}

#ifdef __SANITIZE_THREAD__
enum { GARBAGE = 1000 }; /* one caller, one parser: what its threads do is in the case below */
#else
#define GARBAGE nam_rounds(20000, 10000, 3000)
#endif

static void
garbage(void **state)
{
	(void)state;
	static const char *const seeds[] = { "select a, b+1 from t where c = 'x' order by 1 limit 3",
		"insert into t (a, b) values (1, $1), (2, default)",
		"update t set a = a - 1 where id in (1,2)",
		"create table t (id int primary key, v numeric(10,2) not null)",
		"copy t from stdin with (format csv)",
		"begin isolation level serializable; delete from t; commit",
		"explain select case when a then 1 end from t", "set lock_timeout = '1s'; show all",
		"drop table if exists a, b" };
	struct nam_rng rng;
	nam_rng_init(&rng, 7);
	char buf[300];
	for (unsigned n = 0; n < GARBAGE; n++) {
		const char *s = seeds[nam_rng_below(&rng, sizeof seeds / sizeof *seeds)];
		size_t len = strlen(s);
		memcpy(buf, s, len);
		for (unsigned k = 1 + (unsigned)nam_rng_below(&rng, 4); k-- > 0;) {
			size_t at = nam_rng_below(&rng, len);
			switch (nam_rng_below(&rng, 3)) {
			case 0:
				buf[at] =
				    /* more is refused before it is parsed */
				    (char)nam_rng_below(&rng, 130);
				break;
			case 1:
				memmove(buf + at, buf + at + 1, len - at - 1);
				len--;
				break;
			default:
				buf[at] = "()',;$\"*-/."[nam_rng_below(&rng, 11)];
			}
			if (len < 2)
				break;
		}
		parse(buf, len); /* any answer will do; parse() checks that it is one */
	}
	assert_string_equal(parse("select\0 1", 9), "22021");
	assert_string_equal(parse_s(""), "ok");
	assert_string_equal(parse_s("  -- nothing\n"), "ok");
	assert_string_equal(parse_s("'"), "42601");
	/* As PostgreSQL: the whole text has to be UTF-8, names and comments too. */
	assert_string_equal(parse_s("select \xff"), "22021");
	assert_string_equal(parse_s("select 1 -- \xc3("), "22021");
	assert_string_equal(parse_s("select 1 as \"\xed\xa0\x80\""), "22021");
	assert_string_equal(parse_s("select \xc3\xa9"), "ok");
	assert_string_equal(parse_s("select E'\\xff'"), "22021");
	/* What the lexer would look at again and again; a long line or banner is nothing of
	 * that. */
	static char text[1 << 19];
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = i % 2 ? '*' : '/';
	assert_string_equal(parse(text, sizeof text), "54001");
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = "/**/"[i % 4];
	assert_string_equal(parse(text, sizeof text), "54001");
	memset(text, '-', sizeof text);
	assert_string_equal(parse(text, sizeof text), "ok");
	memcpy(text, "/*", 2);
	memcpy(text + sizeof text - 2, "*/", 2);
	assert_string_equal(parse(text, sizeof text), "ok");
	memset(text + 2, '*', sizeof text - 4);
	assert_string_equal(parse(text, sizeof text), "ok");
}

static void *
hammer(void *arg)
{
	for (unsigned i = 0; i < 500; i++) {
		char text[64];
		snprintf(text, sizeof text, "select %u + %u", (unsigned)(uintptr_t)arg, i % 50);
		assert_string_equal(parse_s(text), "ok");
	}
	return NULL;
}

static void
threads(void **state)
{
	(void)state;
	pthread_t t[4];
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, hammer, (void *)(i % 2));
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void
tree(void **state)
{
	(void)state;
	struct sql_parsed *p, *q;
	struct cat_err err;
	const char *text = "select a.x as y, -5, 'it''s' from t a where a.x between 1 and $2 limit 3; begin";
	assert_true(sql_parse(parser, text, strlen(text), &p, &err));
	assert_int_equal(p->stmts, 2);
	const struct ast_stmt *st = p->stmt[0];
	assert_int_equal(st->kind, AST_SELECT);
	assert_int_equal(st->params, 2);
	assert_int_equal(st->select->targets, 3);
	assert_string_equal(st->select->target[0].name, "y");
	assert_int_equal(st->select->target[0].e->position, 8);
	assert_int_equal(st->select->target[1].e->i, -5);
	assert_string_equal(st->select->target[2].e->text, "it's");
	assert_int_equal(st->select->where->kind, AST_AND);
	assert_int_equal(p->stmt[1]->kind, AST_BEGIN);
	assert_true(sql_parse(parser, text, strlen(text), &q, &err));
	assert_ptr_equal(p, q); /* the cache */
	sql_parsed_drop(p);
	sql_parsed_drop(q);
	assert_false(sql_parse(parser, "select 1 frm t x", 16, &p, &err));
	assert_string_equal(err.sqlstate, "42601");
	assert_int_equal(err.position, 14);
}

static int
setup(void **state)
{
	(void)state;
	return sql_parser_open(0, &parser) == NAM_OK ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	sql_parser_close(parser);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nested), cmocka_unit_test(wide),
		cmocka_unit_test(multiplied), cmocka_unit_test(too_long), cmocka_unit_test(features),
		cmocka_unit_test(garbage), cmocka_unit_test(threads), cmocka_unit_test(tree) };
	return cmocka_run_group_tests(tests, setup, teardown);
}
