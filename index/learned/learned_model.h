/*
 * learned_model.h -- for tests: leaves made of sets of keys, and a judge that knows nothing of
 * models.
 *
 * The judge searches the fences and says which leaves can hold a key. A guess must name all of
 * them.
 */
#ifndef NAM_INDEX_LEARNED_MODEL_H
#define NAM_INDEX_LEARNED_MODEL_H

#include <base/assert.h>
#include <base/rng.h>
#include <index/learned/learned.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model_fence {
	uint64_t key[IDX_LKEY_WORDS], value, leaf;
};

/* The leaves of a partition, in order; the first has the lowest fence of all. */
struct model_leaves {
	unsigned words;
	uint64_t n, cap, at; /* at: of the source's last answer */
	struct model_fence *f;
	uint64_t steps; /* of the source */
};

static inline int
model_order(const uint64_t *a, uint64_t av, const uint64_t *b, uint64_t bv, unsigned words)
{
	unsigned i = 0;
	while (i < words && a[i] == b[i])
		i++;
	return i < words ? (a[i] < b[i] ? -1 : 1) : av < bv ? -1 : av > bv;
}

/* The last leaf whose fence is not greater. */
static inline uint64_t
model_covers(const struct model_leaves *l, const uint64_t *key, uint64_t value)
{
	uint64_t from = 0, to = l->n;
	while (to - from > 1) {
		uint64_t mid = from + (to - from) / 2;
		if (model_order(l->f[mid].key, l->f[mid].value, key, value, l->words) <= 0)
			from = mid;
		else
			to = mid;
	}
	return from;
}

static inline void
model_seek(void *arg, const uint64_t *key, uint64_t value, struct idx_point *out)
{
	struct model_leaves *l = arg;
	l->at = model_covers(l, key, value);
	l->steps++;
	*out = (struct idx_point){ l->f[l->at].key, l->f[l->at].value, l->f[l->at].leaf };
}

static inline bool
model_next(void *arg, struct idx_point *out)
{
	struct model_leaves *l = arg;
	if (l->at + 1 >= l->n)
		return false;
	l->at++;
	l->steps++;
	*out = (struct idx_point){ l->f[l->at].key, l->f[l->at].value, l->f[l->at].leaf };
	return true;
}

static inline struct idx_fences
model_source(struct model_leaves *l)
{
	return (struct idx_fences){ model_seek, model_next, l };
}

/* A leaf's name tells nothing of its place. */
static inline uint64_t
model_name(uint64_t i)
{
	return 1 + (i * 2654435761u & 0xffffffff);
}

static inline void
model_insert(struct model_leaves *l, uint64_t at, const uint64_t *key, uint64_t value)
{
	if (l->n == l->cap) {
		l->cap = l->cap == 0 ? 64 : 2 * l->cap;
		l->f = realloc(l->f, l->cap * sizeof *l->f);
		NAM_ASSERT(l->f != NULL);
	}
	memmove(l->f + at + 1, l->f + at, (l->n - at) * sizeof *l->f);
	memset(&l->f[at], 0, sizeof l->f[at]);
	if (key != NULL)
		memcpy(l->f[at].key, key, 8 * l->words);
	l->f[at].value = value;
	l->f[at].leaf = model_name(l->n);
	l->n++;
}

/*
 * Leaves of n keys in rising order, `fill` keys each. A fence between two different keys is the
 * right one; or, if they are to be short, the number between them with the most zeros at its end;
 * mixed: each 40th is the right key. Between equal keys it has a value.
 */
enum model_fences { WHOLE, SHORT, MIXED };

static inline void
model_build(struct model_leaves *l, const uint64_t *keys, uint64_t n, unsigned words, unsigned fill,
    enum model_fences fences)
{
	*l = (struct model_leaves){ .words = words };
	model_insert(l, 0, NULL, 0);
	for (uint64_t i = fill; i < n; i += fill) {
		const uint64_t *right = keys + i * words, *left = right - words;
		uint64_t fence[IDX_LKEY_WORDS] = { 0 }, value = 0;
		unsigned k = 0;
		while (k < words && left[k] == right[k])
			k++;
		memcpy(fence, right, 8 * words);
		if (k == words)
			value = i + 1;
		else if (fences == SHORT || (fences == MIXED && l->n % 40 != 0)) {
			fence[k] &= UINT64_MAX << (63 - __builtin_clzll(left[k] ^ right[k]));
			memset(fence + k + 1, 0, 8 * (words - k - 1));
		}
		model_insert(l, l->n, fence, value);
	}
}

