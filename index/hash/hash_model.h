/*
 * hash_model.h -- a simulated cluster that uses one hash index, and a judge that knows the entries
 * it must have.
 *
 * Included by tests only. The judge keeps, per key, whether it is in, since when, and how many
 * actors work on it; it shares no code with the index. It notes the first violation in `broken` and
 * stops all actors, so that broken twins can be judged as well.
 *
 * What it checks
 *   one entry   an insert that succeeds while the key is in already: two entries for one key
 *   found       a lookup of a key that was in, untouched, all the time, and did not find its block
 *   absent      a lookup of a key that was out all the time, and found an entry of it
 *   removed     a remove of an entry that is there and says it is not
 *   the end     idx_walk shows each entry the judge knows, once, and no other
 */
#include <base/assert.h>
#include <base/hash.h>
#include <index/index.h>
#include <net/sim/sim.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCS = 3, WORKERS = 2, BATCH = 6, BLOCKS_MAX = 1 << 20 };

struct model_key {
	uint32_t block; /* its block's number, while live */
	uint32_t stamp; /* begins and ends of inserts and removes */
	uint16_t busy;  /* inserts and removes under way */
	bool live, claimed;
};

struct model;
struct actor {
	struct model *m;
	struct net_worker *w;
	struct idx_hash *ix;
	unsigned number;
	uint64_t since; /* stamp at the begin of its step */
};
enum { ACTORS_MAX = 32 };

struct model_config {
	uint64_t seed;
	unsigned keys, actors, steps;
	unsigned insert_percent, remove_percent;   /* the other steps are lookups */
	uint64_t hash_mask;                        /* bits of the hash that differ */
	bool lockstep;                             /* all actors insert all keys in the same
						    * order */
	unsigned extents_max;                      /* memory, 0 = all there is */
	enum { KEEP, REUSE, REUSE_AT_ONCE } reuse; /* of tables left behind; the last is wrong */
};

struct model {
	struct model_config cfg;
	struct net_sim *sim;
	struct net *net[PROCS];
	struct net_worker *w[PROCS][WORKERS];
	struct idx_hash *ix[PROCS];
	struct idx_memory mem;
	net_addr anchor;
	unsigned extents; /* taken so far */
	struct model_key *key;
	uint32_t *block_key; /* the key of each block */
	uint8_t *block_seen; /* by the walk */
	uint32_t blocks;
	uint64_t clock;
	struct actor *actor[ACTORS_MAX]; /* alive */
	struct nam_rng rng;
	struct idx_shape shape;
	uint64_t lookups, inserted, removed, duplicates, full;
	char broken[200];
};

__attribute__((format(printf, 2, 3))) static void
violated(struct model *m, const char *fmt, ...)
{
	if (m->broken[0] != 0)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(m->broken, sizeof m->broken, fmt, ap);
	va_end(ap);
}

static uint64_t
key_hash(const struct model *m, uint32_t key)
{
	return nam_mix(key + UINT64_C(0x1234567)) & m->cfg.hash_mask;
}
static net_addr
block_addr(uint32_t block)
{
	return net_at(1 + block % 63, (uint64_t)(block + 1) * 64);
}
static uint32_t
block_number(net_addr a)
{
	return (uint32_t)(net_offset_of(a) / 64 - 1);
}
/* The result that a READ of the record would give. */
static bool
hit_is(const struct model *m, net_addr hit, uint32_t key)
{
	uint32_t n = block_number(hit);
	return n < m->blocks && m->block_key[n] == key;
}

static nam_status
model_take(void *arg, struct net_worker *w, net_addr *out)
{
	struct model *m = arg;
	if (m->cfg.extents_max != 0 && m->extents + 1 > m->cfg.extents_max)
		return NAM_FULL;
	m->extents++;
	return net_extent_take(w, 1 + m->extents % net_node_count(net_worker_net(w)), 1, out);
}

