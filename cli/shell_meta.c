/* shell_meta.c -- the shell's own commands, those that begin with a backslash. */
#include "shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "General\n"
    "  \\q                    leave\n"
    "  \\? or \\help           this\n"
    "  \\conninfo             where this shell is connected to\n"
    "  \\timing [on|off]      show how long statements take\n"
    "  \\set [NAME VALUE]     ON_ERROR_STOP on: a script ends at its first error\n"
    "  \\echo TEXT            print text\n"
    "  \\i FILE               run statements from a file\n"
    "  \\copy TABLE FROM | TO FILE [OPTIONS]\n"
    "                        load or write a file, as COPY FROM STDIN, TO STDOUT do\n"
    "\n"
    "Statements\n"
    "  \\g [FILE or |CMD]      run what was typed, or the last statement again\n"
    "  \\e [FILE]             edit it with $EDITOR, then run it\n"
    "  \\p                    print it\n"
    "  \\r                    forget it\n"
    "\n"
    "Answers\n"
    "  \\o [FILE or |CMD]      send answers there (nothing: back to here)\n"
    "  \\x [on|off]           a line for each value\n"
    "\n"
    "Tables\n"
    "  \\d or \\dt             list tables\n"
    "  \\d NAME               describe a table\n"
    "\n"
    "A statement ends with ; and may span lines. COPY t FROM STDIN reads the lines\n"
    "that follow, up to a line that is \\. alone. docs/SQL.md says what SQL is there.\n";

/* ---- rows of a query of our own ----------------------------------------------------- */

struct answer {
	struct nam_arena arena;
	const char **cell; /* row by row */
	unsigned cells, cap, cols;
};

static bool
answer_rows(void *arg, const struct sql_batch_view *b)
{
	struct answer *a = arg;
	a->cols = b->cols;
	for (unsigned k = 0; k < b->n; k++)
		for (unsigned i = 0; i < b->cols; i++) {
			if (a->cells == a->cap) {
				unsigned cap = a->cap ? a->cap * 2 : 256;
				const char **more = realloc(a->cell, cap * sizeof *more);
				if (more == NULL)
					return false;
				a->cell = more;
				a->cap = cap;
			}
			struct cat_str s = { "", 0 };
			if (!b->col[i].null[k])
				s = cat_value_out(b->col[i].type, cat_vec_at(&b->col[i], k), &a->arena);
			char *copy = nam_arena_str(&a->arena, s.p, s.len);
			if (copy == NULL)
				return false;
			a->cell[a->cells++] = copy;
		}
	return true;
}

static bool
query(struct shell *sh, struct answer *a, const char *text)
{
	const struct sql_sink sink = { .arg = a, .rows = answer_rows };
	struct cat_err err = { 0 };
	memset(a, 0, sizeof *a);
	nam_arena_init(&a->arena, 0);
	shell_running(sh->session);
	bool ok = cn_exec(sh->session, text, strlen(text), &sink, &err);
	shell_running(NULL);
	if (!ok) {
		shell_error(&err, NULL, 0);
		shell_lost(sh);
	}
	return ok;
}

static void
answer_free(struct answer *a)
{
	nam_arena_fini(&a->arena);
	free(a->cell);
}

static void
print_cells(struct shell *sh, const char *title, unsigned cols, const char *const *name, const enum cn_kind *kind,
    const char *const *cell, unsigned cells, bool footer)
{
	if (title != NULL)
		cn_print_title(sh->print, title);
	if (!cn_print_begin(sh->print, cols, name, kind))
		return;
	for (unsigned i = 0; i < cells; i++)
		cn_print_cell(sh->print, cell[i], strlen(cell[i]), false);
	shell_print_end(sh, footer);
}

/* ---- \d ------------------------------------------------------------------------------ */

static bool
list_tables(struct shell *sh)
{
	static const char *const name[] = { "Name", "Columns", "Versions", "Row bytes" };
	static const enum cn_kind right[] = { CN_TEXT, CN_NUMBER, CN_NUMBER, CN_NUMBER };
	struct answer a;
	bool ok = query(sh, &a, "SELECT name, columns, slots, row_bytes FROM nam_tables ORDER BY name");
	if (ok && a.cells == 0)
		fprintf(stderr, "Did not find any tables.\n");
	else if (ok)
		print_cells(sh, "List of tables", 4, name, right, a.cell, a.cells, true);
	answer_free(&a);
	return ok;
}

