/*
 * crowd_test.c -- more clients than there is memory for message rings, simulated: all are served,
 * also beside processes that die, stall and are fenced while they have rings.
 *
 * The judge: calls of a process that lives and is not fenced end with NAM_OK and with its own
 * bytes. The program is built with fault points: two twins, which let WRITEs land in rings that
 * others have by then, must be noticed.
 */
#include <base/assert.h>
#include <base/fault.h>
#include <net/region_format.h>
#include <net/ring/pool.h>
#include <net/ring/service.h>
#include <net/sim/sim.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKERS = 8, NODES = 3, LONGEST = 20000 };

struct client {
	struct crowd *crowd;
	struct process *process;
	struct net_worker *w;
	unsigned number;
};

struct process {
	struct net *net;
	struct client client[WORKERS];
	bool doomed; /* it dies, or is fenced: what its calls end with does not matter */
};

struct crowd {
	struct net_sim *sim;
	struct process *p;
	unsigned processes, calls;
	uint32_t usual; /* bytes of most messages, at most */
	uint64_t right, refused, wrong;
	unsigned finished;
};

static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };

/* Calls to all nodes, mostly short ones; what comes back must be what was sent. */
static void
caller(void *arg)
{
	struct client *c = arg;
	struct crowd *all = c->crowd;
	struct nam_rng *rng = net_rng(c->w);
	char *ask = malloc(LONGEST), *answer = malloc(LONGEST);
	assert_true(ask != NULL && answer != NULL);
	for (unsigned i = 0; i < all->calls; i++) {
		unsigned region = 1 + (unsigned)nam_rng_below(rng, NODES);
		uint32_t most = nam_rng_below(rng, 50) == 0 ? LONGEST : all->usual;
		uint32_t len = 8 + (uint32_t)nam_rng_below(rng, most - 8), got = 0;
		memset(ask, (int)(c->number * 7 + i) & 127, len);
		memcpy(ask, &(uint64_t){ (uint64_t)c->number << 32 | i }, 8);
		nam_status st = net_call(c->w, region, NET_SERVICE_ECHO, ask, len, answer, len, &got);
		if (c->process->doomed)
			break;
		if (st != NAM_OK)
			all->refused++;
		else if (got != len || memcmp(ask, answer, len) != 0)
			all->wrong++;
		else
			all->right++;
		if (nam_rng_below(rng, 4) == 0)
			net_sleep(c->w, nam_rng_below(rng, 3000000));
	}
	free(ask);
	free(answer);
	all->finished += !c->process->doomed;
}

/* In turn: a process dies, another stalls for seconds, a third is fenced. The first ones are
 * spared. */
static void
trouble(void *arg)
{
	struct client *c = arg;
	struct crowd *all = c->crowd;
	for (unsigned i = all->processes / 2; i < all->processes; i++) {
		struct process *p = &all->p[i];
		net_sleep(c->w, nam_rng_below(net_rng(c->w), 2000000));
		if (i % 3 == 0) {
			p->doomed = true;
			net_sim_crash(all->sim, p->net);
		} else if (i % 3 == 1) {
			net_sim_freeze(
			    all->sim, p->net, 1000000000 + nam_rng_below(net_rng(c->w), 2000000000));
		} else {
			struct nam_err err;
			p->doomed = true;
			assert_int_equal(net_fence_process(c->w, net_identity(p->net), 0, &err), NAM_OK);
		}
	}
}

/* True if all went well. */
static bool
play(const struct net_sim_config *cfg, unsigned processes, unsigned calls, uint32_t usual, bool with_trouble)
{
	struct crowd all = { .processes = processes, .calls = calls, .usual = usual };
	assert_int_equal(net_sim_open(&all.sim, cfg), NAM_OK);
	all.p = calloc(processes, sizeof *all.p);
	assert_non_null(all.p);
	for (unsigned r = 1; r <= NODES; r++)
		assert_int_equal(net_sim_serve(all.sim, r, &echo, 1), NAM_OK);
	for (unsigned i = 0; i < processes; i++) {
		struct process *p = &all.p[i];
		assert_int_equal(net_sim_attach(all.sim, &p->net), NAM_OK);
		for (unsigned k = 0; k < WORKERS; k++) {
			struct client *c = &p->client[k];
			*c = (struct client){ .crowd = &all, .process = p, .number = i * WORKERS + k };
			assert_int_equal(net_worker_open(p->net, &c->w, NULL), NAM_OK);
			nam_co_start(net_worker_sched(c->w), caller, c, 0);
		}
	}
	if (with_trouble)
		nam_co_start(net_worker_sched(all.p[0].client[0].w), trouble, &all.p[0].client[0], 0);
	assert_true(net_sim_run(all.sim, NULL, NULL));
	unsigned live = 0;
	for (unsigned i = 0; i < processes; i++) {
		live += !all.p[i].doomed;
		net_sim_bury(all.sim, all.p[i].net);
	}
	assert_true(net_sim_run(all.sim, NULL, NULL));
	bool well = all.refused == 0 && all.wrong == 0;
	if (well) {
		assert_true(all.finished >= live * WORKERS); /* or before it was doomed */
		assert_true(all.right >= (uint64_t)live * WORKERS * calls);
	}
	for (unsigned i = 0; i < processes; i++) {
		for (unsigned k = 0; k < WORKERS; k++)
			net_worker_close(all.p[i].client[k].w);
		net_close(all.p[i].net);
	}
	net_sim_close(all.sim);
	free(all.p);
	return well;
}

