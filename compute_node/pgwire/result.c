/* result.c -- the sink of a session: columns, rows and tags as messages. */
#include "pgwire_internal.h"

#include <stdio.h>
#include <string.h>

void
cn_pg_row_description(struct cn_pg_out *o, const struct sql_column *col, unsigned n, const uint8_t *format)
{
	cn_pg_begin(o, 'T');
	cn_pg_put16(o, (uint16_t)n);
	for (unsigned k = 0; k < n; k++) {
		int32_t typmod = col[k].typmod;
		cn_pg_puts(o, col[k].name);
		cn_pg_put32(o, col[k].table);
		cn_pg_put16(o, col[k].number);
		cn_pg_put32(o, cn_pg_oid(col[k].type, typmod));
		cn_pg_put16(o, (uint16_t)cn_pg_size(col[k].type));
		cn_pg_put32(o, (uint32_t)cn_pg_typmod(col[k].type, typmod));
		cn_pg_put16(o, format ? format[k] : 0);
	}
	cn_pg_end(o);
}

void
cn_pg_complete(struct cn_pg_out *o, const char *tag)
{
	cn_pg_begin(o, 'C');
	cn_pg_puts(o, tag);
	cn_pg_end(o);
}

static bool
on_begin(void *arg, const struct sql_column *col, unsigned n)
{
	struct cn_pg_conn *c = arg;
	if (c->reply.describe)
		cn_pg_row_description(c->reply.to, col, n, NULL);
	return !c->dead;
}

/* A row of PostgreSQL's has at most 1664 columns; so has a result here. */
static bool
on_rows(void *arg, const struct sql_batch_view *b)
{
	struct cn_pg_conn *c = arg;
	struct cn_pg_out *o = c->reply.to;
	const uint8_t *format = c->reply.format;
	for (unsigned k = 0; k < b->n; k++) {
		cn_pg_begin(o, 'D');
		cn_pg_put16(o, (uint16_t)b->cols);
		for (unsigned j = 0; j < b->cols; j++) {
			const struct cat_vec *v = &b->col[j];
			if (v->null[k])
				cn_pg_put32(o, UINT32_MAX);
			else if (format != NULL && format[j] != 0)
				cn_pg_binary_out(o, v->type, cat_vec_at(v, k), &c->values);
			else
				cn_pg_text_out(o, v->type, cat_vec_at(v, k), b->floats, &c->values);
		}
		cn_pg_end(o);
		if (o == &c->out && !cn_pg_flush_much(c))
			return false;
	}
	if (c->values.used > 0)
		nam_arena_reset(&c->values);
	return !o->failed;
}

static bool
on_done(void *arg, const char *tag, uint64_t rows)
{
	struct cn_pg_conn *c = arg;
	struct cn_pg_reply *r = &c->reply;
	(void)rows;
	/* Verbs of a fenced process have no effect. So a success that they seem to show is not
	 * reported. */
	if (net_membership(cn_net(c->pg->cn)) == NET_FENCED) {
		r->cut = true;
		r->doubt = sql_session_state(c->sql) == 'I' && strncmp(tag, "SELECT", 6) != 0;
		return false;
	}
	if (tag[0] == 'R' || (tag[0] == 'S' && tag[1] == 'E' && tag[2] == 'T') ||
	    (tag[0] == 'D' && tag[1] == 'I'))
		c->look = true; /* SET, RESET, ROLLBACK, DISCARD */
	cn_pg_copy_end(c);
	r->tagged = true;
	if (tag[0] == 0) {
		cn_pg_begin(&c->out, 'I');
		cn_pg_end(&c->out);
	} else {
		cn_pg_complete(&c->out, tag);
	}
	return !c->dead;
}

static void
on_notice(void *arg, const char *severity, const char *sqlstate, const char *text)
{
	cn_pg_notice(arg, severity, sqlstate, text);
}

void
cn_pg_sink_init(struct cn_pg_conn *c)
{
	c->sink = (struct sql_sink){ .arg = c,
		.begin = on_begin,
		.rows = on_rows,
		.done = on_done,
		.notice = on_notice,
		.copy_in = cn_pg_copy_in,
		.copy_begin = cn_pg_copy_begin,
		.copy_out = cn_pg_copy_out };
}

void
cn_pg_reply_to(struct cn_pg_conn *c, struct cn_pg_out *to, const uint8_t *format, bool describe)
{
	c->reply.to = to;
	c->reply.format = format;
	c->reply.describe = describe;
	c->reply.tagged = c->reply.cut = c->reply.doubt = false;
	c->reply.copy_failed = c->reply.copying = c->reply.copy_out = false;
	/* A request to cancel what ran before means nothing now. */
	cn_pg_uncancel(c);
}
