/*
 * groups.h -- a table of groups: open addressing, a key and a word for each aggregate in a slot.
 *
 * One key stands for an empty slot; the group that has it lies beside the table. If a key has
 * several words, the first is a hash: then another one stands for that hash.
 */
#ifndef NAM_OLAP_GROUPS_H
#define NAM_OLAP_GROUPS_H

#include "table.h"

#define GROUPS_EMPTY UINT64_C(0xe5b7a3c91d2f4680)

struct olap_groups {
	unsigned words; /* of a slot: the key's, and one for each aggregate */
	unsigned keys;  /* words of the key */
	unsigned n, hashed, bits;
	uint32_t most; /* groups that it takes before it is full */
	enum olap_op op[OLAP_AGGREGATES];
	uint64_t *slot;
	struct olap_area area;
	bool odd; /* the group of GROUPS_EMPTY is there */
	uint64_t odd_slot[OLAP_KEY_WORDS + OLAP_AGGREGATES];
};

/* 1 << bits slots, all empty. hashed: so many first bits of the hash are the same in all keys. */
nam_status olap_groups_clear(struct olap_groups *g, struct olap_memory *m, unsigned bits, unsigned hashed);
void olap_groups_free(struct olap_groups *g);
/* True if the table is larger than a second-level cache: then most tuples miss it. */
static inline bool
olap_groups_far(const struct olap_groups *g)
{
	return ((size_t)g->words * 8) << g->bits > 4 * (size_t)OLAP_CACHE;
}
/* Twice as many slots. */
nam_status olap_groups_grow(struct olap_groups *g, struct olap_memory *m);
/* Adds tuples of `words` words, which are groups themselves, as long as the table is not full. How
 * many. */
size_t olap_groups_add(struct olap_groups *g, const uint64_t *t, size_t n);

#endif
