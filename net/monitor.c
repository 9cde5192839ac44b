/*
 * monitor.c -- one thread per struct net that listens to control connections: to messages from
 * nodes, and to the connections' end.
 *
 * A shm peer notices nothing by itself when the storage process dies: its mapping stays good. So
 * the end of a control connection means that the node is gone, or that this process is fenced: a
 * new connection to the node tells which. News about other processes go to heard.c. Whether this
 * process lives (ASK) is answered by the net's first worker on its own thread (net_monitor_answer):
 * if that thread does not run, no answer leaves. A worker that has reconnected also hands over a
 * new control connection (net_monitor_renew).
 *
 * To ask a node why a connection has ended may take as long as a connection attempt that gets no
 * answer. A second thread does it, so that meanwhile the first can still answer that this process
 * lives.
 */
#include <base/clock.h>
#include <base/log.h>
#include <net/remote_internal.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct monitor {
	pthread_t thread, asker;
	pthread_mutex_t lock;  /* over each node's control_fd and control_turn, `lost` in step with
			        * them, and the asking thread */
	pthread_cond_t to_ask; /* with lock: a node is to be asked, or the thread is to stop */
	int wake_fd;
	atomic_bool stop;
};
static_assert(sizeof((struct net_node *)0)->heard == sizeof(struct net_news), "a message fits");

enum { BATCH = 64 }; /* messages */

static void
wake(struct monitor *m)
{
	uint64_t one = 1;
	ssize_t put = write(m->wake_fd, &one, sizeof one);
	(void)put;
}

/* Under the lock: a new control connection. */
static void
take_over(struct net_node *node, int control_fd)
{
	close(node->control_fd);
	node->control_fd = control_fd;
	node->control_turn++;
	node->control_ended = false;
	node->heard_len = 0;
	node->asked_nonce = 0;
}

/*
 * Under the lock. A connection to the node has ended: the node is to be asked why. Mapped memory
 * does not change when the node's process is gone, so a mapped node is lost at once; a thread that
 * finds it lost must find the question pending.
 */
static void
suspect(struct net_node *node, const char *why)
{
	if (net_node_lost(node) || node->to_ask)
		return;
	snprintf(node->broke_why, sizeof node->broke_why, "%s%s", why[0] ? ": " : "", why);
	node->to_ask = true;
	atomic_fetch_add(&node->net->asking, 1);
	if (node->p == &net_provider_shm)
		net_node_set_lost(node);
	pthread_cond_signal(&((struct monitor *)node->net->monitor)->to_ask);
}

static void
ended(struct monitor *m, struct net_node *node, unsigned turn)
{
	pthread_mutex_lock(&m->lock);
	/* The end of an older connection means nothing once a worker has made a new one. */
	bool is = node->control_turn == turn && !node->control_ended;
	if (is) {
		node->control_ended = true;
		suspect(node, "");
	}
	pthread_mutex_unlock(&m->lock);
	if (is)
		net_heard_forget(node); /* it has no last message any more */
}

/* ---- messages ---------------------------------------------------------------------- */

/* Under the lock. A message that the socket does not take is dropped: the node is asked again
 * later, or goes on waiting. */
