/*
 * index.h -- a hash index in remote memory, from key hashes to record blocks.
 *
 * An entry is a hint: 24 bits of signature and the block's address. It does not hold the key; the
 * caller of a lookup compares the key in the record. So a lookup returns candidates, an insert
 * means "insert if there is no candidate that the lookup did not return", and a stale entry costs a
 * comparison, never a wrong answer.
 *
 * One READ per lookup in the common case; one CAS per insert or delete. The
 * index grows by splitting sub-tables while readers go on. Formats, truths and
 * the split protocol: index/hash/hash_format.h and index/README.md. Sources:
 * hydradb-kv §4 (signatures, remote pointers); extendible hashing.
 *
 * All calls run in a coroutine of the worker given; a struct idx_hash may be shared by all workers
 * of a process.
 */
#ifndef NAM_INDEX_INDEX_H
#define NAM_INDEX_INDEX_H

#include <net/net.h>

struct idx_hash;

/* The source of an index's memory: single extents on any region; the owner (a table) remembers them
 * so that they can be freed with it. Called in a coroutine. The memory reads as zeros. */
struct idx_memory {
	nam_status (*take)(void *arg, struct net_worker *w, net_addr *out);
	void *arg;
	/* The cluster's greatest region, 0 = 63; the same for each process, and for as long as the
	 * index lives. */
	unsigned region_max;
};

/* An entry, and a way of the pointer cache, name a block in 40 bits: region << shift | offset / 64.
 * The region takes as many of them as the cluster's greatest needs, and at least 6. */
static inline unsigned
idx_block_shift(unsigned region_max)
{
	unsigned bits = 6;
	while (region_max >> bits != 0)
		bits++;
	return 40 - bits;
}
/* So long a region may be in a cluster whose greatest region that is: an entry names each block of
 * it. */
static inline uint64_t
idx_region_bytes(unsigned region_max)
{
	return UINT64_C(1) << (idx_block_shift(region_max) + 6);
}

/* An index begins as IDX_ANCHOR_BYTES of zeroed remote memory, given by the caller. The first
 * insert, or a reserve, takes an extent for it and makes its first sub-tables; until then a lookup
 * costs a READ of the anchor. */
enum { IDX_ANCHOR_BYTES = 128 };

/* A process's view of the index at anchor; caches the directory. No I/O. NULL = no memory. *mem is
 * copied; mem->arg is borrowed until close. Close it when no call is under way any more. */
struct idx_hash *idx_hash_open(net_addr anchor, const struct idx_memory *mem);
void idx_hash_close(struct idx_hash *ix);

/*
 * Makes room for so many entries, so that they come without splits: for a table about to be
 * filled, or one that many clients fill. A split costs some dozen round trips, one index makes one
 * at a time, and inserts that need the same sub-table wait. 16 KiB of memory for some 1,000
 * entries. Entries are kept, and others may use the index meanwhile. 0 entries: the first
 * sub-tables. NAM_FULL: no memory for all, but for some.
 */
nam_status idx_hash_reserve(
    struct net_worker *w, struct idx_hash *ix, uint64_t entries, struct net_counts *acct);

/* The word of the resize lock while this process holds it; not 0. Default: random. Any thread. */
void idx_hash_set_owner(struct idx_hash *ix, uint64_t owner);
/*
 * Frees the resize lock of an owner that is dead and fenced (none of its verbs can execute any
 * more) and finishes its resize. NAM_ABSENT: that owner does not hold it. Until then lookups go on;
 * inserts that need the half-split table wait a second and end with NAM_BUSY.
 */
nam_status idx_hash_recover(
    struct net_worker *w, struct idx_hash *ix, uint64_t dead_owner, struct net_counts *acct);

/* True if a connection broke when this process took that lock or freed it: the lock may name this
 * process as long as it lives. Any thread. */
bool idx_hash_in_doubt(const struct idx_hash *ix);
/* The holder of the resize lock at this moment; 0 = none. */
nam_status idx_hash_holder(
    struct net_worker *w, const struct idx_hash *ix, uint64_t *holder, struct net_counts *acct);
/*
 * A split leaves a sub-table of 16 KiB behind, which other processes may still READ. Without this
 * structure it stays unused as long as the index lives: as much memory again as the index, and more
 * with every 14 or so inserts and removes of one key. With it, the next process that splits uses
 * the sub-table again: the index lists up to 1,024 of them.
 *
 *      now     a stamp that has the same meaning in every process; not 0. Costs verbs, and may park
 *      passed  true when no process still uses results that it READ from this index before that
 *              stamp was taken, in whichever process: no call of this room is under way that began
 *              before, and no probe is kept from then. A transaction system's watermark can serve
 *              as such a stamp. Must not park; may return false for ever.
 * Both are called with the resize lock held.
 */
struct idx_reclaim {
	nam_status (*now)(void *arg, struct net_worker *w, uint64_t *stamp);
	bool (*passed)(void *arg, struct net_worker *w, uint64_t stamp);
	void *arg;
};
/* Copied; arg is borrowed until close. Before ix is used. */
void idx_hash_set_reclaim(struct idx_hash *ix, const struct idx_reclaim *r);

