/* client.h -- a process's view of a tree: for index/btree's own files. */
#ifndef NAM_INDEX_BTREE_CLIENT_H
#define NAM_INDEX_BTREE_CLIENT_H

#include <base/assert.h>
#include <base/fault.h>
#include <index/adaptive.h>
#include <index/btree/btree_msg.h>
#include <index/btree/btree_plug.h>

#include <pthread.h>

struct idx_inner; /* copies of inner nodes */

struct view {
	struct idx_view pub; /* first */
	struct idx_inner *inner;
	struct idx_ways *ways; /* NULL: it is not adaptive */
	struct view *link;
};

/* A map of the partitions, as it was READ. Never changes; a later one replaces it, and it is kept
 * until close, because calls under way still use it. */
struct views {
	struct views *older;
	uint64_t id, version;
	unsigned n;
	struct view *view[];
};

enum idx_count {
	IDX_N_LOOKUPS,
	IDX_N_LEAF_READS,
	IDX_N_INNER_READS,
	IDX_N_RIGHTS,
	IDX_N_TORN,
	IDX_N_FALLBACKS,
	IDX_N_CHOSEN,
	IDX_N_CHANGES,
	IDX_N_HINTS_USED,
	IDX_N_MAP_READS,
	IDX_N_COUNTS
};

enum { IDX_SPARE = 64 };

/*
 * Key:  i  set in open, then never
 *       a  atomic
 *       l  under lock, which is never held while a coroutine parks
 */
struct idx_tree {
	net_addr anchor;               /* i */
	unsigned words;                /* i */
	struct idx_tree_memory mem;    /* i */
	struct idx_tree_options o;     /* i */
	const struct idx_locator *loc; /* i  NULL = none */
	_Atomic(struct views *) views; /* a  NULL = not known yet */
	_Atomic uint64_t id;           /* a  names this view in messages; 0 = not drawn yet */
	_Atomic uint64_t turn;         /* a  rises whenever a channel broke (B9) */
	_Atomic uint64_t count[IDX_N_COUNTS];
	_Atomic uint64_t owner; /* a  its word in the anchor's lock */
	atomic_bool moving;     /* a  a coroutine of this process moves a partition */
	atomic_bool doubt;      /* a  this view may hold the lock without knowing */
	atomic_bool pending;    /* a  this view holds the lock, and has not come to the end */
	atomic_bool large;      /* a  a partition has grown beyond the limit: the one of */
	pthread_mutex_t lock;
	uint64_t large_key[IDX_KEY_WORDS]; /* l */
	struct view *every;                /* l  each view there ever was, by `link` */
	net_addr spare[IDX_SPARE];         /* l  extents that a partition did not take */
	unsigned spares;
};

static inline void
idx_count_add(struct idx_tree *t, enum idx_count what, uint64_t n)
{
	if (n != 0)
		atomic_fetch_add_explicit(&t->count[what], n, memory_order_relaxed);
}

/* The map; READs it if it is not known, or again if it is still `stale`. NAM_ABSENT: the tree has
 * no partition, so it is empty (B14). */
nam_status idx_views(struct net_worker *w, struct idx_tree *t, const struct views *stale, struct views **out,
    struct net_counts *acct);
/* Likewise, but makes the first partition if there is none. */
nam_status idx_views_made(struct net_worker *w, struct idx_tree *t, const struct views *stale,
    struct views **out, struct net_counts *acct);
/* Likewise, for a read that keeps leaves: they prove later that nothing has come. Without memory
 * for a partition the word `state` proves it, until the first change: NAM_ABSENT. */
nam_status idx_views_kept(struct net_worker *w, struct idx_tree *t, const struct views *stale,
    struct views **out, struct idx_leaves *leaves, struct net_counts *acct);
/* Makes the first partition of a bare tree; NAM_OK also if it is not bare any more. */
nam_status idx_tree_begin(struct net_worker *w, struct idx_tree *t, struct net_counts *acct);
/* The partition of a key; its number in the map. */
struct view *idx_view_of(const struct views *m, const uint64_t *key, unsigned words);
unsigned idx_view_number(const struct views *m, const uint64_t *key, unsigned words);
/* The map's bytes, from the anchor *a that was READ; NAM_BUSY: READ both again. */
nam_status idx_map_read(
    struct net_worker *w, const struct idx_tree_anchor *a, struct idx_map *map, struct net_counts *acct);

/* ---- messages -------------------------------------------------------------------------- */

/* A request with its head, and its answer. Filled by idx_ask_init; freed by idx_ask_free. */
struct idx_ask {
	struct view *v;
	struct net_call call;
	uint64_t *rq;       /* words of the request; the head first */
	unsigned n, rq_cap; /* words */
	uint64_t *an;
	unsigned an_cap; /* words */
	uint64_t turn;   /* as it was sent */
};
/* most words of payload, of a request and of an answer. False: no memory. */
bool idx_ask_init(
    struct idx_ask *a, struct view *v, enum idx_message what, unsigned rq_words, unsigned an_words);
void idx_ask_free(struct idx_ask *a);
/* Sends the asks, side by side, and waits for all answers. Each one's status is that of its answer
 * head (an[0]) if it returned NAM_OK. */
