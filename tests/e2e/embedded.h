/* embedded.h -- a cluster inside of a test: one region in this process, one compute node, sessions
 * that answer in text. */
#ifndef NAM_TESTS_EMBEDDED_H
#define NAM_TESTS_EMBEDDED_H

#include "../test_client.h"

#include <compute_node/cn.h>
#include <index/tree.h>
#include <net/local.h>
#include <storage_node/sn.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct embedded {
	struct sn_region *region;
	struct idx_tree_host *trees; /* its services */
	struct cn *cn;
};

/* txn_config.order_cache of the clusters opened from now on. */
static unsigned embedded_order_cache;

static void
embedded_open(struct embedded *e, uint64_t size, unsigned workers)
{
	struct nam_err err = { 0 };
	struct sn_region_config rc = { .id = 1, .size = size, .huge = SN_HUGE_OFF, .numa = -1 };
	if (sn_region_open(&e->region, &rc, &err) != NAM_OK) {
		fprintf(stderr, "region: %s\n", err.text);
		exit(1);
	}
	struct net_service service[IDX_TREE_SERVICES];
	const struct sn_serve_config vc = {
		.service = service, .services = IDX_TREE_SERVICES, .unpinned = true
	};
	e->trees = idx_tree_host_open(1, sn_local(e->region)->base, sn_region_size(e->region));
	if (e->trees == NULL)
		exit(1);
	idx_tree_host_services(e->trees, service);
	if (sn_region_serve(e->region, &vc, &err) != NAM_OK) {
		fprintf(stderr, "services: %s\n", err.text);
		exit(1);
	}
	struct net_local *local[2] = { sn_local(e->region), NULL };
	struct cn_config cfg = { .local = local,
		.workers = workers,
		.txn = { .vector = 1 << 16, .order_cache = embedded_order_cache } };
	if (cn_open(&e->cn, &cfg, &err) != NAM_OK) {
		fprintf(stderr, "compute node: %s\n", err.text);
		exit(1);
	}
}

static void
embedded_close(struct embedded *e)
{
	cn_close(e->cn);
	sn_region_close(e->region);
	idx_tree_host_close(e->trees);
}

static void
test_client_open(struct test_client *t, struct embedded *e, unsigned worker)
{
	memset(t, 0, sizeof *t);
	if (cn_session_open(e->cn, worker, &t->s) != NAM_OK)
		exit(1);
}

static void
test_client_close(struct test_client *t)
{
	cn_session_close(t->s);
	free(t->text);
}

/* What `text` answers. Valid until the next call. */
static const char *
ask(struct test_client *t, const char *text)
{
	struct sql_sink sink = test_client_sink(t);
	test_client_begin(t);
	return test_client_end(t, cn_exec(t->s, text, strlen(text), &sink, &t->err));
}

#endif
