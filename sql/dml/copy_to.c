/*
 * copy_to.c -- COPY TO: a query's rows as lines of text, to a file or to the session's user.
 *
 * The query runs as any other; only its sink is ours.
 */
#include <sql/dml/dml.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

struct copy_to {
	struct sql_exec *x;
	const struct ast_copy *o;
	const struct sql_sink *sink;
	int fd; /* -1 = to the user */
	unsigned cols;
	uint8_t *force;          /* per column: quoted whenever it is not null */
	struct nam_arena values; /* of one batch */
	char *buf;
	size_t len, cap;
	uint64_t bytes, rows;
	bool failed;
	struct cat_err why; /* sql_send has words of its own for a sink that fails */
};

static bool
flush(struct copy_to *c)
{
	c->bytes += c->len;
	if (c->fd < 0 && c->len > 0 && c->sink->copy_out != NULL &&
	    !c->sink->copy_out(c->sink->arg, c->buf, c->len))
		return cat_error(c->x->err, "57014", "canceling statement due to user request");
	for (size_t done = 0; c->fd >= 0 && done < c->len;) {
		ssize_t n = write(c->fd, c->buf + done, c->len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return cat_error(c->x->err, n < 0 && errno == ENOSPC ? "53100" : "58030",
			    "could not write to COPY file: %s", strerror(errno));
		done += (size_t)n;
	}
	c->len = 0;
	if (c->fd >= 0 && c->sink->progress != NULL)
		c->sink->progress(c->sink->arg, c->bytes, 0, c->rows);
	return true;
}

static bool
room(struct copy_to *c, size_t n)
{
	if (c->buf != NULL && c->len + n <= c->cap)
		return true;
	size_t cap = c->cap ? c->cap * 2 : 2 * PIECE;
	while (cap < c->len + n)
		cap *= 2;
	char *p = realloc(c->buf, cap);
	if (p == NULL)
		return sql_no_memory(c->x->err);
	c->buf = p;
	c->cap = cap;
	return true;
}

static bool
put(struct copy_to *c, const char *s, size_t n)
{
	if (!room(c, n))
		return false;
	memcpy(c->buf + c->len, s, n);
	c->len += n;
	return true;
}

static bool
text_value(struct copy_to *c, struct cat_str s)
{
	static const char letter[] = "btnvfr"; /* of bytes 8 .. 13 */
	if (!room(c, (size_t)s.len * 2))
		return false;
	char *to = c->buf + c->len;
	for (uint32_t i = 0; i < s.len; i++) {
		char ch = s.p[i];
		bool control = ch >= '\b' && ch <= '\r';
		if (control || ch == '\\' || ch == c->o->delimiter)
			*to++ = '\\';
		*to++ = control ? letter[ch - '\b'] : ch;
	}
	c->len = (size_t)(to - c->buf);
	return true;
}

static bool
csv_value(struct copy_to *c, struct cat_str s, bool quoted)
{
	const struct ast_copy *o = c->o;
	quoted |= s.len == strlen(o->null) && memcmp(s.p, o->null, s.len) == 0;
	quoted |= c->cols == 1 && s.len == 2 && memcmp(s.p, "\\.", 2) == 0;
	for (uint32_t i = 0; !quoted && i < s.len; i++)
		quoted = s.p[i] == o->delimiter || s.p[i] == o->quote || s.p[i] == '\n' || s.p[i] == '\r';
	if (!quoted)
		return put(c, s.p, s.len);
	if (!room(c, (size_t)s.len * 2 + 2))
		return false;
	char *to = c->buf + c->len;
	*to++ = o->quote;
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] == o->quote || s.p[i] == o->escape)
			*to++ = o->escape;
		*to++ = s.p[i];
	}
	*to++ = o->quote;
	c->len = (size_t)(to - c->buf);
	return true;
}

static bool
value(struct copy_to *c, unsigned col, struct cat_str s, bool quoted)
{
	if (col > 0 && !put(c, &c->o->delimiter, 1))
		return false;
	return c->o->csv ? csv_value(c, s, quoted) : text_value(c, s);
}

