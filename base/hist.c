/* hist.c -- log-linear buckets: the power of two picks the row, the next six bits the column. */
#include <base/hist.h>

static unsigned
bucket_of(uint64_t v)
{
	if (v < NAM_HIST_SUB)
		return (unsigned)v;
	unsigned top = 63u - (unsigned)__builtin_clzll(v); /* >= 6 */
	return (top - 5) * NAM_HIST_SUB + (unsigned)((v >> (top - 6)) & (NAM_HIST_SUB - 1));
}

static uint64_t
upper_edge(unsigned b)
{
	if (b < NAM_HIST_SUB)
		return b;
	unsigned top = b / NAM_HIST_SUB + 5;
	uint64_t width = UINT64_C(1) << (top - 6);
	return (UINT64_C(1) << top) + (b % NAM_HIST_SUB) * width + (width - 1);
}

void
nam_hist_add(struct nam_hist *h, uint64_t v)
{
	nam_hist_add_many(h, v, 1);
}

void
nam_hist_add_many(struct nam_hist *h, uint64_t v, uint64_t n)
{
	if (n == 0)
		return;
	h->count += n;
	h->sum += v * n;
	if (v > h->max)
		h->max = v;
	h->bucket[bucket_of(v)] += n;
}

void
nam_hist_merge(struct nam_hist *into, const struct nam_hist *from)
{
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned i = 0; i < NAM_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

void
nam_hist_subtract(struct nam_hist *h, const struct nam_hist *earlier)
{
	h->count -= earlier->count;
	h->sum -= earlier->sum;
	for (unsigned i = 0; i < NAM_HIST_BUCKETS; i++)
		h->bucket[i] -= earlier->bucket[i];
}

uint64_t
nam_hist_quantile(const struct nam_hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->count + 0.9999999), seen = 0;
	if (h->count == 0)
		return 0;
	if (want == 0)
		want = 1;
	for (unsigned i = 0; i < NAM_HIST_BUCKETS; i++)
		if ((seen += h->bucket[i]) >= want)
			return upper_edge(i) < h->max ? upper_edge(i) : h->max;
	return h->max;
}
