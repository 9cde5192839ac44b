/* print_test.c -- tables look as psql's do: expected text was taken from psql 15. */
#include <compute_node/print.h>
#include <compute_node/split.h>

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cells: strings, NULL = SQL NULL. */
static char *
table(enum cn_print_form form, unsigned columns, const char *const *name, const enum cn_kind *right,
    const char *const *cell, unsigned cells, const char *title)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct cn_print *p = cn_print_open(f, form);
	assert_non_null(p);
	if (title)
		cn_print_title(p, title);
	assert_true(cn_print_begin(p, columns, name, right));
	assert_true(cn_print_busy(p));
	for (unsigned i = 0; i < cells; i++)
		assert_true(
		    cn_print_cell(p, cell[i] ? cell[i] : "", cell[i] ? strlen(cell[i]) : 0, !cell[i]));
	cn_print_end(p, true);
	assert_false(cn_print_busy(p));
	cn_print_close(p);
	fclose(f);
	return text;
}

static void
same(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void
aligned(void **state)
{
	(void)state;
	const char *name[] = { "id", "name" };
	const enum cn_kind right[] = { CN_NUMBER, CN_TEXT };
	const char *cell[] = { "1", "alice", "12345", "bob", NULL, NULL };
	same(table(CN_ALIGNED, 2, name, right, cell, 6, NULL), "  id   | name  \n"
							       "-------+-------\n"
							       "     1 | alice\n"
							       " 12345 | bob\n"
							       "       | \n"
							       "(3 rows)\n\n");
	same(table(CN_ALIGNED, 2, name, right, cell, 2, NULL), " id | name  \n"
							       "----+-------\n"
							       "  1 | alice\n"
							       "(1 row)\n\n");
	same(table(CN_ALIGNED, 2, name, right, cell, 0, NULL), " id | name \n"
							       "----+------\n"
							       "(0 rows)\n\n");
}

static void
many_lines(void **state)
{
	(void)state;
	const char *name[] = { "a", "b" };
	const enum cn_kind right[] = { CN_TEXT, CN_TEXT };
	const char *cell[] = { "x\nlonger", "1", "y", "p\nq" };
	same(table(CN_ALIGNED, 2, name, right, cell, 4, NULL), "   a    | b \n"
							       "--------+---\n"
							       " x     +| 1\n"
							       " longer | \n"
							       " y      | p+\n"
							       "        | q\n"
							       "(2 rows)\n\n");
	const char *tail[] = { "x\n", "1" };
	same(table(CN_ALIGNED, 2, name, right, tail, 2, NULL), " a | b \n"
							       "---+---\n"
							       " x+| 1\n"
							       "   | \n"
							       "(1 row)\n\n");
}

static void
widths(void **state)
{
	(void)state;
	const char *name[] = { "t", "n" };
	const enum cn_kind right[] = { CN_TEXT, CN_NUMBER };
	const char *cell[] = { "é", "1", "日本", "2", "a\tb", "3", "\x01", "4", "\xff", "5", "a\rb", "6" };
	same(table(CN_ALIGNED, 2, name, right, cell, 12, NULL), "     t     | n \n"
								"-----------+---\n"
								" é         | 1\n"
								" 日本      | 2\n"
								" a       b | 3\n"
								" \\x01      | 4\n"
								" \\xFF      | 5\n"
								" a\\rb      | 6\n"
								"(6 rows)\n\n");
}

static void
title(void **state)
{
	(void)state;
	const char *name[] = { "Column", "Type" };
	const enum cn_kind right[] = { CN_TEXT, CN_TEXT };
	const char *cell[] = { "a", "integer" };
	same(table(CN_ALIGNED, 2, name, right, cell, 2, "Table \"t\""), "    Table \"t\"\n"
									" Column |  Type   \n"
									"--------+---------\n"
									" a      | integer\n"
									"(1 row)\n\n");
}

static void
csv(void **state)
{
	(void)state;
	const char *name[] = { "id", "a,b" };
	const enum cn_kind right[] = { CN_NUMBER, CN_TEXT };
	const char *cell[] = { "1", "say \"hi\"", "2", NULL, "3", "two\nlines", "4", "plain", "5", "" };
	same(table(CN_CSV, 2, name, right, cell, 10, NULL), "id,\"a,b\"\n"
							    "1,\"say \"\"hi\"\"\"\n"
							    "2,\n"
							    "3,\"two\nlines\"\n"
							    "4,plain\n"
							    "5,\"\"\n");
}

/* Feeds text in pieces of `piece` bytes; returns the ends found as "5,12". */
static const char *
ends(const char *text, size_t piece)
{
	static char out[200];
	struct cn_split s;
	size_t n = strlen(text), at = 0;
	out[0] = 0;
	cn_split_init(&s);
	while (at < n) {
		bool end;
		size_t take = n - at < piece ? n - at : piece;
		size_t used = cn_split_feed(&s, text + at, take, &end);
		at += used;
		if (end) {
			sprintf(out + strlen(out), "%s%zu", out[0] ? "," : "", at);
			cn_split_init(&s);
		}
	}
	sprintf(out + strlen(out), "%c", cn_split_where(&s));
	return out;
}

static void
split(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} t[] = {
		{ "select 1;", "9=" },
		{ "a;b;", "2,4=" },
		{ "a", "-" },
		{ "", "=" },
		{ "  -- x;\n ;", "10=" },
		{ "/* ; /* ; */ ; */;", "18=" },
		{ "/* ; ", "*" },
		{ "';'';';", "7=" },
		{ "'a", "'" },
		{ "E'\\';';", "7=" },
		{ "E'a''\\';';x", "10-" },
		{ "'\\';", "4=" },
		{ "name'\\';", "8=" },
		{ "\"a;\"\";\";", "8=" },
		{ "\"a", "\"" },
		{ "$$;$$;", "6=" },
		{ "$a$;$b$;$$;$a$;", "15=" },
		{ "$a$;$a$a$;", "10=" },
		{ "$a", "-" },
		{ "$$;", "$" },
		{ "select $1;", "10=" },
		{ "a$b$;", "5=" },
		{ "1-2;/", "4=" },
		{ "1/2;", "4=" },
		{ "a --b", "-" },
	};
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++)
		for (size_t piece = 1; piece < 20; piece += 3) {
			if (strcmp(ends(t[i].text, piece), t[i].want) != 0)
				print_error("%s: %s\n", t[i].text, ends(t[i].text, piece));
			assert_string_equal(ends(t[i].text, piece), t[i].want);
		}
}

