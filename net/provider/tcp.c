/*
 * tcp.c -- the provider over a stream: a software queue pair per worker and node.
 *
 * A post appends frames to a buffer; the end of the scheduler's round sends them with one system
 * call, so many coroutines share it. Answers come in the order of the asks, so the ops that are out
 * form a ring. Neither direction ever blocks: bytes that the socket does not take stay in the
 * buffer, and answers are always read, so two full directions empty themselves.
 *
 * Both the buffer and the ring grow to the most that was ever out at once and
 * stay there (the buffer falls back after a huge WRITE), so the data path
 * allocates nothing once warm.
 */
#include <base/assert.h>
#include <base/clock.h>
#include <net/load.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>
#include <net/wire.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	OUT_FIRST = 64 << 10,
	OUT_KEEP = 1 << 20,    /* a larger buffer is given back when it is empty, unless the machine
			        * has little memory in use */
	SEND_EARLY = 64 << 10, /* do not wait for the round's end with more than this */
	RING_FIRST = 256,
	IN_SIZE = 64 << 10,
	WAIT_US = 2000,      /* how long posts from other threads may wait for a worker that waits
			      * in recv, at most */
	IN_DIRECT = 8 << 10, /* the rest of a READ this long goes straight into its buffer */
};

struct out_op {
	struct net_batch *b;
	struct net_op *op;
};

struct tcp {
	int fd;               /* -1: broken and closed */
	bool broken;          /* the next poll() ends all ops */
	bool stalled;         /* a wait was in vain, and no byte has come since */
	uint64_t progress_ns; /* when the socket last took or gave bytes, or the first op went
			       * out */
	uint64_t timeout_ns;  /* with ops out and no progress for so long the node is gone */
	/* asks not sent yet: out[out_pos .. out_len) */
	char *out;
	size_t out_pos, out_len, out_cap, keep;
	/* ops whose answers are to come: ring[head .. tail), indexes modulo cap (a power of two) */
	struct out_op *ring;
	size_t head, tail, ring_cap;
	size_t looked; /* tail, when poll() was last called */
	/* answers not understood yet: in[in_pos .. in_len) */
	size_t in_pos, in_len;
	bool in_payload; /* the head of ring[head]'s answer is taken; */
	size_t got;      /* so many bytes of its payload are */
	char in[IN_SIZE];
};

static void
break_off(struct net_endpoint *ep, const char *why)
{
	struct tcp *t = ep->priv;
	if (t->broken)
		return;
	t->broken = true;
	net_node_broke(ep, why);
}

/* So that wait() can block, but not for long. All other calls say MSG_DONTWAIT. */
static bool
may_block(int fd)
{
	struct timeval most = { .tv_usec = WAIT_US };
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0;
}

