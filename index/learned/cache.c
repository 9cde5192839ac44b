/*
 * cache.c -- the sub-models of a partition in a client process, shared by its workers.
 *
 * A `struct top` has the begins of all ranges, sorted, and a sub-model (or NULL) for each. It is
 * never changed but for the pointers to sub-models, and replaced when the ranges change. A key's
 * range is found in two steps: a line over the key space (the top model) picks a cell, the cell
 * says between which ranges to search.
 *
 * Readers take no lock. A reader counts itself in one of STRIPES counters while it looks, and
 * never parks meanwhile. What is replaced is freed when each counter has been seen at 0 after
 * that: no reader that looked before still looks. Readers that come later cannot reach it. All
 * caches of a process share the counters, so a reader of several caches counts itself once.
 */
#include <base/assert.h>
#include <index/learned/learned_internal.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { STRIPES = 32, AT_ONCE = 16 };

/* A sub-model and its table. Never changed once it can be seen. */
struct blob {
	struct idx_sub_head head;
	uint64_t number;  /* of base */
	uint64_t table[]; /* then the base, if head.skip is not 0 */
};

struct top {
	uint64_t n, cells, bytes;
	unsigned skip;       /* of the numbers */
	uint64_t min, scale; /* a number's cell: (number - min) * scale >> 64 */
	uint32_t *cell;      /* cells + 1: the last range that begins in an earlier cell */
	uint64_t *number;    /* n */
	uint64_t *base;      /* n keys */
	_Atomic(struct blob *) blob[];
};

/* What was replaced at once. */
struct retired {
	struct retired *next;
	uint32_t waits; /* stripes not seen at 0 yet */
	uint64_t n;
	void *memory[];
};

struct idx_lcache {
	unsigned words;
	uint64_t leaf_max;
	_Atomic(struct top *) top;
	pthread_mutex_t lock; /* of all changes */
	struct retired *retired;
	uint64_t puts, swaps;
};

static struct {
	_Alignas(64) atomic_uint readers;
} stripe[STRIPES];

/* ---- readers ------------------------------------------------------------------------- */

static atomic_uint *
enter(void)
{
	static atomic_uint threads;
	static _Thread_local unsigned mine;
	if (mine == 0)
		mine = atomic_fetch_add(&threads, 1) + 1;
	atomic_uint *s = &stripe[mine % STRIPES].readers;
	atomic_fetch_add(s, 1); /* seq_cst: before the look at top */
	return s;
}

static void
leave(atomic_uint *s)
{
	atomic_fetch_sub_explicit(s, 1, memory_order_release);
}

/* ---- the top ------------------------------------------------------------------------- */

static const uint64_t *
base_of(const struct top *t, const struct idx_lcache *c, uint64_t i)
{
	return t->base + i * c->words;
}

/* Where to search for the key's range: in [*low, *high]. */
static inline __attribute__((always_inline)) void
cell(const struct top *t, const struct idx_lcache *c, const uint64_t *key, uint64_t *low, uint64_t *high)
{
	if (t->skip > 0) {
		int way = idx_prefix_order(key, base_of(t, c, t->n - 1), t->skip);
		if (way != 0) {
			*low = *high = way < 0 ? 0 : t->n - 1;
			return;
		}
	}
	uint64_t k = idx_number(key, t->skip);
	uint64_t at = k < t->min ? 0 : (uint64_t)((unsigned __int128)(k - t->min) * t->scale >> 64);
	at = at < t->cells ? at : t->cells - 1;
	*low = t->cell[at];
	*high = t->cell[at + 1];
}

static inline __attribute__((always_inline)) uint64_t
search(const struct top *t, const struct idx_lcache *c, const uint64_t *key, uint64_t low, uint64_t high)
{
	uint64_t n = high - low + 1, k = idx_number(key, t->skip);
	if (c->words == 1)
		return low + idx_up_to(t->number + low, (unsigned)n, UINT64_MAX, k);
	while (n > 1) {
		uint64_t half = n / 2, at = t->number[low + half];
		bool behind = at <= k;
		if (at == k)
			behind = idx_words_order(base_of(t, c, low + half), key, c->words) <= 0;
		low = behind ? low + half : low;
		n -= half;
	}
	return low;
}

