/* check_test.h -- histories in a short form, and the verdicts that the judge must give. */
#ifndef NAM_CHECK_TEST_H
#define NAM_CHECK_TEST_H

#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One transaction a line, with ' for ". */
#define TXN(id, session, begin, end, status, ops)                                                            \
	"{'id':" #id ",'session':" #session ",'begin':" #begin ",'end':" #end ",'status':'" status           \
	"','ops':[" ops "]}\n"
#define OK(id, session, begin, end, ops)   TXN(id, session, begin, end, "ok", ops)
#define FAIL(id, session, begin, end, ops) TXN(id, session, begin, end, "fail", ops)
#define INFO(id, session, begin, end, ops) TXN(id, session, begin, end, "info", ops)
#define FINAL(id, session, begin, end, ops)                                                                  \
	"{'id':" #id ",'session':" #session ",'begin':" #begin ",'end':" #end                                \
	",'status':'ok','final':true,'ops':[" ops "]}\n"
/* With the server's timestamps. */
#define AT(id, session, begin, end, start, commit, ops)                                                      \
	"{'id':" #id ",'session':" #session ",'begin':" #begin ",'end':" #end                                \
	",'status':'ok','start_ts':" #start ",'commit_ts':" #commit ",'ops':[" ops "]}\n"

/* In a process. */
#define IN(id, session, process, begin, end, ops)                                                            \
	"{'id':" #id ",'session':" #session ",'process':" #process ",'begin':" #begin ",'end':" #end         \
	",'status':'ok','ops':[" ops "]}\n"
#define IN_AT(id, session, process, begin, end, start, commit, ops)                                          \
	"{'id':" #id ",'session':" #session ",'process':" #process ",'begin':" #begin ",'end':" #end         \
	",'status':'ok','start_ts':" #start ",'commit_ts':" #commit ",'ops':[" ops "]}\n"
/* At a level of its own, all at the same time. */
#define LEVEL(id, session, level, start, commit, ops)                                                        \
	"{'id':" #id ",'session':" #session ",'begin':1,'end':9,'status':'ok','level':'" level               \
	"','start_ts':" #start ",'commit_ts':" #commit ",'ops':[" ops "]}\n"

#define A(k, v)   "['append'," #k "," #v "]"
#define R(k, ...) "['r'," #k ",[" #__VA_ARGS__ "]]" /* list, set */
#define W(k, v)   "['w'," #k "," #v "]"
#define V(k, v)   "['r'," #k "," #v "]" /* register, bank */
#define ADD(k, v) "['add'," #k "," #v "]"

struct case_ {
	const char *name, *model; /* model: the first line's fields */
	enum chk_level holds;     /* strongest level of its row that holds ... */
	enum chk_level breaks;    /* ... and one that does not, or CHK_LEVELS: none to be asked */
	const char *finding;      /* first one there */
	const char *text;         /* must stand in what is printed, or NULL */
	const char *lines;
};

/* Judges lines under a first line, adds the last one. The caller frees. */
static inline char *
test_text(const char *model, const char *lines)
{
	size_t n = 0, size = strlen(model) + strlen(lines) + 200;
	char *text = malloc(size);
	assert_non_null(text);
	for (const char *p = lines; *p; p++)
		n += *p == '\n';
	snprintf(text, size, "{'history':1,'model':%s}\n%s{'end':%zu}\n", model, lines, n);
	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	return text;
}

static inline char *
test_printed(const struct chk *c, bool json)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);
	assert_non_null(f);
	if (json)
		chk_print_json(c, f);
	else
		chk_print(c, f);
	fclose(f);
	return out;
}

static inline void
test_case(const struct case_ *k)
{
	char *text = test_text(k->model, k->lines);
	for (unsigned l = 0; l < CHK_LEVELS; l++) {
		struct chk *c = chk_open();
		struct chk_options opt = { .level = (enum chk_level)l };
		enum chk_verdict v = chk_judge(c, "case", text, strlen(text), &opt);
		char *said = test_printed(c, false), *json = test_printed(c, true);
		if (v == CHK_BAD_INPUT)
			fail_msg("%s: %s", k->name, chk_error(c));
		if ((v == CHK_CLEAN) != chk_holds(c, (enum chk_level)l))
			fail_msg("%s: at %s the verdict and what holds differ\n%s", k->name,
			    chk_level_name((enum chk_level)l), said);
		if (k->holds == CHK_LEVELS && v == CHK_CLEAN)
			fail_msg("%s: should break %s\n%s", k->name, chk_level_name((enum chk_level)l), said);
		if (l == k->holds && v != CHK_CLEAN)
			fail_msg(
			    "%s: should hold at %s\n%s", k->name, chk_level_name((enum chk_level)l), said);
		if (l == k->breaks) {
			if (v != CHK_ANOMALY)
				fail_msg("%s: should break %s\n%s", k->name,
				    chk_level_name((enum chk_level)l), said);
			if (strcmp(chk_finding(c, 0), k->finding) != 0)
				fail_msg("%s: is told as %s, not %s\n%s", k->name, chk_finding(c, 0),
				    k->finding, said);
			if (k->text != NULL && strstr(said, k->text) == NULL)
				fail_msg("%s: \"%s\" is not said in\n%s", k->name, k->text, said);
		}
		free(said);
		free(json);
		chk_close(c);
	}
	free(text);
}

#endif