/* The watermark: no actor is in a step that began before the stamp. */
static nam_status
model_now(void *arg, struct net_worker *w, uint64_t *stamp)
{
	(void)w;
	*stamp = ((struct model *)arg)->clock;
	return NAM_OK;
}
static bool
model_passed(void *arg, struct net_worker *w, uint64_t stamp)
{
	const struct model *m = arg;
	(void)w;
	for (unsigned i = 0; i < ACTORS_MAX && m->cfg.reuse != REUSE_AT_ONCE; i++)
		if (m->actor[i] != NULL && m->actor[i]->since <= stamp)
			return false;
	return true;
}

/* ---- one step each --------------------------------------------------------- */

/* Looks n different keys up and judges the answers. */
static bool
look(struct actor *a, struct idx_probe *p, const uint32_t *key, unsigned n)
{
	struct model *m = a->m;
	struct model_key before[BATCH];
	for (unsigned i = 0; i < n; i++) {
		before[i] = m->key[key[i]];
		p[i] = (struct idx_probe){ .ix = a->ix, .hash = key_hash(m, key[i]) };
	}
	nam_status st = idx_lookup(a->w, p, n, NULL);
	if (st != NAM_OK) {
		violated(m, "lookup says %s", nam_status_name(st));
		return false;
	}
	m->lookups += n;
	for (unsigned i = 0; i < n; i++) {
		const struct model_key *k = &m->key[key[i]];
		unsigned mine = 0, right = 0;
		if (p[i].status != (p[i].hits > 0 ? NAM_OK : NAM_ABSENT)) {
			violated(m, "a probe says %s with %u hits", nam_status_name(p[i].status), p[i].hits);
			return false;
		}
		for (unsigned h = 0; h < p[i].hits; h++) {
			mine += hit_is(m, p[i].hit[h], key[i]);
			right += before[i].live && p[i].hit[h].bits == block_addr(before[i].block).bits;
		}
		if (before[i].busy > 0 || before[i].stamp != k->stamp)
			continue;
		if (before[i].live && right != 1)
			violated(m, "found: key %u is in with block %u and was found %u times", key[i],
			    before[i].block, right);
		else if (mine != right)
			violated(m, "absent: key %u, %u hits are its, %u should", key[i], mine, right);
	}
	return m->broken[0] == 0;
}

static void
insert(struct actor *a, const uint32_t *key, unsigned n)
{
	struct model *m = a->m;
	struct idx_probe p[BATCH], again[BATCH];
	uint32_t who[BATCH], block[BATCH];
	if (m->blocks + n > BLOCKS_MAX) {
		violated(m, "the test has no more blocks");
		return;
	}
	if (!look(a, p, key, n))
		return;
	for (unsigned i = 0; i < n; i++) {
		who[i] = key[i];
		block[i] = m->blocks++;
		m->block_key[block[i]] = key[i];
		m->key[key[i]].busy++;
		m->key[key[i]].stamp++;
	}
	/* Some are slow, so that their lookups are stale. */
	if (!m->cfg.lockstep && nam_rng_below(&m->rng, 20) == 0)
		net_sleep(a->w, nam_rng_below(&m->rng, 400000));
	while (n > 0) {
		/* Leave out keys that exist. */
		unsigned left = 0;
		for (unsigned i = 0; i < n; i++) {
			bool exists = false;
			for (unsigned h = 0; h < p[i].hits; h++)
				exists |= hit_is(m, p[i].hit[h], who[i]);
			if (exists) {
				m->key[who[i]].busy--;
				m->key[who[i]].stamp++;
				continue;
			}
			again[left] = p[i];
			again[left].block = block_addr(block[i]);
			who[left] = who[i];
			block[left++] = block[i];
		}
		if (left == 0)
			return;
		nam_status st = idx_insert(a->w, again, left, NULL);
		if (st != NAM_OK)
			violated(m, "insert says %s", nam_status_name(st));
		n = 0;
		for (unsigned i = 0; i < left; i++) {
			struct model_key *k = &m->key[who[i]];
			if (again[i].status == NAM_DUPLICATE) {
				m->duplicates++;
				p[n] = again[i];
				who[n] = who[i];
				block[n++] = block[i];
				continue;
			}
			if (again[i].status == NAM_FULL && m->cfg.extents_max != 0)
				m->full++;
			else if (again[i].status != NAM_OK)
				violated(m, "an inserting probe says %s", nam_status_name(again[i].status));
			else if (k->live)
				violated(m, "one entry: key %u was inserted twice, blocks %u and %u", who[i],
				    k->block, block[i]);
			if (again[i].status == NAM_OK) {
				m->inserted++;
				k->live = true;
				k->block = block[i];
			}
			k->busy--;
			k->stamp++;
		}
	}
}