void idx_ask_start(struct net_worker *w, struct idx_ask *a);
nam_status idx_ask_wait(struct net_worker *w, struct idx_ask *a, struct idx_an *head);
/* Both, and again with another turn or on another channel as long as that makes sense. */
nam_status idx_ask_run(struct net_worker *w, struct idx_ask *a, struct idx_an *head);
/* After idx_ask_wait said NAM_GONE or NAM_CANCELLED: starts it again if that makes sense, else
 * tells why not. *tries: 0 at first. */
nam_status idx_ask_again(struct net_worker *w, struct idx_ask *a, nam_status st, unsigned *tries);
/* A partition's view for messages, apart from the map. t: NULL, or the tree. */
struct view idx_lone_view(struct idx_tree *t, net_addr at, uint64_t tree, unsigned words);
/* Makes the partition at v's address; NAM_OK also if it is there. low, high: value last, at
 * [IDX_KEY_WORDS]; high NULL: all ones. */
nam_status idx_part_create(struct net_worker *w, struct view *v, uint64_t number, const uint64_t *low,
    const uint64_t *high, enum idx_part_state state);
/* Ends it; NAM_OK also if it is not there. */
nam_status idx_part_drop(struct net_worker *w, struct view *v);
/* Entries e (key, value), at most IDX_FILL_ENTRIES, in rising order; how: as a FILL message has it.
 * *done: so many are in. Takes memory for the partition. */
nam_status idx_part_send(
    struct net_worker *w, struct view *v, const uint64_t *e, unsigned n, uint64_t how, uint64_t *done);
#define IDX_FILL_ENTRIES(words) ((IDX_CALL_MAX - (unsigned)sizeof(struct idx_rq) - 8) / (8 * ((words) + 1)))
/* An extent of a region for this tree; one that was not used. */
nam_status idx_extent_get(struct net_worker *w, struct idx_tree *t, unsigned region, net_addr *out);
void idx_extent_back(struct idx_tree *t, net_addr extent);
/* After a partition has said NAM_FULL, when it had so many extents. */
nam_status idx_grow(struct net_worker *w, struct view *v, uint64_t extents);

/* ---- finding nodes --------------------------------------------------------------------- */

/* A place on its way to its leaf. */
struct seek {
	struct view *v;
	uint64_t key[IDX_KEY_WORDS];
	uint64_t value;
	unsigned stop; /* the level it wants: 0, or 1 (or 0 if the root is a leaf) */
	bool fresh;    /* no cached way */
	bool told;     /* at[] comes from the locator */
	/* machine's */
	net_addr at[2];
	unsigned n; /* addresses: one, or two of which one is right */
	int level;  /* of them; -1 = the root, whatever it is */
	unsigned tries, hops, restarts;
	bool stale; /* what the cache said is not true any more */
	bool over;
	nam_status status; /* NAM_BUSY: it was not found */
};
/* node: what proves the place, at address at. Returns true if the seek is over; else it has set key
 * and value, and the search goes on to the right. */
typedef bool (*seek_fn)(void *arg, struct seek *s, unsigned i, const struct idx_node *node, net_addr at);

enum { SEEKS = 16 };
/* Memory for up to `max` seeks. first, count: an entry for each seek; op: two. */
struct seek_room {
	unsigned max;
	uint64_t *node; /* nodes that are READ; those without room go into a later doorbell */
	size_t bytes;
	struct net_op *op;
	unsigned *first, *count;
};
/* At most room->max. */
void idx_seek_in(struct net_worker *w, struct idx_tree *t, const struct seek_room *room, struct seek *s,
    unsigned n, seek_fn fn, void *arg, struct net_counts *acct);
/* Likewise in memory on the stack: at most SEEKS. */
void idx_seek(struct net_worker *w, struct idx_tree *t, struct seek *s, unsigned n, seek_fn fn, void *arg,
    struct net_counts *acct);

/* ---- READs or a message ------------------------------------------------------------------ */

/* What each worker knows of a partition's storage node. */
struct idx_ways *idx_ways_open(unsigned cores); /* NULL = no memory */
void idx_ways_close(struct idx_ways *ways);
/* The worker's own; NULL: there are more workers than places, and this one has none. */
struct idx_adaptive *idx_ways_of(struct idx_ways *ways, struct net_worker *w);

/* ---- copies of inner nodes ------------------------------------------------------------- */

struct idx_inner *idx_inner_open(unsigned words, unsigned levels, net_addr root);
void idx_inner_close(struct idx_inner *c);
/* Stores a sound inner node's copy. */
void idx_inner_put(struct idx_inner *c, net_addr at, const struct idx_node *n);
/* The deepest node known on the way to a place: its address and level; false: none, begin at the
 * root. */
bool idx_inner_way(const struct idx_inner *c, const uint64_t *key, uint64_t value, net_addr *at, int *level);
/* The leaves from the place on, as idx_locator.locate; 0 = not known. */
unsigned idx_inner_leaves(const struct idx_inner *c, const uint64_t *key, uint64_t value, bool descending,
    net_addr *leaf, unsigned max);
uint64_t idx_inner_bytes(const struct idx_inner *c);

/* ---- places ---------------------------------------------------------------------------- */

/* The slots of a leaf's entries in order of their places. Returns how many. */
unsigned idx_leaf_sort(const struct idx_node *n, unsigned w, uint8_t *slot);

nam_status idx_leaves_add(struct idx_leaves *l, const struct idx_seen *leaf);
/* A leaf that was READ whole. */
nam_status idx_leaves_saw(struct idx_leaves *l, struct idx_tree *t, net_addr at, const struct idx_node *n);

#endif
