/* serve.c -- a session's coroutine: one message after the other, until the client or the server
 * ends it. */
#include "pgwire_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

void
cn_pg_ready(struct cn_pg_conn *c)
{
	if (c->look)
		cn_pg_tell_settings(c);
	cn_pg_activity_wait(c);
	cn_pg_begin(&c->out, 'Z');
	cn_pg_put8(&c->out, (uint8_t)sql_session_state(c->sql));
	cn_pg_end(&c->out);
}

/* The doorkeeper ends the session if it waits for too long. */
static void
set_deadline(struct cn_pg_conn *c)
{
	bool idle = sql_session_state(c->sql) == 'I';
	uint64_t ms = idle ? c->idle_ms : c->idle_block_ms;
	uint64_t until = 0;
	c->waits = idle ? CN_PG_IDLE : CN_PG_IDLE_IN_BLOCK;
	if (ms > 0)
		until = net_now_ns(c->place->net) + ms * 1000000;
	atomic_store_explicit(&c->deadline, until, memory_order_relaxed);
}

/* A message is here: the deadline does not count any more. */
static void
clear_deadline(struct cn_pg_conn *c)
{
	if (atomic_load_explicit(&c->deadline, memory_order_relaxed) == 0)
		return;
	atomic_store(&c->deadline, 0);
}

/* Why the server ends the session. */
static void
say_farewell(struct cn_pg_conn *c)
{
	unsigned orders = atomic_load(&c->orders);
	if (c->dead || (orders == 0 && c->over))
		return;
	c->over = false;
	if (orders & CN_PG_SHUT)
		cn_pg_fatal(c, "57P01", "terminating connection due to administrator command");
	else if (orders & CN_PG_CROWDED)
		cn_pg_fatal(c, "53300", "%s", CN_PG_CROWDED_TEXT);
	else if ((orders & CN_PG_EXPIRED) && c->waits == CN_PG_IDLE_IN_BLOCK)
		cn_pg_fatal(c, "25P03", "terminating connection due to idle-in-transaction timeout");
	else if ((orders & CN_PG_EXPIRED) && c->waits == CN_PG_IDLE)
		cn_pg_fatal(c, "57P05", "terminating connection due to idle-session timeout");
}

static void
unknown_message(struct cn_pg_conn *c, char type)
{
	cn_pg_fatal(c, "08P01", "invalid frontend message type %d", (unsigned char)type);
}

static void
no_function_call(struct cn_pg_conn *c)
{
	struct cat_err err = { 0 };
	cat_error(&err, "0A000", "the protocol's function calls are not supported; call it with SELECT");
	cn_pg_error(c, "ERROR", &err);
	cn_pg_ready(c);
}

static void
one_message(struct cn_pg_conn *c, char type, const char *body, size_t n)
{
	if (c->skip && type != 'S' && type != 'X')
		return;
	switch (type) {
	case 'Q':
		cn_pg_query(c, body, n);
		break;
	case 'P':
		cn_pg_parse(c, body, n);
		break;
	case 'B':
		cn_pg_bind(c, body, n);
		break;
	case 'D':
		cn_pg_describe(c, body, n);
		break;
	case 'E':
		cn_pg_execute(c, body, n);
		break;
	case 'C':
		cn_pg_close_named(c, body, n);
		break;
	case 'S':
		c->skip = false;
		cn_pg_sync(c);
		break;
	case 'H':
		cn_pg_flush(c);
		break;
	case 'X':
		c->over = true;
		break;
	case 'F':
		no_function_call(c);
		break;
	case 'd':
	case 'c':
	case 'f':
		break; /* of a COPY that has failed meanwhile */
	default:
		unknown_message(c, type);
	}
}

static void
main_loop(struct cn_pg_conn *c)
{
	char type;
	const char *body;
	size_t n;
	while (!c->over && !cn_pg_ordered(c)) {
		if (c->idle_ms != 0 || c->idle_block_ms != 0)
			set_deadline(c);
		if (!cn_pg_message(c, &type, &body, &n))
			break;
		clear_deadline(c);
		one_message(c, type, body, n);
		if (type != 'S' && type != 'Q')
			continue;
		if (!cn_pg_flush(c))
			break;
		/* A client that sends on and on leaves turns to others. */
		if (c->in_at < c->in_end)
			nam_co_yield();
	}
}

static bool
enter(struct cn_pg_conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c };
	c->at->fds++;
	return epoll_ctl(c->at->epoll, EPOLL_CTL_ADD, c->fd, &ev) == 0 &&
	       (!c->wants_tls || cn_pg_tls_begin(c));
}

/* The first message that asks for a session: the doorkeeper has read it, or it comes under TLS. */
static bool
first_message(struct cn_pg_conn *c, const char **body, size_t *n)
{
	for (;;) {
		if (!cn_pg_need(c, 4))
			return false;
		int64_t len = cn_pg_body(c->in + c->in_at, CN_PG_START_MAX);
		if (len < 0 || !cn_pg_need(c, 4 + (size_t)len))
			break;
		*body = c->in + c->in_at + 4;
		*n = (size_t)len;
		c->in_at += 4 + (size_t)len;
		struct cn_pg_reader r = cn_pg_reader(*body, *n);
		cn_pg_get32(&r);
		uint32_t pid = cn_pg_get32(&r), key = cn_pg_get32(&r);
		switch (cn_pg_first(*body, *n)) {
		case CN_PG_WANTS_SESSION:
			return true;
		case CN_PG_WANTS_CANCEL:
			cn_pg_cancel(c->pg, pid, key);
			return false;
		case CN_PG_WANTS_GSS:
			cn_pg_put8(&c->out, 'N');
			continue;
		default:
			break;
		}
		break;
	}
	if (!c->dead && !cn_pg_ordered(c))
		cn_pg_fatal(c, "08P01", "invalid startup packet");
	return false;
}

static void
leave(struct cn_pg_conn *c)
{
	struct cn_pg_worker *at = c->at;
	pthread_mutex_lock(&c->pg->lock);
	c->co = NULL; /* nothing is posted to it from now on */
	pthread_mutex_unlock(&c->pg->lock);
	cn_pg_tls_end(c);
	/* What follows may park: nothing is to wake it for its socket. */
	epoll_ctl(at->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	at->fds--;
	cn_pg_drop_portals(c);
	nam_arena_fini(&c->portal.arena);
	sql_stmt_close(c->unnamed);
	sql_session_close(c->sql);
	nam_arena_fini(&c->values);
	atomic_fetch_sub(&at->sessions, 1);
	cn_pg_conn_close(c);
}

void
cn_pg_serve(const struct cn_place *place, void *arg)
{
	struct cn_pg_conn *c = arg;
	c->place = place;
	pthread_mutex_lock(&c->pg->lock);
	c->co = nam_co_self();
	pthread_mutex_unlock(&c->pg->lock);
	nam_arena_init(&c->values, 0);
	nam_arena_init(&c->portal.arena, 2048);
	cn_pg_sink_init(c);
	const char *body;
	size_t n;
	if (enter(c)) {
		if (first_message(c, &body, &n) && cn_pg_begin_session(c, body, n)) {
			atomic_store(&c->deadline, 0);
			main_loop(c);
		}
		say_farewell(c);
		atomic_store(&c->orders, 0);
		atomic_store(&c->deadline, 0);
		if (!c->dead)
			cn_pg_last_words(c);
	}
	leave(c);
}
