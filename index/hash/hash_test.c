/* hash_test.c -- the hash index on the simulator, judged by a model: round trips, limits, and
 * processes that die. */
#include <base/rounds.h>
#include <index/hash/hash_format.h>
#include <index/hash/hash_model.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* IDX_SEEDS=n IDX_SEED=first: more than the few seeds of a normal run. */
static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	return s != NULL ? strtoull(s, NULL, 0) : otherwise;
}

static void
worlds(enum model_kind kind, const char *name)
{
	uint64_t seed = number("IDX_SEED", 1), n = number("IDX_SEEDS", nam_rounds(8, 4, 2));
	unsigned reused = 0; /* runs that took less memory than the tables they made */
	for (uint64_t end = seed + n; seed < end; seed++) {
		struct model m;
		struct model_config cfg = model_world(kind, seed);
		model_start(&m, &cfg);
		model_run(&m);
		if (seed + 1 == end || m.broken[0] != 0)
			printf("%s, seed %" PRIu64 ": %" PRIu64 " lookups, %" PRIu64 " inserted, %" PRIu64
			       " removed, %" PRIu64 " duplicates; %" PRIu64 " tables, depth %u, %" PRIu64
			       " splits, %" PRIu64 " rewrites, load %.2f, %u extents %s\n",
			    name, seed, m.lookups, m.inserted, m.removed, m.duplicates, m.shape.tables,
			    m.shape.depth, m.shape.splits, m.shape.rewrites,
			    (double)m.shape.live / ((double)m.shape.slots + 1e-9), m.extents, m.broken);
		if (cfg.reuse == REUSE)
			reused += 4 * m.extents < 2 + 2 * m.shape.splits + m.shape.rewrites;
		assert_string_equal(m.broken, "");
		if (kind == MODEL_GROW)
			assert_true(m.shape.splits >= 3);
		if (kind == MODEL_CHURN)
			assert_true(m.shape.rewrites >= 1);
		if (kind == MODEL_RACE)
			assert_true(m.duplicates > 0);
		model_end(&m);
	}
	assert_true(kind == MODEL_RACE || reused > 0);
}

static void
grows_under_readers(void **state)
{
	(void)state;
	worlds(MODEL_GROW, "grow");
}
static void
churns(void **state)
{
	(void)state;
	worlds(MODEL_CHURN, "churn");
}
static void
one_entry_per_key(void **state)
{
	(void)state;
	worlds(MODEL_RACE, "race");
}

/* ---- exact results, in one coroutine --------------------------------------------------- */

static struct model world;
static void (*script)(struct model *m, struct net_worker *w);

static void
run_script(void *arg)
{
	(void)arg;
	script(&world, world.w[0][0]);
}

static void
scripted(void (*fn)(struct model *, struct net_worker *), unsigned extents_max)
{
	struct model_config cfg = {
		.seed = 3, .keys = 100000, .hash_mask = UINT64_MAX, .extents_max = extents_max
	};
	model_start(&world, &cfg);
	script = fn;
	nam_co_start(net_worker_sched(world.w[0][0]), run_script, NULL, 128 << 10);
	model_play(&world);
	assert_string_equal(world.broken, "");
	model_end(&world);
}

static nam_status
put(struct model *m, struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint32_t block)
{
	struct idx_probe p = { .ix = ix, .hash = hash };
	nam_status st = idx_lookup(w, &p, 1, NULL);
	if (st != NAM_OK)
		return st;
	if (p.status != NAM_ABSENT && p.status != NAM_OK)
		return p.status;
	p.block = block_addr(block);
	if (m->blocks <= block)
		m->blocks = block + 1;
	do
		idx_insert(w, &p, 1, NULL);
	while (p.status == NAM_DUPLICATE);
	return p.status;
}

/* 1 = found. */
static int
has(struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint32_t block)
{
	struct idx_probe p = { .ix = ix, .hash = hash };
	int n = 0;
	if (idx_lookup(w, &p, 1, NULL) != NAM_OK)
		return -1;
	for (unsigned h = 0; h < p.hits; h++)
		n += p.hit[h].bits == block_addr(block).bits;
	return n;
}

