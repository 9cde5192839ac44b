/*
 * models_test.c -- trees whose clients find leaves by models, on the simulated fabric: the judge
 * of btree_model.h, models that are wrong on purpose, trees that were dropped, and how many READs
 * a lookup takes.
 *
 * IDX_SEED=7 IDX_SEEDS=100 for other and more seeds.
 */
#include <index/models.h>

static struct idx_tree_host *host_open(unsigned region, void *base, uint64_t size);

#define MODEL_HOST_OPEN(region, base, size)      host_open(region, base, size)
#define MODEL_TREE_OPEN(anchor, words, mem, way) idx_tree_open(anchor, words, mem, way)
#define MODEL_WAYS                                                                                           \
	{                                                                                                    \
		{ .cache = IDX_TREE_LEARNED }, { .cache = IDX_TREE_ONDEMAND }, { .cache = IDX_TREE_MODELS }, \
		    { .cache = IDX_TREE_LEARNED },                                                           \
		{                                                                                            \
			.cache = IDX_TREE_INNER                                                              \
		}                                                                                            \
	}
#include <index/btree/btree_model.h>
#include <index/learned/learned.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- models that lie ----------------------------------------------------------------------- */

static bool lies;
static uint64_t lied;
static struct nam_rng liar;

/* Changes leaves of an answer's pieces, or all of their numbers; each piece stays sound. */
static void
falsify(const struct idx_part *p, char *piece, uint32_t len)
{
	for (uint32_t at = 0; at < len;) {
		struct idx_piece_head h;
		memcpy(&h, piece + at, sizeof h);
		uint64_t *table = (uint64_t *)(void *)(piece + at + sizeof h + 16 * (size_t)h.words);
		unsigned words = h.sub.kind == IDX_WIDE ? 2 : 1;
		unsigned how = (unsigned)nam_rng_below(&liar, 5);
		for (unsigned i = 0; i < h.sub.leaves; i++) {
			uint64_t *e = &table[words * i + words - 1], leaf = *e >> IDX_LEAF_SHIFT;
			if (how == 0) /* another of its leaves */
				leaf = table[words * nam_rng_below(&liar, h.sub.leaves) + words - 1] >>
				       IDX_LEAF_SHIFT;
			else if (how == 1) /* any place, also behind the region's end */
				leaf = 1 + (nam_rng_next(&liar) >> (30 + nam_rng_below(&liar, 32)));
			else if (how == 2) /* any place of the region, or its inner nodes */
				leaf = (p->at + IDX_PART_ROOT) / 64 + nam_rng_below(&liar, 3) * 5;
			lied += leaf != *e >> IDX_LEAF_SHIFT;
			*e = leaf << IDX_LEAF_SHIFT | (*e & ((UINT64_C(1) << IDX_LEAF_SHIFT) - 1));
		}
		if (how == 3) {
			h.sub.slope = (uint32_t)nam_rng_next(&liar);
			h.sub.low = (int16_t) - (int)nam_rng_below(&liar, 9);
			memcpy(piece + at, &h, sizeof h);
			lied++;
		}
		at += h.bytes;
	}
}

struct lying {
	struct idx_part *p;
	void *model;
};

static void *
lying_open(struct idx_part *p)
{
	struct lying *l = malloc(sizeof *l);
	assert_non_null(l);
	*l = (struct lying){ p, idx_models.open(p) };
	return l;
}
static void
lying_close(void *model)
{
	idx_models.close(((struct lying *)model)->model);
	free(model);
}
static bool
lying_idle(void *model)
{
	return idx_models.idle(((struct lying *)model)->model);
}
static void
lying_split(void *model, uint64_t leaf, uint64_t sibling)
{
	idx_models.split(((struct lying *)model)->model, leaf, sibling);
}
static nam_status
lying_message(void *model, struct net_request *rq)
{
	struct lying *l = model;
	nam_status st = idx_models.message(l->model, rq);
	struct idx_model_rq head;
	memcpy(&head, rq->bytes, offsetof(struct idx_model_rq, key));
	uint32_t front = head.what == IDX_MODEL_COPY ? 8 * (1 + l->p->words) : 0;
	if (st == NAM_OK && nam_rng_below(&liar, 4) != 0)
		falsify(l->p, (char *)rq->answer + front, rq->answer_len - front);
	return st;
}

static struct idx_tree_host *
host_open(unsigned region, void *base, uint64_t size)
{
	static const struct idx_model lying = { lying_open, lying_close, lying_idle, lying_split,
		lying_message };
	return lies ? idx_btree_host_open(region, base, size, &lying)
		    : idx_tree_host_open(region, base, size);
}

/* ---- worlds -------------------------------------------------------------------------------- */

static unsigned
env(const char *name, unsigned otherwise)
{
	const char *v = getenv(name);
	return v != NULL ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

static void
play(enum model_kind kind, unsigned seeds)
{
	uint64_t from = env("IDX_SEED", 1), n = env("IDX_SEEDS", seeds);
	struct idx_tree_counts sum = { 0 };
	uint64_t trains = 0;
	for (uint64_t seed = from; seed < from + n; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		nam_rng_init(&liar, seed);
		model_start(&m, &cfg);
		model_run(&m);
		for (unsigned p = 0; p < PROCS; p++) {
			struct idx_tree_counts c;
			idx_tree_counts(m.t[p], &c);
			sum.lookups += c.lookups;
			sum.leaf_reads += c.leaf_reads;
			sum.inner_reads += c.inner_reads;
			sum.rights += c.rights;
			sum.fallbacks += c.fallbacks;
			sum.models_fetched += c.models_fetched;
			sum.hints_used += c.hints_used;
		}
		trains += m.shape.trains;
		char broken[sizeof m.broken];
		memcpy(broken, m.broken, sizeof broken);
		if (broken[0] != 0)
			fail_msg("world %u, seed %" PRIu64 ": %s", kind, seed, broken);
		model_end(&m);
	}
	printf("world %u%s: %" PRIu64 " lookups, %" PRIu64 " READs of leaves, %" PRIu64
	       " of inner nodes, %" PRIu64 " rights, %" PRIu64 " fallbacks, %" PRIu64
	       " models fetched, %" PRIu64 " trained, %" PRIu64 " hints used\n",
	    kind, lies ? " of lies" : "", sum.lookups, sum.leaf_reads, sum.inner_reads, sum.rights,
	    sum.fallbacks, sum.models_fetched, trains, sum.hints_used);
	assert_true(sum.models_fetched > 0 && trains > 0 && sum.hints_used > 0);
}

static void
worlds(void **state)
{
	(void)state;
	for (enum model_kind kind = 0; kind < MODEL_KINDS; kind++)
		play(kind, 5);
}

/* Whatever models say, answers are right. */
static void
wrong_models(void **state)
{
	(void)state;
	lies = true;
	for (enum model_kind kind = 0; kind < MODEL_KINDS; kind++)
		play(kind, 5);
	lies = false;
	assert_true(lied > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worlds),
		cmocka_unit_test(wrong_models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
