/* txn_internal.h -- what the files of txn share. No other room includes it. */
#ifndef NAM_TXN_INTERNAL_H
#define NAM_TXN_INTERNAL_H

#include <base/assert.h>
#include <txn/intent_format.h>
#include <txn/record_format.h>
#include <txn/spread_format.h>
#include <txn/txn.h>
#include <wal/remote/log.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
	TXN_WORKERS_MAX = 128,
	TXN_OPS = 128,                 /* ops of one doorbell at most */
	TXN_SMALL = 8,                 /* writes found by looking at all of them */
	TXN_ASYNC_MAX = 48,            /* a commit with more writes waits for its last step before
				        * it answers */
	TXN_LINE_SLOTS = 512,          /* slots of this size and more are whole cache lines */
	TXN_BLOB_CLASSES = 10,         /* 64 B .. 32 KiB */
	TXN_BLOB_SHORT_MAX = 32 << 10, /* longer ones are of whole extents */
	TXN_WHOLES = 16,
};

/* Lengths on the wire are multiples of a word: a copy of words is fast, and never splits a word. */
#define TXN_PAD(len) (((len) + 7u) & ~7u)

/* ---- memory of a table, as one worker holds it ---- */

struct txn_stretch {
	uint64_t at, end; /* net_addr bits; at == end: nothing */
};

struct txn_free {
	uint64_t *item; /* blocks: pairs (address, word); else addresses */
	uint32_t n, cap;
};

struct txn_stretches {
	struct txn_stretch *item;
	uint32_t n, cap;
};

/* A whole extent at hand, and where it stands in the ledger. */
struct txn_whole {
	net_addr at;
	uint32_t entry;
};

/* Extents of blocks that a worker cuts from in turn: so a table's rows are spread over the nodes,
 * and many nodes do not make a worker take much memory that it does not need. */
enum { TXN_CUTS = 4 };

struct txn_alloc {
	struct txn_stock *stock;
	struct txn_alloc *prev, *next; /* in the worker's list */
	atomic_bool listed;            /* a  it is there: memory at hand, or used a while ago */
	_Atomic uint32_t junk;         /* a  relaxed: pieces of the worker's garbage that name it */
	struct txn_stretch block[TXN_CUTS];
	unsigned region;            /* of more nodes than that: how many extents were asked for */
	struct txn_stretches spare; /* further stretches of blocks */
	struct txn_stretch aux;
	struct txn_stretches rest; /* and of archives and blobs */
	struct txn_free blocks, archives, blob[TXN_BLOB_CLASSES];
	struct txn_whole whole[TXN_WHOLES]; /* for long values */
	unsigned wholes;
	struct txn_free block_tree, rest_tree; /* cells taken from the anchor's lists and not looked
					        * at */
	/* From the anchor. Memory at hand is of the generation that `sweep` tells. */
	bool looked;
	uint64_t sweep, horizon, before;
	uint64_t noted;   /* when the anchor was READ: a sweep that begins later has noted a later
			   * CID */
	uint64_t look_at; /* while a sweep is under way: when the collector looks next */
	uint64_t due_at;  /* while a sweep is due: when a worker that takes memory looks next */
	uint64_t round;   /* the collector's round in which it looked last */
	/* surplus.c: how much was taken, and the least that was left at hand */
	uint64_t takes, takes_seen, least;
	uint32_t least_blocks;
	unsigned samples, quiet, pause, paused;
	bool due;
	/* Extents for archives and blobs, rising: those of earlier generations, and those taken
	 * while the last sweep was under way */
	uint64_t *old, *amid;
	uint32_t nold, namid;
	bool old_known;
};

struct txn_look;
struct txn_stock;
/* Lists of stocks for which this process has something to do. */
enum txn_due {
	TXN_DUE_SWEEP, /* its `sweeper` is set */
	TXN_DUE_PARTS, /* a tree of it has a partition that is large */
	TXN_DUES
};

