/* agg_test.c -- groups and aggregates beside a sorted copy: few groups and many, one key, no
 * tuples, several aggregates, several participants; deaths, full regions, no memory. */
#include "olap_test.h"

#include <base/hash.h>
#include <olap/job_format.h>

struct answer {
	uint64_t groups, sum;
};

struct world {
	uint64_t seed, bytes;
	unsigned n, keys, heavy, participants; /* heavy: so many of a thousand have key 9 */
	uint32_t width;
	uint64_t crash;
	struct olap_agg agg;
	struct cluster c;
	uint64_t *tuple, before, loaded[T_PROCESSES];
	struct olap_source source;
	struct olap_job *data;
	net_addr at;
	bool made, told, over[T_PROCESSES];
	nam_status ended;
	struct answer got;
	uint64_t direct;
	unsigned spills;
};

static uint64_t
group_hash(const uint64_t *g, unsigned words)
{
	uint64_t h = 3;
	for (unsigned k = 0; k < words; k++)
		h = nam_mix(h + g[k]);
	return h;
}

static unsigned key_words;

static int
by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	for (unsigned k = 0; k < key_words; k++)
		if (x[k] != y[k])
			return x[k] < y[k] ? -1 : 1;
	return 0;
}

/* Tuples sorted by key; a run of one key is a group. */
static struct answer
naive(const struct world *x)
{
	struct answer want = { 0 };
	unsigned sort_words = x->width / 8;
	key_words = x->agg.keys > 0 ? x->agg.keys : 1;
	uint64_t *copy = malloc((size_t)(x->n + 1) * x->width);
	if (x->n > 0)
		memcpy(copy, x->tuple, (size_t)x->n * x->width);
	qsort(copy, x->n, x->width, by_key);
	for (unsigned i = 0; i < x->n;) {
		uint64_t g[OLAP_KEY_WORDS + OLAP_AGGREGATES];
		unsigned end = i;
		while (
		    end < x->n && by_key(&copy[(size_t)end * sort_words], &copy[(size_t)i * sort_words]) == 0)
			end++;
		for (unsigned k = 0; k < key_words; k++)
			g[k] = copy[(size_t)i * sort_words + k];
		for (unsigned a = 0; a < x->agg.aggregates; a++) {
			int64_t least = INT64_MAX, greatest = INT64_MIN;
			uint64_t sum = 0;
			for (unsigned k = i; k < end; k++) {
				int64_t v = (int64_t)copy[(size_t)k * sort_words + x->agg.aggregate[a].word];
				least = v < least ? v : least;
				greatest = v > greatest ? v : greatest;
				sum += (uint64_t)v;
			}
			enum olap_op op = x->agg.aggregate[a].op;
			g[a + key_words] = op == OLAP_COUNT ? end - i
					   : op == OLAP_SUM ? sum
					   : op == OLAP_MIN ? (uint64_t)least
							    : (uint64_t)greatest;
		}
		want.groups++;
		want.sum += group_hash(g, x->agg.aggregates + key_words);
		i = end;
	}
	free(copy);
	return want;
}

static void
load(void *arg)
{
	struct world *x = arg;
	struct net_worker *w = x->c.w[T_PROCESSES - 1];
	struct olap_phase ph;
	struct olap_writer *wr;
	uint32_t m;
	assert_int_equal(olap_board_make(w, &x->c.board), NAM_OK);
	assert_int_equal(olap_job_make(w, x->c.board, "", 0, &x->data), NAM_OK);
	assert_int_equal(olap_writer_open(x->data, x->width, 0, 4096, &wr), NAM_OK);
	assert_int_equal(olap_phase_begin(&ph, x->data, 0, 1), NAM_OK);
	assert_int_equal(olap_take(&ph, &m), NAM_OK);
	if (x->n > 0)
		assert_int_equal(olap_write(wr, x->tuple, x->n), NAM_OK);
	assert_int_equal(olap_publish(&ph, wr, NULL, 0), NAM_OK);
	assert_int_equal(olap_settle(&ph), NAM_OK);
	olap_phase_source(&ph, x->width, 0, &x->source);
	olap_phase_end(&ph);
	olap_writer_close(wr);
}

static nam_status
sink(void *arg, const uint64_t *g, unsigned n)
{
	struct {
		struct answer a;
		unsigned words;
	} *me = arg;
	for (unsigned i = 0; i < n; i++)
		me->a.sum += group_hash(g + (size_t)i * me->words, me->words);
	me->a.groups += n;
	return NAM_OK;
}

