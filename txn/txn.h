/*
 * txn.h -- transactions over record blocks in remote memory: RSI snapshot isolation.
 *
 * A table, for txn, is a descriptor: payload bytes go in, payload bytes come
 * out. Columns and types are catalog's. The protocol, its bytes and its truths:
 * txn/record_format.h, txn/intent_format.h, txn/README.md.
 *
 * Every call that takes a struct txn runs in a coroutine of its worker's thread
 * and may park it. One coroutine uses a transaction at a time.
 *
 * Round trips with a warm pointer cache: point read 1; commit 2 to the answer (1: locks, claim,
 * write set; 2: versions and commit line); the verbs that make the commit visible to others follow
 * after the answer.
 */
#ifndef NAM_TXN_TXN_H
#define NAM_TXN_TXN_H

#include <base/arena.h>
#include <index/index.h>
#include <index/tree.h>
#include <net/net.h>
#include <tsoracle/tsoracle.h>

#include <stdatomic.h>

struct txn_db;     /* one compute process in the cluster */
struct txn_worker; /* one worker thread of it */
struct txn;        /* one transaction */

/* ---- the process --------------------------------------------------------- */

struct txn_config {
	uint32_t vector;          /* used when this process formats the cluster; 0: see
				   * tso_format */
	enum tso_scheme scheme;   /* likewise */
	unsigned clients;         /* likewise, for TSO_PREASSIGNED */
	unsigned lanes;           /* likewise: words that give out CIDs */
	size_t ptr_cache_entries; /* 0 = 1 Mi (8 MiB) */
	unsigned order_cache;     /* of all ordered indexes: 1 + enum idx_tree_cache; 0: as each
				   * says (txn_order.options) */
	uint32_t tick_us;         /* heartbeat, 0 = 2000 */
	uint32_t lease_ms;        /* used when this process formats the cluster: see tso_format */
	bool split;               /* the first worker only beats, the second one recovers,
				   * the others sweep: else the first does all */
	bool bystander;           /* neither recovers owners that have stopped nor sweeps:
				   * other processes do */
};

/*
 * Joins the cluster, formatting it when the storage nodes are empty (exactly one
 * process wins; others wait). In a coroutine. Checks that the storage nodes are
 * the ones the cluster was formatted with: a node that came back empty is
 * declared lost (statements that need it get NAM_GONE) and err says so, with NAM_OK;
 * NAM_GONE when it is the home node; NAM_REFUSED when nodes are missing.
 */
nam_status txn_db_open(
    struct net_worker *w, const struct txn_config *cfg, struct txn_db **out, struct nam_err *err);
/* Leaves the cluster cleanly. In a coroutine, when no transaction and no other txn_worker is
 * open. */
void txn_db_close(struct net_worker *w, struct txn_db *db);
/* The process is about to end: what takes longer than until until_ns (net_now_ns), a rollback or
 * the end of a commit that is decided, is left to a recoverer, as after a crash. Any thread, also
 * in a signal handler. */
void txn_ending(struct txn_db *db, uint64_t until_ns);
struct tso *txn_db_oracle(struct txn_db *db);

/* ---- the log of a cluster ---- */

/*
 * If the cluster has a log (a storage node with --data), no transaction may begin before this has
 * returned NAM_OK. *restorer: this process makes the database: it puts there what the log's
 * published life has (*restores; else there is nothing), and then calls txn_life_done. Else the
 * database is there; if another process restores it, that is waited for. Once, in a coroutine, when
 * the process's recoverer runs. wait may be NULL. NAM_CANCELLED: its stop was set.
 */
struct txn_life_wait {
	const atomic_bool *stop;                    /* NULL = never */
	void (*told)(void *arg, unsigned permille); /* how far the other process is; NULL = none */
	void *told_arg;
};
nam_status txn_life(struct txn_worker *tw, const struct txn_life_wait *wait, bool *restorer, bool *restores,
    struct nam_err *err);
/* The restorer tells the processes that wait how far it is. */
void txn_life_tell(struct txn_worker *tw, unsigned permille);
/* All that was committed so far is the database, durably, and other processes may use it.
 * NAM_REFUSED: this process stalled, and another one restores instead; NAM_NO_SPACE: the log's disk
 * is full; NAM_CANCELLED: stop was set. Not OK: txn_life_quit is next. */
nam_status txn_life_done(struct txn_worker *tw, const atomic_bool *stop, struct nam_err *err);
/*
 * The restorer, before it makes a table: memory of tables with such ids, which a restorer before it
 * has left, goes back. No process uses them. Waits until it has, for some seconds at most; what has
 * not gone back by then does later.
 */
nam_status txn_life_forget(struct txn_worker *tw, uint32_t first_table);
/* This process restores no more: it could not. It closes now; another one may try when its last
 * worker has closed, or when it has ended in another way. */