/* One definition of a table, as this process has it open. Those of one table share its stock. */
struct txn_table_view {
	struct txn_db *db;
	struct txn_stock *stock;
	uint32_t table;
	net_addr anchor;
	uint16_t slots;
	uint32_t row_max;
	uint32_t head_bytes;    /* word and directory */
	uint32_t slot_bytes;    /* head and payload room */
	uint32_t block_bytes;   /* a multiple of 64 */
	uint32_t archive_bytes; /* a multiple of 64 */
	uint32_t per_extent;
	bool has_key;
	bool vital;             /* may take from the reserve */
	atomic_bool dead;       /* closed: its callbacks are not called any more */
	atomic_int asking;      /* threads inside the owner's callback: closing waits for them */
	_Atomic unsigned held;  /* sweeps that use it across pins */
	struct idx_hash *index; /* the stock's */
	unsigned orders;
	bool unique;                              /* one of them is */
	struct idx_tree *tree[TXN_ORDERS_MAX];    /* a stock's */
	struct txn_stock *lender[TXN_ORDERS_MAX]; /* whose, if it is another table's; else NULL */
	uint64_t tree_name[TXN_ORDERS_MAX];       /* of each; no other tree of the cluster has it */
	struct txn_order order[TXN_ORDERS_MAX];   /* copies, which outlive the catalog's */
	/* Copies of the descriptor's callback and of a descriptor to call it with, which outlive
	 * the catalog's. */
	unsigned (*blobs)(
	    const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max);
	struct txn_table blob_table;
	/* db->lock's */
	bool settled, undone;        /* its definition is committed, or never will be */
	tso_cid closed;              /* above every snapshot of this process when it was closed */
	struct txn_table_view *next; /* of its stock, newest first; of those that are closed */
};

/* What a process has of one table, whatever its definitions: memory at hand, a sweep, the index and
 * the trees with what their caches know (stock.c). */
struct txn_stock {
	struct txn_db *db;
	uint32_t table;
	net_addr anchor;
	uint32_t archive_bytes, block_bytes;
	bool vital;
	/* a  the view whose callbacks collectors and sweeps call: the newest that is settled, else
	 * the newest; NULL = the table is closed here. Stays in memory while a pin of the process
	 * stands under which it was loaded. */
	_Atomic(struct txn_table_view *) view;
	/* a  a transaction of this process has changed the definition and has not ended: there may
	 * be rows that only the new one understands. */
	atomic_bool changing;
	_Atomic uint64_t holes_at; /* a  relaxed: where in the ledger emptied entries are looked
				    * for */
	_Atomic uint64_t swept;    /* the anchor's `swept` when a worker last looked */
	_Atomic uint64_t sweeper;  /* our lock word in the anchor, while this process has to sweep
				    * the table */
	_Atomic unsigned sweeping; /* 1 + the number of the worker that sweeps it; 0 = none */
	_Atomic(struct txn_look *)
	    look; /* the sweep's look at all blocks while other workers may take part in it; their
		   * number */
	_Atomic unsigned looking;
	struct idx_hash *index; /* i  NULL = none */
	struct idx_tree *tree[TXN_ORDERS];
	_Atomic(struct txn_alloc *) alloc[TXN_WORKERS_MAX]; /* by worker; its thread only, but for
							     * txn_stock_unused */
	/* db->lock's */
	struct txn_table_view *views;  /* open, newest first */
	unsigned uses;                 /* views, also those with its trees; lists; coroutines */
	struct txn_stock *same;        /* in the table of stocks */
	struct txn_stock *prev, *next; /* unused ones */
	struct txn_stock *due[TXN_DUES];
	bool is_due[TXN_DUES];
};

/* ---- intents ---- */

struct txn_intent {
	net_addr at;
	unsigned number;
	uint32_t generation;
	uint64_t rests; /* its generations are used up: the tso_stamp since when it rests */
	struct txn_intent *next;
};

/* ---- the process ---- */

