/*
 * btree_model.h -- a simulated cluster that uses one tree, and a judge that knows the entries it
 * must have.
 *
 * Included by tests only. The judge keeps, per entry, whether it is in, since when, and how many
 * actors work on it; it shares no code with the tree. It notes the first violation in `broken` and
 * stops all actors, so that broken twins can be judged as well.
 *
 * What it checks
 *   found, absent  a lookup or a scan that does not show an entry that was in all the time, shows
 *                  one that was out all the time, or shows one twice
 *   order          a scan's entries rise, or fall, and lie in its range
 *   one entry      a unique insert that succeeds while the key has an entry already
 *   removed        a remove of an entry that is in and says it is not, or the other way round
 *   phantom        a list of leaves that is said to be the same though an entry came or went
 *   the end        a scan of all shows each entry the judge knows, once, and no other; and the
 *                  nodes in memory are a tree (btree_walk.h)
 */
#include <base/hash.h>
#include <index/btree/btree_walk.h>
#include <index/btree/client.h>
#include <net/sim/sim.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without models, unless the test that includes this says otherwise. */
#ifndef MODEL_WAYS
#define MODEL_HOST_OPEN(region, base, size)      idx_btree_host_open(region, base, size, NULL)
#define MODEL_TREE_OPEN(anchor, words, mem, way) idx_btree_open(anchor, words, mem, way, NULL)
#define MODEL_WAYS                                                                                           \
	{                                                                                                    \
		{ .cache = IDX_TREE_NONE }, { .cache = IDX_TREE_INNER },                                     \
		    { .cache = IDX_TREE_INNER, .levels = 1 }, { .cache = IDX_TREE_MESSAGES },                \
		{                                                                                            \
			.cache = IDX_TREE_INNER, .levels = 2                                                 \
		}                                                                                            \
	}
#endif

enum { PROCS = 4, WORKERS = 2, BATCH = 6, MANY = 40, NODES_MAX = 3, PARTS_MAX = 6 };

struct model_entry {
	uint32_t stamp; /* begins and ends of changes */
	uint16_t busy;  /* changes under way */
	bool live;
	uint64_t start;        /* clock when the change under way began */
	uint64_t began, ended; /* clock of the last change that changed something */
};

struct model_config {
	uint64_t seed;
	unsigned words, keys, values; /* entries = keys * values */
	unsigned unique;              /* keys below this number take one entry only */
	unsigned parts, actors, steps;
	unsigned insert_percent, remove_percent, scan_percent; /* the other steps are lookups */
	unsigned move_permille;                                /* steps that move a half */
	unsigned drain_permille;                               /* steps that empty a range */
	unsigned extents_max;                                  /* memory, 0 = all there is */
	uint32_t lose_ppm;                                     /* connections that break */
};

struct model;
struct actor {
	struct model *m;
	struct net_worker *w;
	struct idx_tree *t;
	unsigned number;
};

