/* sim_fault_test.c -- what the simulator does to processes, nodes and connections, and what still holds then. */
#include <net/region_format.h>
#include <net/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NODES = 3, PROCS = 3, WRITERS = 4, BLOCK = 512 };

struct proc {
	struct lab *lab;
	struct net *net;
	struct net_worker *w;
};

struct lab {
	struct net_sim *sim;
	struct proc p[PROCS];
	uint64_t posted, done, gone; /* FETCH_ADDs of process 0 */
	unsigned running;            /* coroutines of process 0 */
	unsigned moved;              /* seeds in which a verb executed after the fence was asked for, ... */
	unsigned cut;                /* ... and in which one that was out never did */
};

static void
lab_open(struct lab *l, const struct net_sim_config *cfg)
{
	assert_int_equal(net_sim_open(&l->sim, cfg), NAM_OK);
	for (unsigned i = 0; i < PROCS; i++) {
		l->p[i].lab = l;
		assert_int_equal(net_sim_attach(l->sim, &l->p[i].net), NAM_OK);
		assert_int_equal(net_worker_open(l->p[i].net, &l->p[i].w, NULL), NAM_OK);
	}
}

static void
lab_close(struct lab *l)
{
	for (unsigned i = 0; i < PROCS; i++) {
		net_worker_close(l->p[i].w);
		net_close(l->p[i].net);
	}
	net_sim_close(l->sim);
}

static uint64_t
word(struct lab *l, unsigned region, uint64_t at)
{
	uint64_t v;
	memcpy(&v, (char *)net_sim_memory(l->sim, region) + NET_EXTENT + at, 8);
	return v;
}

/* Hash of what may change. */
static uint64_t
picture(struct lab *l)
{
	uint64_t sum = 0;
	for (unsigned r = 1; r <= NODES; r++)
		for (uint64_t at = 0; at < BLOCK + 64; at += 8)
			sum = sum * 31 + word(l, r, at);
	return sum;
}

/* Adds to a word and overwrites a block on every node, until told that this is over. */
static void
writer(void *arg)
{
	struct lab *l = ((struct proc *)arg)->lab;
	struct net_worker *w = ((struct proc *)arg)->w;
	uint64_t block[BLOCK / 8];
	nam_status st = NAM_OK;
	for (uint64_t round = 1; st == NAM_OK; round++) {
		struct net_op op[2 * NODES];
		struct net_batch b;
		for (unsigned i = 0; i < BLOCK / 8; i++)
			block[i] = round << 8 | l->running;
		net_batch_init(&b, w, op, 2 * NODES, NULL);
		for (unsigned r = 1; r <= NODES; r++) {
			net_faa(&b, net_at(r, NET_EXTENT), 1);
			net_write(&b, net_at(r, NET_EXTENT + 64), block, sizeof block);
		}
		l->posted += NODES;
		st = net_run(&b);
		for (unsigned i = 0; i < 2 * NODES; i += 2)
			if (op[i].status == NAM_OK)
				l->done++;
			else if (op[i].status == NAM_GONE)
				l->gone++;
		net_sleep(w, nam_rng_below(net_rng(w), 2000));
	}
	assert_int_equal(st, NAM_GONE);
	l->running--;
}

/* ---- fencing ------------------------------------------------------------------ */

static void
fencer(void *arg)
{
	struct proc *me = arg;
	struct lab *l = me->lab;
	struct nam_err err;
	net_sleep(me->w, 20000 + nam_rng_below(net_rng(me->w), 20000));
	uint64_t before = picture(l);
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[0].net), &err), NAM_OK);
	/* From here on nothing of it executes: neither what is out nor what it tries to post. */
	uint64_t after = picture(l);
	l->moved += before != after;
	for (unsigned i = 0; i < 200; i++) {
		net_sleep(me->w, 1000);
		assert_int_equal(picture(l), after);
	}
	assert_int_equal(l->running, 0); /* it has been told, too */
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[0].net), &err), NAM_OK);
	assert_int_equal(net_fence_process(me->w, net_identity(me->net), &err), NAM_INVALID);
	assert_int_equal(net_fence_process(me->w, 0, &err), NAM_INVALID);
	assert_int_equal(net_fence_process(me->w, UINT64_C(1) << NET_IDENTITY_BITS, &err), NAM_INVALID);
	/* An identity of nobody. */
	assert_int_equal(net_fence_process(me->w, net_identity(me->net) ^ 1, &err), NAM_OK);
}

static void
zombie(void *arg)
{
	struct proc *me = arg;
	struct lab *l = me->lab;
	struct nam_err err;
	uint64_t seen, own;
	while (l->running > 0)
		net_sleep(me->w, 1000);
	for (unsigned r = 1; r <= NODES; r++) {
		assert_int_equal(net_faa1(me->w, net_at(r, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
		assert_int_equal(net_worker_reconnect(me->w, r, &err), NAM_REFUSED);
		assert_int_equal(net_faa1(me->w, net_at(r, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	}
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[1].net), &err), NAM_REFUSED);
	struct net_worker *more;
	assert_int_equal(net_worker_open(me->net, &more, &err), NAM_REFUSED);
	/* Who comes as somebody else is welcome, and the others are untouched. */
	struct net *fresh;
	assert_int_equal(net_sim_attach(l->sim, &fresh), NAM_OK);
	assert_int_not_equal(net_identity(fresh), net_identity(me->net));
	assert_int_equal(net_worker_open(fresh, &more, &err), NAM_OK);
	own = word(l, 2, 8 * 200);
	assert_int_equal(net_faa1(more, net_at(2, NET_EXTENT + 8 * 200), 1, &seen, NULL), NAM_OK);
	assert_int_equal(seen, own);
	assert_int_equal(net_faa1(l->p[2].w, net_at(2, NET_EXTENT + 8 * 200), 1, &seen, NULL), NAM_OK);
	assert_int_equal(seen, own + 1);
	net_worker_close(more);
	net_close(fresh);
}

static void
fence(void **state)
{
	(void)state;
	struct lab l = { 0 };
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const struct net_sim_config cfg = { .seed = seed,
			.nodes = NODES,
			.region_bytes = 1 << 20,
			.jitter_ns = 3000,
			.tear_permille = 500,
			.reorder_permille = 200 };
		l.posted = l.done = l.gone = 0;
		l.running = WRITERS;
		lab_open(&l, &cfg);
		assert_true(
		    net_identity(l.p[0].net) != 0 && net_identity(l.p[0].net) >> NET_IDENTITY_BITS == 0);
		for (unsigned i = 0; i < WRITERS; i++)
			nam_co_start(net_worker_sched(l.p[0].w), writer, &l.p[0], 0);
		nam_co_start(net_worker_sched(l.p[0].w), zombie, &l.p[0], 0);
		nam_co_start(net_worker_sched(l.p[1].w), fencer, &l.p[1], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		uint64_t landed = word(&l, 1, 0) + word(&l, 2, 0) + word(&l, 3, 0);
		assert_int_equal(l.done + l.gone, l.posted);
		assert_true(landed >= l.done);
		assert_true(landed <= l.posted);
		l.cut += landed < l.posted;
		lab_close(&l);
	}
	/* The fence had something to do: it is not at once that nothing happens any more, and verbs were lost. */
	assert_true(l.moved > 100);
	assert_true(l.cut > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
