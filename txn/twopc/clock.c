/*
 * clock.c -- commit ids and snapshots, local to the transaction manager's machine: a counter, and
 * a ring of those that have ended; what the paper's bit vector is to its clients.
 *
 * C1  A CID is given out once. Slot (cid mod SLOTS) holds it when its transaction has ended.
 * C2  The snapshot rises by one where the next slot holds the next CID, so all below it have
 * ended.
 * C3  A CID is given out only if it is less than SLOTS above the snapshot: a slot is free by then.
 */
#include "twopc_internal.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 1 << 18 };

struct txn_twopc_clock {
	_Alignas(64) _Atomic uint64_t next;
	_Alignas(64) _Atomic uint64_t snapshot;
	_Alignas(64) _Atomic uint64_t ended[SLOTS];
};

nam_status
txn_twopc_clock_open(struct txn_twopc_clock **out)
{
	struct txn_twopc_clock *c = aligned_alloc(64, sizeof *c);
	if (c == NULL)
		return NAM_NOMEM;
	memset(c, 0, sizeof *c);
	atomic_store(&c->next, TXN_TWOPC_LOADED + 1);
	atomic_store(&c->snapshot, TXN_TWOPC_LOADED);
	*out = c;
	return NAM_OK;
}

void
txn_twopc_clock_close(struct txn_twopc_clock *c)
{
	free(c);
}

uint64_t
txn_twopc_clock_take(struct txn_twopc_clock *c)
{
	uint64_t cid = atomic_load(&c->next);
	do {
		if (cid - atomic_load(&c->snapshot) >= SLOTS)
			return 0;
	} while (!atomic_compare_exchange_weak(&c->next, &cid, cid + 1));
	return cid;
}

void
txn_twopc_clock_done(struct txn_twopc_clock *c, uint64_t cid)
{
	atomic_store(&c->ended[cid % SLOTS], cid);
	uint64_t s = atomic_load(&c->snapshot);
	while (atomic_load(&c->ended[(s + 1) % SLOTS]) == s + 1)
		/* if it fails, another thread moved it, and s says where to */
		if (atomic_compare_exchange_strong(&c->snapshot, &s, s + 1))
			s++;
}

uint64_t
txn_twopc_clock_snapshot(const struct txn_twopc_clock *c)
{
	return atomic_load(&c->snapshot);
}
