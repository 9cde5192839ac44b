/*
 * shard.c -- the threads that serve message rings (net/ring/service.h): each finds requests, calls
 * handlers, sends answers.
 *
 * The server hands over a connection of role RINGS, which from then on belongs to one shard, with
 * its rings; they end with it. Shard 0 reads the hello of a fresh connection and passes it on to
 * the shard of its service.
 *
 * A shard looks into the rings of clients that poll, and of those that were announced: by an
 * immediate (sn_shards_rung, from the server's thread) or a byte on the connection. Without work
 * it spins, yielding, as long as a client polls; then it naps, longer and longer; if no client
 * polls it sleeps until it is roused.
 *
 * Rings lie in a reserve of the region that is taken before any process sees the region. pool.h
 * says who has them and who waits. A client keeps its connection while it has none.
 */
#include "server_internal.h"

#include <base/clock.h>
#include <base/core.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/exec.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/region_format.h>
#include <net/ring/link.h>
#include <net/ring/pool.h>
#include <storage_node/fenced.h>
#include <storage_node/ring_qp.h>
#include <storage_node/shard.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SHARDS_MAX = 16,
	SLOTS = 4096, /* clients with rings at once */
	HELLO_NS = 2000000000,
	SPIN_NS = 50000,
	NAP_NS_MIN = 10000,
	NAP_NS_MAX = 1000000,
	ROUNDS_PER_POLL = 32, /* busy: look at the connections every so many rounds */
	ROUNDS_PER_IDLE = 64, /* busy: a turn for the idle hooks every so many rounds */
	EVENTS = 32,
	STREAM_SEND = 256 << 10,
};

/* A client, from the hand-over to its end. */
struct client {
	struct net_link link;
	struct client *next;
	struct client *live_next, *live_prev; /* the shards' lock */
	struct sn_shard *shard;               /* i  once it has one */
	uint64_t identity;                    /* i  0: of this process */
	int fd;
	bool open;   /* the hello has come */
	bool rung;   /* announced: look until the ring is empty */
	bool ending; /* an error: the round ends it */
	const char *why;
	uint64_t deadline_ns; /* of the hello */
	struct net_ring_hello hello;
	struct net_ring_offer offer;   /* the last */
	uint32_t got;                  /* bytes of hello */
	struct net_pool_member member; /* the shards' lock */
	bool joined;
	unsigned slot;
	/* A WANT that has come in part; words for the client that the connection has not taken. */
	char heard[1 + sizeof(struct net_ring_want)];
	uint32_t heard_len;
	char say[2 * (sizeof(struct net_ring_frame) + sizeof(struct net_ring_offer))];
	uint32_t say_len;
	bool wanted; /* asked for its rings, and told so */
	/* STREAM: the frame that is being sent; STREAM and VERBS: runs that wait for room */
	struct net_ring_frame frame;
	uint32_t frame_sent; /* of head and payload; 0 with frame.len == 0 = none */
	struct net_ring_run wait[2];
	unsigned waiting;
	struct sn_ring_qp *qp; /* VERBS */
	bool announce;         /* VERBS: announce the last of the waiting runs */
	bool stuck;            /* the socket takes no more; EPOLLOUT follows */
	char name[64];
};

struct sn_shard {
	struct sn_shards *all;
	unsigned id;
	pthread_t thread;
	bool started;
	int epoll_fd, wake_fd;
	atomic_bool stop, drop_queue_pairs;
	atomic_bool asleep; /* a  seq_cst: set before the last look, exchanged by the rousing
			     *    thread */
	atomic_bool any_rung;
	atomic_uint_fast64_t rung[SLOTS / 64]; /* a  set by the server, taken by the shard */
	pthread_mutex_t lock;                  /* of inbox */
	struct client *inbox;
	atomic_bool mail;               /* of inbox, or a process has been fenced */
	atomic_uint_fast64_t fenced_ok; /* a  so many fenced identities are not served here */
	/* the shard's own */
	struct client *clients;
	struct client *slot[SLOTS];
	struct net_desk *desk;
};

struct sn_shards {
	struct sn_region *region;
	char *base;
	unsigned id; /* of the node */
	struct net_service service[NET_SERVICES];
	unsigned services, count;
	bool pinned;
	uint64_t reserve;     /* offset in the region */
	pthread_mutex_t lock; /* of the next three */
	struct net_pool pool;
	bool taken[SLOTS];
	struct client *live; /* from the hand-over until it cannot be served any more */
	atomic_uint queue_pairs;
	atomic_uint waiting; /* a  clients in the pool's line, for a look without the lock */
	struct sn_shard shard[SHARDS_MAX];
};

