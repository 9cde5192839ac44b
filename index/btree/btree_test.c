/*
 * btree_test.c -- the tree on the simulated fabric: random histories against a judge
 * (btree_model.h), round trips, crashes, bad input.
 *
 * IDX_SEED=7 IDX_SEEDS=100 for other and more seeds.
 */
#include <base/rounds.h>
#include <index/btree/btree_model.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static unsigned
env(const char *name, unsigned otherwise)
{
	const char *v = getenv(name);
	return v != NULL ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

/* Of the seeds of the long form one in so many is played. */
#define SHARE nam_rounds(1, 2, 5)

static void
play(enum model_kind kind, unsigned seeds)
{
	uint64_t from = env("IDX_SEED", 1), n = env("IDX_SEEDS", (seeds + SHARE - 1) / SHARE);
	uint64_t torn = 0, rights = 0, splits = 0, repeats = 0, sames = 0, differs = 0, duplicates = 0,
		 full = 0, scans = 0, lookups = 0, changes = 0, moves = 0, spares = 0;
	for (uint64_t seed = from; seed < from + n; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		model_start(&m, &cfg);
		model_run(&m);
		for (unsigned p = 0; p < PROCS; p++) {
			struct idx_tree_counts c;
			idx_tree_counts(m.t[p], &c);
			torn += c.torn;
			rights += c.rights;
		}
		splits += m.shape.splits;
		repeats += m.repeats;
		sames += m.sames;
		differs += m.differs;
		duplicates += m.duplicates;
		full += m.full;
		moves += m.moves;
		spares += m.spares;
		scans += m.scans;
		lookups += m.lookups;
		changes += m.inserted + m.removed;
		char broken[sizeof m.broken];
		memcpy(broken, m.broken, sizeof broken);
		if (broken[0] != 0)
			fail_msg("world %u, seed %" PRIu64 ": %s", kind, seed, broken);
		model_end(&m);
	}
	printf("world %u: %" PRIu64 " seeds, %" PRIu64 " lookups, %" PRIu64 " scans, %" PRIu64
	       " changes, %" PRIu64 " splits, %" PRIu64 " torn, %" PRIu64 " rights, %" PRIu64
	       " duplicates, %" PRIu64 " full, %" PRIu64 " repeats, %" PRIu64 " moves, %" PRIu64
	       " spare nodes, leaves the same %" PRIu64 ", not %" PRIu64 "\n",
	    kind, n, lookups, scans, changes, splits, torn, rights, duplicates, full, repeats, moves, spares,
	    sames, differs);
	/* A world in which nothing happens shows nothing. */
	assert_true(splits > 0 && torn > 0 && sames > 0 && differs > 0);
	if (kind == MODEL_RACE)
		assert_true(duplicates > 0);
	if (kind == MODEL_TIGHT)
		assert_true(full > 0);
	if (kind == MODEL_BREAKS)
		assert_true(repeats > 0);
	if (kind == MODEL_MOVES)
		assert_true(moves > n);
	if (kind == MODEL_DRAIN)
		assert_true(spares > 5 * n);
}

static void
grows(void **state)
{
	(void)state;
	play(MODEL_GROW, 20);
}
static void
equal_keys(void **state)
{
	(void)state;
	play(MODEL_EQUAL, 12);
}
static void
races(void **state)
{
	(void)state;
	play(MODEL_RACE, 15);
}
static void
wide_keys(void **state)
{
	(void)state;
	play(MODEL_WIDE, 21);
}
static void
tight_memory(void **state)
{
	(void)state;
	play(MODEL_TIGHT, 12);
}
static void
broken_connections(void **state)
{
	(void)state;
	play(MODEL_BREAKS, 25);
}

static void
partitions_move(void **state)
{
	(void)state;
	play(MODEL_MOVES, 30);
}

static void
ranges_are_emptied(void **state)
{
	(void)state;
	play(MODEL_DRAIN, 35);
}

/* ---- scenes ---------------------------------------------------------------------------- */

struct scene {
	struct model m;
	unsigned keys, fill; /* fill: so many of them at first */
	uint64_t at;         /* the verb at which a process dies */
};

static void
scene_fill(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	uint64_t *keys = malloc(s->fill * sizeof *keys), *values = malloc(s->fill * sizeof *values), done;
	for (uint32_t i = 0; i < s->fill; i++) {
		key_of(m, 2 * i, &keys[i]);
		values[i] = 1;
		entry_of(m, 2 * i, 1)->live = true;
	}
	if (idx_tree_fill(m->w[0][0], m->t[0], keys, values, s->fill, 100, &done, NULL) != NAM_OK ||
	    done != s->fill)
		violated(m, "the fill was cut short");
	free(keys);
	free(values);
}

/* A cluster whose tree holds every other key, in full leaves. */
static void
scene_begin_with(struct scene *s, uint64_t seed, unsigned keys, unsigned parts, unsigned fill)
{
	struct model_config cfg = {
		.seed = seed, .words = 1, .keys = 2 * keys, .values = 2, .parts = parts, .actors = 0
	};
	memset(s, 0, sizeof *s);
	s->keys = keys;
	s->fill = fill;
	model_start(&s->m, &cfg);
	net_sim_faults(s->m.sim, false);
	nam_co_start(net_worker_sched(s->m.w[0][0]), scene_fill, s, 0);
	model_play(&s->m);
}

static void
scene_begin(struct scene *s, uint64_t seed, unsigned keys, unsigned parts)
{
	scene_begin_with(s, seed, keys, parts, keys);
}

static void
scene_play(struct scene *s, unsigned proc, void (*fn)(void *))
{
	nam_co_start(net_worker_sched(s->m.w[proc][0]), fn, s, 128 << 10);
	model_play(&s->m);
	if (s->m.broken[0] != 0)
		fail_msg("%s", s->m.broken);
}

static void
scene_end(struct scene *s)
{
	nam_co_start(net_worker_sched(s->m.w[0][0]), model_end_scan, &s->m, 128 << 10);
	model_play(&s->m);
	if (s->m.broken[0] == 0)
		model_walk(&s->m);
	if (s->m.broken[0] != 0)
		fail_msg("%s", s->m.broken);
	model_end(&s->m);
}

/* 100 keys: with arena memory all leaves by one doorbell, without it those of 16. */
static void
count_many(struct model *m, struct idx_tree *t)
{
	enum { N = 100 };
	struct idx_tree_probe *p = calloc(N, sizeof *p);
	uint64_t key[N];
	struct nam_arena arena;
	if (p == NULL)
		abort();
	nam_arena_init(&arena, 0);
	for (unsigned many = 0; many < 3; many++) {
		struct net_counts c = { 0 };
		for (unsigned i = 0; i < N; i++) {
			key_of(m, 2 * (i * 3 + 5), &key[i]);
			p[i] = (struct idx_tree_probe){ .tree = t, .key = &key[i] };
		}
		nam_status st = many ? idx_tree_lookup_many(m->w[0][0], p, N, &arena, &c)
				     : idx_tree_lookup(m->w[0][0], p, N, &c);
		if (st != NAM_OK)
			violated(m, "a lookup of many fails");
		/* the first of them fills the cache */
		if (many > 0 && (c.round_trips != 1 || c.verbs[NET_READ] != N))
			violated(m, "%d keys take %" PRIu64 " round trips, %" PRIu64 " READs", N,
			    c.round_trips, c.verbs[NET_READ]);
	}
	nam_arena_fini(&arena);
	free(p);
}

/* Round trips and verbs: index/README.md's table. */
static void
count_trips(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	static const struct idx_tree_options none = { .cache = IDX_TREE_NONE },
					     inner = { .cache = IDX_TREE_INNER };
	enum { N = 8 };
	struct idx_tree_probe p[N];
	uint64_t key[N];
	for (int way = 0; way < 2; way++) {
		struct idx_tree *t = idx_btree_open(m->anchor, 1, &m->mem, way ? &inner : &none, NULL);
		unsigned height = m->shape.height;
		for (int warm = 0; warm < 2; warm++) {
			struct net_counts c = { 0 };
			for (unsigned i = 0; i < N; i++) {
				key_of(m, 2 * (i * 13 + 5), &key[i]);
				p[i] = (struct idx_tree_probe){ .tree = t, .key = &key[i] };
			}
			if (idx_tree_lookup(m->w[0][0], p, N, &c) != NAM_OK)
				violated(m, "a lookup fails");
			if (warm == 0) {
				/* The anchor and the map come first. */
				if (c.round_trips != 2 + height)
					violated(
					    m, "a first lookup takes %" PRIu64 " round trips", c.round_trips);
				continue;
			}
			unsigned want = way ? 1 : height;
			if (c.round_trips != want || c.verbs[NET_READ] != want * N)
				violated(m, "a warm lookup takes %" PRIu64 " round trips, %" PRIu64 " READs",
				    c.round_trips, c.verbs[NET_READ]);
		}
		/* 64 entries behind a warm key: 4 or 5 full leaves, in one doorbell if one inner
		 * node leads to all of them, else in two. */
		struct net_counts c = { 0 };
		uint64_t low = key[0], values[64];
		unsigned n = 0;
		const struct idx_tree_range range = { .low = &low, .expect = 64 };
		struct idx_tree_scan *scan_of = idx_tree_scan_open(t, &range, NULL);
		if (idx_tree_scan_next(m->w[0][0], scan_of, NULL, values, 64, &n, &c) != NAM_OK || n != 64)
			violated(m, "a scan brings %u of 64", n);
		if (way == 1 && c.round_trips > 2)
			violated(m, "a scan takes %" PRIu64 " round trips", c.round_trips);
		idx_tree_scan_close(scan_of);
		if (way == 1)
			count_many(m, t);
		idx_tree_close(t);
	}
}

static void
round_trips(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, 3, 3000, 1);
	nam_co_start(net_worker_sched(s.m.w[0][0]), model_end_scan, &s.m, 128 << 10);
	model_play(&s.m);
	assert_int_equal(s.m.shape.height, 3);
	scene_play(&s, 0, count_trips);
	scene_end(&s);
}

