/* join_test.c -- joins beside nested loops: every kind, algorithm, width, number of participants;
 * skew, duplicates, empty sides, local passes; deaths, cancels and full regions. */
#include "join_model.h"

static void
check(struct world *x)
{
	struct answer want = naive(x);
	assert_int_equal(x->ended, NAM_OK);
	assert_int_equal(x->got.pairs, want.pairs);
	assert_int_equal(x->got.sum, want.sum);
}

static void
every_kind(void **state)
{
	(void)state;
	static const struct {
		unsigned left, right, keys, bits;
		uint32_t lw, rw;
		size_t cache;
		enum olap_algorithm algorithm;
	} want[] = {
		{ 2000, 1000, 800, 4, 16, 16, 0, OLAP_RRJ },
		{ 1000, 2500, 100, 3, 16, 24, 0, OLAP_RRJ },
		{ 1500, 1500, 1500, 2, 16, 16, 4096, OLAP_RRJ }, /* a local pass in each */
		{ 2000, 500, 3000, 1, 40, 16, 1024, OLAP_RDMA_GHJ },
		{ 0, 500, 10, 2, 16, 16, 0, OLAP_RRJ },
		{ 500, 0, 10, 2, 16, 16, 0, OLAP_RRJ },
		{ 0, 0, 10, 2, 16, 16, 0, OLAP_RRJ },
		{ 1000, 800, 1, 4, 16, 16, 2048, OLAP_RRJ }, /* one key */
		{ 1500, 700, 600, 0, 16, 16, 0, OLAP_RRJ },
		{ 1500, 300, 600, 0, 16, 32, 0, OLAP_BROADCAST },
	};
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
		for (enum olap_kind kind = OLAP_INNER; kind < OLAP_KINDS; kind++)
			for (unsigned n = 1; n <= 3; n += 2) {
				if (want[i].algorithm == OLAP_BROADCAST && kind == OLAP_FULL)
					continue;
				bool some = want[i].algorithm != OLAP_BROADCAST;
				struct world x = { .seed = i * 100 + kind * 10 + n,
					.n = { want[i].left, want[i].right },
					.fed = { some && i % 2 == 0, some && (i + kind) % 3 == 0 },
					.width = { want[i].lw, want[i].rw },
					.keys = want[i].keys,
					.participants = n,
					.join = { .kind = kind,
					    .algorithm = want[i].algorithm,
					    .bits = want[i].bits,
					    .cache = want[i].cache,
					    .workers = n } };
				world_open(&x);
				world_run(&x);
				check(&x);
				assert_int_equal(cluster_free(&x.c), x.before);
				world_close(&x);
			}
}

/* Half of one side, or of both, has one key: the partition is split, and no task is long. */
static void
heavy_hitters(void **state)
{
	(void)state;
	for (enum olap_kind kind = OLAP_INNER; kind < OLAP_KINDS; kind++)
		for (unsigned both = 0; both < 2; both++) {
			struct world x = { .seed = 7 + kind,
				.n = { both ? 600 : 300, 150000 },
				.width = { 16, 16 },
				.keys = 1000000,
				.heavy = { both ? 100 : 1, 75000 },
				.participants = 2,
				.join = { .kind = kind, .bits = 3, .workers = 2, .cache = 1 << 16 } };
			world_open(&x);
			world_run(&x);
			check(&x);
			assert_true(x.split > 0 || kind == OLAP_SEMI || kind == OLAP_ANTI);
			assert_int_equal(cluster_free(&x.c), x.before);
			world_close(&x);
		}
}

/* A cancel at some moment: the join ends with it, or had ended before; nothing stays. */
static void
cancelled(void **state)
{
	(void)state;
	unsigned stopped = 0;
	for (unsigned i = 0; i < 12; i++) {
		struct world x = { .seed = 50 + i,
			.n = { 4000, 4000 },
			.width = { 16, 16 },
			.keys = 3000,
			.participants = 2,
			.cancel_ns = 20000 + i * 60000,
			.join = { .kind = OLAP_FULL, .bits = 3, .workers = 2 } };
		world_open(&x);
		world_run(&x);
		if (x.ended == NAM_OK)
			check(&x);
		else
			assert_int_equal(x.ended, NAM_CANCELLED);
		stopped += x.ended == NAM_CANCELLED;
		assert_int_equal(cluster_free(&x.c), x.before);
		world_close(&x);
	}
	assert_true(stopped > 3);
}

/* All tuples have one key: a billion pairs and more. A cancel ends even that soon, and so does a
 * sink that has enough of it. */
static nam_status
enough(void *arg, const struct olap_pairs *p)
{
	uint64_t *pairs = arg;
	*pairs += p->n;
	return *pairs > 5000000 ? NAM_NOMEM : NAM_OK;
}

static nam_status
any_number(void *arg, const struct olap_pairs *p)
{
	*(uint64_t *)arg += p->n;
	return NAM_OK;
}

