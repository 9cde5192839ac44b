/*
 * tree.h -- an ordered index in remote memory: a B+tree that storage nodes change and clients
 * read.
 *
 * An entry is (key, value): the value is a record's block, or any other word that is neither 0 nor
 * all ones. Entries are ordered by key, then by value, so that equal keys are no special case.
 * Like an entry of the hash index it is a hint: the caller compares the key in the record.
 *
 * A key is 1 to 8 words, the same number in the whole tree; the first word counts most. A longer
 * key is cut (idx_tree_key), and then several records may share what the tree knows of their keys.
 *
 * Clients look up by READs of nodes, each of which proves by its fences and its checksum that it
 * answers the question. What they cache (enum idx_tree_cache) decides how many READs that takes,
 * never what they find. Inserts and removes are messages to the storage node of the key's
 * partition (idx_tree_host). Formats and truths: index/btree/btree_format.h and index/README.md.
 * Source: xstore-learned-cache.
 *
 * NAM_REFUSED from any call: there is no such tree (any more).
 *
 * All calls that take a worker run in a coroutine of it; a struct idx_tree may be shared by all
 * workers of a process.
 */
#ifndef NAM_INDEX_TREE_H
#define NAM_INDEX_TREE_H

#include <base/arena.h>
#include <index/index.h>
#include <net/ring/service.h>

struct idx_tree;

enum {
	IDX_TREE_WORDS = 8, /* most words of a key */
	IDX_TREE_ANCHOR_BYTES = 128,
	IDX_TREE_PARTS = 256,       /* most partitions of a tree */
	IDX_TREE_LEAF_ENTRIES = 16, /* most entries of a leaf */
	/* Inserts or removes of one message. If one call has no more for a partition, the partition
	 * makes them in the order given. */
	IDX_TREE_MESSAGE = 128,
	IDX_TREE_TOGETHER = 128, /* keys of one doorbell (idx_tree_lookup_many) */
	IDX_TREE_SERVICE = 64,   /* the first of the services' ids ... */
	IDX_TREE_SERVICES = 16,  /* ... and how many there are: one for each shard, and more */
};

/* The words of a key whose encoding is these bytes, in their order: shorter ones are filled with
 * zeros. Returns false if the key is longer than that and was cut. */
bool idx_tree_key(const void *bytes, size_t len, unsigned words, uint64_t *out);

/* The source of a tree's memory: extents of a given region, which the owner (a table) remembers so
 * that they can be freed with it. Called in a coroutine. */
struct idx_tree_memory {
	nam_status (*take)(void *arg, struct net_worker *w, unsigned region, net_addr *out);
	void *arg;
	/* NULL, or what is called when a partition has become large (idx_tree_large). Any thread;
	 * it does not park. */
	void (*has_grown)(void *arg);
};

/* ---- making one, and its end ----------------------------------------------------------- */

/* A partition holds the keys from `low` on, up to the next partition's. */
struct idx_tree_part {
	unsigned region;
	uint64_t low[IDX_TREE_WORDS]; /* of the first partition it is not looked at */
};
struct idx_tree_config {
	unsigned words; /* of a key: 1 .. IDX_TREE_WORDS */
	unsigned parts; /* 1 .. IDX_TREE_PARTS */
	const struct idx_tree_part *part;
	/* The only partition is made by the first insert, or by the first read that keeps leaves:
	 * until then the tree takes no memory beside its anchor. */
	bool later;
};
/*
 * Creates an empty tree. *anchor: IDX_TREE_ANCHOR_BYTES of zeroed remote memory, given by the
 * caller. NAM_DUPLICATE: there is a tree already. NAM_FULL: no memory. NAM_UNSUPPORTED: a storage
 * node hosts no trees. NAM_INVALID: the configuration. Any other status: it is not known how much
 * of the tree exists; idx_tree_drop ends it.
 */
nam_status idx_tree_create(struct net_worker *w, net_addr anchor, const struct idx_tree_config *cfg,
    const struct idx_tree_memory *mem);
/* Which tree lies at anchor: a number that no other has. NAM_ABSENT: there is none. */
nam_status idx_tree_id(struct net_worker *w, net_addr anchor, uint64_t *id);
/*
 * Ends the tree at anchor, whole or half made: afterwards no storage node writes to its memory any
 * more. Only then may the owner use that memory for something else, and only when no client reads
 * it any more. NAM_ABSENT: there is none. NAM_BUSY: for a second another process has been moving
 * a partition; if that one is dead: idx_tree_recover.
 */
nam_status idx_tree_drop(struct net_worker *w, net_addr anchor);

/* ---- a process's view ------------------------------------------------------------------ */

