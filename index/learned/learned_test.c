/*
 * learned_test.c -- models, pieces and the cache, judged by a search of the fences.
 *
 * IDX_BENCH=1 also prints times, and takes 10 M keys.
 */
#include <base/clock.h>
#include <index/learned/learned_model.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FILL = 12, LEAF_BYTES = 320, INNER_BYTES = 448, CAP = 64 << 10 };
#define LEAF_MAX (UINT64_C(1) << 33)

static bool
bench(void)
{
	return getenv("IDX_BENCH") != NULL;
}

/* Everything that a server has, into a cache; in parts, as answers bring it. */
static void
carry(struct idx_lserver *s, struct idx_lcache *c, unsigned words)
{
	uint64_t next[IDX_LKEY_WORDS] = { 0 };
	bool more = true;
	uint8_t *answer = malloc(CAP);
	assert_non_null(answer);
	while (more) {
		uint32_t len = idx_lserver_copy(s, next, 3, answer, CAP, next, &more);
		assert_true(len > 0);
		assert_int_equal(idx_lcache_put(c, answer, len), NAM_OK);
	}
	(void)words;
	free(answer);
}

static struct model_sum
ask_all(struct idx_lcache *c, const struct model_leaves *l, const uint64_t *keys, uint64_t n, uint64_t seed,
    bool present)
{
	enum { ROUNDS = 4000, BATCH = 8 };
	struct model_sum sum = { 0 };
	struct nam_rng r;
	nam_rng_init(&r, seed);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t k[BATCH][IDX_LKEY_WORDS], flat[BATCH * IDX_LKEY_WORDS];
		struct idx_guess g[BATCH];
		for (unsigned b = 0; b < BATCH; b++) {
			if (present)
				memcpy(k[b], keys + nam_rng_below(&r, n) * l->words, 8 * l->words);
			else
				model_ask(l, keys, n, &r, k[b]);
			memcpy(flat + b * l->words, k[b], 8 * l->words);
		}
		idx_lcache_guess(c, flat, BATCH, g);
		for (unsigned b = 0; b < BATCH; b++)
			model_judge(l, k[b], &g[b], &sum);
	}
	return sum;
}

/* Of lookups of present keys: READs each. */
static double
whole_set(enum model_keys kind, uint64_t seed, uint64_t n, unsigned fill, enum model_fences fences)
{
	struct model_leaves l;
	uint64_t *keys = model_make(kind, seed, &n);
	model_build(&l, keys, n, model_words(kind), fill, fences);
	struct idx_fences source = model_source(&l);
	struct idx_lserver *s = idx_lserver_open(l.words, &source);
	struct idx_lcache *c = idx_lcache_open(l.words, LEAF_MAX);
	assert_non_null(s);
	assert_non_null(c);
	uint64_t from = nam_clock_ns(), steps = 0, most = 0;
	while (true) {
		uint64_t before = l.steps;
		bool did = idx_lserver_step(s);
		most = l.steps - before > most ? l.steps - before : most;
		if (!did)
			break;
		steps++;
	}
	uint64_t train_ns = nam_clock_ns() - from;
	assert_true(most <= 4 * IDX_SUB_LEAVES + 16); /* bounded work */
	struct idx_lserver_shape shape;
	idx_lserver_shape(s, &shape);
	assert_int_equal(shape.stale, 0);
	assert_int_equal(shape.trained, shape.ranges);
	carry(s, c, l.words);
	struct model_sum any = ask_all(c, &l, keys, n, seed + 1, false);
	struct model_sum present = ask_all(c, &l, keys, n, seed + 2, true);
	assert_int_equal(any.missed, 0);
	assert_int_equal(present.missed, 0);
	struct idx_lcache_shape cs;
	idx_lcache_shape(c, &cs);
	double reads = (double)present.leaves / (double)present.lookups, inner = 0;
	for (double level = (double)l.n / FILL; level > 0.5; level = level > 1 ? level / FILL : 0)
		inner += INNER_BYTES * (level < 1 ? 1 : level);
	if (n >= 10000)
		print_message("%-9s %s fences, %llu leaves: %.4f READs a lookup, %llu models (%llu "
			      "wide), %.2f %% of "
			      "inner nodes (at 320 bytes each: %.2f %%), table %.1f %%\n",
		    model_keys_name[kind],
		    fences == SHORT   ? "short"
		    : fences == MIXED ? "mixed"
				      : "whole",
		    (unsigned long long)l.n, reads, (unsigned long long)cs.known,
		    (unsigned long long)shape.wide, 100 * (double)cs.model_bytes / inner,
		    100 * (double)cs.model_bytes / (inner / INNER_BYTES * 320),
		    100 * (double)cs.table_bytes / inner);
	if (kind == KEYS_LINEAR && n >= 100000)
		assert_true((double)cs.model_bytes < 0.02 * inner / INNER_BYTES * 320);
	if (bench() && fences != MIXED) {
		enum { BATCH = 8, TIMES = 1 << 20 };
		struct nam_rng r;
		struct idx_guess g[BATCH];
		uint64_t *ask = malloc(TIMES * 8 * l.words), sum = 0;
		nam_rng_init(&r, seed);
		for (unsigned i = 0; i < TIMES; i++)
			memcpy(ask + i * l.words, keys + nam_rng_below(&r, n) * l.words, 8 * l.words);
		from = nam_clock_ns();
		for (unsigned i = 0; i < TIMES; i += BATCH) {
			idx_lcache_guess(c, ask + i * l.words, BATCH, g);
			sum += g[0].leaf[0];
		}
		uint64_t ns = nam_clock_ns() - from;
		print_message("          %.0f ns a guess (%llu), %.1f us a training (%llu leaves each)\n",
		    (double)ns / TIMES, (unsigned long long)(sum & 1),
		    (double)train_ns / 1000 / (double)steps, (unsigned long long)(l.n / steps));
		free(ask);
	}
	idx_lcache_close(c);
	idx_lserver_close(s);
	free(l.f);
	free(keys);
	return reads;
}

