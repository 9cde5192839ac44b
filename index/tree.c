/* tree.c -- joins the tree to its models: which locator a client has, and which models a storage
 * node. */
#include <index/btree/btree_plug.h>

struct idx_tree *
idx_tree_open(
    net_addr anchor, unsigned words, const struct idx_tree_memory *mem, const struct idx_tree_options *o)
{
	return idx_btree_open(anchor, words, mem, o, NULL);
}

struct idx_tree_host *
idx_tree_host_open(unsigned region, void *base, uint64_t size)
{
	return idx_btree_host_open(region, base, size, NULL);
}
