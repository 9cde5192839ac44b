/*
 * btree_format.h -- the B+tree as every compute node sees it through one-sided READs, and as the
 * storage node's services change it.
 *
 * W: words of a key, 1..8, the same in the whole tree. A place is a pair (key, value), ordered by
 * key, then by value; words are compared as numbers. Entries are places; so are fences.
 *
 * node             aligned to 64, in an extent of its partition. W = 1: a leaf is 320 bytes = 5
 *                  cache lines, an inner node 448.
 *
 *   word 0  check  checksum over all other words of the node; never 0
 *        1  tree   identity of the tree, random, not 0
 *        2  meta   63 ....... 40 39 ... 32 31 ... 24 23 ... 16 15 ... 0
 *                 | changes      | count  | level  | W      | falls  |   level 0 = a leaf
 *        3  right  address of the node with the next higher fences, 0 = it is in another partition,
 *                  or there is none
 *        4  low    W words and 1: inclusive fence
 *           high   W words and 1: exclusive fence; all ones in the last node of the tree
 *           key    16 * W words   } leaf: `count` entries in no order
 *           value  16 words       } inner: `count` lower fences of the children, rising; the first
 *                                   is low
 *           child  16 words       inner only: addresses of nodes one level below
 *
 * partition        an extent of 64 KiB, then more of them:
 *
 *        0  struct idx_part_head
 *     4096  the root: a node that never moves. Its level rises when it splits.
 *     8192  the log: one change that is being made (idx_log)
 *    32768  nodes
 *   further extents: struct idx_extent_head (64 bytes), then nodes
 *
 * tree anchor      IDX_TREE_ANCHOR_BYTES, the caller's: struct idx_tree_anchor; leads to the map
 * map              an extent: two places of 32 KiB for the list of partitions (struct idx_map,
 *                  then struct idx_map_part), with a version and a checksum; the anchor's `map`
 *                  says which one holds
 *
 * Access
 *   node, log, head, extents   the service of the partition, one thread; all others READ.
 *   anchor, map                the client that creates or drops the tree, by WRITE and CAS; clients
 *                              that meet a bare one, by CAS (B14); then the holder of the anchor's
 *                              `lock`.
 *
 * Always true
 *   B1  A READ may tear between any two words. A node is believed only if its check is right, and
 *       it is of the tree and level asked for.
 *   B2  low and high prove an answer: if low <= (K, v) < high, a leaf alone decides whether (K, v)
 *       is in. So a wrong model, a stale copy of an inner node, an address of a dropped tree cost
 *       READs, and never lead to a wrong answer.
 *   B3  While a node lives, its low and its high only fall, and its level is the same (the root's
 *       only rises). What it gives up goes to the node at `right`, in the same change. So for a
 *       place >= high the search goes right; for a place < low it began at a wrong node.
 *       `falls` counts how often its high fence fell. So a leaf of which the count is the same
 *       still has the range that it had, or more below it, but for 2^16 falls within one
 *       transaction; `right` proves nothing of that kind, because nodes are used again.
 *   B4  As long as the tree lives its memory has nodes of the tree alone, of one level at each
 *       address. Dropping a tree takes the check of each leaf away, before its memory is used
 *       again; another tree has another identity, and another kind of memory has no right check.
 *   B5  Each change of a node raises `changes`. So equal checks of one leaf, READ at two moments,
 *       show that it was the same all the time between, but for 2^24 changes that came back to the
 *       same bytes.
 *   B6  A node becomes reachable only when it is whole: its words are stored before the log that
 *       leads to it is sealed.
 *   B7  All words of one change are in the log, and the log is sealed, before the first of them is
 *       stored; the seal is taken away after the last. So a service that has crashed between any
 *       two stores leaves either no seal, and then no word of the change is stored, or a seal, and
 *       then storing all of them again completes the change. A service does that before it serves
 *       the partition.
 *   B8  Equal keys may lie in several leaves. If the keys at both sides of a split differ, the
 *       fence is (a key between them, 0): then all entries of one key are in one leaf. Of
 *       the keys between, it is the one with the most zeros at its end.
 *   B9  Of one client's view a request with a lower turn than one already served is refused: so
 *       a request from a broken connection cannot execute after its repetition.
 *
 * A partition gives its upper half to a new one (move.c). M: the fence where it is cut.
 *   B10 One client at a time moves: the holder of the anchor's `lock`. It writes `target`, and then
 *       `source`, before it begins, and clears `source` at the end: one word tells whether there is
 *       a move. So a client that has taken the lock from a dead one knows what was begun.
 *   B11 From SEAL on no place >= M of the source changes. All entries that the target gets are
 *       READ after that. The target changes nothing before OPEN. So until the map says otherwise,
 *       source and target say the same, and undoing loses nothing.
 *   B12 The anchor's `map` decides: if that map names the target, the move is finished, else it is
 *       undone.
 *   B13 CUT: in one change (B7) the source's fences fall to M, and what lies above leaves its tree;
 *       then each of those nodes loses its check, and only then is the answer given. OPEN comes
 *       behind that answer. So when the target changes for the first time, no node of the source
 *       proves anything about a place >= M (B1), whatever way leads a reader to it.
 *
 *   B15 A leaf without entries, and with it the inner nodes that lead to it alone, may give its
 *       range to its right neighbour: in one change (B7) the low fence of each neighbour falls to
 *       theirs, their own high fence falls to their low one, the node above both loses one of the
 *       two children, and their left neighbours' `right` leads past them. So a node that has left
 *       the tree proves nothing (B2), and leads an old way to where its range went, as after a
 *       split. A leaf keeps its last high fence, as its third place: so a reader that saw the range
 *       can follow it (idx_leaf_now). The heir has room: else one entry in front of a full leaf
 *       would split it and leave it again and again. Only in a LIVE partition: M stays a fence, and
 *       what a target READs stays as it is (B11).
 *   B16 The memory of a node that has left the tree is used again for a node of the same level,
 *       whose words, `changes` and `falls` go on: by the log, as a node is changed that readers
 *       see, because an old way leads to it. To such a reader it is a wrong node.
 *
 *   B14 While `state` is BARE, no entry is in: so a READ that finds it proves that the tree was
 *       empty when the READ began. The first client that changes the tree CASes `map` from 0 to a
 *       map of one partition, makes that partition, and CASes `state` from BARE to LIVE. Any client
 *       may repeat the last two steps. The owner of the memory sees to it that none drops the tree
 *       meanwhile (txn: pins).
 */
