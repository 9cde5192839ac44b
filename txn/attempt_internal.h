/* attempt_internal.h -- a transaction while it is open, and its end. */
#ifndef NAM_TXN_ATTEMPT_INTERNAL_H
#define NAM_TXN_ATTEMPT_INTERNAL_H

#include "process_internal.h"

/* ---- a transaction ---- */

enum txn_kind { WR_LOCK, WR_INSERT, WR_UPDATE, WR_DELETE };

/* What a transaction knows of its lock on one block. */
enum txn_has {
	TXN_FREE,   /* not locked by us */
	TXN_LOCKED, /* locked by us */
	TXN_DOUBT,  /* a connection broke under the CAS: it may be locked by us */
	TXN_LOST    /* its CAS met another version */
};

/* The key of a row in one ordered index. */
struct txn_keys {
	bool has;
	bool left; /* the commit gives the row another key, or none */
	uint64_t words[IDX_TREE_WORDS];
};

/* An entry of an ordered index that a transaction has made, or that it has met in its place. */
struct txn_entry {
	struct idx_tree *tree;
	uint64_t key[IDX_TREE_WORDS], value;
	uint32_t older; /* the one before it of the same write: its place + 1; 0 = none */
	uint32_t born;  /* mark.c */
	bool mine;      /* made by this transaction */
	bool kept;      /* the row that is committed has the key */
};

struct txn_write {
	struct txn_table *table;
	struct txn_table_view *view;
	net_addr at;
	uint64_t expect; /* the word that our lock replaces */
	uint64_t ident;  /* the key's hash; of a table without keys: of its id */
	uint64_t link;
	enum txn_kind kind;
	enum txn_has has;
	bool fresh;               /* the block is ours alone: allocated here */
	bool local;               /* it has a place in local.c's table */
	bool indexed;             /* our index entry leads to it */
	bool roamed;              /* unique.c: the row has left a unique key that it had */
	uint8_t target;           /* slot to be written, REC_NO_SLOT = not chosen */
	uint8_t newest;           /* slot of the newest version, REC_NO_SLOT = none */
	struct rec_slot *slot;    /* the new version, cid and check still open */
	struct rec_archive *arch; /* copy of the newest version, or NULL; arch_at when memory is
				   * taken */
	struct rec_archive *late; /* copy of the version in target, to be archived before it is
				   * overwritten */
	net_addr arch_at, late_at;
	struct txn_keys *keys;      /* of the version replaced; NULL = there is none, or no
				     * ordered index */
	struct txn_blob *old_blobs; /* of the version replaced */
	uint16_t old_blobs_n;
	uint64_t met;                  /* the lock its CAS met last, 0 = none */
	uint32_t entry;                /* its row's last of t->entry: place + 1; 0 = none */
	struct txn_own_places *places; /* own_keys.c */
	bool late_linked;              /* the directory that links late is written */
	uint32_t born, stretch;        /* mark.c: made in, and last copied aside or made in */
	bool tomb;                     /* the version is a deletion; read after the answer */
	/* from here on not cleared when a write begins */
	uint64_t cid[REC_SLOTS_MAX]; /* the directory's, as READ */
	struct rec_block dir;        /* word and directory to be written, until they have landed */
};

struct txn_new_blob {
	struct txn_table_view *view;
	net_addr at;
	const void *bytes;
	uint32_t len;
	uint32_t born;  /* mark.c */
	bool dropped;   /* no version names it any more: given back, or to be undone */
	uint64_t *list; /* a long one: its further extents, as its root lists them; n of them */
	unsigned n;
};

/* What a mark may restore: an earlier state of a write, or (write NULL) a blob that no version
 * names any more, by its number. */
struct txn_undo {
	uint32_t stretch;
	uint32_t blob;
	struct txn_write *write, *was;
};

/* own.c: an open-addressing table of numbers, each plus 1. */
struct txn_map {
	uint64_t *slot;
	uint32_t cap;  /* a power of two */
	uint32_t used; /* slots that are not 0 */
	uint32_t room; /* slots that there is memory for */
};

struct txn_read_mark {
	net_addr at;
	uint64_t newest; /* CID (or empty block's word) met; validated by SERIALIZABLE */
};
struct txn_absent {
	struct txn_table *table;
	const void *key;
	uint32_t key_len;
	uint64_t hash;
};

/* The record that defines a table, and its word when the writer of the table READ it. */
struct txn_guard {
	net_addr at;
	uint64_t word, seen;
};

/* A row that t's rows refer to (txn_rely). */
struct txn_relied {
	struct txn_table *table;
	net_addr at;
	uint64_t word;  /* the block's, if it has not changed since; 0 = look at the block */
	uint64_t ident; /* the block's */
	int order;      /* -1: by the table's key */
	uint32_t born;  /* mark.c */
	uint64_t key[];
};

/* Rows of a table that may not refer to a key which t takes away. */
struct txn_forbids {
	struct txn_forbid of; /* without low and high */
	uint32_t born;
	tso_cid seen_at; /* the snapshot whose rows the caller has seen to */
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS];
};

