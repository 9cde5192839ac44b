/* admit_test.c -- work that is admitted: never too much at once, and none waits for ever. */
#include <net/provider.h>
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
		if (net_out(l->w) > l->most_out)
			l->most_out = net_out(l->w);
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

enum { WORKERS = 100, CLIENTS = 8, ROUNDS = 40, TOGETHER_NS = 1000 };

struct crowd {
	struct net_sim *sim;
	struct net *net;
	struct client {
		struct crowd *all;
		struct net_worker *w;
		uint64_t let_in_ns; /* first of a worker: when one of its clients was let in last */
	} client[WORKERS][CLIENTS];
	unsigned pieces, groups, looks;
	uint64_t out; /* of all looks */
};

static void
client_run(void *arg)
{
	struct client *c = arg, *first = c->all->client[0];
	struct crowd *all = c->all;
	uint64_t word[READS];
	struct net_op op[READS];
	struct net_batch b;
	while (first->w != c->w)
		first += CLIENTS;
	for (unsigned r = 0; r < ROUNDS; r++) {
		net_admit(c->w);
		uint64_t now = net_now_ns(c->w);
		all->groups += now > first->let_in_ns + TOGETHER_NS;
		first->let_in_ns = now;
		net_sleep(c->w, 2000);
		net_admit_end(c->w);
		for (unsigned s = 0; s < STEPS; s++) {
			net_batch_init(&b, c->w, op, READS, NULL);
			for (unsigned i = 0; i < READS; i++)
				net_read(&b, net_at(1, NET_EXTENT + i * 64), &word[i], 8);
			assert_int_equal(net_run(&b), NAM_OK);
		}
		if (++all->pieces % 64 == 0) {
			all->looks++;
			for (unsigned i = 0; i < WORKERS; i++)
				all->out += net_out(all->client[i][0].w);
		}
	}
}

/* More workers than an RNIC bears at a time: each lets in groups, not one or two at a time, the
 * RNIC is busy, none is left waiting, and no turn is lost. */
static void
test_turns(void **state)
{
	(void)state;
	const struct net_sim_config cfg = {
		.seed = 1, .nodes = 1, .region_bytes = 64 << 20, .model = net_sim_model_find("cx6")
	};
	struct crowd *l = calloc(1, sizeof *l);
	struct net_sim_use use;
	assert_non_null(l);
	assert_int_equal(net_sim_open(&l->sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(l->sim, &l->net), NAM_OK);
	for (unsigned i = 0; i < WORKERS; i++) {
		struct net_worker *w;
		assert_int_equal(net_worker_open(l->net, &w, NULL), NAM_OK);
		for (unsigned k = 0; k < CLIENTS; k++) {
			l->client[i][k] = (struct client){ .all = l, .w = w };
			assert_non_null(
			    nam_co_start(net_worker_sched(w), client_run, &l->client[i][k], STACK));
		}
	}
	net_sim_use_begin(l->sim);
	assert_true(net_sim_run(l->sim, NULL, NULL));
	net_sim_use_process(l->net, &use);
	assert_int_equal(l->pieces, WORKERS * CLIENTS * ROUNDS);
	print_message("%.1f of a group, %.0f ops out, RNIC %.0f %%\n", (double)l->pieces / l->groups,
	    (double)l->out / l->looks, 100 * use.rnic);
	assert_true(l->pieces >= 4 * l->groups);
	assert_true(l->out >= 150 * l->looks && l->out <= 700 * l->looks);
	assert_true(use.rnic > 0.85);
	assert_int_equal(atomic_load(&l->net->turns_asked), atomic_load(&l->net->turns_over));
	for (unsigned i = 0; i < WORKERS; i++) {
		assert_null(l->client[i][0].w->waiters);
		net_worker_close(l->client[i][0].w);
	}
	net_close(l->net);
	net_sim_close(l->sim);
	free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_too_much),
		cmocka_unit_test(test_long_work),
		cmocka_unit_test(test_turns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