static void
remove_key(struct actor *a, uint32_t key)
{
	struct model *m = a->m;
	struct model_key *k = &m->key[key];
	if (!k->live || k->claimed)
		return;
	uint32_t block = k->block;
	k->live = false; /* from now on another may insert it */
	k->busy++;
	k->stamp++;
	nam_status st = idx_remove(a->w, a->ix, key_hash(m, key), block_addr(block), NULL);
	if (st != NAM_OK)
		violated(m, "removed: key %u, block %u: %s", key, block, nam_status_name(st));
	m->removed++;
	k->busy--;
	k->stamp++;
}

static void
act(void *arg)
{
	struct actor *a = arg;
	struct model *m = a->m;
	const struct model_config *c = &m->cfg;
	unsigned total = c->lockstep ? (c->keys + BATCH - 1) / BATCH : c->steps;
	for (unsigned step = 0; step < total && m->broken[0] == 0; step++) {
		uint32_t key[BATCH];
		a->since = ++m->clock;
		unsigned n = 1 + (unsigned)nam_rng_below(&m->rng, BATCH);
		unsigned dice = (unsigned)nam_rng_below(&m->rng, 100);
		if (c->lockstep) {
			for (n = 0; n < BATCH && step * BATCH + n < c->keys; n++)
				key[n] = step * BATCH + n;
			insert(a, key, n);
			continue;
		}
		/* Different keys, side by side. */
		uint32_t first = (uint32_t)nam_rng_below(&m->rng, c->keys - BATCH);
		for (unsigned i = 0; i < n; i++)
			key[i] = first + i;
		struct idx_probe p[BATCH];
		if (dice < c->insert_percent)
			insert(a, key, n);
		else if (dice < c->insert_percent + c->remove_percent)
			remove_key(a, key[0]);
		else
			look(a, p, key, n);
	}
	m->actor[a->number] = NULL;
	free(a);
}

/* ---- the cluster -------------------------------------------------------------- */

static void
model_boot(void *arg)
{
	struct model *m = arg;
	nam_status st = net_extent_take(m->w[0][0], 1, 1, &m->anchor);
	if (st != NAM_OK)
		violated(m, "boot says %s", nam_status_name(st));
}

static void
walked(void *arg, net_addr block)
{
	struct model *m = arg;
	uint32_t n = block_number(block);
	if (n >= m->blocks)
		violated(m, "the end: an entry leads to %" PRIx64, block.bits);
	else if (m->block_seen[n]++ != 0)
		violated(m, "the end: block %u (key %u) has two entries", n, m->block_key[n]);
}

static void
model_walk(void *arg)
{
	struct model *m = arg;
	memset(m->block_seen, 0, m->blocks);
	nam_status st = idx_walk(m->w[1][0], m->ix[1], walked, m);
	if (st == NAM_OK)
		st = idx_hash_shape(m->w[1][0], m->ix[1], &m->shape);
	if (st != NAM_OK)
		violated(m, "walk says %s", nam_status_name(st));
	for (uint32_t k = 0; k < m->cfg.keys; k++)
		if (m->key[k].live && m->block_seen[m->key[k].block] == 0)
			violated(m, "the end: key %u (block %u) is lost", k, m->key[k].block);
	for (uint32_t b = 0; b < m->blocks; b++)
		if (m->block_seen[b] != 0 &&
		    (!m->key[m->block_key[b]].live || m->key[m->block_key[b]].block != b))
			violated(m, "the end: block %u of key %u should not be in", b, m->block_key[b]);
	if (m->shape.holder != 0)
		violated(m, "the end: a process holds the resize lock");
}

static void
model_play(struct model *m)
{
	if (m->broken[0] == 0 && !net_sim_run(m->sim, NULL, NULL)) {
		violated(m, "deadlock");
		printf("seed %" PRIu64 ": deadlock\n", m->cfg.seed);
		abort(); /* coroutines are parked for ever: the cluster cannot be closed */
	}
}