/* Room made before: what is there stays, and the entries come without a split. */
static void
reserve_script(struct model *m, struct net_worker *w)
{
	enum { BEFORE = 300, N = 20000 };
	struct idx_shape s, was;
	for (uint32_t i = 0; i < BEFORE; i++)
		assert_int_equal(put(m, w, m->ix[0], key_hash(m, i), i), NAM_OK);
	assert_int_equal(idx_hash_reserve(w, m->ix[0], N, NULL), NAM_OK);
	assert_int_equal(idx_hash_shape(w, m->ix[0], &was), NAM_OK);
	assert_true(was.tables == 32 && was.splits == 30 && was.slots >= N * 3 / 2);
	assert_int_equal(was.live, BEFORE);
	assert_int_equal(was.holder, 0);
	for (uint32_t i = BEFORE; i < N; i++)
		assert_int_equal(put(m, w, m->ix[0], key_hash(m, i), i), NAM_OK);
	assert_int_equal(idx_hash_shape(w, m->ix[0], &s), NAM_OK);
	assert_true(s.splits <= was.splits + 2); /* one that many keys happen to fall on */
	was = s;
	assert_int_equal(idx_hash_reserve(w, m->ix[0], N, NULL), NAM_OK); /* there is enough */
	assert_int_equal(idx_hash_shape(w, m->ix[0], &s), NAM_OK);
	assert_int_equal(s.splits, was.splits);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(has(w, m->ix[0], key_hash(m, i), i), 1);
	/* as far as the memory goes */
	assert_int_equal(idx_hash_reserve(w, m->ix[0], 1000000, NULL), NAM_FULL);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(has(w, m->ix[0], key_hash(m, i), i), 1);
	assert_int_equal(idx_hash_shape(w, m->ix[0], &s), NAM_OK);
	assert_int_equal(s.holder, 0);
}

static void
reserve(void **state)
{
	(void)state;
	scripted(reserve_script, 40);
}

static void
budgets_script(struct model *m, struct net_worker *w)
{
	enum { N = 20 };
	struct idx_probe p[N];
	struct net_counts c = { 0 };
	for (unsigned i = 0; i < N; i++)
		p[i] = (struct idx_probe){ .ix = m->ix[0], .hash = key_hash(m, i) };
	/* Without memory: one READ of the anchor for all. */
	assert_int_equal(idx_lookup(w, p, N, &c), NAM_OK);
	assert_int_equal(net_counts_verbs(&c), 1);
	assert_int_equal(m->extents, 0);
	assert_int_equal(idx_remove(w, m->ix[0], 7, block_addr(1), NULL), NAM_ABSENT);
	assert_int_equal(m->extents, 0);
	assert_int_equal(idx_hash_reserve(w, m->ix[0], 0, NULL), NAM_OK);
	assert_int_equal(m->extents, 1);
	c = (struct net_counts){ 0 };
	/* Cold: root, directory, then the slow look of each; later the bulk fits one doorbell. */
	assert_int_equal(idx_lookup(w, p, 1, NULL), NAM_OK);
	assert_int_equal(idx_lookup(w, p, N, &c), NAM_OK);
	assert_int_equal(c.round_trips, 1);
	assert_int_equal(c.verbs[NET_READ], N);
	assert_int_equal(net_counts_verbs(&c), N);
	assert_true(c.bytes_in <= N * 128);
	c = (struct net_counts){ 0 };
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(p[i].status, NAM_ABSENT);
		p[i].block = block_addr(i);
	}
	assert_int_equal(idx_insert(w, p, N, &c), NAM_OK);
	assert_int_equal(c.round_trips, 1);
	assert_int_equal(c.verbs[NET_CAS], N);
	assert_int_equal(net_counts_verbs(&c), N);
	c = (struct net_counts){ 0 };
	assert_int_equal(idx_lookup(w, p, N, &c), NAM_OK);
	assert_int_equal(c.round_trips, 1);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(p[i].status, NAM_OK);
		assert_int_equal(p[i].hits, 1);
		assert_int_equal(p[i].hit[0].bits, block_addr(i).bits);
	}
	c = (struct net_counts){ 0 };
	assert_int_equal(idx_remove(w, m->ix[0], p[0].hash, block_addr(0), &c), NAM_OK);
	assert_int_equal(c.round_trips, 2);
	assert_int_equal(idx_remove(w, m->ix[0], p[0].hash, block_addr(0), &c), NAM_ABSENT);
	assert_int_equal(idx_remove(w, m->ix[0], p[1].hash, block_addr(0), &c), NAM_ABSENT);

	/* Over a growing index: how many READs and round trips a lookup needs on average. */
	uint64_t trips = 0, looks = 0;
	for (uint32_t i = 100; i < 20000; i++) {
		assert_int_equal(put(m, w, m->ix[0], key_hash(m, i), i), NAM_OK);
		struct idx_probe q = { .ix = m->ix[0], .hash = key_hash(m, 100 + i * 7919 % (i - 99)) };
		c = (struct net_counts){ 0 };
		assert_int_equal(idx_lookup(w, &q, 1, &c), NAM_OK);
		assert_int_equal(q.status, NAM_OK);
		trips += c.round_trips;
		looks++;
	}
	struct idx_shape s;
	assert_int_equal(idx_hash_shape(w, m->ix[0], &s), NAM_OK);
	printf("%.4f round trips per lookup; %" PRIu64 " tables, depth %u, load %.2f\n",
	    (double)trips / (double)looks, s.tables, s.depth, (double)s.live / (double)s.slots);
	assert_true(trips * 100 < looks * 102);
}

