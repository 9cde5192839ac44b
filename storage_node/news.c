/*
 * news.c -- sends peers news of each other over their control connections: LEFT, BACK, DEAD
 * (net/wire.h, W4 and W7).
 *
 * The node keeps the pidfd of a process from the grant on, and for a little longer than its
 * connection: the kernel closes a dying process's sockets before its pidfd shows the end. If a
 * process only closes its connections, the node drops the pidfd later.
 *
 * The node waits for no peer. A message that a socket does not take is dropped, and the node owes
 * that peer FORGET: after it, all earlier news are void, and the peer asks again (WHO).
 */
#include <base/clock.h>
#include <base/hash.h>
#include <storage_node/fenced.h>
#include <storage_node/server_internal.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HELD_ALONE_MAX = 1024, DEAD = sizeof((struct sn_server *)0)->dead / sizeof(uint64_t) };
#define LET_GO_NS UINT64_C(2000000000)

struct sn_held {
	struct sn_held *prev, *next;
	uint64_t identity;
	uint64_t until_ns; /* 0 = its connection is open */
	int pid_fd;
};

bool
sn_news_carries(const struct sn_conn *c)
{
	return c->role == NET_ROLE_CONTROL || c->role == NET_ROLE_SHM;
}

/* True if the connection shows that its process is there. */
static bool
counts(const struct sn_conn *c)
{
	return c->role != NET_ROLE_FENCE && c->role != NET_ROLE_ASK;
}

static bool
is_here(const struct sn_server *s, uint64_t identity, const struct sn_conn *but)
{
	for (const struct sn_conn *p = sn_server_same(s, identity); p != NULL; p = p->list[SN_SAME].next)
		if (p != but && !p->cut && p->hello.identity == identity && counts(p))
			return true;
	return false;
}

static bool
is_dead(const struct sn_server *s, uint64_t identity)
{
	for (unsigned i = 0; i < DEAD && i < s->deads; i++)
		if (s->dead[i] == identity)
			return true;
	return false;
}

/* The bit of an identity, and of others. */
static uint64_t *
told_left(struct sn_server *s, uint64_t identity, uint64_t *bit)
{
	uint64_t h = nam_mix(identity);
	*bit = UINT64_C(1) << (h & 63);
	return &s->told_left[(h >> 6) % (sizeof s->told_left / sizeof *s->told_left)];
}

/* ---- saying -------------------------------------------------------------------------- */

/* False: the socket takes no more. */
static bool
send_rest(struct sn_conn *c)
{
	if (c->news_left == 0)
		return true;
	ssize_t n = send(c->fd, c->news_rest + sizeof c->news_rest - c->news_left, c->news_left,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		c->news_left -= (unsigned)n;
	return c->news_left == 0;
}

/* False: the message is dropped. */
static bool
say(struct sn_conn *c, const struct net_news *news)
{
	if (!send_rest(c))
		return false;
	ssize_t n = send(c->fd, news, sizeof *news, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n <= 0)
		return false;
	memcpy(c->news_rest, news, sizeof *news);
	c->news_left = (unsigned)(sizeof *news - (size_t)n);
	return true;
}

void
sn_news_say(struct sn_server *s, struct sn_conn *c, const struct net_news *news)
{
	if (!say(c, news))
		c->behind = true;
	s->behind |= c->behind || c->news_left > 0;
}

/* Sends to all peers but the process concerned. */
static void
tell(struct sn_server *s, enum net_news_kind kind, uint64_t identity)
{
	const struct net_news news = { .magic = NET_NEWS_MAGIC, .kind = kind, .identity = identity };
	uint64_t bit, *told = told_left(s, identity, &bit);
	/* No peer has heard that it left, so none waits for its coming back: otherwise each
	 * process that comes costs a message to each other one. */
	if (kind == NET_NEWS_BACK && (*told & bit) == 0)
		return;
	if (kind == NET_NEWS_LEFT)
		*told |= bit;
	for (struct sn_conn *p = s->hears; p != NULL; p = p->list[SN_HEARS].next)
		if (!p->cut && p->hello.identity != identity)
			sn_news_say(s, p, &news);
}

bool
sn_news_heard(struct sn_server *s, struct sn_conn *c, const struct net_news *news)
{
	if (news->magic != NET_NEWS_MAGIC)
		return false;
	if (news->kind == NET_NEWS_LIVES || news->kind == NET_NEWS_GIVEN_UP)
		return sn_fence_answered(s, c, news);
	if (news->kind != NET_NEWS_WHO || news->identity == 0 || news->identity >> NET_IDENTITY_BITS != 0)
		return false;
	struct net_news answer = { .magic = NET_NEWS_MAGIC, .identity = news->identity };
	answer.kind = is_dead(s, news->identity)         ? NET_NEWS_DEAD
		      : is_here(s, news->identity, NULL) ? NET_NEWS_BACK
							 : NET_NEWS_LEFT;
	uint64_t bit, *told = told_left(s, news->identity, &bit);
	if (answer.kind == NET_NEWS_LEFT)
		*told |= bit;
	sn_news_say(s, c, &answer);
	return true;
}

/* ---- coming and going ----------------------------------------------------------------- */

static void
let_go(struct sn_server *s, struct sn_held *h)
{
	if (h->prev != NULL)
		h->prev->next = h->next;
	else
		s->held = h->next;
	if (h->next != NULL)
		h->next->prev = h->prev;
	if (h->until_ns != 0)
		s->held_alone--;
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, h->pid_fd, NULL);
	close(h->pid_fd);
	free(h);
}

