/*
 * logged_rows.h -- the newest version of each row of the system tables that a log has, in this
 * process's memory. Of all other rows see newest.h.
 *
 * A row is found by its table and the address of its block. Blocks of a table lie side by side,
 * so a table's addresses are kept by pages of 16 KiB, with a cell for each 64 bytes: rows that
 * come in the order in which they lie find their cells in the cache. However many tables have had
 * a block over time, no two of them share a cell. Rows of a table lie in chunks of their
 * own, in the order in which the log had them.
 *
 * One thread keeps rows.
 */
#ifndef NAM_CATALOG_LOGGED_ROWS_H
#define NAM_CATALOG_LOGGED_ROWS_H

#include <base/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cat_logged_state {
	CAT_LOGGED_LIVE,
	CAT_LOGGED_DELETED,
	CAT_LOGGED_REPLACED, /* a longer version lies elsewhere */
};

struct cat_logged_row {
	uint64_t at; /* where it lay */
	uint64_t cid;
	struct cat_logged_row *next; /* of the same cell */
	uint32_t table;
	uint32_t len, cap;
	uint32_t state; /* enum cat_logged_state */
	_Alignas(8) char bytes[];
};

/* Rows that follow each other in memory. */
struct cat_logged_chunk {
	char *from, *to;
};

struct cat_logged_rows;

struct cat_logged_rows *cat_logged_rows_open(void); /* NULL: no memory */
void cat_logged_rows_close(struct cat_logged_rows *l);
/* A version of a row: it is kept if no later one was. bytes NULL: the row was deleted, and len
 * is 0. NAM_NOMEM. */
nam_status cat_logged_rows_keep(
    struct cat_logged_rows *l, uint32_t table, uint64_t at, uint64_t cid, const void *bytes, uint32_t len);
/* Live rows: of a table, of all. */
uint64_t cat_logged_rows_live(const struct cat_logged_rows *l, uint32_t table);
uint64_t cat_logged_rows_all(const struct cat_logged_rows *l);
/* The chunks of a table; borrowed. NULL = none. */
const struct cat_logged_chunk *cat_logged_rows_chunks(
    const struct cat_logged_rows *l, uint32_t table, size_t *n);
/* The first live row from *at on, and *at becomes the place behind it; NULL: none. *at begins as
 * chunk->from. */
const struct cat_logged_row *cat_logged_rows_next(const struct cat_logged_chunk *chunk, char **at);

#endif
