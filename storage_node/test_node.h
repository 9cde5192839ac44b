/* test_node.h -- for tests: a region with a server on its own thread, on a port chosen by the
 * system; and peers of it. */
#ifndef NAM_STORAGE_NODE_TEST_NODE_H
#define NAM_STORAGE_NODE_TEST_NODE_H

#include <net/net.h>
#include <storage_node/sn.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_node {
	struct sn_region *region;
	struct sn_server *server;
	pthread_t thread;
};

static inline void *
test_node_main(void *arg)
{
	struct nam_err err;
	if (sn_server_run(arg, &err) != NAM_OK) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return NULL;
}

/* A directory of this process for UNIX sockets, so that tests may run side by side. */
static inline const char *
test_run_dir(void)
{
	static char dir[64];
	if (dir[0] == '\0') {
		strcpy(dir, "/tmp/namdb-test-XXXXXX");
		if (mkdtemp(dir) == NULL)
			abort();
	}
	return dir;
}

/* more may be NULL; its listen, run_dir are filled when missing. hosting: services; NULL = none. */
static inline void
test_node_start_serving(struct test_node *t, unsigned id, uint64_t size, const struct sn_server_config *more,
    const struct sn_serve_config *hosting)
{
	struct nam_err err;
	struct sn_region_config rc = {
		.id = id, .size = size, .numa = -1, .cluster = more ? more->cluster : NULL
	};
	struct sn_server_config sc = more != NULL ? *more : (struct sn_server_config){ 0 };
	if (sc.listen == NULL)
		sc.listen = "127.0.0.1:0";
	if (sc.run_dir == NULL)
		sc.run_dir = test_run_dir();
	if (sn_region_open(&t->region, &rc, &err) != NAM_OK ||
	    (hosting != NULL && sn_region_serve(t->region, hosting, &err) != NAM_OK) ||
	    sn_server_open(&t->server, t->region, &sc, &err) != NAM_OK ||
	    pthread_create(&t->thread, NULL, test_node_main, t->server) != 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

static inline void
test_node_start(struct test_node *t, unsigned id, uint64_t size, const struct sn_server_config *more)
{
	test_node_start_serving(t, id, size, more, NULL);
}

static inline void
test_node_stop(struct test_node *t)
{
	sn_server_stop(t->server);
	pthread_join(t->thread, NULL);
	sn_server_close(t->server);
	sn_region_close(t->region);
}

/* A process beside the node, or with storage inside: its net and one worker, or the test fails. */
static inline void
test_net_open(const struct net_config *cfg, struct net **net, struct net_worker **w)
{
	struct nam_err err = { 0 };
	if (net_open(net, cfg, &err) != NAM_OK || net_worker_open(*net, w, &err) != NAM_OK) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

static inline void
test_net_close(struct net *net, struct net_worker *w)
{
	net_worker_close(w);
	net_close(net);
}

/* Runs fn in a coroutine to its end. */
static inline void
test_in_coroutine(struct net_worker *w, void (*fn)(void *), void *arg)
{
	if (nam_co_start(net_worker_sched(w), fn, arg, 0) == NULL)
		abort();
	net_worker_run(w, NULL, NULL);
}

#endif
