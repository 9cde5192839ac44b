/* tree.c -- joins the parts of the room: which locator a tree's client has, which models a storage
 * node, and all formats. */
#include <index/btree/btree_msg.h>
#include <index/btree/btree_plug.h>
#include <index/hash/hash_format.h>
#include <index/learned/learned_format.h>
#include <index/models.h>

void
idx_layout_fold(void)
{
	const uint64_t shape[] = { IDX_TREE_MAGIC, IDX_PART_MAGIC, IDX_NODE_SLOTS, IDX_KEY_WORDS,
		IDX_LEVELS_MAX, IDX_PART_ROOT, IDX_PART_LOG, IDX_PART_NODES, IDX_MAP_PARTS, IDX_TREE_SERVICE,
		IDX_TREE_SERVICES, sizeof(struct idx_part_head), offsetof(struct idx_part_head, next),
		sizeof(struct idx_extent_head), sizeof(struct idx_tree_anchor), sizeof(struct idx_map_part),
		sizeof(struct idx_rq), sizeof(struct idx_an), sizeof(struct idx_an_change),
		sizeof(struct idx_an_shape), offsetof(struct idx_an, used), IDX_MSG_OPEN,
		offsetof(struct idx_part_head, state), sizeof(struct idx_piece_head), IDX_SUB_LEAVES_MAX,
		IDX_STEP_BITS, IDX_LEAF_SHIFT, sizeof(struct idx_model_rq), 1 };
	idx_hash_layout_fold();
	net_layout_fold("index.tree", idx_check_words(shape, sizeof shape / 8, 1));
}

struct idx_tree *
idx_tree_open(
    net_addr anchor, unsigned words, const struct idx_tree_memory *mem, const struct idx_tree_options *o)
{
	return idx_btree_open(anchor, words, mem, o, o != NULL ? idx_models_locator(o->cache) : NULL);
}

struct idx_tree_host *
idx_tree_host_open(unsigned region, void *base, uint64_t size)
{
	return idx_btree_host_open(region, base, size, &idx_models);
}
