/*
 * hash.h -- checksums and hashes: xxHash's XXH3 (a library; its names are made static because
 * libpg_query exports the same ones). Both are part of the layout: checksums in remote memory were
 * made with exactly these.
 */
#ifndef NAM_BASE_HASH_H
#define NAM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 64-bit hash of bytes. Never 0, so 0 can mean "none". */
uint64_t nam_hash(const void *bytes, size_t len, uint64_t seed);

/* Mixes one 64-bit number (splitmix64's finaliser): cheap, invertible. */
static inline uint64_t
nam_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* 128-bit multiply folded: the step of a checksum over a few words. */
static inline uint64_t
nam_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p =
	    (unsigned __int128)(a ^ UINT64_C(0x2d358dccaa6c78a5)) * (b ^ UINT64_C(0x8bb84b93962eacc9));
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/*
 * Checksum over n 8-byte words. Order matters; one changed word goes unseen once in 2^64.
 * The running value is added back after each step, so that a word which makes one factor
 * of the product 0 does not erase what came before it.
 */
static inline uint64_t
nam_fold_words(const uint64_t *w, size_t n, uint64_t seed)
{
	uint64_t h = seed ^ UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < n; i++)
		h = nam_fold(h, w[i]) + (h + i);
	return nam_mix(h);
}

/* nam_fold_words of four words, in a row. */
static inline uint64_t
nam_fold_4(const void *words, uint64_t seed)
{
	const uint64_t *w = words;
	uint64_t h = seed ^ UINT64_C(0x9e3779b97f4a7c15);
	h = nam_fold(h, w[0]) + h;
	h = nam_fold(h, w[1]) + (h + 1);
	h = nam_fold(h, w[2]) + (h + 2);
	h = nam_fold(h, w[3]) + (h + 3);
	return nam_mix(h);
}

#endif