void txn_life_quit(struct txn_worker *tw);
/* The storage node that has the cluster's record. */
unsigned txn_db_home(const struct txn_db *db);
/* The storage node that has the log, or its first copy, 0 = there is none. */
unsigned txn_db_log_node(const struct txn_db *db);
/* A node whose memory was found to be lost for all processes, 0 = none. Any thread. */
unsigned txn_db_ended(const struct txn_db *db);
bool txn_db_has_log(const struct txn_db *db);
/*
 * Whether the answer of txn_commit waits until the log is flushed (the default, if there is a log).
 * If it does not, a commit that was answered may be lost when the log's node ends, with all commits
 * that follow it in the log.
 */
void txn_set_sync(struct txn *t, bool on);
/* Says in the log that numbers of the sequence with that word, up to this one, may have been given
 * out in that generation (logged_format.h, J6), and waits until that is flushed; with l within its
 * limits (NAM_CANCELLED, NAM_EXPIRED: it may become flushed). Nothing to do without a log. In a
 * coroutine. */
struct txn_limits;
nam_status txn_log_number(
    struct txn_worker *tw, net_addr word, uint32_t generation, int64_t number, const struct txn_limits *l);
/* Words in remote memory for the rooms above, zero in a new cluster: i < 15. CAS them from 0. */
net_addr txn_db_root(struct txn_db *db, unsigned i);
/* Nodes that are up, for placing data. */
unsigned txn_db_regions(const struct txn_db *db, unsigned *regions, unsigned max);

/* In a coroutine of w's thread. The first worker opened also runs the heartbeat, as a coroutine;
 * txn_config.split says which other duties the workers have. They are closed in the opposite
 * order. */
nam_status txn_worker_open(struct txn_db *db, struct net_worker *w, struct txn_worker **out);
/* In a coroutine. No transaction may be open. Waits for commits that are still being finished. */
void txn_worker_close(struct txn_worker *tw);
struct net_worker *txn_worker_net(struct txn_worker *tw);
struct tso_worker *txn_worker_tso(struct txn_worker *tw);
struct txn_db *txn_worker_db(struct txn_worker *tw);
/* Transactions that are open. Its thread. */
unsigned txn_worker_busy(const struct txn_worker *tw);

/* ---- tables -------------------------------------------------------------- */

/* A blob as a payload names it. */
struct txn_blob {
	net_addr at;
	uint32_t len;
	uint32_t check; /* checksum of the bytes */
};

/*
 * What txn must know of a table. Filled by the owner (catalog), constant while
 * open. txn_table_create makes the remote part; txn_table_open the process's part.
 */
struct txn_order;
struct txn_table {
	uint32_t id;      /* unique for ever in the cluster, > 0 */
	uint16_t slots;   /* versions per block, 2..8; 0 = 2 */
	uint32_t row_max; /* payload bytes a slot holds, <= TXN_ROW_MAX */
	net_addr anchor;  /* set by txn_table_create */
	bool has_key;     /* rows are found by key, through a hash index */
	bool listed;      /* the catalog can tell whether the table exists: txn_on_orphan */
	bool vital;       /* may take from the reserve when all other memory is taken */
	/* True if this payload belongs to this key. Called with payloads that passed their
	 * checksum. */
	bool (*same_key)(
	    const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len);
	/* The blobs a payload names: fills out[0..max), returns how many. NULL = the table has
	 * none. */
	unsigned (*blobs)(
	    const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max);
	/* The record that defines this table: a transaction that wrote rows commits only while the
	 * word of that record is guard_word, or this transaction's own lock. 0 = no guard. */
	net_addr guard;
	uint64_t guard_word;
	const struct txn_order *order; /* ordered indexes: `orders` of them, borrowed while open */
	unsigned orders;               /* at most TXN_ORDERS_MAX */
	uint64_t tree;                 /* of a holder (txn_order): its tree's number, set by
				        * txn_table_create */
	void *owner;                   /* the caller's */
	struct txn_table_view *view;   /* set by txn_table_open: extents, index, free blocks */
};
enum {
	TXN_ROW_MAX = 32000, /* with two slots; txn_row_most tells it of more */
	TXN_BLOBS_MAX = 64,
	TXN_ORDERS_MAX = 16,
	TXN_ORDERS_OWN = 4,
	TXN_ORDER_LONGS = 32
};

/* The most payload bytes of a row with so many slots: its block fits an extent. */
static inline uint32_t
txn_row_most(unsigned slots)
{
	uint32_t most = ((65536 - 256) / (slots > 2 ? slots : 2) - 96) & ~63u;
	return most < TXN_ROW_MAX ? most : TXN_ROW_MAX;
}

/* An ordered index of a table (index/tree.h): a row is found by its key, and rows in the order of
 * their keys. Several rows may have one key. Its storage nodes host trees. */
