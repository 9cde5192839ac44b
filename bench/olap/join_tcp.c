/*
 * join_tcp.c -- nodes that share nothing (olap/shuffle) as processes, each two with a connection.
 *
 * A process has one thread. If a connection takes no more, the thread takes what the others have
 * sent meanwhile, so that no two processes wait for each other.
 */
#include "join_tcp.h"

#include <base/clock.h>
#include <olap/shuffle/shuffle.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER = 4 * (OLAP_MESSAGE + (int)sizeof(struct shuffle_head)), LOOK_US = 20, SAMPLE = 64 << 20 };

/* In memory that all processes share. */
struct shared {
	atomic_uint turn, ready, over; /* of a run: its number, from 1; processes */
	atomic_uint failed;            /* a status */
	struct {
		struct join_sums sums;
		uint64_t bytes, filter_bytes, kept_out;
	} node[JOIN_TCP_NODES];
};

struct peer {
	int fd; /* -1: of this process */
	uint32_t have;
	_Alignas(8) char bytes[BUFFER];
};

struct process {
	const struct join_tcp *j;
	struct shared *shared;
	unsigned self;
	struct peer *peer; /* one for each process */
	struct olap_shuffle s;
	struct olap_node *node;
	char *tuples[2];
	struct join_sums sums;
	nam_status status; /* of a message that has come, or could not go */
};

/* ---- connections ---- */

