/* judge_internal.h -- what blocks show, what has to hold at COMMIT, and waits for locks. */
#ifndef NAM_TXN_JUDGE_INTERNAL_H
#define NAM_TXN_JUDGE_INTERNAL_H

#include "attempt_internal.h"

/*
 * Pauses of a reader whose READs meet a block in the middle of a WRITE. The first tries follow at
 * once, because a WRITE takes less than a round trip; base: about that long. cap: half a directory
 * may be what a dead process left, and that lasts for a lease and a recovery: seconds.
 */
enum { TXN_TORN_AT_ONCE = 4, TXN_TORN_BASE_NS = 1000, TXN_TORN_CAP_NS = 100000, TXN_TORN_HOLD = 60 };
#define TXN_TORN_BACKOFF                                                                                     \
	{                                                                                                    \
		.base_ns = TXN_TORN_BASE_NS, .cap_ns = TXN_TORN_CAP_NS, .hold = TXN_TORN_HOLD                \
	}

/*
 * Pauses of a transaction that does not wait for writers and whose CAS meets a lock. A lock is held
 * for two round trips and the steps behind the answer: six tries in some 60 us meet its end in most
 * cases. base: about a round trip.
 */
enum { TXN_LOCK_TRIES = 6, TXN_LOCK_BASE_NS = 2000, TXN_LOCK_CAP_NS = 32000 };
/* For a collector's lock it waits so long: the collector works on a block for some round trips, but
 * its thread may wait for a processor, or its process be stopped. */
enum { TXN_COLLECTOR_NS = 1000000000 };
#define TXN_LOCK_BACKOFF                                                                                     \
	{                                                                                                    \
		.base_ns = TXN_LOCK_BASE_NS, .cap_ns = TXN_LOCK_CAP_NS                                       \
	}

/* record.c */
enum rec_found { REC_HERE, REC_NONE, REC_OLDER, REC_TORN };
/* Judges a block image at snapshot S. REC_HERE: *slot. REC_OLDER: look along the chain. */
enum rec_found txn_rec_resolve(const struct txn_table_view *v, const struct rec_block *img, net_addr at,
    uint64_t snapshot, unsigned *slot);
bool txn_rec_dir_whole(const struct txn_table_view *v, const struct rec_block *img, net_addr at);
/* The slot of the newest listed CID (REC_NO_SLOT = none is listed). */
unsigned txn_rec_newest(const struct txn_table_view *v, const struct rec_block *img);
bool txn_rec_slot_whole(const struct txn_table_view *v, const struct rec_slot *s, uint64_t cid, net_addr at);
static inline const struct rec_slot *
rec_slot_of(const struct txn_table_view *v, const struct rec_block *img, unsigned k)
{
	return (const struct rec_slot *)(const void *)((const char *)img + v->head_bytes + k * v->slot_bytes);
}
/*
 * True if n (REC_NO_SLOT = none) is the newest version that the block had when its word was READ,
 * or a later one. A READ that meets a commit may bring its word, and the directory before it. So
 * the word must be the version's CID; if it is not, or is a lock, an earlier READ must have shown
 * the same word. *word: 0 at first; keeps the word between the READs of one block.
 */
bool txn_rec_is_newest(const struct rec_block *img, unsigned n, uint64_t *word);
/* READs a block at its newest version, whatever the snapshot: *n, REC_NO_SLOT = it has none.
 * NAM_CONFLICT: it stays torn. In a coroutine. */
nam_status txn_rec_read_newest(
    struct txn *t, const struct txn_table_view *v, net_addr at, struct rec_block *img, unsigned *n);
/* True if a transaction has the block locked, so that its newest version may not stay that. A
 * collector makes no version, and takes none away that is the newest and alive. */
static inline bool
txn_rec_is_changing(const struct rec_block *img)
{
	return rec_is_locked(img) && txn_lock_intent(img->word) != TXN_INTENT_GC;
}
/* Finds the version visible at the snapshot when the block alone cannot show it; re-READs as
 * needed. img is updated. REC_HERE: *out, *len, *cid, *meta. In a coroutine. */
