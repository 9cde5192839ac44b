/*
 * check_fuzz.c -- `namdb check` on anything: no crash, and verdicts that fit each other.
 *
 * A seed is a line, so here ';' ends a line of the history. Build: see tests/fuzz/CMakeLists.txt.
 */
#include <base/assert.h>
#include <check/check.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each level holds wherever the one behind it does. */
static const enum chk_level weaker[][2] = {
	{ CHK_READ_COMMITTED, CHK_SNAPSHOT },
	{ CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT },
	{ CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT },
	{ CHK_SERIALIZABLE, CHK_SESSION_SERIALIZABLE },
	{ CHK_SESSION_SERIALIZABLE, CHK_STRICT_SERIALIZABLE },
	{ CHK_SNAPSHOT, CHK_SERIALIZABLE },
	{ CHK_SESSION_SNAPSHOT, CHK_SESSION_SERIALIZABLE },
	{ CHK_STRONG_SNAPSHOT, CHK_STRICT_SERIALIZABLE },
};

static void
judge(const char *text, size_t size, enum chk_level level, bool partial)
{
	struct chk_options opt = { .level = level, .partial = partial, .witnesses = 5 };
	struct chk *c = chk_open();
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);
	NAM_ASSERT(c != NULL && f != NULL);
	enum chk_verdict v = chk_judge(c, "input", text, size, &opt);
	chk_print(c, f);
	chk_print_json(c, f);
	fclose(f);
	free(out);
	if (v == CHK_BAD_INPUT)
		NAM_ASSERT(chk_error(c)[0] != 0);
	else if (level != CHK_UNSAID)
		NAM_ASSERT((v == CHK_CLEAN) == chk_holds(c, level) &&
			   (v == CHK_CLEAN) == (chk_finding(c, 0) == NULL));
	for (size_t i = 0; i < sizeof weaker / sizeof weaker[0]; i++)
		NAM_ASSERT(chk_holds(c, weaker[i][0]) || !chk_holds(c, weaker[i][1]));
	chk_close(c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + (size == 0));
	NAM_ASSERT(text != NULL);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == ';' ? '\n' : (char)data[i];
	judge(text, size, CHK_UNSAID, true);
	for (unsigned l = 0; l < CHK_LEVELS; l++)
		judge(text, size, (enum chk_level)l, true);
	judge(text, size, CHK_SNAPSHOT, false);
	free(text);
	return 0;
}
