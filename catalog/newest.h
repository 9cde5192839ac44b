/*
 * newest.h -- of each row that a log has: which version is the newest one. Its bytes stay in the
 * log.
 *
 * A row is found by its table and the address of its block. Blocks of a table lie side by side, so
 * a table's rows are kept by pages of 64 KiB of addresses: rows that come in the order in which
 * they lie find their page in the cache. However many tables have had a block over time, no two of
 * them share a page. A row takes 10 bytes of a page, which is half full at least once it has grown.
 *
 * One thread notes versions. When all are noted, any number of threads may take rows.
 */
#ifndef NAM_CATALOG_NEWEST_H
#define NAM_CATALOG_NEWEST_H

#include <base/status.h>

#include <stdbool.h>
#include <stdint.h>

struct cat_newest;
struct cat_newest_page;

/* The page that a thread has used last. NULL at first. */
struct cat_newest_near {
	const struct cat_newest_page *page;
};

struct cat_newest *cat_newest_open(void); /* NULL: no memory */
void cat_newest_close(struct cat_newest *n);
/* A version of a row, or that it was deleted: it counts if no later one was noted. NAM_NOMEM;
 * NAM_CORRUPT: no block lies there. */
nam_status cat_newest_note(struct cat_newest *n, uint32_t table, uint64_t at, uint64_t cid, bool deleted);
/* True once of each row that is not deleted: for its newest version, which is the caller's to
 * write. */
bool cat_newest_take(
    const struct cat_newest *n, struct cat_newest_near *near, uint32_t table, uint64_t at, uint64_t cid);
/* Rows that are not deleted: of a table, of all. */
uint64_t cat_newest_live(const struct cat_newest *n, uint32_t table);
uint64_t cat_newest_all(const struct cat_newest *n);

#endif
