/*
 * cut.h -- what of a log, up to an end, is a log of its own (logged_format.h, J10). For a backup,
 * which ends where the log ended when it began, and for a restore up to a moment.
 *
 * All records before the end are kept as they are, with their positions. Behind them come those
 * records from behind the end which undo an attempt that has a record before it: without them the
 * attempt would count (J2). A body that the end splits lacks its last part, so it does not count
 * either.
 *
 * Two passes: txn_cut_look for each record, in order, from the log's begin if the end is to be
 * found, else from the end; then txn_cut_take for each record before the end, in order; then
 * txn_cut_undone. Knows no files and no wire. One thread.
 */
#ifndef NAM_TXN_CUT_H
#define NAM_TXN_CUT_H

#include <base/status.h>
#include <txn/logged_format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TXN_CUT_NO_END UINT64_MAX

struct txn_cut_name {
	struct txn_logged record; /* which undoes it */
	bool before;              /* it has a record before the end */
};

struct txn_cut {
	uint64_t whole; /* position: no end lies before it (wal_format.h, W8), nor before the log's
			 * second record: at least one is kept */
	uint64_t end;   /* position; TXN_CUT_NO_END: the end of the log, or not found yet */
	bool search;
	int64_t until;    /* the end is the first commit that is later */
	int64_t earliest; /* the greatest time before `whole`: the least that `until` can be */
	int64_t latest;   /* the greatest time before the end */
	bool timeless;    /* a commit before the end has no time: of an older program */
	struct txn_cut_name *name;
	size_t names, cap;
	uint64_t looked;  /* records that txn_cut_look has been given */
	uint64_t records; /* likewise txn_cut_take */
};

/* The end is known. */
void txn_cut_at(struct txn_cut *c, uint64_t end);
/* The end lies before the first commit behind `whole` whose time is greater than `until`. */
void txn_cut_until(struct txn_cut *c, uint64_t whole, int64_t until);
void txn_cut_fini(struct txn_cut *c);

/* A record, without struct wal_record_head, and its position. NAM_CORRUPT: it is none of a
 * cluster; NAM_NOMEM. */
nam_status txn_cut_look(struct txn_cut *c, uint64_t position, const void *bytes, uint32_t len);
/* The log has been looked at. False: `until` is earlier than c->earliest, the least that can be. */
bool txn_cut_found(struct txn_cut *c);
/* A record before the end: it is kept. NAM_CORRUPT. */
nam_status txn_cut_take(struct txn_cut *c, const void *bytes, uint32_t len);
/* The next record that is to follow, from *i = 0 on; NULL: there is no more. */
const struct txn_logged *txn_cut_undone(const struct txn_cut *c, size_t *i);

#endif
