/* tree.c -- a process's view of a tree: opening, the map of partitions, counts, lists of leaves. */
#include <base/hash.h>
#include <index/btree/client.h>

#include <stdlib.h>
#include <string.h>

enum { MAP_TRIES = 200 };

/* ---- keys ------------------------------------------------------------------------------ */

bool
idx_tree_key(const void *bytes, size_t len, unsigned words, uint64_t *out)
{
	const unsigned char *b = bytes;
	for (unsigned i = 0; i < words; i++) {
		uint64_t word = 0;
		for (unsigned k = 0; k < 8; k++)
			word = word << 8 | (8 * (size_t)i + k < len ? b[8 * i + k] : 0);
		out[i] = word;
	}
	return len <= 8 * (size_t)words;
}

static const char *const cache_names[] = {
	[IDX_TREE_NONE] = "none",
	[IDX_TREE_INNER] = "tree",
	[IDX_TREE_LEARNED] = "learned",
	[IDX_TREE_MODELS] = "models",
	[IDX_TREE_ONDEMAND] = "ondemand",
	[IDX_TREE_MESSAGES] = "messages",
};

const char *
idx_tree_cache_name(enum idx_tree_cache c)
{
	return c < sizeof cache_names / sizeof *cache_names ? cache_names[c] : "?";
}

bool
idx_tree_cache_parse(const char *name, enum idx_tree_cache *out)
{
	for (unsigned i = 0; i < sizeof cache_names / sizeof *cache_names; i++)
		if (strcmp(name, cache_names[i]) == 0) {
			*out = (enum idx_tree_cache)i;
			return true;
		}
	return false;
}

/* ---- opening --------------------------------------------------------------------------- */

