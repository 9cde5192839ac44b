/*
 * table.h -- a compact table of one partition's tuples, in the order of their buckets.
 *
 *   off    | 0 | 2 | 2 | 5 | ...        bucket b holds tuples off[b] .. off[b + 1]
 *   tuples | t t | t t t | ...          copies, one bucket behind the other
 *
 * Two passes over the tuples make it: count, then place. Tuples with one key are neighbours, so
 * many of them cost no more than as many pairs. The memory is kept for the next table.
 */
#ifndef NAM_OLAP_TABLE_H
#define NAM_OLAP_TABLE_H

#include <olap/job.h>

/* Memory that grows to what was ever wanted of it. */
struct olap_area {
	char *at;
	size_t size;
};
/* The participant's areas share one limit. */
struct olap_memory {
	size_t used, limit;
};
nam_status olap_area_need(struct olap_area *a, struct olap_memory *m, size_t bytes);
void olap_area_free(struct olap_area *a);

/* Tuples in a row. */
struct olap_piece {
	const char *at;
	uint32_t n;
};

struct olap_table {
	uint32_t n, width, mask;
	unsigned shift;
	char *tuples;
	uint32_t *off;
	uint8_t *seen; /* which tuples have met a partner; NULL = not wanted */
	struct olap_area area[3];
};
/* hashed: so many first bits of the hash are the same in all tuples. */
nam_status olap_table_make(struct olap_table *t, struct olap_memory *m, const struct olap_piece *piece,
    unsigned pieces, uint32_t width, unsigned hashed, bool seen);
void olap_table_free(struct olap_table *t);

static inline uint32_t
olap_bucket(const struct olap_table *t, uint64_t key)
{
	return (uint32_t)(olap_hash(key) >> t->shift) & t->mask;
}

/*
 * A local radix pass: tuples go to `out`, in the order of the `bits` bits of their hashes behind
 * the first `hashed` ones. Partition i lies from start[i] to start[i + 1], counted in tuples.
 */
enum { OLAP_LOCAL_BITS = 10 };
nam_status olap_local_pass(struct olap_area *out, struct olap_memory *m, const struct olap_piece *piece,
    unsigned pieces, uint32_t width, unsigned hashed, unsigned bits, uint32_t *start);

#endif
