/*
 * reconnect_test.c -- net_worker_reconnect: a connection breaks under load, the node is the same,
 * and work goes on.
 *
 * The server is closed and opened again on the same region, as a network that broke would look to
 * its peers; with a fresh region it is a node that came back empty. On verbs with
 * NAMDB_TEST_RDMA=address.
 */
#include <base/clock.h>
#include <net/net.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { ROOM = 8 << 20, WORD = 1 << 20, BYTES = 2 << 20, COROUTINES = 8, BREAKS = 3 };

static char listen_at[64];
static const char *rdma;

static struct sn_server_config
server_config(const char *address)
{
	return (struct sn_server_config){ .listen = address, .rdma = rdma };
}

static void
server_down(struct test_node *t)
{
	sn_server_stop(t->server);
	pthread_join(t->thread, NULL);
	sn_server_close(t->server);
}

/* On the region that is there, at the same address as before. */
static void
server_up(struct test_node *t, const char *address)
{
	struct sn_server_config sc = server_config(address);
	struct nam_err err = { 0 };
	sc.run_dir = test_run_dir();
	nam_status st = NAM_BUSY;
	for (unsigned i = 0; i < 200 && (st = sn_server_open(&t->server, t->region, &sc, &err)) != NAM_OK;
	     i++) {
		struct timespec nap = { 0, 20000000 };
		nanosleep(&nap, NULL);
	}
	if (st != NAM_OK)
		fprintf(stderr, "%s\n", err.text);
	assert_int_equal(st, NAM_OK);
	assert_int_equal(pthread_create(&t->thread, NULL, test_node_main, t->server), 0);
}

/* The work of one worker: surely done, and posted when the connection broke. */
struct tally {
	struct net_worker *w;
	atomic_uint_fast64_t sure;
	uint64_t unknown, wrong;
	unsigned live;
	atomic_bool *stop;
};

/* Adds to a word, writes and reads back a row of its own, until an operation fails or the test
 * stops it. */
static void
add_co(void *arg)
{
	struct tally *t = arg;
	unsigned me = t->live++;
	char out[3000], in[3000];
	for (unsigned i = 0; !atomic_load(t->stop); i++) {
		struct net_op op[3];
		struct net_batch b;
		net_batch_init(&b, t->w, op, 3, NULL);
		memset(out, (int)(i + me), sizeof out);
		net_faa(&b, net_at(1, WORD), 1);
		net_write(&b, net_at(1, BYTES + me * 4096), out, sizeof out);
		net_read(&b, net_at(1, BYTES + me * 4096), in, sizeof in);
		if (net_run(&b) != NAM_OK) {
			t->sure += op[0].status == NAM_OK;
			t->unknown += op[0].status != NAM_OK;
			t->wrong += op[0].status != NAM_OK && op[0].status != NAM_GONE;
			break;
		}
		t->sure++;
		t->wrong += memcmp(in, out, sizeof in) != 0;
	}
	t->live--;
}

static void
load(struct tally *t)
{
	t->live = 0;
	for (unsigned i = 0; i < COROUTINES; i++)
		assert_non_null(nam_co_start(net_worker_sched(t->w), add_co, t, 0));
	net_worker_run(t->w, NULL, NULL);
	assert_int_equal(t->live, 0);
}

static uint64_t got_word;
static nam_status got_status;

static void
look_co(void *arg)
{
	got_status = net_read1(arg, net_at(1, WORD), &got_word, 8, NULL);
}

static uint64_t
look(struct net_worker *w)
{
	assert_non_null(nam_co_start(net_worker_sched(w), look_co, w, 0));
	net_worker_run(w, NULL, NULL);
	return got_word;
}

struct breaker {
	struct test_node *node;
	const atomic_uint_fast64_t *sure;
};

static void *
breaker_main(void *arg)
{
	struct breaker *b = arg;
	/* In the middle of the work, however slow it goes. */
	uint64_t before = atomic_load(b->sure), until = nam_clock_ns() + UINT64_C(20000000000);
	do {
		struct timespec nap = { 0, 20000000 };
		nanosleep(&nap, NULL);
	} while (atomic_load(b->sure) < before + 2 * COROUTINES && nam_clock_ns() < until);
	server_down(b->node);
	return NULL;
}

/* With no op out the monitor notices it. */
static void
wait_lost(const struct net *net)
{
	uint64_t until = nam_clock_ns() + UINT64_C(5000000000);
	while (!net_node(net, 0)->lost && nam_clock_ns() < until) {
		struct timespec nap = { 0, 1000000 };
		nanosleep(&nap, NULL);
	}
	assert_true(net_node(net, 0)->lost);
}

static void
open_all(struct test_node *node, enum net_kind kind, char address[128], struct net **net)
{
	struct sn_server_config sc = server_config(listen_at);
	struct nam_err err = { 0 };
	test_node_start(node, 1, ROOM, &sc);
	snprintf(address, 128, "%s", sn_server_address(node->server));
	const struct net_config nc = { .storage = address, .fabric = kind, .connect_ms = 10000 };
	if (net_open(net, &nc, &err) != NAM_OK)
		fprintf(stderr, "%s\n", err.text);
	assert_non_null(*net);
}

