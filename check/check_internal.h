/* check_internal.h -- a history in memory, the graph over it, and the findings. */
#ifndef NAM_CHECK_INTERNAL_H
#define NAM_CHECK_INTERNAL_H

#include "check.h"

#include <setjmp.h>
#include <stdint.h>

#define NONE UINT32_MAX

enum chk_model { MODEL_LIST, MODEL_REGISTER, MODEL_BANK, MODEL_SET, MODELS };
enum chk_status { TXN_OK, TXN_FAIL, TXN_INFO };
enum chk_kind {
	OP_APPEND,    /* list */
	OP_READ_LIST, /* list, set */
	OP_WRITE,     /* register */
	OP_READ,      /* register, bank */
	OP_LOCKED,    /* register: read under a lock that is kept: the newest, whatever the
		       * snapshot */
	OP_ADD,       /* set: an element; bank: money */
};

struct chk_key {
	bool text;
	uint32_t len;
	int64_t number;
	const char *s;
};

struct chk_op {
	uint8_t kind;
	bool null;   /* of a register: absent */
	bool has_at; /* its own snapshot is `at`, not the transaction's */
	uint32_t key;
	uint32_t n;     /* of a list */
	uint32_t write; /* of OP_APPEND, OP_WRITE and a set's OP_ADD: in chk.writes */
	int64_t value;
	size_t list; /* in chk.elems */
	uint64_t at;
};

struct chk_txn {
	int64_t id, session, process, begin, end;
	uint64_t start_ts, commit_ts;
	size_t op; /* first one, in chk.ops */
	uint32_t n;
	uint32_t line;
	uint8_t status, level;
	bool has_end, has_start, has_commit, has_process, final;
	bool replaced;  /* a later record has its id, and says more */
	bool committed; /* ok, or unknown and a read shows it */
	bool wrote;
};

/* A value that was written: (key, value) is unique, unless it is null. */
struct chk_write {
	uint32_t key, txn;
	size_t op;
	uint32_t pos;  /* in its key's version order, or NONE */
	uint32_t seen; /* stamp of the read that is being looked at */
	bool last;     /* of its transaction on this key */
};

/* Why one transaction comes before another. */
enum chk_edge_type {
	EDGE_WW,
	EDGE_WR,
	EDGE_RW,
	EDGE_SO,
	EDGE_RT,
	EDGE_PASS, /* between or out of helper nodes: part of the edge before it */
};
enum { WW = 1 << EDGE_WW, WR = 1 << EDGE_WR, RW = 1 << EDGE_RW, SO = 1 << EDGE_SO, RT = 1 << EDGE_RT };

struct chk_edge {
	uint32_t from, to;
	uint32_t write; /* the later version (ww, rw) or the one read (wr); NONE: see why */
	uint8_t type;
};

struct chk_step {
	uint32_t from, to, write;
	uint8_t type;
};

struct chk_finding {
	const char *name;  /* "lost update" */
	const char *class; /* "G-single", or "" */
	const char *text;  /* one sentence */
	uint32_t txn[2];   /* whose operations explain it; of a cycle see step */
	unsigned txns;
	const struct chk_step *step;
	uint32_t steps;
	unsigned breaks; /* levels, as bits */
};

struct chk_block;
struct chk {
	jmp_buf out; /* bad input, or no memory */
	struct chk_block *blocks;
	struct chk_options opt;
	const char *name;
	char error[400];
	bool bad;

	enum chk_model model;
	enum chk_level level;
	bool has_total, ties_hidden, partial;
	int64_t total;

	struct chk_txn *txns;
	size_t n, txns_cap;
	struct chk_op *ops;
	size_t n_ops, ops_cap;
	int64_t *elems;
	size_t n_elems, elems_cap;
	struct chk_key *keys;
	size_t n_keys, keys_cap;
	uint32_t *key_slot; /* open addressing, power of two */
	size_t key_slots;
	uint32_t *id_slot;
	size_t id_slots;
	struct chk_write *writes;
	size_t n_writes, writes_cap;
	uint32_t *write_slot;
	size_t write_slots;
	uint32_t *by_session; /* live transactions, session by session, each in the order of their
			       * begin */
	size_t live, sessions, counted[3];

