/* rng.c -- seeds the dice, and fetches secrets from the kernel. */
#include <base/assert.h>
#include <base/hash.h>
#include <base/rng.h>

#include <errno.h>
#include <sys/random.h>

void
nam_rng_init(struct nam_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = nam_mix(seed + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1));
}

void
nam_random_bytes(void *into, size_t len)
{
	char *at = into;
	while (len > 0) {
		ssize_t n = getrandom(at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		NAM_ASSERT(n > 0);
		at += n;
		len -= (size_t)n;
	}
}
