/*
 * entries_internal.h -- the entries of ordered indexes that a transaction makes, many in one call.
 */
#ifndef NAM_TXN_ENTRIES_INTERNAL_H
#define NAM_TXN_ENTRIES_INTERNAL_H

#include "txn_internal.h"

/* Entries of one call of the index: several messages in a row to a partition. */
enum { TXN_MAKING_MAX = 512 };

struct txn_making {
	struct txn *t;
	/*
	 * Judges entry i of a unique order whose key may have other entries. e[i].status NAM_OK: it
	 * is in, perhaps since an earlier life of its block; NAM_DUPLICATE, NAM_FULL: it is not.
	 */
	nam_status (*judge)(struct txn_making *m, unsigned i);
	void *arg;  /* judge's */
	bool early; /* before COMMIT, which then looks whether the row still has that key */
	struct idx_tree_entry *e;
	uint64_t (*key)[IDX_TREE_WORDS];
	struct txn_write **w; /* whose entry each is ... */
	unsigned *order;      /* ... and of which order */
	unsigned n, cap;
};

/* In t's arena, for so many entries; for fewer, if one call takes no more. NULL: no memory. */
struct txn_making *txn_making_of(struct txn *t, uint64_t entries);
/* One more entry, of w's row in order k; key: IDX_TREE_WORDS words. Makes those that are gathered
 * when there is no room for another. */
nam_status txn_making_add(struct txn_making *m, struct txn_write *w, unsigned k, const uint64_t *key);
/* Makes those that are gathered. */
nam_status txn_make(struct txn_making *m);
/* Entry i, whatever other entries its key has. */
nam_status txn_make_beside(struct txn_making *m, unsigned i);
/* Takes entry i out, which is the last one that t has made. NAM_GONE: it may still be taken out
 * later, and t goes on to know it. */
nam_status txn_unmake(struct txn_making *m, unsigned i);
/* The entry of w's row that t has made or found; NULL = none, or many have come since. */
struct txn_entry *txn_entry_of(struct txn *t, const struct txn_write *w, const struct idx_tree *tree,
    const uint64_t *key, unsigned words);

#endif