/* Where a transaction is. README, "The states of a transaction", lists what is true in each and
 * which process may act. */
enum txn_state {
	TXN_POOLED,   /* not in use */
	TXN_OPEN,     /* its owner's: reads, buffers what it will write; READ COMMITTED takes
		       * locks */
	TXN_LOCKING,  /* step 1 */
	TXN_CHECKING, /* all locks are held: what SERIALIZABLE read, guards, late archives */
	TXN_WRITING,  /* step 2 */
	TXN_DECIDED,  /* the commit line has landed. Step 3 runs */
	TXN_UNDOING,  /* the rollback; also the end of a commit that wrote nothing, which gives its
		      * locks back */
	TXN_MARKING,  /* words are written, or freed; its CID's mark is under way */
	TXN_MARKED,   /* the mark has landed, or this process cannot learn whether it has */
	TXN_LEFT,     /* left to a recoverer */
	TXN_STATES
};

/* logged.c: waits until the log is flushed up to `end`. */
struct txn_flush {
	struct wal_ends end;
	const struct txn_limits *limits;   /* NULL = none; else st may say that they ended it */
	uint64_t from_ns;                  /* they count from then on, by net_now_ns */
	void (*then)(struct txn_flush *f); /* on the worker, when it is, or `st` says why not */
	struct nam_co *waiter;
	nam_status st;
	bool over;
	struct txn_flush *next;
};

struct txn {
	struct txn_worker *tw;
	enum txn_iso iso;
	enum txn_state state; /* changed by txn_goto */
	struct tso_pin pin;
	struct tso_pin hold; /* READ COMMITTED: the snapshot of the first statement that wrote */
	bool pinned, held;   /* which of the two pins are linked to the worker */
	struct nam_arena arena;
	/* what its owner asked for */
	struct txn_limits limits;
	unsigned note;
	bool cluster_visible;
	bool finish;     /* txn_set_finish */
	bool no_wait;    /* txn_lock_now: not for locks of transactions that may still end either
		       * way */
	bool holding;    /* txn_lock_table: tables are ours alone; the intent's head says so */
	bool latest;     /* txn_begin_latest ... */
	tso_cid floor;   /* ... and what its process had answered before; else 0 */
	bool over_empty; /* an insert lies, not locked, in an empty block that another transaction
			  * left */
	struct txn_intent *intent;
	uint64_t lock;           /* this attempt's lock word, 0 = none yet */
	struct txn_ahead *ahead; /* of txn_get_ahead, in the arena; NULL = none */
	struct txn_write **wr;
	uint32_t nwr, wr_cap;
	uint32_t local;          /* writes with a place in local.c's table */
	struct txn_map by_block; /* own.c; cap 0 = not in use */
	struct txn_map by_key;   /* of the first `keyed` writes */
	uint32_t keyed;
	struct txn_new_blob *blob; /* in the order of their making */
	uint32_t nblobs, blobs_cap;
	struct txn_map by_blob; /* of the first `blobs_known` */
	uint32_t blobs_known;
	/* own_keys.c: own rows by the orders that t has read; writes changed since the first such
	 * read; ranges that are open, the newest first; the number of the last read */
	struct txn_own_keys *own_keys;
	struct txn_write **touched;
	uint32_t ntouched, touched_cap;
	struct txn_own_range *own_ranges;
	uint64_t reading;
	struct txn_read_mark *read;
	uint32_t nreads, reads_cap;
	struct txn_absent *absent;
	uint32_t nabsent, absent_cap;
	struct txn_table **scanned;
	uint32_t nscanned, scanned_cap;
	struct idx_leaves leaves;  /* SERIALIZABLE: of ordered indexes, as they were READ ... */
	struct txn_table **ranged; /* ... and their tables */
	uint32_t nranged, ranged_cap;
	struct txn_entry *entry; /* in the order of their making */
	uint32_t nentries, entries_cap;
	net_addr *unchecked; /* rows of tables with unique orders, written since txn_unique */
	uint32_t nunchecked, unchecked_cap;
	struct txn_claim { /* keys that own rows have been given: open addressing */
		uint64_t hash;
		net_addr at;
	} * claims;
	uint32_t nclaims, claims_cap;
	/* Of the first tree of a unique order that it gives keys: the greatest one, and claims that
	 * are not in the table above, because each key was greater than all before. */
	const struct idx_tree *rising;
	uint64_t highest[IDX_TREE_WORDS];
	struct txn_claim *risen;
	uint32_t nrisen, risen_cap;
	struct txn_making *early; /* unique.c: the next statement's; in the arena, or NULL */
	struct txn_relied **relied;
	uint32_t nrelied, relied_cap;
	struct txn_forbids *forbids;
	uint32_t nforbids, forbids_cap;
	uint32_t nasked; /* for so many, rows that refer to them have been looked for */
	struct txn_guard *guard;
	uint32_t nguards, guard_cap;
	uint32_t clock; /* marks so far */
	struct txn_undo *undo;
	uint32_t nundo, undo_cap;
	struct txn_junk *gone; /* blocks of undone inserts, for the collector when we have ended */
	uint32_t ngone, gone_cap;
	struct tso_claim claim;
	bool claimed; /* the claim has been started: beside step 1, in it, or behind it */
	tso_cid cid;
	struct nam_co *waiter;       /* for MARKED: visibility = cluster, or a synchronous finish */
	bool sync;                   /* answer and mark wait until the log is flushed */
	unsigned logged;             /* bits of the copies that may have received its last record */
	uint64_t log_check;          /* of its name in the log */
	struct wal_ends log_end;     /* positions behind its records, 0 = none were received */
	struct txn_logging *logging; /* its last record is under way */
	struct txn_flush flush;
	net_addr more;       /* root of a long write set */
	uint64_t *more_list; /* its further extents */
	struct net_counts counts;
	struct txn_looks looks;
	struct net_counts *sink;
	struct txn *next;
	struct net_batch batch;
	struct net_op op[TXN_OPS];
};