static uint64_t
find(const struct top *t, const struct idx_lcache *c, const uint64_t *key)
{
	uint64_t low, high;
	cell(t, c, key, &low, &high);
	return search(t, c, key, low, high);
}

/* A top for n ranges, without sub-models. bases: of c->words each; the first is all zeros. */
static struct top *
top_new(const struct idx_lcache *c, const uint64_t *bases, uint64_t n)
{
	uint64_t cells = n / 2 + 1, base_bytes = 8 * n * c->words;
	uint64_t bytes = sizeof(struct top) + n * sizeof(struct blob *) + n * 8 + base_bytes +
			 (cells + 1) * 4 + 8 * IDX_OVER;
	struct top *t = calloc(1, bytes);
	if (t == NULL)
		return NULL;
	t->n = n;
	t->cells = cells;
	t->bytes = bytes;
	t->number = (uint64_t *)(void *)&t->blob[n];
	t->base = t->number + n;
	t->cell = (uint32_t *)(void *)(t->base + n * c->words);
	memcpy(t->base, bases, base_bytes);
	if (n > 1) {
		unsigned common = idx_common(base_of(t, c, 1), base_of(t, c, n - 1), c->words);
		t->skip = common < 64 * (c->words - 1) ? common : 64 * (c->words - 1);
	}
	for (uint64_t i = 1; i < n; i++)
		t->number[i] = idx_number(base_of(t, c, i), t->skip);
	/* Of the greatest number, the cell is the last one: scale = cells * 2^64 / (range + 1). */
	uint64_t range = n > 1 ? t->number[n - 1] - t->number[1] : 0;
	t->min = n > 1 ? t->number[1] : 0;
	t->scale = range < cells
		       ? UINT64_MAX
		       : (uint64_t)(((unsigned __int128)cells << 64) / ((unsigned __int128)range + 1));
	uint64_t i = 0;
	for (uint64_t at = 0; at <= cells; at++) {
		while (i + 1 < n) {
			uint64_t its =
			    (uint64_t)((unsigned __int128)(t->number[i + 1] - t->min) * t->scale >> 64);
			if ((its < cells ? its : cells - 1) >= at)
				break;
			i++;
		}
		t->cell[at] = (uint32_t)i;
	}
	return t;
}

/* ---- changes ------------------------------------------------------------------------- */

static void
retired_free(struct retired *r)
{
	for (uint64_t i = 0; i < r->n; i++)
		free(r->memory[i]);
	free(r);
}

/* Under the lock. Frees what no reader can look at any more. */
static void
reap(struct idx_lcache *c)
{
	uint32_t still = 0;
	if (c->retired == NULL)
		return;
	for (unsigned i = 0; i < STRIPES; i++)
		still |= (uint32_t)(atomic_load(&stripe[i].readers) != 0) << i;
	for (struct retired **p = &c->retired; *p != NULL;) {
		struct retired *r = *p;
		r->waits &= still;
		if (r->waits != 0) {
			p = &r->next;
			continue;
		}
		*p = r->next;
		retired_free(r);
	}
}

/* Room to retire n pieces of memory later. */
static struct retired *
retired_new(uint64_t n)
{
	struct retired *r = malloc(sizeof *r + n * sizeof(void *));
	if (r != NULL)
		*r = (struct retired){ .waits = UINT32_MAX };
	return r;
}

/* Under the lock. Readers that come from now on cannot reach r's memory. */
static void
retire(struct idx_lcache *c, struct retired *r)
{
	r->next = c->retired;
	c->retired = r;
	reap(c);
}