/* A name as SQL reads it: lower case, or as it is within double quotes. */
static bool
read_name(const char *text, char out[CAT_NAME_MAX + 1])
{
	size_t n = strlen(text);
	bool quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
	if (quoted)
		text++, n -= 2;
	if (n == 0 || n > CAT_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = quoted ? text[i] : (char)tolower((unsigned char)text[i]);
	out[n] = 0;
	return true;
}

/* 'text' as an SQL literal. */
static void
quote(char *out, const char *text)
{
	*out++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			*out++ = '\'';
		*out++ = *text;
	}
	*out++ = '\'';
	*out = 0;
}

static bool
describe(struct shell *sh, const char *what)
{
	enum { NAME, TYPE, NOT_NULL, KEY, COLS };
	static const char *const head[] = { "Column", "Type", "Nullable" };
	static const enum cn_kind right[3] = { CN_TEXT };
	char table[CAT_NAME_MAX + 1], literal[2 * CAT_NAME_MAX + 3], text[512], title[CAT_NAME_MAX + 32];
	struct answer a;
	if (!read_name(what, table)) {
		fprintf(stderr, "namdb: \\d: \"%.80s\" is not a table's name\n", what);
		return false;
	}
	quote(literal, table);
	snprintf(text, sizeof text, "SELECT id FROM nam_tables WHERE name = %s", literal);
	bool ok = query(sh, &a, text);
	if (ok && a.cells != 1) {
		fprintf(stderr, "Did not find any table named \"%s\".\n", table);
		ok = false;
	}
	if (ok)
		snprintf(text, sizeof text,
		    "SELECT name, type, not_null, key FROM nam_columns WHERE table_id = %s ORDER BY number",
		    a.cell[0]);
	answer_free(&a);
	if (!ok || !query(sh, &a, text)) {
		if (ok)
			answer_free(&a);
		return false;
	}
	unsigned rows = a.cells / COLS;
	const char **cell = nam_arena_take(&a.arena, (rows * 3 + 1) * sizeof *cell);
	for (unsigned i = 0; cell != NULL && i < rows; i++) {
		const char **row = &a.cell[(size_t)i * COLS];
		cell[i * 3] = row[NAME];
		cell[i * 3 + 1] = row[TYPE];
		cell[i * 3 + 2] = row[NOT_NULL][0] == 't' ? "not null" : "";
	}
	snprintf(title, sizeof title, "Table \"%s\"", table);
	if (cell != NULL)
		print_cells(sh, title, 3, head, right, cell, rows * 3, false);
	bool key = false;
	for (unsigned k = 1; k <= CAT_KEY_MAX; k++)
		for (unsigned i = 0; i < rows; i++)
			if ((unsigned)atoi(a.cell[(size_t)i * COLS + KEY]) == k) {
				fprintf(sh->out, "%s%s", key ? ", " : "Primary key: (",
				    a.cell[(size_t)i * COLS + NAME]);
				key = true;
			}
	fputs(key ? ")\n\n" : "\n", sh->out);
	answer_free(&a);
	return true;
}

/* ---- the rest -------------------------------------------------------------------------- */

