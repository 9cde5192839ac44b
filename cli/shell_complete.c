/*
 * shell_complete.c -- the tab key: keywords, tables, columns of a table, functions, settings,
 * \commands.
 */
#include "shell.h"

#include <ctype.h>
#include <editline/readline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 4096 }; /* of tables, and of columns; the others are not offered */

struct names {
	char *name[NAMES_MAX];
	unsigned n;
};

static struct shell *shell; /* whose line is edited */
static struct names tables, columns, functions;
static struct names owners, owned; /* a table, and beside it a column of it */
static struct names fitting;       /* of those the columns that fit now: borrowed */

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
static const char *const command[] = { "\\?", "\\conninfo", "\\copy", "\\d", "\\d+", "\\dD", "\\df", "\\di",
	"\\dn", "\\ds", "\\dT", "\\dt", "\\du", "\\dv", "\\e", "\\echo", "\\edit", "\\g", "\\gx", "\\h",
	"\\help", "\\i", "\\l", "\\o", "\\p", "\\pset", "\\q", "\\quit", "\\r", "\\set", "\\timing", "\\x" };
static const char *const setting[] = { "application_name", "client_encoding", "client_min_messages",
	"datestyle", "default_transaction_isolation", "extra_float_digits", "lock_timeout", "namdb.cost_byte",
	"namdb.cost_cache", "namdb.cost_hash_far", "namdb.cost_hash_near", "namdb.cost_row",
	"namdb.cost_trip", "namdb.cost_value", "namdb.cost_verb", "namdb.costs", "namdb.join_order",
	"namdb.process_memory", "namdb.scan_memory", "namdb.statement_memory", "namdb.visibility",
	"standard_conforming_strings", "statement_timeout", "timezone", "transaction_isolation" };
static const char *const own_setting[] = { "cost_byte", "cost_cache", "cost_hash_far", "cost_hash_near",
	"cost_row", "cost_trip", "cost_value", "cost_verb", "costs", "join_order", "process_memory",
	"scan_memory", "statement_memory", "visibility" };
static const char *const pset[] = { "expanded", "format", "null", "pager" };
static const char *const form[] = { "aligned", "csv", "json", "markdown" };

/* ---- names ----------------------------------------------------------------------- */

static void
forget(struct names *s)
{
	for (unsigned i = 0; i < s->n; i++)
		free(s->name[i]);
	s->n = 0;
}

/* Others would need quotes. */
static bool
is_plain(struct cat_str s)
{
	bool plain = s.len > 0;
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];
		plain &= c == '_' || c >= 0x80 || islower(c) || (i > 0 && isdigit(c));
	}
	return plain;
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct names *s = arg;
	for (unsigned k = 0; k < b->n && s->n < NAMES_MAX; k++) {
		const struct cat_vec *v = &b->col[0];
		if (v->null[k] || v->type != CAT_TEXT || !is_plain(v->s[k]))
			continue;
		if ((s->name[s->n] = strndup(v->s[k].p, v->s[k].len)) != NULL)
			s->n++;
	}
	return true;
}

static bool
on_pairs(void *arg, const struct sql_batch_view *b)
{
	(void)arg;
	const struct cat_vec *t = &b->col[0], *c = &b->col[1];
	for (unsigned k = 0; k < b->n && owners.n < NAMES_MAX; k++) {
		if (t->type != CAT_TEXT || c->type != CAT_TEXT || !is_plain(t->s[k]) || !is_plain(c->s[k]))
			continue;
		char *table = strndup(t->s[k].p, t->s[k].len), *column = strndup(c->s[k].p, c->s[k].len);
		if (table == NULL || column == NULL) {
			free(table);
			free(column);
			continue;
		}
		owners.name[owners.n++] = table;
		owned.name[owned.n++] = column;
	}
	return true;
}

static void
load(struct names *s, const char *text)
{
	const struct sql_sink sink = { .arg = s, .rows = s != NULL ? on_rows : on_pairs };
	struct cat_err err;
	if (s != NULL)
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
	while (from > 0 && (isalnum((unsigned char)line[from - 1]) || strchr("_\\?+", line[from - 1])))
		from--;
	for (; from < at && n + 1 < room; from++)
		out[n++] = (char)toupper((unsigned char)line[from]);
	out[n] = 0;
}

static bool
wants_table(const char *before)
{
	static const char *const word[] = { "FROM", "JOIN", "INTO", "UPDATE", "TABLE", "COPY", "TRUNCATE",
		"ANALYZE", "\\D", "\\D+", "\\DT", "\\DT+", "\\DV", "\\DV+", "\\DS", "\\DI", "\\COPY" };
	for (unsigned i = 0; i < sizeof word / sizeof *word; i++)
		if (strcmp(before, word[i]) == 0)
			return true;
	return false;
}

