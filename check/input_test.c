/* input_test.c -- a file that is no history is refused, with the place of the fault; no input
 * crashes. */
#include "check_test.h"

#include <base/rng.h>

static enum chk_verdict
judge(const char *text, size_t len, bool partial, char *error, size_t size)
{
	struct chk *c = chk_open();
	struct chk_options opt = { .level = CHK_UNSAID, .partial = partial };
	enum chk_verdict v = chk_judge(c, "f", text, len, &opt);
	snprintf(error, size, "%s", chk_error(c));
	char *said = test_printed(c, false), *json = test_printed(c, true);
	if (v == CHK_BAD_INPUT) {
		assert_non_null(strstr(json, "\"error\":"));
		assert_null(chk_finding(c, 0));
		assert_false(chk_holds(c, CHK_READ_COMMITTED));
	}
	free(said);
	free(json);
	chk_close(c);
	return v;
}

#define HEAD "{'history':1,'model':'list-append'}\n"

static const struct {
	const char *text, *error;
} wrong[] = {
	{ "", "f:1:1: the file is empty" },
	{ "\n\n", "f:3:1: the file is empty" },
	{ "x", "f:1:1: 'x' where '{' should stand" },
	{ "{'history':2,'model':'set'}\n", "f:1:2: this program reads histories of version 1" },
	{ "{'history':1}\n", "f:1:1: the first line needs \"history\" and \"model\"" },
	{ "{'history':1,'model':'tree'}\n", "f:1:14: a model is" },
	{ "{'history':1,'model':'bank'}\n", "f:1:1: a bank needs its \"total\"" },
	{ "{'history':1,'model':'set','level':'best'}\n", "f:1:36: there is no level \"best\"" },
	{ "{'history':1,'model':'set','color':1}\n", "f:1:28: the first line has no field \"color\"" },
	{ HEAD, "f:2:1: the file ends without its last line" },
	{ HEAD OK(1, 0, 1, 2, A(1, 1)), "f:3:1: the file ends without its last line, {\"end\":1}" },
	{ HEAD OK(1, 0, 1, 2, A(1, 1)) "{'end':2}\n",
	    "f:3:1: the last line counts 2 transactions, 1 stand above it" },
	{ HEAD "{'end':0}\n{}\n", "f:3:1: something stands behind the last line" },
	{ HEAD "{'id':1,'session':0,'begin':1,'end':2,'status':'ok'}\n{'end':1}\n",
	    "f:2:1: a transaction needs \"ops\"" },
	{ HEAD "{'id':1,'session':0,'begin':1,'status':'ok','ops':[]}\n{'end':1}\n",
	    "f:2:1: a transaction needs \"end\"" },
	{ HEAD OK(1, 0, 1, null, ""), "f:2:1: only a transaction of status \"info\" may have no end" },
	{ HEAD OK(1, 0, 2, 1, ""), "f:2:1: it ends (1) before it begins (2)" },
	{ HEAD TXN(1, 0, 1, 2, "maybe", ""), "a status is" },
	{ HEAD "{'id':1,'id':1}\n", "f:2:9: \"id\" stands here twice" },
	{ HEAD "{'id':1,'ids':1}\n", "f:2:9: a transaction has no field \"ids\"" },
	{ HEAD OK(1.5, 0, 1, 2, ""), "f:2:7: an id should be a whole number" },
	{ HEAD OK(99999999999999999999, 0, 1, 2, ""), "f:2:7: this number has more than 64 bits" },
	{ HEAD OK(9223372036854775808, 0, 1, 2, ""), "f:2:7: an id should have no more than 64 bits" },
	{ HEAD OK(1, 0, 1, 2, "['w',1,1]"), "a list-append history has no operation \"w\"" },
	{ HEAD OK(1, 0, 1, 2, "['r',1,[1,]]"), "']' where a value should stand" },
	{ HEAD OK(1, 0, 1, 2, "['r',1,[1"), "'}' where ']' should stand" },
	{ HEAD OK(1, 0, 1, 2, "['append',1,null]"), "'n' where a value should stand" },
	{ HEAD OK(1, 0, 1, 2, "['append',{},1]"), "'{' where a key should stand" },
	{ HEAD OK(1, 0, 1, 2, "['append','\200',1]"), "a text that is not UTF-8" },
	{ HEAD OK(1, 0, 1, 2, "['append','\303',1]"), "a text that is not UTF-8" },
	{ HEAD OK(1, 0, 1, 2, "['append','\300\200',1]"), "a text that is not UTF-8" },
	{ HEAD OK(1, 0, 1, 2, "['append','\355\240\200',1]"), "a text that is not UTF-8" },
	{ HEAD OK(1, 0, 1, 2, "['append','\364\220\200\200',1]"), "a text that is not UTF-8" },
	{ HEAD OK(1, 0, 1, 2, "['append','\303\251\342\202\254\360\237\230\200',x]"),
	    "'x' where a value should stand" },
	{ HEAD OK(1, 0, 1, 2, "['append','a\\x',1]"), "'\\' in front of something" },
	{ HEAD OK(1, 0, 1, 2, "['append','\\ud800',1]"), "half a surrogate pair" },
	{ HEAD OK(1, 0, 1, 2, "['append','a\nb',1]"), "a text that does not end" },
	{ HEAD OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 1, 2, A(1, 1)) "{'end':2}\n",
	    "f:3:1: value 1 is written to key 1 twice (also in line 2)" },
	{ HEAD OK(1, 0, 1, 2, A(1, 1) "," A(1, 1)) "{'end':1}\n",
	    "f:2:1: value 1 is written to key 1 twice" },
	{ HEAD OK(1, 0, 1, 2, "") OK(1, 0, 3, 4, "") "{'end':2}\n",
	    "f:3:1: transaction 1 has ended in line 2 already" },
	{ HEAD INFO(1, 0, 1, null, "") OK(1, 3, 3, 4, "") "{'end':2}\n",
	    "f:3:1: transaction 1 is of another session" },
	{ HEAD OK(1, 0, 1, 5, "") OK(2, 0, 4, 6, "") "{'end':2}\n",
	    "f:3:1: session 0 begins transaction 2 at 4, before its transaction 1 (line 2) ended" },
	{ HEAD "{'id':1,'session':0,'begin':1,'end':2,'status':'fail','commit_ts':4,'ops':[]}\n",
	    "a transaction that was rolled back has no commit_ts" },
	{ HEAD "{'id':1,'session':0,'begin':1,'status':'info','final':true,'ops':[]}\n",
	    "final reads are of status" },
	{ HEAD "{'id':1,'session':0,'begin':1,'end':2,'status':'ok','start_ts':-1,'ops':[]}\n",
	    "cannot be negative" },
	{ HEAD OK(1, 0, 1, 2, "") IN(2, 1, 0, 1, 2, ""),
	    "f:3:1: either all transactions say their \"process\" or none does" },
	{ HEAD "{'id':1} x\n", "f:2:1: a transaction needs \"session\"" },
	{ HEAD "{'end':0} x\n", "f:2:11: 'x' where the end of the line should stand" },
};