/* 1,600 clients of three nodes that have rings of the least size for a thousand. */
static void
two_hundred_processes(void **state)
{
	(void)state;
	const struct net_sim_config cfg = { .seed = 34, .nodes = NODES, .region_bytes = 256 << 20 };
	assert_true(play(&cfg, 200, 4, 600, false));
}

static uint64_t
number_of(const char *name, uint64_t usual)
{
	const char *v = getenv(name);
	return v != NULL && *v != '\0' ? strtoull(v, NULL, 10) : usual;
}

/* 256 KiB for the rings of 80 or more clients; verbs are late, by so much that they land when
 * their poster's rings have been used again, if they are used again at once. */
static bool
play_seed(uint64_t seed)
{
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = NODES,
		.region_bytes = 16 << 20,
		.tear_permille = 300,
		.delay_permille = 20,
		.delay_ns = 30000000 };
	return play(&cfg, 10 + (unsigned)(seed % 5), 24, seed % 2 == 0 ? 300 : 1900, true);
}

static void
crowds(void **state)
{
	(void)state;
	uint64_t first = number_of("NET_SEED", 1), seeds = number_of("NET_SEEDS", 8);
	for (uint64_t seed = first; seed < first + seeds; seed++)
		if (!play_seed(seed))
			fail_msg("seed %" PRIu64, seed);
}

/* Calls, which takes memory for rings, and takes extents afterwards. */
static void
taker(void *arg)
{
	struct net_worker *w = arg;
	char ask[8] = "extent", answer[8];
	uint32_t got = 0;
	net_addr at[2];
	unsigned taken;
	assert_int_equal(
	    net_call(w, 1, NET_SERVICE_ECHO, ask, sizeof ask, answer, sizeof answer, &got), NAM_OK);
	assert_int_equal(net_extents_take(w, 1, 1, true, &at[0], &taken), NAM_OK);
	assert_int_equal(net_extent_take(w, 1, 2, &at[1]), NAM_OK);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(net_offset_of(at[i]) % NET_EXTENT, 0);
}

/* Regions of any size: the memory for rings is whole extents, and so is what lies behind it. */
static void
extents_behind_rings(void **state)
{
	(void)state;
	for (uint64_t mib = 1; mib < 8192; mib += 7)
		assert_int_equal(net_pool_bytes(mib << 20, 0) % NET_EXTENT, 0);
	for (uint64_t mib = 16; mib <= 21; mib++) {
		const struct net_sim_config cfg = { .seed = mib, .nodes = 1, .region_bytes = mib << 20 };
		struct net_sim *sim;
		struct net *net;
		struct net_worker *w;
		assert_int_equal(net_sim_open(&sim, &cfg), NAM_OK);
		assert_int_equal(net_sim_serve(sim, 1, &echo, 1), NAM_OK);
		assert_int_equal(net_sim_attach(sim, &net), NAM_OK);
		assert_int_equal(net_worker_open(net, &w, NULL), NAM_OK);
		nam_co_start(net_worker_sched(w), taker, w, 0);
		assert_true(net_sim_run(sim, NULL, NULL));
		net_worker_close(w);
		net_close(net);
		net_sim_close(sim);
	}
}

/* ---- the pool alone --------------------------------------------------------------------- */

enum { MEMBERS = 70, SECOND = 1000000000 };

struct bench {
	struct net_pool pool;
	struct net_pool_member m[MEMBERS];
};

