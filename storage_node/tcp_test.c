/* tcp_test.c -- the tcp provider against a server thread: verbs, long payloads, full sockets, many
 * coroutines, sharing with shm. */
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <storage_node/sn.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIZE = 64 << 20, AREA = 1 << 20 };

static struct test_node node;
static struct net *net;
static struct net_worker *w;

static int
setup(void **state)
{
	test_node_start(&node, 2, SIZE, NULL);
	struct net_config nc = {
		.storage = sn_server_address(node.server),
		.fabric = *state != NULL ? *(enum net_kind *)*state : NET_TCP,
	};
	test_net_open(&nc, &net, &w);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_net_close(net, w);
	test_node_stop(&node);
	return 0;
}

static void
verbs_body(void *arg)
{
	(void)arg;
	net_addr at = net_at(2, AREA);
	char out[200], in[200];
	for (unsigned i = 0; i < sizeof out; i++)
		out[i] = (char)i;
	struct net_counts c = { 0 };
	struct net_op ops[8];
	struct net_batch b;
	net_batch_init(&b, w, ops, 8, &c);
	net_write(&b, at, out, sizeof out);
	net_read(&b, at, in, sizeof in);
	net_cas(&b, net_plus(at, 1024), 0, 7);
	net_cas(&b, net_plus(at, 1024), 0, 8);
	net_faa(&b, net_plus(at, 1024), 5);
	struct net_op *imm = net_op_add(&b, NET_WRITE_IMM, net_plus(at, 2048), out, 16);
	imm->arg = 99;
	struct net_op *quiet = net_write(&b, net_plus(at, 2048), out + 8, 8);
	quiet->flags = NET_QUIET | NET_INLINE;
	assert_int_equal(net_run(&b), NAM_OK);
	assert_memory_equal(in, out, sizeof in);
	assert_int_equal(ops[2].seen, 0);
	assert_int_equal(ops[3].seen, 7);
	assert_int_equal(ops[4].seen, 7);
	assert_int_equal(c.doorbells, 1);
	assert_int_equal(c.round_trips, 1);
	assert_int_equal(net_read1(w, net_plus(at, 2048), in, 16, &c), NAM_OK);
	assert_memory_equal(in, out + 8, 8);
	assert_memory_equal(in + 8, out + 8, 8);
	struct sn_server_counts sc;
	sn_server_counts(node.server, &sc);
	assert_int_equal(sc.immediates, 1);
	assert_int_equal(sc.asks, 8);
	assert_int_equal(sc.dropped, 0);
	for (unsigned off = 0; off < 9; off++)
		for (unsigned len = 0; len < 40; len++) {
			memset(in, 0x55, sizeof in);
			assert_int_equal(net_write1(w, net_plus(at, 512 + off), out + 3, len, NULL), NAM_OK);
			assert_int_equal(net_read1(w, net_plus(at, 512 + off), in + 1, len, NULL), NAM_OK);
			assert_memory_equal(in + 1, out + 3, len);
			assert_int_equal(in[1 + len], 0x55);
		}
}

static void
verbs(void **state)
{
	(void)state;
	test_in_coroutine(w, verbs_body, NULL);
}

/* Long, odd, and together far more than any buffer on the way. */
static void
long_body(void *arg)
{
	(void)arg;
	enum { EACH = (4 << 20) + 5, N = 6 };
	char *out = malloc((size_t)EACH * N), *in = malloc((size_t)EACH * N);
	for (size_t i = 0; i < (size_t)EACH * N; i++)
		out[i] = (char)(i * 2654435761u >> 13);
	struct net_op ops[2 * N];
	struct net_batch b;
	net_batch_init(&b, w, ops, 2 * N, NULL);
	/* WRITE, READ, WRITE, READ ...: both directions are full at once */
	for (size_t i = 0; i < N; i++) {
		net_addr at = net_at(2, AREA + 3 + i * (EACH + 1));
		net_write(&b, at, out + i * EACH, EACH);
		net_read(&b, at, in + i * EACH, EACH);
	}
	assert_int_equal(net_run(&b), NAM_OK);
	assert_memory_equal(in, out, (size_t)EACH * N);
	free(out);
	free(in);
}

static void
long_payloads(void **state)
{
	(void)state;
	test_in_coroutine(w, long_body, NULL);
}

enum { ADDERS = 500, ROUNDS = 40 };

static void
adder(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct net_op ops[3];
		struct net_batch b;
		uint64_t word;
		net_batch_init(&b, w, ops, 3, NULL);
		net_faa(&b, net_at(2, AREA), 1);
		net_read(&b, net_at(2, AREA), &word, 8);
		net_faa(&b, net_at(2, AREA + 64), 2);
		assert_int_equal(net_run(&b), NAM_OK);
		assert_true(word >= ops[0].seen + 1);
	}
}

