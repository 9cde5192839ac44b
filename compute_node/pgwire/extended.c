/* extended.c -- the extended protocol: statements, portals, and what fetches their rows. */
#include "pgwire_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
fail(struct cn_pg_conn *c, struct cat_err *err)
{
	c->skip = true;
	c->look = true;
	sql_session_fail(c->sql);
	cn_pg_failed(c, err);
}

static void
malformed(struct cn_pg_conn *c)
{
	struct cat_err err = { 0 };
	cat_error(&err, "08P01", "invalid message format");
	fail(c, &err);
}

static void
plain(struct cn_pg_conn *c, char type)
{
	cn_pg_begin(&c->out, type);
	cn_pg_end(&c->out);
}

/* ---- statements --------------------------------------------------------------------- */

static struct sql_stmt *
find_stmt(struct cn_pg_conn *c, const char *name, struct cat_err *err)
{
	if (name[0] != 0)
		return sql_stmt_named(c->sql, name, err);
	if (c->unnamed == NULL)
		cat_error(err, "26000", "unnamed prepared statement does not exist");
	return c->unnamed;
}

static bool
prepare(struct cn_pg_conn *c, const struct cn_pg_parse *m, struct cat_err *err)
{
	struct cn_pg_reader r = cn_pg_reader(m->type, (size_t)m->types * 4);
	enum cat_type few[16], *type = few;
	struct sql_stmt *st = NULL;
	bool ok = true;
	if (m->types > sizeof few / sizeof *few && (type = malloc(m->types * sizeof *type)) == NULL)
		return cat_error(err, "53200", "out of memory");
	for (unsigned i = 0; ok && i < m->types; i++) {
		uint32_t oid = cn_pg_get32(&r);
		ok = cn_pg_type(oid, &type[i]) ||
		     cat_error(err, "0A000", "parameter $%u has the type with OID %u, which is not supported",
			 i + 1, oid);
	}
	ok = ok && sql_prepare(c->sql, m->text, strlen(m->text), type, m->types, &st, err);
	if (type != few)
		free(type);
	if (!ok)
		return false;
	if (m->name[0] != 0)
		return sql_stmt_name(c->sql, m->name, st, err);
	c->unnamed = st;
	return true;
}

void
cn_pg_parse(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_parse m;
	struct cat_err err = { 0 };
	if (!cn_pg_take_parse(body, n, &m)) {
		malformed(c);
		return;
	}
	if (m.name[0] == 0) {
		sql_stmt_close(c->unnamed);
		c->unnamed = NULL;
	}
	cn_pg_uncancel(c);
	if (m.name[0] != 0 && sql_stmt_named(c->sql, m.name, NULL) != NULL)
		cat_error(&err, "42P05", "prepared statement \"%.63s\" already exists", m.name);
	else if (prepare(c, &m, &err)) {
		plain(c, '1');
		return;
	}
	fail(c, &err);
}

/* ---- portals --------------------------------------------------------------------------- */

static void
reset_portal(struct cn_pg_portal *p)
{
	sql_cursor_close(p->cursor);
	p->cursor = NULL;
	sql_stmt_close(p->stmt);
	p->stmt = NULL;
	if (p->arena.used > 0)
		nam_arena_reset(&p->arena);
	p->param = NULL;
	p->format = NULL;
	p->params = p->columns = 0;
	p->ran = p->returns = false;
}

static struct cn_pg_portal **
find_portal(struct cn_pg_conn *c, const char *name)
{
	char cut[CAT_NAME_MAX + 1];
	struct cn_pg_portal **at = &c->portals;
	snprintf(cut, sizeof cut, "%s", name);
	while (*at != NULL && strcmp((*at)->name, cut) != 0)
		at = &(*at)->next;
	return at;
}

static void
drop_portal(struct cn_pg_portal **at)
{
	struct cn_pg_portal *p = *at;
	*at = p->next;
	reset_portal(p);
	nam_arena_fini(&p->arena);
	free(p);
}

void
cn_pg_drop_portals(struct cn_pg_conn *c)
{
	while (c->portals != NULL)
		drop_portal(&c->portals);
	if (c->portal.stmt != NULL)
		reset_portal(&c->portal);
}