static void
json(void **state)
{
	(void)state;
	const char *name[] = { "n", "t\"", "b", "j" };
	const enum cn_kind kind[] = { CN_NUMBER, CN_TEXT, CN_BOOL, CN_DOCUMENT };
	const char *cell[] = { "1", "a\"b\\\n\t\x01", "t", "{\"x\":\n1}", NULL, NULL, NULL, NULL, "NaN", "",
		"f", "null", "-0.5e+20", "\xff\xc3\xa4", "t", "[]", "01", "", "t", "1" };
	same(table(CN_JSON, 4, name, kind, cell, 20, "title"),
	    "[\n"
	    " {\"n\": 1, \"t\\\"\": \"a\\\"b\\\\\\n\\t\\u0001\", \"b\": true, \"j\": {\"x\": 1}},\n"
	    " {\"n\": null, \"t\\\"\": null, \"b\": null, \"j\": null},\n"
	    " {\"n\": \"NaN\", \"t\\\"\": \"\", \"b\": false, \"j\": null},\n"
	    " {\"n\": -0.5e+20, \"t\\\"\": \"\\ufffd\xc3\xa4\", \"b\": true, \"j\": []},\n"
	    " {\"n\": \"01\", \"t\\\"\": \"\", \"b\": true, \"j\": 1}\n"
	    "]\n");
	same(table(CN_JSON, 4, name, kind, cell, 0, NULL), "[]\n");
}

static void
markdown(void **state)
{
	(void)state;
	const char *name[] = { "n|", "t" };
	const enum cn_kind kind[] = { CN_NUMBER, CN_TEXT };
	const char *cell[] = { "1", "a|b\nc<d", NULL, "*x*" };
	same(table(CN_MARKDOWN, 2, name, kind, cell, 4, NULL), "| n\\| | t |\n"
							       "|--:|---|\n"
							       "| 1 | a\\|b<br>c&lt;d |\n"
							       "|  | \\*x\\* |\n\n");
	same(table(CN_MARKDOWN, 2, name, kind, cell, 0, "T"), "T\n\n| n\\| | t |\n|--:|---|\n\n");
}

/* What stands for NULL, and lines below a table, in each form. */
static void
null_and_foot(void **state)
{
	(void)state;
	static const char *const want[] = {
		[CN_ALIGNED] = "  a   \n------\n NULL\nfoot\n\n",
		[CN_CSV] = "a\nNULL\n",
		[CN_EXPANDED] = "-[ RECORD 1 ]\na | NULL\nfoot\n\n",
		[CN_JSON] = "[\n {\"a\": null}\n]\n",
		[CN_MARKDOWN] = "| a |\n|---|\n| NULL |\n\nfoot\n\n",
	};
	for (enum cn_print_form f = CN_ALIGNED; f <= CN_MARKDOWN; f++) {
		const char *name[] = { "a" };
		const enum cn_kind kind[] = { CN_TEXT };
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		struct cn_print *p = cn_print_open(out, f);
		assert_true(cn_print_null(p, "?") && cn_print_null(p, "NULL"));
		assert_true(cn_print_begin(p, 1, name, kind));
		assert_true(cn_print_cell(p, "", 0, true));
		cn_print_foot(p, "foot\n");
		cn_print_end(p, false);
		cn_print_close(p);
		fclose(out);
		same(text, want[f]);
	}
}

int
main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json),
		cmocka_unit_test(markdown),
		cmocka_unit_test(null_and_foot),
		cmocka_unit_test(aligned),
		cmocka_unit_test(many_lines),
		cmocka_unit_test(widths),
		cmocka_unit_test(title),
		cmocka_unit_test(csv),
		cmocka_unit_test(split),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
