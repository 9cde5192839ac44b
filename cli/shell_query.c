/*
 * shell_query.c -- the shell's own queries of the catalog, and psql's patterns of names.
 */
#include "shell_query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of a query of our own ----------------------------------------------------- */

static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct shell_answer *a = arg;
	a->cols = n;
	a->column = nam_arena_copy(&a->arena, col, n * sizeof *col);
	return a->column != NULL;
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct shell_answer *a = arg;
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
				s = cat_value_show(
				    b->col[i].type, cat_vec_at(&b->col[i], k), b->floats, &a->arena);
			char *copy = nam_arena_str(&a->arena, s.p, s.len);
			if (copy == NULL)
				return false;
			a->cell[a->cells++] = copy;
		}
	return true;
}

bool
shell_query(struct shell *sh, struct shell_answer *a, const char *text)
{
	const struct sql_sink sink = { .arg = a, .begin = on_begin, .rows = on_rows };
	struct cat_err err = { 0 };
	memset(a, 0, sizeof *a);
	nam_arena_init(&a->arena, 0);
	shell_interrupted = 0;
	shell_running(sh->session);
	bool ok = cn_exec(sh->session, text, strlen(text), &sink, &err);
	shell_running(NULL);
	if (!ok) {
		shell_error(sh, &err, NULL, 0);
		shell_lost(sh);
	}
	return ok;
}

bool
shell_queryf(struct shell *sh, struct shell_answer *a, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL;
	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	memset(a, 0, sizeof *a);
	bool ok = n >= 0 && shell_query(sh, a, text);
	if (n < 0)
		shell_say(sh, "no memory");
	else
		free(text);
	return ok;
}

void
shell_answer_free(struct shell_answer *a)
{
	nam_arena_fini(&a->arena);
	free(a->cell);
}

void
shell_print(struct shell *sh, const char *title, unsigned cols, const char *const *name,
    const enum cn_kind *kind, const char *const *cell, unsigned cells, const char *foot)
{
	static const enum cn_kind text[SHELL_PRINT_COLUMNS];
	/* as in psql: \x is for answers and lists, not for what describes a table */
	bool expanded = sh->expanded;
	sh->expanded = expanded && foot == NULL;
	shell_look(sh);
	sh->expanded = expanded;
	if (title != NULL)
		cn_print_title(sh->print, title);
	if (!cn_print_begin(sh->print, cols, name, kind != NULL ? kind : text)) {
		shell_look(sh);
		return;
	}
	if (foot != NULL)
		cn_print_foot(sh->print, foot);
	for (unsigned i = 0; i < cells; i++)
		cn_print_cell(sh->print, cell[i], strlen(cell[i]), false);
	shell_print_end(sh, foot == NULL);
	shell_look(sh);
}

/* ---- texts that grow ------------------------------------------------------------------ */

void
shell_text_add(struct shell_text *t, const char *fmt, ...)
{
	char *more = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&more, fmt, ap);
	va_end(ap);
	char *all = n >= 0 ? realloc(t->p, t->n + (size_t)n + 1) : NULL;
	if (all == NULL) {
		t->failed = true;
	} else {
		memcpy(all + t->n, more, (size_t)n + 1);
		t->p = all;
		t->n += (size_t)n;
	}
	if (n >= 0)
		free(more);
}

void
shell_text_literal(struct shell_text *t, const char *s)
{
	shell_text_add(t, "'");
	while (*s) {
		size_t n = strcspn(s, "'");
		shell_text_add(t, "%.*s%s", (int)n, s, s[n] ? "''" : "");
		s += n + (s[n] != 0);
	}
	shell_text_add(t, "'");
}

/* ---- patterns ------------------------------------------------------------------------- */

/*
 * One character of a pattern into a regular expression. plain: in double quotes, where it means
 * itself.
 */
static void
one_char(struct shell_text *t, char c, bool plain)
{
	if (plain && strchr("|*+?()[]{}.^$\\", c) != NULL)
		shell_text_add(t, "\\%c", c);
	else if (plain)
		shell_text_add(t, "%c", c);
	else if (c == '*')
		shell_text_add(t, ".*");
	else if (c == '?')
		shell_text_add(t, ".");
	else if (c == '$')
		shell_text_add(t, "\\$");
	else
		shell_text_add(t, "%c", tolower((unsigned char)c));
}

bool
shell_pattern(struct shell *sh, const char *pattern, struct shell_pattern *out)
{
	enum { PARTS = 3 }; /* database.schema.name */
	struct shell_text part[PARTS] = { 0 };
	unsigned parts = 1;
	bool quoted = false, many = false;
	memset(out, 0, sizeof *out);
	shell_text_add(&part[0], "^(");
	for (const char *p = pattern; *p && !many; p++) {
		if (*p == '"' && quoted && p[1] == '"') {
			one_char(&part[parts - 1], *p++, true);
		} else if (*p == '"') {
			quoted = !quoted;
		} else if (*p == '.' && !quoted) {
			many = parts == PARTS;
			if (!many)
				shell_text_add(&part[parts++], "^(");
		} else {
			one_char(&part[parts - 1], *p, quoted);
		}
	}
	bool failed = false, cross = false;
	for (unsigned i = 0; i < parts; i++) {
		shell_text_add(&part[i], ")$");
		failed |= part[i].failed;
	}
	if (!failed && parts == PARTS)
		cross = strcmp(part[0].p, "^(namdb)$") != 0;
	if (many)
		shell_say(sh, "improper qualified name (too many dotted names): %.200s", pattern);
	else if (cross)
		shell_say(sh, "cross-database references are not implemented: %.200s", pattern);
	if (!failed && !many && !cross) {
		shell_text_literal(&out->name, part[parts - 1].p);
		shell_text_literal(&out->schema, parts > 1 ? part[parts - 2].p : "");
		failed = out->name.failed || out->schema.failed;
	}
	if (failed)
		shell_say(sh, "no memory");
	for (unsigned i = 0; i < parts; i++)
		free(part[i].p);
	if (failed || many || cross) {
		shell_pattern_free(out);
		return false;
	}
	return true;
}

void
shell_pattern_free(struct shell_pattern *p)
{
	free(p->name.p);
	free(p->schema.p);
	*p = (struct shell_pattern){ 0 };
}
