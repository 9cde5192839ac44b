/*
 * btree_twin_test.c -- a service that crashes between any two of its stores; and proof that the
 * tests detect errors: the tree built again, broken in one place, must be caught.
 *
 * CMake builds the room's sources once more into this test, with their fault points (base/fault.h)
 * in every build.
 */
#include <index/btree/btree_model.h>
#include <index/btree/part.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- a partition in plain memory ------------------------------------------------------- */

enum { EXTENTS = 24, KEYS_MAX = 4000, TREE = 77 };

struct bench {
	char *base, *copy;
	unsigned words, keys; /* keys 0 .. keys - 1, one entry each */
	_Atomic uint32_t owner[EXTENTS];
	struct part p;
	bool open;
	uint8_t in[KEYS_MAX];
	uint64_t used; /* bytes of the region that may be in use */
	char broken[200];
};

static struct idx_change scratch;
static jmp_buf crash;
static uint64_t stores, budget; /* so many more stores; UINT64_MAX = no crash */

static void
on_store(void)
{
	if (budget == 0)
		longjmp(crash, 1);
	if (budget != UINT64_MAX)
		budget--;
	stores++;
}

static void
bench_key(const struct bench *b, unsigned number, uint64_t *key)
{
	memset(key, 0, 8 * (size_t)b->words);
	key[0] = number / 50;
	key[b->words - 1] = b->words == 1 ? number : number % 50;
}

static nam_status
reopen(struct bench *b)
{
	if (b->open)
		idx_part_close(&b->p);
	b->open = true;
	memset((void *)b->owner, 0, sizeof b->owner);
	b->p = (struct part){ .pub = { .base = b->base,
				  .size = (uint64_t)EXTENTS * IDX_TREE_EXTENT,
				  .region = 1,
				  .at = IDX_TREE_EXTENT,
				  .tree = TREE },
		.owner = b->owner,
		.mark = 5,
		.change = &scratch };
	return idx_part_open(&b->p);
}

enum what { INSERT, REMOVE, GROW, FILL, SOME, WHATS };
struct step {
	enum what what;
	unsigned key, n;
};

/* Of the step's keys those that are new, that one leaf holds, and that it has room for. */
static nam_status
insert_some(struct bench *b, const struct step *s)
{
	uint64_t words[IDX_NODE_SLOTS][IDX_KEY_WORDS], value[IDX_NODE_SLOTS];
	const uint64_t *key[IDX_NODE_SLOTS];
	struct idx_an_change c = { 0 };
	struct idx_path path;
	unsigned n = 0;
	bench_key(b, s->key, words[0]);
	const struct idx_node *leaf = idx_part_find(&b->p, words[0], s->key + 1, &path);
	assert_non_null(leaf);
	for (unsigned k = s->key; k < s->key + s->n && n + idx_meta_count(leaf->meta) < IDX_NODE_SLOTS; k++) {
		bench_key(b, k, words[n]);
		if (b->in[k] || idx_beyond(leaf, words[n], k + 1, b->words))
			continue;
		key[n] = words[n];
		value[n++] = k + 1;
	}
	if (n > 0)
		idx_part_insert_some(&b->p, leaf, key, value, n, &c);
	return n > 0 ? NAM_OK : NAM_ABSENT;
}

/* How many keys, from its first one, a step may enter. */
static unsigned
span_of(const struct step *s)
{
	return s->what == FILL || s->what == SOME ? s->n : 1;
}

static nam_status
do_step(struct bench *b, const struct step *s)
{
	uint64_t key[IDX_KEY_WORDS], run[40 * (IDX_KEY_WORDS + 1)];
	struct idx_an_change c = { 0 };
	unsigned done = 0;
	bench_key(b, s->key, key);
	switch (s->what) {
	case INSERT:
		return idx_part_insert(&b->p, key, s->key + 1, NULL, &c);
	case SOME:
		return insert_some(b, s);
	case REMOVE:
		return idx_part_remove(&b->p, key, s->key + 1, NULL, &c);
	case GROW: {
		uint64_t at = (b->p.extents + 1) * (uint64_t)IDX_TREE_EXTENT;
		return idx_part_grow(&b->p, b->p.extents, &at, 1, &done);
	}
	default:
		for (unsigned i = 0; i < s->n; i++) {
			bench_key(b, s->key + i, run + i * (size_t)(b->words + 1));
			run[i * (size_t)(b->words + 1) + b->words] = s->key + i + 1;
		}
		return idx_part_fill(&b->p, run, s->n, 100, &done);
	}
}

