/* shell.c -- the shell's loop: cuts text into statements, runs them, prints the answers. */
#include "cli.h"
#include "shell.h"

#include <base/clock.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- results ---------------------------------------------------------------------- */

enum cn_kind
shell_kind(enum cat_type t)
{
	return cat_type_category(t) == 'N'       ? CN_NUMBER
	       : t == CAT_BOOL                   ? CN_BOOL
	       : t == CAT_JSON || t == CAT_JSONB ? CN_DOCUMENT
						 : CN_TEXT;
}

enum { PROGRESS_NS = 300000000 }; /* what is done sooner needs no progress line */

static void
end_progress(struct shell *sh)
{
	shell_bar_erase(sh, false);
	if (sh->progress_shown && isatty(2))
		fputc('\n', stderr);
	sh->progress_shown = false;
}

static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct shell *sh = arg;
	nam_arena_reset(&sh->arena);
	const char **name = nam_arena_take(&sh->arena, (n + 1) * sizeof *name);
	enum cn_kind *kind = nam_arena_take(&sh->arena, (n + 1) * sizeof *kind);
	if (name == NULL || kind == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		name[i] = col[i].name;
		kind[i] = shell_kind(col[i].type);
	}
	sh->rows_shown = true;
	return cn_print_begin(sh->print, n, name, kind);
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct shell *sh = arg;
	if (sh->form != CN_ALIGNED) /* they may go out at once */
		shell_bar_erase(sh, true);
	for (unsigned k = 0; k < b->n; k++) {
		nam_arena_reset(&sh->arena);
		for (unsigned i = 0; i < b->cols; i++) {
			const struct cat_vec *v = &b->col[i];
			bool null = v->null[k];
			struct cat_str s = { "", 0 };
			if (!null)
				s = v->type == CAT_TEXT
					? v->s[k]
					: cat_value_show(v->type, cat_vec_at(v, k), b->floats, &sh->arena);
			if (!cn_print_cell(sh->print, s.p, s.len, null)) {
				shell_say(sh,
				    "the result does not fit into memory: add a LIMIT, or use \\pset "
				    "format csv");
				return false;
			}
		}
	}
	return !ferror(sh->out);
}

static bool
on_done(void *arg, const char *tag, uint64_t rows)
{
	struct shell *sh = arg;
	(void)rows;
	end_progress(sh);
	bool answered = sh->rows_shown;
	sh->rows_shown = sh->bar_off = false;
	if (answered)
		shell_print_end(sh, true);
	/* a COPY's tag would stand in its data */
	bool within = sh->copied_out && (sh->copy_to == NULL || sh->copy_to == sh->out);
	sh->copied_out = false;
	if (!sh->opt.quiet && !within &&
	    (!answered || strncmp(tag, "INSERT", 6) == 0 || strncmp(tag, "UPDATE", 6) == 0 ||
		strncmp(tag, "DELETE", 6) == 0))
		fprintf(sh->out, "%s\n", tag);
	fflush(sh->out);
	return !ferror(sh->out);
}

/* "namdb:FILE:LINE: " where a file is read. */
static void
locus(const struct shell *sh, unsigned line)
{
	const struct source *src = sh->source;
	while (src != NULL && src->name == NULL)
		src = src->outer;
	if (src != NULL)
		fprintf(stderr, "namdb:%s:%u: ", src->name, line);
}

static void
on_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	struct shell *sh = arg;
	end_progress(sh);
	fflush(stdout);
	locus(sh, sh->line);
	fprintf(stderr, "%s:  %s: %s\n", severity, sqlstate, text);
}

static bool
on_copy_in(void *arg, const char **bytes, size_t *len)
{
	struct shell *sh = arg;
	shell_bar_erase(sh, true);
	if (!sh->copying && sh->source != NULL && sh->source->terminal)
		fputs("Enter data to be copied followed by a newline.\n"
		      "End with a backslash and a period on a line by itself, or an EOF signal.\n",
		    stdout);
	sh->copying = true;
	if (shell_interrupted || !source_copy(sh, sh->source, bytes, len))
		return false;
	if (*len == 0)
		sh->copying = false;
	return true;
}