/* What a client knows before it READs a leaf. */
enum idx_tree_cache {
	IDX_TREE_NONE,     /* nothing: a READ for each level */
	IDX_TREE_INNER,    /* copies of inner nodes */
	IDX_TREE_LEARNED,  /* models, and the table of leaves they lead to */
	IDX_TREE_MODELS,   /* models; an entry of the table is READ when it is needed */
	IDX_TREE_ONDEMAND, /* models and table, each part when it is needed */
	IDX_TREE_MESSAGES, /* nothing: lookups and scans are messages too */
};
const char *idx_tree_cache_name(enum idx_tree_cache c);
bool idx_tree_cache_parse(const char *name, enum idx_tree_cache *out);

struct idx_tree_options {
	enum idx_tree_cache cache;
	unsigned levels; /* INNER: how many levels from the root down; 0 = all */
	/* Each worker chooses between this cache's READs and a message, call by call
	 * (adaptive.h). */
	bool adaptive;
	unsigned cores; /* that serve messages on a storage node, for its load; 0 = 1 */
	/* If its nodes fill more, a partition is large (idx_tree_large). 0 = 2,048, UINT_MAX = none
	 * is. */
	unsigned split_extents;
	/* Of the tree (idx_tree_id): another one, made in the memory of one that was dropped, is
	 * none: NAM_REFUSED. 0 = whichever is there. */
	uint64_t id;
};
/* No I/O. NULL = no memory. words: of a key, as it was created. *mem is copied; mem->arg is
 * borrowed until close. Close it when no call is under way any more. */
struct idx_tree *idx_tree_open(
    net_addr anchor, unsigned words, const struct idx_tree_memory *mem, const struct idx_tree_options *o);
void idx_tree_close(struct idx_tree *t);

/* ---- partitions that grow -------------------------------------------------------------- */

/*
 * Moves the upper half of the partition that has the key to a new partition in a region, which may
 * be the same one. Lookups and scans go on; changes of what is being moved wait. NAM_ABSENT: the
 * partition is too small, or holds one key only. NAM_FULL: no memory there, or IDX_TREE_PARTS.
 * NAM_BUSY: another process, or a dead one, moves a partition of this tree. NAM_GONE: a storage
 * node was not reached. If this view then does not know whether it holds the lock,
 * idx_tree_in_doubt is true: its process must be fenced, and another one calls idx_tree_recover.
 * Else idx_tree_settle goes on. ended: NULL, or nodes that are known to be lost for all.
 */
nam_status idx_tree_split(struct net_worker *w, struct idx_tree *t, const uint64_t *key, unsigned region,
    const struct net_set *ended, struct net_counts *acct);
/*
 * Has a partition grown beyond its limit by a change of this view since it was asked last? Then
 * *key is a key of it.
 */
bool idx_tree_large(struct idx_tree *t, uint64_t *key);
/* Would idx_tree_large say so? */
bool idx_tree_is_large(const struct idx_tree *t);
/* The regions of all partitions, in order; room for IDX_TREE_PARTS. */
nam_status idx_tree_regions(
    struct net_worker *w, struct idx_tree *t, unsigned *region, unsigned *n, struct net_counts *acct);
/* Finishes or undoes a move of this view that an error has cut; NAM_OK also if there is none. */
nam_status idx_tree_settle(
    struct net_worker *w, struct idx_tree *t, const struct net_set *ended, struct net_counts *acct);
/* The same for a move of a process that is dead and fenced, and frees its lock. NAM_ABSENT: that
 * owner does not hold it. Until then changes of what was being moved wait a second and end with
 * NAM_BUSY. */
nam_status idx_tree_recover(struct net_worker *w, struct idx_tree *t, uint64_t dead_owner,
    const struct net_set *ended, struct net_counts *acct);
/* The word of the lock while this view holds it; not 0. Default: random. */
void idx_tree_set_owner(struct idx_tree *t, uint64_t owner);
bool idx_tree_in_doubt(const struct idx_tree *t);
/* True: idx_tree_settle has something to do. */
bool idx_tree_unsettled(const struct idx_tree *t);
nam_status idx_tree_holder(
    struct net_worker *w, const struct idx_tree *t, uint64_t *holder, struct net_counts *acct);