static void
collect(void *arg, const void *result, uint32_t len)
{
	struct answer *sum = arg, one;
	assert_int_equal(len, sizeof one);
	memcpy(&one, result, sizeof one);
	sum->groups += one.groups;
	sum->sum += one.sum;
}

static nam_status
take_part(struct world *x, struct olap_job *job, struct answer *got)
{
	struct {
		struct answer a;
		unsigned words;
	} me = { .words = x->agg.aggregates + (x->agg.keys > 0 ? x->agg.keys : 1) };
	struct olap_agg a = x->agg;
	struct olap_phase ph;
	a.in = x->source;
	a.sink = sink;
	a.arg = &me;
	a.result = &me.a;
	a.result_len = sizeof me.a;
	nam_status st = olap_agg_run(job, &a, &ph);
	x->direct += a.did.direct;
	x->spills += a.did.spills;
	if (st != NAM_OK)
		return st;
	struct answer sum = { 0 };
	st = olap_phase_results(&ph, collect, &sum);
	olap_phase_end(&ph);
	*got = sum;
	return st;
}

static void
make(void *arg)
{
	struct world *x = arg;
	struct olap_job *job;
	nam_status st = olap_job_make(x->c.w[0], x->c.board, "", 0, &job);
	assert_int_equal(st, NAM_OK);
	x->at = olap_job_at(job);
	x->made = true;
	x->ended = take_part(x, job, &x->got);
	assert_int_equal(olap_job_end(job), NAM_OK);
	x->over[0] = true;
}

static void
help(void *arg)
{
	struct world *x = arg;
	struct olap_job *job;
	struct answer got;
	while (!x->made)
		net_sleep(x->c.w[1], 100);
	if (olap_job_join(x->c.w[1], x->at, &job) == NAM_OK) {
		take_part(x, job, &got);
		olap_job_leave(job);
	}
	x->over[1] = true;
}

static bool
all_over(void *arg)
{
	struct world *x = arg;
	return cluster_over(&x->c, x->participants, x->over, &x->told);
}

static void
run(struct world *x)
{
	struct nam_rng dice;
	nam_rng_init(&dice, x->seed);
	cluster_open(&x->c, x->seed, 2, x->bytes != 0 ? x->bytes : 16 << 20, T_PROCESSES, 0);
	x->tuple = malloc((size_t)(x->n + 1) * x->width);
	for (unsigned i = 0; i < x->n; i++) {
		uint64_t *t = x->tuple + (size_t)i * x->width / 8, k = nam_rng_below(&dice, x->keys);
		/* The key that stands for an empty slot is a key like others. */
		t[0] = nam_rng_below(&dice, 1000) < x->heavy ? 9
		       : k % 50 == 3                         ? UINT64_C(0xe5b7a3c91d2f4680)
							     : k * 77;
		if (x->agg.keys > 1 && i >= x->heavy)
			t[0] = k % 900; /* a poor hash of the next word: keys share it */
		for (unsigned w = 1; w < x->width / 8; w++)
			t[w] = w < x->agg.keys ? k : nam_rng_next(&dice) - (UINT64_C(1) << 63);
	}
	cluster_run(&x->c, T_PROCESSES - 1, load, x);
	x->before = cluster_free(&x->c);
	x->made = x->told = false;
	memset(x->over, 0, sizeof x->over);
	x->direct = x->spills = 0;
	for (unsigned i = 0; i < x->participants; i++)
		x->loaded[i] = net_sim_verbs(x->c.net[i]);
	if (x->crash != 0)
		net_sim_crash_at(x->c.sim, x->c.net[1], x->loaded[1] + x->crash);
	if (x->participants > 1)
		assert_non_null(nam_co_start(net_worker_sched(x->c.w[1]), help, x, 512 << 10));
	assert_non_null(nam_co_start(net_worker_sched(x->c.w[0]), make, x, 512 << 10));
	assert_true(net_sim_run(x->c.sim, all_over, x));
	if (net_sim_crashed(x->c.net[1]))
		net_sim_bury(x->c.sim, x->c.net[1]);
	assert_true(net_sim_run(x->c.sim, NULL, NULL));
}

static void
check(const struct world *x)
{
	struct answer want = naive(x);
	assert_int_equal(x->ended, NAM_OK);
	assert_int_equal(x->got.groups, want.groups);
	assert_int_equal(x->got.sum, want.sum);
}

static void
end_data(void *arg)
{
	struct world *x = arg;
	assert_int_equal(olap_job_end(x->data), NAM_OK);
	assert_int_equal(olap_board_drop(x->c.w[T_PROCESSES - 1], x->c.board), NAM_OK);
}