struct txn_order {
	unsigned words; /* of a key: 1 .. IDX_TREE_WORDS */
	/* COMMIT ends with NAM_CONFLICT if another live row has the key that a row gets. */
	bool unique;
	/* NULL, or: true if another row may have that row's key nevertheless. As key. */
	bool (*lax)(const struct txn_order *o, const void *row, uint32_t len);
	/* The key of a row. False: the row is not in this index. Called with payloads that passed
	 * their checksum, from any worker; it must not park. The same row always has the same
	 * key. */
	bool (*key)(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words);
	/* NULL, or: the blobs of the row that its key depends on. If there are any, txn reads them
	 * and asks long_key in the place of key. */
	unsigned (*longs)(
	    const struct txn_order *o, const void *row, uint32_t len, struct txn_blob out[TXN_ORDER_LONGS]);
	bool (*long_key)(const struct txn_order *o, const void *row, uint32_t len, const void *const *bytes,
	    uint64_t *words);
	/* The table that holds the tree: one without rows and with this order alone, so that the
	 * index can be made and dropped while its table stays. NULL: the tree is made and dropped
	 * with the table itself; TXN_ORDERS_OWN of them at most. */
	const struct txn_table *holder;
	struct idx_tree_options options; /* this process's */
	unsigned parts;                  /* when the table is made: partitions; 0 = one */
	const struct idx_tree_part *part;
	void *owner; /* the caller's */
};

/* Payload bytes that fit a slot of a block made for row_max: at least row_max. */
uint32_t txn_row_room(uint16_t slots, uint32_t row_max);
/* Makes the remote part: anchor, index. In a coroutine. The table is empty. */
nam_status txn_table_create(struct txn_worker *tw, struct txn_table *t);
/*
 * The transaction that made a listed table has committed: the table stays. Without this call it
 * stays as long as this process lives, and afterwards as long as the catalog lists it. In a
 * coroutine, without a pin.
 */
nam_status txn_table_made(struct txn_worker *tw, const struct txn_table *t);
/*
 * A process that makes or drops a table may die before txn_table_made, or before the memory is
 * given back. So after a death one process looks at all listed tables and calls listed() in a
 * transaction t of its own: *yes = t's snapshot shows a table of that number there. NAM_OK and *yes
 * false: the table's memory is given back. Called from any worker, in a coroutine. NULL ends the
 * calls; at that moment no call may be under way (workers closed).
 */
void txn_on_orphan(struct txn_db *db,
    nam_status (*listed)(void *arg, struct txn *t, uint32_t table, net_addr anchor, bool *yes), void *arg);
/*
 * A process that has died may be helped by others: they read at its snapshots, which its pins keep.
 * gone() is called for each dead owner before its slot is free, and so before its pins are: it
 * returns NAM_OK when no process reads for the dead one any more; else it is called again later. On
 * the recoverer's worker, in a coroutine; it may wait, but for no snapshot. NULL ends the calls; at
 * that moment none may be under way (workers closed).
 */
void txn_on_gone(struct txn_db *db, nam_status (*gone)(void *arg, struct txn_worker *tw), void *arg);
/* This process, by a word that names no other; and whether one has ended and been recovered. */
uint64_t txn_process(const struct txn_worker *tw);
bool txn_process_ended(struct txn_worker *tw, uint64_t process);
/*
 * Opens/closes this process's view of it. open: no I/O. Several definitions of one table may be
 * open at a time. A definition is settled if its guard is not 0 when it is opened, or by
 * txn_table_settled: the transaction that made it has committed, or was undone. Collectors ask the
 * newest one that is committed, if there is none the newest; what a newer one that is not settled
 * may have left waits.
 */
nam_status txn_table_open(struct txn_db *db, struct txn_table *t);
void txn_table_settled(struct txn_table *t, bool committed);
void txn_table_close(struct txn_db *db, struct txn_table *t);
/* Makes room in the index of an open table for so many rows in all, so that inserts do not wait
 * while it grows (idx_hash_reserve). In a coroutine. */
nam_status txn_table_reserve(struct txn_worker *tw, struct txn_table *t, uint64_t rows);
/* Gives the table's memory back once every snapshot that could see it has ended (dropped = CID of
 * the drop). Copies the fields it needs from t, so the caller may close t afterwards. In a
 * coroutine. */
nam_status txn_table_free(struct txn_worker *tw, const struct txn_table *t, tso_cid dropped);

/* ---- transactions ---------------------------------------------------------- */

enum txn_iso { TXN_READ_COMMITTED, TXN_REPEATABLE_READ, TXN_SERIALIZABLE };

/*
 * Call before a transaction begins: replaces broken connections of this worker. So only one
 * transaction ends with NAM_GONE because of them, and the next one succeeds. Waits 0.1 s at most
 * for a node that does not answer; it does not wait for that node again until the node answers.
 * Connections to a node whose process has ended stay as they are.
 */
void txn_reach(struct txn_worker *tw);
struct txn_limits;
/* Begins; takes the first snapshot. NAM_STUCK: the snapshot waits for a process that cannot be
 * recovered (tso_stuck_text). */
nam_status txn_begin(struct txn_worker *tw, enum txn_iso iso, struct txn **out);
/* txn_begin within limits, which t keeps (txn_set_limits); l may be NULL. Also NAM_CANCELLED,
 * NAM_EXPIRED. */
nam_status txn_begin_by(
    struct txn_worker *tw, enum txn_iso iso, const struct txn_limits *l, struct txn **out);