/* What this view has done since it was opened. */
struct idx_tree_counts {
	enum idx_tree_cache cache;
	uint64_t lookups;                 /* keys */
	uint64_t leaf_reads, inner_reads; /* READs of nodes for lookups and scans */
	uint64_t rights;                  /* leaf_reads that followed a right link */
	uint64_t torn;                    /* nodes READ again because they were not whole */
	uint64_t fallbacks;               /* keys that a message answered, ... */
	uint64_t chosen;                  /* ... and of these, because a worker chose so */
	uint64_t changes;                 /* entries inserted or removed by messages */
	uint64_t hints_used;              /* of these, without a search from the root */
	uint64_t map_reads;               /* of the map of partitions */
	uint64_t cache_bytes;             /* now: copies of inner nodes, or models ... */
	uint64_t table_bytes;             /* ... and tables of leaves */
	uint64_t models_fetched;          /* sub-models that messages brought */
	unsigned model_error;             /* now: so many leaves a line may be wrong by; its table
					   * then tells the leaf */
};
void idx_tree_counts(const struct idx_tree *t, struct idx_tree_counts *out);

/* The size of a tree, by messages to all its partitions. */
struct idx_tree_shape {
	uint64_t entries, leaves, inners; /* entries: about, after a crash of a storage node */
	uint64_t splits, extents, trains; /* trains: sub-models trained */
	uint64_t leaf_bytes, inner_bytes; /* of the nodes */
	unsigned parts, height;           /* levels of the highest partition; 1 = a leaf alone */
};
nam_status idx_tree_shape(
    struct net_worker *w, struct idx_tree *t, struct idx_tree_shape *out, struct net_counts *acct);

/* ---- which leaves were seen ------------------------------------------------------------ */

/* A leaf as it was when it was READ: check changes with each change of the leaf. */
struct idx_leaf {
	net_addr at;
	uint64_t check;
};
struct idx_seen {
	struct idx_leaf leaf;
	uint64_t id;           /* of the tree; 0 = a message told the leaf, and not this */
	uint32_t falls;        /* likewise: rises when the leaf gives range away (B3) */
	struct idx_tree *tree; /* borrowed */
};
/* Zeroed at first. Calls that are given one add the leaves that prove their answers. */
struct idx_leaves {
	struct idx_seen *leaf;
	uint32_t n, cap;
	uint32_t *slot;       /* numbers of leaves, plus 1, by their addresses: open addressing */
	uint32_t slots, used; /* slots: a power of two, or 0 */
};
/* Empties the list; a long one gives its memory back. */
void idx_leaves_clear(struct idx_leaves *l);
void idx_leaves_free(struct idx_leaves *l);
/*
 * READs the leaves' check words again: 8 bytes each, in doorbells of 64. *same: no leaf has
 * changed since it was seen, so each lookup and scan that added to the list would find the same
 * again.
 */
nam_status idx_leaves_same(
    struct net_worker *w, const struct idx_leaves *l, bool *same, struct net_counts *acct);
/* Likewise, from leaf number *from on: *from becomes the number of the first one that has changed,
 * or l->n. */
nam_status idx_leaves_changed(
    struct net_worker *w, const struct idx_leaves *l, uint32_t *from, struct net_counts *acct);
/*
 * READs a leaf again that has changed. *there: what has the range now is known, so each entry
 * that has come to the places it proved is among value[0 .. *n), IDX_LEAF_MOST of them at most:
 * the leaf itself, or, if it has left the tree, those to which its range went. False: it has
 * split, or is used again, or it could not be READ whole.
 */
enum { IDX_LEAF_MOST = 48 };
nam_status idx_leaf_now(struct net_worker *w, const struct idx_seen *leaf, uint64_t *value, unsigned *n,
    bool *there, struct net_counts *acct);

/* ---- lookup ---------------------------------------------------------------------------- */

struct idx_tree_probe {
	struct idx_tree *tree;
	const uint64_t *key;
	struct idx_leaves *leaves; /* NULL, or where to add the leaves that prove the answer */
	nam_status status;
	uint32_t hits;              /* values found, in their order */
	uint64_t hit[IDX_HITS_MAX]; /* more than this: status NAM_FULL, use a scan */
	struct idx_leaf leaf;       /* the first one that was asked; a hint for an insert */
};
/*
 * Looks n keys up (several trees may mix), READs of all in one doorbell per node. Each probe's
 * status: NAM_OK (hits >= 1), NAM_ABSENT, NAM_FULL, or an error; the return value is NAM_OK unless
 * the fabric failed for one of them. NAM_FULL: the key has more values than hit[] holds, or they
 * are spread over more leaves than an answer by message names: use a scan.
 */
nam_status idx_tree_lookup(
    struct net_worker *w, struct idx_tree_probe *p, unsigned n, struct net_counts *acct);
/* The same. Without arena memory a doorbell has the leaves of 16 keys, or fewer if the keys are
 * long; with it, of IDX_TREE_TOGETHER keys of one tree, however long. */
nam_status idx_tree_lookup_many(struct net_worker *w, struct idx_tree_probe *p, unsigned n,
    struct nam_arena *arena, struct net_counts *acct);