static void
sets_of_keys(void **state)
{
	(void)state;
	uint64_t n = bench() ? 10000000 : 150000;
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++)
		for (enum model_fences fences = WHOLE; fences <= MIXED; fences++) {
			double reads = whole_set(kind, 1 + kind, n, FILL, fences);
			if (kind <= KEYS_UNIFORM)
				assert_true(reads <= 1.01);
		}
}

/* Few keys, one leaf, none; many seeds. */
static void
small_sets(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++)
		for (uint64_t n = 1; n < 3000; n = 3 * n + 1)
			for (unsigned fill = 1; fill < 4; fill++)
				whole_set(kind, n + fill, n, fill, (enum model_fences)((n + fill) % 3));
}

/* ---- leaves that split ----------------------------------------------------------------- */

/* Splits a leaf at a key between its fences; false: no key is there. */
static bool
split(struct model_leaves *l, struct idx_lserver *s, uint64_t i, struct nam_rng *r)
{
	uint64_t key[IDX_LKEY_WORDS], value = 0;
	const struct model_fence *f = &l->f[i], *g = i + 1 < l->n ? &l->f[i + 1] : NULL;
	memcpy(key, f->key, sizeof key);
	unsigned w = l->words - 1;
	uint64_t room = g != NULL ? g->key[w] - f->key[w] : UINT64_MAX - f->key[w];
	if (g != NULL && model_order(f->key, 0, g->key, 0, w) != 0)
		room = UINT64_MAX - f->key[w];
	if (nam_rng_below(r, 50) == 0) /* between equal keys */
		value = f->value + 1;
	else if (room < 2)
		return false;
	else
		key[w] += 1 + nam_rng_below(r, room - 1);
	if (g != NULL && model_order(key, value, g->key, g->value, l->words) >= 0)
		return false;
	model_insert(l, i + 1, key, value);
	idx_lserver_stale(s, key);
	return true;
}

struct growth {
	uint64_t lookups, rights, fallbacks;
};

