/*
 * copy.c -- COPY FROM: bytes to records, records to rows, rows to txn in chunks.
 *
 * CSV is RFC 4180 as PostgreSQL reads it: quotes may open anywhere in a field,
 * hold delimiters and line ends, and double themselves; an unquoted field equal to
 * the NULL string (by default the empty one) is NULL. Lines end in \n or \r\n. Text
 * format has backslash escapes. All is one transaction: an error leaves nothing.
 */
#include <sql/dml/dml_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 << 10, RECORD_MAX = 257 << 20, BATCH_BYTES = 1 << 20 };

struct field {
	size_t at, len;
	bool quoted, null;
};

struct copy {
	struct sql_exec *x;
	const struct cat_table *tab;
	const struct ast_copy *o;
	const struct sql_sink *sink;
	unsigned *map, maps;     /* field -> column */
	uint8_t *force;          /* per field: FORCE_... */
	uint8_t *given;          /* per column: some field's */
	struct nam_arena *arena; /* of the batch */

	/* input */
	int fd; /* -1: STDIN */
	char *piece;
	const char *in, *end;
	uint64_t bytes, total, told;
	bool eof;

	/* the record being read */
	char *rec;
	size_t len, cap;
	struct nam_budget *budget; /* that rec is charged to */
	struct field *field;
	unsigned fields;
	uint64_t line, record_line; /* lines read; where the record began */
	uint8_t class[256];

	/* the batch */
	struct sql_batch b;
	uint64_t lines[SQL_INSERT_ROWS]; /* where each row began */
	uint64_t rows;
};

enum { FORCE_NULL = 1, FORCE_NOT_NULL = 2 };
enum { PLAIN, DELIM, QUOTE, ESCAPE, NEWLINE, RETURN };

/* ---- errors ----------------------------------------------------------------------- */

static void
context(struct copy *c, uint64_t line, const char *column, const char *value, size_t len)
{
	struct cat_err *err = c->x->err;
	size_t at = strlen(err->detail), max = sizeof err->detail;
	int n = snprintf(err->detail + at, max - at, "%sCOPY %s, line %llu", at ? " " : "",
	    cat_local(c->tab->path), (unsigned long long)line);
	at += n > 0 ? (size_t)n : 0;
	if (column != NULL && at < max) {
		n = snprintf(err->detail + at, max - at, ", column %s", column);
		at += n > 0 ? (size_t)n : 0;
	}
	if (value != NULL && at < max) {
		bool cut = len > 100;
		snprintf(err->detail + at, max - at, ": \"%.*s%s\"", cut ? 100 : (int)len, value,
		    cut ? "..." : "");
	}
}

/* The record so far, its fields joined again. */
static void
record_context(struct copy *c)
{
	char text[120];
	size_t at = 0;
	unsigned n = c->fields <= c->maps ? c->fields : c->maps;
	for (unsigned i = 0; i < n && at < sizeof text; i++) {
		if (i > 0)
			text[at++] = c->o->delimiter;
		size_t len = c->field[i].len;
		len = len < sizeof text - at ? len : sizeof text - at;
		memcpy(text + at, c->rec + c->field[i].at, len);
		at += len;
	}
	if (n == 0 && c->len > 0) {
		at = c->len < sizeof text ? c->len : sizeof text;
		memcpy(text, c->rec, at);
	}
	context(c, c->record_line, NULL, at ? text : NULL, at);
}

static bool
bad(struct copy *c, const char *sqlstate, const char *text)
{
	cat_error(c->x->err, sqlstate, "%s", text);
	record_context(c);
	return false;
}

static bool
utf8(const char *s, size_t len, size_t *where)
{
	const unsigned char *p = (const unsigned char *)s;
	for (size_t i = 0; i < len;) {
		unsigned ch = p[i];
		if (ch < 0x80 && ch != 0) {
			i++;
			continue;
		}
		unsigned n = ch >= 0xf0 && ch < 0xf5   ? 3
			     : ch >= 0xe0 && ch < 0xf0 ? 2
			     : ch >= 0xc2 && ch < 0xe0 ? 1
						       : 0;
		uint32_t v = n == 3 ? ch & 7 : n == 2 ? ch & 15 : ch & 31;
		bool ok = n > 0 && i + n < len;
		for (unsigned k = 1; ok && k <= n; k++) {
			ok = (p[i + k] & 0xc0) == 0x80;
			v = v << 6 | (p[i + k] & 0x3f);
		}
		if (!ok || (n == 2 && (v < 0x800 || (v >= 0xd800 && v < 0xe000))) ||
		    (n == 3 && (v < 0x10000 || v > 0x10ffff))) {
			*where = i;
			return false;
		}
		i += n + 1;
	}
	return true;
}