struct idx_lcache *
idx_lcache_open(unsigned words, uint64_t leaf_max)
{
	const uint64_t zeros[IDX_LKEY_WORDS] = { 0 };
	struct idx_lcache *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
	NAM_ASSERT(words >= 1 && words <= IDX_LKEY_WORDS);
	if (c == NULL)
		return NULL;
	memset(c, 0, sizeof *c);
	c->words = words;
	c->leaf_max = leaf_max;
	struct top *t = top_new(c, zeros, 1);
	if (t == NULL) {
		free(c);
		return NULL;
	}
	atomic_store(&c->top, t);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void
idx_lcache_close(struct idx_lcache *c)
{
	if (c == NULL)
		return;
	struct top *t = atomic_load(&c->top);
	for (uint64_t i = 0; i < t->n; i++)
		free(atomic_load(&t->blob[i]));
	free(t);
	for (struct retired *r = c->retired, *next; r != NULL; r = next) {
		next = r->next;
		retired_free(r);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static struct blob *
blob_new(const struct idx_sub *s)
{
	size_t table = 8u * idx_entry_words(&s->head) * s->head.leaves;
	size_t base = s->head.skip > 0 ? 8u * s->words : 0;
	struct blob *b = malloc(sizeof *b + table + base + 8 * IDX_OVER);
	if (b == NULL)
		return NULL;
	b->head = s->head;
	b->number = idx_number(s->base, s->head.skip);
	memcpy(b->table, s->table, table);
	memcpy((uint8_t *)b->table + table, s->base, base);
	memset((uint8_t *)b->table + table + base, 0, 8 * IDX_OVER);
	return b;
}

/*
 * Under the lock. Puts a sub-model in for a range that the top does not have: a new top. Of a
 * range that it covers in part, the front keeps its sub-model; behind the end there is none, for a
 * sub-model has one place.
 */
static nam_status
splice(struct idx_lcache *c, struct top *t, const struct idx_sub *s, struct blob *b)
{
	unsigned w = c->words;
	uint64_t from = find(t, c, s->base), to = s->last ? t->n : find(t, c, s->end);
	bool front = idx_words_order(base_of(t, c, from), s->base, w) != 0;
	bool begins = !s->last && idx_words_order(base_of(t, c, to), s->end, w) == 0;
	/* Ranges of the old top in front and behind, and the first one behind whose sub-model goes
	 * on. */
	uint64_t before = from + front, after = t->n - to, keeps = to + (!s->last && !begins);
	struct retired *r = retired_new(keeps - before + 1);
	uint64_t *bases = malloc((before + 1 + after) * 8 * w);
	struct top *fresh = NULL;
	if (bases != NULL) {
		memcpy(bases, t->base, before * 8 * w);
		memcpy(bases + before * w, s->base, 8 * w);
		memcpy(bases + (before + 1) * w, t->base + to * w, after * 8 * w);
		if (after > 0)
			memcpy(bases + (before + 1) * w, s->end, 8 * w);
		fresh = top_new(c, bases, before + 1 + after);
		free(bases);
	}
	if (fresh == NULL || r == NULL) {
		free(fresh);
		free(r);
		return NAM_NOMEM;
	}
	for (uint64_t i = 0; i < before; i++)
		atomic_store(&fresh->blob[i], atomic_load(&t->blob[i]));
	atomic_store(&fresh->blob[before], b);
	for (uint64_t i = keeps; i < t->n; i++)
		atomic_store(&fresh->blob[before + 1 + i - to], atomic_load(&t->blob[i]));
	atomic_store(&c->top, fresh);
	for (uint64_t i = before; i < keeps; i++)
		r->memory[r->n++] = atomic_load(&t->blob[i]);
	r->memory[r->n++] = t;
	retire(c, r);
	return NAM_OK;
}

/* Under the lock. Another sub-model, or none, for range i. */
static nam_status
swap(struct idx_lcache *c, struct top *t, uint64_t i, struct blob *b)
{
	struct retired *r = retired_new(1);
	if (r == NULL)
		return NAM_NOMEM;
	r->memory[r->n++] = atomic_exchange(&t->blob[i], b);
	retire(c, r);
	return NAM_OK;
}

static nam_status
put(struct idx_lcache *c, const struct idx_sub *s)
{
	struct blob *b = blob_new(s);
	if (b == NULL)
		return NAM_NOMEM;
	pthread_mutex_lock(&c->lock);
	struct top *t = atomic_load(&c->top);
	uint64_t i = find(t, c, s->base);
	bool same = idx_words_order(base_of(t, c, i), s->base, c->words) == 0;
	same &= s->last ? i + 1 == t->n
			: i + 1 < t->n && idx_words_order(base_of(t, c, i + 1), s->end, c->words) == 0;
	nam_status st = same ? swap(c, t, i, b) : splice(c, t, s, b);
	c->puts += st == NAM_OK;
	c->swaps += st == NAM_OK && same;
	pthread_mutex_unlock(&c->lock);
	if (st != NAM_OK)
		free(b);
	return st;
}

nam_status
idx_lcache_put(struct idx_lcache *c, const void *pieces, uint32_t len)
{
	nam_status st = NAM_OK;
	struct idx_sub *s = malloc(sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	for (uint32_t at = 0, used; at < len && st == NAM_OK; at += used) {
		used = 0;
		st = idx_sub_decode(s, c->words, c->leaf_max, (const uint8_t *)pieces + at, len - at, &used);
		if (st == NAM_OK)
			st = put(c, s);
	}
	free(s);
	return st;
}

void
idx_lcache_drop(struct idx_lcache *c, const uint64_t *key)
{
	pthread_mutex_lock(&c->lock);
	struct top *t = atomic_load(&c->top);
	swap(c, t, find(t, c, key), NULL);
	pthread_mutex_unlock(&c->lock);
}

void
idx_lcache_clear(struct idx_lcache *c)
{
	pthread_mutex_lock(&c->lock);
	struct top *t = atomic_load(&c->top);
	for (uint64_t i = 0; i < t->n; i++)
		swap(c, t, i, NULL);
	pthread_mutex_unlock(&c->lock);
}

void
idx_lcache_shape(struct idx_lcache *c, struct idx_lcache_shape *out)
{
	pthread_mutex_lock(&c->lock);
	struct top *t = atomic_load(&c->top);
	*out = (struct idx_lcache_shape){
		.ranges = t->n, .model_bytes = t->bytes, .puts = c->puts, .swaps = c->swaps
	};
	for (uint64_t i = 0; i < t->n; i++) {
		const struct blob *b = atomic_load(&t->blob[i]);
		if (b == NULL)
			continue;
		out->known++;
		out->model_bytes += sizeof *b + (b->head.skip > 0 ? 8u * c->words : 0);
		out->table_bytes += 8u * idx_entry_words(&b->head) * b->head.leaves;
		unsigned low = (unsigned)abs(b->head.low), high = (unsigned)abs(b->head.high);
		unsigned most = low > high ? low : high;
		out->error = most > out->error ? most : out->error;
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- guesses ---------------------------------------------------------------------------- */

static inline uint64_t
distance(const struct blob *b, const uint64_t *key)
{
	unsigned skip = b->head.skip;
	if (skip > 0) {
		const uint64_t *end = b->table + idx_entry_words(&b->head) * b->head.leaves;
		if (idx_prefix_order(key, end, skip) != 0)
			return UINT64_MAX;
	}
	return idx_number(key, skip) - b->number;
}

/* Step by step for all keys, so that their cache misses overlap. */
static void
guess_some(struct idx_lcache *const *c, const uint64_t *const *key, unsigned n, const struct top **t,
    struct idx_guess *out)
{
	uint64_t low[AT_ONCE], high[AT_ONCE];
	const struct blob *blob[AT_ONCE];
	for (unsigned i = 0; i < n; i++) {
		t[i] = atomic_load(&c[i]->top);
		cell(t[i], c[i], key[i], &low[i], &high[i]);
		__builtin_prefetch(&t[i]->number[(low[i] + high[i]) / 2]);
	}
	for (unsigned i = 0; i < n; i++) {
		low[i] = search(t[i], c[i], key[i], low[i], high[i]);
		blob[i] = atomic_load_explicit(&t[i]->blob[low[i]], memory_order_acquire);
		__builtin_prefetch(blob[i]);
	}
	unsigned from[AT_ONCE], to[AT_ONCE];
	for (unsigned i = 0; i < n; i++) {
		if (blob[i] == NULL)
			continue;
		low[i] = distance(blob[i], key[i]);
		idx_window(&blob[i]->head, low[i], &from[i], &to[i]);
		__builtin_prefetch(
		    &blob[i]->table[idx_entry_words(&blob[i]->head) * ((from[i] + to[i]) / 2)]);
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned first, last;
		out[i].known = false;
		out[i].n = 0;
		if (blob[i] == NULL)
			continue;
		const struct idx_sub_head *h = &blob[i]->head;
		idx_pick(
		    h, blob[i]->table + idx_entry_words(h) * from[i], low[i], from[i], to[i], &first, &last);
		if (__builtin_expect(h->kind == IDX_NARROW && first == last, 1)) {
			out[i].known = true;
			out[i].more = false;
			out[i].first = (uint8_t)first;
			out[i].n = 1;
			out[i].leaf[0] = blob[i]->table[first] >> IDX_LEAF_SHIFT;
		} else {
			idx_tell(h, blob[i]->table, 0, first, last, &out[i]);
		}
	}
}

void
idx_lcache_guess_many(
    struct idx_lcache *const *c, const uint64_t *const *keys, unsigned n, struct idx_guess *out)
{
	const struct top *t[AT_ONCE];
	atomic_uint *s = enter();
	for (unsigned i = 0; i < n; i += AT_ONCE)
		guess_some(c + i, keys + i, n - i < AT_ONCE ? n - i : AT_ONCE, t, out + i);
	leave(s);
}

void
idx_lcache_guess(struct idx_lcache *c, const uint64_t *keys, unsigned n, struct idx_guess *out)
{
	struct idx_lcache *all[AT_ONCE];
	const uint64_t *key[AT_ONCE];
	for (unsigned i = 0; i < n; i += AT_ONCE) {
		unsigned k = 0;
		for (; k < AT_ONCE && i + k < n; k++) {
			all[k] = c;
			key[k] = keys + (i + k) * c->words;
		}
		idx_lcache_guess_many(all, key, k, out + i);
	}
}

unsigned
idx_lcache_run(
    struct idx_lcache *c, const uint64_t *key, uint64_t value, bool descending, uint64_t *leaf, unsigned n)
{
	unsigned got = 0, at = 0, first, last, low, high;
	atomic_uint *s = enter();
	const struct top *t = atomic_load(&c->top);
	uint64_t range = find(t, c, key);
	const struct blob *b = atomic_load(&t->blob[range]);
	if (b != NULL) {
		uint64_t d = distance(b, key);
		idx_window(&b->head, d, &low, &high);
		idx_pick(&b->head, b->table + idx_entry_words(&b->head) * low, d, low, high, &first, &last);
		at = value >> 63 != 0 ? last : first;
	}
	while (b != NULL && got < n) {
		unsigned words = idx_entry_words(&b->head);
		uint64_t e = b->table[words * at + words - 1];
		/* A range may begin inside a leaf. */
		if (got == 0 || leaf[got - 1] != e >> IDX_LEAF_SHIFT)
			leaf[got++] = e >> IDX_LEAF_SHIFT;
		bool gap = (e >> IDX_GAP_BIT & 1) != 0;
		if (!descending && at + 1u < b->head.leaves) {
			at++;
			gap = (b->table[words * at + words - 1] >> IDX_GAP_BIT & 1) != 0;
			if (gap)
				break;
			continue;
		}
		if (descending && gap)
			break;
		if (descending && at > 0) {
			at--;
			continue;
		}
		range += descending ? UINT64_MAX : 1;
		b = range < t->n ? atomic_load(&t->blob[range]) : NULL;
		at = b != NULL && descending ? b->head.leaves - 1u : 0;
	}
	leave(s);
	return got;
}
