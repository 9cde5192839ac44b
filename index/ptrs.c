/*
 * ptrs.c -- the remote-pointer cache: where a key's block was when this process last looked.
 *
 * Eight ways to a cache line, each one word:
 *
 *	63 .......... 44  43 .. 40  39 ..... 40-R 39-R .... 0
 *	+----------------+---------+------------+------------+   0: empty
 *	|  top of hash   |  hint   |   region   | offset / 64|   the top is 1 where the hash says 0
 *	+----------------+---------+------------+------------+
 *
 * P1  A word is whole: a put or a drop is one store, so no order and no lock is needed.
 * P2  A way may be lost, hold an old block, or (once in 2^20) belong to another key of the same
 *     line: it costs the caller one lookup. So the caller must find the whole hash in the block
 *     before it uses any other word of it.
 */
#include <base/assert.h>
#include <index/index.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { WAYS = 8, TOP_SHIFT = 44, HINT_SHIFT = 40 };

struct idx_ptrs {
	_Atomic uint64_t *way; /* relaxed: P1 */
	uint64_t set_mask;     /* sets - 1 */
	size_t bytes;
	unsigned shift; /* 40 - R: where the region begins, as in an entry of an index */
};

struct idx_ptrs *
idx_ptrs_open(size_t entries, unsigned region_max)
{
	size_t n = WAYS;
	if (entries > (size_t)1 << 40)
		return NULL;
	while (n < entries)
		n *= 2;
	struct idx_ptrs *c = malloc(sizeof *c);
	if (c == NULL)
		return NULL;
	c->bytes = n * sizeof *c->way;
	c->shift = idx_block_shift(region_max);
	c->set_mask = n / WAYS - 1;
	c->way =
	    mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->way == MAP_FAILED) {
		free(c);
		return NULL;
	}
	(void)madvise(c->way, c->bytes, MADV_HUGEPAGE); /* fewer TLB misses; works without */
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

/* The directory and the buckets use the low 30 bits; the top bits tell the ways of a set apart. */
static inline _Atomic uint64_t *
set_of(struct idx_ptrs *c, uint64_t hash)
{
	return c->way + (hash >> 20 & c->set_mask) * WAYS;
}
static inline uint64_t
top_of(uint64_t hash)
{
	uint64_t top = hash >> TOP_SHIFT;
	return top + (top == 0);
}
static inline uint64_t
load(const _Atomic uint64_t *way)
{
	return atomic_load_explicit(way, memory_order_relaxed);
}
static inline void
store(_Atomic uint64_t *way, uint64_t word)
{
	atomic_store_explicit(way, word, memory_order_relaxed);
}

/* The ways of the set that carry this top, a bit each. No branch, so none is predicted wrongly. */
static inline unsigned
ways_of(const _Atomic uint64_t *set, uint64_t top)
{
	unsigned found = 0;
	for (unsigned i = 0; i < WAYS; i++)
		found |= (unsigned)(load(&set[i]) >> TOP_SHIFT == top) << i;
	return found;
}

void
idx_ptrs_prefetch(struct idx_ptrs *c, uint64_t hash)
{
	__builtin_prefetch((const void *)set_of(c, hash));
}

bool
idx_ptrs_get(struct idx_ptrs *c, uint64_t hash, net_addr *block, uint8_t *hint)
{
	_Atomic uint64_t *set = set_of(c, hash);
	uint64_t top = top_of(hash);
	unsigned found = ways_of(set, top);
	if (found == 0)
		return false;
	uint64_t word = load(&set[__builtin_ctz(found)]);
	if (word >> TOP_SHIFT != top)
		return false; /* replaced at this moment */
	*hint = (uint8_t)(word >> HINT_SHIFT & IDX_HINT_MAX);
	word &= (UINT64_C(1) << HINT_SHIFT) - 1;
	*block = net_at((unsigned)(word >> c->shift), (word & ((UINT64_C(1) << c->shift) - 1)) << 6);

	return true;
}

void
idx_ptrs_put(struct idx_ptrs *c, uint64_t hash, net_addr block, uint8_t hint)
{
	uint64_t region = net_region_of(block), off = net_offset_of(block), top = top_of(hash);
	NAM_ASSERT(region > 0 && region < NET_REGIONS && (off & 63) == 0 && hint <= IDX_HINT_MAX);
	if (off >> 6 >> c->shift != 0 || region >> (HINT_SHIFT - c->shift) != 0)
		return; /* no index names such an address either */
	uint64_t word = top << TOP_SHIFT | (uint64_t)hint << HINT_SHIFT | region << c->shift | off >> 6;
	_Atomic uint64_t *set = set_of(c, hash);
	unsigned into = ways_of(set, top); /* before an empty one: a key has one way */
	if (into == 0)
		into = ways_of(set, 0);
	unsigned i = into != 0 ? (unsigned)__builtin_ctz(into)
			       : hash >> 41 & (WAYS - 1); /* any: a cache this full should be
							   * larger */
	if (load(&set[i]) != word)                        /* do not dirty the line */
		store(&set[i], word);
}

void
idx_ptrs_drop(struct idx_ptrs *c, uint64_t hash)
{
	_Atomic uint64_t *set = set_of(c, hash);
	for (unsigned found = ways_of(set, top_of(hash)); found != 0; found &= found - 1)
		store(&set[__builtin_ctz(found)], 0);
}