struct txn_db {
	struct net *net;
	struct tso *tso;
	net_addr cluster; /* the cluster record */
	net_addr log;     /* the log directory of our slot */
	/* The cluster's log (logged.c, life.c): the storage nodes that have copies of it, 0 = there
	 * is none, the one that a restorer reads first; the log, as soon as the database is there,
	 * or this process restores it. */
	unsigned wal_copies, wal_region[WAL_COPIES];
	struct wal_log wal;
	_Atomic unsigned ended;        /* a region that is lost for all, 0 = none is known */
	uint64_t number;               /* the cluster's */
	uint64_t life_word;            /* the restorer's, in the cluster's record */
	struct wal_copies life_copies; /* likewise, for the manifests */
	struct tso_pin life_pin;       /* as long as it restores */
	/* It could not, and stays the restorer until it closes: the worker that restored, and the
	 * pin of the worker that closes last. */
	bool life_kept;
	const struct txn_worker *life_by;
	struct tso_pin life_last;
	struct idx_ptrs *ptrs;
	_Atomic(struct txn_known *) known; /* NULL = not in use yet */
	struct txn_local *local;           /* local.c's table */
	struct txn_turn_place *turns;      /* turn.c's */
	unsigned *regions, nregions;       /* up, rising */
	unsigned region_max;               /* the cluster's greatest */
	struct net_set empty;              /* nodes that came back without its memory */
	_Atomic unsigned workers;          /* opened so far: worker numbers */
	_Atomic unsigned intents;          /* pieces of intents handed out */
	_Atomic unsigned served;           /* workers that have a piece */
	_Atomic uint64_t chunk_asked;      /* a worker asks for the extent of this chunk */
	/* Never held while a coroutine parks: all that says db->lock. */
	pthread_mutex_t lock;
	struct txn_stock **stock; /* by table: chains by `same` */
	uint32_t stocks, stocks_cap;
	struct txn_table_view *closed, **closed_end; /* by `closed`, the earliest first */
	struct txn_stock *unused;                    /* no view is left */
	struct txn_stock *due[TXN_DUES];
	_Atomic unsigned dues[TXN_DUES]; /* a  how many; what a worker looks at in each turn */
	_Atomic unsigned looks;          /* a  stocks with a look */
	_Atomic unsigned left;           /* a  closed views and unused stocks */
	uint32_t tick_us;
	unsigned order_cache; /* as configured */
	uint64_t since_ns;    /* when it was opened */
	bool bystander;
	bool eager;      /* txn_collect_at_once */
	bool split;      /* heart, recoverer and sweepers are different workers */
	net_addr deaths; /* a word of the cluster record: the count of deaths that left memory
			  * behind */
	nam_status (*_Atomic listed)(void *arg, struct txn *t, uint32_t table, net_addr anchor, bool *yes);
	void *listed_arg;
	nam_status (*_Atomic gone)(void *arg, struct txn_worker *tw);
	void *gone_arg;
	_Atomic uint64_t deaths_heard; /* `deaths` as the worker that looks after the tables last
				        * read it */
	_Atomic bool leaves_memory;    /* a worker that closes could not give all its memory back */
	net_addr wanted;               /* a word of the cluster record: how often a process found
				        * all nodes full */
	_Atomic int failed;            /* the heartbeat cannot reach home any more */
	_Atomic uint64_t end_by;       /* txn_ending; 0 = not said */
	_Atomic uint32_t garbage[TXN_WORKERS_MAX]; /* a  relaxed: pieces in each worker's queues */
	/* a  relaxed. doubt: a lock outside of transactions may still be held, behind a broken
	 * connection; reached: a connection was replaced. While both are set, other processes may
	 * wait for that lock until this process ends. */
	atomic_bool doubt, reached, stuck_told;
};

/* ---- garbage: what may be freed when the watermark has passed a CID ---- */

enum txn_junk_kind {
	JUNK_ARCHIVE,
	JUNK_BLOB,
	JUNK_TOMB,
	JUNK_EMPTY,
	JUNK_BLOCK,
	JUNK_KEY,   /* an entry of an ordered index that no version has any more, maybe */
	JUNK_TABLE, /* dropped: to be closed */
	JUNK_CLOSED /* closed before its CID was claimed: to be given back */
};

struct txn_junk {
	tso_cid cid;
	enum txn_junk_kind kind;
	uint32_t len;            /* of a blob; TABLE, CLOSED: the table's number */
	struct txn_stock *stock; /* NULL: TABLE, CLOSED */
	net_addr at;
	/* struct txn_old_key, to be freed (KEY), key hash (TOMB, EMPTY), word (BLOCK, EMPTY), our
	 * lock in `sweeper` (TABLE, CLOSED), the block that named it (BLOB; 0 = none ever did). */
	uint64_t aux;
};

struct txn_old_key {
	uint64_t tree; /* its name */
	uint64_t key[IDX_TREE_WORDS];
};

struct txn_junk_queue {
	struct txn_junk *item; /* ring, a power of two long */
	uint32_t head, n, cap;
};