static void
budgets(void **state)
{
	(void)state;
	scripted(budgets_script, 0);
}

static void
full_script(struct model *m, struct net_worker *w)
{
	uint32_t n = 0;
	while (put(m, w, m->ix[0], key_hash(m, n), n) == NAM_OK)
		n++;
	assert_int_equal(put(m, w, m->ix[0], key_hash(m, n), n), NAM_FULL);
	assert_true(n > 1792);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(has(w, m->ix[1 + i % 2], key_hash(m, i), i), 1);
	assert_int_equal(has(w, m->ix[1], key_hash(m, n), n), 0);
	m->cfg.extents_max = 0; /* there is memory now */
	for (uint32_t i = n; i < 3 * n; i++)
		assert_int_equal(put(m, w, m->ix[0], key_hash(m, i), i), NAM_OK);
	for (uint32_t i = 0; i < 3 * n; i++)
		assert_int_equal(has(w, m->ix[1 + i % 2], key_hash(m, i), i), 1);
}

static void
full_and_on(void **state)
{
	(void)state;
	scripted(full_script, 1);
}

/* Hashes whose low bits agree drive the directory deep: past its first memory, and past its
 * second. */
static void
deep_script(struct model *m, struct net_worker *w)
{
	struct idx_shape s;
	uint32_t n = 0;
	do {
		for (unsigned i = 0; i < 1000; i++, n++)
			assert_int_equal(put(m, w, m->ix[n % 2], key_hash(m, n) << 14 | 0x2a5a, n), NAM_OK);
		assert_int_equal(idx_hash_shape(w, m->ix[1], &s), NAM_OK);
	} while (s.depth < 15 && n < 20000);
	assert_true(s.depth >= 15);
	assert_int_equal(s.live, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(has(w, m->ix[i % 3], key_hash(m, i) << 14 | 0x2a5a, i), 1);
}

static void
deep(void **state)
{
	(void)state;
	scripted(deep_script, 0);
}

static void
limits_script(struct model *m, struct net_worker *w)
{
	/* More equal hashes than a probe can show. */
	for (uint32_t i = 0; i < IDX_HITS_MAX; i++)
		assert_int_equal(put(m, w, m->ix[0], 42, i), NAM_OK);
	struct idx_probe p = { .ix = m->ix[0], .hash = 42 };
	assert_int_equal(idx_lookup(w, &p, 1, NULL), NAM_OK);
	assert_int_equal(p.status, NAM_OK);
	assert_int_equal(p.hits, IDX_HITS_MAX);
	assert_int_equal(put(m, w, m->ix[0], 42, 8), NAM_OK);
	assert_int_equal(put(m, w, m->ix[0], 42, 9), NAM_FULL);
	/* Hash 0 and all ones are hashes like any other. */
	assert_int_equal(put(m, w, m->ix[0], 0, 10), NAM_OK);
	assert_int_equal(put(m, w, m->ix[0], UINT64_MAX, 11), NAM_OK);
	assert_int_equal(has(w, m->ix[1], 0, 10), 1);
	assert_int_equal(has(w, m->ix[1], UINT64_MAX, 11), 1);
	/* The last block an entry can name. */
	net_addr last = net_at(63, (UINT64_C(1) << 40) - 64);
	p = (struct idx_probe){ .ix = m->ix[0], .hash = 77 };
	idx_lookup(w, &p, 1, NULL);
	p.block = last;
	assert_int_equal(idx_insert(w, &p, 1, NULL), NAM_OK);
	idx_lookup(w, &p, 1, NULL);
	assert_int_equal(p.hit[0].bits, last.bits);
	/* An index whose bytes were damaged. */
	uint64_t bad = UINT64_MAX;
	struct idx_hash *fresh = idx_hash_open(m->anchor, &m->mem);
	p.ix = m->ix[0];
	net_write1(w, net_plus(m->anchor, offsetof(struct idx_anchor, root)), &bad, 8, NULL);
	p.ix = fresh;
	assert_int_equal(idx_lookup(w, &p, 1, NULL), NAM_INVALID);
	idx_hash_close(fresh);
}

static void
limits(void **state)
{
	(void)state;
	scripted(limits_script, 0);
}

/* ---- the packed formats, with many regions ------------------------------------------- */

static void
many_regions(void **state)
{
	(void)state;
	const unsigned most[] = { 1, 63, 64, 127, 128, 255, 256, 511, 512, 1000, NET_REGIONS - 1 };
	for (unsigned i = 0; i < sizeof most / sizeof *most; i++) {
		unsigned shift = idx_block_shift(most[i]);
		uint64_t bytes = idx_region_bytes(most[i]);
		assert_int_equal(shift, most[i] < 64    ? 34
					: most[i] < 128 ? 33
					: most[i] < 256 ? 32
					: most[i] < 512 ? 31
							: 30);
		assert_int_equal(bytes, UINT64_C(64) << shift);
		for (unsigned region = 1; region <= most[i]; region += 1 + region / 3) {
			const uint64_t off[] = { 0, 64, bytes / 2, bytes - 64 };
			for (unsigned k = 0; k < 4; k++) {
				uint64_t hash = nam_mix(region * 8 + k), block = net_at(region, off[k]).bits;
				uint64_t e = idx_entry(hash, block, shift);
				assert_true(idx_is_entry(e));
				assert_int_equal(idx_entry_block(e, shift), block);
				assert_int_equal(idx_entry_sig(e), idx_sig(hash));
			}
			assert_int_equal(idx_entry(5, net_at(region, bytes).bits, shift), 0);
			assert_int_equal(idx_entry(5, net_at(region, 8).bits, shift), 0);
			/* Directory words hold every region and offset. */
			for (unsigned turn = 0; turn < 1 << IDX_TURN_BITS; turn += 12345) {
				uint64_t table = net_at(region, NET_REGION_SIZE_MAX - IDX_TABLE_BYTES).bits;
				uint64_t w = idx_word(table, 22, turn);
				assert_int_equal(idx_word_table(w), table);
				assert_int_equal(idx_word_depth(w), 22);
				assert_int_equal(idx_word_turn(w), turn);
				assert_true(idx_word_sane(w, 22));
			}
			assert_true(idx_root_sane(idx_root(net_at(region, 1 << 20).bits, IDX_DEPTH_MAX, 12)));
		}
	}
	assert_false(idx_is_entry(0));
	assert_false(idx_is_entry(IDX_TOMB));
	assert_false(idx_is_entry(IDX_FROZEN));
	assert_int_equal(idx_entry(5, net_at(64, 64).bits, idx_block_shift(63)), 0);
	assert_int_equal(idx_entry(5, net_at(0, 64).bits, 34), 0);
	assert_false(idx_word_sane(idx_word(0, 3, 0), 22));
}

/* ---- a process that dies in the middle of a split ------------------------------------- */

enum { VICTIM_OWNER = 0xdead, FIRST = 2600 };

struct death {
	struct model *m;
	uint32_t n; /* keys 0..n are in for certain; n may be */
	bool held, died;
	unsigned busy, recovered;
};

/* The victim inserts until its fabric breaks. */
static void
victim(void *arg)
{
	struct death *d = arg;
	while (d->n < 6000 && put(d->m, d->m->w[0][0], d->m->ix[0], key_hash(d->m, d->n), d->n) == NAM_OK)
		d->n++;
	d->died = true;
}

static void
killer(void *arg)
{
	struct death *d = arg;
	struct net_worker *w = d->m->w[1][0];
	uint64_t lock;
	/* Waits until the victim splits, then a moment of its choice. */
	do {
		net_sleep(w, 500);
		net_read1(w, net_plus(d->m->anchor, offsetof(struct idx_anchor, lock)), &lock, 8, NULL);
	} while (lock != VICTIM_OWNER && !d->died);
	net_sleep(w, nam_rng_below(&d->m->rng, 60000));
	for (unsigned r = 1; r <= net_node_count(d->m->net[0]); r++)
		net_declare_lost(d->m->net[0], r);
}

static void
survivor(void *arg)
{
	struct death *d = arg;
	struct model *m = d->m;
	struct net_worker *w = m->w[2][0];
	struct idx_shape s;
	assert_int_equal(idx_hash_shape(w, m->ix[2], &s), NAM_OK);
	d->held = s.holder == VICTIM_OWNER;
	for (uint32_t i = 0; i < d->n; i++)
		assert_int_equal(has(w, m->ix[2], key_hash(m, i), i), 1); /* lookups go on */
	uint32_t next = d->n + 1;
	if (d->held) {
		/* Some insert must wait for the dead process, sooner or later. */
		for (; d->busy == 0 && next < d->n + 4000; next++) {
			nam_status st = put(m, w, m->ix[2], key_hash(m, next), next);
			if (st == NAM_BUSY)
				d->busy++;
			else
				assert_int_equal(st, NAM_OK);
		}
		assert_int_equal(d->busy, 1);
		next--;
		assert_int_equal(idx_hash_recover(w, m->ix[2], VICTIM_OWNER, NULL), NAM_OK);
		d->recovered++;
	}
	assert_int_equal(idx_hash_recover(w, m->ix[2], VICTIM_OWNER, NULL), NAM_ABSENT);
	for (; next < d->n + 4000; next++)
		assert_int_equal(put(m, w, m->ix[2], key_hash(m, next), next), NAM_OK);
	for (uint32_t i = 0; i < d->n + 4000; i++)
		if (i != d->n)
			assert_int_equal(has(w, m->ix[1 + i % 2], key_hash(m, i), i), 1);
	assert_int_equal(idx_hash_shape(w, m->ix[2], &s), NAM_OK);
	assert_int_equal(s.holder, 0);
	assert_true(s.live >= d->n + 3999 && s.live <= d->n + 4000);
}

static void
a_splitter_dies(void **state)
{
	(void)state;
	unsigned held = 0;
	uint64_t n = number("IDX_SEEDS", nam_rounds(12, 6, 4));
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct model m;
		struct model_config cfg = {
			.seed = seed, .keys = 1, .hash_mask = UINT64_MAX, .reuse = seed & 1 ? REUSE : KEEP
		};
		model_start(&m, &cfg);
		struct death d = { .m = &m };
		idx_hash_set_owner(m.ix[0], VICTIM_OWNER);
		nam_co_start(net_worker_sched(m.w[0][0]), victim, &d, 0);
		nam_co_start(net_worker_sched(m.w[1][0]), killer, &d, 0);
		model_play(&m);
		nam_co_start(net_worker_sched(m.w[2][0]), survivor, &d, 0);
		model_play(&m);
		held += d.held;
		assert_string_equal(m.broken, "");
		model_end(&m);
	}
	printf("%u of %" PRIu64 " deaths left the lock behind\n", held, n);
	assert_true(held > 0);
}