#ifndef NAM_INDEX_BTREE_FORMAT_H
#define NAM_INDEX_BTREE_FORMAT_H

#include <base/hash.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IDX_TREE_MAGIC UINT64_C(0x3245455254584449) /* "IDXTREE2" */
#define IDX_PART_MAGIC UINT64_C(0x3254524150584449) /* "IDXPART2" */

enum {
	IDX_NODE_SLOTS = 16,
	IDX_KEY_WORDS = 8, /* most */
	IDX_NODE_ALIGN = 64,
	IDX_ENDED_HIGH = 2, /* slot where a leaf that has left keeps its high fence (B15) */
	IDX_NODE_LOW = 4,   /* the word where low begins */
	IDX_NODE_WORDS_MAX = 4 + 2 * (IDX_KEY_WORDS + 1) + IDX_NODE_SLOTS * (IDX_KEY_WORDS + 2),
	IDX_LEVELS_MAX = 14,
	IDX_PART_ROOT = 4096,
	IDX_PART_LOG = 8192,
	IDX_PART_NODES = 32768,
	IDX_LOG_WORDS = (IDX_PART_NODES - IDX_PART_LOG) / 8,
	IDX_TREE_EXTENT = 65536, /* net: NET_EXTENT */
	IDX_MAP_PLACE = IDX_TREE_EXTENT / 2,
};

struct idx_node {
	uint64_t check, tree, meta, right;
	uint64_t word[IDX_NODE_WORDS_MAX - 4];
};
static_assert(offsetof(struct idx_node, word) == 8 * IDX_NODE_LOW, "fences begin behind the header");

