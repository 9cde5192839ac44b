/* exec.c -- copies to and from region memory that cannot be plain memcpy (see exec.h). */
#include <net/exec.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ThreadSanitizer does not know net_fence_loads_before_all, which follows each READ: there the
 * loads themselves are what it makes of them. */
enum { LOAD = NET_EXEC_WORDS ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED };

static inline uint64_t
load_word(const char *region)
{
	return __atomic_load_n((const uint64_t *)(const void *)region, LOAD);
}

void
net_copy_out_slow(void *into, const void *region, size_t len)
{
	char *to = into;
	const char *at = region;
	while (len > 0 && ((uintptr_t)at & 7) != 0) {
		*to++ = __atomic_load_n(at++, LOAD);
		len--;
	}
	for (; len >= 8; len -= 8, at += 8, to += 8) {
		uint64_t v = load_word(at);
		memcpy(to, &v, 8);
	}
	while (len-- > 0)
		*to++ = __atomic_load_n(at++, LOAD);
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

#if defined(__SSE2__) && !NET_EXEC_WORDS
enum { LINE = 64 };

bool
net_copy_stream(void *region, const void *from, size_t len)
{
	if ((((uintptr_t)region | (uintptr_t)from | len) & (LINE - 1)) != 0)
		return false;
	/* A line in one go: a processor hands a whole one to the memory, parts of one in pieces. */
	for (size_t i = 0; i < len; i += LINE) {
		const __m128i *s = (const void *)((const char *)from + i);
		__m128i *d = (void *)((char *)region + i);
		__m128i a = _mm_load_si128(s), b = _mm_load_si128(s + 1), c = _mm_load_si128(s + 2),
			e = _mm_load_si128(s + 3);
		_mm_stream_si128(d, a);
		_mm_stream_si128(d + 1, b);
		_mm_stream_si128(d + 2, c);
		_mm_stream_si128(d + 3, e);
	}
	return true;
}

void
net_fence_streams(void)
{
	_mm_sfence();
}
#else
bool
net_copy_stream(void *region, const void *from, size_t len)
{
	(void)region;
	(void)from;
	(void)len;
	return false;
}

void
net_fence_streams(void)
{
}
#endif