/* ---- a process dies while the directory gets its pages
 * ------------------------------------------- */

enum { SHALLOW = 900, DEEPER = 3000 };

struct paging {
	struct model *m;
	uint64_t at, verbs;
	uint32_t n;
};

static uint64_t
deep_hash(const struct model *m, uint32_t i)
{
	return key_hash(m, i) << 14 | 0x2a5a;
}

/* One table after the other becomes full, and the directory goes from one page to sixteen. */
static void
deepens(void *arg)
{
	struct paging *d = arg;
	struct model *m = d->m;
	struct net_worker *w = m->w[0][0];
	for (d->n = 0; d->n < SHALLOW; d->n++)
		if (put(m, w, m->ix[0], deep_hash(m, d->n), d->n) != NAM_OK)
			return;
	uint64_t from = net_sim_verbs(m->net[0]);
	if (d->at != 0)
		net_sim_crash_at(m->sim, m->net[0], from + d->at);
	while (d->n < DEEPER && put(m, w, m->ix[0], deep_hash(m, d->n), d->n) == NAM_OK)
		d->n++;
	d->verbs = net_sim_verbs(m->net[0]) - from;
}

/* Lists the use of each 16 KiB: directory, pages, sub-tables, spare. None has two uses. */
static void
used_once(const struct model *m, unsigned *pages)
{
	const char *base[4] = { 0 };
	for (unsigned r = 1; r <= net_node_count(m->net[1]); r++)
		base[r] = net_sim_memory(m->sim, r);
#define AT(addr) ((const void *)(base[(addr) >> 48 & 63] + ((addr) & ((UINT64_C(1) << 48) - 1))))
	const struct idx_anchor *a = AT(m->anchor.bits);
	uint64_t *unit = calloc(1 << 16, sizeof *unit), dir = idx_root_dir(a->root);
	unsigned n = 0;
	const uint64_t *page = idx_root_listed(a->root) ? AT(dir) : &dir;
	unit[n++] = dir;
	*pages = idx_root_pages(a->root);
	for (unsigned i = 0; idx_root_listed(a->root) && i < IDX_PAGES; i++)
		if (page[i] != 0)
			unit[n++] = page[i];
	for (uint64_t i = 0; i < UINT64_C(1) << idx_root_depth(a->root); i++) {
		const uint64_t *words = AT(page[i >> IDX_PAGE_LOG2]);
		uint64_t word = words[i & (IDX_PAGE_WORDS - 1)];
		if (i <= idx_low(idx_word_depth(word)))
			unit[n++] = idx_word_table(word);
	}
	for (uint64_t i = 0; i < (a->spare & (IDX_TABLE_BYTES - 1)); i++)
		unit[n++] = (a->spare & ~(uint64_t)(IDX_TABLE_BYTES - 1)) + i * IDX_TABLE_BYTES;
#undef AT
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			assert_true(unit[i] != unit[k]);
	free(unit);
}

