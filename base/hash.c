/* hash.c -- XXH3 under our own name. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <base/hash.h>

uint64_t
nam_hash(const void *bytes, size_t len, uint64_t seed)
{
	uint64_t h = XXH3_64bits_withSeed(bytes, len, seed);
	return h ? h : 1;
}
