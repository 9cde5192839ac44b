/* error.c -- ErrorResponse and NoticeResponse. */
#include "pgwire_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void
field(struct cn_pg_out *o, char what, const char *text)
{
	if (text[0] == 0)
		return;
	cn_pg_put8(o, (uint8_t)what);
	cn_pg_puts(o, text);
}

/* The routine of PostgreSQL's that makes the error, where drivers go by it: pgjdbc, npgsql,
 * asyncpg and pgx prepare a statement again after these. "" = none does. */
static const char *
routine_of(const struct cat_err *err)
{
	static const char changed[] = "cached plan must not change result type";
	if (strcmp(err->sqlstate, "0A000") == 0 && strcmp(err->text, changed) == 0)
		return "RevalidateCachedQuery";
	if (strcmp(err->sqlstate, "26000") == 0)
		return "FetchPreparedStatement";
	return "";
}

static void
response(struct cn_pg_out *o, char type, const char *severity, const struct cat_err *err)
{
	char at[16] = "";
	if (err->position > 0)
		snprintf(at, sizeof at, "%d", err->position);
	cn_pg_begin(o, type);
	field(o, 'S', severity);
	field(o, 'V', severity);
	field(o, 'C', err->sqlstate);
	field(o, 'M', err->text[0] ? err->text : "unknown error");
	field(o, 'D', err->detail);
	field(o, 'H', err->hint);
	field(o, 'P', at);
	field(o, 'W', err->context);
	if (err->table[0] != 0)
		field(o, 's', "public"); /* the one schema with tables */
	field(o, 't', err->table);
	field(o, 'c', err->column);
	field(o, 'n', err->constraint);
	field(o, 'R', routine_of(err));
	cn_pg_put8(o, 0);
	cn_pg_end(o);
}

void
cn_pg_error(struct cn_pg_conn *c, const char *severity, const struct cat_err *err)
{
	response(&c->out, 'E', severity, err);
}

void
cn_pg_fatal(struct cn_pg_conn *c, const char *sqlstate, const char *fmt, ...)
{
	struct cat_err err = { 0 };
	va_list ap;
	if (c->over)
		return;
	memcpy(err.sqlstate, sqlstate, 5);
	va_start(ap, fmt);
	vsnprintf(err.text, sizeof err.text, fmt, ap);
	va_end(ap);
	cn_pg_error(c, "FATAL", &err);
	c->over = true;
}

void
cn_pg_notice(struct cn_pg_conn *c, const char *severity, const char *sqlstate, const char *text)
{
	struct cat_err err = { 0 };
	char buf[32];
	const char *least =
	    c->sql ? sql_session_setting(c->sql, "client_min_messages", buf, sizeof buf) : NULL;
	bool warning = strcmp(severity, "WARNING") == 0;
	if (least != NULL &&
	    (strcasecmp(least, "error") == 0 || (strcasecmp(least, "warning") == 0 && !warning)))
		return;
	memcpy(err.sqlstate, sqlstate, 5);
	snprintf(err.text, sizeof err.text, "%s", text);
	response(&c->out, 'N', severity, &err);
}

void
cn_pg_failed(struct cn_pg_conn *c, struct cat_err *err)
{
	struct cn_pg_reply *r = &c->reply;
	if (r->copy_failed && strcmp(err->sqlstate, "57014") == 0)
		*err = r->why;
	else if (!cn_pg_ordered(c))
		cn_reason(c->pg->cn, c->place, r->cut, r->doubt, err);
	if (cn_pg_ordered(c) && strcmp(err->sqlstate, "57014") == 0) {
		c->over = true; /* serve.c says why */
		return;
	}
	cn_pg_count_failure(c, err->sqlstate);
	cn_pg_error(c, strcmp(err->sqlstate, "57P01") == 0 ? "FATAL" : "ERROR", err);
	if (strcmp(err->sqlstate, "57P01") == 0)
		c->over = true;
}