/*
 * Begins a transaction that changes every row it reads. It needs no snapshot, and waits for none:
 * txn_get shows the newest version of each row, and COMMIT succeeds only if that still is the
 * newest. So it commits as a REPEATABLE READ transaction would whose snapshot lies right before its
 * commit. Until then the rows it got may be of different moments: what it computes from them counts
 * only if it commits. A key that it looked up and then neither updated, deleted nor inserted makes
 * COMMIT end with NAM_INVALID, unless it wrote nothing at all. txn_scan_open and txn_lock_table end
 * with NAM_UNSUPPORTED; txn_snapshot tells nothing. l may be NULL.
 */
nam_status txn_begin_latest(struct txn_worker *tw, const struct txn_limits *l, struct txn **out);
/*
 * Begins a transaction that reads at snapshot `at` of another one, and writes nothing. The other
 * one stays open for longer: its pin keeps what this one reads. If it is of another process, the
 * caller makes sure that this process's slot stays until this transaction has ended (txn_on_gone).
 * l may be NULL.
 */
nam_status txn_begin_at(struct txn_worker *tw, tso_cid at, const struct txn_limits *l, struct txn **out);
/* True if t has written nothing, and its reads are not validated: others may read beside it. */
bool txn_only_reads(const struct txn *t);
/* READ COMMITTED: takes a new snapshot for the next statement, within the limits set. Other levels:
 * does nothing. */
nam_status txn_statement(struct txn *t);
tso_cid txn_snapshot(const struct txn *t);
/* The CID of this transaction's commit, 0 = it wrote nothing. Valid until freed. */
tso_cid txn_cid(const struct txn *t);
/* The worker it runs on. */
struct txn_worker *txn_worker_of(const struct txn *t);

struct txn_limits {
	uint64_t lock_wait_ns;     /* READ COMMITTED: waiting for a lock; 0 = without limit
				    * (deadlocks are found) */
	const _Atomic int *cancel; /* when it becomes non-zero, waits end with NAM_CANCELLED; may be
				    * NULL */
	uint64_t until_ns;         /* when net_now_ns passes it, waits end with NAM_EXPIRED; 0 =
				    * never */
	struct nam_budget *budget; /* for the rows it buffers until it commits or aborts; may be
				    * NULL */
	bool *unflushed;           /* of txn_commit; NULL: it waits for the log without limits. Else
				    * `cancel` ends that wait too, if the disk does not answer soon:
				    * txn_commit returns NAM_OK, and *unflushed is true: as after
				    * txn_set_sync(t, false), but that snapshots of this process
				    * do not wait for it */
};
void txn_set_limits(struct txn *t, const struct txn_limits *l);
const struct txn_limits *txn_limits_of(const struct txn *t);
/* The commit's mark carries this note: TSO_NOTE_CATALOG, for a change of the catalog;
 * TSO_NOTE_MEMORY. */
void txn_set_note(struct txn *t, unsigned note);
/* The answer waits until every process's next snapshot covers the commit. */
void txn_set_cluster_visible(struct txn *t, bool on);

/*
 * Ends t. NAM_OK: decided, stays. NAM_UNSEEN: decided, stays, but txn_set_cluster_visible was asked
 * for and it is not known that all processes see the commit. NAM_CONFLICT / NAM_DUPLICATE /
 * NAM_FULL / NAM_GONE ...: rolled back, nothing of it is visible. NAM_UNSURE: this process was
 * fenced in the middle of the commit; its recoverer decides how t ends. txn_commit and txn_abort
 * both free t. A transaction that wrote nothing commits without any verb. On NAM_OK and NAM_UNSEEN
 * *cid (cid may be NULL) gets the commit id, 0 for a read-only transaction, even if t ended after
 * its commit line.
 */
nam_status txn_commit(struct txn *t, tso_cid *cid);
void txn_abort(struct txn *t);

/* Pieces of garbage that the process's collectors have before them. */
uint64_t txn_garbage(struct txn_worker *tw);
/* The storage nodes have less empty memory than used. READs their state. */
bool txn_is_crowded(struct txn_worker *tw);
/*
 * NAM_FULL, and the transaction has been rolled back; the caller has no other one open. Waits while
 * garbage goes and memory comes back to the nodes. True: another try may find memory. False:
 * nothing came back, or the limits say that the time is over.
 */
bool txn_await(struct txn_worker *tw, const struct txn_limits *l);

/*
 * A savepoint: txn_rollback_to may go back to it any number of times. It costs nothing, and is
 * never 0. txn_rollback_to undoes all writes since the mark (0 = since the beginning), and frees
 * the locks taken since; rows read since stay in the read set. No scan may be open. Not OK: only
 * txn_abort is left. Do not use txn_edit with marks.
 */
uint32_t txn_mark(struct txn *t);
nam_status txn_rollback_to(struct txn *t, uint32_t mark);
/* This process's next snapshot covers that commit, so that a retry does not lose to it again
 * (`stale-retry`). */
void txn_cover(struct txn *t, tso_cid cid);

