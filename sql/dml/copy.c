/*
 * copy.c -- COPY FROM: fields to rows, rows to txn in chunks.
 *
 * All is one transaction: an error leaves nothing.
 */
#include <sql/dml/copy_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE = 256 << 10, BATCH_BYTES = 1 << 20 };

struct copy {
	struct sql_copy_input in;
	struct sql_exec *x;
	const struct cat_table *tab;
	unsigned *map, maps;     /* field -> column */
	uint8_t *force;          /* per field: FORCE_... */
	uint8_t *given;          /* per column: some field's */
	struct nam_arena *arena; /* of the batch */
	struct sql_copy_field *field;

	/* the batch */
	struct sql_batch b;
	struct {
		uint64_t number;
		struct cat_str text;
	} line[SQL_INSERT_ROWS];
};

enum { FORCE_NULL = 1, FORCE_NOT_NULL = 2 };

/* ---- errors ----------------------------------------------------------------------- */

/* Which line, which of its columns, and what lies there; as PostgreSQL says it. */
static void
context(struct copy *c, uint64_t line, const char *column, const struct cat_str *text)
{
	struct cat_err *err = c->x->err;
	size_t max = sizeof err->context, at = 0;
	at += (size_t)snprintf(
	    err->context, max, "COPY %s, line %llu", cat_local(c->tab->path), (unsigned long long)line);
	if (column != NULL && at < max)
		at += (size_t)snprintf(err->context + at, max - at, ", column %s", column);
	if (text == NULL || at >= max) {
		if (column != NULL && at < max)
			snprintf(err->context + at, max - at, ": null input");
		return;
	}
	uint32_t n = text->len;
	if (n > 100)
		for (n = 100; n > 0 && ((unsigned char)text->p[n] & 0xc0) == 0x80;)
			n--;
	snprintf(err->context + at, max - at, ": \"%.*s%s\"", (int)n, text->p, n < text->len ? "..." : "");
}