static void
model_start(struct model *m, const struct model_config *cfg)
{
	*m = (struct model){ .cfg = *cfg };
	m->mem = (struct idx_memory){ .take = model_take, .arg = m };
	nam_rng_init(&m->rng, cfg->seed * 77 + 1);
	m->key = calloc(cfg->keys, sizeof *m->key);
	m->block_key = malloc(BLOCKS_MAX * sizeof *m->block_key);
	m->block_seen = malloc(BLOCKS_MAX);
	struct net_sim_config sc = {
		.seed = cfg->seed,
		.nodes = 1 + (unsigned)(cfg->seed % 3),
		.region_bytes = 64 << 20,
		.jitter_ns = cfg->seed % 2 ? 0 : 5000,
		.tear_permille = 300,
		.reorder_permille = 300,
	};
	struct nam_err err;
	nam_status st = net_sim_open(&m->sim, &sc);
	for (unsigned p = 0; p < PROCS && st == NAM_OK; p++) {
		st = net_sim_attach(m->sim, &m->net[p]);
		for (unsigned i = 0; i < WORKERS && st == NAM_OK; i++)
			st = net_worker_open(m->net[p], &m->w[p][i], &err);
	}
	if (st != NAM_OK || m->key == NULL || m->block_key == NULL || m->block_seen == NULL) {
		printf("cannot set the model up\n");
		abort();
	}
	nam_co_start(net_worker_sched(m->w[0][0]), model_boot, m, 0);
	model_play(m);
	const struct idx_reclaim reclaim = { model_now, model_passed, m };
	for (unsigned p = 0; p < PROCS; p++) {
		m->ix[p] = idx_hash_open(m->anchor, &m->mem);
		if (cfg->reuse != KEEP)
			idx_hash_set_reclaim(m->ix[p], &reclaim);
	}
}

/* All actors do their steps; then the walk. */
static void
model_run(struct model *m)
{
	for (unsigned i = 0; i < m->cfg.actors; i++) {
		struct actor *a = malloc(sizeof *a);
		unsigned p = i % PROCS;
		*a = (struct actor){ m, m->w[p][i / PROCS % WORKERS], m->ix[p], i, 0 };
		m->actor[i] = a;
		nam_co_start(net_worker_sched(a->w), act, a, 0);
	}
	model_play(m);
	if (m->broken[0] != 0)
		return;
	nam_co_start(net_worker_sched(m->w[1][0]), model_walk, m, 0);
	model_play(m);
}

static void
model_end(struct model *m)
{
	for (unsigned p = 0; p < PROCS; p++) {
		idx_hash_close(m->ix[p]);
		for (unsigned i = 0; i < WORKERS; i++)
			net_worker_close(m->w[p][i]);
		net_close(m->net[p]);
	}
	net_sim_close(m->sim);
	free(m->key);
	free(m->block_key);
	free(m->block_seen);
}

/* Three worlds that every sound build of the index must survive, and no twin may. */
enum model_kind { MODEL_GROW, MODEL_CHURN, MODEL_RACE, MODEL_KINDS };

static struct model_config
model_world(enum model_kind kind, uint64_t seed)
{
	/* 17 of the bits that an entry holds: 4 of the directory, 8 of the bucket, 5 more. False
	 * candidates are common then, and so are conflicts about slots. */
	const uint64_t narrow = (UINT64_C(0xff) << 22) | 0xf | (0x1f << 14);
	switch (kind) {
	case MODEL_GROW:
		return (struct model_config){ .seed = seed,
			.keys = 8000,
			.actors = 18,
			.steps = 500,
			.insert_percent = 60,
			.remove_percent = 8,
			.hash_mask = seed & 1 ? UINT64_MAX : narrow,
			.reuse = seed & 2 ? REUSE : KEEP };
	case MODEL_CHURN:
		return (struct model_config){ .seed = seed,
			.keys = 1500,
			.actors = 18,
			.steps = 1000,
			.insert_percent = 40,
			.remove_percent = 45,
			.hash_mask = UINT64_MAX,
			.reuse = seed & 1 ? REUSE : KEEP };
	default:
		return (struct model_config){ .seed = seed,
			.keys = 4000,
			.actors = 12,
			.lockstep = true,
			.hash_mask = seed & 1 ? UINT64_MAX : narrow };
	}
}

