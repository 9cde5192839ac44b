/* admit_test.c -- work that is admitted: never too much at once, and none waits for ever. */
#include <net/net_internal.h>
#include <net/region_format.h>
#include <net/sim/sim_internal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka after these */
#include <cmocka.h>

enum { PIECES = 3000, READS = 4, STEPS = 3, STACK = 64 << 10 };

struct world {
	struct net_sim *sim;
	struct net *net;
	struct net_worker *w;
	unsigned soon, most_soon, ended, most_out;
	bool asks;
};

static void
open_world(struct world *l)
{
	const struct net_sim_config cfg = {
		.seed = 1, .nodes = 1, .region_bytes = 64 << 20, .model = net_sim_model_find("cx6")
	};
	*l = (struct world){ 0 };
	assert_int_equal(net_sim_open(&l->sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(l->sim, &l->net), NAM_OK);
	assert_int_equal(net_worker_open(l->net, &l->w, NULL), NAM_OK);
}

static void
close_world(struct world *l)
{
	net_worker_close(l->w);
	net_close(l->net);
	net_sim_close(l->sim);
}

/* Some round trips. */
static void
piece(void *arg)
{
	struct world *l = arg;
	uint64_t word[READS];
	struct net_op op[READS];
	struct net_batch b;
	if (l->asks) {
		net_admit(l->w);
		l->soon++;
		if (l->soon > l->most_soon)
			l->most_soon = l->soon;
		net_sleep(l->w, 3000); /* a snapshot, say */
		l->soon--;
		net_admit_end(l->w);
	}
	for (unsigned s = 0; s < STEPS; s++) {
		net_batch_init(&b, l->w, op, READS, NULL);
		for (unsigned i = 0; i < READS; i++)
			net_read(&b, net_at(1, NET_EXTENT + i * 64), &word[i], 8);
		net_post(&b);
		if (l->w->out > l->most_out)
			l->most_out = l->w->out;
		assert_int_equal(net_wait(&b), NAM_OK);
	}
	l->ended++;
}

static void
play(struct world *l)
{
	for (unsigned i = 0; i < PIECES; i++)
		assert_non_null(nam_co_start(net_worker_sched(l->w), piece, l, STACK));
	assert_true(net_sim_run(l->sim, NULL, NULL));
	assert_int_equal(l->ended, PIECES);
}

/* As many ops as an RNIC of the model bears; without asking, as many as there are. */
static void
test_never_too_much(void **state)
{
	(void)state;
	struct world l;
	open_world(&l);
	play(&l);
	assert_true(l.most_out > 4 * l.sim->cfg.model->requests);
	close_world(&l);
	open_world(&l);
	l.asks = true;
	play(&l);
	/* Enough to keep the RNIC busy. */
	assert_true(l.most_soon >= 32 && l.most_soon <= l.sim->cfg.model->requests / 2);
	assert_true(l.most_out > 64 && l.most_out <= PIECES * READS / 3);
	assert_null(l.w->waiters);
	assert_int_equal(l.w->soon, 0);
	close_world(&l);
}

static void
long_work(void *arg)
{
	struct world *l = arg;
	uint64_t word[64];
	struct net_op op[64];
	struct net_batch b;
	while (l->ended < PIECES) {
		net_batch_init(&b, l->w, op, 64, NULL);
		for (unsigned i = 0; i < 64; i++)
			net_read(&b, net_at(1, NET_EXTENT + i * 64), &word[i], 8);
		assert_int_equal(net_run(&b), NAM_OK);
	}
}

/* Work without end that always has more ops out than there should be keeps no other out. */
static void
test_long_work(void **state)
{
	(void)state;
	struct world l;
	open_world(&l);
	l.asks = true;
	for (unsigned i = 0; i < 20; i++)
		assert_non_null(nam_co_start(net_worker_sched(l.w), long_work, &l, STACK));
	play(&l);
	close_world(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_too_much),
		cmocka_unit_test(test_long_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
