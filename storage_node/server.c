/*
 * server.c -- the storage node's server: one event loop that accepts, shakes hands and beats.
 * Streams are served by loops of their own (streams.c).
 *
 * A stranger (a peer that has not proved the secret) costs one small struct; limits keep strangers
 * few and short-lived. A peer that sends invalid bytes is dropped with one line in the log; the
 * others are not affected.
 */
#include <base/clock.h>
#include <base/core.h>
#include <base/hash.h>
#include <base/log.h>
#include <net/local.h>
#include <net/provider/rdma.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/ring_qp.h>
#include <storage_node/server_internal.h>
#include <storage_node/shard.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	STRANGERS_MIN = 128, /* by TCP, and as many by the UNIX socket; or ... */
	STRANGERS_PART = 16, /* ... this part of the peers allowed */
	PEERS_MAX = 16384,
	HANDSHAKE_MS = 5000,
	BEAT_NS = 10000000,
	LOG_PER_SECOND = 10,
	EVENTS = 64,
	LOOKS_BEFORE_SLEEP = 16, /* after a message: more is likely to come within microseconds */
};

static void
count_one(atomic_uint_fast64_t *c)
{
	atomic_fetch_add_explicit(c, 1, memory_order_relaxed);
}

/* ---- connections ------------------------------------------------------------- */

void
sn_list_add(struct sn_conn **list, struct sn_conn *c, enum sn_list which)
{
	if (c->list[which].in)
		return;
	c->list[which].in = true;
	c->list[which].prev = NULL;
	c->list[which].next = *list;
	if (*list != NULL)
		(*list)->list[which].prev = c;
	*list = c;
}

void
sn_list_remove(struct sn_conn **list, struct sn_conn *c, enum sn_list which)
{
	struct sn_conn *prev = c->list[which].prev, *next = c->list[which].next;
	if (!c->list[which].in)
		return;
	c->list[which].in = false;
	if (prev != NULL)
		prev->list[which].next = next;
	else
		*list = next;
	if (next != NULL)
		next->list[which].prev = prev;
}

static struct sn_conn **
same(const struct sn_server *s, uint64_t identity)
{
	return &s->same[nam_mix(identity) & s->same_mask];
}

struct sn_conn *
sn_server_same(const struct sn_server *s, uint64_t identity)
{
	return *same(s, identity);
}

static void
stranger_add(struct sn_server *s, struct sn_conn *c)
{
	struct sn_strangers *of = &s->strangers[c->local];
	sn_list_add(&of->newest, c, SN_ALL);
	if (of->oldest == NULL)
		of->oldest = c;
	of->count++;
}

static void
stranger_remove(struct sn_server *s, struct sn_conn *c)
{
	struct sn_strangers *of = &s->strangers[c->local];
	if (of->oldest == c)
		of->oldest = c->list[SN_ALL].prev;
	sn_list_remove(&of->newest, c, SN_ALL);
	of->count--;
	s->alone_ns = nam_clock_ns();
}

static void
count_peers(struct sn_server *s, unsigned now)
{
	struct net_super *super = sn_local(s->region)->base;
	s->peer_count = now;
	s->alone_ns = nam_clock_ns();
	atomic_store_explicit(&s->count.peers, now, memory_order_relaxed);
	__atomic_store_n(&super->peers, now, __ATOMIC_RELAXED);
}

static void
end_conn(struct sn_server *s, struct sn_conn *c)
{
	if (c->state == SN_OPEN) {
		sn_list_remove(&s->peers, c, SN_ALL);
		sn_list_remove(same(s, c->hello.identity), c, SN_SAME);
		sn_list_remove(&s->hears, c, SN_HEARS);
		sn_list_remove(&s->work, c, SN_WORK);
		count_peers(s, s->peer_count - 1);
	} else {
		stranger_remove(s, c);
	}
	if (c->stream != NULL)
		sn_stream_end(s, c);
	/* close alone would not do while a child that this process forks still has the
	 * descriptor. */
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	if (c->pid_fd >= 0)
		close(c->pid_fd);
	if (c->qp != NULL)
		sn_verbs_end(c);
	/* Last: no verb of it executes here when others hear of its end. */
	if (c->state == SN_OPEN)
		sn_news_gone(s, c);
	free(c);
}

