/*
 * copy_read.c -- COPY FROM's input: bytes to lines, lines to fields, both by PostgreSQL's rules.
 *
 * All lines end as the first one does: in \n, \r or \r\n. In CSV (RFC 4180) quotes may open
 * anywhere in a field, hold delimiters and line ends, and double themselves. Text has backslash
 * escapes.
 */
#include <sql/dml/copy_internal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 << 10, RECORD_MAX = 257 << 20 };
enum { OUTSIDE = 1, INSIDE = 2 };

static bool
bad_format(struct sql_copy_input *c, const char *text, const char *hint)
{
	cat_error(c->x->err, "22P04", "%s", text);
	snprintf(c->x->err->hint, sizeof c->x->err->hint, "%s", hint);
	return false;
}

/* ---- bytes ------------------------------------------------------------------------------ */

static bool
more(struct sql_copy_input *c)
{
	struct sql_exec *x = c->x;
	size_t n = 0;
	if (c->next != NULL) {
		c->in = c->next;
		c->end = c->next_end;
		c->next = NULL;
		return true;
	}
	if (c->bytes - c->told >= PIECE || c->eof) {
		c->told = c->bytes;
		if (c->sink->progress != NULL)
			c->sink->progress(c->sink->arg, c->bytes, c->total, c->rows);
	}
	if (!sql_go_on(x))
		return false;
	if (c->fd < 0) {
		const char *p = NULL;
		if (c->sink->copy_in == NULL)
			n = 0;
		else if (!c->sink->copy_in(c->sink->arg, &p, &n))
			return cat_error(x->err, "57014", "COPY from stdin failed: the client gave up");
		c->in = p;
	} else {
		ssize_t got;
		do
			got = read(c->fd, c->piece, PIECE);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return cat_error(
			    x->err, "58030", "could not read from COPY file: %s", strerror(errno));
		n = (size_t)got;
		c->in = c->piece;
	}
	c->end = c->in + n;
	c->bytes += n;
	c->eof = n == 0;
	return true;
}

/* The byte k (< 8) behind the next one, -1 = the input ends before it. False: an error. */
static bool
look(struct sql_copy_input *c, unsigned k, int *out)
{
	while ((size_t)(c->end - c->in) <= k && !(c->eof && c->next == NULL)) {
		char left[sizeof c->keep];
		size_t n = (size_t)(c->end - c->in);
		memcpy(left, c->in, n);
		if (!more(c))
			return false;
		if (n == 0)
			continue;
		size_t add = (size_t)(c->end - c->in);
		add = add < sizeof c->keep - n ? add : sizeof c->keep - n;
		char both[sizeof c->keep];
		memcpy(both, left, n);
		memcpy(both + n, c->in, add);
		if (c->in + add < c->end) {
			c->next = c->in + add;
			c->next_end = c->end;
		}
		memcpy(c->keep, both, n + add);
		c->in = c->keep;
		c->end = c->keep + n + add;
	}
	*out = (size_t)(c->end - c->in) > k ? (unsigned char)c->in[k] : -1;
	return true;
}

static bool
room(struct sql_copy_input *c, size_t n)
{
	if (c->len + n <= c->cap)
		return true;
	if (c->len + n > RECORD_MAX)
		return cat_error(c->x->err, "54000", "a record of COPY is longer than 257 MiB");
	size_t cap = c->cap ? c->cap * 2 : 4096;
	while (cap < c->len + n)
		cap *= 2;
	cap = cap < RECORD_MAX ? cap : RECORD_MAX;
	if (!nam_budget_take(c->budget, cap - c->cap))
		return sql_no_memory(c->x->err);
	char *p = realloc(c->rec, cap);
	if (p == NULL) {
		nam_budget_give(c->budget, cap - c->cap);
		return sql_no_memory(c->x->err);
	}
	c->rec = p;
	c->cap = cap;
	return true;
}

/* Takes the next n bytes of the input. */
static bool
take(struct sql_copy_input *c, size_t n)
{
	if (!room(c, n))
		return false;
	memcpy(c->rec + c->len, c->in, n);
	c->len += n;
	c->in += n;
	return true;
}

void
sql_copy_begin(struct sql_copy_input *c)
{
	const struct ast_copy *o = c->o;
	c->special[(unsigned char)'\n'] = c->special[(unsigned char)'\r'] = OUTSIDE | INSIDE;
	c->special[(unsigned char)'\\'] = OUTSIDE;
	if (o->csv) {
		c->special[(unsigned char)o->quote] |= OUTSIDE | INSIDE;
		c->special[(unsigned char)o->escape] |= INSIDE;
	}
}

void
sql_copy_end(struct sql_copy_input *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->piece);
	nam_budget_give(c->budget, c->cap);
	free(c->rec);
}

/* ---- lines ------------------------------------------------------------------------------ */

/* Where the reader of a line is. */
struct reading {
	bool first;    /* nothing of the line has been read */
	bool in_quote; /* CSV */
	bool escape;   /* CSV: the byte before was an escape character, which is no quote */
	bool ended;    /* the line, by its end; or, done: by the input's */
	bool done;
};

