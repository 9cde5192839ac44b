/* listen.c -- the doorkeeper: a thread that accepts connections, reads the first message of each,
 * gives it to a worker, and looks at deadlines. */
#include "pgwire_internal.h"

#include <base/assert.h>
#include <base/clock.h>
#include <base/heap.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/remote.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	SESSIONS = 4096,       /* unless the configuration says otherwise */
	STRANGERS_LEAST = 512, /* not let in yet: as many as sessions, or so many */
	BACKLOG = 65535,       /* the system takes less (net.core.somaxconn) */
	ACCEPTS = 64,          /* in a row: then the doorkeeper reads first messages */
	FILES_APART = 256,     /* descriptors that are not for clients */
	DRAIN = 64 << 10,      /* bytes that are read of a refused client */
	START_MS = 60000,
	MESSAGE = 64 << 20,
	EVENTS = 256,
	NO_DESCRIPTOR_MS = 100,
};

/* ---- connections ---------------------------------------------------------------------- */

static struct cn_pg_conn **
bucket_of(struct cn_pg *pg, uint32_t pid)
{
	return &pg->by_pid[pid & (CN_PG_PIDS - 1)];
}

/* With the lock: takes it off the lists. */
static void
unlink_locked(struct cn_pg_conn *c)
{
	struct cn_pg_conn **at = bucket_of(c->pg, c->pid);
	while (*at != c)
		at = &(*at)->pid_next;
	*at = c->pid_next;
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	nam_crowd_leave(&c->pg->crowd, &c->crowd);
}

void
cn_pg_conn_close(struct cn_pg_conn *c)
{
	struct cn_pg *pg = c->pg;
	pthread_mutex_lock(&pg->lock);
	unlink_locked(c);
	pg->conns--;
	pg->given -= c->given;
	pg->sessions -= c->counted;
	pthread_cond_signal(&pg->fewer);
	pthread_mutex_unlock(&pg->lock);
	close(c->fd);
	free(c->in);
	free(c->kept);
	cn_pg_out_fini(&c->out);
	free(c);
}

/* With the lock. A session that ends stays one. */
static void
cancel_statement(struct cn_pg_conn *c)
{
	int none = SQL_CANCEL_NONE;
	atomic_compare_exchange_strong(&c->cancel, &none, SQL_CANCEL_STATEMENT);
}

void
cn_pg_cancel(struct cn_pg *pg, uint32_t pid, uint32_t key)
{
	pthread_mutex_lock(&pg->lock);
	for (struct cn_pg_conn *c = *bucket_of(pg, pid); c != NULL; c = c->pid_next)
		if (c->pid == pid && c->key == key && c->co != NULL)
			cancel_statement(c);
	pthread_mutex_unlock(&pg->lock);
}

/* With the lock: the session ends soon. */
static void
order_locked(struct cn_pg_conn *c, enum cn_pg_order what)
{
	atomic_fetch_or(&c->orders, what);
	atomic_store_explicit(&c->cancel, SQL_CANCEL_ENDS, memory_order_relaxed);
	if (c->co != NULL)
		nam_co_post(c->co);
}

enum sql_signaled
cn_pg_signal(void *arg, int32_t pid, bool end, const char *user)
{
	struct cn_pg *pg = arg;
	enum sql_signaled is = SQL_SIGNALED_NONE;
	pthread_mutex_lock(&pg->lock);
	for (struct cn_pg_conn *c = *bucket_of(pg, (uint32_t)pid); c != NULL; c = c->pid_next) {
		/* What it says of itself has been there before it began. */
		if (c->pid != (uint32_t)pid || c->co == NULL || !cn_pg_activity_began(c))
			continue;
		is = user == NULL                 ? SQL_SIGNALED
		     : c->super                   ? SQL_SIGNAL_OF_SUPER
		     : strcmp(c->user, user) != 0 ? SQL_SIGNAL_OF_OTHER
						  : SQL_SIGNALED;
		if (is == SQL_SIGNALED && end)
			order_locked(c, CN_PG_SHUT);
		else if (is == SQL_SIGNALED)
			cancel_statement(c);
	}
	pthread_mutex_unlock(&pg->lock);
	return is;
}