void
sn_server_end(struct sn_server *s, struct sn_conn *c)
{
	end_conn(s, c);
}

void
sn_server_hand_over(struct sn_server *s, struct sn_conn *c, struct sn_ring_qp *qp)
{
	int fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		sn_shards_take(sn_region_shards(s->region), fd, c->hello.identity, c->name, qp);
	else
		sn_ring_qp_free(qp);
	end_conn(s, c);
}

void
sn_server_immediate(struct sn_server *s, uint64_t number)
{
	struct sn_shards *shards = sn_region_shards(s->region);
	count_one(&s->count.immediates);
	if (shards != NULL)
		sn_shards_rung(shards, number);
}

/* Strangers must not be able to fill the log. */
void
sn_server_complain(struct sn_server *s, const char *peer, const char *what)
{
	uint64_t now = nam_clock_ns();
	if (now - s->log_refill_ns >= 1000000000) {
		s->log_refill_ns = now;
		s->log_left = LOG_PER_SECOND;
	}
	if (s->log_left == 0)
		return;
	s->log_left--;
	nam_log(NAM_LOG_WARN, "storage node %u: dropped %s: %s%s", (unsigned)s->shake.region, peer, what,
	    s->log_left == 0 ? " (more such lines are left out for a second)" : "");
}

void
sn_server_drop(struct sn_server *s, struct sn_conn *c, const char *why)
{
	sn_server_complain(s, c->name, why);
	count_one(&s->count.dropped);
	end_conn(s, c);
}

static void
accept_some(struct sn_server *s, int listener)
{
	for (int i = 0; i < 32; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
				/* Try again with the next beat, instead of spinning on a full
				 * table. */
				if (s->accepting)
					nam_log(NAM_LOG_ERROR,
					    "storage node %u cannot accept: %s; raise ulimit -n",
					    (unsigned)s->shake.region, strerror(errno));
				s->accepting = false;
			}
			return;
		}
		count_one(&s->count.accepted);
		/* The oldest stranger gives way to a new one. */
		struct sn_strangers *of = &s->strangers[listener == s->unix_fd];
		if (of->count >= s->strangers_max)
			sn_server_drop(
			    s, of->oldest, "too many connections wait for a handshake, and it was the first");
		struct sn_conn *c = calloc(1, sizeof *c);
		if (c == NULL) {
			count_one(&s->count.dropped);
			close(fd);
			continue;
		}
		c->fd = fd;
		c->pid_fd = -1;
		c->local = listener == s->unix_fd;
		c->deadline_ns = nam_clock_ns() + s->handshake_ns;
		struct sockaddr_storage from;
		socklen_t len = sizeof from;
		char host[48], port[8];
		if (c->local)
			strcpy(c->name, "a local peer");
		else if (getpeername(fd, (struct sockaddr *)&from, &len) == 0 &&
			 getnameinfo((struct sockaddr *)&from, len, host, sizeof host, port, sizeof port,
			     NI_NUMERICHOST | NI_NUMERICSERV) == 0)
			snprintf(c->name, sizeof c->name, "%s port %s", host, port);
		else
			strcpy(c->name, "a peer");
		if (!c->local) {
			int on = 1;
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
			/* A peer whose machine vanished is noticed within about a minute. */
			setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
			int idle = 20, every = 10, times = 4;
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
		}
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };
		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0) {
			close(fd);
			free(c);
			continue;
		}
		if (c->local)
			sn_fence_hold(c);
		stranger_add(s, c);
	}
}

/* ---- handshake --------------------------------------------------------------- */

/* A handshake message fits into an empty socket buffer; if it does not fit, the peer is not worth
 * waiting for. */
bool
sn_server_say(struct sn_conn *c, const void *what, size_t len, int pass_fd)
{
	struct iovec iov = { (void *)(uintptr_t)what, len };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	if (pass_fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof control;
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &pass_fd, sizeof(int));
	}
	return sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

bool
sn_server_grant(struct sn_server *s, struct sn_conn *c, struct net_grant *grant, int memory)
{
	/* W2: without the peer's proof there is no proof of ours. */
	if (grant->verdict != NET_NO_SECRET)
		net_shake_seal(&s->shake, &c->hello, &c->welcome, grant);
	return sn_server_say(c, grant, sizeof *grant, memory);
}