/* ---- a node's words, as numbers of words from its beginning ---------------------------- */

static inline unsigned
idx_node_high(unsigned w)
{
	return IDX_NODE_LOW + w + 1;
}
static inline unsigned
idx_node_key(unsigned w, unsigned slot)
{
	return IDX_NODE_LOW + 2 * (w + 1) + slot * w;
}
static inline unsigned
idx_node_value(unsigned w, unsigned slot)
{
	return IDX_NODE_LOW + 2 * (w + 1) + IDX_NODE_SLOTS * w + slot;
}
static inline unsigned
idx_node_child(unsigned w, unsigned slot)
{
	return idx_node_value(w, IDX_NODE_SLOTS) + slot;
}
/* All its words: what a READ of it takes, and what check covers. */
static inline unsigned
idx_node_words(unsigned w, bool leaf)
{
	return leaf ? idx_node_value(w, IDX_NODE_SLOTS) : idx_node_child(w, IDX_NODE_SLOTS);
}
/* The memory it takes. */
static inline unsigned
idx_node_room(unsigned w, bool leaf)
{
	return (8 * idx_node_words(w, leaf) + IDX_NODE_ALIGN - 1) / IDX_NODE_ALIGN * IDX_NODE_ALIGN;
}
static_assert(IDX_NODE_WORDS_MAX * 8 <= IDX_PART_LOG - IDX_PART_ROOT, "a root of any kind has room");

static inline const uint64_t *
idx_at(const struct idx_node *n, unsigned word)
{
	return (const uint64_t *)n + word;
}

/* ---- meta ------------------------------------------------------------------------------ */

#define IDX_META_CHANGE (UINT64_C(1) << 40)

static inline uint64_t
idx_meta(uint64_t changes, unsigned count, unsigned level, unsigned w)
{
	return changes << 40 | (uint64_t)count << 32 | (uint64_t)level << 24 | (uint64_t)w << 16;
}
static inline unsigned
idx_meta_count(uint64_t meta)
{
	return (unsigned)(meta >> 32) & 255;
}
static inline unsigned
idx_meta_level(uint64_t meta)
{
	return (unsigned)(meta >> 24) & 255;
}
static inline unsigned
idx_meta_words(uint64_t meta)
{
	return (unsigned)(meta >> 16) & 255;
}
/* How often the node's high fence has fallen (B3). */
static inline unsigned
idx_meta_falls(uint64_t meta)
{
	return (unsigned)meta & 0xffff;
}
static inline uint64_t
idx_meta_fallen(uint64_t meta)
{
	return (meta & ~UINT64_C(0xffff)) | ((meta + 1) & 0xffff);
}

/* ---- proof ----------------------------------------------------------------------------- */

/* A sum of products of pairs, each with a number of its own: no product waits for another one, as
 * in XXH3's middle lengths. n is the number of words behind `check`. Never 0. */
static inline uint64_t
idx_check_words(const uint64_t *word, unsigned n, uint64_t seed)
{
	uint64_t sum = seed ^ n, number = seed;
	unsigned i = 0;
	for (; i + 2 <= n; i += 2) {
		number += UINT64_C(0x9e3779b97f4a7c15);
		sum += nam_fold(word[i] ^ number, word[i + 1]);
	}
	if (i < n)
		sum += nam_fold(word[i], number);
	sum = nam_mix(sum);
	return sum != 0 ? sum : 1;
}
/* idx_check_words of 39 words with seed 0, the leaf's with keys of one word: the numbers are
 * constants here. */
