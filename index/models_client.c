/*
 * models_client.c -- a client's way to leaves by models: caches them (index/learned), fetches what
 * it lacks by MODEL messages, and replaces what was wrong.
 *
 * IDX_TREE_LEARNED    models of leaves, all of them fetched at the first use of a partition
 * IDX_TREE_ONDEMAND   the same, each fetched when it is missed
 * IDX_TREE_MODELS     models of inner nodes of level 1, all fetched at first
 */
#include <base/assert.h>
#include <index/learned/learned.h>
#include <index/models.h>

#include <stdlib.h>

#define LEAF_MAX (UINT64_C(1) << 34) /* of an entry's bits; a region may end before */

enum { NOT_LOADED, LOADING, LOADED };

struct loc {
	struct idx_view *v;
	struct idx_lcache *cache;
	unsigned level;
	_Atomic uint32_t state;
};

static void *
open_level(struct idx_view *v, unsigned level, unsigned state)
{
	struct loc *l = calloc(1, sizeof *l);
	if (l == NULL)
		return NULL;
	l->v = v;
	l->level = level;
	atomic_store(&l->state, state);
	l->cache = idx_lcache_open(v->words, LEAF_MAX);
	if (l->cache == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

static void *
open_learned(struct idx_view *v)
{
	return open_level(v, 0, NOT_LOADED);
}
static void *
open_ondemand(struct idx_view *v)
{
	return open_level(v, 0, LOADED);
}
static void *
open_models(struct idx_view *v)
{
	return open_level(v, 1, NOT_LOADED);
}

static void
close_loc(void *loc)
{
	struct loc *l = loc;
	idx_lcache_close(l->cache);
	free(l);
}

static net_addr
address(const struct loc *l, uint64_t leaf)
{
	return net_at(l->v->region, leaf * IDX_NODE_ALIGN);
}

static unsigned
locate(void *loc, const uint64_t *key, uint64_t value, bool descending, net_addr *leaf, unsigned max,
    unsigned *sure)
{
	struct loc *l = loc;
	NAM_ASSERT(max >= 1 && max <= IDX_LOCATE_MAX);
	*sure = 1;
	if (max > 2 || descending) {
		uint64_t run[IDX_LOCATE_MAX];
		unsigned n = idx_lcache_run(l->cache, key, value, descending, run, max);
		for (unsigned i = 0; i < n; i++)
			leaf[i] = address(l, run[i]);
		return n;
	}
	struct idx_guess g;
	idx_lcache_guess(l->cache, key, 1, &g);
	if (!g.known)
		return 0;
	unsigned n = g.n < max ? g.n : max;
	for (unsigned i = 0; i < n; i++)
		leaf[i] = address(l, g.leaf[i]);
	*sure = n;
	return n;
}

static void
locate_many(void *const *loc, const uint64_t *const *key, const uint64_t *value, unsigned n,
    net_addr (*leaf)[2], unsigned *count)
{
	struct idx_lcache *cache[IDX_LOCATE_MAX] = { NULL };
	struct idx_guess g[IDX_LOCATE_MAX];
	(void)value;
	NAM_ASSERT(n >= 1 && n <= IDX_LOCATE_MAX);
	for (unsigned i = 0; i < n; i++)
		cache[i] = ((const struct loc *)loc[i])->cache;
	idx_lcache_guess_many(cache, key, n, g);
	for (unsigned i = 0; i < n; i++) {
		count[i] = g[i].n < 2 ? g[i].n : 2;
		for (unsigned k = 0; k < count[i]; k++)
			leaf[i][k] = address(loc[i], g[i].leaf[k]);
	}
}

/* One MODEL message; its answer's words in *out, IDX_CALL_MAX bytes. */
static nam_status
call(struct net_worker *w, struct loc *l, unsigned what, const uint64_t *key, void *out, uint32_t cap,
    uint32_t *got, struct net_counts *acct)
{
	struct idx_model_rq rq = { .what = what, .level = l->level };
	memcpy(rq.key, key, 8 * (size_t)l->v->words);
	return idx_view_call(w, l->v, &rq, (uint32_t)offsetof(struct idx_model_rq, key) + 8 * l->v->words,
	    out, cap, got, acct);
}

/* All that the storage node has. A failure leaves what came; the rest comes when it is missed. */
static nam_status
load(struct net_worker *w, struct loc *l, struct net_counts *acct)
{
	enum { CAP = 28 << 10 };
	unsigned words = l->v->words;
	uint64_t key[IDX_KEY_WORDS] = { 0 }, *answer = malloc(CAP);
	uint32_t front = 8 * (1 + words), got = 0;
	bool more = true;
	nam_status st = answer != NULL ? NAM_OK : NAM_NOMEM;
	while (st == NAM_OK && more) {
		st = call(w, l, IDX_MODEL_COPY, key, answer, CAP, &got, acct);
		if (st != NAM_OK)
			break;
		if (got <= front) {
			st = NAM_CORRUPT;
			break;
		}
		/* Each answer goes on behind the one before, so this comes to an end. */
		more = answer[0] != 0;
		if (more && idx_key_order(answer + 1, key, words) <= 0)
			st = NAM_CORRUPT;
		memcpy(key, answer + 1, 8 * (size_t)words);
		if (st == NAM_OK)
			st = idx_lcache_put(l->cache, (const char *)answer + front, got - front);
	}
	free(answer);
	return st;
}

static nam_status
prepare(void *loc, struct net_worker *w, const uint64_t *const *keys, const uint64_t *values, unsigned n,
    struct net_counts *acct)
{
	struct loc *l = loc;
	enum { WAIT_NS = 100000, WAITS = 10000 };
	uint32_t state = atomic_load_explicit(&l->state, memory_order_acquire);
	(void)keys, (void)values, (void)n;
	if (state == LOADED)
		return NAM_OK;
	if (state == NOT_LOADED && atomic_compare_exchange_strong(&l->state, &state, LOADING))
		state = NOT_LOADED;
	/* Another coroutine loads: what it brings need not be asked for one by one. */
	for (unsigned i = 0; i < WAITS && state == LOADING; i++) {
		net_sleep(w, WAIT_NS);
		state = atomic_load_explicit(&l->state, memory_order_acquire);
	}
	if (state != NOT_LOADED)
		return NAM_OK;
	nam_status st = load(w, l, acct);
	atomic_store_explicit(&l->state, LOADED, memory_order_release);
	return st;
}

static nam_status
wrong(void *loc, struct net_worker *w, const uint64_t *key, uint64_t value, net_addr leaf,
    struct net_counts *acct)
{
	struct loc *l = loc;
	struct idx_guess g;
	uint32_t got;
	(void)value;
	/* Another coroutine may have fetched it meanwhile. */
	idx_lcache_guess(l->cache, key, 1, &g);
	for (unsigned i = 0; i < g.n && l->level == 0; i++)
		if (address(l, g.leaf[i]).bits == leaf.bits)
			return NAM_OK;
	void *piece = malloc(IDX_PIECE_MAX); /* too long for a coroutine's stack */
	if (piece == NULL)
		return NAM_NOMEM;
	nam_status st = call(w, l, IDX_MODEL_FRESH, key, piece, IDX_PIECE_MAX, &got, acct);
	if (st == NAM_OK)
		st = idx_lcache_put(l->cache, piece, got);
	free(piece);
	return st;
}

static void
size(void *loc, uint64_t *cache, uint64_t *table, uint64_t *fetched, unsigned *error)
{
	struct loc *l = loc;
	struct idx_lcache_shape s;
	idx_lcache_shape(l->cache, &s);
	*cache = s.model_bytes;
	*table = s.table_bytes;
	*fetched = s.puts;
	*error = s.error;
}

const struct idx_locator *
idx_models_locator(enum idx_tree_cache cache)
{
	static const struct idx_locator learned = { .level = 0,
		.open = open_learned,
		.close = close_loc,
		.locate = locate,
		.locate_many = locate_many,
		.prepare = prepare,
		.wrong = wrong,
		.size = size };
	static const struct idx_locator ondemand = { .level = 0,
		.open = open_ondemand,
		.close = close_loc,
		.locate = locate,
		.locate_many = locate_many,
		.wrong = wrong,
		.size = size };
	static const struct idx_locator models = { .level = 1,
		.open = open_models,
		.close = close_loc,
		.locate = locate,
		.locate_many = locate_many,
		.prepare = prepare,
		.wrong = wrong,
		.size = size };
	return cache == IDX_TREE_LEARNED    ? &learned
	       : cache == IDX_TREE_ONDEMAND ? &ondemand
	       : cache == IDX_TREE_MODELS   ? &models
					    : NULL;
}
