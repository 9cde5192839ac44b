/*
 * fence.c -- fences processes at this node (net_fence_process): no new connections, an end to the
 * old ones.
 *
 * A process is known by the identity that a proven peer's hello carries. W3 of net/wire.h holds
 * because
 *      - the identity is refused before any of its connections is ended: a later proof of it is
 *        refused;
 *      - the thread that executes a stream's verbs has ended; the bytes in its buffers, here or in
 *        the socket, are thrown away;
 *      - an atomic of a stream that went through the loopback queue pair was done, or that queue
 *        pair is gone;
 *      - a queue pair is destroyed before this returns, and with it the device's right to execute
 *        for it;
 *      - each shard that serves rings has confirmed that it does not serve it any more, or has no
 *        client of it;
 *      - a process that has mapped the memory is killed, and its end awaited. The pidfd was taken
 *        before the process proved itself over the socket whose peer it is, so it was alive then,
 *        and its process number was its own. A connection of role SHM that ends by itself needs no
 *        kill: a net unmaps before it closes, and the kernel takes a dead process's memory before
 *        its descriptors.
 *
 * Asking (role ASK) comes before that and changes nothing (W5): the asking process decides by the
 * answer whether to fence.
 */
#include <base/clock.h>
#include <base/log.h>
#include <base/rng.h>
#include <storage_node/fenced.h>
#include <storage_node/server_internal.h>
#include <storage_node/shard.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Killed, but not dead yet. */
struct sn_dying {
	struct sn_dying *next;
	uint64_t identity;
	int pid_fd;
};

void
sn_fence_close(struct sn_server *s)
{
	while (s->dying != NULL) {
		struct sn_dying *d = s->dying;
		s->dying = d->next;
		close(d->pid_fd);
		free(d);
	}
}

void
sn_fence_hold(struct sn_conn *c)
{
	struct ucred who;
	socklen_t len = sizeof who;
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
		return;
	/* 0: of a PID namespace that this process does not see; it may hear of the peer's end, but
	 * cannot kill it. */
	c->pid = who.pid;
	len = sizeof c->pid_fd;
	/* If the kernel gives the pidfd of the very peer, not by number, it cannot belong to
	 * another process. */
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERPIDFD, &c->pid_fd, &len) != 0)
		c->pid_fd = who.pid > 0 ? (int)syscall(SYS_pidfd_open, who.pid, 0) : -1;
}

/* From here on no verb of it executes. The connection itself ends when no thread can be using
 * it. */
static void
cut(struct sn_server *s, struct sn_conn *c)
{
	c->cut = true;
	sn_list_add(&s->work, c, SN_WORK);
	s->fencing = true;
	if (c->stream != NULL)
		sn_stream_end(s, c);
	if (c->qp != NULL)
		sn_verbs_end(c);
}

static bool
endpoint(const struct sn_conn *c)
{
	return (c->role == NET_ROLE_WORKER || c->role == NET_ROLE_VERBS) && c->hello.word != 0;
}

enum net_verdict
sn_fence_admit(struct sn_server *s, struct sn_conn *c)
{
	if (sn_fenced_find(sn_region_fenced(s->region), c->hello.identity) != 0)
		return NET_NO_MORE;
	c->role = (enum net_role)c->hello.role;
	for (struct sn_conn *p = sn_server_same(s, c->hello.identity); endpoint(c) && p != NULL;
	     p = p->list[SN_SAME].next)
		if (!p->cut && endpoint(p) && p->hello.identity == c->hello.identity &&
		    p->hello.word == c->hello.word)
			cut(s, p);
	return NET_YES;
}

/* The verdict on the process behind a connection of role SHM: NET_YES if it is dead or being
 * killed. */
static enum net_verdict
kill_process(struct sn_server *s, struct sn_conn *c)
{
	struct sn_dying *d = c->pid != getpid() ? malloc(sizeof *d) : NULL;
	if (c->pid == getpid())
		return NET_NO_SELF;
	if (d == NULL)
		return NET_NO_ROOM;
	if (syscall(SYS_pidfd_send_signal, c->pid_fd, SIGKILL, NULL, 0) != 0 && errno != ESRCH) {
		free(d);
		return NET_NO_KILL;
	}
	*d = (struct sn_dying){ s->dying, c->hello.identity, c->pid_fd };
	s->dying = d;
	c->pid_fd = -1;
	return NET_YES;
}

