/*
 * btree_plug.h -- where index/learned joins the tree: a client's way from a place to leaves, and a
 * storage node's models of the leaves of a partition.
 *
 * A place is (key, value), in the order of btree_format.h. For index's own rooms only.
 */
#ifndef NAM_INDEX_BTREE_PLUG_H
#define NAM_INDEX_BTREE_PLUG_H

#include <index/btree/btree_format.h>
#include <index/tree.h>

#include <stdatomic.h>

/* ---- a client -------------------------------------------------------------------------- */

/* A partition as a process knows it: one for each in the map, alive until the tree is closed. */
struct idx_view {
	struct idx_tree *tree;
	net_addr at; /* its first extent */
	unsigned region, service, words;
	uint64_t id;                     /* of the tree */
	uint64_t low[IDX_KEY_WORDS + 1]; /* [words] is the value */
	void *loc;                       /* the locator's, from open; NULL if it has none */
};

enum { IDX_LOCATE_MAX = 16 };

/*
 * A way from a place to leaves. What it tells need not be true (B2). All calls come in coroutines
 * of any worker of the process, side by side.
 */
struct idx_locator {
	unsigned level; /* of the nodes that locate tells: 0 = leaves */
	/* For a new view. NULL = no memory. */
	void *(*open)(struct idx_view *v);
	void (*close)(void *loc);
	/*
	 * The addresses of up to max nodes of that level, neighbours in the order of places: the
	 * first, or one of the first *sure, holds the place. descending: the leaves behind the
	 * first lie before it. 0 = not known. Never parks, posts no verb. max <= IDX_LOCATE_MAX.
	 */
	unsigned (*locate)(void *loc, const uint64_t *key, uint64_t value, bool descending, net_addr *leaf,
	    unsigned max, unsigned *sure);
	/* locate for the places (key[i], value[i]) of up to IDX_LOCATE_MAX lookups, each in its
	 * view's loc[i], so that their cache misses overlap: at most two leaves each, of which one
	 * holds the place; count[i] = 0: not known. May be NULL. */
	void (*locate_many)(void *const *loc, const uint64_t *const *key, const uint64_t *value, unsigned n,
	    net_addr (*leaf)[2], unsigned *count);
	/*
	 * For many places at once, before locate: fetches what locate needs and has not got (parts
	 * of models or tables, by READ or message), in as few round trips as possible. May be
	 * NULL. A place is key i at keys[i], value at values[i].
	 */
	nam_status (*prepare)(void *loc, struct net_worker *w, const uint64_t *const *keys,
	    const uint64_t *values, unsigned n, struct net_counts *acct);
	/*
	 * What locate told for this place was wrong, or it knew nothing: leaf is the one that has
	 * it (0 = not known). May send a message, so may park.
	 */
	nam_status (*wrong)(void *loc, struct net_worker *w, const uint64_t *key, uint64_t value,
	    net_addr leaf, struct net_counts *acct);
	/* Bytes of models, or copies of nodes, and of tables at this moment; fetches so far; by how
	 * many nodes the models may be wrong. */
	void (*size)(void *loc, uint64_t *cache, uint64_t *table, uint64_t *fetched, unsigned *error);
};

/* idx_tree_open with a locator; NULL: as options say, without index/learned. */
struct idx_tree *idx_btree_open(net_addr anchor, unsigned words, const struct idx_tree_memory *mem,
    const struct idx_tree_options *o, const struct idx_locator *locator);

/*
 * A message to the partition's service that the model's part of the service answers
 * (idx_model.message): opens the channel, repeats after it broke. NAM_ABSENT: the partition is not
 * there any more.
 */
nam_status idx_view_call(struct net_worker *w, struct idx_view *v, const void *request, uint32_t len,
    void *answer, uint32_t cap, uint32_t *got, struct net_counts *acct);
enum { IDX_CALL_MAX = 30 << 10 }; /* the longest request and the longest answer of idx_view_call */

/* ---- a storage node -------------------------------------------------------------------- */

/* A partition as its service knows it. All calls about it come on the service's thread. */
struct idx_part {
	struct idx_part *next;
	char *base;    /* of the region */
	uint64_t size; /* of the region */
	unsigned region, words, number;
	uint64_t at; /* offset of its head */
	uint64_t tree;
	uint64_t trained; /* sub-models, for the shape; the model's to count */
	void *model;      /* from idx_model.open */
};

struct idx_model {
	/* A partition was opened (again, or for the first time). */
	void *(*open)(struct idx_part *p);
	void (*close)(void *model);
	/* Work that waits until the service has no request (net_service.idle), in small pieces:
	 * true if it did one. NULL = none. */
	bool (*idle)(void *model);
	/* A leaf was split: the leaves that had one range are now two. leaf, sibling: offsets. */
	void (*split)(void *model, uint64_t leaf, uint64_t sibling);
	/* A leaf has left the tree, and perhaps inner nodes with it: what held [low, was) is
	 * another one now. Keys. NULL = none. */
	void (*joined)(void *model, const uint64_t *low, const uint64_t *was);
	/* A message of idx_view_call; rq's bytes and len are those of that call's request. */
	nam_status (*message)(void *model, struct net_request *rq);
};

/* idx_tree_host_open with models; NULL: none. */
struct idx_tree_host *idx_btree_host_open(
    unsigned region, void *base, uint64_t size, const struct idx_model *model);

/* A partition's node at an offset, NULL if none can lie there. The service's thread may read it as
 * plain memory. */
const struct idx_node *idx_part_node(const struct idx_part *p, uint64_t offset);
/* The offset of the leaf that holds a place; NULL, 0: of the first leaf. */
uint64_t idx_part_leaf(const struct idx_part *p, const uint64_t *key, uint64_t value);
/* The offset of the leaf to the right, 0 = none in this partition. */
uint64_t idx_part_right(const struct idx_part *p, uint64_t leaf);
/* The node of a level on the way to a place; NULL: the partition has no such level. */
const struct idx_node *idx_part_at(
    const struct idx_part *p, const uint64_t *key, uint64_t value, unsigned level);
/* The node at an address in a node of this partition, NULL if none can lie there. */
const struct idx_node *idx_part_link(const struct idx_part *p, uint64_t address);

#endif
