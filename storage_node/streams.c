/*
 * streams.c -- the streams of tcp workers, on a few threads: loops and seats.
 *
 * A loop has many streams: it waits with epoll, takes what came for one of them, executes it
 * (stream.c), answers, and goes on with the next one. It never waits for a peer: if a socket does
 * not take all answers, the loop comes back to that stream when it does. A stream without bytes in
 * work has no buffers, so an idle one costs a small struct and its socket.
 *
 * A seat has one stream, and blocks in recv: two system calls serve all asks that came together,
 * without a third one to find the stream. A busy stream is handed to a seat if one is free, and
 * goes back to its loop when it has been idle, or has taken no answers, for SIT_US.
 *
 * The server's thread owns the connection, and ends it; a loop or a seat only reports its end.
 * Ending takes the stream's `turn`, so that afterwards no verb of it executes. The struct is freed
 * by its loop, when no event that the loop looks at can name it, or by its seat, if that is later.
 *
 * Streams that find no seat are dealt out evenly: with each beat of the server, the loop that
 * served the most streams in the last one gives some to the loop that served the fewest.
 */
#include <base/log.h>
#include <storage_node/server_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	STACK = 256 << 10,
	EVENTS = 64,
	SPARES = 4,           /* buffers that a loop keeps */
	TURN_BYTES = 1 << 20, /* of answers; then other streams have their turn */
	SIT_TURNS = 8,        /* in one beat: so busy a stream gets a seat */
	SIT_US = 20000,
};

static void
rouse(struct sn_loop *l)
{
	uint64_t one = 1;
	ssize_t n = write(l->wake_fd, &one, sizeof one);
	(void)n;
}

/* ---- a turn -------------------------------------------------------------------- */

static bool
take_buffers(struct sn_spare *spare, struct sn_stream *st)
{
	if (st->buf != NULL)
		return true;
	st->buf = spare->first;
	if (st->buf != NULL) {
		spare->first = st->buf->next;
		spare->count--;
		return true;
	}
	st->buf = aligned_alloc(64, (sizeof *st->buf + 63) / 64 * 64);
	return st->buf != NULL;
}

/* If no bytes are in work, or none will be. */
static void
give_buffers(struct sn_spare *spare, struct sn_stream *st, enum sn_verdict v)
{
	struct sn_buffers *b = st->buf;
	if (b == NULL || (v == SN_GO_ON && (st->in_len > 0 || st->out_len > 0)))
		return;
	st->buf = NULL;
	if (spare->count >= SPARES) {
		free(b);
		return;
	}
	b->next = spare->first;
	spare->first = b;
	spare->count++;
}

static void
free_buffers(struct sn_spare *spare)
{
	while (spare->first != NULL) {
		struct sn_buffers *b = spare->first;
		spare->first = b->next;
		free(b);
	}
	spare->count = 0;
}

/* Sends answers, as many as the socket takes. False: the peer is gone. */
static bool
send_some(struct sn_stream *st, int flags, size_t *sent)
{
	while (st->out_pos < st->out_len) {
		ssize_t n = send(st->conn->fd, st->buf->out + st->out_pos, st->out_len - st->out_pos,
		    MSG_NOSIGNAL | flags);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		st->out_pos += (uint32_t)n;
		*sent += (size_t)n;
	}
	st->out_pos = st->out_len = 0;
	return true;
}

/*
 * Takes what has come, executes and answers it, until the socket has no more or takes no more.
 * seated: waits SIT_US for either.
 */
static enum sn_verdict
serve(struct sn_server *s, struct sn_stream *st, bool seated, const char **why)
{
	const int flags = seated ? 0 : MSG_DONTWAIT;
	bool more = st->stuck, drained = false;
	size_t sent = 0;
	st->stuck = false;
	for (;;) {
		if (!send_some(st, flags, &sent))
			return SN_END;
		bool enough = !seated && sent >= TURN_BYTES;
		st->stuck = st->out_pos < st->out_len || (more && enough);
		if (st->stuck || (!more && (drained || enough)))
			return SN_GO_ON;
		if (!more) {
			size_t room = SN_BUFFER - st->in_len;
			ssize_t n = recv(st->conn->fd, st->buf->in + st->in_len, room, flags);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0 && errno == EAGAIN)
				return SN_GO_ON;
			if (n <= 0 || (seated && atomic_load_explicit(&st->cut, memory_order_relaxed)))
				return SN_END;
			st->in_len += (uint32_t)n;
			/* The socket is empty most likely: no system call to learn it. */
			drained = !seated && (size_t)n < room;
		}
		if (sn_stream_work(s, st, why) == SN_GARBAGE)
			return SN_GARBAGE;
		/* It stopped for lack of input, or of room for answers: with these sent there is
		 * room. */
		more = st->out_len > 0 && (st->busy || st->in_len > st->in_pos);
	}
}

