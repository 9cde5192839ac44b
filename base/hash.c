/* hash.c -- XXH3 under our own name, in wider vectors where this CPU has them. All widths give the
 * same sums. */
#define XXH_INLINE_ALL
#include "hash_wide.h"

#include <base/hash.h>

#include <xxhash.h>

static uint64_t
plain(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

#ifdef NAM_HASH_AVX2
static uint64_t (*wide)(const void *, size_t, uint64_t) = plain;

__attribute__((constructor(101))) static void
choose(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2"))
		wide = nam_hash_avx2;
}
#else
#define wide plain
#endif

uint64_t
nam_hash(const void *bytes, size_t len, uint64_t seed)
{
	/* XXH3 adds its seed to the input of short ones: (1, 2) with seed 2 and (21, 2) with seed
	 * 22 would often be one. */
	seed = nam_mix(seed);
	/* Short inputs never reach XXH3's vector loop. */
	uint64_t h = len <= 240 ? plain(bytes, len, seed) : wide(bytes, len, seed);
	return h ? h : 1;
}