/* Two ends of a connection of this host's TCP. */
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
	/* The port is open to this host's other programs: ours is the one with our address. */
	while (good) {
		len = sizeof from;
		end[1] = accept4(listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);
		if (end[1] < 0 || from.sin_port == me.sin_port)
			break;
		close(end[1]);
	}
	good = good && end[1] >= 0;
	for (unsigned i = 0; good && i < 2; i++)
		good = setsockopt(end[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
		       fcntl(end[i], F_SETFL, O_NONBLOCK) == 0;
	if (listener >= 0)
		close(listener);
	for (unsigned i = 0; !good && i < 2; i++)
		if (end[i] >= 0)
			close(end[i]);
	return good;
}

/* ---- messages ---- */

/* Those that have come whole. */
static nam_status
take_all(struct process *p, struct peer *from)
{
	uint32_t at = 0;
	nam_status st = NAM_OK;
	while (st == NAM_OK && from->have - at >= sizeof(struct shuffle_head)) {
		const struct shuffle_head *h = (const void *)(from->bytes + at);
		uint64_t len = sizeof *h + (uint64_t)h->bytes;
		if (h->magic != SHUFFLE_MAGIC || len > BUFFER || len % 8 != 0)
			return NAM_CORRUPT;
		if (len > from->have - at)
			break;
		st = olap_node_take(p->node, h, (uint32_t)len);
		at += (uint32_t)len;
	}
	memmove(from->bytes, from->bytes + at, from->have - at);
	from->have -= at;
	return st;
}

static nam_status
receive(struct process *p, struct peer *from)
{
	ssize_t n = recv(from->fd, from->bytes + from->have, BUFFER - from->have, 0);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return NAM_OK;
	if (n <= 0)
		return NAM_GONE;
	from->have += (uint32_t)n;
	return take_all(p, from);
}

/* Waits until a connection has bytes, which are taken, or `to`, if it is one, takes some. */
static nam_status
attend(struct process *p, const struct peer *to)
{
	struct pollfd fd[JOIN_TCP_NODES];
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < p->j->processes; i++)
		fd[i] = (struct pollfd){ .fd = p->peer[i].fd,
			.events = (short)(POLLIN | (&p->peer[i] == to ? POLLOUT : 0)) };
	if (poll(fd, p->j->processes, -1) < 0 && errno != EINTR)
		return NAM_IO;
	for (unsigned i = 0; st == NAM_OK && i < p->j->processes; i++)
		if (fd[i].fd >= 0 && (fd[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0)
			st = receive(p, &p->peer[i]);
	return st;
}

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct process *p = arg;
	const char *from = bytes;
	while (len > 0 && p->status == NAM_OK) {
		ssize_t n = send(p->peer[to].fd, from, len, MSG_NOSIGNAL);
		if (n > 0) {
			from += n;
			len -= (uint32_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			p->status = attend(p, &p->peer[to]);
		} else if (n == 0 || errno != EINTR) {
			p->status = NAM_GONE;
		}
	}
}

/* ---- a process ---- */

static nam_status
take_pairs(void *arg, const struct olap_pairs *pairs)
{
	struct process *p = arg;
	unsigned words = p->s.width / 8;
	for (unsigned i = 0; i < pairs->n; i++)
		for (unsigned w = 1; w < words; w++) {
			p->sums.left += ((const uint64_t *)pairs->left[i])[w];
			p->sums.right += ((const uint64_t *)pairs->right[i])[w];
		}
	p->sums.pairs += pairs->n;
	return NAM_OK;
}

/* Its share of both relations; of the join, S is the left side. */
static nam_status
fill(struct process *p)
{
	const struct join_tcp *j = p->j;
	for (unsigned side = 0; side < 2; side++) {
		uint64_t all = j->rows[1 - side], first = all * p->self / j->processes;
		uint64_t n = all * (p->self + 1) / j->processes - first;
		p->tuples[side] = malloc(n * j->draw.width + 8);
		if (p->tuples[side] == NULL)
			return NAM_NOMEM;
		for (uint64_t at = 0; at < n;) {
			unsigned some = n - at < 65536 ? (unsigned)(n - at) : 65536;
			(side == 0 ? bench_join_fill_s : bench_join_fill_r)(
			    &j->draw, first + at, some, p->tuples[side] + at * j->draw.width);
			at += some;
		}
		p->s.tuples[side] = p->tuples[side];
		p->s.n[side] = n;
		p->s.all[side] = all;
	}
	p->s.self = p->self;
	p->s.nodes = j->processes;
	p->s.width = j->draw.width;
	p->s.filters = j->filtered;
	p->s.wire = (struct olap_wire){ sends, NULL, p };
	p->s.pairs = take_pairs;
	p->s.arg = p;
	return NAM_OK;
}

/* One join. The connections have nothing of the join before. */
static nam_status
join(struct process *p)
{
	nam_status st = NAM_BUSY;
	p->sums = (struct join_sums){ 0 };
	p->status = NAM_OK;
	while (st == NAM_BUSY) {
		st = olap_node_step(p->node);
		if (p->status != NAM_OK)
			st = p->status;
		if (st == NAM_BUSY && (p->status = attend(p, NULL)) != NAM_OK)
			st = p->status;
	}
	p->shared->node[p->self].sums = p->sums;
	p->shared->node[p->self].bytes = p->s.did.bytes;
	p->shared->node[p->self].filter_bytes = p->s.did.filter_bytes;
	p->shared->node[p->self].kept_out = p->s.did.kept_out;
	return st;
}

/* Waits until so many have counted. False: a process has ended. */
static bool
all(const struct process *p, atomic_uint *count, unsigned n)
{
	while (atomic_load(count) < n) {
		siginfo_t ended = { 0 };
		if (p->self == 0 && waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    ended.si_pid != 0)
			atomic_store(&p->shared->failed, NAM_GONE);
		if (atomic_load(&p->shared->failed) != 0)
			return false;
		usleep(LOOK_US);
	}
	return true;
}

/* All runs; the first process begins each, and times it. */
static nam_status
runs(struct process *p, struct join_tcp *out)
{
	struct shared *s = p->shared;
	unsigned n = p->j->processes;
	nam_status st = fill(p);
	for (unsigned k = 0; st == NAM_OK && k <= p->j->runs; k++) {
		uint64_t began = 0;
		st = olap_node_open(&p->s, &p->node);
		atomic_fetch_add(&s->ready, 1);
		if (st == NAM_OK && out != NULL && all(p, &s->ready, n * (k + 1))) {
			began = nam_clock_ns();
			atomic_store(&s->turn, k + 1);
		}
		if (st == NAM_OK && !all(p, &s->turn, k + 1))
			st = NAM_GONE;
		if (st == NAM_OK)
			st = join(p);
		atomic_fetch_add(&s->over, 1);
		if (st == NAM_OK && !all(p, &s->over, n * (k + 1)))
			st = NAM_GONE;
		if (out != NULL && k > 0) /* the first run has warmed all memory */
			out->seconds[k - 1] = (double)(nam_clock_ns() - began) / 1e9;
		olap_node_close(p->node);
		p->node = NULL;
		for (unsigned i = 0; st == NAM_OK && out != NULL && k > 0 && i < n; i++) {
			out->sums[k - 1].pairs += s->node[i].sums.pairs;
			out->sums[k - 1].left += s->node[i].sums.left;
			out->sums[k - 1].right += s->node[i].sums.right;
		}
	}
	if (st != NAM_OK)
		atomic_store(&s->failed, (unsigned)st);
	free(p->tuples[0]);
	free(p->tuples[1]);
	return st;
}

/* ---- all of them ---- */

/* Seconds for a byte over a connection, whose both ends are this thread's. */
static double
measure_network(void)
{
	int end[2];
	uint64_t sent = 0, got = 0;
	char *bytes = calloc(1, BUFFER);
	if (bytes == NULL || !connection(end)) {
		free(bytes);
		return 0;
	}
	uint64_t began = nam_clock_ns();
	while (got < SAMPLE) {
		ssize_t n = sent < SAMPLE ? send(end[0], bytes, OLAP_MESSAGE, MSG_NOSIGNAL) : -1;
		sent += n > 0 ? (uint64_t)n : 0;
		n = recv(end[1], bytes, BUFFER, 0);
		got += n > 0 ? (uint64_t)n : 0;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
	}
	double s = (double)(nam_clock_ns() - began) / 1e9;
	close(end[0]);
	close(end[1]);
	free(bytes);
	return got > 0 ? s / (double)got : 0;
}

static nam_status
connect_all(int (*fd)[JOIN_TCP_NODES], unsigned n)
{
	memset(fd, -1, sizeof(int[JOIN_TCP_NODES][JOIN_TCP_NODES]));
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++) {
			int end[2];
			if (!connection(end))
				return NAM_IO;
			fd[i][k] = end[0];
			fd[k][i] = end[1];
		}
	return NAM_OK;
}

/* Keeps a process's own ends. */
static void
keep_own(struct process *p, int (*fd)[JOIN_TCP_NODES])
{
	for (unsigned i = 0; i < p->j->processes; i++)
		for (unsigned k = 0; k < p->j->processes; k++) {
			if (i == p->self)
				p->peer[k] = (struct peer){ .fd = fd[i][k] };
			else if (fd[i][k] >= 0)
				close(fd[i][k]);
		}
}

static nam_status
play(struct join_tcp *j, struct process *p, int (*fd)[JOIN_TCP_NODES])
{
	pid_t child[JOIN_TCP_NODES] = { 0 }, parent = getpid();
	nam_status st = NAM_OK;
	fflush(NULL);
	for (unsigned i = 1; st == NAM_OK && i < j->processes; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			p->self = i;
			keep_own(p, fd);
			_exit(getppid() == parent && runs(p, NULL) == NAM_OK ? 0 : 1);
		}
		st = child[i] > 0 ? NAM_OK : NAM_IO;
	}
	keep_own(p, fd);
	if (st == NAM_OK)
		st = runs(p, j);
	for (unsigned i = 0; i < j->processes; i++) {
		if (p->peer[i].fd >= 0)
			close(p->peer[i].fd); /* a process that waits for this one ends */
		if (child[i] > 0 && st != NAM_OK)
			kill(child[i], SIGKILL);
		if (child[i] > 0)
			waitpid(child[i], NULL, 0);
	}
	for (unsigned i = 0; i < j->processes; i++) {
		j->bytes += p->shared->node[i].bytes;
		j->filter_bytes += p->shared->node[i].filter_bytes;
		j->kept_out += p->shared->node[i].kept_out;
	}
	return st;
}