/* The nodes are a tree, of the entries before the step, or after it; of a fill any part. */
static void
check(struct bench *b, const struct step *s, const char *when)
{
	uint64_t low[IDX_KEY_WORDS + 1] = { 0 }, high[IDX_KEY_WORDS + 1];
	struct tree_walk w = { .base = { [1] = b->base },
		.size = (uint64_t)EXTENTS * IDX_TREE_EXTENT,
		.words = b->words,
		.tree = TREE };
	memset(high, 0xff, sizeof high);
	tree_walk_part(&w, UINT64_C(1) << 48 | IDX_TREE_EXTENT, low, high);
	size_t at = 0;
	for (unsigned k = 0; k < b->keys && w.broken[0] == 0; k++) {
		uint64_t key[IDX_KEY_WORDS];
		bench_key(b, k, key);
		const uint64_t *e = w.place + at * (b->words + 1);
		bool is = at < w.entries && e[b->words] == k + 1 && memcmp(e, key, 8 * (size_t)b->words) == 0;
		bool maybe = s != NULL && s->what != GROW && k >= s->key && k < s->key + span_of(s);
		at += is;
		if (is != b->in[k] && !maybe)
			snprintf(w.broken, sizeof w.broken, "entry %u is %s", k, is ? "in" : "lost");
		if (maybe)
			b->in[k] = is;
	}
	if (w.broken[0] == 0 && at != w.entries)
		snprintf(w.broken, sizeof w.broken, "there are entries no client inserted");
	const struct idx_part_head *h = idx_head_of_part(&b->p);
	if (w.broken[0] == 0 && (h->leaves != w.leaves || h->inners != w.inners))
		snprintf(w.broken, sizeof w.broken, "the head counts %" PRIu64 " leaves of %" PRIu64,
		    h->leaves, w.leaves);
	if (w.broken[0] != 0 && b->broken[0] == 0)
		snprintf(b->broken, sizeof b->broken, "%s: %s", when, w.broken);
	tree_walk_free(&w);
}

static void
bench_open(struct bench *b, unsigned words, unsigned keys)
{
	uint64_t low[IDX_KEY_WORDS + 1] = { 0 }, high[IDX_KEY_WORDS + 1];
	uint64_t size = (uint64_t)EXTENTS * IDX_TREE_EXTENT;
	*b = (struct bench){ .words = words, .keys = keys };
	b->base = aligned_alloc(4096, size);
	b->copy = aligned_alloc(4096, size);
	assert_non_null(b->base);
	assert_non_null(b->copy);
	memset(b->base, 0xaa, size); /* extents need not be zeroed */
	memset(high, 0xff, sizeof high);
	assert_int_equal(
	    idx_part_make(b->base, IDX_TREE_EXTENT, TREE, words, 0, low, high, 1, IDX_PART_LIVE), NAM_OK);
	assert_int_equal(reopen(b), NAM_OK);
}

static void
bench_close(struct bench *b)
{
	idx_part_close(&b->p);
	free(b->base);
	free(b->copy);
}

/* A step, cut at each store; then the step as a whole. Returns the stores it takes. */
static uint64_t
cut_everywhere(struct bench *b, const struct step *s, struct nam_rng *rng)
{
	uint8_t in[KEYS_MAX];
	uint64_t bytes = (b->p.extents + 2) * (uint64_t)IDX_TREE_EXTENT;
	memcpy(b->copy, b->base, bytes);
	memcpy(in, b->in, sizeof in);
	stores = 0;
	budget = UINT64_MAX;
	nam_status st = do_step(b, s);
	uint64_t n = stores;
	check(b, st == NAM_OK || s->what == FILL ? s : NULL, "whole");
	for (uint64_t k = 0; k < n && b->broken[0] == 0 && st == NAM_OK; k++) {
		memcpy(b->base, b->copy, bytes);
		memcpy(b->in, in, sizeof in);
		assert_int_equal(reopen(b), NAM_OK);
		budget = k;
		if (setjmp(crash) == 0) {
			(void)do_step(b, s);
			fail_msg("store %" PRIu64 " of %" PRIu64 " did not come", k, n);
		}
		/* The repair crashes as well, now and then. */
		if (nam_rng_below(rng, 3) == 0) {
			budget = nam_rng_below(rng, 60);
			if (setjmp(crash) == 0)
				(void)reopen(b);
		}
		budget = UINT64_MAX;
		if (reopen(b) != NAM_OK)
			snprintf(b->broken, sizeof b->broken, "store %" PRIu64 ": it cannot be opened", k);
		else
			check(b, s, "cut");
		/* The client repeats it. */
		if (b->broken[0] == 0 && (s->what == INSERT || s->what == FILL)) {
			st = do_step(b, s);
			check(b, s, "repeated");
			for (unsigned i = 0; i < span_of(s); i++)
				if (st == NAM_OK && !b->in[s->key + i])
					snprintf(b->broken, sizeof b->broken,
					    "the repetition of an insert is lost");
			st = NAM_OK;
		}
	}
	if (b->broken[0] == 0) {
		memcpy(b->base, b->copy, bytes);
		memcpy(b->in, in, sizeof in);
		assert_int_equal(reopen(b), NAM_OK);
		st = do_step(b, s);
		check(b, st == NAM_OK || s->what == FILL ? s : NULL, "whole");
		if (st == NAM_FULL) {
			const struct step grow = { .what = GROW };
			assert_int_equal(do_step(b, &grow), NAM_OK);
		}
	}
	return n;
}

