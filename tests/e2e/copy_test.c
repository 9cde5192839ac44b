/* copy_test.c -- COPY's formats and options, both ways. */
#include "embedded.h"

#include <unistd.h>

struct golden {
	const char *text, *input, *answer;
};

static const struct golden list[] = {
	{ "create table c (id int primary key, s text, n numeric, d date, f double precision, b boolean)",
	    NULL, "CREATE TABLE" },
	{ "insert into c values (1, 'plain', 1.50, '2024-02-29', 0.1, true), (2, 'a,b \"q\" c', null, null, "
	  "1e300, "
	  "false), (3, E'tab\\there\\nline\\\\back\\r', -0.00, '0001-01-01', 'NaN', null), (4, '', 0, null, "
	  "null, null), "
	  "(5, null, null, null, null, null), (6, '\\N', null, null, null, null), (7, '\\.', null, null, "
	  "null, null)",
	    NULL, "INSERT 0 7" },
	{ "copy c to stdout", NULL,
	    "1\tplain\t1.50\t2024-02-29\t0.1\tt\n2\ta,b \"q\" c\t\\N\t\\N\t1e+300\tf\n"
	    "3\ttab\\there\\nline\\\\back\\r\t0.00\t0001-01-01\tNaN\t\\N\n4\t\t0\t\\N\t\\N\t\\N\n"
	    "5\t\\N\t\\N\t\\N\t\\N\t\\N\n6\t\\\\N\t\\N\t\\N\t\\N\t\\N\n7\t\\\\.\t\\N\t\\N\t\\N\t\\N\n COPY "
	    "7" },
	{ "copy c (id, s) to stdout with (format csv)", NULL,
	    "1,plain\n2,\"a,b \"\"q\"\" c\"\n3,\"tab\there\nline\\back\r\"\n4,\"\"\n5,\n6,\\N\n7,\\.\n COPY "
	    "7" },
	{ "copy (select s from c where id > 3 order by id) to stdout csv", NULL,
	    "\"\"\n\n\\N\n\"\\.\"\n COPY 4" },
	{ "copy (select id, s from c where id < 3) to stdout (format csv, header, force_quote *)", NULL,
	    "id,s\n\"1\",\"plain\"\n\"2\",\"a,b \"\"q\"\" c\"\n COPY 2" },
	{ "copy (select id, s, n from c where id in (1, 5) order by id) to stdout (format csv, force_quote "
	  "(s), null "
	  "'nil')",
	    NULL, "1,\"plain\",1.50\n5,nil,nil\n COPY 2" },
	{ "copy (select 'nil' as a, 1 as \"b,c\") to stdout (format csv, header, null 'nil')", NULL,
	    "a,\"b,c\"\n\"nil\",1\n COPY 1" },
	{ "copy c (id, s) to stdout (delimiter '|', null '-', header)", NULL,
	    "id|s\n1|plain\n2|a,b \"q\" c\n3|tab\\there\\nline\\\\back\\r\n4|\n5|-\n6|\\\\N\n7|\\\\.\n COPY "
	    "7" },
	{ "copy (select 'a|b' as x, '~') to stdout (delimiter '|')", NULL, "a\\|b|~\n COPY 1" },
	{ "copy (select 'it''s', 'a;b', E'back\\\\') to stdout (format csv, delimiter ';', quote '''', "
	  "escape "
	  "E'\\\\')",
	    NULL, "'it\\'s';'a;b';back\\\n COPY 1" },
	{ "copy (select E'a\\\\b;c') to stdout (format csv, delimiter ';', quote '''', escape E'\\\\')", NULL,
	    "'a\\\\b;c'\n COPY 1" },
	{ "copy (values (1, 'x'), (2, null)) to stdout", NULL, "1\tx\n2\t\\N\n COPY 2" },
	{ "copy (select 1 where false) to stdout csv header", NULL, "?column?\n COPY 0" },
	{ "copy c (s, id) to stdout csv quote as '''' force quote s", NULL,
	    "'plain',1\n'a,b \"q\" c',2\n'tab\there\nline\\back\r',3\n'',4\n,5\n'\\N',6\n'\\.',7\n COPY 7" },
	{ "copy (delete from c where id > 5 returning id, s) to stdout csv", NULL, "6,\\N\n7,\\.\n COPY 2" },
	{ "copy (insert into c (id) values (9) returning id) to stdout", NULL, "9\n COPY 1" },
	{ "copy (delete from c where id = 9) to stdout", NULL,
	    "ERROR 0A000: COPY query must have a RETURNING clause" },
	{ "copy (delete from c where id = 9 returning 1) to stdout", NULL, "1\n COPY 1" },
	{ "copy (select 1 / 0) to stdout", NULL, "ERROR 22012: division by zero" },
	{ "copy (select id, 6 / (id - 3) from c order by id) to stdout", NULL,
	    "ERROR 22012: division by zero" },
	{ "copy nope to stdout", NULL, "ERROR 42P01: relation \"nope\" does not exist" },
	{ "copy c (zz) to stdout", NULL, "ERROR 42703: column \"zz\" of relation \"c\" does not exist" },
	{ "copy c (id, id) to stdout", NULL, "ERROR 42701: column \"id\" specified more than once" },
	{ "copy (select zz from c) to stdout", NULL, "ERROR 42703: column \"zz\" does not exist" },
	{ "copy c to 'relative'", NULL, "ERROR 42602: relative path not allowed for COPY to file" },
	{ "copy c to '/nowhere/at/all'", NULL,
	    "ERROR 58P01: could not open file \"/nowhere/at/all\" for writing: No such file or directory" },
	{ "copy c to '/tmp'", NULL, "ERROR 42809: \"/tmp\" is a directory" },
	{ "copy c to program 'cat'", NULL, "ERROR 0A000: COPY TO PROGRAM is not supported yet" },
	/* options that do not go together */
	{ "copy c to stdout (format text, quote '\"')", NULL,
	    "ERROR 0A000: COPY quote available only in CSV mode" },
	{ "copy c to stdout (force_quote *)", NULL,
	    "ERROR 0A000: COPY force quote available only in CSV mode" },
	{ "copy c to stdout (format csv, force_null (s))", NULL,
	    "ERROR 0A000: COPY force null only available using COPY FROM" },
	{ "copy c to stdout (format csv, force_not_null (s))", NULL,
	    "ERROR 0A000: COPY force not null only available using COPY FROM" },
	{ "copy c from stdin (format csv, force_quote (s))", NULL,
	    "ERROR 0A000: COPY force quote only available using COPY TO" },
	{ "copy c (id) to stdout (format csv, force_quote (s))", NULL,
	    "ERROR 42P10: FORCE_QUOTE column \"s\" not referenced by COPY" },
	{ "copy c to stdout (format csv, force_quote (zz))", NULL,
	    "ERROR 42703: column \"zz\" of relation \"c\" does not exist" },
	{ "copy (select 1 as a) to stdout (format csv, force_quote (zz))", NULL,
	    "ERROR 42703: column \"zz\" does not exist" },
	{ "copy c to stdout (delimiter 'ab')", NULL,
	    "ERROR 0A000: COPY delimiter must be a single one-byte character" },
	{ "copy c to stdout (delimiter E'\\n')", NULL,
	    "ERROR 22023: COPY delimiter cannot be newline or carriage return" },
	{ "copy c to stdout (delimiter 'a')", NULL, "ERROR 22023: COPY delimiter cannot be \"a\"" },
	{ "copy c to stdout (format csv, delimiter '\"')", NULL,
	    "ERROR 22023: COPY delimiter and quote must be different" },
	{ "copy c to stdout (null E'a\\nb')", NULL,
	    "ERROR 22023: COPY null representation cannot use newline or carriage return" },
	{ "copy c to stdout (delimiter '|', null '|')", NULL,
	    "ERROR 0A000: COPY delimiter must not appear in the NULL specification" },
	{ "copy c to stdout (format csv, null '\"')", NULL,
	    "ERROR 0A000: CSV quote character must not appear in the NULL specification" },
	{ "copy c to stdout (format csv, format csv)", NULL,
	    "ERROR 42601: conflicting or redundant options" },
	{ "copy c to stdout (format xml)", NULL, "ERROR 22023: COPY format \"xml\" not recognized" },
	{ "copy c to stdout (format binary)", NULL,
	    "ERROR 0A000: COPY in binary format is not supported yet" },
	{ "copy c to stdout (colour blue)", NULL, "ERROR 42601: option \"colour\" not recognized" },
	{ "copy c to stdout (header match)", NULL,
	    "ERROR 0A000: cannot use \"match\" with HEADER in COPY TO" },
	{ "copy c to stdout (header maybe)", NULL,
	    "ERROR 42601: header requires a Boolean value or \"match\"" },
	/* in again */
	{ "create table i (a int, b text, c text)", NULL, "CREATE TABLE" },
	{ "copy i from stdin (format csv, force_null (b))", "1,\"\",\"\"\n2,,\n", "COPY 2" },
	{ "copy i from stdin (format csv, force_not_null (b))", "3,\"\",\"\"\n4,,\n", "COPY 2" },
	{ "copy i from stdin (format csv, force_not_null (b), force_null (b, c), null 'N')",
	    "5,N,N\n6,\"N\",\"N\"\n", "COPY 2" },
	{ "copy i (c, a) from stdin (format csv, force_not_null (c))", ",7\n", "COPY 1" },
	{ "select a, b is null, b, c is null, c from i order by a", NULL,
	    "1|t|~|f|;2|t|~|t|~;3|f||f|;4|f||t|~;5|f|N|t|~;6|t|~|t|~;7|t|~|f|; SELECT 7" },
	{ "copy i (a) from stdin (format csv, force_null (b))", "",
	    "ERROR 42P10: FORCE_NULL column \"b\" not referenced by COPY" },
	{ "copy i from stdin (force_null (b))", "",
	    "ERROR 0A000: COPY force null available only in CSV mode" },
	{ "copy i (a, b) from stdin (format csv, header match)", "a,b\n8,x\n", "COPY 1" },
	{ "copy i (a, b) from stdin (header match)", "a\tb\n9\tx\n", "COPY 1" },
	{ "copy i (a, b) from stdin (format csv, header match)", "a,c\n8,x\n",
	    "ERROR 22P04: column name mismatch in header line field 2: got \"c\", expected \"b\"" },
	{ "copy i (a, b) from stdin (format csv, header match)", "a,\n8,x\n",
	    "ERROR 22P04: column name mismatch in header line field 2: got null value (\"\"), expected "
	    "\"b\"" },
	{ "copy i (a, b) from stdin (format csv, header match)", "a\n8,x\n",
	    "ERROR 22P04: wrong number of fields in header line: got 1, expected 2" },
	{ "copy i (a, b) from stdin (format csv, header match)", "a,b,c\n8,x\n",
	    "ERROR 22P04: wrong number of fields in header line: got 3, expected 2" },
	{ "copy i (a, zz) from stdin", "", "ERROR 42703: column \"zz\" of relation \"i\" does not exist" },
	{ "select count(*) from i", NULL, "9; SELECT 1" },
	{ "copy nam_tables from stdin", "", "ERROR 42501: permission denied for table nam_tables" },
	{ "begin; copy i from stdin; rollback; select count(*) from i", "10\tx\ty\n",
	    "BEGIN COPY 1 ROLLBACK9; SELECT 1" },
};

