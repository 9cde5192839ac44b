/*
 * twopc_tcp.c -- two-phase commit over TCP sockets of this host: the traditional way, for
 * real.
 *
 * A session has a thread for its client, one for its part of the TM, and one for its part of each
 * RM; each two that talk have a connection. A thread sleeps until a connection has bytes.
 */
#include "twopc.h"

#include <base/clock.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM_PART = 5, PEERS_MAX = TXN_TWOPC_RMS_MAX + 2, BUFFER = 2 * TXN_TWOPC_MESSAGE_MAX };

/* ---- what real runs share ---- */

static void
wait_seconds(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		continue;
}

void
tpcw_twopc_count(struct tpcw_twopc *t, struct tpcw_twopc_real *p)
{
	wait_seconds(p->seconds / WARM_PART);
	double cpu = bench_cpu_seconds();
	uint64_t from = nam_clock_ns();
	atomic_store(&t->counting, true);
	wait_seconds(p->seconds);
	atomic_store(&t->counting, false);
	p->rate = 1e9 / (double)(nam_clock_ns() - from); /* times commits: below */
	p->cpu_us = (bench_cpu_seconds() - cpu) * 1e6;
	atomic_store(&t->stop, true);
}

void
tpcw_twopc_sum(const struct tpcw_twopc *t, struct tpcw_twopc_real *p)
{
	struct bench_slice sum = { 0 };
	for (unsigned i = 0; i < t->sessions; i++)
		bench_slice_add(&sum, &t->session[i].slice);
	double commits = sum.commits != 0 ? (double)sum.commits : 1;
	p->rate *= (double)sum.commits;
	p->cpu_us /= commits;
	p->p50_us = (double)nam_hist_quantile(&sum.latency_ns, 0.5) / 1e3;
	p->p99_us = (double)nam_hist_quantile(&sum.latency_ns, 0.99) / 1e3;
	p->aborts = (double)sum.aborts / commits;
	p->bad = atomic_load(&t->bad) + tpcw_twopc_check(t);
}

/* ---- a thread and its connections ---- */

struct peer {
	int fd; /* -1: its end has come */
	unsigned address;
	uint32_t have;
	_Alignas(8) char bytes[BUFFER];
};

struct actor {
	struct tpcw_twopc *run;
	struct tpcw_twopc_session *s;
	unsigned self; /* its address in the session */
	pthread_t thread;
	unsigned peers;
	struct peer *peer[PEERS_MAX];
	bool bad;
};

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct actor *a = arg;
	const char *from = bytes;
	unsigned i = 0;
	while (i < a->peers && a->peer[i]->address != to)
		i++;
	while (len > 0 && i < a->peers && a->peer[i]->fd >= 0) {
		ssize_t n = send(a->peer[i]->fd, from, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		from += n;
		len -= (uint32_t)n;
	}
	a->bad |= len > 0;
}

static nam_status
take(struct actor *a, const void *bytes, uint32_t len)
{
	const struct txn_twopc_wire wire = { sends, a };
	if (a->self == TXN_TWOPC_CLIENT)
		return txn_twopc_client_take(a->s->client, bytes, len);
	if (a->self == TXN_TWOPC_TM)
		return txn_twopc_tm_take(a->s->tm, bytes, len);
	unsigned r = a->self - (unsigned)TXN_TWOPC_RM;
	return txn_twopc_rm_take(a->run->rm[r], r, &wire, bytes, len);
}

/* Takes the messages that have come whole. Their lengths are multiples of 8, so all of them lie as
 * they must. */
static void
take_all(struct actor *a, struct peer *p)
{
	uint32_t at = 0;
	while (p->have - at >= sizeof(struct txn_twopc_head)) {
		const struct txn_twopc_head *h = (const void *)(p->bytes + at);
		nam_status st = h->len < sizeof *h || h->len > TXN_TWOPC_MESSAGE_MAX || h->len % 8 != 0
				    ? NAM_INVALID
				    : NAM_OK;
		if (st == NAM_OK && h->len > p->have - at)
			break;
		uint32_t len = h->len;
		if (st == NAM_OK)
			st = take(a, h, len);
		tpcw_twopc_took(a->run, st);
		if (st != NAM_OK) {
			a->bad = true;
			return;
		}
		at += len;
	}
	p->have -= at;
	memmove(p->bytes, p->bytes + at, p->have);
}