/* keeper.c */
struct txn_kept {
	uint64_t silent_ns; /* since when it has not answered, 0 = no request is out */
	uint64_t next_ns, pause_ns;
};

struct txn_keeper {
	struct net_set wanted; /* broken, and a new connection is asked for */
	bool wants;            /* there are any */
	struct net_set ended;  /* the node's process has ended, or it came back empty */
	bool fenced, runs, pulses;
	bool asking;             /* a connection is being dialled */
	struct txn_kept *region; /* by region, to the cluster's greatest */
};

enum { TXN_HINT_TABLES = 64, TXN_TOLD = 64, TXN_CALM_NS = 100000000 };

struct txn_worker {
	struct txn_db *db;
	struct net_worker *w;
	struct tso_worker *tso;
	unsigned number;
	unsigned rr; /* next region to allocate from */
	struct txn_intent *intent_free;
	struct txn_intent *intent_rests,
	    **intent_rests_end; /* rest until every transaction open at their last use has ended
				 * (I7), longest first */
	unsigned intents;       /* free ones and those in use */
	bool intents_asked;     /* a coroutine of this worker asks for more */
	bool has_piece;
	/* pieces that are ours, and for which there was no memory */
	uint64_t piece_kept[TXN_PIECES / 64];
	unsigned joins;           /* tso_joins of the slot that the intents and all memory at hand
				 * belong to */
	struct txn_alloc *allocs; /* listed ones */
	struct txn *txn_pool;
	uint32_t pooled, pooled_least; /* how many; the fewest since txn_pool_trim */
	uint64_t pool_at;              /* when that is next */
	struct txn *left;              /* ended with an outcome that this process does not know */
	struct txn_keeper keeper;
	uint64_t beat_ns;              /* the heart's: when the beat that is out began; 0 = none is
				        * out */
	int open;                      /* transactions begun and not ended, finishing commits
				        * included */
	struct txn_junk_queue junk[2]; /* junk that is freed at once; junk that takes round trips to
				        * free */
	uint64_t round;                /* of the collector: each has a pin of its own */
	uint64_t gc_woke;              /* when it last woke the idle process */
	/* The watermark as it was TXN_CALM_NS ago or earlier, 0 = not known: what lies at or below
	 * it has had time to be collected. And as it was when `calm` was set, and when that was. */
	uint64_t calm, calm_next, calm_at;
	uint64_t told[TXN_TOLD]; /* keyed.c: blocks that the collector was given since then */
	bool gc_moved;           /* its present work made progress */
	/* surplus.c: memory is wanted here and was not found; when; the last count heard from
	 * others */
	bool wants, wanted_known;
	uint64_t starved_until, sample_at, heard, wanted_seen;
	/* await.c: until when no session waits, unless there is more garbage than this */
	uint64_t in_vain_until, in_vain_garbage;
	uint64_t turned; /* when a long piece of work last yielded */
	/* turn.c: coroutines that wait for their turn */
	struct txn_turn_wait *turn_waits;
	bool stopping, no_heart;
	bool untold, telling; /* a death has not yet been counted in the cluster record; a
				       * coroutine counts it */
	bool leaving;         /* it is about to close: no long work is begun */
	uint64_t gc_end;      /* when stopping: junk is collected until then */
	int helpers;          /* coroutines that belong to this worker */
	/* logged.c: those that wait until the log is flushed; how far it was when it was last READ;
	 * a coroutine looks; bytes of a record that a message takes, 0 = not known */
	struct txn_flush *flush;
	struct wal_ends flushed;
	struct wal_own_rings rings;
	bool asked_for_rings;
	uint64_t sync_ns; /* how long a sync of the log takes, 0 = not known yet */
	bool watching;
	unsigned unroused; /* so many looks it does not rely on the log's bell */
	bool unrung;       /* ... its last record asks for none */
	uint32_t wal_most;
	bool moving;                  /* one of them moves a partition (parts.c) */
	struct net_counts background; /* counters of those coroutines */
	uint32_t gc_generation;
	uint32_t last_round_trips;
	/* read.c: how often a table's hints are wrong, of 256 */
	uint8_t hint_wrong[TXN_HINT_TABLES];
	struct txn_stats stats;
};

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