static void
goes_on(void *arg)
{
	struct paging *d = arg;
	struct model *m = d->m;
	struct net_worker *w = m->w[1][0];
	if (net_sim_crashed(m->net[0])) {
		nam_status st = idx_hash_recover(w, m->ix[1], VICTIM_OWNER, NULL);
		assert_true(st == NAM_OK || st == NAM_ABSENT);
	}
	for (uint32_t i = d->n + 1; i < DEEPER; i++)
		assert_int_equal(put(m, w, m->ix[1], deep_hash(m, i), i), NAM_OK);
	for (uint32_t i = 0; i < DEEPER; i++)
		if (i != d->n)
			assert_int_equal(has(w, m->ix[1 + i % 2], deep_hash(m, i), i), 1);
}

static uint64_t
paging_world(uint64_t seed, uint64_t at)
{
	struct model m;
	struct model_config cfg = { .seed = seed, .keys = 1, .hash_mask = UINT64_MAX };
	unsigned pages;
	model_start(&m, &cfg);
	struct paging d = { .m = &m, .at = at };
	idx_hash_set_owner(m.ix[0], VICTIM_OWNER);
	nam_co_start(net_worker_sched(m.w[0][0]), deepens, &d, 0);
	net_sim_run(m.sim, NULL, NULL);
	nam_co_start(net_worker_sched(m.w[1][0]), goes_on, &d, 0);
	net_sim_run(m.sim, NULL, NULL);
	used_once(&m, &pages);
	assert_true(pages >= 16);
	if (net_sim_crashed(m.net[0])) {
		net_sim_bury(m.sim, m.net[0]);
		net_sim_run(m.sim, NULL, NULL);
	}
	model_end(&m);
	return d.verbs;
}

