/* sim_test.c -- the simulator: same seed same run, what it breaks it breaks, what it keeps it keeps. */
#include <net/conformance.h>
#include <net/sim.h>

#include <base/clock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct load {
	struct net_worker *w;
	unsigned rounds;
	uint64_t done;
};

/* Three READs, a WRITE and a FETCH_ADD over two nodes, again and again. */
static void
client(void *arg)
{
	struct load *l = arg;
	char buf[4][256];
	memset(buf, 1, sizeof buf);
	for (unsigned i = 0; i < l->rounds; i++) {
		struct net_op op[5];
		struct net_batch b;
		net_batch_init(&b, l->w, op, 5, NULL);
		uint64_t at = (UINT64_C(1) << 16) + nam_rng_below(net_rng(l->w), 64) * 256;
		net_read(&b, net_at(1, at), buf[0], 256);
		net_read(&b, net_at(2, at), buf[1], 256);
		net_read(&b, net_at(1, at + 256), buf[2], 8);
		net_write(&b, net_at(1, at), buf[3], 256);
		net_faa(&b, net_at(2, 1 << 16), 1);
		assert_int_equal(net_run(&b), NAM_OK);
		l->done++;
	}
}

static uint64_t
run_load(uint64_t seed, unsigned workers, unsigned rounds, struct net_sim_stats *stats)
{
	struct net_sim *s;
	struct net *n;
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = 2,
		.region_bytes = 1 << 20,
		.tear_permille = 200,
		.reorder_permille = 200 };
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(s, &n), NAM_OK);
	struct load *l = calloc(workers, sizeof *l);
	for (unsigned i = 0; i < workers; i++) {
		l[i].rounds = rounds;
		assert_int_equal(net_worker_open(n, &l[i].w, NULL), NAM_OK);
		assert_non_null(nam_co_start(net_worker_sched(l[i].w), client, &l[i], 0));
	}
	assert_true(net_sim_run(s, NULL, NULL));
	uint64_t hash = net_sim_trace_hash(s), word;
	memcpy(&word, (char *)net_sim_memory(s, 2) + (1 << 16), 8);
	assert_int_equal(word, (uint64_t)workers * rounds);
	if (stats != NULL)
		net_sim_stats(s, stats);
	for (unsigned i = 0; i < workers; i++)
		net_worker_close(l[i].w);
	free(l);
	net_close(n);
	net_sim_close(s);
	return hash;
}

static void
same_seed_same_run(void **state)
{
	(void)state;
	struct net_sim_stats stats;
	uint64_t a = run_load(7, 8, 200, &stats);
	assert_int_equal(a, run_load(7, 8, 200, NULL));
	assert_int_not_equal(a, run_load(8, 8, 200, NULL));
	assert_true(stats.reads_torn > 0);
	assert_true(stats.writes_torn > 0);
	assert_true(stats.reads_reordered > 0);
	assert_int_equal(stats.verbs, 8 * 200 * 5);
}

/* ---- conformance ------------------------------------------------------------ */

struct world {
	struct net_sim_config cfg;
	struct net_sim *sim;
};

static nam_status
world_open(void *arg, unsigned nodes, unsigned nets, struct net **out)
{
	struct world *w = arg;
	w->cfg.nodes = nodes;
	w->cfg.region_bytes = NET_CONF_REGION;
	nam_status st = net_sim_open(&w->sim, &w->cfg);
	for (unsigned i = 0; i < nets && st == NAM_OK; i++)
		st = net_sim_attach(w->sim, &out[i]);
	return st;
}

static void
world_close(void *arg, struct net **net, unsigned nets)
{
	struct world *w = arg;
	for (unsigned i = 0; i < nets; i++)
		net_close(net[i]);
	net_sim_close(w->sim);
}

static bool
world_run(void *arg, struct net_worker **workers, unsigned n)
{
	struct world *w = arg;
	(void)workers;
	(void)n;
	return net_sim_run(w->sim, NULL, NULL);
}

static int
conform(struct net_sim_config cfg, bool breaks)
{
	struct world w = { .cfg = cfg };
	const struct net_conf_env env = { .name = "sim",
		.kind = NET_SIM,
		.seed = cfg.seed,
		.breaks = breaks,
		.arg = &w,
		.open = world_open,
		.close = world_close,
		.run = world_run };
	return net_conformance(&env);
}

static void
conformance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		assert_int_equal(conform(
				     (struct net_sim_config){
					 .seed = seed, .tear_permille = 300, .reorder_permille = 300 },
				     true),
		    0);
}

/* A wire that is slow, wild and always torn, and one that is nearly kind. */
static void
conformance_extremes(void **state)
{
	(void)state;
	assert_int_equal(conform((struct net_sim_config){ .seed = 11,
				     .latency_ns = 5000,
				     .jitter_ns = 50000,
				     .byte_ps = 10000,
				     .verb_ns = 300,
				     .tear_permille = 1000,
				     .reorder_permille = 1000 },
			     true),
	    0);
	assert_int_equal(
	    conform(
		(struct net_sim_config){ .seed = 12, .latency_ns = 1, .jitter_ns = 1, .byte_ps = 1 }, false),
	    0);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "speed") == 0) {
		struct net_sim_stats stats;
		uint64_t t = nam_clock_ns();
		run_load(1, 64, 10000, &stats);
		double s = (double)(nam_clock_ns() - t) / 1e9;
		printf("%.2f M events/s, %.2f M verbs/s\n", (double)stats.events / s / 1e6,
		    (double)stats.verbs / s / 1e6);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_run),
		cmocka_unit_test(conformance),
		cmocka_unit_test(conformance_extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
