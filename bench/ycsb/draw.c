/* draw.c -- operations, keys and values of YCSB (draw.h). */
#include "draw.h"

#include <base/hash.h>

#include <math.h>
#include <string.h>

const char *const bench_ycsb_op_names[YCSB_OPS] = { "read", "update", "insert", "scan", "rmw" };
const char *const bench_ycsb_pick_names[YCSB_PICKS] = { "uniform", "zipf", "latest" };
const unsigned bench_ycsb_percent[YCSB_WORKLOADS][YCSB_OPS] = {
	{ [YCSB_READ] = 50, [YCSB_UPDATE] = 50 },
	{ [YCSB_READ] = 95, [YCSB_UPDATE] = 5 },
	{ [YCSB_READ] = 100 },
	{ [YCSB_READ] = 95, [YCSB_INSERT] = 5 },
	{ [YCSB_SCAN] = 95, [YCSB_INSERT] = 5 },
	{ [YCSB_READ] = 50, [YCSB_RMW] = 50 },
};

enum { ZETA_EXACT = 1000 };
#define SCRAMBLED_ITEMS (YCSB_SCRAMBLED_ITEMS_GIGA * UINT64_C(1000000000))

/* ---- zipf ------------------------------------------------------------------------------------ */

/* The first terms one by one, the others by Euler and Maclaurin: an integral, half of both ends,
 * and a term of the first derivatives. What is left out is below 1e-13. */
double
bench_zipf_zeta(uint64_t n, double theta)
{
	double sum = 0;
	uint64_t exact = n < ZETA_EXACT ? n : ZETA_EXACT;
	for (uint64_t i = 1; i <= exact; i++)
		sum += pow((double)i, -theta);
	if (n == exact)
		return sum;
	double a = (double)exact, b = (double)n;
	return sum + (pow(b, 1 - theta) - pow(a, 1 - theta)) / (1 - theta) +
	       (pow(b, -theta) - pow(a, -theta)) / 2 + theta / 12 * (pow(a, -theta - 1) - pow(b, -theta - 1));
}

void
bench_zipf_init(struct ycsb_zipf *z, uint64_t n, double theta)
{
	double two = 1 + pow(0.5, theta);
	*z = (struct ycsb_zipf){ .n = n, .theta = theta, .zeta = bench_zipf_zeta(n, theta) };
	z->alpha = 1 / (1 - theta);
	z->eta = (1 - pow(2.0 / (double)n, 1 - theta)) / (1 - two / z->zeta);
	z->second = two;
}

uint64_t
bench_zipf_next(const struct ycsb_zipf *z, struct nam_rng *r)
{
	double u = (double)(nam_rng_next(r) >> 11) * 0x1p-53, at = u * z->zeta;
	if (at < 1)
		return 0;
	if (at < z->second)
		return 1;
	uint64_t k = (uint64_t)((double)z->n * pow(z->eta * u - z->eta + 1, z->alpha));
	return k < z->n ? k : z->n - 1;
}

/* YCSB's Utils.fnvhash64, without its sign. */
static uint64_t
fnv(uint64_t x)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (unsigned i = 0; i < 8; i++, x >>= 8)
		h = (h ^ (x & 255)) * UINT64_C(1099511628211);
	return (int64_t)h < 0 ? -h : h;
}

uint64_t
bench_zipf_scrambled(const struct ycsb_zipf *z, struct nam_rng *r, uint64_t n)
{
	return fnv(bench_zipf_next(z, r)) % n;
}

/* ---- steps ----------------------------------------------------------------------------------- */

void
bench_draw_init(struct ycsb_drawing *d, const struct ycsb_keys *keys, unsigned workload, enum ycsb_pick pick,
    uint64_t items)
{
	*d = (struct ycsb_drawing){ .keys = keys, .workload = workload, .pick = pick };
	if (pick != YCSB_UNIFORM)
		bench_zipf_init(&d->zipf, pick == YCSB_ZIPF ? SCRAMBLED_ITEMS : items, YCSB_THETA);
}

static uint64_t
draw_key(const struct ycsb_drawing *d, struct nam_rng *r)
{
	switch (d->pick) {
	case YCSB_ZIPF:
		return bench_keys_at(d->keys, bench_zipf_scrambled(&d->zipf, r, d->keys->n));
	case YCSB_LATEST:
		return bench_zipf_next(&d->zipf, r);
	default:
		return bench_keys_at(d->keys, nam_rng_below(r, d->keys->n));
	}
}

void
bench_draw(const struct ycsb_drawing *d, struct nam_rng *r, struct ycsb_step *out, unsigned n)
{
	const unsigned *percent = bench_ycsb_percent[d->workload];
	for (unsigned i = 0; i < n; i++) {
		unsigned dice = (unsigned)nam_rng_below(r, 100), op = 0;
		while (dice >= percent[op])
			dice -= percent[op++];
		out[i] = (struct ycsb_step){ .op = (uint8_t)op };
		if (op != YCSB_INSERT)
			out[i].at = draw_key(d, r);
		if (op == YCSB_SCAN)
			out[i].len = (uint8_t)(1 + nam_rng_below(r, YCSB_SCAN_MAX));
	}
}

/* ---- items ----------------------------------------------------------------------------------- */

void
bench_items_init(struct ycsb_items *s, uint64_t n)
{
	memset(s, 0, sizeof *s);
	atomic_store(&s->next, n);
	atomic_store(&s->there, n);
	atomic_flag_clear(&s->busy);
}

uint64_t
bench_items_take(struct ycsb_items *s)
{
	return atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
}

void
bench_items_done(struct ycsb_items *s, uint64_t item)
{
	atomic_store_explicit(&s->done[item % YCSB_WINDOW], 1, memory_order_release);
	/* A client that finds the flag set leaves its item to the one that set it, or to the
	 * next. */
	if (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire))
		return;
	uint64_t at = atomic_load_explicit(&s->there, memory_order_relaxed);
	while (atomic_load_explicit(&s->done[at % YCSB_WINDOW], memory_order_acquire)) {
		atomic_store_explicit(&s->done[at % YCSB_WINDOW], 0, memory_order_relaxed);
		at++;
	}
	atomic_store_explicit(&s->there, at, memory_order_release);
	atomic_flag_clear_explicit(&s->busy, memory_order_release);
}

uint64_t
bench_items_before(struct ycsb_items *s, uint64_t back)
{
	uint64_t there = atomic_load_explicit(&s->there, memory_order_acquire);
	return back < there ? there - 1 - back : 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t
first_word(uint64_t key, uint32_t version)
{
	return nam_mix(key) << 32 | version;
}

static uint64_t
word_of(uint64_t first, uint32_t i)
{
	return i == 0 ? first : first * UINT64_C(0x9e3779b97f4a7c15) + i;
}

void
bench_value_fill(void *value, uint32_t bytes, uint64_t key, uint32_t version)
{
	uint64_t first = first_word(key, version);
	for (uint32_t i = 0; i < bytes / 8; i++) {
		uint64_t w = word_of(first, i);
		memcpy((char *)value + i * 8, &w, 8);
	}
}

uint32_t
bench_value_version(const void *value)
{
	uint32_t v;
	memcpy(&v, value, 4);
	return v;
}

bool
bench_value_good(const void *value, uint32_t bytes, uint64_t key)
{
	uint64_t first, last;
	memcpy(&first, value, 8);
	memcpy(&last, (const char *)value + bytes - 8, 8);
	return first == first_word(key, (uint32_t)first) && last == word_of(first, bytes / 8 - 1);
}