nam_status txn_rec_fetch(struct txn *t, const struct txn_table_view *v, struct rec_block *img, net_addr at,
    uint64_t snapshot, const struct rec_slot **out, struct nam_arena *arena);

/* refer.c: with all locks held and all entries made. *guarded: the guards have been READ. */
nam_status txn_refer_check(struct txn *t, bool *guarded);
/* What was said since a mark is not so. */
void txn_refer_cut(struct txn *t, uint32_t mark);

/* What the head of t's intent says it holds. */
static inline uint64_t
txn_holds(const struct txn *t)
{
	return (t->holding ? TXN_HOLDS_TABLES : 0) | (t->nforbids > 0 ? TXN_HOLDS_KEYS : 0);
}

/* validate.c */
/* SERIALIZABLE, with all locks held: NAM_CONFLICT if a record in the read set has changed. */
bool txn_validates(const struct txn *t); /* it has anything to validate */
nam_status txn_validate(struct txn *t);
/* txn_guards_post puts READs of the guards of all tables written into t's batch; when the batch has
 * run, txn_guards_judge compares them. NAM_CONFLICT: one has changed; *held: a guard that another
 * transaction has locked, 0 = none. */
nam_status txn_guards_post(struct txn *t);
nam_status txn_guards_judge(struct txn *t, net_addr *held);
/* Waits until the guard is unlocked, the limits are reached, or its node is gone. */
void txn_guard_wait(struct txn_worker *tw, net_addr at, const struct txn_limits *l);

/* wait.c */
/* NAM_OK: go on waiting. NAM_CANCELLED, NAM_EXPIRED: not any more. */
nam_status txn_go_on(const struct txn *t);
nam_status txn_within(const struct txn_worker *tw, const struct txn_limits *l);
struct tso_timeout txn_timeout(const struct txn_limits *l);
/* NAM_STUCK if the owner of that lock has stopped and cannot be recovered, else NAM_OK. */
nam_status txn_lock_stuck(struct txn_worker *tw, uint64_t lock);
/* *yes = the transaction with this lock word has been decided: its lock is about to be freed. */
nam_status txn_decided(struct txn *t, uint64_t lock, bool *yes);
/* Reads the head of the intent that this lock word names; if h->lock differs, the transaction has
 * ended. */
nam_status txn_read_head(struct txn *t, uint64_t lock, struct txn_intent_head *h);
/* Says in t's intent which lock t waits for (0 = none), and whether it holds tables. */
nam_status txn_publish(struct txn *t, uint64_t lock);
/* NAM_DEADLOCK: the holder of that lock waits for t, directly or through others, and t is the
 * victim. */
nam_status txn_deadlock(struct txn *t, uint64_t lock);
/* txn_deadlock now and then: less and less often as long as the lock stays the same. c: zero when
 * the wait begins. */
struct txn_cycle {
	uint64_t lock, next_ns, pause_ns;
};
nam_status txn_look_for_cycle(struct txn *t, uint64_t lock, struct txn_cycle *c);
/* Locks w's block whatever its newest version is, and waits for other holders; img receives the
 * block under the lock. */
nam_status txn_lock_wait(struct txn *t, struct txn_write *w, struct rec_block *img);
/* Waits until another transaction's lock is not on a block any more; t leaves the block as it is.
 * Errors as of a wait for a lock. In a coroutine. */
nam_status txn_lock_gone(struct txn *t, net_addr at, uint64_t lock);

/* scan.c: each block of a table as it lies there when its extent is READ, with turns of other
 * coroutines between. img lasts until fn returns; another status than NAM_OK ends it. */
typedef nam_status txn_block_fn(void *arg, const struct rec_block *img, net_addr at);
nam_status txn_blocks_each(struct txn *t, const struct txn_table_view *v, txn_block_fn *fn, void *arg);

/* read.c */
void txn_read_set_add(struct txn *t, net_addr at, uint64_t newest);
void txn_read_set_add_absent(struct txn *t, const struct txn_get *g);

#endif