static bool
on_copy_out(void *arg, const char *bytes, size_t len)
{
	struct shell *sh = arg;
	shell_bar_erase(sh, true);
	sh->copied_out = true;
	return !shell_interrupted && fwrite(bytes, 1, len, sh->copy_to ? sh->copy_to : sh->out) == len;
}

static void
on_progress(void *arg, uint64_t bytes, uint64_t total, uint64_t rows)
{
	struct shell *sh = arg;
	sh->progress_bytes = bytes;
	sh->progress_rows = rows;
	shell_bar_erase(sh, true);
	if (!isatty(2) || (sh->source != NULL && sh->source->terminal && sh->copying) ||
	    nam_clock_ns() - sh->started < PROGRESS_NS)
		return;
	sh->progress_shown = true;
	if (total > 0)
		fprintf(stderr, "\rCOPY %3.0f %%  %.1f of %.1f MiB  %llu rows ",
		    100.0 * (double)bytes / (double)total, (double)bytes / (1 << 20),
		    (double)total / (1 << 20), (unsigned long long)rows);
	else
		fprintf(stderr, "\rCOPY %.1f MiB  %llu rows ", (double)bytes / (1 << 20),
		    (unsigned long long)rows);
}

/* ---- errors ----------------------------------------------------------------------- */