/* The client goes when it has stopped, then its TM when no transaction is open, then the RMs. */
static bool
ends(const struct actor *a)
{
	unsigned gone = 0;
	for (unsigned i = 0; i < a->peers; i++)
		gone += a->peer[i]->fd < 0;
	if (a->bad)
		return true;
	if (a->self == TXN_TWOPC_CLIENT)
		return a->s->over || gone > 0;
	if (a->self == TXN_TWOPC_TM) /* its first peer is the client */
		return (a->peer[0]->fd < 0 && txn_twopc_tm_open_count(a->s->tm) == 0) ||
		       gone > (a->peer[0]->fd < 0);
	return gone == a->peers;
}

static void *
actor_main(void *arg)
{
	struct actor *a = arg;
	struct pollfd fds[PEERS_MAX];
	if (a->self == TXN_TWOPC_CLIENT)
		tpcw_twopc_begin(a->s);
	while (!ends(a)) {
		for (unsigned i = 0; i < a->peers; i++)
			fds[i] = (struct pollfd){ .fd = a->peer[i]->fd, .events = POLLIN };
		if (poll(fds, a->peers, -1) < 0 && errno != EINTR)
			a->bad = true;
		for (unsigned i = 0; i < a->peers && !a->bad; i++) {
			struct peer *p = a->peer[i];
			if (p->fd < 0 || (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0)
				continue;
			ssize_t n = recv(p->fd, p->bytes + p->have, BUFFER - p->have, 0);
			if (n > 0) {
				p->have += (uint32_t)n;
				take_all(a, p);
			} else if (n == 0 || errno != EINTR) {
				close(p->fd);
				p->fd = -1;
			}
		}
	}
	if (a->bad || (a->self == TXN_TWOPC_CLIENT && !a->s->over))
		tpcw_twopc_took(a->run, NAM_GONE);
	for (unsigned i = 0; i < a->peers; i++)
		if (a->peer[i]->fd >= 0)
			close(a->peer[i]->fd);
	return NULL;
}

/* ---- connections ---- */

/* Two ends of a connection of this host's TCP. The accepted one is ours if it comes from our
 * port. */
static bool
connection(int end[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, me,
			   from;
	socklen_t len = sizeof at;
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	end[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	end[1] = -1;
	bool good = listener >= 0 && end[0] >= 0 && bind(listener, (struct sockaddr *)&at, len) == 0 &&
		    listen(listener, 8) == 0 && getsockname(listener, (struct sockaddr *)&at, &len) == 0 &&
		    connect(end[0], (struct sockaddr *)&at, sizeof at) == 0;
	len = sizeof me;
	good = good && getsockname(end[0], (struct sockaddr *)&me, &len) == 0;
	while (good && end[1] < 0) {
		len = sizeof from;
		end[1] = accept4(listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);
		if (end[1] < 0) {
			good = errno == EINTR;
		} else if (from.sin_port != me.sin_port || from.sin_addr.s_addr != me.sin_addr.s_addr) {
			close(end[1]);
			end[1] = -1;
		}
	}
	for (unsigned i = 0; good && i < 2; i++)
		good = setsockopt(end[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
	for (unsigned i = 0; !good && i < 2; i++)
		if (end[i] >= 0)
			close(end[i]);
	if (listener >= 0)
		close(listener);
	return good;
}

static bool
add_peer(struct actor *a, int fd, unsigned address)
{
	struct peer *p = aligned_alloc(8, sizeof *p);
	if (p == NULL)
		return false;
	p->fd = fd;
	p->address = address;
	p->have = 0;
	a->peer[a->peers++] = p;
	return true;
}

static nam_status
join(struct actor *a, struct actor *b, struct nam_err *err)
{
	int end[2];
	if (!connection(end))
		return nam_fail(err, NAM_IO, "no connection to this host: %m");
	bool good = add_peer(a, end[0], b->self);
	if (good && add_peer(b, end[1], a->self))
		return NAM_OK;
	close(end[1]);
	if (!good)
		close(end[0]);
	return nam_fail(err, NAM_NOMEM, "no memory for a connection");
}

/* ---- the run ---- */

static uint64_t
now_ns(struct tpcw_twopc_session *s)
{
	(void)s;
	return nam_clock_ns();
}

static void
work(struct tpcw_twopc_session *s)
{
	(void)s; /* what it computes takes its time */
}

static nam_status
session_open(struct tpcw_twopc *run, struct actor *actor, unsigned number, struct nam_err *err)
{
	struct tpcw_twopc_session *s = &run->session[number];
	nam_status st = NAM_OK;
	*s = (struct tpcw_twopc_session){ .run = run, .number = number };
	for (unsigned i = 0; i < TXN_TWOPC_RM + run->rms; i++)
		actor[i] = (struct actor){ .run = run, .s = s, .self = i };
	const struct txn_twopc_wire client = { sends, &actor[TXN_TWOPC_CLIENT] };
	const struct txn_twopc_wire tm = { sends, &actor[TXN_TWOPC_TM] };
	if ((st = tpcw_twopc_session_open(s, &client, &tm)) != NAM_OK)
		return nam_fail(err, st, "no memory for a client");
	st = join(&actor[TXN_TWOPC_TM], &actor[TXN_TWOPC_CLIENT], err);
	for (unsigned r = 0; r < run->rms; r++)
		for (unsigned i = 0; i < TXN_TWOPC_RM && st == NAM_OK; i++)
			st = join(&actor[i], &actor[TXN_TWOPC_RM + r], err);
	return st;
}

/* Threads of all actors, the RMs' and TMs' first. If one cannot start, the others see the ends
 * of its connections. */
static void
run_all(struct tpcw_twopc_real *p, struct tpcw_twopc *run, struct actor *actor, nam_status *st,
    struct nam_err *err)
{
	unsigned n = p->clients * (TXN_TWOPC_RM + p->rms), started = 0;
	for (; *st == NAM_OK && started < n; started++) {
		/* in reverse: of a session the client is the last to start */
		struct actor *a = &actor[n - 1 - started];
		if (pthread_create(&a->thread, NULL, actor_main, a) != 0) {
			*st = nam_fail(err, NAM_NOMEM, "no thread for %u clients", p->clients);
			break;
		}
	}
	if (*st == NAM_OK)
		tpcw_twopc_count(run, p);
	atomic_store(&run->stop, true);
	for (unsigned i = 0; i < n - started; i++)
		for (unsigned k = 0; k < actor[i].peers; k++)
			close(actor[i].peer[k]->fd);
	for (unsigned i = n - started; i < n; i++)
		pthread_join(actor[i].thread, NULL);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < actor[i].peers; k++)
			free(actor[i].peer[k]);
}

nam_status
tpcw_twopc_tcp(struct tpcw_twopc_real *p, struct nam_err *err)
{
	struct tpcw_twopc run = { .now_ns = now_ns, .work = work };
	unsigned each = TXN_TWOPC_RM + p->rms;
	struct actor *actor = calloc(p->clients * each, sizeof *actor);
	nam_status st = actor != NULL ? tpcw_twopc_open(&run, p->tpcw, p->rms, p->clients) : NAM_NOMEM;
	if (st != NAM_OK)
		nam_fail(err, st, "%s", nam_status_text(st));
	for (unsigned i = 0; st == NAM_OK && i < p->clients; i++)
		st = session_open(&run, &actor[i * each], i, err);
	if (actor != NULL)
		run_all(p, &run, actor, &st, err);
	if (st == NAM_OK)
		tpcw_twopc_sum(&run, p);
	tpcw_twopc_close(&run);
	free(actor);
	return st;
}