/* What a serializable transaction does: its own changes are not another's. */
static void
own_changes(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct net_worker *w = m->w[0][0];
	static const struct idx_tree_options inner = { .cache = IDX_TREE_INNER };
	struct idx_tree *t = idx_btree_open(m->anchor, 1, &m->mem, &inner, NULL);
	unsigned splits = 0;
	/* First into the root alone, later into leaves of a tree. */
	for (unsigned i = 0; i < 120; i++) {
		struct idx_leaves seen = { 0 };
		uint64_t key, other, values[8];
		uint32_t number = 2 * (i * 7 % s->keys) + 1;
		bool same;
		unsigned n;
		key_of(m, number, &key);
		key_of(m, number - 1, &other);
		struct idx_tree_probe p = { .tree = t, .key = &key, .leaves = &seen };
		const struct idx_tree_range range = { .low = &other, .high = &key };
		struct idx_tree_scan *scan_of = idx_tree_scan_open(t, &range, &seen);
		nam_status st = idx_tree_lookup(w, &p, 1, NULL);
		do
			st = st == NAM_OK ? idx_tree_scan_next(w, scan_of, NULL, values, 8, &n, NULL) : st;
		while (st == NAM_OK && n > 0);
		idx_tree_scan_close(scan_of);
		if (st != NAM_OK || p.status != NAM_ABSENT || seen.n == 0)
			violated(m, "a lookup fails");
		if (idx_leaves_same(w, &seen, &same, NULL) != NAM_OK || !same)
			violated(m, "leaves that no client changed are not the same");
		struct idx_tree_entry e = { .tree = t, .key = &key, .value = 1, .unique = true };
		if (idx_tree_insert(w, &e, 1, NULL) != NAM_OK || e.status != NAM_OK)
			violated(m, "an insert fails");
		entry_of(m, number, 1)->live = true;
		splits += e.change.sibling.at.bits != 0;
		if (idx_leaves_same(w, &seen, &same, NULL) != NAM_OK || same)
			violated(m, "a changed leaf is said to be the same");
		if (idx_leaves_change(&seen, &e.change) != NAM_OK ||
		    idx_leaves_same(w, &seen, &same, NULL) != NAM_OK || !same)
			violated(m, "its own change looks like another's (insert %u)", i);
		if (i % 3 != 0) { /* else the other one makes all the splits */
			idx_leaves_free(&seen);
			continue;
		}
		/* Of another process: the same key, another value, and back. */
		struct idx_tree_entry x = { .tree = m->t[1], .key = &key, .value = 2 };
		if (idx_tree_insert(m->w[1][0], &x, 1, NULL) != NAM_OK ||
		    idx_tree_remove(m->w[1][0], &x, 1, NULL) != NAM_OK || x.status != NAM_OK)
			violated(m, "another process cannot insert and remove");
		/* The leaf has the same entries again, and is not the same (B5). */
		if (idx_leaves_same(w, &seen, &same, NULL) != NAM_OK || same)
			violated(m, "a leaf that was changed and changed back is said to be the same");
		idx_leaves_free(&seen);
	}
	struct idx_tree_counts c;
	idx_tree_counts(t, &c);
	if (splits < 2 || c.hints_used < 20)
		violated(m, "%u splits, %" PRIu64 " hints", splits, c.hints_used);
	idx_tree_close(t);
}

