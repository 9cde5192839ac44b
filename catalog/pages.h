/*
 * pages.h -- decoded columns of tables, kept between scans: some thousand rows to a page.
 *
 * A page belongs to a stretch of a table's chain of extents and holds the columns that scans have
 * asked for. Before a scan uses a page, txn_scan_differ names the blocks that may differ from it at
 * the scan's snapshot; the rows of those blocks are read again and come after the page's. If the
 * page was last compared at that very snapshot, the scan uses it without a comparison. All workers
 * of the process share the pages.
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
 * The next rows: *n of them in the vectors col[0..wants), which the caller must not write to. The
 * scan shows *kept of them: (*sel)[0..*kept); *sel NULL = all of them. *n == 0: the end. Valid
 * until the next call; arena (reset by the caller) may hold some of it.
 */
nam_status cat_scan_next(struct cat_scan *s, struct cat_vec *col, unsigned *n, const uint16_t **sel,
    unsigned *kept, struct nam_arena *arena);
void cat_scan_close(struct cat_scan *s);

/* How much memory pages may take; 0 = no page is kept. */
#define CAT_PAGES_BYTES ((size_t)256 << 20)
void cat_pages_limit(struct cat *c, size_t bytes);
size_t cat_pages_limited(struct cat *c);

#endif