static inline uint64_t
idx_check_39(const uint64_t *word)
{
	uint64_t sum = 39;
	/* Each product is added before the next one: else a compiler holds all of them in
	 * memory. */
#define IDX_PAIR(i)                                                                                          \
	sum += nam_fold(word[2 * (i)] ^ ((i) + 1) * UINT64_C(0x9e3779b97f4a7c15), word[2 * (i) + 1]);        \
	__asm__("" : "+r"(sum))
	IDX_PAIR(0);
	IDX_PAIR(1);
	IDX_PAIR(2);
	IDX_PAIR(3);
	IDX_PAIR(4);
	IDX_PAIR(5);
	IDX_PAIR(6);
	IDX_PAIR(7);
	IDX_PAIR(8);
	IDX_PAIR(9);
	IDX_PAIR(10);
	IDX_PAIR(11);
	IDX_PAIR(12);
	IDX_PAIR(13);
	IDX_PAIR(14);
	IDX_PAIR(15);
	IDX_PAIR(16);
	IDX_PAIR(17);
	IDX_PAIR(18);
#undef IDX_PAIR
	sum = nam_mix(sum + nam_fold(word[38], 19 * UINT64_C(0x9e3779b97f4a7c15)));
	return sum != 0 ? sum : 1;
}
static inline uint64_t
idx_node_check(const struct idx_node *n, unsigned w, bool leaf)
{
	if (w == 1 && leaf)
		return idx_check_39(&n->tree);
	return idx_check_words(&n->tree, idx_node_words(w, leaf) - 1, 0);
}
static_assert(IDX_NODE_LOW + 2 * 2 + 2 * IDX_NODE_SLOTS - 1 == 39, "idx_check_39 covers a leaf");

/* ---- places ---------------------------------------------------------------------------- */

