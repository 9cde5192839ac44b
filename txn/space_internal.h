/*
 * space_internal.h -- where memory for rows, values and anchors comes from, and how it goes
 * back.
 */
#ifndef NAM_TXN_SPACE_INTERNAL_H
#define NAM_TXN_SPACE_INTERNAL_H

#include "attempt_internal.h"

/* places.c */
/* A place for an anchor, which reads as zeros: of the first region from start, round, that has one.
 * vital: at last one of a node's reserve. */
nam_status txn_place_take(struct txn_db *db, struct net_worker *w, unsigned start, bool vital, net_addr *out);
/* No process uses the place any more. */
nam_status txn_place_give(struct net_worker *w, net_addr place);

/* ledger.c */
/* One extent of any node's reserve, for operations that must succeed when all other memory is taken
 * (net.h). */
nam_status txn_extent_kept(struct txn_db *db, struct net_worker *w, unsigned start, net_addr *out);
/* n extents of any nodes, round from start: all of them, or none. They are in no ledger. zeros: as
 * in net_extents_take. */
nam_status txn_extents_any(
    struct txn_db *db, struct net_worker *w, unsigned n, unsigned start, bool zeros, net_addr *out);
/* txn_extents_any, and the extents are entered in the table's ledger. whose: TXN_LEDGER_INDEX, or
 * the anchor's `sweep` as the caller knows it. entry: receives where, or NULL. */
/* One extent of a given region, which reads as zeros; it stands in the ledger. */
nam_status txn_extent_of_region(
    struct txn_stock *k, struct net_worker *w, unsigned region, uint64_t whose, net_addr *out);
nam_status txn_extents_take(struct txn_stock *k, struct net_worker *w, unsigned n, uint64_t whose,
    unsigned start, bool zeros, net_addr *out, uint32_t *entry);
/*
 * Takes extents out of the ledger and gives them back to their nodes. entry: where they may stand,
 * or NULL. Required: no process uses them any more, and no sweep of the table is under way or
 * begins before the call returns (the caller is pinned and has READ the anchor under that pin, or
 * has the table's sweep lock). *given: how many went back; extents that are in no ledger stay as
 * they are.
 */
nam_status txn_extents_give(struct txn_stock *k, struct net_worker *w, unsigned n, const net_addr *at,
    const uint32_t *entry, unsigned *given);
/* Calls fn for every entry that is not empty, until it says false. Not a snapshot: a caller that
 * needs one keeps others away. */
nam_status txn_ledger_walk(struct txn_db *db, struct net_worker *w, net_addr anchor,
    bool (*fn)(void *arg, uint32_t entry, uint64_t word), void *arg);
/* Extents of archives and blobs that were taken when `sweep` was in [from, to), in the order of
 * addresses; added to *old. */
nam_status txn_ledger_taken(struct txn_stock *k, struct net_worker *w, uint64_t from, uint64_t to,
    uint64_t **old, uint32_t *n, uint32_t *cap);
/*
 * Gives the extents of a ledger back, *left of them at most, and in the end its pages. NAM_BUSY:
 * there are more. Required: no process uses the table any more. An extent whose return is in doubt
 * is lost.
 */
nam_status txn_ledger_release(struct txn_worker *tw, net_addr anchor, unsigned *left);
/*
 * One step of the release of a dropped table whose CID the watermark has passed; j is of kind
 * TABLE, later CLOSED. NAM_OK: released, or another process releases it. NAM_BUSY or an error: j
 * holds the next step, and the watermark that it needs. With a pin.
 */
nam_status txn_table_release(struct txn_worker *tw, struct txn_junk *j);

/* alloc.c */
nam_status txn_block_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at, uint64_t *word);
void txn_block_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint64_t word);
/* A whole extent out of what is at hand or listed for archives and blobs. NAM_ABSENT: none was
 * found soon. */