static uint32_t
events_of(const struct sn_stream *st)
{
	return st->stuck ? EPOLLOUT : EPOLLIN;
}

static bool
watch(const struct sn_loop *l, int op, struct sn_stream *st)
{
	struct epoll_event e = { .events = events_of(st), .data.ptr = st };
	return epoll_ctl(l->epoll_fd, op, st->conn->fd, &e) == 0;
}

/* It has ended by itself: the server's thread ends the connection. Under its turn. */
static void
over(struct sn_loop *l, struct sn_stream *st, const char *why)
{
	struct sn_server *s = l->s;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, st->conn->fd, NULL); /* a seat's is not there */
	pthread_mutex_lock(&s->stream_lock);
	st->over = true;
	st->why = why;
	st->next = s->over;
	if (st->next != NULL)
		st->next->prev = st;
	s->over = st;
	pthread_mutex_unlock(&s->stream_lock);
	uint64_t one = 1;
	ssize_t n = write(s->over_fd, &one, sizeof one);
	(void)n;
}

/* Under its turn; the last thing there, because the other loop takes it up at once. */
static void
give_away(struct sn_loop *l, struct sn_stream *st, unsigned give)
{
	struct sn_loop *to = &l->s->loop[give >> 16];
	unsigned left = (give & 0xffff) - 1;
	atomic_store_explicit(&l->give, left == 0 ? 0 : (give & ~0xffffu) | left, memory_order_relaxed);
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, st->conn->fd, NULL);
	st->loop = to;
	atomic_fetch_sub(&l->streams, 1);
	atomic_fetch_add(&to->streams, 1);
	if (!watch(to, EPOLL_CTL_ADD, st))
		over(to, st, "it cannot be waited for");
}

static void
unref(struct sn_stream *st)
{
	if (atomic_fetch_sub(&st->refs, 1) != 1)
		return;
	pthread_mutex_destroy(&st->turn);
	free(st);
}

/* ---- seats ------------------------------------------------------------------------ */

static void *
seat_main(void *arg)
{
	struct sn_seat *seat = arg;
	struct sn_server *s = seat->s;
	atomic_store(&seat->tid, gettid());
	for (;;) {
		while (sem_wait(&seat->go) != 0)
			;
		if (atomic_load(&seat->stop))
			return NULL;
		struct sn_stream *st = seat->st;
		pthread_mutex_lock(&st->turn);
		if (!atomic_load(&st->cut)) {
			const char *why = NULL;
			enum sn_verdict v = SN_GARBAGE;
			if (take_buffers(&seat->spare, st))
				v = serve(s, st, true, &why);
			else
				why = "no memory for its buffers";
			give_buffers(&seat->spare, st, v);
			if (v != SN_GO_ON)
				over(st->loop, st, why);
			else if (!watch(st->loop, EPOLL_CTL_ADD, st))
				over(st->loop, st, "it cannot be waited for");
		}
		pthread_mutex_unlock(&st->turn);
		unref(st);
		pthread_mutex_lock(&s->stream_lock);
		seat->next = s->free_seat;
		s->free_seat = seat;
		pthread_mutex_unlock(&s->stream_lock);
	}
}

static bool
thread_start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	/* Signals are for the threads of the program that runs this server. */
	sigset_t every, was;
	sigfillset(&every);
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &every, &was);
	bool started = pthread_create(thread, &attr, fn, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

/* A free seat; another one begins while there are fewer than allowed. NULL: all are taken. */
static struct sn_seat *
take_seat(struct sn_server *s)
{
	pthread_mutex_lock(&s->stream_lock);
	struct sn_seat *seat = s->free_seat;
	unsigned n = atomic_load(&s->seats);
	if (seat != NULL) {
		s->free_seat = seat->next;
	} else if (n < s->seats_max) {
		seat = &s->seat[n];
		seat->s = s;
		sem_init(&seat->go, 0, 0);
		if (thread_start(&seat->thread, seat_main, seat)) {
			atomic_store(&s->seats, n + 1);
		} else {
			sem_destroy(&seat->go);
			seat = NULL;
		}
	}
	pthread_mutex_unlock(&s->stream_lock);
	return seat;
}

/* Under its turn; the last thing there. */
static void
sit_down(struct sn_loop *l, struct sn_stream *st, struct sn_seat *seat)
{
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, st->conn->fd, NULL);
	st->turns = 0;
	atomic_fetch_add(&st->refs, 1);
	seat->st = st;
	sem_post(&seat->go);
}

/* ---- a loop's turn -------------------------------------------------------------------- */