static nam_status
tcp_open(struct net_endpoint *ep, struct nam_err *err)
{
	struct tcp *t = calloc(1, sizeof *t);
	if (t == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a connection");
	t->out = malloc(t->out_cap = OUT_FIRST);
	t->ring = malloc((t->ring_cap = RING_FIRST) * sizeof *t->ring);
	struct net_grant grant;
	nam_status st = NAM_NOMEM;
	if (t->out == NULL || t->ring == NULL)
		st = nam_fail(err, NAM_NOMEM, "no memory for a connection");
	else if ((st = net_remote_connect_endpoint(ep, NET_ROLE_WORKER, &t->fd, &grant, err)) == NAM_OK &&
		 !may_block(t->fd)) {
		st = nam_fail(err, NAM_IO, "cannot set up a connection: %s", strerror(errno));
		close(t->fd);
	}
	if (st != NAM_OK) {
		free(t->out);
		free(t->ring);
		free(t);
		return st;
	}
	t->keep = net_buffer_size(OUT_KEEP, OUT_FIRST);
	t->timeout_ns = TIMEOUT_CONNECTS * (uint64_t)ep->node->net->connect_ms * 1000000;
	ep->priv = t;
	return NAM_OK;
}

static void
tcp_close(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	if (t->fd >= 0)
		close(t->fd);
	free(t->out);
	free(t->ring);
	free(t);
}

static void
tcp_abandon(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	t->broken = true;
}

static void
tcp_node_close(struct net_node *node)
{
	if (node->control_fd >= 0)
		close(node->control_fd);
}

/* Sends as much as the socket takes. */
static void
tcp_flush(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	while (t->out_pos < t->out_len && !t->broken) {
		ssize_t n =
		    send(t->fd, t->out + t->out_pos, t->out_len - t->out_pos, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			t->out_pos += (size_t)n;
			t->progress_ns = nam_clock_ns();
		} else if (errno == EAGAIN)
			return;
		else if (errno != EINTR)
			break_off(ep, strerror(errno));
	}
	if (t->out_pos != t->out_len)
		return;
	t->out_pos = t->out_len = 0;
	if (t->out_cap > t->keep) {
		char *smaller = realloc(t->out, OUT_FIRST);
		if (smaller != NULL) {
			t->out = smaller;
			t->out_cap = OUT_FIRST;
		}
	}
}

static bool
make_room(struct tcp *t, size_t need)
{
	if (t->out_cap - t->out_len >= need)
		return true;
	if (t->out_pos > 0) {
		memmove(t->out, t->out + t->out_pos, t->out_len - t->out_pos);
		t->out_len -= t->out_pos;
		t->out_pos = 0;
		if (t->out_cap - t->out_len >= need)
			return true;
	}
	size_t cap = t->out_cap;
	while (cap - t->out_len < need)
		cap *= 2;
	char *more = realloc(t->out, cap);
	if (more == NULL)
		return false;
	t->out = more;
	t->out_cap = cap;
	return true;
}

static bool
make_slot(struct tcp *t)
{
	if (t->tail - t->head < t->ring_cap)
		return true;
	struct out_op *more = malloc(2 * t->ring_cap * sizeof *more);
	if (more == NULL)
		return false;
	for (size_t i = t->head; i != t->tail; i++)
		more[i & (2 * t->ring_cap - 1)] = t->ring[i & (t->ring_cap - 1)];
	free(t->ring);
	t->ring = more;
	t->ring_cap *= 2;
	return true;
}

static void
put(struct tcp *t, const void *from, size_t len)
{
	memcpy(t->out + t->out_len, from, len);
	t->out_len += len;
}

static void
tcp_post(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	struct tcp *t = ep->priv;
	bool quiet = op->flags & NET_QUIET, payload = op->code == NET_WRITE || op->code == NET_WRITE_IMM;
	size_t need = sizeof(struct net_ask) + 16 + (payload ? net_pad8(op->len) : 0);
	nam_status st = t->broken                                          ? NAM_GONE
			: !make_room(t, need) || (!quiet && !make_slot(t)) ? NAM_NOMEM
									   : NAM_OK;
	if (st != NAM_OK) {
		net_op_refuse(ep, b, op, st);
		return;
	}
	struct net_ask ask = {
		.code = op->code, .flags = op->flags & (uint8_t)~NET_STREAM, .len = op->len, .at = op->at.bits
	};
	put(t, &ask, sizeof ask);
	if (op->code >= NET_WRITE_IMM)
		put(t, &op->arg, 8);
	if (op->code == NET_CAS)
		put(t, &op->want, 8);
	if (payload && op->len > 0) {
		static const char zeros[8];
		put(t, op->buf, op->len);
		put(t, zeros, net_pad8(op->len) - op->len);
	}
	if (!quiet && t->head == t->tail)
		t->progress_ns = nam_clock_ns(); /* the timeout begins */
	if (!quiet)
		t->ring[t->tail++ & (t->ring_cap - 1)] = (struct out_op){ b, op };
	if (t->out_len - t->out_pos >= SEND_EARLY)
		tcp_flush(ep);
}

static void
finish_first(struct net_endpoint *ep, nam_status st)
{
	struct tcp *t = ep->priv;
	NAM_ASSERT(t->head != t->tail);
	struct out_op o = t->ring[t->head++ & (t->ring_cap - 1)];
	t->in_payload = false;
	t->got = 0;
	net_op_done(ep, o.b, o.op, st);
}

static bool
answer_has_payload(const struct net_op *op)
{
	return op->code == NET_READ || op->code == NET_CAS || op->code == NET_FAA;
}

/* Takes the answers that lie in in[]. Returns how many ops ended. */
static int
take_answers(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	int done = 0;
	for (;;) {
		size_t have = t->in_len - t->in_pos;
		const char *at = t->in + t->in_pos;
		if (!t->in_payload) {
			struct net_answer a;
			if (have < sizeof a)
				break;
			memcpy(&a, at, sizeof a);
			struct net_op *op =
			    t->head != t->tail ? t->ring[t->head & (t->ring_cap - 1)].op : NULL;
			if (op == NULL || a.code != op->code || a.len != op->len ||
			    (a.zero[0] | a.zero[1] | a.zero[2]) != 0) {
				break_off(ep, "it answers what was not asked");
				break;
			}
			t->in_pos += sizeof a;
			if (!answer_has_payload(op) || op->len == 0) {
				finish_first(ep, NAM_OK);
				done++;
			} else {
				t->in_payload = true;
				t->got = 0;
			}
			continue;
		}
		struct net_op *op = t->ring[t->head & (t->ring_cap - 1)].op;
		if (have == 0)
			break;
		size_t padded = net_pad8(op->len), take = padded - t->got;
		if (take > have)
			take = have;
		char *into = op->code == NET_READ ? op->buf : (char *)&op->seen;
		if (t->got < op->len)
			memcpy(into + t->got, at, take < op->len - t->got ? take : op->len - t->got);
		t->got += take;
		t->in_pos += take;
		if (t->got == padded) {
			finish_first(ep, NAM_OK);
			done++;
		}
	}
	if (t->in_pos == t->in_len) {
		t->in_pos = t->in_len = 0;
	} else if (t->in_pos > 0) {
		memmove(t->in, t->in + t->in_pos, t->in_len - t->in_pos);
		t->in_len -= t->in_pos;
		t->in_pos = 0;
	}
	return done;
}

/* Takes the bytes that have come; with wait, first waits for them. Returns how many ops ended. */
static int
hear(struct net_endpoint *ep, bool wait)
{
	struct tcp *t = ep->priv;
	int done = 0;
	while (!t->broken && t->head != t->tail) {
		struct net_op *op = t->ring[t->head & (t->ring_cap - 1)].op;
		bool direct = t->in_payload && t->in_len == 0 && op->code == NET_READ && t->got < op->len &&
			      op->len - t->got >= IN_DIRECT;
		char *into = direct ? (char *)op->buf + t->got : t->in + t->in_len;
		size_t room = direct ? op->len - t->got : sizeof t->in - t->in_len;
		ssize_t n = recv(t->fd, into, room, wait ? 0 : MSG_DONTWAIT);
		if (n > 0) {
			t->progress_ns = nam_clock_ns();
			t->stalled = wait = false;
		}
		if (n == 0) {
			break_off(ep, "the connection was closed");
		} else if (n < 0) {
			if (errno == EAGAIN) {
				t->stalled |= wait;
				if (nam_clock_ns() - t->progress_ns > t->timeout_ns)
					break_off(ep, "it does not answer any more");
				break;
			}
			if (errno != EINTR)
				break_off(ep, strerror(errno));
		} else if (direct) {
			t->got += (size_t)n;
			if (t->got == op->len && (op->len & 7) == 0) {
				finish_first(ep, NAM_OK);
				done++;
			}
		} else {
			t->in_len += (size_t)n;
			done += take_answers(ep);
			if ((size_t)n < room)
				break; /* the socket is empty most likely: no system call to learn
				        * it */
		}
	}
	return done;
}

/* No more bytes will come: ends all ops that are out. */
static int
bury(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	int done = 0;
	if (t->fd >= 0) {
		close(t->fd);
		t->fd = -1;
	}
	for (; t->head != t->tail; done++)
		finish_first(ep, NAM_GONE);
	t->out_pos = t->out_len = 0;
	return done;
}

static int
tcp_poll(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	/* If all ops that are out were sent just now, no answer can be here yet: saves a system
	 * call. The worker calls again before it sleeps. */
	bool look = t->head != t->looked;
	t->looked = t->tail;
	int done = look ? hear(ep, false) : 0;
	/* A node that was declared lost gives no answers any more, as far as this process is
	 * concerned. */
	if (!t->broken && (net_node_lost(ep->node) || ep->broke))
		break_off(ep, "it was declared lost");
	return t->broken ? done + bury(ep) : done;
}

static int
tcp_wait(struct net_endpoint *ep)
{
	struct tcp *t = ep->priv;
	return t->stalled ? -1 : hear(ep, true);
}

static int
tcp_fd(struct net_endpoint *ep, short *events)
{
	struct tcp *t = ep->priv;
	/* With no op out only the end could come, and the monitor hears of that. */
	if (t->fd < 0 || (t->head == t->tail && t->out_pos == t->out_len))
		return -1;
	*events = POLLIN;
	if (t->out_pos < t->out_len)
		*events |= POLLOUT;
	return t->fd;
}

const struct net_provider net_provider_tcp = {
	.kind = NET_TCP,
	.open = tcp_open,
	.close = tcp_close,
	.post = tcp_post,
	.flush = tcp_flush,
	.poll = tcp_poll,
	.wait = tcp_wait,
	.fd = tcp_fd,
	.channel = net_channel_open_stream,
	.node_close = tcp_node_close,
	.abandon = tcp_abandon,
};
