/*
 * exec.h -- how a CPU executes a verb on region memory: the one atomics engine of a node.
 *
 * The shm provider (in the peer's process) and the storage node's tcp server (in its own) both use
 * exactly these, so words are CASed by one kind of machinery only. Other processes may READ and
 * WRITE the region's bytes at any moment: no aligned 8-byte word may be torn, in either direction.
 *
 * Plain memcpy will not do: for lengths or alignments that are not multiples of 8 it loads and
 * stores overlapping pieces that cut words. ThreadSanitizer reports memcpy as a race, so under it
 * every copy is a loop of relaxed atomics.
 */
#ifndef NAM_NET_EXEC_H
#define NAM_NET_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define NET_EXEC_WORDS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NET_EXEC_WORDS 1
#endif
#endif
#ifndef NET_EXEC_WORDS
#define NET_EXEC_WORDS 0
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "region words and frames are little-endian");

/*
 * The fences of this fabric, named by the accesses that they keep in order. ThreadSanitizer knows
 * no fences (gcc refuses them); there every access to a region is an atomic, a locked instruction
 * stands for the first fence and the CPU's own order for the others.
 */
#if NET_EXEC_WORDS
#define NET_FENCE_OF(order) __asm__ volatile("" ::: "memory")
#else
#define NET_FENCE_OF(order) atomic_thread_fence(order)
#endif
/* A completed WRITE is seen by every verb that starts later, on any node: plain stores must have
 * left this core. */
static inline void
net_fence_stores_before_loads(void)
{
#if NET_EXEC_WORDS
	uint64_t any = 0;
	__atomic_exchange_n(&any, 1, __ATOMIC_SEQ_CST);
#else
	NET_FENCE_OF(memory_order_seq_cst);
#endif
}
/* A completed READ comes before every verb posted later. */
static inline void
net_fence_loads_before_all(void)
{
	NET_FENCE_OF(memory_order_acquire);
}
/* Earlier WRITEs of this thread come before the next one. */
static inline void
net_fence_stores_before_stores(void)
{
	NET_FENCE_OF(memory_order_release);
}

/*
 * WRITE past the caches: a write buffer of a partitioned relation would only push others out. The
 * caller has stores of its own before it kept in order, and calls net_fence_streams before a store
 * or a signal that tells others of the bytes. False: not for these addresses or this processor.
 */
bool net_copy_stream(void *region, const void *from, size_t len);
void net_fence_streams(void);

/* Any alignment: word by word on the region's side. */
void net_copy_out_slow(void *into, const void *region, size_t len);
void net_copy_in_slow(void *region, const void *from, size_t len);

static inline bool
net_copy_is_plain(const void *a, const void *b, size_t len)
{
	return (((uintptr_t)a | (uintptr_t)b | len) & 7) == 0 && !NET_EXEC_WORDS;
}

/* Up to here words are moved one by one in place of a call: directories, words, commit lines. */
enum { NET_COPY_SHORT = 64 };

/* Pairs of words, as long as there are two: a CPU moves them as one vector or as two words, never
 * in smaller pieces. */
typedef uint64_t net_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* READ: region -> private memory. */
static inline void
net_copy_out(void *into, const void *region, size_t len)
{
	if (__builtin_expect(!net_copy_is_plain(into, region, len), 0)) {
		net_copy_out_slow(into, region, len);
		return;
	}
	if (len > NET_COPY_SHORT) {
		memcpy(into, region, len);
		return;
	}
	size_t i = 0;
	for (; i + 16 <= len; i += 16)
		*(net_pair *)(void *)((char *)into + i) =
		    *(const volatile net_pair *)(const void *)((const char *)region + i);
	if (i < len)
		*(uint64_t *)(void *)((char *)into + i) = __atomic_load_n(
		    (const uint64_t *)(const void *)((const char *)region + i), __ATOMIC_RELAXED);
}

/* WRITE: private memory -> region. Earlier stores of this thread are seen before an aligned
 * word. */
static inline void
net_copy_in(void *region, const void *from, size_t len)
{
	if (len == 8 && ((uintptr_t)region & 7) == 0) {
		uint64_t v;
		memcpy(&v, from, 8);
		__atomic_store_n((uint64_t *)region, v, __ATOMIC_RELEASE);
		return;
	}
	if (__builtin_expect(!net_copy_is_plain(region, from, len), 0)) {
		net_copy_in_slow(region, from, len);
		return;
	}
	net_fence_stores_before_stores();
	if (len > NET_COPY_SHORT) {
		memcpy(region, from, len);
		return;
	}
	size_t i = 0;
	for (; i + 16 <= len; i += 16)
		*(volatile net_pair *)(void *)((char *)region + i) =
		    *(const net_pair *)(const void *)((const char *)from + i);
	if (i < len)
		__atomic_store_n((uint64_t *)(void *)((char *)region + i),
		    *(const uint64_t *)(const void *)((const char *)from + i), __ATOMIC_RELAXED);
}

static inline uint64_t
net_exec_cas(void *region, uint64_t expect, uint64_t want)
{
	__atomic_compare_exchange_n(
	    (uint64_t *)region, &expect, want, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expect;
}
static inline uint64_t
net_exec_faa(void *region, uint64_t add)
{
	return __atomic_fetch_add((uint64_t *)region, add, __ATOMIC_SEQ_CST);
}

#endif
