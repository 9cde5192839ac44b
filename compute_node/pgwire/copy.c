/* copy.c -- COPY FROM STDIN and COPY TO STDOUT as messages. */
#include "pgwire_internal.h"

#include <stdio.h>
#include <string.h>

bool
cn_pg_copy_begin(void *arg, bool out, unsigned columns)
{
	struct cn_pg_conn *c = arg;
	cn_pg_begin(&c->out, out ? 'H' : 'G');
	cn_pg_put8(&c->out, 0);
	cn_pg_put16(&c->out, (uint16_t)columns);
	for (unsigned k = 0; k < columns; k++)
		cn_pg_put16(&c->out, 0);
	cn_pg_end(&c->out);
	c->reply.copy_out = out;
	c->reply.in_quotes = false;
	c->reply.copying = !out;
	if (out)
		return !c->dead;
	return cn_pg_keep(c) && cn_pg_flush(c);
}

static bool
gave_up(struct cn_pg_conn *c, const char *sqlstate, const char *what, const char *why)
{
	c->reply.copying = false;
	c->reply.copy_failed = true;
	return cat_error(&c->reply.why, sqlstate, "%s%.300s", what, why);
}

bool
cn_pg_copy_in(void *arg, const char **bytes, size_t *len)
{
	struct cn_pg_conn *c = arg;
	char type, what[80];
	struct cn_pg_reader r;
	*bytes = "";
	*len = 0;
	while (c->reply.copying) {
		if (!cn_pg_message(c, &type, bytes, len))
			return false;
		switch (type) {
		case 'd':
			if (*len > 0)
				return true;
			break;
		case 'c':
			c->reply.copying = false;
			break;
		case 'f':
			r = cn_pg_reader(*bytes, *len);
			return gave_up(c, "57014", "COPY from stdin failed: ", cn_pg_get_text(&r));
		case 'H':
		case 'S':
			break; /* a client of the extended protocol may not know that it is COPY */
		default:
			snprintf(what, sizeof what, "unexpected message type 0x%02X during COPY from stdin",
			    (unsigned char)type);
			return gave_up(c, "08P01", what, "");
		}
	}
	*len = 0;
	return true;
}

/* One CopyData for each row: drivers count on it. A line may end inside of a CSV value; then it
 * goes on in the same message. */
bool
cn_pg_copy_out(void *arg, const char *bytes, size_t len)
{
	struct cn_pg_conn *c = arg;
	size_t at = 0;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '"')
			c->reply.in_quotes = !c->reply.in_quotes;
		if (i + 1 < len && (bytes[i] != '\n' || c->reply.in_quotes))
			continue;
		cn_pg_begin(&c->out, 'd');
		cn_pg_put(&c->out, bytes + at, i + 1 - at);
		cn_pg_end(&c->out);
		at = i + 1;
		if (!cn_pg_flush_much(c))
			return false;
	}
	return true;
}

void
cn_pg_copy_end(struct cn_pg_conn *c)
{
	if (!c->reply.copy_out)
		return;
	c->reply.copy_out = false;
	cn_pg_begin(&c->out, 'c');
	cn_pg_end(&c->out);
}
