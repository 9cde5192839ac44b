/* redis.c -- the peer over a socket: redis-server as a child, and its protocol as far as GET and
 * SET. */
#include "peers.h"

#include <base/clock.h>
#include <bench/bench.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 10000, LOOK_MS = 10, LOAD_BATCH = 256, HEAD = 64, OUR_BYTES = 160 };

struct connection {
	int fd;
	char *out, *in;
	size_t out_len, in_len, in_at, in_room;
	bool broken;
};

struct ycsb_redis {
	const struct ycsb_keys *keys;
	uint32_t value;
	unsigned threads;
	pid_t pid;
	struct connection *c; /* of each thread */
	struct ycsb_items items;
	uint64_t version; /* of the values of the next slice */
};

/* ---- the protocol ---------------------------------------------------------------------------- */

static void
add(struct connection *c, const void *bytes, size_t n)
{
	memcpy(c->out + c->out_len, bytes, n);
	c->out_len += n;
}

static void
add_get(struct connection *c, uint64_t key)
{
	add(c, "*2\r\n$3\r\nGET\r\n$8\r\n", 17);
	add(c, &key, 8);
	add(c, "\r\n", 2);
}

static void
add_set(struct connection *c, uint64_t key, uint32_t value, uint32_t version)
{
	char head[HEAD];
	add(c, "*3\r\n$3\r\nSET\r\n$8\r\n", 17);
	add(c, &key, 8);
	add(c, head, (size_t)snprintf(head, sizeof head, "\r\n$%u\r\n", value));
	bench_value_fill(c->out + c->out_len, value, key, version);
	c->out_len += value;
	add(c, "\r\n", 2);
}

static void
flush(struct connection *c)
{
	for (size_t at = 0; at < c->out_len && !c->broken;) {
		ssize_t n = send(c->fd, c->out + at, c->out_len - at, MSG_NOSIGNAL);
		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR)
			c->broken = true;
	}
	c->out_len = 0;
}

/* The next n bytes of what came; reads more if need be. NULL: the connection is broken. */
static const char *
peek(struct connection *c, size_t n)
{
	if (c->in_at + n > c->in_room) {
		memmove(c->in, c->in + c->in_at, c->in_len - c->in_at);
		c->in_len -= c->in_at;
		c->in_at = 0;
	}
	while (c->in_len - c->in_at < n && !c->broken) {
		ssize_t got = recv(c->fd, c->in + c->in_len, c->in_room - c->in_len, 0);
		if (got > 0)
			c->in_len += (size_t)got;
		else if (got == 0 || errno != EINTR)
			c->broken = true;
	}
	return c->broken ? NULL : c->in + c->in_at;
}

/* The answer to a SET. */
static bool
answered_set(struct connection *c)
{
	const char *got = peek(c, 5);
	if (got == NULL || memcmp(got, "+OK\r\n", 5) != 0)
		c->broken = true; /* an error: what follows it is not understood */
	c->in_at += 5;
	return !c->broken;
}

/* The answer to a GET: true if it is the value that belongs to the key. */
static bool
answered_get(struct connection *c, uint64_t key, uint32_t value)
{
	char head[HEAD];
	size_t n = (size_t)snprintf(head, sizeof head, "$%u\r\n", value), nil = strlen("$-1\r\n");
	const char *got = peek(c, nil);
	if (got != NULL && memcmp(got, "$-1\r\n", nil) == 0) {
		c->in_at += nil;
		return false;
	}
	if (got != NULL)
		got = peek(c, n + value + 2);
	if (got == NULL || memcmp(got, head, n) != 0) {
		c->broken = true;
		return false;
	}
	c->in_at += n + value + 2;
	return bench_value_good(got + n, value, key);
}

/* ---- start and end --------------------------------------------------------------------------- */

static void
be_redis(const char *dir, const char *path, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	if (getppid() != parent || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--unixsocketperm", "700",
	    "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", dir, (char *)NULL);
	_exit(127);
}

