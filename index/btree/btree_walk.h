/*
 * btree_walk.h -- reads the nodes of a tree as plain memory and judges whether they are a tree.
 * Included by tests only; of the tree's code it uses the drawing (btree_format.h) alone.
 */
#ifndef NAM_INDEX_BTREE_WALK_H
#define NAM_INDEX_BTREE_WALK_H

#include <index/btree/btree_format.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct tree_walk {
	char *base[1024]; /* of each region */
	uint64_t size;
	unsigned words;
	uint64_t tree;
	uint64_t entries, leaves, inners, spares;
	/* places in order: key[words], value */
	uint64_t *place;
	size_t cap;
	uint64_t expect_right[IDX_LEVELS_MAX]; /* what the last node seen at a level says */
	bool any[IDX_LEVELS_MAX];
	char broken[160];
};

#define WALK_FAIL(w, ...)                                                                                    \
	do {                                                                                                 \
		if ((w)->broken[0] == 0)                                                                     \
			snprintf((w)->broken, sizeof(w)->broken, __VA_ARGS__);                               \
		return;                                                                                      \
	} while (0)

static const struct idx_node *
walk_node(const struct tree_walk *w, uint64_t at)
{
	uint64_t region = at >> 48, off = at & ((UINT64_C(1) << 48) - 1);
	if (region == 0 || region > 1023 || w->base[region] == NULL || off % IDX_NODE_ALIGN != 0 ||
	    off > w->size - sizeof(struct idx_node))
		return NULL;
	return (const void *)(w->base[region] + off);
}

static void
walk_down(struct tree_walk *w, uint64_t at, int level, const uint64_t *low, const uint64_t *high)
{
	unsigned words = w->words;
	const struct idx_node *n = walk_node(w, at);
	if (w->broken[0] != 0)
		return;
	if (n == NULL)
		WALK_FAIL(w, "no node can lie at %" PRIx64, at);
	unsigned is = idx_meta_level(n->meta), count = idx_meta_count(n->meta);
	if (is >= IDX_LEVELS_MAX || (level >= 0 && (int)is != level))
		WALK_FAIL(w, "node %" PRIx64 " has level %u, not %d", at, is, level);
	if (!idx_node_sound(n, w->tree, words, is == 0))
		WALK_FAIL(w, "node %" PRIx64 " of level %u is not whole", at, is);
	const uint64_t *l = idx_at(n, IDX_NODE_LOW), *h = idx_at(n, idx_node_high(words));
	if (memcmp(l, low, 8 * (size_t)(words + 1)) != 0 || memcmp(h, high, 8 * (size_t)(words + 1)) != 0)
		WALK_FAIL(w, "node %" PRIx64 " of level %u: its fences are not its parent's", at, is);
	if (w->any[is] && w->expect_right[is] != at)
		WALK_FAIL(w, "node %" PRIx64 " is not at the right of its left neighbour", at);
	w->any[is] = true;
	w->expect_right[is] = n->right;
	if (is > 0) {
		w->inners++;
		if (count == 0)
			WALK_FAIL(w, "inner node %" PRIx64 " is empty", at);
		for (unsigned i = 0; i < count; i++) {
			uint64_t from[IDX_KEY_WORDS + 1], to[IDX_KEY_WORDS + 1];
			memcpy(from, idx_at(n, idx_node_key(words, i)), 8 * (size_t)words);
			from[words] = *idx_at(n, idx_node_value(words, i));
			memcpy(to, h, 8 * (size_t)(words + 1));
			if (i + 1 < count) {
				memcpy(to, idx_at(n, idx_node_key(words, i + 1)), 8 * (size_t)words);
				to[words] = *idx_at(n, idx_node_value(words, i + 1));
			}
			if (idx_place_order(from, from[words], to, to[words], words) >= 0)
				WALK_FAIL(w, "inner node %" PRIx64 ": its fences do not rise", at);
			walk_down(w, *idx_at(n, idx_node_child(words, i)), (int)is - 1, from, to);
		}
		return;
	}
	w->leaves++;
	/* The entries of a leaf, put in order one by one. */
	size_t begin = w->entries;
	for (unsigned i = 0; i < count; i++) {
		const uint64_t *key = idx_at(n, idx_node_key(words, i));
		uint64_t value = *idx_at(n, idx_node_value(words, i));
		if (idx_below(n, key, value, words) || idx_beyond(n, key, value, words))
			WALK_FAIL(w, "leaf %" PRIx64 " has an entry outside its fences", at);
		if ((w->entries + 1) * (words + 1) > w->cap) {
			w->cap = 2 * w->cap + 4096;
			w->place = realloc(w->place, w->cap * 8);
		}
		size_t k = w->entries++;
		uint64_t *p = w->place;
		for (; k > begin && idx_place_order(p + (k - 1) * (words + 1),
					p[(k - 1) * (words + 1) + words], key, value, words) >= 0;
		     k--) {
			if (idx_place_order(p + (k - 1) * (words + 1), p[(k - 1) * (words + 1) + words], key,
				value, words) == 0)
				WALK_FAIL(w, "leaf %" PRIx64 " has an entry twice", at);
			memcpy(p + k * (words + 1), p + (k - 1) * (words + 1), 8 * (size_t)(words + 1));
		}
		memcpy(p + k * (words + 1), key, 8 * (size_t)words);
		p[k * (words + 1) + words] = value;
	}
}

