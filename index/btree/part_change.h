/*
 * part_change.h -- one change of a partition, from its first word to the end of the log (B7): for
 * the files of index/btree that change nodes. All calls come on the service's thread.
 */
#ifndef NAM_INDEX_BTREE_PART_CHANGE_H
#define NAM_INDEX_BTREE_PART_CHANGE_H

#include <index/btree/part.h>

/* All stores to the region. Readers on other machines see them in this order, or in none (B1). */
static inline void
idx_put(const struct part *p, uint64_t offset, uint64_t word)
{
#ifdef NAM_TWINS
	if (idx_store_hook != NULL)
		idx_store_hook();
#endif
	__atomic_store_n((uint64_t *)(void *)(p->pub.base + offset), word, __ATOMIC_RELEASE);
}

static inline void
idx_put_words(const struct part *p, uint64_t offset, const uint64_t *word, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		idx_put(p, offset + 8 * (uint64_t)i, word[i]);
}

static inline uint64_t
idx_part_address(const struct part *p, uint64_t offset)
{
	return (uint64_t)p->pub.region << 48 | offset;
}

/* The node at an address, NULL if none can lie there. */
const struct idx_node *idx_part_to(const struct part *p, uint64_t address);

/* ---- copies of nodes that are changed -------------------------------------------------- */

static inline void
idx_part_load(const struct part *p, uint64_t offset, struct idx_node *n)
{
	const struct idx_node *at = (const void *)(p->pub.base + offset);
	memcpy(n, at, 8 * (size_t)idx_node_words(p->pub.words, idx_meta_level(at->meta) == 0));
}

static inline uint64_t *
idx_words_of(struct idx_node *n, unsigned word)
{
	return (uint64_t *)n + word;
}

static inline void
idx_set_place(struct idx_node *n, unsigned w, unsigned slot, const uint64_t *key, uint64_t value)
{
	memcpy(idx_words_of(n, idx_node_key(w, slot)), key, 8 * (size_t)w);
	*idx_words_of(n, idx_node_value(w, slot)) = value;
}

/* The next meta of a node that now has so many. */
static inline uint64_t
idx_meta_next(const struct idx_node *n, unsigned count)
{
	return ((n->meta + IDX_META_CHANGE) & ~(UINT64_C(255) << 32)) | (uint64_t)count << 32;
}

/* Gives a node its check. Returns its words. */
unsigned idx_seal_node(const struct part *p, struct idx_node *n);

/* ---- the change -------------------------------------------------------------------------- */

/* Begins one; one that was begun before and not ended is forgotten. */
struct idx_change *idx_change_begin(struct part *p);
/* n words at an offset of the region. */
void idx_change_run(struct idx_change *c, uint64_t offset, const uint64_t *word, unsigned n);
/* A node that readers see already: by the log. */
void idx_change_node(struct idx_change *c, uint64_t offset, struct idx_node *n);
/* Offset of memory for a node of that level, 0 = there is none: a spare one, or new memory. */
uint64_t idx_change_take(struct idx_change *c, unsigned level);
/* A node of the tree in memory that was taken. Before the change ends only a reader that has come
 * on an old way can reach it (B6, B16). */
void idx_change_new(struct idx_change *c, uint64_t offset, struct idx_node *n);
/* A node that this change takes out of the tree, before idx_change_node of it: its memory is used
 * again (B16). */
void idx_change_spare(struct idx_change *c, uint64_t offset, struct idx_node *n);
/* Logs and stores all of it. */
void idx_change_end(struct idx_change *c);
/* Finishes the change in the log, if there is one. NAM_CORRUPT. */
nam_status idx_change_repair(const struct part *p);

#endif
