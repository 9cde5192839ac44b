/*
 * models.h -- where index/learned meets index/btree: a storage node's models of its partitions,
 * and a client's way to leaves by them.
 *
 * A MODEL message (btree_msg.h) and its answer, in words of 8 bytes; W: words of a key:
 *
 *   FRESH  key[W]      one piece (learned_format.h), trained on the spot if need be
 *   COPY   key[W]      more | next[W] | pieces from that key on; more != 0: go on at next
 *
 * The models are of leaves, or of inner nodes of level 1: then a client keeps a 12th of the table,
 * and READs an inner node before the leaf.
 */
#ifndef NAM_INDEX_MODELS_H
#define NAM_INDEX_MODELS_H

#include <index/btree/btree_plug.h>

enum { IDX_MODEL_FRESH = 1, IDX_MODEL_COPY };

struct idx_model_rq {
	uint32_t what, level;
	uint64_t key[IDX_KEY_WORDS]; /* as many as the tree has */
};

extern const struct idx_model idx_models;
/* NULL: that cache needs no models. */
const struct idx_locator *idx_models_locator(enum idx_tree_cache cache);

#endif
