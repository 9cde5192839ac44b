/* restore.h -- a new cluster gets the database that its log has. */
#ifndef NAM_CATALOG_RESTORE_H
#define NAM_CATALOG_RESTORE_H

#include <catalog/catalog.h>

struct cat_restored {
	uint64_t records, tables, rows;
};

/*
 * Puts what the published life of the log has into the cluster: definitions, rows, long values,
 * sequences. Everything gets new addresses. The caller is the cluster's restorer (txn_life), c has
 * just been opened, and no other process uses the cluster. What a restorer before it has left is
 * taken away first. told(arg, text, done, all): progress, now and then. NAM_CORRUPT: the log
 * contradicts itself; NAM_FULL: the storage nodes have less memory than the database needs. In a
 * coroutine.
 */
nam_status cat_restore(struct cat *c, struct txn_worker *tw,
    void (*told)(void *arg, const char *what, uint64_t done, uint64_t all), void *arg,
    struct cat_restored *out, struct nam_err *err);

#endif