/* A client's lookup: the guess, its right sibling, then a message that brings the sub-model. */
static void
look_up(struct idx_lcache *c, struct model_leaves *l, struct idx_lserver *s, const uint64_t *key,
    struct growth *sum)
{
	struct idx_guess g;
	uint64_t truth = model_covers(l, key, 0);
	idx_lcache_guess(c, key, 1, &g);
	sum->lookups++;
	if (g.known) {
		/* A stale sub-model names leaves that had the key, and gave it to the right. */
		uint64_t first = 0;
		while (first <= truth && l->f[truth - first].leaf != g.leaf[0])
			first++;
		assert_true(first <= truth);
		for (unsigned i = 0; i < g.n; i++)
			if (g.leaf[i] == l->f[truth].leaf)
				return;
		if (first == 1 || (truth > 0 && g.leaf[g.n - 1] == l->f[truth - 1].leaf)) {
			sum->rights++;
			return;
		}
	}
	sum->fallbacks++;
	uint32_t bytes;
	const void *piece = idx_lserver_fresh(s, key, &bytes);
	assert_non_null(piece);
	assert_int_equal(idx_lcache_put(c, piece, bytes), NAM_OK);
	struct model_sum fresh = { 0 };
	idx_lcache_guess(c, key, 1, &g);
	model_judge(l, key, &g, &fresh);
	assert_int_equal(fresh.missed, 0);
}

/* Inserts everywhere, or behind the last key; training in the background, seldom, or never. */
static void
grow(enum model_keys kind, uint64_t seed, uint64_t n, bool append, unsigned steps)
{
	struct model_leaves l;
	struct nam_rng r;
	struct growth sum = { 0 };
	nam_rng_init(&r, seed);
	uint64_t *keys = model_make(kind, seed, &n);
	model_build(&l, keys, n, model_words(kind), FILL, SHORT);
	struct idx_fences source = model_source(&l);
	struct idx_lserver *s = idx_lserver_open(l.words, &source);
	struct idx_lcache *c = idx_lcache_open(l.words, LEAF_MAX);
	if (seed % 2 == 0) { /* else the cache fills on demand */
		while (idx_lserver_step(s))
			continue;
		carry(s, c, l.words);
	}
	/* 5 % inserts, of which one in 12 or so splits: YCSB D; here for leaves of 8. */
	uint64_t first = l.n;
	for (unsigned i = 0; i < 12000; i++) {
		uint64_t key[IDX_LKEY_WORDS];
		if (nam_rng_below(&r, 160) == 0)
			split(&l, s, append ? l.n - 1 : nam_rng_below(&r, l.n), &r);
		for (unsigned k = 0; k < steps; k++)
			idx_lserver_step(s);
		model_ask(&l, keys, n, &r, key);
		if (append && nam_rng_below(&r, 2) == 0)
			memcpy(key, l.f[l.n - 1 - nam_rng_below(&r, l.n < 20 ? l.n : 20)].key, 8 * l.words);
		look_up(c, &l, s, key, &sum);
	}
	assert_true(l.n > first || n < 3);
	while (idx_lserver_step(s))
		continue;
	carry(s, c, l.words);
	assert_int_equal(ask_all(c, &l, keys, n, seed, false).missed, 0);
	struct idx_lserver_shape shape;
	idx_lserver_shape(s, &shape);
	if (n > 10000)
		print_message("%s, %s, %u trainings between: %llu leaves became %llu; of lookups "
			      "%.2f %% went right, "
			      "%.2f %% fell back; %llu trainings, %llu cuts\n",
		    model_keys_name[kind], append ? "behind the last" : "anywhere", steps,
		    (unsigned long long)first, (unsigned long long)l.n,
		    100.0 * (double)sum.rights / (double)sum.lookups,
		    100.0 * (double)sum.fallbacks / (double)sum.lookups, (unsigned long long)shape.trainings,
		    (unsigned long long)shape.cuts);
	if (n > 10000 && seed % 2 == 0)
		assert_true(sum.fallbacks * 10 < sum.lookups);
	idx_lcache_close(c);
	idx_lserver_close(s);
	free(l.f);
	free(keys);
}

static void
growing(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++) {
		grow(kind, 2, 40000, false, 1);
		grow(kind, 4, 40000, true, 1);
		grow(kind, 6, 40000, false, 0);
		for (uint64_t seed = 1; seed < 7; seed++)
			grow(kind, seed, 1 + 300 * seed, seed % 3 == 0, seed % 2);
	}
}

/* ---- pieces off a wire ----------------------------------------------------------------- */

