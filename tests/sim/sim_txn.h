/* sim_txn.h -- shared by the files of sim_txn: one simulated cluster and all that happens on it. */
#ifndef NAM_TESTS_SIM_TXN_H
#define NAM_TESTS_SIM_TXN_H

#include "history.h"

#include <base/arena.h>
#include <base/co.h>
#include <base/hash.h>
#include <net/net.h>
#include <net/sim/sim.h>
#include <tsoracle/tsoracle.h>
#include <txn/record_format.h>
#include <txn/txn.h>

enum {
	PROCS_MAX = 4,
	NODES = 3,
	WORKERS_MAX = 2, /* of a process */
	VISITS_MAX = 3,  /* more processes, that come and go */
	SIM_LEASE_MS = 100,
	CLIENTS = 10,
	CLIENTS_SURE = 4,      /* of them in process 0, which does not die */
	COMMITTED_LEAST = 200, /* transactions of a run; by CLIENTS_SURE clients at least */
	TXNS_MAX = 2000,       /* a client gives up there, if nothing goes on */
	KEYED = 0,             /* tables, as history numbers them */
	BARE = 1,
	TEMP = 2,       /* and above: those of drops.c, in the order they were made */
	ACCOUNTS = 6,   /* keys 0..5: never deleted, their balances are the bank */
	KEYS_MAX = 16,  /* keys ACCOUNTS..: come and go */
	BALANCE = 1000, /* each account's at first */
	FILL_MAX = 200,
	LIST_MAX = FILL_MAX / 8,
	ITEMS = 6,
	STOCK = 100000, /* of each item at first */
	ONCE_MAX = 1024,
	/* Keys of the loads, in the same table; the orders' lines are in the other one, as are all
	 * rows without a balance. */
	LIST_AT = 1 << 20,
	FORK_AT = 2 << 20,
	ONCE_AT = 3 << 20,
	CHURN_AT = 4 << 20,
	STOCK_AT = 5 << 20,
	CART_AT = 6 << 20,
	ORDER_AT = 7 << 20,
	DROP_AT = CART_AT + (1 << 19),
	NAMES_MAX = 2,
	BORN_MAX = 200, /* tables that drops.c makes in a run */
	MADE_MAX = 8,   /* ... and in a transaction */
	USED_MAX = 12,
};

/* What transactions are about. A run has some of these. */
enum load { MIXED, LISTS, FORK, ONCE, CHURN, CHECKOUT, LONG, TINY, DROPS, LOADS };

/* A row of either table. value decides how long fill is and what it says. */
struct row {
	uint64_t key; /* BARE: an identity, not found by */
	uint64_t value;
	int64_t balance;
	uint64_t count;       /* of a list's elements */
	struct txn_blob blob; /* len 0 = none */
	unsigned char fill[FILL_MAX];
};
enum { ROW_HEAD = offsetof(struct row, fill) };

struct place {
	struct net *net;
	struct txn_db *db;
	struct txn_table table[2];
	struct txn_table temp[BORN_MAX]; /* open where it has a view */
	unsigned users[BORN_MAX];        /* transactions that use it */
	struct net_worker *w[WORKERS_MAX];
	struct txn_worker *tw[WORKERS_MAX];
	unsigned clients; /* still at work */
	bool troubled;    /* it may be cut off or fenced: errors that say so are right */
	bool stalled;     /* ... because it stalled for longer than its lease */
	uint64_t found;   /* when one of its clients found that out */
	bool buried;      /* it died, and its ghost ends what it had open */
};