nam_status txn_whole_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, net_addr *at);
nam_status txn_archive_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at);
void txn_archive_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at);
nam_status txn_blob_take(struct txn_worker *tw, struct txn_table_view *v, uint32_t len, net_addr *at);
void txn_blob_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint32_t len);
/*
 * Whether the collector may give this back now. NAM_OK: yes. NAM_BUSY: later, because a sweep is
 * under way or the anchor cannot be read. NAM_ABSENT: never, because the sweep has it or the table
 * is gone. In a round of the collector, with its pin.
 */
nam_status txn_may_give(struct txn_worker *tw, struct txn_table_view *v, const struct txn_junk *j);
/* The worker's part of a table's memory, listed. NULL: no memory. */
struct txn_alloc *txn_alloc_of(struct txn_worker *tw, struct txn_stock *k);
/* Takes it off the worker's list; what it has at hand is void. */
void txn_alloc_unlist(struct txn_worker *tw, struct txn_alloc *a);
/* The worker's part of a table's memory, after a look at the anchor. */
nam_status txn_alloc_look(struct txn_worker *tw, struct txn_stock *k, struct txn_alloc **out);
/* Takes the table's sweep lock; the word there is `is`: 0, or the lock of a process that has ended.
 * NAM_BUSY: another process has it. */
nam_status txn_sweeper_take(struct txn_worker *tw, net_addr anchor, uint64_t is, uint64_t *lock);
bool txn_stretch_push(struct txn_stretches *s, uint64_t at, uint64_t end);
/* The bytes taken for a short blob: its length, rounded up. */
uint64_t txn_blob_bytes(uint32_t len);
/* The worker's part of a table's memory; looked at the anchor where that is due. */
nam_status txn_alloc_ready(
    struct txn_worker *tw, struct txn_table_view *v, bool taking, struct txn_alloc **out);
/*
 * Takes all memory for archives and blobs that the anchor's lists hold, so that pieces of one
 * extent are joined. Call it with a pin under which the anchor was READ, and before all memory at
 * hand is handed over.
 */
void txn_rests_gather(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t until);
/* True if this process has been a member for as long as a sweep may take. */
bool txn_may_sweep(struct txn_worker *tw);
/* Takes the table's sweep lock if a sweep is due and the lock is free. With a pin. */
void txn_alloc_sweep(struct txn_worker *tw, struct txn_stock *k);
/* What is at hand is nobody's any more, or there is nothing. */
void txn_alloc_void(struct txn_alloc *a);
/* Frees the lists themselves, whatever they hold. */
void txn_lists_free(struct txn_alloc *a);
/* False: no memory for the list; the piece is lost until the next sweep. */
bool txn_free_push(struct txn_free *f, uint64_t x);
/* Takes the next cell of the tree, and puts its branches back into it. NAM_ABSENT: a sweep has
 * begun; the list is void. */
nam_status txn_tree_pop(struct txn_worker *tw, struct txn_alloc *a, struct txn_free *tree, uint32_t offset,
    uint64_t *at, struct txn_free_cell *cell);

/* tables.c */
nam_status txn_tables_enter(struct txn_worker *tw, net_addr anchor);
nam_status txn_tables_leave(struct txn_worker *tw, net_addr anchor);
/* The anchor's `maker` while the table is being made. */
uint64_t txn_tables_maker(const struct txn_worker *tw);
/* The count of deaths has changed: releases tables that were left behind, unless another process
 * has looked since. In a coroutine of its own. */
void txn_orphans(struct txn_worker *tw, uint64_t deaths);
/* Tables with such ids become garbage: no process uses them. *n: how many. */
nam_status txn_tables_forget(struct txn_worker *tw, uint32_t first, uint32_t *n);

/* blob.c: txn_blob_get outside of a transaction (t NULL), or beside another use of t's batch */
nam_status txn_blob_read(struct txn_worker *tw, struct txn *t, const struct txn_blob *blob, unsigned n,
    const void **out, struct nam_arena *arena);

