/* conformance_test.c -- real fabrics pass net's suite: shm over embedded and served regions, and
 * tcp. */
#include <net/conformance/conformance.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NODES_MAX = 3 };

struct world {
	enum net_kind kind;
	bool services;                         /* the nodes host some */
	bool served;                           /* by a server thread; else embedded */
	const struct sn_server_config *server; /* NULL = the default */
	unsigned nodes;
	struct sn_region *region[NODES_MAX];
	struct test_node node[NODES_MAX];
};

static const struct sn_serve_config hosting = {
	.service = net_conf_service, .services = NET_CONF_SERVICES, .ring_bytes = 2 << 20
};

static nam_status
world_open(void *arg, unsigned nodes, unsigned nets, struct net **out)
{
	struct world *w = arg;
	struct net_local *local[NODES_MAX + 1] = { NULL };
	char list[512] = "";
	size_t used = 0;
	struct nam_err err;
	nam_status st = NAM_OK;
	for (w->nodes = 0; w->nodes < nodes; w->nodes++) {
		unsigned i = w->nodes;
		if (w->served) {
			test_node_start_serving(
			    &w->node[i], i + 1, NET_CONF_REGION, w->server, w->services ? &hosting : NULL);
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ",",
			    sn_server_address(w->node[i].server));
			continue;
		}
		const struct sn_region_config cfg = { .id = i + 1, .size = NET_CONF_REGION, .numa = -1 };
		if ((st = sn_region_open(&w->region[i], &cfg, &err)) != NAM_OK) {
			fprintf(stderr, "%s\n", err.text);
			return st;
		}
		if (w->services && (st = sn_region_serve(w->region[i], &hosting, &err)) != NAM_OK) {
			fprintf(stderr, "%s\n", err.text);
			return st;
		}
		local[i] = sn_local(w->region[i]);
	}
	const struct net_config cfg = {
		.storage = w->served ? list : NULL, .fabric = w->kind, .local = w->served ? NULL : local
	};
	for (unsigned i = 0; i < nets && st == NAM_OK; i++)
		if ((st = net_open(&out[i], &cfg, &err)) != NAM_OK)
			fprintf(stderr, "%s\n", err.text);
	return st;
}

static void
world_close(void *arg, struct net **net, unsigned nets)
{
	struct world *w = arg;
	for (unsigned i = 0; i < nets; i++)
		net_close(net[i]);
	for (unsigned i = 0; i < w->nodes; i++)
		if (w->served)
			test_node_stop(&w->node[i]);
		else
			sn_region_close(w->region[i]);
}

static void
conform_with(const char *name, enum net_kind kind, bool served, const struct sn_server_config *server)
{
	struct world w = { .kind = kind, .served = served, .server = server };
	const struct net_conf_env env = { .name = name,
		.kind = kind,
		.arg = &w,
		.open = world_open,
		.close = world_close,
		.run = net_conf_run_threads };
	assert_int_equal(net_conformance(&env), 0);
	w.services = true;
	assert_int_equal(net_conformance_services(&env), 0);
}

static void
conform(const char *name, enum net_kind kind, bool served)
{
	conform_with(name, kind, served, NULL);
}

/* NAMDB_TEST_RDMA names an address of an RDMA device here: tests/rdma_vm has one. */
static void
verbs(void **state)
{
	(void)state;
	const char *at = getenv("NAMDB_TEST_RDMA");
	if (at == NULL || *at == '\0')
		skip();
	char listen[64];
	snprintf(listen, sizeof listen, "%s:0", at);
	const struct sn_server_config server = { .listen = listen, .rdma = at };
	conform_with("verbs", NET_VERBS, true, &server);
	conform_with("tcp beside verbs", NET_TCP, true, &server);
}

static void
embedded(void **state)
{
	(void)state;
	conform("shm, embedded", NET_SHM, false);
}

static void
shm(void **state)
{
	(void)state;
	conform("shm, served", NET_SHM, true);
}

static void
tcp(void **state)
{
	(void)state;
	conform("tcp", NET_TCP, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embedded),
		cmocka_unit_test(shm),
		cmocka_unit_test(tcp),
		cmocka_unit_test(verbs),
	};
	/* In the machines of tests/rdma_vm the other fabrics test nothing new. */
	if (getenv("NAMDB_TEST_RDMA") != NULL)
		cmocka_set_test_filter("verbs");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
