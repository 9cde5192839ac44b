/*
 * rpc.c -- the peer of `namdb bench verbs`: requests and responses over TCP, as of a program
 * without a fabric.
 *
 * A request is 8 bytes: how long the answer shall be, and a number. The answer is so many bytes,
 * the first 8 of them the request's. Both ends block. The client keeps `depth` requests out: it
 * sends with one call as many as it took answers with one; the server answers with one call all the
 * requests it got with one.
 */
#include "verbs.h"

#include <base/clock.h>

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 64 << 10, PIECE = 1 << 20 };

struct request {
	uint32_t len, number;
};
static_assert(sizeof(struct request) == VERBS_SIZE_MIN, "the shortest answer is the request itself");

struct verbs_rpc {
	int client, server;
	bool serving;
	struct verbs_thread thread;
	uint32_t number;
	char *into; /* VERBS_OUT_MAX: answers */
	char *from; /* PIECE: what answers are made of */
	char in[BUFFER], out[BUFFER];
};

static bool
send_all(int fd, const void *from, size_t len)
{
	const char *at = from;
	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool
send_long(struct verbs_rpc *r, struct request q)
{
	bool ok = send_all(r->server, &q, sizeof q);
	for (uint32_t left = q.len - (uint32_t)sizeof q; ok && left > 0;) {
		uint32_t n = left < PIECE ? left : PIECE;
		ok = send_all(r->server, r->from, n);
		left -= n;
	}
	return ok;
}

static void
serve(void *arg)
{
	struct verbs_rpc *r = arg;
	size_t have = 0, out = 0;
	for (;;) {
		ssize_t n = recv(r->server, r->in + have, BUFFER - have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		have += (size_t)n;
		size_t at = 0;
		for (struct request q; have - at >= sizeof q; at += sizeof q) {
			memcpy(&q, r->in + at, sizeof q);
			if (q.len < sizeof q || q.len > VERBS_SIZE_MAX)
				return;
			if (q.len > BUFFER - out) {
				if (!send_all(r->server, r->out, out))
					return;
				out = 0;
			}
			if (q.len > BUFFER) {
				if (!send_long(r, q))
					return;
				continue;
			}
			memcpy(r->out + out, &q, sizeof q);
			memcpy(r->out + out + sizeof q, r->from, q.len - sizeof q);
			out += q.len;
		}
		if (!send_all(r->server, r->out, out))
			return;
		out = 0;
		memmove(r->in, r->in + at, have - at);
		have -= at;
	}
}

/* Makes two ends of one connection over the loopback interface. A stranger's connection that comes
 * first is closed. */
static bool
connect_both(struct verbs_rpc *r)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, us,
			   them;
	socklen_t len = sizeof at, us_len = sizeof us, them_len = sizeof them;
	int one = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = door >= 0 && r->client >= 0 && bind(door, (struct sockaddr *)&at, len) == 0 &&
		  listen(door, 1) == 0 && getsockname(door, (struct sockaddr *)&at, &len) == 0 &&
		  connect(r->client, (struct sockaddr *)&at, len) == 0 &&
		  getsockname(r->client, (struct sockaddr *)&us, &us_len) == 0;
	while (ok && r->server < 0) {
		r->server = accept4(door, (struct sockaddr *)&them, &them_len, SOCK_CLOEXEC);
		ok = r->server >= 0;
		if (ok && them.sin_port != us.sin_port) {
			close(r->server);
			r->server = -1;
		}
	}
	ok = ok && setsockopt(r->client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0 &&
	     setsockopt(r->server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0;
	int why = errno;
	if (door >= 0)
		close(door);
	errno = why;
	return ok;
}

nam_status
bench_verbs_rpc_open(struct verbs_rpc **out, const struct verbs_params *p, struct nam_err *err)
{
	struct verbs_rpc *r = calloc(1, sizeof *r);
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	r->client = r->server = -1;
	r->into = aligned_alloc(4096, VERBS_OUT_MAX);
	r->from = calloc(1, PIECE);
	nam_status st = NAM_OK;
	if (r->into == NULL || r->from == NULL)
		st = nam_fail(err, NAM_NOMEM, "no memory");
	else if (!connect_both(r))
		st = nam_fail(err, NAM_IO, "no loopback connection for the peer: %m");
	else if (!bench_verbs_thread_start(&r->thread, serve, r, p->pin_server))
		st = nam_fail(err, NAM_NOMEM, "no thread for the peer: %m");
	else
		r->serving = true;
	if (st != NAM_OK) {
		bench_verbs_rpc_close(r);
		return st;
	}
	*out = r;
	return NAM_OK;
}

void
bench_verbs_rpc_close(struct verbs_rpc *r)
{
	if (r->client >= 0)
		close(r->client);
	if (r->serving)
		pthread_join(r->thread.id, NULL);
	if (r->server >= 0)
		close(r->server);
	free(r->into);
	free(r->from);
	free(r);
}

void
bench_verbs_rpc_core(struct verbs_rpc *r, cpu_set_t *server)
{
	bench_verbs_thread_core(atomic_load(&r->thread.tid), server);
}

static bool
ask(struct verbs_rpc *r, uint32_t size, unsigned n)
{
	struct request q[VERBS_DEPTH_MAX];
	for (unsigned i = 0; i < n; i++)
		q[i] = (struct request){ size, r->number++ };
	return send_all(r->client, q, n * sizeof *q);
}

nam_status
bench_verbs_rpc_run(struct verbs_rpc *r, uint32_t size, unsigned depth, double seconds,
    struct nam_hist *latency_ns, struct verbs_slice *out, struct nam_err *err)
{
	uint64_t asked_ns[VERBS_DEPTH_MAX];
	/* Answers lie one behind the other, and as many fit before the first place is used
	 * again. */
	size_t places = depth * (size_t)size < BUFFER ? BUFFER / size : depth, room = places * size, at = 0;
	uint64_t server = bench_verbs_thread_cpu_ns(&r->thread), cpu = bench_verbs_cpu_ns();
	uint64_t begin = nam_clock_ns(), end = begin + (uint64_t)(seconds * 1e9), now = begin, taken = 0;
	uint32_t first = r->number;
	unsigned left = depth; /* asked for and not answered */
	*out = (struct verbs_slice){ 0 };
	for (unsigned i = 0; i < depth; i++)
		asked_ns[i] = begin;
	bool ok = ask(r, size, depth);
	while (ok && left > 0) {
		size_t due = left * (size_t)size - taken % size;
		ssize_t n = recv(r->client, r->into + at, due < room - at ? due : room - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (!(ok = n > 0))
			break;
		uint64_t before = taken / size;
		taken += (uint64_t)n;
		at = (at + (size_t)n) % room;
		unsigned came = (unsigned)(taken / size - before);
		if (came == 0)
			continue;
		now = nam_clock_ns();
		for (unsigned i = 0; i < came; i++) {
			uint64_t k = before + i;
			struct request q;
			memcpy(&q, r->into + k % places * size, sizeof q);
			out->wrong += q.len != size || q.number != first + (uint32_t)k;
			nam_hist_add(latency_ns, now - asked_ns[k % depth]);
			asked_ns[k % depth] = now;
		}
		left -= came;
		if (now < end && !atomic_load_explicit(&bench_verbs_stop, memory_order_relaxed)) {
			ok = ask(r, size, came);
			left += came;
		}
	}
	out->ops = taken / size;
	out->seconds = (double)(now - begin) / 1e9;
	out->client_ns = bench_verbs_cpu_ns() - cpu;
	out->server_ns = bench_verbs_thread_cpu_ns(&r->thread) - server;
	return ok ? NAM_OK : nam_fail(err, NAM_IO, "the peer's connection broke: %m");
}