static void
turn(struct sn_loop *l, struct sn_stream *st)
{
	if (atomic_load(&st->cut))
		return;
	pthread_mutex_lock(&st->turn);
	if (atomic_load(&st->cut) || st->over) {
		pthread_mutex_unlock(&st->turn);
		return;
	}
	uint32_t beat = atomic_load_explicit(&l->s->beats, memory_order_relaxed), events = events_of(st);
	if (st->beat != beat) {
		st->beat = beat;
		st->turns = 0;
		atomic_fetch_add_explicit(&l->active, 1, memory_order_relaxed);
	}
	const char *why = NULL;
	enum sn_verdict v = SN_GARBAGE;
	if (take_buffers(&l->spare, st))
		v = serve(l->s, st, false, &why);
	else
		why = "no memory for its buffers";
	give_buffers(&l->spare, st, v);
	if (v == SN_GO_ON && events_of(st) != events && !watch(l, EPOLL_CTL_MOD, st)) {
		v = SN_GARBAGE;
		why = "it cannot be waited for";
	}
	unsigned give = atomic_load_explicit(&l->give, memory_order_relaxed);
	struct sn_seat *seat = NULL;
	if (v != SN_GO_ON)
		over(l, st, why);
	else if (++st->turns % SIT_TURNS == 0 && (seat = take_seat(l->s)) != NULL)
		sit_down(l, st, seat);
	else if (give != 0)
		give_away(l, st, give);
	pthread_mutex_unlock(&st->turn);
}

/* ---- a loop --------------------------------------------------------------------- */

static void
free_ended(struct sn_loop *l)
{
	pthread_mutex_lock(&l->lock);
	struct sn_stream *st = l->ended, *next;
	l->ended = NULL;
	pthread_mutex_unlock(&l->lock);
	for (; st != NULL; st = next) {
		next = st->ended;
		unref(st);
	}
}

static void *
loop_main(void *arg)
{
	struct sn_loop *l = arg;
	struct epoll_event ev[EVENTS];
	atomic_store(&l->tid, gettid());
	while (!atomic_load(&l->stop)) {
		int n = epoll_wait(l->epoll_fd, ev, EVENTS, -1);
		if (n < 0 && errno != EINTR) {
			nam_log(NAM_LOG_ERROR, "storage node %u: a loop of tcp peers failed: %s",
			    (unsigned)l->s->shake.region, strerror(errno));
			abort();
		}
		bool roused = false;
		for (int i = 0; i < n; i++)
			if (ev[i].data.ptr == NULL)
				roused = true;
			else
				turn(l, ev[i].data.ptr);
		if (!roused)
			continue;
		uint64_t times;
		ssize_t got = read(l->wake_fd, &times, sizeof times);
		(void)got;
		free_ended(l);
	}
	return NULL;
}

static void
loop_close(struct sn_loop *l)
{
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	if (l->wake_fd >= 0)
		close(l->wake_fd);
	pthread_mutex_destroy(&l->lock);
}

static bool
loop_start(struct sn_server *s, struct sn_loop *l)
{
	memset(l, 0, sizeof *l);
	l->s = s;
	pthread_mutex_init(&l->lock, NULL);
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct epoll_event e = { .events = EPOLLIN };
	l->started = l->epoll_fd >= 0 && l->wake_fd >= 0 &&
		     epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->wake_fd, &e) == 0 &&
		     thread_start(&l->thread, loop_main, l);
	if (!l->started)
		loop_close(l);
	return l->started;
}

/* The loop with the fewest streams; another one begins while there are fewer loops than allowed.
 * NULL: there is none. */
static struct sn_loop *
choose(struct sn_server *s)
{
	unsigned n = atomic_load(&s->loops), best = 0;
	for (unsigned i = 1; i < n; i++)
		if (atomic_load(&s->loop[i].streams) < atomic_load(&s->loop[best].streams))
			best = i;
	if (n > 0 && (n == s->loops_max || atomic_load(&s->loop[best].streams) == 0))
		return &s->loop[best];
	if (loop_start(s, &s->loop[n])) {
		atomic_store(&s->loops, n + 1);
		return &s->loop[n];
	}
	return n > 0 ? &s->loop[best] : NULL;
}

/* ---- the server's thread ---------------------------------------------------------- */

/* So that a seat can block, but not for long. Loops say MSG_DONTWAIT. */
static bool
may_block(int fd)
{
	struct timeval most = { .tv_usec = SIT_US };
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0;
}

bool
sn_stream_open(struct sn_server *s, struct sn_conn *c)
{
	struct sn_loop *l = choose(s);
	struct sn_stream *st = l != NULL ? calloc(1, sizeof *st) : NULL;
	if (st == NULL || !may_block(c->fd)) {
		free(st);
		return false;
	}
	atomic_init(&st->refs, 1);
	pthread_mutex_init(&st->turn, NULL);
	st->conn = c;
	st->loop = l;
	atomic_fetch_add(&l->streams, 1);
	c->stream = st;
	return true;
}

