/*
 * groups.h -- rows that differ, each kept once: keys of GROUP BY, arguments of DISTINCT. Numbered
 * as they come.
 *
 * Open addressing over 8-byte slots, a batch at a time: hashes first, then the slots,
 * then the keys, so that what one row waits for is on its way while others are looked at.
 */
#ifndef NAM_SQL_GROUPS_H
#define NAM_SQL_GROUPS_H

#include <sql/exec/rowset.h>

struct sql_group_slot {
	uint32_t tag;   /* of the hash */
	uint32_t group; /* + 1; 0 = free */
};

struct sql_groups {
	struct nam_arena *arena;
	struct sql_rowset *rs; /* row g: the key of group g */
	unsigned keys;
	bool exact; /* one key, equal if its hash is and it is no NULL */
	uint32_t n;
	uint64_t mask;
	struct sql_group_slot *slot;
	uint64_t *hash; /* by group */
};

/* In memory of the arena. types are borrowed. False if there is no memory. */
bool sql_groups_open(struct sql_groups *g, struct nam_arena *arena, const enum cat_type *type, unsigned keys);
/*
 * group[k]: that of row sel[k] of the key vectors, a new one if no row was like it; NULL equals
 * NULL. Groups from the first n on are new. False if there is no memory.
 */
bool sql_groups_find(
    struct sql_groups *g, const struct cat_vec *key, const uint16_t *sel, unsigned n, uint32_t *group);
/* sql_groups_find for one row, whose sql_hash_row is known. */
bool sql_groups_one(
    struct sql_groups *g, const struct cat_vec *key, uint16_t row, uint64_t hash, uint32_t *group);

#endif