static void
own_changes_are_known(void **state)
{
	(void)state;
	for (unsigned fill = 1; fill <= 1000; fill *= 10) {
		struct scene s;
		scene_begin_with(&s, 5, 1000, 1, fill);
		scene_play(&s, 0, own_changes);
		scene_end(&s);
	}
}

static void
keys_and_names(void **state)
{
	(void)state;
	uint64_t k[3];
	assert_true(idx_tree_key("\1\2\3\4\5\6\7\10\11", 9, 2, k));
	assert_true(k[0] == UINT64_C(0x0102030405060708) && k[1] == UINT64_C(9) << 56);
	assert_true(idx_tree_key("", 0, 1, k) && k[0] == 0);
	assert_true(idx_tree_key("abcdefgh", 8, 1, k));
	assert_false(idx_tree_key("abcdefghi", 9, 1, k));
	assert_true(k[0] == UINT64_C(0x6162636465666768));
	for (int i = IDX_TREE_NONE; i <= IDX_TREE_MESSAGES; i++) {
		enum idx_tree_cache c;
		assert_true(idx_tree_cache_parse(idx_tree_cache_name((enum idx_tree_cache)i), &c));
		assert_int_equal(c, i);
		assert_false(idx_tree_cache_parse("", &c));
	}
	struct idx_leaves none = { 0 };
	bool same = false;
	assert_int_equal(idx_leaves_same(NULL, &none, &same, NULL), NAM_OK);
	assert_true(same);
}

/* Inserts into full leaves, of an amount that needs more memory: all in one call. */
enum { CRASH_ENTRIES = 200, VICTIM = 3 };

/* The victim will die at the at-th verb from here; 0 = it will not. The verbs before. */
static uint64_t
dies_at(struct scene *s, uint64_t at)
{
	static const enum net_sim_carry carry[] = { NET_SIM_CARRY_NONE, NET_SIM_CARRY_ALL,
		NET_SIM_CARRY_DICE };
	uint64_t before = net_sim_verbs(s->m.net[VICTIM]);
	if (at > 0) {
		net_sim_carry(s->m.net[VICTIM], carry[at % 3]);
		net_sim_crash_at(s->m.sim, s->m.net[VICTIM], before + at);
	}
	return before;
}

static void
insert_many(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct idx_tree_entry e[CRASH_ENTRIES];
	uint64_t key[CRASH_ENTRIES];
	for (unsigned i = 0; i < CRASH_ENTRIES; i++) {
		key_of(m, 2 * (i * 37 % s->keys) + 1, &key[i]);
		e[i] = (struct idx_tree_entry){ .tree = m->t[VICTIM], .key = &key[i], .value = 1 };
	}
	if (idx_tree_insert(m->w[VICTIM][0], e, CRASH_ENTRIES, NULL) == NAM_OK)
		for (unsigned i = 0; i < CRASH_ENTRIES; i++)
			entry_of(m, 2 * (i * 37 % s->keys) + 1, 1)->live = e[i].status == NAM_OK;
}