/* A row as found: payload bytes in memory of the arena given to the call. */
struct txn_row {
	net_addr at; /* its block */
	const void *bytes;
	uint32_t len;
	bool changed;      /* set by txn_lock: not the version the snapshot showed */
	tso_cid cid;       /* of the version, 0: written by this transaction */
	tso_cid newest;    /* newest CID its block lists: what a lock expects */
	const void *block; /* txn's own: the block as it was READ */
	bool partial;      /* txn's own: only the directory and the version's slot were READ */
	/* NULL, or the words of its key, which the caller has said are enough (struct txn_only).
	 * bytes may be NULL then. */
	const uint64_t *key;
};

/*
 * A transaction of this worker will soon look up or insert this key: prefetches the process's index
 * entries for it into the CPU cache while txn_begin waits for its snapshot. A hint: no verb, no
 * promise, any time.
 */
void txn_expect(struct txn_worker *tw, const struct txn_table *t, uint64_t hash, bool insert);

/*
 * Transactions of this process that are about to change one record come one after the other, in the
 * order of their taking a turn: under snapshot isolation two that overlap have a conflict, and the
 * second one does its work again. A turn is for the keys with these hashes (txn_get.hash; any
 * numbers that such transactions have in common). Take it before txn_begin, outside of a
 * transaction, and leave it after the end; it costs no verb. take waits for some milliseconds at
 * most, then the caller goes on without. A hint: the commit decides.
 */
enum { TXN_TURN_KEYS = 4 };
struct txn_turn {
	uint64_t hash[TXN_TURN_KEYS];
	unsigned n;
	unsigned places, held; /* txn's own, as what follows */
	struct txn_turn_wait {
		struct txn_turn_wait *next; /* at its place */
		_Atomic int first;          /* there: it is its turn */
		unsigned place;
		struct nam_co *co;
		struct txn_worker *tw;
		struct txn_turn_wait *below, **above; /* of those that wait on its worker */
		uint64_t until_ns;
	} wait[TXN_TURN_KEYS];
};
/* In a coroutine, which leaves what it has taken. turn lives until then. */
void txn_turn_take(struct txn_worker *tw, struct txn_turn *turn);
void txn_turn_leave(struct txn_worker *tw, struct txn_turn *turn);

/* One key to find, or to insert under. Caller's memory; key borrowed for the call. */
struct txn_get {
	struct txn_table *table;
	const void *key;
	uint32_t key_len;
	uint64_t hash;     /* nam_hash(key, key_len, table->id) */
	nam_status status; /* NAM_OK or NAM_ABSENT, or an error */
	struct txn_row row;
};
/* Finds n rows visible to t; own writes included. All READs share doorbells: 1 round trip when the
 * pointer cache knows them, 2 otherwise. Returns NAM_OK unless the transaction cannot go on. */
nam_status txn_get(struct txn *t, struct txn_get *g, unsigned n, struct nam_arena *arena);

/* One row to insert. Payload is copied. has_key: key as in txn_get; else key == NULL. */
struct txn_put {
	struct txn_table *table;
	const void *key;
	uint32_t key_len;
	uint64_t hash;
	const void *bytes;
	uint32_t len;
	nam_status status; /* NAM_OK; NAM_DUPLICATE: a live row has the key; NAM_CONFLICT;
			    * NAM_FULL */
};
/* txn_get for a caller whose own index says where each row's block lies (a hint; 0 = it does not
 * say): 1 round trip where that is right, and nothing of the pointer cache is used or changed. */
nam_status txn_get_at(
    struct txn *t, struct txn_get *g, const net_addr *at, unsigned n, struct nam_arena *arena);
/*
 * txn_get, and in the same doorbell the index lookups for keys that t is about to insert:
 * txn_insert of those puts then takes one round trip less, and with txn_begin_latest none: new
 * index entries are made beside the locks of COMMIT, which has a NAM_CONFLICT if another insert of
 * the key was first. Only table, hash and key of p are used. The lookups are kept until the insert,
 * the next statement or t's end; more than 32 are not.
 */
nam_status txn_get_ahead(struct txn *t, struct txn_get *g, unsigned n, const struct txn_put *p, unsigned m,
    struct nam_arena *arena);
/* Inserts n rows: index lookups in one doorbell, index entries in another, so 2 round trips (0
 * without keys). Returns NAM_OK, or the first status that is not. READ COMMITTED also locks the
 * rows (1 more); the other levels lock a row only where they use the block of a deleted key
 * again. */
nam_status txn_insert(struct txn *t, struct txn_put *p, unsigned n);

/*
 * Call before an update or delete: makes sure that the row is the newest version. READ COMMITTED:
 * locks the block, waiting if need be, and re-reads: row->changed says that it is another version
 * now (test your condition again), and its bytes lie in t's memory; NAM_ABSENT: it is deleted now.
 * Otherwise: NAM_CONFLICT if a newer version exists, no I/O. NAM_DEADLOCK, NAM_TIMEOUT,
 * NAM_CANCELLED, NAM_EXPIRED; NAM_STUCK: the lock belongs to a process that has stopped and cannot
 * be recovered.
 */
