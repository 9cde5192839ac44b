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
		    { .cache = IDX_TREE_LEARNED, .adaptive = true },                                         \
		{                                                                                            \
			.cache = IDX_TREE_NONE, .adaptive = true                                             \
		}                                                                                            \
	}
#include <index/btree/btree_model.h>
#include <index/learned/learned_model.h>
#include <net/region_format.h>

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
static void
lying_joined(void *model, const uint64_t *low, const uint64_t *was)
{
	idx_models.joined(((struct lying *)model)->model, low, was);
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
		lying_joined, lying_message };
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

/* ---- how many READs ---------------------------------------------------------------------- */

/* A tree of one partition with keys of a kind, and two processes. */
struct count {
	struct model *m;
	struct idx_tree *t[2];
	enum model_keys kind;
	enum idx_tree_cache cache;
	uint64_t n, *keys;
	bool append; /* inserts come behind the last key, and lookups ask for late ones */
	uint64_t done, extent[4096];
	unsigned taken, used; /* extents; of them, handed out again */
};

static nam_status
count_take(void *arg, struct net_worker *w, unsigned region, net_addr *out)
{
	struct count *c = arg;
	if (c->used < c->taken) {
		out->bits = c->extent[c->used++];
		return NAM_OK;
	}
	nam_status st = net_extent_take(w, region, 1, out);
	assert_true(c->taken < 4096);
	if (st == NAM_OK) {
		c->extent[c->taken++] = out->bits;
		c->used++;
	}
	return st;
}

static uint64_t
value_of(uint64_t key, uint64_t round)
{
	return (nam_mix(key + round) | 1) >> 1 | UINT64_C(1) << 20;
}

static void
fill_tree(struct count *c, struct idx_tree *t, uint64_t round)
{
	uint64_t *values = malloc(8 * c->n), done = 0;
	assert_non_null(values);
	for (uint64_t i = 0; i < c->n; i++)
		values[i] = value_of(c->keys[i], round);
	assert_int_equal(idx_tree_fill(c->m->w[0][0], t, c->keys, values, c->n, 75, &done, NULL), NAM_OK);
	assert_int_equal(done, c->n);
	free(values);
}

/* Eight keys at once: present ones have their value; half as many are neighbours, mostly
 * absent. */
static void
ask(struct count *c, unsigned who, uint64_t round)
{
	enum { AT_ONCE = 8 };
	struct idx_tree_probe p[AT_ONCE];
	uint64_t key[AT_ONCE];
	bool present[AT_ONCE];
	struct nam_rng *r = &c->m->rng;
	for (unsigned i = 0; i < AT_ONCE; i++) {
		uint64_t late = c->append && nam_rng_below(r, 2) == 0 ? 500 : c->n;
		uint64_t at = c->n - 1 - nam_rng_below(r, late);
		key[i] = c->keys[at] + (i % 3 == 2 && !c->append);
		present[i] = key[i] == c->keys[at] || (at + 1 < c->n && key[i] == c->keys[at + 1]);
		p[i] = (struct idx_tree_probe){ .tree = c->t[who], .key = &key[i] };
	}
	nam_status st = idx_tree_lookup(c->m->w[who][0], p, AT_ONCE, NULL);
	assert_int_equal(st, NAM_OK);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (!present[i]) {
			assert_int_equal(p[i].status, NAM_ABSENT);
			continue;
		}
		assert_int_equal(p[i].status, NAM_OK);
		assert_int_equal(p[i].hits, 1);
		assert_int_equal(p[i].hit[0], value_of(key[i], round));
	}
}

static void
count_start(struct count *c, struct model *m, void (*fn)(void *arg))
{
	struct model_config cfg = model_world(MODEL_GROW, 3);
	const struct idx_tree_memory mem = { .take = count_take, .arg = c };
	const struct idx_tree_options o = { .cache = c->cache };
	cfg.parts = 1;
	cfg.keys = 10;
	model_start(m, &cfg);
	assert_string_equal(m->broken, "");
	c->m = m;
	c->keys = model_make(c->kind, 7, &c->n);
	/* The model's tree is not used, but for its place. */
	for (unsigned i = 0; i < 2; i++)
		c->t[i] = idx_tree_open(m->anchor, 1, &mem, &o);
	nam_co_start(net_worker_sched(m->w[0][0]), fn, c, 256 << 10);
	model_play(m);
	assert_string_equal(m->broken, "");
	for (unsigned i = 0; i < 2; i++)
		idx_tree_close(c->t[i]);
	free(c->keys);
	model_end(m);
}

