/*
 * inner.c -- a process's copies of a partition's inner nodes, shared by its workers.
 *
 * A copy is never freed before the tree is closed, and is overwritten in place when its node was
 * READ again: word by word, so a reader may see a mix of two states. That leads to a wrong leaf at
 * worst, and a leaf proves itself (B2). So readers take no lock. Writers do.
 */
#include <index/btree/client.h>

#include <stdlib.h>

struct copy {
	net_addr at;
	_Atomic(struct copy *) kid[IDX_NODE_SLOTS]; /* copies of the children, NULL = none */
	_Atomic uint64_t word[];
};

struct idx_inner {
	unsigned words, levels; /* levels: 0 = all */
	net_addr root_at;
	_Atomic(struct copy *) root;
	pthread_mutex_t lock; /* of writers, and of what follows */
	struct copy **table;  /* by address, open addressing */
	size_t n, cap;
	_Atomic uint64_t bytes;
};

static inline uint64_t
word(const struct copy *c, unsigned i)
{
	return atomic_load_explicit(&c->word[i], memory_order_relaxed);
}

struct idx_inner *
idx_inner_open(unsigned words, unsigned levels, net_addr root)
{
	struct idx_inner *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->words = words;
	c->levels = levels;
	c->root_at = root;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void
idx_inner_close(struct idx_inner *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->cap; i++)
		free(c->table[i]);
	free(c->table);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

uint64_t
idx_inner_bytes(const struct idx_inner *c)
{
	return atomic_load_explicit(&c->bytes, memory_order_relaxed);
}

/* ---- reading --------------------------------------------------------------------------- */

/* Which child of a copy a place belongs to. */
static inline unsigned
child_of(const struct copy *c, const uint64_t *key, uint64_t value, unsigned w)
{
	unsigned count = idx_meta_count(word(c, 2)), i = 1;
	if (w == 1) {
		/* Without a branch per key. */
		unsigned below = 0;
		for (; i < count; i++) {
			uint64_t k = word(c, idx_node_key(1, i)), v = word(c, idx_node_value(1, i));
			below += (unsigned)(k < key[0]) | ((unsigned)(k == key[0]) & (unsigned)(v <= value));
		}
		return below;
	}
	for (; i < count; i++) {
		unsigned k = 0, at = idx_node_key(w, i);
		while (k < w && word(c, at + k) == key[k])
			k++;
		if (k < w ? key[k] < word(c, at + k) : value < word(c, idx_node_value(w, i)))
			break;
	}
	return i - 1;
}

/* The deepest copy on the way to a place, and the child there; NULL = none. */
static const struct copy *
way(const struct idx_inner *c, const uint64_t *key, uint64_t value, unsigned *child)
{
	const struct copy *at = atomic_load_explicit(&c->root, memory_order_acquire);
	unsigned left = c->levels == 0 ? IDX_LEVELS_MAX : c->levels;
	while (at != NULL) {
		*child = child_of(at, key, value, c->words) & (IDX_NODE_SLOTS - 1);
		if (idx_meta_level(word(at, 2)) <= 1 || --left == 0)
			return at;
		const struct copy *kid = atomic_load_explicit(&at->kid[*child], memory_order_acquire);
		if (kid == NULL || idx_meta_level(word(kid, 2)) >= idx_meta_level(word(at, 2)))
			return at;
		at = kid;
	}
	return NULL;
}

bool
idx_inner_way(const struct idx_inner *c, const uint64_t *key, uint64_t value, net_addr *at, int *level)
{
	unsigned child;
	const struct copy *n = way(c, key, value, &child);
	if (n == NULL)
		return false;
	at->bits = word(n, idx_node_child(c->words, child));
	*level = (int)idx_meta_level(word(n, 2)) - 1;
	return at->bits != 0 && *level >= 0;
}

unsigned
idx_inner_leaves(const struct idx_inner *c, const uint64_t *key, uint64_t value, bool descending,
    net_addr *leaf, unsigned max)
{
	unsigned child, n = 0;
	const struct copy *at = way(c, key, value, &child);
	if (at == NULL || idx_meta_level(word(at, 2)) != 1)
		return 0;
	unsigned count = idx_meta_count(word(at, 2));
	for (unsigned i = child; n < max && i < count && i < IDX_NODE_SLOTS; descending ? i-- : i++)
		leaf[n++].bits = word(at, idx_node_child(c->words, i));
	return n;
}

/* ---- writing --------------------------------------------------------------------------- */

static struct copy **
place(struct copy **table, size_t cap, net_addr at)
{
	size_t i = nam_mix(at.bits) & (cap - 1);
	while (table[i] != NULL && table[i]->at.bits != at.bits)
		i = (i + 1) & (cap - 1);
	return &table[i];
}

static bool
table_room(struct idx_inner *c)
{
	if (2 * (c->n + 1) <= c->cap)
		return true;
	size_t cap = c->cap == 0 ? 64 : 2 * c->cap;
	struct copy **more = calloc(cap, sizeof(struct copy *));
	if (more == NULL)
		return false;
	for (size_t i = 0; i < c->cap; i++)
		if (c->table[i] != NULL)
			*place(more, cap, c->table[i]->at) = c->table[i];
	free(c->table);
	c->table = more;
	c->cap = cap;
	return true;
}

/* Leads its parent's copy to a copy that is new. */
static void
link_kid(struct idx_inner *c, struct copy *kid, const struct idx_node *n)
{
	const uint64_t *low = idx_at(n, IDX_NODE_LOW);
	struct copy *at = atomic_load_explicit(&c->root, memory_order_relaxed);
	while (at != NULL && idx_meta_level(word(at, 2)) > idx_meta_level(n->meta)) {
		unsigned i = child_of(at, low, low[c->words], c->words) & (IDX_NODE_SLOTS - 1);
		if (word(at, idx_node_child(c->words, i)) == kid->at.bits) {
			atomic_store_explicit(&at->kid[i], kid, memory_order_release);
			return;
		}
		at = atomic_load_explicit(&at->kid[i], memory_order_relaxed);
	}
}

/* Is this state of a node later than that one? */
static bool
is_news(const struct copy *have, uint64_t meta)
{
	uint64_t old = word(have, 2);
	if (idx_meta_level(meta) != idx_meta_level(old))
		return idx_meta_level(meta) > idx_meta_level(old);
	uint64_t ahead = ((meta >> 40) - (old >> 40)) & 0xffffff;
	return ahead != 0 && ahead < 0x800000;
}

static void
overwrite(struct idx_inner *c, struct copy *to, const struct idx_node *n)
{
	for (unsigned i = 0; i < idx_node_words(c->words, false); i++)
		atomic_store_explicit(&to->word[i], *idx_at(n, i), memory_order_relaxed);
	for (unsigned i = 0; i < IDX_NODE_SLOTS; i++) {
		net_addr at = { *idx_at(n, idx_node_child(c->words, i)) };
		struct copy *kid = NULL;
		if (i < idx_meta_count(n->meta) && idx_meta_level(n->meta) > 1)
			kid = *place(c->table, c->cap, at);
		atomic_store_explicit(&to->kid[i], kid, memory_order_release);
	}
}

void
idx_inner_put(struct idx_inner *c, net_addr at, const struct idx_node *n)
{
	size_t bytes = sizeof(struct copy) + 8 * (size_t)idx_node_words(c->words, false);
	bool root = at.bits == c->root_at.bits;
	pthread_mutex_lock(&c->lock);
	struct copy *first = atomic_load_explicit(&c->root, memory_order_relaxed);
	unsigned depth = first == NULL || root ? 0 : idx_meta_level(word(first, 2)) - idx_meta_level(n->meta);
	if ((c->levels != 0 && depth >= c->levels) || (first == NULL && !root) || !table_room(c)) {
		pthread_mutex_unlock(&c->lock);
		return;
	}
	struct copy **where = place(c->table, c->cap, at);
	if (*where != NULL) {
		if (is_news(*where, n->meta))
			overwrite(c, *where, n);
	} else {
		struct copy *new = calloc(1, bytes);
		if (new != NULL) {
			new->at = at;
			overwrite(c, new, n);
			*where = new;
			c->n++;
			atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed);
			if (root)
				atomic_store_explicit(&c->root, new, memory_order_release);
			else
				link_kid(c, new, n);
		}
	}
	pthread_mutex_unlock(&c->lock);
}