/* Full leaves of runs of 20 keys, of which one begins at each `every` keys below `end`. */
static void
fill_runs(struct bench *b, unsigned end, unsigned every)
{
	for (unsigned k = 0; k < end; k += every) {
		struct step s = { .what = FILL, .key = k, .n = 20 };
		while (do_step(b, &s) == NAM_FULL) {
			const struct step grow = { .what = GROW };
			assert_int_equal(do_step(b, &grow), NAM_OK);
		}
		memset(b->in + k, 1, 20);
	}
}

static void
cuts(unsigned words, uint64_t seed, unsigned steps, char broken[200], uint64_t *most)
{
	static struct bench b;
	struct nam_rng rng;
	unsigned keys = words == 1 ? KEYS_MAX : 1200;
	nam_rng_init(&rng, seed);
	bench_open(&b, words, keys);
	idx_store_hook = on_store;
	budget = UINT64_MAX;
	*most = 0;
	/* Full leaves of every other run of 20 keys, so that inserts split them. */
	fill_runs(&b, keys / 2, 40);
	check(&b, NULL, "at first");
	for (unsigned i = 0; i < steps && b.broken[0] == 0; i++) {
		struct step s = { .what = (enum what)(
				      nam_rng_below(&rng, 10) < 7 ? INSERT : nam_rng_below(&rng, WHATS)),
			.key = (unsigned)nam_rng_below(&rng, keys - 40),
			.n = 1 + (unsigned)nam_rng_below(&rng, 40) };
		if (s.what == GROW && b.p.extents + 4 > EXTENTS)
			continue;
		if (b.p.extents + 4 > EXTENTS)
			break;
		uint64_t n = cut_everywhere(&b, &s, &rng);
		*most = n > *most ? n : *most;
	}
	idx_store_hook = NULL;
	memcpy(broken, b.broken, sizeof b.broken);
	bench_close(&b);
}

/* Empties ranges and fills them again, each step cut at each store. Returns the steps that joined
 * leaves and those that used a spare node again. */
static void
cut_joins(unsigned words, uint64_t seed, unsigned steps, char broken[200], unsigned *joins, unsigned *again)
{
	static struct bench b;
	struct nam_rng rng;
	unsigned keys = 600, at = 0;
	bool drains = true, falls = false;
	nam_rng_init(&rng, seed);
	bench_open(&b, words, keys);
	idx_store_hook = on_store;
	budget = UINT64_MAX;
	*joins = *again = 0;
	fill_runs(&b, keys, 20);
	check(&b, NULL, "at first");
	for (unsigned i = 0; i < steps && b.broken[0] == 0; i++) {
		const struct idx_part_head *h = idx_head_of_part(&b.p);
		if (i % 80 == 0) {
			drains = i % 160 == 0;
			falls = nam_rng_below(&rng, 2) == 0;
			at = drains ? 100 + (unsigned)nam_rng_below(&rng, keys - 200) : at;
		}
		unsigned key = at + (falls ? 79 - i % 80 : i % 80);
		struct step s = { .what = drains ? REMOVE : INSERT, .key = key, .n = 1 };
		uint64_t leaves = h->leaves, spare = h->spare[0];
		/* What changes no fence is cut now and then only. */
		bool plain = nam_rng_below(&rng, 8) != 0;
		if (plain) {
			memcpy(b.copy, b.base, (b.p.extents + 2) * (uint64_t)IDX_TREE_EXTENT);
			plain = do_step(&b, &s) != NAM_FULL && h->leaves == leaves;
			b.in[key] = plain ? s.what == INSERT : b.in[key];
			if (!plain)
				memcpy(b.base, b.copy, (b.p.extents + 2) * (uint64_t)IDX_TREE_EXTENT);
		}
		if (!plain) {
			assert_int_equal(reopen(&b), NAM_OK);
			(void)cut_everywhere(&b, &s, &rng);
		}
		h = idx_head_of_part(&b.p);
		*joins += h->leaves < leaves;
		*again += h->leaves > leaves && h->spare[0] != spare;
	}
	idx_store_hook = NULL;
	memcpy(broken, b.broken, sizeof b.broken);
	bench_close(&b);
}