static void
too_many_pairs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct world x = { .seed = 70,
			.n = { 40000, 40000 },
			.width = { 16, 16 },
			.keys = 1,
			.participants = 2,
			.cancel_ns = i == 0 ? 3000000 : 0,
			.sink = i == 0 ? any_number : enough,
			.join = { .kind = OLAP_INNER, .bits = 2, .workers = 2 } };
		world_open(&x);
		world_run(&x);
		assert_int_equal(x.ended, i == 0 ? NAM_CANCELLED : NAM_NOMEM);
		assert_true(x.sink_pairs > 0 && x.sink_pairs < 1600000000);
		assert_int_equal(cluster_free(&x.c), x.before);
		world_close(&x);
	}
}

/* The nodes are full in the middle of the pass: NAM_FULL, and the extents go back. */
static void
full(void **state)
{
	(void)state;
	struct world x = { .seed = 3,
		.n = { 60000, 60000 },
		.width = { 16, 16 },
		.keys = 50000,
		.participants = 2,
		.bytes = 3 << 20,
		.join = { .kind = OLAP_INNER, .bits = 3, .workers = 2 } };
	world_open(&x);
	world_run(&x);
	assert_int_equal(x.ended, NAM_FULL);
	assert_int_equal(cluster_free(&x.c), x.before);
	world_close(&x);
}

/* A partition that needs more memory than there is: NAM_NOMEM, and the extents go back. */
static void
no_memory(void **state)
{
	(void)state;
	struct world x = { .seed = 3,
		.n = { 60000, 60000 },
		.width = { 16, 16 },
		.keys = 50000,
		.participants = 1,
		.join = { .kind = OLAP_INNER, .bits = 1, .memory = 1 << 16 } };
	world_open(&x);
	world_run(&x);
	assert_int_equal(x.ended, NAM_NOMEM);
	assert_int_equal(cluster_free(&x.c), x.before);
	world_close(&x);
}

/* A process dies at each of its verbs, or at some of them. The others give the right answer. If the
 * maker died, a sweep gives its memory back. */
static void
dies(unsigned who, unsigned step)
{
	struct world x = { .seed = 11,
		.n = { 3000, 3000 },
		.fed = { true, false },
		.width = { 16, 16 },
		.keys = 2500,
		.participants = 2,
		.join = { .kind = OLAP_LEFT, .bits = 2, .workers = 2 } };
	world_open(&x);
	world_run(&x);
	check(&x);
	uint64_t verbs = net_sim_verbs(x.c.net[who]) - x.loaded[who];
	world_close(&x);
	unsigned redone = 0, lost = 0;
	for (uint64_t v = 1; v <= verbs; v += step) {
		x.crash = v;
		x.who = who;
		world_open(&x);
		world_run(&x);
		if (who == 0 && net_sim_crashed(x.c.net[0])) {
			assert_true(x.ended == NAM_OK || x.ended == NAM_GONE);
		} else {
			check(&x);
			redone += x.morsels > 0 && net_sim_crashed(x.c.net[who]);
		}
		uint64_t left = x.before - cluster_free(&x.c);
		/* A1: what lay between its node and the bill. */
		if (left > BILL_LOST)
			print_error(
			    "verb %llu: %llu extents\n", (unsigned long long)v, (unsigned long long)left);
		assert_true(left <= BILL_LOST);
		lost += left > 0;
		world_close(&x);
	}
	print_message("%llu verbs, each %u. a death; %u with extents that were not listed yet\n",
	    (unsigned long long)verbs, step, lost);
	assert_true(who == 0 || redone > 0);
	/* While the maker gives a line of extents back, none of them is listed (A5). */
	assert_true(lost * (who == 0 ? 2 : 8) < (verbs + step - 1) / step);
}

static void
helper_dies(void **state)
{
	(void)state;
	dies(1, 1);
}

static void
maker_dies(void **state)
{
	(void)state;
	dies(0, 1);
}

/* A helper stops for a minute: after a lease and the grace it is fenced, its work is done again,
 * and when it goes on it has no effect. One that stops for less than a lease is waited for. */
static void
stopped(void **state)
{
	(void)state;
	unsigned fenced = 0;
	for (unsigned i = 0; i < 12; i++) {
		bool minute = i % 2 == 0;
		struct world x = { .seed = 20 + i,
			.n = { 4000, 4000 },
			.width = { 16, 16 },
			.keys = 3000,
			.participants = 2,
			.freeze_ns = 30000 + i * 8000,
			.stall_ns = minute ? 60000000000 : 2000000000,
			.join = { .kind = OLAP_FULL, .bits = 3, .workers = 2 } };
		world_open(&x);
		world_run(&x);
		check(&x);
		fenced += net_sim_shut(x.c.net[1]);
		assert_true(minute || !net_sim_shut(x.c.net[1]));
		assert_true(x.took_ns < 2 * (OLAP_LEASE_NS + OLAP_GRACE_NS) + 1000000000);
		assert_true(x.before - cluster_free(&x.c) <= (minute ? BILL_LOST : 0));
		world_close(&x);
	}
	assert_true(fenced > 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(heavy_hitters),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(too_many_pairs),
		cmocka_unit_test(full),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(stopped),
		cmocka_unit_test(helper_dies),
		cmocka_unit_test(maker_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