/* local.c: a commit asks whether another one of this process has changed, or is changing, a record
 * that it changes. NAM_CONFLICT: it has. leave: with the CID that the records have now, 0 = they
 * are as before. */
nam_status txn_local_open(struct txn_db *db);
void txn_local_close(struct txn_db *db);
nam_status txn_local_enter(struct txn *t);
void txn_local_leave(struct txn *t, tso_cid cid);

/*
 * logged.c. start: sends the records of a commit that is to be decided; they leave with the
 * doorbell
 * of the verbs posted next. wait: until the log has received them (J1); always after start. An
 * error: the transaction has to be undone.
 */
nam_status txn_log_start(struct txn *t, const struct txn_intent_head *h);
nam_status txn_log_wait(struct txn *t);
/* J3: says in the log that an attempt was undone, and waits until that is flushed. */
/* copies: bits of those that may have its records; no other one can get them any more. */
nam_status txn_log_undone(struct txn_worker *tw, uint64_t lock, uint64_t check, unsigned copies);
/* *copies: bits of those that have received that attempt's last record, and no later one of its
 * intent. *has: all have. */
nam_status txn_log_has(
    struct txn_worker *tw, uint64_t lock, uint64_t check, bool *has, unsigned *copies, struct wal_ends *end);
/* Waits until the log is flushed up to a position of each copy. NAM_UNLOGGED: it is broken. */
nam_status txn_flush_wait(struct txn_worker *tw, struct wal_ends end);
/* Also NAM_CANCELLED, NAM_EXPIRED, if l says so when at least least_ns have passed. */
nam_status txn_flush_wait_by(
    struct txn_worker *tw, struct wal_ends end, const struct txn_limits *l, uint64_t least_ns);
void txn_flush_add(struct txn_worker *tw, struct txn_flush *f);
/* What waits for these very positions, and has no waiter, waits no longer: it goes on as if the log
 * were flushed. False: nothing waits for it (yet). */
bool txn_flush_skip(struct txn_worker *tw, struct wal_ends end);

/* life.c */
nam_status txn_life_unborn(struct txn_worker *tw);
/* A worker of a process that could not restore (txn_life_quit) closes; then it has nothing at hand
 * any more. Behind the last one, worker 0, another process may restore. */
void txn_life_closes(struct txn_worker *tw);
void txn_life_end(struct txn_worker *tw);

/* turn.c: the table of turns. expire: those of this worker that have waited for long wait no
 * more. */
nam_status txn_turns_open(struct txn_db *db);
void txn_turns_expire(struct txn_worker *tw);
void txn_turns_close(struct txn_db *db);

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

/* table.c */
/* How blocks of so many slots (0: two) and such rows lie in memory. */
void txn_view_sizes(struct txn_table_view *v, unsigned slots, uint32_t row_max);
/* Makes room for one more item behind n. False: no memory. */
bool txn_grow(void **array, uint32_t n, uint32_t *cap, size_t item);

/* stock.c */
/* Enters a view that txn_table_open makes: v->stock, v->index. NAM_NOMEM. */
nam_status txn_stock_enter(struct txn_table_view *v);
/*
 * Opens order i of a view in the making: tree `number` of `owner`, which is opened if no view has
 * opened it yet. The view keeps the owner in use. False: no memory.
 */
bool txn_stock_tree(struct txn_table_view *v, unsigned i, struct txn_stock *owner, unsigned number,
    net_addr anchor, const struct idx_tree_memory *mem, const struct idx_tree_options *how);
/* Extents for the hash index of a stock. */
nam_status txn_index_memory(void *stock, struct net_worker *w, net_addr *out);
/* Takes a view out that was never published. */
void txn_stock_back(struct txn_table_view *v);
/* The view is complete: collectors may call its callbacks. */
void txn_stock_publish(struct txn_table_view *v, bool settled);
/* Closes it. It is freed by txn_stocks_tend. */
void txn_stock_close(struct txn_table_view *v);
void txn_stock_settle(struct txn_table_view *v, bool committed);
/* Uses it beyond the pin, from when it is known under a pin. */
void txn_stock_use(struct txn_stock *k);
void txn_stock_leave(struct txn_stock *k);
/* The stock of a table, in use for the caller; NULL = it is not open here. */
struct txn_stock *txn_stock_of(struct txn_db *db, uint32_t table);
/* All whose tables are open here, each in use for the caller; free(*out). False: no memory. */
bool txn_stocks_open(struct txn_db *db, struct txn_stock ***out, unsigned *n);
/* Puts it onto a list, or takes it off. Any thread. */
void txn_due_add(struct txn_stock *k, enum txn_due which);
void txn_due_off(struct txn_stock *k, enum txn_due which);
/* The first of a list behind `last` (NULL: of all), in use for the caller, who no longer uses
 * `last`. */