static void
test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char *text = strdup(wrong[i].text), error[500];
		for (char *p = text; *p; p++)
			if (*p == '\'')
				*p = '"';
		if (judge(text, strlen(text), false, error, sizeof error) != CHK_BAD_INPUT)
			fail_msg("taken for a history: %s", text);
		if (strstr(error, wrong[i].error) == NULL)
			fail_msg("%s\nsays: %s\nnot: %s", text, error, wrong[i].error);
		free(text);
	}
}

static const char good[] =
    "{'history': 1, 'model':'list-append','level':'si','visible':'<=','note':'a \\u20ac "
    "\\ud83d\\ude00'}\r\n\n"
    "{'ops':[['append','k\\n',-5],['r',-7,[1,2],18446744073709551615]],'status':'ok','end':9,'begin':-3,'"
    "session':4,"
    "'id':1,'start_ts':3,'commit_ts':null,'level':'rc','final':false,'note':''}\n" INFO(
	2, 5, 1, null, A(-7, 1) "," A(-7, 2)) " { 'end' : 2 } ";

/* A copy of exactly its size, so that a sanitizer sees a byte too far. */
static char *
copy_of(const char *text, size_t n)
{
	char *c = malloc(n + (n == 0));
	assert_non_null(c);
	for (size_t i = 0; i < n; i++)
		c[i] = text[i] == '\'' ? '"' : text[i];
	return c;
}