static const char *
verdict_words(uint32_t v)
{
	switch (v) {
	case NET_NO_VERSION:
		return "it speaks another version of the protocol";
	case NET_NO_CLUSTER:
		return "it belongs to another cluster";
	case NET_NO_LAYOUT:
		return "it was built with other data formats";
	case NET_NO_SECRET:
		return "it does not know the secret";
	case NET_NO_ROOM:
		return "there are as many peers as allowed";
	case NET_NO_IDENTITY:
		return "it has no identity";
	case NET_NO_MORE:
		return "it has been fenced";
	default:
		return "it asked for an unknown role";
	}
}

static void
refuse(struct sn_server *s, struct sn_conn *c, uint32_t verdict)
{
	sn_server_complain(s, c->name, verdict_words(verdict));
	count_one(&s->count.refused);
	end_conn(s, c);
}

static void
take_hello(struct sn_server *s, struct sn_conn *c)
{
	c->hello = c->in.hello;
	net_shake_welcome(&s->shake, &c->hello, &c->welcome);
	c->got = 0;
	c->state = SN_PROOF;
	if (!sn_server_say(c, &c->welcome, sizeof c->welcome, -1))
		sn_server_drop(s, c, "it does not take our welcome");
	else if (c->welcome.verdict != NET_YES)
		refuse(s, c, c->welcome.verdict);
}

static void
take_proof(struct sn_server *s, struct sn_conn *c)
{
	struct net_proof proof;
	struct net_grant grant = { .verdict = NET_YES };
	memcpy(&proof, c->in.bytes, sizeof proof);
	enum net_role role = (enum net_role)c->hello.role;
	if (!net_shake_proven(&s->shake, &c->hello, &c->welcome, &proof))
		grant.verdict = NET_NO_SECRET;
	else if ((grant.verdict = sn_fence_admit(s, c)) != NET_YES)
		;
	else if (s->peer_count >= s->peers_max && role != NET_ROLE_FENCE && role != NET_ROLE_ASK)
		grant.verdict = NET_NO_ROOM;
	else if (role == NET_ROLE_SHM && (!c->local || s->no_memory || c->pid_fd < 0 || c->pid <= 0))
		grant.verdict = NET_NO_ROLE;
	else if (role == NET_ROLE_LIFE && (!c->local || c->pid_fd < 0))
		grant.verdict = NET_NO_ROLE;
	else if (role == NET_ROLE_VERBS && s->verbs == NULL)
		grant.verdict = NET_NO_ROLE;
	else if (role == NET_ROLE_RINGS_VERBS && s->verbs == NULL)
		grant.verdict = NET_NO_ROLE;
	else if ((role == NET_ROLE_RINGS || role == NET_ROLE_RINGS_VERBS) &&
		 sn_region_shards(s->region) == NULL)
		grant.verdict = NET_NO_ROLE;
	else if (role == NET_ROLE_WORKER && !sn_stream_open(s, c))
		grant.verdict = NET_NO_ROOM;
	if (grant.verdict == NET_YES) {
		strcpy(grant.shm, s->socket_path);
		grant.flags = s->no_memory ? NET_GRANT_NO_MEMORY : 0;
	}
	c->role = role;
	if (grant.verdict == NET_YES)
		sn_verbs_grant(s, c, &grant);
	bool later =
	    /* W3, W5 */
	    grant.verdict == NET_YES && (role == NET_ROLE_FENCE || role == NET_ROLE_ASK);
	/* W2: the memory leaves only with NET_YES. */
	int memory = grant.verdict == NET_YES && role == NET_ROLE_SHM ? sn_region_fd(s->region) : -1;
	if (!later && !sn_server_grant(s, c, &grant, memory)) {
		sn_server_drop(s, c, "it does not take our grant");
		return;
	}
	if (grant.verdict != NET_YES) {
		refuse(s, c, grant.verdict);
		return;
	}
	if (role == NET_ROLE_RINGS) {
		sn_server_hand_over(s, c, NULL);
		return;
	}
	stranger_remove(s, c);
	c->state = SN_OPEN;
	c->got = 0;
	sn_list_add(&s->peers, c, SN_ALL);
	sn_list_add(same(s, c->hello.identity), c, SN_SAME);
	if (sn_news_carries(c))
		sn_list_add(&s->hears, c, SN_HEARS);
	if (later)
		sn_list_add(&s->work, c, SN_WORK);
	count_peers(s, s->peer_count + 1);
	sn_news_come(s, c);
	if (c->stream != NULL) {
		/* Its loop hears it from now on. */
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
		sn_stream_go(c);
	}
	if (later && role == NET_ROLE_FENCE)
		sn_fence_begin(s, c);
	else if (later)
		sn_fence_ask(s, c);
}