/*
 * Index lookups made beforehand, and index entries left for COMMIT. A lookup that has been used has
 * no index. Good as long as the pin stands under which they were made: the sub-tables that they saw
 * are not used again before.
 */
enum { TXN_AHEAD = 32 };
struct txn_ahead {
	struct idx_probe probe[TXN_AHEAD];
	unsigned n;
	unsigned due; /* entries that COMMIT makes, beside its locks */
	struct idx_probe entry[TXN_AHEAD];
	struct txn_write *of[TXN_AHEAD]; /* their writes */
	char buf[TXN_AHEAD * IDX_LOOK_BYTES];
};

/* Versions up to this CID are visible to t's reads. */
static inline tso_cid
txn_sees(const struct txn *t)
{
	return t->latest ? UINT64_MAX : t->pin.at;
}

/* A lock alone is no write. */
static inline bool
txn_writes(const struct txn_write *w)
{
	return w->kind != WR_LOCK;
}

/* True if the connection broke while the row was locked: what it shows is not known, and the
 * transaction can only be undone. */
static inline bool
txn_is_unread(const struct txn_write *w)
{
	return w->kind == WR_LOCK && w->newest == REC_NO_SLOT;
}

/* True if the block has to be freed, or looked at, before the transaction ends. */
static inline bool
txn_may_hold(const struct txn_write *w)
{
	return w->has == TXN_LOCKED || w->has == TXN_DOUBT;
}
/* The CAS from w->expect to our lock has run. */
static inline void
txn_cas_has_run(struct txn_write *w, const struct net_op *op)
{
	w->has = op->status == NAM_GONE                           ? TXN_DOUBT
		 : op->status == NAM_OK && op->seen == w->expect  ? TXN_LOCKED
		 : op->status == NAM_OK && !(op->seen & REC_LOCK) ? TXN_LOST
								  : TXN_FREE;
}

/* ---- a transaction's own batch, which may be longer than one doorbell ---- */

static inline void
txn_batch_open(struct txn *t)
{
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
}
/* wait.c: between two doorbells of a long step before the decision: lets others run now and then.
 * NAM_OK: go on. NAM_CANCELLED, NAM_EXPIRED: not any more. */
nam_status txn_between(struct txn *t);
/* Makes room for so many more operations; may run those already in the batch, and then also says
 * whether to go on. Before the decision only. */
static inline nam_status
txn_batch_room(struct txn *t, unsigned ops)
{
	if (t->batch.n + ops <= t->batch.cap)
		return NAM_OK;
	nam_status st = net_run(&t->batch);
	return st == NAM_OK ? txn_between(t) : st;
}
static inline nam_status
txn_batch_flush(struct txn *t)
{
	return t->batch.n > 0 ? net_run(&t->batch) : NAM_OK;
}
static inline net_addr
txn_intent_line(const struct txn *t, unsigned offset)
{
	return net_plus(t->intent->at, offset);
}

/* txn.c */
/* Only to a state that README's table lists as next; anything else is a bug, and stops the
 * process. */
void txn_goto(struct txn *t, enum txn_state to);
void txn_recycle(struct txn *t);
/* From time to time: frees pooled transactions that were not in use since the last call, and what
 * large ones have left in the others. */
void txn_pool_trim(struct txn_worker *tw);
void txn_free(struct txn *t);
/* Leaves t to its recoverer, which first fences this process. Until then this process does not
 * touch or promise anything of t. */
void txn_leave(struct txn *t);
/* Its mark has landed, or never will. */
void txn_through(struct txn *t);
void txn_marked(void *t);
void txn_mark_and_wait(struct txn *t, unsigned note);

/* abort.c */
/* True if the process ends and has no time left: t is left to a recoverer. */
bool txn_out_of_time(const struct txn *t);
/* NAM_REFUSED: this process is fenced, and its recoverer frees them. Locks on a node that does not
 * answer for long stay. */
nam_status txn_free_locks(struct txn *t);
void txn_junk_of_abort(struct txn *t);
/* Gives the extents of a long write set back. If this process stops in the middle, its recoverer
 * goes on. */
void txn_more_give(struct txn *t);
/* Every verb posted has completed when this is called. False: how t ends is not known. */
bool txn_roll_back(struct txn *t);

#endif
