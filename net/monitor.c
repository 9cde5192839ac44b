/*
 * monitor.c -- one thread per struct net that waits for control connections to break.
 *
 * A shm peer notices nothing by itself when the storage process dies: its
 * mapping stays good. A storage node never speaks on a control connection after
 * the handshake, so whatever happens there means it is gone, or that we are shut out: it is asked
 * which. A worker that has reconnected brings a new control connection along (net_monitor_renew).
 */
#include <net/remote_internal.h>

#include <base/log.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct monitor {
	pthread_t thread;
	pthread_mutex_t lock; /* over each node's control_fd and control_turn, and lost in step with them */
	int wake_fd;
	atomic_bool stop;
};

/* Under the lock. Who finds the node lost is to find its question asked. */
static void
lose(struct net_node *node, const char *why)
{
	if (net_node_lost(node))
		return;
	snprintf(node->broke_why, sizeof node->broke_why, "%s%s", why[0] ? ": " : "", why);
	node->to_ask = true;
	atomic_fetch_add(&node->net->asking, 1);
	net_node_set_lost(node);
}

static void
ended(struct monitor *m, struct net_node *node, unsigned turn)
{
	pthread_mutex_lock(&m->lock);
	/* Of an older connection, while a worker has made a new one, it is no news. */
	if (node->control_turn == turn) {
		node->control_ended = true;
		lose(node, "");
	}
	pthread_mutex_unlock(&m->lock);
}

/* A node that shuts us out refuses us before it ends anything of ours (wire.h, W3): so now it says so, if it has. */
static bool
shuts_us_out(struct net_node *node)
{
	struct net_grant grant = { .verdict = NET_YES };
	struct nam_err err;
	int fd;
	nam_status st = net_remote_connect(node, NET_ROLE_CONTROL, &fd, &grant, &err);
	if (st == NAM_OK)
		close(fd);
	return st == NAM_REFUSED && grant.verdict == NET_NO_MORE;
}

/* One line for each node that is gone, or one for all when it is we who are. */
static void
ask(struct monitor *m, struct net_node *node)
{
	struct net *n = node->net;
	char why[sizeof node->broke_why];
	pthread_mutex_lock(&m->lock);
	bool asks = node->to_ask;
	node->to_ask = false;
	memcpy(why, node->broke_why, sizeof why);
	pthread_mutex_unlock(&m->lock);
	if (!asks)
		return;
	if (!atomic_load(&n->shut_out) && shuts_us_out(node)) {
		atomic_store(&n->shut_out, true);
		nam_log(NAM_LOG_WARN, "this process has been shut out of the cluster: it stood still for "
				      "longer than its lease, and "
				      "others have settled what it left; it has to connect anew");
	}
	if (!atomic_load(&n->shut_out))
		nam_log(
		    NAM_LOG_WARN, "storage node %u (%s) is gone%s", node->info.region, node->info.name, why);
	atomic_fetch_sub(&n->asking, 1);
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
			fd[count++] =
			    (struct pollfd){ .fd = n->node[i]->control_fd, .events = POLLIN | POLLRDHUP };
		}
		pthread_mutex_unlock(&m->lock);
		if (poll(fd, count, -1) < 0)
			continue;
		if (fd[0].revents != 0) {
			uint64_t sink;
			ssize_t got = read(m->wake_fd, &sink, sizeof sink);
			(void)got;
			if (atomic_load(&m->stop))
				return NULL;
		}
		for (nfds_t i = 1; i < count; i++)
			if (fd[i].revents != 0)
				ended(m, who[i], turn[i]);
		for (unsigned i = 0; i < n->count; i++)
			ask(m, n->node[i]);
	}
}

static void
wake(struct monitor *m)
{
	uint64_t one = 1;
	ssize_t put = write(m->wake_fd, &one, sizeof one);
	(void)put;
}

void
net_monitor_broke(struct net_node *node, const char *why)
{
	struct monitor *m = node->net->monitor;
	if (m == NULL) {
		nam_log(NAM_LOG_WARN, "storage node %u (%s) is gone: %s", node->info.region, node->info.name,
		    why);
		return;
	}
	pthread_mutex_lock(&m->lock);
	lose(node, why);
	pthread_mutex_unlock(&m->lock);
	wake(m);
}

void
net_monitor_renew(struct net_node *node, int control_fd)
{
	struct monitor *m = node->net->monitor;
	pthread_mutex_lock(&m->lock);
	close(node->control_fd);
	node->control_fd = control_fd;
	node->control_turn++;
	node->control_ended = false;
	atomic_store_explicit(&node->info.lost, false, memory_order_relaxed);
	pthread_mutex_unlock(&m->lock);
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
	n->monitor = m;
	if (m->wake_fd < 0 || pthread_create(&m->thread, NULL, watch, n) != 0) {
		n->monitor = NULL;
		if (m->wake_fd >= 0)
			close(m->wake_fd);
		free(m);
		return nam_fail(err, NAM_IO, "cannot start the monitor thread");
	}
	return NAM_OK;
}

void
net_monitor_stop(struct net *n)
{
	struct monitor *m = n->monitor;
	atomic_store(&m->stop, true);
	wake(m);
	pthread_join(m->thread, NULL);
	close(m->wake_fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
	n->monitor = NULL;
}
