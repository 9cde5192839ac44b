/*
 * message_format.h -- the messages of two-phase commit: a head, then items.
 *
 *	byte 0       1       2           4           8           16          24
 *	     +-------+-------+-----------+-----------+-----------+-----------+- - - - - - -+
 *	     | kind  | from  |   items   |  length   |    txn    |    ts     |    items    |
 *	     +-------+-------+-----------+-----------+-----------+-----------+- - - - - - -+
 *
 *	item 0           8           16          20          24          24 + len, to 8 bytes
 *	     +-----------+-----------+-----------+-----------+- - - - - - -+
 *	     |    key    |    CID    |  length   |  status   |   record    |
 *	     +-----------+-----------+-----------+-----------+- - - - - - -+
 *
 * Both ends run on machines of one byte order. A message comes from a wire: txn_twopc_judge looks
 * whether its lengths fit before any other code reads it.
 */
#ifndef NAM_TXN_TWOPC_MESSAGE_FORMAT_H
#define NAM_TXN_TWOPC_MESSAGE_FORMAT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sender and receiver; what ts is; what items have beside their key. */
enum txn_twopc_kind {
	TXN_TWOPC_READ = 1,  /* client to RM; snapshot */
	TXN_TWOPC_RECORDS,   /* RM to client; -; CID, status, record */
	TXN_TWOPC_SNAPSHOT,  /* client to TM */
	TXN_TWOPC_REQUEST,   /* client to TM; snapshot; the CID read (0: insert), the new record */
	TXN_TWOPC_PREPARE,   /* TM to RM; snapshot; the CID read */
	TXN_TWOPC_VOTE,      /* RM to TM; 1 = yes, 0 = no */
	TXN_TWOPC_INSTALL,   /* TM to RM; CID; the new record */
	TXN_TWOPC_INSTALLED, /* RM to TM */
	TXN_TWOPC_ABORT,     /* TM to RM that voted yes; it does not answer */
	TXN_TWOPC_OUTCOME,   /* TM to client; the newest snapshot. One item, of key 0: the status */
	TXN_TWOPC_KINDS
};

struct txn_twopc_head {
	uint8_t kind, from; /* from: an address (twopc.h) */
	uint16_t items;
	uint32_t len; /* of the whole message */
	uint64_t txn;
	uint64_t ts;
};
static_assert(sizeof(struct txn_twopc_head) == 24, "wire format");

struct txn_twopc_item {
	uint64_t key;
	uint64_t cid;
	uint32_t len;
	uint32_t status; /* nam_status */
	char record[];
};
static_assert(sizeof(struct txn_twopc_item) == 24, "wire format");

enum { TXN_TWOPC_MESSAGE_MAX = 16 << 10, TXN_TWOPC_ITEMS_MAX = 64 };

static inline uint32_t
txn_twopc_item_bytes(uint32_t len)
{
	return (uint32_t)sizeof(struct txn_twopc_item) + (len + 7) / 8 * 8;
}

static inline const struct txn_twopc_item *
txn_twopc_first(const struct txn_twopc_head *h)
{
	return (const struct txn_twopc_item *)(const void *)(h + 1);
}

static inline const struct txn_twopc_item *
txn_twopc_next(const struct txn_twopc_item *i)
{
	return (const struct txn_twopc_item *)(const void *)((const char *)i + txn_twopc_item_bytes(i->len));
}

/* True if a message of len bytes (aligned to 8) is one. */
bool txn_twopc_judge(const void *bytes, uint32_t len);

#endif