static void
hear_stranger(struct sn_server *s, struct sn_conn *c)
{
	size_t want = c->state == SN_HELLO ? sizeof(struct net_hello) : sizeof(struct net_proof);
	ssize_t n = recv(c->fd, c->in.bytes + c->got, want - c->got, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		if (c->state == SN_HELLO && c->got == 0)
			end_conn(s, c); /* a peer that only tested whether the port is open */
		else
			sn_server_drop(s, c, "it left during the handshake");
		return;
	}
	c->got += (uint32_t)n;
	size_t sure = c->got < sizeof c->in.hello.magic ? c->got : sizeof c->in.hello.magic;
	static const uint64_t magic = NET_WIRE_MAGIC;
	if (c->state == SN_HELLO && memcmp(c->in.bytes, &magic, sure) != 0) {
		sn_server_drop(s, c, "it does not speak namdb");
		return;
	}
	if (c->got < want)
		return;
	if (c->state == SN_HELLO)
		take_hello(s, c);
	else
		take_proof(s, c);
}

/* CONTROL and SHM connections carry messages; of other connections in this loop only the end means
 * something. */
static void
hear_peer(struct sn_server *s, struct sn_conn *c)
{
	if (c->cut)
		return;
	bool talks = sn_news_carries(c);
	ssize_t n = recv(c->fd, c->in.bytes + c->got, talks ? sizeof c->in.news - c->got : 1, 0);
	if (n > 0 && talks) {
		c->got += (uint32_t)n;
		if (c->got < sizeof c->in.news)
			return;
		c->got = 0;
		if (!sn_news_heard(s, c, &c->in.news))
			sn_server_drop(s, c, "its message makes no sense");
	} else if (n > 0)
		sn_server_drop(s, c, "it sent bytes where none are expected");
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_conn(s, c);
}

static void
streams_over(struct sn_server *s)
{
	uint64_t times;
	ssize_t n = read(s->over_fd, &times, sizeof times);
	(void)n;
	const char *why;
	/* An atomic that failed for a peer must not execute once the peer hears of the failure. */
	sn_verbs_mend(s);
	for (struct sn_conn *c; (c = sn_stream_over(s, &why)) != NULL;) {
		if (why != NULL)
			sn_server_drop(s, c, why);
		else
			end_conn(s, c);
	}
}

/* ---- the loop ----------------------------------------------------------------- */

static void
beat(struct sn_server *s)
{
	uint64_t times;
	ssize_t n = read(s->timer_fd, &times, sizeof times);
	(void)n;
	sn_region_beat(s->region, s->peer_count);
	sn_verbs_mend(s);
	uint64_t now = nam_clock_ns();
	for (unsigned i = 0; i < 2; i++)
		while (s->strangers[i].oldest != NULL && now >= s->strangers[i].oldest->deadline_ns)
			sn_server_drop(s, s->strangers[i].oldest, "the handshake took too long");
	sn_news_beat(s);
	sn_streams_beat(s);
	if (!s->accepting) {
		s->accepting = true;
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = &s->tcp_fd };
		epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->tcp_fd, &e);
		e.data.ptr = &s->unix_fd;
		if (s->unix_fd >= 0)
			epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->unix_fd, &e);
	}
}

/* Has there been no connection for long enough? */
static bool
alone(const struct sn_server *s)
{
	return s->idle_ns != 0 && s->peer_count == 0 && s->strangers[0].count == 0 &&
	       s->strangers[1].count == 0 && nam_clock_ns() - s->alone_ns >= s->idle_ns;
}

static void
stop_accepting(struct sn_server *s)
{
	struct epoll_event e = { .events = 0, .data.ptr = &s->tcp_fd };
	epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->tcp_fd, &e);
	e.data.ptr = &s->unix_fd;
	if (s->unix_fd >= 0)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->unix_fd, &e);
}