struct model_sum {
	uint64_t lookups, leaves, more, missed;
};

/* Judges a guess of a key; adds to the sum. */
static inline void
model_judge(const struct model_leaves *l, const uint64_t *key, const struct idx_guess *g, struct model_sum *s)
{
	uint64_t first = model_covers(l, key, 0), last = model_covers(l, key, UINT64_MAX);
	bool good = g->known && g->n >= 1 && g->n <= IDX_GUESS_MAX;
	/* With more to come, the search goes right from the first one named. */
	uint64_t must = g->more ? first : last;
	for (uint64_t i = first; good && i <= must && i < first + IDX_GUESS_MAX + 1; i++) {
		bool named = false;
		for (unsigned k = 0; k < g->n; k++)
			named |= g->leaf[k] == l->f[i].leaf;
		/* The first one named may also lie in front. */
		if (!named && g->more)
			for (uint64_t b = i; b-- > 0 && i - b < IDX_GUESS_MAX + 1 && !named;)
				named = g->leaf[0] == l->f[b].leaf;
		good &= named;
	}
	s->lookups++;
	s->leaves += g->n;
	s->more += g->more;
	s->missed += !good;
}

/* ---- sets of keys ------------------------------------------------------------------------ */

enum model_keys {
	KEYS_LINEAR,
	KEYS_NOISED,
	KEYS_LOGNORMAL,
	KEYS_OSM,
	KEYS_UNIFORM,
	KEYS_EXTREME, /* runs of neighbours at places far apart, and both ends of all keys */
	KEYS_EQUAL,   /* many equal ones */
	KEYS_PAIRS,   /* two words: few first ones, dense second ones */
	KEYS_TEXT,    /* four words: a long common beginning that differs by group */
	KEYS_KINDS
};
static const char *const model_keys_name[KEYS_KINDS] = { "linear", "noised", "lognormal", "osm", "uniform",
	"extreme", "equal", "pairs", "text" };