static void
hold(struct sn_server *s, struct sn_conn *c)
{
	struct sn_held *h = calloc(1, sizeof *h);
	int fd = h != NULL ? fcntl(c->pid_fd, F_DUPFD_CLOEXEC, 0) : -1;
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = (uintptr_t)h | SN_HELD_TAG };
	/* Without a pidfd there is no proof of its end, only the hint. */
	if (fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0) {
		if (fd >= 0)
			close(fd);
		free(h);
		return;
	}
	h->pid_fd = fd;
	h->identity = c->hello.identity;
	h->next = s->held;
	if (h->next != NULL)
		h->next->prev = h;
	s->held = h;
	c->held = h;
}

void
sn_news_come(struct sn_server *s, struct sn_conn *c)
{
	if (c->pid_fd >= 0 && (c->role == NET_ROLE_SHM || c->role == NET_ROLE_LIFE))
		hold(s, c);
	if (counts(c) && !is_here(s, c->hello.identity, c))
		tell(s, NET_NEWS_BACK, c->hello.identity);
}

void
sn_news_gone(struct sn_server *s, struct sn_conn *c)
{
	if (s->closing)
		return;
	struct sn_held *h = c->held;
	if (h != NULL) {
		h->until_ns = nam_clock_ns() + LET_GO_NS;
		if (s->held_alone++ >= HELD_ALONE_MAX)
			h->until_ns = 1; /* with the next beat: it must not be freed while epoll's
					  * events are looked at */
	}
	/* Its end may have been seen first; a peer that came between the two has not heard of
	 * it. */
	if (counts(c) && !is_here(s, c->hello.identity, c))
		tell(s, is_dead(s, c->hello.identity) ? NET_NEWS_DEAD : NET_NEWS_LEFT, c->hello.identity);
}

void
sn_news_end(struct sn_server *s, struct sn_held *h)
{
	uint64_t identity = h->identity;
	/* Its connection may outlive it, in a child process. */
	for (struct sn_conn *p = sn_server_same(s, identity); p != NULL; p = p->list[SN_SAME].next)
		if (p->held == h)
			p->held = NULL;
	let_go(s, h);
	if (!is_dead(s, identity))
		s->dead[s->deads++ % DEAD] = identity;
	(void)sn_fenced_add(sn_region_dead(s->region), identity);
	tell(s, NET_NEWS_DEAD, identity);
}

void
sn_news_beat(struct sn_server *s)
{
	uint64_t now = s->held_alone > 0 ? nam_clock_ns() : 0;
	for (struct sn_held *h = s->held, *next; h != NULL && s->held_alone > 0; h = next) {
		next = h->next;
		if (h->until_ns != 0 && now >= h->until_ns)
			let_go(s, h);
	}
	if (!s->behind)
		return;
	s->behind = false;
	static const struct net_news forget = { .magic = NET_NEWS_MAGIC, .kind = NET_NEWS_FORGET };
	for (struct sn_conn *p = s->hears; p != NULL; p = p->list[SN_HEARS].next) {
		if (p->cut || !send_rest(p) || (p->behind && !say(p, &forget))) {
			s->behind |= !p->cut;
			continue;
		}
		p->behind = false;
	}
}

void
sn_news_close(struct sn_server *s)
{
	while (s->held != NULL)
		let_go(s, s->held);
}