static void
a_join_cut_at_every_store(void **state)
{
	(void)state;
	for (unsigned words = 1; words <= 8; words += words == 1 ? 2 : 5)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			char broken[200];
			unsigned joins, again;
			cut_joins(words, seed, 640, broken, &joins, &again);
			printf("%u words, seed %" PRIu64 ": %u joins, %u spare leaves used again\n", words,
			    seed, joins, again);
			assert_string_equal(broken, "");
			assert_true(joins > 10 && again > 2);
		}
}

static void
a_crash_at_every_store(void **state)
{
	(void)state;
	char broken[200];
	uint64_t most;
	for (unsigned words = 1; words <= 8; words += words == 1 ? 2 : 5)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			nam_fault_on = NAM_FAULT_NONE;
			cuts(words, seed, words == 1 ? 60 : 25, broken, &most);
			printf("%u words, seed %" PRIu64 ": up to %" PRIu64 " stores a step\n", words, seed,
			    most);
			assert_string_equal(broken, "");
			assert_true(most > 100); /* a split was among them */
		}
}

/* A queue of so many entries in front of 64 others, that moves on: its leaves leave the tree. */
static void
a_queue_leaves_nothing(void **state)
{
	(void)state;
	enum { OTHERS = 64, STEPS = 8000, LONG = 300, FAR = 1 << 20, SLACK = 4 };
	static struct bench b;
	for (unsigned length = 1; length <= LONG; length += length < 20 ? 1 : 70) {
		bench_open(&b, 1, 0);
		for (unsigned i = 0; i < STEPS + length + OTHERS; i++) {
			uint64_t key = i < OTHERS ? FAR + i : i - OTHERS, first = key - length;
			struct idx_an_change c = { 0 };
			assert_int_equal(idx_part_insert(&b.p, &key, key + 1, NULL, &c), NAM_OK);
			if (i >= OTHERS + length)
				assert_int_equal(idx_part_remove(&b.p, &first, first + 1, NULL, &c), NAM_OK);
		}
		const struct idx_part_head *h = idx_head_of_part(&b.p);
		if (h->leaves > (OTHERS + length) / (IDX_NODE_SLOTS / 2) + SLACK)
			fail_msg("a queue of %u: %" PRIu64 " leaves", length, h->leaves);
		bench_close(&b);
	}
}

/* ---- a move, cut at each store --------------------------------------------------------- */

/* What must hold when the service has opened the partition again: all entries below its end, whole
 * nodes, and none of those that were cut off. end: number of the first key that is not its own. */
static void
check_half(struct bench *b, unsigned end, const char *when)
{
	uint64_t low[IDX_KEY_WORDS + 1] = { 0 }, high[IDX_KEY_WORDS + 1];
	const struct idx_part_head *h = idx_head_of_part(&b->p);
	struct tree_walk w = { .base = { [1] = b->base },
		.size = (uint64_t)EXTENTS * IDX_TREE_EXTENT,
		.words = b->words,
		.tree = TREE };
	memcpy(high, h->high, sizeof high);
	tree_walk_part(&w, UINT64_C(1) << 48 | IDX_TREE_EXTENT, low, high);
	uint64_t want = 0;
	for (unsigned k = 0; k < end; k++)
		want += b->in[k];
	if (w.broken[0] == 0 && w.entries != want)
		snprintf(w.broken, sizeof w.broken, "%" PRIu64 " entries, not %" PRIu64, w.entries, want);
	if (w.broken[0] == 0 && h->state == IDX_PART_LIVE &&
	    (h->leaves != w.leaves || h->inners != w.inners || h->entries != want))
		snprintf(w.broken, sizeof w.broken,
		    "the head counts %" PRIu64 " leaves of %" PRIu64 ", %" PRIu64 " entries of %" PRIu64,
		    h->leaves, w.leaves, h->entries, want);
	if (w.broken[0] != 0 && b->broken[0] == 0)
		snprintf(b->broken, sizeof b->broken, "%s: %s", when, w.broken);
	tree_walk_free(&w);
}

/* Leaves of before the move that still prove something behind the fence m. */
static unsigned
believed(const struct bench *b, const uint64_t *leaf, unsigned n, const uint64_t *m)
{
	unsigned found = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct idx_node *node = (const void *)(b->base + leaf[i]);
		found += idx_node_sound(node, TREE, b->words, true) &&
			 idx_place_order(idx_at(node, IDX_NODE_LOW), 0, m, m[b->words], b->words) >= 0;
	}
	return found;
}

