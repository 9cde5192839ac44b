/*
 * row_format.h -- a row's bytes, as they lie in a slot of a record block.
 *
 *   byte 0            nulls             fixed                       len
 *        +-----------------+-----------------------+- - - - - - - - - +
 *        | null bitmap     | one cell per column   | variable bytes   |
 *        | bit k: column k | at column.offset      | in column order  |
 *        +-----------------+-----------------------+- - - - - - - - - +
 *
 *   Bit number `first` of the bitmap says that the row goes on: places that ALTER TABLE added to
 *   the table follow.
 *
 *        first_fixed                                                   fixed (of that row)
 *        +--------+- - - - - - - - - - - - - - - - - - - - - - - - - - - - - +
 *        | places | is it NULL? 1 byte | cell | is it NULL? | cell | ...     |
 *        +--------+- - - - - - - - - - - - - - - - - - - - - - - - - - - - - +
 *
 *   A row has the places that the table had when the row was written. For a place that the row
 *   lacks, a column shows its `missing`. Places of dropped columns stay; rows written since have
 *   NULL there: a statement that began before the DROP, and locks such a row, still reads it by the
 *   definition that has the column. Its commit fails.
 *
 *   cell of BOOL 1 byte, INT2 2, INT4 FLOAT4 4, INT8 FLOAT8 DATE TIME and timestamps 8,
 *   little-endian, not aligned; of TEXT, NUMERIC and every other str 8:
 *
 *        | where: 32, from byte 0 of the row | how long: 31 | spilled: 1 (top bit) |
 *
 *   A value that is not spilled lies at `where`. A spilled one is a blob; at
 *   `where` lies struct txn_blob (16 bytes), and, when the column belongs to the
 *   primary key, the SHA-256 of the value as the key encodes it (32 bytes more),
 *   so that a key can be compared with a row without reading the blob.
 *
 * A key, as cat_key_encode makes it and txn hashes it: per key column 8 bytes (numbers; -0.0 as
 * 0.0, any NaN as one), or 32-bit length and bytes (TEXT; NUMERIC without trailing zeros of its
 * fraction, so 1.0 and 1.00 are one key; BPCHAR without trailing spaces; an INTERVAL's length as an
 * int128).
 *
 * Always true
 *   C1  Where a place's cell lies depends on the table only: any column of any row is O(1) away.
 *   C2  where >= first_fixed and where + length <= length of the row. Any other row is corrupt.
 *   C3  The cell of a NULL is zeros.
 *   C4  A row never needs more than store.row_max bytes: what does not fit is spilled, the longest
 *       first, key columns last.
 */
#ifndef NAM_CATALOG_ROW_FORMAT_H
#define NAM_CATALOG_ROW_FORMAT_H

#include <stdint.h>

#define CAT_SPILLED (UINT32_C(1) << 31)

enum {
	CAT_CELL_VAR = 8,
	CAT_DIGEST = 32,
	CAT_SPILL = 16,                         /* bytes of a spilled value that stay in the row */
	CAT_SPILL_KEY = CAT_SPILL + CAT_DIGEST, /* ... of a key column */
	CAT_INLINE_TEXT = 24,                   /* room for a value of unknown length */
	CAT_INLINE_MAX = 1024,                  /* room for varchar(n) at most */
	CAT_MORE = 2,                           /* bytes of `places` */
	CAT_ROW_MIN = 16,
	CAT_ROW_USUAL = 8000, /* room of a row at most, unless all its values spilled need more */
};

/* One cell of a variable value. */
struct cat_cell {
	uint32_t where;
	uint32_t len; /* CAT_SPILLED | bytes */
};
_Static_assert(sizeof(struct cat_cell) == CAT_CELL_VAR, "a cell is row format");

#endif