void
sn_stream_go(struct sn_conn *c)
{
	struct sn_stream *st = c->stream;
	pthread_mutex_lock(&st->turn);
	if (!watch(st->loop, EPOLL_CTL_ADD, st))
		over(st->loop, st, "it cannot be waited for");
	pthread_mutex_unlock(&st->turn);
}

static void
forget_over(struct sn_server *s, struct sn_stream *st)
{
	if (st->prev != NULL)
		st->prev->next = st->next;
	else
		s->over = st->next;
	if (st->next != NULL)
		st->next->prev = st->prev;
}

void
sn_stream_end(struct sn_server *s, struct sn_conn *c)
{
	struct sn_stream *st = c->stream;
	/* No turn begins any more, and the present one finds the socket closed. */
	atomic_store(&st->cut, true);
	shutdown(c->fd, SHUT_RDWR);
	pthread_mutex_lock(&st->turn);
	struct sn_loop *l = st->loop;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	free(st->buf);
	st->buf = NULL;
	pthread_mutex_unlock(&st->turn);
	pthread_mutex_lock(&s->stream_lock);
	if (st->over)
		forget_over(s, st);
	pthread_mutex_unlock(&s->stream_lock);
	atomic_fetch_sub(&l->streams, 1);
	c->stream = NULL;
	pthread_mutex_lock(&l->lock);
	st->ended = l->ended;
	l->ended = st;
	pthread_mutex_unlock(&l->lock);
	rouse(l);
}

struct sn_conn *
sn_stream_over(struct sn_server *s, const char **why)
{
	pthread_mutex_lock(&s->stream_lock);
	struct sn_conn *c = s->over != NULL ? s->over->conn : NULL;
	if (c != NULL)
		*why = s->over->why;
	pthread_mutex_unlock(&s->stream_lock);
	return c;
}

void
sn_streams_beat(struct sn_server *s)
{
	unsigned n = atomic_load(&s->loops), active[SN_LOOPS_MAX], most = 0, least = 0;
	atomic_fetch_add_explicit(&s->beats, 1, memory_order_relaxed);
	if (n < 2)
		return;
	for (unsigned i = 0; i < n; i++) {
		active[i] = atomic_exchange_explicit(&s->loop[i].active, 0, memory_order_relaxed);
		if (active[i] > active[most])
			most = i;
		if (active[i] < active[least])
			least = i;
		/* What it has not given in a beat, it keeps: the streams may be idle by now. */
		atomic_store_explicit(&s->loop[i].give, 0, memory_order_relaxed);
	}
	unsigned give = (active[most] - active[least]) / 2;
	if (give > 0)
		atomic_store_explicit(
		    &s->loop[most].give, least << 16 | (give < 0xffff ? give : 0xffff), memory_order_relaxed);
}

void
sn_streams_close(struct sn_server *s)
{
	for (unsigned i = 0, n = atomic_load(&s->seats); i < n; i++) {
		struct sn_seat *seat = &s->seat[i];
		atomic_store(&seat->stop, true);
		sem_post(&seat->go);
		pthread_join(seat->thread, NULL);
		sem_destroy(&seat->go);
		free_buffers(&seat->spare);
	}
	atomic_store(&s->seats, 0);
	for (unsigned i = 0, n = atomic_load(&s->loops); i < n; i++) {
		struct sn_loop *l = &s->loop[i];
		atomic_store(&l->stop, true);
		rouse(l);
		pthread_join(l->thread, NULL);
		free_ended(l);
		free_buffers(&l->spare);
		loop_close(l);
	}
	atomic_store(&s->loops, 0);
}

static void
use_of(pthread_t thread, int tid, struct sn_stream_use *out)
{
	clockid_t id;
	struct timespec t = { 0 };
	if (pthread_getcpuclockid(thread, &id) == 0)
		clock_gettime(id, &t);
	out->tid = tid;
	out->cpu_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

unsigned
sn_server_streams(struct sn_server *s, struct sn_stream_use *out, unsigned cap)
{
	unsigned n = 0, seats = atomic_load(&s->seats), loops = atomic_load(&s->loops);
	for (unsigned i = 0; i < seats; i++, n++)
		if (n < cap)
			use_of(s->seat[i].thread, atomic_load(&s->seat[i].tid), &out[n]);
	for (unsigned i = 0; i < loops; i++, n++)
		if (n < cap)
			use_of(s->loop[i].thread, atomic_load(&s->loop[i].tid), &out[n]);
	return n;
}