/* m is known. */
static nam_status
give_half(struct bench *b, const uint64_t *m)
{
	const struct idx_part_head *h = idx_head_of_part(&b->p);
	uint64_t again[IDX_KEY_WORDS + 1];
	bool found;
	nam_status st = NAM_OK;
	if (memcmp(h->high, m, 8 * (size_t)(b->words + 1)) != 0)
		st = idx_part_seal(&b->p, again, &found);
	if (st != NAM_OK)
		return st;
	do
		st = idx_part_cut(&b->p, m, 3);
	while (st == NAM_BUSY);
	return st;
}

/* A partition of full leaves, that is to be cut. */
struct halves {
	struct bench b;
	uint64_t m[IDX_KEY_WORDS + 1]; /* where */
	unsigned keys, end;            /* number of the first key behind it */
	uint64_t leaf[KEYS_MAX];       /* offsets, at first */
	unsigned leaves;
	uint64_t bytes;
};

static void
halves_open(struct halves *h, unsigned words)
{
	struct bench *b = &h->b;
	bool found;
	h->keys = words == 1 ? KEYS_MAX : 1200;
	h->leaves = h->end = 0;
	bench_open(b, words, h->keys);
	fill_runs(b, h->keys, 20);
	for (uint64_t at = idx_part_leaf(&b->p.pub, NULL, 0); at != 0; at = idx_part_right(&b->p.pub, at))
		h->leaf[h->leaves++] = at;
	h->bytes = (b->p.extents + 2) * (uint64_t)IDX_TREE_EXTENT;
	memcpy(b->copy, b->base, h->bytes);
	assert_int_equal(idx_part_seal(&b->p, h->m, &found), NAM_OK);
	assert_true(found);
	for (uint64_t key[IDX_KEY_WORDS];; h->end++) {
		bench_key(b, h->end, key);
		if (idx_place_order(key, 1, h->m, h->m[words], words) >= 0)
			break;
	}
	assert_true(h->end > h->keys / 3 && h->end < 2 * h->keys / 3);
}

static void
halves_again(struct halves *h)
{
	memcpy(h->b.base, h->b.copy, h->bytes);
	assert_int_equal(reopen(&h->b), NAM_OK);
}

static void
judge_finished(struct halves *h, const char *when)
{
	struct bench *b = &h->b;
	assert_int_equal(give_half(b, h->m), NAM_OK);
	check_half(b, h->end, when);
	unsigned left = believed(b, h->leaf, h->leaves, h->m);
	if (left > 0 && b->broken[0] == 0)
		snprintf(
		    b->broken, sizeof b->broken, "%s: %u leaves that were given up are believed", when, left);
}

/* Cut at store k; then the service opens it, and the next client finishes the move. */
static void
cut_move(struct halves *h, uint64_t k)
{
	struct bench *b = &h->b;
	halves_again(h);
	budget = k;
	if (setjmp(crash) == 0) {
		(void)give_half(b, h->m);
		fail_msg("store %" PRIu64 " did not come", k);
	}
	if (k % 3 == 0) { /* and the repair */
		budget = k % 50;
		if (setjmp(crash) == 0)
			(void)reopen(b);
	}
	budget = UINT64_MAX;
	if (reopen(b) != NAM_OK) {
		snprintf(b->broken, sizeof b->broken, "store %" PRIu64 ": it cannot be opened", k);
		return;
	}
	const struct idx_part_head *head = idx_head_of_part(&b->p);
	bool fallen = memcmp(head->high, h->m, 8 * (size_t)(b->words + 1)) == 0;
	check_half(b, fallen ? h->end : h->keys, "cut");
	judge_finished(h, "finished");
}

static void
cut_moves(unsigned words, uint64_t *made, char broken[200])
{
	static struct halves h;
	halves_open(&h, words);
	halves_again(&h);
	idx_store_hook = on_store;
	budget = UINT64_MAX;
	stores = 0;
	judge_finished(&h, "whole");
	*made = stores;
	for (uint64_t k = 0; k < *made && h.b.broken[0] == 0; k++)
		cut_move(&h, k);
	idx_store_hook = NULL;
	memcpy(broken, h.b.broken, sizeof h.b.broken);
	bench_close(&h.b);
}

static void
a_move_cut_at_every_store(void **state)
{
	(void)state;
	for (unsigned words = 1; words <= 8; words += words == 1 ? 2 : 5) {
		char broken[200];
		uint64_t n;
		cut_moves(words, &n, broken);
		printf("%u words: %" PRIu64 " stores\n", words, n);
		assert_string_equal(broken, "");
	}
}

