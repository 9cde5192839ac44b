/* node.c -- a storage node from its parts, reset as often as its clusters end. */
#include "node.h"

#include <base/log.h>
#include <index/tree.h>
#include <net/local.h>
#include <net/region_format.h>
#include <net/ring/service.h>
#include <wal/remote/host.h>

#include <embed/embed.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING_BYTES = 64 << 10 }; /* of a worker, for short records */

/* ---- signals ----------------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	struct sn_server *server; /* that runs, NULL = none */
	bool ends;                /* a signal has come */
	bool later;               /* it is not the first life */
	bool opens;               /* the node is being made, and no peer has been there */
} now = { .lock = PTHREAD_MUTEX_INITIALIZER, .opens = true };

static void
ending(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

void
cli_node_block(void)
{
	sigset_t set;
	ending(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *
wait_for_end(void *arg)
{
	sigset_t set;
	int sig;
	(void)arg;
	ending(&set);
	while (sigwait(&set, &sig) == 0) {
		pthread_mutex_lock(&now.lock);
		now.ends = true;
		bool opens = now.opens, later = now.later;
		if (now.server != NULL)
			sn_server_stop(now.server);
		pthread_mutex_unlock(&now.lock);
		if (!opens)
			continue;
		/* The log is being judged, which may take long, and no peer has been here. */
		if (later)
			_exit(0);
		signal(sig, SIG_DFL);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		raise(sig);
	}
	return NULL;
}

/* False: a signal has come already. */
static bool
serves(struct sn_server *server)
{
	pthread_mutex_lock(&now.lock);
	now.server = server;
	now.opens = false;
	bool ends = now.ends;
	pthread_mutex_unlock(&now.lock);
	return !ends;
}

/* ---- its parts ------------------------------------------------------------------------------- */

/* Opened from the top, closed from the bottom. */
struct node {
	struct sn_region *region;
	struct wal_dir *dir;
	struct wal_host *log;
	struct idx_tree_host *trees;
	struct sn_server *server;
	struct emb_address *address; /* of a node that keeps a log */
	atomic_bool reset;           /* its memory is to be reset */
	/* Echo, this node's reset, the trees of index/, its log. */
	struct net_service service[2 + IDX_TREE_SERVICES + 1];
};

/* On a shard. */
static nam_status
reset_asked(void *arg, struct net_request *rq)
{
	struct node *n = arg;
	nam_status st = net_reset_asked(sn_region_incarnation(n->region), rq);
	if (st != NAM_OK)
		return st;
	atomic_store(&n->reset, true);
	pthread_mutex_lock(&now.lock);
	if (now.server != NULL)
		sn_server_stop(now.server);
	pthread_mutex_unlock(&now.lock);
	return NAM_OK;
}

static bool
is_gone(void *region, uint64_t identity)
{
	return sn_region_gone(region, identity);
}

/* The log in a directory, as a service of the region. */
static nam_status
log_open(struct node *n, const struct cli_node_config *c, struct nam_err *err)
{
	uint64_t at, bytes;
	nam_status st = sn_region_keeps_log(n->region, c->log_rings, &at, &bytes, err);
	if (st != NAM_OK)
		return st;
	const struct wal_host_config cfg = {
		.log = { .dir = n->dir, .node = sn_region_id(n->region) },
		.line = (struct wal_line *)(void *)((char *)sn_local(n->region)->base + at),
		.line_at = net_at(sn_region_id(n->region), at),
		.every = c->every,
		.thread = true,
		.rings = c->log_rings ? (char *)sn_local(n->region)->base + at + NET_EXTENT : NULL,
		.rings_at = net_at(sn_region_id(n->region), at + NET_EXTENT),
		.rings_bytes = bytes - NET_EXTENT,
		.ring_bytes = RING_BYTES,
		.gone = is_gone,
		.gone_arg = n->region,
	};
	return wal_host_open(&n->log, &cfg, err);
}

static nam_status
serve(struct node *n, const struct cli_node_config *c, struct nam_err *err)
{
	unsigned services = 2;
	n->service[0] = (struct net_service){ .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };
	n->service[1] =
	    (struct net_service){ .id = NET_SERVICE_RESET, .name = "reset", .fn = reset_asked, .arg = n };
	n->trees =
	    idx_tree_host_open(sn_region_id(n->region), sn_local(n->region)->base, sn_region_size(n->region));
	if (n->trees == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for the services of trees");
	idx_tree_host_services(n->trees, n->service + services);
	services += IDX_TREE_SERVICES;
	if (n->log != NULL)
		wal_host_service(n->log, &n->service[services++]);
	const struct sn_serve_config cfg = {
		.service = n->service, .services = services, .shards = c->shards, .ring_bytes = c->ring_bytes
	};
	return sn_region_serve(n->region, &cfg, err);
}

static nam_status
node_open(struct node *n, const struct cli_node_config *c, struct nam_err *err)
{
	nam_status st = sn_region_open(&n->region, &c->region, err);
	if (st == NAM_OK && c->data != NULL)
		st = log_open(n, c, err);
	if (st == NAM_OK && c->hosts)
		st = serve(n, c, err);
	if (st == NAM_OK)
		st = sn_server_open(&n->server, n->region, &c->server, err);
	if (st == NAM_OK && n->log != NULL)
		st = emb_publish(&n->address, c->data, sn_server_address(n->server),
		    c->secret_file != NULL ? c->secret_file : getenv("NAMDB_SECRET_FILE"), err);
	return st;
}

static void
node_close(struct node *n)
{
	/* First: a process that looks for the address from now on waits for the next node. */
	emb_retract(n->address);
	sn_server_close(n->server);
	wal_host_stop(n->log);
	sn_region_close(n->region);
	idx_tree_host_close(n->trees);
	wal_host_close(n->log);
}

static void
say_ready(const struct cli_node_config *c, const struct node *n)
{
	double mib = (double)sn_region_size(n->region) / (1 << 20);
	char rdma[160];
	sn_server_rdma(n->server, rdma);
	fprintf(stderr, "storage node %u: %.1f %s at %s%s%s%s, incarnation %016llx, %s, %s%s\nready\n",
	    c->region.id, mib < 1024 ? mib : mib / 1024, mib < 1024 ? "MiB" : "GiB",
	    sn_server_address(n->server), *sn_server_socket(n->server) ? " (and shm)" : "",
	    *rdma != '\0' ? ", " : "", rdma, (unsigned long long)sn_region_incarnation(n->region),
	    sn_region_pages(n->region),
	    n->log != NULL ? "the database is kept in " : "data lives as long as this process",
	    n->log != NULL ? c->data : "");
	if (c->ready != NULL)
		c->ready(c->ready_arg);
}

/* One life of the node. *again: another one is to follow. listen: the address that it got. */
static nam_status
live(struct cli_node_config *c, struct wal_dir *dir, char *listen, size_t max, bool *again,
    struct nam_err *err)
{
	struct node *n = calloc(1, sizeof *n);
	*again = false;
	if (n == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a storage node");
	n->dir = dir;
	nam_status st = node_open(n, c, err);
	if (st == NAM_OK) {
		snprintf(listen, max, "%s", sn_server_address(n->server));
		c->server.listen = listen;
		bool stays = serves(n->server);
		if (stays) {
			say_ready(c, n);
			st = sn_server_run(n->server, err);
			stays = serves(NULL);
		} else {
			serves(NULL);
		}
		*again = st == NAM_OK && stays && atomic_load(&n->reset);
	}
	node_close(n);
	free(n);
	return st;
}

nam_status
cli_node_run(struct cli_node_config *c, struct nam_err *err)
{
	char listen[128];
	pthread_t thread;
	nam_status st;
	if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
		return nam_fail(
		    err, NAM_NOMEM, "cannot start a thread: raise the limit on processes (ulimit -u)");
	pthread_detach(thread);
	/* Its lock is held over all lives. */
	struct wal_dir *dir = NULL;
	st = c->data != NULL ? wal_disk_open(&dir, c->data, err) : NAM_OK;
	for (bool again = st == NAM_OK; again;) {
		st = live(c, dir, listen, sizeof listen, &again, err);
		pthread_mutex_lock(&now.lock);
		now.opens = again && !now.ends;
		now.later = true;
		again = now.opens;
		pthread_mutex_unlock(&now.lock);
		if (again)
			nam_log(NAM_LOG_WARN, "the life of this node's cluster is over: the node resets its "
					      "memory, and the database "
					      "is restored from its log");
	}
	wal_disk_close(dir);
	return st;
}