/* surplus.c */
/* Gives all memory at hand back to the tables. False: some could not be given. Call it without a
 * pin: it takes its own. */
bool txn_tables_hand_over(struct txn_worker *tw);
/* Frees the record of a table's memory that one worker keeps. No coroutine uses it any more. */
void txn_alloc_free(struct txn_alloc *a);
/* Those that the worker has listed; it closes. */
void txn_allocs_drop(struct txn_worker *tw);
/* Gives all that a worker has of a table to its node or onto the table's lists. With a pin, until
 * `end` at the longest. False: not all. */
bool txn_hand_over(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t end);
/* All nodes are full. True: try again, another process may have given memory back. In a
 * transaction. */
struct txn_want {
	uint64_t until;
	bool asked;
};
bool txn_want(struct txn_worker *tw, struct txn_want *want);
/* await.c: so much of the nodes' memory that has come back is worth another try. */
#define TXN_CAME_BACK (16 * (uint64_t)NET_EXTENT)
/* How much garbage the other workers of the process see in this one's queues. */
void txn_garbage_tell(struct txn_worker *tw);
/* In the collector, between its rounds: gives unused memory back, asks other processes for memory
 * and hears their requests. */
void txn_surplus(struct txn_worker *tw);
/*
 * With a pin, before anything at hand is used: memory, intents, garbage. If this process has lost
 * its slot since, others have swept for all of that, and it is forgotten.
 */
void txn_at_hand(struct txn_worker *tw);
void txn_allocs_forget(struct txn_worker *tw);
/* In long work on memory that is mapped here, where no verb parks: yields now and then. */
void txn_give_way(struct txn_worker *tw);

/* blob.c */
static inline bool
txn_blob_long(uint32_t len)
{
	return len > TXN_BLOB_SHORT_MAX;
}
/* Memory for a value of b->len bytes: at, list, n. Its root says so; the bytes are written with
 * step 1 of the commit. */
nam_status txn_long_take(struct txn *t, struct txn_table_view *v, struct txn_new_blob *b);
/* Gives back a long value that no process asks for any more. Pinned. NAM_BUSY: a sweep is under
 * way, later. */
nam_status txn_long_give(struct txn_worker *tw, struct txn_table_view *v, net_addr root, uint32_t len);
/* The extents of a long value, the root first; free() them. NAM_TORN: there is no such value. */
nam_status txn_long_extents(struct net_worker *w, net_addr root, uint32_t len, net_addr **out, unsigned *n);
/* Gives the extents at hand for long values back to the nodes. Requires what txn_extents_give
 * requires. */
void txn_wholes_give(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a);
/* Gives a blob back that the transaction took and does not need. */
void txn_new_blob_give(struct txn *t, const struct txn_new_blob *b);

/* spread.c */
/* Takes the extents for so many bytes of t's write set: the root, and list[0..txn_spread_n(bytes)).
 * On an error *root may be set all the same. */
nam_status txn_spread_take(struct txn *t, uint64_t bytes, net_addr *root, uint64_t *list);
/* Reads the list in the root of that transaction's write set; free(*list). NAM_ABSENT: the root
 * belongs to another. */
nam_status txn_spread_read(
    struct net_worker *w, net_addr root, uint64_t lock, struct txn_spread *s, uint64_t **list);
/* The write set is not needed any more: empties the intent's head, and gives the extents back. No
 * extent goes back twice, even if the call is repeated. */
nam_status txn_spread_give(struct txn_worker *tw, net_addr intent, uint64_t lock, net_addr root);

/* reclaim.c */
/* Sweeps the tables whose `sweeper` holds our lock, each by one worker (`sweeping`). A coroutine of
 * each worker that sweeps (txn_config.split). */
void txn_reclaim(void *worker);
/* Records a leak. The next allocation from a table triggers a sweep. */
nam_status txn_death(struct txn_worker *tw);

#endif