static bool
is_on(const char *text, bool old)
{
	if (text[0] == 0)
		return !old;
	return strcasecmp(text, "on") == 0 || strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

static bool
set(struct shell *sh, char *text)
{
	char *value = text + strcspn(text, " \t=");
	if (*value)
		*value++ = 0;
	value += strspn(value, " \t");
	if (text[0] == 0) {
		printf("ON_ERROR_STOP = %s\n", sh->opt.stop_on_error ? "on" : "off");
		return true;
	}
	if (strcasecmp(text, "ON_ERROR_STOP") == 0) {
		sh->opt.stop_on_error = is_on(value, false);
		return true;
	}
	fprintf(stderr, "namdb: \\set knows ON_ERROR_STOP only\n");
	return false;
}

static bool
expanded(struct shell *sh, const char *arg)
{
	sh->expanded = is_on(arg, sh->expanded);
	if (sh->opt.csv)
		return true;
	cn_print_as(sh->print, sh->expanded ? CN_EXPANDED : CN_ALIGNED);
	if (!sh->opt.quiet)
		printf("Expanded display is %s.\n", sh->expanded ? "on" : "off");
	return true;
}

static bool
go(struct shell *sh, const char *where)
{
	if (where[0] == 0)
		return shell_go(sh);
	FILE *was = sh->out;
	bool pipe = sh->out_pipe;
	sh->out = stdout; /* so that it stays open */
	sh->out_pipe = false;
	bool ok = shell_out(sh, where) && shell_go(sh);
	shell_out(sh, NULL);
	sh->out = was;
	sh->out_pipe = pipe;
	cn_print_to(sh->print, was);
	return ok;
}

static bool
edited(struct shell *sh, const char *file)
{
	char *text;
	size_t len;
	bool typed = sh->stmt_len > 0;
	if (sh->source == NULL) {
		fprintf(stderr, "namdb: \\e is for scripts and terminals\n");
		return false;
	}
	if (!shell_edit(
		sh, file, typed ? sh->stmt : sh->last, typed ? sh->stmt_len : sh->last_len, &text, &len))
		return false;
	shell_forget(sh);
	fwrite(text, 1, len, stdout);
	bool ok = shell_typed(sh, text, len);
	free(text);
	return ok;
}

bool
shell_meta(struct shell *sh, const char *line, size_t len)
{
	char *text = strndup(line + 1, len - 1);
	if (text == NULL)
		return false;
	char *arg = text + strcspn(text, " \t");
	if (*arg)
		*arg++ = 0;
	arg += strspn(arg, " \t");
	size_t n = strlen(arg);
	while (n > 0 && (isspace((unsigned char)arg[n - 1]) || (arg[n - 1] == ';' && text[0] == 'd')))
		arg[--n] = 0;
	bool ok = true;
	if (strcmp(text, "q") == 0 || strcmp(text, "quit") == 0) {
		sh->quit = true;
	} else if (strcmp(text, "?") == 0 || strcmp(text, "h") == 0 || strcmp(text, "help") == 0) {
		fputs(help, stdout);
	} else if (strcmp(text, "dt") == 0 || (strcmp(text, "d") == 0 && n == 0)) {
		ok = n == 0 ? list_tables(sh) : describe(sh, arg);
	} else if (strcmp(text, "d") == 0) {
		ok = describe(sh, arg);
	} else if (strcmp(text, "timing") == 0) {
		sh->timing = is_on(arg, sh->timing);
		if (!sh->opt.quiet)
			printf("Timing is %s.\n", sh->timing ? "on" : "off");
	} else if (strcmp(text, "echo") == 0) {
		printf("%s\n", arg);
	} else if (strcmp(text, "i") == 0 && n > 0) {
		ok = shell_file(sh, arg);
	} else if (strcmp(text, "g") == 0) {
		ok = go(sh, arg);
	} else if (strcmp(text, "e") == 0 || strcmp(text, "edit") == 0) {
		ok = edited(sh, arg);
	} else if (strcmp(text, "p") == 0) {
		bool typed = sh->stmt_len > 0;
		printf("%.*s\n", (int)(typed ? sh->stmt_len : sh->last_len),
		    typed      ? sh->stmt
		    : sh->last ? sh->last
			       : "");
	} else if (strcmp(text, "r") == 0) {
		shell_forget(sh);
	} else if (strcmp(text, "o") == 0) {
		ok = shell_out(sh, arg);
	} else if (strcmp(text, "x") == 0) {
		ok = expanded(sh, arg);
	} else if (strcmp(text, "copy") == 0) {
		ok = shell_copy(sh, arg);
	} else if (strcmp(text, "set") == 0) {
		ok = set(sh, arg);
	} else if (strcmp(text, "conninfo") == 0) {
		printf("%s\n", sh->opt.about ? sh->opt.about : "");
	} else {
		fprintf(stderr, "namdb: unknown command \\%.40s; \\? lists them\n", text);
		ok = false;
	}
	fflush(stdout);
	free(text);
	return ok;
}