static void
crash_twins_are_caught(void **state)
{
	(void)state;
	static const enum nam_fault want[] = { NAM_FAULT_TREE_NO_LOG, NAM_FAULT_TREE_LINK_EARLY };
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		char broken[200] = "";
		uint64_t seed = 0, most;
		nam_fault_on = want[i];
		while (broken[0] == 0 && ++seed <= 10)
			cuts(1, seed, 100, broken, &most);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[want[i]], seed, broken);
		assert_true(broken[0] != 0);
	}
	char broken[200] = "";
	unsigned joins, again;
	uint64_t seed = 0;
	nam_fault_on = NAM_FAULT_TREE_SPARE_UNLOGGED;
	while (broken[0] == 0 && ++seed <= 10)
		cut_joins(1, seed, 640, broken, &joins, &again);
	nam_fault_on = NAM_FAULT_NONE;
	printf(
	    "fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[NAM_FAULT_TREE_SPARE_UNLOGGED], seed, broken);
	assert_true(broken[0] != 0);
}

/* ---- twins in a cluster ---------------------------------------------------------------- */

enum { SOUND_SEEDS = 3, SEEDS = 60 };

/* The seed in which a violation was noticed, 0 = none. */
static uint64_t
caught(enum nam_fault broken, enum model_kind kind, unsigned seeds, char words[240])
{
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		nam_fault_on = NAM_FAULT_NONE;
		model_start(&m, &cfg);
		nam_fault_on = broken;
		model_run(&m);
		memcpy(words, m.broken, sizeof m.broken);
		nam_fault_on = NAM_FAULT_NONE;
		model_end(&m);
		if (words[0] != 0)
			return seed;
	}
	return 0;
}

static void
the_sound_one_is_not_caught(void **state)
{
	(void)state;
	char words[240];
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
		assert_int_equal(caught(NAM_FAULT_NONE, kind, SOUND_SEEDS, words), 0);
		assert_string_equal(words, "");
	}
}

static void
twins_are_caught(void **state)
{
	(void)state;
	static const struct {
		enum nam_fault twin;
		enum model_kind kind;
	} want[] = {
		{ NAM_FAULT_TREE_UNCHECKED, MODEL_GROW },
		{ NAM_FAULT_TREE_NO_FENCE, MODEL_GROW },
		{ NAM_FAULT_TREE_MOVED_BELIEVED, MODEL_MOVES },
		{ NAM_FAULT_TREE_SEAL_FORGOTTEN, MODEL_MOVES },
		{ NAM_FAULT_TREE_BEGUN_TWICE, MODEL_RACE },
		{ NAM_FAULT_TREE_JOIN_FENCE, MODEL_DRAIN },
		{ NAM_FAULT_TREE_JOIN_MOVING, MODEL_DRAIN },
	};
	for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
		char words[240];
		uint64_t seed = caught(want[i].twin, want[i].kind, SEEDS, words);
		printf("fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[want[i].twin], seed, words);
		assert_true(seed != 0);
	}
}

static void
a_late_request_is_caught(void **state)
{
	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		struct model m;
		struct model_config cfg = model_world(MODEL_GROW, 1);
		model_start(&m, &cfg);
		nam_fault_on = broken ? NAM_FAULT_TREE_NO_TURN : NAM_FAULT_NONE;
		nam_status st = late_request(&m);
		nam_fault_on = NAM_FAULT_NONE;
		if (broken)
			printf("fault %s: scene: a late request says %s\n",
			    nam_fault_name[NAM_FAULT_TREE_NO_TURN], nam_status_name(st));
		assert_int_equal(st, broken ? NAM_OK : NAM_CANCELLED);
		assert_string_equal(m.broken, "");
		model_end(&m);
	}
}

/* ---- a leaf that was seen is asked what has come since -------------------------------------- */

enum { LIFE_KEYS = 400, LIFE_KEY = 200, LIFE_ROUND = 20, LIFE_VALUE = 1000 };
enum life {
	LIFE_ENDED,      /* it leaves the tree, and the entry comes */
	LIFE_AGAIN,      /* it leaves, is used again, and the entry comes */
	LIFE_SPLIT,      /* the entry splits it, into the memory of its old right neighbour */
	LIFE_SPLIT_JOIN, /* others split it, the upper half leaves, and the entry comes there */
	LIVES
};

static nam_status
life_change(struct model *m, uint64_t key, uint64_t value, bool insert)
{
	struct idx_tree_entry e = { .tree = m->t[0], .key = &key, .value = value };
	return insert ? idx_tree_insert(m->w[0][0], &e, 1, NULL) : idx_tree_remove(m->w[0][0], &e, 1, NULL);
}