static bool
connected(struct connection *c, const char *path, size_t room)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return false;
	if (connect(c->fd, (struct sockaddr *)&at, sizeof at) != 0) {
		close(c->fd);
		c->fd = -1;
		return false;
	}
	c->out = malloc(room);
	c->in = malloc(room);
	c->in_room = room;
	return c->out != NULL && c->in != NULL;
}

static bool
load(struct ycsb_redis *r)
{
	struct connection *c = &r->c[0];
	for (uint64_t i = 0; i < r->keys->n && !c->broken;) {
		unsigned n = 0;
		for (; n < LOAD_BATCH && i < r->keys->n; n++, i++)
			add_set(c, bench_keys_at(r->keys, i), r->value, 0);
		flush(c);
		while (n-- > 0 && answered_set(c))
			;
		bench_progress("loading redis %3d %%", (int)(i * 100 / r->keys->n));
	}
	bench_progress_end(NULL);
	return !c->broken;
}

/* Starts the server and connects all threads. The socket's name is gone when it returns, so that
 * nothing is left whatever ends this process. */
static nam_status
start(struct ycsb_redis *r, struct nam_err *err)
{
	char dir[] = "/tmp/namdb-redis-XXXXXX", path[64];
	pid_t self = getpid();
	nam_status st = NAM_OK;
	if (mkdtemp(dir) == NULL)
		return nam_fail(err, NAM_IO, "no temporary directory for redis: %s", strerror(errno));
	snprintf(path, sizeof path, "%s/socket", dir);
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0)
		be_redis(dir, path, self);
	if (r->pid < 0) {
		r->pid = 0;
		st = nam_fail(err, NAM_IO, "no process for redis: %s", strerror(errno));
	}
	_Static_assert(LOAD_BATCH >= (int)YCSB_PIPELINE, "loading needs the most room");
	size_t room = (size_t)LOAD_BATCH * (HEAD + r->value);
	for (unsigned t = 0, waited = 0; st == NAM_OK && t < r->threads;) {
		int status;
		if (connected(&r->c[t], path, room)) {
			t++;
		} else if (waitpid(r->pid, &status, WNOHANG) == r->pid) {
			r->pid = 0;
			st = nam_fail(err, NAM_IO, "redis-server ended before it served");
		} else if (waited >= START_MS) {
			st = nam_fail(err, NAM_IO, "redis-server does not answer");
		} else {
			usleep(LOOK_MS * 1000);
			waited += LOOK_MS;
		}
	}
	unlink(path);
	rmdir(dir);
	return st;
}

nam_status
bench_redis_open(struct ycsb_redis **out, const struct ycsb_keys *keys, uint32_t value, unsigned threads,
    struct nam_err *err)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	if (!bench_program_there("redis-server"))
		return nam_fail(err, NAM_UNSUPPORTED,
		    "--peer redis needs redis-server, which is not here: apt install redis-server");
	if (keys->n * (value + OUR_BYTES) > memory / 2)
		return nam_fail(err, NAM_NOMEM, "this machine has no memory for redis beside namdb");
	struct ycsb_redis *r = calloc(1, sizeof *r);
	if (r == NULL || (r->c = calloc(threads, sizeof *r->c)) == NULL) {
		free(r);
		return nam_fail(err, NAM_NOMEM, "no memory");
	}
	r->keys = keys;
	r->value = value;
	r->threads = threads;
	bench_items_init(&r->items, keys->n);
	for (unsigned t = 0; t < threads; t++)
		r->c[t].fd = -1;
	nam_status st = start(r, err);
	if (st == NAM_OK && !load(r))
		st = nam_fail(err, NAM_IO, "loading redis failed");
	if (st == NAM_OK)
		*out = r;
	else
		bench_redis_close(r);
	return st;
}

