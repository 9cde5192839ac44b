/* io.c -- a session's socket: read and written without blocking, its coroutine parks meanwhile. */
#include "pgwire_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { IN_FIRST = 4096, RECV_LEAST = 1024 };

bool
cn_pg_ordered(const struct cn_pg_conn *c)
{
	return atomic_load_explicit(&c->orders, memory_order_relaxed) != 0;
}

void
cn_pg_uncancel(struct cn_pg_conn *c)
{
	atomic_store_explicit(
	    &c->cancel, cn_pg_ordered(c) ? SQL_CANCEL_ENDS : SQL_CANCEL_NONE, memory_order_relaxed);
}

bool
cn_pg_await(struct cn_pg_conn *c, unsigned events)
{
	while ((c->events & (events | EPOLLHUP | EPOLLERR)) == 0) {
		if (cn_pg_ordered(c))
			return false;
		nam_co_park();
	}
	return true;
}

static ssize_t
send_some(struct cn_pg_conn *c, unsigned *events)
{
	const char *p = c->out.p + c->out.at;
	size_t n = c->out.len - c->out.at;
	if (c->tls != NULL)
		return cn_pg_tls_send(c, p, n, events);
	return send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool
cn_pg_flush(struct cn_pg_conn *c)
{
	struct cn_pg_out *o = &c->out;
	if (o->failed)
		c->dead = true;
	while (!c->dead && o->at < o->len) {
		unsigned events = EPOLLOUT;
		c->events &= ~(unsigned)EPOLLOUT;
		ssize_t n = send_some(c, &events);
		if (n >= 0)
			o->at += (size_t)n;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			c->dead = !cn_pg_await(c, events);
		else if (errno != EINTR)
			c->dead = true;
	}
	o->msg = 0;
	cn_pg_out_empty(o, CN_PG_WARM);
	return !c->dead;
}

bool
cn_pg_flush_much(struct cn_pg_conn *c)
{
	return (c->out.len < CN_PG_SEND && !c->out.failed) || cn_pg_flush(c);
}

/* Room for n bytes at in_at, and for some at in_end. It grows as bytes come, not as a length says
 * that they will. */
static bool
make_room(struct cn_pg_conn *c, size_t n)
{
	size_t have = c->in_end - c->in_at;
	if (c->in_cap - c->in_end >= RECV_LEAST && c->in_cap - c->in_at >= n)
		return true;
	if (have > 0 && c->in_at > 0)
		memmove(c->in, c->in + c->in_at, have);
	c->in_at = 0;
	c->in_end = have;
	size_t cap = c->in_cap;
	if (have == 0 && cap > CN_PG_WARM && n <= IN_FIRST) {
		free(c->in);
		c->in = NULL;
		cap = c->in_cap = 0;
	}
	if (cap == 0)
		cap = IN_FIRST;
	else if (cap - have < RECV_LEAST)
		cap *= 2;
	if (cap == c->in_cap)
		return true;
	char *p = realloc(c->in, cap);
	if (p == NULL)
		return false;
	c->in = p;
	c->in_cap = cap;
	return true;
}

bool
cn_pg_need(struct cn_pg_conn *c, size_t n)
{
	unsigned wanted = EPOLLIN;
	while (c->in_end - c->in_at < n) {
		if (c->dead)
			return false;
		if (!make_room(c, n)) {
			cn_pg_fatal(c, "53200", "out of memory");
			return false;
		}
		if (c->drained && (c->events & (wanted | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) {
			if (!cn_pg_flush(c) || !cn_pg_await(c, wanted | EPOLLRDHUP))
				return false;
		}
		c->events &= ~wanted;
		wanted = EPOLLIN;
		size_t room = c->in_cap - c->in_end;
		ssize_t got = c->tls != NULL ? cn_pg_tls_recv(c, c->in + c->in_end, room, &wanted)
					     : recv(c->fd, c->in + c->in_end, room, MSG_DONTWAIT);
		if (got > 0) {
			c->in_end += (size_t)got;
			/* The event of bytes that come later is still to come. */
			c->drained = c->tls == NULL && (size_t)got < room && (c->events & EPOLLRDHUP) == 0;
		} else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			c->drained = true;
		} else if (got == 0 || errno != EINTR) {
			c->dead = true;
			return false;
		}
	}
	return true;
}

bool
cn_pg_message(struct cn_pg_conn *c, char *type, const char **body, size_t *n)
{
	if (!cn_pg_need(c, 5))
		return false;
	*type = c->in[c->in_at];
	int64_t len = cn_pg_body(c->in + c->in_at + 1, cn_pg_body_max(*type, c->pg->cfg.message_max));
	if (len < 0) {
		cn_pg_fatal(c, "08P01", "invalid message length");
		return false;
	}
	if (!cn_pg_need(c, 5 + (size_t)len))
		return false;
	*body = c->in + c->in_at + 5;
	*n = (size_t)len;
	c->in_at += 5 + (size_t)len;
	return true;
}

bool
cn_pg_keep(struct cn_pg_conn *c)
{
	size_t have = c->in_end - c->in_at, cap = IN_FIRST;
	if (c->kept != NULL)
		return true;
	while (cap < have + RECV_LEAST)
		cap *= 2;
	char *p = malloc(cap);
	if (p == NULL)
		return false;
	memcpy(p, c->in + c->in_at, have);
	c->kept = c->in;
	c->in = p;
	c->in_at = 0;
	c->in_end = have;
	c->in_cap = cap;
	return true;
}

void
cn_pg_unkeep(struct cn_pg_conn *c)
{
	free(c->kept);
	c->kept = NULL;
}

void
cn_pg_last_words(struct cn_pg_conn *c)
{
	struct cn_pg_out *o = &c->out;
	unsigned events;
	if (!o->failed && o->at < o->len)
		(void)!send_some(c, &events);
	cn_pg_out_fini(o);
}