/* An empty portal of that name; NULL: *err says why. */
static struct cn_pg_portal *
new_portal(struct cn_pg_conn *c, const char *name, struct cat_err *err)
{
	if (name[0] == 0) {
		reset_portal(&c->portal);
		return &c->portal;
	}
	struct cn_pg_portal **was = find_portal(c, name);
	if (*was != NULL && sql_cursor_dead((*was)->cursor))
		drop_portal(was);
	else if (*was != NULL) {
		cat_error(err, "42P03", "cursor \"%.63s\" already exists", name);
		return NULL;
	}
	struct cn_pg_portal *p = calloc(1, sizeof *p);
	if (p == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	snprintf(p->name, sizeof p->name, "%s", name);
	nam_arena_init(&p->arena, 2048);
	p->next = c->portals;
	c->portals = p;
	return p;
}

static struct cn_pg_portal *
the_portal(struct cn_pg_conn *c, const char *name, struct cat_err *err)
{
	struct cn_pg_portal *p = name[0] ? *find_portal(c, name) : &c->portal;
	bool dead = p != NULL && p->cursor != NULL && sql_cursor_dead(p->cursor);
	if (dead && sql_session_state(c->sql) == 'E') { /* it ends with the block */
		cat_error(err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
		return NULL;
	}
	if (p == NULL || p->stmt == NULL || dead) {
		cat_error(err, "34000", "portal \"%.63s\" does not exist", name);
		return NULL;
	}
	return p;
}

/* ---- Bind -------------------------------------------------------------------------------- */

/* A value of regclass or its kin: its text, of a binary oid too. The plan looks it up. */
static bool
name_in(int format, struct cat_str in, struct cat_datum *d, struct nam_arena *a, struct cat_err *err)
{
	d->type = CAT_TEXT;
	if (format == 0)
		return cn_pg_text_in(CAT_TEXT, in, &d->v, a, err);
	if (!cn_pg_binary_in(CAT_OID, in, &d->v, a, err))
		return false;
	d->v.s = cat_value_out(CAT_OID, d->v, a);
	return true;
}

static bool
parameters(struct cn_pg_portal *p, const struct cn_pg_bind *m, struct cat_err *err)
{
	const enum cat_type *type;
	unsigned want = sql_stmt_params(p->stmt, &type);
	if (m->params != want)
		return cat_error(err, "08P01",
		    "bind message supplies %u parameters, but prepared statement \"%.63s\" requires %u",
		    m->params, m->name, want);
	if (m->in.n > 1 && m->in.n != m->params)
		return cat_error(err, "08P01", "bind message has %u parameter formats but %u parameters",
		    m->in.n, m->params);
	p->params = want;
	p->param = nam_arena_take(&p->arena, (want + 1) * sizeof *p->param);
	size_t bytes = (size_t)(m->values.end - m->values.p);
	const char *copy = nam_arena_copy(&p->arena, m->values.p, bytes);
	if (p->param == NULL || copy == NULL)
		return cat_error(err, "53200", "out of memory");
	struct cn_pg_reader r = cn_pg_reader(copy, bytes);
	/* the statement looks names up, and tells the first parameter that is wrong */
	bool names = false;
	for (unsigned i = 0; i < want; i++) {
		struct cat_datum *d = &p->param[i];
		uint32_t len = cn_pg_get32(&r);
		int format = cn_pg_format(&m->in, i);
		*d = (struct cat_datum){ .type = sql_param_sent(type[i]), .null = len == UINT32_MAX };
		if (format < 0)
			return cat_error(err, "22023", "unsupported format code in a bind message");
		if (d->null) {
			if (cat_type_is_str(d->type))
				d->v.s = (struct cat_str){ "", 0 };
			continue;
		}
		struct cat_str in = { cn_pg_get_bytes(&r, len), len };
		if (cat_type_is_reg(type[i])) {
			names = true;
			if (!name_in(format, in, d, &p->arena, err))
				return false;
			continue;
		}
		/* This process may not know a label before the statement runs. */
		bool label = cat_type_is_enum(cat_type_element(type[i])), array = cat_type_is_array(type[i]);
		if (label)
			d->type = array && format != 0 ? cat_type_array_of(CAT_TEXT) : CAT_TEXT;
		if (label && array && format != 0) {
			if (!cn_pg_labels_in(type[i], in, &d->v, &p->arena, err))
				return false;
			continue;
		}
		if (!(format == 0 ? cn_pg_text_in(d->type, in, &d->v, &p->arena, err)
				  : cn_pg_binary_in(d->type, in, &d->v, &p->arena, err))) {
			if (names && format == 0 && in.p != NULL) {
				*err = (struct cat_err){ 0 };
				*d = (struct cat_datum){ .type = CAT_UNKNOWN, .v.s = in };
				continue;
			}
			if (err->detail[0] == 0 && strcmp(err->sqlstate, "22P03") == 0)
				snprintf(err->detail, sizeof err->detail, "It is the value of parameter $%u.",
				    i + 1);
			return false;
		}
	}
	return true;
}

static bool
result_formats(struct cn_pg_portal *p, const struct cn_pg_bind *m, struct cat_err *err)
{
	const struct sql_column *col;
	bool binary = false;
	p->columns = sql_stmt_columns(p->stmt, &col);
	if (m->out.n > 1 && m->out.n != p->columns)
		return cat_error(err, "08P01", "bind message has %u result formats but query has %u columns",
		    m->out.n, p->columns);
	for (unsigned k = 0; k < m->out.n; k++) {
		int f = cn_pg_format(&m->out, k);
		if (f < 0)
			return cat_error(err, "22023", "unsupported format code in a bind message");
		binary |= f == 1;
	}
	if (!binary)
		return true;
	if ((p->format = nam_arena_take(&p->arena, p->columns + 1)) == NULL)
		return cat_error(err, "53200", "out of memory");
	for (unsigned k = 0; k < p->columns; k++)
		p->format[k] = (uint8_t)cn_pg_format(&m->out, k);
	return true;
}

/* The portal as sql knows it, until its transaction ends. */
static bool
open_cursor(struct cn_pg_conn *c, struct cn_pg_portal *p, struct cat_err *err)
{
	sql_session_more(c->sql, true); /* until Sync, whether or not it has come */
	cn_pg_uncancel(c);
	return sql_portal_open(c->sql, p->name, p->stmt, p->param, p->params, &p->cursor, err);
}

void
cn_pg_bind(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_bind m;
	struct cat_err err = { 0 };
	if (!cn_pg_take_bind(body, n, &m)) {
		malformed(c);
		return;
	}
	struct sql_stmt *st = find_stmt(c, m.name, &err);
	if (st != NULL && sql_session_state(c->sql) == 'E' && !sql_stmt_ends(st)) {
		cat_error(&err, "25P02",
		    "current transaction is aborted, commands ignored until end of transaction block");
		st = NULL;
	}
	struct cn_pg_portal *p = st ? new_portal(c, m.portal, &err) : NULL;
	if (p != NULL) {
		p->stmt = sql_stmt_hold(st);
		if (parameters(p, &m, &err) && result_formats(p, &m, &err) &&
		    (p == &c->portal || open_cursor(c, p, &err))) {
			plain(c, '2');
			return;
		}
		if (p == &c->portal)
			reset_portal(p);
		else
			drop_portal(find_portal(c, m.portal));
	}
	fail(c, &err);
}

/* ---- Describe, Close ------------------------------------------------------------------------ */

/* The cursor that DECLARE made under that name: it is a portal as well. NULL = there is none. */
static struct sql_cursor *
declared(struct cn_pg_conn *c, const char *name)
{
	struct cn_pg_portal *p = name[0] ? *find_portal(c, name) : &c->portal;
	return p == NULL || (name[0] && sql_cursor_dead(p->cursor)) ? sql_cursor_named(c->sql, name) : NULL;
}

/* True if there is one. */
static bool
describe_cursor(struct cn_pg_conn *c, const char *name)
{
	const struct sql_column *col;
	const struct sql_cursor *cur = declared(c, name);
	if (cur == NULL)
		return false;
	unsigned n = sql_cursor_columns(cur, &col);
	cn_pg_row_description(&c->out, col, n, NULL);
	return true;
}

static void
describe_columns(struct cn_pg_conn *c, const struct sql_stmt *st, const uint8_t *format)
{
	const struct sql_column *col;
	unsigned n = sql_stmt_columns(st, &col);
	if (n == 0 && col == NULL)
		plain(c, 'n');
	else
		cn_pg_row_description(&c->out, col, n, format);
}

void
cn_pg_describe(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_named m;
	struct cat_err err = { 0 };
	if (!cn_pg_take_named(body, n, &m)) {
		malformed(c);
		return;
	}
	if (m.what == 'P' && describe_cursor(c, m.name))
		return;
	if (m.what == 'P') {
		struct cn_pg_portal *p = the_portal(c, m.name, &err);
		if (p == NULL)
			fail(c, &err);
		else
			describe_columns(c, p->stmt, p->format);
		return;
	}
	const enum cat_type *type;
	struct sql_stmt *st = find_stmt(c, m.name, &err);
	if (st == NULL) {
		fail(c, &err);
		return;
	}
	unsigned params = sql_stmt_params(st, &type);
	cn_pg_begin(&c->out, 't');
	cn_pg_put16(&c->out, (uint16_t)params);
	for (unsigned i = 0; i < params; i++)
		cn_pg_put32(&c->out, sql_stmt_param_oid(st, i));
	cn_pg_end(&c->out);
	describe_columns(c, st, NULL);
}

void
cn_pg_close_named(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_named m;
	if (!cn_pg_take_named(body, n, &m)) {
		malformed(c);
		return;
	}
	if (m.what == 'P' && m.name[0] == 0) {
		reset_portal(&c->portal);
	} else if (m.what == 'P') {
		struct cn_pg_portal **at = find_portal(c, m.name);
		sql_cursor_close(declared(c, m.name));
		if (*at != NULL)
			drop_portal(at);
	} else if (m.name[0] == 0) {
		sql_stmt_close(c->unnamed);
		c->unnamed = NULL;
	} else {
		sql_stmt_unname(c->sql, m.name);
	}
	plain(c, '3');
}

/* ---- Execute ------------------------------------------------------------------------- */

static bool
from_cursor(struct cn_pg_conn *c, struct sql_cursor *cur, uint32_t rows, struct cat_err *err)
{
	char tag[80];
	uint64_t got;
	bool end;
	if (!sql_cursor_fetch(cur, rows, &c->sink, &got, &end, err))
		return false;
	sql_cursor_tag(cur, got, tag, sizeof tag);
	if (end)
		cn_pg_complete(&c->out, tag);
	else
		plain(c, 's');
	return true;
}

/* Execute of a cursor that DECLARE made. */
static void
execute_cursor(struct cn_pg_conn *c, struct sql_cursor *cur, uint32_t rows)
{
	struct cat_err err = { 0 };
	cn_pg_reply_to(c, &c->out, NULL, false);
	if (!from_cursor(c, cur, rows, &err))
		fail(c, &err);
}

/* So many rows of a portal, 0 = all that are left. */
static bool
fetch(struct cn_pg_conn *c, struct cn_pg_portal *p, uint32_t rows, struct cat_err *err)
{
	size_t len;
	const char *text = sql_stmt_text(p->stmt, &len);
	cn_pg_reply_to(c, &c->out, p->format, false);
	cn_pg_activity_run(c, text, len);
	bool ok = (p->cursor != NULL || open_cursor(c, p, err)) && from_cursor(c, p->cursor, rows, err);
	cn_pg_activity_ran(c);
	return ok;
}

/* The statement as a whole. */
static bool
run(struct cn_pg_conn *c, struct cn_pg_portal *p, struct cat_err *err)
{
	/* If Sync is what comes next, the statement ends its implicit transaction itself. */
	bool sync = c->in_end - c->in_at >= 5 && c->in[c->in_at] == 'S';
	cn_pg_reply_to(c, &c->out, p->format, false);
	sql_session_more(c->sql, !sync);
	p->ran = true;
	p->returns = p->columns > 0;
	size_t len;
	const char *text = sql_stmt_text(p->stmt, &len);
	cn_pg_activity_run(c, text, len);
	if (p->cursor != NULL)
		sql_cursor_busy(p->cursor, true);
	bool ok = sql_run(c->sql, p->stmt, p->param, p->params, &c->sink, err);
	cn_pg_activity_ran(c);
	cn_pg_unkeep(c);
	if (p->cursor != NULL)
		sql_cursor_busy(p->cursor, false);
	return ok;
}

void
cn_pg_execute(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_execute m;
	struct cat_err err = { 0 };
	if (!cn_pg_take_execute(body, n, &m)) {
		malformed(c);
		return;
	}
	struct sql_cursor *cursor = declared(c, m.portal);
	if (cursor != NULL) {
		execute_cursor(c, cursor, m.rows);
		return;
	}
	struct cn_pg_portal *p = the_portal(c, m.portal, &err);
	bool ok = p != NULL;
	if (ok && p->ran && !p->returns)
		ok = cat_error(&err, "55000", "portal \"%.63s\" cannot be run", m.portal);
	else if (ok && p->ran)
		cn_pg_complete(&c->out, sql_stmt_nothing(p->stmt));
	else if (ok && p->columns > 0 && (p->cursor != NULL || m.rows > 0))
		ok = fetch(c, p, m.rows, &err);
	else if (ok)
		ok = run(c, p, &err);
	if (!ok)
		fail(c, &err);
}

void
cn_pg_sync(struct cn_pg_conn *c)
{
	struct cat_err err = { 0 };
	if (!sql_session_settle(c->sql, &c->sink, &err)) {
		c->look = true;
		cn_pg_failed(c, &err);
	}
	if (sql_session_state(c->sql) == 'I')
		cn_pg_drop_portals(c);
	if (!c->over)
		cn_pg_ready(c);
}