static void
end(struct world *x)
{
	cluster_run(&x->c, T_PROCESSES - 1, end_data, x);
	cluster_close(&x->c);
	free(x->tuple);
}

#define SUM_OF_1 .aggregate = { { OLAP_SUM, 1 } }, .aggregates = 1
#define ALL_OF_THEM                                                                                          \
	.aggregate = { { OLAP_COUNT, 0 }, { OLAP_SUM, 2 }, { OLAP_MIN, 1 }, { OLAP_MAX, 1 },                 \
		{ OLAP_MAX, 2 } },                                                                           \
	.aggregates = 5

static void
groups(void **state)
{
	(void)state;
	const struct world want[] = {
		{ .n = 20000, .keys = 10, .width = 16, .agg = { SUM_OF_1 } },
		{ .n = 20000, .keys = 5000, .width = 16, .agg = { SUM_OF_1, .cache = 4096 } },
		{ .n = 20000, .keys = 5000, .width = 24, .agg = { ALL_OF_THEM, .cache = 4096 } },
		{ .n = 3000, .keys = 1000000, .width = 24, .agg = { ALL_OF_THEM, .bits = 5 } },
		{ .n = 30000, .keys = 20000, .heavy = 970, .width = 16, .agg = { SUM_OF_1, .cache = 2048 } },
		{ .n = 20000,
		    .keys = 5000,
		    .width = 32,
		    .agg = { .aggregate = { { OLAP_SUM, 3 }, { OLAP_COUNT, 0 } },
			.aggregates = 2,
			.keys = 2,
			.cache = 4096 } },
		{ .n = 20000,
		    .keys = 50,
		    .width = 24,
		    .agg = { .aggregate = { { OLAP_MAX, 2 } }, .aggregates = 1, .keys = 2 } },
		{ .n = 0, .keys = 1, .width = 16, .agg = { SUM_OF_1 } },
		{ .n = 1, .keys = 1, .width = 16, .agg = { SUM_OF_1 } },
		{ .n = 5000, .keys = 1, .width = 16, .agg = { .aggregates = 0 } }, /* DISTINCT */
		{ .n = 5000, .keys = 900, .width = 16, .agg = { .aggregates = 0, .cache = 1024 } },
		{ .n = 9000,
		    .keys = 900,
		    .width = 16,
		    .agg = { .aggregate = { { OLAP_COUNT, 0 } }, .aggregates = 1 } },
	};
	bool passed_by = false, spilled = false;
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
		for (unsigned k = 0; k < 4; k++) {
			struct world x = want[i];
			x.seed = 10 * i + k;
			x.agg.algorithm = k < 2 ? OLAP_RDMA_AGG : OLAP_CLASSIC_AGG;
			x.participants = x.agg.workers = 1 + k % 2;
			run(&x);
			check(&x);
			assert_int_equal(cluster_free(&x.c), x.before);
			passed_by |= x.direct > 0;
			spilled |= x.spills > 0 && x.direct == 0;
			end(&x);
		}
	assert_true(passed_by);
	assert_true(spilled);
}

static void
a_helper_dies(void **state)
{
	(void)state;
	struct world x = { .seed = 5,
		.n = 6000,
		.keys = 900,
		.width = 16,
		.participants = 2,
		.agg = { SUM_OF_1, .cache = 2048, .workers = 2, .bits = 2 } };
	run(&x);
	check(&x);
	uint64_t verbs = net_sim_verbs(x.c.net[1]) - x.loaded[1];
	end(&x);
	assert_true(verbs > 50);
	for (x.crash = 1; x.crash <= verbs; x.crash++) {
		run(&x);
		check(&x);
		assert_true(x.before - cluster_free(&x.c) <= BILL_LOST);
		end(&x);
	}
}

static void
bad_ends(void **state)
{
	(void)state;
	struct world x = { .seed = 6,
		.n = 100000,
		.keys = 90000,
		.width = 16,
		.participants = 2,
		.bytes = 2 << 20,
		.agg = { SUM_OF_1, .workers = 2 } };
	run(&x);
	assert_int_equal(x.ended, NAM_FULL);
	assert_int_equal(cluster_free(&x.c), x.before);
	end(&x);
	x.bytes = 0;
	x.agg.memory = 1 << 15;
	x.agg.cache = 4096;
	x.agg.bits = 1;
	run(&x);
	assert_int_equal(x.ended, NAM_NOMEM);
	assert_int_equal(cluster_free(&x.c), x.before);
	end(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups),
		cmocka_unit_test(a_helper_dies),
		cmocka_unit_test(bad_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
