/* shuffle_internal.h -- a node, as its join and its aggregation see it. */
#ifndef NAM_OLAP_SHUFFLE_INTERNAL_H
#define NAM_OLAP_SHUFFLE_INTERNAL_H

#include <olap/groups.h>
#include <olap/shuffle/shuffle.h>

#include <string.h>

/* Tuples of one side that have come, in any order. */
struct shuffle_pile {
	struct olap_area area;
	char *at; /* area.at */
	uint64_t n;
	unsigned ends; /* nodes that have sent all of theirs */
};

/* A Bloom filter: a key's bits lie in one word. */
struct shuffle_filter {
	struct olap_area area;
	uint64_t *word; /* area.at */
	uint32_t words;
	unsigned parts, slices; /* that are whole: of this node's slice; of all */
	uint32_t part_at[OLAP_NODES_MAX], slice_at[OLAP_NODES_MAX]; /* words that have come */
};

/* What a message is put together in, for each node. */
struct shuffle_out {
	uint32_t used;          /* bytes behind the head */
	uint32_t number, taken; /* messages to that node so far, and from it */
	_Alignas(8) char bytes[sizeof(struct shuffle_head) + OLAP_MESSAGE];
};

enum shuffle_state { SHUFFLE_BEGIN, SHUFFLE_PARTS, SHUFFLE_FILTERS, SHUFFLE_WAIT, SHUFFLE_OVER };

struct olap_node {
	struct olap_shuffle *s;
	enum shuffle_state state;
	unsigned sides;
	uint32_t width; /* of what is sent: tuples, or groups */
	struct shuffle_out *out;
	struct shuffle_pile pile[2];
	struct shuffle_filter filter[2];
	struct olap_memory memory;
	struct olap_groups groups;
};

/* The node that a key belongs to; tables take other bits of the hash. */
static inline unsigned
shuffle_node(const struct olap_node *node, uint64_t hash)
{
	return (unsigned)((uint64_t)(uint32_t)hash * node->s->nodes >> 32);
}

static inline void
shuffle_spent(const struct olap_node *node, enum olap_work what, uint64_t n)
{
	if (node->s->wire.spend != NULL)
		node->s->wire.spend(node->s->wire.arg, what, n);
}

/* The node's message is full. */
nam_status olap_shuffle_full(struct olap_node *node, unsigned to, unsigned side);

/* A tuple goes to its node's message. width: node->width, a constant where this is inlined. */
static inline __attribute__((always_inline)) nam_status
shuffle_put(struct olap_node *node, unsigned side, uint64_t hash, const void *tuple, uint32_t width)
{
	unsigned to = shuffle_node(node, hash);
	struct shuffle_out *o = &node->out[to];
	memcpy(o->bytes + sizeof(struct shuffle_head) + o->used, tuple, width);
	o->used += width;
	return __builtin_expect(o->used + width > OLAP_MESSAGE, 0) ? olap_shuffle_full(node, to, side)
								   : NAM_OK;
}
/* What waits goes, and END to all. */
nam_status olap_shuffle_end(struct olap_node *node, unsigned side);
void olap_shuffle_send(struct olap_node *node, unsigned to, enum shuffle_kind kind, unsigned side,
    uint32_t first, const void *bytes, uint32_t len);
nam_status olap_shuffle_keep(struct olap_node *node, unsigned side, const void *tuples, uint64_t n);

/* filter.c */
nam_status olap_shuffle_filter_open(struct olap_node *node, unsigned side);
/* Over this node's tuples; then its parts go out, or its slice of the sum. */
void olap_shuffle_filter_fill(struct olap_node *node, unsigned side);
void olap_shuffle_filter_send(struct olap_node *node, unsigned side, enum shuffle_kind kind);
nam_status olap_shuffle_filter_take(
    struct olap_node *node, const struct shuffle_head *h, const uint64_t *words);

/* Other bits of the hash than those that choose the node: mixed once more. */
static inline uint64_t
shuffle_mixed(uint64_t hash)
{
	return olap_hash(hash ^ UINT64_C(0x8f1bbcdc5a827999));
}
static inline uint64_t
shuffle_bits(uint64_t mixed)
{
	return UINT64_C(1) << (mixed & 63) | UINT64_C(1) << (mixed >> 6 & 63);
}
static inline uint32_t
shuffle_word(const struct shuffle_filter *f, uint64_t mixed)
{
	return (uint32_t)((mixed >> 32) * f->words >> 32);
}
static inline bool
shuffle_filter_has(const struct shuffle_filter *f, uint64_t hash)
{
	uint64_t m = shuffle_mixed(hash), bits = shuffle_bits(m);
	return (f->word[shuffle_word(f, m)] & bits) == bits;
}

/* ghj.c, sums.c */
nam_status olap_shuffle_join_send(struct olap_node *node);
nam_status olap_shuffle_join(struct olap_node *node);
nam_status olap_shuffle_groups_send(struct olap_node *node);
nam_status olap_shuffle_groups(struct olap_node *node);

#endif