/* ---- slots ------------------------------------------------------------------------------- */

static unsigned
slot_take_locked(struct sn_shards *s)
{
	unsigned slot = 0;
	while (slot < SLOTS && s->taken[slot])
		slot++;
	if (slot < SLOTS)
		s->taken[slot] = true;
	return slot;
}

static void
slot_give_locked(struct sn_shards *s, unsigned slot)
{
	if (slot < SLOTS)
		s->taken[slot] = false;
}

/* ---- rousing ------------------------------------------------------------------------------ */

static void
rouse(struct sn_shard *sh)
{
	if (!atomic_exchange(&sh->asleep, false))
		return;
	uint64_t one = 1;
	ssize_t n = write(sh->wake_fd, &one, sizeof one);
	(void)n;
}

/* An immediate is SHARDS_MAX * slot + shard. */
void
sn_shards_rung(struct sn_shards *s, uint64_t number)
{
	unsigned id = (unsigned)(number % SHARDS_MAX);
	uint64_t slot = number / SHARDS_MAX;
	if (id >= s->count || slot >= SLOTS)
		return;
	struct sn_shard *sh = &s->shard[id];
	atomic_fetch_or(&sh->rung[slot / 64], UINT64_C(1) << slot % 64);
	atomic_store(&sh->any_rung, true);
	rouse(sh);
}

static void
post(struct sn_shard *sh, struct client *c)
{
	pthread_mutex_lock(&sh->lock);
	c->next = sh->inbox;
	sh->inbox = c;
	pthread_mutex_unlock(&sh->lock);
	atomic_store(&sh->mail, true);
	rouse(sh);
}

void
sn_shards_take(struct sn_shards *s, int fd, uint64_t identity, const char *name, struct sn_ring_qp *qp)
{
	struct client *c = calloc(1, sizeof *c);
	if (c == NULL) {
		close(fd);
		sn_ring_qp_free(qp);
		return;
	}
	if (qp != NULL)
		atomic_fetch_add(&s->queue_pairs, 1);
	c->qp = qp;
	c->fd = fd;
	c->identity = identity;
	c->slot = SLOTS;
	c->member.tag = c;
	c->deadline_ns = nam_clock_ns() + HELLO_NS;
	snprintf(c->name, sizeof c->name, "%s", name);
	pthread_mutex_lock(&s->lock);
	c->live_next = s->live;
	if (c->live_next != NULL)
		c->live_next->live_prev = c;
	s->live = c;
	pthread_mutex_unlock(&s->lock);
	post(&s->shard[0], c);
}

/* For clients of this very process. */
static int
take_local(void *arg)
{
	int fd[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) != 0)
		return -1;
	sn_shards_take(arg, fd[1], 0, "a peer of this process", NULL);
	return fd[0];
}

/* ---- answers ------------------------------------------------------------------------------- */

static void
end_soon(struct client *c, const char *why)
{
	c->ending = true;
	c->why = why;
}

static void
watch(struct client *c, int op, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = c };
	if (epoll_ctl(c->shard->epoll_fd, op, c->fd, &e) != 0)
		end_soon(c, "it cannot be waited for");
}