struct model {
	struct model_config cfg;
	struct net_sim *sim;
	struct net *net[PROCS];
	struct net_worker *w[PROCS][WORKERS];
	struct idx_tree *t[PROCS];
	struct idx_tree_host *host[NODES_MAX + 1];
	struct net_service service[NODES_MAX + 1][IDX_TREE_SERVICES];
	struct idx_tree_memory mem;
	unsigned nodes;
	net_addr anchor;
	unsigned extents; /* taken so far */
	struct model_entry *entry;
	uint64_t clock;
	struct nam_rng rng;
	struct idx_tree_shape shape;
	uint64_t lookups, scans, inserted, removed, duplicates, full, sames, differs, repeats, moves;
	uint64_t drains, spares; /* spares: nodes that have left the tree, at the end */
	char broken[240];
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

/* Keys rise with their numbers; the first is all zeros, the last all ones. */
static void
key_of(const struct model *m, uint32_t number, uint64_t *key)
{
	unsigned w = m->cfg.words;
	uint64_t last = m->cfg.keys - 1;
	memset(key, number == last ? 0xff : 0, 8 * (size_t)w);
	if (number == 0 || number == last)
		return;
	if (w == 1) {
		key[0] = number * (UINT64_MAX / m->cfg.keys);
		return;
	}
	/* Many share their first words. */
	key[0] = number / 64;
	key[w - 1] = (uint64_t)(number % 64) << 40;
}

static int64_t
number_of(const struct model *m, const uint64_t *key)
{
	uint32_t low = 0, n = m->cfg.keys;
	uint64_t k[IDX_TREE_WORDS];
	while (n > 0) {
		uint32_t half = n / 2;
		key_of(m, low + half, k);
		int is = memcmp(k, key, 8 * (size_t)m->cfg.words) == 0;
		if (is)
			return low + half;
		unsigned i = 0;
		while (k[i] == key[i])
			i++;
		if (k[i] < key[i]) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return -1;
}

static struct model_entry *
entry_of(struct model *m, uint32_t key, uint64_t value)
{
	return &m->entry[key * (size_t)m->cfg.values + value - 1];
}

static nam_status
model_take(void *arg, struct net_worker *w, unsigned region, net_addr *out)
{
	struct model *m = arg;
	if (m->cfg.extents_max != 0 && m->extents + 1 > m->cfg.extents_max)
		return NAM_FULL;
	m->extents++;
	return net_extent_take(w, region, 1, out);
}

/* True: the fabric failed because a connection broke, and there is a new one. */
static bool
renewed(struct actor *a, nam_status st)
{
	struct net_set broken;
	struct nam_err err;
	if (st != NAM_GONE || a->m->cfg.lose_ppm == 0)
		return false;
	a->m->repeats++;
	if (net_worker_broken(a->w, &broken))
		for (unsigned r = net_set_next(&broken, 0); r < NET_REGIONS; r = net_set_next(&broken, r + 1))
			(void)net_worker_reconnect(a->w, r, &err);
	return true;
}

/* Which values the leaves that were seen have now: came[value]. False: one of them is not there any
 * more, with the range that it had. */
static bool
came_to(struct actor *a, const struct idx_leaves *l, uint8_t came[256])
{
	uint64_t value[IDX_LEAF_MOST];
	for (uint32_t i = 0; i < l->n; i++) {
		unsigned n;
		bool there;
		if (idx_leaf_now(a->w, &l->leaf[i], value, &n, &there, NULL) != NAM_OK || !there)
			return false;
		for (unsigned k = 0; k < n; k++)
			came[value[k] & 255] = 1;
	}
	return true;
}

/* ---- lookups and scans ----------------------------------------------------------------- */

/* Judges what was shown of one entry. */
static void
judge(struct model *m, uint32_t key, uint64_t value, const struct model_entry *before, unsigned shown,
    const char *by)
{
	const struct model_entry *now = entry_of(m, key, value);
	if (shown > 1)
		violated(m, "found: %s shows (%u, %" PRIu64 ") %u times", by, key, value, shown);
	if (before->busy > 0 || before->stamp != now->stamp)
		return;
	if (before->live && shown != 1)
		violated(m, "found: %s does not show (%u, %" PRIu64 ")", by, key, value);
	else if (!before->live && shown != 0)
		violated(m, "absent: %s shows (%u, %" PRIu64 ")", by, key, value);
}

static bool
look(struct actor *a, struct idx_tree_probe *p, uint64_t (*words)[IDX_TREE_WORDS], const uint32_t *key,
    unsigned n)
{
	struct model *m = a->m;
	unsigned values = m->cfg.values;
	struct model_entry *before = malloc(n * (size_t)values * sizeof *before);
	struct nam_arena arena;
	nam_status st;
	if (before == NULL)
		abort();
	nam_arena_init(&arena, 0);
	do {
		for (unsigned i = 0; i < n; i++) {
			memcpy(before + i * (size_t)values, entry_of(m, key[i], 1), values * sizeof *before);
			key_of(m, key[i], words[i]);
			p[i] = (struct idx_tree_probe){ .tree = a->t, .key = words[i] };
		}
		st = n == MANY ? idx_tree_lookup_many(a->w, p, n, &arena, NULL)
			       : idx_tree_lookup(a->w, p, n, NULL);
	} while (renewed(a, st) && m->broken[0] == 0);
	nam_arena_fini(&arena);
	if (st != NAM_OK)
		violated(m, "lookup says %s", nam_status_name(st));
	m->lookups += n;
	for (unsigned i = 0; i < n && m->broken[0] == 0; i++) {
		unsigned sure = 0, maybe = 0;
		if (p[i].status != (p[i].hits == 0 ? NAM_ABSENT : NAM_OK) && p[i].status != NAM_FULL)
			violated(m, "a probe says %s with %u hits", nam_status_name(p[i].status), p[i].hits);
		for (uint64_t v = 1; v <= values; v++) {
			const struct model_entry *b = &before[i * (size_t)values + v - 1];
			bool stable = b->busy == 0 && b->stamp == entry_of(m, key[i], v)->stamp;
			unsigned shown = 0;
			sure += stable && b->live;
			maybe += !stable || b->live;
			for (unsigned h = 0; h < p[i].hits; h++)
				shown += p[i].hit[h] == v;
			if (p[i].status != NAM_FULL)
				judge(m, key[i], v, b, shown, "a lookup");
		}
		for (unsigned h = 0; h < p[i].hits; h++)
			if (p[i].hit[h] == 0 || p[i].hit[h] > values)
				violated(m, "absent: a lookup shows value %" PRIu64, p[i].hit[h]);
		if (p[i].status == NAM_FULL ? maybe <= IDX_HITS_MAX : sure > IDX_HITS_MAX)
			violated(m, "a lookup with %u to %u entries says %s", sure, maybe,
			    nam_status_name(p[i].status));
	}
	free(before);
	return m->broken[0] == 0;
}

/* One scan of keys from..to; then whether its leaves are the same. */
static void
scan(struct actor *a, uint32_t from, uint32_t to, bool low_open, bool high_open, bool descending)
{
	struct model *m = a->m;
	unsigned values = m->cfg.values, w = m->cfg.words, n = 0;
	size_t all = (to - from + 1) * (size_t)values;
	struct model_entry *before = malloc(all * sizeof *before);
	uint8_t *shown = calloc(all, 1);
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS], keys[7 * IDX_TREE_WORDS], v[7];
	uint64_t last_key = 0, last_value = 0, t1, t2;
	struct idx_leaves leaves = { 0 };
	bool whole_low = from == 0 && !low_open && nam_rng_below(&m->rng, 2) == 0,
	     whole_high = to == m->cfg.keys - 1 && !high_open && nam_rng_below(&m->rng, 2) == 0, same = false;
	unsigned cap = 1 + (unsigned)nam_rng_below(&m->rng, 7);
	nam_status st;
	if (before == NULL || shown == NULL)
		abort();
	key_of(m, from, low);
	key_of(m, to, high);
	struct idx_tree_range range = { .low = whole_low ? NULL : low,
		.high = whole_high ? NULL : high,
		.low_open = low_open,
		.high_open = high_open,
		.descending = descending,
		.expect = (unsigned)nam_rng_below(&m->rng, 3) * 40 };
again:
	memcpy(before, entry_of(m, from, 1), all * sizeof *before);
	memset(shown, 0, all);
	idx_leaves_free(&leaves);
	bool first = true;
	struct idx_tree_scan *s = idx_tree_scan_open(a->t, &range, &leaves);
	if (s == NULL)
		abort();
	for (;;) {
		if ((st = idx_tree_scan_next(a->w, s, keys, v, cap, &n, NULL)) != NAM_OK || n == 0 ||
		    m->broken[0] != 0)
			break;
		for (unsigned i = 0; i < n && m->broken[0] == 0; i++) {
			int64_t key = number_of(m, keys + i * (size_t)w);
			if (key < from || key > to || (key == from && low_open) || (key == to && high_open) ||
			    v[i] == 0 || v[i] > values) {
				violated(m, "order: a scan of %u..%u shows (%" PRId64 ", %" PRIu64 ")", from,
				    to, key, v[i]);
				break;
			}
			uint64_t k = (uint64_t)key;
			bool rises = k > last_key || (k == last_key && v[i] > last_value);
			if (!first && rises == descending)
				violated(m,
				    "order: (%" PRIu64 ", %" PRIu64 ") after (%" PRIu64 ", %" PRIu64 ")", k,
				    v[i], last_key, last_value);
			first = false;
			last_key = k;
			last_value = v[i];
			shown[(k - from) * values + v[i] - 1]++;
		}
	}
	idx_tree_scan_close(s);
	if (renewed(a, st) && m->broken[0] == 0)
		goto again;
	if (st != NAM_OK)
		violated(m, "scan says %s", nam_status_name(st));
	m->scans++;
	for (size_t i = 0; i < all && m->broken[0] == 0; i++) {
		uint32_t key = from + (uint32_t)(i / values);
		if ((key != from || !low_open) && (key != to || !high_open))
			judge(m, key, i % values + 1, &before[i], shown[i], "a scan");
	}
	t1 = ++m->clock;
	if (nam_rng_below(&m->rng, 2) == 0)
		net_sleep(a->w, nam_rng_below(&m->rng, 60000));
	do {
		t2 = ++m->clock;
		st = idx_leaves_same(a->w, &leaves, &same, NULL);
	} while (renewed(a, st) && m->broken[0] == 0);
	if (st != NAM_OK)
		violated(m, "same says %s", nam_status_name(st));
	m->sames += same;
	m->differs += !same;
	uint8_t came[256] = { 0 };
	bool there = st == NAM_OK && !same && values < sizeof came && came_to(a, &leaves, came);
	for (size_t i = 0; i < all && there; i++) {
		const struct model_entry *e = entry_of(m, from, 1) + i;
		uint32_t key = from + (uint32_t)(i / values);
		if ((key != from || !low_open) && (key != to || !high_open) && e->began > t1 &&
		    e->ended < t2 && e->ended > e->began && e->live && e->busy == 0 && !came[i % values + 1])
			violated(m, "phantom: (%u, %zu) has come, and is in none of the leaves", key,
			    i % values + 1);
	}
	for (size_t i = 0; i < all && same; i++) {
		const struct model_entry *e = entry_of(m, from, 1) + i;
		uint32_t key = from + (uint32_t)(i / values);
		if ((key != from || !low_open) && (key != to || !high_open) && e->began > t1 &&
		    e->ended < t2 && e->ended > e->began)
			violated(m, "phantom: (%u, %zu) changed, and the leaves are said to be the same", key,
			    i % values + 1);
	}
	idx_leaves_free(&leaves);
	free(before);
	free(shown);
}

/* ---- changes --------------------------------------------------------------------------- */

static void
begin_change(struct model *m, struct model_entry *e)
{
	e->busy++;
	e->stamp++;
	e->start = ++m->clock;
}
static void
end_change(struct model *m, struct model_entry *e, bool live)
{
	e->busy--;
	e->stamp++;
	if (e->live == live)
		return;
	e->live = live;
	e->began = e->start;
	e->ended = ++m->clock;
}

/* n different entries, none of which another actor changes. */
static void
change(struct actor *a, uint32_t (*what)[2], unsigned n, bool insert)
{
	struct model *m = a->m;
	struct idx_tree_entry e[BATCH];
	uint64_t words[BATCH][IDX_TREE_WORDS];
	unsigned k = 0;
	bool repeated = false;
	for (unsigned i = 0; i < n; i++) {
		struct model_entry *is = entry_of(m, what[i][0], what[i][1]);
		bool twice = false;
		for (unsigned j = 0; j < k; j++)
			twice |= what[j][0] == what[i][0] && what[j][1] == what[i][1];
		if (is->busy > 0 || what[i][0] < m->cfg.unique || twice)
			continue;
		what[k][0] = what[i][0];
		what[k][1] = what[i][1];
		key_of(m, what[k][0], words[k]);
		e[k] = (struct idx_tree_entry){ .tree = a->t, .key = words[k], .value = what[k][1] };
		/* Some hints are wild. */
		if (nam_rng_below(&m->rng, 10) == 0)
			e[k].hint.bits = nam_rng_next(&m->rng) >> nam_rng_below(&m->rng, 40);
		begin_change(m, is);
		k++;
	}
	if (k == 0)
		return;
	nam_status st;
	for (;;) {
		st = insert ? idx_tree_insert(a->w, e, k, NULL) : idx_tree_remove(a->w, e, k, NULL);
		if (!renewed(a, st) || m->broken[0] != 0)
			break;
		repeated = true;
	}
	if (st != NAM_OK)
		violated(m, "a change says %s", nam_status_name(st));
	for (unsigned i = 0; i < k; i++) {
		struct model_entry *is = entry_of(m, what[i][0], what[i][1]);
		bool live = is->live;
		if (insert && e[i].status == NAM_FULL && m->cfg.extents_max != 0) {
			m->full++;
		} else if (insert) {
			if (e[i].status != NAM_OK)
				violated(m, "an insert says %s", nam_status_name(e[i].status));
			m->inserted += !is->live;
			live = true;
		} else {
			if (!repeated && m->cfg.lose_ppm == 0 &&
			    e[i].status != (is->live ? NAM_OK : NAM_ABSENT))
				violated(m, "removed: (%u, %u), which is %s: %s", what[i][0], what[i][1],
				    is->live ? "in" : "out", nam_status_name(e[i].status));
			if (e[i].status != NAM_OK && e[i].status != NAM_ABSENT)
				violated(m, "a remove says %s", nam_status_name(e[i].status));
			m->removed += is->live;
			live = false;
		}
		end_change(m, is, live);
	}
}

/* Many actors want the one place of a unique key. */
static void
claim(struct actor *a, uint32_t key)
{
	struct model *m = a->m;
	struct idx_tree_probe p;
	uint64_t words[1][IDX_TREE_WORDS], value = 1 + nam_rng_below(&m->rng, m->cfg.values);
	struct model_entry *is = entry_of(m, key, value);
	if (is->busy > 0 || !look(a, &p, words, &key, 1) || is->busy > 0)
		return;
	if (p.hits > 0)
		return; /* ruled in: there is one */
	struct idx_tree_entry e = { .tree = a->t, .key = words[0], .value = value, .unique = true };
	begin_change(m, is);
	if (nam_rng_below(&m->rng, 4) == 0)
		net_sleep(a->w, nam_rng_below(&m->rng, 40000));
	nam_status st;
	do
		st = idx_tree_insert(a->w, &e, 1, NULL);
	while (renewed(a, st) && m->broken[0] == 0);
	if (st != NAM_OK)
		violated(m, "a unique insert says %s", nam_status_name(st));
	if (e.status == NAM_DUPLICATE) {
		m->duplicates++;
		if (e.hits == 0)
			violated(m, "a duplicate without a hit");
	} else if (e.status == NAM_FULL && m->cfg.extents_max != 0) {
		m->full++;
	} else if (e.status != NAM_OK) {
		violated(m, "a unique insert says %s", nam_status_name(e.status));
	} else {
		for (uint64_t v = 1; v <= m->cfg.values; v++)
			if (entry_of(m, key, v)->live && entry_of(m, key, v)->busy == 0)
				violated(m, "one entry: key %u has values %" PRIu64 " and %" PRIu64, key, v,
				    value);
		m->inserted++;
	}
	end_change(m, is, is->live || e.status == NAM_OK);
}

/* Half of some partition moves to some region. */
static void
move(struct actor *a)
{
	struct model *m = a->m;
	uint64_t key[IDX_TREE_WORDS];
	unsigned region = 1 + (unsigned)nam_rng_below(&m->rng, m->nodes);
	key_of(m, (uint32_t)nam_rng_below(&m->rng, m->cfg.keys), key);
	nam_status st = idx_tree_split(a->w, a->t, key, region, NULL, NULL);
	if (st == NAM_OK)
		m->moves++;
	else if (st != NAM_ABSENT && st != NAM_BUSY && (st != NAM_FULL || m->cfg.extents_max == 0))
		violated(m, "a move says %s", nam_status_name(st));
}

/* Removes all entries of a run of keys, from its front, from its end, or in any order: leaves
 * become empty beside others that look for them. */
static void
drain(struct actor *a)
{
	struct model *m = a->m;
	uint32_t keys = 10 + (uint32_t)nam_rng_below(&m->rng, 80),
		 order = (uint32_t)nam_rng_below(&m->rng, 3);
	keys = keys < m->cfg.keys ? keys : m->cfg.keys;
	uint32_t first = (uint32_t)nam_rng_below(&m->rng, m->cfg.keys - keys + 1);
	uint32_t all = keys * m->cfg.values;
	for (uint32_t i = 0; i < all && m->broken[0] == 0; i += BATCH) {
		uint32_t what[BATCH][2];
		unsigned n = all - i < BATCH ? all - i : BATCH;
		for (unsigned k = 0; k < n; k++) {
			/* 7919 is prime, and so divides no number of entries here. */
			uint32_t e = order == 0 ? i + k : order == 1 ? all - 1 - i - k : (i + k) * 7919 % all;
			what[k][0] = first + e / m->cfg.values;
			what[k][1] = 1 + e % m->cfg.values;
		}
		change(a, what, n, false);
	}
	m->drains++;
}

/* More keys than fit a stack, with one doorbell. */
static void
look_many(struct actor *a, uint32_t first)
{
	struct many {
		struct idx_tree_probe p[MANY];
		uint64_t words[MANY][IDX_TREE_WORDS];
		uint32_t key[MANY];
	} *l = malloc(sizeof *l);
	if (l == NULL)
		abort();
	for (uint32_t i = 0; i < MANY; i++)
		l->key[i] = (first + i * 7) % a->m->cfg.keys;
	look(a, l->p, l->words, l->key, MANY);
	free(l);
}

static void
act(void *arg)
{
	struct actor *a = arg;
	struct model *m = a->m;
	const struct model_config *c = &m->cfg;
	for (unsigned step = 0; step < c->steps && m->broken[0] == 0; step++) {
		unsigned n = 1 + (unsigned)nam_rng_below(&m->rng, BATCH);
		unsigned dice = (unsigned)nam_rng_below(&m->rng, 100);
		uint32_t what[BATCH][2], key[BATCH];
		struct idx_tree_probe p[BATCH];
		uint64_t words[BATCH][IDX_TREE_WORDS];
		uint32_t first = (uint32_t)nam_rng_below(&m->rng, c->keys);
		if (c->move_permille > 0 && nam_rng_below(&m->rng, 1000) < c->move_permille) {
			move(a);
			continue;
		}
		if (c->drain_permille > 0 && nam_rng_below(&m->rng, 1000) < c->drain_permille) {
			drain(a);
			continue;
		}
		for (unsigned i = 0; i < n; i++) {
			key[i] = nam_rng_below(&m->rng, 2) == 0 ? (uint32_t)nam_rng_below(&m->rng, c->keys)
								: (first + i) % c->keys;
			what[i][0] = key[i];
			what[i][1] = 1 + (uint32_t)nam_rng_below(&m->rng, c->values);
		}
		if (dice < c->insert_percent) {
			if (key[0] < c->unique)
				claim(a, key[0]);
			else
				change(a, what, n, true);
		} else if (dice < c->insert_percent + c->remove_percent) {
			change(a, what, n, false);
		} else if (dice < c->insert_percent + c->remove_percent + c->scan_percent) {
			uint32_t most = nam_rng_below(&m->rng, 8) == 0 ? c->keys : 20;
			uint32_t to = first + (uint32_t)nam_rng_below(&m->rng, most);
			scan(a, first, to < c->keys ? to : c->keys - 1, nam_rng_below(&m->rng, 3) == 0,
			    nam_rng_below(&m->rng, 3) == 0, nam_rng_below(&m->rng, 2) == 0);
		} else if (n == BATCH) {
			look_many(a, first);
		} else {
			look(a, p, words, key, n);
		}
	}
	free(a);
}

/* ---- the cluster ----------------------------------------------------------------------- */

static void
model_boot(void *arg)
{
	struct model *m = arg;
	struct idx_tree_part part[PARTS_MAX] = { 0 };
	for (unsigned i = 0; i < m->cfg.parts; i++) {
		part[i].region = 1 + i % m->nodes;
		key_of(m, m->cfg.keys / m->cfg.parts * i, part[i].low);
	}
	struct idx_tree_config cfg = { .words = m->cfg.words,
		.parts = m->cfg.parts,
		.part = part,
		.later = m->cfg.parts == 1 && m->cfg.seed % 2 == 0 };
	nam_status st = net_extent_take(m->w[0][0], 1, 1, &m->anchor);
	if (st == NAM_OK)
		st = idx_tree_create(m->w[0][0], m->anchor, &cfg, &m->mem);
	if (st != NAM_OK)
		violated(m, "create says %s", nam_status_name(st));
	else if (idx_tree_create(m->w[0][0], m->anchor, &cfg, &m->mem) != NAM_DUPLICATE)
		violated(m, "a tree was created twice in one place");
}

static void
model_end_scan(void *arg)
{
	struct model *m = arg;
	struct actor a = { .m = m, .w = m->w[0][0], .t = m->t[0] };
	for (unsigned p = 0; p < PROCS && m->broken[0] == 0; p++) {
		if ((a.t = m->t[p]) == NULL)
			continue;
		a.w = m->w[p][0];
		scan(&a, 0, m->cfg.keys - 1, false, false, p & 1);
	}
	nam_status st = idx_tree_shape(m->w[0][0], m->t[0], &m->shape, NULL);
	if (st != NAM_OK)
		violated(m, "shape says %s", nam_status_name(st));
}

/* The nodes themselves. */
static void
model_walk(struct model *m)
{
	struct tree_walk walk = { .words = m->cfg.words };
	for (unsigned r = 1; r <= m->nodes; r++)
		walk.base[r] = net_sim_memory(m->sim, r);
	walk.size = 64 << 20;
	tree_walk_all(&walk, m->anchor.bits);
	if (walk.broken[0] != 0)
		violated(m, "the end: %s", walk.broken);
	m->spares = walk.spares;
	uint64_t live = 0;
	for (size_t i = 0; i < m->cfg.keys * (size_t)m->cfg.values; i++)
		live += m->entry[i].live;
	if (walk.entries != live || m->shape.entries != live || m->shape.leaves != walk.leaves ||
	    m->shape.inners != walk.inners)
		violated(m,
		    "the end: %" PRIu64 " entries, in memory %" PRIu64 ", told %" PRIu64 "; %" PRIu64
		    "/%" PRIu64 " leaves, %" PRIu64 "/%" PRIu64 " inner nodes",
		    live, walk.entries, m->shape.entries, m->shape.leaves, walk.leaves, m->shape.inners,
		    walk.inners);
	tree_walk_free(&walk);
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
	m->mem = (struct idx_tree_memory){ .take = model_take, .arg = m };
	nam_rng_init(&m->rng, cfg->seed * 77 + 1);
	m->entry = calloc(cfg->keys * (size_t)cfg->values, sizeof *m->entry);
	m->nodes = 1 + (unsigned)(cfg->seed % NODES_MAX);
	struct net_sim_config sc = {
		.seed = cfg->seed,
		.nodes = m->nodes,
		.region_bytes = 64 << 20,
		.jitter_ns = cfg->seed % 2 ? 0 : 5000,
		.tear_permille = 300,
		.reorder_permille = 300,
		.lose_ppm = cfg->lose_ppm,
	};
	struct nam_err err;
	nam_status st = net_sim_open(&m->sim, &sc);
	net_sim_faults(m->sim, false);
	for (unsigned r = 1; r <= m->nodes && st == NAM_OK; r++) {
		m->host[r] = MODEL_HOST_OPEN(r, net_sim_memory(m->sim, r), sc.region_bytes);
		if (m->host[r] == NULL)
			abort();
		idx_tree_host_services(m->host[r], m->service[r]);
		st = net_sim_serve(m->sim, r, m->service[r], IDX_TREE_SERVICES);
	}
	for (unsigned p = 0; p < PROCS && st == NAM_OK; p++) {
		st = net_sim_attach(m->sim, &m->net[p]);
		for (unsigned i = 0; i < WORKERS && st == NAM_OK; i++)
			st = net_worker_open(m->net[p], &m->w[p][i], &err);
	}
	if (st != NAM_OK || m->entry == NULL) {
		printf("cannot set the model up\n");
		abort();
	}
	nam_co_start(net_worker_sched(m->w[0][0]), model_boot, m, 0);
	model_play(m);
	static const struct idx_tree_options ways[] = MODEL_WAYS;
	for (unsigned p = 0; p < PROCS; p++) {
		unsigned way = (unsigned)((p + cfg->seed) % (sizeof ways / sizeof *ways));
		m->t[p] = MODEL_TREE_OPEN(m->anchor, cfg->words, &m->mem, &ways[way]);
	}
}

/* All actors do their steps; then the scans, and the walk. */
static void
model_run(struct model *m)
{
	net_sim_faults(m->sim, true);
	for (unsigned i = 0; i < m->cfg.actors; i++) {
		struct actor *a = malloc(sizeof *a);
		unsigned p = i % PROCS;
		*a = (struct actor){ m, m->w[p][i / PROCS % WORKERS], m->t[p], i };
		nam_co_start(net_worker_sched(a->w), act, a, 128 << 10);
	}
	model_play(m);
	net_sim_faults(m->sim, false);
	if (m->broken[0] != 0)
		return;
	nam_co_start(net_worker_sched(m->w[0][0]), model_end_scan, m, 128 << 10);
	model_play(m);
	if (m->broken[0] == 0)
		model_walk(m);
}

static void
model_end(struct model *m)
{
	for (unsigned p = 0; p < PROCS; p++) {
		idx_tree_close(m->t[p]);
		for (unsigned i = 0; i < WORKERS; i++)
			net_worker_close(m->w[p][i]);
		net_close(m->net[p]);
	}
	net_sim_close(m->sim);
	for (unsigned r = 1; r <= m->nodes; r++)
		idx_tree_host_close(m->host[r]);
	free(m->entry);
}

/* ---- messages to a service, without a network ------------------------------------------ */

struct post {
	const struct net_service *service;
	uint64_t rq[600], an[2000];
	unsigned n;
};

static inline nam_status
post(struct post *b, struct idx_an *head)
{
	struct net_request rq = { .service = b->service->id,
		.len = 8 * b->n,
		.bytes = b->rq,
		.answer = b->an,
		.answer_max = sizeof b->an };
	nam_status st = b->service->fn(b->service->arg, &rq);
	if (st != NAM_OK)
		return st;
	if (rq.answer_len > sizeof b->an || rq.answer_len < sizeof *head)
		abort();
	memcpy(head, b->an, sizeof *head);
	return (nam_status)head->status;
}

static inline void
post_entry(struct post *b, const struct idx_map *map, enum idx_message what, uint64_t turn, uint64_t key,
    uint64_t value)
{
	const struct idx_rq rq = { .tree = map->tree,
		.part = map->part[0].at & 0xffffffffffff,
		.view = 5,
		.turn = turn,
		.what = what,
		.n = 1,
		.words = 1 };
	memcpy(b->rq, &rq, sizeof rq);
	b->n = sizeof rq / 8;
	b->rq[b->n++] = value;
	b->rq[b->n++] = 0;
	b->rq[b->n++] = 0;
	b->rq[b->n++] = key;
}

/* The service of the first partition, and the map. */
static inline const struct idx_map *
post_open(struct model *m, struct post *b)
{
	const char *base = net_sim_memory(m->sim, net_region_of(m->anchor));
	const struct idx_tree_anchor *a = (const void *)(base + net_offset_of(m->anchor));
	const struct idx_map *map =
	    (const void *)((const char *)net_sim_memory(m->sim, (unsigned)(a->map >> 48)) +
			   (a->map & 0xffffffffffff));
	unsigned at = (unsigned)((map->part[0].at & 0xffffffffffff) / IDX_TREE_EXTENT % IDX_TREE_SERVICES);
	b->service = &m->service[map->part[0].at >> 48][at];
	return map;
}

/* B9: insert, remove, and then the insert once more, from a ring that was left. Its status. */
static inline nam_status
late_request(struct model *m)
{
	static struct post b;
	struct idx_an an;
	const struct idx_map *map = post_open(m, &b);
	post_entry(&b, map, IDX_MSG_INSERT, 3, 5, 9);
	nam_status st = post(&b, &an);
	post_entry(&b, map, IDX_MSG_REMOVE, 4, 5, 9);
	if (st != NAM_OK || (st = post(&b, &an)) != NAM_OK)
		violated(m, "a message says %s", nam_status_name(st));
	post_entry(&b, map, IDX_MSG_INSERT, 3, 5, 9);
	return post(&b, &an);
}

/* Worlds that every sound build of the tree must survive, and no twin may. */
enum model_kind {
	MODEL_GROW,
	MODEL_EQUAL,
	MODEL_RACE,
	MODEL_WIDE,
	MODEL_TIGHT,
	MODEL_BREAKS,
	MODEL_MOVES,
	MODEL_DRAIN,
	MODEL_KINDS
};

static struct model_config
model_world(enum model_kind kind, uint64_t seed)
{
	struct model_config c = { .seed = seed,
		.words = 1,
		.keys = 1500,
		.values = 3,
		.parts = 1 + (unsigned)(seed / 3 % PARTS_MAX),
		.actors = 12,
		.steps = 150,
		.insert_percent = 50,
		.remove_percent = 15,
		.scan_percent = 15 };
	switch (kind) {
	case MODEL_GROW:
		break;
	case MODEL_EQUAL:
		c.keys = 5;
		c.values = 700;
		c.parts = 1;
		c.steps = 120;
		break;
	case MODEL_RACE:
		c.unique = 250;
		c.keys = 300;
		c.actors = 24;
		c.insert_percent = 80;
		c.remove_percent = c.scan_percent = 5;
		break;
	case MODEL_WIDE:
		c.words = 2 + (unsigned)(seed % 7);
		break;
	case MODEL_MOVES:
		c.words = 1 + (unsigned)(seed % 4 == 0);
		c.parts = 1 + (unsigned)(seed % 3);
		c.unique = seed % 2 ? 0 : 200;
		c.move_permille = 12;
		if (seed % 5 == 0) { /* runs of equal keys in many leaves */
			c.keys = 40;
			c.values = 60;
			c.unique = 0;
		}
		break;
	case MODEL_DRAIN:
		c.words = 1 + (unsigned)(seed % 3 == 0);
		c.parts = 1 + (unsigned)(seed % 2);
		c.unique = seed % 4 ? 0 : 200;
		c.drain_permille = 60;
		c.move_permille = seed % 3 ? 0 : 40;
		c.insert_percent = 60;
		c.scan_percent = 20;
		if (seed % 7 == 0) { /* runs of equal keys in many leaves */
			c.keys = 100;
			c.values = 60;
			c.unique = 0;
		}
		break;
	case MODEL_TIGHT:
		c.extents_max = c.parts + 2;
		c.words = 4;
		c.move_permille = seed % 2 ? 0 : 20;
		break;
	default:
		c.lose_ppm = 1500;
		c.insert_percent = 35;
		c.remove_percent = 30;
		break;
	}
	return c;
}