static uint64_t
start_deadline(const struct cn_pg *pg)
{
	return nam_clock_ns() + pg->cfg.start_ms * UINT64_C(1000000);
}

static bool
is_local(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
	if (a->ss_family == AF_UNIX)
		return true;
	if (a->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void
name_peer(struct cn_pg_conn *c, const struct sockaddr_storage *peer, socklen_t len)
{
	char port[8] = "";
	c->port = -1;
	if (peer->ss_family != AF_UNIX &&
	    getnameinfo((const struct sockaddr *)peer, len, c->peer, sizeof c->peer, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		c->port = atoi(port);
}

/* A new connection; takes fd. NULL: it is closed. */
static struct cn_pg_conn *
conn_new(struct cn_pg *pg, int fd, const struct sockaddr_storage *peer, socklen_t len)
{
	struct cn_pg_conn *c = calloc(1, sizeof *c);
	char *in = malloc(4096);
	if (c == NULL || in == NULL) {
		free(c);
		free(in);
		close(fd);
		return NULL;
	}
	c->pg = pg;
	c->fd = fd;
	c->local = is_local(peer);
	c->origin = nam_crowd_origin(peer);
	name_peer(c, peer, len);
	c->in = in;
	c->in_cap = 4096;
	nam_random_bytes(&c->key, sizeof c->key);
	atomic_store(&c->deadline, start_deadline(pg));
	pthread_mutex_lock(&pg->lock);
	c->pid = ++pg->next_pid & INT32_MAX;
	c->next = pg->first;
	c->link = &pg->first;
	if (pg->first != NULL)
		pg->first->link = &c->next;
	pg->first = c;
	c->pid_next = *bucket_of(pg, c->pid);
	*bucket_of(pg, c->pid) = c;
	pg->conns++;
	pthread_mutex_unlock(&pg->lock);
	return c;
}

/* ---- a connection before its session ----------------------------------------------------- */

static struct cn_pg_worker *
least_busy(struct cn_pg *pg)
{
	struct cn_pg_worker *best = &pg->worker[0];
	for (unsigned i = 1; i < pg->workers; i++)
		if (atomic_load(&pg->worker[i].sessions) < atomic_load(&best->sessions))
			best = &pg->worker[i];
	return best;
}

/* An answer to a stranger: it fits into the empty buffer of a new connection, or is lost. */
static void
say(struct cn_pg_conn *c, const char *p, size_t n)
{
	(void)!send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Bytes that no call reads would make the system reset the connection, and the client would miss
 * the answer. */
static void
refuse(struct cn_pg_conn *c, const char *sqlstate, const char *text)
{
	char rest[4096];
	cn_pg_fatal(c, sqlstate, "%s", text);
	if (!c->out.failed)
		say(c, c->out.p, c->out.len);
	shutdown(c->fd, SHUT_WR);
	for (int n = 0; n < DRAIN && recv(c->fd, rest, sizeof rest, MSG_DONTWAIT) > 0;)
		n += (int)sizeof rest;
	cn_pg_conn_close(c);
}

/* The database is not open, or not any more. */
static void
refuse_for_now(struct cn_pg_conn *c, const char *why)
{
	const struct cn_opening *o = c->pg->opening;
	unsigned restoring = o != NULL ? atomic_load(&o->restoring) : 0;
	char text[200];
	snprintf(text, sizeof text, "the database system is starting up%s%s", why[0] != 0 ? ": " : "", why);
	if (restoring > 0)
		snprintf(text, sizeof text,
		    "the database system is starting up: %u %% of the database is restored",
		    (restoring - 1) / 10);
	refuse(c, "57P03", text);
}

/* The first message is whole and asks for a session: from now on a worker owns the connection. tls:
 * it asks for TLS. */
static void
give_to_worker(struct cn_pg_conn *c, bool tls)
{
	struct cn_pg *pg = c->pg;
	struct cn_pg_worker *w = NULL;
	char why[sizeof pg->why] = "";
	bool known = false;
	pthread_mutex_lock(&pg->lock);
	if (pg->serving) {
		w = least_busy(pg);
		c->full = pg->sessions >= pg->cfg.sessions_max;
		c->given = true;
		pg->given++;
		known = c->crowd.of != NULL || nam_crowd_enter(&pg->crowd, &c->crowd, c->origin);
	} else {
		memcpy(why, pg->why, sizeof why);
	}
	pthread_mutex_unlock(&pg->lock);
	if (w == NULL) {
		refuse_for_now(c, why);
		return;
	}
	epoll_ctl(pg->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	if (tls)
		say(c, "S", 1);
	if (!known) {
		cn_pg_conn_close(c);
		return;
	}
	c->at = w;
	atomic_fetch_add(&w->sessions, 1);
	if (cn_start(pg->cn, (unsigned)(w - pg->worker), cn_pg_serve, c, 0) != NAM_OK) {
		atomic_fetch_sub(&w->sessions, 1);
		cn_pg_conn_close(c);
	}
}

bool
cn_pg_admit(struct cn_pg_conn *c)
{
	struct cn_pg *pg = c->pg;
	pthread_mutex_lock(&pg->lock);
	bool room = pg->sessions < pg->cfg.sessions_max;
	if (room) {
		nam_crowd_leave(&pg->crowd, &c->crowd);
		c->counted = true;
		pg->sessions++;
	}
	pthread_mutex_unlock(&pg->lock);
	if (!room)
		cn_pg_fatal(c, "53300", "sorry, too many clients already");
	return room;
}

/* Looks at a whole first message of n bytes. True: the connection still is the doorkeeper's. */
static bool
first_message(struct cn_pg_conn *c, size_t n)
{
	const char *body = c->in + c->in_at + 4;
	char text[120];
	struct cn_pg_reader r = cn_pg_reader(body, n);
	uint32_t code = cn_pg_get32(&r);
	switch (cn_pg_first(body, n)) {
	case CN_PG_WANTS_SESSION:
		give_to_worker(c, false);
		return false;
	case CN_PG_WANTS_TLS:
		/* What has come behind the request did not come under TLS. */
		if (c->pg->cfg.cert != NULL && c->in_end - c->in_at > 4 + n) {
			refuse(c, "08P01", "received unencrypted data after SSL request");
			return false;
		}
		if (c->pg->cfg.cert != NULL) {
			c->in_at += 4 + n;
			c->wants_tls = true;
			give_to_worker(c, true);
			return false;
		}
		/* fall through */
	case CN_PG_WANTS_GSS:
		c->in_at += 4 + n;
		say(c, "N", 1);
		return true;
	case CN_PG_WANTS_CANCEL: {
		uint32_t pid = cn_pg_get32(&r);
		cn_pg_cancel(c->pg, pid, cn_pg_get32(&r));
		cn_pg_conn_close(c);
		return false;
	}
	case CN_PG_WANTS_OLD:
		snprintf(text, sizeof text, "unsupported frontend protocol %u.%u: server supports 3.0 to 3.0",
		    code >> 16, code & 0xffff);
		refuse(c, "0A000", text);
		return false;
	case CN_PG_WANTS_NOTHING:
		break;
	}
	refuse(c, "08P01", "invalid length of startup packet");
	return false;
}

/* Reads what has come. True: the connection still is the doorkeeper's. */
static bool
read_stranger(struct cn_pg_conn *c)
{
	for (;;) {
		size_t have = c->in_end - c->in_at;
		int64_t n = have >= 4 ? cn_pg_body(c->in + c->in_at, CN_PG_START_MAX) : 0;
		if (n < 0) {
			refuse(c, "08P01", "invalid length of startup packet");
			return false;
		}
		if (have >= 4 && have >= 4 + (size_t)n) {
			if (!first_message(c, (size_t)n))
				return false;
			continue;
		}
		if (c->in_cap == c->in_end) {
			char *p = realloc(c->in, CN_PG_START_MAX + 4096);
			if (p == NULL || c->in_cap >= CN_PG_START_MAX + 4096) {
				c->in = p ? p : c->in;
				cn_pg_conn_close(c);
				return false;
			}
			c->in = p;
			c->in_cap = CN_PG_START_MAX + 4096;
		}
		ssize_t got = recv(c->fd, c->in + c->in_end, c->in_cap - c->in_end, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (got <= 0) {
			cn_pg_conn_close(c);
			return false;
		}
		c->in_end += (size_t)got;
	}
}

/* The first of those that are to go, off the crowd; NULL = none. One that a worker owns is told by
 * its session. */
static struct cn_pg_conn *
take_out(struct cn_pg *pg, unsigned most)
{
	struct cn_pg_conn *out = NULL;
	pthread_mutex_lock(&pg->lock);
	while (out == NULL && pg->crowd.count > most) {
		struct nam_in_crowd *m = nam_crowd_first_to_go(&pg->crowd);
		struct cn_pg_conn *c = (struct cn_pg_conn *)((char *)m - offsetof(struct cn_pg_conn, crowd));
		nam_crowd_leave(&pg->crowd, m);
		if (c->given)
			order_locked(c, CN_PG_CROWDED);
		else
			out = c;
	}
	pthread_mutex_unlock(&pg->lock);
	return out;
}

/* Until there are no more than so many strangers. No event of a connection may be pending. */
static void
thin_out(struct cn_pg *pg, unsigned most)
{
	static _Atomic uint64_t said;
	unsigned n = 0;
	for (struct cn_pg_conn *c; (c = take_out(pg, most)) != NULL; n++)
		refuse(c, "53300", CN_PG_CROWDED_TEXT);
	uint64_t now = nam_clock_ns();
	if (n > 0 && now - atomic_load(&said) > UINT64_C(1000000000)) {
		atomic_store(&said, now);
		nam_log(NAM_LOG_WARN, "more than %u clients wait to be let in: the oldest are refused", most);
	}
}

/* A new client. What it has sent already is read at once, so a request to cancel takes no place. */
static void
receive(struct cn_pg *pg, int fd, const struct sockaddr_storage *peer, socklen_t len)
{
	struct cn_pg_conn *c = conn_new(pg, fd, peer, len);
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	if (c == NULL || !read_stranger(c))
		return;
	pthread_mutex_lock(&pg->lock);
	bool in = nam_crowd_enter(&pg->crowd, &c->crowd, c->origin);
	pthread_mutex_unlock(&pg->lock);
	if (!in || epoll_ctl(pg->epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		cn_pg_conn_close(c);
}

/* No descriptor is left: a stranger gives its own, else the newest client is told. */
static void
no_descriptor(struct cn_pg *pg, int listener)
{
	static const struct timespec nap = { .tv_nsec = NO_DESCRIPTOR_MS * 1000000L };
	pthread_mutex_lock(&pg->lock);
	unsigned strangers = pg->crowd.count;
	pthread_mutex_unlock(&pg->lock);
	nam_log(NAM_LOG_WARN, "cannot accept a client (%m): raise the limit on open files (ulimit -n)");
	if (strangers > 0) {
		pg->thin_to = strangers - 1;
		return;
	}
	if (pg->spare >= 0)
		close(pg->spare);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct cn_pg_conn c = { .pg = pg, .fd = fd };
	if (fd >= 0) {
		cn_pg_fatal(&c, "53300", "sorry, too many clients already: no descriptor is left");
		if (!c.out.failed)
			say(&c, c.out.p, c.out.len);
		cn_pg_out_fini(&c.out);
		close(fd);
	}
	pg->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		nanosleep(&nap, NULL);
}

static void
accept_some(struct cn_pg *pg, int listener)
{
	for (int i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage peer = { .ss_family = AF_UNIX };
		socklen_t len = sizeof peer;
		int one = 1;
		int fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
			no_descriptor(pg, listener);
			return;
		}
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		if (peer.ss_family != AF_UNIX) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
			setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
		}
		receive(pg, fd, &peer, len);
	}
}

/* ---- the doorkeeper's thread --------------------------------------------------------------- */

/* Sessions whose deadline has passed are told; strangers are closed. */
static void
sweep(struct cn_pg *pg)
{
	uint64_t now = nam_clock_ns();
	struct cn_pg_conn *late[EVENTS];
	unsigned n = 0;
	pthread_mutex_lock(&pg->lock);
	for (struct cn_pg_conn *c = pg->first; c != NULL; c = c->next) {
		uint64_t d = atomic_load_explicit(&c->deadline, memory_order_relaxed);
		if (d == 0 || d > now)
			continue;
		if (c->given && atomic_compare_exchange_strong(&c->deadline, &d, 0))
			order_locked(c, CN_PG_EXPIRED);
		else if (!c->given && n < EVENTS)
			late[n++] = c;
	}
	pthread_mutex_unlock(&pg->lock);
	while (n > 0)
		cn_pg_conn_close(late[--n]);
}

static void
end_all(struct cn_pg *pg)
{
	struct cn_pg_conn *c, *next;
	for (unsigned i = 0; i < pg->listeners; i++)
		close(pg->listener[i]);
	pg->listeners = 0;
	if (pg->socket_path != NULL)
		unlink(pg->socket_path);
	pthread_mutex_lock(&pg->lock);
	struct cn_pg_conn *strangers = NULL;
	for (c = pg->first; c != NULL; c = next) {
		next = c->next;
		if (c->given) {
			order_locked(c, CN_PG_SHUT);
			continue;
		}
		*c->link = c->next;
		if (c->next != NULL)
			c->next->link = c->link;
		c->next = strangers;
		c->link = &strangers;
		if (strangers != NULL)
			strangers->link = &c->next;
		strangers = c;
	}
	pthread_mutex_unlock(&pg->lock);
	while (strangers != NULL)
		refuse(strangers, "57P03", "the database system is shutting down");
}

static bool
is_listener(const struct cn_pg *pg, const void *p)
{
	return (const char *)p >= (const char *)pg->listener &&
	       (const char *)p < (const char *)(pg->listener + CN_PG_LISTENERS);
}

static void *
doorkeeper(void *arg)
{
	struct cn_pg *pg = arg;
	struct epoll_event ev[EVENTS];
	uint64_t swept = 0;
	nam_heap_enter();
	while (!atomic_load(&pg->stopping)) {
		pthread_mutex_lock(&pg->lock);
		bool any = pg->first != NULL;
		pthread_mutex_unlock(&pg->lock);
		int n = epoll_wait(pg->epoll, ev, EVENTS, any ? CN_PG_SWEEP_MS : -1);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.ptr == pg)
				continue; /* `wake`: stopping is set */
			if (is_listener(pg, ev[i].data.ptr))
				accept_some(pg, *(int *)ev[i].data.ptr);
			else
				read_stranger(ev[i].data.ptr);
		}
		thin_out(pg, pg->thin_to);
		pg->thin_to = pg->strangers_max;
		uint64_t now = nam_clock_ns();
		if (now - swept >= CN_PG_SWEEP_MS * UINT64_C(1000000)) {
			swept = now;
			sweep(pg);
		}
	}
	end_all(pg);
	return NULL;
}

/* ---- a worker's part ------------------------------------------------------------------------ */

/* An idle hook: wakes the sessions whose sockets have changed. */
static void
look_at_sockets(void *arg)
{
	struct cn_pg_worker *w = arg;
	struct epoll_event ev[EVENTS];
	int n = w->fds > 0 ? epoll_wait(w->epoll, ev, EVENTS, 0) : 0;
	for (int i = 0; i < n; i++) {
		struct cn_pg_conn *c = ev[i].data.ptr;
		c->events |= ev[i].events;
		nam_co_wake(c->co);
	}
}

static void
told(struct cn_pg *pg)
{
	pthread_mutex_lock(&pg->lock);
	pg->set_up++;
	pthread_cond_signal(&pg->fewer);
	pthread_mutex_unlock(&pg->lock);
}

static void
set_up_worker(const struct cn_place *place, void *arg)
{
	struct cn_pg_worker *w = arg;
	w->net = place->net;
	net_worker_on_idle(w->net, look_at_sockets, w);
	net_worker_wakes_on(w->net, w->epoll);
	told(w->pg);
}

static void
take_down_worker(const struct cn_place *place, void *arg)
{
	struct cn_pg_worker *w = arg;
	net_worker_wakes_on(place->net, -1);
	net_worker_off_idle(place->net, look_at_sockets, w);
	told(w->pg);
}

/* Runs fn on the first n workers, and waits for it. */
static bool
on_workers(struct cn_pg *pg, unsigned n, void (*fn)(const struct cn_place *place, void *arg))
{
	unsigned started = 0;
	pg->set_up = 0;
	while (started < n && cn_start(pg->cn, started, fn, &pg->worker[started], 0) == NAM_OK)
		started++;
	pthread_mutex_lock(&pg->lock);
	while (pg->set_up < started)
		pthread_cond_wait(&pg->fewer, &pg->lock);
	pthread_mutex_unlock(&pg->lock);
	return started == n;
}

/* ---- listening ------------------------------------------------------------------------------- */

static nam_status
add_listener(struct cn_pg *pg, int fd, struct nam_err *err)
{
	pg->listener[pg->listeners] = fd;
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &pg->listener[pg->listeners] };
	pg->listeners++;
	if (listen(fd, BACKLOG) != 0 || epoll_ctl(pg->epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		return nam_fail(err, NAM_IO, "cannot listen for clients (%m)");
	return NAM_OK;
}

static nam_status
listen_at(struct cn_pg *pg, const struct addrinfo *a, const char *where, struct nam_err *err)
{
	int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return nam_fail(err, NAM_IO, "cannot make a socket (%m)");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	if (bind(fd, a->ai_addr, a->ai_addrlen) != 0) {
		int e = errno;
		close(fd);
		errno = e;
		return nam_fail(err, NAM_IO, "cannot listen at %s (%m)%s", where,
		    e == EADDRINUSE ? "; another program does: choose another port with --pg" : "");
	}
	struct sockaddr_storage at = { 0 };
	memcpy(&at, a->ai_addr, a->ai_addrlen);
	pg->open |= !is_local(&at);
	return add_listener(pg, fd, err);
}

/* The address with the port that the system has chosen. */
static unsigned
name_address(struct cn_pg *pg, const char *host)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof a;
	char port[8] = "0";
	if (getsockname(pg->listener[0], (struct sockaddr *)&a, &len) == 0)
		getnameinfo((struct sockaddr *)&a, len, NULL, 0, port, sizeof port, NI_NUMERICSERV);
	snprintf(pg->address, sizeof pg->address, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return (unsigned)atoi(port);
}

static nam_status
listen_tcp(struct cn_pg *pg, unsigned *port_out, struct nam_err *err)
{
	char host[100], port[16];
	const struct addrinfo want = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	nam_status st = net_split_address(pg->cfg.listen, host, sizeof host, port, sizeof port, err);
	if (st != NAM_OK)
		return st;
	int e = getaddrinfo(host, port, &want, &list);
	if (e != 0)
		return nam_fail(
		    err, NAM_INVALID, "cannot listen at %.100s: %s", pg->cfg.listen, gai_strerror(e));
	for (struct addrinfo *a = list; a != NULL && st == NAM_OK; a = a->ai_next) {
		if (pg->listeners == 0 || strcmp(port, "0") != 0)
			st = listen_at(pg, a, pg->cfg.listen, err);
	}
	freeaddrinfo(list);
	if (st == NAM_OK)
		*port_out = name_address(pg, host);
	return st;
}

static nam_status
listen_unix(struct cn_pg *pg, unsigned port, struct nam_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path, sizeof a.sun_path, "%s/.s.PGSQL.%u", pg->cfg.socket_dir, port);
	if (n < 0 || (size_t)n >= sizeof a.sun_path)
		return nam_fail(
		    err, NAM_INVALID, "the path %.60s... is too long for a socket", pg->cfg.socket_dir);
	/* A socket on which no process listens is left over from one that was killed. */
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool taken = probe >= 0 && connect(probe, (struct sockaddr *)&a, sizeof a) == 0;
	bool stale = !taken && errno == ECONNREFUSED;
	if (probe >= 0)
		close(probe);
	if (taken)
		return nam_fail(
		    err, NAM_IO, "another program listens at %s; choose another port with --pg", a.sun_path);
	if (stale)
		unlink(a.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0) {
		nam_fail(err, NAM_IO, "cannot make the socket %s (%m)", a.sun_path);
		if (fd >= 0)
			close(fd);
		return NAM_IO;
	}
	chmod(a.sun_path, 0777);
	pg->socket_path = strdup(a.sun_path);
	return add_listener(pg, fd, err);
}

static nam_status
open_ends(struct cn_pg *pg, struct nam_err *err)
{
	unsigned port = 5432;
	nam_status st = NAM_OK;
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = pg };
	pg->epoll = epoll_create1(EPOLL_CLOEXEC);
	pg->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pg->epoll < 0 || pg->wake < 0 || epoll_ctl(pg->epoll, EPOLL_CTL_ADD, pg->wake, &ev) != 0)
		return nam_fail(err, NAM_IO, "cannot make an epoll (%m)");
	if (pg->cfg.listen != NULL)
		st = listen_tcp(pg, &port, err);
	if (st == NAM_OK && pg->cfg.socket_dir != NULL)
		st = listen_unix(pg, port, err);
	return st;
}

/* How many strangers there may be: as many as sessions, if the descriptors are enough. */
static unsigned
strangers_max(const struct cn_pg *pg)
{
	struct rlimit files;
	unsigned most = pg->cfg.sessions_max > STRANGERS_LEAST ? pg->cfg.sessions_max : STRANGERS_LEAST;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
		return most;
	uint64_t n = files.rlim_cur > 2 * FILES_APART ? files.rlim_cur - FILES_APART : FILES_APART;
	uint64_t left = n > pg->cfg.sessions_max ? n - pg->cfg.sessions_max : 0;
	if (left < n / 4)
		left = n / 4;
	return left < most ? (unsigned)left : most;
}

static void
release(struct cn_pg *pg)
{
	for (unsigned i = 0; i < pg->listeners; i++)
		close(pg->listener[i]);
	for (unsigned i = 0; i < pg->workers; i++)
		if (pg->worker[i].epoll >= 0)
			close(pg->worker[i].epoll);
	if (pg->epoll >= 0)
		close(pg->epoll);
	if (pg->wake >= 0)
		close(pg->wake);
	if (pg->spare >= 0)
		close(pg->spare);
	if (pg->socket_path != NULL && pg->listeners > 0)
		unlink(pg->socket_path);
	free(pg->worker);
	free(pg->socket_path);
	cn_pg_tls_close(pg->tls);
	pthread_mutex_destroy(&pg->lock);
	pthread_cond_destroy(&pg->fewer);
	free(pg);
}

nam_status
cn_pg_open(
    struct cn_pg **out, const struct cn_pg_config *cfg, struct cn_opening *opening, struct nam_err *err)
{
	struct cn_pg *pg = calloc(1, sizeof *pg);
	if (pg == NULL)
		return nam_fail(err, NAM_NOMEM, "out of memory");
	pg->opening = opening;
	pg->cfg = *cfg;
	pg->cfg.sessions_max = cfg->sessions_max ? cfg->sessions_max : SESSIONS;
	pg->cfg.message_max = cfg->message_max ? cfg->message_max : MESSAGE;
	pg->cfg.start_ms = cfg->start_ms ? cfg->start_ms : START_MS;
	pg->strangers_max = pg->thin_to = strangers_max(pg);
	pg->epoll = pg->wake = -1;
	pg->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pthread_mutex_init(&pg->lock, NULL);
	pthread_condattr_t steady;
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&pg->fewer, &steady);
	pthread_condattr_destroy(&steady);
	nam_random_bytes(pg->mock_key, sizeof pg->mock_key);
	cn_pg_peers_init(pg);
	nam_status st = NAM_OK;
	if (cfg->require_tls && cfg->cert == NULL)
		st = nam_fail(err, NAM_INVALID,
		    "TLS can be required only where it is offered: give --pg-cert and --pg-key");
	if (st == NAM_OK && (cfg->cert != NULL || cfg->key != NULL))
		st = cn_pg_tls_open(&pg->tls, cfg->cert, cfg->key, err);
	if (st == NAM_OK)
		st = open_ends(pg, err);
	if (st == NAM_OK && pthread_create(&pg->doorkeeper, NULL, doorkeeper, pg) != 0)
		st = nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
	if (st != NAM_OK) {
		release(pg);
		return st;
	}
	pthread_setname_np(pg->doorkeeper, "namdb-doorkeep");
	*out = pg;
	return NAM_OK;
}

static nam_status
make_workers(struct cn_pg *pg, unsigned n, struct nam_err *err)
{
	if ((pg->worker = calloc(n, sizeof *pg->worker)) == NULL)
		return nam_fail(err, NAM_NOMEM, "out of memory");
	for (unsigned i = 0; i < n; i++) {
		pg->worker[i].pg = pg;
		pg->worker[i].epoll = -1;
	}
	pg->workers = n;
	for (unsigned i = 0; i < n; i++)
		if ((pg->worker[i].epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
			return nam_fail(err, NAM_IO, "cannot make an epoll (%m)");
	return NAM_OK;
}

nam_status
cn_pg_start(struct cn_pg *pg, struct cn *cn, struct nam_err *err)
{
	nam_status st = pg->worker == NULL ? make_workers(pg, cn_workers(cn), err) : NAM_OK;
	if (st != NAM_OK)
		return st;
	NAM_ASSERT(pg->workers == cn_workers(cn));
	pg->cn = cn;
	if (!on_workers(pg, pg->workers, set_up_worker)) {
		on_workers(pg, pg->workers, take_down_worker);
		pg->cn = NULL;
		return nam_fail(err, NAM_NOMEM, "out of memory");
	}
	pthread_mutex_lock(&pg->lock);
	pg->serving = true;
	pthread_mutex_unlock(&pg->lock);
	return NAM_OK;
}

void
cn_pg_resting(struct cn_pg *pg, const char *why)
{
	pthread_mutex_lock(&pg->lock);
	snprintf(pg->why, sizeof pg->why, "%s", why);
	pthread_mutex_unlock(&pg->lock);
}

bool
cn_pg_rest(struct cn_pg *pg, const char *why, unsigned ms)
{
	struct timespec until;
	int e = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	cn_pg_resting(pg, why);
	cn_ending(pg->cn);
	pthread_mutex_lock(&pg->lock);
	pg->serving = false;
	for (struct cn_pg_conn *c = pg->first; c != NULL; c = c->next)
		if (c->given)
			order_locked(c, CN_PG_SHUT);
	while (pg->given > 0 && e != ETIMEDOUT)
		e = pthread_cond_timedwait(&pg->fewer, &pg->lock, &until);
	bool ended = pg->given == 0;
	pthread_mutex_unlock(&pg->lock);
	if (!ended)
		return false;
	on_workers(pg, pg->workers, take_down_worker);
	pg->cn = NULL;
	return true;
}

void
cn_pg_close(struct cn_pg *pg)
{
	uint64_t one = 1;
	if (pg == NULL)
		return;
	if (pg->cn != NULL)
		cn_ending(pg->cn);
	atomic_store(&pg->stopping, true);
	(void)!write(pg->wake, &one, sizeof one);
	pthread_join(pg->doorkeeper, NULL);
	pthread_mutex_lock(&pg->lock);
	while (pg->conns > 0)
		pthread_cond_wait(&pg->fewer, &pg->lock);
	pthread_mutex_unlock(&pg->lock);
	if (pg->cn != NULL)
		on_workers(pg, pg->workers, take_down_worker);
	release(pg);
}

nam_status
cn_pg_reload(struct cn_pg *pg, struct nam_err *err)
{
	struct ssl_ctx_st *new, *old;
	if (pg->cfg.cert == NULL)
		return NAM_OK;
	nam_status st = cn_pg_tls_open(&new, pg->cfg.cert, pg->cfg.key, err);
	if (st != NAM_OK)
		return st;
	pthread_mutex_lock(&pg->lock);
	old = pg->tls;
	pg->tls = new;
	pthread_mutex_unlock(&pg->lock);
	cn_pg_tls_close(old); /* sessions that have it hold it */
	return NAM_OK;
}

bool
cn_pg_in_the_clear(const struct cn_pg *pg)
{
	return pg->open && pg->cfg.cert == NULL;
}

bool
cn_pg_trusts_beside(const struct cn_pg *pg)
{
	return pg->open && !pg->cfg.passwords;
}

const char *
cn_pg_address(const struct cn_pg *pg)
{
	return pg->address;
}

unsigned
cn_pg_sessions(struct cn_pg *pg)
{
	pthread_mutex_lock(&pg->lock);
	unsigned n = pg->sessions;
	pthread_mutex_unlock(&pg->lock);
	return n;
}
