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

/*
 * A table in parts, for several that scan it side by side: at[0..*n), in memory of malloc. Part i
 * begins at at[i] and ends before at[i - 1]; part 0 at the end of the chain. All rows that t shows
 * lie in them. NAM_BUSY: another scan was looking; ask again.
 */
nam_status cat_parts(
    struct cat *c, struct txn *t, const struct cat_table *tab, unsigned most, uint64_t **at, unsigned *n);
/* A scan of parts: cat_scan_next gives the rows of the part that cat_scan_part has chosen. raw: it
 * neither uses nor makes pages. */
nam_status cat_scan_open_parts(struct cat *c, struct txn *t, const struct cat_table *tab,
    const uint16_t *want, unsigned wants, bool raw, struct cat_scan **out);
void cat_scan_part(struct cat_scan *s, uint64_t from, uint64_t stop);
/* True if it neither uses nor makes pages. */
bool cat_scan_is_raw(const struct cat_scan *s);

/* How much memory pages may take; 0 = no page is kept. At first, and by default: a quarter of the
 * machine's, CAT_PAGES_BYTES at least, in whole MB. */
#define CAT_PAGES_BYTES ((size_t)256 << 20)
size_t cat_pages_default(void);
void cat_pages_limit(struct cat *c, size_t bytes);
size_t cat_pages_limited(struct cat *c);

#endif
