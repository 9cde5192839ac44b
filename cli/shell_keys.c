/*
 * shell_keys.c -- the bytes that the line editor gets from the terminal, and pasted text, which it
 * mostly does not get.
 *
 * A terminal that knows bracketed paste says where pasted text begins and ends. Whole lines of it
 * go to the shell as they are, past the editor, which would take minutes for megabytes; what is
 * left of it is typed into the editor, with tabs and other control characters quoted, so that they
 * are text and no commands. Without brackets, a read of more bytes than a person types is also
 * taken for pasted text.
 */
#include "shell.h"

#include <editline/readline.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	READ_MAX = 64 << 10,
	TYPED_MAX = 1000, /* bytes that the editor gets at once; and more than a person types */
	ECHO_MAX = 4000,  /* bytes of pasted lines that are shown */
	ESC_MS = 50,      /* in which the rest of a key's bytes comes */
	QUOTE = 'V' & 31  /* ed-quoted-insert */
};

static const char paste_begin[] = "\033[200~", paste_end[] = "\033[201~";

static struct {
	char in[READ_MAX]; /* from the terminal, not looked at yet */
	size_t at, len;
	char *line; /* what the editor gets before that */
	size_t line_at, line_len;
	bool accept; /* then its line is complete */
	char *paste; /* while it is read: what is between the brackets */
	size_t paste_len, paste_cap;
	char *past; /* what does not go through the editor: it stands behind its line */
	size_t past_len;
	bool glued; /* the first of it belongs to that line */
	bool on;    /* the terminal has been asked for brackets */
} keys;

void
shell_keys_reset(void)
{
	free(keys.line);
	free(keys.past);
	free(keys.paste);
	keys.line = keys.past = keys.paste = NULL;
	keys.at = keys.len = keys.line_at = keys.line_len = keys.past_len = keys.paste_len = keys.paste_cap =
	    0;
	keys.accept = keys.glued = false;
}

void
shell_keys_paste(bool on)
{
	const char *term = getenv("TERM");
	if (on == keys.on || (on && (term == NULL || term[0] == 0 || strcmp(term, "dumb") == 0)))
		return;
	keys.on = on;
	fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
	fflush(stdout);
}

/* ---- bytes ---------------------------------------------------------------------------- */

/*
 * Reads what is there; waits for something, ms at most, -1 = as long as it takes. Only here a
 * signal may jump.
 */
static bool
more(int ms)
{
	if (keys.at > 0) {
		memmove(keys.in, keys.in + keys.at, keys.len - keys.at);
		keys.len -= keys.at;
		keys.at = 0;
	}
	if (keys.len == sizeof keys.in)
		return true;
	ssize_t n;
	do {
		if (!shell_input_wait(0, ms))
			return false;
		/* ^C empties the terminal's queue: what was there a moment ago may be gone. */
		shell_reading = 1;
		shell_input_leave();
		n = read(0, keys.in + keys.len, sizeof keys.in - keys.len);
		shell_reading = 0;
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	keys.len += (size_t)n;
	return true;
}

/* True if the next bytes are that text. If they begin with it, waits a moment for the rest. */
static bool
begins(const char *word)
{
	size_t n = strlen(word);
	for (;;) {
		size_t have = keys.len - keys.at;
		if (memcmp(keys.in + keys.at, word, have < n ? have : n) != 0)
			return false;
		if (have >= n)
			return true;
		if (!more(ESC_MS))
			return false;
	}
}

/* ---- pasted text ------------------------------------------------------------------------ */

static bool
append(char **to, size_t *len, size_t *cap, const char *p, size_t n)
{
	if (*len + n + 1 > *cap) {
		size_t want = (*len + n + 1) * 2;
		char *grown = realloc(*to, want);
		if (grown == NULL)
			return false;
		*to = grown;
		*cap = want;
	}
	memcpy(*to + *len, p, n);
	*len += n;
	(*to)[*len] = 0;
	return true;
}

/* All up to the closing bracket. */
static bool
read_paste(void)
{
	const size_t end = sizeof paste_end - 1;
	keys.paste_len = 0;
	for (;;) {
		size_t have = keys.len - keys.at;
		const char *from = keys.in + keys.at, *stop = memmem(from, have, paste_end, end);
		/* the last bytes may be the first ones of the bracket */
		size_t n = stop != NULL ? (size_t)(stop - from) : have >= end ? have - end + 1 : 0;
		if (!append(&keys.paste, &keys.paste_len, &keys.paste_cap, from, n))
			return false;
		keys.at += stop != NULL ? n + end : n;
		if (stop != NULL)
			return true;
		if (!more(-1))
			return false;
	}
}

/* Line ends as files have them; no zeros. */
static size_t
clean(char *p, size_t n)
{
	size_t to = 0;
	for (size_t i = 0; i < n; i++)
		if (p[i] == '\r')
			p[to++] = '\n', i += i + 1 < n && p[i + 1] == '\n';
		else if (p[i] != 0)
			p[to++] = p[i];
	return to;
}

/* For the editor: text as if it were typed, control characters quoted. */
static bool
type(const char *p, size_t n)
{
	char *line = malloc(keys.line_len - keys.line_at + 2 * n + 1), *to = line;
	if (line == NULL)
		return false;
	if (keys.line != NULL) {
		memcpy(to, keys.line + keys.line_at, keys.line_len - keys.line_at);
		to += keys.line_len - keys.line_at;
	}
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
			*to++ = QUOTE;
		*to++ = p[i];
	}
	free(keys.line);
	keys.line = line;
	keys.line_at = 0;
	keys.line_len = (size_t)(to - line);
	return true;
}