/* The fences of the leaf of a key. */
static void
life_fences(struct model *m, uint64_t key, uint64_t *low, uint64_t *high)
{
	struct idx_leaves leaves = { 0 };
	struct idx_tree_probe p = { .tree = m->t[0], .key = &key, .leaves = &leaves };
	if (idx_tree_lookup(m->w[0][0], &p, 1, NULL) != NAM_OK || leaves.n != 1)
		violated(m, "no leaf has the key");
	else {
		const struct idx_node *n = walk_node(
		    &(struct tree_walk){
			.base = { [1] = net_sim_memory(m->sim, 1), [2] = net_sim_memory(m->sim, 2) },
			.size = 64 << 20 },
		    leaves.leaf[0].leaf.at.bits);
		*low = *idx_at(n, IDX_NODE_LOW);
		*high = *idx_at(n, idx_node_high(1));
	}
	idx_leaves_free(&leaves);
}

/* All entries of keys in [low, high) go. */
static nam_status
life_drain(struct model *m, const uint64_t *keys, uint64_t low, uint64_t high)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < LIFE_KEYS && st == NAM_OK; i++)
		if (keys[i] >= low && keys[i] < high)
			st = life_change(m, keys[i], i + 1, false);
	return st;
}

/* Does the leaf that was seen show the entry that has come, or say that it does not know? */
static void
ask_again(void *arg)
{
	struct model *m = arg;
	struct net_worker *w = m->w[0][0];
	struct idx_leaves leaves = { 0 };
	uint64_t keys[LIFE_KEYS], values[LIFE_KEYS], value[IDX_LEAF_MOST], done, low, high, next, end;
	unsigned n, shown = 0, gone = 0;
	for (unsigned i = 0; i < LIFE_KEYS; i++) {
		key_of(m, 2 * i, &keys[i]);
		values[i] = i + 1;
	}
	nam_status st = idx_tree_fill(w, m->t[0], keys, values, LIFE_KEYS, 100, &done, NULL);
	struct idx_tree_probe p = { .tree = m->t[0], .key = &keys[LIFE_KEY], .leaves = &leaves };
	if (st == NAM_OK)
		st = idx_tree_lookup(w, &p, 1, NULL);
	life_fences(m, keys[LIFE_KEY], &low, &high);
	life_fences(m, high, &next, &end);
	enum life life = (enum life)m->cfg.steps;
	uint64_t last = high - 1;
	if (life == LIFE_ENDED || life == LIFE_AGAIN) {
		/* The heir has room. */
		if (st == NAM_OK)
			st = life_drain(m, keys, next + (end - next) / 2, end);
		if (st == NAM_OK)
			st = life_drain(m, keys, low, high);
		for (unsigned i = 0; st == NAM_OK && life == LIFE_AGAIN && i < 40; i++)
			st = life_change(m, keys[0] + (i + 1) * 7, LIFE_VALUE + 1 + i, true);
		if (st == NAM_OK)
			st = life_change(m, last, LIFE_VALUE, true);
	} else if (life == LIFE_SPLIT) {
		uint64_t then, behind;
		life_fences(m, end, &then, &behind);
		if (st == NAM_OK)
			st = life_drain(m, keys, then + (behind - then) / 2, behind);
		if (st == NAM_OK)
			st = life_drain(m, keys, next, end);
		if (st == NAM_OK)
			st = life_change(m, last, LIFE_VALUE, true);
	} else {
		uint64_t half, top;
		if (st == NAM_OK)
			st = life_drain(m, keys, next + (end - next) / 2, end);
		if (st == NAM_OK)
			st = life_change(m, low + 1, LIFE_VALUE + 1, true);
		life_fences(m, last, &half, &top);
		if (st == NAM_OK)
			st = life_drain(m, keys, half, top);
		if (st == NAM_OK)
			st = life_change(m, last, LIFE_VALUE, true);
	}
	for (uint32_t i = 0; st == NAM_OK && i < leaves.n; i++) {
		bool there;
		st = idx_leaf_now(w, &leaves.leaf[i], value, &n, &there, NULL);
		gone += !there;
		for (unsigned k = 0; there && k < n; k++)
			shown += value[k] == LIFE_VALUE;
	}
	if (st != NAM_OK)
		violated(m, "the scene says %s", nam_status_name(st));
	if (gone + shown == 0)
		violated(m, "the leaf neither shows the entry that has come nor says that it does not know");
	/* The collector alone must not make a lone session begin again. */
	if (life == LIFE_ENDED && shown != 1)
		violated(m, "the leaf that has left the tree is not followed");
	idx_leaves_free(&leaves);
}

