/* seen.c -- row counts that scans and bulk changes of this process brought to light: one word per
 * table, no lock. */
#include <catalog/catalog_internal.h>

enum { ROW_BITS = 40, UNKNOWN_ROWS = 1000 };
static const uint64_t ROW_MASK = (UINT64_C(1) << ROW_BITS) - 1;

/* The word of a table, 0 while nothing is known of it. */
static uint64_t
word_of(struct cat *c, uint32_t id)
{
	uint64_t w = atomic_load_explicit(&c->seen[id % CAT_SEEN], memory_order_relaxed);
	return w >> ROW_BITS == (id & 0xffffff) ? w : 0;
}

bool
cat_rows_seen(struct cat *c, const struct cat_table *table, double *rows)
{
	uint64_t w = word_of(c, table->store.id);
	*rows = (double)(w & ROW_MASK);
	return w != 0;
}

void
cat_rows_saw(struct cat *c, uint32_t table_id, uint64_t rows)
{
	uint64_t w = word_of(c, table_id), was = w ? w & ROW_MASK : UNKNOWN_ROWS;
	rows = rows < ROW_MASK ? rows : ROW_MASK;
	if (w != 0 && rows == was)
		return;
	atomic_store_explicit(&c->seen[table_id % CAT_SEEN],
	    (uint64_t)(table_id & 0xffffff) << ROW_BITS | rows, memory_order_relaxed);
	if (rows / 8 > was + UNKNOWN_ROWS || was / 8 > rows + UNKNOWN_ROWS)
		atomic_fetch_add_explicit(&c->drift, 1, memory_order_relaxed);
}

void
cat_rows_moved(struct cat *c, const struct cat_table *table, int64_t by)
{
	double rows;
	if (!cat_rows_seen(c, table, &rows))
		rows = table->analyzed ? table->rows : UNKNOWN_ROWS;
	rows += (double)by;
	cat_rows_saw(c, table->store.id, rows > 0 ? (uint64_t)rows : 0);
}

uint64_t
cat_drift(struct cat *c)
{
	return atomic_load_explicit(&c->drift, memory_order_relaxed);
}