static void
a_pager_dies(void **state)
{
	(void)state;
	uint64_t last = paging_world(1, 0), died = 0;
	assert_true(last > 3000);
	for (uint64_t at = 1; at < last; at += 1 + last / nam_rounds(40, 15, 5), died++)
		paging_world(1 + at % 5, at + at % 7);
	printf("died %" PRIu64 " times on the way to 16 pages\n", died);
}

/* ---- a process remembers a sub-table whose memory is used again for the same keys
 * ------------- */

static void
a_stale_word_is_harmless(void **state)
{
	(void)state;
	char words[200];
	for (uint64_t seed = 1; seed <= 2; seed++) {
		uint64_t last = stale_world(seed, 0, words);
		assert_string_equal(words, "");
		assert_true(last > 200);
		for (uint64_t at = 1; at <= last; at += nam_rounds(1, 4, 9)) {
			stale_world(seed, at, words);
			assert_string_equal(words, "");
		}
	}
}

/* ---- a walk in parts, while tables are split ----------------------------------------------- */

enum { WALKED = 40000 };

struct walked {
	struct model *m;
	uint32_t in; /* so many have been inserted */
	unsigned rounds;
	uint64_t twice;
};

static void
walked_inserter(void *arg)
{
	struct walked *k = arg;
	for (; k->in < WALKED; k->in++)
		assert_int_equal(put(k->m, k->m->w[1][0], k->m->ix[1], key_hash(k->m, k->in), k->in), NAM_OK);
}

static void
walked_entry(void *arg, net_addr block, uint64_t hash)
{
	struct walked *k = arg;
	uint32_t i = block_number(block);
	assert_true(i <= k->in);
	assert_int_equal(hash, key_hash(k->m, i) & idx_low(30));
	k->twice += k->m->block_seen[i];
	k->m->block_seen[i] = 1;
}

static void
walker(void *arg)
{
	struct walked *k = arg;
	struct model *m = k->m;
	for (; k->in < WALKED; k->rounds++) {
		uint32_t before = k->in;
		memset(m->block_seen, 0, WALKED + 1);
		for (uint64_t from = 0; from != UINT64_MAX;)
			assert_int_equal(idx_walk_some(m->w[0][0], m->ix[0], &from, walked_entry, k), NAM_OK);
		for (uint32_t i = 0; i < before; i++)
			assert_int_equal(m->block_seen[i], 1);
	}
}

