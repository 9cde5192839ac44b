/* metrics.c -- the thread that answers Prometheus, and the figures of the process itself. */
#include <base/clock.h>
#include <base/crowd.h>
#include <base/heap.h>
#include <base/log.h>
#include <compute_node/cn_internal.h>
#include <compute_node/memory.h>
#include <compute_node/metrics.h>
#include <compute_node/question.h>
#include <net/remote.h>
#include <net/turn.h>
#include <txn/checkpoint.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	BACKLOG = 4096,
	SCRAPES = 64, /* clients at once */
	REQUEST_MAX = 8192,
	CLIENT_MS = 2000, /* a client that is slower is given up */
	WORKER_MS = 1000, /* so is a worker for this answer */
};

struct cn_scrape;
struct cn_metrics {
	struct cn *cn; /* lock; NULL = none yet, or none at present */
	pthread_mutex_t lock;
	const struct cn_opening *opening;
	struct cn_metrics_config cfg;
	int listener, wake;
	char address[128];
	pthread_t thread;
	struct nam_crowd crowd; /* of all in scrape */
	struct cn_scrape *scrape[SCRAPES];
	unsigned scrapes;
};

/* ---- an answer --------------------------------------------------------------------------- */

struct cn_lines {
	char *p;
	size_t len, cap;
	bool failed;
};

void
cn_line(struct cn_lines *out, const char *fmt, ...)
{
	va_list ap;
	for (int tries = 0; tries < 2 && !out->failed; tries++) {
		size_t room = out->cap - out->len;
		va_start(ap, fmt);
		int n = vsnprintf(room > 0 ? out->p + out->len : NULL, room, fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < room) {
			out->len += (size_t)n;
			return;
		}
		size_t cap = 2 * out->cap + (n > 0 ? (size_t)n : 0) + 4096;
		char *more = n >= 0 ? realloc(out->p, cap) : NULL;
		out->failed = more == NULL;
		if (more != NULL) {
			out->p = more;
			out->cap = cap;
		}
	}
}

/* ---- asking the workers -------------------------------------------------------------------- */

struct question {
	struct cn_question q;
	struct net *net;
	struct net_counts counts;
	struct net_turns turns;
	bool *usage_ok; /* of each storage node */
	struct net_usage *usage;
	uint64_t prefix, watermark;
	bool has_log;
	struct txn_log_state log;
};

static void
end(struct cn_question *of)
{
	struct question *q = (void *)of;
	free(q->usage_ok);
	free(q->usage);
	free(q);
}

/* On a worker. The first one also READs how the storage nodes and the log stand. */
static void
answer(const struct cn_place *place, void *arg)
{
	struct question *q = arg;
	struct txn_log_state log;
	bool has_log = place->worker == 0 && txn_log_state(place->txn, &log) == NAM_OK;
	struct net_counts mine;
	unsigned nodes = net_node_count(q->net);
	struct tso *tso = txn_db_oracle(txn_worker_db(place->txn));
	for (unsigned i = 0; place->worker == 0 && i < nodes; i++) {
		struct net_usage u;
		bool ok = net_region_usage(place->net, net_node(q->net, i)->region, &u) == NAM_OK;
		pthread_mutex_lock(&q->q.lock);
		if (ok)
			q->usage[i] = u;
		q->usage_ok[i] = ok;
		pthread_mutex_unlock(&q->q.lock);
	}
	net_worker_counts(place->net, 0, &mine);
	pthread_mutex_lock(&q->q.lock);
	if (has_log) {
		q->log = log;
		q->has_log = true;
	}
	net_counts_add(&q->counts, &mine);
	net_worker_turns(place->net, &q->turns);
	q->prefix = tso_prefix(tso);
	q->watermark = tso_watermark(tso);
	cn_question_answer(&q->q);
}