/* What the dead process began: each entry is in or not; then another process does it. */
static void
after_the_crash(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct nam_err err;
	if (net_fence_process(m->w[0][0], net_identity(m->net[VICTIM]), 0, &err) != NAM_OK)
		violated(m, "%s", err.text);
	for (unsigned i = 0; i < CRASH_ENTRIES; i++) {
		uint32_t number = 2 * (i * 37 % s->keys) + 1;
		uint64_t key;
		key_of(m, number, &key);
		struct idx_tree_probe p = { .tree = m->t[0], .key = &key };
		if (idx_tree_lookup(m->w[0][0], &p, 1, NULL) != NAM_OK || p.hits > 1 ||
		    (p.hits == 1 && p.hit[0] != 1))
			violated(m, "a lookup after the crash fails");
		struct idx_tree_entry e = { .tree = m->t[0], .key = &key, .value = 1, .unique = true };
		memcpy(e.hit, p.hit, sizeof e.hit);
		e.hits = p.hits;
		if (idx_tree_insert(m->w[0][0], &e, 1, NULL) != NAM_OK || e.status != NAM_OK)
			violated(m, "an insert after the crash says %s", nam_status_name(e.status));
		entry_of(m, number, 1)->live = true;
	}
}

static void
client_crashes(void **state)
{
	(void)state;
	uint64_t verbs = 0, deaths = 0;
	for (uint64_t at = 0; at == 0 || at <= verbs; at++) {
		struct scene s;
		scene_begin(&s, 10 + at % 3, 2900, 2);
		uint64_t before = dies_at(&s, at);
		nam_co_start(net_worker_sched(s.m.w[VICTIM][0]), insert_many, &s, 128 << 10);
		(void)net_sim_run(s.m.sim, NULL, NULL);
		if (at == 0) {
			verbs = net_sim_verbs(s.m.net[VICTIM]) - before;
		} else if (net_sim_crashed(s.m.net[VICTIM])) {
			deaths++;
			scene_play(&s, 0, after_the_crash);
			net_sim_bury(s.m.sim, s.m.net[VICTIM]);
			model_play(&s.m);
		}
		/* The dead one's view cannot be asked any more. */
		idx_tree_close(s.m.t[VICTIM]);
		s.m.t[VICTIM] = NULL;
		scene_end(&s);
	}
	printf("%" PRIu64 " verbs, %" PRIu64 " crashes\n", verbs, deaths);
	assert_true(deaths >= 6);
}

/* A request that waits in its ring when its sender is fenced. */
static void
insert_one(void *arg)
{
	struct scene *s = arg;
	uint64_t key;
	key_of(&s->m, 101, &key);
	struct idx_tree_entry e = { .tree = s->m.t[VICTIM], .key = &key, .value = 2 };
	(void)idx_tree_insert(s->m.w[VICTIM][0], &e, 1, NULL);
}
static void
warm_victim(void *arg)
{
	struct scene *s = arg;
	uint64_t key;
	key_of(&s->m, 200, &key);
	struct idx_tree_probe p = { .tree = s->m.t[VICTIM], .key = &key };
	struct idx_tree_entry e = { .tree = s->m.t[VICTIM], .key = &key, .value = 1 };
	if (idx_tree_lookup(s->m.w[VICTIM][0], &p, 1, NULL) != NAM_OK ||
	    idx_tree_insert(s->m.w[VICTIM][0], &e, 1, NULL) != NAM_OK)
		violated(&s->m, "the victim cannot use the tree");
}
static void
fence_victim(void *arg)
{
	struct scene *s = arg;
	struct nam_err err;
	if (net_fence_process(s->m.w[0][0], net_identity(s->m.net[VICTIM]), 0, &err) != NAM_OK)
		violated(&s->m, "%s", err.text);
	s->at = 0;
}
static bool
later(void *arg)
{
	const struct scene *s = arg;
	return net_sim_now_ns(s->m.sim) >= s->at;
}
static bool
fenced(void *arg)
{
	return ((const struct scene *)arg)->at == 0;
}
static void
look_for_it(void *arg)
{
	struct scene *s = arg;
	uint64_t key;
	key_of(&s->m, 101, &key);
	struct idx_tree_probe p = { .tree = s->m.t[0], .key = &key };
	if (idx_tree_lookup(s->m.w[0][0], &p, 1, NULL) != NAM_OK)
		violated(&s->m, "a lookup fails");
	s->at = p.hits;
}
static void
wait_a_while(void *arg)
{
	struct scene *s = arg;
	net_sleep(s->m.w[1][0], 20000000);
}

/* ---- partitions that grow ---------------------------------------------------------------- */

enum { LARGE_KEYS = 320000, LARGE_BATCH = 64, LARGE_MOST = 16 };

/* Each partition that is told to be large is cut in two, as its owner does. */
static void
enter_and_cut(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct net_worker *w = m->w[0][0];
	static const struct idx_tree_options o = { .cache = IDX_TREE_INNER, .split_extents = LARGE_MOST };
	struct idx_tree *t = idx_btree_open(m->anchor, 1, &m->mem, &o, NULL);
	uint64_t key[LARGE_BATCH], large[IDX_TREE_WORDS];
	for (uint64_t i = 0; i < LARGE_KEYS; i += LARGE_BATCH) {
		struct idx_tree_entry e[LARGE_BATCH];
		for (unsigned k = 0; k < LARGE_BATCH; k++) {
			key[k] = (i + k) * UINT64_C(0x9e3779b97f4a7c15) % LARGE_KEYS * 64 + (i + k) % 64;
			e[k] = (struct idx_tree_entry){ .tree = t, .key = &key[k], .value = 1 };
		}
		if (idx_tree_insert(w, e, LARGE_BATCH, NULL) != NAM_OK)
			violated(m, "an insert fails");
		while (idx_tree_large(t, large)) {
			if (idx_tree_split(w, t, large, 1, NULL, NULL) != NAM_OK)
				violated(m, "a large partition cannot be cut");
			s->at++;
		}
	}
	if (idx_tree_shape(w, t, &m->shape, NULL) != NAM_OK)
		violated(m, "the shape is not told");
	idx_tree_close(t);
}