struct txn_stock *txn_due_next(struct txn_db *db, enum txn_due which, struct txn_stock *last);
/*
 * With a pin. The view to ask about rows: the callbacks of its owner may be called until
 * txn_asked. NULL: the table is closed here.
 */
struct txn_table_view *txn_ask(struct txn_stock *k);
static inline void
txn_asked(struct txn_table_view *v)
{
	atomic_fetch_sub(&v->asking, 1);
}
/* In each turn of a collector: frees what no coroutine of the process can come to any more. */
void txn_stocks_tend(struct txn_worker *tw);
/* At txn_db_close. */
void txn_stocks_end(struct txn_db *db);
/* The words by which this process holds the locks of indexes; after its slot has become another. */
void txn_stocks_owner(struct txn_db *db);
/* How many stocks and views are in memory. */
unsigned txn_stocks_kept(struct txn_db *db);

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

/* own.c */
struct txn_write *txn_own(const struct txn *t, net_addr at);
/* The insert of this key, even if the row has been deleted again; NULL = none. */
struct txn_write *txn_own_insert(
    struct txn *t, const struct txn_table *table, uint64_t hash, const void *key, uint32_t key_len);
/* The newest blob of t that has had this address, dropped or not; NULL = none. Good until t makes
 * another one. */
struct txn_new_blob *txn_own_blob(struct txn *t, net_addr at);
/* A write has been added to the end of the list. False: no memory. */
bool txn_own_added(struct txn *t);
/* Writes and blobs have been taken off the ends of their lists. */
void txn_own_cut(struct txn *t);
/* The transaction has ended: long lists give their memory back. */
void txn_own_end(struct txn *t);
/* Of a transaction that is pooled: what a large one has left is freed. */
void txn_own_trim(struct txn *t);
void txn_own_free(struct txn *t);

/* own_keys.c: t's own rows in a range of an order, as they are when it is opened. */
struct txn_own_range {
	struct txn *t; /* NULL: it needs no closing */
	struct txn_own_keys *list;
	struct txn_own_key *next;
	uint64_t reading;
	struct txn_own_range *older, *newer;
	struct idx_tree_range range;
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS];
};
/* r lasts until it is closed, or t has ended. */
nam_status txn_own_range_open(struct txn *t, struct txn_table_view *v, unsigned order,
    const struct idx_tree_range *range, struct txn_own_range *r);
/* The key of the next row, NULL = there is none. */
const uint64_t *txn_own_range_key(const struct txn_own_range *r);
bool txn_own_range_next(struct txn_own_range *r, struct txn_row *row);
void txn_own_range_close(struct txn_own_range *r);
/* Call when a write has been changed, or is none any more. False: no memory. */
bool txn_own_touched(struct txn *t, struct txn_write *w);
/* The view of a table is replaced by another one. */
void txn_own_keys_forget(struct txn *t, const struct txn_table_view *v);
void txn_own_keys_end(struct txn *t);

/* write.c */
struct txn_write *txn_write_add(struct txn *t, struct txn_table *table, net_addr at, enum txn_kind kind);
/* The payload that will become a version; its CID is filled in at commit. */
nam_status txn_version_set(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len, bool deleted);
/* Takes over what the block shows. partial: img has one slot only. NAM_TORN: another slot is
 * needed. */
nam_status txn_image_set(struct txn *t, struct txn_write *w, const struct rec_block *img, bool partial);
/* The blobs that the version replaced names. */
nam_status txn_old_blobs(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len);