/* What a run is like; all of it a function of the seed. */
struct shape {
	unsigned procs, workers, slots, keys, txns, iso; /* iso: 3 = mixed */
	uint32_t vector;
	unsigned lanes;
	uint32_t tear, reorder;
	uint32_t delay;    /* permille of verbs that are late */
	uint32_t pause;    /* of a million verbs, after how many their process stalls */
	uint32_t crash;    /* processes die within so many verbs; 0 = they do not */
	uint32_t pause_ns; /* ... for how long at most */
	bool hot;          /* two accounts get most of the writes */
	bool neighbours;
	bool stall;          /* a process stalls for longer than its lease */
	unsigned breaks;     /* so often a connection of a clients' process breaks, or is cut for a
			      * while */
	bool lose;           /* a storage node is lost when the run has its transactions */
	unsigned loads;      /* a bit for each */
	enum hist_iso lists; /* one level for all that append to lists */
	bool bystander;      /* process 0 recovers no other process */
	bool storm;          /* see storm.c; a fenced process is dead */
	/* The life of a cluster. */
	bool tight;       /* little memory, and visitors whose memory other processes find */
	bool rush;        /* many drops, many pauses, and nothing else */
	bool idles;       /* they stall while they are idle, and have no other faults */
	unsigned visits;  /* so many processes join, work, stand idle and leave: life.c */
	unsigned mapped;  /* a bit for each process: it has mapped the memory */
	unsigned turn_ns; /* CPU time of a coroutine's turn, and of posting a verb; 0 = code takes
			   * none */
	unsigned read_ps; /* ... of each byte that is READ */
	bool use;         /* at the end what is free is taken, where there is little of it */
	bool clocks;      /* they drift, and jump now and then */
	bool hints;       /* deaths are told, and rumours go about */
	bool ordered;     /* the keyed table has an ordered index */
	unsigned alone;   /* so often one worker's connection breaks */
};

/* What happened to the clients' own processes, and what others noticed of it. */
enum { HOME = 1 }; /* the storage node with oracle and catalog */
struct troubles {
	uint64_t stalls, breaks, parts, nodes, homes; /* homes: of the nodes, those with the
						       * oracle */
	uint64_t ended;                               /* processes that found out and ended */
	uint64_t went_on;                             /* found out, and committed all the same */
	uint64_t gone, unsure; /* transactions so answered; all but those of the dead */
	uint64_t stall_unsure;
	uint64_t after; /* transactions that committed when a node was lost */
	uint64_t alone, jumps, rumours;
	/* Visitors: that came, left cleanly, died; stalled while they were idle; looks for a
	 * note. */
	uint64_t visits, exits, visitors_dead, idle_stalls, notes;
};

/* What the loads did. */
struct worked {
	uint64_t runs[LOADS], committed[LOADS];
	uint64_t appends, lists;                 /* transactions that appended; reads of lists */
	uint64_t glances;                        /* of two keys that others write one by one */
	uint64_t won, refused;                   /* unique inserts */
	uint64_t orders, books;                  /* orders placed; times the books were checked */
	uint64_t made, dropped, temp_statements; /* tables of drops.c */
	uint64_t ranges;                         /* read by the ordered index */
	uint64_t full,
	    after_full; /* answers that no memory is left; rows inserted after the first of these */
};

struct naive {
	uint64_t reads; /* questions asked */
	uint64_t wrong; /* answered with a version that is not the right one */
	uint64_t lost;  /* found nothing where a version was visible */
	uint64_t torn;  /* answered with bytes that no version ever had */
};

/* What the neighbours did. */
struct roamed {
	uint64_t sure, unknown, landed; /* additions; unknown: their connection broke */
	uint64_t fences, moved;         /* moved: the victim's verbs executed while the fence was
					 * under way */
};

/* What use.c took: so often, so many bytes; of so many that were free. */
struct used {
	uint64_t tries, bytes, free;
};

/* What the audit found. */
struct audited {
	uint64_t rows, blocks_listed, bytes_listed; /* in use; on lists from which others take */
	/* Memory without an owner: blocks; bytes for archives and blobs; of indexes; extents that
	 * no table knows of. */
	uint64_t blocks_left, bytes_left, index_left, extents_left;
	uint64_t index_behind; /* bytes: what resizes of indexes replaced */
	uint64_t entries;      /* of indexes that lead to no row */
	uint64_t extents_free; /* given back, or never used */
};

struct naive_answer {
	uint64_t id, value, snap;
	bool garbage;
	unsigned twin; /* 0: newest whole slot; 1: an unlocked word is enough */
};