static void
what_has_come_is_seen(void **state)
{
	(void)state;
	unsigned missed = 0;
	for (int broken = 0; broken < 2; broken++)
		for (unsigned life = 0; life < LIVES; life++) {
			struct model m;
			struct model_config cfg = { .seed = 1, /* READs, copies of inner nodes */
				.words = 1,
				.keys = 2 * LIFE_KEYS,
				.values = 1,
				.parts = 1,
				.steps = life };
			model_start(&m, &cfg);
			nam_fault_on = broken ? NAM_FAULT_TREE_FALL_UNTOLD : NAM_FAULT_NONE;
			nam_co_start(net_worker_sched(m.w[0][0]), ask_again, &m, 128 << 10);
			model_play(&m);
			nam_fault_on = NAM_FAULT_NONE;
			if (m.broken[0] != 0)
				printf("fault %s: scene %u: %s\n",
				    broken ? nam_fault_name[NAM_FAULT_TREE_FALL_UNTOLD] : "none", life,
				    m.broken);
			assert_true(broken || m.broken[0] == 0);
			missed += m.broken[0] != 0;
			model_end(&m);
		}
	assert_true(missed >= 2); /* both splits */
}

/* ---- a move whose client dies while it writes it down ------------------------------------ */

enum { MOVER = 3, MOVER_WORD = 77, RECORD_SEEDS = 40, RECORD_VERBS = 12 };

static void
enter_and_split(void *arg)
{
	struct model *m = arg;
	uint64_t keys[60], values[60], done;
	for (unsigned i = 0; i < 60; i++) {
		key_of(m, i, &keys[i]);
		values[i] = 1;
		entry_of(m, i, 1)->live = true;
	}
	idx_tree_set_owner(m->t[MOVER], MOVER_WORD);
	if (idx_tree_fill(m->w[MOVER][0], m->t[MOVER], keys, values, 60, 100, &done, NULL) != NAM_OK)
		violated(m, "the fill fails");
	net_sim_crash_at(m->sim, m->net[MOVER], net_sim_verbs(m->net[MOVER]) + m->cfg.steps);
	(void)idx_tree_split(m->w[MOVER][0], m->t[MOVER], keys, 1, NULL, NULL);
}

static void
fence_and_recover(void *arg)
{
	struct model *m = arg;
	struct nam_err err;
	if (net_fence_process(m->w[0][0], net_identity(m->net[MOVER]), 0, &err) != NAM_OK)
		violated(m, "%s", err.text);
	nam_status st = idx_tree_recover(m->w[0][0], m->t[0], MOVER_WORD, NULL, NULL);
	if (st != NAM_OK && st != NAM_ABSENT)
		violated(m, "the recovery says %s", nam_status_name(st));
}

/* Dies at that verb of the move; its WRITEs may be cut anywhere. */
static void
record_cut(uint64_t seed, unsigned verb, enum nam_fault broken, char words[240])
{
	struct model m;
	struct model_config cfg = {
		.seed = seed, .words = 1, .keys = 60, .values = 2, .parts = 1, .steps = verb
	};
	nam_fault_on = NAM_FAULT_NONE;
	model_start(&m, &cfg);
	net_sim_faults(m.sim, false);
	nam_fault_on = broken;
	net_sim_carry(m.net[MOVER], NET_SIM_CARRY_DICE);
	nam_co_start(net_worker_sched(m.w[MOVER][0]), enter_and_split, &m, 128 << 10);
	(void)net_sim_run(m.sim, NULL, NULL);
	if (net_sim_crashed(m.net[MOVER])) {
		nam_co_start(net_worker_sched(m.w[0][0]), fence_and_recover, &m, 128 << 10);
		model_play(&m);
		net_sim_bury(m.sim, m.net[MOVER]);
		(void)net_sim_run(m.sim, NULL, NULL); /* also after a violation */
	}
	idx_tree_close(m.t[MOVER]);
	m.t[MOVER] = NULL;
	memcpy(words, m.broken, sizeof m.broken);
	nam_fault_on = NAM_FAULT_NONE;
	model_end(&m);
}

static void
a_cut_record_is_caught(void **state)
{
	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		enum nam_fault fault = broken ? NAM_FAULT_TREE_RECORD_TORN : NAM_FAULT_NONE;
		char words[240] = "";
		uint64_t seed = 0;
		while (++seed <= RECORD_SEEDS && words[0] == 0)
			for (unsigned verb = 1; verb <= RECORD_VERBS && words[0] == 0; verb++)
				record_cut(seed, verb, fault, words);
		if (broken)
			printf("fault %s: seed %" PRIu64 ": %s\n", nam_fault_name[fault], seed - 1, words);
		assert_int_equal(words[0] != 0, broken);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_at_every_store),
		cmocka_unit_test(a_join_cut_at_every_store),
		cmocka_unit_test(a_queue_leaves_nothing),
		cmocka_unit_test(a_move_cut_at_every_store),
		cmocka_unit_test(crash_twins_are_caught),
		cmocka_unit_test(the_sound_one_is_not_caught),
		cmocka_unit_test(twins_are_caught),
		cmocka_unit_test(a_late_request_is_caught),
		cmocka_unit_test(what_has_come_is_seen),
		cmocka_unit_test(a_cut_record_is_caught),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