static void
many_coroutines(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ADDERS; i++)
		assert_non_null(nam_co_start(net_worker_sched(w), adder, NULL, 0));
	net_worker_run(w, NULL, NULL);
	uint64_t *base = (uint64_t *)((char *)sn_local(node.region)->base + AREA);
	assert_int_equal(__atomic_load_n(base, __ATOMIC_SEQ_CST), ADDERS * ROUNDS);
	assert_int_equal(__atomic_load_n(base + 8, __ATOMIC_SEQ_CST), 2 * ADDERS * ROUNDS);
}

/* shm and tcp peers of one node: one atomics engine, no increment is lost. Mapped memory is
 * quicker: it adds for as long. */
enum { SHARED_ADDS = 20000 };
static atomic_bool tcp_done;
static unsigned shm_adds; /* at least as many as of the other */

static void
shared_adder(void *arg)
{
	struct net_worker *mine = arg;
	for (unsigned i = 0; i < SHARED_ADDS || (mine != w && !atomic_load(&tcp_done)); i++) {
		if (mine != w)
			shm_adds++;
		uint64_t seen = 0, next;
		if (i % 2)
			assert_int_equal(net_faa1(mine, net_at(2, AREA), 1, &seen, NULL), NAM_OK);
		else
			do {
				next = seen;
				assert_int_equal(
				    net_cas1(mine, net_at(2, AREA), next, next + 1, &seen, NULL), NAM_OK);
			} while (seen != next);
	}
	if (mine == w)
		atomic_store(&tcp_done, true);
}

static void *
shm_thread(void *arg)
{
	(void)arg;
	struct nam_err err;
	struct net *other;
	struct net_worker *ow;
	struct net_config nc = { .storage = sn_server_address(node.server) };
	if (net_open(&other, &nc, &err) != NAM_OK || net_worker_open(other, &ow, &err) != NAM_OK)
		return err.text[0] ? "open failed" : "?";
	const void *bad = net_node_of(other, 2)->kind == NET_SHM ? NULL : "not shm";
	nam_co_start(net_worker_sched(ow), shared_adder, ow, 0);
	net_worker_run(ow, NULL, NULL);
	net_worker_close(ow);
	net_close(other);
	return (void *)(uintptr_t)bad;
}

static void
one_engine(void **state)
{
	(void)state;
	pthread_t t;
	void *bad;
	assert_int_equal(pthread_create(&t, NULL, shm_thread, NULL), 0);
	nam_co_start(net_worker_sched(w), shared_adder, w, 0);
	net_worker_run(w, NULL, NULL);
	pthread_join(t, &bad);
	assert_null(bad);
	uint64_t *word = (uint64_t *)((char *)sn_local(node.region)->base + AREA);
	assert_int_equal(__atomic_load_n(word, __ATOMIC_SEQ_CST), SHARED_ADDS + shm_adds);
}

/* A worker that sleeps with nothing to do is roused by another thread. */
static atomic_bool enough;

static bool
is_enough(void *arg)
{
	(void)arg;
	return atomic_load(&enough);
}

static void *
rouser(void *arg)
{
	(void)arg;
	usleep(20000);
	atomic_store(&enough, true);
	net_worker_rouse(w);
	return NULL;
}

static void
rouse(void **state)
{
	(void)state;
	pthread_t t;
	atomic_store(&enough, false);
	assert_int_equal(pthread_create(&t, NULL, rouser, NULL), 0);
	net_worker_run(w, is_enough, NULL);
	pthread_join(t, NULL);
}

static void
price_body(void *arg)
{
	(void)arg;
	enum { N = 20000 };
	uint64_t word, t0 = net_now_ns(w);
	for (int i = 0; i < N; i++)
		net_read1(w, net_at(2, AREA), &word, 8, NULL);
	uint64_t t1 = net_now_ns(w);
	print_message("a READ of 8 bytes alone: %.1f us\n", (double)(t1 - t0) / N / 1000);
}

static void
price(void **state)
{
	(void)state;
	test_in_coroutine(w, price_body, NULL);
	uint64_t t0 = net_now_ns(w);
	for (unsigned i = 0; i < ADDERS; i++)
		nam_co_start(net_worker_sched(w), adder, NULL, 0);
	net_worker_run(w, NULL, NULL);
	uint64_t t1 = net_now_ns(w);
	print_message(
	    "500 coroutines, 3 verbs a batch: %.0f ns a verb\n", (double)(t1 - t0) / ADDERS / ROUNDS / 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(verbs, setup, teardown),
		cmocka_unit_test_setup_teardown(long_payloads, setup, teardown),
		cmocka_unit_test_setup_teardown(many_coroutines, setup, teardown),
		cmocka_unit_test_setup_teardown(one_engine, setup, teardown),
		cmocka_unit_test_setup_teardown(rouse, setup, teardown),
		cmocka_unit_test_setup_teardown(price, setup, teardown),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(test_run_dir());
	return failed;
}