/* What a move leaves behind unused in its source does not make the source large again. */
static void
partitions_grow(void **state)
{
	(void)state;
	struct scene s;
	scene_begin_with(&s, 5, 64, 1, 0);
	s.at = 0;
	scene_play(&s, 0, enter_and_cut);
	printf("%d keys: %" PRIu64 " moves, %u partitions, %" PRIu64 " leaves\n", LARGE_KEYS, s.at,
	    s.m.shape.parts, s.m.shape.leaves);
	uint64_t fill = s.m.shape.leaves * idx_node_room(1, true) / IDX_TREE_EXTENT;
	assert_true(s.m.shape.parts > fill / LARGE_MOST && s.m.shape.parts <= 2 * fill / LARGE_MOST + 2);
	model_end(&s.m);
}

/* ---- a move that is cut ---------------------------------------------------------------- */

enum { MOVER = 77, FROZEN_NS = 1500000000 };

static void
move_half(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	uint64_t key;
	unsigned region = m->nodes;
	key_of(m, 100, &key);
	idx_tree_set_owner(m->t[VICTIM], MOVER);
	m->moves += idx_tree_split(m->w[VICTIM][0], m->t[VICTIM], &key, region, NULL, NULL) == NAM_OK;
	s->at = 0;
}

/* Looks keys up and enters new ones, in both halves of the first partition. may_wait: what is being
 * moved may stay so. Returns how many could not be entered. */
static unsigned
use_both_halves(struct scene *s, unsigned proc, bool may_wait)
{
	struct model *m = &s->m;
	unsigned busy = 0, all = s->fill;
	for (unsigned i = 0; i < 24; i++) {
		uint32_t number = (uint32_t)(i * (all / 24) + nam_rng_below(&m->rng, all / 24));
		uint64_t key;
		key_of(m, number, &key);
		struct idx_tree_probe p = { .tree = m->t[proc], .key = &key };
		struct model_entry *is = entry_of(m, number, 1);
		if (idx_tree_lookup(m->w[proc][0], &p, 1, NULL) != NAM_OK || p.hits != is->live)
			violated(m, "key %u: %u hits, %s", number, p.hits, nam_status_name(p.status));
		struct idx_tree_entry e = { .tree = m->t[proc], .key = &key, .value = 1 };
		nam_status st = is->live ? idx_tree_remove(m->w[proc][0], &e, 1, NULL)
					 : idx_tree_insert(m->w[proc][0], &e, 1, NULL);
		if (e.status == NAM_OK)
			is->live = !is->live;
		else if (e.status == NAM_BUSY && may_wait)
			busy++;
		else
			violated(m, "key %u: a change says %s", number, nam_status_name(st));
		if (busy > 2)
			break; /* each waits a second */
	}
	return busy;
}

static void
before_recovery(void *arg)
{
	struct scene *s = arg;
	s->at = use_both_halves(s, 0, true);
}

static void
recover_move(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct nam_err err;
	if (net_fence_process(m->w[0][0], net_identity(m->net[VICTIM]), 0, &err) != NAM_OK)
		violated(m, "%s", err.text);
	nam_status st = idx_tree_recover(m->w[1][0], m->t[1], MOVER, NULL, NULL);
	if (st != NAM_OK && st != NAM_ABSENT)
		violated(m, "the recovery says %s", nam_status_name(st));
	for (unsigned p = 0; p < PROCS; p++)
		if (p != VICTIM)
			(void)use_both_halves(s, p, false);
	/* And the next one moves. */
	uint64_t key;
	key_of(m, 2 * s->keys - 5, &key);
	if ((st = idx_tree_split(m->w[0][0], m->t[0], &key, 1, NULL, NULL)) != NAM_OK)
		violated(m, "the next move says %s", nam_status_name(st));
}

struct deaths {
	uint64_t verbs, deaths, undone, finished, waits;
};

/* at: the verb at which it dies, 0 = it does not. */
static void
mover_dies_at(uint64_t seed, uint64_t at, struct deaths *d)
{
	struct scene s;
	scene_begin(&s, seed, 1400, 2);
	uint64_t before = dies_at(&s, at);
	nam_co_start(net_worker_sched(s.m.w[VICTIM][0]), move_half, &s, 128 << 10);
	(void)net_sim_run(s.m.sim, NULL, NULL);
	bool died = net_sim_crashed(s.m.net[VICTIM]);
	if (at == 0) {
		assert_int_equal(s.m.moves, 1);
		d->verbs = net_sim_verbs(s.m.net[VICTIM]) - before;
	} else if (died) {
		scene_play(&s, 0, before_recovery);
		d->deaths++;
		d->waits += s.at > 0;
	}
	if (died) {
		scene_play(&s, 0, recover_move);
		net_sim_bury(s.m.sim, s.m.net[VICTIM]);
		model_play(&s.m);
	}
	/* Its coroutines have come to their end only now. */
	idx_tree_close(s.m.t[VICTIM]);
	s.m.t[VICTIM] = NULL;
	scene_end(&s);
	/* Two at first, and the one that comes after the recovery. */
	d->undone += died && s.m.shape.parts == 3;
	d->finished += died && s.m.shape.parts == 4;
}