nam_status
sn_server_run(struct sn_server *s, struct nam_err *err)
{
	struct epoll_event ev[EVENTS];
	int looks = 0;
	struct nam_core core = { 0 };
	for (;;) {
		int n = epoll_wait(s->epoll_fd, ev, EVENTS, looks > 0 ? 0 : -1);
		if (n < 0 && errno != EINTR)
			return nam_fail(err, NAM_IO, "the event loop failed: %s", strerror(errno));
		if (n <= 0) {
			if (looks > 0) {
				looks = nam_core_yield(&core) ? looks - 1 : 0;
			}
			continue;
		}
		bool tick = false, over = false, rdma = false, messages = false, tcp = false, local = false;
		for (int i = 0; i < n; i++) {
			void *p = ev[i].data.ptr;
			if (p == &s->stop_fd)
				return NAM_OK;
			if (p == &s->timer_fd) {
				tick = true;
			} else if (p == &s->over_fd) {
				over = true;
			} else if (p == &s->rdma_fd) {
				rdma = true;
			} else if (p == &s->rdma_done_fd) {
				messages = true;
			} else if (p == &s->tcp_fd) {
				tcp = true;
			} else if (p == &s->unix_fd) {
				local = true;
			} else if ((uintptr_t)p & SN_HELD_TAG) {
				sn_news_end(s, (void *)((uintptr_t)p - SN_HELD_TAG));
			} else {
				struct sn_conn *c = p;
				if (c->state == SN_OPEN)
					hear_peer(s, c);
				else
					hear_stranger(s, c);
			}
		}
		/* Last: they may end connections, and those must not be in ev[] any more. */
		if (messages)
			sn_verbs_completions(s);
		if (rdma)
			sn_verbs_events(s);
		if (over)
			streams_over(s);
		if (tick)
			beat(s);
		if (s->fencing)
			sn_fence_work(s);
		if (tcp)
			accept_some(s, s->tcp_fd);
		if (local)
			accept_some(s, s->unix_fd);
		if ((tcp || local) && !s->accepting)
			stop_accepting(s);
		if (messages)
			looks = LOOKS_BEFORE_SLEEP;
		/* Behind accept_some: a peer that has come meanwhile counts. */
		if (alone(s))
			return NAM_OK;
	}
}

void
sn_server_stop(struct sn_server *s)
{
	uint64_t one = 1;
	ssize_t n = write(s->stop_fd, &one, sizeof one);
	(void)n;
}

/* ---- opening ------------------------------------------------------------------ */

static nam_status
listen_tcp(struct sn_server *s, const char *where, struct nam_err *err)
{
	char host[112], port[16];
	nam_status st = net_split_address(where, host, sizeof host, port, sizeof port, err);
	if (st != NAM_OK)
		return st;
	struct addrinfo hint = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE },
			*a;
	int rc = getaddrinfo(host, port, &hint, &a);
	if (rc != 0)
		return nam_fail(err, NAM_INVALID, "cannot listen at %s: %s", where, gai_strerror(rc));
	int why = 0, on = 1;
	s->tcp_fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->tcp_fd < 0 || setsockopt(s->tcp_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
	    bind(s->tcp_fd, a->ai_addr, a->ai_addrlen) != 0 || listen(s->tcp_fd, 256) != 0)
		why = errno;
	freeaddrinfo(a);
	if (why == EADDRINUSE)
		return nam_fail(err, NAM_BUSY,
		    "port in use: another process listens at %s; choose another --listen", where);
	if (why == EACCES)
		return nam_fail(
		    err, NAM_INVALID, "no right to listen at %s; choose a port above 1023", where);
	if (why != 0)
		return nam_fail(err, NAM_INVALID, "cannot listen at %s: %s", where, strerror(why));
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} is;
	socklen_t len = sizeof is;
	getsockname(s->tcp_fd, &is.any, &len);
	unsigned p = ntohs(is.any.sa_family == AF_INET6 ? is.v6.sin6_port : is.v4.sin_port);
	snprintf(s->address, sizeof s->address, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, p);
	bool loop = is.any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&is.v6.sin6_addr)
						 : ntohl(is.v4.sin_addr.s_addr) >> 24 == 127;
	if (!loop)
		nam_log(NAM_LOG_WARN,
		    "listening at %s, beyond this host, without encryption: let only a trusted network reach "
		    "it",
		    s->address);
	return NAM_OK;
}

