/*
 * part.h -- a partition in the memory of its storage node, changed by its service: for
 * index/btree's own files.
 */
#ifndef NAM_INDEX_BTREE_PART_H
#define NAM_INDEX_BTREE_PART_H

#include <index/btree/btree_msg.h>
#include <index/btree/btree_plug.h>

enum { IDX_AGAIN_MAX = 2 };

/*
 * One change of a partition, collected before any word of it is stored (B7). Belongs to a service.
 */
struct idx_change {
	struct part *p;
	unsigned n;                                         /* words in log */
	bool takes;                                         /* memory, or gives it */
	unsigned again_n;                                   /* spare nodes that it uses again ... */
	uint64_t again[IDX_AGAIN_MAX];                      /* ... their offsets */
	uint64_t next, end, using_, leaves, inners, splits; /* as they will be */
	uint64_t spare[IDX_LEVELS_MAX];                     /* likewise */
	uint64_t log[IDX_LOG_WORDS - 2];
};

struct part {
	struct idx_part pub; /* first */
	const struct idx_model *ops;
	_Atomic uint32_t *owner; /* of each extent of the region: whose it is, 0 = no partition's */
	uint32_t mark;           /* ours in there */
	uint64_t *extent;        /* offsets of our extents, by number */
	uint64_t extents, cap;
	struct idx_change *change; /* scratch of the service */
	bool cutting;              /* the walk over the nodes that were cut off has begun: */
	unsigned cut_level;
	uint64_t cut_at, cut_leaves, cut_inners, cut_entries;
	bool ending;
	uint64_t end_leaf; /* the next leaf that idx_part_end ends */
};

/* Where the search for a place has come along: offset of the node at each level, and the child. */
struct idx_path {
	unsigned top; /* level of the root */
	uint64_t at[IDX_LEVELS_MAX + 1];
	unsigned child[IDX_LEVELS_MAX + 1];
};

static inline struct idx_part_head *
idx_head_of_part(const struct part *p)
{
	return (struct idx_part_head *)(void *)(p->pub.base + p->pub.at);
}

/* Makes an empty partition. The extent's bytes may be any. NAM_DUPLICATE: it is there already. */
nam_status idx_part_make(char *base, uint64_t at, uint64_t tree, unsigned words, uint64_t number,
    const uint64_t *low, const uint64_t *high, unsigned region, enum idx_part_state state);
/*
 * Opens one: finishes a change that a crash cut (B7), lists its extents. p's pub.base .. tree,
 * owner, mark and change are set. NAM_ABSENT: there is none of that identity; NAM_CORRUPT;
 * NAM_NOMEM.
 */
nam_status idx_part_open(struct part *p);
void idx_part_close(struct part *p);
/* Ends it: idx_part_open says NAM_ABSENT from now on, and no leaf is believed any more; of these at
 * most so many by one call. False: there are more. */
bool idx_part_end(struct part *p, unsigned most);
/* Takes extents that a client hands over, when there are `seen` now. *done: so many are ours. */
nam_status idx_part_grow(struct part *p, uint64_t seen, const uint64_t *offset, unsigned n, unsigned *done);

/*
 * A move's steps (B11, B13). NAM_INVALID: not in this state. Each may be repeated. *m: the fence
 * where the partition is cut, W words and the value; *found = false: there is none. cut: NAM_BUSY:
 * there is more to do; of nodes at most so many by one call.
 */
nam_status idx_part_seal(struct part *p, uint64_t *m, bool *found);
nam_status idx_part_unseal(struct part *p);
nam_status idx_part_cut(struct part *p, const uint64_t *m, unsigned most);
nam_status idx_part_go(struct part *p);
/* May a place of its range be changed now? */
static inline bool
idx_part_moves(const struct part *p, const uint64_t *key, uint64_t value)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	return h->state != IDX_PART_LIVE &&
	       (h->state == IDX_PART_INCOMING ||
		   (h->state == IDX_PART_SEALED && idx_place_order(key, value, h->seal, h->seal[w], w) >= 0));
}

/* The search; NULL: the partition's bytes make no sense. */
const struct idx_node *idx_part_find(
    const struct part *p, const uint64_t *key, uint64_t value, struct idx_path *path);
/* The leaf at hint if it holds the place (position hint), else NULL. */
const struct idx_node *idx_part_hint(
    const struct part *p, uint64_t hint, const uint64_t *key, uint64_t value);
uint64_t idx_part_offset(const struct part *p, const struct idx_node *n);

/* Inserts a place. *c, zeroed at first, tells which leaf changed. NAM_OK, also if it is in;
 * NAM_FULL: no memory; NAM_CORRUPT. hinted: the leaf that holds it if it is known, else NULL. */
nam_status idx_part_insert(struct part *p, const uint64_t *key, uint64_t value, const struct idx_node *hinted,
    struct idx_an_change *c);
/* Inserts n places that are not in, and that this leaf holds and has room for: in one change. */
void idx_part_insert_some(struct part *p, const struct idx_node *leaf, const uint64_t *const *key,
    const uint64_t *value, unsigned n, struct idx_an_change *c);
nam_status idx_part_remove(struct part *p, const uint64_t *key, uint64_t value, const struct idx_node *hinted,
    struct idx_an_change *c);
/*
 * After the leaf that holds a place has lost its last entry: gives the leaf's range to the leaf at
 * its right, and takes it out of the tree (B15), likewise the inner nodes that lead to it alone. A
 * leaf stays that is the last of several below its inner node, before a full one, or of a partition
 * that is moving. Nothing is done if the leaf has entries.
 */
void idx_part_join(struct part *p, const uint64_t *key, uint64_t value);
/* After a full leaf has lost an entry, or was split: the leaf before it may join it now. */
void idx_part_join_before(struct part *p, const struct idx_node *leaf);
/* Inserts places in rising order, entry i at e + i * (W + 1): key, value. *done: so many. */
nam_status idx_part_fill(struct part *p, const uint64_t *e, unsigned n, unsigned percent, unsigned *done);

#ifdef NAM_TWINS
/* Called before each word that a service stores; a test leaves by longjmp: a crash. */
extern void (*idx_store_hook)(void);
#endif

#endif
