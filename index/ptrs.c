/*
 * ptrs.c -- the remote-pointer cache: where a key's block was when this process last looked.
 *
 * Four ways to a cache line. A way is two words:
 *
 *	data   63 .. 56  55 .... 48  47 ................ 0
 *	      +--------+-----------+---------------------+   0: empty
 *	      |  hint  |     0     | region 6, offset/64 |
 *	      +--------+-----------+---------------------+
 *	check  hash ^ data
 *
 * P1  A pair of words from two different puts says a hash that nobody asks for, but with chance
 *     2^-64: check ^ data must be the hash asked for. So words need no order and no lock.
 * P2  A way that is lost, or holds an old block, costs the caller one lookup; he compares the key anyway.
 */
#include <base/assert.h>
#include <index/index.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { WAYS = 4 };

struct way {
	_Atomic uint64_t check, data; /* relaxed: P1 */
};

struct idx_ptrs {
	struct way *way;
	uint64_t set_mask; /* sets - 1 */
	size_t bytes;
};

struct idx_ptrs *
idx_ptrs_open(size_t entries)
{
	size_t n = WAYS;
	if (entries > (size_t)1 << 40)
		return NULL;
	while (n < entries)
		n *= 2;
	struct idx_ptrs *c = malloc(sizeof *c);
	if (c == NULL)
		return NULL;
	c->bytes = n * sizeof(struct way);
	c->set_mask = n / WAYS - 1;
	c->way =
	    mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->way == MAP_FAILED) {
		free(c);
		return NULL;
	}
	(void)madvise(c->way, c->bytes, MADV_HUGEPAGE); /* fewer TLB misses; fine without */
	return c;
}

void
idx_ptrs_close(struct idx_ptrs *c)
{
	if (c == NULL)
		return;
	munmap(c->way, c->bytes);
	free(c);
}

/* The directory and the buckets use the low 30 bits; any bits would do here. */
static inline struct way *
set_of(struct idx_ptrs *c, uint64_t hash)
{
	return c->way + (hash >> 20 & c->set_mask) * WAYS;
}
static inline uint64_t
load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}
static inline void
store(struct way *y, uint64_t check, uint64_t data)
{
	atomic_store_explicit(&y->check, check, memory_order_relaxed);
	atomic_store_explicit(&y->data, data, memory_order_relaxed);
}

void
idx_ptrs_prefetch(struct idx_ptrs *c, uint64_t hash)
{
	__builtin_prefetch(set_of(c, hash));
}

bool
idx_ptrs_get(struct idx_ptrs *c, uint64_t hash, net_addr *block, uint8_t *hint)
{
	struct way *y = set_of(c, hash);
	for (unsigned i = 0; i < WAYS; i++, y++) {
		uint64_t data = load(&y->data);
		if ((load(&y->check) ^ data) == hash && data != 0) {
			*block = net_at((unsigned)(data >> 42) & 63, (data & ((UINT64_C(1) << 42) - 1)) << 6);
			*hint = (uint8_t)(data >> 56);
			return true;
		}
	}
	return false;
}

void
idx_ptrs_put(struct idx_ptrs *c, uint64_t hash, net_addr block, uint8_t hint)
{
	uint64_t region = net_region_of(block), off = net_offset_of(block);
	NAM_ASSERT(region > 0 && region < NET_REGIONS && (off & 63) == 0);
	uint64_t data = (uint64_t)hint << 56 | region << 42 | off >> 6;
	struct way *set = set_of(c, hash), *into = NULL;
	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t old = load(&set[i].data);
		if ((load(&set[i].check) ^ old) == hash && old != 0) {
			into = &set[i]; /* before an empty one: a key has one way */
			if (old == data)
				return; /* do not dirty the line */
			break;
		}
		if (old == 0 && into == NULL)
			into = &set[i];
	}
	if (into == NULL)
		into = &set[hash >> 62]; /* any: a cache this full should be larger */
	store(into, hash ^ data, data);
}

void
idx_ptrs_drop(struct idx_ptrs *c, uint64_t hash)
{
	struct way *y = set_of(c, hash);
	for (unsigned i = 0; i < WAYS; i++, y++) {
		uint64_t data = load(&y->data);
		if ((load(&y->check) ^ data) == hash && data != 0)
			store(y, 0, 0);
	}
}