/* ---- changes --------------------------------------------------------------------------- */

/* One leaf's change, for a caller that keeps a list of leaves: its own change is not another's. */
struct idx_leaf_change {
	struct idx_leaf before;        /* at 0: nothing changed */
	struct idx_leaf after;         /* the same leaf now; elsewhere only if it was the root */
	struct idx_leaf sibling;       /* at 0, or the leaf that took the upper half of it */
	uint16_t falls, sibling_falls; /* with a sibling: idx_seen.falls of both */
};
/* In a caller's list: where the leaf stands as it was before, it is now as it is after.
 * NAM_NOMEM. */
nam_status idx_leaves_change(struct idx_leaves *l, const struct idx_leaf_change *c);

struct idx_tree_entry {
	struct idx_tree *tree;
	const uint64_t *key;
	uint64_t value;
	/*
	 * Insert: only if each value that the key has is among hit[0 .. hits), which a lookup has
	 * found and the caller has ruled out. Else NAM_DUPLICATE, and hit[], hits are fresh:
	 * compare, then call again. So all inserters that compare never make two entries for one
	 * key. false: whatever values the key has.
	 */
	bool unique;
	uint32_t hits;
	uint64_t hit[IDX_HITS_MAX]; /* unique, and the key has more values than this: NAM_FULL */
	/* The leaf, if a lookup has shown it; 0 = as the view's cache says. */
	net_addr hint;
	nam_status status;
	struct idx_leaf_change change;
};
/*
 * Inserts n entries, one message per partition. Each one's status: NAM_OK: it is in (also if it
 * was already); NAM_DUPLICATE; NAM_FULL: no memory; NAM_BUSY: its partition has been moving for
 * more than a second. A connection that breaks is opened again, and
 * the message repeated. Return value as of lookup.
 */
nam_status idx_tree_insert(
    struct net_worker *w, struct idx_tree_entry *e, unsigned n, struct net_counts *acct);
/* Removes n entries (key, value). Status NAM_OK; NAM_ABSENT: it is not in (or a broken connection
 * hid that it was removed by this call). */
nam_status idx_tree_remove(
    struct net_worker *w, struct idx_tree_entry *e, unsigned n, struct net_counts *acct);
/*
 * Inserts n entries in rising order: keys of `words` words one behind the other. Behind the last
 * entry of a partition leaves are filled to fill_percent (50 .. 100). *done: so many are in,
 * whatever the status.
 */
nam_status idx_tree_fill(struct net_worker *w, struct idx_tree *t, const uint64_t *keys,
    const uint64_t *values, uint64_t n, unsigned fill_percent, uint64_t *done, struct net_counts *acct);

/* ---- scan ------------------------------------------------------------------------------ */

struct idx_tree_scan;
struct idx_tree_range {
	const uint64_t *low, *high; /* NULL = without that bound; copied */
	bool low_open, high_open;   /* the bound itself does not belong to it, whatever value */
	bool descending;
	unsigned expect; /* entries the caller will take, 0 = not known: how many
					* leaves one doorbell READs at first */
};
/* A cursor. No I/O. NULL = no memory. leaves: as in a probe; borrowed until it is closed. */
struct idx_tree_scan *idx_tree_scan_open(
    struct idx_tree *t, const struct idx_tree_range *range, struct idx_leaves *leaves);
/*
 * Brings the next entries in order, at most cap of them: keys (`words` words each; may be NULL)
 * and values. *n == 0: the end. Not a snapshot: an entry that is there from the first call to the
 * last is brought, once; entries that come or go meanwhile may be brought. The leaves of the
 * entries brought, and of the gaps between them, have been added to the list.
 */
nam_status idx_tree_scan_next(struct net_worker *w, struct idx_tree_scan *s, uint64_t *keys, uint64_t *values,
    unsigned cap, unsigned *n, struct net_counts *acct);
void idx_tree_scan_close(struct idx_tree_scan *s);

/* ---- hosting --------------------------------------------------------------------------- */

/*
 * The half that lives on a storage node: IDX_TREE_SERVICES services over the region's memory. It
 * keeps nothing that is not in that memory, but for what it can find again. Each partition belongs
 * to one service, so to one thread.
 */
struct idx_tree_host;
/* base, size: of the region, with its superblock; borrowed until close. NULL = no memory. */
struct idx_tree_host *idx_tree_host_open(unsigned region, void *base, uint64_t size);
/* After the region's services have ended. */
void idx_tree_host_close(struct idx_tree_host *h);
/* For sn_region_serve and net_sim_serve: IDX_TREE_SERVICES of them into out. */
void idx_tree_host_services(struct idx_tree_host *h, struct net_service *out);

#endif