nam_status txn_lock(struct txn *t, struct txn_table *table, struct txn_row *row);
/* txn_lock for n rows of one table, one after the other: a round trip each. st[] has a status for
 * each row. */
nam_status txn_lock_many(
    struct txn *t, struct txn_table *table, struct txn_row *row, nam_status *st, unsigned n);

/* Locks the row now, at any level; above READ COMMITTED a version newer than the snapshot, or a
 * deletion, is a NAM_CONFLICT. Only at, cid and newest of the row are used. wait false: NAM_BUSY if
 * it is locked, and nothing has changed. */
nam_status txn_lock_now(struct txn *t, struct txn_table *table, struct txn_row *row, bool wait);
/* t has locked the table's guard. Waits until no other transaction has a row locked, and READ
 * COMMITTED's snapshot covers all versions; no other transaction commits a row until t ends.
 * NAM_CONFLICT: an older snapshot does not cover them. */
nam_status txn_lock_table(struct txn *t, struct txn_table *table);

/* Writes a new version of a row got from this transaction (key columns unchanged); buffered until
 * commit. The payload is copied. */
nam_status txn_update(
    struct txn *t, struct txn_table *table, const struct txn_row *row, const void *bytes, uint32_t len);
/*
 * txn_update without a copy: *bytes is row->bytes; the caller changes it in place, without changing
 * its length, until the commit. So the arena that the row was read into must live until t has
 * ended. Not for rows of a scan. Only for rows whose blobs stay as they are.
 */
nam_status txn_edit(struct txn *t, struct txn_table *table, const struct txn_row *row, void **bytes);
nam_status txn_delete(struct txn *t, struct txn_table *table, const struct txn_row *row);

/* Takes memory for a long value and keeps a copy to be written at commit. */
nam_status txn_blob_put(
    struct txn *t, struct txn_table *table, const void *bytes, uint32_t len, struct txn_blob *out);
/* Reads n blobs in one doorbell into arena memory: out[i] points at b[i].len bytes. NAM_TORN: the
 * version that named it is gone (cannot happen to a row visible at t's snapshot). */
nam_status txn_blob_get(
    struct txn *t, const struct txn_blob *b, unsigned n, const void **out, struct nam_arena *arena);

/* ---- rows that refer to others ---- */

/*
 * t's rows refer to this row, which t shows, by the key it has in an order of its table (order < 0:
 * by the key of the table): COMMIT ends with NAM_CONFLICT if it is not there any more, or has
 * another key. Its other changes do no harm, and it is not locked. READ COMMITTED waits for a
 * transaction that has taken the key away and may still end either way; NAM_ABSENT: it has.
 */
nam_status txn_rely(struct txn *t, struct txn_table *table, struct txn_row *row, int order);
/*
 * t takes a key away, by deleting or changing a row, to which rows of a table may refer: those
 * whose keys in an order lie from low to high; or, order < 0, the one with this key of the table;
 * or, without a key, those of which `refers` tells this hash (NULL: all). What t's snapshot shows
 * of them, the caller has seen to. COMMIT ends with NAM_CONFLICT if another transaction has made
 * one since.
 */
enum txn_referring { TXN_REFERS_NOT, TXN_REFERS, TXN_REFERS_MAYBE };
struct txn_forbid {
	struct txn_table *table;
	int order;
	const uint64_t *low, *high;
	/* Called with payloads that passed their checksum; it must not park. */
	enum txn_referring (*refers)(
	    const struct txn_table *t, const void *arg, const void *row, uint32_t len, uint64_t *hash);
	const void *arg; /* lives until t has ended */
	uint64_t hash;   /* of the key, as in txn_get; or as refers tells it */
	const void *key;
	uint32_t key_len;
};
nam_status txn_forbid(struct txn *t, const struct txn_forbid *f);
/* READ COMMITTED: asks now what COMMIT would ask of all that is forbidden, so that the statement
 * may be run again. */
nam_status txn_forbidden(struct txn *t);

/* ---- by an ordered index ---- */

/*
 * The caller needs of a row nothing but its key in the order, if enough() says so of the key's
 * words; NULL = of all. A row comes with its key then. Its block is READ only if this process has
 * not yet seen, at an earlier look, that the block's newest version is a live row with that key:
 * else 8 bytes of the block prove that this is still so (txn/known.c).
 */
struct txn_only {
	bool (*enough)(void *arg, const uint64_t *key);
	void *arg;
};

/* One key to find by an ordered index. Caller's memory. */
struct txn_seek {
	struct txn_table *table;
	unsigned order;
	const struct txn_only *only; /* NULL: it needs the rows */
	const uint64_t *key;
	bool every;        /* all rows that have the key, not one of them */
	nam_status status; /* NAM_OK; NAM_ABSENT; NAM_DUPLICATE: several rows have it, row is one of
			    * them; every: NAM_FULL: it has too many entries, read the range; or
			    * an error */
	struct txn_row row;
	struct txn_row *all; /* every: arena memory */
	unsigned rows;
};
/* Finds n rows visible to t; own writes included. Leaves share doorbells, and so do the blocks
 * they lead to: 2 round trips with a warm cache. Returns NAM_OK unless the transaction cannot go
 * on. */
