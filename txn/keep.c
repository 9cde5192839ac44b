/* keep.c -- a row found by a scan outlives the scan's next step. */
#include "txn_internal.h"

nam_status
txn_row_keep(const struct txn_table *table, struct txn_row *row, struct nam_arena *arena)
{
	const char *block = row->block, *bytes = row->bytes;
	if (block != NULL) {
		size_t size = table->view->block_bytes;
		if ((row->block = nam_arena_copy(arena, block, size)) == NULL)
			return NAM_NOMEM;
		if (bytes >= block && bytes + row->len <= block + size) {
			row->bytes = (const char *)row->block + (bytes - block);
			return NAM_OK;
		}
	}
	row->bytes = nam_arena_copy(arena, bytes, row->len);
	return row->bytes != NULL ? NAM_OK : NAM_NOMEM;
}