static void
a_mover_dies(void **state)
{
	(void)state;
	struct deaths d = { 0 };
	uint64_t seeds = env("IDX_SEEDS", nam_rounds(6, 2, 1)), from = env("IDX_SEED", 10);
	for (uint64_t seed = from; seed < from + seeds; seed++) {
		mover_dies_at(seed, 0, &d);
		for (uint64_t at = 1; at <= d.verbs; at++)
			mover_dies_at(seed, at, &d);
	}
	printf("%" PRIu64 " crashes; %" PRIu64 " moves undone, %" PRIu64
	       " finished; changes had to wait after %" PRIu64 "\n",
	    d.deaths, d.undone, d.finished, d.waits);
	assert_true(d.deaths >= 20 * seeds && d.undone > 15 * seeds && d.finished >= 3 * seeds &&
		    d.waits > 10 * seeds);
}

/* Longer than any time-out: others wait, and give up, and nothing is lost when it goes on. */
static void
while_frozen(void *arg)
{
	struct scene *s = arg;
	(void)use_both_halves(s, 0, true);
}

static void
a_mover_stalls(void **state)
{
	(void)state;
	uint64_t verbs = 0;
	for (uint64_t at = 0; at == 0 || at <= verbs; at += 1 + at / 8) {
		struct scene s;
		scene_begin(&s, 20 + at % 3, 1400, 2);
		uint64_t before = net_sim_verbs(s.m.net[VICTIM]);
		if (at > 0)
			net_sim_freeze_at(s.m.net[VICTIM], before + at, FROZEN_NS);
		nam_co_start(net_worker_sched(s.m.w[VICTIM][0]), move_half, &s, 128 << 10);
		if (at > 0)
			nam_co_start(net_worker_sched(s.m.w[0][0]), while_frozen, &s, 128 << 10);
		model_play(&s.m);
		if (s.m.broken[0] != 0)
			fail_msg("at verb %" PRIu64 ": %s", at, s.m.broken);
		assert_int_equal(s.m.moves, 1);
		if (at == 0)
			verbs = net_sim_verbs(s.m.net[VICTIM]) - before;
		scene_end(&s);
		assert_int_equal(s.m.shape.parts, 3);
	}
}

/* The mover's request waits in a ring, the mover is fenced, and another process undoes the move:
 * the request must not seal the partition afterwards. */
static void
a_fenced_mover_is_not_served(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, 3, 1400, 2);
	scene_play(&s, VICTIM, warm_victim);
	for (unsigned r = 1; r <= s.m.nodes; r++)
		net_sim_pause(s.m.sim, r, true);
	nam_co_start(net_worker_sched(s.m.w[VICTIM][0]), move_half, &s, 128 << 10);
	nam_co_start(net_worker_sched(s.m.w[1][0]), wait_a_while, &s, 0);
	s.at = net_sim_now_ns(s.m.sim) + 1000000;
	(void)net_sim_run(s.m.sim, later, &s);
	nam_co_start(net_worker_sched(s.m.w[0][0]), fence_victim, &s, 0);
	(void)net_sim_run(s.m.sim, fenced, &s);
	for (unsigned r = 1; r <= s.m.nodes; r++)
		net_sim_pause(s.m.sim, r, false);
	(void)net_sim_run(s.m.sim, NULL, NULL);
	assert_int_equal(s.m.moves, 0);
	scene_play(&s, 0, recover_move);
	idx_tree_close(s.m.t[VICTIM]);
	s.m.t[VICTIM] = NULL;
	scene_end(&s);
	assert_int_equal(s.m.shape.parts, 3);
}

/* A node that is lost: the target's before the map changes, or the source's after it. */
static void
move_to_lost(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct net_set ended = { 0 };
	uint64_t key;
	key_of(m, 100, &key); /* of node 1 */
	net_sim_lose_node(m->sim, 2);
	nam_status st = idx_tree_split(m->w[0][0], m->t[0], &key, 2, NULL, NULL);
	if (st != NAM_GONE && st != NAM_FULL)
		violated(m, "a move to a lost node says %s", nam_status_name(st));
	net_set_add(&ended, 2);
	st = idx_tree_settle(m->w[0][0], m->t[0], &ended, NULL);
	if (st != NAM_OK)
		violated(m, "settling says %s", nam_status_name(st));
	(void)use_both_halves(s, 0, false);
	st = idx_tree_split(m->w[1][0], m->t[1], &key, 3, &ended, NULL);
	if (st != NAM_OK)
		violated(m, "a move to a node that lives says %s", nam_status_name(st));
	(void)use_both_halves(s, 1, false);
}

static void
a_move_to_a_lost_node(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, 2, 900, 1); /* seed 2: three nodes; the partition is on the first */
	scene_play(&s, 0, move_to_lost);
	model_end(&s.m);
}

static void
a_fenced_client_is_not_served(void **state)
{
	(void)state;
	for (int fence = 0; fence < 2; fence++) {
		struct scene s;
		scene_begin(&s, 4, 300, 1);
		scene_play(&s, VICTIM, warm_victim);
		for (unsigned r = 1; r <= s.m.nodes; r++)
			net_sim_pause(s.m.sim, r, true);
		nam_co_start(net_worker_sched(s.m.w[VICTIM][0]), insert_one, &s, 128 << 10);
		nam_co_start(net_worker_sched(s.m.w[1][0]), wait_a_while, &s, 0);
		/* The request has landed in its ring. */
		s.at = net_sim_now_ns(s.m.sim) + 1000000;
		(void)net_sim_run(s.m.sim, later, &s);
		if (fence) {
			nam_co_start(net_worker_sched(s.m.w[0][0]), fence_victim, &s, 0);
			(void)net_sim_run(s.m.sim, fenced, &s);
		}
		for (unsigned r = 1; r <= s.m.nodes; r++)
			net_sim_pause(s.m.sim, r, false);
		(void)net_sim_run(s.m.sim, NULL, NULL);
		scene_play(&s, 0, look_for_it);
		assert_int_equal(s.at, fence ? 0 : 1);
		entry_of(&s.m, 101, 2)->live = !fence;
		idx_tree_close(s.m.t[VICTIM]);
		s.m.t[VICTIM] = NULL;
		scene_end(&s);
	}
}

