/* order.c -- an ordered index over the keyed table, in some of the runs: its storage nodes host
 * trees, and scans may go by it. */
#include "sim_txn.h"

#include <index/btree/btree_format.h>

#include <stdlib.h>
#include <string.h>

enum { KEYS = 23 }; /* of all values, so that many rows have one key */

/* Each update of a row gives it another key, or the same by chance. */
static bool
key_of(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words)
{
	uint64_t value;
	(void)o;
	if (len < ROW_HEAD)
		return false;
	memcpy(&value, (const char *)row + offsetof(struct row, value), sizeof value);
	words[0] = value % KEYS;
	return true;
}

static const struct txn_order by_value = {
	.words = 1, .key = key_of, .options = { .cache = IDX_TREE_INNER }
};

void
order_table(const struct run *r, struct txn_table *t)
{
	if (!r->shape.ordered)
		return;
	t->order = &by_value;
	t->orders = 1;
}

void
order_host(struct run *r, uint64_t region_bytes)
{
	for (unsigned i = 1; r->shape.ordered && i <= NODES; i++) {
		r->tree_host[i] = idx_tree_host_open(i, net_sim_memory(r->sim, i), region_bytes);
		if (r->tree_host[i] == NULL)
			abort();
		idx_tree_host_services(r->tree_host[i], r->tree_service[i]);
		if (net_sim_serve(r->sim, i, r->tree_service[i], IDX_TREE_SERVICES) != NAM_OK)
			abort();
	}
}

void
order_unhost(struct run *r)
{
	for (unsigned i = 1; i <= NODES; i++)
		if (r->tree_host[i] != NULL)
			idx_tree_host_close(r->tree_host[i]);
}

/* True if an extent of a table's indexes is its tree's: a partition's first or a further one, the
 * map, or one that no node has been cut from yet. */
bool
order_extent(const struct run *r, const void *anchor, const void *extent)
{
	const struct idx_tree_anchor *a = (const void *)((const char *)anchor + TXN_ANCHOR_ORDERS);
	const uint64_t *word = extent;
	if (!r->shape.ordered || a->tree == 0)
		return false;
	return word[0] == IDX_PART_MAGIC || word[0] == a->tree || word[1] == a->tree ||
	       (word[0] == 0 && word[1] == 0);
}
