/* restore.h -- a new cluster gets the database that its log has. */
#ifndef NAM_CATALOG_RESTORE_H
#define NAM_CATALOG_RESTORE_H

#include <catalog/catalog.h>

#include <stdatomic.h>

struct cat_restored {
	uint64_t records, tables, rows;
};

enum cat_restoring_part { CAT_RESTORING_LOG, CAT_RESTORING_ROWS };

/* How to go about it; zeros: alone, to the end, without a word. */
struct cat_restoring {
	/* Further workers of this process. start lets fn(tw, call) run in a coroutine of the k-th
	 * of them; false: it cannot. */
	unsigned helpers;
	bool (*start)(void *arg, unsigned k, void (*fn)(struct txn_worker *tw, void *call), void *call);
	void *start_arg;
	/* Progress, now and then: bytes of the log that are read, then rows that are written; on
	 * the caller's thread. */
	void (*told)(void *arg, enum cat_restoring_part part, uint64_t done, uint64_t all);
	void *told_arg;
	const atomic_bool *stop; /* once it is set, NAM_CANCELLED comes soon; NULL = never */
};

/*
 * Puts what the published life of the log has into the cluster: definitions, rows, long values,
 * sequences. Everything gets new addresses. The caller is the cluster's restorer (txn_life), c has
 * just been opened, and no other process uses the cluster. What a restorer before it has left is
 * taken away first. NAM_CORRUPT: the log contradicts itself; NAM_FULL: the storage nodes have less
 * memory than the database needs. In a coroutine.
 */
nam_status cat_restore(struct cat *c, struct txn_worker *tw, const struct cat_restoring *how,
    struct cat_restored *out, struct nam_err *err);

#endif