void
sn_fence_begin(struct sn_server *s, struct sn_conn *c)
{
	uint64_t identity = c->hello.word;
	unsigned ended = 0, killed = 0;
	struct sn_fenced *fenced = sn_region_fenced(s->region);
	bool known = sn_fenced_find(fenced, identity) != 0;
	size_t place = sn_fenced_add(fenced, identity);
	c->fence_verdict = place != 0 ? NET_YES : NET_NO_ROOM;
	s->fencing = true;
	for (struct sn_conn *p = sn_server_same(s, identity); c->fence_verdict != NET_NO_ROOM && p != NULL;
	     p = p->list[SN_SAME].next) {
		if (p->cut || p->hello.identity != identity)
			continue;
		if (p->role == NET_ROLE_SHM) {
			/* If the process cannot be killed, its connection stays, so that the next
			 * fence finds it again. */
			enum net_verdict v = kill_process(s, p);
			if (v != NET_YES) {
				c->fence_verdict = v;
				continue;
			}
			killed++;
		}
		cut(s, p);
		ended++;
	}
	struct sn_shards *shards = sn_region_shards(s->region);
	c->fence_place = place;
	if (shards != NULL)
		sn_shards_fence(shards);
	if (!known || ended != 0)
		nam_log(NAM_LOG_WARN,
		    "storage node %u: process %012llx is fenced: %u connections ended, %u processes killed",
		    (unsigned)s->shake.region, (unsigned long long)identity, ended, killed);
}

/* ---- asking -------------------------------------------------------------------------- */

static_assert((int)NET_ASK_GRACE_SHIFT >= (int)NET_IDENTITY_BITS, "an identity fits below the grace");

void
sn_fence_ask(struct sn_server *s, struct sn_conn *c)
{
	uint64_t identity = c->hello.word & ((UINT64_C(1) << NET_ASK_GRACE_SHIFT) - 1);
	struct net_news ask = { .magic = NET_NEWS_MAGIC,
		.kind = NET_NEWS_ASK,
		.grace_ms = c->hello.word >> NET_ASK_GRACE_SHIFT };
	do
		nam_random_bytes(&ask.nonce, sizeof ask.nonce);
	while (ask.nonce == 0);
	c->ask_whom = identity;
	c->fence_verdict = NET_YES;
	c->ask_nonce = ask.nonce;
	c->ask_until_ns = nam_clock_ns() + ask.grace_ms * 1000000;
	s->fencing = true;
	for (struct sn_conn *p = sn_server_same(s, identity); p != NULL; p = p->list[SN_SAME].next)
		if (!p->cut && p->hello.identity == identity && sn_news_carries(p))
			sn_news_say(s, p, &ask);
}

bool
sn_fence_answered(struct sn_server *s, struct sn_conn *c, const struct net_news *answer)
{
	if (answer->nonce == 0)
		return false;
	/* An answer may also come when no process waits for it any more. */
	for (struct sn_conn *p = s->work; p != NULL; p = p->list[SN_WORK].next) {
		if (p->role != NET_ROLE_ASK || p->cut || p->ask_nonce != answer->nonce ||
		    p->ask_whom != c->hello.identity)
			continue;
		if (answer->kind == NET_NEWS_LIVES)
			p->fence_verdict = NET_NO_LIVES;
		else
			p->given_up = true;
		s->fencing = true;
	}
	return true;
}

/* True if the answer has come, or none can come. */
static bool
is_answered(const struct sn_server *s, const struct sn_conn *c, uint64_t now)
{
	bool control = false, mapped = false;
	if (c->fence_verdict != NET_YES || now >= c->ask_until_ns)
		return true;
	for (const struct sn_conn *p = sn_server_same(s, c->ask_whom); p != NULL; p = p->list[SN_SAME].next)
		if (!p->cut && p->hello.identity == c->ask_whom) {
			control |= sn_news_carries(p);
			mapped |= p->role == NET_ROLE_SHM;
		}
	/* It is about to close the memory it has given up: then it does not have to be killed. */
	return c->given_up ? !mapped : !control;
}

/* ---- the work ------------------------------------------------------------------------ */

/* True while a verb of it may still execute. */
static bool
lives(struct sn_server *s, const struct sn_conn *c)
{
	struct sn_shards *shards = sn_region_shards(s->region);
	if (shards != NULL && !sn_shards_fenced(shards, c->fence_place, c->hello.word))
		return true;
	for (const struct sn_dying *d = s->dying; d != NULL; d = d->next)
		if (d->identity == c->hello.word)
			return true;
	return false;
}

void
sn_fence_work(struct sn_server *s)
{
	/* An atomic that the device has not executed is not executed later either. */
	sn_verbs_mend(s);
	s->fencing = false;
	uint64_t now = nam_clock_ns();
	for (struct sn_dying **p = &s->dying; *p != NULL;) {
		struct sn_dying *d = *p;
		struct pollfd end = { .fd = d->pid_fd, .events = POLLIN };
		if (poll(&end, 1, 0) != 1) {
			p = &d->next;
			s->fencing = true; /* the next beat looks again */
			continue;
		}
		*p = d->next;
		close(d->pid_fd);
		free(d);
	}
	for (struct sn_conn *c = s->work, *next; c != NULL; c = next) {
		next = c->list[SN_WORK].next;
		if ((c->role == NET_ROLE_FENCE || c->role == NET_ROLE_ASK) && !c->cut) {
			if (c->role == NET_ROLE_FENCE ? lives(s, c) : !is_answered(s, c, now)) {
				s->fencing = true;
				continue;
			}
			struct net_grant grant = { .verdict = c->fence_verdict };
			sn_server_grant(s, c, &grant, -1); /* if the asking process has left, it
							    * asks again later */
			c->cut = true;
		}
		if (c->cut)
			sn_server_end(s, c);
	}
}