/*
 * ---- a stale word ----------------------------------------------------------
 *
 * One sub-table is rewritten twice, the second time into the memory that the first rewrite left
 * behind, which process 2 still remembers. The rewriting process dies at one of its verbs (at; 0 =
 * it lives), and only then process 2 inserts.
 */
/* One entry more, and it lies so far from home that the table is rewritten. */
enum { STALE_SAME = 21, STALE_KEYS = 12, STALE_OWNER = 0xdead };

struct stale {
	struct model *m;
	uint64_t verbs, at;
	bool rewriting;
	uint32_t in[STALE_KEYS]; /* keys that process 2 inserted */
	unsigned n;
};

/* All in one home bucket; those of process 2, one in each of many others. */
static uint64_t
stale_hash(uint32_t i)
{
	return nam_mix(i) << 30 | (uint64_t)7 << 22 | (uint64_t)(i & 0x1ff) << 13;
}
static uint64_t
stale_other(uint32_t i)
{
	return (uint64_t)(i + 3) << 34 | (uint64_t)(40 + i) << 22 | (uint64_t)(i & 0x1ff) << 13;
}

static nam_status
stale_put(struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint32_t block)
{
	struct idx_probe p = { .ix = ix, .hash = hash };
	nam_status st = idx_lookup(w, &p, 1, NULL);
	if (st != NAM_OK)
		return st;
	p.block = block_addr(block);
	st = idx_insert(w, &p, 1, NULL);
	return st != NAM_OK ? st : p.status;
}

/* Fills one home's sequence with tombs, so that the next insert there rewrites the table. */
static nam_status
stale_round(struct model *m, struct net_worker *w, uint32_t from, uint32_t n)
{
	nam_status st = NAM_OK;
	for (uint32_t i = from; st == NAM_OK && i < from + n; i++)
		st = stale_put(w, m->ix[0], stale_hash(i), i);
	for (uint32_t i = from; st == NAM_OK && i < from + n; i++)
		st = idx_remove(w, m->ix[0], stale_hash(i), block_addr(i), NULL);
	return st;
}

static void
stale_rewriter(void *arg)
{
	struct stale *s = arg;
	struct net_worker *w = s->m->w[0][0];
	nam_status st = NAM_OK;
	if (!s->rewriting) {
		st = stale_put(w, s->m->ix[0], stale_other(STALE_KEYS), 4000);
		if (st == NAM_OK)
			st = stale_round(s->m, w, 0, STALE_SAME);
		if (st != NAM_OK)
			violated(s->m, "preparing: %s", nam_status_name(st));
		return;
	}
	uint64_t from = net_sim_verbs(s->m->net[0]);
	if (s->at != 0)
		net_sim_crash_at(s->m->sim, s->m->net[0], from + s->at);
	(void)stale_put(w, s->m->ix[0], stale_hash(3000), 3000);
	s->verbs = net_sim_verbs(s->m->net[0]) - from;
}

static void
stale_first(void *arg)
{
	struct stale *s = arg;
	struct net_worker *w = s->m->w[0][0];
	nam_status st = stale_put(w, s->m->ix[0], stale_hash(1000), 1000);
	if (st == NAM_OK)
		st = idx_remove(w, s->m->ix[0], stale_hash(1000), block_addr(1000), NULL);
	if (st == NAM_OK)
		st = stale_round(s->m, w, 1001, STALE_SAME - 1); /* and the tomb of the one */
	if (st != NAM_OK)
		violated(s->m, "the first rewrite: %s", nam_status_name(st));
}

/* Process 2 remembers the directory from before the first rewrite. */
static void
stale_remembers(void *arg)
{
	struct stale *s = arg;
	struct idx_probe p = { .ix = s->m->ix[2], .hash = stale_other(0) };
	if (idx_lookup(s->m->w[2][0], &p, 1, NULL) != NAM_OK)
		violated(s->m, "no directory");
}