/* Size and shape of the index. */
struct idx_shape {
	uint64_t tables, slots, live, tombs; /* sub-tables reachable; their slots, entries, removed
					      * entries */
	uint64_t splits, rewrites;           /* since it was created */
	uint64_t holder;                     /* of the resize lock, 0 = none */
	unsigned depth;                      /* the directory has 2^depth words */
};
nam_status idx_hash_shape(struct net_worker *w, struct idx_hash *ix, struct idx_shape *out);
/* Folds this room's formats into net_layout(). Call once, before net_open. */
void idx_layout_fold(void);

enum { IDX_HITS_MAX = 8 };

/* The state of one key's lookup or insert. Caller's memory. */
struct idx_probe {
	struct idx_hash *ix;
	uint64_t hash;  /* well mixed, of the whole key (nam_hash) */
	net_addr block; /* insert and remove: the block the entry leads to */
	nam_status status;
	uint32_t hits;              /* candidates found */
	net_addr hit[IDX_HITS_MAX]; /* more equal signatures than this in one bucket: status
				     * NAM_FULL */
	/* private: results of the lookup, so that an insert is one CAS */
	uint64_t priv[4];
};

/* A lookup of this hash will follow soon: fetches this process's word of the directory into the CPU
 * cache. No verb. */
void idx_hash_prefetch(struct idx_hash *ix, uint64_t hash);

/*
 * Looks n probes up (several indexes may mix), all READs in one doorbell per
 * node. Each probe's status: NAM_OK (hits >= 1), NAM_ABSENT, or an error; the
 * return value is NAM_OK unless the fabric failed. One round trip when no
 * bucket overflowed and the cached directory was fresh.
 */
nam_status idx_lookup(struct net_worker *w, struct idx_probe *p, unsigned n, struct net_counts *acct);

/*
 * idx_lookup in two halves, for a caller that has other READs to post in the same doorbell. begin
 * adds at most a READ for each probe to b, whose READs land in buf, IDX_LOOK_BYTES for each probe;
 * returns how many. end: call it when b has run; op: the first of those READs.
 */
enum { IDX_LOOK_BYTES = 128 };
unsigned idx_lookup_begin(struct idx_probe *p, unsigned n, struct net_batch *b, void *buf);
nam_status idx_lookup_end(struct net_worker *w, struct idx_probe *p, unsigned n, const struct net_op *op,
    const void *buf, struct net_counts *acct);

/*
 * Inserts the entries (hash -> block) of n probes that idx_lookup has filled and whose
 * candidates the caller has ruled out. Per probe: NAM_OK: it is in. NAM_DUPLICATE: a candidate
 * appeared that the lookup had not returned; hit[] and hits are fresh; compare, then call again for
 * those. NAM_FULL: no memory. NAM_BUSY: the process that splits that table seems to be dead
 * (idx_hash_recover). Never two entries for one key if all inserters compare. One round trip if no
 * other insert interferes.
 */
nam_status idx_insert(struct net_worker *w, struct idx_probe *p, unsigned n, struct net_counts *acct);

/*
 * idx_insert in two halves, likewise. begin adds a CAS to b for each probe whose lookup showed an
 * empty slot; returns how many. end: call it when b has run; op: the first of those CASes.
 */
unsigned idx_insert_begin(const struct idx_probe *p, unsigned n, struct net_batch *b);
nam_status idx_insert_end(
    struct net_worker *w, struct idx_probe *p, unsigned n, const struct net_op *op, struct net_counts *acct);

/* True if the lookup of this probe saw the slot where its insert goes. */
bool idx_slot_seen(const struct idx_probe *p);

/* Removes the entry (hash -> block). NAM_ABSENT: there is none. */
nam_status idx_remove(
    struct net_worker *w, struct idx_hash *ix, uint64_t hash, net_addr block, struct net_counts *acct);

/* Calls fn for every entry (for checks and tests). Not a snapshot. */
nam_status idx_walk(
    struct net_worker *w, struct idx_hash *ix, void (*fn)(void *arg, net_addr block), void *arg);

/*
 * idx_walk in parts: *from is 0 at first, and UINT64_MAX after the last part. Between two parts the
 * walk keeps no result of its READs, so the stamps of idx_reclaim may pass. An entry that is there
 * from the first part to the last is met, maybe twice. hash: the 30 bits of the key's hash that an
 * entry holds, enough for idx_remove.
 */
nam_status idx_walk_some(struct net_worker *w, struct idx_hash *ix, uint64_t *from,
    void (*fn)(void *arg, net_addr block, uint64_t hash), void *arg);

/* ---- the remote-pointer cache of a compute process (hydradb-kv §4.2.2) ------
 *
 * hash -> block, plus a small hint (which slot was newest). Fixed size, lossy, shared by all
 * workers without locks: an entry is one word, written and read with relaxed atomics. Seldom a way
 * belongs to another key, or another table: callers compare the hash in the block before they use
 * it, and drop a wrong way. */
struct idx_ptrs;
enum { IDX_HINT_MAX = 15 };
struct idx_ptrs *idx_ptrs_open(
    size_t entries, unsigned region_max); /* rounded up to a power of two; 8 bytes each */
void idx_ptrs_close(struct idx_ptrs *c);
bool idx_ptrs_get(struct idx_ptrs *c, uint64_t hash, net_addr *block, uint8_t *hint);
/* Before several gets: fetches the hash's cache line. */
void idx_ptrs_prefetch(struct idx_ptrs *c, uint64_t hash);
void idx_ptrs_put(struct idx_ptrs *c, uint64_t hash, net_addr block, uint8_t hint);
void idx_ptrs_drop(struct idx_ptrs *c, uint64_t hash);

#endif
