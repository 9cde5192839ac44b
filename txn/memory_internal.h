/*
 * memory_internal.h -- what a process holds of the memory of its tables: views, stocks,
 * memory at hand.
 */
#ifndef NAM_TXN_MEMORY_INTERNAL_H
#define NAM_TXN_MEMORY_INTERNAL_H

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

#endif
