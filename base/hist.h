/* hist.h -- latency histogram: 64 buckets per power of two, 1.6 % wide. Plain counters: one thread,
 * then merge. */
#ifndef NAM_BASE_HIST_H
#define NAM_BASE_HIST_H

#include <stdint.h>

enum { NAM_HIST_SUB = 64, NAM_HIST_BUCKETS = 59 * NAM_HIST_SUB };
struct nam_hist {
	uint64_t count, sum, max;
	uint64_t bucket[NAM_HIST_BUCKETS];
};

void nam_hist_add(struct nam_hist *h, uint64_t value);
/* The same n times. */
void nam_hist_add_many(struct nam_hist *h, uint64_t value, uint64_t n);
/* earlier: what h was at a time before. The maximum stays that of all. */
void nam_hist_subtract(struct nam_hist *h, const struct nam_hist *earlier);
void nam_hist_merge(struct nam_hist *into, const struct nam_hist *from);
/* Upper edge of the bucket that holds the q-quantile, 0 < q <= 1; 0 when empty. */
uint64_t nam_hist_quantile(const struct nam_hist *h, double q);

#endif