/* CSV: what the byte does to quotes. */
static void
step_quotes(struct sql_copy_input *c, struct reading *r, char ch)
{
	bool other = c->o->escape != c->o->quote;
	if (r->in_quote && other && ch == c->o->escape)
		r->escape = !r->escape;
	if (ch == c->o->quote && !r->escape)
		r->in_quote = !r->in_quote;
	if (!other || ch != c->o->escape)
		r->escape = false;
	if (r->in_quote && ch == (c->eol == SQL_COPY_NL ? '\n' : '\r'))
		c->line++;
}

static bool
stray_end(struct sql_copy_input *c, bool newline)
{
	if (c->o->csv)
		return bad_format(c,
		    newline ? "unquoted newline found in data" : "unquoted carriage return found in data",
		    newline ? "Use quoted CSV field to represent newline."
			    : "Use quoted CSV field to represent carriage return.");
	return bad_format(c,
	    newline ? "literal newline found in data" : "literal carriage return found in data",
	    newline ? "Use \"\\n\" to represent newline." : "Use \"\\r\" to represent carriage return.");
}

/* \r or \n outside of quotes. */
static bool
end_line(struct sql_copy_input *c, struct reading *r)
{
	int next;
	r->ended = true;
	if (*c->in == '\n') {
		if (c->eol == SQL_COPY_CR || c->eol == SQL_COPY_CRNL)
			return stray_end(c, true);
		c->eol = SQL_COPY_NL;
		c->in++;
		return true;
	}
	if (c->eol == SQL_COPY_NL)
		return stray_end(c, false);
	if (c->eol != SQL_COPY_CR) {
		if (!look(c, 1, &next))
			return false;
		if (next != '\n' && c->eol == SQL_COPY_CRNL)
			return stray_end(c, false);
		c->eol = next == '\n' ? SQL_COPY_CRNL : SQL_COPY_CR;
		if (next == '\n')
			c->in++;
	}
	c->in++;
	return true;
}

/* A backslash that may begin the end mark. *data: it does not, or what follows says so. */
static bool
end_mark(struct sql_copy_input *c, struct reading *r, bool *data)
{
	static const char other[] = "end-of-copy marker does not match previous newline style";
	static const char corrupt[] = "end-of-copy marker corrupt";
	bool csv = c->o->csv;
	unsigned k = 2;
	int ch;
	*data = false;
	if (!look(c, 1, &ch))
		return false;
	if (ch < 0) {
		r->done = true;
		return take(c, 1);
	}
	if (ch != '.') {
		*data = csv;
		return csv || take(c, 2); /* what follows a backslash is not special */
	}
	if (!look(c, k, &ch))
		return false;
	if (c->eol == SQL_COPY_CRNL) {
		if (ch != '\r') {
			*data = csv;
			return csv || bad_format(c, ch == '\n' ? other : corrupt, "");
		}
		if (!look(c, ++k, &ch))
			return false;
	}
	if (ch != '\r' && ch != '\n') {
		*data = csv;
		return csv || bad_format(c, corrupt, "");
	}
	if (c->eol != SQL_COPY_UNKNOWN && (c->eol == SQL_COPY_CR) != (ch == '\r'))
		return bad_format(c, other, "");
	c->in += k + 1;
	r->done = true;
	return true;
}

/* One byte that may be special. */
static bool
step(struct sql_copy_input *c, struct reading *r)
{
	char ch = *c->in;
	bool data = true;
	if (c->o->csv)
		step_quotes(c, r, ch);
	if ((ch == '\r' || ch == '\n') && !r->in_quote)
		return end_line(c, r);
	if (ch == '\\' && (!c->o->csv || r->first) && !end_mark(c, r, &data))
		return false;
	r->first = false;
	return !data || take(c, 1);
}

/* The line, or what has been read of it, is UTF-8. */
static bool
is_utf8(struct sql_copy_input *c)
{
	union cat_val ignored;
	struct cat_str line = { c->rec, (uint32_t)c->len };
	return cat_value_in(CAT_TEXT, -1, line, &ignored, NULL, c->x->err);
}

static bool
read_line(struct sql_copy_input *c, bool *done)
{
	struct reading r = { .first = true };
	c->len = 0;
	c->whole = false;
	while (!r.ended && !r.done) {
		if (c->in == c->end) {
			if (c->eof && c->next == NULL)
				r.done = true;
			else if (!more(c))
				return false;
			if (c->bytes == (uint64_t)(c->end - c->in) && c->end - c->in >= 3 &&
			    memcmp(c->in, "\xef\xbb\xbf", 3) == 0)
				c->in += 3; /* a byte order mark */
			continue;
		}
		const char *p = c->in;
		uint8_t stop = r.in_quote ? INSIDE : OUTSIDE;
		while (p < c->end && !(c->special[(unsigned char)*p] & stop))
			p++;
		if (p > c->in) {
			r.first = r.escape = false;
			if (!take(c, (size_t)(p - c->in)))
				return false;
		} else if (!step(c, &r)) {
			return false;
		}
	}
	*done = r.done;
	/* what comes behind the end mark counts for nothing */
	while (r.done && c->fd < 0 && !c->eof)
		if (!more(c))
			return false;
	return room(c, 1);
}

