/* shell_complete.c -- the tab key: keywords, tables, columns, \commands. */
#include "shell.h"

#include <ctype.h>
#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 4096 }; /* of tables, and of columns: who has more types them */

struct names {
	char *name[NAMES_MAX];
	unsigned n;
};

static struct shell *shell; /* whose line is edited */
static struct names tables, columns;

static const char *const keyword[] = { "ALTER", "ANALYZE", "AND", "AS", "ASC", "AVG", "BEGIN", "BETWEEN",
	"BIGINT", "BOOLEAN", "BY", "CASE", "CAST", "COALESCE", "COMMIT", "CONFLICT", "COPY", "COUNT",
	"CREATE", "CROSS", "CURRENT", "DATE", "DEFAULT", "DELETE", "DESC", "DISTINCT", "DO", "DOUBLE", "DROP",
	"ELSE", "END", "EXCEPT", "EXISTS", "EXPLAIN", "FALSE", "FIRST", "FOLLOWING", "FROM", "FULL", "GROUP",
	"HAVING", "ILIKE", "IN", "INDEX", "INNER", "INSERT", "INTEGER", "INTERSECT", "INTO", "IS",
	"ISOLATION", "JOIN", "KEY", "LAST", "LEFT", "LEVEL", "LIKE", "LIMIT", "MAX", "MIN", "NATURAL", "NOT",
	"NOTHING", "NULL", "NULLS", "NUMERIC", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION",
	"PRECEDING", "PRECISION", "PRIMARY", "RANGE", "RESET", "RETURNING", "RIGHT", "ROLLBACK", "ROW",
	"ROWS", "SELECT", "SERIALIZABLE", "SET", "SHOW", "START", "STDIN", "STDOUT", "SUM", "TABLE", "TEXT",
	"THEN", "TIMESTAMP", "TRANSACTION", "TRUE", "TRUNCATE", "UNBOUNDED", "UNION", "UNIQUE", "UPDATE",
	"USING", "VALUES", "VARCHAR", "WHEN", "WHERE", "WINDOW", "WITH" };
static const char *const command[] = { "\\?", "\\conninfo", "\\copy", "\\d", "\\dt", "\\echo", "\\edit",
	"\\g", "\\help", "\\i", "\\o", "\\p", "\\q", "\\r", "\\set", "\\timing", "\\x" };

/* ---- names ----------------------------------------------------------------------- */

static void
forget(struct names *s)
{
	for (unsigned i = 0; i < s->n; i++)
		free(s->name[i]);
	s->n = 0;
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct names *s = arg;
	for (unsigned k = 0; k < b->n && s->n < NAMES_MAX; k++) {
		const struct cat_vec *v = &b->col[0];
		if (v->null[k] || v->type != CAT_TEXT)
			continue;
		bool plain = v->s[k].len > 0; /* others would need quotes */
		for (uint32_t i = 0; i < v->s[k].len; i++) {
			unsigned char c = (unsigned char)v->s[k].p[i];
			plain &= c == '_' || c >= 0x80 || islower(c) || (i > 0 && isdigit(c));
		}
		if (plain && (s->name[s->n] = strndup(v->s[k].p, v->s[k].len)) != NULL)
			s->n++;
	}
	return true;
}

static void
load(struct names *s, const char *text)
{
	const struct sql_sink sink = { .arg = s, .rows = on_rows };
	struct cat_err err;
	forget(s);
	shell_running(shell->session);
	cn_exec(shell->session, text, strlen(text), &sink, &err);
	shell_running(NULL);
}

/* ---- what fits --------------------------------------------------------------------- */

/* The word before `at` in the line, in capitals. */
static void
word_before(const char *line, int at, char *out, size_t room)
{
	size_t n = 0;
	while (at > 0 && isspace((unsigned char)line[at - 1]))
		at--;
	int from = at;
	while (from > 0 && (isalnum((unsigned char)line[from - 1]) || strchr("_\\?", line[from - 1])))
		from--;
	for (; from < at && n + 1 < room; from++)
		out[n++] = (char)toupper((unsigned char)line[from]);
	out[n] = 0;
}

static bool
wants_table(const char *before)
{
	static const char *const word[] = { "FROM", "JOIN", "INTO", "UPDATE", "TABLE", "COPY", "TRUNCATE",
		"\\D", "\\DT", "\\COPY" };
	for (unsigned i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(before, word[i]) == 0)
			return true;
	return false;
}

/* What the generator walks through. */
static struct {
	const char *const *list[3];
	unsigned n[3];
	bool words[3]; /* keywords: in the case of what was typed */
	unsigned lists;
} choice;

static void
offer(const char *const *list, unsigned n, bool words)
{
	choice.list[choice.lists] = list;
	choice.n[choice.lists] = n;
	choice.words[choice.lists++] = words;
}

static char *
next_match(const char *text, int state)
{
	static unsigned list, at;
	size_t len = strlen(text);
	bool lower = false;
	for (size_t i = 0; i < len; i++)
		lower |= islower((unsigned char)text[i]) != 0;
	if (state == 0)
		list = at = 0;
	for (; list < choice.lists; list++, at = 0)
		while (at < choice.n[list]) {
			const char *s = choice.list[list][at++];
			if (strncasecmp(s, text, len) != 0)
				continue;
			char *copy = strdup(s);
			for (char *p = copy; p != NULL && *p && choice.words[list] && lower; p++)
				*p = (char)tolower((unsigned char)*p);
			return copy;
		}
	return NULL;
}

static char **
complete(const char *text, int start, int end)
{
	(void)end;
	char before[32];
	rl_attempted_completion_over = 1; /* no files, unless we say so */
	if (shell == NULL)
		return NULL;
	const char *line = rl_line_buffer;
	size_t blanks = strspn(line, " \t");
	choice.lists = 0;
	word_before(line, start, before, sizeof before);
	if (text[0] == '\\') {
		offer(command, sizeof command / sizeof *command, false);
		return rl_completion_matches(text, next_match);
	}
	if (line[blanks] == '\\' && before[0] != 0 && !wants_table(before)) {
		rl_attempted_completion_over = 0; /* \i, \o: files */
		return NULL;
	}
	if (text[0] == 0 && !wants_table(before))
		return NULL;
	/* ^C must not jump out of a statement */
	shell_reading = 0;
	if (cn_session_state(shell->session) == 'I') {
		load(&tables, "SELECT name FROM nam_tables ORDER BY name LIMIT 4096");
		load(&columns, "SELECT DISTINCT name FROM nam_columns ORDER BY name LIMIT 4096");
	}
	shell_reading = 1;
	offer((const char *const *)tables.name, tables.n, false);
	if (!wants_table(before)) {
		offer((const char *const *)columns.name, columns.n, false);
		offer(keyword, sizeof keyword / sizeof *keyword, true);
	}
	return rl_completion_matches(text, next_match);
}

/* ---- in and out --------------------------------------------------------------------- */

void
shell_complete_open(struct shell *sh)
{
	static char breaks[] = " \t\n\"'`@$><=;|&{(,.)+-*/%";
	shell = sh;
	rl_attempted_completion_function = complete;
	rl_completer_word_break_characters = breaks;
}

void
shell_complete_key(bool on)
{
	rl_parse_and_bind(on ? "bind ^I rl_complete" : "bind ^I ed-insert");
}

void
shell_complete_close(void)
{
	shell = NULL;
	forget(&tables);
	forget(&columns);
}