/* Sends words as far as the socket takes them. */
static void
say_on(struct client *c)
{
	if (c->say_len == 0 || c->ending)
		return;
	ssize_t n = send(c->fd, c->say, c->say_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		end_soon(c, NULL);
	if (n <= 0)
		return;
	c->say_len -= (uint32_t)n;
	memmove(c->say, c->say + n, c->say_len);
}

/* Says WANTED or OFFER, in the form of the client's fabric (ring_format.h). */
static void
say(struct client *c, enum net_ring_word word)
{
	const struct net_ring_frame frame = { .at = word };
	char byte = (char)word;
	bool mapped = c->hello.way == NET_RING_MAPPED;
	uint32_t head = mapped ? 1 : sizeof frame, body = word == NET_RING_OFFER ? sizeof c->offer : 0;
	if (c->say_len + head + body > sizeof c->say) {
		end_soon(c, "it does not take our offers");
		return;
	}
	memcpy(c->say + c->say_len, mapped ? (const void *)&byte : (const void *)&frame, head);
	memcpy(c->say + c->say_len + head, &c->offer, body);
	c->say_len += head + body;
	if (c->frame.len == 0)
		say_on(c);
}

/* Sends words and frames as long as the socket takes them. */
static void
stream_send(struct client *c)
{
	while (!c->ending) {
		if (c->frame.len == 0) {
			say_on(c);
			if (c->waiting == 0 || c->say_len != 0)
				break;
			c->frame = (struct net_ring_frame){ c->wait[0].at, c->wait[0].len };
			c->frame_sent = 0;
			c->wait[0] = c->wait[1];
			c->waiting--;
		}
		const uint32_t head = sizeof c->frame;
		uint32_t in_head = c->frame_sent < head ? c->frame_sent : head,
			 in_body = c->frame_sent - in_head;
		struct iovec iov[2] = { { (char *)&c->frame + in_head, head - in_head },
			{ c->link.out.mirror + c->frame.at + in_body, c->frame.len - in_body } };
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
		ssize_t n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (errno != EAGAIN)
				end_soon(c, NULL);
			break;
		}
		c->frame_sent += (uint32_t)n;
		if (c->frame_sent == head + c->frame.len)
			c->frame.len = 0;
	}
	bool stuck = c->frame.len != 0 || c->say_len != 0;
	if (stuck != c->stuck) {
		c->stuck = stuck;
		watch(c, EPOLL_CTL_MOD, stuck ? EPOLLIN | EPOLLOUT : EPOLLIN);
	}
}

/* WRITEs waiting runs, as far as the queue pair takes them. */
static void
verbs_send(struct client *c)
{
	while (c->waiting > 0 && !c->ending) {
		struct net_ring_run r = c->wait[0];
		enum sn_sent sent = sn_ring_qp_write(c->qp, c->link.out.mirror + r.at, r.len,
		    c->hello.address + r.at, c->hello.rkey, c->announce && c->waiting == 1);
		if (sent == SN_LATER)
			return;
		if (sent == SN_BROKEN)
			end_soon(c, NULL);
		c->wait[0] = c->wait[1];
		c->waiting--;
	}
	c->announce = false;
}

/* Adds a run to the waiting ones. */
static void
add_run(struct client *c, struct net_ring_run run)
{
	struct net_ring_run *last = c->waiting != 0 ? &c->wait[c->waiting - 1] : NULL;
	if (last != NULL && last->at + last->len == run.at)
		last->len += run.len;
	else if (c->waiting < 2)
		c->wait[c->waiting++] = run;
	else
		end_soon(c, "it asks for more answers than its ring holds");
}

_Atomic uint64_t sn_answers;

static void
stream_write(struct net_link *l, struct net_ring_run run, bool announce)
{
	(void)announce; /* only a stream announces here */
	atomic_fetch_add_explicit(&sn_answers, 1, memory_order_release);
	add_run(l->tag, run);
	stream_send(l->tag);
}

static void
verbs_write(struct net_link *l, struct net_ring_run run, bool announce)
{
	struct client *c = l->tag;
	atomic_fetch_add_explicit(&sn_answers, 1, memory_order_release);
	add_run(c, run);
	c->announce |= announce;
	verbs_send(c);
}

static void
mapped_write(struct net_link *l, struct net_ring_run run, bool announce)
{
	struct client *c = l->tag;
	atomic_fetch_add_explicit(&sn_answers, 1, memory_order_release);
	net_copy_in(c->shard->all->base + c->offer.response + run.at, l->out.mirror + run.at, run.len);
	if (!announce || c->say_len != 0) /* what is said next rouses as well */
		return;
	/* A socket full of bells rouses as well as one more would. */
	ssize_t n = send(c->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)n;
}

/* ---- clients ---------------------------------------------------------------------------------
 * */

/* Other shards look whether there is something for their clients. */
static void
rouse_others(struct sn_shard *sh)
{
	for (unsigned i = 0; i < sh->all->count; i++)
		if (&sh->all->shard[i] != sh)
			rouse(&sh->all->shard[i]);
}

static void
client_free(struct sn_shards *s, struct client *c)
{
	pthread_mutex_lock(&s->lock);
	slot_give_locked(s, c->slot);
	if (c->joined)
		net_pool_leave(&s->pool, &c->member, nam_clock_ns());
	atomic_store(&s->waiting, s->pool.waiting);
	pthread_mutex_unlock(&s->lock);
	if (c->qp != NULL) {
		sn_ring_qp_free(c->qp);
		atomic_fetch_sub(&s->queue_pairs, 1);
	}
	free(c->link.out.mirror);
	close(c->fd);
	pthread_mutex_lock(&s->lock);
	if (c->live_prev != NULL)
		c->live_prev->live_next = c->live_next;
	else
		s->live = c->live_next;
	if (c->live_next != NULL)
		c->live_next->live_prev = c->live_prev;
	pthread_mutex_unlock(&s->lock);
	free(c);
}