/* 0 = a process answers on that socket; else an errno. ECONNREFUSED: no process listens there any
 * more. */
static int
socket_dead(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int why = connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno == EAGAIN ? 0 : errno;
	close(fd);
	return why;
}

/*
 * Removes the sockets of nodes that were killed. A name that ends in .sock belongs to a node that
 * listens, or did: a socket gets its name only after listen (listen_unix), so one that refuses has
 * no owner. Only sockets, and only those of this user, are removed.
 */
static void
remove_stale(const char *dir)
{
	DIR *d = opendir(dir);
	if (d == NULL)
		return;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		struct stat sb;
		size_t n = strlen(e->d_name);
		int len = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", dir, e->d_name);
		if (n < 5 || strcmp(e->d_name + n - 5, ".sock") != 0 || len < 0 ||
		    (size_t)len >= sizeof at.sun_path)
			continue;
		if (lstat(at.sun_path, &sb) == 0 && S_ISSOCK(sb.st_mode) && sb.st_uid == getuid() &&
		    socket_dead(&at) == ECONNREFUSED)
			unlink(at.sun_path);
	}
	closedir(d);
}

/* Shared memory is optional: without it the node still serves tcp, so this only warns. */
static void
listen_unix(struct sn_server *s, const char *dir)
{
	char own[64];
	if (dir == NULL)
		dir = getenv("NAMDB_RUN");
	if (dir == NULL || *dir == '\0') {
		snprintf(own, sizeof own, "/tmp/namdb-%u", (unsigned)getuid());
		dir = own;
	}
	struct stat sb;
	const char *why = NULL;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		why = strerror(errno);
	else if (lstat(dir, &sb) != 0 || !S_ISDIR(sb.st_mode))
		why = "it is not a directory";
	else if (sb.st_uid != getuid() || (sb.st_mode & 077) != 0)
		why = "others may enter it (want our own, mode 0700)";
	if (why != NULL) {
		nam_log(NAM_LOG_WARN,
		    "no shared memory for local peers: %s: %s; set NAMDB_RUN to a directory of yours", dir,
		    why);
		return;
	}
	remove_stale(dir);
	const char *port = strrchr(s->address, ':') + 1;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char name[sizeof at.sun_path];
	/* The port is ours, so its socket file is ours or stale; but a node at another loopback
	 * address may have that port as well. */
	int len = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s.sock", dir, port);
	if (len > 0 && (size_t)len < sizeof at.sun_path && socket_dead(&at) == 0)
		len = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s-%d.sock", dir, port, (int)getpid());
	memcpy(name, at.sun_path, sizeof name);
	/* It gets its name when it listens: other nodes take a name that refuses for that of a dead
	 * node. */
	if (len >= 0 && (size_t)len < sizeof at.sun_path)
		len = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s-%d.new", dir, port, (int)getpid());
	if (len < 0 || (size_t)len >= sizeof at.sun_path) {
		nam_log(NAM_LOG_WARN,
		    "no shared memory for local peers: the path %s is too long for a socket", dir);
		return;
	}
	unlink(at.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || chmod(at.sun_path, 0600) != 0 ||
	    listen(fd, 256) != 0 || rename(at.sun_path, name) != 0) {
		nam_log(
		    NAM_LOG_WARN, "no shared memory for local peers: %s: %s", at.sun_path, strerror(errno));
		unlink(at.sun_path);
		if (fd >= 0)
			close(fd);
		return;
	}
	s->unix_fd = fd;
	snprintf(s->socket_path, sizeof s->socket_path, "%s", name);
}

/*
 * RDMA: by name, or automatically if the node does not listen on loopback and a device lies behind
 * the address. By name it must work; automatically it is optional.
 */