static void
walked_in_parts(void **state)
{
	(void)state;
	struct model m;
	for (uint64_t seed = 1; seed <= nam_rounds(4, 2, 1); seed++) {
		struct model_config cfg = { .seed = seed, .keys = 100000, .hash_mask = UINT64_MAX };
		struct walked k = { .m = &m };
		model_start(&m, &cfg);
		nam_co_start(net_worker_sched(m.w[1][0]), walked_inserter, &k, 128 << 10);
		nam_co_start(net_worker_sched(m.w[0][0]), walker, &k, 128 << 10);
		model_play(&m);
		assert_string_equal(m.broken, "");
		printf("%u walks in parts, %" PRIu64 " entries met twice\n", k.rounds, k.twice);
		assert_true(k.rounds > 5);
		model_end(&m);
	}
}

/* ---- what resizes leave behind belongs to the index, not to a process ---- */

enum { LIVES = 30, REWRITES_A_LIFE = 4 };

/* Each sub-table of the index is in one place: reachable, listed, spare. Returns how many are in
 * none: lost. */
static unsigned
lost_tables(struct model *m, struct net_worker *w)
{
	struct idx_anchor a;
	uint64_t page[IDX_PAGE_WORDS];
	struct idx_left left[IDX_LEFT];
	assert_int_equal(net_read1(w, m->anchor, &a, sizeof a, NULL), NAM_OK);
	assert_true(idx_root_depth(a.root) <= IDX_PAGE_LOG2);
	uint64_t words = UINT64_C(1) << idx_root_depth(a.root);
	assert_int_equal(
	    net_read1(w, (net_addr){ idx_root_dir(a.root) }, page, 8 * (uint32_t)words, NULL), NAM_OK);
	if (a.left != 0)
		assert_int_equal(net_read1(w, (net_addr){ a.left }, left, sizeof left, NULL), NAM_OK);
	uint64_t table[2048];
	unsigned n = 0, spare = a.spare & (IDX_TABLE_BYTES - 1);
	for (uint64_t i = 0; i < words; i++)
		if (i < UINT64_C(1) << idx_word_depth(page[i])) /* the first of its words */
			table[n++] = idx_word_table(page[i]);
	for (unsigned i = 0; i < (uint32_t)a.left_at; i++)
		table[n++] = left[((a.left_at >> 32) + i) % IDX_LEFT].table;
	for (unsigned i = 0; i < spare; i++)
		table[n++] = (a.spare & ~(uint64_t)(IDX_TABLE_BYTES - 1)) + i * (uint64_t)IDX_TABLE_BYTES;
	table[n++] = idx_root_dir(a.root);
	if (a.left != 0)
		table[n++] = a.left;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			assert_true(table[i] != table[k]);
	assert_true(n <= 4 * m->extents);
	return 4 * m->extents - n;
}

struct life {
	struct model *m;
	unsigned p, rewrites;
	uint64_t at, verbs; /* dies at this verb of its last rewrite, 0 = lives; that had so many */
	bool recovers;
	unsigned lost;
};

static void
lives(void *arg)
{
	struct life *l = arg;
	struct model *m = l->m;
	struct net_worker *w = m->w[l->p][0];
	nam_status st = NAM_OK;
	if (l->recovers) {
		struct nam_err err = { 0 };
		assert_int_equal(net_fence_process(w, net_identity(m->net[0]), 0, &err), NAM_OK);
		st = idx_hash_recover(w, m->ix[l->p], STALE_OWNER, NULL);
		assert_true(st == NAM_OK || st == NAM_ABSENT);
		st = NAM_OK;
	}
	for (unsigned i = 0; i < l->rewrites && st == NAM_OK; i++) {
		uint64_t from = net_sim_verbs(m->net[l->p]);
		if (l->at != 0 && i == l->rewrites - 1)
			net_sim_crash_at(m->sim, m->net[l->p], from + l->at);
		/* As many as fill the sequence of a home, and one more. */
		for (uint32_t k = 0; st == NAM_OK && k <= IDX_SLOTS * IDX_PROBES; k++) {
			uint32_t key = 1000 * l->p + 40 * i + k;
			if ((st = stale_put(w, m->ix[l->p], stale_hash(key), key)) == NAM_OK)
				st = idx_remove(w, m->ix[l->p], stale_hash(key), block_addr(key), NULL);
		}
		l->verbs = net_sim_verbs(m->net[l->p]) - from;
	}
	if (l->at == 0) {
		assert_int_equal(st, NAM_OK);
		l->lost = lost_tables(m, w);
	}
}

static void
live(struct life *l)
{
	nam_co_start(net_worker_sched(l->m->w[l->p][0]), lives, l, 256 << 10);
	net_sim_run(l->m->sim, NULL, NULL);
}

