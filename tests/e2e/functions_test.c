/*
 * functions_test.c -- functions and operators whose corners tests/sql/test_postgres.py may not meet: rows with '|'
 * and ';', ~ for NULL, then the command's tag; or the SQLSTATE and message. As PostgreSQL 15 answers.
 */
#include "embedded.h"

struct golden {
	const char *text, *answer;
};

static const struct golden patterns[] = {
	{ "create table t (id int primary key, s text, p text)", "CREATE TABLE" },
	{ "insert into t values (1, 'apple', '^a'), (2, 'Banana', 'n{2}'), (3, null, 'x'), (4, 'über', "
	  "null), "
	  "(5, '', '^$')",
	    "INSERT 0 5" },
	{ "select id from t where s ~ 'a' order by id", "1;2; SELECT 2" },
	{ "select id from t where s ~* '^[ABÜ]' order by id", "1;2;4; SELECT 3" },
	{ "select id, s ~ p from t order by id", "1|t;2|f;3|~;4|~;5|t; SELECT 5" },
	{ "select id, s !~ p from t where id < 3 order by id", "1|f;2|t; SELECT 2" },
	{ "select id, regexp_replace(s, '[aeiouü]', '<\\&>', 'g') from t order by id",
	    "1|<a>ppl<e>;2|B<a>n<a>n<a>;3|~;4|<ü>b<e>r;5|; SELECT 5" },
	{ "select regexp_replace(s, '(.)(.*)', '\\2\\1') from t where id in (1, 4) order by id",
	    "pplea;berü; SELECT 2" },
	{ "select regexp_replace('a.b.c', '.', '-', 'gq'), regexp_replace('ABC', 'b', 'x', 'i')",
	    "a-b-c|AxC; SELECT 1" },
	{ "select regexp_replace('a', 'a', 'b', 'z')",
	    "ERROR 22023: invalid regular expression option: \"z\"" },
	{ "select regexp_like('a', 'a', 'g')",
	    "ERROR 22023: regexp_like() does not support the \"global\" option" },
	{ "select 'x' ~ '('", "ERROR 2201B: invalid regular expression: parentheses () not balanced" },
	{ "select 'x' ~ '[a'", "ERROR 2201B: invalid regular expression: brackets [] not balanced" },
	{ "select 'x' ~ '[z-a]'", "ERROR 2201B: invalid regular expression: invalid character range" },
	{ "select 'x' ~ '*'", "ERROR 2201B: invalid regular expression: quantifier operand invalid" },
	{ "select 'x' ~ 'x{300}'", "ERROR 2201B: invalid regular expression: invalid repetition count(s)" },
	{ "select 'x' ~ 'x*?'",
	    "ERROR 0A000: non-greedy quantifiers in regular expressions are not supported yet" },
	{ "select 'x' ~ '(x)\\1'",
	    "ERROR 0A000: back references in regular expressions are not supported yet" },
	{ "select 'x' ~ '(?=x)'",
	    "ERROR 0A000: look-around and embedded options in regular expressions are not supported yet" },
	{ "select s ~ '(' from t where false", "SELECT 0" },
	{ "select repeat('a', 5000) || 'b' ~ '^(a*)*$', repeat('a', 5000) ~ '^(a|aa)+$'", "f|t; SELECT 1" },
	{ "select '' ~ '((((x{1,255}){1,255}){1,255}))'",
	    "ERROR 2201B: invalid regular expression: regular expression is too complex" },
	{ "select 'foobar' ~ 'o{2}b', 'foobar' ~ 'o{3}', 'ab{' ~ 'b{', 'a-b' ~ '[a-]-', 'a]' ~ '[]]'",
	    "t|f|t|t|t; SELECT 1" },
	{ "select 'one two' ~ '\\mtwo\\M', 'onetwo' ~ '\\mtwo', 'x1' ~ '^\\w\\d$', 'tab\there' ~ '\\s'",
	    "t|f|t|t; SELECT 1" },
	{ "select substring('foobar' from 'o(.)b'), substring('foobar' from 'o.b'), substring('x' from 'y')",
	    "o|oob|~; SELECT 1" },
	{ "select regexp_count('banana', 'an'), regexp_instr('über', 'r'), regexp_substr('banana', 'n.*')",
	    "2|4|nana; SELECT 1" },
	{ "select 'abc' similar to 'a(b|x)%', 'abc' similar to 'ab', 'a%' similar to 'a#%' escape '#'",
	    "t|f|t; SELECT 1" },
	{ "select 2 between symmetric 3 and 1, 2 not between symmetric 3 and 1, null between symmetric 1 and "
	  "2",
	    "t|f|~; SELECT 1" },
	{ "select greatest(1, null, 3), least('b', 'a'), greatest(null, null)", "3|a|~; SELECT 1" },
};

static void
all(const struct golden *g, size_t n)
{
	struct embedded e;
	struct teller t;
	embedded_open(&e, 256u << 20, 1);
	teller_open(&t, &e, 0);
	unsigned wrong = 0;
	for (size_t i = 0; i < n; i++) {
		const char *a = ask(&t, g[i].text);
		if (strcmp(a, g[i].answer) == 0)
			continue;
		wrong++;
		fprintf(stderr, "%s\n  is     %s\n  should %s\n", g[i].text, a, g[i].answer);
	}
	teller_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

static void
regular_expressions(void **state)
{
	(void)state;
	all(patterns, sizeof patterns / sizeof *patterns);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(regular_expressions) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