/* Dropped, and another tree in the same place: views that know the first one. */
static void
drop_and_create(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	struct idx_tree_part part = { .region = 1 };
	const struct idx_tree_config cfg = { .words = 1, .parts = 1, .part = &part };
	uint64_t key[2];
	key_of(m, 200, &key[0]);
	key_of(m, 201, &key[1]);
	for (unsigned p = 0; p < PROCS; p++)
		for (unsigned k = 0; k < 2; k++) {
			struct idx_tree_probe q = { .tree = m->t[p], .key = &key[k] };
			if (idx_tree_lookup(m->w[p][0], &q, 1, NULL) != NAM_OK || q.hits != 1 - k)
				violated(m, "the first tree is not as it was filled");
		}
	if (idx_tree_drop(m->w[0][0], m->anchor) != NAM_OK)
		violated(m, "the tree cannot be dropped");
	if (idx_tree_drop(m->w[0][0], m->anchor) != NAM_ABSENT)
		violated(m, "a dropped tree is not absent");
	for (unsigned p = 0; p < PROCS; p++) {
		struct idx_tree_probe q = { .tree = m->t[p], .key = &key[0] };
		nam_status st = idx_tree_lookup(m->w[p][0], &q, 1, NULL);
		if (st != NAM_REFUSED || q.status != NAM_REFUSED)
			violated(m, "a lookup in a dropped tree says %s", nam_status_name(st));
		struct idx_tree_entry e = { .tree = m->t[p], .key = &key[0], .value = 2 };
		if (idx_tree_insert(m->w[p][0], &e, 1, NULL) != NAM_REFUSED)
			violated(m, "an insert into a dropped tree says %s", nam_status_name(e.status));
		uint64_t values[4];
		unsigned n;
		const struct idx_tree_range all = { .low = NULL };
		struct idx_tree_scan *scan_of = idx_tree_scan_open(m->t[p], &all, NULL);
		if ((st = idx_tree_scan_next(m->w[p][0], scan_of, NULL, values, 4, &n, NULL)) != NAM_REFUSED)
			violated(m, "a scan of a dropped tree says %s", nam_status_name(st));
		idx_tree_scan_close(scan_of);
	}
	if (idx_tree_create(m->w[0][0], m->anchor, &cfg, &m->mem) != NAM_OK)
		violated(m, "a second tree cannot be created");
	memset(m->entry, 0, m->cfg.keys * (size_t)m->cfg.values * sizeof *m->entry);
	struct idx_tree_entry e = { .tree = m->t[1], .key = &key[1], .value = 2 };
	if (idx_tree_insert(m->w[1][0], &e, 1, NULL) != NAM_OK || e.status != NAM_OK)
		violated(m, "an insert into the second tree says %s", nam_status_name(e.status));
	entry_of(m, 201, 2)->live = true;
	for (unsigned p = 0; p < PROCS; p++)
		for (unsigned k = 0; k < 2; k++) {
			struct idx_tree_probe q = { .tree = m->t[p], .key = &key[k] };
			if (idx_tree_lookup(m->w[p][0], &q, 1, NULL) != NAM_OK || q.hits != k)
				violated(m, "process %u finds %u entries of key %u in the second tree", p,
				    q.hits, 200 + k);
		}
	struct idx_tree_part odd[2] = { { .region = 1 }, { .region = 999, .low = { 7 } } };
	const struct idx_tree_config bad[] = { { .words = 0, .parts = 1, .part = &part },
		{ .words = 9, .parts = 1, .part = &part }, { .words = 1, .parts = 0, .part = &part },
		{ .words = 1, .parts = 2, .part = odd } };
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		if (idx_tree_create(m->w[0][0], net_plus(m->anchor, 4096), &bad[i], &m->mem) != NAM_INVALID)
			violated(m, "configuration %u was taken", i);
}

static void
dropped_trees(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct scene s;
		scene_begin(&s, seed, 900, 1 + (unsigned)seed % 4);
		scene_play(&s, 0, drop_and_create);
		scene_end(&s);
	}
}

/* A node is lost: lookups in its partitions fail, the others go on. */
static void
lose_one(void *arg)
{
	struct scene *s = arg;
	struct model *m = &s->m;
	uint64_t key[2];
	struct idx_tree_probe p[2];
	key_of(m, 100, &key[0]); /* in the first partition, on node 1 */
	key_of(m, m->cfg.keys / 2 + 100, &key[1]);
	for (unsigned t = 0; t < PROCS; t++) {
		for (unsigned i = 0; i < 2; i++)
			p[i] = (struct idx_tree_probe){ .tree = m->t[t], .key = &key[i] };
		if (idx_tree_lookup(m->w[t][0], p, 2, NULL) != NAM_OK)
			violated(m, "a lookup fails");
	}
	net_sim_lose_node(m->sim, 2);
	for (unsigned t = 0; t < PROCS; t++) {
		for (unsigned i = 0; i < 2; i++)
			p[i] = (struct idx_tree_probe){ .tree = m->t[t], .key = &key[i] };
		nam_status st = idx_tree_lookup(m->w[t][0], p, 2, NULL);
		if (st != NAM_GONE || p[0].status != NAM_OK || p[1].status != NAM_GONE)
			violated(m, "process %u, with a node lost: %s, %s, %s", t, nam_status_name(st),
			    nam_status_name(p[0].status), nam_status_name(p[1].status));
	}
}