static void
client_end(struct sn_shard *sh, struct client *c)
{
	if (c->why != NULL)
		nam_log(NAM_LOG_WARN, "storage node %u: dropped the rings of %s: %s", sh->all->id, c->name,
		    c->why);
	for (struct client **p = &sh->clients; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	if (c->slot < SLOTS)
		sh->slot[c->slot] = NULL;
	net_link_forget(&c->link);
	epoll_ctl(sh->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	client_free(sh->all, c);
}

/* The link to rings that the client has just got. */
static void
begin_link(struct sn_shard *sh, struct client *c)
{
	struct sn_shards *s = sh->all;
	struct net_pool_member *m = &c->member;
	char *mirror = c->link.out.mirror;
	uint64_t seed;
	nam_random_bytes(&seed, sizeof seed);
	c->offer = (struct net_ring_offer){ .magic = NET_RING_MAGIC,
		.status = NAM_OK,
		.number = SHARDS_MAX * c->slot + sh->id,
		.request = s->reserve + m->request,
		.response = m->mapped ? s->reserve + m->response : 0,
		.seed = seed,
		.shards = s->count,
		.shard = sh->id,
		.request_bytes = m->request_bytes,
		.response_bytes = m->response_bytes };
	net_ring_empty(s->base + c->offer.request, m->request_bytes);
	if (m->mapped)
		net_ring_empty(s->base + c->offer.response, m->response_bytes);
	c->link = (struct net_link){
		.service = s->service,
		.services = s->services,
		.shard = sh->id,
		.shards = s->count,
		.in = { .ring = s->base + c->offer.request, .bytes = m->request_bytes, .seed = seed },
		.out = { .mirror = mirror, .bytes = m->response_bytes, .seed = seed },
		.write = m->mapped       ? mapped_write
			 : c->qp != NULL ? verbs_write
					 : stream_write,
		.rouses = m->mapped && net_is_unix(c->fd) ? c->fd : -1,
		.tag = c,
	};
	c->wanted = c->rung = false;
	sh->slot[c->slot] = c;
}

/* If the client is the first of the line, and there is room: it has rings and a slot. */
static bool
grant(struct sn_shard *sh, struct client *c)
{
	struct sn_shards *s = sh->all;
	bool got = false;
	pthread_mutex_lock(&s->lock);
	if (s->pool.first == &c->member && (c->slot = slot_take_locked(s)) < SLOTS) {
		got = net_pool_grant(&s->pool, nam_clock_ns());
		if (!got) {
			slot_give_locked(s, c->slot);
			c->slot = SLOTS;
		}
	}
	atomic_store(&s->waiting, s->pool.waiting);
	pthread_mutex_unlock(&s->lock);
	if (got)
		begin_link(sh, c);
	return got;
}

static void
stand_in_line(struct sn_shard *sh, struct client *c, const struct net_ring_want *want)
{
	struct sn_shards *s = sh->all;
	pthread_mutex_lock(&s->lock);
	if (!c->joined)
		net_pool_join(&s->pool, &c->member);
	c->joined = true;
	net_pool_want(&s->pool, &c->member, want);
	atomic_store(&s->waiting, s->pool.waiting);
	pthread_mutex_unlock(&s->lock);
}

/* The hello has come. On the shard that will serve the client. */
static void
open_rings(struct sn_shard *sh, struct client *c)
{
	struct sn_shards *s = sh->all;
	struct net_ring_offer *o = &c->offer;
	const uint32_t most = c->hello.want.response_most;
	c->member.mapped = c->hello.way == NET_RING_MAPPED;
	c->link.out.mirror = calloc(1, most);
	bool memory = c->link.out.mirror != NULL &&
		      (c->qp == NULL || sn_ring_qp_register(c->qp, c->link.out.mirror, most));
	*o = (struct net_ring_offer){
		.magic = NET_RING_MAGIC, .status = NAM_NOMEM, .shards = s->count, .shard = sh->id
	};
	if (memory) {
		stand_in_line(sh, c, &c->hello.want);
		c->open = true;
		if (!grant(sh, c))
			o->status = NAM_BUSY;
	}
	if (send(c->fd, o, sizeof *o, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof *o)
		end_soon(c, "it does not take our offer");
	if (!memory)
		end_soon(c, NULL);
}

/* Gives rings to clients that wait, and asks others for theirs. */
static void
look_after_line(struct sn_shard *sh)
{
	struct sn_shards *s = sh->all;
	if (atomic_load_explicit(&s->waiting, memory_order_relaxed) == 0)
		return;
	for (;;) {
		pthread_mutex_lock(&s->lock);
		struct client *c = s->pool.first != NULL ? s->pool.first->tag : NULL;
		bool mine = c != NULL && c->shard == sh;
		bool asked = net_pool_ask(&s->pool, nam_clock_ns());
		pthread_mutex_unlock(&s->lock);
		if (asked)
			rouse_others(sh);
		if (!mine || !grant(sh, c))
			return;
		say(c, NET_RING_OFFER);
	}
}

static bool
way_fits(const struct client *c)
{
	uint32_t way = c->hello.way;
	return c->qp != NULL ? way == NET_RING_VERBS : way == NET_RING_MAPPED || way == NET_RING_STREAM;
}

/* Bytes on a fresh connection. True: it belongs to another shard now. */
static bool
hear_hello(struct sn_shard *sh, struct client *c)
{
	ssize_t n = recv(c->fd, (char *)&c->hello + c->got, sizeof c->hello - c->got, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		end_soon(c, NULL);
		return false;
	}
	c->got += (uint32_t)n;
	if (c->got < sizeof c->hello)
		return false;
	if (!net_link_sound(&c->hello) || !way_fits(c)) {
		end_soon(c, "it asks for rings that make no sense");
		return false;
	}
	struct sn_shard *to = &sh->all->shard[c->hello.service % sh->all->count];
	if (to == sh) {
		open_rings(sh, c);
		return false;
	}
	epoll_ctl(sh->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	for (struct client **p = &sh->clients; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
	post(to, c);
	return true;
}

/* The client gives its rings back. */
static void
end_link(struct sn_shard *sh, struct client *c)
{
	struct sn_shards *s = sh->all;
	c->rung = false;
	c->link.polled = false;
	net_link_forget(&c->link);
	sh->slot[c->slot] = NULL;
	pthread_mutex_lock(&s->lock);
	slot_give_locked(s, c->slot);
	c->slot = SLOTS;
	net_pool_give(&s->pool, &c->member);
	bool waiting = s->pool.waiting != 0;
	pthread_mutex_unlock(&s->lock);
	if (waiting)
		rouse_others(sh);
}

/* Takes one word. Returns its bytes, 0 = it has not come whole. */
static uint32_t
take_word(struct sn_shard *sh, struct client *c, const char *at, uint32_t have)
{
	struct net_ring_want want;
	switch (at[0]) {
	case NET_RING_BELL:
		c->rung = true;
		if (c->hello.way != NET_RING_MAPPED)
			end_soon(c, "it sent bytes where none are expected");
		return 1;
	case NET_RING_GIVE:
		if (c->member.has)
			end_link(sh, c);
		else
			end_soon(c, "it gives rings back that it has not got");
		return 1;
	case NET_RING_WANT:
		if (have < 1 + sizeof want)
			return 0;
		memcpy(&want, at + 1, sizeof want);
		if (c->qp != NULL)
			want.response_least = want.response_most;
		if (c->member.has || c->member.waits || !net_pool_sound(&want) ||
		    want.request_most > c->hello.want.request_most ||
		    want.response_most > c->hello.want.response_most)
			end_soon(c, "it asks for rings that make no sense");
		else
			stand_in_line(sh, c, &want);
		return 1 + sizeof want;
	default:
		end_soon(c, "it sent bytes where none are expected");
		return 1;
	}
}

/* Takes words, or the end. */
static void
hear(struct sn_shard *sh, struct client *c)
{
	char bytes[sizeof c->heard + 64];
	memcpy(bytes, c->heard, c->heard_len);
	ssize_t n = recv(c->fd, bytes + c->heard_len, 64, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_soon(c, NULL);
		return;
	}
	uint32_t have = c->heard_len + (uint32_t)n, at = 0, took;
	while (!c->ending && at < have && (took = take_word(sh, c, bytes + at, have - at)) != 0)
		at += took;
	c->heard_len = c->ending ? 0 : have - at;
	memcpy(c->heard, bytes + at, c->heard_len);
}

/* ---- fenced processes ----------------------------------------------------------------------- */

/*
 * Every client is compared with the list of fenced identities when it comes to a shard, and again
 * when the list has grown. A fence adds to the list before it asks the shards, so a client on its
 * way from one shard to another is found where it arrives.
 */
static bool
is_fenced(struct sn_shards *s, const struct client *c)
{
	return c->identity != 0 && sn_fenced_find(sn_region_fenced(s->region), c->identity) != 0;
}

static void
end_fenced(struct sn_shard *sh)
{
	size_t places = sn_fenced_count(sn_region_fenced(sh->all->region));
	if (places == atomic_load_explicit(&sh->fenced_ok, memory_order_relaxed))
		return;
	for (struct client *c = sh->clients, *next; c != NULL; c = next) {
		next = c->next;
		if (is_fenced(sh->all, c))
			client_end(sh, c);
	}
	atomic_store(&sh->fenced_ok, places);
}

void
sn_shards_fence(struct sn_shards *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		atomic_store(&s->shard[i].mail, true);
		rouse(&s->shard[i]);
	}
}

bool
sn_shards_fenced(struct sn_shards *s, size_t place, uint64_t identity)
{
	bool all = true;
	for (unsigned i = 0; i < s->count; i++)
		all = all && atomic_load(&s->shard[i].fenced_ok) >= place;
	if (all)
		return true;
	/* A shard may be late, or busy for long. A fence need not wait for it if the process has
	 * no client there: new clients are refused now. */
	pthread_mutex_lock(&s->lock);
	const struct client *c = s->live;
	while (c != NULL && c->identity != identity)
		c = c->live_next;
	pthread_mutex_unlock(&s->lock);
	return c == NULL;
}

/* ---- the loop
 * ----------------------------------------------------------------------------------- */

static void
take_mail(struct sn_shard *sh)
{
	if (!atomic_exchange(&sh->mail, false))
		return;
	pthread_mutex_lock(&sh->lock);
	struct client *c = sh->inbox, *next;
	sh->inbox = NULL;
	pthread_mutex_unlock(&sh->lock);
	for (; c != NULL; c = next) {
		next = c->next;
		c->shard = sh;
		if (is_fenced(sh->all, c)) {
			client_free(sh->all, c);
			continue;
		}
		c->next = sh->clients;
		sh->clients = c;
		watch(c, EPOLL_CTL_ADD, EPOLLIN);
		if (c->got == sizeof c->hello)
			open_rings(sh, c);
	}
	end_fenced(sh);
}

static void
take_rung(struct sn_shard *sh)
{
	if (!atomic_load_explicit(&sh->any_rung, memory_order_relaxed) ||
	    !atomic_exchange(&sh->any_rung, false))
		return;
	for (unsigned i = 0; i < SLOTS / 64; i++) {
		if (atomic_load_explicit(&sh->rung[i], memory_order_relaxed) == 0)
			continue;
		for (uint64_t bits = atomic_exchange(&sh->rung[i], 0); bits != 0; bits &= bits - 1) {
			struct client *c = sh->slot[64 * i + (unsigned)__builtin_ctzll(bits)];
			if (c != NULL)
				c->rung = true;
		}
	}
}

/* Takes all events of the connections. Returns how many there were. */
static int
take_events(struct sn_shard *sh)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(sh->epoll_fd, ev, EVENTS, 0);
	for (int i = 0; i < n; i++) {
		struct client *c = ev[i].data.ptr;
		if (c == NULL) {
			uint64_t sink;
			ssize_t got = read(sh->wake_fd, &sink, sizeof sink);
			(void)got;
			continue;
		}
		if (!c->open) {
			hear_hello(sh, c);
			continue;
		}
		if (ev[i].events & EPOLLOUT)
			stream_send(c);
		if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
			hear(sh, c);
	}
	return n;
}

struct round {
	bool served;   /* a client was served */
	bool polls;    /* a client does not announce its requests */
	bool half;     /* a message is under way */
	bool stranger; /* a client has a deadline */
};

static struct round
serve_all(struct sn_shard *sh, uint64_t now)
{
	struct round r = { 0 };
	bool drop = atomic_load_explicit(&sh->drop_queue_pairs, memory_order_relaxed);
	for (struct client *c = sh->clients, *next; c != NULL; c = next) {
		next = c->next;
		if (!c->open && !c->ending) {
			r.stranger = true;
			if (now > c->deadline_ns)
				end_soon(c, "it did not say what it wants");
		}
		if (c->member.has && !c->ending && (c->rung || c->link.polled))
			switch (net_link_turn(&c->link, sh->desk, now)) {
			case NET_LINK_SERVED:
				r.served = true;
				atomic_store_explicit(&c->member.used_ns, now, memory_order_relaxed);
				break;
			case NET_LINK_UNDER_WAY:
				r.half = true;
				break;
			case NET_LINK_NOTHING:
				c->rung = false;
				break;
			case NET_LINK_RUBBISH:
				end_soon(c, "its request ring holds bytes that are no message");
				break;
			}
		if (c->member.asked && !c->wanted && !c->ending) {
			c->wanted = true;
			say(c, NET_RING_WANTED);
		}
		if (c->say_len != 0 && !c->stuck) {
			say_on(c);
			r.half |= c->say_len != 0;
		}
		if (c->qp != NULL && c->waiting > 0) {
			verbs_send(c);
			r.half |= c->waiting > 0;
		}
		if (drop && c->qp != NULL)
			c->ending = true;
		r.polls |= c->open && c->link.polled;
		if (c->ending)
			client_end(sh, c);
	}
	return r;
}

static void
sleep_ns(struct sn_shard *sh, uint64_t ns)
{
	struct pollfd p = { .fd = sh->epoll_fd, .events = POLLIN };
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	atomic_store(&sh->asleep, true);
	/* A client handed over before this store is seen here; one that comes after it writes to
	 * wake_fd. */
	if (!atomic_load(&sh->any_rung) && !atomic_load(&sh->mail) && !atomic_load(&sh->stop) &&
	    !atomic_load(&sh->drop_queue_pairs))
		ppoll(&p, 1, ns == UINT64_MAX ? NULL : &ts, NULL);
	atomic_store(&sh->asleep, false);
}

static void *
shard_main(void *arg)
{
	struct sn_shard *sh = arg;
	uint64_t news_ns = nam_clock_ns(), nap_ns = 0;
	unsigned rounds = 0;
	struct nam_core core = { 0 };
	prctl(PR_SET_NAME, "namdb-shard", 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	while (!atomic_load_explicit(&sh->stop, memory_order_relaxed)) {
		uint64_t now = nam_clock_ns();
		take_mail(sh);
		take_rung(sh);
		look_after_line(sh);
		struct round r = serve_all(sh, now);
		bool news = r.served;
		if (++rounds % ROUNDS_PER_POLL == 0)
			news |= take_events(sh) > 0;
		if (!news || rounds % ROUNDS_PER_IDLE == 0)
			news |= net_link_idle(sh->all->service, sh->all->services, sh->id, sh->all->count);
		if (news) {
			news_ns = now;
			nap_ns = 0;
			continue;
		}
		if ((r.polls || r.half) && now - news_ns < SPIN_NS && nam_core_yield(&core))
			continue;
		/* Last look, then sleep. */
		if (take_events(sh) > 0)
			continue;
		nap_ns = nap_ns == 0 ? NAP_NS_MIN : 2 * nap_ns < NAP_NS_MAX ? 2 * nap_ns : NAP_NS_MAX;
		bool line = atomic_load_explicit(&sh->all->waiting, memory_order_relaxed) != 0;
		sleep_ns(sh, r.polls || r.half || line ? nap_ns : r.stranger ? HELLO_NS : UINT64_MAX);
	}
	return NULL;
}

/* ---- opening
 * --------------------------------------------------------------------------------------- */

/* Each on a core of its own, from the last one down: the system starts other threads on the first
 * ones. */
static void
pin(struct sn_shard *sh)
{
	cpu_set_t may, one;
	if (sched_getaffinity(0, sizeof may, &may) != 0 || CPU_COUNT(&may) < 2)
		return;
	int nth = CPU_COUNT(&may) - 1 - (int)sh->id % CPU_COUNT(&may), cpu = 0;
	while (!CPU_ISSET(cpu, &may) || nth-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_setaffinity_np(sh->thread, sizeof one, &one);
}

static nam_status
shard_open(struct sn_shards *s, unsigned id, struct nam_err *err)
{
	struct sn_shard *sh = &s->shard[id];
	sh->all = s;
	sh->id = id;
	sh->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	sh->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sh->desk = malloc(sizeof *sh->desk);
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL };
	if (sh->desk == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a shard");
	if (sh->epoll_fd < 0 || sh->wake_fd < 0 ||
	    epoll_ctl(sh->epoll_fd, EPOLL_CTL_ADD, sh->wake_fd, &e) != 0)
		return nam_fail(err, NAM_IO, "cannot make a shard: %s", strerror(errno));
	int rc = pthread_create(&sh->thread, NULL, shard_main, sh);
	if (rc != 0)
		return nam_fail(err, NAM_IO, "cannot start a shard: %s", strerror(rc));
	sh->started = true;
	if (s->pinned)
		pin(sh);
	return NAM_OK;
}

nam_status
sn_shards_open(
    struct sn_shards **out, struct sn_region *r, const struct sn_serve_config *cfg, struct nam_err *err)
{
	struct net_local *local = sn_local(r);
	struct net_super *super = local->base;
	unsigned count = cfg->shards != 0 ? cfg->shards : 1;
	if (count > SHARDS_MAX || cfg->services == 0 || cfg->services > NET_SERVICES)
		return nam_fail(err, NAM_INVALID, "%u services on %u shards: at most %d on %d", cfg->services,
		    count, NET_SERVICES, SHARDS_MAX);
	uint64_t bytes = net_pool_bytes(local->size, cfg->ring_bytes);
	if (super->bump + bytes > local->size)
		return nam_fail(err, NAM_FULL, "%llu KiB for message rings are more than the region has",
		    (unsigned long long)bytes >> 10);
	struct sn_shards *s = calloc(1, sizeof *s);
	if (s == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for shards");
	s->region = r;
	s->base = local->base;
	s->id = sn_region_id(r);
	s->count = count;
	s->pinned = !cfg->unpinned;
	s->services = cfg->services;
	memcpy(s->service, cfg->service, cfg->services * sizeof *cfg->service);
	s->reserve = super->bump;
	bool opened = net_pool_open(&s->pool, bytes);
	pthread_mutex_init(&s->lock, NULL);
	for (unsigned i = 0; i < count; i++) {
		s->shard[i].epoll_fd = s->shard[i].wake_fd = -1;
		pthread_mutex_init(&s->shard[i].lock, NULL);
	}
	nam_status st = opened ? NAM_OK : nam_fail(err, NAM_NOMEM, "no memory for shards");
	for (unsigned i = 0; i < count && st == NAM_OK; i++)
		st = shard_open(s, i, err);
	if (st != NAM_OK) {
		sn_shards_close(s);
		return st;
	}
	super->bump += bytes;
	local->rings = take_local;
	local->rings_arg = s;
	*out = s;
	return NAM_OK;
}

void
sn_shards_drop_queue_pairs(struct sn_shards *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		atomic_store(&s->shard[i].drop_queue_pairs, true);
		rouse(&s->shard[i]);
	}
	while (atomic_load(&s->queue_pairs) != 0) {
		struct timespec nap = { 0, 1000000 };
		nanosleep(&nap, NULL);
	}
	for (unsigned i = 0; i < s->count; i++)
		atomic_store(&s->shard[i].drop_queue_pairs, false);
}

void
sn_shards_close(struct sn_shards *s)
{
	if (s == NULL)
		return;
	struct net_local *local = sn_local(s->region);
	local->rings = NULL;
	for (unsigned i = 0; i < s->count; i++) {
		struct sn_shard *sh = &s->shard[i];
		if (sh->started) {
			atomic_store(&sh->stop, true);
			uint64_t one = 1;
			ssize_t n = write(sh->wake_fd, &one, sizeof one);
			(void)n;
			pthread_join(sh->thread, NULL);
		}
	}
	for (unsigned i = 0; i < s->count; i++) {
		struct sn_shard *sh = &s->shard[i];
		while (sh->clients != NULL) {
			sh->clients->why = NULL;
			client_end(sh, sh->clients);
		}
		while (sh->inbox != NULL) {
			struct client *c = sh->inbox;
			sh->inbox = c->next;
			client_free(s, c);
		}
		if (sh->epoll_fd >= 0)
			close(sh->epoll_fd);
		if (sh->wake_fd >= 0)
			close(sh->wake_fd);
		pthread_mutex_destroy(&sh->lock);
		free(sh->desk);
	}
	pthread_mutex_destroy(&s->lock);
	net_pool_close(&s->pool);
	free(s);
}