static void
left_by_one_used_by_another(void **state)
{
	(void)state;
	struct model m;
	struct model_config cfg = { .seed = 5, .keys = 1, .hash_mask = UINT64_MAX, .reuse = REUSE };
	const struct idx_reclaim reclaim = { model_now, model_passed, &m };
	model_start(&m, &cfg);
	for (unsigned i = 0; i < LIVES; i++) {
		struct life l = { .m = &m, .p = i % PROCS, .rewrites = REWRITES_A_LIFE };
		live(&l);
		assert_int_equal(l.lost, 0);
		idx_hash_close(m.ix[l.p]);
		m.ix[l.p] = idx_hash_open(m.anchor, &m.mem);
		idx_hash_set_reclaim(m.ix[l.p], &reclaim);
	}
	printf("%u processes with %u rewrites each: %u extents\n", LIVES, REWRITES_A_LIFE, m.extents);
	assert_true(m.extents <= 2);
	model_end(&m);
}

/* A process dies at each verb of its last rewrite, the next one recovers its lock. 1 rewrite: it
 * also makes the first sub-tables. */
static void
left_by_the_dead_of(unsigned rewrites)
{
	unsigned lossy = 0, extents = 0;
	uint64_t at = 0, verbs = 0, n = 0;
	for (; at <= verbs; at += nam_rounds(1, 2, 5), n++) {
		struct model m;
		struct model_config cfg = { .seed = 5, .keys = 1, .hash_mask = UINT64_MAX, .reuse = REUSE };
		model_start(&m, &cfg);
		idx_hash_set_owner(m.ix[0], STALE_OWNER);
		struct life first = { .m = &m, .p = 0, .rewrites = rewrites, .at = at };
		struct life next = { .m = &m, .p = 2, .rewrites = 5, .recovers = true };
		live(&first);
		if (at == 0)
			verbs = first.verbs;
		live(&next);
		/* An extent that was taken and not written down yet. */
		extents += next.lost == IDX_TABLES_PER_EXTENT;
		lossy += next.lost == 1;
		assert_true(next.lost <= 1 || next.lost == IDX_TABLES_PER_EXTENT);
		assert_true(m.extents <= 2 + (next.lost == IDX_TABLES_PER_EXTENT));
		if (net_sim_crashed(m.net[0])) {
			net_sim_bury(m.sim, m.net[0]);
			net_sim_run(m.sim, NULL, NULL);
		}
		model_end(&m);
	}
	printf("%" PRIu64 " deaths, %u of them lost a sub-table, %u an extent\n", n - 1, lossy, extents);
	assert_true(verbs > 60);
	/* Between the two WRITEs that make the list, its memory is in neither. */
	assert_true(lossy <= 4);
	/* To take an extent takes some verbs. */
	assert_true(extents <= 8);
}

static void
left_by_the_dead(void **state)
{
	(void)state;
	left_by_the_dead_of(3);
	left_by_the_dead_of(1);
}

/* The WRITEs of a maker whose connection has broken execute when others have made the sub-tables.
 * */
static void
a_maker_in_doubt(void **state)
{
	(void)state;
	unsigned lates = 0;
	for (uint64_t seed = 1; seed <= nam_rounds(700, 350, 100); seed++) {
		bool late;
		assert_int_equal(doubt_world(seed, &late), 0);
		lates += late;
	}
	assert_true(lates > nam_rounds(10, 5, 0));
}

static void
same_seed_same_run(void **state)
{
	(void)state;
	uint64_t trace[2];
	for (unsigned i = 0; i < 2; i++) {
		struct model m;
		struct model_config cfg = model_world(MODEL_RACE, 9);
		cfg.keys = 300;
		model_start(&m, &cfg);
		/* Random numbers that the index draws from the real clock or kernel must not change
		 * the run. */
		for (unsigned p = 0; p < PROCS; p++)
			idx_hash_set_owner(m.ix[p], p + 1);
		model_run(&m);
		trace[i] = net_sim_trace_hash(m.sim);
		model_end(&m);
	}
	assert_true(trace[0] == trace[1]);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserve),
		cmocka_unit_test(budgets),
		cmocka_unit_test(limits),
		cmocka_unit_test(many_regions),
		cmocka_unit_test(full_and_on),
		cmocka_unit_test(deep),
		cmocka_unit_test(one_entry_per_key),
		cmocka_unit_test(grows_under_readers),
		cmocka_unit_test(churns),
		cmocka_unit_test(a_splitter_dies),
		cmocka_unit_test(a_pager_dies),
		cmocka_unit_test(a_stale_word_is_harmless),
		cmocka_unit_test(walked_in_parts),
		cmocka_unit_test(left_by_one_used_by_another),
		cmocka_unit_test(left_by_the_dead),
		cmocka_unit_test(a_maker_in_doubt),
		cmocka_unit_test(same_seed_same_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