static void
a_lost_node(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, 2, 900, 2); /* seed 2: three nodes */
	scene_play(&s, 0, lose_one);
	model_end(&s.m);
}

/* ---- messages that make no sense ------------------------------------------------------- */

static void
a_late_request(void **state)
{
	(void)state;
	struct scene s;
	scene_begin(&s, 1, 300, 1);
	assert_int_equal(late_request(&s.m), NAM_CANCELLED);
	scene_end(&s);
}

static void
bad_messages(void **state)
{
	(void)state;
	struct scene s;
	static struct post b;
	struct idx_an an;
	uint64_t seen[NAM_STATUS_COUNT] = { 0 };
	scene_begin(&s, 1, 600, 3);
	const struct idx_map *map = post_open(&s.m, &b);
	struct nam_rng rng;
	nam_rng_init(&rng, 11);
	for (unsigned i = 0; i < 200000; i++) {
		static const uint64_t odd[] = { 0, 1, 7, 8, 16, 255, 256, 65536, UINT32_MAX, UINT64_MAX,
			UINT64_C(1) << 63, IDX_TREE_EXTENT, 64 << 20 };
		uint32_t what = (uint32_t)nam_rng_below(&rng, 14);
		/* Messages that change the tree must not be whole: the judge does not know. */
		post_entry(&b, map, (enum idx_message)what, 1, nam_rng_next(&rng), nam_rng_next(&rng));
		((struct idx_rq *)(void *)b.rq)->n = (uint32_t)nam_rng_below(&rng, 5);
		for (unsigned k = b.n; k < 600; k++)
			b.rq[k] = odd[nam_rng_below(&rng, sizeof odd / sizeof *odd)];
		b.n = (unsigned)nam_rng_below(&rng, 100);
		unsigned damage = 1 + (unsigned)nam_rng_below(&rng, 3);
		for (unsigned k = 0; k < damage; k++)
			b.rq[nam_rng_below(&rng, 12)] = odd[nam_rng_below(&rng, sizeof odd / sizeof *odd)];
		const struct idx_rq *rq = (const void *)b.rq;
		bool ours = rq->tree == map->tree;
		if (ours && (rq->what == IDX_MSG_DROP || rq->what == IDX_MSG_INSERT ||
				rq->what == IDX_MSG_FILL || rq->what == IDX_MSG_REMOVE))
			((struct idx_rq *)(void *)b.rq)->words = 2; /* the tree's keys have one */
		if (ours && rq->what == IDX_MSG_DROP)
			continue;
		if (rq->what == IDX_MSG_CREATE)
			((struct idx_rq *)(void *)b.rq)->part |= 8; /* any memory may be there */
		if (rq->what == IDX_MSG_GROW && ours)
			b.rq[sizeof *rq / 8] = UINT64_MAX;
		seen[post(&b, &an)]++;
	}
	printf("invalid %" PRIu64 ", absent %" PRIu64 ", done %" PRIu64 "\n", seen[NAM_INVALID],
	    seen[NAM_ABSENT], seen[NAM_OK]);
	assert_true(seen[NAM_INVALID] > 1000 && seen[NAM_ABSENT] > 1000 && seen[NAM_OK] > 1000);
	scene_end(&s);
}

/* The sum of the usual leaf is written out; and a change of any word, or of any two that change
 * places, is seen. */
static void
checks(void **state)
{
	(void)state;
	struct nam_rng rng;
	nam_rng_init(&rng, 5);
	for (unsigned round = 0; round < 200; round++) {
		uint64_t word[39];
		for (unsigned i = 0; i < 39; i++)
			word[i] = round % 2 == 0 ? nam_rng_next(&rng) : nam_rng_below(&rng, 3);
		uint64_t sum = idx_check_words(word, 39, 0);
		assert_true(idx_check_39(word) == sum && sum != 0);
		for (unsigned i = 0; i < 39; i++) {
			uint64_t was = word[i];
			word[i] ^= UINT64_C(1) << nam_rng_below(&rng, 64);
			assert_true(idx_check_39(word) != sum && idx_check_words(word, 39, 0) != sum);
			word[i] = was;
			for (unsigned k = 0; k < i; k++) {
				word[i] = word[k];
				word[k] = was;
				assert_true((idx_check_words(word, 39, 0) == sum) == (word[i] == was));
				word[k] = word[i];
				word[i] = was;
			}
		}
		assert_true(idx_check_words(word, 38, 0) != sum && idx_check_words(word, 39, 1) != sum);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks),
		cmocka_unit_test(grows),
		cmocka_unit_test(equal_keys),
		cmocka_unit_test(races),
		cmocka_unit_test(wide_keys),
		cmocka_unit_test(tight_memory),
		cmocka_unit_test(broken_connections),
		cmocka_unit_test(partitions_move),
		cmocka_unit_test(ranges_are_emptied),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(own_changes_are_known),
		cmocka_unit_test(keys_and_names),
		cmocka_unit_test(client_crashes),
		cmocka_unit_test(partitions_grow),
		cmocka_unit_test(a_mover_dies),
		cmocka_unit_test(a_mover_stalls),
		cmocka_unit_test(a_fenced_mover_is_not_served),
		cmocka_unit_test(a_move_to_a_lost_node),
		cmocka_unit_test(a_fenced_client_is_not_served),
		cmocka_unit_test(dropped_trees),
		cmocka_unit_test(a_lost_node),
		cmocka_unit_test(a_late_request),
		cmocka_unit_test(bad_messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
