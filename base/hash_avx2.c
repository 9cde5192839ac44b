/* hash_avx2.c -- XXH3 in 32-byte vectors: the one file compiled with -mavx2 (CMakeLists.txt). */
#include "hash_wide.h"

#ifdef __AVX2__
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t
nam_hash_avx2(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}
#endif