/*
 * Three times: eight coroutines at work, the connection breaks, all of them end with NAM_GONE, the
 * worker reconnects and goes on. All acknowledged work is there; the other operations were executed
 * or not.
 */
static void
breaks(enum net_kind kind)
{
	struct test_node node;
	struct net *net = NULL;
	struct nam_err err = { 0 };
	char address[128];
	atomic_bool stop = false;
	open_all(&node, kind, address, &net);
	struct tally t = { .stop = &stop };
	struct net_worker *other;
	assert_int_equal(net_worker_open(net, &t.w, &err), NAM_OK);
	assert_int_equal(net_worker_open(net, &other, &err), NAM_OK);
	for (unsigned i = 0; i < BREAKS; i++) {
		struct breaker b = { .node = &node, .sure = &t.sure };
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, breaker_main, &b), 0);
		uint64_t before = t.sure;
		load(&t);
		assert_true(t.sure > before); /* work was going on */
		assert_int_equal(pthread_join(thread, NULL), 0);
		wait_lost(net);
		look(t.w);
		assert_int_equal(got_status, NAM_GONE);

		/* No node answers: the call returns an error, and the node stays lost. */
		assert_int_equal(net_worker_reconnect(t.w, 1, &err), NAM_GONE);
		assert_non_null(strstr(err.text, address));
		assert_true(net_node(net, 0)->lost);

		server_up(&node, address);
		nam_status st = net_worker_reconnect(t.w, 1, &err);
		if (st != NAM_OK)
			fprintf(stderr, "%s\n", err.text);
		assert_int_equal(st, NAM_OK);
		assert_false(net_node(net, 0)->lost);
		uint64_t word = look(t.w);
		assert_int_equal(got_status, NAM_OK);
		assert_true(word >= t.sure && word <= t.sure + t.unknown);
		assert_int_equal(t.wrong, 0);

		/* The other worker's connection is its own: it also stays broken until that worker
		 * reconnects. */
		look(other);
		assert_int_equal(got_status, NAM_GONE);
		assert_int_equal(net_worker_reconnect(t.w, 1, &err), NAM_OK);
		assert_int_equal(net_worker_reconnect(other, 1, &err), NAM_OK);
		assert_true(look(other) >= word);
		assert_int_equal(got_status, NAM_OK);
		/* A working connection may be replaced as well. */
		assert_int_equal(net_worker_reconnect(other, 1, &err), NAM_OK);
		look(other);
		assert_int_equal(got_status, NAM_OK);
	}
	/* After all this an idle process still hears of an end. */
	server_down(&node);
	wait_lost(net);
	server_up(&node, address);
	net_worker_close(other);
	net_worker_close(t.w);
	net_close(net);
	test_node_stop(&node);
}

/* The node came back with other memory: it is lost for good, and the error says what happened. */
static void
empty(enum net_kind kind)
{
	struct test_node node;
	struct net *net = NULL;
	struct net_worker *w;
	struct nam_err err = { 0 };
	char address[128];
	open_all(&node, kind, address, &net);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	assert_int_equal(net_worker_reconnect(w, 2, &err), NAM_INVALID);
	assert_int_equal(net_worker_reconnect(w, 0, &err), NAM_INVALID);
	assert_int_equal(net_worker_reconnect(w, NET_REGIONS, &err), NAM_INVALID);
	test_node_stop(&node);
	const struct sn_region_config rc = { .id = 1, .size = ROOM, .numa = -1 };
	assert_int_equal(sn_region_open(&node.region, &rc, &err), NAM_OK);
	server_up(&node, address);
	assert_int_equal(net_worker_reconnect(w, 1, &err), NAM_GONE);
	assert_non_null(strstr(err.text, "came back empty"));
	look(w);
	assert_int_equal(got_status, NAM_GONE);
	net_worker_close(w);
	net_close(net);
	test_node_stop(&node);
}

static void
tcp(void **state)
{
	(void)state;
	breaks(NET_TCP);
	empty(NET_TCP);
}

static void
verbs(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	breaks(NET_VERBS);
	empty(NET_VERBS);
}

/* Mapped memory has no connection to replace: a clear error, and the mapping stays as it was. */
static void
shm(void **state)
{
	(void)state;
	struct test_node node;
	struct net *net = NULL;
	struct net_worker *w;
	struct nam_err err = { 0 };
	char address[128];
	if (rdma != NULL)
		skip(); /* a node whose device executes the atomics offers no shared memory */
	open_all(&node, NET_SHM, address, &net);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	assert_int_equal(net_worker_reconnect(w, 1, &err), NAM_UNSUPPORTED);
	assert_non_null(strstr(err.text, "not reached over a connection"));
	assert_false(net_node(net, 0)->lost);
	look(w);
	assert_int_equal(got_status, NAM_OK);
	net_worker_close(w);
	net_close(net);
	test_node_stop(&node);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp),
		cmocka_unit_test(shm),
		cmocka_unit_test(verbs),
	};
	rdma = getenv("NAMDB_TEST_RDMA");
	if (rdma != NULL && *rdma == '\0')
		rdma = NULL;
	snprintf(listen_at, sizeof listen_at, "%s:0", rdma != NULL ? rdma : "127.0.0.1");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