static void
reads_co(void *arg)
{
	struct count *c = arg;
	struct idx_tree_counts before, now;
	struct idx_tree_shape shape;
	fill_tree(c, c->t[0], 0);
	/* With the default cache the first use brings all; on demand the first lookups do. */
	for (unsigned i = 0; i < (c->cache == IDX_TREE_ONDEMAND ? 400 : 1); i++)
		ask(c, 1, 0);
	idx_tree_counts(c->t[1], &before);
	for (unsigned i = 0; i < 1000; i++)
		ask(c, 1, 0);
	idx_tree_counts(c->t[1], &now);
	assert_int_equal(idx_tree_shape(c->m->w[1][0], c->t[1], &shape, NULL), NAM_OK);
	double lookups = (double)(now.lookups - before.lookups);
	double leaves = (double)(now.leaf_reads - before.leaf_reads - (now.torn - before.torn)) / lookups;
	double inners = (double)(now.inner_reads - before.inner_reads) / lookups;
	printf("%s, %s: %.4f READs of leaves a lookup, %.4f of inner nodes, %" PRIu64
	       " fallbacks; models %.2f %%, "
	       "tables %.2f %% of inner nodes\n",
	    idx_tree_cache_name(c->cache), model_keys_name[c->kind], leaves, inners,
	    now.fallbacks - before.fallbacks, 100.0 * (double)now.cache_bytes / (double)shape.inner_bytes,
	    100.0 * (double)now.table_bytes / (double)shape.inner_bytes);
	assert_true(leaves >= 0.9999 && leaves <= 1.05);
	if (c->cache != IDX_TREE_MODELS)
		assert_true(inners < 0.001);
	else
		assert_true(inners >= 0.9999 && inners < 1.35); /* with READs that were torn */
	assert_true((double)(now.fallbacks - before.fallbacks) < 0.002 * lookups);
	if (c->kind == KEYS_LINEAR && c->cache == IDX_TREE_LEARNED)
		assert_true(now.cache_bytes * 50 < shape.inner_bytes);
	c->done = 1;
}

/* With a warm cache a lookup READs one leaf, whatever the keys, present or not. */
static void
one_read(void **state)
{
	(void)state;
	static const enum idx_tree_cache cache[] = { IDX_TREE_LEARNED, IDX_TREE_ONDEMAND, IDX_TREE_MODELS };
	for (unsigned i = 0; i < 3; i++)
		for (enum model_keys kind = KEYS_LINEAR; kind <= KEYS_UNIFORM; kind++) {
			struct count *c = calloc(1, sizeof *c);
			struct model m;
			c->n = 30000;
			c->kind = kind;
			c->cache = cache[i];
			count_start(c, &m, reads_co);
			assert_int_equal(c->done, 1);
			free(c);
		}
}

static void
growth_co(void *arg)
{
	struct count *c = arg;
	struct idx_tree_counts before, now;
	uint64_t inserts = 0;
	fill_tree(c, c->t[0], 0);
	c->keys = realloc(c->keys, 8 * (c->n + 4000));
	assert_non_null(c->keys);
	ask(c, 1, 0);
	idx_tree_counts(c->t[1], &before);
	for (unsigned i = 0; i < 3000; i++) {
		/* One insert for 19 lookups. */
		for (uint64_t k = nam_rng_below(&c->m->rng, 10) < 4 ? 1 : 0; k > 0; k--) {
			uint64_t at = c->append ? c->n - 1 : nam_rng_below(&c->m->rng, c->n - 1);
			uint64_t room = c->append ? 2000 : c->keys[at + 1] - c->keys[at];
			if (room < 2)
				continue;
			uint64_t key = c->keys[at] + 1 + nam_rng_below(&c->m->rng, room - 1);
			struct idx_tree_entry e = { .tree = c->t[0], .key = &key, .value = value_of(key, 0) };
			assert_int_equal(idx_tree_insert(c->m->w[0][0], &e, 1, NULL), NAM_OK);
			assert_int_equal(e.status, NAM_OK);
			memmove(c->keys + at + 2, c->keys + at + 1, 8 * (c->n - at - 1));
			c->keys[at + 1] = key;
			c->n++;
			inserts++;
		}
		ask(c, 1, 0);
	}
	idx_tree_counts(c->t[1], &now);
	double lookups = (double)(now.lookups - before.lookups);
	printf("growing, %s, %s: %" PRIu64
	       " inserts; a lookup %.4f READs of leaves, %.2f %% right, %.2f %% fell back, "
	       "%" PRIu64 " models fetched\n",
	    idx_tree_cache_name(c->cache), c->append ? "behind the last" : "anywhere", inserts,
	    (double)(now.leaf_reads - before.leaf_reads) / lookups,
	    100 * (double)(now.rights - before.rights) / lookups,
	    100 * (double)(now.fallbacks - before.fallbacks) / lookups,
	    now.models_fetched - before.models_fetched);
	assert_true((double)(now.fallbacks - before.fallbacks) < 0.1 * lookups);
	assert_true((double)(now.leaf_reads - before.leaf_reads) < 1.1 * lookups);
	/* No message for each lookup either. */
	assert_true((double)(now.models_fetched - before.models_fetched) < 0.1 * lookups);
	c->done = 1;
}

/* YCSB D: one process inserts, the other looks up. */
static void
growth(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct count *c = calloc(1, sizeof *c);
		struct model m;
		c->n = i % 2 == 0 ? 2000 : 20000; /* anywhere: so that leaves split */
		c->kind = KEYS_NOISED;
		c->cache = i < 2 ? IDX_TREE_LEARNED : IDX_TREE_MODELS;
		c->append = i % 2;
		count_start(c, &m, growth_co);
		assert_int_equal(c->done, 1);
		free(c);
	}
}