static bool
lines(struct copy_to *c, const struct sql_batch_view *b)
{
	nam_arena_reset(&c->values);
	for (unsigned r = 0; r < b->n; r++) {
		for (unsigned k = 0; k < b->cols; k++) {
			const struct cat_vec *v = &b->col[k];
			if (v->null[r]) {
				if ((k > 0 && !put(c, &c->o->delimiter, 1)) ||
				    !put(c, c->o->null, strlen(c->o->null)))
					return false;
				continue;
			}
			struct cat_str s = cat_value_show(v->type, cat_vec_at(v, r), b->floats, &c->values);
			if (s.p == NULL)
				return sql_no_memory(c->x->err);
			if (!value(c, k, s, c->force[k]))
				return false;
		}
		if (!put(c, "\n", 1))
			return false;
		c->rows++;
		if (c->len >= PIECE && !flush(c))
			return false;
	}
	return true;
}

static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct copy_to *c = arg;
	if (lines(c, b))
		return true;
	c->failed = true;
	c->why = *c->x->err;
	return false;
}

/* ---- the statement -------------------------------------------------------------------- */

static bool
open_file(struct copy_to *c)
{
	struct cat_err *err = c->x->err;
	const char *name = c->o->file;
	if (name[0] != '/')
		return cat_error(err, "42602", "relative path not allowed for COPY to file");
	c->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (c->fd < 0) {
		if (errno == EISDIR)
			return cat_error(err, "42809", "\"%.200s\" is a directory", name);
		return cat_error(err,
		    errno == ENOENT                     ? "58P01"
		    : errno == EACCES || errno == EPERM ? "42501"
							: "58030",
		    "could not open file \"%.200s\" for writing: %s", name, strerror(errno));
	}
	return true;
}

static bool
forced(struct copy_to *c, const struct sql_plan *p, struct nam_arena *arena)
{
	const struct ast_force *f = &c->o->force_quote;
	c->cols = p->columns;
	if ((c->force = nam_arena_zero(arena, c->cols + 1)) == NULL)
		return sql_no_memory(c->x->err);
	memset(c->force, f->all, c->cols);
	for (unsigned i = 0; i < f->names; i++) {
		unsigned k = 0;
		while (k < c->cols && strcmp(p->column[k].name, f->name[i]) != 0)
			k++;
		if (k == c->cols) /* a table's columns have been looked for before */
			return cat_error(c->x->err, "42703", "column \"%s\" does not exist", f->name[i]);
		c->force[k] = 1;
	}
	return true;
}

static bool
begin(struct copy_to *c, const struct sql_plan *p)
{
	if (c->o->file != NULL && !open_file(c))
		return false;
	if (c->fd < 0 && c->sink->copy_begin != NULL && !c->sink->copy_begin(c->sink->arg, true, c->cols))
		return cat_error(c->x->err, "57014", "canceling statement due to user request");
	for (unsigned k = 0; c->o->header && k < c->cols; k++) {
		struct cat_str name = { p->column[k].name, (uint32_t)strlen(p->column[k].name) };
		if (!value(c, k, name, false))
			return false;
	}
	return !c->o->header || put(c, "\n", 1);
}

bool
sql_copy_to(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, uint64_t *rows,
    struct cat_err *err)
{
	*rows = 0;
	if (ast->params > 0)
		return cat_error(err, "42P02", "there is no parameter $1");
	struct sql_bind_in in = { .cat = s->cfg.cat,
		.t = s->t,
		.parser = s->cfg.parser,
		.costs = sql_costs_renew(s),
		.who = sql_who(s),
		.search = sql_search_text(s, s->search),
		.join_order = s->now.join_order };
	struct sql_plan *p = sql_plan_make(ast->inner, &in, err);
	if (p == NULL)
		return false;
	struct copy_to c = { .x = &s->x, .o = &ast->copy, .sink = sink, .fd = -1 };
	const struct sql_sink ours = { .arg = &c, .rows = on_rows };
	nam_arena_init(&c.values, 0);
	bool ok = p->arenas == 0 || sql_arena(s, p->arenas - 1) != NULL || sql_no_memory(err);
	if (ok) {
		sql_take_now(s, p);
		sql_prepare_exec(s, &ours, err);
		for (unsigned i = 0; i < p->arenas; i++)
			nam_arena_reset(s->arena[i]);
		ok = sql_sub_start(&s->x, p) && forced(&c, p, &p->arena) && begin(&c, p);
	}
	uint64_t changed;
	if (ok && !(ok = sql_plan_run(s, p, &changed)) && c.failed)
		*err = c.why;
	ok = ok && flush(&c);
	if (c.fd >= 0 && close(c.fd) != 0 && ok)
		ok = cat_error(err, "58030", "could not write to COPY file: %s", strerror(errno));
	*rows = c.rows;
	nam_arena_fini(&c.values);
	free(c.buf);
	sql_plan_free(p);
	return ok;
}