nam_status
bench_join_tcp(struct join_tcp *j, struct nam_err *err)
{
	int fd[JOIN_TCP_NODES][JOIN_TCP_NODES];
	struct process p = { .j = j };
	const struct olap_size left = { (double)j->rows[1], j->draw.width },
			       right = { (double)j->rows[0], j->draw.width };
	double error = olap_filter_error(0);
	j->cost.network = measure_network();
	j->filtered =
	    j->filters == JOIN_TCP_FILTERS ||
	    (j->filters == JOIN_TCP_AS_IT_PAYS && olap_cost_filter_pays(&j->cost, left, right, j->processes,
						      j->draw.selectivity, OLAP_FILTER_BITS, error));
	j->estimate = olap_cost_ghj(&j->cost, left, right, j->processes, j->draw.selectivity,
	    j->filtered ? OLAP_FILTER_BITS : 0, error);
	p.peer = calloc(JOIN_TCP_NODES, sizeof *p.peer);
	p.shared = mmap(NULL, sizeof *p.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nam_status st = p.peer != NULL && p.shared != MAP_FAILED ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = connect_all(fd, j->processes);
	if (st == NAM_OK)
		st = play(j, &p, fd);
	if (p.shared != MAP_FAILED)
		munmap(p.shared, sizeof *p.shared);
	free(p.peer);
	return st == NAM_OK ? st : nam_fail(err, st, "a process of the join ended: %s", nam_status_text(st));
}
