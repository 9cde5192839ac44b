/* ptrs_test.c -- the remote-pointer cache: what it keeps, what it loses, and concurrent threads. */
#include <base/hash.h>
#include <index/index.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The block of a key, so that a reader can detect a wrong one. */
static net_addr
block_of(uint64_t key)
{
	return net_at(1 + (unsigned)(key % 63), (key * 64) & ((UINT64_C(1) << 40) - 1));
}

static void
keeps_what_was_put(void **state)
{
	(void)state;
	struct idx_ptrs *c = idx_ptrs_open(1 << 16, 0);
	net_addr block;
	uint8_t hint;
	unsigned kept = 0;
	assert_non_null(c);
	assert_false(idx_ptrs_get(c, nam_mix(1), &block, &hint));
	assert_false(idx_ptrs_get(c, 0, &block, &hint));
	for (uint64_t k = 1; k <= 1 << 15; k++) {
		idx_ptrs_put(c, nam_mix(k), block_of(k), (uint8_t)(k % 16));
		assert_true(idx_ptrs_get(c, nam_mix(k), &block, &hint));
		assert_int_equal(block.bits, block_of(k).bits);
		assert_int_equal(hint, (uint8_t)(k % 16));
	}
	for (uint64_t k = 1; k <= 1 << 15; k++) {
		if (idx_ptrs_get(c, nam_mix(k), &block, &hint)) {
			assert_int_equal(block.bits, block_of(k).bits);
			kept++;
		}
	}
	assert_true(kept > (1 << 15) * 97 / 100); /* half full, eight ways */

	/* A new block replaces the old; a dropped one is gone; extreme values come back as they
	 * went in. */
	idx_ptrs_put(c, nam_mix(7), block_of(8), 9);
	assert_true(idx_ptrs_get(c, nam_mix(7), &block, &hint));
	assert_int_equal(block.bits, block_of(8).bits);
	assert_int_equal(hint, 9);
	idx_ptrs_drop(c, nam_mix(7));
	assert_false(idx_ptrs_get(c, nam_mix(7), &block, &hint));
	net_addr last = net_at(63, (UINT64_C(1) << 40) - 64);
	idx_ptrs_put(c, UINT64_MAX, last, 15);
	assert_true(idx_ptrs_get(c, UINT64_MAX, &block, &hint));
	assert_int_equal(block.bits, last.bits);
	assert_int_equal(hint, 15);
	idx_ptrs_put(c, 0, net_at(1, 0), 0);
	assert_true(idx_ptrs_get(c, 0, &block, &hint));
	assert_int_equal(block.bits, net_at(1, 0).bits);
	/* In a cluster of many nodes a region has more bits, and an offset fewer. */
	struct idx_ptrs *many = idx_ptrs_open(1 << 10, 1000);
	for (unsigned region = 1; region <= 1000; region += 37) {
		last = net_at(region, idx_region_bytes(1000) - 64);
		idx_ptrs_put(many, nam_mix(region), last, 15);
		assert_true(idx_ptrs_get(many, nam_mix(region), &block, &hint));
		assert_int_equal(block.bits, last.bits);
		assert_int_equal(hint, 15);
	}
	idx_ptrs_close(many);
	/* A region that the cluster does not have is not kept either. */
	idx_ptrs_put(c, nam_mix(11), net_at(64, 0), 1);
	if (idx_ptrs_get(c, nam_mix(11), &block, &hint))
		assert_int_equal(block.bits, block_of(11).bits);
	/* An address beyond the range of a word: not kept, and no other way is changed. */
	idx_ptrs_put(c, nam_mix(9), net_at(1, UINT64_C(1) << 40), 1);
	if (idx_ptrs_get(c, nam_mix(9), &block, &hint))
		assert_int_equal(block.bits, block_of(9).bits);
	idx_ptrs_close(c);
	idx_ptrs_close(NULL);
	assert_null(idx_ptrs_open(SIZE_MAX, 0));
}

enum { THREADS = 4, ROUNDS = 200000, KEYS = 64 };
static atomic_uint lies, found;

/* Few ways, many keys, all threads put, drop and get: each block found must be the key's. */
static void *
quarrel(void *arg)
{
	struct idx_ptrs *c = arg;
	struct nam_rng rng;
	nam_rng_init(&rng, (uintptr_t)&rng);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t k = 1 + nam_rng_below(&rng, KEYS);
		net_addr block;
		uint8_t hint;
		switch (nam_rng_below(&rng, 8)) {
		case 0:
			idx_ptrs_drop(c, nam_mix(k));
			break;
		case 1:
		case 2:
			idx_ptrs_put(c, nam_mix(k), block_of(k), (uint8_t)(k % 16));
			break;
		default:
			if (!idx_ptrs_get(c, nam_mix(k), &block, &hint))
				break;
			atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
			if (block.bits != block_of(k).bits || hint != (uint8_t)(k % 16))
				atomic_fetch_add_explicit(&lies, 1, memory_order_relaxed);
		}
	}
	return NULL;
}

static void
threads_meet_no_lies(void **state)
{
	(void)state;
	struct idx_ptrs *c = idx_ptrs_open(8, 0);
	pthread_t t[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, quarrel, c), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(lies, 0);
	assert_true(found > 1000);
	idx_ptrs_close(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_was_put),
		cmocka_unit_test(threads_meet_no_lies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
