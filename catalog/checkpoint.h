/* checkpoint.h -- the database as it is, appended to its log once more, so that the log needs
 * nothing from before (txn/checkpoint.h). */
#ifndef NAM_CATALOG_CHECKPOINT_H
#define NAM_CATALOG_CHECKPOINT_H

#include <catalog/catalog.h>
#include <txn/checkpoint.h>

struct cat_checkpointed {
	unsigned tables;
	struct txn_checkpoint_counts is;
};

/*
 * Makes a checkpoint while transactions run. Tables are read in parts of some MiB, each under a
 * snapshot of its own, which ends when its rows have been received. Errors: those of
 * txn_checkpoint_begin and of the calls that append. An error leaves the log as it was, but for
 * what was appended. In a coroutine.
 */
nam_status cat_checkpoint(struct cat *c, struct txn_worker *tw, const struct txn_checkpoint_limits *limits,
    struct cat_checkpointed *out);

#endif