void
shell_say(struct shell *sh, const char *fmt, ...)
{
	const struct source *src = sh->source;
	while (src != NULL && src->name == NULL)
		src = src->outer;
	fflush(stdout);
	if (src != NULL)
		locus(sh, sh->line);
	else
		fputs("namdb: ", stderr);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* How many lines are before the first word, which is no comment. */
static unsigned
lines_before(const char *text, size_t len)
{
	unsigned lines = 0, depth = 0;
	for (size_t i = 0; i < len; i++) {
		bool two = i + 1 < len;
		if (text[i] == '\n') {
			lines++;
		} else if (two && text[i] == '/' && text[i + 1] == '*') {
			depth++, i++;
		} else if (two && depth > 0 && text[i] == '*' && text[i + 1] == '/') {
			depth--, i++;
		} else if (two && depth == 0 && text[i] == '-' && text[i + 1] == '-') {
			while (i + 1 < len && text[i + 1] != '\n')
				i++;
		} else if (depth == 0 && text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
			return lines;
		}
	}
	return 0;
}

/* Where character `position` (from 1) begins. */
static size_t
byte_of(const char *text, size_t len, int position)
{
	size_t at = 0;
	for (int c = 1; c < position && at < len; c++)
		do
			at++;
		while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

/* The line of text that holds character `position` (from 1), and a caret under it. */
static void
show_position(const char *text, size_t len, int position)
{
	enum { SHOWN = 70, BEFORE = 50 };
	size_t at = byte_of(text, len, position);
	size_t from = at, to = at;
	while (from > 0 && text[from - 1] != '\n')
		from--;
	while (to < len && text[to] != '\n')
		to++;
	unsigned line = 1;
	for (size_t i = 0; i < from; i++)
		line += text[i] == '\n';
	const char *left = "", *right = "";
	if (at - from > BEFORE && to - from > SHOWN) {
		from = at - BEFORE;
		left = "...";
		while (from < at && ((unsigned char)text[from] & 0xc0) == 0x80)
			from++;
	}
	if (to - from > SHOWN) {
		to = from + SHOWN;
		right = "...";
		while (to > at && ((unsigned char)text[to] & 0xc0) == 0x80)
			to--;
	}
	char head[40], *shown = strndup(text + from, to - from);
	if (shown == NULL)
		return;
	for (char *p = shown; *p; p++)
		if (*p == '\t' || *p == '\r')
			*p = ' ';
	snprintf(head, sizeof head, "LINE %u: %s", line, left);
	size_t indent = strlen(head) + cn_print_width(shown, at - from);
	fprintf(stderr, "%s%s%s\n%*s^\n", head, shown, right, (int)indent, "");
	free(shown);
}

void
shell_error(struct shell *sh, const struct cat_err *err, const char *text, size_t len)
{
	fflush(stdout);
	unsigned line = sh != NULL ? sh->line : 0;
	if (text != NULL && err->position > 0)
		for (size_t i = 0, at = byte_of(text, len, err->position); i < at; i++)
			line += text[i] == '\n';
	else if (text != NULL)
		line += lines_before(text, len);
	if (sh != NULL)
		locus(sh, line);
	fprintf(stderr, "ERROR:  %s: %s\n", err->sqlstate, err->text);
	if (err->position > 0 && text != NULL)
		show_position(text, len, err->position);
	if (err->detail[0])
		fprintf(stderr, "DETAIL:  %s\n", err->detail);
	if (err->hint[0])
		fprintf(stderr, "HINT:  %s\n", err->hint);
	if (err->context[0])
		fprintf(stderr, "CONTEXT:  %s\n", err->context);
}

/* ---- the end of a process's place in the cluster ------------------------------------- */

bool
shell_lost(struct shell *sh)
{
	struct nam_err err = { 0 };
	bool fenced = net_membership(cn_net(sh->cn)) == NET_FENCED;
	if (!fenced && (sh->opt.gone == NULL || !sh->opt.gone(sh->opt.again_arg)))
		return false;
	sh->failed = true;
	/* A script's next statement may rest on the one that failed. */
	bool typed = sh->editing && sh->source != NULL && sh->source->terminal;
	if (!typed || sh->opt.again == NULL) {
		fprintf(stderr, "namdb: this shell ends, because %s\n",
		    fenced ? "its process has been fenced from the cluster"
			   : "the database's storage node has ended; the next shell starts another one");
		sh->quit = sh->lost = true;
		return true;
	}
	fprintf(stderr, "The connection to the cluster was lost. Attempting reset: ");
	cn_session_close(sh->session);
	cn_close(sh->cn);
	sh->session = NULL;
	sh->cn = NULL;
	shell_signals_block(); /* the new threads take none */
	nam_status st = sh->opt.again(sh->opt.again_arg, &sh->cn, &err);
	struct cat_err why;
	if (st == NAM_OK && !cn_session_open_as(sh->cn, UINT_MAX, sh->opt.user, &sh->session, &why))
		st = nam_fail(&err, NAM_REFUSED, "%s", why.text);
	shell_signals_open();
	fprintf(stderr, st == NAM_OK ? "Succeeded.\n" : "Failed.\nnamdb: this shell ends: %s\n", err.text);
	if (st != NAM_OK)
		sh->quit = sh->lost = true;
	return true;
}

/* ---- running ---------------------------------------------------------------------- */

static bool
lost_output(const struct shell *sh)
{
	return ferror(stdout) || ferror(sh->out);
}

/* A reader that has had enough, such as head, needs no word. */
static void
say_output(struct shell *sh)
{
	struct pollfd p = { .fd = fileno(ferror(stdout) ? stdout : sh->out), .events = POLLOUT };
	if (poll(&p, 1, 0) != 1 || (p.revents & POLLERR) == 0)
		shell_say(sh, "cannot write the output");
}

bool
shell_exec(struct shell *sh, const char *text, size_t len)
{
	const struct sql_sink sink = {
		.arg = sh,
		.begin = on_begin,
		.rows = on_rows,
		.done = on_done,
		.notice = on_notice,
		.copy_in = on_copy_in,
		.copy_out = on_copy_out,
		.progress = on_progress,
	};
	struct cat_err err = { 0 };
	struct net_counts before, after;
	sh->copying = sh->rows_shown = sh->copied_out = false;
	sh->paged_ns = 0;
	sh->progress_bytes = 0;
	cn_session_counts(sh->session, &before);
	uint64_t start = sh->started = nam_clock_ns();
	shell_interrupted = 0;
	shell_running(sh->session);
	shell_bar_open(sh);
	bool ok = cn_exec(sh->session, text, len, &sink, &err);
	shell_bar_close(sh);
	shell_running(NULL);
	uint64_t took = nam_clock_ns() - start - sh->paged_ns;
	end_progress(sh);
	/* Input meant for a COPY that failed is not SQL. */
	while (sh->copying && !shell_interrupted) {
		const char *p;
		size_t n;
		if (!source_copy(sh, sh->source, &p, &n) || n == 0)
			sh->copying = false;
	}
	if (!ok) {
		cn_print_drop(sh->print);
		/* An answer that cannot be written ends its statement. */
		if (!lost_output(sh) || shell_interrupted || strcmp(err.sqlstate, "57014") != 0)
			shell_error(sh, &err, text, len);
		sh->failed = true;
		if (shell_lost(sh))
			return false;
	}
	if (ok && sh->progress_bytes > 0 && !isatty(2) && !sh->opt.quiet)
		fprintf(stderr, "COPY %.1f MiB, %llu rows in %.1f s\n",
		    (double)sh->progress_bytes / (1 << 20), (unsigned long long)sh->progress_rows,
		    (double)took / 1e9);
	if (sh->timing)
		printf("Time: %.3f ms\n", (double)took / 1e6);
	fflush(stdout);
	if (sh->opt.verbose) {
		cn_session_counts(sh->session, &after);
		fprintf(stderr,
		    "fabric: %llu verbs, %llu round trips, %llu bytes out, %llu bytes in, %.3f ms\n",
		    (unsigned long long)(net_counts_verbs(&after) - net_counts_verbs(&before)),
		    (unsigned long long)(after.round_trips - before.round_trips),
		    (unsigned long long)(after.bytes_out - before.bytes_out),
		    (unsigned long long)(after.bytes_in - before.bytes_in), (double)took / 1e6);
	}
	if (lost_output(sh)) {
		say_output(sh);
		sh->failed = sh->quit = true;
		ok = false;
	}
	shell_rest(sh);
	return ok;
}

/* ---- statements out of a source ----------------------------------------------------- */

void
shell_forget(struct shell *sh)
{
	cn_split_init(&sh->split);
	sh->stmt_len = 0;
	sh->stmt_over = false;
}

static bool
keep(struct shell *sh, const char *p, size_t n)
{
	size_t max = sh->opt.statement_max;
	if (sh->stmt_over)
		return true;
	if (sh->stmt_len + n > max) {
		sh->stmt_over = true;
		sh->stmt_len = 0;
		return true;
	}
	if (sh->stmt_len + n > sh->stmt_cap) {
		size_t cap = sh->stmt_cap ? sh->stmt_cap * 2 : 4096;
		while (cap < sh->stmt_len + n)
			cap *= 2;
		char *more = realloc(sh->stmt, cap);
		if (more == NULL)
			return false;
		sh->stmt = more;
		sh->stmt_cap = cap;
	}
	if (n > 0)
		memcpy(sh->stmt + sh->stmt_len, p, n);
	sh->stmt_len += n;
	return true;
}

/* Runs what has been gathered. */
static bool
run_statement(struct shell *sh)
{
	bool ok = true;
	sh->line = sh->stmt_line;
	if (sh->stmt_over) {
		struct cat_err err = { .sqlstate = "54000" };
		snprintf(
		    err.text, sizeof err.text, "statement is longer than %zu bytes", sh->opt.statement_max);
		snprintf(err.hint, sizeof err.hint,
		    "Split it, use COPY to load data, or start the shell with a larger --max-statement.");
		shell_error(sh, &err, NULL, 0);
		sh->failed = true;
		ok = false;
	} else if (!sh->split.blank) {
		if (sh->editing)
			shell_history_add(sh->stmt, sh->stmt_len);
		/* The buffer is the statement's until it is done; a COPY's input is elsewhere. */
		ok = shell_exec(sh, sh->stmt, sh->stmt_len);
	}
	if (!sh->stmt_over && !sh->split.blank) { /* the buffers change places */
		char *p = sh->last;
		size_t cap = sh->last_cap;
		sh->last = sh->stmt;
		sh->last_cap = sh->stmt_cap;
		sh->last_len = sh->stmt_len;
		sh->stmt = p;
		sh->stmt_cap = cap;
	}
	shell_forget(sh);
	return ok;
}

bool
shell_go(struct shell *sh)
{
	if (sh->stmt_over || !sh->split.blank)
		return run_statement(sh);
	shell_forget(sh);
	return sh->last_len == 0 || shell_exec(sh, sh->last, sh->last_len);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* A \command: to the end of its line. */
static bool
run_meta(struct shell *sh, struct source *src, unsigned at, const char *p, size_t n)
{
	enum { META_MAX = 8000 };
	char line[META_MAX];
	size_t len = 0;
	for (bool whole = false; !whole;) {
		whole = n > 0 && p[n - 1] == '\n';
		if (len + n < sizeof line)
			memcpy(line + len, p, n);
		len += n;
		if (!whole && !source_piece(sh, src, "", &p, &n))
			break;
	}
	sh->line = at;
	if (len >= sizeof line) {
		shell_say(sh, "a \\command is longer than %d bytes", META_MAX);
		sh->failed = true;
		return false;
	}
	while (len > 0 && is_space(line[len - 1]))
		len--;
	if (sh->editing && src->terminal)
		shell_history_add(line, len);
	line[len] = 0;
	bool ok = shell_meta(sh, line, len);
	if (!ok)
		sh->failed = true;
	bool end;
	if (sh->stmt_len > 0) { /* the statement goes on in another line */
		cn_split_feed(&sh->split, "\n", 1, &end);
		ok &= keep(sh, "\n", 1);
	}
	return ok;
}

/* True if the line is that word alone, perhaps with a semicolon. */
static bool
is_word(const char *p, size_t n, const char *word)
{
	size_t len = strlen(word);
	if (n < len || strncasecmp(p, word, len) != 0)
		return false;
	p += len;
	n -= len;
	while (n > 0 && (is_space(p[n - 1]) || p[n - 1] == ';'))
		n--;
	return n == 0;
}

/*
 * help, quit and exit as a newcomer types them, where no SQL can begin so. True if it was one, and
 * is done.
 */
static bool
plain_word(struct shell *sh, const char *p, size_t n)
{
	bool help = is_word(p, n, "help"), leave = is_word(p, n, "quit") || is_word(p, n, "exit");
	if (!help && !leave)
		return false;
	if (sh->stmt_len > 0) {
		bool plain = cn_split_plain(&sh->split);
		puts(help    ? "Use \\? for help, \\r to forget what was typed so far."
		     : plain ? "Use \\q to quit."
			     : "Use control-D to quit.");
		return false;
	}
	if (help)
		fputs("This is namdb, a distributed in-memory database, and you are in its SQL shell.\n"
		      "Type:  \\? for help with the shell's commands\n"
		      "       \\d to list tables, \\d NAME to describe one\n"
		      "       SQL, with a semicolon at its end, to run it; docs/SQL.md says what there is\n"
		      "       \\q to quit\n",
		    stdout);
	fflush(stdout);
	sh->quit = leave;
	return true;
}

/* p is not in the source's buffer: a COPY reads on from there. It stands in line `at`. */
static bool
run_piece(struct shell *sh, struct source *src, unsigned at, const char *p, size_t n)
{
	bool ok = true;
	if (sh->editing && src->terminal && n < 20) {
		size_t blanks = 0;
		while (blanks < n && is_space(p[blanks]))
			blanks++;
		if (plain_word(sh, p + blanks, n - blanks))
			return true;
	}
	while (n > 0 && !sh->quit) {
		if (sh->stmt_len == 0 && !sh->stmt_over && cn_split_where(&sh->split) == '=')
			while (n > 0 && is_space(*p))
				p++, n--;
		if (n > 0 && *p == '\\' && !sh->stmt_over && cn_split_plain(&sh->split))
			return run_meta(sh, src, at, p, n) && ok;
		if (sh->stmt_len == 0)
			sh->stmt_line = at;
		/* up to the next backslash, which may begin a command */
		bool end;
		const char *slash = n > 1 ? memchr(p + 1, '\\', n - 1) : NULL;
		size_t used = cn_split_feed(&sh->split, p, slash != NULL ? (size_t)(slash - p) : n, &end);
		if (!keep(sh, p, used)) {
			shell_say(sh, "no memory for the statement");
			sh->failed = sh->quit = true;
			return false;
		}
		p += used;
		n -= used;
		if (!end)
			continue;
		ok &= run_statement(sh);
		if (!ok && sh->opt.stop_on_error && !sh->editing)
			return false;
	}
	return ok;
}

bool
shell_typed(struct shell *sh, const char *text, size_t len)
{
	bool ok = true;
	while (len > 0 && sh->source != NULL && !sh->quit) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl != NULL ? (size_t)(nl - text) + 1 : len;
		ok &= run_piece(sh, sh->source, sh->line, text, n);
		text += n;
		len -= n;
	}
	return ok;
}

static void
prompt_text(const struct shell *sh, char out[40])
{
	char state = cn_session_state(sh->session), where = cn_split_where(&sh->split);
	if (where == '=' && sh->stmt_len > 0)
		where = '-';
	snprintf(out, 40, "namdb%c%s> ", where, state == 'T' ? "*" : state == 'E' ? "!" : "");
}

bool
shell_source(struct shell *sh, struct source *src)
{
	bool ok = true;
	src->outer = sh->source;
	sh->source = src;
	while (!sh->quit && !shell_ended()) {
		shell_rest(sh);
		char prompt[40];
		const char *p;
		size_t n;
		prompt_text(sh, prompt);
		shell_interrupted = 0;
		unsigned at = src->line;
		if (!source_piece(sh, src, prompt, &p, &n)) {
			if (src->eof || shell_ended())
				break;
			if (!src->terminal) { /* ^C ends a script */
				sh->quit = sh->failed = true;
				ok = false;
				break;
			}
			shell_forget(sh);
			continue;
		}
		char *copy = malloc(n);
		if (copy == NULL) {
			shell_say(sh, "no memory for a line");
			sh->failed = true;
			ok = false;
			break;
		}
		memcpy(copy, p, n);
		ok &= run_piece(sh, src, at, copy, n);
		free(copy);
		if (!ok && sh->opt.stop_on_error && !src->terminal)
			break;
		if (shell_interrupted && !src->terminal) {
			sh->quit = true;
			ok = false;
		}
	}
	if (src->broken) {
		shell_say(sh, "cannot read the input: %s", strerror(errno));
		sh->failed = true;
		ok = false;
	}
	/* What a script's last line holds is run even without its `;`. */
	if (!src->terminal && !sh->quit && !shell_ended() && (ok || !sh->opt.stop_on_error) &&
	    (sh->stmt_over || !sh->split.blank))
		ok &= run_statement(sh);
	shell_forget(sh);
	sh->source = src->outer;
	return ok && !shell_ended();
}

bool
shell_string(struct shell *sh, const char *text)
{
	struct source in; /* a COPY in it reads the program's input */
	if (text[0] == '\\')
		return shell_meta(sh, text, strlen(text));
	if (strlen(text) > sh->opt.statement_max) {
		sh->stmt_over = true;
		return run_statement(sh);
	}
	source_init(&in, 0, false);
	struct source *outer = sh->source;
	sh->source = &in;
	bool ok = shell_exec(sh, text, strlen(text));
	sh->source = outer;
	source_fini(&in);
	return ok;
}

bool
shell_file(struct shell *sh, const char *path)
{
	struct source src;
	if (strcmp(path, "-") == 0)
		return shell_stdin(sh, NULL);
	if (sh->depth >= 32) {
		shell_say(sh, "%s: files include each other more than 32 deep", path);
		return false;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		shell_say(sh, "%s: %s", path, strerror(errno));
		sh->failed = true;
		return false;
	}
	source_init(&src, fd, false);
	src.name = path;
	bool editing = sh->editing;
	sh->editing = false;
	sh->depth++;
	unsigned line = sh->line;
	bool ok = shell_source(sh, &src);
	sh->line = line;
	sh->depth--;
	sh->editing = editing;
	source_fini(&src);
	close(fd);
	return ok;
}

bool
shell_stdin(struct shell *sh, const char *banner)
{
	struct source src;
	bool terminal = isatty(0) && isatty(1);
	source_init(&src, 0, terminal);
	if (terminal) {
		if (banner != NULL && !sh->opt.quiet)
			fputs(banner, stdout);
		sh->editing = true;
		shell_history_open(sh);
	}
	bool ok = shell_source(sh, &src);
	if (terminal) {
		if (!sh->quit)
			puts("\\q");
		shell_history_close();
		sh->editing = false;
		ok = true; /* the errors were seen at the terminal */
		sh->failed = false;
	}
	source_fini(&src);
	return ok;
}

struct shell *
shell_open(struct cn *cn, const struct shell_options *opt, struct nam_err *err)
{
	struct shell *sh = calloc(1, sizeof *sh);
	nam_status st = NAM_NOMEM;
	if (sh == NULL)
		goto fail;
	sh->cn = cn;
	sh->opt = *opt;
	if (sh->opt.statement_max == 0)
		sh->opt.statement_max = 1 << 20;
	nam_arena_init(&sh->arena, 64 << 10);
	cn_split_init(&sh->split);
	sh->out = stdout;
	sh->form = opt->form;
	if (opt->null != NULL && (sh->null = strdup(opt->null)) == NULL)
		goto fail;
	if ((sh->print = cn_print_open(stdout, opt->form)) == NULL ||
	    (sh->null != NULL && !cn_print_null(sh->print, sh->null)))
		goto fail;
	struct cat_err why;
	if (cn_session_open_as(cn, UINT_MAX, opt->user, &sh->session, &why))
		return sh;
	nam_fail(err, NAM_REFUSED, "%s%s%s", why.text, why.hint[0] ? "\nHINT:  " : "", why.hint);
	cn_print_close(sh->print);
	free(sh->null);
	free(sh);
	return NULL;
fail:
	nam_fail(err, st, "cannot open a session: %s", nam_status_text(st));
	if (sh != NULL)
		cn_print_close(sh->print);
	if (sh != NULL)
		free(sh->null);
	free(sh);
	return NULL;
}

static bool
told_again(void *arg)
{
	(void)arg;
	return shell_interrupted != 0;
}

/* Before the process leaves the cluster. */
static void
last_checkpoint(struct shell *sh)
{
	if (sh->cn == NULL || sh->lost)
		return;
	shell_interrupted = 0;
	if (cn_last_checkpoint(sh->cn, 0, told_again, NULL))
		return;
	fflush(NULL);
	cli_end_soon();
}

void
shell_close(struct shell *sh)
{
	if (sh == NULL)
		return;
	cn_session_close(sh->session);
	last_checkpoint(sh);
	cn_close(sh->cn);
	shell_out(sh, NULL);
	cn_print_close(sh->print);
	nam_arena_fini(&sh->arena);
	free(sh->stmt);
	free(sh->last);
	free(sh->null);
	free(sh);
}