/* lock.c */
nam_status txn_ensure_lock(struct txn *t);
/* The transaction that had the intent has ended: the intent can be used again, or rests first. */
void txn_intent_give(struct txn_worker *tw, struct txn_intent *in);
void txn_intents_drop(struct txn_worker *tw);
/* Frees a lock that turned out to be useless; the write then has no effect. */
nam_status txn_unlock_now(struct txn *t, struct txn_write *w);
/* Under the lock: the block's present state. *s: its newest version, NULL = none. */
nam_status txn_newest_locked(
    struct txn *t, struct txn_write *w, struct rec_block *img, const struct rec_slot **s);

/* mark.c */
/* Call before a write is changed. False: out of memory. */
bool txn_keep_write(struct txn *t, struct txn_write *w);
/* Call before a blob is dropped. True: a mark may need it again, do not give it back. */
bool txn_keep_blob(struct txn *t, const struct txn_new_blob *b);
/* The transaction has ended. */
void txn_marks_end(struct txn *t);

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

/* keeper.c */
/* True if the node's process has ended, or its memory came back empty: what was there is lost for
 * all processes. */
static inline bool
txn_node_ended(const struct txn_worker *tw, net_addr at)
{
	return net_set_has(&tw->keeper.ended, net_region_of(at));
}
void txn_keeper_open(struct txn_worker *tw);
void txn_keeper_close(struct txn_worker *tw);
/* A coroutine of a worker that runs only the heart: replaces connections over which the network is
 * silent. */
void txn_pulse(void *worker);
/*
 * Call after NAM_GONE. NAM_OK: this worker reaches the node again, and no verb that it had posted
 * there executes any more. NAM_GONE: the node is lost for all. NAM_BUSY: no connection before
 * until_ns; one is being asked for. NAM_REFUSED: this process has been fenced. In a coroutine.
 */
nam_status txn_keep(struct txn_worker *tw, unsigned region, uint64_t until_ns);
nam_status txn_keep_home(struct txn_worker *tw);
/*
 * txn_keep for a caller with a verb in doubt at `at`. Also NAM_REFUSED: the node has not answered
 * for 0.2 s, or two thirds of a lease, since *until was set (0 = now). Other processes may reach
 * it, so what is in doubt is left to them.
 */
nam_status txn_reconnect(struct txn_worker *tw, net_addr at, uint64_t *until);

/*
 * For the holder of a lock outside of transactions: each of these goes on over a new connection, or
 * records that the lock is in doubt (txn_doubt). In a coroutine. txn_again: call it after NAM_GONE
 * at `at`; NAM_OK: no verb that was out executes any more. The others repeat their verb themselves.
 * cas: `expect` and `want` are such that one of them is our own word and never comes again, so the
 * word there tells whether the CAS was done. claim: of a CID.
 */
nam_status txn_again(struct txn_worker *tw, net_addr at, uint64_t *until);
/* txn_again for all nodes to which this worker's connections are broken; NAM_OK also if none is
 * broken. */
nam_status txn_again_all(struct txn_worker *tw, uint64_t *until);
nam_status txn_sure_cas(struct txn_worker *tw, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen);
/* Several CASes with one doorbell for each node, as txn_sure_cas does one. */
struct txn_cas {
	net_addr at;
	uint64_t expect, want, seen;
	nam_status st;
};
enum { TXN_CAS_MAX = 32 };
void txn_sure_cas_all(struct txn_worker *tw, struct txn_cas *c, unsigned n);
nam_status txn_sure_write(struct txn_worker *tw, net_addr at, const void *from, uint32_t len);
nam_status txn_claim_sure(struct txn_worker *tw, struct tso_claim *c, tso_cid floor);

/* mend.c */
/*
 * A connection broke, and each block that t holds behind it is in its old or its new state:
 * completes or undoes it. In a coroutine. False: t is left to a recoverer.
 */
bool txn_mend(struct txn *t);

/* Records that a lock outside of transactions (the collector's, a sweep's, an index's) may stay
 * behind a connection that broke. */
void txn_doubt(struct txn_worker *tw);
/* txn_doubt for the index's resize lock, if the last call on the index left it in doubt. */
void txn_index_doubt(struct txn_worker *tw, const struct idx_hash *ix);
/* Now and then: if such a lock is in doubt and its node is reachable, this process gives itself
 * up. */
void txn_doubts(struct txn_worker *tw);

/* recover.c */
/*
 * The block is locked by that word. If the owner is dead and recovered, its transaction did not
 * commit: the lock is released. NAM_OK: it was, look again; NAM_BUSY: the owner lives, or is not
 * recovered yet.
 */
