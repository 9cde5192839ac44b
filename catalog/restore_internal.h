/* restore_internal.h -- a restore under way. For restore.c and restore_rows.c. */
#ifndef NAM_CATALOG_RESTORE_INTERNAL_H
#define NAM_CATALOG_RESTORE_INTERNAL_H

#include "replay.h"
#include "restore.h"

/* A table or an index, before and after. */
struct moved {
	uint32_t id;
	uint64_t was;   /* its anchor */
	unsigned words; /* of an index's key */
	bool index, left_out;
	struct txn_table store;
	struct txn_order order;
};

struct restore {
	struct cat *c;
	struct txn_worker *tw;
	const struct cat_restoring *how;
	struct cat_replay *log;
	struct moved *moved; /* rising by id */
	size_t n;
	struct cat_restored *out;
	struct nam_err *err;
	uint32_t last_id;
};

nam_status cat_restore_fail(struct nam_err *err, nam_status st, const char *what);
/* What a row's long value was; NULL: the log does not have it. */
const struct cat_logged_value *cat_restore_value(const struct restore *r, const struct txn_blob *b);
/* Writes the rows of all tables, when the catalog has been written. */
nam_status cat_restore_rows(struct restore *r);

#endif
