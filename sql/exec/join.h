/*
 * join.h -- the kept side of a hash join: its rows, and a table over their keys. Inside of sql.
 *
 * A bucket is one word: the number (+1) of its first row below, above it 32 bits of a filter over
 * its rows' hashes, so that a probe without a partner mostly reads one word only.
 */
#ifndef NAM_SQL_JOIN_H
#define NAM_SQL_JOIN_H

#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>

struct sql_entry {
	uint64_t hash;
	uint32_t next; /* row + 1 */
	uint32_t len;
	const char *p; /* one key of plain bytes: the key */
};

struct sql_join_table {
	struct sql_rowset *rs;
	unsigned keys;
	unsigned *key_at; /* the keys' columns in rs */
	bool bytes;       /* one key, equal if its bytes are */
	bool exact;       /* one key, equal if its hash is */
	bool unique;      /* no two rows have the same keys */
	uint64_t mask, *bucket;
	struct sql_entry *entry; /* of row r at r + 1 */
};

/* Builds the table over t->rs; rows with a NULL among their keys stay out of it. False if there is
 * no memory. */
bool sql_join_index(struct sql_join_table *t, struct nam_arena *keep);
/* found[j] = the first row (+1) whose keys are those of row sel[j], 0 = none. hash[j]: theirs. */
void sql_join_find(const struct sql_join_table *t, const struct cat_vec *key, const uint16_t *sel, unsigned n,
    uint64_t *hash, uint32_t *found);
/* The next such row (+1) after r (+1). */
uint32_t sql_join_more(
    const struct sql_join_table *t, const struct cat_vec *key, unsigned row, uint64_t hash, uint32_t r);

#endif