/* Waits for the answers, not for ever. NULL: no memory. */
static struct question *
ask(struct cn *cn)
{
	unsigned nodes = net_node_count(cn->net);
	struct question *q = calloc(1, sizeof *q);
	if (q == NULL)
		return NULL;
	q->net = cn->net;
	q->usage = calloc(nodes + 1, sizeof *q->usage);
	q->usage_ok = calloc(nodes + 1, sizeof *q->usage_ok);
	cn_question_init(&q->q, end);
	if (q->usage == NULL || q->usage_ok == NULL) {
		cn_question_drop(&q->q);
		return NULL;
	}
	pthread_mutex_lock(&q->q.lock);
	for (unsigned i = 0; i < cn->workers; i++)
		(void)cn_question_ask(cn, i, &q->q, answer);
	cn_question_wait(&q->q, WORKER_MS, NULL);
	pthread_mutex_unlock(&q->q.lock);
	return q;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void
node_lines(const struct question *q, struct cn_lines *out)
{
	static const char *const part[] = { "in_use", "given_back", "never_used" };
	unsigned nodes = net_node_count(q->net);
	cn_line(
	    out, "# HELP namdb_region_up Whether a storage node answered.\n# TYPE namdb_region_up gauge\n");
	for (unsigned i = 0; i < nodes; i++)
		cn_line(
		    out, "namdb_region_up{region=\"%u\"} %d\n", net_node(q->net, i)->region, q->usage_ok[i]);
	cn_line(out, "# HELP namdb_region_bytes Memory of a storage node, by its use.\n"
		     "# TYPE namdb_region_bytes gauge\n");
	for (unsigned i = 0; i < nodes; i++) {
		const struct net_usage *u = &q->usage[i];
		const uint64_t bytes[] = { u->in_use, u->given_back, u->never_used };
		for (unsigned k = 0; q->usage_ok[i] && k < 3; k++)
			cn_line(out, "namdb_region_bytes{region=\"%u\",use=\"%s\"} %llu\n",
			    net_node(q->net, i)->region, part[k], (unsigned long long)bytes[k]);
	}
}

static void
log_lines(const struct question *q, struct cn_lines *out)
{
	if (!q->has_log)
		return;
	cn_line(out,
	    "# HELP namdb_log_bytes The cluster's log: what a restore would read, and what has been added "
	    "since the last checkpoint.\n# TYPE namdb_log_bytes gauge\n");
	cn_line(
	    out, "namdb_log_bytes{part=\"held\"} %llu\n", (unsigned long long)(q->log.end - q->log.begin));
	cn_line(out, "namdb_log_bytes{part=\"since_checkpoint\"} %llu\n",
	    (unsigned long long)(q->log.end > q->log.full ? q->log.end - q->log.full : 0));
	cn_line(out,
	    "# HELP namdb_log_syncs_total Syncs of the log's files; records of the log over syncs are the "
	    "records of a group.\n# TYPE namdb_log_syncs_total counter\nnamdb_log_syncs_total %llu\n"
	    "# HELP namdb_log_records_total Records that the log has received.\n"
	    "# TYPE namdb_log_records_total counter\nnamdb_log_records_total %llu\n",
	    (unsigned long long)q->log.syncs, (unsigned long long)q->log.records);
	cn_line(out,
	    "# HELP namdb_log_record_bytes_total Their bytes.\n# TYPE namdb_log_record_bytes_total counter\n"
	    "namdb_log_record_bytes_total %llu\n"
	    "# HELP namdb_log_written_bytes_total Bytes written to the log's files, compressed where that "
	    "saves space.\n# TYPE namdb_log_written_bytes_total counter\n"
	    "namdb_log_written_bytes_total %llu\n",
	    (unsigned long long)q->log.bytes, (unsigned long long)q->log.written);
	int64_t age_us = nam_clock_wall_us() - (int64_t)q->log.full_wall_us;
	cn_line(out,
	    "# HELP namdb_log_sync_seconds How long a sync takes at present.\n"
	    "# TYPE namdb_log_sync_seconds gauge\nnamdb_log_sync_seconds %.6f\n"
	    "# HELP namdb_log_checkpoint_age_seconds Time since the last checkpoint, or since the restore.\n"
	    "# TYPE namdb_log_checkpoint_age_seconds gauge\nnamdb_log_checkpoint_age_seconds %.1f\n",
	    (double)q->log.sync_ns / 1e9, age_us > 0 ? (double)age_us / 1e6 : 0.0);
}

static void
verb_lines(const struct question *q, struct cn_lines *out)
{
	static const char *const name[NET_CODES] = { [NET_READ] = "read",
		[NET_WRITE] = "write",
		[NET_WRITE_IMM] = "write_with_imm",
		[NET_CAS] = "cas",
		[NET_FAA] = "fetch_add" };
	cn_line(out, "# HELP namdb_verbs_total One-sided verbs that the workers posted.\n"
		     "# TYPE namdb_verbs_total counter\n");
	for (unsigned k = 0; k < NET_CODES; k++)
		cn_line(out, "namdb_verbs_total{verb=\"%s\"} %llu\n", name[k],
		    (unsigned long long)q->counts.verbs[k]);
	cn_line(out,
	    "# HELP namdb_verb_bytes_total Payload of the verbs.\n# TYPE namdb_verb_bytes_total counter\n"
	    "namdb_verb_bytes_total{direction=\"out\"} %llu\nnamdb_verb_bytes_total{direction=\"in\"} %llu\n",
	    (unsigned long long)q->counts.bytes_out, (unsigned long long)q->counts.bytes_in);
	cn_line(out,
	    "# HELP namdb_round_trips_total Batches of verbs that a coroutine waited for.\n"
	    "# TYPE namdb_round_trips_total counter\nnamdb_round_trips_total %llu\n",
	    (unsigned long long)q->counts.round_trips);
}

static void
turn_lines(const struct question *q, struct cn_lines *out)
{
	cn_line(out,
	    "# HELP namdb_long_turns_total Turns in which a worker computed for so long, in CPU time.\n"
	    "# TYPE namdb_long_turns_total counter\n");
	for (unsigned k = 0; k < NET_TURN_STEPS; k++)
		cn_line(out, "namdb_long_turns_total{at_least_ms=\"%u\"} %llu\n", net_turn_ms[k],
		    (unsigned long long)q->turns.at_least[k]);
	cn_line(out,
	    "# HELP namdb_longest_turn_seconds CPU time of a worker's longest turn since the process began.\n"
	    "# TYPE namdb_longest_turn_seconds gauge\nnamdb_longest_turn_seconds %.6f\n",
	    (double)q->turns.longest_ns / 1e9);
}

static void
memory_lines(struct cn_lines *out)
{
	struct cn_memory m;
	uint64_t held, most;
	cn_memory_look(&m);
	sql_memory(&held, &most);
	cn_line(out,
	    "# HELP namdb_process_memory_bytes Memory of this process that is no mapped file: what is "
	    "resident; "
	    "what is allocated, touched or not; what was freed and the allocator keeps or has given back; of "
	    "what is allocated, what statements and cursors hold.\n"
	    "# TYPE namdb_process_memory_bytes gauge\n");
	cn_line(out, "namdb_process_memory_bytes{part=\"resident\"} %llu\n", (unsigned long long)m.resident);
	cn_line(
	    out, "namdb_process_memory_bytes{part=\"allocated\"} %llu\n", (unsigned long long)m.allocated);
	cn_line(out, "namdb_process_memory_bytes{part=\"freed\"} %llu\n", (unsigned long long)m.freed);
	cn_line(out, "namdb_process_memory_bytes{part=\"statements\"} %llu\n", (unsigned long long)held);
	cn_line(out,
	    "# HELP namdb_process_memory_limit_bytes The setting namdb.process_memory; 0 = no limit.\n"
	    "# TYPE namdb_process_memory_limit_bytes gauge\nnamdb_process_memory_limit_bytes %llu\n",
	    (unsigned long long)most);
}

static void
process_lines(struct cn *cn, struct cn_lines *out)
{
	struct question *q = ask(cn);
	if (q == NULL) {
		out->failed = true;
		return;
	}
	pthread_mutex_lock(&q->q.lock);
	cn_line(out,
	    "# HELP namdb_workers Worker threads.\n# TYPE namdb_workers gauge\nnamdb_workers %u\n"
	    "# HELP namdb_workers_silent Workers that did not answer in time; they are missing in the sums.\n"
	    "# TYPE namdb_workers_silent gauge\nnamdb_workers_silent %u\n",
	    cn->workers, q->q.open);
	cn_line(out,
	    "# HELP namdb_member Whether the process is a member of its cluster.\n"
	    "# TYPE namdb_member gauge\nnamdb_member %d\n",
	    net_membership(cn->net) != NET_FENCED);
	cn_line(out,
	    "# HELP namdb_snapshot_cid The newest snapshot that this process has seen.\n"
	    "# TYPE namdb_snapshot_cid counter\nnamdb_snapshot_cid %llu\n"
	    "# HELP namdb_watermark_cid No live snapshot of the cluster is older.\n"
	    "# TYPE namdb_watermark_cid counter\nnamdb_watermark_cid %llu\n",
	    (unsigned long long)q->prefix, (unsigned long long)q->watermark);
	cn_line(out,
	    "# HELP namdb_log_lines_dropped_total Lines of the log that were dropped because nothing read "
	    "them.\n"
	    "# TYPE namdb_log_lines_dropped_total counter\nnamdb_log_lines_dropped_total %llu\n",
	    (unsigned long long)nam_log_dropped());
	memory_lines(out);
	verb_lines(q, out);
	turn_lines(q, out);
	node_lines(q, out);
	log_lines(q, out);
	pthread_mutex_unlock(&q->q.lock);
	cn_question_drop(&q->q);
}

/* ---- HTTP --------------------------------------------------------------------------------- */

/* A connection: its request comes, then its answer goes. */
struct cn_scrape {
	struct nam_in_crowd crowd;
	int fd;
	uint64_t until_ns;
	char *answer; /* NULL = the request is not whole yet */
	size_t len, at, n;
	char request[REQUEST_MAX];
};

/* The answer to a request; the caller frees it. NULL = no memory. */
static char *
answer_of(const char *status, const char *body, size_t n, size_t *len)
{
	char *p = malloc(n + 256);
	if (p == NULL)
		return NULL;
	int head = snprintf(p, 256,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
	    "Connection: close\r\n\r\n",
	    status, n);
	memcpy(p + head, body, n);
	*len = (size_t)head + n;
	return p;
}

static char *
answer_text(const char *status, const char *text, size_t *len)
{
	return answer_of(status, text, strlen(text), len);
}

static bool
asks_for(const char *request, const char *path)
{
	size_t n = strlen(path);
	return strncmp(request, "GET ", 4) == 0 && strncmp(request + 4, path, n) == 0 &&
	       (request[4 + n] == ' ' || request[4 + n] == '?');
}

static char *
health(struct cn_metrics *m, size_t *len)
{
	char why[400], line[402];
	unsigned restoring = m->opening != NULL ? atomic_load(&m->opening->restoring) : 0;
	if (m->cn == NULL && restoring > 0)
		snprintf(why, sizeof why, "the database is not open yet: %u %% of it is restored",
		    (restoring - 1) / 10);
	else if (m->cn == NULL)
		snprintf(why, sizeof why, "the database is not open yet");
	else if (cn_serves(m->cn, why, sizeof why))
		return answer_text("200 OK", "clients are served\n", len);
	snprintf(line, sizeof line, "%s\n", why);
	return answer_text("503 Service Unavailable", line, len);
}

static void
opening_lines(const struct cn_metrics *m, struct cn_lines *out)
{
	unsigned restoring = m->opening != NULL ? atomic_load(&m->opening->restoring) : 0;
	cn_line(out,
	    "# HELP namdb_open Whether the database is open in this process.\n# TYPE namdb_open gauge\n"
	    "namdb_open %d\n"
	    "# HELP namdb_restored_ratio How much of the database is restored, while it is.\n"
	    "# TYPE namdb_restored_ratio gauge\nnamdb_restored_ratio %.3f\n",
	    m->cn != NULL,
	    m->cn != NULL   ? 1.0
	    : restoring > 0 ? (restoring - 1) / 1000.0
			    : 0.0);
}

/* With the lock. */
static char *
make_answer(struct cn_metrics *m, const char *request, size_t *len)
{
	if (strncmp(request, "GET ", 4) != 0)
		return answer_text("405 Method Not Allowed", "GET only\n", len);
	if (asks_for(request, "/health"))
		return health(m, len);
	if (!asks_for(request, "/metrics"))
		return answer_text(
		    "404 Not Found", "the figures are at /metrics, the state at /health\n", len);
	struct cn_lines out = { 0 };
	opening_lines(m, &out);
	if (m->cn != NULL)
		process_lines(m->cn, &out);
	if (m->cfg.more != NULL)
		m->cfg.more(m->cfg.more_arg, &out);
	char *p = out.failed ? answer_text("503 Service Unavailable", "out of memory\n", len)
			     : answer_of("200 OK", out.p, out.len, len);
	free(out.p);
	return p;
}

static void
end_scrape(struct cn_metrics *m, unsigned i)
{
	struct cn_scrape *s = m->scrape[i];
	nam_crowd_leave(&m->crowd, &s->crowd);
	close(s->fd);
	free(s->answer);
	free(s);
	m->scrape[i] = m->scrape[--m->scrapes];
}

/* Reads, or writes, what there is. True: it is not over. */
static bool
go_on(struct cn_metrics *m, struct cn_scrape *s)
{
	while (s->answer == NULL) {
		ssize_t got = recv(s->fd, s->request + s->n, REQUEST_MAX - 1 - s->n, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno == EAGAIN;
		s->n += (size_t)got;
		s->request[s->n] = 0;
		if (memmem(s->request, s->n, "\r\n\r\n", 4) != NULL ||
		    memmem(s->request, s->n, "\n\n", 2) != NULL) {
			pthread_mutex_lock(&m->lock);
			s->answer = make_answer(m, s->request, &s->len);
			pthread_mutex_unlock(&m->lock);
			/* A slow question is not the client's. */
			s->until_ns = nam_clock_ns() + CLIENT_MS * UINT64_C(1000000);
			if (s->answer == NULL)
				return false;
		} else if (s->n + 1 == REQUEST_MAX) {
			return false;
		}
	}
	while (s->at < s->len) {
		ssize_t sent = send(s->fd, s->answer + s->at, s->len - s->at, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return sent < 0 && errno == EAGAIN;
		s->at += (size_t)sent;
	}
	return false;
}

/* Of too many clients one goes (base/crowd.h), told so. */
static void
make_place(struct cn_metrics *m)
{
	const struct nam_in_crowd *first = nam_crowd_first_to_go(&m->crowd);
	size_t len = 0;
	for (unsigned i = 0; i < m->scrapes; i++) {
		struct cn_scrape *s = m->scrape[i];
		if (&s->crowd != first)
			continue;
		char *p = s->answer == NULL
			      ? answer_text("503 Service Unavailable", "too many clients ask at once\n", &len)
			      : NULL;
		if (p != NULL)
			(void)!send(s->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		free(p);
		shutdown(s->fd, SHUT_WR);
		(void)!recv(s->fd, s->request, sizeof s->request, MSG_DONTWAIT);
		end_scrape(m, i);
		return;
	}
}

static void
accept_one(struct cn_metrics *m)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNIX };
	socklen_t len = sizeof peer;
	int fd = accept4(m->listener, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
		/* No descriptor, or no memory: a client gives its own. */
		if (m->scrapes > 0)
			make_place(m);
		else
			nanosleep(&(const struct timespec){ .tv_nsec = 100000000 }, NULL);
	}
	if (fd < 0)
		return;
	if (m->scrapes == SCRAPES)
		make_place(m);
	struct cn_scrape *s = calloc(1, sizeof *s);
	if (s == NULL || !nam_crowd_enter(&m->crowd, &s->crowd, nam_crowd_origin(&peer))) {
		free(s);
		close(fd);
		return;
	}
	s->fd = fd;
	s->until_ns = nam_clock_ns() + CLIENT_MS * UINT64_C(1000000);
	m->scrape[m->scrapes++] = s;
	if (!go_on(m, s))
		end_scrape(m, m->scrapes - 1);
}

/* Milliseconds until the first client has to be given up; -1 = there is none. */
static int
patience(const struct cn_metrics *m)
{
	uint64_t now = nam_clock_ns(), first = UINT64_MAX;
	for (unsigned i = 0; i < m->scrapes; i++)
		if (m->scrape[i]->until_ns < first)
			first = m->scrape[i]->until_ns;
	if (m->scrapes == 0)
		return -1;
	return first <= now ? 0 : (int)((first - now) / 1000000) + 1;
}

static void *
run(void *arg)
{
	struct cn_metrics *m = arg;
	struct pollfd p[SCRAPES + 2] = { { .fd = m->listener, .events = POLLIN },
		{ .fd = m->wake, .events = POLLIN } };
	nam_heap_enter();
	for (;;) {
		unsigned n = m->scrapes;
		for (unsigned i = 0; i < n; i++)
			p[i + 2] = (struct pollfd){ .fd = m->scrape[i]->fd,
				.events = m->scrape[i]->answer ? POLLOUT : POLLIN };
		if ((poll(p, n + 2, patience(m)) < 0 && errno != EINTR) || p[1].revents != 0)
			break;
		uint64_t now = nam_clock_ns();
		for (unsigned i = n; i-- > 0;) /* one that ends is replaced by the last one */
			if ((p[i + 2].revents != 0 && !go_on(m, m->scrape[i])) ||
			    m->scrape[i]->until_ns <= now)
				end_scrape(m, i);
		if (p[0].revents != 0)
			accept_one(m);
	}
	while (m->scrapes > 0)
		end_scrape(m, m->scrapes - 1);
	return NULL;
}

/* ---- opening -------------------------------------------------------------------------------- */

static nam_status
listen_at(struct cn_metrics *m, struct nam_err *err)
{
	char host[100], port[16];
	const struct addrinfo want = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	struct sockaddr_storage at;
	socklen_t len = sizeof at;
	int one = 1;
	nam_status st = net_split_address(m->cfg.listen, host, sizeof host, port, sizeof port, err);
	if (st != NAM_OK)
		return st;
	int e = getaddrinfo(host, port, &want, &list);
	if (e != 0)
		return nam_fail(
		    err, NAM_INVALID, "cannot listen at %.100s: %s", m->cfg.listen, gai_strerror(e));
	m->listener = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->listener >= 0)
		setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	bool ok = m->listener >= 0 && bind(m->listener, list->ai_addr, list->ai_addrlen) == 0 &&
		  listen(m->listener, BACKLOG) == 0;
	if (!ok)
		st = nam_fail(err, NAM_IO, "cannot listen at %.100s (%m)%s", m->cfg.listen,
		    errno == EADDRINUSE ? "; another program does: choose another port with --metrics" : "");
	freeaddrinfo(list);
	if (ok && getsockname(m->listener, (struct sockaddr *)&at, &len) == 0)
		getnameinfo((struct sockaddr *)&at, len, NULL, 0, port, sizeof port, NI_NUMERICSERV);
	snprintf(m->address, sizeof m->address, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return st;
}

static void
release(struct cn_metrics *m)
{
	if (m->listener >= 0)
		close(m->listener);
	if (m->wake >= 0)
		close(m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

nam_status
cn_metrics_open(struct cn_metrics **out, const struct cn_metrics_config *cfg,
    const struct cn_opening *opening, struct nam_err *err)
{
	struct cn_metrics *m = calloc(1, sizeof *m);
	if (m == NULL)
		return nam_fail(err, NAM_NOMEM, "out of memory");
	m->opening = opening;
	pthread_mutex_init(&m->lock, NULL);
	m->cfg = *cfg;
	m->listener = -1;
	m->wake = eventfd(0, EFD_CLOEXEC);
	nam_status st =
	    m->wake < 0 ? nam_fail(err, NAM_IO, "cannot make an eventfd (%m)") : listen_at(m, err);
	if (st == NAM_OK && pthread_create(&m->thread, NULL, run, m) != 0)
		st = nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
	if (st != NAM_OK) {
		release(m);
		return st;
	}
	pthread_setname_np(m->thread, "namdb-metrics");
	*out = m;
	return NAM_OK;
}

void
cn_metrics_of(struct cn_metrics *m, struct cn *cn)
{
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	m->cn = cn;
	pthread_mutex_unlock(&m->lock);
}

void
cn_metrics_close(struct cn_metrics *m)
{
	uint64_t one = 1;
	if (m == NULL)
		return;
	(void)!write(m->wake, &one, sizeof one);
	pthread_join(m->thread, NULL);
	release(m);
}

const char *
cn_metrics_address(const struct cn_metrics *m)
{
	return m->address;
}
