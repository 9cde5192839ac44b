/* twopc_internal.h -- a message in the making. */
#ifndef NAM_TXN_TWOPC_INTERNAL_H
#define NAM_TXN_TWOPC_INTERNAL_H

#include <base/assert.h>
#include <txn/twopc/twopc.h>

#include <string.h>

struct txn_twopc_message {
	struct txn_twopc_head head;
	char room[TXN_TWOPC_MESSAGE_MAX - sizeof(struct txn_twopc_head)];
};

void txn_twopc_put_head(
    struct txn_twopc_message *m, enum txn_twopc_kind kind, unsigned from, uint64_t txn, uint64_t ts);
/* False: no room. */
bool txn_twopc_put_item(struct txn_twopc_message *m, uint64_t key, uint64_t cid, uint32_t status,
    const void *record, uint32_t len);
void txn_twopc_send(const struct txn_twopc_wire *w, unsigned to, const struct txn_twopc_message *m);

/* The CID of loaded records; the first that a clock gives out is the next. */
enum { TXN_TWOPC_LOADED = 1 };

#endif
