/*
 * copies.h -- which storage nodes will have copies of a cluster's log, and which one's database is
 * the cluster's (wal_format.h, W11).
 *
 * A copy that is there by itself may be an old one: another node may have gone on without it. So
 * all nodes that have a copy of the newest life must be there, or an operator must have said that
 * they are lost for good.
 */
#ifndef NAM_TXN_COPIES_H
#define NAM_TXN_COPIES_H

#include <base/status.h>
#include <wal/remote/wal_msg.h>

#include <stdbool.h>

/* What is known of a storage node before it is part of a cluster. */
struct txn_copy_seen {
	unsigned region;
	const char *name;
	bool has_log;
	uint32_t lives;       /* the greatest number of a life that its log has given out */
	struct wal_line line; /* of its log */
};

/*
 * seen: in the order of their regions. *region: those that will have copies, the first one's
 * database is the newest, if any has one; 0 = no further one. NAM_REFUSED: err says what to do.
 */
nam_status txn_copies_choose(
    const struct txn_copy_seen *seen, unsigned n, uint64_t region[WAL_COPIES], struct nam_err *err);
/* What the manifests of the next life say. was: the line of the first copy; number: the
 * cluster's. */
struct wal_copies txn_copies_next(
    const struct wal_line *was, uint64_t number, const unsigned *region, unsigned copies);

#endif
