/*
 * streams.c -- a thread per tcp worker: it blocks in recv, executes what came (stream.c), answers,
 * and so on.
 *
 * Two system calls serve all asks that came together, without a third one to find the stream: a
 * loop over all streams needs one more, or spins, and both cost more than the verbs. A peer that
 * does not take its answers blocks only itself.
 *
 * The server's loop owns the connection, and ends it; the thread only reports its end.
 */
#include <storage_node/server_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 256 << 10 };

static bool
send_all(int fd, const char *from, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, from, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		len -= (size_t)n;
	}
	return true;
}

/* Runs until the peer is gone (returns NULL), or sends invalid bytes (returns which). */
static const char *
serve(struct sn_server *s, struct sn_stream *st)
{
	int fd = st->conn->fd;
	for (;;) {
		ssize_t n = recv(fd, st->in + st->in_len, SN_BUFFER - st->in_len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || atomic_load_explicit(&st->cut, memory_order_relaxed))
			return NULL;
		st->in_len += (uint32_t)n;
		for (bool more = true; more;) {
			const char *why = NULL;
			if (sn_stream_work(s, st, &why) == SN_GARBAGE)
				return why;
			/* It stopped for lack of input, or of room for answers: with these sent
			 * there is room. */
			more = st->out_len > 0 && (st->busy || st->in_len > st->in_pos);
			if (!send_all(fd, st->out, st->out_len))
				return NULL;
			st->out_len = 0;
		}
	}
}

static void *
thread_main(void *arg)
{
	struct sn_stream *st = arg;
	struct sn_server *s = st->s;
	atomic_store(&st->tid, gettid());
	while (sem_wait(&st->go) != 0)
		;
	const char *why = serve(s, st);
	pthread_mutex_lock(&s->stream_lock);
	st->over = true;
	st->why = why;
	pthread_mutex_unlock(&s->stream_lock);
	uint64_t one = 1;
	ssize_t n = write(s->over_fd, &one, sizeof one);
	(void)n;
	return NULL;
}

bool
sn_stream_open(struct sn_server *s, struct sn_conn *c)
{
	struct sn_stream *st = calloc(1, sizeof *st);
	if (st == NULL)
		return false;
	st->s = s;
	st->conn = c;
	sem_init(&st->go, 0, 0);
	/* Signals are for the threads of the program that runs this server. */
	sigset_t every, was;
	sigfillset(&every);
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &every, &was);
	int rc = fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) & ~O_NONBLOCK);
	if (rc == 0)
		rc = pthread_create(&st->thread, &attr, thread_main, st);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_attr_destroy(&attr);
	if (rc != 0) {
		sem_destroy(&st->go);
		free(st);
		return false;
	}
	pthread_mutex_lock(&s->stream_lock);
	st->next = s->streams;
	if (st->next != NULL)
		st->next->prev = st;
	s->streams = st;
	pthread_mutex_unlock(&s->stream_lock);
	c->stream = st;
	return true;
}

void
sn_stream_go(struct sn_conn *c)
{
	sem_post(&c->stream->go);
}

void
sn_stream_end(struct sn_server *s, struct sn_conn *c)
{
	struct sn_stream *st = c->stream;
	/* Any call that blocks returns now; bytes in the socket are thrown away. */
	atomic_store(&st->cut, true);
	shutdown(c->fd, SHUT_RDWR);
	sem_post(&st->go);
	pthread_join(st->thread, NULL);
	pthread_mutex_lock(&s->stream_lock);
	if (st->prev != NULL)
		st->prev->next = st->next;
	else
		s->streams = st->next;
	if (st->next != NULL)
		st->next->prev = st->prev;
	pthread_mutex_unlock(&s->stream_lock);
	sem_destroy(&st->go);
	free(st);
	c->stream = NULL;
}

struct sn_conn *
sn_stream_over(struct sn_server *s, const char **why)
{
	struct sn_conn *c = NULL;
	pthread_mutex_lock(&s->stream_lock);
	for (struct sn_stream *st = s->streams; st != NULL && c == NULL; st = st->next)
		if (st->over) {
			c = st->conn;
			*why = st->why;
		}
	pthread_mutex_unlock(&s->stream_lock);
	return c;
}

unsigned
sn_server_streams(struct sn_server *s, struct sn_stream_use *out, unsigned cap)
{
	unsigned n = 0;
	pthread_mutex_lock(&s->stream_lock);
	for (struct sn_stream *st = s->streams; st != NULL; st = st->next, n++) {
		clockid_t id;
		struct timespec t = { 0 };
		if (n >= cap)
			continue;
		/* Over or not, it has not been joined: its clock exists. */
		if (pthread_getcpuclockid(st->thread, &id) == 0)
			clock_gettime(id, &t);
		out[n].tid = atomic_load(&st->tid);
		out[n].cpu_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
	pthread_mutex_unlock(&s->stream_lock);
	return n;
}
