/* array.c -- the peer that does nothing but find a key in order: a binary search in an array. */
#include "peers.h"

#include <base/clock.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, ROUND = 4096 };

struct ycsb_array {
	uint64_t n, *key, *value;
	size_t bytes; /* of each */
};

/* As storage_node/region.c takes the memory of an embedded node. */
static void *
take(size_t bytes)
{
	char *wide = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (wide == MAP_FAILED)
		return NULL;
	char *at = (char *)(((uintptr_t)wide + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	if (at > wide)
		munmap(wide, (size_t)(at - wide));
	if (wide + HUGE_PAGE > at)
		munmap(at + bytes, (size_t)(wide + HUGE_PAGE - at));
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

nam_status
bench_array_open(struct ycsb_array **out, const struct ycsb_keys *keys, struct nam_err *err)
{
	struct ycsb_array *a = calloc(1, sizeof *a);
	if (a != NULL) {
		a->n = keys->n;
		a->bytes = (keys->n * 8 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
		a->key = take(a->bytes);
		a->value = take(a->bytes);
	}
	if (a == NULL || a->key == NULL || a->value == NULL) {
		bench_array_close(a);
		return nam_fail(
		    err, NAM_NOMEM, "no memory for an array of %llu keys", (unsigned long long)keys->n);
	}
	for (uint64_t i = 0; i < a->n; i++) {
		a->key[i] = bench_keys_at(keys, i);
		bench_value_fill(&a->value[i], 8, a->key[i], 0);
	}
	*out = a;
	return NAM_OK;
}

void
bench_array_close(struct ycsb_array *a)
{
	if (a == NULL)
		return;
	if (a->key != NULL)
		munmap(a->key, a->bytes);
	if (a->value != NULL)
		munmap(a->value, a->bytes);
	free(a);
}

/* One step: of n keys at `base` the upper part if its first is not above the key. A product instead
 * of a choice, so that no compiler makes a branch of it. */
static inline const uint64_t *
halve(const uint64_t *base, uint64_t n, uint64_t key)
{
	uint64_t half = n / 2, next = (n - half) / 2;
	__builtin_prefetch(base + next);
	__builtin_prefetch(base + half + next);
	return base + (base[half] <= key) * half;
}

uint64_t
bench_array_find(const struct ycsb_array *a, uint64_t key)
{
	const uint64_t *base = a->key;
	for (uint64_t n = a->n; n > 1; n -= n / 2)
		base = halve(base, n, key);
	return *base == key ? (uint64_t)(base - a->key) : a->n;
}

void
bench_array_find_lanes(const struct ycsb_array *a, const uint64_t *key, uint64_t *at)
{
	const uint64_t *base[YCSB_LANES];
	for (unsigned k = 0; k < YCSB_LANES; k++)
		base[k] = a->key;
	for (uint64_t n = a->n; n > 1; n -= n / 2)
		for (unsigned k = 0; k < YCSB_LANES; k++)
			base[k] = halve(base[k], n, key[k]);
	for (unsigned k = 0; k < YCSB_LANES; k++)
		__builtin_prefetch(a->value + (base[k] - a->key));
	for (unsigned k = 0; k < YCSB_LANES; k++)
		at[k] = *base[k] == key[k] ? (uint64_t)(base[k] - a->key) : a->n;
}

struct runner {
	const struct ycsb_array *a;
	const struct ycsb_steps *steps;
	double seconds, per_s;
	bool lanes;
	uint64_t bad;
	pthread_t thread;
	bool started;
};

static inline uint64_t
judge(const struct ycsb_array *a, uint64_t at, uint64_t key)
{
	return at == a->n || !bench_value_good(&a->value[at], 8, key);
}

static void *
run(void *arg)
{
	struct runner *r = arg;
	const struct ycsb_steps *s = r->steps;
	uint64_t began = nam_clock_ns(), now = began, end = began + (uint64_t)(r->seconds * 1e9), n = 0;
	unsigned i = 0;
	while (now < end) {
		for (unsigned k = 0; k < ROUND; k += YCSB_LANES, n += YCSB_LANES) {
			uint64_t key[YCSB_LANES], at[YCSB_LANES];
			for (unsigned l = 0; l < YCSB_LANES; l++) {
				key[l] = s->step[i].at;
				i = i + 1 < s->n ? i + 1 : 0;
			}
			if (r->lanes)
				bench_array_find_lanes(r->a, key, at);
			for (unsigned l = 0; l < YCSB_LANES; l++) {
				if (!r->lanes)
					at[l] = bench_array_find(r->a, key[l]);
				r->bad += judge(r->a, at[l], key[l]);
			}
		}
		now = nam_clock_ns();
	}
	r->per_s = (double)n / ((double)(now - began) / 1e9);
	return NULL;
}

double
bench_array_run(const struct ycsb_array *a, const struct ycsb_steps *steps, unsigned threads, double seconds,
    bool interleaved, uint64_t *bad)
{
	struct runner *all = calloc(threads, sizeof *all);
	double sum = 0;
	for (unsigned t = 0; all != NULL && t < threads; t++) {
		all[t] =
		    (struct runner){ .a = a, .steps = &steps[t], .seconds = seconds, .lanes = interleaved };
		all[t].started = pthread_create(&all[t].thread, NULL, run, &all[t]) == 0;
	}
	for (unsigned t = 0; all != NULL && t < threads; t++) {
		if (all[t].started)
			pthread_join(all[t].thread, NULL);
		*bad += all[t].bad + !all[t].started;
		sum += all[t].per_s;
	}
	*bad += all == NULL;
	free(all);
	return sum;
}
