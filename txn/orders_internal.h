/* orders_internal.h -- ordered indexes: keys, entries, their partitions. */
#ifndef NAM_TXN_ORDERS_INTERNAL_H
#define NAM_TXN_ORDERS_INTERNAL_H

#include "attempt_internal.h"

/* unique.c */
bool txn_unchecked_add(struct txn *t, net_addr at);
void txn_claims_end(struct txn *t);

/* known.c */
/* The name of an entry of order i; key: its words. */
uint64_t txn_known_entry(
    struct txn_worker *tw, const struct txn_table_view *v, unsigned i, const uint64_t *key, net_addr at);
/* The CID at which this process has seen the newest version of the entry's block to be a live row
 * with its key; 0 = none. */
tso_cid txn_known_get(struct txn_worker *tw, uint64_t entry);
void txn_known_put(struct txn_worker *tw, uint64_t entry, tso_cid cid);
void txn_known_close(struct txn_db *db);

/* order.c */
/* True if no other row may have the key of this one. */
bool txn_order_strict(struct txn_table_view *v, unsigned k, const struct rec_slot *row);
nam_status txn_orders_create(struct txn_worker *tw, struct txn_table *t);
/* v is in its stock; on an error the trees opened so far are there. */
nam_status txn_orders_open(struct txn_table_view *v, const struct txn_table *t);
nam_status txn_orders_drop(struct txn_worker *tw, net_addr anchor);
/* The key of a row, for a caller that may outlive the table's descriptor. t: NULL, or whose blobs
 * may not be written yet. *has false: no entry. NAM_BUSY: the table is closed here. */
nam_status txn_order_key(struct txn_worker *tw, struct txn *t, struct txn_table_view *v, unsigned i,
    const void *row, uint32_t len, uint64_t *words, bool *has);
nam_status txn_order_key_is(struct txn_worker *tw, struct txn *t, struct txn_table_view *v, unsigned i,
    const void *row, uint32_t len, const uint64_t *key, bool *is);
/* Call when a version is first replaced: keeps its keys. */
nam_status txn_orders_before(struct txn *t, struct txn_write *w, const void *row, uint32_t len);
void txn_key_junk(struct txn_worker *tw, struct txn_table_view *v, unsigned i, const uint64_t *key,
    net_addr at, tso_cid cid);
/*
 * True if a version that a snapshot may show has this key. *later: it is not known, because a slot
 * is not whole, or older versions are archived that some snapshot may still show.
 */
bool txn_key_needed(struct txn_worker *tw, struct txn_table_view *v, const struct rec_block *img, net_addr at,
    unsigned order, const uint64_t *key, bool *later);

/* entries.c */
/* With all locks held and before the commit line: makes the entries of t's rows that are not there
 * yet. */
nam_status txn_orders_enter(struct txn *t);
/* Before an abort frees its locks: removes them. False: one may still be removed later, so the
 * locks are the recoverer's to free. */
bool txn_orders_leave(struct txn *t);
/* Before a rollback to a savepoint frees locks: removes those made since. NAM_GONE: one may still
 * be removed later, so t can only be aborted. */
nam_status txn_entries_undo(struct txn *t, uint32_t mark);
/* t has committed: entries that its rows have left are garbage. */
void txn_orders_junk(struct txn *t);
/* Removes entries, at most 32, whose blocks the collector has locked. stays[i]: the removal may
 * still be served, so the lock has to stay (O3). */
void txn_entries_out(struct txn_worker *tw, struct idx_tree_entry *e, unsigned n, bool *stays);

/* reap.c */
enum { TXN_REAP_MAX = 32 };
/* How many pieces of garbage of a table are worked on together. */
unsigned txn_reap_most(const struct txn_table_view *v);
/* True if `next` may be worked on with the n before it. */
bool txn_reap_together(const struct txn_junk *j, unsigned n, const struct txn_junk *next);
/* n pieces of v (KEY, TOMB, EMPTY), each of which may be worked on with those before it. With a
 * pin. st[i] NAM_BUSY: the piece is due at another time; else it is done with. */
void txn_reap(
    struct txn_worker *tw, struct txn_table_view *v, struct txn_junk *j, nam_status *st, unsigned n);

/* keyed.c */
/* A block that an entry of the key leads to. Another status than NAM_OK ends the call. */
typedef nam_status txn_keyed_fn(void *arg, net_addr at);
/*
 * Calls fn with each block, `but` left out, that an entry of the key leads to, unless one READ of
 * it proves that it has no row with the key (K1). Entries that lead nowhere go to the collector.
 * For a lookup that said NAM_FULL. Also returns what the index says (NAM_REFUSED: it was dropped),
 * and what txn_go_on says.
 */
nam_status txn_keyed_each(struct txn *t, struct txn_table_view *v, unsigned order, const uint64_t *key,
    net_addr but, txn_keyed_fn *fn, void *arg);

/* parts.c */
/* Half of a large partition moves, if there is one: in another coroutine. */
void txn_parts_tend(struct txn_worker *tw);
/* The word by which this process holds the locks of the table's trees. */
void txn_parts_owner(struct txn_stock *k);
/* Moves of a dead process are brought to their end. The caller has a pin. */
nam_status txn_parts_recover(struct txn_worker *tw, struct txn_stock *k, uint64_t dead);
/* The same if the process that holds a tree's lock is dead and recovered. */
void txn_parts_unstick(struct txn_worker *tw, struct idx_tree *t);
void txn_parts_unstick_at(struct txn_worker *tw, net_addr anchor);

#endif