static void
options(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	unsigned wrong = 0;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		t.copy = list[i].input ? list[i].input : "";
		t.copy_len = strlen(t.copy);
		const char *a = ask(&t, list[i].text);
		if (strcmp(a, list[i].answer) == 0)
			continue;
		wrong++;
		fprintf(stderr, "%s\n  is     %s\n  should %s\n", list[i].text, a, list[i].answer);
	}
	test_client_close(&t);
	embedded_close(&e);
	assert_int_equal(wrong, 0);
}

/* What goes out comes in again the same, through a file, in every format; many rows, long
 * values. */
static void
there_and_back(void **state)
{
	(void)state;
	static const char *const with[] = { "", "(format csv)", "(format csv, header, force_quote *)",
		"(format csv, delimiter ';', quote '''', escape '#', null 'nil')",
		"(delimiter '|', header, null 'x')" };
	struct embedded e;
	struct test_client t;
	char file[64], text[400];
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	snprintf(file, sizeof file, "/tmp/nam_copy_test.%d", (int)getpid());
	ask(&t, "create table a (id int primary key, s text, n numeric); create table b (id int primary key, "
		"s text, "
		"n numeric)");
	char *big = malloc(300000);
	size_t at = (size_t)sprintf(big, "insert into a values (0, E'\\\\.', null)");
	for (int i = 1; i < 3000; i++)
		at += (size_t)sprintf(big + at, ", (%d, %s, %s)", i,
		    i % 7 == 0   ? "null"
		    : i % 5 == 0 ? "E'a\\tb\\n\"c'';|#\\\\'"
		    : i % 3 == 0 ? "''"
				 : "'nil'",
		    i % 4 ? "12.3400" : "null");
	assert_string_equal(ask(&t, big), "INSERT 0 3000");
	memset(big, 'z', 250000);
	memcpy(big, "insert into a values (-1, '", 27);
	strcpy(big + 250000, "', 1)");
	assert_string_equal(ask(&t, big), "INSERT 0 1");
	free(big);
	for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
		snprintf(text, sizeof text, "copy a to '%s' with %s", file,
		    with[i][0] ? with[i] : "(format text)");
		assert_string_equal(ask(&t, text), "COPY 3001");
		snprintf(text, sizeof text, "truncate b; copy b from '%s' with %s", file,
		    i == 2       ? "(format csv, header)"
		    : with[i][0] ? with[i]
				 : "(format text)");
		assert_string_equal(ask(&t, text), "TRUNCATE TABLE COPY 3001");
		assert_string_equal(ask(&t, "select count(*) from a, b where a.id = b.id and a.s is not "
					    "distinct from b.s and a.n is not "
					    "distinct from b.n"),
		    "3001; SELECT 1");
	}
	unlink(file);
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(options), cmocka_unit_test(there_and_back) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