/* Bytes that were changed: refused, or a sub-model whose guesses stay inside its table. */
static void
bad_pieces(void **state)
{
	(void)state;
	struct nam_rng r;
	uint64_t n = 3000, refused = 0, taken = 0;
	nam_rng_init(&r, 1);
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++) {
		struct model_leaves l;
		uint64_t *keys = model_make(kind, 3, &n);
		unsigned w = model_words(kind);
		model_build(&l, keys, n, w, FILL, (enum model_fences)(kind % 3));
		struct idx_fences source = model_source(&l);
		struct idx_sub *s = malloc(sizeof *s), *back = malloc(sizeof *back);
		uint64_t base[IDX_LKEY_WORDS] = { 0 };
		uint8_t piece[IDX_PIECE_MAX], *exact;
		assert_int_equal(idx_sub_train(s, w, &source, base, NULL), NAM_OK);
		uint32_t len = idx_sub_encode(s, piece), used = 0;
		assert_int_equal(idx_sub_decode(back, w, LEAF_MAX, piece, len, &used), NAM_OK);
		assert_int_equal(used, len);
		assert_memory_equal(&back->head, &s->head, sizeof s->head);
		assert_int_equal(idx_sub_decode(back, w % 8 + 1, LEAF_MAX, piece, len, &used), NAM_CORRUPT);
		assert_int_equal(idx_sub_decode(back, w, 1, piece, len, &used), NAM_CORRUPT);
		for (uint32_t cut = 0; cut < len; cut += 1 + cut / 8) {
			exact = malloc(cut + 1);
			memcpy(exact, piece, cut);
			assert_int_equal(idx_sub_decode(back, w, LEAF_MAX, exact, cut, &used), NAM_CORRUPT);
			free(exact);
		}
		exact = malloc(len);
		for (unsigned i = 0; i < 3000; i++) {
			memcpy(exact, piece, len);
			for (uint64_t flips = 1 + nam_rng_below(&r, 3); flips > 0; flips--)
				exact[nam_rng_below(&r, nam_rng_below(&r, 2) == 0 ? 40 : len)] ^=
				    (uint8_t)(1u << nam_rng_below(&r, 8));
			if (idx_sub_decode(back, w, LEAF_MAX, exact, len, &used) != NAM_OK) {
				refused++;
				continue;
			}
			taken++;
			struct idx_lcache *c = idx_lcache_open(w, LEAF_MAX);
			assert_int_equal(idx_lcache_put(c, exact, used), NAM_OK);
			for (unsigned k = 0; k < 8; k++) {
				uint64_t key[IDX_LKEY_WORDS], run[20];
				struct idx_guess g;
				model_ask(&l, keys, n, &r, key);
				idx_lcache_guess(c, key, 1, &g);
				for (unsigned m = 0; g.known && m < g.n; m++)
					assert_true(g.leaf[m] > 0 && g.leaf[m] < LEAF_MAX);
				idx_lcache_run(c, key, nam_rng_next(&r), k % 2, run, 20);
			}
			idx_lcache_close(c);
		}
		free(exact);
		free(s);
		free(back);
		free(l.f);
		free(keys);
	}
	assert_true(refused > 1000 && taken > 500);
}

/* ---- threads --------------------------------------------------------------------------- */

struct shared {
	struct idx_lcache *c;
	const struct model_leaves *l;
	const uint64_t *keys;
	uint64_t n;
	atomic_bool stop;
	atomic_uint_fast64_t guesses, wrong;
};

static void *
guesser(void *arg)
{
	struct shared *sh = arg;
	struct nam_rng r;
	nam_rng_init(&r, (uint64_t)(uintptr_t)&r);
	while (!atomic_load(&sh->stop)) {
		uint64_t keys[8];
		struct idx_guess g[8];
		struct model_sum sum = { 0 };
		for (unsigned i = 0; i < 8; i++)
			keys[i] = sh->keys[nam_rng_below(&r, sh->n)];
		idx_lcache_guess(sh->c, keys, 8, g);
		for (unsigned i = 0; i < 8; i++)
			if (g[i].known)
				model_judge(sh->l, &keys[i], &g[i], &sum);
		atomic_fetch_add(&sh->guesses, sum.lookups);
		atomic_fetch_add(&sh->wrong, sum.missed);
	}
	return NULL;
}

