/* sim_test.c -- the simulator: the same seed gives the same run; it breaks the orders it should,
 * and keeps the others. */
#include <base/clock.h>
#include <net/conformance/conformance_sim.h>
#include <net/region_format.h>

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

/* Sleeps for less time than a turn costs, so that its thread has always something to run. */
static void
naps(void *arg)
{
	struct load *l = arg;
	for (unsigned i = 0; i < l->rounds; i++)
		net_sleep(l->w, 100);
}

static bool
has_worked(void *arg)
{
	const struct load *l = arg;
	return l->done == l->rounds;
}

/* A thread that never rests still polls: its other coroutines get their completions. */
static void
a_busy_thread_polls(void **state)
{
	(void)state;
	struct net_sim *s;
	struct net *n;
	const struct net_sim_config cfg = { .seed = 5, .nodes = 2, .region_bytes = 1 << 20, .turn_ns = 1000 };
	assert_int_equal(net_sim_open(&s, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(s, &n), NAM_OK);
	struct load nap = { .rounds = 2000 }, work = { .rounds = 50 };
	assert_int_equal(net_worker_open(n, &nap.w, NULL), NAM_OK);
	work.w = nap.w;
	for (unsigned i = 0; i < 2; i++)
		assert_non_null(nam_co_start(net_worker_sched(nap.w), naps, &nap, 0));
	assert_non_null(nam_co_start(net_worker_sched(nap.w), client, &work, 0));
	uint64_t from = net_sim_now_ns(s);
	assert_true(net_sim_run(s, has_worked, &work));
	/* 50 times some 10 us, beside 4 ms of naps */
	assert_true(net_sim_now_ns(s) - from < 1000000);
	assert_true(net_sim_run(s, NULL, NULL));
	net_worker_close(nap.w);
	net_close(n);
	net_sim_close(s);
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

/* ---- playing ---------------------------------------------------------------- */

struct scene {
	struct net_sim *s;
	struct net *n[2];
	struct net_worker *w[2];
	struct nam_co *co;
	unsigned state;
};

static void
scene_open(struct scene *c)
{
	const struct net_sim_config cfg = { .seed = 3, .nodes = 2, .region_bytes = 1 << 20 };
	*c = (struct scene){ 0 };
	assert_int_equal(net_sim_open(&c->s, &cfg), NAM_OK);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(net_sim_attach(c->s, &c->n[i]), NAM_OK);
		assert_int_equal(net_worker_open(c->n[i], &c->w[i], NULL), NAM_OK);
	}
}

static void
scene_close(struct scene *c)
{
	for (unsigned i = 0; i < 2; i++) {
		net_worker_close(c->w[i]);
		net_close(c->n[i]);
	}
	net_sim_close(c->s);
}

static void
wait_for_word(void *arg)
{
	struct scene *c = arg;
	c->co = nam_co_self();
	c->state = 1;
	while (c->state == 1)
		nam_co_park();
}

static bool
state_is_1(void *arg)
{
	return ((struct scene *)arg)->state == 1;
}

/* A parked coroutine that no event can wake is a deadlock, and is reported; the test can then wake
 * it. */
static void
deadlock(void **state)
{
	(void)state;
	struct scene c;
	scene_open(&c);
	nam_co_start(net_worker_sched(c.w[0]), wait_for_word, &c, 0);
	assert_true(net_sim_run(c.s, state_is_1, &c));
	assert_false(net_sim_run(c.s, NULL, NULL));
	c.state = 2;
	nam_co_wake(c.co);
	assert_true(net_sim_run(c.s, NULL, NULL));
	scene_close(&c);
}

/* A coroutine that polls the clock without parking sees time pass. */
static void
spin(void *arg)
{
	struct scene *c = arg;
	uint64_t end = net_now_ns(c->w[0]) + 1000000;
	while (net_now_ns(c->w[0]) < end)
		nam_co_yield();
	c->state++;
}

static void
slow_reader(void *arg)
{
	struct scene *c = arg;
	uint64_t word, from = net_now_ns(c->w[1]);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(net_read1(c->w[1], net_at(2, 0), &word, 8, NULL), NAM_OK);
	uint64_t took = net_now_ns(c->w[1]) - from;
	assert_true(took >= 100 * 2000);
	assert_true(took <= 100 * 4000);
	net_sleep(c->w[1], 5000000000);
	assert_true(net_now_ns(c->w[1]) - from >= 5000000000);
	c->state++;
}

static void
spinners(void **state)
{
	(void)state;
	struct scene c;
	scene_open(&c);
	nam_co_start(net_worker_sched(c.w[0]), spin, &c, 0);
	nam_co_start(net_worker_sched(c.w[1]), slow_reader, &c, 0);
	assert_true(net_sim_run(c.s, NULL, NULL));
	assert_int_equal(c.state, 2);
	c.state = 0;
	nam_co_start(net_worker_sched(c.w[0]), spin, &c, 0);
	net_worker_run(c.w[0], state_is_1, &c); /* the same loop */
	assert_int_equal(c.state, 1);
	assert_true(net_sim_run(c.s, NULL, NULL));
	scene_close(&c);
}

static void
read_super(void *arg)
{
	struct scene *c = arg;
	struct net_super a, b;
	assert_int_equal(net_read1(c->w[0], net_at(2, 0), &a, sizeof a, NULL), NAM_OK);
	assert_int_equal(a.magic, NET_MAGIC);
	assert_int_equal(a.version, NET_VERSION);
	assert_int_equal(a.region, 2);
	assert_int_equal(a.layout, net_layout());
	assert_int_equal(a.size, 1 << 20);
	assert_int_equal(a.bump, NET_EXTENT);
	assert_int_equal(a.free_head, 0);
	assert_int_equal(a.incarnation, net_node_of(c->n[0], 2)->incarnation);
	assert_int_not_equal(a.incarnation, net_node_of(c->n[0], 1)->incarnation);
	net_sleep(c->w[0], 25000000);
	assert_int_equal(net_read1(c->w[0], net_at(2, 0), &b, sizeof b, NULL), NAM_OK);
	assert_in_range(b.beat - a.beat, 2, 3);
	assert_in_range(b.beat_wall_us - a.beat_wall_us, 24000, 26000);
}

static void
superblock(void **state)
{
	(void)state;
	struct scene c;
	scene_open(&c);
	nam_co_start(net_worker_sched(c.w[0]), read_super, &c, 0);
	assert_true(net_sim_run(c.s, NULL, NULL));
	assert_null(net_sim_memory(c.s, 3));
	assert_null(net_sim_memory(c.s, NET_REGIONS));
	scene_close(&c);
	struct net_sim *s;
	struct net_sim_config cfg = { .nodes = 1, .region_bytes = 1000 };
	assert_int_equal(net_sim_open(&s, &cfg), NAM_INVALID);
	cfg = (struct net_sim_config){ .nodes = NET_REGIONS, .region_bytes = 1 << 20 };
	assert_int_equal(net_sim_open(&s, &cfg), NAM_INVALID);
}

/* A worker that closes with verbs under way ends them. */
static void
post_and_leave(void *arg)
{
	struct scene *c = arg;
	static struct net_op op[4];
	static struct net_batch b;
	static char buf[4096];
	net_batch_init(&b, c->w[0], op, 4, NULL);
	net_read(&b, net_at(1, 0), buf, sizeof buf);
	net_write(&b, net_at(1, NET_EXTENT), buf, sizeof buf)->flags = NET_FENCE;
	net_faa(&b, net_at(2, NET_EXTENT), 1);
	net_post(&b);
}

static void
close_early(void **state)
{
	(void)state;
	struct scene c;
	scene_open(&c);
	nam_co_start(net_worker_sched(c.w[0]), post_and_leave, &c, 0);
	assert_true(net_sim_run(c.s, NULL, NULL));
	net_worker_close(c.w[0]);
	net_close(c.n[0]);
	nam_co_start(net_worker_sched(c.w[1]), slow_reader, &c, 0);
	assert_true(net_sim_run(c.s, NULL, NULL));
	uint64_t word;
	memcpy(&word, (char *)net_sim_memory(c.s, 2) + NET_EXTENT, 8);
	assert_int_equal(word, 0);
	assert_int_equal(net_sim_attach(c.s, &c.n[0]), NAM_OK);
	assert_int_equal(net_worker_open(c.n[0], &c.w[0], NULL), NAM_OK);
	scene_close(&c);
}

/* ---- conformance ------------------------------------------------------------ */

static int
conform(struct net_sim_config cfg, bool breaks)
{
	struct sim_world w = { .cfg = cfg };
	const struct net_conf_env env = sim_world_env(&w, "sim", breaks);
	return net_conformance(&env);
}

static int
conform_services(struct net_sim_config cfg)
{
	struct sim_world w = { .cfg = cfg, .serves = true };
	const struct net_conf_env env = sim_world_env(&w, "sim", true);
	return net_conformance_services(&env);
}

static struct net_sim_config
harsh(uint64_t seed)
{
	return (struct net_sim_config){ .seed = seed, .tear_permille = 300, .reorder_permille = 300 };
}

static void
conformance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		assert_int_equal(conform(harsh(seed), true), 0);
}