bool
sql_copy_line(struct sql_copy_input *c, bool *done)
{
	if (!read_line(c, done)) {
		struct cat_err why = *c->x->err;
		if (strcmp(why.sqlstate, "22P04") == 0 && is_utf8(c))
			*c->x->err = why;
		return false;
	}
	c->whole = is_utf8(c);
	return c->whole;
}

/* ---- fields ----------------------------------------------------------------------------- */

static bool
is_null_text(const struct sql_copy_input *c, const char *p, size_t n)
{
	return n == strlen(c->o->null) && memcmp(p, c->o->null, n) == 0;
}

static int
hex(char ch)
{
	return ch >= '0' && ch <= '9'   ? ch - '0'
	       : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
	       : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
					: -1;
}

/* The byte that a backslash and what follows stand for. *p: behind the backslash, then behind
 * all. */
static char
escaped(const char **p, const char *end)
{
	static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
	char ch = *(*p)++;
	const char *at = memchr(from, ch, sizeof from - 1);
	if (at != NULL)
		return to[at - from];
	if (ch == 'x' && *p < end && hex(**p) >= 0) {
		int v = hex(*(*p)++);
		if (*p < end && hex(**p) >= 0)
			v = v * 16 + hex(*(*p)++);
		return (char)v;
	}
	if (ch < '0' || ch > '7')
		return ch;
	int v = ch - '0';
	for (int k = 0; k < 2 && *p < end && **p >= '0' && **p <= '7'; k++)
		v = v * 8 + (*(*p)++ - '0');
	return (char)v;
}

/* A text field without its escapes. *at: its first byte, then its end. */
static bool
text_field(struct sql_copy_input *c, const char **at, const char *end, struct sql_copy_field *f,
    struct nam_arena *arena)
{
	const char *p = *at, *from = *at, *stop;
	union cat_val ignored;
	char delimiter = c->o->delimiter, *to = NULL, *begin = NULL;
	bool odd = false;
	while (p < end && *p != delimiter && *p != '\\')
		p++;
	if (p < end && *p == '\\') {
		if ((begin = nam_arena_take(arena, (size_t)(end - from))) == NULL)
			return sql_no_memory(c->x->err);
		memcpy(begin, from, (size_t)(p - from));
		to = begin + (p - from);
	}
	for (stop = p; to != NULL && p < end && *p != delimiter; stop = p) {
		if (*p != '\\') {
			*to++ = *p++;
		} else if (++p < end) {
			const char *was = p;
			char ch = escaped(&p, end);
			odd |= ch != *was && (ch == 0 || (ch & 0x80) != 0);
			*to++ = ch;
		} else {
			break; /* at the end it says nothing */
		}
	}
	*at = p;
	f->null = is_null_text(c, from, (size_t)(stop - from));
	f->s = to == NULL ? (struct cat_str){ from, (uint32_t)(p - from) }
			  : (struct cat_str){ begin, (uint32_t)(to - begin) };
	return f->null || !odd || cat_value_in(CAT_TEXT, -1, f->s, &ignored, NULL, c->x->err);
}

/* A CSV field without its quotes. *at: its first byte, then its end. */
static bool
csv_field(struct sql_copy_input *c, const char **at, const char *end, struct sql_copy_field *f,
    struct nam_arena *arena)
{
	char delimiter = c->o->delimiter, quote = c->o->quote, escape = c->o->escape;
	const char *p = *at, *from = *at;
	while (p < end && *p != delimiter && *p != quote)
		p++;
	if (p == end || *p == delimiter) {
		*at = p;
		f->s = (struct cat_str){ from, (uint32_t)(p - from) };
		f->null = is_null_text(c, from, (size_t)(p - from));
		return true;
	}
	char *begin = nam_arena_take(arena, (size_t)(end - from)), *to = begin;
	if (begin == NULL)
		return sql_no_memory(c->x->err);
	memcpy(to, from, (size_t)(p - from));
	to += p - from;
	for (bool quoted = false; quoted || (p < end && *p != delimiter);) {
		if (p == end)
			return bad_format(c, "unterminated CSV quoted field", "");
		if (quoted && *p == escape && p + 1 < end && (p[1] == escape || p[1] == quote)) {
			*to++ = p[1];
			p += 2;
		} else if (*p == quote) {
			quoted = !quoted;
			p++;
		} else {
			*to++ = *p++;
		}
	}
	*at = p;
	f->s = (struct cat_str){ begin, (uint32_t)(to - begin) };
	f->null = false;
	return true;
}

bool
sql_copy_fields(struct sql_copy_input *c, struct cat_str line, struct sql_copy_field *field, unsigned most,
    unsigned *n, struct nam_arena *arena)
{
	const char *p = line.p, *end = line.p + line.len;
	struct sql_copy_field over;
	for (*n = 0;; p++) {
		struct sql_copy_field *f = *n < most ? &field[*n] : &over;
		if (!(c->o->csv ? csv_field : text_field)(c, &p, end, f, arena))
			return false;
		++*n;
		if (p == end)
			return true;
	}
}