/* Workers guess while the cache's ranges come, go, and are cut in other ways. */
static void
threads(void **state)
{
	(void)state;
	enum { THREADS = 3, ROUNDS = 1000 };
	uint64_t n = 30000;
	uint64_t *keys = model_make(KEYS_NOISED, 9, &n);
	struct model_leaves l, same;
	model_build(&l, keys, n, 1, FILL, SHORT);
	same = l;
	struct idx_fences source = model_source(&same);
	struct shared sh = { .c = idx_lcache_open(1, LEAF_MAX), .l = &l, .keys = keys, .n = n };
	pthread_t thread[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, guesser, &sh), 0);
	struct nam_rng r;
	struct idx_sub *s = malloc(sizeof *s);
	uint8_t piece[IDX_PIECE_MAX];
	nam_rng_init(&r, 5);
	for (unsigned i = 0; i < ROUNDS || atomic_load(&sh.guesses) < ROUNDS; i++) {
		uint64_t base = keys[nam_rng_below(&r, n)] + nam_rng_below(&r, 2000),
			 end = base + 1 + nam_rng_below(&r, 2000000);
		assert_int_equal(
		    idx_sub_train(s, 1, &source, &base, nam_rng_below(&r, 9) == 0 ? NULL : &end), NAM_OK);
		assert_int_equal(idx_lcache_put(sh.c, piece, idx_sub_encode(s, piece)), NAM_OK);
		if (nam_rng_below(&r, 10) == 0)
			idx_lcache_drop(sh.c, &base);
		if (nam_rng_below(&r, 500) == 0)
			idx_lcache_clear(sh.c);
	}
	atomic_store(&sh.stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(atomic_load(&sh.wrong), 0);
	struct idx_lserver *all = idx_lserver_open(1, &source);
	while (idx_lserver_step(all))
		continue;
	carry(all, sh.c, 1);
	idx_lserver_close(all);
	assert_int_equal(ask_all(sh.c, &l, keys, n, 1, true).missed, 0);
	idx_lcache_close(sh.c);
	free(s);
	free(l.f);
	free(keys);
}

/* Leaves in a row, for scans: those that the key's and the following ranges have. */
static void
rows(void **state)
{
	(void)state;
	enum { MOST = 400 };
	for (unsigned kind = 0; kind < KEYS_KINDS; kind++) {
		struct model_leaves l;
		struct nam_rng r;
		uint64_t n = 20000, leaf[MOST], key[IDX_LKEY_WORDS];
		uint64_t *keys = model_make(kind, 5, &n);
		model_build(&l, keys, n, model_words(kind), FILL, SHORT);
		struct idx_fences source = model_source(&l);
		struct idx_lserver *s = idx_lserver_open(l.words, &source);
		struct idx_lcache *c = idx_lcache_open(l.words, LEAF_MAX);
		while (idx_lserver_step(s))
			continue;
		nam_rng_init(&r, 3);
		assert_int_equal(idx_lcache_run(c, keys, 0, false, leaf, MOST), 0);
		carry(s, c, l.words);
		for (unsigned i = 0; i < 2000; i++) {
			model_ask(&l, keys, n, &r, key);
			unsigned want = 1 + (unsigned)nam_rng_below(&r, MOST);
			bool down = nam_rng_below(&r, 2) == 0;
			uint64_t value = nam_rng_below(&r, 2) == 0 ? 0 : UINT64_MAX;
			unsigned got = idx_lcache_run(c, key, value, down, leaf, want);
			uint64_t at = model_covers(&l, key, value), from = at;
			assert_true(got >= 1 && got <= want);
			/* It begins at the key's leaf, or, if the key's step has a fence, in
			 * front. */
			from = at < IDX_GUESS_MAX ? 0 : at - IDX_GUESS_MAX;
			while (from < l.n && l.f[from].leaf != leaf[0])
				from++;
			assert_true(from < at + IDX_GUESS_MAX || kind == KEYS_EQUAL);
			for (unsigned k = 0; k < got; k++)
				assert_int_equal(leaf[k], l.f[down ? from - k : from + k].leaf);
			/* Only equal keys and the end make it shorter. */
			if (kind != KEYS_EQUAL)
				assert_true(got == want || (down ? from + 1 == got : from + got == l.n));
		}
		idx_lcache_close(c);
		idx_lserver_close(s);
		free(l.f);
		free(keys);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_of_keys),
		cmocka_unit_test(small_sets),
		cmocka_unit_test(growing),
		cmocka_unit_test(bad_pieces),
		cmocka_unit_test(threads),
		cmocka_unit_test(rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