struct run {
	uint64_t seed;
	struct shape shape;
	struct net_sim *sim;
	struct idx_tree_host *tree_host[NODES + 1]; /* order.c */
	struct net_service tree_service[NODES + 1][IDX_TREE_SERVICES];
	struct place place[PROCS_MAX];
	/* Tables of drops.c: the key that names it, the version of that row, where it lies; not to
	 * be used any more. */
	struct born {
		uint64_t name, value;
		net_addr anchor;
		bool gone;
	} born[BORN_MAX];
	unsigned births;
	unsigned named[NAMES_MAX]; /* what the names lead to at the end, plus 1 */
	struct hist *hist;
	uint64_t next_value, next_id; /* both rise */
	net_addr block[KEYS_MAX];     /* where a key's block was seen last, for the naive reader */
	unsigned clients_left;
	unsigned visiting; /* life.c is not at its end */
	unsigned committed, committed_by[CLIENTS];
	uint64_t committed_ns;    /* when one did last, or the clients began */
	struct txn_stats settled; /* what recoverers did for dead processes */
	bool naive_stop, naive_ended;
	struct naive_answer *answer;
	size_t answers, answers_cap;
	uint64_t done[2][32]; /* how statements (0) and transactions (1) ended, by status */
	bool neighbours_fenced, neighbours_stop;
	struct roamed roamed;
	struct audited audited;
	struct used used;
	struct troubles trouble;
	bool trouble_ended;
	unsigned lost; /* this storage node is; 0 = none */
	uint64_t lost_at;
	_Atomic int cut; /* waits end, because the process that could end them may be cut off */
	unsigned deaths;
	struct worked worked;
	struct lists *lists; /* loads.c */
	unsigned list_round[3];
	struct glance {
		int64_t first, second;
	} * glance;
	size_t glances, glances_cap;
	unsigned once, order; /* the next key to be fought for; the next order */
	uint8_t won[ONCE_MAX], refused[ONCE_MAX];
	net_addr *hog; /* extents taken so that little is left */
	size_t hogs;
	bool hogging;
	bool bad;
	bool complete; /* the main coroutine came to its end */
};

/* Where things lie in a block of this run's tables, from record_format.h alone. */
static inline uint32_t
slot_bytes(void)
{
	return (uint32_t)(sizeof(struct rec_slot) + (sizeof(struct row) + 7) / 8 * 8);
}
static inline uint32_t
head_bytes(const struct run *r)
{
	return 8 * (4 + r->shape.slots);
}
static inline uint32_t
block_bytes(const struct run *r)
{
	return (head_bytes(r) + r->shape.slots * slot_bytes() + 63) / 64 * 64;
}