/* -1, 0, 1: the place (a, av) is before, at, behind (b, bv). */
static inline int
idx_place_order(const uint64_t *a, uint64_t av, const uint64_t *b, uint64_t bv, unsigned w)
{
	for (unsigned i = 0; i < w; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return av < bv ? -1 : av > bv;
}
static inline int
idx_key_order(const uint64_t *a, const uint64_t *b, unsigned w)
{
	return idx_place_order(a, 0, b, 0, w);
}
/* False: there is none before. */
static inline bool
idx_place_before(uint64_t *key, uint64_t *value, unsigned w)
{
	if ((*value)-- != 0)
		return true;
	for (unsigned i = w; i-- > 0;)
		if (key[i]-- != 0)
			return true;
	return false;
}

/* Is a place below the low fence, at or above the high one? Neither: the node proves it. */
static inline bool
idx_below(const struct idx_node *n, const uint64_t *key, uint64_t value, unsigned w)
{
	const uint64_t *low = idx_at(n, IDX_NODE_LOW);
	return idx_place_order(key, value, low, low[w], w) < 0;
}
static inline bool
idx_beyond(const struct idx_node *n, const uint64_t *key, uint64_t value, unsigned w)
{
	const uint64_t *high = idx_at(n, idx_node_high(w));
	return idx_place_order(key, value, high, high[w], w) >= 0;
}
/* Of an inner node, the child that a place belongs to. The place is not below low. */
static inline unsigned
idx_child_of(const struct idx_node *n, const uint64_t *key, uint64_t value, unsigned w)
{
	unsigned count = idx_meta_count(n->meta), i = 1;
	while (i < count && idx_place_order(key, value, idx_at(n, idx_node_key(w, i)),
				*idx_at(n, idx_node_value(w, i)), w) >= 0)
		i++;
	return i - 1;
}

/* True of a node that was cut off, or whose tree was dropped: only then it has no check. */
static inline bool
idx_node_ended(const struct idx_node *n, uint64_t tree)
{
	return n->check == 0 && n->tree == tree;
}

/* True if bytes that were READ are such a node, whole (B1). level: 0 = a leaf, else at least 1. */
static inline bool
idx_node_sound(const struct idx_node *n, uint64_t tree, unsigned w, bool leaf)
{
	return n->tree == tree && idx_meta_words(n->meta) == w && (idx_meta_level(n->meta) == 0) == leaf &&
	       idx_meta_count(n->meta) <= IDX_NODE_SLOTS && n->check == idx_node_check(n, w, leaf);
}

/* ---- a partition ----------------------------------------------------------------------- */

struct idx_part_head {
	uint64_t magic;
	uint64_t check; /* over the words from tree to low */
	uint64_t tree;
	uint64_t words;  /* W */
	uint64_t number; /* in the tree */
	/* its fences; value last, at [W] */
	uint64_t low[IDX_KEY_WORDS + 1];
	/* changed by the log only */
	uint64_t high[IDX_KEY_WORDS + 1];
	uint64_t pad[1];
	uint64_t next;    /* offset of the next free byte of the newest extent in use ... */
	uint64_t end;     /* ... and of its end */
	uint64_t newest;  /* offset of the extent got last; the extents form a list */
	uint64_t extents; /* how many, with the first one */
	uint64_t using_;  /* number of the extent that `next` lies in */
	uint64_t leaves, inners, splits;
	uint64_t entries; /* not in the log: may be wrong by one after a crash */
	/* of a move, by the log */
	uint64_t state;                   /* enum idx_part_state */
	uint64_t seal[IDX_KEY_WORDS + 1]; /* SEALED: M; value last, at [W] */
	uint64_t cut[IDX_LEVELS_MAX];     /* CUT: of each level, the first node cut off */
	/* by the log: offset of the first spare node of a level (B16), 0 = none */
	uint64_t spare[IDX_LEVELS_MAX];
};
enum idx_part_state {
	IDX_PART_LIVE,
	IDX_PART_INCOMING, /* a target that is being filled */
	IDX_PART_SEALED,   /* a source: places >= seal do not change */
	IDX_PART_CUT,      /* it has given them up; nodes still lose their checks */
};
static_assert(sizeof(struct idx_part_head) <= IDX_PART_ROOT, "the head lies before the root");

struct idx_extent_head {
	uint64_t tree;
	uint64_t number; /* 1.. in the partition */
	uint64_t before; /* offset of the one got before */
	uint64_t pad[5];
};
static_assert(sizeof(struct idx_extent_head) == IDX_NODE_ALIGN, "nodes follow");

/* The log: a seal, the number of words behind it, then runs: offset in the region, n, n words. */
struct idx_log {
	uint64_t seal; /* idx_check_words over all words behind it; 0 = there is no change */
	uint64_t words;
	uint64_t word[IDX_LOG_WORDS - 2];
};
static_assert((IDX_LEVELS_MAX + 2) * (IDX_NODE_WORDS_MAX + 2) + 64 <= IDX_LOG_WORDS,
    "a split of a node of each level, into spare nodes, has room in the log");

/* ---- the anchor and the map ------------------------------------------------------------ */

struct idx_tree_anchor {
	uint64_t magic; /* CASed from 0: whose tree it is */
	uint64_t tree;
	uint64_t words, parts;
	uint64_t map;            /* address; 0 = no partition was begun yet */
	uint64_t state;          /* enum idx_tree_state */
	uint64_t lock;           /* of a move (B10); 0 = free */
	uint64_t source, target; /* addresses of partitions; source 0: there is no move */
	uint64_t first;          /* BARE: where the first partition goes, if there is room */
	uint64_t pad[6];
};
enum idx_tree_state {
	IDX_TREE_MAKING, /* by the client that created it */
	IDX_TREE_LIVE,
	IDX_TREE_DROPPING,
	IDX_TREE_BARE, /* it has no partition yet (B14) */
};
static_assert(sizeof(struct idx_tree_anchor) == 128, "tree.h promises the anchor's size");

struct idx_map_part {
	uint64_t low[IDX_KEY_WORDS + 1]; /* value last, at [8] */
	uint64_t at;                     /* address of the partition's first extent */
};
enum { IDX_MAP_PARTS = 256 };
struct idx_map {
	uint64_t check; /* over all that follows, as far as it is used */
	uint64_t tree, version, parts;
	struct idx_map_part part[IDX_MAP_PARTS];
};
static_assert(sizeof(struct idx_map) <= IDX_MAP_PLACE, "two maps have room in an extent");
static inline uint64_t
idx_map_bytes(uint64_t parts)
{
	return offsetof(struct idx_map, part) + parts * sizeof(struct idx_map_part);
}
static inline uint64_t
idx_map_check(const struct idx_map *m)
{
	return idx_check_words(&m->tree, (unsigned)(idx_map_bytes(m->parts) / 8) - 1, 0);
}

#endif
