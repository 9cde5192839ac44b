/*
 * functions_test.c -- functions and operators whose corners tests/sql/test_postgres.py may not
 * meet: rows with '|' and ';', ~ for NULL, then the command's tag; or the SQLSTATE and message. As
 * PostgreSQL 15 answers.
 */
#include "golden.h"

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
	{ "select substring('xxx' from 'x+?'), 'xx' ~ '^(x)\\1$', regexp_replace('ab', '(?<=a)b', '-')",
	    "x|t|a-; SELECT 1" },
	{ "select 'x' ~ '(x\\1)'", "ERROR 2201B: invalid regular expression: invalid backreference number" },
	{ "select regexp_match('abcd', '(a|ab)(c|bcd)(d*)'), regexp_match('ab', '(?i)A(B)|x')",
	    "{ab,c,d}|{b}; SELECT 1" },
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

static const struct golden others[] = {
	{ "select gcd(12, -18), gcd(0, 0), lcm(4, 6), lcm(0, 5), gcd(9223372036854775807, 7)",
	    "6|0|12|0|7; SELECT 1" },
	{ "select gcd(-2147483648, 0)", "ERROR 22003: integer out of range" },
	{ "select gcd((-9223372036854775807 - 1), 0)", "ERROR 22003: bigint out of range" },
	{ "select lcm(2147483647, 2147483646)", "ERROR 22003: integer out of range" },
	{ "select gcd(null, 4), lcm(4, null)", "~|~; SELECT 1" },
	{ "select asin(1) = pi() / 2, acos(1), sinh(0), cosh(0), tanh(0), atan2(0, 1), acosh(1), atanh(0)",
	    "t|0|0|1|0|0|0|0; SELECT 1" },
	{ "select asin(1.5)", "ERROR 22003: input is out of range" },
	{ "select acosh(0.5)", "ERROR 22003: input is out of range" },
	{ "select cot('infinity'::float8)", "ERROR 22003: input is out of range" },
	{ "select overlay('Txxxxas' placing 'hom' from 2 for 4), overlay('abc' placing 'ü' from 2), "
	  "overlay('abc' placing 'x' from 9), overlay('abc' placing '' from 1 for 99), overlay(null placing "
	  "'a' "
	  "from 1)",
	    "Thomas|aüc|abcx||~; SELECT 1" },
	{ "select overlay('abc' placing 'x' from 0)", "ERROR 22011: negative substring length not allowed" },
	{ "select overlay('abc' placing 'x' from 2147483647 for 2147483647)",
	    "ERROR 22003: integer out of range" },
	{ "select quote_literal('it''s'), quote_literal('a\\b'), quote_nullable(null), quote_literal(null)",
	    "'it''s'|E'a\\\\b'|NULL|~; SELECT 1" },
};

static void
regular_expressions(void **state)
{
	(void)state;
	golden_all(patterns);
}

static void
rarer_functions(void **state)
{
	(void)state;
	golden_all(others);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(regular_expressions),
		cmocka_unit_test(rarer_functions) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