static nam_status
listen_rdma(struct sn_server *s, const char *rdma, struct nam_err *err)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} is;
	socklen_t len = sizeof is;
	char host[NI_MAXHOST], address[48];
	if (rdma != NULL && strcmp(rdma, "off") == 0)
		return NAM_OK;
	bool named = rdma != NULL && strcmp(rdma, "auto") != 0;
	if (!named) {
		if (getsockname(s->tcp_fd, &is.any, &len) != 0 ||
		    getnameinfo(&is.any, len, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0)
			return NAM_OK;
		bool any = is.any.sa_family == AF_INET ? is.v4.sin_addr.s_addr == INADDR_ANY
						       : IN6_IS_ADDR_UNSPECIFIED(&is.v6.sin6_addr);
		bool loop = is.any.sa_family == AF_INET ? ntohl(is.v4.sin_addr.s_addr) >> 24 == 127
							: IN6_IS_ADDR_LOOPBACK(&is.v6.sin6_addr);
		rdma = any ? NULL : host;
		if (loop)
			return NAM_OK;
	}
	struct nam_err why;
	nam_status st = net_rdma_address(rdma, address, &why);
	if (st == NAM_OK)
		st = sn_verbs_open(s, address, &why);
	if (st == NAM_OK) {
		s->rdma_fd = sn_verbs_event_fd(s);
		s->rdma_done_fd = sn_verbs_completion_fd(s);
		return NAM_OK;
	}
	if (named)
		return nam_fail(err, st, "%s", why.text);
	if (st != NAM_UNSUPPORTED)
		nam_log(
		    NAM_LOG_WARN, "storage node %u offers no RDMA: %s", (unsigned)s->shake.region, why.text);
	return NAM_OK;
}

static bool
watch_own(struct sn_server *s, int *fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = fd };
	return *fd < 0 ? fd != &s->tcp_fd && fd != &s->timer_fd && fd != &s->stop_fd
		       : epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, *fd, &e) == 0;
}

/* How many threads serve streams. */
static unsigned
loops_of(unsigned wanted)
{
	cpu_set_t cores;
	if (wanted == 0)
		wanted =
		    sched_getaffinity(0, sizeof cores, &cores) == 0 ? (unsigned)CPU_COUNT(&cores) : SN_LOOPS;
	else if (wanted > SN_LOOPS_MAX)
		return SN_LOOPS_MAX;
	else
		return wanted;
	return wanted < SN_LOOPS ? wanted : SN_LOOPS;
}

/* Peers are found by their identities: about one in each list. */
static bool
make_lists(struct sn_server *s)
{
	size_t lists = 64;
	while (lists < s->peers_max && lists < 1 << 20)
		lists *= 2;
	s->same_mask = lists - 1;
	return (s->same = calloc(lists, sizeof *s->same)) != NULL;
}