void
bench_redis_close(struct ycsb_redis *r)
{
	if (r == NULL)
		return;
	if (r->pid != 0) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	for (unsigned t = 0; t < r->threads; t++) {
		if (r->c[t].fd >= 0)
			close(r->c[t].fd);
		free(r->c[t].out);
		free(r->c[t].in);
	}
	free(r->c);
	free(r);
}

/* ---- a slice --------------------------------------------------------------------------------- */

struct runner {
	struct ycsb_redis *r;
	const struct ycsb_steps *steps;
	unsigned number;
	uint32_t version;
	double seconds, per_s;
	uint64_t bad;
	pthread_t thread;
	bool started;
};

/* YCSB_PIPELINE steps; a read-modify-write sets in a second pass, when it has read. */
static void
pipeline(struct runner *u, const struct ycsb_step *step, bool latest)
{
	struct ycsb_redis *r = u->r;
	struct connection *c = &r->c[u->number];
	uint64_t key[YCSB_PIPELINE], item[YCSB_PIPELINE];
	unsigned again = 0;
	for (unsigned i = 0; i < YCSB_PIPELINE; i++) {
		bool insert = step[i].op == YCSB_INSERT;
		key[i] = step[i].at;
		if (insert) {
			item[i] = bench_items_take(&r->items);
			u->bad += item[i] - r->keys->n >= bench_keys_room(r->keys);
		} else if (latest)
			item[i] = bench_items_before(&r->items, step[i].at);
		if (insert || latest)
			key[i] = bench_keys_item(r->keys, item[i]);
		if (insert || step[i].op == YCSB_UPDATE)
			add_set(c, key[i], r->value, u->version);
		else
			add_get(c, key[i]);
	}
	flush(c);
	for (unsigned i = 0; i < YCSB_PIPELINE && !c->broken; i++) {
		if (step[i].op == YCSB_INSERT || step[i].op == YCSB_UPDATE)
			u->bad += !answered_set(c);
		else
			u->bad += !answered_get(c, key[i], r->value);
		if (step[i].op == YCSB_INSERT && !c->broken)
			bench_items_done(&r->items, item[i]);
		again += step[i].op == YCSB_RMW;
	}
	for (unsigned i = 0; again > 0 && i < YCSB_PIPELINE; i++)
		if (step[i].op == YCSB_RMW)
			add_set(c, key[i], r->value, u->version);
	flush(c);
	while (again-- > 0 && !c->broken)
		u->bad += !answered_set(c);
}

static void *
run(void *arg)
{
	struct runner *u = arg;
	const struct ycsb_steps *s = u->steps;
	uint64_t began = nam_clock_ns(), now = began, end = began + (uint64_t)(u->seconds * 1e9), n = 0;
	struct connection *c = &u->r->c[u->number];
	for (unsigned i = 0; now < end && !c->broken; n += YCSB_PIPELINE) {
		i = i + YCSB_PIPELINE <= s->n ? i : 0;
		pipeline(u, s->step + i, s->latest);
		i += YCSB_PIPELINE;
		now = nam_clock_ns();
	}
	u->bad += c->broken;
	u->per_s = (double)n / ((double)(now - began) / 1e9);
	return NULL;
}

double
bench_redis_run(struct ycsb_redis *r, const struct ycsb_steps *steps, double seconds, uint64_t *bad)
{
	struct runner *all = calloc(r->threads, sizeof *all);
	double sum = 0;
	r->version++;
	for (unsigned t = 0; all != NULL && t < r->threads; t++) {
		all[t] = (struct runner){ .r = r,
			.steps = &steps[t],
			.number = t,
			.version = (uint32_t)r->version,
			.seconds = seconds };
		all[t].started = pthread_create(&all[t].thread, NULL, run, &all[t]) == 0;
	}
	for (unsigned t = 0; all != NULL && t < r->threads; t++) {
		if (all[t].started)
			pthread_join(all[t].thread, NULL);
		*bad += all[t].bad + !all[t].started;
		sum += all[t].per_s;
	}
	*bad += all == NULL;
	free(all);
	return sum;
}
