/* agg_state.h -- what aggregates keep of a group in its SQL_AGG_BYTES. Only the files agg*.c
 * include it. */
#ifndef NAM_SQL_AGG_STATE_H
#define NAM_SQL_AGG_STATE_H

#include <sql/expr/functions.h>
#include <types/interval.h>
#include <types/numeric.h>

/* count; sum(int4); sum and avg of float8. int8, numeric and the averages of integers: struct
 * cat_num_sum. */
struct sql_tally {
	int64_t n;
	union {
		int64_t i;
		double f;
	};
};

/* sum and avg of intervals */
struct sql_spans {
	int64_t n;
	struct cat_interval sum;
};

/* min, max */
struct sql_best {
	uint64_t seen;
	union {
		int64_t i;
		double f;
		char *p; /* in the state arena, with room for `room` bytes */
	};
	uint32_t len, room;
};

/* bool_*, bit_* */
struct sql_bits {
	uint64_t seen;
	int64_t i;
};

/* Variance of exact numbers: both sums, in the state arena. */
struct sql_sums {
	struct cat_num_sum x, xx;
};

_Static_assert(sizeof(struct sql_tally) <= SQL_AGG_BYTES, "fits");
_Static_assert(sizeof(struct sql_spans) <= SQL_AGG_BYTES, "fits");
_Static_assert(sizeof(struct sql_best) <= SQL_AGG_BYTES, "fits");

/* min, max of text: b takes the value if it is better. (agg.c) */
bool sql_better_str(enum cat_type type, struct sql_best *b, struct cat_str s, int sign,
    struct nam_arena *arena, struct cat_err *err);
bool sql_float_less(double x, double y);

#endif