	/* the graph: nodes 0..n-1 are transactions, from there on helpers */
	struct chk_edge *edges;
	size_t n_edges, edges_cap;
	uint32_t nodes;
	size_t *edge_at; /* of node v: edges edge_at[v] .. edge_at[v + 1] */
	uint64_t budget; /* of edges that the search for short cycles may still look at */

	struct chk_finding *found;
	size_t n_found, found_cap;
	unsigned broken; /* levels that do not hold, as bits */
	uint64_t faults; /* all findings that break the level asked for, printed or not */
	bool stamps;     /* the timestamp check ran */
	bool processes;  /* transactions say which process they were in: session order is that of
			  * processes */
};

/* ---- memory: all of it goes at chk_close; without it the judge stops with an error ---- */
void *chk_take(struct chk *c, size_t n, size_t size); /* zeroed */
void *chk_grow(struct chk *c, void *old, size_t have, size_t *cap, size_t size);
void chk_drop(struct chk *c, void *p); /* early */
_Noreturn void chk_stop(struct chk *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- read.c, index.c ---- */
void chk_read(struct chk *c, const char *bytes, size_t len);
void chk_index(struct chk *c);
uint32_t chk_key_of(struct chk *c, const struct chk_key *key);
uint32_t chk_write_of(const struct chk *c, uint32_t key, int64_t value);
/* Marks unknown transactions as committed if a read shows a value of theirs. */
void chk_observe(struct chk *c);

/* ---- levels ---- */
enum {
	BREAKS_ALL = (1 << CHK_LEVELS) - 1,
	BREAKS_SNAPSHOT = BREAKS_ALL & ~(1 << CHK_READ_COMMITTED),
	BREAKS_SESSION = 1 << CHK_SESSION_SNAPSHOT | 1 << CHK_STRONG_SNAPSHOT |
			 1 << CHK_SESSION_SERIALIZABLE | 1 << CHK_STRICT_SERIALIZABLE,
	BREAKS_STRONG = 1 << CHK_STRONG_SNAPSHOT | 1 << CHK_STRICT_SERIALIZABLE,
	BREAKS_SERIALIZABLE =
	    1 << CHK_SERIALIZABLE | 1 << CHK_SESSION_SERIALIZABLE | 1 << CHK_STRICT_SERIALIZABLE,
};

/* ---- findings ---- */

/* When a transaction began or ended, to be sorted by group (a process, or 0 for all), then time. */
struct chk_moment {
	int64_t group, at;
	uint32_t txn;
};
int chk_by_moment(const void *a, const void *b);

/* a and b: the transactions that show it, or NONE. */
void chk_fault(struct chk *c, const char *name, const char *class, unsigned breaks, uint32_t a, uint32_t b,
    const char *fmt, ...) __attribute__((format(printf, 7, 8)));
void chk_fault_cycle(struct chk *c, const char *name, const char *class, unsigned breaks,
    const struct chk_step *step, uint32_t steps);
/* A key as text, for messages; one of a few buffers in turn. */
const char *chk_key_text(const struct chk *c, uint32_t key);
/* "T12", for messages. */
const char *chk_txn_text(const struct chk *c, uint32_t txn);

/* ---- the checks of each model ---- */
void chk_list(struct chk *c);
void chk_register(struct chk *c);
void chk_bank(struct chk *c);
void chk_set(struct chk *c);
void chk_stamps(struct chk *c);

/* ---- graph.c ---- */
void chk_edge(struct chk *c, uint32_t from, uint32_t to, enum chk_edge_type type, uint32_t write);
/* A set of transactions that many others may precede, without an edge for each pair. chk_group
 * sorts the members and removes duplicates. */
struct chk_group {
	uint32_t *member; /* sorted */
	uint32_t *write;  /* of each */
	uint32_t n;
	uint32_t up, down; /* helper nodes */
};
void chk_group(struct chk *c, struct chk_group *g);
void chk_edge_group(struct chk *c, uint32_t from, const struct chk_group *g, enum chk_edge_type type);
/* Session order and real time, then every cycle there is at any level. */
void chk_cycles(struct chk *c);

#endif
