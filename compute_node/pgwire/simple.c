/* simple.c -- the simple protocol: a text of statements, and all their answers. */
#include "pgwire_internal.h"

void
cn_pg_query(struct cn_pg_conn *c, const char *body, size_t n)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	const char *text = cn_pg_get_text(&r);
	struct cat_err err = { 0 };
	if (!cn_pg_whole(&r)) {
		cn_pg_fatal(c, "08P01", "invalid message format");
		return;
	}
	cn_pg_reply_to(c, &c->out, NULL, true);
	sql_session_more(c->sql, false);
	cn_pg_activity_run(c, text, n - 1);
	bool ok = sql_execute(c->sql, text, n - 1, &c->sink, &err);
	cn_pg_activity_ran(c);
	cn_pg_unkeep(c);
	if (!ok) {
		c->look = true;
		cn_pg_failed(c, &err);
	} else if (!c->reply.tagged) {
		cn_pg_begin(&c->out, 'I');
		cn_pg_end(&c->out);
	}
	if (sql_session_state(c->sql) == 'I')
		cn_pg_drop_portals(c);
	if (!c->over)
		cn_pg_ready(c);
}
