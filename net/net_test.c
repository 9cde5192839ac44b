/* net_test.c -- the front end against a minimal provider: what it checks, counts, and how batches
 * end. */
#include <net/provider.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A provider that keeps ops until the test ends them. */
static struct {
	struct net_endpoint *ep;
	struct net_batch *b;
	struct net_op *op;
} held[64];
static unsigned held_count, rings, at_once;

static nam_status
paper_open(struct net_endpoint *ep, struct nam_err *err)
{
	(void)ep;
	(void)err;
	return NAM_OK;
}

static void
paper_post(struct net_endpoint *ep, struct net_batch *b, struct net_op *op)
{
	if (op->flags & NET_QUIET)
		return;
	if (at_once) {
		net_op_done(ep, b, op, NAM_OK);
		return;
	}
	held[held_count].ep = ep;
	held[held_count].b = b;
	held[held_count++].op = op;
}

static void
paper_ring(struct net_endpoint *ep)
{
	(void)ep;
	rings++;
}

static const struct net_provider paper = {
	.kind = NET_TCP, .open = paper_open, .post = paper_post, .ring = paper_ring
};

static void
let_go(unsigned i, nam_status st)
{
	net_op_done(held[i].ep, held[i].b, held[i].op, st);
}

static struct net *net;
static struct net_worker *w;

static int
setup(void **state)
{
	(void)state;
	struct nam_err err;
	held_count = rings = at_once = 0;
	net = net_new(&net_env_real, NULL);
	for (unsigned r = 7; r >= 5; r -= 2) {
		struct net_node_info info = { .region = r, .size = 1 << 20, .name = "paper" };
		assert_int_equal(net_add_node(net, &paper, &info, NULL, &err), NAM_OK);
		assert_int_equal(net_add_node(net, &paper, &info, NULL, &err), NAM_REFUSED);
	}
	struct net_node_info bad = { .region = NET_REGIONS, .size = 1 << 20 };
	assert_int_equal(net_add_node(net, &paper, &bad, NULL, &err), NAM_INVALID);
	bad.region = 0;
	assert_int_equal(net_add_node(net, &paper, &bad, NULL, &err), NAM_INVALID);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	net_worker_close(w);
	net_close(net);
	return 0;
}

static void
nodes(void **state)
{
	(void)state;
	assert_int_equal(net_node_count(net), 2);
	assert_int_equal(net_node(net, 0)->region, 5);
	assert_int_equal(net_node(net, 1)->region, 7);
	assert_null(net_node(net, 2));
	assert_null(net_node_of(net, 6));
	assert_null(net_node_of(net, 1000));
	assert_null(net_direct(w, net_at(5, 0), 8));
}

static unsigned dones;

static void
done(struct net_batch *b)
{
	assert_false(b->posted);
	dones++;
}

static void
counting_and_bells(void **state)
{
	(void)state;
	char buf[64];
	struct net_op ops[8];
	struct net_batch b;
	struct net_counts c = { 0 }, w5, sum;
	dones = 0;
	net_batch_init(&b, w, ops, 8, &c);
	net_read(&b, net_at(5, 0), buf, 64);
	net_write(&b, net_at(7, 0), buf, 10);
	net_read(&b, net_at(5, 64), buf, 32);
	net_cas(&b, net_at(7, 64), 1, 2);
	net_faa(&b, net_at(7, 64), 1);
	net_post_then(&b, done);
	assert_int_equal(held_count, 5);
	assert_int_equal(rings, 2);
	assert_int_equal(c.doorbells, 2);
	assert_int_equal(c.bytes_in, 96 + 8 + 8);
	assert_int_equal(c.bytes_out, 10 + 16 + 8);
	assert_int_equal(net_counts_verbs(&c), 5);
	for (unsigned i = 5; i-- > 0;) {
		assert_int_equal(dones, 0);
		let_go(i, NAM_OK);
	}
	assert_int_equal(dones, 1);
	assert_int_equal(b.status, NAM_OK);
	net_worker_counts(w, 5, &w5);
	assert_int_equal(w5.verbs[NET_READ], 2);
	assert_int_equal(net_counts_verbs(&w5), 2);
	net_worker_counts(w, 0, &sum);
	assert_int_equal(net_counts_verbs(&sum), 5);
	net_worker_counts(w, 6, &sum);
	assert_int_equal(net_counts_verbs(&sum), 0);
}

static void
first_failure_wins(void **state)
{
	(void)state;
	char buf[8];
	struct net_op ops[4];
	struct net_batch b;
	net_batch_init(&b, w, ops, 4, NULL);
	for (unsigned i = 0; i < 4; i++)
		net_read(&b, net_at(5, 8 * i), buf, 8);
	net_post_then(&b, done);
	let_go(3, NAM_TIMEOUT);
	let_go(1, NAM_GONE);
	let_go(0, NAM_OK);
	let_go(2, NAM_OK);
	assert_int_equal(b.status, NAM_GONE); /* the first in the batch, not the first in time */
	assert_int_equal(ops[0].status, NAM_OK);
	assert_int_equal(ops[3].status, NAM_TIMEOUT);
}