nam_status txn_unlock_dead(struct txn_worker *tw, net_addr at, uint64_t lock);
/* txn_unlock_dead, which needs a CID and waits for it as long as p allows. */
nam_status txn_unlock_dead_by(struct txn_worker *tw, net_addr at, uint64_t lock, const struct tso_timeout *p);
/* The newest CID that the head of a block of any shape lists, 0 = none. False: its directory is not
 * whole. */
bool txn_head_newest(const struct rec_block *img, net_addr at, uint64_t *newest);
/* An insert got NAM_BUSY: if the process that resizes the index is dead, finishes its work and
 * frees its lock. */
bool txn_index_unstick(struct txn_worker *tw, struct idx_hash *ix);
/* Looks for owners that have stopped, and recovers them. A coroutine of the worker that
 * recovers. */
void txn_recoverer(void *worker);

/* gc.c */
void txn_junk_add(struct txn_worker *tw, struct txn_junk j);
/* Of an undone insert, whose block an index entry leads to: when the transactions of this process
 * that are open now have ended. */
void txn_junk_of_undone(struct txn_worker *tw, struct txn_junk j);
/* The worker closes: frees what the junk left over holds in local memory. */
void txn_junk_drop(struct txn_worker *tw);
void txn_gc(void *worker);
/* Claims and marks a CID with which nothing is written: all CIDs claimed before are less, and all
 * that are claimed when it has returned are greater. note: as for tso_mark. In a coroutine, with a
 * pin. */
nam_status txn_cid_spend(struct txn_worker *tw, unsigned note, tso_cid *cid);
/* A lock word of the collector's: it is in no intent, and is not given out twice. With a pin. */
uint64_t txn_gc_lock(struct txn_worker *tw);
/* Replaces our lock at a word that must never return to an old value by a fresh CID. In a
 * coroutine, with a pin. */
nam_status txn_word_fresh(struct txn_worker *tw, net_addr at, uint64_t lock, tso_cid floor, tso_cid *cid);

/* insert.c: entries left for COMMIT. begin posts their CASes, end judges them: NAM_CONFLICT if
 * another transaction has inserted a key. */
unsigned txn_entries_begin(struct txn *t);
nam_status txn_entries_end(struct txn *t, unsigned op);
/* Writes have been taken off the end of t: their entries are not due any more. */
void txn_entries_cut(struct txn *t);
/* True if t may commit: txn_begin_latest demands that it changed all that it read. */
bool txn_latest_whole(struct txn *t);

/* scan.c: each block of a table as it lies there when its extent is READ, with turns of other
 * coroutines between. img lasts until fn returns; another status than NAM_OK ends it. */
typedef nam_status txn_block_fn(void *arg, const struct rec_block *img, net_addr at);
nam_status txn_blocks_each(struct txn *t, const struct txn_table_view *v, txn_block_fn *fn, void *arg);

/* read.c */
void txn_read_set_add(struct txn *t, net_addr at, uint64_t newest);
void txn_read_set_add_absent(struct txn *t, const struct txn_get *g);

/* ---- cluster.c ---- */
/*
 * Finds the cluster's record, as it lies on its home, or makes it if all storage nodes are empty.
 * The nodes named must be all of its members: else NAM_REFUSED (NAM_GONE: the home came back
 * empty), and nothing has been changed.
 */
struct txn_roster;
nam_status txn_cluster_find(
    struct net_worker *w, const struct txn_config *cfg, struct txn_roster *r, struct nam_err *err);
/* READs a roster. NAM_CORRUPT: there is none. */
nam_status txn_roster_get(struct net_worker *w, net_addr at, struct txn_roster *r);
/* over.c: the members of a cluster with a log that are not named, and that an operator has said to
 * be lost for good: into *lost. */
nam_status txn_over_lost(struct net_worker *w, const struct txn_roster *r, struct net_set *lost);
/* If a node has come back empty, or one is lost, asks the others to reset their memory: NAM_RESET.
 * NAM_REFUSED: the log is not there. NAM_OK: the cluster lives. All members but the lost ones are
 * named. */
nam_status txn_over(
    struct net_worker *w, const struct txn_roster *r, const struct net_set *lost, struct nam_err *err);

#endif