static void
bench_open(struct bench *b)
{
	memset(b, 0, sizeof *b);
	assert_true(net_pool_open(&b->pool, net_pool_bytes(16 << 20, 0)));
	assert_int_equal(b->pool.pages, 64);
}

/* Joins, and stands in the line for a request ring. */
static void
wants(struct bench *b, unsigned i, uint32_t least, uint32_t most)
{
	const struct net_ring_want want = { least, 4096, most, 4096 };
	b->m[i].tag = &b->m[i];
	net_pool_join(&b->pool, &b->m[i]);
	net_pool_want(&b->pool, &b->m[i], &want);
}

/* Rings of a member that has gone rest for two seconds, those that were given back do not. */
static bool
rests(void)
{
	struct bench b;
	bench_open(&b);
	wants(&b, 0, 256 << 10, 256 << 10);
	assert_true(net_pool_grant(&b.pool, SECOND));
	net_pool_give(&b.pool, &b.m[0]);
	wants(&b, 1, 256 << 10, 256 << 10);
	assert_true(net_pool_grant(&b.pool, SECOND));
	net_pool_leave(&b.pool, &b.m[1], SECOND);
	wants(&b, 2, 4096, 65536);
	bool early = net_pool_grant(&b.pool, (uint64_t)3 * SECOND);
	if (!early)
		assert_true(net_pool_grant(&b.pool, (uint64_t)3 * SECOND + 1));
	net_pool_close(&b.pool);
	return !early;
}

/* Shares grow smaller with the number of members; the line is kept; who was served longest ago is
 * asked first, and nothing is asked twice. */
static void
shares(void **state)
{
	(void)state;
	struct bench b;
	uint64_t now = SECOND;
	bench_open(&b);
	for (unsigned i = 0; i < 64; i++, now++) {
		wants(&b, i, 4096, 65536);
		if (!net_pool_grant(&b.pool, now))
			break;
		assert_int_equal(b.m[i].request_bytes, 32768); /* an eighth at most */
	}
	assert_true(b.pool.waiting == 1 && b.pool.members == 9);
	unsigned last = b.pool.members - 1;
	/* The first of the line needs much; another one, that needs less, waits behind it. */
	net_pool_leave(&b.pool, &b.m[last], now);
	wants(&b, last, 65536, 65536);
	wants(&b, last + 1, 4096, 65536);
	assert_false(net_pool_ask(&b.pool, now)); /* they have just got theirs */
	now += SECOND;
	b.m[0].used_ns = now - 2000000;
	while (!net_pool_grant(&b.pool, now)) {
		assert_true(net_pool_ask(&b.pool, now));
		unsigned asked = 0;
		for (unsigned i = 0; i < last; i++)
			asked += b.m[i].asked;
		assert_in_range(asked, 1, 2);
		assert_false(b.m[0].asked);
		assert_false(net_pool_ask(&b.pool, now));
		now += 1000000;
		for (unsigned i = 0; i < last; i++)
			if (b.m[i].asked)
				net_pool_give(&b.pool, &b.m[i]);
	}
	assert_true(b.m[last].has && b.m[last].request_bytes == 65536 && b.m[last + 1].waits);
	/* What is left is for the next one, which gets less than its share. */
	net_pool_leave(&b.pool, &b.m[0], now);
	assert_false(net_pool_grant(&b.pool, now));
	now += (uint64_t)3 * SECOND;
	assert_true(net_pool_grant(&b.pool, now));
	assert_int_equal(b.m[last + 1].request_bytes, 16384);
	net_pool_close(&b.pool);
	assert_true(rests());
}

static void
twins(void **state)
{
	(void)state;
	uint64_t seed = 1, most = 20;
	nam_fault_on = NAM_FAULT_RING_EARLY;
	while (seed <= most && play_seed(seed))
		seed++;
	nam_fault_on = NAM_FAULT_RING_UNRESTED;
	bool rested = rests();
	nam_fault_on = NAM_FAULT_NONE;
	if (seed > most)
		fail_msg("%s was not noticed", nam_fault_name[NAM_FAULT_RING_EARLY]);
	printf("fault %s: seed %" PRIu64 "\n", nam_fault_name[NAM_FAULT_RING_EARLY], seed);
	assert_false(rested);
	printf("fault %s: rings were used again at once\n", nam_fault_name[NAM_FAULT_RING_UNRESTED]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hundred_processes),
		cmocka_unit_test(crowds),
		cmocka_unit_test(extents_behind_rings),
		cmocka_unit_test(shares),
		cmocka_unit_test(twins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
