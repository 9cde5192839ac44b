/* hash_test.c -- every flipped bit changes the checksum; every byte and the seed count in the
 * hash. */
#include <base/hash.h>
#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
every_byte_counts(void **state)
{
	(void)state;
	unsigned char bytes[300];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)i;
	for (size_t len = 0; len <= sizeof bytes; len += 7) {
		uint64_t h = nam_hash(bytes, len, 5);
		assert_true(h != 0);
		assert_true(h == nam_hash(bytes, len, 5));
		assert_true(h != nam_hash(bytes, len, 6));
		for (size_t i = 0; i < len; i++) {
			bytes[i] ^= 1;
			assert_true(nam_hash(bytes, len, 5) != h);
			bytes[i] ^= 1;
		}
	}
}

static void
every_bit_of_every_word_counts(void **state)
{
	(void)state;
	/* The last three make a factor of the folding product 0: the words before them must still
	 * count. */
	uint64_t w[8] = { 0, 1, UINT64_MAX, 7, 0, UINT64_C(0x8bb84b93962eacc9), UINT64_C(0x2d358dccaa6c78a5),
		UINT64_C(0x8bb84b93962eacc9) };
	for (size_t n = 1; n <= 8; n++) {
		uint64_t h = nam_fold_words(w, n, 9);
		assert_true(h != nam_fold_words(w, n, 10));
		assert_true(h != nam_fold_words(w, n - 1, 9));
		for (size_t i = 0; i < n; i++)
			for (int bit = 0; bit < 64; bit++) {
				w[i] ^= UINT64_C(1) << bit;
				assert_true(nam_fold_words(w, n, 9) != h);
				w[i] ^= UINT64_C(1) << bit;
			}
	}
}

static void
order_counts(void **state)
{
	(void)state;
	struct nam_rng dice;
	nam_rng_init(&dice, 11);
	for (int round = 0; round < 1000; round++) {
		uint64_t w[6];
		for (int i = 0; i < 6; i++)
			w[i] = nam_rng_next(&dice);
		uint64_t h = nam_fold_words(w, 6, 0);
		size_t a = nam_rng_below(&dice, 6), b = (a + 1 + nam_rng_below(&dice, 5)) % 6;
		uint64_t t = w[a];
		w[a] = w[b];
		w[b] = t;
		assert_true(nam_fold_words(w, 6, 0) != h);
	}
}

static void
mix_is_one_to_one(void **state)
{
	(void)state;
	assert_true(nam_mix(0) == 0);
	for (uint64_t i = 1; i < 10000; i++)
		assert_true(nam_mix(i) != 0 && nam_mix(i) != nam_mix(i - 1));
}

static int
up(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Keys of small numbers under small seeds, like those of tables: no two hashes are equal. */
static void
seeds_do_not_mix_with_input(void **state)
{
	(void)state;
	static uint64_t h[32 * 24 * 24 * 2];
	size_t n = 0;
	for (uint64_t seed = 0; seed < 32; seed++)
		for (uint64_t a = 0; a < 24; a++)
			for (uint64_t b = 0; b < 24; b++) {
				uint64_t key[2] = { a, b };
				h[n++] = nam_hash(key, sizeof key, seed);
				key[1] += UINT64_C(1) << 32;
				h[n++] = nam_hash(key, sizeof key, seed);
			}
	qsort(h, n, sizeof *h, up);
	for (size_t i = 1; i < n; i++)
		assert_true(h[i] != h[i - 1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(seeds_do_not_mix_with_input),
		cmocka_unit_test(every_bit_of_every_word_counts),
		cmocka_unit_test(order_counts),
		cmocka_unit_test(mix_is_one_to_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