/* What the generator walks through. */
static struct {
	const char *const *list[4];
	unsigned n[4];
	bool words[4]; /* keywords: in the case of what was typed */
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

/* ---- columns of a table --------------------------------------------------------------- */

static bool
is_name(unsigned char c)
{
	return isalnum(c) || c == '_' || c >= 0x80;
}

/* The word that ends before `at`: where it begins; at: there is none. */
static int
word_from(const char *line, int at)
{
	while (at > 0 && is_name((unsigned char)line[at - 1]))
		at--;
	return at;
}

static bool
known(const struct names *s, const char *name, size_t len, const char **out)
{
	for (unsigned k = 0; k < s->n; k++)
		if (strncasecmp(s->name[k], name, len) == 0 && s->name[k][len] == 0) {
			*out = s->name[k];
			return true;
		}
	return false;
}

/* Is there "TABLE [AS] qual" in the text? Then that table. */
static const char *
by_alias(const char *text, size_t len, const char *qual, size_t n)
{
	const char *table = NULL;
	for (size_t i = 0; i < len;) {
		size_t from = i;
		while (i < len && is_name((unsigned char)text[i]))
			i++;
		if (i == from) {
			if (!isspace((unsigned char)text[i]))
				table = NULL;
			i++;
			continue;
		}
		if (table != NULL && i - from == n && strncasecmp(text + from, qual, n) == 0)
			return table;
		if (i - from == 2 && strncasecmp(text + from, "as", 2) == 0)
			continue;
		if (!known(&owners, text + from, i - from, &table))
			table = NULL;
	}
	return NULL;
}

/* The columns of what stands before the dot; of every table, if that is no table and no alias. */
static void
offer_columns(const char *line, const char *qual, size_t n)
{
	const char *table = NULL;
	if (!known(&owners, qual, n, &table) && (table = by_alias(line, strlen(line), qual, n)) == NULL)
		table = by_alias(shell->stmt != NULL ? shell->stmt : "", shell->stmt_len, qual, n);
	if (table == NULL) {
		offer((const char *const *)columns.name, columns.n, false);
		return;
	}
	fitting.n = 0;
	for (unsigned k = 0; k < owners.n; k++)
		if (strcmp(owners.name[k], table) == 0)
			fitting.name[fitting.n++] = owned.name[k];
	offer((const char *const *)fitting.name, fitting.n, false);
}

/* ^C must not jump out of a statement; within a transaction only what is known already. */
static void
look_up(void)
{
	shell_reading = 0;
	if (cn_session_state(shell->session) == 'I') {
		load(&tables, "SELECT name FROM nam_tables ORDER BY name LIMIT 4096");
		load(&columns, "SELECT DISTINCT name FROM nam_columns ORDER BY name LIMIT 4096");
		forget(&owners);
		forget(&owned);
		load(NULL, "SELECT t.name, c.name FROM nam_tables t JOIN nam_columns c ON c.table_id = t.id "
			   "ORDER BY t.name, c.number LIMIT 4096");
		if (functions.n == 0)
			load(&functions, "SELECT DISTINCT name FROM nam_functions ORDER BY name");
	}
	shell_reading = 1;
}

static bool
wants_setting(const char *before)
{
	return strcmp(before, "SET") == 0 || strcmp(before, "SHOW") == 0 || strcmp(before, "RESET") == 0 ||
	       strcmp(before, "LOCAL") == 0 || strcmp(before, "SESSION") == 0;
}

/* Behind \pset. */
static bool
offer_pset(const char *line, const char *before)
{
	if (strcmp(before, "\\PSET") == 0)
		offer(pset, sizeof pset / sizeof *pset, false);
	else if (strncmp(line, "\\pset", 5) == 0 && strcmp(before, "FORMAT") == 0)
		offer(form, sizeof form / sizeof *form, false);
	else
		return false;
	return true;
}

/*
 * SET and the like: the names that fit. A dot ends a word, so behind "namdb." only the rest is
 * offered.
 */
static bool
offer_settings(const char *line, int start)
{
	char before[32];
	bool dot = start > 0 && line[start - 1] == '.';
	int from = dot ? word_from(line, start - 1) : start;
	word_before(line, from, before, sizeof before);
	if (!wants_setting(before) || (dot && strncasecmp(line + from, "namdb.", 6) != 0))
		return false;
	if (dot)
		offer(own_setting, sizeof own_setting / sizeof *own_setting, false);
	else
		offer(setting, sizeof setting / sizeof *setting, false);
	return true;
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
	if (offer_pset(line + blanks, before))
		return rl_completion_matches(text, next_match);
	if (line[blanks] == '\\' && before[0] != 0 && !wants_table(before)) {
		rl_attempted_completion_over = 0; /* \i, \o: files */
		return NULL;
	}
	if (offer_settings(line, start))
		return rl_completion_matches(text, next_match);
	bool dot = start > 0 && line[start - 1] == '.';
	if (text[0] == 0 && !dot && !wants_table(before))
		return NULL;
	look_up();
	if (dot) {
		int from = word_from(line, start - 1);
		if (strncasecmp(line + from, "public.", 7) == 0)
			offer((const char *const *)tables.name, tables.n, false);
		else
			offer_columns(line, line + from, (size_t)(start - 1 - from));
		return rl_completion_matches(text, next_match);
	}
	offer((const char *const *)tables.name, tables.n, false);
	if (!wants_table(before)) {
		offer((const char *const *)columns.name, columns.n, false);
		offer((const char *const *)functions.name, functions.n, false);
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
	rl_basic_word_break_characters = breaks; /* what libedit goes by */
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
	forget(&functions);
	forget(&owners);
	forget(&owned);
}
