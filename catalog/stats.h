/*
 * stats.h -- statistics of a column, which ANALYZE makes: kept as a text beside the column's
 * definition, read when a plan asks for them.
 */
#ifndef NAM_CATALOG_STATS_H
#define NAM_CATALOG_STATS_H

#include <types/value.h>

enum {
	CAT_STATS_MCVS = 100,   /* most common values at most */
	CAT_STATS_BOUNDS = 101, /* of a histogram of 100 parts */
	CAT_STATS_BYTES = 64,   /* of a value, longer ones are cut (texts) or left out */
};

struct cat_stats {
	double null_frac;
	double width;    /* average bytes of a value */
	double distinct; /* so many values; < 0: times -1, that share of the rows;
			  * 0 = unknown */
	unsigned mcvs, bounds;
	union cat_val *mcv; /* the most common first */
	double *freq;       /* each value's share of all rows */
	/* Values that divide the rest, NULLs aside, into bounds - 1 parts of equally many rows:
	 * ascending. */
	union cat_val *bound;
};

/* True if a value of this type, cut to its first bytes, keeps its place in the order. */
bool cat_stats_may_cut(enum cat_type type);
/* NULL = no memory. */
char *cat_stats_write(const struct cat_stats *s, enum cat_type type, struct nam_arena *arena);
/* NULL = the text does not come from cat_stats_write for that type, or no memory: then the column
 * has no statistics. */
struct cat_stats *cat_stats_read(const char *text, enum cat_type type, struct nam_arena *arena);

#endif