nam_status txn_seek(struct txn *t, struct txn_seek *s, unsigned n, struct nam_arena *arena);

/*
 * Reads the rows visible to t whose keys lie in a range, in the order of their keys; own writes as
 * they were when it was opened. A SERIALIZABLE transaction may be aborted if a row comes into what
 * it has read of the range, or leaves it. next: up to max rows, which stay valid until the next
 * call; *n == 0: the end. txn_begin_latest: NAM_UNSUPPORTED.
 */
struct txn_range;
nam_status txn_range_open(struct txn *t, struct txn_table *table, unsigned order,
    const struct idx_tree_range *range, struct txn_range **out);
/* Before the first call of next. only: borrowed until the range is closed. */
void txn_range_only(struct txn_range *r, const struct txn_only *only);
nam_status txn_range_next(struct txn_range *r, struct txn_row *rows, unsigned max, unsigned *n);
void txn_range_close(struct txn_range *r);

/* Blocks that entries lead to. Arena memory. */
struct txn_blocks {
	net_addr *at;
	size_t n, cap;
};
/*
 * Adds the blocks that the entries of n ranges of one order lead to, in any order, some twice. An
 * entry is a hint: every row that t can see and that has a key of the ranges lies in one of the
 * blocks, own writes excepted; not every block has such a row. No block is READ. Ranges of one key
 * each share doorbells. If t is SERIALIZABLE, it fails at COMMIT if entries have come into the
 * ranges.
 */
nam_status txn_range_blocks(struct txn *t, struct txn_table *table, unsigned order,
    const struct idx_tree_range *range, unsigned n, struct txn_blocks *out, struct nam_arena *arena);
/* The live rows that t sees in n blocks of the table, in their order, whatever keys they have.
 * Blocks that t has written are left out. READs TXN_BLOCKS_TOGETHER blocks with a doorbell. */
enum { TXN_BLOCKS_TOGETHER = 128 };
nam_status txn_rows_of_blocks(struct txn *t, struct txn_table *table, const net_addr *at, unsigned n,
    struct txn_row *rows, unsigned *got, struct nam_arena *arena);
/* Adds t's own live rows that have a key of n ranges of one order, some twice if ranges overlap. In
 * arena memory; good as long as t, or until it changes them. */
struct txn_own_rows {
	struct txn_row *row;
	size_t n, cap;
};
nam_status txn_range_own(struct txn *t, struct txn_table *table, unsigned order,
    const struct idx_tree_range *range, unsigned n, struct txn_own_rows *out, struct nam_arena *arena);

/* What t has done by ordered indexes so far. */
struct txn_looks {
	uint64_t keys, ranges; /* looked up; begun */
	uint64_t node_reads;   /* READs of nodes of trees for these */
	uint64_t block_reads;  /* READs of blocks that entries have led to ... */
	uint64_t word_reads;   /* ... and of their words alone */
};
const struct txn_looks *txn_looked(const struct txn *t);
/* A row that t has written, and a live row with the same key of a unique order. */
struct txn_clash {
	const struct txn_table *table;
	unsigned order;
	const void *bytes; /* of the row; t's */
	uint32_t len;
};
/*
 * At the end of a statement: looks for such rows among those that t has written since the last
 * call, committed rows that its snapshot does not show included: NAM_DUPLICATE, and *clash. Waits
 * for an open transaction that has made a row with the key, or, at READ COMMITTED, that may change
 * one; else NAM_CONFLICT. NAM_DEADLOCK, NAM_TIMEOUT (limits.lock_wait_ns) as of a lock.
 *
 * READ COMMITTED has the key from here on: others wait for t. At the other levels the last word is
 * COMMIT's, whose NAM_CONFLICT may be such a pair. No verb if no table that t has written has a
 * unique order; else, at READ COMMITTED, one message for each storage node and 512 rows.
 */
nam_status txn_unique(struct txn *t, struct txn_clash *clash);
/*
 * True if t is SERIALIZABLE and something that it has read has changed since: it cannot commit. A
 * caller that has met a key twice then says so, instead of naming the key: a retry reads it. READs
 * what COMMIT would READ to validate. In a coroutine.
 */
bool txn_is_overtaken(struct txn *t);
/*
 * Makes the entries of rows that t shows, in an index that their table has got since they were
 * written. All transactions that know the table without the index have ended, and t began later.
 */
nam_status txn_order_fill(
    struct txn *t, struct txn_table *table, unsigned order, const struct txn_row *rows, unsigned n);
/* t has given a table another definition, with other ordered indexes over the same rows: what t has
 * written before belongs to that one. Both are open. */
nam_status txn_table_becomes(struct txn *t, const struct txn_table *was, struct txn_table *is);
/* What this process's view of an ordered index has done. */
void txn_order_counts(const struct txn_table *t, unsigned order, struct idx_tree_counts *out);

/* Reads every row visible to t, own writes included. next: up to max rows; *n == 0: the end. Rows
 * stay valid until the next call. Extents are read ahead. */