/* ---- READs or messages --------------------------------------------------------------------- */

/* What the storage node's server would write. */
static void
beat(struct count *c, uint32_t cpu_permille)
{
	struct net_super *s = (void *)net_sim_memory(c->m->sim, 1);
	s->cpu_permille = cpu_permille;
	s->beat++;
}

/* Calls of 8 keys by message, in part of all. */
static double
by_message(struct count *c, unsigned calls, uint32_t cpu_permille)
{
	struct idx_tree_counts before, now;
	idx_tree_counts(c->t[1], &before);
	for (unsigned i = 0; i < calls; i++) {
		beat(c, cpu_permille);
		net_sleep(c->m->w[1][0], 1000000); /* ten calls for each look at the heartbeat */
		ask(c, 1, 0);
	}
	idx_tree_counts(c->t[1], &now);
	return (double)(now.chosen - before.chosen) / (double)(now.lookups - before.lookups);
}

static void
choosing_co(void *arg)
{
	struct count *c = arg;
	const struct idx_tree_memory mem = { .take = count_take, .arg = c };
	const struct idx_tree_options o = { .cache = c->cache, .adaptive = true };
	fill_tree(c, c->t[0], 0);
	idx_tree_close(c->t[1]);
	c->t[1] = idx_tree_open(c->m->anchor, 1, &mem, &o);
	(void)by_message(c, 50, 100);
	double idle = by_message(c, 300, 100), busy = by_message(c, 200, 990),
	       again = by_message(c, 1000, 100);
	printf(
	    "adaptive: %.3f of calls by message, %.3f when the node is busy, then %.3f\n", idle, busy, again);
	/* Four READs in turn take longer than a message. */
	assert_true(idle > 0.9 && busy < 0.2 && again > 0.5);
	c->done = 1;
}

static void
choosing(void **state)
{
	(void)state;
	struct count *c = calloc(1, sizeof *c);
	struct model m;
	c->n = 30000;
	c->kind = KEYS_UNIFORM;
	c->cache = IDX_TREE_NONE;
	count_start(c, &m, choosing_co);
	assert_int_equal(c->done, 1);
	free(c);
}

/* ---- a tree of before ---------------------------------------------------------------------- */

static void
dropped_co(void *arg)
{
	struct count *c = arg;
	struct net_worker *w = c->m->w[0][0];
	const struct idx_tree_memory mem = { .take = count_take, .arg = c };
	const struct idx_tree_part part = { .region = 1 };
	const struct idx_tree_config cfg = { .words = 1, .parts = 1, .part = &part };
	const uint64_t zeros[IDX_TREE_ANCHOR_BYTES / 8] = { 0 };
	fill_tree(c, c->t[0], 0);
	for (unsigned i = 0; i < 100; i++)
		ask(c, 1, 0);
	for (uint64_t round = 1; round < 4; round++) {
		assert_int_equal(idx_tree_drop(w, c->m->anchor), NAM_OK);
		/* A view with warm models of a tree that is gone. */
		uint64_t key = c->keys[5];
		struct idx_tree_probe p = { .tree = c->t[1], .key = &key };
		nam_status st = idx_tree_lookup(c->m->w[1][0], &p, 1, NULL);
		assert_true(st != NAM_OK || p.status != NAM_OK || p.hits == 1);
		/* The memory, and the anchor, are another tree's now. */
		c->used = 0;
		assert_int_equal(net_write1(w, c->m->anchor, zeros, sizeof zeros, NULL), NAM_OK);
		assert_int_equal(idx_tree_create(w, c->m->anchor, &cfg, &mem), NAM_OK);
		for (uint64_t i = 0; i < c->n; i++)
			c->keys[i] += round == 2 ? 12345 : 0;
		const struct idx_tree_options o = { .cache = IDX_TREE_NONE };
		struct idx_tree *fresh = idx_tree_open(c->m->anchor, 1, &mem, &o);
		fill_tree(c, fresh, round);
		idx_tree_close(fresh);
		for (unsigned i = 0; i < 100; i++)
			ask(c, i % 2, round);
	}
	c->done = 1;
}

/* A table is dropped and made again, in the same memory: models of before lead to its nodes, which
 * are of another tree. */
static void
dropped(void **state)
{
	(void)state;
	static const enum idx_tree_cache cache[] = { IDX_TREE_LEARNED, IDX_TREE_ONDEMAND, IDX_TREE_MODELS };
	for (unsigned i = 0; i < 3; i++) {
		struct count *c = calloc(1, sizeof *c);
		struct model m;
		c->n = 5000;
		c->kind = KEYS_UNIFORM;
		c->cache = cache[i];
		count_start(c, &m, dropped_co);
		assert_int_equal(c->done, 1);
		free(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worlds),
		cmocka_unit_test(wrong_models),
		cmocka_unit_test(one_read),
		cmocka_unit_test(growth),
		cmocka_unit_test(choosing),
		cmocka_unit_test(dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