static void
say(struct net_node *node, const struct net_news *news, unsigned n)
{
	if (node->control_fd < 0 || node->control_ended)
		return;
	size_t len = n * sizeof *news;
	ssize_t put = send(node->control_fd, news, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* Half a message cannot be taken back. */
	if (put > 0 && (size_t)put % sizeof *news != 0)
		shutdown(node->control_fd, SHUT_RDWR);
}

/* False: the message makes no sense. */
static bool
take(struct monitor *m, struct net_node *node, const struct net_news *news)
{
	struct net *n = node->net;
	if (news->magic != NET_NEWS_MAGIC)
		return false;
	switch (news->kind) {
	case NET_NEWS_LEFT:
	case NET_NEWS_BACK:
	case NET_NEWS_DEAD:
		if (news->identity == 0 || news->identity >> NET_IDENTITY_BITS != 0)
			return false;
		net_heard_take(node, news->kind, news->identity);
		return true;
	case NET_NEWS_FORGET:
		net_heard_forget(node);
		return true;
	case NET_NEWS_ASK:
		pthread_mutex_lock(&m->lock);
		node->asked_nonce = news->nonce;
		node->asked_until_ns = nam_clock_ns() + (news->grace_ms & 0xffffff) * 1000000;
		pthread_mutex_unlock(&m->lock);
		net_workers_asked(n);
		return true;
	default:
		return false;
	}
}

/* Takes the bytes that have come over a control connection. False: it has ended, or is unusable. */
static bool
hear(struct monitor *m, struct net_node *node, unsigned turn)
{
	union {
		struct net_news news[BATCH];
		char bytes[BATCH * sizeof(struct net_news)];
	} in;
	for (;;) {
		pthread_mutex_lock(&m->lock);
		bool old = node->control_turn != turn || node->control_ended;
		size_t have = old ? 0 : node->heard_len;
		memcpy(in.bytes, node->heard, have);
		ssize_t got =
		    old ? 0 : recv(node->control_fd, in.bytes + have, sizeof in - have, MSG_DONTWAIT);
		int why = errno;
		size_t len = have + (got > 0 ? (size_t)got : 0);
		if (got > 0) {
			node->heard_len = len % sizeof *in.news;
			memcpy(node->heard, in.bytes + (len - node->heard_len), node->heard_len);
		}
		pthread_mutex_unlock(&m->lock);
		if (old || (got < 0 && (why == EAGAIN || why == EINTR)))
			return true;
		if (got <= 0)
			return false;
		for (size_t i = 0; i < len / sizeof *in.news; i++)
			if (!take(m, node, &in.news[i]))
				return false;
		if (len < sizeof in)
			return true;
	}
}

static void
question(struct monitor *m, struct net_node *node)
{
	uint64_t whom[BATCH];
	struct net_news news[BATCH];
	for (unsigned n; (n = net_heard_questions(node, whom, BATCH)) > 0;) {
		for (unsigned i = 0; i < n; i++)
			news[i] = (struct net_news){
				.magic = NET_NEWS_MAGIC, .kind = NET_NEWS_WHO, .identity = whom[i]
			};
		pthread_mutex_lock(&m->lock);
		say(node, news, n);
		pthread_mutex_unlock(&m->lock);
	}
}

void
net_real_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&n->workers_lock);
	n->asked_fn = fn;
	n->asked_arg = arg;
	pthread_mutex_unlock(&n->workers_lock);
}

/* A node's answer and a question may both end the membership: one line says so. */
static void
log_end(struct net *n)
{
	if (!atomic_exchange(&n->end_logged, true))
		nam_log(NAM_LOG_WARN, "%s", net_membership_why(n));
}