/* Says what is wrong and marks the run as failed. */
void run_bad(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* client.c */
struct client {
	struct run *run;
	unsigned number, process, worker;
};

/* One transaction at a time, and its record. */
struct session {
	struct run *run;
	struct place *place;
	struct net_worker *w;
	struct txn_worker *tw;
	struct txn *t;
	struct hist_txn *h;
	enum txn_iso iso;
	bool latest; /* txn_begin_latest */
	enum load load;
	uint64_t asked;
	unsigned process, number;
	unsigned told;            /* so often, that a node or this process is cut off */
	unsigned once[16], onces; /* keys inserted by this transaction */
	unsigned orders, rows;    /* so many */
	bool wants_room;          /* an answer said that no memory is left */
	/* Tables of drops.c that this transaction makes, drops, uses. */
	uint8_t made[MADE_MAX], drop[MADE_MAX], used[USED_MAX];
	unsigned mades, dropped, using;
	struct nam_arena arena;
};
uint64_t dice(struct session *s, uint64_t n);
/* Reads n keys at once and notes what they showed. */
nam_status client_get(struct session *s, const uint64_t *key, unsigned n, struct txn_get *g, struct row *out);
nam_status client_get_in(
    struct session *s, unsigned table, const uint64_t *key, unsigned n, struct txn_get *g, struct row *out);
/* Locks a row (READ COMMITTED: maybe finding a newer version). *r gets the version that will be
 * replaced. */
nam_status client_lock(struct session *s, unsigned table, struct txn_row *row, struct row *r);
nam_status client_replace(
    struct session *s, unsigned table, struct txn_row *row, const struct row *was, int64_t balance);
nam_status client_erase(struct session *s, unsigned table, struct txn_row *row, const struct row *was);
nam_status client_insert(
    struct session *s, unsigned table, const uint64_t *key, const int64_t *balance, unsigned n);
nam_status client_scan(struct session *s, unsigned table, bool change,
    void (*see)(void *arg, unsigned table, const struct row *r), void *arg);
/* For an account, a version that says the same. */
nam_status client_touch(struct session *s);
bool row_is_list(uint64_t key);

/* loads.c */
extern const char *const load_name[LOADS];
/* What a run has before its clients begin: add() inserts a key. */
nam_status loads_fill(struct run *r, nam_status (*add)(void *arg, uint64_t key, int64_t balance), void *arg);
/* Some time later leaves so little memory that it is soon used up, where the run has that. In a
 * coroutine, and so is its end. */
void loads_hog(struct run *r);
void loads_let(struct run *r);
/* One statement of s->load. */
nam_status load_statement(struct session *s);
/* Its transaction has ended. */
void load_ended(struct session *s, enum hist_end end);
/* Money and goods in one snapshot. */
nam_status load_books(struct session *s);
/* After hist_judge. */
void loads_judge(struct run *r);
void loads_close(struct run *r);

/* drops.c: tables that come and go. */
nam_status drops_statement(struct session *s);
void drops_ended(struct session *s, enum hist_end end);
nam_status drops_read_all(struct session *s);
/* For txn_on_orphan: what t shows has one of the names. */
nam_status drops_listed(void *place, struct txn *t, uint32_t table, net_addr anchor, bool *yes);
/* Closes what the process has open of them. */
void drops_close(struct run *r, struct place *p);
/* After hist_judge: true if the n-th has its name at the end. */
bool drops_lives(struct run *r, unsigned n);
struct txn_table drops_table(const struct run *r, unsigned n);
static inline net_addr
anchor_of(const struct run *r, unsigned table)
{
	return table < TEMP ? r->place[0].table[table].anchor : r->born[table - TEMP].anchor;
}

void client_main(void *client);
/* One transaction, of whatever kind. */
void client_transaction(struct session *s);
/* Makes the bytes of a row; returns its length. */
uint32_t row_make(struct row *r, uint64_t key, uint64_t value, int64_t balance, const struct txn_blob *blob);
/* Checks that bytes are those that row_make made. */
bool row_true(const void *bytes, uint32_t len, struct row *out);
bool row_same_key(
    const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len);
unsigned row_blobs(
    const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max);
struct txn_put row_put(struct txn_table *table, const struct row *r, uint32_t len);
/* Reads all of both tables in one snapshot, as a client would. */
void client_read_all(struct run *r, unsigned process);

/* naive.c: readers that do without the directory's proof. */
void naive_main(void *run);
void naive_judge(struct run *r, struct naive out[2]);

/* neighbour.c: processes whose connections break, which are fenced, or die. start and end in a
 * coroutine. */
bool neighbours_attach(struct run *r);
/* Takes their memory. Clients that run meanwhile may fill a small region, so before the clients. */
bool neighbours_take(struct run *r);
void neighbours_start(struct run *r);
void neighbours_end(struct run *r, struct net_worker *w);
void neighbours_close(void);

/* storm.c: all processes but the first come to grief, in the middle of commits and of recoveries.
 * In coroutines. */
struct shape storm_shape(uint64_t seed);
void storm_start(struct run *r);
/* begins one, or has its answer */
void storm_commit(struct run *r, unsigned process, bool answered);
void storm_end(struct run *r);

/* twins.c: faults built in (base/fault.h). choose: false, there is no such one in this build. list:
 * the program's exit code. */
int twin_list(void);
bool twin_choose(const char *name);
const char *twin_chosen(void); /* NULL = none */

/* life.c: processes that come and go. */
void life_start(struct run *r);
/* True if one of them died, or was fenced. */
bool life_died(void);
void life_close(void);
/* sim_txn.c: a process of the cluster, as life.c needs it. open and close in a coroutine of it. */
bool place_attach(struct run *r, struct place *p);
nam_status place_open(struct run *r, struct place *p, bool first);
void place_close(struct run *r, struct place *p);
void place_detach(struct run *r, struct place *p);

/* trouble.c: faults of the clients' own processes. look: ends a process that has found out that it
 * is fenced. */
void trouble_start(struct run *r);
void trouble_look(struct run *r);

/* order.c */
void order_host(struct run *r, uint64_t region_bytes);
void order_unhost(struct run *r);
void order_table(const struct run *r, struct txn_table *t);
bool order_extent(const struct run *r, const void *anchor, const void *extent);

/* outside.c: looks into the simulated memory. */
const struct tso_owner_slot *outside_owners(struct run *r);
/* After all processes have left. */
void outside_judge(struct run *r);

/* use.c: a process takes what is free, in every size. After audit; outside of coroutines. */
void use_memory(struct run *r);
/* audit.c: the room that a value of that length has. */
uint64_t audit_room(uint32_t len);

/* audit.c: finds the owner of each byte of it. */
void audit(struct run *r);
/* Before p leaves, the last process, which must not be a bystander: p takes memory, and so sweeps
 * the tables for memory that dead processes had at hand. */
void audit_sweep(struct run *r, struct place *p);

#endif