/* Shows lines that the editor does not, the first and how many more. */
static void
echo(const char *p, size_t n)
{
	size_t shown = n;
	if (n > ECHO_MAX) {
		const char *nl = memrchr(p, '\n', ECHO_MAX);
		shown = nl != NULL ? (size_t)(nl - p) + 1 : ECHO_MAX;
	}
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)p[i];
		if (c < 0x20 && c != '\n' && c != '\t') /* an escape sequence would be obeyed */
			printf("^%c", c + 64);
		else
			putchar(c);
	}
	if (shown < n)
		printf("%s... (%zu bytes more were pasted)\n", p[shown - 1] == '\n' ? "" : "\n", n - shown);
	fflush(stdout);
}

/*
 * Pasted text: its first line into the editor, which gives it back with what was there before;
 * what follows behind it.
 */
static bool
take(char *p, size_t n)
{
	n = clean(p, n);
	const char *first = memchr(p, '\n', n), *last = first ? memrchr(p, '\n', n) : NULL;
	keys.paste_len = 0;
	if (first == NULL && n <= TYPED_MAX)
		return type(p, n);
	size_t line = first ? (size_t)(first - p) : n, tail = last ? (size_t)(last - p) + 1 : n;
	bool short_line = first != NULL && line <= TYPED_MAX, short_tail = n - tail <= TYPED_MAX;
	size_t cap = 0, from = short_line ? line + 1 : 0, to = short_tail ? tail : n;
	keys.glued = !short_line;
	keys.accept = true;
	if (short_line && !type(p, line))
		return false;
	free(keys.past);
	keys.past = NULL;
	keys.past_len = 0;
	if (!append(&keys.past, &keys.past_len, &cap, p + from, to - from))
		return false;
	/* what the next line begins with; it is typed when that is asked for */
	memmove(p, p + to, n - to);
	keys.paste_len = n - to;
	return true;
}

/* ---- for the editor ---------------------------------------------------------------------- */

/* Bytes that a character has which begins so. */
static size_t
bytes_of(unsigned char c)
{
	return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

/* n without the first bytes of a character that goes on behind them. */
static size_t
whole(const char *p, size_t n)
{
	size_t k = n;
	while (k > 0 && n - k < 4 && ((unsigned char)p[k - 1] & 0xc0) == 0x80)
		k--;
	return k > 0 && k - 1 + bytes_of((unsigned char)p[k - 1]) > n ? k - 1 : n;
}

/*
 * A character of UTF-8 out of n bytes; *used: how many it has. What is none comes byte by byte:
 * the editor could not show it.
 */
static int
character(const char *s, size_t n, size_t *used)
{
	static const int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const void *)s;
	size_t len = bytes_of(p[0]);
	int c = len == 1 ? p[0] : p[0] & (0x7f >> len);
	bool good = len <= n;
	for (size_t i = 1; i < len && good; i++) {
		good = (p[i] & 0xc0) == 0x80;
		c = c << 6 | (p[i] & 0x3f);
	}
	good = good && c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
	*used = good ? len : 1;
	return good ? c : p[0];
}

static int
next(void)
{
	size_t used;
	for (;;) {
		if (keys.line_at < keys.line_len) {
			int c = character(keys.line + keys.line_at, keys.line_len - keys.line_at, &used);
			keys.line_at += used;
			return c;
		}
		if (keys.accept) {
			keys.accept = false;
			return '\n';
		}
		if (keys.at == keys.len && !more(-1))
			return -1;
		if (keys.in[keys.at] == paste_begin[0] && begins(paste_begin)) {
			keys.at += sizeof paste_begin - 1;
			if (!read_paste() || !take(keys.paste, keys.paste_len))
				return -1;
			continue;
		}
		const char *esc = memchr(keys.in + keys.at, paste_begin[0], keys.len - keys.at);
		size_t n = esc != NULL ? (size_t)(esc - (keys.in + keys.at)) : keys.len - keys.at;
		n = n > TYPED_MAX ? whole(keys.in + keys.at, n) : n;
		if (n > TYPED_MAX) {
			keys.paste_len = 0;
			if (!append(&keys.paste, &keys.paste_len, &keys.paste_cap, keys.in + keys.at, n))
				return -1;
			keys.at += n;
			if (!take(keys.paste, keys.paste_len))
				return -1;
			continue;
		}
		while (keys.len - keys.at < bytes_of((unsigned char)keys.in[keys.at]) && more(ESC_MS))
			;
		int c = character(keys.in + keys.at, keys.len - keys.at, &used);
		keys.at += used;
		return c;
	}
}

/* libedit's rl_getc_function. */
static int
get(FILE *in)
{
	(void)in;
	shell_reading = 0; /* no jump out of what follows, but where it reads */
	int c = next();
	shell_reading = 1;
	return c;
}

void
shell_keys_open(void)
{
	rl_getc_function = get;
}

bool
shell_keys_begin(void)
{
	size_t n = keys.past == NULL && !keys.accept ? keys.paste_len : 0;
	keys.paste_len = 0;
	return n == 0 || type(keys.paste, n);
}

bool
shell_keys_past(const char **p, size_t *n, bool *glued)
{
	*p = keys.past;
	*n = keys.past_len;
	*glued = keys.glued;
	if (keys.past == NULL)
		return false;
	if (keys.past_len > 0)
		echo(keys.past, keys.past_len);
	return true;
}

void
shell_keys_past_done(void)
{
	free(keys.past);
	keys.past = NULL;
	keys.past_len = 0;
	keys.glued = false;
}