/* The line being read, all of it if it has been. */
static bool
at_line(struct copy *c)
{
	struct cat_str text = { c->in.rec, (uint32_t)c->in.len };
	context(c, c->in.line, NULL, c->in.whole ? &text : NULL);
	return false;
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

/* A row of the batch broke a rule: its own, and then the line is shown; or one of all rows. */
static bool
at_row(struct copy *c)
{
	unsigned k = c->x->bad_row < c->b.n ? c->x->bad_row : 0;
	const char *state = c->x->err->sqlstate;
	bool own = strcmp(state, "23502") == 0 || strcmp(state, "23514") == 0;
	context(c, c->line[k].number, NULL, own ? &c->line[k].text : NULL);
	return false;
}

static bool
flush(struct copy *c)
{
	if (c->b.n == 0)
		return true;
	if (!sql_insert_batch(c->x, c->tab, &c->b, c->arena))
		return at_row(c);
	c->in.rows += c->b.n;
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
		context(c, c->in.line, c->tab->column[k].name, text);
	return ok;
}

/* Field i of the line as its column's value in row k. */
static bool
put_field(struct copy *c, unsigned i, unsigned k)
{
	struct sql_exec *x = c->x;
	const struct ast_copy *o = c->in.o;
	const struct cat_column *col = &c->tab->column[c->map[i]];
	struct cat_str s = c->field[i].s;
	union cat_val v = { .s = { "", 0 } };
	bool null = c->field[i].null;
	if (null && (c->force[i] & FORCE_NOT_NULL)) {
		s = (struct cat_str){ o->null, (uint32_t)strlen(o->null) };
		null = false;
	} else if (!null && (c->force[i] & FORCE_NULL)) {
		null = s.len == strlen(o->null) && memcmp(s.p, o->null, s.len) == 0;
	}
	if (null)
		return in_domain(c, c->map[i], v, NULL);
	if (!cat_value_in(col->type, col->typmod, s, &v, c->arena, x->err)) {
		x->err->position = 0;
		context(c, c->in.line, col->name, &s);
		return false;
	}
	if (!in_domain(c, c->map[i], v, &s))
		return false;
	cat_vec_set(&c->b.col[c->map[i]], k, v, false);
	return true;
}

/* The line as row k of the batch. */
static bool
take_row(struct copy *c, struct cat_str line, unsigned k)
{
	struct sql_exec *x = c->x;
	unsigned n;
	for (unsigned i = 0; i < c->tab->columns; i++)
		cat_vec_set(&c->b.col[i], k, (union cat_val){ .i = 0 }, true);
	if (!sql_copy_fields(&c->in, line, c->field, c->maps, &n, c->arena))
		return at_line(c);
	if (n > c->maps) {
		cat_error(x->err, "22P04", "extra data after last expected column");
		return at_line(c);
	}
	x->env.arena = c->arena;
	for (unsigned i = 0; i < n; i++)
		if (!put_field(c, i, k))
			return false;
	if (n < c->maps) {
		cat_error(x->err, "22P04", "missing data for column \"%s\"", c->tab->column[c->map[n]].name);
		return at_line(c);
	}
	for (unsigned i = 0; i < c->tab->columns; i++) {
		const struct sql_expr *d = c->given[i] || x->rules == NULL ? NULL : x->rules->dflt[i];
		if (d != NULL && !sql_dml_value(x, d, &c->b.col[i], k))
			return at_line(c);
	}
	return true;
}

/* A line could not be read, but rows before it may break rules of their own. */
static bool
after_rows(struct copy *c)
{
	struct cat_err why = *c->x->err;
	*c->x->err = (struct cat_err){ 0 };
	if (c->b.n > 0 && !sql_check_batch(c->x, c->tab, &c->b, c->arena))
		return at_row(c);
	*c->x->err = why;
	return false;
}

static bool
end_record(struct copy *c)
{
	struct cat_str line = { nam_arena_copy(c->arena, c->in.rec, c->in.len + 1), (uint32_t)c->in.len };
	unsigned k = c->b.n;
	if (line.p == NULL)
		return sql_no_memory(c->x->err);
	c->line[k].number = c->in.line;
	c->line[k].text = line;
	if (!take_row(c, line, k))
		return after_rows(c);
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
	unsigned n;
	if (!sql_copy_fields(
		&c->in, (struct cat_str){ c->in.rec, (uint32_t)c->in.len }, c->field, c->maps, &n, c->arena))
		return at_line(c);
	if (n != c->maps) {
		cat_error(
		    err, "22P04", "wrong number of fields in header line: got %u, expected %u", n, c->maps);
		return at_line(c);
	}
	for (unsigned i = 0; i < c->maps; i++) {
		const struct sql_copy_field *f = &c->field[i];
		const char *name = c->tab->column[c->map[i]].name;
		if (!f->null && f->s.len == strlen(name) && memcmp(f->s.p, name, f->s.len) == 0)
			continue;
		if (f->null)
			cat_error(err, "22P04",
			    "column name mismatch in header line field %u: got null value (\"%s\"), expected "
			    "\"%s\"",
			    i + 1, c->in.o->null, name);
		else
			cat_error(err, "22P04",
			    "column name mismatch in header line field %u: got \"%.*s\", expected \"%s\"",
			    i + 1, f->s.len < 64 ? (int)f->s.len : 64, f->s.p, name);
		return at_line(c);
	}
	return true;
}

static bool
read_all(struct copy *c)
{
	bool done = false;
	if (c->in.o->header) {
		c->in.line++;
		if (!sql_copy_line(&c->in, &done))
			return at_line(c);
		if (c->in.o->match && !header_matches(c))
			return false;
		if (done)
			return true;
	}
	for (;;) { /* an end mark behind data ends only their line */
		c->in.line++;
		if (!sql_copy_line(&c->in, &done)) {
			at_line(c);
			return after_rows(c);
		}
		if (done && c->in.len == 0)
			return true;
		if (!end_record(c))
			return false;
	}
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
	c->field = nam_arena_take(keep, (c->maps + 1) * sizeof *c->field);
	c->force = nam_arena_zero(keep, c->maps + 1);

	c->given = nam_arena_zero(keep, c->tab->columns);
	if (c->map == NULL || c->field == NULL || c->force == NULL || c->given == NULL)
		return sql_no_memory(c->x->err);
	for (unsigned i = 0; i < c->maps; i++) {
		unsigned k = st->nnames ? 0 : i;
		while (st->nnames && strcmp(c->tab->column[k].name, st->names[i]) != 0)
			k++; /* it has been looked for before */
		c->map[i] = k;
		if (names(&c->in.o->force_null, c->tab->column[k].name))
			c->force[i] |= FORCE_NULL;
		if (names(&c->in.o->force_not_null, c->tab->column[k].name))
			c->force[i] |= FORCE_NOT_NULL;
		c->given[k] = 1;
	}
	return true;
}

static bool
open_file(struct copy *c)
{
	struct sql_exec *x = c->x;
	c->in.fd = open(c->in.o->file, O_RDONLY | O_CLOEXEC);
	if (c->in.fd < 0)
		return cat_error(x->err,
		    errno == ENOENT   ? "58P01"
		    : errno == EACCES ? "42501"
				      : "58030",
		    "could not open file \"%.200s\" for reading: %s", c->in.o->file, strerror(errno));
	struct stat sb;
	if (fstat(c->in.fd, &sb) == 0) {
		if (S_ISDIR(sb.st_mode))
			return cat_error(x->err, "42809", "\"%.200s\" is a directory", c->in.o->file);
		if (S_ISREG(sb.st_mode))
			c->in.total = (uint64_t)sb.st_size;
	}
	c->in.piece = malloc(PIECE);
	return c->in.piece != NULL || sql_no_memory(x->err);
}

static bool
begin_input(struct copy *c)
{
	const struct sql_sink *sink = c->in.sink;
	return sink->copy_begin == NULL || sink->copy_begin(sink->arg, false, c->maps) ||
	       cat_error(c->x->err, "57014", "canceling statement due to user request");
}

bool
sql_copy(struct sql_exec *x, const struct ast_stmt *st, const struct cat_table *tab, uint64_t *rows)
{
	struct copy c = {
		.in = { .x = x, .o = &st->copy, .sink = x->sink, .fd = -1, .budget = x->arena[1]->budget },
		.x = x,
		.tab = tab,
		.arena = x->arena[1]
	};
	sql_copy_begin(&c.in);
	sql_foreign_begin(x->env.session);
	bool ok = columns(&c, st, x->arena[2]) && (st->copy.file == NULL ? begin_input(&c) : open_file(&c)) &&
		  fresh_batch(&c) && read_all(&c) && flush(&c) && sql_foreign_end(x);
	if (ok && x->sink->progress != NULL)
		x->sink->progress(x->sink->arg, c.in.bytes, c.in.total, c.in.rows);
	sql_copy_end(&c.in);
	*rows = c.in.rows;
	return ok;
}