/* Nodes that have left the tree: each is whole, nothing lies between its fences, and its list
 * ends. */
static void
walk_spares(struct tree_walk *w, uint64_t part)
{
	const struct idx_part_head *h = (const void *)walk_node(w, part);
	unsigned words = w->words;
	uint64_t most = w->size / IDX_NODE_ALIGN;
	for (unsigned level = 0; level < IDX_LEVELS_MAX; level++) {
		uint64_t at = h->spare[level];
		for (; at != 0; w->spares++) {
			const struct idx_node *n = walk_node(w, (part & ~((UINT64_C(1) << 48) - 1)) | at);
			if (most-- == 0)
				WALK_FAIL(w, "the spare nodes of level %u do not end", level);
			if (n == NULL || !idx_node_sound(n, w->tree, words, level == 0) ||
			    idx_meta_level(n->meta) != level)
				WALK_FAIL(w, "spare node %" PRIx64 " of level %u is not whole", at, level);
			if (memcmp(idx_at(n, IDX_NODE_LOW), idx_at(n, idx_node_high(words)),
				8 * (size_t)(words + 1)) != 0)
				WALK_FAIL(
				    w, "spare node %" PRIx64 " of level %u proves something", at, level);
			at = *idx_at(n, idx_node_key(words, 1));
		}
	}
}

/* One partition, by the offset of its head. */
static void
tree_walk_part(struct tree_walk *w, uint64_t at, const uint64_t *low, const uint64_t *high)
{
	memset(w->any, 0, sizeof w->any);
	walk_down(w, at + IDX_PART_ROOT, -1, low, high);
	for (unsigned i = 0; i < IDX_LEVELS_MAX && w->broken[0] == 0; i++)
		if (w->any[i] && w->expect_right[i] != 0)
			WALK_FAIL(w, "the last node of level %u has a right neighbour", i);
	if (w->broken[0] == 0)
		walk_spares(w, at);
}

static inline void
tree_walk_all(struct tree_walk *w, uint64_t anchor)
{
	const struct idx_tree_anchor *a = (const void *)walk_node(w, anchor);
	/* Bare: no entry was ever in. The caller knows whether that is so. */
	if (a != NULL && a->magic == IDX_TREE_MAGIC && a->state == IDX_TREE_BARE)
		return;
	if (a == NULL || a->magic != IDX_TREE_MAGIC || a->state != 1 || a->words != w->words)
		WALK_FAIL(w, "the anchor is none");
	const struct idx_map *m = (const void *)walk_node(w, a->map);
	if (m == NULL || m->parts > a->parts || m->check != idx_map_check(m) || m->tree != a->tree)
		WALK_FAIL(w, "the map is none");
	w->tree = a->tree;
	for (unsigned i = 0; i < m->parts && w->broken[0] == 0; i++) {
		uint64_t low[IDX_KEY_WORDS + 1], high[IDX_KEY_WORDS + 1];
		memset(high, 0xff, sizeof high);
		memcpy(low, m->part[i].low, 8 * (size_t)w->words);
		low[w->words] = m->part[i].low[IDX_KEY_WORDS];
		if (i + 1 < m->parts) {
			memcpy(high, m->part[i + 1].low, 8 * (size_t)w->words);
			high[w->words] = m->part[i + 1].low[IDX_KEY_WORDS];
		}
		tree_walk_part(w, m->part[i].at, low, high);
	}
}

static void
tree_walk_free(struct tree_walk *w)
{
	free(w->place);
	w->place = NULL;
}

#endif