static void
stale_inserter(void *arg)
{
	struct stale *s = arg;
	struct net_worker *w = s->m->w[2][0];
	for (uint32_t i = 0; i < STALE_KEYS; i++) {
		nam_status st = stale_put(w, s->m->ix[2], stale_other(i), 5000 + i);
		if (st == NAM_OK)
			s->in[s->n++] = i;
		else if (st == NAM_BUSY)
			break;
		else
			violated(s->m, "an insert says %s", nam_status_name(st));
	}
}

/* A process with a fresh directory finds all keys inserted. */
static void
stale_judge(void *arg)
{
	struct stale *s = arg;
	struct model *m = s->m;
	struct net_worker *w = m->w[1][0];
	nam_status st =
	    net_sim_crashed(m->net[0]) ? idx_hash_recover(w, m->ix[1], STALE_OWNER, NULL) : NAM_OK;
	if (st != NAM_OK && st != NAM_ABSENT)
		violated(m, "recovery: %s", nam_status_name(st));
	/* Another resize of that table, by way of the directory. */
	for (uint32_t i = 6000; i < 6000 + 2 * STALE_SAME; i++)
		(void)stale_put(w, m->ix[1], stale_hash(i), i);
	for (unsigned k = 0; k < s->n; k++) {
		struct idx_probe p = { .ix = m->ix[1], .hash = stale_other(s->in[k]) };
		unsigned right = 0;
		st = idx_lookup(w, &p, 1, NULL);
		for (unsigned h = 0; st == NAM_OK && h < p.hits; h++)
			right += p.hit[h].bits == block_addr(5000 + s->in[k]).bits;
		if (st != NAM_OK || right != 1)
			violated(m, "died at verb %" PRIu64 ": key %u was inserted, and is found %u times",
			    s->at, s->in[k], right);
	}
	struct idx_shape shape;
	if (idx_hash_shape(w, m->ix[1], &shape) != NAM_OK || shape.rewrites < 1 + (s->at == 0))
		violated(m, "the world is not as it was meant: %" PRIu64 " rewrites, depth %u",
		    shape.rewrites, shape.depth);
}

static void
stale_step(struct stale *s, unsigned p, void (*fn)(void *))
{
	nam_co_start(net_worker_sched(s->m->w[p][0]), fn, s, 0);
	net_sim_run(s->m->sim, NULL, NULL);
}

/* at: the verb at which it dies; returns how many verbs the second rewrite takes. */
static uint64_t
stale_world(uint64_t seed, uint64_t at, char words[200])
{
	struct model m;
	struct model_config cfg = {
		.seed = seed, .keys = 1, .hash_mask = UINT64_MAX, .reuse = REUSE_AT_ONCE
	};
	model_start(&m, &cfg);
	struct stale s = { .m = &m, .at = at };
	idx_hash_set_owner(m.ix[0], STALE_OWNER);
	stale_step(&s, 0, stale_rewriter);
	stale_step(&s, 2, stale_remembers);
	stale_step(&s, 0, stale_first);
	s.rewriting = true;
	stale_step(&s, 0, stale_rewriter);
	stale_step(&s, 2, stale_inserter);
	if (m.broken[0] == 0)
		stale_step(&s, 1, stale_judge);
	memcpy(words, m.broken, sizeof m.broken);
	if (net_sim_crashed(m.net[0])) {
		net_sim_bury(m.sim, m.net[0]);
		net_sim_run(m.sim, NULL, NULL);
	}
	model_end(&m);
	return s.verbs;
}
/* ---- a maker of the first sub-tables whose connection breaks -------------------------- */

enum { DOUBT_KEYS = 40 };

struct doubt {
	struct net_sim *sim;
	struct net *net[PROCS];
	struct net_worker *w[PROCS];
	struct idx_hash *ix[PROCS];
	net_addr anchor;
	uint64_t breaks_ns;
	bool ended;
	unsigned lost;
};

/* The index's memory is on another node than its anchor. */
static nam_status
doubt_take(void *arg, struct net_worker *w, net_addr *out)
{
	(void)arg;
	return net_extent_take(w, 2, 1, out);
}