/* ---- input -------------------------------------------------------------------------- */

static bool
more(struct copy *c)
{
	struct sql_exec *x = c->x;
	size_t n = 0;
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

static bool
room(struct copy *c, size_t n)
{
	if (c->len + n <= c->cap)
		return true;
	if (c->len + n > RECORD_MAX)
		return bad(c, "54000", "a record of COPY is longer than 257 MiB");
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

static bool
append(struct copy *c, const char *s, size_t n)
{
	if (!room(c, n))
		return false;
	memcpy(c->rec + c->len, s, n);
	c->len += n;
	return true;
}

/* ---- fields --------------------------------------------------------------------------- */

static bool
open_field(struct copy *c)
{
	if (c->fields > c->maps)
		return true; /* one too many is enough to complain */
	c->field[c->fields] = (struct field){ .at = c->len };
	return true;
}

static void
close_field(struct copy *c, bool quoted)
{
	if (c->fields <= c->maps) {
		struct field *f = &c->field[c->fields];
		f->len = c->len - f->at;
		f->quoted = quoted;
		uint8_t force = c->fields < c->maps ? c->force[c->fields] : 0;
		f->null = f->len == strlen(c->o->null) && memcmp(c->rec + f->at, c->o->null, f->len) == 0 &&
			  (quoted ? (force & FORCE_NULL) != 0 : !(force & FORCE_NOT_NULL));
	}
	c->fields++;
}

static int
hex(char ch)
{
	return ch >= '0' && ch <= '9'   ? ch - '0'
	       : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
	       : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
					: -1;
}

/* Text format: the escapes of one field, in place. */
static void
unescape(struct copy *c, struct field *f)
{
	char *to = c->rec + f->at, *p = to, *end = p + f->len;
	while (p < end) {
		if (*p != '\\' || p + 1 == end) {
			*to++ = *p++;
			continue;
		}
		char ch = *++p;
		p++;
		switch (ch) {
		case 'b':
			*to++ = '\b';
			break;
		case 'f':
			*to++ = '\f';
			break;
		case 'n':
			*to++ = '\n';
			break;
		case 'r':
			*to++ = '\r';
			break;
		case 't':
			*to++ = '\t';
			break;
		case 'v':
			*to++ = '\v';
			break;
		case 'x':
			if (p < end && hex(*p) >= 0) {
				int v = hex(*p++);
				if (p < end && hex(*p) >= 0)
					v = v * 16 + hex(*p++);
				*to++ = (char)v;
			} else {
				*to++ = 'x';
			}
			break;
		default:
			if (ch >= '0' && ch <= '7') {
				int v = ch - '0';
				for (int k = 0; k < 2 && p < end && *p >= '0' && *p <= '7'; k++)
					v = v * 8 + (*p++ - '0');
				*to++ = (char)v;
			} else {
				*to++ = ch;
			}
		}
	}
	f->len = (size_t)(to - (c->rec + f->at));
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool
fresh_batch(struct copy *c)
{
	nam_arena_reset(c->arena);
	c->b.n = 0;
	c->b.cols = c->tab->columns;
	c->b.col = nam_arena_take(c->arena, c->tab->columns * sizeof *c->b.col);
	if (c->b.col == NULL)
		return sql_no_memory(c->x->err);
	for (unsigned k = 0; k < c->tab->columns; k++)
		if (!cat_vec_take(&c->b.col[k], c->tab->column[k].type, SQL_INSERT_ROWS, c->arena))
			return sql_no_memory(c->x->err);
	return true;
}

static bool
flush(struct copy *c)
{
	if (c->b.n == 0)
		return true;
	if (!sql_insert_batch(c->x, c->tab, &c->b, c->arena)) {
		context(c, c->lines[c->x->bad_row < c->b.n ? c->x->bad_row : 0], NULL, NULL, 0);
		return false;
	}
	c->rows += c->b.n;
	return fresh_batch(c);
}

/* A value for column k fulfils the constraints of its domain. text NULL: the value is a NULL. */
static bool
in_domain(struct copy *c, unsigned k, union cat_val v, const struct cat_str *text)
{
	struct sql_exec *x = c->x;
	const struct sql_expr *e = x->rules != NULL ? x->rules->domain[k] : NULL;
	struct cat_datum d = { .type = c->tab->column[k].type, .null = text == NULL, .v = v }, out;
	if (e == NULL)
		return true;
	const struct cat_datum *param = x->env.param;
	unsigned params = x->env.params;
	x->env.param = &d;
	x->env.params = 1;
	bool ok = sql_eval_one(e, &x->env, &out);
	x->env.param = param;
	x->env.params = params;
	if (!ok)
		context(
		    c, c->record_line, c->tab->column[k].name, text ? text->p : NULL, text ? text->len : 0);
	return ok;
}

static bool
end_record(struct copy *c)
{
	struct sql_exec *x = c->x;
	if (c->fields > c->maps)
		return bad(c, "22P04", "extra data after last expected column");
	if (c->fields < c->maps) {
		cat_error(x->err, "22P04", "missing data for column \"%s\"",
		    c->tab->column[c->map[c->fields]].name);
		record_context(c);
		return false;
	}
	c->lines[c->b.n] = c->record_line;
	const char *bytes = nam_arena_copy(c->arena, c->rec, c->len + 1);
	if (bytes == NULL)
		return sql_no_memory(x->err);
	unsigned k = c->b.n;
	for (unsigned i = 0; i < c->tab->columns; i++) {
		struct cat_vec *v = &c->b.col[i];
		union cat_val zero = { .i = 0 };
		const struct sql_expr *d = c->given[i] || x->rules == NULL ? NULL : x->rules->dflt[i];
		x->env.arena = c->arena;
		if (d == NULL)
			cat_vec_set(v, k, zero, true);
		else if (!sql_dml_value(x, d, v, k))
			return false;
	}
	for (unsigned i = 0; i < c->maps; i++) {
		const struct field *f = &c->field[i];
		const struct cat_column *col = &c->tab->column[c->map[i]];
		union cat_val v = { .s = { "", 0 } };
		if (f->null) {
			if (!in_domain(c, c->map[i], v, NULL))
				return false;
			continue;
		}
		struct cat_str s = { bytes + f->at, (uint32_t)f->len };
		size_t where;
		if (!utf8(s.p, s.len, &where)) {
			cat_error(x->err, "22021", "invalid byte sequence for encoding \"UTF8\": 0x%02x",
			    (unsigned char)s.p[where]);
			context(c, c->record_line, NULL, NULL, 0);
			return false;
		}
		if (!cat_value_in(col->type, col->typmod, s, &v, c->arena, x->err)) {
			x->err->position = 0;
			context(c, c->record_line, col->name, s.p, s.len);
			return false;
		}
		if (!in_domain(c, c->map[i], v, &s))
			return false;
		cat_vec_set(&c->b.col[c->map[i]], k, v, false);
	}
	c->b.n++;
	if (c->b.n == SQL_INSERT_ROWS || c->arena->used > BATCH_BYTES)
		return flush(c);
	return true;
}

/* HEADER MATCH: the first line names the columns. */
static bool
header_matches(struct copy *c)
{
	struct cat_err *err = c->x->err;
	if (c->fields != c->maps) {
		cat_error(err, "22P04", "wrong number of fields in header line: got %u, expected %u",
		    c->fields, c->maps);
		context(c, c->record_line, NULL, NULL, 0);
		return false;
	}
	for (unsigned i = 0; i < c->maps; i++) {
		const struct field *f = &c->field[i];
		const char *name = c->tab->column[c->map[i]].name;
		if (!f->null && f->len == strlen(name) && memcmp(c->rec + f->at, name, f->len) == 0)
			continue;
		if (f->null)
			cat_error(err, "22P04",
			    "column name mismatch in header line field %u: got null value (\"%s\"), expected "
			    "\"%s\"",
			    i + 1, c->o->null, name);
		else
			cat_error(err, "22P04",
			    "column name mismatch in header line field %u: got \"%.*s\", expected \"%s\"",
			    i + 1, f->len < 64 ? (int)f->len : 64, c->rec + f->at, name);
		context(c, c->record_line, NULL, NULL, 0);
		return false;
	}
	return true;
}

static bool
start_record(struct copy *c)
{
	c->len = 0;
	c->fields = 0;
	c->record_line = c->line + 1;
	return room(c, 1) && open_field(c);
}

/* A whole record is in. *stop: it was the end mark. */
static bool
finish(struct copy *c, bool quoted, bool *header, bool *stop)
{
	c->line++;
	bool mark = c->fields == 0 && c->len == 2 && memcmp(c->rec, "\\.", 2) == 0 && !quoted;
	close_field(c, quoted);
	if (mark) {
		*stop = true;
		return true;
	}
	if (!room(c, 1))
		return false;
	c->rec[c->len] = 0;
	if (!c->o->csv && (!*header || c->o->match))
		for (unsigned i = 0; i < c->fields && i <= c->maps; i++)
			if (!c->field[i].null)
				unescape(c, &c->field[i]);
	if (*header ? c->o->match && !header_matches(c) : !end_record(c))
		return false;
	*header = false;
	return start_record(c);
}

/* Where a reader of records is. */
struct reading {
	bool header;       /* the record is the header line */
	bool stop;         /* the end mark has been read */
	bool any;          /* bytes of a record have been read */
	bool quoted;       /* the field has had quotes */
	bool in_quote;     /* inside of them */
	bool after_quote;  /* the byte before may end the quote, or escape another */
	bool after_return; /* \r outside of quotes: \n must follow */
	bool escaped;      /* text: the byte before is a backslash */
};

/* Inside of a quote: takes bytes up to one that may end it, and that one. */
static bool
take_quoted(struct copy *c, struct reading *r)
{
	const char *p = c->in;
	while (p < c->end && *p != c->o->quote && *p != c->o->escape) {
		c->line += *p == '\n';
		p++;
	}
	if (!append(c, c->in, (size_t)(p - c->in)))
		return false;
	c->in = p;
	if (p == c->end)
		return true;
	char ch = *c->in++;
	if (ch == c->o->quote) { /* its end, or the first half of an escape */
		r->in_quote = false;
		r->after_quote = true;
		return true;
	}
	/* a separate escape character */
	if (c->in == c->end && !more(c))
		return false;
	if (c->eof)
		return true;
	if (*c->in == c->o->quote || *c->in == c->o->escape)
		ch = *c->in++;
	return append(c, &ch, 1);
}

/* Outside of quotes: takes plain bytes, or one that is not plain. */
static bool
take_unquoted(struct copy *c, struct reading *r)
{
	const char *p = c->in;
	while (p < c->end && c->class[(unsigned char)*p] == PLAIN)
		p++;
	r->any = true;
	if (p > c->in) {
		bool ok = append(c, c->in, (size_t)(p - c->in));
		c->in = p;
		return ok;
	}
	switch (c->class[(unsigned char)*c->in++]) {
	case DELIM:
		close_field(c, r->quoted);
		r->quoted = false;
		return open_field(c);
	case QUOTE:
		r->in_quote = r->quoted = true;
		return true;
	case ESCAPE:
		r->escaped = true;
		return append(c, c->in - 1, 1);
	case RETURN:
		r->after_return = true;
		return true;
	case NEWLINE:
		if (!finish(c, r->quoted, &r->header, &r->stop))
			return false;
		r->quoted = r->any = false;
		return true;
	}
	return true;
}

static bool
read_all(struct copy *c)
{
	struct reading r = { .header = c->o->header };
	if (!start_record(c))
		return false;
	while (!r.stop) {
		if (c->in == c->end) {
			if (!c->eof && !more(c))
				return false;
			if (c->eof)
				break;
			if (c->bytes == (uint64_t)(c->end - c->in) && c->end - c->in >= 3 &&
			    memcmp(c->in, "\xef\xbb\xbf", 3) == 0)
				c->in += 3;
			continue;
		}
		char ch = *c->in;
		if (r.after_return && ch != '\n')
			return bad(c, "22P04", "unquoted carriage return found in data");
		r.after_return = false;
		bool ok;
		if (r.escaped) { /* whatever follows a backslash is not special */
			r.escaped = false;
			c->line += ch == '\n';
			ok = append(c, c->in++, 1);
		} else if (r.in_quote) {
			ok = take_quoted(c, &r);
		} else if (r.after_quote && ch == c->o->quote && c->o->escape == c->o->quote) {
			r.after_quote = false;
			r.in_quote = true;
			ok = append(c, c->in++, 1);
		} else {
			r.after_quote = false;
			ok = take_unquoted(c, &r);
		}
		if (!ok)
			return false;
	}
	if (r.stop)
		return true;
	if (r.in_quote)
		return bad(c, "22P04", "unterminated CSV quoted field");
	return !r.any || finish(c, r.quoted, &r.header, &r.stop);
}

/* ---- the statement ------------------------------------------------------------------------ */

static bool
names(const struct ast_force *f, const char *name)
{
	for (unsigned i = 0; i < f->names; i++)
		if (strcmp(f->name[i], name) == 0)
			return true;
	return f->all;
}

static bool
columns(struct copy *c, const struct ast_stmt *st, struct nam_arena *keep)
{
	c->maps = st->nnames ? st->nnames : c->tab->columns;
	c->map = nam_arena_take(keep, c->maps * sizeof *c->map);
	c->field = nam_arena_take(keep, (c->maps + 2) * sizeof *c->field);
	c->force = nam_arena_zero(keep, c->maps + 1);

	c->given = nam_arena_zero(keep, c->tab->columns);
	if (c->map == NULL || c->field == NULL || c->force == NULL || c->given == NULL)
		return sql_no_memory(c->x->err);
	for (unsigned i = 0; i < c->maps; i++) {
		unsigned k = st->nnames ? 0 : i;
		while (st->nnames && strcmp(c->tab->column[k].name, st->names[i]) != 0)
			k++; /* it has been looked for before */
		c->map[i] = k;
		if (names(&c->o->force_null, c->tab->column[k].name))
			c->force[i] |= FORCE_NULL;
		if (names(&c->o->force_not_null, c->tab->column[k].name))
			c->force[i] |= FORCE_NOT_NULL;
		c->given[k] = 1;
	}
	return true;
}

static bool
open_file(struct copy *c)
{
	struct sql_exec *x = c->x;
	c->fd = open(c->o->file, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return cat_error(x->err,
		    errno == ENOENT   ? "58P01"
		    : errno == EACCES ? "42501"
				      : "58030",
		    "could not open file \"%.200s\" for reading: %s", c->o->file, strerror(errno));
	struct stat sb;
	if (fstat(c->fd, &sb) == 0) {
		if (S_ISDIR(sb.st_mode))
			return cat_error(x->err, "42809", "\"%.200s\" is a directory", c->o->file);
		if (S_ISREG(sb.st_mode))
			c->total = (uint64_t)sb.st_size;
	}
	c->piece = malloc(PIECE);
	return c->piece != NULL || sql_no_memory(x->err);
}

static bool
begin_input(struct copy *c)
{
	return c->sink->copy_begin == NULL || c->sink->copy_begin(c->sink->arg, false, c->maps) ||
	       cat_error(c->x->err, "57014", "canceling statement due to user request");
}

bool
sql_copy(struct sql_exec *x, const struct ast_stmt *st, const struct cat_table *tab, uint64_t *rows)
{
	struct copy c = { .x = x,
		.tab = tab,
		.o = &st->copy,
		.sink = x->sink,
		.fd = -1,
		.arena = x->arena[1],
		.budget = x->arena[1]->budget };
	c.class[(unsigned char)c.o->delimiter] = DELIM;
	if (c.o->csv)
		c.class[(unsigned char)c.o->quote] = QUOTE;
	else
		c.class[(unsigned char)'\\'] = ESCAPE;
	c.class['\n'] = NEWLINE;
	c.class['\r'] = RETURN;
	sql_foreign_begin(x->env.session);
	bool ok = columns(&c, st, x->arena[2]) && (c.o->file == NULL ? begin_input(&c) : open_file(&c)) &&
		  fresh_batch(&c) && read_all(&c) && flush(&c) && sql_foreign_end(x);
	if (ok && c.sink->progress != NULL)
		c.sink->progress(c.sink->arg, c.bytes, c.total, c.rows);
	if (c.fd >= 0)
		close(c.fd);
	free(c.piece);
	nam_budget_give(c.budget, c.cap);
	free(c.rec);
	*rows = c.rows;
	return ok;
}