static inline double
model_normal(struct nam_rng *r)
{
	double u = ((double)(nam_rng_next(r) >> 11) + 1) / 9007199254740993.0;
	double v = (double)(nam_rng_next(r) >> 11) / 9007199254740992.0;
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The bits of x and y in turn: places near each other mostly have near numbers. */
static inline uint64_t
model_morton(uint32_t x, uint32_t y)
{
	uint64_t z = 0;
	for (unsigned i = 0; i < 32; i++)
		z |= (uint64_t)(x >> i & 1) << 2 * i | (uint64_t)(y >> i & 1) << (2 * i + 1);
	return z;
}

static inline int
model_compare(const void *a, const void *b)
{
	return model_order(a, 0, b, 0, 1);
}
static inline int
model_compare2(const void *a, const void *b)
{
	return model_order(a, 0, b, 0, 2);
}
static inline int
model_compare4(const void *a, const void *b)
{
	return model_order(a, 0, b, 0, 4);
}

static inline void
model_key(enum model_keys kind, struct nam_rng *r, uint64_t i, uint64_t *k)
{
	static uint32_t town[1024][3];
	static uint64_t far;
	switch (kind) {
	case KEYS_LINEAR:
		k[0] = 1000 + i;
		break;
	case KEYS_NOISED:
		k[0] = 1000 * i + nam_rng_below(r, 1000);
		break;
	case KEYS_LOGNORMAL:
		k[0] = (uint64_t)(exp(2 * model_normal(r)) * 1e12);
		break;
	case KEYS_OSM: {
		/* Towns of all sizes, dense in their middle. */
		if (i == 0)
			for (unsigned t = 0; t < 1024; t++)
				for (unsigned d = 0; d < 3; d++)
					town[t][d] = (uint32_t)(nam_rng_next(r) >> 32);
		const uint32_t *t = town[nam_rng_below(r, 1 + nam_rng_below(r, 1024))];
		double size = (double)(1u << (12 + t[2] % 14));
		uint32_t x = t[0] + (uint32_t)(int64_t)(size * model_normal(r));
		uint32_t y = t[1] + (uint32_t)(int64_t)(size * model_normal(r));
		k[0] = model_morton(x, y);
		break;
	}
	case KEYS_UNIFORM:
		k[0] = nam_rng_next(r);
		break;
	case KEYS_EXTREME:
		if (i % 40 == 0)
			far = i % 80 == 0 ? nam_rng_next(r) : far + (UINT64_C(1) << nam_rng_below(r, 60));
		k[0] = i == 0 ? 0 : i == 1 ? UINT64_MAX : i == 2 ? UINT64_MAX - 1 : i == 3 ? 1 : far + i % 40;
		break;
	case KEYS_EQUAL:
		k[0] = nam_rng_below(r, 3) == 0 ? 500 + nam_rng_below(r, 1000) : 7 * nam_rng_below(r, 5);
		break;
	case KEYS_PAIRS:
		k[0] = nam_rng_below(r, 40) * 3;
		k[1] = i / 40 + nam_rng_below(r, 8);
		break;
	case KEYS_TEXT:
		k[0] = UINT64_C(0x687474703a2f2f77); /* "http://w" */
		k[1] = nam_rng_below(r, 30) << 40;
		k[2] = k[1] + (nam_rng_below(r, 50) << 3);
		k[3] = nam_rng_next(r) >> nam_rng_below(r, 64);
		break;
	default:
		break;
	}
}

static inline unsigned
model_words(enum model_keys kind)
{
	return kind == KEYS_TEXT ? 4 : kind == KEYS_PAIRS ? 2 : 1;
}

/* n keys of a kind, sorted; all but `equal` without the same key twice. *n: how many are left. */
static inline uint64_t *
model_make(enum model_keys kind, uint64_t seed, uint64_t *n)
{
	unsigned w = model_words(kind);
	struct nam_rng r;
	nam_rng_init(&r, seed);
	uint64_t *keys = calloc(*n, 8 * w), out = 0;
	NAM_ASSERT(keys != NULL);
	for (uint64_t i = 0; i < *n; i++)
		model_key(kind, &r, i, keys + i * w);
	qsort(keys, *n, 8 * w, w == 1 ? model_compare : w == 2 ? model_compare2 : model_compare4);
	for (uint64_t i = 0; i < *n; i++) {
		if (i > 0 && kind != KEYS_EQUAL &&
		    model_order(keys + (out - 1) * w, 0, keys + i * w, 0, w) == 0)
			continue;
		memmove(keys + out++ * w, keys + i * w, 8 * w);
	}
	*n = out;
	return keys;
}

/* A key to ask for: one of the set, a neighbour of one, a fence, or any. */
static inline void
model_ask(const struct model_leaves *l, const uint64_t *keys, uint64_t n, struct nam_rng *r, uint64_t *k)
{
	unsigned w = l->words;
	memset(k, 0, 8 * IDX_LKEY_WORDS);
	switch (nam_rng_below(r, 6)) {
	case 0:
		for (unsigned i = 0; i < w; i++)
			k[i] = nam_rng_next(r) >> nam_rng_below(r, 64);
		break;
	case 1:
		memcpy(k, l->f[nam_rng_below(r, l->n)].key, 8 * w);
		k[w - 1] -= nam_rng_below(r, 3);
		break;
	case 2:
		memset(k, nam_rng_below(r, 2) == 0 ? 0 : 0xff, 8 * w);
		break;
	case 3:
		memcpy(k, keys + nam_rng_below(r, n) * w, 8 * w);
		k[nam_rng_below(r, w)] += nam_rng_below(r, 3) - 1;
		break;
	default:
		memcpy(k, keys + nam_rng_below(r, n) * w, 8 * w);
	}
}

#endif
