/*
 * pages.h -- scans that remember: the columns of a table as they were decoded, some thousand rows
 * to a page.
 *
 * A page belongs to a stretch of a table's chain of extents and holds the columns that scans have
 * asked for. It is used for a snapshot once txn has said which of its blocks may show something
 * else by now (txn_scan_differ); their rows are read anew and come after the page's. For the
 * snapshot it was last compared at, nothing need be compared. One memory for all workers of the
 * process.
 */
#ifndef NAM_CATALOG_PAGES_H
#define NAM_CATALOG_PAGES_H

#include <catalog/catalog.h>

struct cat_scan;

/* Reads the columns want[0..wants) of every row of tab that t sees. want is borrowed until the scan
 * is closed. */
nam_status cat_scan_open(struct cat *c, struct txn *t, const struct cat_table *tab, const uint16_t *want,
    unsigned wants, struct cat_scan **out);
/*
 * The next rows: *n of them in the vectors col[0..wants), which are not to be written to; of these,
 * *kept count: *sel[0..), NULL: all. *n == 0: the end. Valid until the next call; arena (reset by
 * the caller) may hold some of it.
 */
nam_status cat_scan_next(struct cat_scan *s, struct cat_vec *col, unsigned *n, const uint16_t **sel,
    unsigned *kept, struct nam_arena *arena);
void cat_scan_close(struct cat_scan *s);

/* How much memory pages may take: 0: none are kept. */
#define CAT_PAGES_BYTES ((size_t)256 << 20)
void cat_pages_limit(struct cat *c, size_t bytes);
size_t cat_pages_limited(struct cat *c);

#endif
