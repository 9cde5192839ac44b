/* exec.c -- copies to and from region memory that cannot be plain memcpy (see exec.h). */
#include <net/exec.h>

static inline uint64_t
load_word(const char *region)
{
	return __atomic_load_n((const uint64_t *)(const void *)region, __ATOMIC_RELAXED);
}

void
net_copy_out_slow(void *into, const void *region, size_t len)
{
	char *to = into;
	const char *at = region;
	while (len > 0 && ((uintptr_t)at & 7) != 0) {
		*to++ = __atomic_load_n(at++, __ATOMIC_RELAXED);
		len--;
	}
	for (; len >= 8; len -= 8, at += 8, to += 8) {
		uint64_t v = load_word(at);
		memcpy(to, &v, 8);
	}
	while (len-- > 0)
		*to++ = __atomic_load_n(at++, __ATOMIC_RELAXED);
}

void
net_copy_in_slow(void *region, const void *from, size_t len)
{
	char *at = region;
	const char *src = from;
	while (len > 0 && ((uintptr_t)at & 7) != 0) {
		__atomic_store_n(at++, *src++, __ATOMIC_RELEASE);
		len--;
	}
	for (; len >= 8; len -= 8, at += 8, src += 8) {
		uint64_t v;
		memcpy(&v, src, 8);
		__atomic_store_n((uint64_t *)(void *)at, v, __ATOMIC_RELEASE);
	}
	while (len-- > 0)
		__atomic_store_n(at++, *src++, __ATOMIC_RELEASE);
}