static void
services(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		assert_int_equal(conform_services(harsh(seed)), 0);
	assert_int_equal(conform_services((struct net_sim_config){ .seed = 9,
			     .latency_ns = 5000,
			     .jitter_ns = 50000,
			     .tear_permille = 1000,
			     .reorder_permille = 1000 }),
	    0);
}

/* A wire that is slow, irregular and always torn, and one that is nearly regular. */
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

/* sim_test: the tests. sim_test speed: events per second. sim_test seeds 1 500: more seeds, or one
 * again. */
int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "speed") == 0) {
		struct net_sim_stats stats;
		for (unsigned workers = 1; workers <= 1000; workers *= 10) {
			uint64_t t = nam_clock_ns();
			run_load(1, workers, 200000 / workers, &stats);
			double s = (double)(nam_clock_ns() - t) / 1e9;
			printf("%u workers: %.2f M events/s, %.2f M verbs/s\n", workers,
			    (double)stats.events / s / 1e6, (double)stats.verbs / s / 1e6);
		}
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "seeds") == 0) {
		int failed = 0;
		for (uint64_t seed = strtoull(argv[2], NULL, 10); seed <= strtoull(argv[3], NULL, 10); seed++)
			failed += conform(harsh(seed), true);
		printf("%d checks failed\n", failed);
		return failed != 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_run),
		cmocka_unit_test(a_busy_thread_polls),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(spinners),
		cmocka_unit_test(superblock),
		cmocka_unit_test(close_early),
		cmocka_unit_test(services),
		cmocka_unit_test(conformance),
		cmocka_unit_test(conformance_extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
