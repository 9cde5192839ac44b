/*
 * history.h -- the operations and answers of a database's clients, and a judge of them that shares
 * no code with the database.
 *
 * Everything is numbers: an object is (table, id), a state of it is a value that
 * is unique in the run, 0 = it is not there. Transactions carry the snapshot of
 * each statement and their commit id, as the database reported them; the judge
 * replays them by these numbers (timestamp check: EXT, INT, NOCONFLICT, SESSION)
 * and asks whether every value read was the only right one.
 *
 * One thread. Calls never fail: without memory the program stops.
 */
#ifndef NAM_TESTS_HISTORY_H
#define NAM_TESTS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum hist_iso { HIST_RC, HIST_RR, HIST_SER };
/* UNKNOWN: its process died, or its client got no answer. The judge finds out from what other
 * transactions saw of it: all or nothing. */
enum hist_end { HIST_OPEN, HIST_COMMITTED, HIST_ABORTED, HIST_UNKNOWN };
enum hist_kind {
	HIST_READ,   /* one object, at the statement's snapshot */
	HIST_LOCKED, /* one object as it is under a lock (READ COMMITTED): the newest */
	HIST_WRITE,  /* base: the state it replaces */
	HIST_SCAN,   /* a whole table; its items follow */
	HIST_ITEM,   /* one object of the scan before it */
	HIST_CUT,    /* a scan that came to no end; its items follow */
	HIST_EXISTS, /* an insert was refused: the object exists */
};

struct hist_op {
	enum hist_kind kind;
	unsigned table;
	uint64_t id;
	uint64_t value;
	uint64_t base;
	int64_t aux;    /* balance of an account */
	uint64_t snap;  /* of its statement */
	uint64_t asked; /* when that snapshot was asked for, in history's own order */
};

struct hist_txn {
	unsigned process, client;
	enum hist_iso iso;
	enum hist_end end;
	uint64_t began, ended; /* in history's own order */
	uint64_t cid;          /* committed and wrote */
	bool everywhere;       /* answered when every process sees it */
	bool wrote;
	struct hist_op *op;
	size_t n, cap;
};

struct hist;
struct hist *hist_open(void);
void hist_close(struct hist *h);
/* The tick of history's clock: rises with every call. */
uint64_t hist_now(struct hist *h);
/* Begin it before the snapshot is asked for. The pointer stays good until hist_close. */
struct hist_txn *hist_begin(struct hist *h, unsigned process, unsigned client, enum hist_iso iso);
void hist_add(struct hist_txn *t, struct hist_op op);
/* Its last scan was not read to the end. */
void hist_cut(struct hist_txn *t);
void hist_end(struct hist *h, struct hist_txn *t, enum hist_end end, uint64_t cid);

/* Which objects are accounts, whose balances sum up to `total` in every snapshot. */
struct hist_bank {
	unsigned table;
	uint64_t first, last;
	int64_t total;
};
/* Judges everything. Says on `out` what is wrong (at most a few lines); true when nothing is. */
bool hist_judge(struct hist *h, const struct hist_bank *bank, FILE *out);

/* After hist_judge: writes the history as `namdb check` reads it. weakest: the level of all; each
 * transaction is also held to its own. */
void hist_write(struct hist *h, enum hist_iso weakest, FILE *out);
/* After hist_judge: the state of an object at a snapshot (UINT64_MAX: the newest). */
uint64_t hist_value_at(struct hist *h, unsigned table, uint64_t id, uint64_t snap);
/* Objects of a table ever written: id of the i-th, false behind the last. */
bool hist_object(struct hist *h, unsigned table, size_t i, uint64_t *id);

struct hist_figures {
	size_t txns, committed, aborted, found, lost, reads, writes, scans, items, objects, versions;
};
void hist_figures(const struct hist *h, struct hist_figures *out);

#endif
