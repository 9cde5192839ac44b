/* copies.c -- the choice of the copies of a cluster's log (copies.h). */
#include "copies.h"

#include <base/fault.h>

/* Is that life one that the newer one comes from? If it does not remember, it may be a branch. */
static bool
comes_from(const struct wal_line *newer, const struct wal_line *was)
{
	for (unsigned i = 0; i < WAL_FORMERS; i++) {
		const struct wal_former *f = &newer->copies.former[i];
		if (f->life <= was->published)
			return f->life == was->published && f->cluster == was->cluster;
	}
	return false;
}

/* Two nodes have databases. NAM_REFUSED: they are not two copies of one. */
static nam_status
compare(const struct txn_copy_seen *newest, const struct txn_copy_seen *s, struct nam_err *err)
{
	const struct wal_line *a = &newest->line, *b = &s->line;
	if (a->copies.database != b->copies.database)
		return nam_fail(err, NAM_REFUSED,
		    "storage nodes %u (%s) and %u (%s) both have a database in their --data: a cluster has "
		    "one; start one of them with another directory",
		    newest->region, newest->name, s->region, s->name);
	if (a->published == b->published ? a->cluster == b->cluster : comes_from(a, b))
		return NAM_OK;
	return nam_fail(err, NAM_REFUSED,
	    "storage nodes %u (%s) and %u (%s) have copies of one database, and each has gone on without the "
	    "other: start only the one whose changes are to stay, and the other one with an empty directory",
	    newest->region, newest->name, s->region, s->name);
}

/* Is it that member of the newest life, with the directory that it had then? It need not have
 * published the life. An empty directory may stand for one that has gone on since. */
static bool
took_part(const struct txn_copy_seen *s, unsigned region, const struct txn_copy_seen *newest)
{
	return s->has_log && s->region == region &&
	       (s->lives >= newest->line.published || nam_fault(COPIES_EMPTY));
}

/* A copy of the newest life that is not there. */
static nam_status
judge_missing(const struct txn_copy_seen *seen, unsigned n, const struct txn_copy_seen *newest,
    unsigned region, struct nam_err *err)
{
	bool named = false;
	for (unsigned i = 0; i < n; i++) {
		const struct wal_line *l = &seen[i].line;
		bool has = seen[i].has_log && l->published == newest->line.published;
		if (has && wal_ids_have(l->copies.lost, region))
			return NAM_OK;
		named = named || seen[i].region == region;
	}
	return nam_fail(err, NAM_REFUSED,
	    "storage node %u has a copy of the database of node %u (%s), perhaps a newer one, and %s, or, if "
	    "that is lost for good, %ssay so with namdb node lost %u",
	    region, newest->region, newest->name,
	    named ? "was started without it: start it with the --data that it had"
		  : "is not among the nodes named: start it and name it in --storage, too",
	    named ? "end the node and " : "", region);
}

nam_status
txn_copies_choose(
    const struct txn_copy_seen *seen, unsigned n, uint64_t region[WAL_COPIES], struct nam_err *err)
{
	const struct txn_copy_seen *newest = NULL;
	unsigned copies = 0;
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < WAL_COPIES; i++)
		region[i] = 0;
	for (unsigned i = 0; i < n; i++)
		if (seen[i].has_log && seen[i].line.published != 0 &&
		    (newest == NULL || seen[i].line.published > newest->line.published))
			newest = &seen[i];
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (seen[i].has_log && seen[i].line.published != 0 && &seen[i] != newest)
			st = compare(newest, &seen[i], err);
	for (unsigned c = 0; newest != NULL && st == NAM_OK && c < WAL_COPIES; c++) {
		bool there = newest->line.copies.copy[c] == 0;
		for (unsigned i = 0; i < n; i++)
			there |= took_part(&seen[i], newest->line.copies.copy[c], newest);
		if (!there)
			st = judge_missing(seen, n, newest, newest->line.copies.copy[c], err);
	}
	if (st != NAM_OK)
		return st;
	/* First those that have the newest life, then its other members, which may have missed its
	 * publication, then the rest. */
	for (unsigned rank = 0; rank < 3; rank++)
		for (unsigned i = 0; i < n; i++) {
			bool has = newest != NULL && seen[i].line.published == newest->line.published;
			bool member =
			    newest != NULL && wal_ids_have(newest->line.copies.copy, seen[i].region);
			unsigned its = has ? 0 : member ? 1 : 2;
			if (seen[i].has_log && its == rank && copies < WAL_COPIES)
				region[copies++] = seen[i].region;
		}
	return NAM_OK;
}

struct wal_copies
txn_copies_next(const struct wal_line *was, uint64_t number, const unsigned *region, unsigned copies)
{
	struct wal_copies next = { .database = was->published != 0 ? was->copies.database : number };
	for (unsigned i = 0; i < copies; i++)
		next.copy[i] = region[i];
	if (was->published == 0)
		return next;
	next.former[0] = (struct wal_former){ .cluster = was->cluster, .life = (uint32_t)was->published };
	for (unsigned i = 1; i < WAL_FORMERS; i++)
		next.former[i] = was->copies.former[i - 1];
	return next;
}