void
net_monitor_answer(struct net *n)
{
	struct monitor *m = n->monitor;
	bool waits = false;
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	uint64_t now = nam_clock_ns();
	for (unsigned i = 0; i < n->count; i++)
		waits |= n->node[i]->asked_nonce != 0 && now < n->node[i]->asked_until_ns;
	pthread_mutex_unlock(&m->lock);
	if (!waits)
		return;
	pthread_mutex_lock(&n->workers_lock);
	bool speaks = n->asked_fn != NULL;
	bool lives = speaks && n->asked_fn(n->asked_arg) == NET_LIVES;
	pthread_mutex_unlock(&n->workers_lock);
	if (!speaks)
		return;
	/* If the memory could not be given up, no answer is sent, and the node kills this process
	 * if it has to. */
	if (!lives && !net_disarm(n, "this process has been fenced: when it was asked whether it lives, its "
				     "heart had not beaten for too long; it has given itself up, and another "
				     "process recovers it"))
		return;
	struct net_news answer = { .magic = NET_NEWS_MAGIC,
		.kind = lives ? NET_NEWS_LIVES : NET_NEWS_GIVEN_UP };
	pthread_mutex_lock(&m->lock);
	now = nam_clock_ns();
	for (unsigned i = 0; i < n->count; i++) {
		struct net_node *node = n->node[i];
		answer.nonce = node->asked_nonce;
		if (answer.nonce != 0 && now < node->asked_until_ns)
			say(node, &answer, 1);
		node->asked_nonce = 0;
		/* W6: so the node sees that this process has no mapping any more. */
		if (!lives && node->control_fd >= 0 && !node->control_ended) {
			node->control_ended = true;
			shutdown(node->control_fd, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&m->lock);
	if (!lives)
		log_end(n);
}

/* ---- the end of connections --------------------------------------------------------- */

/* The node runs, and accepts this process: the node can go on sending news and questions while the
 * workers replace their connections. */
static void
keep(struct net_node *node, int fd)
{
	struct monitor *m = node->net->monitor;
	pthread_mutex_lock(&m->lock);
	/* Mapped memory has a connection of its own, and does not come back. */
	bool of_use = node->control_ended && !node->mapped && !atomic_load(&node->net->disarmed);
	if (of_use)
		take_over(node, fd);
	pthread_mutex_unlock(&m->lock);
	if (!of_use) {
		close(fd);
		return;
	}
	net_heard_forget(node);
	wake(m);
}

/*
 * A node that fences this process refuses it before it ends any of its connections (wire.h, W3): so
 * a new connection tells whether it has. NAM_REFUSED: this process is fenced. NAM_OK: the node
 * runs, and only a connection broke; if it was the control connection, there is a new one now.
 */
static nam_status
ask_why(struct net_node *node)
{
	enum { TRIES = 3 }; /* this connection may also be reset */
	struct net_grant grant;
	struct nam_err err;
	nam_status st = NAM_TIMEOUT;
	int fd;
	uint64_t until = nam_clock_ns() + (uint64_t)node->net->connect_ms * 1000000;
	for (unsigned i = 0; st == NAM_TIMEOUT && i < TRIES && nam_clock_ns() < until; i++)
		if ((st = net_remote_connect(node, NET_ROLE_CONTROL, &fd, &grant, &err)) == NAM_REFUSED &&
		    grant.verdict != NET_NO_MORE)
			st = NAM_TIMEOUT;
	if (st != NAM_OK)
		return st;
	if (node->p != &net_provider_shm && !net_monitor_watches(node))
		net_remote_life(node, &grant);
	keep(node, fd);
	return NAM_OK;
}

/* Logs one line for each node that is gone, or one for all if this process is fenced. */
static void
ask(struct net_node *node, const char *why)
{
	struct net *n = node->net;
	nam_status st = atomic_load(&n->fenced) ? NAM_REFUSED : ask_why(node);
	bool there = st == NAM_OK && !net_node_lost(node);
	if (!there)
		net_node_set_lost(node);
	if (!atomic_load(&n->fenced) && st == NAM_REFUSED) {
		/* The other nodes fence this process as well, or will: no verb of ours is worth
		 * executing there. */
		for (unsigned i = 0; i < n->count; i++)
			net_node_set_lost(n->node[i]);
		const char *none = NULL;
		atomic_compare_exchange_strong(&n->why, &none,
		    "this process has been fenced: it was silent for longer than its lease, and another "
		    "process has recovered it; it has to connect again");
		atomic_store(&n->fenced, true);
		log_end(n);
	}
	if (!atomic_load(&n->fenced) && !there) {
		nam_log(
		    NAM_LOG_WARN, "storage node %u (%s) is gone%s", node->info.region, node->info.name, why);
		pthread_mutex_lock(&n->workers_lock);
		if (!atomic_load(&n->lost_told))
			snprintf(n->lost_why, sizeof n->lost_why,
			    "this process has lost storage node %u (%s)%s", node->info.region,
			    node->info.name, why);
		atomic_store(&n->lost_told, true);
		pthread_mutex_unlock(&n->workers_lock);
	}
	atomic_fetch_sub(&n->asking, 1);
}

static void *
ask_all(void *arg)
{
	struct net *n = arg;
	struct monitor *m = n->monitor;
	pthread_mutex_lock(&m->lock);
	while (!atomic_load(&m->stop)) {
		struct net_node *node = NULL;
		for (unsigned i = 0; i < n->count && node == NULL; i++)
			if (n->node[i]->to_ask)
				node = n->node[i];
		if (node == NULL) {
			pthread_cond_wait(&m->to_ask, &m->lock);
			continue;
		}
		char why[sizeof node->broke_why];
		node->to_ask = false;
		memcpy(why, node->broke_why, sizeof why);
		pthread_mutex_unlock(&m->lock);
		ask(node, why);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

static void *
watch(void *arg)
{
	struct net *n = arg;
	struct monitor *m = n->monitor;
	struct pollfd fd[1 + NET_REGIONS];
	struct net_node *who[1 + NET_REGIONS];
	unsigned turn[1 + NET_REGIONS];
	for (;;) {
		nfds_t count = 0;
		fd[count++] = (struct pollfd){ .fd = m->wake_fd, .events = POLLIN };
		pthread_mutex_lock(&m->lock);
		for (unsigned i = 0; i < n->count; i++) {
			if (n->node[i]->control_fd < 0 || n->node[i]->control_ended)
				continue;
			who[count] = n->node[i];
			turn[count] = n->node[i]->control_turn;
			fd[count++] = (struct pollfd){ .fd = n->node[i]->control_fd, .events = POLLIN };
		}
		pthread_mutex_unlock(&m->lock);
		uint64_t now = nam_clock_ns(), next = net_heard_ripen(n, now);
		uint64_t ms = next == UINT64_MAX ? 0 : next > now ? (next - now) / 1000000 + 1 : 1;
		if (poll(fd, count, next == UINT64_MAX ? -1 : (int)ms) < 0)
			continue;
		if (fd[0].revents != 0) {
			uint64_t sink;
			ssize_t got = read(m->wake_fd, &sink, sizeof sink);
			(void)got;
			if (atomic_load(&m->stop))
				return NULL;
		}
		for (nfds_t i = 1; i < count; i++)
			if (fd[i].revents != 0 && !hear(m, who[i], turn[i]))
				ended(m, who[i], turn[i]);
		for (unsigned i = 0; i < n->count; i++)
			question(m, n->node[i]);
	}
}

void
net_monitor_wake(struct net *n)
{
	if (n->monitor != NULL)
		wake(n->monitor);
}

void
net_monitor_broke(struct net_node *node, const char *why)
{
	struct monitor *m = node->net->monitor;
	if (m == NULL) {
		nam_log(NAM_LOG_WARN, "storage node %u (%s) is gone: %s", node->info.region, node->info.name,
		    why);
		net_node_set_lost(node);
		return;
	}
	pthread_mutex_lock(&m->lock);
	node->broken = true;
	suspect(node, why);
	pthread_mutex_unlock(&m->lock);
}

void
net_monitor_mended(struct net_node *node)
{
	struct monitor *m = node->net->monitor;
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	node->broken = false;
	pthread_mutex_unlock(&m->lock);
}

void
net_broken_why(struct net *n, char *out, size_t size)
{
	struct monitor *m = n->monitor;
	out[0] = '\0';
	if (m == NULL)
		return;
	pthread_mutex_lock(&m->lock);
	for (unsigned i = 0; i < n->count && out[0] == '\0'; i++) {
		const struct net_node *node = n->node[i];
		if (node->broken)
			snprintf(out, size, "The connection to storage node %u (%s) broke%s.",
			    node->info.region, node->info.name, node->broke_why);
	}
	pthread_mutex_unlock(&m->lock);
}

bool
net_monitor_watches(struct net_node *node)
{
	struct monitor *m = node->net->monitor;
	pthread_mutex_lock(&m->lock);
	bool is = !net_node_lost(node) && node->control_fd >= 0 && !node->control_ended;
	pthread_mutex_unlock(&m->lock);
	return is;
}

void
net_monitor_renew(struct net_node *node, int control_fd)
{
	struct monitor *m = node->net->monitor;
	pthread_mutex_lock(&m->lock);
	take_over(node, control_fd);
	/* A net that has given up stays so; the node learns it from the answer. */
	if (!atomic_load(&node->net->disarmed))
		atomic_store_explicit(&node->info.lost, false, memory_order_relaxed);
	pthread_mutex_unlock(&m->lock);
	net_heard_forget(node); /* news that the old connection would have brought are lost */
	wake(m);
}

nam_status
net_monitor_start(struct net *n, struct nam_err *err)
{
	bool any = false;
	for (unsigned i = 0; i < n->count; i++)
		any |= n->node[i]->control_fd >= 0;
	if (!any)
		return NAM_OK;
	struct monitor *m = calloc(1, sizeof *m);
	if (m == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for the monitor");
	m->wake_fd = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->to_ask, NULL);
	nam_status st = net_heard_open(n, err);
	if (st != NAM_OK) {
		close(m->wake_fd);
		free(m);
		return st;
	}
	n->monitor = m;
	bool watches = m->wake_fd >= 0 && pthread_create(&m->thread, NULL, watch, n) == 0;
	if (watches && pthread_create(&m->asker, NULL, ask_all, n) == 0)
		return NAM_OK;
	atomic_store(&m->stop, true);
	wake(m);
	if (watches)
		pthread_join(m->thread, NULL);
	n->monitor = NULL;
	if (m->wake_fd >= 0)
		close(m->wake_fd);
	free(m);
	return nam_fail(err, NAM_IO, "cannot start the monitor's threads");
}

void
net_monitor_stop(struct net *n)
{
	struct monitor *m = n->monitor;
	if (!n->forked) {
		atomic_store(&m->stop, true);
		wake(m);
		pthread_mutex_lock(&m->lock);
		pthread_cond_signal(&m->to_ask);
		pthread_mutex_unlock(&m->lock);
		pthread_join(m->thread, NULL);
		pthread_join(m->asker, NULL);
		pthread_cond_destroy(&m->to_ask); /* a child of fork must not do this */
	}
	n->monitor = NULL;
	if (m->wake_fd >= 0)
		close(m->wake_fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
	net_heard_close(n);
}

void
net_monitor_abandon(struct net *n)
{
	struct monitor *m = n->monitor;
	if (m == NULL)
		return;
	close(m->wake_fd); /* the parent's thread also sleeps on it */
	m->wake_fd = -1;
	pthread_mutex_init(&m->lock, NULL);
	net_heard_abandon(n);
}
