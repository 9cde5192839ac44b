/*
 * twopc.h -- snapshot isolation with two-phase commit, as the NAM paper's section 4.1 has it: the
 * baseline that one-sided transactions are measured against.
 *
 * Three roles, which share nothing but messages. A resource manager (RM) holds a part of the
 * records. A transaction manager (TM) gives out commit ids and snapshots, and commits. A client
 * reads records at a snapshot, and asks the TM to commit new ones. A role is driven by its
 * messages: the caller hands each one that has arrived to `take`, which sends others through the
 * caller's wire and never waits.
 *
 *	client          TM              RMs
 *	  |---- READ ------------------->|     the records at a snapshot
 *	  |<--- RECORDS -----------------|
 *	  |-- REQUEST -->|               |     new records, and the CIDs of those that were read
 *	  |              |--- PREPARE -->|     validates and locks; meanwhile the TM takes a CID
 *	  |              |<-- VOTE ------|
 *	  |<- OUTCOME ---|--- INSTALL -->|     the new records, and their CID; unlocks
 *	  |              |<-- INSTALLED -|     now snapshots may cover the CID
 *
 * A session is one client, with what serves it: a part of the TM, and one of each RM. Sessions of
 * one TM share its clock, those of one RM its partition; both may be used by several threads.
 */
#ifndef NAM_TXN_TWOPC_H
#define NAM_TXN_TWOPC_H

#include <base/status.h>
#include <txn/twopc/message_format.h>

/* Addresses inside a session. */
enum { TXN_TWOPC_CLIENT, TXN_TWOPC_TM, TXN_TWOPC_RM }; /* RM number r: TXN_TWOPC_RM + r */
enum { TXN_TWOPC_RMS_MAX = 60 };

/* Sends a message to an address of the session; bytes are copied. No message is lost or comes
 * twice, in whatever order they come. */
struct txn_twopc_wire {
	void (*send)(void *arg, unsigned to, const void *bytes, uint32_t len);
	void *arg;
};

/* The RM that holds a key. */
unsigned txn_twopc_home(uint64_t key, unsigned rms);

/* ---- resource manager ---- */

struct txn_twopc_rm;

nam_status txn_twopc_rm_open(struct txn_twopc_rm **out, uint64_t records);
void txn_twopc_rm_close(struct txn_twopc_rm *rm);
/* A record that every snapshot covers, before there are transactions. NAM_DUPLICATE. */
nam_status txn_twopc_rm_load(struct txn_twopc_rm *rm, uint64_t key, const void *record, uint32_t len);
/* A message to RM number `self` of a session. NAM_INVALID: it is none. */
nam_status txn_twopc_rm_take(struct txn_twopc_rm *rm, unsigned self, const struct txn_twopc_wire *wire,
    const void *bytes, uint32_t len);
/* Calls fn for each committed record. Not while there are transactions. */
struct txn_twopc_seen {
	uint64_t key, cid;
	bool locked;
	uint32_t len;
	const void *record;
};
void txn_twopc_rm_walk(
    const struct txn_twopc_rm *rm, void (*fn)(void *arg, const struct txn_twopc_seen *r), void *arg);

/* ---- transaction manager ---- */

/* Gives out CIDs, and knows the greatest one below which every transaction has ended. */
struct txn_twopc_clock;
nam_status txn_twopc_clock_open(struct txn_twopc_clock **out);
void txn_twopc_clock_close(struct txn_twopc_clock *c);
/* 0: too many CIDs above the snapshot are given out. */
uint64_t txn_twopc_clock_take(struct txn_twopc_clock *c);
/* Its transaction has ended: all of its records are installed, or none ever will be. */
void txn_twopc_clock_done(struct txn_twopc_clock *c, uint64_t cid);
uint64_t txn_twopc_clock_snapshot(const struct txn_twopc_clock *c);

/* A session's part of the TM. */
struct txn_twopc_tm;
nam_status txn_twopc_tm_open(struct txn_twopc_tm **out, struct txn_twopc_clock *clock, unsigned rms,
    const struct txn_twopc_wire *wire);
void txn_twopc_tm_close(struct txn_twopc_tm *tm);
nam_status txn_twopc_tm_take(struct txn_twopc_tm *tm, const void *bytes, uint32_t len);
/* Transactions that have not ended: their INSTALLED are still to come. */
unsigned txn_twopc_tm_open_count(const struct txn_twopc_tm *tm);

/* ---- client ---- */

struct txn_twopc_client;
/* What it asked for is over (below); it may ask for the next. */
typedef void (*txn_twopc_done)(void *arg, nam_status st);

/* session: different for each client of the same RMs, below 2^24. */
nam_status txn_twopc_client_open(struct txn_twopc_client **out, unsigned session, unsigned rms,
    const struct txn_twopc_wire *wire, txn_twopc_done done, void *arg);
void txn_twopc_client_close(struct txn_twopc_client *c);
nam_status txn_twopc_client_take(struct txn_twopc_client *c, const void *bytes, uint32_t len);

/* Asks the TM for its newest snapshot. It has one after each commit, too. */
void txn_twopc_snapshot(struct txn_twopc_client *c);
/*
 * Reads keys at the client's snapshot, and begins a transaction with them. Over with NAM_OK;
 * NAM_ABSENT: one is not there; NAM_CONFLICT: one has a newer version, and the snapshot's is not
 * kept.
 */
void txn_twopc_read(struct txn_twopc_client *c, const uint64_t *key, unsigned n);
/* The record read as number i of the last txn_twopc_read; until the next. */
const void *txn_twopc_record(const struct txn_twopc_client *c, unsigned i, uint32_t *len);
/* Adds a new version of the record that was read as number i, or a new record, to the transaction.
 * NAM_FULL: too much for a message. */
nam_status txn_twopc_update(struct txn_twopc_client *c, unsigned i, const void *record, uint32_t len);
nam_status txn_twopc_insert(struct txn_twopc_client *c, uint64_t key, const void *record, uint32_t len);
/* Over with NAM_OK, which is final; NAM_CONFLICT: another transaction was first; NAM_DUPLICATE
 * is also NAM_CONFLICT; NAM_FULL: the TM has no CID. */
void txn_twopc_commit(struct txn_twopc_client *c);

#endif