struct idx_tree *
idx_btree_open(net_addr anchor, unsigned words, const struct idx_tree_memory *mem,
    const struct idx_tree_options *o, const struct idx_locator *locator)
{
	NAM_ASSERT(words >= 1 && words <= IDX_TREE_WORDS);
	struct idx_tree *t = calloc(1, sizeof *t);
	if (t == NULL)
		return NULL;
	t->anchor = anchor;
	t->words = words;
	if (mem != NULL)
		t->mem = *mem;
	if (o != NULL)
		t->o = *o;
	t->loc = locator;
	atomic_store(&t->turn, 1);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

static void
view_free(struct idx_tree *t, struct view *v)
{
	if (v->pub.loc != NULL)
		t->loc->close(v->pub.loc);
	idx_inner_close(v->inner);
	idx_ways_close(v->ways);
	free(v);
}

void
idx_tree_close(struct idx_tree *t)
{
	if (t == NULL)
		return;
	for (struct views *m = atomic_load(&t->views), *older; m != NULL; m = older) {
		older = m->older;
		free(m);
	}
	while (t->every != NULL) {
		struct view *v = t->every;
		t->every = v->link;
		view_free(t, v);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- the map --------------------------------------------------------------------------- */

/* l: the view of a partition, of before or new. NULL = no memory. */
static struct view *
view_get(struct idx_tree *t, const struct idx_map *map, unsigned i)
{
	unsigned w = t->words;
	const struct idx_map_part *part = &map->part[i];
	for (struct view *v = t->every; v != NULL; v = v->link)
		if (v->pub.at.bits == part->at && v->pub.id == map->tree)
			return v;
	struct view *v = calloc(1, sizeof *v);
	if (v == NULL)
		return NULL;
	v->pub.tree = t;
	v->pub.at.bits = part->at;
	v->pub.region = net_region_of(v->pub.at);
	v->pub.service =
	    IDX_TREE_SERVICE + (unsigned)(net_offset_of(v->pub.at) / IDX_TREE_EXTENT % IDX_TREE_SERVICES);
	v->pub.words = w;
	v->pub.id = map->tree;
	memcpy(v->pub.low, part->low, 8 * (size_t)w);
	v->pub.low[w] = part->low[IDX_KEY_WORDS];
	bool well = true;
	if (t->o.cache == IDX_TREE_INNER) {
		v->inner = idx_inner_open(w, t->o.levels, net_plus(v->pub.at, IDX_PART_ROOT));
		well = v->inner != NULL;
	} else if (t->loc != NULL) {
		v->pub.loc = t->loc->open(&v->pub);
		well = v->pub.loc != NULL;
	}
	if (well && t->o.adaptive && t->o.cache != IDX_TREE_MESSAGES) {
		v->ways = idx_ways_open(t->o.cores);
		well = v->ways != NULL;
	}
	if (!well) {
		view_free(t, v);
		return NULL;
	}
	v->link = t->every;
	t->every = v;
	return v;
}

nam_status
idx_map_read(
    struct net_worker *w, const struct idx_tree_anchor *a, struct idx_map *map, struct net_counts *acct)
{
	if (a->parts < 1 || a->parts > IDX_MAP_PARTS || a->map == 0)
		return NAM_BUSY;
	nam_status st = net_read1(w, (net_addr){ a->map }, map, (uint32_t)idx_map_bytes(a->parts), acct);
	if (st != NAM_OK)
		return st;
	/* The anchor's number may be ahead of the map's, never behind. */
	bool well = map->tree == a->tree && map->parts >= 1 && map->parts <= a->parts &&
		    map->check == idx_map_check(map);
	return well ? NAM_OK : NAM_BUSY;
}

static nam_status
map_read(struct net_worker *w, struct idx_tree *t, struct idx_map *map, struct net_counts *acct)
{
	struct net_backoff b = { .base_ns = 2000, .cap_ns = 200000, .yields = 4 };
	for (unsigned tries = 0; tries < MAP_TRIES; tries++) {
		struct idx_tree_anchor a;
		nam_status st = net_read1(w, t->anchor, &a, sizeof a, acct);
		if (st != NAM_OK)
			return st;
		idx_count_add(t, IDX_N_MAP_READS, 1);
		if (a.magic != IDX_TREE_MAGIC || a.state == IDX_TREE_DROPPING ||
		    (t->o.id != 0 && a.tree != t->o.id))
			return NAM_REFUSED;
		if (a.state != IDX_TREE_MAKING && a.words != t->words)
			return NAM_INVALID;
		if (a.state == IDX_TREE_BARE)
			return NAM_ABSENT;
		st = a.state == IDX_TREE_LIVE ? idx_map_read(w, &a, map, acct) : NAM_BUSY;
		if (st != NAM_BUSY)
			return st;
		net_back_off(w, &b); /* it is being made, or changed */
	}
	return NAM_BUSY;
}

nam_status
idx_views(struct net_worker *w, struct idx_tree *t, const struct views *stale, struct views **out,
    struct net_counts *acct)
{
	struct views *now = atomic_load_explicit(&t->views, memory_order_acquire);
	if (now != NULL && now != stale) {
		*out = now;
		return NAM_OK;
	}
	struct idx_map *map = malloc(sizeof *map);
	if (map == NULL)
		return NAM_NOMEM;
	nam_status st = map_read(w, t, map, acct);
	if (st != NAM_OK) {
		free(map);
		return st;
	}
	pthread_mutex_lock(&t->lock);
	now = atomic_load_explicit(&t->views, memory_order_acquire);
	struct views *m = now;
	/* Another thread may have READ a later one meanwhile. */
	if (now == NULL || now->id != map->tree || now->version < map->version) {
		m = malloc(sizeof *m + map->parts * sizeof(struct view *));
		bool well = m != NULL;
		for (unsigned i = 0; i < map->parts && well; i++)
			well = (m->view[i] = view_get(t, map, i)) != NULL;
		if (well) {
			m->older = now;
			m->id = map->tree;
			m->version = map->version;
			m->n = (unsigned)map->parts;
			atomic_store_explicit(&t->views, m, memory_order_release);
		} else {
			free(m);
			st = NAM_NOMEM;
		}
	}
	pthread_mutex_unlock(&t->lock);
	free(map);
	*out = m;
	return st;
}

nam_status
idx_views_made(struct net_worker *w, struct idx_tree *t, const struct views *stale, struct views **out,
    struct net_counts *acct)
{
	nam_status st = idx_views(w, t, stale, out, acct);
	if (st == NAM_ABSENT && (st = idx_tree_begin(w, t, acct)) == NAM_OK)
		st = idx_views(w, t, stale, out, acct);
	return st;
}

unsigned
idx_view_number(const struct views *m, const uint64_t *key, unsigned words)
{
	unsigned from = 0, n = m->n;
	/* Halves are chosen without a branch: keys may lie anywhere. */
	while (n > 1) {
		unsigned half = n / 2;
		const uint64_t *low = m->view[from + half]->pub.low;
		bool up = words == 1 ? low[0] <= key[0] : idx_key_order(low, key, words) <= 0;
		from += up * half;
		n -= half;
	}
	return from;
}

struct view *
idx_view_of(const struct views *m, const uint64_t *key, unsigned words)
{
	return m->view[idx_view_number(m, key, words)];
}

/* ---- counts ---------------------------------------------------------------------------- */

void
idx_tree_counts(const struct idx_tree *t, struct idx_tree_counts *out)
{
	struct idx_tree *open = (struct idx_tree *)(uintptr_t)t; /* its lock */
	uint64_t n[IDX_N_COUNTS] = { 0 };
	for (unsigned i = 0; i < IDX_N_COUNTS; i++)
		n[i] = atomic_load_explicit(&t->count[i], memory_order_relaxed);
	*out = (struct idx_tree_counts){ .cache = t->o.cache,
		.lookups = n[IDX_N_LOOKUPS],
		.leaf_reads = n[IDX_N_LEAF_READS],
		.inner_reads = n[IDX_N_INNER_READS],
		.rights = n[IDX_N_RIGHTS],
		.torn = n[IDX_N_TORN],
		.fallbacks = n[IDX_N_FALLBACKS],
		.chosen = n[IDX_N_CHOSEN],
		.changes = n[IDX_N_CHANGES],
		.hints_used = n[IDX_N_HINTS_USED],
		.map_reads = n[IDX_N_MAP_READS] };
	pthread_mutex_lock(&open->lock);
	for (const struct view *v = t->every; v != NULL; v = v->link) {
		uint64_t cache = 0, table = 0, fetched = 0;
		unsigned error = 0;
		if (v->inner != NULL)
			cache = idx_inner_bytes(v->inner);
		else if (v->pub.loc != NULL)
			t->loc->size(v->pub.loc, &cache, &table, &fetched, &error);
		out->cache_bytes += cache;
		out->table_bytes += table;
		out->models_fetched += fetched;
		out->model_error = error > out->model_error ? error : out->model_error;
	}
	pthread_mutex_unlock(&open->lock);
}

/* ---- lists of leaves ------------------------------------------------------------------- */

/* The table of addresses, made again for twice as many leaves as there are. False: no memory. */
static bool
leaf_slots(struct idx_leaves *l)
{
	uint32_t slots = 64;
	while (slots < l->n * UINT64_C(4))
		slots *= 2;
	uint32_t *slot = calloc(slots, sizeof *slot);
	if (slot == NULL)
		return false;
	free(l->slot);
	l->slot = slot;
	l->slots = slots;
	l->used = l->n;
	for (uint32_t k = 0; k < l->n; k++) {
		uint32_t i = (uint32_t)nam_mix(l->leaf[k].leaf.at.bits) & (slots - 1);
		while (slot[i] != 0)
			i = (i + 1) & (slots - 1);
		slot[i] = k + 1;
	}
	return true;
}

/* The slot of that leaf, or a free one. A leaf that has moved has left its slot behind, which leads
 * to the leaf still, by another address. */
static uint32_t *
leaf_slot(const struct idx_leaves *l, const struct idx_leaf *leaf)
{
	uint32_t mask = l->slots - 1, i = (uint32_t)nam_mix(leaf->at.bits) & mask;
	for (; l->slot[i] != 0; i = (i + 1) & mask) {
		const struct idx_leaf *k = &l->leaf[l->slot[i] - 1].leaf;
		if (k->at.bits == leaf->at.bits && k->check == leaf->check)
			break;
	}
	return &l->slot[i];
}

static bool
leaf_enter(struct idx_leaves *l, uint32_t k)
{
	if ((l->used + 1) * UINT64_C(2) > l->slots)
		return leaf_slots(l); /* which enters all */
	uint32_t *to = leaf_slot(l, &l->leaf[k].leaf);
	l->used += *to == 0;
	*to = k + 1;
	return true;
}

nam_status
idx_leaves_add(struct idx_leaves *l, const struct idx_seen *leaf)
{
	if (l == NULL || (l->slots > 0 && *leaf_slot(l, &leaf->leaf) != 0))
		return NAM_OK;
	if (l->n == l->cap) {
		uint32_t cap = l->cap == 0 ? 16 : 2 * l->cap;
		struct idx_seen *more = realloc(l->leaf, cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		l->leaf = more;
		l->cap = cap;
	}
	l->leaf[l->n++] = *leaf;
	if (leaf_enter(l, l->n - 1))
		return NAM_OK;
	l->n--;
	return NAM_NOMEM;
}

nam_status
idx_views_kept(struct net_worker *w, struct idx_tree *t, const struct views *stale, struct views **out,
    struct idx_leaves *leaves, struct net_counts *acct)
{
	nam_status st = idx_views_made(w, t, stale, out, acct);
	if (st != NAM_FULL)
		return st;
	/* It was bare, and may be so no more: then the proof fails. */
	const struct idx_seen bare = { .leaf = { net_plus(t->anchor, offsetof(struct idx_tree_anchor, state)),
					   IDX_TREE_BARE } };
	st = idx_leaves_add(leaves, &bare);
	return st == NAM_OK ? NAM_ABSENT : st;
}

nam_status
idx_leaves_saw(struct idx_leaves *l, struct idx_tree *t, net_addr at, const struct idx_node *n)
{
	if (l == NULL)
		return NAM_OK;
	const struct idx_seen leaf = {
		.leaf = { at, n->check }, .id = n->tree, .falls = idx_meta_falls(n->meta), .tree = t
	};
	return idx_leaves_add(l, &leaf);
}

void
idx_leaves_clear(struct idx_leaves *l)
{
	enum { KEPT = 1 << 12 };
	if (l->cap > KEPT) {
		idx_leaves_free(l);
		return;
	}
	if (l->used > 0)
		memset(l->slot, 0, l->slots * sizeof *l->slot);
	l->n = l->used = 0;
}

void
idx_leaves_free(struct idx_leaves *l)
{
	free(l->leaf);
	free(l->slot);
	*l = (struct idx_leaves){ 0 };
}

nam_status
idx_leaves_change(struct idx_leaves *l, const struct idx_leaf_change *c)
{
	if (c->before.at.bits == 0 || l->slots == 0)
		return NAM_OK;
	uint32_t k = *leaf_slot(l, &c->before);
	if (k == 0)
		return NAM_OK;
	struct idx_seen *leaf = &l->leaf[k - 1], sibling = *leaf;
	leaf->leaf = c->after;
	sibling.leaf = c->sibling;
	sibling.falls = c->sibling_falls;
	if (sibling.leaf.at.bits != 0)
		leaf->falls = c->falls;
	if (!leaf_enter(l, k - 1))
		return NAM_NOMEM;
	return sibling.leaf.at.bits != 0 ? idx_leaves_add(l, &sibling) : NAM_OK;
}

nam_status
idx_leaves_changed(struct net_worker *w, const struct idx_leaves *l, uint32_t *from, struct net_counts *acct)
{
	enum { OPS = 64 };
	struct net_op ops[OPS];
	uint64_t now[OPS];
	struct net_batch b;
	for (; *from < l->n; *from += OPS) {
		uint32_t n = l->n - *from < OPS ? l->n - *from : OPS;
		net_batch_init(&b, w, ops, OPS, acct);
		for (uint32_t k = 0; k < n; k++)
			net_read(&b, l->leaf[*from + k].leaf.at, &now[k], 8);
		nam_status st = net_run(&b);
		if (st != NAM_OK)
			return st;
		for (uint32_t k = 0; k < n; k++)
			if (now[k] != l->leaf[*from + k].leaf.check) {
				*from += k;
				return NAM_OK;
			}
	}
	*from = l->n;
	return NAM_OK;
}

nam_status
idx_leaves_same(struct net_worker *w, const struct idx_leaves *l, bool *same, struct net_counts *acct)
{
	uint32_t at = 0;
	nam_status st = idx_leaves_changed(w, l, &at, acct);
	*same = at == l->n;
	return st;
}

static_assert((int)IDX_LEAF_MOST >= (int)IDX_NODE_SLOTS, "a caller has room for a leaf");

/* READs a node until it is whole. False: it is no leaf of the tree, or does not become whole; or
 * *st says what failed. */
static bool
leaf_whole(struct net_worker *w, const struct idx_seen *leaf, net_addr at, struct idx_node *node,
    nam_status *st, struct net_counts *acct)
{
	enum { TRIES = 16, BASE_NS = 1000, CAP_NS = 100000 };
	struct net_backoff pause = { .base_ns = BASE_NS, .cap_ns = CAP_NS };
	unsigned words = leaf->tree->words;
	for (unsigned i = 0; i < TRIES; i++) {
		*st = net_read1(w, at, node, 8 * idx_node_words(words, true), acct);
		if (*st != NAM_OK)
			return false;
		if (idx_node_sound(node, leaf->id, words, true))
			return true;
		if (node->tree != leaf->id || idx_node_ended(node, leaf->id) ||
		    idx_meta_level(node->meta) != 0) /* the root was split */
			return false;
		net_back_off(w, &pause);
	}
	return false;
}

/* The entries of a range: leaf `node` has left the tree, and gave its range, all that it had, to
 * the leaf at its right (B15). That one may have given a part of it on. */
static nam_status
follow(struct net_worker *w, const struct idx_seen *leaf, const struct idx_node *ended, uint64_t *value,
    unsigned *n, bool *there, struct net_counts *acct)
{
	enum { HOPS = 4 };
	unsigned words = leaf->tree->words;
	const uint64_t *end = idx_at(ended, idx_node_key(words, IDX_ENDED_HIGH));
	uint64_t end_value = *idx_at(ended, idx_node_value(words, IDX_ENDED_HIGH));
	uint64_t place[IDX_KEY_WORDS + 1];
	net_addr at = { ended->right };
	nam_status st = NAM_OK;
	memcpy(place, idx_at(ended, IDX_NODE_LOW), 8 * (size_t)(words + 1));
	for (unsigned i = 0; i < HOPS && at.bits != 0; i++) {
		struct idx_node node;
		if (!leaf_whole(w, leaf, at, &node, &st, acct) ||
		    idx_below(&node, place, place[words], words))
			return st;
		at.bits = node.right;
		if (idx_beyond(&node, place, place[words], words))
			continue;
		for (unsigned k = 0; k < idx_meta_count(node.meta); k++) {
			const uint64_t *key = idx_at(&node, idx_node_key(words, k));
			uint64_t v = *idx_at(&node, idx_node_value(words, k));
			if (idx_place_order(key, v, place, place[words], words) < 0 ||
			    idx_place_order(key, v, end, end_value, words) >= 0)
				continue;
			if (*n == IDX_LEAF_MOST)
				return st;
			value[(*n)++] = v;
		}
		const uint64_t *high = idx_at(&node, idx_node_high(words));
		memcpy(place, high, 8 * (size_t)(words + 1));
		if (idx_place_order(place, place[words], end, end_value, words) >= 0) {
			*there = true;
			return st;
		}
	}
	return st;
}

nam_status
idx_leaf_now(struct net_worker *w, const struct idx_seen *leaf, uint64_t *value, unsigned *n, bool *there,
    struct net_counts *acct)
{
	struct idx_node node;
	nam_status st = NAM_OK;
	*there = false;
	*n = 0;
	if (leaf->id == 0 || !leaf_whole(w, leaf, leaf->leaf.at, &node, &st, acct))
		return st;
	unsigned words = leaf->tree->words, falls = idx_meta_falls(node.meta);
	if (falls == leaf->falls) {
		*there = true;
		*n = idx_meta_count(node.meta);
		memcpy(value, idx_at(&node, idx_node_value(words, 0)), 8 * (size_t)*n);
		return NAM_OK;
	}
	bool ended = memcmp(idx_at(&node, IDX_NODE_LOW), idx_at(&node, idx_node_high(words)),
			 8 * (size_t)(words + 1)) == 0;
	if (ended && falls == ((leaf->falls + 1) & 0xffff))
		st = follow(w, leaf, &node, value, n, there, acct);
	return st;
}

unsigned
idx_leaf_sort(const struct idx_node *n, unsigned w, uint8_t *slot)
{
	unsigned count = idx_meta_count(n->meta);
	for (unsigned i = 0; i < count; i++) {
		const uint64_t *key = idx_at(n, idx_node_key(w, i));
		uint64_t value = *idx_at(n, idx_node_value(w, i));
		unsigned at = i;
		for (; at > 0 && idx_place_order(idx_at(n, idx_node_key(w, slot[at - 1])),
				     *idx_at(n, idx_node_value(w, slot[at - 1])), key, value, w) > 0;
		     at--)
			slot[at] = slot[at - 1];
		slot[at] = (uint8_t)i;
	}
	return count;
}
