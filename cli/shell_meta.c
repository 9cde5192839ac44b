/* shell_meta.c -- the shell's own commands, those that begin with a backslash. */
#include "shell_query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "General\n"
    "  \\q                    quit\n"
    "  \\? or \\help           this list\n"
    "  \\conninfo             where this shell is connected to, and how to open another one there\n"
    "  \\timing [on|off]      show how long statements take\n"
    "  \\set [NAME VALUE]     ON_ERROR_STOP on: a script ends at its first error\n"
    "  \\echo TEXT            print text\n"
    "  \\i FILE               run statements from a file\n"
    "  \\copy TABLE FROM | TO FILE [OPTIONS]\n"
    "                        load or write a file, as COPY FROM STDIN, TO STDOUT do\n"
    "\n"
    "Statements\n"
    "  \\g [FILE or |CMD]      run the statement typed so far, or the last one again\n"
    "  \\gx [FILE or |CMD]     as \\g, and show a line for each value\n"
    "  \\e [FILE]             edit that statement with $EDITOR, then run it\n"
    "  \\p                    print the statement typed so far\n"
    "  \\r                    forget the statement typed so far\n"
    "\n"
    "Answers\n"
    "  \\o [FILE or |CMD]      send answers to a file or command; without one: to the terminal again\n"
    "  \\x [on|off]           show a line for each value\n"
    "  \\pset [NAME [VALUE]]  format aligned, csv, json or markdown; null TEXT; expanded on, off; pager on, "
    "off\n"
    "\n"
    "Tables (S: also the catalog's own; +: more columns)\n"
    "  \\d[S+]                list tables, views and sequences\n"
    "  \\d[S+] PATTERN        describe tables, views, sequences and indexes\n"
    "  \\dt[S+] [PATTERN]     list tables\n"
    "  \\dv[S+] [PATTERN]     list views\n"
    "  \\ds[S+] [PATTERN]     list sequences\n"
    "  \\di[S+] [PATTERN]     list indexes\n"
    "  \\df [PATTERN]         list functions\n"
    "  \\dD[+] [PATTERN]      list domains\n"
    "  \\dn [PATTERN]         list schemas\n"
    "  \\dT[+] [PATTERN]      list types\n"
    "  \\du [PATTERN]         list roles\n"
    "  \\l [PATTERN]          list databases\n"
    "  In a PATTERN * stands for any characters, ? for one, \"...\" for exactly these.\n"
    "\n"
    "A statement ends with ; and may span lines. COPY t FROM STDIN reads the lines\n"
    "that follow, up to a line that is \\. alone. docs/SQL.md lists the SQL that namdb has.\n";

/* ---- the rest -------------------------------------------------------------------------- */

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
		bool on = false; /* as psql: without a value it is on */
		if (!shell_switch(sh, "ON_ERROR_STOP", value, &on))
			return false;
		sh->opt.stop_on_error = on;
		return true;
	}
	shell_say(sh, "\\set knows ON_ERROR_STOP only");
	return false;
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
		shell_say(sh, "\\e is for scripts and terminals");
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

/* \d with letters behind it, or \l. */
static bool
is_list(const char *text)
{
	static const char *const one[] = { "n", "u", "g", "f", "T", "D" };
	char letters[8] = "";
	size_t n = 0;
	if (text[0] != 'd' && text[0] != 'l')
		return false;
	for (const char *p = text + 1; *p; p++) {
		if (*p == '+' || *p == 'S')
			continue;
		if (n + 1 == sizeof letters)
			return false;
		letters[n++] = *p;
	}
	if (text[0] == 'l')
		return n == 0;
	for (unsigned k = 0; k < sizeof one / sizeof *one; k++)
		if (strcmp(letters, one[k]) == 0)
			return true;
	return strspn(letters, "tvsi") == n;
}

/*
 * A pattern is one word, in double quotes perhaps with blanks; what follows is ignored, as psql
 * does.
 */
static bool
tables(struct shell *sh, const char *what, char *arg)
{
	bool quoted = false;
	char *end = arg;
	for (; *end && (quoted || !isspace((unsigned char)*end)); end++)
		quoted ^= *end == '"';
	char *more = end + strspn(end, " \t");
	if (*more)
		shell_say(sh, "\\%s: extra argument \"%.60s\" ignored", what, more);
	*end = 0;
	bool relations = what[0] == 'd' && strspn(what + 1, "S+") == strlen(what + 1);
	if (relations && arg[0] != 0)
		return shell_describe(sh, arg, strchr(what, 'S') != NULL, strchr(what, '+') != NULL);
	return shell_list(sh, what, arg);
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
	} else if (is_list(text)) {
		ok = tables(sh, text, arg);
	} else if (strcmp(text, "timing") == 0) {
		ok = shell_switch(sh, "\\timing", arg, &sh->timing);
		if (ok && !sh->opt.quiet)
			printf("Timing is %s.\n", sh->timing ? "on" : "off");
	} else if (strcmp(text, "echo") == 0) {
		printf("%s\n", arg);
	} else if (strcmp(text, "i") == 0 && n > 0) {
		ok = shell_file(sh, arg);
	} else if (strcmp(text, "g") == 0 || strcmp(text, "gx") == 0) {
		bool expanded = sh->expanded;
		sh->expanded |= text[1] == 'x';
		shell_look(sh);
		ok = go(sh, arg);
		sh->expanded = expanded;
		shell_look(sh);
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
		ok = shell_expanded(sh, arg);
	} else if (strcmp(text, "pset") == 0) {
		ok = shell_pset(sh, arg);
	} else if (strcmp(text, "copy") == 0) {
		ok = shell_copy(sh, arg);
	} else if (strcmp(text, "set") == 0) {
		ok = set(sh, arg);
	} else if (strcmp(text, "conninfo") == 0) {
		printf("%s\n", sh->opt.about ? sh->opt.about : "");
	} else {
		shell_say(sh, "unknown command \\%.40s; \\? lists them", text);
		ok = false;
	}
	fflush(stdout);
	free(text);
	return ok;
}