nam_status
sn_server_open(
    struct sn_server **out, struct sn_region *r, const struct sn_server_config *cfg, struct nam_err *err)
{
	struct sn_server *s = calloc(1, sizeof *s);
	if (s == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a server");
	pthread_mutex_init(&s->own_turn, NULL);
	s->tcp_fd = s->unix_fd = s->epoll_fd = s->timer_fd = s->stop_fd = s->over_fd = s->rdma_fd =
	    s->rdma_done_fd = -1;
	pthread_mutex_init(&s->stream_lock, NULL);
	s->region = r;
	s->base = sn_local(r)->base;
	s->size = sn_region_size(r);
	s->accepting = true;
	s->peers_max = cfg->peers_max != 0 ? cfg->peers_max : PEERS_MAX;
	s->strangers_max = s->peers_max / STRANGERS_PART;
	if (s->strangers_max < STRANGERS_MIN)
		s->strangers_max = STRANGERS_MIN;
	s->loops_max = loops_of(cfg->loops);
	s->seats_max = s->loops_max * SN_SEATS_PER_LOOP;
	if (s->seats_max < SN_SEATS_MIN)
		s->seats_max = SN_SEATS_MIN;
	if (s->seats_max > SN_SEATS_MAX)
		s->seats_max = SN_SEATS_MAX;
	s->idle_ns = (uint64_t)cfg->idle_ms * 1000000;
	s->alone_ns = nam_clock_ns();
	s->handshake_ns = (uint64_t)(cfg->handshake_ms != 0 ? cfg->handshake_ms : HANDSHAKE_MS) * 1000000;
	s->log_left = LOG_PER_SECOND;
	nam_status st = NAM_OK;
	if (!make_lists(s))
		st = nam_fail(err, NAM_NOMEM, "no memory for a server of %u peers", s->peers_max);
	else if (cfg->secret_len > sizeof s->secret)
		st = nam_fail(err, NAM_INVALID, "the secret is longer than %zu bytes", sizeof s->secret);
	if (st == NAM_OK)
		st = listen_tcp(s, cfg->listen != NULL ? cfg->listen : "127.0.0.1:7411", err);
	if (st != NAM_OK) {
		sn_server_close(s);
		return st;
	}
	if (cfg->secret_len > 0)
		memcpy(s->secret, cfg->secret, cfg->secret_len);
	s->shake = (struct net_shake){
		.layout = net_layout(),
		.cluster = net_cluster_hash(cfg->cluster),
		.secret = s->secret,
		.secret_len = cfg->secret_len,
		.region = sn_region_id(r),
		.incarnation = sn_region_incarnation(r),
		.size = s->size,
		.log = sn_region_log(r),
	};
	if ((st = listen_rdma(s, cfg->rdma, err)) != NAM_OK) {
		sn_server_close(s);
		return st;
	}
	/* One atomics engine (verbs_format.h): if the device executes them, no CPU of a peer
	 * may. */
	s->no_memory = cfg->no_shm || sn_verbs_device_atomics(s);
	listen_unix(s, cfg->run_dir);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	s->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	s->over_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct itimerspec every = { { 0, BEAT_NS }, { 0, BEAT_NS } };
	if (s->epoll_fd < 0 || s->timer_fd < 0 || s->stop_fd < 0 || s->over_fd < 0 ||
	    timerfd_settime(s->timer_fd, 0, &every, NULL) != 0 || !watch_own(s, &s->tcp_fd) ||
	    !watch_own(s, &s->unix_fd) || !watch_own(s, &s->timer_fd) || !watch_own(s, &s->stop_fd) ||
	    !watch_own(s, &s->over_fd) || !watch_own(s, &s->rdma_fd) || !watch_own(s, &s->rdma_done_fd)) {
		st = nam_fail(err, NAM_IO, "cannot make the event loop: %s", strerror(errno));
		sn_server_close(s);
		return st;
	}
	sn_region_beat(r, 0);
	*out = s;
	return NAM_OK;
}

void
sn_server_close(struct sn_server *s)
{
	if (s == NULL)
		return;
	s->closing = true;
	for (unsigned i = 0; i < 2; i++)
		while (s->strangers[i].newest != NULL)
			end_conn(s, s->strangers[i].newest);
	while (s->peers != NULL)
		end_conn(s, s->peers);
	sn_streams_close(s);
	sn_news_close(s);
	sn_verbs_close(s);
	pthread_mutex_destroy(&s->own_turn);
	if (s->socket_path[0] != '\0')
		unlink(s->socket_path);
	sn_fence_close(s);
	const int fd[] = { s->tcp_fd, s->unix_fd, s->epoll_fd, s->timer_fd, s->stop_fd, s->over_fd };
	for (unsigned i = 0; i < sizeof fd / sizeof *fd; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	explicit_bzero(s->secret, sizeof s->secret);
	free(s->same);
	pthread_mutex_destroy(&s->stream_lock);
	free(s);
}

const char *
sn_server_address(const struct sn_server *s)
{
	return s->address;
}

const char *
sn_server_socket(const struct sn_server *s)
{
	return s->no_memory ? "" : s->socket_path;
}

const char *
sn_server_rdma(const struct sn_server *s, char out[160])
{
	out[0] = '\0';
	return s->verbs != NULL ? sn_verbs_words(s, out) : out;
}

void
sn_server_counts(const struct sn_server *s, struct sn_server_counts *out)
{
	out->accepted = atomic_load_explicit(&s->count.accepted, memory_order_relaxed);
	out->refused = atomic_load_explicit(&s->count.refused, memory_order_relaxed);
	out->dropped = atomic_load_explicit(&s->count.dropped, memory_order_relaxed);
	out->peers = atomic_load_explicit(&s->count.peers, memory_order_relaxed);
	out->asks = atomic_load_explicit(&s->count.asks, memory_order_relaxed);
	out->immediates = atomic_load_explicit(&s->count.immediates, memory_order_relaxed);
}
