/* reclaim.h -- what reclaim.c (the steps of a sweep) and look.c (its looking) share. No other file
 * includes it. */
#ifndef NAM_TXN_RECLAIM_H
#define NAM_TXN_RECLAIM_H

#include "txn_internal.h"

enum { TXN_UNIT = 64, TXN_UNIT_WORDS = NET_EXTENT / TXN_UNIT / 64 };

/* A block of an earlier generation that lists no version. */
struct txn_empty {
	uint64_t at, word, hash;
	uint32_t entries; /* of the index, that lead here */
};

struct txn_found {
	struct txn_empty *empty;
	struct txn_junk *junk; /* what the collector is to do */
	uint32_t empties, empty_cap, junks, junk_cap;
};

/* One sweep's look at its table. Its leader is the worker that sweeps; other workers of the process
 * may take part. */
struct txn_look {
	struct txn_table_view *v;
	uint64_t generation; /* memory of earlier generations is old */
	uint64_t *extent;    /* of blocks, newest first */
	uint32_t extents, extent_cap;
	uint64_t *old; /* extents of archives and blobs, rising; used: a bit for each unit in use of
		        * each extent */
	uint32_t nold, old_cap;
	_Atomic uint64_t (*used)[TXN_UNIT_WORDS]; /* a  relaxed, until all have come to their
						   * ends */
	_Atomic uint32_t next;                    /* of extent[], the first that no worker has begun
						   * with */
	_Atomic uint64_t horizon;                 /* the youngest snapshot at which an extent was
						   * looked at */
	_Atomic int status;                       /* the first status that was not NAM_OK: all
						   * stop */
	atomic_bool doubt;                        /* an extent's horizon may still be WRITTEN */
	atomic_flag adding;
	struct txn_found found; /* added by workers that have finished; under `adding` */
};

/* Looks at all blocks, and asks the index about the empty ones. t: its pin moves. In a
 * coroutine. */
nam_status txn_look_at_all(struct txn *t, struct txn_look *l);
/* If another worker of this process is looking at a large table, takes part in it. In a
 * coroutine. */
void txn_look_along(struct txn_worker *tw);
void txn_look_free(struct txn_look *l);
/* Takes a younger pin in place of this one. The process stays pinned in between, so that it does
 * not become idle. */
nam_status txn_pin_move(struct txn_worker *tw, struct tso_pin *pin);

#endif
