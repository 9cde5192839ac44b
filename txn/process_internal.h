/*
 * process_internal.h -- a process of the cluster and its workers: what they share, garbage,
 * lives, turns.
 */
#ifndef NAM_TXN_PROCESS_INTERNAL_H
#define NAM_TXN_PROCESS_INTERNAL_H

#include "memory_internal.h"

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
