/* shell_pset.c -- \pset and \x: how answers look. */
#include "shell.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const forms[] = {
	[CN_ALIGNED] = "aligned", [CN_CSV] = "csv", [CN_JSON] = "json", [CN_MARKDOWN] = "markdown"
};

bool
shell_form(const char *name, enum cn_print_form *out)
{
	for (unsigned k = 0; k < sizeof forms / sizeof *forms; k++)
		if (forms[k] != NULL && strcasecmp(forms[k], name) == 0) {
			*out = (enum cn_print_form)k;
			return true;
		}
	return false;
}

bool
shell_switch(struct shell *sh, const char *what, const char *text, bool *on)
{
	static const char *const word[2][4] = { { "off", "false", "no", "0" }, { "on", "true", "yes", "1" } };
	if (text[0] == 0) {
		*on = !*on;
		return true;
	}
	for (unsigned k = 0; k < 8; k++)
		if (strcasecmp(text, word[k / 4][k % 4]) == 0) {
			*on = k / 4;
			return true;
		}
	shell_say(sh, "unrecognized value \"%.60s\" for \"%s\": on or off expected", text, what);
	return false;
}

char *
shell_word(char *text, char **rest)
{
	text += strspn(text, " \t");
	char *from = text, *to = text;
	bool quoted = false;
	for (; *from && (quoted || (*from != ' ' && *from != '\t')); from++) {
		if (*from != '\'')
			*to++ = *from;
		else if (quoted && from[1] == '\'')
			*to++ = *from++;
		else
			quoted = !quoted;
	}
	*rest = from + (*from != 0);
	*to = 0;
	return text;
}

void
shell_look(struct shell *sh)
{
	cn_print_as(sh->print, sh->form == CN_ALIGNED && sh->expanded ? CN_EXPANDED : sh->form);
}

static void
say_expanded(const struct shell *sh)
{
	if (!sh->opt.quiet)
		printf("Expanded display is %s.\n", sh->expanded ? "on" : "off");
}

bool
shell_expanded(struct shell *sh, const char *arg)
{
	if (!shell_switch(sh, "\\x", arg, &sh->expanded))
		return false;
	shell_look(sh);
	if (sh->form == CN_ALIGNED)
		say_expanded(sh);
	return true;
}

static void
say_null(const struct shell *sh)
{
	if (!sh->opt.quiet)
		printf("Null display is \"%s\".\n", sh->null ? sh->null : "");
}

static bool
set_null(struct shell *sh, const char *text)
{
	char *copy = strdup(text);
	if (copy == NULL || !cn_print_null(sh->print, text)) {
		free(copy);
		shell_say(sh, "no memory");
		return false;
	}
	free(sh->null);
	sh->null = copy;
	say_null(sh);
	return true;
}

static bool
set_form(struct shell *sh, const char *name)
{
	if (name[0] != 0 && !shell_form(name, &sh->form)) {
		shell_say(sh, "\\pset: allowed formats are aligned, csv, json, markdown");
		return false;
	}
	shell_look(sh);
	if (!sh->opt.quiet)
		printf("Output format is %s.\n", forms[sh->form]);
	return true;
}

static bool
set_pager(struct shell *sh, const char *arg)
{
	bool on = !sh->no_pager;
	if (!shell_switch(sh, "\\pset pager", arg, &on))
		return false;
	sh->no_pager = !on;
	if (!sh->opt.quiet)
		printf(sh->no_pager ? "Pager usage is off.\n" : "Pager is used for long output.\n");
	return true;
}

bool
shell_pset(struct shell *sh, const char *arg)
{
	char *copy = strdup(arg), *rest;
	if (copy == NULL)
		return false;
	bool ok = true, given = false;
	char *name = shell_word(copy, &rest);
	given = rest[strspn(rest, " \t")] != 0;
	char *value = shell_word(rest, &rest);
	if (name[0] == 0)
		printf("expanded %s\nformat   %s\nnull     '%s'\npager    %s\n", sh->expanded ? "on" : "off",
		    forms[sh->form], sh->null ? sh->null : "", sh->no_pager ? "off" : "on");
	else if (strcmp(name, "null") == 0 && !given)
		say_null(sh);
	else if (strcmp(name, "null") == 0)
		ok = set_null(sh, value);
	else if (strcmp(name, "format") == 0)
		ok = set_form(sh, value);
	else if (strcmp(name, "expanded") == 0 || strcmp(name, "x") == 0)
		ok = shell_expanded(sh, value);
	else if (strcmp(name, "pager") == 0)
		ok = set_pager(sh, value);
	else {
		shell_say(sh, "\\pset: unknown option: %.60s; it knows expanded, format, null, pager", name);
		ok = false;
	}
	free(copy);
	return ok;
}
