/* rng.h -- dice: splitmix64-seeded xoshiro256**. Never for secrets (nam_random_bytes is). One
 * thread each. */
#ifndef NAM_BASE_RNG_H
#define NAM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct nam_rng {
	uint64_t s[4];
};

void nam_rng_init(struct nam_rng *r, uint64_t seed);

static inline uint64_t
nam_rng_next(struct nam_rng *r)
{
	uint64_t *s = r->s, out = ((s[1] * 5) << 7 | (s[1] * 5) >> 57) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return out;
}

/* Uniform in [0, n); n > 0. Multiply-shift: bias below 2^-32 for n < 2^32. */
static inline uint64_t
nam_rng_below(struct nam_rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)nam_rng_next(r) * n) >> 64);
}

/* Secret-grade bytes from the kernel. Stops the process if there are none. */
void nam_random_bytes(void *into, size_t len);

#endif