static void
test_cut_anywhere(void **state)
{
	(void)state;
	char error[500];
	size_t end = sizeof good - 1, last = end - 1;
	while (good[last] != '}')
		last--;
	for (size_t n = 0; n <= end; n++) {
		char *text = copy_of(good, n);
		enum chk_verdict v = judge(text, n, false, error, sizeof error);
		if ((v == CHK_BAD_INPUT) != (n <= last))
			fail_msg("cut at %zu of %zu: verdict %d %s", n, end, v, error);
		if (v == CHK_BAD_INPUT && strncmp(error, "f:", 2) != 0)
			fail_msg("cut at %zu: no line: %s", n, error);
		judge(text, n, true, error, sizeof error);
		free(text);
	}
}

static void
test_partial(void **state)
{
	(void)state;
	char error[500], *text = copy_of(good, sizeof good - 1);
	size_t n = (size_t)(strstr(text, " { \"end\"") - text);
	assert_int_equal(judge(text, n, false, error, sizeof error), CHK_BAD_INPUT);
	assert_int_equal(judge(text, n, true, error, sizeof error), CHK_CLEAN);
	free(text);
}

static void
test_rubbish(void **state)
{
	(void)state;
	struct nam_rng d;
	char error[500];
	nam_rng_init(&d, 7);
	for (unsigned i = 0; i < 20000; i++) {
		size_t n = sizeof good - 1;
		char *text = copy_of(good, n);
		for (unsigned k = 1 + (unsigned)nam_rng_below(&d, 4); k > 0; k--) {
			static const char likely[] = "\"'[]{},:0123456789-\\u\n ern";
			text[nam_rng_below(&d, n)] = nam_rng_below(&d, 4) == 0
							 ? (char)nam_rng_below(&d, 256)
							 : likely[nam_rng_below(&d, sizeof likely - 1)];
		}
		judge(text, n, i % 2, error, sizeof error);
		free(text);
	}
	assert_int_equal(judge("\0\0\0\0", 4, false, error, sizeof error), CHK_BAD_INPUT);
	assert_string_equal(error, "f:1:1: byte 0 where '{' should stand");
}

/* Nothing here recurses: brackets without end are no danger. */
static void
test_deep(void **state)
{
	(void)state;
	size_t n = 1000000;
	char *text = malloc(n), error[500];
	memset(text, '[', n);
	memcpy(text, "{\"history\":1,\"model\":\"set\"}\n", 28);
	assert_int_equal(judge(text, n, false, error, sizeof error), CHK_BAD_INPUT);
	assert_string_equal(error, "f:2:1: '[' where '{' should stand");
	free(text);
}

static void
test_levels(void **state)
{
	(void)state;
	enum chk_level l;
	for (unsigned i = 0; i < CHK_LEVELS; i++) {
		assert_true(chk_level_parse(chk_level_name((enum chk_level)i), &l));
		assert_int_equal(l, i);
	}
	assert_true(chk_level_parse("si", &l));
	assert_int_equal(l, CHK_SNAPSHOT);
	assert_false(chk_level_parse("", &l));
	assert_false(chk_level_parse("SI", &l));
	chk_close(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