static nam_status
doubt_put(struct doubt *d, unsigned p, uint32_t key)
{
	struct idx_probe probe = { .ix = d->ix[p], .hash = nam_mix(key + 77) };
	nam_status st = idx_lookup(d->w[p], &probe, 1, NULL);
	probe.block = block_addr(key);
	if (st == NAM_OK)
		st = idx_insert(d->w[p], &probe, 1, NULL);
	return st == NAM_OK ? probe.status : st;
}

static void
doubt_boot(void *arg)
{
	struct doubt *d = arg;
	(void)net_extent_take(d->w[0], 1, 1, &d->anchor);
}

static void
doubt_maker(void *arg)
{
	struct doubt *d = arg;
	(void)doubt_put(d, 2, 0);
	d->ended = true;
}

static void
doubt_breaker(void *arg)
{
	struct doubt *d = arg;
	net_sleep(d->w[1], d->breaks_ns);
	if (!d->ended)
		net_sim_break_one(d->sim, d->w[2], 2);
}

/* Inserts when the maker has given up; all of it is there when late verbs have executed. */
static void
doubt_other(void *arg)
{
	enum { LOOK_NS = 500, LATE_NS = 3000000 };
	struct doubt *d = arg;
	bool in[DOUBT_KEYS] = { false };
	while (!d->ended)
		net_sleep(d->w[0], LOOK_NS);
	for (uint32_t k = 1; k < DOUBT_KEYS; k++)
		in[k] = doubt_put(d, 0, k) == NAM_OK;
	net_sleep(d->w[0], LATE_NS);
	for (uint32_t k = 1; k < DOUBT_KEYS; k++) {
		struct idx_probe probe = { .ix = d->ix[1], .hash = nam_mix(k + 77) };
		bool found = false;
		nam_status st = idx_lookup(d->w[1], &probe, 1, NULL);
		for (unsigned h = 0; st == NAM_OK && h < probe.hits; h++)
			found |= probe.hit[h].bits == block_addr(k).bits;
		d->lost += in[k] && !found;
	}
}

/* How many entries were lost, and whether verbs executed late. */
static unsigned
doubt_world(uint64_t seed, bool *late)
{
	const struct net_sim_config c = { .seed = seed,
		.nodes = 2,
		.region_bytes = 16 << 20,
		.delay_permille = 300,
		.delay_ns = 300000,
		.sheltered = 2 };
	const struct idx_memory mem = { .take = doubt_take };
	struct doubt d = { .lost = 0 };
	struct nam_err err;
	struct nam_rng dice;
	struct net_sim_stats stats;
	nam_rng_init(&dice, seed);
	d.breaks_ns = 5000 + nam_rng_below(&dice, 400000);
	NAM_ASSERT(net_sim_open(&d.sim, &c) == NAM_OK);
	for (unsigned p = 0; p < PROCS; p++) {
		NAM_ASSERT(net_sim_attach(d.sim, &d.net[p]) == NAM_OK);
		NAM_ASSERT(net_worker_open(d.net[p], &d.w[p], &err) == NAM_OK);
	}
	nam_co_start(net_worker_sched(d.w[0]), doubt_boot, &d, 0);
	net_sim_run(d.sim, NULL, NULL);
	for (unsigned p = 0; p < PROCS; p++) {
		d.ix[p] = idx_hash_open(d.anchor, &mem);
		idx_hash_set_owner(d.ix[p], 100 + p);
	}
	nam_co_start(net_worker_sched(d.w[2]), doubt_maker, &d, 256 << 10);
	nam_co_start(net_worker_sched(d.w[1]), doubt_breaker, &d, 0);
	nam_co_start(net_worker_sched(d.w[0]), doubt_other, &d, 256 << 10);
	net_sim_run(d.sim, NULL, NULL);
	net_sim_stats(d.sim, &stats);
	*late = stats.late > 0;
	for (unsigned p = 0; p < PROCS; p++) {
		idx_hash_close(d.ix[p]);
		net_worker_close(d.w[p]);
		net_close(d.net[p]);
	}
	net_sim_close(d.sim);
	return d.lost;
}