struct txn_scan;
nam_status txn_scan_open(struct txn *t, struct txn_table *table, struct txn_scan **out);
nam_status txn_scan_next(struct txn_scan *s, struct txn_row *rows, unsigned max, unsigned *n);
void txn_scan_close(struct txn_scan *s);
/*
 * A table that is mapped here can also be read an extent at a time, by a caller that remembers what
 * the extent showed. txn_scan_where gives the extent that comes next (0 = the end, or the table is
 * not mapped: txn_scan_next goes on); txn_scan_extent goes to an extent and gives the one after it.
 * The order of extents never changes. txn_scan_leave: the scan goes on at `next`.
 */
uint64_t txn_scan_where(const struct txn_scan *s);
nam_status txn_scan_extent(struct txn_scan *s, uint64_t at, unsigned *blocks, uint64_t *next);
void txn_scan_leave(struct txn_scan *s, uint64_t next);
/* Sets a bit for each block of the extent that may show something other than when word[] was taken;
 * returns how many. */
unsigned txn_scan_differ(struct txn_scan *s, const uint64_t *word, uint64_t *differ);
/* Rows of the blocks of `only` (NULL = of all) from *block on, which moves; *n == 0: the end. word:
 * what txn_scan_differ compares, or NULL. */
nam_status txn_scan_blocks(struct txn_scan *s, const uint64_t *only, uint64_t *word, unsigned *block,
    struct txn_row *rows, unsigned max, unsigned *n);
/* Which block of the extent a row lies in. */
unsigned txn_scan_block_of(const struct txn_scan *s, const struct txn_row *row);
/*
 * A scan in parts, for several that share a table: txn_scan_chain gives its extents, the newest
 * first, down to `known` exclusively (0 = to the end), in memory of malloc; then each part is
 * opened, and read to its end. stop: the extent that does not belong to the part any more, 0 =
 * none.
 */
nam_status txn_scan_open_parts(struct txn *t, struct txn_table *table, struct txn_scan **out);
nam_status txn_scan_chain(
    struct txn_scan *s, uint64_t known, uint64_t **extent, uint32_t *n, unsigned *blocks);
void txn_scan_part(struct txn_scan *s, uint64_t from, uint64_t stop);
/* Blocks of undone inserts do not wait for the transactions that have found them, which then end
 * with NAM_CONFLICT. For tests, before the first transaction. */
void txn_collect_at_once(struct txn_db *db);
/* Bytes of a table's memory, in whole extents: of its anchor and so many extents of a chain; of
 * archives and long values; of indexes. The table is one that t sees. Not a snapshot: other
 * transactions take extents meanwhile. */
struct txn_memory {
	uint64_t rows, values, index;
};
nam_status txn_table_memory(
    struct txn *t, const struct txn_table *table, uint32_t chain, struct txn_memory *out);
/* Makes a row of a scan (or of a txn_get) independent of it: what it points to is copied into
 * arena. */
nam_status txn_row_keep(const struct txn_table *table, struct txn_row *row, struct nam_arena *arena);

/* How many blocks of the table are locked at this moment: for checks after a run. */
nam_status txn_table_locks(struct txn *t, struct txn_table *table, uint64_t *locked);

/* ---- figures ---------------------------------------------------------------- */

/* Verbs, bytes, round trips of this transaction so far. */
const struct net_counts *txn_counts(const struct txn *t);
/* txn_commit returns only when the verbs that would follow the answer have completed as well: for
 * callers that count verbs. */
void txn_set_finish(struct txn *t, bool on);
/* When t ends, its counters are added to *into (which must live until its commit has been
 * finished). */
void txn_set_counts_sink(struct txn *t, struct net_counts *into);
/* Counters of the worker's heartbeat and garbage collector; with those of the transactions they are
 * all its counters. Owner thread. */
void txn_worker_background(const struct txn_worker *tw, struct net_counts *out);
/* Round trips from txn_commit's call to its answer, of the worker's last commit. */
uint32_t txn_last_commit_round_trips(const struct txn_worker *tw);

struct txn_stats {
	uint64_t commits, aborts, conflicts, lock_waits, archived, archived_late, blobs_freed, blocks_freed,
	    archives_freed, rereads;
	uint64_t conflicts_here; /* of the conflicts: with a transaction of this process, found
				  * without a verb (local.c) */
	/* Owners that had stopped and were recovered here. Of their transactions: finished, undone.
	 * doubtful: undone although the commit line was valid, because something else was
	 * missing. */
	uint64_t recovered, finished, undone, doubtful;
	/* Tables swept for memory that crashed processes had left, and what the sweeps found:
	 * blocks, bytes of archives and blobs. */
	uint64_t sweeps, blocks_found, bytes_found;
	uint64_t extents_returned; /* given back because they were not used */
	uint64_t parts_moved;      /* halves of large partitions of ordered indexes */
	uint64_t looked_at;        /* tables that the turns of collectors and sweepers looked at */
};
void txn_worker_stats(const struct txn_worker *tw, struct txn_stats *out);

#endif