static void
judgement(void **state)
{
	(void)state;
	static char buf[128];
	const struct net_op bad[] = {
		{ .code = NET_CODES, .len = 8, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_READ, .len = 8, .at = net_at(5, (1 << 20) - 7), .buf = buf },
		{ .code = NET_READ, .len = 8, .at = net_at(5, (UINT64_C(1) << 48) - 1), .buf = buf },
		{ .code = NET_READ, .len = UINT32_MAX, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_READ, .len = 8, .at = net_at(5, 0), .buf = NULL },
		{ .code = NET_READ, .len = 8, .at = net_at(6, 0), .buf = buf },
		{ .code = NET_READ, .len = 8, .at = net_at(0, 0), .buf = buf },
		{ .code = NET_READ, .len = 8, .at = net_at(65535, 0), .buf = buf },
		{ .code = NET_READ, .flags = NET_QUIET, .len = 8, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_READ, .flags = NET_INLINE, .len = 8, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_WRITE, .flags = NET_QUIET, .len = 8, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_WRITE, .flags = NET_INLINE, .len = 65, .at = net_at(5, 0), .buf = buf },
		{ .code = NET_CAS, .len = 8, .at = net_at(5, 4) },
		{ .code = NET_CAS, .len = 4, .at = net_at(5, 8) },
		{ .code = NET_FAA, .len = 8, .at = net_at(5, 1 << 20) },
	};
	at_once = 1;
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct net_op ops[4] = { { .code = NET_READ, .len = 8, .at = net_at(7, 0), .buf = buf },
			bad[i], { .code = NET_READ, .len = 8, .at = bad[i].at, .buf = buf },
			{ .code = NET_READ, .len = 8, .at = net_at(7, 0), .buf = buf } };
		ops[2].at = net_at(net_region_of(bad[i].at), 0);
		struct net_batch b;
		net_batch_init(&b, w, ops, 4, NULL);
		b.n = 4;
		net_post_then(&b, done);
		assert_int_equal(b.status, NAM_INVALID);
		assert_int_equal(ops[0].status, NAM_OK);
		assert_int_equal(ops[1].status, NAM_INVALID);
		assert_int_equal(
		    ops[2].status, net_region_of(bad[i].at) < NET_REGIONS ? NAM_CANCELLED : NAM_INVALID);
		assert_int_equal(ops[3].status, NAM_OK);
	}
	struct net_counts c;
	net_worker_counts(w, 5, &c);
	assert_int_equal(net_counts_verbs(&c), 0);
}

static void
quiet(void **state)
{
	(void)state;
	uint64_t word = 1;
	struct net_op op;
	struct net_batch b;
	dones = 0;
	net_batch_init(&b, w, &op, 1, NULL);
	net_write(&b, net_at(5, 0), &word, 8)->flags = NET_QUIET | NET_INLINE;
	net_post_then(&b, done);
	assert_int_equal(dones, 1); /* nothing to wait for */
	assert_int_equal(b.status, NAM_OK);
	/* it fails later: the next signaled op to that node reports it, once */
	net_quiet_failed(w->ep[5], NAM_GONE);
	at_once = 1;
	net_read(&b, net_at(7, 0), &word, 8);
	net_post_then(&b, done);
	assert_int_equal(b.status, NAM_OK);
	net_read(&b, net_at(5, 0), &word, 8);
	net_post_then(&b, done);
	assert_int_equal(b.status, NAM_GONE);
	net_read(&b, net_at(5, 0), &word, 8);
	net_post_then(&b, done);
	assert_int_equal(b.status, NAM_OK);
}

static void
full_and_empty(void **state)
{
	(void)state;
	uint64_t word;
	struct net_op op;
	struct net_batch b;
	struct net_counts c = { 0 };
	net_batch_init(&b, w, &op, 1, &c);
	assert_int_equal(net_run(&b), NAM_OK); /* an empty batch: no round trip */
	assert_int_equal(c.round_trips, 0);
	assert_non_null(net_read(&b, net_at(5, 0), &word, 8));
	assert_null(net_read(&b, net_at(5, 0), &word, 8));
	assert_null(net_cas(&b, net_at(5, 0), 0, 0));
	assert_null(net_faa(&b, net_at(5, 0), 0));
	net_declare_lost(net, 5);
	assert_int_equal(net_run(&b), NAM_GONE);
	assert_int_equal(held_count, 0);
}

/* A waiter wakes with the last op, not before. */
static unsigned waited;

static void
waiter(void *arg)
{
	struct net_counts *c = arg;
	uint64_t word;
	struct net_op ops[2];
	struct net_batch b;
	net_batch_init(&b, w, ops, 2, c);
	net_read(&b, net_at(5, 0), &word, 8);
	net_read(&b, net_at(7, 0), &word, 8);
	assert_int_equal(net_run(&b), NAM_OK);
	assert_int_equal(b.n, 0);
	waited++;
}

static void
waiting(void **state)
{
	(void)state;
	struct net_counts c = { 0 };
	waited = 0;
	nam_co_start(w->sched, waiter, &c, 0);
	nam_sched_run(w->sched);
	assert_int_equal(held_count, 2);
	let_go(1, NAM_OK);
	nam_sched_run(w->sched);
	assert_int_equal(waited, 0);
	let_go(0, NAM_OK);
	nam_sched_run(w->sched);
	assert_int_equal(waited, 1);
	assert_int_equal(c.round_trips, 1);
	assert_int_equal(c.doorbells, 2);
	net_worker_counts(w, 0, &c);
	assert_int_equal(c.round_trips, 1);
}

static void
layout(void **state)
{
	(void)state;
	uint64_t plain = net_layout();
	net_layout_fold("b", 2);
	net_layout_fold("a", 1);
	uint64_t both = net_layout();
	assert_int_not_equal(plain, both);
	net_layout_fold("a", 1); /* again: no change */
	assert_int_equal(net_layout(), both);
	net_layout_fold("a", 3);
	assert_int_not_equal(net_layout(), both);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes, setup, teardown),
		cmocka_unit_test_setup_teardown(counting_and_bells, setup, teardown),
		cmocka_unit_test_setup_teardown(first_failure_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(judgement, setup, teardown),
		cmocka_unit_test_setup_teardown(quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(full_and_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting, setup, teardown),
		cmocka_unit_test(layout),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
