/*
 * monitor.c -- one thread per struct net that waits for control connections to break.
 *
 * A shm peer notices nothing by itself when the storage process dies: its
 * mapping stays good. A storage node never speaks on a control connection after
 * the handshake, so whatever happens there means it is gone.
 */
#include <net/net_internal.h>

#include <base/log.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct monitor {
	pthread_t thread;
	int stop_fd;
};

static void *
watch(void *arg)
{
	struct net *n = arg;
	struct monitor *m = n->monitor;
	struct pollfd fd[1 + NET_REGIONS];
	struct net_node *who[1 + NET_REGIONS];
	nfds_t count = 0;
	who[0] = NULL;
	fd[count++] = (struct pollfd){ .fd = m->stop_fd, .events = POLLIN };
	for (unsigned i = 0; i < n->count; i++) {
		if (n->node[i]->control_fd < 0)
			continue;
		who[count] = n->node[i];
		fd[count++] = (struct pollfd){ .fd = n->node[i]->control_fd, .events = POLLIN | POLLRDHUP };
	}
	for (;;) {
		if (poll(fd, count, -1) < 0)
			continue;
		if (fd[0].revents != 0)
			return NULL;
		for (nfds_t i = 1; i < count; i++) {
			if (fd[i].revents == 0)
				continue;
			fd[i].fd = -1; /* poll skips it from now on */
			fd[i].revents = 0;
			if (!net_node_lost(who[i]))
				nam_log(NAM_LOG_WARN, "storage node %u (%s) is gone", who[i]->info.region,
				    who[i]->info.name);
			net_node_set_lost(who[i]);
		}
	}
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
	m->stop_fd = eventfd(0, EFD_CLOEXEC);
	n->monitor = m;
	if (m->stop_fd < 0 || pthread_create(&m->thread, NULL, watch, n) != 0) {
		n->monitor = NULL;
		if (m->stop_fd >= 0)
			close(m->stop_fd);
		free(m);
		return nam_fail(err, NAM_IO, "cannot start the monitor thread");
	}
	return NAM_OK;
}

void
net_monitor_stop(struct net *n)
{
	struct monitor *m = n->monitor;
	uint64_t one = 1;
	ssize_t put = write(m->stop_fd, &one, sizeof one);
	(void)put;
	pthread_join(m->thread, NULL);
	close(m->stop_fd);
	free(m);
	n->monitor = NULL;
}
